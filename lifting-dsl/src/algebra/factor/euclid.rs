//! Euclid's algorithm on a polyphase matrix, along every path of a beam search.

use super::options::Options;
use crate::algebra::coefficient::Coefficient;
use crate::algebra::laurent::{Laurent, Matrix};
use crate::core::scheme::Phase;

/// Steps in order of execution.
type Lifts<C> = Vec<(Phase, Laurent<C>)>;

/// An unfinished factorisation: the remaining first row, and the steps so far.
#[derive(Clone)]
struct Node<C> {
    row: [Laurent<C>; 2],
    lifts: Lifts<C>,
    largest: f64,
    taps: usize,
}

impl<C: Coefficient> Node<C> {
    /// Subtracts q times the other column from column `column`: the step that updates the other phase.
    fn divide(&self, column: usize, q: Laurent<C>, rest: Laurent<C>) -> Node<C> {
        let mut node = self.clone();
        node.row[column] = rest;
        if !q.is_zero() {
            node.largest = node.largest.max(q.max_abs());
            node.taps += q.width();
            node.lifts.push((if column == 0 { Phase::Odd } else { Phase::Even }, q));
        }
        node
    }

    /// Score of the beam search: doubling a coefficient costs as much as three taps, a halo position as much as `halo`
    /// taps.
    fn score(&self, halo: f64) -> f64 {
        let left: usize = self.row.iter().map(Laurent::width).sum();
        let reach: i64 = self.lifts.iter().map(|(target, p)| reach(*target, p)).sum();
        3.0 * self.largest.max(1.0).log2() + (self.taps + left) as f64 + halo * reach as f64
    }
}

/// Distance of a step's farthest read from its target, in positions.
fn reach<C: Coefficient>(target: Phase, p: &Laurent<C>) -> i64 {
    let shift = 1 - 2 * target.parity();
    if p.is_zero() { 0 } else { (2 * p.low() + shift).abs().max((2 * p.high() + shift).abs()) }
}

/// Euclid on the first row of a matrix of determinant c·z⁰: steps and scaling, for every path of the beam.
pub(super) fn euclid<C: Coefficient>(m: &Matrix<C>, halo: f64, options: &Options) -> Vec<(Lifts<C>, [C; 2])> {
    let scale = m.rows[0].iter().map(Laurent::max_abs).fold(0.0, f64::max);
    let clean = |p: Laurent<C>| p.cleaned(scale, options.tolerance);
    let mut beam = vec![Node { row: m.rows[0].clone(), lifts: Vec::new(), largest: 0.0, taps: 0 }];
    let mut finished: Vec<Lifts<C>> = Vec::new();
    while !beam.is_empty() {
        let mut next: Vec<Node<C>> = Vec::new();
        for node in &beam {
            finished.extend(closings(node).into_iter().map(|n| n.lifts));
            for column in [0, 1] {
                let (a, b) = (&node.row[column], &node.row[1 - column]);
                // `closings` divides by monomials; it chooses the remainder.
                if b.width() >= 2 && a.width() >= b.width() {
                    let quotients = divisions(a, b);
                    next.extend(quotients.into_iter().map(|(q, rest)| node.divide(column, q, clean(rest))));
                }
            }
        }
        next.sort_by(|a, b| a.score(halo).total_cmp(&b.score(halo)));
        next.truncate(options.beam.max(1));
        beam = next;
    }
    finished.into_iter().filter_map(|lifts| close(m, lifts, options.tolerance)).collect()
}

/// Every way to divide a by b, width(a) ≥ width(b): i taps cleared at the low end, the others at the high end.
fn divisions<C: Coefficient>(a: &Laurent<C>, b: &Laurent<C>) -> Vec<(Laurent<C>, Laurent<C>)> {
    let count = a.width() - b.width() + 1;
    let (first, last) = (&b.coefficients()[0], &b.coefficients()[b.width() - 1]);
    (0..=count)
        .map(|from_low| {
            let mut rest = a.coefficients().to_vec();
            let mut q = vec![C::zero(); count];
            let mut clear = |i: usize, by: &C, end: usize| {
                q[i] = rest[i + end].over(by);
                for (j, c) in b.coefficients().iter().enumerate() {
                    rest[i + j] = rest[i + j].minus(&q[i].times(c));
                }
                // Zero by construction: rounding must not leave a tap there.
                rest[i + end] = C::zero();
            };
            (0..from_low).for_each(|i| clear(i, first, 0));
            (from_low..count).rev().for_each(|i| clear(i, last, b.width() - 1));
            (Laurent::new(a.low() - b.low(), q), Laurent::new(a.low(), rest))
        })
        .collect()
}

/// Ways to reduce a row that contains a monomial to (K, 0).
fn closings<C: Coefficient>(node: &Node<C>) -> Vec<Node<C>> {
    let mut closed = Vec::new();
    let constant = |c: &C| Laurent::monomial(c.clone(), 0);
    // `node` with column `column` replaced by `rest`, where column 1 − column is the monomial c·z^n.
    let reduce = |node: &Node<C>, column: usize, rest: Laurent<C>| {
        let (c, n) = node.row[1 - column].as_monomial().expect("a monomial");
        let q = node.row[column].minus(&rest).times(&Laurent::monomial(C::one().over(c), -n));
        node.divide(column, q, rest)
    };
    if let Some((c, n)) = node.row[0].as_monomial() {
        if n == 0 {
            closed.push(reduce(node, 1, Laurent::zero()));
        } else {
            let swapped = reduce(node, 1, constant(c));
            closed.push(reduce(&reduce(&swapped, 0, constant(c)), 1, Laurent::zero()));
        }
    }
    if let Some((c, _)) = node.row[1].as_monomial() {
        let own = node.row[0].at(0);
        for k in [c.clone(), own, C::one()] {
            if !k.is_zero() {
                closed.push(reduce(&reduce(node, 0, constant(&k)), 1, Laurent::zero()));
            }
        }
    }
    closed
}

/// The step and the scaling that remain once the first row is (K, 0).
fn close<C: Coefficient>(m: &Matrix<C>, mut lifts: Lifts<C>, tolerance: f64) -> Option<(Lifts<C>, [C; 2])> {
    let mut rows = m.rows.clone();
    for (target, q) in &lifts {
        // The step's inverse, applied from the right.
        let (column, other) = (*target as usize ^ 1, *target as usize);
        for row in &mut rows {
            row[column] = row[column].minus(&q.times(&row[other]));
        }
    }
    let scale = m.max_abs();
    let [low, high] = [rows[0][0].at(0), rows[1][1].at(0)];
    if low.is_zero() || high.is_zero() {
        return None;
    }
    let rest = rows[1][0].cleaned(scale, tolerance).scaled(&C::one().over(&high));
    lifts.push((Phase::Odd, rest));
    Some((merged(lifts), [low, high]))
}

/// Merges consecutive steps on one phase, and drops steps that add nothing.
fn merged<C: Coefficient>(lifts: Lifts<C>) -> Lifts<C> {
    let mut merged: Lifts<C> = Vec::new();
    for (target, p) in lifts {
        match merged.last_mut() {
            Some(last) if last.0 == target => last.1 = last.1.plus(&p),
            _ => merged.push((target, p)),
        }
        if merged.last().is_some_and(|last| last.1.is_zero()) {
            merged.pop();
        }
    }
    merged
}
