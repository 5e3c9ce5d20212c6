//! Contexts of the coding passes (ISO/IEC 15444-1, Annex D.3).
//!
//! Tables are indexed by the 3 × 3 window around a coefficient, column by column from bit 0: bits 1, 3, 5 and 7 are its
//! neighbours left, above, below and right, and bit 4 is the coefficient itself.

use crate::block::Orientation;

/// First of the three contexts of magnitude refinement.
pub(super) const REFINEMENT: usize = 14;
/// Context of run lengths.
pub(super) const RUN: usize = 17;
/// Context of equally likely symbols.
pub(super) const UNIFORM: usize = 18;

/// Contexts of significance by the window's significant coefficients (Table D.1).
pub(super) type Significance = [u8; 512];

/// Table of contexts of significance in one band.
pub(super) fn significance(orientation: Orientation) -> &'static Significance {
    static HORIZONTAL: Significance = windows(Orientation::Lh);
    static VERTICAL: Significance = windows(Orientation::Hl);
    static DIAGONAL: Significance = windows(Orientation::Hh);
    match orientation {
        Orientation::Ll | Orientation::Lh => &HORIZONTAL,
        Orientation::Hl => &VERTICAL,
        Orientation::Hh => &DIAGONAL,
    }
}

const fn windows(orientation: Orientation) -> Significance {
    let mut table = [0; 512];
    let mut window = 0;
    while window < 512 {
        let horizontal = (window >> 1 & 1) + (window >> 7 & 1);
        let vertical = (window >> 3 & 1) + (window >> 5 & 1);
        let diagonal = (window & 1) + (window >> 2 & 1) + (window >> 6 & 1) + (window >> 8 & 1);
        table[window] = match orientation {
            Orientation::Ll | Orientation::Lh => sides(horizontal, vertical, diagonal),
            Orientation::Hl => sides(vertical, horizontal, diagonal),
            Orientation::Hh => corners(horizontal + vertical, diagonal),
        };
        window += 1;
    }
    table
}

const fn sides(along: usize, across: usize, diagonal: usize) -> u8 {
    match (along, across, diagonal) {
        (2, ..) => 8,
        (1, 1.., _) => 7,
        (1, 0, 1..) => 6,
        (1, 0, 0) => 5,
        (_, 2, _) => 4,
        (_, 1, _) => 3,
        (_, _, 2..) => 2,
        (_, _, diagonal) => diagonal as u8,
    }
}

const fn corners(sides: usize, diagonal: usize) -> u8 {
    match (diagonal, sides) {
        (3.., _) => 8,
        (2, 1..) => 7,
        (2, 0) => 6,
        (1, 2..) => 5,
        (1, sides) => 3 + sides as u8,
        (_, 2..) => 2,
        (_, sides) => sides as u8,
    }
}

/// Contexts of signs, and in bit 7 whether the sign is flipped (Tables D.2 and D.3).
///
/// Bits 1, 3, 5 and 7 of the index are the significant neighbours. The bit below each is set where that neighbour is
/// negative.
pub(super) static SIGN: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let horizontal = contribution(index, 1) + contribution(index, 7);
        let vertical = contribution(index, 3) + contribution(index, 5);
        let (horizontal, vertical) = (horizontal.signum(), vertical.signum());
        let sum = 3 * horizontal + vertical;
        table[index] = (9 + sum.unsigned_abs() as u8) | if sum < 0 { 1 << 7 } else { 0 };
        index += 1;
    }
    table
};

const fn contribution(index: usize, neighbour: usize) -> i32 {
    match index >> (neighbour - 1) & 3 {
        2 => 1,
        3 => -1,
        _ => 0,
    }
}
