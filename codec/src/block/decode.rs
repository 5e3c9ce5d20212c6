//! Block decoder: words to coefficients.

use super::arithmetic::{Decoder, Exhausted};
use super::counts::depth;
use super::lanes;
use super::raw::{self, Reader};
use super::scan::{Block, Symbols};
use super::{BlockError, BlockShape, Context, Decoded, MAX_PLANES, Mode};
use crate::tables::{Table, Tables};

struct Coding<'a> {
    decoder: Decoder<'a>,
    table: &'a Table,
    planes: u32,
    sharing: u8,
}

impl Symbols for Coding<'_> {
    fn code(&mut self, lane: usize, plane: u32, context: Context, _known: bool) -> Result<bool, Exhausted> {
        let p = self.table.probability(depth(self.planes, plane), context);
        self.decoder.code(lane >> self.sharing, p)
    }
}

/// Decodes a block. The words of an incomplete block may end anywhere.
///
/// For any words, time is bounded by the worst block of that shape and number of planes, and memory by its
/// coefficients.
///
/// # Errors
/// If the words are not those of a block.
pub fn decode(
    shape: BlockShape,
    planes: u32,
    mode: Mode,
    words: &[u16],
    complete: bool,
    tables: &Tables,
) -> Result<Decoded, BlockError> {
    if planes > MAX_PLANES {
        return Err(BlockError::Planes { planes });
    }
    let samples = shape.samples();
    let (magnitudes, negative, unknown) = match mode {
        _ if planes == 0 => {
            if !words.is_empty() {
                return Err(BlockError::Length);
            }
            (vec![0; samples], vec![false; samples], vec![0; samples])
        }
        Mode::Raw => {
            let (mut magnitudes, mut negative) = raw::decode(shape, planes, words, complete)?;
            let mut unknown = vec![0; magnitudes.len()];
            magnitudes.resize(samples, 0);
            negative.resize(samples, false);
            unknown.resize(samples, planes as u8);
            (magnitudes, negative, unknown)
        }
        Mode::Coded { class, sharing } => {
            let table = tables.get(class).filter(|_| sharing <= 5).ok_or(BlockError::Mode { class, sharing })?;
            if planes <= lanes::MOST_PLANES {
                return lanes::decode(shape, planes, sharing, words, complete, table);
            }
            coded(shape, planes, sharing, words, complete, table)?
        }
    };
    let beyond = |(&m, &n): (&u32, &bool)| m > i32::MIN.unsigned_abs() || m == i32::MIN.unsigned_abs() && !n;
    if planes == MAX_PLANES && magnitudes.iter().zip(&negative).any(beyond) {
        return Err(BlockError::Range);
    }
    Ok(Decoded { magnitudes, negative, unknown })
}

/// Sequential [`decode`] of a coded block: the reference.
///
/// # Errors
/// As for [`decode`].
pub fn decode_sequentially(
    shape: BlockShape,
    planes: u32,
    sharing: u8,
    words: &[u16],
    complete: bool,
    table: &Table,
) -> Result<Decoded, BlockError> {
    let (magnitudes, negative, unknown) = coded(shape, planes, sharing, words, complete, table)?;
    Ok(Decoded { magnitudes, negative, unknown })
}

type Parts = (Vec<u32>, Vec<bool>, Vec<u8>);

fn coded(
    shape: BlockShape,
    planes: u32,
    sharing: u8,
    words: &[u16],
    complete: bool,
    table: &Table,
) -> Result<Parts, BlockError> {
    let coders = shape.lanes().div_ceil(1 << sharing);
    let mut coding = Coding { decoder: Decoder::new(words, coders), table, planes, sharing };
    let samples = shape.samples();
    let mut block = Block::new(shape, vec![0; samples], vec![false; samples], planes);
    // Planes whose signs are in the tail cannot be decoded without it.
    let last = if complete { 0 } else { shape.order.tail() };
    let whole = block.scan(planes, last, sharing, &mut coding).is_ok();
    if complete && !whole {
        return Err(BlockError::Length);
    }
    if complete {
        tail(&mut block, planes, &coding.decoder, words)?;
    }
    Ok((block.magnitudes, block.negative, block.known))
}

/// Reads the tail from the rest of the open code words and from the words after them.
fn tail(block: &mut Block, planes: u32, decoder: &Decoder<'_>, words: &[u16]) -> Result<(), BlockError> {
    let open = decoder.coders.iter().filter(|(interval, _)| !interval.is_exhausted());
    let mut rooms = Vec::new();
    for (interval, word) in open {
        let (bits, room) = (word - interval.low, interval.room());
        if u32::from(bits) >> room != 0 {
            return Err(BlockError::Length);
        }
        rooms.extend((0..room).rev().map(|bit| bits >> bit & 1 == 1));
    }
    let mut rooms = rooms.into_iter();
    let mut more = Reader::new(&words[decoder.taken..]);
    let places: Vec<(usize, u32, bool)> = block.tail(planes).collect();
    for (index, plane, sign) in places {
        let bit = match rooms.next() {
            Some(bit) => bit,
            None => more.take(1).ok_or(BlockError::Length)? == 1,
        };
        if sign {
            block.negative[index] = bit;
        } else {
            block.magnitudes[index] |= u32::from(bit) << plane;
        }
        block.known[index] = 0;
    }
    if rooms.any(|bit| bit) || !more.ends_here() {
        return Err(BlockError::Length);
    }
    Ok(())
}
