//! What the tests of plans share.

use lifting::{Domain, Sample};

/// Noise that uses all bits of integers and a modest range of reals, so that three levels stay finite in `f16`.
pub fn noise<T: Sample>(n: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let bits = (state >> 16) as i64;
            let value = if T::KIND.domain() == Domain::Integer { bits } else { bits % 32 };
            <T as lifting_dsl::sample::Sample>::from_i64(value)
        })
        .collect()
}
