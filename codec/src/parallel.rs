//! Parallel map: on rayon's thread pool with feature `threads`, else sequential.

/// Number of threads.
pub fn threads() -> usize {
    #[cfg(feature = "threads")]
    {
        rayon::current_num_threads()
    }
    #[cfg(not(feature = "threads"))]
    1
}

/// Results of all items, in order.
pub fn map<T: Sync, R: Send>(items: &[T], one: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        lifting::threads::install(|| items.par_iter().map(one).collect())
    }
    #[cfg(not(feature = "threads"))]
    items.iter().map(one).collect()
}
