//! `liftc fmt`, and the layout of all `.lift` files of the repository.

use crate::common::{Bench, Run, data_file};
use std::path::PathBuf;
use std::process::Stdio;

const LOOSE: &str = "wavelet w{ domain real; // as in papers
    odd-=even [ 0 ];

    // kept
    even += 1/2*odd[0];
    odd *= 2;
    even *= 1/2;
    // last

}
";

const FORMATTED: &str = "wavelet w {
    domain real; // as in papers
    odd -= even[0];

    // kept
    even += 1/2*odd[0];
    odd *= 2;
    even *= 1/2;
    // last
}
";

/// Runs `liftc` with a text as its standard input.
fn piped(bench: &Bench, line: &str, text: &str) -> Run {
    let mut command = bench.command();
    command.args(line.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    Run::from(child.wait_with_output().unwrap())
}

#[test]
fn files_are_formatted_in_place() {
    let bench = Bench::new();
    bench.write("a.lift", LOOSE).write("b.lift", FORMATTED).write("broken.lift", "wavelet w { odd += even[0] }");
    let before = std::fs::metadata(bench.path("b.lift")).unwrap().modified().unwrap();
    let run = bench.run("fmt a.lift broken.lift b.lift missing.lift");
    assert!(run.stdout.is_empty());
    let said = run.fails(1, "expected `;`").stderr;
    assert!(said.contains("missing.lift: cannot read"), "{said}");
    // Files with errors do not hinder others.
    assert_eq!(bench.read("a.lift"), FORMATTED.as_bytes());
    assert_eq!(bench.read("broken.lift"), b"wavelet w { odd += even[0] }");
    let after = std::fs::metadata(bench.path("b.lift")).unwrap().modified().unwrap();
    assert_eq!(before, after, "it was formatted, so it is not written");
    assert_eq!(piped(&bench, "fmt -", LOOSE).ok().stdout, FORMATTED);
    piped(&bench, "fmt -", "wavelet").fails(1, "standard input:1:8");
    bench.run("fmt").fails(2, "<FILE>");
}

#[test]
fn check_prints_a_patch() {
    let bench = Bench::new();
    bench.write("a.lift", LOOSE).write("b.lift", FORMATTED);
    bench.run("fmt --check b.lift").ok();
    let run = bench.run("fmt --check a.lift b.lift");
    insta::assert_snapshot!("check_patch", run.stdout);
    run.fails(1, "a.lift: is not formatted help: `liftc fmt a.lift` formats it");
    assert_eq!(bench.read("a.lift"), LOOSE.as_bytes());
    piped(&bench, "fmt --check -", LOOSE).fails(1, "standard input: is not formatted");
}

/// Patches of `--check` turn texts into formatted ones.
#[test]
fn patches_apply() {
    if std::process::Command::new("patch").arg("--version").output().is_err() {
        eprintln!("skipped: `patch` is not installed");
        return;
    }
    let bench = Bench::new();
    let one = "wavelet w { domain real; odd -= even[0]; even *= 2; }";
    for text in [LOOSE, one, "\n\n\n// only\n\n\n\n// comments", &format!("\n{}\n{one}\n\n\n", FORMATTED.repeat(3))] {
        bench.write("a.lift", text);
        let patch = bench.run("fmt --check a.lift").stdout;
        bench.write("a.patch", &patch).write("b.lift", text);
        let output =
            std::process::Command::new("patch").args(["b.lift", "a.patch"]).current_dir(bench.path("")).output();
        assert!(output.as_ref().is_ok_and(|o| o.status.success()), "{output:?}\n{patch}");
        bench.run("fmt a.lift").ok();
        assert_eq!(bench.read("a.lift"), bench.read("b.lift"), "{patch}");
    }
}

/// All `.lift` files below a folder, build outputs aside.
pub fn lift_files(folder: PathBuf, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && !["target", "node_modules", "site"].contains(&name.as_str()) {
            lift_files(path, files);
        } else if name.ends_with(".lift") {
            files.push(path);
        }
    }
}

#[test]
fn files_of_the_repository_are_formatted() {
    let mut files = Vec::new();
    lift_files(data_file("../.."), &mut files);
    assert!(files.len() > 15, "{files:?}");
    let bench = Bench::new();
    let run = bench.command().arg("fmt").arg("--check").args(&files).output().unwrap();
    assert!(run.status.success(), "run `liftc fmt`:\n{}", String::from_utf8_lossy(&run.stdout));
}
