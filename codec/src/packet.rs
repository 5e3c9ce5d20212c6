//! Packets: the index of a tile's blocks at one resolution and layer, then their words. `docs/format.md` defines them.

use crate::bands::{Band, BlockPlace, places};
use crate::block::{Encoded, MAX_PLANES, Mode, Order, raw_words};
use crate::deflate::DEFLATED;
use crate::error::CodecError;
use crate::header::{CHECKSUM, Header};
use std::fmt;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Flag in an entry's first byte: the block is stored raw.
pub const RAW: u8 = 64;

/// Flag in an entry's first byte: more of the block's words follow in later layers.
pub const OPEN: u8 = 128;

/// Length of a packet's first field, its length, in bytes.
pub const LENGTH: usize = 4;

/// Length of a piece of an index or a payload, in bytes. Pieces are hashed separately, and so in parallel.
pub const PIECE: usize = 1 << 14;

/// Position of a packet in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId {
    /// The quality layer.
    pub layer: u32,
    /// The resolution, 0 for the low band.
    pub resolution: u32,
    /// Tile, counted row by row.
    pub tile: usize,
}

impl PacketId {
    /// All packets of a stream, in stream order.
    pub fn of_stream(header: &Header) -> impl Iterator<Item = PacketId> {
        let [down, across] = header.tiles();
        let (rows, each) = if header.tiles_first { (down, across) } else { (1, down * across) };
        let (layers, levels) = (header.layers, header.levels);
        let rows = if header.only().is_some() { 0 } else { rows };
        (0..rows).flat_map(move |row| {
            PacketId::all(layers, levels, each).map(move |id| PacketId { tile: id.tile + row * each, ..id })
        })
    }

    /// Number of the packet, which its checksums depend on.
    pub(crate) fn number(self, header: &Header) -> u64 {
        let [down, across] = header.tiles().map(|n| n as u64);
        let resolutions = u64::from(header.levels) + 1;
        (u64::from(self.layer) * resolutions + u64::from(self.resolution))
            .wrapping_mul(down * across)
            .wrapping_add(self.tile as u64)
    }

    /// Packets of these numbers of layers and tiles, by layer, resolution and tile.
    pub fn all(layers: u32, levels: u32, tiles: usize) -> impl Iterator<Item = PacketId> {
        (0..layers).flat_map(move |layer| {
            (0..=levels).flat_map(move |resolution| (0..tiles).map(move |tile| PacketId { layer, resolution, tile }))
        })
    }
}

impl fmt::Display for PacketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PacketId { layer, resolution, tile } = self;
        write!(f, "layer {layer}, resolution {resolution}, tile {tile}")
    }
}

/// Checksum of a part of a packet: the lower half of the XXH3-64 of its pieces' hashes.
pub fn checksum(bytes: &[u8], seed: u64) -> [u8; CHECKSUM] {
    let hash = |piece: &[u8]| xxh3_64_with_seed(piece, seed).to_le_bytes();
    let pieces: Vec<u8> = bytes.chunks(PIECE).flat_map(hash).collect();
    (xxh3_64_with_seed(&pieces, seed) as u32).to_le_bytes()
}

/// Writes a number below 2^15 in one or two bytes.
fn put(number: usize, stream: &mut Vec<u8>) {
    match number {
        few @ 0..128 => stream.push(few as u8),
        many => stream.extend([(many & 127 | 128) as u8, (many >> 7) as u8]),
    }
}

/// Writes a packet of a layer, with a range of words of each block that continues the previous layer's. `seed` is that
/// of the checksums.
///
/// # Errors
/// If the packet is too long.
pub fn write<'a>(
    blocks: impl Iterator<Item = (&'a Encoded, Range<usize>)> + Clone,
    layer: u32,
    seed: u64,
    stream: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let begin = stream.len();
    stream.extend([0; LENGTH]);
    for (Encoded { planes, mode, words }, part) in blocks.clone() {
        let is_last = part.end == words.len();
        match mode {
            _ if *planes == 0 => stream.extend((layer == 0).then_some(0)),
            // A complete block has no entry.
            _ if part.start == words.len() => {}
            _ if part.start > 0 => put(2 * part.len() + usize::from(is_last), stream),
            _ if part.is_empty() => stream.push(OPEN),
            Mode::Raw => stream.push(*planes as u8 | RAW),
            Mode::Coded { class, sharing } => {
                stream.extend([*planes as u8 | if is_last { 0 } else { OPEN }, class | sharing << 5]);
                put(part.len(), stream);
            }
        }
    }
    let words: usize = blocks.clone().map(|(_, part)| part.len()).sum();
    let length = stream.len() - begin - LENGTH + 2 * (CHECKSUM + words);
    let field = u32::try_from(length).ok().filter(|field| field & DEFLATED == 0);
    let field = field.ok_or(CodecError::Packet { bytes: length })?;
    stream[begin..begin + LENGTH].copy_from_slice(&field.to_le_bytes());
    stream.extend(checksum(&stream[begin..], seed));
    let begin = stream.len();
    for (block, part) in blocks {
        block.words[part].iter().for_each(|word| stream.extend_from_slice(&word.to_le_bytes()));
    }
    stream.extend(checksum(&stream[begin..], seed));
    Ok(())
}

/// State of a block, from the packets read so far.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    /// Bitplanes; 0 if the block has not begun, or is all zeros.
    pub planes: u32,
    /// Coding mode of its words.
    pub mode: Mode,
    /// Whether all of its words are present.
    pub complete: bool,
    /// Whether the packets' entries are complete, though the stream may be truncated within its words.
    said: bool,
    /// Its words, one part per packet.
    parts: Vec<&'a [u8]>,
}

impl<'a> Held<'a> {
    /// State before any packet.
    const NOTHING: Self = Held { planes: 0, mode: Mode::Raw, complete: false, said: false, parts: Vec::new() };

    /// Whether there is nothing to decode: the block is all zeros, or has no words yet.
    pub fn is_empty(&self) -> bool {
        self.planes == 0 || self.words().next().is_none()
    }

    /// The words present.
    pub fn words(&self) -> impl Iterator<Item = u16> + '_ {
        self.parts.iter().flat_map(|part| part.as_chunks().0).map(|word| u16::from_le_bytes(*word))
    }

    fn count(&self) -> usize {
        self.parts.iter().map(|part| part.len() / 2).sum()
    }
}

/// Index entry of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// No entry.
    Nothing,
    /// All coefficients are 0.
    Zeros,
    /// First words.
    First { planes: u32, mode: Mode, words: usize, is_last: bool },
    /// Further words.
    More { words: usize, is_last: bool },
}

impl Entry {
    fn words(self) -> usize {
        match self {
            Entry::Nothing | Entry::Zeros => 0,
            Entry::First { words, .. } | Entry::More { words, .. } => words,
        }
    }
}

/// Packet, as far as the stream has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Length in bytes; `None` if the stream ends within it.
    pub length: Option<usize>,
    /// Blocks that begin in this packet.
    pub begun: usize,
    /// Blocks among those that are stored raw.
    pub raw: usize,
}

/// Reads the packet at the start of `stream` and updates the blocks; leaves them unchanged if its index is incomplete.
/// `blocks` is empty before the first layer.
///
/// # Errors
/// If a checksum does not match, or the index is invalid.
pub fn read<'a>(
    stream: &'a [u8],
    places: &[BlockPlace],
    blocks: &mut Vec<Held<'a>>,
    id: PacketId,
    seed: u64,
) -> Result<Packet, CodecError> {
    let corrupted = |part: &str| CodecError::Checksum { what: format!("the {part} of {id}") };
    let broken = |why: String| CodecError::Index { packet: id.to_string(), why };
    let Some(field) = stream.first_chunk::<LENGTH>() else { return Ok(Packet::default()) };
    let promised = u32::from_le_bytes(*field) as usize;
    // Each block has at least a byte in the first layer, so the stream's length bounds the allocation.
    let mut entries = Vec::with_capacity(places.len().min(stream.len()));
    let mut at = LENGTH;
    for (i, place) in places.iter().enumerate() {
        let Some((entry, length)) = entry(&stream[at..], place, blocks.get(i)).map_err(broken)? else {
            return Ok(Packet::default());
        };
        entries.push(entry);
        at += length;
    }
    let (index, rest) = stream.split_at(at);
    let Some((sum, rest)) = rest.split_first_chunk::<CHECKSUM>() else { return Ok(Packet::default()) };
    if checksum(index, seed) != *sum {
        return Err(corrupted("index"));
    }
    let words: usize = entries.iter().map(|entry| entry.words()).sum();
    let length = at + 2 * words + 2 * CHECKSUM;
    if length != LENGTH + promised {
        return Err(broken(format!("its length field is {promised} bytes, and its entries take {}", length - LENGTH)));
    }
    let whole = match rest.split_at_checked(2 * words) {
        Some((payload, behind)) if behind.len() >= CHECKSUM => {
            if checksum(payload, seed) != behind[..CHECKSUM] {
                return Err(corrupted("payload"));
            }
            true
        }
        _ => false,
    };
    if blocks.is_empty() {
        *blocks = vec![Held::NOTHING; places.len()];
    }
    let mut packet = Packet { length: whole.then_some(length), begun: 0, raw: 0 };
    let mut left = &rest[..rest.len().min(2 * words)];
    for (entry, held) in entries.into_iter().zip(blocks) {
        let (bytes, is_last);
        (bytes, left) = left.split_at(left.len().min(2 * entry.words()));
        match entry {
            Entry::Nothing => continue,
            Entry::Zeros => is_last = true,
            Entry::First { planes, mode, is_last: last, .. } => {
                (held.planes, held.mode, is_last) = (planes, mode, last);
                packet.begun += 1;
                packet.raw += usize::from(mode == Mode::Raw);
            }
            Entry::More { is_last: last, .. } => is_last = last,
        }
        held.said = is_last;
        held.complete = is_last && bytes.len() == 2 * entry.words();
        held.parts.extend((!bytes.is_empty()).then_some(bytes));
    }
    Ok(packet)
}

/// Number of one or two bytes, and its length; `None` if the bytes end within it.
fn number(bytes: &[u8]) -> Option<(usize, usize)> {
    match *bytes {
        [low @ 0..128, ..] => Some((low.into(), 1)),
        [low, high, ..] => Some((usize::from(low & 127) | usize::from(high) << 7, 2)),
        _ => None,
    }
}

/// Index entry of a block, and its length; `None` if the bytes end within it.
fn entry(bytes: &[u8], place: &BlockPlace, held: Option<&Held<'_>>) -> Result<Option<(Entry, usize)>, String> {
    let too_many = |words: usize, most: usize| format!("a block has {words} words: at most {most} are allowed");
    if held.is_some_and(|held| held.said) {
        return Ok(Some((Entry::Nothing, 0)));
    }
    if let Some(held) = held.filter(|held| held.planes > 0) {
        let Some((number, length)) = number(bytes) else { return Ok(None) };
        let entry = match (number / 2, number % 2 == 1) {
            (0, false) => Entry::Nothing,
            (0, true) => return Err("a block has an empty last part".into()),
            (words, is_last) => Entry::More { words, is_last },
        };
        let (words, most) = (held.count() + entry.words(), raw_words(place.shape, held.planes));
        return if words < most { Ok(Some((entry, length))) } else { Err(too_many(words, most)) };
    }
    let Some(&first) = bytes.first() else { return Ok(None) };
    let (is_raw, is_last, planes) = (first & RAW != 0, first & OPEN == 0, u32::from(first & !(RAW | OPEN)));
    if planes > MAX_PLANES || is_raw && (planes == 0 || !is_last) {
        return Err(format!("a block has an invalid first byte {first:#04x}"));
    }
    if planes == 0 {
        return Ok(Some((if is_last { Entry::Zeros } else { Entry::Nothing }, 1)));
    }
    let most = raw_words(place.shape, planes);
    if is_raw {
        return Ok(Some((Entry::First { planes, mode: Mode::Raw, words: most, is_last }, 1)));
    }
    let Some((&mode, (words, length))) = bytes.get(1).zip(number(bytes.get(2..).unwrap_or(&[]))) else {
        return Ok(None);
    };
    if words == 0 || words >= most {
        return Err(too_many(words, most));
    }
    let mode = Mode::Coded { class: mode & 31, sharing: mode >> 5 };
    Ok(Some((Entry::First { planes, mode, words, is_last }, 2 + length)))
}

/// Codeblocks of each packet of a layer.
pub(crate) fn places_of_packets(
    tiles: &[Vec<Band>],
    components: usize,
    levels: u32,
    block: [usize; 2],
    order: Order,
) -> Vec<Vec<BlockPlace>> {
    let of = |id: PacketId| places(&tiles[id.tile], components, id.resolution, block, order);
    PacketId::all(1, levels, tiles.len()).map(of).collect()
}
