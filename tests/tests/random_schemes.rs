//! Random wavelets through the whole chain: every stage equals the oracle bit for bit.
//!
//! They have 1 to 5 steps, asymmetric supports up to ±6, both domains, and any border rule. The emitted C and Rust of a
//! batch are compiled together, as compilers take longer to start than to compile. The wavelets are fixed, or new in
//! each run with `LIFTING_FULL=1`. A failure prints the seed; `LIFTING_SEED=seed` repeats it.

use lifting::{Device, Plan};
use lifting_codegen::emit::{self, Request};
use lifting_codegen::ir::Scalar;
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Boundary, Domain, Scheme, testing};
use lifting_tests::compilers::{Compiler, Program};
use lifting_tests::equals_oracle;
use lifting_tests::random::Random;
use lifting_tests::samples::TestSample;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Prints the seed if the test fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the same wavelets again: LIFTING_SEED={}", self.0);
        }
    }
}

/// The seed: `LIFTING_SEED` if set, the clock with `LIFTING_FULL=1`, else a constant.
fn seed() -> u64 {
    if let Ok(given) = std::env::var("LIFTING_SEED") {
        return given.parse().expect("LIFTING_SEED is a number");
    }
    if lifting_tests::full() {
        let clock = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("it is later than 1970").as_nanos() as u64;
        eprintln!("wavelets of LIFTING_SEED={clock}");
        return clock;
    }
    20_111_201
}

/// `count` wavelets from [`seed`].
fn schemes(count: usize) -> (Seed, Vec<Scheme>) {
    let seed = seed();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let domains = [Domain::Integer, Domain::Real].map(testing::any_scheme);
    let schemes = (0..count).map(|i| {
        let scheme = domains[i % 2].new_tree(&mut runner).expect("nothing is filtered").current();
        // Distinct names, as C has one namespace.
        testing::scheme(&format!("random{i}"), scheme.domain(), scheme.boundary(), scheme.steps().to_vec())
    });
    (Seed(seed), schemes.collect())
}

/// The sample type for this turn.
fn sample(scheme: &Scheme, turn: usize) -> Scalar {
    match scheme.domain() {
        Domain::Integer => [Scalar::I16, Scalar::I32, Scalar::I64][turn / 2 % 3],
        Domain::Real => [Scalar::F32, Scalar::F64][turn / 2 % 2],
    }
}

fn request<'a>(scheme: &'a Scheme, samples: &'a [Scalar]) -> Request<'a> {
    let gain = scheme.domain() == Domain::Integer;
    Request { scheme, boundary: scheme.boundary(), samples, gain, profile: None, prefix: None, command: "test" }
}

#[test]
fn text_and_back() {
    let (_seed, schemes) = schemes(200);
    for scheme in schemes {
        let text = lifting_dsl::print_scheme(&scheme);
        let (file, errors) = lifting_dsl::parse(&text);
        assert_eq!(errors, [], "{text}");
        assert_eq!(lifting_dsl::print(&file), text);
        let compiled = lifting_dsl::compile(&text).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
        assert_eq!(compiled.schemes, [scheme], "{text}");
    }
}

/// A whole transform by a plan.
fn plan<T: TestSample + lifting::Sample>(scheme: &Scheme, device: &Device, random: &mut Random) {
    let even = scheme.boundary() == Boundary::Periodic;
    let interpreted = matches!(device, Device::Interpreter);
    for (shape, levels) in [(vec![1], 1), (vec![37], 3), (vec![19, 26], 2), (vec![2, 33], 1), (vec![7, 12, 9], 1)] {
        let shape: Vec<usize> =
            if even { shape.iter().map(|n| usize::next_multiple_of(*n, 1 << levels)).collect() } else { shape };
        if interpreted && shape.len() > 2 {
            continue;
        }
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        let origins: Vec<i64> = shape.iter().map(|_| if even { 0 } else { random.bits() as i64 % 3 }).collect();
        let geometry = Geometry::new(&shape, &origins, &vec![levels; shape.len()], &axes).expect("it is valid");
        let what = format!("{} {} {shape:?} from {origins:?}\n{}", T::KIND, device, lifting_dsl::print_scheme(scheme));
        let signal: Vec<T> = (0..geometry.samples()).map(|i| T::random(random, i % 5 == 0)).collect();
        let oracle = Transform::new(scheme.clone(), geometry);
        let plan = Plan::builder(scheme).shape(&shape).levels(levels).origins(&origins).sample::<T>().build(device);
        let plan = plan.unwrap_or_else(|e| panic!("{what}: {e}"));
        let mut expected = signal.clone();
        oracle.forward(&mut expected).expect("it is legal");
        let mut found = signal.clone();
        plan.forward_in_place(&mut found).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(T::same(&found, &expected), "forward, {what}");
        oracle.inverse(&mut expected).expect("it is legal");
        plan.inverse_in_place(&mut found).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(T::same(&found, &expected), "inverse, {what}");
        assert!(scheme.domain() == Domain::Real || found == signal, "lossless, {what}");
    }
}

fn plans(count: usize, device: &Device) {
    let (seed, schemes) = schemes(count);
    let mut random = Random::new(seed.0);
    for (turn, scheme) in schemes.iter().enumerate() {
        match sample(scheme, turn) {
            Scalar::I16 => plan::<i16>(scheme, device, &mut random),
            Scalar::I32 => plan::<i32>(scheme, device, &mut random),
            Scalar::I64 => plan::<i64>(scheme, device, &mut random),
            Scalar::F32 => plan::<f32>(scheme, device, &mut random),
            _ => plan::<f64>(scheme, device, &mut random),
        }
    }
}

#[test]
fn plans_on_the_cpu() {
    plans(120, &Device::cpu());
}

#[test]
fn plans_on_the_interpreter() {
    plans(24, &Device::Interpreter);
}

/// Number of wavelets to compile, which is slow.
fn emitted_count() -> usize {
    if lifting_tests::full() { 16 } else { 8 }
}

/// Compares all wavelets of a compiled batch, each with its part of the program.
fn compare(schemes: &[Scheme], program: &Program) {
    for (i, scheme) in schemes.iter().enumerate() {
        let run = |input: &[u8]| program.run_with(&[&format!("answer{i}")], input);
        equals_oracle::check(scheme, scheme.boundary(), sample(scheme, i), &program.compiler(), run);
    }
}

/// The name and the text of files.
fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

#[test]
fn emitted_c() {
    let (_seed, schemes) = schemes(emitted_count());
    // One unit per wavelet, because their helpers share names.
    let (mut files, mut declared, mut calls) = (Vec::new(), String::new(), String::new());
    for (i, scheme) in schemes.iter().enumerate() {
        let text = emit::c(&request(scheme, &[sample(scheme, i)])).unwrap_or_else(|e| panic!("{e}: {scheme:?}"));
        let driver = equals_oracle::c_driver(scheme.name(), sample(scheme, i), &format!("answer{i}"));
        files.push((format!("random{i}.c"), format!("{text}\n{driver}")));
        declared += &format!("void answer{i}(void);\n");
        calls += &format!("    if (strcmp(argv[1], \"answer{i}\") == 0) answer{i}();\n");
    }
    let main = format!(
        "#include <string.h>\n{declared}int main(int argc, char **argv)\n{{\n    if (argc != 2) return 2;\n{calls}    return 0;\n}}\n"
    );
    files.push(("main.c".into(), main));
    let units: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let gcc = Compiler::gcc(&["-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all"]);
    compare(&schemes, &gcc.build_units(&units, &borrowed(&files)));
}

#[test]
fn emitted_rust() {
    let (_seed, schemes) = schemes(emitted_count());
    let (mut files, mut main, mut modules) = (Vec::new(), String::new(), Vec::new());
    for (i, scheme) in schemes.iter().enumerate() {
        let (t, module) = (sample(scheme, i), format!("answer{i}"));
        let text = emit::rust(&request(scheme, &[t])).unwrap_or_else(|e| panic!("{e}: {scheme:?}"));
        files.push((format!("random{i}.rs"), text));
        main += &format!("mod random{i};\n{}", equals_oracle::rust_driver(&format!("crate::random{i}"), t, &module));
        modules.push(module);
    }
    files.push(("main.rs".into(), main + &equals_oracle::rust_main(&modules)));
    compare(&schemes, &Compiler::rustc(&["-Cdebug-assertions=yes"]).build(&borrowed(&files)));
}
