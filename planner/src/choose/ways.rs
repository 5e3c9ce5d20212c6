//! Candidates for one level: a pass an axis, or passes over two or three axes, in the shapes that schedules propose.

use super::{Question, Scheduled, Stage, innermost, outdated};
use crate::context::Context;
use crate::kernels::Family;
use crate::list::MOST_LAUNCHES;
use crate::model::Cost;
use crate::pair::{Pair, Quad, Span};
use crate::recipe::Refused;
use crate::scalar::work_of;
use crate::schedule::{Schedule, Way};
use crate::wisdom::Key as Known;
use lifting_codegen::schedule::level::{Job, Order, RowAlignment};
use lifting_codegen::schedule::{Along, Extent, ScheduleError, Shape, Sides};
use lifting_dsl::Direction;

/// Candidates with a pass over both axes.
pub(super) struct Both {
    pub ways: Vec<(Vec<Stage>, Shape, Cost)>,
    /// Wisdom's key for the level.
    pub case: Known,
    /// The candidate that was measured fastest.
    pub measured: Option<Way>,
    /// Refused shapes and schedules, including a measured one.
    pub refused: Vec<Refused>,
}

/// Launches of a pass over several axes.
pub(super) struct Launched<'a> {
    /// Job of the first launch.
    pub job: Job,
    pub count: usize,
    pub family: Family<'a>,
}

/// A block shape for the launches of a pass.
pub(super) struct Built {
    /// The shape with its chunk.
    pub shape: Shape,
    pub chunk: u32,
    /// Row alignment that the kernel supports.
    pub rows: RowAlignment,
    pub cost: Cost,
    /// Whether all arrays are aligned.
    pub aligned: bool,
}

impl Context<'_> {
    /// One pass an axis.
    pub(super) fn separate(&self, question: &Question, shape: &[usize]) -> (Vec<Stage>, Cost) {
        let axes = self.problem.geometry.axes_at(question.level);
        let mut cost = Cost::default();
        for i in 0..axes.len() {
            cost += self.axis_cost(question, shape, &axes, i);
        }
        if axes.len() == 1 && question.copies {
            cost += self.copy_cost(shape.iter().product());
        }
        (axes.into_iter().map(|axis| Stage::Axis(axis, Way::Separate)).collect(), cost)
    }

    /// One pass an axis, by blocks of whole vectors.
    pub(super) fn lattice(&self, question: &Question, shape: &[usize]) -> Result<(Vec<Stage>, Cost), String> {
        self.problem.check_one_wavelet(question.level..question.level + 1)?;
        let axes = self.problem.geometry.axes_at(question.level);
        let innermost = innermost(question.order, self.problem.geometry.shape());
        let mut cost = Cost::default();
        for (i, &axis) in axes.iter().enumerate() {
            let along = if Some(axis) == innermost { Along::Row } else { Along::Column };
            let family = self.family(axis, question.level);
            let block = family.vectors(Sides::both(self.sample), along, shape[axis]).map_err(|e| e.to_string())?;
            let (samples, sides) = (shape.iter().product(), self.sides(&axes, i));
            cost += family.model(self.sample).lattice(question.direction, samples, along, block, sides);
        }
        if axes.len() == 1 && question.copies {
            cost += self.copy_cost(shape.iter().product());
        }
        Ok((axes.into_iter().map(|axis| Stage::Axis(axis, Way::Lattice)).collect(), cost))
    }

    /// Sample types before and after the pass over an axis.
    fn sides(&self, axes: &[usize], i: usize) -> Sides {
        let (outer, inner) = (self.sample, work_of(self.sample));
        Sides { signal: if i == 0 { outer } else { inner }, bands: if i + 1 == axes.len() { outer } else { inner } }
    }

    fn axis_cost(&self, question: &Question, shape: &[usize], axes: &[usize], i: usize) -> Cost {
        let sides = self.sides(axes, i);
        let rows = Some(axes[i]) == innermost(question.order, self.problem.geometry.shape());
        let family = self.family(axes[i], question.level);
        let way = family.pass_way(question.direction, rows, sides);
        family.model(self.sample).pass(question.direction, shape.iter().product(), shape[axes[i]], way, sides)
    }

    /// All candidates with a pass over both axes, with refusals for each schedule; or the reason why none is possible.
    pub(super) fn both(
        &self,
        question: &Question,
        shape: &[usize],
        schedules: &[Scheduled],
        quad: &impl Fn(&Self, usize, usize, &Pair) -> Quad,
    ) -> Result<Result<Both, Vec<Refused>>, String> {
        let Question { direction, level, order, copies } = *question;
        self.problem.check_one_wavelet(level..level + 1)?;
        let geometry = &self.problem.geometry;
        let axes = geometry.axes_at(level);
        let x = innermost(order, geometry.shape()).ok_or("the array has a single sample")?;
        let at = axes.iter().position(|&a| a == x).ok_or("the innermost axis is not transformed")?;
        let neighbours = [at.checked_sub(1), Some(at + 1)];
        let beside = neighbours.into_iter().flatten().filter(|&i| i < axes.len());
        let other = beside.max_by_key(|&i| shape[axes[i]]).ok_or("the level transforms one axis only")?;
        if axes.len() > 2 && work_of(self.sample) != self.sample {
            let (sample, work) = (self.sample.name(), work_of(self.sample).name());
            return Err(format!(
                "a level of {sample} samples is in {work} between its passes, but this one has more than two axes"
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
                cost += self.copy_cost(shape.iter().product());
            }
            let mut stages: Vec<Stage> = axes.iter().map(|&axis| Stage::Axis(axis, Way::Separate)).collect();
            let launch = Stage::Launch { axes: [x, y], order: lifted, deep: None, shape: blocks, chunk, rows };
            stages.splice(first..first + 2, [launch]);
            Ok((stages, blocks, cost, aligned))
        };
        let tuning = self.tuning;
        let (mut ways, mut is_aligned, mut refused) = (Vec::new(), None, Vec::new());
        for &schedule in schedules {
            let shapes = match tuning.measures_of(schedule) {
                Some(shape) => Ok(vec![shape]),
                None => launched.family.proposed(schedule, direction, self.sample, &job),
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

    /// Launches of a pass.
    pub(super) fn launched(&self, pair: &Pair, quad: &Quad) -> Result<Launched<'_>, String> {
        if std::iter::once(&quad.signal).chain(&quad.bands).any(|view| view.strides[pair.axes[0]] != 1) {
            return Err("samples along the innermost axis are not contiguous".into());
        }
        let jobs = pair.jobs(quad, self.sample.bytes(), self.grids()).ok_or("a side has more than 2³¹ samples")?;
        let mut job = jobs.job;
        self.misplace(&mut job, &jobs.arrays);
        let count = jobs.launches();
        if count > MOST_LAUNCHES {
            return Err(format!("it would take {count} launches"));
        }
        Ok(Launched { job, count, family: self.family_of(pair.level) })
    }

    /// Fits blocks of a shape to the launches, and estimates their cost.
    pub(super) fn built(
        &self,
        direction: Direction,
        shape: Shape,
        launched: &Launched,
    ) -> Result<Built, ScheduleError> {
        let Launched { job, count, family } = launched;
        let shape = shape.of_lanes(self.tuning.machine.warp);
        let (fit, arguments) = family.meet(direction, self.sample, shape, job)?;
        let wanted = if shape.chunk() == 0 { arguments.chunk } else { shape.chunk() as i32 };
        let chunk = wanted.max(fit.least_chunk(job)) as u32;
        let shape = shape.with_chunk(chunk);
        let Cost { launches: each, bytes, time } = family.model(self.sample).launch(&*fit, job, chunk);
        let times = *count as f64;
        let cost = Cost { launches: count * each, bytes: times * bytes, time: times * time };
        Ok(Built { shape, chunk, rows: fit.alignment(), cost, aligned: arguments.aligned == 3 })
    }

    /// All candidates with a pass over three axes, or the reason why there is none.
    pub(super) fn volumes(
        &self,
        question: &Question,
        shape: &[usize],
        schedule: Scheduled,
        measured: Option<Shape>,
        quad: &impl Fn(&Self, usize, usize, &Pair) -> Quad,
    ) -> Result<Vec<(Vec<Stage>, Shape, Cost)>, String> {
        let Question { direction, level, order, copies } = *question;
        self.problem.check_one_wavelet(level..level + 1)?;
        let geometry = &self.problem.geometry;
        let axes = geometry.axes_at(level);
        let [x, y, z] = axes[..] else {
            return Err(format!("the level transforms {} axes, but the schedule needs three", axes.len()));
        };
        if innermost(order, geometry.shape()) != Some(x) {
            return Err("the innermost axis must come first in the order of axes".into());
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
                cost += self.copy_cost(shape.iter().product());
            }
            let stage = Stage::Launch { axes: [x, y], order: lifted, deep: Some(z), shape: blocks, chunk, rows };
            Ok((vec![stage], blocks, cost))
        };
        let shapes = match self.tuning.measures_of(schedule) {
            Some(shape) => vec![shape],
            None => launched
                .family
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

#[cfg(test)]
mod tests {
    use crate::kernels::{Made, Tuning};
    use crate::problem::Problem;
    use crate::program::Program;
    use crate::schedule::Schedule;
    use lifting_codegen::ir::Feature;
    use lifting_codegen::machine::Machine;
    use lifting_dsl::geometry::Geometry;
    use lifting_dsl::sample::SampleType;

    /// On a device with 64-lane warps, kernels that use warps have 64 lanes; a schedule that cannot is refused.
    #[test]
    fn warps_of_other_sizes() {
        let problem = Problem::new(crate::tests::scheme("legall53"), Geometry::uniform(&[256, 256], 2).unwrap());
        let mut machine = Machine::default();
        machine.warp = 64;
        let program = |name: &str| {
            let schedule = Schedule::all().find(|schedule| schedule.name() == name).expect("there is one");
            let tuning = Tuning::new(schedule, machine.clone(), "another".into());
            Program::new(&problem, SampleType::I32, &[256, 1], &[256, 1], &tuning)
        };
        let asks = |made: &&Made| made.kernel.features().contains(&Feature::Shuffles);
        for name in ["tile", "auto"] {
            let program = program(name).expect("tiles are of any width");
            let lanes: Vec<u32> = program.kernels.iter().filter(asks).map(|made| made.kernel.warp).collect();
            assert!(!lanes.is_empty() && lanes.iter().all(|&lanes| lanes == 64), "{name}: {lanes:?}");
        }
        let refused = program("stream").unwrap_err().to_string();
        assert!(refused.contains("lanes of a warp: found 64, must be 32"), "{refused}");
    }

    /// Blocks are launched on the rows that they were chosen for, wherever the caller's arrays begin: blocks of pairs
    /// with long halos take aligned rows only.
    #[test]
    fn volume_blocks_get_the_planned_row_alignment() {
        let geometry = Geometry::uniform(&[512; 3], 3).unwrap();
        let problem = Problem::new(crate::tests::scheme("fidelity"), geometry);
        let tuning = Tuning::new(Schedule::Auto, Machine::default(), "another".into());
        let strides = [512 * 512, 512, 1];
        let program =
            Program::new(&problem, SampleType::I16, &strides, &strides, &tuning).expect("there are schedules");
        assert!(program.kernels.iter().any(|made| made.kernel.name.contains("warp")));
    }
}
