//! Lattice stages along one axis of a periodic signal: whole vectors in a block, a barrier between stages.
//!
//! rewrite: the stages of a lattice along one axis of a periodic signal → whole vectors in a block, a barrier between
//! stages
//!
//! A stage rotates pairs of neighbours, and the next one pairs shifted by a sample, so that every result depends on a
//! stretch that grows by a sample a side and stage. A block that holds whole vectors has no seam: their border is
//! cyclic, and nothing is computed twice. Thread k of a vector has odd\[k\] in every stage, together with the preceding
//! or following even sample. Odd samples therefore stay in its registers, and even ones pass through shared memory. A
//! thread reads a cell, rotates the pair, and writes the same cell, so that one barrier between stages is enough. The
//! first stage loads its pairs from global memory, and the last one stores them there, low and high bands apart.
//!
//! Short vectors share a block side by side. Columns always do, so that neighbouring threads load consecutive samples.
//! Half of a vector's samples must fit into a block's shared memory: see [`Shape::for_length`].
//!
//! Source: Yatsymirskyy, Puchala & Szczępaniak 2015, "Lattice structure for parallel calculation of orthogonal wavelet
//! transform on GPUs with CUDA architecture". There, a block has one vector and a second buffer of its size, typically
//! 32 threads, and a barrier between stages. Odd samples in registers, several vectors a block, and columns are ours.

pub(super) mod runs;

use super::lift::{Arithmetic, pair_values, set_pair};
use super::limits::check_range;
use super::pass::{Along, Image, Pass};
use super::{Options, ScheduleError, Sides};
use crate::ir::build::Builder;
use crate::ir::valid::MAX_SHARED;
use crate::ir::{Builtin, Expr, Kernel, Launch, LocalId, Place, Scalar, SharedId, Space};
use lifting_dsl::{Direction, PairStage, Phase, Scheme};

/// Shape of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LatticeShape {
    /// Vectors a block.
    pub vectors: u32,
    /// Threads a vector.
    pub threads: u32,
    /// Pairs of samples a thread. A vector has at most as many pairs as its threads can hold.
    pub pairs: u32,
}

/// Maximum threads of a block with few pairs a thread, and pairs a thread up to that maximum. `MANY_THREADS` and
/// `MANY_PAIRS`: threads of a block whose vectors would otherwise exceed `MANY_PAIRS` pairs a thread.
const THREADS: u32 = 512;
const PAIRS: u32 = 4;
const MANY_THREADS: u32 = 768;
const MANY_PAIRS: u32 = 16;

/// Total pairs of the rows that share a block, and neighbouring columns a block, if they fit.
const ROW_PAIRS: u32 = 1024;
const COLUMNS: u32 = 16;

impl LatticeShape {
    /// The shape for vectors of `length` samples; `work` is the type of the arithmetic.
    ///
    /// # Errors
    /// If a vector does not fit into 48 KiB of shared memory.
    pub fn for_length(
        scheme: &Scheme,
        along: Along,
        length: usize,
        work: Scalar,
    ) -> Result<LatticeShape, ScheduleError> {
        let most = (MAX_SHARED as usize / work.bytes()) as u32;
        let pairs = u32::try_from(length / 2).unwrap_or(u32::MAX).max(1);
        if pairs > most {
            return Err(ScheduleError::Reach {
                schedule: "lattice",
                wavelet: scheme.name().to_owned(),
                what: "samples of a vector, for a block's shared memory",
                required: length as i64,
                available: 2 * i64::from(most),
            });
        }
        let wanted = match along {
            Along::Row => (ROW_PAIRS / pairs).clamp(1, 32),
            Along::Column => COLUMNS,
        };
        let fit = wanted.min(most / pairs);
        let vectors = 1 << fit.ilog2();
        let block = match vectors * pairs {
            all if all > THREADS * MANY_PAIRS => MANY_THREADS,
            all => all.div_ceil(PAIRS).next_power_of_two().clamp(32, THREADS),
        };
        let threads = (block / vectors).max(1);
        Ok(LatticeShape { vectors, threads, pairs: pairs.div_ceil(threads) })
    }

    /// Pairs of samples of the longest vector.
    pub fn capacity(&self) -> u32 {
        self.threads * self.pairs
    }
}

/// The stages of a direction, if the wavelet runs as a lattice under this border rule.
///
/// # Errors
/// If it does not.
pub fn stages(scheme: &Scheme, options: Options) -> Result<Vec<PairStage>, ScheduleError> {
    options.direction.stages(scheme, options.boundary).ok_or_else(|| {
        let what = match scheme.lattice() {
            None => format!("`{}` is not written as a lattice", scheme.name()),
            Some(_) => format!("under {} a lattice runs as lifting steps", options.boundary),
        };
        ScheduleError::Launch { schedule: "lattice", what }
    })
}

/// The kernels for rows and for columns of at most `lengths` samples.
///
/// # Errors
/// As [`kernel`] and [`Shape::for_length`].
pub fn pair(scheme: &Scheme, options: Options, lengths: [usize; 2]) -> Result<[Kernel; 2], ScheduleError> {
    let work = Arithmetic::of(scheme, options)?.work;
    let make = |along: Along, length: usize| {
        let shape = LatticeShape::for_length(scheme, along, length, work)?;
        kernel(scheme, options, Sides::both(options.sample), along, shape)
    };
    Ok([make(Along::Row, lengths[0])?, make(Along::Column, lengths[1])?])
}

/// Writes the pass kernel between arrays of two types, for vectors of at most twice [`Shape::capacity`] samples.
///
/// # Errors
/// If the sample type is not in the scheme's domain, the scheme does not run as a lattice under the border rule, or the
/// block exceeds a multiprocessor's limits.
pub fn kernel(
    scheme: &Scheme,
    options: Options,
    sides: Sides,
    along: Along,
    shape: LatticeShape,
) -> Result<Kernel, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?;
    let stages = stages(scheme, options)?;
    let refuse = |what: &'static str, required: u64, available: u64| {
        let (required, available) = (required as i64, available as i64);
        Err(ScheduleError::Reach { schedule: "lattice", wavelet: scheme.name().to_owned(), what, required, available })
    };
    let LatticeShape { vectors, threads, pairs } = shape;
    let block = u64::from(vectors) * u64::from(threads);
    check_range("lattice", "threads a block", u32::try_from(block).unwrap_or(u32::MAX), 1..=1024)?;
    check_range("lattice", "pairs a thread", pairs, 1..=u32::MAX)?;
    let cells = block * u64::from(pairs);
    if cells * arith.work.bytes() as u64 > MAX_SHARED {
        let bytes = cells * arith.work.bytes() as u64;
        return refuse("bytes of shared memory for a block's vectors", bytes, MAX_SHARED);
    }

    let (name, what) = match along {
        Along::Row => ("lattice_rows", "rows"),
        Along::Column => ("lattice_columns", "columns"),
    };
    let mut builder = Builder::new(options.pass_name(scheme, name, sides));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => {
            format!("Analysis of {what}: a block holds whole vectors and runs the stages of the lattice.")
        }
        Direction::Inverse => {
            format!("Synthesis of {what}: a block holds whole vectors and runs the stages of the lattice.")
        }
    });
    b.doc(format!(
        "A block has {vectors} {what} of at most {} samples, {threads} threads each, {pairs} pairs a thread; \
         border rule periodic.",
        2 * shape.capacity()
    ));
    let pass = Pass::declare(b, options, sides, arith, along);
    let even_cells = b.shared("even_cells", arith.work, cells as u32);
    let (vector, thread) = match along {
        Along::Row => (Builtin::ThreadY, Builtin::ThreadX),
        Along::Column => (Builtin::ThreadX, Builtin::ThreadY),
    };
    let line = b.let_("line", Scalar::I32, Builtin::BlockX * vectors as i32 + vector);
    let count = b.let_("pairs", Scalar::I32, pass.length >> 1);
    let exists = line.lt(pass.lines);
    let own = b.let_("own_pairs", Scalar::I32, exists.select(count, 0));

    pass.for_each_image(b, |b, image| {
        let [even, odd] = ["even", "odd"].map(|name| b.array(name, arith.work, pairs));
        let vectors =
            Vectors { along, shape, arith, pass: &pass, even_cells, vector, thread, line, count, own, even, odd };
        vectors.load(b, &image, &stages[0]);
        for (s, stage) in stages.iter().enumerate() {
            vectors.stage(b, stage, s > 0, s + 1 < stages.len());
        }
        vectors.store(b, &image, &stages[stages.len() - 1]);
        b.barrier();
    });

    let blocks = (pass.lines + (vectors as i32 - 1)) / vectors as i32;
    let size = match along {
        Along::Row => [threads, vectors, 1],
        Along::Column => [vectors, threads, 1],
    };
    let mut kernel = builder.finish(Launch { block: size, grid: [blocks, 1.into(), pass.grid_z()] });
    // Only kernels of many pairs request resident blocks: without, nvcc spills their registers. Others take 10 to 25 %
    // longer on an H200 with a request, as the compiler then takes fewer registers. Addresses in rows need more than
    // those in columns.
    let words = (arith.work.bytes() as u32).div_ceil(4);
    let enough = match along {
        Along::Row => 8,
        Along::Column => MANY_PAIRS,
    };
    kernel.min_blocks = (pairs * words * words > enough).into();
    Ok(kernel)
}

/// A block's vectors. Samples of a phase count from the vector's first.
struct Vectors<'a> {
    along: Along,
    shape: LatticeShape,
    arith: Arithmetic,
    pass: &'a Pass,
    /// Even samples passed from one thread to another.
    even_cells: SharedId,
    vector: Builtin,
    thread: Builtin,
    line: LocalId,
    /// Pairs of a vector.
    count: LocalId,
    /// Pairs of this thread's vector; 0 if it does not exist.
    own: LocalId,
    /// The pairs of a thread.
    even: LocalId,
    odd: LocalId,
}

impl Vectors<'_> {
    /// Runs `body` for the pairs of this thread, with their index in the thread and the number of their odd sample.
    fn pairs(&self, b: &mut Builder, body: impl FnOnce(&mut Builder, Expr, Expr)) {
        b.unrolled("i", 0, self.shape.pairs as i32, 1, |b, i| {
            let k = b.let_("k", Scalar::I32, i * self.shape.threads as i32 + self.thread);
            b.if_(k.lt(self.own), |b| body(b, i, k.into()));
        });
    }

    /// The number of the even sample that pairs with odd sample k in a stage, cyclically.
    fn partner(&self, b: &mut Builder, stage: &PairStage, k: Expr) -> LocalId {
        let beside = b.let_("beside", Scalar::I32, k + stage.offset() - self.pass.parity);
        let (last, count) = (self.count - 1, self.count);
        let before = beside.lt(0);
        let wrapped = match stage.first {
            Phase::Even => before.select(last, beside),
            Phase::Odd => beside.ge(count).select(0, beside),
        };
        b.let_("partner", Scalar::I32, wrapped)
    }

    /// Element of shared memory that passes an even sample on.
    fn cell(&self, number: LocalId) -> Expr {
        match self.along {
            Along::Row => self.vector * self.shape.capacity() as i32 + number,
            Along::Column => number * self.shape.vectors as i32 + self.vector,
        }
    }

    /// Loads the pairs of the first stage.
    fn load(&self, b: &mut Builder, image: &Image, first: &PairStage) {
        self.pairs(b, |b, i, k| {
            let partner = self.partner(b, first, k);
            let line = self.line.into();
            self.pass.load_nth(b, image, line, Phase::Odd, k, Place::Elem(self.odd, i));
            self.pass.load_nth(b, image, line, Phase::Even, partner.into(), Place::Elem(self.even, i));
        });
    }

    fn stage(&self, b: &mut Builder, stage: &PairStage, takes: bool, leaves: bool) {
        b.comment(crate::describe::stage(stage));
        if takes {
            b.barrier();
            self.pairs(b, |b, i, k| {
                let partner = self.partner(b, stage, k);
                let cell = self.cell(partner);
                b.load(Place::Elem(self.even, i), Space::Shared(self.even_cells), cell, 1, Default::default());
            });
        }
        self.pairs(b, |b, i, k| {
            let arrays = match stage.first {
                Phase::Even => [self.even, self.odd],
                Phase::Odd => [self.odd, self.even],
            };
            let pair = arrays.map(|array| Place::Elem(array, i));
            let [u, v] = arrays.map(|array| array.at(i));
            set_pair(b, self.arith, pair, pair_values(stage, self.arith, u, v));
            if leaves {
                let partner = self.partner(b, stage, k);
                let cell = self.cell(partner);
                b.store(Space::Shared(self.even_cells), cell, self.even.at(i));
            }
        });
    }

    /// Stores the pairs of the last stage.
    fn store(&self, b: &mut Builder, image: &Image, last: &PairStage) {
        self.pairs(b, |b, i, k| {
            let partner = self.partner(b, last, k);
            let line = self.line.into();
            let value = |array: LocalId| array.at(i);
            self.pass.store_nth(b, image, line, Phase::Even, partner.into(), value(self.even));
            self.pass.store_nth(b, image, line, Phase::Odd, k, value(self.odd));
        });
    }
}
