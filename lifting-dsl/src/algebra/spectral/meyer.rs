//! dmey: an orthogonal filter of 62 taps close to PyWavelets' discrete Meyer filter.
//!
//! Meyer's wavelet has no finite filter. PyWavelets' `dmey` is his filter cut to 61 taps and a zero. That bank does not
//! reconstruct (a round trip is off by up to 2.3e-3), so no lifting steps equal it. This filter is the nearest to those
//! taps, in the mean square, among the orthogonal ones of the same length with two vanishing moments. Its taps are
//! within 8.1e-4 of PyWavelets'.
//!
//! It is found by sequential quadratic programming on the linearised equations of the taps: 31 quadratic ones for
//! orthogonality and two linear ones for the moments. Then shortest Newton steps onto the equations give all digits.

use super::coiflets::solve;
use crate::algebra::float::Float;

/// PyWavelets' taps up to the middle; the others mirror them, and a zero follows.
#[rustfmt::skip]
const HALF: [f64; 31] = [
    -1.009999956941423e-12, 8.519459636796214e-09, -1.111944952595278e-08, -1.0798819539621958e-08,
    6.066975741351135e-08, -1.0866516536735883e-07, 8.200680650386481e-08, 1.1783004497663934e-07,
    -5.506340565252278e-07, 1.1307947017916706e-06, -1.489549216497156e-06, 7.367572885903746e-07,
    3.20544191334478e-06, -1.6312699734552807e-05, 6.554305930575149e-05, -0.0006011502343516092,
    -0.002704672124643725, 0.002202534100911002, 0.006045814097323304, -0.006387718318497156, -0.011061496392513451,
    0.015270015130934803, 0.017423434103729693, -0.03213079399021176, -0.024348745906078023, 0.0637390243228016,
    0.030655091960824263, -0.13284520043622938, -0.035087555656258346, 0.44459300275757724, 0.7445855923188063,
];

/// Taps, equations of orthogonality, and moments.
const TAPS: usize = 62;
const PRODUCTS: usize = TAPS / 2;
const MOMENTS: usize = 2;

/// PyWavelets' reconstruction lowpass, as published.
fn published() -> Vec<Float> {
    let mirrored = HALF.iter().chain(HALF.iter().rev().skip(1)).chain([&0.0]);
    mirrored.map(|&x| Float::from_f64(x).unwrap_or_else(Float::zero)).collect()
}

/// The reconstruction lowpass of dmey: 62 taps.
pub(super) fn dmey() -> Vec<Float> {
    let target = published();
    let mut h = target.clone();
    // Twelve rounds towards the target leave enough digits for Newton's, which double from there: ten rounds exceed the
    // precision.
    for round in 0..22 {
        let towards = (round < 12).then_some(&target[..]);
        h = step(&h, towards);
    }
    h
}

fn sum(terms: impl Iterator<Item = Float>) -> Float {
    terms.fold(Float::zero(), |a, b| &a + &b)
}

/// The nearest point to `target` (or to h) on the equations linearised at h.
fn step(h: &[Float], target: Option<&[Float]>) -> Vec<Float> {
    let mut residues = Vec::new();
    let mut slopes: Vec<Vec<Float>> = Vec::new();
    for m in 0..PRODUCTS {
        let product = sum(h.iter().zip(&h[2 * m..]).map(|(a, b)| a * b));
        residues.push(if m == 0 { &product - &Float::integer(1) } else { product });
        let neighbour = |i: Option<usize>| i.and_then(|i| h.get(i)).cloned().unwrap_or_else(Float::zero);
        slopes.push((0..TAPS).map(|i| &neighbour(Some(i + 2 * m)) + &neighbour(i.checked_sub(2 * m))).collect());
    }
    for moment in 0..MOMENTS as u32 {
        // Positions relative to the middle of the filter, in halves.
        let weight = |i: usize| (2 * i as i64 - TAPS as i64 + 1).pow(moment) * if i.is_multiple_of(2) { 1 } else { -1 };
        let slope: Vec<Float> = (0..TAPS).map(|i| Float::integer(weight(i))).collect();
        residues.push(sum(slope.iter().zip(h).map(|(a, b)| a * b)));
        slopes.push(slope);
    }
    let dot = |a: &[Float], b: &[Float]| {
        sum(a.iter().zip(b).filter(|(x, y)| !x.is_zero() && !y.is_zero()).map(|(x, y)| x * y))
    };
    let from = target.unwrap_or(h);
    let rows = slopes.iter().zip(&residues).map(|(slope, residue)| {
        let ahead = target.map_or_else(Float::zero, |t| &dot(slope, t) - &dot(slope, h));
        let products = slopes.iter().map(|other| dot(slope, other));
        products.chain([residue + &ahead]).collect()
    });
    let multipliers = solve(rows.collect());
    let moved = |i: usize| &from[i] - &sum(multipliers.iter().zip(&slopes).map(|(mu, slope)| mu * &slope[i]));
    (0..TAPS).map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::factor::check_orthogonal;
    use crate::algebra::polyphase::Bank;

    #[test]
    fn it_is_orthogonal_to_all_digits_and_near_the_published_taps() {
        let h = dmey();
        check_orthogonal(&Bank::orthogonal(&h), 1e-130).unwrap();
        let off = |(a, b): (&Float, &Float)| (a - b).to_f64().abs();
        let worst = h.iter().zip(&published()).map(off).fold(0.0, f64::max);
        assert!((8.0e-4..8.1e-4).contains(&worst), "{worst:e}");
    }
}
