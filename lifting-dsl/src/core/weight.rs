//! Weights of real steps: exact if rational, else the `f64` nearest to an irrational constant.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Most bits of the numerator and of the denominator of a rational; f64's whole range needs 1,100.
pub const MAX_BITS: u64 = 4096;

/// A real weight. A rational one is kept exactly and rounded once, to the sample type at hand. An irrational one
/// (through `sqrt`) is evaluated in `f64` first.
#[derive(Clone, Debug, PartialEq)]
pub enum Weight {
    /// An exact rational.
    Rational(BigRational),
    /// The value of an irrational constant expression, in `f64`. Finite.
    Irrational(f64),
}

impl Weight {
    /// A whole number.
    pub fn integer(n: i64) -> Weight {
        Weight::Rational(BigRational::from_integer(n.into()))
    }

    /// The nearest `f64`, ties to even.
    pub fn to_f64(&self) -> f64 {
        match self {
            Weight::Rational(r) => f64::from_bits(round_rational(r, 53, -1074, 1024)),
            Weight::Irrational(x) => *x,
        }
    }

    /// The nearest `f32`: of the rational itself (one rounding), or of the `f64` value of an irrational.
    pub fn to_f32(&self) -> f32 {
        match self {
            // A value rounded to 24 significant bits and f32's exponent range is exact in f64 and in f32.
            Weight::Rational(r) => f64::from_bits(round_rational(r, 24, -149, 128)) as f32,
            Weight::Irrational(x) => *x as f32,
        }
    }

    /// The exact value; for an irrational constant, that of its `f64`.
    pub fn to_rational(&self) -> BigRational {
        match self {
            Weight::Rational(r) => r.clone(),
            Weight::Irrational(x) => rational_of_f64(*x).unwrap_or_else(BigRational::zero),
        }
    }

    /// 1/self; exact for rationals. Weights are never zero.
    pub fn recip(&self) -> Weight {
        match self {
            Weight::Rational(r) => Weight::Rational(r.recip()),
            Weight::Irrational(x) => Weight::Irrational(1.0 / x),
        }
    }

    /// −self.
    pub fn neg(&self) -> Weight {
        match self {
            Weight::Rational(r) => Weight::Rational(-r),
            Weight::Irrational(x) => Weight::Irrational(-x),
        }
    }

    /// Exactly one.
    pub fn is_one(&self) -> bool {
        matches!(self, Weight::Rational(r) if r.is_one()) || matches!(self, Weight::Irrational(x) if *x == 1.0)
    }

    /// Exactly minus one.
    pub fn is_minus_one(&self) -> bool {
        self.neg().is_one()
    }

    /// Exactly zero.
    pub fn is_zero(&self) -> bool {
        match self {
            Weight::Rational(r) => r.is_zero(),
            Weight::Irrational(x) => *x == 0.0,
        }
    }
}

/// Rounds a rational to a binary format with `precision` significant bits, smallest positive value 2^`min_exp` and
/// overflow at 2^`max_exp`; ties to even. Returns the bits of an `f64`, which holds every such value exactly.
fn round_rational(r: &BigRational, precision: i64, min_exp: i64, max_exp: i64) -> u64 {
    let sign = if r.is_negative() { 1u64 << 63 } else { 0 };
    let (n, d) = (r.numer().magnitude(), r.denom().magnitude());
    if n.is_zero() {
        return 0;
    }
    // 2^(e-1) < |r| < 2^(e+1), so the last kept bit is 2^q with q as below, or one higher.
    let e = n.bits() as i64 - d.bits() as i64;
    let mut q = (e - precision).max(min_exp);
    let quotient = |q: i64| -> (BigUint, BigUint, BigUint) {
        let (n, d) = if q >= 0 { (n.clone(), d << q as u64) } else { (n << (-q) as u64, d.clone()) };
        let (quo, rem) = n.div_rem(&d);
        (quo, rem, d)
    };
    let (mut quo, mut rem, mut den) = quotient(q);
    if quo.bits() as i64 > precision {
        q += 1;
        (quo, rem, den) = quotient(q);
    }
    let twice = rem << 1u32;
    if twice > den || (twice == den && quo.bit(0)) {
        quo += 1u32;
    }
    let Some(mantissa) = quo.to_u64() else { return sign | f64::INFINITY.to_bits() };
    if mantissa == 0 {
        return sign;
    }
    if mantissa.ilog2() as i64 + q >= max_exp {
        return sign | f64::INFINITY.to_bits();
    }
    // mantissa has at most 53 bits (54 only as an exact power of two), so this product is exact.
    sign | ldexp(mantissa as f64, q).to_bits()
}

/// x·2^q, where the result is representable.
fn ldexp(x: f64, q: i64) -> f64 {
    // In two factors, as 2^q alone may be out of range.
    let half = q / 2;
    x * 2f64.powi(half as i32) * 2f64.powi((q - half) as i32)
}

/// The exact rational value of a finite `f64`.
pub fn rational_of_f64(x: f64) -> Option<BigRational> {
    BigRational::from_float(x)
}

/// The exact square root of a rational that is a perfect square.
pub fn exact_sqrt(r: &BigRational) -> Option<BigRational> {
    if r.is_negative() {
        return None;
    }
    let root = |b: &BigInt| {
        let s = b.sqrt();
        (&s * &s == *b).then_some(s)
    };
    debug_assert!(r.denom().sign() == Sign::Plus);
    Some(BigRational::new(root(r.numer())?, root(r.denom())?))
}

/// Whether the language keeps the rational exactly.
pub(crate) fn fits(r: &BigRational) -> bool {
    r.numer().bits() <= MAX_BITS && r.denom().bits() <= MAX_BITS
}

/// Whether the f64 nearest to a weight, and that of its reciprocal, are finite and not zero.
pub(crate) fn invertible(w: &Weight) -> bool {
    in_range(w) && in_range(&w.recip())
}

/// Whether the f64 nearest to a weight is finite and not zero.
pub(crate) fn in_range(w: &Weight) -> bool {
    let x = w.to_f64();
    x.is_finite() && !x.is_zero()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(n: i64, d: i64) -> Weight {
        Weight::Rational(BigRational::new(n.into(), d.into()))
    }

    #[test]
    fn rationals_round_once() {
        assert_eq!(ratio(1, 3).to_f64(), 1.0 / 3.0);
        assert_eq!(ratio(-1, 3).to_f32(), -1.0f32 / 3.0);
        assert_eq!(ratio(1, 1 << 40).to_f64(), 2f64.powi(-40));
        // Halfway between two f32 plus a hair that f64 would lose: rounding through f64 would tie to even.
        let hair = BigRational::new(BigInt::one(), BigInt::one() << 80u32);
        let half = BigRational::new(((1i64 << 24) + 1).into(), (1i64 << 24).into());
        assert_eq!(Weight::Rational(half.clone()).to_f32(), 1.0);
        assert_eq!(Weight::Rational(half + hair).to_f32(), 1.0 + f32::EPSILON);
    }

    #[test]
    fn the_ends_of_the_range() {
        let two = BigRational::from_integer(2.into());
        let at = |e: i32| Weight::Rational(num_traits::Pow::pow(&two, e));
        assert_eq!(at(-149).to_f32(), f32::from_bits(1));
        assert_eq!(at(-150).to_f32(), 0.0);
        assert_eq!(at(-1074).to_f64(), f64::from_bits(1));
        assert_eq!(at(127).to_f32(), 2f32.powi(127));
        assert_eq!(at(128).to_f32(), f32::INFINITY);
        assert_eq!(at(1024).to_f64(), f64::INFINITY);
    }

    #[test]
    fn every_f64_survives_the_way_through_its_rational() {
        let mut bits = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..10_000 {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = f64::from_bits(bits);
            if x.is_finite() {
                assert_eq!(Weight::Rational(rational_of_f64(x).unwrap()).to_f64().to_bits(), (x + 0.0).to_bits());
                let y = x as f32;
                if y.is_finite() {
                    assert_eq!(Weight::Rational(rational_of_f64(x).unwrap()).to_f32(), y);
                }
            }
        }
    }
}
