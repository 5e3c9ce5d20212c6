//! Development tasks: `cargo xtask validate`, `filters`, `fit`, `gpu-bundle`, `example`, `tables` and `cuda-toolchain`.

mod bundle;
mod emitted;
mod example;
mod filters;
mod fit;
mod nvcc;
mod nvrtc;
mod planned;
mod prose;
mod record;
mod registers;
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
        /// Write nothing; fail if a file is not what would be written.
        #[arg(long)]
        check: bool,
        /// Only this file, as in `meyer.lift`.
        #[arg(long)]
        only: Option<String>,
    },
    /// Compile every emitted text with the real compilers: nvcc for two architectures, NVRTC, gcc, clang, rustc. Of
    /// three wavelets also the CUDA files whose launches are those of plans.
    ///
    /// The registers and spills of every kernel are held against xtask/registers.txt; a spill is always a failure.
    Validate {
        /// Write xtask/registers.txt anew instead of comparing with it.
        #[arg(long)]
        bless: bool,
        /// Only wavelets whose name contains this.
        #[arg(long, default_value = "")]
        only: String,
        /// Every wavelet with every border rule and sample type, not only the ones that stand for the others.
        #[arg(long, env = "LIFTING_FULL")]
        full: bool,
        /// Compile kernels whose text and compiler are those of the table, too, not only a random twentieth of them.
        #[arg(long)]
        afresh: bool,
        /// Which twentieth [default: by the commit].
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
    },
    /// Install the CUDA compilers from PyPI under target/cuda and print where they are.
    ///
    /// With LIFTING_CUDA_HOME set (a folder with bin/nvcc, lib and include), that is used instead, here and by
    /// `validate`.
    CudaToolchain,
    /// Fit the constants by which plans predict times on a device to launches that were measured on it.
    ///
    /// Measurements are what `liftc bench --device cuda --json FILE` writes, or a file like planner/measured/h200.json;
    /// of the former, images under whole-symmetric that take one launch count. Facts (name, multiprocessors, memory)
    /// are those of --from; only constants are fitted. It says how near predictions come, and which constants nothing
    /// settles.
    Fit {
        /// What was measured.
        measurements: PathBuf,
        /// The device's file to begin with [default: the H200's].
        #[arg(long)]
        from: Option<PathBuf>,
        /// Where to write the new file.
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Make gpu-bundle/: programs, emitted kernels, data and a run.sh for a machine with a CUDA device and no Rust.
    ///
    /// `run.sh` compares plans on the device with plans on the CPU, tries faults, and measures; `run.sh help` says
    /// more.
    GpuBundle {
        /// Only this part, or these: each is below 60 MiB, all of them may not be.
        #[arg(long, value_enum, value_delimiter = ',')]
        only: Vec<bundle::Part>,
    },
    /// Check the English of comments, errors and documents against a list of patterns; the budget is zero.
    Prose {
        /// Only these files [default: all tracked files].
        files: Vec<PathBuf>,
    },
    /// Compile examples/cuda by nvcc and build it by CMake, with what liftc writes for it.
    Example,
    /// Train the tables of probabilities of the codec (codec/src/tables.bin), or measure those that there are.
    ///
    /// Pictures are PNG, JPEG or PGM, and are taken in grey. What the tables of the crate were trained with is in
    /// codec/src/tables.md.
    Tables {
        /// Pictures to learn from.
        pictures: Vec<PathBuf>,
        /// Pictures to measure the built-in tables with: bits a sample.
        #[arg(long, num_args = 1..)]
        held_out: Vec<PathBuf>,
        /// Where to write the tables.
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
        Task::Prose { files } => prose::run(&files),
        Task::Example => example::build(),
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
