//! Bits of packet headers (B.10.1): after a byte of ones, the next byte begins with a stuffed 0.

/// Reader of packet header bits. Past the end of the data it reads zeros and remembers it.
pub struct BitReader<'a> {
    data: &'a [u8],
    at: usize,
    byte: u8,
    /// Unread bits of `byte`.
    left: u32,
    ended: bool,
}

impl<'a> BitReader<'a> {
    pub fn new(data: &'a [u8]) -> BitReader<'a> {
        BitReader { data, at: 0, byte: 0, left: 0, ended: false }
    }

    /// Next bit.
    pub fn bit(&mut self) -> bool {
        if self.left == 0 {
            self.left = if self.byte == 0xff { 7 } else { 8 };
            match self.data.get(self.at) {
                Some(&byte) => (self.byte, self.at) = (byte, self.at + 1),
                None => (self.byte, self.ended) = (0, true),
            }
        }
        self.left -= 1;
        self.byte >> self.left & 1 == 1
    }

    /// Number of `count` bits, the highest first; at most 32.
    pub fn number(&mut self, count: u32) -> u32 {
        (0..count).fold(0, |number, _| number << 1 | u32::from(self.bit()))
    }

    /// Skips the rest of the last byte, and the byte of a stuffed bit; the number of bytes read.
    pub fn finish(mut self) -> usize {
        if self.byte == 0xff && self.at < self.data.len() {
            self.at += 1;
        }
        self.at
    }

    /// Whether bits past the end were read.
    pub fn ended(&self) -> bool {
        self.ended
    }
}

/// Writer of packet header bits.
#[derive(Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    byte: u8,
    /// Bits in `byte`.
    count: u32,
}

impl BitWriter {
    /// Appends a bit.
    pub fn bit(&mut self, bit: bool) {
        self.byte = self.byte << 1 | u8::from(bit);
        self.count += 1;
        let full = if self.bytes.last() == Some(&0xff) { 7 } else { 8 };
        if self.count == full {
            self.bytes.push(self.byte);
            (self.byte, self.count) = (0, 0);
        }
    }

    /// Appends `count` bits of a number, the highest first.
    pub fn number(&mut self, number: u32, count: u32) {
        (0..count).rev().for_each(|k| self.bit(number >> k & 1 == 1));
    }

    /// Fills the last byte with zeros. A last byte of ones is followed by a byte of 0.
    pub fn finish(mut self) -> Vec<u8> {
        while self.count > 0 || self.bytes.last() == Some(&0xff) {
            self.bit(false);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_round_trip_with_stuffing() {
        let bits: Vec<bool> = (0..4000u32).map(|i| i % 97 < 60 || i.wrapping_mul(2654435761) >> 31 == 1).collect();
        for length in (0..100).chain([4000]) {
            let mut writer = BitWriter::default();
            bits[..length].iter().for_each(|&bit| writer.bit(bit));
            let bytes = writer.finish();
            assert!(bytes.windows(2).all(|pair| pair[0] != 0xff || pair[1] < 0x80), "{length}");
            assert_ne!(bytes.last(), Some(&0xff));
            let mut reader = BitReader::new(&bytes);
            assert!(bits[..length].iter().all(|&bit| reader.bit() == bit), "{length}");
            assert!(!reader.ended());
            assert_eq!(reader.finish(), bytes.len());
        }
    }
}
