//! What can be wrong with an OpenCL device, its compiler, or a launch.

use lifting_dsl::sample::SampleType;

/// Why an OpenCL device cannot be used, or did not do what it was told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenClError {
    /// The crate was built without OpenCL.
    #[error(
        "lifting was built without its feature `opencl`: build it with `--features opencl`, or use `Device::cpu()`"
    )]
    NotBuilt,
    /// There is no library to load.
    #[error(
        "no OpenCL: the library `libOpenCL` cannot be loaded ({cause}); install an ICD loader (Debian's \
         ocl-icd-libopencl1) and a device's driver (for processors: pocl-opencl-icd), or use `Device::cpu()`"
    )]
    NoLibrary {
        /// What the loader says.
        cause: String,
    },
    /// A library, but no device.
    #[error(
        "OpenCL finds no device: check `clinfo`, install a device's driver (for processors: pocl-opencl-icd), or use \
         `Device::cpu()`"
    )]
    NoDevice,
    /// A device number that does not exist.
    #[error("there is no OpenCL device {ordinal}: this machine has {count}, counted from 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// Number of devices.
        count: usize,
    },
    /// A device whose results would differ.
    #[error("OpenCL device `{device}` cannot hold {sample} samples exactly: it lacks {lacks}; use another device")]
    Inexact {
        /// Its name.
        device: String,
        /// The samples.
        sample: SampleType,
        /// What it lacks.
        lacks: &'static str,
    },
    /// A schedule asks for something that the device's kernels cannot have.
    #[error("OpenCL device `{device}` cannot have this schedule: {reason}")]
    Lacks {
        /// Its name.
        device: String,
        /// What a kernel asks for, and what to do.
        reason: String,
    },
    /// The device's compiler refuses a kernel.
    #[error("the compiler of OpenCL device `{device}` refuses the plan's kernels: {log}")]
    Build {
        /// Its name.
        device: String,
        /// What it says.
        log: String,
    },
    /// The device refuses to do something.
    #[error("OpenCL device `{device}` cannot {what}: {cause}")]
    Refused {
        /// Its name.
        device: String,
        /// What it was to do.
        what: &'static str,
        /// What it says.
        cause: String,
    },
    /// Something of another context was given.
    #[error("{what} is of another context than the plan's device: make it with `OpenClDevice::context()`")]
    WrongContext {
        /// What it is.
        what: &'static str,
    },
    /// Launches of a plan wait for those before them by their order alone.
    #[error("the queue executes out of order, and launches of a plan need their order: make a queue without that")]
    OutOfOrder,
    /// The plan is not for an OpenCL device.
    #[error("the plan is for {device}: build it with `Device::opencl(…)` to execute on device memory")]
    NotOpenCl {
        /// What it is for.
        device: String,
    },
}
