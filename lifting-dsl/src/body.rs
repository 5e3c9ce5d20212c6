//! What a wavelet is made of: steps, a lattice, or a filter bank; and how the latter two become steps.

use crate::coefficient::Coefficient;
use crate::construct;
use crate::factor::candidates::{Known, candidates};
use crate::factor::{FactorError, Lattice, Options, Precision};
use crate::float::Float;
use crate::scheme::{Domain, Step};
use crate::weight::Weight;
use num_rational::BigRational;

/// A lattice may have so many stages.
pub const MAX_STAGES: usize = 256;
/// A filter of a bank may have so many taps.
pub const MAX_TAPS: usize = 128;

/// How a wavelet is given. Whatever it is, [`Scheme::steps`](crate::Scheme::steps) are lifting steps for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// By its steps.
    Lifting,
    /// By 2×2 stages, which act on pairs of neighbouring samples; y = fl(fl(a·u) + fl(b·v)).
    ///
    /// Under the periodic rule the stages are executed ([`Scheme::stages`](crate::Scheme::stages)), under the others the steps, which agree with
    /// them but for rounding away from the borders.
    Lattice {
        /// The stages.
        lattice: Lattice<Weight>,
        /// Whether it was written with its first stage on (2k, 2k+1). The number of stages is odd then, so that it
        /// makes no difference.
        paper: bool,
    },
    /// By its analysis filters.
    Bank {
        /// The lowpass filter.
        low: Filter,
        /// The highpass filter.
        high: Filter,
        /// What the compiler made of them.
        factored: Factored,
    },
}

/// One filter of an analysis bank: `band[k] = Σ taps[i] · x[2k + at + i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Position of the first tap relative to 2k.
    pub at: i32,
    /// The taps; at least one, not all zero.
    pub taps: Vec<Weight>,
}

/// A bank taken apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Factored {
    /// Into lifting steps.
    Lifting,
    /// Into stages.
    Lattice(Lattice<Weight>),
}

/// Into what a bank is to be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Lifting steps, by Euclid's algorithm.
    Lifting,
    /// Lattice stages; orthogonal banks only.
    Lattice,
}

impl Factor {
    /// Both, in the order of the language reference.
    pub const ALL: [Factor; 2] = [Factor::Lifting, Factor::Lattice];

    /// The spelling in a `.lift` file.
    pub fn name(self) -> &'static str {
        match self {
            Factor::Lifting => "lifting",
            Factor::Lattice => "lattice",
        }
    }
}

impl Factored {
    /// What was asked for.
    pub fn factor(&self) -> Factor {
        match self {
            Factored::Lifting => Factor::Lifting,
            Factored::Lattice(_) => Factor::Lattice,
        }
    }
}

/// A bank taken apart, its steps, and whether `f32` samples can take them.
pub(crate) struct FactoredBank {
    pub(crate) factored: Factored,
    pub(crate) steps: Vec<Step>,
    pub(crate) fit_for_f32: bool,
}

/// Takes a bank apart in the best way that there is.
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

/// How broad to search for the steps of a bank: the time grows with the square of the taps and with this.
fn beam(taps: usize) -> usize {
    (1024 / taps.max(1)).clamp(4, Options::default().beam)
}

/// What it costs to take a bank apart, in units of some microseconds.
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
    // Exactly where that is known, and to f64's precision elsewhere: the sum of two f64 products is exact in `Float`.
    lattice.map(Float::from_weight).stages.iter().position(|stage| {
        let [[a, b], [c, d]] = stage.rows();
        let size = a.times(&d).to_f64().abs() + b.times(&c).to_f64().abs();
        stage.determinant().to_f64().abs() <= size * f64::EPSILON
    })
}

/// Lifting steps for a lattice without singular stages: exact if it is short and rational. `Err` says why not.
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
