//! Polyphase matrices of schemes and filter banks, and the proof that one undoes the other.
//!
//! Every lifting scheme is a 2×2 [`Matrix`] of Laurent polynomials that takes (even, odd) to (low, high): the product
//! of its steps, the first step rightmost. Integer steps count by their linear part, `Σ w·x / 2^shift`, without the
//! rounding. The rows of the matrix, interleaved, are the equivalent analysis filters.

use crate::algebra::coefficient::Coefficient;
use crate::algebra::laurent::{Laurent, Matrix};
use crate::core::scheme::{Op, Phase, Scheme, Step};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
use std::fmt;

/// A pair of filters: taps of z^n at position 2k + n, for low and high alike.
///
/// As an analysis bank: `low[k] = Σ low.at(n) · x[2k + n]`, and likewise for the high band. As a synthesis bank: band
/// sample k adds `low[k] · low.at(n)` to `x[2k + n]`.
#[derive(Clone, PartialEq, Debug)]
pub struct Bank<C> {
    /// The lowpass filter.
    pub low: Laurent<C>,
    /// The highpass filter.
    pub high: Laurent<C>,
}

impl<C: Coefficient> Bank<C> {
    /// The polyphase matrix of the bank as an analysis bank.
    pub fn matrix(&self) -> Matrix<C> {
        let row = |p: &Laurent<C>| [p.phase(0), p.phase(1)];
        Matrix::new([row(&self.low), row(&self.high)])
    }

    /// The analysis bank with a given polyphase matrix.
    pub fn from_matrix(m: &Matrix<C>) -> Bank<C> {
        let filter = |row: &[Laurent<C>; 2]| row[0].upsampled().plus(&row[1].upsampled().shifted(1));
        Bank { low: filter(&m.rows[0]), high: filter(&m.rows[1]) }
    }

    /// The synthesis bank with a given synthesis matrix, from (low, high) to (even, odd).
    pub fn from_synthesis_matrix(m: &Matrix<C>) -> Bank<C> {
        // even[k] takes c·low[k + o]: band sample j reaches position 2(j − o), hence the reversal.
        Bank::from_matrix(&m.adjoint())
    }

    /// The synthesis matrix of the bank, from (low, high) to (even, odd), as a synthesis bank.
    pub fn synthesis_matrix(&self) -> Matrix<C> {
        self.matrix().adjoint()
    }

    /// The analysis bank of an orthogonal wavelet as PyWavelets' `periodization` mode applies it, from its
    /// reconstruction lowpass `rec_lo` (`dec_lo` reversed). Both filters begin at 1 − length/2; the highpass is the
    /// alternated reversal of the lowpass. The length must be even.
    pub fn orthogonal(rec_lo: &[C]) -> Bank<C> {
        let high = rec_lo.iter().rev().enumerate();
        // PyWavelets: rec_hi[i] = (−1)^i · dec_lo[i], and the decomposition filters are the reconstruction ones
        // reversed.
        let rec_hi: Vec<C> = high.map(|(i, c)| if i % 2 == 1 { c.negated() } else { c.clone() }).collect();
        let at = 1 - rec_lo.len() as i64 / 2;
        Bank { low: Laurent::new(at, rec_lo.to_vec()), high: Laurent::new(at, rec_hi) }
    }
}

/// The polyphase matrix of analysis steps, in their order of execution.
///
/// Exact in an exact type if the weights are rational. An irrational weight counts as its `f64`, so the matrix is that
/// of the executed transform, before rounding.
pub fn of_steps<C: Coefficient>(steps: &[Step]) -> Matrix<C> {
    steps.iter().fold(Matrix::identity(), |m, step| of_step(step).times(&m))
}

/// The polyphase matrix of a scheme's analysis; see [`of_steps`].
pub fn of_scheme<C: Coefficient>(scheme: &Scheme) -> Matrix<C> {
    of_steps(scheme.steps())
}

/// Low and high band of a constant signal of 1: the sums of both analysis filters, without the filters themselves.
pub fn constant_response<C: Coefficient>(steps: &[Step]) -> [C; 2] {
    steps.iter().fold([C::one(), C::one()], |mut phases, step| {
        let target = step.target() as usize;
        phases[target] = match step {
            Step::Scale(s) => phases[target].times(&C::from_weight(&s.factor)),
            Step::Integer(_) | Step::Real(_) => {
                phases[target].plus(&stencil::<C>(step).sum().times(&phases[1 - target]))
            }
        };
        phases
    })
}

/// Bound of [`check_expansion`], in operations on coefficients: about a second. The longest filters of the catalogue
/// take a fortieth of it.
pub const MAX_EXPANSION: u64 = 1 << 20;

/// Filters that take too long to compute from their steps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the filters of `{wavelet}` have up to {taps} taps, which take too long to compute: use fewer steps, or steps that \
     read nearer samples"
)]
pub struct TooLong {
    /// Name of the wavelet.
    pub wavelet: String,
    /// Upper bound of the length of its filters.
    pub taps: u64,
}

/// Whether the filters of a scheme can be computed within [`MAX_EXPANSION`]. Lifting itself has no such limit.
///
/// # Errors
/// [`TooLong`].
pub fn check_expansion(scheme: &Scheme) -> Result<(), TooLong> {
    let Cost { operations, taps } = expansion(scheme);
    match operations <= MAX_EXPANSION {
        true => Ok(()),
        false => Err(TooLong { wavelet: scheme.name().to_owned(), taps }),
    }
}

/// Whether exact filters of a scheme can be computed in about a second: its weights are rational, and numerators and
/// denominators stay short.
pub fn is_exactly_expandable(scheme: &Scheme) -> bool {
    /// Operations on fractions cost more than those on floating-point numbers.
    const EXACT: u64 = 1 << 16;
    scheme.steps().iter().all(Step::is_rational) && expansion(scheme).operations <= EXACT
}

/// Cost of a scheme's filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Operations on coefficients, products of two polyphase matrices included.
    pub operations: u64,
    /// Upper bound of the length of a filter.
    pub taps: u64,
}

/// An upper bound of the cost of a scheme's filters.
pub(crate) fn expansion(scheme: &Scheme) -> Cost {
    // Lowest and highest exponent of the even and of the odd row.
    let (mut rows, mut operations) = ([(0i64, 0i64); 2], 0u64);
    for step in scheme.steps() {
        let target = step.target() as usize;
        let count = match step {
            Step::Integer(s) => s.taps.len(),
            Step::Real(s) => s.groups.iter().map(|g| g.offsets.len()).sum(),
            Step::Scale(_) => 0,
        };
        let (low, high) = step.index_support().unwrap_or((0, 0));
        let [mine, other] = [rows[target], rows[1 - target]];
        let width = (other.1 - other.0 + 1) as u64;
        rows[target] = (mine.0.min(other.0 + i64::from(low)), mine.1.max(other.1 + i64::from(high)));
        operations += 2 * (count as u64 * width + (rows[target].1 - rows[target].0 + 1) as u64);
    }
    let width = rows.iter().map(|(low, high)| (high - low + 1) as u64).max().unwrap_or(1);
    Cost { operations: operations.saturating_add(width.saturating_mul(8 * width)), taps: 2 * width }
}

/// The matrix of one step.
pub fn of_step<C: Coefficient>(step: &Step) -> Matrix<C> {
    match step {
        Step::Scale(s) => {
            let factor = Laurent::monomial(C::from_weight(&s.factor), 0);
            match s.target {
                Phase::Even => Matrix::diagonal(factor, Laurent::one()),
                Phase::Odd => Matrix::diagonal(Laurent::one(), factor),
            }
        }
        Step::Integer(_) | Step::Real(_) => Matrix::lifting(step.target() as usize, stencil(step)),
    }
}

/// The stencil of a lifting step, `Σ weight · z^offset`, including the sign of `-=`; zero for a scaling.
pub fn stencil<C: Coefficient>(step: &Step) -> Laurent<C> {
    let (op, terms): (Op, Vec<(i32, C)>) = match step {
        Step::Integer(s) => {
            let unit = BigInt::one() << s.shift;
            let weight = |w: i32| C::from_rational(&BigRational::new(w.into(), unit.clone()));
            (s.op, s.taps.iter().map(|t| (t.offset, weight(t.weight))).collect())
        }
        Step::Real(s) => {
            let terms = s.groups.iter().flat_map(|g| {
                let weight = C::from_weight(&g.weight);
                g.offsets.iter().map(move |&o| (o, weight.clone()))
            });
            (s.op, terms.collect())
        }
        Step::Scale(_) => return Laurent::zero(),
    };
    let low = terms.iter().map(|t| i64::from(t.0)).min().unwrap_or(0);
    let high = terms.iter().map(|t| i64::from(t.0)).max().unwrap_or(-1);
    let mut coefficients = vec![C::zero(); usize::try_from(high - low + 1).unwrap_or(0)];
    for (offset, weight) in terms {
        let slot = &mut coefficients[(i64::from(offset) - low) as usize];
        *slot = slot.plus(&weight);
    }
    let p = Laurent::new(low, coefficients);
    match op {
        Op::Add => p,
        Op::Sub => p.negated(),
    }
}

/// The equivalent filters of a scheme.
#[derive(Clone, PartialEq, Debug)]
pub struct Filters<C> {
    /// One level of analysis, away from the borders.
    pub analysis: Bank<C>,
    /// One level of synthesis, away from the borders.
    pub synthesis: Bank<C>,
}

impl<C: Coefficient> Filters<C> {
    /// The equivalent filters of analysis steps and of the synthesis steps that undo them.
    pub fn of(analysis: &[Step], synthesis: &[Step]) -> Filters<C> {
        Filters {
            analysis: Bank::from_matrix(&of_steps(analysis)),
            synthesis: Bank::from_synthesis_matrix(&of_steps(synthesis)),
        }
    }

    /// The equivalent filters of a scheme.
    pub fn of_scheme(scheme: &Scheme) -> Filters<C> {
        Filters::of(scheme.steps(), &scheme.inverse_steps())
    }
}

/// Accuracy of the round trip, apart from rounding of the samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reconstruction {
    /// The product of the two polyphase matrices is the identity, as polynomials over the rationals.
    Exact,
    /// The product differs from the identity, by at most this multiple of the largest input in each output sample.
    Bounded(f64),
}

impl Reconstruction {
    /// Compares synthesis · analysis with the identity.
    pub fn of<C: Coefficient>(analysis: &Matrix<C>, synthesis: &Matrix<C>) -> Reconstruction {
        let rest = synthesis.times(analysis).minus(&Matrix::identity());
        let bound = |row: &[Laurent<C>; 2]| row[0].l1().plus(&row[1].l1()).to_f64();
        let worst = rest.rows.iter().map(bound).fold(0.0, f64::max);
        if C::EXACT && rest.rows.iter().flatten().all(Laurent::is_zero) {
            Reconstruction::Exact
        } else {
            Reconstruction::Bounded(worst)
        }
    }

    /// The reconstruction of a scheme, in exact arithmetic on the executed weights. Integer schemes reconstruct exactly
    /// by construction, including wrapping and rounding. So do real ones, except for scalings by c whose 1/c was
    /// rounded.
    pub fn of_scheme(scheme: &Scheme) -> Reconstruction {
        let analysis = of_steps::<BigRational>(scheme.steps());
        Reconstruction::of(&analysis, &of_steps(&scheme.inverse_steps()))
    }
}

impl fmt::Display for Reconstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reconstruction::Exact => f.write_str("exact"),
            Reconstruction::Bounded(e) => write!(f, "within {e:.1e} of the largest sample"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{cdf97, integer, legall53, scale};

    fn ratio(n: i64, d: i64) -> BigRational {
        BigRational::new(n.into(), d.into())
    }

    #[test]
    fn legall_is_the_5_3_filter_pair() {
        let steps = legall53();
        let m = of_steps::<BigRational>(&steps);
        let bank = Bank::from_matrix(&m);
        assert_eq!(bank.low, Laurent::new(-2, [-1, 2, 6, 2, -1].map(|n| ratio(n, 8)).to_vec()));
        assert_eq!(bank.high, Laurent::new(0, [-1, 2, -1].map(|n| ratio(n, 2)).to_vec()));
        assert_eq!(bank.matrix(), m);
        let inverse: Vec<Step> = steps
            .iter()
            .rev()
            .map(|s| match s {
                Step::Integer(i) => Step::Integer(crate::core::scheme::IntegerStep { op: i.op.inverse(), ..i.clone() }),
                other => other.clone(),
            })
            .collect();
        let filters = Filters::<BigRational>::of(&steps, &inverse);
        assert_eq!(filters.synthesis.low, Laurent::new(-1, [1, 2, 1].map(|n| ratio(n, 2)).to_vec()));
        assert_eq!(filters.synthesis.high, Laurent::new(-1, [-1, -2, 6, -2, -1].map(|n| ratio(n, 8)).to_vec()));
        assert_eq!(Reconstruction::of(&m, &filters.synthesis.synthesis_matrix()), Reconstruction::Exact);
    }

    #[test]
    fn a_rounded_reciprocal_is_bounded_not_exact() {
        let steps = cdf97();
        let m = of_steps::<BigRational>(&steps);
        let (determinant, n) = m.determinant().as_monomial().map(|(c, n)| (c.to_f64(), n)).unwrap();
        assert_eq!(n, 0);
        assert!((determinant - 1.0).abs() < 1e-15);
        let mut wrong = vec![scale(Phase::Even, 3.0), scale(Phase::Odd, 0.1)];
        let forward = of_steps::<BigRational>(&wrong);
        wrong = vec![scale(Phase::Even, 1.0 / 3.0), scale(Phase::Odd, 1.0 / 0.1)];
        match Reconstruction::of(&forward, &of_steps(&wrong)) {
            Reconstruction::Bounded(e) => assert!(e > 0.0 && e < 1e-15),
            Reconstruction::Exact => panic!("1/3 is not an f64"),
        }
    }

    #[test]
    fn constants_need_no_filters() {
        for steps in [legall53(), cdf97(), vec![scale(Phase::Even, 3.0)]] {
            let bank = Bank::from_matrix(&of_steps::<BigRational>(&steps));
            assert_eq!(constant_response::<BigRational>(&steps), [bank.low.sum(), bank.high.sum()]);
        }
    }

    #[test]
    fn far_steps_are_not_expanded() {
        let far = |pairs: usize| {
            let pair = "odd -= (even[-1024] + even[1024]) >> 1; even += (odd[-1024] + odd[1024] + 1) >> 2;";
            let text = format!("wavelet far {{ domain integer; {} }}", pair.repeat(pairs));
            crate::compile(&text).unwrap().schemes.remove(0)
        };
        let error = check_expansion(&far(32)).unwrap_err();
        assert!(error.to_string().starts_with("the filters of `far` have up to 262"), "{error}");
        let near =
            "wavelet near { domain integer; odd -= (even[0] + even[1]) >> 1; even += (odd[-1] + odd[0] + 2) >> 2; }";
        let near = crate::compile(near).unwrap().schemes.remove(0);
        let Cost { operations, taps } = expansion(&near);
        assert!(operations < 200 && (5..=8).contains(&taps), "{operations} {taps}");
        check_expansion(&near).unwrap();
    }

    #[test]
    fn stencils_carry_sign_and_shift() {
        let step = integer(Phase::Odd, Op::Sub, &[(0, 1), (1, 1)], 0, 1);
        assert_eq!(stencil::<BigRational>(&step), Laurent::new(0, vec![ratio(-1, 2), ratio(-1, 2)]));
        assert!(stencil::<BigRational>(&scale(Phase::Even, 2.0)).is_zero());
    }
}
