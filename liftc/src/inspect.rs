//! `liftc check` and `list`.

use crate::cli::{CheckArgs, Deny, ListArgs};
use crate::failure::{Failure, Outcome, input};
use crate::output::{input_name, print, print_json};
use crate::{warn, wavelet};
use lifting::catalogue;
use lifting_dsl::{Compiled, Diagnostic, Severity, Span};
use lifting_filters::CATALOGUE;
use serde::Serialize;

/// A checked file, for `--json`.
#[derive(Debug, Serialize)]
struct Checked {
    file: String,
    /// Names of its wavelets, if it has no errors.
    wavelets: Vec<String>,
    /// Reason that it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
    diagnostics: Vec<Reported>,
}

/// An error or a warning.
#[derive(Debug, Serialize)]
struct Reported {
    code: &'static str,
    severity: &'static str,
    message: String,
    help: Option<String>,
    /// Its places; the first is the subject, the others explain it.
    places: Vec<TextRange>,
}

/// A part of a text.
#[derive(Debug, Serialize)]
struct TextRange {
    /// First byte, from 0, and the one past the last.
    start: usize,
    end: usize,
    /// Line and column of the start, from 1; columns count characters.
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    remark: String,
}

impl Reported {
    fn new(diagnostic: &Diagnostic, text: &str) -> Reported {
        let at = |byte: usize| {
            let before = text.get(..byte).unwrap_or(text);
            let line = before.rsplit('\n').next().unwrap_or_default();
            (1 + before.matches('\n').count(), 1 + line.chars().count())
        };
        let place = |span: Span, remark: &str| {
            let ((line, column), (end_line, end_column)) = (at(span.start), at(span.end));
            let Span { start, end } = span;
            TextRange { start, end, line, column, end_line, end_column, remark: remark.to_owned() }
        };
        let mut labels: Vec<_> = diagnostic.labels.iter().collect();
        labels.sort_by_key(|label| !label.primary);
        Reported {
            code: diagnostic.code,
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            places: labels.into_iter().map(|label| place(label.span, &label.text)).collect(),
        }
    }
}

/// Reports all errors and warnings of all files.
pub fn check(args: &CheckArgs) -> Outcome {
    let (mut failures, mut checked) = (Vec::new(), Vec::new());
    let denies = args.deny == Some(Deny::Warnings);
    for path in &args.files {
        let source = match wavelet::read(path) {
            Ok(source) => source,
            Err(failure) => {
                let unreadable = Some(failure.message());
                let file = input_name(path);
                checked.push(Checked { file, wavelets: Vec::new(), unreadable, diagnostics: Vec::new() });
                failures.push(failure);
                continue;
            }
        };
        let (name, text) = (source.name, source.text);
        let (schemes, diagnostics, is_broken) = match lifting_dsl::compile(&text) {
            Ok(Compiled { schemes, warnings }) => (schemes, warnings, false),
            Err(diagnostics) => (Vec::new(), diagnostics, true),
        };
        let wavelets: Vec<String> = schemes.iter().map(|s| s.name().to_owned()).collect();
        if args.json {
            let diagnostics = diagnostics.iter().map(|d| Reported::new(d, &text)).collect();
            checked.push(Checked { file: name.clone(), wavelets, unreadable: None, diagnostics });
        } else if !is_broken {
            warn(&name, &text, &diagnostics);
            print(&format!("{name}: {} ok\n", wavelets.join(", ")))?;
        }
        if is_broken {
            failures.push(Failure::Diagnostics { name, source: text, diagnostics });
        } else if denies && !diagnostics.is_empty() {
            let count = diagnostics.len();
            let plural = if count == 1 { "" } else { "s" };
            failures.push(input(format!("{name}: {count} warning{plural}, which --deny warnings refuses")));
        }
    }
    if args.json {
        print_json(&checked)?;
        return if failures.is_empty() { Ok(()) } else { Err(Failure::Printed) };
    }
    if failures.is_empty() { Ok(()) } else { Err(Failure::Many(failures)) }
}

/// A wavelet of the catalogue.
#[derive(Debug, Serialize)]
struct Listed {
    name: &'static str,
    family: &'static str,
    aliases: &'static [&'static str],
    domain: &'static str,
    boundary: &'static str,
    about: String,
}

/// Prints the catalogue by family, with the first line of each wavelet's documentation.
pub fn list(args: &ListArgs) -> Outcome {
    let pattern = args.pattern.as_deref().unwrap_or("").to_lowercase();
    let found = |text: &str| text.to_lowercase().contains(&pattern);
    let mut all = Vec::new();
    for entry in CATALOGUE {
        if !(found(entry.name) || found(entry.family) || entry.aliases.iter().any(|a| found(a))) {
            continue;
        }
        let scheme = catalogue::scheme(entry).map_err(input)?;
        all.push(Listed {
            name: entry.name,
            family: entry.family,
            aliases: entry.aliases,
            domain: scheme.domain().name(),
            boundary: scheme.boundary().name(),
            about: scheme.docs().first().cloned().unwrap_or_default(),
        });
    }
    if all.is_empty() {
        return Err(input(format!("no wavelet of the catalogue matches `{pattern}`"))
            .help("`liftc list` without a pattern prints all of it"));
    }
    if args.json {
        return print_json(&all);
    }
    let mut text = String::new();
    let mut family = "";
    for Listed { name, family: own, aliases, about, .. } in &all {
        if own != &family {
            let gap = if family.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{own}\n");
            family = own;
        }
        let aliases = if aliases.is_empty() { String::new() } else { format!(" [{}]", aliases.join(", ")) };
        text += format!("  {name:<14} {about}{aliases}").trim_end();
        text += "\n";
    }
    print(&text)
}
