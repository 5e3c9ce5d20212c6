//! `liftc check` and `list`.

use crate::cli::{CheckArgs, ListArgs};
use crate::failure::{Failure, Outcome, input};
use crate::output::print;
use crate::{warn, wavelet};
use lifting::catalogue;
use lifting_filters::CATALOGUE;

/// Reports all errors and warnings of all files.
pub fn check(args: &CheckArgs) -> Outcome {
    let mut failures = Vec::new();
    for path in &args.files {
        let source = match wavelet::read(path) {
            Ok(source) => source,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        match lifting_dsl::compile(&source.text) {
            Ok(compiled) => {
                warn(&source.name, &source.text, &compiled.warnings);
                let names: Vec<_> = compiled.schemes.iter().map(|s| s.name()).collect();
                print(&format!("{}: {} ok\n", source.name, names.join(", ")))?;
            }
            Err(diagnostics) => {
                failures.push(Failure::Diagnostics { name: source.name, source: source.text, diagnostics });
            }
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failure::Many(failures)) }
}

/// Prints the catalogue by family, with the first line of each wavelet's documentation.
pub fn list(args: &ListArgs) -> Outcome {
    let pattern = args.pattern.as_deref().unwrap_or("").to_lowercase();
    let found = |text: &str| text.to_lowercase().contains(&pattern);
    let mut text = String::new();
    let mut family = "";
    for entry in CATALOGUE {
        if !(found(entry.name) || found(entry.family) || entry.aliases.iter().any(|a| found(a))) {
            continue;
        }
        if entry.family != family {
            let gap = if family.is_empty() { "" } else { "\n" };
            text += &format!("{gap}{}\n", entry.family);
            family = entry.family;
        }
        let scheme = catalogue::scheme(entry).map_err(input)?;
        let about = scheme.docs().first().map_or("", String::as_str);
        let aliases = match entry.aliases {
            [] => String::new(),
            names => format!(" [{}]", names.join(", ")),
        };
        text += format!("  {:<14} {about}{aliases}", entry.name).trim_end();
        text += "\n";
    }
    if text.is_empty() {
        return Err(input(format!("no wavelet of the catalogue matches `{pattern}`"))
            .help("`liftc list` without a pattern prints all of it"));
    }
    print(&text)
}
