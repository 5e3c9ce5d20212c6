//! Decoder of fields.

use super::bytes::{Bytes, corrupted};
use super::element::{Element, Kind};
use super::header::{FieldHeader, checksum, index, three};
use super::{CONSTANT, DOUBLE, LOSSLESS, SINGLE, STORED, at_once, bounded, copy, lossless};
use crate::budget;
use crate::error::CodecError;
use lifting::threads;
use std::ops::Range;

/// Samples that any stream may promise.
const SMALL: u128 = 1 << 16;

/// Most samples per byte of a stream: a chunk of equal samples takes few bytes.
const PROPORTION: u128 = 1 << 18;

/// Samples of a field, of any type.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Samples {
    F32(Vec<f32>),
    F64(Vec<f64>),
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
}

/// Stream of a field whose header and index have been read.
#[derive(Clone, Debug)]
pub struct FieldDecoder<'a> {
    header: FieldHeader,
    stream: &'a [u8],
    seed: u64,
    chunks: Vec<(Range<usize>, u32)>,
    most: u128,
}

impl<'a> FieldDecoder<'a> {
    /// Reads the header and the index.
    ///
    /// # Errors
    /// If the stream is not one of a field, or its header or index is corrupted or promises more samples than a stream
    /// of this length can hold.
    pub fn new(stream: &'a [u8]) -> Result<FieldDecoder<'a>, CodecError> {
        let (header, seed, length) = FieldHeader::read(stream)?;
        let samples = header.samples();
        if samples > SMALL + PROPORTION * stream.len() as u128 {
            return Err(CodecError::Disproportionate { bytes: stream.len(), samples });
        }
        let chunks = index(stream, length, header.grid().chunks(), seed)?;
        let end = chunks.last().map_or(length, |(range, _)| range.end);
        if end < stream.len() {
            return Err(CodecError::Behind { bytes: stream.len() - end });
        }
        Ok(FieldDecoder { header, stream, seed, chunks, most: u128::MAX })
    }

    /// Refuses to decode more samples than this at once.
    pub fn at_most(mut self, samples: u128) -> Self {
        self.most = samples;
        self
    }

    /// The stream's header.
    pub fn header(&self) -> &FieldHeader {
        &self.header
    }

    /// Bytes of each chunk, row by row.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.chunks.iter().map(|(range, _)| range.clone())
    }

    /// All samples, row by row.
    ///
    /// # Errors
    /// If the samples have another type, or the stream is truncated or corrupted.
    pub fn decode<T: Element>(&self) -> Result<Vec<T>, CodecError> {
        self.region(&vec![0; self.header.shape.len()], &self.header.shape)
    }

    /// Samples of a part of the field, row by row: `size` of them along each axis, from sample `start` on. Only the
    /// chunks that it touches are read.
    ///
    /// # Errors
    /// As [`FieldDecoder::decode`], and if the part is empty or exceeds the field.
    pub fn region<T: Element>(&self, start: &[usize], size: &[usize]) -> Result<Vec<T>, CodecError> {
        let FieldHeader { kind, shape, .. } = &self.header;
        if T::KIND != *kind {
            return Err(CodecError::OtherType { found: kind.name(), asked: T::KIND.name() });
        }
        let inside =
            |axis: usize| size[axis] > 0 && start[axis].checked_add(size[axis]).is_some_and(|n| n <= shape[axis]);
        if [start.len(), size.len()] != [shape.len(); 2] || !(0..shape.len()).all(inside) {
            let (start, size, shape) = (start.to_vec(), size.to_vec(), shape.clone());
            return Err(CodecError::FieldRegion { start, size, shape });
        }
        let (start, size) = (three(start, 0), three(size, 1));
        let count = size.iter().map(|&n| n as u128).product::<u128>();
        if count > self.most {
            return Err(CodecError::TooLarge { samples: count, most: self.most });
        }
        let grid = self.header.grid();
        let numbers = grid.needed(start, size);
        let mut samples: Vec<T> = budget::zeros(usize::try_from(count).unwrap_or(usize::MAX), "samples")?;
        for numbers in numbers.chunks(at_once(&self.header)) {
            let decoded = threads::map(numbers, |&number| self.chunk::<T>(number, grid.place(number).1));
            for (&number, chunk) in numbers.iter().zip(decoded) {
                let (chunk, (from, shape)) = (chunk?, grid.place(number));
                // The common part of the chunk and the region.
                let first = [0, 1, 2].map(|axis| from[axis].max(start[axis]));
                let end = [0, 1, 2].map(|axis| (from[axis] + shape[axis]).min(start[axis] + size[axis]));
                let common = [0, 1, 2].map(|axis| end[axis] - first[axis]);
                let within = |of: [usize; 3]| [0, 1, 2].map(|axis| first[axis] - of[axis]);
                copy((&chunk, shape, within(from)), (&mut samples, size, within(start)), common);
            }
        }
        Ok(samples)
    }

    /// [`FieldDecoder::region`] of any type; the whole field without a region.
    ///
    /// # Errors
    /// As [`FieldDecoder::region`].
    pub fn any(&self, region: Option<(&[usize], &[usize])>) -> Result<Samples, CodecError> {
        let zeros = vec![0; self.header.shape.len()];
        let (start, size) = region.unwrap_or((&zeros, &self.header.shape));
        Ok(match self.header.kind {
            Kind::F32 => Samples::F32(self.region(start, size)?),
            Kind::F64 => Samples::F64(self.region(start, size)?),
            Kind::U8 => Samples::U8(self.region(start, size)?),
            Kind::I8 => Samples::I8(self.region(start, size)?),
            Kind::U16 => Samples::U16(self.region(start, size)?),
            Kind::I16 => Samples::I16(self.region(start, size)?),
            Kind::U32 => Samples::U32(self.region(start, size)?),
            Kind::I32 => Samples::I32(self.region(start, size)?),
            Kind::U64 => Samples::U64(self.region(start, size)?),
            Kind::I64 => Samples::I64(self.region(start, size)?),
        })
    }

    /// Samples of a chunk.
    fn chunk<T: Element>(&self, number: usize, shape: [usize; 3]) -> Result<Vec<T>, CodecError> {
        let (range, sum) = &self.chunks[number];
        let bytes = self.stream.get(range.clone()).ok_or(CodecError::Cut { bytes: self.stream.len() })?;
        if checksum(bytes, self.seed, 1 + number as u64) != sum.to_le_bytes() {
            return Err(CodecError::Checksum { what: format!("chunk {number}") });
        }
        let mut bytes = Bytes(bytes);
        let (count, length) = (shape.iter().product::<usize>(), T::KIND.bytes());
        let one = |bytes: &[u8]| {
            let mut all = [0; 8];
            all[..length].copy_from_slice(bytes);
            T::of_bits(u64::from_le_bytes(all))
        };
        let samples = match bytes.byte()? {
            CONSTANT => {
                let mut samples = budget::room(count, "samples")?;
                samples.resize(count, one(bytes.take(length)?));
                samples
            }
            STORED => bytes.take(count * length)?.chunks_exact(length).map(one).collect(),
            LOSSLESS => lossless::read(shape, &mut bytes)?,
            kind @ (SINGLE | DOUBLE) => {
                let none = || corrupted("a bounded chunk in a stream without a bound");
                let bound = self.header.bound.as_ref().ok_or_else(none)?;
                match kind {
                    SINGLE => bounded::read::<T, f32>(shape, bound, &mut bytes)?,
                    _ => bounded::read::<T, f64>(shape, bound, &mut bytes)?,
                }
            }
            other => return Err(corrupted(format!("an unknown kind of chunk {other}"))),
        };
        match bytes.0.len() {
            0 => Ok(samples),
            more => Err(corrupted(format!("{more} excess bytes in chunk {number}"))),
        }
    }
}
