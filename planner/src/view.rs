//! Strided boxes in arrays, and merging of their axes.

use crate::list::Array;
use crate::problem::{Dims, MAX_RANK};
use lifting_codegen::ir::Scalar;

/// A strided box of samples: element (k₀, k₁, …) is at `offset + Σ kᵢ·strides[i]` of the array. Its extent is stored
/// separately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    pub array: Array,
    pub scalar: Scalar,
    pub offset: i64,
    pub strides: Dims<i64>,
}

impl View {
    /// The box that begins `index` further along `axis`.
    pub fn at(mut self, axis: usize, index: usize) -> View {
        self.offset += index as i64 * self.strides[axis];
        self
    }

    /// A box at the start of an array.
    pub fn strided(array: Array, scalar: Scalar, strides: &[isize]) -> View {
        let mut dims = [0; MAX_RANK];
        dims.iter_mut().zip(strides).for_each(|(d, s)| *d = *s as i64);
        View { array, scalar, offset: 0, strides: dims }
    }

    /// A row-major box at the start of an array; `order` lists the axes, outermost first.
    pub fn packed(array: Array, scalar: Scalar, shape: &[usize], order: &[usize]) -> View {
        let mut strides = [0; MAX_RANK];
        let mut next = 1i64;
        for &axis in order.iter().rev() {
            strides[axis] = next;
            next *= shape[axis].max(1) as i64;
        }
        View { array, scalar, offset: 0, strides }
    }

    /// The axis with consecutive samples in memory. Axes of one sample do not count.
    pub fn unit_axis(&self, shape: &[usize]) -> Option<usize> {
        (0..shape.len()).find(|&axis| shape[axis] > 1 && self.strides[axis] == 1)
    }
}

/// An axis of a box common to several arrays: its length and each array's stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dim<const N: usize> {
    pub len: i64,
    pub steps: [i64; N],
    /// Whether it may be joined with another.
    pub joins: bool,
}

/// Maximum number of lines, or of samples in a line, of a kernel: indices within it, and a block beyond, fit `i32`.
pub(crate) const MOST: i64 = i32::MAX as i64 - (1 << 16);

/// Sorts axes from far to near, drops those of one sample, and joins those that are contiguous in every array.
pub(crate) fn joined<const N: usize>(mut dims: Vec<Dim<N>>) -> Vec<Dim<N>> {
    dims.retain(|d| d.len > 1);
    dims.sort_by_key(|d| std::cmp::Reverse(d.steps.map(i64::unsigned_abs)));
    let mut joined: Vec<Dim<N>> = Vec::new();
    for dim in dims {
        if let Some(outer) = joined.last_mut()
            && outer.joins
            && dim.joins
            && (0..N).all(|i| outer.steps[i] == dim.len * dim.steps[i])
            && outer.len.checked_mul(dim.len).is_some_and(|len| len <= MOST)
        {
            *outer = Dim { len: outer.len * dim.len, ..dim };
        } else {
            joined.push(dim);
        }
    }
    joined
}

/// All positions in a box, as offsets in each array, from near to far.
pub(crate) fn positions<const N: usize>(dims: &[Dim<N>]) -> impl Iterator<Item = [i64; N]> + '_ {
    let count: i64 = dims.iter().map(|d| d.len).product();
    (0..count).map(move |mut index| {
        let mut at = [0; N];
        for dim in dims.iter().rev() {
            for (at, step) in at.iter_mut().zip(dim.steps) {
                *at += index % dim.len * step;
            }
            index /= dim.len;
        }
        at
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(len: i64, steps: [i64; 2]) -> Dim<2> {
        Dim { len, steps, joins: true }
    }

    #[test]
    fn axes_are_joined_where_all_arrays_agree() {
        // 4 × 5 × 6 contiguous in both: one axis.
        assert_eq!(joined(vec![dim(6, [1, 1]), dim(4, [30, 30]), dim(5, [6, 6])]), [dim(120, [1, 1])]);
        // The second array has a pitch.
        assert_eq!(joined(vec![dim(4, [30, 40]), dim(5, [6, 8]), dim(6, [1, 1])]), [dim(20, [6, 8]), dim(6, [1, 1])]);
        assert_eq!(joined(vec![dim(1, [7, 9]), dim(3, [-5, 5])]), [dim(3, [-5, 5])]);
        let fixed = Dim { joins: false, ..dim(5, [6, 6]) };
        assert_eq!(joined(vec![fixed, dim(6, [1, 1])]).len(), 2);
        // Not beyond the limit of an index.
        assert_eq!(joined(vec![dim(1 << 20, [1 << 20, 1 << 20]), dim(1 << 20, [1, 1])]).len(), 2);
    }

    #[test]
    fn positions_run_through_the_box() {
        let dims = [dim(2, [10, 3]), dim(3, [1, -1])];
        let all: Vec<_> = positions(&dims).collect();
        assert_eq!(all, [[0, 0], [1, -1], [2, -2], [10, 3], [11, 2], [12, 1]]);
        assert_eq!(positions::<2>(&[]).collect::<Vec<_>>(), [[0, 0]]);
    }
}
