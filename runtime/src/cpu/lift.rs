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
                apply(&step.kind, line, i, |line, d| match resolve(boundary, at + d, n) {
                    Some(j) => line[j],
                    None => [W::default(); L],
                });
            }
        }
    }
}

/// Index that a read of sample `i` resolves to, on a line of `n ≥ 2` samples; `None` reads zero.
pub(super) fn resolve(boundary: Boundary, i: isize, n: usize) -> Option<usize> {
    let n = n as isize;
    if (0..n).contains(&i) {
        return Some(i as usize);
    }
    let j = match boundary {
        Boundary::WholeSymmetric => {
            let folded = i.rem_euclid(2 * (n - 1));
            folded.min(2 * (n - 1) - folded)
        }
        Boundary::Periodic => i.rem_euclid(n),
        // The nearest sample of the same phase: the end, or its neighbour inside.
        Boundary::Edge if i < 0 => i.rem_euclid(2),
        Boundary::Edge => n - 1 - (i - (n - 1)).rem_euclid(2),
        Boundary::HalfSymmetric => {
            // Reflected about the other phase's sample before the phase's first, and the one after its last.
            let (start, end) = (i.rem_euclid(2) - 1, n - (n - 1 - i).rem_euclid(2));
            let folded = (i - start).rem_euclid(2 * (end - start));
            start + folded.min(2 * (end - start) - folded)
        }
        Boundary::Zero => return None,
    };
    Some(j as usize)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_keep_the_phase_and_meet_the_definition() {
        for n in 2..9usize {
            for i in -40..40isize {
                for boundary in Boundary::ALL {
                    if boundary == Boundary::Periodic && n % 2 == 1 {
                        continue;
                    }
                    let Some(j) = resolve(boundary, i, n) else {
                        assert_eq!(boundary, Boundary::Zero);
                        assert!(i < 0 || i >= n as isize);
                        continue;
                    };
                    assert!(j < n, "{boundary} {i} of {n}");
                    assert_eq!(j as isize % 2, i.rem_euclid(2), "{boundary} {i} of {n}");
                    if boundary == Boundary::Edge {
                        let same = (0..n).filter(|k| k % 2 == j % 2);
                        let nearest = same.min_by_key(|&k| (k as isize - i).abs()).unwrap();
                        assert_eq!(j, nearest, "edge {i} of {n}");
                    }
                }
            }
        }
        let half: Vec<_> = (-4..9).map(|i| resolve(Boundary::HalfSymmetric, i, 5).unwrap()).collect();
        assert_eq!(half, [2, 3, 0, 1, 0, 1, 2, 3, 4, 3, 4, 1, 2]);
        assert_eq!(resolve(Boundary::WholeSymmetric, -1, 5), Some(1));
        assert_eq!(resolve(Boundary::WholeSymmetric, 5, 5), Some(3));
        assert_eq!(resolve(Boundary::WholeSymmetric, 9, 5), Some(1));
    }
}
