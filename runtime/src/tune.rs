//! Measuring instead of predicting: the candidates of every level, run on the device, and the fastest kept as wisdom.

use crate::builder::PlanBuilder;
use crate::device::Device;
use crate::error::PlanError;
use crate::plan::Plan;
use crate::recipe::Choice;
use crate::sample::Sample;
use crate::schedule::{Block, Schedule, StreamBlock, WarpBlock};
use crate::wisdom::Wisdom;
use lifting_codegen::schedule::{Direction, warp};
use std::fmt;

/// One candidate for one level, to be measured.
#[derive(Debug)]
pub struct Trial<'a, T> {
    /// Analysis or synthesis: what of the plan is to be measured.
    pub direction: Direction,
    /// The level of the plan that is tuned; 1 is the finest.
    pub level: u32,
    /// What the trial takes.
    pub block: Block,
    /// A plan of that one level, which takes it.
    pub plan: &'a Plan<T>,
}

/// What was measured of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Analysis or synthesis.
    pub direction: Direction,
    /// The level; 1 is the finest.
    pub level: u32,
    /// The candidate.
    pub block: Block,
    /// How long it took.
    pub microseconds: f64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { direction, level, block, microseconds } = self;
        write!(f, "{} level {level}: {microseconds:.2} µs, {block}", direction.name())
    }
}

/// Warps a block and depth of the ring that are tried.
const BLOCKS: [(u32, u32); 6] = [(1, 4), (1, 8), (2, 4), (4, 4), (4, 8), (8, 4)];

/// Warps a block that are tried of blocks in registers.
const WARPS: [u32; 4] = [1, 2, 4, 8];

/// Heights of chunks that are tried with the fastest of them.
const CHUNKS: [u32; 6] = [4, 8, 16, 32, 64, 128];

impl<T: Sample> PlanBuilder<'_, T> {
    /// Measures the candidates of every level on the device and notes the fastest in `wisdom`, for [`PlanBuilder::wisdom`] and
    /// [`Wisdom::save`]. Gives all that was measured. Takes seconds to minutes, most of it for compiling kernels, and memory for a few arrays of
    /// the plan's size; nothing else should run on the device.
    ///
    /// On the interpreter, which has no time of its own, predictions stand for measurements; on the CPU there is nothing to choose.
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
            #[cfg(feature = "cuda")]
            if let Ok(plan) = trial.plan.cuda() {
                return plan.microseconds(match trial.direction {
                    Direction::Forward => crate::cuda::Transform::Forward,
                    Direction::Inverse => crate::cuda::Transform::Inverse { level: 0 },
                });
            }
            let choice = trial.plan.recipe().choice(trial.direction, 1);
            Ok(choice.map_or(0.0, |choice| choice.taken.time))
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
        let mut all: Vec<Measured> = Vec::new();
        for choice in &plan.recipe().choices {
            // Where there is nothing to choose there is nothing to know.
            let Some(case) = &choice.case else { continue };
            let Choice { direction, level, .. } = *choice;
            let first = all.len();
            let mut attempt = |block: Block, all: &mut Vec<Measured>| -> Result<(), PlanError> {
                let trial = match self.trial(&plan, choice, block).build(device) {
                    Ok(trial) => trial,
                    // A block that the wavelet or the kernel's resources do not allow.
                    Err(PlanError::Refused { .. }) => return Ok(()),
                    Err(e) => return Err(e),
                };
                let Some(taken) = trial.recipe().choice(direction, 1).map(|c| c.taken.block) else { return Ok(()) };
                if all[first..].iter().all(|m| m.block != taken) {
                    let trial = Trial { direction, level, block: taken, plan: &trial };
                    let microseconds = measure(&trial)?;
                    all.push(Measured { direction, level, block: taken, microseconds });
                }
                Ok(())
            };
            let fastest = |all: &[Measured]| {
                let valid = all[first..].iter().filter(|m| m.microseconds.is_finite() && m.microseconds > 0.0);
                valid.min_by(|a, b| a.microseconds.total_cmp(&b.microseconds)).cloned()
            };
            attempt(Block::Separate, &mut all)?;
            attempt(Block::Lattice, &mut all)?;
            let proposed = StreamBlock::proposed(T::KIND);
            for columns in proposed.iter().map(|b| b.columns) {
                for (warps, ring) in BLOCKS {
                    attempt(Block::Stream(StreamBlock { columns, warps, ring, chunk: 0 }), &mut all)?;
                }
            }
            let candidates = || choice.others.iter().chain([&choice.taken]).map(|candidate| candidate.block);
            for block in candidates()
                .filter(|block| [Schedule::Stream, Schedule::Tile, Schedule::Volume].contains(&block.schedule()))
            {
                attempt(block, &mut all)?;
            }
            let own = candidates().filter_map(|block| match block {
                Block::Warp(block) => Some(block),
                _ => None,
            });
            for block in own.chain([warp::Shape::paper().into()]) {
                for warps in WARPS {
                    attempt(Block::Warp(WarpBlock { warps, ..block }), &mut all)?;
                }
            }
            if let Some(Measured { block: block @ (Block::Stream(_) | Block::Volume(_)), .. }) = fastest(&all) {
                for chunk in CHUNKS {
                    attempt(block.with_chunk(chunk), &mut all)?;
                }
            }
            if let Some(Measured { block, microseconds, .. }) = fastest(&all) {
                wisdom.note(case.clone(), block, microseconds);
            }
        }
        Ok(all)
    }

    /// A plan of one level of a plan, in contiguous arrays.
    fn trial(&self, plan: &Plan<T>, choice: &Choice, block: Block) -> Self {
        self.clone().only_level(plan.geometry(), choice.level - 1, (choice.direction, block))
    }
}
