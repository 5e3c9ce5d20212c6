//! Dead-zone quantisation: steps as a stream has them, and coefficients to indices and back.

/// A quantiser step of a band: (1 + m/2^11)·2^(e−16), as 5 bits of e and 11 of m (so has JPEG 2000, ISO/IEC 15444-1,
/// equation E-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step(pub u16);

impl Step {
    /// 1: integers stay as they are.
    pub const ONE: Step = Step(16 << 11);

    /// The largest step that is not above this one; at least 2^−16, below 2^16.
    pub fn below(step: f64) -> Step {
        if step.is_nan() || step < f64::from(-16.0f32).exp2() {
            return Step(0);
        }
        let exponent = step.log2().floor().min(15.0) as i32;
        let mantissa = ((step / f64::from(exponent).exp2() - 1.0) * 2048.0).floor().clamp(0.0, 2047.0);
        Step(((exponent + 16) as u16) << 11 | mantissa as u16)
    }

    /// Its value, exactly.
    pub fn value(self) -> f64 {
        let mantissa = 1.0 + f64::from(self.0 & 2047) / 2048.0;
        // An exact power of two.
        mantissa * f64::from_bits((1023 + u64::from(self.0 >> 11) - 16) << 52)
    }
}

/// How a band is quantised: its step, and where in an interval its coefficients are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiser {
    /// Width of an interval.
    pub step: Step,
    /// Where coefficients are put, from the end of the interval that is nearer to 0, in 256ths of the step.
    pub offset: u8,
}

impl Quantiser {
    /// Integers stay as they are.
    pub const NONE: Quantiser = Quantiser { step: Step::ONE, offset: 0 };

    /// The index of a coefficient: its sign, and ⌊|c|/step + rounding⌋. Beyond 31 bits it is the largest there is.
    pub fn index(self, coefficient: f64, rounding: f64) -> i32 {
        let magnitude = (coefficient.abs() / self.step.value() + rounding) as i32;
        if coefficient < 0.0 { -magnitude } else { magnitude }
    }

    /// The coefficient that an index stands for, if its lowest `unknown` bits, which are 0, are not known.
    pub fn coefficient(self, magnitude: u32, negative: bool, unknown: u8) -> f64 {
        if magnitude == 0 {
            return 0.0;
        }
        let within = match unknown {
            0 => f64::from(self.offset) / 256.0,
            // The middle of what it can be.
            n => (1u64 << (n - 1).min(40)) as f64,
        };
        let value = (f64::from(magnitude) + within) * self.step.value();
        if negative { -value } else { value }
    }
}

/// The offset that puts coefficients of these intervals at their mean, for the sum and the number of their distances
/// from the ends that are nearer to 0, in steps.
pub fn offset(distances: f64, count: usize) -> u8 {
    if count == 0 { 128 } else { (256.0 * distances / count as f64).round().clamp(0.0, 255.0) as u8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_what_they_say() {
        assert_eq!(Step::ONE.value(), 1.0);
        assert_eq!(Step::below(1.0), Step::ONE);
        for step in [1e-9, 1.6e-5, 0.3, 0.999999, 1.5, 7.77, 65535.9, 1e9] {
            let value = Step::below(step).value();
            assert!(value <= step.max(2f64.powi(-16)) && value > step.min(65536.0) * 0.9995, "{step}: {value}");
        }
        for bits in 0..=u16::MAX {
            assert_eq!(Step::below(Step(bits).value()), Step(bits));
        }
    }

    #[test]
    fn integers_stay_as_they_are() {
        for c in [0, 1, -1, 255, i32::MAX, -i32::MAX] {
            let index = Quantiser::NONE.index(c.into(), 0.0);
            assert_eq!(index, c);
            assert_eq!(Quantiser::NONE.coefficient(index.unsigned_abs(), index < 0, 0), f64::from(c));
        }
    }
}
