//! Decoder of an HT set, with the cleanup pass (T.814, clause 7.3).
//!
//! Each row of quads takes two steps. [`Patterns`] reads MEL and VLC and lists the quads that are not empty;
//! [`Samples`] reads their MagSgn bits.

use super::bits::{Bits, Reader};
use super::mel::MelReader;
use super::refine::{Propagate, Sigma, propagate, refine};
use super::tables::{DECODE, MASKS, Quad, RESIDUAL, SIGNIFICANT, SPREAD};
use crate::block::{BrokenBlock, Segment, Shape};
use lifting_loops::{Isa, Task};

/// Decodes one HT set of a codeblock (T.814, clause 7).
///
/// `planes` is 1 + the bitplane of the cleanup pass, at most 30. With `causal`, SigProp does not depend on the next
/// stripe of four rows. The first segment is the cleanup pass. A second one holds SigProp and perhaps MagRef; zeros
/// follow its bytes, but an empty one refines nothing. A block without segments is zero.
///
/// `out` has `shape.height` rows of `shape.width` values, as the parent module defines them.
///
/// # Errors
/// [`BrokenBlock`] if the passes are not those of one HT set, if the cleanup segment is not valid, or if `out` is too
/// short. Values are then unspecified.
pub fn decode(
    shape: Shape,
    planes: u32,
    causal: bool,
    segments: &[Segment<'_>],
    out: &mut [i32],
) -> Result<(), BrokenBlock> {
    let samples = shape.height.saturating_mul(shape.width);
    let out = out.get_mut(..samples).ok_or(BrokenBlock("HT block: fewer values than its shape has"))?;
    let (first, second) = match segments {
        [] => {
            out.fill(0);
            return Ok(());
        }
        [first] => (first, None),
        [first, second] => (first, Some(second)),
        _ => return Err(BrokenBlock("HT block: more than two segments in a set")),
    };
    if first.passes != 1 || second.is_some_and(|s| !(1..=2).contains(&s.passes)) {
        return Err(BrokenBlock("HT block: wrong number of passes in a segment"));
    }
    if !(1..=30).contains(&planes) {
        return Err(BrokenBlock("HT block: number of planes is not 1 to 30"));
    }
    let plane = planes - 1;
    if plane == 0 && second.is_some() {
        return Err(BrokenBlock("HT block: refinement below bitplane 0"));
    }
    if out.is_empty() {
        return Ok(());
    }
    Isa::run(Cleanup { shape, plane, bytes: first.bytes, out: &mut *out })?;
    if let Some(second) = second.filter(|s| !s.bytes.is_empty()) {
        let sigma = Sigma::new(shape, out, |value| value != 0);
        let bits = Bits::forward(second.bytes, 0);
        propagate(shape, &sigma, causal, &mut Refinement { plane: plane - 1, bits: Reader::new(&bits), out });
        if second.passes == 2 {
            let bits = Bits::backward(second.bytes, None);
            let mut refinement = Refinement { plane: plane - 1, bits: Reader::new(&bits), out };
            refine(shape, &sigma, |at| refinement.refine(at));
        }
    }
    Ok(())
}

/// Cleanup pass, compiled for each instruction set.
struct Cleanup<'a> {
    shape: Shape,
    plane: u32,
    bytes: &'a [u8],
    out: &'a mut [i32],
}

impl Task for Cleanup<'_> {
    type Output = Result<(), BrokenBlock>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        cleanup(self.shape, self.plane, self.bytes, self.out)
    }
}

/// Target of the refinement passes at `plane`.
struct Refinement<'a> {
    plane: u32,
    bits: Reader<'a>,
    out: &'a mut [i32],
}

impl Propagate for Refinement<'_> {
    #[inline]
    fn significant(&mut self, _at: usize) -> bool {
        self.bits.bit()
    }

    #[inline]
    fn sign(&mut self, at: usize) {
        let magnitude = 3 << self.plane;
        self.out[at] = if self.bits.bit() { -magnitude } else { magnitude };
    }
}

impl Refinement<'_> {
    #[inline]
    fn refine(&mut self, at: usize) {
        let half = 1 << self.plane;
        let value = &mut self.out[at];
        let up = self.bits.bit() != (*value < 0);
        *value = value.wrapping_add(if up { half } else { -half });
    }
}

/// Error of a block whose values exceed an `i32`.
const TOO_LARGE: &str = "HT block: magnitude exceeds 30 bits";

/// Decodes the cleanup pass (clause 7.3).
#[inline(always)]
fn cleanup(shape: Shape, plane: u32, bytes: &[u8], out: &mut [i32]) -> Result<(), BrokenBlock> {
    let &[.., low, high] = bytes else {
        return Err(BrokenBlock("HT block: cleanup segment shorter than two bytes"));
    };
    let scup = usize::from(high) << 4 | usize::from(low & 0x0F);
    if !(2..=4079).contains(&scup) || scup > bytes.len() {
        return Err(BrokenBlock("HT block: invalid Scup"));
    }
    let (magsgn, rest) = bytes.split_at(bytes.len() - scup);
    let quads = shape.width.div_ceil(2);
    let vlc = Bits::backward(&rest[..scup - 2], Some(low));
    let mut patterns = Patterns {
        mel: MelReader::new(&rest[..scup - 1]),
        vlc: Reader::new(&vlc),
        above: vec![0; quads + 4],
        coded: vec![(0, 0); quads + 2],
    };
    let row = || vec![0; 2 * quads + 2];
    let mut samples = Samples {
        limit: 31 - plane,
        bits: Bits::forward(magsgn, u64::MAX),
        at: 0,
        above: row(),
        top: row(),
        bottom: row(),
    };
    for (y, rows) in out.chunks_mut(2 * shape.width).enumerate() {
        if y == 0 {
            let count = patterns.row::<true>(quads);
            samples.row::<true>(&patterns.coded[..count])?;
        } else {
            let count = patterns.row::<false>(quads);
            samples.row::<false>(&patterns.coded[..count])?;
        }
        let (top, bottom) = rows.split_at_mut(shape.width);
        place(&samples.top[1..], top, plane)?;
        place(&samples.bottom[1..], bottom, plane)?;
    }
    Ok(())
}

/// First step: significance patterns, EMB patterns and residuals of a row of quads.
struct Patterns<'a> {
    mel: MelReader<'a>,
    vlc: Reader<'a>,
    /// ρ of the row above, of quad q at entry q + 1.
    above: Vec<u8>,
    /// Quads of the row that are not empty: their position, then the low half of [`Quad`] with the residual u above.
    coded: Vec<(u32, u32)>,
}

impl Patterns<'_> {
    /// Decodes one row of `quads` quads. Returns the number of those that are not empty.
    #[inline(always)]
    fn row<const FIRST: bool>(&mut self, quads: usize) -> usize {
        let (mut context, mut nw, mut count) = (0, 0, 0);
        let mut vlc = self.vlc;
        for at in (0..quads).step_by(2) {
            let Some(above) = self.above.get_mut(at + 1..).and_then(|above| above.first_chunk_mut()) else { break };
            let [n, ne, nf] = *above;
            let mut bits = vlc.refill();
            if !FIRST {
                context |= north(nw, n, ne);
            }
            let a = pattern::<FIRST>(&mut self.mel, context, bits);
            bits >>= a & 7;
            context = a >> 16;
            if !FIRST {
                context |= north(n, ne, nf);
            }
            // The last pair may have one quad only.
            let b = if at + 1 < quads { pattern::<FIRST>(&mut self.mel, context, bits) } else { 0 };
            bits >>= b & 7;
            context = b >> 16;
            nw = ne;
            *above = [(a >> 4 & 15) as u8, (b >> 4 & 15) as u8, nf];
            if a | b == 0 {
                continue;
            }

            let mut mode = a >> 3 & 1 | b >> 2 & 2;
            if FIRST && mode == 3 {
                mode = 4 + u32::from(self.mel.event());
            }
            let entry = RESIDUAL[(mode << 6 | bits as u32 & 63) as usize];
            vlc.advance((a & 7) + (b & 7) + (entry & 31));
            let suffixes = (bits >> (entry >> 5 & 7)) as u32;
            let length = entry >> 8 & 7;
            let u0 = (entry >> 14 & 15) + (suffixes & ((1 << length) - 1));
            let u1 = (entry >> 18 & 15) + (suffixes >> length & ((1 << (entry >> 11 & 7)) - 1));
            for (quad, u, q) in [(a, u0, at), (b, u1, at + 1)] {
                if let Some(slot) = self.coded.get_mut(count) {
                    *slot = (q as u32, quad & 0xFFFF | u << 16);
                }
                count += usize::from(quad & 0xF0 != 0);
            }
        }
        self.vlc = vlc;
        count
    }
}

/// Decodes the patterns of one quad, whose context is a multiple of 128.
#[inline(always)]
fn pattern<const FIRST: bool>(mel: &mut MelReader<'_>, context: u32, bits: u64) -> Quad {
    if context == 0 && !mel.event() {
        return 0;
    }
    DECODE[usize::from(!FIRST)][(context | bits as u32 & 127) as usize & 1023]
}

/// Part of the context that depends on ρ of the quads above: north-west, north, north-east (equation 2).
#[inline(always)]
fn north(nw: u8, n: u8, ne: u8) -> u32 {
    let left = (nw >> 3 | n >> 1) & 1;
    let right = (n >> 3 | ne >> 1) & 1;
    u32::from(left) << 7 | u32::from(right) << 9
}

/// Second step: magnitudes and signs of a row of quads.
///
/// A sample is 0, or [`SIGNIFICANT`] + 2(μ − 1) + sign. Rows have one more column on their left.
struct Samples {
    /// Largest U whose values fit an `i32`.
    limit: u32,
    bits: Bits,
    /// Position of the next bit.
    at: usize,
    /// Row above the quads.
    above: Vec<u32>,
    top: Vec<u32>,
    bottom: Vec<u32>,
}

impl Samples {
    /// Decodes one row of quads.
    #[inline(always)]
    fn row<const FIRST: bool>(&mut self, coded: &[(u32, u32)]) -> Result<(), BrokenBlock> {
        std::mem::swap(&mut self.above, &mut self.bottom);
        self.top.fill(0);
        self.bottom.fill(0);
        let mut at = self.at;
        for &(q, fields) in coded {
            let x = 2 * q as usize;
            let (Some([_, top @ ..]), Some([_, bottom @ ..]), Some(&[nw, n0, n1, ne])) = (
                self.top.get_mut(x..).and_then(|row| row.first_chunk_mut::<3>()),
                self.bottom.get_mut(x..).and_then(|row| row.first_chunk_mut::<3>()),
                self.above.get(x..).and_then(|row| row.first_chunk()),
            ) else {
                break;
            };
            let rho = fields >> 4 & 15;
            let kappa = if FIRST || rho & rho.wrapping_sub(1) == 0 {
                1
            } else {
                31 - ((nw | n0 | n1 | ne) & !SIGNIFICANT | 2).leading_zeros()
            };
            let magnitude = kappa + (fields >> 16);
            if magnitude > self.limit {
                return Err(BrokenBlock(TOO_LARGE));
            }
            let [a, b, c, d] = quad(&self.bits, &mut at, fields, magnitude);
            *top = [a, c];
            *bottom = [b, d];
        }
        self.at = at;
        Ok(())
    }
}

/// Decodes the samples of one quad, whose U is `magnitude`.
#[inline(always)]
fn quad(bits: &Bits, at: &mut usize, fields: u32, magnitude: u32) -> [u32; 4] {
    let [rho, e_1, e_k] = [4, 8, 12].map(|shift| (fields >> shift & 15) as usize);
    // One length a byte; e_k is a subset of ρ and not empty only where U exceeds 1.
    let lengths = SPREAD[rho] * magnitude - SPREAD[e_k];
    let ends = lengths.wrapping_mul(0x0101_0101);
    let start = *at;
    *at += (ends >> 24) as usize;
    let word = bits.at(start);
    let words = if ends >> 24 <= 57 {
        let skip = |end: u32| (word >> (end & 0xFF)) as u32;
        [word as u32, skip(ends), skip(ends >> 8), skip(ends >> 16)]
    } else {
        let skip = |end: u32| bits.at(start + (end & 0xFF) as usize) as u32;
        [word as u32, skip(ends), skip(ends >> 8), skip(ends >> 16)]
    };
    // Where e_k is set, e_1 replaces bit U − 1.
    let top = 1 << (magnitude - 1);
    let (rho, e_1, e_k) = (&MASKS[rho], &MASKS[e_1], &MASKS[e_k]);
    let mut samples = [0; 4];
    for (i, sample) in samples.iter_mut().enumerate() {
        let kept = (top - 1) | top & !e_k[i];
        *sample = (words[i] & kept | SIGNIFICANT) & rho[i] | top & e_1[i];
    }
    samples
}

/// Turns samples into values at `plane`.
#[inline(always)]
fn place(samples: &[u32], out: &mut [i32], plane: u32) -> Result<(), BrokenBlock> {
    let mut union = 0;
    for (out, &sample) in out.iter_mut().zip(samples) {
        let twice = (sample & !SIGNIFICANT) + 2;
        union |= twice;
        let sign = -((sample & 1) as i32);
        let value = (((twice | 1) << plane) as i32 ^ sign).wrapping_sub(sign);
        *out = if sample == 0 { 0 } else { value };
    }
    if union >> (31 - plane) == 0 { Ok(()) } else { Err(BrokenBlock(TOO_LARGE)) }
}
