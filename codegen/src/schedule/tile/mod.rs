//! Both axes in one pass: a block passes a tile from one axis to the other through shared memory.
//!
//! rewrite: a scheme along both axes of an image → thread blocks that pass a tile from one axis to the other through
//! shared memory
//!
//! A thread block has a tile: [`Shape::rows`] rows of results, and the columns that the lanes of a warp hold,
//! [`Shape::columns`] each, with halo in the outermost lanes. Along rows, a warp has the whole width of the tile, a
//! pair of rows at a time, and lanes exchange edge values by shuffles (`schedule::lines`). Along columns, a thread has
//! one column and a few row pairs of results at a time, and lifts them with all they depend on (`Slab`). The first axis
//! loads from global memory, and the second one stores there. In between, the tile is in shared memory, behind one
//! barrier. The plan's order of axes selects the first axis.
//!
//! So no thread waits for a neighbour or walks. Between the first load and the last store there are two loads and two
//! stores, plus the arithmetic of one thread's row and column. Small images need this, as their time is that of a
//! single block. The price is that each tile reads its halo again, and that every sample passes through shared memory
//! once.
//!
//! Between the axes, rows of bands are split: all even columns, then all odd ones. So neighbouring threads access
//! neighbouring samples, in global memory too, without bank conflicts.
//!
//! After Matela 2009, "GPU-Based DWT Acceleration for JPEG2000" (a tile in shared memory, both axes, coalesced stores
//! of the four bands). There, tiles are those of JPEG 2000 and have no halo.
//!
//! The fast kernels require aligned rows, and the first column and row at even positions; the others take any rows.
//!
//! Border rules are those of `schedule::warp`. Each sample at a border is loaded from where the rule finds it. Samples
//! that lifting would not keep are restored after each step.

mod across;
mod cost;
mod down;
mod launch;
mod schedule;
mod shape;
#[cfg(test)]
mod tests;

pub use schedule::TileSchedule;
pub use shape::TileShape;

use super::level::{
    Axis, Border, Cells, Frame, Held, Order, Params, RowAlignment, cell_of, check_columns, check_warps,
};
use super::limits::{check_range, unfit};
use super::{Arithmetic, Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::valid::MAX_SHARED;
use crate::ir::{Builtin, Expr, Kernel, Launch, LocalId, Scalar};
use crate::window::Halo;
use lifting_dsl::{Direction, Scheme};

/// Maximum registers for the samples of a thread's column.
const MAX_REGISTERS: i64 = 104;

/// A scheme fitted to a tile: all that is derived before code is written.
#[derive(Clone, Debug)]
pub struct TileFit {
    options: Options,
    shape: TileShape,
    arith: Arithmetic,
    border: Border,
    axis: Axis,
    /// Halo of the lifting steps.
    halo: Halo,
    /// Halo lanes on the left.
    left: i64,
    /// Lanes with results.
    useful: i64,
}

/// Fits a scheme to a tile.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or the shape does not suit the samples. If a thread's column has
/// more samples than registers, or the tile is all halo or exceeds shared memory.
pub fn fit(scheme: &Scheme, options: Options, shape: TileShape) -> Result<TileFit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit("tile", scheme);
    let (c, rows, pairs) = (i64::from(shape.columns), i64::from(shape.rows), i64::from(shape.pairs));
    check_columns("tile", shape.columns, options.sample, 2, 0..=16)?;
    check_warps("tile", shape.warps)?;
    check_range("tile", "row pairs a thread lifts at once", shape.pairs, 1..=u32::MAX)?;
    if rows < 2 || rows % (2 * pairs) != 0 {
        let allowed = format!("a positive multiple of the {} rows a thread lifts at once", 2 * pairs);
        return Err(unfit("tile", "rows of a tile", shape.rows, allowed));
    }
    let steps = options.direction.steps(scheme);
    let axis = Axis::new(scheme, options);
    let halo = Halo::of(&axis.actions, options.boundary);
    let sides = halo.pairs();
    let registers = 2 * (pairs + sides) * ((arith.work.bytes() as i64 + 3) / 4);
    if registers > MAX_REGISTERS {
        return Err(refuse("registers a thread for its part of a column", registers, MAX_REGISTERS));
    }
    let (left, right) = ((halo.before + c - 1) / c, (halo.after + c - 1) / c);
    let lanes = i64::from(shape.lanes);
    let useful = lanes - left - right;
    if useful < 1 {
        return Err(refuse("lanes of a tile's halo", left + right, lanes - 1));
    }
    let bytes = (rows + 2 * sides) * lanes * c * cell_of(arith).bytes() as i64;
    if bytes > MAX_SHARED as i64 {
        return Err(refuse("bytes of shared memory for a tile", bytes, MAX_SHARED as i64));
    }
    Ok(TileFit { options, shape, arith, border: Border::of(options.boundary, &steps), axis, halo, left, useful })
}

impl TileFit {
    /// Columns of a tile without its halo.
    pub fn columns(&self) -> i64 {
        self.useful * i64::from(self.shape.columns)
    }

    /// Rows of a tile without its halo.
    pub fn rows(&self) -> i64 {
        self.shape.rows.into()
    }

    /// Whether the kernel requires aligned rows.
    pub fn is_for_aligned(&self) -> bool {
        self.shape.aligned
    }

    /// Samples loaded for each sample stored.
    pub fn reads(&self) -> f64 {
        let sides = self.halo.pairs();
        let loaded = i64::from(self.shape.lanes * self.shape.columns) * (self.rows() + 2 * sides);
        loaded as f64 / (self.columns() * self.rows()) as f64
    }

    /// The image, as threads hold `columns` columns of it.
    fn held(&self, params: &Params, columns: u32) -> Held {
        let aligned = self.shape.aligned;
        let held = params.held(self.options, self.arith, self.border, columns, aligned);
        if aligned { held.at_even_positions() } else { held }
    }

    /// Row pairs that a warp lifts along rows, and those that a thread lifts one after another along columns, halo
    /// included, in the usual order of axes.
    pub fn rounds(&self) -> [i64; 2] {
        let sides = self.halo.pairs();
        let TileShape { columns, rows, pairs, warps, .. } = self.shape;
        let ceil = |n: i64| (n + i64::from(warps) - 1) / i64::from(warps);
        let (held, _) = self.held_pairs(Order::HorizontalFirst.across_first(self.options.direction));
        let parts = i64::from(columns) * i64::from(rows / 2 / pairs);
        [ceil(held.into()), ceil(parts) * (i64::from(pairs) + sides)]
    }

    /// Columns `first..end` of a warp that are stored.
    fn results(&self) -> [i32; 2] {
        let lane = i64::from(self.shape.columns);
        [self.left * lane, (self.left + self.useful) * lane].map(|n| n as i32)
    }

    /// Row pairs in shared memory, and those of them before the results. Rows that are lifted first are loaded with
    /// their halo.
    fn held_pairs(&self, across_first: bool) -> (i32, i32) {
        let results = self.shape.rows as i32 / 2;
        let [before, after] = [self.halo.pairs_before(), self.halo.pairs_after()].map(|n| n as i32);
        if across_first { (before + results + after, before) } else { (results, 0) }
    }
}

/// State shared by both axes of the kernel.
struct Tile<'a> {
    frame: &'a Frame<'a>,
    plan: &'a TileFit,
    /// The tile in shared memory between the axes.
    cells: Cells,
    /// First row pair of the tile's results.
    first: LocalId,
    /// Whether rows are lifted before columns.
    across_first: bool,
}

/// Writes the kernel of a fit.
fn write(plan: &TileFit, scheme: &Scheme, order: Order) -> Kernel {
    let TileFit { options, shape, arith, left, useful, .. } = *plan;
    let name = options.kernel_name(scheme, if shape.aligned { "tile_aligned" } else { "tile" });
    let mut builder = Builder::of_warps(name, shape.lanes);
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of both axes in one pass: a tile goes through shared memory in between.",
        Direction::Inverse => "Synthesis of both axes in one pass: a tile goes through shared memory in between.",
    });
    b.doc(format!(
        "Tile {} x {} samples without halo; {} columns a lane, {} row pairs a thread; border rule {}.",
        plan.columns(),
        plan.rows(),
        shape.columns,
        shape.pairs,
        options.boundary
    ));
    let params = Params::declare(b, options);
    let c = shape.columns as i32;
    let across_first = order.across_first(options.direction);
    let held = plan.held(&params, shape.columns);
    let (end_x, end_y) = (held.end(0), held.end(1));
    let lanes = (left, useful);
    let takes = if shape.aligned { RowAlignment::Aligned } else { RowAlignment::Any };
    let frame = Frame::of_tile(b, (options, &params), held, takes, lanes, Builtin::BlockZ.into());
    let pairs = shape.rows as i32 / 2;
    let first = b.let_("first_pair", Scalar::I32, Builtin::BlockY * pairs);
    let split = order == Order::HorizontalFirst;
    let (held_pairs, _) = plan.held_pairs(across_first);
    let cells = (2 * held_pairs * b.warp() * c) as u32;
    let shared = b.shared("cells", cell_of(arith), cells);
    let cells = Cells { shared, arith, columns: c, lanes: shape.lanes as i32, split, base: None };
    let tile = Tile { frame: &frame, plan, cells, first, across_first };
    if across_first {
        tile.across(b);
        b.barrier();
        tile.down(b);
    } else {
        tile.down(b);
        b.barrier();
        tile.across(b);
    }
    let tiles = |end: Expr, size: i32| (end + (size - 1)) / size;
    let grid = [tiles(end_x, plan.columns() as i32), tiles((end_y + 1) >> 1, pairs), params.batch.into()];
    let mut kernel = builder.finish(Launch { block: [shape.lanes, shape.warps, 1], grid });
    kernel.min_blocks = shape.min_blocks.max(plan.axis.min_blocks());
    kernel
}
