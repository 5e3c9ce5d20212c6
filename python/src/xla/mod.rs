//! XLA handlers for JAX: foreign functions that execute plans on a CPU and on CUDA devices.
//!
//! A call's attributes select the plan, so that compiled programs can be stored and run in other processes:
//!
//! | attribute | value |
//! |---|---|
//! | `transform` | `forward`, `inverse`, `adjoint` or `inverse_adjoint` |
//! | `wavelet` | a name, or a text in the language |
//! | `rank` | number of transformed axes, the last ones |
//! | `levels` | number of levels |
//! | `boundary` | a border rule; empty for the wavelet's own |
//!
//! The argument is an array and the result one of the same shape; on a GPU a second result is scratch memory. Errors
//! are returned to XLA with their text.
//!
//! Plans live as long as the process, like JAX's compiled programs: captured graphs refer to their kernels.

mod api;
mod denormals;
pub mod level;

use crate::LiftingError;
use crate::dlpack::contiguous;
use crate::plan::{Any, Operation, each};
use api::{Buffer, Bytes, CallFrame};
use lifting::{Boundary, Device, SampleType, Strided, StridedMut};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

/// Key of a plan in the cache.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    wavelet: String,
    boundary: String,
    /// The batch axes merged into one, the transformed axes, and an axis of 2 for complex samples.
    shape: Vec<usize>,
    levels: Vec<u32>,
    sample: SampleType,
    gpu: Option<usize>,
}

static PLANS: Kept<Key, Any> = Kept::new();

/// Plans for the CPU that are kept.
const MOST: usize = 512;

/// Keys with a device.
trait OnGpu {
    fn is_on_gpu(&self) -> bool;
}

impl OnGpu for Key {
    fn is_on_gpu(&self) -> bool {
        self.gpu.is_some()
    }
}

/// Values made by the first call that needs them.
struct Kept<K, V>(Mutex<Option<HashMap<K, Arc<V>>>>);

impl<K: Eq + Hash + OnGpu, V> Kept<K, V> {
    const fn new() -> Kept<K, V> {
        Kept(Mutex::new(None))
    }

    /// The value of a key. It is made without the lock; of values made concurrently, the first one is kept.
    fn get(&self, key: K, make: impl FnOnce(&K) -> Result<V, String>) -> Result<Arc<V>, String> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = lock().get_or_insert_default().get(&key) {
            return Ok(kept.clone());
        }
        let made = Arc::new(make(&key)?);
        let mut kept = lock();
        let kept = kept.get_or_insert_default();
        if kept.len() >= MOST {
            // Those of GPUs stay: captured graphs refer to their kernels.
            kept.retain(|key, _| key.is_on_gpu());
        }
        Ok(kept.entry(key).or_insert(made).clone())
    }
}

impl Key {
    /// The key for arrays of that shape, along their last `rank` axes.
    fn new(
        (wavelet, boundary): (&str, &str),
        (rank, levels): (i64, i64),
        shape: &[usize],
        (sample, complex): (SampleType, bool),
        gpu: Option<usize>,
    ) -> Result<Key, String> {
        let axes = shape.len();
        let Some(rank) = usize::try_from(rank).ok().filter(|rank| (1..=axes).contains(rank)) else {
            return Err(format!("invalid number of axes {rank}: the array allows 1 to {axes}"));
        };
        let levels =
            u32::try_from(levels).map_err(|_| format!("invalid level count {levels}: it must be at least 0"))?;
        let (batch, whole) = shape.split_at(axes - rank);
        let parts: &[usize] = if complex { &[2] } else { &[] };
        let shape = [&[batch.iter().product()], whole, parts].concat();
        let levels = [&[0], vec![levels; rank].as_slice(), &parts.iter().map(|_| 0).collect::<Vec<_>>()].concat();
        Ok(Key { wavelet: wavelet.into(), boundary: boundary.into(), shape, levels, sample, gpu })
    }

    /// The plan; the first call makes it.
    fn plan(self) -> Result<Arc<Any>, String> {
        PLANS.get(self, Key::make)
    }

    fn make(&self) -> Result<Any, String> {
        let scheme = scheme_of(&self.wavelet)?;
        let mut builder = lifting::Plan::builder(&scheme).shape(&self.shape).levels_per_axis(&self.levels);
        if !self.boundary.is_empty() {
            builder = builder.boundary(self.boundary.parse::<Boundary>()?);
        }
        let made = self.gpu.map_or(Ok(Device::cpu()), Device::cuda);
        made.and_then(|device| Any::build(builder, self.sample, &device)).map_err(|error| error.to_string())
    }
}

/// Finds the wavelet of a name, or compiles a text in the language.
fn scheme_of(wavelet: &str) -> Result<lifting::Scheme, String> {
    let scheme = if wavelet.contains('{') {
        lifting::compile(wavelet).map_err(|error| error.to_string())?.into_iter().next()
    } else {
        Some(lifting::catalogue::find(wavelet).map_err(|error| error.to_string())?)
    };
    Ok(scheme.ok_or("the text has no wavelet")?)
}

/// Failure of a call.
enum Failure {
    Text(String),
    /// An error made by XLA.
    Given(*mut api::Error),
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure::Text(text)
    }
}

fn text(error: impl std::fmt::Display) -> Failure {
    Failure::Text(error.to_string())
}

/// A call whose structure sizes are checked.
struct Call<'a>(&'a CallFrame);

impl Call<'_> {
    /// Argument arrays and result arrays.
    fn buffers(&self) -> Result<(Vec<&Buffer>, Vec<&Buffer>), Failure> {
        let read = |list: &api::Buffers| {
            let count = usize::try_from(list.count).unwrap_or(0);
            // SAFETY: XLA promises `count` entries; only buffers are read.
            (0..count).map(|k| unsafe { (*list.kinds.add(k) == api::BUFFER).then(|| &**list.buffers.add(k)) }).collect()
        };
        let lists: [Option<Vec<&Buffer>>; 2] = [read(&self.0.arguments), read(&self.0.results)];
        match lists {
            [Some(given), Some(results)] => Ok((given, results)),
            _ => Err(text("arguments and results must be arrays")),
        }
    }

    /// The only argument array, and the result arrays.
    fn arrays(&self) -> Result<(&Buffer, Vec<&Buffer>), Failure> {
        let (given, results) = self.buffers()?;
        if given.len() != 1 || !matches!(results.len(), 1 | 2) {
            return Err(text("a transform must have one argument, and one result (on a GPU also scratch memory)"));
        }
        Ok((given[0], results))
    }

    /// The value of the attribute of that name and kind.
    fn attribute(&self, name: &str, kind: i32) -> Result<*const c_void, Failure> {
        let list = &self.0.attributes;
        let found = (0..usize::try_from(list.count).unwrap_or(0)).find(|k| {
            // SAFETY: XLA promises `count` entries, each with a valid name.
            unsafe { *list.kinds.add(*k) == kind && bytes(*list.names.add(*k)) == name.as_bytes() }
        });
        // SAFETY: as above.
        found.map(|k| unsafe { *list.values.add(k) }).ok_or_else(|| text(format!("the call has no attribute `{name}`")))
    }

    fn string(&self, name: &str) -> Result<&str, Failure> {
        let value: *const Bytes = self.attribute(name, api::STRING)?.cast();
        // SAFETY: a string's value is `Bytes`, and lives as long as the call.
        std::str::from_utf8(unsafe { bytes(value) }).map_err(text)
    }

    fn integer(&self, name: &str) -> Result<i64, Failure> {
        let value: *const api::Scalar = self.attribute(name, api::SCALAR)?.cast();
        // SAFETY: a scalar's value is `Scalar`, which names its type.
        unsafe {
            match (*value).sample {
                api::sample::S32 => Ok(i64::from(*(*value).value.cast::<i32>())),
                api::sample::S64 => Ok(*(*value).value.cast::<i64>()),
                _ => Err(text(format!("the attribute `{name}` must be an integer"))),
            }
        }
    }

    fn operation(&self) -> Result<Operation, Failure> {
        Ok(Operation::named(self.string("transform")?, 0)?)
    }

    /// The plan of the call's attributes, for arrays like `given`.
    fn plan(&self, given: &Buffer, gpu: Option<usize>) -> Result<Arc<Any>, Failure> {
        let names = (self.string("wavelet")?, self.string("boundary")?);
        let numbers = (self.integer("rank")?, self.integer("levels")?);
        Ok(Key::new(names, numbers, &shape(given), sample(given)?, gpu)?.plan()?)
    }

    fn stream(&self) -> Result<*mut c_void, Failure> {
        let header = header(std::mem::offset_of!(api::GetStream, stream) + size_of::<usize>());
        let mut asked = api::GetStream { header, context: self.0.context, stream: null_mut() };
        // SAFETY: `handle` checked the size of the function table.
        given(unsafe { ((*self.0.api).get_stream)(&raw mut asked) })?;
        Ok(asked.stream)
    }

    /// Number of the call's CUDA device.
    fn ordinal(&self) -> Result<usize, Failure> {
        let header = header(std::mem::offset_of!(api::GetOrdinal, ordinal) + size_of::<i32>());
        let mut asked = api::GetOrdinal { header, context: self.0.context, ordinal: 0 };
        // SAFETY: as for the stream.
        given(unsafe { ((*self.0.api).get_ordinal)(&raw mut asked) })?;
        usize::try_from(asked.ordinal).map_err(text)
    }

    fn on_cpu(&self) -> Result<(), Failure> {
        let (given, results) = self.arrays()?;
        if same(given, results[0])? {
            return Ok(());
        }
        let (operation, plan) = (self.operation()?, self.plan(given, None)?);
        each!(&*plan, typed => {
            // The plan's shape has the batch axes merged, and an axis for the parts of complex samples.
            let shape = typed.plan.shape();
            let strides = contiguous(shape);
            // SAFETY: XLA owns both arrays, contiguous and disjoint; `same` checked their shapes.
            let (source, mut target) = unsafe {
                let source = Strided::new(given.data.cast_const().cast(), shape, &strides);
                (source, StridedMut::new(results[0].data.cast(), shape, &strides))
            };
            typed.execute(operation, &source, &mut target).map_err(text)
        })
    }

    /// Makes the plan for a CUDA device before graph capture.
    fn prepare_on_gpu(&self) -> Result<(), Failure> {
        let (given, _) = self.arrays()?;
        if shape(given).contains(&0) {
            return Ok(());
        }
        let plan = self.plan(given, Some(self.ordinal()?))?;
        scratch_bytes(&plan, self.operation()?).map(drop).map_err(Failure::from)
    }

    /// Queues the transform on the call's stream.
    fn on_gpu(&self) -> Result<(), Failure> {
        let (given, results) = self.arrays()?;
        if same(given, results[0])? {
            return Ok(());
        }
        let plan = self.plan(given, Some(self.ordinal()?))?;
        // SAFETY: the arrays are on that device, contiguous, and of the plan's shape, as `same` checked.
        unsafe { self.queue(&plan, given, &results) }
    }

    /// Queues a plan of a CUDA device on the call's stream; scratch memory is the second result.
    ///
    /// # Safety
    /// The arrays must be on the plan's device, contiguous, of its shapes, and distinct.
    unsafe fn queue(&self, plan: &Any, given: &Buffer, results: &[&Buffer]) -> Result<(), Failure> {
        let operation = self.operation()?;
        let needed = scratch_bytes(plan, operation)?;
        let scratch = match results.get(1) {
            Some(memory) if memory.sample == api::sample::U8 && shape(memory).iter().product::<usize>() >= needed => {
                memory.data
            }
            _ if needed == 0 => null_mut(),
            _ => return Err(text(format!("the second result must be {needed} bytes of scratch memory"))),
        };
        let (stream, transform) = (self.stream()?, operation.transform(false));
        each!(plan, typed => {
            let on_device = typed.plan.cuda().map_err(text)?;
            let [source, target, scratch] = [given.data, results[0].data, scratch].map(|at| at as u64);
            // SAFETY: by the caller's promise; XLA orders the use of the arrays.
            unsafe { on_device.execute_with_scratch(transform, stream.cast(), source, target, scratch) }.map_err(text)
        })
    }
}

/// The bytes of a span.
///
/// # Safety
/// The span must be valid for the lifetime of the result.
unsafe fn bytes<'a>(span: *const Bytes) -> &'a [u8] {
    // SAFETY: by the caller's promise; an empty span may have a null address.
    unsafe { if (*span).count == 0 { &[] } else { std::slice::from_raw_parts((*span).first, (*span).count) } }
}

fn header(size: usize) -> api::Header {
    api::Header { size, extension: null_mut() }
}

fn given(error: *mut api::Error) -> Result<(), Failure> {
    if error.is_null() { Ok(()) } else { Err(Failure::Given(error)) }
}

fn shape(buffer: &Buffer) -> Vec<usize> {
    let rank = usize::try_from(buffer.rank).unwrap_or(0);
    // SAFETY: XLA promises `rank` entries.
    (0..rank).map(|axis| usize::try_from(unsafe { *buffer.shape.add(axis) }).unwrap_or(0)).collect()
}

/// Sample type, and whether samples are complex.
fn sample(buffer: &Buffer) -> Result<(SampleType, bool), Failure> {
    use api::sample::{BF16, C64, C128, F16, F32, F64, S16, S32, S64};
    Ok(match buffer.sample {
        S16 => (SampleType::I16, false),
        S32 => (SampleType::I32, false),
        S64 => (SampleType::I64, false),
        F16 => (SampleType::F16, false),
        BF16 => (SampleType::Bf16, false),
        F32 => (SampleType::F32, false),
        F64 => (SampleType::F64, false),
        C64 => (SampleType::F32, true),
        C128 => (SampleType::F64, true),
        other => return Err(text(format!("unsupported XLA sample type {other}"))),
    })
}

/// Checks that the result has the argument's shape and type but other memory; returns whether the arrays are empty.
fn same(given: &Buffer, result: &Buffer) -> Result<bool, Failure> {
    let (shape, found) = (shape(given), shape(result));
    if found != shape || result.sample != given.sample {
        let what = "the result must have the shape and type of the argument";
        return Err(text(format!(
            "{what}, {shape:?} of XLA's type {}, but has {found:?} of {}",
            given.sample, result.sample
        )));
    }
    let nothing = shape.contains(&0);
    if !nothing && given.data == result.data {
        return Err(text("the argument and the result share memory"));
    }
    if !(nothing || aligned(given) && aligned(result)) {
        return Err(text("arrays must be aligned to 8 bytes"));
    }
    Ok(nothing)
}

fn aligned(buffer: &Buffer) -> bool {
    (buffer.data as usize).is_multiple_of(size_of::<f64>())
}

fn scratch_bytes(plan: &Any, operation: Operation) -> Result<usize, String> {
    let transform = operation.transform(false);
    let bytes = each!(plan, typed => typed.plan.cuda().and_then(|plan| plan.scratch_bytes(transform)));
    bytes.map_err(|error| error.to_string())
}

/// Answers XLA's metadata request, or runs a call. Errors and panics become errors owned by XLA.
///
/// # Safety
/// `frame` must be a call frame from XLA.
unsafe fn handle(
    frame: *mut CallFrame,
    api_size: usize,
    traits: u32,
    run: fn(&Call<'_>) -> Result<(), Failure>,
) -> *mut api::Error {
    // SAFETY: a frame begins with its header.
    let mut extension = unsafe { (*frame).header.extension };
    while !extension.is_null() {
        // SAFETY: an extension of that kind in XLA's list has metadata to fill in.
        unsafe {
            if (*extension).kind == api::METADATA {
                let metadata = (*extension.cast::<api::MetadataExtension>()).metadata;
                // The handlers use only fields of all versions 0; each call checks sizes.
                ((*metadata).version.major, (*metadata).version.minor) = (0, version_minor(frame));
                (*metadata).traits = traits;
                return null_mut();
            }
            extension = (*extension).next;
        }
    }
    // SAFETY: even the smallest frame has the function table.
    let api = unsafe { (*frame).api };
    let failure = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: frame and table begin with header and version.
        let (found, functions, major) = unsafe { ((*frame).header.size, (*api).header.size, (*api).version.major) };
        if found < api::FRAME_SIZE || functions < api_size || major != 0 {
            let sizes = format!("calls of {found} bytes, {functions} bytes of functions");
            let found = format!("XLA has version {major} of its foreign functions ({sizes})");
            return Err(text(format!("{found}: lifting.jax supports version 0.3 and its extensions")));
        }
        // SAFETY: the size was checked, and XLA keeps the frame alive during the call.
        run(&Call(unsafe { &*frame }))
    }));
    let (message, code) = match failure {
        Ok(Ok(())) => return null_mut(),
        Ok(Err(Failure::Given(error))) => return error,
        Ok(Err(Failure::Text(message))) => (format!("lifting: {message}"), api::INVALID_ARGUMENT),
        Err(panic) => {
            let what = panic.downcast_ref::<String>().map(String::as_str);
            let what = what.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no details");
            (format!("lifting: internal error, please report it: {what}"), api::INTERNAL)
        }
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let header = header(std::mem::offset_of!(api::CreateError, code) + size_of::<i32>());
    let mut asked = api::CreateError { header, message: message.as_ptr(), code };
    // SAFETY: the checked table has this function; it copies the text.
    unsafe { ((*api).create_error)(&raw mut asked) }
}

/// XLA's minor version.
///
/// # Safety
/// `frame` must be a call frame from XLA.
unsafe fn version_minor(frame: *const CallFrame) -> i32 {
    // SAFETY: a function table begins with its header and version.
    unsafe { (*frame).api.as_ref().map_or(0, |api| api.version.minor) }
}

unsafe extern "C" fn execute_on_cpu(frame: *mut CallFrame) -> *mut api::Error {
    let _known = denormals::Known::here();
    // SAFETY: XLA calls with a valid frame.
    unsafe { handle(frame, api::CPU_API_SIZE, 0, |call| call.on_cpu()) }
}

unsafe extern "C" fn level_on_cpu(frame: *mut CallFrame) -> *mut api::Error {
    let _known = denormals::Known::here();
    // SAFETY: XLA calls with a valid frame.
    unsafe { handle(frame, api::CPU_API_SIZE, 0, level::on_cpu) }
}

unsafe extern "C" fn initialize_on_gpu(frame: *mut CallFrame) -> *mut api::Error {
    // SAFETY: XLA calls with a valid frame.
    unsafe { handle(frame, api::GPU_API_SIZE, api::COMMAND_BUFFER_COMPATIBLE, |call| call.prepare_on_gpu()) }
}

unsafe extern "C" fn execute_on_gpu(frame: *mut CallFrame) -> *mut api::Error {
    // SAFETY: XLA calls with a valid frame.
    unsafe { handle(frame, api::GPU_API_SIZE, api::COMMAND_BUFFER_COMPATIBLE, |call| call.on_gpu()) }
}

unsafe extern "C" fn initialize_level_on_gpu(frame: *mut CallFrame) -> *mut api::Error {
    // SAFETY: XLA calls with a valid frame.
    unsafe { handle(frame, api::GPU_API_SIZE, api::COMMAND_BUFFER_COMPATIBLE, level::prepare_on_gpu) }
}

unsafe extern "C" fn level_on_gpu(frame: *mut CallFrame) -> *mut api::Error {
    // SAFETY: XLA calls with a valid frame.
    unsafe { handle(frame, api::GPU_API_SIZE, api::COMMAND_BUFFER_COMPATIBLE, level::on_gpu) }
}

/// Handlers by execution stage, as capsules of function pointers. `platform` is `cpu` or `CUDA` for plans, and
/// `cpu, levels` or `CUDA, levels` for levels.
#[pyfunction]
pub fn xla_handlers<'py>(py: Python<'py>, platform: &str) -> PyResult<Bound<'py, PyDict>> {
    type Handler = unsafe extern "C" fn(*mut CallFrame) -> *mut api::Error;
    let handlers: &[(&str, Handler)] = match platform {
        "cpu" => &[("execute", execute_on_cpu)],
        "cpu, levels" => &[("execute", level_on_cpu)],
        "CUDA" => &[("initialize", initialize_on_gpu), ("execute", execute_on_gpu)],
        "CUDA, levels" => &[("initialize", initialize_level_on_gpu), ("execute", level_on_gpu)],
        _ => return Err(LiftingError::new_err(format!("unknown platform {platform}: choose cpu or CUDA"))),
    };
    let stages = PyDict::new(py);
    for (stage, handler) in handlers {
        // SAFETY: functions live as long as the process, and the capsule frees nothing.
        let capsule = unsafe {
            let made = pyo3::ffi::PyCapsule_New(*handler as *mut c_void, std::ptr::null(), None);
            Bound::from_owned_ptr_or_opt(py, made)
        };
        stages.set_item(stage, capsule.ok_or_else(|| PyMemoryError::new_err("out of memory for a capsule"))?)?;
    }
    Ok(stages)
}

/// Makes the plan of a call on a CUDA device and returns the bytes of its scratch memory, the call's second result.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "these are the call's attributes")]
pub fn xla_scratch_bytes(
    py: Python<'_>,
    transform: &str,
    wavelet: &str,
    rank: i64,
    levels: i64,
    boundary: &str,
    shape: Vec<usize>,
    sample: &str,
    complex: bool,
    gpu: usize,
) -> PyResult<usize> {
    py.detach(|| {
        let sample = (sample.parse::<SampleType>()?, complex);
        let key = Key::new((wavelet, boundary), (rank, levels), &shape, sample, Some(gpu))?;
        scratch_bytes(&*key.plan()?, Operation::named(transform, 0)?)
    })
    .map_err(LiftingError::new_err)
}
