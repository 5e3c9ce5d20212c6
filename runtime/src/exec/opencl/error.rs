//! Errors of OpenCL devices, their compilers and launches.

use lifting_dsl::sample::SampleType;

/// Reason why an OpenCL device cannot be used, or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenClError {
    /// The crate was built without OpenCL.
    #[error("lifting was built without its feature `opencl`: build it with `--features opencl`")]
    NotBuilt,
    /// There is no library to load.
    #[error(
        "no OpenCL: the library `libOpenCL` cannot be loaded ({cause}); install an ICD loader (Debian's \
         ocl-icd-libopencl1) and a device's driver (for processors: pocl-opencl-icd)"
    )]
    NoLibrary {
        /// The loader's message.
        cause: String,
    },
    /// The library finds no device.
    #[error(
        "OpenCL finds no device: check `clinfo`, install a device's driver (for processors: pocl-opencl-icd), or use \
         the CPU"
    )]
    NoDevice,
    /// A device number out of range.
    #[error("invalid OpenCL device {ordinal}: this machine has {count}, counted from 0")]
    NoSuchDevice {
        /// The requested number.
        ordinal: usize,
        /// Number of devices.
        count: usize,
    },
    /// A device with inexact arithmetic.
    #[error("OpenCL device `{device}` is inexact on {sample} samples: it lacks {lacks}; use another device")]
    Inexact {
        /// Name of the device.
        device: String,
        /// The samples.
        sample: SampleType,
        /// The missing property.
        lacks: &'static str,
    },
    /// A schedule that needs an unsupported feature.
    #[error("OpenCL device `{device}` does not support this schedule: {reason}")]
    Lacks {
        /// Name of the device.
        device: String,
        /// The missing feature, and the remedy.
        reason: String,
    },
    /// The device's compiler rejects a kernel.
    #[error("the compiler of OpenCL device `{device}` rejects the plan's kernels: {log}")]
    Build {
        /// Name of the device.
        device: String,
        /// Compiler log.
        log: String,
    },
    /// The device refuses an operation.
    #[error("OpenCL device `{device}` cannot {what}: {cause}")]
    Refused {
        /// Name of the device.
        device: String,
        /// Attempted operation.
        what: &'static str,
        /// The device's message.
        cause: String,
    },
    /// An object of another context.
    #[error("{what} belongs to another context than the plan's device: make it with `OpenClDevice::context()`")]
    WrongContext {
        /// The object.
        what: &'static str,
    },
    /// An out-of-order queue: launches of a plan rely on their order.
    #[error("the queue executes out of order, but a plan needs its launches in order: use an in-order queue")]
    OutOfOrder,
    /// The plan is not for an OpenCL device.
    #[error("the plan is for {device}: build it for an OpenCL device to execute on device memory")]
    NotOpenCl {
        /// The plan's device.
        device: String,
    },
}
