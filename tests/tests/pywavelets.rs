//! The real families of the catalogue against PyWavelets' filters, applied by convolution as its `periodization` mode does.

use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Boundary, Scheme};
use lifting_tests::noise;
use std::collections::BTreeMap;

/// PyWavelets' tables: name, `dec_lo`, `rec_lo`; `rbio` from `bior`.
fn tables() -> Vec<(String, Vec<f64>, Vec<f64>)> {
    let mut all: Vec<(String, Vec<f64>, Vec<f64>)> = Vec::new();
    for line in include_str!("../../lifting-dsl/tests/data/pywavelets.txt").lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap().to_string();
        let taps: Vec<f64> = words.map(|w| w.parse().unwrap()).collect();
        if name == "+" {
            all.last_mut().unwrap().2 = taps;
        } else {
            let reversed = taps.iter().rev().copied().collect();
            all.push((name, taps, reversed));
        }
    }
    let reverse = |v: &[f64]| v.iter().rev().copied().collect::<Vec<f64>>();
    let rbio: Vec<_> = all
        .iter()
        .filter(|t| t.0.starts_with("bior"))
        .map(|(name, dec, rec)| (name.replace("bior", "rbio"), reverse(rec), reverse(dec)))
        .collect();
    all.extend(rbio);
    all.push(("haar".into(), vec![0.5f64.sqrt(); 2], vec![0.5f64.sqrt(); 2]));
    all
}

/// One level along a line: low half, then high half.
fn analyse(x: &[f64], dec_lo: &[f64], rec_lo: &[f64]) -> Vec<f64> {
    let (n, length) = (x.len(), dec_lo.len());
    let dec_hi: Vec<f64> = rec_lo.iter().enumerate().map(|(i, c)| if i % 2 == 0 { -c } else { *c }).collect();
    let at = 1 - length as i64 / 2;
    let band = |filter: &[f64]| {
        let sample = |k: usize, i: usize| x[(2 * k as i64 + at + i as i64).rem_euclid(n as i64) as usize];
        let one = |k: usize| (0..length).map(|i| filter[length - 1 - i] * sample(k, i)).sum::<f64>();
        (0..n / 2).map(one).collect::<Vec<f64>>()
    };
    let mut bands = band(dec_lo);
    bands.extend(band(&dec_hi));
    bands
}

fn scheme(compiled: &mut BTreeMap<&'static str, Vec<Scheme>>, name: &str) -> Scheme {
    let entry = lifting_filters::find(name).unwrap_or_else(|| panic!("no {name} in the catalogue"));
    let schemes = compiled.entry(entry.file).or_insert_with(|| lifting_dsl::compile(entry.source).unwrap().schemes);
    schemes.iter().find(|s| s.name() == entry.name).unwrap().clone()
}

#[test]
fn the_105_that_reconstruct_equal_periodization_forward_and_inverse() {
    let mut compiled = BTreeMap::new();
    let tables: Vec<_> = tables().into_iter().filter(|t| t.0 != "dmey").collect();
    assert_eq!(tables.len(), 105);
    for (name, dec_lo, rec_lo) in tables {
        // 48 samples: at the deeper levels the long filters go round several times.
        for n in [48, 256] {
            let mut transform = Transform::new(scheme(&mut compiled, &name), Geometry::uniform(&[n], 4).unwrap());
            transform.boundary = Boundary::Periodic;
            let x: Vec<f64> = noise(n, 1000).iter().map(|v| *v as f64).collect();
            let mut ours = x.clone();
            transform.forward(&mut ours).unwrap();
            let mut theirs = x.clone();
            for level in 0..4 {
                let low = analyse(&theirs[..n >> level], &dec_lo, &rec_lo);
                theirs[..n >> level].copy_from_slice(&low);
            }
            let peak = theirs.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            for (a, b) in ours.iter().zip(&theirs) {
                assert!((a - b).abs() < 1e-10 * peak, "{name}, {n} samples: {a} for {b}");
            }
            transform.inverse(&mut ours).unwrap();
            for (a, b) in ours.iter().zip(&x) {
                assert!((a - b).abs() < 1e-10 * 1000.0, "{name}, {n} samples, inverse: {a} for {b}");
            }
        }
    }
}

#[test]
fn axes_are_transformed_one_after_the_other() {
    let mut compiled = BTreeMap::new();
    for (name, dec_lo, rec_lo) in tables().into_iter().filter(|t| ["db4", "sym8", "coif2", "rbio3.3"].contains(&&*t.0))
    {
        let shape = [8, 12, 16];
        let transform = Transform {
            boundary: Boundary::Periodic,
            ..Transform::new(scheme(&mut compiled, &name), Geometry::uniform(&shape, 1).unwrap())
        };
        let x: Vec<f64> = noise(shape.iter().product(), 1000).iter().map(|v| *v as f64).collect();
        let mut ours = x.clone();
        transform.forward(&mut ours).unwrap();
        let mut theirs = x.clone();
        for axis in 0..3 {
            let stride: usize = shape[axis + 1..].iter().product();
            let lines = (0..x.len()).filter(|i| (i / stride).is_multiple_of(shape[axis]));
            for first in lines {
                let line: Vec<f64> = (0..shape[axis]).map(|i| theirs[first + i * stride]).collect();
                for (i, v) in analyse(&line, &dec_lo, &rec_lo).into_iter().enumerate() {
                    theirs[first + i * stride] = v;
                }
            }
        }
        for (a, b) in ours.iter().zip(&theirs) {
            assert!((a - b).abs() < 1e-10 * 5000.0, "{name}: {a} for {b}");
        }
    }
}
