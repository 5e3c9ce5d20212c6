//! Launch checks of the `pyramid` schedule: legality.

use super::PyramidFit;
use crate::schedule::ScheduleError;
use crate::schedule::level::Job;
use lifting_dsl::Boundary;

impl PyramidFit {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "pyramid", what });
        job.check("pyramid", self.options.sample)?;
        let side = self.side();
        if i64::from(job.width.max(job.height)) > side {
            return refuse(format!("the image is {}×{}, a block holds at most {side}×{side}", job.width, job.height));
        }
        if job.parity != [0, 0] {
            return refuse("the positions of the first column and row must be even".into());
        }
        // The last level has two samples along either axis.
        let (levels, most) = (job.levels, (job.width.min(job.height) - 1).ilog2() as i32 + 1);
        if !(1..=most).contains(&levels) {
            let what =
                format!("the number of levels is {levels}, {}×{} samples allow 1 to {most}", job.width, job.height);
            return refuse(what);
        }
        let odd = |n: i32| n % (1 << levels) != 0;
        if self.options.boundary == Boundary::Periodic && (odd(job.width) || odd(job.height)) {
            return refuse(format!(
                "under periodic the width ({}) and the height ({}) must be multiples of {}, for {levels} levels",
                job.width,
                job.height,
                1 << levels
            ));
        }
        Ok(())
    }
}
