//! Reading of codestreams: headers, and the bytes of each tile.

use super::*;
use crate::error::Error;
use crate::image::MAX_BITS;
use std::borrow::Cow;

/// Codestream with parsed headers.
#[derive(Clone, Debug)]
pub struct Codestream<'a> {
    /// Size of the picture.
    pub size: Size,
    /// Parameters of the main header.
    pub parameters: Parameters,
    /// The tiles whose parts are in the data, by index.
    pub tiles: BTreeMap<u32, TileStream<'a>>,
    /// Comments (COM): text, or the number of bytes of binary ones.
    pub comments: Vec<Result<String, usize>>,
    /// All marker segments.
    pub markers: Vec<Marker>,
    /// Whether the data ends with EOC. Without it, tiles may be missing or cut.
    pub complete: bool,
}

/// Packets of a tile, with the parameters that its headers replace.
#[derive(Clone, Debug, Default)]
pub struct TileStream<'a> {
    /// Parameters of the tile-part headers.
    pub parameters: Parameters,
    /// Bytes after SOD of each tile-part, with their position in the data.
    pub parts: Vec<(usize, &'a [u8])>,
    /// Packet headers of PPM or PPT segments; `None` if each packet has its header.
    pub headers: Option<Cow<'a, [u8]>>,
}

/// Cursor over a codestream. Numbers are big-endian.
struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn broken<T>(&self, what: impl Into<String>) -> Result<T, Error> {
        Err(Error::Broken { at: self.at, what: what.into() })
    }

    fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, Error> {
        Err(Error::Unsupported { at: self.at, what: what.into() })
    }

    fn left(&self) -> usize {
        self.data.len() - self.at
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        match self.data[self.at..].get(..count) {
            Some(bytes) => {
                self.at += count;
                Ok(bytes)
            }
            None => self.broken(format!("{count} bytes expected, {} left", self.left())),
        }
    }

    fn u8(&mut self) -> Result<u32, Error> {
        Ok(self.take(1)?[0].into())
    }

    fn u16(&mut self) -> Result<u16, Error> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from(self.u16()?) << 16 | u32::from(self.u16()?))
    }

    /// Parameters of a marker segment, after its length.
    fn segment(&mut self) -> Result<Reader<'a>, Error> {
        let length = usize::from(self.u16()?);
        if length < 2 {
            return self.broken(format!("a marker segment of {length} bytes"));
        }
        let start = self.at;
        self.take(length - 2)?;
        Ok(Reader { data: &self.data[..self.at], at: start })
    }

    fn rest(&mut self) -> &'a [u8] {
        let bytes = &self.data[self.at..];
        self.at = self.data.len();
        bytes
    }

    /// Index of a component: one byte, or two if there are more than 256.
    fn component(&mut self, components: usize) -> Result<usize, Error> {
        let index = if components < 257 { self.u8()? as usize } else { self.u16()?.into() };
        if index < components { Ok(index) } else { self.broken(format!("component {index} of {components}")) }
    }
}

impl<'a> Codestream<'a> {
    /// Parses the headers of a codestream. Data may be cut anywhere after the main header.
    ///
    /// # Errors
    /// [`Error::Signature`], [`Error::Broken`] or [`Error::Unsupported`].
    pub fn parse(data: &'a [u8]) -> Result<Codestream<'a>, Error> {
        let reader = Reader { data, at: 0 };
        if !data.starts_with(&[0xff, 0x4f, 0xff, 0x51]) {
            return Err(Error::Signature { found: data[..data.len().min(12)].to_vec() });
        }
        let mut parser = Parser { reader, stream: None, packed: BTreeMap::new(), queue: None };
        parser.main_header()?;
        parser.tile_parts()?;
        match parser.stream {
            Some(stream) => Ok(stream),
            None => Err(Error::Broken { at: 4, what: "no SIZ segment".into() }),
        }
    }
}

struct Parser<'a> {
    reader: Reader<'a>,
    /// `None` before SIZ.
    stream: Option<Codestream<'a>>,
    /// PPM segments by their index.
    packed: BTreeMap<u32, &'a [u8]>,
    /// Packed headers of the tile-parts, in the order of these.
    queue: Option<std::vec::IntoIter<Vec<u8>>>,
}

impl<'a> Parser<'a> {
    fn stream(&mut self) -> Result<&mut Codestream<'a>, Error> {
        let at = self.reader.at;
        self.stream.as_mut().ok_or_else(|| Error::Broken { at, what: "a marker segment before SIZ".into() })
    }

    /// Reads everything before the first tile-part.
    fn main_header(&mut self) -> Result<(), Error> {
        self.reader.at = 2;
        let mut markers = vec![Marker { at: 0, code: SOC, length: 0, tile: None }];
        loop {
            let at = self.reader.at;
            let code = self.reader.u16()?;
            if code == SOT || code == EOC {
                self.reader.at = at;
                break;
            }
            if !(0xff00..).contains(&code) {
                self.reader.at = at;
                return self.reader.broken(format!("a marker expected, {code:04x} found"));
            }
            // Markers without parameters.
            if (0xff30..0xff40).contains(&code) {
                continue;
            }
            let mut segment = self.reader.segment()?;
            markers.push(Marker { at, code, length: self.reader.at - at - 2, tile: None });
            self.main_segment(code, &mut segment)?;
        }
        let packed = std::mem::take(&mut self.packed);
        if !packed.is_empty() {
            self.queue = Some(self.unpack(packed)?.into_iter());
        }
        let at = self.reader.at;
        let stream = self.stream()?;
        stream.markers = markers;
        for (missing, name) in
            [(stream.parameters.order.is_none(), "COD"), (stream.parameters.quantisation.is_none(), "QCD")]
        {
            if missing {
                return Err(Error::Broken { at, what: format!("the main header has no {name} segment") });
            }
        }
        Ok(())
    }

    fn main_segment(&mut self, code: u16, segment: &mut Reader<'a>) -> Result<(), Error> {
        match code {
            SIZ if self.stream.is_none() => {
                let size = size(segment)?;
                self.stream = Some(Codestream {
                    size,
                    parameters: Parameters::default(),
                    tiles: BTreeMap::new(),
                    comments: Vec::new(),
                    markers: Vec::new(),
                    complete: false,
                });
            }
            SIZ => return segment.broken("a second SIZ segment"),
            PPM => {
                let index = segment.u8()?;
                self.packed.insert(index, segment.rest());
            }
            COM => {
                let is_text = segment.u16()? == 1;
                let bytes = segment.rest();
                // Latin-1.
                let text = || bytes.iter().map(|&b| char::from(b)).collect();
                let comment = if is_text { Ok(text()) } else { Err(bytes.len()) };
                self.stream()?.comments.push(comment);
            }
            CAP => capabilities(segment)?,
            CRG | TLM | PLM | CPF => {}
            _ => {
                let stream = self.stream()?;
                parameter(code, segment, stream.size.components.len(), &mut stream.parameters)?;
            }
        }
        Ok(())
    }

    /// Packet headers of each tile-part, from PPM segments (A.7.4).
    fn unpack(&self, packed: BTreeMap<u32, &'a [u8]>) -> Result<Vec<Vec<u8>>, Error> {
        let bytes = packed.into_values().collect::<Vec<_>>().concat();
        let mut reader = Reader { data: &bytes, at: 0 };
        let mut headers = Vec::new();
        while reader.left() > 0 {
            let part = reader.u32().and_then(|length| reader.take(length as usize));
            match part {
                Ok(part) => headers.push(part.to_vec()),
                Err(_) => return self.reader.broken("the PPM segments end within the headers of a tile-part"),
            }
        }
        Ok(headers)
    }

    /// Reads tile-parts up to EOC or the end of the data.
    fn tile_parts(&mut self) -> Result<(), Error> {
        // Two bytes may be what is left of a marker; less than an SOT segment cannot hold a tile-part.
        while self.reader.left() >= 2 {
            let start = self.reader.at;
            match self.reader.u16()? {
                EOC => {
                    let stream = self.stream()?;
                    stream.complete = true;
                    stream.markers.push(Marker { at: start, code: EOC, length: 0, tile: None });
                    return Ok(());
                }
                SOT => {}
                other => {
                    self.reader.at = start;
                    return self.reader.broken(format!("SOT or EOC expected, {other:04x} found"));
                }
            }
            if self.reader.left() < 10 || !self.tile_part(start)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads a tile-part, after its SOT marker; whether more may follow.
    fn tile_part(&mut self, start: usize) -> Result<bool, Error> {
        let mut segment = self.reader.segment()?;
        let tile = u32::from(segment.u16()?);
        let (length, _part, _parts) = (segment.u32()? as usize, segment.u8()?, segment.u8()?);
        let here = Marker { at: start, code: SOT, length: self.reader.at - start - 2, tile: Some(tile) };
        let stream = self.stream()?;
        stream.markers.push(here);
        let [columns, rows] = stream.size.tiles();
        if u64::from(tile) >= u64::from(columns) * u64::from(rows) {
            return segment.broken(format!("tile {tile} of {columns} × {rows}"));
        }
        let data = self.reader.data;
        // Length 0: up to EOC, which ends the data.
        let end = match length {
            0 if data.ends_with(&EOC.to_be_bytes()) => data.len() - 2,
            0 => data.len(),
            _ if length < 14 => return segment.broken(format!("a tile-part of {length} bytes")),
            _ => start.saturating_add(length).min(data.len()),
        };
        let Some(body) = self.tile_header(tile, end)? else { return Ok(false) };
        if self.reader.at > end {
            return self.reader.broken("a tile-part shorter than its header");
        }
        let headers = self.queue.as_mut().map(|queue| queue.next().unwrap_or_default());
        let tile = self.stream()?.tiles.entry(tile).or_default();
        tile.parts.push((body, &data[body..end]));
        if let Some(headers) = headers {
            tile.headers.get_or_insert_default().to_mut().extend(headers);
        }
        self.reader.at = end;
        Ok(true)
    }

    /// Reads the segments of a tile-part header; the position after SOD, or `None` if the data ends before.
    fn tile_header(&mut self, tile: u32, end: usize) -> Result<Option<usize>, Error> {
        // PPT segments by their index.
        let mut packed: BTreeMap<u32, &[u8]> = BTreeMap::new();
        loop {
            let at = self.reader.at;
            if self.reader.left() < 4 && self.reader.data.get(at..at + 2) != Some(&SOD.to_be_bytes()) {
                return Ok(None);
            }
            let code = self.reader.u16()?;
            let marker = |length| Marker { at, code, length, tile: Some(tile) };
            if code == SOD {
                self.stream()?.markers.push(marker(0));
                break;
            }
            if !(0xff00..).contains(&code) || at >= end {
                self.reader.at = at;
                return self.reader.broken(format!("a marker of a tile-part header expected, {code:04x} found"));
            }
            let left = self.reader.left();
            let announced = usize::from(u16::from_be_bytes([self.reader.data[at + 2], self.reader.data[at + 3]]));
            if announced > left {
                return Ok(None);
            }
            let mut segment = self.reader.segment()?;
            let length = self.reader.at - at - 2;
            let stream = self.stream()?;
            stream.markers.push(marker(length));
            let components = stream.size.components.len();
            match code {
                PPT => {
                    let index = segment.u8()?;
                    packed.insert(index, segment.rest());
                }
                PLT | COM => {}
                _ => {
                    let parameters = &mut stream.tiles.entry(tile).or_default().parameters;
                    parameter(code, &mut segment, components, parameters)?;
                }
            }
        }
        if !packed.is_empty() {
            let tile = self.stream()?.tiles.entry(tile).or_default();
            let headers = tile.headers.get_or_insert_default().to_mut();
            packed.into_values().for_each(|bytes| headers.extend_from_slice(bytes));
        }
        Ok(Some(self.reader.at))
    }
}

/// Reads SIZ (A.5.1).
fn size(r: &mut Reader<'_>) -> Result<Size, Error> {
    let profile = r.u16()?;
    let [x1, y1, x0, y0] = [r.u32()?, r.u32()?, r.u32()?, r.u32()?];
    let area = Rect { x0, y0, x1, y1 };
    let [width, height, tile_x, tile_y] = [r.u32()?, r.u32()?, r.u32()?, r.u32()?];
    let far = |start: u32, length: u32| start.saturating_add(length);
    let tile = Rect { x0: tile_x, y0: tile_y, x1: far(tile_x, width), y1: far(tile_y, height) };
    let first = tile.intersection(&area);
    if area.is_empty() || tile_x > x0 || tile_y > y0 || first.is_empty() {
        return r.broken(format!("a picture of {area} with a first tile of {tile}"));
    }
    let count = usize::from(r.u16()?);
    if !(1..=16384).contains(&count) {
        return r.broken(format!("{count} components; 1 to 16384 are allowed"));
    }
    let mut components = Vec::with_capacity(count);
    for _ in 0..count {
        let [format, dx, dy] = [r.u8()?, r.u8()?, r.u8()?];
        if dx == 0 || dy == 0 {
            return r.broken("a component without samples: its sampling is 0");
        }
        let (bits, signed) = ((format & 127) + 1, format & 128 != 0);
        if bits > MAX_BITS {
            return r.unsupported(format!("samples of {bits} bits; at most {MAX_BITS} are decoded"));
        }
        let place = area.divided(dx, dy);
        let (height, width) = (place.height(), place.width());
        components.push(Component { height, width, bits, signed, dx, dy, samples: Vec::new() });
    }
    let size = Size { profile, area, tile, components };
    let [columns, rows] = size.tiles();
    if u64::from(columns) * u64::from(rows) > 65535 {
        return r.broken(format!("{columns} × {rows} tiles; at most 65535 are allowed"));
    }
    Ok(size)
}

/// Checks CAP: parts other than 15 change how a stream decodes.
fn capabilities(r: &mut Reader<'_>) -> Result<(), Error> {
    let parts = r.u32()?;
    match parts & !(1 << (32 - 15)) {
        0 => Ok(()),
        others => r.unsupported(format!("capabilities {others:08x} of parts other than 1 and 15")),
    }
}

/// Reads a segment that both main and tile-part headers may have.
fn parameter(code: u16, r: &mut Reader<'_>, components: usize, to: &mut Parameters) -> Result<(), Error> {
    match code {
        COD => {
            let style = r.u8()?;
            let progression = r.u8()? as usize;
            let Some(&progression) = Progression::ALL.get(progression) else {
                return r.broken(format!("progression {progression}; 0 to 4 are allowed"));
            };
            let layers = u32::from(r.u16()?);
            if layers == 0 {
                return r.broken("no quality layers");
            }
            let colour = match r.u8()? {
                0 => false,
                1 => true,
                other => return r.unsupported(format!("component transform {other}")),
            };
            to.order = Some(Order { progression, layers, colour, sop: style & 2 != 0, eph: style & 4 != 0 });
            to.coding = Some(coding(r, style & 1 != 0)?);
        }
        COC => {
            let component = r.component(components)?;
            let precincts = r.u8()? & 1 != 0;
            to.coding_of.insert(component, coding(r, precincts)?);
        }
        QCD => to.quantisation = Some(quantisation(r)?),
        QCC => {
            let component = r.component(components)?;
            to.quantisation_of.insert(component, quantisation(r)?);
        }
        RGN => {
            let component = r.component(components)?;
            match r.u8()? {
                0 => to.shift_of.insert(component, r.u8()?),
                other => return r.unsupported(format!("region of interest of style {other}")),
            };
        }
        POC => {
            while r.left() > 0 {
                to.volumes.push(volume(r, components)?);
            }
        }
        _ => {
            if let Some((_, name)) = PART_2.iter().find(|(part_2, _)| *part_2 == code) {
                return r.unsupported(format!("{name}, an extension of Part 2"));
            }
        }
    }
    Ok(())
}

/// Reads the coding style of a component, SPcod or SPcoc (Table A.15).
fn coding(r: &mut Reader<'_>, has_precincts: bool) -> Result<Coding, Error> {
    let levels = r.u8()?;
    if levels > 32 {
        return r.broken(format!("{levels} decomposition levels; at most 32 are allowed"));
    }
    let block = [r.u8()? + 2, r.u8()? + 2];
    if block.iter().any(|&side| side > 10) || block[0] + block[1] > 12 {
        return r.broken(format!("codeblocks of 2^{} × 2^{}; at most 4096 samples are allowed", block[0], block[1]));
    }
    let style = r.u8()?;
    let coder = match style >> 6 {
        0 => Coder::Ebcot,
        1 => Coder::Ht,
        3 => return r.unsupported("codeblocks of both coders in one tile-component"),
        _ => return r.broken(format!("codeblock style {style:02x}")),
    };
    let wavelet = match r.u8()? {
        0 => Wavelet::Cdf97,
        1 => Wavelet::LeGall53,
        other => return r.unsupported(format!("wavelet {other} of Part 2")),
    };
    let mut precincts = Vec::new();
    for resolution in 0..if has_precincts { levels + 1 } else { 0 } {
        let sides = r.u8()?;
        let sides = [sides & 15, sides >> 4];
        if resolution > 0 && sides.contains(&0) {
            return r.broken(format!("precincts of one sample at resolution {resolution}"));
        }
        precincts.push(sides);
    }
    let flag = |bit: u32| style & (1 << bit) != 0;
    let style = Style {
        bypass: flag(0),
        reset: flag(1),
        terminate: flag(2),
        causal: flag(3),
        predictable: flag(4),
        segmentation: flag(5),
    };
    Ok(Coding { levels, block, style, coder, wavelet, precincts })
}

/// Reads a quantiser, Sqcd and SPqcd or those of QCC (Table A.27).
fn quantisation(r: &mut Reader<'_>) -> Result<Quantisation, Error> {
    let style = r.u8()?;
    let guard = style >> 5;
    let mut each = Vec::new();
    match style & 31 {
        0 => {
            let exponents = r.rest().iter().map(|&byte| u32::from(byte >> 3)).collect();
            return Ok(Quantisation { guard, steps: Steps::Reversible(exponents) });
        }
        1 | 2 => {
            while r.left() > 0 {
                let step = u32::from(r.u16()?);
                each.push([step >> 11, step & 0x7ff]);
            }
        }
        other => return r.broken(format!("quantiser style {other}")),
    }
    match each.first() {
        None => r.broken("a quantiser without steps"),
        Some(&first) if style & 31 == 1 => Ok(Quantisation { guard, steps: Steps::Derived(first) }),
        Some(_) => Ok(Quantisation { guard, steps: Steps::Each(each) }),
    }
}

/// Reads one change of progression (A.6.6).
fn volume(r: &mut Reader<'_>, components: usize) -> Result<Volume, Error> {
    let wide = components >= 257;
    let index = |r: &mut Reader<'_>| if wide { r.u16().map(usize::from) } else { r.u8().map(|c| c as usize) };
    let from = r.u8()?;
    let first = index(r)?;
    let layers = u32::from(r.u16()?);
    let to = r.u8()?;
    let end = match index(r)? {
        // 0 stands for 256 in one byte.
        0 if !wide => 256,
        end => end,
    };
    let progression = r.u8()? as usize;
    let Some(&progression) = Progression::ALL.get(progression) else {
        return r.broken(format!("progression {progression}; 0 to 4 are allowed"));
    };
    Ok(Volume { resolutions: from..to, components: first..end.min(components), layers, progression })
}
