//! Build check of `examples/cuda`: the output of `liftc` and the program by nvcc, with warnings as errors and no spill.
//! Also compiles default files of other wavelets, and builds the folder by CMake, as its readers do.

use crate::nvcc;
use crate::toolchain::{Toolchain, cuda, has, root, run, target};
use std::path::Path;
use std::process::Command;

/// Turing, Ampere and Hopper: launches are plain on the first two, and overlap on the third.
const ARCHITECTURES: [&str; 3] = ["75", "80", "90"];
/// The example's wavelet, and other representative ones.
const FILES: [(&str, &str); 3] = [("legall53", "i16"), ("dd137", "i16"), ("cdf97", "f32")];

/// Compiles the example; running it would take a device.
pub fn build() -> Result<(), String> {
    let toolchain = cuda()?;
    let folder = target().join("example");
    let mut kernels = 0;
    for (wavelet, sample) in FILES {
        kernels += file(&toolchain, &folder, wavelet, sample)?;
    }
    let mut program = toolchain.command("nvcc");
    program.args(["-arch=sm_90", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror", "-I"]).arg(&folder);
    run(program.arg("-c").arg(root().join("examples/cuda/main.cu")).arg("-o").arg(folder.join("main.o")))?;
    println!("examples/cuda: {kernels} kernels of {} files and the program, by nvcc", FILES.len());
    if has("cmake", "examples/cuda: not by CMake")? {
        by_cmake(&toolchain, &folder.join("build"))?;
        println!("examples/cuda: by CMake, up to the program");
    }
    Ok(())
}

/// Builds the folder as its README says, with this toolchain and the `liftc` built with this program.
fn by_cmake(toolchain: &Toolchain, build: &Path) -> Result<(), String> {
    if build.exists() {
        std::fs::remove_dir_all(build).map_err(|e| format!("{}: {e}", build.display()))?;
    }
    let liftc = std::env::current_exe().map_err(|e| format!("where this program is: {e}"))?.with_file_name("liftc");
    let define = |name: &str, value: &Path| format!("-D{name}={}", value.display());
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(root().join("examples/cuda")).arg("-B").arg(build).arg("-DCMAKE_CUDA_ARCHITECTURES=90");
    configure.arg(define("CMAKE_CUDA_COMPILER", &toolchain.home().join("bin/nvcc"))).arg(define("LIFTC", &liftc));
    // The PyPI packages have their libraries in `lib`, where nvcc does not look.
    let libraries = toolchain.home().join("lib");
    run(configure.env("LIBRARY_PATH", &libraries))?;
    run(Command::new("cmake").arg("--build").arg(build).env("LIBRARY_PATH", &libraries))?;
    let program = build.join("picture");
    if program.exists() { Ok(()) } else { Err(format!("CMake has made no {}", program.display())) }
}

/// Compiles the file that `liftc` writes of a wavelet, for all architectures; returns its number of kernels.
fn file(toolchain: &Toolchain, folder: &Path, wavelet: &str, sample: &str) -> Result<usize, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut emit = Command::new(cargo);
    emit.current_dir(root()).args(["run", "--quiet", "-p", "liftc"]);
    // With this program's own profile, so that no program is built twice.
    emit.args((!cfg!(debug_assertions)).then_some("--release")).arg("--");
    run(emit.args([wavelet, "--emit", "cuda", "--sample", sample, "-o"]).arg(folder))?;
    let (file, header) = (folder.join(format!("{wavelet}.cu")), folder.join(format!("{wavelet}.h")));
    let usages = nvcc::compile_for(toolchain, "example", &file, Some(&header), &ARCHITECTURES)?;
    match usages.iter().find(|usage| usage.spills > 0) {
        Some(usage) => Err(format!("{} spills {} bytes on {}", usage.kernel, usage.spills, usage.architecture)),
        None => Ok(usages.len()),
    }
}
