//! Samples of every type: random ones, extreme ones, and their bytes.

use crate::random::Random;
use lifting_dsl::sample::Sample;

/// A sample type with test data.
pub trait TestSample: Sample + PartialOrd {
    /// A random sample; if `extreme`, one such as the largest, the smallest or zero.
    fn random(random: &mut Random, extreme: bool) -> Self;

    /// The bytes of samples in memory.
    fn bytes(samples: &[Self]) -> Vec<u8>;

    /// The samples with these bytes.
    fn from_bytes(bytes: &[u8]) -> Vec<Self>;

    /// Whether both have the same bits; NaNs count as equal.
    fn same(a: &[Self], b: &[Self]) -> bool {
        let bits = |x: &Self| Self::bytes(std::slice::from_ref(x));
        let is_nan = |x: &Self| x.partial_cmp(x).is_none();
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| bits(x) == bits(y) || (is_nan(x) && is_nan(y)))
    }
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

            fn from_bytes(bytes: &[u8]) -> Vec<$t> {
                let (samples, _) = bytes.as_chunks();
                samples.iter().map(|b| <$t>::from_ne_bytes(*b)).collect()
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

            fn from_bytes(bytes: &[u8]) -> Vec<$t> {
                let (samples, _) = bytes.as_chunks();
                samples.iter().map(|b| <$t>::from_ne_bytes(*b)).collect()
            }
        }
    )*};
}

integers! { i16 i32 i64 }
reals! { f32 f64 }
