//! Collector of the diagnostics of one text.

use crate::core::diag::Diagnostic;
use crate::core::span::Span;

/// Most diagnostics of one text; bounds the work that a hostile text can cause.
pub(crate) const MAX_DIAGNOSTICS: usize = 100;

/// The diagnostics of one run, by increasing position in the text.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    list: Vec<Diagnostic>,
    dropped: Option<Span>,
}

impl Sink {
    pub(crate) fn push(&mut self, mut d: Diagnostic) {
        if self.list.len() < MAX_DIAGNOSTICS {
            let labels = d.labels.iter_mut().map(|label| &mut label.text);
            labels.chain([&mut d.message]).chain(&mut d.help).for_each(shorten);
            self.list.push(d);
        } else if d.is_error() && self.dropped.is_none() {
            self.dropped = Some(d.span());
        }
    }

    /// Whether errors are dropped: nothing that follows will be reported.
    pub(crate) fn is_full(&self) -> bool {
        self.dropped.is_some()
    }

    /// Number of errors, up to the limit.
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

/// Shortens overlong words: names and numbers may be as long as the text.
fn shorten(message: &mut String) {
    const LONGEST: usize = 80;
    const KEPT: usize = 30;
    if message.split(' ').all(|word| word.chars().count() <= LONGEST) {
        return;
    }
    let short = |word: &str| {
        let count = word.chars().count();
        if count <= LONGEST {
            return word.to_owned();
        }
        let (first, last): (String, String) =
            (word.chars().take(KEPT).collect(), word.chars().skip(count - KEPT).collect());
        format!("{first}…{last}")
    };
    *message = message.split(' ').map(short).collect::<Vec<_>>().join(" ");
}
