//! Decoder of a block.

use super::bits::{Reader, unstuff};
use super::contexts::{self, Significance};
use super::flags::{Flags, GROUP};
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
/// [`BrokenBlock`] for more than 30 planes, for more passes than the planes have, and for a shape that does not fit
/// `out`. So are a segment of both raw and arithmetically coded passes, and a wrong segmentation symbol. `out` then has
/// unspecified contents.
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
        values: vec![[0; GROUP]; shape.height.div_ceil(4) * shape.width.div_ceil(8)],
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
    /// Values by group: magnitudes, and signs in bit 31.
    values: Vec<[u32; GROUP]>,
}

impl Block {
    fn segment<C: Coder>(&mut self, passes: std::ops::Range<u32>, mut coder: C) -> Result<(), BrokenBlock> {
        for pass in passes {
            let half = 1 << passes::plane(self.planes, pass);
            let planes = self.values.iter_mut().map(|values| Values { values, half });
            let kind = passes::kind(pass);
            let right;
            (coder, right) = passes::pass(kind, self.style, &mut self.flags, self.contexts, coder, planes);
            if !right {
                return Err(BrokenBlock("wrong segmentation symbol"));
            }
        }
        Ok(())
    }

    fn store(&self, width: usize, out: &mut [i32]) {
        for (rows, stripe) in out.chunks_mut(4 * width).zip(self.values.chunks(width.div_ceil(8))) {
            for (row, line) in rows.chunks_mut(width).enumerate() {
                for (out, group) in line.chunks_mut(8).zip(stripe) {
                    for (out, column) in out.iter_mut().zip(group.as_chunks::<4>().0) {
                        let value = column[row & 3];
                        let magnitude = (value & i32::MAX as u32) as i32;
                        *out = if value >> 31 != 0 { -magnitude } else { magnitude };
                    }
                }
            }
        }
    }
}

/// Values of a group at one plane.
struct Values<'a> {
    values: &'a mut [u32; GROUP],
    /// Magnitude bit of the plane: half of it in values, which are doubled.
    half: u32,
}

impl Plane for Values<'_> {
    #[inline(always)]
    fn bit(&self, _: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn sign(&self, _: usize) -> u32 {
        0
    }

    #[inline(always)]
    fn found(&mut self, at: usize, negative: u32) {
        self.values[at % GROUP] = (negative << 31) | (3 * self.half);
    }

    #[inline(always)]
    fn refined(&mut self, at: usize, bit: u32) {
        let value = &mut self.values[at % GROUP];
        *value = value.wrapping_add(2 * self.half * bit).wrapping_sub(self.half);
    }
}
