//! Laurent polynomials and 2×2 matrices of them: the algebra of two-channel filter banks.
//!
//! The variable z is the advance by one. In a polynomial that acts on a phase, the coefficient of zⁿ weights `phase[k +
//! n]`; in a filter it weights `x[2k + n]`. A polynomial is invertible if and only if it is a monomial c·zⁿ, c ≠ 0; a
//! matrix, if and only if its determinant is such a monomial.

use crate::algebra::coefficient::Coefficient;
use std::fmt;

/// Σ coefficients\[i\] · z^(low + i). The outer coefficients are not zero; the zero polynomial has none.
#[derive(Clone, PartialEq, Debug)]
pub struct Laurent<C> {
    low: i64,
    coefficients: Vec<C>,
}

impl<C: Coefficient> Laurent<C> {
    /// The polynomial with these coefficients, the first at z^low. Zeros at the ends are dropped.
    pub fn new(low: i64, mut coefficients: Vec<C>) -> Laurent<C> {
        while coefficients.last().is_some_and(C::is_zero) {
            coefficients.pop();
        }
        let leading = coefficients.iter().take_while(|c| c.is_zero()).count();
        coefficients.drain(..leading);
        Laurent { low: if coefficients.is_empty() { 0 } else { low + leading as i64 }, coefficients }
    }

    /// 0.
    pub fn zero() -> Laurent<C> {
        Laurent { low: 0, coefficients: Vec::new() }
    }

    /// 1.
    pub fn one() -> Laurent<C> {
        Laurent::monomial(C::one(), 0)
    }

    /// c·zⁿ.
    pub fn monomial(c: C, n: i64) -> Laurent<C> {
        Laurent::new(n, vec![c])
    }

    /// True for the zero polynomial.
    pub fn is_zero(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Lowest exponent (0 for the zero polynomial).
    pub fn low(&self) -> i64 {
        self.low
    }

    /// Highest exponent (−1 for the zero polynomial).
    pub fn high(&self) -> i64 {
        self.low + self.coefficients.len() as i64 - 1
    }

    /// Number of exponents from the lowest to the highest; 0 for the zero polynomial.
    pub fn width(&self) -> usize {
        self.coefficients.len()
    }

    /// The coefficients from the lowest exponent to the highest.
    pub fn coefficients(&self) -> &[C] {
        &self.coefficients
    }

    /// Exponents and their nonzero coefficients, ascending.
    pub fn terms(&self) -> impl Iterator<Item = (i64, &C)> {
        (self.low..).zip(&self.coefficients).filter(|(_, c)| !c.is_zero())
    }

    /// The coefficient of zⁿ.
    pub fn at(&self, n: i64) -> C {
        usize::try_from(n - self.low).ok().and_then(|i| self.coefficients.get(i)).cloned().unwrap_or_else(C::zero)
    }

    /// (c, n) if the polynomial is c·zⁿ with c ≠ 0.
    pub fn as_monomial(&self) -> Option<(&C, i64)> {
        match &self.coefficients[..] {
            [c] => Some((c, self.low)),
            _ => None,
        }
    }

    /// The coefficient of the largest magnitude and its exponent.
    pub fn largest(&self) -> Option<(i64, &C)> {
        self.terms().reduce(|a, b| if b.1.cmp_abs(a.1).is_gt() { b } else { a })
    }

    /// The largest magnitude of a coefficient, as `f64`.
    pub fn max_abs(&self) -> f64 {
        self.largest().map_or(0.0, |(_, c)| c.to_f64().abs())
    }

    /// self + other.
    pub fn plus(&self, other: &Laurent<C>) -> Laurent<C> {
        self.combine(other, C::plus)
    }

    /// self − other.
    pub fn minus(&self, other: &Laurent<C>) -> Laurent<C> {
        self.combine(other, C::minus)
    }

    fn combine(&self, other: &Laurent<C>, op: fn(&C, &C) -> C) -> Laurent<C> {
        if other.is_zero() {
            return self.clone();
        }
        let (low, high) = if self.is_zero() {
            (other.low, other.high())
        } else {
            (self.low.min(other.low), self.high().max(other.high()))
        };
        Laurent::new(low, (low..=high).map(|n| op(&self.at(n), &other.at(n))).collect())
    }

    /// self · other.
    pub fn times(&self, other: &Laurent<C>) -> Laurent<C> {
        if self.is_zero() || other.is_zero() {
            return Laurent::zero();
        }
        let mut product = vec![C::zero(); self.width() + other.width() - 1];
        for (i, a) in self.coefficients.iter().enumerate().filter(|(_, a)| !a.is_zero()) {
            for (j, b) in other.coefficients.iter().enumerate().filter(|(_, b)| !b.is_zero()) {
                product[i + j] = product[i + j].plus(&a.times(b));
            }
        }
        Laurent::new(self.low + other.low, product)
    }

    /// c · self.
    pub fn scaled(&self, c: &C) -> Laurent<C> {
        self.map(|x| x.times(c))
    }

    /// −self.
    pub fn negated(&self) -> Laurent<C> {
        self.map(C::negated)
    }

    /// zⁿ · self.
    pub fn shifted(&self, n: i64) -> Laurent<C> {
        Laurent { low: if self.is_zero() { 0 } else { self.low + n }, coefficients: self.coefficients.clone() }
    }

    /// self(1/z).
    pub fn reversed(&self) -> Laurent<C> {
        Laurent::new(-self.high(), self.coefficients.iter().rev().cloned().collect())
    }

    /// self(−z).
    pub fn alternated(&self) -> Laurent<C> {
        let flip = |(n, c): (i64, &C)| if n.rem_euclid(2) == 1 { c.negated() } else { c.clone() };
        Laurent::new(self.low, (self.low..).zip(&self.coefficients).map(flip).collect())
    }

    /// self(z²).
    pub fn upsampled(&self) -> Laurent<C> {
        let mut spread = Vec::with_capacity(2 * self.width());
        for c in &self.coefficients {
            spread.extend([c.clone(), C::zero()]);
        }
        Laurent::new(2 * self.low, spread)
    }

    /// The polynomial p such that p(z²)·z^parity has the terms of that parity (0 or 1).
    pub fn phase(&self, parity: i64) -> Laurent<C> {
        let low = (self.low - parity).div_euclid(2);
        let high = (self.high() - parity).div_euclid(2);
        Laurent::new(low, (low..=high).map(|k| self.at(2 * k + parity)).collect())
    }

    /// Applies `f`, which keeps zeros zero, to every coefficient.
    pub fn map<D: Coefficient>(&self, f: impl FnMut(&C) -> D) -> Laurent<D> {
        Laurent::new(self.low, self.coefficients.iter().map(f).collect())
    }

    /// Coefficients that are negligible next to `scale` become zero (see [`Coefficient::negligible`]).
    pub fn cleaned(&self, scale: f64, tolerance: f64) -> Laurent<C> {
        self.map(|c| if c.negligible(scale, tolerance) { C::zero() } else { c.clone() })
    }

    /// Σ of the coefficients: the value at z = 1.
    pub fn sum(&self) -> C {
        self.coefficients.iter().fold(C::zero(), |a, c| a.plus(c))
    }

    /// Σ |coefficient|: the worst case of |output| for |input| ≤ 1.
    pub fn l1(&self) -> C {
        self.coefficients.iter().fold(C::zero(), |a, c| a.plus(&c.magnitude()))
    }

    /// Σ coefficient².
    pub fn energy(&self) -> C {
        self.coefficients.iter().fold(C::zero(), |a, c| a.plus(&c.times(c)))
    }
}

impl<C: Coefficient> fmt::Display for Laurent<C> {
    /// With coefficients in `f64`, ascending: `-0.125z^-1 + 0.75 + 0.25z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        for (i, (n, c)) in self.terms().enumerate() {
            let c = c.to_f64();
            match (i, c < 0.0) {
                (0, true) => f.write_str("-")?,
                (0, false) => {}
                (_, true) => f.write_str(" - ")?,
                (_, false) => f.write_str(" + ")?,
            }
            match n {
                0 => write!(f, "{}", c.abs())?,
                1 => write!(f, "{}z", c.abs())?,
                n => write!(f, "{}z^{n}", c.abs())?,
            }
        }
        Ok(())
    }
}

/// A 2×2 matrix of Laurent polynomials. In an analysis bank, `rows[0]` makes the low band and `rows[1]` the high band;
/// column 0 acts on the even phase and column 1 on the odd phase.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix<C> {
    /// The entries, `rows[row][column]`.
    pub rows: [[Laurent<C>; 2]; 2],
}

impl<C: Coefficient> Matrix<C> {
    /// The matrix with these rows.
    pub fn new(rows: [[Laurent<C>; 2]; 2]) -> Matrix<C> {
        Matrix { rows }
    }

    /// The identity.
    pub fn identity() -> Matrix<C> {
        Matrix::diagonal(Laurent::one(), Laurent::one())
    }

    /// diag(a, b).
    pub fn diagonal(a: Laurent<C>, b: Laurent<C>) -> Matrix<C> {
        Matrix { rows: [[a, Laurent::zero()], [Laurent::zero(), b]] }
    }

    /// The lifting step `target += p · other`; `target` is 0 for the even phase, 1 for the odd one.
    pub fn lifting(target: usize, p: Laurent<C>) -> Matrix<C> {
        let mut m = Matrix::identity();
        m.rows[target][1 - target] = p;
        m
    }

    /// self · other: `other` acts first.
    pub fn times(&self, other: &Matrix<C>) -> Matrix<C> {
        let entry = |i: usize, j: usize| {
            self.rows[i][0].times(&other.rows[0][j]).plus(&self.rows[i][1].times(&other.rows[1][j]))
        };
        Matrix { rows: [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]] }
    }

    /// self − other.
    pub fn minus(&self, other: &Matrix<C>) -> Matrix<C> {
        self.zip(other, Laurent::minus)
    }

    fn zip(&self, other: &Matrix<C>, f: fn(&Laurent<C>, &Laurent<C>) -> Laurent<C>) -> Matrix<C> {
        let entry = |i: usize, j: usize| f(&self.rows[i][j], &other.rows[i][j]);
        Matrix { rows: [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]] }
    }

    /// Applies `f` to every entry.
    pub fn map<D: Coefficient>(&self, mut f: impl FnMut(&Laurent<C>) -> Laurent<D>) -> Matrix<D> {
        let [[a, b], [c, d]] = &self.rows;
        Matrix { rows: [[f(a), f(b)], [f(c), f(d)]] }
    }

    /// The determinant.
    pub fn determinant(&self) -> Laurent<C> {
        let [[a, b], [c, d]] = &self.rows;
        a.times(d).minus(&b.times(c))
    }

    /// The transpose, without reversal of z.
    pub fn transposed(&self) -> Matrix<C> {
        let [[a, b], [c, d]] = self.rows.clone();
        Matrix { rows: [[a, c], [b, d]] }
    }

    /// The adjoint on the periodic (or unbounded) signal: transposed, and z replaced by 1/z.
    pub fn adjoint(&self) -> Matrix<C> {
        self.transposed().map(Laurent::reversed)
    }

    /// The adjugate divided by the largest term of the determinant: the inverse if the determinant is a monomial, else
    /// an approximation to it. `None` if the determinant is zero.
    pub fn quasi_inverse(&self) -> Option<Matrix<C>> {
        let determinant = self.determinant();
        let (n, c) = determinant.largest()?;
        let unit = Laurent::monomial(C::one().over(c), -n);
        let [[a, b], [c, d]] = &self.rows;
        let entry = |p: &Laurent<C>| p.times(&unit);
        Some(Matrix { rows: [[entry(d), entry(&b.negated())], [entry(&c.negated()), entry(a)]] })
    }

    /// The inverse, if the determinant is a monomial up to `tolerance` relative to its largest term (0: exactly).
    pub fn inverse(&self, tolerance: f64) -> Option<Matrix<C>> {
        let determinant = self.determinant();
        determinant.cleaned(determinant.max_abs(), tolerance).as_monomial()?;
        self.quasi_inverse()
    }

    /// The largest magnitude of a coefficient of any entry.
    pub fn max_abs(&self) -> f64 {
        self.rows.iter().flatten().map(Laurent::max_abs).fold(0.0, f64::max)
    }

    /// The largest difference of any coefficient of any entry from another matrix.
    pub fn distance(&self, other: &Matrix<C>) -> f64 {
        self.minus(other).max_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;

    fn poly(low: i64, c: &[i64]) -> Laurent<BigRational> {
        Laurent::new(low, c.iter().map(|&x| Coefficient::integer(x)).collect())
    }

    #[test]
    fn zeros_at_the_ends_are_no_terms() {
        assert_eq!(poly(-3, &[0, 0, 1, 0, 2, 0]), poly(-1, &[1, 0, 2]));
        assert_eq!(poly(5, &[0, 0]), Laurent::zero());
        assert_eq!((Laurent::<BigRational>::zero().low(), Laurent::<BigRational>::zero().high()), (0, -1));
        assert_eq!(poly(-1, &[1, 0, 2]).terms().map(|t| t.0).collect::<Vec<_>>(), [-1, 1]);
    }

    #[test]
    fn ring_operations() {
        let (a, b) = (poly(-1, &[1, 2, 3]), poly(2, &[-1, 4]));
        assert_eq!(a.times(&b), poly(1, &[-1, 2, 5, 12]));
        assert_eq!(a.plus(&b), poly(-1, &[1, 2, 3, -1, 4]));
        assert_eq!(a.minus(&a), Laurent::zero());
        assert_eq!(a.reversed(), poly(-1, &[3, 2, 1]));
        assert_eq!(a.alternated(), poly(-1, &[-1, 2, -3]));
        assert_eq!(a.upsampled(), poly(-2, &[1, 0, 2, 0, 3]));
        assert_eq!(a.shifted(4).as_monomial(), None);
        assert_eq!(a.l1(), Coefficient::integer(6));
        assert_eq!(a.energy(), Coefficient::integer(14));
        assert_eq!(a.to_string(), "1z^-1 + 2 + 3z");
        assert_eq!(poly(0, &[-2, 0, -1]).to_string(), "-2 - 1z^2");
    }

    #[test]
    fn phases_put_together_are_the_filter() {
        for low in -4..4 {
            let p = poly(low, &[3, -1, 4, 1, -5]);
            let again = p.phase(0).upsampled().plus(&p.phase(1).upsampled().shifted(1));
            assert_eq!(again, p);
        }
    }

    #[test]
    fn lifting_matrices_have_determinant_one_and_multiply_back() {
        let m = Matrix::lifting(1, poly(0, &[-1, -1])).times(&Matrix::lifting(0, poly(-1, &[1, 3])));
        assert_eq!(m.determinant(), Laurent::one());
        let inverse = m.inverse(0.0).unwrap();
        assert_eq!(m.times(&inverse), Matrix::identity());
        assert_eq!(inverse.times(&m), Matrix::identity());
        let mut singular = m.clone();
        singular.rows[1] = singular.rows[0].clone();
        assert!(singular.quasi_inverse().is_none());
        let mut off = m;
        off.rows[0][0] = off.rows[0][0].plus(&Laurent::one());
        assert!(off.inverse(0.0).is_none());
    }
}
