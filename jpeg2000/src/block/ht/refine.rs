//! Order of the refinement passes: SigProp and MagRef (T.814, clauses 7.4 and 7.5).
//!
//! Both sweep stripes of four rows, and in them columns. Sixteen samples, four columns of a stripe, are one mask, whose
//! bit 4c + r is row r of column c.

use crate::block::Shape;

/// Significance after the cleanup pass.
pub(super) struct Sigma {
    masks: Vec<u16>,
    /// Masks of a stripe, with an empty one at its end.
    pitch: usize,
}

impl Sigma {
    pub(super) fn new(shape: Shape, values: &[i32], significant: impl Fn(i32) -> bool) -> Self {
        let pitch = shape.width.div_ceil(4) + 1;
        let mut masks = vec![0; pitch * (shape.height.div_ceil(4) + 1)];
        let mask =
            |values: &[i32]| values.iter().rev().fold(0, |mask, &value| mask << 4 | u16::from(significant(value)));
        for (y, row) in values.chunks(shape.width).enumerate() {
            let stripe = &mut masks[y / 4 * pitch..];
            let (fours, tail) = row.as_chunks::<4>();
            for (slot, four) in stripe.iter_mut().zip(fours) {
                *slot |= mask(four) << (y % 4);
            }
            stripe[fours.len()] |= mask(tail) << (y % 4);
        }
        Self { masks, pitch }
    }

    /// Masks `group` and `group + 1` of a stripe.
    #[inline]
    fn two(&self, stripe: usize, group: usize) -> u32 {
        two(&self.masks[stripe * self.pitch..], group)
    }
}

#[inline]
fn two(masks: &[u16], group: usize) -> u32 {
    u32::from(masks[group]) | u32::from(masks[group + 1]) << 16
}

/// Coder of SigProp: reads or writes the bits of samples, by their index in the block.
pub(super) trait Propagate {
    /// Codes whether the sample is significant.
    fn significant(&mut self, at: usize) -> bool;
    /// Codes the sign of a newly significant sample.
    fn sign(&mut self, at: usize);
}

/// Neighbours of bit 0, 1, 2 and 3 that the scan reaches later.
const AHEAD: [u32; 4] = [0x32, 0x74, 0xE8, 0xC0];

/// Sweeps the insignificant neighbours of significant samples: significance, then signs, in every four columns.
pub(super) fn propagate(shape: Shape, sigma: &Sigma, causal: bool, coder: &mut impl Propagate) {
    let mut above = vec![0; sigma.pitch];
    for y in (0..shape.height).step_by(4) {
        let rows = 0x1111 * ((1 << (shape.height - y).min(4)) - 1);
        let mut west = 0;
        for group in 0..sigma.pitch - 1 {
            let at = |bit: u32| (y + bit as usize % 4) * shape.width + 4 * group + bit as usize / 4;
            let inside = rows & ((1 << (4 * (shape.width - 4 * group).min(4))) - 1);
            let old = sigma.two(y / 4, group);
            let mut edge = (two(&above, group) & 0x8888_8888) >> 3;
            if !causal {
                edge |= (sigma.two(y / 4 + 1, group) & 0x1111_1111) << 3;
            }
            let near = column(old) | edge;
            let open = inside & !old;
            let mut members = (near | near << 4 | near >> 4 | west) & open;
            let mut new = 0;
            while members != 0 {
                let bit = members.trailing_zeros();
                members &= members - 1;
                if coder.significant(at(bit)) {
                    new |= 1 << bit;
                    members |= AHEAD[bit as usize % 4] << (bit & !3) & open;
                }
            }
            let now = old & 0xFFFF | new;
            while new != 0 {
                coder.sign(at(new.trailing_zeros()));
                new &= new - 1;
            }
            above[group] = now as u16;
            west = (column(now) | edge) >> 12 & 0xF;
        }
    }
}

/// Samples and their neighbours within columns.
fn column(mask: u32) -> u32 {
    mask | (mask & 0x7777_7777) << 1 | (mask & 0xEEEE_EEEE) >> 1
}

/// Sweeps the samples that the cleanup pass made significant.
pub(super) fn refine(shape: Shape, sigma: &Sigma, mut refine: impl FnMut(usize)) {
    for y in (0..shape.height).step_by(4) {
        for group in 0..sigma.pitch - 1 {
            let mut mask = sigma.two(y / 4, group) & 0xFFFF;
            while mask != 0 {
                let bit = mask.trailing_zeros() as usize;
                refine((y + bit % 4) * shape.width + 4 * group + bit / 4);
                mask &= mask - 1;
            }
        }
    }
}
