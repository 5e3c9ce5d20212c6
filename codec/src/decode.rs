//! Bytes to pictures.

use crate::bands::{Place, places};
use crate::block::{self, BlockError, Decoded};
use crate::device::BlockCoder;
use crate::error::CodecError;
use crate::header::{self, Header};
use crate::image::Image;
use crate::lane::{Lane, Transform};
use crate::packet::{self, Entry, Words};
use crate::parallel;
use crate::quantise::Quantiser;
use lifting::{Device, Domain};
use std::sync::Arc;

/// Samples that a stream may always promise, however short it is.
const SMALL: u128 = 1 << 16;

/// Samples that each byte of a stream may stand for: a codeblock of zeros has one byte.
const PROPORTION: u128 = (block::MAX_SIDE * block::MAX_SIDE) as u128;

/// So many blocks are decoded at once, before their coefficients take their places.
const AT_ONCE: usize = 256;

/// A stream whose header has been read.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    header: Header,
    /// What is behind the header.
    packets: &'a [u8],
    seed: u64,
    length: usize,
    most: u128,
    device: Device,
    coder: Option<Arc<BlockCoder>>,
}

/// A picture out of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The picture.
    pub image: Image,
    /// Whether the stream had all of it; else it has been cut, and what is missing was taken as 0.
    pub complete: bool,
}

/// What a packet of a stream holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// The resolution, 0 for the low band.
    pub resolution: u32,
    /// Bytes, checksums included.
    pub bytes: usize,
    /// Codeblocks.
    pub blocks: usize,
    /// Codeblocks in which all is 0.
    pub empty: usize,
    /// Codeblocks that stand as they are.
    pub raw: usize,
}

/// The whole picture of a stream that has all of it.
///
/// # Errors
/// If it is no stream, has been cut, or is broken.
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
    /// If there is none, it is broken, or promises a picture that so short a stream cannot hold.
    pub fn new(stream: &'a [u8]) -> Result<Decoder<'a>, CodecError> {
        let (header, length) = Header::read(stream)?;
        let samples = header.samples();
        if samples > SMALL + PROPORTION * stream.len() as u128 {
            return Err(CodecError::Disproportionate { bytes: stream.len(), samples });
        }
        let (head, packets) = stream.split_at(length);
        let (seed, length) = (header::seed(head), stream.len());
        Ok(Decoder { header, packets, seed, length, most: u128::MAX, device: Device::cpu(), coder: None })
    }

    /// Refuses pictures of more samples than that.
    pub fn at_most(mut self, samples: u128) -> Self {
        self.most = samples;
        self
    }

    /// Takes the blocks and the inverse transform to a device: the processor, if nothing is said, or a CUDA device. The
    /// samples are the same. What was cut, and blocks of more than 16 bitplanes, are the processor's in any case.
    ///
    /// # Errors
    /// If the device runs no kernels.
    pub fn on(mut self, device: &Device) -> Result<Self, CodecError> {
        self.coder = BlockCoder::new(device, self.header.passes)?;
        self.device = device.clone();
        Ok(self)
    }

    /// What the header says.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes of the header.
    pub fn header_length(&self) -> usize {
        self.length - self.packets.len()
    }

    /// Decodes the picture at a level: 0 is full size, each further one half as high and wide. What a stream that has
    /// been cut does not have is taken as 0.
    ///
    /// # Errors
    /// If there is no such level, or the stream is broken.
    pub fn decode(&self, level: u32) -> Result<Picture, CodecError> {
        let Header { levels, .. } = self.header;
        if level > levels {
            return Err(CodecError::NoSuchLevel { level, levels });
        }
        let samples = self.header.samples();
        if samples > self.most {
            return Err(CodecError::TooLarge { samples, most: self.most });
        }
        match self.header.scheme.domain() {
            Domain::Integer => self.decode_as::<i32>(level),
            Domain::Real => self.decode_as::<f32>(level),
        }
    }

    /// What the packets hold, as far as they are whole.
    ///
    /// # Errors
    /// If the stream is broken.
    pub fn packets(&self) -> Result<Vec<PacketInfo>, CodecError> {
        match self.header.scheme.domain() {
            Domain::Integer => self.packets_as::<i32>(),
            Domain::Real => self.packets_as::<f32>(),
        }
    }

    fn packets_as<T: Lane>(&self) -> Result<Vec<PacketInfo>, CodecError> {
        let transform = self.transform::<T>(&Device::cpu())?;
        let mut infos = Vec::new();
        self.walk(&transform, self.header.levels, |resolution, _, packet| {
            if let Some(bytes) = packet.length {
                let count = |which: &dyn Fn(&Entry) -> bool| packet.blocks.iter().filter(|(e, _)| which(e)).count();
                infos.push(PacketInfo {
                    resolution,
                    bytes,
                    blocks: packet.blocks.len(),
                    empty: count(&|entry| entry.planes == 0),
                    raw: count(&|entry| entry.planes > 0 && entry.mode == block::Mode::Raw),
                });
            }
            Ok(())
        })?;
        Ok(infos)
    }

    fn transform<T: Lane>(&self, device: &Device) -> Result<Transform<T>, CodecError> {
        let Header { height, width, levels, .. } = self.header;
        Transform::new(&self.header.scheme, [height, width], levels, device)
    }

    /// Goes through the packets up to a resolution; whether all of them are there.
    fn walk<T: Lane>(
        &self,
        transform: &Transform<T>,
        last: u32,
        mut each: impl FnMut(u32, &[Place], packet::Packet<'_>) -> Result<(), CodecError>,
    ) -> Result<bool, CodecError> {
        let Header { components, block, passes, levels, .. } = self.header;
        let mut rest = self.packets;
        for resolution in 0..=last {
            let places = places(&transform.bands, components, resolution, block, passes);
            let Some(packet) = packet::read(rest, &places, self.seed, resolution)? else { return Ok(false) };
            let length = packet.length;
            each(resolution, &places, packet)?;
            let Some(length) = length else { return Ok(false) };
            rest = &rest[length..];
        }
        if last == levels && !rest.is_empty() {
            return Err(CodecError::Behind { bytes: rest.len() });
        }
        Ok(true)
    }

    fn decode_as<T: Lane>(&self, level: u32) -> Result<Picture, CodecError> {
        let Header { height, width, components, levels, .. } = self.header;
        let transform = self.transform::<T>(&self.device)?;
        if let Some(coder) = &self.coder
            && let Some(picture) = self.decode_on(coder, &transform, level)?
        {
            return Ok(picture);
        }
        let mut planes = vec![vec![T::default(); height * width]; components];
        let complete = self.walk(&transform, levels - level, |_, places, packet| {
            let all: Vec<(&Place, &(Entry, Words<'_>))> = places.iter().zip(&packet.blocks).collect();
            for some in all.chunks(AT_ONCE) {
                let decoded = parallel::map(some, |(place, (entry, words))| self.block(place, entry, *words));
                for ((place, _), decoded) in some.iter().zip(decoded) {
                    let Some(Decoded { magnitudes, negative, unknown }) = decoded? else { continue };
                    let quantiser = self.header.quantiser(place.component, place.band);
                    if quantiser == Quantiser::NONE && unknown.iter().all(|n| *n == 0) {
                        // As they are: 2^31 is the magnitude of a negative one only.
                        let value = |(&m, &n): (&u32, &bool)| if n { (m as i32).wrapping_neg() } else { m as i32 };
                        let values = magnitudes.iter().zip(&negative).map(value).map(T::exact);
                        place.scatter(values, &mut planes[place.component]);
                        continue;
                    }
                    let values = magnitudes.iter().zip(&negative).zip(&unknown);
                    let values = values.map(|((&m, &n), &unknown)| T::near(quantiser.coefficient(m, n, unknown)));
                    place.scatter(values, &mut planes[place.component]);
                }
            }
            Ok(())
        })?;
        Ok(Picture { image: transform.synthesise(&self.header, &planes, level)?, complete })
    }

    /// A picture whose blocks a device decodes; `None` if it leaves them to the processor.
    fn decode_on<T: Lane>(
        &self,
        coder: &BlockCoder,
        transform: &Transform<T>,
        level: u32,
    ) -> Result<Option<Picture>, CodecError> {
        let Header { height, width, components, levels, .. } = self.header;
        let Some(mut decoding) = coder.decoding(components, height * width, self.header.tables())? else {
            return Ok(None);
        };
        let mut all = true;
        let complete = self.walk(transform, levels - level, |_, places, packet| {
            all = all && packet.blocks.iter().all(|(_, words)| words.complete);
            all = all && decoding.packet(places, &packet.blocks)?;
            Ok(())
        })?;
        if !all {
            return Ok(None);
        }
        let mut planes = vec![vec![T::default(); height * width]; components];
        for (component, (plane, indices)) in planes.iter_mut().zip(decoding.finish()?).enumerate() {
            for (i, band) in transform.bands.iter().enumerate().filter(|(_, band)| band.resolution <= levels - level) {
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
        Ok(Some(Picture { image: transform.synthesise(&self.header, &planes, level)?, complete }))
    }

    /// A block; `None` if it is all zeros, or nothing of it is there.
    fn block(&self, place: &Place, entry: &Entry, words: Words<'_>) -> Result<Option<Decoded>, BlockError> {
        if entry.planes == 0 || words.is_missing() {
            return Ok(None);
        }
        let tables = self.header.tables();
        block::decode(place.shape, entry.planes, entry.mode, &words.to_vec(), words.complete, tables).map(Some)
    }
}
