//! Writes a folder that checks emitted CUDA on a machine with only a GPU and nvcc.
//!
//! It holds emitted files, a host program, real pictures and synthetic cases with the oracle's results, and `run.sh`,
//! which compiles, runs and compares. `times.sh` times functions for any shape (also of files with few kernels) and for
//! one shape, and plans as well if `liftc` is installed.
//!
//! `cargo run --release -p lifting-tests --bin emitted-cuda -- FOLDER`

use lifting_codegen::emit::{self, Request};
use lifting_codegen::ir::Scalar;
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Boundary, Domain, Scheme};
use lifting_planner::emit::{Count, Fixed, General, declarations, fixed, general};
use lifting_planner::{Machine, Problem, Schedule, Tuning, contiguous, sample_of};
use lifting_tests::equals_oracle::Case;
use lifting_tests::random::Random;
use lifting_tests::samples::TestSample;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn cases(domain: Domain) -> Vec<Case> {
    let mut cases: Vec<Case> = (1..=40).chain([63, 64, 65, 1023, 1024, 1025]).map(|n| Case::new(&[n], 3)).collect();
    cases.extend((1..=9).map(|n| Case { levels: vec![2, 0], ..Case::new(&[n, 300], 0) }));
    for (h, w, levels) in [(1, 1, 2), (7, 5, 3), (33, 2, 2), (2, 37, 4), (61, 40, 5), (271, 131, 3), (5000, 1, 2)] {
        cases.push(Case { padding: 3, ..Case::new(&[h, w], levels) });
        cases.push(Case { order: vec![0, 1], origins: vec![-3, 5], ..Case::new(&[h, w], levels) });
    }
    cases.push(Case::new(&[19, 27, 35], 2));
    cases.push(Case::new(&[12, 20, 64], 2));
    cases.push(Case::new(&[33, 18, 64], 1));
    cases.push(Case { levels: vec![1, 0, 2, 1], order: vec![2, 0, 3, 1], ..Case::new(&[4, 3, 8, 6], 0) });
    if domain == Domain::Integer {
        cases.push(Case { gain: 1, ..Case::new(&[96, 160], 3) });
    }
    cases
}

/// The case file of one program.
fn data<T: TestSample>(scheme: &Scheme, boundary: Boundary, pictures: &[(Vec<usize>, Vec<u16>)]) -> Vec<u8> {
    let mut random = Random::new(0x0c0d);
    let mut out = Vec::new();
    let mut add = |case: &Case, signal: Vec<T>| {
        let geometry = case.geometry();
        if geometry.check_boundary(boundary).is_err() {
            return;
        }
        let mut transform = Transform::new(scheme.clone(), geometry);
        (transform.boundary, transform.gain_shift) = (boundary, case.gain);
        let mut bands = signal.clone();
        transform.forward(&mut bands).expect("the case is legal");
        let mut back = bands.clone();
        transform.inverse(&mut back).expect("the case is legal");
        out.extend(case.head());
        out.extend([signal, bands, back].iter().flat_map(|part| T::bytes(part)));
    };
    // The pictures run under the wavelet's own border rule. For samples of 8 bytes only the one with an odd side does,
    // to keep the folder small.
    let pictures = match size_of::<T>() {
        _ if boundary != scheme.boundary() => &pictures[..0],
        8 => &pictures[1..],
        _ => pictures,
    };
    for (shape, samples) in pictures {
        add(&Case::new(shape, 3), samples.iter().map(|&s| T::from_i64(s.into())).collect());
    }
    for case in cases(scheme.domain()) {
        let n = case.shape.iter().product();
        let extreme = n < 5000;
        let signal = (0..n).map(|i| T::random(&mut random, extreme && i % 2 == 0)).collect();
        add(&case, signal);
    }
    out
}

/// A timed case: name, shape, levels per axis, row pitch granularity in bytes.
type Timed = (&'static str, &'static [usize], &'static [u32], usize);

/// Published shapes, video, unaligned rows and rows at multiples of 32 bytes, volumes, lines.
const TIMED: [Timed; 12] = [
    ("8192x8192_l1", &[8192, 8192], &[1, 1], 0),
    ("8192x8192_l5", &[8192, 8192], &[5, 5], 0),
    ("4096x4096_l5", &[4096, 4096], &[5, 5], 0),
    ("1080x1920_l3", &[1080, 1920], &[3, 3], 0),
    ("8191x8193_l1", &[8191, 8193], &[1, 1], 0),
    ("8191x8193_l5", &[8191, 8193], &[5, 5], 0),
    ("8191x8193_l1_pitch32", &[8191, 8193], &[1, 1], 32),
    ("64_of_1080x1920_l3", &[64, 1080, 1920], &[0, 3, 3], 0),
    ("512x512x512_l1", &[512, 512, 512], &[1, 1, 1], 0),
    ("512x512x512_l3", &[512, 512, 512], &[3, 3, 3], 0),
    ("67108864_l1", &[1 << 26], &[1], 0),
    ("32_of_1048576_l5", &[32, 1 << 20], &[0, 5], 0),
];

/// Timed wavelets and the number of cases each: three in all cases; one in its other type, and one per family of the
/// catalogue, in the first four.
const FAMILIES: [(&str, Scalar, usize); 11] = [
    ("cdf97", Scalar::F32, TIMED.len()),
    ("legall53", Scalar::I16, TIMED.len()),
    ("dd137", Scalar::I16, TIMED.len()),
    ("cdf97", Scalar::F64, 4),
    ("sym8", Scalar::F32, 4),
    ("db4", Scalar::F32, 4),
    ("coif2", Scalar::F32, 4),
    ("cdf2_2", Scalar::F32, 4),
    ("fidelity", Scalar::I16, 4),
    ("daubechies97", Scalar::I16, 4),
    ("cdf1_1", Scalar::F32, 4),
];

/// Arguments of `liftc bench` for timing plans of the same transforms.
fn asked(name: &str, scalar: Scalar, (case, shape, levels, bytes): Timed) -> String {
    // Leading axes without levels are a batch.
    let (batch, sides) = shape.split_at(levels.iter().take_while(|l| **l == 0).count());
    let sides = sides.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
    let depth = levels.iter().max().expect("there is an axis");
    let mut line = format!("-w {name} --sample {} --shape {sides} -l {depth}", scalar.name());
    for images in batch {
        let _ = write!(line, " --batch {images}");
    }
    if bytes > 0 {
        let _ = write!(line, " --pitch {bytes}");
    }
    format!("{line} # {case}\n")
}

/// Writes the timed programs and `times.sh`.
fn times(folder: &Path, tuning: &Tuning) -> io::Result<()> {
    fs::write(folder.join("times.cu"), include_str!("../../tests/emitted/times.cu"))?;
    fs::write(folder.join("times.sh"), include_str!("../../tests/emitted/times.sh"))?;
    let mut stems = String::new();
    for (name, scalar, count) in FAMILIES {
        let scheme = lifting_tests::wavelet(name);
        let sample = sample_of(scalar).expect("files are for sample types");
        let samples = [scalar];
        let boundary = scheme.boundary();
        let request = Request {
            scheme: &scheme,
            boundary,
            samples: &samples,
            gain: false,
            profile: None,
            prefix: None,
            command: "emitted-cuda",
        };
        let strides = |shape: &[usize], bytes: usize| {
            let mut wide = shape.to_vec();
            let last = wide.last_mut().expect("there is an axis");
            let most = (bytes / sample.bytes()).max(1);
            *last = last.next_multiple_of(most);
            contiguous(&wide)
        };
        let mut transforms = Vec::new();
        let mut calls = [String::new(), String::new()];
        let mut suite = String::new();
        for timed in TIMED.into_iter().take(count) {
            let (case, shape, levels, bytes) = timed;
            let order: Vec<usize> = (0..shape.len()).rev().filter(|&axis| levels[axis] > 0).collect();
            let geometry = Geometry::new(shape, &vec![0; shape.len()], levels, &order).expect("cases are legal");
            if geometry.check_boundary(boundary).is_err() {
                continue;
            }
            let mut problem = Problem::new(scheme.clone(), geometry);
            problem.boundary = boundary;
            let strides = strides(shape, bytes);
            let apart = if shape.len() > 1 { strides[shape.len() - 2] as usize - shape[shape.len() - 1] } else { 0 };
            let list = |values: Vec<String>| values.join(", ");
            let head = format!(
                "{{\"{case}\", {}, {{{}}}, {{{}}}, {apart}",
                shape.len(),
                list(shape.iter().map(usize::to_string).collect()),
                list(levels.iter().map(u32::to_string).collect()),
            );
            let function = |what: &str| format!("{name}_cuda_{what}_{case}_{}", sample.name());
            calls[0] += &format!("{head}, nullptr, nullptr, nullptr}},\n");
            let [forward, inverse, scratch] = ["forward", "inverse", "scratch_bytes"].map(function);
            calls[1] += &format!("{head}, {forward}, {inverse}, {scratch}}},\n");
            suite += &asked(name, scalar, timed);
            let data = strides.clone();
            transforms.push(Fixed { name: case.into(), sample, problem, data, coefficients: strides });
        }
        let [any, few] = [Count::Usual, Count::Few].map(|count| {
            let how = General { count, columns_first: false, tuning };
            general(&request, &how).expect("the wavelet can be emitted").text
        });
        let one = fixed(&request, &transforms, tuning).expect("there are programs").text;
        let others = declarations(&request, &transforms, tuning).expect("there are programs");
        let header = emit::header_with(&request, &[&emit::C, &emit::CUDA], &others);
        let c = emit::c(&request).expect("the wavelet can be emitted");
        let stem = format!("{name}_{}", sample.name());
        let write = |extension: &str, text: &str| fs::write(folder.join(format!("{stem}.{extension}")), text);
        let files = [
            ("times.h", &header),
            ("times.c", &c),
            ("any.cu", &any),
            ("few.cu", &few),
            ("one.cu", &one),
            ("suite", &suite),
        ];
        let calls = [("any.inc", &calls[0]), ("few.inc", &calls[0]), ("one.inc", &calls[1])];
        let files = files.into_iter().chain(calls);
        files.into_iter().try_for_each(|(extension, text)| write(extension, text))?;
        let _ = writeln!(stems, "{stem} {name} {} {}", sample.name(), emit::sample_type(scalar));
    }
    fs::write(folder.join("times.stems"), stems)
}

fn main() -> io::Result<()> {
    let Some(folder) = env::args().nth(1) else {
        eprintln!("usage: emitted-cuda FOLDER");
        std::process::exit(2);
    };
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pictures: Vec<_> = ["camera.png", "chelsea.png"]
        .map(|name| {
            let picture =
                image::open(tests.join("data").join(name)).expect("the picture is in the repository").to_luma8();
            let shape = vec![picture.height() as usize, picture.width() as usize];
            (shape, picture.into_raw().into_iter().map(u16::from).collect())
        })
        .into();
    fs::copy(tests.join("tests/emitted/driver.cu"), folder.join("driver.cu"))?;
    let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
    times(folder, &tuning)?;
    let mut run = String::from("#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"$0\")\"\nfailed=0\n");
    for (name, sample, c) in [
        ("dd137", Scalar::I16, "int16_t"),
        ("dd137", Scalar::I32, "int32_t"),
        ("legall53", Scalar::I16, "int16_t"),
        ("cdf97", Scalar::F32, "float"),
        ("cdf97", Scalar::F64, "double"),
    ] {
        let scheme = lifting_tests::wavelet(name);
        let own = (scheme.boundary(), Count::Few);
        for (boundary, count) in Boundary::ALL.map(|boundary| (boundary, Count::Usual)).into_iter().chain([own]) {
            let few = if count == Count::Few { "few_" } else { "" };
            let stem = format!("{name}_{}_{few}{boundary}", sample.name());
            let gain = scheme.domain() == Domain::Integer;
            let request = Request {
                scheme: &scheme,
                boundary,
                samples: &[sample],
                gain,
                profile: None,
                prefix: None,
                command: "emitted-cuda",
            };
            let how = General { count, columns_first: false, tuning: &tuning };
            let file = general(&request, &how).expect("the wavelet can be emitted");
            fs::write(folder.join(format!("{stem}.cu")), file.text)?;
            let header = emit::header(&request, &[&emit::CUDA]);
            fs::write(folder.join(format!("{stem}.h")), header)?;
            let cases = match sample {
                Scalar::I16 => data::<i16>(&scheme, boundary, &pictures),
                Scalar::I32 => data::<i32>(&scheme, boundary, &pictures),
                Scalar::F32 => data::<f32>(&scheme, boundary, &pictures),
                _ => data::<f64>(&scheme, boundary, &pictures),
            };
            fs::write(folder.join(format!("{stem}.cases")), cases)?;
            let bad = format!("{}_BAD_SHAPE", name.to_uppercase());
            let defined = format!("-DWAVELET={name} -DSUFFIX={} -DSAMPLE={c} -DBAD_SHAPE={bad}", sample.name());
            let _ = writeln!(run, "(nvcc -O2 -arch=sm_90 -include {stem}.h {defined} driver.cu {stem}.cu -o {stem}) &");
        }
    }
    run += "wait\nfor f in *.cases; do ./${f%.cases} $f || failed=1; done\n\
            if [ \"${1:-}\" = sanitize ]; then\n  \
              for tool in memcheck racecheck initcheck; do for f in *.cases; do\n    \
                timeout 60 compute-sanitizer --tool $tool --error-exitcode 9 ./${f%.cases} $f \
                > sanitizer.log 2>&1 ||\n      \
                  { echo \"$tool $f: $(tail -1 sanitizer.log)\"; failed=1; }\n  \
              done; done\nfi\n\
            [ $failed = 0 ] && echo 'all equal to the oracle'\nexit $failed\n";
    fs::write(folder.join("run.sh"), run)
}
