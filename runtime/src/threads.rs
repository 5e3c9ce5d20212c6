//! The thread pool: rayon's current one, or a new one in a forked child.
//!
//! `fork` copies one thread. A child inherits the queues of a pool without its workers, and would wait for them for
//! ever. So the pool remembers its process, and a child starts its own. Without feature `threads`, all work is
//! sequential.

#[cfg(feature = "threads")]
use rayon::prelude::*;

#[cfg(feature = "threads")]
mod pool {
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, Ordering};

    /// The workers of one process.
    pub(super) struct Team {
        process: u32,
        workers: Workers,
    }

    enum Workers {
        /// Those of rayon's current pool.
        Rayon,
        /// Those of a forked child.
        Own(rayon::ThreadPool),
        /// None: the child could not start any.
        Caller,
    }

    /// A lock would stay locked in a child that was forked while another thread held it.
    static TEAM: AtomicPtr<Team> = AtomicPtr::new(null_mut());

    /// The workers of this process; `None` if there are none besides the calling thread.
    pub(super) fn team() -> Option<&'static Team> {
        let process = std::process::id();
        loop {
            let found = TEAM.load(Ordering::Acquire);
            // SAFETY: it is null or a team that was leaked below, and never freed.
            match unsafe { found.as_ref() } {
                Some(team) if team.process == process => {
                    return Some(team).filter(|team| !matches!(team.workers, Workers::Caller));
                }
                _ => {}
            }
            let workers = match found.is_null() {
                true => Workers::Rayon,
                false => rayon::ThreadPoolBuilder::new()
                    .num_threads(rayon::current_num_threads())
                    .build()
                    .map_or(Workers::Caller, Workers::Own),
            };
            let made = Box::into_raw(Box::new(Team { process, workers }));
            if TEAM.compare_exchange(found, made, Ordering::AcqRel, Ordering::Acquire).is_err() {
                // SAFETY: made above, and seen by nobody else.
                drop(unsafe { Box::from_raw(made) });
            }
        }
    }

    impl Team {
        /// Runs work on this thread; what it spawns runs on this pool, and has ended on return.
        pub fn scope<'a, R>(&self, work: impl FnOnce(&rayon::Scope<'a>) -> R) -> R {
            match &self.workers {
                Workers::Own(pool) => pool.in_place_scope(work),
                Workers::Rayon | Workers::Caller => rayon::in_place_scope(work),
            }
        }

        /// Runs parallel work on this pool.
        pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
            match &self.workers {
                Workers::Own(pool) => pool.install(work),
                Workers::Rayon | Workers::Caller => work(),
            }
        }
    }
}

/// Most threads of a plan on a CPU: more pieces than that would only take memory.
pub fn most() -> usize {
    available().max(64)
}

/// Number of threads of the pool.
pub fn available() -> usize {
    #[cfg(feature = "threads")]
    return pool::team().map_or(1, |team| team.run(rayon::current_num_threads).max(1));
    #[cfg(not(feature = "threads"))]
    1
}

/// Calls `one` with the index and the samples of each of the first `count` pieces of that length. The calling thread
/// takes the first one: what it does next finds these samples in its cache.
pub(crate) fn pieces<T: Send>(all: &mut [T], length: usize, count: usize, one: impl Fn(usize, &mut [T]) + Send + Sync) {
    #[cfg(feature = "threads")]
    if let Some(team) = pool::team() {
        let one = &one;
        return team.scope(|scope| {
            let mut pieces = all.chunks_mut(length).take(count).enumerate();
            let first = pieces.next();
            pieces.for_each(|(i, piece)| scope.spawn(move |_| one(i, piece)));
            first.into_iter().for_each(|(i, piece)| one(i, piece));
        });
    }
    all.chunks_mut(length).take(count).enumerate().for_each(|(i, piece)| one(i, piece));
}

/// Calls `one` with each number below `count`, on at most `threads` threads.
pub(crate) fn each(count: usize, threads: usize, one: impl Fn(usize) + Send + Sync) {
    #[cfg(feature = "threads")]
    if let Some(team) = pool::team() {
        let least = count.div_ceil(threads);
        return team.run(|| (0..count).into_par_iter().with_min_len(least).for_each(one));
    }
    let _ = threads;
    (0..count).for_each(one);
}

/// Results of all items, in order.
pub fn map<T: Sync, R: Send>(items: &[T], one: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    #[cfg(feature = "threads")]
    if let Some(team) = pool::team() {
        return team.run(|| items.par_iter().map(one).collect());
    }
    items.iter().map(one).collect()
}
