//! x86-64 registers of `f32` and `i16`: SSE2, AVX2, AVX-512. See `wide` for other sample types.

#![allow(clippy::undocumented_unsafe_blocks, reason = "each block passes on the contract of `vector::Vector`")]
#![allow(clippy::missing_safety_doc, reason = "that of the traits")]

use crate::vector::{Bits, Reals, Vector, vector};
use half::f16;
use std::arch::x86_64::*;

macro_rules! bits {
    (
        $name:ident: $xor:ident, $half:ident, $set:ident, $low:ident, $high:ident, $dot:ident, $add:ident, $left:ident,
        $right:ident, $right_by:ident, $pack:ident
    ) => {
        impl Bits for $name {
            #[inline(always)]
            unsafe fn xor(self, other: Self) -> Self {
                unsafe { $name($xor(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn half(self) -> Self {
                unsafe { $name($half::<1>(self.0)) }
            }
            #[inline(always)]
            unsafe fn splat_pairs(bits: u32) -> Self {
                unsafe { $name($set(bits as i32)) }
            }
            #[inline(always)]
            unsafe fn zip(a: Self, b: Self) -> (Self, Self) {
                unsafe { ($name($low(a.0, b.0)), $name($high(a.0, b.0))) }
            }
            #[inline(always)]
            unsafe fn dot(self, weights: Self) -> Self {
                unsafe { $name($dot(self.0, weights.0)) }
            }
            #[inline(always)]
            unsafe fn add_pairs(self, other: Self) -> Self {
                unsafe { $name($add(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn low_halves(a: Self, b: Self, shift: u32) -> Self {
                // Numbers sign-extended from 16 bits are packed unchanged.
                unsafe {
                    let up = _mm_cvtsi32_si128(16 - shift as i32);
                    $name($pack($right::<16>($left(a.0, up)), $right::<16>($left(b.0, up))))
                }
            }
            #[inline(always)]
            unsafe fn low_halves_in_turn(a: Self, b: Self, shift: u32) -> Self {
                unsafe {
                    let (down, up) = (_mm_cvtsi32_si128(shift as i32), _mm_cvtsi32_si128(16 - shift as i32));
                    let (a, b) = ($name($right_by(a.0, down)), $name($left(b.0, up)));
                    a.xor(a.xor(b).and(Self::splat_pairs(0xffff_0000)))
                }
            }
        }
    };
}

vector! {
    F32x16, __m512, f32, 16, f32,
    _mm512_loadu_ps, _mm512_storeu_ps, _mm512_stream_ps, _mm512_set1_ps, _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps,
    _mm512_and_ps,
    (on) => _mm512_castsi512_ps(_mm512_set1_epi32(-(on as i32))),
    (this, before, _k) => {
        let (this, before) = (_mm512_castps_si512(this), _mm512_castps_si512(before));
        _mm512_castsi512_ps(_mm512_alignr_epi32::<15>(this, before))
    },
    (a, b) => {
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        (_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b))
    },
    (e, o) => {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        (_mm512_permutex2var_ps(e, low, o), _mm512_permutex2var_ps(e, high, o))
    },
    _mm512_mask_storeu_ps, _mm512_maskz_loadu_ps: u16, _mm512_permutex2var_ps, _mm512_loadu_si512,
}

vector! {
    F32x8, __m256, f32, 8, f32,
    _mm256_loadu_ps, _mm256_storeu_ps, _mm256_stream_ps, _mm256_set1_ps, _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps,
    _mm256_and_ps,
    (on) => _mm256_castsi256_ps(_mm256_set1_epi32(-(on as i32))),
    (this, before, _k) => {
        // The upper half of `before` and the lower one of `this`.
        let middle = _mm256_castps_si256(_mm256_permute2f128_ps::<0x21>(before, this));
        let this = _mm256_castps_si256(this);
        _mm256_castsi256_ps(_mm256_alignr_epi8::<12>(this, middle))
    },
    (a, b) => {
        let (even, odd) = (_mm256_shuffle_ps::<0x88>(a, b), _mm256_shuffle_ps::<0xdd>(a, b));
        let even = _mm256_permute4x64_pd::<0xd8>(_mm256_castps_pd(even));
        (_mm256_castpd_ps(even), _mm256_castpd_ps(_mm256_permute4x64_pd::<0xd8>(_mm256_castps_pd(odd))))
    },
    (e, o) => {
        let (low, high) = (_mm256_unpacklo_ps(e, o), _mm256_unpackhi_ps(e, o));
        (_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high))
    },
}

vector! {
    F32x4, __m128, f32, 4, f32,
    _mm_loadu_ps, _mm_storeu_ps, _mm_stream_ps, _mm_set1_ps, _mm_add_ps, _mm_sub_ps, _mm_mul_ps,
    _mm_and_ps,
    (on) => _mm_castsi128_ps(_mm_set1_epi32(-(on as i32))),
    (this, before, _k) => {
        let (this, before) = (_mm_castps_si128(this), _mm_castps_si128(before));
        _mm_castsi128_ps(_mm_or_si128(_mm_slli_si128::<4>(this), _mm_srli_si128::<12>(before)))
    },
    (a, b) => (_mm_shuffle_ps::<0x88>(a, b), _mm_shuffle_ps::<0xdd>(a, b)),
    (e, o) => (_mm_unpacklo_ps(e, o), _mm_unpackhi_ps(e, o)),
}

vector! {
    I16x32, __m512i, i16, 32, i16,
    _mm512_loadu_si512, _mm512_storeu_si512, _mm512_stream_si512, _mm512_set1_epi16,
    _mm512_add_epi16, _mm512_sub_epi16, _mm512_mullo_epi16,
    _mm512_and_si512,
    (on) => _mm512_set1_epi16(-(on as i16)),
    (this, before, k) => {
        // The last quarter of `before` and three of `this`.
        let middle = _mm512_alignr_epi64::<6>(this, before);
        match k {
            1 => _mm512_alignr_epi8::<14>(this, middle),
            2 => _mm512_alignr_epi8::<12>(this, middle),
            3 => _mm512_alignr_epi8::<10>(this, middle),
            4 => _mm512_alignr_epi8::<8>(this, middle),
            5 => _mm512_alignr_epi8::<6>(this, middle),
            6 => _mm512_alignr_epi8::<4>(this, middle),
            _ => _mm512_alignr_epi8::<2>(this, middle),
        }
    },
    (a, b) => {
        // Even samples first in each quarter; then gather these halves.
        let quarter = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
        let (a, b) = (_mm512_shuffle_epi8(a, quarter), _mm512_shuffle_epi8(b, quarter));
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        (_mm512_permutex2var_epi64(a, even, b), _mm512_permutex2var_epi64(a, odd, b))
    },
    (e, o) => {
        let (low, high) = (_mm512_unpacklo_epi16(e, o), _mm512_unpackhi_epi16(e, o));
        let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        (_mm512_permutex2var_epi64(low, first, high), _mm512_permutex2var_epi64(low, second, high))
    },
    _mm512_mask_storeu_epi16, _mm512_maskz_loadu_epi16: u32, _mm512_permutex2var_epi16, _mm512_loadu_si512,
}
bits! {
    I16x32: _mm512_xor_si512, _mm512_srai_epi16, _mm512_set1_epi32, _mm512_unpacklo_epi16, _mm512_unpackhi_epi16,
    _mm512_madd_epi16, _mm512_add_epi32, _mm512_sll_epi32, _mm512_srai_epi32, _mm512_srl_epi32,
    _mm512_packs_epi32
}

vector! {
    I16x16, __m256i, i16, 16, i16,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256, _mm256_set1_epi16,
    _mm256_add_epi16, _mm256_sub_epi16, _mm256_mullo_epi16,
    _mm256_and_si256,
    (on) => _mm256_set1_epi16(-(on as i16)),
    (this, before, k) => {
        let middle = _mm256_permute2x128_si256::<0x21>(before, this);
        match k {
            1 => _mm256_alignr_epi8::<14>(this, middle),
            2 => _mm256_alignr_epi8::<12>(this, middle),
            3 => _mm256_alignr_epi8::<10>(this, middle),
            4 => _mm256_alignr_epi8::<8>(this, middle),
            5 => _mm256_alignr_epi8::<6>(this, middle),
            6 => _mm256_alignr_epi8::<4>(this, middle),
            _ => _mm256_alignr_epi8::<2>(this, middle),
        }
    },
    (a, b) => {
        let quarter = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
        let (a, b) = (_mm256_shuffle_epi8(a, quarter), _mm256_shuffle_epi8(b, quarter));
        let (even, odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        (_mm256_permute4x64_epi64::<0xd8>(even), _mm256_permute4x64_epi64::<0xd8>(odd))
    },
    (e, o) => {
        let (low, high) = (_mm256_unpacklo_epi16(e, o), _mm256_unpackhi_epi16(e, o));
        (_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high))
    },
}
bits! {
    I16x16: _mm256_xor_si256, _mm256_srai_epi16, _mm256_set1_epi32, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16,
    _mm256_madd_epi16, _mm256_add_epi32, _mm256_sll_epi32, _mm256_srai_epi32, _mm256_srl_epi32,
    _mm256_packs_epi32
}

vector! {
    I16x8, __m128i, i16, 8, i16,
    _mm_loadu_si128, _mm_storeu_si128, _mm_stream_si128, _mm_set1_epi16, _mm_add_epi16, _mm_sub_epi16, _mm_mullo_epi16,
    _mm_and_si128,
    (on) => _mm_set1_epi16(-(on as i16)),
    (this, before, k) => match k {
        1 => _mm_or_si128(_mm_slli_si128::<2>(this), _mm_srli_si128::<14>(before)),
        2 => _mm_or_si128(_mm_slli_si128::<4>(this), _mm_srli_si128::<12>(before)),
        3 => _mm_or_si128(_mm_slli_si128::<6>(this), _mm_srli_si128::<10>(before)),
        4 => _mm_or_si128(_mm_slli_si128::<8>(this), _mm_srli_si128::<8>(before)),
        5 => _mm_or_si128(_mm_slli_si128::<10>(this), _mm_srli_si128::<6>(before)),
        6 => _mm_or_si128(_mm_slli_si128::<12>(this), _mm_srli_si128::<4>(before)),
        _ => _mm_or_si128(_mm_slli_si128::<14>(this), _mm_srli_si128::<2>(before)),
    },
    (a, b) => {
        // Samples sign-extended to 32 bits are packed unchanged.
        let (x, y) = (_mm_slli_epi32::<16>(a), _mm_slli_epi32::<16>(b));
        let even = _mm_packs_epi32(_mm_srai_epi32::<16>(x), _mm_srai_epi32::<16>(y));
        (even, _mm_packs_epi32(_mm_srai_epi32::<16>(a), _mm_srai_epi32::<16>(b)))
    },
    (e, o) => (_mm_unpacklo_epi16(e, o), _mm_unpackhi_epi16(e, o)),
}
bits! {
    I16x8: _mm_xor_si128, _mm_srai_epi16, _mm_set1_epi32, _mm_unpacklo_epi16, _mm_unpackhi_epi16,
    _mm_madd_epi16, _mm_add_epi32, _mm_sll_epi32, _mm_srai_epi32, _mm_srl_epi32,
    _mm_packs_epi32
}

impl Reals for F32x16 {
    #[inline(always)]
    unsafe fn load_f16(from: *const f16) -> Self {
        unsafe { F32x16(_mm512_cvtph_ps(_mm256_loadu_si256(from.cast()))) }
    }
    #[inline(always)]
    unsafe fn store_f16(self, to: *mut f16) {
        unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)) }
    }
}

impl Reals for F32x8 {
    #[inline(always)]
    unsafe fn load_f16(from: *const f16) -> Self {
        unsafe { F32x8(_mm256_cvtph_ps(_mm_loadu_si128(from.cast()))) }
    }
    #[inline(always)]
    unsafe fn store_f16(self, to: *mut f16) {
        unsafe { _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)) }
    }
}

impl Reals for F32x4 {}
