//! Bit streams of HT segments: stuffing and unstuffing (T.814, clause 7.1).
//!
//! Forward streams, MagSgn and SigProp, put seven bits into the byte after 0xFF. Backward streams, VLC and MagRef, put
//! seven bits into a byte that follows one above 0x8F if those seven bits are ones. Both fill bytes from the least
//! significant bit.
//!
//! Readers unstuff a whole stream first, by words where nothing is stuffed. Bits then have addresses, so that reads do
//! not wait for one another.

const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
const ONES: u64 = 0x0101_0101_0101_0101;

/// Top bit of each byte whose low seven bits are ones.
#[inline(always)]
fn sevens(word: u64) -> u64 {
    ((word & LOW) + ONES) & !LOW
}

/// Unstuffed stream with random access; the bits after its end are all equal.
pub(super) struct Bits {
    bytes: Vec<u8>,
    fill: u64,
}

impl Bits {
    /// Unstuffs a forward stream (MagSgn, SigProp).
    #[inline(always)]
    pub(super) fn forward(bytes: &[u8], fill: u64) -> Self {
        let mut bits = Unstuffed::new(bytes.len());
        let mut last = 0;
        let (words, tail) = bytes.as_chunks::<8>();
        for chunk in words {
            let word = u64::from_le_bytes(*chunk);
            if last != 0xFF && sevens(word) & word == 0 {
                bits.push(word, 64);
            } else {
                for &byte in chunk {
                    bits.push_byte(byte, last == 0xFF);
                    last = byte;
                }
            }
            last = chunk[7];
        }
        for &byte in tail {
            bits.push_byte(byte, last == 0xFF);
            last = byte;
        }
        bits.finish(fill)
    }

    /// Unstuffs a backward stream (VLC, MagRef). `nibble` is the byte at its end if only the high half belongs to it.
    #[inline(always)]
    pub(super) fn backward(bytes: &[u8], nibble: Option<u8>) -> Self {
        let mut bits = Unstuffed::new(bytes.len() + 1);
        let mut last = 0xFF;
        if let Some(byte) = nibble {
            last = byte | 0x0F;
            let short = byte >> 4 & 7 == 7;
            bits.push(u64::from(byte >> 4) & if short { 7 } else { 15 }, if short { 3 } else { 4 });
        }
        let (head, words) = bytes.as_rchunks::<8>();
        for chunk in words.iter().rev() {
            let word = u64::from_be_bytes(*chunk);
            if sevens(word) == 0 {
                bits.push(word, 64);
            } else {
                for &byte in chunk.iter().rev() {
                    bits.push_byte(byte, last > 0x8F && byte & 0x7F == 0x7F);
                    last = byte;
                }
            }
            last = chunk[0];
        }
        for &byte in head.iter().rev() {
            bits.push_byte(byte, last > 0x8F && byte & 0x7F == 0x7F);
            last = byte;
        }
        bits.finish(0)
    }

    /// Bits from byte `at` on.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        match self.bytes.get(at..).and_then(|bytes| bytes.first_chunk()) {
            Some(word) => u64::from_le_bytes(*word),
            None => self.fill,
        }
    }

    /// Bits from bit `at` on, at least 57.
    #[inline(always)]
    pub(super) fn at(&self, at: usize) -> u64 {
        self.word(at >> 3) >> (at & 7)
    }
}

/// Bits under collection by [`Bits`].
struct Unstuffed {
    bytes: Vec<u8>,
    /// Bits that do not fill a word.
    pending: u64,
    count: u32,
}

impl Unstuffed {
    fn new(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes + 24), pending: 0, count: 0 }
    }

    #[inline(always)]
    fn push(&mut self, bits: u64, count: u32) {
        self.pending |= bits << self.count;
        self.count += count;
        if self.count >= 64 {
            self.bytes.extend_from_slice(&self.pending.to_le_bytes());
            self.count -= 64;
            self.pending = if self.count == 0 { 0 } else { bits >> (count - self.count) };
        }
    }

    #[inline(always)]
    fn push_byte(&mut self, byte: u8, stuffed: bool) {
        if stuffed {
            self.push(u64::from(byte & 0x7F), 7);
        } else {
            self.push(u64::from(byte), 8);
        }
    }

    #[inline(always)]
    fn finish(mut self, fill: u64) -> Bits {
        self.pending |= fill << self.count;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes());
        self.bytes.extend_from_slice(&fill.to_le_bytes());
        Bits { bytes: self.bytes, fill }
    }
}

/// Sequential reader of [`Bits`].
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    bits: &'a Bits,
    next: usize,
    head: u64,
    count: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bits: &'a Bits) -> Self {
        Self { bits, next: 0, head: 0, count: 0 }
    }

    /// Next bits, at least 56.
    #[inline(always)]
    pub(super) fn refill(&mut self) -> u64 {
        self.head |= self.bits.word(self.next) << self.count;
        self.next += (63 - self.count as usize) >> 3;
        self.count |= 56;
        self.head
    }

    /// Drops bits that the last [`refill`](Self::refill) returned.
    #[inline(always)]
    pub(super) fn advance(&mut self, bits: u32) {
        self.head >>= bits;
        self.count -= bits;
    }

    /// Next bit.
    #[inline(always)]
    pub(super) fn bit(&mut self) -> bool {
        if self.count == 0 {
            self.refill();
        }
        let bit = self.head & 1;
        self.advance(1);
        bit != 0
    }
}

/// Writer of a forward stream (MagSgn, SigProp) or of a backward one (VLC, MagRef), whose bytes are in the order of
/// writing.
pub(super) struct Writer<const BACKWARD: bool> {
    bytes: Vec<u8>,
    tail: Tail<BACKWARD>,
}

/// End of a stream that is written. It is apart from the bytes so that loops keep it in registers.
#[derive(Clone, Copy)]
pub(super) struct Tail<const BACKWARD: bool> {
    /// Bits that do not fill a byte.
    pending: u64,
    count: u32,
    /// Last byte written.
    last: u8,
    /// Number of bytes written.
    at: usize,
}

impl Writer<false> {
    pub(super) fn forward() -> Self {
        Self { bytes: Vec::new(), tail: Tail { pending: 0, count: 0, last: 0, at: 0 } }
    }

    /// Ends MagSgn: the decoder reads ones after the last byte.
    pub(super) fn end_with_ones(mut self) -> Vec<u8> {
        let tail = self.tail;
        self.bytes.truncate(tail.at);
        if tail.count > 0 {
            let byte = (tail.pending | u64::MAX << tail.count) as u8 & (0xFF >> (8 - tail.size()));
            if byte != 0xFF {
                self.bytes.push(byte);
            }
        } else if tail.last == 0xFF {
            self.bytes.pop();
        }
        self.bytes
    }
}

impl Writer<true> {
    /// MagRef.
    pub(super) fn backward() -> Self {
        Self { bytes: Vec::new(), tail: Tail { pending: 0, count: 0, last: 0xFF, at: 0 } }
    }

    /// VLC: the last twelve bits are ones until Scup replaces them.
    pub(super) fn vlc() -> Self {
        Self { bytes: vec![0xFF], tail: Tail { pending: 0xF, count: 4, last: 0xFF, at: 1 } }
    }
}

impl<const BACKWARD: bool> Writer<BACKWARD> {
    /// Bytes, with room for `bits` more bits, and tail.
    pub(super) fn room(&mut self, bits: usize) -> (&mut [u8], &mut Tail<BACKWARD>) {
        // At most every sixteenth bit is stuffed. A put writes eight bytes.
        self.bytes.resize(self.tail.at + bits / 8 * 16 / 15 + 16, 0);
        (&mut self.bytes, &mut self.tail)
    }

    /// Appends one bit.
    pub(super) fn put(&mut self, bit: bool) {
        if self.bytes.len() < self.tail.at + 16 {
            self.room(4096);
        }
        self.tail.put(&mut self.bytes, u64::from(bit), 1);
    }

    /// Whole bytes and the bits after them, whose number is the last value.
    pub(super) fn parts(&self) -> (&[u8], u8, u32) {
        (&self.bytes[..self.tail.at], self.tail.pending as u8, self.tail.count)
    }

    /// Ends SigProp or MagRef: the decoder reads zeros after the last byte, which is not 0xFF.
    pub(super) fn end_with_zeros(mut self) -> Vec<u8> {
        let tail = self.tail;
        self.bytes.truncate(tail.at);
        if tail.count > 0 || !BACKWARD && tail.last == 0xFF {
            self.bytes.push(tail.pending as u8);
        }
        self.bytes
    }
}

impl<const BACKWARD: bool> Tail<BACKWARD> {
    /// Appends at most 56 bits; those above `count` are zeros.
    #[inline(always)]
    pub(super) fn put(&mut self, bytes: &mut [u8], bits: u64, count: u32) {
        self.pending |= bits << self.count;
        self.count += count;
        let plain = if BACKWARD {
            sevens(self.pending) == 0
        } else {
            self.last != 0xFF && sevens(self.pending) & self.pending == 0
        };
        if !plain {
            *self = self.stuff(bytes);
            return;
        }
        if let Some(room) = bytes.get_mut(self.at..).and_then(|bytes| bytes.first_chunk_mut()) {
            *room = self.pending.to_le_bytes();
        }
        if self.count >= 8 {
            self.last = (self.pending >> ((self.count & !7) - 8)) as u8;
        }
        self.at += self.count as usize / 8;
        self.pending >>= self.count & 56;
        self.count &= 7;
    }

    /// Writes all whole bytes, one by one.
    #[cold]
    #[inline(never)]
    fn stuff(mut self, bytes: &mut [u8]) -> Self {
        loop {
            let size = self.size();
            if self.count < size {
                return self;
            }
            self.last = self.pending as u8 & (0xFF >> (8 - size));
            if let Some(byte) = bytes.get_mut(self.at) {
                *byte = self.last;
            }
            self.at += 1;
            self.pending >>= size;
            self.count -= size;
        }
    }

    /// Bits of the next byte.
    fn size(self) -> u32 {
        let stuffed = if BACKWARD { self.last > 0x8F && self.pending & 0x7F == 0x7F } else { self.last == 0xFF };
        if stuffed { 7 } else { 8 }
    }
}
