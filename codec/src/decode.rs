//! Decoder: streams to pictures.

use crate::bands::{Band, BlockPlace, places};
use crate::block::{self, BlockError, Decoded};
use crate::budget;
use crate::deflate::{self, DEFLATED};
use crate::device::BlockCoder;
use crate::error::CodecError;
use crate::format::Format;
use crate::header::{self, Header};
use crate::image::Image;
use crate::index;
use crate::lane::{Lane, Transform};
use crate::metadata::Metadata;
use crate::packet::{self, Held, LENGTH, PacketId};
use crate::quantise::Quantiser;
use crate::source::{ReadAt, Source, unread};
use crate::window::{Region, Window};
use lifting::threads;
use lifting::{Device, Domain};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Samples that any stream may promise, however short it is.
pub const SMALL: u128 = 1 << 16;

/// Most samples per byte of a stream.
pub const PROPORTION: u128 = 1 << 18;

/// Most samples per byte of an old stream: a codeblock of zeros takes one byte.
const OLD_PROPORTION: u128 = (block::MAX_SIDE * block::MAX_SIDE) as u128;

/// Samples that any stream of one value may promise, however short it is.
pub const CONSTANT: u128 = 1 << 24;

/// Bytes that are read to find the header; most headers are shorter.
const BEGINNING: u64 = 4096;

/// Blocks decoded per thread before their coefficients are scattered. They still fit its cache.
const AT_ONCE: usize = 16;

/// A stream whose header has been read.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    header: Header,
    source: Source<'a>,
    /// Bytes of the header.
    head: usize,
    /// Bytes of the stream.
    length: u64,
    /// Place of the packets, as far as the stream has them.
    packets: Range<u64>,
    /// Bytes of each packet, if the stream has an index.
    index: Option<Arc<[u64]>>,
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
    places: Vec<BlockPlace>,
    blocks: Vec<Held<'a>>,
    /// Coefficients of a deflated packet.
    deflated: Option<Vec<u8>>,
}

/// Parts by resolution and by tile of a window.
type Parts<'a> = BTreeMap<(u32, usize), Part<'a>>;

/// Packets that a window needs.
struct Fetched<'a> {
    packets: Vec<(PacketId, Cow<'a, [u8]>)>,
    /// Whether the last one is whole; all others are.
    whole: bool,
    /// Whether the stream does not end before its end.
    complete: bool,
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
    /// Reads the header, and the index of packets if there is one.
    ///
    /// # Errors
    /// If the header is missing or corrupted, or promises more samples than a stream of this length can hold; if the
    /// index is corrupted.
    pub fn new(stream: &'a [u8]) -> Result<Decoder<'a>, CodecError> {
        let (header, head) = Header::read(stream)?;
        Decoder::of_header(Source::Bytes(stream), stream.len() as u64, (header, head, header::seed(&stream[..head])))
    }

    /// [`Decoder::new`] for streams with random access: reads only what a picture needs. A region of a stream with
    /// tiles takes the header, the index, and the packets of its tiles up to the level's resolution.
    ///
    /// ```
    /// use lifting_codec::{Codec, Decoder, Image, Region, Seekable};
    ///
    /// let samples = (0..200 * 300).map(|i| (i / 300 + i % 300) & 255).collect();
    /// let image = Image { height: 200, width: 300, components: 1, bits: 8, signed: false, samples };
    /// let codec = Codec::builder(&lifting::catalogue::find("legall53")?).tile(64, 64).build()?;
    /// let file = Seekable::new(std::io::Cursor::new(codec.encode(&image)?));
    /// let region = Region { y: 100, x: 20, height: 30, width: 40 };
    /// let part = Decoder::open(&file)?.region(region)?.decode(0)?.image;
    /// assert_eq!(part.samples[0], image.samples[100 * 300 + 20]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Decoder::new`], and if reading fails.
    pub fn open(reader: &'a impl ReadAt) -> Result<Decoder<'a>, CodecError> {
        let source = Source::At(reader);
        let length = reader.len().map_err(|e| unread(&e))?;
        let mut beginning = source.read(0..length.min(BEGINNING))?;
        if let Some(longer) = header::length(&beginning).filter(|&n| n > BEGINNING && n <= length) {
            beginning = source.read(0..longer)?;
        }
        let (header, head) = Header::read(&beginning)?;
        Decoder::of_header(source, length, (header, head, header::seed(&beginning[..head])))
    }

    fn of_header(source: Source<'a>, length: u64, head: (Header, usize, u64)) -> Result<Decoder<'a>, CodecError> {
        let (header, head, seed) = head;
        let (samples, bytes) = (header.samples(), u128::from(length));
        let small = if header.only().is_some() { CONSTANT } else { SMALL };
        let proportion = if header.version == header::OLDEST { OLD_PROPORTION } else { PROPORTION };
        if samples > small + proportion * bytes {
            return Err(CodecError::Disproportionate { bytes: length as usize, samples });
        }
        let start = length.min((head + header.sections) as u64);
        let (mut packets, mut index) = (start..length, None);
        let foot = source.read(length.saturating_sub(index::FOOT as u64).max(start)..length)?;
        let of_index = index::length(&foot).and_then(|n| length.checked_sub(n)).filter(|&end| end >= start);
        if let Some(end) = of_index.filter(|_| header.version != header::OLDEST) {
            let bytes = source.read(end..length)?;
            index = Some(index::read(&bytes, seed, header.packets(), end - start)?.into());
            packets.end = end;
        }
        let (device, coder, layers) = (Device::cpu(), None, header.layers);
        let (most, work, region) = (u128::MAX, None, None);
        Ok(Decoder { header, source, head, length, packets, index, seed, most, work, layers, region, device, coder })
    }

    /// A stream up to its index of packets, if it has one.
    pub(crate) fn without_index(stream: &[u8]) -> &[u8] {
        let end = index::length(stream).and_then(|length| (stream.len() as u64).checked_sub(length));
        end.map_or(stream, |end| &stream[..end as usize])
    }

    /// A whole stream of a device, with an index of packets if encoders add one.
    pub(crate) fn indexed(mut stream: Vec<u8>) -> Result<Vec<u8>, CodecError> {
        let decoder = Decoder::new(&stream)?;
        if !decoder.header.is_indexed() || decoder.index.is_some() {
            return Ok(stream);
        }
        let (mut at, mut lengths) = (decoder.packets.start, Vec::new());
        while let Some(length) = decoder.length_at(at)? {
            lengths.push(length);
            at += length;
        }
        let seed = decoder.seed;
        index::write(&lengths, seed, &mut stream);
        Ok(stream)
    }

    /// Metadata of the picture. Samples are decoded without it.
    ///
    /// # Errors
    /// If it is corrupted or cut short.
    pub fn metadata(&self) -> Result<Metadata, CodecError> {
        let begin = self.head as u64;
        if self.packets.start - begin < self.header.sections as u64 {
            return Err(CodecError::Cut { bytes: self.length as usize });
        }
        Metadata::read(&self.source.read(begin..self.packets.start)?)
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
    /// Kernels and memory stay for the next stream of the same kind, until
    /// [`release_device_memory`](crate::release_device_memory) frees them.
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
        self.head
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
        if let Some(only) = self.header.only() {
            return self.constant(only, window.at_level(level).map(|axis| axis.len()));
        }
        budget::check(&self.header.scheme, samples, self.length as usize, self.work)?;
        // Coefficients, samples of planes, and samples of pixels; a region is copied.
        let copies = 4 + if self.header.components > 1 || self.region.is_some() { 4 } else { 0 };
        budget::check_memory(samples * 4 + (samples >> (2 * level)) * copies, "the picture's coefficients")?;
        let picture = match self.whole_on_device(level) {
            Some(picture) => picture,
            None => match self.header.scheme.domain() {
                Domain::Integer => self.decode_as::<i32>(level, &window),
                Domain::Real => self.decode_as::<f32>(level, &window),
            },
        }?;
        Ok(match &self.header.values {
            Some(values) => Picture { image: values.restore(picture.image), ..picture },
            None => picture,
        })
    }

    /// Decodes the whole picture on the device; `None` if the processor has to.
    fn whole_on_device(&self, level: u32) -> Option<Result<Picture, CodecError>> {
        let is_whole = level == 0 && self.region.is_none() && self.header.layers == 1;
        let Source::Bytes(stream) = self.source else { return None };
        if self.coder.is_none() || !is_whole {
            return None;
        }
        match self.decode_on_device(&self.device, stream) {
            Err(CodecError::NotOnDevice { .. }) => None,
            done => Some(done),
        }
    }

    /// Picture of equal samples.
    fn constant(&self, sample: i32, [height, width]: [usize; 2]) -> Result<Picture, CodecError> {
        if !self.packets.is_empty() {
            return Err(CodecError::Behind { bytes: (self.packets.end - self.packets.start) as usize });
        }
        let Format { components, bits, signed, .. } = self.header.format();
        let mut samples: Vec<i32> = budget::zeros(height * width * components, "samples")?;
        samples.fill(sample);
        // A stream that is cut within its metadata has all samples.
        Ok(Picture { image: Image { height, width, components, bits, signed, samples }, complete: true })
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
        let fetched = self.fetch(&window, levels, layers)?;
        self.walk(&transform, &window, &fetched, |id, blocks, packet| {
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

    /// Length of the packet at a place, in bytes; `None` if the stream ends within it.
    fn length_at(&self, at: u64) -> Result<Option<u64>, CodecError> {
        let left = self.packets.end - at;
        if left < LENGTH as u64 {
            return Ok(None);
        }
        let field = self.source.read(at..at + LENGTH as u64)?;
        let field = field.first_chunk().map_or(0, |field| u32::from_le_bytes(*field));
        let length = LENGTH as u64 + u64::from(if self.may_be_deflated() { field & !DEFLATED } else { field });
        Ok((length <= left).then_some(length))
    }

    /// Whether packets may be deflated.
    fn may_be_deflated(&self) -> bool {
        self.header.version != header::OLDEST && self.header.layers == 1
    }

    /// Reads the packets of a window up to a resolution and a layer.
    fn fetch(&self, window: &Window, resolution: u32, layers: u32) -> Result<Fetched<'a>, CodecError> {
        let mut wanted = window.count() as u128 * u128::from(resolution + 1) * u128::from(layers);
        let mut ids = PacketId::of_stream(&self.header);
        let mut lengths = self.index.iter().flat_map(|index| index.iter());
        let (mut at, mut whole, mut complete) = (self.packets.start, true, true);
        let mut found: Vec<(PacketId, Range<u64>)> = Vec::new();
        let mut walked = Vec::new();
        while wanted > 0 {
            let Some(id) = ids.next() else { break };
            let length = match lengths.next() {
                Some(&length) => Some(length),
                None => self.length_at(at)?,
            };
            let end = length.map_or(self.packets.end, |length| at + length);
            let is_wanted = id.layer < layers && id.resolution <= resolution && window.tile(id.tile).is_some();
            if is_wanted {
                found.push((id, at..end));
                wanted -= 1;
            }
            at = end;
            complete = length.is_some();
            whole = complete || !is_wanted;
            walked.extend(length.filter(|_| self.index.is_none()));
            if !complete {
                break;
            }
        }
        if complete && at < self.packets.end && ids.next().is_none() {
            // A stream that is cut in its index has all packets.
            let mut whole = Vec::new();
            index::write(&walked, self.seed, &mut whole);
            let rest = self.source.read(at..self.packets.end.min(at + whole.len() as u64))?;
            if !whole.starts_with(&rest) || self.packets.end - at >= whole.len() as u64 {
                return Err(CodecError::Behind { bytes: (self.packets.end - at) as usize });
            }
            complete = false;
        }
        let mut packets = Vec::new();
        // Neighbours are read at once.
        for run in found.chunk_by(|a, b| a.1.end == b.1.start) {
            let (first, last) = (run[0].1.start, run[run.len() - 1].1.end);
            let bytes = self.source.read(first..last)?;
            for (id, range) in run {
                let range = (range.start - first) as usize..(range.end - first) as usize;
                packets.push((
                    *id,
                    match &bytes {
                        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[range]),
                        Cow::Owned(bytes) => Cow::Owned(bytes[range].to_vec()),
                    },
                ));
            }
        }
        Ok(Fetched { packets, whole, complete })
    }

    /// Parses the packets of a window. Returns also whether all of them are whole.
    fn walk<'b, T: Lane>(
        &self,
        transform: &Transform<T>,
        window: &Window,
        fetched: &'b Fetched<'_>,
        mut each: impl FnMut(PacketId, usize, packet::Packet),
    ) -> Result<(Parts<'b>, bool), CodecError> {
        let Header { components, block, order, .. } = self.header;
        let mut parts = Parts::new();
        for (i, (id, bytes)) in fetched.packets.iter().enumerate() {
            let Some(tile) = window.tile(id.tile) else { continue };
            let bands = transform.tiles.bands(tile);
            let part = parts.entry((id.resolution, tile)).or_insert_with(|| Part {
                places: places(&bands, components, id.resolution, block, order),
                blocks: Vec::new(),
                deflated: None,
            });
            let Part { places, blocks, deflated } = part;
            let seed = self.seed.wrapping_add(id.number(&self.header));
            if self.may_be_deflated() && deflate::is_deflated(bytes) {
                // A packet that is cut has nothing.
                if fetched.whole || i + 1 < fetched.packets.len() {
                    let of_bands = deflate::bands(&bands, id.resolution).map(|band| band.shape[0] * band.shape[1]);
                    let count = components * of_bands.sum::<usize>();
                    *deflated = Some(deflate::read(bytes, count, *id, seed)?);
                    let packet = packet::Packet { length: Some(bytes.len()), begun: places.len(), raw: 0 };
                    each(*id, places.len(), packet);
                }
                continue;
            }
            let packet = packet::read(bytes, places, blocks, *id, seed)?;
            each(*id, places.len(), packet);
            let is_whole = fetched.whole || i + 1 < fetched.packets.len();
            if is_whole && packet.length != Some(bytes.len()) {
                let why = "its entries exceed its length".to_owned();
                return Err(CodecError::Index { packet: id.to_string(), why });
            }
        }
        Ok((parts, fetched.complete))
    }

    fn decode_as<T: Lane>(&self, level: u32, window: &Window) -> Result<Picture, CodecError> {
        let Header { components, levels, .. } = self.header;
        let transform = self.transform::<T>(window, &self.device)?;
        let fetched = self.fetch(window, levels - level, self.layers)?;
        let (parts, complete) = self.walk(&transform, window, &fetched, |_, _, _| {})?;
        let mut blocks: Vec<(&BlockPlace, &Held<'_>)> = Vec::new();
        for ((_, tile), Part { places, blocks: held, .. }) in &parts {
            let bands = self.region.map(|_| transform.tiles.bands(*tile));
            let needs = |place: &BlockPlace| match &bands {
                Some(bands) => window.needs(&self.header.scheme, *tile, &bands[place.band], place, level),
                None => true,
            };
            blocks.extend(places.iter().zip(held).filter(|(place, held)| !held.is_empty() && needs(place)));
        }
        let each = window.shape[0] * window.shape[1];
        let is_deflated = parts.values().any(|part| part.deflated.is_some());
        let planes = match &self.coder {
            Some(coder) if !is_deflated => self.decode_on(coder, &transform, &blocks, level, each)?,
            _ => None,
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
                for ((resolution, tile), part) in &parts {
                    if let Some(bytes) = &part.deflated {
                        self.scatter_deflated(bytes, &transform.tiles.bands(*tile), *resolution, &mut planes);
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

    /// Dequantises the coefficients of a deflated packet and writes them to their places.
    fn scatter_deflated<T: Lane>(&self, bytes: &[u8], tile: &[Band], resolution: u32, planes: &mut [Vec<T>]) {
        let of_bands = deflate::bands(tile, resolution).map(|band| band.shape[0] * band.shape[1]);
        let mut values = deflate::values(bytes, planes.len() * of_bands.sum::<usize>());
        for (component, plane) in planes.iter_mut().enumerate() {
            for (i, band) in tile.iter().enumerate().filter(|(_, band)| band.resolution == resolution) {
                let quantiser = self.header.quantiser(component, i);
                for y in 0..band.shape[0] {
                    let row = &mut plane[band.start + y * band.stride..][..band.shape[1]];
                    row.iter_mut().zip(&mut values).for_each(|(to, q)| {
                        *to = match quantiser {
                            Quantiser::NONE => T::exact(q),
                            quantiser => T::near(quantiser.coefficient(q.unsigned_abs(), q < 0, 0)),
                        };
                    });
                }
            }
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
