//! The IR's conformance suite: every construct, written in every dialect, compiled and run. C99 and Rust cover
//! constructs that a CPU can execute. CUDA C++ needs nvcc and a device; if either is missing, it prints a notice.

use lifting_codegen::back::{C, DIALECTS, Rust};
use lifting_codegen::ir::Feature;
use lifting_tests::compilers::Compiler;
use lifting_tests::conformance::{Suite, cuda};

fn c(compiler: &Compiler) {
    let suite = Suite::of(&C);
    assert!(suite.cases.len() > 50, "only {} cases are serial", suite.cases.len());
    let call = |name: &str, args: &str| format!("{name}({args});");
    let program = suite.c_program(&C, "static", |_, name, args| call(name, args), |_, name| call(name, ""));
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

/// With overflow checks: only wrapping operations may wrap.
#[test]
fn rust_by_rustc() {
    let suite = Suite::of(&Rust);
    assert!(suite.cases.len() > 50, "only {} cases are serial", suite.cases.len());
    let rustc = Compiler::rustc(&["-O", "-Coverflow-checks=on"]);
    suite.check(&rustc.build(&[("main.rs", &suite.rust_program())]).run(&[]));
}

#[test]
fn cuda_by_nvcc() {
    cuda();
}

/// Every dialect writes exactly the features that it claims.
#[test]
fn dialects_keep_their_word() {
    for dialect in DIALECTS {
        let suite = Suite::of(dialect);
        let asked: std::collections::BTreeSet<_> = suite.cases.iter().flat_map(|case| case.kernel.features()).collect();
        for feature in Feature::ALL {
            assert_eq!(dialect.has(feature), asked.contains(&feature), "{}: {feature:?}", dialect.name());
        }
    }
}
