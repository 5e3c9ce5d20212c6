//! Coding passes (ISO/IEC 15444-1, Annex D.3), written once for encoder and decoder.
//!
//! A pass scans stripes of four rows, each column by column. A [`Coder`] codes its symbols and a [`Plane`] has the bits
//! that an encoder reads and a decoder writes.

use super::contexts::{REFINEMENT, RUN, SIGN, Significance, UNIFORM};
use super::flags::{Flags, ROWS, Stripe, window};
use crate::block::Style;

/// Coder of binary symbols.
pub(super) trait Coder {
    /// Codes a symbol. An encoder writes `bit` and returns it; a decoder ignores it and returns the one read.
    fn code(&mut self, context: usize, bit: u32) -> u32;

    /// Codes a sign, 1 for negative, by its entry of [`SIGN`].
    #[inline(always)]
    fn sign(&mut self, entry: u8, bit: u32) -> u32 {
        let flip = u32::from(entry >> 7);
        self.code(usize::from(entry & 0x7f), bit ^ flip) ^ flip
    }

    /// Sets all contexts to their initial states.
    fn reset(&mut self);
}

/// Bits of one bitplane, by column of a stripe and row in it.
pub(super) trait Plane {
    /// Magnitude bit to be coded.
    fn bit(&self, column: usize, row: usize) -> u32;

    /// Sign to be coded, 1 for negative.
    fn sign(&self, column: usize, row: usize) -> u32;

    /// Takes note of a coefficient that became significant.
    fn found(&mut self, column: usize, row: usize, negative: u32);

    /// Takes note of a coefficient that was refined by a bit.
    fn refined(&mut self, column: usize, row: usize, bit: u32);
}

/// Kind of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Cleanup,
    Significance,
    Refinement,
}

/// Kind of a pass, counted from 0 for the block's first.
pub(super) fn kind(pass: u32) -> Kind {
    match pass % 3 {
        0 => Kind::Cleanup,
        1 => Kind::Significance,
        _ => Kind::Refinement,
    }
}

/// Bitplane of a pass in a block of `planes`.
pub(super) fn plane(planes: u32, pass: u32) -> u32 {
    planes - 1 - pass.div_ceil(3)
}

/// Codes one pass. Returns the coder, and whether the segmentation symbol is right where there is one.
pub(super) fn pass<C: Coder, P: Plane>(
    kind: Kind,
    style: Style,
    flags: &mut Flags,
    contexts: &Significance,
    coder: C,
    plane: P,
) -> (C, bool) {
    let mut coder = match kind {
        Kind::Significance => significance(flags, contexts, coder, plane),
        Kind::Refinement => refinement(flags, coder, plane),
        Kind::Cleanup => cleanup(flags, contexts, coder, plane),
    };
    let mut right = true;
    if style.segmentation && kind == Kind::Cleanup {
        for bit in [1, 0, 1, 0] {
            right &= coder.code(UNIFORM, bit) == bit;
        }
    }
    if style.reset {
        coder.reset();
    }
    (coder, right)
}

/// Row of the stripe at a bit of its cells.
#[inline(always)]
fn row(place: u32) -> usize {
    ((place * 11) >> 5) as usize - 1
}

/// Codes the sign of a coefficient that becomes significant.
#[inline(always)]
fn sign<C: Coder, P: Plane>(
    stripe: &mut Stripe<'_>,
    index: usize,
    place: u32,
    column: usize,
    coder: &mut C,
    plane: &mut P,
) {
    let row = row(place);
    let negative = coder.sign(SIGN[stripe.signs(index, place)], plane.sign(column, row));
    plane.found(column, row, negative);
    stripe.set(index, place, negative);
}

/// Significance propagation pass (D.3.1).
#[inline(never)]
fn significance<C: Coder, P: Plane>(flags: &mut Flags, contexts: &Significance, coder: C, mut plane: P) -> C {
    let mut coder = coder;
    let mut column = 0;
    for number in 0..flags.stripes() {
        let mut stripe = flags.stripe(number);
        let (mut left, mut centre) = (0, stripe.here[1].significant);
        for index in 1..stripe.here.len() - 1 {
            let right = stripe.here[index + 1].significant;
            let near = left | centre | right;
            if near != 0 {
                let mut open = (near | near << 3 | near >> 3) & !centre & stripe.rows;
                let mut visited = 0;
                while open != 0 {
                    let place = open.trailing_zeros();
                    let bit = 1 << place;
                    visited |= bit;
                    let context = contexts[(window(left, centre, right) >> (place - 3) & 511) as usize];
                    if coder.code(context.into(), plane.bit(column, row(place))) != 0 {
                        sign(&mut stripe, index, place, column, &mut coder, &mut plane);
                        centre |= bit;
                        open |= bit << 3 & stripe.rows & !centre;
                    }
                    open &= !bit;
                }
                stripe.here[index].other |= visited << 1;
            }
            column += 1;
            (left, centre) = (centre, right);
        }
    }
    coder
}

/// Magnitude refinement pass (D.3.3).
#[inline(never)]
fn refinement<C: Coder, P: Plane>(flags: &mut Flags, coder: C, mut plane: P) -> C {
    let mut coder = coder;
    let mut column = 0;
    for number in 0..flags.stripes() {
        let stripe = flags.stripe(number);
        let (mut left, mut centre) = (0, stripe.here[1]);
        for index in 1..stripe.here.len() - 1 {
            let right = stripe.here[index + 1];
            let mut open = centre.significant & !(centre.other >> 1) & stripe.rows;
            if open != 0 {
                let sides = left | right.significant;
                let near = sides | (sides | centre.significant) << 3 | (sides | centre.significant) >> 3;
                stripe.here[index].other |= open << 2;
                while open != 0 {
                    let place = open.trailing_zeros();
                    let first = REFINEMENT + (near >> place & 1) as usize;
                    let context = if centre.other >> (place + 2) & 1 == 0 { first } else { REFINEMENT + 2 };
                    let row = row(place);
                    let bit = coder.code(context, plane.bit(column, row));
                    plane.refined(column, row, bit);
                    open &= open - 1;
                }
            }
            column += 1;
            (left, centre) = (centre.significant, right);
        }
    }
    coder
}

/// Cleanup pass (D.3.4).
#[inline(never)]
fn cleanup<C: Coder, P: Plane>(flags: &mut Flags, contexts: &Significance, coder: C, mut plane: P) -> C {
    let mut coder = coder;
    let mut column = 0;
    for number in 0..flags.stripes() {
        let mut stripe = flags.stripe(number);
        let (mut left, mut centre) = (0, stripe.here[1].significant);
        for index in 1..stripe.here.len() - 1 {
            let right = stripe.here[index + 1].significant;
            let mut open = !(centre | stripe.here[index].other >> 1) & stripe.rows;
            let mut known = false;
            if left | centre | right == 0 && stripe.rows == ROWS {
                let run = (0..4).find(|&row| plane.bit(column, row) != 0);
                open = match coder.code(RUN, run.is_some().into()) {
                    0 => 0,
                    _ => {
                        let run = run.unwrap_or(0) as u32;
                        let high = coder.code(UNIFORM, run >> 1);
                        let low = coder.code(UNIFORM, run & 1);
                        known = true;
                        ROWS << (3 * (2 * high + low)) & ROWS
                    }
                };
            }
            while open != 0 {
                let place = open.trailing_zeros();
                let context = contexts[(window(left, centre, right) >> (place - 3) & 511) as usize];
                if known || coder.code(context.into(), plane.bit(column, row(place))) != 0 {
                    sign(&mut stripe, index, place, column, &mut coder, &mut plane);
                    centre |= 1 << place;
                }
                known = false;
                open &= open - 1;
            }
            stripe.here[index].other &= !(ROWS << 1);
            column += 1;
            (left, centre) = (centre, right);
        }
    }
    coder
}
