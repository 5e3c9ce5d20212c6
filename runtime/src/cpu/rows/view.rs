//! Rows of samples in memory, wherever they are: an image, a band, a few rows of one that are on their way.

use crate::sample::{Arithmetic, Stored};

/// Rows at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<T> {
    /// The first sample of row 0.
    pub first: *mut T,
    /// From a row to the next.
    pub pitch: isize,
    /// From a sample to the next.
    pub step: isize,
    /// Row k is where row k modulo this is.
    pub turn: usize,
}

/// Rows of all bands, by phases along columns and rows; an image is the first of them.
pub(super) type Grid<T> = [[Rows<T>; 2]; 2];

// SAFETY: workers write distinct samples.
unsafe impl<T> Sync for Rows<T> {}
unsafe impl<T> Send for Rows<T> {}

/// Memory for samples that are not side by side where they come from, or go to.
#[derive(Debug)]
pub(super) struct Staging<W> {
    pub ptr: *mut W,
    pub len: usize,
}

impl<W: Arithmetic> Staging<W> {
    /// So many samples, whatever they hold.
    fn samples<S: Stored<W>>(&mut self, count: usize) -> &mut [S] {
        debug_assert!(count <= self.len && size_of::<S>() <= size_of::<W>());
        // SAFETY: samples are as large as what they are computed in, or smaller, and any bits are a sample.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.cast(), count) }
    }
}

impl<T> Rows<T> {
    /// Row 0 and so on from there.
    pub fn new(first: *mut T, pitch: isize, step: isize) -> Rows<T> {
        Rows { first, pitch, step, turn: usize::MAX }
    }

    /// Sample `column` of row `row`.
    pub fn at(&self, row: isize, column: isize) -> *mut T {
        let row = if self.turn == usize::MAX { row } else { row.rem_euclid(self.turn as isize) };
        self.first.wrapping_offset(row * self.pitch + column * self.step)
    }

    /// Samples `from..end` of a row of `n`, which repeats if they are beyond its ends.
    ///
    /// # Safety
    /// The row has to be valid to read, and not be written while the result is in use.
    pub unsafe fn read<'a, W: Arithmetic>(
        &self,
        row: isize,
        from: isize,
        end: isize,
        n: usize,
        staging: &'a mut Staging<W>,
    ) -> &'a [T]
    where
        T: Stored<W>,
    {
        let (n, count) = (n as isize, (end - from).max(0) as usize);
        if count == 0 {
            return &[];
        }
        // SAFETY: by the caller's promise.
        unsafe {
            if self.step == 1 && from >= 0 && end <= n {
                return std::slice::from_raw_parts(self.at(row, from), count);
            }
            let samples = staging.samples(count);
            for (sample, i) in samples.iter_mut().zip(from..) {
                *sample = *self.at(row, if (0..n).contains(&i) { i } else { i.rem_euclid(n) });
            }
            samples
        }
    }

    /// Writes `count` samples of a row from `from` on, which `fill` makes.
    ///
    /// # Safety
    /// They have to be valid to write.
    pub unsafe fn write<W: Arithmetic>(
        &self,
        row: isize,
        from: isize,
        count: usize,
        staging: &mut Staging<W>,
        fill: impl FnOnce(&mut [T]),
    ) where
        T: Stored<W>,
    {
        if count == 0 {
            return;
        }
        // SAFETY: by the caller's promise.
        unsafe {
            if self.step == 1 {
                return fill(std::slice::from_raw_parts_mut(self.at(row, from), count));
            }
            let samples = staging.samples(count);
            fill(samples);
            for (sample, i) in samples.iter().zip(from..) {
                *self.at(row, i) = *sample;
            }
        }
    }
}
