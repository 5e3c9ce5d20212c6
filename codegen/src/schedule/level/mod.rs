//! What schedules share that lift both axes of a level in one kernel: its parameters, what it loads and stores, and
//! columns that a thread holds whole. Lifting along an axis is that of [`lines`](super::lines): they have it from here.

mod cells;
mod frame;
mod job;
mod params;
mod shift;
mod sink;
mod slab;
mod source;
mod store;

pub(super) use super::lines::*;
pub(super) use cells::{Cells, Column, beside, cell_of};
pub(super) use frame::Frame;
pub use job::{Arguments, Array, Job, MAX_BATCH, MAX_SIDE, Planes};
pub(super) use params::SKEW_BITS;
pub use params::{BANDS_ALIGNED, Deep, Params, SIGNAL_ALIGNED};
pub(super) use shift::Runs;
pub(super) use sink::Sink;
pub(super) use slab::Slab;
pub(super) use source::{Source, scaled, served_column, served_index, vectors_or_served};
pub(super) use store::{store_band, store_band_at, store_signal, store_signal_at};

use super::{Direction, ScheduleError};
use crate::ir::Scalar;

/// Which axis is lifted first in analysis. Synthesis undoes the axes in reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Rows first, then columns (VC-2, CCSDS, the papers).
    HorizontalFirst,
    /// Columns first, then rows (JPEG 2000).
    VerticalFirst,
}

impl Order {
    /// Whether a direction lifts rows before columns. Analysis undoes nothing: the plan's first axis first. Synthesis
    /// starts with the axis that came last.
    pub fn across_first(self, direction: Direction) -> bool {
        (self == Order::HorizontalFirst) == (direction == Direction::Forward)
    }
}

/// Rows that a kernel takes: the fewer, the faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowAlignment {
    /// All.
    Any,
    /// Those whose image begins where a lane's vector begins, with the first column at an even position; bands begin
    /// anywhere. A schedule that has no kernel for them has one for [`RowAlignment::Any`].
    Image,
    /// Those of them whose bands begin where half a lane's vector begins, too.
    Aligned,
    /// Those of them that consist of whole vectors.
    Whole,
}

impl RowAlignment {
    /// All kinds, the fastest first.
    pub const ALL: [RowAlignment; 4] =
        [RowAlignment::Whole, RowAlignment::Aligned, RowAlignment::Image, RowAlignment::Any];

    /// Whether all arrays are known to be aligned.
    pub fn is_aligned(self) -> bool {
        matches!(self, RowAlignment::Aligned | RowAlignment::Whole)
    }

    /// What a schedule's kernel is called that takes such rows.
    pub(super) fn kernel(self, schedule: &str) -> String {
        match self {
            RowAlignment::Any => schedule.to_owned(),
            RowAlignment::Image => format!("{schedule}_image"),
            RowAlignment::Aligned => format!("{schedule}_aligned"),
            RowAlignment::Whole => format!("{schedule}_whole"),
        }
    }
}

/// Whether a lane's columns are a vector.
///
/// # Errors
/// What `refuse` makes of their number.
pub(super) fn check_columns(
    columns: u32,
    sample: Scalar,
    refuse: &impl Fn(&'static str, i64, i64) -> ScheduleError,
) -> Result<(), ScheduleError> {
    let most = 16 / sample.bytes() as u32;
    if columns.is_power_of_two() && (2..=most).contains(&columns) {
        return Ok(());
    }
    Err(refuse("columns a lane (a power of two, at least 2)", columns.into(), most.into()))
}

/// Whether a block can have so many warps.
///
/// # Errors
/// What `refuse` makes of their number.
pub(super) fn check_warps(
    warps: u32,
    refuse: &impl Fn(&'static str, i64, i64) -> ScheduleError,
) -> Result<(), ScheduleError> {
    if (1..=32).contains(&warps) {
        return Ok(());
    }
    Err(refuse("warps a block (at least 1)", warps.into(), 32))
}
