//! `liftc encode`: pictures to streams.

use super::{field, jpeg2000};
use crate::cli::{ColourArg, EncodeArgs, StreamFormat};
use crate::failure::{Failure, Outcome, input, usage};
use crate::media::image::GPS_POSITION;
use crate::media::metadata::{Metadata, ignored};
use crate::media::rows::{self, Rows};
use crate::media::tiff::names_of_tags;
use crate::media::{self, Array, Ask, Colour, Data, Element, Loss, Origin, PREMULTIPLIED, Samples, shape_text};
use crate::output::{input_name, is_stream, output_name, write_file};
use crate::transform::note;
use crate::{warn, wavelet};
use clap::ValueEnum;
use lifting::{Domain, GeometryError, PlanError};
use lifting_codec::block::Passes;
use lifting_codec::{Codec, CodecBuilder, CodecError, Format, Image, Target};
use std::io::Write;
use std::path::Path;

/// Settings shared by all pictures.
pub struct Request {
    coding: Coding,
    lossless: bool,
    colour: ColourArg,
    array: Option<String>,
    /// Whether metadata must be kept.
    strict: bool,
    drop: Vec<Loss>,
    salvage: bool,
    quiet: bool,
}

/// Encoder of a format.
enum Coding {
    /// Lifting's own.
    Own {
        /// Without and with the colour transform.
        codecs: Box<[Codec; 2]>,
        /// Lossless ones, for a rate that suffices: only where no wavelet is named.
        exact: Option<(f64, Box<[Codec; 2]>)>,
    },
    Jpeg2000(Box<jpeg2000::Request>),
}

impl Request {
    /// Resolves the wavelet and checks the settings.
    pub fn new(args: &EncodeArgs, format: StreamFormat) -> Outcome<Request> {
        if args.max_error.is_some() && format != StreamFormat::Lpc {
            return Err(usage("--max-error is not for JPEG 2000").help("end the output in .lpc"));
        }
        let coding = match format {
            StreamFormat::Lpc => Coding::own(args)?,
            _ => Coding::Jpeg2000(Box::new(jpeg2000::Request::new(args, format)?)),
        };
        Ok(Request {
            coding,
            lossless: args.psnr.is_none() && args.bpp.is_none() && args.quality.is_none(),
            colour: args.colour,
            array: args.array.clone(),
            strict: args.lossless,
            drop: args.drop.clone(),
            salvage: args.salvage,
            quiet: args.quiet,
        })
    }
}

impl Coding {
    fn own(args: &EncodeArgs) -> Outcome<Coding> {
        let target = match (args.psnr, args.bpp, args.quality) {
            (Some(decibels), _, _) => Target::Psnr(decibels),
            (_, Some(bits), _) => Target::BitsPerPixel(bits),
            (_, _, Some(quality)) => Target::Quality(quality),
            _ => Target::Lossless,
        };
        let word = args.wavelet.as_deref().unwrap_or(if target == Target::Lossless { "legall53" } else { "cdf97" });
        let named = wavelet::resolve_one(word)?;
        warn(&named.source.name, &named.source.text, &named.warnings);
        let scheme = &named.schemes[0];
        if target == Target::Lossless && scheme.domain() == Domain::Real {
            let text = format!("`{}` is a real wavelet: lossless coding needs an integer wavelet", scheme.name());
            return Err(usage(text).help("use -w legall53, or set a quality, as in --psnr 45"));
        }
        let passes = if args.passes == 3 { Passes::Three } else { Passes::Two };
        let builder = Codec::builder(scheme).levels(args.levels).target(target).passes(passes).fast(args.fast);
        let builder = builder.block(args.block[0], args.block[1]).fitted(args.fit);
        let builder = builder.layers(args.layers);
        let builder = args.tile.into_iter().fold(builder, |builder, [height, width]| builder.tile(height, width));
        let builder = builder.device(crate::bench::open(args.device, args.quiet, "coded")?);
        let exact = match target {
            Target::BitsPerPixel(bits) if args.wavelet.is_none() => {
                let legall = lifting::catalogue::find("legall53").map_err(input)?;
                Some((bits, both(&builder.clone().wavelet(&legall).lossless())?))
            }
            _ => None,
        };
        Ok(Coding::Own { codecs: both(&builder)?, exact })
    }
}

/// Codecs without and with the colour transform.
fn both(builder: &CodecBuilder) -> Outcome<Box<[Codec; 2]>> {
    let codec = |colour: bool| {
        builder.clone().colour(colour).build().map_err(|e| match e {
            CodecError::Plan(e) => input(e),
            e => usage(e),
        })
    };
    Ok(Box::new([codec(false)?, codec(true)?]))
}

/// Encodes one picture or field, and returns a line of report.
pub fn run(args: &EncodeArgs, request: &Request, path: &Path, output: &Path) -> Outcome<String> {
    let place = input_name(path);
    if let (Coding::Own { codecs, .. }, Some(memory), false) = (&request.coding, args.memory, is_stream(path))
        && let Some(rows) = rows::open(path).map_err(|f| f.at(&place))?
        && request.memory(&rows.about.shape, None) > memory.into()
    {
        return by_rows(request, codecs, (rows, args.tile, args.levels, memory), &place, output);
    }
    let mut array = media::read(path, Ask { member: request.array.as_deref(), salvage: request.salvage })?;
    if let Some(memory) = args.memory.filter(|&memory| request.memory(&array.shape, None) > memory.into()) {
        let text = format!("the picture needs more memory than the {} MiB of --memory", memory >> 20);
        return Err(input(text).at(&place).help("convert it to .pgm, .ppm, .npy or TIFF, which are read by rows"));
    }
    if request.drop.contains(&Loss::Metadata) {
        (array.ignored, array.metadata) = Default::default();
    }
    if let (Coding::Own { .. }, Some(tolerance)) = (&request.coding, field::tolerance(args, &array)) {
        request.check_losses(&array).map_err(|f| f.at(&place))?;
        let (shape, element) = (shape_text(&array.shape), array.data.element());
        let raw = array.data.len() * element.bytes();
        let (stream, error) = field::encode(array, tolerance).map_err(|f| f.at(&place))?;
        write_file(output, |w| w.write_all(&stream))?;
        let ratio = raw as f64 / stream.len() as f64;
        let (name, bytes) = (output_name(output), stream.len());
        return Ok(format!("{name}: {shape} of {} in {bytes} bytes, ratio {ratio:.2}, {error}\n", element.name()));
    }
    if let (true, Some(colour)) = (array.origin.is_premultiplied(), array.origin.colour()) {
        // Streams cannot record it.
        array.data = array.data.divided(colour);
        array.notes.retain(|text| text != PREMULTIPLIED);
        array.lost.push((Loss::Alpha, "its colours are divided by alpha, which rounds them".into()));
    }
    let metadata = match &request.coding {
        Coding::Jpeg2000(own) => own.take_metadata(&mut array, request.colour == ColourArg::None),
        Coding::Own { .. } => {
            let metadata = std::mem::take(&mut array.metadata);
            keep(&mut array, &metadata);
            metadata
        }
    };
    request.check_losses(&array).map_err(|f| f.at(&place))?;
    let mut notes: Vec<String> = Some(array.remarks()).filter(|text| !text.is_empty()).into_iter().collect();
    let asked = request.colour == ColourArg::None;
    if !asked {
        check_axes(&array).map_err(|f| f.at(&place))?;
    }
    let component_axis = array.shape.len() == 3;
    let alpha = array.origin.colour().is_some_and(|colour| matches!(colour, Colour::GreyAlpha | Colour::Rgba));
    let (image, colour) = picture(array, &mut notes).map_err(|f| f.at(&place))?;
    let colour = usize::from(colour && !asked);
    let stream = match &request.coding {
        Coding::Own { codecs, exact } => {
            let with = |codecs: &[Codec; 2]| {
                let codec = codecs[colour].clone().component_axis(component_axis);
                codec.metadata(&metadata).map_err(|e| input(e).help("leave it behind: --drop metadata").at(&place))
            };
            let exact = exact.as_ref().map(|(bits, codecs)| Ok((*bits, with(codecs)?))).transpose()?;
            own(&with(codecs)?, exact, &image, &mut notes)
        }
        Coding::Jpeg2000(request) => request.encode(&image, colour == 1, alpha, metadata),
    };
    if !notes.is_empty() {
        note(request.quiet, &format!("{place}: {}", notes.join("; ")));
    }
    let stream = stream.map_err(|f| f.at(&place))?;
    write_file(output, |w| w.write_all(&stream))?;
    Ok(report(output, image.format(), stream.len() as u64))
}

/// Line of report about a stream.
fn report(output: &Path, format: Format, bytes: u64) -> String {
    let Format { height, width, components, bits, .. } = format;
    let each = 8.0 * bytes as f64 / (height as f64 * width as f64);
    let raw = f64::from(bits) * components as f64;
    let shape = shape_text(&[height, width, components][..if components == 1 { 2 } else { 3 }]);
    let share = 100.0 * each / raw;
    format!("{}: {shape} in {bytes} bytes, {each:.3} bits a pixel, {share:.1} % of {raw}\n", output_name(output))
}

/// Writer that counts its bytes.
struct Counter<'a>(&'a mut dyn Write, u64);

impl Write for Counter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1 += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Encodes a picture by rows of tiles, which have at most this memory, and returns a line of report.
fn by_rows(
    request: &Request,
    codecs: &[Codec; 2],
    (rows, tile, levels, memory): (Rows, Option<[usize; 2]>, u32, u64),
    place: &str,
    output: &Path,
) -> Outcome<String> {
    let Rows { about: mut array, mut next } = rows;
    let at = |f: Failure| f.at(place);
    if request.drop.contains(&Loss::Metadata) {
        (array.ignored, array.metadata) = Default::default();
    }
    let metadata = std::mem::take(&mut array.metadata);
    keep(&mut array, &metadata);
    request.check_losses(&array).map_err(at)?;
    let mut notes: Vec<String> = Some(array.remarks()).filter(|text| !text.is_empty()).into_iter().collect();
    let asked = request.colour == ColourArg::None;
    if !asked {
        check_axes(&array).map_err(at)?;
    }
    let (format, colour) = format_of(&array, &mut notes).map_err(at)?;
    if !notes.is_empty() {
        note(request.quiet, &format!("{place}: {}", notes.join("; ")));
    }
    let sides = [1024, 512, 256, 128, 64].map(|side: usize| [side, side]);
    let allowed = sides.into_iter().filter(|[side, _]| side.is_multiple_of(1 << levels));
    let fits = |tile: &[usize; 2]| request.memory(&array.shape, Some(tile[0])) <= memory.into();
    let least = allowed.clone().next_back();
    let tile = tile.or_else(|| allowed.clone().find(fits)).or(least).unwrap_or([64, 64]);
    if !fits(&tile) {
        let needs = (request.memory(&array.shape, Some(tile[0])) >> 20) + 1;
        let text = format!("tiles of {} rows need {needs} MiB, and --memory allows {}", tile[0], memory >> 20);
        return Err(at(input(text).help("use lower tiles, as in --tile 64x1024, and fewer levels for these, with -l")));
    }
    let codec = codecs[usize::from(colour && !asked)].clone().component_axis(array.shape.len() == 3);
    let codec = codec.tile(tile[0], tile[1]).metadata(&metadata).map_err(input).map_err(at)?;
    let (mut failure, mut bytes) = (None, 0);
    let written = write_file(output, |w| {
        let mut encode = || {
            let failed = |e: CodecError| match e {
                CodecError::NotByRows { .. } => usage(&e),
                _ => input(&e),
            };
            let mut rows = codec.by_rows(format, Counter(w, 0)).map_err(failed)?;
            let mut left = format.samples();
            while left > 0 {
                let samples = next()?;
                left -= samples.len().min(left);
                rows.push(&samples).map_err(failed)?;
            }
            bytes = rows.finish().map_err(failed)?.1;
            Ok(())
        };
        encode().map_err(|f: Failure| {
            failure = Some(at(f));
            std::io::Error::other("a part cannot be encoded")
        })
    });
    failure.map_or(written, Err)?;
    Ok(report(output, format, bytes))
}

/// Removes metadata that a stream keeps from the names of ignored metadata.
pub fn keep(array: &mut Array, metadata: &Metadata) {
    let mut names = metadata.names();
    names.extend(metadata.exif.is_some().then_some(GPS_POSITION));
    if let Some(tags) = &metadata.tiff {
        names.extend(names_of_tags(tags));
    }
    array.ignored.retain(|name| !names.contains(name));
}

impl Request {
    /// Memory that a picture of this shape takes, or this many rows of it, in bytes.
    fn memory(&self, shape: &[usize], rows: Option<usize>) -> u128 {
        /// Memory besides samples.
        const BASE: u128 = 48 << 20;
        // Samples, planes, coefficients and words; quantised ones in addition.
        let each = if self.lossless { 20 } else { 32 };
        let rows = rows.map_or(shape[0], |rows| rows.min(shape[0]));
        BASE + shape[1..].iter().fold(rows as u128, |samples, &n| samples * n as u128) * each
    }

    /// Refuses losses that were not asked for.
    fn check_losses(&self, array: &Array) -> Outcome {
        let metadata = ignored(&array.ignored).filter(|_| self.strict).map(|text| (Loss::Metadata, text));
        let lost = array.lost.iter().cloned().chain(metadata).filter(|(loss, _)| !self.drop.contains(loss));
        let (kinds, texts): (Vec<Loss>, Vec<String>) = lost.unzip();
        if !self.lossless || texts.is_empty() {
            return Ok(());
        }
        let mut words: Vec<String> =
            kinds.iter().filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned())).collect();
        words.dedup();
        let accept = format!("accept it with --drop {}, or set a quality, as in --quality 100", words.join(","));
        let is_tiff = matches!(&array.origin, Origin::Image { format, .. } if format == "tiff");
        let array = "; or encode an array of all channels: np.save('a.npy', tifffile.imread('a.tif'))";
        let array = if is_tiff && kinds.contains(&Loss::Channels) { array } else { "" };
        let text = format!("cannot be encoded without loss: {}", texts.join("; "));
        Err(input(text).help(format!("{accept}{array}")))
    }
}

/// Stream of the codec, or of the lossless one if that stays within so many bits per pixel.
fn own(codec: &Codec, exact: Option<(f64, Codec)>, image: &Image, notes: &mut Vec<String>) -> Outcome<Vec<u8>> {
    let pixels = image.height as f64 * image.width as f64;
    let exact = exact
        .and_then(|(bits, codec)| codec.encode(image).ok().filter(|stream| 8.0 * stream.len() as f64 <= bits * pixels));
    if exact.is_some() {
        notes.push("the rate suffices for lossless coding by legall53".into());
    }
    exact.map_or_else(|| codec.encode(image), Ok).map_err(|e| {
        let help = match &e {
            CodecError::TooSmall { .. } => {
                Some("ask for more bits with --bpp; larger tiles and fewer layers take fewer packets")
            }
            CodecError::Memory { .. } => {
                Some("encode by rows of tiles, as in --memory 512M: of .pgm, .npy and TIFF files")
            }
            CodecError::TooGood { .. } => Some("use an integer wavelet without --psnr, which is lossless"),
            CodecError::Tile { .. } => Some("use other sides with --tile, or fewer levels with -l"),
            CodecError::Plan(PlanError::Geometry(GeometryError::OddPeriodic { .. })) => {
                Some("use a wavelet that is not periodic, such as -w cdf97: `liftc list` shows border rules")
            }
            CodecError::Plan(_) => Some("use another wavelet, or fewer levels with -l"),
            _ => None,
        };
        match help {
            Some(help) => input(&e).help(help),
            None => input(&e),
        }
    })
}

/// Refuses arrays whose axes are more likely frames, or channels first, than rows, columns and components.
fn check_axes(array: &Array) -> Outcome {
    /// More components of a pixel than this are asked about.
    const MANY: usize = 16;
    let (Origin::Array { .. }, &[first, _, last]) = (&array.origin, &array.shape[..]) else { return Ok(()) };
    if last <= 4 || last <= MANY && first > 4 {
        return Ok(());
    }
    let shape = shape_text(&array.shape);
    let help = match first {
        1..=4 => "if channels come first: np.moveaxis(a, 0, -1); if it is right: --colour none",
        _ => "if axis 0 counts frames, save each as its own array; if it is right: --colour none",
    };
    Err(input(format!("{shape} means {last} components of each pixel: rows × columns × components")).help(help))
}

/// Samples of 32 bits; the others are freed meanwhile.
fn widened<T: bytemuck::Pod + Into<i32>>(narrow: Samples<T>) -> Outcome<Vec<i32>> {
    let mut samples = media::zeros(narrow.len())?;
    narrow.consume(|at, part| {
        samples[at..].iter_mut().zip(part).for_each(|(sample, &s)| *sample = s.into());
        Ok(())
    })?;
    Ok(samples)
}

/// Format of an array as a picture, and whether its first three components are colours.
fn format_of(array: &Array, notes: &mut Vec<String>) -> Outcome<(Format, bool)> {
    let Array { shape, origin, .. } = array;
    let (height, width, components) = match (origin, shape.as_slice()) {
        (Origin::Image { stack: true, .. }, _) => {
            return Err(input(format!("is a stack of pictures, {}: encode single ones", shape_text(shape)))
                .help("split its pages, or transform it: liftc transform"));
        }
        (_, &[height, width]) => (height, width, 1),
        (_, &[height, width, components]) => (height, width, components),
        _ => {
            return Err(input(format!("has {} axes, so it is not a picture", shape.len()))
                .help("arrays are height × width, or height × width × components"));
        }
    };
    let element = array.data.element();
    let (bits, signed) = match element {
        Element::U8 => (8, false),
        Element::I8 => (8, true),
        Element::U16 => (16, false),
        Element::I16 => (16, true),
        _ => {
            let text = format!("has {} samples, and pictures have integers of 8 or 16 bits", element.name());
            let help = "bound the error of each sample, as in --max-error 0.1%, or encode it exactly: --lossless";
            return Err(input(text).help(match element.is_real() {
                true => help.to_owned(),
                false => format!("{help}; or, if all values fit 16 bits: a.astype('u2')"),
            }));
        }
    };
    let bits = match origin.maxval() {
        Some(white) if !signed => {
            let bits = u32::from(white).max(1).ilog2() + 1;
            if u32::from(white) != (1 << bits) - 1 {
                notes.push(format!("its white is {white}, and the stream's is {}", (1u32 << bits) - 1));
            }
            bits
        }
        _ => bits,
    };
    let colour = match origin {
        Origin::Image { colour, .. } => colour.channels() >= 3,
        // Arrays do not say: of 3 or 4 components, the first three are usually red, green and blue.
        Origin::Array { .. } => matches!(components, 3 | 4),
    };
    Ok((Format { height, width, components, bits, signed }, colour))
}

/// Array as a picture, and whether its first three components are colours.
pub fn picture(array: Array, notes: &mut Vec<String>) -> Outcome<(Image, bool)> {
    let (Format { height, width, components, bits, signed }, colour) = format_of(&array, notes)?;
    let samples = match array.data {
        Data::U8(v) => widened(v),
        Data::I8(v) => widened(v),
        Data::U16(v) => widened(v),
        Data::I16(v) => widened(v),
        _ => Ok(Vec::new()),
    }?;
    Ok((Image { height, width, components, bits, signed, samples }, colour))
}
