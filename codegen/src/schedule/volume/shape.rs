//! The shape of a tile that walks, chosen.

use super::block;
use crate::schedule::{Options, ScheduleError};
use lifting_dsl::Scheme;

/// Shape of a tile, and of a block of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Columns a lane along rows: a power of two of at least 2, of at most 16 bytes.
    pub columns: u32,
    /// Row pairs of results that a thread lifts along columns. A tile has `pairs · warps / columns` of them.
    pub pairs: u32,
    /// Warps a block, a multiple of `columns`.
    pub warps: u32,
    /// Resident blocks a multiprocessor to ask for; 0 asks for one.
    pub min_blocks: u32,
    /// Whether the kernel takes only rows that begin where a lane's vector begins and consist of whole vectors, and planes whose first column and row are at even
    /// positions: it is faster.
    pub aligned: bool,
}

/// Columns a lane at most: 16 bytes of samples of 4 bytes.
const COLUMNS: u32 = 4;

impl Shape {
    /// Shapes worth considering, the best for large volumes first.
    ///
    /// # Errors
    /// If no shape holds the scheme: what stands against the first.
    pub fn proposed(scheme: &Scheme, options: Options) -> Result<Vec<Shape>, ScheduleError> {
        let columns = (16 / options.sample.bytes() as u32).min(COLUMNS);
        let candidates = [(3, 16), (6, 8), (4, 8), (2, 8), (1, 8)];
        let mut shapes = Vec::new();
        let mut refusal = None;
        for (pairs, warps) in candidates {
            let shape = Shape { columns, pairs, warps, min_blocks: 0, aligned: false };
            match block(scheme, options, shape) {
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
