//! The catalogue's real families against PyWavelets' `periodization`: its filters, applied by convolution, and its own
//! results.

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

/// A bank, applied as PyWavelets does.
struct Convolution {
    dec_lo: Vec<f64>,
    rec_lo: Vec<f64>,
}

impl Convolution {
    /// `dec_hi[i] = (−1)^(i+1)·rec_lo[i]`, and `rec_hi[i] = (−1)^i·dec_lo[i]`.
    fn alternated(filter: &[f64], first: f64) -> Vec<f64> {
        filter.iter().enumerate().map(|(i, c)| if i.is_multiple_of(2) { first * c } else { -first * c }).collect()
    }

    /// Position of tap i of sample k of a band.
    fn place(&self, n: usize, k: usize, i: usize) -> usize {
        (2 * k as i64 + 1 - self.dec_lo.len() as i64 / 2 + i as i64).rem_euclid(n as i64) as usize
    }

    /// One level along a line: low half, then high half.
    fn analyse(&self, x: &[f64]) -> Vec<f64> {
        let length = self.dec_lo.len();
        let band = |filter: &[f64]| -> Vec<f64> {
            let one = |k: usize| (0..length).map(|i| filter[length - 1 - i] * x[self.place(x.len(), k, i)]).sum();
            (0..x.len() / 2).map(one).collect()
        };
        [band(&self.dec_lo), band(&Self::alternated(&self.rec_lo, -1.0))].concat()
    }

    /// One level of synthesis.
    fn synthesise(&self, bands: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; bands.len()];
        let filters = [self.rec_lo.clone(), Self::alternated(&self.dec_lo, 1.0)];
        for (filter, band) in filters.iter().zip(bands.chunks(bands.len() / 2)) {
            for (k, c) in band.iter().enumerate() {
                filter.iter().enumerate().for_each(|(i, h)| x[self.place(bands.len(), k, i)] += c * h);
            }
        }
        x
    }

    /// All levels along all axes, in place, in Mallat layout.
    fn transform(&self, data: &mut [f64], shape: &[usize], levels: u32, forward: bool) {
        let order: Vec<u32> = if forward { (0..levels).collect() } else { (0..levels).rev().collect() };
        for level in order {
            let extent: Vec<usize> = shape.iter().map(|n| n >> level).collect();
            for (axis, &length) in extent.iter().enumerate() {
                let stride: usize = shape[axis + 1..].iter().product();
                // The first sample of every line of the box that the level covers.
                let within = |i: &usize| {
                    let mut rest = *i;
                    (0..shape.len()).rev().all(|a| {
                        let at = rest % shape[a];
                        rest /= shape[a];
                        at < if a == axis { 1 } else { extent[a] }
                    })
                };
                for first in (0..data.len()).filter(within) {
                    let line: Vec<f64> = (0..length).map(|i| data[first + i * stride]).collect();
                    let line = if forward { self.analyse(&line) } else { self.synthesise(&line) };
                    line.into_iter().enumerate().for_each(|(i, v)| data[first + i * stride] = v);
                }
            }
        }
    }
}

const LEVELS: u32 = 4;
/// Shapes; 48 is so short that at the deeper levels long filters wrap several times.
const SHAPES: [&[usize]; 4] = [&[256], &[48], &[32, 48], &[16, 16, 32]];

fn scheme(compiled: &mut BTreeMap<&'static str, Vec<Scheme>>, name: &str) -> Scheme {
    let entry = lifting_filters::find(name).unwrap_or_else(|| panic!("no {name} in the catalogue"));
    let schemes = compiled.entry(entry.file).or_insert_with(|| lifting_dsl::compile(entry.source).unwrap().schemes);
    schemes.iter().find(|s| s.name() == entry.name).unwrap().clone()
}

/// Tables of PyWavelets that differ from the named filters by more than rounding, with the tolerance. Coefficients of
/// four levels along several axes then cannot agree to 10⁻¹⁰ of the largest: sym20's taps are good to 11 digits.
const INEXACT_TABLES: [(&str, f64); 1] = [("sym20", 5e-10)];

/// The oracle's forward and inverse transform of the data.
fn ours(scheme: &Scheme, shape: &[usize], x: &[f64]) -> [Vec<f64>; 2] {
    let geometry = Geometry::uniform(shape, LEVELS).unwrap();
    let transform = Transform { boundary: Boundary::Periodic, ..Transform::new(scheme.clone(), geometry) };
    let (mut forward, mut inverse) = (x.to_vec(), x.to_vec());
    transform.forward(&mut forward).unwrap();
    transform.inverse(&mut inverse).unwrap();
    [forward, inverse]
}

fn samples(shape: &[usize]) -> Vec<f64> {
    noise(shape.iter().product(), 1000).iter().map(|v| *v as f64).collect()
}

#[test]
fn the_105_that_reconstruct_equal_periodization_forward_and_inverse() {
    let mut compiled = BTreeMap::new();
    let tables: Vec<_> = tables().into_iter().filter(|t| t.0 != "dmey").collect();
    assert_eq!(tables.len(), 105);
    let mut failures = Vec::new();
    for (name, dec_lo, rec_lo) in tables {
        let scheme = scheme(&mut compiled, &name);
        let convolution = Convolution { dec_lo, rec_lo };
        let mut worst = 0.0f64;
        for shape in SHAPES {
            let x = samples(shape);
            for (ours, forward) in ours(&scheme, shape, &x).into_iter().zip([true, false]) {
                let mut theirs = x.clone();
                convolution.transform(&mut theirs, shape, LEVELS, forward);
                let peak = theirs.iter().fold(0.0f64, |m, v| m.max(v.abs()));
                let off = ours.iter().zip(&theirs).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
                worst = worst.max(off / peak);
            }
        }
        let allowed = INEXACT_TABLES.iter().find(|t| t.0 == name).map_or(1e-10, |t| t.1);
        if worst.is_nan() || worst > allowed {
            failures.push(format!("{name}: {worst:.1e}"));
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

/// `tests/reference/generate.py` wrote inner products of PyWavelets' results with sign vectors. If any coefficient is
/// off by 10⁻¹⁰ of the norm, so is one of these.
#[test]
fn the_105_equal_results_of_pywavelets() {
    let mut compiled = BTreeMap::new();
    let mut seen = 0;
    let lines = include_str!("../data/reference/pywavelets.txt").lines().filter(|l| !l.starts_with('#'));
    let mut last: Option<(String, [Vec<f64>; 2])> = None;
    for line in lines {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap();
        let (name, axes, direction) = (word(), word(), word());
        let shape = SHAPES.into_iter().find(|s| s.len().to_string() == axes).unwrap();
        let key = format!("{name} {axes}");
        if last.as_ref().is_none_or(|l| l.0 != key) {
            last = Some((key, ours(&scheme(&mut compiled, name), shape, &samples(shape))));
        }
        let y = &last.as_ref().unwrap().1[usize::from(direction == "inverse")];
        let numbers: Vec<f64> = words.map(|w| w.parse().unwrap()).collect();
        let norm = y.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!((norm - numbers[0]).abs() < 1e-10 * norm, "{line}: {norm}");
        for (signs, expected) in noise(4 * y.len(), 1 << 30).chunks(y.len()).zip(&numbers[1..]) {
            let product: f64 = signs.iter().zip(y).map(|(s, v)| s.signum() as f64 * v).sum();
            assert!((product - expected).abs() < 1e-10 * norm, "{line}: {product} for {expected}");
        }
        seen += 1;
    }
    assert_eq!(seen, 105 * 3 * 2);
}

/// PyWavelets' dmey does not reconstruct; ours does, and is as near as an orthogonal filter can be.
#[test]
fn dmey_is_near_pywavelets_and_reconstructs() {
    let dmey = scheme(&mut BTreeMap::new(), "dmey");
    let (_, dec_lo, rec_lo) = tables().into_iter().find(|t| t.0 == "dmey").unwrap();
    let convolution = Convolution { dec_lo, rec_lo };
    let x = samples(&[256]);
    let [forward, _] = ours(&dmey, &[256], &x);
    let mut theirs = x.clone();
    convolution.transform(&mut theirs, &[256], LEVELS, true);
    let relative = |a: &[f64], b: &[f64]| {
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|d| d * d).sum::<f64>().sqrt();
        norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
    };
    let off = relative(&forward, &theirs);
    assert!(off < 5e-3, "{off}");
    convolution.transform(&mut theirs, &[256], LEVELS, false);
    assert!(relative(&theirs, &x) > 1e-4, "a bank that reconstructs needs no neighbour");
    let geometry = Geometry::uniform(&[256], LEVELS).unwrap();
    let transform = Transform { boundary: Boundary::Periodic, ..Transform::new(dmey, geometry) };
    let mut back = forward;
    transform.inverse(&mut back).unwrap();
    assert!(relative(&back, &x) < 1e-14, "{}", relative(&back, &x));
}
