//! Plans on CUDA devices.
//!
//! Nothing here panics where there is no CUDA: the driver and the run-time compiler are probed before they are
//! called, and what is missing is a [`CudaError`] that says what to do.
//!
//! The launches of plans of up to 2²⁴ samples, and of others those for up to 2²², overlap, from compute capability 9.0
//! on: each kernel begins while the one before still runs, and waits for its end before it touches what that may have
//! written. With `LIFTING_OVERLAP=1` in the environment all launches of plans that are built from then on do, with `0`
//! none. What is launched on the stream before and after a plan is ordered as ever. Plans with
//! [`CudaDevice::with_kernels`] never do it, as their kernels may not wait.
//!
//! File by file: `probe` finds the libraries; `device` opens a device; `nvrtc` compiles, `cache` remembers; `launch`
//! hands lists of launches to the driver; `plan` is what users execute; `host` takes host data through it; `time`
//! measures it; `kernels` launches what is no plan's.

mod error;

#[cfg(feature = "cuda")]
mod cache;
#[cfg(feature = "cuda")]
#[cfg(feature = "cuda")]
mod device;
#[cfg(feature = "cuda")]
mod host;
#[cfg(feature = "cuda")]
mod kernels;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod nvrtc;
#[cfg(feature = "cuda")]
#[cfg(feature = "cuda")]
mod plan;
#[cfg(feature = "cuda")]
mod probe;
#[cfg(feature = "cuda")]
mod time;

pub use error::CudaError;

#[cfg(feature = "cuda")]
pub use {
    cache::{Compiled, compile},
    cudarc,
    device::{CudaDevice, Properties},
    launch::CudaGraph,
    nvrtc::Architecture,
    plan::{CudaPlan, CudaWorkspace, Transform},
};

#[cfg(feature = "cuda")]
pub(crate) use {
    kernels::{CudaArg, CudaKernels},
    plan::Span,
};

/// Whether there is a run-time compiler, or what is missing.
#[cfg(feature = "cuda")]
pub(crate) fn compiles() -> Result<(), CudaError> {
    probe::nvrtc().map(drop)
}
