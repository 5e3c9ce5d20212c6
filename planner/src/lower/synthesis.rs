//! Synthesis, as launches: from the coarsest level to the finest requested one.

use super::{Lowering, Place};
use crate::choose::{Chosen, Question, Stage};
use crate::error::ProgramError;
use crate::list::{List, Region};
use crate::pair::{Pair, Quad, Span};
use crate::pass::{Pass, Sites};
use crate::view::View;
use lifting_codegen::schedule::Direction;
use lifting_dsl::geometry::{Layout, split};

impl Lowering<'_> {
    /// Synthesis from the coarsest level to `level`.
    pub(crate) fn inverse(&mut self, level: u32, source: View, target: View) -> Result<List, ProgramError> {
        self.list = List::default();
        self.after();
        let problem = self.problem;
        let geometry = &problem.geometry;
        let (depth, shape) = (geometry.depth(), geometry.level_shape(level));
        let pads = level == 0 && problem.pads();
        let wanted = if pads { problem.source_shape.clone() } else { shape.clone() };
        let same = source.array == target.array;
        if level == depth {
            if !same {
                // The low band is a box of its own in either layout.
                let from = Place::from(&geometry.low_band(level, problem.layout)).within(source);
                self.copy(from, target, &wanted, &shape)?;
            }
            return Ok(std::mem::take(&mut self.list));
        }
        let full = geometry.shape();
        let order = self.order(&source, full);
        let direct = problem.layout == Layout::Mallat && self.suits(&source, full);
        let whole = if direct { source } else { self.scratch(Region::Whole, self.sample, full, &order, 0) };
        if !direct {
            self.gather(level, source, whole)?;
        }
        // Threads run along the same axis everywhere; the low band's own strides decide where its box is flat.
        let fits = self.suits(&target, &wanted)
            && (wanted.iter().all(|&n| n <= 1)
                || self.threads_axis(&target, &wanted) == self.threads_axis(&whole, full));
        let staged = pads || !fits;
        let parity = self.parity(level, &order);
        let result = if staged { self.scratch(Region::Packed, self.sample, &shape, &order, parity) } else { target };

        let chosen = self.choose_synthesis(level, whole, result, &order)?;
        let mut low = whole;
        let all: Vec<(u32, &Chosen)> = (level..depth).zip(&chosen).filter(|(_, chosen)| chosen.levels > 0).collect();
        for (i, &(j, chosen_j)) in all.iter().enumerate().rev() {
            // A single-pass level neither writes an array that it reads nor leaves its result where the next one
            // writes. A pass over both axes reads and writes aligned rows.
            let writes_rows = chosen_j.is_single() || chosen_j.begins_with_both();
            let above = i.checked_sub(1).map(|i| all[i].1);
            let on_its_way = above.is_some_and(|c| c.is_single() || c.ends_with_both() || writes_rows);
            let to = if on_its_way { self.low(j, &order) } else { result };
            self.synthesise(j, chosen_j, low, whole, to, &order)?;
            low = to;
        }
        self.list.choices = chosen.into_iter().map(|c| c.choice).collect();
        if staged {
            self.after();
            match pads {
                true => self.crop(result, target)?,
                false => self.copy(result, target, &wanted, &shape)?,
            }
        }
        Ok(std::mem::take(&mut self.list))
    }

    /// The schedules of the levels from `level` on, finest first.
    fn choose_synthesis(
        &mut self,
        level: u32,
        whole: View,
        result: View,
        order: &[usize],
    ) -> Result<Vec<Chosen>, ProgramError> {
        let depth = self.problem.geometry.depth();
        let (mut all, mut targets) = (Vec::new(), Vec::new());
        for j in level..depth {
            let to = if j == level { result } else { self.low_room(j, order).0 };
            targets.push(to);
            let copies = to.array == whole.array;
            let question = Question { direction: Direction::Inverse, level: j, order, copies };
            all.push(self.choose(&question, |lowering, parts, part, pair| {
                let between = |i: usize| lowering.between_room(i, parts, pair.extent, order).0;
                let turn = parts - 1 - part;
                let signal = if turn + 1 == parts { to } else { between(turn) };
                let bands = match turn {
                    0 if parts == 1 && copies => lowering.copied_room(j, order, 0),
                    0 => whole,
                    _ => between(turn - 1),
                };
                let low = if turn > 0 || j + 1 == depth { bands } else { lowering.low_room(j + 1, order).0 };
                Quad::new(pair, signal, low, bands)
            })?);
        }
        let question = Question { direction: Direction::Inverse, level, order, copies: result.array == whole.array };
        self.all_levels(&mut all, &question, &targets, whole)?;
        self.two_levels(&mut all, &question, |lowering, pair| {
            let low = if level + 2 < depth { lowering.low_room(level + 2, order).0 } else { whole };
            Quad::new(pair, result, low, whole)
        })?;
        Ok(all)
    }

    /// Appends one level of synthesis: the low band of level `level + 1` and the level's bands in `whole` become the
    /// low band of `level`.
    fn synthesise(
        &mut self,
        level: u32,
        chosen: &Chosen,
        low: View,
        whole: View,
        to: View,
        order: &[usize],
    ) -> Result<(), ProgramError> {
        let geometry = &self.problem.geometry;
        let shape = geometry.level_shape(level);
        let next = geometry.level_shape(level + 1);
        let axes = geometry.axes_at(level);
        let parts = chosen.stages.len();
        let (mut low, mut whole) = (low, whole);
        if parts == 1 && whole.array == to.array {
            let beside = low.array != whole.array;
            whole = self.copied(level, whole, order, 0)?;
            low = if beside { low } else { whole };
        }
        let mut from = whole;
        for (i, stage) in chosen.stages.iter().rev().enumerate() {
            let last = i + 1 == parts;
            let to = if last { to } else { self.between(i, parts, &shape, order) };
            let gain = if last { self.problem.gain_shift } else { 0 };
            self.after();
            // The band low along all axes comes from the coarser level, all others from the coefficients.
            let mut extent = shape.clone();
            if i == 0 && low.array != whole.array {
                let others = axes.iter().filter(|axis| match stage {
                    Stage::Axis(own, _) => *axis != own,
                    Stage::Launch { axes: own, deep, .. } => !own.contains(axis) && deep != &Some(**axis),
                });
                for &other in others {
                    let mut rest = extent.clone();
                    rest[other] = shape[other] - next[other];
                    if rest[other] > 0 {
                        let at = (other, next[other]);
                        self.synthesise_part(level, stage, gain, &rest, at, (from, from, to))?;
                    }
                    extent[other] = next[other];
                }
                self.synthesise_part(level, stage, gain, &extent, (axes[0], 0), (low, from, to))?;
            } else {
                self.synthesise_part(level, stage, gain, &extent, (axes[0], 0), (from, from, to))?;
            }
            from = to;
        }
        Ok(())
    }

    /// Appends a stage of synthesis on a part of the level that begins further along an axis.
    fn synthesise_part(
        &mut self,
        level: u32,
        stage: &Stage,
        gain: u32,
        extent: &[usize],
        (along, index): (usize, usize),
        (low, bands, to): (View, View, View),
    ) -> Result<(), ProgramError> {
        let origins = self.problem.geometry.level_origins(level);
        let direction = Direction::Inverse;
        match *stage {
            Stage::Axis(axis, way) => {
                let halves = split(extent[axis], origins[axis]);
                let parity = (origins[axis] & 1) as usize;
                let high = if halves.high > 0 { bands.at(axis, halves.low) } else { bands };
                self.set_wavelet(axis, level);
                let pass = Pass { direction, level, axis, extent, parity, gain, way };
                self.pass(pass, Sites { signal: to, low, high }.at(along, index))
            }
            Stage::Launch { axes, order, deep, shape: blocks, chunk, .. } => {
                let parity_of = |axis: usize| (origins[axis] & 1) as usize;
                let (parity, deep) = (axes.map(parity_of), deep.map(|axis| (axis, parity_of(axis))));
                let span = Span::of(blocks, self.problem.geometry.depth() - level);
                let pair = Pair { direction, level, axes, order, deep, span, extent, parity, gain };
                self.pair(pair, Quad::new(&pair, to, low, bands).at(along, index), (blocks, chunk))
            }
        }
    }
}
