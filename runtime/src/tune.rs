//! Measuring instead of predicting: the candidates of every level, and of several in one launch, run on the device, and
//! the fastest kept as wisdom.

use crate::builder::PlanBuilder;
use crate::device::Device;
use crate::error::PlanError;
use crate::plan::Plan;
use crate::sample::Sample;
use lifting_codegen::schedule::{Direction, warp};
use lifting_planner::{Block, CascadeBlock, Choice, Only, Schedule, StreamBlock, Together, WarpBlock, Wisdom};
use std::fmt;

/// One candidate for one level, or for several, to be measured.
#[derive(Debug)]
pub struct Trial<'a, T> {
    /// Analysis or synthesis: what of the plan is to be measured.
    pub direction: Direction,
    /// The level of the plan that is tuned; 1 is the finest.
    pub level: u32,
    /// How many levels it is about, that one included.
    pub levels: u32,
    /// What the trial takes. Where several levels are launched one by one, what the first of them takes.
    pub block: Block,
    /// A plan of those levels, which takes it.
    pub plan: &'a Plan<T>,
}

/// What was measured of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Analysis or synthesis.
    pub direction: Direction,
    /// The level; 1 is the finest.
    pub level: u32,
    /// How many levels were measured, that one included.
    pub levels: u32,
    /// The candidate. Where several levels were launched one by one, what the first of them takes.
    pub block: Block,
    /// How long it took.
    pub microseconds: f64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { direction, level, levels, block, microseconds } = self;
        match levels {
            1 => write!(f, "{} level {level}: {microseconds:.2} µs, {block}", direction.name()),
            _ => {
                let last = level + levels - 1;
                let apart = if block.is_of_several() { "" } else { "one by one, the first by " };
                write!(f, "{} levels {level} to {last}: {microseconds:.2} µs, {apart}{block}", direction.name())
            }
        }
    }
}

/// Warps a block and depth of the ring that are tried.
const BLOCKS: [(u32, u32); 6] = [(1, 4), (1, 8), (2, 4), (4, 4), (4, 8), (8, 4)];

/// Warps a block that are tried of blocks in registers.
const WARPS: [u32; 4] = [1, 2, 4, 8];

/// Heights of chunks that are tried with the fastest of them.
const CHUNKS: [u32; 6] = [4, 8, 16, 32, 64, 128];

/// Depths of the ring that are tried of two levels in one launch; and heights of chunks with the fastest of them, as
/// parts of what is predicted.
const RINGS: [u32; 4] = [3, 4, 6, 10];
const PARTS: [f64; 6] = [0.5, 0.7, 0.85, 1.2, 1.5, 2.0];

impl<T: Sample> PlanBuilder<'_, T> {
    /// Measures the candidates of every level on the device and notes the fastest in `wisdom`, for
    /// [`PlanBuilder::wisdom`] and [`Wisdom::save`]; then, wherever several levels could be one launch, whether they
    /// are faster so than one by one. Gives all that was measured. Takes seconds to minutes, most of it for compiling
    /// kernels, and memory for a few arrays of the plan's size; nothing else should run on the device.
    ///
    /// On the interpreter, which has no time of its own, predictions stand for measurements; on the CPU there is
    /// nothing to choose.
    ///
    /// ```
    /// use lifting::{Device, Plan, Reason, Wisdom, catalogue};
    /// let wavelet = catalogue::find("cdf97")?;
    /// let plan = Plan::builder(&wavelet).shape(&[256, 256]).sample::<f32>();
    /// let mut wisdom = Wisdom::default();
    /// plan.tune(&Device::Interpreter, &mut wisdom)?;
    /// let tuned = plan.wisdom(&wisdom).build(&Device::Interpreter)?;
    /// assert!(tuned.recipe().choices.iter().all(|choice| choice.reason == Reason::Measured));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`PlanBuilder::build`], and if the device fails while it measures; what was measured until then is kept.
    pub fn tune(&self, device: &Device, wisdom: &mut Wisdom) -> Result<Vec<Measured>, PlanError> {
        self.tune_with(device, wisdom, |trial| {
            if let Some(measured) = trial.plan.microseconds(trial.direction) {
                return measured;
            }
            // Of several levels, each counts for what it has of the first one's samples.
            let samples = |choice: &Choice| choice.shape.iter().product::<usize>() as f64;
            let choices = || trial.plan.recipe().choices.iter().filter(|choice| choice.direction == trial.direction);
            let first = choices().next().map_or(1.0, samples).max(1.0);
            Ok(choices().map(|choice| choice.taken.time * samples(choice) / first).sum())
        })
    }

    /// [`PlanBuilder::tune`] with a measurement of one's own, in microseconds.
    ///
    /// # Errors
    /// As there, and what `measure` fails with.
    pub fn tune_with(
        &self,
        device: &Device,
        wisdom: &mut Wisdom,
        mut measure: impl FnMut(&Trial<T>) -> Result<f64, PlanError>,
    ) -> Result<Vec<Measured>, PlanError> {
        let plan = self.clone().schedule(Schedule::Auto).wisdom(&Wisdom::default()).build(device)?;
        let mut all = self.tune_levels(&plan, device, wisdom, &mut measure)?;
        for choice in &plan.recipe().choices {
            // What wisdom calls the same is one question: the last two levels may be two or all that are left.
            let mut asked: Vec<Together> = Vec::new();
            for together in &choice.together {
                match asked.iter_mut().find(|other| other.case == together.case) {
                    Some(other) => other.blocks.extend(&together.blocks),
                    None => asked.push(together.clone()),
                }
            }
            for together in &asked {
                all.extend(self.tune_together(&plan, choice, together, (device, wisdom), &mut measure)?);
            }
        }
        Ok(all)
    }

    /// Every level by itself.
    fn tune_levels(
        &self,
        plan: &Plan<T>,
        device: &Device,
        wisdom: &mut Wisdom,
        measure: &mut impl FnMut(&Trial<T>) -> Result<f64, PlanError>,
    ) -> Result<Vec<Measured>, PlanError> {
        let mut all: Vec<Measured> = Vec::new();
        for choice in &plan.recipe().choices {
            // Where there is nothing to choose there is nothing to know.
            let Some(case) = &choice.case else { continue };
            let direction = choice.direction;
            let mut found: Vec<Measured> = Vec::new();
            let mut attempt = |block: Block, found: &mut Vec<Measured>| {
                let only = Only::Block(direction, block);
                self.attempt((plan, device), (choice, 1), only, found, measure)
            };
            attempt(Block::Separate, &mut found)?;
            attempt(Block::Lattice, &mut found)?;
            let proposed = StreamBlock::proposed(T::KIND);
            for columns in proposed.iter().map(|b| b.columns) {
                for (warps, ring) in BLOCKS {
                    attempt(Block::Stream(StreamBlock { columns, warps, ring, chunk: 0 }), &mut found)?;
                }
            }
            let candidates = || choice.others.iter().chain([&choice.taken]).map(|candidate| candidate.block);
            for block in candidates()
                .filter(|block| [Schedule::Stream, Schedule::Tile, Schedule::Volume].contains(&block.schedule()))
            {
                attempt(block, &mut found)?;
            }
            let own = candidates().filter_map(|block| match block {
                Block::Warp(block) => Some(block),
                _ => None,
            });
            for block in own.chain([warp::Shape::paper().into()]) {
                for warps in WARPS {
                    attempt(Block::Warp(WarpBlock { warps, ..block }), &mut found)?;
                }
            }
            if let Some(&Measured { block: block @ (Block::Stream(_) | Block::Volume(_)), .. }) = fastest(&found) {
                for chunk in CHUNKS {
                    attempt(block.with_chunk(chunk), &mut found)?;
                }
            }
            if let Some(&Measured { block, microseconds, .. }) = fastest(&found) {
                wisdom.note(case.clone(), Some(block), microseconds);
            }
            all.extend(found);
        }
        Ok(all)
    }

    /// Measures a plan of a choice's level and those after it, so many in all, unless it cannot be, or what it takes is
    /// among what was found.
    fn attempt(
        &self,
        (plan, device): (&Plan<T>, &Device),
        (choice, levels): (&Choice, u32),
        only: Only,
        found: &mut Vec<Measured>,
        measure: &mut impl FnMut(&Trial<T>) -> Result<f64, PlanError>,
    ) -> Result<(), PlanError> {
        let Choice { direction, level, .. } = *choice;
        let trial = match self.clone().only_levels(plan.geometry(), (level - 1, levels), only).build(device) {
            Ok(trial) => trial,
            // A block that the wavelet or the kernel's resources do not allow.
            Err(PlanError::Refused { .. }) => return Ok(()),
            Err(e) => return Err(e),
        };
        let Some(block) = trial.recipe().choice(direction, 1).map(|c| c.taken.block) else { return Ok(()) };
        if found.iter().all(|m| m.block != block) {
            let microseconds = measure(&Trial { direction, level, levels, block, plan: &trial })?;
            found.push(Measured { direction, level, levels, block, microseconds });
        }
        Ok(())
    }

    /// Several levels in one launch, or the last one in a launch for several, against the same levels one by one, each
    /// as wisdom says by now.
    fn tune_together(
        &self,
        plan: &Plan<T>,
        choice: &Choice,
        together: &Together,
        (device, wisdom): (&Device, &mut Wisdom),
        measure: &mut impl FnMut(&Trial<T>) -> Result<f64, PlanError>,
    ) -> Result<Vec<Measured>, PlanError> {
        let (direction, levels) = (choice.direction, together.case.levels());
        let mut all: Vec<Measured> = Vec::new();
        let known = self.clone().wisdom(wisdom);
        let mut attempt =
            |only: Only, all: &mut Vec<Measured>| known.attempt((plan, device), (choice, levels), only, all, measure);
        attempt(Only::Apart, &mut all)?;
        for &block in &together.blocks {
            attempt(Only::Block(direction, block), &mut all)?;
        }
        let columns = together.blocks.iter().filter_map(|block| match block {
            Block::Cascade(block) => Some(block.columns),
            _ => None,
        });
        // Lanes of 16 bytes, or of 32.
        let mut columns: Vec<u32> = columns.flat_map(|columns| [columns / 2, columns, columns * 2]).collect();
        columns.sort_unstable();
        columns.dedup();
        for (columns, ring) in columns.into_iter().flat_map(|columns| RINGS.map(|ring| (columns, ring))) {
            let block = Block::Cascade(CascadeBlock { columns, ring, chunk: 0 });
            attempt(Only::Block(direction, block), &mut all)?;
        }
        if let Some(&Measured { block: block @ Block::Cascade(_), .. }) = fastest(&all) {
            for part in PARTS {
                let chunk = (f64::from(block.chunk()) * part).round().max(1.0);
                attempt(Only::Block(direction, block.with_chunk(chunk as u32)), &mut all)?;
            }
        }
        if let Some(&Measured { block, microseconds, .. }) = fastest(&all) {
            let block = Some(block).filter(Block::is_of_several);
            // Of one level it is known already what is the fastest else.
            if levels > 1 || block.is_some() {
                wisdom.note(together.case.clone(), block, microseconds);
            }
        }
        Ok(all)
    }
}

/// The fastest, if a time makes sense.
fn fastest(all: &[Measured]) -> Option<&Measured> {
    let valid = all.iter().filter(|m| m.microseconds.is_finite() && m.microseconds > 0.0);
    valid.min_by(|a, b| a.microseconds.total_cmp(&b.microseconds))
}
