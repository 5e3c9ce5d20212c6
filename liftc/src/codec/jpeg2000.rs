//! JPEG 2000 and HTJ2K streams of `liftc encode`, `decode`, `transcode` and `info`.

use super::decode::ENDS_EARLY;
use super::read;
use crate::cli::{DecodeArgs, DeviceArg, EncodeArgs, StreamFormat};
use crate::failure::{Failure, Outcome, input, usage};
use crate::media::metadata::Metadata;
use crate::media::{Array, Colour, Data};
use crate::output::{input_name, output_name, write_file};
use lifting_codec::Image;
use lifting_jpeg2000::codestream::{Steps, Wavelet, name_of};
use lifting_jpeg2000::file::{Boxes, ColourSpace, Definition};
use lifting_jpeg2000::{Coder, Component, Decoder, Encoder, Error, Rect, Target};
use std::fmt::Write;
use std::path::Path;

/// Most samples of a picture: 2^30, which take 4 GiB.
const MAX_SAMPLES: u128 = 1 << 30;

/// Whether data begins as a codestream or as a file of the JP2 family.
pub fn is_stream(data: &[u8]) -> bool {
    data.starts_with(&[0xff, 0x4f, 0xff, 0x51]) || data.starts_with(b"\x00\x00\x00\x0cjP  ")
}

/// Settings shared by all pictures.
pub struct Request {
    encoder: Encoder,
    /// Quality from 1 to 100; the step depends on the picture's bits.
    quality: Option<f64>,
    is_file: bool,
}

impl Request {
    /// Checks the settings.
    pub fn new(args: &EncodeArgs, format: StreamFormat) -> Outcome<Request> {
        let target = match (args.psnr, args.bpp, args.quality) {
            (Some(decibels), _, _) => Target::Psnr(decibels),
            (_, Some(bits), _) => Target::BitsPerPixel(bits),
            // For 8 bits; each picture has its own.
            (_, _, Some(quality)) => Target::of_quality(quality, 8)
                .ok_or_else(|| usage(format!("a quality of {quality}; 1 to 100 are allowed")))?,
            _ => Target::Lossless,
        };
        let name = format.name();
        let wavelet = if target == Target::Lossless { "legall53" } else { "cdf97" };
        let only = |flag: &str, help: &str| {
            Err(usage(format!(".{name} streams do not know {flag}")).help(format!("{help}, or write .lpc")))
        };
        if args.wavelet.as_deref().is_some_and(|named| named != wavelet) {
            return only("other wavelets", "leave out -w: legall53 without loss, cdf97 otherwise");
        }
        if args.passes != 2 {
            return only("--passes", "leave it out");
        }
        if args.fast != 0 {
            return only("--fast", "leave it out");
        }
        if args.fit {
            return only("--fit", "leave it out");
        }
        if !matches!(args.device, DeviceArg::Cpu | DeviceArg::Best) {
            return Err(usage(format!(".{name} streams are coded on the processor")).help("leave out --device"));
        }
        let coder = coder_of(format);
        let encoder = Encoder::default().coder(coder).target(target).layers(args.layers);
        let encoder = encoder.block(args.block[0], args.block[1]);
        let encoder = if args.levels == 5 { encoder } else { encoder.levels(args.levels) };
        let encoder = match args.tile {
            Some([height, width]) => encoder.tile(height as u32, width as u32).lengths(true, true),
            None => encoder,
        };
        Ok(Request { encoder, quality: args.quality, is_file: is_file(format) })
    }

    /// Takes the metadata that files keep from an array. `plain`: components are not colours.
    pub fn take_metadata(&self, array: &mut Array, plain: bool) -> Metadata {
        if !self.is_file {
            return Metadata::default();
        }
        let mut metadata = Metadata { tiff: None, ..std::mem::take(&mut array.metadata) };
        let space: &[u8] = match array.origin.colour() {
            Some(Colour::Grey | Colour::GreyAlpha) => b"GRAY",
            Some(Colour::Rgb | Colour::Rgba) if !plain => b"RGB ",
            _ => b"",
        };
        // Bytes 16 to 19 of a profile name the colours that it describes (ICC.1, 7.2).
        metadata.icc = metadata.icc.filter(|profile| profile.get(16..20) == Some(space));
        super::encode::keep(array, &metadata);
        metadata
    }

    /// Stream of a picture. `colour` says whether its first three components are red, green and blue, `alpha` whether
    /// the last one is opacity.
    pub fn encode(&self, image: &Image, colour: bool, alpha: bool, metadata: Metadata) -> Outcome<Vec<u8>> {
        let Image { height, width, components, bits, signed, ref samples } = *image;
        let picture =
            lifting_jpeg2000::Image::interleaved([height, width, components], bits, signed, samples).map_err(input)?;
        let encoder = self.encoder.clone().colour(colour);
        // Checked before.
        let target = self.quality.and_then(|quality| Target::of_quality(quality, bits));
        let encoder = target.into_iter().fold(encoder, Encoder::target);
        let mut boxes = Boxes::default();
        if alpha {
            let definition = |channel: usize| match channel + 1 == components {
                true => Definition { channel: channel as u16, kind: 1, association: 0 },
                false => Definition { channel: channel as u16, kind: 0, association: channel as u16 + 1 },
            };
            boxes.definitions = (0..components).map(definition).collect();
        }
        if components >= 3 && !colour {
            // Not red, green and blue: each component is grey.
            boxes.colour = ColourSpace::Enumerated(17);
        }
        if let Some(profile) = metadata.icc {
            boxes.colour = ColourSpace::Icc(profile);
        }
        let blocks = [(EXIF, metadata.exif), (XMP, metadata.xmp)];
        boxes.others =
            blocks.into_iter().filter_map(|(id, block)| Some((*b"uuid", [&id[..], &block?].concat()))).collect();
        let stream = if self.is_file { encoder.encode_file(&picture, &boxes) } else { encoder.encode(&picture) };
        stream.map_err(|error| match error {
            Error::Setting(_) => usage(error),
            _ => input(error),
        })
    }
}

/// Identifier of a `uuid` box with EXIF.
const EXIF: [u8; 16] = *b"JpgTiffExif->JP2";

/// Identifier of a `uuid` box with XMP (XMP specification, part 3, 1.1.4).
const XMP: [u8; 16] = *b"\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac";

/// Metadata in the boxes of a file.
fn metadata_of(boxes: &Boxes) -> Metadata {
    let block = |id: [u8; 16]| {
        let contents = |(kind, bytes): &([u8; 4], Vec<u8>)| match kind {
            b"uuid" => bytes.strip_prefix(&id).map(<[u8]>::to_vec),
            _ => None,
        };
        boxes.others.iter().find_map(contents)
    };
    let icc = match &boxes.colour {
        ColourSpace::Icc(profile) => Some(profile.clone()),
        _ => None,
    };
    Metadata { icc, exif: block(EXIF), xmp: block(XMP), tiff: None }
}

fn is_file(format: StreamFormat) -> bool {
    matches!(format, StreamFormat::Jph | StreamFormat::Jp2)
}

fn coder_of(format: StreamFormat) -> Coder {
    match format {
        StreamFormat::Jp2 | StreamFormat::J2k => Coder::Ebcot,
        _ => Coder::Ht,
    }
}

/// Transcodes one stream, and returns a line of report.
pub fn transcode(format: StreamFormat, path: &Path, output: &Path) -> Outcome<String> {
    let place = input_name(path);
    if format == StreamFormat::Lpc {
        return Err(usage(".lpc streams cannot be transcoded to").help("decode and encode: liftc decode, liftc encode"));
    }
    let old = read(path)?;
    let at = |error: Error| input(error).at(&place);
    let new = lifting_jpeg2000::transcode_to(&old, coder_of(format), is_file(format)).map_err(at)?;
    write_file(output, |w| w.write_all(&new))?;
    let share = 100.0 * new.len() as f64 / old.len() as f64;
    Ok(format!("{}: {} bytes, {share:.1} % of {}\n", output_name(output), new.len(), old.len()))
}

/// Decoded samples.
pub struct Decoded {
    /// Rows, columns, and components if there are several.
    pub shape: Vec<usize>,
    /// Samples, with a pixel's components adjacent.
    pub data: Data,
    /// Bits of a sample.
    pub bits: u32,
    /// Whether samples are signed.
    pub signed: bool,
    /// Missing and broken parts of the stream.
    pub faults: Vec<String>,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// Description of the stream.
    pub from: String,
    /// Metadata of the file.
    pub metadata: Metadata,
}

/// Decodes a stream. `as_picture` says whether the output is a picture, which has red, green and blue.
pub fn decode(args: &DecodeArgs, stream: &[u8], as_picture: bool) -> Outcome<Decoded> {
    if !matches!(args.device, DeviceArg::Cpu | DeviceArg::Best) {
        return Err(usage("JPEG 2000 streams are decoded on the processor").help("leave out --device"));
    }
    let failure = |error: Error| -> Failure {
        match error {
            Error::Reduction { reduce, levels } => {
                usage(format!("invalid level {reduce}: this picture has levels 0 (full size) to {levels}"))
            }
            Error::Region { .. } => usage(error),
            _ => input(error),
        }
    };
    let mut decoder = Decoder::new(stream).map_err(failure)?.reduce(args.level.unwrap_or(0)).most_samples(MAX_SAMPLES);
    if let Some(layers) = args.layers {
        decoder = decoder.layers(layers);
    }
    if let Some(region) = args.picture_region()? {
        let area = decoder.codestream().size.area;
        let along = |start: u32, from: usize, length: usize| {
            let end = |n: usize| start.saturating_add(u32::try_from(n).unwrap_or(u32::MAX));
            (end(from), end(from.saturating_add(length)))
        };
        let ((x0, x1), (y0, y1)) = (along(area.x0, region.x, region.width), along(area.y0, region.y, region.height));
        decoder = decoder.region(Rect { x0, y0, x1, y1 });
    }
    let picture = decoder.decode().map_err(failure)?;
    let (mut faults, mut notes) = (Vec::new(), Vec::new());
    if !picture.complete {
        faults.push(ENDS_EARLY.to_owned());
    }
    if picture.broken_blocks > 0 {
        faults.push(format!("{} codeblocks are broken", picture.broken_blocks));
    }
    let mut image = picture.image;
    let formats = |image: &lifting_jpeg2000::Image| -> Vec<(u32, bool)> {
        image.components.iter().map(|c| (c.bits, c.signed)).collect()
    };
    if image.components.iter().any(|c| (c.dx, c.dy) != (image.components[0].dx, image.components[0].dy)) {
        notes.push("components of fewer samples are enlarged".into());
        image = image.enlarged().map_err(failure)?;
    }
    let ycc = decoder.file().is_some_and(|file| file.boxes.colour == ColourSpace::Enumerated(18));
    if as_picture && ycc && image.components.len() >= 3 {
        image = image.rgb_of_ycc();
    }
    let (bits, signed) = formats(&image).into_iter().fold((1, false), |all, one| (all.0.max(one.0), all.1 | one.1));
    if formats(&image).iter().any(|format| *format != (bits, signed)) {
        notes.push(format!("components differ in bits or sign; the samples are as decoded, in {bits} bits"));
    }
    let components = image.components.len();
    let Component { height, width, .. } = image.components[0];
    let samples = image.into_interleaved().map_err(failure)?;
    let codec_image = Image { height, width, components, bits, signed, samples };
    let (shape, data) = super::decode::array(codec_image, false)?;
    let coding = decoder.codestream().parameters.coding.clone();
    let from = coding.map_or_else(String::new, |coding| {
        let coder = if coding.coder == Coder::Ht { "HTJ2K" } else { "JPEG 2000" };
        format!("{coder}, {} × {}", coding.levels, name_of_wavelet(coding.wavelet))
    });
    let metadata = decoder.file().map_or_else(Metadata::default, |file| metadata_of(&file.boxes));
    Ok(Decoded { shape, data, bits, signed, faults, notes, from, metadata })
}

fn name_of_wavelet(wavelet: Wavelet) -> &'static str {
    match wavelet {
        Wavelet::LeGall53 => "legall53",
        Wavelet::Cdf97 => "cdf97",
    }
}

/// Headers and marker segments of a stream, in lines.
pub fn describe(data: &[u8]) -> Outcome<String> {
    let decoder = Decoder::new(data).map_err(input)?;
    let stream = decoder.codestream();
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<13}{value}");
    };
    if let Some(file) = decoder.file() {
        let brand = String::from_utf8_lossy(&file.brand).trim_end().to_owned();
        let colour = match &file.boxes.colour {
            ColourSpace::Usual => "not specified".into(),
            ColourSpace::Enumerated(16) => "sRGB".into(),
            ColourSpace::Enumerated(17) => "grey".into(),
            ColourSpace::Enumerated(18) => "sYCC".into(),
            ColourSpace::Enumerated(other) => format!("enumerated space {other}"),
            ColourSpace::Icc(profile) => format!("ICC profile of {} bytes", profile.len()),
        };
        line("file", format!("{brand}, colours: {colour}"));
        if let Some(palette) = &file.boxes.palette {
            let columns = palette.formats.len();
            line("palette", format!("{} entries of {columns} columns", palette.entries.len() / columns.max(1)));
        }
        for (kind, bytes) in &file.boxes.others {
            let contents = [(EXIF, " of EXIF"), (XMP, " of XMP")].into_iter().find(|(id, _)| bytes.starts_with(id));
            let contents = contents.map_or("", |(_, name)| name);
            line("box", format!("{}{contents}, {} bytes", String::from_utf8_lossy(kind), bytes.len()));
        }
    }
    let size = &stream.size;
    line("picture", format!("{} × {}", size.area.height(), size.area.width()));
    if (size.area.x0, size.area.y0) != (0, 0) {
        line("area", size.area.to_string());
    }
    let mut first = 0;
    for alike in size.components.chunk_by(|a, b| a == b) {
        let Component { height, width, bits, signed, .. } = alike[0];
        let sign = if signed { ", signed" } else { "" };
        let last = first + alike.len() - 1;
        let name = if first == last { format!("component {first}") } else { format!("comp. {first} – {last}") };
        line(&name, format!("{height} × {width} of {bits} bits{sign}"));
        first = last + 1;
    }
    let [columns, rows] = size.tiles();
    if columns * rows > 1 {
        line("tiles", format!("{} × {}, {rows} × {columns} of them", size.tile.height(), size.tile.width()));
    }
    let parameters = &stream.parameters;
    if let Some(order) = &parameters.order {
        let colour = if order.colour { "luminance and chrominance" } else { "none" };
        line("colour", colour.into());
        line("packets", format!("{}, {} layers", order.progression.name(), order.layers));
    }
    if let Some(coding) = &parameters.coding {
        let coder = if coding.coder == Coder::Ht { "HTJ2K (Part 15)" } else { "EBCOT (Part 1)" };
        line("coder", coder.into());
        line("wavelet", format!("{} × {}", coding.levels, name_of_wavelet(coding.wavelet)));
        line("codeblocks", format!("{} × {}", 1 << coding.block[1], 1 << coding.block[0]));
    }
    if let Some(quantisation) = &parameters.quantisation {
        let steps = match &quantisation.steps {
            Steps::Reversible(_) => "none: reversible",
            Steps::Derived(_) => "derived from one step",
            Steps::Each(_) => "a step for each band",
        };
        line("quantiser", format!("{steps}, {} guard bits", quantisation.guard));
    }
    for comment in &stream.comments {
        match comment {
            Ok(text) => line("comment", text.escape_debug().to_string()),
            Err(bytes) => line("comment", format!("{bytes} bytes")),
        }
    }
    for marker in &stream.markers {
        let tile = marker.tile.map_or_else(String::new, |tile| format!(", tile {tile}"));
        line(&format!("at {}", marker.at), format!("{}, {} bytes{tile}", name_of(marker.code), marker.length));
    }
    line("size", format!("{} bytes", data.len()));
    if !stream.complete {
        line("cut", "the stream has no end marker".into());
    }
    Ok(text)
}
