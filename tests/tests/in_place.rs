//! Functions in place for one shape, in C and Rust, equal the oracle bit for bit.

use lifting::Plan;
use lifting_codegen::emit::{C, RUST, Request, Section, header_of};
use lifting_codegen::ir::Scalar;
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Boundary, Domain, Format, Scheme};
use lifting_planner::emit::{Fixed, in_place};
use lifting_tests::compilers::Compiler;
use lifting_tests::equals_oracle::c_type;
use lifting_tests::random::Random;
use lifting_tests::samples::TestSample;
use lifting_tests::wavelet;
use std::process::Command;

/// Shapes with levels; the last two suit periodic borders.
const SHAPES: [(&[usize], u32); 9] = [
    (&[1, 1], 2),
    (&[1, 7], 3),
    (&[5, 3], 2),
    (&[8, 8], 3),
    (&[13], 4),
    (&[37, 1], 1),
    (&[3, 4, 5], 2),
    (&[8, 16], 3),
    (&[2, 4, 2, 6], 1),
];

/// Whether the bytes of a result are right.
type Check = Box<dyn Fn(&[u8]) -> bool>;

/// One transform of a program, its input and its results.
struct Case {
    function: String,
    sample: Scalar,
    samples: usize,
    input: Vec<u8>,
    check: Check,
}

/// Files of one wavelet and sample type, and their cases.
struct Files {
    name: String,
    c: String,
    header: String,
    rust: String,
    cases: Vec<Case>,
}

fn files<T: TestSample + lifting::Sample + 'static>(scheme: &Scheme, sample: Scalar, format: Option<Format>) -> Files {
    let (boundary, profile) = (scheme.boundary(), format.and_then(|format| scheme.profile(format)));
    let boundary = profile.and_then(|profile| profile.boundary).unwrap_or(boundary);
    let gain = profile.is_some_and(|profile| profile.gain_shift > 0);
    let name = format!("{}_{}", scheme.name(), format.map_or("plain", Format::name));
    let samples = [sample];
    let prefix = Some(name.as_str());
    let request = Request { scheme, boundary, samples: &samples, gain, profile, prefix, command: "test" };
    let (mut transforms, mut cases, mut random): (Vec<Fixed>, _, _) = (Vec::new(), Vec::new(), Random::new(7));
    for (i, (shape, levels)) in SHAPES.into_iter().enumerate() {
        // Some axes of the larger arrays.
        let axes: Vec<usize> = if shape.len() > 2 && i % 2 == 0 { vec![0, 2] } else { (0..shape.len()).collect() };
        let builder = Plan::builder(scheme).shape(shape).axes(&axes).levels(levels).sample::<T>().boundary(boundary);
        let builder = if let Some(format) = format { builder.profile(format) } else { builder };
        let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
        // Borders or formats refuse some shapes.
        let Ok(fixed) = builder.fixed(&format!("{}_l{levels}", sides.join("x"))) else { continue };
        let mut transform = Transform::new(scheme.clone(), fixed.problem.geometry.clone());
        (transform.boundary, transform.gain_shift) = (boundary, fixed.problem.gain_shift);
        for extreme in [false, true] {
            let signal: Vec<T> =
                (0..fixed.problem.geometry.samples()).map(|_| T::random(&mut random, extreme)).collect();
            let mut bands = signal.clone();
            transform.forward(&mut bands).expect("the plan accepts the shape");
            let mut back = bands.clone();
            transform.inverse(&mut back).expect("the plan accepts the shape");
            let check = move |found: &[u8]| {
                let (first, second) = found.split_at(found.len() / 2);
                T::same(&T::from_bytes(first), &bands) && T::same(&T::from_bytes(second), &back)
            };
            let function = format!("{}_{}", fixed.name, sample.name());
            let (samples, input) = (signal.len(), T::bytes(&signal));
            cases.push(Case { function, sample, samples, input, check: Box::new(check) });
        }
        transforms.push(fixed);
    }
    let (c, prototypes) = in_place(&request, &C, &transforms).expect("the wavelet can be emitted");
    let (rust, _) = in_place(&request, &RUST, &transforms).expect("the wavelet can be emitted");
    let header = header_of(&request, &[Section::new(&request, &C, false, &prototypes)]);
    Files { name, c, header, rust, cases }
}

/// Files of every wavelet with `LIFTING_FULL=1`; else of one in three.
fn all() -> Vec<Files> {
    let catalogue = lifting_filters::CATALOGUE.iter().step_by(if lifting_tests::full() { 1 } else { 3 });
    let catalogue = catalogue.map(|entry| (wavelet(entry.name), None));
    let formats = [("dd137", Format::Vc2), ("legall53", Format::Vc2), ("legall53", Format::Jpeg2000)];
    let formats = formats.into_iter().map(|(name, format)| (wavelet(name), Some(format)));
    let each = |(i, (scheme, format)): (usize, (Scheme, Option<Format>))| match (scheme.domain(), i % 2) {
        (Domain::Integer, 0) => files::<i16>(&scheme, Scalar::I16, format),
        (Domain::Integer, _) => files::<i32>(&scheme, Scalar::I32, format),
        (Domain::Real, 0) => files::<f32>(&scheme, Scalar::F32, format),
        (Domain::Real, _) => files::<f64>(&scheme, Scalar::F64, format),
    };
    let all: Vec<Files> = catalogue.chain(formats).enumerate().map(each).collect();
    let cases: usize = all.iter().map(|files| files.cases.len()).sum();
    let (least, least_cases) = if lifting_tests::full() { (100, 1000) } else { (35, 330) };
    assert!(all.len() > least && cases > least_cases, "{} files, {cases} cases", all.len());
    all
}

fn check(all: &[Files], output: &[u8], by: &str) {
    let mut rest = output;
    for files in all {
        for case in &files.cases {
            let (found, after) = rest.split_at(2 * case.input.len());
            assert!((case.check)(found), "{}: {} differs by {by}", files.name, case.function);
            rest = after;
        }
    }
    assert!(rest.is_empty());
}

fn input(all: &[Files]) -> Vec<u8> {
    all.iter().flat_map(|files| &files.cases).flat_map(|case| case.input.iter().copied()).collect()
}

#[test]
fn c_in_place() {
    let all = all();
    // Guard samples on either side.
    let mut main = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         #define RUN(way, back, n, type) { static type d[(n) + 2], g[1]; \
         memset(d, 0x5a, sizeof d); memset(g, 0x5a, sizeof g); \
         if (fread(d + 1, sizeof(type), n, stdin) != (n)) exit(2); \
         way(d + 1); fwrite(d + 1, sizeof(type), n, stdout); back(d + 1); fwrite(d + 1, sizeof(type), n, stdout); \
         if (memcmp(d, g, sizeof g) != 0 || memcmp(d + (n) + 1, g, sizeof g) != 0) exit(3); }\n",
    );
    let mut texts = Vec::new();
    for files in &all {
        let name = &files.name;
        // With and without its header.
        main += &if texts.len() % 4 == 0 { format!("#include \"{name}.h\"\n") } else { String::new() };
        main += &format!("#include \"{name}.c\"\n");
        texts.push((format!("{name}.c"), &*files.c));
        texts.push((format!("{name}.h"), &*files.header));
    }
    main += "int main(void)\n{\n";
    for files in &all {
        for Case { function, sample, samples, .. } in &files.cases {
            let (name, t) = (&files.name, c_type(*sample));
            main += &format!("    RUN({name}_forward_{function}, {name}_inverse_{function}, {samples}, {t})\n");
        }
    }
    main += "    return 0;\n}\n";
    let mut texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (&**name, *text)).collect();
    texts.push(("main.c", &main));
    let options = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-Wmissing-prototypes"];
    let gcc = Compiler::gcc(&options);
    let program = gcc.build(&texts);
    check(&all, &program.run(&input(&all)), &program.compiler());
}

/// The crate has neither `std` nor unsafe code; `host` is its own name of `std`.
#[test]
fn rust_in_place() {
    let all = all();
    let mut main = String::from("#![no_std]\n#![forbid(unsafe_code)]\nextern crate std as host;\n");
    let mut texts = Vec::new();
    let mut calls = String::new();
    for files in &all {
        let name = &files.name;
        main += &format!("mod {name};\n");
        texts.push((format!("{name}.rs"), &*files.rust));
        for Case { function, sample, samples, .. } in &files.cases {
            let (t, bytes) = (sample.name(), sample.bytes());
            calls += &format!(
                "    let (head, tail) = rest.split_at({samples} * {bytes});\n    rest = tail;\n    \
                 let mut d: [{t}; {samples}] = core::array::from_fn(|i| {{\n        \
                 {t}::from_ne_bytes(head[i * {bytes}..(i + 1) * {bytes}].try_into().unwrap())\n    }});\n    \
                 for f in [{name}::forward_{function}, {name}::inverse_{function}] {{\n        f(&mut d);\n        \
                 d.iter().for_each(|x| output.extend(x.to_ne_bytes()));\n    }}\n"
            );
        }
    }
    main += &format!(
        "fn main() {{\n    use host::io::{{Read, Write}};\n    let mut input = host::vec::Vec::new();\n    \
         host::io::stdin().read_to_end(&mut input).unwrap();\n    \
         let (mut rest, mut output) = (&input[..], host::vec::Vec::new());\n{calls}    assert!(rest.is_empty());\n    \
         host::io::stdout().write_all(&output).unwrap();\n}}\n"
    );
    let mut texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (&**name, *text)).collect();
    texts.push(("main.rs", &main));
    let program = Compiler::rustc(&["-Copt-level=0", "-Coverflow-checks=yes"]).build(&texts);
    check(&all, &program.run(&input(&all)), &program.compiler());
}

/// Python's ctypes calls a shared library: constructors are exported, and functions in place need none.
#[test]
fn ctypes_calls_them() {
    let exists = |word: &str| Command::new(word).arg("--version").output().is_ok_and(|output| output.status.success());
    if !exists("python3") {
        return eprintln!("skipped: python3 is not installed");
    }
    let (scheme, samples, boundary) = (wavelet("dd137"), [Scalar::I16], Boundary::WholeSymmetric);
    let request = |prefix| Request { prefix, samples: &samples, boundary, ..Request::natural(&scheme, "test") };
    let fixed = Plan::builder(&scheme).shape(&[8, 8]).levels(3).sample::<i16>().fixed("8x8_l3");
    let fixed = fixed.expect("the plan is legal");
    let (small, _) = in_place(&request(Some("small")), &C, &[fixed]).expect("the wavelet can be emitted");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it can be written");
    write("any.c", &lifting_codegen::emit::c(&request(None)).expect("the wavelet can be emitted"));
    write("small.c", &small);
    write(
        "call.py",
        "from ctypes import *\n\
         class Shape(Structure):\n    \
             _fields_ = [('axes', c_int), ('size', c_int64 * 8), ('levels', c_int * 8),\n        \
                 ('origin', c_int64 * 8), ('order', c_int * 8), ('gain', c_int),\n        \
                 ('signal_stride', c_int64 * 8), ('bands_stride', c_int64 * 8)]\n\
         lib, shape = CDLL('./lib.so'), Shape()\n\
         lib.dd137_set_array(byref(shape), 2, (c_int64 * 2)(8, 8), 3)\n\
         lib.dd137_scratch_bytes_i16.restype = c_size_t\n\
         lib.dd137_message_of.restype = c_char_p\n\
         signal = (c_int16 * 64)(*[i * i % 97 for i in range(64)])\n\
         bands, scratch = (c_int16 * 64)(), create_string_buffer(lib.dd137_scratch_bytes_i16(byref(shape)))\n\
         code = lib.dd137_forward_i16(byref(shape), signal, bands, scratch)\n\
         assert lib.dd137_message_of(code) == b'no error' and list(bands) != list(signal)\n\
         data = (c_int16 * 64)(*signal)\n\
         lib.small_forward_8x8_l3_i16(data)\n\
         assert list(data) == list(bands)\n\
         lib.small_inverse_8x8_l3_i16(data)\n\
         assert list(data) == list(signal)\n",
    );
    let run = |command: &mut Command| {
        let output = command.current_dir(folder.path()).output().expect("the command can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new("gcc").args(["-std=c99", "-O1", "-shared", "-fPIC", "-o", "lib.so", "any.c", "small.c"]));
    run(Command::new("python3").arg("call.py"));
}
