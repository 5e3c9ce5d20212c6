//! The seam between plans and what executes them.
//!
//! A plan checks everything once, describes the transform as a [`Problem`](lifting_planner::Problem), and hands it to
//! the executor that its device chose ([`Device::executor`](crate::device::Device)). Executors get raw views that have
//! been checked against the problem. [`cuda`], [`opencl`] and [`interp`] execute programs of `lifting-planner`, on
//! devices and on the interpreter of kernels.

pub mod cuda;
pub(crate) mod interp;
pub mod kernels;
pub mod opencl;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod packed;

use crate::data::{RawView, RawViewMut};
use crate::error::PlanError;
use crate::sample::Sample;
use lifting_codegen::schedule::Direction;
use lifting_planner::{Choice, Pass};
use std::any::Any;

/// Sizes of the parts of a [`Workspace`], in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceSize {
    /// Work-type elements for bundles of lines, all workers together.
    pub lines: usize,
    /// Work-type elements for one level of a sample type that is storage only.
    pub level: usize,
    /// Samples for coefficients of a padded inverse.
    pub padded: usize,
    /// Samples of low bands on their way from level to level.
    pub low: usize,
}

/// Scratch memory for one execution at a time: make one per thread or stream with `Plan::workspace`, and reuse it.
#[derive(Clone, Debug)]
pub struct Workspace<T: Sample> {
    pub(crate) size: WorkspaceSize,
    pub(crate) lines: Vec<T::Lane>,
    pub(crate) level: Vec<T::Lane>,
    pub(crate) padded: Vec<T>,
    pub(crate) low: Vec<T>,
}

impl<T: Sample> Workspace<T> {
    pub(crate) fn new(size: WorkspaceSize) -> Workspace<T> {
        Workspace {
            size,
            lines: vec![T::Lane::default(); size.lines],
            level: vec![T::Lane::default(); size.level],
            padded: vec![T::default(); size.padded],
            low: vec![T::default(); size.low],
        }
    }

    /// Its size in bytes: more than a plan says, once an adjoint has needed more.
    pub fn bytes(&self) -> usize {
        self.held().bytes::<T>()
    }

    /// Makes room for what needs more than it was made for; its size stays what it says.
    pub(crate) fn grow(&mut self, size: WorkspaceSize) {
        let said = self.size;
        self.resize(self.held().max(size));
        self.size = said;
    }

    /// What it has room for.
    fn held(&self) -> WorkspaceSize {
        let Workspace { lines, level, padded, low, .. } = self;
        WorkspaceSize { lines: lines.len(), level: level.len(), padded: padded.len(), low: low.len() }
    }

    /// Gives it another size, for a part of what it was made for: what that is no larger than is not allocated again.
    pub(crate) fn resize(&mut self, size: WorkspaceSize) {
        self.lines.resize(size.lines, T::Lane::default());
        self.level.resize(size.level, T::Lane::default());
        self.padded.resize(size.padded, T::default());
        self.low.resize(size.low, T::default());
        self.size = size;
    }
}

impl WorkspaceSize {
    /// Of each part the larger.
    pub fn max(self, other: WorkspaceSize) -> WorkspaceSize {
        WorkspaceSize {
            lines: self.lines.max(other.lines),
            level: self.level.max(other.level),
            padded: self.padded.max(other.padded),
            low: self.low.max(other.low),
        }
    }

    /// Size in bytes for samples of type `T`.
    pub fn bytes<T: Sample>(&self) -> usize {
        (self.lines + self.level) * size_of::<T::Lane>() + (self.padded + self.low) * size_of::<T>()
    }
}

/// Executes one problem.
///
/// # Safety of the methods
/// Views must have the shapes that the method states, be valid to read (and write), not overlap each other, and no two
/// indices of a mutable view may share an address. The workspace must have this executor's size.
///
/// # Errors of the methods
/// What a device can fail at. The CPU cannot.
pub trait Executor<T>: std::fmt::Debug + Send + Sync {
    /// Scratch that it needs.
    fn workspace_size(&self) -> WorkspaceSize;

    /// Bytes of scratch, wherever it is.
    fn workspace_bytes(&self) -> usize
    where
        T: Sample,
    {
        self.workspace_size().bytes::<T>()
    }

    /// What it does, for the recipe.
    fn passes(&self) -> Vec<Pass>;

    /// What it chose for each level of analysis and of synthesis, for the recipe.
    fn choices(&self) -> Vec<Choice> {
        Vec::new()
    }

    /// How long a transform takes, on a device whose time means something.
    fn microseconds(&self, _: Direction) -> Option<Result<f64, PlanError>> {
        None
    }

    /// Itself, for a device that lets users do more with plans than this trait says.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// Itself, if it takes bands that are arrays of their own.
    fn joins(&self) -> Option<&dyn Joins<T>>
    where
        T: Sample,
    {
        None
    }

    /// `src` of the source shape to `dst` of the geometry's shape.
    unsafe fn forward(
        &self,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        T: Sample;

    /// Analysis where the data is; shape of the geometry.
    unsafe fn forward_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        T: Sample;

    /// `src` of the geometry's shape to `dst`: of the source shape for level 0, else of the level's.
    unsafe fn inverse(
        &self,
        level: u32,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        T: Sample;

    /// The adjoint of analysis: `src` of the geometry's shape to `dst` of the same; or that of synthesis. Of a real
    /// scheme, without padding.
    unsafe fn adjoint(
        &self,
        of: Direction,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        T: Sample;

    /// Full synthesis where the data is; shape of the geometry.
    unsafe fn inverse_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        T: Sample;
}

/// Synthesis of the only level of a problem from bands that are arrays of their own.
pub trait Joins<T: Sample> {
    /// `bands` in the order of their numbers, whose bits, the highest for the first transformed axis, say along which
    /// axes a band is high, to `dst` of the geometry's shape. They may share memory.
    ///
    /// # Safety
    /// As for [`Executor`].
    unsafe fn join(&self, bands: &[RawView<T>], dst: RawViewMut<T>, workspace: &mut Workspace<T>);
}
