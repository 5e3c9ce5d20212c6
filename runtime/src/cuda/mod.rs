//! Plans on CUDA devices.
//!
//! Nothing here panics where there is no CUDA: the driver and the run-time compiler are probed before they are
//! called, and what is missing is a [`CudaError`] that says what to do.
//!
//! File by file: `probe` finds the libraries; `device` opens a device; `nvrtc` compiles, `cache` remembers.

mod error;

#[cfg(feature = "cuda")]
mod cache;
#[cfg(feature = "cuda")]
mod device;
#[cfg(feature = "cuda")]
mod nvrtc;
#[cfg(feature = "cuda")]
mod probe;

pub use error::CudaError;

#[cfg(feature = "cuda")]
pub use {
    cache::{Compiled, compile},
    cudarc,
    device::{CudaDevice, Properties},
    nvrtc::Architecture,
};
