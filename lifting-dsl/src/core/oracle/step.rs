//! One lifting step on slices: its definition in terms of [`Arithmetic`].

use crate::core::sample::Arithmetic;
use crate::core::scheme::{IntegerStep, Op, RealStep, RoundingMode, Step};
use crate::core::weight::Weight;

/// A step with weights in the work type.
#[derive(Clone, Debug)]
pub(super) enum Resolved<T: Arithmetic> {
    /// `target ∓= (Σ weight·other[offset] + rounding) >> shift`.
    Integer { subtract: bool, taps: Vec<(i32, T::Acc)>, rounding: T::Acc, shift: u32, mode: RoundingMode },
    /// `target ∓= Σ weight·(Σ other[offset])`.
    Real { subtract: bool, groups: Vec<(T::Acc, Vec<i32>)> },
    /// `target *= factor`.
    Scale { factor: T::Acc },
}

/// Targets computed at a time, tap by tap: the sums stay in registers or L1, and the loops vectorise.
const CHUNK: usize = 64;

impl<T: Arithmetic> Resolved<T> {
    /// A step with its weights rounded once; `None` if it belongs to the other domain.
    pub(super) fn new(step: &Step) -> Option<Resolved<T>> {
        let real = |w: &Weight| T::real(w);
        match step {
            Step::Integer(IntegerStep { op, taps, rounding, shift, mode, .. }) if !T::REAL => Some(Resolved::Integer {
                subtract: *op == Op::Sub,
                taps: taps.iter().map(|tap| (tap.offset, T::integer(tap.weight))).collect(),
                rounding: T::integer(*rounding),
                shift: *shift,
                mode: *mode,
            }),
            Step::Real(RealStep { op, groups, .. }) if T::REAL => Some(Resolved::Real {
                subtract: *op == Op::Sub,
                groups: groups.iter().map(|g| (real(&g.weight), g.offsets.clone())).collect(),
            }),
            Step::Scale(s) if T::REAL || step.is_negation() => Some(Resolved::Scale { factor: real(&s.factor) }),
            _ => None,
        }
    }

    /// Executes the step on consecutive targets. `other(o)` is the slice, of equal length, that offset `o` reads for
    /// these targets.
    pub(super) fn apply<'a>(&self, target: &mut [T], other: impl Fn(i32) -> &'a [T]) {
        let mut sums = [T::Acc::default(); CHUNK];
        for (chunk, target) in target.chunks_mut(CHUNK).enumerate() {
            let read = |offset: i32| other(offset)[chunk * CHUNK..][..target.len()].iter();
            let sums = &mut sums[..target.len()];
            let subtract = match self {
                Resolved::Integer { subtract, taps, rounding, shift, mode } => {
                    sums.fill(*rounding);
                    for (offset, weight) in taps {
                        sums.iter_mut().zip(read(*offset)).for_each(|(s, x)| *s = T::mul_add(*s, *weight, x.widen()));
                    }
                    sums.iter_mut().for_each(|s| {
                        *s = match mode {
                            RoundingMode::Floor => T::shift(*s, *shift),
                            mode => T::rounded(*s, *shift, *mode),
                        }
                    });
                    *subtract
                }
                Resolved::Real { subtract, groups } => {
                    let mut group = [T::Acc::default(); CHUNK];
                    for (index, (weight, offsets)) in groups.iter().enumerate() {
                        let group = &mut group[..target.len()];
                        group.iter_mut().zip(read(offsets[0])).for_each(|(g, x)| *g = x.widen());
                        for offset in &offsets[1..] {
                            group.iter_mut().zip(read(*offset)).for_each(|(g, x)| *g = T::add(*g, x.widen()));
                        }
                        // A product with 1 or −1 is exact: the same bits as no multiplication.
                        if index == 0 {
                            sums.iter_mut().zip(group).for_each(|(s, g)| *s = T::mul(*weight, *g));
                        } else {
                            sums.iter_mut().zip(group).for_each(|(s, g)| *s = T::add(*s, T::mul(*weight, *g)));
                        }
                    }
                    *subtract
                }
                Resolved::Scale { factor } => {
                    target.iter_mut().for_each(|t| *t = t.scaled(*factor));
                    continue;
                }
            };
            target.iter_mut().zip(sums).for_each(|(t, s)| *t = t.updated(subtract, *s));
        }
    }
}
