//! Quick fixes: edits that a diagnostic's help suggests, kept only if the text has fewer diagnostics with them.

use super::answer::{all_diagnostics, diagnostic};
use super::text::Document;
use lifting_dsl::{Diagnostic, Span};
use serde_json::{Value, json};

/// Most diagnostics for which fixes are tried: each compiles the text again.
const MOST: usize = 8;

/// Fixes for the diagnostics that touch a range.
pub fn actions(document: &Document, uri: &str, start: usize, end: usize) -> Value {
    let all = all_diagnostics(&document.text);
    let touching = all.iter().filter(|d| d.span().start <= end && start <= d.span().end).take(MOST);
    let action = |d: &Diagnostic| {
        let (title, span, new) = fix(&document.text, d, all.len())?;
        Some(json!({
            "title": title,
            "kind": "quickfix",
            "isPreferred": true,
            "diagnostics": [diagnostic(document, uri, d)],
            "edit": { "changes": { uri: [{ "range": document.range(span), "newText": new }] } },
        }))
    };
    touching.filter_map(action).collect()
}

/// Title, place and new text of the fix for a diagnostic, in a text with so many of them.
fn fix(text: &str, diagnostic: &Diagnostic, count: usize) -> Option<(String, Span, String)> {
    let span = diagnostic.span();
    let help = diagnostic.help.as_deref().unwrap_or_default();
    let quoted = ["did you mean `", "write `", "start each line with `"].iter().find_map(|start| {
        let (word, rest) = help.strip_prefix(start)?.split_once('`')?;
        // Text in backquotes may be an example.
        (matches!(rest, "" | "?") && !word.contains('…')).then_some(word)
    });
    let (title, new) = match (quoted, diagnostic.code) {
        (Some(word), _) => (format!("Write `{word}`"), word.to_owned()),
        (None, "L0102") => ("Add `;`".to_owned(), ";".to_owned()),
        (None, "L0902") => ("Make it an ordinary comment".to_owned(), span.text(text).replacen("///", "//", 1)),
        (None, "L0901") => (format!("Rename it to `_{}`", span.text(text)), format!("_{}", span.text(text))),
        (None, _) if help == "remove the extra `;`" => ("Remove `;`".to_owned(), String::new()),
        _ => return None,
    };
    // A number's suffix is the place, and the help has the number.
    let suffix = (diagnostic.code == "L0003").then(String::new);
    [Some(new), suffix].into_iter().flatten().find_map(|new| {
        let mut fixed = text.to_owned();
        fixed.replace_range(span.start..span.end, &new);
        (all_diagnostics(&fixed).len() < count).then(|| (title.clone(), span, new))
    })
}
