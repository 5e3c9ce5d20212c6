//! The IR's conformance suite as a program.
//!
//! Generates the C or Rust text that runs cases on a dialect's kernels, and compares the program's output with the
//! expected results.

use crate::bytes;
use crate::compilers::Compiler;
use lifting_codegen::back::{CLike, Cuda, Dialect};
use lifting_codegen::ir::conformance::{Case, cases};
use lifting_codegen::ir::interp::Arg;
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Access, Kernel, Param, ParamKind, Scalar, launch};

/// Cases that a dialect supports, with its text of their kernels.
pub struct Suite {
    /// The cases.
    pub cases: Vec<Case>,
    /// The names of their kernels.
    pub names: Vec<String>,
    /// The dialect's text, including the prelude.
    pub text: String,
}

impl Suite {
    /// All cases whose kernels use only features of the dialect.
    ///
    /// # Panics
    /// If the dialect refuses one of these, or writes a case that uses a feature that it lacks.
    pub fn of(dialect: &dyn Dialect) -> Suite {
        let (cases, refused): (Vec<Case>, Vec<Case>) =
            cases().into_iter().partition(|case| dialect.check(&case.kernel).is_ok());
        for case in refused {
            let info = validate(&case.kernel).expect("cases are valid");
            let error = dialect.write(&[(&case.kernel, &info)]).expect_err(&case.name).to_string();
            assert!(error.contains(dialect.name()), "{error}");
        }
        let infos: Vec<KernelInfo> = cases.iter().map(|c| validate(&c.kernel).expect("cases are valid")).collect();
        let kernels: Vec<(&Kernel, &KernelInfo)> = cases.iter().map(|c| &c.kernel).zip(&infos).collect();
        let written = dialect.write_with(&kernels, &mut dialect.namer());
        let (text, names) = written.unwrap_or_else(|e| panic!("{e}"));
        Suite { text: format!("{}{text}", dialect.prelude(&kernels)), cases, names }
    }

    /// Compares the output of the program with the expected results.
    ///
    /// # Panics
    /// At the first difference.
    pub fn check(&self, output: &[u8]) {
        let mut rest = output;
        for case in &self.cases {
            let mut take = |arg: &Arg| match arg {
                Arg::Buffer(b) => {
                    let (head, tail) = rest.split_at(b.len() * b.scalar().bytes());
                    rest = tail;
                    Arg::Buffer(bytes::to_buffer(b.scalar(), head))
                }
                arg => arg.clone(),
            };
            let args: Vec<Arg> = case.args.iter().map(&mut take).collect();
            case.check(&args).unwrap_or_else(|e| panic!("{e}"));
        }
        assert!(rest.is_empty(), "the program writes more than the cases have");
    }

    /// A program in a C-like language that runs all cases. Arrays are declared with `storage` before their type. `call`
    /// makes the statement that calls a kernel from its name and arguments; `launch` makes the statement that calls the
    /// wrapper function from its name.
    pub fn c_program(
        &self,
        language: &dyn CLike,
        storage: &str,
        call: impl Fn(&Case, &str, &str) -> String,
        launch: impl Fn(&Case, &str) -> String,
    ) -> String {
        let headers = "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n";
        let mut out = format!("{}\n{headers}", self.text);
        let mut calls = String::new();
        for (case, name) in self.cases.iter().zip(&self.names) {
            let (mut args, mut fills, mut writes) = (Vec::new(), String::new(), String::new());
            for (i, (param, arg)) in case.kernel.params.iter().zip(&case.args).enumerate() {
                let (data, array) = (data(param, arg), format!("{name}_a{i}"));
                let s = scalar(param);
                let len = (data.len() / s.bytes()).max(1);
                out += &format!("{storage} {} {array}[{len}];\n", language.type_name(s));
                if !data.is_empty() {
                    fills += &format!("    static const unsigned char b{i}[] = {{{}}};\n", bytes::list(&data));
                    fills += &format!("    memcpy({array}, b{i}, sizeof b{i});\n");
                }
                if arg.buffer().is_some() {
                    args.push(array.clone());
                    writes += &format!("    fwrite({array}, 1, {}, stdout);\n", data.len());
                } else {
                    args.push(format!("{array}[0]"));
                }
            }
            let call = call(case, name, &args.join(", "));
            out += &format!("static void call_{name}(void)\n{{\n    {call}\n}}\n");
            let launch = launch(case, &format!("call_{name}"));
            out += &format!("static void run_{name}(void)\n{{\n{fills}    {launch}\n{writes}}}\n");
            calls += &format!("    run_{name}();\n");
        }
        out + &format!("int main(void)\n{{\n{calls}    return 0;\n}}\n")
    }

    /// A program in Rust that runs all cases.
    pub fn rust_program(&self) -> String {
        let mut out = format!(
            "use std::io::Write;\n\n{}\n\
             fn values<T, const N: usize>(bytes: &[u8], value: fn([u8; N]) -> T) -> Vec<T> {{\n    \
                 bytes.chunks_exact(N).map(|c| value(c.try_into().unwrap())).collect()\n}}\n",
            self.text
        );
        let mut calls = String::new();
        for (case, name) in self.cases.iter().zip(&self.names) {
            let (mut args, mut fills, mut writes) = (Vec::new(), String::new(), String::new());
            for (i, (param, arg)) in case.kernel.params.iter().zip(&case.args).enumerate() {
                let data = bytes::list(&data(param, arg));
                let s = scalar(param);
                let t = match s {
                    Scalar::F16 | Scalar::Bf16 => "u16",
                    s => s.name(),
                };
                let (mutable, borrow) = match param.kind {
                    ParamKind::Pointer(_, Access::Read) => ("", "&"),
                    ParamKind::Pointer(..) => ("mut ", "&mut "),
                    ParamKind::Scalar(_) => ("", ""),
                };
                fills += &format!("    let {mutable}a{i} = values(&[{data}], {t}::from_ne_bytes);\n");
                if arg.buffer().is_some() {
                    args.push(format!("{borrow}a{i}"));
                    writes += &format!("    a{i}.iter().for_each(|x| out.extend(x.to_ne_bytes()));\n");
                } else {
                    args.push(format!("a{i}[0]"));
                }
            }
            out +=
                &format!("fn run_{name}(out: &mut Vec<u8>) {{\n{fills}    {name}({});\n{writes}}}\n", args.join(", "));
            calls += &format!("    run_{name}(&mut out);\n");
        }
        out + &format!(
            "fn main() {{\n    let mut out = Vec::new();\n{calls}    std::io::stdout().write_all(&out).unwrap();\n}}\n"
        )
    }
}

fn scalar(param: &Param) -> Scalar {
    let (ParamKind::Pointer(s, _) | ParamKind::Scalar(s)) = param.kind;
    s
}

/// The bytes of an argument.
fn data(param: &Param, arg: &Arg) -> Vec<u8> {
    match arg {
        Arg::Buffer(b) => bytes::of_buffer(b),
        arg => bytes::of_scalar(arg, scalar(param)),
    }
}

/// The grid of a case.
///
/// # Panics
/// If the case cannot be launched.
pub fn grid(case: &Case) -> [u64; 3] {
    let integer = |arg: &Arg| match arg {
        Arg::Buffer(_) => None,
        Arg::Scalar(v) => Some(*v),
        // Grids do not depend on these.
        Arg::F32(_) | Arg::F64(_) => Some(0),
    };
    let scalars: Vec<i64> = case.args.iter().filter_map(integer).collect();
    launch::grid(&case.kernel, &scalars).expect("cases can be launched")
}

/// Runs all cases as CUDA C++ on the first device, compiled by nvcc. Returns their number, or `None` without a device.
/// An empty grid is not launched; every launch is synchronised.
///
/// # Panics
/// If nvcc reports anything, or a result is unexpected.
pub fn cuda() -> Option<usize> {
    let suite = Suite::of(&Cuda);
    assert_eq!(suite.cases.len(), cases().len(), "CUDA C++ has everything");
    let (nvcc, device) = Compiler::nvcc()?;
    let program = suite.c_program(
        &Cuda,
        "static __device__ __managed__ __align__(16)",
        |case, name, args| {
            let ([x, y, z], [bx, by, bz]) = (grid(case), case.kernel.launch.block);
            let launch = format!("{name}<<<dim3({x}, {y}, {z}), dim3({bx}, {by}, {bz})>>>({args});");
            format!("{launch}\n    if (cudaDeviceSynchronize() != cudaSuccess) abort();")
        },
        |case, function| match grid(case).contains(&0) {
            true => format!("(void){function};"),
            false => format!("{function}();"),
        },
    );
    let program = nvcc.build(&[("main.cu", &format!("#include <stdlib.h>\n{program}"))]);
    device.then(|| {
        suite.check(&program.run(&[]));
        suite.cases.len()
    })
}
