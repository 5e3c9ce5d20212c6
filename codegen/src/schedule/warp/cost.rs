//! Cost estimate of a `warp` launch.

use super::WarpFit;
use crate::machine::Machine;
use crate::schedule::demand::{Demand, beyond, idle, warps};
use crate::schedule::level::{Job, RowAlignment};
use lifting_dsl::Direction;

impl WarpFit {
    pub(in crate::schedule) fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        let c = &machine.constants().warp;
        let (operations, inverse) = (self.axis.operations(), usize::from(self.options.direction == Direction::Inverse));
        let (packed, lane) = (usize::from(self.shape.packed), self.shape.columns as usize / 2);
        let (reads, columns) = (self.reads(), f64::from(self.shape.columns));
        // Stores of a lane in each row: to two bands, or to the image.
        let (stores, tiny) = match (self.options.direction, lane * self.options.sample.bytes()) {
            (Direction::Inverse, _) => (1.0, 0.0),
            (Direction::Forward, ..8) => (2.0, c.partial_sector_cost),
            (Direction::Forward, _) => (2.0, 0.0),
        };
        let samples = f64::from(self.shape.rows) * columns;
        let latency = samples * c.sample_latency[packed] + self.rows() as f64 * stores * c.store_latency[packed];
        let each = (2.0 * f64::from(chunk) / self.rows() as f64).max(1.0);
        let shared = warps(job, self.columns(), chunk, machine);
        let work = c.operation_instructions[packed] * operations + c.overhead_instructions[packed] / columns;
        let is_gathered = matches!(self.shape.takes, RowAlignment::Image | RowAlignment::Any);
        let gathered = if is_gathered { (columns / c.gather_columns[packed]).max(1.0) } else { 1.0 };
        let lifted = beyond(job.width, self.columns()) * idle(job, self.columns(), self.rows(), c.idle_power);
        let is_unsure = i64::from(self.shape.rows) - self.rows() > c.fitted_halo_rows;
        let unsure = if is_unsure { c.long_halo } else { 1.0 };
        let (more_work, longer) = match self.shape.takes {
            RowAlignment::Whole => (1.0, 1.0),
            RowAlignment::Aligned => (c.aligned_instructions[inverse], 1.0),
            RowAlignment::Image if self.shape.packed => (c.image_instructions[inverse], c.unaligned_pairs_latency),
            RowAlignment::Image => (c.image_instructions[inverse], c.unaligned_latency[0]),
            RowAlignment::Any => (c.unaligned_instructions[inverse], c.unaligned_latency[1]),
        };
        Demand {
            moved: 1.0 + tiny,
            instructions: reads * lifted * work * c.stall * unsure * more_work,
            latency: longer * (latency * each * (gathered + c.occupancy_latency[packed] * shared) * unsure),
            power: c.power,
            slower: 1.0,
        }
    }
}
