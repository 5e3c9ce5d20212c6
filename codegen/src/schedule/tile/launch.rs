//! Launch checks of the `tile` schedule: legality and alignment.

use super::TileFit;
use crate::schedule::ScheduleError;
use crate::schedule::level::{Job, MAX_CHUNKS};

impl TileFit {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        job.check("tile", self.options.sample)?;
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "tile", what });
        job.check_batch("tile")?;
        let most = i64::from(MAX_CHUNKS) * self.rows();
        if i64::from(job.height) + i64::from(job.parity[1]) > most {
            return refuse(format!("the height is {}, tiles of {} rows allow at most {most}", job.height, self.rows()));
        }
        job.check_pairs("tile", self.options.boundary)?;
        if self.shape.aligned {
            job.check_alignment("tile", self.options.sample, self.shape.columns, true)?;
        }
        Ok(())
    }
}
