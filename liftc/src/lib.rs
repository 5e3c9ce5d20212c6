//! Command line of the Lifting compiler, as a library for tests. It is a thin layer over `lifting-codegen`, which
//! compiles, and `lifting`, which transforms.
//!
//! Start at [`cli`] for the arguments; [`main`] runs them. Commands return a [`failure::Outcome`], and failures are
//! rendered last. Hidden modules serve the tables of papers, a program of their own.

#![warn(missing_docs)]

#[doc(hidden)]
pub mod bench;
pub mod cli;
#[doc(hidden)]
pub mod codec;
mod compile;
mod excerpt;
mod explain;
mod factor;
pub mod failure;
#[doc(hidden)]
pub mod figure;
mod fmt;
mod inspect;
mod interrupt;
mod kernels;
mod lsp;
pub mod media;
mod mend;
#[doc(hidden)]
pub mod output;
mod plot;
mod shell;
mod show;
mod transform;
#[doc(hidden)]
pub mod wavelet;

use clap::Parser;
use clap::error::ErrorKind;
use cli::{Cli, Command};
use failure::{Failure, Outcome};
use std::ffi::OsString;
use std::process::ExitCode;

pub use explain::rows_svg;
pub use output::close_standard;
pub use plot::svg;
pub use show::describe;

/// Runs the command line, prints failures, and returns the exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(e) => {
            let e = mend::mend(e, &args);
            let printed = e.print();
            if !matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                return ExitCode::from(2);
            }
            return finish(output::printed(printed));
        }
    };
    // Without handlers, temporary files may stay behind after a signal. That is no reason to stop.
    let _ = interrupt::install();
    finish(run(cli))
}

/// Prints a failure, and returns the exit code.
fn finish(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show();
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Runs the command line, and returns failures instead of printing them, for programs that embed it.
pub fn execute(args: impl IntoIterator<Item = OsString>) -> Outcome {
    run(Cli::try_parse_from(args).map_err(failure::usage)?)
}

/// Runs one command.
pub fn run(cli: Cli) -> Outcome {
    match cli.command {
        Some(Command::Check(args)) => inspect::check(&args),
        Some(Command::Fmt(args)) => fmt::run(&args),
        Some(Command::List(args)) => inspect::list(&args),
        Some(Command::Show(args)) => show::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Factor(args)) => factor::run(&args),
        Some(Command::Plot(args)) => plot::run(&args),
        Some(Command::Transform(args)) => transform::run(&args),
        Some(Command::Encode(args)) => codec::encode(&args),
        Some(Command::Decode(args)) => codec::decode(&args),
        Some(Command::Transcode(args)) => codec::transcode(&args),
        Some(Command::Info(args)) => codec::info(&args),
        Some(Command::Bench(args)) => bench::run(&args),
        Some(Command::Lsp(_)) => lsp::run(),
        Some(Command::Kernels(args)) => kernels::run(&args),
        Some(Command::Completions(args)) => shell::completions(&args),
        Some(Command::Man(args)) => shell::man(&args),
        None => compile::run(&cli.compile),
    }
}

/// Prints warnings.
fn warn(name: &str, text: &str, warnings: &[lifting_dsl::Diagnostic]) {
    if !warnings.is_empty() {
        let diagnostics = warnings.to_vec();
        Failure::Diagnostics { name: name.to_owned(), source: text.to_owned(), diagnostics }.show();
    }
}
