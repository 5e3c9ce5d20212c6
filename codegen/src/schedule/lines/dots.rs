//! Dot-product lifting of packed 16-bit integers, two in a register, without unpacking. A pair is two neighbours of a
//! phase, or samples of two lines that are lifted alike.
//!
//! A step's sum is a chain of dot products with the registers it reads ([`Expr::Dot`]). Its result is 16 bits of a
//! 32-bit word, and two results are packed into a pair again ([`crate::ir::BinOp::Pack`]). One of a register's two
//! results is shifted and added to the old sample. The other has the old sample as one more term, and is moved to a
//! byte boundary instead of shifted. So half of the instructions use one kind of unit of a multiprocessor, and half the
//! other.

use crate::ir::Expr;
use lifting_dsl::{IntegerStep, Op, RoundingMode, Step, Tap};
use std::collections::BTreeMap;

/// Maximum dot products for one weight.
const MAX_PARTS: u32 = 2;

/// A step whose sums are dot products.
#[derive(Clone, Copy, Debug)]
pub struct Dots<'a> {
    step: &'a IntegerStep,
}

/// Summed registers of pairs, with the weights of their halves.
pub type Terms = Vec<(Expr, [i32; 2])>;

/// Selects the results of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The low half, of an even index.
    Low,
    /// The high half.
    High,
    /// Both halves.
    Both,
}

impl<'a> Dots<'a> {
    /// The step, if it rounds down, its weights fit 8 bits or twice as much, and no sum of 16-bit samples wraps.
    pub fn of(step: &'a Step) -> Option<Dots<'a>> {
        let Step::Integer(step) = step else { return None };
        let small = step.taps.iter().all(|tap| tap.weight.unsigned_abs() <= MAX_PARTS * i8::MAX as u32);
        // Before the shift, a result includes the old sample.
        let weights: i64 = step.taps.iter().map(|tap| i64::from(tap.weight).abs()).sum();
        let most = ((weights + (1 << step.shift)) << 15) + i64::from(step.rounding).abs() + (1 << step.shift);
        (small && most < 1 << 31 && step.mode == RoundingMode::Floor).then_some(Dots { step })
    }

    /// Registers that the results of register m read, relative to m.
    pub fn reads(self) -> Vec<i32> {
        let of_half = |half: usize| self.weights(half).into_keys();
        let mut all: Vec<i32> = (0..2).flat_map(of_half).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Weights of the halves of each register, relative to the result's.
    fn weights(self, half: usize) -> BTreeMap<i32, [i32; 2]> {
        let mut all = BTreeMap::new();
        for tap in &self.step.taps {
            let index = tap.offset + half as i32;
            let weights: &mut [i32; 2] = all.entry(index.div_euclid(2)).or_default();
            weights[index.rem_euclid(2) as usize] = self.weight(tap);
        }
        all
    }

    /// The sum before the shift: all terms but the old sample. Subtracting a value rounded down equals adding it
    /// rounded up.
    fn sum(self, terms: Terms) -> Expr {
        let start = match self.step.op {
            Op::Add => self.step.rounding,
            Op::Sub => (1 << self.step.shift) - 1 - self.step.rounding,
        };
        let mut sum = Expr::from(start);
        for (register, mut weights) in terms {
            while weights != [0; 2] {
                let part = weights.map(|w| w.clamp(-i32::from(i8::MAX), i8::MAX.into()));
                sum = sum.dot(register, part.map(|w| w as i8));
                weights = [0, 1].map(|i| weights[i] - part[i]);
            }
        }
        sum
    }

    /// A result in the low half of a word; the high half is undefined.
    fn low(self, (old, half): (Expr, usize), terms: Terms) -> Expr {
        let old = if half == 0 { old } else { old >> 16 };
        old + (self.sum(terms) >> self.step.shift as i32)
    }

    /// A result in two bytes of a word, and the index of the first.
    fn high(self, (old, half): (Expr, usize), terms: Terms) -> (Expr, u8) {
        let shift = self.step.shift as i32;
        if half == 0 || shift > 6 {
            return (self.low((old, half), terms), 0);
        }
        let sum = self.sum(terms).dot(old, [0, 1 << shift]);
        if shift == 0 { (sum, 0) } else { (sum << (8 - shift), 1) }
    }

    /// The new pair of a register with the old value `old`. `read(j)` is the register of the other phase j after it.
    pub fn value(self, wanted: Wanted, old: Expr, read: &mut dyn FnMut(i32) -> Expr) -> Expr {
        let mut terms = |half: usize| self.weights(half).into_iter().map(|(j, weights)| (read(j), weights)).collect();
        let at = |half: usize| (old, half);
        match wanted {
            Wanted::Low => self.low(at(0), terms(0)).pack_from(0, old, 2),
            Wanted::High => {
                let (high, byte) = self.high(at(1), terms(1));
                old.pack_from(0, high, byte)
            }
            Wanted::Both => self.pair([0, 1].map(at), [0, 1].map(terms)),
        }
    }

    /// A new pair of samples, from the old ones (a register and a half for each) and the terms of each sum.
    pub fn pair(self, [old_low, old_high]: [(Expr, usize); 2], [low, high]: [Terms; 2]) -> Expr {
        let low = self.low(old_low, low);
        let (high, byte) = self.high(old_high, high);
        low.pack_from(0, high, byte)
    }

    /// Reads of the step in registers that hold two separate lines: offsets, and weights for the line in `half`.
    pub fn line(self, half: usize) -> Vec<(i32, [i32; 2])> {
        let of = |tap: &Tap| {
            let mut weights = [0; 2];
            weights[half] = self.weight(tap);
            (tap.offset, weights)
        };
        self.step.taps.iter().map(of).collect()
    }

    /// Reads of the step in words of two consecutive samples of a line: offset of the first, and weights. Empty for a
    /// single sample or for reads with gaps.
    pub fn words(self) -> Vec<(i32, [i32; 2])> {
        let weights: Vec<(i32, i32)> = self.step.taps.iter().map(|tap| (tap.offset, self.weight(tap))).collect();
        if weights.len() < 2 || weights.windows(2).any(|w| w[1].0 != w[0].0 + 1) {
            return Vec::new();
        }
        let of = |pair: &[(i32, i32)]| match *pair {
            [(_, last), (offset, first)] => (offset, [first, last]),
            _ => (pair[0].0, [pair[0].1, 0]),
        };
        weights.iter().rev().copied().collect::<Vec<_>>().chunks(2).map(of).collect()
    }

    fn weight(self, tap: &Tap) -> i32 {
        if self.step.op == Op::Add { tap.weight } else { -tap.weight }
    }
}

/// 16 bits of one word, from a byte on, and 16 bits of another.
pub fn join((low, from): (Expr, u8), (high, to): (Expr, u8)) -> Expr {
    if low == high && (from, to) == (0, 2) { low } else { low.pack_from(from, high, to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::lift::{Arithmetic, step_value};
    use lifting_dsl::Phase;

    /// Value of an expression without variables.
    fn value(e: &Expr) -> i32 {
        use crate::ir::{BinOp, Literal, Scalar};
        match e {
            Expr::Lit(Literal::Int(v, _)) => *v as i32,
            Expr::Cast(Scalar::I16, a) => i32::from(value(a) as i16),
            Expr::Cast(_, a) => value(a),
            Expr::Unary(_, a) => value(a).wrapping_neg(),
            Expr::Dot { pair, weights: [low, high], sum } => {
                let pair = value(pair);
                let term = |half: i32, w: &i8| i32::from(half as i16) * i32::from(*w);
                value(sum).wrapping_add(term(pair, low)).wrapping_add(term(pair >> 16, high))
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (value(a), value(b));
                match *op {
                    BinOp::Add => a.wrapping_add(b),
                    BinOp::Sub => a.wrapping_sub(b),
                    BinOp::Mul => a.wrapping_mul(b),
                    BinOp::Shl => a.wrapping_shl(b as u32),
                    BinOp::Shr => a >> b,
                    BinOp::Pack { low, high } => (a >> (8 * low) & 0xffff) | (b >> (8 * high) << 16),
                    op => panic!("{op:?}"),
                }
            }
            e => panic!("{e:?}"),
        }
    }

    #[test]
    fn pairs_are_lifted_as_single_samples_are() {
        let arith =
            Arithmetic { storage: crate::ir::Scalar::I16, work: crate::ir::Scalar::I32, sum: crate::ir::Scalar::I32 };
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let word = (seed >> 8) as i32;
            // Half of the samples are extremes.
            [i16::MIN, i16::MAX, word as i16, (word >> 4) as i16][(word & 3) as usize]
        };
        for shift in 0..=12 {
            for (op, first, weights) in [
                (Op::Sub, -1, vec![-1, 9, 9, -1]),
                (Op::Add, -2, vec![-1, 9, 9, -1]),
                (Op::Sub, 0, vec![1, 1]),
                (Op::Add, 1, vec![127, -127, 254]),
                (Op::Sub, -4, vec![-8, 21, -46, 161, 161, -46, 21, -8]),
            ] {
                let taps = (first..).zip(weights).map(|(offset, weight)| Tap { offset, weight }).collect();
                let rounding = if shift == 0 { 0 } else { 1 << (shift - 1) };
                let step = Step::Integer(IntegerStep {
                    target: Phase::Odd,
                    op,
                    taps,
                    rounding,
                    shift,
                    mode: RoundingMode::Floor,
                });
                let dots = Dots::of(&step).expect("weights are small");
                for _ in 0..50 {
                    let other: Vec<i16> = (0..16).map(|_| random()).collect();
                    let old = [random(), random()];
                    let pair = |[low, high]: [i16; 2]| i32::from(low) & 0xffff | i32::from(high) << 16;
                    let mut read = |j: i32| {
                        let at = (8 + 2 * j) as usize;
                        Expr::from(pair([other[at], other[at + 1]]))
                    };
                    let was = Expr::from(pair(old));
                    let single = |half: i32| {
                        let mut read = |o: i32| Expr::from(i32::from(other[(8 + half + o) as usize]));
                        let new = step_value(&step, arith, Expr::from(i32::from(old[half as usize])), &mut read);
                        value(&new) as i16
                    };
                    let wanted = [single(0), single(1)];
                    let mut found = |wanted: Wanted| value(&dots.value(wanted, was, &mut read));
                    assert_eq!(found(Wanted::Both), pair(wanted), "{step:?}");
                    assert_eq!(found(Wanted::Low), pair([wanted[0], old[1]]));
                    assert_eq!(found(Wanted::High), pair([old[0], wanted[1]]));
                    // As if the neighbours were samples of two lines; one line begins a sample later.
                    let line = |half: usize| {
                        let register = |j: i32| pair([other[(8 + j) as usize], other[(9 + j) as usize]]);
                        dots.line(half).into_iter().map(|(j, weights)| (Expr::from(register(j)), weights)).collect()
                    };
                    let olds = [0, 1].map(|half| (was, half));
                    assert_eq!(value(&dots.pair(olds, [0, 1].map(line))), pair(wanted));
                    // In words of consecutive samples too, with each old sample in its own word.
                    let words = dots.words();
                    assert_eq!(words.is_empty(), step.index_support().is_none_or(|(lo, hi)| lo == hi));
                    if words.is_empty() {
                        continue;
                    }
                    let olds = old.map(|sample| (Expr::from(pair([sample, random()])), 0));
                    let terms = [0, 1].map(|half| {
                        let word = |j: i32| pair([other[(8 + half + j) as usize], other[(9 + half + j) as usize]]);
                        words.iter().map(|&(j, weights)| (Expr::from(word(j)), weights)).collect()
                    });
                    assert_eq!(value(&dots.pair(olds, terms)), pair(wanted));
                }
            }
        }
    }

    #[test]
    fn steps_with_wrapping_sums_are_refused() {
        let step = |weight: i32, shift: u32| {
            let taps = vec![Tap { offset: 0, weight }];
            Step::Integer(IntegerStep {
                target: Phase::Odd,
                op: Op::Add,
                taps,
                rounding: 0,
                shift,
                mode: RoundingMode::Floor,
            })
        };
        assert!(Dots::of(&step(254, 12)).is_some());
        assert!(Dots::of(&step(255, 12)).is_none());
        assert!(Dots::of(&step(1, 16)).is_none());
    }
}
