//! Coefficients of polynomials: exact rationals, or [`Float`]s for irrational filters.

use crate::algebra::float::Float;
use crate::core::weight::{Weight, rational_of_f64};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::fmt::Debug;

/// A field element. Named operations spare generic code the bounds on references.
pub trait Coefficient: Clone + PartialEq + Debug {
    /// Whether arithmetic is exact, so that an equality is a proof.
    const EXACT: bool;

    /// 0.
    fn zero() -> Self;
    /// 1.
    fn one() -> Self;
    /// The value nearest to a rational, or the rational itself in an exact type.
    fn from_rational(r: &BigRational) -> Self;
    /// The exact value of a finite `f64`; 0 for anything else.
    fn from_f64(x: f64) -> Self;
    /// self + other.
    fn plus(&self, other: &Self) -> Self;
    /// self − other.
    fn minus(&self, other: &Self) -> Self;
    /// self · other.
    fn times(&self, other: &Self) -> Self;
    /// self / other, for a nonzero other.
    fn over(&self, other: &Self) -> Self;
    /// −self.
    fn negated(&self) -> Self;
    /// Exactly zero.
    fn is_zero(&self) -> bool;
    /// The nearest `f64`.
    fn to_f64(&self) -> f64;
    /// The weight of a lifting step: exact in an exact type, else the nearest `f64`.
    fn to_weight(&self) -> Weight;
    /// Compares absolute values.
    fn cmp_abs(&self, other: &Self) -> Ordering;

    /// A whole number.
    fn integer(n: i64) -> Self {
        Self::from_rational(&BigRational::from_integer(n.into()))
    }

    /// The value of a weight: exact for a rational weight in an exact type; an irrational one counts as its `f64`.
    fn from_weight(w: &Weight) -> Self {
        match w {
            Weight::Rational(r) => Self::from_rational(r),
            Weight::Irrational(x) => Self::from_f64(*x),
        }
    }

    /// |self|.
    fn magnitude(&self) -> Self {
        if self.to_f64() < 0.0 { self.negated() } else { self.clone() }
    }

    /// Whether |self| ≤ tolerance · scale, so that self counts as zero.
    fn negligible(&self, scale: f64, tolerance: f64) -> bool {
        self.is_zero() || (tolerance > 0.0 && self.to_f64().abs() <= scale * tolerance)
    }
}

impl Coefficient for BigRational {
    const EXACT: bool = true;

    fn zero() -> Self {
        Zero::zero()
    }
    fn one() -> Self {
        One::one()
    }
    fn from_rational(r: &BigRational) -> Self {
        r.clone()
    }
    fn from_f64(x: f64) -> Self {
        rational_of_f64(x).unwrap_or_else(Zero::zero)
    }
    fn plus(&self, other: &Self) -> Self {
        self + other
    }
    fn minus(&self, other: &Self) -> Self {
        self - other
    }
    fn times(&self, other: &Self) -> Self {
        self * other
    }
    fn over(&self, other: &Self) -> Self {
        self / other
    }
    fn negated(&self) -> Self {
        -self
    }
    fn is_zero(&self) -> bool {
        Zero::is_zero(self)
    }
    fn to_f64(&self) -> f64 {
        match (self.numer().to_i32(), self.denom().to_i32()) {
            // Both exact in f64: one division is one rounding.
            (Some(n), Some(d)) => f64::from(n) / f64::from(d),
            _ => Weight::Rational(self.clone()).to_f64(),
        }
    }
    fn to_weight(&self) -> Weight {
        Weight::Rational(self.clone())
    }
    fn cmp_abs(&self, other: &Self) -> Ordering {
        self.abs().cmp(&other.abs())
    }
    fn magnitude(&self) -> Self {
        self.abs()
    }
}

impl Coefficient for Float {
    const EXACT: bool = false;

    fn zero() -> Self {
        Float::zero()
    }
    fn one() -> Self {
        Float::integer(1)
    }
    fn from_rational(r: &BigRational) -> Self {
        Float::from_rational(r)
    }
    fn from_f64(x: f64) -> Self {
        Float::from_f64(x).unwrap_or_else(Float::zero)
    }
    fn plus(&self, other: &Self) -> Self {
        self + other
    }
    fn minus(&self, other: &Self) -> Self {
        self - other
    }
    fn times(&self, other: &Self) -> Self {
        self * other
    }
    fn over(&self, other: &Self) -> Self {
        self / other
    }
    fn negated(&self) -> Self {
        -self
    }
    fn is_zero(&self) -> bool {
        Float::is_zero(self)
    }
    fn to_f64(&self) -> f64 {
        Float::to_f64(self)
    }
    fn to_weight(&self) -> Weight {
        Weight::Irrational(Float::to_f64(self))
    }
    fn cmp_abs(&self, other: &Self) -> Ordering {
        self.abs().cmp(&other.abs())
    }
    fn magnitude(&self) -> Self {
        self.abs()
    }
}
