//! Transcoding between block coders, without loss: the quantiser indices stay as they are.
//!
//! Part 15's passes of a set code what those of Part 1 do (15444-15, 7.1): a block of n passes becomes a cleanup pass
//! at the plane of its last cleanup pass, and as many passes after it.

use crate::block::{Encoded, Style, ebcot, ht};
use crate::codestream::{Coder, Codestream, Coding, Parameters, TileStream};
use crate::decode::{block_indices, precincts, tiles_within};
use crate::error::Error;
use crate::file::{Boxes, File};
use crate::packet::CodedBlock;
use crate::stream::{self, Markers};
use crate::tile::{BlockPlace, Tile};
use lifting::threads;

/// Transcodes a codestream or a file to another block coder; a file stays a file, with its boxes. Decoders get the same
/// coefficients. Quality layers become one.
///
/// ```
/// use lifting_jpeg2000::{Coder, Decoder, Encoder, Image, transcode};
/// let samples: Vec<i32> = (0..64 * 64).map(|i| i % 61 * 4).collect();
/// let image = Image::interleaved([64, 64, 1], 8, false, &samples)?;
/// let old = Encoder::default().coder(Coder::Ebcot).psnr(42.0).encode(&image)?;
/// let new = transcode(&old, Coder::Ht)?;
/// assert_eq!(Decoder::new(&new)?.decode()?.image, Decoder::new(&old)?.decode()?.image);
/// # Ok::<(), lifting_jpeg2000::Error>(())
/// ```
///
/// # Errors
/// As for [`crate::Decoder`]; [`Error::Broken`] if the stream ends early, and [`Error::Block`] for a broken block.
pub fn transcode(data: &[u8], coder: Coder) -> Result<Vec<u8>, Error> {
    let file = File::parse(data)?;
    let bytes = file.as_ref().map_or(data, |file| file.codestream);
    let stream = Codestream::parse(bytes)?;
    let mut size = stream.size.clone();
    size.profile = if coder == Coder::Ht { 0x4000 } else { 0 };
    let main = converted(&stream.parameters, coder);
    let mut tiles = Vec::new();
    for index in tiles_within(&size, size.area, 0, data.len(), None)? {
        let empty = TileStream::default();
        let source = stream.tiles.get(&index).unwrap_or(&empty);
        let tile = Tile::new(&size, &stream.parameters, &source.parameters, index)?;
        let (precincts, complete) = precincts(&tile, source, bytes.len(), u32::MAX)?;
        if !complete {
            return Err(Error::Broken { at: data.len(), what: format!("the stream ends within tile {index}") });
        }
        let mut jobs = Vec::new();
        for (c, component) in tile.components.iter().enumerate() {
            for place in component.blocks(component.coding.levels, component.area.width()) {
                let resolution = place.resolution as usize;
                let block = &precincts[c][resolution][place.precinct].blocks(place.band)[place.index];
                let band = &component.resolutions[resolution].bands[place.band];
                let planes = component.quantiser(place.resolution, band)?.0 + component.shift;
                jobs.push(Job { component: c, place, block, planes });
            }
        }
        let blocks = threads::map(&jobs, |job| job.transcode(&tile, coder));
        let blocks: Vec<Encoded> = blocks.into_iter().collect::<Result<_, _>>()?;
        let own = converted(&source.parameters, coder);
        let tile = Tile::new(&size, &main, &own, index)?;
        let mut all = blocks.iter().map(|block| (block, vec![block.passes.len()]));
        let packets = stream::packets(&tile, &mut all)?;
        tiles.push((tile, own, packets));
    }
    let codestream = stream::write(&size, &main, &tiles, Markers::default());
    Ok(match file {
        Some(file) => file.boxes.write(size.area, &size.components, coder, &codestream),
        None => codestream,
    })
}

/// [`transcode`] to a file or to a raw codestream, as `is_file` says; a file around a raw one has no further boxes.
///
/// # Errors
/// As for [`transcode`].
pub fn transcode_to(data: &[u8], coder: Coder, is_file: bool) -> Result<Vec<u8>, Error> {
    let stream = transcode(data, coder)?;
    Ok(match (is_file, File::parse(&stream)?) {
        (true, None) => {
            let size = Codestream::parse(&stream)?.size;
            Boxes::default().write(size.area, &size.components, coder, &stream)
        }
        (false, Some(file)) => file.codestream.to_vec(),
        _ => stream,
    })
}

/// Parameters for another coder and one layer, in one progression.
fn converted(parameters: &Parameters, coder: Coder) -> Parameters {
    let coding = |from: &Coding| Coding {
        coder,
        style: Style { causal: from.style.causal, ..Style::default() },
        ..from.clone()
    };
    Parameters {
        order: parameters.order.map(|order| crate::codestream::Order { layers: 1, ..order }),
        coding: parameters.coding.as_ref().map(coding),
        coding_of: parameters.coding_of.iter().map(|(&c, from)| (c, coding(from))).collect(),
        volumes: Vec::new(),
        ..parameters.clone()
    }
}

struct Job<'a> {
    component: usize,
    place: BlockPlace,
    block: &'a CodedBlock<'a>,
    planes: u32,
}

impl Job<'_> {
    fn transcode(&self, tile: &Tile, coder: Coder) -> Result<Encoded, Error> {
        let component = &tile.components[self.component];
        let (orientation, shape) = (self.place.orientation, self.place.shape());
        if self.block.is_empty() {
            return Ok(Encoded::default());
        }
        let fault = |fault| Error::Block {
            tile: tile.index as usize,
            component: self.component,
            resolution: self.place.resolution,
            fault,
        };
        let doubled = block_indices(component, &self.place, self.planes, self.block).map_err(fault)?;
        // The lowest bit is the middle of the planes that were not decoded.
        let index = |d: &i32| (d.abs() - (d & d.wrapping_neg())) / 2 * d.signum();
        let indices: Vec<i32> = doubled.iter().map(index).collect();
        let (plane, passes) = self.block.last_plane(component.coding.coder, self.planes);
        let style = Style { causal: component.coding.style.causal, ..Style::default() };
        Ok(match coder {
            Coder::Ht => ht::encode(shape, style.causal, &indices, plane, passes),
            Coder::Ebcot => {
                let mut block = ebcot::encode(shape, orientation, style, &indices);
                let count = 3 * (block.planes as usize).saturating_sub(1 + plane as usize) + passes as usize;
                block.passes.truncate(count);
                block.bytes.truncate(block.passes.last().map_or(0, |pass| pass.end));
                block
            }
        })
    }
}
