//! An OpenCL device, opened once for the plans on it.

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
    /// Bytes of memory that a work-group can have.
    local_bytes: usize,
    dialect: OpenCl,
    is_processor: bool,
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

/// All platforms' devices, in the order in which the loader lists them. Without any platform the loader answers by an
/// error. One thread at a time asks: PoCL 3.1 makes its devices at the first question, and gives them to another thread
/// before they are finished.
fn devices() -> Vec<cl_device_id> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    get_all_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default()
}

/// What a device's kernels are written in: with sub-groups of 32 lanes where it can have them, as warps have elsewhere;
/// else with the largest that there are.
fn dialect(device: &Device) -> OpenCl {
    let (version, extensions) = (device.version().unwrap_or_default(), device.extensions().unwrap_or_default());
    let has = |name| extensions.split_whitespace().any(|extension| extension == name);
    // "OpenCL 3.0 …": before it, compilers do not know the version in which these kernels are written.
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
    /// Opens device number `ordinal` of all platforms' devices, in the order in which the loader lists them.
    ///
    /// # Errors
    /// If there is no library, no such device, or it refuses.
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
        Ok(devices().len())
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

    /// The dialect of its kernels: with sub-groups, where it has them with shuffles and lets kernels say their size.
    pub(crate) fn dialect(&self) -> OpenCl {
        self.0.dialect
    }

    /// Whether plans take schedules with shuffles unasked. A processor's compiler works on these for half a minute or
    /// more, so there they are taken where they are named.
    pub(crate) fn takes_shuffles(&self) -> bool {
        self.sub_group().is_some() && !self.0.is_processor
    }

    /// What plans take it for.
    pub(crate) fn machine(&self) -> Machine {
        let shared = u32::try_from(self.0.local_bytes).unwrap_or(u32::MAX);
        let mut machine = Machine::default().with_multiprocessors(self.0.compute_units);
        machine.warp = self.0.dialect.warp();
        machine.shared = shared.min(machine.shared);
        machine
    }

    /// Lanes of the sub-groups that its kernels have; nothing where they do without.
    pub fn sub_group(&self) -> Option<u32> {
        self.0.dialect.lanes()
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
