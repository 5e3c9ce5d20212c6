//! Fields: arrays of floats or integers with one to three axes, exactly or within an error bound on every sample.
//!
//! ```
//! use lifting_codec::field::{FieldCodec, FieldDecoder, Tolerance};
//!
//! let samples: Vec<f32> = (0..20 * 30 * 40).map(|i| (i as f32 / 300.0).sin()).collect();
//! let stream = FieldCodec::new(Tolerance::Absolute(1e-3)).encode(&samples, &[20, 30, 40])?;
//! assert!(stream.len() < samples.len());
//!
//! let decoder = FieldDecoder::new(&stream)?;
//! let restored = decoder.decode::<f32>()?;
//! assert!(samples.iter().zip(&restored).all(|(a, b)| (a - b).abs() <= 1e-3));
//! let part = decoder.region::<f32>(&[3, 10, 0], &[1, 2, 40])?;
//! assert_eq!(part[..], restored[(3 * 30 + 10) * 40..][..80]);
//! # Ok::<(), lifting_codec::CodecError>(())
//! ```
//!
//! A field is divided into chunks, coded apart and indexed, so that a region needs only its chunks. NaN, infinities and
//! −0 are restored bit for bit, under any bound. `docs/format.md` defines the streams.
//!
//! Reading order: [`element`](Element) has the sample types; `bounded` and `lossless` code a chunk, both by `integers`,
//! which divides arrays into codeblocks; `special` keeps samples apart; `header` and `decode` are about whole streams.

mod bounded;
mod bytes;
mod decode;
mod element;
mod header;
mod integers;
mod lossless;
mod special;
mod transform;

pub use decode::{FieldDecoder, Samples};
pub use element::{Element, Kind};
pub use header::{FieldHeader, MAX_AXES, MAX_CHUNK, is_field};

use crate::budget;
use crate::error::CodecError;
use bounded::{Bound, Choice};
use header::{Grid, check_chunk};
use lifting::threads;
use std::borrow::Cow;

/// Kinds of chunks in streams: one sample for all.
const CONSTANT: u8 = 0;
/// Samples as they are.
const STORED: u8 = 1;
/// Integer transform.
const LOSSLESS: u8 = 2;
/// Error bound, transform in `f32`.
const SINGLE: u8 = 3;
/// Error bound, transform in `f64`.
const DOUBLE: u8 = 4;

/// Samples of chunks that are coded at once.
const AT_ONCE: usize = 1 << 25;

/// Error that samples may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// None: every bit is restored.
    Lossless,
    /// Largest absolute error of a sample.
    Absolute(f64),
    /// Largest absolute error, as a share of the field's largest finite sample less its least.
    Relative(f64),
}

/// Encoder of fields.
#[derive(Clone, Debug)]
pub struct FieldCodec {
    tolerance: Tolerance,
    chunk: Option<Vec<usize>>,
}

impl FieldCodec {
    /// Encoder with a tolerance. Chunks have at most 256³, 2048² or 2²⁰ samples, by the number of axes.
    pub fn new(tolerance: Tolerance) -> FieldCodec {
        FieldCodec { tolerance, chunk: None }
    }

    /// Sets the samples of a chunk along each axis: at most [`MAX_CHUNK`] in all.
    pub fn chunk(mut self, chunk: &[usize]) -> FieldCodec {
        self.chunk = Some(chunk.to_vec());
        self
    }

    /// Stream of the samples of a field, row by row.
    ///
    /// # Errors
    /// If the shape does not have one to three axes or does not match the samples, or the tolerance is negative or not
    /// a number.
    pub fn encode<T: Element>(&self, samples: &[T], shape: &[usize]) -> Result<Vec<u8>, CodecError> {
        if !(1..=MAX_AXES).contains(&shape.len()) || shape.contains(&0) {
            return Err(CodecError::FieldShape { shape: shape.to_vec() });
        }
        if shape.iter().try_fold(1usize, |all, &n| all.checked_mul(n)) != Some(samples.len()) {
            return Err(CodecError::FieldSamples { shape: shape.to_vec(), found: samples.len() });
        }
        let chunk: Vec<usize> = match &self.chunk {
            Some(chunk) if chunk.len() == shape.len() => {
                chunk.iter().zip(shape).map(|(&n, &side)| n.min(side)).collect()
            }
            // Refused below.
            Some(chunk) => chunk.clone(),
            None => usual_chunk(shape),
        };
        check_chunk(shape, &chunk)?;
        let mut header = FieldHeader { kind: T::KIND, shape: shape.to_vec(), chunk, bound: None };
        if let Some(error) = self.error(samples)? {
            header.bound = Bound::new::<T>(error, header.depth())?;
        }
        let grid = header.grid();
        let choice = match &header.bound {
            Some(bound) => chosen(samples, &grid, bound)?,
            None => USUAL,
        };
        let numbers: Vec<usize> = (0..grid.chunks()).collect();
        let mut chunks = Vec::with_capacity(numbers.len());
        for numbers in numbers.chunks(at_once(&header)) {
            let coded = threads::map(numbers, |&number| {
                let (start, shape) = grid.place(number);
                let part = part(samples, grid.shape, start, shape)?;
                encode_chunk(&part, shape, header.bound.as_ref().map(|bound| (bound, choice)))
            });
            chunks.extend(coded.into_iter().collect::<Result<Vec<_>, _>>()?);
        }
        header.write(&chunks)
    }

    /// Largest absolute error; `None` for lossless coding.
    fn error<T: Element>(&self, samples: &[T]) -> Result<Option<f64>, CodecError> {
        let (value, range) = match self.tolerance {
            Tolerance::Lossless => return Ok(None),
            Tolerance::Absolute(value) => (value, 1.0),
            Tolerance::Relative(value) => {
                let numbers = samples.iter().map(|sample| sample.value()).filter(|value| value.is_finite());
                let (least, most) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
                // Not a number, if there is none.
                (value, if least <= most { most / 2.0 - least / 2.0 } else { 0.0 })
            }
        };
        if value.is_nan() || value < 0.0 {
            return Err(CodecError::MaxError { value });
        }
        let error = match self.tolerance {
            Tolerance::Relative(_) => value * range * 2.0,
            _ => value,
        };
        Ok(Some(error.min(f64::MAX)))
    }
}

/// Number of chunks that are coded at once.
fn at_once(header: &FieldHeader) -> usize {
    let samples = header.chunk.iter().product::<usize>().max(1);
    (AT_ONCE / samples).clamp(1, threads::available())
}

/// Chunks of about equal size.
fn usual_chunk(shape: &[usize]) -> Vec<usize> {
    let most = match shape.iter().filter(|side| **side > 1).count() {
        0 | 1 => 1 << 20,
        2 => 1 << 11,
        _ => 1 << 8,
    };
    shape.iter().map(|side| side.div_ceil(side.div_ceil(most))).collect()
}

/// Array, its shape, and the first sample of a part of it.
type Place<A> = (A, [usize; 3], [usize; 3]);

/// Copies a part of one array to another.
fn copy<T: Copy>((from, of, at): Place<&[T]>, (to, within, place): Place<&mut [T]>, size: [usize; 3]) {
    let index =
        |shape: [usize; 3], at: [usize; 3], z: usize, y: usize| ((at[0] + z) * shape[1] + at[1] + y) * shape[2] + at[2];
    for z in 0..size[0] {
        for y in 0..size[1] {
            let row = &from[index(of, at, z, y)..][..size[2]];
            to[index(within, place, z, y)..][..size[2]].copy_from_slice(row);
        }
    }
}

/// Samples of a part of an array.
fn part<T: Element>(
    samples: &[T],
    shape: [usize; 3],
    start: [usize; 3],
    size: [usize; 3],
) -> Result<Cow<'_, [T]>, CodecError> {
    if size == shape {
        return Ok(samples.into());
    }
    let mut part = budget::zeros(size.iter().product(), "samples")?;
    copy((samples, shape, start), (&mut part, size, [0; 3]), size);
    Ok(part.into())
}

/// Choice for noise.
const USUAL: Choice = Choice { step: 1.75, rounding: 0.45, exact: false };

/// Choice that codes the middle of the field in the fewest bytes.
fn chosen<T: Element>(samples: &[T], grid: &Grid, bound: &Bound) -> Result<Choice, CodecError> {
    let shape = grid.shape;
    let most = match shape.iter().filter(|side| **side > 1).count() {
        0 | 1 => 1 << 18,
        2 => 1 << 9,
        _ => 1 << 6,
    };
    // No longer than a chunk: the bound has no more levels.
    let size = grid.chunk.map(|side| side.min(most));
    let start = [0, 1, 2].map(|axis| (shape[axis] - size[axis]) / 2);
    let part = part(samples, shape, start, size)?;
    let bytes = |choice: Choice| Ok::<_, CodecError>(encode_chunk(&part, size, Some((bound, choice)))?.len());
    let mut best = (bytes(USUAL)?, USUAL);
    for steps in [&[2.0, 2.25, 2.5, 3.0][..], &[1.5, 1.25]] {
        let before = best.0;
        for &step in steps {
            let choice = Choice { step, ..USUAL };
            let bytes = bytes(choice)?;
            if bytes >= best.0 {
                break;
            }
            best = (bytes, choice);
        }
        if best.0 < before {
            break;
        }
    }
    for rounding in [0.4, 0.35, 0.5] {
        let choice = Choice { rounding, ..best.1 };
        let bytes = bytes(choice)?;
        if bytes < best.0 {
            best = (bytes, choice);
        } else if rounding < 0.4 {
            break;
        }
    }
    let lossless = encode_chunk(&part, size, None)?.len();
    Ok(Choice { exact: lossless < best.0 + best.0 / 2, ..best.1 })
}

/// Bytes of a chunk.
fn encode_chunk<T: Element>(
    samples: &[T],
    shape: [usize; 3],
    bound: Option<(&Bound, Choice)>,
) -> Result<Vec<u8>, CodecError> {
    let put = |sample: &T, out: &mut Vec<u8>| out.extend(&sample.bits().to_le_bytes()[..T::KIND.bytes()]);
    if samples.iter().all(|sample| sample.bits() == samples[0].bits()) {
        let mut out = vec![CONSTANT];
        put(&samples[0], &mut out);
        return Ok(out);
    }
    let raw = size_of_val(samples);
    let mut best: Option<Vec<u8>> = None;
    let mut offer = |kind: u8, coded: Vec<u8>| {
        if coded.len() < best.as_ref().map_or(raw, |best| best.len() - 1) {
            best = Some([&[kind], &coded[..]].concat());
        }
        best.as_ref().map_or(raw, Vec::len)
    };
    let mut bytes = raw;
    if let Some((bound, choice)) = bound {
        if bounded::is_single(samples, bound.error)
            && let Some(coded) = bounded::write::<T, f32>(samples, shape, bound, choice)?
        {
            bytes = offer(SINGLE, coded);
        } else if let Some(coded) = bounded::write::<T, f64>(samples, shape, bound, choice)? {
            bytes = offer(DOUBLE, coded);
        }
    }
    // Bounds near the samples' precision, and integers.
    if 2 * bytes > raw || bound.is_some_and(|(_, choice)| choice.exact) {
        offer(LOSSLESS, lossless::write(samples, shape)?);
    }
    Ok(best.unwrap_or_else(|| {
        let mut out = vec![STORED];
        samples.iter().for_each(|sample| put(sample, &mut out));
        out
    }))
}

#[cfg(test)]
mod tests;
