//! Plans on OpenCL devices.
//!
//! The library of the system (`libOpenCL`, an ICD loader) is looked for when a device is opened; where it is not, or
//! where it knows no device, that is an [`OpenClError`] which says what to do. Where a device has sub-groups with
//! shuffles, these are warps, and plans have all schedules; elsewhere, and on processors unless a schedule is named,
//! kernels go through shared memory and barriers. Results are those of all other devices, to the bit: devices that
//! flush denormal numbers or round otherwise are refused for real samples.
//!
//! Plans take host data, and buffers of the device by [`Plan::opencl`](crate::Plan::opencl).
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
