//! Independent tiles: one executor for the tiles of each shape, on boxes of the arrays.

use super::Cpu;
use crate::data::{RawView, RawViewMut};
use crate::error::PlanError;
use crate::exec::{Executor, Workspace, WorkspaceSize};
use crate::sample::Sample;
use lifting_dsl::Direction;
use lifting_planner::{Part, Pass};
use std::sync::Arc;

/// Executor of a problem with tiles.
#[derive(Debug)]
pub(crate) struct Tiled<T: Sample> {
    parts: Vec<(Part, Cpu<T>)>,
    size: WorkspaceSize,
}

impl<T: Sample> Tiled<T> {
    /// Prepares the parts of a problem.
    ///
    /// # Errors
    /// As for [`Cpu::new`].
    pub fn new(parts: Vec<Part>, threads: usize) -> Result<Tiled<T>, PlanError> {
        let prepared = |part: Part| {
            let cpu = Cpu::new(Arc::new(part.problem.clone()), threads)?;
            Ok((part, cpu))
        };
        let parts = parts.into_iter().map(prepared).collect::<Result<Vec<_>, PlanError>>()?;
        let size = parts.iter().fold(WorkspaceSize::default(), |size, (_, cpu)| size.max(cpu.size));
        Ok(Tiled { parts, size })
    }

    /// Executes all parts, each with a workspace of its own size, without allocations.
    fn each(
        &self,
        workspace: &mut Workspace<T>,
        mut run: impl FnMut(&Part, &Cpu<T>, &mut Workspace<T>) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        let result = self.parts.iter().try_for_each(|(part, cpu)| {
            workspace.resize(cpu.size)?;
            run(part, cpu, workspace)
        });
        workspace.resize(self.size)?;
        result
    }
}

/// A part's box within an array that holds the low bands of a level.
fn within<T>(part: &Part, level: u32, view: RawView<T>) -> RawView<T> {
    let (strides, at) = part.strides(level, &view.strides[..view.rank]);
    let shape = part.problem.geometry.level_shape(level);
    RawView::new(view.ptr.wrapping_offset(at), &shape, &strides)
}

/// A part's box within an array to write.
fn within_mut<T>(part: &Part, level: u32, view: RawViewMut<T>) -> RawViewMut<T> {
    let RawView { ptr, rank, shape, strides } = within(part, level, view.as_const());
    RawViewMut { ptr: ptr.cast_mut(), rank, shape, strides }
}

impl<T: Sample> Executor<T> for Tiled<T> {
    fn workspace_size(&self) -> WorkspaceSize {
        self.size
    }

    fn passes(&self) -> Vec<Pass> {
        self.parts.iter().flat_map(|(_, cpu)| cpu.passes()).collect()
    }

    unsafe fn forward(
        &self,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        self.each(workspace, |part, cpu, workspace| {
            // SAFETY: a box of each view, here and below.
            unsafe { cpu.forward(within(part, 0, src), within_mut(part, 0, dst), workspace) }
        })
    }

    unsafe fn forward_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError> {
        self.each(workspace, |part, cpu, workspace| {
            // SAFETY: as above.
            unsafe { cpu.forward_in_place(within_mut(part, 0, data), workspace) }
        })
    }

    unsafe fn inverse(
        &self,
        level: u32,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        self.each(workspace, |part, cpu, workspace| {
            // SAFETY: as above.
            unsafe { cpu.inverse(level, within(part, 0, src), within_mut(part, level, dst), workspace) }
        })
    }

    unsafe fn adjoint(
        &self,
        of: Direction,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        self.each(workspace, |part, cpu, workspace| {
            // SAFETY: as above.
            unsafe { cpu.adjoint(of, within(part, 0, src), within_mut(part, 0, dst), workspace) }
        })
    }

    unsafe fn inverse_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError> {
        self.each(workspace, |part, cpu, workspace| {
            // SAFETY: as above.
            unsafe { cpu.inverse_in_place(within_mut(part, 0, data), workspace) }
        })
    }
}
