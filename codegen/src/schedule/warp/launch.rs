//! Launch checks of the `warp` schedule: legality, block count, alignment.

use super::WarpFit;
use crate::schedule::ScheduleError;
use crate::schedule::level::{Job, RowAlignment, Runs};

/// Maximum grid size in y.
const MAX_BLOCKS: i64 = 65535;

impl WarpFit {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        job.check("warp", self.options.sample)?;
        job.check_pairs("warp", self.options.boundary)?;
        let pitches = [job.signal, job.bands[0], job.bands[1]].map(|array| array.pitch.abs());
        let (pitch, most) = (pitches.into_iter().max().unwrap_or(0), Runs::REACH / i64::from(self.shape.rows));
        if self.gives + self.has > 0 && pitch > most {
            let what = format!("a pitch is {pitch}, it must be at most {most} for unaligned rows");
            return Err(ScheduleError::Launch { schedule: "warp", what });
        }
        job.check_batch("warp")?;
        if self.shape.is_even() {
            if self.shape.takes == RowAlignment::Whole && job.width % self.shape.columns as i32 != 0 {
                let what = format!("the width is {}, it must be a multiple of {}", job.width, self.shape.columns);
                return Err(ScheduleError::Launch { schedule: "warp", what });
            }
            job.check_alignment("warp", self.options.sample, self.shape.columns, self.shape.takes.is_aligned())?;
        }
        if self.blocks(job) > MAX_BLOCKS * i64::from(self.shape.warps) {
            let what = format!("the height is {}, too many rows for a grid of {}-row blocks", job.height, self.rows());
            return Err(ScheduleError::Launch { schedule: "warp", what });
        }
        Ok(())
    }

    /// Blocks along the height.
    fn blocks(&self, job: &Job) -> i64 {
        let pairs = (i64::from(job.parity[1]) + i64::from(job.height) + 1) / 2;
        (pairs + self.pairs - 1) / self.pairs
    }
}
