//! Errors and warnings as data; only the CLI and the macro render them.

use crate::core::span::Span;

/// Whether a diagnostic prevents compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Compilation yields no scheme.
    Error,
    /// The text is valid, but probably not intended.
    Warning,
}

/// A place in the source and a remark on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark.
    pub text: String,
    /// True for the subject of the diagnostic; the other labels explain it.
    pub primary: bool,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code, as in the index of the language reference, e.g. `L0301`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// The fault, in one sentence.
    pub message: String,
    /// The places; the first one is primary.
    pub labels: Vec<Label>,
    /// The remedy.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`; `label` describes the place.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: vec![Label { span, text: label.into(), primary: true }],
            help: None,
        }
    }

    /// A warning at `span`; `label` describes the place.
    pub fn warning(code: &'static str, message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message, span, label) }
    }

    /// Adds a second place that explains the first.
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Adds the remedy.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The primary place.
    pub fn span(&self) -> Span {
        self.labels.iter().find(|l| l.primary).map_or(Span::default(), |l| l.span)
    }

    /// True for errors.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl std::fmt::Display for Diagnostic {
    /// `error[L0301]: message`, without the places.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}[{}]: {}", self.code, self.message)
    }
}

impl std::error::Error for Diagnostic {}
