//! Adjoints of expansive levels.
//!
//! An expansive level is linear: it extends the array, transforms it, and keeps windows of the result. So the adjoint
//! puts bands into these windows with zeros elsewhere, and applies the adjoint of the transform. Then it adds each
//! extension sample back to the samples that it was made of.

use super::{Expansive, place};
use crate::data::{Expected, RawView, Source, Target};
use crate::error::PlanError;
use crate::exec::Workspace;
use crate::sample::Sample;
use lifting_dsl::Direction;

impl<T: Sample> Expansive<T> {
    /// The adjoint of [`Expansive::forward`]: takes the gradient of a function of the bands back to `data`, of
    /// [`Expansive::shape`]. Missing bands count as zero. `scratch` has at least twice [`Expansive::extended_len`]
    /// samples. All machines give the same bits; [`lifting_dsl::oracle::Expansive`] is the definition.
    ///
    /// # Errors
    /// If an array is unsuitable, or the workspace belongs to another transform.
    pub fn adjoint_with<S: Source<T> + ?Sized>(
        &self,
        bands: &[Option<&S>],
        data: &mut [T],
        scratch: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let views = self.views(bands)?;
        if let Some(by_axis) = &self.by_axis {
            return self.join_by_axis(by_axis, true, &views, data, workspace);
        }
        let to = Expected::contiguous("the data", &self.shape)?;
        let target = data.target(&to)?;
        if !self.hosted {
            let scratch = self.scratch(scratch, self.extended_len(), &self.extended, workspace)?;
            self.gather(&views, &self.windows, &self.extended, scratch);
            let src = scratch.source(&Expected::contiguous("the scratch", &self.extended)?)?;
            // SAFETY: checked views of exclusive borrows.
            return unsafe { self.analysis.executor().adjoint(Direction::Forward, src, target, workspace) };
        }
        let scratch = self.scratch(scratch, 2 * self.extended_len(), &self.extended, workspace)?;
        let (coefficients, extended) = scratch.split_at_mut(self.extended_len());
        self.gather(&views, &self.windows, &self.extended, coefficients);
        let whole = Expected::contiguous("the scratch", &self.extended)?;
        let (src, dst) = (coefficients.source(&whole)?, extended.target(&whole)?);
        // SAFETY: checked views of exclusive borrows, and a workspace that is large enough.
        unsafe { self.analysis.executor().adjoint(Direction::Forward, src, dst, workspace)? };
        (0..self.shape.len()).for_each(|axis| self.fold_axis(axis, extended));
        let from = RawView::new(extended[self.start_of_data()..].as_ptr(), &self.shape, &self.strides);
        // SAFETY: the data's part of the extended array, checked by `Window::of`.
        unsafe { place(0, &from, from.ptr, 0, &to.strides, data) };
        Ok(())
    }

    /// The adjoint of [`Expansive::inverse`]: takes the gradient of a function of the data, of
    /// [`Expansive::restored_shape`], back to the bands. These are windows of `coefficients`, as after
    /// [`Expansive::forward`]. `scratch` has at least [`Expansive::extended_len`] samples.
    ///
    /// # Errors
    /// If an array is unsuitable, or the workspace belongs to another transform.
    pub fn inverse_adjoint_with<S: Source<T> + ?Sized>(
        &self,
        data: &S,
        coefficients: &mut [T],
        scratch: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        if let Some(by_axis) = &self.by_axis {
            return self.split_by_axis(by_axis, true, data, coefficients, workspace);
        }
        let view = data.source(&Expected::contiguous("the data", &self.restored)?)?;
        let whole = Expected::contiguous("the coefficients", &self.extended)?;
        if !self.hosted {
            let dst = coefficients.target(&whole)?;
            workspace.fill()?;
            // SAFETY: checked views, one of an exclusive borrow.
            return unsafe { self.synthesis.executor().adjoint(Direction::Inverse, view, dst, workspace) };
        }
        let scratch = self.scratch(scratch, self.extended_len(), &self.extended, workspace)?;
        scratch.fill(T::default());
        // SAFETY: a checked view of a shared borrow, as large as the window at that place.
        unsafe { place(0, &view, view.ptr, self.start_of_data(), &self.strides, scratch) };
        let (src, dst) = (scratch.source(&whole)?, coefficients.target(&whole)?);
        // SAFETY: checked views of exclusive borrows, and a workspace that is large enough.
        unsafe { self.analysis.executor().adjoint(Direction::Inverse, src, dst, workspace) }
    }
}
