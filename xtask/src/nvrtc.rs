//! NVRTC, through a small C program that loads the library, so that nothing here links to CUDA.

use crate::toolchain::{Toolchain, run, target};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that compiles files with NVRTC.
pub struct Nvrtc {
    program: PathBuf,
    library: PathBuf,
}

impl Nvrtc {
    /// Builds the program.
    pub fn new(toolchain: &Toolchain) -> Result<Nvrtc, String> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("nvrtc.c");
        let program = target().join("validate/nvrtc");
        let strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"];
        run(Command::new("gcc").args(strict).arg(&source).arg("-o").arg(&program).arg("-ldl"))?;
        Ok(Nvrtc { program, library: toolchain.nvrtc()? })
    }

    /// Compiles a file's kernels for some architectures: `sm_90` to machine code, `compute_90` to PTX.
    pub fn compile(&self, file: &Path, architectures: impl IntoIterator<Item = String>) -> Result<(), String> {
        let folder = self.library.parent().unwrap_or(Path::new("."));
        let mut command = Command::new(&self.program);
        // Its built-ins are a library in the same folder.
        command.env("LD_LIBRARY_PATH", folder).arg(&self.library).arg(file);
        command.args(architectures);
        run(&mut command).map(|_| ())
    }
}
