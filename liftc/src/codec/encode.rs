//! `liftc encode`: pictures to streams.

use crate::cli::EncodeArgs;
use crate::failure::{Outcome, input, usage};
use crate::media::{self, Array, Data, Origin, shape_text};
use crate::output::{input_name, output_name, write_file};
use crate::transform::note;
use crate::{warn, wavelet};
use lifting::Domain;
use lifting_codec::block::Passes;
use lifting_codec::{Codec, CodecError, Image, Target};
use std::path::Path;

/// Settings shared by all pictures.
pub struct Request {
    codec: Codec,
    colour: Codec,
    array: Option<String>,
    quiet: bool,
}

impl Request {
    /// Resolves the wavelet and checks the settings.
    pub fn new(args: &EncodeArgs) -> Outcome<Request> {
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
        let codec = |colour: bool| {
            builder.clone().colour(colour).build().map_err(|e| match e {
                CodecError::Plan(e) => input(e),
                e => usage(e),
            })
        };
        Ok(Request { codec: codec(false)?, colour: codec(true)?, array: args.array.clone(), quiet: args.quiet })
    }
}

/// Encodes one picture, and returns a line of report.
pub fn run(request: &Request, path: &Path, output: &Path) -> Outcome<String> {
    let place = input_name(path);
    let array = media::read(path, request.array.as_deref())?;
    let mut notes = array.notes.clone();
    let (image, colour) = picture(array, &mut notes).map_err(|f| f.at(&place))?;
    if !notes.is_empty() {
        note(request.quiet, &format!("{place}: {}", notes.join("; ")));
    }
    let codec = if colour { &request.colour } else { &request.codec };
    let stream = codec.encode(&image).map_err(|e| {
        let help = match &e {
            CodecError::TooSmall { .. } => Some("ask for more bits with --bpp, or use fewer levels with -l"),
            CodecError::TooGood { .. } => Some("use an integer wavelet without --psnr, which is lossless"),
            CodecError::Tile { .. } => Some("use other sides with --tile, or fewer levels with -l"),
            CodecError::Plan(_) => Some("use another wavelet, or fewer levels with -l"),
            _ => None,
        };
        let failure = input(&e).at(&place);
        match help {
            Some(help) => failure.help(help),
            None => failure,
        }
    })?;
    write_file(output, |w| w.write_all(&stream))?;
    let pixels = image.height as f64 * image.width as f64;
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
    let name = data.element().name();
    let (bits, signed, samples): (u32, bool, Vec<i32>) = match data {
        Data::U8(v) => (8, false, v.iter().map(|&s| s.into()).collect()),
        Data::I8(v) => (8, true, v.iter().map(|&s| s.into()).collect()),
        Data::U16(v) => (16, false, v.iter().map(|&s| s.into()).collect()),
        Data::I16(v) => (16, true, v.iter().map(|&s| s.into()).collect()),
        _ => {
            return Err(input(format!("has {name} samples: only integers of 8 and 16 bits can be encoded"))
                .help("convert it first: a.astype('u2')"));
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
    let colour = origin.colour().is_some_and(|colour| colour.channels() >= 3);
    Ok((Image { height, width, components, bits, signed, samples }, colour))
}
