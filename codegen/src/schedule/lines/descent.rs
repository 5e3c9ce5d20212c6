//! Walks down rows: parameters derived from the window, and rows prefetched through a ring buffer in shared memory.

use super::{Axis, Border, DelayLine};
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Scalar, Stmt};
use crate::schedule::Arithmetic;
use crate::window::{Halo, Window};
use lifting_dsl::Boundary;

/// Maximum registers of a thread's delay line.
pub const MAX_REGISTERS: i64 = 160;

/// Walks a multiprocessor needs to stay busy: chunks of small images are cut to reach them.
pub const WALKS: u32 = 12;

/// Maximum chunks of a launch: blocks in y.
pub const MAX_CHUNKS: i32 = 65535;

/// Row pairs of a chunk of a large image, for a short halo and for a long one: measured best (docs/notebook/stream.md).
/// A short halo's rows are still in the L2 cache when they are read again; a long halo is recomputed for each chunk.
/// Kernels of one axis have this number in their text, which is the same on all devices.
const CHUNK: [i32; 2] = [10, 28];
/// Longest short halo, in row pairs.
const SHORT_HALO: i64 = 4;

/// A scheme's walk down rows.
#[derive(Clone, Debug)]
pub struct Descent {
    /// The window.
    pub window: Window,
    /// Row pairs read above a chunk.
    pub above: i64,
    /// Lag of results behind the front, in row pairs.
    pub delay: i64,
    /// Registers of a thread's delay line.
    pub registers: i64,
}

impl Descent {
    /// Derives the walk, for threads that hold `of_row` values of a row.
    pub fn new(
        axis: &Axis,
        halo: &Halo,
        boundary: Boundary,
        border: Border,
        arith: Arithmetic,
        of_row: u32,
    ) -> Descent {
        let window = Window::derive(&axis.actions, boundary);
        let values = DelayLine::values(&axis.actions, &window, border, of_row);
        Descent {
            above: halo.pairs_before(),
            delay: window.delay(),
            registers: values * ((arith.work.bytes() as i64 + 3) / 4),
            window,
        }
    }

    /// Row pairs walked beyond a chunk.
    pub fn halo_pairs(&self) -> i64 {
        self.above + self.delay
    }

    /// Maximum row pairs of a chunk.
    pub fn longest_chunk(&self) -> i32 {
        CHUNK[usize::from(self.halo_pairs() > SHORT_HALO)]
    }
}

/// Walks from one row pair to another through a ring of `ring` pairs. `request` starts the copies of a pair into a
/// slot, unless the walk ends before it. `take` takes the pair in a slot; then the copies of the next pair start, and
/// `lift` does the rest. If `looped`, the first requests are a loop, which has fewer instructions.
pub fn walk_down(
    b: &mut Builder,
    (ring, looped): (u32, bool),
    (from, to): (LocalId, LocalId),
    request: impl Fn(&mut Builder, Expr, Expr),
    take: impl FnOnce(&mut Builder, Expr, LocalId),
    lift: impl FnOnce(&mut Builder, Expr),
) {
    let last = ring as i32 - 1;
    b.comment(format!("{last} row pairs are in flight before the first is needed"));
    let request = |b: &mut Builder, pair: Expr, slot: Expr| {
        b.part("request_rows", "Starts copying the rows of a pair, or of two.", |b| request(b, pair, slot));
    };
    let first = |b: &mut Builder, ahead: Expr| {
        request(b, from + ahead, ahead);
        b.push(Stmt::CommitCopies);
    };
    if looped {
        b.for_("ahead", 0, last, 1, first);
    } else {
        b.unrolled("ahead", 0, last, 1, first);
    }
    let slot = b.let_("slot", Scalar::I32, 0);
    b.for_("pair", from, to, 1, |b, pair| {
        b.push(Stmt::WaitCopies(ring - 2));
        take(b, pair, slot);
        let at = slot;
        let free = b.let_("free", Scalar::I32, at.eq_(0).select(last, at - 1));
        request(b, pair + last, free.into());
        b.push(Stmt::CommitCopies);
        b.set(slot, at.eq_(last).select(0, at + 1));
        lift(b, pair);
    });
}
