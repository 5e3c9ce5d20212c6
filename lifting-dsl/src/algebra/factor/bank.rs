//! Checks of filter banks: the fault, its size, and the nearest alignment that would work.

use crate::algebra::coefficient::Coefficient;
use crate::algebra::laurent::{Laurent, Matrix};
use crate::algebra::polyphase::Bank;
use std::fmt;
use thiserror::Error;

/// Alignment of the two filters of a bank: the lowest positions of their taps, relative to 2k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Position of the first lowpass tap.
    pub low: i64,
    /// Position of the first highpass tap.
    pub high: i64,
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lowpass at {} and highpass at {}", self.low, self.high)
    }
}

/// Reason why a bank cannot be factored.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FactorError {
    /// A filter is zero.
    #[error("the {band} filter has no tap other than zero")]
    Empty {
        /// `lowpass` or `highpass`.
        band: &'static str,
    },
    /// A tap is infinite or not a number.
    #[error("tap {index} of the {band} filter is not finite")]
    NotFinite {
        /// `lowpass` or `highpass`.
        band: &'static str,
        /// Index of the tap, from 0.
        index: usize,
    },
    /// The determinant is zero at every frequency.
    #[error(
        "the bank is singular: the determinant of its polyphase matrix is zero, so the highpass band \
         repeats the lowpass band{}", suggestion(.nearest)
    )]
    Singular {
        /// The nearest alignment of the same filters that reconstructs.
        nearest: Option<Alignment>,
    },
    /// The determinant is not a monomial.
    #[error(
        "the bank does not reconstruct: the determinant of its polyphase matrix must be one term c·z^n, but it has \
         {main:.6}·z^{exponent} and {leftover:.3e}·z^{leftover_exponent}{}", suggestion(.nearest)
    )]
    NotReconstructing {
        /// The largest term's coefficient.
        main: f64,
        /// The largest term's exponent.
        exponent: i64,
        /// The second largest coefficient.
        leftover: f64,
        /// Its exponent.
        leftover_exponent: i64,
        /// The nearest alignment of the same filters that reconstructs.
        nearest: Option<Alignment>,
    },
    /// The bank reconstructs, but with a delay that steps in place cannot express.
    #[error(
        "the filters are misaligned: the determinant of the polyphase matrix is {determinant:.6}·z^{delay}, and steps \
         in place need z^0; put the {nearest}"
    )]
    Misaligned {
        /// The determinant's coefficient.
        determinant: f64,
        /// The determinant's exponent.
        delay: i64,
        /// The nearest alignment that works.
        nearest: Alignment,
    },
    /// Analysis and synthesis filters given, and shifted copies of the input leak through.
    #[error(
        "analysis and synthesis alias: a term of {by:.3e} (it must be 0) at distance {distance}{}",
        pair_suggestion(.highpass_shift)
    )]
    Alias {
        /// The largest alias coefficient.
        by: f64,
        /// Its distance, in samples.
        distance: i64,
        /// Shift of both highpass filters, in samples, that would remove the alias.
        highpass_shift: Option<i64>,
    },
    /// Analysis and synthesis filters given; no alias, but the output is a filtered input.
    #[error(
        "synthesis does not return the input: the response must be 1·z^0, but is {main:.6}·z^{delay} with a further \
         term of {leftover:.3e}"
    )]
    Distortion {
        /// The largest coefficient of the response.
        main: f64,
        /// Its delay.
        delay: i64,
        /// The second largest coefficient.
        leftover: f64,
    },
    /// An orthogonal bank was asked for, and a filter is orthogonal to its shifts but not of norm 1.
    #[error("the {band} filter is not normalised: its energy is {energy:.9}, not 1; multiply its taps by {factor:.17}")]
    Unnormalised {
        /// `lowpass` or `highpass`.
        band: &'static str,
        /// Σ taps².
        energy: f64,
        /// The factor that would make it 1.
        factor: f64,
    },
    /// An orthogonal bank was asked for, and this one is not orthogonal.
    #[error(
        "the bank is not orthogonal: the {first} filter times the {second} filter shifted by {shift} samples is \
         {by:.3e}, not 0"
    )]
    NotOrthogonal {
        /// `lowpass` or `highpass`.
        first: &'static str,
        /// `lowpass` or `highpass`.
        second: &'static str,
        /// The even shift at which the product is largest.
        shift: i64,
        /// The product.
        by: f64,
    },
    /// Every factorisation found is too ill-conditioned.
    #[error(
        "lifting steps would lose the signal: the best of {tried} factorisations has a coefficient of {largest:.1e} \
         and a round-trip error of {error:.1e} in {precision}, where {limit:.0e} is allowed{}",
        lattice_suggestion(*.orthogonal)
    )]
    Unstable {
        /// Number of factorisations compared.
        tried: usize,
        /// Largest coefficient of the best one.
        largest: f64,
        /// Its measured round-trip error relative to the input.
        error: f64,
        /// The precision asked for.
        precision: super::options::Precision,
        /// The error allowed at that precision.
        limit: f64,
        /// Whether the bank is orthogonal, so that a lattice is the remedy.
        orthogonal: bool,
    },
    /// The recursion lost all precision: the taps are not precise enough.
    #[error(
        "the factors do not multiply back to the bank (off by {residual:.1e}, {tolerance:.0e} allowed): its taps are \
         not precise enough for so long a filter; give more digits, or generate the filter in high precision"
    )]
    Imprecise {
        /// Largest difference of a coefficient.
        residual: f64,
        /// The difference allowed.
        tolerance: f64,
    },
}

impl FactorError {
    /// The fault, and the remedy if there is one: the message split at its semicolon.
    pub fn fault_and_remedy(&self) -> (String, Option<String>) {
        let message = self.to_string();
        match message.split_once("; ") {
            Some((fault, remedy)) => (fault.to_owned(), Some(remedy.to_owned())),
            None => (message, None),
        }
    }

    /// The nearest alignment that would work, for faults that another alignment cures.
    pub fn nearest(&self) -> Option<Alignment> {
        match self {
            FactorError::Singular { nearest } | FactorError::NotReconstructing { nearest, .. } => *nearest,
            FactorError::Misaligned { nearest, .. } => Some(*nearest),
            _ => None,
        }
    }
}

fn suggestion(nearest: &Option<Alignment>) -> String {
    match nearest {
        Some(a) => format!("; the same filters reconstruct with the {a}"),
        None => "; no alignment of these two filters reconstructs".into(),
    }
}

fn pair_suggestion(shift: &Option<i64>) -> String {
    match shift {
        Some(s) => format!("; shifting both highpass filters by {s} removes it"),
        None => String::new(),
    }
}

fn lattice_suggestion(orthogonal: bool) -> &'static str {
    if orthogonal {
        "; the bank is orthogonal: use `factor lattice`, which is stable"
    } else {
        "; use a wider sample type"
    }
}

const BANDS: [&str; 2] = ["lowpass", "highpass"];

impl<C: Coefficient> Bank<C> {
    /// The bank with `low` taps from position `low_at` and `high` taps from `high_at`; taps must be finite.
    pub fn from_f64(low_at: i64, low: &[f64], high_at: i64, high: &[f64]) -> Result<Bank<C>, FactorError> {
        for (band, taps) in BANDS.into_iter().zip([low, high]) {
            if let Some(index) = taps.iter().position(|x| !x.is_finite()) {
                return Err(FactorError::NotFinite { band, index });
            }
        }
        let filter = |at, taps: &[f64]| Laurent::new(at, taps.iter().map(|&x| C::from_f64(x)).collect());
        Ok(Bank { low: filter(low_at, low), high: filter(high_at, high) })
    }
}

/// Checks that steps in place can express a bank: the determinant of its polyphase matrix must be c·z⁰. Returns the
/// matrix and c. Terms below `tolerance` relative to the largest count as zero; pass 0 for exact types.
pub fn check<C: Coefficient>(bank: &Bank<C>, tolerance: f64) -> Result<(Matrix<C>, C), FactorError> {
    for (band, filter) in BANDS.into_iter().zip([&bank.low, &bank.high]) {
        if filter.is_zero() {
            return Err(FactorError::Empty { band });
        }
    }
    let matrix = bank.matrix();
    let determinant = cleaned_determinant(bank, &matrix, tolerance);
    let Some((exponent, c)) = determinant.largest() else {
        return Err(FactorError::Singular { nearest: nearest(bank, tolerance) });
    };
    let rest = determinant.minus(&Laurent::monomial(c.clone(), exponent));
    if let Some((leftover_exponent, leftover)) = rest.largest() {
        return Err(FactorError::NotReconstructing {
            main: c.to_f64(),
            exponent,
            leftover: leftover.to_f64(),
            leftover_exponent,
            nearest: nearest(bank, tolerance),
        });
    }
    let c = c.clone();
    match nearest(bank, tolerance) {
        Some(nearest) if exponent != 0 => {
            Err(FactorError::Misaligned { determinant: c.to_f64(), delay: exponent, nearest })
        }
        _ => Ok((matrix, c)),
    }
}

fn cleaned_determinant<C: Coefficient>(bank: &Bank<C>, matrix: &Matrix<C>, tolerance: f64) -> Laurent<C> {
    let scale = (bank.low.energy().to_f64() * bank.high.energy().to_f64()).sqrt();
    matrix.determinant().cleaned(scale, tolerance)
}

/// The alignment of the same filters that reconstructs in place with the smallest total shift, if there is one.
///
/// Shifting a filter by two multiplies the determinant by z, so only the parities of the two shifts need trying.
pub fn nearest<C: Coefficient>(bank: &Bank<C>, tolerance: f64) -> Option<Alignment> {
    let mut best: Option<(i64, Alignment)> = None;
    for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let shifted = Bank { low: bank.low.shifted(a), high: bank.high.shifted(b) };
        let determinant = cleaned_determinant(&shifted, &shifted.matrix(), tolerance);
        let Some((_, n)) = determinant.as_monomial() else { continue };
        // Shifts a + 2i and b − 2(n + i) leave the determinant z^0 for every i; the best i is near a corner.
        for i in [0, -a, -n - b, -n, -n - 1, -1, -n + 1, -n / 2] {
            let (low, high) = (a + 2 * i, b - 2 * (n + i));
            let alignment = Alignment { low: bank.low.low() + low, high: bank.high.low() + high };
            if best.is_none_or(|(effort, _)| low.abs() + high.abs() < effort) {
                best = Some((low.abs() + high.abs(), alignment));
            }
        }
    }
    best.map(|(_, alignment)| alignment)
}

/// Checks that a bank is orthogonal, i.e. its own synthesis bank. Returns its polyphase matrix.
pub fn check_orthogonal<C: Coefficient>(bank: &Bank<C>, tolerance: f64) -> Result<Matrix<C>, FactorError> {
    for (band, filter) in BANDS.into_iter().zip([&bank.low, &bank.high]) {
        if filter.is_zero() {
            return Err(FactorError::Empty { band });
        }
    }
    let matrix = bank.matrix();
    let gram = matrix.times(&matrix.adjoint());
    for (i, j) in [(0, 0), (1, 1), (0, 1)] {
        let mut p = gram.rows[i][j].cleaned(gram.max_abs(), tolerance);
        if i == j {
            p = p.minus(&Laurent::monomial(p.at(0), 0));
        }
        if let Some((n, by)) = p.largest() {
            let (first, second) = (BANDS[i], BANDS[j]);
            return Err(FactorError::NotOrthogonal { first, second, shift: 2 * n.abs(), by: by.to_f64() });
        }
    }
    for (i, band) in BANDS.into_iter().enumerate() {
        let energy = gram.rows[i][i].at(0);
        if !energy.minus(&C::one()).negligible(1.0, tolerance) {
            let energy = energy.to_f64();
            return Err(FactorError::Unnormalised { band, energy, factor: energy.sqrt().recip() });
        }
    }
    Ok(matrix)
}

/// Checks that a synthesis bank undoes an analysis bank: no alias, no distortion, no delay.
pub fn check_pair<C: Coefficient>(analysis: &Bank<C>, synthesis: &Bank<C>, tolerance: f64) -> Result<(), FactorError> {
    // x̂[m] = Σ_d (t[d] + (−1)^m·a[d])·x[m − d]: the response t and the alias term a.
    let response = |a: &Bank<C>, s: &Bank<C>| {
        let sum = s.low.times(&a.low.reversed()).plus(&s.high.times(&a.high.reversed()));
        sum.scaled(&C::one().over(&C::integer(2))).cleaned(1.0, tolerance)
    };
    let alias = |a: &Bank<C>, s: &Bank<C>| response(&Bank { low: a.low.alternated(), high: a.high.alternated() }, s);
    let terms = alias(analysis, synthesis);
    if let Some((distance, by)) = terms.largest() {
        let shifted = |b: &Bank<C>, s| Bank { low: b.low.clone(), high: b.high.shifted(s) };
        let works = |s: &i64| {
            let (a, s) = (shifted(analysis, *s), shifted(synthesis, *s));
            alias(&a, &s).is_zero() && response(&a, &s).as_monomial().is_some()
        };
        let highpass_shift = [1, -1].into_iter().find(works);
        return Err(FactorError::Alias { by: by.to_f64(), distance, highpass_shift });
    }
    let t = response(analysis, synthesis);
    let (delay, main) = t.largest().map_or((0, 0.0), |(n, c)| (n, c.to_f64()));
    let rest = t.minus(&Laurent::one()).cleaned(1.0, tolerance);
    if rest.is_zero() {
        return Ok(());
    }
    let leftover = t.minus(&Laurent::monomial(t.at(delay), delay)).largest().map_or(0.0, |(_, c)| c.to_f64());
    Err(FactorError::Distortion { main, delay, leftover })
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;

    type Exact = Bank<BigRational>;

    fn legall() -> Exact {
        Exact::from_f64(-2, &[-0.125, 0.25, 0.75, 0.25, -0.125], 0, &[-0.5, 1.0, -0.5]).unwrap()
    }

    fn synthesis() -> Exact {
        Exact::from_f64(-1, &[0.5, 1.0, 0.5], -1, &[-0.125, -0.25, 0.75, -0.25, -0.125]).unwrap()
    }

    #[test]
    fn a_good_bank_passes() {
        let (m, c) = check(&legall(), 0.0).unwrap();
        assert_eq!(c, Coefficient::one());
        assert_eq!(m.determinant(), Laurent::one());
        check_pair(&legall(), &synthesis(), 0.0).unwrap();
    }

    #[test]
    fn a_pair_in_decimals_passes() {
        let r = std::f64::consts::FRAC_1_SQRT_2;
        let analysis = Bank::<crate::algebra::float::Float>::from_f64(0, &[r, r], 0, &[-r, r]).unwrap();
        check_pair(&analysis, &analysis, 1e-9).unwrap();
        assert!(matches!(check_pair(&analysis, &analysis, 0.0), Err(FactorError::Distortion { .. })));
    }

    #[test]
    fn misaligned_banks_are_told_where_to_stand() {
        let mut bank = legall();
        bank.high = bank.high.shifted(4);
        let error = check(&bank, 0.0).unwrap_err();
        let FactorError::Misaligned { delay: 2, nearest, .. } = error else { panic!("{error}") };
        assert_eq!(nearest, Alignment { low: -2, high: 0 });
        assert!(error.to_string().contains("lowpass at -2 and highpass at 0"), "{error}");
        bank.high = legall().high.shifted(1);
        let error = check(&bank, 0.0).unwrap_err();
        let FactorError::NotReconstructing { nearest: Some(nearest), .. } = error else { panic!("{error}") };
        assert_eq!(nearest, Alignment { low: -2, high: 0 });
        for shift in -5..6 {
            let moved = Exact { low: legall().low.shifted(shift), high: legall().high.shifted(shift) };
            match check(&moved, 0.0) {
                Ok(_) => assert_eq!(shift, 0),
                Err(FactorError::Misaligned { nearest, .. }) => {
                    let (l, h) = (nearest.low - moved.low.low(), nearest.high - moved.high.low());
                    let again = Exact { low: moved.low.shifted(l), high: moved.high.shifted(h) };
                    check(&again, 0.0).unwrap();
                    assert!(l.abs() + h.abs() <= 2 * shift.abs());
                }
                Err(e) => panic!("{e}"),
            }
        }
    }

    #[test]
    fn singular_and_broken_banks() {
        let mut bank = legall();
        bank.high = bank.low.shifted(2);
        assert_eq!(check(&bank, 0.0).unwrap_err(), FactorError::Singular { nearest: None });
        let bank = Exact::from_f64(0, &[1.0, 1.0], 0, &[1.0, -1.0, 0.25]).unwrap();
        let error = check(&bank, 0.0).unwrap_err();
        let FactorError::NotReconstructing { main, leftover, leftover_exponent, nearest: None, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((main, leftover, leftover_exponent), (-2.0, -0.25, 1));
        assert!(matches!(
            check(&Exact::from_f64(0, &[0.0], 0, &[1.0]).unwrap(), 0.0),
            Err(FactorError::Empty { band: "lowpass" })
        ));
        assert!(matches!(
            Exact::from_f64(0, &[1.0], 0, &[1.0, f64::NAN]),
            Err(FactorError::NotFinite { band: "highpass", index: 1 })
        ));
    }

    #[test]
    fn pairs_alias_or_distort() {
        let mut wrong = synthesis();
        wrong.high = wrong.high.negated();
        assert!(matches!(check_pair(&legall(), &wrong, 0.0), Err(FactorError::Alias { highpass_shift: None, .. })));
        let shifted = |b: Exact, s| Exact { low: b.low, high: b.high.shifted(s) };
        let error = check_pair(&shifted(legall(), 1), &shifted(synthesis(), 1), 0.0).unwrap_err();
        // One sample either way cures it, as both filters move.
        assert!(matches!(error, FactorError::Alias { highpass_shift: Some(1 | -1), .. }), "{error}");
        let moved = Exact { low: synthesis().low.shifted(2), high: synthesis().high.shifted(2) };
        assert!(matches!(
            check_pair(&legall(), &moved, 0.0),
            Err(FactorError::Distortion { main: 1.0, delay: 2, leftover: 0.0 })
        ));
    }

    #[test]
    fn orthogonality_is_measured() {
        let error = check_orthogonal(&legall(), 0.0).unwrap_err();
        let FactorError::NotOrthogonal { first: "lowpass", second: "lowpass", shift: 2, by } = error else {
            panic!("{error}")
        };
        // Σ h[n]·h[n+2] = −1/8·3/4 + 1/4·1/4 − 3/4·1/8.
        assert_eq!(by, -0.125);
        let haar = Exact::from_f64(0, &[1.0, 1.0], 0, &[1.0, -1.0]).unwrap();
        let error = check_orthogonal(&haar, 0.0).unwrap_err();
        let FactorError::Unnormalised { band: "lowpass", energy: 2.0, factor } = error else { panic!("{error}") };
        assert!((factor - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-15);
    }
}
