//! Writing of a codestream from coded blocks.

use crate::block::Encoded;
use crate::codestream::{Coder, EOC, Parameters, SOC, SOP, Size, Wavelet, Writer, magnitude_field};
use crate::error::Error;
use crate::packet::{CodedBand, groups, packet};
use crate::tile::Tile;

/// Optional marker segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Markers {
    /// Lengths of packets, PLT.
    pub packet_lengths: bool,
    /// Lengths of tile-parts, TLM.
    pub tile_lengths: bool,
}

/// Packets of a tile. Blocks come component by component, resolution by resolution, precinct by precinct, band by band
/// and row by row, each with the number of its passes up to the end of each layer.
///
/// # Errors
/// If a band has no quantiser.
pub fn packets<'a>(
    tile: &Tile,
    blocks: &mut impl Iterator<Item = (&'a Encoded, Vec<usize>)>,
) -> Result<Vec<Vec<u8>>, Error> {
    // Bands of all precincts, by component and resolution.
    let mut bands: Vec<Vec<Vec<Vec<CodedBand<'_>>>>> = Vec::new();
    for component in &tile.components {
        let mut of_component = Vec::new();
        for (r, resolution) in (0u32..).zip(&component.resolutions) {
            let mut of_resolution = Vec::new();
            for precinct in 0..resolution.count() {
                let mut of_precinct = Vec::new();
                for band in &resolution.bands {
                    let places = band.blocks(precinct, resolution.precincts[0]);
                    let (planes, _) = component.quantiser(r, band)?;
                    let here: Vec<_> = blocks.by_ref().take(places.count()).collect();
                    of_precinct.push(CodedBand::new(&places, planes + component.shift, here));
                }
                of_resolution.push(of_precinct);
            }
            of_component.push(of_resolution);
        }
        bands.push(of_component);
    }
    let mut packets = Vec::new();
    for volume in &tile.volumes {
        let (places, groups) = groups(&tile.components, tile.area, volume);
        for group in groups {
            for layer in 0..volume.layers {
                for place in &places[group.clone()] {
                    let mut bytes = Vec::new();
                    if tile.order.sop {
                        bytes.extend(SOP.to_be_bytes());
                        bytes.extend(4u16.to_be_bytes());
                        bytes.extend((packets.len() as u16).to_be_bytes());
                    }
                    let bands = &mut bands[place.component][place.resolution as usize][place.precinct];
                    bytes.extend(packet(bands, layer, tile.order.eph));
                    packets.push(bytes);
                }
            }
        }
    }
    Ok(packets)
}

/// Writes a codestream of tiles with their packets. Each tile has its own parameters, which go into its header.
pub fn write(size: &Size, main: &Parameters, tiles: &[(Tile, Parameters, Vec<Vec<u8>>)], markers: Markers) -> Vec<u8> {
    let mut w = Writer::default();
    w.marker(SOC);
    w.size(size);
    let components = || tiles.iter().flat_map(|(tile, ..)| &tile.components);
    if components().any(|component| component.coding.coder == Coder::Ht) {
        let planes = components().map(|component| component.most_planes()).max().unwrap_or(0);
        let is_reversible = components().all(|component| component.coding.wavelet == Wavelet::LeGall53);
        w.capabilities(is_reversible, magnitude_field(planes));
    }
    if let Some(order) = &main.order {
        w.parameters(main, order, size.components.len());
    }
    w.comment(concat!("Lifting ", env!("CARGO_PKG_VERSION")));
    let mut parts = Vec::new();
    for (tile, own, packets) in tiles {
        let mut header = Writer::default();
        header.parameters(own, &tile.order, size.components.len());
        if markers.packet_lengths {
            header.packet_lengths(&packets.iter().map(Vec::len).collect::<Vec<_>>());
        }
        parts.push((header.bytes, packets.concat()));
    }
    if markers.tile_lengths {
        w.tile_lengths(&parts);
    }
    for ((tile, ..), (header, packets)) in tiles.iter().zip(&parts) {
        w.tile_part(tile.index, header, packets);
    }
    w.marker(EOC);
    w.bytes
}
