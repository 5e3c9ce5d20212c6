//! Decoder: streams to pictures.

use crate::bands::{BlockPlace, places};
use crate::block::{self, BlockError, Decoded};
use crate::budget;
use crate::device::BlockCoder;
use crate::error::CodecError;
use crate::header::{self, Header};
use crate::image::Image;
use crate::lane::{Lane, Transform};
use crate::packet::{self, Held, PacketId};
use crate::quantise::Quantiser;
use crate::window::{Region, Window};
use lifting::threads;
use lifting::{Device, Domain};
use std::sync::Arc;

/// Samples that any stream may promise, however short it is.
const SMALL: u128 = 1 << 16;

/// Most samples per byte of a stream: a codeblock of zeros takes one byte.
const PROPORTION: u128 = (block::MAX_SIDE * block::MAX_SIDE) as u128;

/// Blocks decoded per thread before their coefficients are scattered. They still fit its cache.
const AT_ONCE: usize = 16;

/// A stream whose header has been read.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    header: Header,
    stream: &'a [u8],
    /// Bytes after the header.
    packets: &'a [u8],
    seed: u64,
    most: u128,
    /// Most operations, if that was said.
    work: Option<u128>,
    layers: u32,
    region: Option<Region>,
    device: Device,
    coder: Option<Arc<BlockCoder>>,
}

/// Decoded picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The picture.
    pub image: Image,
    /// Whether the stream had all of the picture. A truncated stream's missing coefficients are 0.
    pub complete: bool,
}

/// Contents of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// Layer, resolution and tile.
    pub id: PacketId,
    /// Bytes, checksums included.
    pub bytes: usize,
    /// Codeblocks of the tile at this resolution.
    pub blocks: usize,
    /// Blocks whose first words are in this packet.
    pub begun: usize,
    /// Blocks among those that are stored raw.
    pub raw: usize,
}

/// Codeblocks of a tile at one resolution, and the state of each after the packets read.
struct Part<'a> {
    tile: usize,
    places: Vec<BlockPlace>,
    blocks: Vec<Held<'a>>,
}

/// Decodes the whole picture of a complete stream.
///
/// # Errors
/// If the bytes are not a stream, or the stream is truncated or corrupted.
pub fn decode(stream: &[u8]) -> Result<Image, CodecError> {
    let picture = Decoder::new(stream)?.decode(0)?;
    if !picture.complete {
        return Err(CodecError::Cut { bytes: stream.len() });
    }
    Ok(picture.image)
}

impl<'a> Decoder<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// If the header is missing or corrupted, or promises more samples than a stream of this length can hold.
    pub fn new(stream: &'a [u8]) -> Result<Decoder<'a>, CodecError> {
        let (header, length) = Header::read(stream)?;
        let samples = header.samples();
        if samples > SMALL + PROPORTION * stream.len() as u128 {
            return Err(CodecError::Disproportionate { bytes: stream.len(), samples });
        }
        let (head, packets) = stream.split_at(length);
        let (seed, layers) = (header::seed(head), header.layers);
        let (device, coder) = (Device::cpu(), None);
        let (most, work, region) = (u128::MAX, None, None);
        Ok(Decoder { header, stream, packets, seed, most, work, layers, region, device, coder })
    }

    /// Limits decoding to the first quality layers. All are decoded by default.
    ///
    /// # Errors
    /// If `layers` is 0, or more than the stream has.
    pub fn layers(mut self, layers: u32) -> Result<Self, CodecError> {
        if !(1..=self.header.layers).contains(&layers) {
            return Err(CodecError::NoSuchLayer { asked: layers, layers: self.header.layers });
        }
        self.layers = layers;
        Ok(self)
    }

    /// Limits decoding to a part of the picture and the codeblocks it depends on.
    ///
    /// The region counts pixels at full size. Level `l` yields rows ⌊y/2^l⌋ to ⌈(y + height)/2^l⌉ − 1, and columns
    /// likewise. Memory is allocated for the tiles that the region touches.
    ///
    /// # Errors
    /// If the region is empty or exceeds the picture.
    pub fn region(mut self, region: Region) -> Result<Self, CodecError> {
        Window::new(&self.header, Some(region))?;
        self.region = Some(region);
        Ok(self)
    }

    /// Refuses pictures of more samples than this. For a region, the tiles that it touches count.
    pub fn at_most(mut self, samples: u128) -> Self {
        self.most = samples;
        self
    }

    /// Replaces the limit of the inverse transform's operations: samples, times taps and updates of both axes. The
    /// usual one bounds wavelets of more than 512 operations a sample, in proportion to the stream.
    pub fn at_most_work(mut self, operations: u128) -> Self {
        self.work = Some(operations);
        self
    }

    /// Moves block decoding and the inverse transform to a CUDA device; the processor is the default. The samples are
    /// the same. Pictures with incomplete blocks, or with more than 16 bitplanes, always decode on the processor.
    ///
    /// # Errors
    /// If the device cannot run kernels.
    pub fn on(mut self, device: &Device) -> Result<Self, CodecError> {
        self.coder = BlockCoder::new(device, self.header.order)?;
        self.device = device.clone();
        Ok(self)
    }

    /// The stream's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Length of the header, in bytes.
    pub fn header_length(&self) -> usize {
        self.stream.len() - self.packets.len()
    }

    /// Decodes the picture at a level: 0 is full size, and each further level halves height and width. Coefficients
    /// missing from a truncated stream are 0.
    ///
    /// # Errors
    /// If the stream has fewer levels, or is corrupted.
    pub fn decode(&self, level: u32) -> Result<Picture, CodecError> {
        let Header { levels, .. } = self.header;
        if level > levels {
            return Err(CodecError::NoSuchLevel { level, levels });
        }
        let window = Window::new(&self.header, self.region)?;
        let samples = window.shape[0] as u128 * window.shape[1] as u128 * self.header.components as u128;
        if samples > self.most {
            return Err(CodecError::TooLarge { samples, most: self.most });
        }
        budget::check(&self.header.scheme, samples, self.stream.len(), self.work)?;
        let is_whole = level == 0 && self.region.is_none() && self.header.layers == 1;
        if self.coder.is_some() && is_whole {
            match self.on_device(&self.device, 1, self.stream.len()) {
                Ok(mut decoder) => return decoder.decode_one(self.stream),
                Err(CodecError::NotOnDevice { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        match self.header.scheme.domain() {
            Domain::Integer => self.decode_as::<i32>(level, &window),
            Domain::Real => self.decode_as::<f32>(level, &window),
        }
    }

    /// Contents of the complete packets.
    ///
    /// # Errors
    /// If the stream is corrupted.
    pub fn packets(&self) -> Result<Vec<PacketInfo>, CodecError> {
        match self.header.scheme.domain() {
            Domain::Integer => self.packets_as::<i32>(),
            Domain::Real => self.packets_as::<f32>(),
        }
    }

    fn packets_as<T: Lane>(&self) -> Result<Vec<PacketInfo>, CodecError> {
        let Header { levels, layers, .. } = self.header;
        let window = Window::new(&self.header, None)?;
        let transform = self.transform::<T>(&window, &Device::cpu())?;
        let mut infos = Vec::new();
        self.walk(&transform, &window, levels, layers, |id, blocks, packet| {
            if let packet::Packet { length: Some(bytes), begun, raw } = packet {
                infos.push(PacketInfo { id, bytes, blocks, begun, raw });
            }
        })?;
        Ok(infos)
    }

    fn transform<T: Lane>(&self, window: &Window, device: &Device) -> Result<Transform<T>, CodecError> {
        let Header { levels, tile, .. } = self.header;
        let tile = [0, 1].map(|axis| tile[axis].min(window.shape[axis]));
        Transform::new(&self.header.scheme, window.shape, tile, levels, device)
    }

    /// Reads the packets of a window up to a resolution and a layer. Returns whether all of them are present.
    fn walk<T: Lane>(
        &self,
        transform: &Transform<T>,
        window: &Window,
        resolution: u32,
        layers: u32,
        mut each: impl FnMut(PacketId, usize, packet::Packet),
    ) -> Result<(Vec<Part<'a>>, bool), CodecError> {
        let Header { components, block, order, levels, .. } = self.header;
        let mut parts: Vec<Part<'a>> = Vec::new();
        let mut rest = self.packets;
        let tiles = self.header.tiles().iter().product();
        let last = PacketId { layer: layers - 1, resolution, tile: window.last() };
        // The packets of a window have the same order in every layer.
        let mut at = 0;
        for (number, id) in (0..).zip(PacketId::all(self.header.layers, levels, tiles)) {
            if id.resolution == 0 && id.tile == 0 {
                at = 0;
            }
            let length = match window.tile(id.tile).filter(|_| id.resolution <= resolution) {
                Some(tile) => {
                    if id.layer == 0 {
                        let places = places(&transform.tiles.bands(tile), components, id.resolution, block, order);
                        parts.push(Part { tile, places, blocks: Vec::new() });
                    }
                    let Part { places, blocks, .. } = &mut parts[at];
                    let packet = packet::read(rest, places, blocks, id, self.seed.wrapping_add(number))?;
                    each(id, places.len(), packet);
                    at += 1;
                    packet.length
                }
                None => packet::length(rest),
            };
            let Some(length) = length else { return Ok((parts, false)) };
            rest = &rest[length..];
            if id == last {
                break;
            }
        }
        if last == (PacketId { layer: self.header.layers - 1, resolution: levels, tile: tiles - 1 }) && !rest.is_empty()
        {
            return Err(CodecError::Behind { bytes: rest.len() });
        }
        Ok((parts, true))
    }

    fn decode_as<T: Lane>(&self, level: u32, window: &Window) -> Result<Picture, CodecError> {
        let Header { components, levels, .. } = self.header;
        let transform = self.transform::<T>(window, &self.device)?;
        let (parts, complete) = self.walk(&transform, window, levels - level, self.layers, |_, _, _| {})?;
        let mut blocks: Vec<(&BlockPlace, &Held<'_>)> = Vec::new();
        for Part { tile, places, blocks: held } in &parts {
            let bands = self.region.map(|_| transform.tiles.bands(*tile));
            let needs = |place: &BlockPlace| match &bands {
                Some(bands) => window.needs(&self.header.scheme, *tile, &bands[place.band], place, level),
                None => true,
            };
            blocks.extend(places.iter().zip(held).filter(|(place, held)| !held.is_empty() && needs(place)));
        }
        let each = window.shape[0] * window.shape[1];
        let planes = match &self.coder {
            Some(coder) => self.decode_on(coder, &transform, &blocks, level, each)?,
            None => None,
        };
        let planes = match planes {
            Some(planes) => planes,
            None => {
                let mut planes = planes_of::<T>(components, each)?;
                for some in blocks.chunks(AT_ONCE * threads::available()) {
                    let decoded = threads::map(some, |(place, held)| self.block(place, held));
                    for ((place, _), decoded) in some.iter().zip(decoded) {
                        self.scatter(place, &decoded?, &mut planes[place.component]);
                    }
                }
                planes
            }
        };
        let image = transform.synthesise(&self.header, &planes, level)?;
        let image = if self.region.is_some() { image.part(window.at_level(level))? } else { image };
        Ok(Picture { image, complete })
    }

    /// Dequantises a block and writes its coefficients to their places.
    fn scatter<T: Lane>(&self, place: &BlockPlace, decoded: &Decoded, plane: &mut [T]) {
        let Decoded { magnitudes, negative, unknown } = decoded;
        let quantiser = self.header.quantiser(place.component, place.band);
        let values = magnitudes.iter().zip(negative);
        if quantiser == Quantiser::NONE && unknown.iter().all(|n| *n == 0) {
            // Exact values. The magnitude 2^31 belongs to a negative coefficient only.
            let value = |(&m, &n): (&u32, &bool)| if n { (m as i32).wrapping_neg() } else { m as i32 };
            place.scatter(values.map(value).map(T::exact), plane);
        } else {
            let value = |((&m, &n), &unknown): ((&u32, &bool), &u8)| T::near(quantiser.coefficient(m, n, unknown));
            place.scatter(values.zip(unknown).map(value), plane);
        }
    }

    /// Decodes the coefficients of each component on a device; `None` if the processor has to.
    fn decode_on<T: Lane>(
        &self,
        coder: &BlockCoder,
        transform: &Transform<T>,
        blocks: &[(&BlockPlace, &Held<'_>)],
        level: u32,
        each: usize,
    ) -> Result<Option<Vec<Vec<T>>>, CodecError> {
        let Header { components, levels, .. } = self.header;
        let Some(indices) = coder.decode(components, each, self.header.tables(), blocks)? else { return Ok(None) };
        let mut planes = planes_of::<T>(components, each)?;
        for (component, (plane, indices)) in planes.iter_mut().zip(indices).enumerate() {
            let tiles = (0..transform.tiles.count()).map(|tile| transform.tiles.bands(tile));
            let bands = tiles.flat_map(|bands| bands.into_iter().enumerate());
            for (i, band) in bands.filter(|(_, band)| band.resolution <= levels - level) {
                let quantiser = self.header.quantiser(component, i);
                for row in (0..band.shape[0]).map(|y| band.start + y * band.stride) {
                    let row = row..row + band.shape[1];
                    for (to, &q) in plane[row.clone()].iter_mut().zip(&indices[row]) {
                        *to = match quantiser {
                            Quantiser::NONE => T::exact(q),
                            quantiser => T::near(quantiser.coefficient(q.unsigned_abs(), q < 0, 0)),
                        };
                    }
                }
            }
        }
        Ok(Some(planes))
    }

    /// Decodes one block.
    fn block(&self, place: &BlockPlace, held: &Held<'_>) -> Result<Decoded, BlockError> {
        let words: Vec<u16> = held.words().collect();
        block::decode(place.shape, held.planes, held.mode, &words, held.complete, self.header.tables())
    }
}

/// Coefficients of each component, all 0.
fn planes_of<T: Lane>(components: usize, each: usize) -> Result<Vec<Vec<T>>, CodecError> {
    (0..components).map(|_| budget::zeros(each, "coefficients")).collect()
}
