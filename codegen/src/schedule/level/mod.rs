//! Shared parts of schedules that lift both axes of a level in one kernel.
//!
//! They are its parameters, loads and stores, and columns that a thread holds whole. Lifting along an axis is that of
//! [`lines`](super::lines), re-exported here.

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
pub use super::lines::{Axis, Border, Form, Held, PHASES, Row};
pub(super) use cells::{Cells, Column, beside, cell_of};
pub(super) use frame::Frame;
pub(super) use job::SKEW_BITS;
pub use job::{Arguments, Array, BANDS_ALIGNED, Job, MAX_BATCH, MAX_SIDE, Planes, SIGNAL_ALIGNED};
pub use params::{Deep, Params};
pub(super) use shift::Runs;
pub(super) use sink::Sink;
pub use slab::Slab;
pub(super) use source::{Source, scaled, served_column, served_index, vectors_or_served};
pub(super) use store::{store_band, store_band_at, store_signal, store_signal_at};

use lifting_dsl::Direction;

/// The axis lifted first in analysis. Synthesis undoes the axes in reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Rows first, then columns (VC-2, CCSDS, the papers).
    HorizontalFirst,
    /// Columns first, then rows (JPEG 2000).
    VerticalFirst,
}

impl Order {
    /// Whether a direction lifts rows before columns. Analysis starts with the plan's first axis, synthesis with its
    /// last.
    pub fn across_first(self, direction: Direction) -> bool {
        (self == Order::HorizontalFirst) == (direction == Direction::Forward)
    }
}

/// Row alignment that a kernel requires. The stricter, the faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowAlignment {
    /// All rows.
    Any,
    /// The image's rows begin at multiples of a lane's vector, with the first column at an even position; bands begin
    /// anywhere. A schedule without a kernel for these rows has one for [`RowAlignment::Any`].
    Image,
    /// Rows as for [`RowAlignment::Image`], and bands' rows begin at multiples of half a lane's vector.
    Aligned,
    /// Rows as for [`RowAlignment::Aligned`] that consist of whole vectors.
    Whole,
}

impl RowAlignment {
    /// All kinds, the fastest first.
    pub const ALL: [RowAlignment; 4] =
        [RowAlignment::Whole, RowAlignment::Aligned, RowAlignment::Image, RowAlignment::Any];

    /// Whether all arrays are aligned.
    pub fn is_aligned(self) -> bool {
        matches!(self, RowAlignment::Aligned | RowAlignment::Whole)
    }

    /// Name of a schedule's kernel for such rows.
    pub(super) fn kernel(self, schedule: &str) -> String {
        match self {
            RowAlignment::Any => schedule.to_owned(),
            RowAlignment::Image => format!("{schedule}_image"),
            RowAlignment::Aligned => format!("{schedule}_aligned"),
            RowAlignment::Whole => format!("{schedule}_whole"),
        }
    }
}
