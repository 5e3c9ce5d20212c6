//! What a launch needs besides the arrays: whether it is legal, the height of chunks, what is aligned.

use super::Block;
use crate::schedule::ScheduleError;
use crate::schedule::level::{Job, Tuning};

/// Blocks in y.
const MAX_BLOCKS: i64 = 65535;

impl Block {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first thing that stands against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        job.check("warp", self.options.sample)?;
        job.check_pairs("warp", self.options.boundary)
    }

    /// The tuning of a legal job: a block a warp, unless there were more blocks than a grid has rows.
    ///
    /// # Errors
    /// As [`Block::accepts`].
    pub fn tuning(&self, job: &Job) -> Result<Tuning, ScheduleError> {
        self.accepts(job)?;
        let pairs = (i64::from(job.parity[1]) + i64::from(job.height) + 1) / 2;
        let blocks = (pairs + self.pairs - 1) / self.pairs;
        let each = 1 + (blocks - 1) / (MAX_BLOCKS * i64::from(self.shape.warps));
        let aligned = job.aligned(self.options.sample, self.shape.columns);
        Ok(Tuning { chunk: (each * self.pairs) as i32, aligned, skew: 0 })
    }
}
