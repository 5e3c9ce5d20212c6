//! An OpenCL device, opened once for the plans on it.

use super::error::OpenClError;
use lifting_dsl::sample::SampleType;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_FP_DENORM, CL_FP_ROUND_TO_NEAREST, Device, get_all_devices};
use opencl3::error_codes::ClError;
use std::fmt;
use std::sync::Arc;

/// `CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT`.
const CORRECT_QUOTIENTS: u64 = 1 << 7;

/// PoCL's compiler moves barriers into branches that only some threads take, and lets the first thread decide for all
/// (seen with 3.0 and 3.1: threads beyond the last column stored). Without optimisation it does not.
const POCL: &str = " -cl-opt-disable";

/// An OpenCL device that this process has opened. Cheap to clone; plans keep it open.
#[derive(Clone)]
pub struct OpenClDevice(Arc<Inner>);

struct Inner {
    ordinal: usize,
    name: String,
    compute_units: u32,
    memory_bytes: usize,
    /// `CL_DEVICE_SINGLE_FP_CONFIG` and `CL_DEVICE_DOUBLE_FP_CONFIG`.
    float_config: [u64; 2],
    /// What its compiler needs to be told whatever the kernels.
    options: &'static str,
    context: Context,
}

/// Whether there is a library. The crate that loads it panics where there is none and it is called all the same.
fn library() -> Result<(), OpenClError> {
    let cause = |e: &dyn fmt::Display| OpenClError::NoLibrary { cause: e.to_string() };
    cl3::load_library().as_ref().map(drop).map_err(|e| cause(e))
}

impl OpenClDevice {
    /// Opens device number `ordinal` of all platforms' devices, in the order in which the loader lists them.
    ///
    /// # Errors
    /// If there is no library, no such device, or it refuses.
    pub fn open(ordinal: usize) -> Result<OpenClDevice, OpenClError> {
        library()?;
        // Without any platform the loader answers by an error.
        let ids = get_all_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default();
        let Some(&id) = ids.get(ordinal) else {
            return Err(match ids.len() {
                0 => OpenClError::NoDevice,
                count => OpenClError::NoSuchDevice { ordinal, count },
            });
        };
        let device = Device::new(id);
        let name = device.name().unwrap_or_else(|_| format!("number {ordinal}"));
        let refused =
            |e: ClError| OpenClError::Refused { device: name.clone(), what: "be opened", cause: e.to_string() };
        let inner = Inner {
            ordinal,
            compute_units: device.max_compute_units().map_err(refused)?,
            memory_bytes: device.global_mem_size().map_err(refused)? as usize,
            // A device without double precision may not know the question.
            float_config: [device.single_fp_config().map_err(refused)?, device.double_fp_config().unwrap_or(0)],
            options: match device.version() {
                Ok(version) if version.contains("PoCL") => POCL,
                _ => "",
            },
            context: Context::from_device(&device).map_err(refused)?,
            name: name.clone(),
        };
        Ok(OpenClDevice(Arc::new(inner)))
    }

    /// Number of devices of this machine.
    ///
    /// # Errors
    /// If there is no library.
    pub fn count() -> Result<usize, OpenClError> {
        library()?;
        Ok(get_all_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default().len())
    }

    /// Its number, counted from 0.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Number of compute units.
    pub fn compute_units(&self) -> u32 {
        self.0.compute_units
    }

    /// Its memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes
    }

    /// Its context, which buffers and queues for plans are made in.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// A new queue, which executes in order.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn queue(&self) -> Result<CommandQueue, OpenClError> {
        // SAFETY: the device is the context's.
        let queue = unsafe { CommandQueue::create(self.context(), self.context().default_device(), 0) };
        queue.map_err(|e| self.refused("make a queue", e))
    }

    pub(super) fn refused(&self, what: &'static str, cause: ClError) -> OpenClError {
        OpenClError::Refused { device: self.0.name.clone(), what, cause: cause.to_string() }
    }

    /// That arithmetic on such samples rounds as everywhere, and what compilers need to be told for it.
    pub(super) fn options(&self, sample: SampleType) -> Result<String, OpenClError> {
        let lacks = |lacks| OpenClError::Inexact { device: self.0.name.clone(), sample, lacks };
        let [single, double] = self.0.float_config;
        let config = match sample {
            SampleType::I16 | SampleType::I32 | SampleType::I64 => {
                return Ok(format!("-cl-std=CL1.2{}", self.0.options));
            }
            SampleType::F16 | SampleType::Bf16 | SampleType::F32 => single,
            SampleType::F64 if double == 0 => return Err(lacks("double precision")),
            SampleType::F64 => double,
        };
        if config & CL_FP_DENORM == 0 {
            return Err(lacks("denormal numbers"));
        }
        if config & CL_FP_ROUND_TO_NEAREST == 0 {
            return Err(lacks("rounding to nearest"));
        }
        let quotients = if single & CORRECT_QUOTIENTS == 0 { "" } else { " -cl-fp32-correctly-rounded-divide-sqrt" };
        Ok(format!("-cl-std=CL1.2{quotients}{}", self.0.options))
    }
}

impl PartialEq for OpenClDevice {
    fn eq(&self, other: &OpenClDevice) -> bool {
        self.0.ordinal == other.0.ordinal
    }
}

impl Eq for OpenClDevice {}

impl fmt::Debug for OpenClDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenClDevice({}, {:?})", self.0.ordinal, self.0.name)
    }
}

impl fmt::Display for OpenClDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "opencl:{}, {}", self.0.ordinal, self.0.name)
    }
}
