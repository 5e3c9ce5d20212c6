//! The named wavelets, generated in high precision: factoring long filters takes more digits than published tables
//! have.
//!
//! - Daubechies and symlets: the 2N vanishing moments fix |H|² = 2·cos²ᴺ(ω/2)·q(sin²(ω/2)) with
//!   q(y) = Σ_{k<N} C(N−1+k, k)·y^k. Each root of q gives a pair z, 1/z, and the filter takes one of them. Daubechies
//!   always takes the same side, a symlet the choice nearest to linear phase (the tables record PyWavelets' choice).
//! - Biorthogonal: the two lowpass filters share the zeros at −1 and the roots of the same q. Splines (bior1.x to
//!   bior3.x) put all of q into the analysis filter and are rational up to √2: [`spline`] gives them exactly.
//! - Coiflets: see the `coiflets` file. dmey: see the `meyer` file; it alone differs from PyWavelets' filter, as the
//!   nearest one that reconstructs.
//!
//! All filters have PyWavelets' names and orientation.

mod coiflets;
mod complex;
mod meyer;

use crate::algebra::coefficient::Coefficient;
use crate::algebra::float::Float;
use crate::algebra::laurent::Laurent;
use crate::algebra::polyphase::Bank;
use complex::{Complex, roots};
use num_rational::BigRational;
use num_traits::Pow;
use thiserror::Error;

/// Largest N of a generated dbN.
pub const LONGEST: u32 = 64;

/// Unknown wavelet name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "unknown wavelet `{name}`: choose haar, db1 to db64, sym2 to sym20, coif1 to coif17, dmey, bior and \
     rbio 1.1, 1.3, 1.5, 2.2, 2.4, 2.6, 2.8, 3.1, 3.3, 3.5, 3.7, 3.9, 4.4, 5.5, 6.8"
)]
pub struct UnknownWavelet {
    /// The name asked for.
    pub name: String,
}

/// The two lowpass filters of a wavelet, padded with zeros to one even length. Orientation and padding are those of
/// PyWavelets' `dec_lo` and `rec_lo`.
#[derive(Clone, PartialEq, Debug)]
pub struct Pair<C> {
    /// Decomposition lowpass.
    pub dec_lo: Vec<C>,
    /// Reconstruction lowpass.
    pub rec_lo: Vec<C>,
}

impl<C: Coefficient> Pair<C> {
    /// The pair of an orthogonal wavelet, from its reconstruction lowpass.
    pub fn orthogonal(rec_lo: Vec<C>) -> Pair<C> {
        Pair { dec_lo: rec_lo.iter().rev().cloned().collect(), rec_lo }
    }

    /// The pair with analysis and synthesis exchanged: `rbio` from `bior`.
    pub fn reversed(&self) -> Pair<C> {
        let reverse = |v: &[C]| v.iter().rev().cloned().collect();
        Pair { dec_lo: reverse(&self.rec_lo), rec_lo: reverse(&self.dec_lo) }
    }

    /// The analysis bank of PyWavelets' `periodization` mode: the decomposition filters reversed, from 1 − length/2,
    /// with `dec_hi[i] = (−1)^(i+1)·rec_lo[i]`.
    pub fn bank(&self) -> Bank<C> {
        let at = 1 - self.dec_lo.len() as i64 / 2;
        let high = |(i, c): (usize, &C)| if i.is_multiple_of(2) { c.negated() } else { c.clone() };
        let mut dec_hi: Vec<C> = self.rec_lo.iter().enumerate().map(high).collect();
        dec_hi.reverse();
        Bank { low: Laurent::new(at, self.dec_lo.iter().rev().cloned().collect()), high: Laurent::new(at, dec_hi) }
    }
}

/// The filters of a wavelet by its PyWavelets name, to about 140 digits.
pub fn wavelet(name: &str) -> Result<Pair<Float>, UnknownWavelet> {
    let unknown = || UnknownWavelet { name: name.to_string() };
    let lower = name.to_ascii_lowercase();
    let order = |prefix: &str| lower.strip_prefix(prefix).and_then(|n| n.parse::<u32>().ok());
    if lower == "haar" {
        return Ok(Pair::orthogonal(daubechies(1)));
    }
    if lower == "dmey" {
        return Ok(Pair::orthogonal(meyer::dmey()));
    }
    if let Some(n) = order("db").filter(|n| (1..=LONGEST).contains(n)) {
        return Ok(Pair::orthogonal(daubechies(n)));
    }
    if let Some(n) = order("sym").filter(|n| (2..=20).contains(n)) {
        return Ok(Pair::orthogonal(symlet(n)));
    }
    if let Some(k) = order("coif").filter(|k| (1..=17).contains(k)) {
        return Ok(Pair::orthogonal(coiflets::coiflet(k as usize)));
    }
    let orders = |prefix: &str| lower.strip_prefix(prefix).and_then(biorthogonal);
    orders("bior").or_else(|| orders("rbio").map(|p| p.reversed())).ok_or_else(unknown)
}

/// The orders (reconstruction, decomposition) of the spline wavelets among bior and rbio.
pub const SPLINES: [(u32, u32); 12] =
    [(1, 1), (1, 3), (1, 5), (2, 2), (2, 4), (2, 6), (2, 8), (3, 1), (3, 3), (3, 5), (3, 7), (3, 9)];

fn biorthogonal(orders: &str) -> Option<Pair<Float>> {
    // Zeros at −1 of the two filters, and a bit mask of the groups of roots of q for the reconstruction side.
    let (rec, dec, choice) = match orders {
        "4.4" => (4, 4, 0b1),
        // Despite the name: filters of odd length have an even number of zeros at −1.
        "5.5" => (6, 4, 0b01),
        "6.8" => (6, 8, 0b010),
        _ => {
            let (r, d) = *SPLINES.iter().find(|(r, d)| format!("{r}.{d}") == orders)?;
            let root2 = Float::integer(2).sqrt()?;
            let float = |v: &[BigRational]| v.iter().map(|c| &Float::from_rational(c) * &root2).collect();
            let pair = spline(r, d)?;
            return Some(Pair { dec_lo: float(&pair.dec_lo), rec_lo: float(&pair.rec_lo) });
        }
    };
    let groups = root_groups((rec + dec) / 2);
    let side = |zeros: u32, of_rec: bool| {
        let own = groups.iter().enumerate().filter(|(i, _)| (choice >> i & 1 == 1) == of_rec);
        let base = Laurent::new(0, binomial::<Float>(zeros));
        // Each root y₀ contributes 1 − y/y₀ with y = (2 − z − 1/z)/4.
        let filter = own.flat_map(|(_, g)| g.iter()).fold(vec![Complex::real(Float::integer(1))], |p, y| {
            let quarter = Complex::real(Float::integer(1).ldexp(-2)).times(&y.recip());
            let middle = Complex::real(Float::integer(1)).minus(&quarter.plus(&quarter));
            multiply(&p, &[quarter.clone(), middle, quarter])
        });
        let real = Laurent::new(0, filter.into_iter().map(|c| c.re).collect());
        let taps = base.times(&real);
        let root2 = Float::integer(2).sqrt().unwrap_or_else(Float::zero);
        taps.scaled(&root2.over(&taps.sum())).coefficients().to_vec()
    };
    Some(padded(side(dec, false), side(rec, true)))
}

/// The exact spline wavelet with `rec` zeros at −1 of the reconstruction filter and `dec` of the decomposition filter.
/// Both filters are divided by √2, so that their taps sum to 1. `None` unless the orders are positive and their sum is
/// even and at most 128.
pub fn spline(rec: u32, dec: u32) -> Option<Pair<BigRational>> {
    if rec == 0 || dec == 0 || !(rec + dec).is_multiple_of(2) || rec + dec > 128 {
        return None;
    }
    let y = Laurent::new(-1, [-1, 2, -1].map(|n| BigRational::new(n.into(), 4.into())).to_vec());
    let mut power = Laurent::one();
    let mut q = Laurent::zero();
    for c in maxflat::<BigRational>((rec + dec) / 2) {
        q = q.plus(&power.scaled(&c));
        power = power.times(&y);
    }
    let dec_lo = Laurent::new(0, binomial(dec)).times(&q);
    Some(padded(dec_lo.coefficients().to_vec(), binomial(rec)))
}

/// Pads two symmetric filters to one even length: even ones about the middle, odd ones about the sample after it
/// (decomposition) or before it (reconstruction).
fn padded<C: Coefficient>(dec: Vec<C>, rec: Vec<C>) -> Pair<C> {
    let longest = dec.len().max(rec.len());
    let length = longest + longest % 2;
    let pad = |taps: Vec<C>, before: usize| {
        let mut v = vec![C::zero(); before];
        v.extend(taps);
        v.resize(length, C::zero());
        v
    };
    let half = |n: usize| (length - n) / 2;
    let before = half(dec.len()) + dec.len() % 2;
    let after = half(rec.len());
    Pair { dec_lo: pad(dec, before), rec_lo: pad(rec, after) }
}

/// The reconstruction lowpass of dbN, N ≥ 1: 2N taps.
fn daubechies(n: u32) -> Vec<Float> {
    factor_side(n, 0)
}

/// The groups of roots that symlets take inside the unit circle, from sym2 on. Bit i is the group with the i-th
/// smallest real part of its root of q.
const SYMLETS: [u32; 19] = [
    0b0,
    0b0,
    0b10,
    0b1,
    0b101,
    0b1,
    0b1010,
    0b110,
    0b10101,
    0b110,
    0b10101,
    0b11100,
    0b101100,
    0b11100,
    0b1011001,
    0b10001110,
    0b101001101,
    0b1110100,
    0b101100101,
];

fn symlet(n: u32) -> Vec<Float> {
    factor_side(n, SYMLETS[n as usize - 2])
}

/// √2·((1+z)/2)^N·Π over the roots of q, each group outside the unit circle unless its bit in `inside` is set.
fn factor_side(n: u32, inside: u32) -> Vec<Float> {
    let one = || Complex::real(Float::integer(1));
    let mut p: Vec<Complex> = binomial::<Float>(n).into_iter().map(Complex::real).collect();
    for (i, group) in root_groups(n).iter().enumerate() {
        for y in group {
            let z = inner_zero(y);
            let minus = Complex::real(Float::zero()).minus(&z);
            let factor = if inside >> i & 1 == 1 { [minus, one()] } else { [one(), minus] };
            p = multiply(&p, &factor);
        }
    }
    let taps: Vec<Float> = p.into_iter().map(|c| c.re).collect();
    let sum = taps.iter().fold(Float::zero(), |a, b| &a + b);
    let root2 = Float::integer(2).sqrt().expect("2 is positive");
    let unit = &root2 / &sum;
    taps.iter().map(|t| t * &unit).collect()
}

/// The zero of y = (2 − z − 1/z)/4 inside the unit circle.
fn inner_zero(y: &Complex) -> Complex {
    let one = Complex::real(Float::integer(1));
    let w = one.minus(&y.plus(y));
    let root = w.times(&w).minus(&one).sqrt();
    let (a, b) = (w.plus(&root), w.minus(&root));
    // The product of the two is 1; dividing by the larger avoids cancellation in the smaller.
    if a.norm2() > b.norm2() { a.recip() } else { b.recip() }
}

/// The roots of q for order n: conjugate pairs and single real ones, by ascending real part.
fn root_groups(n: u32) -> Vec<Vec<Complex>> {
    let mut groups: Vec<Vec<Complex>> = Vec::new();
    for root in roots(&maxflat::<Float>(n)) {
        match groups.last_mut() {
            // In sorted order, the negative imaginary part of a pair comes first.
            Some(last) if last.len() == 1 && last[0].im.signum() < 0 => last.push(root),
            _ => groups.push(vec![root]),
        }
    }
    groups
}

/// The coefficients C(n−1+k, k), k < n, of q.
fn maxflat<C: Coefficient>(n: u32) -> Vec<C> {
    let mut c = BigRational::from_integer(1.into());
    let mut all = Vec::new();
    for k in 0..n {
        all.push(C::from_rational(&c));
        c *= BigRational::new((n + k).into(), (k + 1).into());
    }
    all
}

/// The taps of ((1+z)/2)^n.
fn binomial<C: Coefficient>(n: u32) -> Vec<C> {
    let mut c = Pow::pow(BigRational::new(1.into(), 2.into()), n);
    let mut taps = Vec::new();
    for k in 0..=n {
        taps.push(C::from_rational(&c));
        c *= BigRational::new((n - k).into(), (k + 1).into());
    }
    taps
}

fn multiply(a: &[Complex], b: &[Complex]) -> Vec<Complex> {
    let mut product = vec![Complex::real(Float::zero()); a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[i + j] = product[i + j].plus(&x.times(y));
        }
    }
    product
}
