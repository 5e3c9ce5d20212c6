//! Arrays in memory with a shadow, which records the accesses to each element, and traffic counts.

mod global;
mod shared;

pub(super) use global::GlobalArray;
pub(super) use shared::{Cells, Epoch, SharedArray};

use super::fault::{FaultKind, Rival};
use super::pure::{Active, Column, Stop};
use crate::ir::path::StmtId;
use crate::ir::{MAX_WARP, Scalar};

/// Another access, as the shadow records it: statement, and number of the thread in the block or the launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    pub(super) writes: bool,
    pub(super) statement: StmtId,
    pub(super) thread: u32,
}

/// Turns shadow records into words.
pub(super) trait Witness {
    /// An access by a thread of this block.
    fn in_block(&self, other: Other) -> Rival;
    /// An access by a thread of this launch.
    fn in_launch(&self, other: Other) -> Rival;
}

/// An access by all active threads: each one's element `index` and those after it.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) active: &'a Active,
    pub(super) index: Column<'a>,
    /// Elements moved at once; the address must be a multiple of their size.
    pub(super) lanes: u32,
    /// Elements that each thread touches, at least one; `None`: all.
    pub(super) extent: Option<Column<'a>>,
    /// Lanes of a warp.
    pub(super) warp: u32,
    pub(super) statement: StmtId,
}

/// The accesses of one warp.
struct Warp<'a> {
    threads: &'a [u32],
    /// First element of each thread.
    first: &'a [i64],
    /// Number of elements of each thread.
    extent: &'a [i64],
    /// Elements moved at once.
    lanes: u32,
    /// Whether each thread's elements follow those of the previous thread: the common case, and fast to count.
    consecutive: bool,
}

impl Warp<'_> {
    /// All threads with all elements that they access.
    fn elements(&self) -> impl Iterator<Item = (u32, usize)> {
        let each = self.threads.iter().zip(self.first).zip(self.extent);
        each.flat_map(|((&t, &first), &extent)| (first as usize..(first + extent) as usize).map(move |i| (t, i)))
    }
}

/// Array facts for bounds and alignment: name, element type, number of elements, elements past an aligned address.
type Extent<'a> = (&'a str, Scalar, usize, usize);

impl Request<'_> {
    /// Warp by warp: checks bounds and the alignment of wide accesses, then calls `f`.
    fn warps(&self, array: Extent, mut f: impl FnMut(Warp) -> Result<(), Stop>) -> Result<(), Stop> {
        let (_, _, len, offset) = array;
        let (mut firsts, mut extents) = ([0; MAX_WARP as usize], [i64::from(self.lanes); MAX_WARP as usize]);
        self.active.warps(self.warp, |threads| {
            let first = &mut firsts[..threads.len()];
            first.iter_mut().zip(threads).for_each(|(first, &t)| *first = self.index.get(t) as i64);
            let extent = &mut extents[..threads.len()];
            if let Some(column) = self.extent {
                extent.iter_mut().zip(threads).for_each(|(extent, &t)| *extent = column.get(t) as i64);
            }
            let (first, extent, lanes) = (&*first, &*extent, i64::from(self.lanes));
            let consecutive = first.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(lanes))
                && (self.extent.is_none() || extent.iter().all(|extent| *extent == lanes));
            let wrong = |i: &usize| {
                let index = first[*i];
                index < 0 || index > len as i64 - extent[*i] || lanes > 1 && (index + offset as i64) % lanes != 0
            };
            // For consecutive elements, the ends suffice.
            let fine = consecutive && !wrong(&0) && !wrong(&(threads.len() - 1));
            if !fine && let Some(i) = (0..threads.len()).find(wrong) {
                return Err(Box::new((self.refusal(array, first[i], extent[i]), threads[i])));
            }
            f(Warp { threads, first, extent, lanes: self.lanes, consecutive })
        })
    }

    fn refusal(&self, (name, scalar, len, offset): Extent, index: i64, extent: i64) -> FaultKind {
        let (array, element, lanes) = (name.to_owned(), scalar.bytes() as u64, self.lanes);
        if index < 0 || index > len as i64 - extent {
            return FaultKind::OutOfBounds { array, index, lanes: extent as u32, len };
        }
        let address = (index as u64 + offset as u64) * element;
        FaultKind::Misaligned { array, index, lanes, address, bytes: element * u64::from(lanes) }
    }
}
