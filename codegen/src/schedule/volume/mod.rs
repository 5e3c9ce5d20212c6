//! All three axes of a volume in one pass: tiles walk along z, with a delay line in registers.
//!
//! rewrite: a scheme along all three axes of a volume → blocks that walk along z with a tile of a plane, the z axis a
//! delay line in registers
//!
//! A block owns a tile in x and y and walks along a chunk of planes, one pair at a time. A plane passes through it like
//! an image through `schedule::tile`. Along rows, a warp lifts a pair at a time, and lanes exchange edge values by
//! shuffles. Along columns, a thread has one column and a few row pairs. In between, the tile is in shared memory. The
//! thread's samples of a plane join its delay line (`super::level`) along z. So every sample is read once and written
//! once for all three axes. A tile pays its halo in x and y, a chunk its halo in z once.
//!
//! Analysis lifts x, y, z. Rows of both planes of a pair are loaded, lifted and put into shared memory. A thread's
//! results along columns enter its delay line, and its threads store. There are two barriers a pair: after all rows are
//! in shared memory, and after all have been taken.
//!
//! Synthesis undoes the axes in reverse. A delay line holds the samples of the eight bands that a warp loads, rows with
//! their halo. Finished planes pass through shared memory for the columns, and again for the rows. Three parts of
//! shared memory take turns, so that the columns of one plane and the rows of the other are lifted together: three
//! barriers a pair. If they do not fit, planes take turns, with four barriers. Other axis orders need other
//! schedules.
//!
//! Planes are loaded into registers two ahead, as soon as the previous pair has been consumed.
//!
//! Border rules along rows and columns are those of `schedule::warp`, along z those of `schedule::stream`. The fast
//! kernels require rows of whole vectors. Steps beyond a border then read a lane's own columns, or lanes beyond it take
//! their extension from others ([`super::level::Lanes`]). Samples are counted in 32 bits.
//!
//! After Nguyen, Satish, Chhugani, Kim & Dubey 2010, "3.5-D Blocking Optimization for Stencil Computations on Modern
//! CPUs and GPUs" (a tile in two axes streams along the third), with the lags of lifting steps as time steps.

mod cost;
mod forward;
mod inverse;
mod launch;
mod planes;
mod schedule;
mod shape;
#[cfg(test)]
mod tests;

pub use schedule::VolumeSchedule;
pub use shape::VolumeShape;

use super::level::{
    Across, Axis, Border, Cells, Column, Descent, Frame, Held, Lanes, PHASES, Params, Row, RowAlignment, cell_of,
    check_columns, is_local, useful_lanes,
};
use super::limits::{check_range, unfit};
use super::{Arithmetic, Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::valid::MAX_SHARED;
use crate::ir::{Builtin, Expr, Kernel, Launch, LocalId, Scalar};
use crate::window::Halo;
use lifting_dsl::{Boundary, Direction, Phase, Scheme};
use planes::Ahead;

/// 32-bit registers of all threads of a block.
const REGISTERS: i64 = 65536;
/// Maximum registers a thread: nvcc needs the rest of the 255 for long steps.
const MOST_REGISTERS: i64 = 200;
/// Registers a thread beyond samples, for samples of up to 4 bytes and of 8: with less, nvcc spills.
const AROUND: [i64; 2] = [42, 56];

/// A scheme fitted to a volume: all that is derived before code is written.
#[derive(Clone, Debug)]
pub struct VolumeFit {
    options: Options,
    shape: VolumeShape,
    arith: Arithmetic,
    /// Border rule along rows and columns.
    border: Border,
    /// Border rule along z.
    deep_border: Border,
    axis: Axis,
    /// Halo of the lifting steps in rows and columns.
    halo: Halo,
    /// Delay line along z.
    descent: Descent,
    /// Halo lanes on the left.
    left: i64,
    /// Lanes with results.
    useful: i64,
    /// Whether synthesis has both planes of a pair in shared memory at once, in three parts that take turns.
    turns: bool,
}

/// Fits a scheme to a volume.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or the border rule needs symmetric steps. If the shape does not
/// suit the samples, a thread has more samples than registers, or the tile is all halo or exceeds shared memory.
pub fn fit(scheme: &Scheme, options: Options, shape: VolumeShape) -> Result<VolumeFit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit("volume", scheme);
    let (c, warps, pairs) = (i64::from(shape.columns), i64::from(shape.warps), i64::from(shape.pairs));
    check_columns("volume", shape.columns, options.sample, 2, 0..=16)?;
    if !(1..=32).contains(&warps) || warps % c != 0 {
        let allowed = format!("a multiple of the {c} columns a lane, from {c} to 32");
        return Err(unfit("volume", "warps a block", shape.warps, allowed));
    }
    check_range("volume", "row pairs a thread", shape.pairs, 1..=u32::MAX)?;
    let axis = Axis::new(scheme, options);
    let steps = options.direction.steps(scheme);
    let border = Border::of(options.boundary, &steps);
    // A rule that no step reads extends nothing, as `zero` does.
    let (deep_border, deep_boundary) = match border {
        Border::Mirror if axis.actions.iter().all(is_local) => (Border::Untouched, Boundary::Zero),
        other => (other, options.boundary),
    };
    axis.check_walk(deep_border, &steps, &refuse)?;
    let halo = Halo::of(&axis.actions, options.boundary);
    let (left, right) = ((halo.before + c - 1) / c, (halo.after + c - 1) / c);
    if 32 - left - right < 1 {
        return Err(refuse("lanes of a tile's halo", left + right, 31));
    }
    let (left, useful) = match shape.whole_sectors {
        true if !shape.aligned || options.direction == Direction::Inverse => {
            return Err(unfit("volume", "whole-sector stores", 1, "0 in synthesis and for unaligned rows"));
        }
        true => useful_lanes(&halo, c, options.sample.bytes() as i64, 0)
            .map_err(|(halo, most)| refuse("lanes of a tile's halo", halo, most))?,
        false => (left, 32 - left - right),
    };
    let sides = halo.pairs();
    let held = pairs * (warps / c) + sides;
    let rounds = (held + warps - 1) / warps;
    let line = if options.direction == Direction::Forward { 2 * pairs } else { 2 * c * rounds };
    let deep_halo = Halo::of(&axis.actions, deep_boundary);
    let descent = Descent::new(&axis, &deep_halo, deep_boundary, deep_border, arith, line as u32);
    let words = |n: i64| n * (arith.work.bytes() as i64).max(4) / 4;
    let samples = descent.registers + words(4 * c * rounds) + words(2 * (pairs + sides));
    let registers = samples + AROUND[usize::from(arith.work.bytes() > 4)];
    let available = (REGISTERS / (32 * warps)).min(MOST_REGISTERS);
    if registers > available {
        return Err(refuse("registers a thread for planes", registers, available));
    }
    // Unaligned rows leave no registers for turns if samples are converted too.
    let turns = shape.aligned || options.sample.bytes() == arith.work.bytes();
    let plan = VolumeFit { options, shape, arith, border, deep_border, axis, halo, descent, left, useful, turns };
    let plan = if plan.bytes() > MAX_SHARED as i64 { VolumeFit { turns: false, ..plan } } else { plan };
    if plan.bytes() > MAX_SHARED as i64 {
        return Err(refuse("bytes of shared memory for a tile", plan.bytes(), MAX_SHARED as i64));
    }
    Ok(plan)
}

impl VolumeFit {
    /// Columns of a tile without its halo.
    pub fn columns(&self) -> i64 {
        self.useful * i64::from(self.shape.columns)
    }

    /// Rows of a tile without its halo.
    pub fn rows(&self) -> i64 {
        2 * i64::from(self.row_pairs())
    }

    /// Plane pairs that a block walks beyond its chunk.
    pub fn halo_pairs(&self) -> i64 {
        self.descent.halo_pairs()
    }

    /// Whether steps along rows beyond a border read only a lane's own columns, so that no extension is stored.
    fn reflects(&self) -> bool {
        self.shape.aligned && self.axis.reflects(self.options.boundary, self.border, self.shape.columns)
    }

    /// Loads of each sample of a plane.
    pub fn reads(&self) -> f64 {
        let loaded = 32 * i64::from(self.shape.columns) * 2 * i64::from(self.held_pairs());
        loaded as f64 / (self.columns() * self.rows()) as f64
    }

    /// Sample pairs that a thread lifts along all axes for each pair of planes, halo included.
    pub fn pairs_a_step(&self) -> f64 {
        let VolumeShape { columns, pairs, warps, .. } = self.shape;
        let sides = self.halo.pairs() as f64;
        let (columns, pairs, held) = (f64::from(columns), f64::from(pairs), f64::from(self.held_pairs()));
        let loads = 2.0 * columns * held / f64::from(warps);
        let stores = 2.0 * columns * f64::from(self.row_pairs()) / f64::from(warps);
        let [rows, along_z] = match self.options.direction {
            Direction::Forward => [loads, 2.0 * pairs],
            Direction::Inverse => [stores, loads],
        };
        rows + 2.0 * pairs + sides + along_z
    }

    /// Minimum halo lanes of a tile.
    fn lanes_of_halo(&self) -> i64 {
        let c = i64::from(self.shape.columns);
        [self.halo.before, self.halo.after].map(|columns| (columns + c - 1) / c).into_iter().sum()
    }

    /// Row pairs of results.
    fn row_pairs(&self) -> i32 {
        (self.shape.pairs * self.shape.warps / self.shape.columns) as i32
    }

    /// Row pairs that are loaded.
    fn held_pairs(&self) -> i32 {
        self.row_pairs() + self.halo.pairs() as i32
    }

    /// Rows in each part of shared memory. Analysis: even and odd planes. Synthesis: before and after the columns, or
    /// three parts in turns.
    fn cells_rows(&self) -> Vec<i32> {
        let [held, done] = [self.held_pairs(), self.row_pairs()].map(|pairs| 2 * pairs);
        match self.options.direction {
            Direction::Forward => vec![held; 2],
            Direction::Inverse if self.turns => vec![held; 3],
            Direction::Inverse => vec![held, done],
        }
    }

    /// Bytes of shared memory.
    fn bytes(&self) -> i64 {
        let cells = self.cells_rows().into_iter().map(i64::from).sum::<i64>() * 32 * i64::from(self.shape.columns);
        cells * cell_of(self.arith).bytes() as i64
    }

    /// Columns `first..end` of a warp that are stored.
    fn results(&self) -> [i32; 2] {
        let lane = i64::from(self.shape.columns);
        [self.left * lane, (self.left + self.useful) * lane].map(|n| n as i32)
    }

    /// The planes, as threads hold `columns` columns of them.
    fn held(&self, params: &Params, columns: u32) -> Held {
        let aligned = self.shape.aligned;
        let held = params.held(self.options, self.arith, self.border, columns, aligned);
        if aligned { held.at_even_positions() } else { held }
    }

    /// The volume, as threads hold `samples` samples of a plane.
    fn held_along_z(&self, params: &Params, samples: u32) -> Held {
        params.held(self.options, self.arith, self.deep_border, samples, self.shape.aligned)
    }
}

/// State shared by all parts of the kernel.
struct Walk<'a> {
    frame: Frame<'a>,
    plan: &'a VolumeFit,
    cells: Vec<Cells>,
    /// The volume, as a thread's delay line holds it.
    deep: Held,
    /// First row pair of the tile's results.
    first_row: LocalId,
    /// First plane pair of the chunk's results.
    first: LocalId,
    /// Plane pairs to walk, `first..end`.
    range: (LocalId, LocalId),
    /// Plane pitches in samples, of type i32: signal, lll, the other bands.
    planes: [LocalId; 3],
}

impl Walk<'_> {
    /// The thread's part of the columns; there is one part for each warp.
    fn column(&self, b: &mut Builder) -> Column {
        let shape = self.plan.shape;
        let mut column = Column::of(b, Builtin::ThreadY.into(), shape.columns as i32, shape.pairs as i32);
        if shape.whole_sectors {
            // For each kind of columns, those with results come first. Nobody stores the columns past the last results;
            // if these are the tile's last, the halo before the first ones wraps to there.
            let (groups, half) = (shape.columns as i32 / 2, 16 * shape.columns as i32);
            let first = self.plan.left as i32 * groups;
            let of_kind = column.group.and(groups - 1) * 32 + Builtin::ThreadX + first;
            let kind = (column.group >> groups.ilog2() as i32) * half;
            let last = Expr::from(half - 1);
            let is_full = first > 0 && self.plan.results()[1] == 2 * half;
            let of_kind = if is_full { of_kind.and(last) } else { of_kind.min(last) };
            column.at = b.let_("from_first", Scalar::I32, of_kind + kind);
        }
        column
    }

    /// Lifts rows step by step, extended beyond borders.
    fn lift_rows(&self, b: &mut Builder, rows: &[Row]) {
        let (lanes, axis) = (&self.frame.lanes, &self.plan.axis);
        let lift = |b: &mut Builder, lanes: &Lanes| Across { lanes, axis }.lift_all(b, rows);
        if self.plan.reflects() {
            // In all blocks: a branch would keep compilers from interleaving this with independent code.
            let lanes = lanes.reflecting(b);
            return lift(b, &lanes);
        }
        if self.frame.is_aligned() {
            lanes.extend(b, rows);
        }
        lift(b, lanes);
    }

    /// Runs `body` in the first `warps` warps, which have a pair in a round.
    fn with_pair(&self, b: &mut Builder, warps: i32, body: impl FnOnce(&mut Builder)) {
        if warps == self.plan.shape.warps as i32 { body(b) } else { b.if_(Builtin::ThreadY.lt(warps), body) }
    }

    /// The rounds in which warps take `pairs` row pairs: the first pair of each, and its number of busy warps.
    fn rounds(&self, pairs: i32) -> impl Iterator<Item = (i32, i32)> + use<> {
        let warps = self.plan.shape.warps as i32;
        (0..pairs).step_by(warps as usize).map(move |first| (first, (pairs - first).min(warps)))
    }

    /// Integer type of sample counts: 32 bits suffice for aligned rows.
    fn counts(&self) -> Scalar {
        if self.plan.shape.aligned { Scalar::I32 } else { Scalar::I64 }
    }

    /// A count of samples.
    fn count(&self, samples: impl Into<Expr>) -> Expr {
        samples.into().cast(self.counts())
    }

    /// Offset of a plane from the first of an array, in samples.
    fn plane_start(&self, array: usize, plane: Expr) -> Expr {
        self.count(plane) * self.count(self.planes[array])
    }

    /// Position of a thread's next store, or a value so low that it stays negative if the thread stores nothing. Only
    /// this number moves from plane to plane; compilers would otherwise recompute all of it for each.
    fn cursor(&self, b: &mut Builder, array: usize, stores: Expr, index: Expr, plane: Expr) -> LocalId {
        let at = self.count(index) + self.plane_start(array, plane);
        let never = if self.plan.shape.aligned { i32::MIN.into() } else { Expr::i64(i64::MIN / 2) };
        b.let_("cursor", self.counts(), stores.select(at, never))
    }

    /// Whether a thread stores at a cursor.
    fn stores(&self, cursor: LocalId) -> Expr {
        let least = if self.plan.shape.aligned { 0.into() } else { Expr::i64(i64::MIN / 4) };
        cursor.ge(least)
    }

    /// Moves to the next plane.
    fn advance(&self, b: &mut Builder, array: usize, cursor: LocalId) {
        b.set(cursor, cursor + self.count(self.planes[array]));
    }

    /// Walks along the chunk. `step` handles a pair of planes, and starts loading the next plane of each phase once
    /// registers are free.
    fn walk(
        &self,
        b: &mut Builder,
        ahead: &Ahead,
        step: impl FnOnce(&mut Builder, Expr, &dyn Fn(&mut Builder, Phase)),
    ) {
        let (from, to) = self.range;
        let request = |b: &mut Builder, z: Phase, pair: Expr, is_first: bool| {
            b.part("request_plane", "Starts loading the rows of a plane.", |b| {
                self.request(b, ahead, z, pair, is_first)
            });
        };
        for z in PHASES {
            request(b, z, from.into(), true);
        }
        b.for_("pair", from, to, 1, |b, pair| {
            let next = |b: &mut Builder, z: Phase| {
                let next = pair + 1;
                b.comment("request the next plane");
                b.if_(next.lt(to), |b| request(b, z, next, false));
            };
            step(b, pair, &next);
        });
    }
}

/// Writes the kernel of a fit.
fn write(plan: &VolumeFit, scheme: &Scheme) -> Kernel {
    let (options, shape) = (plan.options, plan.shape);
    let name = options.kernel_name(scheme, &shape.takes().kernel("volume"));
    let mut builder = Builder::new(name);
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of all three axes in one pass: tiles walk along z.",
        Direction::Inverse => "Synthesis of all three axes in one pass: tiles walk along z.",
    });
    b.doc(format!(
        "Tile {} x {} samples without halo; {} columns a lane, {} row pairs a thread; results lag {} plane pairs; \
         border rule {}.",
        plan.columns(),
        plan.rows(),
        shape.columns,
        shape.pairs,
        plan.descent.delay,
        options.boundary
    ));
    let params = Params::declare_deep(b, options);
    let held = plan.held(&params, shape.columns);
    let (end_x, end_y) = (held.end(0), held.end(1));
    let line = match options.direction {
        Direction::Forward => 2 * shape.pairs,
        Direction::Inverse => 2 * shape.columns * (plan.held_pairs() as u32).div_ceil(shape.warps),
    };
    let deep = plan.held_along_z(&params, line);
    let pairs_z = (deep.end(2) + 1) >> 1;
    let chunks = (pairs_z + params.chunk - 1) / params.chunk;
    // The last chunk of an axis may be short: the last chunks of all volumes come last.
    let part = b.let_("part", Scalar::I32, Builtin::BlockZ / params.batch);
    let volume = Builtin::BlockZ - part * params.batch;
    let volume = b.let_("volume", Scalar::I32, volume);
    let first = b.let_("first_pair", Scalar::I32, part * params.chunk);
    let stop = (first + params.chunk).min(pairs_z);
    let from = b.let_("from_pair", Scalar::I32, first - plan.descent.above as i32);
    let to = b.let_("to_pair", Scalar::I32, stop + plan.descent.delay as i32);
    let first_row = b.let_("first_row_pair", Scalar::I32, Builtin::BlockY * plan.row_pairs());
    let takes = if shape.aligned { RowAlignment::Whole } else { RowAlignment::Any };
    let frame = Frame::of_tile(b, (options, &params), held, takes, (plan.left, plan.useful), volume.into());
    let planes = params.narrow_planes(b);
    let c = shape.columns as i32;
    let rows = plan.cells_rows();
    let mut cells = |name: &str, rows: i32| {
        let shared = b.shared(name, cell_of(plan.arith), (rows * 32 * c) as u32);
        Cells { shared, arith: plan.arith, columns: c, lanes: b.warp(), split: true, base: None }
    };
    let cells = match (options.direction, &rows[..]) {
        (Direction::Forward, _) => vec![cells("even_cells", rows[0]), cells("odd_cells", rows[1])],
        (Direction::Inverse, [before, after]) => vec![cells("rows", *before), cells("columns", *after)],
        (Direction::Inverse, _) => {
            let all = cells("cells", rows.iter().sum());
            let begin = |(i, rows): (usize, &i32)| b.let_("part", Scalar::I32, i as i32 * rows * 32 * c);
            let parts: Vec<LocalId> = rows.iter().enumerate().map(begin).collect();
            parts.into_iter().map(|part| Cells { base: Some(part), ..all }).collect()
        }
    };
    let walk = Walk { frame, plan, cells, deep, first_row, first, range: (from, to), planes };
    match options.direction {
        Direction::Forward => walk.forward(b),
        Direction::Inverse => walk.inverse(b),
    }
    let tiles = |end: Expr, size: i32| (end + (size - 1)) / size;
    let grid = [tiles(end_x, plan.columns() as i32), tiles((end_y + 1) >> 1, plan.row_pairs()), chunks * params.batch];
    let mut kernel = builder.finish(Launch { block: [32, shape.warps, 1], grid });
    kernel.min_blocks = shape.min_blocks.max(1);
    kernel
}
