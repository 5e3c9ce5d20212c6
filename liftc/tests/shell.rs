//! `liftc completions` and `liftc man`.

use crate::common::Bench;
use clap::CommandFactory;

#[test]
fn completions_name_every_command() {
    let bench = Bench::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = bench.run_args(&["completions", shell]).ok().stdout;
        for command in liftc::cli::Cli::command().get_subcommands() {
            assert!(text.contains(command.get_name()), "{shell}: {}", command.get_name());
        }
        assert!(text.contains("whole-symmetric"), "{shell}: values of options");
    }
    bench.run("completions tcsh").fails(2, "invalid value 'tcsh'");
}

/// Bash offers the completions.
#[cfg(unix)]
#[test]
fn bash_completes() {
    use std::process::{Command, Stdio};
    let bench = Bench::new();
    bench.write("liftc.bash", bench.run("completions bash").ok().stdout);
    let script = "source ./liftc.bash
COMP_WORDS=(liftc transform --bound); COMP_CWORD=2; _liftc liftc --bound transform; echo \"${COMPREPLY[@]}\"
COMP_WORDS=(liftc tr); COMP_CWORD=1; _liftc liftc tr liftc; echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    let bash = bash.args(["--norc", "-c", script]).current_dir(bench.path(".")).stdin(Stdio::null());
    let output = bash.output().expect("bash is there");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--boundary\ntransform transcode\n", "{output:?}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let bench = Bench::new();
    let first = bench.run("man").ok().stdout;
    assert!(first.contains(".SH NAME") && first.contains("liftc\\-transform"), "{first}");
    bench.run("man pages/man1").ok();
    for command in liftc::cli::Cli::command().get_subcommands() {
        let page = String::from_utf8(bench.read(&format!("pages/man1/liftc-{}.1", command.get_name()))).unwrap();
        assert!(page.contains(&format!("liftc\\-{}", command.get_name())), "{page}");
    }
    assert_eq!(bench.read("pages/man1/liftc.1"), first.as_bytes());
    bench.write("file", "").run("man file").fails(1, "file: is a file, but a directory is needed");
}
