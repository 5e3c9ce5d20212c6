//! Lengths of the filters of a wavelet.

use crate::algebra::coefficient::Coefficient;
use crate::algebra::float::Float;
use crate::algebra::laurent::Laurent;
use crate::algebra::polyphase::{Bank, Filters, is_exactly_expandable};
use crate::core::scheme::Scheme;
use num_rational::BigRational;

/// Taps below this fraction of a filter's largest are zeros perturbed by rounded weights.
const ROUNDED: f64 = 1e-13;

impl Scheme {
    /// The length L of the wavelet's filters, in taps: the smallest even number such that the taps of both analysis
    /// filters lie at −L/2 + 1 to L/2 around the even position of their coefficient. It is PyWavelets' `dec_len`.
    ///
    /// ```
    /// let length = |text| lifting_dsl::compile(text).unwrap().schemes[0].filter_length();
    /// assert_eq!(length("wavelet haar { domain real; odd -= even[0]; even += odd[0] * (1/2); }"), 2);
    /// let legall = "wavelet w { domain real; odd -= (even[0] + even[1]) / 2; even += (odd[-1] + odd[0]) / 4; }";
    /// assert_eq!(length(legall), 6);
    /// ```
    pub fn filter_length(&self) -> usize {
        // The end taps of long orthogonal filters are tiny, but they count.
        if let Some(lattice) = self.lattice() {
            return length(&Bank::from_matrix(&lattice.map(Float::from_weight).matrix()));
        }
        if is_exactly_expandable(self) {
            return length(&Filters::<BigRational>::of_scheme(self).analysis);
        }
        let bank = Filters::<Float>::of_scheme(self).analysis;
        let cleaned = |filter: Laurent<Float>| filter.cleaned(filter.max_abs(), ROUNDED);
        length(&Bank { low: cleaned(bank.low), high: cleaned(bank.high) })
    }

    /// The analysis and the synthesis filters, low then high. Each is the position of the first tap, relative to the
    /// coefficient's pair, and the taps.
    pub fn filters(&self) -> [(i64, Vec<f64>); 4] {
        let Filters { analysis, synthesis } = Filters::<Float>::of_scheme(self);
        [analysis.low, analysis.high, synthesis.low, synthesis.high]
            .map(|filter| (filter.low(), filter.coefficients().iter().map(Coefficient::to_f64).collect()))
    }
}

fn length<C: Coefficient>(bank: &Bank<C>) -> usize {
    let half = |filter: &Laurent<C>| if filter.is_zero() { 1 } else { filter.high().max(1 - filter.low()) };
    2 * half(&bank.low).max(half(&bank.high)).max(1) as usize
}
