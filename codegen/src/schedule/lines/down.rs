//! Vertical lifting as a delay line: the sliding window, held in registers.
//!
//! Slot j of a phase holds the row of that phase in pair `front − j`. Step s works on slot B + lag/2 and reads slots of
//! the other phase. When the front advances, every row moves up one slot. Rows that no later step reads are dead, and
//! cost no register.

use super::{Axis, Border, Dots, Form, Held, Row, zeros};
use crate::action::Action;
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Place};
use crate::schedule::{pair_values, set_pair, step_value};
use crate::window::Window;
use lifting_dsl::{PairStage, Phase, Step};

/// Number of slots of each phase, enough for the results and every read.
fn depths(actions: &[Action], window: &Window, border: Border) -> [i32; 2] {
    let slots = window.slots();
    let results = window.delay() as i32;
    let mut deepest = [results; 2];
    for (action, slot) in actions.iter().zip(&slots) {
        match action {
            Action::Step(step) => {
                let p = step.target().parity() as usize;
                deepest[p] = deepest[p].max(slot + i32::from(border == Border::Edge));
                if let Some((lo, _)) = step.index_support() {
                    deepest[1 - p] = deepest[1 - p].max(slot - lo);
                }
            }
            Action::Stage(stage) => deepest = [deepest[0].max(*slot), deepest[1].max(slot + stage.offset())],
        }
    }
    deepest.map(|d| d + 1)
}

/// The delay line of the columns that a thread holds.
pub struct DelayLine<'a> {
    held: &'a Held,
    axis: &'a Axis,
    /// Axis along which the window slides (1: y, 2: z).
    along: usize,
    slots: Vec<i32>,
    depths: [i32; 2],
    rows: [LocalId; 2],
    form: Form,
    /// The words that the step of each action reads, if it reads words.
    words: Vec<Option<Words>>,
}

/// Reads of a step of dot products: words of two rows, for each column. The word of slot j has that row's sample in its
/// low half and the next row's, from slot j − 1, in its high half. So a product covers two samples. A step makes its
/// youngest words when it is applied; the older ones remain from before.
struct Words {
    array: LocalId,
    /// Phase of the rows.
    phase: Phase,
    /// Slots of words.
    youngest: i32,
    oldest: i32,
    columns: i32,
}

impl Words {
    /// Words of a step applied `slot` pairs behind the front, if words suit it.
    fn declare(b: &mut Builder, held: &Held, action: &Action, slot: i32) -> Option<Words> {
        let step = action.step()?;
        let words = Dots::of(step)?.words();
        let [youngest, oldest] = [words.first()?, words.last()?].map(|(offset, _)| slot - offset);
        let columns = held.columns();
        let array = zeros(b, "words", held.arith, (oldest + 1 - youngest) * columns);
        Some(Words { array, phase: step.target().other(), youngest, oldest, columns })
    }

    fn index(&self, slot: i32, column: Expr) -> Expr {
        column + (slot - self.youngest) * self.columns
    }

    fn at(&self, slot: i32, column: Expr) -> Expr {
        self.array.at(self.index(slot, column))
    }

    /// Registers that move with the window.
    fn registers(&self) -> i32 {
        (self.oldest + 1 - self.youngest) * self.columns
    }
}

impl<'a> DelayLine<'a> {
    /// Values that a thread holds, `of_row` for each row: the slots that live from one pair to the next, and the pair
    /// at the front.
    pub fn values(actions: &[Action], window: &Window, border: Border, of_row: u32) -> i64 {
        let [even, odd] = depths(actions, window, border);
        i64::from(even + odd) * i64::from(of_row)
    }

    /// Declares the registers and sets them to zero. The window slides along an axis (1: y, 2: z).
    pub fn declare(b: &mut Builder, held: &'a Held, axis: &'a Axis, window: &Window, along: usize) -> DelayLine<'a> {
        DelayLine::declare_as(b, held, axis, (window, along), Form::Single)
    }

    /// [`DelayLine::declare`] for packed rows: all steps must be dot products, and the border rule an extension.
    pub fn declare_as(
        b: &mut Builder,
        held: &'a Held,
        axis: &'a Axis,
        (window, along): (&Window, usize),
        form: Form,
    ) -> DelayLine<'a> {
        debug_assert!(form == Form::Single || axis.is_dots() && held.border == Border::Extend);
        let depths = depths(&axis.actions, window, held.border);
        let columns = form.registers(held.columns());
        b.comment("the window: row j of even and odd is j pairs behind the front");
        let rows = [Phase::Even, Phase::Odd]
            .map(|phase| zeros(b, phase.name(), held.arith, depths[phase.parity() as usize] * columns));
        let slots = window.slots();
        let words = axis.actions.iter().zip(&slots).map(|(action, slot)| match form {
            Form::Single => None,
            _ => Words::declare(b, held, action, *slot),
        });
        let words = words.collect();
        DelayLine { held, axis, along, slots, depths, rows, form, words }
    }

    /// The row of a phase `slot` pairs behind the front.
    pub fn row(&self, phase: Phase, slot: i32) -> Row {
        Row { array: self.rows[phase.parity() as usize], first: (slot * self.registers()).into(), form: self.form }
    }

    /// Registers of a row.
    fn registers(&self) -> i32 {
        self.form.registers(self.held.columns())
    }

    /// Applies the scalings that precede all lifting, on the pair at the front.
    pub fn scale_first(&self, b: &mut Builder, front: Expr) {
        if self.held.doubled_ends {
            let rows = [Phase::Even, Phase::Odd].map(|phase| (phase, self.row(phase, 0)));
            self.scale_ends(b, &rows, front, 2.0);
        }
        for step in &self.axis.first {
            self.apply(b, step, 0);
        }
        if self.held.border == Border::Zero {
            // Rows beyond the border were loaded from inside, and may have been lifted horizontally.
            for phase in [Phase::Even, Phase::Odd] {
                self.restore(b, phase, 0, front);
            }
        }
    }

    /// Applies every lifting step, or stage, to the pair that it can finish now.
    pub fn lift(&self, b: &mut Builder, front: Expr) {
        b.part("lift_pair", "Runs all steps along columns, each on the row pair that it can finish now.", |b| {
            self.lift_pair(b, front);
        });
    }

    fn lift_pair(&self, b: &mut Builder, front: Expr) {
        let mut before: Option<&Words> = None;
        for ((action, slot), words) in self.axis.actions.iter().zip(&self.slots).zip(&self.words) {
            b.comment(format!("columns, {slot} pairs behind the front: {}", action.describe()));
            match action {
                Action::Step(step) => {
                    match self.form {
                        Form::Single => self.apply(b, step, *slot),
                        _ => self.apply_pairs(b, step, *slot, (words.as_ref(), before)),
                    }
                    self.restore(b, step.target(), *slot, front - *slot);
                }
                Action::Stage(stage) => self.turn(b, stage, *slot),
            }
            before = words.as_ref();
        }
    }

    /// A stage on the even row of a slot and the neighbouring odd row.
    fn turn(&self, b: &mut Builder, stage: &PairStage, slot: i32) {
        b.unrolled("c", 0, self.held.columns(), 1, |b, c| {
            let even = self.element(Phase::Even, slot, c);
            let odd = self.element(Phase::Odd, slot + stage.offset(), c);
            let pair = match stage.first {
                Phase::Even => [even, odd],
                Phase::Odd => [odd, even],
            };
            let [u, v] = pair.each_ref().map(|(array, index)| array.at(*index));
            let values = pair_values(stage, self.held.arith, u, v);
            set_pair(b, self.held.arith, pair.map(|(array, index)| Place::Elem(array, index)), values);
        });
    }

    fn element(&self, phase: Phase, slot: i32, column: Expr) -> (LocalId, Expr) {
        (self.rows[phase.parity() as usize], column + slot * self.registers())
    }

    fn value(&self, phase: Phase, slot: i32, column: Expr) -> Expr {
        let (array, index) = self.element(phase, slot, column);
        array.at(index)
    }

    fn apply(&self, b: &mut Builder, step: &Step, slot: i32) {
        let target = step.target();
        b.unrolled("c", 0, self.registers(), 1, |b, c| {
            let mut read = |o: i32| self.value(target.other(), slot - o, c);
            let value = step_value(step, self.held.arith, self.value(target, slot, c), &mut read);
            let (array, index) = self.element(target, slot, c);
            b.set(Place::Elem(array, index), value);
        });
    }

    /// Applies a step of dot products to the rows of a slot. It reads its words, if it has them. The rows themselves
    /// may be in the words of the previous step.
    fn apply_pairs(&self, b: &mut Builder, step: &Step, slot: i32, (words, before): (Option<&Words>, Option<&Words>)) {
        let (target, dots) = (step.target(), Dots::of(step).expect("steps are dot products"));
        let in_words = before.filter(|w| w.phase == target && (w.youngest..=w.oldest).contains(&slot));
        if let Some(words) = words {
            self.make_youngest(b, words);
        }
        b.unrolled("c", 0, self.registers(), 1, |b, c| {
            let column = |half: usize| c * 2 + half as i32;
            let old = [0, 1].map(|half| match in_words {
                Some(words) => (words.at(slot, column(half)), 0),
                None => (self.value(target, slot, c), half),
            });
            let terms = [0, 1].map(|half| match words {
                Some(words) => {
                    let read = |(o, weights)| (words.at(slot - o, column(half)), weights);
                    dots.words().into_iter().map(read).collect()
                }
                None => {
                    let read = |(o, weights)| (self.value(target.other(), slot - o, c), weights);
                    dots.line(half).into_iter().map(read).collect()
                }
            });
            let (array, index) = self.element(target, slot, c);
            b.set(Place::Elem(array, index), dots.pair(old, terms));
        });
    }

    /// Makes the words of the row that a step reads for the first time, and of the row before it.
    fn make_youngest(&self, b: &mut Builder, words: &Words) {
        let youngest = words.youngest;
        b.unrolled("c", 0, self.registers(), 1, |b, c| {
            let [first, next] = [youngest, youngest - 1].map(|slot| self.value(words.phase, slot, c));
            for half in 0..2 {
                let column = c * 2 + half;
                let (first, byte) = match youngest < words.oldest {
                    true => (words.at(youngest + 1, column), 2),
                    false => (first, 2 * half as u8),
                };
                let word = first.pack_from(byte, next, 2 * half as u8);
                b.set(Place::Elem(words.array, words.index(youngest, column)), word);
            }
        });
    }

    /// Applies the border rule to rows beyond the border, after a row of index `k` has changed.
    fn restore(&self, b: &mut Builder, phase: Phase, slot: i32, k: Expr) {
        let columns = self.held.columns();
        let (first, last) = (self.held.first_index(self.along, phase), self.held.last_index(self.along, phase));
        let copy = |b: &mut Builder, to: i32, value: &dyn Fn(Expr) -> Expr| {
            b.unrolled("c", 0, columns, 1, |b, c| {
                let (array, index) = self.element(phase, to, c);
                b.set(Place::Elem(array, index), value(c));
            });
        };
        let slot_value = |from: i32| move |c: Expr| self.value(phase, from, c);
        match self.held.border {
            // Walks hold no mirror images of rows and are not used with that rule.
            Border::Extend | Border::Mirror | Border::Untouched => {}
            Border::Zero => {
                let zero = self.held.arith.zero();
                b.if_(k.lt(first).or(k.gt(last)), |b| copy(b, slot, &|_| zero));
            }
            Border::Edge => {
                b.if_(k.gt(last), |b| copy(b, slot, &slot_value(slot + 1)));
                b.if_(k.eq_(first), |b| {
                    for older in slot + 1..self.depths[phase.parity() as usize] {
                        copy(b, older, &slot_value(slot));
                    }
                });
            }
        }
    }

    /// Multiplies the first and last row, and their reflections, among the rows of pair k.
    fn scale_ends(&self, b: &mut Builder, rows: &[(Phase, Row)], k: Expr, factor: f64) {
        let position = || k << 1;
        b.if_(self.held.has_ends(self.along, position(), position() + 2), |b| {
            let between = self.held.between_ends(b, self.along);
            for (phase, row) in rows {
                let position = position() + phase.parity() as i32;
                let after = self.held.after_end(b, self.along, position, between);
                let factor = self.held.end_factor(after.eq_(0), factor);
                let factor = b.let_("factor", self.held.arith.work, factor);
                row.multiply(b, self.held.columns(), factor.into());
            }
        });
    }

    /// Copies the finished row of a phase in pair k, with its last scaling, into a separate array.
    pub fn result(&self, b: &mut Builder, (phase, k): (Phase, Expr), slot: i32, into: LocalId) {
        let scale = self.axis.last.iter().filter(|s| s.target() == phase);
        b.unrolled("c", 0, self.registers(), 1, |b, c| {
            let value = scale.fold(self.value(phase, slot, c), |value, step| {
                step_value(step, self.held.arith, value, &mut |_| unreachable!("a scaling reads nothing else"))
            });
            b.set(Place::Elem(into, c), value);
        });
        if self.held.doubled_ends {
            self.scale_ends(b, &[(phase, Row::single(into, 0))], k, 0.5);
        }
    }

    /// Advances the front: every row moves up one slot.
    pub fn shift(&self, b: &mut Builder) {
        b.comment("advance the front");
        b.part("advance", "Moves every row of the window up one slot.", |b| self.advance(b));
    }

    fn advance(&self, b: &mut Builder) {
        let columns = self.registers();
        let rows = self.rows.into_iter().zip(self.depths).map(|(array, depth)| (array, depth * columns, columns));
        let words = self.words.iter().flatten().map(|words| (words.array, words.registers(), words.columns));
        for (array, len, columns) in rows.chain(words).filter(|(_, len, columns)| len > columns) {
            // From the oldest to the youngest.
            b.unrolled("i", 0, len - columns, 1, |b, i| {
                let to = Expr::i32(i64::from(len) - 1) - i;
                let from = to - columns;
                b.set(Place::Elem(array, to), array.at(from));
            });
        }
    }
}
