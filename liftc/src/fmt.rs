//! `liftc fmt`: `.lift` files in the language's layout.

use crate::cli::FmtArgs;
use crate::failure::{Failure, Outcome, input};
use crate::output::{Files, is_standard, print};
use crate::wavelet::{self, Source};
use std::path::Path;

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// Formats all files, or compares them with their layout. Files with errors are left alone.
pub fn run(args: &FmtArgs) -> Outcome {
    let mut failures = Vec::new();
    let mut files = Files::default();
    for path in &args.files {
        let result = wavelet::read(path).and_then(|source| one(args, path, source, &mut files));
        failures.extend(result.err());
    }
    files.commit()?;
    if failures.is_empty() { Ok(()) } else { Err(Failure::Many(failures)) }
}

fn one(args: &FmtArgs, path: &Path, source: Source, files: &mut Files) -> Outcome {
    let Source { name, text } = source;
    let formatted = match lifting_dsl::format(&text) {
        Ok(formatted) => formatted,
        Err(diagnostics) => return Err(Failure::Diagnostics { name, source: text, diagnostics }),
    };
    if args.check {
        if formatted == text {
            return Ok(());
        }
        print(&difference(&name, &text, &formatted))?;
        let command = format!("liftc fmt {}", path.display());
        return Err(input(format!("{name}: is not formatted")).help(format!("`{command}` formats it")));
    }
    if formatted == text && !is_standard(path) {
        return Ok(());
    }
    files.add(path, |out| out.write_all(formatted.as_bytes()))
}

/// A line of a difference.
#[derive(Clone, Copy)]
enum Change<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// The unified difference of two texts that differ in white space only. Such texts need no search for equal lines: a
/// line ends in both where as much has been read, white space aside.
fn changes<'a>(old: &'a str, new: &'a str) -> Vec<Change<'a>> {
    let (mut old, mut new) = (old.split_inclusive('\n').peekable(), new.split_inclusive('\n').peekable());
    let size = |line: &str| line.chars().filter(|c| !c.is_whitespace()).count();
    let mut changes = Vec::new();
    loop {
        match (old.peek().copied(), new.peek().copied()) {
            (Some(a), Some(b)) if a == b => {
                changes.push(Change::Kept(a));
                old.next();
                new.next();
            }
            (Some(a), b) if size(a) == 0 || b.is_none() => {
                changes.push(Change::Removed(a));
                old.next();
            }
            (a, Some(b)) if size(b) == 0 || a.is_none() => {
                changes.push(Change::Added(b));
                new.next();
            }
            (Some(_), Some(_)) => {
                let (mut removed, mut added) = (Vec::new(), Vec::new());
                let (mut from, mut to) = (0, 0);
                while from != to || removed.is_empty() {
                    let (lines, list, read) =
                        if from <= to { (&mut old, &mut removed, &mut from) } else { (&mut new, &mut added, &mut to) };
                    let Some(line) = lines.next() else { break };
                    *read += size(line);
                    list.push(line);
                }
                changes.extend(removed.into_iter().map(Change::Removed));
                changes.extend(added.into_iter().map(Change::Added));
            }
            _ => return changes,
        }
    }
}

/// The difference of two texts as a patch.
fn difference(name: &str, old: &str, new: &str) -> String {
    let changes = changes(old, new);
    let is_kept = |change: &Change| matches!(change, Change::Kept(_));
    let mut out = format!("--- {name}\n+++ {name}, formatted\n");
    // Lines of the two texts before the hunk.
    let (mut before, mut after, mut at) = (0, 0, 0);
    while let Some(next) = (at..changes.len()).find(|i| !is_kept(&changes[*i])) {
        let start = next.saturating_sub(CONTEXT).max(at);
        (before, after) = (before + start - at, after + start - at);
        // The hunk ends where twice the context follows without a change.
        let mut end = next + 1;
        while let Some(more) = (end..changes.len().min(end + 2 * CONTEXT + 1)).find(|i| !is_kept(&changes[*i])) {
            end = more + 1;
        }
        let hunk = &changes[start..changes.len().min(end + CONTEXT)];
        let removed = hunk.iter().filter(|change| !matches!(change, Change::Added(_))).count();
        let added = hunk.iter().filter(|change| !matches!(change, Change::Removed(_))).count();
        let first = |before: usize, count: usize| if count == 0 { before } else { before + 1 };
        out += &format!("@@ -{},{removed} +{},{added} @@\n", first(before, removed), first(after, added));
        for change in hunk {
            let (sign, line) = match change {
                Change::Kept(line) => (' ', line),
                Change::Removed(line) => ('-', line),
                Change::Added(line) => ('+', line),
            };
            out.push(sign);
            out += line;
            if !line.ends_with('\n') {
                out += "\n\\ No newline at end of file\n";
            }
        }
        (before, after, at) = (before + removed, after + added, start + hunk.len());
    }
    out
}
