//! Cost estimate of a `pyramid` launch.

use super::PyramidFit;
use crate::machine::Machine;
use crate::schedule::demand::Demand;
use crate::schedule::level::Job;

impl PyramidFit {
    /// The time of a block is the sum of its levels, however small the image.
    pub(super) fn demand(&self, job: &Job, machine: &Machine) -> Demand {
        let (c, operations) = (&machine.constants().pyramid, self.axis.operations());
        let threads = f64::from(32 * self.shape.warps());
        let each = f64::from(self.shape.side * self.shape.side) / threads;
        let lifted = self.lifted();
        let [first, others] = [0, 1].map(|i| (f64::from(self.shape.pairs[i]), lifted[i] as f64 * operations));
        let levels = f64::from(job.levels);
        let latency = |(_, lifting): (f64, f64)| 2.0 * (c.pass_latency + c.operation_latency * lifting);
        let issued = |(pairs, lifting): (f64, f64)| {
            2.0 * (c.pass_instructions + c.pair_instructions * pairs + c.operation_instructions * lifting)
        };
        let of_thread =
            c.sample_instructions * each + issued(first) + (levels - 1.0) * c.active_threads * issued(others);
        Demand {
            moved: 1.0,
            instructions: threads * of_thread / (f64::from(job.width) * f64::from(job.height)),
            latency: c.latency + c.sample_latency * each + latency(first) + (levels - 1.0) * latency(others),
            power: c.power,
            slower: 1.0,
        }
    }
}
