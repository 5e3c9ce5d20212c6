//! The adjoint (transpose) of a real transform, derived from its steps; gradients flow back through it.
//!
//! A step `target += W·other` is linear, and its adjoint is `other += Wᵀ·target`. The adjoint of a product is the
//! product of the adjoints in reverse order. So T* is a list of lifting steps too, [`steps`]: every stencil reversed,
//! target and source exchanged, the last step first, scalings unchanged.
//!
//! Borders need more. Where a step read beyond the line, the border rule supplied another sample, and the adjoint must
//! return the contribution to that sample. [`border`] says how an executor does so:
//!
//! - `periodic` and `zero`: nothing to do; the steps run under the same rule. Such an adjoint is the transform of
//!   another wavelet, [`Scheme::adjoint`], so every fast path applies to it.
//! - `whole-symmetric` with symmetric steps: double the first and last sample of every line, run the steps under the
//!   same rule, then halve these samples. (A symmetric step commutes with the symmetric extension. The inner product of
//!   the extended, periodic signals counts the two reflected samples once and the others twice. The factors 2 and 1/2,
//!   exact in floating point, convert between that inner product and the plain one.)
//! - otherwise: run each step under the rule `zero`, then its [`folds`], a handful of single taps.
//!
//! [`crate::core::oracle::Transform::adjoint`] executes all of them this way, axis by axis for several levels.
//!
//! ```
//! use lifting_dsl::{adjoint, compile, Boundary};
//! let haar = &compile("wavelet haar { domain real; odd -= even[0]; even += 1/2*odd[0]; }").unwrap().schemes[0];
//! let back = adjoint::steps(haar.steps()).unwrap();
//! assert_eq!(adjoint::border(haar.steps(), Boundary::Periodic), adjoint::Border::Same);
//! assert_eq!(back.len(), 2);
//! ```

use crate::core::body::Body;
use crate::core::border::Line;
use crate::core::scheme::{Boundary, Domain, Group, MAX_NAME, Phase, RealStep, Scheme, Step, inverse};
use crate::core::weight::Weight;

/// The steps of the adjoint away from borders; `None` if one is an integer step, which rounds and so has no adjoint.
///
/// The adjoint of analysis steps takes coefficients to a signal, as synthesis does; that of synthesis steps, the
/// reverse.
pub fn steps(steps: &[Step]) -> Option<Vec<Step>> {
    steps.iter().rev().map(step).collect()
}

/// The adjoint of one step: `other[k] op= Σ w·target[k − o]`.
pub fn step(step: &Step) -> Option<Step> {
    match step {
        Step::Integer(_) => None,
        Step::Scale(s) => Some(Step::Scale(s.clone())),
        Step::Real(s) => {
            let reversed =
                |g: &Group| Group { weight: g.weight.clone(), offsets: g.offsets.iter().rev().map(|o| -o).collect() };
            let mut groups: Vec<Group> = s.groups.iter().map(reversed).collect();
            groups.sort_by_key(|g| g.offsets[0]);
            Some(Step::Real(RealStep { target: s.target.other(), op: s.op, groups }))
        }
    }
}

impl Scheme {
    /// The wavelet whose synthesis is the adjoint of this one's analysis, and whose analysis is the adjoint of this
    /// one's synthesis, except for the border treatment of [`border`]. `None` for an integer wavelet. The adjoint of a
    /// lattice is a lattice.
    ///
    /// ```
    /// use lifting_dsl::{adjoint, compile};
    /// let haar = &compile("wavelet haar { domain real; odd -= even[0]; even += 1/2*odd[0]; }").unwrap().schemes[0];
    /// let adjoint = haar.adjoint().unwrap();
    /// assert_eq!(adjoint.inverse_steps(), adjoint::steps(haar.steps()).unwrap());
    /// assert_eq!(adjoint.steps(), adjoint::steps(&haar.inverse_steps()).unwrap());
    /// ```
    pub fn adjoint(&self) -> Option<Scheme> {
        let steps = inverse(&steps(&self.steps).filter(|_| self.domain == Domain::Real)?);
        let body = match self.lattice() {
            Some(lattice) => Body::Lattice { lattice: lattice.inverse_transpose(), paper: false },
            None => Body::Lifting,
        };
        let name = Some(format!("{}_adjoint", self.name)).filter(|name| name.len() <= MAX_NAME);
        let name = name.unwrap_or_else(|| self.name.clone());
        Some(Scheme { body, ..Scheme::of_checked(name, self.domain, self.boundary, steps) })
    }
}

/// Border treatment of an adjoint, in addition to its [`steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Nothing: the steps run under the border rule of the transform itself.
    Same,
    /// The steps run under `whole-symmetric`; the first and the last sample of every line of more than one sample are
    /// doubled before the first step and halved after the last.
    DoubledEnds,
    /// Each step runs under `zero`, and its [`folds`] follow it.
    Folded,
}

/// Border treatment for the adjoint of these steps (of the transform, not of the adjoint) under a border rule.
pub fn border(steps: &[Step], boundary: Boundary) -> Border {
    match boundary {
        Boundary::Periodic | Boundary::Zero => Border::Same,
        Boundary::WholeSymmetric if steps.iter().all(symmetric) => Border::DoubledEnds,
        _ => Border::Folded,
    }
}

/// Whether a step reads symmetrically about the position that it updates.
fn symmetric(step: &Step) -> bool {
    let Step::Real(s) = step else { return matches!(step, Step::Scale(_)) };
    let mirror = |o: i32| if s.target == Phase::Odd { 1 - o } else { -1 - o };
    s.groups.iter().all(|g| g.offsets.iter().all(|o| g.offsets.contains(&mirror(*o))))
}

/// A tap that an adjoint step needs at a border: `phase[into] op= weight · target[from]`. The original step reads
/// `phase` and updates `target`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// Index of the sample that the border rule substituted for one beyond the line.
    pub into: i64,
    /// Index of the sample that read it.
    pub from: i64,
    /// The weight.
    pub weight: Weight,
}

/// The reads of a step (of the transform) beyond a line of `n` ≥ 2 samples from position `parity` (0 or 1), with the
/// samples that the border rule substituted. Indices are positions halved, rounded down; the rule `zero` has none.
pub fn folds(step: &Step, boundary: Boundary, n: usize, parity: i64) -> Vec<Fold> {
    let Step::Real(s) = step else { return Vec::new() };
    let line = Line { n, parity, boundary };
    let (first, end) = line.range(s.target);
    let (read_first, read_end) = line.range(s.target.other());
    let mut folds = Vec::new();
    for group in &s.groups {
        for offset in group.offsets.iter().map(|o| i64::from(*o)) {
            // All k in first..end for which k + offset is not in read_first..read_end.
            let below = first..end.min(read_first - offset);
            let above = first.max(read_end - offset)..end;
            for from in below.chain(above) {
                if let Some(into) = line.read(s.target.other(), from + offset) {
                    folds.push(Fold { into, from, weight: group.weight.clone() });
                }
            }
        }
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::geometry::{Geometry, Layout};
    use crate::core::oracle::{OracleError, Transform, adjoint_line, analyse_line, synthesise_line};
    use crate::core::sample::Sample;
    use crate::core::scheme::{Op, inverse};
    use crate::core::testing::{cdf97, dd137, ratio, real, real_step, scale, wavelet};

    /// Steps with asymmetric reads only.
    fn skew() -> Vec<Step> {
        vec![
            real_step(Phase::Odd, Op::Sub, &[(-1, ratio(1, 3)), (0, ratio(3, 4)), (2, ratio(-1, 5))]),
            scale(Phase::Odd, 1.25),
            real_step(Phase::Even, Op::Add, &[(-2, ratio(1, 7)), (1, ratio(2, 7)), (3, ratio(-1, 9))]),
            real(Phase::Odd, ratio(-1, 1), &[-4]),
            scale(Phase::Even, -0.5),
        ]
    }

    fn zoo() -> [Vec<Step>; 3] {
        let haar = vec![real(Phase::Odd, ratio(-1, 1), &[0]), real(Phase::Even, ratio(1, 2), &[0])];
        [cdf97(), skew(), haar]
    }

    /// The matrix of a map on lines of n samples, column by column.
    fn matrix(n: usize, map: impl Fn(&mut [f64])) -> Vec<Vec<f64>> {
        let column = |i| {
            let mut line = vec![0.0; n];
            line[i] = 1.0;
            map(&mut line);
            line
        };
        (0..n).map(column).collect()
    }

    fn assert_transposed(a: &[Vec<f64>], b: &[Vec<f64>], what: &str) {
        for (i, column) in a.iter().enumerate() {
            for (j, x) in column.iter().enumerate() {
                assert!((x - b[j][i]).abs() <= 1e-13 * (1.0 + x.abs()), "{what}: {x} and {}", b[j][i]);
            }
        }
    }

    fn lines() -> impl Iterator<Item = (Boundary, usize, i64)> {
        Boundary::ALL.into_iter().flat_map(|boundary| {
            let legal = move |n: &usize| boundary != Boundary::Periodic || n.is_multiple_of(2);
            (1..=19).filter(legal).flat_map(move |n| [(boundary, n, 0), (boundary, n, 1)])
        })
    }

    #[test]
    fn the_matrix_of_the_adjoint_is_the_transpose() {
        for steps in zoo() {
            for (boundary, n, parity) in lines() {
                let what = format!("{boundary}, {n} from {parity}");
                let t = matrix(n, |x| analyse_line(&steps, boundary, parity, x).unwrap());
                let back = matrix(n, |x| adjoint_line(&steps, boundary, parity, x).unwrap());
                assert_transposed(&t, &back, &what);
                let s = matrix(n, |x| synthesise_line(&steps, boundary, parity, x).unwrap());
                let forth = matrix(n, |x| adjoint_line(&inverse(&steps), boundary, parity, x).unwrap());
                assert_transposed(&s, &forth, &what);
            }
        }
    }

    #[test]
    fn the_short_ways_at_borders_agree_with_the_folds() {
        let mut ways = Vec::new();
        for steps in zoo() {
            for (boundary, n, parity) in lines() {
                let way = border(&steps, boundary);
                ways.push(way);
                if way == Border::Folded {
                    continue;
                }
                let ends = |x: &mut [f64], by: f64| {
                    if way == Border::DoubledEnds && n > 1 {
                        x[0] *= by;
                        x[n - 1] *= by;
                    }
                };
                let short = matrix(n, |x| {
                    ends(x, 2.0);
                    analyse_line(&super::steps(&steps).unwrap(), boundary, parity, x).unwrap();
                    ends(x, 0.5);
                });
                let t = matrix(n, |x| analyse_line(&steps, boundary, parity, x).unwrap());
                assert_transposed(&t, &short, &format!("{way:?} {boundary}, {n} from {parity}"));
            }
        }
        for way in [Border::Same, Border::DoubledEnds, Border::Folded] {
            assert!(ways.contains(&way));
        }
    }

    fn noise<T: Sample>(n: usize, seed: u64) -> Vec<T> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            T::from_i64((state >> 54) as i64 - 512)
        };
        (0..n).map(|_| next()).collect()
    }

    /// |⟨Tx, y⟩ − ⟨x, T*y⟩| relative to ‖Tx‖·‖y‖, for analysis and for synthesis.
    fn mismatch<T: Sample>(transform: &Transform) -> [f64; 2] {
        let dot = |a: &[T], b: &[T]| a.iter().zip(b).map(|(x, y)| x.to_f64() * y.to_f64()).sum::<f64>();
        let n = transform.geometry.samples();
        let (x, y) = (noise::<T>(n, 1), noise::<T>(n, 2));
        let (mut tx, mut ty) = (x.clone(), y.clone());
        transform.forward(&mut tx).unwrap();
        transform.adjoint(&mut ty).unwrap();
        let scale = (dot(&tx, &tx) * dot(&y, &y)).sqrt();
        let analysis = (dot(&tx, &y) - dot(&x, &ty)).abs() / scale;
        let (mut sx, mut sy) = (x.clone(), y.clone());
        transform.inverse(&mut sx).unwrap();
        transform.inverse_adjoint(&mut sy).unwrap();
        let scale = (dot(&sx, &sx) * dot(&y, &y)).sqrt();
        [analysis, (dot(&sx, &y) - dot(&x, &sy)).abs() / scale]
    }

    #[test]
    fn inner_products_agree_over_levels_and_axes() {
        for steps in zoo() {
            let scheme = wavelet("w", steps);
            for boundary in Boundary::ALL {
                let shapes: [&[usize]; 3] = match boundary {
                    Boundary::Periodic => [&[64], &[16, 24], &[8, 8, 16]],
                    _ => [&[53], &[13, 22], &[5, 9, 7]],
                };
                for shape in shapes {
                    let rank = shape.len();
                    let origins: Vec<i64> = (0..rank as i64).map(|i| i % 2).collect();
                    let origins = if boundary == Boundary::Periodic { vec![0; rank] } else { origins };
                    let order: Vec<usize> = (0..rank).rev().collect();
                    let geometry = Geometry::new(shape, &origins, &vec![3; rank], &order).unwrap();
                    let mut transform = Transform::new(scheme.clone(), geometry);
                    transform.boundary = boundary;
                    for layout in [Layout::Mallat, Layout::Interleaved] {
                        transform.layout = layout;
                        for (error, limit) in
                            [(mismatch::<f64>(&transform), 1e-13), (mismatch::<f32>(&transform), 1e-5)]
                        {
                            assert!(error.iter().all(|e| *e < limit), "{boundary} {shape:?} {layout:?}: {error:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn integer_wavelets_have_no_adjoint() {
        assert!(super::steps(&dd137()).is_none());
        let geometry = Geometry::new(&[8], &[0], &[1], &[0]).unwrap();
        let transform = Transform::new(wavelet("dd137", dd137()), geometry);
        assert_eq!(transform.adjoint(&mut [0i32; 8]), Err(OracleError::IntegerAdjoint));
        assert_eq!(transform.inverse_adjoint(&mut [0i16; 8]), Err(OracleError::IntegerAdjoint));
        assert_eq!(adjoint_line(&dd137(), Boundary::Zero, 0, &mut [0i32; 8]), Err(OracleError::IntegerAdjoint));
    }
}
