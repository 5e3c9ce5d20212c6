//! Schedules: mappings of schemes to kernels, one a file.
//!
//! A scheme never mentions threads, and a schedule never mentions coefficients.
//!
//! A *pass* transforms one axis at one level. All pass kernels share their parameters ([`Pass`]), so that a launcher
//! can launch any schedule.

mod axis;
mod border;
mod extent;
mod fit;
pub mod level;
mod lift;
mod limits;
mod lines;
mod pass;
mod shape;

pub mod adjoint;
pub mod cascade;
pub mod copy;
pub mod demand;
pub mod extend;
pub mod horizontal;
pub mod lattice;
pub mod pyramid;
pub mod registers;
pub mod rows;
pub mod stream;
pub mod tile;
pub mod transpose;
pub mod vertical;
pub mod volume;
pub mod warp;

pub use axis::AxisSchedule;
pub use extent::Extent;
pub use fit::{Fit, HostLaunch, LaunchSchedule, Specimen, Tiles};
pub use lift::{Arithmetic, integer_sum, pair_values, set_pair, step_value};
pub use limits::unfit;
pub use pass::{Along, Image, Pass};
pub use shape::{Field, Shape, ShapeError};

use crate::ir::Scalar;
use lifting_dsl::{Boundary, Direction, Scheme};

/// All schedules whose launches take several axes. In a plan, the first of equals wins.
pub const SCHEDULES: &[&dyn LaunchSchedule] = &[
    &stream::StreamSchedule,
    &warp::WarpSchedule,
    &tile::TileSchedule,
    &cascade::CascadeSchedule,
    &pyramid::PyramidSchedule,
    &volume::VolumeSchedule,
];

/// The schedule of [`SCHEDULES`] with this name.
pub fn schedule(name: &str) -> Option<&'static dyn LaunchSchedule> {
    SCHEDULES.iter().copied().find(|schedule| schedule.name() == name)
}

/// Options that specialise a pass kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// Type of the samples in memory.
    pub sample: Scalar,
    /// Border rule.
    pub boundary: Boundary,
    /// Analysis or synthesis.
    pub direction: Direction,
    /// Whether the kernel takes a `gain` parameter.
    pub gain: bool,
    /// Whether the first and last sample of each line are doubled on load, and those of the results halved, along each
    /// axis. Adjoints of real samples under `whole-symmetric` need this ([`lifting_dsl::adjoint`]).
    pub doubled_ends: bool,
}

impl Options {
    /// Options without gain or doubled ends.
    pub fn new(sample: Scalar, boundary: Boundary, direction: Direction) -> Options {
        Options { sample, boundary, direction, gain: false, doubled_ends: false }
    }
}

/// Types in memory of the two sides of a pass. They differ for `f16` and `bf16` samples: a level passes through `f32`
/// scratch between the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sides {
    /// Type of the signal.
    pub signal: Scalar,
    /// Type of the bands.
    pub bands: Scalar,
}

impl Sides {
    /// Both sides of one type.
    pub fn both(sample: Scalar) -> Sides {
        Sides { signal: sample, bands: sample }
    }
}

impl Options {
    /// [`Options::kernel_name`], with both types in the order of the data flow if they differ.
    pub fn pass_name(&self, scheme: &Scheme, schedule: &str, sides: Sides) -> String {
        let (from, to) = match self.direction {
            Direction::Forward => (sides.signal, sides.bands),
            Direction::Inverse => (sides.bands, sides.signal),
        };
        let name = Options { sample: from, ..*self }.kernel_name(scheme, schedule);
        if from == to { name } else { format!("{name}_to_{}", to.name()) }
    }

    /// `<wavelet>_<schedule>_<direction>_<sample>`.
    pub fn kernel_name(&self, scheme: &Scheme, schedule: &str) -> String {
        // Names without ASCII letters have kernel names, too.
        let wavelet = lifting_dsl::c_identifier(scheme.name());
        format!("{wavelet}_{schedule}_{}_{}", self.direction.name(), self.sample.name())
    }
}

/// Reasons why a schedule cannot run a scheme.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The sample type is not in the scheme's domain.
    #[error(
        "wavelet `{wavelet}` is in the {domain} domain and cannot run on {sample} samples; choose one of {choices}"
    )]
    Sample {
        /// Wavelet.
        wavelet: String,
        /// `integer` or `real`.
        domain: &'static str,
        /// The requested type.
        sample: &'static str,
        /// The allowed types.
        choices: &'static str,
    },
    /// A gain shift on real samples.
    #[error("wavelet `{wavelet}` is in the real domain: a gain shift is for integer samples; scale the phases instead")]
    Gain {
        /// Wavelet.
        wavelet: String,
    },
    /// A storage type that a schedule does not convert.
    #[error("schedule `{schedule}` computes in place and cannot do so in {sample} samples; use {work}")]
    Storage {
        /// Schedule.
        schedule: &'static str,
        /// The requested type.
        sample: &'static str,
        /// The type of the arithmetic.
        work: &'static str,
    },
    /// A launch that the kernel does not support.
    #[error("schedule `{schedule}` cannot run this launch: {what}; use another schedule")]
    Launch {
        /// Schedule.
        schedule: &'static str,
        /// The reason.
        what: String,
    },
    /// A number of the shape that suits no wavelet.
    #[error("schedule `{schedule}` cannot have this shape: {what}: found {value}, must be {allowed}")]
    Shape {
        /// Schedule.
        schedule: &'static str,
        /// The number, with its unit.
        what: &'static str,
        /// Its value.
        value: i64,
        /// The allowed values, in words.
        allowed: String,
    },
    /// A demand on a resource of the schedule beyond its limit.
    #[error(
        "schedule `{schedule}` cannot hold wavelet `{wavelet}`: {what}: {required} required, {available} available; \
         use another schedule"
    )]
    Reach {
        /// Schedule.
        schedule: &'static str,
        /// Wavelet.
        wavelet: String,
        /// The resource, with its unit.
        what: &'static str,
        /// The amount required.
        required: i64,
        /// The amount available.
        available: i64,
    },
}

impl ScheduleError {
    /// Constructor of [`ScheduleError::Reach`] errors: takes the resource, the amount required, and the amount
    /// available.
    pub fn limit(schedule: &'static str, scheme: &Scheme) -> impl Fn(&'static str, i64, i64) -> ScheduleError {
        move |what, required, available| {
            let wavelet = scheme.name().to_owned();
            ScheduleError::Reach { schedule, wavelet, what, required, available }
        }
    }
}
