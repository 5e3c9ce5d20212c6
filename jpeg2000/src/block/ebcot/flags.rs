//! States of a block's coefficients, packed by columns of four.
//!
//! A cell holds the column of one stripe. Row r of the stripe is at bit 3(r + 1): the row above the stripe is at bit 0
//! and the one below at bit 15. The gaps make the 3 × 6 window of a column three shifted words: bits 3r to 3r + 8 of
//! [`window`] are the 3 × 3 window around row r, in the order of [`contexts`](super::contexts).

use crate::block::Shape;

/// Bits of all four rows of a stripe.
pub(super) const ROWS: u32 = 0o11110;
/// Bits of the four rows and of the rows above and below.
pub(super) const COLUMN: u32 = 0o111111;

/// States of the four coefficients of a stripe's column.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    /// Significant coefficients.
    pub significant: u32,
    /// Negative coefficients; one bit higher, those visited by the last significance pass; two bits higher, those
    /// refined before.
    pub other: u32,
}

/// Window of a column from its own word and those at its sides.
#[inline(always)]
pub(super) fn window(left: u32, centre: u32, right: u32) -> u32 {
    left | centre << 1 | right << 2
}

/// Cells of a block, with an empty border.
pub(super) struct Flags {
    cells: Vec<Cell>,
    stride: usize,
    height: usize,
    causal: bool,
}

impl Flags {
    /// Block without significant coefficients.
    pub fn new(shape: Shape, causal: bool) -> Self {
        let stride = shape.width + 2;
        let cells = vec![Cell::default(); stride * (shape.height.div_ceil(4) + 2)];
        Self { cells, stride, height: shape.height, causal }
    }

    /// Stripes from top to bottom.
    pub fn stripes(&self) -> usize {
        self.height.div_ceil(4)
    }

    /// One stripe, to be changed.
    #[inline(always)]
    pub fn stripe(&mut self, index: usize) -> Stripe<'_> {
        let (above, rest) = self.cells[index * self.stride..].split_at_mut(self.stride);
        let (here, below) = rest.split_at_mut(self.stride);
        let rows = ROWS >> (3 * (4 * (index + 1)).saturating_sub(self.height)) & ROWS;
        Stripe { above, here, below: &mut below[..self.stride], rows, causal: self.causal }
    }
}

/// Cells of one stripe and of its neighbours. The block's columns start at index 1.
pub(super) struct Stripe<'a> {
    above: &'a mut [Cell],
    pub here: &'a mut [Cell],
    below: &'a mut [Cell],
    /// Bits of the stripe's rows: the last stripe may have fewer than four.
    pub rows: u32,
    causal: bool,
}

impl Stripe<'_> {
    /// Makes a coefficient significant: the row at bit `place` of column `index`.
    #[inline(always)]
    pub fn set(&mut self, index: usize, place: u32, negative: u32) {
        self.here[index].significant |= 1 << place;
        self.here[index].other |= negative << place;
        if place == 3 && !self.causal {
            self.above[index].significant |= 1 << 15;
            self.above[index].other |= negative << 15;
        }
        if place == 12 {
            self.below[index].significant |= 1;
            self.below[index].other |= negative;
        }
    }

    /// Index of a coefficient in the table of sign contexts.
    #[inline(always)]
    pub fn signs(&self, index: usize, place: u32) -> usize {
        let word = |index: usize| (self.here[index].significant, self.here[index].other & COLUMN);
        let (left, centre, right) = (word(index - 1), word(index), word(index + 1));
        let significant = window(left.0, centre.0, right.0) >> (place - 3) & 0xaa;
        let negative = window(left.1, centre.1, right.1) >> (place - 3) & 0xaa;
        (significant | negative >> 1) as usize
    }
}
