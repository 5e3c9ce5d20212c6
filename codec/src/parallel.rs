//! Work side by side: on rayon's pool with feature `threads`, else one piece after the other.

/// Pieces that are done side by side.
pub fn threads() -> usize {
    #[cfg(feature = "threads")]
    {
        rayon::current_num_threads()
    }
    #[cfg(not(feature = "threads"))]
    1
}

/// The results for all items, in their order.
pub fn map<T: Sync, R: Send>(items: &[T], one: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        items.par_iter().map(one).collect()
    }
    #[cfg(not(feature = "threads"))]
    items.iter().map(one).collect()
}
