//! Binary floating-point numbers with 512 significant bits, for factoring the longest named filters.
//!
//! Double precision does not suffice: the lattice angles of db20 from its published 17-digit taps are wrong in the
//! first digit. Every step of the recursion divides by an outer tap that is 10¹⁵ times smaller than the largest.
//! Starting from 120 digits leaves more than a hundred correct ones.
//!
//! The type is deliberately small. Results are rounded to nearest (halves away from zero) at [`Float::PRECISION`] bits,
//! there is no infinity and no NaN, and the exponent does not overflow.

use crate::core::weight::Weight;
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `mantissa · 2^exponent`, the mantissa at most [`Float::PRECISION`] bits long.
#[derive(Clone)]
pub struct Float {
    mantissa: BigInt,
    exponent: i64,
}

impl Float {
    /// Significant bits of every result.
    pub const PRECISION: u64 = 512;

    /// Zero.
    pub fn zero() -> Float {
        Float { mantissa: BigInt::zero(), exponent: 0 }
    }

    /// A whole number, exactly.
    pub fn integer(n: i64) -> Float {
        Float { mantissa: n.into(), exponent: 0 }
    }

    /// The value of a finite `f64`, exactly; `None` for infinities and NaN.
    pub fn from_f64(x: f64) -> Option<Float> {
        if !x.is_finite() {
            return None;
        }
        let bits = x.to_bits();
        let field = ((bits >> 52) & 0x7ff) as i64;
        let fraction = (bits & ((1 << 52) - 1)) as i64;
        let (magnitude, exponent) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        let mantissa = if x.is_sign_negative() { -magnitude } else { magnitude };
        Some(Float { mantissa: mantissa.into(), exponent })
    }

    /// The nearest value to a rational.
    pub fn from_rational(r: &BigRational) -> Float {
        &Float::rounded(r.numer().clone(), 0) / &Float::rounded(r.denom().clone(), 0)
    }

    /// The exact value as a rational.
    pub fn to_rational(&self) -> BigRational {
        if self.exponent >= 0 {
            BigRational::from_integer(&self.mantissa << self.exponent as u64)
        } else {
            BigRational::new(self.mantissa.clone(), BigInt::one() << (-self.exponent) as u64)
        }
    }

    /// The nearest `f64`, ties to even.
    pub fn to_f64(&self) -> f64 {
        let bits = self.mantissa.bits() as i64;
        if bits == 0 {
            return 0.0;
        }
        let top = bits + self.exponent;
        if !(-900..=1000).contains(&top) {
            return Weight::Rational(self.to_rational()).to_f64();
        }
        let magnitude = self.mantissa.magnitude();
        let dropped = (bits - 64).max(0) as u64;
        let mut head = (magnitude >> dropped).iter_u64_digits().next().unwrap_or(0);
        if dropped > 0 && magnitude.trailing_zeros().is_some_and(|z| z < dropped) {
            // The bits cut off decide ties; one bit below the 53 kept ones represents them all.
            head |= 1;
        }
        let value = head as f64 * 2f64.powi((self.exponent + dropped as i64) as i32);
        if self.mantissa.is_negative() { -value } else { value }
    }

    /// True for zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }

    /// −1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match self.mantissa.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }

    /// The absolute value.
    pub fn abs(&self) -> Float {
        Float { mantissa: self.mantissa.abs(), exponent: self.exponent }
    }

    /// The square root; `None` for negative numbers.
    pub fn sqrt(&self) -> Option<Float> {
        if self.signum() < 0 {
            return None;
        }
        if self.is_zero() {
            return Some(Float::zero());
        }
        // Twice the precision and an even exponent leave at least `PRECISION` bits in the integer root.
        let mut shift = (2 * Float::PRECISION + 2).saturating_sub(self.mantissa.bits()) as i64;
        if (self.exponent - shift) % 2 != 0 {
            shift += 1;
        }
        Some(Float::rounded((&self.mantissa << shift as u64).sqrt(), (self.exponent - shift) / 2))
    }

    /// self · 2^n, exactly.
    pub fn ldexp(&self, n: i64) -> Float {
        Float { mantissa: self.mantissa.clone(), exponent: if self.is_zero() { 0 } else { self.exponent + n } }
    }

    /// Scientific notation with the given number of significant digits (at least one), correctly rounded.
    pub fn to_decimal(&self, digits: u32) -> String {
        if self.is_zero() {
            return "0".into();
        }
        let digits = digits.max(1);
        let (n, d) = {
            let r = self.abs().to_rational();
            (r.numer().clone(), r.denom().clone())
        };
        let ten = |e: i64| BigInt::from(10).pow(e as u32);
        // An estimate of the decimal exponent, off by at most one; corrected below.
        let mut e = ((n.bits() as f64 - d.bits() as f64) * std::f64::consts::LOG10_2).floor() as i64;
        loop {
            let scale = i64::from(digits) - 1 - e;
            let (n, d) = if scale >= 0 { (&n * ten(scale), d.clone()) } else { (n.clone(), &d * ten(-scale)) };
            let quotient: BigInt = (BigInt::from(2) * n + &d) / (BigInt::from(2) * d);
            let text = quotient.to_string();
            match text.len().cmp(&(digits as usize)) {
                Ordering::Less => e -= 1,
                Ordering::Greater => e += 1,
                Ordering::Equal => {
                    let sign = if self.signum() < 0 { "-" } else { "" };
                    let (head, tail) = text.split_at(1);
                    let point = if tail.is_empty() { "" } else { "." };
                    return format!("{sign}{head}{point}{tail}e{e}");
                }
            }
        }
    }

    /// Rounds `mantissa · 2^exponent` to the precision.
    fn rounded(mantissa: BigInt, exponent: i64) -> Float {
        let excess = mantissa.bits().saturating_sub(Float::PRECISION);
        if excess == 0 {
            let exponent = if mantissa.is_zero() { 0 } else { exponent };
            return Float { mantissa, exponent };
        }
        let (sign, magnitude) = mantissa.into_parts();
        let up = magnitude.bit(excess - 1);
        let kept = (magnitude >> excess) + u32::from(up);
        Float { mantissa: BigInt::from_biguint(sign, kept), exponent: exponent + excess as i64 }
    }

    /// Position of the bit above the leading one: |self| < 2^top.
    fn top(&self) -> i64 {
        self.mantissa.bits() as i64 + self.exponent
    }

    fn sum(&self, other: &Float, negate: bool) -> Float {
        let signed = |m: BigInt| if negate { -m } else { m };
        if other.is_zero() {
            return self.clone();
        }
        if self.is_zero() {
            return Float { mantissa: signed(other.mantissa.clone()), exponent: other.exponent };
        }
        let reach = 2 * Float::PRECISION as i64;
        if self.top() > other.top() + reach {
            return self.clone();
        }
        if other.top() > self.top() + reach {
            return Float { mantissa: signed(other.mantissa.clone()), exponent: other.exponent };
        }
        let exponent = self.exponent.min(other.exponent);
        let mut total = &self.mantissa << (self.exponent - exponent) as u64;
        let term = &other.mantissa << (other.exponent - exponent) as u64;
        if negate {
            total -= term;
        } else {
            total += term;
        }
        Float::rounded(total, exponent)
    }
}

impl Add for &Float {
    type Output = Float;
    fn add(self, other: &Float) -> Float {
        self.sum(other, false)
    }
}

impl Sub for &Float {
    type Output = Float;
    fn sub(self, other: &Float) -> Float {
        self.sum(other, true)
    }
}

impl Mul for &Float {
    type Output = Float;
    fn mul(self, other: &Float) -> Float {
        Float::rounded(&self.mantissa * &other.mantissa, self.exponent + other.exponent)
    }
}

impl Div for &Float {
    type Output = Float;

    /// # Panics
    /// If `other` is zero.
    fn div(self, other: &Float) -> Float {
        assert!(!other.is_zero(), "division of a Float by zero");
        let wanted = Float::PRECISION + 2 + other.mantissa.bits();
        let shift = wanted.saturating_sub(self.mantissa.bits());
        Float::rounded((&self.mantissa << shift) / &other.mantissa, self.exponent - other.exponent - shift as i64)
    }
}

impl Neg for &Float {
    type Output = Float;
    fn neg(self) -> Float {
        Float { mantissa: -&self.mantissa, exponent: self.exponent }
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Float) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Float) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Float) -> Ordering {
        let sign = self.signum().cmp(&other.signum());
        if sign != Ordering::Equal || self.is_zero() {
            return sign;
        }
        let magnitude = self.top().cmp(&other.top());
        if magnitude != Ordering::Equal {
            return if self.signum() > 0 { magnitude } else { magnitude.reverse() };
        }
        let exponent = self.exponent.min(other.exponent);
        let scaled = |x: &Float| &x.mantissa << (x.exponent - exponent) as u64;
        scaled(self).cmp(&scaled(other))
    }
}

impl fmt::Debug for Float {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_decimal(20))
    }
}

impl fmt::Display for Float {
    /// Scientific notation; the precision is the number of significant digits (default 17).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_decimal(f.precision().unwrap_or(17) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(x: f64) -> Float {
        Float::from_f64(x).unwrap()
    }

    fn close(a: &Float, b: &Float) -> bool {
        (a - b).is_zero() || (a - b).top() <= b.top() - 508
    }

    #[test]
    fn f64_goes_in_and_out_unchanged() {
        let mut bits = 0x0123_4567_89ab_cdefu64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = f64::from_bits(bits);
            if x.is_finite() {
                assert_eq!(float(x).to_f64(), x);
            }
        }
        for x in [0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, -1.0, 0.1] {
            assert_eq!(float(x).to_f64(), x);
        }
        assert!(Float::from_f64(f64::NAN).is_none() && Float::from_f64(f64::INFINITY).is_none());
    }

    #[test]
    fn to_f64_rounds_once_and_to_even() {
        let one = Float::integer(1);
        let half_ulp = one.ldexp(-53);
        assert_eq!((&one + &half_ulp).to_f64(), 1.0);
        assert_eq!((&(&one + &half_ulp) + &one.ldexp(-300)).to_f64(), 1.0 + f64::EPSILON);
        assert_eq!((&(&one + &half_ulp.ldexp(1)) + &half_ulp).to_f64(), 1.0 + 2.0 * f64::EPSILON);
    }

    #[test]
    fn arithmetic_agrees_with_rationals() {
        let third = Float::from_rational(&BigRational::new(1.into(), 3.into()));
        let sum = &(&third + &third) + &third;
        assert!(close(&sum, &Float::integer(1)));
        assert!(close(
            &(&Float::integer(10) / &Float::integer(-7)),
            &Float::from_rational(&BigRational::new((-10).into(), 7.into()))
        ));
        let root = Float::integer(2).sqrt().unwrap();
        assert!(close(&(&root * &root), &Float::integer(2)));
        assert_eq!(root.to_f64(), std::f64::consts::SQRT_2);
        assert_eq!(Float::integer(144).sqrt().unwrap(), Float::integer(12));
        assert!(Float::integer(-1).sqrt().is_none());
        assert_eq!(&float(1e-300) + &float(1e300).ldexp(4000), float(1e300).ldexp(4000));
        assert_eq!(&Float::zero() - &float(2.5), float(-2.5));
    }

    #[test]
    fn order_is_that_of_the_values() {
        let mut values = [-2.0, 1e-9, 0.0, 3.5, -1e-30, 3.0, 0.1, 4.0];
        let mut floats: Vec<Float> = values.iter().map(|&x| float(x)).collect();
        values.sort_by(f64::total_cmp);
        floats.sort();
        assert_eq!(floats.iter().map(Float::to_f64).collect::<Vec<_>>(), values);
        assert_eq!(Float::integer(4), Float::integer(1).ldexp(2));
    }

    #[test]
    fn decimals() {
        assert_eq!(Float::integer(2).sqrt().unwrap().to_decimal(30), "1.41421356237309504880168872421e0");
        assert_eq!(float(-0.001).to_decimal(3), "-1.00e-3");
        assert_eq!(float(9.9996).to_decimal(4), "1.000e1");
        assert_eq!(float(123456.0).to_decimal(1), "1e5");
        assert_eq!(Float::zero().to_string(), "0");
    }
}
