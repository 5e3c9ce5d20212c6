//! The languages of whole files: one entry each.

use super::{EmitError, Emitted, Request, c, cuda, opencl, rust};
use crate::ir::Scalar;

/// A language of whole files.
pub struct Target {
    /// Its name for `--emit`.
    pub name: &'static str,
    /// File extension, after the wavelet's name.
    pub extension: &'static str,
    /// Contents of a file, in a few words.
    pub about: &'static str,
    /// The file for a request.
    ///
    /// # Errors
    /// If the language, or one of its schedules, cannot express the wavelet.
    pub write: fn(&Request) -> Result<Emitted, EmitError>,
    /// Declarations for C programs, if they can call the file: those made once, and those per sample type.
    declarations: Option<fn(&Request, Option<Scalar>) -> String>,
}

/// All languages.
pub static TARGETS: [&Target; 4] = [&CUDA, &C, &OPENCL, &RUST];

/// CUDA C++: kernels in shared memory, one pass per axis, and host functions. (The planner writes the files that launch
/// whole plans.)
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
    declarations: Some(c::declarations),
};

/// OpenCL C, as strings in a C file.
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
    /// Whether C programs can call its functions, so that a header declares them.
    pub fn has_header(&self) -> bool {
        self.declarations.is_some()
    }

    /// Declarations for the header: those made once, or those of a sample type. Empty if there are none.
    pub(super) fn declared(&self, request: &Request, sample: Option<Scalar>) -> String {
        self.declarations.map_or_else(String::new, |declarations| declarations(request, sample))
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Equality by name, which is unique.
impl PartialEq for Target {
    fn eq(&self, other: &Target) -> bool {
        self.name == other.name
    }
}

impl Eq for Target {}
