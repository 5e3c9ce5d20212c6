//! What can be wrong with a CUDA device, its driver, its compiler, or a launch.

/// Why a CUDA device cannot be used, or did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The crate was built without CUDA.
    #[error("lifting was built without its feature `cuda`: build it with `--features cuda`, or use `Device::cpu()`")]
    NotBuilt,
    /// There is no driver library.
    #[error(
        "no NVIDIA driver: the library `libcuda` cannot be loaded; install the NVIDIA driver ({} or newer; in a container, \
         start it with the GPUs passed through), or use `Device::cpu()`", version_text(*needed)
    )]
    NoDriver {
        /// The CUDA version that the driver must support, as 1000·major + 10·minor.
        needed: i32,
    },
    /// The driver is older than this crate can talk to.
    #[error(
        "the NVIDIA driver supports {} and {} is needed: update the driver, or use `Device::cpu()`",
        version_text(*found), version_text(*needed)
    )]
    DriverTooOld {
        /// The CUDA version that the driver supports, as 1000·major + 10·minor.
        found: i32,
        /// The CUDA version that it must support.
        needed: i32,
    },
    /// A driver, but no device.
    #[error(
        "the NVIDIA driver finds no CUDA device: check `nvidia-smi` and the variable CUDA_VISIBLE_DEVICES, or use \
         `Device::cpu()`"
    )]
    NoDevice,
    /// A device number that does not exist.
    #[error("there is no CUDA device {ordinal}: this machine has {count}, counted from 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// Number of devices.
        count: usize,
    },
    /// The device exists and cannot be had.
    #[error(
        "CUDA device {ordinal} is busy or unavailable ({cause}): another process may hold it exclusively; try again later, \
         or choose another device"
    )]
    Busy {
        /// The device.
        ordinal: usize,
        /// What the driver says.
        cause: String,
    },
    /// The run-time compiler is missing.
    #[error(
        "NVRTC, CUDA's run-time compiler, cannot be loaded (library `libnvrtc`, looked for in {searched}): install the CUDA \
         toolkit or the package nvidia-cuda-nvrtc, set LD_LIBRARY_PATH or CUDA_HOME to where it is, or \
         open the device with kernels that were compiled before"
    )]
    NoNvrtc {
        /// Where it was looked for.
        searched: String,
    },
    /// A kernel does not compile.
    #[error("NVRTC refuses the generated kernels ({cause}, options {options}):\n{log}")]
    Compile {
        /// NVRTC's error code.
        cause: String,
        /// What it was told.
        options: String,
        /// Its log.
        log: String,
    },
    /// Compiled kernels from outside that do not fit the plan.
    #[error("the compiled module given to the plan cannot be used: {reason}")]
    Module {
        /// What is missing, or what the driver says.
        reason: String,
    },
    /// The device's memory is full. The plan stays usable.
    #[error(
        "out of memory on CUDA device {ordinal}: {what} needs {bytes} bytes and {free} are free; free some, transform in \
         parts, or use a plan with fewer samples at a time"
    )]
    OutOfMemory {
        /// The device.
        ordinal: usize,
        /// What the memory is for.
        what: &'static str,
        /// Bytes needed.
        bytes: usize,
        /// Bytes that were free.
        free: usize,
    },
    /// A launch that the device's resources or limits do not allow. The plan stays usable.
    #[error("CUDA device {ordinal} cannot {what}: {cause}")]
    Refused {
        /// The device.
        ordinal: usize,
        /// What was attempted.
        what: &'static str,
        /// What the driver says.
        cause: String,
    },
    /// The context on the device has failed: everything on it in this process is lost.
    #[error(
        "the context on CUDA device {ordinal} has failed ({cause}, noticed when trying to {what}): every plan and buffer of \
         this process on it is unusable; host data is unharmed; start a new process to use the device again"
    )]
    ContextLost {
        /// The device.
        ordinal: usize,
        /// What was attempted.
        what: &'static str,
        /// What the driver says.
        cause: String,
    },
    /// An address between two samples.
    #[error("source and target must begin at multiples of the {bytes} bytes of a sample")]
    Misaligned {
        /// Size of a sample.
        bytes: usize,
    },
    /// Data, a stream or a workspace of another device.
    #[error("{what} is on CUDA device {found}, and the plan is for device {expected}")]
    WrongDevice {
        /// What is elsewhere.
        what: &'static str,
        /// Where it is.
        found: usize,
        /// Where it should be.
        expected: usize,
    },
    /// The plan is not for a CUDA device.
    #[error("the plan is for {device}: build it with `Device::cuda(…)` to execute on device memory")]
    NotCuda {
        /// What it is for.
        device: String,
    },
}

/// 13000 as `CUDA 13.0`.
fn version_text(version: i32) -> String {
    format!("CUDA {}.{}", version / 1000, version % 1000 / 10)
}
