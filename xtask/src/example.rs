//! `examples/cuda` by nvcc: what `liftc` writes for it, with every warning an error and no spill, and its program.

use crate::nvcc;
use crate::toolchain::{cuda, root, run, target};
use std::process::Command;

/// Compiles it; nothing is run, as that takes a device.
pub fn build() -> Result<(), String> {
    let toolchain = cuda()?;
    let folder = target().join("example");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut emit = Command::new(cargo);
    emit.current_dir(root()).args(["run", "--release", "--quiet", "-p", "liftc", "--"]);
    run(emit.args(["legall53", "--emit", "cuda", "--sample", "i16", "-o"]).arg(&folder))?;
    let (file, header) = (folder.join("legall53.cu"), folder.join("legall53.h"));
    let usages = nvcc::compile(&toolchain, "example", &file, Some(&header))?;
    if let Some(usage) = usages.iter().find(|usage| usage.spills > 0) {
        return Err(format!("{} spills {} bytes for sm_{}", usage.kernel, usage.spills, usage.architecture));
    }
    let mut program = toolchain.command("nvcc");
    program.args(["-arch=sm_90", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror", "-I"]).arg(&folder);
    run(program.arg("-c").arg(root().join("examples/cuda/main.cu")).arg("-o").arg(folder.join("main.o")))?;
    println!("examples/cuda: {} kernels and the program, by nvcc", usages.len());
    Ok(())
}
