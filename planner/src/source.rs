//! Kernels of plans as text, for devices of other machines.

use crate::error::ProgramError;
use crate::program::Program;
use lifting_codegen::back::{Cuda, Dialect};
use std::collections::BTreeMap;

/// CUDA C++ source of all kernels of some programs, without duplicates, in the order of their names.
///
/// # Errors
/// If a kernel cannot be written.
pub fn source(programs: &[Program]) -> Result<String, ProgramError> {
    let made: BTreeMap<&str, _> = programs
        .iter()
        .flat_map(|program| &program.kernels)
        .map(|made| (made.kernel.name.as_str(), (&made.kernel, &made.info)))
        .collect();
    let kernels: Vec<_> = made.into_values().collect();
    Cuda.write(&kernels).map_err(|e| ProgramError::Kernel { kernel: e.kernel.clone(), reason: e.to_string() })
}
