//! Errors of programs.

use crate::schedule::Schedule;
use lifting_codegen::schedule::ScheduleError;
use lifting_dsl::Direction;

/// Reason why there is no program for a problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProgramError {
    /// A batch that needs too many launches.
    #[error("shape {shape:?} would take more than {most} launches on the device: transform fewer images at a time")]
    TooManyLaunches {
        /// The shape.
        shape: Vec<usize>,
        /// Upper bound on the launches of a program.
        most: usize,
    },
    /// The adjoint of an integer wavelet.
    #[error(
        "wavelet `{wavelet}` rounds to integers, so it is not linear and has no adjoint: use a real wavelet with the \
         same weights"
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
    /// A schedule that does not support the wavelet.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A requested schedule that does not support a level.
    #[error(
        "schedule `{schedule}` does not support level {level} in {}: {reason}; \
         use the `auto` schedule",
        direction_name(*direction)
    )]
    Refused {
        /// The requested schedule.
        schedule: Schedule,
        /// Analysis or synthesis.
        direction: Direction,
        /// The level; 1 is the finest.
        level: u32,
        /// The reason.
        reason: String,
    },
    /// An axis longer than kernels can index.
    #[error(
        "axis {axis} has {length} samples, but kernels take at most {most} along one axis: split it, or use the CPU"
    )]
    AxisTooLong {
        /// The axis.
        axis: usize,
        /// Its length.
        length: usize,
        /// The maximum length.
        most: usize,
    },
    /// A generated kernel is wrong: a bug in this crate, please report it.
    #[error("the generated kernel `{kernel}` is wrong (please report this): {reason}")]
    Kernel {
        /// Name of the kernel.
        kernel: String,
        /// The fault.
        reason: String,
    },
}

fn direction_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "analysis",
        Direction::Inverse => "synthesis",
    }
}
