//! `papers`: measures the tables of papers. See the library of this package.

use clap::Parser;
use papers::tables::{Args, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show();
            ExitCode::from(failure.exit_code())
        }
    }
}
