//! A CUDA device: opened once, shared by its plans.

use super::cache::Compiled;
use super::error::CudaError;
use super::nvrtc::Architecture;
use super::pinned::CudaPinned;
use super::probe;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};
use cudarc::driver::{CudaContext, CudaStream, DriverError};
use lifting_codegen::machine::Facts;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Properties of a device that planners and users need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Device number, counted from 0.
    pub ordinal: usize,
    /// Name of the device.
    pub name: String,
    /// Compute capability.
    pub architecture: Architecture,
    /// Number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// Lanes of a warp.
    pub warp: u32,
    /// Size of the L2 cache in bytes.
    pub l2_bytes: usize,
    /// Maximum shared memory of a block, in bytes.
    pub shared_bytes_per_block: usize,
    /// Shared memory of a multiprocessor, in bytes.
    pub shared_bytes_per_multiprocessor: usize,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Maximum resident threads of a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Device memory in bytes.
    pub memory_bytes: usize,
    /// Memory clock in kHz; it moves data twice a cycle. `None` if the driver does not report it.
    pub memory_clock: Option<u32>,
    /// Width of the memory bus in bits; `None` if the driver does not report it.
    pub memory_bus: Option<u32>,
}

impl Properties {
    /// The properties in the form that predictions take.
    pub(crate) fn facts(&self) -> Facts<'_> {
        let moved = |(clock, bits): (u32, u32)| 2.0 * f64::from(clock) / 1e3 * f64::from(bits) / 8.0;
        Facts {
            name: &self.name,
            multiprocessors: self.multiprocessors,
            warp: self.warp,
            registers: self.registers_per_multiprocessor,
            shared: self.shared_bytes_per_block as u32,
            l2: self.l2_bytes as u64,
            peak_bandwidth: self.memory_clock.zip(self.memory_bus).map(moved),
        }
    }

    /// Key of devices with the same fastest choices.
    pub(crate) fn kind(&self) -> String {
        format!("{}, {}, {} multiprocessors", self.name, self.architecture, self.multiprocessors)
    }
}

/// A CUDA device opened by this process. Cheap to clone; plans keep it open.
#[derive(Clone)]
pub struct CudaDevice {
    inner: Arc<Inner>,
    kernels: Option<Compiled>,
}

struct Inner {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    properties: Properties,
    lost: AtomicBool,
    /// Pinned memory for copies of host data, between transforms.
    pieces: Mutex<Vec<CudaPinned>>,
}

impl CudaDevice {
    /// Opens device number `ordinal` (its primary context, which other libraries of the process share).
    ///
    /// # Errors
    /// If there is no driver, it is too old, or the device is missing or busy.
    pub fn open(ordinal: usize) -> Result<CudaDevice, CudaError> {
        static OPEN: Mutex<Vec<(usize, Weak<Inner>)>> = Mutex::new(Vec::new());
        probe::driver()?;
        let mut open = OPEN.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(inner) = open.iter().find(|(o, _)| *o == ordinal).and_then(|(_, weak)| weak.upgrade()) {
            return Ok(CudaDevice { inner, kernels: None });
        }
        let device = CudaDevice::open_fresh(ordinal)?;
        open.retain(|(o, _)| *o != ordinal);
        open.push((ordinal, Arc::downgrade(&device.inner)));
        Ok(device)
    }

    fn open_fresh(ordinal: usize) -> Result<CudaDevice, CudaError> {
        let count = CudaDevice::count()?;
        if count == 0 {
            return Err(CudaError::NoDevice);
        }
        if ordinal >= count {
            return Err(CudaError::NoSuchDevice { ordinal, count });
        }
        let busy = |e: DriverError| open_error(ordinal, e.0, describe(e));
        let context = CudaContext::new(ordinal).map_err(busy)?;
        let stream = context.new_stream().map_err(busy)?;
        let properties = properties(&context, ordinal).map_err(busy)?;
        keep_freed(&context, properties.memory_bytes / KEPT);
        let inner =
            Arc::new(Inner { context, stream, properties, lost: AtomicBool::new(false), pieces: Mutex::default() });
        Ok(CudaDevice { inner, kernels: None })
    }

    /// The device with precompiled kernels: plans built on it load their kernels from there and need no NVRTC.
    /// [`PlanBuilder::cuda_source`](crate::PlanBuilder::cuda_source) and `liftc kernels` give the source. Kernels are
    /// found by names that end in a fingerprint: kernels of other plans or versions are an error.
    pub fn with_kernels(&self, kernels: Compiled) -> CudaDevice {
        CudaDevice { inner: self.inner.clone(), kernels: Some(kernels) }
    }

    pub(super) fn kernels(&self) -> Option<&Compiled> {
        self.kernels.as_ref()
    }

    /// Number of CUDA devices of this machine.
    ///
    /// # Errors
    /// If there is no driver, or it is too old.
    pub fn count() -> Result<usize, CudaError> {
        match probe::driver() {
            Err(CudaError::NoDevice) => return Ok(0),
            other => other?,
        };
        match CudaContext::device_count() {
            Ok(count) => Ok(usize::try_from(count).unwrap_or(0)),
            Err(e) if e.0 == CUresult::CUDA_ERROR_NO_DEVICE => Ok(0),
            Err(e) => Err(CudaError::Refused { ordinal: 0, what: "be counted", cause: describe(e) }),
        }
    }

    /// Properties of the device.
    pub fn properties(&self) -> &Properties {
        &self.inner.properties
    }

    /// Device number, counted from 0.
    pub fn ordinal(&self) -> usize {
        self.inner.properties.ordinal
    }

    /// The context, for cudarc's own functions.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.inner.context
    }

    /// This crate's stream, which plans use for host data.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.inner.stream
    }

    /// A new stream.
    ///
    /// # Errors
    /// If the driver cannot make one.
    pub fn new_stream(&self) -> Result<Arc<CudaStream>, CudaError> {
        self.ready()?;
        self.inner.context.new_stream().map_err(|e| self.error("make a stream", e))
    }

    /// Waits for all work on the device.
    ///
    /// # Errors
    /// If earlier work on the device has failed.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.ready()?;
        self.inner.context.synchronize().map_err(|e| self.error("finish", e))
    }

    /// Whether the context still works. After a failure, this process cannot use it again.
    pub fn is_usable(&self) -> bool {
        !self.inner.lost.load(Ordering::Relaxed)
    }

    /// Pinned memory that no copy uses.
    pub(super) fn pieces(&self) -> MutexGuard<'_, Vec<CudaPinned>> {
        self.inner.pieces.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Makes the context current in this thread.
    pub(super) fn ready(&self) -> Result<(), CudaError> {
        probe::driver()?;
        self.inner.context.bind_to_thread().map_err(|e| self.error("be used", e))
    }

    /// Translates a driver's error; records a lost context.
    pub(super) fn error(&self, what: &'static str, e: DriverError) -> CudaError {
        let ordinal = self.ordinal();
        if is_fatal(e.0) {
            self.inner.lost.store(true, Ordering::Relaxed);
            return CudaError::ContextLost { ordinal, what, cause: describe(e) };
        }
        CudaError::Refused { ordinal, what, cause: describe(e) }
    }

    /// Translates a failed allocation.
    pub(super) fn allocation_error(&self, what: &'static str, bytes: usize, e: DriverError) -> CudaError {
        if e.0 != CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return self.error("allocate memory", e);
        }
        let free = self.inner.context.mem_get_info().map_or(0, |(free, _)| free);
        CudaError::OutOfMemory { ordinal: self.ordinal(), what, bytes, free }
    }
}

impl PartialEq for CudaDevice {
    fn eq(&self, other: &CudaDevice) -> bool {
        self.ordinal() == other.ordinal() && self.kernels == other.kernels
    }
}

impl Eq for CudaDevice {}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CudaDevice").field(self.properties()).finish()
    }
}

impl fmt::Display for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.properties();
        write!(f, "cuda {}, {} ({}, {} multiprocessors)", p.ordinal, p.name, p.architecture, p.multiprocessors)
    }
}

/// Name and text of an error: `CUDA_ERROR_OUT_OF_MEMORY: out of memory`.
pub(super) fn describe(e: DriverError) -> String {
    let text = |s: Result<&std::ffi::CStr, DriverError>| s.map(|s| s.to_string_lossy().into_owned()).ok();
    match (text(e.error_name()), text(e.error_string())) {
        (Some(name), Some(words)) => format!("{name}: {words}"),
        _ => format!("{:?}", e.0),
    }
}

/// Reason why an existing device cannot be opened.
fn open_error(ordinal: usize, code: CUresult, cause: String) -> CudaError {
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY
        | CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE
        | CUresult::CUDA_ERROR_MPS_MAX_CLIENTS_REACHED
        | CUresult::CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED
        | CUresult::CUDA_ERROR_SYSTEM_NOT_READY => CudaError::Busy { ordinal, cause },
        _ => CudaError::Refused { ordinal, what: "be opened", cause },
    }
}

/// Errors after which the driver refuses all further work in the context.
fn is_fatal(code: CUresult) -> bool {
    use CUresult::*;
    matches!(
        code,
        CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_EXTERNAL_DEVICE
            | CUDA_ERROR_DEINITIALIZED
    )
}

/// Part of the device's memory that stays allocated after it is freed, until the process ends: one in this many.
const KEPT: usize = 16;

/// Lets the device keep freed memory up to this size for the next allocation. By default, each wait for a stream gives
/// all of it back, and the next transform of host data allocates it again.
fn keep_freed(context: &CudaContext, bytes: usize) {
    let mut pool = std::ptr::null_mut();
    let mut threshold = bytes as u64;
    // SAFETY: plain driver calls with a value of the attribute's type. Without pools, nothing changes.
    unsafe {
        if sys::cuDeviceGetDefaultMemPool(&mut pool, context.cu_device()).result().is_ok() {
            let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            let _ = sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast()).result();
        }
    }
}

fn properties(context: &CudaContext, ordinal: usize) -> Result<Properties, DriverError> {
    use Attribute::*;
    let get = |attribute| context.attribute(attribute).map(|v| u32::try_from(v).unwrap_or(0));
    // Newer drivers may not report this.
    let told = |attribute| get(attribute).ok().filter(|&v| v > 0);
    let (major, minor) = context.compute_capability()?;
    Ok(Properties {
        ordinal,
        name: context.name()?,
        architecture: Architecture { major: major as u32, minor: minor as u32 },
        multiprocessors: get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        warp: get(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        l2_bytes: get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
        shared_bytes_per_block: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize,
        shared_bytes_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)? as usize,
        registers_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        threads_per_multiprocessor: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        memory_bytes: context.total_mem()?,
        memory_clock: told(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
        memory_bus: told(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3201 MHz and 6144 bits (an H200) move 4.9 TB/s.
    #[test]
    fn memory_bandwidth_follows_clock_and_bus() {
        let properties = Properties {
            ordinal: 0,
            name: "a device".into(),
            architecture: Architecture { major: 9, minor: 0 },
            multiprocessors: 132,
            warp: 32,
            l2_bytes: 50 << 20,
            shared_bytes_per_block: 0,
            shared_bytes_per_multiprocessor: 0,
            registers_per_multiprocessor: 1 << 16,
            threads_per_multiprocessor: 2048,
            memory_bytes: 0,
            memory_clock: Some(3_201_000),
            memory_bus: Some(6144),
        };
        assert_eq!(properties.facts().peak_bandwidth, Some(4_916_736.0));
        assert_eq!(Properties { memory_bus: None, ..properties }.facts().peak_bandwidth, None);
    }

    /// Opening answers with or without a device, and never panics.
    #[test]
    fn opening_answers() {
        match CudaDevice::count() {
            Ok(0) => assert_eq!(CudaDevice::open(0).unwrap_err(), CudaError::NoDevice),
            Ok(count) => {
                let device = CudaDevice::open(0).unwrap();
                assert_eq!(device, CudaDevice::open(0).unwrap());
                assert!(device.is_usable());
                let error = CudaDevice::open(count).unwrap_err();
                assert_eq!(error, CudaError::NoSuchDevice { ordinal: count, count });
            }
            Err(error) => {
                assert_eq!(CudaDevice::open(0).unwrap_err(), error);
                assert!(error.to_string().contains("NVIDIA driver"), "{error}");
            }
        }
    }

    /// A device that another process holds is busy; a broken one is not.
    #[test]
    fn busy_devices_are_distinguished_from_broken_ones() {
        let busy = open_error(1, CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE, "held".into());
        assert!(matches!(&busy, CudaError::Busy { ordinal: 1, .. }), "{busy}");
        assert!(busy.to_string().contains("another process may hold it exclusively"), "{busy}");
        let full = open_error(0, CUresult::CUDA_ERROR_OUT_OF_MEMORY, "full".into());
        assert!(matches!(full, CudaError::Busy { .. }), "{full}");
        let broken = open_error(0, CUresult::CUDA_ERROR_ECC_UNCORRECTABLE, "broken".into());
        assert!(matches!(&broken, CudaError::Refused { what: "be opened", .. }), "{broken}");
    }

    #[test]
    fn launch_failures_lose_the_context() {
        assert!(is_fatal(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
        assert!(is_fatal(CUresult::CUDA_ERROR_LAUNCH_FAILED));
        assert!(!is_fatal(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
        assert!(!is_fatal(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
    }
}
