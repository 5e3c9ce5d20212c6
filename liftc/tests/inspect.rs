//! `check`, `list`, `show`, and the layout of the language's errors.

use crate::common::Bench;

const BROKEN: &str = "\
/// A wavelet with mistakes.
wavelet broken {
    domain integer;
    odd -= (odd[0] + even[1]) >> 1;
    even += (od[-1] + odd[0] + 2) >> 2;
    even *= 2;
}
wavelet unfinished {
    domain real;
    odd += even[0]
    even += 1/4*odd[0];
}
";

#[test]
fn errors_of_a_file_are_shown_together() {
    let bench = Bench::new();
    bench.write("broken.lift", BROKEN).write("fine.lift", "wavelet fine { domain integer; odd -= even[0]; }");
    let run = bench.run("check broken.lift fine.lift missing.lift");
    assert_eq!(run.code, 1);
    insta::assert_snapshot!("check_stdout", run.stdout);
    insta::assert_snapshot!("check_stderr", run.stderr);
    bench.run("check fine.lift").ok();
    bench.run("check").fails(2, "<FILE>");
}

#[test]
fn warnings_are_shown_and_stop_nothing() {
    let bench = Bench::new();
    bench.write("w.lift", "wavelet w { domain real; const unused = 1/3; odd -= even[0]; }");
    let run = bench.run("check w.lift").ok();
    insta::assert_snapshot!("warning", run.stderr);
}

#[test]
fn the_catalogue_is_listed_and_shown() {
    let bench = Bench::new();
    let all = bench.run("list").ok().stdout;
    for entry in lifting_filters::CATALOGUE {
        assert!(all.lines().any(|l| l.trim_start().starts_with(entry.name)), "{}", entry.name);
        let shown = bench.run_args(&["show", entry.name]).ok().stdout;
        assert!(lifting_dsl::compile(&shown).is_ok(), "{}", entry.name);
    }
    insta::assert_snapshot!("list_vc2", bench.run("list VC-2").ok().stdout);
    insta::assert_snapshot!("show_dd137", bench.run("show dd137").ok().stdout);
    bench.run("list nosuchthing").fails(1, "no wavelet of the catalogue matches");
}

#[test]
fn help_teaches() {
    let bench = Bench::new();
    insta::assert_snapshot!("help", bench.run("--help").ok().stdout);
    insta::assert_snapshot!("help_transform", bench.run("transform --help").ok().stdout);
}

/// At 80 columns nothing is cut, and preformatted (indented) lines are not broken.
#[test]
fn help_fits_80_columns() {
    use clap::CommandFactory;
    let bench = Bench::new();
    let mut root = liftc::cli::Cli::command();
    root.build();
    for command in std::iter::once(&root).chain(root.get_subcommands()) {
        let name = if command.get_name() == "liftc" { "" } else { command.get_name() };
        let mut run = bench.command();
        let run = run.args(Some(name).filter(|n| !n.is_empty())).arg("--help").env("COLUMNS", "80").output().unwrap();
        let help = String::from_utf8(run.stdout).unwrap();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
        let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let mut lines = notes.lines().peekable();
        while let Some(line) = lines.next() {
            if line.starts_with(' ') {
                assert!(help.lines().any(|l| l == line), "{name}: `{line}` is broken");
            } else if line.chars().count() > 80 {
                let next = lines.peek().copied().unwrap_or_default();
                assert!(next.is_empty() || next.starts_with(' '), "{name}: `{next}` belongs to the paragraph before");
            }
        }
    }
}

#[test]
fn json_for_programs() {
    let bench = Bench::new();
    bench
        .write("broken.lift", BROKEN)
        .write("w.lift", "wavelet w { domain real; const unused = 1/3; odd -= even[0]; }");
    let run = bench.run("check broken.lift w.lift missing.lift --json");
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json[0]["file"], "broken.lift");
    let first = &json[0]["diagnostics"][0];
    assert_eq!((&first["code"], &first["severity"]), (&"L0301".into(), &"error".into()));
    assert_eq!((&first["places"][0]["line"], &first["places"][0]["column"]), (&4.into(), &13.into()));
    let byte = |end: &str| first["places"][0][end].as_u64().unwrap() as usize;
    assert_eq!(&BROKEN[byte("start")..byte("end")], "odd[0]");
    assert_eq!((&json[1]["wavelets"][0], &json[1]["diagnostics"][0]["severity"]), (&"w".into(), &"warning".into()));
    assert!(json[2]["unreadable"].as_str().unwrap().contains("cannot read"));
    let run = bench.run("check w.lift --json").ok();
    assert!(run.stdout.contains("L0901"));
    assert_eq!(bench.run("check w.lift --json --deny warnings").code, 1);

    let json: serde_json::Value = serde_json::from_str(&bench.run("list --json").ok().stdout).unwrap();
    assert_eq!(json.as_array().unwrap().len(), lifting_filters::CATALOGUE.len());
    assert!(json.as_array().unwrap().iter().any(|w| w["name"] == "dd137" && w["domain"] == "integer"));

    let json: serde_json::Value = serde_json::from_str(&bench.run("explain dd137 --json").ok().stdout).unwrap();
    assert_eq!((&json["name"], &json["directions"][1]["direction"]), (&"dd137".into(), &"inverse".into()));
    assert_eq!(json["directions"][0]["steps"].as_array().unwrap().len(), 2);
    assert!(json["moves"].as_array().unwrap().iter().any(|m| m["schedule"] == "rows" && m["moved"].is_number()));
    let json: serde_json::Value = serde_json::from_str(&bench.run("explain L0301 --json").ok().stdout).unwrap();
    assert!(json["text"].as_str().unwrap().starts_with("Cause: "));
}
