//! Values of numbers and constant expressions.
//!
//! They are exact while rational, and `f64` after a square root. Size and work are bounded, so a hostile text costs
//! only moments.

use crate::core::weight::{Weight, exact_sqrt, fits};
use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{Num, One, Pow, Signed, ToPrimitive, Zero};

/// Most digits of a number: those of [`MAX_BITS`](crate::core::weight::MAX_BITS) bits in decimal.
const MAX_DIGITS: usize = 1300;
/// Most work for all constants of one text; see [`Arithmetic::spend`].
const MAX_WORK: u64 = 1 << 21;

/// Reason for the lack of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The numerator or denominator exceeds [`MAX_BITS`](crate::core::weight::MAX_BITS).
    TooLong,
    /// All constants together exceed [`MAX_WORK`].
    TooMuchWork,
    /// An irrational value that f64 cannot hold.
    NotFinite,
    /// Division by zero.
    ZeroDivisor,
    /// Square root of a negative number.
    NegativeRoot,
    /// An error that was already reported.
    Reported,
}

/// Whether the number is whole, such as `12`, `1_000`, `0x1f`: no point, no exponent.
pub(crate) fn is_whole(number: &str) -> bool {
    radix_of(number).is_some() || number.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// The value of a whole number, if it is at most `max`.
pub(crate) fn whole_within(number: &str, max: u32) -> Option<u32> {
    let (radix, digits) = radix_of(number).unwrap_or((10, number));
    let mut value = 0u32;
    for digit in digits.chars().filter(|c| *c != '_') {
        value = value.checked_mul(radix)?.checked_add(digit.to_digit(radix)?)?;
    }
    (value <= max).then_some(value)
}

fn radix_of(number: &str) -> Option<(u32, &str)> {
    [("0x", 16), ("0o", 8), ("0b", 2)].into_iter().find_map(|(p, radix)| Some((radix, number.strip_prefix(p)?)))
}

/// Arithmetic on weights that accounts for its cost.
#[derive(Debug, Default)]
pub(crate) struct Arithmetic {
    work: u64,
}

type Value = Result<Weight, Fault>;

impl Arithmetic {
    /// Charges an operation on numbers of `bits` bits, in roughly microseconds. Reducing a fraction costs the square of
    /// its length.
    fn spend(&mut self, bits: u64) -> Result<(), Fault> {
        self.charge(1 + (bits / 256).pow(2))
    }

    /// Charges `work`, in roughly microseconds.
    pub(crate) fn charge(&mut self, work: u64) -> Result<(), Fault> {
        if self.work > MAX_WORK {
            return Err(Fault::Reported);
        }
        self.work += work;
        if self.work > MAX_WORK { Err(Fault::TooMuchWork) } else { Ok(()) }
    }

    /// The exact value of a number.
    pub(crate) fn number(&mut self, text: &str) -> Value {
        let clean: String = text.chars().filter(|c| *c != '_').collect();
        if let Some((radix, digits)) = radix_of(&clean) {
            if digits.len() > MAX_DIGITS {
                return Err(Fault::TooLong);
            }
            self.spend(4 * digits.len() as u64)?;
            let value = BigInt::from_str_radix(digits, radix).map_err(|_| Fault::Reported)?;
            return self.bounded(BigRational::from_integer(value));
        }
        let (mantissa, exponent) = match clean.find(['e', 'E']) {
            Some(at) => (&clean[..at], &clean[at + 1..]),
            None => (clean.as_str(), "0"),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // An exponent too long for i64 is too large, whatever its sign; only a zero mantissa could bear it.
        let exponent: i64 = exponent.parse().map_err(|_| Fault::TooLong)?;
        if whole.len() + fraction.len() > MAX_DIGITS || exponent.unsigned_abs() > MAX_DIGITS as u64 {
            return Err(Fault::TooLong);
        }
        self.spend(4 * (MAX_DIGITS as u64).min((whole.len() + fraction.len()) as u64 + exponent.unsigned_abs()))?;
        let digits = BigInt::from_str_radix(&format!("{whole}{fraction}"), 10).map_err(|_| Fault::Reported)?;
        let power = exponent - fraction.len() as i64;
        let ten = BigInt::from(BigUint::from(10u32).pow(power.unsigned_abs()));
        self.bounded(if power < 0 { BigRational::new(digits, ten) } else { BigRational::from_integer(digits * ten) })
    }

    pub(crate) fn add(&mut self, a: &Weight, b: &Weight) -> Value {
        self.binary(a, b, |a, b| a + b, |a, b| a + b)
    }

    pub(crate) fn mul(&mut self, a: &Weight, b: &Weight) -> Value {
        // Exactly zero, whatever the rounding of the other factor.
        let zero = |w: &Weight| matches!(w, Weight::Rational(r) if r.is_zero());
        if zero(a) || zero(b) {
            return Ok(Weight::integer(0));
        }
        self.binary(a, b, |a, b| a * b, |a, b| a * b)
    }

    pub(crate) fn div(&mut self, a: &Weight, b: &Weight) -> Value {
        if b.is_zero() {
            return Err(Fault::ZeroDivisor);
        }
        self.binary(a, b, |a, b| a / b, |a, b| a / b)
    }

    /// Exact for the square of a rational, else the f64 square root of the nearest f64.
    pub(crate) fn sqrt(&mut self, a: &Weight) -> Value {
        match a {
            Weight::Rational(r) if r.is_negative() => Err(Fault::NegativeRoot),
            Weight::Irrational(x) if *x < 0.0 => Err(Fault::NegativeRoot),
            Weight::Rational(r) => {
                self.spend(bits(r))?;
                exact_sqrt(r).map_or_else(|| finite(a.to_f64().sqrt()), |root| Ok(Weight::Rational(root)))
            }
            Weight::Irrational(x) => finite(x.sqrt()),
        }
    }

    /// The nearest f64, treated as irrational from here on.
    pub(crate) fn f64(&mut self, a: &Weight) -> Value {
        finite(a.to_f64())
    }

    fn binary(
        &mut self,
        a: &Weight,
        b: &Weight,
        exact: impl Fn(&BigRational, &BigRational) -> BigRational,
        rounded: impl Fn(f64, f64) -> f64,
    ) -> Value {
        match (a, b) {
            (Weight::Rational(a), Weight::Rational(b)) => {
                self.spend(bits(a) + bits(b))?;
                self.bounded(exact(a, b))
            }
            _ => {
                let bits = |w: &Weight| if let Weight::Rational(r) = w { bits(r) } else { 0 };
                self.spend(bits(a) + bits(b))?;
                let (a, b) = (a.to_f64(), b.to_f64());
                if a.is_finite() && b.is_finite() { finite(rounded(a, b)) } else { Err(Fault::NotFinite) }
            }
        }
    }

    fn bounded(&self, r: BigRational) -> Value {
        if fits(&r) { Ok(Weight::Rational(r)) } else { Err(Fault::TooLong) }
    }
}

fn bits(r: &BigRational) -> u64 {
    r.numer().bits() + r.denom().bits()
}

fn finite(x: f64) -> Value {
    if x.is_finite() { Ok(Weight::Irrational(x)) } else { Err(Fault::NotFinite) }
}

/// The value as an `i32`: `None` for fractions, `Some(None)` for whole numbers out of range.
pub(crate) fn as_i32(w: &Weight) -> Option<Option<i32>> {
    match w {
        Weight::Rational(r) if r.denom().is_one() => Some(r.numer().to_i32()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Arithmetic::default().number(text)
    }

    fn ratio(n: i64, d: i64) -> Value {
        Ok(Weight::Rational(BigRational::new(n.into(), d.into())))
    }

    #[test]
    fn numbers_are_exact() {
        assert_eq!(value("1_000"), ratio(1000, 1));
        assert_eq!(value("0x1F"), ratio(31, 1));
        assert_eq!(value("0b1_01"), ratio(5, 1));
        assert_eq!(value("0o17"), ratio(15, 1));
        assert_eq!(value("1."), ratio(1, 1));
        assert_eq!(value("2.50"), ratio(5, 2));
        assert_eq!(value("25e-1"), ratio(5, 2));
        assert_eq!(value("0.1E+2"), ratio(10, 1));
        assert_eq!(value("1e1000").map(|w| w.to_f64()), Ok(f64::INFINITY));
        assert_eq!(value("5e-324").map(|w| w.to_f64()), Ok(f64::from_bits(1)));
    }

    #[test]
    fn numbers_are_bounded() {
        for text in
            ["1e100000", "1e-99999999999999999999", "1e1300", &"9".repeat(5000), &format!("0x{}", "f".repeat(1200))]
        {
            assert_eq!(value(text), Err(Fault::TooLong));
        }
    }

    #[test]
    fn roots() {
        let mut a = Arithmetic::default();
        let quarter = a.number("0.25").unwrap();
        assert_eq!(a.sqrt(&quarter), ratio(1, 2));
        let three = a.number("3").unwrap();
        assert_eq!(a.sqrt(&three), Ok(Weight::Irrational(3f64.sqrt())));
        assert_eq!(a.sqrt(&three.neg()), Err(Fault::NegativeRoot));
    }

    #[test]
    fn work_is_bounded() {
        let mut a = Arithmetic::default();
        let long = a.number(&format!("1e{}", 1200)).unwrap();
        let short = a.recip_of(&long);
        let faults = (0..100_000).find_map(|_| a.mul(&long, &short).err());
        assert_eq!(faults, Some(Fault::TooMuchWork));
    }

    impl Arithmetic {
        fn recip_of(&mut self, w: &Weight) -> Weight {
            self.div(&Weight::integer(1), w).unwrap()
        }
    }
}
