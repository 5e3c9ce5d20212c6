//! Reference copies on the CPU: memcpy, and a copy with non-temporal stores.

use lifting::Sample;
use rayon::prelude::*;

/// Copies between slices of equal length.
pub type Copying<T> = fn(&[T], &mut [T]);

/// A memcpy on all threads of the current pool.
pub fn copy<T: Sample>(from: &[T], to: &mut [T]) {
    by_threads(from, to, |from, to| to.copy_from_slice(from));
}

/// A copy with non-temporal stores, if the target architecture guarantees them. Many memcpy implementations read each
/// target line before they write it; this copy does not.
pub fn streaming<T: Sample>() -> Option<Copying<T>> {
    #[cfg(target_arch = "x86_64")]
    return Some(|from, to| by_threads(from, to, stream));
    #[cfg(not(target_arch = "x86_64"))]
    None
}

fn by_threads<T: Sample>(from: &[T], to: &mut [T], copy: impl Fn(&[T], &mut [T]) + Sync) {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return copy(from, to);
    }
    let piece = from.len().div_ceil(threads).max(1);
    to.par_chunks_mut(piece).zip(from.par_chunks(piece)).for_each(|(to, from)| copy(from, to));
}

#[cfg(target_arch = "x86_64")]
fn stream<T: Sample>(from: &[T], to: &mut [T]) {
    use std::arch::x86_64::*;
    use zerocopy::IntoBytes;
    /// Prefetch distance in bytes.
    const AHEAD: usize = 2048;

    let (from, to) = (from.as_bytes(), to.as_mut_bytes());
    let (first, from) = from.split_at(to.as_ptr().align_offset(64).min(to.len()));
    let (lead, to) = to.split_at_mut(first.len());
    lead.copy_from_slice(first);
    let ((from, last), (to, rest)) = (from.as_chunks::<64>(), to.as_chunks_mut::<64>());
    for (from, to) in from.iter().zip(to) {
        let (from, to): (*const __m128i, *mut __m128i) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        // SAFETY: both chunks have 64 bytes and `to` is aligned. A prefetch accepts any address. Every x86-64 has SSE2.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(from.wrapping_byte_add(AHEAD).cast());
            for i in 0..4 {
                _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i)));
            }
        }
    }
    rest.copy_from_slice(last);
    // SAFETY: every x86-64 has SSE.
    unsafe { _mm_sfence() };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_whole() {
        let from: Vec<i32> = (0..1001).collect();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for copy in [Some(copy as Copying<i32>), streaming()].into_iter().flatten() {
                for first in 0..17 {
                    let mut to = vec![0; from.len()];
                    pool.install(|| copy(&from[first..], &mut to[first..]));
                    assert_eq!(to[first..], from[first..]);
                    assert!(to[..first].iter().all(|x| *x == 0));
                }
            }
        }
    }
}
