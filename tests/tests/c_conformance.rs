//! Every construct of the IR that a CPU can execute, written as C99 and run: the suite that all executors share.

use lifting_codegen::back;
use lifting_codegen::ir::conformance::{Case, cases};
use lifting_codegen::ir::interp::Arg;
use lifting_codegen::ir::valid::validate;
use lifting_codegen::ir::{Expr, Literal, ParamKind, Scalar};
use lifting_tests::bytes;
use lifting_tests::compilers::Compiler;

fn c_type(s: Scalar) -> &'static str {
    match s {
        Scalar::I16 => "int16_t",
        Scalar::I32 => "int32_t",
        Scalar::I64 => "int64_t",
        Scalar::U32 => "uint32_t",
        Scalar::U64 => "uint64_t",
        Scalar::F16 | Scalar::Bf16 => "uint16_t",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
        Scalar::Bool => "bool",
    }
}

/// A function that calls the kernel `name` on the case's arguments and writes all its buffers to stdout.
fn caller(case: &Case, name: &str) -> String {
    let mut out = format!("static void run_{name}(void)\n{{\n");
    let (mut args, mut writes) = (Vec::new(), String::new());
    for (i, (param, arg)) in case.kernel.params.iter().zip(&case.args).enumerate() {
        let (ParamKind::Pointer(s, _) | ParamKind::Scalar(s)) = param.kind;
        let t = c_type(s);
        let data = match arg {
            Arg::Buffer(b) => bytes::of_buffer(b),
            arg => bytes::of_scalar(arg, s),
        };
        let len = (data.len() / s.bytes()).max(1);
        out += &format!("    static {t} a{i}[{len}];\n");
        if !data.is_empty() {
            out += &format!("    static const unsigned char b{i}[] = {{{}}};\n", bytes::list(&data));
            out += &format!("    memcpy(a{i}, b{i}, sizeof b{i});\n");
        }
        if arg.buffer().is_some() {
            args.push(format!("a{i}"));
            writes += &format!("    fwrite(a{i}, 1, {}, stdout);\n", data.len());
        } else {
            args.push(format!("a{i}[0]"));
        }
    }
    out + &format!("    {name}({});\n{writes}}}\n", args.join(", "))
}

fn run(compiler: &Compiler) {
    let one = |e: &Expr| matches!(e, Expr::Lit(Literal::Int(1, _)));
    let cases: Vec<Case> =
        cases().into_iter().filter(|c| c.is_serial() && c.kernel.launch.grid.iter().all(one)).collect();
    assert!(cases.len() > 50, "only {} cases are serial", cases.len());
    let infos: Vec<_> = cases.iter().map(|c| validate(&c.kernel).expect("cases are valid")).collect();
    let kernels: Vec<_> = cases.iter().map(|c| &c.kernel).zip(&infos).collect();
    let (text, names) = back::c::write_with(&kernels, &mut back::c::namer()).expect("a CPU can run serial kernels");
    let mut main = format!("{}#include <stdio.h>\n#include <math.h>\n{text}", back::c::prelude(&kernels));
    let mut calls = String::new();
    for (case, name) in cases.iter().zip(&names) {
        main += &caller(case, name);
        calls += &format!("    run_{name}();\n");
    }
    main += &format!("int main(void)\n{{\n{calls}    return 0;\n}}\n");

    let output = compiler.build(&[("main.c", &main)]).run(&[]);
    let mut rest = output.as_slice();
    for case in &cases {
        let args: Vec<Arg> = case
            .args
            .iter()
            .map(|arg| match arg {
                Arg::Buffer(b) => {
                    let (head, tail) = rest.split_at(b.len() * b.scalar().bytes());
                    rest = tail;
                    Arg::Buffer(bytes::to_buffer(b.scalar(), head))
                }
                arg => arg.clone(),
            })
            .collect();
        case.check(&args).unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(rest.is_empty());
}

#[test]
fn by_gcc() {
    run(&Compiler::gcc(&["-O2", "-fsanitize=undefined", "-fno-sanitize-recover=all"]));
}

#[test]
fn by_gxx() {
    run(&Compiler::gxx(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]));
}

#[test]
fn by_clang() {
    if let Some(clang) = Compiler::clang(&["-O1"]) {
        run(&clang);
    }
    if let Some(clang) = Compiler::clangxx(&["-O1"]) {
        run(&clang);
    }
}
