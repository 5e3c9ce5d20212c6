//! The thread pool of a process: rayon's, and a separate pool in a forked child.
//!
//! A fork keeps only the forking thread. In the child, rayon's pool has no workers, and its work would never finish.

/// Maximum number of threads of a CPU plan: more pieces would only take memory.
pub fn most() -> usize {
    available().max(64)
}

/// Number of threads of the pool.
pub fn available() -> usize {
    #[cfg(feature = "threads")]
    return rayon::current_num_threads().max(1);
    #[cfg(not(feature = "threads"))]
    1
}

/// Runs work that uses rayon in this process's pool.
pub fn install<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    #[cfg(all(feature = "threads", unix))]
    if let Some(pool) = forked::pool() {
        return pool.install(work);
    }
    work()
}

#[cfg(all(feature = "threads", unix))]
mod forked {
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

    struct Child {
        process: u32,
        pool: ThreadPool,
    }

    /// Process of rayon's global pool; 0 before the first use.
    static FIRST: AtomicU32 = AtomicU32::new(0);
    /// Pool of the latest forked process. Pools are never freed: a process has at most one.
    static CHILD: AtomicPtr<Child> = AtomicPtr::new(std::ptr::null_mut());

    /// The pool of a forked child; `None` in the first process and inside a pool.
    pub fn pool() -> Option<&'static ThreadPool> {
        let process = std::process::id();
        let first =
            FIRST.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed).unwrap_or_else(|first| first);
        if first == 0 || first == process || rayon::current_thread_index().is_some() {
            return None;
        }
        let current = CHILD.load(Ordering::Acquire);
        // SAFETY: null, or a pool that was leaked below.
        if let Some(child) = unsafe { current.as_ref() }
            && child.process == process
        {
            return Some(&child.pool);
        }
        let pool = ThreadPoolBuilder::new().num_threads(super::available()).build().or_else(|_| {
            // A pool of the calling thread starts no thread, so it cannot fail to.
            ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()
        });
        let child = Box::into_raw(Box::new(Child { process, pool: pool.ok()? }));
        match CHILD.compare_exchange(current, child, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: just leaked.
            Ok(_) => Some(unsafe { &(*child).pool }),
            Err(other) => {
                // SAFETY: no other thread has seen this one; a faster thread leaked `other`.
                unsafe {
                    drop(Box::from_raw(child));
                    Some(&(*other).pool)
                }
            }
        }
    }
}
