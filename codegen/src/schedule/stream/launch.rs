//! Launch checks of the `stream` schedule: legality, chunk height, alignment.

use super::{RowAlignment, StreamFit};
use crate::machine::Machine;
use crate::schedule::ScheduleError;
use crate::schedule::level::{BANDS_ALIGNED, Border, Job, MAX_CHUNKS, SIGNAL_ALIGNED};
use lifting_dsl::{Boundary, Direction};

/// Maximum warps a block for the strips of an image: the ring must fit into shared memory.
const MAX_WARPS: i64 = 5;

impl StreamFit {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        job.check("stream", self.options.sample)?;
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "stream", what });
        job.check_batch("stream")?;
        // Columns of a lane's vector, and of the copied vectors of bands.
        let (columns, copied) = (self.shape.columns, self.shape.columns << u32::from(self.shares_copies()));
        let aligned = self.aligned(job) & SIGNAL_ALIGNED | job.aligned(self.options.sample, copied) & BANDS_ALIGNED;
        if self.shape.is_aligned() && (aligned != SIGNAL_ALIGNED | BANDS_ALIGNED || job.parity[0] != 0) {
            return refuse(format!(
                "rows must be aligned to {columns} samples, those of bands to {}, and the first column's position ({}) \
                 must be even",
                copied / 2,
                job.parity[0]
            ));
        }
        let parts = [job.width, job.height, job.parity[0], job.parity[1]];
        if self.border == Border::Untouched && parts.iter().any(|n| n % 2 != 0) {
            return refuse(format!(
                "this wavelet's walk cannot cut sample pairs at a border: width ({}), height ({}) and the positions of \
                 the first column and row ({}, {}) must be even",
                parts[0], parts[1], parts[2], parts[3]
            ));
        }
        let vector = copied as i32;
        if self.shape.rows == RowAlignment::Whole && job.width % vector != 0 {
            return refuse(format!("the width is {}, it must be a multiple of {vector}", job.width));
        }
        if self.options.boundary == Boundary::Periodic {
            let columns = self.shape.columns as i32;
            if job.parity[0] != 0 || job.width % columns != 0 || job.height % 2 != 0 {
                return refuse(format!(
                    "under periodic the width ({}) must be a multiple of {columns}, the height ({}) even and the first \
                     column's position ({}) even",
                    job.width, job.height, job.parity[0]
                ));
            }
            let read = match self.options.direction {
                Direction::Forward => SIGNAL_ALIGNED,
                Direction::Inverse => BANDS_ALIGNED,
            };
            if self.aligned(job) & read == 0 {
                return refuse("under periodic the loaded rows must be aligned".into());
            }
        }
        Ok(())
    }

    /// Loads of each sample for chunks of this height, in row pairs: neighbours reload the rows and columns of the
    /// halo.
    pub fn reads(&self, chunk: i32) -> f64 {
        let chunk = f64::from(chunk.max(1));
        32.0 / self.useful as f64 * (chunk + self.halo_pairs() as f64) / chunk
    }

    /// Whether the kernel requires aligned rows.
    pub fn is_for_aligned(&self) -> bool {
        self.shape.is_aligned()
    }

    /// Registers of a thread's delay line. Its other registers come on top.
    pub fn registers(&self) -> i64 {
        self.descent.registers
    }

    /// Row pairs that a warp walks beyond its chunk.
    pub fn halo_pairs(&self) -> i64 {
        self.descent.halo_pairs()
    }

    /// Minimum chunk height in row pairs: the grid is limited in y.
    pub fn least_chunk(job: &Job) -> i32 {
        let pairs = (i64::from(job.parity[1]) + i64::from(job.height) + 1) / 2;
        ceil(pairs, MAX_CHUNKS.into()) as i32
    }

    /// Chunk height in row pairs. Long chunks reload the halo less often; short ones keep rows fetched at the same time
    /// together in the L2 cache. Images too small to occupy the device need shorter ones still. With n row pairs of
    /// strips a multiprocessor, all walks take a time that grows with n·(1 + halo/chunk), and the last walk a time that
    /// grows with its length. The sum is smallest at a chunk proportional to √(n·halo).
    pub(super) fn row_pairs(&self, job: &Job, machine: &Machine) -> i32 {
        let pairs = (i64::from(job.parity[1]) + i64::from(job.height) + 1) / 2;
        let each = (pairs * self.strips(job) * i64::from(job.batch)) as f64 / f64::from(machine.multiprocessors);
        let factor = machine.constants().stream_steps.occupying;
        let occupying = (factor * (each * self.halo_pairs().max(1) as f64).sqrt()).round().max(1.0);
        let longest = self.descent.longest_chunk();
        occupying.min(longest.into()).max(StreamFit::least_chunk(job).into()) as i32
    }

    /// Strips of an image.
    fn strips(&self, job: &Job) -> i64 {
        ceil(i64::from(job.parity[0]) + i64::from(job.width), self.strip_columns())
    }

    /// Warps a block for this job: the shape's number, unless a tenth or more of the warps would lack a strip. Then the
    /// nearest number that leaves fewer idle.
    pub fn warps(&self, job: &Job) -> u32 {
        let (own, strips) = (i64::from(self.shape.warps), self.strips(job));
        let is_idle = |warps: i64| {
            let launched = ceil(strips, warps) * warps;
            10 * (launched - strips) >= launched
        };
        let others = (1..=own).flat_map(|d| [own + d, own - d]).filter(|&w| (1..=MAX_WARPS).contains(&w));
        std::iter::once(own).chain(others).find(|&w| !is_idle(w)).unwrap_or(1) as u32
    }

    pub(super) fn aligned(&self, job: &Job) -> i32 {
        job.aligned(self.options.sample, self.shape.columns)
    }
}

fn ceil(n: i64, unit: i64) -> i64 {
    (n + unit - 1) / unit
}

#[cfg(test)]
mod tests {
    use super::super::{StreamShape, fit};
    use super::*;
    use crate::ir::Scalar;
    use crate::schedule::Fit as _;
    use crate::schedule::Options;
    use crate::schedule::level::{Arguments, Array, MAX_BATCH};
    use lifting_dsl::testing;

    fn legall(direction: Direction, boundary: Boundary) -> StreamFit {
        let options = Options::new(Scalar::I16, boundary, direction);
        fit(&testing::wavelet("legall53", testing::legall53()), options, StreamShape::for_sample(Scalar::I16)).unwrap()
    }

    fn aligned_legall() -> StreamFit {
        let (boundary, direction) = (Boundary::WholeSymmetric, Direction::Forward);
        let options = Options::new(Scalar::I16, boundary, direction);
        let shape = StreamShape::for_sample(Scalar::I16).for_rows(RowAlignment::Aligned);
        fit(&testing::wavelet("legall53", testing::legall53()), options, shape).unwrap()
    }

    fn haar() -> StreamFit {
        let (boundary, direction) = (Boundary::WholeSymmetric, Direction::Forward);
        let options = Options::new(Scalar::I32, boundary, direction);
        let text = "wavelet haar { domain integer; odd -= even[0]; even += odd[0] >> 1; }";
        let scheme = lifting_dsl::compile(text).unwrap().schemes.remove(0);
        fit(&scheme, options, StreamShape::for_sample(Scalar::I32)).unwrap()
    }

    fn whole_legall() -> StreamFit {
        let (boundary, direction) = (Boundary::WholeSymmetric, Direction::Forward);
        let options = Options::new(Scalar::I16, boundary, direction);
        let shape = StreamShape::for_sample(Scalar::I16).for_rows(RowAlignment::Whole);
        fit(&testing::wavelet("legall53", testing::legall53()), options, shape).unwrap()
    }

    fn job(width: i32, height: i32) -> Job {
        let array = |i: u64, pitch: i32| Array { address: i << 30, pitch: pitch.into(), stride: 0 };
        let half = width.div_euclid(2);
        Job::image(array(0, width), [1, 2, 3, 4].map(|i| array(i, half)), width, height)
    }

    #[test]
    fn large_images_take_short_chunks_and_small_ones_shorter_ones() {
        let walk = legall(Direction::Forward, Boundary::WholeSymmetric);
        let chunk = |w, h| walk.arguments(&job(w, h), &Machine::default()).unwrap().chunk;
        assert_eq!(chunk(8192, 8192), 10);
        assert!(chunk(1920, 1080) < chunk(8192, 8192));
        assert_eq!(chunk(64, 64), 1);
        // Measured best: one pair, three, two.
        assert_eq!([(480, 270), (1024, 1024), (1920, 1080)].map(|(w, h)| chunk(w, h)), [1, 2, 3]);
        // At most as many chunks as a grid has rows of blocks.
        assert_eq!(chunk(16, 1 << 22), 33);
    }

    #[test]
    fn blocks_have_as_many_warps_as_strips_fill() {
        let options = Options::new(Scalar::F32, Boundary::WholeSymmetric, Direction::Forward);
        let scheme = testing::wavelet("cdf97", testing::cdf97());
        let walk = fit(&scheme, options, StreamShape::for_sample(Scalar::F32).for_rows(RowAlignment::Whole)).unwrap();
        let (widths, warps): (Vec<i32>, Vec<u32>) =
            [(64, 1), (448, 4), (512, 5), (672, 3), (960, 3), (1920, 3), (4096, 4), (8192, 4)].into_iter().unzip();
        let found: Vec<u32> = widths.into_iter().map(|width| walk.warps(&job(width, 512))).collect();
        assert_eq!(found, warps);
    }

    #[test]
    fn alignment_looks_at_addresses_pitches_and_parity() {
        let walk = legall(Direction::Forward, Boundary::WholeSymmetric);
        let arguments = |job: &Job| walk.arguments(job, &Machine::default()).unwrap();
        let whole = job(64, 64);
        assert_eq!(arguments(&whole), Arguments { chunk: 1, aligned: SIGNAL_ALIGNED | BANDS_ALIGNED, skew: 0 });
        let mut moved = whole;
        moved.signal.address += 6;
        assert_eq!((arguments(&moved).aligned, arguments(&moved).skew), (BANDS_ALIGNED, 3));
        // At an odd origin, the second sample is the first of a pair.
        moved.signal.address = 2;
        moved.parity[0] = 1;
        assert_eq!(arguments(&moved).aligned & SIGNAL_ALIGNED, SIGNAL_ALIGNED);
        assert_eq!(arguments(&Job { signal: Array { pitch: 65, ..whole.signal }, ..whole }).aligned, BANDS_ALIGNED);
        assert_eq!(arguments(&Job { signal: Array { stride: 3, ..whole.signal }, ..whole }).aligned, 3);
        assert_eq!(arguments(&Job { signal: Array { stride: 3, ..whole.signal }, batch: 2, ..whole }).aligned, 2);
        let mut bands = whole;
        bands.bands[3].address += 2;
        assert_eq!(arguments(&bands).aligned, SIGNAL_ALIGNED);
        let walk = legall(Direction::Inverse, Boundary::WholeSymmetric);
        bands.bands[0].address += 6;
        assert_eq!(walk.arguments(&bands, &Machine::default()).unwrap().skew, 3 << 6 | 1 << 24);
    }

    #[test]
    fn illegal_jobs_are_refused_in_words() {
        let symmetric = legall(Direction::Forward, Boundary::WholeSymmetric);
        let periodic = legall(Direction::Forward, Boundary::Periodic);
        let (aligned, vectors, haar) = (aligned_legall(), whole_legall(), haar());
        let whole = job(64, 64);
        assert_eq!(periodic.accepts(&whole), Ok(()));
        assert_eq!(aligned.accepts(&whole), Ok(()));
        assert_eq!(aligned.accepts(&Job { width: 60, ..whole }), Ok(()));
        assert_eq!(vectors.accepts(&whole), Ok(()));
        assert_eq!(haar.accepts(&whole), Ok(()));
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
            (&symmetric, Job { batch: MAX_BATCH + 1, ..whole }),
            (&symmetric, Job { signal: Array { pitch: 1 << 31, ..whole.signal }, ..whole }),
            (&haar, job(63, 64)),
            (&haar, Job { parity: [0, 1], ..whole }),
            (&aligned, Job { parity: [1, 0], ..whole }),
            (&aligned, Job { signal: Array { pitch: 65, ..whole.signal }, ..whole }),
            (&vectors, Job { width: 60, ..whole }),
        ]
        .iter()
        .map(|(walk, job)| format!("{}\n", walk.accepts(job).unwrap_err()))
        .collect();
        insta::assert_snapshot!(text);
    }
}
