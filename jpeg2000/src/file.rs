//! Files of the JP2 family: boxes around a codestream (ISO/IEC 15444-1, Annex I; JPH: ISO/IEC 15444-15, Annex D).

use crate::codestream::Coder;
use crate::error::Error;
use crate::image::{Component, Image, Rect};

/// Colours of a file (I.5.3.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ColourSpace {
    /// sRGB if there are three components or more, otherwise grey.
    #[default]
    Usual,
    /// Number of an enumerated space: 16 sRGB, 17 grey, 18 sYCC.
    Enumerated(u32),
    /// ICC profile.
    Icc(Vec<u8>),
}

/// Meaning of a channel (I.5.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Channel.
    pub channel: u16,
    /// 0 colour, 1 opacity, 2 premultiplied opacity, 65535 unspecified.
    pub kind: u16,
    /// Colour that it belongs to, counted from 1; 0 the whole picture, 65535 none.
    pub association: u16,
}

/// Palette and its use by channels (I.5.3.4, I.5.3.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Bits and sign of each column.
    pub formats: Vec<(u32, bool)>,
    /// Entries, row by row; one column for each format.
    pub entries: Vec<i32>,
    /// Component of each channel, and the column that its samples index; `None` for samples as they are.
    pub channels: Vec<(usize, Option<usize>)>,
}

/// Metadata of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxes {
    /// Colours.
    pub colour: ColourSpace,
    /// Meaning of channels.
    pub definitions: Vec<Definition>,
    /// Resolution of capture: samples per metre, vertical and horizontal.
    pub resolution: Option<[f64; 2]>,
    /// Palette.
    pub palette: Option<Palette>,
    /// Other boxes outside the header, such as `uuid` and `xml `: kind and contents.
    pub others: Vec<([u8; 4], Vec<u8>)>,
}

/// File of the JP2 family.
#[derive(Clone, Debug)]
pub struct File<'a> {
    /// Its codestream.
    pub codestream: &'a [u8],
    /// Brand: `jp2 `, `jph ` or that of a further format.
    pub brand: [u8; 4],
    /// Metadata.
    pub boxes: Boxes,
}

const SIGNATURE: [u8; 12] = *b"\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a";

/// Box: kind, position of its contents, contents, and whether the data ends before it.
struct Found<'a> {
    kind: [u8; 4],
    at: usize,
    bytes: &'a [u8],
    cut: bool,
}

/// Boxes in `data`, which begins at `base` (I.4).
fn boxes(data: &[u8], base: usize) -> impl Iterator<Item = Result<Found<'_>, Error>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = data.get(at..).filter(|rest| rest.len() >= 8)?;
        let kind = [rest[4], rest[5], rest[6], rest[7]];
        let length = u64::from(number(&rest[..4]));
        let (header, length) = match length {
            0 => (8, rest.len() as u64),
            1 => match rest.get(8..16) {
                Some(long) => (16, u64::from(number(&long[..4])) << 32 | u64::from(number(&long[4..]))),
                None => return None,
            },
            length => (8, length),
        };
        if length < header {
            let error = Error::Broken { at: base + at, what: format!("a box of {length} bytes") };
            at = data.len();
            return Some(Err(error));
        }
        let cut = length > rest.len() as u64;
        let end = length.min(rest.len() as u64) as usize;
        let found = Found { kind, at: base + at + header as usize, bytes: &rest[header as usize..end], cut };
        at += end;
        Some(Ok(found))
    })
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

impl<'a> File<'a> {
    /// Parses a file; `None` if the data does not begin with the signature box. Data may be cut inside the codestream.
    ///
    /// # Errors
    /// [`Error::Broken`], if no codestream is found among others.
    pub fn parse(data: &'a [u8]) -> Result<Option<File<'a>>, Error> {
        if !data.starts_with(&SIGNATURE) {
            return Ok(None);
        }
        let mut file = File { codestream: &[], brand: *b"jp2 ", boxes: Boxes::default() };
        for found in boxes(data, 0) {
            let Found { kind, at, bytes, cut } = found?;
            match &kind {
                b"jP  " => {}
                b"ftyp" if bytes.len() >= 4 => file.brand = [bytes[0], bytes[1], bytes[2], bytes[3]],
                b"jp2h" => file.header(bytes, at)?,
                b"jp2c" if file.codestream.is_empty() => file.codestream = bytes,
                _ if cut => {}
                _ => file.boxes.others.push((kind, bytes.to_vec())),
            }
        }
        match file.codestream.is_empty() {
            true => Err(Error::Broken { at: data.len(), what: "the file has no codestream".into() }),
            false => Ok(Some(file)),
        }
    }

    /// Parses the boxes of the header.
    fn header(&mut self, data: &[u8], base: usize) -> Result<(), Error> {
        let mut mapping = None;
        let mut has_colour = false;
        for found in boxes(data, base) {
            let Found { kind, at, bytes, .. } = found?;
            let broken = |what: &str| Err(Error::Broken { at, what: what.into() });
            match &kind {
                b"colr" if !has_colour => match bytes {
                    [1, _, _, rest @ ..] if rest.len() >= 4 => {
                        (self.boxes.colour, has_colour) = (ColourSpace::Enumerated(number(&rest[..4])), true);
                    }
                    [2 | 3, _, _, profile @ ..] => {
                        (self.boxes.colour, has_colour) = (ColourSpace::Icc(profile.to_vec()), true);
                    }
                    // Methods of other parts.
                    _ => {}
                },
                b"pclr" => {
                    self.boxes.palette = Some(palette(bytes).map_or_else(|| broken("a palette that is cut"), Ok)?)
                }
                b"cmap" => {
                    let channel =
                        |entry: &[u8]| (number(&entry[..2]) as usize, (entry[2] == 1).then_some(usize::from(entry[3])));
                    mapping = Some(bytes.chunks_exact(4).map(channel).collect::<Vec<_>>());
                }
                b"cdef" => {
                    let entries = bytes.get(2..).unwrap_or_default().chunks_exact(6);
                    self.boxes.definitions = entries
                        .map(|entry| {
                            let field = |k: usize| u16::from_be_bytes([entry[2 * k], entry[2 * k + 1]]);
                            Definition { channel: field(0), kind: field(1), association: field(2) }
                        })
                        .collect();
                }
                b"res " => {
                    for found in boxes(bytes, at) {
                        let Found { kind, bytes, .. } = found?;
                        if let (b"resc", [a, b, c, d, e, f, g, h, vertical, horizontal]) = (&kind, bytes) {
                            let part = |high: [&u8; 2], low: [&u8; 2], exponent: &u8| {
                                let of = |pair: [&u8; 2]| f64::from(u16::from_be_bytes([*pair[0], *pair[1]]));
                                of(high) / of(low).max(1.0) * 10f64.powi(i32::from(exponent.cast_signed()))
                            };
                            self.boxes.resolution =
                                Some([part([a, b], [c, d], vertical), part([e, f], [g, h], horizontal)]);
                        }
                    }
                }
                _ => {}
            }
        }
        match (&mut self.boxes.palette, mapping) {
            (Some(palette), Some(channels)) => palette.channels = channels,
            (Some(palette), None) => {
                palette.channels = (0..palette.formats.len()).map(|column| (0, Some(column))).collect();
            }
            _ => {}
        }
        Ok(())
    }

    /// Applies the palette to decoded components.
    ///
    /// # Errors
    /// [`Error::Broken`] if a channel names a component or a column that does not exist.
    pub fn channels(&self, image: Image) -> Result<Image, Error> {
        let Some(palette) = &self.boxes.palette else { return Ok(image) };
        let columns = palette.formats.len();
        let channel = |&(component, column): &(usize, Option<usize>)| -> Result<Component, Error> {
            let broken = || Error::Broken { at: 0, what: "a channel without a component or a palette column".into() };
            let source = image.components.get(component).ok_or_else(broken)?;
            let Some(column) = column else { return Ok(source.clone()) };
            let &(bits, signed) = palette.formats.get(column).ok_or_else(broken)?;
            // An index beyond the palette takes its last entry.
            let last = (palette.entries.len() / columns) as i32 - 1;
            let entry = |&index: &i32| palette.entries[index.clamp(0, last) as usize * columns + column];
            Ok(Component { bits, signed, samples: source.samples.iter().map(entry).collect(), ..source.clone() })
        };
        Ok(Image { area: image.area, components: palette.channels.iter().map(channel).collect::<Result<_, _>>()? })
    }
}

/// Parses a palette; `None` if it is cut or empty.
fn palette(bytes: &[u8]) -> Option<Palette> {
    let rows = number(bytes.get(..2)?) as usize;
    let columns = usize::from(*bytes.get(2)?);
    let format = |&byte: &u8| (u32::from(byte & 127) + 1, byte & 128 != 0);
    let formats: Vec<(u32, bool)> = bytes.get(3..3 + columns)?.iter().map(format).collect();
    let mut at = 3 + columns;
    let mut entries = Vec::new();
    for _ in 0..rows {
        for &(bits, signed) in &formats {
            let length = bits.div_ceil(8) as usize;
            let value = number(bytes.get(at..at + length)?);
            at += length;
            let spare = 32 - bits.min(32);
            entries.push(if signed { ((value << spare) as i32) >> spare } else { value as i32 });
        }
    }
    (rows > 0 && columns > 0).then_some(Palette { formats, entries, channels: Vec::new() })
}

impl Palette {
    /// Contents of the `pclr` box.
    fn entries(&self) -> Vec<u8> {
        let columns = self.formats.len();
        let mut bytes = ((self.entries.len() / columns.max(1)) as u16).to_be_bytes().to_vec();
        bytes.push(columns as u8);
        bytes.extend(self.formats.iter().map(|&(bits, signed)| (bits - 1) as u8 | u8::from(signed) << 7));
        for row in self.entries.chunks_exact(columns.max(1)) {
            for (entry, (bits, _)) in row.iter().zip(&self.formats) {
                bytes.extend(&entry.to_be_bytes()[4 - bits.div_ceil(8).min(4) as usize..]);
            }
        }
        bytes
    }

    /// Contents of the `cmap` box.
    fn mapping(&self) -> Vec<u8> {
        let entry = |&(component, column): &(usize, Option<usize>)| {
            let [high, low] = (component as u16).to_be_bytes();
            [high, low, column.is_some().into(), column.unwrap_or(0) as u8]
        };
        self.channels.iter().flat_map(entry).collect()
    }
}

impl Boxes {
    /// File around a codestream of a picture with this area and these components, whose samples may be absent.
    pub fn write(&self, area: Rect, components: &[Component], coder: Coder, codestream: &[u8]) -> Vec<u8> {
        let mut header = Vec::new();
        let format = |c: &Component| (c.bits - 1) as u8 | u8::from(c.signed) << 7;
        let formats: Vec<u8> = components.iter().map(format).collect();
        let same = formats.iter().all(|f| *f == formats[0]);
        let mut ihdr = Vec::new();
        ihdr.extend((area.height() as u32).to_be_bytes());
        ihdr.extend((area.width() as u32).to_be_bytes());
        ihdr.extend((components.len() as u16).to_be_bytes());
        ihdr.extend([if same { formats[0] } else { 255 }, 7, u8::from(self.colour == ColourSpace::Enumerated(0)), 0]);
        push(&mut header, *b"ihdr", &ihdr);
        if !same {
            push(&mut header, *b"bpcc", &formats);
        }
        let (grey, colour) = (17u32, 16u32);
        let colr = match &self.colour {
            ColourSpace::Icc(profile) => [&[2, 0, 0], &profile[..]].concat(),
            ColourSpace::Enumerated(space) => [&[1, 0, 0], &space.to_be_bytes()[..]].concat(),
            ColourSpace::Usual => {
                let channels = self.palette.as_ref().map_or(components.len(), |palette| palette.channels.len());
                let space = if channels >= 3 { colour } else { grey };
                [&[1, 0, 0], &space.to_be_bytes()[..]].concat()
            }
        };
        push(&mut header, *b"colr", &colr);
        if let Some(palette) = &self.palette {
            push(&mut header, *b"pclr", &palette.entries());
            push(&mut header, *b"cmap", &palette.mapping());
        }
        if !self.definitions.is_empty() {
            let mut cdef = (self.definitions.len() as u16).to_be_bytes().to_vec();
            for Definition { channel, kind, association } in &self.definitions {
                [channel, kind, association].into_iter().for_each(|field| cdef.extend(field.to_be_bytes()));
            }
            push(&mut header, *b"cdef", &cdef);
        }
        if let Some(resolution) = self.resolution {
            let parts = resolution.map(ratio);
            let mut resc = Vec::new();
            parts.iter().flat_map(|(high, low, _)| [high, low]).for_each(|n| resc.extend(n.to_be_bytes()));
            parts.iter().for_each(|(_, _, exponent)| resc.push(exponent.cast_unsigned()));
            let mut res = Vec::new();
            push(&mut res, *b"resc", &resc);
            push(&mut header, *b"res ", &res);
        }
        let mut file = SIGNATURE.to_vec();
        let brand = if coder == Coder::Ht { *b"jph " } else { *b"jp2 " };
        push(&mut file, *b"ftyp", &[&brand[..], &[0; 4], &brand].concat());
        push(&mut file, *b"jp2h", &header);
        for (kind, bytes) in &self.others {
            push(&mut file, *kind, bytes);
        }
        push(&mut file, *b"jp2c", codestream);
        file
    }
}

/// Appends a box.
fn push(to: &mut Vec<u8>, kind: [u8; 4], bytes: &[u8]) {
    match u32::try_from(bytes.len() + 8) {
        Ok(length) => {
            to.extend(length.to_be_bytes());
            to.extend(kind);
        }
        Err(_) => {
            to.extend(1u32.to_be_bytes());
            to.extend(kind);
            to.extend((bytes.len() as u64 + 16).to_be_bytes());
        }
    }
    to.extend(bytes);
}

/// Numerator, denominator and power of ten near a positive number.
fn ratio(value: f64) -> (u16, u16, i8) {
    let scaled = |exponent: i32| (value / 10f64.powi(exponent)).round();
    let least = (value.max(1e-30).log10().floor() as i32 - 4).clamp(-100, 100);
    let exponent = if scaled(least) <= 65535.0 { least } else { least + 1 };
    (scaled(exponent).clamp(0.0, 65535.0) as u16, 1, exponent as i8)
}
