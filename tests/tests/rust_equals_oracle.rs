//! The emitted Rust equals the oracle bit for bit, compiled with warnings as errors and overflow checks, and is
//! formatted by rustfmt.

use lifting_codegen::emit::{self, Request};
use lifting_codegen::ir::Scalar;
use lifting_dsl::{Boundary, Domain, Format, Scheme, testing};
use lifting_tests::compilers::{Compiler, Program};
use lifting_tests::equals_oracle::{self, rules};
use std::process::Command;

fn wavelet(name: &str) -> Scheme {
    let entry = lifting_filters::find(name).expect("it is in the catalogue");
    let compiled = lifting_dsl::compile(entry.source).expect("the catalogue compiles");
    compiled.schemes.into_iter().find(|s| s.name() == name).expect("the file has it")
}

fn text(scheme: &Scheme, boundary: Boundary, samples: &[Scalar]) -> String {
    let gain = scheme.domain() == Domain::Integer;
    emit::rust(&Request { scheme, boundary, samples, gain, profile: None, prefix: None, command: "test" })
        .expect("the wavelet can be emitted")
}

/// Optimised under one border rule only, as that is slow to compile.
fn program(emitted: &str, boundary: Boundary, sample: Scalar) -> Program {
    let driver = equals_oracle::rust_driver("crate::emitted", sample, "driver");
    let main = format!("mod emitted;\n{driver}{}", equals_oracle::rust_main(&["driver".into()]));
    let optimised = if boundary == Boundary::WholeSymmetric { "-Copt-level=2" } else { "-Copt-level=0" };
    Compiler::rustc(&[optimised, "-Coverflow-checks=yes"]).build(&[("emitted.rs", emitted), ("main.rs", &main)])
}

fn check(scheme: &Scheme, boundary: Boundary, sample: Scalar) {
    check_text(&text(scheme, boundary, &[sample]), scheme, boundary, sample);
}

fn check_text(text: &str, scheme: &Scheme, boundary: Boundary, sample: Scalar) {
    let program = program(text, boundary, sample);
    equals_oracle::check(scheme, boundary, sample, &program.compiler(), |input| program.run_with(&["driver"], input));
}

#[test]
fn integers() {
    for (boundary, sample) in rules([Scalar::I16, Scalar::I64, Scalar::I32, Scalar::I16]) {
        check(&wavelet("dd137"), boundary, sample);
    }
    for (boundary, sample) in rules([Scalar::I32, Scalar::I16]) {
        check(&wavelet("legall53"), boundary, sample);
    }
}

/// Roundings other than down, and signs.
#[test]
fn roundings_and_signs() {
    let scheme = testing::scheme("rounded", Domain::Integer, Boundary::WholeSymmetric, testing::rounded_steps());
    check(&scheme, Boundary::WholeSymmetric, Scalar::I16);
    check(&scheme, Boundary::Edge, Scalar::I64);
}

/// Files made for JPEG 2000 follow its rule for lines of one sample at odd positions.
#[test]
fn profiles() {
    for (name, sample) in [("legall53", Scalar::I16), ("cdf97", Scalar::F64)] {
        let (scheme, boundary) = (wavelet(name), Boundary::WholeSymmetric);
        let (gain, profile) = (scheme.domain() == Domain::Integer, scheme.profile(Format::Jpeg2000));
        assert!(profile.is_some(), "{name} is a wavelet of JPEG 2000");
        let request =
            Request { scheme: &scheme, boundary, samples: &[sample], gain, profile, prefix: None, command: "test" };
        let program = program(&emit::rust(&request).expect("the wavelet can be emitted"), Boundary::Edge, sample);
        let run = |input: &[u8]| program.run_with(&["driver"], input);
        equals_oracle::check_jpeg2000(&scheme, sample, &program.compiler(), run);
    }
}

#[test]
fn reals() {
    for (boundary, sample) in rules([Scalar::F32, Scalar::F32, Scalar::F64, Scalar::F32]) {
        check(&wavelet("cdf97"), boundary, sample);
    }
}

/// Non-temporal stores at every size; and the baseline of the architecture.
#[test]
fn other_machines() {
    let replaced = |text: String, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let (scheme, boundary) = (wavelet("dd137"), Boundary::WholeSymmetric);
    let emitted = replaced(text(&scheme, boundary, &[Scalar::I16]), "16 << 20", "0");
    check_text(&emitted, &scheme, boundary, Scalar::I16);
    let (scheme, boundary) = (wavelet("cdf97"), Boundary::WholeSymmetric);
    let emitted = replaced(text(&scheme, boundary, &[Scalar::F32]), "\"x86_64\"", "\"avr\"");
    check_text(&emitted, &scheme, boundary, Scalar::F32);
}

#[test]
fn lattices() {
    let text = include_str!("../../lifting-dsl/tests/lattices.lift");
    let schemes = lifting_dsl::compile(text).expect("it compiles").schemes;
    check(&schemes[1], Boundary::Periodic, Scalar::F32);
    check(&schemes[3], Boundary::Periodic, Scalar::F64);
}

#[test]
fn long_supports_and_extreme_weights() {
    use lifting_dsl::{Op, Phase};
    let steps = vec![
        testing::integer(Phase::Odd, Op::Sub, &[(2, 3), (5, -1)], 1, 1),
        testing::integer(Phase::Even, Op::Add, &[(-6, 2), (-5, 7)], -3, 3),
        testing::integer(Phase::Even, Op::Sub, &[(1, 1), (4, 1)], 0, 0),
        testing::integer(Phase::Odd, Op::Add, &[(-7, i32::MIN), (3, i32::MAX)], i32::MIN, 30),
    ];
    let scheme = testing::scheme("lopsided", Domain::Integer, Boundary::WholeSymmetric, steps);
    check(&scheme, Boundary::Zero, Scalar::I16);
    check(&scheme, Boundary::Edge, Scalar::I64);
}

/// Every wavelet of the catalogue in one run, as rustfmt takes longer to start than to check.
#[test]
fn rustfmt_has_nothing_to_change() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut files = Vec::new();
    for (index, entry) in lifting_filters::CATALOGUE.iter().enumerate() {
        let scheme = wavelet(entry.name);
        let samples = match scheme.domain() {
            Domain::Integer => [Scalar::I16, Scalar::I32],
            Domain::Real => [Scalar::F32, Scalar::F64],
        };
        let text = text(&scheme, Boundary::ALL[index % Boundary::ALL.len()], &samples);
        files.push(folder.path().join(format!("{}.rs", entry.name)));
        std::fs::write(files.last().expect("one was pushed"), text).expect("the temporary directory can be written");
    }
    assert!(files.len() > 100, "only {} files", files.len());
    let rustfmt = ["--edition=2021", "--check", "--config-path", "/dev/null"];
    let output = Command::new("rustfmt").args(rustfmt).args(&files).output().expect("rustfmt can be run");
    let difference = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && difference.is_empty(), "{difference}");
}

/// Unsafe code is limited to calls for an instruction set, prefetches and non-temporal stores; loops in registers are
/// in a module of their own.
#[test]
fn unsafe_code_is_where_it_is_said_to_be() {
    let text = text(&wavelet("dd137"), Boundary::Zero, &[Scalar::I16, Scalar::I64]);
    let (mut outside, mut inside, mut modules, mut within) = (Vec::new(), 0, 0, false);
    for line in text.lines() {
        within = (within || line.starts_with("mod registers")) && line != "}";
        modules += usize::from(line.starts_with("mod registers"));
        match line.trim() {
            line if within => inside += usize::from(line.contains("unsafe {")),
            line if line.contains("unsafe") && !line.starts_with("#[allow") => outside.push(line),
            _ => {}
        }
    }
    let expected = [
        "unsafe {",
        "unsafe {",
        "unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };",
        "return unsafe { turn(self, level) };",
        "type Loop<T> = unsafe fn(&Turn<T>);",
        "unsafe { loops[usize::from(!self.forward)](&turn) };",
    ];
    assert_eq!(outside, expected);
    assert_eq!((modules, inside), (1, 4));
    // All except the type of a function.
    assert_eq!(text.matches("// SAFETY: ").count(), expected.len() - 1 + inside);
}

#[test]
fn bad_arguments_are_refused() {
    let emitted = text(&wavelet("legall53"), Boundary::Periodic, &[Scalar::I16]);
    let main = r#"
mod emitted;
use emitted::{forward_i16, forward_to_i16, inverse_i16, inverse_to_i16, scratch_samples_i16, Error, Shape};
fn refused(expected: Error, change: impl Fn(&mut Shape)) {
    let mut shape = Shape::new(&[8, 8], 1);
    change(&mut shape);
    let (mut data, mut scratch) = ([0; 64], [0; 256]);
    assert_eq!(forward_i16(&shape, &mut data, &mut scratch), Err(expected));
    assert_eq!(inverse_i16(&shape, &mut data, &mut scratch), Err(expected));
    assert_eq!(forward_to_i16(&shape, &[0; 64], &mut data, &mut scratch), Err(expected));
    assert_eq!(inverse_to_i16(&shape, &[0; 64], &mut data, &mut scratch), Err(expected));
    assert!(!expected.to_string().is_empty());
}
fn main() {
    refused(Error::BadShape, |s| *s = Shape::new(&[], 1));
    refused(Error::BadShape, |s| s.size[0] = 0);
    refused(Error::BadShape, |s| s.levels[1] = 33);
    refused(Error::BadShape, |s| s.order[0] = s.order[1]);
    refused(Error::BadShape, |s| s.order[0] = 7);
    refused(Error::BadShape, |s| s.origin = vec![0]);
    refused(Error::BadGain, |s| s.gain = 15);
    refused(Error::OddPeriodic, |s| s.size[0] = 7);
    refused(Error::OddPeriodic, |s| s.levels[0] = 4);
    refused(Error::TooLarge, |s| s.size[0] = i32::MAX as usize);
    refused(Error::TooLarge, |s| *s = Shape::new(&[2_000_000_000; 4], 1));
    refused(Error::DataLength, |s| s.size[0] = 6);
    let shape = Shape::new(&[8, 8], 1);
    let needed = scratch_samples_i16(&shape).unwrap();
    let mut data = [0; 64];
    assert_eq!(forward_i16(&shape, &mut data, &mut vec![0; needed]), Ok(()));
    assert_eq!(forward_i16(&shape, &mut data, &mut vec![0; needed - 1]), Err(Error::ScratchLength));
    assert_eq!(forward_to_i16(&shape, &[0; 63], &mut data, &mut vec![0; needed]), Err(Error::DataLength));
}
"#;
    Compiler::rustc(&[]).build(&[("emitted.rs", &emitted), ("main.rs", main)]).run(&[]);
}
