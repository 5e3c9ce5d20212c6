//! Command line of the Lifting compiler, as a library for tests. It is a thin layer over `lifting-codegen`, which
//! compiles, and `lifting`, which transforms.
//!
//! Start at [`cli`] for the arguments; [`main`] runs them. Commands return a [`failure::Outcome`], and failures are
//! rendered last. Hidden modules serve the tables of papers, a program of their own.
//!
//! Without the feature `cli`, the library only describes wavelets and draws them. So it compiles to WebAssembly.

#![warn(missing_docs)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod bench;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod codec;
#[cfg(feature = "cli")]
mod compile;
#[cfg(feature = "cli")]
mod excerpt;
mod explain;
#[cfg(feature = "cli")]
mod factor;
pub mod failure;
#[doc(hidden)]
pub mod figure;
#[cfg(feature = "cli")]
mod fmt;
#[cfg(feature = "cli")]
mod inspect;
#[cfg(feature = "cli")]
mod interrupt;
#[cfg(feature = "cli")]
mod kernels;
#[cfg(feature = "cli")]
mod lsp;
#[cfg(feature = "cli")]
pub mod media;
#[cfg(feature = "cli")]
mod mend;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod output;
mod plot;
#[doc(hidden)]
pub mod pyramid;
#[cfg(feature = "cli")]
mod shell;
mod show;
#[cfg(feature = "cli")]
mod transform;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod wavelet;

#[cfg(feature = "cli")]
use {
    clap::{Parser, error::ErrorKind},
    cli::{Cli, Command},
    failure::{Failure, Outcome},
    std::{ffi::OsString, process::ExitCode},
};

pub use explain::{rows_svg, window};
#[cfg(feature = "cli")]
pub use output::close_standard;
pub use plot::svg;
pub use show::describe;

/// Runs the command line, prints failures, and returns the exit code.
#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
pub fn execute(args: impl IntoIterator<Item = OsString>) -> Outcome {
    run(Cli::try_parse_from(args).map_err(failure::usage)?)
}

/// Runs one command.
#[cfg(feature = "cli")]
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
#[cfg(feature = "cli")]
fn warn(name: &str, text: &str, warnings: &[lifting_dsl::Diagnostic]) {
    if !warnings.is_empty() {
        let diagnostics = warnings.to_vec();
        Failure::Diagnostics { name: name.to_owned(), source: text.to_owned(), diagnostics }.show();
    }
}
