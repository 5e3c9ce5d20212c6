//! Which schedule a level takes: every candidate is asked whether it can, and what it should cost.

use crate::error::ProgramError;
use crate::kernels::{Key, Only};
use crate::list::MOST_LAUNCHES;
use crate::lower::{Lowering, work_of};
use crate::model::Cost;
use crate::pair::{Pair, Quad, Span};
use crate::recipe::{Candidate, Choice, Reason, Refused, Together};
use crate::schedule::{Schedule, Way};
use crate::view::View;
use crate::wisdom::{Case, Key as Known};
use lifting_codegen::schedule::level::{Job, Order, RowAlignment};
use lifting_codegen::schedule::{self, Along, Direction, Extent, ScheduleError, Shape, Sides};

/// One of the schedules whose launches take several axes.
type Scheduled = &'static dyn schedule::Schedule;

/// A part of a level: launches that may all run side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// One axis, by a schedule for that.
    Axis(usize, Way),
    /// The axis of consecutive samples and one of rows; and a third one, in a pass over all three.
    Launch { axes: [usize; 2], order: Order, deep: Option<usize>, shape: Shape, chunk: u32, rows: RowAlignment },
}

/// What a level is made of, in the order of analysis, and why.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub stages: Vec<Stage>,
    pub choice: Choice,
    /// How many levels the stages are: 1, or more, and then 0 of the levels after it.
    pub levels: u32,
}

impl Chosen {
    /// Whether the level is one pass, which must not read the array that it writes.
    pub fn is_single(&self) -> bool {
        self.stages.len() == 1
    }

    /// Notes what could take it and the levels after it in one launch, and what cannot.
    fn note(&mut self, merged: &mut Merged) {
        self.choice.together.push(merged.together.clone());
        self.choice.refused.extend(merged.refused.take());
    }

    /// Whether synthesis begins with a pass over both axes.
    pub fn ends_with_both(&self) -> bool {
        matches!(self.stages.last(), Some(Stage::Launch { .. }))
    }
}

/// Microseconds that two levels of synthesis after others take less, launched one by one, than each alone: what the
/// source has is loaded before the launch before has ended, which launches of two levels do not do. Measured of 2048²
/// after three others, 5/3 i16: 11.4 instead of 13.1, where two levels alone gain 0.4 in one launch.
const EARLY_LOAD_GAIN: f64 = 1.5;

/// What is known of a level before its schedule is.
pub(crate) struct Question<'a> {
    pub direction: Direction,
    pub level: u32,
    /// The axes of the array, from the outermost to the innermost.
    pub order: &'a [usize],
    /// Whether a level of one pass has to be copied first.
    pub copies: bool,
}

/// A way through a level, as stages.
struct Route {
    stages: Vec<Stage>,
    candidate: Candidate,
}

/// Several levels in one launch.
struct Merged {
    stage: Stage,
    shape: Shape,
    cost: Cost,
    /// All shapes that could, and what wisdom calls the levels.
    together: Together,
    /// Whether it was measured to be faster than the levels one by one, if it was measured.
    measured: Option<bool>,
    /// What was measured to be fastest, and cannot be.
    refused: Option<Refused>,
}

/// Ways with a pass over both axes.
struct Both {
    ways: Vec<(Vec<Stage>, Shape, Cost)>,
    /// What wisdom calls the level.
    case: Known,
    /// The way that was measured to be fastest.
    measured: Option<Way>,
    /// What cannot be, what was measured included.
    refused: Vec<Refused>,
}

/// The launches of a pass over several axes.
struct Launched {
    /// The first.
    job: Job,
    count: usize,
}

/// Blocks for them.
struct Built {
    /// With its chunks.
    shape: Shape,
    chunk: u32,
    /// What its kernel takes.
    rows: RowAlignment,
    cost: Cost,
    /// Whether all arrays are aligned.
    aligned: bool,
}

impl Lowering<'_> {
    /// The schedules whose launches take so much.
    fn schedules(&self, extent: Extent) -> impl Iterator<Item = Scheduled> + use<'_> {
        self.kernels.tuning.schedules.iter().copied().filter(move |schedule| schedule.extent() == extent)
    }

    /// Chooses. `quad(n, i, pair)` says where a pass over both axes would read and write if it were part `i` of `n`.
    pub(crate) fn choose(
        &mut self,
        question: &Question,
        quad: impl Fn(&Self, usize, usize, &Pair) -> Quad,
    ) -> Result<Chosen, ProgramError> {
        let Question { direction, level, .. } = *question;
        let shape = self.problem.geometry.level_shape(level);
        let copy = self.model().copy(shape.iter().product()).time;
        let route = |stages: Vec<Stage>, way: Way, cost: Cost| {
            let candidate =
                Candidate { way, launches: cost.launches, bytes: cost.bytes as u64, time: cost.time / copy };
            Route { stages, candidate }
        };
        let launch = |(stages, shape, cost): (Vec<Stage>, Shape, Cost)| route(stages, Way::Launch(shape), cost);
        let (stages, cost) = self.separate(question, &shape);
        let separate = route(stages, Way::Separate, cost);
        let mut refused = Vec::new();
        let mut ways: Vec<Route> = Vec::new();
        let (mut case, mut measured) = (None, None);
        let wanted = match self.kernels.tuning.measures() {
            None => self.kernels.tuning.schedule,
            Some((only, way)) if only == direction => way.schedule(),
            Some(_) => Schedule::Separate,
        };
        // What is left of several levels in one.
        let wanted = if wanted.is_of_several() { Schedule::Auto } else { wanted };
        let is_wanted = |schedule| wanted == Schedule::Auto || wanted == Schedule::Launch(schedule);
        let schedules: Vec<_> = self.schedules(Extent::Plane).filter(|&schedule| is_wanted(schedule)).collect();
        if !schedules.is_empty() {
            match self.both(question, &shape, &schedules, &quad) {
                Ok(Ok(both)) => {
                    ways.extend(both.ways.into_iter().map(launch));
                    refused = both.refused;
                    (case, measured) = (Some(both.case), both.measured);
                }
                Ok(Err(each)) => refused = each,
                Err(reason) => {
                    let each = schedules.into_iter().map(Schedule::Launch);
                    refused = each.map(|schedule| Refused { schedule, reason: reason.clone() }).collect();
                }
            }
        }
        let axes = self.problem.geometry.axes_at(level).len();
        for schedule in self.schedules(Extent::Volume) {
            if wanted == Schedule::Launch(schedule) || wanted == Schedule::Auto && axes > 2 {
                match self.volumes(question, &shape, schedule, measured.and_then(Way::shape), &quad) {
                    Ok(found) => ways.extend(found.into_iter().map(launch)),
                    Err(reason) => refused.push(Refused { schedule: Schedule::Launch(schedule), reason }),
                }
            }
        }
        let is_lattice = self.kernels.scheme.lattice().is_some();
        if wanted == Schedule::Lattice || wanted == Schedule::Auto && is_lattice {
            match self.lattice(question, &shape) {
                Ok((stages, cost)) => ways.push(route(stages, Way::Lattice, cost)),
                Err(e) => refused.push(Refused { schedule: Schedule::Lattice, reason: e.to_string() }),
            }
        }
        match wanted {
            Schedule::Auto | Schedule::Separate | Schedule::Shared => ways.push(separate),
            _ if ways.is_empty() && !self.lenient => {
                let reason = refused.into_iter().next().map_or_else(nothing, |refused| refused.reason);
                return Err(ProgramError::Refused { schedule: wanted, direction, level: level + 1, reason });
            }
            _ if ways.is_empty() => ways.push(separate),
            _ => {}
        }
        // What was measured stands above what is predicted.
        let is_measured = |route: &Route| Some(route.candidate.way) == measured;
        ways.sort_by(|a, b| {
            let time = a.candidate.time.total_cmp(&b.candidate.time);
            is_measured(b).cmp(&is_measured(a)).then(time)
        });
        let mut ways = ways.into_iter();
        let mut last = None;
        for Route { stages, candidate: taken } in ways.by_ref() {
            match self.make(direction, &stages) {
                Ok(()) => {
                    let others = ways.map(|way| way.candidate).collect();
                    let reason = match wanted {
                        Schedule::Auto if Some(taken.way) == measured => Reason::Measured,
                        Schedule::Auto => Reason::Predicted,
                        _ => Reason::Asked,
                    };
                    let (level, together) = (level + 1, Vec::new());
                    let choice = Choice { direction, level, shape, taken, reason, others, refused, case, together };
                    return Ok(Chosen { stages, choice, levels: 1 });
                }
                Err(ProgramError::Schedule(e)) => {
                    refused.push(Refused { schedule: taken.way.schedule(), reason: e.to_string() });
                    last = Some(e);
                }
                Err(e) => return Err(e),
            }
        }
        let reason = last.map_or_else(nothing, |e| e.to_string());
        Err(ProgramError::Refused { schedule: wanted, direction, level: level + 1, reason })
    }

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
        let early = if follows { EARLY_LOAD_GAIN } else { 0.0 };
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

    /// What wisdom calls a pass over both axes.
    fn case(&self, pair: &Pair, launched: &Launched, aligned: bool) -> Known {
        let (tuning, Launched { job, count }) = (self.kernels.tuning, launched);
        let images = i32::try_from(*count).unwrap_or(i32::MAX).saturating_mul(job.batch);
        let case = Case {
            device: &tuning.device,
            scheme: self.kernels.scheme,
            sample: self.kind,
            boundary: self.kernels.boundary,
            direction: pair.direction,
            order: pair.order,
            axes: self.problem.geometry.axes_at(pair.level).len(),
            gain: self.kernels.gain,
            aligned,
            levels: match pair.span {
                Span::One => 1,
                Span::Two => 2,
                Span::All(levels) => levels,
            },
            extent: [job.width, job.height, images],
        };
        case.key()
    }

    /// Makes the kernels of stages whose shape may turn out not to fit.
    fn make(&mut self, direction: Direction, stages: &[Stage]) -> Result<(), ProgramError> {
        for stage in stages {
            if let Stage::Launch { order, shape, rows, .. } = stage {
                self.kernels.get(Key::Launch(direction, self.sample, *order, shape.with_chunk(0), *rows, false))?;
            }
        }
        Ok(())
    }

    /// A pass an axis.
    fn separate(&self, question: &Question, shape: &[usize]) -> (Vec<Stage>, Cost) {
        let axes = self.problem.geometry.axes_at(question.level);
        let mut cost = Cost::default();
        for i in 0..axes.len() {
            cost += self.axis_cost(question, shape, &axes, i);
        }
        if axes.len() == 1 && question.copies {
            cost += self.model().copy(shape.iter().product());
        }
        (axes.into_iter().map(|axis| Stage::Axis(axis, Way::Separate)).collect(), cost)
    }

    /// A pass an axis, by blocks of whole vectors.
    fn lattice(&self, question: &Question, shape: &[usize]) -> Result<(Vec<Stage>, Cost), ScheduleError> {
        let axes = self.problem.geometry.axes_at(question.level);
        let innermost = innermost(question.order, self.problem.geometry.shape());
        let mut cost = Cost::default();
        for (i, &axis) in axes.iter().enumerate() {
            let along = if Some(axis) == innermost { Along::Row } else { Along::Column };
            let block = self.kernels.vectors(Sides::both(self.sample), along, shape[axis])?;
            cost +=
                self.model().lattice(question.direction, shape.iter().product(), along, block, self.sides(&axes, i));
        }
        if axes.len() == 1 && question.copies {
            cost += self.model().copy(shape.iter().product());
        }
        Ok((axes.into_iter().map(|axis| Stage::Axis(axis, Way::Lattice)).collect(), cost))
    }

    /// Types of the samples before and after the pass over an axis.
    fn sides(&self, axes: &[usize], i: usize) -> Sides {
        let (outer, inner) = (self.sample, work_of(self.sample));
        Sides { signal: if i == 0 { outer } else { inner }, bands: if i + 1 == axes.len() { outer } else { inner } }
    }

    fn axis_cost(&self, question: &Question, shape: &[usize], axes: &[usize], i: usize) -> Cost {
        let sides = self.sides(axes, i);
        let rows = Some(axes[i]) == innermost(question.order, self.problem.geometry.shape());
        let way = self.kernels.pass_way(question.direction, rows, sides);
        self.model().pass(question.direction, shape.iter().product(), shape[axes[i]], way, sides)
    }

    /// All ways with a pass over both axes, or why each schedule has none; or why no schedule could.
    fn both(
        &self,
        question: &Question,
        shape: &[usize],
        schedules: &[Scheduled],
        quad: &impl Fn(&Self, usize, usize, &Pair) -> Quad,
    ) -> Result<Result<Both, Vec<Refused>>, String> {
        let Question { direction, level, order, copies } = *question;
        let geometry = &self.problem.geometry;
        let axes = geometry.axes_at(level);
        let x = innermost(order, geometry.shape()).ok_or("there is one sample")?;
        let at = axes.iter().position(|&a| a == x).ok_or("the innermost axis is not transformed")?;
        let neighbours = [at.checked_sub(1), Some(at + 1)];
        let beside = neighbours.into_iter().flatten().filter(|&i| i < axes.len());
        let other = beside.max_by_key(|&i| shape[axes[i]]).ok_or("the level transforms one axis only")?;
        if axes.len() > 2 && work_of(self.sample) != self.sample {
            let (sample, work) = (self.sample.name(), work_of(self.sample).name());
            return Err(format!(
                "a level of {sample} samples is in {work} between its passes, and this one has more than two axes"
            ));
        }
        let origins = geometry.level_origins(level);
        let y = axes[other];
        let lifted = if other < at { Order::VerticalFirst } else { Order::HorizontalFirst };
        let first = at.min(other);
        let parity = [x, y].map(|axis| (origins[axis] & 1) as usize);
        let pair = Pair {
            direction,
            level,
            axes: [x, y],
            order: lifted,
            deep: None,
            span: Span::One,
            extent: shape,
            parity,
            gain: 0,
        };
        let quad = quad(self, axes.len() - 1, first, &pair);
        let launched = self.launched(&pair, &quad)?;
        let job = launched.job;
        let build = |blocks: Shape| {
            let Built { shape: blocks, chunk, rows, mut cost, aligned } = self.built(direction, blocks, &launched)?;
            for i in (0..axes.len()).filter(|i| ![at, other].contains(i)) {
                cost += self.axis_cost(question, shape, &axes, i);
            }
            if axes.len() == 2 && copies {
                cost += self.model().copy(shape.iter().product());
            }
            let mut stages: Vec<Stage> = axes.iter().map(|&axis| Stage::Axis(axis, Way::Separate)).collect();
            let launch = Stage::Launch { axes: [x, y], order: lifted, deep: None, shape: blocks, chunk, rows };
            stages.splice(first..first + 2, [launch]);
            Ok((stages, blocks, cost, aligned))
        };
        let tuning = self.kernels.tuning;
        let (mut ways, mut is_aligned, mut refused) = (Vec::new(), None, Vec::new());
        for &schedule in schedules {
            let shapes = match tuning.measures_of(schedule) {
                Some(shape) => Ok(vec![shape]),
                None => self.kernels.proposed(schedule, direction, self.sample, &job),
            };
            let built: Result<Vec<_>, ScheduleError> = shapes.map(|shapes| shapes.into_iter().map(build).collect());
            let mut reason = None;
            for way in built.unwrap_or_else(|e| vec![Err(e)]) {
                match way {
                    Ok((stages, blocks, cost, aligned)) => {
                        is_aligned.get_or_insert(aligned);
                        ways.push((stages, blocks, cost));
                        reason = Some(None);
                    }
                    Err(e) => {
                        reason.get_or_insert(Some(e));
                    }
                }
            }
            let refusal = |e: ScheduleError| Refused { schedule: Schedule::Launch(schedule), reason: e.to_string() };
            refused.extend(reason.flatten().map(refusal));
        }
        let Some(aligned) = is_aligned else { return Ok(Err(refused)) };
        let case = self.case(&pair, &launched, aligned);
        let mut measured = tuning.wisdom.find(&case).flatten().filter(|way| !way.is_of_several());
        let of_plane = |blocks: &Shape| blocks.schedule().extent() == Extent::Plane;
        if let Some(blocks) = measured.and_then(Way::shape).filter(of_plane) {
            match build(blocks) {
                Ok((stages, blocks, cost, _)) => {
                    ways.retain(|way| way.1 != blocks);
                    ways.push((stages, blocks, cost));
                    measured = Some(Way::Launch(blocks));
                }
                Err(e) => {
                    let schedule = Schedule::Launch(blocks.schedule());
                    refused.push(Refused { schedule, reason: outdated(&e) });
                    measured = None;
                }
            }
        }
        Ok(Ok(Both { ways, case, measured, refused }))
    }

    /// What a pass would launch.
    fn launched(&self, pair: &Pair, quad: &Quad) -> Result<Launched, String> {
        if std::iter::once(&quad.signal).chain(&quad.bands).any(|view| view.strides[pair.axes[0]] != 1) {
            return Err("samples along the innermost axis are not beside each other".into());
        }
        let jobs = pair.jobs(quad, self.sample.bytes()).ok_or("a side has more than 2³¹ samples")?;
        let mut job = jobs.job;
        self.misplace(&mut job, &jobs.arrays);
        let count = jobs.launches();
        if count > MOST_LAUNCHES {
            return Err(format!("it would take {count} launches"));
        }
        Ok(Launched { job, count })
    }

    /// Blocks of a shape that could do it, and what their launches would cost.
    fn built(&self, direction: Direction, shape: Shape, launched: &Launched) -> Result<Built, ScheduleError> {
        let Launched { job, count } = launched;
        let (fit, arguments) = self.kernels.meet(direction, self.sample, shape, job)?;
        let wanted = if shape.chunk() == 0 { arguments.chunk } else { shape.chunk() as i32 };
        let chunk = wanted.max(fit.least_chunk(job)) as u32;
        let shape = shape.with_chunk(chunk);
        let Cost { launches: each, bytes, time } = self.model().launch(&*fit, job, chunk);
        let times = *count as f64;
        let cost = Cost { launches: count * each, bytes: times * bytes, time: times * time };
        Ok(Built { shape, chunk, rows: fit.alignment(), cost, aligned: arguments.aligned == 3 })
    }

    /// All ways with a pass over three axes, or why there is none.
    fn volumes(
        &self,
        question: &Question,
        shape: &[usize],
        schedule: Scheduled,
        measured: Option<Shape>,
        quad: &impl Fn(&Self, usize, usize, &Pair) -> Quad,
    ) -> Result<Vec<(Vec<Stage>, Shape, Cost)>, String> {
        let Question { direction, level, order, copies } = *question;
        let geometry = &self.problem.geometry;
        let axes = geometry.axes_at(level);
        let [x, y, z] = axes[..] else {
            return Err(format!("the level transforms {} axes, and it is for three", axes.len()));
        };
        if innermost(order, geometry.shape()) != Some(x) {
            return Err("it is for the innermost axis as the first in the order of axes".into());
        }
        let origins = geometry.level_origins(level);
        let [parity_x, parity_y, parity_z] = [x, y, z].map(|axis| (origins[axis] & 1) as usize);
        let (lifted, deep, parity) = (Order::HorizontalFirst, Some((z, parity_z)), [parity_x, parity_y]);
        let pair = Pair {
            direction,
            level,
            axes: [x, y],
            order: lifted,
            deep,
            span: Span::One,
            extent: shape,
            parity,
            gain: 0,
        };
        let quad = quad(self, 1, 0, &pair);
        let launched = self.launched(&pair, &quad)?;
        let job = launched.job;
        let build = |blocks: Shape| -> Result<(Vec<Stage>, Shape, Cost), ScheduleError> {
            let Built { shape: blocks, chunk, rows, mut cost, .. } = self.built(direction, blocks, &launched)?;
            if copies {
                cost += self.model().copy(shape.iter().product());
            }
            let stage = Stage::Launch { axes: [x, y], order: lifted, deep: Some(z), shape: blocks, chunk, rows };
            Ok((vec![stage], blocks, cost))
        };
        let shapes = match self.kernels.tuning.measures_of(schedule) {
            Some(shape) => vec![shape],
            None => self
                .kernels
                .proposed(schedule, direction, self.sample, &job)
                .map_err(|e| e.to_string())?
                .into_iter()
                .chain(measured.filter(|shape| shape.schedule() == schedule))
                .collect(),
        };
        let (mut ways, mut refusal) = (Vec::<(Vec<Stage>, Shape, Cost)>::new(), None);
        for blocks in shapes {
            match build(blocks) {
                Ok(way) if ways.iter().any(|other| other.1 == way.1) => {}
                Ok(way) => ways.push(way),
                Err(e) => {
                    refusal.get_or_insert(e.to_string());
                }
            }
        }
        if ways.is_empty() { Err(refusal.unwrap_or_else(|| "nothing is proposed".into())) } else { Ok(ways) }
    }
}

/// Why there is no way, where nothing else stands against one.
fn nothing() -> String {
    "nothing is left to choose".into()
}

/// Why what was measured is not taken.
fn outdated(e: &ScheduleError) -> String {
    format!("measured before as fastest, and now: {e}")
}

/// The innermost axis that has more than one sample.
fn innermost(order: &[usize], shape: &[usize]) -> Option<usize> {
    order.iter().rev().copied().find(|&axis| shape[axis] > 1)
}
