//! Hostile texts: none makes the compiler panic, overflow its stack, or work for long; whatever compiles survives
//! printing.

use crate::format::formatted;
use lifting_dsl::{compile, parse, print, print_scheme};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::time::{Duration, Instant};

/// Runs every operation on a text.
fn exercise(source: &str) {
    let (file, diagnostics) = parse(source);
    for label in diagnostics.iter().flat_map(|d| &d.labels) {
        assert!(source.get(label.span.start..label.span.end).is_some(), "a span outside of the text: {label:?}");
    }
    if !diagnostics.iter().any(|d| d.is_error()) {
        formatted(source);
    }
    let printed = print(&file);
    if diagnostics.is_empty() {
        let (mut again, mut file) = (parse(&printed).0, file);
        again.erase_spans();
        file.erase_spans();
        assert_eq!(again, file, "{source}\n{printed}");
    }
    match compile(source) {
        Ok(compiled) => {
            for s in &compiled.schemes {
                assert_eq!(compile(&print_scheme(s)).unwrap().schemes, std::slice::from_ref(s));
            }
        }
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(|d| d.is_error()));
            assert!(diagnostics.iter().all(|d| source.get(d.span().start..d.span().end).is_some()));
            assert!(diagnostics.is_sorted_by_key(|d| (d.code == "L0005", d.span())));
        }
    }
}

const SEED: &str = "/// Doc.\nwavelet w {\n domain real; boundary whole-symmetric; const a = -1.5e-3 / (2 + sqrt(3));\n profile jpeg2000 { boundary edge; gain shift 0; }\n odd += a*(even[0] - 0x1f*even[-1]) + 1_0.25*even[2];\n even *= 1/a;\n}\n// comment\nwavelet v { domain integer; odd -= (even[0] + even[1] + 1) >> 1; }\n\
    wavelet l { domain real; lattice paper { rotate(3/5, -4/5); reflect(1, 2); matrix(1, 0.5, 2, 3); } }\n";

const BANK: &str =
    "wavelet b { domain real; bank { lowpass at 0 [1/2, 1/2]; highpass at 0 [-1, 1]; } factor lifting; }\n";

/// Pieces for mutations.
const PIECES: &[&str] = &[
    "wavelet",
    "domain",
    "integer",
    "real",
    "boundary",
    "profile",
    "vc2",
    "gain",
    "shift",
    "const",
    "odd",
    "even",
    "sqrt",
    "f64",
    "lattice",
    "bank",
    "factor",
    "paper",
    "rotate(1, 2);",
    "at",
    "lowpass at -1 [1, 2];",
    "highpass",
    "a",
    "w",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "+",
    "-",
    "*",
    "/",
    "=",
    "+=",
    "-=",
    "*=",
    ">>",
    "0",
    "1",
    "2.5",
    "1e9",
    "1e-400",
    "0x",
    "9a",
    "///",
    "//",
    "/*",
    "\n",
    "\"",
    "'",
    "é",
    "−",
    "\u{feff}",
    "\r",
    "\0",
    "😀",
    "even[0]",
    "odd[-1]",
    "_",
];

fn tokens(source: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for c in source.chars() {
        let joins = |last: &str| last.chars().all(char::is_alphanumeric) && c.is_alphanumeric();
        match out.last_mut() {
            Some(last) if joins(last) => last.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

type Edit = (u8, prop::sample::Index, &'static str);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((0..4u8, any::<prop::sample::Index>(), prop::sample::select(PIECES)), 1..6)
}

/// A text with tokens removed, inserted, replaced and swapped.
fn mutated(source: &str, edits: Vec<Edit>) -> String {
    let mut tokens = tokens(source);
    for (edit, at, piece) in edits {
        let at = at.index(tokens.len());
        match edit {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, piece.to_string()),
            2 => tokens[at] = piece.to_string(),
            _ => {
                let last = tokens.len() - 1;
                tokens.swap(at, (at + 1).min(last));
            }
        }
    }
    tokens.concat()
}

proptest! {
    // Banks are slow to factor.
    #![proptest_config(ProptestConfig {
        cases: 100,
        rng_seed: RngSeed::Fixed(53),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_banks(edits in edits()) {
        exercise(&mutated(BANK, edits));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 800,
        rng_seed: RngSeed::Fixed(97),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text(source in any::<String>()) {
        exercise(&source);
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_pieces(pieces in prop::collection::vec((prop::sample::select(PIECES), any::<bool>()), 0..60)) {
        let text: String = pieces.iter().flat_map(|(p, space)| [*p, if *space { " " } else { "" }]).collect();
        exercise(&text);
        exercise(&format!("wavelet w {{ domain real; odd += even[0]; {text}"));
    }

    #[test]
    fn mutations(edits in edits()) {
        exercise(&mutated(SEED, edits));
    }
}

#[test]
fn the_seeds_are_fine() {
    for text in [SEED, BANK] {
        compile(text).unwrap();
        exercise(text);
    }
}

/// A text of about `bytes` bytes: `before`, a repeated unit, `after`.
fn repeated(before: &str, unit: &str, after: &str, bytes: usize) -> String {
    format!("{before}{}{after}", unit.repeat(bytes / unit.len()))
}

#[test]
fn long_texts_take_no_long_time() {
    let real = "wavelet w { domain real; ";
    let step = "wavelet w { domain real; odd += ";
    let integer = "wavelet w { domain integer; odd -= ";
    let constants = |n: usize| (0..n).map(|i| format!("const c{i}=2;")).collect::<String>();
    let taps = (-1000..1000).map(|o| format!("even[{o}]")).collect::<Vec<_>>().join("+");
    let names = (0..20_000).map(|i| format!("+d{i}")).collect::<String>();
    let random = (0..120).map(|i: u64| format!("0.{}", (i + 1).pow(7) % 9973)).collect::<Vec<_>>().join(",");
    let texts = [
        repeated(step, "(", "", 300_000),
        repeated(step, "-", "even[0];}", 300_000),
        repeated(step, "sqrt(", "", 300_000),
        repeated(step, "even[0]+", "even[1];}", 300_000),
        repeated(step, "x+", "even[1];}", 300_000),
        repeated(step, "2*", "even[1];}", 300_000),
        repeated(step, "even[0]*", "even[1];}", 300_000),
        repeated(integer, "even[0]>>", "1;}", 300_000),
        repeated(real, "odd+=even[0];", "}", 300_000),
        repeated(real, "const a=a;", "}", 300_000),
        repeated(real, "x", "}", 300_000),
        repeated(real, "domain real;", "}", 300_000),
        repeated(real, "profile vc2 {", "}", 300_000),
        repeated(real, "profile vc2 {}", "}", 300_000),
        repeated(real, "lattice{", "}", 300_000),
        repeated(real, "bank{}factor lifting;", "}", 300_000),
        repeated(&format!("{real}lattice{{"), "rotate(1,2);", "}}", 300_000),
        repeated(&format!("{real}lattice{{"), "rotate(3.14,2.71);", "}}", 4_000),
        repeated(&format!("{real}bank{{lowpass at 0["), "1,", "];}}", 300_000),
        repeated("", "wavelet w{domain real;bank{lowpass at 0[1,1];highpass at 0[1,-1];}}", "", 300_000),
        repeated(
            "",
            &format!("wavelet w{{domain real;bank{{lowpass at 0[{random}];highpass at 1[{random}];}}}}"),
            "",
            200_000,
        ),
        repeated("", "wavelet", "", 300_000),
        repeated("", "wavelet w{", "", 300_000),
        repeated("", "wavelet w{}", "", 300_000),
        repeated("", "/// doc\n", "", 300_000),
        repeated("", "/*", "", 300_000),
        repeated("", "\"'", "", 300_000),
        repeated("", "{", "", 300_000),
        repeated("", "}", "", 300_000),
        repeated("", "@ ", "", 300_000),
        repeated("", "é", "", 300_000),
        repeated(step, "9", "*even[0];}", 300_000),
        repeated(step, "1e1000*", "even[0];}", 300_000),
        repeated(step, "1e1000/1e1000*", "even[0];}", 300_000),
        repeated(step, "sqrt(1e999)*1e-300*", "even[0];}", 300_000),
        repeated(&format!("{step}({taps})"), "*1.01", ";}", 150_000),
        repeated(&format!("{step}({taps})"), "*sqrt(2)/sqrt(2)", ";}", 150_000),
        repeated(real, &format!("odd+={taps};"), "}", 300_000),
        format!("{real}{}odd += even[0]{names};}}", constants(30_000)),
    ];
    for text in texts {
        let start = Instant::now();
        let (file, _) = parse(&text);
        drop(print(&file));
        let result = compile(&text);
        // Generous, as tests run on busy machines: a failure takes minutes or overflows the stack.
        let time = start.elapsed();
        assert!(time < Duration::from_secs(60), "{time:?} for {}…", text.chars().take(80).collect::<String>());
        if std::env::var_os("TIMES").is_some() {
            eprintln!("{time:?} {} {}", result.is_ok(), text.chars().take(60).collect::<String>());
        }
    }
}
