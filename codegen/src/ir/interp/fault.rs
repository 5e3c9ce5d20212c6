//! Faults of a running kernel.

use crate::ir::Scalar;
use crate::ir::launch::GridError;
use std::fmt;
use thiserror::Error;

/// A fault: its kind, with the kernel, the statement and the thread.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("kernel `{kernel}`: {kind}\n  {statement}, block {block:?}, thread {thread:?}")]
pub struct Fault {
    /// Name of the kernel.
    pub kernel: String,
    /// The statement in words.
    pub statement: String,
    /// The block, x, y, z.
    pub block: [u32; 3],
    /// The first faulting thread, x, y, z.
    pub thread: [u32; 3],
    /// Kind of the fault.
    pub kind: Box<FaultKind>,
}

/// An access that conflicts with another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// Whether it is a write.
    pub writes: bool,
    /// The statement in words.
    pub statement: String,
    /// Its block, x, y, z.
    pub block: [u32; 3],
    /// Its thread, x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for Rival {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Rival { writes, statement, block, thread } = self;
        let verb = if *writes { "written" } else { "read" };
        write!(f, "{verb} by block {block:?}, thread {thread:?} in {statement}")
    }
}

/// Kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// The arguments do not match the parameters, or the launch is too large to interpret.
    #[error("{0}")]
    Arguments(String),
    /// The grid cannot be evaluated.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// An access beyond the ends of an array.
    #[error("{} outside the {len} elements of `{array}`", elements(*.index, *.lanes))]
    OutOfBounds {
        /// The array.
        array: String,
        /// First element.
        index: i64,
        /// Number of elements.
        lanes: u32,
        /// Length of the array.
        len: usize,
    },
    /// A wide access at an address that is not a multiple of its size.
    #[error("{lanes} elements of `{array}` at once from element {index}: byte {address} is not a multiple of {bytes}")]
    Misaligned {
        /// The array.
        array: String,
        /// First element.
        index: i64,
        /// Number of elements.
        lanes: u32,
        /// Address in bytes, counted from an aligned one.
        address: u64,
        /// Size of the access in bytes.
        bytes: u64,
    },
    /// A value that was never set.
    #[error("`{name}`{} has no value yet", .index.map_or(String::new(), |i| format!(" element {i}")))]
    Uninitialised {
        /// Local or array.
        name: String,
        /// Element of an array.
        index: Option<i64>,
    },
    /// Two threads touch a shared cell between two barriers (or, within a warp, two synchronisations), and one of them
    /// writes.
    #[error(
        "race: element {index} of shared `{array}` is {} here and, without a barrier between, {other}",
        verb(*.writes)
    )]
    SharedRace {
        /// The array.
        array: String,
        /// The element.
        index: i64,
        /// Whether this access writes.
        writes: bool,
        /// The other access.
        other: Rival,
    },
    /// A shared cell is touched while an asynchronous copy to it is in flight.
    #[error(
        "element {index} of shared `{array}` is {} here, but a copy to it is in flight: {other}; the copying thread \
         has not waited for it",
        verb(*.writes)
    )]
    InFlight {
        /// The array.
        array: String,
        /// The element.
        index: i64,
        /// Whether this access writes.
        writes: bool,
        /// The copy.
        other: Rival,
    },
    /// An asynchronous copy that reads fewer than 0 elements, or more than it writes.
    #[error("a copy of {lanes} elements cannot read {valid} of them")]
    CopyExtent {
        /// Elements to be read.
        valid: i64,
        /// Elements written.
        lanes: u32,
    },
    /// Two threads of a launch touch an element of global memory, and one of them writes.
    #[error("race: element {index} of `{array}` is {} here and, in the same launch, {other}", verb(*.writes))]
    GlobalRace {
        /// The array.
        array: String,
        /// The element.
        index: i64,
        /// Whether this access writes.
        writes: bool,
        /// The other access.
        other: Rival,
    },
    /// Global memory is touched that earlier launches may still write.
    #[error(
        "`{array}`, which earlier launches may still write, is {} here by a thread that has not waited for them",
        verb(*.writes)
    )]
    NotWaited {
        /// The array.
        array: String,
        /// Whether this access writes.
        writes: bool,
    },
    /// A barrier that not all threads reach.
    #[error("barrier reached by {active} of {threads} threads")]
    DivergentBarrier {
        /// Threads that reach it.
        active: usize,
        /// Threads of the block.
        threads: usize,
    },
    /// A shuffle that not all lanes of the warp reach.
    #[error("shuffle reached by {active} of {lanes} lanes of warp {warp}")]
    DivergentShuffle {
        /// The warp.
        warp: usize,
        /// Lanes that reach it.
        active: usize,
        /// Lanes of a warp.
        lanes: u32,
    },
    /// A ballot that not all lanes of the warp reach.
    #[error("ballot reached by {active} of {lanes} lanes of warp {warp}")]
    DivergentBallot {
        /// The warp.
        warp: usize,
        /// Lanes that reach it.
        active: usize,
        /// Lanes of a warp.
        lanes: u32,
    },
    /// A warp synchronisation that not all lanes reach.
    #[error("synchronisation reached by {active} of {lanes} lanes of warp {warp}")]
    DivergentSync {
        /// The warp.
        warp: usize,
        /// Lanes that reach it.
        active: usize,
        /// Lanes of a warp.
        lanes: u32,
    },
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// The least value divided by −1.
    #[error("the least {} divided by -1 overflows", .0.name())]
    DivisionOverflow(Scalar),
    /// A shift count out of range.
    #[error("a shift of {} by {count}: it has {} bits", .scalar.name(), .scalar.bytes() * 8)]
    Shift {
        /// The count.
        count: i64,
        /// The type of the shifted value.
        scalar: Scalar,
    },
    /// A float that does not fit the integer type it is cast to; NaN never does.
    #[error("{value} does not fit {}", .to.name())]
    CastOverflow {
        /// The value in decimal.
        value: String,
        /// The type.
        to: Scalar,
    },
    /// A loop that does not advance.
    #[error("the step of a loop is {0}, but must be greater than 0")]
    LoopStep(i64),
    /// A loop variable that overflows its type.
    #[error("the loop variable overflows")]
    LoopOverflow,
    /// An extent below 1 in `mirror` or `wrap`.
    #[error("an extent of {0}, but must be at least 1")]
    Extent(i64),
    /// The launch takes too long.
    #[error("more than {0} statements executed: the kernel may not end")]
    Steps(u64),
}

fn verb(writes: bool) -> &'static str {
    if writes { "written" } else { "read" }
}

fn elements(index: i64, lanes: u32) -> String {
    match lanes {
        1 => format!("element {index} is"),
        n => format!("{n} elements from {index} are"),
    }
}
