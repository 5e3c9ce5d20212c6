//! Steps of well-known wavelets, for this crate's tests.

use crate::scheme::{Group, IntegerStep, Op, Phase, RealStep, ScaleStep, Step, Tap};
use crate::weight::Weight;

/// `target op= (Σ w·other[o] + rounding) >> shift`.
pub fn integer(target: Phase, op: Op, taps: &[(i32, i32)], rounding: i32, shift: u32) -> Step {
    let taps = taps.iter().map(|&(offset, weight)| Tap { offset, weight }).collect();
    Step::Integer(IntegerStep { target, op, taps, rounding, shift })
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
