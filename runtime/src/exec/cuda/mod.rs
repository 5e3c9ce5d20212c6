//! Plans on CUDA devices.
//!
//! This module does not panic without CUDA: it probes the driver and the run-time compiler before calling them.
//! Anything missing is a [`CudaError`] that says what to do.
//!
//! Launches overlap from compute capability 9.0 on: all launches of plans of up to 2²⁴ samples, and launches of up to
//! 2²² samples in larger plans. Each kernel begins while the previous one still runs, and waits for its end before
//! touching its results. The environment variable `LIFTING_OVERLAP` set to `1` makes all launches of plans built
//! afterwards overlap, `0` none. The order with other work on the stream is unaffected. Plans with
//! [`CudaDevice::with_kernels`] never overlap, as their kernels may not wait.
//!
//! File by file: `probe` finds the libraries; `device` opens a device; `nvrtc` compiles, `cache` stores; `launch`
//! submits lists of launches; `plan` is the user's interface; `host` transforms host data, through `pinned` memory;
//! `peer` copies between devices; `time` measures; `kernels` launches user kernels.

mod error;

#[cfg(feature = "cuda")]
mod cache;
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
mod peer;
#[cfg(feature = "cuda")]
mod pinned;
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
    peer::{Lane, PeerArray, connect},
    pinned::CudaPinned,
    plan::Span,
};

/// Checks that the run-time compiler is available.
#[cfg(feature = "cuda")]
pub(crate) fn compiles() -> Result<(), CudaError> {
    probe::nvrtc().map(drop)
}
