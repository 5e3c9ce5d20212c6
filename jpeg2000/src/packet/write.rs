//! Writing of packets.

use super::bits::BitWriter;
use super::tag_tree::TagTree;
use crate::block::{Encoded, Pass};
use crate::codestream::EPH;
use crate::geometry::Blocks;

/// Coded blocks of a band inside a precinct, and the state of their packets.
pub struct CodedBand<'a> {
    inclusion: TagTree,
    zero_planes: TagTree,
    blocks: Vec<CodedBlock<'a>>,
}

struct CodedBlock<'a> {
    encoded: &'a Encoded,
    zero_planes: u32,
    /// Passes up to the end of each layer.
    passes: Vec<usize>,
    /// Bits of a length, less the logarithm of its number of passes.
    length_bits: u32,
}

impl<'a> CodedBand<'a> {
    /// Blocks of a band of `planes` bitplanes. Each has the number of its passes up to the end of each layer.
    pub fn new(blocks: &Blocks, planes: u32, coded: Vec<(&'a Encoded, Vec<usize>)>) -> CodedBand<'a> {
        let first =
            |passes: &[usize]| passes.iter().position(|&count| count > 0).map_or(u32::MAX, |layer| layer as u32);
        let inclusion: Vec<u32> = coded.iter().map(|(_, passes)| first(passes)).collect();
        // Blocks that no packet includes do not raise the least number of empty bitplanes.
        let zeros = |encoded: &Encoded| planes.saturating_sub(encoded.planes);
        let zero_planes: Vec<u32> = coded.iter().map(|(encoded, _)| zeros(encoded)).collect();
        let blocks_of = coded.into_iter().zip(&zero_planes).map(|((encoded, passes), &zero_planes)| CodedBlock {
            encoded,
            zero_planes,
            passes,
            length_bits: 3,
        });
        CodedBand {
            inclusion: TagTree::of_values(blocks.grid, &inclusion),
            zero_planes: TagTree::of_values(blocks.grid, &zero_planes),
            blocks: blocks_of.collect(),
        }
    }
}

/// Packet of a precinct's bands in a layer: header and body.
pub fn packet(bands: &mut [CodedBand<'_>], layer: u32, eph: bool) -> Vec<u8> {
    let mut bits = BitWriter::default();
    let mut body = Vec::new();
    let new = |block: &CodedBlock<'_>| {
        let before = if layer == 0 { 0 } else { block.passes[layer as usize - 1] };
        before..block.passes[layer as usize]
    };
    let is_empty = bands.iter().flat_map(|band| &band.blocks).all(|block| new(block).is_empty());
    bits.bit(!is_empty);
    for band in bands.iter_mut().filter(|_| !is_empty) {
        for (index, block) in band.blocks.iter_mut().enumerate() {
            let passes = new(block);
            if passes.start == 0 {
                band.inclusion.write(index, layer + 1, &mut bits);
            } else {
                bits.bit(!passes.is_empty());
            }
            if passes.is_empty() {
                continue;
            }
            if passes.start == 0 {
                band.zero_planes.write(index, block.zero_planes + 1, &mut bits);
            }
            write_passes(passes.len() as u32, &mut bits);
            let start = if passes.start == 0 { 0 } else { block.encoded.passes[passes.start - 1].end };
            let lengths = lengths(&block.encoded.passes[passes.clone()], start);
            let needed =
                |&(count, length): &(u32, usize)| (usize::BITS - length.leading_zeros()).saturating_sub(count.ilog2());
            let width = lengths.iter().map(needed).max().unwrap_or(0).max(block.length_bits);
            (block.length_bits..width).for_each(|_| bits.bit(true));
            bits.bit(false);
            block.length_bits = width;
            lengths.iter().for_each(|&(count, length)| bits.number(length as u32, width + count.ilog2()));
            body.extend_from_slice(&block.encoded.bytes[start..block.encoded.passes[passes.end - 1].end]);
        }
    }
    let mut packet = bits.finish();
    if eph {
        packet.extend(EPH.to_be_bytes());
    }
    packet.extend(body);
    packet
}

/// Passes and bytes of each codeword segment, from byte `start` of the block.
fn lengths(passes: &[Pass], mut start: usize) -> Vec<(u32, usize)> {
    let mut lengths = Vec::new();
    let mut count = 0;
    for (k, pass) in passes.iter().enumerate() {
        count += 1;
        if pass.terminated || k + 1 == passes.len() {
            lengths.push((count, pass.end - start));
            (count, start) = (0, pass.end);
        }
    }
    lengths
}

/// Writes a number of passes (Table B.4).
fn write_passes(passes: u32, bits: &mut BitWriter) {
    match passes {
        1 => bits.number(0, 1),
        2 => bits.number(0b10, 2),
        3..=5 => bits.number(0b1100 | (passes - 3), 4),
        6..=36 => bits.number((0b1111 << 5) | (passes - 6), 9),
        _ => bits.number((0b1_1111_1111 << 7) | (passes - 37), 16),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_end_with_segments_and_layers() {
        let pass = |end, terminated| Pass { end, terminated, gain: 0.0 };
        let passes = [pass(5, false), pass(9, true), pass(9, false), pass(20, false)];
        assert_eq!(lengths(&passes, 0), [(2, 9), (2, 11)]);
        assert_eq!(lengths(&passes[1..3], 5), [(1, 4), (1, 0)]);
    }
}
