//! CUDA files: the kernels and launches of programs, as text that needs only nvcc. Also C and Rust for one shape.
//!
//! [`fixed()`] writes functions for one shape each: the launches of a plan, as a table. Only array addresses differ
//! between calls. [`general()`] writes functions for any shape. They choose at run time, from tables that `survey` gets
//! from the planner when the file is written; `axes` holds their passes along one axis. `kernels` collects the kernels
//! of a file and describes each. `launch.cu.in` is a launch, `table.cu.in` runs a table, and `general/` runs through
//! levels as `lower` does. [`in_place()`] writes C and Rust for one shape each, without scratch memory.

mod axes;
mod fixed;
mod general;
mod in_place;
mod kernels;
mod survey;

pub use fixed::{Fixed, declarations, fixed};
pub use general::{Count, General, general};
pub use in_place::in_place;

use crate::error::ProgramError;
use lifting_codegen::back::{PARTS, STEPS, Unsupported};
use lifting_codegen::emit::EmitError;
use lifting_codegen::ir::Kernel;
use lifting_codegen::ir::valid::KernelInfo;

/// Includes of the host functions.
const INCLUDES: &str = "\
#include <atomic>
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

";

/// Titles of the sections of a file, each in a comment of its own.
const SECTIONS: [&str; 5] = [STEPS, PARTS, KERNELS, HOST, TABLES];
const KERNELS: &str = "Kernels";
const TABLES: &str = "Launch tables";
const HOST: &str = "Host functions: not for NVRTC, which compiles kernels only";

/// The comment that begins a section.
fn section(title: &str) -> String {
    format!("/* {title}. */\n")
}

/// The file with the lines of its sections in the comment at its top.
fn with_contents(text: &str) -> String {
    let Some((top, rest)) = text.split_once("\n */\n") else { return text.to_owned() };
    let at = |title: &str| text.lines().position(|line| format!("{line}\n") == section(title));
    let found: Vec<(&str, usize)> = SECTIONS.into_iter().filter_map(|title| Some((title, at(title)?))).collect();
    let mut contents = " * Contents:".to_owned();
    for (title, line) in &found {
        let title = title.split(':').next().unwrap_or_default();
        // Lines count from 1, and these lines come before all sections.
        contents += &format!("\n *     line {}: {}", line + 2 + found.len(), title.to_lowercase());
    }
    format!("{top}\n{contents}\n */\n{rest}")
}

/// A file that was written.
#[derive(Clone, Debug)]
pub struct File {
    /// The file.
    pub text: String,
    /// Schedules that cannot have their usual shape, each with its replacement: one line each, also written in the
    /// file.
    pub replaced: Vec<String>,
    /// Its kernels, under their names in the file.
    pub kernels: Vec<(String, Kernel, KernelInfo)>,
}

/// Reasons for which a file cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// A shape has no program.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The wavelet has no file at all.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The target cannot express a kernel.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The scratch memory cannot be addressed.
    #[error("shape {shape:?} is too large: its workspace cannot be addressed")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// A transform that is not in place: it pads, or coefficients have other strides.
    #[error("shape {shape:?} cannot be transformed in place: it is padded, or its bands have other strides")]
    NotInPlace {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Lines too long for arrays on the stack, or more samples than 32-bit indices address.
    #[error(
        "shape {shape:?} is too large for functions in place: at most {most} samples along a transformed axis, and less \
         than 2^31 in all; files for any shape take larger ones"
    )]
    LongLines {
        /// The shape.
        shape: Vec<usize>,
        /// Most samples of a line.
        most: usize,
    },
    /// Launches of a shape depend on the addresses of its arrays.
    #[error("shape {shape:?} has launches that depend on addresses beyond multiples of {most} bytes")]
    Placed {
        /// The shape.
        shape: Vec<usize>,
        /// The coarsest alignment tried, in bytes.
        most: u64,
    },
}
