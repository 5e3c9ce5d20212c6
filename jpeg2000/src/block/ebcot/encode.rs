//! Encoder of a block.

use std::cell::Cell;

use super::bits::{Segment, Writer};
use super::contexts::{self, Significance};
use super::flags::{Flags, GROUP};
use super::mq::{self, Contexts};
use super::passes::{self, Plane};
use super::{ends_segment, is_raw, valid};
use crate::block::{Encoded, Orientation, Pass, Shape, Style};

/// Encodes the quantiser indices of a block, row by row, down to plane 0 (ISO/IEC 15444-1, Annexes C and D).
///
/// The `end` of a pass is the length, nearly always the least, that decodes up to it. No segment and no such prefix
/// ends with a byte 0xff. Segments may be empty. Missing indices count as 0, and a shape beyond the limits of
/// codeblocks makes no passes. Decoders take up to 30 planes.
///
/// Gains are in squares of indices. They compare indices to half the decoded values, rounded towards 0; all gains of a
/// block add up to the sum of its squared indices.
pub fn encode(shape: Shape, orientation: Orientation, style: Style, indices: &[i32]) -> Encoded {
    if !valid(shape) {
        return Encoded::default();
    }
    let indices = groups(shape, indices);
    let Some(top) = indices.as_flattened().iter().fold(0, |all, index| all | index.unsigned_abs()).checked_ilog2()
    else {
        return Encoded::default();
    };
    let planes = top + 1;
    let mut block = Block {
        style,
        flags: Flags::new(shape, style.causal),
        contexts: contexts::significance(orientation),
        indices,
        encoded: Encoded { planes, ..Encoded::default() },
    };
    let mut states = Contexts::new();
    let passes = 3 * planes - 2;
    let mut first = 0;
    for end in (1..=passes).filter(|&end| end == passes || ends_segment(style, end - 1)) {
        if is_raw(style, first) {
            block.segment(first..end, Writer::new());
        } else {
            block.segment(first..end, mq::Encoder::new(&mut states));
        }
        first = end;
    }
    block.encoded
}

/// Indices by group, and column by column in each.
fn groups(shape: Shape, indices: &[i32]) -> Vec<[i32; GROUP]> {
    let width = shape.width.div_ceil(8);
    let mut groups = vec![[0; GROUP]; shape.height.div_ceil(4) * width];
    for (stripe, rows) in groups.chunks_mut(width).zip(indices.chunks(4 * shape.width)) {
        for (row, line) in rows.chunks(shape.width).enumerate() {
            for (group, line) in stripe.iter_mut().zip(line.chunks(8)) {
                for (column, &index) in group.as_chunks_mut::<4>().0.iter_mut().zip(line) {
                    column[row & 3] = index;
                }
            }
        }
    }
    groups
}

/// Block that is being encoded.
struct Block {
    style: Style,
    flags: Flags,
    contexts: &'static Significance,
    indices: Vec<[i32; GROUP]>,
    encoded: Encoded,
}

impl Block {
    fn segment<C: Segment>(&mut self, passes: std::ops::Range<u32>, mut coder: C) {
        let mut marks = Vec::new();
        for pass in passes {
            let gain = Cell::new(0.0);
            let plane = passes::plane(self.encoded.planes, pass);
            let planes = self.indices.iter().map(|indices| Indices { indices, plane, gain: &gain });
            let kind = passes::kind(pass);
            (coder, _) = passes::pass(kind, self.style, &mut self.flags, self.contexts, coder, planes);
            marks.push((coder.mark(), gain.get()));
        }
        let bytes = coder.finish(self.style.predictable);
        let Encoded { bytes: all, passes, .. } = &mut self.encoded;
        for (mark, gain) in marks {
            passes.push(Pass { end: all.len() + mark.length(&bytes) - 1, terminated: false, gain });
        }
        all.extend(bytes.get(1..).unwrap_or_default());
        if let Some(last) = passes.last_mut() {
            (last.end, last.terminated) = (all.len(), true);
        }
    }
}

/// Indices of a group at one plane.
struct Indices<'a> {
    indices: &'a [i32; GROUP],
    plane: u32,
    gain: &'a Cell<f64>,
}

impl Indices<'_> {
    /// Squared error of an index that is decoded down to a plane.
    #[inline(always)]
    fn error(magnitude: u32, plane: u32) -> f64 {
        let decoded = u64::from(magnitude) >> plane << plane | 1 << plane >> 1;
        let error = u64::from(magnitude).abs_diff(decoded) as f64;
        error * error
    }
}

impl Plane for Indices<'_> {
    #[inline(always)]
    fn bit(&self, at: usize) -> u32 {
        self.indices[at % GROUP].unsigned_abs() >> self.plane & 1
    }

    #[inline(always)]
    fn sign(&self, at: usize) -> u32 {
        u32::from(self.indices[at % GROUP] < 0)
    }

    #[inline(always)]
    fn found(&mut self, at: usize, _: u32) {
        let magnitude = self.indices[at % GROUP].unsigned_abs();
        let square = f64::from(magnitude) * f64::from(magnitude);
        self.gain.set(self.gain.get() + square - Self::error(magnitude, self.plane));
    }

    #[inline(always)]
    fn refined(&mut self, at: usize, _: u32) {
        let magnitude = self.indices[at % GROUP].unsigned_abs();
        let gain = Self::error(magnitude, self.plane + 1) - Self::error(magnitude, self.plane);
        self.gain.set(self.gain.get() + gain);
    }
}
