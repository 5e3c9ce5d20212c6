//! Walking down rows: what is derived from the window, and rows fetched ahead through a ring in shared memory.

use super::{Axis, Border, DelayLine};
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Place, Scalar, Stmt};
use crate::schedule::Arithmetic;
use crate::window::{Halo, Window};
use lifting_dsl::Boundary;

/// Most registers that a thread may hold in its delay line.
pub const MAX_REGISTERS: i64 = 160;

/// Walks a multiprocessor that chunks are cut short for, so that small images keep it busy.
pub const WALKS: u32 = 12;

/// Most chunks of a launch: blocks in y.
pub const MAX_CHUNKS: i32 = 65535;

/// Row pairs of a chunk, where the image is large: measured best (docs/notebook/stream.md) for a short halo, whose rows
/// are then still in the second-level cache when they are read again, and for a long one, which is computed again for
/// each chunk. Kernels of one axis have it in their text, which is the same on all devices.
const CHUNK: [i32; 2] = [10, 28];
/// The longest short halo, in row pairs.
const SHORT_HALO: i64 = 4;

/// How a scheme walks down rows.
#[derive(Clone, Debug)]
pub struct Descent {
    /// The window.
    pub window: Window,
    /// Row pairs above a chunk that are read.
    pub above: i64,
    /// Row pairs by which results are behind the front.
    pub delay: i64,
    /// Registers of a thread's delay line.
    pub registers: i64,
}

impl Descent {
    /// Derives it, where a thread holds so many values of a row.
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

    /// Row pairs that are walked beyond a chunk.
    pub fn halo_pairs(&self) -> i64 {
        self.above + self.delay
    }

    /// Row pairs of a chunk at most.
    pub fn longest_chunk(&self) -> i32 {
        CHUNK[usize::from(self.halo_pairs() > SHORT_HALO)]
    }
}

/// Walks from one row pair to another through a ring of so many. `request` starts the copies of a pair into a slot,
/// unless the walk ends before it; `take` takes the pair in a slot; then its copies are followed by those of the next
/// pair, and `lift` does the rest. The first requests are a loop if that is said: less to fetch.
pub fn walk_down(
    b: &mut Builder,
    (ring, looped): (u32, bool),
    (from, to): (LocalId, LocalId),
    request: impl Fn(&mut Builder, Expr, Expr),
    take: impl FnOnce(&mut Builder, &Expr, LocalId),
    lift: impl FnOnce(&mut Builder, &Expr),
) {
    let last = ring as i32 - 1;
    b.comment(format!("{last} pairs of rows are on their way before the first is needed"));
    let first = |b: &mut Builder, ahead: Expr| {
        request(b, Expr::from(from) + ahead.clone(), ahead);
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
        take(b, &pair, slot);
        let at = || Expr::from(slot);
        let free = b.let_("free", Scalar::I32, at().eq_(0.into()).select(last.into(), at() - 1));
        request(b, pair.clone() + last, free.into());
        b.push(Stmt::CommitCopies);
        b.set(Place::Local(slot), at().eq_(last.into()).select(0.into(), at() + 1));
        lift(b, &pair);
    });
}
