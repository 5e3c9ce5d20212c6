//! Executors: the interface between plans and devices.
//!
//! A plan checks everything once, describes the transform as a [`Problem`](lifting_planner::Problem), and passes it to
//! the executor of its device ([`Device::executor`](crate::device::Device)). Executors get raw views that have been
//! checked against the problem. [`cuda`], [`opencl`] and [`interp`] execute programs of `lifting-planner`, on devices
//! and on the kernel interpreter.

pub mod cuda;
pub(crate) mod interp;
pub mod kernels;
pub mod opencl;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod packed;
pub(crate) mod slabs;
pub mod spare;

use crate::data::{RawView, RawViewMut};
use crate::error::PlanError;
use crate::sample::Sample;
use lifting_dsl::Direction;
use lifting_planner::{Choice, Pass};
use std::any::Any;

/// Sizes of the parts of a [`Workspace`], in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkspaceSize {
    /// Work-type elements for bundles of lines, all workers together.
    pub lines: usize,
    /// Work-type elements for one level of a storage-only sample type.
    pub level: usize,
    /// Samples for coefficients of a padded inverse.
    pub padded: usize,
    /// Samples of low bands between levels.
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
    /// A workspace of that size. If memory is short it is empty, and the first execution returns the error.
    pub(crate) fn new(size: WorkspaceSize) -> Workspace<T> {
        let mut workspace = Workspace::lazy(size);
        let _ = workspace.fill();
        workspace
    }

    /// A workspace of that size, which the first execution allocates.
    pub(crate) fn lazy(size: WorkspaceSize) -> Workspace<T> {
        Workspace { size, lines: Vec::new(), level: Vec::new(), padded: Vec::new(), low: Vec::new() }
    }

    /// Allocates what is missing.
    ///
    /// # Errors
    /// If memory is short.
    pub(crate) fn fill(&mut self) -> Result<(), PlanError> {
        self.grow(self.size)
    }

    /// Size in bytes: above the plan's figure once an adjoint has needed more.
    pub fn bytes(&self) -> usize {
        self.held().bytes::<T>()
    }

    /// Makes room for an execution that needs more; the nominal size stays.
    ///
    /// # Errors
    /// If memory is short.
    pub(crate) fn grow(&mut self, size: WorkspaceSize) -> Result<(), PlanError> {
        let (said, held) = (self.size, self.held());
        if held != held.max(size) {
            self.resize(held.max(size))?;
        }
        self.size = said;
        Ok(())
    }

    /// Allocated sizes.
    fn held(&self) -> WorkspaceSize {
        let Workspace { lines, level, padded, low, .. } = self;
        WorkspaceSize { lines: lines.len(), level: level.len(), padded: padded.len(), low: low.len() }
    }

    /// Resizes the workspace for a part of its plan; a smaller size does not reallocate.
    ///
    /// # Errors
    /// If memory is short.
    pub(crate) fn resize(&mut self, size: WorkspaceSize) -> Result<(), PlanError> {
        let all = resized(&mut self.lines, size.lines)
            && resized(&mut self.level, size.level)
            && resized(&mut self.padded, size.padded)
            && resized(&mut self.low, size.low);
        if !all {
            return Err(PlanError::OutOfMemory { what: "the workspace", bytes: size.bytes::<T>() });
        }
        self.size = size;
        Ok(())
    }
}

/// Gives a vector another length; false if memory is short.
pub(crate) fn resized<V: Clone + Default>(vector: &mut Vec<V>, length: usize) -> bool {
    if vector.is_empty() {
        // Asked for twice: pages of zeros need no writing, and only the first request may fail.
        if vector.try_reserve_exact(length).is_err() {
            return false;
        }
        *vector = Vec::new();
        *vector = vec![V::default(); length];
        return true;
    }
    let missing = length.saturating_sub(vector.len());
    vector.try_reserve_exact(missing).map(|()| vector.resize(length, V::default())).is_ok()
}

impl WorkspaceSize {
    /// Element-wise maximum.
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
        let lanes = self.lines.saturating_add(self.level).saturating_mul(size_of::<T::Lane>());
        lanes.saturating_add(self.padded.saturating_add(self.low).saturating_mul(size_of::<T>()))
    }
}

/// Executor of one problem.
///
/// # Safety of the methods
/// Views must have the shapes that the method states, be valid to read (and write), and not overlap each other. No two
/// indices of a mutable view may share an address. The workspace must have this executor's size.
///
/// # Errors of the methods
/// Failures of a device. The CPU never fails.
pub trait Executor<T>: std::fmt::Debug + Send + Sync {
    /// Required scratch.
    fn workspace_size(&self) -> WorkspaceSize;

    /// Required scratch of transforms in place, at most [`Executor::workspace_size`].
    fn in_place_size(&self) -> WorkspaceSize {
        self.workspace_size()
    }

    /// Required scratch in bytes, on the host or the device.
    fn workspace_bytes(&self) -> usize
    where
        T: Sample,
    {
        self.workspace_size().bytes::<T>()
    }

    /// Passes, for the recipe.
    fn passes(&self) -> Vec<Pass>;

    /// Choices for each level of analysis and of synthesis, for the recipe.
    fn choices(&self) -> Vec<Choice> {
        Vec::new()
    }

    /// Time of a transform, on a device whose time can be measured.
    fn microseconds(&self, _: Direction) -> Option<Result<f64, PlanError>> {
        None
    }

    /// The executor itself, for devices that offer more than this trait.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// The executor as [`Joins`], if it accepts bands in separate arrays.
    fn joins(&self) -> Option<&dyn Joins<T>>
    where
        T: Sample,
    {
        None
    }

    /// Analyses `src` of the source shape into `dst` of the geometry's shape.
    unsafe fn forward(
        &self,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        T: Sample;

    /// Analyses in place; shape of the geometry.
    unsafe fn forward_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        T: Sample;

    /// Synthesises `src` of the geometry's shape into `dst`: of the source shape for level 0, else of the level's.
    unsafe fn inverse(
        &self,
        level: u32,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        T: Sample;

    /// Applies the adjoint of analysis or of synthesis: `src` and `dst` have the geometry's shape. It needs a real
    /// scheme without padding.
    unsafe fn adjoint(
        &self,
        of: Direction,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError>
    where
        T: Sample;

    /// Synthesises in place; shape of the geometry.
    unsafe fn inverse_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError>
    where
        T: Sample;
}

/// Synthesis of a single level from bands in separate arrays.
pub trait Joins<T: Sample> {
    /// Synthesises `bands`, in the order of their numbers, into `dst` of the geometry's shape. The bits of a band's
    /// number, the highest for the first transformed axis, say along which axes it is high. Bands may share memory.
    ///
    /// # Safety
    /// As for [`Executor`].
    unsafe fn join(&self, bands: &[RawView<T>], dst: RawViewMut<T>, workspace: &mut Workspace<T>);
}
