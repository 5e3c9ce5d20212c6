//! Command line: its arguments and their help.

// Help is shown verbatim: text that looks like a link is an index.
#![allow(rustdoc::broken_intra_doc_links)]

mod bench;
mod compile;
mod draw;
mod examples;
mod factor;
mod media;
mod values;

pub use bench::{BenchArgs, DeviceArg, DirectionArg, device};
pub use compile::{CompileArgs, Emit, FixedArgs, KernelCount, KernelsArgs, ScheduleArg};
pub use draw::{ExplainArgs, Panel, PlotArgs};
pub use factor::{Carrier, FactorArgs, Into};
pub use media::{
    ColourArg, DecodeArgs, EncodeArgs, InfoArgs, LayoutArg, MaxError, OutputFormat, PadArg, StreamFormat,
    TranscodeArgs, TransformArgs,
};

use clap::{Args, Parser, Subcommand};
use examples::*;
use std::path::PathBuf;

/// A compiler for wavelets: from `.lift` text to CUDA and C, and a tool to try them on pictures and arrays.
#[derive(Debug, Parser)]
#[command(name = "liftc", version, after_help = EXAMPLES, max_term_width = 120)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Cli {
    /// Command; compiling is the default.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Arguments of compiling.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// Commands other than compiling.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report all errors and warnings of `.lift` files
    Check(CheckArgs),
    /// Format `.lift` files: layout changes, comments and meaning do not
    #[command(after_help = FMT_NOTES)]
    Fmt(FmtArgs),
    /// Print the catalogue
    List(ListArgs),
    /// Print a wavelet as the compiler understands it, with its filters, moments, norms, ranges and costs
    #[command(after_help = SHOW_NOTES)]
    Show(ShowArgs),
    /// Explain a wavelet: window, row diagram, operations, input range, and the data that schedules move
    Explain(ExplainArgs),
    /// Factor a filter bank into lifting steps or a lattice, and write it as a `.lift` file
    #[command(after_help = FACTOR_EXAMPLES)]
    Factor(Box<FactorArgs>),
    /// Draw a wavelet: scaling functions, wavelets, frequency responses and the lifting diagram, as SVG or PNG
    Plot(PlotArgs),
    /// Transform pictures and arrays, and back
    #[command(after_help = TRANSFORM_EXAMPLES)]
    Transform(Box<TransformArgs>),
    /// Encode pictures as compressed streams: lossless, or to a given PSNR, size or quality
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(EncodeArgs),
    /// Decode streams of `encode`, JPEG 2000 and HTJ2K to pictures and arrays
    #[command(after_help = DECODE_EXAMPLES)]
    Decode(DecodeArgs),
    /// Rewrite JPEG 2000 as HTJ2K, or the reverse, without loss
    #[command(after_help = TRANSCODE_EXAMPLES)]
    Transcode(TranscodeArgs),
    /// Describe the contents of streams of `encode`, JPEG 2000 and HTJ2K
    Info(InfoArgs),
    /// Measure transforms, in multiples of the time of a copy
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(Box<BenchArgs>),
    /// Write the CUDA kernels of a plan, to compile on a machine without a device
    #[command(after_help = KERNELS_EXAMPLES)]
    Kernels(KernelsArgs),
    /// Serve an editor: errors as you type, hover, completion, formatting (Language Server Protocol)
    #[command(after_help = LSP_NOTES)]
    Lsp(LspArgs),
    /// Print the completions of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Name of the shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Directory for liftc.1, liftc-transform.1 and so on [default: liftc.1 to the standard output]
    pub dir: Option<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files to check
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Fail on warnings, too
    #[arg(long, value_enum, value_name = "WHAT")]
    pub deny: Option<Deny>,
    /// Print wavelets, errors and warnings as JSON: a list with an object for each file; docs/language.md describes it
    #[arg(long)]
    pub json: bool,
}

/// `--deny`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Deny {
    /// All warnings
    Warnings,
}

/// Arguments of `fmt`.
#[derive(Debug, Args)]
pub struct FmtArgs {
    /// Files to format; `-` formats the standard input to the standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write nothing; print what would change as a patch, and fail if a file is not formatted
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `lsp`.
#[derive(Debug, Args)]
pub struct LspArgs {
    /// Use the standard input and output, as always; some editors add it
    #[arg(long)]
    pub stdio: bool,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only wavelets whose name, alias or family contains this
    pub pattern: Option<String>,
    /// Print the wavelets as JSON: a list with an object for each
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Wavelets: NAME, FILE.lift or FILE.lift#NAME
    #[arg(required = true, value_name = "WAVELET")]
    pub wavelets: Vec<String>,
    /// Number of levels for which bands are described
    #[arg(short, long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub levels: u32,
    /// Print only the wavelet's text
    #[arg(long, conflicts_with = "json")]
    pub text: bool,
    /// Print everything as JSON: a list with an object for each wavelet
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
