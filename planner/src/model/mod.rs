//! Cost model: predicts the time of a level, so plans choose before any measurement.
//!
//! Schedules describe the demands of launches over several axes (`schedule::demand`). This module has passes along one
//! axis. Their constants in [`Machine`] are estimates for shared memory, and fitted to measurements otherwise, as the
//! tests show. Measurements on a device (`PlanBuilder::tune`) take precedence over predictions.

use lifting_codegen::action::Action;
use lifting_codegen::ir::Scalar;
use lifting_codegen::machine::Machine;
use lifting_codegen::schedule::demand::work;
use lifting_codegen::schedule::level::Job;
use lifting_codegen::schedule::{Along, Fit, Sides, lattice};
use lifting_codegen::window::Window;
use lifting_dsl::{Boundary, Direction, Scheme};

/// Predicted cost of a level: launches, bytes, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub launches: usize,
    pub bytes: f64,
    pub time: f64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.launches += other.launches;
        self.bytes += other.bytes;
        self.time += other.time;
    }
}

/// Execution of a pass along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassWay {
    /// Along rows, else along columns.
    pub rows: bool,
    /// In registers, else through shared memory.
    pub registers: bool,
}

/// Bytes of samples. They may exceed the addresses of the machine that predicts.
fn bytes(samples: usize, each: usize) -> f64 {
    samples as f64 * each as f64
}

/// A scheme on a machine.
pub(crate) struct Model<'a> {
    pub machine: &'a Machine,
    pub scheme: &'a Scheme,
    pub boundary: Boundary,
    pub sample: Scalar,
}

impl Model<'_> {
    fn memory(&self, bytes: f64) -> f64 {
        self.machine.memory(bytes)
    }

    fn issue(&self, instructions: f64) -> f64 {
        self.machine.issue(instructions)
    }

    fn actions(&self, direction: Direction) -> Vec<Action> {
        Action::all(self.scheme, direction, self.boundary)
    }

    /// Cost of reading and writing `samples` samples once.
    pub fn copy(&self, samples: usize) -> Cost {
        let c = self.machine.constants();
        let bytes = 2.0 * bytes(samples, self.sample.bytes());
        Cost { launches: 1, bytes, time: c.launch.latency + self.memory(bytes) }
    }

    /// Cost of one axis of `length` samples in a level of `samples`, between arrays of two types.
    pub fn pass(&self, direction: Direction, samples: usize, length: usize, way: PassWay, sides: Sides) -> Cost {
        let c = self.machine.constants();
        let steps = self.actions(direction);
        let [operations, accesses] = work(&steps);
        let bytes = bytes(samples, sides.signal.bytes() + sides.bands.bytes());
        let window = || Window::derive(&steps, self.boundary);
        let (moved, issue, walk) = match way {
            PassWay { rows, registers: true } => {
                let around = if rows { c.pass.overhead_instructions } else { c.pass.walk_overhead_instructions };
                let issue = self.issue(samples as f64 * (around + operations / 2.0));
                let pairs = (length / 2).min(10) + (window().kept() / 2) as usize;
                (
                    bytes * c.pass.traffic,
                    issue,
                    c.pass.ramp + if rows { 0.0 } else { pairs as f64 * c.pass.row_pair_latency },
                )
            }
            PassWay { rows, registers: false } => {
                let instructions = c.pass.shared_overhead_instructions + (operations + accesses) / 2.0;
                let issue = self.issue(samples as f64 * instructions) * c.pass.stall;
                let height = 16.max(window().kept() as usize);
                let windows = if rows { 0 } else { length.min(256).div_ceil(height) };
                (bytes, issue, c.pass.ramp + windows as f64 * c.pass.window_latency)
            }
        };
        let lines = samples as f64 / length as f64 * c.pass.line_time / f64::from(self.machine.multiprocessors);
        Cost { launches: 1, bytes, time: c.launch.latency + self.memory(moved).hypot(issue).max(walk).max(lines) }
    }

    /// Cost of one axis of a level of `samples` samples, by blocks of whole vectors, with types of these sizes on the
    /// two sides.
    pub fn lattice(
        &self,
        direction: Direction,
        samples: usize,
        along: Along,
        block: lattice::LatticeShape,
        sides: Sides,
    ) -> Cost {
        let c = self.machine.constants();
        let [from, to] = [sides.signal.bytes(), sides.bands.bytes()];
        let stages = direction.stages(self.scheme, self.boundary).map_or(0, |stages| stages.len()) as f64;
        let bytes = bytes(samples, from + to);
        // Columns that do not fill a sector share it with other blocks, which find it in the L2 cache.
        let wasted = match along {
            Along::Row => 0.0,
            Along::Column => (c.launch.sector / (block.vectors as usize * from.min(to)) as f64 - 1.0).max(0.0),
        };
        let instructions = c.pass.shared_overhead_instructions + c.pass.stage_instructions * stages;
        let issue = self.issue(samples as f64 * instructions) * c.pass.stall;
        let time = self.memory(bytes * (1.0 + c.launch.sector_reread_cost * wasted)).hypot(issue).max(c.pass.ramp);
        Cost { launches: 1, bytes, time: c.launch.latency + time }
    }

    /// Cost of several axes in one launch.
    pub fn launch(&self, fit: &dyn Fit, job: &Job, chunk: u32) -> Cost {
        let [bytes, time] = fit.demand(job, chunk, self.machine).of(job, self.sample.bytes(), self.machine);
        Cost { launches: 1, bytes, time }
    }
}

#[cfg(test)]
mod tests;
