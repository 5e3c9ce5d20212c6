//! Every construct of the IR that a CPU can execute, written as C99 and as Rust, and run: the suite that all executors
//! share.

use lifting_codegen::back::{C, Rust};
use lifting_tests::compilers::Compiler;
use lifting_tests::conformance::Suite;

fn c(compiler: &Compiler) {
    let suite = Suite::of(&C);
    assert!(suite.cases.len() > 50, "only {} cases are serial", suite.cases.len());
    let program = suite.c_program(|_, call| format!("{call}();"));
    suite.check(&compiler.build(&[("main.c", &program)]).run(&[]));
}

#[test]
fn c_by_gcc() {
    c(&Compiler::gcc(&["-O2", "-fsanitize=undefined", "-fno-sanitize-recover=all"]));
}

#[test]
fn c_by_gxx() {
    c(&Compiler::gxx(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]));
}

#[test]
fn c_by_clang() {
    if let Some(clang) = Compiler::clang(&["-O1"]) {
        c(&clang);
    }
    if let Some(clang) = Compiler::clangxx(&["-O1"]) {
        c(&clang);
    }
}

/// With checks for overflow: only what must wrap may.
#[test]
fn rust_by_rustc() {
    let suite = Suite::of(&Rust);
    assert!(suite.cases.len() > 50, "only {} cases are serial", suite.cases.len());
    let rustc = Compiler::rustc(&["-O", "-Coverflow-checks=on"]);
    suite.check(&rustc.build(&[("main.rs", &suite.rust_program())]).run(&[]));
}
