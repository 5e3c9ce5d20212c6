//! Both axes in one pass: warps walk down strips of columns, with everything in registers.
//!
//! rewrite: a scheme along both axes of an image → warps that walk down strips of columns, everything in registers
//!
//! A warp owns a strip: [`Shape::columns`] columns a lane, with halo in the outermost lanes. It walks down a chunk of
//! rows, a pair at a time. Asynchronous 16-byte copies bring rows into a ring buffer in shared memory, several pairs
//! ahead; a lane waits only for its own. A row is lifted horizontally in registers, and lanes exchange edge values by
//! shuffles ([`super::level`]).
//!
//! Its vertical lifting is a delay line in registers ([`DelayLine`]). With the front at pair t, step s updates pair t −
//! B − lag/2 in place, where B is the window's bottom: the window (`Window`) guarantees that all its reads are present.
//! The four bands leave as wide stores. So every sample is read once and written once for both axes. A chunk pays its
//! vertical halo once, a strip its horizontal halo.
//!
//! Border rules. `periodic`, and `whole-symmetric` with steps symmetric about their target, are extensions: rows and
//! columns beyond the border are loaded by repetition or reflection, and lifting keeps them consistent. `edge` and
//! `zero` are restored after each step ([`Border`]). For columns, border strips broadcast the border's sample; rows
//! come from the delay line. `zero` is also restored between the axes, as a step's rounding can turn zero into
//! something else.
//!
//! If every step stays within its own pair (Haar), no border rule is read as long as no border cuts a pair. Sizes and
//! first positions must then be even, or [`Fit::accepts`] refuses.
//!
//! Lattices, under `periodic`, have stages in place of steps. A stage rotates pairs of columns; in every other stage,
//! two lanes share a pair, and each computes one of its samples. Down a column, a stage rotates an even row and the
//! neighbouring odd one, one pair further behind the front for every two stages.
//!
//! Alignment. If rows begin at multiples of a lane's vector, copies and stores are whole vectors: the fast kernels
//! require this ([`RowAlignment`]). The other kernel takes any rows. It also copies whole vectors, from the preceding
//! aligned address. Lanes then take their samples out of the ring buffer one by one, as both kernels do at the borders,
//! and store one by one. A table, made once for each strip, has the sample that a lane takes for each column. In
//! registers, or recomputed for each row, it would slow down every strip, and only a few need it. Under `periodic`,
//! columns beyond the border are copied from the other side. Loaded rows must then be aligned and their width a
//! multiple of a lane's columns, or [`Fit::accepts`] refuses.
//!
//! The plan's axis order puts vertical lifting before or after horizontal. Synthesis is this walk over four band
//! streams.

mod cost;
mod input;
mod launch;
mod output;
mod schedule;
#[cfg(test)]
mod tests;

pub use schedule::StreamSchedule;

pub use super::level::{Arguments, Array, BANDS_ALIGNED, Job, MAX_SIDE, Order, RowAlignment, SIGNAL_ALIGNED};

use super::level::{
    self, Across, Axis, Border, DelayLine, Descent, Frame, Lanes, MAX_REGISTERS, PHASES, Params, check_columns,
    check_ring, check_warps, is_local, useful_lanes,
};
use super::{Arithmetic, Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, Kernel, Launch, LocalId, Scalar, SharedId};
use crate::window::Halo;
use lifting_dsl::{Boundary, Direction, Scheme};

/// Shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamShape {
    /// Columns a lane: 8 or 16 bytes of samples, at least 2.
    pub columns: u32,
    /// Warps a block, each with its own strip.
    pub warps: u32,
    /// Row pairs in the ring buffer, at least 2.
    pub ring: u32,
    /// Resident blocks a multiprocessor to ask for; 0 leaves it to the compiler.
    pub min_blocks: u32,
    /// Row alignment the kernel requires.
    pub rows: RowAlignment,
}

impl StreamShape {
    /// The usual shape for a sample type, with 16 bytes a lane. Samples of 4 and 8 bytes: four strips a block and a
    /// deep ring buffer, which large images need. Samples of 2 bytes, whose delay lines have twice the columns: one
    /// strip a block, which leaves more warps resident, and a ring half as deep.
    pub fn for_sample(sample: Scalar) -> StreamShape {
        let (warps, ring) = if sample.bytes() == 2 { (1, 4) } else { (4, 8) };
        StreamShape { columns: (16 / sample.bytes()) as u32, warps, ring, min_blocks: 0, rows: RowAlignment::Any }
    }

    /// This shape for another row alignment.
    pub fn for_rows(self, rows: RowAlignment) -> StreamShape {
        StreamShape { rows, ..self }
    }

    /// Whether the kernel requires aligned rows.
    fn is_aligned(self) -> bool {
        self.rows.is_aligned()
    }
}

/// State shared by all parts of the kernel.
struct Strip<'a> {
    /// Columns, border rule and arrays.
    frame: Frame<'a>,
    shape: StreamShape,
    /// Whether unaligned rows take one vector more than the warp has lanes.
    tail: bool,
    /// Whether half the lanes copy one band and half another ([`Fit::shares_copies`]).
    shares_copies: bool,
    ring: SharedId,
    /// Positions in a ring row of the samples of each lane's columns: C times 32 entries a warp. None under `periodic`.
    table: Option<SharedId>,
    /// First element of this warp's part of the ring.
    ring_base: LocalId,
}

/// A scheme fitted to a walk: all that is derived before code is written.
#[derive(Clone, Debug)]
pub struct StreamFit {
    /// The requested options.
    asked: Options,
    /// The requested options, with `zero` as border rule if no step reads beyond a border.
    options: Options,
    shape: StreamShape,
    arith: Arithmetic,
    border: Border,
    axis: Axis,
    descent: Descent,
    /// Halo lanes on the left.
    left: i64,
    /// Lanes that store.
    useful: i64,
}

impl StreamFit {
    /// Columns of a strip without its halo.
    pub fn strip_columns(&self) -> i64 {
        self.useful * i64::from(self.shape.columns)
    }

    /// Whether unaligned rows take one vector more than the warp has lanes.
    fn has_tail(&self) -> bool {
        self.useful == 32 && !self.shape.is_aligned()
    }

    /// Whether half the lanes copy rows of one band and half those of another, 16 bytes each. A lane's own samples of a
    /// band are 8 bytes.
    fn shares_copies(&self) -> bool {
        let vector = i64::from(self.shape.columns) * self.options.sample.bytes() as i64;
        let inverse = self.options.direction == Direction::Inverse;
        inverse
            && self.shape.is_aligned()
            && self.options.boundary != Boundary::Periodic
            && vector == 16
            && self.left % 2 == 0
    }
}

/// Fits a scheme to a walk.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or the border rule needs symmetric steps. If a strip is all halo,
/// the delay line exceeds a thread's registers, or the shape does not suit the samples.
pub fn fit(scheme: &Scheme, options: Options, shape: StreamShape) -> Result<StreamFit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let axis = Axis::new(scheme, options);
    let refuse = ScheduleError::limit("stream", scheme);
    let (c, bytes) = (i64::from(shape.columns), options.sample.bytes() as i64);
    check_columns("stream", shape.columns, options.sample, 2, 8..=16)?;
    // A rule that no step reads extends nothing, as `zero` does.
    let steps = options.direction.steps(scheme);
    let is_local = axis.actions.iter().all(is_local);
    let asked = options;
    let options = if is_local { Options { boundary: Boundary::Zero, ..options } } else { options };
    let border = if is_local { Border::Untouched } else { Border::of(options.boundary, &steps) };
    axis.check_walk(border, &steps, &refuse)?;
    let halo = Halo::of(&axis.actions, options.boundary);
    // Unaligned rows cost up to c − 1 columns on the right.
    let skew = if shape.is_aligned() { 0 } else { c - 1 };
    let (left, useful) = useful_lanes(&halo, c, bytes, skew)
        .map_err(|(required, available)| refuse("lanes of a strip's halo", required, available))?;
    let descent = Descent::new(&axis, &halo, options.boundary, border, arith, shape.columns);
    if descent.registers > MAX_REGISTERS {
        return Err(refuse("registers a thread for the delay line", descent.registers, MAX_REGISTERS));
    }
    Ok(StreamFit { asked, options, shape, arith, border, axis, descent, left, useful })
}

/// Writes the kernel of a fit.
fn write(plan: &StreamFit, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
    let (options, shape) = (plan.asked, plan.shape);
    let StreamFit { arith, border, left, useful, descent: Descent { above, delay, .. }, .. } = *plan;
    let right = 32 - left - useful;
    let slot_len = slot_len(plan);
    let ring_bytes =
        i64::from(shape.warps) * i64::from(shape.ring) * i64::from(slot_len) * options.sample.bytes() as i64;
    let refuse = ScheduleError::limit("stream", scheme);
    check_ring("stream", shape.ring)?;
    check_warps("stream", shape.warps)?;
    if ring_bytes > crate::ir::valid::MAX_SHARED as i64 {
        return Err(refuse("bytes of a block's ring buffer", ring_bytes, crate::ir::valid::MAX_SHARED as i64));
    }

    let mut builder = Builder::new(options.kernel_name(scheme, &shape.rows.kernel("stream")));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of both axes in one pass: warps walk down strips of columns.",
        Direction::Inverse => "Synthesis of both axes in one pass: warps walk down strips of columns.",
    });
    b.doc(format!(
        "A strip is {useful} lanes of {} columns (and {left} halo lanes left, {right} right); {} row pairs in \
         flight; results lag {delay} pairs; border rule {}.",
        shape.columns, shape.ring, options.boundary
    ));
    // Border rule `zero` if no step reads beyond a border.
    let options = plan.options;
    let params = Params::declare(b, options);
    let ring = b.shared("ring", options.sample, shape.warps * shape.ring * slot_len as u32);
    let gathers = match border {
        Border::Untouched => !shape.is_aligned(),
        _ => options.boundary != Boundary::Periodic,
    };
    let table = gathers.then(|| b.shared("table", Scalar::I32, shape.warps * shape.columns * 32));
    let warp = Expr::from(Builtin::ThreadY);
    let lane = Expr::from(Builtin::ThreadX);
    let strip_columns = useful as i32 * shape.columns as i32;
    let strip = b.let_("strip", Scalar::I32, Builtin::BlockX * shape.warps as i32 + warp);
    let base = strip * strip_columns - (left as i32 * shape.columns as i32);
    let base = b.let_("base", Scalar::I32, base);
    let [start_x, start_y] =
        [0, 1].map(|axis| if border == Border::Untouched { 0.into() } else { params.start(axis, shape.is_aligned()) });
    let end_x = start_x + params.width;
    let end_y = start_y + params.height;
    let strips = (end_x + (strip_columns - 1)) / strip_columns;
    let pairs_y = (end_y + 1) >> 1;
    let chunks = (pairs_y + params.chunk - 1) / params.chunk;

    b.if_(strip.lt(strips), |b| {
        let x = b.let_("x", Scalar::I32, base + lane * shape.columns as i32);
        let starts = base.lt(start_x);
        let ends = (base + 32 * shape.columns as i32).gt(end_x);
        let at_border = b.let_("at_border", Scalar::Bool, starts.or(ends));
        let in_strip = lane.ge(left as i32).and(lane.lt((left + useful) as i32));
        let useful = b.let_("useful", Scalar::Bool, in_strip.and(x.lt(end_x)));
        let first = b.let_("first_pair", Scalar::I32, Builtin::BlockY * params.chunk);
        let stop = b.let_("stop_pair", Scalar::I32, (first + params.chunk).min(pairs_y));
        let ring_base = b.let_("ring_base", Scalar::I32, warp * (shape.ring as i32 * slot_len));
        let offsets = params.offsets(b, Builtin::BlockZ.into());
        let pitches = params.narrow_pitches(b);
        let held = params.held(options, arith, border, shape.columns, shape.is_aligned());
        let lanes = Lanes::new(b, held, [base, x, at_border]);
        let frame = Frame { options, lanes, takes: shape.rows, params: &params, useful, offsets, pitches };
        let strip =
            Strip { frame, shape, tail: plan.has_tail(), shares_copies: plan.shares_copies(), ring, table, ring_base };
        let from = b.let_("from_pair", Scalar::I32, first - above as i32);
        let to = b.let_("to_pair", Scalar::I32, stop + delay as i32);
        walk_down(b, &strip, plan, order, (from, to), first);
    });

    let grid = [(strips + (shape.warps as i32 - 1)) / shape.warps as i32, chunks, params.batch.into()];
    let mut kernel = builder.finish(Launch { block: [32, shape.warps, 1], grid });
    kernel.min_blocks = shape.min_blocks.max(plan.axis.min_blocks());
    Ok(kernel)
}

/// Elements of a slot of the ring: two rows of the image, or one of each band.
fn slot_len(plan: &StreamFit) -> i32 {
    let vectors = 32 + i32::from(plan.has_tail());
    2 * vectors * plan.shape.columns as i32
}

/// Walks down a chunk; `first` is its first pair with results.
fn walk_down(
    b: &mut Builder,
    strip: &Strip,
    plan: &StreamFit,
    order: Order,
    range: (LocalId, LocalId),
    first: LocalId,
) {
    let (axis, window) = (&plan.axis, &plan.descent.window);
    let input = input::Input::new(b, strip);
    let across = Across { lanes: &strip.frame.lanes, axis };
    let line = DelayLine::declare(b, &strip.frame.lanes.held, axis, window, 1);
    input.make_table(b);
    let across_first = order.across_first(strip.frame.options.direction);

    level::walk_down(
        b,
        (strip.shape.ring, false),
        range,
        |b, pair, slot| input.request(b, pair, range.1, slot),
        |b, pair, slot| input.take(b, pair, slot, &line),
        |b, pair| {
            if across_first {
                for row in PHASES {
                    across.lift(b, &line.row(row, 0));
                }
            }
            line.scale_first(b, pair);
            line.lift(b, pair);
            let delay = plan.descent.delay as i32;
            output::store(b, strip, &line, pair, first, delay, (!across_first).then_some(&across));
            line.shift(b);
        },
    );
}
