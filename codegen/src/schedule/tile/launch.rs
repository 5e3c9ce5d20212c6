//! What a launch needs besides the arrays: whether it is legal, what is aligned.

use super::Block;
use crate::schedule::ScheduleError;
use crate::schedule::level::{BANDS_ALIGNED, Job, MAX_CHUNKS, SIGNAL_ALIGNED, Tuning};
use lifting_dsl::Boundary;

/// Most images of a launch: blocks in z.
pub const MAX_BATCH: i32 = 65535;

impl Block {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first thing that stands against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        job.check("tile", self.options.sample)?;
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "tile", what });
        if job.batch > MAX_BATCH {
            return refuse(format!("the batch is {}, it must be 1 to {MAX_BATCH}", job.batch));
        }
        let most = i64::from(MAX_CHUNKS) * self.rows();
        if i64::from(job.height) + i64::from(job.parity[1]) > most {
            return refuse(format!("the height is {}, tiles of {} rows take {most}", job.height, self.rows()));
        }
        if self.options.boundary == Boundary::Periodic && (job.width % 2 != 0 || job.height % 2 != 0) {
            return refuse(format!(
                "under periodic the width ({}) and the height ({}) must be even",
                job.width, job.height
            ));
        }
        let aligned = job.aligned(self.options.sample, self.shape.columns) == SIGNAL_ALIGNED | BANDS_ALIGNED;
        if self.shape.aligned && (!aligned || job.parity != [0, 0]) {
            return refuse(format!(
                "rows must be aligned to {} samples, those of bands to {}, and the first column's and row's positions ({} and {}) must be even",
                self.shape.columns,
                self.shape.columns / 2,
                job.parity[0],
                job.parity[1]
            ));
        }
        Ok(())
    }

    /// The tuning of a legal job.
    ///
    /// # Errors
    /// As [`Block::accepts`].
    pub fn tuning(&self, job: &Job) -> Result<Tuning, ScheduleError> {
        self.accepts(job)?;
        let aligned = job.aligned(self.options.sample, self.shape.columns);
        Ok(Tuning { chunk: self.shape.rows as i32 / 2, aligned, skew: 0 })
    }
}
