//! `cargo xtask prose`: the project's English, held against a list of patterns.
//!
//! The list is plain and grows when a reviewer finds another habit. It reads comments, doc comments, string literals
//! and documents; code, code blocks and quoted names are left out. The budget is zero.

use regex::Regex;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Widest line of prose, in columns.
const COLUMNS: usize = 120;
/// Longest sentence, in words; the aim is fifteen.
const WORDS: usize = 36;

/// Where a pattern applies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The first words of a doc comment or docstring.
    Head,
    /// Any prose: comments, documents and strings of several words.
    Anywhere,
    /// String literals of several words: errors and help texts.
    Text,
}

/// Patterns, where each applies, and what to write instead.
const RULES: &[(Scope, &str, &str)] = &[
    (Scope::Head, r"^(What|Of|As|Where|How|So|Which|In which|With which|From which|That|By which|All that)\b", HEAD),
    (Scope::Head, r"^The (same|very)\b", HEAD),
    (Scope::Anywhere, r"\bso (many|much) (?:\w+ )*(?:as|that)\b", "give the count or the limit"),
    (Scope::Anywhere, r"\b(as|so) many \w+( \w+)? as there\b", "give the count"),
    (Scope::Anywhere, r"\bof so (many|much)\b", "give the count"),
    (Scope::Anywhere, r"\bstands? (in|at|on|once|there|here|beside|by|before|after|alone|twice|where|with)\b", IS),
    (Scope::Anywhere, r"\b(are|is|be|was|were) had\b", "say who provides it"),
    (Scope::Anywhere, r"\bknow(s|ing)? nothing of\b", "say what is independent of what"),
    (Scope::Anywhere, r"\b(comes?|came) of\b", "say the cause: follows from, is due to"),
    (Scope::Anywhere, r"\bmatter of\b", "say who decides it"),
    (Scope::Anywhere, r"\b(which|that) there (is|are|was|were)\b", "name the set: supported, available, existing"),
    (Scope::Anywhere, r"\bif nothing else is said\b", "by default"),
    (Scope::Anywhere, r"\bbe (it|they) \w+ or\b", "whether … or …"),
    (Scope::Anywhere, r"\b(than|of|from|with|into|beyond|like) what\b", "name the thing"),
    (Scope::Anywhere, r"\bwhat (there is|is there|is had|is left out|it goes by)\b", "name the thing"),
    (Scope::Anywhere, r"\b(anew|afresh|thereof|whereof|wherein|thereby|whereby|therein|lest)\b", "plain words: again"),
    (Scope::Anywhere, r"\b(with|by|of|to|upon) which\b", "split the sentence"),
    (Scope::Anywhere, r"\bgo(es)? through (all|each|the|its|every)?\b ?(rows|columns|samples|levels|lines)", "sweep"),
    (Scope::Anywhere, r"\bbeside\b", "next to, with, or compared with"),
    (Scope::Anywhere, r"\b(is|are) (not )?to be had\b", "is (not) available"),
    (Scope::Anywhere, r"\bit is said\b", "is reported, is documented"),
    (Scope::Text, r"\b(is|are) no (?:\w+)\b", "invalid …: what is allowed"),
    (Scope::Text, r"^(there is|there are) no\b", "… not found: what is available"),
];

const HEAD: &str = "begin with a noun phrase or a subject and a verb";
const IS: &str = "is, or lies; name the place";

/// One finding: file, line, advice, text.
pub struct Finding {
    file: PathBuf,
    line: usize,
    advice: String,
    text: String,
}

/// A piece of prose of a file.
struct Piece {
    line: usize,
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A doc comment, a docstring or a module's header.
    Doc,
    Comment,
    /// A string literal with at least three words.
    Text,
    /// A paragraph of a document.
    Paragraph,
}

/// Findings in all tracked files under `root`, or in `files` if there are any.
pub fn check(root: &Path, files: &[PathBuf]) -> Result<Vec<Finding>, String> {
    let listed = if files.is_empty() { tracked(root)? } else { files.to_vec() };
    let rules: Vec<(Scope, Regex, &str)> = RULES
        .iter()
        .map(|&(scope, pattern, advice)| {
            let pattern = if scope == Scope::Head { pattern.into() } else { format!("(?i){pattern}") };
            (scope, Regex::new(&pattern).expect("a valid pattern"), advice)
        })
        .collect();
    let mut found = Vec::new();
    for file in listed {
        let Some(pieces) = pieces_of(root, &file) else { continue };
        for piece in pieces {
            check_piece(&file, &piece, &rules, &mut found);
        }
    }
    Ok(found)
}

/// Prints all findings; any is an error.
pub fn run(files: &[PathBuf]) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let mut found = check(root, files)?;
    found.extend(wide(root, files)?);
    print!("{}", report(&found));
    match found.len() {
        0 => Ok(()),
        n => Err(format!("{n} findings; CONTRIBUTING.md has the rules")),
    }
}

/// Findings as lines, `file:line: advice: text`.
pub fn report(found: &[Finding]) -> String {
    let line = |f: &Finding| format!("{}:{}: {}: {}\n", f.file.display(), f.line, f.advice, f.text);
    found.iter().map(line).collect()
}

fn tracked(root: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git").arg("ls-files").current_dir(root).output().map_err(|e| format!("git: {e}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect())
}

/// The prose of a file, by its extension; `None` for files that are not read.
fn pieces_of(root: &Path, file: &Path) -> Option<Vec<Piece>> {
    let name = file.to_string_lossy();
    if is_exempt(&name) {
        return None;
    }
    let read: fn(&str) -> Vec<Piece> = match file.extension()?.to_str()? {
        "rs" => rust,
        "py" => python,
        "md" => markdown,
        "sh" | "toml" | "yml" => hashes,
        _ => return None,
    };
    Some(read(&std::fs::read_to_string(root.join(file)).ok()?))
}

/// Whether a file may contain the patterns: this one and the rules themselves, recorded output, oracles from elsewhere,
/// and texts that published streams identify.
fn is_exempt(name: &str) -> bool {
    let exempt = ["xtask/src/prose.rs", "xtask/src/filters.rs", "CONTRIBUTING.md"];
    exempt.contains(&name) || name.contains("/snapshots/") || name.contains("/reference/")
}

fn check_piece(file: &Path, piece: &Piece, rules: &[(Scope, Regex, &str)], found: &mut Vec<Finding>) {
    let mut add = |advice: &str, text: &str, line: usize| {
        let text = text.trim().replace('\n', " ").chars().take(160).collect();
        found.push(Finding { file: file.into(), line, advice: advice.into(), text });
    };
    let plain = without_code(&piece.text);
    for (scope, rule, advice) in rules {
        let applies = match scope {
            Scope::Head => piece.kind == Kind::Doc,
            Scope::Anywhere => true,
            Scope::Text => piece.kind == Kind::Text,
        };
        if applies && let Some(hit) = rule.find(&plain) {
            let line = piece.line + plain[..hit.start()].matches('\n').count();
            let start = plain[..hit.start()].rfind(['\n', '.']).map_or(0, |i| i + 1);
            let end = plain[hit.end()..].find('\n').map_or(plain.len(), |i| hit.end() + i);
            add(&format!("`{}`, {advice}", hit.as_str()), &plain[start..end], line);
        }
    }
    if piece.kind == Kind::Text {
        return;
    }
    for sentence in sentences(&plain) {
        let words = sentence.split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)).count();
        if words > WORDS {
            let at = plain.find(sentence).unwrap_or(0);
            add(&format!("a sentence of {words} words"), sentence, piece.line + plain[..at].matches('\n').count());
        }
    }
}

/// Text without code: holes of formats, and parts between backticks.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    let holes = Regex::new(r"\{[^{}\n]*\}").expect("a valid pattern");
    let text = holes.replace_all(text, "X");
    for (i, part) in text.split('`').enumerate() {
        if i % 2 == 0 {
            plain.push_str(part);
        } else {
            plain.push('X');
            plain.extend(part.chars().filter(|&c| c == '\n'));
        }
    }
    plain
}

/// Sentences of prose; lines of tables, lists and formulas end them.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").flat_map(|p| p.split(". ")).flat_map(|s| s.split(".\n")).flat_map(|s| s.split(": ")).flat_map(
        |s| s.split("\n- ").flat_map(|s| s.split("\n|")).flat_map(|s| s.split(";")).flat_map(|s| s.split("\n    ")),
    )
}

/// Collects consecutive comment lines of one kind into a piece.
#[derive(Default)]
struct Comments {
    pieces: Vec<Piece>,
    last: usize,
}

impl Comments {
    fn push(&mut self, line: usize, kind: Kind, text: &str) {
        match self.pieces.last_mut() {
            Some(piece) if piece.kind == kind && self.last + 1 == line => {
                piece.text.push('\n');
                piece.text.push_str(text);
            }
            _ => self.pieces.push(Piece { line, kind, text: text.into() }),
        }
        self.last = line;
    }
}

/// Comments and string literals of Rust. Fenced blocks of doc comments are code.
fn rust(source: &str) -> Vec<Piece> {
    let mut comments = Comments::default();
    let mut texts = Vec::new();
    let chars: Vec<char> = source.chars().collect();
    let (mut i, mut line, mut fenced) = (0, 1, false);
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    while i < chars.len() {
        match chars[i] {
            '\n' => line += 1,
            '/' if at(i + 1) == '/' => {
                let end = (i..chars.len()).find(|&j| chars[j] == '\n').unwrap_or(chars.len());
                let whole: String = chars[i..end].iter().collect();
                let doc = whole.starts_with("//!") || whole.starts_with("///") && !whole.starts_with("////");
                let text = whole.trim_start_matches(['/', '!']).trim_start_matches(' ').to_string();
                if text.starts_with("```") {
                    fenced = !fenced;
                    comments.push(line, if doc { Kind::Doc } else { Kind::Comment }, "");
                } else {
                    let text = if fenced && doc { "" } else { &text };
                    comments.push(line, if doc { Kind::Doc } else { Kind::Comment }, text);
                }
                i = end;
                continue;
            }
            'r' if matches!(at(i + 1), '"' | '#')
                && (i == 0 || !(chars[i - 1].is_alphanumeric() || chars[i - 1] == '_')) =>
            {
                let hashes = (i + 1..chars.len()).take_while(|&j| chars[j] == '#').count();
                if at(i + 1 + hashes) == '"' {
                    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
                    let from = i + 2 + hashes;
                    let to = (from..chars.len()).find(|&j| chars[j..].starts_with(&close)).unwrap_or(chars.len());
                    line += chars[i..to].iter().filter(|&&c| c == '\n').count();
                    i = to + close.len();
                    continue;
                }
            }
            '"' => {
                let begin = line;
                let mut text = String::new();
                i += 1;
                while i < chars.len() && chars[i] != '"' {
                    if chars[i] == '\\' {
                        i += 1;
                        match at(i) {
                            'n' => text.push('\n'),
                            '\n' => {
                                line += 1;
                                while at(i + 1).is_whitespace() && at(i + 1) != '\0' {
                                    line += usize::from(at(i + 1) == '\n');
                                    i += 1;
                                }
                            }
                            _ => {}
                        }
                    } else {
                        line += usize::from(chars[i] == '\n');
                        text.push(chars[i]);
                    }
                    i += 1;
                }
                push_text(&mut texts, begin, text);
            }
            '\'' if at(i + 1) == '\\' => {
                i += 2;
                while i < chars.len() && at(i + 1) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            '\'' if at(i + 2) == '\'' => i += 2,
            _ => {}
        }
        i += 1;
    }
    comments.pieces.extend(texts);
    comments.pieces
}

fn push_text(texts: &mut Vec<Piece>, line: usize, text: String) {
    let words = text.split_whitespace().filter(|w| w.chars().filter(|c| c.is_alphabetic()).count() > 1).count();
    if words >= 3 && !text.contains(';') {
        texts.push(Piece { line, kind: Kind::Text, text });
    }
}

/// Comments, docstrings and string literals of Python.
fn python(source: &str) -> Vec<Piece> {
    let mut comments = Comments::default();
    let mut texts = Vec::new();
    let chars: Vec<char> = source.chars().collect();
    let (mut i, mut line) = (0, 1);
    while i < chars.len() {
        match chars[i] {
            '\n' => line += 1,
            '#' => {
                let end = (i..chars.len()).find(|&j| chars[j] == '\n').unwrap_or(chars.len());
                let text: String = chars[i..end].iter().collect();
                comments.push(line, Kind::Comment, text.trim_start_matches('#').trim());
                i = end;
                continue;
            }
            quote @ ('"' | '\'') => {
                let triple = chars[i..].starts_with(&[quote; 3]);
                let (begin, size) = (line, if triple { 3 } else { 1 });
                let mut j = i + size;
                while j < chars.len() && !(chars[j..].starts_with(&[quote; 3][..size])) {
                    j += usize::from(chars[j] == '\\') + 1;
                }
                let text: String = chars[(i + size).min(chars.len())..j.min(chars.len())].iter().collect();
                line += text.matches('\n').count();
                if triple {
                    let text = text.lines().map(|l| if l.trim_start().starts_with(">>>") { "" } else { l.trim() });
                    let text = text.collect::<Vec<_>>().join("\n");
                    comments.pieces.push(Piece { line: begin, kind: Kind::Doc, text });
                } else {
                    push_text(&mut texts, begin, text);
                }
                i = j + size;
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    comments.pieces.extend(texts);
    comments.pieces
}

/// Paragraphs of Markdown outside code blocks.
fn markdown(source: &str) -> Vec<Piece> {
    let mut paragraphs = Comments::default();
    let mut fenced = false;
    for (i, text) in source.lines().enumerate() {
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !text.starts_with("    ") && !text.trim().is_empty() {
            paragraphs.push(i + 1, Kind::Paragraph, text);
        }
    }
    paragraphs.pieces
}

/// Comments of shell scripts, TOML and YAML.
fn hashes(source: &str) -> Vec<Piece> {
    let mut comments = Comments::default();
    for (i, text) in source.lines().enumerate() {
        if let Some(text) = text.trim_start().strip_prefix("# ") {
            comments.push(i + 1, Kind::Comment, text);
        }
    }
    comments.pieces
}

/// Lines wider than [`COLUMNS`]: comments, documents and Python; rustfmt has the code.
pub fn wide(root: &Path, files: &[PathBuf]) -> Result<Vec<Finding>, String> {
    let listed = if files.is_empty() { tracked(root)? } else { files.to_vec() };
    let mut found = Vec::new();
    for file in listed {
        let kind = file.extension().and_then(|e| e.to_str()).unwrap_or("").to_string();
        let is_exempt = is_exempt(&file.to_string_lossy()) || file.starts_with(".github");
        if !matches!(&kind[..], "rs" | "md" | "py") || is_exempt {
            continue;
        }
        let Ok(source) = std::fs::read_to_string(root.join(&file)) else { continue };
        for (i, line) in source.lines().enumerate() {
            // Rust's code is rustfmt's; tables of documents, addresses and tests of documents cannot be broken.
            let code = kind == "rs" && (!line.trim_start().starts_with("//") || line.contains("let "));
            let fixed = kind == "md" && line.starts_with('|') || line.contains("://");
            let count = line.chars().count();
            if count > COLUMNS && !code && !fixed {
                let advice = format!("{count} columns, the limit is {COLUMNS}");
                let text = line.trim().chars().take(80).collect();
                found.push(Finding { file: file.clone(), line: i + 1, advice, text });
            }
        }
    }
    Ok(found)
}
