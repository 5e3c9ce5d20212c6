//! Copies of boxes between arrays with strides, as few long rows as possible.

/// An axis of a copy: its length, and the strides of source and target in samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub count: usize,
    pub from: isize,
    pub to: isize,
}

/// A copy of a box: offsets of the first sample, and axes, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    pub from: isize,
    pub to: isize,
    pub axes: Vec<Axis>,
}

impl Walk {
    /// The copy of a box of this shape, from and to the indices `at` of arrays with these strides.
    pub fn new(shape: &[usize], from: (&[usize], &[isize]), to: (&[usize], &[isize])) -> Walk {
        let start = |(at, strides): (&[usize], &[isize])| -> isize {
            at.iter().zip(strides).map(|(at, stride)| *at as isize * stride).sum()
        };
        let mut axes: Vec<Axis> = Vec::new();
        for ((&count, &from), &to) in shape.iter().zip(from.1).zip(to.1) {
            let axis = Axis { count, from, to };
            match axes.last_mut() {
                // Both arrays continue from one index of the outer axis to the next.
                Some(outer) if outer.count == 1 || outer.continues(axis) => {
                    *outer = Axis { count: outer.count * count, ..axis };
                }
                _ if count == 1 => {}
                _ => axes.push(axis),
            }
        }
        if axes.is_empty() {
            axes.push(Axis { count: usize::from(!shape.contains(&0)), from: 1, to: 1 });
        }
        Walk { from: start(from), to: start(to), axes }
    }

    /// The copy with rows of neighbouring samples, if only of one.
    #[cfg(feature = "cuda")]
    pub fn in_rows(mut self) -> Walk {
        if self.axes.last().is_some_and(|axis| axis.from != 1 || axis.to != 1) {
            self.axes.push(Axis { count: 1, from: 1, to: 1 });
        }
        self
    }

    /// The copy with at most `most` axes, for each index of the others: offsets of the first sample.
    pub fn starts(&self, most: usize) -> (Vec<(isize, isize)>, &[Axis]) {
        let (outer, inner) = self.axes.split_at(self.axes.len().saturating_sub(most));
        let mut starts = vec![(self.from, self.to)];
        for axis in outer {
            let along = |(from, to): (isize, isize)| {
                (0..axis.count as isize).map(move |i| (from + i * axis.from, to + i * axis.to))
            };
            starts = starts.into_iter().flat_map(along).collect();
        }
        (starts, inner)
    }

    /// Copies on the host.
    ///
    /// # Safety
    /// All samples of the box must be valid in both arrays, which must not overlap.
    pub unsafe fn copy<T: Copy>(&self, from: *const T, to: *mut T) {
        if self.axes.iter().any(|axis| axis.count == 0) {
            return;
        }
        let (starts, row) = self.starts(1);
        let row = row[0];
        for (source, target) in starts {
            // SAFETY: samples of the box, by the caller's promise.
            unsafe {
                let (source, target) = (from.offset(source), to.offset(target));
                if row.from == 1 && row.to == 1 {
                    std::ptr::copy_nonoverlapping(source, target, row.count);
                    continue;
                }
                for i in 0..row.count as isize {
                    *target.offset(i * row.to) = *source.offset(i * row.from);
                }
            }
        }
    }
}

impl Axis {
    /// Whether this axis and the next inner one are one in both arrays.
    fn continues(&self, inner: Axis) -> bool {
        let length = inner.count as isize;
        self.from == length * inner.from && self.to == length * inner.to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::contiguous;

    #[test]
    fn full_rows_are_one_copy() {
        let (from, to) = (contiguous(&[6, 4, 5]), contiguous(&[9, 4, 5]));
        let whole = Walk::new(&[3, 4, 5], (&[2, 0, 0], &from), (&[1, 0, 0], &to));
        assert_eq!(whole, Walk { from: 40, to: 20, axes: vec![Axis { count: 60, from: 1, to: 1 }] });
        let part = Walk::new(&[3, 4, 2], (&[2, 0, 3], &from), (&[1, 0, 0], &to));
        assert_eq!(part.axes, [Axis { count: 12, from: 5, to: 5 }, Axis { count: 2, from: 1, to: 1 }]);
        assert_eq!((part.from, part.to), (43, 20));
    }

    #[test]
    fn boxes_reach_their_places() {
        let (rows, columns) = (5, 7);
        let data: Vec<u32> = (0..rows * columns).collect();
        // A box of 2 × 3 from (1, 2) of 5 × 7 to (2, 1) of 4 × 4, then every other column.
        for step in [1isize, 2] {
            let mut to = vec![99; 16];
            let strides = [columns as isize, step];
            let walk = Walk::new(&[2, 3], (&[1, 2], &strides), (&[2, 1], &[4, 1]));
            // SAFETY: the box lies within both arrays.
            unsafe { walk.copy(data.as_ptr(), to.as_mut_ptr()) };
            for y in 0..2 {
                for x in 0..3 {
                    let source = (1 + y) * columns + (2 + x) * step as u32;
                    assert_eq!(to[((2 + y) * 4 + 1 + x) as usize], source);
                }
            }
            assert_eq!(to.iter().filter(|v| **v == 99).count(), 10);
        }
    }

    #[test]
    fn lone_samples_and_empty_boxes() {
        let lone = Walk::new(&[1, 1], (&[1, 2], &[3, 1]), (&[0, 0], &[1, 1]));
        assert_eq!(lone, Walk { from: 5, to: 0, axes: vec![Axis { count: 1, from: 1, to: 1 }] });
        let mut to = [7];
        let empty = Walk::new(&[0, 1], (&[0, 0], &[1, 1]), (&[0, 0], &[1, 1]));
        // SAFETY: nothing is copied.
        unsafe { empty.copy([1].as_ptr(), to.as_mut_ptr()) };
        assert_eq!(to, [7]);
    }
}
