//! Grammars of `.lift` for editors: `cargo xtask grammar`.
//!
//! rewrite: a template and the words of the language → a grammar of tree-sitter, its highlights, and a grammar of
//! TextMate. The words are [`lifting_dsl::words`], which tests compare with those of the parser. Lexical rules that the
//! grammars share are in [`LEXIS`]. `%NAME%` in a template is replaced, by a list or a pattern.

use lifting_dsl::words::{Place, WORDS, Word};
use std::path::{Path, PathBuf};

/// Patterns of both grammars: those of `lifting-dsl/src/language/lex.rs`. A backslash is one character here.
const LEXIS: [(&str, &str); 4] = [
    ("NAME", r"(?:[\p{L}\p{Nl}][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*|_[\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]+)"),
    ("NUMBER", r"(?:0[xob][0-9a-fA-F_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*|\.)?(?:[eE][+\-]?_*[0-9][0-9_]*)?)"),
    ("COMMENT", r"//(?:[^/\n][^\n]*|//[^\n]*)?"),
    ("DOC", r"///(?:[^/\n][^\n]*)?"),
];

/// Templates and the files made of them.
const FILES: [(&str, &str); 3] = [
    (include_str!("grammar.js.in"), "tree-sitter-lift/grammar.js"),
    (include_str!("highlights.scm.in"), "tree-sitter-lift/queries/highlights.scm"),
    (include_str!("tmLanguage.json.in"), "vscode/syntaxes/lift.tmLanguage.json"),
];

/// Writes all grammars, or fails if one is out of date.
pub fn run(check: bool) -> Result<(), String> {
    let folder = editors();
    for (template, name) in FILES {
        let (text, path) = (fill(template, name)?, folder.join(name));
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            return Err(format!("{} is out of date: run `cargo xtask grammar`", path.display()));
        }
        std::fs::create_dir_all(path.parent().unwrap_or(&folder))
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

fn editors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors")
}

/// A list of words by name.
fn list(name: &str) -> Vec<&'static str> {
    let is = |name: &str, word: &Word| match name {
        "PHASES" => matches!(word.text, "even" | "odd"),
        "KEYWORDS" => {
            let place = matches!(
                word.place,
                Place::File | Place::Statement | Place::Profile | Place::Gain | Place::Lattice | Place::At
            );
            place && !matches!(word.text, "even" | "odd")
        }
        "STAGES" => word.place == Place::Stage,
        "FILTERS" => word.place == Place::Filter,
        "FUNCTIONS" => matches!(word.place, Place::Constant | Place::Step(_)),
        "DOMAINS" => word.place == Place::Domain,
        "RULES" => word.place == Place::Boundary,
        "FORMATS" => word.place == Place::Format,
        "FACTORS" => word.place == Place::Factor,
        _ => false,
    };
    let mut words: Vec<&str> = Vec::new();
    for word in WORDS.iter().filter(|word| is(name, word)) {
        // `boundary` is a statement of wavelets and of profiles.
        if !words.contains(&word.text) {
            words.push(word.text);
        }
    }
    words
}

/// Fills a template. Words become strings of JavaScript and of queries, and alternatives of a pattern elsewhere.
fn fill(template: &str, file: &str) -> Result<String, String> {
    let quoted = |words: Vec<&str>, quote: &str, between: &str| {
        words.iter().map(|word| format!("{quote}{word}{quote}")).collect::<Vec<_>>().join(between)
    };
    let mut parts = template.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    while let (Some(name), Some(text)) = (parts.next(), parts.next()) {
        let pattern = LEXIS.iter().find(|(known, _)| *known == name).map(|(_, pattern)| *pattern);
        out += &match (pattern, list(name)) {
            // A slash would end a pattern of JavaScript.
            (Some(pattern), _) if file.ends_with(".js") => slashed(pattern),
            (Some(pattern), _) => pattern.replace('\\', r"\\"),
            (None, words) if words.is_empty() => return Err(format!("{file}: unknown list {name}")),
            (None, words) if file.ends_with(".js") => quoted(words, "'", ", "),
            (None, words) if file.ends_with(".scm") && name != "FUNCTIONS" => quoted(words, "\"", " "),
            (None, words) => words.join("|"),
        };
        out += text;
    }
    Ok(out)
}

/// A pattern between the slashes of JavaScript.
fn slashed(pattern: &str) -> String {
    pattern.replace('/', r"\/")
}

#[cfg(test)]
mod tests;
