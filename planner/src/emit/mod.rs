//! CUDA files: the kernels and launches of programs, as text that needs nothing but nvcc.
//!
//! [`fixed()`] writes functions for one shape each: the launches of a plan, letter for letter, as a table. What differs
//! from call to call is where the arrays are. [`general()`] writes functions for any shape, which choose at run time
//! from what `survey` asked of the planner when the file was written; `axes` has their passes along one axis. `kernels`
//! collects the kernels of a file and says of each what it does. `launch.cu.in` is a launch, `table.cu.in` the loop
//! that goes through a table; `general/` has what goes through levels as `lower` does.

mod axes;
mod fixed;
mod general;
mod kernels;
mod survey;

pub use fixed::{Fixed, declarations, fixed};
pub use general::{Count, General, general};

use crate::error::ProgramError;
use lifting_codegen::back::Unsupported;
use lifting_codegen::emit::EmitError;
use lifting_codegen::ir::Kernel;
use lifting_codegen::ir::valid::KernelInfo;

/// What host functions include.
const INCLUDES: &str = "\
#include <atomic>
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

";

/// A file that was written.
#[derive(Clone, Debug)]
pub struct File {
    /// The file.
    pub text: String,
    /// What schedules could not hold in their usual shape, and what stands in its place: a line each, which the file
    /// has as well.
    pub replaced: Vec<String>,
    /// Its kernels, under the names that they have there.
    pub kernels: Vec<(String, Kernel, KernelInfo)>,
}

/// Why a file could not be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// There is no program for a shape.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The wavelet has no file at all.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The target cannot say what a kernel does.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// More scratch memory than can be addressed.
    #[error("shape {shape:?} is too large: its workspace cannot be addressed")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// The launches of a shape are not the same wherever its arrays begin.
    #[error("shape {shape:?} has launches that depend on addresses beyond multiples of {most} bytes")]
    Placed {
        /// The shape.
        shape: Vec<usize>,
        /// What was tried.
        most: u64,
    },
}
