//! Where the diagnostics of one text are gathered.

use crate::core::diag::Diagnostic;
use crate::core::span::Span;

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
