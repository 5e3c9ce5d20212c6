//! Which schedule a level takes: every candidate is asked whether it can, and what it should cost.

use super::kernels::Key;
use super::list::{Array, VECTOR};
use super::lower::{Lowering, work_of};
use super::model::Cost;
use super::pair::{Pair, Quad};
use crate::error::PlanError;
use crate::recipe::{Candidate, Choice, Reason, Refused};
use crate::schedule::{Block, Schedule, StreamBlock};
use lifting_codegen::schedule::Direction;
use lifting_codegen::schedule::stream::{self, Order, Walk};

/// A part of a level: launches that may all run side by side.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// One axis.
    Axis(usize),
    /// The axis of consecutive samples and one of rows.
    Both { axes: [usize; 2], order: Order, block: StreamBlock },
}

/// What a level is made of, in the order of analysis, and why.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub stages: Vec<Stage>,
    pub choice: Choice,
}

impl Chosen {
    /// Whether the level is one pass, which must not read the array that it writes.
    pub fn is_single(&self) -> bool {
        self.stages.len() == 1
    }

    /// Whether synthesis begins with a pass over both axes.
    pub fn ends_with_both(&self) -> bool {
        matches!(self.stages.last(), Some(Stage::Both { .. }))
    }
}

/// What is known of a level before its schedule is.
pub(super) struct Question<'a> {
    pub direction: Direction,
    pub level: u32,
    /// The axes of the array, from the outermost to the innermost.
    pub order: &'a [usize],
    /// Whether a level of one pass has to be copied first.
    pub copies: bool,
}

/// A way through a level.
struct Way {
    stages: Vec<Stage>,
    candidate: Candidate,
}

impl Lowering<'_> {
    /// Chooses. `quad(n, i, pair)` says where a pass over both axes would read and write if it were part `i` of `n`.
    pub(super) fn choose(
        &mut self,
        question: &Question,
        quad: impl Fn(&Self, usize, usize, &Pair) -> Quad,
    ) -> Result<Chosen, PlanError> {
        let Question { direction, level, .. } = *question;
        let shape = self.problem.geometry.level_shape(level);
        let copy = self.model().copy(shape.iter().product()).time;
        let way = |stages: Vec<Stage>, block: Block, cost: Cost| {
            let candidate =
                Candidate { block, launches: cost.launches, bytes: cost.bytes as u64, time: cost.time / copy };
            Way { stages, candidate }
        };
        let (stages, cost) = self.separate(question, &shape);
        let separate = way(stages, Block::Separate, cost);
        let mut refused = Vec::new();
        let mut ways: Vec<Way> = Vec::new();
        match self.both(question, &shape, quad) {
            Ok(found) => ways.extend(found.into_iter().map(|(stages, block, cost)| way(stages, block, cost))),
            Err(reason) => refused.push(Refused { schedule: Schedule::Stream, reason }),
        }
        let wanted = self.kernels.tuning.schedule;
        let forced = !self.lenient && wanted != Schedule::Auto;
        match wanted {
            Schedule::Separate => {}
            Schedule::Auto => ways.push(separate),
            _ if ways.is_empty() && forced => {
                let reason = refused.remove(0).reason;
                return Err(PlanError::Refused { schedule: wanted, direction, level: level + 1, reason });
            }
            _ if ways.is_empty() => ways.push(separate),
            _ => {}
        }
        if wanted == Schedule::Separate {
            let (stages, cost) = self.separate(question, &shape);
            ways = vec![way(stages, Block::Separate, cost)];
            refused.clear();
        }
        ways.sort_by(|a, b| a.candidate.time.total_cmp(&b.candidate.time));
        let mut ways = ways.into_iter();
        let mut last = None;
        for Way { stages, candidate: taken } in ways.by_ref() {
            match self.make(direction, &stages) {
                Ok(()) => {
                    let others = ways.map(|way| way.candidate).collect();
                    let reason = if wanted == Schedule::Auto { Reason::Predicted } else { Reason::Asked };
                    let choice = Choice { direction, level: level + 1, shape, taken, reason, others, refused };
                    return Ok(Chosen { stages, choice });
                }
                Err(PlanError::Schedule(e)) => {
                    refused.push(Refused { schedule: taken.block.schedule(), reason: e.to_string() });
                    last = Some(e);
                }
                Err(e) => return Err(e),
            }
        }
        let reason = last.map_or_else(|| "nothing is left to choose".into(), |e| e.to_string());
        Err(PlanError::Refused { schedule: wanted, direction, level: level + 1, reason })
    }

    /// Makes the kernels of stages whose shape may turn out not to fit.
    fn make(&mut self, direction: Direction, stages: &[Stage]) -> Result<(), PlanError> {
        for stage in stages {
            if let Stage::Both { order, block, .. } = stage {
                self.kernels.get(Key::Stream(direction, self.sample, *order, block.shape()))?;
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
        (axes.into_iter().map(Stage::Axis).collect(), cost)
    }

    fn axis_cost(&self, question: &Question, shape: &[usize], axes: &[usize], i: usize) -> Cost {
        let (outer, inner) = (self.sample.bytes(), work_of(self.sample).bytes());
        let sides = [if i == 0 { outer } else { inner }, if i + 1 == axes.len() { outer } else { inner }];
        let rows = Some(axes[i]) == innermost(question.order, self.problem.geometry.shape());
        self.model().pass(question.direction, shape.iter().product(), shape[axes[i]], rows, sides)
    }

    /// All ways with a pass over both axes, or why there is none.
    #[allow(clippy::type_complexity)]
    fn both(
        &self,
        question: &Question,
        shape: &[usize],
        quad: impl Fn(&Self, usize, usize, &Pair) -> Quad,
    ) -> Result<Vec<(Vec<Stage>, Block, Cost)>, String> {
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
        let pair = Pair { direction, level, axes: [x, y], order: lifted, extent: shape, parity, gain: 0 };
        let quad = quad(self, axes.len() - 1, first, &pair);
        if std::iter::once(&quad.signal).chain(&quad.bands).any(|view| view.strides[x] != 1) {
            return Err("samples along the innermost axis are not beside each other".into());
        }
        let jobs = pair.jobs(&quad, self.sample.bytes()).ok_or("a side has more than 2³¹ samples")?;
        let mut job = jobs.job;
        if self.misaligned {
            // Arrays of the user's may begin anywhere.
            let elsewhere = |array| if matches!(array, Array::Scratch(_)) { 0 } else { self.sample.bytes() as u64 };
            let arrays = std::iter::once(&mut job.signal).chain(&mut job.bands);
            arrays.zip(jobs.arrays).for_each(|(a, array)| a.address = a.address.wrapping_add(elsewhere(array)));
        }
        let machine = &self.kernels.tuning.machine;
        let launches = jobs.launches();
        let build = |mut block: StreamBlock| {
            let walk = self.kernels.walk(direction, self.sample, block)?;
            let tuning = walk.tuning(&job, machine.multiprocessors)?;
            block.chunk = tuning.chunk.max(Walk::least_chunk(&job)) as u32;
            let mut cost = Cost::default();
            let one = self.model().stream(direction, &walk, &job, block.chunk);
            (0..launches).for_each(|_| cost += one);
            for i in (0..axes.len()).filter(|i| ![at, other].contains(i)) {
                cost += self.axis_cost(question, shape, &axes, i);
            }
            if axes.len() == 2 && copies {
                cost += self.model().copy(shape.iter().product());
            }
            let mut stages: Vec<Stage> = axes.iter().map(|&axis| Stage::Axis(axis)).collect();
            stages.splice(first..first + 2, [Stage::Both { axes: [x, y], order: lifted, block }]);
            Ok((stages, Block::Stream(block), cost))
        };
        let mut found = Vec::new();
        let mut reason = None;
        for block in self.stream_blocks() {
            match build(block) {
                Ok(way) => found.push(way),
                Err(e) => {
                    let e: lifting_codegen::schedule::ScheduleError = e;
                    reason.get_or_insert(e.to_string());
                }
            }
        }
        if found.is_empty() { Err(reason.unwrap_or_else(|| "it has no block".into())) } else { Ok(found) }
    }

    /// Blocks worth considering: the one that is proposed, and lanes of half as many columns, which need fewer registers.
    fn stream_blocks(&self) -> Vec<StreamBlock> {
        let stream::Shape { columns, warps, ring, .. } = stream::Shape::for_sample(self.sample);
        let halves = [columns, columns / 2].into_iter();
        let legal = halves.filter(|c| *c >= 2 && u64::from(*c) * self.sample.bytes() as u64 >= VECTOR / 2);
        legal.map(|columns| StreamBlock { columns, warps, ring, chunk: 0 }).collect()
    }
}

/// The innermost axis that has more than one sample.
fn innermost(order: &[usize], shape: &[usize]) -> Option<usize> {
    order.iter().rev().copied().find(|&axis| shape[axis] > 1)
}
