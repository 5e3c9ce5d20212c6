//! Horizontal lifting of a row that a warp holds in registers, C columns a lane.

use super::dots::{Dots, Wanted, join};
use super::{Axis, Border, Form, Lanes, Row};
use crate::action::Action;
use crate::ir::build::Builder;
use crate::ir::{Expr, Lane, LocalId, Scalar};
use crate::schedule::{pair_values, set_pair, step_value};
use lifting_dsl::{PairStage, Phase, Step};
use std::collections::BTreeMap;

/// The horizontal steps of a warp's columns.
pub struct Across<'a> {
    /// The columns.
    pub lanes: &'a Lanes,
    /// The steps.
    pub axis: &'a Axis,
}

impl Across<'_> {
    /// Lifts a row in place. All lanes of the warp take part.
    pub fn lift(&self, b: &mut Builder, row: &Row) {
        b.part("lift_row", "Lifts a row along its length.", |b| self.lift_rows(b, std::slice::from_ref(row)));
    }

    /// Lifts rows in place, step by step: while one row waits for its shuffles, others proceed.
    pub fn lift_all(&self, b: &mut Builder, rows: &[Row]) {
        b.part("lift_rows", "Lifts rows along their length, step by step.", |b| self.lift_rows(b, rows));
    }

    fn lift_rows(&self, b: &mut Builder, rows: &[Row]) {
        if rows.iter().any(|row| row.form != Form::Single) {
            return self.lift_pairs(b, rows);
        }
        if self.lanes.held.border == Border::Zero {
            // Samples beyond the border were loaded, or lifted vertically.
            for phase in [Phase::Even, Phase::Odd] {
                rows.iter().for_each(|row| self.restore(b, phase, row));
            }
        }
        if self.lanes.held.doubled_ends {
            self.scale_ends(b, rows, 2.0);
        }
        let step = |b: &mut Builder, step: &Step| rows.iter().for_each(|row| self.step(b, step, row));
        self.axis.first.iter().for_each(|s| step(b, s));
        for action in &self.axis.actions {
            match action {
                Action::Step(s) => step(b, s),
                Action::Stage(stage) => rows.iter().for_each(|row| self.stage(b, stage, row)),
            }
        }
        self.axis.last.iter().for_each(|s| step(b, s));
        if self.lanes.held.doubled_ends {
            self.scale_ends(b, rows, 0.5);
        }
    }

    /// Multiplies the first and last column of the image, and their reflections.
    fn scale_ends(&self, b: &mut Builder, rows: &[Row], factor: f64) {
        let (held, columns) = (&self.lanes.held, self.lanes.held.columns());
        if let Some([first, last]) = self.lanes.ends {
            // Columns beyond them are not read.
            for (row, (column, is_end)) in rows.iter().flat_map(|row| [(row, (0, first)), (row, (columns - 1, last))]) {
                b.set(row.place(column), row.at(column) * held.end_factor(is_end.into(), factor));
            }
            return;
        }
        let Some([has_ends, bits]) = self.lanes.doubled else { return };
        let is_end = |c: i32| bits.and(1 << c).ne_(0);
        b.if_(has_ends, |b| {
            for (row, c) in rows.iter().flat_map(|row| (0..columns).map(move |c| (row, c))) {
                b.set(row.place(c), row.at(c) * held.end_factor(is_end(c), factor));
            }
        });
    }

    /// Lifts rows of 16-bit integers packed by phase. All steps must be dot products, and the border rule an extension.
    fn lift_pairs(&self, b: &mut Builder, rows: &[Row]) {
        for step in self.axis.actions.iter().filter_map(Action::step) {
            for row in rows {
                debug_assert_eq!(row.form, Form::ByPhase(self.lanes.held.columns()));
                b.comment(format!("row: {}", crate::describe::step(step)));
                self.step_pairs(b, step, row);
            }
        }
    }

    fn step_pairs(&self, b: &mut Builder, step: &Step, row: &Row) {
        let dots = Dots::of(step).expect("steps are dot products");
        let half = self.lanes.held.columns() / 2;
        let registers = half / 2;
        let (target, other) = (step.target(), step.target().other());
        let at = |phase: Phase, register: i32| row.register(phase.parity() as i32 * registers + register);
        // Values of other lanes by register, counted from the lane's first.
        let mut away: BTreeMap<i32, LocalId> = BTreeMap::new();
        let wanted = (0..registers).flat_map(|m| dots.reads().into_iter().map(move |j| m + j));
        for register in wanted.filter(|r| !(0..registers).contains(r)) {
            let (lanes, own) = (register.div_euclid(registers), register.rem_euclid(registers));
            away.entry(register).or_insert_with(|| {
                let side = if lanes < 0 { "left" } else { "right" };
                let lane = if lanes < 0 { Lane::Up(-lanes as u32) } else { Lane::Down(lanes as u32) };
                b.shuffle(&format!("{side}_{}s", other.name()), Scalar::I32, at(other, own), lane)
            });
        }
        if let Some([first, last]) = self.lanes.ends {
            let q = other.parity() as i32;
            for (register, id) in &mut away {
                let at_end = if *register < 0 { first } else { last };
                // The mirror images of the register's two samples. If one is not the lane's own, no step reads it.
                let images =
                    [0, 1].map(|h| self.image(2 * register + h, q)).map(|i| (0..half).contains(&i).then_some(i));
                let Some(some) = images[0].or(images[1]) else { continue };
                let [low, high] = images.map(|i| i.unwrap_or(some)).map(|i| (at(other, i / 2), 2 * (i % 2) as u8));
                let found = at_end.select(join(low, high), *id);
                *id = b.let_("neighbours", Scalar::I32, found);
            }
        }
        for m in 0..registers {
            let mut read = |j: i32| match away.get(&(m + j)) {
                Some(id) => (*id).into(),
                None => at(other, m + j),
            };
            let value = dots.value(Wanted::Both, at(target, m), &mut read);
            row.set_register(b, target.parity() as i32 * registers + m, value);
        }
    }

    /// Index of the mirror image of a sample of phase q beyond the lane at a border. Both count from the lane's first.
    fn image(&self, index: i32, q: i32) -> i32 {
        if index < 0 { -q - index } else { self.lanes.held.columns() - 1 - q - index }
    }

    /// A lattice stage. If two lanes share a pair, each computes its own sample.
    fn stage(&self, b: &mut Builder, stage: &PairStage, row: &Row) {
        let (columns, arith) = (self.lanes.held.columns(), self.lanes.held.arith);
        b.comment(format!("row: {}", crate::describe::stage(stage)));
        // Pairs from column 1 on leave a sample at either end.
        let ends = (stage.offset() == 1).then(|| {
            let left = b.shuffle("left_odd", arith.work, row.at(columns - 1), Lane::Up(1));
            let right = b.shuffle("right_even", arith.work, row.at(0), Lane::Down(1));
            let [_, first] = pair_values(stage, arith, left.into(), row.at(0));
            let [last, _] = pair_values(stage, arith, row.at(columns - 1), right.into());
            [(0, first), (columns - 1, last)]
        });
        for (column, value) in ends.into_iter().flatten() {
            b.set(row.place(column), value);
        }
        for column in (stage.offset()..columns - 1).step_by(2) {
            let values = pair_values(stage, arith, row.at(column), row.at(column + 1));
            set_pair(b, arith, [row.place(column), row.place(column + 1)], values);
        }
    }

    fn step(&self, b: &mut Builder, step: &Step, row: &Row) {
        let half = self.lanes.held.columns() / 2;
        let (p, q) = (step.target().parity() as i32, step.target().other().parity() as i32);
        b.comment(format!("row: {}", crate::describe::step(step)));
        // Values of other lanes of the phase read: (lanes away, element) → value.
        let mut away: BTreeMap<(i32, i32), LocalId> = BTreeMap::new();
        let offsets = step_offsets(step);
        for e in 0..half {
            for o in &offsets {
                let (lanes, element) = ((e + o).div_euclid(half), (e + o).rem_euclid(half));
                if lanes == 0 || away.contains_key(&(lanes, element)) {
                    continue;
                }
                let side = if lanes < 0 { "left" } else { "right" };
                let name = format!("{side}_{}", step.target().other().name());
                let lane = if lanes < 0 { Lane::Up(-lanes as u32) } else { Lane::Down(lanes as u32) };
                let id = b.shuffle(&name, self.lanes.held.arith.work, row.at(2 * element + q), lane);
                away.insert((lanes, element), id);
            }
        }
        if let Some([first, last]) = self.lanes.ends {
            for (&(lanes, element), id) in &mut away {
                // The mirror image of a position of the phase read, counted from the lane's first.
                let index = lanes * half + element;
                let at = if lanes < 0 { first } else { last };
                let found = at.select(row.at(2 * self.image(index, q) + q), *id);
                *id = b.let_("neighbour", self.lanes.held.arith.work, found);
            }
        }
        for e in 0..half {
            let mut read = |o: i32| {
                let (lanes, element) = ((e + o).div_euclid(half), (e + o).rem_euclid(half));
                match away.get(&(lanes, element)) {
                    Some(id) => (*id).into(),
                    None => row.at(2 * element + q),
                }
            };
            let value = step_value(step, self.lanes.held.arith, row.at(2 * e + p), &mut read);
            b.set(row.place(2 * e + p), value);
        }
        // A scaling keeps copies of the border's sample; but a zero may change its sign.
        if !matches!(step, Step::Scale(_)) || self.lanes.held.border == Border::Zero {
            self.restore(b, step.target(), row);
        }
    }

    /// Applies the border rule to columns beyond the border, for a phase that has just changed.
    fn restore(&self, b: &mut Builder, phase: Phase, row: &Row) {
        let lanes = self.lanes;
        if matches!(lanes.held.border, Border::Extend | Border::Untouched) {
            return;
        }
        let (half, p) = (lanes.held.columns() / 2, phase.parity() as i32);
        let position = |index: Expr| (index << 1) + p;
        let first = position(lanes.held.first_index(0, phase));
        let last = position(lanes.held.last_index(0, phase));
        if lanes.held.border == Border::Mirror {
            return b.if_(lanes.at_border, |b| self.mirror(b, phase, row));
        }
        b.if_(lanes.at_border, |b| {
            // The sample at a position of this phase, wherever in the warp it is.
            let broadcast = |b: &mut Builder, name: &str, at: Expr| {
                let offset = b.let_("offset", Scalar::I32, at - lanes.base);
                let mine = b.let_("mine", lanes.held.arith.work, row.at(p));
                for e in 1..half {
                    let here = (offset.and(lanes.held.columns() - 1)).eq_(2 * e + p);
                    b.set(mine, here.select(row.at(2 * e + p), mine));
                }
                let lane = offset >> lanes.held.columns().ilog2() as i32;
                b.shuffle(name, lanes.held.arith.work, mine, Lane::Index(lane))
            };
            let (before, after): (Expr, Expr) = if lanes.held.border == Border::Edge {
                (broadcast(b, "first", first).into(), broadcast(b, "last", last).into())
            } else {
                (lanes.held.arith.zero(), lanes.held.arith.zero())
            };
            for e in 0..half {
                let here = lanes.x + (2 * e + p);
                let kept = here.gt(last).select(after, row.at(2 * e + p));
                b.set(row.place(2 * e + p), here.lt(first).select(before, kept));
            }
        });
    }

    /// Sets columns beyond the border to the mirror images of columns inside, wherever in the warp these are.
    fn mirror(&self, b: &mut Builder, phase: Phase, row: &Row) {
        let lanes = self.lanes;
        let (columns, p) = (lanes.held.columns(), phase.parity() as i32);
        for e in 0..columns / 2 {
            let image = lanes.held.mirrored(0, phase, lanes.x + (2 * e + p));
            let offset = b.let_("offset", Scalar::I32, image - lanes.base);
            let lane = offset >> columns.ilog2() as i32;
            // The needed column of this phase differs from lane to lane.
            for f in 0..columns / 2 {
                let found = b.shuffle("image", lanes.held.arith.work, row.at(2 * f + p), Lane::Index(lane));
                let same = offset.and(columns - 1).eq_(2 * f + p);
                b.set(row.place(2 * e + p), same.select(found, row.at(2 * e + p)));
            }
        }
    }
}

/// Whether every read of a step beyond a border has its mirror image among the lane's own `columns` columns.
pub fn reflects(step: &Step, columns: i32) -> bool {
    let (half, q) = (columns / 2, step.target().other().parity() as i32);
    let image = |index: i32| if index < 0 { -q - index } else { 2 * half - 1 - q - index };
    let is_own = |index: i32| (0..half).contains(&index) || (0..half).contains(&image(index));
    step_offsets(step).into_iter().all(|o| (0..half).all(|e| is_own(e + o)))
}

/// The index offsets that a step reads.
fn step_offsets(step: &Step) -> Vec<i32> {
    match step {
        Step::Integer(s) => s.taps.iter().map(|t| t.offset).collect(),
        Step::Real(s) => s.groups.iter().flat_map(|g| g.offsets.iter().copied()).collect(),
        Step::Scale(_) => Vec::new(),
    }
}
