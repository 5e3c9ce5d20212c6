//! What a launch needs besides the arrays: whether it is legal, the height of chunks, what is aligned.

use super::{BANDS_ALIGNED, SIGNAL_ALIGNED, Walk};
use crate::schedule::{Direction, ScheduleError};
use lifting_dsl::Boundary;

/// An array in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Address of the first sample, in bytes.
    pub address: u64,
    /// Samples from one row to the next.
    pub pitch: i64,
    /// Samples from one image of the batch to the next.
    pub stride: i64,
}

/// One level of a batch of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The image.
    pub signal: Array,
    /// ll, hl, lh, hh; the last three have one pitch and one stride.
    pub bands: [Array; 4],
    /// Columns.
    pub width: i32,
    /// Rows.
    pub height: i32,
    /// Position of the first column and of the first row: 0 if even, 1 if odd.
    pub parity: [i32; 2],
    /// Images.
    pub batch: i32,
}

/// Arguments of the parameters of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Row pairs a warp walks down.
    pub chunk: i32,
    /// [`SIGNAL_ALIGNED`] and [`BANDS_ALIGNED`].
    pub aligned: i32,
    /// Of each array that is read, 8 bits: samples by which it begins past a lane's vector.
    pub skew: i32,
}

/// Most columns or rows: positions, halo included, are computed in 32 bits.
pub const MAX_SIDE: i32 = 1 << 30;

/// Warps a multiprocessor that chunks are cut short for, so that small images keep it busy.
const WARPS: i64 = 8;

/// Row pairs of a chunk, where the image is large: measured best for short and long delay lines alike (docs/performance.md).
const CHUNK: i64 = 16;

/// Blocks in y.
const MAX_CHUNKS: i64 = 65535;

impl Walk {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first thing that stands against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "stream", what });
        for (n, what) in [(job.width, "width"), (job.height, "height")] {
            if !(2..=MAX_SIDE).contains(&n) {
                return refuse(format!("the {what} is {n}, it must be 2 to {MAX_SIDE}"));
            }
        }
        if job.parity.iter().any(|p| !(0..=1).contains(p)) {
            return refuse(format!("the parities are {:?}, each must be 0 or 1", job.parity));
        }
        if job.batch < 1 {
            return refuse(format!("the batch is {}, it must be at least 1", job.batch));
        }
        let bytes = self.options.sample.bytes() as u64;
        let arrays = || std::iter::once(job.signal).chain(job.bands);
        if arrays().any(|a| a.address % bytes != 0) {
            return refuse(format!("an array does not begin at a multiple of the {bytes} bytes of a sample"));
        }
        if job.bands[1..].iter().any(|a| (a.pitch, a.stride) != (job.bands[1].pitch, job.bands[1].stride)) {
            return refuse("the bands hl, lh and hh differ in pitch or stride".into());
        }
        if self.options.boundary == Boundary::Periodic {
            let columns = self.shape.columns as i32;
            if job.parity[0] != 0 || job.width % columns != 0 || job.height % 2 != 0 {
                return refuse(format!(
                    "under periodic the width ({}) must be a multiple of {columns}, the height ({}) even and the first column's position ({}) even",
                    job.width, job.height, job.parity[0]
                ));
            }
            let read = match self.options.direction {
                Direction::Forward => SIGNAL_ALIGNED,
                Direction::Inverse => BANDS_ALIGNED,
            };
            if self.aligned(job) & read == 0 {
                return refuse("under periodic the rows that are read must be aligned".into());
            }
        }
        Ok(())
    }

    /// The tuning of a legal job on a device with so many multiprocessors.
    ///
    /// # Errors
    /// As [`Walk::accepts`].
    pub fn tuning(&self, job: &Job, multiprocessors: u32) -> Result<Tuning, ScheduleError> {
        self.accepts(job)?;
        Ok(Tuning { chunk: self.chunk(job, multiprocessors), aligned: self.aligned(job), skew: self.skew(job) })
    }

    /// Longer chunks read their halo more seldom, shorter ones keep rows that are fetched at one time together in the second-level cache. Shorter
    /// still where the image is too small to occupy the device.
    fn chunk(&self, job: &Job, multiprocessors: u32) -> i32 {
        let pairs = (i64::from(job.parity[1]) + i64::from(job.height) + 1) / 2;
        let strips = ceil(i64::from(job.parity[0]) + i64::from(job.width), self.strip_columns());
        let warps = WARPS * i64::from(multiprocessors.max(1));
        let occupying = (pairs * strips * i64::from(job.batch) / warps).max(1);
        let fits = ceil(pairs, MAX_CHUNKS);
        CHUNK.min(occupying).max(fits) as i32
    }

    /// Whether each row's position 0 would stand at a multiple of `samples` samples.
    fn is_aligned(&self, job: &Job, array: &Array, samples: i64, parity: i32) -> bool {
        let bytes = self.options.sample.bytes() as i64;
        let start = (array.address % (samples * bytes) as u64) as i64 - i64::from(parity) * bytes;
        let steps = [(job.height > 1, array.pitch), (job.batch > 1, array.stride)];
        start % (samples * bytes) == 0 && steps.iter().all(|(matters, step)| !matters || step % samples == 0)
    }

    fn aligned(&self, job: &Job) -> i32 {
        let columns = i64::from(self.shape.columns);
        let signal = self.is_aligned(job, &job.signal, columns, job.parity[0]);
        // The even columns' position 0 is one before the first sample where that stands at an odd position.
        let bands = (job.bands.iter().zip([job.parity[0], 0, job.parity[0], 0]))
            .all(|(band, parity)| self.is_aligned(job, band, columns / 2, parity));
        i32::from(signal) * SIGNAL_ALIGNED + i32::from(bands) * BANDS_ALIGNED
    }

    fn skew(&self, job: &Job) -> i32 {
        let bytes = self.options.sample.bytes() as u64;
        let (read, samples): (&[Array], u32) = match self.options.direction {
            Direction::Forward => (std::slice::from_ref(&job.signal), self.shape.columns),
            Direction::Inverse => (&job.bands, self.shape.columns / 2),
        };
        read.iter().rev().fold(0, |skew, a| skew << 8 | (a.address / bytes % u64::from(samples)) as i32)
    }
}

fn ceil(n: i64, unit: i64) -> i64 {
    (n + unit - 1) / unit
}

#[cfg(test)]
mod tests {
    use super::super::{Shape, walk};
    use super::*;
    use crate::ir::Scalar;
    use crate::schedule::Options;
    use lifting_dsl::testing;

    fn legall(direction: Direction, boundary: Boundary) -> Walk {
        let options = Options { sample: Scalar::I16, boundary, direction, gain: false };
        walk(&testing::wavelet("legall53", testing::legall53()), options, Shape::for_sample(Scalar::I16)).unwrap()
    }

    fn job(width: i32, height: i32) -> Job {
        let array = |i: u64, pitch: i32| Array { address: i << 30, pitch: pitch.into(), stride: 0 };
        let half = width.div_euclid(2);
        Job {
            signal: array(0, width),
            bands: [1, 2, 3, 4].map(|i| array(i, half)),
            width,
            height,
            parity: [0, 0],
            batch: 1,
        }
    }

    #[test]
    fn large_images_take_short_chunks_and_small_ones_shorter_ones() {
        let walk = legall(Direction::Forward, Boundary::WholeSymmetric);
        let chunk = |w, h| walk.tuning(&job(w, h), 132).unwrap().chunk;
        assert_eq!(chunk(8192, 8192), CHUNK as i32);
        assert!(chunk(1920, 1080) < chunk(8192, 8192));
        assert_eq!(chunk(64, 64), 1);
        // No more chunks than a grid has rows of blocks.
        assert_eq!(chunk(16, 1 << 22), 33);
    }

    #[test]
    fn alignment_looks_at_addresses_pitches_and_parity() {
        let walk = legall(Direction::Forward, Boundary::WholeSymmetric);
        let tuning = |job: &Job| walk.tuning(job, 132).unwrap();
        let whole = job(64, 64);
        assert_eq!(tuning(&whole), Tuning { chunk: 1, aligned: SIGNAL_ALIGNED | BANDS_ALIGNED, skew: 0 });
        let mut moved = whole;
        moved.signal.address += 6;
        assert_eq!((tuning(&moved).aligned, tuning(&moved).skew), (BANDS_ALIGNED, 3));
        // At an odd origin, the sample after the first is the first of a pair.
        moved.signal.address = 2;
        moved.parity[0] = 1;
        assert_eq!(tuning(&moved).aligned & SIGNAL_ALIGNED, SIGNAL_ALIGNED);
        assert_eq!(tuning(&Job { signal: Array { pitch: 65, ..whole.signal }, ..whole }).aligned, BANDS_ALIGNED);
        assert_eq!(tuning(&Job { signal: Array { stride: 3, ..whole.signal }, ..whole }).aligned, 3);
        assert_eq!(tuning(&Job { signal: Array { stride: 3, ..whole.signal }, batch: 2, ..whole }).aligned, 2);
        let mut bands = whole;
        bands.bands[3].address += 2;
        assert_eq!(tuning(&bands).aligned, SIGNAL_ALIGNED);
        let walk = legall(Direction::Inverse, Boundary::WholeSymmetric);
        bands.bands[0].address += 6;
        assert_eq!(walk.tuning(&bands, 132).unwrap().skew, 3 | 1 << 24);
    }

    #[test]
    fn illegal_jobs_are_refused_in_words() {
        let symmetric = legall(Direction::Forward, Boundary::WholeSymmetric);
        let periodic = legall(Direction::Forward, Boundary::Periodic);
        let whole = job(64, 64);
        assert_eq!(periodic.accepts(&whole), Ok(()));
        let odd = Array { address: 1, ..whole.signal };
        let narrow = Array { pitch: 33, ..whole.bands[2] };
        let [ll, hl, lh, hh] = whole.bands;
        let text: String = [
            (&symmetric, job(1, 64)),
            (&symmetric, job(64, 1)),
            (&symmetric, Job { batch: 0, ..whole }),
            (&symmetric, Job { parity: [0, 2], ..whole }),
            (&symmetric, Job { signal: odd, ..whole }),
            (&symmetric, Job { bands: [ll, hl, Array { pitch: narrow.pitch, ..lh }, hh], ..whole }),
            (&periodic, job(60, 64)),
            (&periodic, job(64, 63)),
            (&periodic, Job { parity: [1, 0], ..whole }),
            (&periodic, Job { signal: Array { address: 4, ..whole.signal }, ..whole }),
        ]
        .iter()
        .map(|(walk, job)| format!("{}\n", walk.accepts(job).unwrap_err()))
        .collect();
        insta::assert_snapshot!(text);
    }
}
