//! Back ends: from kernels to text.
//!
//! They emit, they do not decide: whatever a target cannot say is an [`Unsupported`] error, not something to work
//! around here. A [`Dialect`] is a language that kernels are written in; [`DIALECTS`] has all of them. Those that are
//! C-like say in a file of their own, by [`CLike`], how they spell what `c_like` writes for all of them. [`namer`]
//! gives the names, [`facts`] knows types, `text` has what all writers make text with.

mod c;
mod c_like;
mod cuda;
mod dialect;
pub mod facts;
pub mod namer;
mod opencl;
pub(crate) mod rust;
mod text;

pub use c::C;
pub use c_like::{Helper, Hint, write_host_expression};
pub use cuda::Cuda;
pub use dialect::{CLike, Dialect, Memory};
pub use opencl::OpenCl;
pub use rust::Rust;
pub use text::comment_line;
pub(crate) use text::wrap_list;

/// The dialects that there are. A new one is a file, and a line here.
pub const DIALECTS: [&dyn Dialect; 5] = [&Cuda, &OpenCl::PORTABLE, &OpenCl::SUB_GROUPS, &C, &Rust];

/// The dialect of this word.
pub fn dialect(word: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.into_iter().find(|dialect| dialect.word() == word)
}

/// A kernel uses something that the target does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}` cannot be written as {target}: {what}")]
pub struct Unsupported {
    /// Name of the kernel.
    pub kernel: String,
    /// The target language.
    pub target: &'static str,
    /// What it lacks, and what to do instead.
    pub what: String,
}
