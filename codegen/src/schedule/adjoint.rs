//! Adjoint of a real scheme along one axis, in place, a line a thread.
//!
//! rewrite: the adjoint of a real scheme along one axis → a thread a line, in place
//!
//! The gradient's way back through a transform. Each step's stencil is reversed, with target and source exchanged, last
//! step first ([`lifting_dsl::adjoint`]). If the step read beyond the line, the value returns to the sample that the
//! border rule had served. These are a few single taps after each step, in the oracle's order, so that all executors
//! agree bit for bit.
//!
//! A thread walks its line from end to end for every step. That is simple, and correct for every border rule and
//! length, but slow: faster if lines are neighbours in memory, slower otherwise.

use super::border::within_phase;
use super::lift::{Arithmetic, step_value};
use super::lines::EachLine;
use super::{Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::{Access, Cache, Expr, Kernel, ParamId, Scalar, Space};
use lifting_dsl::{Boundary, Direction, Domain, Group, Phase, RealStep, Scheme, Step, adjoint};

/// Resident blocks to ask for: without a request, nvcc spills registers for twice as many.
const RESIDENT: u32 = 8;

/// Parameters except the samples.
struct Line {
    data: ParamId,
    length: ParamId,
    parity: ParamId,
    step: ParamId,
    boundary: Boundary,
    arith: Arithmetic,
}

impl Line {
    /// First index of a phase, and one past its last.
    fn range(&self, phase: Phase) -> [Expr; 2] {
        let end = self.parity + self.length;
        match phase {
            Phase::Even => [self.parity.into(), (end + 1) >> 1],
            Phase::Odd => [0.into(), end >> 1],
        }
    }

    /// The index in the line that serves a read of index `k` beyond it.
    fn served(&self, phase: Phase, k: Expr) -> Expr {
        let at = |k: Expr| (k << 1) + phase.parity() as i32 - self.parity;
        let back = |i: Expr| (i + self.parity) >> 1;
        match self.boundary {
            Boundary::WholeSymmetric => back(Expr::mirror(at(k), self.length)),
            Boundary::Periodic => back(Expr::wrap(at(k), self.length)),
            rule => {
                let [first, end] = self.range(phase);
                within_phase(rule, k, first, end - 1)
            }
        }
    }

    fn index(&self, base: Expr, phase: Phase, k: Expr) -> Expr {
        let i = (k << 1) + phase.parity() as i32 - self.parity;
        base + i.cast(Scalar::I64) * self.step
    }

    fn load(&self, b: &mut Builder, name: &str, base: Expr, phase: Phase, k: Expr) -> Expr {
        b.load_new(name, self.arith.work, Space::Global(self.data), self.index(base, phase, k)).into()
    }

    fn store(&self, b: &mut Builder, base: Expr, phase: Phase, k: Expr, value: Expr) {
        b.store(Space::Global(self.data), self.index(base, phase, k), value);
    }

    /// One step on every sample of its target; reads beyond the line are zero.
    fn lift(&self, b: &mut Builder, base: Expr, step: &Step) {
        let target = step.target();
        let [first, end] = self.range(target);
        let offsets: Vec<i32> = match step {
            Step::Real(s) => s.groups.iter().flat_map(|g| g.offsets.iter().copied()).collect(),
            _ => Vec::new(),
        };
        b.for_("k", first, end, 1, |b, k| {
            let old = self.load(b, "old", base, target, k);
            let [first, end] = self.range(target.other());
            let mut values = Vec::new();
            for offset in &offsets {
                let i = b.let_("i", Scalar::I32, k + *offset);
                let x = b.let_("x", self.arith.work, self.arith.zero());
                b.if_(i.ge(first).and(i.lt(end)), |b| {
                    let at = self.index(base, target.other(), i.into());
                    b.load(x, Space::Global(self.data), at, 1, Cache::Default);
                });
                values.push((*offset, x));
            }
            let mut values = values.into_iter();
            let mut read = |offset: i32| {
                let (o, x) = values.next().expect("as many values as reads");
                debug_assert_eq!(o, offset, "steps read in the order of their taps");
                x.into()
            };
            let value = step_value(step, self.arith, old, &mut read);
            self.store(b, base, target, k, value);
        });
    }

    /// Returns the values that the transform's `step` read beyond the line to the samples that the border rule served.
    fn fold(&self, b: &mut Builder, base: Expr, step: &RealStep) {
        if self.boundary == Boundary::Zero {
            return;
        }
        let (from, into) = (step.target, step.target.other());
        let ([first, end], [read_first, read_end]) = (self.range(from), self.range(into));
        for group in &step.groups {
            let groups = vec![Group { weight: group.weight.clone(), offsets: vec![0] }];
            let tap = Step::Real(RealStep { target: into, op: step.op, groups });
            for offset in &group.offsets {
                let below = [first, end.min(read_first - *offset)];
                let above = [first.max(read_end - *offset), end];
                for [start, stop] in [below, above] {
                    b.for_("from", start, stop, 1, |b, k| {
                        let served = self.served(into, k + *offset);
                        let served = b.let_("into", Scalar::I32, served);
                        let given = self.load(b, "given", base, from, k);
                        let old = self.load(b, "old", base, into, served.into());
                        let value = step_value(&tap, self.arith, old, &mut |_| given);
                        self.store(b, base, into, served.into(), value);
                    });
                }
            }
        }
    }
}

/// Writes the kernel: the adjoint of `options.direction` along an axis, on samples of the type of the arithmetic.
///
/// Parameters: `data`, lines of at least 2 samples, both phases interleaved; `length, parity, lines`; `step`, samples
/// from one to the next of a line; `pitch`, from one line to the next; `stride`, from one batch of lines to the next;
/// `batch`.
///
/// # Errors
/// If the scheme is not real, or the samples are of a storage type.
pub fn kernel(scheme: &Scheme, options: Options) -> Result<Kernel, ScheduleError> {
    let arith = Arithmetic::of(scheme, options)?;
    if arith.work != arith.storage {
        let (sample, work) = (arith.storage.name(), arith.work.name());
        return Err(ScheduleError::Storage { schedule: "adjoint", sample, work });
    }
    let steps = options.direction.steps(scheme);
    let real = scheme.domain() == Domain::Real;
    let adjoint = adjoint::steps(&steps).filter(|_| real).ok_or_else(|| ScheduleError::Sample {
        wavelet: scheme.name().to_owned(),
        domain: "integer",
        sample: options.sample.name(),
        choices: "a real wavelet with the same weights: an integer one rounds, and has no adjoint",
    })?;
    let mut builder = Builder::new(options.kernel_name(scheme, "adjoint"));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Adjoint of the analysis of lines, in place, a line a thread.",
        Direction::Inverse => "Adjoint of the synthesis of lines, in place, a line a thread.",
    });
    let data = b.pointer("data", arith.work, Access::ReadWrite, "the lines, both phases interleaved");
    let length = b.scalar("length", Scalar::I32, "samples of a line, at least 2");
    let parity = b.scalar("parity", Scalar::I32, "position of the first sample: 0 if even, 1 if odd");
    let lines = EachLine::declare(b);
    let line = Line { data, length, parity, step: lines.step, boundary: options.boundary, arith };
    lines.run(b, |b, base| {
        for (step, back) in steps.iter().rev().zip(&adjoint) {
            line.lift(b, base, back);
            if let Step::Real(step) = step {
                line.fold(b, base, step);
            }
        }
    });
    let mut kernel = builder.finish(lines.launch(1.into()));
    kernel.min_blocks = RESIDENT;
    Ok(kernel)
}
