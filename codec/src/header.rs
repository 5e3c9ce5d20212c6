//! Stream header: the picture's format and coding parameters. `docs/format.md` defines it.

use crate::block::{MAX_PLANES, Order, Passes};
use crate::colour::Colour;
use crate::error::CodecError;
use crate::format::Format;
use crate::quantise::{Quantiser, Step};
use crate::tables::{MAX_TABLES, TABLE_BYTES, Tables};
use crate::values::Values;
use lifting::{Domain, Scheme, catalogue};
use lifting_dsl::print_scheme;
use xxhash_rust::xxh3::xxh3_64;

/// Signature of a stream. As in PNG, transfers that change line ends or the highest bit destroy it.
pub const SIGNATURE: [u8; 8] = *b"\x89LPC\r\n\x1a\n";

/// Format version that is written.
pub const VERSION: u8 = 5;

/// Oldest format version that is read: without a kind of stream, and with flags of one byte.
pub const OLDEST: u8 = 4;

/// Kind of stream: a picture.
const PICTURE: u8 = 0;

/// Most quality layers in a stream.
pub const MAX_LAYERS: u32 = 255;

/// Least side of a tile smaller than the picture.
pub const MIN_TILE: usize = 64;

/// Most transform levels in a stream.
pub const MAX_LEVELS: u32 = 16;

/// Length of a checksum, in bytes: the lower half of XXH3-64.
pub const CHECKSUM: usize = 4;

/// Allowed sides of a codeblock.
pub const BLOCK_SIDES: [usize; 5] = [4, 8, 16, 32, 64];

const THREE_PASSES: u16 = 1;
const SIGNED: u16 = 2;
const TEXT: u16 = 4;
const QUANTISED: u16 = 8;
const TABLES: u16 = 16;
const FAST: u16 = 32;
const COMPONENT_AXIS: u16 = 64;
const METADATA: u16 = 128;
const TILES_FIRST: u16 = 256;
const VALUES: u16 = 512;

/// All flags of a version.
fn all_flags(version: u8) -> u16 {
    if version == OLDEST { 127 } else { 1023 }
}

/// Fields of a stream's header.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Format version.
    pub version: u8,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Components.
    pub components: usize,
    /// Whether the array of one component had an axis for it.
    pub component_axis: bool,
    /// Bits of a coded sample: of its rank, with `values`.
    pub bits: u32,
    /// Whether coded samples are signed.
    pub signed: bool,
    /// The samples that occur, if their ranks are coded.
    pub values: Option<Values>,
    /// Colour transform of the first three components.
    pub colour: Colour,
    /// Levels of the transform.
    pub levels: u32,
    /// Quality layers.
    pub layers: u32,
    /// Rows and columns of a tile; those of the picture if it is one tile.
    pub tile: [usize; 2],
    /// Whether the packets of a row of tiles precede those of the next one.
    pub tiles_first: bool,
    /// Bytes of the sections of metadata.
    pub sections: usize,
    /// Rows and columns of a codeblock.
    pub block: [usize; 2],
    /// Coding order of the bitplanes.
    pub order: Order,
    /// The wavelet.
    pub scheme: Scheme,
    /// Quantiser of each component and band; `None` if integers stay unquantised.
    pub quantisers: Option<Vec<Quantiser>>,
    /// Probability tables, unless they are the built-in ones.
    pub tables: Option<Tables>,
}

/// Number of bands of a component.
pub fn band_count(levels: u32) -> usize {
    3 * levels as usize + 1
}

/// The lower half of XXH3-64.
fn fingerprint(bytes: &[u8]) -> u32 {
    xxh3_64(bytes) as u32
}

/// Seed of the packets' checksums, which ties packets to their stream: XXH3-64 of the header up to its checksum.
pub fn seed(header: &[u8]) -> u64 {
    xxh3_64(&header[..header.len().saturating_sub(CHECKSUM)])
}

/// Bytes of the header that a stream begins with, as far as it can be told.
pub fn length(beginning: &[u8]) -> Option<u64> {
    let at = SIGNATURE.len() + if beginning.get(SIGNATURE.len()) == Some(&OLDEST) { 1 } else { 2 };
    beginning.get(at..)?.first_chunk().map(|length| u32::from_le_bytes(*length).into())
}

/// Whether the catalogue has exactly this wavelet under its name.
fn is_of_catalogue(scheme: &Scheme, text: &str) -> bool {
    catalogue::find(scheme.name()).is_ok_and(|found| found.name() == scheme.name() && print_scheme(&found) == text)
}

impl Header {
    /// Serialises the header, checksum included.
    ///
    /// # Errors
    /// If the wavelet's text is too long.
    pub fn write(&self) -> Result<Vec<u8>, CodecError> {
        let text = print_scheme(&self.scheme);
        let named = is_of_catalogue(&self.scheme, &text);
        let wavelet = if named { self.scheme.name() } else { text.as_str() };
        let too_long =
            |_| CodecError::Wavelet { why: format!("its text has {} bytes, more than 65535", wavelet.len()) };
        let length = u16::try_from(wavelet.len()).map_err(too_long)?;
        let flag = |flag: u16, set: bool| if set { flag } else { 0 };
        let mut bytes = SIGNATURE.to_vec();
        bytes.push(self.version);
        bytes.extend((self.version != OLDEST).then_some(PICTURE));
        let at = bytes.len();
        bytes.extend([0; 4]);
        let flags = flag(THREE_PASSES, self.order.passes == Passes::Three)
            | flag(SIGNED, self.signed)
            | flag(TEXT, !named)
            | flag(QUANTISED, self.quantisers.is_some())
            | flag(TABLES, self.tables.is_some())
            | flag(FAST, self.order.fast > 0)
            | flag(COMPONENT_AXIS, self.component_axis)
            | flag(METADATA, self.sections > 0)
            | flag(TILES_FIRST, self.tiles_first)
            | flag(VALUES, self.values.is_some());
        bytes.extend(&flags.to_le_bytes()[..if self.version == OLDEST { 1 } else { 2 }]);
        bytes.push(match self.colour {
            Colour::None => 0,
            Colour::Reversible => 1,
            Colour::Irreversible => 2,
        });
        bytes.push(self.bits as u8);
        bytes.extend((self.components as u16).to_le_bytes());
        bytes.extend((self.height as u32).to_le_bytes());
        bytes.extend((self.width as u32).to_le_bytes());
        self.tile.iter().for_each(|side| bytes.extend((*side as u32).to_le_bytes()));
        bytes.push(self.levels as u8);
        bytes.push(self.layers as u8);
        bytes.push((self.block[0].ilog2() | self.block[1].ilog2() << 4) as u8);
        bytes.extend(length.to_le_bytes());
        bytes.extend(wavelet.as_bytes());
        if named {
            bytes.extend(fingerprint(text.as_bytes()).to_le_bytes());
        }
        bytes.extend((self.order.fast > 0).then_some(self.order.fast as u8));
        if self.sections > 0 {
            bytes.extend((self.sections as u32).to_le_bytes());
        }
        for Quantiser { step, offset } in self.quantisers.iter().flatten() {
            bytes.extend(step.0.to_le_bytes());
            bytes.push(*offset);
        }
        if let Some(tables) = &self.tables {
            bytes.push(tables.count() as u8);
            bytes.extend(tables.to_bytes());
        }
        if let Some(values) = &self.values {
            values.write(&mut bytes);
        }
        let length = (bytes.len() + CHECKSUM) as u32;
        bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
        bytes.extend(fingerprint(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Reads the header, and returns it with its length in bytes.
    ///
    /// # Errors
    /// If the bytes are not a header, or it is truncated, corrupted or has invalid fields.
    pub fn read(stream: &[u8]) -> Result<(Header, usize), CodecError> {
        let beginning = &stream[..stream.len().min(SIGNATURE.len())];
        if beginning.is_empty() || !SIGNATURE.starts_with(beginning) {
            return Err(CodecError::NotAStream);
        }
        let cut = || CodecError::NoHeader { bytes: stream.len() };
        let mut fields = Fields(stream.get(SIGNATURE.len()..).ok_or_else(cut)?);
        let version = fields.byte().map_err(|_| cut())?;
        if !(OLDEST..=VERSION).contains(&version) {
            return Err(CodecError::Version { version, known: VERSION });
        }
        if version != OLDEST && fields.byte().map_err(|_| cut())? != PICTURE {
            return Err(CodecError::NotAPicture);
        }
        let length = fields.u32().map_err(|_| cut())? as usize;
        let begin = stream.len() - fields.0.len();
        let Some(checked) = length.checked_sub(CHECKSUM).filter(|&n| n >= begin) else {
            return Err(broken(format!("its length field is {length} bytes, too short")));
        };
        let (checked, checksum) = stream.get(..length).ok_or_else(cut)?.split_at(checked);
        if fingerprint(checked).to_le_bytes() != checksum {
            return Err(CodecError::Checksum { what: "the header".into() });
        }
        let mut fields = Fields(&checked[begin..]);
        let header = Header::fields(&mut fields, version)?;
        match fields.0.len() {
            0 => Ok((header, length)),
            more => Err(broken(format!("it has {more} excess bytes"))),
        }
    }

    fn fields(fields: &mut Fields<'_>, version: u8) -> Result<Header, CodecError> {
        let flags = if version == OLDEST { fields.byte()?.into() } else { fields.u16()? };
        if flags & !all_flags(version) != 0 {
            return Err(broken(format!("unknown flags ({flags:#04x})")));
        }
        let colour = match fields.byte()? {
            0 => Colour::None,
            1 => Colour::Reversible,
            2 => Colour::Irreversible,
            other => return Err(broken(format!("unknown colour transform {other}"))),
        };
        let (bits, signed) = (u32::from(fields.byte()?), flags & SIGNED != 0);
        let components = usize::from(fields.u16()?);
        let (height, width) = (fields.u32()? as usize, fields.u32()? as usize);
        let tile = [fields.u32()? as usize, fields.u32()? as usize];
        let (levels, layers) = (u32::from(fields.byte()?), u32::from(fields.byte()?));
        let sides = fields.byte()?;
        if !(1..=16).contains(&bits) {
            return Err(CodecError::Bits { bits });
        }
        if components == 0 || colour != Colour::None && components < 3 {
            return Err(broken(format!("{components} components are too few for the colour transform")));
        }
        if [height, width].iter().any(|side| !(1..=i32::MAX as usize).contains(side)) {
            return Err(CodecError::Sides { height, width });
        }
        if levels > MAX_LEVELS {
            return Err(CodecError::Levels { levels, most: MAX_LEVELS });
        }
        check_tile(tile, [height, width], levels)?;
        if layers == 0 {
            return Err(CodecError::Layers { layers, most: MAX_LAYERS });
        }
        let block = [sides & 15, sides >> 4].map(|log| 1usize << log);
        if block.iter().any(|side| !BLOCK_SIDES.contains(side)) {
            return Err(CodecError::Codeblock { height: block[0], width: block[1] });
        }
        let length = usize::from(fields.u16()?);
        let wavelet = std::str::from_utf8(fields.bytes(length)?)
            .map_err(|_| CodecError::Wavelet { why: "its text is not valid UTF-8".into() })?;
        let scheme = if flags & TEXT != 0 { compiled(wavelet)? } else { named(wavelet, fields.u32()?)? };
        let real = scheme.domain() == Domain::Real;
        if colour != Colour::None && real != (colour == Colour::Irreversible) {
            return Err(broken("the colour transform and the wavelet disagree on integers or reals".into()));
        }
        let fast = if flags & FAST != 0 { u32::from(fields.byte()?) } else { 0 };
        if fast > MAX_PLANES || flags & FAST != 0 && fast == 0 {
            return Err(broken(format!("it has {fast} fast planes, and 1 to {MAX_PLANES} are allowed")));
        }
        let sections = if flags & METADATA != 0 { fields.u32()? as usize } else { 0 };
        let quantisers = if flags & QUANTISED != 0 {
            let one = |fields: &mut Fields<'_>| Ok(Quantiser { step: Step(fields.u16()?), offset: fields.byte()? });
            let all = (0..components * band_count(levels)).map(|_| one(fields));
            Some(all.collect::<Result<Vec<_>, CodecError>>()?)
        } else if real {
            return Err(broken("a real wavelet without quantisers".into()));
        } else {
            None
        };
        let tables = if flags & TABLES != 0 { Some(tables_of(fields)?) } else { None };
        let values = if flags & VALUES != 0 {
            if quantisers.is_some() || signed {
                return Err(broken("ranks of values that are signed or quantised".into()));
            }
            Some(Values::read(&mut fields.0).ok_or_else(|| broken("invalid values".into()))?)
        } else {
            None
        };
        let passes = if flags & THREE_PASSES != 0 { Passes::Three } else { Passes::Two };
        let component_axis = flags & COMPONENT_AXIS != 0;
        if component_axis && components != 1 {
            return Err(broken(format!("the flag of a single component with {components} components")));
        }
        Ok(Header {
            version,
            height,
            width,
            components,
            component_axis,
            bits,
            signed,
            values,
            colour,
            levels,
            layers,
            tile,
            tiles_first: flags & TILES_FIRST != 0,
            sections,
            block,
            order: Order { passes, fast },
            scheme,
            quantisers,
            tables,
        })
    }

    /// Format of the picture.
    pub fn format(&self) -> Format {
        let Header { height, width, components, .. } = *self;
        let (bits, signed) = self.values.as_ref().map_or((self.bits, self.signed), |v| (v.bits, v.signed));
        Format { height, width, components, bits, signed }
    }

    /// The sample, if all are equal: the stream has no packets.
    pub fn only(&self) -> Option<i32> {
        self.values.as_ref().and_then(Values::only)
    }

    /// Number of packets.
    pub fn packets(&self) -> u128 {
        let tiles = self.tiles().map(|n| n as u128);
        match self.only() {
            Some(_) => 0,
            None => u128::from(self.layers) * u128::from(self.levels + 1) * tiles[0] * tiles[1],
        }
    }

    /// Whether encoders add an index of packets: there are several tiles or layers.
    pub(crate) fn is_indexed(&self) -> bool {
        self.packets() > u128::from(self.levels + 1)
    }

    /// Number of samples in the picture.
    pub fn samples(&self) -> u128 {
        self.height as u128 * self.width as u128 * self.components as u128
    }

    /// Number of tiles along each axis.
    pub fn tiles(&self) -> [usize; 2] {
        [self.height.div_ceil(self.tile[0]), self.width.div_ceil(self.tile[1])]
    }

    /// Whether samples are restored exactly.
    pub fn is_lossless(&self) -> bool {
        self.quantisers.iter().flatten().all(|q| *q == Quantiser::NONE)
    }

    /// Quantiser of a band.
    pub fn quantiser(&self, component: usize, band: usize) -> Quantiser {
        let index = component * band_count(self.levels) + band;
        self.quantisers.as_ref().map_or(Quantiser::NONE, |quantisers| quantisers[index])
    }

    /// Probability tables of the blocks.
    pub fn tables(&self) -> &Tables {
        self.tables.as_ref().unwrap_or(Tables::built_in())
    }
}

/// Checks that a picture of this shape can be divided into such tiles.
pub fn check_tile(tile: [usize; 2], shape: [usize; 2], levels: u32) -> Result<(), CodecError> {
    let multiple = 1 << levels;
    let is_good = |(&tile, &side): (&usize, &usize)| {
        tile == side || (MIN_TILE..side).contains(&tile) && tile.is_multiple_of(multiple)
    };
    match tile.iter().zip(&shape).all(is_good) {
        true => Ok(()),
        false => Err(CodecError::Tile { height: tile[0], width: tile[1], multiple }),
    }
}

/// Reads probability tables, after their number.
fn tables_of(fields: &mut Fields<'_>) -> Result<Tables, CodecError> {
    let count = usize::from(fields.byte()?);
    if !(1..=MAX_TABLES).contains(&count) {
        return Err(broken(format!("invalid number of probability tables {count}")));
    }
    Tables::from_bytes(fields.bytes(count * TABLE_BYTES)?).ok_or_else(|| broken("invalid probabilities".into()))
}

fn broken(why: String) -> CodecError {
    CodecError::Header { why }
}

/// Wavelet from its text.
fn compiled(text: &str) -> Result<Scheme, CodecError> {
    let schemes = lifting::compile(text).map_err(|e| CodecError::Wavelet { why: e.to_string() })?;
    match <[Scheme; 1]>::try_from(schemes) {
        Ok([scheme]) => Ok(scheme),
        Err(all) => Err(CodecError::Wavelet { why: format!("its text has {} wavelets", all.len()) }),
    }
}

/// Wavelet from its name; its text must match that of the stream's author.
fn named(name: &str, expected: u32) -> Result<Scheme, CodecError> {
    let scheme = catalogue::find(name).map_err(|e| CodecError::Wavelet { why: e.to_string() })?;
    if fingerprint(print_scheme(&scheme).as_bytes()) != expected {
        return Err(CodecError::Wavelet { why: format!("the `{name}` of this catalogue is a different wavelet") });
    }
    Ok(scheme)
}

/// Reader of consecutive fields.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], CodecError> {
        let (field, rest) = self.0.split_at_checked(count).ok_or_else(|| broken("it is too short".into()))?;
        self.0 = rest;
        Ok(field)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        let (field, rest) = self.0.split_first_chunk().ok_or_else(|| broken("it is too short".into()))?;
        self.0 = rest;
        Ok(*field)
    }

    fn byte(&mut self) -> Result<u8, CodecError> {
        Ok(self.array::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16, CodecError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, CodecError> {
        Ok(u32::from_le_bytes(self.array()?))
    }
}
