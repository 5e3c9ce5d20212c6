//! The kernels of a plan, each made once.

use crate::error::ProgramError;
use crate::lower::{scalar_of, work_of};
use crate::model::Machine;
use crate::schedule::{Block, Schedule, StreamBlock};
use crate::wisdom::Wisdom;
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Kernel, Scalar, print};
use lifting_codegen::opt;
use lifting_codegen::schedule::copy::{self, Change};
use lifting_codegen::schedule::stream::{self, Job, Order, RowAlignment};
use lifting_codegen::schedule::{
    Along, Direction, Options, ScheduleError, Sides, adjoint, cascade, horizontal, lattice, pyramid, registers, tile,
    vertical, volume, warp,
};
use lifting_codegen::window::Window;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Scheme};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// What a plan that is being measured takes, and no other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Only {
    /// A block, in one direction.
    Block(Direction, Block),
    /// Levels one by one, each as it would be by itself.
    Apart,
}

/// Choices that change how fast a plan is, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// What the plan was told to take.
    pub schedule: Schedule,
    /// What it runs on.
    pub machine: Machine,
    /// The device, as wisdom calls it.
    pub device: String,
    /// What was measured before.
    pub wisdom: Arc<Wisdom>,
    /// What is being measured.
    pub only: Option<Only>,
    /// Block of `horizontal`.
    pub horizontal: horizontal::Shape,
    /// Block of `vertical`; what the window proposes if nothing is said.
    pub vertical: Option<vertical::Shape>,
}

impl Tuning {
    /// What is chosen on a machine about which nothing is known but what the model says.
    pub fn new(schedule: Schedule, machine: Machine, device: String) -> Tuning {
        Tuning {
            schedule,
            machine,
            device,
            wisdom: Arc::default(),
            only: None,
            horizontal: horizontal::Shape::default(),
            vertical: None,
        }
    }

    /// The block that is being measured, if one is.
    pub fn measures(&self) -> Option<(Direction, Block)> {
        match self.only {
            Some(Only::Block(direction, block)) => Some((direction, block)),
            Some(Only::Apart) | None => None,
        }
    }

    /// The same, if it is of this schedule.
    pub fn measures_of(&self, schedule: Schedule) -> Option<Block> {
        self.measures().map(|(_, block)| block).filter(|block| block.schedule() == schedule)
    }
}

/// What a kernel is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Horizontal(Direction, Sides),
    Vertical(Direction, Sides),
    /// Of whole vectors.
    Lattice(Direction, Sides, Along, lattice::Shape),
    /// Rows in registers.
    Lines(Direction, Sides, registers::horizontal::Shape),
    /// Columns in registers, so many a lane.
    Columns(Direction, Sides, u32),
    /// Both axes, or all three, by a block that is not of one axis; by the kernel for such rows, where there are
    /// several; and whether what it leaves is kept for the next level.
    Both(Direction, Scalar, Order, Block, RowAlignment, bool),
    /// Of the adjoint of a direction; on samples of the type of the arithmetic.
    Adjoint(Direction, Scalar),
    Copy {
        from: Scalar,
        to: Scalar,
        change: Change,
    },
}

/// How a kernel of both axes, or of all three, meets a level.
#[derive(Clone, Debug)]
pub enum Walk {
    /// By `stream`.
    Stream(stream::Fit),
    /// By `warp`.
    Warp(warp::Fit),
    /// By `tile`.
    Tile(tile::Fit),
    /// By `cascade`.
    Cascade(cascade::Fit),
    /// By `pyramid`.
    Pyramid(pyramid::Fit),
    /// By `volume`.
    Volume(volume::Fit),
}

impl Walk {
    /// The arguments of a job that depend on it, on a device with so many multiprocessors.
    ///
    /// # Errors
    /// If the kernel cannot run it.
    pub fn tuning(&self, job: &Job, multiprocessors: u32) -> Result<stream::Tuning, ScheduleError> {
        match self {
            Walk::Stream(walk) => walk.tuning(job, multiprocessors),
            Walk::Warp(block) => block.tuning(job),
            Walk::Tile(block) => block.tuning(job),
            Walk::Cascade(walk) => walk.tuning(job, multiprocessors),
            Walk::Pyramid(block) => block.tuning(job),
            Walk::Volume(block) => block.tuning(job, multiprocessors),
        }
    }

    /// Which rows the kernel takes.
    pub fn rows(&self) -> RowAlignment {
        match self {
            Walk::Stream(walk) => walk.rows(),
            Walk::Warp(block) => block.takes(),
            Walk::Cascade(_) => RowAlignment::Whole,
            Walk::Tile(block) if block.is_for_aligned() => RowAlignment::Aligned,
            Walk::Volume(block) => block.takes(),
            Walk::Tile(_) | Walk::Pyramid(_) => RowAlignment::Any,
        }
    }

    /// Pairs of rows, or of planes, that are walked at least: a grid has only so many blocks along that axis.
    pub fn least_chunk(&self, job: &Job) -> i32 {
        match self {
            Walk::Stream(_) => stream::Fit::least_chunk(job),
            Walk::Cascade(_) => cascade::Fit::least_chunk(job),
            Walk::Volume(_) => volume::Fit::least_chunk(job),
            Walk::Warp(_) | Walk::Tile(_) | Walk::Pyramid(_) => 1,
        }
    }
}

/// How a pass along one axis goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassWay {
    /// Along rows, else along columns.
    pub rows: bool,
    /// In registers, else through shared memory.
    pub registers: bool,
}

/// A kernel of a program.
#[derive(Clone, Debug)]
pub struct Made {
    /// The kernel.
    pub kernel: Kernel,
    /// What validation found of it.
    pub info: KernelInfo,
    /// How it walks, where its arguments depend on addresses.
    pub walk: Option<Walk>,
}

/// A kernel's name, and eight digits that tell it from all others of that name: kernels that were compiled elsewhere
/// are found by it, and must be these.
fn fingerprinted(kernel: &Kernel) -> String {
    let digest = Sha256::digest(print::kernel(kernel));
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{digits}", kernel.name)
}

/// Makes kernels when they are asked for first.
pub(crate) struct Kernels<'a> {
    pub scheme: &'a Scheme,
    pub boundary: Boundary,
    /// Whether pass kernels take a gain.
    pub gain: bool,
    pub tuning: &'a Tuning,
    keys: Vec<Key>,
    made: Vec<Made>,
}

impl<'a> Kernels<'a> {
    pub fn new(scheme: &'a Scheme, boundary: Boundary, gain: bool, tuning: &'a Tuning) -> Kernels<'a> {
        Kernels { scheme, boundary, gain, tuning, keys: Vec::new(), made: Vec::new() }
    }

    /// The index of a kernel.
    pub fn get(&mut self, key: Key) -> Result<usize, ProgramError> {
        if let Some(index) = self.keys.iter().position(|k| *k == key) {
            return Ok(index);
        }
        let (kernel, walk) = self.make(key)?;
        let mut kernel = opt::dead(kernel);
        kernel.name = fingerprinted(&kernel);
        let kernel = opt::reflect(kernel);
        let info = validate(&kernel).map_err(|errors| ProgramError::Kernel {
            kernel: kernel.name.clone(),
            reason: errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        })?;
        self.keys.push(key);
        self.made.push(Made { kernel, info, walk });
        Ok(self.made.len() - 1)
    }

    pub fn made(&self, index: usize) -> &Made {
        &self.made[index]
    }

    pub fn finish(self) -> Vec<Made> {
        self.made
    }

    /// How the kernel of both axes for this job would meet it: the fastest that can.
    pub fn walk_of(
        &self,
        direction: Direction,
        sample: Scalar,
        block: Block,
        job: &Job,
    ) -> Result<(Walk, stream::Tuning), ScheduleError> {
        let try_ = |rows| {
            let walk = self.walk(direction, sample, block, rows)?;
            let tuning = walk.tuning(job, self.tuning.machine.multiprocessors)?;
            Ok((walk, tuning))
        };
        let rows: &[RowAlignment] = match block {
            Block::Warp(_) => &RowAlignment::ALL,
            Block::Cascade(_) => &[RowAlignment::Whole],
            Block::Pyramid(_) => &[RowAlignment::Any],
            Block::Stream(_) => &[RowAlignment::Whole, RowAlignment::Aligned, RowAlignment::Any],
            Block::Volume(_) => &[RowAlignment::Whole, RowAlignment::Aligned, RowAlignment::Any],
            Block::Tile(_) => &[RowAlignment::Aligned, RowAlignment::Any],
            Block::Separate | Block::Lattice => unreachable!("passes along one axis have no walk"),
        };
        // What stands against the most general kernel stands against all.
        let (last, faster) = rows.split_last().expect("a schedule takes some rows");
        match faster.iter().find_map(|&rows| try_(rows).ok()) {
            Some(found) if matches!(&found.0, Walk::Warp(block) if block.breaks_sectors()) => try_(*last).or(Ok(found)),
            Some(found) => Ok(found),
            None => try_(*last),
        }
    }

    /// How a kernel of both axes would meet a level.
    fn walk(
        &self,
        direction: Direction,
        sample: Scalar,
        block: Block,
        rows: RowAlignment,
    ) -> Result<Walk, ScheduleError> {
        let options = self.options(direction, Sides::both(sample));
        Ok(match block {
            Block::Stream(block) => Walk::Stream(stream::fit(self.scheme, options, block.shape(rows))?),
            Block::Warp(block) => Walk::Warp(warp::fit(self.scheme, options, block.shape(rows))?),
            Block::Tile(block) => Walk::Tile(tile::fit(self.scheme, options, block.shape(rows != RowAlignment::Any))?),
            Block::Cascade(block) => Walk::Cascade(cascade::fit(self.scheme, options, block.shape())?),
            Block::Pyramid(block) => Walk::Pyramid(pyramid::fit(self.scheme, options, block.shape())?),
            Block::Volume(block) => Walk::Volume(volume::fit(self.scheme, options, block.shape(rows))?),
            Block::Separate | Block::Lattice => unreachable!("passes along one axis have no walk"),
        })
    }

    /// Blocks of a schedule worth considering for a job, its own proposal first.
    pub fn proposed(
        &self,
        schedule: Schedule,
        direction: Direction,
        kind: SampleType,
        job: &Job,
    ) -> Result<Vec<Block>, ScheduleError> {
        Ok(match schedule {
            Schedule::Stream => {
                let suited = |block: StreamBlock| {
                    let walk = self.walk_of(direction, scalar_of(kind), Block::Stream(block), job);
                    Block::Stream(match walk {
                        Ok((Walk::Stream(walk), _)) => StreamBlock { warps: walk.warps(job), ..block },
                        _ => block,
                    })
                };
                StreamBlock::proposed(kind).into_iter().map(suited).collect()
            }
            Schedule::Warp => {
                let options = self.options(direction, Sides::both(scalar_of(kind)));
                let shapes = warp::Shape::proposed(self.scheme, options)?;
                let (pairs, singles): (Vec<_>, Vec<_>) = shapes.into_iter().partition(|shape| shape.packed);
                let rows_of = |shape: &warp::Shape| {
                    let walk = self.walk_of(direction, scalar_of(kind), Block::Warp((*shape).into()), job);
                    walk.ok().map(|(walk, _)| walk.rows())
                };
                // Where samples can stand in pairs they do.
                let mut taken = if pairs.iter().any(|shape| rows_of(shape).is_some()) { pairs } else { singles };
                let samples = [job.width, job.height, job.batch].map(i64::from).iter().product();
                let taller =
                    |shape: &warp::Shape| shape.for_rows_anywhere(self.scheme, options, rows_of(shape)?, samples);
                taken.extend(taken.iter().filter_map(taller).collect::<Vec<_>>());
                taken.into_iter().map(|shape| Block::Warp(shape.into())).collect()
            }
            Schedule::Tile => {
                let options = self.options(direction, Sides::both(scalar_of(kind)));
                let shapes = tile::Shape::proposed(self.scheme, options)?;
                shapes.into_iter().map(|shape| Block::Tile(shape.into())).collect()
            }
            Schedule::Cascade => {
                let shapes = cascade::Shape::proposed(scalar_of(kind), direction);
                shapes.into_iter().map(|shape| Block::Cascade(shape.into())).collect()
            }
            Schedule::Pyramid => {
                let options = self.options(direction, Sides::both(scalar_of(kind)));
                let shapes = pyramid::Shape::proposed(self.scheme, options)?;
                shapes.into_iter().map(|shape| Block::Pyramid(shape.into())).collect()
            }
            Schedule::Volume => {
                let options = self.options(direction, Sides::both(scalar_of(kind)));
                let shapes = volume::Shape::proposed(self.scheme, options)?;
                shapes.into_iter().map(|shape| Block::Volume(shape.into())).collect()
            }
            Schedule::Auto | Schedule::Separate | Schedule::Shared | Schedule::Lattice => Vec::new(),
        })
    }

    /// The block of whole vectors of so many samples.
    ///
    /// # Errors
    /// If the wavelet does not run as a lattice, or a vector does not fit.
    pub fn vectors(&self, sides: Sides, along: Along, length: usize) -> Result<lattice::Shape, ScheduleError> {
        let options = self.options(Direction::Forward, sides);
        lattice::stages(self.scheme, options)?;
        lattice::Shape::for_length(self.scheme, along, length, work_of(options.sample))
    }

    /// How a pass along rows, or columns, goes where the layout leaves the choice.
    pub fn pass_way(&self, direction: Direction, rows: bool, sides: Sides) -> PassWay {
        let columns = |columns| {
            let shape = registers::vertical::Shape::of(columns, self.tuning.machine.multiprocessors);
            registers::vertical::check(self.scheme, self.options(direction, sides), sides, shape).is_ok()
        };
        let registers = self.takes_registers()
            && if rows {
                let shape = registers::horizontal::Shape::of(sides, true, 0);
                registers::horizontal::check(self.scheme, self.options(direction, sides), sides, shape).is_ok()
            } else {
                registers::vertical::Shape::candidates(direction, sides).any(columns)
            };
        PassWay { rows, registers }
    }

    /// Whether passes along one axis may be those in registers.
    pub fn takes_registers(&self) -> bool {
        self.tuning.schedule != Schedule::Shared
    }

    /// Whether passes in registers take only lines of whole pairs.
    pub fn needs_pairs(&self, direction: Direction, sides: Sides) -> bool {
        registers::needs_pairs(self.scheme, self.options(direction, sides))
    }

    fn options(&self, direction: Direction, sides: Sides) -> Options {
        // A wide type stands for its storage type's arithmetic as well.
        let sample = if sides.signal.bytes() < sides.bands.bytes() { sides.signal } else { sides.bands };
        Options { sample, boundary: self.boundary, direction, gain: self.gain }
    }

    fn make(&self, key: Key) -> Result<(Kernel, Option<Walk>), ProgramError> {
        match key {
            Key::Horizontal(direction, sides) => {
                let options = self.options(direction, sides);
                Ok((horizontal::kernel_between(self.scheme, options, sides, self.tuning.horizontal)?, None))
            }
            Key::Vertical(direction, sides) => Ok((self.vertical(self.options(direction, sides), sides)?, None)),
            Key::Lattice(direction, sides, along, shape) => {
                Ok((lattice::kernel(self.scheme, self.options(direction, sides), sides, along, shape)?, None))
            }
            Key::Lines(direction, sides, shape) => {
                let options = self.options(direction, sides);
                Ok((registers::horizontal::kernel(self.scheme, options, sides, shape)?, None))
            }
            Key::Columns(direction, sides, columns) => {
                let shape = registers::vertical::Shape::of(columns, self.tuning.machine.multiprocessors);
                let options = self.options(direction, sides);
                Ok((registers::vertical::kernel(self.scheme, options, sides, shape)?, None))
            }
            Key::Both(direction, sample, order, block, rows, kept) => {
                let options = self.options(direction, Sides::both(sample));
                let walk = self.walk(direction, sample, block, rows)?;
                let kernel = match block {
                    Block::Stream(block) => stream::kernel(self.scheme, options, order, block.shape(rows))?,
                    Block::Warp(block) => warp::kernel(self.scheme, options, order, block.shape(rows))?,
                    Block::Tile(block) => {
                        tile::kernel(self.scheme, options, order, block.shape(rows != RowAlignment::Any))?
                    }
                    Block::Cascade(block) => cascade::kernel(self.scheme, options, order, block.shape())?,
                    Block::Pyramid(block) => pyramid::kernel(self.scheme, options, order, block.shape())?,
                    Block::Volume(block) => volume::kernel(self.scheme, options, block.shape(rows))?,
                    Block::Separate | Block::Lattice => unreachable!("passes along one axis have keys of their own"),
                };
                Ok((if kept { opt::kept(kernel) } else { kernel }, Some(walk)))
            }
            Key::Adjoint(direction, work) => {
                Ok((adjoint::kernel(self.scheme, self.options(direction, Sides::both(work)))?, None))
            }
            Key::Copy { from, to, change } => match copy::kernel(from, to, change) {
                Some(kernel) => Ok((kernel, None)),
                None => Err(ProgramError::Kernel {
                    kernel: "copy".into(),
                    reason: format!("{} samples cannot be shifted", to.name()),
                }),
            },
        }
    }

    /// Windows of long wavelets are narrowed until they fit.
    fn vertical(&self, options: Options, sides: Sides) -> Result<Kernel, ProgramError> {
        let window = Window::derive(&options.direction.steps(self.scheme), options.boundary);
        let mut shape = self.tuning.vertical.unwrap_or_else(|| vertical::Shape::for_window(&window, options.sample));
        loop {
            match vertical::kernel_between(self.scheme, options, sides, shape) {
                Err(ScheduleError::Reach { .. }) if shape.columns > 8 => shape.columns /= 2,
                other => return Ok(other?),
            }
        }
    }
}
