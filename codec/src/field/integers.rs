//! Arrays of integers as codeblocks: bands to bytes, and back.
//!
//! Quantised coefficients, corrections, masks and the coefficients of lossless chunks are all stored this way. A band
//! is folded to a matrix, and the matrix is divided into blocks of at most 64 × 64. Of integers of more than 15 bits,
//! the block coder takes the highest 15, and the others follow uncoded: they are noise.

use crate::block::{self, BlockShape, Counts, Encoded, MAX_PLANES, MAX_SIDE, Mode, Order, Passes, SignAxis};
use crate::error::CodecError;
use crate::field::bytes::{Bytes, Packer, Unpacker, corrupted};
use crate::tables::{MAX_TABLES, TABLE_BYTES, Table, Tables};
use lifting::threads;

/// Bits of an integer that are coded, with its sign; its lowest bits beyond are not.
const CODED: u32 = 15;

/// Flag in an entry's first byte: the block is stored raw.
const RAW: u8 = 64;

/// Flag in an entry's first byte: uncoded lowest bits.
const LOW: u8 = 128;

/// Columns at which the rows of a narrower band are joined.
const NARROW: usize = 8;

/// Blocks decoded per thread before their integers are placed.
const AT_ONCE: usize = 16;

/// Band of an array: its place there.
#[derive(Clone, Debug)]
pub struct Band {
    /// Samples along each axis.
    pub shape: [usize; 3],
    /// Index of its first sample.
    pub start: usize,
    /// Distance between samples along each axis.
    pub strides: [usize; 3],
    /// Direction of sign prediction.
    pub direction: SignAxis,
}

/// Block of a band.
#[derive(Clone, Copy, Debug)]
struct Place {
    band: usize,
    /// Number of its first sample in the band, and distance between its rows there.
    first: usize,
    columns: usize,
    shape: BlockShape,
}

impl Band {
    /// The whole of an array.
    pub fn whole(shape: [usize; 3]) -> Band {
        let strides = [shape[1] * shape[2], shape[2], 1];
        Band { shape, start: 0, strides, direction: SignAxis::Vertical }
    }

    /// Columns of the band's matrix.
    fn columns(&self) -> usize {
        match self.shape {
            [1, 1, _] => MAX_SIDE,
            [.., width] if width < NARROW => width * (MAX_SIDE / width),
            [.., width] => width,
        }
    }

    /// Calls `each` with the index of every sample in the array.
    pub fn each(&self, mut each: impl FnMut(usize)) {
        for z in 0..self.shape[0] {
            for y in 0..self.shape[1] {
                let start = self.start + z * self.strides[0] + y * self.strides[1];
                (0..self.shape[2]).for_each(|x| each(start + x * self.strides[2]));
            }
        }
    }

    /// Calls `each` with the number of each sample of a row of a block within the block, and its index in the array.
    fn row(&self, place: &Place, y: usize, mut each: impl FnMut(usize, usize)) {
        let [_, height, width] = self.shape;
        let first = place.first + y * place.columns;
        let (mut row, mut x) = (first / width, first % width);
        let mut at = 0;
        while at < place.shape.width {
            let start = self.start + row / height * self.strides[0] + row % height * self.strides[1];
            let count = (width - x).min(place.shape.width - at);
            for i in 0..count {
                each(y * place.shape.width + at + i, start + (x + i) * self.strides[2]);
            }
            (at, x, row) = (at + count, 0, row + 1);
        }
    }
}

/// Blocks of all bands, in stream order.
fn places(bands: &[Band]) -> Vec<Place> {
    let mut places = Vec::new();
    for (number, band) in bands.iter().enumerate() {
        let (count, columns) = (band.shape.iter().product::<usize>(), band.columns());
        let mut add = |first: usize, height: usize, width: usize| {
            let shape = BlockShape { height, width, direction: band.direction, order: Order::from(Passes::Three) };
            places.push(Place { band: number, first, columns, shape });
        };
        let rows = count / columns;
        for y in (0..rows).step_by(MAX_SIDE) {
            for x in (0..columns).step_by(MAX_SIDE) {
                add(y * columns + x, MAX_SIDE.min(rows - y), MAX_SIDE.min(columns - x));
            }
        }
        // Only matrices of at most 64 columns have an incomplete row.
        if !count.is_multiple_of(columns) {
            add(rows * columns, 1, count % columns);
        }
    }
    places
}

/// Integers of a block: the highest bits of each, and the number of lowest bits that are not coded.
fn split(all: &[i64]) -> (Vec<i32>, u32) {
    let bits = u64::BITS - all.iter().fold(0, |bits, v| bits | v.unsigned_abs()).leading_zeros();
    let low = bits.saturating_sub(CODED);
    (all.iter().map(|v| (v >> low) as i32).collect(), low)
}

/// Tables for these blocks: the built-in ones, or fitted ones that save more than their own size.
fn tables_for(counts: &[Counts]) -> Option<Tables> {
    let bits = |tables: &Tables| threads::map(counts, |counts| tables.cheapest(counts).1).iter().sum::<f64>();
    let mut best = (bits(Tables::built_in()), None);
    for count in [1, 4].into_iter().filter(|count| counts.len() >= *count) {
        let Some(even) = Tables::new(vec![Table::EVEN]) else { continue };
        let tables = even.trained(counts, count, 2);
        let bits = bits(&tables) + 8.0 * (tables.count() * TABLE_BYTES) as f64;
        if bits < best.0 {
            best = (bits, Some(tables));
        }
    }
    best.1
}

/// Writes the integers of bands. `value` is the integer of a band at an index of the array.
pub fn write(bands: &[Band], value: impl Fn(usize, usize) -> i64 + Send + Sync, out: &mut Vec<u8>) {
    let places = places(bands);
    let gather = |place: &Place| {
        let mut all = vec![0; place.shape.samples()];
        for y in 0..place.shape.height {
            bands[place.band].row(place, y, |i, at| all[i] = value(place.band, at));
        }
        all
    };
    let counts = threads::map(&places, |place| Counts::of(place.shape, &split(&gather(place)).0));
    let counts: Vec<Counts> = counts.into_iter().filter(|counts| !counts.is_empty()).collect();
    let fitted = tables_for(&counts);
    drop(counts);
    let tables = fitted.as_ref().unwrap_or(Tables::built_in());
    let blocks = threads::map(&places, |place| {
        let all = gather(place);
        let (high, low) = split(&all);
        (block::encode(place.shape, &high, tables), low, lowest(&all, low))
    });
    out.push(fitted.as_ref().map_or(0, |tables| tables.count() as u8));
    out.extend(fitted.iter().flat_map(Tables::to_bytes));
    for (Encoded { planes, mode, words }, low, _) in &blocks {
        let flag = if *low > 0 { LOW } else { 0 };
        let raw = if *planes > 0 && *mode == Mode::Raw { RAW } else { 0 };
        out.push(*planes as u8 | raw | flag);
        out.extend((*low > 0).then_some(*low as u8));
        if let (1.., Mode::Coded { class, sharing }) = (*planes, mode) {
            out.push(class | sharing << 5);
            out.extend((words.len() as u16).to_le_bytes());
        }
    }
    for (Encoded { words, .. }, _, lowest) in &blocks {
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(lowest);
    }
}

/// The lowest bits of integers, packed.
fn lowest(all: &[i64], bits: u32) -> Vec<u8> {
    let mut packer = Packer::default();
    if bits > 0 {
        all.iter().for_each(|&value| packer.put(value as u64, bits));
    }
    packer.finish()
}

fn low_bytes(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// Block of a stream: its entry and its bytes.
#[derive(Clone, Copy)]
struct Held<'a> {
    place: Place,
    planes: u32,
    mode: Mode,
    low: u32,
    words: &'a [u8],
    lowest: &'a [u8],
}

impl Held<'_> {
    /// Integers of the block.
    fn decode(&self, tables: &Tables) -> Result<Vec<i64>, CodecError> {
        let mut all = vec![0; self.place.shape.samples()];
        if self.planes > 0 {
            let words: Vec<u16> = self.words.as_chunks().0.iter().map(|word| u16::from_le_bytes(*word)).collect();
            let decoded = block::decode(self.place.shape, self.planes, self.mode, &words, true, tables)?;
            let values = decoded.magnitudes.iter().zip(&decoded.negative);
            for (to, (&magnitude, &negative)) in all.iter_mut().zip(values) {
                let high = if negative { -i64::from(magnitude) } else { magnitude.into() };
                *to = high.wrapping_shl(self.low);
            }
        }
        if self.low == 0 {
            return Ok(all);
        }
        let mut bits = Unpacker::new(self.lowest);
        for to in &mut all {
            *to |= bits.get(self.low).unwrap_or(0) as i64;
        }
        Ok(all)
    }
}

/// Reads the integers of bands, and calls `set` with the band, the index in the array, and the integer of each that is
/// not 0.
///
/// # Errors
/// If the bytes are not those of such bands, or end early.
pub fn read(bands: &[Band], bytes: &mut Bytes<'_>, mut set: impl FnMut(usize, usize, i64)) -> Result<(), CodecError> {
    let fitted = match usize::from(bytes.byte()?) {
        0 => None,
        count @ 1..=MAX_TABLES => {
            let tables = Tables::from_bytes(bytes.take(count * TABLE_BYTES)?);
            Some(tables.ok_or_else(|| corrupted("invalid probabilities"))?)
        }
        count => return Err(corrupted(format!("{count} probability tables, and at most {MAX_TABLES} are allowed"))),
    };
    let tables = fitted.as_ref().unwrap_or(Tables::built_in());
    let mut blocks = Vec::new();
    for place in places(bands) {
        let (planes, mode, words, low) = entry(bytes, place.shape, tables)?;
        if planes > 0 || low > 0 {
            blocks.push((Held { place, planes, mode, low, words: &[], lowest: &[] }, words));
        }
    }
    for (block, words) in &mut blocks {
        block.words = bytes.take(2 * *words)?;
        block.lowest = bytes.take(low_bytes(block.place.shape.samples(), block.low))?;
    }
    for some in blocks.chunks(AT_ONCE * threads::available()) {
        let decoded = threads::map(some, |(block, _)| block.decode(tables));
        for ((Held { place, .. }, _), all) in some.iter().zip(decoded) {
            let all = all?;
            for y in 0..place.shape.height {
                bands[place.band].row(place, y, |i, at| {
                    if all[i] != 0 {
                        set(place.band, at, all[i]);
                    }
                });
            }
        }
    }
    Ok(())
}

/// Entry of a block: planes, mode, number of words, and uncoded bits.
fn entry(bytes: &mut Bytes<'_>, shape: BlockShape, tables: &Tables) -> Result<(u32, Mode, usize, u32), CodecError> {
    let first = bytes.byte()?;
    let low = if first & LOW != 0 { u32::from(bytes.byte()?) } else { 0 };
    let planes = u32::from(first & (RAW - 1));
    if planes > MAX_PLANES || first & RAW != 0 && planes == 0 || first & LOW != 0 && !(1..64).contains(&low) {
        return Err(corrupted(format!("a block with the invalid entry {first}, {low}")));
    }
    if planes == 0 {
        return Ok((0, Mode::Raw, 0, low));
    }
    let raw = block::raw_words(shape, planes);
    if first & RAW != 0 {
        return Ok((planes, Mode::Raw, raw, low));
    }
    let mode = bytes.byte()?;
    let (class, sharing) = (mode & 31, mode >> 5);
    let words = usize::from(u16::from_le_bytes(bytes.array()?));
    if tables.get(class).is_none() || sharing > 5 || words == 0 || words >= raw {
        return Err(corrupted(format!("a block of table {class}, sharing {sharing} and {words} words")));
    }
    Ok((planes, Mode::Coded { class, sharing }, words, low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(shape: [usize; 3], value: impl Fn(usize) -> i64 + Send + Sync) {
        let bands = [Band::whole(shape)];
        let count = shape.iter().product::<usize>();
        let mut written = vec![7];
        write(&bands, |_, at| value(at), &mut written);
        let mut bytes = Bytes(&written[1..]);
        let mut all = vec![0; count];
        read(&bands, &mut bytes, |_, at, value| all[at] = value).unwrap();
        assert!(bytes.0.is_empty());
        assert!((0..count).all(|at| all[at] == value(at)), "{shape:?}");
        for end in 1..written.len() {
            assert!(read(&bands, &mut Bytes(&written[1..end]), |_, _, _| {}).is_err());
        }
    }

    #[test]
    fn every_shape_and_every_width_of_integers_round_trips() {
        for shape in [[1, 1, 1], [1, 1, 63], [1, 1, 200], [1, 70, 3], [2, 5, 7], [3, 1, 130], [1, 65, 66], [9, 9, 9]] {
            round_trip(shape, |_| 0);
            round_trip(shape, |at| (at as i64 % 7 - 3) / 3);
            for bits in [1, 14, 15, 16, 17, 31, 32, 33, 62, 63] {
                let noise =
                    |at: usize| (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(at as u32) as i64;
                round_trip(shape, move |at| noise(at) >> (63 - bits));
            }
            round_trip(shape, |at| if at % 5 == 0 { i64::MIN } else { i64::MAX });
        }
    }
}
