//! Failures of commands: collected as data, and rendered here with miette.

use crate::excerpt::Excerpt;
use lifting_dsl::{Diagnostic, Severity};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan};
use std::fmt;
use std::io::IsTerminal;

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

    /// Its message, in one line.
    pub fn message(&self) -> String {
        match self {
            Failure::Input(report) | Failure::Usage(report) | Failure::Incomplete(report) => report.message.clone(),
            other => other.render(false, 1000).trim().to_owned(),
        }
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

    /// Rendered text, wrapped at `width` columns, with colours if `colour` is set.
    pub fn render(&self, colour: bool, width: usize) -> String {
        let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(width).with_links(colour);
        let mut text = String::new();
        self.write(&handler, &mut text);
        text
    }

    fn write(&self, handler: &GraphicalReportHandler, text: &mut String) {
        // Writing to a String cannot fail.
        let mut show = |diagnostic: &dyn miette::Diagnostic| {
            let _ = handler.render_report(text, diagnostic);
        };
        match self {
            Failure::Input(report) | Failure::Usage(report) | Failure::Incomplete(report) => show(report),
            Failure::Diagnostics { name, source, diagnostics } => {
                for diagnostic in diagnostics {
                    show(&Located { diagnostic, excerpt: Excerpt::new(name, source, diagnostic) });
                }
            }
            Failure::Many(all) => all.iter().for_each(|failure| failure.write(handler, text)),
            Failure::Printed | Failure::BrokenPipe => {}
        }
    }

    /// Prints the failure to standard error, at the terminal's width.
    pub fn show(&self) {
        let terminal = std::io::stderr().is_terminal();
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        let width = std::env::var("COLUMNS").ok().and_then(|v| v.parse().ok()).filter(|w| (40..1000).contains(w));
        eprint_quietly(&self.render(colour, width.unwrap_or(100)));
    }
}

/// Writes to standard error, and ignores failures.
pub fn eprint_quietly(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text.as_bytes());
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|h| Box::new(h) as _)
    }
}

/// Diagnostic of the language, with an excerpt of its source.
#[derive(Debug)]
struct Located<'a> {
    diagnostic: &'a Diagnostic,
    excerpt: Excerpt,
}

impl fmt::Display for Located<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Located<'_> {}

impl miette::Diagnostic for Located<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.diagnostic.help.as_ref().map(|h| Box::new(h) as _)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.diagnostic.labels.iter().map(|label| {
            let (text, span) =
                (Some(label.text.clone()), self.excerpt.place(label.span.start)..self.excerpt.place(label.span.end));
            if label.primary {
                LabeledSpan::new_primary_with_span(text, span)
            } else {
                LabeledSpan::new_with_span(text, span)
            }
        })))
    }
}
