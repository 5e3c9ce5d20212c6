//! Samples of every type: random ones, extreme ones, and their bytes.

use crate::random::Random;
use lifting_dsl::sample::Sample;

/// A type of samples that tests make up.
pub trait TestSample: Sample {
    /// A random sample; if `extreme`, one of the largest, the smallest and zero.
    fn random(random: &mut Random, extreme: bool) -> Self;

    /// Their bytes in memory.
    fn bytes(samples: &[Self]) -> Vec<u8>;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl TestSample for $t {
            fn random(random: &mut Random, extreme: bool) -> $t {
                match extreme {
                    true => [<$t>::MIN, <$t>::MAX, 0, -1][random.below(4) as usize],
                    false => random.bits() as $t,
                }
            }

            fn bytes(samples: &[$t]) -> Vec<u8> {
                samples.iter().flat_map(|x| x.to_ne_bytes()).collect()
            }
        }
    )*};
}

macro_rules! reals {
    ($($t:ty)*) => {$(
        impl TestSample for $t {
            fn random(random: &mut Random, extreme: bool) -> $t {
                let unit = random.bits() as $t / u64::MAX as $t * 2.0 - 1.0;
                match extreme {
                    true => [unit * 1e-38, unit * 1e30, 0.0, -0.0][random.below(4) as usize],
                    false => unit,
                }
            }

            fn bytes(samples: &[$t]) -> Vec<u8> {
                samples.iter().flat_map(|x| x.to_ne_bytes()).collect()
            }
        }
    )*};
}

integers! { i16 i32 i64 }
reals! { f32 f64 }
