//! Arithmetic coder with many open code words of 16 bits (thesis §3.2.3, algorithms 2 and 3).

/// Bits of a probability.
pub const PROBABILITY_BITS: u32 = 7;

/// Interval of 16-bit numbers: its left boundary and its size less one (L and S of algorithm 2). At size 0 it is
/// exhausted, and the next symbol begins a new code word.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    /// L.
    pub low: u16,
    /// S.
    pub size: u16,
}

/// All 16-bit numbers.
const WHOLE: Interval = Interval { low: 0, size: u16::MAX };

impl Interval {
    /// Whether the next symbol begins a new code word.
    pub fn is_exhausted(self) -> bool {
        self.size == 0
    }

    /// Size less one of the part for symbol 0: ⌊S·p / 2^7⌋ (eq. 3.4). `p` is the probability of 0 in 128ths, at most
    /// 127, so that a part is left for 1 (eq. 3.6).
    fn zero(self, p: u8) -> u16 {
        // Below 2^16 · 2^7 / 2^7.
        ((u32::from(self.size) * u32::from(p)) >> PROBABILITY_BITS) as u16
    }

    /// Part of the interval for a symbol.
    fn part(self, one: bool, p: u8) -> Interval {
        let zero = self.zero(p);
        if one {
            Interval { low: self.low + zero + 1, size: self.size - zero - 1 }
        } else {
            Interval { low: self.low, size: zero }
        }
    }

    /// Bits that any number of this interval can still carry: ⌊log2(S + 1)⌋.
    pub fn room(self) -> u32 {
        (u32::from(self.size) + 1).ilog2()
    }
}

/// Words being written by coders.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    /// The words. Those of open code words are still unset.
    pub words: Vec<u16>,
    /// Interval of each coder, and the place of its word.
    pub coders: Vec<(Interval, usize)>,
}

impl Encoder {
    /// Encoder with this many coders.
    pub fn new(coders: usize) -> Encoder {
        Encoder { words: Vec::new(), coders: vec![(Interval::default(), 0); coders] }
    }

    /// `ACencode` of algorithm 2.
    #[inline]
    pub fn code(&mut self, coder: usize, one: bool, p: u8) {
        let (interval, place) = &mut self.coders[coder];
        if interval.is_exhausted() {
            *place = self.words.len();
            self.words.push(0);
            *interval = WHOLE;
        }
        *interval = interval.part(one, p);
        if interval.is_exhausted() {
            self.words[*place] = interval.low;
        }
    }
}

/// Words being read by coders.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    words: &'a [u16],
    /// Number of words taken by coders.
    pub taken: usize,
    /// Interval of each coder, and its word.
    pub coders: Vec<(Interval, u16)>,
}

/// No word is left for a coder that needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl<'a> Decoder<'a> {
    /// Decoder with this many coders.
    pub fn new(words: &'a [u16], coders: usize) -> Decoder<'a> {
        Decoder { words, taken: 0, coders: vec![(Interval::default(), 0); coders] }
    }

    /// Next word.
    pub fn word(&mut self) -> Result<u16, Exhausted> {
        let word = *self.words.get(self.taken).ok_or(Exhausted)?;
        self.taken += 1;
        Ok(word)
    }

    /// `ACdecode` of algorithm 3.
    #[inline]
    pub fn code(&mut self, coder: usize, p: u8) -> Result<bool, Exhausted> {
        if self.coders[coder].0.is_exhausted() {
            self.coders[coder] = (WHOLE, self.word()?);
        }
        let (interval, word) = &mut self.coders[coder];
        let one = *word - interval.low > interval.zero(p);
        *interval = interval.part(one, p);
        Ok(one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interval_has_a_part_for_either_symbol() {
        for size in (1..=300).chain([1000, 32767, 32768, 65534, 65535]) {
            for p in 0..=127 {
                let whole = Interval { low: 0, size };
                let (zero, one) = (whole.part(false, p), whole.part(true, p));
                assert_eq!(u32::from(zero.size) + 1, u32::from(one.low));
                assert_eq!(one.low + one.size, size);
                assert!(1 << whole.room() <= u32::from(size) + 1 && u32::from(size) + 1 < 2 << whole.room());
            }
        }
    }

    #[test]
    fn symbols_round_trip() {
        let symbols: Vec<(usize, bool, u8)> =
            (0..5000u32).map(|i| ((i % 7) as usize, i.wrapping_mul(2654435761) >> 30 == 0, (i % 128) as u8)).collect();
        let mut encoder = Encoder::new(7);
        symbols.iter().for_each(|&(coder, one, p)| encoder.code(coder, one, p));
        for (interval, place) in encoder.coders {
            if !interval.is_exhausted() {
                encoder.words[place] = interval.low + interval.size;
            }
        }
        let mut decoder = Decoder::new(&encoder.words, 7);
        for (coder, one, p) in symbols {
            assert_eq!(decoder.code(coder, p), Ok(one));
        }
        assert_eq!(decoder.word(), Err(Exhausted));
    }
}
