//! Complex [`Float`]s, and the roots of a real polynomial.

use crate::algebra::float::Float;

/// re + i·im.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Complex {
    pub re: Float,
    pub im: Float,
}

impl Complex {
    pub fn real(re: Float) -> Complex {
        Complex { re, im: Float::zero() }
    }

    pub fn plus(&self, o: &Complex) -> Complex {
        Complex { re: &self.re + &o.re, im: &self.im + &o.im }
    }

    pub fn minus(&self, o: &Complex) -> Complex {
        Complex { re: &self.re - &o.re, im: &self.im - &o.im }
    }

    pub fn times(&self, o: &Complex) -> Complex {
        let re = &(&self.re * &o.re) - &(&self.im * &o.im);
        Complex { re, im: &(&self.re * &o.im) + &(&self.im * &o.re) }
    }

    pub fn norm2(&self) -> Float {
        &(&self.re * &self.re) + &(&self.im * &self.im)
    }

    /// 1/self for a nonzero self.
    pub fn recip(&self) -> Complex {
        let n = self.norm2();
        Complex { re: &self.re / &n, im: -&(&self.im / &n) }
    }

    /// The square root with nonnegative real part.
    pub fn sqrt(&self) -> Complex {
        let root = |x: &Float| x.sqrt().unwrap_or_else(Float::zero);
        let r = root(&self.norm2());
        // The half that does not cancel, and the other one through the product 2·re·im.
        let big = root(&(&r + &self.re.abs()).ldexp(-1));
        if big.is_zero() {
            return Complex::real(Float::zero());
        }
        let small = (&self.im / &big).ldexp(-1);
        match (self.re.signum() >= 0, small.signum() < 0) {
            (true, _) => Complex { re: big, im: small },
            (false, false) => Complex { re: small, im: big },
            (false, true) => Complex { re: -&small, im: -&big },
        }
    }
}

/// The roots of Σ c\[k\]·y^k, which must be simple, with non-zero c\[0\] and leading coefficient. Uses Aberth's
/// simultaneous iteration, down to rounding. Ordered by real part, then by imaginary part.
pub(super) fn roots(c: &[Float]) -> Vec<Complex> {
    let degree = c.len() - 1;
    if degree == 0 {
        return Vec::new();
    }
    // All roots start on a circle of their geometric mean radius, off the axes so that symmetry does not trap them.
    let log2 = |x: &Float| x.to_f64().abs().log2();
    let radius = ((log2(&c[0]) - log2(&c[degree])) / degree as f64).exp2();
    let float = |x: f64| Float::from_f64(x).unwrap_or_else(Float::zero);
    let start = |k: usize| {
        let angle = (k as f64 * std::f64::consts::TAU + 0.7) / degree as f64;
        Complex { re: float(radius * angle.cos()), im: float(radius * angle.sin()) }
    };
    let mut roots: Vec<Complex> = (0..degree).map(start).collect();
    // Convergence is cubic in the end. Once the (squared, relative) steps are small, the first one not smaller than its
    // predecessor is rounding.
    let small = Float::integer(1).ldexp(-(Float::PRECISION as i64));
    let mut previous = small.clone();
    for _ in 0..1000 {
        let mut largest = Float::zero();
        for k in 0..degree {
            let y = &roots[k];
            let (mut value, mut slope) = (Complex::real(c[degree].clone()), Complex::real(Float::zero()));
            for a in c[..degree].iter().rev() {
                slope = slope.times(y).plus(&value);
                value = value.times(y).plus(&Complex::real(a.clone()));
            }
            if value.norm2().is_zero() {
                continue;
            }
            // Newton's step p/p′, corrected for the repulsion by the other roots: 1/(p′/p − Σ 1/(y − yⱼ)).
            let mut inverse = slope.times(&value.recip());
            for (_, other) in roots.iter().enumerate().filter(|(j, _)| *j != k) {
                inverse = inverse.minus(&y.minus(other).recip());
            }
            if inverse.norm2().is_zero() {
                continue;
            }
            let step = inverse.recip();
            largest = largest.max(&step.norm2() / &y.norm2());
            roots[k] = y.minus(&step);
        }
        if largest.is_zero() || (largest < small && largest >= previous) {
            break;
        }
        previous = largest;
    }
    // Rounding gives real roots an imaginary part and separates the real parts of conjugates. Differences below half
    // the precision, relative to the root, count as zero.
    let tiny = Float::integer(1).ldexp(-(Float::PRECISION as i64) / 2);
    let vanishes = |part: &Float, root: &Complex| part * part < &root.norm2() * &(&tiny * &tiny);
    for root in &mut roots {
        if vanishes(&root.im, root) {
            root.im = Float::zero();
        }
    }
    roots.sort_by(|a, b| if vanishes(&(&a.re - &b.re), a) { a.im.cmp(&b.im) } else { a.re.cmp(&b.re) });
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_known_polynomials() {
        // (y − 1)(y + 2)(y² + 4) = y⁴ + y³ + 2y² + 4y − 8.
        let c: Vec<Float> = [-8, 4, 2, 1, 1].map(Float::integer).to_vec();
        let found = roots(&c);
        let expected = [(-2, 0), (0, -2), (0, 2), (1, 0)];
        for (root, (re, im)) in found.iter().zip(expected) {
            let off = root.minus(&Complex { re: Float::integer(re), im: Float::integer(im) });
            assert!(off.norm2().to_f64() < 1e-290, "{found:?}");
        }
    }

    #[test]
    fn square_roots_square_back() {
        for (re, im) in [(3, 4), (-3, 4), (-3, -4), (3, -4), (-1, 0), (0, 0), (0, 2)] {
            let z = Complex { re: Float::integer(re), im: Float::integer(im) };
            let root = z.sqrt();
            assert!(root.re.signum() >= 0);
            assert!(root.times(&root).minus(&z).norm2().to_f64() < 1e-290);
        }
    }
}
