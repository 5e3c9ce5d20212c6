//! Tile shapes of the `volume` schedule and their choice.

use super::fit;
use crate::schedule::level::RowAlignment;
use crate::schedule::{Options, ScheduleError};
use lifting_dsl::Scheme;

/// Shape of a tile and of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VolumeShape {
    /// Columns a lane along rows: a power of two, at least 2 columns and at most 16 bytes.
    pub columns: u32,
    /// Row pairs of results that a thread lifts along columns. A tile has `pairs · warps / columns` of them.
    pub pairs: u32,
    /// Warps a block, a multiple of `columns`.
    pub warps: u32,
    /// Resident blocks a multiprocessor to ask for; 0 asks for one.
    pub min_blocks: u32,
    /// Whether the kernel requires rows of whole lane vectors, aligned to them, with the first column and row at even
    /// positions. Such kernels are faster.
    pub aligned: bool,
    /// Whether some lanes idle so that warps store whole 32-byte sectors: in analysis of aligned rows, for volumes
    /// where this adds no tile.
    pub whole_sectors: bool,
}

/// Maximum columns a lane: 16 bytes of 4-byte samples.
const COLUMNS: u32 = 4;

/// Row pairs a thread and warps a block, best first: threads for all registers of a multiprocessor at 128 each, and the
/// largest tile they hold.
const CANDIDATES: [(u32, u32); 5] = [(3, 16), (2, 16), (1, 16), (2, 8), (1, 8)];

impl VolumeShape {
    /// Row alignment the kernel requires.
    pub(super) fn takes(self) -> RowAlignment {
        match (self.aligned, self.whole_sectors) {
            (false, _) => RowAlignment::Any,
            (true, false) => RowAlignment::Aligned,
            (true, true) => RowAlignment::Whole,
        }
    }

    /// Shapes worth considering: the largest tile that the threads of a block hold.
    ///
    /// # Errors
    /// If no shape holds the scheme: the reason against the largest.
    pub fn proposed(scheme: &Scheme, options: Options) -> Result<Vec<VolumeShape>, ScheduleError> {
        let columns = (16 / options.sample.bytes() as u32).min(COLUMNS);
        let shape =
            |(pairs, warps)| VolumeShape { columns, pairs, warps, min_blocks: 0, aligned: false, whole_sectors: false };
        let mut made = CANDIDATES.map(shape).into_iter().map(|shape| fit(scheme, options, shape).map(|_| shape));
        let first = made.next().expect("there are candidates");
        let found = first.or_else(|e| made.find_map(Result::ok).ok_or(e));
        found.map(|shape| vec![shape])
    }
}
