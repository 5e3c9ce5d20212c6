//! Failures of commands: collected as data, and rendered last.

#[cfg(feature = "cli")]
mod render;

use lifting_dsl::Diagnostic;
#[cfg(feature = "cli")]
pub use render::eprint_quietly;
use std::fmt;

/// Reason that a command failed.
#[derive(Debug)]
pub enum Failure {
    /// Error in the input.
    Input(Report),
    /// Error in the command line.
    Usage(Report),
    /// Stream with parts missing.
    Incomplete(Report),
    /// Errors and warnings of a `.lift` text.
    Diagnostics {
        /// File name, or name of the wavelet.
        name: String,
        /// The text.
        source: String,
        /// Errors and warnings.
        diagnostics: Vec<Diagnostic>,
    },
    /// Several failures, from several inputs.
    Many(Vec<Failure>),
    /// Error in the input that the output already describes.
    Printed,
    /// The reader of the output has closed the pipe.
    BrokenPipe,
}

/// Message, with help.
#[derive(Debug)]
pub struct Report {
    message: String,
    help: Option<String>,
}

/// Result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Error in the input; `message` has the place and the cause.
pub fn input(message: impl fmt::Display) -> Failure {
    Failure::Input(Report { message: message.to_string(), help: None })
}

/// Error in the command line.
pub fn usage(message: impl fmt::Display) -> Failure {
    Failure::Usage(Report { message: message.to_string(), help: None })
}

/// Error for a stream with parts missing.
pub fn incomplete(message: impl fmt::Display) -> Failure {
    Failure::Incomplete(Report { message: message.to_string(), help: None })
}

/// Error for invalid JSON.
pub fn no_json(error: &serde_json::Error) -> Failure {
    let (line, column) = (error.line(), error.column());
    let why = match error.classify() {
        serde_json::error::Category::Eof => "it is truncated".into(),
        _ => error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    };
    input(format!("is not valid JSON, from line {line}, column {column}: {why}"))
}

impl Failure {
    /// Sets the help.
    pub fn help(mut self, help: impl fmt::Display) -> Failure {
        if let Failure::Input(report) | Failure::Usage(report) | Failure::Incomplete(report) = &mut self {
            report.help = Some(help.to_string());
        }
        self
    }

    /// Prefixes the message with a place: `chelsea.png: …`.
    pub fn at(mut self, place: impl fmt::Display) -> Failure {
        if let Failure::Input(report) | Failure::Usage(report) | Failure::Incomplete(report) = &mut self {
            report.message = format!("{place}: {}", report.message);
        }
        self
    }

    /// Exit code: 1 for errors in the input, 2 for errors in the command line, 3 for streams with parts missing.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Incomplete(_) => 3,
            Failure::Many(all) => all.iter().map(Failure::exit_code).max().unwrap_or(0),
            Failure::BrokenPipe => 0,
            Failure::Input(_) | Failure::Diagnostics { .. } | Failure::Printed => 1,
        }
    }
}

/// In plain words: a message and its help, or the messages of a text's errors.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(Report { message, help })
            | Failure::Usage(Report { message, help })
            | Failure::Incomplete(Report { message, help }) => {
                f.write_str(message)?;
                help.iter().try_for_each(|help| write!(f, "; {help}"))
            }
            Failure::Diagnostics { diagnostics, .. } => diagnostics.iter().try_for_each(|d| writeln!(f, "{d}")),
            Failure::Many(all) => all.iter().try_for_each(|failure| writeln!(f, "{failure}")),
            Failure::Printed | Failure::BrokenPipe => Ok(()),
        }
    }
}
