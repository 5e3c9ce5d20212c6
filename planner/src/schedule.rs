//! What plans are told to take, and what they take.

use lifting_codegen::schedule::{
    self, AXIS_SCHEDULES, AxisSchedule, Extent, PAPERS, SCHEDULES, Shape, cascade, pyramid, stream, tile, volume, warp,
};
use std::fmt;

/// How kernels on a GPU go through a level: what `PlanBuilder::schedule` asks for.
///
/// The coefficients do not depend on it, but for the rounding of one that filters (`convolution`). Schedules have
/// names, which `parse` reads; those that have been there for long are constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Schedule {
    /// For each level the one that is predicted to be fastest, among those that can.
    #[default]
    Auto,
    /// One pass an axis, in registers where wavelet, shape and strides allow that, else as [`Schedule::Shared`].
    Separate,
    /// One pass an axis, through shared memory, with a barrier a step: takes every wavelet, shape and stride.
    Shared,
    /// One pass an axis for wavelets that are lattices, under `periodic`: blocks that hold whole vectors.
    Lattice,
    /// One pass an axis, by one of [`AXIS_SCHEDULES`]: those of papers, and baselines.
    Axis(&'static dyn AxisSchedule),
    /// Several axes in one launch, by one of [`SCHEDULES`], or of [`PAPERS`]. Levels that are not for it, as
    /// [`Schedule::Auto`].
    Launch(&'static dyn schedule::Schedule),
}

impl Schedule {
    /// Both axes of an image in one pass: warps walk down strips of columns, rows in flight in shared memory.
    pub const STREAM: Schedule = Schedule::Launch(&stream::Schedule);
    /// Both axes of an image in one pass: blocks that a warp holds in registers, halo and all.
    pub const WARP: Schedule = Schedule::Launch(&warp::Schedule);
    /// Both axes of an image in one pass: blocks that hand a tile from one axis to the other through shared memory.
    pub const TILE: Schedule = Schedule::Launch(&tile::Schedule);
    /// Both axes of an image in one pass, and the first two levels in one: warps walk down strips of columns. Other
    /// levels as [`Schedule::Auto`].
    pub const CASCADE: Schedule = Schedule::Launch(&cascade::Schedule);
    /// Both axes of an image in one pass, and all levels from the first one that is small enough: blocks that hold an
    /// image in shared memory. Larger levels as [`Schedule::Auto`].
    pub const PYRAMID: Schedule = Schedule::Launch(&pyramid::Schedule);
    /// All three axes of a volume in one pass: blocks walk along the last one with a tile of a plane.
    pub const VOLUME: Schedule = Schedule::Launch(&volume::Schedule);

    /// Those that can be asked for, `Auto` first.
    pub fn all() -> impl Iterator<Item = Schedule> + Clone {
        let passes = [Schedule::Auto, Schedule::Separate, Schedule::Shared];
        let launches = SCHEDULES.iter().map(|&schedule| Schedule::Launch(schedule));
        let papers = PAPERS.iter().map(|&schedule| Schedule::Launch(schedule));
        let axes = AXIS_SCHEDULES.iter().map(|&schedule| Schedule::Axis(schedule));
        passes.into_iter().chain(launches).chain([Schedule::Lattice]).chain(papers).chain(axes)
    }

    /// `auto`, `separate`, `shared`, `lattice`, or the name of one of [`SCHEDULES`], [`PAPERS`] or
    /// [`AXIS_SCHEDULES`].
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Auto => "auto",
            Schedule::Separate => "separate",
            Schedule::Shared => "shared",
            Schedule::Lattice => "lattice",
            Schedule::Axis(schedule) => schedule.name(),
            Schedule::Launch(schedule) => schedule.name(),
        }
    }

    /// What a launch takes, where a level, or several, are one launch.
    pub fn extent(self) -> Option<Extent> {
        match self {
            Schedule::Launch(schedule) => Some(schedule.extent()),
            _ => None,
        }
    }

    /// Whether results have the bits of lifting: those of all but filters, a baseline for real samples.
    pub fn has_lifting_bits(self) -> bool {
        !matches!(self, Schedule::Axis(schedule) if !schedule.has_lifting_bits())
    }

    /// Whether a launch takes several levels.
    pub fn is_of_several(self) -> bool {
        self.extent().is_some_and(Extent::is_of_several)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        let names = || Schedule::all().map(Schedule::name).collect::<Vec<_>>().join(", ");
        let found = Schedule::all().find(|s| s.name() == text);
        found.ok_or_else(|| format!("there is no schedule `{text}`: choose one of {}", names()))
    }
}

/// How a plan goes through a level, or through several; what [`Recipe`](crate::Recipe) shows, and what tuning varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Way {
    /// A pass an axis, each in the shape that it proposes itself.
    Separate,
    /// A pass an axis of [`Schedule::Lattice`], in blocks as long as its vectors.
    Lattice,
    /// A pass an axis by a schedule that was asked for.
    Axis(&'static dyn AxisSchedule),
    /// Several axes in one launch, in blocks of this shape.
    Launch(Shape),
}

impl Way {
    /// The schedule that it is of.
    pub fn schedule(self) -> Schedule {
        match self {
            Way::Separate => Schedule::Separate,
            Way::Lattice => Schedule::Lattice,
            Way::Axis(schedule) => Schedule::Axis(schedule),
            Way::Launch(shape) => Schedule::Launch(shape.schedule()),
        }
    }

    /// The shape of blocks, where there is one to choose.
    pub fn shape(self) -> Option<Shape> {
        match self {
            Way::Separate | Way::Lattice | Way::Axis(_) => None,
            Way::Launch(shape) => Some(shape),
        }
    }

    /// A number of the shape of blocks, by its name.
    pub fn get(self, name: &str) -> Option<u32> {
        self.shape()?.get(name)
    }

    /// Whether a launch takes several levels.
    pub fn is_of_several(self) -> bool {
        self.schedule().is_of_several()
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Separate => f.write_str("separate"),
            Way::Lattice => f.write_str("lattice"),
            Way::Axis(schedule) => f.write_str(schedule.name()),
            Way::Launch(shape) => shape.fmt(f),
        }
    }
}
