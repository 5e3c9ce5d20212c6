//! Vertical lifting of rows that a thread holds whole, so many columns of each.

use super::{Axis, Border, Form, Held, PHASES, Row};
use crate::action::Action;
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Scalar};
use crate::schedule::{pair_values, set_pair, step_value};
use crate::window::{Halo, Window};
use lifting_dsl::{PairStage, Phase, Step};
use std::ops::RangeInclusive;

/// Rows in registers: those of the results, and what they depend on.
pub struct Slab<'a> {
    /// The columns.
    pub held: &'a Held,
    /// Its steps.
    pub axis: &'a Axis,
    /// Of the lifting steps.
    pub halo: &'a Halo,
    /// Row pairs of results.
    pub pairs: i32,
    /// Row pair that its first two rows are.
    pub front: LocalId,
    /// Whether it reaches above or below the image (warp-uniform).
    pub at_edge: LocalId,
    /// Row after row, a lane's columns of each.
    pub samples: LocalId,
    /// How they stand there.
    pub form: Form,
}

impl<'a> Slab<'a> {
    /// Declares rows of which the first results are row pair `first`, a register a sample.
    pub fn declare(
        b: &mut Builder,
        name: &str,
        held: &'a Held,
        steps: (&'a Axis, &'a Halo),
        range: (Expr, i32),
    ) -> Slab<'a> {
        Slab::declare_as(b, name, held, steps, range, Form::Single)
    }

    /// The same, in another form.
    pub fn declare_as(
        b: &mut Builder,
        name: &str,
        held: &'a Held,
        (axis, halo): (&'a Axis, &'a Halo),
        (first, pairs): (Expr, i32),
        form: Form,
    ) -> Slab<'a> {
        let rows = 2 * (pairs + (halo.pairs_before() + halo.pairs_after()) as i32);
        let front = b.let_("front", Scalar::I32, first - halo.pairs_before() as i32);
        let above = (Expr::from(front) << 1).lt(held.start(1));
        let below = ((Expr::from(front) << 1) + rows).gt(held.end(1));
        let at_edge = b.let_("at_edge", Scalar::Bool, above.or(below));
        let samples = b.array(name, held.arith.work, (form.registers(held.columns()) * rows) as u32);
        Slab { held, axis, halo, pairs, front, at_edge, samples, form }
    }

    /// Row pairs, halo included.
    pub fn height(&self) -> i32 {
        self.first() + self.pairs + self.halo.pairs_after() as i32
    }

    /// The first row pair of results, counted from the slab's first.
    pub fn first(&self) -> i32 {
        self.halo.pairs_before() as i32
    }

    /// The row of a phase in a row pair, counted from the slab's first.
    pub fn row(&self, phase: Phase, pair: Expr) -> Row {
        let registers = self.form.registers(self.held.columns());
        let first = pair * (2 * registers) + phase.parity() as i32 * registers;
        Row { array: self.samples, first, form: self.form }
    }

    /// Lifts the columns.
    pub fn lift(&self, b: &mut Builder) {
        if self.form == Form::Single {
            return self.lift_single(b);
        }
        // Two columns at a time, those that share registers. No border rule asks for more than steps.
        let held = Held { columns: 2, ..self.held.clone() };
        for unit in self.form.units(0..self.held.columns()) {
            let samples = b.array("pair", held.arith.work, (4 * self.height()) as u32);
            let pair = Slab { held: &held, samples, form: Form::Single, ..*self };
            let take = |b: &mut Builder, k: &Expr| {
                for phase in PHASES {
                    let (from, to) = (self.row(phase, k.clone()), pair.row(phase, k.clone()));
                    (0..).zip(&unit).for_each(|(c, column)| b.set(to.place(c), from.at(*column)));
                }
            };
            let keep = |b: &mut Builder, k: &Expr| {
                for phase in PHASES {
                    let (from, to) = (pair.row(phase, k.clone()), self.row(phase, k.clone()));
                    to.keep(b, &unit, vec![from.at(0), from.at(1)]);
                }
            };
            pair.lift_behind(b, take, keep);
        }
    }

    /// Lifts from the first row to the last, each step as soon as all that it reads is there, so that few rows are between `take` and `keep` at a time: the sliding window, of rows that all stand in
    /// registers.
    fn lift_behind(&self, b: &mut Builder, take: impl Fn(&mut Builder, &Expr), keep: impl Fn(&mut Builder, &Expr)) {
        let window = Window::derive(&self.axis.actions, self.held.boundary);
        let delay = window.delay() as i32;
        let results = self.first()..=self.first() + self.pairs - 1;
        let steps = self.steps().into_iter().zip(window.slots());
        let steps: Vec<_> = steps.filter_map(|((action, rows), slot)| Some((action.step()?, rows, slot))).collect();
        b.unrolled("front", 0, results.end() + delay + 1, 1, |b, front| {
            let behind =
                |b: &mut Builder, slot: i32, rows: &RangeInclusive<i32>, body: &dyn Fn(&mut Builder, &Expr)| {
                    let (from, to) = (rows.start() + slot, rows.end() + slot);
                    b.if_(front.clone().ge(from.into()).and(front.clone().le(to.into())), |b| {
                        body(b, &(front.clone() - slot));
                    });
                };
            behind(b, 0, &(0..=self.height() - 1), &take);
            for (step, rows, slot) in &steps {
                b.comment(format!("columns, {slot} pairs behind the front: {}", crate::describe::step(step)));
                behind(b, *slot, rows, &|b, k| self.step_row(b, step, k));
            }
            behind(b, delay, &results, &keep);
        });
    }

    /// Each step where its results are still needed.
    fn lift_single(&self, b: &mut Builder) {
        let all = 0..=self.height() - 1;
        let (first, pairs) = (self.first(), self.pairs);
        let zero = self.held.border == Border::Zero;
        if zero {
            // Rows beyond the border were loaded from within, and may have been lifted horizontally.
            PHASES.into_iter().for_each(|phase| self.restore(b, phase, all.clone(), 0));
        }
        for step in &self.axis.first {
            self.step(b, step, all.clone());
            if zero {
                self.restore(b, step.target(), all.clone(), 0);
            }
        }
        for ((action, rows), (before, after)) in self.steps().into_iter().zip(&self.halo.steps) {
            match action {
                Action::Step(step) => {
                    self.step(b, step, rows.clone());
                    self.restore(b, step.target(), rows, *before.max(after) as i32 + 1);
                }
                Action::Stage(stage) => self.stage(b, stage, rows),
            }
        }
        for step in &self.axis.last {
            self.step(b, step, first..=first + pairs - 1);
        }
    }

    /// Every step, or stage, and the rows of its target, or of its first sample, on which it is made.
    fn steps(&self) -> Vec<(&'a Action, RangeInclusive<i32>)> {
        let rows = |(action, (before, after)): (&'a Action, &(i64, i64))| {
            // In positions: from `before` ahead of the results to `after` behind them.
            let from = 2 * self.first() - *before as i32;
            let to = 2 * (self.first() + self.pairs) - 1 + *after as i32;
            let of_phase = |phase: Phase, to: i32| {
                let p = phase.parity() as i32;
                (from - p + 1).div_euclid(2)..=(to - p).div_euclid(2)
            };
            let rows = match action {
                Action::Step(step) => of_phase(step.target(), to),
                Action::Stage(stage) => of_phase(stage.first, to - 1),
            };
            (action, rows)
        };
        self.axis.actions.iter().zip(&self.halo.steps).map(rows).collect()
    }

    /// A step on a range of its target's rows.
    fn step(&self, b: &mut Builder, step: &Step, rows: RangeInclusive<i32>) {
        b.comment(format!("columns: {}", crate::describe::step(step)));
        b.unrolled("row", *rows.start(), rows.end() + 1, 1, |b, k| self.step_row(b, step, &k));
    }

    /// A step on a row of its target.
    fn step_row(&self, b: &mut Builder, step: &Step, k: &Expr) {
        let target = step.target();
        for c in 0..self.held.columns() {
            let row = self.row(target, k.clone());
            let mut read = |o: i32| self.row(target.other(), k.clone() + o).at(c);
            let value = step_value(step, self.held.arith, row.at(c), &mut read);
            b.set(row.place(c), value);
        }
    }

    /// A stage of a lattice on the pairs that these rows are the first of.
    fn stage(&self, b: &mut Builder, stage: &PairStage, rows: RangeInclusive<i32>) {
        b.comment(format!("columns: {}", crate::describe::stage(stage)));
        b.unrolled("row", *rows.start(), rows.end() + 1, 1, |b, k| {
            let pair = [self.row(stage.first, k.clone()), self.row(stage.first.other(), k + stage.offset())];
            for c in 0..self.held.columns() {
                let [u, v] = pair.each_ref().map(|row| row.at(c));
                let values = pair_values(stage, self.held.arith, u, v);
                set_pair(b, self.held.arith, pair.each_ref().map(|row| row.place(c)), values);
            }
        });
    }

    /// Makes rows beyond the border what the border rule says, as far as `reach` positions, for a phase that has just changed.
    fn restore(&self, b: &mut Builder, phase: Phase, rows: RangeInclusive<i32>, reach: i32) {
        let (held, p) = (self.held, phase.parity() as i32);
        if held.border == Border::Extend {
            return;
        }
        let (low, high) = (*rows.start(), *rows.end());
        // Only the first block of a column reaches above the image: by its halo, and by a row that an odd origin leaves out.
        let above = self.first();
        b.if_(self.at_edge, |b| {
            let of_block = |b: &mut Builder, name: &str, index: Expr| {
                Expr::from(b.let_(name, Scalar::I32, index - Expr::from(self.front)))
            };
            let first = of_block(b, "first", held.first_index(1, phase));
            let last = of_block(b, "last", held.last_index(1, phase));
            let copy = |b: &mut Builder, to: Expr, from: Expr| {
                for c in 0..held.columns() {
                    b.set(self.row(phase, to.clone()).place(c), self.row(phase, from.clone()).at(c));
                }
            };
            match held.border {
                Border::Extend | Border::Untouched => {}
                Border::Zero => b.unrolled("row", low, high + 1, 1, |b, k| {
                    b.if_(k.clone().lt(first).or(k.clone().gt(last)), |b| {
                        for c in 0..held.columns() {
                            b.set(self.row(phase, k.clone()).place(c), held.arith.zero());
                        }
                    });
                }),
                Border::Edge => {
                    b.unrolled("row", low + 1, high + 1, 1, |b, k| {
                        b.if_(k.clone().gt(last), |b| copy(b, k.clone(), k.clone() - 1));
                    });
                    let nearest = above.min(high - 1);
                    b.unrolled("beyond", 0, nearest - low + 1, 1, |b, i| {
                        let k = Expr::i32(nearest.into()) - i;
                        b.if_(k.clone().lt(first), |b| copy(b, k.clone(), k.clone() + 1));
                    });
                }
                Border::Mirror => {
                    // Position 2·d away from its mirror image; the near ones first, as small images reflect twice.
                    let (start, end) = (held.start(1), held.end(1) - 1);
                    let front = || Expr::from(self.front) << 1;
                    let start = b.let_("start", Scalar::I32, start - front());
                    let end = b.let_("end", Scalar::I32, end - front());
                    for d in 1..=reach {
                        b.unrolled("row", low + d, high + 1, 1, |b, k| {
                            let here = ((k.clone() << 1) + (p - d)).eq_(end.into());
                            b.if_(here, |b| copy(b, k.clone(), k.clone() - d));
                        });
                        b.unrolled("row", low, above.min(high - d) + 1, 1, |b, k| {
                            let here = ((k.clone() << 1) + (p + d)).eq_(start.into());
                            b.if_(here, |b| copy(b, k.clone(), k.clone() + d));
                        });
                    }
                }
            }
        });
    }
}
