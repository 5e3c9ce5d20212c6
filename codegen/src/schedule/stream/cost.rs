//! Cost estimate of a `stream` launch.

use super::StreamFit;
use crate::machine::Machine;
use crate::schedule::demand::{Demand, beyond, idle, row_pairs, warps};
use crate::schedule::level::Job;
use lifting_dsl::Direction;

impl StreamFit {
    pub(super) fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        let (launch, c) = (&machine.constants().launch, &machine.constants().stream);
        let (operations, inverse) = (self.axis.operations(), usize::from(self.options.direction == Direction::Inverse));
        let registers = launch.other_registers + self.registers();
        let (bytes, reads) = (self.options.sample.bytes(), self.reads(chunk as i32));
        let narrow = if (self.shape.columns as usize * bytes) < 16 { c.narrow_instructions } else { 1.0 };
        let stall = registers as f64 / c.registers_at_full_issue
            * if registers > launch.most_registers { launch.spill_factor } else { 1.0 };
        let pair = c.row_pair_latency + c.operation_latency * operations + c.column_latency * 16.0 / bytes as f64;
        let pairs = row_pairs(job).min(f64::from(chunk)) + self.halo_pairs() as f64;
        let resident = f64::from(machine.registers / 32) / registers as f64;
        let shared = warps(job, self.strip_columns(), chunk, machine).min(resident);
        Demand {
            moved: 1.0 + (reads - 1.0) * c.reread_cost[inverse],
            instructions: reads
                * beyond(job.width, self.strip_columns())
                * idle(job, self.strip_columns(), 2 * i64::from(chunk), c.idle_power)
                * (c.overhead_instructions + operations)
                * stall
                * narrow,
            latency: (c.latency + pairs * pair) * (1.0 + c.occupancy_latency * shared),
            power: c.power,
            slower: if self.shape.is_aligned() { 1.0 } else { c.unaligned[inverse] },
        }
    }
}
