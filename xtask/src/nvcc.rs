//! nvcc: compiles whole files, including the host part, for the oldest and the newest supported architecture.

use crate::registers::Usage;
use crate::toolchain::{Toolchain, run};
use std::path::Path;

/// Turing, the oldest architecture of CUDA 13, to Blackwell, in data centres and on desks.
pub const ARCHITECTURES: [&str; 5] = ["75", "80", "90", "100", "120"];

/// Architectures that every kernel is compiled for, and whose usage the table records. Files with launches as in plans
/// are compiled for all, and must not spill.
pub const RECORDED: [&str; 2] = ["75", "90"];

/// Compiles `file`, and its header, if any, once after it and once alone; returns the usage of each kernel.
pub fn compile(toolchain: &Toolchain, name: &str, file: &Path, header: Option<&Path>) -> Result<Vec<Usage>, String> {
    compile_for(toolchain, name, file, header, &RECORDED)
}

/// [`compile`] for these architectures.
pub fn compile_for(
    toolchain: &Toolchain,
    name: &str,
    file: &Path,
    header: Option<&Path>,
    architectures: &[&str],
) -> Result<Vec<Usage>, String> {
    let mut command = toolchain.command("nvcc");
    for a in architectures {
        command.arg(format!("-gencode=arch=compute_{a},code=sm_{a}"));
    }
    let object = file.with_extension("cu.o");
    let host = "-Wall,-Wextra,-Wcast-align,-Warray-bounds=2,-Werror";
    let strict = ["-O3", "-Werror", "all-warnings", "-Xptxas", "-v", "-Xcompiler", host];
    if let Some(header) = header {
        command.arg("-include").arg(header);
    }
    let words = run(command.args(strict).arg("-c").arg(file).arg("-o").arg(&object))?;
    let usage = parse(name, &words)?;
    if usage.is_empty() {
        return Err(format!("{}: nvcc reports no kernel:\n{words}", file.display()));
    }
    if header.is_some() {
        // Compile the header alone, as it is shipped: the host part only needs parsing.
        let mut command = toolchain.command("nvcc");
        run(command.args(["-arch=sm_90", "--cuda", "-o"]).arg(file.with_extension("cpp")).arg(file))?;
    }
    Ok(usage)
}

/// Parses the output of `ptxas -v`.
fn parse(name: &str, words: &str) -> Result<Vec<Usage>, String> {
    let mut all: Vec<Usage> = Vec::new();
    for line in words.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let mut quoted = rest.split('\'');
            let (kernel, architecture) = (quoted.next().unwrap_or_default(), quoted.nth(1).unwrap_or_default());
            all.push(Usage::new(name, kernel, architecture));
        }
        let Some(last) = all.last_mut() else { continue };
        let number = |before: &str| {
            let (head, _) = line.split_once(before)?;
            head.rsplit([' ', ',']).find(|w| !w.is_empty())?.parse::<u32>().ok()
        };
        if let (Some(stores), Some(loads)) = (number(" bytes spill stores"), number(" bytes spill loads")) {
            last.spills = stores + loads;
            last.stack = number(" bytes stack frame").unwrap_or(0);
        }
        if let Some(registers) = number(" registers") {
            last.registers = registers;
            last.shared = number(" bytes smem").unwrap_or(0);
        }
    }
    match all.iter().find(|u| u.registers == 0) {
        Some(u) => Err(format!("{name}: cannot read the registers of {} in:\n{words}", u.kernel)),
        None => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptxas_is_understood() {
        let words = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'a_i16' for 'sm_75'
ptxas info    : Function properties for a_i16
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 6144 bytes smem, 448 bytes cmem[0], 16 bytes cmem[2]
ptxas info    : Compile time = 66.292 ms
ptxas info    : Compiling entry function 'b' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 7 registers
";
        let all = parse("x", words).unwrap();
        assert_eq!(all.len(), 2);
        let a = &all[0];
        assert_eq!((a.kernel.as_str(), a.architecture.as_str()), ("a_i16", "sm_75"));
        assert_eq!((a.registers, a.stack, a.spills, a.shared), (64, 8, 16, 6144));
        assert_eq!((all[1].registers, all[1].shared), (7, 0));
    }
}
