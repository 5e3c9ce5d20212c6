//! Launch jobs: arrays and sizes of a launch, their checks and alignment.

use crate::ir::Scalar;
use crate::schedule::{Extent, ScheduleError};
use lifting_dsl::Boundary;

/// Bit of `aligned`: position 0 of every row of the signal is at a multiple of a lane's vector of samples (or would be,
/// if the row begins at position 1).
pub const SIGNAL_ALIGNED: i32 = 1;
/// Bit of `aligned`: position 0 of the rows of all bands is at a multiple of half a lane's vector.
pub const BANDS_ALIGNED: i32 = 2;
/// Bits of an array in `skew`.
pub(in crate::schedule) const SKEW_BITS: i32 = 6;

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

/// One level of a batch of images or volumes.
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
    /// Images or volumes.
    pub batch: i32,
    /// Rows of images, each directly below the one before (`height` rows of each array), as in a grid of tiles; images
    /// of a row are a stride apart. 1: no grid, which most schedules require
    /// ([`takes_grids`](crate::schedule::LaunchSchedule::takes_grids)).
    pub grid_rows: i32,
    /// The third axis of a volume.
    pub planes: Option<Planes>,
    /// For two levels in one launch: the second level's hl, lh and hh. `bands` then has the second level's ll and the
    /// first level's other bands.
    pub coarse: Option<[Array; 3]>,
    /// Levels of a `pyramid` launch, whose bands are all one array in the Mallat layout; 1 for any other.
    pub levels: i32,
}

/// The third axis of a volume. Its signal and bands are those of an image, for each plane. Its bands that are low along
/// z are an image's ll, hl, lh and hh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planes {
    /// llh, hlh, lhh, hhh; all bands but lll have one pitch and one stride.
    pub high: [Array; 4],
    /// Samples from one plane to the next: of the signal, of lll, of the other bands.
    pub steps: [i64; 3],
    /// Planes.
    pub depth: i32,
    /// Position of the first plane: 0 if even, 1 if odd.
    pub parity: i32,
}

/// Arguments of a launch that depend on its job, for the parameters of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// Row pairs a warp walks down.
    pub chunk: i32,
    /// [`SIGNAL_ALIGNED`] and [`BANDS_ALIGNED`].
    pub aligned: i32,
    /// Offsets of the signal and of each band past a multiple of a lane's vector (bands: of half), in samples, 6 bits
    /// each.
    pub skew: i32,
}

/// Maximum images of a launch: blocks in z.
pub const MAX_BATCH: i32 = 65535;

/// Maximum columns or rows: positions, halo included, are computed in 32 bits.
pub const MAX_SIDE: i32 = 1 << 30;

impl Job {
    /// One level of one image, whose first column and row are at even positions.
    pub fn image(signal: Array, bands: [Array; 4], width: i32, height: i32) -> Job {
        let (batch, grid_rows) = (1, 1);
        Job { signal, bands, width, height, parity: [0, 0], batch, grid_rows, planes: None, coarse: None, levels: 1 }
    }

    /// A launch's scalar arguments, in the order of the parameters ([`Params`](super::Params)). The last are
    /// [`Arguments::aligned`], [`Arguments::skew`] and, for kernels that take one, the gain.
    pub fn scalars(&self, extent: Extent, arguments: Arguments, gain: Option<u32>) -> Vec<i64> {
        let planes = || self.planes.iter();
        let kinds = [self.signal, self.bands[0], self.bands[1]];
        // All bands of all levels are one array.
        let kinds = if extent == Extent::AllLevels { &kinds[..2] } else { &kinds[..] };
        let mut scalars: Vec<i64> = vec![self.width.into(), self.height.into()];
        scalars.extend(planes().map(|planes| i64::from(planes.depth)));
        scalars.extend(self.parity.map(i64::from));
        scalars.extend(planes().map(|planes| i64::from(planes.parity)));
        scalars.extend(kinds.iter().map(|array| array.pitch));
        scalars.extend(planes().flat_map(|planes| planes.steps));
        scalars.extend(kinds.iter().map(|array| array.stride));
        scalars.extend([self.batch, arguments.chunk, arguments.aligned, arguments.skew].map(i64::from));
        scalars.extend(gain.map(i64::from));
        scalars
    }

    /// Checks sizes, parities, addresses and bands for any kernel of both axes.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn check(&self, schedule: &'static str, sample: Scalar) -> Result<(), ScheduleError> {
        let refuse = |what: String| Err(ScheduleError::Launch { schedule, what });
        for (n, what) in [(self.width, "width"), (self.height, "height")] {
            if !(2..=MAX_SIDE).contains(&n) {
                return refuse(format!("the {what} is {n}, it must be 2 to {MAX_SIDE}"));
            }
        }
        if self.parity.iter().any(|p| !(0..=1).contains(p)) {
            return refuse(format!("the parities are {:?}, each must be 0 or 1", self.parity));
        }
        if self.batch < 1 {
            return refuse(format!("the batch is {}, it must be at least 1", self.batch));
        }
        let bytes = sample.bytes() as u64;
        let arrays = || std::iter::once(self.signal).chain(self.bands).chain(self.coarse.into_iter().flatten());
        if let Some(array) = arrays().find(|a| i32::try_from(a.pitch).is_err()) {
            return refuse(format!("a pitch is {}, it must fit into 32 bits", array.pitch));
        }
        if arrays().any(|a| a.address % bytes != 0) {
            return refuse(format!("an array's address must be a multiple of the sample size, {bytes} bytes"));
        }
        if self.bands[1..].iter().any(|a| (a.pitch, a.stride) != (self.bands[1].pitch, self.bands[1].stride)) {
            return refuse("the bands hl, lh and hh must have the same pitch and stride".into());
        }
        Ok(())
    }

    /// Checks that each image of the batch can have its own blocks.
    ///
    /// # Errors
    /// If there are more images than a grid allows.
    pub(in crate::schedule) fn check_batch(&self, schedule: &'static str) -> Result<(), ScheduleError> {
        if self.batch <= MAX_BATCH {
            return Ok(());
        }
        let what = format!("the batch is {}, it must be 1 to {MAX_BATCH}", self.batch);
        Err(ScheduleError::Launch { schedule, what })
    }

    /// Checks that whole pairs repeat, if the border rule needs it.
    ///
    /// # Errors
    /// If a side is odd under `periodic`.
    pub fn check_pairs(&self, schedule: &'static str, boundary: Boundary) -> Result<(), ScheduleError> {
        if boundary != Boundary::Periodic || self.width % 2 == 0 && self.height % 2 == 0 {
            return Ok(());
        }
        let what = format!("under periodic the width ({}) and the height ({}) must be even", self.width, self.height);
        Err(ScheduleError::Launch { schedule, what })
    }

    /// Checks that rows begin at multiples of a lane's vector, those of bands (if `bands`) at multiples of half of it,
    /// and the first column and row at even positions.
    ///
    /// # Errors
    /// If not, with the requirement.
    pub(in crate::schedule) fn check_alignment(
        &self,
        schedule: &'static str,
        sample: Scalar,
        columns: u32,
        bands: bool,
    ) -> Result<(), ScheduleError> {
        let wanted = SIGNAL_ALIGNED | if bands { BANDS_ALIGNED } else { 0 };
        if self.aligned(sample, columns) & wanted == wanted && self.parity == [0, 0] {
            return Ok(());
        }
        let of_bands = if bands { format!(", those of bands to {}", columns / 2) } else { String::new() };
        let what = format!(
            "rows must be aligned to {columns} samples{of_bands}, and the first column's and row's positions \
             ({} and {}) must be even",
            self.parity[0], self.parity[1]
        );
        Err(ScheduleError::Launch { schedule, what })
    }

    /// Whether each row's position 0 would be at a multiple of `samples` samples.
    pub(in crate::schedule) fn is_aligned(&self, array: &Array, sample: Scalar, samples: i64, parity: i32) -> bool {
        let bytes = sample.bytes() as i64;
        let start = (array.address % (samples * bytes) as u64) as i64 - i64::from(parity) * bytes;
        let steps = [(self.height > 1, array.pitch), (self.batch > 1, array.stride)];
        start % (samples * bytes) == 0 && steps.iter().all(|(matters, step)| !matters || step % samples == 0)
    }

    /// [`Arguments::skew`], for `columns` columns a lane.
    pub(in crate::schedule) fn skew(&self, sample: Scalar, columns: u32) -> i32 {
        let past = |array: &Array, samples: u32| (array.address / sample.bytes() as u64 % u64::from(samples)) as i32;
        let bands = self.bands.iter().rev().fold(0, |skew, band| skew << SKEW_BITS | past(band, columns / 2));
        bands << SKEW_BITS | past(&self.signal, columns)
    }

    /// [`SIGNAL_ALIGNED`] and [`BANDS_ALIGNED`], for `columns` columns a lane.
    pub(in crate::schedule) fn aligned(&self, sample: Scalar, columns: u32) -> i32 {
        let columns = i64::from(columns);
        let signal = self.is_aligned(&self.signal, sample, columns, self.parity[0]);
        // If the first sample is at an odd position, the even columns' position 0 is one before it.
        let bands = (self.bands.iter().zip([self.parity[0], 0, self.parity[0], 0]))
            .all(|(band, parity)| self.is_aligned(band, sample, columns / 2, parity));
        i32::from(signal) * SIGNAL_ALIGNED + i32::from(bands) * BANDS_ALIGNED
    }
}
