//! Development tasks: `cargo xtask validate`, `filters`, `fit`, `gpu-bundle`, `grammar`, `prose`, `example`,
//! `site`, `tables` and `cuda-toolchain`.

mod bundle;
mod emitted;
mod example;
mod filters;
mod fit;
mod grammar;
mod nvcc;
mod nvrtc;
mod planned;
mod prose;
mod record;
mod registers;
mod site;
mod tables;
mod toolchain;
mod validate;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Development tasks of Lifting.
#[derive(Parser)]
#[command(name = "xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Generate the long wavelets of the catalogue in high precision, factor them and write filters/*.lift.
    Filters {
        /// Write nothing; fail if a file is out of date.
        #[arg(long)]
        check: bool,
        /// Only this file, e.g. `meyer.lift`.
        #[arg(long)]
        only: Option<String>,
    },
    /// Compile every emitted text with real compilers: nvcc for two architectures, NVRTC, gcc, clang, rustc. For four
    /// wavelets, also compile the CUDA files whose launches are those of plans, for five architectures.
    ///
    /// The registers and spills of every kernel must match xtask/registers.txt; a spill is always a failure.
    Validate {
        /// Rewrite xtask/registers.txt instead of comparing with it.
        #[arg(long)]
        bless: bool,
        /// Only wavelets whose name contains this.
        #[arg(long, default_value = "")]
        only: String,
        /// Every wavelet with every border rule and sample type, not only representative ones.
        #[arg(long, env = "LIFTING_FULL")]
        full: bool,
        /// Also compile kernels whose text and compiler match the table, not only a random twentieth of them.
        #[arg(long)]
        afresh: bool,
        /// Seed that selects the twentieth [default: by the commit].
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
    },
    /// Install the CUDA compilers from PyPI under target/cuda and print their folder.
    ///
    /// With LIFTING_CUDA_HOME set (a folder with bin/nvcc, lib and include), that is used instead, here and by
    /// `validate`.
    CudaToolchain,
    /// Fit the constants that predict times on a device to measured launches.
    ///
    /// Measurements are the output of `liftc bench --device cuda --json FILE`, or a file like
    /// planner/measured/h200.json. Of the former, only images under whole-symmetric that take one launch count. Facts
    /// (name, multiprocessors, memory) come from --from; only constants are fitted. The command prints the deviations
    /// of predictions, and the constants that no launch determines.
    Fit {
        /// The measurements.
        measurements: PathBuf,
        /// The device's file to start from [default: the H200's].
        #[arg(long)]
        from: Option<PathBuf>,
        /// Path of the new file.
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Make gpu-bundle/: programs, emitted kernels, data and a run.sh for a machine with a CUDA device and no Rust.
    ///
    /// `run.sh` compares plans on the device with plans on the CPU, provokes faults, and measures; see `run.sh help`.
    GpuBundle {
        /// Only these parts: each is below 60 MiB, all together may not be.
        #[arg(long, value_enum, value_delimiter = ',')]
        only: Vec<bundle::Part>,
    },
    /// Write the grammars of editors: editors/tree-sitter-lift and editors/vscode/syntaxes.
    Grammar {
        /// Write nothing; fail if a file is out of date.
        #[arg(long)]
        check: bool,
    },
    /// Check the English of comments, errors and documents against a list of patterns; the budget is zero.
    Prose {
        /// Only these files [default: all tracked files].
        files: Vec<PathBuf>,
    },
    /// Compile the output of liftc for examples/cuda by nvcc, and build the folder by CMake.
    Example,
    /// Build the documentation as a website in site/, with a browser of the catalogue's wavelets.
    ///
    /// MkDocs comes from PyPI, once. The site works from the file system. A broken link is an error.
    Site {
        /// Also build the documentation of the crates, in site/rust/.
        #[arg(long)]
        rust: bool,
    },
    /// Train the codec's probability tables (codec/src/tables.bin), or measure the built-in ones.
    ///
    /// Pictures are PNG, JPEG or PGM, and are converted to grey. codec/src/tables.md lists the training pictures of the
    /// crate's tables.
    Tables {
        /// Pictures to learn from.
        pictures: Vec<PathBuf>,
        /// Pictures to measure the built-in tables with, in bits per sample.
        #[arg(long, num_args = 1..)]
        held_out: Vec<PathBuf>,
        /// Path of the new tables.
        #[arg(short, long, requires = "pictures", conflicts_with = "held_out")]
        output: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let result = match Args::parse().task {
        Task::Filters { check, only } => filters::run(check, only.as_deref()),
        Task::Validate { bless, only, full, afresh, seed } => {
            validate::run(&validate::Options { bless, only, full, afresh, seed })
        }
        Task::Fit { measurements, from, output } => fit::run(&measurements, from.as_deref(), &output),
        Task::GpuBundle { only } => bundle::make(&only),
        Task::Grammar { check } => grammar::run(check),
        Task::Prose { files } => prose::run(&files),
        Task::Example => example::build(),
        Task::Site { rust } => site::build(rust),
        Task::Tables { pictures, held_out, output } => tables::run(&tables::Options { pictures, held_out, output }),
        Task::CudaToolchain => toolchain::cuda().map(|t| println!("{}", t.home().display())),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
