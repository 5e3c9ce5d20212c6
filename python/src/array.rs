//! Python's arrays by the buffer protocol or DLPack: checked pointers, shapes and strides.

use crate::LiftingError;
use crate::dlpack::{self, Place};
use lifting::{Sample, SampleType, Strided, StridedMut};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::marker::PhantomData;

/// Array of samples `T` in memory that Python owns; this value keeps it alive. Complex samples are pairs of real ones
/// along an additional last axis.
pub struct Array<T> {
    /// Address of the sample with all indices 0.
    address: usize,
    place: Place,
    shape: Vec<usize>,
    /// In samples.
    strides: Vec<isize>,
    read_only: bool,
    _keep: Keep,
    sample: PhantomData<T>,
}

/// Owner of the memory.
enum Keep {
    Buffer(#[expect(dead_code, reason = "it is held")] PyUntypedBuffer),
    Capsule(#[expect(dead_code, reason = "it is held")] Py<PyAny>),
}

impl<T: Sample> Array<T> {
    /// Reads `object` as an array in host memory; errors call it `what`.
    pub fn read(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Array<T>> {
        let array = Array::anywhere(object, what, None)?;
        array.on_host(what)?;
        Ok(array)
    }

    /// Reads `object` as a writable array in host memory.
    pub fn write(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Array<T>> {
        let array = Array::read(object, what)?;
        array.writable(what)?;
        Ok(array)
    }

    /// Reads `object` as an array in host or GPU memory; on a GPU it is ready for work on `stream`.
    pub fn anywhere(object: &Bound<'_, PyAny>, what: &str, stream: Option<usize>) -> PyResult<Array<T>> {
        let array = if dlpack::is_capsule(object) {
            Array::of_view(dlpack::read(object.clone())?, what)?
        } else {
            match PyUntypedBuffer::get(object) {
                Ok(buffer) => Array::of_buffer(buffer, what)?,
                Err(error) => match dlpack::view(object, stream)? {
                    Some(view) => Array::of_view(view, what)?,
                    None => {
                        let kind = object.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
                        let message = format!("{what} must be an array by the buffer protocol or DLPack, not a {kind}");
                        return Err(PyTypeError::new_err(format!("{message} ({error})")));
                    }
                },
            }
        };
        if !array.address.is_multiple_of(align_of::<T>()) {
            return Err(not_aligned(what));
        }
        if array.span().is_none() {
            return Err(LiftingError::new_err(format!(
                "the strides of {what} exceed the address range, as CuPy's exports of reversed axes do: make it \
                 contiguous first, with `cupy.ascontiguousarray`"
            )));
        }
        if array.shape.len() > lifting::MAX_RANK {
            let (axes, most) = (array.shape.len(), lifting::MAX_RANK);
            return Err(LiftingError::new_err(format!("{what} has {axes} axes: between 1 and {most} are allowed")));
        }
        Ok(array)
    }

    fn of_buffer(buffer: PyUntypedBuffer, what: &str) -> PyResult<Array<T>> {
        let format = buffer.format().to_bytes();
        let known: &[&[u8]] = match T::KIND {
            SampleType::F16 => &[b"e"],
            // Buffer formats lack bfloat16, so Python passes its bits as u16.
            SampleType::Bf16 => &[b"H"],
            SampleType::F32 => &[b"f", b"Zf"],
            SampleType::F64 => &[b"d", b"Zd"],
            SampleType::I16 => &[b"h"],
            SampleType::I32 => &[b"i", b"l"],
            SampleType::I64 => &[b"q", b"l"],
        };
        // `=` and this machine's byte order are native too.
        let native: &[&[u8]] = if cfg!(target_endian = "little") { &[b"@", b"=", b"<"] } else { &[b"@", b"=", b">"] };
        let plain = native.iter().find_map(|prefix| format.strip_prefix(*prefix)).unwrap_or(format);
        let complex = plain.starts_with(b"Z");
        if !known.contains(&plain) || buffer.item_size() != size_of::<T>() << u8::from(complex) {
            let format = String::from_utf8_lossy(format).into_owned();
            let message = format!("{what} must have samples {}, but has the format `{format}`", T::KIND);
            return Err(PyTypeError::new_err(message));
        }
        let size = size_of::<T>() as isize;
        let mut shape = buffer.shape().to_vec();
        let mut strides: Vec<isize> = buffer.strides().iter().map(|stride| stride / size).collect();
        if buffer.strides().iter().zip(&shape).any(|(stride, n)| stride % size != 0 && *n > 1) {
            return Err(not_aligned(what));
        }
        if buffer.suboffsets().is_some() {
            return Err(LiftingError::new_err(format!("{what} is an array of pointers: copy it with `numpy.array`")));
        }
        if complex {
            shape.push(2);
            strides.push(1);
        }
        let (address, read_only) = (buffer.buf_ptr() as usize, buffer.readonly());
        let place = Place::Host;
        Ok(Array { address, place, shape, strides, read_only, _keep: Keep::Buffer(buffer), sample: PhantomData })
    }

    fn of_view(view: dlpack::View, what: &str) -> PyResult<Array<T>> {
        let dlpack::View { address, place, sample, mut shape, mut strides, read_only, capsule } = view;
        let code = match T::KIND {
            SampleType::I16 | SampleType::I32 | SampleType::I64 => dlpack::INT,
            SampleType::Bf16 => dlpack::BFLOAT,
            SampleType::F16 | SampleType::F32 | SampleType::F64 => dlpack::FLOAT,
        };
        let bits = 8 * size_of::<T>();
        let complex = sample.code == dlpack::COMPLEX && code == dlpack::FLOAT && usize::from(sample.bits) == 2 * bits;
        if !complex && (sample.code != code || usize::from(sample.bits) != bits) || sample.lanes != 1 {
            let found = format!("DLPack code {} and {} bits", sample.code, sample.bits);
            let message = format!("{what} must have samples {}, but has {found}", T::KIND);
            return Err(PyTypeError::new_err(message));
        }
        if complex {
            strides.iter_mut().for_each(|stride| *stride = stride.saturating_mul(2));
            shape.push(2);
            strides.push(1);
        }
        Ok(Array { address, place, shape, strides, read_only, _keep: Keep::Capsule(capsule), sample: PhantomData })
    }

    fn on_host(&self, what: &str) -> PyResult<()> {
        match self.place {
            Place::Host => Ok(()),
            Place::Cuda(ordinal) => Err(LiftingError::new_err(format!(
                "{what} is on GPU {ordinal}: make the plan with device=\"cuda:{ordinal}\", or copy it to host memory"
            ))),
        }
    }

    /// Checks that the array is writable.
    ///
    /// # Errors
    /// If it is read-only.
    pub fn writable(&self, what: &str) -> PyResult<()> {
        if self.read_only {
            return Err(LiftingError::new_err(format!("{what} is read-only: pass a writable array")));
        }
        Ok(())
    }

    pub fn place(&self) -> Place {
        self.place
    }

    pub fn address(&self) -> usize {
        self.address
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Whether the array is row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        let plain = dlpack::contiguous(&self.shape);
        let fits = |((n, stride), plain): ((&usize, &isize), &isize)| *n < 2 || stride == plain;
        self.shape.contains(&0) || self.shape.iter().zip(&self.strides).zip(&plain).all(fits)
    }

    /// The samples of an array in host memory.
    pub fn source(&self) -> Strided<'_, T> {
        debug_assert_eq!(self.place, Place::Host);
        // SAFETY: Python keeps the memory alive while it is held, and alignment was checked.
        unsafe { Strided::new(self.address as *const T, &self.shape, &self.strides) }
    }

    /// The writable samples of an array in host memory.
    ///
    /// # Safety
    /// No other view of the memory may be in use.
    pub unsafe fn target(&mut self) -> StridedMut<'_, T> {
        debug_assert_eq!(self.place, Place::Host);
        // SAFETY: as in `source`; writable, by `write`.
        unsafe { StridedMut::new(self.address as *mut T, &self.shape, &self.strides) }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// A copy of the samples of an array in host memory, without gaps.
    pub fn packed(&self) -> Vec<T> {
        debug_assert_eq!(self.place, Place::Host);
        let mut packed = Vec::with_capacity(self.len());
        if self.len() > 0 {
            self.pack(0, self.address as *const T, &mut packed);
        }
        packed
    }

    fn pack(&self, axis: usize, from: *const T, packed: &mut Vec<T>) {
        let Some((&n, &stride)) = self.shape.get(axis).zip(self.strides.get(axis)) else {
            // SAFETY: an index of the array, which Python keeps alive.
            return packed.push(unsafe { *from });
        };
        if stride == 1 && axis + 1 == self.shape.len() {
            // SAFETY: as above; neighbouring samples.
            return packed.extend_from_slice(unsafe { std::slice::from_raw_parts(from, n) });
        }
        (0..n as isize).for_each(|i| self.pack(axis + 1, from.wrapping_offset(i * stride), packed));
    }

    /// The samples of a contiguous array in host memory.
    ///
    /// # Safety
    /// Nobody may write the memory meanwhile.
    pub unsafe fn samples(&self, what: &str) -> PyResult<&[T]> {
        if !self.is_contiguous() {
            return Err(LiftingError::new_err(format!("{what} must be contiguous")));
        }
        if self.len() == 0 {
            // An empty array may have no address.
            return Ok(&[]);
        }
        // SAFETY: as in `source`; nobody writes it, by the caller's promise.
        Ok(unsafe { std::slice::from_raw_parts(self.address as *const T, self.len()) })
    }

    /// The writable samples of a contiguous array in host memory.
    ///
    /// # Safety
    /// No other view of the memory may be in use.
    pub unsafe fn slice(&mut self, what: &str) -> PyResult<&mut [T]> {
        if !self.is_contiguous() {
            return Err(LiftingError::new_err(format!("{what} must be contiguous")));
        }
        let count = self.len();
        // SAFETY: as in `source`; writable, by `write`. An empty array may have no address.
        Ok(if count == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(self.address as *mut T, count) } })
    }

    /// First byte, and one past the last; `None` if they exceed the address space.
    fn span(&self) -> Option<(usize, usize)> {
        if self.shape.contains(&0) {
            return Some((0, 0));
        }
        let reach = |sign: isize| {
            let axis = |(n, stride): (&usize, &isize)| {
                isize::try_from(n - 1).ok()?.checked_mul(stride.checked_mul(sign)?.max(0))
            };
            let mut reaches = self.shape.iter().zip(&self.strides).map(axis);
            let samples = reaches.try_fold(0_isize, |sum, reach| sum.checked_add(reach?))?;
            samples.unsigned_abs().checked_mul(size_of::<T>())
        };
        let end = self.address.checked_add(reach(1)?)?.checked_add(size_of::<T>())?;
        Some((self.address.checked_sub(reach(-1)?)?, end))
    }

    /// Whether the two arrays may share memory.
    pub fn meets(&self, other: &Array<T>) -> bool {
        let common = self.span().zip(other.span()).map(|((a, a_end), (b, b_end))| a < b_end && b < a_end);
        self.place == other.place && common.unwrap_or(true)
    }

    /// Whether both arrays are the same samples in the same order.
    pub fn is(&self, other: &Array<T>) -> bool {
        let same = self.address == other.address && self.place == other.place && self.shape == other.shape;
        same && self.strides == other.strides
    }
}

fn not_aligned(what: &str) -> PyErr {
    LiftingError::new_err(format!("{what} is not aligned: copy it with `numpy.array`"))
}
