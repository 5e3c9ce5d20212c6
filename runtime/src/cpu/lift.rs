//! Lifting steps on a bundle of lines: `line[i][l]` is sample i of line l.
//!
//! rewrite: "for each line, for each step, for each sample" → "for each step, for each sample, for all `L` lines of a
//! bundle". The lines of a bundle are independent. So compilers turn the innermost loop into SIMD for every wavelet and
//! every axis.

use crate::sample::{Arithmetic, CompiledGroup, CompiledStep, GroupWeight, StepKind};
use lifting_dsl::{Boundary, RoundingMode};

/// Runs `steps` over a bundle of lines of at least two samples, interleaved, in place.
///
/// `parity` is the origin modulo 2: with 0, sample 0 is at an even position.
pub(crate) fn lift<W: Arithmetic, const L: usize>(
    steps: &[CompiledStep<W>],
    boundary: Boundary,
    parity: usize,
    line: &mut [[W; L]],
) {
    let n = line.len();
    debug_assert!(n >= 2);
    for step in steps {
        let first = (step.target + parity) % 2;
        if let StepKind::Scale { factor } = &step.kind {
            for row in line[first..].iter_mut().step_by(2) {
                row.iter_mut().for_each(|x| *x = x.scaled(*factor));
            }
            continue;
        }
        if let StepKind::Pair { rows } = &step.kind {
            for i in (first..n).step_by(2) {
                pair(rows, line, i, (i + 1) % n);
            }
            continue;
        }
        let (lo, hi) = step.support;
        for i in (first..n).step_by(2) {
            let at = i as isize;
            if at + lo >= 0 && at + hi < n as isize {
                apply(&step.kind, line, i, |line, d| line[(at + d) as usize]);
            } else {
                apply(&step.kind, line, i, |line, d| match boundary.served((at + d) as i64, n) {
                    Some(j) => line[j as usize],
                    None => [W::default(); L],
                });
            }
        }
    }
}

/// Applies one step to one sample of every line of the bundle.
#[inline(always)]
fn apply<W: Arithmetic, const L: usize>(
    kind: &StepKind<W>,
    line: &mut [[W; L]],
    i: usize,
    read: impl Fn(&[[W; L]], isize) -> [W; L],
) {
    let (subtract, delta) = match kind {
        StepKind::Integer { subtract, taps, rounding, shift, mode } => {
            let mut acc = [*rounding; L];
            for &(d, weight) in taps {
                let x = read(line, d);
                for (acc, x) in acc.iter_mut().zip(x) {
                    *acc = W::mul_add(*acc, weight, x.widen());
                }
            }
            for acc in &mut acc {
                *acc = match mode {
                    RoundingMode::Floor => W::shift(*acc, *shift),
                    mode => W::rounded(*acc, *shift, *mode),
                };
            }
            (*subtract, acc)
        }
        StepKind::Real { subtract, groups } => {
            let mut acc = group(&groups[0], line, &read);
            for g in &groups[1..] {
                let value = group(g, line, &read);
                for (acc, v) in acc.iter_mut().zip(value) {
                    *acc = W::add(*acc, v);
                }
            }
            (*subtract, acc)
        }
        StepKind::Scale { .. } | StepKind::Pair { .. } => return,
    };
    for (x, d) in line[i].iter_mut().zip(delta) {
        *x = x.updated(subtract, d);
    }
}

/// Applies a lattice stage to one pair of every line of the bundle.
#[inline(always)]
fn pair<W: Arithmetic, const L: usize>(rows: &[[W::Acc; 2]; 2], line: &mut [[W; L]], i: usize, j: usize) {
    let [[a, b], [c, d]] = *rows;
    let (us, vs) = (line[i], line[j]);
    for (y, (u, v)) in line[i].iter_mut().zip(us.into_iter().zip(vs)) {
        *y = u.scaled(a).updated(false, W::mul(b, v.widen()));
    }
    for (y, (u, v)) in line[j].iter_mut().zip(us.into_iter().zip(vs)) {
        *y = v.scaled(d).updated(false, W::mul(c, u.widen()));
    }
}

/// Value of one group of a real step: its samples summed left to right, then multiplied once.
#[inline(always)]
fn group<W: Arithmetic, const L: usize>(
    group: &CompiledGroup<W>,
    line: &[[W; L]],
    read: &impl Fn(&[[W; L]], isize) -> [W; L],
) -> [W::Acc; L] {
    let mut sum = [W::Acc::default(); L];
    for (sum, x) in sum.iter_mut().zip(read(line, group.offsets[0])) {
        *sum = x.widen();
    }
    for &d in &group.offsets[1..] {
        for (sum, x) in sum.iter_mut().zip(read(line, d)) {
            *sum = W::add(*sum, x.widen());
        }
    }
    for sum in &mut sum {
        *sum = weighted(&group.weight, *sum);
    }
    sum
}

/// Product of a sum and its weight.
#[inline(always)]
pub(super) fn weighted<W: Arithmetic>(weight: &GroupWeight<W>, sum: W::Acc) -> W::Acc {
    match *weight {
        GroupWeight::One => sum,
        GroupWeight::MinusOne => W::neg(sum),
        GroupWeight::Other(w) => W::mul(w, sum),
    }
}
