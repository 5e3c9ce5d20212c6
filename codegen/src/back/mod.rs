//! Back ends: from kernels to text in CUDA C++ and C99.
//!
//! They emit, they do not decide: whatever a target cannot say is an [`Unsupported`] error, not something to work
//! around here. [`namer`] gives the names, [`facts`] knows types, `c_like` writes statements and expressions for all
//! C-like targets, `dialect` holds what differs between these, `helpers` the few functions that emitted text may call.

pub(crate) mod c_like;
mod dialect;
pub mod facts;
mod helpers;
pub mod namer;

pub mod c;
pub mod cuda;
pub mod rust;

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

/// Makes a line of text safe to stand in a comment: no control or text-direction characters, no end of comment, and no
/// backslash (nor the trigraph for one) at the end, which would swallow the next line.
pub fn comment_line(text: &str) -> String {
    let visible = |c: char| {
        !(c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    let mut line: String = text.chars().map(|c| if visible(c) { c } else { ' ' }).collect();
    line = line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").trim_end().to_string();
    if line.ends_with('\\') {
        line.push('.');
    }
    line
}

/// Digits of a finite float that read back as the same value, with a point or an exponent.
pub(crate) fn digits(shortest: String) -> String {
    if shortest.contains(['.', 'e']) { shortest } else { format!("{shortest}.0") }
}
