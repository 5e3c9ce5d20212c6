//! Which schedule a plan takes on a GPU.

use lifting_codegen::schedule::{cascade, pyramid, stream, tile, volume, warp};
use lifting_dsl::sample::SampleType;
use std::fmt;

/// How kernels on a GPU go through a level: what `PlanBuilder::schedule` asks for.
///
/// The coefficients do not depend on it.
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
    /// Both axes of an image in one pass: warps walk down strips of columns, rows in flight in shared memory.
    Stream,
    /// Both axes of an image in one pass: blocks that a warp holds in registers, halo and all.
    Warp,
    /// Both axes of an image in one pass: blocks that hand a tile from one axis to the other through shared memory.
    Tile,
    /// Both axes of an image in one pass, and the first two levels in one: warps walk down strips of columns. Other
    /// levels as [`Schedule::Auto`].
    Cascade,
    /// Both axes of an image in one pass, and all levels from the first one that is small enough: blocks that hold an
    /// image in shared memory. Larger levels as [`Schedule::Auto`].
    Pyramid,
    /// All three axes of a volume in one pass: blocks walk along the last one with a tile of a plane.
    Volume,
    /// One pass an axis for wavelets that are lattices, under `periodic`: blocks that hold whole vectors.
    Lattice,
}

impl Schedule {
    /// Whether a launch takes several levels.
    pub fn is_of_several(self) -> bool {
        matches!(self, Schedule::Cascade | Schedule::Pyramid)
    }

    /// Those that can be asked for, `Auto` first.
    pub const ALL: [Schedule; 10] = [
        Schedule::Auto,
        Schedule::Separate,
        Schedule::Shared,
        Schedule::Stream,
        Schedule::Warp,
        Schedule::Tile,
        Schedule::Cascade,
        Schedule::Pyramid,
        Schedule::Volume,
        Schedule::Lattice,
    ];

    /// `auto`, `separate`, `shared`, `stream`, `warp`, `tile`, `cascade`, `pyramid`, `volume`, `lattice`.
    pub fn name(self) -> &'static str {
        match self {
            Schedule::Auto => "auto",
            Schedule::Separate => "separate",
            Schedule::Shared => "shared",
            Schedule::Stream => "stream",
            Schedule::Warp => "warp",
            Schedule::Tile => "tile",
            Schedule::Cascade => "cascade",
            Schedule::Pyramid => "pyramid",
            Schedule::Volume => "volume",
            Schedule::Lattice => "lattice",
        }
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
        let names = || Schedule::ALL.map(Schedule::name).join(", ");
        let found = Schedule::ALL.into_iter().find(|s| s.name() == text);
        found.ok_or_else(|| format!("there is no schedule `{text}`: choose one of {}", names()))
    }
}

/// Shape of the blocks of a schedule; what [`Recipe`](crate::Recipe) shows, and what tuning varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Block {
    /// What each axis's pass proposes itself.
    Separate,
    /// Of [`Schedule::Stream`].
    Stream(StreamBlock),
    /// Of [`Schedule::Warp`].
    Warp(WarpBlock),
    /// Of [`Schedule::Tile`].
    Tile(TileBlock),
    /// Of [`Schedule::Cascade`].
    Cascade(CascadeBlock),
    /// Of [`Schedule::Pyramid`].
    Pyramid(PyramidBlock),
    /// Of [`Schedule::Volume`].
    Volume(VolumeBlock),
    /// Of [`Schedule::Lattice`]: as long as the vectors of each pass.
    Lattice,
}

/// Shape of the blocks of [`Schedule::Stream`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamBlock {
    /// Columns a lane.
    pub columns: u32,
    /// Warps a block, each with a strip of its own.
    pub warps: u32,
    /// Row pairs in flight.
    pub ring: u32,
    /// Row pairs that a warp walks down.
    pub chunk: u32,
}

/// Shape of the blocks of [`Schedule::Warp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpBlock {
    /// Columns a lane.
    pub columns: u32,
    /// Rows of a warp's block, halo included.
    pub rows: u32,
    /// Warps a block of threads.
    pub warps: u32,
    /// Whether fewer lanes store than could, so that stores are whole sectors.
    pub whole_sectors: bool,
    /// Whether 16-bit integers stand in registers in pairs wherever they are not being lifted.
    pub packed: bool,
}

/// Shape of the blocks of [`Schedule::Tile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileBlock {
    /// Columns a lane, where rows are lifted.
    pub columns: u32,
    /// Rows of a tile's results.
    pub rows: u32,
    /// Row pairs of results that a thread lifts at once, where columns are lifted.
    pub pairs: u32,
    /// Warps a block of threads.
    pub warps: u32,
}

/// Shape of the blocks of [`Schedule::Cascade`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CascadeBlock {
    /// Columns a lane.
    pub columns: u32,
    /// Steps of four rows in flight.
    pub ring: u32,
    /// Row pairs of the second level that a warp walks down.
    pub chunk: u32,
}

impl CascadeBlock {
    /// The shape of the kernel.
    pub(crate) fn shape(self) -> cascade::Shape {
        let CascadeBlock { columns, ring, .. } = self;
        cascade::Shape { columns, ring }
    }
}

/// Its chunks are 0: as long as suits the device.
impl From<cascade::Shape> for CascadeBlock {
    fn from(shape: cascade::Shape) -> CascadeBlock {
        let cascade::Shape { columns, ring } = shape;
        CascadeBlock { columns, ring, chunk: 0 }
    }
}

/// Shape of the blocks of [`Schedule::Pyramid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PyramidBlock {
    /// Columns and rows of an image at most.
    pub side: u32,
    /// Pairs of results of a line that a thread lifts at once: of the first level, and of the others.
    pub pairs: [u32; 2],
}

impl PyramidBlock {
    /// The shape of the kernel.
    pub(crate) fn shape(self) -> pyramid::Shape {
        let PyramidBlock { side, pairs } = self;
        pyramid::Shape { side, pairs }
    }
}

impl From<pyramid::Shape> for PyramidBlock {
    fn from(shape: pyramid::Shape) -> PyramidBlock {
        let pyramid::Shape { side, pairs } = shape;
        PyramidBlock { side, pairs }
    }
}

/// Shape of the blocks of [`Schedule::Volume`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VolumeBlock {
    /// Columns a lane, where rows are lifted.
    pub columns: u32,
    /// Row pairs of results that a thread lifts at once, where columns are lifted.
    pub pairs: u32,
    /// Warps a block of threads.
    pub warps: u32,
    /// Plane pairs that a block walks along.
    pub chunk: u32,
}

impl VolumeBlock {
    /// The shape of the kernel that takes such rows: whole ones where its stores are whole sectors at no cost.
    pub(crate) fn shape(self, takes: stream::RowAlignment) -> volume::Shape {
        let VolumeBlock { columns, pairs, warps, .. } = self;
        let (aligned, whole_sectors) = (takes.is_aligned(), takes == stream::RowAlignment::Whole);
        volume::Shape { columns, pairs, warps, min_blocks: 0, aligned, whole_sectors }
    }
}

/// Its chunks are 0: as long as suits the device.
impl From<volume::Shape> for VolumeBlock {
    fn from(shape: volume::Shape) -> VolumeBlock {
        let volume::Shape { columns, pairs, warps, .. } = shape;
        VolumeBlock { columns, pairs, warps, chunk: 0 }
    }
}

impl TileBlock {
    /// The shape of the kernel for aligned rows, or for any.
    pub(crate) fn shape(self, aligned: bool) -> tile::Shape {
        let TileBlock { columns, rows, pairs, warps } = self;
        tile::Shape { columns, rows, pairs, warps, min_blocks: 0, aligned }
    }
}

impl From<tile::Shape> for TileBlock {
    fn from(shape: tile::Shape) -> TileBlock {
        let tile::Shape { columns, rows, pairs, warps, .. } = shape;
        TileBlock { columns, rows, pairs, warps }
    }
}

impl WarpBlock {
    /// The shape of the kernel for such rows.
    pub(crate) fn shape(self, takes: stream::RowAlignment) -> warp::Shape {
        let WarpBlock { columns, rows, warps, whole_sectors, packed } = self;
        warp::Shape { columns, rows, warps, min_blocks: 0, whole_sectors, packed, takes }
    }
}

impl From<warp::Shape> for WarpBlock {
    fn from(shape: warp::Shape) -> WarpBlock {
        let warp::Shape { columns, rows, warps, whole_sectors, packed, .. } = shape;
        WarpBlock { columns, rows, warps, whole_sectors, packed }
    }
}

impl StreamBlock {
    /// Blocks worth considering: what the schedule proposes itself, and lanes of half as many columns, which need fewer
    /// registers. Their chunks are 0: as tall as suits the device.
    #[doc(hidden)]
    pub fn proposed(sample: SampleType) -> Vec<StreamBlock> {
        let scalar = crate::lower::scalar_of(sample);
        let stream::Shape { columns, warps, ring, .. } = stream::Shape::for_sample(scalar);
        // A lane's vector is 8 or 16 bytes of at least 2 samples.
        let legal = [columns, columns / 2].into_iter().filter(|&c| c >= 2 && c as usize * scalar.bytes() >= 8);
        legal.map(|columns| StreamBlock { columns, warps, ring, chunk: 0 }).collect()
    }

    /// The shape of the kernel for such rows.
    pub(crate) fn shape(self, rows: stream::RowAlignment) -> stream::Shape {
        let StreamBlock { columns, warps, ring, .. } = self;
        stream::Shape { columns, warps, ring, min_blocks: 0, rows }
    }
}

impl Block {
    /// The pairs of rows or planes that were said to be walked; 0 leaves them to the schedule.
    pub fn chunk(&self) -> u32 {
        match self {
            Block::Stream(block) => block.chunk,
            Block::Cascade(block) => block.chunk,
            Block::Volume(block) => block.chunk,
            Block::Separate | Block::Warp(_) | Block::Tile(_) | Block::Pyramid(_) | Block::Lattice => 0,
        }
    }

    /// Columns a lane, of blocks that go along both axes; else 0.
    pub(crate) fn columns(&self) -> u32 {
        match self {
            Block::Stream(block) => block.columns,
            Block::Warp(block) => block.columns,
            Block::Tile(block) => block.columns,
            Block::Cascade(block) => block.columns,
            Block::Volume(block) => block.columns,
            Block::Separate | Block::Pyramid(_) | Block::Lattice => 0,
        }
    }

    /// With other chunks, where they can be chosen.
    pub fn with_chunk(self, chunk: u32) -> Block {
        match self {
            Block::Stream(block) => Block::Stream(StreamBlock { chunk, ..block }),
            Block::Cascade(block) => Block::Cascade(CascadeBlock { chunk, ..block }),
            Block::Volume(block) => Block::Volume(VolumeBlock { chunk, ..block }),
            other => other,
        }
    }

    /// Whether a launch of such blocks takes several levels.
    pub fn is_of_several(&self) -> bool {
        self.schedule().is_of_several()
    }

    /// The schedule whose blocks these are.
    pub fn schedule(&self) -> Schedule {
        match self {
            Block::Separate => Schedule::Separate,
            Block::Stream(_) => Schedule::Stream,
            Block::Warp(_) => Schedule::Warp,
            Block::Tile(_) => Schedule::Tile,
            Block::Cascade(_) => Schedule::Cascade,
            Block::Pyramid(_) => Schedule::Pyramid,
            Block::Volume(_) => Schedule::Volume,
            Block::Lattice => Schedule::Lattice,
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Block::Separate => f.write_str("separate"),
            Block::Lattice => f.write_str("lattice"),
            Block::Warp(WarpBlock { columns, rows, warps, whole_sectors, packed }) => {
                let stores = if *whole_sectors { ", whole sectors" } else { "" };
                let pairs = if *packed { ", in pairs" } else { "" };
                write!(f, "warp, {columns} columns a lane{pairs}, {rows} rows, {warps} warps{stores}")
            }
            Block::Tile(TileBlock { columns, rows, pairs, warps }) => {
                write!(f, "tile, {columns} columns a lane, {rows} rows, {pairs} row pairs a thread, {warps} warps")
            }
            Block::Cascade(CascadeBlock { columns, ring, chunk }) => {
                write!(f, "cascade, {columns} columns a lane, ring of {ring}, chunks of {chunk} row pairs")
            }
            Block::Pyramid(PyramidBlock { side, pairs: [first, others] }) => {
                write!(f, "pyramid, images of up to {side} samples a side, {first} pairs a thread, then {others}")
            }
            Block::Volume(VolumeBlock { columns, pairs, warps, chunk }) => {
                write!(
                    f,
                    "volume, {columns} columns a lane, {pairs} row pairs a thread, {warps} warps, chunks of {chunk} plane pairs"
                )
            }
            Block::Stream(StreamBlock { columns, warps, ring, chunk }) => {
                write!(
                    f,
                    "stream, {columns} columns a lane, {warps} warps, ring of {ring}, chunks of {chunk} row pairs"
                )
            }
        }
    }
}
