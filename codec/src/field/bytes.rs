//! Reader of consecutive fields of a stream.

use crate::error::CodecError;

/// Bytes not yet read.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

/// Error of a stream whose checksums match.
pub fn corrupted(why: impl Into<String>) -> CodecError {
    CodecError::FieldStream { why: why.into() }
}

impl<'a> Bytes<'a> {
    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], CodecError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| corrupted("a part that ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next bytes, as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(|| corrupted("a part that ends early"))?;
        self.0 = rest;
        Ok(*taken)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, CodecError> {
        Ok(self.array::<1>()?[0])
    }

    /// The next `f64`, which must be finite and above 0.
    pub fn positive(&mut self) -> Result<f64, CodecError> {
        let value = f64::from_le_bytes(self.array()?);
        if value > 0.0 && value.is_finite() { Ok(value) } else { Err(corrupted(format!("the step {value}"))) }
    }
}

/// The lowest bits, below 64 of them.
pub fn low_mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Writer of numbers of less than 64 bits, from each byte's lowest bit on.
#[derive(Clone, Debug, Default)]
pub struct Packer {
    bytes: Vec<u8>,
    held: u128,
    count: u32,
}

impl Packer {
    /// Writes the lowest bits of a number.
    pub fn put(&mut self, value: u64, bits: u32) {
        self.held |= u128::from(value & low_mask(bits)) << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// The bytes; the last one is padded with zeros.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend((self.count > 0).then_some(self.held as u8));
        self.bytes
    }
}

/// Reader of the bytes of a [`Packer`].
#[derive(Clone, Debug)]
pub struct Unpacker<'a> {
    bytes: &'a [u8],
    held: u128,
    count: u32,
}

impl<'a> Unpacker<'a> {
    /// Reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> Unpacker<'a> {
        Unpacker { bytes, held: 0, count: 0 }
    }

    /// The next number; `None` at the end.
    pub fn get(&mut self, bits: u32) -> Option<u64> {
        while self.count < bits {
            let (byte, rest) = self.bytes.split_first()?;
            self.held |= u128::from(*byte) << self.count;
            self.count += 8;
            self.bytes = rest;
        }
        let value = self.held as u64 & low_mask(bits);
        self.held >>= bits;
        self.count -= bits;
        Some(value)
    }

    /// Bytes that nothing was read from.
    pub fn rest(self) -> &'a [u8] {
        self.bytes
    }
}
