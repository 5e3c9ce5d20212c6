//! Cost estimate of a `cascade` launch.

use super::CascadeFit;
use crate::machine::Machine;
use crate::schedule::demand::Demand;
use crate::schedule::level::Job;
use lifting_dsl::Direction;

impl CascadeFit {
    /// The walk's estimated steps, times the time of a step.
    pub(super) fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        let c = &machine.constants().cascade;
        let (operations, inverse) = (self.axis.operations(), usize::from(self.options.direction == Direction::Inverse));
        let bytes = (self.shape.columns as usize * self.options.sample.bytes()) as f64;
        let real = if inverse == 1 && self.arith.work.is_float() { c.real_part } else { 1.0 };
        let step = match self.is_packed() {
            true if self.is_busy() => c.pairs_latency[inverse] * bytes * (operations / c.pairs_operations).max(1.0),
            true => c.short_pairs_latency[inverse] * bytes,
            false => c.operation_latency[inverse] * operations * real + c.byte_latency[inverse] * bytes,
        };
        Demand {
            moved: 1.0 + (self.reads(chunk as i32) - 1.0) * c.reread_cost,
            instructions: 0.0,
            latency: self.duration(job, chunk as i32, machine) * step,
            power: c.power,
            slower: 1.0,
        }
    }
}
