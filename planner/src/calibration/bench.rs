//! Reports of `liftc bench --json` as measurements of launches.

use super::{Measured, Measurements};
use lifting_dsl::sample::SampleType;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The parts of a report that describe launches.
#[derive(Deserialize)]
pub(super) struct Report {
    command: Vec<String>,
    device: Device,
    results: Vec<Timed>,
}

#[derive(Deserialize)]
struct Device {
    kind: String,
    #[serde(default)]
    name: String,
}

/// A timed transform in one direction.
#[derive(Deserialize)]
struct Timed {
    wavelet: String,
    sample: String,
    shape: Vec<i32>,
    batch: Option<i32>,
    levels: i32,
    boundary: String,
    direction: String,
    pitch_bytes: Option<usize>,
    time_us: Spread,
    launch: Option<Launch>,
}

#[derive(Deserialize)]
struct Spread {
    median: f64,
}

/// The single launch of a transform.
#[derive(Deserialize)]
struct Launch {
    schedule: String,
    shape: BTreeMap<String, u32>,
}

impl TryFrom<Report> for Measurements {
    type Error = String;

    /// Extracts the cases for fitting: images under `whole-symmetric` whose transform is one launch. Others are
    /// skipped.
    fn try_from(report: Report) -> Result<Measurements, String> {
        let Report { command, device, results } = report;
        if device.kind != "cuda" {
            return Err(format!("these are times of kind `{}`, but constants are those of CUDA devices", device.kind));
        }
        let launches: Vec<Measured> = results.into_iter().filter_map(Timed::launch).collect();
        if launches.is_empty() {
            return Err("none of these transforms is a single launch on images under whole-symmetric: \
                        measure single levels (-l 1), or small images"
                .into());
        }
        Ok(Measurements {
            format: "lifting-measurements".into(),
            device: device.name,
            about: command.join(" "),
            launches,
            two_levels: Vec::new(),
        })
    }
}

impl Timed {
    fn launch(self) -> Option<Measured> {
        let Timed { wavelet, sample, shape, batch, levels, boundary, direction, pitch_bytes, time_us, launch } = self;
        let Launch { schedule, shape: numbers } = launch?;
        let image = if batch.is_some() { shape.get(1..)? } else { &shape };
        let &[height, width] = image else { return None };
        if boundary != "whole-symmetric" {
            return None;
        }
        // Coefficients are one array, with the row pitch of the data.
        let unit = match pitch_bytes {
            None => 1,
            Some(bytes) => (bytes / sample.parse::<SampleType>().ok()?.bytes()).max(1),
        };
        let pitch = usize::try_from(width).ok()?.next_multiple_of(unit);
        let (pitch, batch, microseconds) = (i32::try_from(pitch).ok(), batch.unwrap_or(1), time_us.median);
        Some(Measured {
            wavelet,
            sample,
            direction,
            schedule,
            shape: numbers,
            width,
            height,
            pitch,
            batch,
            levels,
            microseconds,
        })
    }
}
