//! An OpenCL device, opened once for its plans.

use super::error::OpenClError;
use lifting_codegen::back::{Dialect, OpenCl};
use lifting_codegen::ir::WARP;

use lifting_dsl::sample::SampleType;
use lifting_planner::Machine;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{
    CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_FP_DENORM, CL_FP_ROUND_TO_NEAREST, Device, get_all_devices,
};
use opencl3::error_codes::ClError;
use opencl3::types::cl_device_id;
use std::fmt;
use std::sync::{Arc, Mutex};

/// `CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT`.
const CORRECT_QUOTIENTS: u64 = 1 << 7;

/// `CL_DEVICE_SUB_GROUP_SIZES_INTEL`, of `cl_intel_required_subgroup_size`.
const SUB_GROUP_SIZES: u32 = 0x4108;

/// PoCL's compiler moves barriers into divergent branches and lets the first thread decide for all (seen with 3.0 and
/// 3.1: threads beyond the last column stored). Without optimisation it does not.
const POCL: &str = " -cl-opt-disable";

/// An OpenCL device opened by this process. Cheap to clone; plans keep it open.
#[derive(Clone)]
pub struct OpenClDevice(Arc<Inner>);

struct Inner {
    ordinal: usize,
    name: String,
    compute_units: u32,
    memory_bytes: usize,
    /// Maximum local memory of a work-group, in bytes.
    local_bytes: usize,
    dialect: OpenCl,
    is_processor: bool,
    /// `CL_DEVICE_SINGLE_FP_CONFIG` and `CL_DEVICE_DOUBLE_FP_CONFIG`.
    float_config: [u64; 2],
    /// Compiler options for all kernels.
    options: &'static str,
    context: Context,
}

/// Checks that the library is available: the crate that loads it panics if called without it.
fn library() -> Result<(), OpenClError> {
    let cause = |e: &dyn fmt::Display| OpenClError::NoLibrary { cause: e.to_string() };
    cl3::load_library().as_ref().map(drop).map_err(|e| cause(e))
}

/// All platforms' devices, in the loader's order. Without any platform the loader returns an error. Queries are
/// serialised: PoCL 3.1 creates its devices at the first query, and hands them to another thread before they are
/// finished.
fn devices() -> Vec<cl_device_id> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    get_all_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default()
}

/// Kernel dialect of a device: with sub-groups of 32 lanes, like warps, if it supports them; else with the largest
/// available.
fn dialect(device: &Device) -> OpenCl {
    let (version, extensions) = (device.version().unwrap_or_default(), device.extensions().unwrap_or_default());
    let has = |name| extensions.split_whitespace().any(|extension| extension == name);
    // Version string "OpenCL 3.0 …": older compilers do not accept the language version of these kernels.
    let is_recent = version.split(['.', ' ']).nth(1).and_then(|v| v.parse().ok()).is_some_and(|major: u32| major >= 3);
    if !is_recent || !OpenCl::EXTENSIONS.into_iter().all(has) {
        return OpenCl::PORTABLE;
    }
    let sizes = device.get_data(SUB_GROUP_SIZES).unwrap_or_default();
    let sizes =
        sizes.chunks_exact(size_of::<usize>()).map(|bytes| usize::from_ne_bytes(bytes.try_into().unwrap_or_default()));
    let usable = sizes.filter(|n| n.is_power_of_two() && (8..=64).contains(n));
    match usable.max_by_key(|&n| (n == WARP as usize, n)) {
        Some(lanes) => OpenCl::with_sub_groups(lanes as u32),
        None => OpenCl::PORTABLE,
    }
}

impl OpenClDevice {
    /// Opens device number `ordinal` of all platforms' devices, in the loader's order.
    ///
    /// # Errors
    /// If the library or the device is missing, or the device refuses.
    pub fn open(ordinal: usize) -> Result<OpenClDevice, OpenClError> {
        library()?;
        let ids = devices();
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
            local_bytes: device.local_mem_size().map_err(refused)? as usize,
            dialect: dialect(&device),
            is_processor: device.dev_type().map_err(refused)? & CL_DEVICE_TYPE_CPU != 0,
            // A device without double precision may not support the query.
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
    /// If the library is missing.
    pub fn count() -> Result<usize, OpenClError> {
        library()?;
        Ok(devices().len())
    }

    /// Device number, counted from 0.
    pub fn ordinal(&self) -> usize {
        self.0.ordinal
    }

    /// Name of the device.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Number of compute units.
    pub fn compute_units(&self) -> u32 {
        self.0.compute_units
    }

    /// Size of the memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.0.memory_bytes
    }

    /// Dialect of the kernels: with sub-groups, if the device has shuffles and kernels can set the sub-group size.
    pub(crate) fn dialect(&self) -> OpenCl {
        self.0.dialect
    }

    /// Whether plans take schedules with shuffles by default. A processor's compiler spends half a minute or more on
    /// them, so processors take them only on request.
    pub(crate) fn takes_shuffles(&self) -> bool {
        self.sub_group().is_some() && !self.0.is_processor
    }

    /// Machine model for the planner.
    pub(crate) fn machine(&self) -> Machine {
        let shared = u32::try_from(self.0.local_bytes).unwrap_or(u32::MAX);
        let mut machine = Machine::default().with_multiprocessors(self.0.compute_units);
        machine.warp = self.0.dialect.warp();
        machine.shared = shared.min(machine.shared);
        machine
    }

    /// Lanes of a sub-group; `None` if the kernels do not use sub-groups.
    pub fn sub_group(&self) -> Option<u32> {
        self.0.dialect.lanes()
    }

    /// Context for the buffers and queues of plans.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Makes a queue that executes in order.
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

    /// Checks that arithmetic on these samples rounds exactly, and returns the compiler options for it.
    pub(super) fn options(&self, sample: SampleType) -> Result<String, OpenClError> {
        let lacks = |lacks| OpenClError::Inexact { device: self.0.name.clone(), sample, lacks };
        let [single, double] = self.0.float_config;
        let config = match sample {
            SampleType::I16 | SampleType::I32 | SampleType::I64 => {
                return Ok(self.0.options.to_owned());
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
        Ok(format!("{quotients}{}", self.0.options))
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
