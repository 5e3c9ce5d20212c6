//! The `Schedule` and `Fit` traits: all that planner, tuner, commands and tests need from a schedule.
//!
//! A schedule proposes [`Shape`]s for a level. A shape that suits a scheme gives a [`Fit`]; any other gives an error
//! with the limit. A fit has a kernel, and the arguments of its launches.

use super::demand::Demand;
use super::level::{Arguments, Job, Order, RowAlignment};
use super::{Extent, Field, Options, ScheduleError, Shape};
use crate::ir::{Kernel, Scalar};
use crate::machine::Machine;
use lifting_dsl::Scheme;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Launches by a host that chooses sizes at run time, without a [`Fit`]: the default launcher of emitted files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLaunch {
    /// Takes the alignment of rows as its argument.
    Usual,
    /// Takes the skew of rows, too.
    Skewed,
    /// Requires bands of whole vectors, and rows in pairs.
    Strict,
}

/// Tiles of a kernel that walks through a volume, for launchers without a [`Fit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Columns of a tile.
    pub columns: i64,
    /// Rows of a tile.
    pub rows: i64,
    /// Columns of a tile that stores partial sectors. Whole-sector tiles must not need more tiles across a row; 0 means
    /// no such limit.
    pub widest: i64,
    /// Columns that a volume must exceed.
    pub beyond: i64,
    /// Plane pairs that a block walks beyond its chunk.
    pub halo_pairs: i64,
    /// Resident blocks a multiprocessor.
    pub resident: i64,
    /// Whether the planes must be whole pairs, from an even position on.
    pub whole_pairs: bool,
}

/// A kernel to compile with real compilers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specimen {
    /// Its shape.
    pub shape: Shape,
    /// The row alignment it requires.
    pub rows: RowAlignment,
    /// Suffix of its name, may be empty.
    pub suffix: String,
}

impl Specimen {
    /// The kernel, under a unique name.
    ///
    /// # Errors
    /// The limit that it exceeds.
    pub fn kernel(&self, scheme: &Scheme, options: Options) -> Result<Kernel, ScheduleError> {
        let fit = self.shape.schedule().fit(scheme, options, self.shape, self.rows)?;
        let mut kernel = fit.kernel(scheme, Order::HorizontalFirst)?;
        kernel.name += &self.suffix;
        Ok(kernel)
    }
}

/// A schedule: launches that transform all axes of a level, or of several, in one pass. See
/// [`SCHEDULES`](super::SCHEDULES).
pub trait LaunchSchedule: Send + Sync {
    /// Its name in recipes, wisdom and commands.
    fn name(&self) -> &'static str;

    /// One-line description, for help texts.
    fn about(&self) -> &'static str;

    /// The axes and levels of a launch.
    fn extent(&self) -> Extent;

    /// Whether a block holds a whole image, so that larger ones are refused: independent tiles.
    fn holds_whole(&self) -> bool {
        self.extent() == Extent::AllLevels
    }

    /// Whether one launch takes a grid of images, such as all tiles of an image ([`Job::grid_rows`]).
    fn takes_grids(&self) -> bool {
        false
    }

    /// The fields of its shapes.
    fn fields(&self) -> &'static [Field];

    /// Whether kernels of a shape are a transform. Others measure a part of one.
    fn transforms(&self, shape: &Shape) -> bool {
        let _ = shape;
        true
    }

    /// Writes a shape in words, for recipes. They begin with the schedule's name.
    ///
    /// # Errors
    /// Those of the formatter.
    fn describe(&self, shape: &Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Row alignments of its kernels, the fastest first. Errors against the last hold for all.
    fn alignments(&self) -> &'static [RowAlignment];

    /// Fits a scheme to a shape, for rows of an alignment.
    ///
    /// # Errors
    /// The limit that it exceeds.
    fn fit(
        &self,
        scheme: &Scheme,
        options: Options,
        shape: Shape,
        rows: RowAlignment,
    ) -> Result<Arc<dyn Fit>, ScheduleError>;

    /// Shapes worth considering for a job on a device, its own choice first.
    ///
    /// # Errors
    /// If no shape holds the scheme: the reason against the first.
    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        job: &Job,
        machine: &Machine,
    ) -> Result<Vec<Shape>, ScheduleError>;

    /// Representative kernels to compile with real compilers, with suffixes that tell kernels of one name apart.
    ///
    /// # Errors
    /// If no shape holds the scheme.
    fn specimens(&self, scheme: &Scheme, options: Options) -> Result<Vec<Specimen>, ScheduleError> {
        let shape = self.usual(scheme, options)?;
        let of_rows = |&rows: &RowAlignment| Specimen { shape, rows, suffix: String::new() };
        Ok(self.alignments().iter().map(of_rows).collect())
    }

    /// Whether [`Schedule::specimens`] of these options are worth compiling: some compile slowly, and differ little
    /// from others. A full check compiles more.
    fn is_representative(&self, scheme: &Scheme, options: Options, full: bool) -> bool {
        let _ = (scheme, options, full);
        true
    }

    /// Shapes for tests with the interpreter. The first has blocks so small that small images need several. The others
    /// have kernels built from other parts.
    fn miniatures(&self, scheme: &Scheme, options: Options) -> Vec<Shape> {
        self.usual(scheme, options).into_iter().collect()
    }

    /// The shape for large images, or volumes, with unaligned rows.
    ///
    /// # Errors
    /// If none holds the scheme.
    fn usual(&self, scheme: &Scheme, options: Options) -> Result<Shape, ScheduleError>;

    /// Shapes that tuning measures: those that the plan considers, and others.
    fn trials(&self, considered: &[Shape], sample: Scalar) -> Vec<Shape> {
        let _ = sample;
        considered.to_vec()
    }

    /// More shapes to measure if this one was the fastest.
    fn refined(&self, fastest: Shape) -> Vec<Shape> {
        let _ = fastest;
        Vec::new()
    }
}

/// A schedule's shape for a scheme: all that is derived before code is written.
pub trait Fit: fmt::Debug + Send + Sync {
    /// Row alignment the kernel requires.
    fn alignment(&self) -> RowAlignment;

    /// Columns and rows of results of a block, or of a warp that walks. For one that walks down rows, the fewest rows
    /// that an image may have.
    fn block(&self) -> [i64; 2];

    /// The kernel; its analysis lifts the axes in this order.
    ///
    /// # Errors
    /// If the kernel exceeds a block's limits.
    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError>;

    /// The arguments of a launch that depend on its arrays' addresses: `aligned` and `skew`.
    ///
    /// # Errors
    /// If the kernel cannot run the job: the first reason.
    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError>;

    /// Pairs of rows, or of planes, in a block's walk on a device, for a job that the kernel can run. For a kernel of
    /// several levels that does not walk, their number.
    fn chunk(&self, job: &Job, machine: &Machine) -> i32;

    /// The arguments of a launch on a device that depend on the job.
    ///
    /// # Errors
    /// As [`Fit::placement`].
    fn arguments(&self, job: &Job, machine: &Machine) -> Result<Arguments, ScheduleError> {
        let [aligned, skew] = self.placement(job)?;
        Ok(Arguments { chunk: self.chunk(job, machine), aligned, skew })
    }

    /// Minimum pairs of rows, or of planes, in a chunk: a grid is limited along that axis.
    fn least_chunk(&self, job: &Job) -> i32 {
        let _ = job;
        1
    }

    /// Estimated demand of a launch on a device, for a job that it can run, with chunks of `chunk` pairs.
    fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand;

    /// The way that a host launches it without a plan; `None` if only plans can.
    fn host_launch(&self) -> Option<HostLaunch> {
        Some(HostLaunch::Usual)
    }

    /// Tiles of its walk through a volume, if it has one.
    fn tiles(&self) -> Option<Tiles> {
        None
    }

    /// Whether the kernel for all rows was measured to be faster where it can run.
    fn yields(&self) -> bool {
        false
    }

    /// Whether blocks load the previous level's result last, so that they may load the rest before that level has
    /// ended.
    fn loads_by_time(&self) -> bool {
        false
    }

    /// Whether large launches gain from clusters: memory limits them, and neighbouring blocks share loads and stored
    /// sectors.
    fn gains_by_clusters(&self) -> bool {
        false
    }
}

impl Shape {
    /// The fit of the fastest kernel of this shape that can run a job, and the arguments of its launch on a device.
    ///
    /// # Errors
    /// The reason against the least strict kernel.
    pub fn meet(
        self,
        scheme: &Scheme,
        options: Options,
        job: &Job,
        machine: &Machine,
    ) -> Result<(Arc<dyn Fit>, Arguments), ScheduleError> {
        if job.grid_rows > 1 && !self.schedule().takes_grids() {
            let what = "it takes images in a row, and not a grid of them".to_owned();
            return Err(ScheduleError::Launch { schedule: self.schedule().name(), what });
        }
        let attempt = |rows: RowAlignment| {
            let fit = self.schedule().fit(scheme, options, self, rows)?;
            let arguments = fit.arguments(job, machine)?;
            Ok((fit, arguments))
        };
        let (last, faster) = self.schedule().alignments().split_last().expect("a schedule takes some rows");
        match faster.iter().find_map(|&rows| attempt(rows).ok()) {
            Some(found) if found.0.yields() => attempt(*last).or(Ok(found)),
            Some(found) => Ok(found),
            None => attempt(*last),
        }
    }
}

impl fmt::Debug for dyn LaunchSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Schedules have different names.
impl PartialEq for dyn LaunchSchedule {
    fn eq(&self, other: &dyn LaunchSchedule) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn LaunchSchedule {}

impl Hash for dyn LaunchSchedule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
