//! Tuning: measures the candidates of every level, and of several levels in one launch, and keeps the fastest as
//! wisdom.

use crate::builder::PlanBuilder;
use crate::device::Device;
use crate::error::PlanError;
use crate::plan::Plan;
use crate::sample::Sample;
use lifting_codegen::schedule::{SCHEDULES, Shape};
use lifting_dsl::Direction;
use lifting_planner::{Choice, Only, Schedule, Together, Way, Wisdom, scalar_of};
use std::fmt;

/// One candidate to measure, for one level or for several.
#[derive(Debug)]
pub struct Trial<'a, T> {
    /// Direction to measure: analysis or synthesis.
    pub direction: Direction,
    /// Level of the tuned plan; 1 is the finest.
    pub level: u32,
    /// Number of levels, including this one.
    pub levels: u32,
    /// Candidate of the trial. For several levels launched one by one, that of the first level.
    pub way: Way,
    /// Plan of those levels with this candidate.
    pub plan: &'a Plan<T>,
}

/// Measurement of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Analysis or synthesis.
    pub direction: Direction,
    /// Level; 1 is the finest.
    pub level: u32,
    /// Number of measured levels, including this one.
    pub levels: u32,
    /// The candidate. For several levels launched one by one, that of the first level.
    pub way: Way,
    /// Time in microseconds.
    pub microseconds: f64,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { direction, level, levels, way, microseconds } = self;
        match levels {
            1 => write!(f, "{} level {level}: {microseconds:.2} µs, {way}", direction.name()),
            _ => {
                let last = level + levels - 1;
                let apart = if way.is_of_several() { "" } else { "one by one, the first by " };
                write!(f, "{} levels {level} to {last}: {microseconds:.2} µs, {apart}{way}", direction.name())
            }
        }
    }
}

impl<T: Sample> PlanBuilder<'_, T> {
    /// Measures the candidates of every level on the device and stores the fastest in `wisdom`, for
    /// [`PlanBuilder::wisdom`] and [`Wisdom::save`]. Then it compares several levels in one launch with the same levels
    /// one by one. Returns all measurements. Takes seconds to minutes, mostly for compiling kernels, and memory for a
    /// few arrays of the plan's size. Nothing else should run on the device.
    ///
    /// On the interpreter, which has no meaningful time, predictions replace measurements. On the CPU there is no
    /// choice.
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
    /// As for [`PlanBuilder::build`], and if the device fails while measuring; earlier measurements are kept.
    pub fn tune(&self, device: &Device, wisdom: &mut Wisdom) -> Result<Vec<Measured>, PlanError> {
        self.tune_with(device, wisdom, |trial| {
            if let Some(measured) = trial.plan.microseconds(trial.direction) {
                return measured;
            }
            // Weights each of several levels by its share of the first one's samples.
            let samples = |choice: &Choice| choice.shape.iter().product::<usize>() as f64;
            let choices = || trial.plan.recipe().choices.iter().filter(|choice| choice.direction == trial.direction);
            let first = choices().next().map_or(1.0, samples).max(1.0);
            Ok(choices().map(|choice| choice.taken.time * samples(choice) / first).sum())
        })
    }

    /// [`PlanBuilder::tune`] with a custom measurement, in microseconds.
    ///
    /// # Errors
    /// As for [`PlanBuilder::tune`], and errors of `measure`.
    pub fn tune_with(
        &self,
        device: &Device,
        wisdom: &mut Wisdom,
        mut measure: impl FnMut(&Trial<T>) -> Result<f64, PlanError>,
    ) -> Result<Vec<Measured>, PlanError> {
        let plan = self.clone().schedule(Schedule::Auto).wisdom(&Wisdom::default()).build(device)?;
        let mut all = self.tune_levels(&plan, device, wisdom, &mut measure)?;
        for choice in &plan.recipe().choices {
            // Wisdom treats equal cases as one: the last two levels may be two, or all remaining ones.
            let mut asked: Vec<Together> = Vec::new();
            for together in &choice.together {
                match asked.iter_mut().find(|other| other.case == together.case) {
                    Some(other) => other.shapes.extend(&together.shapes),
                    None => asked.push(together.clone()),
                }
            }
            for together in &asked {
                all.extend(self.tune_together(&plan, choice, together, (device, wisdom), &mut measure)?);
            }
        }
        Ok(all)
    }

    /// Tunes every level by itself.
    fn tune_levels(
        &self,
        plan: &Plan<T>,
        device: &Device,
        wisdom: &mut Wisdom,
        measure: &mut impl FnMut(&Trial<T>) -> Result<f64, PlanError>,
    ) -> Result<Vec<Measured>, PlanError> {
        let mut all: Vec<Measured> = Vec::new();
        for choice in &plan.recipe().choices {
            // Without a choice there is nothing to learn.
            let Some(case) = &choice.case else { continue };
            let direction = choice.direction;
            let mut found: Vec<Measured> = Vec::new();
            let mut attempt = |way: Way, found: &mut Vec<Measured>| {
                let only = Only::Way(direction, way);
                self.attempt((plan, device), (choice, 1), only, found, measure)
            };
            attempt(Way::Separate, &mut found)?;
            attempt(Way::Lattice, &mut found)?;
            let candidates = choice.others.iter().chain([&choice.taken]).filter_map(|candidate| candidate.way.shape());
            let considered: Vec<Shape> = candidates.collect();
            for shape in trials::<T>(&considered, false) {
                attempt(Way::Launch(shape), &mut found)?;
            }
            for shape in refined(&found) {
                attempt(Way::Launch(shape), &mut found)?;
            }
            if let Some(&Measured { way, microseconds, .. }) = fastest(&found) {
                wisdom.note(case.clone(), Some(way), microseconds);
            }
            all.extend(found);
        }
        Ok(all)
    }

    /// Measures a plan of `levels` levels from the choice's on. Skips an impossible plan, and a candidate that was
    /// already measured.
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
            // The wavelet or the kernel's resources do not allow the shape.
            Err(PlanError::Refused { .. }) => return Ok(()),
            Err(e) => return Err(e),
        };
        let Some(way) = trial.recipe().choice(direction, 1).map(|c| c.taken.way) else { return Ok(()) };
        if found.iter().all(|m| m.way != way) {
            let microseconds = measure(&Trial { direction, level, levels, way, plan: &trial })?;
            found.push(Measured { direction, level, levels, way, microseconds });
        }
        Ok(())
    }

    /// Compares several levels in one launch, or a last level in a launch for several, with the same levels one by one,
    /// each by current wisdom.
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
        for shape in trials::<T>(&together.shapes, true) {
            attempt(Only::Way(direction, Way::Launch(shape)), &mut all)?;
        }
        for shape in refined(&all) {
            attempt(Only::Way(direction, Way::Launch(shape)), &mut all)?;
        }
        if let Some(&Measured { way, microseconds, .. }) = fastest(&all) {
            let way = Some(way).filter(|way| way.is_of_several());
            // For a single level, the fastest other candidate is already known.
            if levels > 1 || way.is_some() {
                wisdom.note(together.case.clone(), way, microseconds);
            }
        }
        Ok(all)
    }
}

/// Shapes that the schedules of one level, or of several, want measured, given the shapes that plans consider.
fn trials<T: Sample>(considered: &[Shape], of_several: bool) -> impl Iterator<Item = Shape> {
    let schedules = SCHEDULES.iter().filter(move |schedule| schedule.extent().is_of_several() == of_several);
    schedules.flat_map(|&schedule| {
        let own = considered.iter().copied().filter(|shape| shape.schedule() == schedule);
        schedule.trials(&own.collect::<Vec<_>>(), scalar_of(T::KIND))
    })
}

/// Further shapes that the fastest schedule wants measured.
fn refined(all: &[Measured]) -> Vec<Shape> {
    let shape = fastest(all).and_then(|fastest| fastest.way.shape());
    shape.map(|shape| shape.schedule().refined(shape)).unwrap_or_default()
}

/// The fastest measurement with a valid time.
fn fastest(all: &[Measured]) -> Option<&Measured> {
    let valid = all.iter().filter(|m| m.microseconds.is_finite() && m.microseconds > 0.0);
    valid.min_by(|a, b| a.microseconds.total_cmp(&b.microseconds))
}
