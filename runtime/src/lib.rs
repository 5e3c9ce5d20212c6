//! Lifting-scheme wavelet transforms: plan once, execute many times.
//!
//! ```
//! use lifting::{Boundary, Device, Plan, catalogue};
//!
//! let wavelet = catalogue::find("cdf97")?;
//! let plan = Plan::builder(&wavelet)
//!     .shape(&[1080, 1920])
//!     .levels(3)
//!     .sample::<f32>()
//!     .boundary(Boundary::WholeSymmetric)
//!     .build(&Device::cpu())?;
//!
//! let image = vec![0.5f32; 1080 * 1920];
//! let mut coefficients = vec![0.0; 1080 * 1920];
//! plan.forward(&image, &mut coefficients)?;
//! for band in plan.subbands() {
//!     println!("{} {:?} at {:?}", band.name, band.shape, band.offset);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A wavelet is a [`Scheme`]: from the [`catalogue`], or from text in the Lifting language, at compile time
//! ([`lifting!`]) or at run time ([`compile`], [`load`]). A [`Plan`] is made for one wavelet, shape and sample type. It
//! reads and writes slices with any strides, and `ndarray` arrays (feature `ndarray`, on by default).
//!
//! Integer wavelets (`i16`, `i32`, `i64`) are lossless for every input. Real ones (`f32`, `f64`, and `f16`, `bf16` as
//! storage) give the same bits on every machine.
//!
//! # Features
//!
//! All are on by default, and none changes the results.
//!
//! - `cuda`: plans on CUDA devices; harmless on machines without CUDA. It enables `wisdom`.
//! - `opencl`: plans on OpenCL devices; harmless on machines without OpenCL.
//! - `macros`: [`lifting!`], wavelets in Rust source.
//! - `ndarray`: plans read and write `ndarray` arrays and views.
//! - `threads`: large transforms on the CPU use all its threads, through rayon.
//! - `wisdom`: plans read measurements from files and write them ([`Wisdom`]).

#![warn(missing_docs)]

mod builder;
pub mod catalogue;
mod cpu;
mod data;
mod device;
mod error;
mod exec;
mod expansive;
#[cfg(feature = "macros")]
mod macros;
mod plan;
mod sample;
mod subband;
mod text;
#[doc(hidden)]
pub mod threads;
mod tune;

pub use builder::{Pad, PlanBuilder};
pub use cpu::{Lines, Stationary};
pub use data::{MAX_RANK, Source, Strided, StridedMut, Target};
pub use device::Device;
pub use error::PlanError;
pub use exec::Workspace;
pub use exec::cuda;
pub use exec::kernels;
pub use exec::opencl;
pub use exec::slabs::{SlabArrays, SlabPart, Slabs};
pub use exec::spare::{Spare, clear_workspaces};
pub use expansive::Expansive;
pub use half::{bf16, f16};
pub use lifting_codegen::schedule::Shape as BlockShape;
pub use lifting_dsl::extension::Extension;
pub use lifting_dsl::geometry::{GeometryError, Layout};
pub use lifting_dsl::sample::SampleType;
pub use lifting_dsl::{Boundary, Diagnostic, Direction, Domain, Format, Scheme};
pub use lifting_planner::{
    Candidate, Choice, Exactness, Pass, Reason, Recipe, Refused, Schedule, Way, Wisdom, WisdomWarning,
};
#[cfg(feature = "macros")]
#[doc(hidden)]
pub use macros::__private;
pub use plan::{Plan, Unsampled};
pub use sample::Sample;
pub use subband::{Subband, Tile};
pub use text::{CompileError, compile, load};
pub use tune::{Measured, Trial};

/// Runs the examples of README.md as tests.
#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../../README.md")]
pub struct Readme;
