//! One axis: the steps of a scheme on lines split into their two phases.

use super::step::Resolved;
use crate::core::adjoint;
use crate::core::border::Line;
use crate::core::sample::Arithmetic;
use crate::core::scheme::{Boundary, Group, Phase, RealStep, Step};
use crate::core::stage::PairStage;

/// A step ready to run: its target and support, with its weights in the work type.
#[derive(Clone, Debug)]
pub(super) struct Prepared<T: Arithmetic> {
    target: Phase,
    /// Lowest and highest index offset; `None` for a scaling.
    support: Option<(i32, i32)>,
    step: Resolved<T>,
    /// The original step, if this one is an adjoint.
    adjoint_of: Option<Step>,
}

/// All steps ready to run; `None` if one belongs to the other domain.
pub(super) fn prepare<T: Arithmetic>(steps: &[Step]) -> Option<Vec<Prepared<T>>> {
    steps.iter().map(|step| prepare_one(step, None)).collect()
}

fn prepare_one<T: Arithmetic>(step: &Step, adjoint_of: Option<Step>) -> Option<Prepared<T>> {
    let (target, support) = (step.target(), step.index_support());
    Some(Prepared { target, support, step: Resolved::new(step)?, adjoint_of })
}

/// The adjoint of all steps ready to run, including its borders; `None` if one is not real.
pub(super) fn prepare_adjoint<T: Arithmetic>(steps: &[Step]) -> Option<Vec<Prepared<T>>> {
    steps.iter().rev().map(|step| prepare_one(&adjoint::step(step)?, Some(step.clone()))).collect()
}

/// A stage of a lattice ready to run: makes the new u and v on a copy, from the old values.
#[derive(Clone, Debug)]
pub(super) struct Pair<T: Arithmetic> {
    first: Phase,
    rows: [[Resolved<T>; 2]; 2],
}

/// The program of an axis.
#[derive(Clone, Debug)]
pub(super) enum Program<T: Arithmetic> {
    Steps(Vec<Prepared<T>>),
    /// Under the periodic rule.
    Stages(Vec<Pair<T>>),
}

impl<T: Arithmetic> Program<T> {
    /// The stages if there are any, else the steps; `None` if one belongs to the other domain.
    pub(super) fn of(stages: Option<Vec<PairStage>>, steps: &[Step]) -> Option<Program<T>> {
        let Some(stages) = stages else { return Some(Program::Steps(prepare(steps)?)) };
        let pair = |stage: &PairStage| {
            let row = |which: usize| {
                let [scale, add] = stage.steps(which);
                Some([Resolved::new(&scale)?, Resolved::new(&add)?])
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
    // Distance in rows from u to v, each in its own phase.
    let behind = if (stage.first == Phase::Even) == (parity == 0) { 0 } else { width };
    let (mut us, mut vs) = (u.to_vec(), v.to_vec());
    vs.rotate_left(behind);
    us.rotate_right(behind);
    for (target, other, [scale, add]) in [(u, vs, &stage.rows[0]), (v, us, &stage.rows[1])] {
        scale.apply(target, |_| &[]);
        add.apply(target, |_| &other);
    }
}

/// Runs `run` on `width` lines of at least two samples, laid out as for [`lift`]. If `doubled_ends`, the first and the
/// last sample are doubled before it and halved after it.
pub(super) fn between_ends<T: Arithmetic>(
    doubled_ends: bool,
    parity: i64,
    [even, odd]: [&mut [T]; 2],
    width: usize,
    run: impl FnOnce(&mut [T], &mut [T]),
) {
    if doubled_ends {
        scale_ends(parity, even, odd, width, T::doubled);
    }
    run(even, odd);
    if doubled_ends {
        scale_ends(parity, even, odd, width, T::halved);
    }
}

fn scale_ends<T: Copy>(parity: i64, even: &mut [T], odd: &mut [T], width: usize, scale: fn(T) -> T) {
    let n = (even.len() + odd.len()) / width;
    let apply = |samples: &mut [T]| samples.iter_mut().for_each(|x| *x = scale(*x));
    apply(if parity == 0 { &mut even[..width] } else { &mut odd[..width] });
    let last = if (parity as usize + n - 1).is_multiple_of(2) { even } else { odd };
    let start = last.len() - width;
    apply(&mut last[start..]);
}

/// Runs `steps` on `width` independent lines: sample k of line c is `even[(k − parity)·width + c]` or `odd[k·width +
/// c]`. `zeros` has at least `width` zeros.
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
        // An adjoint step reads nothing beyond the line; the folds below return the original step's reads.
        let line = if adjoint_of.is_some() { Line { boundary: Boundary::Zero, ..line } } else { line };
        let (written, read) = match target {
            Phase::Even => (&mut *even, &*odd),
            Phase::Odd => (&mut *odd, &*even),
        };
        let Some((lo, hi)) = *support else {
            step.apply(written, |_| &[]);
            continue;
        };
        let (first, end) = line.range(*target);
        let (read_first, read_end) = line.range(target.other());
        // The reads of these targets lie inside the line, contiguously: one call does them all.
        let inner = (read_first - i64::from(lo)).clamp(first, end);
        let inner_end = (read_end - i64::from(hi)).clamp(inner, end);
        let cells = |k: i64, origin: i64| (k - origin) as usize * width;
        let mut border = |k: i64| {
            let other = |offset: i32| match line.read(target.other(), k + i64::from(offset)) {
                Some(k) => &read[cells(k, read_first)..][..width],
                None => &zeros[..width],
            };
            step.apply(&mut written[cells(k, first)..][..width], other);
        };
        (first..inner).for_each(&mut border);
        (inner_end..end).for_each(&mut border);
        if inner < inner_end {
            let length = (inner_end - inner) as usize * width;
            let other = |offset: i32| &read[cells(inner + i64::from(offset), read_first)..][..length];
            step.apply(&mut written[cells(inner, first)..][..length], other);
        }
        let Some(whole @ Step::Real(original)) = adjoint_of else { continue };
        for fold in adjoint::folds(whole, boundary, line.n, parity) {
            let groups = vec![Group { weight: fold.weight, offsets: vec![0] }];
            let tap = Step::Real(RealStep { target: *target, op: original.op, groups });
            let tap = Resolved::<T>::new(&tap).expect("the step itself was resolved");
            let from = &read[cells(fold.from, read_first)..][..width];
            tap.apply(&mut written[cells(fold.into, first)..][..width], |_| from);
        }
    }
}
