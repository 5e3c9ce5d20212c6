//! Snapshots of every error and warning of the language: code, message, places and help.

use lifting_dsl::{Boundary, Diagnostic, Domain, Op, Phase, RealStep, Scheme, Span, Step, Weight, compile};
use lifting_dsl::{Severity, codes};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Line and column, both from 1; columns count characters.
fn position(source: &str, at: usize) -> String {
    let before = &source[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{line}:{column}")
}

fn place(source: &str, span: Span) -> String {
    let text: String = span.text(source).chars().take(50).collect();
    format!("{} `{}`", position(source, span.start), text.replace('\n', "⏎"))
}

fn compact(source: &str, diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for d in diagnostics {
        writeln!(out, "{d}").unwrap();
        for label in &d.labels {
            let mark = if label.primary { "->" } else { " ." };
            writeln!(out, "  {mark} {}: {}", place(source, label.span), label.text).unwrap();
        }
        if let Some(help) = &d.help {
            writeln!(out, "  help: {help}").unwrap();
        }
    }
    out
}

fn diagnostics(source: &str) -> Vec<Diagnostic> {
    match compile(source) {
        Ok(compiled) => {
            assert!(compiled.warnings.iter().all(|d| d.severity == Severity::Warning));
            compiled.warnings
        }
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(Diagnostic::is_error));
            diagnostics
        }
    }
}

/// Faulty texts. A text without `wavelet` is the body of one: in the real domain, or after `i:` in the integer domain.
const CASES: &[(&str, &[&str])] = &[
    (
        "lexis",
        &[
            "odd += even[0] @ even[1];",
            "odd += \"even\";",
            "odd += even[0] << 2;",
            "odd += even[0]^2;",
            "odd −= 2×even[0];",
            "# a comment\n odd += even[0];",
            "/* a\n comment */ odd += even[0];",
            "odd += 2.0f32*even[0];",
            "odd += 9even[0];",
            "odd += 1e*even[0];",
            "odd += .5*even[0];",
            "odd += 0b12*even[0];",
            "odd += 0x*even[0];",
        ],
    ),
    (
        "grammar",
        &[
            "",
            "// only a comment\n",
            "wavelet w { domain real; odd += even[0]",
            "wavelet v { domain real; odd += even[0];\nwavelet w { domain real; odd += even[0]; }",
            "wavelet { domain real; odd += even[0]; }",
            "wavelet fn { domain real; odd += even[0]; }",
            "wavelet 9x { domain real; odd += even[0]; } wavelet w { domain real; odd += even[0]; }",
            "wavelet w domain real; odd += even[0];",
            "wavlet w { domain real; odd += even[0]; }",
            "domain real; wavelet w { domain real; odd += even[0]; }",
            "pub wavelet w { domain real; odd += even[0]; }",
            "wavelet w { domain real; odd += even[0]; } }",
            "odd += even[0]\n even += odd[0];",
            "odd += 2 even[0]; even += odd[0];",
            "odd += (even[0] + even[1]; even += odd[0];",
            "odd += 2*(even[0] even[1]);",
            "odd += even[0] +; even += odd[0] *;",
            "odd += +even[0];",
            "odd = even[0];",
            "even /= 2;",
            "even[0] += odd[0];",
            "odd even[0];",
            "odd += even;",
            "odd += even[k+1]; even += odd[1.5] + odd[]; odd += even[0 1];",
            "const odd = 2;",
            "const a 2; odd += a*even[0];",
            "const a = ; odd += a*even[0];",
            "let a = 2; odd += a*even[0];",
            "evn += odd[0];",
            "apply odd[0];",
            "gain shift 1; odd += even[0];",
            "odd += even[0];; 5; even += odd[0];",
            "profile vc2 { boundary edge; odd += even[0];",
            "profile vc2 { edge; } odd += even[0];",
            "i:profile vc2 { gain 1; gain shift; } odd -= even[0];",
            "/// about a constant\n const a = 2; odd += a*even[0];",
            "wavelet w { domain real; odd += even[0]; }\n/// the end",
        ],
    ),
    (
        "names",
        &[
            "const alpha = 2; odd += alpa*even[0];",
            "odd += 2*eve[0];",
            "odd += 2*e[0];",
            "odd += gamma*even[0];",
            "odd += a*even[0]; const a = 2;",
            "const a = 2; const a = 3; odd += a*even[0];",
            "wavelet w { domain real; odd += even[0]; } wavelet w { domain real; odd += even[0]; }",
            "i:profile vc2 { gain shift 1; } profile vc2 { boundary edge; } odd -= even[0];",
            "boundary edge; boundary zero; domain real; odd += even[0];",
            "i:profile vc2 { boundary edge; boundary edge; gain shift 1; gain shift 2; } odd -= even[0];",
            "wavelet w { domain float; odd += even[0]; }",
            "wavelet w { domain Integer; odd += even[0]; }",
            "wavelet w { domain complex; odd += even[0]; }",
            "wavelet w { odd += even[0]; }",
            "wavelet w { domain real; }",
            "boundary symmetric; odd += even[0];",
            "boundary reflect; odd += even[0];",
            "boundary whole-symetric; odd += even[0];",
            "boundary nearest; odd += even[0];",
            "profile jpeg { } odd += even[0];",
            "profile jpeg200 { boundary perodic; } odd += even[0];",
            "const alpha = 2; odd += alpha(even[0] + even[1]);",
            "odd += sin(2)*even[0];",
            "odd += sqr(2)*even[0];",
            "odd += sqrt(2, 3)*even[0] + sqrt()*even[1];",
            "const unused = 2; const _kept = 3; odd += even[0];",
        ],
    ),
    (
        "expressions",
        &[
            "odd += even[0] + odd[-1];",
            "odd += even[0]*even[1];",
            "odd += 1/even[0];",
            "odd += even[0]/0; even += 1/(2 - 2)*odd[0];",
            "const a = even[0]; odd += a*even[1];",
            "odd += sqrt(even[0]);",
            "odd += even[0] - even[0] + even[1];",
            "odd += 0*even[0];",
            "odd += sqrt(-2)*even[0];",
            "odd += 2;",
            "odd += even[0]; even *= odd[0];",
            "odd += even[0]; even *= 0; odd *= 1; even *= 1e-310; odd *= 1e-400;",
            "odd += 1e400*even[0] + 1e-400*even[1];",
            "odd += 1e60*even[0] + 1e-60*even[1];",
            "const a = 1e300*sqrt(2); const b = a*a; odd += b*even[0];",
        ],
    ),
    (
        "integers",
        &[
            "i:odd -= 1.5*even[0]; even += sqrt(2)*odd[0]; odd -= (even[0] + 0.5) >> 1;",
            "i:odd -= 4000000000*even[0]; even += (odd[0] + 0x80000000) >> 1;",
            "i:odd -= (even[0] + even[1])/2;",
            "i:const half = 1/2; odd -= half*even[0];",
            "i:odd -= even[0]; even *= 2;",
            "i:odd -= even[0] >> 31; even += odd[0] >> -1; odd -= even[0] >> 1.5; odd -= even[0] >> odd[0];",
            "i:odd -= even[0] >> 1 >> 1;",
            "i:odd -= (even[0] >> 1) + even[1];",
            "i:odd -= even[0] + even[1] + 1;",
            "i:profile vc2 { gain shift 31; } profile jpeg2000 { gain shift -1; } odd -= even[0];",
            "i:even += 3;",
            "i:odd -= trunc(even[0] >> 1) + even[1];",
            "i:odd -= half_even(even[0] + even[1]);",
            "i:odd -= half_away(even[0] >> 0); even += trunc(odd[0] >> 1, 2);",
            "i:odd -= half_up((even[0] + 2147483647) >> 2);",
            "i:odd -= tunc(even[0] >> 1); even *= f64(-1);",
            "odd -= trunc(even[0] >> 1); swap;",
        ],
    ),
    (
        "reals",
        &[
            "odd += (even[0] + even[1]) >> 1;",
            "odd += 2*(even[0] >> 1);",
            "odd += even[0] + 1;",
            "profile vc2 { gain shift 1; } odd += even[0];",
        ],
    ),
    (
        "limits",
        &[
            "odd += even[1025] + even[-99999999999999999999];",
            "const a = 1e9999; odd += a*even[0];",
            "const a = 1e1000; const b = a*a; odd += b*even[0];",
        ],
    ),
    (
        "bodies",
        &[
            "lattice { rotate(1, 2) }",
            "lattice { rotate 1, 2; } odd += even[0];",
            "lattice papr { rotate(1, 2); }",
            "lattice { rotate(1, 2); odd += even[0];",
            "lattice { rotat(1, 2); turn(1); rotate(1); reflect(1, 2, 3); matrix(1, 2); }",
            "lattice { rotate(x, even[0]); matrix(1, 2, 1e400, 1e-400); }",
            "lattice { matrix(1, 2, 2, 4); }",
            "lattice { rotate(1, 1); rotate(0, 0); rotate(1, 1); }",
            "lattice { matrix(sqrt(2), 1, 2, sqrt(2)); }",
            "lattice { matrix(1e-200, 1, 1e-200, 2); rotate(1, 1); matrix(1e300, 1, 1e-300, 2); }",
            "lattice { }",
            "lattice { rotate(1, 0); }",
            "lattice paper { rotate(1, 1); rotate(1, 2); }",
            "i:lattice { rotate(1, 1); }",
            "i:bank { lowpass at 0 [1/2, 1/2]; highpass at 0 [-1, 1]; }",
            "lattice { rotate(1, 1); } odd += even[0]; even += odd[0];",
            "lattice { rotate(1, 1); } lattice { rotate(1, 2); } bank { lowpass at 0 [1]; highpass at 1 [1]; }",
            "bank { lowpass 0 [1]; highpass at 1 [1]; }",
            "bank { lowpass at 0.5 [1]; highpass at 5000 [1]; }",
            "bank { lowpass at 0 1, 2; highpass at 1 [1 2]; }",
            "bank { lowpas at 0 [1]; middle at 0 [1]; }",
            "bank { lowpass at 0 [1]; lowpass at 0 [1]; highpass at 1 []; }",
            "bank { lowpass at 0 [1, 1]; }",
            "bank { lowpass at 0 [1, 1]; highpass at 0 [-1, 1]; } factor latice; factor lifting;",
            "odd += even[0]; factor lifting;",
            "factor lifting;",
            "bank { lowpass at 0 [1, 2, 1]; highpass at 0 [1, -2, 1]; }",
            "bank { lowpass at -1 [1, 1]; highpass at 0 [-1, 1]; }",
            "bank { lowpass at 0 [1, 1]; highpass at 2 [-1, 1]; }",
            "bank { lowpass at 0 [1, 1]; highpass at 0 [2, 2]; }",
            "bank { lowpass at 0 [0, 0]; highpass at 0 [2, 2]; }",
            "bank { lowpass at 0 [1, 1]; highpass at 0 [-1, 1]; } factor lattice;",
            "bank { lowpass at -1 [1/4, 1/2, 1/4]; highpass at 0 [-1/2, 1, -1/2]; } factor lattice;",
            "bank { lowpass at 0 [1, 1]; highpass at 0 [1, 1.1]; }",
        ],
    ),
    (
        "advice",
        &[
            "i:odd -= (even[0] + even[1])/3;",
            "i:odd -= even[0]/8;",
            "i:odd -= even[0]/1000;",
            "odd -= median(even[0], even[1]);",
            "boundary half-sample-symmetric; odd -= even[0];",
            "odd -= even[0] ‹‹ 1;",
            "odd -= ‹even[0]›;",
            "odd -= even[0] ›› 1;",
            "wavelet _x { domain real; odd -= even[0]; } wavelet x { domain real; odd -= even[0]; }",
            "wavelet w { domain real; odd -= even[0]; } wavelet W { domain real; odd -= even[0]; }",
        ],
    ),
    (
        "several",
        &["wavelet a {
    domain reel;
    boundary cyclic;
    const x = y;
    odd += x*even[0] + z*even[1]
    even -= odd[0] * odd[1];
    frobnicate;
}

wavelet b {
    domain integer;
    odd -= (even[0] + even[1] + 1)/2;
    even += (odd[-1] + even[0] + 2) >> 2;
"],
    ),
];

fn source_of(case: &str) -> String {
    let bare = case.trim_start();
    if bare.contains("wavelet")
        || bare.contains("wavlet")
        || bare.is_empty()
        || bare.starts_with("//") && !bare.contains("///")
    {
        return case.to_string();
    }
    match case.strip_prefix("i:") {
        Some(body) => format!("wavelet w {{ domain integer; {body} }}"),
        None if case.contains("domain ") => format!("wavelet w {{ {case} }}"),
        None => format!("wavelet w {{ domain real; {case} }}"),
    }
}

fn long_cases() -> Vec<(&'static str, String)> {
    let body = |body: String| format!("wavelet w {{ domain real; {body} }}");
    let products: String = (0..5000).map(|_| "*a/b").collect();
    vec![
        ("text of 2 MiB", " ".repeat(1 << 21)),
        ("100 parentheses", body(format!("odd += {}even[0]{};", "(".repeat(100), ")".repeat(100)))),
        ("100,000 signs", body(format!("odd += {}even[0];", "-".repeat(100_000)))),
        ("1,100 steps", body("odd += even[0];".repeat(1100))),
        ("2,000 digits", body(format!("odd += {}*even[0];", "9".repeat(2000)))),
        ("long products", body(format!("const a = 1e1000; const b = 3e1000; odd += 1{products}*even[0];"))),
        ("300 stages", body(format!("lattice {{ {} }}", "rotate(1, 2);".repeat(300)))),
        ("200 taps", body(format!("bank {{ lowpass at 0 [{}]; highpass at 0 [1]; }}", "1, ".repeat(200)))),
        ("70 letters", body(format!("const {} = 2; odd += even[0];", "n".repeat(70)))),
        ("200 errors", body("odd += x*even[0];".repeat(200))),
    ]
}

#[test]
fn every_diagnostic() {
    let mut seen = BTreeSet::new();
    for (group, cases) in CASES {
        let mut out = String::new();
        for case in *cases {
            let source = source_of(case);
            let found = diagnostics(&source);
            assert!(!found.is_empty(), "nothing reported about {source}");
            seen.extend(found.iter().map(|d| d.code));
            writeln!(out, "{source}\n{}", compact(&source, &found)).unwrap();
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(*group, out);
        });
    }
    let mut out = String::new();
    for (name, source) in long_cases() {
        let found = diagnostics(&source);
        seen.extend(found.iter().map(|d| d.code));
        let shown: Vec<_> = found.iter().take(1).chain(found.iter().skip(1).last()).cloned().collect();
        writeln!(out, "{name}: {} diagnostics\n{}", found.len(), compact(&source, &shown)).unwrap();
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("long", out);
    });
    // L0701 has no source text; it is tested below.
    let known: BTreeSet<_> = codes::entries().map(|entry| entry.code).filter(|c| *c != "L0701").collect();
    assert_eq!(known, seen, "codes that no case shows, or that are not listed");
}

#[test]
fn diagnostics_come_by_position() {
    let (_, cases) = CASES.last().unwrap();
    let starts: Vec<_> = diagnostics(cases[0]).iter().map(|d| d.span().start).collect();
    assert!(starts.is_sorted());
    assert!(starts.len() >= 9, "all errors of a text are reported at once");
}

#[test]
fn broken_steps_of_a_program() {
    let group = |weight, offsets: &[i32]| lifting_dsl::Group { weight, offsets: offsets.to_vec() };
    let real = |groups| Step::Real(RealStep { target: Phase::Odd, op: Op::Add, groups });
    let one = || Weight::integer(1);
    let steps = vec![
        real(vec![]),
        real(vec![group(one(), &[])]),
        real(vec![group(one(), &[1, 0])]),
        real(vec![group(one(), &[0]), group(one(), &[1])]),
        real(vec![group(Weight::integer(2), &[1]), group(one(), &[0])]),
        real(vec![group(Weight::integer(0), &[0])]),
        real(vec![group(Weight::Irrational(f64::NAN), &[0])]),
        real(vec![group(one(), &[-5000])]),
        lifting_dsl::Step::Integer(lifting_dsl::IntegerStep {
            target: Phase::Odd,
            op: Op::Sub,
            taps: vec![lifting_dsl::Tap { offset: 0, weight: 1 }],
            rounding: 0,
            shift: 40,
            mode: lifting_dsl::RoundingMode::Floor,
        }),
    ];
    let real_errors = Scheme::from_steps("fn", Domain::Real, Boundary::Zero, steps.clone()).unwrap_err();
    let integer_errors = Scheme::from_steps("a b", Domain::Integer, Boundary::Zero, steps[8..].to_vec()).unwrap_err();
    let none = Scheme::from_steps("w", Domain::Integer, Boundary::Zero, vec![]).unwrap_err();
    let all: Vec<String> = [real_errors, integer_errors, none].concat().iter().map(|d| d.to_string()).collect();
    insta::assert_snapshot!(all.join("\n"));
}
