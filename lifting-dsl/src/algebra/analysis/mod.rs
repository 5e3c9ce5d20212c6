//! Analysis of a wavelet from its steps: equivalent filters, vanishing moments, orthogonality, gains, conditioning,
//! cost, and (in [`range`]) the bits of its coefficients.

pub mod range;

use crate::algebra::coefficient::Coefficient;
use crate::algebra::factor::lifting::operations;
use crate::algebra::float::Float;
use crate::algebra::laurent::{Laurent, Matrix};
use crate::algebra::polyphase::{Bank, Filters, Reconstruction, is_exactly_expandable, of_steps};
use crate::core::scheme::Scheme;
use num_rational::BigRational;

/// Properties of one level of a wavelet, away from the borders.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// The equivalent filters in `f64`.
    pub filters: Filters<Float>,
    /// Accuracy of the round trip, apart from rounding of the samples.
    pub reconstruction: Reconstruction,
    /// Vanishing moments of the analysis wavelet: the high band of a polynomial of lower degree is zero.
    pub moments: u32,
    /// Vanishing moments of the synthesis wavelet.
    pub dual_moments: u32,
    /// Whether these moments vanish exactly, instead of to 11 digits.
    pub exact_moments: bool,
    /// Largest difference of a coefficient of M·M* from those of the identity: 0 for an orthonormal wavelet.
    pub orthogonality: f64,
    /// Gain of a constant signal in the low band.
    pub dc_gain: f64,
    /// Gain of an alternating signal +1, −1 in the high band, in magnitude.
    pub nyquist_gain: f64,
    /// ‖T x‖² lies between these multiples of ‖x‖²: the frame (Riesz) bounds of one level.
    pub frame: Frame,
    /// Arithmetic operations per sample.
    pub cost: OperationCount,
}

/// Frame bounds of one level of analysis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The smallest ‖T x‖²/‖x‖².
    pub lower: f64,
    /// The largest ‖T x‖²/‖x‖².
    pub upper: f64,
}

impl Frame {
    /// The condition number of one level: the largest amplification of the coefficients' relative error in synthesis.
    pub fn condition(&self) -> f64 {
        (self.upper / self.lower).sqrt()
    }
}

/// Additions, multiplications and shifts per sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationCount {
    /// For lifting steps, equal weights gathered.
    pub lifting: f64,
    /// For the two equivalent filters, taps of equal weight gathered.
    pub convolution: f64,
}

/// Analyses a scheme.
pub fn analyse(scheme: &Scheme) -> Analysis {
    let (analysis, synthesis) = (scheme.steps(), scheme.inverse_steps());
    // Exact polynomials in irrational weights would only describe their roundings, and slowly.
    let rational = is_exactly_expandable(scheme);
    let filters = Filters::<Float>::of(analysis, &synthesis);
    let nearly = [&filters.analysis.high, &filters.synthesis.high].map(vanishing_moments);
    let (reconstruction, exact) = if rational {
        let filters = Filters::<BigRational>::of(analysis, &synthesis);
        let exact = [&filters.analysis.high, &filters.synthesis.high].map(vanishing_moments);
        (Reconstruction::of_scheme(scheme), exact)
    } else {
        (Reconstruction::of::<Float>(&of_steps(analysis), &of_steps(&synthesis)), [0, 0])
    };
    // Constants of fifteen digits are rational, yet their moments vanish only to those digits.
    let moments = [0, 1].map(|i| nearly[i].max(exact[i]));
    let matrix = filters.analysis.matrix();
    let gram = matrix.times(&matrix.adjoint());
    Analysis {
        reconstruction,
        moments: moments[0],
        dual_moments: moments[1],
        exact_moments: rational && moments == exact,
        orthogonality: gram.distance(&Matrix::identity()),
        dc_gain: filters.analysis.low.sum().to_f64(),
        nyquist_gain: filters.analysis.high.alternated().sum().to_f64().abs(),
        frame: frame(&matrix),
        cost: OperationCount {
            lifting: operations(analysis) as f64 / 2.0,
            convolution: (taps(&filters.analysis.low) + taps(&filters.analysis.high)) as f64 / 2.0,
        },
        filters,
    }
}

/// Additions and multiplications per output of a filter.
fn taps(filter: &Laurent<Float>) -> usize {
    let mut weights: Vec<f64> = filter.terms().map(|(_, c)| c.to_f64().abs()).collect();
    let additions = weights.len().saturating_sub(1);
    weights.sort_by(f64::total_cmp);
    // A symmetric filter sums the two samples first; its weights may differ in the last place.
    weights.dedup_by(|a, b| (*a - *b).abs() <= 1e-13 * b.abs());
    additions + weights.iter().filter(|w| **w != 1.0).count()
}

/// Most vanishing moments that can be told from small ones without exact arithmetic.
pub const MOST_MOMENTS: u32 = 20;

/// Number of moments Σ nʲ·g\[n\], j = 0, 1, …, that vanish: exactly in an exact type, else up to 10⁻¹¹ of Σ
/// |nʲ·g\[n\]|.
///
/// 10⁻¹¹ tells published constants of 15 digits from merely small moments. The count ends at [`MOST_MOMENTS`].
/// counted.
pub fn vanishing_moments<C: Coefficient>(filter: &Laurent<C>) -> u32 {
    if filter.is_zero() {
        return 0;
    }
    let mut count = 0;
    let centre = (filter.low() + filter.high()).div_euclid(2);
    let mut weighted = filter.clone();
    while (count as usize) < filter.width() && (C::EXACT || count < MOST_MOMENTS) {
        if !weighted.sum().negligible(weighted.l1().to_f64(), if C::EXACT { 0.0 } else { 1e-11 }) {
            break;
        }
        count += 1;
        let mut n = weighted.low();
        let taps = weighted.coefficients().iter().map(|c| {
            n += 1;
            c.times(&C::integer(n - 1 - centre))
        });
        weighted = Laurent::new(weighted.low(), taps.collect());
    }
    count
}

/// The extreme eigenvalues of M·M* over all frequencies.
fn frame(matrix: &Matrix<Float>) -> Frame {
    let entries: Vec<Vec<(i64, f64)>> =
        matrix.rows.iter().flatten().map(|p| p.terms().map(|(n, c)| (n, c.to_f64())).collect()).collect();
    let eigenvalues = |w: f64| {
        let value = |p: &[(i64, f64)]| {
            p.iter().fold((0.0, 0.0), |(re, im), (n, c)| {
                let (sin, cos) = (w * *n as f64).sin_cos();
                (re + c * cos, im + c * sin)
            })
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| value(&entries[i]));
        let norm2 = |(re, im): (f64, f64)| re * re + im * im;
        let product = |(a, b): (f64, f64), (c, d): (f64, f64)| (a * c - b * d, a * d + b * c);
        let conjugate = |(re, im): (f64, f64)| (re, -im);
        let (ad, bc) = (product(a, d), product(b, c));
        let determinant = norm2((ad.0 - bc.0, ad.1 - bc.1));
        // M·M* is ((p, q), (q*, r)); in this form equal eigenvalues come out equal.
        let (p, r) = (norm2(a) + norm2(b), norm2(c) + norm2(d));
        let (ac, bd) = (product(a, conjugate(c)), product(b, conjugate(d)));
        let spread = (((p - r) / 2.0).powi(2) + norm2((ac.0 + bd.0, ac.1 + bd.1))).sqrt();
        let upper = (p + r) / 2.0 + spread;
        (determinant / upper, upper)
    };
    // The eigenvalues are smooth: sample a grid finer than the filters resolve, then bisect around the extremes.
    let width = entries.iter().map(Vec::len).max().unwrap_or(1);
    let count = 64 * width.max(8);
    let grid = std::f64::consts::PI / count as f64;
    let extreme = |sign: f64, f: &dyn Fn(f64) -> f64| {
        let best = (0..=count).map(|i| i as f64 * grid).max_by(|x, y| (sign * f(*x)).total_cmp(&(sign * f(*y))));
        let (mut at, mut step) = (best.unwrap_or(0.0), grid / 2.0);
        while step > 1e-12 {
            at = [at - step, at, at + step].into_iter().fold(at, |m, x| if sign * f(x) > sign * f(m) { x } else { m });
            step /= 2.0;
        }
        f(at)
    };
    Frame { lower: extreme(-1.0, &|w| eigenvalues(w).0), upper: extreme(1.0, &|w| eigenvalues(w).1) }
}

/// The gains of one band of one axis at one level; those of a band of several axes are products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandGain {
    /// 1 for the first level.
    pub level: u32,
    /// Whether the band is high; else it is the low band that the next level would analyse.
    pub high: bool,
    /// Norm of the equivalent analysis filter: the standard deviation in the band of white noise of variance 1.
    pub analysis_l2: f64,
    /// Sum of the magnitudes of its taps: the largest coefficient for samples of magnitude 1.
    pub analysis_l1: f64,
    /// Norm of the synthesis vector: the effect on the signal of an error of 1 in one coefficient. A codec quantises
    /// the band with steps in inverse proportion to it.
    pub synthesis_l2: f64,
    /// Sum of the magnitudes of the synthesis vector.
    pub synthesis_l1: f64,
}

impl BandGain {
    /// The bits that coefficients need beyond those of the samples, in the worst case.
    pub fn bits(&self) -> u32 {
        // Exact powers of two stay exact, and anything clearly above one takes the next bit.
        (self.analysis_l1.max(1.0).log2() - 1e-12).ceil().max(0.0) as u32
    }
}

/// The gains of both bands of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelGains {
    /// The low band, which the next level would analyse.
    pub low: BandGain,
    /// The high band.
    pub high: BandGain,
}

/// The gains of all bands of every level up to `levels` (at most 16), low ones included, away from borders.
pub fn level_gains(scheme: &Scheme, levels: u32) -> Vec<LevelGains> {
    if levels == 0 {
        return Vec::new();
    }
    let filters = Filters::<Float>::of_scheme(scheme);
    let taps = |p: &Laurent<Float>| p.terms().map(|(n, c)| (n, c.to_f64())).collect::<Vec<_>>();
    let bank = |b: &Bank<Float>| [taps(&b.low), taps(&b.high)];
    let (analysis, synthesis) = (bank(&filters.analysis), bank(&filters.synthesis));
    let (mut a, mut s) = (vec![1.0], vec![1.0]);
    let one = |level: u32| {
        let stride = 1usize << (level - 1);
        let gain = |high: bool, a: &[f64], s: &[f64]| {
            let l2 = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
            let l1 = |v: &[f64]| v.iter().map(|x| x.abs()).sum::<f64>();
            BandGain { level, high, analysis_l2: l2(a), analysis_l1: l1(a), synthesis_l2: l2(s), synthesis_l1: l1(s) }
        };
        let high = gain(true, &dilated(&a, &analysis[1], stride), &dilated(&s, &synthesis[1], stride));
        a = dilated(&a, &analysis[0], stride);
        s = dilated(&s, &synthesis[0], stride);
        LevelGains { low: gain(false, &a, &s), high }
    };
    (1..=levels.min(16)).map(one).collect()
}

/// The gains of the high band of every level up to `levels` (at most 16) and of the last low band, away from borders.
pub fn band_gains(scheme: &Scheme, levels: u32) -> Vec<BandGain> {
    let gains = level_gains(scheme, levels);
    gains.iter().map(|g| g.high).chain(gains.last().map(|g| g.low)).collect()
}

/// One coefficient of a band after `levels` ≥ 1 levels of synthesis, first by `band`, then by the low-pass `low`; and
/// the position of the first value. In the limit of many levels it is a scaling function or a wavelet (the cascade
/// algorithm). The value at position m, times 2^(levels/2), belongs to time m/2^levels, if `low` sums to √2.
pub fn synthesised(low: &Laurent<Float>, band: &Laurent<Float>, levels: u32) -> (i64, Vec<f64>) {
    let taps = |p: &Laurent<Float>| p.terms().map(|(n, c)| (n, c.to_f64())).collect::<Vec<_>>();
    let (low_taps, band_taps) = (taps(low), taps(band));
    let strides = (1..levels.clamp(1, 16)).map(|level| 1usize << (level - 1));
    let last = 1usize << (levels.clamp(1, 16) - 1);
    let lows = strides.fold(vec![1.0], |v, stride| dilated(&v, &low_taps, stride));
    (low.low() * (last as i64 - 1) + band.low() * last as i64, dilated(&lows, &band_taps, last))
}

/// The product of a filter, from exponent 0, with `p(z^stride)`; gains do not depend on its position.
fn dilated(filter: &[f64], p: &[(i64, f64)], stride: usize) -> Vec<f64> {
    let (Some(low), Some(high)) = (p.first().map(|t| t.0), p.last().map(|t| t.0)) else { return Vec::new() };
    let mut product = vec![0.0; filter.len() + (high - low) as usize * stride];
    for (n, c) in p {
        let at = (n - low) as usize * stride;
        for (out, x) in product[at..].iter_mut().zip(filter) {
            *out += c * x;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scheme::{Boundary, Domain, Step};
    use crate::core::testing::{cdf97, dd137, legall53};

    fn scheme(domain: Domain, steps: Vec<Step>) -> Scheme {
        Scheme::from_steps("w", domain, Boundary::WholeSymmetric, steps).unwrap()
    }

    fn close(a: f64, b: f64, by: f64) {
        assert!((a - b).abs() <= by, "{a} {b}");
    }

    #[test]
    fn moments_and_gains_of_the_codecs_wavelets() {
        let legall = analyse(&scheme(Domain::Integer, legall53()));
        assert_eq!(legall.reconstruction, Reconstruction::Exact);
        assert_eq!((legall.moments, legall.dual_moments), (2, 2));
        assert_eq!((legall.dc_gain, legall.nyquist_gain), (1.0, 2.0));
        let dd = analyse(&scheme(Domain::Integer, dd137()));
        assert_eq!((dd.moments, dd.dual_moments), (4, 4));
        assert_eq!((dd.filters.analysis.low.width(), dd.filters.analysis.high.width()), (13, 7));
        let cdf = analyse(&scheme(Domain::Real, cdf97()));
        assert_eq!((cdf.moments, cdf.dual_moments, cdf.exact_moments), (4, 4, false));
        assert!(legall.exact_moments);
        close(cdf.dc_gain, 1.0, 1e-14);
        assert!(matches!(cdf.reconstruction, Reconstruction::Bounded(e) if e < 1e-15));
        // Four steps of two equal taps: 4·3 operations and two scalings, against filters of 9 and 7 taps.
        assert_eq!(cdf.cost, OperationCount { lifting: 7.0, convolution: (8 + 5 + 6 + 4) as f64 / 2.0 });
        assert!(cdf.orthogonality > 0.01);
    }

    #[test]
    fn norms_are_those_that_jpeg_2000_codecs_tabulate() {
        // OpenJPEG's opj_dwt_norms: products over two axes, LL from level 1 and HH.
        let g = band_gains(&scheme(Domain::Integer, legall53()), 3);
        let low = |levels| band_gains(&scheme(Domain::Integer, legall53()), levels).last().unwrap().synthesis_l2;
        for (levels, norm) in [(1, 1.5), (2, 2.75), (3, 5.375)] {
            close(low(levels) * low(levels), norm, 1e-3);
        }
        for (level, norm) in [(0, 0.7186), (1, 0.9218), (2, 1.586)] {
            close(g[level].synthesis_l2 * g[level].synthesis_l2, norm, 1e-3);
        }
        for (level, norm) in [(1, 1.038), (2, 1.592), (3, 2.919)] {
            close(low(level) * g[level as usize - 1].synthesis_l2, norm, 1e-3);
        }
        // The irreversible filter there has its high band twice as large, and its deeper norms are estimates.
        let [first, second] = [1, 2].map(|levels| band_gains(&scheme(Domain::Real, cdf97()), levels));
        for (norm, tabulated, by) in [
            (first[1].synthesis_l2, 1.965, 2e-3),
            (2.0 * first[0].synthesis_l2, 2.080, 1e-3),
            (second[2].synthesis_l2, 4.177, 0.06),
            (2.0 * second[1].synthesis_l2, 3.865, 0.06),
        ] {
            close(norm * norm, tabulated, by);
        }
    }

    #[test]
    fn the_cascade_of_a_spline_is_the_spline() {
        let r = 2f64.sqrt() / 4.0;
        let hat = Laurent::new(-1, [r, 2.0 * r, r].map(|x| Float::from_f64(x).unwrap()).to_vec());
        let (start, values) = synthesised(&hat, &hat, 6);
        assert_eq!((start, values.len()), (-63, 127));
        for (i, v) in values.iter().enumerate() {
            close(8.0 * v, 1.0 - (i as f64 - 63.0).abs() / 64.0, 1e-12);
        }
    }

    #[test]
    fn worst_cases_in_bits() {
        let g = band_gains(&scheme(Domain::Integer, legall53()), 1);
        // Taps (−1, 2, −1)/2 and (−1, 2, 6, 2, −1)/8.
        assert_eq!((g[0].analysis_l1, g[0].bits()), (2.0, 1));
        assert_eq!((g[1].analysis_l1, g[1].bits()), (1.5, 1));
    }

    #[test]
    fn frame_bounds() {
        let haar = crate::algebra::factor::Lattice {
            stages: vec![crate::algebra::factor::Stage::Rotate { a: Float::integer(3), b: Float::integer(4) }],
        };
        let f = frame(&haar.matrix());
        close(f.lower, 25.0, 1e-9);
        close(f.upper, 25.0, 1e-9);
        close(f.condition(), 1.0, 1e-9);
        // By brute force: ‖Tx‖² of every frequency on a long periodic line stays within the bounds, and comes close.
        let m = of_steps::<Float>(&cdf97());
        let f = frame(&m);
        assert!(f.lower > 0.4 && f.upper < 2.5 && f.lower < 1.0 && f.upper > 1.0, "{f:?}");
        let inverse = frame(&m.quasi_inverse().unwrap());
        close(inverse.upper, 1.0 / f.lower, 1e-9);
        close(inverse.lower, 1.0 / f.upper, 1e-9);
    }
}
