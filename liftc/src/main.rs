//! `liftc`: see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    liftc::main(std::env::args_os())
}
