//! Condition of a transform: the growth of errors through analysis and synthesis, borders included.
//!
//! A border rule that does not suit the steps is still inverted exactly on paper, with coefficients that may be a
//! hundred thousand times as large as the samples.

use crate::core::adjoint::{self, Border};
use crate::core::geometry::Geometry;
use crate::core::oracle::Transform;
use crate::core::scheme::{Boundary, Domain, Scheme};

/// Longest line that is measured whole, in samples. Longer ones are shortened: their borders are the same.
const LONGEST: usize = 1024;
/// Most levels that are measured.
const DEEPEST: u32 = 6;
/// Power iterations for a norm: enough for the order of magnitude.
const ITERATIONS: usize = 12;

impl Scheme {
    /// The condition of the borders of `levels` levels on lines of `length` samples from position `origin`: an estimate
    /// of ‖A‖₂ · ‖A⁻¹‖₂ of the analysis A in `f64`, by power iteration, divided by that under the periodic rule.
    /// Conditions of several axes multiply.
    ///
    /// It is 1 where the borders cannot matter: for integer wavelets, which are exact, under `periodic`, and under
    /// `whole-symmetric` with symmetric steps.
    ///
    /// ```
    /// # use lifting_dsl::{Boundary, compile};
    /// let haar = &compile("wavelet haar { domain real; odd -= even[0]; even += 1/2*odd[0]; }").unwrap().schemes[0];
    /// assert_eq!(haar.condition(Boundary::Periodic, 8, 0, 1), 1.0);
    /// assert!(haar.condition(Boundary::WholeSymmetric, 9, 0, 1) < 5.0);
    /// ```
    pub fn condition(&self, boundary: Boundary, length: usize, origin: i64, levels: u32) -> f64 {
        let suits = boundary == Boundary::Periodic
            || boundary == Boundary::WholeSymmetric && adjoint::border(self.steps(), boundary) == Border::DoubledEnds;
        if suits || self.domain() == Domain::Integer || length < 2 || levels == 0 {
            return 1.0;
        }
        let levels = levels.min(DEEPEST);
        let unit = 1 << levels;
        let length = if length <= LONGEST { length } else { LONGEST + (length - LONGEST) % unit };
        let number = |boundary, length: usize, origin: i64| {
            let geometry = Geometry::new(&[length], &[origin], &[levels], &[0]).ok()?;
            let transform = Transform { boundary, ..Transform::new(self.clone(), geometry) };
            let analysis = norm(length, |x| transform.forward(x).is_ok() && transform.adjoint(x).is_ok())?;
            let synthesis = norm(length, |x| transform.inverse(x).is_ok() && transform.inverse_adjoint(x).is_ok())?;
            Some(analysis * synthesis)
        };
        let borders = number(boundary, length, origin.rem_euclid(unit as i64));
        let inside = number(Boundary::Periodic, length.next_multiple_of(unit), 0);
        match borders.zip(inside) {
            Some((borders, inside)) if borders.is_finite() => (borders / inside).max(1.0),
            Some(_) => f64::INFINITY,
            None => 1.0,
        }
    }
}

/// The 2-norm of an operator M, given MᵀM in place.
fn norm(length: usize, square: impl Fn(&mut [f64]) -> bool) -> Option<f64> {
    // A start that is orthogonal to no border: fractional parts of multiples of the golden ratio.
    let mut x: Vec<f64> = (1..=length).map(|i| (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5).collect();
    let mut found = 1.0;
    for _ in 0..ITERATIONS {
        let size = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter_mut().for_each(|x| *x /= size);
        if !square(&mut x) {
            return None;
        }
        found = x.iter().map(|x| x * x).sum::<f64>().sqrt().sqrt();
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing;

    #[test]
    fn borders_of_the_9_7_are_harmless() {
        let cdf97 = testing::scheme("cdf97", Domain::Real, Boundary::WholeSymmetric, testing::cdf97());
        for (length, levels) in [(2, 1), (3, 1), (17, 2), (64, 3), (10_000, 5), (10_001, 12)] {
            for origin in [0, 1] {
                assert_eq!(cdf97.condition(Boundary::WholeSymmetric, length, origin, levels), 1.0);
                let found = cdf97.condition(Boundary::Edge, length, origin, levels);
                assert!((1.0..20.0).contains(&found), "{length} from {origin}: {found}");
            }
        }
    }
}
