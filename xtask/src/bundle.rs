//! `cargo xtask gpu-bundle`: a folder that checks and measures the project on a machine with a CUDA device and without
//! Rust. `--only` makes parts small enough for a slow connection.

use crate::toolchain::{root, run, target};
use clap::ValueEnum;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The folder, relative to the workspace's root.
const FOLDER: &str = "gpu-bundle";

/// Largest size of a part, in bytes, so that it can be transferred.
const MOST_BYTES: u64 = 60 << 20;

/// A part of the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Plans on the device against plans on the CPU, and faults.
    Conformance,
    /// Emitted files with the oracle's results, and their timing programs.
    Emitted,
    /// `liftc bench` and its suites; with `emitted` also plans next to files.
    Bench,
    /// The tables of papers.
    Papers,
}

impl Part {
    /// The package and the program that the part needs.
    fn program(self) -> (&'static str, &'static str) {
        match self {
            Part::Conformance => ("lifting-tests", "gpu-conformance"),
            Part::Emitted => ("lifting-tests", "emitted-cuda"),
            Part::Bench => ("liftc", "liftc"),
            Part::Papers => ("papers", "papers"),
        }
    }
}

/// Builds the programs of the given parts, or of all if none is given, and refills the folder.
pub fn make(only: &[Part]) -> Result<(), String> {
    let parts: Vec<Part> =
        Part::value_variants().iter().copied().filter(|part| only.is_empty() || only.contains(part)).collect();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.current_dir(root()).args(["build", "--profile", "dist"]);
    for (package, program) in parts.iter().map(|part| part.program()) {
        build.args(["-p", package, "--bin", program]);
    }
    // Cargo's progress goes to the user.
    let status = build.status().map_err(|e| format!("cargo: {e}"))?;
    if !status.success() {
        return Err("the programs of the bundle do not compile".into());
    }
    let folder = root().join(FOLDER);
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |e: std::io::Error| format!("{path}: {e}")
    };
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed(&folder))?;
    }
    let programs = folder.join("bin");
    fs::create_dir_all(&programs).map_err(failed(&programs))?;
    let built = target().join("dist");
    let mut before = 0;
    for part in parts {
        let (_, program) = part.program();
        if part == Part::Emitted {
            // In an archive: its texts are long and compress well.
            let emitted = target().join("emitted-cuda");
            if emitted.exists() {
                fs::remove_dir_all(&emitted).map_err(failed(&emitted))?;
            }
            run(Command::new(built.join(program)).arg(&emitted))?;
            run(Command::new("tar").arg("czf").arg(folder.join("emitted.tar.gz")).arg("-C").arg(&emitted).arg("."))?;
        } else {
            let (from, to) = (built.join(program), programs.join(program));
            fs::copy(&from, &to).map_err(failed(&from))?;
            // Without `strip` the programs are larger but work too.
            let _ = run(Command::new("strip").arg(&to));
        }
        if part == Part::Bench {
            write(&folder.join("full.suite"), include_str!("bundle/full.suite"))?;
            write(&folder.join("quick.suite"), include_str!("bundle/quick.suite"))?;
            write(&folder.join("several.suite"), include_str!("bundle/several.suite"))?;
        }
        let bytes = size(&folder).map_err(failed(&folder))?;
        println!("{part:?}: {}", mebibytes(bytes - before));
        if bytes - before > MOST_BYTES {
            return Err(format!("{part:?} exceeds the limit of {}", mebibytes(MOST_BYTES)));
        }
        before = bytes;
    }
    write(&folder.join("run.sh"), include_str!("bundle/run.sh"))?;
    executable(&folder.join("run.sh"))?;
    let bytes = size(&folder).map_err(failed(&folder))?;
    println!("{}: {}; run it with `bash run.sh`", folder.display(), mebibytes(bytes));
    if bytes > MOST_BYTES {
        println!("for smaller parts, use --only");
    }
    Ok(())
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(unix)]
fn executable(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> Result<(), String> {
    Ok(())
}

fn size(folder: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
