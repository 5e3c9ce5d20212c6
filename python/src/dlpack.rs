//! DLPack: arrays of other libraries, in this machine's memory or a GPU's, without copies.
//!
//! What is here is the C interface (<https://dmlc.github.io/dlpack>), version 1 and the one before it, as far as
//! reading needs it. A capsule is kept and not consumed: the array lives as long as the capsule does, which frees it.

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_IsValid};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::{CStr, c_void};

/// Where an array is.
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

/// What samples are: `code` is one of [`INT`] to [`COMPLEX`].
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

/// `DLManagedTensor`, from its beginning.
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

/// An array as its capsule describes it.
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
    // SAFETY: the object is alive, and the name a C string.
    unsafe { PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) != 0 }
}

/// Whether it is a capsule that has not been used.
pub fn is_capsule(object: &Bound<'_, PyAny>) -> bool {
    is(object, OLD) || is(object, NEW)
}

/// The array of an object that makes capsules; `None` if it makes none. Memory of a GPU is ready for what
/// is queued on `stream`, numbered as DLPack does.
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
        // Of libraries from before versions.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call((), Some(&plain))?,
        other => other?,
    };
    read(capsule).map(Some)
}

/// The array of a capsule.
///
/// # Errors
/// If it is none, or its array cannot be read.
pub fn read(capsule: Bound<'_, PyAny>) -> PyResult<View> {
    let refused = |why: String| Err(PyBufferError::new_err(why));
    // SAFETY: a capsule of that name holds that structure, for as long as it lives.
    let (tensor, flags) = unsafe {
        if is(&capsule, NEW) {
            let versioned: *const Versioned = PyCapsule_GetPointer(capsule.as_ptr(), NEW.as_ptr()).cast();
            let [major, minor] = (*versioned).version;
            if major != 1 {
                return refused(format!("the array speaks DLPack {major}.{minor}, and version 1 is understood"));
            }
            (&(*versioned).tensor, (*versioned).flags)
        } else if is(&capsule, OLD) {
            let managed: *const Managed = PyCapsule_GetPointer(capsule.as_ptr(), OLD.as_ptr()).cast();
            (&(*managed).tensor, 0)
        } else {
            return refused("`__dlpack__` made no capsule that has not been used".into());
        }
    };
    let place = match (tensor.device.kind, usize::try_from(tensor.device.ordinal)) {
        // Memory of the CPU, and such as a GPU can read as well.
        (1 | 3, _) => Place::Host,
        (2 | 13, Ok(ordinal)) => Place::Cuda(ordinal),
        (kind, _) => return refused(format!("the array is on a device of DLPack's kind {kind}: copy it first")),
    };
    let rank = usize::try_from(tensor.rank).unwrap_or(0);
    // SAFETY: shape and strides have an entry for each axis; strides may be missing, and so may both of a scalar.
    let list = |at: *const i64| match rank {
        0 => Vec::new(),
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

/// Strides of an array without gaps, in samples.
pub fn contiguous(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
    }
    strides
}
