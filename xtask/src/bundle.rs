//! `cargo xtask gpu-bundle`: one folder that checks and measures the project on a machine with a CUDA device and no Rust.

use crate::toolchain::{root, run, target};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The folder, in the workspace's root.
const FOLDER: &str = "gpu-bundle";

/// The most that it may have, so that it can be carried.
const MOST_BYTES: u64 = 64 << 20;

/// Programs that go along, by package.
const PROGRAMS: [(&str, &str); 3] =
    [("liftc", "liftc"), ("lifting-tests", "gpu-conformance"), ("lifting-tests", "emitted-cuda")];

/// Builds the programs and fills the folder, which is made anew.
pub fn make() -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.current_dir(root()).args(["build", "--release"]);
    for (package, program) in PROGRAMS {
        build.args(["-p", package, "--bin", program]);
    }
    // Its progress is for whoever waits.
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
    let built = target().join("release");
    for (_, program) in PROGRAMS.iter().filter(|(_, program)| *program != "emitted-cuda") {
        let (from, to) = (built.join(program), programs.join(program));
        fs::copy(&from, &to).map_err(failed(&from))?;
        // Where there is no `strip` the programs are larger, and work as well.
        let _ = run(Command::new("strip").arg(&to));
    }
    // In an archive: its texts are long, and small when packed.
    let emitted = target().join("emitted-cuda");
    if emitted.exists() {
        fs::remove_dir_all(&emitted).map_err(failed(&emitted))?;
    }
    run(Command::new(built.join("emitted-cuda")).arg(&emitted))?;
    run(Command::new("tar").arg("czf").arg(folder.join("emitted.tar.gz")).arg("-C").arg(&emitted).arg("."))?;
    for (name, text) in [
        ("run.sh", include_str!("bundle/run.sh")),
        ("full.suite", include_str!("bundle/full.suite")),
        ("quick.suite", include_str!("bundle/quick.suite")),
    ] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(failed(&path))?;
    }
    executable(&folder.join("run.sh"))?;
    let bytes = size(&folder).map_err(failed(&folder))?;
    println!("{}: {:.1} MiB; run it with `bash run.sh`", folder.display(), bytes as f64 / f64::from(1 << 20));
    if bytes > MOST_BYTES { Err(format!("that is more than {} MiB", MOST_BYTES >> 20)) } else { Ok(()) }
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
