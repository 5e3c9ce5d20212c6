//! Sample types, and the arithmetic of one lifting step on each.
//!
//! A [`Sample`] is what an array holds. Its [`Sample::Work`] is what a level is computed in: the type itself, except
//! that `f16` and `bf16` are storage only and computed in `f32`. [`Arithmetic`] is a step on slices of a work type:
//! the single place where the exact meaning of a step is code.

use crate::core::scheme::{Domain, IntegerStep, Op, RealStep, Step};
use crate::core::weight::Weight;
use half::{bf16, f16};
use std::fmt;

/// The sample types, by their Rust names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SampleType {
    /// 16-bit integers; steps accumulate in 32 bits.
    I16,
    /// 32-bit integers; steps accumulate in 32 bits.
    I32,
    /// 64-bit integers; steps accumulate in 64 bits.
    I64,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Half precision, storage only: a level is computed in `f32` and rounded once.
    F16,
    /// bfloat16, storage only: a level is computed in `f32` and rounded once.
    Bf16,
}

impl SampleType {
    /// All sample types.
    pub const ALL: [SampleType; 7] = [
        SampleType::I16,
        SampleType::I32,
        SampleType::I64,
        SampleType::F32,
        SampleType::F64,
        SampleType::F16,
        SampleType::Bf16,
    ];

    /// The Rust name: `i16`, `i32`, `i64`, `f32`, `f64`, `f16`, `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            SampleType::I16 => "i16",
            SampleType::I32 => "i32",
            SampleType::I64 => "i64",
            SampleType::F32 => "f32",
            SampleType::F64 => "f64",
            SampleType::F16 => "f16",
            SampleType::Bf16 => "bf16",
        }
    }

    /// The domain whose wavelets run on this type.
    pub fn domain(self) -> Domain {
        match self {
            SampleType::I16 | SampleType::I32 | SampleType::I64 => Domain::Integer,
            SampleType::F32 | SampleType::F64 | SampleType::F16 | SampleType::Bf16 => Domain::Real,
        }
    }

    /// Size of one sample in memory, in bytes.
    pub fn bytes(self) -> usize {
        match self {
            SampleType::I16 | SampleType::F16 | SampleType::Bf16 => 2,
            SampleType::I32 | SampleType::F32 => 4,
            SampleType::I64 | SampleType::F64 => 8,
        }
    }
}

impl fmt::Display for SampleType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for SampleType {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        SampleType::ALL.into_iter().find(|t| t.name() == s).ok_or_else(|| {
            let names: Vec<_> = SampleType::ALL.iter().map(|t| t.name()).collect();
            format!("unknown sample type `{s}`; choose one of {}", names.join(", "))
        })
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type of samples: `i16`, `i32`, `i64`, `f32`, `f64`, `half::f16` or `half::bf16`. Sealed.
pub trait Sample: sealed::Sealed + Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// Which type this is, as a value.
    const KIND: SampleType;

    /// The type that a level is computed in: `f32` for `f16` and `bf16`, else the type itself.
    type Work: Arithmetic;

    /// To the work type; exact.
    fn widen(self) -> Self::Work;

    /// From the work type; rounds once, to nearest even, where the work type is wider.
    fn narrow(work: Self::Work) -> Self;

    /// From a whole number: wraps to an integer type, rounds to a floating one.
    fn from_i64(value: i64) -> Self;

    /// The nearest `f64`; exact for all types but `i64`.
    fn to_f64(self) -> f64;
}

/// A step with its weights in the type that computes it. Made by [`Arithmetic::resolve`].
#[derive(Clone, Debug)]
pub enum Resolved<A> {
    /// `target op= (Σ weight·other[offset] + rounding) >> shift`.
    Integer {
        /// Add or subtract.
        op: Op,
        /// Offsets and weights.
        taps: Vec<(i32, A)>,
        /// Added before the shift.
        rounding: A,
        /// Arithmetic right shift.
        shift: u32,
    },
    /// `target op= Σ weight·(Σ other[offset])`.
    Real {
        /// Add or subtract.
        op: Op,
        /// Weights and the offsets that share them.
        groups: Vec<(A, Vec<i32>)>,
    },
    /// `target *= factor`.
    Scale {
        /// The factor.
        factor: A,
    },
}

/// The arithmetic of steps on a work type. Sealed, as [`Sample`] is.
pub trait Arithmetic: Sample<Work = Self> {
    /// What weights and sums are held in: `i32` for `i16` and `i32`, else the type itself.
    type Accumulator: Copy + fmt::Debug + Send + Sync;

    /// A step with its weights rounded once to this type; `None` if the step is of the other domain.
    fn resolve(step: &Step) -> Option<Resolved<Self::Accumulator>>;

    /// Executes one step on consecutive targets. `other(o)` gives what offset `o` reads for these targets: a slice of
    /// the same length.
    fn apply<'a>(step: &Resolved<Self::Accumulator>, target: &mut [Self], other: impl Fn(i32) -> &'a [Self]);

    /// `self << shift`, wrapping; integers only: floating samples come back as they are.
    fn gain(self, shift: u32) -> Self;

    /// `(self + 2^(shift−1)) >> shift` in the accumulator, wrapping; integers only, as [`Arithmetic::gain`].
    fn ungain(self, shift: u32) -> Self;

    /// Twice the sample, wrapping: what reversible JPEG 2000 does to a lone sample at an odd origin.
    fn double(self) -> Self;

    /// Half the sample, rounded down on integers: undoes [`Arithmetic::double`].
    fn halve(self) -> Self;
}

/// Targets are computed so many at a time, tap by tap: the sums stay in registers or L1, and the loops vectorise.
const CHUNK: usize = 64;

macro_rules! integer {
    ($($t:ident $kind:ident $acc:ident;)*) => {$(
        impl sealed::Sealed for $t {}

        impl Sample for $t {
            const KIND: SampleType = SampleType::$kind;
            type Work = $t;
            fn widen(self) -> $t { self }
            fn narrow(work: $t) -> $t { work }
            fn from_i64(value: i64) -> $t { value as $t }
            fn to_f64(self) -> f64 { self as f64 }
        }

        impl Arithmetic for $t {
            type Accumulator = $acc;

            fn resolve(step: &Step) -> Option<Resolved<$acc>> {
                let Step::Integer(IntegerStep { op, taps, rounding, shift, .. }) = step else { return None };
                let taps = taps.iter().map(|tap| (tap.offset, $acc::from(tap.weight))).collect();
                Some(Resolved::Integer { op: *op, taps, rounding: $acc::from(*rounding), shift: *shift })
            }

            fn apply<'a>(step: &Resolved<$acc>, target: &mut [$t], other: impl Fn(i32) -> &'a [$t]) {
                let Resolved::Integer { op, taps, rounding, shift } = step else {
                    unreachable!("`resolve` makes integer steps only")
                };
                let mut sums = [0 as $acc; CHUNK];
                for (chunk, target) in target.chunks_mut(CHUNK).enumerate() {
                    let sums = &mut sums[..target.len()];
                    sums.fill(*rounding);
                    for (offset, weight) in taps {
                        let read = &other(*offset)[chunk * CHUNK..][..sums.len()];
                        for (sum, x) in sums.iter_mut().zip(read) {
                            *sum = sum.wrapping_add(weight.wrapping_mul($acc::from(*x)));
                        }
                    }
                    match op {
                        Op::Add => target.iter_mut().zip(sums).for_each(|(t, s)| *t = t.wrapping_add((*s >> shift) as $t)),
                        Op::Sub => target.iter_mut().zip(sums).for_each(|(t, s)| *t = t.wrapping_sub((*s >> shift) as $t)),
                    }
                }
            }

            fn gain(self, shift: u32) -> $t { self.wrapping_shl(shift) }

            fn ungain(self, shift: u32) -> $t {
                let half: $acc = (1 << shift) >> 1;
                ($acc::from(self).wrapping_add(half) >> shift) as $t
            }

            fn double(self) -> $t { self.wrapping_shl(1) }
            fn halve(self) -> $t { self >> 1 }
        }
    )*};
}

integer! {
    i16 I16 i32;
    i32 I32 i32;
    i64 I64 i64;
}

macro_rules! real {
    ($($t:ident $kind:ident $round:ident;)*) => {$(
        impl sealed::Sealed for $t {}

        impl Sample for $t {
            const KIND: SampleType = SampleType::$kind;
            type Work = $t;
            fn widen(self) -> $t { self }
            fn narrow(work: $t) -> $t { work }
            fn from_i64(value: i64) -> $t { value as $t }
            fn to_f64(self) -> f64 { f64::from(self) }
        }

        impl Arithmetic for $t {
            type Accumulator = $t;

            fn resolve(step: &Step) -> Option<Resolved<$t>> {
                let round = |w: &Weight| w.$round();
                match step {
                    Step::Integer(_) => None,
                    Step::Real(RealStep { op, groups, .. }) => {
                        let groups = groups.iter().map(|g| (round(&g.weight), g.offsets.clone())).collect();
                        Some(Resolved::Real { op: *op, groups })
                    }
                    Step::Scale(s) => Some(Resolved::Scale { factor: round(&s.factor) }),
                }
            }

            fn apply<'a>(step: &Resolved<$t>, target: &mut [$t], other: impl Fn(i32) -> &'a [$t]) {
                let (op, groups) = match step {
                    Resolved::Real { op, groups } => (op, groups),
                    Resolved::Scale { factor } => return target.iter_mut().for_each(|t| *t *= factor),
                    Resolved::Integer { .. } => unreachable!("`resolve` makes no integer steps"),
                };
                let (mut totals, mut sums) = ([0 as $t; CHUNK], [0 as $t; CHUNK]);
                for (chunk, target) in target.chunks_mut(CHUNK).enumerate() {
                    let read = |offset: i32| &other(offset)[chunk * CHUNK..][..target.len()];
                    let (totals, sums) = (&mut totals[..target.len()], &mut sums[..target.len()]);
                    for (g, (weight, offsets)) in groups.iter().enumerate() {
                        sums.copy_from_slice(read(offsets[0]));
                        for offset in &offsets[1..] {
                            sums.iter_mut().zip(read(*offset)).for_each(|(sum, x)| *sum += x);
                        }
                        // A product with 1 or −1 is exact: the same bits as no multiplication.
                        if g == 0 {
                            totals.iter_mut().zip(&*sums).for_each(|(total, sum)| *total = weight * sum);
                        } else {
                            totals.iter_mut().zip(&*sums).for_each(|(total, sum)| *total += weight * sum);
                        }
                    }
                    match op {
                        Op::Add => target.iter_mut().zip(totals).for_each(|(t, s)| *t += *s),
                        Op::Sub => target.iter_mut().zip(totals).for_each(|(t, s)| *t -= *s),
                    }
                }
            }

            fn gain(self, _: u32) -> $t { self }
            fn ungain(self, _: u32) -> $t { self }
            fn double(self) -> $t { 2.0 * self }
            fn halve(self) -> $t { 0.5 * self }
        }
    )*};
}

real! {
    f32 F32 to_f32;
    f64 F64 to_f64;
}

macro_rules! storage {
    ($($t:ident $kind:ident;)*) => {$(
        impl sealed::Sealed for $t {}

        impl Sample for $t {
            const KIND: SampleType = SampleType::$kind;
            type Work = f32;
            fn widen(self) -> f32 { self.to_f32() }
            fn narrow(work: f32) -> $t { $t::from_f32(work) }
            fn from_i64(value: i64) -> $t { $t::from_f64(value as f64) }
            fn to_f64(self) -> f64 { $t::to_f64(self) }
        }
    )*};
}

storage! {
    f16 F16;
    bf16 Bf16;
}
