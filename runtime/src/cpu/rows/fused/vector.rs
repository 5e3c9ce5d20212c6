//! Registers of samples: what fused loops need of an instruction set.
//!
//! All functions are inlined into a loop that is compiled for the set; elsewhere they would be slow, and unsound on
//! machines without it. No product is fused with a sum, so all sets give the same bits.

#![allow(clippy::missing_safety_doc, reason = "one promise for all: the machine has the set, and pointers are valid")]

/// Samples side by side, as many as a register has.
pub(super) trait Vector: Copy {
    type Lane: Copy + 'static;
    const LANES: usize;
    unsafe fn load(from: *const Self::Lane) -> Self;
    unsafe fn store(self, to: *mut Self::Lane);
    /// Past the caches; `to` begins at a multiple of the register's size.
    unsafe fn stream(self, to: *mut Self::Lane);
    /// All lanes alike, from a number that the lane holds exactly.
    unsafe fn splat(x: f64) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn sub(self, other: Self) -> Self;
    /// Of integers, the low half.
    unsafe fn mul(self, other: Self) -> Self;
    /// All lanes moved up by `k`, from 1 to 3; the first `k` are the last of `before`.
    unsafe fn after(self, before: Self, k: usize) -> Self;
    /// Even and odd lanes of two registers.
    unsafe fn split(a: Self, b: Self) -> (Self, Self);
    /// The reverse of `split`.
    unsafe fn merge(even: Self, odd: Self) -> (Self, Self);
}

/// How samples in memory become lanes, and back.
pub(super) trait Storage<V: Vector>: Copy {
    unsafe fn load(from: *const Self) -> V;
    unsafe fn store(value: V, to: *mut Self);
    /// Past the caches; `to` begins at a multiple of the size of what is written.
    unsafe fn stream(value: V, to: *mut Self);
}

macro_rules! own_lane {
    ($($t:ty),*) => {$(
        impl<V: Vector<Lane = $t>> Storage<V> for $t {
            #[inline(always)]
            unsafe fn load(from: *const $t) -> V {
                unsafe { V::load(from) }
            }
            #[inline(always)]
            unsafe fn store(value: V, to: *mut $t) {
                unsafe { value.store(to) }
            }
            #[inline(always)]
            unsafe fn stream(value: V, to: *mut $t) {
                unsafe { value.stream(to) }
            }
        }
    )*};
}

own_lane!(i16, f32);

/// Vectors of integers.
pub(super) trait Bits: Vector {
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    /// Shifted right, the sign kept.
    unsafe fn shr(self, by: u32) -> Self;
}
