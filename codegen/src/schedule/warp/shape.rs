//! The shapes of blocks, chosen.
//!
//! A block is straight-line code: all loads, all lifting, all stores. Large images pay for what a block loads besides what it stores, its halo, and for its registers,
//! as what hides the loads of one warp is other warps: 80 registers of samples are about 128 a thread, which leave 16 warps resident on a
//! multiprocessor. Small images, whose blocks all run at once, pay for the time of one block, which grows with its rows: they are lifted one
//! after another, by shuffles that wait for each other.
//!
//! So for large images a block has half again as many row pairs of results as of halo: it loads 5 rows for every 3 that it stores, and more rows gain less
//! than the warps cost for which they leave no registers. Six pairs at least, below which addresses and tests weigh. Images in between gain from a row pair less.
//! Small ones want two pairs of results and two columns a lane: more, where samples are so short that a lane would store less than 32 bytes. docs/performance.md has what was measured.
//!
//! No lanes are left idle so that stores are whole sectors ([`Shape::whole_sectors`]): parts of sectors meet in the second-level cache, and idle lanes are lost.

use super::{Axis, LONG_HALO, MAX_REGISTERS, block, words};
use crate::schedule::level::Rows;
use crate::schedule::{Arithmetic, Options, ScheduleError};
use crate::window::Halo;
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
    /// Resident blocks a multiprocessor to ask for; 0: what the samples' registers leave, up to 16 warps.
    pub min_blocks: u32,
    /// Whether fewer lanes store than could, so that each store of a warp is whole 32-byte sectors.
    pub whole_sectors: bool,
    /// Which rows the kernel takes; all but [`Rows::Any`] ask for a first row at an even position, too.
    pub takes: Rows,
}

impl Shape {
    /// Whether the kernel takes aligned rows only.
    pub(super) fn is_aligned(self) -> bool {
        self.takes != Rows::Any
    }
}

/// Row pairs with results of a block for large images, at least.
const LARGE_PAIRS: i64 = 6;

/// Row pairs with results of the least block, at least; and bytes that a lane stores of it, at least.
const SMALL_PAIRS: i64 = 2;
const SMALL_BYTES: i64 = 32;

impl Shape {
    /// 64 x 20 samples, 60 or 56 columns of which are stored by the 5/3 and the 9/7: the paper's.
    pub fn paper() -> Shape {
        Shape { columns: 2, rows: 20, warps: 4, min_blocks: 0, whole_sectors: false, takes: Rows::Any }
    }

    /// The shape for large images: as high as pays, and of the width that loads the fewest samples for each that it stores.
    ///
    /// # Errors
    /// If no shape holds the scheme: what stands against the largest.
    pub fn of(scheme: &Scheme, options: Options) -> Result<Shape, ScheduleError> {
        let arith = Arithmetic::of(scheme, options)?.in_registers();
        let sides = sides(scheme, options);
        let wanted = 2 * (sides + LARGE_PAIRS.max((3 * sides + 1) / 2));
        let mut refusal = None;
        let mut best: Option<(f64, Shape)> = None;
        for columns in [2, 4, 8].into_iter().filter(|c| (4..=16).contains(&(c * options.sample.bytes() as i64))) {
            let rows = wanted.min((MAX_REGISTERS / (columns * words(arith.work))) & !1);
            let shape = Shape { columns: columns as u32, rows: rows as u32, ..Shape::paper() };
            match block(scheme, options, shape) {
                // Of equals the widest: fewer and larger accesses.
                Ok(block) if best.is_none_or(|(reads, _)| block.reads() <= reads) => {
                    best = Some((block.reads(), shape));
                }
                Ok(_) => {}
                Err(e) => refusal = Some(e),
            }
        }
        best.map(|(_, shape)| shape).ok_or_else(|| refusal.expect("a shape that was not held was refused"))
    }

    /// The shapes worth considering: [`Shape::of`], one a row pair lower, and the least, for small images.
    ///
    /// # Errors
    /// As [`Shape::of`].
    pub fn proposed(scheme: &Scheme, options: Options) -> Result<Vec<Shape>, ScheduleError> {
        let large = Shape::of(scheme, options)?;
        let mut shapes = vec![large];
        let sides = sides(scheme, options);
        // With a long halo, nearly all that a small block loads would be halo.
        if sides <= LONG_HALO {
            let lower = Shape { rows: large.rows - 2, ..large };
            let columns = i64::from(Shape::paper().columns);
            let pairs = SMALL_PAIRS.max(SMALL_BYTES / (2 * columns * options.sample.bytes() as i64));
            let small = Shape { rows: 2 * (sides + pairs) as u32, ..Shape::paper() };
            shapes.extend([lower, small].into_iter().filter(|&s| s != large && block(scheme, options, s).is_ok()));
        }
        Ok(shapes)
    }
}

/// Row pairs of halo, above and below.
fn sides(scheme: &Scheme, options: Options) -> i64 {
    let halo = Halo::of(&Axis::new(scheme, options).actions, options.boundary);
    halo.pairs_before() + halo.pairs_after()
}
