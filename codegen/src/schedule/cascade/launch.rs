//! What a launch needs besides the arrays: whether it is legal, the height of chunks.

use super::{VECTOR, Walk};
use crate::schedule::level::{Array, BANDS_ALIGNED, Job, MAX_CHUNKS, SIGNAL_ALIGNED, Tuning};
use crate::schedule::{Options, ScheduleError};
use lifting_dsl::Boundary;

/// Bytes of the image that are in flight at one time at most: with as many that are written, what the second-level cache holds (docs/performance.md).
const IN_FLIGHT: i64 = 28 << 20;
/// Of the longest chunk that is considered, where that leaves less: row pairs of the second level.
const SHORTEST: i64 = 2;
/// Bytes of shared memory of a multiprocessor, and what a block takes besides its ring.
const SHARED: i64 = 227 << 10;
const BESIDES: i64 = 1 << 10;
/// What a walk waits for before its first step, in steps.
const START: i64 = 7;
/// Warps of a multiprocessor that registers leave.
const WARPS: i64 = 12;

impl Walk {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first thing that stands against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        let Options { sample, boundary, .. } = self.options;
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "cascade", what });
        let Some(coarse) = job.coarse else { return refuse("it is of one level, not of two".into()) };
        job.check("cascade", sample)?;
        let [_, hl, ..] = job.bands;
        if coarse.iter().any(|band| (band.pitch, band.stride) != (hl.pitch, hl.stride)) {
            return refuse("the bands of the two levels differ in pitch or stride".into());
        }
        job.check_batch("cascade")?;
        job.check_pairs("cascade", boundary)?;
        if boundary == Boundary::Periodic && job.height % 4 != 0 {
            return refuse(format!("under periodic the height ({}) must be a multiple of 4", job.height));
        }
        let columns = self.shape.columns as i32;
        let beside = self.left.max(32 - self.left - self.useful) as i32 * columns;
        if job.width % columns != 0 || job.width <= beside {
            let what = format!("the width is {}, it must be a multiple of {columns} and more than {beside}", job.width);
            return refuse(what);
        }
        // One reflection leads to the low band, and to a row of the image from wherever a walk loads.
        let rows = (4 * self.above() + 1).max(4 * self.delay(true) + 2 * self.odd() + 4);
        let least = [2 * (self.halo.before.max(self.halo.after) as i32 + 2), rows as i32];
        if job.width < least[0] || job.height < least[1] {
            return refuse(format!(
                "the width is {} and the height {}, these must be at least {} and {}",
                job.width, job.height, least[0], least[1]
            ));
        }
        if self.aligned(job) != SIGNAL_ALIGNED | BANDS_ALIGNED || job.parity != [0, 0] {
            return refuse(format!(
                "rows must be aligned to {} samples, those of bands to {} and, of the second level, to {}, and the first column's and row's positions ({} and {}) must be even",
                self.vector(),
                columns / 2,
                columns / 4,
                job.parity[0],
                job.parity[1]
            ));
        }
        Ok(())
    }

    /// Samples of a copy.
    fn vector(&self) -> i64 {
        VECTOR / self.options.sample.bytes() as i64
    }

    /// [`SIGNAL_ALIGNED`], and [`BANDS_ALIGNED`] for the bands of both levels.
    fn aligned(&self, job: &Job) -> i32 {
        let columns = i64::from(self.shape.columns);
        let is = |array: &Array, samples: i64| job.is_aligned(array, self.options.sample, samples, 0);
        let [ll, first @ ..] = &job.bands;
        let coarse = job.coarse.iter().flatten().chain([ll]);
        let bands = first.iter().all(|band| is(band, columns / 2)) && { coarse }.all(|band| is(band, columns / 4));
        i32::from(is(&job.signal, self.vector())) * SIGNAL_ALIGNED + i32::from(bands) * BANDS_ALIGNED
    }

    /// The tuning of a legal job on a device with so many multiprocessors.
    ///
    /// # Errors
    /// As [`Walk::accepts`].
    pub fn tuning(&self, job: &Job, multiprocessors: u32) -> Result<Tuning, ScheduleError> {
        self.accepts(job)?;
        Ok(Tuning { chunk: self.chunk(job, multiprocessors), aligned: self.aligned(job), skew: 0 })
    }

    /// Row pairs of the second level that chunks must have at least: a grid has only so many rows of blocks.
    pub fn least_chunk(job: &Job) -> i32 {
        ceil(pairs(job), MAX_CHUNKS.into()) as i32
    }

    /// The height at which all waves of warps have the fewest steps, and no taller than leaves what is in flight in the second-level cache. Heights that are multiples of 4 are
    /// slower than their neighbours: chunks then begin where all others do in memory.
    fn chunk(&self, job: &Job, multiprocessors: u32) -> i32 {
        let bytes = 4 * self.strip_columns() * self.options.sample.bytes() as i64;
        let resident = self.resident() * i64::from(multiprocessors.max(1));
        let longest = (IN_FLIGHT / (bytes * resident)).clamp(SHORTEST, pairs(job).max(SHORTEST));
        let steps = |chunk: i64| {
            let warps = ceil(pairs(job), chunk) * self.strips(job) * i64::from(job.batch);
            ceil(warps, resident) * self.steps(chunk as i32)
        };
        let heights = (1..=longest).filter(|chunk| chunk % 4 != 0);
        let best = heights.min_by_key(|&chunk| steps(chunk)).unwrap_or(SHORTEST);
        (best as i32).max(Walk::least_chunk(job))
    }

    /// Blocks resident on a multiprocessor.
    pub fn resident(&self) -> i64 {
        let ring = i64::from(self.shape.ring * self.slot_len() as u32) * self.options.sample.bytes() as i64;
        (SHARED / (ring + BESIDES)).clamp(1, WARPS)
    }

    /// Strips of an image.
    pub fn strips(&self, job: &Job) -> i64 {
        ceil(job.width.into(), self.strip_columns())
    }

    /// What a walk down a chunk of so many row pairs of the second level takes, in steps: those of its halo, too, and what it waits for before the first.
    pub fn steps(&self, chunk: i32) -> i64 {
        START + i64::from(chunk) + self.halo_pairs()
    }

    /// Steps of four rows that a warp walks beyond its chunk.
    pub fn halo_pairs(&self) -> i64 {
        self.above() + self.delay(true)
    }

    /// How many times each sample is read where chunks have this height, of row pairs of the second level.
    pub fn reads(&self, chunk: i32) -> f64 {
        let chunk = f64::from(chunk.max(1));
        32.0 / self.useful as f64 * (chunk + self.halo_pairs() as f64) / chunk
    }
}

/// Row pairs of the second level.
fn pairs(job: &Job) -> i64 {
    (i64::from(job.height) + 3) / 4
}

fn ceil(n: i64, unit: i64) -> i64 {
    (n + unit - 1) / unit
}
