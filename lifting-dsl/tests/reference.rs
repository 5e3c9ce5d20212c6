//! Checks of `docs/language.md` against the language: examples, grammar, limits and index of codes.
//!
//! `UPDATE=1 cargo test -p lifting-dsl --test suite reference` rewrites the index from `src/language/codes.md`.

use lifting_dsl::body::{Factor, MAX_STAGES, MAX_TAPS};
use lifting_dsl::parse::MAX_DEPTH;
use lifting_dsl::scheme::{MAX_OFFSET, MAX_SHIFT, MAX_STEPS};
use lifting_dsl::weight::MAX_BITS;
use lifting_dsl::{Boundary, Domain, Format, codes, compile, print_scheme};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const START: &str = "<!-- codes -->\n";
const END: &str = "<!-- /codes -->";

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md")
}

fn reference() -> String {
    std::fs::read_to_string(path()).expect("the reference").replace("\r\n", "\n")
}

/// Code blocks with their info strings.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').expect("a line break")).collect()
}

/// The codes of all errors and warnings of a text.
fn codes_of(source: &str) -> BTreeSet<&'static str> {
    match compile(source) {
        Ok(compiled) => compiled.warnings,
        Err(diagnostics) => diagnostics,
    }
    .iter()
    .map(|d| d.code)
    .collect()
}

#[test]
fn examples_compile_or_give_the_code_they_name() {
    let text = reference();
    let (mut good, mut bad) = (0, 0);
    for (info, source) in blocks(&text) {
        let mut words = info.split(' ');
        if words.next() != Some("lifting") {
            continue;
        }
        let expected: BTreeSet<&str> = words.collect();
        assert_eq!(codes_of(source), expected, "{source}");
        if expected.is_empty() {
            good += 1;
            for scheme in compile(source).unwrap().schemes {
                assert_eq!(compile(&print_scheme(&scheme)).unwrap().schemes, [scheme], "printing loses something");
            }
        } else {
            bad += 1;
        }
    }
    assert!(good >= 11 && bad >= 50, "too few examples found: {good} good ones, {bad} bad ones");
}

#[test]
fn the_grammar_is_the_parsers() {
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/language/parse.rs")).unwrap();
    let docs: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let grammar: Vec<&str> = docs
        .into_iter()
        .skip_while(|l| *l != " ```text")
        .skip(1)
        .take_while(|l| *l != " ```")
        .map(|l| &l[1..])
        .collect();
    let text = reference();
    let (_, printed) = blocks(&text).into_iter().find(|(info, _)| *info == "text").expect("a block of grammar");
    assert_eq!(printed.lines().collect::<Vec<_>>(), grammar);
}

#[test]
fn every_word_is_explained() {
    let text = reference();
    let (body, _) = text.split_once(START).unwrap();
    let words = (Boundary::ALL.map(Boundary::name).into_iter())
        .chain(Format::ALL.map(Format::name))
        .chain(Factor::ALL.map(|f| if f == Factor::Lifting { "factor lifting;" } else { "factor lattice;" }))
        .chain([Domain::Integer, Domain::Real].map(|d| match d {
            Domain::Integer => "domain integer;",
            Domain::Real => "domain real;",
        }))
        .chain(["rotate(a, b);", "reflect(a, b);", "matrix(a, b, c, d);", "sqrt(x)", "f64(x)", "gain shift s;"]);
    for word in words {
        assert!(body.contains(&format!("`{word}`")), "`{word}` is not explained");
    }
}

#[test]
fn limits_are_those_of_the_code() {
    let text = reference();
    let commas = |n: u64| if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) };
    for row in [
        format!("| nesting of parentheses, signs and functions | {MAX_DEPTH} | L0105 |"),
        format!("| index of a read, position of a filter | ±{} | L0601 |", commas(MAX_OFFSET as u64)),
        format!("| steps of a wavelet | {} | L0602 |", commas(MAX_STEPS as u64)),
        format!("| stages of a lattice | {MAX_STAGES} | L0602 |"),
        format!("| taps of a filter | {MAX_TAPS} | L0602 |"),
        format!("| shift, gain shift | {MAX_SHIFT} | L0405, L0406 |"),
        format!("| bits of a numerator or denominator | {} | L0603 |", commas(MAX_BITS)),
    ] {
        assert!(text.contains(&row), "{row}");
    }
    assert!(!codes_of(&" ".repeat(1_048_576)).contains("L0004") && codes_of(&" ".repeat(1_048_577)).contains("L0004"));
}

#[test]
fn the_index_is_that_of_the_compiler() {
    let text = reference();
    let (before, rest) = text.split_once(START).expect("the start of the index");
    let (printed, after) = rest.split_once(END).expect("the end of the index");
    let index = codes::INDEX.replace("\r\n", "\n");
    let expected = format!("\n{index}\n");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path(), format!("{before}{START}{expected}{END}{after}")).unwrap();
    } else {
        assert!(printed == expected, "run this with UPDATE=1");
    }
    for entry in codes::entries() {
        let named = blocks(entry.text).iter().all(|(info, _)| *info == format!("lifting {}", entry.code));
        assert!(named, "{}: an example of another code", entry.code);
    }
}
