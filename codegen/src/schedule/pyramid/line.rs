//! One axis of a level: a thread has a part of a line.

use super::Pyramid;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, LocalId, Scalar, Space};
use crate::schedule::level::{Border, Held, PHASES, Slab, cell_of};
use lifting_dsl::{Boundary, Direction, Phase};

/// A thread's line.
struct Line {
    /// Element of its first sample.
    first: LocalId,
    /// Elements from one sample to the next.
    step: LocalId,
    /// Number of samples.
    length: LocalId,
    /// Number of even samples.
    low: LocalId,
}

impl Line {
    /// Element of a phase's sample at a position. Samples are in order, or (`apart`) all even ones before the odd ones.
    fn element(&self, apart: bool, phase: Phase, position: Expr) -> Expr {
        let index = match (apart, phase) {
            (false, _) => position,
            (true, Phase::Even) => position >> 1,
            (true, Phase::Odd) => self.low + (position >> 1),
        };
        self.first + index * self.step
    }
}

impl Pyramid<'_> {
    /// Writes one axis (0: x, 1: y) of a level of `lengths` columns and rows. `turn` is 0 for the first axis lifted, 1
    /// for the second.
    pub fn pass(&self, b: &mut Builder, axis: usize, lengths: [LocalId; 2], (turn, is_first): (usize, bool)) {
        let plan = self.plan;
        let (groups, pairs) = (plan.shape.groups(is_first) as i32, plan.shape.pairs(is_first) as i32);
        let warp = Expr::from(Builtin::ThreadY);
        let (length, lines) = (lengths[axis], lengths[1 - axis]);
        let group = if groups == 1 { 0.into() } else { warp % groups };
        let line = b.let_("line", Scalar::I32, group * 32 + Builtin::ThreadX);
        let first = b.let_("first", Scalar::I32, warp / groups * pairs);
        let is_any = line.lt(lines).and((first << 1).lt(length));
        // As values, so that lines along either axis have one text.
        let step = [1, plan.pitch()][axis];
        let step = b.let_("step", Scalar::I32, step);
        let at = b.let_("at", Scalar::I32, line * [plan.pitch(), 1][axis]);
        let part = |b: &mut Builder| {
            let zero = Expr::i32(0);
            let held = Held {
                arith: plan.arith,
                boundary: plan.options.boundary,
                border: plan.border,
                columns: 1,
                start: [zero, zero, zero],
                length: [lines.into(), length.into(), 1.into()],
                doubled_ends: plan.options.doubled_ends,
            };
            let low = b.let_("low", Scalar::I32, (length + 1) >> 1);
            let line = Line { first: at, step, length, low };
            let slab = Slab::declare(b, "samples", &held, (&plan.axis, &plan.halo), (first.into(), pairs));
            self.take(b, &slab, &line, turn);
            slab.lift(b);
            self.put(b, &slab, &line, turn);
        };
        b.if_(is_any, |b| b.part("lift_line", "Lifts a thread's part of a line, from one array to the other.", part));
    }

    /// Loads the thread's samples and all that its results depend on.
    fn take(&self, b: &mut Builder, slab: &Slab, line: &Line, turn: usize) {
        let rows = |b: &mut Builder, folds: i32| self.rows(b, slab, line, folds, turn);
        let reach = self.plan.reach();
        b.if_else(
            slab.at_edge,
            |b| match self.plan.border {
                Border::Extend | Border::Mirror => {
                    let near = line.length.gt(reach);
                    // A line has at least two samples.
                    b.if_else(near, |b| rows(b, 1), |b| rows(b, (reach + 1) / 2));
                }
                Border::Edge | Border::Zero | Border::Untouched => rows(b, 1),
            },
            |b| rows(b, 0),
        );
    }

    /// Loads samples up to `folds` periods or reflections beyond a border.
    fn rows(&self, b: &mut Builder, slab: &Slab, line: &Line, folds: i32, turn: usize) {
        let plan = self.plan;
        let (apart, scales) = match plan.options.direction {
            Direction::Forward => (false, turn == 0),
            Direction::Inverse => (true, false),
        };
        let cell = cell_of(plan.arith);
        b.unrolled("row", 0, slab.height(), 1, |b, k| {
            for phase in PHASES {
                let position = self.served(b, line, (phase, slab.front + k), folds);
                let element = line.element(apart, phase, position);
                let value = b.load_new("cell", cell, Space::Shared(self.arrays[turn]), element);
                let value = if cell == plan.arith.work { value.into() } else { plan.arith.widen(value.into()) };
                let value = match self.params.gain {
                    Some(gain) if scales => plan.arith.shift_up(value, gain.into()),
                    _ => value,
                };
                b.set(slab.row(phase, k).place(0), value);
            }
        });
    }

    /// Position of the sample that serves a phase's index. It is arbitrary if no result depends on it.
    fn served(&self, b: &mut Builder, line: &Line, (phase, k): (Phase, Expr), folds: i32) -> Expr {
        let p = phase.parity() as i32;
        let length = line.length;
        let position = |k: Expr| (k << 1) + p;
        if folds == 0 {
            return position(k);
        }
        if !matches!(self.plan.border, Border::Extend | Border::Mirror) {
            return position(k.max(0).min((length - 1 - p) >> 1));
        }
        let mut at = b.let_("position", Scalar::I32, position(k));
        let mut next = |b: &mut Builder, f: &dyn Fn(&dyn Fn() -> Expr) -> Expr| {
            let value = f(&|| Expr::from(at));
            at = b.let_("position", Scalar::I32, value);
        };
        for _ in 0..folds {
            if self.plan.options.boundary == Boundary::Periodic {
                next(b, &|at| at().lt(0).select(at() + length, at()));
                next(b, &|at| at().ge(length).select(at() - length, at()));
            } else if self.plan.options.boundary == Boundary::HalfSymmetric {
                next(b, &|at| at().max(Expr::from(2 * p - 2) - at()));
                next(b, &|at| at().min((((length - 1 - p) >> 1) << 2) + (2 * p + 2) - at()));
            } else {
                next(b, &|at| at().max(-at()));
                next(b, &|at| at().min((length - 1) * 2 - at()));
            }
        }
        let at = at.max(0);
        // A reflection reaches no position past the last.
        if self.plan.options.boundary == Boundary::Periodic { at.min(length - 1) } else { at }
    }

    /// Stores the thread's results in shared memory.
    fn put(&self, b: &mut Builder, slab: &Slab, line: &Line, turn: usize) {
        let plan = self.plan;
        let (apart, scales) = match plan.options.direction {
            Direction::Forward => (true, false),
            Direction::Inverse => (false, turn == 1),
        };
        let rows = |b: &mut Builder, all: bool| {
            b.unrolled("row", 0, slab.pairs, 1, |b, k| {
                for phase in PHASES {
                    let index = slab.front + (k + slab.first());
                    let position = (index << 1) + phase.parity() as i32;
                    let exists = position.lt(line.length);
                    let mut value = slab.row(phase, k + slab.first()).at(0);
                    if let (Some(gain), true) = (self.params.gain, scales) {
                        value = plan.arith.shift_down(value, gain.into());
                    }
                    let value = self.cell(value, turn == 1);
                    let to = Space::Shared(self.arrays[1 - turn]);
                    let at = line.element(apart, phase, position);
                    if all { b.store(to, at, value) } else { b.if_(exists, |b| b.store(to, at, value)) }
                }
            });
        };
        b.if_else(slab.at_edge, |b| rows(b, false), |b| rows(b, true));
    }

    /// A value as shared memory holds it; rounded to the sample type wherever levels meet.
    fn cell(&self, value: Expr, rounds: bool) -> Expr {
        let (arith, cell) = (self.plan.arith, cell_of(self.plan.arith));
        match () {
            _ if cell == arith.storage => arith.narrow(value),
            _ if rounds => arith.narrow(value).cast(cell),
            _ => value,
        }
    }
}
