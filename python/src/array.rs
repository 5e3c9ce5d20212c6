//! Arrays that Python owns, by the buffer protocol: pointers, shapes and strides, checked.

use crate::LiftingError;
use lifting::{Sample, SampleType, Strided, StridedMut};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::marker::PhantomData;

/// An array of samples `T` in memory that Python keeps alive as long as this is.
pub struct Array<T> {
    buffer: PyUntypedBuffer,
    strides: Vec<isize>,
    sample: PhantomData<T>,
}

impl<T: Sample> Array<T> {
    /// The array that `object` is, called `what` in errors.
    pub fn read(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Array<T>> {
        let buffer = PyUntypedBuffer::get(object).map_err(|error| {
            let kind = object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
            PyTypeError::new_err(format!("{what} must be an array in this machine's memory, not a {kind} ({error})"))
        })?;
        let format = buffer.format().to_bytes();
        let known: &[&[u8]] = match T::KIND {
            SampleType::F16 => &[b"e"],
            // No format says it: the same bits as whole numbers.
            SampleType::Bf16 => &[b"H"],
            SampleType::F32 => &[b"f"],
            SampleType::F64 => &[b"d"],
            SampleType::I16 => &[b"h"],
            SampleType::I32 => &[b"i", b"l"],
            SampleType::I64 => &[b"q", b"l"],
        };
        // `=` and `<` are what this machine has anyway, where it is little-endian.
        let native: &[&[u8]] = if cfg!(target_endian = "little") { &[b"@", b"=", b"<"] } else { &[b"@", b"=", b">"] };
        let plain = native.iter().find_map(|prefix| format.strip_prefix(*prefix)).unwrap_or(format);
        if !known.contains(&plain) || buffer.item_size() != size_of::<T>() {
            let format = String::from_utf8_lossy(format).into_owned();
            let message = format!("{what} must have samples {}, and has those of format `{format}`", T::KIND);
            return Err(PyTypeError::new_err(message));
        }
        let size = size_of::<T>() as isize;
        let strides: Vec<isize> = buffer.strides().iter().map(|stride| stride / size).collect();
        let whole = buffer.strides().iter().zip(buffer.shape()).all(|(stride, n)| stride % size == 0 || *n < 2);
        if !whole || !(buffer.buf_ptr() as usize).is_multiple_of(align_of::<T>()) {
            return Err(LiftingError::new_err(format!("{what} is not aligned: copy it first, with `numpy.array`")));
        }
        if buffer.suboffsets().is_some() || buffer.dimensions() > lifting::MAX_RANK {
            let axes = buffer.dimensions();
            let most = lifting::MAX_RANK;
            return Err(LiftingError::new_err(format!("{what} has {axes} axes: between 1 and {most} can be taken")));
        }
        Ok(Array { buffer, strides, sample: PhantomData })
    }

    /// The same to be written to.
    pub fn write(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Array<T>> {
        let array = Array::read(object, what)?;
        if array.buffer.readonly() {
            return Err(LiftingError::new_err(format!("{what} is read-only: give an array that can be written to")));
        }
        Ok(array)
    }

    pub fn shape(&self) -> &[usize] {
        self.buffer.shape()
    }

    pub fn source(&self) -> Strided<'_, T> {
        // SAFETY: Python vouches for the buffer as long as it is held, and alignment was checked.
        unsafe { Strided::new(self.buffer.buf_ptr().cast(), self.buffer.shape(), &self.strides) }
    }

    /// # Safety
    /// No other view of the memory may be in use.
    pub unsafe fn target(&mut self) -> StridedMut<'_, T> {
        // SAFETY: as in `source`; writable, by `write`.
        unsafe { StridedMut::new(self.buffer.buf_ptr().cast(), self.buffer.shape(), &self.strides) }
    }

    /// The samples of an array without gaps.
    ///
    /// # Safety
    /// No other view of the memory may be in use.
    pub unsafe fn slice(&mut self, what: &str) -> PyResult<&mut [T]> {
        if !self.buffer.is_c_contiguous() {
            return Err(LiftingError::new_err(format!("{what} must be contiguous")));
        }
        // SAFETY: as in `source`; writable, by `write`.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.buffer.item_count()) })
    }

    /// First byte, and one past the last.
    fn span(&self) -> (usize, usize) {
        if self.buffer.item_count() == 0 {
            return (0, 0);
        }
        let reach = |sign: isize| -> isize {
            let axis = |(n, stride): (&usize, &isize)| (*n as isize - 1) * (stride * sign).max(0);
            self.buffer.shape().iter().zip(self.buffer.strides()).map(axis).sum()
        };
        let first = self.buffer.buf_ptr() as usize;
        (first - reach(-1) as usize, first + reach(1) as usize + size_of::<T>())
    }

    /// Whether some byte may belong to both.
    pub fn meets(&self, other: &Array<T>) -> bool {
        let ((a, a_end), (b, b_end)) = (self.span(), other.span());
        a < b_end && b < a_end
    }

    /// Whether both are the same samples in the same order.
    pub fn is(&self, other: &Array<T>) -> bool {
        let same = self.buffer.buf_ptr() == other.buffer.buf_ptr() && self.shape() == other.shape();
        same && self.strides == other.strides
    }
}
