//! Runs the commands of README.md.

use crate::common::{Bench, Run, data_file, npy};

/// Runs a line of several commands, with `liftc` in the path.
fn in_a_shell(bench: &Bench, line: &str) -> Run {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_liftc")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([folder.to_owned()].into_iter().chain(std::env::split_paths(&others))).unwrap();
    let mut command = std::process::Command::new("sh");
    Run::from(command.args(["-c", line]).current_dir(bench.path("")).env("PATH", path).output().unwrap())
}

#[test]
fn the_readmes_commands_run() {
    let bench = Bench::new();
    bench.copy("chelsea.png").copy("camera.png");
    std::fs::create_dir(bench.path("filters")).unwrap();
    std::fs::copy(data_file("../../filters/dd137.lift"), bench.path("filters/dd137.lift")).unwrap();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 40, 30), }";
    bench.write("frames.npy", npy(header, &[0; 4 * 3 * 40 * 30]));
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (32, 96, 96), }";
    bench.write("volume.npy", npy(header, &[0; 4 * 32 * 96 * 96]));
    bench.write("my.lift", "wavelet my {\n    domain integer;\n    odd -= (odd[0] + even[1]) >> 1;\n}\n");

    let readme = std::fs::read_to_string(data_file("../../README.md")).unwrap();
    let blocks = readme.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    let lines = blocks
        .flat_map(str::lines)
        .filter(|line| {
            !["cargo test", "cargo install", "cargo add", "pip install"].iter().any(|other| line.starts_with(other))
        })
        .map(|line| line.split('#').next().unwrap());
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() > 9, "{lines:?}");
    for line in lines {
        let run = match line.strip_prefix("cargo run --release -p liftc -- ").or(line.strip_prefix("liftc ")) {
            Some(words) => bench.run(words),
            None => in_a_shell(&bench, line),
        };
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
    }
    let picture = |name: &str| image::load_from_memory(&bench.read(name)).unwrap();
    assert_eq!(picture("chelsea.png"), picture("back.png"));
    assert_eq!(picture("chelsea.png"), picture("piped.png"));
    // The error in the README is the compiler's.
    let shown = bench.run("check my.lift");
    for line in readme.split("```").find(|b| b.contains("╰────")).unwrap().lines().skip(1) {
        assert!(shown.stderr.contains(line.trim_end()), "`{line}` in {}", shown.stderr);
    }
}
