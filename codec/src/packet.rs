//! The blocks of a resolution in a stream: an index of all of them, then their words. `docs/format.md` defines it.

use crate::bands::Place;
use crate::block::{Encoded, MAX_PLANES, Mode, raw_words};
use crate::error::CodecError;
use crate::header::CHECKSUM;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Of an index's first byte: the block's words are its coefficients as they are.
const RAW: u8 = 64;

/// What an index says of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Bitplanes.
    pub planes: u32,
    /// How its words are to be read.
    pub mode: Mode,
    /// Number of its words.
    pub words: usize,
}

/// The lower half of XXH3-64 of a part of a packet.
fn checksum(bytes: &[u8], seed: u64, resolution: u32) -> [u8; CHECKSUM] {
    (xxh3_64_with_seed(bytes, seed.wrapping_add(resolution.into())) as u32).to_le_bytes()
}

/// Writes the packet of a resolution; of the stream with this [`seed`](crate::header::seed).
pub fn write(blocks: &[Encoded], seed: u64, resolution: u32, stream: &mut Vec<u8>) {
    let begin = stream.len();
    for Encoded { planes, mode, words } in blocks {
        match mode {
            _ if *planes == 0 => stream.push(0),
            Mode::Raw => stream.push(*planes as u8 | RAW),
            Mode::Coded { class, sharing } => {
                stream.extend([*planes as u8, class | sharing << 5]);
                match words.len() {
                    few @ 0..128 => stream.push(few as u8),
                    many => stream.extend([(many & 127 | 128) as u8, (many >> 7) as u8]),
                }
            }
        }
    }
    stream.extend(checksum(&stream[begin..], seed, resolution));
    let begin = stream.len();
    for block in blocks {
        block.words.iter().for_each(|word| stream.extend_from_slice(&word.to_le_bytes()));
    }
    stream.extend(checksum(&stream[begin..], seed, resolution));
}

/// A packet as far as a stream has it.
#[derive(Clone, Debug)]
pub struct Packet<'a> {
    /// What there is of each block's words.
    pub blocks: Vec<(Entry, Words<'a>)>,
    /// Bytes of the packet; `None` if the stream ends before it does.
    pub length: Option<usize>,
}

/// The words of a block, as bytes, and whether these are all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words<'a> {
    bytes: &'a [u8],
    /// Whether there are as many as the index says.
    pub complete: bool,
}

impl Words<'_> {
    /// Whether there is nothing of a block that has something.
    pub fn is_missing(&self) -> bool {
        self.bytes.is_empty() && !self.complete
    }

    /// As numbers.
    pub fn to_vec(self) -> Vec<u16> {
        self.bytes.as_chunks().0.iter().map(|word| u16::from_le_bytes(*word)).collect()
    }
}

/// Reads the packet that these bytes begin with. `None` if its index is not whole: then nothing can be said of it.
///
/// # Errors
/// If a checksum does not fit, or the index says what cannot be.
pub fn read<'a>(
    stream: &'a [u8],
    places: &[Place],
    seed: u64,
    resolution: u32,
) -> Result<Option<Packet<'a>>, CodecError> {
    let corrupted = |part: &str| CodecError::Checksum { what: format!("the {part} of resolution {resolution}") };
    // Each block has a byte at least: no more of them are looked at than there are bytes.
    let mut entries = Vec::with_capacity(places.len().min(stream.len()));
    let mut at = 0;
    for place in places {
        let entry = entry(&stream[at..], place).map_err(|why| CodecError::Index { resolution, why })?;
        let Some((entry, length)) = entry else { return Ok(None) };
        entries.push(entry);
        at += length;
    }
    let (index, rest) = stream.split_at(at);
    let Some((sum, rest)) = rest.split_first_chunk::<CHECKSUM>() else { return Ok(None) };
    if checksum(index, seed, resolution) != *sum {
        return Err(corrupted("index"));
    }
    let length: usize = entries.iter().map(|entry| 2 * entry.words).sum();
    let whole = match rest.split_at_checked(length) {
        Some((payload, behind)) if behind.len() >= CHECKSUM => {
            if checksum(payload, seed, resolution) != behind[..CHECKSUM] {
                return Err(corrupted("payload"));
            }
            true
        }
        _ => false,
    };
    let mut left = &rest[..rest.len().min(length)];
    let mut blocks = Vec::with_capacity(entries.len());
    for entry in entries {
        let bytes;
        let all = 2 * entry.words;
        (bytes, left) = left.split_at(left.len().min(all));
        blocks.push((entry, Words { bytes, complete: bytes.len() == all }));
    }
    Ok(Some(Packet { blocks, length: whole.then_some(at + length + 2 * CHECKSUM) }))
}

/// The entry that these bytes begin with, and its length; `None` if they end before it does.
fn entry(bytes: &[u8], place: &Place) -> Result<Option<(Entry, usize)>, String> {
    let Some(&first) = bytes.first() else { return Ok(None) };
    let planes = u32::from(first & !RAW);
    if planes > MAX_PLANES || first == RAW {
        return Err(format!("a block's first byte is {first:#04x}"));
    }
    if planes == 0 {
        return Ok(Some((Entry { planes, mode: Mode::Raw, words: 0 }, 1)));
    }
    let most = raw_words(place.shape, planes);
    if first & RAW != 0 {
        return Ok(Some((Entry { planes, mode: Mode::Raw, words: most }, 1)));
    }
    let Some(&[mode, low]) = bytes.get(1..3) else { return Ok(None) };
    let (words, length) = match low {
        0..128 => (usize::from(low), 3),
        128.. => {
            let Some(&high) = bytes.get(3) else { return Ok(None) };
            (usize::from(low & 127) | usize::from(high) << 7, 4)
        }
    };
    if words == 0 || words >= most {
        return Err(format!("a block has {words} words, where {most} hold it as it is"));
    }
    let mode = Mode::Coded { class: mode & 31, sharing: mode >> 5 };
    Ok(Some((Entry { planes, mode, words }, length)))
}
