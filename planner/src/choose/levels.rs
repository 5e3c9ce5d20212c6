//! Plans of all levels of a transform, each for the arrays that it reads and writes.

use super::{LevelPlan, Question};
use crate::context::Context;
use crate::error::ProgramError;
use crate::pair::Quad;
use crate::view::View;
use lifting_dsl::Direction;

impl Context<'_> {
    /// Chooses the plans of all levels of analysis, finest first. Levels are read from `data`, and their bands written
    /// to `whole`.
    pub(crate) fn choose_analysis(
        &self,
        data: View,
        whole: View,
        order: &[usize],
    ) -> Result<Vec<LevelPlan>, ProgramError> {
        let depth = self.problem.geometry.depth();
        let mut all: Vec<LevelPlan> = Vec::new();
        let mut sources = Vec::new();
        let mut from = data;
        for level in 0..depth {
            sources.push(from);
            let copies = from.array == whole.array;
            let question = Question { direction: Direction::Forward, level, order, copies };
            let chosen = self.choose(&question, |cx, parts, part, pair| {
                let single = parts == 1;
                let between = |i: usize| cx.between_room(i, parts, pair.extent, order).0;
                let out = if part + 1 == parts { whole } else { between(part) };
                let low = if single && level + 1 < depth { cx.low_room(level + 1, order).0 } else { out };
                let signal = match part {
                    0 if single && copies => cx.copied_room(level, order, cx.parity(level, order)),
                    0 => from,
                    _ => between(part - 1),
                };
                Quad::new(pair, signal, low, out)
            })?;
            from = if chosen.is_single() { self.low_room(level + 1, order).0 } else { whole };
            all.push(chosen);
        }
        let question = Question { direction: Direction::Forward, level: 0, order, copies: data.array == whole.array };
        self.all_levels(&mut all, &question, &sources, whole)?;
        self.two_levels(&mut all, &question, |cx, pair| {
            let low = if depth > 2 { cx.low_room(2, order).0 } else { whole };
            Quad::new(pair, data, low, whole)
        })?;
        Ok(all)
    }

    /// Chooses the plans of the levels of synthesis from `level` on, finest first. Bands are read from `whole`, and the
    /// last result written to `result`.
    pub(crate) fn choose_synthesis(
        &self,
        level: u32,
        whole: View,
        result: View,
        order: &[usize],
    ) -> Result<Vec<LevelPlan>, ProgramError> {
        let depth = self.problem.geometry.depth();
        let (mut all, mut targets) = (Vec::new(), Vec::new());
        for j in level..depth {
            let to = if j == level { result } else { self.low_room(j, order).0 };
            targets.push(to);
            let copies = to.array == whole.array;
            let question = Question { direction: Direction::Inverse, level: j, order, copies };
            all.push(self.choose(&question, |cx, parts, part, pair| {
                let between = |i: usize| cx.between_room(i, parts, pair.extent, order).0;
                let turn = parts - 1 - part;
                let signal = if turn + 1 == parts { to } else { between(turn) };
                let bands = match turn {
                    0 if parts == 1 && copies => cx.copied_room(j, order, 0),
                    0 => whole,
                    _ => between(turn - 1),
                };
                let low = if turn > 0 || j + 1 == depth { bands } else { cx.low_room(j + 1, order).0 };
                Quad::new(pair, signal, low, bands)
            })?);
        }
        let question = Question { direction: Direction::Inverse, level, order, copies: result.array == whole.array };
        self.all_levels(&mut all, &question, &targets, whole)?;
        self.two_levels(&mut all, &question, |cx, pair| {
            let low = if level + 2 < depth { cx.low_room(level + 2, order).0 } else { whole };
            Quad::new(pair, result, low, whole)
        })?;
        Ok(all)
    }
}
