//! Candidate factorisations of a bank, measured and ranked, for the language, the command line and the catalogue's
//! generator.

use super::bank::{FactorError, check, check_orthogonal};
use super::lattice;
use super::lifting::{self, Cost, round_trip};
use super::options::{Options, Precision};
use crate::algebra::coefficient::Coefficient;
use crate::algebra::float::Float;
use crate::algebra::laurent::Laurent;
use crate::algebra::polyphase::{Bank, of_steps};
use crate::algebra::spectral::{self, SPLINES, UnknownWavelet};
use crate::core::body::{Body, Factor, Filter};
use crate::core::diag::Diagnostic;
use crate::core::lattice::Lattice;
use crate::core::scheme::{Boundary, Domain, Scheme, Step};
use crate::core::weight::Weight;
use num_rational::BigRational;
use std::fmt;

/// Assumed precision of the taps, from generated filters down to published decimals.
const TOLERANCES: [f64; 5] = [1e-100, 1e-50, 1e-14, 1e-11, 1e-9];

/// Longest orthogonal filter, in taps, for which Euclid's steps are compared with the lattice's. Euclid's steps are
/// fewer, but their reach and size grow with the filter.
const LONGEST_FOR_EUCLID: usize = 32;

/// An analysis bank, with its taps as exact as they are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    bank: Bank<Float>,
    /// The bank divided by the gain, if that is rational: it is factored exactly.
    exact: Option<(Bank<BigRational>, Float)>,
}

impl Known {
    /// A bank in high precision.
    pub fn from_bank(bank: Bank<Float>) -> Known {
        Known { bank, exact: None }
    }

    /// A bank of rationals, both filters multiplied by `gain`.
    pub fn from_rational(bank: Bank<BigRational>, gain: Float) -> Known {
        let float = |p: &Laurent<BigRational>| p.map(Float::from_rational).scaled(&gain);
        Known { bank: Bank { low: float(&bank.low), high: float(&bank.high) }, exact: Some((bank, gain)) }
    }

    /// The bank of filters in a text: exact if they are rational, and short enough that the algorithm's fractions stay
    /// short.
    pub fn from_filters(low: &Filter, high: &Filter) -> Known {
        const MAX_TAPS: usize = 32;
        const MAX_BITS: u64 = 1024;
        let taps = || low.taps.iter().chain(&high.taps);
        let bits = |w: &Weight| match w {
            Weight::Rational(r) => r.numer().bits() + r.denom().bits(),
            Weight::Irrational(_) => u64::MAX,
        };
        let bits = taps().map(bits).fold(0, u64::saturating_add);
        if taps().count() <= MAX_TAPS && bits <= MAX_BITS {
            Known::from_rational(bank_of(low, high), Float::integer(1))
        } else {
            Known::from_bank(bank_of(low, high))
        }
    }

    /// The bank of a wavelet, as given or equivalent to its steps, apart from rounding of samples. Exact if the weights
    /// are rational and few.
    pub fn of_scheme(scheme: &Scheme) -> Known {
        const MAX_STEPS: usize = 16;
        if let Body::Bank { low, high, .. } = scheme.body() {
            return Known::from_filters(low, high);
        }
        let steps = scheme.steps();
        if steps.len() <= MAX_STEPS && steps.iter().all(Step::is_rational) {
            Known::from_rational(Bank::from_matrix(&of_steps(steps)), Float::integer(1))
        } else {
            Known::from_bank(Bank::from_matrix(&of_steps(steps)))
        }
    }

    /// PyWavelets' bank of that name, generated to 140 digits, as its `periodization` mode applies it.
    ///
    /// # Errors
    /// Names that [`spectral::wavelet`] does not know.
    pub fn named(name: &str) -> Result<Known, UnknownWavelet> {
        let lower = name.to_ascii_lowercase();
        let orders = lower.strip_prefix("bior").or_else(|| lower.strip_prefix("rbio"));
        let spline = orders.and_then(|o| SPLINES.iter().find(|(r, d)| format!("{r}.{d}") == o));
        // Spline wavelets are rational except for a factor √2 of both filters.
        let exact = spline.and_then(|(r, d)| Some((spectral::spline(*r, *d)?, Float::integer(2).sqrt()?)));
        match exact {
            Some((pair, gain)) => {
                let pair = if lower.starts_with("rbio") { pair.reversed() } else { pair };
                Ok(Known::from_rational(pair.bank(), gain))
            }
            None => Ok(Known::from_bank(spectral::wavelet(&lower)?.bank())),
        }
    }

    /// The filters.
    pub fn bank(&self) -> &Bank<Float> {
        &self.bank
    }

    /// Whether the taps are known exactly, up to a common factor, so that products can be proved.
    pub fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// The filters with new positions of their first taps; `None` leaves a filter in place.
    pub fn placed(&self, low: Option<i64>, high: Option<i64>) -> Known {
        fn shift<C: Coefficient>(bank: &Bank<C>, low: i64, high: i64) -> Bank<C> {
            Bank { low: bank.low.shifted(low), high: bank.high.shifted(high) }
        }
        let by = |at: Option<i64>, filter: &Laurent<Float>| at.map_or(0, |at| at - filter.low());
        let (low, high) = (by(low, &self.bank.low), by(high, &self.bank.high));
        Known {
            bank: shift(&self.bank, low, high),
            exact: self.exact.as_ref().map(|(b, g)| (shift(b, low, high), g.clone())),
        }
    }

    /// Whether the bank is orthogonal, to the precision of published decimals.
    pub fn is_orthogonal(&self) -> bool {
        check_orthogonal(&self.bank, 1e-9).is_ok()
    }

    /// The border rule that suits the filters: `whole-symmetric` if both are symmetric about their output sample, else
    /// `periodic`.
    pub fn boundary(&self) -> Boundary {
        let symmetric = |p: &Laurent<Float>, centre: i64| {
            p.low() + p.high() == 2 * centre
                && p.terms().all(|(n, c)| c.minus(&p.at(2 * centre - n)).negligible(p.max_abs(), 1e-9))
        };
        if symmetric(&self.bank.low, 0) && symmetric(&self.bank.high, 1) {
            Boundary::WholeSymmetric
        } else {
            Boundary::Periodic
        }
    }

    /// Checks that steps in place can express the bank, exactly or to the precision of its taps; see [`check`].
    ///
    /// # Errors
    /// The errors of [`check`].
    pub fn check(&self) -> Result<(), FactorError> {
        match &self.exact {
            Some((bank, _)) if check(bank, 0.0).is_ok() => Ok(()),
            _ => tightest(|t| check(&self.bank, t)).map(|_| ()),
        }
    }

    fn taps(&self) -> usize {
        self.bank.low.width() + self.bank.high.width()
    }
}

fn bank_of<C: Coefficient>(low: &Filter, high: &Filter) -> Bank<C> {
    let filter = |f: &Filter| Laurent::new(f.at.into(), f.taps.iter().map(C::from_weight).collect());
    Bank { low: filter(low), high: filter(high) }
}

/// Origin of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Lifting steps by Euclid's algorithm.
    Euclid,
    /// Lifting steps: the shears of a lattice's rotations.
    Shears,
    /// The stages of a lattice, which executors run as their shears.
    Stages,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            How::Euclid => "Euclid's algorithm",
            How::Shears => "the shears of its lattice",
            How::Stages => "peeling stages",
        })
    }
}

/// One factorisation of a bank.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its origin.
    pub how: How,
    /// The steps.
    pub steps: Vec<Step>,
    /// The stages, if it is a lattice.
    pub lattice: Option<Lattice<Weight>>,
    /// The cost of the steps. The errors are the worst over all border rules.
    pub cost: Cost,
    /// Largest difference between a tap of the steps, with rounded weights, and one of the bank.
    pub off: f64,
}

impl Candidate {
    fn new(how: How, steps: Vec<Step>, lattice: Option<Lattice<Weight>>, cost: Cost, bank: &Bank<Float>) -> Candidate {
        let off = of_steps::<Float>(&steps).distance(&bank.matrix());
        Candidate { how, steps, lattice, cost, off }
    }

    /// The round-trip error under one border rule, relative to the largest sample; see [`round_trip`].
    pub fn error(&self, boundary: Boundary, precision: Precision) -> f64 {
        match precision {
            Precision::F32 => round_trip(&self.steps, &[boundary], |x| x as f32, f64::from),
            Precision::F64 => round_trip(&self.steps, &[boundary], |x| x, |x| x),
        }
    }

    /// The candidate as a wavelet.
    ///
    /// # Errors
    /// An invalid name, and steps whose numbers the language cannot express.
    pub fn scheme(&self, name: &str, boundary: Boundary) -> Result<Scheme, Vec<Diagnostic>> {
        match &self.lattice {
            Some(lattice) => Scheme::from_lattice(name, boundary, lattice.clone()),
            None => Scheme::from_steps(name, Domain::Real, boundary, self.steps.clone()),
        }
    }
}

/// The factorisations found, best first by [`Cost::rank`]; those that `f32` can carry under every border rule precede
/// the others. Never empty.
///
/// `beam` is [`Options::beam`]. For orthogonal banks the candidates include the shears of their lattice. For more than
/// 32 taps these are the only ones: Euclid's steps grow too large.
/// more than 32 taps nothing else: Euclid's steps grow too large for them.
///
/// # Errors
/// The fault of the bank, or [`FactorError::Unstable`] if even `f64` could carry no factorisation.
pub fn candidates(known: &Known, factor: Factor, beam: usize) -> Result<Vec<Candidate>, FactorError> {
    let bank = known.bank();
    let stages = || tightest(|t| lattice::lattice(bank, t)).map(|found| found.lattice);
    let mut found = match factor {
        Factor::Lattice => {
            let stages = stages()?;
            let steps = stages.lifting_steps().unwrap_or_default();
            let cost = Cost::of(&steps);
            vec![Candidate::new(How::Stages, steps, Some(stages.map(Coefficient::to_weight)), cost, bank)]
        }
        Factor::Lifting => {
            let shears = if known.is_orthogonal() { stages().ok().and_then(|s| s.lifting_steps()) } else { None };
            let mut found = match &known.exact {
                // Decimals are rational too, but their bank reconstructs only approximately.
                _ if shears.is_some() && known.taps() > 2 * LONGEST_FOR_EUCLID => Ok(Vec::new()),
                Some((exact, gain)) if check(exact, 0.0).is_ok() => euclid(exact, gain, bank, 0.0, beam),
                _ => tightest(|t| euclid(bank, &Float::integer(1), bank, t, beam)),
            };
            if let Some(steps) = shears {
                let cost = Cost::of(&steps);
                let shears = Candidate::new(How::Shears, steps, None, cost, bank);
                match &mut found {
                    Ok(found) => found.push(shears),
                    // Steps that lose the signal or miss the bank are not fatal while there are others.
                    Err(FactorError::Unstable { .. } | FactorError::Imprecise { .. }) => found = Ok(vec![shears]),
                    Err(_) => {}
                }
            }
            found?
        }
    };
    // For taps of few digits, all candidates miss them by about the same amount.
    let nearest = found.iter().map(|c| c.off).fold(f64::INFINITY, f64::min);
    found.retain(|c| c.off <= 10.0 * nearest + 1e-13);
    found.sort_by(|a, b| a.cost.rank(&b.cost));
    let serves = |c: &Candidate| c.cost.error_f32 <= Precision::F32.limit();
    let (mut good, bad): (Vec<_>, Vec<_>) = found.into_iter().partition(serves);
    good.extend(bad);
    Ok(good)
}

fn euclid<C: Coefficient>(
    bank: &Bank<C>,
    gain: &Float,
    whole: &Bank<Float>,
    tolerance: f64,
    beam: usize,
) -> Result<Vec<Candidate>, FactorError> {
    // The best factorisation for f32 is refused only if f64 could not carry it either.
    let options = Options { tolerance, precision: Precision::F64, beam, ..Options::default() };
    let found = lifting::lifting(bank, &options)?;
    let candidate = |f: &lifting::Factorisation<C>| {
        Candidate::new(How::Euclid, f.steps_with_gains(gain, gain), None, f.cost, whole)
    };
    Ok(found.iter().map(candidate).collect())
}

/// The result at the smallest tolerance that succeeds; otherwise the fault at the largest one.
fn tightest<T>(attempt: impl Fn(f64) -> Result<T, FactorError>) -> Result<T, FactorError> {
    let [tight @ .., last] = TOLERANCES;
    for tolerance in tight {
        let result = attempt(tolerance);
        // A larger tolerance does not make steps more stable, and the search is slow.
        if matches!(result, Ok(_) | Err(FactorError::Unstable { .. })) {
            return result;
        }
    }
    attempt(last)
}
