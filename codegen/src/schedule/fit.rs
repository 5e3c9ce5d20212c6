//! What a schedule is to plans, tuning, commands and tests: one trait for all of them.
//!
//! A schedule proposes [`Shape`]s for a level. A shape that suits a scheme gives a [`Fit`], or names the limit that
//! stands against it. A fit has a kernel, and the arguments of its launches.

use super::demand::Demand;
use super::level::{Arguments, Job, Order, RowAlignment};
use super::{Field, Options, ScheduleError, Shape};
use crate::ir::{Kernel, Scalar};
use crate::machine::Machine;
use lifting_dsl::Scheme;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a launch of a schedule transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Two axes of a level.
    Plane,
    /// Two axes of a level and of the next one.
    TwoLevels,
    /// Two axes of all levels that are left.
    AllLevels,
    /// Three axes of a level.
    Volume,
}

impl Extent {
    /// Whether a launch takes several levels.
    pub fn is_of_several(self) -> bool {
        matches!(self, Extent::TwoLevels | Extent::AllLevels)
    }
}

/// How a kernel walks through a volume, for launchers that have no [`Fit`] at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Columns of a tile.
    pub columns: i64,
    /// Rows of a tile.
    pub rows: i64,
    /// Columns of tiles that store parts of sectors, where these must not be less in a row; 0: these may be any number.
    pub widest: i64,
    /// Columns that a volume has more than.
    pub beyond: i64,
    /// Plane pairs that a block walks beyond its chunk.
    pub halo_pairs: i64,
    /// Blocks that a multiprocessor holds at once.
    pub resident: i64,
    /// Whether the planes must be whole pairs, from an even position on.
    pub whole_pairs: bool,
}

/// A kernel that real compilers are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specimen {
    /// Its shape.
    pub shape: Shape,
    /// The rows that it takes.
    pub rows: RowAlignment,
    /// What is added to its name, if anything.
    pub suffix: String,
}

impl Specimen {
    /// The kernel, under a name of its own.
    ///
    /// # Errors
    /// The limit that stands against it.
    pub fn kernel(&self, scheme: &Scheme, options: Options) -> Result<Kernel, ScheduleError> {
        let fit = self.shape.schedule().fit(scheme, options, self.shape, self.rows)?;
        let mut kernel = fit.kernel(scheme, Order::HorizontalFirst)?;
        kernel.name += &self.suffix;
        Ok(kernel)
    }
}

/// How launches go through a level, or through several: all axes of it in one pass. See
/// [`SCHEDULES`](super::SCHEDULES).
pub trait Schedule: Send + Sync {
    /// What recipes, wisdom and commands call it.
    fn name(&self) -> &'static str;

    /// What it does, in a line, for help texts.
    fn about(&self) -> &'static str;

    /// What a launch transforms.
    fn extent(&self) -> Extent;

    /// Whether a block has a whole image, so that larger ones are refused: tiles, that is, which know nothing of one
    /// another.
    fn holds_whole(&self) -> bool {
        self.extent() == Extent::AllLevels
    }

    /// The numbers of its shapes.
    fn fields(&self) -> &'static [Field];

    /// A shape in words, for recipes. They begin with the schedule's name.
    ///
    /// # Errors
    /// Those of the formatter.
    fn describe(&self, shape: &Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// What it has kernels for, the fastest first. What stands against the last stands against all.
    fn alignments(&self) -> &'static [RowAlignment];

    /// What is derived of a scheme for the kernel of a shape and such rows.
    ///
    /// # Errors
    /// The limit that stands against it.
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
    /// If no shape holds the scheme: what stands against the first.
    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        job: &Job,
        machine: &Machine,
    ) -> Result<Vec<Shape>, ScheduleError>;

    /// Shapes and rows whose kernels stand for all where real compilers are asked, and what tells each from others of
    /// its name.
    ///
    /// # Errors
    /// If no shape holds the scheme.
    fn specimens(&self, scheme: &Scheme, options: Options) -> Result<Vec<Specimen>, ScheduleError> {
        let shape = self.usual(scheme, options)?;
        let of_rows = |&rows: &RowAlignment| Specimen { shape, rows, suffix: String::new() };
        Ok(self.alignments().iter().map(of_rows).collect())
    }

    /// Shapes that tests run with the interpreter: first one of blocks so small that small images have several of them,
    /// then those that differ from it in what kernels are made of.
    fn miniatures(&self, scheme: &Scheme, options: Options) -> Vec<Shape> {
        self.usual(scheme, options).into_iter().collect()
    }

    /// The shape for large images, or volumes, whose rows begin anywhere.
    ///
    /// # Errors
    /// If none holds the scheme.
    fn usual(&self, scheme: &Scheme, options: Options) -> Result<Shape, ScheduleError>;

    /// Shapes to measure where a plan is tuned: those that it considers itself, and others.
    fn trials(&self, considered: &[Shape], sample: Scalar) -> Vec<Shape> {
        let _ = sample;
        considered.to_vec()
    }

    /// Shapes to measure besides where this one was the fastest.
    fn refined(&self, fastest: Shape) -> Vec<Shape> {
        let _ = fastest;
        Vec::new()
    }
}

/// A schedule's shape for a scheme: what is derived before any code is written.
pub trait Fit: fmt::Debug + Send + Sync {
    /// Which rows the kernel takes.
    fn alignment(&self) -> RowAlignment;

    /// Columns and rows that a block, or a warp that walks, leaves results of; of one that walks down rows, as few as
    /// an image may have.
    fn block(&self) -> [i64; 2];

    /// The kernel, whose analysis lifts the axes in this order.
    ///
    /// # Errors
    /// If the kernel needs more than a block has.
    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError>;

    /// The arguments of a launch that depend on where its arrays are, `aligned` and `skew`.
    ///
    /// # Errors
    /// If the kernel cannot run the job: the first thing that stands against it.
    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError>;

    /// Pairs of rows, or of planes, that a block goes through on a device, of a job that the kernel can run; of a
    /// kernel for several levels that does not walk, their number.
    fn chunk(&self, job: &Job, machine: &Machine) -> i32;

    /// The arguments of a launch on a device that depend on it.
    ///
    /// # Errors
    /// As [`Fit::placement`].
    fn arguments(&self, job: &Job, machine: &Machine) -> Result<Arguments, ScheduleError> {
        let [aligned, skew] = self.placement(job)?;
        Ok(Arguments { chunk: self.chunk(job, machine), aligned, skew })
    }

    /// Pairs of rows, or of planes, that chunks have at least: a grid has only so many blocks along that axis.
    fn least_chunk(&self, job: &Job) -> i32 {
        let _ = job;
        1
    }

    /// What a launch for a job that it can run asks of a device, with chunks of so many pairs.
    fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand;

    /// How it walks through a volume, if it does.
    fn tiles(&self) -> Option<Tiles> {
        None
    }

    /// Whether the kernel for all rows was measured to be faster where it can run.
    fn yields(&self) -> bool {
        false
    }

    /// Whether blocks load all that the level before leaves after all else, so that they may load the rest before that
    /// level has ended.
    fn loads_by_time(&self) -> bool {
        false
    }

    /// Whether large launches gain by blocks in clusters: memory limits them, and blocks beside one another share what
    /// they read and the sectors that they store.
    fn gains_by_clusters(&self) -> bool {
        false
    }
}

impl Shape {
    /// The fit of the fastest kernel of this shape that can run a job, and the arguments of its launch on a device.
    ///
    /// # Errors
    /// What stands against the kernel that takes the most.
    pub fn meet(
        self,
        scheme: &Scheme,
        options: Options,
        job: &Job,
        machine: &Machine,
    ) -> Result<(Arc<dyn Fit>, Arguments), ScheduleError> {
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

impl fmt::Debug for dyn Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Schedules have different names.
impl PartialEq for dyn Schedule {
    fn eq(&self, other: &dyn Schedule) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Schedule {}

impl Hash for dyn Schedule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
