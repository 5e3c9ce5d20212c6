//! Launch checks of the `cascade` schedule, and its estimates of chunk height and duration.

use super::{CascadeFit, RESIDENT_IN_PAIRS, VECTOR};
use crate::machine::{CascadeSteps, Machine};
use crate::schedule::level::{Array, BANDS_ALIGNED, Job, MAX_CHUNKS, SIGNAL_ALIGNED};
use crate::schedule::{Options, ScheduleError};
use lifting_dsl::{Boundary, Direction};

/// Bytes of shared memory that a block takes beyond its ring buffer.
const BESIDES: i64 = 1 << 10;
/// Registers of a thread beyond its delay lines, in analysis and in synthesis.
const BESIDES_LINES: [i64; 2] = [80, 50];

impl CascadeFit {
    /// Whether the kernel may be launched on this job.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn accepts(&self, job: &Job) -> Result<(), ScheduleError> {
        let Options { sample, boundary, .. } = self.options;
        let refuse = |what: String| Err(ScheduleError::Launch { schedule: "cascade", what });
        let Some(coarse) = job.coarse else { return refuse("it is for one level, this schedule runs two".into()) };
        job.check("cascade", sample)?;
        let [_, hl, ..] = job.bands;
        if coarse.iter().any(|band| (band.pitch, band.stride) != (hl.pitch, hl.stride)) {
            return refuse("the bands of both levels must have the same pitch and stride".into());
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
        let least = self.least();
        if i64::from(job.width) < least[0] || i64::from(job.height) < least[1] {
            return refuse(format!(
                "the width is {} and the height {}, they must be at least {} and {}",
                job.width, job.height, least[0], least[1]
            ));
        }
        if self.aligned(job) != SIGNAL_ALIGNED | BANDS_ALIGNED || job.parity != [0, 0] {
            return refuse(format!(
                "rows must be aligned to {} samples, those of bands to {} and, of the second level, to {}, and the \
                 first column's and row's positions ({} and {}) must be even",
                self.vector(),
                columns / 2,
                columns / 4,
                job.parity[0],
                job.parity[1]
            ));
        }
        Ok(())
    }

    /// Minimum columns and rows of an image: one reflection leads to the low band, and to a row of the image, from
    /// every load of a walk.
    pub(super) fn least(&self) -> [i64; 2] {
        [2 * (self.halo.before.max(self.halo.after) + 2), 4 * self.above().max(self.delay(true)) + 8]
    }

    /// Samples of a copy.
    fn vector(&self) -> i64 {
        VECTOR / self.options.sample.bytes() as i64
    }

    /// [`SIGNAL_ALIGNED`], and [`BANDS_ALIGNED`] for the bands of both levels.
    pub(super) fn aligned(&self, job: &Job) -> i32 {
        let columns = i64::from(self.shape.columns);
        let is = |array: &Array, samples: i64| job.is_aligned(array, self.options.sample, samples, 0);
        let [ll, first @ ..] = &job.bands;
        let coarse = job.coarse.iter().flatten().chain([ll]);
        let bands = first.iter().all(|band| is(band, columns / 2)) && { coarse }.all(|band| is(band, columns / 4));
        i32::from(is(&job.signal, self.vector())) * SIGNAL_ALIGNED + i32::from(bands) * BANDS_ALIGNED
    }

    /// Minimum row pairs of the second level in a chunk: the grid is limited in y.
    pub fn least_chunk(job: &Job) -> i32 {
        ceil(pairs(job), MAX_CHUNKS.into()) as i32
    }

    /// The chunk height with the shortest predicted time. Multiples of 4 are slower than their neighbours: all chunks
    /// then begin at like offsets in memory.
    pub(super) fn row_pairs(&self, job: &Job, machine: &Machine) -> i32 {
        let heights = (1..=pairs(job).max(1) as i32).filter(|chunk| chunk % 4 != 0);
        let duration = |chunk: &i32| self.duration(job, *chunk, machine);
        let best = heights.min_by(|a, b| duration(a).total_cmp(&duration(b))).unwrap_or(1);
        best.max(CascadeFit::least_chunk(job))
    }

    /// Warps that share a scheduler, one or two, if all warps of a launch run at once and the image is small. Synthesis
    /// takes any number.
    fn at_once(&self, job: &Job, chunk: i64, machine: &Machine) -> Option<usize> {
        let small = self.direction() == 0 && self.bytes(job) <= machine.constants().cascade_steps.small_image;
        let warps = ceil(self.warps(job, chunk), machine.multiprocessors.into());
        let shared = ceil(warps, machine.schedulers.into());
        (small && shared <= 2 && warps <= self.resident(machine)).then_some(shared as usize)
    }

    /// Predicted duration of a launch with chunks of this height, in row pairs of the second level. The unit is a step
    /// of a warp that has a scheduler to itself.
    pub fn duration(&self, job: &Job, chunk: i32, machine: &Machine) -> f64 {
        if self.is_busy() {
            return self.in_busy_pairs(job, chunk, machine);
        }
        if self.packed {
            return self.in_pairs(job, chunk, machine);
        }
        let c = &machine.constants().cascade_steps;
        let filled = f64::from(chunk) + c.halo_step * self.halo_pairs() as f64 + c.fill * self.asked_ahead();
        match self.at_once(job, chunk.into(), machine) {
            Some(1) => filled,
            Some(_) => filled * c.shared_by_two[self.is_wide()],
            None => self.in_waves(job, chunk, machine, filled),
        }
    }

    /// [`Fit::duration`] of packed samples with a short halo.
    fn in_pairs(&self, job: &Job, chunk: i32, machine: &Machine) -> f64 {
        let (c, direction) = (&machine.constants().cascade_steps, self.direction());
        let warps = ceil(self.warps(job, chunk.into()), machine.multiprocessors.into());
        let bytes = self.bytes(job);
        if bytes > c.pairs_small_image {
            return self.in_many_waves(job, chunk, machine);
        }
        let mean = (warps as f64 / f64::from(machine.schedulers)).max(1.0);
        let shared = mean + c.pairs_uneven[direction] * (ceil(warps, machine.schedulers.into()) as f64 - mean);
        let table = [&c.pairs_shared, &c.pairs_shared_inverse][direction];
        let below = (shared as usize).min(table.len() - 1);
        let longer = table[below - 1] + (shared - below as f64) * (table[below] - table[below - 1]);
        let steps =
            f64::from(chunk) + c.pairs_halo_step[direction] * self.halo_pairs() as f64 + c.fill * self.asked_ahead();
        steps * longer * crowded(bytes as f64, c.in_flight[direction], c.pairs_crowded)
    }

    /// [`Fit::duration`] of packed samples with a long halo.
    fn in_busy_pairs(&self, job: &Job, chunk: i32, machine: &Machine) -> f64 {
        let CascadeSteps { fill, busy_shared, busy_wave, busy_at_borders, .. } = &machine.constants().cascade_steps;
        let warps = ceil(self.warps(job, chunk.into()), machine.multiprocessors.into());
        let resident = self.resident(machine);
        let waves = ceil(warps, resident) - 1;
        // Warps of the last wave that share a scheduler.
        let shared = ceil(warps - waves * resident, machine.schedulers.into()) as usize;
        let [.., most] = busy_shared;
        let last = busy_shared.get(shared - 1).copied().unwrap_or(most * shared as f64 / busy_shared.len() as f64);
        let full = resident as f64 / (machine.schedulers as usize * busy_shared.len()) as f64;
        let steps = f64::from(chunk) + self.halo_pairs() as f64 + fill * self.asked_ahead();
        let inner = [self.strips(job), ceil(pairs(job), chunk.into())].map(|n| (1.0 - 2.0 / n as f64).max(0.0));
        let at_borders = 1.0 + busy_at_borders * (1.0 - inner[0] * inner[1]);
        steps * (waves as f64 * busy_wave[self.direction()] * full + last) * at_borders
    }

    /// [`Fit::duration`] for more warps than run at once. `filled` is the steps of one warp, including those that fill
    /// its ring.
    fn in_waves(&self, job: &Job, chunk: i32, machine: &Machine, filled: f64) -> f64 {
        let c = &machine.constants().cascade_steps;
        let (direction, wide, resident) = (self.direction(), self.is_wide(), self.resident(machine) as f64);
        let all = self.warps(job, chunk.into()) as f64 / f64::from(machine.multiprocessors);
        let waves = all / resident;
        if waves >= c.many_waves {
            return self.in_many_waves(job, chunk, machine);
        }
        let each = match self.options.direction {
            Direction::Forward => resident * c.followed[wide],
            Direction::Inverse => {
                let more = (resident.min(all.ceil()) - f64::from(machine.schedulers)).max(0.0);
                1.0 + more * c.shared[wide]
            }
        };
        let in_flight = self.in_flight(job, chunk, machine);
        waves.ceil() * filled * each * crowded(in_flight, c.in_flight[direction], c.crowded[direction])
    }

    /// [`Fit::in_waves`] for many waves.
    fn in_many_waves(&self, job: &Job, chunk: i32, machine: &Machine) -> f64 {
        let (c, direction) = (&machine.constants().cascade_steps, self.direction());
        let resident = self.resident(machine) as f64;
        let waves = self.warps(job, chunk.into()) as f64 / (f64::from(machine.multiprocessors) * resident);
        let walk = f64::from(chunk) + c.many_halo_step[direction] * (self.halo_pairs() as f64).powi(2);
        let steps = [&c.many_step, &c.many_step_inverse][direction];
        let step = steps[if self.packed { 2 } else { self.is_wide() }];
        let holds = [&c.many_in_flight, &c.many_pairs_in_flight][usize::from(self.packed)][direction];
        let in_flight = self.in_flight(job, chunk, machine);
        ((waves.max(1.0) + c.many_last[direction]) * walk + c.many_fill[direction] * self.asked_ahead())
            * resident
            * step
            * crowded(in_flight, holds, c.many_crowded[direction])
    }

    /// Bytes of all images.
    fn bytes(&self, job: &Job) -> i64 {
        i64::from(job.width) * i64::from(job.height) * i64::from(job.batch) * self.options.sample.bytes() as i64
    }

    /// Bytes of the image that all resident warps walk down.
    fn in_flight(&self, job: &Job, chunk: i32, machine: &Machine) -> f64 {
        let columns = f64::from(job.width) / self.strips(job) as f64;
        let warps = self.resident(machine) as f64 * f64::from(machine.multiprocessors);
        4.0 * columns * self.options.sample.bytes() as f64 * f64::from(chunk) * warps
    }

    /// Steps that a warp requests before its first, beyond the ring's minimum of two.
    fn asked_ahead(&self) -> f64 {
        f64::from(self.shape.ring.saturating_sub(2))
    }

    /// 0 for analysis, 1 for synthesis.
    fn direction(&self) -> usize {
        usize::from(self.options.direction == Direction::Inverse)
    }

    /// Warps of a launch.
    fn warps(&self, job: &Job, chunk: i64) -> i64 {
        ceil(pairs(job), chunk.max(1)) * self.strips(job) * i64::from(job.batch)
    }

    /// 1 if a lane's columns are 32 bytes, 0 if 16.
    fn is_wide(&self) -> usize {
        usize::from(self.copies() > 1)
    }

    /// Resident blocks a multiprocessor.
    fn resident(&self, machine: &Machine) -> i64 {
        let Machine { warp, registers, schedulers, shared, .. } = *machine;
        let ring = i64::from(self.shape.ring * self.slot_len() as u32) * self.options.sample.bytes() as i64;
        let most = if self.is_busy() && self.copies() == 1 {
            RESIDENT_IN_PAIRS.into()
        } else {
            // Registers of a thread that a scheduler has for each of its lanes.
            let has = i64::from(registers / (schedulers * warp).max(1));
            i64::from(schedulers) * (has / (BESIDES_LINES[self.direction()] + self.registers)).max(1)
        };
        (i64::from(shared) / (ring + BESIDES)).clamp(1, most)
    }

    /// Strips of an image.
    fn strips(&self, job: &Job) -> i64 {
        ceil(job.width.into(), self.strip_columns())
    }

    /// Steps of four rows that a warp walks beyond its chunk.
    fn halo_pairs(&self) -> i64 {
        self.above() + self.delay(true)
    }

    /// Loads of each sample for chunks of this height, in row pairs of the second level.
    pub fn reads(&self, chunk: i32) -> f64 {
        let chunk = f64::from(chunk.max(1));
        let steps = |alone: i64| chunk + (self.halo_pairs() - alone) as f64;
        // In synthesis, three quarters of the samples are in the first level's bands.
        let rows = 0.25 * steps(0) + 0.75 * steps(self.alone());
        32.0 / self.useful as f64 * rows / chunk
    }
}

/// Slowdown of a step if more is in flight than the L2 cache holds with stored data; at most `1 + by`.
fn crowded(in_flight: f64, holds: f64, by: f64) -> f64 {
    1.0 + by * (1.0 - holds / in_flight).max(0.0)
}

/// Row pairs of the second level.
fn pairs(job: &Job) -> i64 {
    (i64::from(job.height) + 3) / 4
}

fn ceil(n: i64, unit: i64) -> i64 {
    (n + unit - 1) / unit
}
