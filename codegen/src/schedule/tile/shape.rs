//! Tile shapes of the `tile` schedule and their choice.

use super::fit;
use crate::ir::WARP;
use crate::schedule::level::Axis;
use crate::schedule::{Options, ScheduleError};
use crate::window::Halo;
use lifting_dsl::{Direction, Scheme};

/// Shape of a tile and of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileShape {
    /// Columns a lane along rows: a power of two, at least 2 columns and at most 16 bytes.
    pub columns: u32,
    /// Rows of results, a multiple of twice `pairs`.
    pub rows: u32,
    /// Row pairs of results that a thread lifts at once along columns.
    pub pairs: u32,
    /// Warps a block.
    pub warps: u32,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Resident blocks a multiprocessor to ask for; 0 leaves it to the compiler.
    pub min_blocks: u32,
    /// Whether the kernel requires rows aligned to a lane's vector, and the first column and row at even positions.
    /// Such kernels are faster.
    pub aligned: bool,
}

/// Maximum columns a lane: 16 bytes of 4-byte samples. Wider tiles of small samples are too large for small images, and
/// large images run better with a walking schedule.
const COLUMNS: u32 = 4;
/// Row pairs of a tile in shared memory: two for each of 4 warps. Doubled for halos longer than [`SHORT_HALO`].
const PAIRS: i64 = 8;
/// Longest short halo in row pairs, above plus below.
const SHORT_HALO: i64 = 2;
/// Maximum warps a block.
const WARPS: i64 = 8;

impl TileShape {
    /// Shapes worth considering, the one for large images first. There a warp has two pairs of rows, to hide the
    /// latency of its shuffles, and a thread has the longest part of a column that pays. Small images need more threads
    /// for the same samples. Analysis halves the columns a lane; synthesis, which loads columns, doubles the warps.
    ///
    /// # Errors
    /// If no shape holds the scheme: the reason against the first.
    pub fn proposed(scheme: &Scheme, options: Options) -> Result<Vec<TileShape>, ScheduleError> {
        let halo = Halo::of(&Axis::new(scheme, options).actions, options.boundary);
        let sides = halo.pairs();
        let most = (16 / options.sample.bytes() as u32).min(COLUMNS);
        let candidates = match options.direction {
            Direction::Forward => {
                // Rows that are lifted first, as in the usual order of axes, are loaded with their halo.
                let mut held = if sides <= SHORT_HALO { PAIRS } else { 2 * PAIRS };
                while held < 2 * sides {
                    held += PAIRS;
                }
                let results = held - sides;
                let pairs = |most: i64| (1..=most).rev().find(|pairs| results % pairs == 0).unwrap_or(1);
                let warps = (held / 2).min(WARPS);
                let large = pairs(if sides <= SHORT_HALO { 6 } else { 5 });
                let small = if results % 3 == 0 { 3 } else { large };
                [(most, results, large, warps), (2, results, small, warps)]
            }
            Direction::Inverse => {
                let each = 2 * i64::from(most);
                [(most, PAIRS, each, WARPS / 2), (most, PAIRS, each / 2, WARPS)]
            }
        };
        let mut shapes: Vec<TileShape> = Vec::new();
        let mut refusal = None;
        for (columns, results, pairs, warps) in candidates {
            let [rows, pairs, warps] = [2 * results, pairs, warps].map(|n| n as u32);
            let shape = TileShape { columns, rows, pairs, warps, lanes: WARP, min_blocks: 0, aligned: false };
            match fit(scheme, options, shape) {
                Ok(_) if shapes.contains(&shape) => {}
                Ok(_) => shapes.push(shape),
                Err(e) => {
                    refusal.get_or_insert(e);
                }
            }
        }
        match refusal {
            Some(e) if shapes.is_empty() => Err(e),
            _ => Ok(shapes),
        }
    }
}
