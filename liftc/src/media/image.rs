//! Picture files: reads PNG, JPEG, TIFF and netpbm; writes PNG, TIFF and netpbm. Channels are the last axis.

use super::metadata::Metadata;
use super::{Array, Colour, Data, Element, Loss, Origin, Remarks, jpeg, pnm, shape_text, tiff};
use crate::failure::{Failure, Outcome, input, usage};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, Limits};
use std::io::{self, BufRead, Cursor, Read, Seek};
use std::path::Path;

/// Allocation limit of decoders in bytes, unless the file is at least half as long.
const MAX_DECODED: u64 = 4 << 30;

/// Allocation limit of decoders per byte of the file, in addition to 4 MiB. No format compresses more, so larger claims
/// of short files are false.
const MAX_RATIO: u64 = 4096;

/// Bytes that identify a file.
pub const MAGIC_BYTES: u64 = 132;
/// Signature of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Signature of a JPEG.
const JPEG: &[u8] = b"\xff\xd8\xff";

/// Advice about damaged JPEGs.
pub(super) const SALVAGE: &str = "restore the file from its source, or accept missing parts with --salvage";

/// Advice about DICOM files.
const DICOM: &str = "save its pixels as an array: np.save('a.npy', pydicom.dcmread('a.dcm').pixel_array)";

/// Tag of the directory of a GPS position, in EXIF and TIFF.
pub(super) const GPS: u16 = 34853;

/// Keyword of the text of a PNG that is XMP.
const XMP: &str = "XML:com.adobe.xmp";

/// Name of the position in notes; it is part of EXIF.
pub const GPS_POSITION: &str = "GPS position";

/// Name of a colour profile in notes.
pub(super) const ICC: &str = "ICC colour profile";

/// White level of samples of 1, 2 or 4 bits, which are stored as bytes.
pub(super) fn white_of_few(bits: u8) -> Option<u16> {
    matches!(bits, 1 | 2 | 4).then(|| (1 << bits) - 1)
}

/// Bits of samples stored as bytes with this white level, if they are 1, 2 or 4.
pub(super) fn few_bits(element: Element, maxval: Option<u16>) -> Option<u8> {
    [1, 2, 4].into_iter().find(|&bits| element == Element::U8 && maxval.is_some() && white_of_few(bits) == maxval)
}

/// Note about an orientation other than 1, by its number in EXIF and TIFF.
pub(super) fn orientation(number: u32) -> String {
    let meant = match number {
        2 => "mirrored",
        3 => "turned by 180°",
        4 => "upside down and mirrored",
        6 => "turned by 90° clockwise",
        8 => "turned by 90° anticlockwise",
        _ => "turned and mirrored",
    };
    format!("it should be shown {meant} (orientation {number}), which is not applied")
}

/// Message of a decoder without the names of its types: `ChunkType { type: IDAT, … }` becomes `IDAT`.
pub(super) fn words(error: impl std::fmt::Display) -> String {
    let mut text = error.to_string();
    if let Some((_, cause)) = text.split_once(": ").filter(|(format, _)| format.starts_with("Format error decoding")) {
        text = cause.to_owned();
    }
    while let Some((open, length)) = text.find(" { ").and_then(|at| Some((at, text[at..].find('}')? + 1))) {
        let start = text[..open].rfind(|c: char| !c.is_alphanumeric()).map_or(0, |at| at + 1);
        let mut fields = text[open + 3..open + length - 1].split(", ");
        let named = fields.find_map(|field| field.strip_prefix("type: ")).map(str::trim);
        let name = named.unwrap_or(&text[start..open]).to_owned();
        text.replace_range(start..open + length, &name);
    }
    text
}

pub(super) fn too_large(bytes: u64, most: u64) -> Failure {
    input(format!("the picture would take over {} MiB, the limit for a file of {bytes} bytes", most >> 20))
}

/// Reads a picture; its first bytes determine the format.
///
/// # Errors
/// If the file is not a picture, cannot be decoded, or is of an unsupported kind.
pub fn read<R: BufRead + Seek>(reader: R) -> Outcome<Array> {
    read_salvaging(reader, false)
}

/// [`read`]; `salvage` accepts a damaged JPEG, which becomes grey where data is missing.
///
/// # Errors
/// As for [`read`].
pub fn read_salvaging<R: BufRead + Seek>(mut reader: R, salvage: bool) -> Outcome<Array> {
    let unreadable = |e: io::Error| input(format!("cannot read: {}", crate::output::why(&e)));
    let bytes = reader.seek(io::SeekFrom::End(0)).map_err(unreadable)?;
    reader.rewind().map_err(unreadable)?;
    let mut magic = Vec::new();
    reader.by_ref().take(MAGIC_BYTES).read_to_end(&mut magic).map_err(unreadable)?;
    reader.rewind().map_err(unreadable)?;
    let most = bytes.saturating_mul(MAX_RATIO).saturating_add(4 << 20).min(MAX_DECODED.max(2 * bytes));
    if pnm::is(&magic) {
        return pnm::read(reader, bytes);
    }
    if tiff::is(&magic) {
        let read = tiff::read(reader, tiff::Ask { bytes, most, salvage });
        // Such files are DICOM and TIFF at once: their first bytes are free.
        let both =
            |f: Failure| f.at("is a DICOM file with a TIFF's header, and as a TIFF it cannot be read").help(DICOM);
        return read.map_err(|f| if is_dicom(&magic) { both(f) } else { f });
    }
    known(&magic)?;
    let format = if magic.starts_with(PNG) { ImageFormat::Png } else { ImageFormat::Jpeg };
    let mut whole = Vec::new();
    reader.read_to_end(&mut whole).map_err(unreadable)?;
    let (mut remarks, few) =
        if format == ImageFormat::Png { png_remarks(&whole) } else { (jpeg_remarks(&whole), None) };
    if let (ImageFormat::Jpeg, Err(damage)) = (format, jpeg::check(&whole)) {
        if !salvage {
            return Err(input(format!("the JPEG is damaged: {damage}")).help(SALVAGE));
        }
        remarks.lost(Loss::Damage, format!("the JPEG is damaged ({damage}), and parts of it may be wrong"));
    }
    let picture = decode(&whole, format, most, &mut remarks).map_err(|e| match e {
        ImageError::Limits(_) => too_large(bytes, most),
        e => input(format!("the picture cannot be decoded: {}", words(e))),
    })?;
    let (w, h) = (picture.width() as usize, picture.height() as usize);
    if w == 0 || h == 0 {
        return Err(input(format!("the picture has no pixels: {w} × {h}")));
    }
    let (colour, mut data): (Colour, Data) = match picture {
        DynamicImage::ImageLuma8(p) => (Colour::Grey, p.into_raw().into()),
        DynamicImage::ImageLumaA8(p) => (Colour::GreyAlpha, p.into_raw().into()),
        DynamicImage::ImageRgb8(p) => (Colour::Rgb, p.into_raw().into()),
        DynamicImage::ImageRgba8(p) => (Colour::Rgba, p.into_raw().into()),
        DynamicImage::ImageLuma16(p) => (Colour::Grey, p.into_raw().into()),
        DynamicImage::ImageLumaA16(p) => (Colour::GreyAlpha, p.into_raw().into()),
        DynamicImage::ImageRgb16(p) => (Colour::Rgb, p.into_raw().into()),
        DynamicImage::ImageRgba16(p) => (Colour::Rgba, p.into_raw().into()),
        _ => return Err(input("the picture has samples of an unknown kind")),
    };
    let mut shape = vec![h, w];
    if colour != Colour::Grey {
        shape.push(colour.channels());
    }
    let mut maxval = None;
    match (few, &mut data) {
        // The decoder has made white 255, a multiple of the file's white.
        (Some(white), Data::U8(samples)) if colour == Colour::Grey => {
            samples.owned().iter_mut().for_each(|sample| *sample /= 255 / white as u8);
            maxval = Some(white);
        }
        (Some(_), _) => remarks.note("its samples of less than 8 bits are read as 8, with white at 255"),
        (None, _) => {}
    }
    let format = if format == ImageFormat::Png { "png" } else { "jpeg" };
    let origin = Origin::Image {
        format: format.into(),
        colour,
        element: data.element(),
        maxval,
        stack: false,
        premultiplied: false,
    };
    Ok(remarks.about(Array::new(shape, data, origin)))
}

/// Checks that a file with these first bytes is a picture of a supported format.
///
/// # Errors
/// If it is not, with the kind of file if known.
pub fn known(magic: &[u8]) -> Outcome {
    if magic.starts_with(PNG) || magic.starts_with(JPEG) || pnm::is(magic) || tiff::is(magic) {
        return Ok(());
    }
    if is_dicom(magic) {
        return Err(input("is a DICOM file, which is not read").help(DICOM));
    }
    let what = foreign(magic)
        .map_or("is not a file that can be transformed".into(), |name| format!("is {name}, which is not read"));
    Err(input(what).help(
        "pictures in PNG, JPEG, TIFF, PGM, PPM, PBM or PAM, and arrays in .npy or .npz; the content decides, not the \
         name",
    ))
}

fn is_dicom(magic: &[u8]) -> bool {
    magic.get(128..132) == Some(&b"DICM"[..])
}

/// Kind of a common unsupported file with these first bytes.
fn foreign(magic: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 16] = [
        (b"GIF8", "a GIF"),
        (b"RIFF", "a WebP, WAV or AVI file"),
        (b"BM", "a BMP"),
        (b"\0\0\0\x0cjP  ", "a JPEG 2000 file"),
        (b"\xff\x4f\xff\x51", "a JPEG 2000 codestream"),
        (b"\xff\x0a", "a JPEG XL"),
        (b"\0\0\0\x0cJXL ", "a JPEG XL"),
        (b"\x76\x2f\x31\x01", "an OpenEXR file"),
        (b"8BPS", "a Photoshop file"),
        (b"PF\n", "a PFM"),
        (b"Pf\n", "a PFM"),
        (b"SIMPLE  ", "a FITS file"),
        (b"\x89HDF", "an HDF5 file"),
        (b"MATLAB 5", "a MATLAB file"),
        (b"%PDF", "a PDF"),
        (b"\x1f\x8b", "compressed by gzip"),
    ];
    KNOWN.iter().find(|(start, _)| magic.starts_with(start)).map(|(_, name)| *name)
}

fn decode(file: &[u8], format: ImageFormat, most: u64, remarks: &mut Remarks) -> ImageResult<DynamicImage> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(most);
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder()?;
    limits.reserve(decoder.total_bytes())?;
    // Faults in ignored parts are no reason to refuse the picture.
    remarks.metadata = Metadata {
        icc: decoder.icc_profile().ok().flatten(),
        exif: decoder.exif_metadata().ok().flatten(),
        xmp: decoder.xmp_metadata().ok().flatten(),
        tiff: None,
    };
    if remarks.metadata.icc.is_some() {
        remarks.ignored(ICC);
    }
    match decoder.orientation() {
        Ok(Orientation::NoTransforms) | Err(_) => {}
        Ok(turned) => remarks.note(orientation(turned.to_exif().into())),
    }
    DynamicImage::from_decoder(decoder)
}

/// Remarks on a PNG's chunks that samples do not carry, and the white level of grey samples of less than 8 bits.
fn png_remarks(file: &[u8]) -> (Remarks, Option<u16>) {
    let mut remarks = Remarks::default();
    let (mut palette, mut few) = (false, None);
    let mut rest = &file[8..];
    // A chunk has a length, a name, this many bytes, and their checksum.
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        let (Some(name), Some(data)) = (after.get(..4), after.get(4..).and_then(|d| d.get(..length))) else { break };
        match name {
            b"IHDR" if length == 13 => {
                palette = data[9] == 3;
                few = white_of_few(data[8]).filter(|_| !palette);
            }
            b"PLTE" if palette => remarks.note("colours of its palette are read as RGB"),
            b"tRNS" if palette => remarks.note("transparent colours of its palette become an alpha channel"),
            b"tRNS" => remarks.note("its transparent colour becomes an alpha channel"),
            b"acTL" => remarks.lost(Loss::Pages, "only the first picture of its animation is read"),
            b"eXIf" => exif(data, &mut remarks),
            b"gAMA" => remarks.ignored("gamma"),
            b"cHRM" => remarks.ignored("primary colours"),
            b"pHYs" => remarks.ignored("resolution"),
            b"iTXt" if data.strip_prefix(XMP.as_bytes()).is_some_and(|rest| rest.starts_with(b"\0")) => {
                remarks.ignored("XMP");
            }
            b"tEXt" | b"zTXt" | b"iTXt" => remarks.ignored("text"),
            _ => {}
        }
        rest = after.get(4 + length + 4..).unwrap_or(&[]);
    }
    (remarks, few)
}

/// Ignored metadata of an EXIF block, which is a TIFF without a picture.
fn exif(block: &[u8], remarks: &mut Remarks) {
    remarks.ignored("EXIF");
    let big = block.starts_with(b"MM");
    let word = |at: usize| {
        let bytes = *block.get(at..)?.first_chunk::<2>()?;
        Some(if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    };
    let long = |at: usize| {
        let [first, second] = [word(at)?, word(at + 2)?].map(usize::from);
        Some(if big { first << 16 | second } else { second << 16 | first })
    };
    let entries = long(4).and_then(|at| Some((at + 2, usize::from(word(at)?))));
    if entries.is_some_and(|(at, count)| (0..count).any(|entry| word(at + 12 * entry) == Some(GPS))) {
        remarks.ignored(GPS_POSITION);
    }
}

/// Remarks on a JPEG's markers before the scan.
fn jpeg_remarks(file: &[u8]) -> Remarks {
    let mut remarks = Remarks::default();
    let mut rest = &file[2..];
    // A marker is FF, its code, and a length that includes itself; fill bytes may precede it.
    while let [0xff, code, after @ ..] = rest {
        if *code == 0xff {
            rest = &rest[1..];
            continue;
        }
        let [high, low, ..] = *after else { break };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let data = after.get(2..length).unwrap_or(&[]);
        match code {
            // Start of a frame: precision, height, width, components.
            0xc0..=0xcf if ![0xc4, 0xc8, 0xcc].contains(code) && after.get(7) == Some(&4) => {
                remarks.lost(Loss::Cmyk, "CMYK is read as RGB, without its profile");
            }
            // JFIF: a name, two bytes of version, and a unit other than 0.
            0xe0 if data.starts_with(b"JFIF\0") && data.get(7).is_some_and(|unit| *unit > 0) => {
                remarks.ignored("resolution");
            }
            0xe1 if data.starts_with(b"Exif\0\0") => exif(&data[6..], &mut remarks),
            0xe1 if data.starts_with(b"http://ns.adobe.com/xap/1.0/\0") => remarks.ignored("XMP"),
            0xed if data.starts_with(b"Photoshop 3.0\0") => remarks.ignored("IPTC"),
            0xfe => remarks.ignored("comment"),
            0xda => break,
            _ => {}
        }
        rest = after.get(length..).unwrap_or(&[]);
    }
    remarks
}

/// Picture formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.png`
    Png,
    /// `.tif`, `.tiff`
    Tiff,
    /// One of netpbm's formats.
    Pnm(pnm::Kind),
    /// `.pnm`: grey or colour, depending on the picture.
    AnyPnm,
}

impl Format {
    /// Names of the metadata that files of this format do not keep.
    pub fn left(self, metadata: &Metadata) -> Vec<&'static str> {
        let Metadata { icc, exif, xmp, tiff } = metadata.clone();
        let left = match self {
            Format::Png => Metadata { tiff, ..Metadata::default() },
            Format::Tiff => Metadata { exif, ..Metadata::default() },
            Format::Pnm(_) | Format::AnyPnm => Metadata { icc, exif, xmp, tiff },
        };
        left.names()
    }
}

/// Picture format of a file name.
///
/// # Errors
/// If the extension is not one that can be written.
pub fn format_of(path: &Path) -> Outcome<Format> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "png" => Ok(Format::Png),
        "tif" | "tiff" => Ok(Format::Tiff),
        "pbm" => Ok(Format::Pnm(pnm::Kind::Pbm)),
        "pgm" => Ok(Format::Pnm(pnm::Kind::Pgm)),
        "ppm" => Ok(Format::Pnm(pnm::Kind::Ppm)),
        "pam" => Ok(Format::Pnm(pnm::Kind::Pam)),
        "pnm" => Ok(Format::AnyPnm),
        "jpg" | "jpeg" => {
            Err(usage(format!("{}: JPEG would lose data", path.display()))
                .help("write .png, .tiff, .pgm, .ppm or .pam"))
        }
        _ => Err(usage(format!("{}: the extension is not a picture format that can be written", path.display()))
            .help("end it in .png, .tiff, .pgm, .ppm, .pbm or .pam; arrays are .npy and .npz")),
    }
}

/// Channels of an array of this shape, if it can be a picture.
pub fn colour_of(shape: &[usize]) -> Option<Colour> {
    match shape {
        [_, _] => Some(Colour::Grey),
        [_, _, 2] => Some(Colour::GreyAlpha),
        [_, _, 3] => Some(Colour::Rgb),
        [_, _, 4] => Some(Colour::Rgba),
        _ => None,
    }
}

/// Picture to be written to a file.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Height and width, preceded by the pages of a stack, and followed by the channels if there are several.
    pub shape: Vec<usize>,
    /// Channels.
    pub colour: Colour,
    /// Samples.
    pub data: Data,
    /// White level, if not the largest value of the type.
    pub maxval: Option<u16>,
    /// Whether axis 0 counts pages.
    pub stack: bool,
    /// Whether colours are already multiplied by alpha.
    pub premultiplied: bool,
    /// Metadata. Formats keep different parts: see [`Format::left`].
    pub metadata: Metadata,
}

impl Picture {
    /// Whether a file of this format keeps the white level.
    pub fn keeps_white(&self, format: Format) -> bool {
        let few = few_bits(self.data.element(), self.maxval).is_some();
        let named = match format {
            Format::Pnm(_) | Format::AnyPnm => true,
            Format::Png | Format::Tiff => few && self.colour == Colour::Grey,
        };
        named || self.maxval.is_none_or(|m| [(1, 255), (2, 65535)].contains(&(self.data.element().bytes(), m)))
    }

    /// Encodes the picture as a file of a format.
    ///
    /// # Errors
    /// If the format does not support the samples, the colours, or several pages.
    pub fn encode(self, format: Format) -> Outcome<Vec<u8>> {
        let Picture { shape, colour, mut data, maxval, stack, premultiplied, metadata } = self;
        // A sidecar may contain any source.
        let (pages, pixels) = shape.split_at(usize::from(stack).min(shape.len()));
        if pages.len() != usize::from(stack) || colour_of(pixels) != Some(colour) {
            return Err(input(format!("{} is not a shape of such a picture", shape_text(&shape)))
                .help("write an array: -o NAME.npy"));
        }
        if stack && format != Format::Tiff {
            return Err(input(format!("{} is a stack of pictures, and only TIFF has pages", shape_text(&shape)))
                .help("write .tiff, or an array: -o NAME.npy"));
        }
        // Only TIFF can record it.
        if premultiplied && format != Format::Tiff {
            data = data.divided(colour);
        }
        match format {
            Format::Png => png(&shape, colour, data, maxval, metadata),
            Format::Tiff => tiff::encode(&shape, colour, data, tiff::Kind { stack, premultiplied, maxval }, &metadata),
            Format::Pnm(kind) => pnm::encode(kind, &shape, colour, data, maxval),
            Format::AnyPnm => {
                let kind = if colour == Colour::Grey { pnm::Kind::Pgm } else { pnm::Kind::Ppm };
                pnm::encode(kind, &shape, colour, data, maxval)
            }
        }
    }
}

/// Packs rows of `row` samples below 2^bits into bytes, from the highest bits on; each row begins at a whole byte.
///
/// # Errors
/// If a sample has more bits.
pub(super) fn pack(samples: &[u8], row: usize, bits: u8) -> Outcome<Vec<u8>> {
    if let Some(sample) = samples.iter().find(|&&sample| sample >> bits > 0) {
        return Err(input(format!("a sample is {sample}, which does not fit {bits} bits")));
    }
    let each = usize::from(8 / bits);
    let byte = |part: &[u8]| (0..).zip(part).fold(0, |byte, (i, sample)| byte | sample << (8 - bits - i * bits));
    Ok(samples.chunks(row.max(1)).flat_map(|row| row.chunks(each).map(byte)).collect())
}

fn png(shape: &[usize], colour: Colour, mut data: Data, maxval: Option<u16>, metadata: Metadata) -> Outcome<Vec<u8>> {
    let size = |n: usize| u32::try_from(n).map_err(|_| input(format!("a side of {n} pixels is too long")));
    let (h, w) = (size(shape[0])?, size(shape[1])?);
    let kind = match colour {
        Colour::Grey => png::ColorType::Grayscale,
        Colour::GreyAlpha => png::ColorType::GrayscaleAlpha,
        Colour::Rgb => png::ColorType::Rgb,
        Colour::Rgba => png::ColorType::Rgba,
    };
    let name = data.element().name();
    let few = few_bits(data.element(), maxval).filter(|_| colour == Colour::Grey);
    let depth = match (&mut data, few) {
        (Data::U8(samples), Some(bits)) => {
            data = pack(samples, shape[1], bits)?.into();
            match bits {
                1 => png::BitDepth::One,
                2 => png::BitDepth::Two,
                _ => png::BitDepth::Four,
            }
        }
        (Data::U8(_), None) => png::BitDepth::Eight,
        (Data::U16(samples), _) => {
            samples.owned().iter_mut().for_each(|sample| *sample = sample.to_be());
            png::BitDepth::Sixteen
        }
        _ => {
            return Err(input(format!("{name} samples cannot be written as a picture of this format"))
                .help("write .tiff, which holds them, or an array: -o NAME.npy"));
        }
    };
    let mut bytes = Vec::new();
    let mut info = png::Info::with_size(w, h);
    info.icc_profile = metadata.icc.map(Into::into);
    info.exif_metadata = metadata.exif.map(Into::into);
    let xmp = metadata.xmp.and_then(|text| String::from_utf8(text).ok());
    info.utf8_text.extend(xmp.map(|text| png::text_metadata::ITXtChunk::new(XMP, text)));
    let cannot = |e: png::EncodingError| {
        input(format!("the picture cannot be encoded: {}", words(e))).help("write .tiff, or an array: -o NAME.npy")
    };
    let mut encoder = png::Encoder::with_info(&mut bytes, info).map_err(cannot)?;
    encoder.set_color(kind);
    encoder.set_depth(depth);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::Filter::Adaptive);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(data.native_bytes())?;
        writer.finish()
    });
    written.map_err(cannot)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmyk_jpegs_are_detected() {
        // An application segment, a fill byte, and the frame: length, precision, height, width, components.
        let jpeg = |components: u8| {
            let head = [0xff, 0xd8, 0xff, 0xee, 0, 4, 1, 2, 0xff, 0xff, 0xc2, 0, 20, 8, 0, 1, 0, 1];
            [&head[..], &[components, 1, 0x11, 0]].concat()
        };
        let lost = |file: &[u8]| jpeg_remarks(file).lost.into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(lost(&jpeg(4)), ["CMYK is read as RGB, without its profile"]);
        assert_eq!(lost(&jpeg(3)), [""; 0]);
        assert_eq!(lost(&jpeg(4)[..15]), [""; 0]);
    }

    #[test]
    fn samples_are_packed_by_rows() {
        assert_eq!(
            pack(&[1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1], 9, 1).unwrap(),
            [0xb0, 0x80, 0x40, 0x80]
        );
        assert_eq!(pack(&[3, 0, 1, 2, 1], 5, 2).unwrap(), [0xc6, 0x40]);
        assert_eq!(pack(&[15, 1, 2], 3, 4).unwrap(), [0xf1, 0x20]);
        assert!(pack(&[2], 1, 1).unwrap_err().render(false, 200).contains("a sample is 2"));
    }

    #[test]
    fn ignored_metadata_is_one_note() {
        // Little-endian, one entry: a pointer to the GPS directory.
        let gps = b"II\x2a\0\x08\0\0\0\x01\0\x25\x88\x04\0\x01\0\0\0\0\0\0\0\0\0\0\0";
        let segment =
            |code: u8, data: &[u8]| [&[0xff, code][..], &(data.len() as u16 + 2).to_be_bytes(), data].concat();
        let exif = segment(0xe1, &[b"Exif\0\0", &gps[..]].concat());
        let jfif = segment(0xe0, b"JFIF\0\x01\x02\x01\0\x48\0\x48\0\0");
        let notes = |file: &[Vec<u8>]| super::super::metadata::ignored(&jpeg_remarks(&file.concat()).ignored);
        let begin = vec![0xff, 0xd8];
        assert_eq!(notes(&[begin.clone(), jfif.clone()]).unwrap(), "its resolution is ignored");
        let both = notes(&[begin.clone(), jfif, exif]).unwrap();
        assert_eq!(both, "its resolution, EXIF and GPS position are ignored");
        assert_eq!(notes(&[begin, segment(0xe0, b"JFIF\0\x01\x02\0\0\x01\0\x01\0\0")]), None);
    }

    #[test]
    fn decoder_messages_are_plain() {
        let chunk = "ChunkType { type: IDAT, critical: true, private: false, reserved: false, safecopy: false }";
        let error =
            format!("Format error decoding Png: CRC error: expected 0x1 have 0x2 while decoding {chunk} chunk.");
        assert_eq!(words(error), "CRC error: expected 0x1 have 0x2 while decoding IDAT chunk.");
        assert_eq!(words("a tag of Value { 7 } and Other { a: 1, b: 2 }"), "a tag of Value and Other");
        assert_eq!(words("a brace { that stays open"), "a brace { that stays open");
    }
}
