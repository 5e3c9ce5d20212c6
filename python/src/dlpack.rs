//! DLPack: arrays of other libraries, in host or GPU memory, without copies.
//!
//! The C interface (<https://dmlc.github.io/dlpack>) in version 1 and its unversioned predecessor, as far as reading
//! needs it. A capsule is kept, not consumed: the array lives as long as the capsule, which frees it.

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_IsValid};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::{CStr, c_void};

/// Memory that holds an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Host,
    Cuda(usize),
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    ordinal: i32,
}

/// Sample type; `code` is one of [`INT`] to [`COMPLEX`].
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

pub const INT: u8 = 0;
pub const FLOAT: u8 = 2;
pub const BFLOAT: u8 = 4;
pub const COMPLEX: u8 = 5;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    rank: i32,
    sample: DataType,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// First field of `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: Tensor,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: *mut c_void,
    flags: u64,
    tensor: Tensor,
}

const READ_ONLY: u64 = 1;
const OLD: &CStr = c"dltensor";
const NEW: &CStr = c"dltensor_versioned";

/// Array described by a capsule.
pub struct View {
    /// Address of the sample with all indices 0.
    pub address: usize,
    pub place: Place,
    pub sample: DataType,
    pub shape: Vec<usize>,
    /// In samples.
    pub strides: Vec<isize>,
    pub read_only: bool,
    pub capsule: Py<PyAny>,
}

fn is(capsule: &Bound<'_, PyAny>, name: &CStr) -> bool {
    // SAFETY: the object is alive, and the name is a C string.
    unsafe { PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) != 0 }
}

/// Whether the object is an unused DLPack capsule.
pub fn is_capsule(object: &Bound<'_, PyAny>) -> bool {
    is(object, OLD) || is(object, NEW)
}

/// The array of an object with `__dlpack__`; `None` without that method. GPU memory is ready for work queued on
/// `stream`, in DLPack's numbering.
pub fn view(object: &Bound<'_, PyAny>, stream: Option<usize>) -> PyResult<Option<View>> {
    let py = object.py();
    let Ok(export) = object.getattr("__dlpack__") else { return Ok(None) };
    let options = PyDict::new(py);
    if let Some(stream) = stream {
        let (kind, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
        if kind == 2 || kind == 13 {
            options.set_item("stream", stream)?;
        }
    }
    let plain = options.copy()?;
    options.set_item("max_version", (1, 0))?;
    let capsule = match export.call((), Some(&options)) {
        // Libraries before version 1 lack the keyword.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call((), Some(&plain))?,
        other => other?,
    };
    read(capsule).map(Some)
}

/// The array of a capsule.
///
/// # Errors
/// If the object is not an unused capsule, or its array is unreadable.
pub fn read(capsule: Bound<'_, PyAny>) -> PyResult<View> {
    let refused = |why: String| Err(PyBufferError::new_err(why));
    // SAFETY: a capsule of that name holds that structure, for as long as it lives.
    let (tensor, flags) = unsafe {
        if is(&capsule, NEW) {
            let versioned: *const Versioned = PyCapsule_GetPointer(capsule.as_ptr(), NEW.as_ptr()).cast();
            let [major, minor] = (*versioned).version;
            if major != 1 {
                return refused(format!("the array has DLPack {major}.{minor}, but only version 1 is supported"));
            }
            (&(*versioned).tensor, (*versioned).flags)
        } else if is(&capsule, OLD) {
            let managed: *const Managed = PyCapsule_GetPointer(capsule.as_ptr(), OLD.as_ptr()).cast();
            (&(*managed).tensor, 0)
        } else {
            return refused("`__dlpack__` must make an unused capsule".into());
        }
    };
    let place = match (tensor.device.kind, usize::try_from(tensor.device.ordinal)) {
        // CPU memory, and pinned host memory.
        (1 | 3, _) => Place::Host,
        (2 | 13, Ok(ordinal)) => Place::Cuda(ordinal),
        (kind, _) => {
            return refused(format!("unsupported device of DLPack kind {kind}: copy the array to host memory"));
        }
    };
    let rank = usize::try_from(tensor.rank).unwrap_or(0);
    // SAFETY: shape and strides have an entry per axis; strides may be null, and for a scalar both may be.
    let list = |at: *const i64| match rank {
        0 => Vec::new(),
        // SAFETY: as above.
        _ => unsafe { std::slice::from_raw_parts(at, rank) }.to_vec(),
    };
    let shape: Vec<usize> = list(tensor.shape).into_iter().map(|n| n as usize).collect();
    let strides = if tensor.strides.is_null() {
        contiguous(&shape)
    } else {
        list(tensor.strides).into_iter().map(|stride| stride as isize).collect()
    };
    Ok(View {
        address: tensor.data as usize + tensor.byte_offset as usize,
        place,
        sample: tensor.sample,
        shape,
        strides,
        read_only: flags & READ_ONLY != 0,
        capsule: capsule.unbind(),
    })
}

/// Strides of a contiguous array, in samples.
pub fn contiguous(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
    }
    strides
}
