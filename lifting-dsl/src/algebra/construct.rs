//! Construction of schemes from lattices and filter banks.

use crate::algebra::coefficient::Coefficient;
use crate::algebra::factor::candidates::{Known, candidates};
use crate::algebra::factor::{FactorError, Options, Precision};
use crate::algebra::float::Float;
use crate::core::body::{Body, Factor, Factored, Filter, MAX_STAGES, MAX_TAPS};
use crate::core::construct;
use crate::core::diag::Diagnostic;
use crate::core::lattice::Lattice;
use crate::core::scheme::{Boundary, Domain, MAX_OFFSET, Scheme, Step};
use crate::core::span::Span;
use crate::core::weight::{Weight, fits, in_range};
use num_rational::BigRational;

impl Scheme {
    /// A real wavelet from the stages of a lattice; no docs, no profiles.
    ///
    /// # Errors
    /// A reserved name, singular stages, and coefficients that steps cannot express; the labels are empty.
    ///
    /// ```
    /// use lifting_dsl::factor::{Lattice, Stage};
    /// use lifting_dsl::*;
    /// let lattice = Lattice { stages: vec![Stage::Rotate { a: Weight::integer(3), b: Weight::integer(4) }] };
    /// let s = Scheme::from_lattice("turn", Boundary::Periodic, lattice).unwrap();
    /// assert_eq!(compile(&print_scheme(&s)).unwrap().schemes, [s]);
    /// ```
    pub fn from_lattice(
        name: impl Into<String>,
        boundary: Boundary,
        lattice: Lattice<Weight>,
    ) -> Result<Scheme, Vec<Diagnostic>> {
        let fault = |code, message: String| vec![Diagnostic::error(code, message, Span::default(), "")];
        let finite = |w: &&Weight| w.is_zero() || in_range(w) && !matches!(w, Weight::Rational(r) if !fits(r));
        let mut coefficients = lattice.stages.iter().flat_map(|s| s.coefficients());
        if coefficients.any(|w| !finite(&w)) {
            return Err(fault("L0314", "a coefficient is beyond the range of f64".into()));
        }
        if lattice.stages.len() > MAX_STAGES {
            return Err(fault("L0602", format!("the lattice has more than {MAX_STAGES} stages")));
        }
        if let Some(index) = singular_stage(&lattice) {
            return Err(fault("L0312", format!("stage {} has no inverse: its determinant is zero", index + 1)));
        }
        let steps = lower(&lattice).map_err(|why| fault("L0314", why))?;
        let scheme = Scheme::from_steps(name, Domain::Real, boundary, steps)?;
        Ok(Scheme { body: Body::Lattice { lattice, paper: false }, ..scheme })
    }

    /// A real wavelet from its analysis bank, which is factored; no docs, no profiles.
    ///
    /// # Errors
    /// A reserved name, filters that are empty or too long, and banks that cannot be factored; the labels are empty.
    pub fn from_bank(
        name: impl Into<String>,
        boundary: Boundary,
        low: Filter,
        high: Filter,
        factor: Factor,
    ) -> Result<Scheme, Vec<Diagnostic>> {
        let fault = |code, message: String| vec![Diagnostic::error(code, message, Span::default(), "")];
        for f in [&low, &high] {
            if f.taps.is_empty() || f.taps.len() > MAX_TAPS {
                return Err(fault("L0602", format!("a filter has {} taps: 1 to {MAX_TAPS} are allowed", f.taps.len())));
            }
            if !(-MAX_OFFSET..=MAX_OFFSET).contains(&f.at) {
                return Err(fault("L0601", format!("a filter begins at {}: the limit is ±{MAX_OFFSET}", f.at)));
            }
            let too_long = |w: &Weight| matches!(w, Weight::Rational(r) if !fits(r));
            if f.taps.iter().any(|w| too_long(w) || !w.is_zero() && !in_range(w)) {
                return Err(fault("L0310", "a tap is beyond the range of f64".into()));
            }
        }
        let found = factor_bank(&low, &high, factor).map_err(|e| fault("L0313", e.to_string()))?;
        let scheme = Scheme::from_steps(name, Domain::Real, boundary, found.steps)?;
        Ok(Scheme { body: Body::Bank { low, high, factored: found.factored }, ..scheme })
    }
}

/// A factored bank, its steps, and whether they suit `f32` samples.
pub(crate) struct FactoredBank {
    pub(crate) factored: Factored,
    pub(crate) steps: Vec<Step>,
    pub(crate) fit_for_f32: bool,
}

/// Factors a bank in the best way found.
pub(crate) fn factor_bank(low: &Filter, high: &Filter, factor: Factor) -> Result<FactoredBank, FactorError> {
    let beam = beam(low.taps.len() + high.taps.len());
    let found = candidates(&Known::from_filters(low, high), factor, beam)?;
    let best = found.into_iter().next().expect("never empty");
    Ok(FactoredBank {
        fit_for_f32: best.cost.error_f32 <= Precision::F32.limit(),
        factored: best.lattice.map_or(Factored::Lifting, Factored::Lattice),
        steps: best.steps,
    })
}

/// Width of the search for the steps of a bank; the time grows with the square of the taps times this.
fn beam(taps: usize) -> usize {
    (1024 / taps.max(1)).clamp(4, Options::default().beam)
}

/// Cost of factoring a bank, in units of some microseconds.
pub(crate) fn cost(taps: usize, factor: Factor) -> u64 {
    let square = (taps * taps) as u64;
    match factor {
        Factor::Lifting => 5 * square * beam(taps) as u64,
        Factor::Lattice => square,
    }
}

fn rational(w: &Weight) -> Option<&BigRational> {
    match w {
        Weight::Rational(r) => Some(r),
        Weight::Irrational(_) => None,
    }
}

/// The first stage, from 0, that has no inverse in `f64`.
pub(crate) fn singular_stage(lattice: &Lattice<Weight>) -> Option<usize> {
    // Exact for rational entries, to f64's precision otherwise: the sum of two f64 products is exact in `Float`.
    lattice.map(Float::from_weight).stages.iter().position(|stage| {
        let [[a, b], [c, d]] = stage.rows();
        let size = a.times(&d).to_f64().abs() + b.times(&c).to_f64().abs();
        stage.determinant().to_f64().abs() <= size * f64::EPSILON
    })
}

/// Lifting steps for a lattice without singular stages: exact if it is short and rational. `Err` holds the reason.
pub(crate) fn lower(lattice: &Lattice<Weight>) -> Result<Vec<Step>, String> {
    const MAX_STAGES: usize = 8;
    const MAX_BITS: u64 = 512;
    let bits = |w: &Weight| rational(w).map_or(u64::MAX, |r| r.numer().bits() + r.denom().bits());
    let total: u64 = lattice.stages.iter().flat_map(|s| s.coefficients()).map(bits).fold(0, u64::saturating_add);
    let steps = if lattice.stages.len() <= MAX_STAGES && total <= MAX_BITS {
        lattice.map(BigRational::from_weight).lifting_steps()
    } else {
        lattice.map(Float::from_weight).lifting_steps()
    };
    let steps = steps.ok_or("a stage is singular")?;
    steps.iter().try_for_each(|step| construct::check(step, Domain::Real))?;
    Ok(steps)
}
