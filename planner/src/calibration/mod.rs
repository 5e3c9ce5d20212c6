//! Calibration: compares measurements of a device with predictions. Contents: launches ([`Measurements`]), deviations
//! ([`Residuals`]), and a fit of the constants ([`fit`]).
//!
//! `planner/measured/` has the measurements behind the constants of `codegen/src/machine/`.

mod bench;
mod fit;

pub use fit::{Fitted, fit};

use lifting_codegen::ir::Scalar;
use lifting_codegen::machine::Machine;
use lifting_codegen::schedule::level::{Array, Job};
use lifting_codegen::schedule::{self, Extent, Options, Shape};
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Direction, Scheme};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Contents of a measurement file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurements {
    /// Format: `lifting-measurements`.
    pub format: String,
    /// Name of the device, as its driver reports it.
    pub device: String,
    /// Measurement method.
    pub about: String,
    /// Measured launches.
    pub launches: Vec<Measured>,
    /// Two levels, in one launch and in two.
    #[serde(default)]
    pub two_levels: Vec<TwoLevels>,
}

/// Times of two levels of an image, in microseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoLevels {
    /// Name of the wavelet in the catalogue.
    pub wavelet: String,
    /// Sample type.
    pub sample: String,
    /// Direction: `forward` or `inverse`.
    pub direction: String,
    /// Number of columns.
    pub width: i32,
    /// Number of rows.
    pub height: i32,
    /// Times in one launch for each proposed shape with chunks of its choice; `None` if not measured.
    pub together: Vec<Option<f64>>,
    /// Time in two launches.
    pub apart: Option<f64>,
}

/// One launch of one kernel: whole-symmetric borders, contiguous images.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Name of the wavelet in the catalogue.
    pub wavelet: String,
    /// Sample type.
    pub sample: String,
    /// Direction: `forward` or `inverse`.
    pub direction: String,
    /// Name of the schedule.
    pub schedule: String,
    /// Numbers that distinguish the shape among the proposed ones; if empty, the shape with the fastest prediction.
    #[serde(default)]
    pub shape: BTreeMap<String, u32>,
    /// Number of columns.
    pub width: i32,
    /// Number of rows.
    pub height: i32,
    /// Row pitch of the image in samples, if it differs from the width; bands have the same pitch.
    #[serde(default)]
    pub pitch: Option<i32>,
    /// Number of images.
    #[serde(default = "one")]
    pub batch: i32,
    /// Number of levels in the launch.
    #[serde(default = "one")]
    pub levels: i32,
    /// Time in microseconds.
    pub microseconds: f64,
}

fn one() -> i32 {
    1
}

impl Measurements {
    /// Reads a file's text: measurements, or a report of `liftc bench --json`, which contributes its single-launch
    /// transforms.
    ///
    /// # Errors
    /// If the text is neither, or has no launch.
    pub fn read(text: &str) -> Result<Measurements, String> {
        #[derive(Deserialize)]
        struct Of {
            format: String,
        }
        let wrong = |e: serde_json::Error| format!("invalid measurements: {e}");
        let Of { format } = serde_json::from_str(text).map_err(wrong)?;
        match &format[..] {
            "lifting-measurements" => serde_json::from_str(text).map_err(wrong),
            "lifting-bench" => serde_json::from_str::<bench::Report>(text).map_err(wrong)?.try_into(),
            other => Err(format!(
                "invalid measurements: their format is `{other}`, not `lifting-measurements` or `lifting-bench`"
            )),
        }
    }
}

/// A launch, ready for prediction with any constants.
pub struct Case {
    sample: Scalar,
    job: Job,
    /// Possible fits and chunks of the launch.
    candidates: Vec<(Arc<dyn schedule::Fit>, u32)>,
    /// Description of the launch.
    pub name: String,
    /// Name of the schedule.
    pub schedule: String,
    /// Measured time in microseconds.
    pub microseconds: f64,
}

impl Case {
    /// Makes a case for a launch on a device, with its wavelet.
    ///
    /// # Errors
    /// If the launch is impossible; the error describes it and the reason.
    pub fn new(measured: &Measured, scheme: &Scheme, machine: &Machine) -> Result<Case, String> {
        let Measured { width, height, batch, levels, microseconds, .. } = *measured;
        let name = format!(
            "{} {} {} {batch} of {width}x{height}, {levels} levels, {} {:?}",
            measured.wavelet, measured.sample, measured.direction, measured.schedule, measured.shape
        );
        let wrong = |what: String| format!("{name}: {what}");
        let sample: SampleType = measured.sample.parse().map_err(|_| wrong("unknown sample type".into()))?;
        let sample = crate::scalar_of(sample);
        let direction = [Direction::Forward, Direction::Inverse].into_iter().find(|d| d.name() == measured.direction);
        let direction = direction.ok_or_else(|| wrong("the direction must be forward or inverse".into()))?;
        if width < 1 || height < 1 || batch < 1 || levels < 1 || !(microseconds.is_finite() && microseconds > 0.0) {
            return Err(wrong("sizes and times must be more than 0".into()));
        }
        let schedule = schedule::schedule(&measured.schedule).ok_or_else(|| wrong("unknown schedule".into()))?;
        let job = job(measured, sample, schedule.extent());
        let options = Options::new(sample, Boundary::WholeSymmetric, direction);
        let proposed = schedule.proposed(scheme, options, &job, machine);
        let is_it = |shape: &Shape| {
            let mut numbers = measured.shape.iter().filter(|(name, _)| name.as_str() != "chunk");
            numbers.all(|(name, value)| shape.get(name) == Some(*value))
        };
        let chunk = measured.shape.get("chunk").copied();
        let mut candidates = Vec::new();
        for shape in proposed.map_err(|e| wrong(e.to_string()))?.into_iter().filter(is_it) {
            let shape = chunk.map_or(shape, |chunk| shape.with_chunk(chunk));
            if let Ok((fit, arguments)) = shape.meet(scheme, options, &job, machine) {
                candidates.push((fit, chunk.unwrap_or(arguments.chunk as u32)));
            }
        }
        if candidates.is_empty() {
            return Err(wrong("no proposed shape has these numbers".into()));
        }
        if measured.shape.keys().any(|name| name != "chunk") {
            candidates.truncate(1);
        }
        let schedule = measured.schedule.clone();
        Ok(Case { sample, job, candidates, name, schedule, microseconds })
    }

    /// Chunk height in pairs of rows.
    pub fn chunk(&self) -> u32 {
        self.candidates[0].1
    }

    /// Predicted time in microseconds.
    pub fn predicted(&self, machine: &Machine) -> f64 {
        let time = |(fit, chunk): &(Arc<dyn schedule::Fit>, u32)| {
            let [_, time] = fit.demand(&self.job, *chunk, machine).of(&self.job, self.sample.bytes(), machine);
            time
        };
        self.candidates.iter().map(time).fold(f64::INFINITY, f64::min)
    }
}

/// Job of a launch: an image and its bands, with the image's row pitch.
fn job(measured: &Measured, sample: Scalar, extent: Extent) -> Job {
    let Measured { width, height, batch, levels, .. } = *measured;
    let pitch = i64::from(measured.pitch.unwrap_or(width));
    let of = |array: u64, from: i64, pitch: i64, rows: i64| Array {
        address: (array << 40) + (from * sample.bytes() as i64) as u64,
        pitch,
        stride: pitch * rows,
    };
    let signal = of(0, 0, pitch, height.into());
    let bands = if measured.pitch.is_some() {
        // Mallat layout.
        let (low, below) = (i64::from(width + 1) / 2, i64::from(height + 1) / 2 * pitch);
        [0, low, below, below + low].map(|from| of(1, from, pitch, height.into()))
    } else if levels == 1 {
        [1, 2, 3, 4].map(|i| of(i, 0, i64::from(width + 1) / 2, i64::from(height + 1) / 2))
    } else {
        [of(0, 0, pitch, height.into()); 4]
    };
    let is_two = extent == Extent::TwoLevels;
    let coarse = is_two.then_some([of(0, 0, pitch, height.into()); 3]);
    let levels = if is_two { 1 } else { levels };
    Job { coarse, batch, levels, ..Job::image(signal, bands, width, height) }
}

/// Accuracy of predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residuals {
    /// Number of cases.
    pub count: usize,
    /// Root mean square of log(predicted / measured).
    pub deviation: f64,
    /// Smallest and largest ratio of predicted to measured.
    pub range: [f64; 2],
}

impl Residuals {
    /// Residuals of these launches.
    pub fn of<'a>(cases: impl Iterator<Item = &'a Case>, machine: &Machine) -> Residuals {
        let (mut count, mut squares, mut range) = (0, 0.0, [f64::INFINITY, 0.0]);
        for case in cases {
            let ratio = case.predicted(machine) / case.microseconds;
            count += 1;
            squares += ratio.ln().powi(2);
            range = [range[0].min(ratio), range[1].max(ratio)];
        }
        Residuals { count, deviation: (squares / f64::from(count.max(1) as u32)).sqrt(), range }
    }
}
