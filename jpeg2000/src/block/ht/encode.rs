//! Encoder of an HT set, with the cleanup pass (T.814, clause 7.3).
//!
//! Each row of quads takes two steps, as in the decoder: MEL and VLC of all quads, then MagSgn of those not empty.

use super::bits::Writer;
use super::mel::MelWriter;
use super::refine::{Propagate, Sigma, propagate, refine};
use super::tables::{CODEWORDS, ENCODE, SIGNIFICANT, SPREAD};
use crate::block::{Encoded, Pass, Shape};
use lifting_loops::{Isa, Task};

/// Largest magnitude that is coded.
const LARGEST: u32 = (1 << 30) - 1;

/// Encodes one HT set of a codeblock (T.814, clause 7).
///
/// `indices` are `shape.height` rows of `shape.width` quantiser indices. Magnitudes beyond 2³⁰ − 1 saturate; missing
/// indices are zeros. The cleanup pass is at bitplane `plane`, 0 to 29, 0 for lossless coding. `passes` 2 and 3 add
/// SigProp and MagRef at `plane` − 1, if there is such a plane and if they code anything. `causal` says whether SigProp
/// ignores the next stripe.
///
/// A block without significant samples at `plane` has no passes. Gains assume that a magnitude m stands for m + ½, the
/// middle of its quantiser bin, and have the precision of `f32`.
pub fn encode(shape: Shape, causal: bool, indices: &[i32], plane: u32, passes: u32) -> Encoded {
    let samples = shape.height * shape.width;
    let padded;
    let indices = match indices.get(..samples) {
        Some(indices) => indices,
        None => {
            padded = [indices, &vec![0; samples - indices.len()]].concat();
            &padded
        }
    };
    let plane = plane.min(31);
    let empty = |indices: &[i32]| indices.iter().fold(0, |union, &index| union | magnitude(index)) >> plane == 0;
    if indices.chunks(64).all(empty) {
        return Encoded::default();
    }
    let (bytes, gain) = Isa::run(Cleanup { shape, indices, plane });
    let mut encoded =
        Encoded { planes: plane + 1, passes: vec![Pass { end: bytes.len(), terminated: true, gain }], bytes };
    if plane > 0 && passes > 1 {
        refinement(shape, causal, indices, plane, passes, &mut encoded);
    }
    encoded
}

fn magnitude(index: i32) -> u32 {
    index.unsigned_abs().min(LARGEST)
}

/// Doubled error of a magnitude decoded down to `plane`.
#[inline(always)]
fn error(m: u32, plane: u32) -> f64 {
    f64::from(((2 * (m >> plane) + 1) << plane) as i32 - exact(m))
}

/// Doubled magnitude, m + ½.
#[inline(always)]
fn exact(m: u32) -> i32 {
    2 * m as i32 + 1
}

/// Appends the second segment.
fn refinement(shape: Shape, causal: bool, indices: &[i32], plane: u32, passes: u32, encoded: &mut Encoded) {
    let sigma = Sigma::new(shape, indices, |index| magnitude(index) >> plane != 0);
    let mut sigprop = SigProp { plane: plane - 1, indices, bits: Writer::forward(), gain: 0.0 };
    propagate(shape, &sigma, causal, &mut sigprop);
    encoded.bytes.extend(sigprop.bits.end_with_zeros());
    let end = encoded.bytes.len();
    let mut gain = 0.0;
    if passes > 2 {
        let mut magref = Writer::backward();
        refine(shape, &sigma, |at| {
            let m = magnitude(indices[at]);
            magref.put(m >> (plane - 1) & 1 != 0);
            gain += error(m, plane).powi(2) - error(m, plane - 1).powi(2);
        });
        encoded.bytes.extend(magref.end_with_zeros().iter().rev());
    } else if end == encoded.passes[0].end {
        return;
    }
    encoded.passes.push(Pass { end, terminated: passes == 2, gain: sigprop.gain });
    if passes > 2 {
        encoded.passes.push(Pass { end: encoded.bytes.len(), terminated: true, gain: gain / 4.0 });
    }
}

/// Encoder of SigProp at `plane`.
struct SigProp<'a> {
    plane: u32,
    indices: &'a [i32],
    bits: Writer<false>,
    gain: f64,
}

impl Propagate for SigProp<'_> {
    fn significant(&mut self, at: usize) -> bool {
        let significant = magnitude(self.indices[at]) >> self.plane != 0;
        self.bits.put(significant);
        significant
    }

    fn sign(&mut self, at: usize) {
        let index = self.indices[at];
        self.bits.put(index < 0);
        let m = magnitude(index);
        self.gain += (f64::from(exact(m)).powi(2) - error(m, self.plane).powi(2)) / 4.0;
    }
}

/// Cleanup pass, compiled for each instruction set: its bytes and its gain.
struct Cleanup<'a> {
    shape: Shape,
    indices: &'a [i32],
    plane: u32,
}

impl Task for Cleanup<'_> {
    type Output = (Vec<u8>, f64);

    #[inline(always)]
    fn run(self) -> Self::Output {
        cleanup(self.shape, self.indices, self.plane)
    }
}

/// Bytes of the cleanup pass, and its gain.
#[inline(always)]
fn cleanup(shape: Shape, indices: &[i32], plane: u32) -> (Vec<u8>, f64) {
    let quads = shape.width.div_ceil(2);
    // A column on either side of pairs of quads.
    let row = || vec![0; 2 + 2 * quads.next_multiple_of(2)];
    let mut rows = Rows { above: row(), top: row(), bottom: row() };
    let mut coder = Streams {
        mel: MelWriter::default(),
        vlc: Writer::vlc(),
        magsgn: Writer::forward(),
        coded: vec![(0, 0); quads + 1],
    };
    let mut gain = 0.0;
    for (y, indices) in indices.chunks(2 * shape.width).enumerate() {
        let (top, bottom) = indices.split_at(shape.width);
        std::mem::swap(&mut rows.above, &mut rows.bottom);
        gain += load(&mut rows.top[1..], top, plane);
        if bottom.is_empty() {
            rows.bottom.fill(0);
        } else {
            gain += load(&mut rows.bottom[1..], bottom, plane);
        }
        let coded = if y == 0 { coder.patterns::<true>(&rows, quads) } else { coder.patterns::<false>(&rows, quads) };
        coder.samples(&rows, coded);
    }
    let mut bytes = coder.magsgn.end_with_ones();
    let scup = coder.mel.end(coder.vlc, &mut bytes);
    if let [.., low, high] = &mut bytes[..] {
        *high = (scup >> 4) as u8;
        *low = *low & 0xF0 | (scup & 0x0F) as u8;
    }
    (bytes, gain)
}

/// Both rows of a row of quads, and the row above them, with a column of zeros on either side.
///
/// A sample is 0, or [`SIGNIFICANT`] + 2(μ − 1) + sign.
struct Rows {
    above: Vec<u32>,
    top: Vec<u32>,
    bottom: Vec<u32>,
}

/// Fills a row. Returns its gain.
#[inline(always)]
fn load(row: &mut [u32], indices: &[i32], plane: u32) -> f64 {
    let sample = |index: i32| {
        let m = magnitude(index);
        let mu = m >> plane;
        let value = (2 * mu).wrapping_sub(2) | SIGNIFICANT | index as u32 >> 31;
        let error = exact(m) - ((2 * mu + 1) << plane) as i32;
        let gain = (exact(m) as f32).powi(2) - (error as f32).powi(2);
        if mu == 0 { (0, 0.0) } else { (value, gain) }
    };
    // Independent sums keep the additions in flight; a row is too short for their rounding to matter.
    let mut sums = [0.0; 8];
    for (row, indices) in row.chunks_mut(8).zip(indices.chunks(8)) {
        for ((slot, sum), &index) in row.iter_mut().zip(&mut sums).zip(indices) {
            let (value, gain) = sample(index);
            *slot = value;
            *sum += gain;
        }
    }
    f64::from(sums.iter().sum::<f32>()) / 4.0
}

/// Streams of the cleanup pass.
struct Streams {
    mel: MelWriter,
    vlc: Writer<true>,
    magsgn: Writer<false>,
    /// Quads of the row that are not empty: their position, and the numbers of their MagSgn bits, one number a byte.
    coded: Vec<(u32, u32)>,
}

impl Streams {
    /// Writes MEL and VLC of a row of quads. Returns the number of quads that are not empty.
    #[inline(always)]
    fn patterns<const FIRST: bool>(&mut self, rows: &Rows, quads: usize) -> usize {
        // At most seven bits of VLC and eight of U-VLC a quad.
        let (bytes, tail) = self.vlc.room(15 * quads);
        let mut vlc = *tail;
        let mel = &mut self.mel;
        let (mut count, mut west) = (0, 0);
        let (top, bottom) = (rows.top[1..].as_chunks::<4>().0, rows.bottom[1..].as_chunks::<4>().0);
        for ((&[a, c, e, g], &[b, d, f, h]), at) in top.iter().zip(bottom).zip((0..).step_by(2)) {
            let Some(&[n0, n1, n2, n3, n4, n5]) = rows.above.get(2 * at..).and_then(|row| row.first_chunk()) else {
                break;
            };
            let first = quad::<FIRST>([a, b, c, d], mel, &mut west, n0 | n1, n2 | n3);
            let (mut bits, mut length) = (u64::from(first.code & 127), first.code >> 7 & 7);
            let mut second = Quad { code: 0, u: 0, lengths: 0 };
            // The last pair may have one quad only.
            if at + 1 < quads {
                second = quad::<FIRST>([e, f, g, h], mel, &mut west, n2 | n3, n4 | n5);
                bits |= u64::from(second.code & 127) << length;
                length += second.code >> 7 & 7;
            }
            let (codewords, size) = residuals::<FIRST>(mel, first.u, second.u);
            if length + size != 0 {
                vlc.put(bytes, bits | codewords << length, length + size);
            }
            for (quad, q) in [(first, at), (second, at + 1)] {
                if let Some(slot) = self.coded.get_mut(count) {
                    *slot = (q as u32, quad.lengths);
                }
                count += usize::from(quad.lengths != 0);
            }
        }
        *tail = vlc;
        count
    }

    /// Writes MagSgn of the first `count` listed quads.
    #[inline(always)]
    fn samples(&mut self, rows: &Rows, count: usize) {
        let (bytes, tail) = self.magsgn.room(4 * 31 * count);
        let mut magsgn = *tail;
        for &(q, lengths) in &self.coded[..count] {
            let x = 2 * q as usize;
            let (Some(&[_, a, c]), Some(&[_, b, d])) = (
                rows.top.get(x..).and_then(|row| row.first_chunk()),
                rows.bottom.get(x..).and_then(|row| row.first_chunk()),
            ) else {
                break;
            };
            let length = |i: u32| lengths >> (8 * i) & 0xFF;
            let bits = |i: u32, sample: u32| u64::from(sample & ((1 << length(i)) - 1));
            let ends = lengths.wrapping_mul(0x0101_0101);
            let (first, second) = (bits(0, a) | bits(1, b) << length(0), bits(2, c) | bits(3, d) << length(2));
            if ends >> 24 <= 56 {
                magsgn.put(bytes, first | second << (ends >> 8 & 0xFF), ends >> 24);
            } else {
                for (i, sample) in (0..4).zip([a, b, c, d]) {
                    magsgn.put(bytes, bits(i, sample), length(i));
                }
            }
        }
        *tail = magsgn;
    }
}

/// Coded fields of a quad.
struct Quad {
    /// Entry of [`ENCODE`].
    code: u32,
    u: u32,
    /// Numbers of MagSgn bits, one a byte.
    lengths: u32,
}

/// Codes a quad, except its VLC and U-VLC codewords and its MagSgn bits.
///
/// `west` is ρ of the quad before. `left` and `right` are the unions of two samples above, on either side of the middle
/// of the quad.
#[inline(always)]
fn quad<const FIRST: bool>([a, b, c, d]: [u32; 4], mel: &mut MelWriter, west: &mut u32, left: u32, right: u32) -> Quad {
    let rho = a >> 31 | b >> 31 << 1 | c >> 31 << 2 | d >> 31 << 3;
    let (context, kappa) = if FIRST {
        (*west >> 1 | *west & 1, 1)
    } else {
        let context = left >> 31 | (*west >> 1 | *west >> 2) & 2 | right >> 31 << 2;
        let above = 31 - ((left | right) & !SIGNIFICANT | 2).leading_zeros();
        (context, if rho & rho.wrapping_sub(1) == 0 { 1 } else { above })
    };
    *west = rho;
    if context == 0 {
        mel.put(rho != 0);
    }
    if context | rho == 0 {
        return Quad { code: 0, u: 0, lengths: 0 };
    }
    let exponent = 32 - ((a | b | c | d) & !SIGNIFICANT | 1).leading_zeros();
    let magnitude = exponent.max(kappa);
    let u = magnitude - kappa;
    let top = |sample: u32| sample >> (magnitude - 1) & 1;
    let emb = (top(a) | top(b) << 1 | top(c) << 2 | top(d) << 3) & 0u32.wrapping_sub(u32::from(u != 0));
    let code = u32::from(ENCODE[usize::from(!FIRST)][(context << 8 | rho << 4 | emb) as usize & 2047]);
    let lengths = SPREAD[rho as usize & 15] * magnitude - SPREAD[(code >> 10) as usize & 15];
    Quad { code, u, lengths }
}

/// Codewords of two residuals, and their length.
#[inline(always)]
fn residuals<const FIRST: bool>(mel: &mut MelWriter, u0: u32, u1: u32) -> (u64, u32) {
    let mut codes = [CODEWORDS[u0 as usize & 31], CODEWORDS[u1 as usize & 31]];
    if FIRST && u0 > 0 && u1 > 0 {
        let both = u0 > 2 && u1 > 2;
        mel.put(both);
        if both {
            codes = [CODEWORDS[u0 as usize - 2], CODEWORDS[u1 as usize - 2]];
        } else if u0 > 2 {
            codes[1] = (u1 - 1) | 1 << 3;
        }
    }
    let [a, b] = codes.map(u64::from);
    let (p0, p1, s0) = (a >> 3 & 3, b >> 3 & 3, a >> 10);
    let suffixes = a >> 5 & 31 | (b >> 5 & 31) << s0;
    (a & 7 | (b & 7) << p0 | suffixes << (p0 + p1), (p0 + p1 + s0 + (b >> 10)) as u32)
}
