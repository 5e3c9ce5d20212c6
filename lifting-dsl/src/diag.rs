//! Errors and warnings: data, rendered only at the edge (the CLI, the macro).

use crate::span::Span;

/// Whether a diagnostic prevents compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// No scheme comes out.
    Error,
    /// The text means something, but perhaps not what was meant.
    Warning,
}

/// A place in the source and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is there.
    pub text: String,
    /// True for the place that the diagnostic is about; the others explain it.
    pub primary: bool,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// One of [`CODES`].
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where; the first one is primary.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`; `label` says what is there.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: vec![Label { span, text: label.into(), primary: true }],
            help: None,
        }
    }

    /// A warning at `span`; `label` says what is there.
    pub fn warning(code: &'static str, message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message, span, label) }
    }

    /// Adds a second place that explains the first.
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The place that the diagnostic is about.
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

/// At most so many diagnostics are reported for one text; it bounds the work that a hostile text can ask for.
pub(crate) const MAX_DIAGNOSTICS: usize = 100;

/// The diagnostics of one run, by increasing position in the text.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    list: Vec<Diagnostic>,
    dropped: Option<Span>,
}

impl Sink {
    pub(crate) fn push(&mut self, d: Diagnostic) {
        if self.list.len() < MAX_DIAGNOSTICS {
            self.list.push(d);
        } else if d.is_error() && self.dropped.is_none() {
            self.dropped = Some(d.span());
        }
    }

    /// True once errors are dropped: nothing that follows will be seen.
    pub(crate) fn is_full(&self) -> bool {
        self.dropped.is_some()
    }

    /// How many errors there are, up to the limit.
    pub(crate) fn errors(&self) -> usize {
        self.list.iter().filter(|d| d.is_error()).count()
    }

    pub(crate) fn into_sorted(self) -> Vec<Diagnostic> {
        let mut list = self.list;
        list.sort_by_key(|d| d.span());
        if let Some(span) = self.dropped {
            let message = format!("more than {MAX_DIAGNOSTICS} errors and warnings");
            list.push(Diagnostic::error("L0005", message, span, "and more from here on").help("fix the first ones"));
        }
        list
    }
}

/// The one of `candidates` that `word` was probably meant to be.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long words are no typing errors of ours, and the distance costs the product of the lengths.
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    let distance = |c: &str| strsim::damerau_levenshtein(&lower, &c.to_lowercase());
    candidates
        .into_iter()
        .filter(|c| c.len() <= LONGEST)
        .map(|c| (distance(c), c))
        .filter(|(d, c)| *d <= (c.chars().count() / 3).max(1) && *d < c.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Every code with what it stands for. A code keeps its meaning from version to version.
pub const CODES: &[(&str, &str)] = &[
    ("L0001", "a character that the language does not use"),
    ("L0002", "a comment of a kind that the language does not have"),
    ("L0003", "a malformed number"),
    ("L0004", "a text that is too long"),
    ("L0005", "too many errors to report them all"),
    ("L0101", "something else was expected here"),
    ("L0102", "a missing `;`"),
    ("L0103", "a block or bracket that is not closed"),
    ("L0104", "a file without a wavelet"),
    ("L0105", "an expression nested too deep"),
    ("L0106", "a name that is reserved"),
    ("L0107", "something that is not a wavelet at the top of a file"),
    ("L0108", "an unknown statement"),
    ("L0109", "an operator that steps do not have"),
    ("L0110", "an index that is not a whole number"),
    ("L0111", "a construct that this version does not take"),
    ("L0201", "an unknown constant"),
    ("L0202", "two wavelets of one name"),
    ("L0203", "two constants of one name"),
    ("L0204", "two profiles for one format"),
    ("L0205", "a statement that may stand only once"),
    ("L0206", "a constant used before its declaration"),
    ("L0207", "an unknown domain"),
    ("L0208", "an unknown border rule"),
    ("L0209", "an unknown format"),
    ("L0210", "an unknown function, or one called wrongly"),
    ("L0211", "a wavelet without a domain"),
    ("L0212", "a wavelet without steps"),
    ("L0213", "a wavelet that is made of two kinds of things"),
    ("L0214", "an unknown stage, or one with a wrong number of coefficients"),
    ("L0215", "a bank without one of its filters, or with something else"),
    ("L0216", "an unknown factorisation, or one of nothing"),
    ("L0301", "a step that reads the phase that it updates"),
    ("L0302", "a product of samples"),
    ("L0303", "a division by samples"),
    ("L0304", "a division by zero"),
    ("L0305", "a constant made of samples"),
    ("L0306", "a weight that is zero"),
    ("L0307", "the square root of a negative number"),
    ("L0308", "a step that reads nothing"),
    ("L0309", "a shift that is not the last operation"),
    ("L0310", "a constant beyond the range of f64"),
    ("L0311", "a scaling that cannot be undone"),
    ("L0312", "a stage without an inverse"),
    ("L0313", "a bank that cannot be factored"),
    ("L0314", "a lattice that steps cannot express"),
    ("L0401", "a fraction in an integer step"),
    ("L0402", "a number that does not fit 32 bits"),
    ("L0403", "a division in the integer domain"),
    ("L0404", "a scaling in the integer domain"),
    ("L0405", "an impossible shift"),
    ("L0406", "an impossible gain shift"),
    ("L0407", "a lattice or bank in the integer domain"),
    ("L0501", "a shift in the real domain"),
    ("L0502", "a constant term in the real domain"),
    ("L0503", "a gain shift in the real domain"),
    ("L0601", "an index beyond the limit"),
    ("L0602", "too many steps, stages or taps"),
    ("L0603", "a constant too long to be kept exactly"),
    ("L0604", "too much arithmetic"),
    ("L0701", "steps, made by a program, that break a rule"),
    ("L0901", "a constant that is not used"),
    ("L0902", "a doc comment that documents nothing"),
    ("L0903", "a rounding term without a shift"),
    ("L0904", "a weight that f32 cannot hold"),
    ("L0905", "a scaling by one"),
    ("L0906", "a bank whose steps lose too much in f32"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions() {
        assert_eq!(did_you_mean("apha", ["beta", "alpha"]), Some("alpha"));
        assert_eq!(did_you_mean("Integer", ["integer", "real"]), Some("integer"));
        assert_eq!(did_you_mean("x", ["y"]), None);
        assert_eq!(did_you_mean("lambda", ["alpha"]), None);
    }

    #[test]
    fn codes_are_sorted_and_distinct() {
        assert!(CODES.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
