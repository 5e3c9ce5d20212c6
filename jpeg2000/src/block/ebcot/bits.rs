//! Codeword segments: bit stuffing, raw bits and truncation (ISO/IEC 15444-1, Annexes D.4 and D.6).

use std::ops::Range;

use super::passes::Coder;

/// Encoder of a codeword segment. A byte before the segment's first takes carries, which never come.
pub(super) trait Segment: Coder {
    /// Marks the end of a pass.
    fn mark(&self) -> Mark;

    /// Terminates the segment and returns its bytes, with the one before them.
    fn finish(self, predictable: bool) -> Vec<u8>;
}

/// End of a pass within a segment: all codewords that decode up to there.
pub(super) struct Mark {
    /// Bytes before the one that a carry may change.
    pub bytes: usize,
    /// Interval of the codewords. A unit of that byte is 1 << [`UNIT`].
    pub codewords: Range<u64>,
}

/// Binary logarithm of the unit of a mark's last byte.
pub(super) const UNIT: u32 = 43;

impl Mark {
    /// Length of the shortest prefix of a segment that is one of the codewords if ones follow.
    pub fn length(&self, bytes: &[u8]) -> usize {
        let mut unit = UNIT;
        let mut value = 0;
        let mut last = 0;
        for (index, &byte) in bytes.iter().enumerate().skip(self.bytes) {
            if index > self.bytes {
                match unit.checked_sub(if last == 0xff { 7 } else { 8 }) {
                    Some(lower) => unit = lower,
                    None => break,
                }
            }
            value += u64::from(byte) << unit;
            // A carry in the next byte may put the codeword above a prefix with ones.
            let end = value + (1 << unit);
            if end > self.codewords.start && end <= self.codewords.end {
                return trimmed(&bytes[..=index]);
            }
            last = byte;
        }
        trimmed(bytes)
    }
}

/// Length without bytes 0xff at the end, for which a decoder fills in ones.
pub(super) fn trimmed(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte != 0xff).map_or(0, |last| last + 1)
}

/// Writes a codeword without the bits stuffed after bytes 0xff. It ends before a marker; eight bytes of ones follow.
pub(super) fn unstuff(codeword: &[u8], bits: &mut Vec<u8>) {
    bits.clear();
    bits.reserve(codeword.len() + 9);
    let (mut held, mut count, mut last) = (0u32, 0, 0);
    for &byte in codeword {
        if last == 0xff && byte > 0x8f {
            break;
        }
        let width = if last == 0xff { 7 } else { 8 };
        held = (held << width) + u32::from(byte);
        count += width;
        if held >> count != 0 {
            carry(bits);
        }
        if count >= 8 {
            count -= 8;
            bits.push((held >> count) as u8);
        }
        held &= (1 << count) - 1;
        last = byte;
    }
    if count > 0 {
        bits.push((held << (8 - count) | 0xff >> count) as u8);
    }
    bits.extend([0xff; 8]);
}

/// Adds 1 to a number of many bytes.
fn carry(bits: &mut [u8]) {
    for byte in bits.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
}

/// Six bytes of a codeword from [`unstuff`]; ones follow its end.
#[inline(always)]
pub(super) fn word(bits: &[u8], at: usize) -> u64 {
    match bits.get(at..at + 8).map(<[u8; 8]>::try_from) {
        Some(Ok(bytes)) => u64::from_be_bytes(bytes) >> 16,
        _ => u64::MAX >> 16,
    }
}

/// Decoder of raw bits (D.6).
pub(super) struct Reader<'a> {
    bits: &'a [u8],
    /// Bytes of the codeword read.
    read: usize,
    /// Bits not decoded yet: the lowest `count`.
    held: u64,
    count: u32,
}

impl<'a> Reader<'a> {
    /// Decoder of a codeword from [`unstuff`].
    pub fn new(bits: &'a [u8]) -> Self {
        Self { bits, read: 0, held: 0, count: 0 }
    }
}

impl Coder for Reader<'_> {
    #[inline(always)]
    fn code(&mut self, _: usize, _: u32) -> u32 {
        if self.count == 0 {
            self.held = word(self.bits, self.read);
            self.read += 6;
            self.count = 48;
        }
        self.count -= 1;
        (self.held >> self.count) as u32 & 1
    }

    #[inline(always)]
    fn sign(&mut self, _: u8, _: u32) -> u32 {
        self.code(0, 0)
    }

    fn reset(&mut self) {}
}

/// Encoder of raw bits (D.6).
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// Byte that is being filled.
    last: u8,
    /// Bits that it lacks.
    free: u32,
}

impl Writer {
    /// Encoder at the start of a segment.
    pub fn new() -> Self {
        Self { bytes: vec![0], last: 0, free: 8 }
    }

    /// Bits of the byte that is being filled: seven after a byte 0xff.
    fn room(&self) -> u32 {
        if self.bytes.last() == Some(&0xff) { 7 } else { 8 }
    }
}

impl Coder for Writer {
    #[inline(always)]
    fn code(&mut self, _: usize, bit: u32) -> u32 {
        self.free -= 1;
        self.last |= (bit << self.free) as u8;
        if self.free == 0 {
            self.bytes.push(self.last);
            self.last = 0;
            self.free = self.room();
        }
        bit
    }

    #[inline(always)]
    fn sign(&mut self, _: u8, bit: u32) -> u32 {
        self.code(0, bit)
    }

    fn reset(&mut self) {}
}

impl Segment for Writer {
    fn mark(&self) -> Mark {
        let last = self.bytes.len() - usize::from(self.free == self.room());
        Mark { bytes: last, codewords: 0..u64::MAX }
    }

    /// Fills the last byte by ones, or by zeros and ones in turn where the termination has to be predictable.
    fn finish(mut self, predictable: bool) -> Vec<u8> {
        let stuffed = self.room() == 7;
        if self.free < self.room() || stuffed && predictable {
            let fill = if predictable { 0x55 >> (8 - self.free) & 0xff } else { (1 << self.free) - 1 };
            self.bytes.push(self.last | fill as u8);
        }
        self.bytes.truncate(trimmed(&self.bytes));
        self.bytes
    }
}
