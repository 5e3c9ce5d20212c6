//! Factorisation into lifting steps: Euclid's algorithm on the polyphase matrix (Daubechies and Sweldens 1998).
//!
//! Dividing one phase of a filter by the other is a lifting step: `h_even ← h_even − q·h_odd` remains after `odd +=
//! q·even`. Quotients of Laurent polynomials are not unique. A division clears i taps at the low end and the others at
//! the high end, for every i, and each choice leads to another factorisation. The search keeps the most promising ones
//! at every depth (a beam), for both filters and from both sides of the matrix. Then it ranks the results.

use super::bank::{FactorError, check, check_orthogonal};
use super::euclid::euclid;
use super::options::{Options, Precision};
use crate::algebra::coefficient::Coefficient;
use crate::algebra::float::Float;
use crate::algebra::laurent::{Laurent, Matrix};
use crate::algebra::polyphase::Bank;
use crate::core::geometry::Geometry;
use crate::core::oracle::Transform;
use crate::core::sample::Sample;
use crate::core::scheme::{Boundary, Domain, Group, Op, Phase, RealStep, ScaleStep, Scheme, Step};
use crate::core::weight::Weight;
use std::cmp::Ordering;

/// Cost of a factorisation; smaller is better, as compared by [`Cost::rank`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Largest magnitude of a coefficient of a step or of a scaling.
    pub largest: f64,
    /// Additions and multiplications for one pair (even, odd), equal weights gathered, scalings included.
    pub operations: usize,
    /// Positions read by one low and one high sample through all steps, summed over the steps.
    pub support: i64,
    /// Largest error after analysis and synthesis in `f32`, relative to the largest sample: see [`round_trip`].
    pub error_f32: f64,
    /// `error_f32`, but in `f64`.
    pub error_f64: f64,
}

impl Cost {
    /// The measured cost of steps.
    pub fn of(steps: &[Step]) -> Cost {
        // A scaling by 1/1000 loses as much as one by 1000.
        let weights = steps.iter().flat_map(|s| match s {
            Step::Real(s) => s.groups.iter().map(|g| g.weight.to_f64().abs()).collect(),
            Step::Scale(ScaleStep { factor, .. }) => vec![factor.to_f64().abs().max(factor.to_f64().recip().abs())],
            Step::Integer(_) => Vec::new(),
        });
        let (error_f32, error_f64) = errors(steps);
        Cost {
            largest: weights.fold(0.0, f64::max),
            operations: operations(steps),
            support: steps.iter().map(reads_to).sum(),
            error_f32,
            error_f64,
        }
    }

    /// Orders by loss of digits first: factors of 8 in the largest coefficient and of 4 in an error beyond 16 units of
    /// `f32` count, smaller differences do not. Then by operations plus support, since a halo position costs about one
    /// operation; then by the measured error.
    pub fn rank(&self, other: &Cost) -> Ordering {
        let grade = |c: &Cost| {
            let error = c.error_f32 / (16.0 * f64::from(f32::EPSILON));
            // In floating point, as either may be infinite.
            (c.largest.max(1.0).log2() / 3.0).floor() + (error.max(1.0).log2() / 2.0).floor()
        };
        let key = |c: &Cost| (grade(c), (c.operations as i64 + c.support, c.operations));
        let ((a, a_rest), (b, b_rest)) = (key(self), key(other));
        a.total_cmp(&b).then(a_rest.cmp(&b_rest)).then(self.error_f32.total_cmp(&other.error_f32))
    }
}

/// A bank as lifting steps and a scaling of the two bands.
#[derive(Clone, Debug, PartialEq)]
pub struct Factorisation<C> {
    /// The steps `target += polynomial · other`, in order of execution, targets alternating.
    pub lifts: Vec<(Phase, Laurent<C>)>,
    /// The final factors of the even and the odd phase.
    pub scale: [C; 2],
    /// Largest difference of a coefficient of the product from the bank's polyphase matrix: 0 in exact types.
    pub residual: f64,
    /// The cost.
    pub cost: Cost,
}

impl<C: Coefficient> Factorisation<C> {
    /// The product of the steps and the scaling.
    pub fn matrix(&self) -> Matrix<C> {
        product(&self.lifts, &self.scale)
    }

    /// The steps of a scheme: weights exact where the type is, else rounded to `f64`.
    pub fn steps(&self) -> Vec<Step> {
        self.steps_with_gains(&Float::integer(1), &Float::integer(1))
    }

    /// The steps of a scheme whose bands are also multiplied by `low` and `high`. A bank that is rational up to a
    /// common √2 per filter is so factored exactly.
    pub fn steps_with_gains(&self, low: &Float, high: &Float) -> Vec<Step> {
        let mut steps: Vec<Step> = self.lifts.iter().map(|(target, p)| step(*target, p)).collect();
        let one = Float::integer(1);
        for ((target, factor), gain) in [Phase::Even, Phase::Odd].into_iter().zip(&self.scale).zip([low, high]) {
            let factor = if *gain == one {
                factor.to_weight()
            } else {
                let weight = match factor.to_weight() {
                    Weight::Rational(r) => Float::from_rational(&r),
                    Weight::Irrational(x) => Float::from_f64(x).unwrap_or_else(Float::zero),
                };
                (&weight * gain).to_weight()
            };
            if !factor.is_one() {
                steps.push(Step::Scale(ScaleStep { target, factor }));
            }
        }
        steps
    }
}

/// `target += p · other` with equal weights gathered; `-=` if that leaves fewer minus signs.
fn step<C: Coefficient>(target: Phase, p: &Laurent<C>) -> Step {
    let negative = p.terms().filter(|(_, c)| c.to_f64() < 0.0).count();
    let (op, p) = if 2 * negative > p.terms().count() { (Op::Sub, p.negated()) } else { (Op::Add, p.clone()) };
    let mut groups: Vec<Group> = Vec::new();
    for (n, c) in p.terms() {
        let (weight, offset) = (c.to_weight(), n as i32);
        match groups.iter_mut().find(|g| g.weight == weight) {
            Some(group) => group.offsets.push(offset),
            None => groups.push(Group { weight, offsets: vec![offset] }),
        }
    }
    Step::Real(RealStep { target, op, groups })
}

fn product<C: Coefficient>(lifts: &[(Phase, Laurent<C>)], scale: &[C; 2]) -> Matrix<C> {
    let steps = lifts.iter().fold(Matrix::identity(), |m, (t, p)| Matrix::lifting(*t as usize, p.clone()).times(&m));
    let [a, b] = scale.clone().map(|c| Laurent::monomial(c, 0));
    Matrix::diagonal(a, b).times(&steps)
}

/// Additions and multiplications of steps per pair (even, odd).
pub fn operations(steps: &[Step]) -> usize {
    let count = |step: &Step| match step {
        // One operation per tap (its addition), one per weight other than ±1.
        Step::Real(s) => s.groups.iter().map(|g| g.offsets.len() + usize::from(!unit(&g.weight))).sum(),
        Step::Integer(s) => {
            let weights: usize = s.taps.iter().map(|t| 1 + usize::from(t.weight.abs() != 1)).sum();
            weights + usize::from(s.rounding != 0) + usize::from(s.shift != 0)
        }
        Step::Scale(s) => usize::from(!unit(&s.factor)),
    };
    steps.iter().map(count).sum()
}

fn unit(w: &Weight) -> bool {
    w.is_one() || w.is_minus_one()
}

/// Factors a bank into lifting steps; returns the factorisations found, best first (never empty).
///
/// # Errors
/// The errors of [`check`]; [`FactorError::Imprecise`] if no product is close to the bank; [`FactorError::Unstable`] if
/// the best one loses more than [`Precision::limit`] of the signal.
pub fn lifting<C: Coefficient>(bank: &Bank<C>, options: &Options) -> Result<Vec<Factorisation<C>>, FactorError> {
    let (matrix, _) = check(bank, options.tolerance)?;
    let mut found = search(&matrix, options);
    let tried = found.len();
    // Rank by what is known without running: only the leaders are measured.
    found.sort_by(|a, b| a.cost.rank(&b.cost));
    found.truncate(options.keep.max(1).saturating_mul(8));
    let allowed = (options.tolerance * 1e3).max(if C::EXACT { 0.0 } else { 1e-140 });
    let nearest = found.iter().map(|f| f.residual).fold(f64::INFINITY, f64::min);
    found.retain(|f| f.residual <= allowed);
    for f in &mut found {
        let steps = f.steps();
        (f.cost.error_f32, f.cost.error_f64) = errors(&steps);
    }
    found.sort_by(|a, b| a.cost.rank(&b.cost));
    let error = |f: &Factorisation<C>| match options.precision {
        Precision::F32 => f.cost.error_f32,
        Precision::F64 => f.cost.error_f64,
    };
    let limit = options.precision.limit();
    // Within a grade of coefficients a cheaper one may still lose too much; prefer those that do not.
    let (mut good, bad): (Vec<_>, Vec<_>) = found.into_iter().partition(|f| error(f) <= limit);
    if good.is_empty() {
        let Some(best) = bad.iter().min_by(|a, b| error(a).total_cmp(&error(b))) else {
            return Err(FactorError::Imprecise { residual: nearest, tolerance: allowed });
        };
        return Err(FactorError::Unstable {
            tried,
            largest: best.cost.largest,
            error: error(best),
            precision: options.precision,
            limit,
            orthogonal: check_orthogonal(bank, options.tolerance.max(1e-9)).is_ok(),
        });
    }
    good.extend(bad);
    good.truncate(options.keep.max(1));
    Ok(good)
}

/// Round-trip errors in `f32` and `f64`, the worst over all border rules.
fn errors(steps: &[Step]) -> (f64, f64) {
    let all = &Boundary::ALL;
    (round_trip(steps, all, |x| x as f32, f64::from), round_trip(steps, all, |x| x, |x| x))
}

/// The largest error of analysis and synthesis of a fixed noise-like picture, relative to its largest sample. Runs two
/// levels along both axes, under the given border rules, on long lines and on short ones such as deep levels have.
///
/// Borders break cancellation between steps, and levels and axes multiply what they amplify. So they reveal large steps
/// long before the interior of a single line does. Infinite for steps that are not real.
pub fn round_trip<T: Sample>(
    steps: &[Step],
    boundaries: &[Boundary],
    from: impl Fn(f64) -> T,
    to: impl Fn(T) -> f64,
) -> f64 {
    if steps.is_empty() {
        return 0.0;
    }
    let Ok(scheme) = Scheme::from_steps("measured", Domain::Real, Boundary::Periodic, steps.to_vec()) else {
        return f64::INFINITY;
    };
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut noise = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        from((state >> 40) as f64 / f64::from(1 << 23) - 1.0)
    };
    let signal: Vec<T> = (0..64 * 32).map(|_| noise()).collect();
    let mut worst = 0.0f64;
    for (boundary, rows) in boundaries.iter().flat_map(|b| [64, 17, 8, 3].map(|n| (*b, n))) {
        let Ok(geometry) = Geometry::uniform(&[rows, 32], 2) else { continue };
        if geometry.check_boundary(boundary).is_err() {
            continue;
        }
        let transform = Transform { boundary, ..Transform::new(scheme.clone(), geometry) };
        let picture = &signal[..rows * 32];
        let mut copy = picture.to_vec();
        if transform.forward(&mut copy).and_then(|()| transform.inverse(&mut copy)).is_err() {
            return f64::INFINITY;
        }
        let peak = picture.iter().map(|x| to(*x).abs()).fold(0.0, f64::max);
        for (a, b) in picture.iter().zip(&copy) {
            let error = (to(*a) - to(*b)).abs() / peak;
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
    }
    worst
}

/// All factorisations that the beam reaches, unmeasured.
fn search<C: Coefficient>(matrix: &Matrix<C>, options: &Options) -> Vec<Factorisation<C>> {
    let mut found: Vec<Factorisation<C>> = Vec::new();
    // A beam that weighs the halo finds short steps but larger coefficients: search both ways.
    for (halo, transposed) in [0.0, 0.3, 1.0].into_iter().flat_map(|h| [(h, false), (h, true)]) {
        for exchanged in [false, true] {
            let mut m = matrix.clone();
            if transposed {
                m = m.transposed();
            }
            if exchanged {
                m.rows.reverse();
                m.rows.iter_mut().for_each(|r| r.reverse());
            }
            for (mut lifts, mut scale) in euclid(&m, halo, options) {
                if exchanged {
                    lifts.iter_mut().for_each(|l| l.0 = l.0.other());
                    scale.reverse();
                }
                if transposed {
                    // Mᵀ = D·Fₙ⋯F₁ is M = F₁ᵀ⋯Fₙᵀ·D, and D moves to the left through every factor.
                    lifts.reverse();
                    for (target, p) in &mut lifts {
                        let ratio = scale[*target as usize].over(&scale[target.other() as usize]);
                        *p = p.scaled(&ratio);
                        *target = target.other();
                    }
                }
                let residual = product(&lifts, &scale).distance(matrix);
                let same = |f: &Factorisation<C>| {
                    f.lifts.len() == lifts.len() && f.lifts.iter().zip(&lifts).all(|(a, b)| alike(a, b))
                };
                if !found.iter().any(same) {
                    let cost = static_cost(&lifts, &scale);
                    found.push(Factorisation { lifts, scale, residual, cost });
                }
            }
        }
    }
    found
}

fn alike<C: Coefficient>(a: &(Phase, Laurent<C>), b: &(Phase, Laurent<C>)) -> bool {
    let coefficients = || a.1.coefficients().iter().zip(b.1.coefficients());
    a.0 == b.0
        && a.1.low() == b.1.low()
        && a.1.width() == b.1.width()
        && coefficients().all(|(x, y)| if C::EXACT { x == y } else { x.to_f64() == y.to_f64() })
}

fn static_cost<C: Coefficient>(lifts: &[(Phase, Laurent<C>)], scale: &[C; 2]) -> Cost {
    let steps: Vec<Step> = lifts.iter().map(|(t, p)| step(*t, p)).collect();
    let largest = lifts.iter().map(|l| l.1.max_abs());
    // A scaling by 1/1000 loses as much as one by 1000.
    let scales = scale.iter().map(|c| c.to_f64().abs()).map(|c| c.max(c.recip()));
    Cost {
        largest: largest.chain(scales).fold(0.0, f64::max),
        operations: operations(&steps) + scale.iter().filter(|c| !unit(&c.to_weight())).count(),
        support: steps.iter().map(reads_to).sum(),
        error_f32: 0.0,
        error_f64: 0.0,
    }
}

/// Distance of a step's farthest read, in positions.
fn reads_to(step: &Step) -> i64 {
    step.support().map_or(0, |(a, b)| b.abs().max(a.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::polyphase;
    use crate::core::testing::cdf97;
    use num_rational::BigRational;

    fn rational(at: [i64; 2], low: &[i64], high: &[i64], d: i64) -> Bank<BigRational> {
        let filter =
            |at, taps: &[i64]| Laurent::new(at, taps.iter().map(|&n| BigRational::new(n.into(), d.into())).collect());
        Bank { low: filter(at[0], low), high: filter(at[1], high) }
    }

    fn exact(bank: &Bank<BigRational>) -> Vec<Factorisation<BigRational>> {
        let all = lifting(bank, &Options::default()).unwrap();
        for f in &all {
            assert_eq!(f.residual, 0.0);
            assert_eq!(f.matrix(), bank.matrix());
            assert_eq!(polyphase::of_steps::<BigRational>(&f.steps()), bank.matrix());
        }
        all
    }

    #[test]
    fn legall_is_one_predict_and_one_update() {
        let all = exact(&rational([-2, 0], &[-1, 2, 6, 2, -1], &[-4, 8, -4], 8));
        let halves = |n: i64, d: i64, low| Laurent::new(low, vec![BigRational::new(n.into(), d.into()); 2]);
        assert_eq!(all[0].lifts, [(Phase::Odd, halves(-1, 2, 0)), (Phase::Even, halves(1, 4, -1))]);
        assert!(all.len() > 1, "there are more ways, ranked behind");
        assert!(all.windows(2).all(|w| w[0].cost.rank(&w[1].cost).is_le()));
        assert_eq!(crate::algebra::polyphase::stencil::<BigRational>(&all[0].steps()[0]), halves(-1, 2, 0));
    }

    #[test]
    fn spline_banks_multiply_back_exactly() {
        // bior1.3, bior3.1 and bior3.3 without their √2.
        exact(&rational([-2, -2], &[-1, 1, 8, 8, 1, -1], &[0, 0, -8, 8, 0, 0], 8));
        exact(&rational([-1, -1], &[-2, 6, 6, -2], &[-1, 3, -3, 1], 4));
        exact(&rational([-3, -1], &[3, -9, -7, 45, 45, -7, -9, 3], &[-1, 3, -3, 1], 32));
        exact(&rational([0, 0], &[3, 0], &[5, 7], 2));
        exact(&rational([1, 0], &[3], &[7, 5, 0, 2], 2));
    }

    #[test]
    fn cdf97_is_the_four_known_steps_and_k() {
        let known = polyphase::of_steps::<Float>(&cdf97());
        let bank = Bank::from_matrix(&known);
        assert_eq!((bank.low.width(), bank.high.width()), (9, 7));
        let all = lifting(&bank, &Options { tolerance: 1e-100, ..Options::default() }).unwrap();
        let steps = all[0].steps();
        assert_eq!(steps.len(), 6, "{steps:?}");
        let known = [-1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971];
        for (i, (step, weight)) in steps.iter().zip(known).enumerate() {
            let p = polyphase::stencil::<Float>(step);
            assert_eq!((p.low(), p.width()), (if i % 2 == 0 { 0 } else { -1 }, 2));
            for c in p.coefficients() {
                assert!((c.to_f64() - weight).abs() < 1e-14);
            }
            let Step::Real(step) = step else { panic!("a lifting step") };
            assert_eq!(step.groups.len(), 1, "equal weights are gathered");
        }
        let [low, high] = all[0].scale.each_ref().map(Float::to_f64);
        assert!((high - 1.230174104914001).abs() < 1e-14 && (low * high - 1.0).abs() < 1e-14);
        assert!(all[0].cost.error_f64 < 1e-14 && all[0].cost.error_f32 < 1e-5);
        assert_eq!(all[0].cost.operations, 14);
    }

    #[test]
    fn cdf97_from_published_decimals() {
        let low = [
            0.037828455506995,
            -0.023849465019380,
            -0.110624404418423,
            0.377402855612654,
            0.852698679009403,
            0.377402855612654,
            -0.110624404418423,
            -0.023849465019380,
            0.037828455506995,
        ];
        let high = [
            0.064538882628938,
            -0.040689417609558,
            -0.418092273222212,
            0.788485616405664,
            -0.418092273222212,
            -0.040689417609558,
            0.064538882628938,
        ];
        let bank = Bank::<Float>::from_f64(-4, &low, -2, &high).unwrap();
        let all = lifting(&bank, &Options { tolerance: 1e-10, ..Options::default() }).unwrap();
        assert_eq!(all[0].lifts.len(), 4);
        let alpha = all[0].lifts[0].1.at(0).to_f64();
        assert!((alpha + 1.586134342).abs() < 1e-8, "{alpha}");
    }

    #[test]
    fn db2_is_the_three_known_steps() {
        let root3 = Float::integer(3).sqrt().unwrap();
        let unit = &Float::integer(1) / &(&Float::integer(4) * &Float::integer(2).sqrt().unwrap());
        let taps: Vec<Float> = [(1, 1), (3, 1), (3, -1), (1, -1)]
            .iter()
            .map(|&(n, s)| &(&Float::integer(n) + &(&Float::integer(s) * &root3)) * &unit)
            .collect();
        // Daubechies and Sweldens let the lowpass begin at 0.
        let mut bank = Bank::orthogonal(&taps);
        bank = Bank { low: bank.low.shifted(1), high: bank.high.shifted(-1) };
        let all = lifting(&bank, &Options { tolerance: 1e-100, ..Options::default() }).unwrap();
        let best = &all[0];
        let centred = lifting(&Bank::orthogonal(&taps), &Options { tolerance: 1e-100, ..Options::default() }).unwrap();
        assert_eq!((best.lifts.len(), centred[0].lifts.len()), (3, 3));
        let (sqrt3, mut weights) = (3f64.sqrt(), Vec::new());
        for (_, p) in &best.lifts {
            weights.extend(p.coefficients().iter().map(|c| c.to_f64().abs()));
        }
        weights.sort_by(f64::total_cmp);
        let mut known = [sqrt3, sqrt3 / 4.0, (2.0 - sqrt3) / 4.0, 1.0];
        known.sort_by(f64::total_cmp);
        assert_eq!(weights.len(), 4);
        for (a, b) in weights.iter().zip(known) {
            assert!((a - b).abs() < 1e-14, "{weights:?}");
        }
        let mut scales = best.scale.each_ref().map(|c| c.to_f64().abs());
        scales.sort_by(f64::total_cmp);
        assert!((scales[0] - (sqrt3 - 1.0) / 2f64.sqrt()).abs() < 1e-14, "{scales:?}");
    }

    #[test]
    fn a_row_gain_goes_into_the_scaling() {
        let all = exact(&rational([0, 0], &[1, 1], &[-1, 1], 2));
        let root2 = Float::integer(2).sqrt().unwrap();
        let steps = all[0].steps_with_gains(&root2, &root2);
        let m = polyphase::of_steps::<Float>(&steps);
        for entry in m.rows.iter().flatten() {
            assert!((entry.at(0).to_f64().abs() - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-15);
        }
    }

    #[test]
    fn factorisations_beyond_f32_are_refused() {
        // Two shears that nearly cancel: every factorisation of this matrix has large coefficients.
        let steep = Laurent::new(0, vec![Float::integer(100_000), Float::integer(-99_999)]);
        let m = Matrix::lifting(0, steep.shifted(-1).negated()).times(&Matrix::lifting(1, steep));
        let options = Options { tolerance: 1e-100, ..Options::default() };
        let error = lifting(&Bank::from_matrix(&m), &options).unwrap_err();
        assert!(matches!(error, FactorError::Unstable { precision: Precision::F32, orthogonal: false, .. }), "{error}");
    }
}
