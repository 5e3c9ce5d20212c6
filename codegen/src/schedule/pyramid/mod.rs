//! All levels of both axes of a small image in one pass: a block holds the image in shared memory.
//!
//! rewrite: all levels of a scheme along both axes of a small image → a block that holds the image in shared memory
//!
//! A block has an image of at most [`Shape::side`] columns and rows. It loads the image into shared memory, lifts level
//! after level there, and stores the bands of all levels in the Mallat layout. Each level turns its part of that
//! layout, the low band of the level before, into its four bands. So all levels are one launch, which reads and writes
//! each sample once. For a large image it runs the last levels, which only wait for latency; for a batch of small
//! images it runs everything.
//!
//! An axis is a pass from one array to another of the same size, and two axes return to the first. Each axis is lifted
//! like columns in `tile`: a thread has a line and a few pairs of its samples, with all they depend on (`Slab`), and
//! neighbouring lanes have neighbouring lines. Rows begin at odd words of shared memory, so that neither vertical nor
//! horizontal neighbours share a bank. Even and odd samples of a line are split in the bands, and interleaved in the
//! low band that they come from; a pass reads one form and writes the other. There is one barrier a pass, two a level,
//! and no other waiting.
//!
//! Border rules are those of `schedule::tile`: samples beyond a border are loaded from where the rule finds them, and
//! samples that lifting would not keep are restored after each step. If a line is longer than the halo, one reflection
//! finds them, without a branch.
//!
//! Low bands are rounded to the sample type between levels, as they are when they pass through memory.

mod cost;
mod launch;
mod line;
mod schedule;
#[cfg(test)]
mod tests;

pub use schedule::PyramidSchedule;

use super::level::{Axis, Border, Order, Params, cell_of, check_warps};
use super::limits::{check_range, unfit};
use super::{Arithmetic, Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::valid::MAX_SHARED;
use crate::ir::{Builtin, Cache, Expr, Kernel, Launch, LocalId, ParamId, Place, Scalar, SharedId, Space};
use crate::window::Halo;
use lifting_dsl::{Direction, Scheme};

/// Maximum registers for the samples of a thread's part of a line.
const MAX_REGISTERS: i64 = 72;
/// Maximum sample pairs read beyond the end of a line. In a line of two samples, each of them needs another reflection.
const MAX_BEYOND: i64 = 6;
/// Maximum samples restored at a border after all steps, if these are asymmetric. Each adds code for each of a thread's
/// samples.
const MOST_RESTORED: i64 = 24;
/// Image sides with their own kernel. [`WIDE_SIDE`] replaces larger sides if samples have 8 bytes.
const SIDES: [u32; 5] = [16, 32, 48, 64, 96];
const WIDE_SIDE: u32 = 48;
/// Smallest side whose blocks have enough threads with twice the pairs.
const MANY_SIDE: u32 = 48;
/// Smallest number of pairs whose few threads need many resident blocks.
const LONG: u32 = 8;
/// Registers of a multiprocessor. [`FEW_REGISTERS`]: threads with at most the first number of sample registers take the
/// second number in all, for many resident images. Others take twice their samples plus [`BESIDE_SAMPLES`].
const REGISTERS: i64 = 65536;
const FEW_REGISTERS: (i64, i64) = (24, 40);
const BESIDE_SAMPLES: i64 = 8;
/// Maximum threads of a multiprocessor on compute capability 7.5, whose compiler refuses requests for more.
const MOST_THREADS: i64 = 1024;

/// Shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PyramidShape {
    /// Maximum columns and rows of an image. The side and half of it are multiples of twice the pairs.
    pub side: u32,
    /// Pairs of results of a line that a thread lifts at once: in the first level, and in the others, which have fewer
    /// and shorter lines.
    pub pairs: [u32; 2],
}

impl PyramidShape {
    /// Shapes that hold a scheme, small images first; of each size, the shape for few images first.
    ///
    /// # Errors
    /// If no shape holds it: the reason against the first.
    pub fn proposed(scheme: &Scheme, options: Options) -> Result<Vec<PyramidShape>, ScheduleError> {
        let is_wide = cell_of(Arithmetic::of(scheme, options)?).bytes() > 4;
        let sides = SIDES.into_iter().filter(|side| is_wide || *side != WIDE_SIDE);
        // One image waits only for itself and has many threads. Many images should take few instructions.
        let all = sides.flat_map(|side| {
            let few = if side < MANY_SIDE { 2 } else { 4 };
            [few, 2 * few].map(|pairs| PyramidShape { side, pairs: [pairs, 2] })
        });
        let mut refusal = None;
        let is_held = |shape: &PyramidShape| fit(scheme, options, *shape).map_err(|e| refusal.get_or_insert(e)).is_ok();
        let shapes: Vec<PyramidShape> = all.filter(is_held).collect();
        match refusal {
            Some(e) if shapes.is_empty() => Err(e),
            _ => Ok(shapes),
        }
    }

    /// Groups of 32 lines for warps, in the first level or in the others.
    fn groups(&self, first: bool) -> u32 {
        (if first { self.side } else { self.side / 2 }).div_ceil(32)
    }

    /// Pairs of a line that a thread lifts at once, in the first level or in the others.
    fn pairs(&self, first: bool) -> u32 {
        self.pairs[usize::from(!first)]
    }

    /// Warps a block; each has a part of the lines of a group.
    pub fn warps(&self) -> u32 {
        let of = |first: bool| {
            let side = if first { self.side } else { self.side / 2 };
            side / 2 / self.pairs(first).max(1) * self.groups(first)
        };
        of(true).max(of(false))
    }
}

/// A scheme fitted to a block's image: all that is derived before code is written.
#[derive(Clone, Debug)]
pub struct PyramidFit {
    options: Options,
    shape: PyramidShape,
    arith: Arithmetic,
    border: Border,
    axis: Axis,
    halo: Halo,
    /// Resident blocks a multiprocessor to ask for.
    min_blocks: u32,
}

/// Fits a scheme to a block's image.
///
/// # Errors
/// If the sample type is not in the scheme's domain, or the shape does not suit the samples. If a thread's part of a
/// line has more samples than registers, samples read too far beyond a border, or the image exceeds shared memory.
pub fn fit(scheme: &Scheme, options: Options, shape: PyramidShape) -> Result<PyramidFit, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?.in_registers();
    let refuse = ScheduleError::limit("pyramid", scheme);
    let PyramidShape { side, pairs } = shape;
    for (pairs, side) in pairs.into_iter().zip([side, side / 2]) {
        check_range("pyramid", "pairs a thread lifts at once", pairs, 1..=u32::MAX)?;
        if side < 2 * pairs || side % (2 * pairs) != 0 {
            let allowed = format!("a positive multiple of the {} samples a thread lifts at once", 2 * pairs);
            return Err(unfit("pyramid", "side of a level", side, allowed));
        }
    }
    check_warps("pyramid", shape.warps())?;
    let axis = Axis::new(scheme, options);
    let halo = Halo::of(&axis.actions, options.boundary);
    let sides = halo.pairs();
    let registers = 2 * (i64::from(pairs[0].max(pairs[1])) + sides) * ((arith.work.bytes() as i64 + 3) / 4);
    if registers > MAX_REGISTERS {
        return Err(refuse("registers a thread for its part of a line", registers, MAX_REGISTERS));
    }
    let beyond = halo.pairs_before().max(halo.pairs_after());
    if beyond > MAX_BEYOND {
        return Err(refuse("sample pairs read beyond the end of a line", beyond, MAX_BEYOND));
    }
    let border = Border::of(options.boundary, &options.direction.steps(scheme));
    if border == Border::Mirror {
        let restored: i64 = halo.steps.iter().map(|(before, after)| before.max(after) + 1).sum();
        if restored > MOST_RESTORED {
            return Err(refuse("samples restored at a border after all steps", restored, MOST_RESTORED));
        }
    }
    let is_few = registers <= FEW_REGISTERS.0 && border != Border::Mirror;
    let each = if is_few { FEW_REGISTERS.1 } else { 2 * registers + BESIDE_SAMPLES };
    let threads = 32 * i64::from(shape.warps());
    let resident = (REGISTERS / (each * threads)).min(MOST_THREADS / threads);
    // Without a request, nvcc spills registers for more resident blocks.
    let min_blocks = if pairs[0] >= LONG { resident.max(1) as u32 } else { 1 };
    let block = PyramidFit { options, shape, arith, border, axis, halo, min_blocks };
    if block.bytes() > MAX_SHARED as i64 {
        return Err(refuse("bytes of shared memory for two copies of an image", block.bytes(), MAX_SHARED as i64));
    }
    Ok(block)
}

impl PyramidFit {
    /// Maximum columns and rows of an image.
    pub fn side(&self) -> i64 {
        self.shape.side.into()
    }

    /// Maximum samples beyond the end of a line that are held in registers.
    fn reach(&self) -> i32 {
        2 * self.halo.pairs_before().max(self.halo.pairs_after()) as i32 + 1
    }

    /// Row pitch in shared memory, in samples: an odd number of words, or of pairs of words.
    fn pitch(&self) -> i32 {
        let bytes = cell_of(self.arith).bytes();
        self.shape.side as i32 + if bytes < 4 { 4 / bytes as i32 } else { 1 }
    }

    /// Bytes of shared memory.
    pub fn bytes(&self) -> i64 {
        2 * self.side() * i64::from(self.pitch()) * cell_of(self.arith).bytes() as i64
    }

    /// Pairs that a thread lifts, halo included: in the first level, and in the others.
    pub fn lifted(&self) -> [i64; 2] {
        let sides = self.halo.pairs();
        self.shape.pairs.map(|pairs| i64::from(pairs) + sides)
    }
}

/// State shared by all parts of the kernel.
struct Pyramid<'a> {
    plan: &'a PyramidFit,
    params: &'a Params,
    /// The image or its bands, and the result of the first axis of a level.
    arrays: [SharedId; 2],
    /// Columns and rows of the image.
    sides: [Expr; 2],
}

/// Writes the kernel of a fit.
fn write(plan: &PyramidFit, scheme: &Scheme, order: Order) -> Kernel {
    let (options, shape) = (plan.options, plan.shape);
    let mut builder = Builder::new(options.kernel_name(scheme, &format!("pyramid_{}", shape.side)));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of all remaining levels, both axes, in one pass: a block holds an image.",
        Direction::Inverse => "Synthesis of all remaining levels, both axes, in one pass: a block holds an image.",
    });
    b.doc(format!(
        "Images of at most {0} x {0} samples; {1} pairs of a line a thread, later {2}; border rule {3}.",
        shape.side, shape.pairs[0], shape.pairs[1], options.boundary
    ));
    let params = Params::declare_all(b, options);
    let len = shape.side * plan.pitch() as u32;
    let arrays = ["image", "lifted"].map(|name| b.shared(name, cell_of(plan.arith), len));
    let sides = [params.width, params.height].map(Expr::from);
    let pyramid = Pyramid { plan, params: &params, arrays, sides };
    let signal = [params.signal, params.signal_pitch, params.signal_stride];
    let bands = [params.bands[0], params.band_pitches[0], params.band_strides[0]];
    let (from, to) = match options.direction {
        Direction::Forward => (signal, bands),
        Direction::Inverse => (bands, signal),
    };
    b.comment("the image, or its bands");
    pyramid.fetch(b, from);
    b.barrier();
    let levels = params.chunk;
    let first = |b: &mut Builder| {
        b.comment("the first level");
        pyramid.level(b, order, None);
    };
    let others = |b: &mut Builder| {
        b.for_("turn", 1, levels, 1, |b, turn| {
            let level = match options.direction {
                Direction::Forward => turn,
                Direction::Inverse => levels - turn,
            };
            pyramid.level(b, order, Some(level));
        });
    };
    match options.direction {
        Direction::Forward => {
            first(b);
            others(b);
        }
        Direction::Inverse => {
            others(b);
            first(b);
        }
    }
    b.comment("the result");
    pyramid.leave(b, to);
    let launch = Launch { block: [32, shape.warps(), 1], grid: [params.batch.into(), 1.into(), 1.into()] };
    let mut kernel = builder.finish(launch);
    kernel.min_blocks = plan.min_blocks;
    kernel
}

impl Pyramid<'_> {
    /// Lifts both axes of the first level (`None`) or of another one.
    fn level(&self, b: &mut Builder, order: Order, level: Option<Expr>) {
        let lengths = self.sides.map(|side| match &level {
            None => b.let_("length", Scalar::I32, side),
            Some(level) => self.length(b, side, *level),
        });
        let axes = if order.across_first(self.plan.options.direction) { [0, 1] } else { [1, 0] };
        for (turn, axis) in axes.into_iter().enumerate() {
            self.pass(b, axis, lengths, (turn, level.is_none()));
            b.barrier();
        }
    }

    /// Samples along a side at a level: half the length for each level, rounded up.
    fn length(&self, b: &mut Builder, side: Expr, level: Expr) -> LocalId {
        let rest = (Expr::i32(1) << level) - 1;
        b.let_("length", Scalar::I32, (side + rest) >> level)
    }

    /// Runs `body` for every existing sample of a thread's rows and columns, with its position, its place in shared
    /// memory, and its number.
    fn each(&self, b: &mut Builder, body: impl Fn(&mut Builder, [Expr; 2], Expr, Expr)) {
        let (warps, side) = (self.plan.shape.warps() as i32, self.plan.shape.side as i32);
        let (rows, columns) = ((side + warps - 1) / warps, (side + 31) / 32);
        b.unrolled("row", 0, rows, 1, |b, row| {
            for column in 0..columns {
                let x = Builtin::ThreadX + 32 * column;
                let y = b.let_("y", Scalar::I32, Builtin::ThreadY + row * warps);
                let exists = x.lt(self.sides[0]).and(y.lt(self.sides[1]));
                let at = y * self.plan.pitch() + x;
                let number = row * columns + column;
                b.if_(exists, |b| body(b, [x, y.into()], at, number));
            }
        });
    }

    /// Index of a sample of the block's image in memory.
    fn index(&self, [x, y]: [Expr; 2], pitch: Expr, base: Expr) -> Expr {
        base + x.cast(Scalar::I64) + y.cast(Scalar::I64) * pitch
    }

    fn base(&self, b: &mut Builder, stride: Expr) -> Expr {
        b.let_("base", Scalar::I64, Builtin::BlockX.cast(Scalar::I64) * stride).into()
    }

    /// Loads the block's input: a thread requests all its samples before it stores the first.
    fn fetch(&self, b: &mut Builder, [array, pitch, stride]: [ParamId; 3]) {
        let arith = self.plan.arith;
        let base = self.base(b, stride.into());
        let (warps, side) = (self.plan.shape.warps(), self.plan.shape.side);
        let raw = b.array("raw", self.plan.options.sample, side.div_ceil(warps) * side.div_ceil(32));
        self.each(b, |b, at, _, n| {
            let index = self.index(at, pitch.into(), base);
            b.load(Place::Elem(raw, n), Space::Global(array), index, 1, Cache::Default);
        });
        self.each(b, |b, _, at, n| {
            let value = raw.at(n);
            let cell = cell_of(arith);
            let value = if cell == arith.storage { value } else { value.cast(cell) };
            b.store(Space::Shared(self.arrays[0]), at, value);
        });
    }

    /// Stores the block's results.
    fn leave(&self, b: &mut Builder, [array, pitch, stride]: [ParamId; 3]) {
        let arith = self.plan.arith;
        let base = self.base(b, stride.into());
        self.each(b, |b, place, at, _| {
            let cell = b.load_new("cell", cell_of(arith), Space::Shared(self.arrays[0]), at);
            let value = if cell_of(arith) == arith.storage { cell.into() } else { cell.cast(arith.storage) };
            b.store_wide(Space::Global(array), self.index(place, pitch.into(), base), vec![value], Cache::Default);
        });
    }
}
