//! Helper functions of emitted Rust: a file defines only those it calls.

use crate::ir::Scalar;

/// A helper function of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Helper {
    /// `mirror(i, n)`.
    Mirror,
    /// `wrap(i, n)`.
    Wrap,
    /// Storage to arithmetic: `f16_to_f32`, `bf16_to_f32`.
    Widen(Scalar),
    /// Arithmetic to storage: `f32_to_f16`, `f32_to_bf16`.
    Narrow(Scalar),
}

impl Helper {
    /// The function's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Helper::Mirror => "mirror",
            Helper::Wrap => "wrap",
            Helper::Widen(Scalar::Bf16) => "bf16_to_f32",
            Helper::Widen(_) => "f16_to_f32",
            Helper::Narrow(Scalar::Bf16) => "f32_to_bf16",
            Helper::Narrow(_) => "f32_to_f16",
        }
    }

    /// Its definition.
    pub(crate) fn definition(self) -> &'static str {
        match self {
            Helper::Mirror => MIRROR,
            Helper::Wrap => WRAP,
            Helper::Widen(Scalar::Bf16) => BF16_TO_F32,
            Helper::Widen(_) => F16_TO_F32,
            Helper::Narrow(Scalar::Bf16) => F32_TO_BF16,
            Helper::Narrow(_) => F32_TO_F16,
        }
    }
}

const MIRROR: &str = "\
/// Index i reflected about 0 and n - 1 until it lies between them.
fn mirror(i: i32, n: i32) -> i32 {
    if n == 1 {
        return 0;
    }
    let period = 2 * (i64::from(n) - 1);
    let j = i64::from(i).rem_euclid(period);
    j.min(period - j) as i32
}
";

const WRAP: &str = "\
/// Index i modulo n, in 0..n.
fn wrap(i: i32, n: i32) -> i32 {
    i.rem_euclid(n)
}
";

const BF16_TO_F32: &str = "\
/// bfloat16 to binary32, exactly.
fn bf16_to_f32(h: u16) -> f32 {
    f32::from_bits(u32::from(h) << 16)
}
";

const F16_TO_F32: &str = "\
/// IEEE binary16 to binary32, exactly.
fn f16_to_f32(h: u16) -> f32 {
    let sign = u32::from(h & 0x8000) << 16;
    let exponent = u32::from(h >> 10) & 0x1f;
    let mantissa = u32::from(h) & 0x3ff;
    f32::from_bits(match exponent {
        0 => sign | (mantissa as f32 * 5.9604644775390625e-8).to_bits(),
        31 => sign | 0x7f800000 | mantissa << 13,
        _ => sign | (exponent + 112) << 23 | mantissa << 13,
    })
}
";

const F32_TO_BF16: &str = "\
/// binary32 to bfloat16, to nearest, ties to even.
fn f32_to_bf16(f: f32) -> u16 {
    let u = f.to_bits();
    if f.is_nan() {
        return (u >> 16) as u16 | 0x40;
    }
    ((u + 0x7fff + (u >> 16 & 1)) >> 16) as u16
}
";

const F32_TO_F16: &str = "\
/// binary32 to IEEE binary16, to nearest, ties to even.
fn f32_to_f16(f: f32) -> u16 {
    let sign = (f.to_bits() >> 16) as u16 & 0x8000;
    let u = f.to_bits() & 0x7fffffff;
    if u > 0x7f800000 {
        return sign | 0x7e00;
    }
    // Rounds to 65536 or more: infinite.
    if u >= 0x477ff000 {
        return sign | 0x7c00;
    }
    // Below 2^-14: subnormal, in units of 2^-24.
    if u < 0x38800000 {
        let shift = 126 - (u >> 23);
        if shift > 24 {
            return sign;
        }
        let m = u & 0x7fffff | 0x800000;
        let (q, rest, half) = (m >> shift, m & ((1 << shift) - 1), 1 << (shift - 1));
        let up = rest > half || rest == half && q & 1 == 1;
        return sign | (q as u16 + u16::from(up));
    }
    let u = u + 0xfff + (u >> 13 & 1);
    sign | ((u - 0x38000000) >> 13) as u16
}
";
