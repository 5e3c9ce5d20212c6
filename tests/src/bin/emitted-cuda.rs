//! Writes a folder that checks emitted CUDA on a machine with a GPU, nvcc and nothing else: emitted files, a host
//! program, real pictures and made-up cases with what the oracle says of them, and `run.sh`, which compiles, runs and
//! compares.
//!
//! `cargo run --release -p lifting-tests --bin emitted-cuda -- FOLDER`

use lifting_codegen::emit::{self, Declared, Request};
use lifting_codegen::ir::Scalar;
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Boundary, Domain, Scheme};
use lifting_planner::emit::{Count, General, general};
use lifting_planner::{Machine, Schedule, Tuning};
use lifting_tests::random::Random;
use lifting_tests::samples::TestSample;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

/// A transform of some samples.
struct Case {
    shape: Vec<usize>,
    levels: Vec<u32>,
    origins: Vec<i64>,
    order: Vec<usize>,
    gain: u32,
    padding: i64,
}

fn case(shape: &[usize], levels: u32) -> Case {
    Case {
        shape: shape.to_vec(),
        levels: vec![levels; shape.len()],
        origins: vec![0; shape.len()],
        order: (0..shape.len()).rev().collect(),
        gain: 0,
        padding: 0,
    }
}

fn cases(domain: Domain) -> Vec<Case> {
    let mut cases: Vec<Case> = (1..=40).chain([63, 64, 65, 1023, 1024, 1025]).map(|n| case(&[n], 3)).collect();
    cases.extend((1..=9).map(|n| Case { levels: vec![2, 0], ..case(&[n, 300], 0) }));
    for (h, w, levels) in [(1, 1, 2), (7, 5, 3), (33, 2, 2), (2, 37, 4), (61, 40, 5), (271, 131, 3), (5000, 1, 2)] {
        cases.push(Case { padding: 3, ..case(&[h, w], levels) });
        cases.push(Case { order: vec![0, 1], origins: vec![-3, 5], ..case(&[h, w], levels) });
    }
    cases.push(case(&[19, 27, 35], 2));
    cases.push(Case { levels: vec![1, 0, 2, 1], order: vec![2, 0, 3, 1], ..case(&[4, 3, 8, 6], 0) });
    if domain == Domain::Integer {
        cases.push(Case { gain: 1, ..case(&[96, 160], 3) });
    }
    cases
}

/// The file of cases for one program.
fn data<T: TestSample>(scheme: &Scheme, boundary: Boundary, pictures: &[(Vec<usize>, Vec<u16>)]) -> Vec<u8> {
    let mut random = Random::new(0x0c0d);
    let mut out = Vec::new();
    let mut add = |case: &Case, signal: Vec<T>| {
        let geometry = Geometry::new(&case.shape, &case.origins, &case.levels, &case.order).expect("cases are valid");
        if geometry.check_boundary(boundary).is_err() {
            return;
        }
        let mut transform = Transform::new(scheme.clone(), geometry);
        (transform.boundary, transform.gain_shift) = (boundary, case.gain);
        let mut bands = signal.clone();
        transform.forward(&mut bands).expect("the case is legal");
        let mut back = bands.clone();
        transform.inverse(&mut back).expect("the case is legal");
        let mut words = [0i64; 35];
        for a in 0..case.shape.len() {
            words[a] = case.shape[a] as i64;
            words[8 + a] = case.levels[a].into();
            words[16 + a] = case.origins[a];
            words[24 + a] = case.order[a] as i64;
        }
        (words[32], words[33], words[34]) = (case.shape.len() as i64, case.gain.into(), case.padding);
        out.extend(words.iter().flat_map(|w| w.to_ne_bytes()));
        out.extend([signal, bands, back].iter().flat_map(|part| T::bytes(part)));
    };
    // The pictures under the wavelet's own border rule, of samples of 8 bytes only the one with an odd side: the folder
    // stays small enough to be carried.
    let pictures = match size_of::<T>() {
        _ if boundary != scheme.boundary() => &pictures[..0],
        8 => &pictures[1..],
        _ => pictures,
    };
    for (shape, samples) in pictures {
        add(&case(shape, 3), samples.iter().map(|&s| T::from_i64(s.into())).collect());
    }
    for case in cases(scheme.domain()) {
        let n = case.shape.iter().product();
        let extreme = n < 5000;
        let signal = (0..n).map(|i| T::random(&mut random, extreme && i % 2 == 0)).collect();
        add(&case, signal);
    }
    out
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
    let mut run = String::from("#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"$0\")\"\nfailed=0\n");
    for (name, sample, c) in [
        ("dd137", Scalar::I16, "int16_t"),
        ("dd137", Scalar::I32, "int32_t"),
        ("legall53", Scalar::I16, "int16_t"),
        ("cdf97", Scalar::F32, "float"),
        ("cdf97", Scalar::F64, "double"),
    ] {
        let scheme = lifting_tests::wavelet(name);
        for boundary in Boundary::ALL {
            let stem = format!("{name}_{}_{boundary}", sample.name());
            let gain = scheme.domain() == Domain::Integer;
            let request = Request { scheme: &scheme, boundary, samples: &[sample], gain, command: "emitted-cuda" };
            let how = General { count: Count::Few, columns_first: false, tuning: &tuning };
            let file = general(&request, &how).expect("the wavelet can be emitted");
            fs::write(folder.join(format!("{stem}.cu")), file.text)?;
            let header = emit::header(&request, Declared { c: false, cuda: true });
            fs::write(folder.join(format!("{stem}.h")), header)?;
            let cases = match sample {
                Scalar::I16 => data::<i16>(&scheme, boundary, &pictures),
                Scalar::I32 => data::<i32>(&scheme, boundary, &pictures),
                Scalar::F32 => data::<f32>(&scheme, boundary, &pictures),
                _ => data::<f64>(&scheme, boundary, &pictures),
            };
            fs::write(folder.join(format!("{stem}.cases")), cases)?;
            let _ = writeln!(
                run,
                "(nvcc -O2 -arch=sm_90 -include {stem}.h -DWAVELET={name} -DSUFFIX={} -DSAMPLE={c} driver.cu {stem}.cu -o {stem}) &",
                sample.name()
            );
        }
    }
    run += "wait\nfor f in *.cases; do ./${f%.cases} $f || failed=1; done\n\
            if [ \"${1:-}\" = sanitize ]; then\n  \
              for tool in memcheck racecheck initcheck; do for f in *.cases; do\n    \
                timeout 60 compute-sanitizer --tool $tool --error-exitcode 9 ./${f%.cases} $f > sanitizer.log 2>&1 || { echo \"$tool $f: $(tail -1 sanitizer.log)\"; failed=1; }\n  \
              done; done\nfi\n\
            [ $failed = 0 ] && echo 'all equal to the oracle'\nexit $failed\n";
    fs::write(folder.join("run.sh"), run)
}
