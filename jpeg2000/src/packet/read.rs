//! Reading of packets.

use super::bits::BitReader;
use super::passes_of_segment;
use super::tag_tree::TagTree;
use crate::block::Segment;
use crate::codestream::{Coder, Coding, EPH, Order, SOP};
use crate::geometry::Resolution;
use std::borrow::Cow;

/// Codeblocks of a precinct, with the bytes of the packets so far.
pub struct Precinct<'a> {
    bands: Vec<BandPart<'a>>,
    /// Layers read so far.
    pub layers: u32,
}

struct BandPart<'a> {
    inclusion: TagTree,
    zero_planes: TagTree,
    blocks: Vec<CodedBlock<'a>>,
}

/// Codeblock as far as it has been read.
#[derive(Clone, Default)]
pub struct CodedBlock<'a> {
    /// Bitplanes of zeros above the first pass.
    pub zero_planes: u32,
    /// Passes, placeholders of Part 15 included.
    passes: u32,
    /// Bits of a length, less the logarithm of its number of passes.
    length_bits: u32,
    segments: Vec<CodedSegment<'a>>,
}

#[derive(Clone, Default)]
struct CodedSegment<'a> {
    /// Passes that packets announced so far.
    announced: u32,
    /// Passes whose bytes are in the data, of the wanted layers.
    passes: u32,
    /// Passes of the whole segment.
    most: u32,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Precinct<'a> {
    /// Precinct `index` of a resolution, before its first packet.
    pub fn new(resolution: &Resolution, index: usize) -> Precinct<'a> {
        let part = |band: &crate::geometry::Band| {
            let blocks = band.blocks(index, resolution.precincts[0]);
            BandPart {
                inclusion: TagTree::new(blocks.grid),
                zero_planes: TagTree::new(blocks.grid),
                blocks: vec![CodedBlock::default(); blocks.count()],
            }
        };
        Precinct { bands: resolution.bands.iter().map(part).collect(), layers: 0 }
    }

    /// Codeblocks of a band, row by row.
    pub fn blocks(&self, band: usize) -> &[CodedBlock<'a>] {
        &self.bands[band].blocks
    }
}

impl CodedBlock<'_> {
    /// Codeword segments in order.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let with_passes = self.segments.iter().take_while(|s| s.passes > 0);
        with_passes.map(|s| Segment { bytes: &s.bytes, passes: s.passes })
    }

    /// Codeword segments for `planes` bitplanes. Some encoders write passes below plane 0; they are left out.
    pub fn segments_of(&self, planes: u32) -> Vec<Segment<'_>> {
        let mut left = (3 * planes).saturating_sub(2);
        let mut segments = Vec::new();
        for segment in self.segments() {
            let passes = segment.passes.min(left);
            left -= passes;
            segments.extend((passes > 0).then_some(Segment { passes, ..segment }));
        }
        segments
    }

    /// Whether no packet has passes of this block.
    pub fn is_empty(&self) -> bool {
        self.segments.first().is_none_or(|s| s.passes == 0)
    }

    /// Plane of the last cleanup pass, and the number of passes from it on, in a band of `planes` bitplanes.
    pub fn last_plane(&self, coder: Coder, planes: u32) -> (u32, u32) {
        let (sets, passes) = match coder {
            Coder::Ebcot => {
                let segments = self.segments_of(planes.saturating_sub(self.zero_planes));
                let last = segments.iter().map(|segment| segment.passes).sum::<u32>().saturating_sub(1);
                (last / 3, last % 3 + 1)
            }
            Coder::Ht => self
                .ht_set()
                .map_or((0, 1), |(sets, segments)| (sets, segments.iter().map(|segment| segment.passes).sum())),
        };
        (planes.saturating_sub(self.zero_planes + 1 + sets), passes)
    }

    /// Segments of the last HT set whose cleanup pass is in the data, and the number of sets before it (15444-15, B.3).
    pub fn ht_set(&self) -> Option<(u32, Vec<Segment<'_>>)> {
        let (mut pass, mut found) = (0, None);
        for segment in self.segments() {
            let last = pass + segment.passes - 1;
            match (last % 3, &mut found) {
                (0, _) if !segment.bytes.is_empty() => {
                    found = Some((last / 3, vec![Segment { passes: 1, ..segment }]));
                }
                (1 | 2, Some((set, segments))) if *set == pass / 3 && segments.len() == 1 => segments.push(segment),
                _ => {}
            }
            pass += segment.passes;
        }
        found
    }
}

/// Reader of a tile's packets, one tile-part after the other.
pub struct PacketReader<'a> {
    parts: std::vec::IntoIter<(usize, &'a [u8])>,
    /// Position in the data, and the bytes from there.
    body: (usize, &'a [u8]),
    /// Packet headers of PPM or PPT segments.
    headers: Option<&'a [u8]>,
    order: Order,
}

/// Result of reading a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packet is read.
    Whole,
    /// The data ends before the packet does.
    Cut,
    /// The packet cannot have been made by an encoder.
    Broken {
        /// Position in the data.
        at: usize,
        /// The fault.
        what: String,
    },
}

impl<'a> PacketReader<'a> {
    /// Reader of packets in these tile-parts.
    pub fn new(parts: Vec<(usize, &'a [u8])>, headers: Option<&'a [u8]>, order: Order) -> PacketReader<'a> {
        PacketReader { parts: parts.into_iter(), body: (0, &[]), headers, order }
    }

    fn advance(&mut self, count: usize) {
        self.body = (self.body.0 + count, &self.body.1[count..]);
    }

    /// Reads the next packet, one of `precinct`. Passes of a packet that is not `wanted` are forgotten.
    pub fn read(&mut self, precinct: &mut Precinct<'a>, coding: &Coding, wanted: bool) -> Outcome {
        while self.body.1.is_empty() {
            match self.parts.next() {
                Some(part) => self.body = part,
                // Empty packets of a tile with packed headers have no body.
                None if self.headers.is_some_and(|headers| !headers.is_empty()) => break,
                None => return Outcome::Cut,
            }
        }
        if self.order.sop && self.body.1.starts_with(&SOP.to_be_bytes()) {
            self.advance(self.body.1.len().min(6));
        }
        let layer = precinct.layers;
        precinct.layers += 1;
        let header = self.headers.unwrap_or(self.body.1);
        let mut bits = BitReader::new(header);
        let pieces = match read_header(&mut bits, precinct, layer, coding) {
            Ok(pieces) => pieces,
            Err(what) if !bits.ended() => return Outcome::Broken { at: self.body.0, what },
            Err(_) => return Outcome::Cut,
        };
        if bits.ended() {
            return Outcome::Cut;
        }
        let mut length = bits.finish();
        if self.order.eph && header[length..].starts_with(&EPH.to_be_bytes()) {
            length += 2;
        }
        match &mut self.headers {
            Some(headers) => *headers = &headers[length..],
            None => self.advance(length),
        }
        for Piece { band, block, segment, passes, length } in pieces {
            let Some(bytes) = self.body.1.get(..length) else { return Outcome::Cut };
            if wanted {
                let segment = &mut precinct.bands[band].blocks[block].segments[segment];
                match segment.bytes.is_empty() {
                    true => segment.bytes = Cow::Borrowed(bytes),
                    false => segment.bytes.to_mut().extend_from_slice(bytes),
                }
                segment.passes += passes;
            }
            self.advance(length);
        }
        Outcome::Whole
    }
}

/// Bytes of a packet that belong to a segment of a block.
struct Piece {
    band: usize,
    block: usize,
    segment: usize,
    passes: u32,
    length: usize,
}

/// Reads a packet header (B.10).
fn read_header(
    bits: &mut BitReader<'_>,
    precinct: &mut Precinct<'_>,
    layer: u32,
    coding: &Coding,
) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    if !bits.bit() {
        return Ok(pieces);
    }
    for (band, part) in precinct.bands.iter_mut().enumerate() {
        for index in 0..part.blocks.len() {
            let block = &mut part.blocks[index];
            let is_first = block.passes == 0;
            let included = match is_first {
                true => part.inclusion.read(index, layer + 1, bits),
                false => bits.bit(),
            };
            if bits.ended() {
                return Err("the packet header is cut".into());
            }
            if !included {
                continue;
            }
            if is_first {
                while !part.zero_planes.read(index, block.zero_planes + 1, bits) {
                    block.zero_planes += 1;
                    if block.zero_planes > 80 {
                        return Err(format!("a codeblock of {} empty bitplanes", block.zero_planes));
                    }
                }
                block.length_bits = 3;
            }
            let passes = read_passes(bits);
            while bits.bit() {
                block.length_bits += 1;
                if block.length_bits > 31 {
                    return Err("a codeblock length of more than 32 bits".into());
                }
            }
            read_lengths(bits, block, passes, coding, |segment, passes, length| {
                pieces.push(Piece { band, block: index, segment, passes, length });
            })?;
        }
    }
    Ok(pieces)
}

/// Reads the lengths of the segments of a block's new passes (B.10.7).
fn read_lengths(
    bits: &mut BitReader<'_>,
    block: &mut CodedBlock<'_>,
    mut passes: u32,
    coding: &Coding,
    mut push: impl FnMut(usize, u32, usize),
) -> Result<(), String> {
    while passes > 0 {
        // The first segment of Part 15 holds all placeholder passes and a cleanup pass.
        let has_bytes = || block.segments.iter().any(|s| !s.bytes.is_empty());
        let is_open = block.segments.last().is_some_and(|s| s.announced < s.most);
        if !is_open {
            let most = match coding.coder {
                Coder::Ht if block.passes.is_multiple_of(3) && !has_bytes() => passes - (passes + 2) % 3,
                coder => passes_of_segment(coder, coding.style, block.passes),
            };
            block.segments.push(CodedSegment { most, ..CodedSegment::default() });
        }
        let last = block.segments.len() - 1;
        let segment = &mut block.segments[last];
        let here = passes.min(segment.most - segment.announced);
        let width = block.length_bits + here.ilog2();
        if width > 32 {
            return Err(format!("a codeblock length of {width} bits"));
        }
        push(last, here, bits.number(width) as usize);
        segment.announced += here;
        block.passes += here;
        passes -= here;
    }
    Ok(())
}

/// Reads a number of passes (Table B.4).
fn read_passes(bits: &mut BitReader<'_>) -> u32 {
    if !bits.bit() {
        return 1;
    }
    if !bits.bit() {
        return 2;
    }
    match bits.number(2) {
        3 => match bits.number(5) {
            31 => 37 + bits.number(7),
            few => 6 + few,
        },
        few => 3 + few,
    }
}
