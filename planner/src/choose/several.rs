//! Several levels in one launch, two at a time or all remaining ones, if that is predicted to be faster.

use super::ways::Built;
use super::{LevelPlan, Question, Scheduled, Stage, innermost, outdated};
use crate::context::Context;
use crate::error::ProgramError;
use crate::kernels::Only;
use crate::model::Cost;
use crate::pair::{Pair, Quad, Span};
use crate::recipe::{Candidate, Choice, Reason, Refused, Together};
use crate::schedule::{Schedule, Way};
use crate::view::View;
use lifting_codegen::schedule::level::Order;
use lifting_codegen::schedule::{Extent, Shape};
use lifting_dsl::Direction;

/// Several levels in one launch.
pub(super) struct Merged {
    pub stage: Stage,
    pub shape: Shape,
    pub cost: Cost,
    /// All possible shapes, and wisdom's key for the levels.
    pub together: Together,
    /// Whether a measurement found it faster than single levels; `None` if not measured.
    pub measured: Option<bool>,
    /// The shape measured fastest, if it is refused now.
    pub refused: Option<Refused>,
}

impl Context<'_> {
    /// Merges the first two chosen levels, finest first, into one launch, if that is predicted to be faster or was
    /// requested. `question` is about the first level; `quad` gives the launch's views.
    pub(crate) fn two_levels(
        &self,
        chosen: &mut [LevelPlan],
        question: &Question,
        quad: impl Fn(&Self, &Pair) -> Quad,
    ) -> Result<(), ProgramError> {
        let schedules: Vec<_> = self.schedules(Extent::TwoLevels).collect();
        schedules.into_iter().try_for_each(|schedule| self.two_levels_by(schedule, chosen, question, &quad))
    }

    /// Merges two levels with one schedule.
    fn two_levels_by(
        &self,
        schedule: Scheduled,
        chosen: &mut [LevelPlan],
        question: &Question,
        quad: &impl Fn(&Self, &Pair) -> Quad,
    ) -> Result<(), ProgramError> {
        let Question { direction, level, .. } = *question;
        let Some(asked) = self.merges(schedule, direction) else { return Ok(()) };
        if chosen.iter().take(2).any(|chosen| chosen.levels != 1) {
            // A launch for more levels takes these; a measurement may still try this one.
            if let (Ok(mut merged), [first, ..]) = (self.two_merged(question, schedule, quad), chosen) {
                first.note(&mut merged);
            }
            return Ok(());
        }
        let made = self.two_merged(question, schedule, quad).and_then(|merged| {
            self.check(direction, level, &[merged.stage]).map(|()| merged).map_err(|e| e.to_string())
        });
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
        let early = if follows { self.tuning.machine.constants().launch.early_load_gain } else { 0.0 };
        let is_faster = merged.measured.unwrap_or_else(|| merged.cost.time < self.apart(levels, level) - early);
        self.merge(levels, level, merged, asked || is_faster);
        Ok(())
    }

    /// Merges the last chosen levels into one launch, as many as are predicted to gain most, or all possible ones on
    /// request. `question` is about the first level. `signals` are the signals of each level; `whole` has the bands.
    pub(crate) fn all_levels(
        &self,
        chosen: &mut [LevelPlan],
        question: &Question,
        signals: &[View],
        whole: View,
    ) -> Result<(), ProgramError> {
        let schedules: Vec<_> = self.schedules(Extent::AllLevels).collect();
        schedules.into_iter().try_for_each(|schedule| self.all_levels_by(schedule, chosen, question, (signals, whole)))
    }

    /// Merges all last levels with one schedule.
    fn all_levels_by(
        &self,
        schedule: Scheduled,
        chosen: &mut [LevelPlan],
        question: &Question,
        (signals, whole): (&[View], View),
    ) -> Result<(), ProgramError> {
        let Question { direction, level, order, .. } = *question;
        let Some(asked) = self.merges(schedule, direction) else { return Ok(()) };
        let mut found: Vec<(usize, f64, Merged)> = Vec::new();
        // Refusal of the first level on request, of the last candidate otherwise.
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
            // Measured gains rank first, predicted ones next, measured losses last; ties keep their order.
            let rank = |merged: &Merged| merged.measured.map_or(1, |gains| if gains { 2 } else { 0 });
            found.sort_by(|(_, a, one), (_, b, other)| rank(other).cmp(&rank(one)).then(b.total_cmp(a)));
        }
        for (i, gain, merged) in found {
            let takes = asked || merged.measured.unwrap_or(gain > 0.0);
            // Kernels are made only for launches that are taken.
            let level = level + i as u32;
            match if takes { self.check(direction, level, &[merged.stage]) } else { Ok(()) } {
                Ok(()) => {
                    self.merge(&mut chosen[i..], level, merged, takes);
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

    /// Whether a schedule for several levels was requested or is being measured; `None` if it is out of consideration.
    fn merges(&self, schedule: Scheduled, direction: Direction) -> Option<bool> {
        let (tuning, schedule) = (self.tuning, Schedule::Launch(schedule));
        match tuning.only {
            Some(Only::Way(only, way)) => (only == direction && way.schedule() == schedule).then_some(true),
            Some(Only::Apart) => None,
            None if tuning.schedule == Schedule::Auto => Some(false),
            None => (tuning.schedule == schedule).then_some(true),
        }
    }

    /// Predicted time in microseconds of levels launched one by one; measured times are not comparable. `level` is the
    /// first.
    fn apart(&self, chosen: &[LevelPlan], level: u32) -> f64 {
        let fastest = |choice: &Choice| {
            let all = choice.others.iter().chain([&choice.taken]);
            all.map(|candidate| candidate.time).fold(f64::INFINITY, f64::min)
        };
        chosen.iter().zip(level..).map(|(chosen, level)| fastest(&chosen.choice) * self.copy_of(level)).sum()
    }

    /// Time of copying a level, in microseconds.
    fn copy_of(&self, level: u32) -> f64 {
        let samples = self.problem.geometry.level_shape(level).iter().product();
        self.copy_cost(samples).time
    }

    /// Assigns levels to one launch, or records that it was possible. `level` is the first.
    fn merge(&self, chosen: &mut [LevelPlan], level: u32, merged: Merged, takes: bool) {
        let Merged { stage, shape, cost, measured, .. } = merged;
        let time = cost.time / self.copy_of(level);
        let way = Way::Launch(shape);
        let candidate = Candidate { way, launches: cost.launches, bytes: cost.bytes as u64, time };
        if !takes {
            chosen[0].choice.others.push(candidate);
            return;
        }
        let tuning = self.tuning;
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

    /// The two axes of these levels, consecutive samples first, and the axis that analysis lifts first. All levels must
    /// have the same two axes and begin at even positions.
    fn plane(&self, order: &[usize], levels: std::ops::Range<u32>) -> Result<([usize; 2], Order), String> {
        let geometry = &self.problem.geometry;
        let axes = geometry.axes_at(levels.start);
        self.problem.check_one_wavelet(levels.clone())?;
        let [first, second] = axes[..] else {
            return Err(format!("the first level transforms {} axes, but the schedule needs two", axes.len()));
        };
        if levels.clone().any(|level| geometry.axes_at(level) != axes) {
            return Err("a level transforms other axes than the first".into());
        }
        let x = innermost(order, geometry.shape()).ok_or("the array has a single sample")?;
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

    /// Merges a level and the next coarser one into one launch, or says why not.
    fn two_merged(
        &self,
        question: &Question,
        schedule: Scheduled,
        quad: &impl Fn(&Self, &Pair) -> Quad,
    ) -> Result<Merged, String> {
        let level = question.level;
        if self.problem.geometry.depth() < level + 2 {
            return Err("the schedule needs two levels, but the plan has one".into());
        }
        self.merged(question, schedule, level..level + 2, Span::Two, quad)
    }

    /// Merges a level and all coarser ones into one launch, or says why not.
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

    /// Merges levels into one launch of a schedule, in the shape with the fastest prediction, or says why not.
    /// `question` is about the first level.
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
            return Err("the schedule does not work in place".into());
        }
        let shape = self.problem.geometry.level_shape(level);
        let (extent, parity) = (&shape[..], [0; 2]);
        let pair = Pair { direction, level, axes, order: lifted, deep: None, span, extent, parity, gain: 0 };
        let launched = self.launched(&pair, &quad(self, &pair))?;
        let tuning = self.tuning;
        let shapes = match tuning.measures_of(schedule) {
            Some(shape) => vec![shape],
            None => {
                launched.family.proposed(schedule, direction, self.sample, &launched.job).map_err(|e| e.to_string())?
            }
        };
        // The fastest prediction, the first of ties; or the refusal of the last shape.
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
        // A measurement takes precedence over predictions: such a block, or that something else is faster.
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
