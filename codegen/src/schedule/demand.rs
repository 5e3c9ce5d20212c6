//! Launch demand: estimates of a launch's time on a device, so that plans choose before anything has run.
//!
//! The time of a launch is a constant plus a combination of two terms: more than the larger and less than the sum
//! ([`together`]). Large images are limited by throughput of memory and of instructions. Small ones are limited by the
//! time of one walk or block from its first row to its last, which grows with the occupancy of a multiprocessor. Each
//! schedule computes both (its `cost.rs`), with constants fitted to measurements of a device ([`crate::machine`]).

use super::level::Job;
use crate::action::Action;
use crate::machine::Machine;
use lifting_dsl::{RoundingMode, Step};

/// Demand of a launch on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Effective reads of each sample from memory; repeated reads may count in part.
    pub moved: f64,
    /// Thread instructions for each sample.
    pub instructions: f64,
    /// Microseconds of a walk, or of a block.
    pub latency: f64,
    /// Power of [`together`] that combines throughput and latency.
    pub power: f64,
    /// Factor on the combined time.
    pub slower: f64,
}

impl Demand {
    /// Bytes read and written by a launch for this job, and its microseconds. `sample` is the bytes of a sample.
    pub fn of(&self, job: &Job, sample: usize, machine: &Machine) -> [f64; 2] {
        let launch = &machine.constants().launch;
        let samples = samples(job);
        let bytes = samples * sample as f64 * (self.moved + 1.0);
        let issue = machine.issue(samples * self.instructions);
        let throughput = together(launch.throughput_power, machine.memory(bytes), issue);
        [bytes, launch.latency + self.slower * together(self.power, throughput, self.latency)]
    }
}

/// The p-norm of two times: more than the larger and less than their sum. The higher the power, the less the smaller
/// counts.
pub fn together(power: f64, a: f64, b: f64) -> f64 {
    (a.powf(power) + b.powf(power)).powf(1.0 / power)
}

/// Instructions to lift a pair of samples along one axis, and their accesses: reads of the other phase, and writes.
pub fn work(actions: &[Action]) -> [f64; 2] {
    let mut counts = [0; 2];
    for action in actions {
        let unit = |w: f64| w.abs() == 1.0;
        let step = match action {
            Action::Step(step) => step,
            // Two products and a sum for each sample of the pair.
            Action::Stage(_) => {
                counts = [counts[0] + 6, counts[1] + 4];
                continue;
            }
        };
        let [operations, accesses] = match step {
            Step::Integer(s) => {
                let products = s.taps.iter().filter(|t| t.weight.abs() != 1).count();
                let correction = if s.mode == RoundingMode::Floor { 0 } else { 3 };
                let rounds = usize::from(s.rounding != 0) + usize::from(s.shift != 0) + correction;
                // The sum's taps, the update, and the wrap to the sample type.
                [s.taps.len() + products + rounds + 2, s.taps.len() + 2]
            }
            Step::Real(s) => {
                let taps: usize = s.groups.iter().map(|g| g.offsets.len()).sum();
                let products = s.groups.iter().filter(|g| !unit(g.weight.to_f64())).count();
                [taps + products, taps + 2]
            }
            Step::Scale(_) => [1, 2],
        };
        counts[0] += operations;
        counts[1] += accesses;
    }
    counts.map(|n| n as f64)
}

/// Samples of a job.
pub(super) fn samples(job: &Job) -> f64 {
    let depth = job.planes.map_or(1, |planes| planes.depth);
    f64::from(job.width) * f64::from(job.height) * f64::from(depth) * f64::from(job.batch)
}

pub(super) fn row_pairs(job: &Job) -> f64 {
    f64::from((job.height + job.parity[1] + 1) / 2)
}

/// Warps of a launch for each multiprocessor, of `columns` columns each.
pub(super) fn warps(job: &Job, columns: i64, chunk: u32, machine: &Machine) -> f64 {
    let strips = (f64::from(job.width + job.parity[0]) / columns as f64).ceil();
    let all = strips * (row_pairs(job) / f64::from(chunk)).ceil() * f64::from(job.batch);
    all / f64::from(machine.multiprocessors)
}

/// Slowdown of batches of images that do not fill their blocks: a power of the excess. A single image has 1, as
/// measured.
pub(super) fn idle(job: &Job, columns: i64, rows: i64, power: f64) -> f64 {
    if job.batch == 1 { 1.0 } else { (beyond(job.width, columns) * beyond(job.height, rows)).powf(power) }
}

/// Ratio of the length of all blocks, including the last partial one, to the actual length.
pub(super) fn beyond(length: i32, block: i64) -> f64 {
    let (length, block) = (f64::from(length), block as f64);
    (length / block).ceil() * block / length
}
