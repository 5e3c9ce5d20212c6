//! Packing: strided views to contiguous samples for a device, and back.

use crate::data::{RawView, RawViewMut, contiguous, offsets};
use crate::sample::Sample;

/// Samples of a view, in index order.
///
/// # Safety
/// The view must be valid.
pub(crate) unsafe fn gather<T: Sample>(view: RawView<T>) -> Vec<T> {
    let (shape, strides) = (&view.shape[..view.rank], &view.strides[..view.rank]);
    if contiguous(shape) == strides {
        // SAFETY: a valid view without gaps is a slice of this length.
        return unsafe { std::slice::from_raw_parts(view.ptr, shape.iter().product()) }.to_vec();
    }
    // SAFETY: an element of a valid view.
    offsets(shape, strides).map(|at| unsafe { *view.ptr.offset(at) }).collect()
}

/// Writes samples from [`gather`] back into a view.
///
/// # Safety
/// The view must be valid, and no other view may overlap it.
pub(crate) unsafe fn scatter<T: Sample>(values: &[T], view: RawViewMut<T>) {
    let (shape, strides) = (&view.shape[..view.rank], &view.strides[..view.rank]);
    if contiguous(shape) == strides {
        // SAFETY: a valid view without gaps is a slice of this length.
        return unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), view.ptr, values.len()) };
    }
    for (at, value) in offsets(shape, strides).zip(values) {
        // SAFETY: an element of a valid view.
        unsafe { *view.ptr.offset(at) = *value };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_views_are_gathered_and_scattered() {
        let data: Vec<i32> = (0..12).collect();
        let mut shape = [1; crate::data::MAX_RANK];
        let mut strides = [0; crate::data::MAX_RANK];
        (shape[0], shape[1]) = (3, 2);
        (strides[0], strides[1]) = (4, 2);
        let view = RawView { ptr: data.as_ptr(), shape, strides, rank: 2 };
        // SAFETY: all indices are within `data`.
        let values = unsafe { gather(view) };
        assert_eq!(values, [0, 2, 4, 6, 8, 10]);
        let mut out = vec![-1; 12];
        // SAFETY: all indices are within `out`.
        unsafe { scatter(&values, RawViewMut { ptr: out.as_mut_ptr(), shape, strides, rank: 2 }) };
        assert_eq!(out, [0, -1, 2, -1, 4, -1, 6, -1, 8, -1, 10, -1]);
    }
}
