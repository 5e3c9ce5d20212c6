//! rewrite: a scheme along both axes of an image → blocks of threads that hand a tile of it from one axis to the other
//! through shared memory
//!
//! A block of threads has a tile: [`Shape::rows`] rows of results, and in columns what the lanes of a warp hold,
//! [`Shape::columns`] each, the outermost of them halo. Along rows a warp has the whole width of the tile, a pair of
//! rows at a time, and lanes exchange edge values by shuffles (`schedule::lines`). Along columns a thread has one
//! column and a few row pairs of results at a time, which it lifts with all that they depend on (`Slab`). The first
//! axis is loaded from global memory, the second one stored there; in between, the tile stands in shared memory, with
//! one barrier. Which axis that is, the plan's order of axes says.
//!
//! So nobody waits for a neighbour, or walks: between the first load and the last store there are two loads and two
//! stores, and as much arithmetic as one thread has in a row and in a column. That is what small images need, whose
//! time is that of a single block; what it costs is that the halo is read again by each tile, and all of it goes
//! through shared memory once.
//!
//! Between the axes, rows of bands stand apart: all columns of even index, then all of odd index. So threads beside one
//! another read and write samples that are beside one another, in global memory too, and banks do not conflict.
//!
//! After Matela 2009, "GPU-Based DWT Acceleration for JPEG2000" (a tile in shared memory, both axes, the four bands
//! stored coalesced); there, tiles are those of JPEG 2000, without halo.
//!
//! Kernels for rows that are aligned, of images whose first column and row are at even positions, are the fast ones;
//! the others take any.
//!
//! Border rules are those of `schedule::warp`: samples at a border are loaded each where the rule finds it, and what
//! lifting would not keep is restored after each step.

mod across;
mod cost;
mod down;
mod launch;
mod schedule;
mod shape;
#[cfg(test)]
mod tests;

pub use schedule::Schedule;
pub use shape::Shape;

use super::level::{
    Axis, Border, Cells, Frame, Held, Order, Params, RowAlignment, cell_of, check_columns, check_warps,
};
use super::{Arithmetic, Direction, Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::valid::MAX_SHARED;
use crate::ir::{Builtin, Expr, Kernel, Launch, LocalId, Scalar};
use crate::window::Halo;
use lifting_dsl::Scheme;

/// Most registers that the samples of a thread's column may take.
const MAX_REGISTERS: i64 = 104;

/// How a scheme meets a tile: what is derived from it before any code is written.
#[derive(Clone, Debug)]
pub struct Fit {
    options: Options,
    shape: Shape,
    arith: Arithmetic,
    border: Border,
    axis: Axis,
    /// Of the lifting steps.
    halo: Halo,
    /// Halo lanes on the left.
    left: i64,
    /// Lanes with results.
    useful: i64,
}

/// Derives how a scheme meets a tile.
///
/// # Errors
/// If the sample type is not of the scheme's domain, if the shape does not suit the samples, if a thread's column has
/// more samples than registers, or if the tile is all halo or more than shared memory holds.
pub fn fit(scheme: &Scheme, options: Options, shape: Shape) -> Result<Fit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit("tile", scheme);
    let (c, rows, pairs) = (i64::from(shape.columns), i64::from(shape.rows), i64::from(shape.pairs));
    check_columns(shape.columns, options.sample, &refuse)?;
    check_warps(shape.warps, &refuse)?;
    if pairs < 1 || rows < 2 || rows % (2 * pairs) != 0 {
        return Err(refuse("the number of rows, a multiple of those that a thread lifts at once,", 2 * pairs, rows));
    }
    let steps = options.direction.steps(scheme);
    let axis = Axis::new(scheme, options);
    let halo = Halo::of(&axis.actions, options.boundary);
    let sides = halo.pairs();
    let registers = 2 * (pairs + sides) * ((arith.work.bytes() as i64 + 3) / 4);
    if registers > MAX_REGISTERS {
        return Err(refuse("a thread's part of a column, in registers,", registers, MAX_REGISTERS));
    }
    let (left, right) = ((halo.before + c - 1) / c, (halo.after + c - 1) / c);
    let lanes = i64::from(shape.lanes);
    let useful = lanes - left - right;
    if useful < 1 {
        return Err(refuse("the halo of a tile, in lanes,", left + right, lanes - 1));
    }
    let bytes = (rows + 2 * sides) * lanes * c * cell_of(arith).bytes() as i64;
    if bytes > MAX_SHARED as i64 {
        return Err(refuse("a tile, in bytes of shared memory,", bytes, MAX_SHARED as i64));
    }
    Ok(Fit { options, shape, arith, border: Border::of(options.boundary, &steps), axis, halo, left, useful })
}

impl Fit {
    /// Columns of a tile, halo left out.
    pub fn columns(&self) -> i64 {
        self.useful * i64::from(self.shape.columns)
    }

    /// Rows of a tile, halo left out.
    pub fn rows(&self) -> i64 {
        self.shape.rows.into()
    }

    /// Whether the kernel takes aligned rows only.
    pub fn is_for_aligned(&self) -> bool {
        self.shape.aligned
    }

    /// Samples that are loaded for each that is stored.
    pub fn reads(&self) -> f64 {
        let sides = self.halo.pairs();
        let loaded = i64::from(self.shape.lanes * self.shape.columns) * (self.rows() + 2 * sides);
        loaded as f64 / (self.columns() * self.rows()) as f64
    }

    /// The image, as threads hold so many columns of it.
    fn held(&self, params: &Params, columns: u32) -> Held {
        let aligned = self.shape.aligned;
        let held = params.held(self.options, self.arith, self.border, columns, aligned);
        if aligned { held.at_even_positions() } else { held }
    }

    /// Row pairs that a warp lifts along rows, and those that a thread lifts along columns one after another, halo
    /// included; by the usual order of axes.
    pub fn rounds(&self) -> [i64; 2] {
        let sides = self.halo.pairs();
        let Shape { columns, rows, pairs, warps, .. } = self.shape;
        let ceil = |n: i64| (n + i64::from(warps) - 1) / i64::from(warps);
        let (held, _) = self.held_pairs(Order::HorizontalFirst.across_first(self.options.direction));
        let parts = i64::from(columns) * i64::from(rows / 2 / pairs);
        [ceil(held.into()), ceil(parts) * (i64::from(pairs) + sides)]
    }

    /// First and last of a warp's columns that are stored; the last one does not belong to them.
    fn results(&self) -> [i32; 2] {
        let lane = i64::from(self.shape.columns);
        [self.left * lane, (self.left + self.useful) * lane].map(|n| n as i32)
    }

    /// Row pairs in shared memory, and how many of them come before the results: rows are loaded with the halo where
    /// they are lifted first.
    fn held_pairs(&self, across_first: bool) -> (i32, i32) {
        let results = self.shape.rows as i32 / 2;
        let [before, after] = [self.halo.pairs_before(), self.halo.pairs_after()].map(|n| n as i32);
        if across_first { (before + results + after, before) } else { (results, 0) }
    }
}

/// What both parts of the kernel share.
struct Tile<'a> {
    frame: &'a Frame<'a>,
    plan: &'a Fit,
    /// Between the axes.
    cells: Cells,
    /// First row pair of the tile's results.
    first: LocalId,
    /// Whether rows are lifted before columns.
    across_first: bool,
}

/// The kernel of a fit.
fn write(plan: &Fit, scheme: &Scheme, order: Order) -> Kernel {
    let Fit { options, shape, arith, left, useful, .. } = *plan;
    let name = options.kernel_name(scheme, if shape.aligned { "tile_aligned" } else { "tile" });
    let mut builder = Builder::of_warps(name, shape.lanes);
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of both axes in one pass: a block hands a tile from one axis to the other.",
        Direction::Inverse => "Synthesis of both axes in one pass: a block hands a tile from one axis to the other.",
    });
    b.doc(format!(
        "A tile is {} x {} samples and its halo; {} columns a lane along rows, {} row pairs a thread along columns; border rule {}.",
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
    let frame = Frame::of_tile(b, (options, &params), held, takes, lanes, &Builtin::BlockZ.into());
    let pairs = shape.rows as i32 / 2;
    let first = b.let_("first_pair", Scalar::I32, Expr::from(Builtin::BlockY) * pairs);
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
