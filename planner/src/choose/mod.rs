//! Choice of schedules: every candidate is checked against a level and costed.

mod levels;
mod several;
mod ways;

use crate::context::Context;
use crate::error::ProgramError;
use crate::kernels::Key;
use crate::model::Cost;
use crate::pair::{Pair, Quad, Span};
use crate::recipe::{Candidate, Choice, Reason, Refused};
use crate::schedule::{Schedule, Way};
use crate::wisdom::{Case, Key as Known};
use lifting_codegen::schedule::level::{Order, RowAlignment};
use lifting_codegen::schedule::{self, Extent, ScheduleError, Shape};
use lifting_dsl::Direction;
use several::Merged;
use ways::Launched;

/// A schedule whose launches take several axes.
type Scheduled = &'static dyn schedule::LaunchSchedule;

/// A part of a level: launches that may all run in parallel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// One axis, by an axis schedule.
    Axis(usize, Way),
    /// The axis of consecutive samples and one of rows; and a third one in a pass over three axes.
    Launch { axes: [usize; 2], order: Order, deep: Option<usize>, shape: Shape, chunk: u32, rows: RowAlignment },
}

/// Plan of a level: its stages in the order of analysis, and the reason for the choice.
#[derive(Clone, Debug)]
pub(crate) struct LevelPlan {
    pub stages: Vec<Stage>,
    pub choice: Choice,
    /// Number of levels in the stages: 1, or more; then the levels after it have 0.
    pub levels: u32,
}

impl LevelPlan {
    /// Whether the level is a single pass, which must not read the array that it writes.
    pub fn is_single(&self) -> bool {
        self.stages.len() == 1
    }

    /// Records the shapes that could take this and the following levels in one launch, and refusals.
    fn note(&mut self, merged: &mut Merged) {
        self.choice.together.push(merged.together.clone());
        self.choice.refused.extend(merged.refused.take());
    }

    /// Whether analysis begins, and synthesis ends, with a pass over both axes.
    pub fn begins_with_both(&self) -> bool {
        matches!(self.stages.first(), Some(Stage::Launch { .. }))
    }

    /// Whether synthesis begins with a pass over both axes.
    pub fn ends_with_both(&self) -> bool {
        matches!(self.stages.last(), Some(Stage::Launch { .. }))
    }
}

/// Facts about a level before the choice of its schedule.
pub(crate) struct Question<'a> {
    pub direction: Direction,
    pub level: u32,
    /// Axes of the array, outermost first.
    pub order: &'a [usize],
    /// Whether a single-pass level must be copied first.
    pub copies: bool,
}

/// A candidate for a level, with its stages.
struct Route {
    stages: Vec<Stage>,
    candidate: Candidate,
}

impl Context<'_> {
    /// Schedules whose launches have this extent.
    fn schedules(&self, extent: Extent) -> impl Iterator<Item = Scheduled> + use<'_> {
        self.tuning.schedules.iter().copied().filter(move |schedule| schedule.extent() == extent)
    }

    /// Chooses the schedule of a level. `quad(n, i, pair)` gives the views of a pass over both axes as part `i` of `n`.
    pub(crate) fn choose(
        &self,
        question: &Question,
        quad: impl Fn(&Self, usize, usize, &Pair) -> Quad,
    ) -> Result<LevelPlan, ProgramError> {
        let Question { direction, level, .. } = *question;
        let shape = self.problem.geometry.level_shape(level);
        let copy = self.copy_cost(shape.iter().product()).time;
        let route = |stages: Vec<Stage>, way: Way, cost: Cost| {
            let candidate =
                Candidate { way, launches: cost.launches, bytes: cost.bytes as u64, time: cost.time / copy };
            Route { stages, candidate }
        };
        let launch = |(stages, shape, cost): (Vec<Stage>, Shape, Cost)| route(stages, Way::Launch(shape), cost);
        let (stages, cost) = self.separate(question, &shape);
        let separate = match self.tuning.schedule {
            Schedule::Axis(schedule) => {
                let way = Way::Axis(schedule);
                let axes = self.problem.geometry.axes_at(level).into_iter();
                route(axes.map(|axis| Stage::Axis(axis, way)).collect(), way, cost)
            }
            _ => route(stages, Way::Separate, cost),
        };
        let mut refused = Vec::new();
        let mut ways: Vec<Route> = Vec::new();
        let (mut case, mut measured) = (None, None);
        let wanted = match self.tuning.measures() {
            None => self.tuning.schedule,
            Some((only, way)) if only == direction => way.schedule(),
            Some(_) => Schedule::Separate,
        };
        // After a request for several levels in one launch, the remaining levels choose freely.
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
            if is_wanted(schedule) && (axes > 2 || wanted != Schedule::Auto) {
                match self.volumes(question, &shape, schedule, measured.and_then(Way::shape), &quad) {
                    Ok(found) => ways.extend(found.into_iter().map(launch)),
                    Err(reason) => refused.push(Refused { schedule: Schedule::Launch(schedule), reason }),
                }
            }
        }
        let is_lattice = self.family_of(level).scheme.lattice().is_some();
        if wanted == Schedule::Lattice || wanted == Schedule::Auto && is_lattice {
            match self.lattice(question, &shape) {
                Ok((stages, cost)) => ways.push(route(stages, Way::Lattice, cost)),
                Err(reason) => refused.push(Refused { schedule: Schedule::Lattice, reason }),
            }
        }
        match wanted {
            Schedule::Auto | Schedule::Separate | Schedule::Shared | Schedule::Axis(_) => ways.push(separate),
            _ if ways.is_empty() && !self.lenient => {
                let reason = refused.into_iter().next().map_or_else(nothing, |refused| refused.reason);
                return Err(ProgramError::Refused { schedule: wanted, direction, level: level + 1, reason });
            }
            _ if ways.is_empty() => ways.push(separate),
            _ => {}
        }
        // Measurements take precedence over predictions.
        let is_measured = |route: &Route| Some(route.candidate.way) == measured;
        ways.sort_by(|a, b| {
            let time = a.candidate.time.total_cmp(&b.candidate.time);
            is_measured(b).cmp(&is_measured(a)).then(time)
        });
        let mut ways = ways.into_iter();
        let mut last = None;
        for Route { stages, candidate: taken } in ways.by_ref() {
            match self.check(direction, level, &stages) {
                Ok(()) => {
                    let others = ways.map(|way| way.candidate).collect();
                    let reason = match wanted {
                        Schedule::Auto if Some(taken.way) == measured => Reason::Measured,
                        Schedule::Auto => Reason::Predicted,
                        _ => Reason::Asked,
                    };
                    let (level, together) = (level + 1, Vec::new());
                    let choice = Choice { direction, level, shape, taken, reason, others, refused, case, together };
                    return Ok(LevelPlan { stages, choice, levels: 1 });
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

    /// Wisdom's key for a pass over both axes.
    fn case(&self, pair: &Pair, launched: &Launched, aligned: bool) -> Known {
        let Launched { job, count, family } = launched;
        let images = i32::try_from(*count).unwrap_or(i32::MAX).saturating_mul(job.batch);
        let case = Case {
            device: &self.tuning.device,
            scheme: family.scheme,
            sample: self.kind,
            boundary: family.boundary,
            direction: pair.direction,
            order: pair.order,
            axes: self.problem.geometry.axes_at(pair.level).len(),
            gain: family.gain,
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

    /// Checks the kernels of stages by making them; their shapes may turn out not to fit.
    fn check(&self, direction: Direction, level: u32, stages: &[Stage]) -> Result<(), ProgramError> {
        for stage in stages {
            if let Stage::Launch { order, shape, rows, .. } = stage {
                let key = Key::Launch(direction, self.sample, *order, shape.with_chunk(0), *rows, false);
                self.kernels.get(self.family_of(level), key)?;
            }
        }
        Ok(())
    }
}

/// Reason given if no schedule remains and nothing else excludes one.
fn nothing() -> String {
    "no schedule remains".into()
}

/// Reason why a measured shape is not taken.
fn outdated(e: &ScheduleError) -> String {
    format!("measured before as fastest, but refused now: {e}")
}

/// The innermost axis with more than one sample.
fn innermost(order: &[usize], shape: &[usize]) -> Option<usize> {
    order.iter().rev().copied().find(|&axis| shape[axis] > 1)
}
