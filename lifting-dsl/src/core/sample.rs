//! Sample types, and the arithmetic of lifting steps on each.
//!
//! A [`Sample`] is an element of an array. A level is computed in its [`Sample::Work`]: the type itself, except that
//! `f16` and `bf16` are storage only and computed in `f32`. [`Arithmetic`] defines wrapping and rounding in one place,
//! for the oracle and for plans on CPUs alike.

use crate::core::scheme::Domain;
use crate::core::scheme::RoundingMode;
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

/// A sample type: `i16`, `i32`, `i64`, `f32`, `f64`, `half::f16` or `half::bf16`. Sealed.
pub trait Sample: sealed::Sealed + Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// The type as a value.
    const KIND: SampleType;

    /// The type in which a level is computed: `f32` for `f16` and `bf16`, else the type itself.
    type Work: Arithmetic;

    /// Conversion to the work type; exact.
    fn to_work(self) -> Self::Work;

    /// Conversion from the work type; rounds once, to nearest even, where the work type is wider.
    fn from_work(work: Self::Work) -> Self;

    /// Conversion of a whole number: wraps to an integer type, rounds to a floating one.
    fn from_i64(value: i64) -> Self;

    /// The nearest `f64`; exact for all types but `i64`.
    fn to_f64(self) -> f64;
}

/// The arithmetic of steps on a work type. Sealed, like [`Sample`].
///
/// Integer steps are `x ∓= (Σ weight·read + rounding) >> shift` with the sum in [`Arithmetic::Acc`], all of it
/// wrapping. Real ones are `x ∓= Σ weight·(Σ read)`, every operation rounded once. An operation that a domain lacks is
/// the identity there.
pub trait Arithmetic: Sample<Work = Self> {
    /// The type of weights and sums: `i32` for `i16` and `i32`, else the type itself.
    type Acc: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// The weight 1.
    const ONE: Self::Acc;
    /// Whether steps are real.
    const REAL: bool;

    /// The weight or rounding constant of an integer step.
    fn integer(value: i32) -> Self::Acc;
    /// The weight of a real step, rounded once; for an integer type, truncated toward zero.
    fn real(weight: &Weight) -> Self::Acc;
    /// The value as an accumulator; exact.
    fn widen(self) -> Self::Acc;
    /// `sum + weight·read`: wrapping, or rounded twice.
    fn mul_add(sum: Self::Acc, weight: Self::Acc, read: Self::Acc) -> Self::Acc;
    /// `a + b`: wrapping, or rounded once.
    fn add(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// `a · b`: wrapping, or rounded once.
    fn mul(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// `−a`.
    fn neg(a: Self::Acc) -> Self::Acc;
    /// Arithmetic shift right; reals are unchanged.
    fn shift(a: Self::Acc, bits: u32) -> Self::Acc;
    /// Arithmetic shift right by 1 to 30 bits, rounded in this direction; reals are unchanged.
    fn rounded(a: Self::Acc, bits: u32, mode: RoundingMode) -> Self::Acc;
    /// `self + a`, or `self − a`, wrapped to this type.
    fn updated(self, subtract: bool, a: Self::Acc) -> Self;
    /// `self · a`: wrapping, or rounded once.
    fn scaled(self, a: Self::Acc) -> Self;
    /// `self << bits`, wrapping: the gain shift before analysis. Reals are unchanged.
    fn gain(self, bits: u32) -> Self;
    /// `(self + 2^(bits−1)) >> bits` in the accumulator, wrapping: undoes [`Arithmetic::gain`] after synthesis.
    fn ungain(self, bits: u32) -> Self;
    /// Twice the sample, wrapping: reversible JPEG 2000 does this to a lone sample at an odd origin.
    fn doubled(self) -> Self;
    /// Half the sample, rounded down for integers: undoes [`Arithmetic::doubled`].
    fn halved(self) -> Self;
}

/// The `Sample` implementation of a type that is its own work type.
macro_rules! own_work {
    ($t:ident $kind:ident) => {
        impl sealed::Sealed for $t {}

        impl Sample for $t {
            const KIND: SampleType = SampleType::$kind;
            type Work = $t;
            #[inline(always)]
            fn to_work(self) -> $t {
                self
            }
            #[inline(always)]
            fn from_work(work: $t) -> $t {
                work
            }
            fn from_i64(value: i64) -> $t {
                value as $t
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    };
}

macro_rules! integer {
    ($($t:ident $kind:ident $acc:ident;)*) => {$(
        own_work! { $t $kind }

        impl Arithmetic for $t {
            type Acc = $acc;
            const ONE: $acc = 1;
            const REAL: bool = false;
            fn integer(value: i32) -> $acc {
                $acc::from(value)
            }
            fn real(weight: &Weight) -> $acc {
                weight.to_f64() as $acc
            }
            #[inline(always)]
            fn widen(self) -> $acc {
                self as $acc
            }
            #[inline(always)]
            fn mul_add(sum: $acc, weight: $acc, read: $acc) -> $acc {
                sum.wrapping_add(weight.wrapping_mul(read))
            }
            #[inline(always)]
            fn add(a: $acc, b: $acc) -> $acc {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn mul(a: $acc, b: $acc) -> $acc {
                a.wrapping_mul(b)
            }
            #[inline(always)]
            fn neg(a: $acc) -> $acc {
                a.wrapping_neg()
            }
            #[inline(always)]
            fn shift(a: $acc, bits: u32) -> $acc {
                a >> bits
            }
            #[inline(always)]
            fn rounded(a: $acc, bits: u32, mode: RoundingMode) -> $acc {
                let (negative, half) = (a >> ($acc::BITS - 1), (1 << bits) >> 1);
                let correction = match mode {
                    RoundingMode::Floor => 0,
                    RoundingMode::Truncate => negative & ((1 << bits) - 1),
                    RoundingMode::HalfEven => half - 1 + ((a >> bits) & 1),
                    RoundingMode::HalfAway => half + negative,
                };
                a.wrapping_add(correction) >> bits
            }
            #[inline(always)]
            fn updated(self, subtract: bool, a: $acc) -> $t {
                // Truncation and wrapping addition commute: this is the wide sum, wrapped.
                if subtract { self.wrapping_sub(a as $t) } else { self.wrapping_add(a as $t) }
            }
            #[inline(always)]
            fn scaled(self, a: $acc) -> $t {
                self.wrapping_mul(a as $t)
            }
            #[inline(always)]
            fn gain(self, bits: u32) -> $t {
                self.wrapping_shl(bits)
            }
            #[inline(always)]
            fn ungain(self, bits: u32) -> $t {
                (self as $acc).wrapping_add((1 << bits) >> 1).wrapping_shr(bits) as $t
            }
            #[inline(always)]
            fn doubled(self) -> $t {
                self.wrapping_shl(1)
            }
            #[inline(always)]
            fn halved(self) -> $t {
                self >> 1
            }
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
        own_work! { $t $kind }

        impl Arithmetic for $t {
            type Acc = $t;
            const ONE: $t = 1.0;
            const REAL: bool = true;
            fn integer(value: i32) -> $t {
                value as $t
            }
            fn real(weight: &Weight) -> $t {
                weight.$round()
            }
            #[inline(always)]
            fn widen(self) -> $t {
                self
            }
            #[inline(always)]
            fn mul_add(sum: $t, weight: $t, read: $t) -> $t {
                sum + weight * read
            }
            #[inline(always)]
            fn add(a: $t, b: $t) -> $t {
                a + b
            }
            #[inline(always)]
            fn mul(a: $t, b: $t) -> $t {
                a * b
            }
            #[inline(always)]
            fn neg(a: $t) -> $t {
                -a
            }
            #[inline(always)]
            fn shift(a: $t, _: u32) -> $t {
                a
            }
            #[inline(always)]
            fn rounded(a: $t, _: u32, _: RoundingMode) -> $t {
                a
            }
            #[inline(always)]
            fn updated(self, subtract: bool, a: $t) -> $t {
                if subtract { self - a } else { self + a }
            }
            #[inline(always)]
            fn scaled(self, a: $t) -> $t {
                self * a
            }
            #[inline(always)]
            fn gain(self, _: u32) -> $t {
                self
            }
            #[inline(always)]
            fn ungain(self, _: u32) -> $t {
                self
            }
            #[inline(always)]
            fn doubled(self) -> $t {
                2.0 * self
            }
            #[inline(always)]
            fn halved(self) -> $t {
                0.5 * self
            }
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
            #[inline(always)]
            fn to_work(self) -> f32 {
                self.to_f32()
            }
            #[inline(always)]
            fn from_work(work: f32) -> $t {
                $t::from_f32(work)
            }
            fn from_i64(value: i64) -> $t {
                $t::from_f64(value as f64)
            }
            fn to_f64(self) -> f64 {
                $t::to_f64(self)
            }
        }
    )*};
}

storage! {
    f16 F16;
    bf16 Bf16;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every mode is the exact quotient, rounded, wherever the corrected sum does not wrap; and wraps elsewhere.
    #[test]
    fn shifts_round_as_their_modes_say() {
        let sums = (-70..70).chain([i32::MIN, i32::MIN + 1, i32::MIN + 7, i32::MAX - 7, i32::MAX - 1, i32::MAX]);
        for sum in sums {
            for shift in (1..=6).chain([15, 29, 30]) {
                let (unit, sum64) = (1i64 << shift, i64::from(sum));
                let away = (2 * sum64.abs() + unit) / (2 * unit) * sum64.signum();
                let tie = (2 * sum64).rem_euclid(2 * unit) == unit;
                let floor = sum64.div_euclid(unit);
                let even = if tie { floor + floor.rem_euclid(2) } else { (2 * sum64 + unit).div_euclid(2 * unit) };
                let quotients = [floor, sum64 / unit, even, away];
                for (mode, quotient) in RoundingMode::ALL.into_iter().zip(quotients) {
                    assert_eq!(i64::rounded(sum64, shift, mode), quotient, "{mode:?} {sum} >> {shift}");
                    let reaches = matches!(mode, RoundingMode::HalfEven | RoundingMode::HalfAway)
                        && quotient > floor
                        && quotient * unit > i64::from(i32::MAX);
                    let expected = if reaches { quotient - (1i64 << (32 - shift)) } else { quotient };
                    assert_eq!(i64::from(i32::rounded(sum, shift, mode)), expected, "{mode:?} {sum} >> {shift}");
                    assert_eq!(i16::rounded(sum, shift, mode), i32::rounded(sum, shift, mode));
                }
            }
        }
    }
}
