//! Cost estimate of a `tile` launch.

use super::TileFit;
use crate::machine::Machine;
use crate::schedule::demand::{Demand, idle, warps};
use crate::schedule::level::Job;
use lifting_dsl::Direction;

impl TileFit {
    pub(super) fn demand(&self, job: &Job, machine: &Machine) -> Demand {
        let c = &machine.constants().tile;
        let (operations, forward) = (self.axis.operations(), self.options.direction == Direction::Forward);
        let [across, down] = self.rounds().map(|n| n as f64);
        let stores = if forward { c.scalar_store_instructions } else { 1.0 };
        let lonely = if across < 2.0 { c.single_round_stall } else { 1.0 };
        let slower = if forward { c.scalar_store_latency } else { 1.0 };
        let columns = f64::from(self.shape.columns);
        let latency = (c.vertical_latency * down + c.horizontal_latency * across * columns) * slower;
        // A tile counts as a strip and chunk, of all warps of its block.
        let tiles = warps(job, self.columns(), (self.rows() / 2) as u32, machine);
        let shared = (tiles * f64::from(self.shape.warps)).min(c.resident_warps);
        Demand {
            moved: 1.0,
            instructions: self.reads()
                * idle(job, self.columns(), self.rows(), c.idle_power)
                * (c.overhead_instructions + operations)
                * c.stall
                * stores
                * lonely,
            latency: latency * (1.0 + c.occupancy_latency * shared),
            power: c.power,
            slower: if self.shape.aligned { 1.0 } else { c.unaligned[usize::from(!forward)] },
        }
    }
}
