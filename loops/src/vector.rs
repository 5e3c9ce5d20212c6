//! Registers of samples: the interface of loops to an instruction set.
//!
//! All functions are inlined into a loop compiled for the set. Elsewhere they would be slow, and unsound on machines
//! without it. Products are never fused with sums, so all sets give the same bits.

#![allow(clippy::undocumented_unsafe_blocks, reason = "each block passes on the contract of `vector::Vector`")]
#![allow(clippy::missing_safety_doc, reason = "one promise for all: the machine has the set, and pointers are valid")]

use half::{bf16, f16};

/// A register of samples.
pub(crate) trait Vector: Copy {
    type Lane: Copy + 'static;
    const LANES: usize;
    unsafe fn load(from: *const Self::Lane) -> Self;
    unsafe fn store(self, to: *mut Self::Lane);
    /// Non-temporal store; `to` must be aligned to the register's size.
    unsafe fn stream(self, to: *mut Self::Lane);
    /// Stores lanes `from..end`, where lane 0 would go to `to`.
    #[inline(always)]
    unsafe fn store_some(self, to: *mut Self::Lane, from: usize, end: usize) {
        let mut lanes = std::mem::MaybeUninit::<[u64; 8]>::uninit();
        unsafe {
            self.store(lanes.as_mut_ptr().cast());
            let lanes = lanes.as_ptr().cast::<Self::Lane>().add(from);
            lanes.copy_to_nonoverlapping(to.wrapping_add(from), end - from);
        }
    }
    /// Loads lanes `from..end`, where lane 0 would be at `at`; other lanes are arbitrary.
    #[inline(always)]
    unsafe fn load_some(at: *const Self::Lane, from: usize, end: usize) -> Self {
        let mut lanes = std::mem::MaybeUninit::<[u64; 8]>::zeroed();
        unsafe {
            let first = lanes.as_mut_ptr().cast::<Self::Lane>().add(from);
            first.copy_from_nonoverlapping(at.wrapping_add(from), end - from);
            Self::load(lanes.as_ptr().cast())
        }
    }
    /// All lanes equal to a number that the lane holds exactly.
    unsafe fn splat(x: f64) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    /// Product; for integers, its low half.
    unsafe fn mul(self, other: Self) -> Self;
    /// All bits set, or none.
    unsafe fn mask(on: bool) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    /// Whether `pick` is available, as one instruction.
    const PICKS: bool = false;
    /// Lanes of `a` (numbered from 0) and `b` (numbered after those) by number; numbers are integers as wide as lanes.
    unsafe fn pick(_a: Self, _b: Self, _numbers: *const Self::Lane) -> Self {
        unreachable!("only where PICKS says so")
    }
    /// All lanes moved up by `k`, 1 ≤ k < min(lanes, 8) (for reals, k = 1); the first `k` are the last of `before`.
    unsafe fn after(self, before: Self, k: usize) -> Self;
    /// Even and odd lanes of two registers.
    unsafe fn split(a: Self, b: Self) -> (Self, Self);
    /// The inverse of `split`.
    unsafe fn merge(even: Self, odd: Self) -> (Self, Self);
}

/// Conversion between samples in memory and lanes.
pub(crate) trait Storage<V: Vector>: Copy {
    unsafe fn load(from: *const Self) -> V;
    unsafe fn store(value: V, to: *mut Self);
    /// Loads lanes `from..end`, where lane 0 would be at `at`; other lanes are arbitrary.
    #[inline(always)]
    unsafe fn load_some(at: *const Self, from: usize, end: usize) -> V {
        let mut lanes = std::mem::MaybeUninit::<[u64; 16]>::zeroed();
        unsafe {
            let first = lanes.as_mut_ptr().cast::<Self>().add(from);
            first.copy_from_nonoverlapping(at.wrapping_add(from), end - from);
            Self::load(lanes.as_ptr().cast())
        }
    }
    /// Non-temporal store; `to` must be aligned to the size of the data written.
    unsafe fn stream(value: V, to: *mut Self);
    /// Stores lanes `from..end`, where lane 0 would go to `to`.
    #[inline(always)]
    unsafe fn store_some(value: V, to: *mut Self, from: usize, end: usize) {
        let mut lanes = std::mem::MaybeUninit::<[u64; 16]>::uninit();
        unsafe {
            Self::store(value, lanes.as_mut_ptr().cast());
            let lanes = lanes.as_ptr().cast::<Self>().add(from);
            lanes.copy_to_nonoverlapping(to.wrapping_add(from), end - from);
        }
    }
}

macro_rules! own_lane {
    ($($t:ty),*) => {$(
        impl<V: Vector<Lane = $t>> Storage<V> for $t {
            #[inline(always)]
            unsafe fn load(from: *const $t) -> V {
                unsafe { V::load(from) }
            }
            #[inline(always)]
            unsafe fn load_some(at: *const $t, from: usize, end: usize) -> V {
                unsafe { V::load_some(at, from, end) }
            }
            #[inline(always)]
            unsafe fn store(value: V, to: *mut $t) {
                unsafe { value.store(to) }
            }
            #[inline(always)]
            unsafe fn stream(value: V, to: *mut $t) {
                unsafe { value.stream(to) }
            }
            #[inline(always)]
            unsafe fn store_some(value: V, to: *mut $t, from: usize, end: usize) {
                unsafe { value.store_some(to, from, end) }
            }
        }
    )*};
}

own_lane!(i16, i32, f32, f64);

/// Vectors of reals, which may be stored in 16 bits.
pub(crate) trait Reals: Vector<Lane = f32> {
    #[inline(always)]
    unsafe fn load_f16(from: *const f16) -> Self {
        let mut lanes = [0.0; 16];
        unsafe {
            for (i, lane) in lanes.iter_mut().enumerate().take(Self::LANES) {
                *lane = from.add(i).read_unaligned().to_f32();
            }
            Self::load(lanes.as_ptr())
        }
    }
    #[inline(always)]
    unsafe fn store_f16(self, to: *mut f16) {
        let mut lanes = [0.0; 16];
        unsafe {
            self.store(lanes.as_mut_ptr());
            for (i, lane) in lanes.iter().enumerate().take(Self::LANES) {
                to.add(i).write_unaligned(f16::from_f32(*lane));
            }
        }
    }
}

impl<V: Reals> Storage<V> for f16 {
    #[inline(always)]
    unsafe fn load(from: *const f16) -> V {
        unsafe { V::load_f16(from) }
    }
    #[inline(always)]
    unsafe fn store(value: V, to: *mut f16) {
        unsafe { value.store_f16(to) }
    }
    #[inline(always)]
    unsafe fn stream(value: V, to: *mut f16) {
        unsafe { value.store_f16(to) }
    }
}

impl<V: Reals> Storage<V> for bf16 {
    #[inline(always)]
    unsafe fn load(from: *const bf16) -> V {
        let mut lanes = [0.0; 16];
        unsafe {
            for (i, lane) in lanes.iter_mut().enumerate().take(V::LANES) {
                *lane = from.add(i).read_unaligned().to_f32();
            }
            V::load(lanes.as_ptr())
        }
    }
    #[inline(always)]
    unsafe fn store(value: V, to: *mut bf16) {
        let mut lanes = [0.0; 16];
        unsafe {
            value.store(lanes.as_mut_ptr());
            for (i, lane) in lanes.iter().enumerate().take(V::LANES) {
                *to.add(i) = bf16::from_f32(*lane);
            }
        }
    }
    #[inline(always)]
    unsafe fn stream(value: V, to: *mut bf16) {
        unsafe { Self::store(value, to) }
    }
}

/// Vectors of 32-bit integers.
pub(crate) trait Whole: Vector<Lane = i32> {
    unsafe fn xor(self, other: Self) -> Self;
    /// Arithmetic shift right.
    unsafe fn shift(self, bits: u32) -> Self;
}

/// Vectors of 16-bit integers.
pub(crate) trait Bits: Vector<Lane = i16> {
    unsafe fn xor(self, other: Self) -> Self;
    /// Arithmetic shift right by 1.
    unsafe fn half(self) -> Self;
    /// One 32-bit number in every pair of lanes.
    unsafe fn splat_pairs(bits: u32) -> Self;
    /// Interleaved lanes of both, in an order that `low_halves` undoes.
    unsafe fn zip(a: Self, b: Self) -> (Self, Self);
    /// The products of each pair of lanes, added in 32 bits.
    unsafe fn dot(self, weights: Self) -> Self;
    /// 32-bit sums.
    unsafe fn add_pairs(self, other: Self) -> Self;
    /// The lower halves of 32-bit numbers, shifted right by at most 16.
    unsafe fn low_halves(a: Self, b: Self, shift: u32) -> Self;
    /// The lower halves, of `a` in even lanes and of `b` in odd ones.
    unsafe fn low_halves_in_turn(a: Self, b: Self, shift: u32) -> Self;
}

/// A register type, and its single-instruction operations.
macro_rules! vector {
    (
        $name:ident, $register:ty, $lane:ty, $lanes:literal, $number:ty,
        $load:ident, $store:ident, $stream:ident, $set:ident, $add:ident, $sub:ident, $mul:ident, $and:ident,
        ($on:ident) => $mask:expr,
        ($this:ident, $before:ident, $k:ident) => $after:expr,
        ($a:ident, $b:ident) => $split:expr,
        ($e:ident, $o:ident) => $merge:expr
        $(, $masked:ident, $masked_load:ident: $bits:ty, $pick:ident, $numbers:ident)? $(,)?
    ) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name($register);

        impl Vector for $name {
            type Lane = $lane;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn load(from: *const $lane) -> Self {
                unsafe { $name($load(from.cast())) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $lane) {
                unsafe { $store(to.cast(), self.0) }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $lane) {
                unsafe { $stream(to.cast(), self.0) }
            }
            $(
                #[inline(always)]
                unsafe fn store_some(self, to: *mut $lane, from: usize, end: usize) {
                    let below = |lane: usize| ((1u64 << lane) - 1) as $bits;
                    unsafe { $masked(to.cast(), below(end) & !below(from), self.0) }
                }
                #[inline(always)]
                unsafe fn load_some(at: *const $lane, from: usize, end: usize) -> Self {
                    let below = |lane: usize| ((1u64 << lane) - 1) as $bits;
                    unsafe { $name($masked_load(below(end) & !below(from), at.cast())) }
                }
                const PICKS: bool = true;
                #[inline(always)]
                unsafe fn pick(a: Self, b: Self, numbers: *const $lane) -> Self {
                    unsafe { $name($pick(a.0, $numbers(numbers.cast()), b.0)) }
                }
            )?
            #[inline(always)]
            unsafe fn splat(x: f64) -> Self {
                unsafe { $name($set(x as $number)) }
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                unsafe { $name($add(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                unsafe { $name($sub(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                unsafe { $name($mul(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn mask($on: bool) -> Self {
                unsafe { $name($mask) }
            }
            #[inline(always)]
            unsafe fn and(self, other: Self) -> Self {
                unsafe { $name($and(self.0, other.0)) }
            }
            #[inline(always)]
            unsafe fn after(self, before: Self, $k: usize) -> Self {
                let ($this, $before) = (self.0, before.0);
                unsafe { $name($after) }
            }
            #[inline(always)]
            unsafe fn split($a: Self, $b: Self) -> (Self, Self) {
                let ($a, $b) = ($a.0, $b.0);
                unsafe {
                    let (even, odd) = $split;
                    ($name(even), $name(odd))
                }
            }
            #[inline(always)]
            unsafe fn merge($e: Self, $o: Self) -> (Self, Self) {
                let ($e, $o) = ($e.0, $o.0);
                unsafe {
                    let (a, b) = $merge;
                    ($name(a), $name(b))
                }
            }
        }
    };
}
pub(crate) use vector;
