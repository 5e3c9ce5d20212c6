//! Rows of samples in memory: of an image, a band, or a ring buffer.

use crate::sample::{Arithmetic, Stored};

/// Equally spaced rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<T> {
    /// The first sample of row 0.
    pub first: *mut T,
    /// Samples from a row to the next.
    pub pitch: isize,
    /// Samples from one sample to the next.
    pub step: isize,
    /// Length of the ring buffer: row k is stored at k modulo `turn`.
    pub turn: usize,
}

/// Rows of all bands, by phases along columns and rows; an image is the first entry.
pub(super) type Grid<T> = [[Rows<T>; 2]; 2];

// SAFETY: workers write distinct samples.
unsafe impl<T> Sync for Rows<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Rows<T> {}

/// Staging memory for samples that are not contiguous at their source or target.
#[derive(Debug)]
pub(super) struct Staging<W> {
    pub ptr: *mut W,
    pub len: usize,
}

impl<W: Arithmetic> Staging<W> {
    /// Uninitialised room for `count` samples.
    fn samples<S: Stored<W>>(&mut self, count: usize) -> &mut [S] {
        debug_assert!(count <= self.len && size_of::<S>() <= size_of::<W>());
        // SAFETY: samples are no larger than the work type, and any bits are a valid sample.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.cast(), count) }
    }
}

impl<T> Rows<T> {
    /// Rows from row 0 on, without wrap-around.
    pub fn new(first: *mut T, pitch: isize, step: isize) -> Rows<T> {
        Rows { first, pitch, step, turn: usize::MAX }
    }

    /// Sample `column` of row `row`.
    pub fn at(&self, row: isize, column: isize) -> *mut T {
        let row = if self.turn == usize::MAX { row } else { row.rem_euclid(self.turn as isize) };
        self.first.wrapping_offset(row * self.pitch + column * self.step)
    }

    /// Samples `from..end` of a row of `n`; the row repeats beyond its ends.
    ///
    /// # Safety
    /// The row must be valid to read, and must not be written while the result is in use.
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

    /// Writes `count` samples of a row from `from` on, made by `fill`.
    ///
    /// # Safety
    /// The samples must be valid to write.
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
