//! Comparison of emitted transforms with the oracle.
//!
//! A program reads a case as eight 64-bit integers for each of size, levels, origin and order, then axes, gain and row
//! padding, and then the samples. It answers with a 32-bit return code, the bands and the signal.

use crate::random::Random;
use crate::samples::TestSample;
use lifting_codegen::ir::Scalar;
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Boundary, Domain, Scheme};
use std::path::Path;

/// One transform.
#[derive(Clone, Debug)]
pub struct Case {
    /// Samples along each axis, outermost first.
    pub shape: Vec<usize>,
    /// Levels along each axis.
    pub levels: Vec<u32>,
    /// Position of the first sample along each axis.
    pub origins: Vec<i64>,
    /// Axes in the order of analysis.
    pub order: Vec<usize>,
    /// Gain shift, in bits.
    pub gain: u32,
    /// Samples between rows of the bands.
    pub padding: i64,
}

impl Case {
    /// `levels` levels along all axes, the innermost first.
    pub fn new(shape: &[usize], levels: u32) -> Case {
        let rank = shape.len();
        Case {
            shape: shape.to_vec(),
            levels: vec![levels; rank],
            origins: vec![0; rank],
            order: (0..rank).rev().collect(),
            gain: 0,
            padding: 0,
        }
    }

    /// The case in the drivers' input, before its samples.
    pub fn head(&self) -> Vec<u8> {
        let mut words = [0i64; 35];
        for a in 0..self.shape.len() {
            words[a] = self.shape[a] as i64;
            words[8 + a] = self.levels[a].into();
            words[16 + a] = self.origins[a];
            words[24 + a] = self.order[a] as i64;
        }
        words[32] = self.shape.len() as i64;
        words[33] = self.gain.into();
        words[34] = self.padding;
        words.iter().flat_map(|w| w.to_ne_bytes()).collect()
    }

    /// The geometry.
    ///
    /// # Panics
    /// If the case is invalid.
    pub fn geometry(&self) -> Geometry {
        Geometry::new(&self.shape, &self.origins, &self.levels, &self.order).expect("cases are valid")
    }
}

fn cases(domain: Domain, boundary: Boundary) -> Vec<Case> {
    let mut cases = Vec::new();
    for n in (1..=20).chain([31, 64, 65]) {
        cases.push(Case::new(&[n], 1));
        cases.push(Case { origins: vec![1], ..Case::new(&[n], 3) });
        cases.push(Case { levels: vec![1, 0], ..Case::new(&[n, 5], 0) });
    }
    for (h, w, levels) in [(1, 1, 2), (7, 5, 3), (16, 24, 3), (33, 2, 2), (2, 37, 4), (61, 40, 5), (3, 2100, 2)] {
        cases.push(Case { padding: 3, ..Case::new(&[h, w], levels) });
        let (order, origins) = (vec![0, 1], vec![-3, 5]);
        cases.push(Case { order, origins, ..Case::new(&[h, w], levels) });
    }
    cases.push(Case::new(&[6, 10, 14], 2));
    cases.push(Case { levels: vec![1, 3, 2], ..Case::new(&[8, 16, 12], 0) });
    cases.push(Case { levels: vec![1, 0, 2, 1], order: vec![2, 0, 3, 1], ..Case::new(&[4, 3, 8, 6], 0) });
    cases.push(Case::new(&[9, 7], 0));
    // Batches of images, rows of several blocks, and columns for several threads.
    cases.push(Case { levels: vec![0, 2, 2], padding: 5, ..Case::new(&[3, 20, 44], 0) });
    cases.push(Case { levels: vec![0, 0, 3, 3], order: vec![0, 1, 2, 3], ..Case::new(&[2, 2, 24, 32], 0) });
    // The last ones are large enough for whole iterations in wide registers.
    let large =
        [(26, 2070, 3, 0), (19, 1037, 2, 1), (12, 4100, 2, 3), (301, 22, 2, 1), (76, 517, 2, 0), (67, 1174, 2, 1)];
    for (h, w, levels, origin) in large {
        let origins = vec![origin + 1, origin];
        cases.push(Case { origins: origins.clone(), padding: 1, ..Case::new(&[h, w], levels) });
        cases.push(Case { origins, order: vec![0, 1], ..Case::new(&[h, w], levels) });
    }
    if domain == Domain::Integer {
        cases.push(Case { gain: 1, ..Case::new(&[13, 22], 3) });
        cases.push(Case { gain: 1, order: vec![0, 1], ..Case::new(&[14, 30], 2) });
        cases.push(Case { gain: 2, origins: vec![1, 1], ..Case::new(&[30, 41], 3) });
        cases.push(Case { gain: 3, ..Case::new(&[8, 8, 8], 2) });
    }
    if boundary == Boundary::Periodic {
        // Keep the legal cases; the refusal of others has its own test.
        cases.retain(|c| c.geometry().check_boundary(boundary).is_ok());
    }
    cases
}

/// Runs all cases on random and on extreme samples.
fn compare<T: TestSample>(
    scheme: &Scheme,
    boundary: Boundary,
    (cases, double_lone_odd): (Vec<Case>, bool),
    by: &str,
    run: impl Fn(&[u8]) -> Vec<u8>,
) {
    let mut random = Random::new(0x11f7);
    let mut input = Vec::new();
    let mut expected = Vec::new();
    for case in &cases {
        for extreme in [false, true] {
            let geometry = case.geometry();
            let signal: Vec<T> = (0..geometry.samples()).map(|_| T::random(&mut random, extreme)).collect();
            let mut transform = Transform::new(scheme.clone(), geometry);
            (transform.boundary, transform.gain_shift) = (boundary, case.gain);
            transform.double_lone_odd = double_lone_odd;
            let mut bands = signal.clone();
            transform.forward(&mut bands).expect("the case is legal");
            let mut back = bands.clone();
            transform.inverse(&mut back).expect("the case is legal");
            // Doubled samples may wrap.
            if case.gain == 0 && scheme.domain() == Domain::Integer && !double_lone_odd {
                assert!(back == signal, "the oracle reconstructs {case:?}");
            }
            input.extend(case.head());
            input.extend(T::bytes(&signal));
            expected.push((case, bands, back));
        }
    }
    let output = run(&input);
    let mut rest = output.as_slice();
    for (case, bands, back) in expected {
        let name = || {
            let text = lifting_dsl::print_scheme(scheme);
            format!("{} {} {:?} {case:?} by {by}\n{text}", scheme.name(), boundary, T::KIND)
        };
        let mut take = |n: usize| {
            let (head, tail) = rest.split_at_checked(n).unwrap_or_else(|| panic!("short output, {}", name()));
            rest = tail;
            head
        };
        assert_eq!(take(4), 0i32.to_ne_bytes(), "return code, {}", name());
        assert!(T::same(&T::from_bytes(take(size_of_val(bands.as_slice()))), &bands), "bands differ, {}", name());
        assert!(T::same(&T::from_bytes(take(size_of_val(back.as_slice()))), &back), "signals differ, {}", name());
    }
    assert!(rest.is_empty());
}

/// The first border rules, paired with these types, as compilers are slow. All pairs if `LIFTING_FULL=1`.
pub fn rules<const N: usize>(samples: [Scalar; N]) -> Vec<(Boundary, Scalar)> {
    if !crate::full() {
        return Boundary::ALL.into_iter().zip(samples).collect();
    }
    let mut all = Vec::new();
    for boundary in Boundary::ALL {
        for sample in samples {
            if !all.contains(&(boundary, sample)) {
                all.push((boundary, sample));
            }
        }
    }
    all
}

/// Runs all cases through `run`, which answers like the drivers; `by` names it in messages.
///
/// # Panics
/// If a result differs from the oracle's.
pub fn check(scheme: &Scheme, boundary: Boundary, sample: Scalar, by: &str, run: impl Fn(&[u8]) -> Vec<u8>) {
    check_cases(scheme, boundary, sample, (cases(scheme.domain(), boundary), false), by, run);
}

/// Runs small shapes with odd origins, under JPEG 2000's rule for lines of one sample.
///
/// # Panics
/// If a result differs from the oracle's.
pub fn check_jpeg2000(scheme: &Scheme, sample: Scalar, by: &str, run: impl Fn(&[u8]) -> Vec<u8>) {
    let mut cases = cases(scheme.domain(), Boundary::WholeSymmetric);
    for (h, w) in [(1, 1), (1, 2), (2, 1), (3, 1), (1, 7), (2, 2), (3, 5)] {
        for origin in [[0, 1], [1, 0], [1, 1], [-1, 3], [2, 3]] {
            cases.push(Case { origins: origin.to_vec(), order: vec![0, 1], ..Case::new(&[h, w], 3) });
        }
    }
    cases.push(Case { origins: vec![1, 0, 1], order: vec![0, 1, 2], ..Case::new(&[1, 5, 1], 1) });
    if scheme.domain() == Domain::Integer {
        cases.push(Case { origins: vec![1, 3], order: vec![0, 1], gain: 1, ..Case::new(&[1, 9], 4) });
    }
    check_cases(scheme, Boundary::WholeSymmetric, sample, (cases, true), by, run);
}

fn check_cases(
    scheme: &Scheme,
    boundary: Boundary,
    sample: Scalar,
    cases: (Vec<Case>, bool),
    by: &str,
    run: impl Fn(&[u8]) -> Vec<u8>,
) {
    match sample {
        Scalar::I16 => compare::<i16>(scheme, boundary, cases, by, run),
        Scalar::I32 => compare::<i32>(scheme, boundary, cases, by, run),
        Scalar::I64 => compare::<i64>(scheme, boundary, cases, by, run),
        Scalar::F32 => compare::<f32>(scheme, boundary, cases, by, run),
        Scalar::F64 => compare::<f64>(scheme, boundary, cases, by, run),
        s => panic!("{s:?} is not a type of samples here"),
    }
}

/// The C name of a sample type.
pub fn c_type(sample: Scalar) -> &'static str {
    match sample {
        Scalar::I16 => "int16_t",
        Scalar::I32 => "int32_t",
        Scalar::I64 => "int64_t",
        Scalar::F32 => "float",
        _ => "double",
    }
}

/// The path of a driver.
pub fn driver(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/emitted").join(name).display().to_string()
}

/// A C function `void answer(void)` that runs the preceding emitted transform, as the driver does.
pub fn c_driver(wavelet: &str, sample: Scalar, answer: &str) -> String {
    let [s, t, driver] = [sample.name(), c_type(sample), &driver("driver.c")];
    format!("#define W {wavelet}\n#define S {s}\n#define T {t}\n#define ANSWER {answer}\n#include {driver:?}\n")
}

/// A Rust module with a function `answer` that runs the emitted transform at a path, as the driver does.
pub fn rust_driver(emitted: &str, sample: Scalar, module: &str) -> String {
    let [t, driver] = [sample.name(), &driver("driver.rs")];
    format!(
        "mod {module} {{\n    use {emitted} as emitted;\n    \
         use emitted::{{forward_{t} as forward, inverse_{t} as inverse, scratch_samples_{t} as scratch_samples}};\n    \
         use emitted::{{forward_to_{t} as forward_to, inverse_to_{t} as inverse_to}};\n    \
         type Sample = {t};\n    include!({driver:?});\n}}\n"
    )
}

/// A Rust `main` that answers by one of these modules, selected by its first argument.
pub fn rust_main(modules: &[String]) -> String {
    let arms: String = modules.iter().map(|m| format!("        {m:?} => {m}::answer(&input),\n")).collect();
    format!(
        "fn main() {{\n    use std::io::{{Read, Write}};\n    let mut input = Vec::new();\n    \
         std::io::stdin().read_to_end(&mut input).unwrap();\n    \
         let output = match std::env::args().nth(1).unwrap().as_str() {{\n{arms}        \
         other => panic!(\"{{other}}\"),\n    }};\n    std::io::stdout().write_all(&output).unwrap();\n}}\n"
    )
}
