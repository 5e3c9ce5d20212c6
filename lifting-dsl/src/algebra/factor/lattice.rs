//! Orthogonal banks as lattices of 2×2 stages (Yatsymirskyy, Puchala and Szczępaniak 2015).
//!
//! Stage l of L acts in place on the pairs (x[2k+l−L], x[2k+l−L+1]) of the periodic signal. So the last stage acts on
//! `(x[2k], x[2k+1])` and leaves low at even and high at odd positions. A bank with 2L taps from 1 − L has L stages.
//! The recursion peels the last stage: the one rotation of (low, high) that clears the outermost taps at both ends. It
//! divides by outer taps, which are tiny in long filters, hence [`Float`].

use super::bank::{Alignment, FactorError, check_orthogonal};
use crate::algebra::coefficient::Coefficient;
use crate::algebra::float::Float;
use crate::algebra::laurent::{Laurent, Matrix};
use crate::algebra::polyphase::Bank;
use crate::core::lattice::{Lattice, Stage};
use crate::core::scheme::{Op, Phase, RealStep, ScaleStep, Step};

impl<C: Coefficient> Stage<C> {
    /// The matrix of the stage.
    pub fn rows(&self) -> [[C; 2]; 2] {
        self.rows_by(C::negated)
    }

    /// The determinant.
    pub fn determinant(&self) -> C {
        let [[a, b], [c, d]] = self.rows();
        a.times(&d).minus(&b.times(&c))
    }

    /// The stage that undoes this one; `None` if the determinant is zero.
    pub fn inverse(&self) -> Option<Stage<C>> {
        let determinant = self.determinant();
        if determinant.is_zero() {
            return None;
        }
        Some(match self {
            // A reflection is divided by its −determinant a² + b²; so is a rotation, with b negated.
            Stage::Rotate { a, b } => Stage::Rotate { a: a.over(&determinant), b: b.negated().over(&determinant) },
            Stage::Reflect { a, b } => {
                let norm = determinant.negated();
                Stage::Reflect { a: a.over(&norm), b: b.over(&norm) }
            }
            Stage::Matrix { rows: [[a, b], [c, d]] } => {
                let entry = |x: &C| x.over(&determinant);
                let rows = [[entry(d), entry(&b.negated())], [entry(&c.negated()), entry(a)]];
                Stage::Matrix { rows }
            }
        })
    }
}

impl<C: Coefficient> Lattice<C> {
    /// The polyphase matrix of the lattice.
    pub fn matrix(&self) -> Matrix<C> {
        let term = |c: C, n| Laurent::monomial(c, n);
        self.stages.iter().enumerate().fold(Matrix::identity(), |m, (i, stage)| {
            let [[a, b], [c, d]] = stage.rows();
            let factor = if self.on_even_pairs(i) {
                Matrix::new([[term(a, 0), term(b, 0)], [term(c, 0), term(d, 0)]])
            } else {
                Matrix::new([[term(d, 0), term(c, -1)], [term(b, 1), term(a, 0)]])
            };
            factor.times(&m)
        })
    }

    /// The first stage, from 0, without an inverse.
    pub fn singular_stage(&self) -> Option<usize> {
        self.stages.iter().position(|s| s.determinant().is_zero())
    }

    /// Lifting steps with the same polyphase matrix: three shears per stage, with neighbouring shears of one phase
    /// merged and scalings gathered at the end. They run under every border rule and at every length. `None` if a stage
    /// is singular.
    ///
    /// Shears of a rotation by less than a right angle have coefficients of magnitude at most 1; other rotations are
    /// first turned by half a turn.
    pub fn lifting_steps(&self) -> Option<Vec<Step>> {
        let mut steps: Vec<(Phase, Vec<(i32, C)>)> = Vec::new();
        // Scalings of (even, odd) so far, moved to the end: later shears are conjugated by them.
        let mut scale = [C::one(), C::one()];
        for (i, stage) in self.stages.iter().enumerate() {
            let (first, reach) = if self.on_even_pairs(i) { (Phase::Even, 0) } else { (Phase::Odd, 1) };
            let upper_first = steps.last().is_none_or(|s| s.0 == first);
            let (shears, diagonal) = shears(&stage.rows(), upper_first)?;
            for (upper, weight) in shears {
                let (target, offset) = if upper { (first, reach) } else { (first.other(), -reach) };
                let [own, other] = [&scale[target as usize], &scale[target.other() as usize]];
                let weight = weight.times(other).over(own);
                match steps.last_mut() {
                    Some(last) if last.0 == target => match last.1.iter_mut().find(|t| t.0 == offset) {
                        Some(tap) => tap.1 = tap.1.plus(&weight),
                        None => last.1.push((offset, weight)),
                    },
                    _ => steps.push((target, vec![(offset, weight)])),
                }
            }
            for (phase, factor) in [first, first.other()].into_iter().zip(&diagonal) {
                scale[phase as usize] = scale[phase as usize].times(factor);
            }
        }
        let lift = |(target, mut taps): (Phase, Vec<(i32, C)>)| {
            taps.retain(|t| !t.1.is_zero());
            let weights = taps.iter().map(|t| (t.0, t.1.to_weight()));
            (!taps.is_empty()).then(|| Step::Real(RealStep::from_taps(target, Op::Add, weights)))
        };
        let mut lifted: Vec<Step> = steps.into_iter().filter_map(lift).collect();
        for (target, factor) in [Phase::Even, Phase::Odd].into_iter().zip(&scale) {
            let factor = factor.to_weight();
            if !factor.is_one() {
                lifted.push(Step::Scale(ScaleStep { target, factor }));
            }
        }
        Some(lifted)
    }
}

/// A shear of a pair: true for `u += weight·v`, false for `v += weight·u`.
type Shear<C> = (bool, C);

/// A 2×2 matrix as shears in order of execution, starting with `u` if `upper_first` (or with `v`), then a diagonal.
fn shears<C: Coefficient>(rows: &[[C; 2]; 2], upper_first: bool) -> Option<(Vec<Shear<C>>, [C; 2])> {
    // Exchanging u and v turns every upper shear into a lower one.
    if !upper_first {
        let [[a, b], [c, d]] = rows.clone();
        let (shears, [p, q]) = shears(&[[d, c], [b, a]], true)?;
        return Some((shears.into_iter().map(|(upper, w)| (!upper, w)).collect(), [q, p]));
    }
    let [[a, b], [c, d]] = rows;
    let determinant = a.times(d).minus(&b.times(c));
    if determinant.is_zero() {
        return None;
    }
    // rows = diag(p, q)·M with det M = 1; M is then upper·lower·upper, where its lower left entry is not zero.
    let three = |p: C| {
        let q = determinant.over(&p);
        let (a, c, d) = (a.over(&p), c.over(&q), d.over(&q));
        let [first, last] = if c.is_zero() {
            [b.over(&p), C::zero()]
        } else {
            [d.minus(&C::one()).over(&c), a.minus(&C::one()).over(&c)]
        };
        (a == C::one() || !c.is_zero()).then_some((vec![(true, first), (false, c), (true, last)], [p, q]))
    };
    // Rotations keep their scale, as p = ±1; for other matrices that may need large shears, and p = a does not.
    let sign = if a.to_f64() < 0.0 { C::one().negated() } else { C::one() };
    let tame = |(shears, _): &(Vec<Shear<C>>, _)| shears.iter().all(|s| s.1.to_f64().abs() <= 4.0);
    three(sign.clone()).filter(tame).or_else(|| if a.is_zero() { three(sign) } else { three(a.clone()) })
}

/// A lattice, and how closely its product matches the bank.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The stages in high precision.
    pub lattice: Lattice<Float>,
    /// Largest difference of a coefficient of the stages' product from the bank's polyphase matrix.
    pub residual: f64,
    /// `residual` for the stages rounded to `f64`.
    pub residual_f64: f64,
}

/// Factors an orthogonal bank into stages.
///
/// `tolerance` is the precision of the taps: 1e-100 for filters made by [`crate::algebra::spectral`], 1e-9 for
/// published decimals. The product of the stages must match to within a thousand times that.
///
/// # Errors
/// Banks that are not orthogonal, not normalised or misaligned, and long filters with too few digits.
pub fn lattice(bank: &Bank<Float>, tolerance: f64) -> Result<Found, FactorError> {
    let matrix = check_orthogonal(bank, tolerance)?;
    let determinant = matrix.determinant();
    let (delay, c) = determinant.largest().expect("an orthogonal matrix has a determinant");
    if delay != 0 {
        let nearest = Alignment { low: bank.low.low(), high: bank.high.low() - 2 * delay };
        return Err(FactorError::Misaligned { determinant: c.to_f64(), delay, nearest });
    }
    let (mut low, mut high) = (bank.low.clone(), bank.high.clone());
    let reach = |p: &Laurent<Float>| p.high().max(1 - p.low());
    let count = reach(&low).max(reach(&high)).max(1);
    let mut stages = Vec::new();
    for l in (2..=count).rev() {
        let (a, b) = peel(&low, &high, l);
        let even = low.scaled(&a).minus(&high.scaled(&b));
        let odd = low.scaled(&b).plus(&high.scaled(&a));
        // The previous stage acts one sample further: its pairs are (odd[k], even[k + 1]).
        low = window(&odd.shifted(-1), 2 - l, l - 1);
        high = window(&even.shifted(1), 2 - l, l - 1);
        stages.push(Stage::Rotate { a, b });
    }
    let (a, b) = normalised(low.at(0), low.at(1));
    let rotation = high.at(1).times(&a).minus(&high.at(0).times(&b)).signum() > 0;
    stages.push(if rotation { Stage::Rotate { a, b } } else { Stage::Reflect { a, b } });
    stages.reverse();
    let lattice = Lattice { stages };
    let residual = lattice.matrix().distance(&matrix);
    let rounded = lattice.map(|c| Float::from_f64(c.to_f64()).unwrap_or_else(Float::zero));
    let residual_f64 = rounded.matrix().distance(&matrix);
    let allowed = tolerance.max(1e-140) * 1e3;
    if residual > allowed {
        return Err(FactorError::Imprecise { residual, tolerance: allowed });
    }
    Ok(Found { lattice, residual, residual_f64 })
}

/// a and b of the last stage of l. Its inverse [[a, −b], [b, a]] clears the two upper taps of the low filter and the
/// two lower taps of the high one. Both ends determine the angle; the larger taps do so more precisely.
fn peel(low: &Laurent<Float>, high: &Laurent<Float>, l: i64) -> (Float, Float) {
    let upper = [l, l - 1].map(|n| (high.at(n), low.at(n)));
    let lower = [1 - l, 2 - l].map(|n| (low.at(n), -&high.at(n)));
    let size = |(a, b): &(Float, Float)| &(a * a) + &(b * b);
    let mut candidates = upper.into_iter().chain(lower);
    let first = candidates.next().expect("four candidates");
    let (a, b) = candidates.fold(first, |best, next| if size(&next) > size(&best) { next } else { best });
    if a.signum() < 0 { normalised(-&a, -&b) } else { normalised(a, b) }
}

fn normalised(a: Float, b: Float) -> (Float, Float) {
    let norm = (&(&a * &a) + &(&b * &b)).sqrt().filter(|n| !n.is_zero());
    match norm {
        Some(n) => (&a / &n, &b / &n),
        None => (Float::integer(1), Float::zero()),
    }
}

/// The terms from exponent `low` to `high`; terms outside show in the residual.
fn window(p: &Laurent<Float>, low: i64, high: i64) -> Laurent<Float> {
    Laurent::new(low, (low..=high).map(|n| p.at(n)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::polyphase;
    use num_rational::BigRational;

    fn float(x: f64) -> Float {
        Float::from_f64(x).unwrap()
    }

    /// db2's reconstruction lowpass in high precision.
    pub fn db2() -> Vec<Float> {
        let root3 = Float::integer(3).sqrt().unwrap();
        let scale = &Float::integer(1) / &(&Float::integer(4) * &Float::integer(2).sqrt().unwrap());
        let one = Float::integer(1);
        let three = Float::integer(3);
        [&one + &root3, &three + &root3, &three - &root3, &one - &root3].iter().map(|x| x * &scale).collect()
    }

    fn exact(stages: &[[[i64; 2]; 2]]) -> Lattice<BigRational> {
        let entry = |n: i64| BigRational::from_integer(n.into());
        Lattice { stages: stages.iter().map(|m| Stage::Matrix { rows: m.map(|r| r.map(entry)) }).collect() }
    }

    #[test]
    fn db2_is_two_stages_of_thirty_and_forty_five_degrees_or_their_like() {
        let bank = Bank::orthogonal(&db2());
        let found = lattice(&bank, 1e-100).unwrap();
        assert_eq!(found.lattice.stages.len(), 2);
        assert!(found.residual < 1e-150 && found.residual_f64 < 1e-15);
        for stage in &found.lattice.stages {
            let [[a, b], _] = stage.rows();
            assert!((a.to_f64().powi(2) + b.to_f64().powi(2) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn lattices_are_recovered_from_their_banks() {
        let angles = [0.3f64, -1.2, 0.7, 0.05, 1.1, -0.4, 1e-7];
        for count in 1..=angles.len() {
            for reflect in [false, true] {
                let mut stages: Vec<Stage<Float>> = angles[..count]
                    .iter()
                    .map(|t| {
                        let (a, b) = normalised(float(t.cos()), float(t.sin()));
                        Stage::Rotate { a, b }
                    })
                    .collect();
                if let (true, Stage::Rotate { a, b }) = (reflect, stages[0].clone()) {
                    stages[0] = Stage::Reflect { a, b };
                }
                let matrix = Lattice { stages: stages.clone() }.matrix();
                let found = lattice(&Bank::from_matrix(&matrix), 1e-120).unwrap();
                assert_eq!(found.lattice.stages.len(), count);
                for (a, b) in stages.iter().zip(&found.lattice.stages) {
                    assert_eq!(a.map(Float::to_f64), b.map(Float::to_f64));
                }
            }
        }
    }

    #[test]
    fn stages_invert() {
        let unit = |s: Stage<BigRational>| {
            let (m, n) = (Lattice { stages: vec![s.clone()] }.matrix(), s.inverse().unwrap());
            assert_eq!(Lattice { stages: vec![n] }.matrix().times(&m), Matrix::identity());
        };
        let entry = |n: i64| BigRational::from_integer(n.into());
        unit(Stage::Rotate { a: entry(2), b: entry(3) });
        unit(Stage::Reflect { a: entry(2), b: entry(-5) });
        unit(exact(&[[[1, 2], [3, 4]]]).stages[0].clone());
        let singular = exact(&[[[1, 2], [3, 4]], [[1, 2], [2, 4]]]);
        assert_eq!(singular.singular_stage(), Some(1));
        assert!(singular.stages[1].inverse().is_none() && singular.lifting_steps().is_none());
    }

    #[test]
    fn lowered_to_lifting_steps_it_is_the_same_matrix_exactly() {
        let zoo =
            [[2, 1], [1, 1], [0, 1], [-1, 3], [5, 0], [0, -2], [-3, 1], [1, -7], [1, 0], [0, 1], [100, 1], [1, 0]];
        let pairs: Vec<[[i64; 2]; 2]> = zoo.chunks(2).map(|c| [c[0], c[1]]).collect();
        for n in 1..=pairs.len() {
            let mut order = pairs.clone();
            for _ in 0..n {
                order.rotate_left(1);
                let l = exact(&order[..n]);
                let steps = l.lifting_steps().unwrap();
                assert_eq!(polyphase::of_steps::<BigRational>(&steps), l.matrix(), "{:?}", &order[..n]);
            }
        }
    }

    #[test]
    fn lowered_rotations_stay_tame() {
        let found = lattice(&Bank::orthogonal(&db2()), 1e-100).unwrap();
        let steps = found.lattice.lifting_steps().unwrap();
        assert!(steps.len() <= 6, "shears of neighbouring stages merge: {steps:?}");
        let m = polyphase::of_steps::<Float>(&steps);
        assert!(m.distance(&found.lattice.matrix()) < 1e-15);
    }

    #[test]
    fn misaligned_and_imprecise_banks_are_refused() {
        let mut bank = Bank::orthogonal(&db2());
        bank.high = bank.high.shifted(2);
        let error = lattice(&bank, 1e-100).unwrap_err();
        assert!(
            matches!(error, FactorError::Misaligned { delay: 1, nearest: Alignment { low: -1, high: -1 }, .. }),
            "{error}"
        );
        let rounded: Vec<Float> = db2().iter().map(|x| float(x.to_f64())).collect();
        assert!(matches!(
            lattice(&Bank::orthogonal(&rounded), 1e-100),
            Err(FactorError::NotOrthogonal { .. } | FactorError::Unnormalised { .. })
        ));
        assert!(lattice(&Bank::orthogonal(&rounded), 1e-12).is_ok());
    }
}
