//! Header of a field's stream: type, shape, chunks and bound, then the index of the chunks.

use super::bounded::Bound;
use super::bytes::{Bytes, corrupted};
use super::element::Kind;
use super::transform::levels;
use crate::error::CodecError;
use crate::header::SIGNATURE;
use crate::quantise::Step;
use std::ops::Range;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Format version of fields.
pub const VERSION: u8 = 5;

/// Kind of stream: a field.
pub const FIELD: u8 = 1;

/// Most axes.
pub const MAX_AXES: usize = 3;

/// Most samples of a chunk.
pub const MAX_CHUNK: usize = 1 << 24;

/// Length of an entry of the index: length and checksum of a chunk.
const ENTRY: usize = 8;

/// Length of a checksum.
const CHECKSUM: usize = 4;

/// Header of a field's stream.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldHeader {
    pub(super) kind: Kind,
    pub(super) shape: Vec<usize>,
    pub(super) chunk: Vec<usize>,
    pub(super) bound: Option<Bound>,
}

/// Shape with three axes: missing outer ones have one sample.
pub fn three<T: Copy>(all: &[T], one: T) -> [T; 3] {
    let mut three = [one; 3];
    three[MAX_AXES - all.len()..].copy_from_slice(all);
    three
}

/// Chunks of a field.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Shape of the field.
    pub shape: [usize; 3],
    /// Shape of a chunk.
    pub chunk: [usize; 3],
    /// Chunks along each axis.
    pub count: [usize; 3],
}

impl Grid {
    /// Number of chunks.
    pub fn chunks(&self) -> usize {
        self.count.iter().fold(1, |all: usize, &n| all.saturating_mul(n))
    }

    /// First sample and shape of a chunk, numbered row by row.
    pub fn place(&self, number: usize) -> ([usize; 3], [usize; 3]) {
        let [_, rows, columns] = self.count;
        let at = [number / columns / rows, number / columns % rows, number % columns];
        let start = [0, 1, 2].map(|axis| at[axis] * self.chunk[axis]);
        (start, [0, 1, 2].map(|axis| self.chunk[axis].min(self.shape[axis] - start[axis])))
    }

    /// Chunks that a part of the field needs.
    pub fn needed(&self, start: [usize; 3], size: [usize; 3]) -> Vec<usize> {
        let range = |axis: usize| -> Range<usize> {
            start[axis] / self.chunk[axis]..(start[axis] + size[axis]).div_ceil(self.chunk[axis])
        };
        let [_, rows, columns] = self.count;
        let mut all = Vec::new();
        for z in range(0) {
            for y in range(1) {
                all.extend(range(2).map(|x| (z * rows + y) * columns + x));
            }
        }
        all
    }
}

impl FieldHeader {
    /// Type of the samples.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Samples along each axis: one to three axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Samples of a chunk along each axis; the last chunks may be smaller.
    pub fn chunk(&self) -> &[usize] {
        &self.chunk
    }

    /// Largest absolute error of a sample; `None` if samples are restored exactly.
    pub fn max_error(&self) -> Option<f64> {
        self.bound.as_ref().map(|bound| bound.error)
    }

    /// Number of samples.
    pub fn samples(&self) -> u128 {
        self.shape.iter().fold(1, |all: u128, &n| all.saturating_mul(n as u128))
    }

    /// The chunks.
    pub fn grid(&self) -> Grid {
        let (shape, chunk) = (three(&self.shape, 1), three(&self.chunk, 1));
        Grid { shape, chunk, count: [0, 1, 2].map(|axis| shape[axis].div_ceil(chunk[axis])) }
    }

    /// Levels of the chunks' longest axis.
    pub(super) fn depth(&self) -> u32 {
        self.chunk.iter().map(|&n| levels(n)).max().unwrap_or(0)
    }

    /// Writes the stream of these chunks.
    pub(super) fn write(&self, chunks: &[Vec<u8>]) -> Result<Vec<u8>, CodecError> {
        let mut stream = SIGNATURE.to_vec();
        stream.extend([VERSION, FIELD]);
        stream.push(Kind::ALL.iter().position(|kind| *kind == self.kind).unwrap_or(0) as u8);
        stream.push(self.shape.len() as u8);
        self.shape.iter().for_each(|&n| stream.extend((n as u64).to_le_bytes()));
        self.chunk.iter().for_each(|&n| stream.extend((n as u32).to_le_bytes()));
        stream.push(self.bound.is_some().into());
        if let Some(Bound { error, correction, weights }) = &self.bound {
            stream.extend(error.to_le_bytes());
            stream.extend(correction.to_le_bytes());
            weights.iter().flatten().for_each(|step| stream.extend(step.0.to_le_bytes()));
        }
        let seed = xxh3_64(&stream);
        stream.extend((seed as u32).to_le_bytes());
        let begin = stream.len();
        for (number, chunk) in (1..).zip(chunks) {
            let length = u32::try_from(chunk.len()).map_err(|_| CodecError::Packet { bytes: chunk.len() })?;
            stream.extend(length.to_le_bytes());
            stream.extend(checksum(chunk, seed, number));
        }
        stream.extend(checksum(&stream[begin..], seed, 0));
        chunks.iter().for_each(|chunk| stream.extend(chunk));
        Ok(stream)
    }

    /// Reads the header, and returns it with the seed of checksums and the length in bytes.
    pub(super) fn read(stream: &[u8]) -> Result<(FieldHeader, u64, usize), CodecError> {
        if !is_field(stream) {
            let is_picture = stream.starts_with(&SIGNATURE);
            return Err(if is_picture { CodecError::NotAField } else { CodecError::NotAStream });
        }
        let mut bytes = Bytes(&stream[SIGNATURE.len() + 2..]);
        // The fields give the header's length.
        let header = FieldHeader::fields(&mut bytes)?;
        let length = stream.len() - bytes.0.len();
        let seed = xxh3_64(&stream[..length]);
        let found = bytes.array().map_err(|_| CodecError::NoHeader { bytes: stream.len() })?;
        if (seed as u32).to_le_bytes() != found {
            return Err(CodecError::Checksum { what: "the header".into() });
        }
        Ok((header, seed, length + CHECKSUM))
    }

    fn fields(bytes: &mut Bytes<'_>) -> Result<FieldHeader, CodecError> {
        let kind = usize::from(bytes.byte()?);
        let kind = *Kind::ALL.get(kind).ok_or_else(|| corrupted(format!("an unknown type of samples {kind}")))?;
        let axes = usize::from(bytes.byte()?);
        if !(1..=MAX_AXES).contains(&axes) {
            return Err(corrupted(format!("{axes} axes, and 1 to {MAX_AXES} are allowed")));
        }
        let mut shape = Vec::new();
        for _ in 0..axes {
            let side = usize::try_from(u64::from_le_bytes(bytes.array()?)).unwrap_or(usize::MAX);
            shape.push(side);
        }
        let mut chunk = Vec::new();
        for _ in 0..axes {
            chunk.push(u32::from_le_bytes(bytes.array()?) as usize);
        }
        check_chunk(&shape, &chunk)?;
        let mut header = FieldHeader { kind, shape, chunk, bound: None };
        match bytes.byte()? {
            0 => {}
            1 => {
                let (error, correction) = (bytes.positive()?, bytes.positive()?);
                let mut weights = Vec::new();
                for _ in 0..header.depth() {
                    let [a, b, c, d] = bytes.array()?;
                    weights.push([[a, b], [c, d]].map(|step| Step(u16::from_le_bytes(step))));
                }
                header.bound = Some(Bound { error, correction, weights });
            }
            other => return Err(corrupted(format!("an unknown kind of bound {other}"))),
        }
        Ok(header)
    }
}

/// Checks that a field of this shape can be divided into such chunks.
///
/// # Errors
/// [`CodecError::Chunks`].
pub fn check_chunk(shape: &[usize], chunk: &[usize]) -> Result<(), CodecError> {
    let fits = |(side, chunk): (&usize, &usize)| (1..=*side).contains(chunk);
    let samples = chunk.iter().try_fold(1usize, |all, &n| all.checked_mul(n)).unwrap_or(usize::MAX);
    let good = shape.len() == chunk.len() && shape.iter().zip(chunk).all(fits) && samples <= MAX_CHUNK;
    let error = || CodecError::Chunks { shape: shape.to_vec(), chunk: chunk.to_vec(), most: MAX_CHUNK };
    if good { Ok(()) } else { Err(error()) }
}

/// Ranges of the chunks' bytes, with their checksums, from the index after the header.
pub fn index(stream: &[u8], length: usize, chunks: usize, seed: u64) -> Result<Vec<(Range<usize>, u32)>, CodecError> {
    let cut = || CodecError::NoHeader { bytes: stream.len() };
    let bytes = chunks.checked_mul(ENTRY).and_then(|bytes| bytes.checked_add(CHECKSUM)).ok_or_else(cut)?;
    let index = stream[length..].get(..bytes).ok_or_else(cut)?;
    let (entries, found) = index.split_at(bytes - CHECKSUM);
    if checksum(entries, seed, 0) != found {
        return Err(CodecError::Checksum { what: "the index of chunks".into() });
    }
    let mut at = length + bytes;
    let ranges = entries.as_chunks::<ENTRY>().0.iter().map(|&[a, b, c, d, e, f, g, h]| {
        let begin = at;
        at = at.saturating_add(u32::from_le_bytes([a, b, c, d]) as usize);
        (begin..at, u32::from_le_bytes([e, f, g, h]))
    });
    Ok(ranges.collect())
}

/// Checksum of a part: 0 is the index, and the chunks are numbered from 1.
pub fn checksum(bytes: &[u8], seed: u64, part: u64) -> [u8; CHECKSUM] {
    (xxh3_64_with_seed(bytes, seed.wrapping_add(part)) as u32).to_le_bytes()
}

/// Whether bytes begin as the stream of a field.
pub fn is_field(bytes: &[u8]) -> bool {
    let head = bytes.strip_prefix(&SIGNATURE);
    head.is_some_and(|head| head.starts_with(&[VERSION, FIELD]))
}
