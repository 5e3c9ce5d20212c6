//! CUDA C++: `extern "C"` kernels that nvcc and NVRTC compile alone, without any header.

use super::dialect::Dialect;
use super::namer::Namer;
use super::{Unsupported, c_like, helpers};
use crate::ir::Kernel;
use std::collections::BTreeSet;

/// The text of some kernels with the helper functions that they call. `namer` names the kernels, so that whoever adds more
/// text to the file can keep out of their way.
pub fn write_with(kernels: &[&Kernel], namer: &mut Namer) -> Result<(String, Vec<String>), Unsupported> {
    let names: Vec<String> = kernels.iter().map(|k| namer.name(&k.name)).collect();
    let mut used = BTreeSet::new();
    let mut text = String::new();
    for (kernel, name) in kernels.iter().zip(&names) {
        text.push('\n');
        text += &c_like::write_kernel(kernel, name, Dialect::Cuda, namer, &mut used)?;
    }
    let helpers = helpers::write(&used, Dialect::Cuda);
    Ok((format!("{helpers}{}", text.strip_prefix('\n').unwrap_or(&text)), names))
}

/// The text of some kernels with the helper functions that they call: a complete translation unit.
pub fn write(kernels: &[&Kernel]) -> Result<String, Unsupported> {
    write_with(kernels, &mut namer()).map(|(text, _)| text)
}

/// A namer for the file scope of a `.cu`.
pub fn namer() -> Namer {
    Dialect::Cuda.namer()
}
