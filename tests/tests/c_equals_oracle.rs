//! The emitted C equals the oracle bit for bit, compiled with warnings as errors and run under UBSan.

use lifting_codegen::emit::{self, Request};
use lifting_codegen::ir::Scalar;
use lifting_dsl::{Boundary, Domain, Format, Op, Phase, Profile, Scheme, testing};
use lifting_tests::compilers::{Compiler, Program};
use lifting_tests::equals_oracle::{self, rules};

/// The emitted C with the driver, as one program.
fn program(scheme: &Scheme, boundary: Boundary, sample: Scalar, compiler: &Compiler) -> Program {
    program_of(scheme, boundary, sample, None, compiler)
}

fn program_of(
    scheme: &Scheme,
    boundary: Boundary,
    sample: Scalar,
    profile: Option<&Profile>,
    compiler: &Compiler,
) -> Program {
    let request = Request {
        scheme,
        boundary,
        samples: &[sample],
        gain: scheme.domain() == Domain::Integer,
        profile,
        prefix: None,
        command: "test",
    };
    let text = emit::c(&request).expect("the wavelet can be emitted");
    let header = emit::header(&request, &[&emit::C]);
    let main = format!(
        "#include \"emitted.h\"\n#include \"emitted.c\"\n{}int main(void)\n{{\n#ifdef _OPENMP\n    omp_set_num_threads(5);\n\
         #endif\n    answer();\n    return 0;\n}}\n",
        equals_oracle::c_driver(scheme.name(), sample, "answer")
    );
    compiler.build(&[("emitted.c", &text), ("emitted.h", &header), ("main.c", &main)])
}

fn check(scheme: &Scheme, boundary: Boundary, sample: Scalar, compiler: &Compiler) {
    let program = program(scheme, boundary, sample, compiler);
    equals_oracle::check(scheme, boundary, sample, &program.compiler(), |input| program.run(input));
}

fn integer(name: &str, steps: Vec<lifting_dsl::Step>) -> Scheme {
    testing::scheme(name, Domain::Integer, Boundary::WholeSymmetric, steps)
}

fn cdf97() -> Scheme {
    testing::scheme("cdf97", Domain::Real, Boundary::WholeSymmetric, testing::cdf97())
}

#[test]
fn gcc_integers() {
    let gcc = Compiler::gcc(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]);
    for (boundary, sample) in rules([Scalar::I16, Scalar::I64, Scalar::I32, Scalar::I16]) {
        check(&integer("dd137", testing::dd137()), boundary, sample, &gcc);
    }
    check(&integer("legall53", testing::legall53()), Boundary::Zero, Scalar::I32, &gcc);
}

/// Roundings other than down, and signs; sums wrap without undefined behaviour.
#[test]
fn roundings_and_signs() {
    let gcc = Compiler::gcc(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]);
    for (boundary, sample) in rules([Scalar::I16, Scalar::I64, Scalar::I32, Scalar::I16]) {
        check(&integer("rounded", testing::rounded_steps()), boundary, sample, &gcc);
    }
}

/// Files made for a profile follow its order of axes, gain, and rule for lines of one sample at odd positions.
#[test]
fn profiles() {
    let gcc = Compiler::gcc(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]);
    for (name, sample) in [("legall53", Scalar::I16), ("legall53", Scalar::I64), ("cdf97", Scalar::F32)] {
        let scheme = lifting_tests::wavelet(name);
        let profile = scheme.profile(Format::Jpeg2000);
        assert!(profile.is_some(), "{name} is a wavelet of JPEG 2000");
        let program = program_of(&scheme, Boundary::WholeSymmetric, sample, profile, &gcc);
        equals_oracle::check_jpeg2000(&scheme, sample, &program.compiler(), |input| program.run(input));
    }
}

/// One program for several instruction sets, which uses the machine's best.
#[test]
fn gcc_clones() {
    let gcc = Compiler::gcc(&["-O3"]);
    check(&integer("dd137", testing::dd137()), Boundary::Edge, Scalar::I16, &gcc);
    check(&integer("legall53", testing::legall53()), Boundary::WholeSymmetric, Scalar::I16, &gcc);
    check(&cdf97(), Boundary::WholeSymmetric, Scalar::F32, &gcc);
    // Without the AVX-512 loops in registers.
    let narrow = Compiler::gcc(&["-O2", "-DDD137_WIDE=0", "-DCDF97_WIDE=0"]);
    check(&integer("dd137", testing::dd137()), Boundary::WholeSymmetric, Scalar::I16, &narrow);
    check(&cdf97(), Boundary::Edge, Scalar::F32, &narrow);
    // Non-temporal stores at every size.
    let gcc = Compiler::gcc(&["-O2", "-DDD137_PAST_CACHES=0"]);
    check(&integer("dd137", testing::dd137()), Boundary::WholeSymmetric, Scalar::I16, &gcc);
}

/// Threads share images, and strips of rows, however small.
#[test]
fn openmp() {
    for (scheme, boundary, sample) in [
        (integer("dd137", testing::dd137()), Boundary::WholeSymmetric, Scalar::I16),
        (integer("legall53", testing::legall53()), Boundary::Edge, Scalar::I32),
        (cdf97(), Boundary::Zero, Scalar::F32),
    ] {
        let shared = format!("-D{}_SHARED=0", scheme.name().to_uppercase());
        let options = ["-O1", "-fopenmp", &shared, "-fsanitize=undefined", "-fno-sanitize-recover=all"];
        check(&scheme, boundary, sample, &Compiler::gcc(&options));
    }
}

/// The emitted C files as C++.
#[test]
fn gxx() {
    let gxx = Compiler::gxx(&["-O3", "-march=native"]);
    check(&cdf97(), Boundary::Zero, Scalar::F64, &gxx);
    let gxx = Compiler::gxx(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]);
    check(&integer("dd137", testing::dd137()), Boundary::WholeSymmetric, Scalar::I16, &gxx);
    check(&integer("legall53", testing::legall53()), Boundary::Periodic, Scalar::I64, &gxx);
}

/// A C++ program links with an emitted file compiled as C++: the names match the header.
#[test]
fn a_program_of_cpp_calls_it() {
    let scheme = integer("legall53", testing::legall53());
    let request = Request {
        scheme: &scheme,
        boundary: Boundary::Edge,
        samples: &[Scalar::I16],
        gain: false,
        profile: None,
        prefix: None,
        command: "test",
    };
    let text = emit::c(&request).unwrap();
    let header = emit::header(&request, &[&emit::C]);
    let main = "#include \"emitted.h\"\nint main(void)\n{\n    legall53_shape s = legall53_image(8, 8, 1);\n    \
                return legall53_scratch_bytes_i16(&s) > 0 ? 0 : 1;\n}\n";
    let files = [("emitted.c", &*text), ("emitted.h", &*header), ("main.cpp", main)];
    Compiler::gxx(&["-O1"]).build_units(&["emitted.c", "main.cpp"], &files).run(&[]);
}

#[test]
fn gcc_reals() {
    // The guards in the text must prevent contraction into fused multiply-adds.
    let gcc = Compiler::gcc(&["-O3", "-march=native"]);
    for boundary in [Boundary::WholeSymmetric, Boundary::Periodic] {
        check(&cdf97(), boundary, Scalar::F32, &gcc);
    }
    for boundary in [Boundary::Edge, Boundary::Zero] {
        check(&cdf97(), boundary, Scalar::F32, &Compiler::gcc(&["-O1", "-march=native"]));
    }
    check(&cdf97(), Boundary::WholeSymmetric, Scalar::F64, &gcc);
}

fn lattices() -> Vec<Scheme> {
    let text = include_str!("../../lifting-dsl/tests/lattices.lift");
    lifting_dsl::compile(text).expect("it compiles").schemes
}

#[test]
fn gcc_lattices() {
    let gcc = Compiler::gcc(&["-O2", "-march=native"]);
    for scheme in lattices() {
        check(&scheme, Boundary::Periodic, Scalar::F32, &gcc);
    }
    check(&lattices()[3], Boundary::Periodic, Scalar::F64, &gcc);
}

#[test]
fn clang() {
    let Some(clang) = Compiler::clang(&["-O2", "-march=native"]) else { return };
    check(&cdf97(), Boundary::WholeSymmetric, Scalar::F32, &clang);
    check(&cdf97(), Boundary::Zero, Scalar::F64, &clang);
    let clang = Compiler::clang(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]).expect("found above");
    check(&integer("dd137", testing::dd137()), Boundary::Periodic, Scalar::I16, &clang);
    check(&integer("legall53", testing::legall53()), Boundary::WholeSymmetric, Scalar::I64, &clang);
}

#[test]
fn asymmetric_and_long_supports() {
    let gcc = Compiler::gcc(&["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]);
    let scheme = integer(
        "lopsided",
        vec![
            testing::integer(Phase::Odd, Op::Sub, &[(2, 3), (5, -1)], 1, 1),
            testing::integer(Phase::Even, Op::Add, &[(-6, 2), (-5, 7)], -3, 3),
            testing::integer(Phase::Even, Op::Sub, &[(1, 1), (4, 1)], 0, 0),
            testing::integer(Phase::Odd, Op::Add, &[(-7, i32::MIN), (3, i32::MAX)], i32::MIN, 30),
        ],
    );
    for (boundary, sample) in rules([Scalar::I16, Scalar::I64, Scalar::I16]) {
        check(&scheme, boundary, sample, &gcc);
    }
}

/// Steps that read one sample, as Haar's do, with and without scalings, which read none: compilers find nothing to warn
/// about.
#[test]
fn steps_that_read_little() {
    let haar = integer(
        "haar",
        vec![
            testing::integer(Phase::Odd, Op::Sub, &[(0, 1)], 0, 0),
            testing::integer(Phase::Even, Op::Add, &[(0, 1)], 0, 1),
        ],
    );
    let scalings = [testing::scale(Phase::Even, 1.25), testing::scale(Phase::Odd, 0.8)];
    let half = testing::real(Phase::Even, testing::ratio(1, 2), &[0]);
    let real = |name: &str, steps| testing::scheme(name, Domain::Real, Boundary::WholeSymmetric, steps);
    let [first, second] = scalings.clone();
    let [alone, beside] = [real("scalings", scalings.into()), real("scaled", vec![first, half, second])];
    let options = ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"];
    for compiler in std::iter::once(Compiler::gcc(&options)).chain(Compiler::clang(&options)) {
        check(&alone, Boundary::WholeSymmetric, Scalar::F32, &compiler);
        check(&beside, Boundary::Zero, Scalar::F64, &compiler);
        check(&haar, Boundary::Periodic, Scalar::I16, &compiler);
    }
}

#[test]
fn bad_arguments_are_refused() {
    let scheme = integer("legall53", testing::legall53());
    let gcc = Compiler::gcc(&["-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all"]);
    let request = |boundary| Request {
        scheme: &scheme,
        boundary,
        samples: &[Scalar::I16],
        gain: true,
        profile: None,
        prefix: None,
        command: "test",
    };
    let text = emit::c(&request(Boundary::Periodic)).unwrap();
    let header = emit::header(&request(Boundary::Periodic), &[&emit::C]);
    let main = r#"
#include "emitted.h"
#include "emitted.c"
#include <stdio.h>
static int16_t signal[64], bands[64];
static char scratch[4096];
static int run(const legall53_shape *s) { return legall53_forward_i16(s, signal, bands, scratch); }
#define EXPECT(code, change) \
    { legall53_shape s = legall53_image(8, 8, 1); change; \
      if (run(&s) != code) { printf("line %d: %s\n", __LINE__, legall53_message(run(&s))); return 1; } \
      if (code != LEGALL53_OK && legall53_scratch_bytes_i16(&s) != 0) return 3; }
int main(void)
{
    EXPECT(LEGALL53_OK, (void)s)
    EXPECT(LEGALL53_BAD_SHAPE, s.axes = 0)
    EXPECT(LEGALL53_BAD_SHAPE, s.axes = 9)
    EXPECT(LEGALL53_BAD_SHAPE, s.size[0] = 0)
    EXPECT(LEGALL53_BAD_SHAPE, s.size[1] = -4)
    EXPECT(LEGALL53_BAD_SHAPE, s.levels[1] = 33)
    EXPECT(LEGALL53_BAD_SHAPE, s.levels[0] = -1)
    EXPECT(LEGALL53_BAD_SHAPE, s.order[0] = s.order[1])
    EXPECT(LEGALL53_BAD_SHAPE, s.order[0] = 7)
    EXPECT(LEGALL53_BAD_STRIDE, s.signal_stride[1] = 2)
    EXPECT(LEGALL53_BAD_STRIDE, s.bands_stride[1] = 0)
    EXPECT(LEGALL53_BAD_GAIN, s.gain = -1)
    EXPECT(LEGALL53_BAD_GAIN, s.gain = 15)
    EXPECT(LEGALL53_ODD_PERIODIC, s.size[0] = 7)
    EXPECT(LEGALL53_ODD_PERIODIC, s.levels[0] = 4)
    EXPECT(LEGALL53_TOO_LARGE, s.size[0] = INT32_MAX)
    {
        const int64_t size[4] = {2000000000, 2000000000, 2000000000, 2};
        legall53_shape s = legall53_array(4, size, 1);
        if (run(&s) != LEGALL53_TOO_LARGE) return 4;
    }
    if (run(NULL) != LEGALL53_NULL) return 5;
    legall53_shape s = legall53_image(8, 8, 1);
    if (legall53_forward_i16(&s, NULL, bands, scratch) != LEGALL53_NULL) return 6;
    if (legall53_forward_i16(&s, signal, NULL, scratch) != LEGALL53_NULL) return 7;
    if (legall53_inverse_i16(&s, bands, signal, NULL) != LEGALL53_NULL) return 8;
    return 0;
}
"#;
    gcc.build(&[("emitted.c", &text), ("emitted.h", &header), ("main.c", main)]).run(&[]);
}

/// Two wavelets with names of the file's own functions, variables and types, two sample types, and a second copy under
/// another prefix: all C files are one translation unit.
#[test]
fn files_of_one_unit() {
    let names = ["level", "columns", "step", "check", "sweep", "dense"];
    let mut files = Vec::new();
    let mut main = String::new();
    for (i, name) in names.into_iter().enumerate() {
        let scheme = integer(name, testing::legall53());
        for prefix in [None, Some(format!("{name}_edge"))] {
            let boundary = if prefix.is_some() { Boundary::Edge } else { Boundary::WholeSymmetric };
            let (samples, prefix) = (&[Scalar::I16, Scalar::I32], prefix.as_deref());
            let request =
                Request { scheme: &scheme, boundary, samples, gain: i == 0, profile: None, prefix, command: "test" };
            let own = prefix.unwrap_or(name);
            main += &format!("#include \"{own}.h\"\n#include \"{own}.c\"\n");
            files.push((format!("{own}.c"), emit::c(&request).expect("the wavelet can be emitted")));
            files.push((format!("{own}.h"), emit::header(&request, &[&emit::C])));
        }
    }
    main += "int main(void)\n{\n    return step_scratch_bytes_i16(NULL) == 0 ? 0 : 1;\n}\n";
    files.push(("main.c".into(), main));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    Compiler::gcc(&["-O0", "-Wmissing-prototypes", "-Wcast-align=strict"]).build(&files).run(&[]);
    Compiler::gxx(&["-O0"]).build(&files).run(&[]);
    // Each file alone, without its header.
    let alone = [files[0], ("main.c", "#include \"level.c\"\nint main(void)\n{\n    return 0;\n}\n")];
    Compiler::gcc(&["-O0", "-Wmissing-prototypes", "-Wcast-align=strict"]).build(&alone).run(&[]);
}

/// Options that change results are refused: at compile time if a macro tells, otherwise at run time.
#[test]
fn fast_math_is_refused() {
    let scheme = cdf97();
    let samples = &[Scalar::F32, Scalar::F64];
    let boundary = Boundary::WholeSymmetric;
    let request =
        Request { scheme: &scheme, boundary, samples, gain: false, profile: None, prefix: None, command: "test" };
    let text = emit::c(&request).expect("the wavelet can be emitted");
    let header = emit::header(&request, &[&emit::C]);
    assert!(header.contains("Compile without -ffast-math") && text.contains("Compile without -ffast-math"));
    let call = |s: &str, t: &str| {
        format!(
            "{{ static {t} a[64] = {{1}}, b[64], c[1 << 20]; cdf97_shape s = cdf97_image(8, 8, 1);\n        \
               code += cdf97_forward_{s}(&s, a, b, c); }}\n"
        )
    };
    let main = format!(
        "#include <stdio.h>\n#include \"cdf97.h\"\n#include \"cdf97.c\"\nint main(void)\n{{\n    int code = 0;\n    {}    {}    \
         printf(\"%d\", code);\n    return 0;\n}}\n",
        call("f32", "float"),
        call("f64", "double")
    );
    let files = [("cdf97.c", &*text), ("cdf97.h", &*header), ("main.c", &*main)];
    let run = |compiler: &Compiler| String::from_utf8(compiler.build(&files).run(&[])).unwrap();
    assert_eq!(run(&Compiler::gcc(&["-O2", "-march=native", "-ffp-contract=fast"])), "0");
    for option in ["-ffast-math", "-Ofast", "-funsafe-math-optimizations"] {
        assert!(!Compiler::gcc(&[option]).accepts(&format!("{text}\nint main(void) {{ return 0; }}\n")), "{option}");
    }
    let Some(clang) = Compiler::clang(&["-O2"]) else { return };
    assert_eq!(run(&clang), "0");
    for option in ["-ffp-contract=fast", "-fassociative-math"] {
        let more = ["-fno-signed-zeros", "-fno-trapping-math", "-mfma", "-mno-avx512f"];
        let options: Vec<&str> = ["-O2", option].into_iter().chain(more).collect();
        let clang = Compiler::clang(&options).expect("it is installed");
        assert_eq!(run(&clang), "18", "{option}");
    }
}
