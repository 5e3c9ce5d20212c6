//! `liftc encode`: pictures to streams.

use super::{field, jpeg2000};
use crate::cli::{ColourArg, EncodeArgs, StreamFormat};
use crate::failure::{Outcome, input, usage};
use crate::media::metadata::Metadata;
use crate::media::{self, Array, Ask, Colour, Data, Origin, PREMULTIPLIED, Samples, shape_text};
use crate::output::{input_name, output_name, write_file};
use crate::transform::note;
use crate::{warn, wavelet};
use lifting::{Domain, GeometryError, PlanError};
use lifting_codec::block::Passes;
use lifting_codec::{Codec, CodecBuilder, CodecError, Image, Target};
use std::path::Path;

/// Settings shared by all pictures.
pub struct Request {
    coding: Coding,
    lossless: bool,
    colour: ColourArg,
    array: Option<String>,
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
    let mut array = media::read(path, Ask { member: request.array.as_deref(), salvage: request.salvage })?;
    if let (Coding::Own { .. }, Some(tolerance)) = (&request.coding, field::tolerance(args, &array)) {
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
        array.lost.push("its colours are divided by alpha, which rounds them".into());
    }
    if request.lossless && !array.lost.is_empty() {
        let text = format!("cannot be encoded without loss: {}", array.lost.join("; "));
        let quality = "set a quality, as in --quality 100";
        let is_tiff = matches!(&array.origin, Origin::Image { format, .. } if format == "tiff");
        return Err(input(text).at(&place).help(match is_tiff {
            true => {
                format!("{quality}, or encode an array of all channels: np.save('a.npy', tifffile.imread('a.tif'))")
            }
            false => quality.into(),
        }));
    }
    let metadata = match &request.coding {
        Coding::Jpeg2000(own) => own.take_metadata(&mut array, request.colour == ColourArg::None),
        Coding::Own { .. } => Metadata::default(),
    };
    let mut notes: Vec<String> = Some(array.remarks()).filter(|text| !text.is_empty()).into_iter().collect();
    let asked = request.colour == ColourArg::None;
    if !asked {
        check_axes(&array).map_err(|f| f.at(&place))?;
    }
    let component_axis = array.shape.len() == 3;
    let alpha = array.origin.colour().is_some_and(|colour| matches!(colour, Colour::GreyAlpha | Colour::Rgba));
    let (image, colour) = picture(array, &mut notes).map_err(|f| f.at(&place))?;
    let colour = usize::from(colour && !asked);
    let pixels = image.height as f64 * image.width as f64;
    let stream = match &request.coding {
        Coding::Own { codecs, exact } => {
            let with = |codecs: &[Codec; 2]| codecs[colour].clone().component_axis(component_axis);
            own(&with(codecs), exact.as_ref().map(|(bits, codecs)| (*bits, with(codecs))), &image, &mut notes)
        }
        Coding::Jpeg2000(request) => request.encode(&image, colour == 1, alpha, metadata),
    };
    if !notes.is_empty() {
        note(request.quiet, &format!("{place}: {}", notes.join("; ")));
    }
    let stream = stream.map_err(|f| f.at(&place))?;
    write_file(output, |w| w.write_all(&stream))?;
    let bits = 8.0 * stream.len() as f64 / pixels;
    let raw = f64::from(image.bits) * image.components as f64;
    let shape = shape_text(&[image.height, image.width, image.components][..if image.components == 1 { 2 } else { 3 }]);
    Ok(format!(
        "{}: {shape} in {} bytes, {bits:.3} bits a pixel, {:.1} % of {raw}\n",
        output_name(output),
        stream.len(),
        100.0 * bits / raw
    ))
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

/// Array as a picture, and whether its first three components are colours.
pub fn picture(array: Array, notes: &mut Vec<String>) -> Outcome<(Image, bool)> {
    let Array { shape, data, origin, .. } = array;
    let (height, width, components) = match (&origin, shape.as_slice()) {
        (Origin::Image { stack: true, .. }, _) => {
            return Err(input(format!("is a stack of pictures, {}: encode single ones", shape_text(&shape)))
                .help("split its pages, or transform it: liftc transform"));
        }
        (_, &[height, width]) => (height, width, 1),
        (_, &[height, width, components]) => (height, width, components),
        _ => {
            return Err(input(format!("has {} axes, so it is not a picture", shape.len()))
                .help("arrays are height × width, or height × width × components"));
        }
    };
    let element = data.element();
    let (bits, signed, samples): (u32, bool, Vec<i32>) = match data {
        Data::U8(v) => (8, false, widened(v)?),
        Data::I8(v) => (8, true, widened(v)?),
        Data::U16(v) => (16, false, widened(v)?),
        Data::I16(v) => (16, true, widened(v)?),
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
    let colour = match &origin {
        Origin::Image { colour, .. } => colour.channels() >= 3,
        // Arrays do not say: of 3 or 4 components, the first three are usually red, green and blue.
        Origin::Array { .. } => matches!(components, 3 | 4),
    };
    Ok((Image { height, width, components, bits, signed, samples }, colour))
}
