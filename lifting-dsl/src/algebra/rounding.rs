//! Rounding bounds: distance of the results of a real scheme, as steps or as filters, from exact ones.
//!
//! A result is a sum over paths; each leads from a sample to the result through weights of the steps. In floating
//! point, every weight, product and sum on a path is off by a factor 1 + δ, |δ| ≤ u. So a path of n of them is off by
//! at most (1 + u)ⁿ − 1 of itself (Higham, "Accuracy and Stability of Numerical Algorithms", lemma 3.1).
//!
//! The sum of the magnitudes of all paths is the result of the same steps with positive weights on |x|:
//! [`Rounding::magnitudes`]. A tap of a filter is a sum of paths, so the bound holds for filters too. Underflow is
//! ignored.

use crate::algebra::float::Float;
use crate::algebra::laurent::Laurent;
use crate::algebra::polyphase::Filters;
use crate::core::sample::SampleType;
use crate::core::scheme::{Domain, Op, RealStep, ScaleStep, Scheme, Step};
use crate::core::weight::Weight;

/// Bound on the rounding errors of one direction of a real scheme.
///
/// ```
/// use lifting_dsl::{rounding::Rounding, sample::SampleType};
/// let text = "wavelet haar { domain real; odd -= even[0]; even += 0.5*odd[0]; }";
/// let haar = lifting_dsl::compile(text).unwrap().schemes.remove(0);
/// let rounding = Rounding::of_analysis(&haar).unwrap();
/// // Two steps of a tap: a weight, a product and a sum each.
/// let share = rounding.share(SampleType::F32, 1);
/// assert!((share * f64::from(1 << 24) - 6.0).abs() < 1e-5);
/// ```
#[derive(Clone, Debug)]
pub struct Rounding {
    magnitudes: Scheme,
    operations: u32,
}

impl Rounding {
    /// The bound of analysis; `None` for integer schemes.
    pub fn of_analysis(scheme: &Scheme) -> Option<Rounding> {
        let Filters { analysis, .. } = Filters::<Float>::of_scheme(scheme);
        Rounding::of(scheme, Op::Add, [&analysis.low, &analysis.high])
    }

    /// The bound of synthesis; `None` for integer schemes.
    pub fn of_synthesis(scheme: &Scheme) -> Option<Rounding> {
        let Filters { synthesis, .. } = Filters::<Float>::of_scheme(scheme);
        Rounding::of(scheme, Op::Sub, [&synthesis.low, &synthesis.high])
    }

    fn of(scheme: &Scheme, op: Op, filters: [&Laurent<Float>; 2]) -> Option<Rounding> {
        if scheme.domain() == Domain::Integer {
            return None;
        }
        let positive = |w: &Weight| if w.to_f64() < 0.0 { w.neg() } else { w.clone() };
        let step = |step: &Step| match step {
            Step::Integer(_) => None,
            Step::Real(s) => {
                let taps = s.groups.iter().flat_map(|g| g.offsets.iter().map(|o| (*o, positive(&g.weight))));
                Some(Step::Real(RealStep::from_taps(s.target, op, taps)))
            }
            Step::Scale(s) => Some(Step::Scale(ScaleStep { factor: positive(&s.factor), ..s.clone() })),
        };
        let magnitudes: Option<Vec<Step>> = scheme.steps().iter().map(step).collect();
        let magnitudes = Scheme::from_steps(scheme.name(), Domain::Real, scheme.boundary(), magnitudes?).ok()?;
        // A weight, a product, and one sum per tap.
        let lifted: usize = scheme.steps().iter().map(|step| 2 + taps(step)).sum();
        // In synthesis a result takes every other tap of a band's filter, from either band.
        let filtered = 2 + filters.iter().map(|filter| filter.terms().count()).sum::<usize>();
        Some(Rounding { magnitudes, operations: lifted.max(filtered) as u32 })
    }

    /// The scheme with positive weights that takes |x| to the sums of all paths' magnitudes: its analysis for analysis,
    /// its synthesis for synthesis.
    pub fn magnitudes(&self) -> &Scheme {
        &self.magnitudes
    }

    /// Largest error of a result relative to its magnitude, after `passes` passes over an axis. Each pass may round its
    /// results to the type in memory.
    pub fn share(&self, sample: SampleType, passes: u32) -> f64 {
        let epsilon = if sample == SampleType::F64 { f64::EPSILON } else { f32::EPSILON.into() };
        let stored: f64 = match sample {
            SampleType::F16 => 0.5f64.powi(11),
            SampleType::Bf16 => 0.5f64.powi(8),
            _ => 0.0,
        };
        let n = f64::from(passes);
        (n * (f64::from(self.operations) * (epsilon / 2.0).ln_1p() + stored.ln_1p())).exp_m1()
    }
}

fn taps(step: &Step) -> usize {
    match step {
        Step::Integer(s) => s.taps.len(),
        Step::Real(s) => s.groups.iter().map(|g| g.offsets.len()).sum(),
        Step::Scale(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{cdf97, legall53, wavelet};

    #[test]
    fn only_reals_are_rounded() {
        assert!(Rounding::of_analysis(&wavelet("legall53", legall53())).is_none());
    }

    /// The magnitudes of paths are at least those of the filters, and larger where paths cancel.
    #[test]
    fn magnitudes_bound_filters() {
        let scheme = wavelet("cdf97", cdf97());
        let [forward, inverse] = [Rounding::of_analysis(&scheme), Rounding::of_synthesis(&scheme)].map(Option::unwrap);
        let sizes = |scheme: &Scheme| scheme.filters().map(|(_, taps)| taps.iter().map(|t| t.abs()).sum::<f64>());
        let own = sizes(&scheme);
        let (of_analysis, of_synthesis) = (sizes(forward.magnitudes()), sizes(inverse.magnitudes()));
        for i in 0..2 {
            assert!(of_analysis[i] >= own[i] && of_synthesis[2 + i] >= own[2 + i], "{own:?}");
        }
        assert!(of_analysis[0] > own[0]);
        // Four steps of two taps and two scalings; the filters have 9 and 7.
        assert_eq!(forward.operations, 20);
        let twice = forward.share(SampleType::F32, 2) / forward.share(SampleType::F32, 1);
        assert!((twice - 2.0).abs() < 1e-5, "{twice}");
        assert!(forward.share(SampleType::Bf16, 1) > 0.5f64.powi(8));
    }
}
