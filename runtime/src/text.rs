//! Wavelets from `.lift` text at run time.

use lifting_dsl::{Diagnostic, Scheme};
use std::path::Path;

/// Reason why text is not a wavelet.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The file cannot be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's message.
        reason: String,
    },
    /// Errors of the text, with their places. `Display` prints line and column.
    #[error("{}", render(source_text, diagnostics))]
    Diagnostics {
        /// The text.
        source_text: String,
        /// Its errors.
        diagnostics: Vec<Diagnostic>,
    },
    /// The text has no wavelet with that name.
    #[error("{file} has no wavelet `{name}`; it has {}", available.join(", "))]
    NoSuchWavelet {
        /// The searched file.
        file: String,
        /// The name.
        name: String,
        /// Names of its wavelets.
        available: Vec<String>,
    },
    /// The text has several wavelets, and the caller named none.
    #[error("{file} has several wavelets: choose one of {} (as {file}#NAME)", available.join(", "))]
    Several {
        /// The file.
        file: String,
        /// Names of its wavelets.
        available: Vec<String>,
    },
}

/// Renders one line per error: `3:14: error[L0301]: message`.
fn render(source: &str, diagnostics: &[Diagnostic]) -> String {
    let lines = diagnostics.iter().map(|d| {
        let before = source.get(..d.span().start).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let help = d.help.as_ref().map(|h| format!("; {h}")).unwrap_or_default();
        format!("{line}:{column}: {d}{help}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Compiles `.lift` text: all wavelets in it, in order.
///
/// ```
/// let schemes = lifting::compile(
///     "wavelet haar { domain integer; odd -= even[0]; even += (odd[0] + 1) >> 1; }",
/// )?;
/// assert_eq!(schemes[0].name(), "haar");
/// # Ok::<(), lifting::CompileError>(())
/// ```
///
/// # Errors
/// All errors of the text, with their places.
pub fn compile(text: &str) -> Result<Vec<Scheme>, CompileError> {
    match lifting_dsl::compile(text) {
        Ok(compiled) => Ok(compiled.schemes),
        Err(diagnostics) => Err(CompileError::Diagnostics { source_text: text.to_owned(), diagnostics }),
    }
}

/// Reads a `.lift` file and compiles its wavelet `name`, or its only one.
///
/// # Errors
/// If the file cannot be read, does not compile, or lacks the wavelet.
pub fn load(path: impl AsRef<Path>, name: Option<&str>) -> Result<Scheme, CompileError> {
    let path = path.as_ref();
    let file = path.display().to_string();
    let unreadable = |e: std::io::Error| CompileError::Unreadable { path: file.clone(), reason: e.to_string() };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    pick(compile(&text)?, name, &file)
}

/// The scheme called `name`, or the only one.
pub(crate) fn pick(mut schemes: Vec<Scheme>, name: Option<&str>, file: &str) -> Result<Scheme, CompileError> {
    let available = || schemes.iter().map(|s| s.name().to_owned()).collect();
    let index = match name {
        Some(name) => schemes.iter().position(|s| s.name() == name).ok_or_else(|| CompileError::NoSuchWavelet {
            file: file.to_owned(),
            name: name.to_owned(),
            available: available(),
        })?,
        None if schemes.len() == 1 => 0,
        None => return Err(CompileError::Several { file: file.to_owned(), available: available() }),
    };
    Ok(schemes.swap_remove(index))
}
