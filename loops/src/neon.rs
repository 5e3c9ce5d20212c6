//! AArch64 registers of `f32` and `i16`: NEON.

#![allow(clippy::undocumented_unsafe_blocks, reason = "each block passes on the contract of `vector::Vector`")]
#![allow(clippy::missing_safety_doc, reason = "that of the traits")]

use crate::vector::{Bits, Reals, Vector, vector};
use half::f16;
use std::arch::aarch64::*;
use std::arch::asm;

#[inline(always)]
unsafe fn and(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    unsafe { vreinterpretq_f32_s32(vandq_s32(vreinterpretq_s32_f32(a), vreinterpretq_s32_f32(b))) }
}

// Non-temporal stores are ordinary ones: the instruction set has them for pairs of registers only.
vector! {
    F32x4, float32x4_t, f32, 4, f32,
    vld1q_f32, vst1q_f32, vst1q_f32, vdupq_n_f32, vaddq_f32, vsubq_f32, vmulq_f32,
    and,
    (on) => vreinterpretq_f32_s32(vdupq_n_s32(-(on as i32))),
    (this, before, _k) => vextq_f32::<3>(before, this),
    (a, b) => (vuzp1q_f32(a, b), vuzp2q_f32(a, b)),
    (e, o) => (vzip1q_f32(e, o), vzip2q_f32(e, o)),
}

vector! {
    I16x8, int16x8_t, i16, 8, i16,
    vld1q_s16, vst1q_s16, vst1q_s16, vdupq_n_s16, vaddq_s16, vsubq_s16, vmulq_s16,
    vandq_s16,
    (on) => vdupq_n_s16(-(on as i16)),
    (this, before, k) => match k {
        1 => vextq_s16::<7>(before, this),
        2 => vextq_s16::<6>(before, this),
        3 => vextq_s16::<5>(before, this),
        4 => vextq_s16::<4>(before, this),
        5 => vextq_s16::<3>(before, this),
        6 => vextq_s16::<2>(before, this),
        _ => vextq_s16::<1>(before, this),
    },
    (a, b) => (vuzp1q_s16(a, b), vuzp2q_s16(a, b)),
    (e, o) => (vzip1q_s16(e, o), vzip2q_s16(e, o)),
}

impl I16x8 {
    /// 32-bit numbers, shifted right; at most 16, so that the lower halves are those of an arithmetic shift.
    #[inline(always)]
    unsafe fn shifted(self, shift: u32) -> int16x8_t {
        unsafe { vreinterpretq_s16_s32(vshlq_s32(vreinterpretq_s32_s16(self.0), vdupq_n_s32(-(shift as i32)))) }
    }
}

impl Bits for I16x8 {
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        unsafe { I16x8(veorq_s16(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn half(self) -> Self {
        unsafe { I16x8(vshrq_n_s16::<1>(self.0)) }
    }
    #[inline(always)]
    unsafe fn splat_pairs(bits: u32) -> Self {
        unsafe { I16x8(vreinterpretq_s16_u32(vdupq_n_u32(bits))) }
    }
    #[inline(always)]
    unsafe fn zip(a: Self, b: Self) -> (Self, Self) {
        unsafe { Self::merge(a, b) }
    }
    #[inline(always)]
    unsafe fn dot(self, weights: Self) -> Self {
        unsafe {
            let low = vmull_s16(vget_low_s16(self.0), vget_low_s16(weights.0));
            I16x8(vreinterpretq_s16_s32(vpaddq_s32(low, vmull_high_s16(self.0, weights.0))))
        }
    }
    #[inline(always)]
    unsafe fn add_pairs(self, other: Self) -> Self {
        unsafe {
            let sum = vaddq_s32(vreinterpretq_s32_s16(self.0), vreinterpretq_s32_s16(other.0));
            I16x8(vreinterpretq_s16_s32(sum))
        }
    }
    #[inline(always)]
    unsafe fn low_halves(a: Self, b: Self, shift: u32) -> Self {
        unsafe { I16x8(vuzp1q_s16(a.shifted(shift), b.shifted(shift))) }
    }
    #[inline(always)]
    unsafe fn low_halves_in_turn(a: Self, b: Self, shift: u32) -> Self {
        unsafe { I16x8(vtrn1q_s16(a.shifted(shift), b.shifted(shift))) }
    }
}

impl Reals for F32x4 {
    // Intrinsics for conversions need a type that is not stable; the instructions are in every processor.
    #[inline(always)]
    unsafe fn load_f16(from: *const f16) -> Self {
        unsafe {
            let reals: float32x4_t;
            asm!(
                "fcvtl {to:v}.4s, {from:v}.4h", to = out(vreg) reals, from = in(vreg) vld1_u16(from.cast()),
                options(pure, nomem, nostack, preserves_flags),
            );
            F32x4(reals)
        }
    }
    #[inline(always)]
    unsafe fn store_f16(self, to: *mut f16) {
        unsafe {
            let bits: uint16x4_t;
            asm!(
                "fcvtn {to:v}.4h, {from:v}.4s", to = out(vreg) bits, from = in(vreg) self.0,
                options(pure, nomem, nostack, preserves_flags),
            );
            vst1_u16(to.cast(), bits);
        }
    }
}
