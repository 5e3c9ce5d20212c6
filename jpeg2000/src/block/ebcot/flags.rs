//! States of a block's coefficients, packed by groups of eight columns of a stripe.
//!
//! In a word, row r of column c of the group is bit 6(c + 1) + r + 1, so that bits are in the order of the scan. The
//! gaps leave room for the column at each side and for the rows above and below: a [`neighbourhood`](Flags::gather)
//! has all 10 × 6 coefficients, and all passes find their coefficients by shifts of whole words.

use std::ops::Range;

use crate::block::Shape;

/// Coefficients of a group.
pub(super) const GROUP: usize = 32;

/// Upper left bit of each column of a neighbourhood, the row above the stripe.
const ABOVE: u64 = 0o01_01_01_01_01_01_01_01_01_01;
/// The row below the stripe.
const BELOW: u64 = ABOVE << 5;
/// First row of the group's columns.
pub(super) const FIRST: u64 = (ABOVE >> 12) << 7;

/// States of the coefficients of a group. Bits of the neighbourhood outside of the group are 0.
#[derive(Clone, Copy, Default)]
pub(super) struct Group {
    /// Coefficients that are significant.
    pub significant: u64,
    /// Coefficients that are negative.
    pub negative: u64,
    /// Coefficients that the last significance pass coded.
    pub visited: u64,
    /// Coefficients that have been refined.
    pub refined: u64,
}

/// Groups of a block, with an empty border.
pub(super) struct Flags {
    groups: Vec<Group>,
    stride: usize,
    shape: Shape,
    causal: bool,
}

impl Flags {
    /// Block without significant coefficients.
    pub fn new(shape: Shape, causal: bool) -> Self {
        let stride = shape.width.div_ceil(8) + 2;
        let groups = vec![Group::default(); stride * (shape.height.div_ceil(4) + 2)];
        Self { groups, stride, shape, causal }
    }

    /// Stripes from top to bottom.
    pub fn stripes(&self) -> Range<usize> {
        0..self.shape.height.div_ceil(4)
    }

    /// Groups of a stripe from left to right.
    pub fn columns(&self) -> Range<usize> {
        0..self.stride - 2
    }

    /// Index of a group.
    #[inline(always)]
    pub fn index(&self, stripe: usize, column: usize) -> usize {
        (stripe + 1) * self.stride + column + 1
    }

    /// Bits of the coefficients that a group has: the last ones may be outside of the block.
    #[inline(always)]
    pub fn mask(&self, stripe: usize, column: usize) -> u64 {
        let rows = (self.shape.height - 4 * stripe).min(4);
        let columns = (self.shape.width - 8 * column).min(8);
        let all = FIRST * ((1 << rows) - 1);
        all & u64::MAX >> (58 - 6 * columns)
    }

    /// States of a group.
    #[inline(always)]
    pub fn group(&mut self, index: usize) -> &mut Group {
        &mut self.groups[index]
    }

    /// Neighbourhood of a group: one kind of its bits, and those of the groups around it.
    #[inline(always)]
    pub fn gather(&self, index: usize, kind: impl Fn(&Group) -> u64) -> u64 {
        let line = |index: usize| {
            let groups = &self.groups[index - 1..index + 2];
            kind(&groups[0]) >> 48 | kind(&groups[1]) | kind(&groups[2]) << 48
        };
        let below = if self.causal { 0 } else { line(index + self.stride) << 4 & BELOW };
        line(index - self.stride) >> 4 & ABOVE | line(index) | below
    }
}

/// Coefficients with a bit of a neighbourhood among their eight neighbours.
#[inline(always)]
pub(super) fn near(word: u64) -> u64 {
    let vertical = word << 1 | word >> 1;
    let both = word | vertical;
    vertical | both << 6 | both >> 6
}

/// Window of 3 × 3 around a bit of a neighbourhood, column by column from bit 0.
#[inline(always)]
pub(super) fn window(word: u64, place: u32) -> usize {
    let word = word >> (place - 7);
    (word & 0o7 | word >> 3 & 0o70 | word >> 6 & 0o700) as usize
}

/// Number of a coefficient in its group, column by column, from its bit.
#[inline(always)]
pub(super) fn number(place: u32) -> usize {
    let column = (place * 43) >> 8;
    (place - 2 * column) as usize - 5
}

/// Positions of a word's bits, the lowest first.
#[inline(always)]
pub(super) fn places(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (word != 0).then(|| word.trailing_zeros());
        word &= word.wrapping_sub(1);
        place
    })
}
