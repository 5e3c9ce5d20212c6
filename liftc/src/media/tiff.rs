//! TIFF and BigTIFF: pages of one shape as a stack, of any element type.

use super::image::{few_bits, pack, too_large, white_of_few, words};
use super::metadata::Metadata;
use super::rows::{self, Rows};
use super::{Array, Colour, Data, Element, Loss, Origin, Remarks, jpeg, room, shape_text};
use crate::failure::{Failure, Outcome, input};
use ::tiff::decoder::{ChunkType, Decoder, DecodingResult, Limits};
use ::tiff::encoder::{DirectoryEncoder, TiffEncoder, TiffKind, TiffValue};
use ::tiff::tags::{ByteOrder, Tag, Type, ValueBuffer};
use ::tiff::{ColorType, TiffError, TiffResult, TiffUnsupportedError};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read, Seek, SeekFrom};

/// Whether a file with these first bytes is a TIFF.
pub fn is(magic: &[u8]) -> bool {
    [b"II\x2a\0", b"MM\0\x2a", b"II\x2b\0", b"MM\0\x2b"].iter().any(|m| magic.starts_with(*m))
}

/// Approximate length of a strip in bytes.
const STRIP: usize = 256 << 10;

/// Tags whose contents are not read, and their names in notes.
const METADATA: [(u16, &str); 15] = [
    (34675, super::image::ICC),
    (34665, "EXIF"),
    (super::image::GPS, super::image::GPS_POSITION),
    (700, "XMP"),
    (33723, "IPTC"),
    (33550, "GeoTIFF"),
    (33922, "GeoTIFF"),
    (34264, "GeoTIFF"),
    (34735, "GeoTIFF"),
    (34736, "GeoTIFF"),
    (34737, "GeoTIFF"),
    (42112, "GDAL metadata"),
    (42113, "nodata value"),
    (301, "gamma"),
    (270, "description"),
];

/// Page, as read.
struct Page {
    size: [usize; 2],
    colour: Colour,
    /// Whether colours are already multiplied by alpha.
    premultiplied: bool,
    /// White level of samples of less than 8 bits.
    maxval: Option<u16>,
    data: Data,
}

/// Limits of a file, and a request.
#[derive(Clone, Copy)]
pub struct Ask {
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Most bytes of memory.
    pub most: u64,
    /// Whether damaged JPEG strips are accepted, which become grey where data is missing.
    pub salvage: bool,
}

/// Reads all pages of a file. Reduced copies of pages are skipped.
///
/// # Errors
/// If a page cannot be decoded, or differs in kind from the first one.
pub fn read<R: BufRead + Seek>(reader: R, ask: Ask) -> Outcome<Array> {
    let Ask { bytes, most, .. } = ask;
    let mut limits = Limits::default();
    limits.decoding_buffer_size = usize::try_from(most).unwrap_or(usize::MAX);
    limits.intermediate_buffer_size = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut decoder = Decoder::new(reader).map_err(|e| undecodable(&e, bytes, most))?.with_limits(limits);
    let mut remarks = Remarks::default();
    let said = text(&mut decoder, Tag::ImageDescription);
    let mut whole: Option<Page> = None;
    let (mut number, mut pages, mut left) = (1, 0, most);
    loop {
        let at = |f: Failure| if number > 1 { f.at(format!("page {number}")) } else { f };
        let reduced = number > 1 && unsigned(&mut decoder, Tag::NewSubfileType).is_some_and(|kind| kind & 1 == 1);
        if reduced {
            remarks.note("reduced copies among its pages are skipped");
        } else {
            let page = read_page(&mut decoder, Ask { most: left, ..ask }, &mut remarks).map_err(at)?;
            left -= (page.data.len() * page.data.element().bytes()) as u64;
            pages += 1;
            whole = Some(match whole {
                None => page,
                Some(first) => append(first, page, number)?,
            });
        }
        if !decoder.more_images() {
            break;
        }
        number += 1;
        decoder.next_image().map_err(|e| undecodable(&e, bytes, most).at(format!("page {number}")))?;
    }
    let Some(Page { size: [height, width], colour, premultiplied, maxval, data }) = whole else {
        return Err(input("has no pages"));
    };
    if let Some(images) = said.and_then(|t| imagej_images(&t)).filter(|&n| n > pages as u64) {
        remarks.lost(Loss::Pages, format!("it claims {images} images, but has {pages} pages: only these are read"));
    }
    let stack = pages > 1;
    let channels = (colour != Colour::Grey).then(|| colour.channels());
    let shape = stack.then_some(pages).into_iter().chain([height, width]).chain(channels).collect();
    let origin = Origin::Image { format: "tiff".into(), colour, element: data.element(), maxval, stack, premultiplied };
    Ok(remarks.about(Array::new(shape, data, origin)))
}

/// Opens a file whose first page is read by rows of strips or tiles; `None` if its samples are not integers of 8 or 16
/// bits in order, or there are several pages.
///
/// # Errors
/// If the page cannot be decoded.
pub fn rows(reader: BufReader<File>, bytes: u64) -> Outcome<Option<Rows>> {
    let failed = move |e: TiffError| undecodable(&e, bytes, u64::MAX);
    let mut decoder = Decoder::new(reader).map_err(failed)?.with_limits(Limits::unlimited());
    let (width, height) = decoder.dimensions().map_err(failed)?;
    let kind = decoder.colortype().map_err(failed)?;
    let number = |decoder: &mut Decoder<_>, tag| unsigned(decoder, tag).unwrap_or(1);
    let is_plain = matches!(kind, ColorType::Gray(8 | 16) | ColorType::RGB(8 | 16) | ColorType::RGBA(8 | 16))
        && number(&mut decoder, Tag::PlanarConfiguration) == 1
        && number(&mut decoder, Tag::FillOrder) == 1
        && [1, 2].contains(&number(&mut decoder, Tag::PhotometricInterpretation))
        && number(&mut decoder, Tag::SamplesPerPixel) == u32::from(kind.num_samples())
        && decoder.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).ok().flatten().is_none_or(|kinds| kinds[..] == [2])
        && number(&mut decoder, Tag::Compression) != JPEG
        && !decoder.more_images();
    let element = match (number(&mut decoder, Tag::SampleFormat), kind.bit_depth()) {
        (1, 8) => Element::U8,
        (1, 16) => Element::U16,
        (2, 8) => Element::I8,
        (2, 16) => Element::I16,
        _ => return Ok(None),
    };
    if !is_plain {
        return Ok(None);
    }
    let colour = colour_of(kind, true)?;
    let channels = colour.channels();
    let shape = [height as usize, width as usize].into_iter().chain((channels > 1).then_some(channels)).collect();
    let format = "tiff".to_owned();
    let origin = Origin::Image { format, colour, element, maxval: None, stack: false, premultiplied: false };
    let mut remarks = Remarks::default();
    metadata(&mut decoder, &mut remarks);
    let (each, row) = (decoder.chunk_dimensions(), width as usize * channels);
    let across = width.div_ceil(each.0);
    let mut at = 0;
    let next = move || {
        let rows = each.1.min(height - at * each.1) as usize;
        let mut samples: Vec<i32> = super::zeros(rows * row)?;
        for column in 0..across {
            let chunk: Vec<i32> = match decoder.read_chunk(at * across + column).map_err(failed)? {
                DecodingResult::U8(v) => v.into_iter().map(i32::from).collect(),
                DecodingResult::U16(v) => v.into_iter().map(i32::from).collect(),
                DecodingResult::I8(v) => v.into_iter().map(i32::from).collect(),
                DecodingResult::I16(v) => v.into_iter().map(i32::from).collect(),
                _ => return Err(input("is a TIFF whose strips differ in type")),
            };
            let first = (column * each.0) as usize * channels;
            let part = (each.0 as usize * channels).min(row - first);
            if chunk.len() < part * rows {
                return Err(input("is a TIFF with a strip or tile that is too short"));
            }
            for (y, part) in chunk.chunks_exact(part).enumerate().take(rows) {
                samples[y * row + first..][..part.len()].copy_from_slice(part);
            }
        }
        at += 1;
        Ok(samples)
    };
    Ok(Some(Rows { about: remarks.about(rows::about(shape, element, origin)), next: Box::new(next) }))
}

/// Appends a page that matches the previous ones.
fn append(mut whole: Page, page: Page, number: usize) -> Outcome<Page> {
    let kind = |page: &Page| {
        let [height, width] = page.size;
        let channels = page.colour.channels();
        let channels = if channels > 1 { format!(" × {channels}") } else { String::new() };
        let alpha = if page.premultiplied { ", premultiplied" } else { "" };
        let white = page.maxval.map_or(String::new(), |white| format!(" with white at {white}"));
        format!("{height} × {width}{channels} {}{white}{alpha}", page.data.element().name())
    };
    let kinds = [kind(&whole), kind(&page)];
    if whole.size != page.size
        || whole.colour != page.colour
        || whole.premultiplied != page.premultiplied
        || whole.maxval != page.maxval
        || !whole.data.append(page.data)
    {
        let [first, this] = kinds;
        return Err(input(format!("page {number} is {this}, but page 1 is {first}: they do not form a stack"))
            .help("split the file, for example with `tiffsplit`, and transform its pages one by one"));
    }
    Ok(whole)
}

/// Colours of a page, from its kind and whether an extra sample is its opacity.
fn colour_of(kind: ColorType, has_alpha: bool) -> Outcome<Colour> {
    Ok(match kind {
        ColorType::Gray(_) => Colour::Grey,
        ColorType::GrayA(_) => Colour::GreyAlpha,
        ColorType::Multiband { num_samples: 2, .. } if has_alpha => Colour::GreyAlpha,
        ColorType::RGB(_) | ColorType::CMYK(8 | 16) => Colour::Rgb,
        ColorType::RGBA(_) => Colour::Rgba,
        ColorType::YCbCr(_) => {
            return Err(input("is a TIFF of luma and chroma (YCbCr), which is not supported")
                .help("convert it to RGB: magick in.tif -colorspace sRGB -compress zip out.tif"));
        }
        ColorType::Multiband { num_samples, .. } => {
            return Err(input(format!("is a TIFF of {num_samples} channels of unknown colours"))
                .help("read it as an array: np.save('a.npy', tifffile.imread('a.tif'))"));
        }
        other => {
            return Err(input(format!("is a TIFF of an unsupported kind: {other:?}"))
                .help("convert it to RGB: magick in.tif -colorspace sRGB out.tif"));
        }
    })
}

fn read_page<R: BufRead + Seek>(decoder: &mut Decoder<R>, ask: Ask, remarks: &mut Remarks) -> Outcome<Page> {
    let Ask { bytes, most, .. } = ask;
    let failed = |e: TiffError| undecodable(&e, bytes, most);
    let (width, height) = decoder.dimensions().map_err(failed)?;
    let size = [height as usize, width as usize];
    let photometric = unsigned(decoder, Tag::PhotometricInterpretation).unwrap_or(0);
    let samples = unsigned(decoder, Tag::SamplesPerPixel).unwrap_or(1);
    if photometric == 3 {
        return Err(input("is a TIFF with a colour palette, which is not supported")
            .help("convert it to RGB: magick in.tif -type TrueColor out.tif"));
    }
    if unsigned(decoder, Tag::FillOrder) == Some(2) {
        return Err(input("is a TIFF with reversed bits (FillOrder 2), which is not supported")
            .help("rewrite it, for example with `tiffcp -f msb2lsb`"));
    }
    // The decoder pads tiles by the first plane's sizes only.
    let planar = unsigned(decoder, Tag::PlanarConfiguration) == Some(2) && samples > 1;
    if planar && decoder.get_chunk_type() == ChunkType::Tile {
        return Err(input("is a TIFF of tiles with separate planes, which is not supported")
            .help("interleave its channels: tiffcp -p contig in.tif out.tif"));
    }
    let kind = decoder.colortype().map_err(failed)?;
    let alpha = decoder.find_tag_unsigned_vec::<u16>(Tag::ExtraSamples).ok().flatten();
    let alpha = alpha.and_then(|kinds| kinds.first().copied()).filter(|kind| matches!(kind, 1 | 2));
    let colour = colour_of(kind, alpha.is_some())?;
    if samples > u32::from(kind.num_samples()) {
        remarks.lost(Loss::Channels, "channels beyond its colours are ignored");
    }
    let layout = decoder.image_buffer_layout().map_err(failed)?;
    // Samples of less than a byte are unpacked.
    let packed = if kind.bit_depth() < 8 { 8 } else { 1 };
    if (layout.complete_len as u64).saturating_mul(packed) > most {
        return Err(too_large(bytes, most));
    }
    if unsigned(decoder, Tag::Compression) == Some(JPEG) {
        check_jpegs(decoder, ask, remarks)?;
    }
    let mut result = DecodingResult::U8(Vec::new());
    let read = decoder.read_image_to_buffer(&mut result).map(|layout| layout.planes);
    let planes = match read {
        Ok(planes) => planes,
        Err(e) => return Err(cut_short(decoder, bytes).unwrap_or_else(|| undecodable(&e, bytes, most))),
    };
    let mut data: Data = match result {
        DecodingResult::U8(v) => v.into(),
        DecodingResult::U16(v) => v.into(),
        DecodingResult::U32(v) => v.into(),
        DecodingResult::I8(v) => v.into(),
        DecodingResult::I16(v) => v.into(),
        DecodingResult::I32(v) => v.into(),
        DecodingResult::I64(v) => v.into(),
        DecodingResult::F16(v) => v.into(),
        DecodingResult::F32(v) => v.into(),
        DecodingResult::F64(v) => v.into(),
        DecodingResult::U64(_) => {
            return Err(input("has samples of uint64, which are not supported")
                .help("without loss below 2^63: np.save('a.npy', tifffile.imread('a.tif').astype(np.int64))"));
        }
    };
    if planes > 1 {
        data = data.interleaved(planes);
    }
    let bits = kind.bit_depth();
    let mut maxval = None;
    if let (Some(white), Data::U8(v)) = (white_of_few(bits), &data) {
        data = unpack(v, size[1] * usize::from(kind.num_samples()), bits).into();
        maxval = Some(white);
    }
    if let ColorType::CMYK(_) = kind {
        data = match data {
            Data::U8(v) => cmyk(&v, 255, |x| x.into(), |x| x as u8).into(),
            Data::U16(v) => cmyk(&v, 65535, |x| x.into(), |x| x as u16).into(),
            _ => return Err(input("is a CMYK TIFF whose samples are not integers of 8 or 16 bits")),
        };
        remarks.lost(Loss::Cmyk, "CMYK is read as RGB, without its profile");
    }
    let channels = colour.channels();
    if size[0] * size[1] * channels != data.len() {
        return Err(input(format!("the picture cannot be decoded: {planes} planes of {} samples", data.len())));
    }
    if photometric == 0 {
        remarks.note("samples are inverted, since white is 0 in the file");
    }
    let premultiplied = alpha == Some(1) && matches!(colour, Colour::GreyAlpha | Colour::Rgba);
    if premultiplied {
        remarks.note(super::PREMULTIPLIED);
    }
    metadata(decoder, remarks);
    // Unit 1 has no length: such numbers only say how wide pixels are to their height.
    let unit = unsigned(decoder, Tag::ResolutionUnit).unwrap_or(2);
    if unit > 1 && decoder.find_tag(Tag::XResolution).is_ok_and(|tag| tag.is_some()) {
        remarks.ignored("resolution");
    }
    if let Some(turned) = unsigned(decoder, Tag::Orientation).filter(|o| (2..=8).contains(o)) {
        remarks.note(super::image::orientation(turned));
    }
    Ok(Page { size, colour, premultiplied, maxval, data })
}

/// Names the metadata of a page, and reads it if no earlier page has any.
fn metadata<R: BufRead + Seek>(decoder: &mut Decoder<R>, remarks: &mut Remarks) {
    for (tag, what) in METADATA {
        if decoder.find_tag(Tag::from_u16_exhaustive(tag)).is_ok_and(|tag| tag.is_some()) {
            remarks.ignored(what);
        }
    }
    let mut block = |tag: u16| Some(raw_tag(decoder, tag)?.as_bytes().to_vec());
    if remarks.metadata == Metadata::default() {
        let (icc, xmp) = (block(34675), block(700));
        remarks.metadata = Metadata { icc, exif: None, xmp, tiff: raw_tags(decoder) };
    }
}

/// Tags that are copied as they are, with their names in notes; XResolution to ResolutionUnit among them.
fn copied() -> impl Iterator<Item = (u16, &'static str)> {
    // Pointers to other directories mean nothing in another file; ICC and XMP have sections of their own.
    let own = METADATA.into_iter().filter(|(tag, _)| ![34675, 34665, 700, super::image::GPS].contains(tag));
    own.chain([282, 283, 296].map(|tag| (tag, "resolution")))
}

/// Most bytes of a copied tag.
const MAX_TAG: u64 = 1 << 24;

/// Bytes of a value of a type.
fn bytes_of(kind: Type) -> usize {
    match kind {
        Type::BYTE | Type::SBYTE | Type::ASCII | Type::UNDEFINED => 1,
        Type::SHORT | Type::SSHORT => 2,
        Type::LONG | Type::SLONG | Type::FLOAT | Type::IFD => 4,
        _ => 8,
    }
}

/// Values of a tag of a page; `None` if there are none, or too many.
fn raw_tag<R: BufRead + Seek>(decoder: &mut Decoder<R>, number: u16) -> Option<ValueBuffer> {
    let tag = Tag::from_u16_exhaustive(number);
    let mut value = ValueBuffer::empty(Type::BYTE);
    let mut page = decoder.image_ifd();
    page.find_entry(tag).filter(|entry| entry.count() <= MAX_TAG)?;
    page.find_tag_buf(tag, &mut value).ok()?.map(|_| value)
}

/// Copied tags of a page, as `docs/format.md` defines them; `None` if there are none.
fn raw_tags<R: BufRead + Seek>(decoder: &mut Decoder<R>) -> Option<Vec<u8>> {
    let mut tags = Vec::new();
    for (number, _) in copied() {
        let Some(mut value) = raw_tag(decoder, number) else { continue };
        value.set_byte_order(ByteOrder::LittleEndian);
        tags.extend(number.to_le_bytes());
        tags.extend(value.data_type().to_u16().to_le_bytes());
        tags.extend((value.count() as u32).to_le_bytes());
        tags.extend(value.as_bytes());
    }
    (!tags.is_empty()).then_some(tags)
}

/// Tags of a stream's metadata: number, type, and values. Ends where they are invalid.
fn tags_of(mut bytes: &[u8]) -> impl Iterator<Item = (u16, Type, &[u8])> {
    std::iter::from_fn(move || {
        let (&[a, b, c, d, count @ ..], rest) = bytes.split_first_chunk::<8>()?;
        let kind = Type::from_u16(u16::from_le_bytes([c, d]))?;
        let length = (u32::from_le_bytes(count) as usize).checked_mul(bytes_of(kind))?;
        let values;
        (values, bytes) = rest.split_at_checked(length)?;
        Some((u16::from_le_bytes([a, b]), kind, values))
    })
}

/// Names of the tags of a stream's metadata, as in notes.
pub fn names_of_tags(bytes: &[u8]) -> Vec<&'static str> {
    tags_of(bytes).filter_map(|(tag, ..)| copied().find(|(number, _)| *number == tag)).map(|(_, name)| name).collect()
}

/// Values in this machine's byte order, of the type with this number.
struct Raw<'a, const TYPE: u16>(&'a [u8]);

impl<const TYPE: u16> TiffValue for Raw<'_, TYPE> {
    const FIELD_TYPE: Type = match TYPE {
        1 => Type::BYTE,
        2 => Type::ASCII,
        3 => Type::SHORT,
        4 => Type::LONG,
        5 => Type::RATIONAL,
        12 => Type::DOUBLE,
        _ => Type::UNDEFINED,
    };
    const BYTE_LEN: u8 = match TYPE {
        3 => 2,
        4 => 4,
        5 | 12 => 8,
        _ => 1,
    };

    fn count(&self) -> usize {
        self.0.len() / usize::from(Self::BYTE_LEN)
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.0.into()
    }
}

/// Writes the metadata that a TIFF keeps.
fn write_metadata<W: std::io::Write + Seek, K: TiffKind>(
    directory: &mut DirectoryEncoder<'_, W, K>,
    metadata: &Metadata,
) -> TiffResult<()> {
    let Metadata { icc, xmp, tiff, .. } = metadata;
    if let Some(profile) = icc {
        directory.write_tag(Tag::IccProfile, Raw::<7>(profile))?;
    }
    if let Some(text) = xmp {
        directory.write_tag(Tag::Unknown(700), Raw::<1>(text))?;
    }
    for (number, kind, values) in tiff.iter().flat_map(|tags| tags_of(tags)) {
        if !copied().any(|(tag, _)| tag == number) {
            continue;
        }
        let tag = Tag::from_u16_exhaustive(number);
        // Native order; rationals are two numbers of 4 bytes.
        let each = if kind == Type::RATIONAL { 4 } else { bytes_of(kind) };
        let mut values = values.to_vec();
        if cfg!(target_endian = "big") {
            values.chunks_mut(each).for_each(<[u8]>::reverse);
        }
        match kind {
            Type::BYTE => directory.write_tag(tag, Raw::<1>(&values)),
            Type::ASCII => directory.write_tag(tag, Raw::<2>(&values)),
            Type::SHORT => directory.write_tag(tag, Raw::<3>(&values)),
            Type::LONG => directory.write_tag(tag, Raw::<4>(&values)),
            Type::RATIONAL => directory.write_tag(tag, Raw::<5>(&values)),
            Type::DOUBLE => directory.write_tag(tag, Raw::<12>(&values)),
            Type::UNDEFINED => directory.write_tag(tag, Raw::<7>(&values)),
            _ => Ok(()),
        }?;
    }
    Ok(())
}

/// Compression of JPEG strips and tiles.
const JPEG: u32 = 7;

/// Kind of a page's chunks, and the offset and length of each.
fn chunks<R: BufRead + Seek>(decoder: &mut Decoder<R>) -> (&'static str, Vec<(u64, u64)>) {
    let (name, tags) = match decoder.get_chunk_type() {
        ChunkType::Strip => ("strip", [Tag::StripOffsets, Tag::StripByteCounts]),
        ChunkType::Tile => ("tile", [Tag::TileOffsets, Tag::TileByteCounts]),
    };
    let [offsets, lengths] =
        tags.map(|tag| decoder.find_tag_unsigned_vec::<u64>(tag).ok().flatten().unwrap_or_default());
    (name, offsets.into_iter().zip(lengths).collect())
}

/// Checks the JPEGs of a page's strips or tiles. The decoder fills damaged parts with grey.
fn check_jpegs<R: BufRead + Seek>(decoder: &mut Decoder<R>, ask: Ask, remarks: &mut Remarks) -> Outcome {
    let tables = decoder.find_tag(Tag::JPEGTables).ok().flatten().and_then(|tables| tables.into_u8_vec().ok());
    let tables = tables.unwrap_or_default();
    // Without the end marker, and with the start marker of the strip.
    let tables = tables.strip_suffix(&[0xff, 0xd9]).unwrap_or(&tables);
    let (name, chunks) = chunks(decoder);
    for (number, (offset, length)) in (1..).zip(chunks) {
        let unreadable = |e: std::io::Error| input(format!("cannot read: {}", crate::output::why(&e)));
        let mut file = Vec::new();
        decoder.inner().seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        decoder.inner().by_ref().take(length.min(ask.bytes)).read_to_end(&mut file).map_err(unreadable)?;
        let strip = file.strip_prefix(&[0xff, 0xd8]).filter(|_| !tables.is_empty());
        let whole = strip.map(|strip| [tables, strip].concat()).unwrap_or(file);
        let Err(damage) = jpeg::check(&whole) else { continue };
        let damage = format!("the JPEG of {name} {number} is damaged: {damage}");
        if !ask.salvage {
            return Err(input(damage).help(super::image::SALVAGE));
        }
        remarks.lost(Loss::Damage, format!("{damage}, and parts of it may be wrong"));
        return Ok(());
    }
    Ok(())
}

/// Error for strips or tiles beyond the end of the file, if any.
fn cut_short<R: BufRead + Seek>(decoder: &mut Decoder<R>, bytes: u64) -> Option<Failure> {
    let (name, chunks) = chunks(decoder);
    let end = |&(offset, length): &(u64, u64)| offset.saturating_add(length);
    let (number, chunk) = (1..).zip(&chunks).find(|(_, chunk)| end(chunk) > bytes)?;
    let (count, end) = (chunks.len(), end(chunk));
    Some(input(format!("is cut short: {name} {number} of {count} ends at byte {end}, but the file has {bytes} bytes")))
}

fn unsigned<R: BufRead + Seek>(decoder: &mut Decoder<R>, tag: Tag) -> Option<u32> {
    decoder.find_tag_unsigned(tag).ok().flatten()
}

fn text<R: BufRead + Seek>(decoder: &mut Decoder<R>, tag: Tag) -> Option<String> {
    decoder.find_tag(tag).ok().flatten().and_then(|value| value.into_string().ok())
}

/// Number of images in ImageJ's description. ImageJ writes large stacks as one page followed by the other images.
fn imagej_images(description: &str) -> Option<u64> {
    let mut lines = description.lines();
    lines.next().filter(|line| line.starts_with("ImageJ="))?;
    lines.find_map(|line| line.strip_prefix("images="))?.trim().parse().ok()
}

fn undecodable(error: &TiffError, bytes: u64, most: u64) -> Failure {
    match error {
        TiffError::LimitsExceeded => too_large(bytes, most),
        TiffError::UnsupportedError(e) => unsupported(e),
        TiffError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => {
            input(format!("is cut short: the TIFF refers to data beyond its {bytes} bytes"))
        }
        e => input(format!("the picture cannot be decoded: {}", words(e))),
    }
}

/// Error for a TIFF that the decoder does not support.
fn unsupported(error: &TiffUnsupportedError) -> Failure {
    use TiffUnsupportedError as U;
    let compression = |number: Option<u16>| {
        let number = number.map_or(String::new(), |n| format!(" (its number is {n})"));
        input(format!("is a TIFF with an unsupported compression{number}"))
            .help("rewrite it: tiffcp -c zip in.tif out.tif")
    };
    match error {
        U::UnsupportedCompressionMethod(method) => compression(Some(method.to_u16())),
        U::UnknownCompressionMethod => compression(None),
        U::InterpretationWithBits(colours, _) | U::UnsupportedInterpretation(colours) => {
            input(format!("is a TIFF of unsupported colours ({colours:?})"))
                .help("convert it to RGB: magick in.tif -colorspace sRGB out.tif")
        }
        _ => input("is a TIFF of an unsupported kind")
            .help("convert it to grey or RGB: magick in.tif -colorspace sRGB out.tif"),
    }
}

/// Unpacks samples of 1, 2 or 4 bits, in rows of whole bytes, to bytes.
fn unpack(packed: &[u8], row: usize, bits: u8) -> Vec<u8> {
    let (bits, each) = (usize::from(bits), 8 / usize::from(bits));
    let samples = |bytes: &[u8]| {
        let sample = |x: usize| bytes[x / each] >> (8 - bits - x % each * bits) & ((1 << bits) - 1);
        (0..row).map(sample).collect::<Vec<_>>()
    };
    packed.chunks((row * bits).div_ceil(8)).flat_map(samples).collect()
}

/// Converts CMYK to RGB: each colour is the light that neither its ink nor black absorbs.
fn cmyk<T: Copy>(samples: &[T], white: u64, wide: impl Fn(T) -> u64, narrow: impl Fn(u64) -> T) -> Vec<T> {
    let (pixels, _) = samples.as_chunks::<4>();
    let light = |&[c, m, y, k]: &[T; 4]| {
        let kept = white - wide(k);
        [c, m, y].map(|ink| narrow(((white - wide(ink)) * kept + white / 2) / white))
    };
    pixels.iter().flat_map(light).collect()
}

/// Parts of a picture besides its colours and samples.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Whether axis 0 counts pages.
    pub stack: bool,
    /// Whether colours are already multiplied by alpha.
    pub premultiplied: bool,
    /// White level, if not the largest value of the type.
    pub maxval: Option<u16>,
}

/// Encodes a picture, or a stack of them, without compression; long files are BigTIFF.
///
/// # Errors
/// If a side exceeds the limit of TIFF.
pub fn encode(shape: &[usize], colour: Colour, mut data: Data, kind: Kind, metadata: &Metadata) -> Outcome<Vec<u8>> {
    let Kind { stack, premultiplied, maxval } = kind;
    let alpha = if premultiplied { 1u16 } else { 2 };
    let pages = if stack { shape[0] } else { 1 };
    let [height, width] = [0, 1].map(|axis| u32::try_from(shape[axis + usize::from(stack)]));
    let (Ok(height), Ok(width)) = (height, width) else {
        return Err(input(format!("a picture of {} is too large for a TIFF", shape_text(shape))));
    };
    let mut bits = 8 * data.element().bytes() as u16;
    let few = few_bits(data.element(), maxval).filter(|_| colour == Colour::Grey);
    if let (Some(few), Data::U8(v)) = (few, &data) {
        data = pack(v, width as usize, few)?.into();
        bits = few.into();
    }
    let samples = data.native_bytes();
    let mut out = Cursor::new(room(samples.len() + (pages << 9))?);
    // Everything other than samples takes less than a hundredth.
    let result = if samples.len() as u64 > (4 << 30) / 100 * 99 - (pages as u64 * 1024) {
        TiffEncoder::new_big(&mut out)
            .and_then(|e| write_pages(e, [height, width], pages, (colour, alpha), bits, (&data, metadata)))
    } else {
        TiffEncoder::new(&mut out)
            .and_then(|e| write_pages(e, [height, width], pages, (colour, alpha), bits, (&data, metadata)))
    };
    result.map_err(|e| input(format!("the picture cannot be encoded: {}", words(e))))?;
    Ok(out.into_inner())
}

fn write_pages<K: TiffKind>(
    mut encoder: TiffEncoder<&mut Cursor<Vec<u8>>, K>,
    [height, width]: [u32; 2],
    pages: usize,
    (colour, alpha): (Colour, u16),
    bits: u16,
    (data, metadata): (&Data, &Metadata),
) -> TiffResult<()> {
    let element = data.element();
    let samples = data.native_bytes();
    let channels = colour.channels();
    let row = (width as usize * channels * usize::from(bits)).div_ceil(8);
    let rows = (STRIP / row).clamp(1, height as usize);
    let format: u16 = match element.code().as_bytes()[0] {
        b'u' => 1,
        b'i' => 2,
        _ => 3,
    };
    for page in samples.chunks(samples.len() / pages) {
        let mut directory = encoder.image_directory()?;
        let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
        for strip in page.chunks(rows * row) {
            offsets.push(K::convert_offset(directory.write_data(strip)?)?);
            lengths.push(K::convert_offset(strip.len() as u64)?);
        }
        directory.write_tag(Tag::ImageWidth, width)?;
        directory.write_tag(Tag::ImageLength, height)?;
        directory.write_tag(Tag::BitsPerSample, &vec![bits; channels][..])?;
        directory.write_tag(Tag::Compression, 1u16)?;
        let grey = matches!(colour, Colour::Grey | Colour::GreyAlpha);
        directory.write_tag(Tag::PhotometricInterpretation, if grey { 1u16 } else { 2 })?;
        directory.write_tag(Tag::StripOffsets, K::convert_slice(&offsets))?;
        directory.write_tag(Tag::SamplesPerPixel, channels as u16)?;
        directory.write_tag(Tag::RowsPerStrip, rows as u32)?;
        directory.write_tag(Tag::StripByteCounts, K::convert_slice(&lengths))?;
        directory.write_tag(Tag::PlanarConfiguration, 1u16)?;
        if matches!(colour, Colour::GreyAlpha | Colour::Rgba) {
            directory.write_tag(Tag::ExtraSamples, alpha)?;
        }
        directory.write_tag(Tag::SampleFormat, &vec![format; channels][..])?;
        write_metadata(&mut directory, metadata)?;
        directory.finish()?;
    }
    Ok(())
}
