//! Back ends: from kernels to text.
//!
//! They emit and do not decide. What a target cannot express is an [`Unsupported`] error; it is not worked around here.
//! A [`Dialect`] is a language of kernels; [`DIALECTS`] lists them. C-like dialects implement [`CLike`] in their own
//! files, and `c_like` does the writing for them. [`namer`] gives names, [`facts`] knows types, and `text` holds what
//! all writers share.

mod c;
mod c_like;
mod cuda;
mod dialect;
pub mod facts;
pub mod namer;
mod opencl;
pub(crate) mod rust;
mod text;

pub use c::{C, FLOAT_PRELUDE, PRELUDE, RESTRICT};
pub use c_like::{Helper, Hint, PARTS, STEPS, write_host_expression, write_templates};
pub use cuda::Cuda;
pub use dialect::{CLike, Dialect, Memory};
pub use opencl::OpenCl;
pub use rust::Rust;
pub use text::comment_line;
pub(crate) use text::wrap_list;

/// All dialects. A new one is a file and a line here.
pub const DIALECTS: [&dyn Dialect; 5] = [&Cuda, &OpenCl::PORTABLE, &OpenCl::SUB_GROUPS, &C, &Rust];

/// The dialect with this name on command lines.
pub fn dialect(word: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.into_iter().find(|dialect| dialect.word() == word)
}

/// A kernel needs something that the target lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}` cannot be written as {target}: {what}")]
pub struct Unsupported {
    /// Name of the kernel.
    pub kernel: String,
    /// The target language.
    pub target: &'static str,
    /// The missing feature, and what to do instead.
    pub what: String,
}
