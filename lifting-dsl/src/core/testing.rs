//! Schemes for tests: hand-made ones in one line, and random ones as [proptest] strategies. Feature `testing`.
//!
//! [proptest]: https://docs.rs/proptest

use crate::core::scheme::{
    Boundary, Domain, Group, IntegerStep, Op, Phase, RealStep, RoundingMode, ScaleStep, Scheme, Step, Tap,
};
use crate::core::weight::Weight;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// `target op= (Σ w·other[o] + rounding) >> shift`.
///
/// `taps` are offsets, ascending, and non-zero weights.
pub fn integer(target: Phase, op: Op, taps: &[(i32, i32)], rounding: i32, shift: u32) -> Step {
    let taps = taps.iter().map(|&(offset, weight)| Tap { offset, weight }).collect();
    Step::Integer(IntegerStep { target, op, taps, rounding, shift, mode: RoundingMode::Floor })
}

/// An integer step rounded in another way.
pub fn rounded(mode: RoundingMode, step: Step) -> Step {
    match step {
        Step::Integer(s) => Step::Integer(IntegerStep { mode, ..s }),
        step => step,
    }
}

/// Integer steps with every rounding mode, a negation before, between and after them: (13,7) of Deslauriers and Dubuc,
/// rounded otherwise.
pub fn rounded_steps() -> Vec<Step> {
    let [predict, update] = <[Step; 2]>::try_from(dd137()).expect("two steps");
    vec![
        Step::negation(Phase::Odd),
        rounded(RoundingMode::Truncate, predict),
        Step::negation(Phase::Odd),
        rounded(RoundingMode::HalfEven, update),
        rounded(RoundingMode::HalfAway, integer(Phase::Odd, Op::Add, &[(-1, 1), (0, -3), (1, 1)], -1, 2)),
        rounded(RoundingMode::HalfEven, integer(Phase::Even, Op::Sub, &[(0, 1)], 0, 1)),
        Step::negation(Phase::Even),
    ]
}

/// `target += weight · Σ other[offsets]`.
pub fn real(target: Phase, weight: Weight, offsets: &[i32]) -> Step {
    Step::Real(RealStep { target, op: Op::Add, groups: vec![Group { weight, offsets: offsets.to_vec() }] })
}

/// `target *= factor`.
pub fn scale(target: Phase, factor: f64) -> Step {
    Step::Scale(ScaleStep { target, factor: Weight::Irrational(factor) })
}

/// The reversible 5/3.
pub fn legall53() -> Vec<Step> {
    vec![integer(Phase::Odd, Op::Sub, &[(0, 1), (1, 1)], 0, 1), integer(Phase::Even, Op::Add, &[(-1, 1), (0, 1)], 2, 2)]
}

/// Deslauriers–Dubuc (13,7).
pub fn dd137() -> Vec<Step> {
    vec![
        integer(Phase::Odd, Op::Sub, &[(-1, -1), (0, 9), (1, 9), (2, -1)], 8, 4),
        integer(Phase::Even, Op::Add, &[(-2, -1), (-1, 9), (0, 9), (1, -1)], 16, 5),
    ]
}

/// The four steps and K of CDF 9/7.
pub fn cdf97() -> Vec<Step> {
    let step = |target, w, offsets: [i32; 2]| real(target, Weight::Irrational(w), &offsets);
    vec![
        step(Phase::Odd, -1.586134342059924, [0, 1]),
        step(Phase::Even, -0.052980118572961, [-1, 0]),
        step(Phase::Odd, 0.882911075530934, [0, 1]),
        step(Phase::Even, 0.443506852043971, [-1, 0]),
        scale(Phase::Even, 1.0 / 1.230174104914001),
        scale(Phase::Odd, 1.230174104914001),
    ]
}

/// `target op= Σ weight·other[offset]`, grouped as the language defines it; zero weights are left out.
pub fn real_step(target: Phase, op: Op, taps: &[(i32, Weight)]) -> Step {
    let taps: BTreeMap<i32, &Weight> = taps.iter().filter(|tap| !tap.1.is_zero()).map(|(o, w)| (*o, w)).collect();
    let mut groups: Vec<Group> = Vec::new();
    for (offset, weight) in taps {
        match groups.iter_mut().find(|g| g.weight == *weight) {
            Some(group) => group.offsets.push(offset),
            None => groups.push(Group { weight: weight.clone(), offsets: vec![offset] }),
        }
    }
    assert!(!groups.is_empty(), "a step has taps");
    Step::Real(RealStep { target, op, groups })
}

/// n/d, exactly.
pub fn ratio(n: i64, d: i64) -> Weight {
    Weight::Rational(num_rational::BigRational::new(n.into(), d.into()))
}

/// A scheme of these steps, all of `domain`.
pub fn scheme(name: &str, domain: Domain, boundary: Boundary, steps: Vec<Step>) -> Scheme {
    let integer = |step: &Step| matches!(step, Step::Integer(_)) || domain == Domain::Integer && step.is_negation();
    assert!(steps.iter().all(|s| integer(s) == (domain == Domain::Integer)), "steps of the wavelet's own domain");
    Scheme::of_checked(name.to_string(), domain, boundary, steps)
}

/// Steps from above as a wavelet with the whole-symmetric border rule.
pub fn wavelet(name: &str, steps: Vec<Step>) -> Scheme {
    let domain = if steps.iter().any(|step| matches!(step, Step::Integer(_))) { Domain::Integer } else { Domain::Real };
    scheme(name, domain, Boundary::WholeSymmetric, steps)
}

/// Even or odd.
pub fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![Just(Phase::Even), Just(Phase::Odd)]
}

/// Add or subtract.
pub fn op() -> impl Strategy<Value = Op> {
    prop_oneof![Just(Op::Add), Just(Op::Sub)]
}

/// Any border rule.
pub fn boundary() -> impl Strategy<Value = Boundary> {
    prop::sample::select(Boundary::ALL.to_vec())
}

/// Index offsets of a step: 1 to 6 of them, anywhere within ±6.
fn offsets() -> impl Strategy<Value = Vec<i32>> {
    prop::collection::btree_set(-6..=6i32, 1..=6).prop_map(|set| set.into_iter().collect())
}

/// An integer step, or (seldom) a negation: asymmetric taps, any rounding mode, weights small or (seldom) arbitrary, so
/// that sums wrap.
pub fn any_integer() -> impl Strategy<Value = Step> {
    let weight = prop_oneof![9 => -64..=64i32, 1 => any::<i32>()].prop_map(|w| if w == 0 { 1 } else { w });
    let rounding = prop_oneof![3 => -1i32..=512, 1 => any::<i32>()];
    let shift = prop_oneof![8 => 0..=10u32, 1 => 11..=30u32];
    let mode = prop_oneof![2 => Just(RoundingMode::Floor), 1 => prop::sample::select(RoundingMode::ALL.to_vec())];
    let lift = (phase(), op(), offsets(), prop::collection::vec(weight, 6), rounding, shift, mode).prop_map(
        |(target, op, offsets, weights, rounding, shift, mode)| {
            let taps: Vec<_> = offsets.into_iter().zip(weights).collect();
            rounded(if shift == 0 { RoundingMode::Floor } else { mode }, integer(target, op, &taps, rounding, shift))
        },
    );
    prop_oneof![9 => lift, 1 => phase().prop_map(Step::negation)]
}

/// A real step, or (seldom) a scaling: rational weights of magnitude at most 1, some equal so that groups arise.
pub fn any_real_step() -> impl Strategy<Value = Step> {
    let weight = || (-9..=9i64, 1..=10i64).prop_map(|(n, d)| ratio(if n == 0 { 1 } else { n.clamp(-d, d) }, d));
    let lift = (phase(), op(), offsets(), prop::collection::vec(weight(), 3), prop::collection::vec(0..3usize, 6));
    let lift = lift.prop_map(|(target, op, offsets, weights, choice)| {
        let taps: Vec<_> = offsets.into_iter().zip(choice).map(|(o, c)| (o, weights[c].clone())).collect();
        real_step(target, op, &taps)
    });
    let scale =
        (phase(), 3..=9i64, 3..=9i64).prop_map(|(target, n, d)| Step::Scale(ScaleStep { target, factor: ratio(n, d) }));
    prop_oneof![7 => lift, 1 => scale]
}

/// A wavelet of the domain: 1 to 5 steps, supports up to ±6 indices, asymmetric, any border rule.
pub fn any_scheme(domain: Domain) -> impl Strategy<Value = Scheme> {
    let step = match domain {
        Domain::Integer => any_integer().boxed(),
        Domain::Real => any_real_step().boxed(),
    };
    (prop::collection::vec(step, 1..=5), boundary())
        .prop_map(move |(steps, boundary)| scheme("random", domain, boundary, steps))
}
