//! The command line: what can be said, and what `--help` teaches.

// Help is shown as it stands: what looks like a link is an index.
#![allow(rustdoc::broken_intra_doc_links)]

mod bench;
mod compile;
mod draw;
mod examples;
mod factor;
mod media;
mod values;

pub use bench::{BenchArgs, DeviceArg, DirectionArg, PapersArgs};
pub use compile::{CompileArgs, Emit, FixedArgs, KernelCount, KernelsArgs, Schedule};
pub use draw::{ExplainArgs, Panel, PlotArgs};
pub use factor::{Carrier, FactorArgs, Into};
pub use media::{DecodeArgs, EncodeArgs, InfoArgs, LayoutArg, OutputFormat, PadArg, TransformArgs};

use clap::{Args, Parser, Subcommand};
use examples::*;
use std::path::PathBuf;

/// A compiler for wavelets: from `.lift` text to CUDA and C, and a tool to try them on pictures and arrays.
#[derive(Debug, Parser)]
#[command(name = "liftc", version, after_help = EXAMPLES, max_term_width = 120)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do; compile if nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to compile.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// What `liftc` does besides compiling.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report all errors and warnings of `.lift` files
    Check(CheckArgs),
    /// Print the catalogue
    List(ListArgs),
    /// Print a wavelet as the compiler understands it, and what it is good for: filters, moments, norms, ranges, costs
    #[command(after_help = SHOW_NOTES)]
    Show(ShowArgs),
    /// Say what is derived from a wavelet: window, row diagram, operations, input range, and what schedules move
    Explain(ExplainArgs),
    /// Take a filter bank apart into lifting steps or a lattice, and write it as a `.lift` file
    #[command(after_help = FACTOR_EXAMPLES)]
    Factor(Box<FactorArgs>),
    /// Draw a wavelet: scaling functions, wavelets, frequency responses and the lifting diagram, as SVG or PNG
    Plot(PlotArgs),
    /// Transform pictures and arrays, and back
    #[command(after_help = TRANSFORM_EXAMPLES)]
    Transform(Box<TransformArgs>),
    /// Code pictures as streams of few bytes: lossless, or as good or as small as asked for
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(EncodeArgs),
    /// Decode streams of `encode` to pictures and arrays
    #[command(after_help = DECODE_EXAMPLES)]
    Decode(DecodeArgs),
    /// Say what streams of `encode` hold
    Info(InfoArgs),
    /// Measure how long transforms take, as multiples of a copy of the same data
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(Box<BenchArgs>),
    /// Measure what tables of papers have, beside the papers' figures and the plans of today
    #[command(after_help = PAPERS_NOTES)]
    Papers(PapersArgs),
    /// Write the CUDA kernels that plans take, to be compiled where there is a compiler and no device
    #[command(after_help = KERNELS_EXAMPLES)]
    Kernels(KernelsArgs),
    /// Print the completions of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Directory to write liftc.1, liftc-transform.1 and so on to [default: liftc.1 to the standard output]
    pub dir: Option<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files to check
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only wavelets whose name, alias or family contains this
    pub pattern: Option<String>,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Wavelets: NAME, FILE.lift or FILE.lift#NAME
    #[arg(required = true, value_name = "WAVELET")]
    pub wavelets: Vec<String>,
    /// Levels for which bands are described
    #[arg(short, long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub levels: u32,
    /// Only the wavelet's text
    #[arg(long, conflicts_with = "json")]
    pub text: bool,
    /// All of it as JSON: a list with an object for each wavelet
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
