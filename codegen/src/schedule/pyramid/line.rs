//! A level's axis: a thread has a part of a line.

use super::Pyramid;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, LocalId, Scalar, Space};
use crate::schedule::Direction;
use crate::schedule::level::{Border, Held, PHASES, Slab, cell_of};
use lifting_dsl::{Boundary, Phase};

/// What lies beyond a border: how it is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// Nothing does.
    Inside,
    /// The line is longer than the halo.
    Near,
    /// It is not.
    Far,
}

/// A thread's line.
struct Line {
    /// Element of its first sample.
    first: LocalId,
    /// From one sample to the next.
    step: i32,
    /// Samples.
    length: LocalId,
    /// Samples of even index.
    low: LocalId,
}

impl Line {
    /// Element of the sample at index `k` of a phase: samples in their order, or those of even index before all others.
    fn element(&self, apart: bool, phase: Phase, k: Expr) -> Expr {
        let index = match (apart, phase) {
            (false, _) => (k << 1) + phase.parity() as i32,
            (true, Phase::Even) => k,
            (true, Phase::Odd) => Expr::from(self.low) + k,
        };
        Expr::from(self.first) + index * self.step
    }
}

impl Pyramid<'_> {
    /// An axis (0: x, 1: y) of a level of so many columns and rows: the first that is lifted, or the second.
    pub fn pass(&self, b: &mut Builder, axis: usize, lengths: [LocalId; 2], turn: usize) {
        let plan = self.plan;
        let (groups, pairs) = (plan.shape.groups() as i32, plan.shape.pairs as i32);
        let warp = || Expr::from(Builtin::ThreadY);
        let (length, lines) = (lengths[axis], lengths[1 - axis]);
        let line = b.let_("line", Scalar::I32, warp() % groups * 32 + Expr::from(Builtin::ThreadX));
        let first = b.let_("first", Scalar::I32, warp() / groups * pairs);
        let is_any = Expr::from(line).lt(lines.into()).and((Expr::from(first) << 1).lt(length.into()));
        b.if_(is_any, |b| {
            let zero = || Expr::i32(0);
            let held = Held {
                arith: plan.arith,
                boundary: plan.options.boundary,
                border: plan.border,
                columns: 1,
                start: [zero(), zero(), zero()],
                length: [lines.into(), length.into(), 1.into()],
            };
            let steps = [1, self.pitch];
            let low = b.let_("low", Scalar::I32, (Expr::from(length) + 1) >> 1);
            let at = b.let_("at", Scalar::I32, Expr::from(line) * steps[1 - axis]);
            let line = Line { first: at, step: steps[axis], length, low };
            let slab = Slab::declare(b, "samples", &held, (&plan.axis, &plan.halo), (first.into(), pairs));
            self.take(b, &slab, &line, turn);
            slab.lift(b);
            self.put(b, &slab, &line, turn);
        });
    }

    /// Takes the thread's samples and all that its results depend on.
    fn take(&self, b: &mut Builder, slab: &Slab, line: &Line, turn: usize) {
        let rows = |b: &mut Builder, beyond: Beyond| self.rows(b, slab, line, beyond, turn);
        let extends = matches!(self.plan.border, Border::Extend | Border::Mirror);
        let reach = 2 * self.plan.halo.pairs_before().max(self.plan.halo.pairs_after()) as i32 + 1;
        b.if_else(
            slab.at_edge,
            |b| match extends {
                true => {
                    let near = Expr::from(line.length).gt(reach.into());
                    b.if_else(near, |b| rows(b, Beyond::Near), |b| rows(b, Beyond::Far));
                }
                false => rows(b, Beyond::Near),
            },
            |b| rows(b, Beyond::Inside),
        );
    }

    fn rows(&self, b: &mut Builder, slab: &Slab, line: &Line, beyond: Beyond, turn: usize) {
        let plan = self.plan;
        let (apart, scales) = match plan.options.direction {
            Direction::Forward => (false, turn == 0),
            Direction::Inverse => (true, false),
        };
        let cell = cell_of(plan.arith);
        b.unrolled("row", 0, slab.height(), 1, |b, k| {
            for phase in PHASES {
                let index = self.served(b, slab, line, (phase, Expr::from(slab.front) + k.clone()), beyond);
                let element = line.element(apart, phase, index);
                let value = b.load_new("cell", cell, Space::Shared(self.arrays[turn]), element);
                let value = if cell == plan.arith.work { value.into() } else { plan.arith.widen(value.into()) };
                let value = match self.params.gain {
                    Some(gain) if scales => plan.arith.shift_up(value, gain.into()),
                    _ => value,
                };
                b.set(slab.row(phase, k.clone()).place(0), value);
            }
        });
    }

    /// The index of a phase of the sample that stands for one of that phase. What no result depends on may be any sample.
    fn served(&self, b: &mut Builder, slab: &Slab, line: &Line, (phase, k): (Phase, Expr), beyond: Beyond) -> Expr {
        let p = phase.parity() as i32;
        let length = || Expr::from(line.length);
        if beyond == Beyond::Inside {
            return k;
        }
        if !matches!(self.plan.border, Border::Extend | Border::Mirror) {
            return k.max(0.into()).min(slab.held.last_index(1, phase));
        }
        if beyond == Beyond::Far {
            return slab.held.serve(1, phase, k);
        }
        let position = b.let_("position", Scalar::I32, (k << 1) + p);
        let position = || Expr::from(position);
        let served = if self.plan.options.boundary == Boundary::Periodic {
            let above = position().lt(0.into()).select(position() + length(), position());
            let above = b.let_("above", Scalar::I32, above);
            let above = || Expr::from(above);
            above().ge(length()).select(above() - length(), above()).min(length() - 1)
        } else {
            let away = b.let_("away", Scalar::I32, position().max(-position()));
            Expr::from(away).min((length() - 1) * 2 - Expr::from(away)).max(0.into())
        };
        served >> 1
    }

    /// Puts down the thread's results.
    fn put(&self, b: &mut Builder, slab: &Slab, line: &Line, turn: usize) {
        let plan = self.plan;
        let (apart, scales) = match plan.options.direction {
            Direction::Forward => (true, false),
            Direction::Inverse => (false, turn == 1),
        };
        b.unrolled("row", 0, slab.pairs, 1, |b, k| {
            for phase in PHASES {
                let index = Expr::from(slab.front) + (k.clone() + slab.first());
                let exists = ((index.clone() << 1) + phase.parity() as i32).lt(line.length.into());
                b.if_(exists, |b| {
                    let mut value = slab.row(phase, k.clone() + slab.first()).at(0);
                    if let (Some(gain), true) = (self.params.gain, scales) {
                        value = plan.arith.shift_down(value, gain.into());
                    }
                    let value = self.cell(value, turn == 1);
                    b.store(Space::Shared(self.arrays[1 - turn]), line.element(apart, phase, index.clone()), value);
                });
            }
        });
    }

    /// A value as it stands in shared memory: rounded to the type of the samples where it would go to memory between levels.
    fn cell(&self, value: Expr, rounds: bool) -> Expr {
        let (arith, cell) = (self.plan.arith, cell_of(self.plan.arith));
        match () {
            _ if cell == arith.storage => arith.narrow(value),
            _ if rounds => arith.narrow(value).cast(cell),
            _ => value,
        }
    }
}
