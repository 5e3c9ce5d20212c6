//! `registers.txt`: resource usage of every kernel, reviewed as it changes.

use std::fmt::Write;

/// Resource usage of one kernel on one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The kernel's file.
    pub file: String,
    /// The kernel.
    pub kernel: String,
    /// The architecture, e.g. `sm_75`.
    pub architecture: String,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of stack frame.
    pub stack: u32,
    /// Bytes of spill loads and stores.
    pub spills: u32,
    /// Bytes of shared memory.
    pub shared: u32,
    /// Digest of the compiled text and of the compiler.
    pub text: String,
}

impl Usage {
    /// A usage of zero.
    pub fn new(file: &str, kernel: &str, architecture: &str) -> Usage {
        let (file, kernel, architecture) = (file.into(), kernel.into(), architecture.into());
        let text = String::new();
        Usage { file, kernel, architecture, registers: 0, stack: 0, spills: 0, shared: 0, text }
    }

    /// Parses a line of the table, under the file's name.
    fn parse(file: &str, line: &str) -> Option<Usage> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [kernel, architecture, values @ ..] = &words[..] else { return None };
        let mut usage = Usage::new(file, kernel, architecture);
        for pair in values.chunks_exact(2) {
            match pair[0] {
                "registers" => usage.registers = pair[1].parse().ok()?,
                "stack" => usage.stack = pair[1].parse().ok()?,
                "spills" => usage.spills = pair[1].parse().ok()?,
                "shared" => usage.shared = pair[1].parse().ok()?,
                "text" => usage.text = pair[1].to_owned(),
                _ => return None,
            }
        }
        Some(usage)
    }
}

/// Parses a table; other lines are ignored, and their kernels compiled again.
pub fn parse(table: &str) -> Vec<Usage> {
    let mut file = "";
    let mut all = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with(' ') {
            all.extend(Usage::parse(file, line));
        } else {
            file = line;
        }
    }
    all
}

/// The text of the table.
pub fn table(mut all: Vec<Usage>) -> String {
    all.sort_by(|a, b| (&a.file, &a.kernel, &a.architecture).cmp(&(&b.file, &b.kernel, &b.architecture)));
    let mut out = String::from(
        "# Registers, bytes of stack, of spills and of shared memory of every emitted kernel (nvcc 13.0.88), and digests of text and compiler.\n\
         # Made by `cargo xtask validate --bless`; `cargo xtask validate` fails where it finds something else.\n",
    );
    let mut file = String::new();
    for u in all {
        if u.file != file {
            file = u.file;
            let _ = writeln!(out, "\n{file}");
        }
        let Usage { kernel, architecture, registers, stack, spills, shared, text, .. } = u;
        let _ = writeln!(
            out,
            "  {kernel:<44} {architecture}  registers {registers:>3}  stack {stack}  spills {spills}  shared {shared:>5}  text {text}"
        );
    }
    out
}

/// Lines in which two tables differ, `-` expected and `+` found; empty if only digests differ.
pub fn difference(expected: &str, found: &str) -> String {
    let uses = |table: &str| {
        let line = |line: &str| line.split("  text ").next().unwrap_or_default().to_owned();
        let mut file = String::new();
        let mut all = std::collections::BTreeSet::new();
        for of in table.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
            if of.starts_with(' ') {
                all.insert((file.clone(), line(of)));
            } else {
                of.clone_into(&mut file);
            }
        }
        all
    };
    let (expected, found) = (uses(expected), uses(found));
    let lines = |of: std::collections::btree_set::Difference<(String, String)>, sign: char| {
        of.map(|(file, line)| format!("{sign} {file} {line}\n")).collect::<String>()
    };
    lines(expected.difference(&found), '-') + &lines(found.difference(&expected), '+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_as_they_are_written() {
        let of = |kernel: &str, architecture: &str, registers| Usage {
            registers,
            stack: 8,
            spills: 0,
            shared: 4096,
            text: "0123456789ab".into(),
            ..Usage::new("haar-edge", kernel, architecture)
        };
        let all = vec![of("a", "sm_75", 40), of("a", "sm_90", 38), of("b", "sm_90", 255)];
        let written = table(all.clone());
        assert_eq!(parse(&written), all);
        assert_eq!(difference(&written, &written.replace("0123456789ab", "ba9876543210")), "");
        let other = table(vec![of("a", "sm_75", 41), of("a", "sm_90", 38), of("b", "sm_90", 255)]);
        let lines = difference(&written, &other);
        assert!(lines.lines().count() == 2 && lines.starts_with("- haar-edge   a") && lines.contains("41"), "{lines}");
    }
}
