//! Decoder of a block.

use super::bits::{Reader, unstuff};
use super::contexts::{self, Significance};
use super::flags::Flags;
use super::mq::{self, Contexts};
use super::passes::{self, Coder, Plane};
use super::{is_raw, valid};
use crate::block::{BrokenBlock, Orientation, Segment, Shape, Style};

/// Decodes a block of `planes` bitplanes into `out`, row by row (ISO/IEC 15444-1, Annexes C and D).
///
/// Segments may have fewer passes than the planes need, and fewer bytes than their passes need: ones follow the last
/// byte (D.4.1). An index of magnitude m whose lowest decoded plane is p becomes ±(2m + 2^p).
///
/// # Errors
///
/// [`BrokenBlock`] if there are more than 30 planes, if shape and `out` do not fit, if there are more passes than the
/// planes have, if a segment has both raw and arithmetically coded passes, or if a segmentation symbol is wrong. `out`
/// then has unspecified contents.
pub fn decode(
    shape: Shape,
    orientation: Orientation,
    style: Style,
    planes: u32,
    segments: &[Segment<'_>],
    out: &mut [i32],
) -> Result<(), BrokenBlock> {
    if !valid(shape) || out.len() != shape.height * shape.width {
        return Err(BrokenBlock("block shape does not fit its buffer"));
    }
    if planes > 30 {
        return Err(BrokenBlock("more than 30 bitplanes"));
    }
    let most = (3 * planes).saturating_sub(2);
    let mut block = Block {
        style,
        planes,
        flags: Flags::new(shape, style.causal),
        contexts: contexts::significance(orientation),
        values: vec![[0; 4]; shape.height.div_ceil(4) * shape.width],
    };
    let mut states = Contexts::new();
    let mut bits = Vec::new();
    let mut first = 0u32;
    for segment in segments.iter().filter(|segment| segment.passes > 0) {
        let end = first.checked_add(segment.passes).filter(|&end| end <= most);
        let end = end.ok_or(BrokenBlock("more coding passes than its bitplanes have"))?;
        let raw = is_raw(style, first);
        if (first..end).any(|pass| is_raw(style, pass) != raw) {
            return Err(BrokenBlock("codeword segment with raw and arithmetically coded passes"));
        }
        unstuff(segment.bytes, &mut bits);
        if raw {
            block.segment(first..end, Reader::new(&bits))?;
        } else {
            block.segment(first..end, mq::Decoder::new(&mut states, &bits))?;
        }
        first = end;
    }
    block.store(shape.width, out);
    Ok(())
}

/// Block that is being decoded.
struct Block {
    style: Style,
    planes: u32,
    flags: Flags,
    contexts: &'static Significance,
    /// Values by stripe, column and row in the stripe: magnitudes, and signs in bit 31.
    values: Vec<[u32; 4]>,
}

impl Block {
    fn segment<C: Coder>(&mut self, passes: std::ops::Range<u32>, mut coder: C) -> Result<(), BrokenBlock> {
        for pass in passes {
            let plane = Values { values: &mut self.values, half: 1 << passes::plane(self.planes, pass) };
            let kind = passes::kind(pass);
            let right;
            (coder, right) = passes::pass(kind, self.style, &mut self.flags, self.contexts, coder, plane);
            if !right {
                return Err(BrokenBlock("wrong segmentation symbol"));
            }
        }
        Ok(())
    }

    fn store(&self, width: usize, out: &mut [i32]) {
        for (rows, stripe) in out.chunks_mut(4 * width).zip(self.values.chunks(width)) {
            for (row, line) in rows.chunks_mut(width).enumerate() {
                for (out, column) in line.iter_mut().zip(stripe) {
                    let value = column[row & 3];
                    let magnitude = (value & i32::MAX as u32) as i32;
                    *out = if value >> 31 != 0 { -magnitude } else { magnitude };
                }
            }
        }
    }
}

/// Values of a block at one plane; `half` is that plane's bit, which is half a bit of doubled magnitudes.
struct Values<'a> {
    values: &'a mut [[u32; 4]],
    half: u32,
}

impl Plane for Values<'_> {
    #[inline(always)]
    fn bit(&self, _: usize, _: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn sign(&self, _: usize, _: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn found(&mut self, column: usize, row: usize, negative: u32) {
        self.values[column][row & 3] = (negative << 31) | (3 * self.half);
    }

    #[inline(always)]
    fn refined(&mut self, column: usize, row: usize, bit: u32) {
        let value = &mut self.values[column][row & 3];
        *value = value.wrapping_add(2 * self.half * bit).wrapping_sub(self.half);
    }
}
