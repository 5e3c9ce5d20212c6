//! Parallel work: on rayon's thread pool with feature `threads`, else sequentially.

#[cfg(feature = "threads")]
use rayon::prelude::*;

pub(crate) use crate::threads::available;

/// Calls `one` on each of the first `count` pieces of `length` elements.
pub(super) fn pieces<T: Send>(all: &mut [T], length: usize, count: usize, one: impl Fn(usize, &mut [T]) + Send + Sync) {
    #[cfg(feature = "threads")]
    crate::threads::install(|| {
        all.par_chunks_mut(length).take(count).enumerate().for_each(|(i, piece)| one(i, piece));
    });
    #[cfg(not(feature = "threads"))]
    all.chunks_mut(length).take(count).enumerate().for_each(|(i, piece)| one(i, piece));
}

/// Calls `one` for each number below `count`, on up to `threads` threads.
pub(super) fn each(count: usize, threads: usize, one: impl Fn(usize) + Send + Sync) {
    #[cfg(feature = "threads")]
    crate::threads::install(|| (0..count).into_par_iter().with_min_len(count.div_ceil(threads)).for_each(one));
    #[cfg(not(feature = "threads"))]
    {
        let _ = threads;
        (0..count).for_each(one);
    }
}
