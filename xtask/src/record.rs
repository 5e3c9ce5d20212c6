//! Skips kernels unchanged since the committed record.
//!
//! A text is skipped if the committed table has it, made by the same compiler. A random twentieth is compiled
//! nevertheless.

use crate::nvcc::{ARCHITECTURES, RECORDED};
use crate::registers::Usage;
use crate::toolchain::{Toolchain, root, run};
use std::collections::BTreeMap;
use std::process::Command;

/// One in this many recorded texts is compiled.
const SAMPLE: u64 = 20;

/// Recorded usage of kernels, by file and digest.
pub struct Record {
    known: BTreeMap<(String, String), Vec<Usage>>,
    compiler: String,
    seed: u64,
}

impl Record {
    /// The record of a table's usages; an empty one makes everything compile.
    pub fn new(known: Vec<Usage>, toolchain: &Toolchain, seed: u64) -> Result<Record, String> {
        let version = run(toolchain.command("nvcc").arg("--version"))?;
        let nvrtc = toolchain.nvrtc()?;
        let library = nvrtc.file_name().unwrap_or_default().display();
        Ok(Record::of(known, format!("{version} {library} {ARCHITECTURES:?}"), seed))
    }

    fn of(known: Vec<Usage>, compiler: String, seed: u64) -> Record {
        let mut by_text = BTreeMap::new();
        for usage in known {
            by_text.entry((usage.file.clone(), usage.text.clone())).or_insert_with(Vec::new).push(usage);
        }
        Record { known: by_text, compiler, seed }
    }

    /// Digest of texts that are compiled together, without their comments, and of the compiler.
    pub fn digest(&self, texts: &[&str]) -> String {
        let code: Vec<String> = texts.iter().map(|text| without_comments(text)).collect();
        digest(std::iter::once(&self.compiler[..]).chain(code.iter().map(String::as_str)))
    }

    /// Recorded usage of a text; `None` if it is unknown, or sampled for recompilation.
    pub fn recall(&self, file: &str, digest: &str) -> Option<&[Usage]> {
        let known = self.known.get(&(file.to_owned(), digest.to_owned()))?;
        let whole = !known.is_empty() && known.len().is_multiple_of(RECORDED.len());
        (whole && !self.is_sampled(digest)).then_some(known)
    }

    fn is_sampled(&self, digest_of_text: &str) -> bool {
        let drawn = digest([&self.seed.to_string()[..], digest_of_text].into_iter());
        u64::from_str_radix(&drawn, 16).is_ok_and(|n| n % SAMPLE == 0)
    }
}

/// A C text without comments and blank lines. Every `//` and `/*` counts, even within a string: digests need no more.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        code.push_str(&rest[..at]);
        let end = if rest[at..].starts_with("//") { "\n" } else { "*/" };
        let after = rest[at + 2..].find(end).map_or(rest.len(), |n| at + 2 + n);
        rest = rest[after..].strip_prefix("*/").unwrap_or(&rest[after..]);
    }
    code.push_str(rest);
    let lines = code.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A digest of twelve hexadecimal digits.
fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = hmac_sha256::Hash::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// A seed for each commit, so that runs sample different kernels.
pub fn seed_of_commit() -> u64 {
    let mut git = Command::new("git");
    let commit = run(git.current_dir(root()).args(["rev-parse", "HEAD"]));
    commit.ok().and_then(|hash| u64::from_str_radix(hash.get(..8)?, 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_do_not_change_digests() {
        let code = without_comments("/* a\n b */\nint x; // y\n\n// z\nint /* w */ v;\n");
        assert_eq!(code, "int x;\nint  v;\n");
        assert_eq!(without_comments("a /* open"), "a\n");
    }

    fn usages(record: &Record, texts: usize) -> Vec<Usage> {
        let of = |n: usize| {
            let text = record.digest(&[&n.to_string()]);
            RECORDED.map(|a| Usage { text: text.clone(), registers: 7, ..Usage::new("f", &n.to_string(), a) })
        };
        (0..texts).flat_map(of).collect()
    }

    #[test]
    fn a_twentieth_of_the_record_is_compiled_again() {
        let empty = Record::of(Vec::new(), "nvcc 13".into(), 0);
        let known = usages(&empty, 2000);
        let left_out = |seed| {
            let record = Record::of(known.clone(), "nvcc 13".into(), seed);
            (0..2000).filter(|n| record.recall("f", &record.digest(&[&n.to_string()])).is_some()).collect::<Vec<_>>()
        };
        assert!((1850..1950).contains(&left_out(1).len()), "{}", left_out(1).len());
        assert_ne!(left_out(1), left_out(2));
    }

    #[test]
    fn another_text_compiler_or_file_is_compiled() {
        let empty = Record::of(Vec::new(), "nvcc 13".into(), 0);
        let known = usages(&empty, 40);
        let record = Record::of(known.clone(), "nvcc 13".into(), 0);
        let digests: Vec<_> = (0..40).map(|n| record.digest(&[&n.to_string()])).collect();
        let known_one = digests.iter().find(|d| record.recall("f", d).is_some()).unwrap();
        assert!(record.recall("g", known_one).is_none());
        assert!(record.recall("f", &record.digest(&["other"])).is_none());
        let newer = Record::of(known, "nvcc 14".into(), 0);
        assert!((0..40).all(|n| newer.recall("f", &newer.digest(&[&n.to_string()])).is_none()));
        // A missing line of one architecture makes the record incomplete.
        let half: Vec<_> = usages(&empty, 40).into_iter().filter(|u| u.architecture == "75").collect();
        let half = Record::of(half, "nvcc 13".into(), 0);
        assert!(digests.iter().all(|d| half.recall("f", d).is_none()));
    }
}
