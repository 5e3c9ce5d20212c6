//! The kernels of a plan, each made once.

use crate::error::PlanError;
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Kernel, Scalar};
use lifting_codegen::schedule::copy::{self, Change};
use lifting_codegen::schedule::{Direction, Options, ScheduleError, Sides, horizontal, vertical};
use lifting_codegen::window::Window;
use lifting_dsl::{Boundary, Scheme};

/// Choices that change how fast a plan is, and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Block of `horizontal`.
    pub horizontal: horizontal::Shape,
    /// Block of `vertical`; what the window proposes if nothing is said.
    pub vertical: Option<vertical::Shape>,
}

/// What a kernel is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Horizontal(Direction, Sides),
    Vertical(Direction, Sides),
    Copy { from: Scalar, to: Scalar, change: Change },
}

/// Makes kernels when they are asked for first.
pub(super) struct Kernels<'a> {
    pub scheme: &'a Scheme,
    pub boundary: Boundary,
    /// Whether pass kernels take a gain.
    pub gain: bool,
    pub tuning: &'a Tuning,
    keys: Vec<Key>,
    made: Vec<(Kernel, KernelInfo)>,
}

impl<'a> Kernels<'a> {
    pub fn new(scheme: &'a Scheme, boundary: Boundary, gain: bool, tuning: &'a Tuning) -> Kernels<'a> {
        Kernels { scheme, boundary, gain, tuning, keys: Vec::new(), made: Vec::new() }
    }

    /// The index of a kernel.
    pub fn get(&mut self, key: Key) -> Result<usize, PlanError> {
        if let Some(index) = self.keys.iter().position(|k| *k == key) {
            return Ok(index);
        }
        let kernel = self.make(key)?;
        let info = validate(&kernel).map_err(|errors| PlanError::Kernel {
            kernel: kernel.name.clone(),
            reason: errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        })?;
        self.keys.push(key);
        self.made.push((kernel, info));
        Ok(self.made.len() - 1)
    }

    pub fn kernel(&self, index: usize) -> &Kernel {
        &self.made[index].0
    }

    pub fn finish(self) -> Vec<(Kernel, KernelInfo)> {
        self.made
    }

    fn options(&self, direction: Direction, sides: Sides) -> Options {
        // A wide type stands for its storage type's arithmetic as well.
        let sample = if sides.signal.bytes() < sides.bands.bytes() { sides.signal } else { sides.bands };
        Options { sample, boundary: self.boundary, direction, gain: self.gain }
    }

    fn make(&self, key: Key) -> Result<Kernel, PlanError> {
        match key {
            Key::Horizontal(direction, sides) => {
                let options = self.options(direction, sides);
                Ok(horizontal::kernel_between(self.scheme, options, sides, self.tuning.horizontal)?)
            }
            Key::Vertical(direction, sides) => self.vertical(self.options(direction, sides), sides),
            Key::Copy { from, to, change } => copy::kernel(from, to, change).ok_or_else(|| PlanError::Kernel {
                kernel: "copy".into(),
                reason: format!("{} samples cannot be shifted", to.name()),
            }),
        }
    }

    /// Windows of long wavelets are narrowed until they fit.
    fn vertical(&self, options: Options, sides: Sides) -> Result<Kernel, PlanError> {
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
