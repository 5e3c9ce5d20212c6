//! One axis: the steps of a scheme on lines whose two phases have been taken apart.

use crate::adjoint;
use crate::geometry::split;
use crate::sample::{Arithmetic, Resolved};
use crate::scheme::{Boundary, Group, Phase, RealStep, Step};
use crate::stage::PairStage;

/// A step ready to run: its target and support kept, its weights in the work type.
#[derive(Clone, Debug)]
pub(super) struct Prepared<T: Arithmetic> {
    target: Phase,
    /// Lowest and highest index offset; `None` for a scaling.
    support: Option<(i32, i32)>,
    step: Resolved<T::Accumulator>,
    /// Of an adjoint step: the step that it is the adjoint of.
    adjoint_of: Option<Step>,
}

/// All steps ready to run; `None` if one is of the other domain.
pub(super) fn prepare<T: Arithmetic>(steps: &[Step]) -> Option<Vec<Prepared<T>>> {
    steps.iter().map(|step| prepare_one(step, None)).collect()
}

fn prepare_one<T: Arithmetic>(step: &Step, adjoint_of: Option<Step>) -> Option<Prepared<T>> {
    let (target, support) = (step.target(), step.index_support());
    Some(Prepared { target, support, step: T::resolve(step)?, adjoint_of })
}

/// The adjoint of all steps ready to run, border rule and all; `None` if one is not real.
pub(super) fn prepare_adjoint<T: Arithmetic>(steps: &[Step]) -> Option<Vec<Prepared<T>>> {
    steps.iter().rev().map(|step| prepare_one(&adjoint::step(step)?, Some(step.clone()))).collect()
}

/// A stage of a lattice ready to run: what makes the new u and the new v of a copy, from the other as it was.
#[derive(Clone, Debug)]
pub(super) struct Pair<T: Arithmetic> {
    first: Phase,
    rows: [[Resolved<T::Accumulator>; 2]; 2],
}

/// What runs along an axis.
#[derive(Clone, Debug)]
pub(super) enum Program<T: Arithmetic> {
    Steps(Vec<Prepared<T>>),
    /// Under the periodic rule.
    Stages(Vec<Pair<T>>),
}

impl<T: Arithmetic> Program<T> {
    /// The stages if there are any, else the steps; `None` if one is of the other domain.
    pub(super) fn of(stages: Option<Vec<PairStage>>, steps: &[Step]) -> Option<Program<T>> {
        let Some(stages) = stages else { return Some(Program::Steps(prepare(steps)?)) };
        let pair = |stage: &PairStage| {
            let row = |which: usize| {
                let [scale, add] = stage.steps(which);
                Some([T::resolve(&scale)?, T::resolve(&add)?])
            };
            Some(Pair { first: stage.first, rows: [row(0)?, row(1)?] })
        };
        Some(Program::Stages(stages.iter().map(pair).collect::<Option<_>>()?))
    }

    /// Runs on `width` lines at once: see [`lift`].
    pub(super) fn run(
        &self,
        boundary: Boundary,
        parity: i64,
        even: &mut [T],
        odd: &mut [T],
        width: usize,
        zeros: &[T],
    ) {
        match self {
            Program::Steps(steps) => lift(steps, boundary, parity, even, odd, width, zeros),
            Program::Stages(stages) => stages.iter().for_each(|stage| turn(stage, parity, even, odd, width)),
        }
    }
}

/// One stage on all pairs of `width` lines of even length, cyclically; laid out as for [`lift`].
fn turn<T: Arithmetic>(stage: &Pair<T>, parity: i64, even: &mut [T], odd: &mut [T], width: usize) {
    let (u, v) = match stage.first {
        Phase::Even => (even, odd),
        Phase::Odd => (odd, even),
    };
    // How many samples the v of a pair stands behind its u, each in its own phase.
    let behind = if (stage.first == Phase::Even) == (parity == 0) { 0 } else { width };
    let (mut us, mut vs) = (u.to_vec(), v.to_vec());
    vs.rotate_left(behind);
    us.rotate_right(behind);
    for (target, other, [scale, add]) in [(u, vs, &stage.rows[0]), (v, us, &stage.rows[1])] {
        T::apply(scale, target, |_| &[]);
        T::apply(add, target, |_| &other);
    }
}

/// A line's place on the integers: `n` ≥ 2 samples from position `parity`, which is 0 or 1.
///
/// Only the parity of an origin matters to a line. Then the low band's first index is `parity`, the high band's 0.
#[derive(Clone, Copy, Debug)]
struct Line {
    n: usize,
    parity: i64,
    boundary: Boundary,
}

impl Line {
    /// First index of a phase, and one past its last.
    fn range(&self, phase: Phase) -> (i64, i64) {
        let s = split(self.n, self.parity);
        match phase {
            Phase::Even => (self.parity, self.parity + s.low as i64),
            Phase::Odd => (0, s.high as i64),
        }
    }

    /// Which sample of `phase` a read of index `k` finds; `None` is zero.
    fn read(&self, phase: Phase, k: i64) -> Option<i64> {
        let (first, end) = self.range(phase);
        if (first..end).contains(&k) {
            return Some(k);
        }
        match self.boundary {
            Boundary::Zero => None,
            Boundary::Edge => Some(k.clamp(first, end - 1)),
            // An even length has as many evens as odds.
            Boundary::Periodic => Some((k - first).rem_euclid(end - first) + first),
            Boundary::WholeSymmetric => {
                // Positions parity … parity + n − 1, there and back again, have a period of 2(n − 1).
                let last = self.n as i64 - 1;
                let there = (2 * k + phase.parity() - self.parity).rem_euclid(2 * last);
                let back = there.min(2 * last - there);
                Some((back + self.parity - phase.parity()) / 2)
            }
        }
    }
}

/// Runs `steps` on `width` lines at once, apart from each other: sample k of line c is `even[(k − parity)·width + c]`
/// or `odd[k·width + c]`. `zeros` has at least `width` zeros.
pub(super) fn lift<T: Arithmetic>(
    steps: &[Prepared<T>],
    boundary: Boundary,
    parity: i64,
    even: &mut [T],
    odd: &mut [T],
    width: usize,
    zeros: &[T],
) {
    let line = Line { n: (even.len() + odd.len()) / width, parity, boundary };
    for Prepared { target, support, step, adjoint_of } in steps {
        // An adjoint step takes nothing from beyond the line; what the step had taken, it gives back below.
        let line = if adjoint_of.is_some() { Line { boundary: Boundary::Zero, ..line } } else { line };
        let (written, read) = match target {
            Phase::Even => (&mut *even, &*odd),
            Phase::Odd => (&mut *odd, &*even),
        };
        let Some((lo, hi)) = *support else {
            T::apply(step, written, |_| &[]);
            continue;
        };
        let (first, end) = line.range(*target);
        let (read_first, read_end) = line.range(target.other());
        // Targets in here have all that they read inside the line, side by side: one call does them all.
        let inner = (read_first - i64::from(lo)).clamp(first, end);
        let inner_end = (read_end - i64::from(hi)).clamp(inner, end);
        let cells = |k: i64, origin: i64| (k - origin) as usize * width;
        let mut border = |k: i64| {
            let other = |offset: i32| match line.read(target.other(), k + i64::from(offset)) {
                Some(k) => &read[cells(k, read_first)..][..width],
                None => &zeros[..width],
            };
            T::apply(step, &mut written[cells(k, first)..][..width], other);
        };
        (first..inner).for_each(&mut border);
        (inner_end..end).for_each(&mut border);
        if inner < inner_end {
            let length = (inner_end - inner) as usize * width;
            let other = |offset: i32| &read[cells(inner + i64::from(offset), read_first)..][..length];
            T::apply(step, &mut written[cells(inner, first)..][..length], other);
        }
        let Some(whole @ Step::Real(original)) = adjoint_of else { continue };
        for fold in adjoint::folds(whole, boundary, line.n, parity) {
            let groups = vec![Group { weight: fold.weight, offsets: vec![0] }];
            let tap = Step::Real(RealStep { target: *target, op: original.op, groups });
            let tap = T::resolve(&tap).expect("the step itself was resolved");
            let from = &read[cells(fold.from, read_first)..][..width];
            T::apply(&tap, &mut written[cells(fold.into, first)..][..width], |_| from);
        }
    }
}

/// Which sample of `phase` a read of index `k` finds on a line of `n` ≥ 2 samples from position `parity` (0 or 1) under
/// a border rule; `None` is zero.
pub(crate) fn read_index(n: usize, parity: i64, boundary: Boundary, phase: Phase, k: i64) -> Option<i64> {
    Line { n, parity, boundary }.read(phase, k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definitions of the border rules, from the language reference, by walking.
    fn walk(n: i64, parity: i64, boundary: Boundary, position: i64) -> Option<i64> {
        let (first, last) = (parity, parity + n - 1);
        let mut q = position;
        match boundary {
            Boundary::WholeSymmetric => {
                while q < first || q > last {
                    q = if q < first { 2 * first - q } else { 2 * last - q };
                }
            }
            Boundary::Periodic => {
                while q < first || q > last {
                    q += if q < first { n } else { -n };
                }
            }
            Boundary::Edge => {
                while q < first || q > last {
                    q += if q < first { 2 } else { -2 };
                }
            }
            Boundary::Zero if q < first || q > last => return None,
            Boundary::Zero => {}
        }
        Some(q)
    }

    #[test]
    fn borders_read_what_walking_finds() {
        for boundary in Boundary::ALL {
            for n in (2..10).filter(|n| boundary != Boundary::Periodic || n % 2 == 0) {
                for parity in [0, 1] {
                    let line = Line { n: n as usize, parity, boundary };
                    for phase in [Phase::Even, Phase::Odd] {
                        for k in -30..30 {
                            let expected = walk(n, parity, boundary, 2 * k + phase.parity());
                            let found = line.read(phase, k).map(|k| 2 * k + phase.parity());
                            assert_eq!(found, expected, "{boundary} n {n} parity {parity} {phase:?} {k}");
                        }
                    }
                }
            }
        }
    }
}
