//! Baselines: what papers compare their schedules with. Small and plain; nobody should take them for their speed.
//!
//! [`NaiveColumns`]: rewrite: a scheme along columns → that of rows, a block a column. Threads beside one another load
//! samples that are a row apart, so hardly any access is shared.
//!
//! [`Transposed`]: rewrite: a scheme along columns → the image transposed, rows, and transposed back ([`transpose`]).
//! Everything is coalesced, and goes through memory three times.
//!
//! Source: van der Laan, Jalba & Roerdink, "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS
//! 22(1), 2011, section V-B.1 and 2, where they are 20 and about 4 times as slow as the sliding window.

pub mod transpose;

use super::{Along, AxisSchedule, Options, ScheduleError, Sides, horizontal};
use crate::ir::Kernel;
use lifting_dsl::Scheme;

/// Columns as rows are: a block has one in shared memory.
#[derive(Clone, Copy, Debug)]
pub struct NaiveColumns;

impl AxisSchedule for NaiveColumns {
    fn name(&self) -> &'static str {
        "naive-columns"
    }

    fn about(&self) -> &'static str {
        "Baseline: a pass an axis, columns as rows are, a block each (van der Laan 2011)"
    }

    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError> {
        horizontal::kernel_along(scheme, options, sides, horizontal::Shape::default(), along)
    }
}

/// Columns as rows of what was transposed.
#[derive(Clone, Copy, Debug)]
pub struct Transposed;

impl AxisSchedule for Transposed {
    fn name(&self) -> &'static str {
        "transposed"
    }

    fn about(&self) -> &'static str {
        "Baseline: a pass an axis, columns transposed to rows and back (van der Laan 2011)"
    }

    fn transposes(&self) -> bool {
        true
    }

    /// Of rows, along either axis.
    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, _: Along) -> Result<Kernel, ScheduleError> {
        horizontal::kernel_between(scheme, options, sides, horizontal::Shape::default())
    }
}
