//! Inputs and outputs of plans: slices with strides, and `ndarray` arrays and views.

use crate::error::PlanError;
use crate::sample::Sample;
pub use lifting_planner::MAX_RANK;
pub(crate) use lifting_planner::{Dims, contiguous};

/// Samples in memory that a plan can read: `[T]`, `Vec<T>`, `[T; N]`, and every `ndarray` array or view of `T`.
///
/// A slice is laid out by the plan's strides (contiguous, row-major by default). It must reach from the lowest to the
/// highest address that they touch: exactly, or further if strides leave gaps. An `ndarray` has its own shape and
/// strides; its shape must be the plan's.
///
/// ```
/// # #[cfg(feature = "ndarray")] {
/// use lifting::{Device, Plan, catalogue};
/// use ndarray::{Array2, s};
///
/// let wavelet = catalogue::find("cdf97")?;
/// let plan = Plan::builder(&wavelet).shape(&[60, 80]).levels(2).sample::<f32>().build(&Device::cpu())?;
/// let image = Array2::from_shape_fn((120, 80), |(y, x)| (x * y % 97) as f32);
/// // Every other row, from the last one up; nothing is copied.
/// let field = image.slice(s![..;-2, ..]);
/// let mut coefficients = Array2::zeros((60, 80));
/// plan.forward(&field, &mut coefficients)?;
/// let corner = plan.subband("LL2").expect("there is one");
/// assert_eq!(corner.view(&coefficients), coefficients.slice(s![..15, ..20]).into_dyn());
/// let mut back = Array2::zeros((60, 80));
/// plan.inverse(&coefficients, &mut back)?;
/// assert!((&back - &field).iter().all(|difference| difference.abs() < 1e-3));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source<T: Sample> {
    /// The samples as a raw view, checked against `expected`.
    #[doc(hidden)]
    fn source(&self, expected: &Expected) -> Result<RawView<T>, PlanError>;
}

/// Samples in memory that a plan can write; see [`Source`].
pub trait Target<T: Sample>: Source<T> {
    /// The samples as a raw mutable view, checked against `expected`.
    #[doc(hidden)]
    fn target(&mut self, expected: &Expected) -> Result<RawViewMut<T>, PlanError>;
}

/// Requirements of a plan on a buffer.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Expected {
    /// Name of the buffer in errors: `source`, `coefficients`, ….
    pub what: &'static str,
    pub shape: Vec<usize>,
    /// Strides of a plain slice.
    pub strides: Vec<isize>,
    /// Minimum length of a plain slice, in samples.
    pub span: usize,
    /// Index of the first sample in a plain slice; not 0 if a stride is negative.
    pub start: usize,
}

impl Expected {
    /// Contiguous, row-major layout.
    pub fn contiguous(what: &'static str, shape: &[usize]) -> Result<Expected, PlanError> {
        let mut strides = vec![1isize; shape.len()];
        let mut next = 1isize;
        for (stride, &n) in strides.iter_mut().zip(shape).rev() {
            *stride = next;
            next = isize::try_from(n.max(1))
                .ok()
                .and_then(|n| next.checked_mul(n))
                .ok_or(PlanError::TooLarge { shape: shape.to_vec() })?;
        }
        Expected::strided(what, shape, &strides)
    }

    /// Layout with strides in samples; they may be negative, but no two samples may overlap.
    pub fn strided(what: &'static str, shape: &[usize], strides: &[isize]) -> Result<Expected, PlanError> {
        let too_large = || PlanError::TooLarge { shape: shape.to_vec() };
        if strides.len() != shape.len() {
            return Err(PlanError::StrideCount { what, expected: shape.len(), got: strides.len() });
        }
        let (mut below, mut above) = (0usize, 0usize);
        for (&n, &stride) in shape.iter().zip(strides) {
            let reach = n.saturating_sub(1).checked_mul(stride.unsigned_abs()).ok_or_else(too_large)?;
            let side = if stride < 0 { &mut below } else { &mut above };
            *side = side.checked_add(reach).ok_or_else(too_large)?;
        }
        let empty = shape.contains(&0);
        let span =
            if empty { 0 } else { below.checked_add(above).and_then(|s| s.checked_add(1)).ok_or_else(too_large)? };
        // No sample type exceeds 16 bytes.
        if span > isize::MAX as usize / 16 {
            return Err(too_large());
        }
        let expected = Expected { what, shape: shape.to_vec(), strides: strides.to_vec(), span, start: below };
        if !empty && expected.overlaps() {
            return Err(PlanError::OverlappingStrides { what, shape: shape.to_vec(), strides: strides.to_vec() });
        }
        Ok(expected)
    }

    /// Checks the shape of an array.
    fn check_shape(&self, shape: &[usize]) -> Result<(), PlanError> {
        if shape != self.shape {
            let (what, expected, got) = (self.what, self.shape.clone(), shape.to_vec());
            return Err(PlanError::ShapeMismatch { what, expected, got });
        }
        Ok(())
    }

    /// Whether a plain slice has unused samples between rows or other strides.
    fn has_gaps(&self) -> bool {
        self.span > self.shape.iter().product()
    }

    /// Checks the length of a plain slice.
    fn check_len(&self, got: usize) -> Result<(), PlanError> {
        let (what, shape, needed) = (self.what, &self.shape, self.span);
        if got < needed {
            return Err(PlanError::TooShort { what, shape: shape.clone(), needed, got });
        }
        // A layout with gaps may also have one after the last row.
        if got > needed && !self.has_gaps() {
            return Err(PlanError::TooLong { what, shape: shape.clone(), needed, got });
        }
        Ok(())
    }

    /// Whether two indices may share an address: axes sorted by stride must each step over all smaller ones. The test
    /// rejects a few exotic interleavings that would be valid.
    fn overlaps(&self) -> bool {
        let mut axes: Vec<(usize, usize)> = self
            .shape
            .iter()
            .zip(&self.strides)
            .filter(|&(&n, _)| n > 1)
            .map(|(&n, s)| (s.unsigned_abs(), n))
            .collect();
        axes.sort_unstable();
        let mut reach = 0;
        for (stride, n) in axes {
            if stride <= reach {
                return true;
            }
            reach += stride * (n - 1);
        }
        false
    }
}

fn dims<V: Copy + Default>(values: &[V]) -> Dims<V> {
    let mut dims = [V::default(); MAX_RANK];
    dims[..values.len()].copy_from_slice(values);
    dims
}

/// A strided array to read.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RawView<T> {
    pub(crate) ptr: *const T,
    pub(crate) rank: usize,
    pub(crate) shape: Dims<usize>,
    pub(crate) strides: Dims<isize>,
}

/// A strided array to write (and read).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RawViewMut<T> {
    pub(crate) ptr: *mut T,
    pub(crate) rank: usize,
    pub(crate) shape: Dims<usize>,
    pub(crate) strides: Dims<isize>,
}

impl<T> RawView<T> {
    pub(crate) fn new(ptr: *const T, shape: &[usize], strides: &[isize]) -> RawView<T> {
        RawView { ptr, rank: shape.len(), shape: dims(shape), strides: dims(strides) }
    }
}

impl<T> RawViewMut<T> {
    pub(crate) fn new(ptr: *mut T, shape: &[usize], strides: &[isize]) -> RawViewMut<T> {
        RawViewMut { ptr, rank: shape.len(), shape: dims(shape), strides: dims(strides) }
    }

    pub(crate) fn as_const(&self) -> RawView<T> {
        RawView { ptr: self.ptr, rank: self.rank, shape: self.shape, strides: self.strides }
    }
}

/// Offsets of every element of a view, row-major, relative to its first.
pub(crate) fn offsets<'a>(shape: &'a [usize], strides: &'a [isize]) -> impl Iterator<Item = isize> + 'a {
    let count: usize = shape.iter().product();
    (0..count).map(move |mut index| {
        let mut at = 0;
        for (&n, &stride) in shape.iter().zip(strides).rev() {
            at += (index % n) as isize * stride;
            index /= n;
        }
        at
    })
}

/// Borrowed samples of a foreign array, with strides in samples; for callers from other languages.
///
/// ```
/// use lifting::{Device, Plan, Strided, catalogue};
/// let plan = Plan::builder(&catalogue::find("haar")?).shape(&[4]).sample::<f32>().build(&Device::cpu())?;
/// let every_other = [1.0f32, 9.0, 2.0, 9.0, 3.0, 9.0, 4.0];
/// // SAFETY: four samples, two apart, of a live array.
/// let view = unsafe { Strided::new(every_other.as_ptr(), &[4], &[2]) };
/// let mut coefficients = [0.0; 4];
/// plan.forward(&view, &mut coefficients)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, T> {
    ptr: *const T,
    shape: &'a [usize],
    strides: &'a [isize],
}

impl<'a, T: Sample> Strided<'a, T> {
    /// Sample (k₀, k₁, …) is at `ptr + Σ kᵢ·strides[i]`.
    ///
    /// # Safety
    /// All samples must be valid, aligned, and not written to while this is in use. `shape` and `strides` must have
    /// equal lengths.
    pub unsafe fn new(ptr: *const T, shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, T> {
        Strided { ptr, shape, strides }
    }
}

impl<T: Sample> Source<T> for Strided<'_, T> {
    fn source(&self, expected: &Expected) -> Result<RawView<T>, PlanError> {
        expected.check_shape(self.shape)?;
        Ok(RawView::new(self.ptr, self.shape, self.strides))
    }
}

/// Mutable counterpart of [`Strided`].
#[derive(Debug)]
pub struct StridedMut<'a, T> {
    ptr: *mut T,
    shape: &'a [usize],
    strides: &'a [isize],
}

impl<'a, T: Sample> StridedMut<'a, T> {
    /// Sample (k₀, k₁, …) is at `ptr + Σ kᵢ·strides[i]`.
    ///
    /// # Safety
    /// All samples must be valid, aligned, and not accessed otherwise while this is in use. `shape` and `strides` must
    /// have equal lengths.
    pub unsafe fn new(ptr: *mut T, shape: &'a [usize], strides: &'a [isize]) -> StridedMut<'a, T> {
        StridedMut { ptr, shape, strides }
    }
}

impl<T: Sample> Source<T> for StridedMut<'_, T> {
    fn source(&self, expected: &Expected) -> Result<RawView<T>, PlanError> {
        expected.check_shape(self.shape)?;
        Ok(RawView::new(self.ptr, self.shape, self.strides))
    }
}

impl<T: Sample> Target<T> for StridedMut<'_, T> {
    fn target(&mut self, expected: &Expected) -> Result<RawViewMut<T>, PlanError> {
        expected.check_shape(self.shape)?;
        // Two workers would write overlapping samples.
        Expected::strided(expected.what, self.shape, self.strides)?;
        Ok(RawViewMut::new(self.ptr, self.shape, self.strides))
    }
}

impl<T: Sample> Source<T> for [T] {
    fn source(&self, expected: &Expected) -> Result<RawView<T>, PlanError> {
        expected.check_len(self.len())?;
        let start = if expected.span == 0 { 0 } else { expected.start };
        // The pointer comes from the whole slice: negative strides reach samples before `start`.
        Ok(RawView::new(self.as_ptr().wrapping_add(start), &expected.shape, &expected.strides))
    }
}

impl<T: Sample> Target<T> for [T] {
    fn target(&mut self, expected: &Expected) -> Result<RawViewMut<T>, PlanError> {
        expected.check_len(self.len())?;
        let start = if expected.span == 0 { 0 } else { expected.start };
        // The pointer comes from the whole slice: negative strides reach samples before `start`.
        Ok(RawViewMut::new(self.as_mut_ptr().wrapping_add(start), &expected.shape, &expected.strides))
    }
}

impl<T: Sample> Source<T> for Vec<T> {
    fn source(&self, expected: &Expected) -> Result<RawView<T>, PlanError> {
        self.as_slice().source(expected)
    }
}

impl<T: Sample> Target<T> for Vec<T> {
    fn target(&mut self, expected: &Expected) -> Result<RawViewMut<T>, PlanError> {
        self.as_mut_slice().target(expected)
    }
}

impl<T: Sample, const N: usize> Source<T> for [T; N] {
    fn source(&self, expected: &Expected) -> Result<RawView<T>, PlanError> {
        self.as_slice().source(expected)
    }
}

impl<T: Sample, const N: usize> Target<T> for [T; N] {
    fn target(&mut self, expected: &Expected) -> Result<RawViewMut<T>, PlanError> {
        self.as_mut_slice().target(expected)
    }
}

#[cfg(feature = "ndarray")]
mod arrays {
    use super::*;
    use ndarray::{ArrayBase, Data, DataMut, Dimension};

    impl<T: Sample, S: Data<Elem = T>, D: Dimension> Source<T> for ArrayBase<S, D> {
        fn source(&self, expected: &Expected) -> Result<RawView<T>, PlanError> {
            expected.check_shape(self.shape())?;
            Ok(RawView::new(self.as_ptr(), self.shape(), self.strides()))
        }
    }

    impl<T: Sample, S: DataMut<Elem = T>, D: Dimension> Target<T> for ArrayBase<S, D> {
        fn target(&mut self, expected: &Expected) -> Result<RawViewMut<T>, PlanError> {
            expected.check_shape(self.shape())?;
            let ptr = self.as_mut_ptr();
            Ok(RawViewMut::new(ptr, self.shape(), self.strides()))
        }
    }
}
