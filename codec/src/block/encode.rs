//! Block encoder: coefficients to words.

use super::arithmetic::{Encoder, Exhausted};
use super::counts::{Counts, depth};
use super::lanes::{self, PassEnd};
use super::raw::{self, Writer};
use super::scan::{Block, Symbols};
use super::{BlockShape, CONTEXTS, Context, DEPTHS, Encoded, Mode};
use crate::tables::{Table, Tables};

impl Counts {
    /// Counts the symbols of a block.
    pub fn of(shape: BlockShape, coefficients: &[i32]) -> Counts {
        match planes(coefficients) {
            planes @ 0..=lanes::MOST_PLANES => lanes::count(&lanes::ready(shape, coefficients, planes, false)),
            _ => Counts::sequentially(shape, coefficients),
        }
    }

    /// Sequential [`Counts::of`].
    pub fn sequentially(shape: BlockShape, coefficients: &[i32]) -> Counts {
        let planes = planes(coefficients);
        let (magnitudes, negative) = split(coefficients);
        let mut counts = Counts { symbols: Box::new([[[0; 2]; CONTEXTS]; DEPTHS]), tail: 0, planes };
        let mut block = Block::new(shape, magnitudes, negative, planes);
        never_exhausted(block.scan(planes, 0, 0, &mut counts));
        counts.tail = block.tail(planes).count() as u32;
        counts
    }
}

impl Symbols for Counts {
    fn code(&mut self, _lane: usize, plane: u32, context: Context, known: bool) -> Result<bool, Exhausted> {
        self.symbols[depth(self.planes, plane)][context.index()][usize::from(known)] += 1;
        Ok(known)
    }
}

/// Checks that an encoder, which needs no words, has not run out of them.
fn never_exhausted(result: Result<(), Exhausted>) {
    debug_assert!(result.is_ok());
}

/// Magnitudes and signs.
fn split(coefficients: &[i32]) -> (Vec<u32>, Vec<bool>) {
    (coefficients.iter().map(|c| c.unsigned_abs()).collect(), coefficients.iter().map(|&c| c < 0).collect())
}

/// Bitplanes of the largest magnitude.
fn planes(coefficients: &[i32]) -> u32 {
    32 - coefficients.iter().fold(0, |all, c| all | c.unsigned_abs()).leading_zeros()
}

/// Choice of table and sharing, with the expected number of bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Index of the table.
    pub class: u8,
    /// Sharing exponent: 2^sharing lanes share a coder.
    pub sharing: u8,
    /// Expected length in bits.
    pub bits: f64,
}

impl Choice {
    /// Choice of the shortest expected length. Sharing costs time, so it must save enough.
    pub fn of(shape: BlockShape, counts: &Counts, tables: &Tables) -> Choice {
        let (class, coded) = tables.cheapest(counts);
        // Open code words have 8 bits left on average, which the tail fills. A coder has at least one word.
        let bits = |sharing: u8| {
            let coders = shape.lanes().div_ceil(1 << sharing) as f64;
            (coded + f64::from(counts.tail).max(8.0 * coders)).max(16.0 * coders)
        };
        let most = (shape.lanes().next_power_of_two().ilog2()) as u8;
        let least = (0..=most).map(bits).fold(f64::INFINITY, f64::min);
        let sharing = (0..=most).find(|&s| bits(s) <= least * (1.0 + 1.0 / 64.0)).unwrap_or(0);
        Choice { class: class as u8, sharing, bits: bits(sharing) }
    }
}

/// Encodes a block of coefficients, row by row, with the best table of a set.
pub fn encode(shape: BlockShape, coefficients: &[i32], tables: &Tables) -> Encoded {
    encode_by(shape, coefficients, tables, false).0
}

/// Prefix of a block's words, and its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prefix {
    /// Number of words.
    pub words: usize,
    /// Sum of squared errors of the block's magnitudes if only these words are decoded, or a lower bound.
    pub error: f64,
}

/// [`encode`], with the prefixes at which the block can be cut: no words, whole passes, all words. A block that is raw
/// or has more than 16 planes has only the first and the last.
pub fn encode_with_prefixes(shape: BlockShape, coefficients: &[i32], tables: &Tables) -> (Encoded, Vec<Prefix>) {
    let (encoded, ends) = encode_by(shape, coefficients, tables, true);
    let magnitudes: Vec<u32> = coefficients.iter().map(|c| c.unsigned_abs()).collect();
    // 64 × 64 squares of 31 bits have 74 bits.
    let nothing: u128 = magnitudes.iter().map(|&m| u128::from(m).pow(2)).sum();
    let prefix = |end: &PassEnd| Prefix { words: end.words, error: error_at(end, shape, &magnitudes) as f64 };
    let mut prefixes = vec![Prefix { words: 0, error: nothing as f64 }];
    prefixes.extend(ends.iter().filter(|end| end.words < encoded.words.len()).map(prefix));
    prefixes.push(Prefix { words: encoded.words.len(), error: 0.0 });
    (encoded, prefixes)
}

/// Sum of squared errors of magnitudes at the end of a pass. A decoder takes the middle of the possible values.
fn error_at(end: &PassEnd, shape: BlockShape, magnitudes: &[u32]) -> u64 {
    let plane = end.plane;
    let error = |magnitude: u32, is_significant: bool| {
        let is_older = magnitude >> plane > 1;
        let lowest = if is_older && !end.refined { plane + 1 } else { plane };
        let known = magnitude & u32::MAX << lowest;
        let middle = if known != 0 && (is_older || is_significant) { known | 1 << lowest >> 1 } else { 0 };
        u64::from(magnitude.abs_diff(middle)).pow(2)
    };
    if end.whole {
        return magnitudes.iter().map(|&m| error(m, true)).sum();
    }
    let row = |(y, row): (usize, &[u32])| -> u64 {
        row.iter().zip(end.significant(y)).map(|(&m, is_significant)| error(m, is_significant)).sum()
    };
    magnitudes.chunks(shape.width).enumerate().map(row).sum()
}

/// [`encode`], with the ends of passes on request and where available.
fn encode_by(shape: BlockShape, coefficients: &[i32], tables: &Tables, ends: bool) -> (Encoded, Vec<PassEnd>) {
    let planes = planes(coefficients);
    if planes == 0 {
        return (Encoded { planes, mode: Mode::Raw, words: Vec::new() }, Vec::new());
    }
    let ready = (planes <= lanes::MOST_PLANES).then(|| lanes::ready(shape, coefficients, planes, ends));
    let counts = match &ready {
        Some(ready) => lanes::count(ready),
        None => Counts::sequentially(shape, coefficients),
    };
    let Choice { class, sharing, .. } = Choice::of(shape, &counts, tables);
    let (encoded, ends) = match ready {
        Some(mut ready) => (lanes::encode(&mut ready, class, sharing, &tables[class]), ready.ends()),
        None => (encode_sequentially(shape, coefficients, class, sharing, &tables[class]), Vec::new()),
    };
    if encoded.words.len() < raw::words(shape, planes) {
        return (encoded, ends);
    }
    let (magnitudes, negative) = split(coefficients);
    (Encoded { planes, mode: Mode::Raw, words: raw::encode(&magnitudes, &negative, planes) }, Vec::new())
}

struct Coding<'a> {
    encoder: Encoder,
    table: &'a Table,
    planes: u32,
    sharing: u8,
}

impl Symbols for Coding<'_> {
    fn code(&mut self, lane: usize, plane: u32, context: Context, known: bool) -> Result<bool, Exhausted> {
        let p = self.table.probability(depth(self.planes, plane), context);
        self.encoder.code(lane >> self.sharing, known, p);
        Ok(known)
    }
}

/// Encodes a block of coefficients with a given table; `sharing` is 0 to 5.
///
/// # Panics
/// If the number of coefficients does not match the shape.
pub fn encode_with(shape: BlockShape, coefficients: &[i32], class: u8, sharing: u8, table: &Table) -> Encoded {
    assert_eq!(coefficients.len(), shape.samples());
    match planes(coefficients) {
        planes @ 1..=lanes::MOST_PLANES => {
            lanes::encode(&mut lanes::ready(shape, coefficients, planes, false), class, sharing, table)
        }
        _ => encode_sequentially(shape, coefficients, class, sharing, table),
    }
}

/// Sequential [`encode_with`]: the reference.
///
/// # Panics
/// As for [`encode_with`].
pub fn encode_sequentially(shape: BlockShape, coefficients: &[i32], class: u8, sharing: u8, table: &Table) -> Encoded {
    assert_eq!(coefficients.len(), shape.samples());
    let planes = planes(coefficients);
    let (magnitudes, negative) = split(coefficients);
    let coders = shape.lanes().div_ceil(1 << sharing);
    let mut coding = Coding { encoder: Encoder::new(coders), table, planes, sharing };
    let mut block = Block::new(shape, magnitudes, negative, planes);
    never_exhausted(block.scan(planes, 0, sharing, &mut coding));

    let Encoder { mut words, coders } = coding.encoder;
    let mut tail = block.tail(planes).map(|(index, plane, sign)| match sign {
        true => block.negative[index],
        false => block.magnitudes[index] >> plane & 1 == 1,
    });
    for (interval, place) in coders {
        if !interval.is_exhausted() {
            let bits = (0..interval.room()).fold(0, |bits, _| bits << 1 | u16::from(tail.next().unwrap_or(false)));
            words[place] = interval.low + bits;
        }
    }
    let mut more = Writer::default();
    tail.for_each(|bit| more.put(bit.into(), 1));
    words.extend(more.finish());
    Encoded { planes, mode: Mode::Coded { class, sharing }, words }
}
