//! Kernels of a plan, each made once.

use crate::error::ProgramError;
use crate::model::{Model, PassWay};
use crate::scalar::work_of;
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
    self, Along, AxisSchedule, Fit, Options, SCHEDULES, ScheduleError, Shape, Sides, adjoint, horizontal, lattice,
    registers, vertical,
};
use lifting_codegen::window::Window;
use lifting_dsl::extension::Extension;
use lifting_dsl::{Boundary, Direction, Scheme};
use std::cell::{Ref, RefCell};
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
    pub schedules: Vec<&'static dyn schedule::LaunchSchedule>,
    /// Machine model.
    pub machine: Machine,
    /// Device name in wisdom.
    pub device: String,
    /// Earlier measurements.
    pub wisdom: Arc<Wisdom>,
    /// Candidate under measurement.
    pub only: Option<Only>,
    /// Block of `horizontal`.
    pub horizontal: horizontal::HorizontalShape,
    /// Block of `vertical`; by default the one that the window proposes.
    pub vertical: Option<vertical::VerticalShape>,
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
            horizontal: horizontal::HorizontalShape::default(),
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
    pub fn measures_of(&self, schedule: &'static dyn schedule::LaunchSchedule) -> Option<Shape> {
        self.measures().and_then(|(_, way)| way.shape()).filter(|shape| shape.schedule() == schedule)
    }
}

/// Key of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Horizontal(Direction, Sides),
    Vertical(Direction, Sides),
    /// Blocks of whole vectors.
    Lattice(Direction, Sides, Along, lattice::LatticeShape),
    /// Rows in registers.
    Lines(Direction, Sides, registers::horizontal::RegisterRowShape),
    /// Columns in registers; columns per lane.
    Columns(Direction, Sides, u32),
    /// One axis, by a requested schedule; whether lines are whole vectors.
    Axis(&'static dyn AxisSchedule, Direction, Sides, Along, bool),
    /// Transposition of images.
    Transpose(Scalar),
    /// Two or three axes in a shape, for this row alignment; and whether the low band is kept in cache for the next
    /// level.
    Launch(Direction, Scalar, Order, Shape, RowAlignment, bool),
    /// Adjoint of a direction; on samples of the work type.
    Adjoint(Direction, Scalar),
    /// Extension of lines beyond their ends.
    Extend(Extension, extend::ExtensionWay, Scalar),
    Copy {
        from: Scalar,
        to: Scalar,
        change: Change,
    },
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

/// Kernels of one wavelet under one border rule.
#[derive(Clone, Copy)]
pub(crate) struct Family<'a> {
    pub scheme: &'a Scheme,
    pub boundary: Boundary,
    /// Whether pass kernels take a gain.
    pub gain: bool,
    /// Whether the ends of lines are doubled, and halved.
    pub doubled_ends: bool,
    pub tuning: &'a Tuning,
}

/// Kernels made so far. Its users have one tuning and the same conventions; their wavelets may differ.
#[derive(Debug, Default)]
pub(crate) struct Kernels(RefCell<Cache>);

#[derive(Debug, Default)]
struct Cache {
    wavelets: Vec<(Scheme, Boundary)>,
    /// Index of the kernel of each key of a wavelet.
    known: Vec<(usize, Key, usize)>,
    made: Vec<Made>,
}

impl Kernels {
    /// Index of a kernel, made on first use.
    pub fn get(&self, family: Family, key: Key) -> Result<usize, ProgramError> {
        let mut cache = self.0.borrow_mut();
        let wavelet = cache.wavelet(family);
        if let Some((_, _, index)) = cache.known.iter().find(|(own, k, _)| *own == wavelet && *k == key) {
            return Ok(*index);
        }
        let (kernel, fit) = family.make(key)?;
        let mut kernel = opt::dead(kernel);
        kernel.name = fingerprinted(&kernel);
        // Copies, for one, do not depend on the wavelet.
        if let Some(index) = cache.made.iter().position(|made| made.kernel.name == kernel.name) {
            cache.known.push((wavelet, key, index));
            return Ok(index);
        }
        let kernel = opt::reflect(kernel);
        let info = validate(&kernel).map_err(|errors| ProgramError::Kernel {
            kernel: kernel.name.clone(),
            reason: errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        })?;
        let index = cache.made.len();
        cache.known.push((wavelet, key, index));
        cache.made.push(Made { kernel, info, fit });
        Ok(index)
    }

    pub fn made(&self, index: usize) -> Ref<'_, Made> {
        Ref::map(self.0.borrow(), |cache| &cache.made[index])
    }

    pub fn finish(self) -> Vec<Made> {
        self.0.into_inner().made
    }
}

impl Cache {
    fn wavelet(&mut self, family: Family) -> usize {
        let is_own = |(scheme, rule): &(Scheme, Boundary)| *rule == family.boundary && scheme == family.scheme;
        self.wavelets.iter().position(is_own).unwrap_or_else(|| {
            self.wavelets.push((family.scheme.clone(), family.boundary));
            self.wavelets.len() - 1
        })
    }
}

impl<'a> Family<'a> {
    /// Cost model of these kernels, on samples of a type.
    pub fn model(self, sample: Scalar) -> Model<'a> {
        Model { machine: &self.tuning.machine, scheme: self.scheme, boundary: self.boundary, sample }
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
        schedule: &dyn schedule::LaunchSchedule,
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
    pub fn vectors(&self, sides: Sides, along: Along, length: usize) -> Result<lattice::LatticeShape, ScheduleError> {
        let options = self.options(Direction::Forward, sides);
        lattice::stages(self.scheme, options)?;
        lattice::LatticeShape::for_length(self.scheme, along, length, work_of(options.sample))
    }

    /// Execution of a pass along rows or columns, if the layout leaves a choice.
    pub fn pass_way(&self, direction: Direction, rows: bool, sides: Sides) -> PassWay {
        let columns = |columns| {
            let shape = registers::vertical::RegisterColumnShape::of(columns, self.tuning.machine.multiprocessors);
            registers::vertical::check(self.scheme, self.options(direction, sides), sides, shape).is_ok()
        };
        let registers = self.takes_registers()
            && if rows {
                let shape = registers::horizontal::RegisterRowShape::of(sides, true, 0);
                registers::horizontal::check(self.scheme, self.options(direction, sides), sides, shape).is_ok()
            } else {
                registers::vertical::RegisterColumnShape::candidates(direction, sides).any(columns)
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
            Key::Axis(schedule, direction, sides, along, whole) => {
                let options = self.options(direction, sides);
                let kernel = match whole {
                    true => schedule.whole_kernel(self.scheme, options, sides, along),
                    false => schedule.kernel(self.scheme, options, sides, along),
                };
                Ok((kernel?, None))
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
                let shape = registers::vertical::RegisterColumnShape::of(columns, self.tuning.machine.multiprocessors);
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
        let mut shape =
            self.tuning.vertical.unwrap_or_else(|| vertical::VerticalShape::for_window(&window, options.sample));
        loop {
            match vertical::kernel_between(self.scheme, options, sides, shape) {
                Err(ScheduleError::Reach { .. }) if shape.columns > 8 => {
                    shape.columns /= 2;
                    shape.threads_x = shape.threads_x.min(shape.columns);
                }
                other => return Ok(other?),
            }
        }
    }
}
