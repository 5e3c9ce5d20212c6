//! The shape of a block, chosen.

use super::{MAX_REGISTERS, block, words};
use crate::schedule::{Arithmetic, Options, ScheduleError};
use lifting_dsl::Scheme;

/// Shape of a block of samples, and of a block of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Columns a lane: a power of two of at least 2, of at most 16 bytes.
    pub columns: u32,
    /// Rows, halo included; even.
    pub rows: u32,
    /// Warps a block of threads, each with a block of samples of its own; they stand below one another.
    pub warps: u32,
    /// Resident blocks a multiprocessor to ask for; 0 leaves it to the compiler.
    pub min_blocks: u32,
    /// Whether fewer lanes store than could, so that each store of a warp is whole 32-byte sectors.
    pub whole_sectors: bool,
}

/// Registers for the samples of a thread, the most desirable first: fewer leave more warps resident.
const BUDGETS: [i64; 2] = [96, MAX_REGISTERS];

/// Rows beyond which a block grows no further.
const MAX_ROWS: i64 = 64;

/// Samples loaded for each that is stored, beyond which the larger budget is tried.
const MANY_READS: f64 = 2.0;

impl Shape {
    /// 64 x 20 samples, 60 or 56 columns of which are stored by the 5/3 and the 9/7: the paper's.
    pub fn paper() -> Shape {
        Shape { columns: 2, rows: 20, warps: 4, min_blocks: 0, whole_sectors: false }
    }

    /// The shape of a scheme that loads the fewest samples for each that it stores, within a budget of registers.
    ///
    /// # Errors
    /// If no shape holds the scheme: what stands against the largest.
    pub fn of(scheme: &Scheme, options: Options) -> Result<Shape, ScheduleError> {
        let words = words(Arithmetic::of(scheme, options)?.work);
        let mut refusal = None;
        let mut best: Option<(f64, Shape)> = None;
        for budget in BUDGETS {
            for columns in [2, 4, 8].into_iter().filter(|c| (4..=16).contains(&(c * options.sample.bytes() as i64))) {
                let rows = (budget / (columns * words)).min(MAX_ROWS) & !1;
                let (columns, rows) = (columns as u32, rows as u32);
                let shape = Shape { columns, rows, warps: 4, min_blocks: 0, whole_sectors: true };
                match block(scheme, options, shape) {
                    // Of equals the widest: fewer and larger accesses.
                    Ok(block) if best.is_none_or(|(reads, _)| block.reads() <= reads) => {
                        best = Some((block.reads(), shape));
                    }
                    Ok(_) => {}
                    Err(e) => refusal = Some(e),
                }
            }
            if let Some((reads, shape)) = best
                && reads <= MANY_READS
            {
                return Ok(shape);
            }
        }
        best.map(|(_, shape)| shape).ok_or_else(|| refusal.expect("a shape that was not held was refused"))
    }
}
