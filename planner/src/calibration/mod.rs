//! What was measured on a device, held against what is predicted of it: launches ([`Measurements`]), how near
//! predictions are ([`Residuals`]), and constants that bring them nearer ([`fit`]).
//!
//! `planner/measured/` has what the constants of `codegen/src/machine/` were fitted to.

mod bench;
mod fit;

pub use fit::{Fitted, fit};

use lifting_codegen::ir::Scalar;
use lifting_codegen::machine::Machine;
use lifting_codegen::schedule::level::{Array, Job};
use lifting_codegen::schedule::{self, Direction, Options, Shape};
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Scheme};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a file has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurements {
    /// `lifting-measurements`.
    pub format: String,
    /// The device, as its driver calls it.
    pub device: String,
    /// How it was measured.
    pub about: String,
    /// What was measured.
    pub launches: Vec<Measured>,
    /// Two levels in one launch, and in two.
    #[serde(default)]
    pub two_levels: Vec<TwoLevels>,
}

/// Two levels of an image, in microseconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoLevels {
    /// A name of the catalogue.
    pub wavelet: String,
    /// The sample type.
    pub sample: String,
    /// `forward` or `inverse`.
    pub direction: String,
    /// Columns.
    pub width: i32,
    /// Rows.
    pub height: i32,
    /// In one launch, in each shape that is proposed and chunks of its choice, where that was measured.
    pub together: Vec<Option<f64>>,
    /// In two launches.
    pub apart: Option<f64>,
}

/// One launch of one kernel: whole-symmetric borders, contiguous images.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// A name of the catalogue.
    pub wavelet: String,
    /// The sample type.
    pub sample: String,
    /// `forward` or `inverse`.
    pub direction: String,
    /// The schedule.
    pub schedule: String,
    /// The numbers of the shape that tell it from others that are proposed; if none does, it is the one of them that is
    /// predicted to be the fastest.
    #[serde(default)]
    pub shape: BTreeMap<String, u32>,
    /// Columns.
    pub width: i32,
    /// Rows.
    pub height: i32,
    /// Samples from one row of the image to the next, if that is not its width; bands follow one another in rows like
    /// these.
    #[serde(default)]
    pub pitch: Option<i32>,
    /// Images.
    #[serde(default = "one")]
    pub batch: i32,
    /// Levels of the launch.
    #[serde(default = "one")]
    pub levels: i32,
    /// What it took.
    pub microseconds: f64,
}

fn one() -> i32 {
    1
}

impl Measurements {
    /// Reads a file's text: such a file, or what `liftc bench --json` wrote, whose transforms of one launch count.
    ///
    /// # Errors
    /// If it is neither, or has no launch.
    pub fn read(text: &str) -> Result<Measurements, String> {
        #[derive(Deserialize)]
        struct Of {
            format: String,
        }
        let wrong = |e: serde_json::Error| format!("these are no measurements: {e}");
        let Of { format } = serde_json::from_str(text).map_err(wrong)?;
        match &format[..] {
            "lifting-measurements" => serde_json::from_str(text).map_err(wrong),
            "lifting-bench" => serde_json::from_str::<bench::Report>(text).map_err(wrong)?.try_into(),
            other => Err(format!(
                "these are no measurements: their format is `{other}`, not `lifting-measurements` or `lifting-bench`"
            )),
        }
    }
}

/// A launch, ready to be predicted with any constants.
pub struct Case {
    sample: Scalar,
    job: Job,
    /// Fits and chunks that it may have had.
    candidates: Vec<(Arc<dyn schedule::Fit>, u32)>,
    /// In words.
    pub name: String,
    /// The schedule.
    pub schedule: String,
    /// What it took.
    pub microseconds: f64,
}

impl Case {
    /// A launch on a device, with the wavelet that it names.
    ///
    /// # Errors
    /// If it cannot have been: which, and why.
    pub fn new(measured: &Measured, scheme: &Scheme, machine: &Machine) -> Result<Case, String> {
        let Measured { width, height, batch, levels, microseconds, .. } = *measured;
        let name = format!(
            "{} {} {} {batch} of {width}x{height}, {levels} levels, {} {:?}",
            measured.wavelet, measured.sample, measured.direction, measured.schedule, measured.shape
        );
        let wrong = |what: String| format!("{name}: {what}");
        let sample: SampleType = measured.sample.parse().map_err(|_| wrong("there is no such sample type".into()))?;
        let sample = crate::scalar_of(sample);
        let direction = [Direction::Forward, Direction::Inverse].into_iter().find(|d| d.name() == measured.direction);
        let direction = direction.ok_or_else(|| wrong("a direction is forward or inverse".into()))?;
        if width < 1 || height < 1 || batch < 1 || levels < 1 || !(microseconds.is_finite() && microseconds > 0.0) {
            return Err(wrong("sizes and times are more than 0".into()));
        }
        let job = job(measured, sample);
        let schedule =
            schedule::schedule(&measured.schedule).ok_or_else(|| wrong("there is no such schedule".into()))?;
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
            return Err(wrong("no shape that is proposed has these numbers".into()));
        }
        if measured.shape.keys().any(|name| name != "chunk") {
            candidates.truncate(1);
        }
        let schedule = measured.schedule.clone();
        Ok(Case { sample, job, candidates, name, schedule, microseconds })
    }

    /// Pairs of rows of a chunk.
    pub fn chunk(&self) -> u32 {
        self.candidates[0].1
    }

    /// Microseconds that it should take.
    pub fn predicted(&self, machine: &Machine) -> f64 {
        let time = |(fit, chunk): &(Arc<dyn schedule::Fit>, u32)| {
            let [_, time] = fit.demand(&self.job, *chunk, machine).of(&self.job, self.sample.bytes(), machine);
            time
        };
        self.candidates.iter().map(time).fold(f64::INFINITY, f64::min)
    }
}

/// What the launch works on: an image and its bands, each in rows of the image's pitch.
fn job(measured: &Measured, sample: Scalar) -> Job {
    let Measured { width, height, batch, levels, .. } = *measured;
    let pitch = i64::from(measured.pitch.unwrap_or(width));
    let of = |array: u64, from: i64, pitch: i64, rows: i64| Array {
        address: (array << 40) + (from * sample.bytes() as i64) as u64,
        pitch,
        stride: pitch * rows,
    };
    let signal = of(0, 0, pitch, height.into());
    let bands = if measured.pitch.is_some() {
        // In the Mallat layout.
        let (low, below) = (i64::from(width + 1) / 2, i64::from(height + 1) / 2 * pitch);
        [0, low, below, below + low].map(|from| of(1, from, pitch, height.into()))
    } else if levels == 1 {
        [1, 2, 3, 4].map(|i| of(i, 0, i64::from(width + 1) / 2, i64::from(height + 1) / 2))
    } else {
        [of(0, 0, pitch, height.into()); 4]
    };
    let is_two = measured.schedule == "cascade";
    let coarse = is_two.then_some([of(0, 0, pitch, height.into()); 3]);
    let levels = if is_two { 1 } else { levels };
    Job { coarse, batch, levels, ..Job::image(signal, bands, width, height) }
}

/// How near predictions are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residuals {
    /// How many there are.
    pub count: usize,
    /// The root of the mean square of the logarithms of predicted to measured.
    pub deviation: f64,
    /// The least and the most of predicted to measured.
    pub range: [f64; 2],
}

impl Residuals {
    /// Of all these launches.
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
