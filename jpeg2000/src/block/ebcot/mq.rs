//! MQ coder (ISO/IEC 15444-1, Annex C).

use super::bits::{Mark, Segment, UNIT, trimmed, word};
use super::contexts::{RUN, UNIFORM};
use super::passes::Coder;

/// State of a context: an estimate of the probability of the less probable symbol, and the more probable one.
#[derive(Clone, Copy)]
struct State {
    /// Interval of the less probable symbol in the upper 16 bits.
    estimate: u64,
    /// States after a renormalisation by the more and by the less probable symbol.
    next: [u8; 2],
    /// More probable symbol.
    likely: u8,
}

/// Estimates, their successors and whether the symbols switch (Table C.2).
const ESTIMATES: [(u16, u8, u8, bool); 47] = [
    (0x5601, 1, 1, true),
    (0x3401, 2, 6, false),
    (0x1801, 3, 9, false),
    (0x0ac1, 4, 12, false),
    (0x0521, 5, 29, false),
    (0x0221, 38, 33, false),
    (0x5601, 7, 6, true),
    (0x5401, 8, 14, false),
    (0x4801, 9, 14, false),
    (0x3801, 10, 14, false),
    (0x3001, 11, 17, false),
    (0x2401, 12, 18, false),
    (0x1c01, 13, 20, false),
    (0x1601, 29, 21, false),
    (0x5601, 15, 14, true),
    (0x5401, 16, 14, false),
    (0x5101, 17, 15, false),
    (0x4801, 18, 16, false),
    (0x3801, 19, 17, false),
    (0x3401, 20, 18, false),
    (0x3001, 21, 19, false),
    (0x2801, 22, 19, false),
    (0x2401, 23, 20, false),
    (0x2201, 24, 21, false),
    (0x1c01, 25, 22, false),
    (0x1801, 26, 23, false),
    (0x1601, 27, 24, false),
    (0x1401, 28, 25, false),
    (0x1201, 29, 26, false),
    (0x1101, 30, 27, false),
    (0x0ac1, 31, 28, false),
    (0x09c1, 32, 29, false),
    (0x08a1, 33, 30, false),
    (0x0521, 34, 31, false),
    (0x0441, 35, 32, false),
    (0x02a1, 36, 33, false),
    (0x0221, 37, 34, false),
    (0x0141, 38, 35, false),
    (0x0111, 39, 36, false),
    (0x0085, 40, 37, false),
    (0x0049, 41, 38, false),
    (0x0025, 42, 39, false),
    (0x0015, 43, 40, false),
    (0x0009, 44, 41, false),
    (0x0005, 45, 42, false),
    (0x0001, 45, 43, false),
    (0x5601, 46, 46, false),
];

/// States by twice the row of Table C.2 plus the more probable symbol. The table's length makes masked indices safe.
static STATES: [State; 128] = {
    let mut states = [State { estimate: 0, next: [0; 2], likely: 0 }; 128];
    let mut index = 0;
    while index < 2 * ESTIMATES.len() {
        let (estimate, more, less, switch) = ESTIMATES[index / 2];
        let likely = (index % 2) as u8;
        let next = [2 * more + likely, 2 * less + (likely ^ switch as u8)];
        states[index] = State { estimate: (estimate as u64) << 48, next, likely };
        index += 1;
    }
    states
};

/// States of all contexts; more than there are, for masked indices.
#[derive(Clone)]
pub(super) struct Contexts([State; 32]);

impl Contexts {
    /// Initial states (Table D.7).
    pub fn new() -> Self {
        let mut contexts = [STATES[0]; 32];
        contexts[0] = STATES[2 * 4];
        contexts[RUN] = STATES[2 * 3];
        contexts[UNIFORM] = STATES[2 * 46];
        Self(contexts)
    }
}

/// Decoder (C.3).
pub(super) struct Decoder<'a> {
    contexts: &'a mut Contexts,
    /// Codeword without stuffed bits.
    bits: &'a [u8],
    /// Bytes of the codeword read.
    read: usize,
    /// Interval in the upper 16 bits; 0x8000 there is the lower bound of a renormalised one.
    interval: u64,
    /// Codeword relative to the interval's base, aligned with `interval`.
    code: u64,
    /// Bits that `code` has below its upper 16.
    ahead: i32,
}

impl<'a> Decoder<'a> {
    /// Decoder of a codeword [without stuffed bits](super::bits::unstuff).
    pub fn new(contexts: &'a mut Contexts, bits: &'a [u8]) -> Self {
        let mut decoder = Self { contexts, bits, read: 0, interval: 1 << 63, code: 0, ahead: -15 };
        decoder.fill();
        decoder
    }

    /// Reads 32 more bits where there are fewer than 0; ones follow the codeword's end.
    #[inline(always)]
    fn fill(&mut self) {
        self.code += u64::from(word(self.bits, self.read)) << (16 - self.ahead);
        self.read += 4;
        self.ahead += 32;
    }
}

impl Coder for Decoder<'_> {
    #[inline(always)]
    fn code(&mut self, context: usize, _: u32) -> u32 {
        let state = self.contexts.0[context & 31];
        self.interval -= state.estimate;
        let mut less = self.interval < state.estimate;
        if self.code < state.estimate {
            less = !less;
            self.interval = state.estimate;
        } else {
            self.code -= state.estimate;
            if self.interval >> 63 != 0 {
                return state.likely.into();
            }
        }
        self.contexts.0[context & 31] = STATES[usize::from(state.next[usize::from(less)] & 127)];
        let shift = self.interval.leading_zeros();
        self.interval <<= shift;
        self.code <<= shift;
        self.ahead -= shift as i32;
        if self.ahead < 0 {
            self.fill();
        }
        u32::from(state.likely) ^ u32::from(less)
    }

    #[inline(always)]
    fn reset(&mut self) {
        *self.contexts = Contexts::new();
    }
}

/// Encoder (C.2) of one codeword segment.
pub(super) struct Encoder<'a> {
    contexts: &'a mut Contexts,
    /// Bytes that no carry can change any more. The first one precedes the segment.
    bytes: Vec<u8>,
    /// Byte that follows them, to which a carry may be added.
    last: u8,
    interval: u32,
    base: u32,
    /// Shifts until the next byte is complete.
    shifts: u32,
}

impl<'a> Encoder<'a> {
    pub fn new(contexts: &'a mut Contexts) -> Self {
        Self { contexts, bytes: Vec::new(), last: 0, interval: 0x8000, base: 0, shifts: 12 }
    }

    /// Moves eight bits of the base, or seven after a byte 0xff, into `last` (Figure C.9).
    #[inline]
    fn put(&mut self) {
        if self.last != 0xff && self.base >> 27 != 0 {
            self.last += 1;
            self.base &= (1 << 27) - 1;
        }
        self.bytes.push(self.last);
        let bits = if self.last == 0xff { 7 } else { 8 };
        self.last = (self.base >> (27 - bits)) as u8;
        self.base &= (1 << (27 - bits)) - 1;
        self.shifts = bits;
    }
}

impl Coder for Encoder<'_> {
    #[inline(always)]
    fn code(&mut self, context: usize, bit: u32) -> u32 {
        let state = self.contexts.0[context & 31];
        let estimate = (state.estimate >> 48) as u32;
        let less = bit != u32::from(state.likely);
        self.interval -= estimate;
        if !less && self.interval >> 15 != 0 {
            self.base += estimate;
            return bit;
        }
        if less == (self.interval < estimate) {
            self.base += estimate;
        } else {
            self.interval = estimate;
        }
        self.contexts.0[context & 31] = STATES[usize::from(state.next[usize::from(less)] & 127)];
        let mut shift = self.interval.leading_zeros() - 16;
        self.interval <<= shift;
        while shift >= self.shifts {
            shift -= self.shifts;
            self.base <<= self.shifts;
            self.put();
        }
        self.base <<= shift;
        self.shifts -= shift;
        bit
    }

    fn reset(&mut self) {
        *self.contexts = Contexts::new();
    }
}

impl Segment for Encoder<'_> {
    fn mark(&self) -> Mark {
        let at = |base: u32| (u64::from(self.last) << UNIT) + (u64::from(base) << (self.shifts + UNIT - 27));
        Mark { bytes: self.bytes.len(), codewords: at(self.base)..at(self.base + self.interval) }
    }

    /// Flushes the base (C.2.9, D.4.2), and shortens the segment unless its termination has to be predictable.
    fn finish(mut self, predictable: bool) -> Vec<u8> {
        if predictable {
            let mut bits = 12 - self.shifts as i32;
            while bits > 0 {
                self.base <<= self.shifts;
                self.put();
                bits -= self.shifts as i32;
            }
            self.bytes.push(self.last);
            self.bytes.truncate(trimmed(&self.bytes));
        } else {
            let mark = self.mark();
            let top = self.base + self.interval;
            self.base |= 0xffff;
            if self.base >= top {
                self.base -= 0x8000;
            }
            for _ in 0..2 {
                self.base <<= self.shifts;
                self.put();
            }
            self.bytes.push(self.last);
            self.bytes.truncate(mark.length(&self.bytes));
        }
        self.bytes
    }
}
