//! Why there is no program for a problem.

use crate::schedule::Schedule;
use lifting_codegen::schedule::{Direction, ScheduleError};

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProgramError {
    /// A batch in so many pieces that nobody would wait for them.
    #[error("shape {shape:?} would take more than {most} launches on the device: transform fewer images at a time")]
    TooManyLaunches {
        /// The shape.
        shape: Vec<usize>,
        /// The most launches that a program has.
        most: usize,
    },
    /// The adjoint of an integer wavelet.
    #[error(
        "wavelet `{wavelet}` rounds to integers, so it is not linear and has no adjoint: take a real wavelet with the same weights"
    )]
    IntegerAdjoint {
        /// The wavelet.
        wavelet: String,
    },
    /// The adjoint of a transform that pads.
    #[error("a plan that pads {shape:?} to {padded:?} has no adjoint: pad the data yourself, and plan for {padded:?}")]
    PaddedAdjoint {
        /// The data.
        shape: Vec<usize>,
        /// The coefficients.
        padded: Vec<usize>,
    },
    /// A schedule that cannot carry the wavelet.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A schedule that was asked for and cannot carry a level.
    #[error(
        "schedule `{schedule}` was asked for and cannot carry level {level} in {}: {reason}; \
         leave the choice to `Schedule::Auto`",
        direction_name(*direction)
    )]
    Refused {
        /// What was asked for.
        schedule: Schedule,
        /// Analysis or synthesis.
        direction: Direction,
        /// The level; 1 is the finest.
        level: u32,
        /// What stands against it.
        reason: String,
    },
    /// An axis longer than kernels can index.
    #[error(
        "axis {axis} has {length} samples, and kernels take at most {most} along one axis: split it, or use `Device::cpu()`"
    )]
    AxisTooLong {
        /// The axis.
        axis: usize,
        /// Its length.
        length: usize,
        /// The most that can be.
        most: usize,
    },
    /// A generated kernel is wrong: an error in this crate, worth a report.
    #[error("the generated kernel `{kernel}` is wrong (please report this): {reason}")]
    Kernel {
        /// Name of the kernel.
        kernel: String,
        /// What was found.
        reason: String,
    },
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "analysis",
        Direction::Inverse => "synthesis",
    }
}
