//! One axis without barriers between steps: a few pairs a thread, lifted in registers with their dependencies.
//!
//! rewrite: a scheme along one axis → a few pairs a thread, lifted in registers with their dependencies
//!
//! A block has samples in shared memory. Each thread loads the samples that its results depend on ([`Halo`]): for the
//! 9/7, 9 samples for one pair and 15 for four. It lifts them in registers; samples that two threads need are lifted by
//! both. So there is no barrier between steps, however many there are. One barrier follows the load of samples, and one
//! precedes the next load. Along rows, a block has a row and walks along it ([`rows`]); along columns, it has a strip
//! of 32 columns and slides a window down it ([`columns`]).
//!
//! Source: Kučis, Barina, Kula & Zemčík, "2-D Discrete Wavelet Transform Using GPU", 2014, section III, where rows are
//! Horiz-Blazewicz2012-1 and -4 and columns Vert-Proposed; after Błażewicz et al. 2012. Other wavelets' windows are
//! derived, and bands are separate, where theirs are interleaved. [`convolution`] applies filters instead.

pub mod columns;
pub mod convolution;
pub mod rows;

use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::{Expr, Kernel, SharedId, Space};
use lifting_codegen::schedule::level::{Axis, Border, Held, PHASES, Slab};
use lifting_codegen::schedule::{Along, Arithmetic, AxisSchedule, Options, Pass, ScheduleError, Sides};
use lifting_codegen::window::Halo;
use lifting_dsl::{Direction, Phase, Scheme};

/// The schedule in a block shape.
#[derive(Clone, Copy, Debug)]
pub struct BarrierFree {
    name: &'static str,
    /// Pairs of results of a thread.
    pub pairs: u32,
    blocks: Blocks,
}

/// Block shapes of both passes.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Threads of a row's block, at most 256 in the paper.
    pub threads: u32,
    /// Row pairs of a strip's chunk; 0 does not cut strips, as in the paper.
    pub chunk: u32,
}

/// The paper's largest blocks.
pub const PAPER: Blocks = Blocks { threads: 256, chunk: 0 };

/// One pair a thread, the paper's blocks first.
pub const ONE: [BarrierFree; 3] = [
    BarrierFree { name: "barrier-free-1", pairs: 1, blocks: PAPER },
    BarrierFree { name: "barrier-free-1-128", pairs: 1, blocks: Blocks { threads: 128, chunk: 512 } },
    BarrierFree { name: "barrier-free-1-64", pairs: 1, blocks: Blocks { threads: 64, chunk: 128 } },
];

/// Four pairs a thread, as in the paper's columns; the paper's blocks first.
pub const FOUR: [BarrierFree; 5] = [
    BarrierFree { name: "barrier-free", pairs: 4, blocks: PAPER },
    BarrierFree { name: "barrier-free-128-512", pairs: 4, blocks: Blocks { threads: 128, chunk: 512 } },
    BarrierFree { name: "barrier-free-64-256", pairs: 4, blocks: Blocks { threads: 64, chunk: 256 } },
    BarrierFree { name: "barrier-free-128-128", pairs: 4, blocks: Blocks { threads: 128, chunk: 128 } },
    BarrierFree { name: "barrier-free-64-64", pairs: 4, blocks: Blocks { threads: 64, chunk: 64 } },
];

impl AxisSchedule for BarrierFree {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        match self.pairs {
            1 => "A pass an axis, a pair a thread in registers (Blazewicz 2012, Kucis 2014)",
            _ => "A pass an axis, four pairs a thread in registers (Blazewicz 2012, Kucis 2014)",
        }
    }

    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError> {
        Part::lifted(scheme, options, *self)?.kernel(scheme, options, sides, along)
    }
}

/// Maximum registers for a thread's samples.
const MAX_REGISTERS: i64 = 128;

/// A thread's part, derived from a scheme.
struct Part {
    schedule: &'static str,
    /// Pairs of results.
    pairs: i32,
    blocks: Blocks,
    arith: Arithmetic,
    border: Border,
    halo: Halo,
    work: Work,
}

/// Computation on a thread's samples.
enum Work {
    /// Executes the steps.
    Lift(Axis),
    /// Applies the filters.
    Filter(convolution::Filters),
}

impl Part {
    fn lifted(scheme: &Scheme, options: Options, own: BarrierFree) -> Result<Part, ScheduleError> {
        let BarrierFree { name: schedule, pairs, blocks } = own;
        let arith = Arithmetic::of(scheme, options)?.in_registers();
        let border = Border::of(options.boundary, &options.direction.steps(scheme));
        let axis = Axis::new(scheme, options);
        let halo = Halo::of(&axis.actions, options.boundary);
        Part { schedule, pairs: pairs as i32, blocks, arith, border, halo, work: Work::Lift(axis) }.checked(scheme)
    }

    /// The part itself, if a thread's samples fit into registers.
    fn checked(self, scheme: &Scheme) -> Result<Part, ScheduleError> {
        let words = (self.arith.work.bytes() as i64 + 3) / 4;
        let registers = 2 * (i64::from(self.pairs) + self.halo.pairs()) * words;
        if registers > MAX_REGISTERS {
            let what = "registers a thread for its samples";
            return Err(ScheduleError::limit(self.schedule, scheme)(what, registers, MAX_REGISTERS));
        }
        Ok(self)
    }

    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError> {
        match along {
            Along::Row => rows::kernel(self, scheme, options, sides),
            Along::Column => columns::kernel(self, scheme, options, sides),
        }
    }

    /// Name of the kernels.
    fn name(&self) -> String {
        match self.work {
            Work::Lift(_) => format!("barrier_free_{}", self.pairs),
            Work::Filter(_) => "convolution".into(),
        }
    }

    /// Description of a kernel for `lines`, for a comment.
    fn about(&self, direction: Direction, lines: &str) -> String {
        let of = match direction {
            Direction::Forward => "Analysis",
            Direction::Inverse => "Synthesis",
        };
        let verb = match self.work {
            Work::Lift(_) => "lifts",
            Work::Filter(_) => "filters",
        };
        format!("{of} of {lines}: a thread {verb} its pairs in registers")
    }

    /// Pairs, halo included, of a row with `results` pairs of results.
    fn held(&self, results: i32) -> i32 {
        results + self.halo.pairs() as i32
    }

    /// The line, as a thread holds a part of it.
    fn line(&self, pass: &Pass, options: Options) -> Held {
        Held {
            arith: self.arith,
            boundary: options.boundary,
            border: self.border,
            columns: 1,
            start: [0.into(), pass.parity.into(), 0.into()],
            length: [1.into(), pass.length.into(), 1.into()],
            doubled_ends: false,
        }
    }

    /// The results of a thread's pairs from `first` on, even and odd. Sample k of a phase, counted from the halo's
    /// first pair, is in shared memory at `at(phase, k)`. Lines of one sample stay unchanged.
    fn results(
        &self,
        b: &mut Builder,
        (held, pass): (&Held, &Pass),
        first: Expr,
        (cells, at): (SharedId, &dyn Fn(Phase, i32) -> Expr),
    ) -> Vec<[Expr; 2]> {
        match &self.work {
            Work::Lift(axis) => {
                let slab = self.lift(b, axis, (held, pass), first, (cells, at));
                let pair = |k: i32| PHASES.map(|phase| slab.row(phase, (slab.first() + k).into()).at(0));
                (0..self.pairs).map(pair).collect()
            }
            Work::Filter(filters) => self.filter(b, filters, pass, (cells, at)),
        }
    }

    /// Whether a result depends on the sample of a phase, counted as in [`Part::results`].
    fn needs(&self, phase: Phase, k: i32) -> bool {
        let position = 2 * (k - self.halo.pairs_before() as i32) + phase.parity() as i32;
        (-(self.halo.before as i32)..2 * self.pairs + self.halo.after as i32).contains(&position)
    }

    fn lift<'a>(
        &'a self,
        b: &mut Builder,
        axis: &'a Axis,
        (held, pass): (&'a Held, &Pass),
        first: Expr,
        (cells, at): (SharedId, &dyn Fn(Phase, i32) -> Expr),
    ) -> Slab<'a> {
        let slab = Slab::declare(b, "samples", held, (axis, &self.halo), (first, self.pairs));
        for k in 0..slab.height() {
            for phase in PHASES {
                let place = slab.row(phase, k.into()).place(0);
                if self.needs(phase, k) {
                    b.load(place, Space::Shared(cells), at(phase, k), 1, Default::default());
                } else {
                    // Samples of the outermost pairs that no result depends on.
                    b.set(place, self.arith.zero());
                }
            }
        }
        b.if_(pass.length.gt(1), |b| slab.lift(b));
        slab
    }
}

/// The position inside the line that serves a position outside; in a line of one sample, its only position.
fn served(line: &Held, pass: &Pass, position: Expr) -> Expr {
    let last = pass.length - 1;
    line.serve_position(1, position).max(0).min(last) + pass.parity
}
