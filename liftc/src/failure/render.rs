//! Failures as text for terminals, by miette.

use super::{Failure, Report};
use crate::excerpt::Excerpt;
use lifting_dsl::{Diagnostic, Severity};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan};
use std::fmt;
use std::io::IsTerminal;

impl Failure {
    /// Its message, in one line.
    pub fn message(&self) -> String {
        match self {
            Failure::Input(report) | Failure::Usage(report) | Failure::Incomplete(report) => report.message.clone(),
            other => other.render(false, 1000).trim().to_owned(),
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
