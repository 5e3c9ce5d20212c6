//! The kernels of plans as text, for devices that are not at hand.

use super::lower::Program;
use crate::error::PlanError;
use lifting_codegen::back::cuda;
use std::collections::BTreeMap;

/// The CUDA C++ text of all kernels of some programs, each once, in the order of their names.
pub(crate) fn source(programs: &[Program]) -> Result<String, PlanError> {
    let made: BTreeMap<&str, _> = programs
        .iter()
        .flat_map(|program| &program.kernels)
        .map(|made| (made.kernel.name.as_str(), (&made.kernel, &made.info)))
        .collect();
    let kernels: Vec<_> = made.into_values().collect();
    cuda::write(&kernels).map_err(|e| PlanError::Kernel { kernel: e.kernel.clone(), reason: e.to_string() })
}
