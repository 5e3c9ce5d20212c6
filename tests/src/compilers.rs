//! Compilers on this machine: gcc, g++ and rustc are required; clang and nvcc are optional.

use std::io::Write;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A compiler with options.
#[derive(Clone, Debug)]
pub struct Compiler {
    command: &'static str,
    options: Vec<String>,
}

/// Every warning is an error.
const STRICT: [&str; 7] = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow"];

impl Compiler {
    /// Options for C99, or for the same files as C++.
    fn new(command: &'static str, options: &[&str]) -> Compiler {
        let language = if command.ends_with("++") { &["-xc++", "-std=c++11"][..] } else { &["-std=c99"] };
        let options = language.iter().chain(&STRICT).chain(options).map(|s| s.to_string()).collect();
        Compiler { command, options }
    }

    /// gcc.
    ///
    /// # Panics
    /// If gcc is not installed.
    pub fn gcc(options: &[&str]) -> Compiler {
        assert!(exists("gcc"), "gcc is needed: install it (Debian: apt-get install gcc)");
        Compiler::new("gcc", options)
    }

    /// g++, for compiling C files as C++.
    ///
    /// # Panics
    /// If g++ is not installed.
    pub fn gxx(options: &[&str]) -> Compiler {
        assert!(exists("g++"), "g++ is needed: install it (Debian: apt-get install g++)");
        Compiler::new("g++", options)
    }

    /// clang; if it is not installed, prints a notice and returns `None`.
    ///
    /// # Panics
    /// If clang is not installed and `LIFTING_REQUIRE_CLANG` is 1.
    pub fn clang(options: &[&str]) -> Option<Compiler> {
        Compiler::optional("clang", options)
    }

    /// clang++, optional like [`Compiler::clang`].
    ///
    /// # Panics
    /// See [`Compiler::clang`].
    pub fn clangxx(options: &[&str]) -> Option<Compiler> {
        Compiler::optional("clang++", options)
    }

    fn optional(command: &'static str, options: &[&str]) -> Option<Compiler> {
        if exists(command) {
            return Some(Compiler::new(command, options));
        }
        let required = std::env::var("LIFTING_REQUIRE_CLANG").is_ok_and(|v| v == "1");
        assert!(!required, "LIFTING_REQUIRE_CLANG=1, and {command} is not installed");
        eprintln!("skipped: {command} is not installed");
        None
    }

    /// nvcc, and whether there is a device to run on; without one it only compiles. Prints a notice if either is
    /// missing; `None` without nvcc.
    ///
    /// # Panics
    /// If nvcc or a device is missing and `LIFTING_REQUIRE_GPU` is 1.
    pub fn nvcc() -> Option<(Compiler, bool)> {
        let lacks = |what: &str| {
            let required = std::env::var("LIFTING_REQUIRE_GPU").is_ok_and(|v| v == "1");
            assert!(!required, "LIFTING_REQUIRE_GPU=1, and {what}");
            eprintln!("skipped: {what}");
        };
        if !exists("nvcc") {
            lacks("nvcc is not installed");
            return None;
        }
        let device = std::path::Path::new("/dev/nvidiactl").exists();
        let target = if device { &["-arch=native"][..] } else { &["-arch=sm_90", "-c"] };
        if !device {
            lacks("no CUDA device: programs of nvcc are compiled but not run");
        }
        let options = ["-std=c++17", "-O2"].iter().chain(target);
        Some((Compiler { command: "nvcc", options: options.map(|s| s.to_string()).collect() }, device))
    }

    /// rustc.
    pub fn rustc(options: &[&str]) -> Compiler {
        let strict = ["--edition=2021", "-Dwarnings", "-Dunsafe-op-in-unsafe-fn"];
        Compiler { command: "rustc", options: strict.iter().chain(options).map(|s| s.to_string()).collect() }
    }

    /// Compiles `main.c`, `main.cu` or `main.rs` among these files, with strict warnings as errors, and links it.
    ///
    /// # Panics
    /// If the compiler reports anything; the message quotes it.
    pub fn build(&self, files: &[(&str, &str)]) -> Program {
        let unit = match self.command {
            "rustc" => "main.rs",
            "nvcc" => "main.cu",
            _ => "main.c",
        };
        self.build_units(&[unit], files)
    }

    /// Whether the compiler accepts `main.c`, e.g. one that includes an optional header.
    pub fn accepts(&self, main: &str) -> bool {
        let dir = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(dir.path().join("main.c"), main).expect("the temporary directory can be written");
        let mut command = Command::new(self.command);
        command.current_dir(dir.path()).args(&self.options).args(["main.c", "-o", "main"]);
        command.output().is_ok_and(|output| output.status.success())
    }

    /// Compiles these units among the files and links them.
    ///
    /// # Panics
    /// See [`Compiler::build`].
    pub fn build_units(&self, units: &[&str], files: &[(&str, &str)]) -> Program {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).expect("the temporary directory can be written");
        }
        let output = Command::new(self.command)
            .current_dir(dir.path())
            .args(&self.options)
            .args(units)
            .args(["-o", "main"])
            .output()
            .expect("the compiler can be run");
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {}:\n{words}", self.command, self.options.join(" "));
        Program { dir, compiler: self.clone() }
    }
}

fn exists(command: &str) -> bool {
    let found = Command::new(command).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|s| s.success())
}

/// A compiled program.
pub struct Program {
    dir: TempDir,
    compiler: Compiler,
}

impl Program {
    /// The compiler and its options.
    pub fn compiler(&self) -> String {
        format!("{} {}", self.compiler.command, self.compiler.options.join(" "))
    }

    /// Runs it with `input` on standard input; returns its standard output.
    ///
    /// # Panics
    /// If it fails; the message quotes its output.
    pub fn run(&self, input: &[u8]) -> Vec<u8> {
        self.run_with(&[], input)
    }

    /// Runs it with `arguments` and `input` on standard input; returns its standard output.
    ///
    /// # Panics
    /// See [`Program::run`].
    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new(self.dir.path().join("main"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let mut stdin = child.stdin.take().expect("it is piped");
        let input = input.to_vec();
        // On a separate thread: both pipes may be full.
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("the program ends");
        let written = writer.join().expect("the writer does not panic");
        let words = String::from_utf8_lossy(&output.stderr);
        let said = String::from_utf8_lossy(&output.stdout[..output.stdout.len().min(400)]).into_owned();
        assert!(output.status.success(), "{}: {}\n{words}{said}", self.compiler(), output.status);
        written.expect("the program reads all its input");
        output.stdout
    }
}
