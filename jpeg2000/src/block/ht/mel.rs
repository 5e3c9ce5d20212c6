//! MEL, the adaptive run-length code of HT cleanup passes (T.814, clause 7.3.3).
//!
//! MEL is a forward stream: the byte after 0xFF holds seven bits. Bytes are filled from the most significant bit.

use super::bits::Writer;

/// Exponents of the MEL states (Table 2).
const EXPONENTS: [u32; 13] = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5];

/// MEL decoder.
pub(super) struct MelReader<'a> {
    bytes: &'a [u8],
    head: u64,
    count: u32,
    last: u8,
    state: usize,
    zeros: u32,
    one: bool,
}

impl<'a> MelReader<'a> {
    /// Reads MEL and VLC bytes but the very last one; MEL may share its last byte with VLC.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut mel = Self { bytes, head: 0, count: 0, last: 0, state: 0, zeros: 0, one: false };
        mel.run();
        mel
    }

    /// Next event.
    #[inline]
    pub(super) fn event(&mut self) -> bool {
        let event = self.zeros == 0;
        self.zeros = self.zeros.wrapping_sub(1);
        if event || self.zeros == 0 && !self.one {
            self.run();
        }
        event
    }

    /// Decodes a run of zeros, which a one ends or not.
    fn run(&mut self) {
        if self.count < 6 {
            self.refill();
        }
        let exponent = EXPONENTS[self.state];
        self.one = self.head >> 63 == 0;
        let bits = if self.one {
            self.zeros = (self.head << 1 >> 32 >> (32 - exponent)) as u32;
            self.state = self.state.saturating_sub(1);
            1 + exponent
        } else {
            self.zeros = 1 << exponent;
            self.state = (self.state + 1).min(12);
            1
        };
        self.head <<= bits;
        self.count -= bits;
    }

    fn refill(&mut self) {
        while self.count <= 48 {
            let byte = match self.bytes {
                [] => 0xFF,
                &[byte] => byte | 0x0F,
                &[byte, ..] => byte,
            };
            self.bytes = self.bytes.get(1..).unwrap_or_default();
            let size = if self.last == 0xFF { 7 } else { 8 };
            self.last = byte;
            self.head |= u64::from(byte) << (64 - size) >> self.count;
            self.count += size;
        }
    }
}

/// MEL encoder.
#[derive(Default)]
pub(super) struct MelWriter {
    bytes: Vec<u8>,
    pending: u8,
    /// Bits of the next byte that are in `pending`, with the stuffed one.
    count: u32,
    state: usize,
    zeros: u32,
}

impl MelWriter {
    #[inline]
    pub(super) fn put(&mut self, event: bool) {
        if event {
            self.one();
        } else {
            self.zeros += 1;
            if self.zeros >> EXPONENTS[self.state] != 0 {
                self.full_run();
            }
        }
    }

    #[inline(never)]
    fn one(&mut self) {
        self.bit(0);
        for i in (0..EXPONENTS[self.state]).rev() {
            self.bit(self.zeros >> i & 1);
        }
        self.zeros = 0;
        self.state = self.state.saturating_sub(1);
    }

    #[inline(never)]
    fn full_run(&mut self) {
        self.bit(1);
        self.zeros = 0;
        self.state = (self.state + 1).min(12);
    }

    #[inline]
    fn bit(&mut self, bit: u32) {
        self.pending = self.pending << 1 | bit as u8;
        self.count += 1;
        if self.count == 8 {
            self.bytes.push(self.pending);
            self.count = u32::from(self.pending == 0xFF);
            self.pending = 0;
        }
    }

    /// Ends MEL and VLC and appends both to `bytes`. They share a byte where they meet if their bits agree.
    ///
    /// Returns the number of bytes appended, Scup.
    pub(super) fn end(mut self, vlc: Writer<true>, bytes: &mut Vec<u8>) -> usize {
        if self.zeros > 0 {
            self.bit(1);
        }
        let (vlc, vlc_last, vlc_count) = vlc.parts();
        let start = bytes.len();
        bytes.append(&mut self.bytes);
        let mel = (u32::from(self.pending) << (8 - self.count)) as u8;
        let mel_mask = !(0xFF_u32 >> self.count) as u8;
        let vlc_mask = ((1_u32 << vlc_count) - 1) as u8;
        let both = mel | vlc_last;
        let agree = (both ^ mel) & mel_mask == 0 && (both ^ vlc_last) & vlc_mask == 0;
        if mel_mask | vlc_mask == 0 {
            // Both streams end with whole bytes.
        } else if agree && both != 0xFF && vlc.len() > 1 {
            bytes.push(both);
        } else {
            bytes.extend([mel, vlc_last]);
        }
        bytes.extend(vlc.iter().rev());
        bytes.len() - start
    }
}
