//! Vertical lifting of rows that a thread holds whole.

use super::{Axis, Border, Dots, Form, Held, PHASES, Row, Wanted};
use crate::action::Action;
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Place, Scalar};
use crate::schedule::{pair_values, set_pair, step_value};
use crate::window::Halo;
use lifting_dsl::{PairStage, Phase, Step};
use std::ops::RangeInclusive;

/// Rows in registers: those of the results, and those they depend on.
pub struct Slab<'a> {
    /// The columns.
    pub held: &'a Held,
    /// The steps.
    pub axis: &'a Axis,
    /// Halo of the lifting steps.
    pub halo: &'a Halo,
    /// Row pairs of results.
    pub pairs: i32,
    /// Row pair of its first two rows.
    pub front: LocalId,
    /// Whether the slab reaches above or below the image (warp-uniform).
    pub at_edge: LocalId,
    /// A lane's columns, row after row.
    pub samples: LocalId,
    /// Form of the samples.
    pub form: Form,
}

impl<'a> Slab<'a> {
    /// Declares rows whose first results are row pair `first`, with a register for each sample.
    pub fn declare(
        b: &mut Builder,
        name: &str,
        held: &'a Held,
        steps: (&'a Axis, &'a Halo),
        range: (Expr, i32),
    ) -> Slab<'a> {
        Slab::declare_as(b, name, held, steps, range, Form::Single)
    }

    /// [`Slab::declare`] with rows in another form.
    pub fn declare_as(
        b: &mut Builder,
        name: &str,
        held: &'a Held,
        (axis, halo): (&'a Axis, &'a Halo),
        (first, pairs): (Expr, i32),
        form: Form,
    ) -> Slab<'a> {
        let rows = 2 * (pairs + halo.pairs() as i32);
        let front = b.let_("front", Scalar::I32, first - halo.pairs_before() as i32);
        let above = (front << 1).lt(held.start(1));
        let below = ((front << 1) + rows).gt(held.end(1));
        let at_edge = b.let_("at_edge", Scalar::Bool, above.or(below));
        let samples = b.array(name, held.arith.work, (form.registers(held.columns()) * rows) as u32);
        Slab { held, axis, halo, pairs, front, at_edge, samples, form }
    }

    /// Row pairs, halo included.
    pub fn height(&self) -> i32 {
        self.first() + self.pairs + self.halo.pairs_after() as i32
    }

    /// Index of the first row pair of results, counted from the slab's first.
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
            return b.part("lift_columns", "Lifts the columns of a block.", |b| self.lift_single(b));
        }
        for unit in self.form.units(0..self.held.columns()) {
            b.part("lift_columns", "Lifts two columns of a block.", |b| self.lift_pairs(b, &unit));
        }
    }

    /// Lifts two packed columns, which share registers. It repacks horizontal neighbours into vertical ones.
    fn lift_pairs(&self, b: &mut Builder, unit: &[i32]) {
        let (height, words) = (self.height(), (self.height() + 1) / 2);
        let stacked = b.array("stacked", Scalar::I32, (4 * words) as u32);
        let at = |phase: Phase, column: i32, word: Expr| {
            let first = (2 * phase.parity() as i32 + column) * words;
            (word + first, stacked)
        };
        let get = |(index, array): (Expr, LocalId)| array.at(index);
        let set =
            |b: &mut Builder, (index, array): (Expr, LocalId), value: Expr| b.set(Place::Elem(array, index), value);
        // The two columns of a row.
        let beside = |phase: Phase, k: Expr| self.row(phase, k).word(unit);
        b.unrolled("word", 0, height / 2, 1, |b, m| {
            for phase in PHASES {
                let [upper, lower] = [0, 1].map(|i| beside(phase, (m << 1) + i));
                for column in [0, 1] {
                    let half = 2 * column as u8;
                    set(b, at(phase, column, m), upper.pack_from(half, lower, half));
                }
            }
        });
        if height % 2 == 1 {
            for phase in PHASES {
                let last = beside(phase, (height - 1).into());
                for column in [0, 1] {
                    set(b, at(phase, column, (height / 2).into()), last >> (16 * column));
                }
            }
        }
        for (action, rows) in self.steps() {
            let Some(step) = action.step() else { continue };
            let dots = Dots::of(step).expect("steps are dot products");
            let target = step.target();
            b.comment(format!("columns: {}", crate::describe::step(step)));
            each_word(b, &rows, |b, m, wanted| {
                for column in [0, 1] {
                    let mut read = |j: i32| get(at(target.other(), column, m + j));
                    let value = dots.value(wanted, get(at(target, column, m)), &mut read);
                    set(b, at(target, column, m), value);
                }
            });
        }
        each_word(b, &(self.first()..=self.first() + self.pairs - 1), |b, m, wanted| {
            for phase in PHASES {
                for half in [0, 1] {
                    if wanted != [Wanted::High, Wanted::Low][half as usize] {
                        let [one, other] = [0, 1].map(|column| get(at(phase, column, m)));
                        let row = self.row(phase, (m << 1) + half);
                        row.set_word(b, unit, one.pack_from(2 * half as u8, other, 2 * half as u8));
                    }
                }
            }
        });
    }

    /// Multiplies the image's first and last row, and their reflections, in row pairs `from..to`.
    fn scale_ends(&self, b: &mut Builder, (from, to): (i32, i32), factor: f64) {
        let held = self.held;
        let position = |pair: Expr| (self.front + pair) << 1;
        b.if_(held.has_ends(1, position(from.into()), position(to.into())), |b| {
            let between = held.between_ends(b, 1);
            let after = held.after_end(b, 1, position(from.into()), between);
            b.unrolled("row", from, to, 1, |b, k| {
                for phase in PHASES {
                    let factor = held.end_factor(after.eq_(0), factor);
                    let factor = b.let_("factor", held.arith.work, factor);
                    self.row(phase, k).multiply(b, held.columns(), factor.into());
                    b.set(after, Held::next_after_end(after, between));
                }
            });
        });
    }

    /// Applies each step to the rows whose results are still needed.
    fn lift_single(&self, b: &mut Builder) {
        let all = 0..=self.height() - 1;
        let (first, pairs) = (self.first(), self.pairs);
        if self.held.doubled_ends {
            self.scale_ends(b, (0, self.height()), 2.0);
        }
        let zero = self.held.border == Border::Zero;
        if zero {
            // Rows beyond the border were loaded from inside, and may have been lifted horizontally.
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
        if self.held.doubled_ends {
            self.scale_ends(b, (first, first + pairs), 0.5);
        }
    }

    /// Every step or stage, with the rows of its target or of its first sample.
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
        b.unrolled("row", *rows.start(), rows.end() + 1, 1, |b, k| self.step_row(b, step, k));
    }

    /// A step on a row of its target.
    fn step_row(&self, b: &mut Builder, step: &Step, k: Expr) {
        let target = step.target();
        for c in 0..self.held.columns() {
            let row = self.row(target, k);
            let mut read = |o: i32| self.row(target.other(), k + o).at(c);
            let value = step_value(step, self.held.arith, row.at(c), &mut read);
            b.set(row.place(c), value);
        }
    }

    /// A lattice stage on the pairs that begin in these rows.
    fn stage(&self, b: &mut Builder, stage: &PairStage, rows: RangeInclusive<i32>) {
        b.comment(format!("columns: {}", crate::describe::stage(stage)));
        b.unrolled("row", *rows.start(), rows.end() + 1, 1, |b, k| {
            let pair = [self.row(stage.first, k), self.row(stage.first.other(), k + stage.offset())];
            for c in 0..self.held.columns() {
                let [u, v] = pair.each_ref().map(|row| row.at(c));
                let values = pair_values(stage, self.held.arith, u, v);
                set_pair(b, self.held.arith, pair.each_ref().map(|row| row.place(c)), values);
            }
        });
    }

    /// Applies the border rule to rows beyond the border, up to `reach` positions, for a phase that has just changed.
    fn restore(&self, b: &mut Builder, phase: Phase, rows: RangeInclusive<i32>, reach: i32) {
        let (held, p) = (self.held, phase.parity() as i32);
        if held.border == Border::Extend {
            return;
        }
        let (low, high) = (*rows.start(), *rows.end());
        // Only the first block of a column reaches above the image: by its halo, and by a row that an odd origin leaves
        // out.
        let above = self.first();
        b.if_(self.at_edge, |b| {
            let of_block = |b: &mut Builder, name: &str, index: Expr| b.let_(name, Scalar::I32, index - self.front);
            let first = of_block(b, "first", held.first_index(1, phase));
            let last = of_block(b, "last", held.last_index(1, phase));
            let copy = |b: &mut Builder, to: Expr, from: Expr| {
                for c in 0..held.columns() {
                    b.set(self.row(phase, to).place(c), self.row(phase, from).at(c));
                }
            };
            match held.border {
                Border::Extend | Border::Untouched => {}
                Border::Zero => b.unrolled("row", low, high + 1, 1, |b, k| {
                    b.if_(k.lt(first).or(k.gt(last)), |b| {
                        for c in 0..held.columns() {
                            b.set(self.row(phase, k).place(c), held.arith.zero());
                        }
                    });
                }),
                Border::Edge => {
                    b.unrolled("row", low + 1, high + 1, 1, |b, k| {
                        b.if_(k.gt(last), |b| copy(b, k, k - 1));
                    });
                    let nearest = above.min(high - 1);
                    b.unrolled("beyond", 0, nearest - low + 1, 1, |b, i| {
                        let k = Expr::i32(nearest.into()) - i;
                        b.if_(k.lt(first), |b| copy(b, k, k + 1));
                    });
                }
                Border::Mirror => {
                    // A position is 2·d away from its mirror image. Near ones come first, as small images reflect
                    // twice.
                    let [start, end] = held.centres(1, phase);
                    let front = self.front << 1;
                    let start = b.let_("start", Scalar::I32, start - front);
                    let end = b.let_("end", Scalar::I32, end - front);
                    for d in 1..=reach {
                        b.unrolled("row", low + d, high + 1, 1, |b, k| {
                            let here = ((k << 1) + (p - d)).eq_(end);
                            b.if_(here, |b| copy(b, k, k - d));
                        });
                        b.unrolled("row", low, above.min(high - d) + 1, 1, |b, k| {
                            let here = ((k << 1) + (p + d)).eq_(start);
                            b.if_(here, |b| copy(b, k, k + d));
                        });
                    }
                }
            }
        });
    }
}

/// Runs `body` for all words that hold rows of a range, two in each, with the rows of the range among them.
fn each_word(b: &mut Builder, rows: &RangeInclusive<i32>, body: impl Fn(&mut Builder, Expr, Wanted)) {
    let (from, end) = (*rows.start(), rows.end() + 1);
    if from >= end {
        return;
    }
    if from % 2 == 1 {
        body(b, (from / 2).into(), Wanted::High);
    }
    let (first, last) = ((from + 1) / 2, end / 2);
    if first < last {
        b.unrolled("word", first, last, 1, |b, m| body(b, m, Wanted::Both));
    }
    if end % 2 == 1 {
        body(b, (end / 2).into(), Wanted::Low);
    }
}
