//! The languages that whole files are written in: a line each.

use super::{EmitError, Emitted, Request, c, cuda, opencl, rust};
use crate::ir::Scalar;

/// A language that whole files are written in.
pub struct Target {
    /// As `--emit` calls it.
    pub name: &'static str,
    /// What a file's name ends in, after the wavelet's.
    pub extension: &'static str,
    /// What is in a file, in a few words.
    pub about: &'static str,
    /// The file for a request.
    ///
    /// # Errors
    /// If the language, or one of its schedules, cannot carry the wavelet.
    pub write: fn(&Request) -> Result<Emitted, EmitError>,
    /// What C programs call of it, if they can: what there is once, and for each sample type.
    declarations: Option<fn(&Request, Option<Scalar>) -> String>,
}

/// All of them.
pub static TARGETS: [&Target; 4] = [&CUDA, &C, &OPENCL, &RUST];

/// CUDA C++: kernels through shared memory, a pass an axis, and host functions. (Those that launch what plans launch
/// are the planner's.)
pub static CUDA: Target = Target {
    name: "cuda",
    extension: "cu",
    about: "kernels and host functions",
    write: cuda::cuda,
    declarations: Some(|request, sample| sample.map_or_else(String::new, |s| cuda::declarations(request, s))),
};

/// C99, for CPUs.
pub static C: Target = Target {
    name: "c",
    extension: "c",
    about: "a complete transform in C99",
    write: |request| c::c(request).map(Emitted::plain),
    declarations: Some(|request, sample| sample.map_or_else(String::new, |s| c::declarations(request, s))),
};

/// OpenCL C, in a file of C.
pub static OPENCL: Target = Target {
    name: "opencl",
    extension: "opencl.c",
    about: "kernels and functions in C that compile and launch them",
    write: opencl::opencl,
    declarations: Some(opencl::declarations),
};

/// Rust, for CPUs.
pub static RUST: Target = Target {
    name: "rust",
    extension: "rs",
    about: "a complete transform in Rust, a module of its own",
    write: |request| rust::rust(request).map(Emitted::plain),
    declarations: None,
};

impl Target {
    /// Whether C programs call its functions, so that a header declares them.
    pub fn has_header(&self) -> bool {
        self.declarations.is_some()
    }

    /// What a header has of the file: what there is once, or for a sample type. Nothing is nothing.
    pub(super) fn declared(&self, request: &Request, sample: Option<Scalar>) -> String {
        self.declarations.map_or_else(String::new, |declarations| declarations(request, sample))
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// By name: there is one of each.
impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.name == other.name
    }
}

impl Eq for Target {}
