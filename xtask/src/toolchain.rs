//! The CUDA compilers: finds or installs them. Compiling needs neither GPU nor driver.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The PyPI packages of the compilers, at the versions that made `registers.txt`.
const PACKAGES: &str = include_str!("../cuda.txt");

/// Whether a program is installed. If not, prints `without`; with `LIFTING_REQUIRE_…=1` that is an error.
pub fn has(program: &str, without: &str) -> Result<bool, String> {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    let variable = format!("LIFTING_REQUIRE_{}", program.to_uppercase());
    if !found && std::env::var(&variable).is_ok_and(|v| v == "1") {
        return Err(format!("{variable}=1, and {program} is not installed"));
    }
    if !found {
        println!("{without}, which is not installed");
    }
    Ok(found)
}

/// An installation of the CUDA compilers.
pub struct Toolchain {
    home: PathBuf,
}

impl Toolchain {
    /// The folder with `bin`, `lib` and `include`.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// A command of the toolchain, whose programs come first in the path.
    pub fn command(&self, name: &str) -> Command {
        let bin = self.home.join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(bin.clone()).chain(std::env::split_paths(&path));
        let mut command = Command::new(bin.join(name));
        command.env("PATH", std::env::join_paths(paths).unwrap_or(path));
        command
    }

    /// The library for compiling at run time.
    pub fn nvrtc(&self) -> Result<PathBuf, String> {
        let lib = self.home.join("lib");
        let mut found: Vec<PathBuf> = std::fs::read_dir(&lib)
            .map_err(|e| format!("{}: {e}", lib.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("libnvrtc.so")))
            .collect();
        found.sort();
        found.pop().ok_or_else(|| format!("no libnvrtc.so in {}", lib.display()))
    }
}

/// The workspace's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// The folder of these tasks' build products.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Runs a command and returns its output.
pub fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("{}: {e}", command.get_program().display()))?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(text) } else { Err(format!("{command:?}: {}\n{text}", output.status)) }
}

/// The environment `target/NAME` with these PyPI packages, one a line; installed if missing or of other versions.
///
/// # Errors
/// Python lacks `venv`, or a package cannot be downloaded.
pub fn venv(name: &str, packages: &str, about: &str) -> Result<PathBuf, String> {
    let venv = target().join(name);
    let stamp = venv.join("installed");
    if !std::fs::read_to_string(&stamp).is_ok_and(|s| s == packages) {
        eprintln!("installing {about} from PyPI in {}", venv.display());
        let help =
            "Python 3.11 or later with venv (Debian: apt-get install python3-venv) and access to PyPI are required";
        let failed = |e: String| format!("{e}\n{help}");
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv)).map_err(failed)?;
        let install = ["install", "--quiet", "--no-deps", "--no-compile"];
        run(Command::new(venv.join("bin/pip")).args(install).args(packages.lines())).map_err(failed)?;
        std::fs::write(&stamp, packages).map_err(|e| format!("{}: {e}", stamp.display()))?;
    }
    Ok(venv)
}

/// The toolchain in `LIFTING_CUDA_HOME`, or the one under `target/cuda`, which is installed if missing.
pub fn cuda() -> Result<Toolchain, String> {
    if let Some(home) = std::env::var_os("LIFTING_CUDA_HOME") {
        let home = PathBuf::from(home);
        if !home.join("bin/nvcc").exists() {
            return Err(format!("LIFTING_CUDA_HOME is {}, which lacks bin/nvcc", home.display()));
        }
        return Ok(Toolchain { home });
    }
    let help = "or set LIFTING_CUDA_HOME";
    let venv = venv("cuda", PACKAGES, "the CUDA compilers").map_err(|e| format!("{e}, {help}"))?;
    let lib = venv.join("lib");
    std::fs::read_dir(&lib)
        .map_err(|e| format!("{}: {e}", lib.display()))?
        .filter_map(|entry| Some(entry.ok()?.path().join("site-packages/nvidia/cu13")))
        .find(|home| home.join("bin/nvcc").exists())
        .map(|home| Toolchain { home })
        .ok_or_else(|| format!("no nvcc below {}: remove the folder and try again", lib.display()))
}
