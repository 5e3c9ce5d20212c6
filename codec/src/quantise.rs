//! Dead-zone quantisation: encoded steps, indices of coefficients, and reconstruction.

/// Encoded quantiser step of a band: (1 + m/2^11)·2^(e−16), with 5 bits of e and 11 of m, as in JPEG 2000 (ISO/IEC
/// 15444-1, equation E-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step(pub u16);

impl Step {
    /// Step 1: integers stay unquantised.
    pub const ONE: Step = Step(16 << 11);

    /// Largest representable step not above `step`; at least 2^−16, below 2^16.
    pub fn below(step: f64) -> Step {
        if step.is_nan() || step < f64::from(-16.0f32).exp2() {
            return Step(0);
        }
        let exponent = step.log2().floor().min(15.0) as i32;
        let mantissa = ((step / f64::from(exponent).exp2() - 1.0) * 2048.0).floor().clamp(0.0, 2047.0);
        Step(((exponent + 16) as u16) << 11 | mantissa as u16)
    }

    /// Reciprocal, which encoders multiply by.
    pub fn inverse(self) -> f32 {
        (1.0 / self.value()) as f32
    }

    /// Exact value.
    pub fn value(self) -> f64 {
        let mantissa = 1.0 + f64::from(self.0 & 2047) / 2048.0;
        // Exact power of two.
        mantissa * f64::from_bits((1023 + u64::from(self.0 >> 11) - 16) << 52)
    }
}

/// Quantiser of a band: its step and its reconstruction point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantiser {
    /// Width of an interval.
    pub step: Step,
    /// Reconstruction point: distance from the interval's end nearer to 0, in 256ths of the step.
    pub offset: u8,
}

impl Quantiser {
    /// No quantisation of integers.
    pub const NONE: Quantiser = Quantiser { step: Step::ONE, offset: 0 };

    /// Coefficient of an index whose lowest `unknown` bits are unknown and given as 0.
    pub fn coefficient(self, magnitude: u32, negative: bool, unknown: u8) -> f64 {
        if magnitude == 0 {
            return 0.0;
        }
        let within = match unknown {
            0 => f64::from(self.offset) / 256.0,
            // The middle of the possible values.
            n => (1u64 << (n - 1).min(40)) as f64,
        };
        let value = (f64::from(magnitude) + within) * self.step.value();
        if negative { -value } else { value }
    }
}

/// Dead-zone threshold of index 1, in steps, by the sum of the 8 neighbours' magnitudes, each at most 2.
///
/// A bit is worth ln 2 / 6 square steps, its saving at fine steps. Index 1 costs a sign, and the difference of the
/// logarithms of its probability and that of 0, which the neighbours determine. So index 1 pays off from 0.5 + (ln 2 /
/// 12)·bits, with reconstruction at 1.
pub const FIRST: [f32; 10] = [1.02, 0.79, 0.73, 0.69, 0.66, 0.64, 0.62, 0.6, 0.58, 0.56];

/// Rounding offset above index 1, from the same trade-off: the next index costs a bit and a half.
pub const NEXT: f32 = 0.42;

/// Largest index: it fits 31 bits, and is exact in `f32`.
pub const LARGEST: f32 = 2_147_483_520.0;

/// Rate-aware indices of a band's coefficients, which are given in steps and in rows of `width`.
pub fn indices(values: &[f32], width: usize) -> impl Iterator<Item = i32> {
    let one = move |(at, &value): (usize, &f32)| {
        let size = value.abs();
        let magnitude = match size {
            _ if size.is_nan() || size < FIRST[FIRST.len() - 1] => 0,
            _ if size < FIRST[0] => {
                let around = neighbours(values, width, at);
                i32::from(size >= FIRST[(around.round_ties_even() as usize).min(FIRST.len() - 1)])
            }
            _ => ((size + NEXT).min(LARGEST) as i32).max(1),
        };
        if value < 0.0 { -magnitude } else { magnitude }
    };
    values.iter().enumerate().map(one)
}

/// Sum of the 8 neighbours' magnitudes, each at most 2.
fn neighbours(values: &[f32], width: usize, at: usize) -> f32 {
    let x = at % width;
    let columns = x.saturating_sub(1)..(x + 2).min(width);
    let row = |from: Option<usize>| {
        let row = from.and_then(|from| values.get(from..from + width)).unwrap_or(&[]);
        row.get(columns.clone()).unwrap_or(&[]).iter().map(|v| v.abs().min(2.0)).sum::<f32>()
    };
    let start = at - x;
    row(start.checked_sub(width)) + row(Some(start)) + row(Some(start + width)) - values[at].abs().min(2.0)
}

/// Units per step in sums of excesses. Integer sums are independent of order; a block's fit 31 bits.
pub const UNIT: f32 = (1 << 18) as f32;

/// Sum of the excesses of coefficients over their indices, in steps, and the number of nonzero indices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Excess {
    /// Sum in units of 1/[`UNIT`] of a step.
    sum: i64,
    count: u64,
}

impl Excess {
    /// Excess of these coefficients.
    pub fn of(values: &[f32], indices: &[i32]) -> Excess {
        let far = values.iter().zip(indices).filter(|(_, index)| **index != 0);
        far.fold(Excess::default(), |Excess { sum, count }, (value, index)| Excess {
            // The excess is over one step only at the largest index.
            sum: sum + ((value.abs() - index.unsigned_abs() as f32).clamp(-1.0, 1.0) * UNIT) as i64,
            count: count + 1,
        })
    }

    /// Sum of both.
    pub fn and(self, other: Excess) -> Excess {
        Excess { sum: self.sum + other.sum, count: self.count + other.count }
    }

    /// Offset that reconstructs coefficients at the mean of their intervals.
    pub fn offset(self) -> u8 {
        // Without nonzero indices, any offset will do.
        let mean = self.sum as f64 / f64::from(UNIT) / self.count.max(1) as f64;
        (256.0 * mean + 0.5).clamp(0.0, 255.0) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_round_down() {
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
            assert_eq!(Quantiser::NONE.coefficient(c.unsigned_abs(), c < 0, 0), f64::from(c));
        }
    }

    #[test]
    fn isolated_coefficients_have_a_larger_threshold() {
        let mut values = vec![0.0; 15];
        values[7] = -0.9;
        let indices = |values: &[f32], width| indices(values, width).collect::<Vec<_>>();
        assert_eq!(indices(&values, 5), vec![0; 15]);
        (values[1], values[13]) = (1.5, 3.7);
        assert_eq!(indices(&values, 5), [0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 4, 0]);
        // Rows do not continue into the next one.
        assert_eq!(indices(&[0.0, 2.0, 0.9, 0.0, 0.0, 0.0], 2), [0, 2, 1, 0, 0, 0]);
        assert_eq!(indices(&[0.0, 0.0, 2.0, 0.0, 0.0, 0.9], 6)[5], 0);
        let most = LARGEST as i32;
        assert_eq!(indices(&[1e30, -1e30, f32::NAN], 3), [most, -most, 0]);
        let (near, far) = (Excess::of(&[1.25, 0.3], &[1, 0]), Excess::of(&[-2.75], &[-2]));
        assert_eq!([near.offset(), far.offset(), near.and(far).offset()], [64, 192, 128]);
        assert_eq!(Excess::default().offset(), 0);
    }
}
