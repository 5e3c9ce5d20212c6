//! Coding passes (ISO/IEC 15444-1, Annex D.3), written once for encoder and decoder.
//!
//! A pass scans stripes of four rows, each column by column. A [`Coder`] codes its symbols and a [`Plane`] has the bits
//! that an encoder reads and a decoder writes.

use super::contexts::{REFINEMENT, RUN, SIGN, Significance, UNIFORM};
use super::flags::{FIRST, Flags, Group, near, number, places, window};
use crate::block::Style;

/// Coder of binary symbols.
pub(super) trait Coder {
    /// Codes a symbol. An encoder writes `bit` and returns it; a decoder ignores it and returns the one read.
    fn code(&mut self, context: usize, bit: u32) -> u32;

    /// Codes a symbol as [`code`](Self::code) does, faster where symbols are well predicted.
    #[inline(always)]
    fn code_likely(&mut self, context: usize, bit: u32) -> u32 {
        self.code(context, bit)
    }

    /// Codes the bits of refined coefficients that share a context.
    #[inline(always)]
    fn code_each<P: Plane>(&mut self, context: usize, open: u64, plane: &mut P) {
        for place in places(open) {
            let at = number(place);
            let bit = self.code(context, plane.bit(at));
            plane.refined(at, bit);
        }
    }

    /// Codes a sign, 1 for negative, by its entry of [`SIGN`].
    #[inline(always)]
    fn sign(&mut self, entry: u8, bit: u32) -> u32 {
        let flip = u32::from(entry >> 7);
        self.code(usize::from(entry & 0x7f), bit ^ flip) ^ flip
    }

    /// Sets all contexts to their initial states.
    fn reset(&mut self);
}

/// Bits of a group in one bitplane, by [`number`] of the coefficient.
pub(super) trait Plane {
    /// Magnitude bit to be coded.
    fn bit(&self, at: usize) -> u32;

    /// Sign to be coded, 1 for negative.
    fn sign(&self, at: usize) -> u32;

    /// Records a coefficient that became significant.
    fn found(&mut self, at: usize, negative: u32);

    /// Records a bit that refines a coefficient.
    fn refined(&mut self, at: usize, bit: u32);
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
    planes: impl Iterator<Item = P>,
) -> (C, bool) {
    let mut coder = match kind {
        Kind::Significance => significance(flags, contexts, coder, planes),
        Kind::Refinement => refinement(flags, coder, planes),
        Kind::Cleanup => cleanup(flags, contexts, coder, planes),
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

/// Neighbourhood of a group during a pass that makes coefficients significant.
struct Growing {
    significant: u64,
    negative: u64,
}

impl Growing {
    fn new(flags: &Flags, index: usize, significant: u64) -> Self {
        Self { significant, negative: flags.gather(index, |group| group.negative) }
    }

    /// Codes the sign of the coefficient at a bit and makes it significant.
    #[inline(always)]
    fn sign<C: Coder, P: Plane>(&mut self, place: u32, at: usize, coder: &mut C, plane: &mut P) {
        let significant = window(self.significant, place) & 0xaa;
        let negative = window(self.negative, place) & 0xaa;
        let negative = coder.sign(SIGN[significant | negative >> 1], plane.sign(at));
        plane.found(at, negative);
        self.significant |= 1 << place;
        self.negative |= u64::from(negative) << place;
    }

    fn store(&self, group: &mut Group, mask: u64) {
        group.significant = self.significant & mask;
        group.negative = self.negative & mask;
    }
}

/// Significance propagation pass (D.3.1).
#[inline(never)]
fn significance<C: Coder, P: Plane>(
    flags: &mut Flags,
    contexts: &Significance,
    coder: C,
    mut planes: impl Iterator<Item = P>,
) -> C {
    let mut coder = coder;
    for stripe in flags.stripes() {
        for column in flags.columns() {
            let Some(mut plane) = planes.next() else {
                break;
            };
            let index = flags.index(stripe, column);
            let significant = flags.gather(index, |group| group.significant);
            let mask = flags.mask(stripe, column);
            let mut open = near(significant) & !significant & mask;
            if open != 0 {
                let mut growing = Growing::new(flags, index, significant);
                let mut visited = open;
                while open != 0 {
                    let place = open.trailing_zeros();
                    open &= open - 1;
                    let at = number(place);
                    let context = contexts[window(growing.significant, place)];
                    if coder.code(context.into(), plane.bit(at)) != 0 {
                        growing.sign(place, at, &mut coder, &mut plane);
                        // Later neighbours: the next row, and the next column.
                        let after = (1 << 1 | 1 << 5 | 1 << 6 | 1 << 7) << place & !growing.significant & mask;
                        open |= after;
                        visited |= after;
                    }
                }
                let group = flags.group(index);
                growing.store(group, mask);
                group.visited = visited;
            }
        }
    }
    coder
}

/// Magnitude refinement pass (D.3.3).
#[inline(never)]
fn refinement<C: Coder, P: Plane>(flags: &mut Flags, coder: C, mut planes: impl Iterator<Item = P>) -> C {
    let mut coder = coder;
    for stripe in flags.stripes() {
        for column in flags.columns() {
            let Some(mut plane) = planes.next() else {
                break;
            };
            let index = flags.index(stripe, column);
            let group = flags.group(index);
            let refined = group.refined;
            let open = group.significant & !group.visited;
            if open != 0 && open & !refined == 0 {
                coder.code_each(REFINEMENT + 2, open, &mut plane);
            } else if open != 0 {
                group.refined |= open;
                let near = near(flags.gather(index, |group| group.significant)) & !refined;
                for place in places(open) {
                    let context = (2 * (refined >> place & 1)) | near >> place & 1;
                    let at = number(place);
                    let bit = coder.code(REFINEMENT + context as usize, plane.bit(at));
                    plane.refined(at, bit);
                }
            }
        }
    }
    coder
}

/// Cleanup pass (D.3.4).
#[inline(never)]
fn cleanup<C: Coder, P: Plane>(
    flags: &mut Flags,
    contexts: &Significance,
    coder: C,
    mut planes: impl Iterator<Item = P>,
) -> C {
    let mut coder = coder;
    for stripe in flags.stripes() {
        for column in flags.columns() {
            let Some(mut plane) = planes.next() else {
                break;
            };
            let index = flags.index(stripe, column);
            let significant = flags.gather(index, |group| group.significant);
            let mask = flags.mask(stripe, column);
            let mut open = mask & !(significant | flags.group(index).visited);
            flags.group(index).visited = 0;
            if open != 0 {
                let mut growing = Growing::new(flags, index, significant);
                // First rows of full columns without significant neighbours.
                let blocked = near(significant) | significant;
                let mut runs = FIRST & mask >> 3 & !(blocked | blocked >> 1 | blocked >> 2 | blocked >> 3);
                while open != 0 {
                    let mut place = open.trailing_zeros();
                    let mut at = number(place);
                    let mut known = false;
                    if runs >> place & 1 != 0 {
                        let run = (0..4).find(|row| plane.bit(at + row) != 0);
                        if coder.code_likely(RUN, run.is_some().into()) == 0 {
                            open &= !(0xf << place);
                            continue;
                        }
                        let run = run.unwrap_or(0) as u32;
                        let run = (2 * coder.code(UNIFORM, run >> 1)) | coder.code(UNIFORM, run & 1);
                        open &= !(((1 << run) - 1) << place);
                        place += run;
                        at += run as usize;
                        known = true;
                    }
                    open &= open - 1;
                    let context = contexts[window(growing.significant, place)];
                    if known || coder.code(context.into(), plane.bit(at)) != 0 {
                        growing.sign(place, at, &mut coder, &mut plane);
                        // The next column has a significant neighbour now.
                        runs &= !((1 << 3 | 1 << 4 | 1 << 5 | 1 << 6) << place);
                    }
                }
                growing.store(flags.group(index), mask);
            }
        }
    }
    coder
}
