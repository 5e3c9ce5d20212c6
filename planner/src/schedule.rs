//! Schedules: requests to plans, and the candidates that plans take.

use lifting_codegen::schedule::{
    self, AxisSchedule, Extent, SCHEDULES, Shape, cascade, pyramid, stream, tile, volume, warp,
};
use std::fmt;

/// Schedule of kernels on a GPU, as requested from `PlanBuilder::schedule`.
///
/// Coefficients do not depend on it, except for the rounding of a filtering one. Schedules have names,
/// which `parse` reads; the established ones are constants. Any other is an [`AxisSchedule`], or a
/// [`Schedule`](schedule::Schedule) of launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Schedule {
    /// The fastest supported one by prediction, for each level.
    #[default]
    Auto,
    /// One pass an axis, in registers if wavelet, shape and strides allow that, else like [`Schedule::Shared`].
    Separate,
    /// One pass an axis, through shared memory, with a barrier a step: supports every wavelet, shape and stride.
    Shared,
    /// One pass an axis for wavelets that are lattices, under `periodic`: blocks that hold whole vectors.
    Lattice,
    /// One pass an axis, by a schedule of yours.
    Axis(&'static dyn AxisSchedule),
    /// Several axes in one launch, by one of [`SCHEDULES`] or a schedule of yours. Unsuitable levels use
    /// [`Schedule::Auto`].
    Launch(&'static dyn schedule::LaunchSchedule),
}

impl Schedule {
    /// Both axes of an image in one pass: warps walk down strips of columns, with a ring buffer of rows in shared
    /// memory.
    pub const STREAM: Schedule = Schedule::Launch(&stream::StreamSchedule);
    /// Both axes of an image in one pass: blocks that a warp holds in registers, including the halo.
    pub const WARP: Schedule = Schedule::Launch(&warp::WarpSchedule);
    /// Both axes of an image in one pass: blocks that pass a tile from one axis to the other through shared memory.
    pub const TILE: Schedule = Schedule::Launch(&tile::TileSchedule);
    /// Both axes of an image in one pass, and the first two levels in one launch: warps walk down strips of columns.
    /// Other levels use [`Schedule::Auto`].
    pub const CASCADE: Schedule = Schedule::Launch(&cascade::CascadeSchedule);
    /// Both axes of an image in one pass, and all levels from the first small enough one in one launch: blocks hold an
    /// image in shared memory. Larger levels use [`Schedule::Auto`].
    pub const PYRAMID: Schedule = Schedule::Launch(&pyramid::PyramidSchedule);
    /// All three axes of a volume in one pass: blocks walk along the last one with a tile of a plane.
    pub const VOLUME: Schedule = Schedule::Launch(&volume::VolumeSchedule);

    /// All schedules that can be requested by name, `Auto` first.
    pub fn all() -> impl Iterator<Item = Schedule> + Clone {
        let passes = [Schedule::Auto, Schedule::Separate, Schedule::Shared];
        let launches = SCHEDULES.iter().map(|&schedule| Schedule::Launch(schedule));
        passes.into_iter().chain(launches).chain([Schedule::Lattice])
    }

    /// Name: `auto`, `separate`, `shared`, `lattice`, or the schedule's own.
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

    /// Extent of a launch, if one launch takes one or several levels.
    pub fn extent(self) -> Option<Extent> {
        match self {
            Schedule::Launch(schedule) => Some(schedule.extent()),
            _ => None,
        }
    }

    /// Whether results have the bits of lifting: all but filters, a baseline for real samples.
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
        found.ok_or_else(|| format!("invalid schedule `{text}`: choose one of {}", names()))
    }
}

/// Execution of one or several levels, as [`Recipe`](crate::Recipe) shows it and tuning varies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Way {
    /// A pass an axis, each in its default shape.
    Separate,
    /// A pass an axis of [`Schedule::Lattice`], in blocks as long as its vectors.
    Lattice,
    /// A pass an axis by a requested schedule.
    Axis(&'static dyn AxisSchedule),
    /// Several axes in one launch, in blocks of this shape.
    Launch(Shape),
}

impl Way {
    /// Schedule of this candidate.
    pub fn schedule(self) -> Schedule {
        match self {
            Way::Separate => Schedule::Separate,
            Way::Lattice => Schedule::Lattice,
            Way::Axis(schedule) => Schedule::Axis(schedule),
            Way::Launch(shape) => Schedule::Launch(shape.schedule()),
        }
    }

    /// Block shape, if there is a choice.
    pub fn shape(self) -> Option<Shape> {
        match self {
            Way::Separate | Way::Lattice | Way::Axis(_) => None,
            Way::Launch(shape) => Some(shape),
        }
    }

    /// A number of the block shape, by name.
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
