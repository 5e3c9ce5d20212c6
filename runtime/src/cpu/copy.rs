//! Strided copies that repeat the border of a pad, or crop it.

use super::Shared;
use crate::data::{MAX_RANK, RawView, RawViewMut};

/// Copies `src` to `dst`. If `dst` is longer along an axis, the last sample is repeated; if it is shorter, the rest of
/// `src` is dropped.
///
/// # Safety
/// Both views must be valid, `dst` must not overlap `src`, and no two of its indices may share an address.
pub(super) unsafe fn copy<T: Copy>(src: RawView<T>, dst: RawViewMut<T>, threads: usize) {
    let rank = dst.rank;
    if dst.shape[..rank].contains(&0) || src.shape[..rank].contains(&0) {
        return;
    }
    // Rows run along the last axis; axes that are contiguous in both views merge into one row.
    let mut outer = rank.saturating_sub(1);
    let mut row = if rank == 0 { 1 } else { dst.shape[outer] };
    let dense = rank == 0 || (src.strides[outer] == 1 && dst.strides[outer] == 1);
    while dense
        && outer > 0
        && src.shape[outer] == dst.shape[outer]
        && src.strides[outer - 1] == row as isize
        && dst.strides[outer - 1] == row as isize
        && src.shape[outer - 1] == dst.shape[outer - 1]
    {
        outer -= 1;
        row *= dst.shape[outer];
    }
    let available = if dense && outer + 1 < rank {
        row
    } else if rank == 0 {
        1
    } else {
        src.shape[outer].min(row)
    };
    let (step_src, step_dst) = if dense { (1, 1) } else { (src.strides[outer], dst.strides[outer]) };

    let views = Shared((src, dst));
    let one = |index: usize| {
        let (src, dst) = views.get();
        let (mut from, mut to, mut rest) = (0isize, 0isize, index);
        for axis in (0..outer.min(MAX_RANK)).rev() {
            let i = rest % dst.shape[axis];
            rest /= dst.shape[axis];
            from += i.min(src.shape[axis] - 1) as isize * src.strides[axis];
            to += i as isize * dst.strides[axis];
        }
        // SAFETY: the indices are within both views, by the caller's promise.
        unsafe {
            let (from, to) = (src.ptr.offset(from), dst.ptr.offset(to));
            if dense {
                std::ptr::copy_nonoverlapping(from, to, available);
            } else {
                for i in 0..available as isize {
                    *to.offset(i * step_dst) = *from.offset(i * step_src);
                }
            }
            let last = *from.offset((available as isize - 1) * step_src);
            for i in available..row {
                *to.offset(i as isize * step_dst) = last;
            }
        }
    };
    let rows: usize = dst.shape[..outer].iter().product();
    if threads > 1 && rows > 1 && rows.saturating_mul(row) >= 1 << 16 {
        crate::threads::each(rows, threads, one);
    } else {
        (0..rows).for_each(one);
    }
}
