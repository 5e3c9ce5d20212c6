//! Several levels in one launch: two at a time, or all that are left, wherever that is predicted to be faster.

use super::ways::Built;
use super::{Chosen, Question, Scheduled, Stage, innermost, outdated};
use crate::error::ProgramError;
use crate::kernels::Only;
use crate::lower::Lowering;
use crate::model::Cost;
use crate::pair::{Pair, Quad, Span};
use crate::recipe::{Candidate, Choice, Reason, Refused, Together};
use crate::schedule::{Schedule, Way};
use crate::view::View;
use lifting_codegen::schedule::level::Order;
use lifting_codegen::schedule::{Direction, Extent, Shape};

/// Several levels in one launch.
pub(super) struct Merged {
    pub stage: Stage,
    pub shape: Shape,
    pub cost: Cost,
    /// All shapes that could, and what wisdom calls the levels.
    pub together: Together,
    /// Whether it was measured to be faster than the levels one by one, if it was measured.
    pub measured: Option<bool>,
    /// What was measured to be fastest, and cannot be.
    pub refused: Option<Refused>,
}

impl Lowering<'_> {
    /// Takes the first two of the levels that were chosen, finest first, in one launch, if that is predicted to be
    /// faster, or asked for. `question` is of the first; `quad` says where the launch would read and write.
    pub(crate) fn two_levels(
        &mut self,
        chosen: &mut [Chosen],
        question: &Question,
        quad: impl Fn(&Self, &Pair) -> Quad,
    ) -> Result<(), ProgramError> {
        let schedules: Vec<_> = self.schedules(Extent::TwoLevels).collect();
        schedules.into_iter().try_for_each(|schedule| self.two_levels_by(schedule, chosen, question, &quad))
    }

    /// The same by one schedule.
    fn two_levels_by(
        &mut self,
        schedule: Scheduled,
        chosen: &mut [Chosen],
        question: &Question,
        quad: &impl Fn(&Self, &Pair) -> Quad,
    ) -> Result<(), ProgramError> {
        let Question { direction, level, .. } = *question;
        let Some(asked) = self.merges(schedule, direction) else { return Ok(()) };
        if chosen.iter().take(2).any(|chosen| chosen.levels != 1) {
            // A launch for more levels takes these; what is measured may be another.
            if let (Ok(mut merged), [first, ..]) = (self.two_merged(question, schedule, quad), chosen) {
                first.note(&mut merged);
            }
            return Ok(());
        }
        let made = self
            .two_merged(question, schedule, quad)
            .and_then(|merged| self.make(direction, &[merged.stage]).map(|()| merged).map_err(|e| e.to_string()));
        let mut merged = match made {
            Ok(found) => found,
            Err(reason) if asked && !self.lenient => {
                let schedule = Schedule::Launch(schedule);
                return Err(ProgramError::Refused { schedule, direction, level: level + 1, reason });
            }
            Err(reason) => {
                if let [first, _, ..] = chosen {
                    first.choice.refused.push(Refused { schedule: Schedule::Launch(schedule), reason });
                }
                return Ok(());
            }
        };
        let levels = &mut chosen[..2];
        levels[0].note(&mut merged);
        let follows = direction == Direction::Inverse && level + 2 < self.problem.geometry.depth();
        let early = if follows { self.model().machine.constants().launch.early_load_gain } else { 0.0 };
        let is_faster = merged.measured.unwrap_or_else(|| merged.cost.time < self.apart(levels, level) - early);
        self.merge(levels, level, merged, asked || is_faster);
        Ok(())
    }

    /// Takes the last of the levels that were chosen, finest first, in one launch, as many as that is predicted to gain
    /// most, if anything; or all that it can, if that is asked for. `question` is of the first of them, `signals` are
    /// what each analyses, or synthesis leads to; `whole` has the bands.
    pub(crate) fn all_levels(
        &mut self,
        chosen: &mut [Chosen],
        question: &Question,
        signals: &[View],
        whole: View,
    ) -> Result<(), ProgramError> {
        let schedules: Vec<_> = self.schedules(Extent::AllLevels).collect();
        schedules.into_iter().try_for_each(|schedule| self.all_levels_by(schedule, chosen, question, (signals, whole)))
    }

    /// The same by one schedule.
    fn all_levels_by(
        &mut self,
        schedule: Scheduled,
        chosen: &mut [Chosen],
        question: &Question,
        (signals, whole): (&[View], View),
    ) -> Result<(), ProgramError> {
        let Question { direction, level, order, .. } = *question;
        let Some(asked) = self.merges(schedule, direction) else { return Ok(()) };
        let mut found: Vec<(usize, f64, Merged)> = Vec::new();
        // Of the first level where it is asked for, of the last where it would have been taken.
        let mut refusal = None;
        for (i, signal) in signals.iter().enumerate() {
            let level = level + i as u32;
            let question = Question { direction, level, order, copies: signal.array == whole.array };
            match self.all_merged(&question, schedule, *signal, whole) {
                Ok(mut merged) => {
                    chosen[i].note(&mut merged);
                    found.push((i, self.apart(&chosen[i..], level) - merged.cost.time, merged));
                }
                Err(_) if asked && refusal.is_some() => {}
                Err(reason) => refusal = Some((i, reason)),
            }
        }
        if !asked {
            // What was measured to gain stands above what is predicted to, and what was measured not to below; of
            // equals the first stays first.
            let rank = |merged: &Merged| merged.measured.map_or(1, |gains| if gains { 2 } else { 0 });
            found.sort_by(|(_, a, one), (_, b, other)| rank(other).cmp(&rank(one)).then(b.total_cmp(a)));
        }
        for (i, gain, merged) in found {
            let takes = asked || merged.measured.unwrap_or(gain > 0.0);
            // A kernel is made for what is taken.
            match if takes { self.make(direction, &[merged.stage]) } else { Ok(()) } {
                Ok(()) => {
                    self.merge(&mut chosen[i..], level + i as u32, merged, takes);
                    return Ok(());
                }
                Err(e) => refusal = Some((i, e.to_string())),
            }
        }
        match refusal {
            Some((i, reason)) if asked && !self.lenient => {
                let schedule = Schedule::Launch(schedule);
                Err(ProgramError::Refused { schedule, direction, level: level + 1 + i as u32, reason })
            }
            Some((i, reason)) => {
                chosen[i].choice.refused.push(Refused { schedule: Schedule::Launch(schedule), reason });
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Whether a schedule for several levels was asked for, or is being measured; `None` where it is not to be
    /// considered.
    fn merges(&self, schedule: Scheduled, direction: Direction) -> Option<bool> {
        let (tuning, schedule) = (self.kernels.tuning, Schedule::Launch(schedule));
        match tuning.only {
            Some(Only::Way(only, way)) => (only == direction && way.schedule() == schedule).then_some(true),
            Some(Only::Apart) => None,
            None if tuning.schedule == Schedule::Auto => Some(false),
            None => (tuning.schedule == schedule).then_some(true),
        }
    }

    /// What levels take that are launched one by one, in microseconds, as predicted: what was measured is no
    /// comparison. `level` is the first.
    fn apart(&self, chosen: &[Chosen], level: u32) -> f64 {
        let fastest = |choice: &Choice| {
            let all = choice.others.iter().chain([&choice.taken]);
            all.map(|candidate| candidate.time).fold(f64::INFINITY, f64::min)
        };
        chosen.iter().zip(level..).map(|(chosen, level)| fastest(&chosen.choice) * self.copy_of(level)).sum()
    }

    /// What copying a level takes, in microseconds.
    fn copy_of(&self, level: u32) -> f64 {
        let samples = self.problem.geometry.level_shape(level).iter().product();
        self.model().copy(samples).time
    }

    /// Gives levels to one launch, or says that it could have had them. `level` is the first.
    fn merge(&self, chosen: &mut [Chosen], level: u32, merged: Merged, takes: bool) {
        let Merged { stage, shape, cost, measured, .. } = merged;
        let time = cost.time / self.copy_of(level);
        let way = Way::Launch(shape);
        let candidate = Candidate { way, launches: cost.launches, bytes: cost.bytes as u64, time };
        if !takes {
            chosen[0].choice.others.push(candidate);
            return;
        }
        let tuning = self.kernels.tuning;
        let reason = match measured {
            _ if tuning.schedule == way.schedule() || tuning.measures().is_some() => Reason::Asked,
            Some(true) => Reason::Measured,
            _ => Reason::Predicted,
        };
        let levels = chosen.len() as u32;
        for (i, chosen) in chosen.iter_mut().enumerate() {
            let first = i == 0;
            let within = Candidate { launches: 0, bytes: 0, time: 0.0, ..candidate };
            let choice = &mut chosen.choice;
            choice.others.insert(0, std::mem::replace(&mut choice.taken, if first { candidate } else { within }));
            choice.reason = reason;
            (chosen.stages, chosen.levels) = if first { (vec![stage], levels) } else { (Vec::new(), 0) };
        }
    }

    /// The two axes of these levels, that of consecutive samples first, and which of them analysis lifts first, if all
    /// levels have the same two and begin at even positions.
    fn plane(&self, order: &[usize], levels: std::ops::Range<u32>) -> Result<([usize; 2], Order), String> {
        let geometry = &self.problem.geometry;
        let axes = geometry.axes_at(levels.start);
        let [first, second] = axes[..] else {
            return Err(format!("the first level transforms {} axes, and it is for two", axes.len()));
        };
        if levels.clone().any(|level| geometry.axes_at(level) != axes) {
            return Err("a level does not transform the axes of the first".into());
        }
        let x = innermost(order, geometry.shape()).ok_or("there is one sample")?;
        let (y, lifted) = match (x == first, x == second) {
            (true, _) => (second, Order::HorizontalFirst),
            (_, true) => (first, Order::VerticalFirst),
            _ => return Err("the innermost axis is not transformed".into()),
        };
        let axes = [x, y];
        let is_odd = |level: u32| axes.iter().any(|&axis| geometry.level_origins(level)[axis] & 1 != 0);
        if levels.into_iter().any(is_odd) {
            return Err("the first position along an axis is odd".into());
        }
        Ok((axes, lifted))
    }

    /// A level and the next coarser one in one launch, or why they cannot be.
    fn two_merged(
        &self,
        question: &Question,
        schedule: Scheduled,
        quad: &impl Fn(&Self, &Pair) -> Quad,
    ) -> Result<Merged, String> {
        let level = question.level;
        if self.problem.geometry.depth() < level + 2 {
            return Err("it is for two levels, and the plan has one".into());
        }
        self.merged(question, schedule, level..level + 2, Span::Two, quad)
    }

    /// A level and all coarser ones in one launch, or why they cannot be.
    fn all_merged(
        &self,
        question: &Question,
        schedule: Scheduled,
        signal: View,
        whole: View,
    ) -> Result<Merged, String> {
        let levels = question.level..self.problem.geometry.depth();
        let span = Span::All(levels.len() as u32);
        self.merged(question, schedule, levels, span, |_, pair| Quad::new(pair, signal, whole, whole))
    }

    /// Levels in one launch of a schedule, of which `question` is the first, in the shape that is predicted to be the
    /// fastest; or why they cannot be.
    fn merged(
        &self,
        question: &Question,
        schedule: Scheduled,
        levels: std::ops::Range<u32>,
        span: Span,
        quad: impl Fn(&Self, &Pair) -> Quad,
    ) -> Result<Merged, String> {
        let Question { direction, level, order, copies } = *question;
        let (axes, lifted) = self.plane(order, levels)?;
        if copies {
            return Err("it does not work in place".into());
        }
        let shape = self.problem.geometry.level_shape(level);
        let (extent, parity) = (&shape[..], [0; 2]);
        let pair = Pair { direction, level, axes, order: lifted, deep: None, span, extent, parity, gain: 0 };
        let launched = self.launched(&pair, &quad(self, &pair))?;
        let tuning = self.kernels.tuning;
        let shapes = match tuning.measures_of(schedule) {
            Some(shape) => vec![shape],
            None => {
                self.kernels.proposed(schedule, direction, self.sample, &launched.job).map_err(|e| e.to_string())?
            }
        };
        // The fastest as predicted, of equals the first; or why there is none: what stands against the last.
        let (mut fastest, mut refusal, mut able) = (None::<Built>, None, Vec::new());
        for shape in shapes {
            match self.built(direction, shape, &launched) {
                Ok(built) => {
                    able.push(built.shape);
                    if fastest.as_ref().is_none_or(|other| built.cost.time < other.cost.time) {
                        fastest = Some(built);
                    }
                }
                Err(e) => refusal = Some(e.to_string()),
            }
        }
        let mut built = fastest.ok_or_else(|| refusal.unwrap_or_else(|| "no shape is proposed".into()))?;
        let case = self.case(&pair, &launched, built.aligned);
        let together = Together { case, shapes: able };
        // What was measured stands above what is predicted: such a block, or that something else is faster.
        let known = if tuning.measures().is_some() { None } else { tuning.wisdom.find(&together.case) };
        let of_it = |way: Way| way.shape().filter(|shape| shape.schedule() == schedule);
        let known = known.map(|way| way.and_then(of_it));
        let (mut measured, mut refused) = (known.map(|shape| shape.is_some()), None);
        if let Some(Some(shape)) = known {
            match self.built(direction, shape, &launched) {
                Ok(found) => built = found,
                Err(e) => {
                    measured = None;
                    refused = Some(Refused { schedule: Schedule::Launch(schedule), reason: outdated(&e) });
                }
            }
        }
        let Built { shape, chunk, rows, cost, .. } = built;
        let stage = Stage::Launch { axes, order: lifted, deep: None, shape, chunk, rows };
        Ok(Merged { stage, shape, cost, together, measured, refused })
    }
}
