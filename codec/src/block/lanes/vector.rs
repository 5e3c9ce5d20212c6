//! Vectors of 32 numbers of 16 bits, one per lane: portable arrays for automatic vectorisation, and intrinsics for
//! x86-64.
//!
//! Whoever makes a vector, or calls a function without one, hands over a proof that the processor has its instructions.
//! So no safe function executes an instruction that is not there.

use super::{Digits, LANES, Set};
use std::array::from_fn;

/// A 16-bit number for each lane. Everything must be inlined into functions with the target features.
pub trait Vector: Copy {
    /// Proof that the processor has the instructions.
    type Proof: Copy;

    /// Loads numbers.
    fn new(proof: Self::Proof, numbers: &[u16; LANES]) -> Self;
    /// Returns the numbers.
    fn numbers(self) -> [u16; LANES];
    /// One number in all lanes.
    fn splat(proof: Self::Proof, number: u16) -> Self;
    /// Lanes in which a bit is set.
    fn bit(self, bit: u32) -> Set;
    /// Sets bits in some lanes.
    fn with(self, lanes: Set, bits: u16) -> Self;
    /// Lanes that are 0.
    fn zeros(self) -> Set;
    /// `self` in the given lanes, `other` in the rest.
    fn or_else(self, lanes: Set, other: Self) -> Self;
    /// Sum modulo 2^16.
    fn plus(self, other: Self) -> Self;
    /// Difference modulo 2^16.
    fn minus(self, other: Self) -> Self;
    /// Upper half of the product.
    fn upper(self, other: Self) -> Self;
    /// Lanes in which `self` is larger.
    fn above(self, other: Self) -> Set;
    /// Looks up each lane's digits, a number below `COUNT`, in a table of at least 32 numbers.
    fn lookup<const COUNT: usize>(proof: Self::Proof, table: &[u16], digits: &Digits) -> Self;
    /// Fills the given lanes with consecutive numbers from a slice as long as the vector.
    fn fill(self, lanes: Set, numbers: &[u16]) -> Self;

    /// Extracts the bits at the positions of a set, and packs them.
    #[inline(always)]
    fn extract(_: Self::Proof, bits: u32, mut set: u32) -> u32 {
        let (mut all, mut at) = (0, 0);
        while set != 0 {
            all |= (bits >> set.trailing_zeros() & 1) << at;
            at += 1;
            set &= set - 1;
        }
        all
    }

    /// Inverse of `extract`.
    #[inline(always)]
    fn deposit(_: Self::Proof, mut bits: u32, mut set: u32) -> u32 {
        let mut all = 0;
        while set != 0 {
            all |= (bits & 1) << set.trailing_zeros();
            bits >>= 1;
            set &= set - 1;
        }
        all
    }
}

/// Version for any processor.
#[derive(Clone, Copy)]
pub struct Portable([u16; LANES]);

impl Portable {
    /// All bits in the lanes of a set.
    #[inline(always)]
    fn mask(lanes: Set) -> [u16; LANES] {
        let halves = [lanes as u16, (lanes >> 16) as u16];
        from_fn(|lane| if halves[lane / 16] & 1 << (lane % 16) != 0 { u16::MAX } else { 0 })
    }

    /// Lanes for which a predicate holds.
    #[inline(always)]
    fn set(holds: impl Fn(usize) -> bool) -> Set {
        let half = |first: usize| (0..16).fold(0u16, |set, i| set | if holds(first + i) { 1 << i } else { 0 });
        Set::from(half(0)) | Set::from(half(16)) << 16
    }
}

impl Vector for Portable {
    type Proof = ();

    #[inline(always)]
    fn new((): (), numbers: &[u16; LANES]) -> Self {
        Portable(*numbers)
    }
    #[inline(always)]
    fn numbers(self) -> [u16; LANES] {
        self.0
    }
    #[inline(always)]
    fn splat((): (), number: u16) -> Self {
        Portable([number; LANES])
    }
    #[inline(always)]
    fn bit(self, bit: u32) -> Set {
        Portable::set(|lane| self.0[lane] & 1 << bit != 0)
    }
    #[inline(always)]
    fn with(self, lanes: Set, bits: u16) -> Self {
        let mask = Portable::mask(lanes);
        Portable(from_fn(|lane| self.0[lane] | mask[lane] & bits))
    }
    #[inline(always)]
    fn zeros(self) -> Set {
        Portable::set(|lane| self.0[lane] == 0)
    }
    #[inline(always)]
    fn or_else(self, lanes: Set, other: Self) -> Self {
        let mask = Portable::mask(lanes);
        Portable(from_fn(|lane| mask[lane] & self.0[lane] | !mask[lane] & other.0[lane]))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Portable(from_fn(|lane| self.0[lane].wrapping_add(other.0[lane])))
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Portable(from_fn(|lane| self.0[lane].wrapping_sub(other.0[lane])))
    }
    #[inline(always)]
    fn upper(self, other: Self) -> Self {
        Portable(from_fn(|lane| ((u32::from(self.0[lane]) * u32::from(other.0[lane])) >> 16) as u16))
    }
    #[inline(always)]
    fn above(self, other: Self) -> Set {
        Portable::set(|lane| self.0[lane] > other.0[lane])
    }
    #[inline(always)]
    fn lookup<const COUNT: usize>((): (), table: &[u16], digits: &Digits) -> Self {
        let masks = digits.map(Portable::mask);
        let number = |lane: usize| {
            // Selects one of two numbers by a digit.
            let of = |digit: usize, zero: u16, one: u16| zero ^ masks[digit][lane] & (zero ^ one);
            let pair = |first: usize| of(0, table[first], table[first + 1]);
            let four = |first: usize| of(1, pair(first), pair(first + 2));
            match COUNT {
                2 => pair(0),
                5 => of(2, four(0), table[4]),
                _ => of(3, of(2, four(0), four(4)), table[8]),
            }
        };
        Portable(from_fn(number))
    }
    #[inline(always)]
    fn fill(mut self, mut lanes: Set, numbers: &[u16]) -> Self {
        for number in numbers {
            self.0[lanes.trailing_zeros() as usize & (LANES - 1)] = *number;
            lanes &= lanes.wrapping_sub(1);
        }
        self
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512, HasAvx2, HasAvx512};

/// Values of these types exist only on processors with the instructions: a proof makes them.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use super::super::{Digits, LANES, Set};
    use super::Vector;
    use std::arch::x86_64::*;

    /// Intrinsic without memory access.
    macro_rules! op {
        ($call:expr) => {
            // SAFETY: the processor has the instruction, since there is a vector or a proof.
            unsafe { $call }
        };
    }

    macro_rules! has {
        ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
    }

    /// Proof that the processor has AVX2 and BMI2.
    #[derive(Clone, Copy)]
    pub struct HasAvx2(());

    impl HasAvx2 {
        /// The proof, if the processor has them.
        pub fn detect() -> Option<HasAvx2> {
            has!("avx2" "bmi1" "bmi2" "popcnt" "lzcnt").then_some(HasAvx2(()))
        }
    }

    /// Proof that the processor has AVX-512 of Ice Lake and Zen 4, and what [`HasAvx2`] proves.
    #[derive(Clone, Copy)]
    pub struct HasAvx512(());

    impl HasAvx512 {
        /// The proof, if the processor has them.
        pub fn detect() -> Option<HasAvx512> {
            HasAvx2::detect()?;
            has!("avx512f" "avx512bw" "avx512vl" "avx512vbmi2" "avx512vpopcntdq").then_some(HasAvx512(()))
        }
    }

    /// One register.
    #[derive(Clone, Copy)]
    pub struct Avx512(__m512i);

    impl Vector for Avx512 {
        type Proof = HasAvx512;

        #[inline(always)]
        fn new(_: HasAvx512, numbers: &[u16; LANES]) -> Self {
            // SAFETY: the array has the 64 bytes that are read.
            Avx512(unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) })
        }
        #[inline(always)]
        fn numbers(self) -> [u16; LANES] {
            let mut numbers = [0; LANES];
            // SAFETY: the array has the 64 bytes that are written.
            unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), self.0) };
            numbers
        }
        #[inline(always)]
        fn splat(_: HasAvx512, number: u16) -> Self {
            Avx512(op!(_mm512_set1_epi16(number as i16)))
        }
        #[inline(always)]
        fn bit(self, bit: u32) -> Set {
            op!(_mm512_test_epi16_mask(self.0, _mm512_set1_epi16(1 << bit)))
        }
        #[inline(always)]
        fn with(self, lanes: Set, bits: u16) -> Self {
            Avx512(op!(_mm512_or_si512(self.0, _mm512_maskz_set1_epi16(lanes, bits as i16))))
        }
        #[inline(always)]
        fn zeros(self) -> Set {
            op!(_mm512_testn_epi16_mask(self.0, self.0))
        }
        #[inline(always)]
        fn or_else(self, lanes: Set, other: Self) -> Self {
            Avx512(op!(_mm512_mask_mov_epi16(other.0, lanes, self.0)))
        }
        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            Avx512(op!(_mm512_add_epi16(self.0, other.0)))
        }
        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            Avx512(op!(_mm512_sub_epi16(self.0, other.0)))
        }
        #[inline(always)]
        fn upper(self, other: Self) -> Self {
            Avx512(op!(_mm512_mulhi_epu16(self.0, other.0)))
        }
        #[inline(always)]
        fn above(self, other: Self) -> Set {
            op!(_mm512_cmpgt_epu16_mask(self.0, other.0))
        }
        #[inline(always)]
        fn lookup<const COUNT: usize>(proof: HasAvx512, table: &[u16], digits: &Digits) -> Self {
            let Some(table) = table.first_chunk() else { return Avx512::splat(proof, 0) };
            let mut index = op!(_mm512_maskz_set1_epi16(digits[0], 1));
            for (i, digit) in digits.iter().enumerate().skip(1) {
                if COUNT > 1 << i {
                    index = op!(_mm512_mask_add_epi16(index, *digit, index, _mm512_set1_epi16(1 << i)));
                }
            }
            Avx512(op!(_mm512_permutexvar_epi16(index, Avx512::new(proof, table).0)))
        }
        #[inline(always)]
        fn fill(self, lanes: Set, numbers: &[u16]) -> Self {
            let there = (u64::from(u32::MAX) >> (32 - numbers.len().min(LANES))) as u32;
            // SAFETY: the mask limits the load to the numbers present.
            let numbers = unsafe { _mm512_maskz_loadu_epi16(there, numbers.as_ptr().cast()) };
            Avx512(op!(_mm512_mask_expand_epi16(self.0, lanes, numbers)))
        }
        #[inline(always)]
        fn extract(_: HasAvx512, bits: u32, set: u32) -> u32 {
            op!(_pext_u32(bits, set))
        }
        #[inline(always)]
        fn deposit(_: HasAvx512, bits: u32, set: u32) -> u32 {
            op!(_pdep_u32(bits, set))
        }
    }

    /// Two registers.
    #[derive(Clone, Copy)]
    pub struct Avx2([__m256i; 2]);

    impl Avx2 {
        /// All bits in the lanes of a set.
        #[inline(always)]
        fn mask(lanes: Set) -> [__m256i; 2] {
            op!({
                let bits =
                    _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
                let half = |half: i16| _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16(half), bits), bits);
                [half(lanes as i16), half((lanes >> 16) as i16)]
            })
        }

        /// Lanes with all bits set; the others must be 0.
        #[inline(always)]
        fn set([low, high]: [__m256i; 2]) -> Set {
            op!(_mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high)))) as Set
        }

        #[inline(always)]
        fn both(self, other: Self, op: impl Fn(__m256i, __m256i) -> __m256i) -> Self {
            Avx2([op(self.0[0], other.0[0]), op(self.0[1], other.0[1])])
        }
    }

    impl Vector for Avx2 {
        type Proof = HasAvx2;

        #[inline(always)]
        fn new(_: HasAvx2, numbers: &[u16; LANES]) -> Self {
            // SAFETY: the slice has the 32 bytes that are read.
            let half = |at: usize| unsafe { _mm256_loadu_si256(numbers[at..at + 16].as_ptr().cast()) };
            Avx2([half(0), half(16)])
        }
        #[inline(always)]
        fn numbers(self) -> [u16; LANES] {
            let mut numbers = [0u16; LANES];
            for (numbers, half) in numbers.as_chunks_mut::<16>().0.iter_mut().zip(self.0) {
                // SAFETY: the array has the 32 bytes that are written.
                unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), half) };
            }
            numbers
        }
        #[inline(always)]
        fn splat(_: HasAvx2, number: u16) -> Self {
            Avx2([op!(_mm256_set1_epi16(number as i16)); 2])
        }
        #[inline(always)]
        fn bit(self, bit: u32) -> Set {
            let bit = Avx2::splat(HasAvx2(()), 1 << bit);
            Avx2::set(self.both(bit, |a, bit| op!(_mm256_cmpeq_epi16(_mm256_and_si256(a, bit), bit))).0)
        }
        #[inline(always)]
        fn with(self, lanes: Set, bits: u16) -> Self {
            let bits = Avx2(Avx2::mask(lanes)).both(Avx2::splat(HasAvx2(()), bits), |a, b| op!(_mm256_and_si256(a, b)));
            self.both(bits, |a, b| op!(_mm256_or_si256(a, b)))
        }
        #[inline(always)]
        fn zeros(self) -> Set {
            Avx2::set(self.both(Avx2::splat(HasAvx2(()), 0), |a, b| op!(_mm256_cmpeq_epi16(a, b))).0)
        }
        #[inline(always)]
        fn or_else(self, lanes: Set, other: Self) -> Self {
            let mask = Avx2::mask(lanes);
            let half = |i: usize| op!(_mm256_blendv_epi8(other.0[i], self.0[i], mask[i]));
            Avx2([half(0), half(1)])
        }
        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            self.both(other, |a, b| op!(_mm256_add_epi16(a, b)))
        }
        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            self.both(other, |a, b| op!(_mm256_sub_epi16(a, b)))
        }
        #[inline(always)]
        fn upper(self, other: Self) -> Self {
            self.both(other, |a, b| op!(_mm256_mulhi_epu16(a, b)))
        }
        #[inline(always)]
        fn above(self, other: Self) -> Set {
            !Avx2::set(self.both(other, |a, b| op!(_mm256_cmpeq_epi16(_mm256_max_epu16(a, b), b))).0)
        }
        #[inline(always)]
        fn lookup<const COUNT: usize>(proof: HasAvx2, table: &[u16], digits: &Digits) -> Self {
            let Some(table) = table.first_chunk() else { return Avx2::splat(proof, 0) };
            // Probabilities are in the upper bytes of the table and go to the upper bytes of lanes.
            let mut index = Avx2::splat(proof, 0x0080);
            for (i, digit) in digits.iter().enumerate() {
                if COUNT > 1 << i {
                    index = index.with(*digit, 0x0100 << i);
                }
            }
            op!({
                let upper = _mm256_srli_epi16::<8>(Avx2::new(proof, table).0[0]);
                let table = _mm256_permute4x64_epi64::<0b10_00_10_00>(_mm256_packus_epi16(upper, upper));
                let [low, high] = index.0;
                Avx2([_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high)])
            })
        }
        #[inline(always)]
        fn fill(self, mut lanes: Set, numbers: &[u16]) -> Self {
            let mut all = self.numbers();
            for number in numbers {
                all[lanes.trailing_zeros() as usize & (LANES - 1)] = *number;
                lanes &= lanes.wrapping_sub(1);
            }
            Avx2::new(HasAvx2(()), &all)
        }
        #[inline(always)]
        fn extract(_: HasAvx2, bits: u32, set: u32) -> u32 {
            op!(_pext_u32(bits, set))
        }
        #[inline(always)]
        fn deposit(_: HasAvx2, bits: u32, set: u32) -> u32 {
            op!(_pdep_u32(bits, set))
        }
    }
}
