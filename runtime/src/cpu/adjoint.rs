//! The adjoint on a bundle of lines: reversed steps that stay inside the line, then border folds.

use super::lift::{self, weighted};
use crate::sample::{Arithmetic, CompiledStep, GroupWeight};
use lifting_dsl::{Boundary, Op, Scheme, Step, adjoint};

/// Adjoint of a list of real steps.
#[derive(Debug)]
pub(super) struct Adjoint<W: Arithmetic> {
    /// Steps to run, in order.
    pub steps: Vec<CompiledStep<W>>,
    /// The original steps, in the same order.
    of: Vec<Step>,
}

/// A single tap at a border: `line[into] ∓= weight·line[from]`.
#[derive(Clone, Debug)]
pub(crate) struct Fold<W: Arithmetic> {
    into: usize,
    from: usize,
    weight: GroupWeight<W>,
    subtract: bool,
}

impl<W: Arithmetic> Adjoint<W> {
    /// Returns `None` if samples are integers, whose steps round.
    fn new(steps: &[Step]) -> Option<Adjoint<W>> {
        let back = adjoint::steps(steps).filter(|_| W::REAL)?;
        Some(Adjoint { steps: back.iter().map(CompiledStep::new).collect(), of: steps.iter().rev().cloned().collect() })
    }

    /// The adjoints of analysis and of synthesis.
    pub fn pair(scheme: &Scheme) -> Option<[Adjoint<W>; 2]> {
        Some([Adjoint::new(scheme.steps())?, Adjoint::new(&scheme.inverse_steps())?])
    }

    /// Border folds that follow each step on lines of `n` samples.
    pub fn folds(&self, boundary: Boundary, n: usize, parity: usize) -> Vec<Vec<Fold<W>>> {
        let folds = |step: &Step| {
            let Step::Real(real) = step else { return Vec::new() };
            let at = |phase: lifting_dsl::Phase, k: i64| (2 * k + phase.parity() - parity as i64) as usize;
            let fold = |fold: adjoint::Fold| Fold {
                into: at(real.target.other(), fold.into),
                from: at(real.target, fold.from),
                weight: GroupWeight::new(&fold.weight),
                subtract: real.op == Op::Sub,
            };
            // A single sample is not lifted.
            if n < 2 {
                Vec::new()
            } else {
                adjoint::folds(step, boundary, n, parity as i64).into_iter().map(fold).collect()
            }
        };
        self.of.iter().map(folds).collect()
    }
}

/// Runs adjoint steps over a bundle of lines of at least two samples, interleaved, in place.
pub(super) fn lift<W: Arithmetic, const L: usize>(
    steps: &[CompiledStep<W>],
    folds: &[Vec<Fold<W>>],
    parity: usize,
    line: &mut [[W; L]],
) {
    for (step, folds) in steps.iter().zip(folds) {
        lift::lift(std::slice::from_ref(step), Boundary::Zero, parity, line);
        for Fold { into, from, weight, subtract } in folds {
            let given = line[*from];
            for (x, given) in line[*into].iter_mut().zip(given) {
                *x = x.updated(*subtract, weighted(weight, given.widen()));
            }
        }
    }
}
