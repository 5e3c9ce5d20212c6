//! `registers.txt`: what every kernel uses, reviewed as it changes.

use std::fmt::Write;

/// What one kernel uses on one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The file it is in.
    pub file: String,
    /// The kernel.
    pub kernel: String,
    /// `sm_75` and so on.
    pub architecture: String,
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of stack frame.
    pub stack: u32,
    /// Bytes of spill loads and stores.
    pub spills: u32,
    /// Bytes of shared memory.
    pub shared: u32,
}

impl Usage {
    /// Nothing used yet.
    pub fn new(file: &str, kernel: &str, architecture: &str) -> Usage {
        let (file, kernel, architecture) = (file.into(), kernel.into(), architecture.into());
        Usage { file, kernel, architecture, registers: 0, stack: 0, spills: 0, shared: 0 }
    }
}

/// The table.
pub fn table(mut all: Vec<Usage>) -> String {
    all.sort_by(|a, b| (&a.file, &a.kernel, &a.architecture).cmp(&(&b.file, &b.kernel, &b.architecture)));
    let mut out = String::from(
        "# Registers, bytes of stack, of spills and of shared memory of every emitted kernel (nvcc 13.0.88).\n\
         # Made by `cargo xtask validate --bless`; `cargo xtask validate` fails where it finds something else.\n",
    );
    let mut file = String::new();
    for u in all {
        if u.file != file {
            file = u.file;
            let _ = writeln!(out, "\n{file}");
        }
        let Usage { kernel, architecture, registers, stack, spills, shared, .. } = u;
        let _ = writeln!(
            out,
            "  {kernel:<44} {architecture}  registers {registers:>3}  stack {stack}  spills {spills}  shared {shared:>5}"
        );
    }
    out
}

/// Lines in which two tables differ, `-` expected and `+` found.
pub fn difference(expected: &str, found: &str) -> String {
    let missing = |of: &str, than: &str, sign: char| {
        let other: std::collections::BTreeSet<&str> = than.lines().collect();
        of.lines().filter(|l| !other.contains(l)).map(|l| format!("{sign} {l}\n")).collect::<String>()
    };
    missing(expected, found, '-') + &missing(found, expected, '+')
}
