//! x86-64 registers of `f64` and `i32`: AVX2, AVX-512.

#![allow(clippy::undocumented_unsafe_blocks, reason = "each block passes on the contract of `vector::Vector`")]
#![allow(clippy::missing_safety_doc, reason = "that of the traits")]

use crate::vector::{Vector, Whole, vector};
use std::arch::x86_64::*;

macro_rules! whole {
    ($name:ident: $xor:ident, $shift:ident) => {
        impl Whole for $name {
            #[inline(always)]
            unsafe fn xor(self, other: Self) -> Self {
                unsafe { $name($xor(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn shift(self, bits: u32) -> Self {
                unsafe { $name($shift(self.0, _mm_cvtsi32_si128(bits as i32))) }
            }
        }
    };
}

vector! {
    F64x8, __m512d, f64, 8, f64,
    _mm512_loadu_pd, _mm512_storeu_pd, _mm512_stream_pd, _mm512_set1_pd, _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd,
    _mm512_and_pd,
    (on) => _mm512_castsi512_pd(_mm512_set1_epi64(-(on as i64))),
    (this, before, _k) => {
        let (this, before) = (_mm512_castpd_si512(this), _mm512_castpd_si512(before));
        _mm512_castsi512_pd(_mm512_alignr_epi64::<7>(this, before))
    },
    (a, b) => {
        let (even, odd) = (_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15));
        (_mm512_permutex2var_pd(a, even, b), _mm512_permutex2var_pd(a, odd, b))
    },
    (e, o) => {
        let (low, high) = (_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15));
        (_mm512_permutex2var_pd(e, low, o), _mm512_permutex2var_pd(e, high, o))
    },
    _mm512_mask_storeu_pd, _mm512_maskz_loadu_pd: u8, _mm512_permutex2var_pd, _mm512_loadu_si512,
}

vector! {
    F64x4, __m256d, f64, 4, f64,
    _mm256_loadu_pd, _mm256_storeu_pd, _mm256_stream_pd, _mm256_set1_pd, _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd,
    _mm256_and_pd,
    (on) => _mm256_castsi256_pd(_mm256_set1_epi64x(-(on as i64))),
    (this, before, _k) => _mm256_shuffle_pd::<0b0101>(_mm256_permute2f128_pd::<0x21>(before, this), this),
    (a, b) => {
        let (even, odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        (_mm256_permute4x64_pd::<0xd8>(even), _mm256_permute4x64_pd::<0xd8>(odd))
    },
    (e, o) => {
        let (low, high) = (_mm256_unpacklo_pd(e, o), _mm256_unpackhi_pd(e, o));
        (_mm256_permute2f128_pd::<0x20>(low, high), _mm256_permute2f128_pd::<0x31>(low, high))
    },
}

vector! {
    I32x16, __m512i, i32, 16, i32,
    _mm512_loadu_si512, _mm512_storeu_si512, _mm512_stream_si512, _mm512_set1_epi32,
    _mm512_add_epi32, _mm512_sub_epi32, _mm512_mullo_epi32,
    _mm512_and_si512,
    (on) => _mm512_set1_epi32(-(on as i32)),
    (this, before, k) => match k {
        1 => _mm512_alignr_epi32::<15>(this, before),
        2 => _mm512_alignr_epi32::<14>(this, before),
        3 => _mm512_alignr_epi32::<13>(this, before),
        4 => _mm512_alignr_epi32::<12>(this, before),
        5 => _mm512_alignr_epi32::<11>(this, before),
        6 => _mm512_alignr_epi32::<10>(this, before),
        _ => _mm512_alignr_epi32::<9>(this, before),
    },
    (a, b) => {
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        (_mm512_permutex2var_epi32(a, even, b), _mm512_permutex2var_epi32(a, odd, b))
    },
    (e, o) => {
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        (_mm512_permutex2var_epi32(e, low, o), _mm512_permutex2var_epi32(e, high, o))
    },
    _mm512_mask_storeu_epi32, _mm512_maskz_loadu_epi32: u16, _mm512_permutex2var_epi32, _mm512_loadu_si512,
}
whole! { I32x16: _mm512_xor_si512, _mm512_sra_epi32 }

vector! {
    I32x8, __m256i, i32, 8, i32,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256, _mm256_set1_epi32,
    _mm256_add_epi32, _mm256_sub_epi32, _mm256_mullo_epi32,
    _mm256_and_si256,
    (on) => _mm256_set1_epi32(-(on as i32)),
    (this, before, k) => {
        // The upper half of `before` and the lower one of `this`.
        let middle = _mm256_permute2x128_si256::<0x21>(before, this);
        match k {
            1 => _mm256_alignr_epi8::<12>(this, middle),
            2 => _mm256_alignr_epi8::<8>(this, middle),
            3 => _mm256_alignr_epi8::<4>(this, middle),
            4 => middle,
            5 => _mm256_alignr_epi8::<12>(middle, before),
            6 => _mm256_alignr_epi8::<8>(middle, before),
            _ => _mm256_alignr_epi8::<4>(middle, before),
        }
    },
    (a, b) => {
        let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        let even = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(a, b));
        let odd = _mm256_castps_si256(_mm256_shuffle_ps::<0xdd>(a, b));
        (_mm256_permute4x64_epi64::<0xd8>(even), _mm256_permute4x64_epi64::<0xd8>(odd))
    },
    (e, o) => {
        let (low, high) = (_mm256_unpacklo_epi32(e, o), _mm256_unpackhi_epi32(e, o));
        (_mm256_permute2x128_si256::<0x20>(low, high), _mm256_permute2x128_si256::<0x31>(low, high))
    },
}
whole! { I32x8: _mm256_xor_si256, _mm256_sra_epi32 }
