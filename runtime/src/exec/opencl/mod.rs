//! Plans on OpenCL devices.
//!
//! Opening a device loads the system's library (`libOpenCL`, an ICD loader). If the library or a device is missing, the
//! [`OpenClError`] says what to do. On devices with sub-group shuffles, sub-groups act as warps, and plans have all
//! schedules. On other devices, and on processors unless a schedule is named, kernels use shared memory and barriers.
//! Results equal those of all other devices bit for bit: devices that flush denormal numbers or round differently are
//! refused for real samples.
//!
//! Plans take host data, and the device's buffers through [`Plan::opencl`](crate::Plan::opencl).
//!
//! File by file: `device` opens a device, `plan` executes.

mod error;

#[cfg(feature = "opencl")]
mod device;
#[cfg(feature = "opencl")]
mod plan;

pub use error::OpenClError;

#[cfg(feature = "opencl")]
pub use {
    device::OpenClDevice,
    opencl3,
    plan::{OpenClPlan, OpenClWorkspace},
};
