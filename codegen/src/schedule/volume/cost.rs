//! Cost estimate of a `volume` launch.

use super::VolumeFit;
use crate::machine::Machine;
use crate::schedule::demand::{Demand, samples};
use crate::schedule::level::Job;
use lifting_dsl::Direction;

impl VolumeFit {
    /// Time by instructions of the threads of consecutive blocks.
    pub(super) fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        let c = &machine.constants().volume;
        let (operations, inverse) = (self.axis.operations(), usize::from(self.options.direction == Direction::Inverse));
        let multiprocessors = machine.multiprocessors;
        let steps = self.duration(job, chunk as i32, multiprocessors) as f64;
        let threads = f64::from(32 * self.shape.warps);
        let around = c.overhead_instructions[inverse];
        let each = (self.pairs_a_step() * operations + around).max(c.step_instructions) * c.stall;
        let resident = f64::from(multiprocessors) * self.resident() as f64;
        Demand {
            moved: 1.0,
            instructions: resident * threads * steps * each / samples(job),
            latency: 0.0,
            power: c.power,
            slower: if self.shape.aligned { 1.0 } else { machine.constants().tile.unaligned[inverse] },
        }
    }
}
