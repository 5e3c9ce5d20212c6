//! The grammars are current, and parse all `.lift` files of the repository.

use super::{editors, run};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn grammars_are_current() {
    run(true).unwrap();
}

/// All `.lift` files below a folder, build outputs aside.
fn lift_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !["target", "node_modules", "site"].contains(&name.as_str()) {
            lift_files(&path, files);
        } else if name.ends_with(".lift") {
            files.push(path);
        }
    }
}

/// Whether a tool runs. Without it a test is skipped, unless `LIFTING_REQUIRE_EDITORS` is 1.
fn has(tool: &str, arguments: &[&str]) -> bool {
    let found = Command::new(tool).args(arguments).output().is_ok_and(|output| output.status.success());
    if !found {
        let required = std::env::var("LIFTING_REQUIRE_EDITORS").is_ok_and(|value| value == "1");
        assert!(!required, "LIFTING_REQUIRE_EDITORS=1, and `{tool}` does not run");
        eprintln!("skipped: `{tool} {}` does not run", arguments.join(" "));
    }
    found
}

#[test]
fn tree_sitter_parses_every_file() {
    let tool = std::env::var("TREE_SITTER").unwrap_or_else(|_| "tree-sitter".into());
    if !has(&tool, &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let from = editors().join("tree-sitter-lift");
    std::fs::create_dir(folder.path().join("queries")).unwrap();
    for name in ["grammar.js", "tree-sitter.json", "queries/highlights.scm"] {
        std::fs::copy(from.join(name), folder.path().join(name)).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&tool);
        command.args(arguments).current_dir(folder.path());
        // Parsers are built here, and no settings are read.
        command.env("HOME", folder.path()).env("XDG_CACHE_HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    let (generated, text) = run(&["generate"]);
    assert!(generated, "{text}");
    let mut files = Vec::new();
    lift_files(&editors().join(".."), &mut files);
    assert!(files.len() > 15);
    let wavelet =
        "wavelet w { domain real; odd -= sqrt(2)*even[0] // c\n ; /// d\n bank { lowpass at -1 [1, 2,]; } }\n";
    for (name, text, parses) in [("good.lift", wavelet, true), ("bad.lift", "wavelet w { odd += ; }", false)] {
        std::fs::write(folder.path().join(name), text).unwrap();
        let (ok, tree) = run(&["parse", name]);
        assert_eq!(ok, parses, "{tree}");
    }
    for file in &files {
        let (ok, text) = run(&["parse", "--quiet", file.to_str().unwrap()]);
        assert!(ok && !text.contains("ERROR"), "{text}");
    }
    // Examples of the language reference.
    let reference = std::fs::read_to_string(editors().join("../docs/language.md")).unwrap();
    let examples: Vec<&str> = reference
        .split("```lifting\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```").map(|(text, _)| text))
        .collect();
    assert!(examples.len() > 10);
    for text in examples {
        std::fs::write(folder.path().join("example.lift"), text).unwrap();
        let (ok, tree) = run(&["parse", "example.lift"]);
        assert!(ok, "{tree}");
    }
    // Captures of the highlights.
    let (ok, text) = run(&["query", "queries/highlights.scm", "good.lift"]);
    assert!(ok, "{text}");
    for capture in ["function.builtin", "keyword", "variable.builtin", "comment.documentation", "type", "number"] {
        assert!(text.contains(capture), "{capture} in {text}");
    }
}

#[test]
fn text_mate_marks_words() {
    let modules = std::env::var("LIFTING_NODE_MODULES").unwrap_or_else(|_| "node_modules".into());
    let modules = PathBuf::from(modules);
    if !has("node", &["--version"]) || !has("ls", &[modules.join("vscode-textmate").to_str().unwrap()]) {
        return;
    }
    let script = editors().join("vscode/test/scopes.js");
    let output = Command::new("node").arg(script).env("NODE_PATH", &modules).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
