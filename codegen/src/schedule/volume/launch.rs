//! What a launch needs besides the arrays: whether it is legal, how long chunks are, what is aligned.

use super::Block;
use crate::schedule::level::{BANDS_ALIGNED, Border, Job, MAX_SIDE, Planes, SIGNAL_ALIGNED, Tuning};
use crate::schedule::{Options, ScheduleError};
use lifting_dsl::Boundary;

/// Most blocks of a launch in y and in z.
const MAX_BLOCKS: i64 = 65535;

fn ceil(n: i64, unit: i64) -> i64 {
    (n + unit - 1) / unit
}

/// Plane pairs.
fn pairs(planes: &Planes) -> i64 {
    (i64::from(planes.parity) + i64::from(planes.depth) + 1) / 2
}

impl Block {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first thing that stands against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        self.planes(job).map(|_| ())
    }

    /// The third axis of a legal job.
    fn planes(&self, job: &Job) -> Result<Planes, ScheduleError> {
        let Options { sample, boundary, .. } = self.options;
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "volume", what });
        let Some(planes) = job.planes else { return refuse("it is of images, not of volumes".into()) };
        job.check("volume", sample)?;
        // The bands that are high along z, as those of an image.
        Job { bands: planes.high, ..*job }.check("volume", sample)?;
        let (low, high) = (job.bands[1], planes.high[0]);
        if (low.pitch, low.stride) != (high.pitch, high.stride) {
            return refuse("bands that are low along z and those that are high differ in pitch or stride".into());
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
                "from plane to plane, or from first row to last, are {far} samples, they must fit into 32 bits"
            ));
        }
        let chunks = MAX_BLOCKS / i64::from(job.batch);
        if chunks == 0 {
            return refuse(format!("the batch is {}, it must be 1 to {MAX_BLOCKS}", job.batch));
        }
        let most = MAX_BLOCKS * self.rows();
        if i64::from(job.height) + i64::from(job.parity[1]) > most {
            return refuse(format!("the height is {}, tiles of {} rows take {most}", job.height, self.rows()));
        }
        job.check_pairs("volume", boundary)?;
        if boundary == Boundary::Periodic && planes.depth % 2 != 0 {
            return refuse(format!("under periodic the depth ({}) must be even", planes.depth));
        }
        if self.deep_border == Border::Untouched && (planes.depth % 2 != 0 || planes.parity != 0) {
            return refuse(format!(
                "its walk knows no border rule for pairs of planes that a border cuts: the depth ({}) and the position of the first plane ({}) must be even",
                planes.depth, planes.parity
            ));
        }
        if !self.shape.aligned {
            return Ok(planes);
        }
        let columns = self.shape.columns as i32;
        if self.aligned(job, &planes) != SIGNAL_ALIGNED | BANDS_ALIGNED || job.parity != [0, 0] {
            return refuse(format!(
                "rows must be aligned to {columns} samples, those of bands to {}, and the first column's and row's positions ({} and {}) must be even",
                columns / 2,
                job.parity[0],
                job.parity[1]
            ));
        }
        let halo = self.left.max(32 - self.left - self.useful) as i32 * columns;
        if job.width % columns != 0 || job.width <= halo {
            return refuse(format!(
                "the width is {}, it must be a multiple of {columns} and more than {halo}",
                job.width
            ));
        }
        Ok(planes)
    }

    /// The tuning of a legal job on a device with so many multiprocessors.
    ///
    /// # Errors
    /// As [`Block::accepts`].
    pub fn tuning(&self, job: &Job, multiprocessors: u32) -> Result<Tuning, ScheduleError> {
        let planes = self.planes(job)?;
        let chunk = self.chunk(job, &planes, multiprocessors);
        Ok(Tuning { chunk, aligned: self.aligned(job, &planes), skew: 0 })
    }

    /// Plane pairs that chunks must have at least: a grid has only so many blocks in z.
    pub fn least_chunk(job: &Job) -> i32 {
        let most = (MAX_BLOCKS / i64::from(job.batch)).max(1);
        job.planes.map_or(1, |planes| ceil(pairs(&planes), most)) as i32
    }

    /// [`SIGNAL_ALIGNED`] and [`BANDS_ALIGNED`]: rows begin at multiples of a lane's vector in every plane.
    fn aligned(&self, job: &Job, planes: &Planes) -> i32 {
        let (sample, columns) = (self.options.sample, self.shape.columns);
        let high = Job { bands: planes.high, ..*job }.aligned(sample, columns);
        let [signal, low, others] = planes.steps;
        let (vector, half) = (i64::from(columns), i64::from(columns) / 2);
        let steps = i32::from(signal % vector == 0) * SIGNAL_ALIGNED
            + i32::from(low % half == 0 && others % half == 0) * BANDS_ALIGNED;
        job.aligned(sample, columns) & high & steps
    }

    /// Plane pairs that a block walks: so many that the last wave of blocks is as full as the others, and the halo does not cost more.
    fn chunk(&self, job: &Job, planes: &Planes, multiprocessors: u32) -> i32 {
        let resident = i64::from(multiprocessors.max(1)) * self.resident();
        let pairs = pairs(planes);
        let least = i64::from(Block::least_chunk(job));
        let most = ceil(pairs, least);
        // Waves of blocks, each of a chunk and its halo.
        let time = |chunk: i64| ceil(self.tiles(job) * ceil(pairs, chunk), resident) * (chunk + self.halo_pairs());
        let lengths = (1..=most).map(|chunks| ceil(pairs, chunks)).filter(|&chunk| chunk >= least);
        lengths.min_by_key(|&chunk| (time(chunk), std::cmp::Reverse(chunk))).unwrap_or(pairs) as i32
    }

    /// Tiles of all volumes.
    fn tiles(&self, job: &Job) -> i64 {
        let Job { width, height, parity, batch, .. } = *job;
        ceil(i64::from(width) + i64::from(parity[0]), self.columns())
            * ceil(i64::from(height) + i64::from(parity[1]), self.rows())
            * i64::from(batch)
    }

    /// Blocks of a launch with such chunks.
    pub fn blocks(&self, job: &Job, chunk: i32) -> i64 {
        self.tiles(job) * job.planes.map_or(0, |planes| ceil(pairs(&planes), chunk.max(1).into()))
    }

    /// Blocks that a multiprocessor holds at once, as their threads are bounded.
    pub fn resident(&self) -> i64 {
        i64::from((16 / self.shape.warps).max(1))
    }
}
