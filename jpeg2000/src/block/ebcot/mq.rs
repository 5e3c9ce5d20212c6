//! MQ coder (ISO/IEC 15444-1, Annex C).

use super::bits::{Mark, Segment, UNIT, trimmed, word};
use super::contexts::{RUN, UNIFORM};
use super::flags::{number, places};
use super::passes::{Coder, Plane};

/// State of a context: from bit 48 the estimate, which is the interval of the less probable symbol, from bit 5 the
/// index in [`SUCCESSORS`], and in bit 0 the more probable symbol.
type State = u64;

/// Bits of the estimate in a state.
const ESTIMATE: u64 = 0xffff << 48;

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

/// States by row of Table C.2 and more probable symbol.
const fn state(row: u8, likely: bool) -> State {
    (ESTIMATES[row as usize].0 as u64) << 48 | (2 * row as u64 + likely as u64) << 5 | likely as u64
}

/// Successors of states: without a renormalisation, and after one by the more and by the less probable symbol. The
/// table's length makes masked indices safe.
static SUCCESSORS: [[State; 4]; 128] = {
    let mut successors = [[0; 4]; 128];
    let mut index = 0;
    while index < 2 * ESTIMATES.len() {
        let (row, likely) = ((index / 2) as u8, index % 2 != 0);
        let (_, more, less, switch) = ESTIMATES[index / 2];
        successors[index] = [state(row, likely), state(more, likely), state(less, likely ^ switch), 0];
        index += 1;
    }
    successors
};

/// Either of two words, without a branch.
#[inline(always)]
fn select(condition: bool, yes: u64, no: u64) -> u64 {
    no ^ (no ^ yes) & u64::from(condition).wrapping_neg()
}

/// States of the contexts, padded for masked indices.
#[derive(Clone)]
pub(super) struct Contexts([State; 32]);

impl Contexts {
    /// Initial states (Table D.7).
    pub fn new() -> Self {
        let mut contexts = [state(0, false); 32];
        contexts[0] = state(4, false);
        contexts[RUN] = state(3, false);
        contexts[UNIFORM] = state(46, false);
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
    /// Interval in the upper 16 bits, at least 0x8000 there.
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

    /// Reads 48 more bits where there are fewer than 0.
    #[inline(always)]
    fn fill(&mut self) {
        self.code += word(self.bits, self.read) << -self.ahead;
        self.read += 6;
        self.ahead += 48;
    }
}

impl Decoder<'_> {
    /// Decodes a symbol and changes its context's state, without branches (Figures C.15 to C.18).
    #[inline(always)]
    fn step(&mut self, state: &mut State) -> u32 {
        let successors = &SUCCESSORS[(*state >> 5) as usize & 127];
        let estimate = *state & ESTIMATE;
        let rest = self.interval - estimate;
        let lower = self.code < estimate;
        let unlikely = lower ^ (rest < estimate);
        let bit = (*state as u32 ^ u32::from(unlikely)) & 1;
        let interval = select(lower, estimate, rest);
        self.code -= select(lower, 0, estimate);
        let renormalised = interval >> 63 == 0;
        *state = successors[usize::from(renormalised) + usize::from(unlikely)];
        let shift = (interval | 1).leading_zeros();
        self.interval = interval << shift;
        self.code <<= shift;
        self.ahead -= shift as i32;
        if self.ahead < 0 {
            self.fill();
        }
        bit
    }
}

impl Coder for Decoder<'_> {
    #[inline(always)]
    fn code(&mut self, context: usize, _: u32) -> u32 {
        let mut state = self.contexts.0[context & 31];
        let bit = self.step(&mut state);
        self.contexts.0[context & 31] = state;
        bit
    }

    #[inline(always)]
    fn code_each<P: Plane>(&mut self, context: usize, open: u64, plane: &mut P) {
        let mut state = self.contexts.0[context & 31];
        for place in places(open) {
            let bit = self.step(&mut state);
            plane.refined(number(place), bit);
        }
        self.contexts.0[context & 31] = state;
    }

    #[inline(always)]
    fn code_likely(&mut self, context: usize, bit: u32) -> u32 {
        let state = self.contexts.0[context & 31];
        let estimate = state & ESTIMATE;
        if self.code >= estimate && (self.interval - estimate) >> 63 != 0 {
            self.interval -= estimate;
            self.code -= estimate;
            return state as u32 & 1;
        }
        self.code(context, bit)
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
    /// Byte that follows them. It may still get a carry.
    last: u8,
    interval: u32,
    /// Base of the interval, with the bits that are not complete bytes yet.
    base: u32,
    /// Shifts until the next byte is complete.
    shifts: u32,
}

impl<'a> Encoder<'a> {
    /// Encoder at the start of a segment (C.2.8).
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
        let estimate = (state >> 48) as u32;
        let unlikely = (bit ^ state as u32) & 1 != 0;
        let rest = self.interval - estimate;
        let upper = unlikely == (rest < estimate);
        let interval = if upper { rest } else { estimate };
        self.base += if upper { estimate } else { 0 };
        let renormalised = interval >> 15 == 0;
        let successors = &SUCCESSORS[(state >> 5) as usize & 127];
        self.contexts.0[context & 31] = successors[usize::from(renormalised) + usize::from(unlikely)];
        let mut shift = (interval | 1).leading_zeros() - 16;
        self.interval = interval << shift;
        while shift >= self.shifts {
            shift -= self.shifts;
            self.base <<= self.shifts;
            self.put();
        }
        self.base <<= shift;
        self.shifts -= shift;
        bit
    }

    #[inline(always)]
    fn code_likely(&mut self, context: usize, bit: u32) -> u32 {
        let state = self.contexts.0[context & 31];
        let estimate = (state >> 48) as u32;
        if (bit ^ state as u32) & 1 == 0 && (self.interval - estimate) >> 15 != 0 {
            self.interval -= estimate;
            self.base += estimate;
            return bit;
        }
        self.code(context, bit)
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
            // D.4.2: all bits of the base that later symbols could not change.
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
