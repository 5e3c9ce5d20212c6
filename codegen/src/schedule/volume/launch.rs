//! Launch checks of the `volume` schedule: legality, chunk length, alignment.

use super::VolumeFit;
use crate::schedule::level::{BANDS_ALIGNED, Border, Job, MAX_SIDE, Planes, SIGNAL_ALIGNED};
use crate::schedule::{Options, ScheduleError, Tiles};
use lifting_dsl::Boundary;

/// Maximum grid size in y and in z.
const MAX_BLOCKS: i64 = 65535;
/// Maximum number of chunk lengths to consider. Axes of at most this length try every one.
const LENGTHS: i64 = 1024;

fn ceil(n: i64, unit: i64) -> i64 {
    (n + unit - 1) / unit
}

/// Plane pairs.
fn pairs(planes: &Planes) -> i64 {
    (i64::from(planes.parity) + i64::from(planes.depth) + 1) / 2
}

impl VolumeFit {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        self.planes(job).map(|_| ())
    }

    /// The third axis of a legal job.
    pub(super) fn planes(&self, job: &Job) -> Result<Planes, ScheduleError> {
        let Options { sample, boundary, .. } = self.options;
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "volume", what });
        let Some(planes) = job.planes else { return refuse("it is for images, this schedule is for volumes".into()) };
        job.check("volume", sample)?;
        // Checks the bands that are high along z like those of an image.
        Job { bands: planes.high, ..*job }.check("volume", sample)?;
        let (low, high) = (job.bands[1], planes.high[0]);
        if (low.pitch, low.stride) != (high.pitch, high.stride) {
            return refuse("bands low along z and bands high along z must have the same pitch and stride".into());
        }
        if !(2..=MAX_SIDE).contains(&planes.depth) || !(0..=1).contains(&planes.parity) {
            return refuse(format!(
                "the depth is {}, it must be 2 to {MAX_SIDE}, and the first plane's position {}, it must be 0 or 1",
                planes.depth, planes.parity
            ));
        }
        // Samples of a plane are counted in 32 bits.
        let rows = [job.signal, job.bands[0], low].map(|array| array.pitch.saturating_mul(job.height.into()));
        if let Some(far) = planes.steps.into_iter().chain(rows).find(|&n| i32::try_from(n).is_err()) {
            return refuse(format!(
                "consecutive planes, or the first and last rows, are {far} samples apart, this distance must fit into \
                 32 bits"
            ));
        }
        let chunks = MAX_BLOCKS / i64::from(job.batch);
        if chunks == 0 {
            return refuse(format!("the batch is {}, it must be 1 to {MAX_BLOCKS}", job.batch));
        }
        let most = MAX_BLOCKS * self.rows();
        if i64::from(job.height) + i64::from(job.parity[1]) > most {
            return refuse(format!("the height is {}, tiles of {} rows allow at most {most}", job.height, self.rows()));
        }
        job.check_pairs("volume", boundary)?;
        if boundary == Boundary::Periodic && planes.depth % 2 != 0 {
            return refuse(format!("under periodic the depth ({}) must be even", planes.depth));
        }
        if self.deep_border == Border::Untouched && (planes.depth % 2 != 0 || planes.parity != 0) {
            return refuse(format!(
                "this wavelet's walk cannot cut plane pairs at a border: the depth ({}) and the position of the \
                 first plane ({}) must be even",
                planes.depth, planes.parity
            ));
        }
        if !self.shape.aligned {
            return Ok(planes);
        }
        if self.shape.whole_sectors {
            let [tiles, most] = [self.columns(), self.widest()].map(|columns| ceil(job.width.into(), columns));
            if tiles > most {
                return refuse(format!("{tiles} tiles across with whole sectors, {most} tiles suffice without them"));
            }
        }
        // Threads count the samples of a whole array in 32 bits, up to the pair of planes past the last one.
        let strides = [job.signal, job.bands[0], low].map(|array| array.stride);
        let far = |(stride, step): (i64, i64)| {
            let [images, planes] = [job.batch, planes.depth].map(i64::from);
            stride.saturating_mul(images - 1).saturating_add(step.saturating_mul(planes + 2))
        };
        if let Some(far) = strides.into_iter().zip(planes.steps).map(far).find(|&n| i32::try_from(n).is_err()) {
            return refuse(format!(
                "an array spans {far} samples, the kernel for rows of whole vectors counts samples in 32 bits"
            ));
        }
        let columns = self.shape.columns as i32;
        if self.aligned(job, &planes) != SIGNAL_ALIGNED | BANDS_ALIGNED || job.parity != [0, 0] {
            return refuse(format!(
                "rows must be aligned to {columns} samples, those of bands to {}, and the first column's and row's \
                 positions ({} and {}) must be even",
                columns / 2,
                job.parity[0],
                job.parity[1]
            ));
        }
        let beyond = self.beyond() as i32;
        if job.width % columns != 0 || job.width <= beyond {
            return refuse(format!(
                "the width is {}, it must be a multiple of {columns} and more than {beyond}",
                job.width
            ));
        }
        Ok(planes)
    }

    /// Columns of tiles that store partial sectors.
    fn widest(&self) -> i64 {
        (32 - self.lanes_of_halo()) * i64::from(self.shape.columns)
    }

    /// Columns that a volume of whole vectors must exceed.
    fn beyond(&self) -> i64 {
        let halo = self.left.max(32 - self.left - self.useful) * i64::from(self.shape.columns);
        if self.reflects() { 0 } else { halo }
    }

    /// Parameters for launchers without a fit at hand.
    pub(super) fn tiled(&self) -> Tiles {
        Tiles {
            columns: self.columns(),
            rows: self.rows(),
            widest: if self.shape.whole_sectors { self.widest() } else { 0 },
            beyond: self.beyond(),
            halo_pairs: self.halo_pairs(),
            resident: self.resident(),
            whole_pairs: self.deep_border == Border::Untouched,
        }
    }

    /// Minimum plane pairs in a chunk: the grid is limited in z.
    pub fn least_chunk(job: &Job) -> i32 {
        let most = (MAX_BLOCKS / i64::from(job.batch)).max(1);
        job.planes.map_or(1, |planes| ceil(pairs(&planes), most)) as i32
    }

    /// [`SIGNAL_ALIGNED`] and [`BANDS_ALIGNED`]: rows begin at multiples of a lane's vector in every plane.
    pub(super) fn aligned(&self, job: &Job, planes: &Planes) -> i32 {
        let (sample, columns) = (self.options.sample, self.shape.columns);
        let high = Job { bands: planes.high, ..*job }.aligned(sample, columns);
        let [signal, low, others] = planes.steps;
        let (vector, half) = (i64::from(columns), i64::from(columns) / 2);
        let steps = i32::from(signal % vector == 0) * SIGNAL_ALIGNED
            + i32::from(low % half == 0 && others % half == 0) * BANDS_ALIGNED;
        job.aligned(sample, columns) & high & steps
    }

    /// Plane pairs that a block walks, chosen so that the last block ends earliest. Blocks at the end of the axis walk
    /// the shorter rest; they come last and fill the last wave.
    pub(super) fn plane_pairs(&self, job: &Job, planes: &Planes, multiprocessors: u32) -> i32 {
        let (pairs, least) = (pairs(planes), VolumeFit::least_chunk(job));
        let lengths = (1..=LENGTHS).map(|part| ceil(pairs * part, LENGTHS) as i32).filter(|&chunk| chunk >= least);
        let time = |chunk: i32| self.duration(job, chunk, multiprocessors);
        lengths.min_by_key(|&chunk| (time(chunk), std::cmp::Reverse(chunk))).unwrap_or(pairs as i32)
    }

    /// Plane pairs walked from the start of the first block to the end of the last.
    pub fn duration(&self, job: &Job, chunk: i32, multiprocessors: u32) -> i64 {
        let resident = i64::from(multiprocessors.max(1)) * self.resident();
        let (chunk, pairs) = (i64::from(chunk.max(1)), job.planes.map_or(0, |planes| pairs(&planes)));
        let (tiles, rest) = (self.tiles(job), pairs % chunk);
        let long = chunk + self.halo_pairs();
        let (rounds, over) = (tiles * (pairs / chunk) / resident, tiles * (pairs / chunk) % resident);
        let early = rounds * long;
        let late = if over > 0 { early + long } else { early };
        if rest == 0 {
            return late;
        }
        let short = rest + self.halo_pairs();
        // Short blocks that end in time: without a long block in the last round, and with one.
        let ended = |time: i64| (resident - over) * ((time - early) / short) + over * ((time - late) / short);
        let (mut from, mut to) = (late, late + ceil(tiles, resident) * short);
        while from < to {
            let time = (from + to) / 2;
            if ended(time) >= tiles {
                to = time;
            } else {
                from = time + 1;
            }
        }
        from
    }

    /// Tiles of all volumes.
    fn tiles(&self, job: &Job) -> i64 {
        let Job { width, height, parity, batch, .. } = *job;
        ceil(i64::from(width) + i64::from(parity[0]), self.columns())
            * ceil(i64::from(height) + i64::from(parity[1]), self.rows())
            * i64::from(batch)
    }

    /// Resident blocks a multiprocessor, given the kernel's launch bounds.
    pub fn resident(&self) -> i64 {
        i64::from((16 / self.shape.warps).max(1))
    }
}
