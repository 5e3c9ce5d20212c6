//! Runs the real binary in a temporary directory.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A temporary directory for `liftc`.
pub struct Bench {
    dir: TempDir,
}

/// Output and exit code of a run.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Bench {
        Bench { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Bench {
        std::fs::write(self.path(name), bytes).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Copies a file of the repository's test data.
    pub fn copy(&self, data: &str) -> &Bench {
        std::fs::copy(data_file(data), self.path(data)).unwrap();
        self
    }

    /// Runs `liftc` with the words of `line`.
    pub fn run(&self, line: &str) -> Run {
        self.run_args(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub fn run_args(&self, args: &[&str]) -> Run {
        let output = self.command().args(args).output().unwrap();
        Run::from(output)
    }

    pub fn command(&self) -> Command {
        // The tests of `papers` include this file.
        let program = option_env!("CARGO_BIN_EXE_liftc").or(option_env!("CARGO_BIN_EXE_papers"));
        let mut command = Command::new(program.expect("cargo names the program"));
        command.current_dir(self.dir.path()).env("NO_COLOR", "1").env("COLUMNS", "100");
        command
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code().expect("ended by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Run {
    /// Asserts success.
    pub fn ok(self) -> Run {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self
    }

    /// Asserts this exit code, a message with this text, and no panic.
    pub fn fails(self, code: i32, message: &str) -> Run {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        // The renderer breaks lines and indents.
        let said: String = self.stderr.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(message), "expected `{message}` in: {said}");
        assert!(!said.contains("panicked"), "{said}");
        self
    }
}

/// Path of a file in the repository's test data.
pub fn data_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name)
}

/// A `.npy` with this header dictionary and these bytes.
pub fn npy(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes.extend(data);
    bytes
}

/// A C-order `.npy` of little-endian 16-bit integers.
pub fn npy_i16(shape: &str, samples: impl IntoIterator<Item = i16>) -> Vec<u8> {
    let data: Vec<u8> = samples.into_iter().flat_map(i16::to_le_bytes).collect();
    npy(&format!("{{'descr': '<i2', 'fortran_order': False, 'shape': {shape}, }}"), &data)
}
