//! Analysis, as launches: from the finest level to the coarsest.

use super::Lowering;
use crate::choose::{LevelPlan, Stage};
use crate::error::ProgramError;
use crate::list::{List, Region};
use crate::pair::{Pair, Quad, Span};
use crate::pass::{Pass, Sites};
use crate::view::View;
use lifting_dsl::Direction;
use lifting_dsl::geometry::{Layout, split};

impl Lowering<'_> {
    /// Analysis from one box to another, or in place if both are equal.
    pub(crate) fn forward(mut self, source: View, target: View) -> Result<List, ProgramError> {
        let problem = self.cx.problem;
        let shape = problem.geometry.shape();
        let depth = problem.geometry.depth();
        let same = source.array == target.array;
        if depth == 0 {
            if !same {
                self.copy(source, target, shape, &problem.source_shape)?;
            }
            return Ok(self.list);
        }
        let order = self.cx.order(&target, shape);
        let direct = problem.layout == Layout::Mallat && self.cx.suits(&target, shape);
        let whole = if direct { target } else { self.scratch(Region::Whole, self.cx.sample, shape, &order, 0) };
        let (mut low, packs) = (source, self.cx.packs(&source, &whole, shape));
        let parity = self.cx.parity(0, &order);
        if packs && !problem.pads() {
            low = self.scratch(Region::Packed, self.cx.sample, shape, &order, parity);
            self.copy(source, low, shape, shape)?;
        } else if problem.pads() {
            // Decided as if it were packed, which it is if the first level is one pass.
            low = self.cx.copied_room(0, &order, parity);
        }
        let chosen = self.cx.choose_analysis(low, whole, &order)?;
        if problem.pads() {
            low = whole;
            // A pass over both axes reads aligned rows.
            if chosen[0].is_single() || chosen[0].begins_with_both() {
                low = self.scratch(Region::Packed, self.cx.sample, shape, &order, parity);
            }
            self.pad(source, low)?;
        }
        let mut level = 0;
        for chosen in chosen {
            let levels = chosen.levels;
            low = self.analyse(level, chosen, low, whole, &order)?;
            level += levels;
        }
        if !direct {
            self.after();
            self.spread(0, whole, target)?;
        }
        Ok(self.list)
    }

    /// Appends one level of analysis; returns the place of the low band for the next.
    fn analyse(
        &mut self,
        level: u32,
        chosen: LevelPlan,
        from: View,
        whole: View,
        order: &[usize],
    ) -> Result<View, ProgramError> {
        let geometry = &self.cx.problem.geometry;
        let shape = geometry.level_shape(level);
        let origins = geometry.level_origins(level);
        let next = level + chosen.levels;
        let last_level = next == geometry.depth();
        let (single, parts) = (chosen.is_single(), chosen.stages.len());
        let mut from = from;
        if single && from.array == whole.array {
            from = self.copied(level, from, order, self.cx.parity(level, order))?;
        }
        self.list.choices.push(chosen.choice);
        for (i, stage) in chosen.stages.into_iter().enumerate() {
            let last = i + 1 == parts;
            let to = if last { whole } else { self.between(i, parts, &shape, order) };
            // A single-pass level puts its low band where the next level can read it without writing there.
            let low = if single && !last_level { self.low(next, order) } else { to };
            let gain = if i == 0 { self.cx.problem.gain_shift } else { 0 };
            self.after();
            match stage {
                Stage::Axis(axis, way) => {
                    let halves = split(shape[axis], origins[axis]);
                    let high = if halves.high > 0 { to.at(axis, halves.low) } else { to };
                    let parity = (origins[axis] & 1) as usize;
                    let pass = Pass { direction: Direction::Forward, level, axis, extent: &shape, parity, gain, way };
                    self.pass(pass, Sites { signal: from, low, high })?;
                }
                Stage::Launch { axes, order, deep, shape: blocks, chunk, .. } => {
                    let parity_of = |axis: usize| (origins[axis] & 1) as usize;
                    let (parity, deep) = (axes.map(parity_of), deep.map(|axis| (axis, parity_of(axis))));
                    let direction = Direction::Forward;
                    let span = Span::of(blocks, chosen.levels);
                    let pair = Pair { direction, level, axes, order, deep, span, extent: &shape, parity, gain };
                    self.pair(pair, Quad::new(&pair, from, low, to), (blocks, chunk))?;
                }
            }
            from = if last { low } else { to };
        }
        Ok(from)
    }
}
