//! Costs of a launch, counted as hardware counts them.

use std::ops::{Add, AddAssign};

/// Traffic between threads and global memory, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalTraffic {
    /// Executed statements, counted once per warp.
    pub requests: u64,
    /// 32-byte sectors moved: for each request, the sectors that its lanes touch.
    pub transactions: u64,
    /// Bytes that the threads requested.
    pub bytes: u64,
    /// Elements that the threads requested.
    pub elements: u64,
    /// 32-byte sectors touched at least once in the launch (in a sum over launches: the sum).
    pub unique_sectors: u64,
}

/// Traffic between threads and shared memory, in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedTraffic {
    /// Executed statements, counted once per warp.
    pub requests: u64,
    /// Passes over the 32 banks of 4 bytes. 8-byte accesses are served half a warp at a time, 16-byte accesses a
    /// quarter.
    pub wavefronts: u64,
    /// Wavefronts beyond those that the same accesses would take without bank conflicts.
    pub conflicts: u64,
    /// Bytes that the threads requested.
    pub bytes: u64,
}

/// Operations that threads executed, by class. `mirror` and `wrap` count as [`Operations::FOLD`] integer operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Integer arithmetic, index arithmetic included.
    pub integer: u64,
    /// Floating arithmetic.
    pub float: u64,
    /// Comparisons, selections, logic on `bool`.
    pub logic: u64,
    /// Casts.
    pub cast: u64,
}

impl Operations {
    /// Integer operations that a `mirror` or a `wrap` counts as, those of its helper function.
    pub const FOLD: u64 = 4;

    /// All counts, multiplied by `n`.
    pub fn times(self, n: u64) -> Operations {
        let Operations { integer, float, logic, cast } = self;
        Operations { integer: integer * n, float: float * n, logic: logic * n, cast: cast * n }
    }

    /// All classes together.
    pub fn total(&self) -> u64 {
        self.integer + self.float + self.logic + self.cast
    }
}

/// Work of a launch. Counts of several launches add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Launches.
    pub launches: u64,
    /// Blocks.
    pub blocks: u64,
    /// Threads.
    pub threads: u64,
    /// From global memory, asynchronous copies included.
    pub global_loads: GlobalTraffic,
    /// To global memory.
    pub global_stores: GlobalTraffic,
    /// From shared memory.
    pub shared_loads: SharedTraffic,
    /// To shared memory, asynchronous copies included.
    pub shared_stores: SharedTraffic,
    /// Barriers, counted once per block.
    pub barriers: u64,
    /// Shuffles and ballots, counted once per warp.
    pub shuffles: u64,
    /// Warp synchronisations, counted once per warp.
    pub warp_syncs: u64,
    /// Operations, counted once per thread.
    pub operations: Operations,
}

/// The figures of [`Counts`] divided by a number of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerSample {
    /// Elements loaded and stored, together: 2 for a pass that reads and writes each sample once.
    pub moved: f64,
    /// Bytes loaded and stored.
    pub bytes: f64,
    /// 32-byte sectors loaded and stored.
    pub transactions: f64,
    /// Shared-memory wavefronts, both directions.
    pub wavefronts: f64,
    /// Wavefronts due to bank conflicts.
    pub conflicts: f64,
    /// Barriers, counted once per block.
    pub barriers: f64,
    /// Shuffles and ballots, counted once per warp.
    pub shuffles: f64,
    /// Integer operations, index arithmetic included.
    pub integer: f64,
    /// Floating operations.
    pub float: f64,
}

impl Counts {
    /// The counts divided by a number of samples; all zero for no samples.
    pub fn per_sample(&self, samples: u64) -> PerSample {
        let per = |n: u64| if samples == 0 { 0.0 } else { n as f64 / samples as f64 };
        PerSample {
            moved: per(self.global_loads.elements + self.global_stores.elements),
            bytes: per(self.global_loads.bytes + self.global_stores.bytes),
            transactions: per(self.global_loads.transactions + self.global_stores.transactions),
            wavefronts: per(self.shared_loads.wavefronts + self.shared_stores.wavefronts),
            conflicts: per(self.shared_loads.conflicts + self.shared_stores.conflicts),
            barriers: per(self.barriers),
            shuffles: per(self.shuffles),
            integer: per(self.operations.integer),
            float: per(self.operations.float),
        }
    }
}

macro_rules! sums {
    ($($t:ident { $($field:ident)* })*) => {$(
        impl AddAssign for $t {
            fn add_assign(&mut self, other: $t) {
                $(self.$field += other.$field;)*
            }
        }
        impl Add for $t {
            type Output = $t;
            fn add(mut self, other: $t) -> $t {
                self += other;
                self
            }
        }
        impl std::iter::Sum for $t {
            fn sum<I: Iterator<Item = $t>>(all: I) -> $t {
                all.fold($t::default(), |a, b| a + b)
            }
        }
    )*};
}

sums! {
    GlobalTraffic { requests transactions bytes elements unique_sectors }
    SharedTraffic { requests wavefronts conflicts bytes }
    Operations { integer float logic cast }
    Counts { launches blocks threads global_loads global_stores shared_loads shared_stores barriers shuffles warp_syncs operations }
}
