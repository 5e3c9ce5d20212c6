//! The kernels of a plan, each made once.

use crate::error::ProgramError;
use crate::lower::work_of;
use crate::schedule::{Schedule, Way};
use crate::wisdom::Wisdom;
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Kernel, Scalar, WARP, print};
use lifting_codegen::machine::Machine;
use lifting_codegen::opt;
use lifting_codegen::schedule::baseline::transpose;
use lifting_codegen::schedule::copy::{self, Change};
use lifting_codegen::schedule::extend;
use lifting_codegen::schedule::level::{Arguments, Job, Order, RowAlignment};
use lifting_codegen::schedule::{
    self, Along, AxisSchedule, Direction, Fit, Options, SCHEDULES, ScheduleError, Shape, Sides, adjoint, horizontal,
    lattice, registers, vertical,
};
use lifting_codegen::window::Window;
use lifting_dsl::extension::Extension;
use lifting_dsl::{Boundary, Scheme};
use std::sync::Arc;

/// What a plan that is being measured takes, and no other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Only {
    /// A way through a level, in one direction.
    Way(Direction, Way),
    /// Levels one by one, each as it would be by itself.
    Apart,
}

/// Choices that change how fast a plan is, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// What the plan was told to take.
    pub schedule: Schedule,
    /// What launches of several axes may be by: [`SCHEDULES`], and what the plan was told to take besides.
    pub schedules: Vec<&'static dyn schedule::Schedule>,
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
        let own = match schedule {
            Schedule::Launch(own) if !SCHEDULES.contains(&own) => Some(own),
            _ => None,
        };
        Tuning {
            schedule,
            schedules: SCHEDULES.iter().copied().chain(own).collect(),
            machine,
            device,
            wisdom: Arc::default(),
            only: None,
            horizontal: horizontal::Shape::default(),
            vertical: None,
        }
    }

    /// The way that is being measured, if one is.
    pub fn measures(&self) -> Option<(Direction, Way)> {
        match self.only {
            Some(Only::Way(direction, way)) => Some((direction, way)),
            Some(Only::Apart) | None => None,
        }
    }

    /// The shape that is being measured, if it is of this schedule.
    pub fn measures_of(&self, schedule: &'static dyn schedule::Schedule) -> Option<Shape> {
        self.measures().and_then(|(_, way)| way.shape()).filter(|shape| shape.schedule() == schedule)
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
    /// One axis, by a schedule that was asked for.
    Axis(&'static dyn AxisSchedule, Direction, Sides, Along),
    /// Images transposed.
    Transpose(Scalar),
    /// Both axes, or all three, in a shape; by the kernel for such rows; and whether what it leaves is kept for the
    /// next level.
    Launch(Direction, Scalar, Order, Shape, RowAlignment, bool),
    /// Of the adjoint of a direction; on samples of the type of the arithmetic.
    Adjoint(Direction, Scalar),
    /// Of lines that go on beyond their ends.
    Extend(Extension, extend::Way, Scalar),
    Copy {
        from: Scalar,
        to: Scalar,
        change: Change,
    },
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
    /// What gives its launches' arguments, where these depend on addresses.
    pub fit: Option<Arc<dyn Fit>>,
}

/// A kernel's name, and eight digits that tell it from all others of that name: kernels that were compiled elsewhere
/// are found by it, and must be these.
fn fingerprinted(kernel: &Kernel) -> String {
    let digest = hmac_sha256::Hash::hash(print::kernel(kernel).as_bytes());
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{digits}", kernel.name)
}

/// Makes kernels when they are asked for first.
pub(crate) struct Kernels<'a> {
    pub scheme: &'a Scheme,
    pub boundary: Boundary,
    /// Whether pass kernels take a gain.
    pub gain: bool,
    /// Whether ends of lines are doubled, and halved.
    pub doubled_ends: bool,
    pub tuning: &'a Tuning,
    keys: Vec<Key>,
    made: Vec<Made>,
}

impl<'a> Kernels<'a> {
    pub fn new(scheme: &'a Scheme, boundary: Boundary, gain: bool, tuning: &'a Tuning) -> Kernels<'a> {
        Kernels { scheme, boundary, gain, doubled_ends: false, tuning, keys: Vec::new(), made: Vec::new() }
    }

    /// The index of a kernel.
    pub fn get(&mut self, key: Key) -> Result<usize, ProgramError> {
        if let Some(index) = self.keys.iter().position(|k| *k == key) {
            return Ok(index);
        }
        let (kernel, fit) = self.make(key)?;
        let mut kernel = opt::dead(kernel);
        kernel.name = fingerprinted(&kernel);
        let kernel = opt::reflect(kernel);
        let info = validate(&kernel).map_err(|errors| ProgramError::Kernel {
            kernel: kernel.name.clone(),
            reason: errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        })?;
        self.keys.push(key);
        self.made.push(Made { kernel, info, fit });
        Ok(self.made.len() - 1)
    }

    pub fn made(&self, index: usize) -> &Made {
        &self.made[index]
    }

    pub fn finish(self) -> Vec<Made> {
        self.made
    }

    /// The fit of the fastest kernel of a shape that can run this job, and its launch's arguments.
    pub fn meet(
        &self,
        direction: Direction,
        sample: Scalar,
        shape: Shape,
        job: &Job,
    ) -> Result<(Arc<dyn Fit>, Arguments), ScheduleError> {
        let options = self.options(direction, Sides::both(sample));
        shape.meet(self.scheme, options, job, &self.tuning.machine)
    }

    /// Shapes of a schedule worth considering for a job, its own proposal first.
    pub fn proposed(
        &self,
        schedule: &dyn schedule::Schedule,
        direction: Direction,
        sample: Scalar,
        job: &Job,
    ) -> Result<Vec<Shape>, ScheduleError> {
        let options = self.options(direction, Sides::both(sample));
        schedule.proposed(self.scheme, options, job, &self.tuning.machine)
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

    /// Whether passes along one axis may be those in registers, which are for warps of the usual size.
    pub fn takes_registers(&self) -> bool {
        self.tuning.schedule != Schedule::Shared && self.tuning.machine.warp == WARP
    }

    /// Whether passes in registers take only lines of whole pairs.
    pub fn needs_pairs(&self, direction: Direction, sides: Sides) -> bool {
        registers::needs_pairs(self.scheme, self.options(direction, sides))
    }

    fn options(&self, direction: Direction, sides: Sides) -> Options {
        // A wide type stands for its storage type's arithmetic as well.
        let sample = if sides.signal.bytes() < sides.bands.bytes() { sides.signal } else { sides.bands };
        Options { sample, boundary: self.boundary, direction, gain: self.gain, doubled_ends: self.doubled_ends }
    }

    fn make(&self, key: Key) -> Result<(Kernel, Option<Arc<dyn Fit>>), ProgramError> {
        match key {
            Key::Horizontal(direction, sides) => {
                let options = self.options(direction, sides);
                Ok((horizontal::kernel_between(self.scheme, options, sides, self.tuning.horizontal)?, None))
            }
            Key::Vertical(direction, sides) => Ok((self.vertical(self.options(direction, sides), sides)?, None)),
            Key::Axis(schedule, direction, sides, along) => {
                Ok((schedule.kernel(self.scheme, self.options(direction, sides), sides, along)?, None))
            }
            Key::Transpose(sample) => Ok((transpose::kernel(sample), None)),
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
            Key::Launch(direction, sample, order, shape, rows, kept) => {
                let options = self.options(direction, Sides::both(sample));
                let fit = shape.schedule().fit(self.scheme, options, shape, rows)?;
                let kernel = fit.kernel(self.scheme, order)?;
                Ok((if kept { opt::kept(kernel) } else { kernel }, Some(fit)))
            }
            Key::Adjoint(direction, work) => {
                Ok((adjoint::kernel(self.scheme, self.options(direction, Sides::both(work)))?, None))
            }
            Key::Extend(rule, way, sample) => Ok((extend::kernel(rule, way, sample), None)),
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
