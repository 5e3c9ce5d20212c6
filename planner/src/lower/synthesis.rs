//! Synthesis, as launches: from the coarsest level to the finest requested one.

use super::{BandPlace, Lowering};
use crate::choose::{LevelPlan, Stage};
use crate::error::ProgramError;
use crate::list::{List, Region};
use crate::pair::{Pair, Quad, Span};
use crate::pass::{Pass, Sites};
use crate::view::View;
use lifting_dsl::Direction;
use lifting_dsl::geometry::{Layout, split};

impl Lowering<'_> {
    /// Synthesis from the coarsest level to `level`.
    pub(crate) fn inverse(mut self, level: u32, source: View, target: View) -> Result<List, ProgramError> {
        let problem = self.cx.problem;
        let geometry = &problem.geometry;
        let (depth, shape) = (geometry.depth(), geometry.level_shape(level));
        let pads = level == 0 && problem.pads();
        let wanted = if pads { problem.source_shape.clone() } else { shape.clone() };
        let same = source.array == target.array;
        if level == depth {
            if !same {
                // The low band is a box of its own in either layout.
                let from = BandPlace::from(&geometry.low_band(level, problem.layout)).within(source);
                self.copy(from, target, &wanted, &shape)?;
            }
            return Ok(self.list);
        }
        let full = geometry.shape();
        let order = self.cx.order(&source, full);
        let direct = problem.layout == Layout::Mallat && self.cx.suits(&source, full);
        let whole = if direct { source } else { self.scratch(Region::Whole, self.cx.sample, full, &order, 0) };
        if !direct {
            self.gather(level, source, whole)?;
        }
        // Threads run along the same axis everywhere; the low band's own strides decide where its box is flat.
        let fits = self.cx.suits(&target, &wanted)
            && (wanted.iter().all(|&n| n <= 1)
                || self.cx.threads_axis(&target, &wanted) == self.cx.threads_axis(&whole, full));
        let staged = pads || !fits;
        let parity = self.cx.parity(level, &order);
        let result = if staged { self.scratch(Region::Packed, self.cx.sample, &shape, &order, parity) } else { target };

        let chosen = self.cx.choose_synthesis(level, whole, result, &order)?;
        let mut low = whole;
        let all: Vec<(u32, &LevelPlan)> = (level..depth).zip(&chosen).filter(|(_, chosen)| chosen.levels > 0).collect();
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
        Ok(self.list)
    }

    /// Appends one level of synthesis: the low band of level `level + 1` and the level's bands in `whole` become the
    /// low band of `level`.
    fn synthesise(
        &mut self,
        level: u32,
        chosen: &LevelPlan,
        low: View,
        whole: View,
        to: View,
        order: &[usize],
    ) -> Result<(), ProgramError> {
        let geometry = &self.cx.problem.geometry;
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
            let gain = if last { self.cx.problem.gain_shift } else { 0 };
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
        let origins = self.cx.problem.geometry.level_origins(level);
        let direction = Direction::Inverse;
        match *stage {
            Stage::Axis(axis, way) => {
                let halves = split(extent[axis], origins[axis]);
                let parity = (origins[axis] & 1) as usize;
                let high = if halves.high > 0 { bands.at(axis, halves.low) } else { bands };
                let pass = Pass { direction, level, axis, extent, parity, gain, way };
                self.pass(pass, Sites { signal: to, low, high }.at(along, index))
            }
            Stage::Launch { axes, order, deep, shape: blocks, chunk, .. } => {
                let parity_of = |axis: usize| (origins[axis] & 1) as usize;
                let (parity, deep) = (axes.map(parity_of), deep.map(|axis| (axis, parity_of(axis))));
                let span = Span::of(blocks, self.cx.problem.geometry.depth() - level);
                let pair = Pair { direction, level, axes, order, deep, span, extent, parity, gain };
                self.pair(pair, Quad::new(&pair, to, low, bands).at(along, index), (blocks, chunk))
            }
        }
    }
}
