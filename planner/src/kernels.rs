//! Kernels of a plan, each made once.

use crate::error::ProgramError;
use crate::lower::work_of;
use crate::schedule::{Schedule, Way};
use crate::wisdom::Wisdom;
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Kernel, Scalar, WARP, print};
use lifting_codegen::machine::Machine;
use lifting_codegen::opt;
use lifting_codegen::schedule::copy::{self, Change};
use lifting_codegen::schedule::extend;
use lifting_codegen::schedule::level::{Arguments, Job, Order, RowAlignment};
use lifting_codegen::schedule::transpose;
use lifting_codegen::schedule::{
    self, Along, AxisSchedule, Direction, Fit, Options, SCHEDULES, ScheduleError, Shape, Sides, adjoint, horizontal,
    lattice, registers, vertical,
};
use lifting_codegen::window::Window;
use lifting_dsl::extension::Extension;
use lifting_dsl::{Boundary, Scheme};
use std::sync::Arc;

/// Restriction of a plan under measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Only {
    /// A single candidate for a level, in one direction.
    Way(Direction, Way),
    /// Levels one by one, each as it would be by itself.
    Apart,
}

/// Choices that affect only the speed of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Requested schedule.
    pub schedule: Schedule,
    /// Schedules allowed for launches of several axes: [`SCHEDULES`], and a requested one.
    pub schedules: Vec<&'static dyn schedule::Schedule>,
    /// Machine model.
    pub machine: Machine,
    /// Device name in wisdom.
    pub device: String,
    /// Earlier measurements.
    pub wisdom: Arc<Wisdom>,
    /// Candidate under measurement.
    pub only: Option<Only>,
    /// Block of `horizontal`.
    pub horizontal: horizontal::Shape,
    /// Block of `vertical`; by default the one that the window proposes.
    pub vertical: Option<vertical::Shape>,
}

impl Tuning {
    /// Default tuning for a machine: all choices by prediction.
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

    /// The candidate under measurement, if any.
    pub fn measures(&self) -> Option<(Direction, Way)> {
        match self.only {
            Some(Only::Way(direction, way)) => Some((direction, way)),
            Some(Only::Apart) | None => None,
        }
    }

    /// The shape under measurement, if it is of this schedule.
    pub fn measures_of(&self, schedule: &'static dyn schedule::Schedule) -> Option<Shape> {
        self.measures().and_then(|(_, way)| way.shape()).filter(|shape| shape.schedule() == schedule)
    }
}

/// Key of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Horizontal(Direction, Sides),
    Vertical(Direction, Sides),
    /// Blocks of whole vectors.
    Lattice(Direction, Sides, Along, lattice::Shape),
    /// Rows in registers.
    Lines(Direction, Sides, registers::horizontal::Shape),
    /// Columns in registers; columns per lane.
    Columns(Direction, Sides, u32),
    /// One axis, by a requested schedule.
    Axis(&'static dyn AxisSchedule, Direction, Sides, Along),
    /// Transposition of images.
    Transpose(Scalar),
    /// Two or three axes in a shape, for this row alignment; and whether the low band is kept in cache for the next
    /// level.
    Launch(Direction, Scalar, Order, Shape, RowAlignment, bool),
    /// Adjoint of a direction; on samples of the work type.
    Adjoint(Direction, Scalar),
    /// Extension of lines beyond their ends.
    Extend(Extension, extend::Way, Scalar),
    Copy {
        from: Scalar,
        to: Scalar,
        change: Change,
    },
}

/// Execution of a pass along one axis.
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
    /// Result of validation.
    pub info: KernelInfo,
    /// Source of arguments that depend on addresses.
    pub fit: Option<Arc<dyn Fit>>,
}

/// A kernel's name with eight digits of a digest. Precompiled kernels are found by this name, so they must be
/// identical.
fn fingerprinted(kernel: &Kernel) -> String {
    let digest = hmac_sha256::Hash::hash(print::kernel(kernel).as_bytes());
    let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{digits}", kernel.name)
}

/// Whether two wavelets have equal kernels.
fn is_same((scheme, boundary): (&Scheme, Boundary), (other, rule): (&Scheme, Boundary)) -> bool {
    boundary == rule && (std::ptr::eq(scheme, other) || scheme == other)
}

/// Makes kernels on first use.
pub(crate) struct Kernels<'a> {
    /// Wavelet of the kernels to get next; a problem may have several.
    pub scheme: &'a Scheme,
    pub boundary: Boundary,
    /// Whether pass kernels take a gain.
    pub gain: bool,
    /// Whether the ends of lines are doubled, and halved.
    pub doubled_ends: bool,
    pub tuning: &'a Tuning,
    /// Index of the kernel of each key, under each wavelet and border rule.
    known: Vec<((&'a Scheme, Boundary), Key, usize)>,
    made: Vec<Made>,
}

impl<'a> Kernels<'a> {
    pub fn new(scheme: &'a Scheme, boundary: Boundary, gain: bool, tuning: &'a Tuning) -> Kernels<'a> {
        Kernels { scheme, boundary, gain, doubled_ends: false, tuning, known: Vec::new(), made: Vec::new() }
    }

    /// Index of a kernel, made on first use.
    pub fn get(&mut self, key: Key) -> Result<usize, ProgramError> {
        let wavelet = (self.scheme, self.boundary);
        if let Some((_, _, index)) = self.known.iter().find(|(own, k, _)| *k == key && is_same(*own, wavelet)) {
            return Ok(*index);
        }
        let (kernel, fit) = self.make(key)?;
        let mut kernel = opt::dead(kernel);
        kernel.name = fingerprinted(&kernel);
        // Copies, for one, do not depend on the wavelet.
        if let Some(index) = self.made.iter().position(|made| made.kernel.name == kernel.name) {
            self.known.push((wavelet, key, index));
            return Ok(index);
        }
        let kernel = opt::reflect(kernel);
        let info = validate(&kernel).map_err(|errors| ProgramError::Kernel {
            kernel: kernel.name.clone(),
            reason: errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        })?;
        self.known.push((wavelet, key, self.made.len()));
        self.made.push(Made { kernel, info, fit });
        Ok(self.made.len() - 1)
    }

    pub fn made(&self, index: usize) -> &Made {
        &self.made[index]
    }

    pub fn finish(self) -> Vec<Made> {
        self.made
    }

    /// Fit of the fastest kernel of a shape that supports this job, with the arguments of its launch.
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

    /// Block of whole vectors of `length` samples.
    ///
    /// # Errors
    /// If the wavelet does not run as a lattice, or a vector does not fit.
    pub fn vectors(&self, sides: Sides, along: Along, length: usize) -> Result<lattice::Shape, ScheduleError> {
        let options = self.options(Direction::Forward, sides);
        lattice::stages(self.scheme, options)?;
        lattice::Shape::for_length(self.scheme, along, length, work_of(options.sample))
    }

    /// Execution of a pass along rows or columns, if the layout leaves a choice.
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

    /// Whether passes along one axis may run in registers: they need warps of the usual size.
    pub fn takes_registers(&self) -> bool {
        self.tuning.schedule != Schedule::Shared && self.tuning.machine.warp == WARP
    }

    /// Whether passes in registers take only lines of whole pairs.
    pub fn needs_pairs(&self, direction: Direction, sides: Sides) -> bool {
        registers::needs_pairs(self.scheme, self.options(direction, sides))
    }

    fn options(&self, direction: Direction, sides: Sides) -> Options {
        // The wide type does the arithmetic of its storage type as well.
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
