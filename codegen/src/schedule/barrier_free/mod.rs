//! rewrite: a scheme along one axis → a few pairs a thread, lifted in registers with all that they depend on
//!
//! A block has samples in shared memory, and each thread takes from there what its own results depend on ([`Halo`]):
//! of the 9/7, 9 samples for one pair and 15 for four. It lifts them in registers, and what two threads both need, both
//! lift. So there is no barrier between steps, however many there are: one is after the samples are there, one before
//! others take their place. Along rows a block has a row and walks along it ([`rows`]); along columns it has a strip of
//! 32 columns and slides a window down it ([`columns`]).
//!
//! Source: Kučis, Barina, Kula & Zemčík, "2-D Discrete Wavelet Transform Using GPU", 2014, section III, where rows are
//! Horiz-Blazewicz2012-1 and -4 and columns Vert-Proposed; after Błażewicz et al. 2012. Other wavelets' windows are
//! derived, and bands stand apart, where theirs are interleaved. [`convolution`] filters what it takes instead.

pub mod columns;
pub mod convolution;
pub mod rows;

use super::level::{Axis, Border, Held, PHASES, Slab};
use super::{Along, Arithmetic, AxisSchedule, Direction, Options, Pass, ScheduleError, Sides};
use crate::ir::build::Builder;
use crate::ir::{Expr, Kernel, SharedId, Space};
use crate::window::Halo;
use lifting_dsl::{Phase, Scheme};

/// The schedule, with so many pairs a thread.
#[derive(Clone, Copy, Debug)]
pub struct BarrierFree {
    pairs: u32,
}

/// A pair a thread.
pub const ONE: BarrierFree = BarrierFree { pairs: 1 };
/// Four pairs a thread, as the paper has its columns.
pub const FOUR: BarrierFree = BarrierFree { pairs: 4 };

impl BarrierFree {
    /// Pairs of samples that a thread has results of.
    pub fn pairs(self) -> u32 {
        self.pairs
    }
}

impl AxisSchedule for BarrierFree {
    fn name(&self) -> &'static str {
        if self.pairs == 1 { "barrier-free-1" } else { "barrier-free" }
    }

    fn about(&self) -> &'static str {
        match self.pairs {
            1 => "A pass an axis, a pair a thread in registers (Blazewicz 2012, Kucis 2014)",
            _ => "A pass an axis, four pairs a thread in registers (Blazewicz 2012, Kucis 2014)",
        }
    }

    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError> {
        Part::lifted(self.name(), scheme, options, self.pairs)?.kernel(scheme, options, sides, along)
    }
}

/// Most registers that a thread's samples may take.
const MAX_REGISTERS: i64 = 128;

/// What a thread has, derived from a scheme.
struct Part {
    schedule: &'static str,
    /// Pairs of results.
    pairs: i32,
    arith: Arithmetic,
    border: Border,
    halo: Halo,
    work: Work,
}

/// What a thread does to its samples.
enum Work {
    /// Executes the steps.
    Lift(Axis),
    /// Applies the filters.
    Filter(convolution::Filters),
}

impl Part {
    fn lifted(schedule: &'static str, scheme: &Scheme, options: Options, pairs: u32) -> Result<Part, ScheduleError> {
        let arith = Arithmetic::of(scheme, options)?.in_registers();
        let border = Border::of(options.boundary, &options.direction.steps(scheme));
        let axis = Axis::new(scheme, options);
        let halo = Halo::of(&axis.actions, options.boundary);
        Part { schedule, pairs: pairs as i32, arith, border, halo, work: Work::Lift(axis) }.checked(scheme)
    }

    /// Itself, if a thread's samples are not too many.
    fn checked(self, scheme: &Scheme) -> Result<Part, ScheduleError> {
        let words = (self.arith.work.bytes() as i64 + 3) / 4;
        let registers = 2 * (i64::from(self.pairs) + self.halo.pairs()) * words;
        if registers > MAX_REGISTERS {
            let what = "a thread's samples, in registers,";
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

    /// What kernels are called.
    fn name(&self) -> String {
        match self.work {
            Work::Lift(_) => format!("barrier_free_{}", self.pairs),
            Work::Filter(_) => "convolution".into(),
        }
    }

    /// What a kernel does to these lines, in a comment.
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

    /// Pairs, halo included, that a row of so many pairs of results is of.
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

    /// The results of the pairs from `first` on that a thread has, even and odd. Sample k of a phase, counted from the
    /// halo's first pair, stands in shared memory at `at(phase, k)`. Lines of one sample stay as they are.
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

    /// Whether a result depends on the sample of a phase, counted as [`Part::results`] does.
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
                    // Of the outermost pairs, what no result depends on.
                    b.set(place, self.arith.zero());
                }
            }
        }
        b.if_(Expr::from(pass.length).gt(1.into()), |b| slab.lift(b));
        slab
    }
}

/// The position inside the line whose sample stands for one outside; any that there is where a line has one sample.
fn served(line: &Held, pass: &Pass, position: Expr) -> Expr {
    let last = Expr::from(pass.length) - 1;
    line.serve_position(1, position).max(0.into()).min(last) + Expr::from(pass.parity)
}
