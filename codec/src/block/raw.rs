//! Bit streams in words, highest bit first, and blocks stored uncoded.

use super::{BlockError, BlockShape};

/// Writer of bits.
#[derive(Debug, Default)]
pub struct Writer {
    words: Vec<u16>,
    bits: usize,
}

impl Writer {
    /// Writes the lowest `count` bits of `value`, at most 32, highest first.
    pub fn put(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            if self.bits.is_multiple_of(16) {
                self.words.push(0);
            }
            let word = self.bits / 16;
            self.words[word] |= ((value >> bit & 1) as u16) << (15 - self.bits % 16);
            self.bits += 1;
        }
    }

    /// All words, the last one padded with zeros.
    pub fn finish(self) -> Vec<u16> {
        self.words
    }
}

/// Reader of bits.
#[derive(Debug)]
pub struct Reader<'a> {
    words: &'a [u16],
    bits: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first bit of these words.
    pub fn new(words: &'a [u16]) -> Reader<'a> {
        Reader { words, bits: 0 }
    }

    /// Next `count` bits, at most 32; `None` if fewer are left.
    pub fn take(&mut self, count: u32) -> Option<u32> {
        if self.bits + count as usize > 16 * self.words.len() {
            return None;
        }
        let value = (0..count).fold(0, |value, _| {
            let bit = self.words[self.bits / 16] >> (15 - self.bits % 16) & 1;
            self.bits += 1;
            value << 1 | u32::from(bit)
        });
        Some(value)
    }

    /// Whether less than a word is left, and only zeros.
    pub fn ends_here(mut self) -> bool {
        let left = 16 * self.words.len() - self.bits;
        left < 16 && self.take(left as u32) == Some(0)
    }
}

/// Number of words of a stored block: a sign and `planes` bits for each coefficient.
pub fn words(shape: BlockShape, planes: u32) -> usize {
    (shape.samples() * (planes as usize + 1)).div_ceil(16)
}

/// Stores a block, row by row.
pub fn encode(magnitudes: &[u32], negative: &[bool], planes: u32) -> Vec<u16> {
    let mut writer = Writer::default();
    for (&magnitude, &negative) in magnitudes.iter().zip(negative) {
        writer.put(negative.into(), 1);
        writer.put(magnitude, planes);
    }
    writer.finish()
}

/// Reads a stored block: magnitudes and signs, as far as the words go.
///
/// # Errors
/// If the block should be complete and the number of words does not match, or the padding is not 0.
pub fn decode(
    shape: BlockShape,
    planes: u32,
    words: &[u16],
    complete: bool,
) -> Result<(Vec<u32>, Vec<bool>), BlockError> {
    if complete && words.len() != self::words(shape, planes) {
        return Err(BlockError::Length);
    }
    let mut reader = Reader::new(words);
    let (mut magnitudes, mut negative) = (Vec::new(), Vec::new());
    for _ in 0..shape.samples() {
        let Some((sign, magnitude)) = reader.take(1).zip(reader.take(planes)) else { break };
        magnitudes.push(magnitude);
        negative.push(sign == 1 && magnitude != 0);
    }
    if complete && !reader.ends_here() {
        return Err(BlockError::Length);
    }
    Ok((magnitudes, negative))
}
