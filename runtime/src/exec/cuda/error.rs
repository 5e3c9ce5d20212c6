//! Errors of CUDA devices, drivers, the run-time compiler and launches.

/// Reason why a CUDA device cannot be used, or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The crate was built without CUDA.
    #[error("lifting was built without its feature `cuda`: build it with `--features cuda`")]
    NotBuilt,
    /// There is no driver library.
    #[error(
        "no NVIDIA driver: the library `libcuda` cannot be loaded; install the NVIDIA driver ({} or newer; in a \
         container, start it with the GPUs passed through)", version_text(*needed)
    )]
    NoDriver {
        /// The CUDA version that the driver must support, as 1000·major + 10·minor.
        needed: i32,
    },
    /// The driver is too old for this crate.
    #[error(
        "the NVIDIA driver supports {}, but {} is required: update the driver",
        version_text(*found), version_text(*needed)
    )]
    DriverTooOld {
        /// CUDA version that the driver supports, as 1000·major + 10·minor.
        found: i32,
        /// CUDA version required, as 1000·major + 10·minor.
        needed: i32,
    },
    /// A process that was forked after its parent initialised CUDA.
    #[error(
        "CUDA was initialised before this process was forked, and cannot be used in it: start processes without fork \
         (method `spawn` of Python's multiprocessing), or first use CUDA in the child"
    )]
    Forked,
    /// The driver finds no device.
    #[error("the NVIDIA driver finds no CUDA device: check `nvidia-smi` and the variable CUDA_VISIBLE_DEVICES")]
    NoDevice,
    /// A device number out of range.
    #[error("invalid CUDA device {ordinal}: this machine has {count}, counted from 0")]
    NoSuchDevice {
        /// The requested number.
        ordinal: usize,
        /// Number of devices.
        count: usize,
    },
    /// The device exists but is not available.
    #[error(
        "CUDA device {ordinal} is busy or unavailable ({cause}): another process may hold it exclusively; try again \
         later, or choose another device"
    )]
    Busy {
        /// The device.
        ordinal: usize,
        /// The driver's message.
        cause: String,
    },
    /// The run-time compiler is missing.
    #[error(
        "NVRTC, CUDA's run-time compiler, cannot be loaded (library `libnvrtc`, searched in {searched}): install the \
         CUDA toolkit or the package nvidia-cuda-nvrtc, set LD_LIBRARY_PATH or CUDA_HOME to its folder, or open \
         the device with precompiled kernels"
    )]
    NoNvrtc {
        /// Searched places.
        searched: String,
    },
    /// A kernel does not compile.
    #[error("NVRTC rejects the generated kernels ({cause}, options {options}):\n{log}")]
    Compile {
        /// NVRTC's error code.
        cause: String,
        /// Compiler options.
        options: String,
        /// Compiler log.
        log: String,
    },
    /// Precompiled kernels that do not fit the plan.
    #[error("cannot use the precompiled kernels: {reason}")]
    Module {
        /// Missing part, or the driver's message.
        reason: String,
    },
    /// The device's memory is full. The plan stays usable.
    #[error(
        "out of memory on CUDA device {ordinal}: {what} needs {bytes} bytes, but {free} are free; free memory, or \
         transform fewer samples at a time"
    )]
    OutOfMemory {
        /// The device.
        ordinal: usize,
        /// Purpose of the memory.
        what: &'static str,
        /// Bytes needed.
        bytes: usize,
        /// Bytes that were free.
        free: usize,
    },
    /// An operation that the device's resources or limits do not allow. The plan stays usable.
    #[error("CUDA device {ordinal} cannot {what}: {cause}")]
    Refused {
        /// The device.
        ordinal: usize,
        /// Attempted operation.
        what: &'static str,
        /// The driver's message.
        cause: String,
    },
    /// The device's context has failed: everything on it in this process is lost.
    #[error(
        "the context on CUDA device {ordinal} has failed ({cause}, on trying to {what}): every plan and buffer \
         of this process on it is lost; host data is unharmed; start a new process to use the device again"
    )]
    ContextLost {
        /// The device.
        ordinal: usize,
        /// Attempted operation.
        what: &'static str,
        /// The driver's message.
        cause: String,
    },
    /// An address that is not a multiple of the sample size.
    #[error("the addresses of source and target must be multiples of the sample size, {bytes} bytes")]
    Misaligned {
        /// Size of a sample in bytes.
        bytes: usize,
    },
    /// Data, a stream or a workspace on another device.
    #[error("{what} is on CUDA device {found}, but the plan is for device {expected}")]
    WrongDevice {
        /// The misplaced object.
        what: &'static str,
        /// Its device.
        found: usize,
        /// The plan's device.
        expected: usize,
    },
    /// The plan is not for a CUDA device.
    #[error("the plan is for {device}: build it for a CUDA device to execute on device memory")]
    NotCuda {
        /// The plan's device.
        device: String,
    },
}

/// Formats 13000 as `CUDA 13.0`.
fn version_text(version: i32) -> String {
    format!("CUDA {}.{}", version / 1000, version % 1000 / 10)
}
