//! `liftc decode`: streams to pictures.

use super::{jpeg2000, read};
use crate::cli::DecodeArgs;
use crate::failure::{Outcome, incomplete, input, usage};
use crate::media::image::{self, Picture};
use crate::media::metadata::{Metadata, ignored};
use crate::media::{self, ArrayFormat, Data, Element, Samples, shape_text};
use crate::output::{input_name, output_name, write_file};
use crate::transform::{named, note};
use bytemuck::Pod;
use lifting::Device;
use lifting_codec::{CodecError, Decoder, Image};
use std::path::Path;

/// Most samples of a picture: 2^30, which take 4 GiB.
const MAX_SAMPLES: u128 = 1 << 30;

enum Output {
    Array(ArrayFormat),
    Picture(image::Format),
}

/// Decodes one stream, and returns a line of report.
pub fn run(args: &DecodeArgs, device: &Device, path: &Path, output: &Path) -> Outcome<String> {
    let place = input_name(path);
    // Output names are checked before anything is read.
    let name = named(output, args.format, ".png")?;
    let format = match ArrayFormat::of(&name) {
        // The default of --format.
        Some(_) if name.extension().is_none() => Output::Picture(image::Format::Png),
        Some(format) => Output::Array(format),
        None => Output::Picture(image::format_of(&name)?),
    };
    let stream = read(path)?;
    let level = args.level.unwrap_or(0);
    if jpeg2000::is_stream(&stream) {
        let jpeg2000::Decoded { shape, data, bits, signed, faults, notes, from, metadata } =
            jpeg2000::decode(args, &stream, matches!(format, Output::Picture(_))).map_err(|f| f.at(&place))?;
        check_whole(args, &place, &faults)?;
        notes.iter().for_each(|text| note(args.quiet, &format!("{place}: {text}")));
        write(args, output, format, (&shape, data), (bits, signed), metadata).map_err(|f| f.at(&place))?;
        return Ok(format!("{}: {}, from {from}\n", output_name(output), shape_text(&shape)));
    }
    if lifting_codec::field::is_field(&stream) {
        if args.level.is_some() || args.layers.is_some() {
            return Err(usage("the stream has a field, without levels and layers").at(&place).help("use --region"));
        }
        let region = args.region.as_ref().map(|region| &region.0[..]);
        let (shape, data) = super::field::decode(&stream, region, MAX_SAMPLES).map_err(|f| f.at(&place))?;
        let element = data.element();
        if let (Output::Picture(_), false) = (&format, matches!(element, Element::U8 | Element::U16)) {
            let text = format!("has {} samples, which pictures cannot have", element.name());
            return Err(input(text).at(&place).help("write an array: -o NAME.npy"));
        }
        let bits = 8 * element.bytes() as u32;
        write(args, output, format, (&shape, data), (bits, false), Metadata::default()).map_err(|f| f.at(&place))?;
        return Ok(format!("{}: {} of {}\n", output_name(output), shape_text(&shape), element.name()));
    }
    let at = |e: CodecError| match &e {
        CodecError::NotAStream => {
            input(&e).at(&place).help("`liftc encode` writes streams; for coefficients, use `transform --inverse`")
        }
        CodecError::NoSuchLevel { .. } | CodecError::NoSuchLayer { .. } | CodecError::Region { .. } => {
            usage(&e).at(&place)
        }
        _ => input(&e).at(&place),
    };
    let mut decoder = Decoder::new(&stream).map_err(at)?.at_most(MAX_SAMPLES).on(device).map_err(at)?;
    if let Some(layers) = args.layers {
        decoder = decoder.layers(layers).map_err(at)?;
    }
    if let Some(region) = args.picture_region()? {
        decoder = decoder.region(region).map_err(at)?;
    }
    let picture = decoder.decode(level).map_err(at)?;
    check_whole(args, &place, if picture.complete { &[] } else { &[ENDS_EARLY] })?;
    let lifting_codec::Format { bits, signed, .. } = picture.image.format();
    let component_axis = decoder.header().component_axis && matches!(format, Output::Array(_));
    let (shape, data) = array(picture.image, component_axis).map_err(|f| f.at(&place))?;
    write(args, output, format, (&shape, data), (bits, signed), Metadata::default()).map_err(|f| f.at(&place))?;
    let header = decoder.header();
    let resolution = if level == 0 { String::new() } else { format!(", resolution {level}") };
    Ok(format!(
        "{}: {}{resolution}, from {} × {}\n",
        output_name(output),
        shape_text(&shape),
        header.levels,
        header.scheme.name()
    ))
}

/// Fault of a stream that ends early.
pub const ENDS_EARLY: &str = "the stream ends early";

/// Refuses a stream with these faults, or notes them with `--salvage`.
fn check_whole(args: &DecodeArgs, place: &str, faults: &[impl AsRef<str>]) -> Outcome {
    let faults: Vec<&str> = faults.iter().map(AsRef::as_ref).collect();
    if faults.is_empty() {
        return Ok(());
    }
    let faults = faults.join("; ");
    if !args.salvage {
        return Err(incomplete(faults).at(place).help("--salvage decodes what it holds; missing coefficients are 0"));
    }
    note(args.quiet, &format!("{place}: {faults}; missing coefficients are 0"));
    Ok(())
}

/// Writes samples as an array or as a picture.
fn write(
    args: &DecodeArgs,
    output: &Path,
    format: Output,
    (shape, data): (&[usize], Data),
    (bits, signed): (u32, bool),
    metadata: Metadata,
) -> Outcome {
    match format {
        Output::Array(format) => write_file(output, |w| media::write_array(w, format, shape, &data, None)),
        Output::Picture(format) => {
            let colour = image::colour_of(shape).ok_or_else(|| {
                let components = shape.last().copied().unwrap_or(1);
                input(format!("has {components} components, which picture formats do not support"))
                    .help("write an array: -o NAME.npy")
            })?;
            let maxval = (!signed && bits < 16 && bits != 8).then(|| ((1u32 << bits) - 1) as u16);
            if format != image::Format::Png
                && let Some(text) = ignored(&metadata.names())
            {
                note(args.quiet, &format!("{}: {text}; write .png to keep metadata", output_name(output)));
            }
            let shape = shape.to_vec();
            let picture = Picture { shape, colour, data, maxval, stack: false, premultiplied: false, metadata };
            if let Some(maxval) = maxval.filter(|_| !picture.keeps_white(format)) {
                let text =
                    format!("samples still range from 0 to {maxval}, which this format cannot record: it looks dark");
                note(args.quiet, &format!("{}: {text}", output_name(output)));
            }
            let bytes = picture.encode(format).map_err(|f| f.at(output_name(output)))?;
            write_file(output, |w| w.write_all(&bytes))
        }
    }
}

/// Picture as an array: its shape, with an axis for several components or if asked, and samples of the type that holds
/// them.
///
/// # Errors
/// If memory is short.
pub fn array(image: Image, component_axis: bool) -> Outcome<(Vec<usize>, Data)> {
    fn narrowed<T: Pod + Default>(samples: Vec<i32>, narrow: impl Fn(i32) -> T) -> Outcome<Data>
    where
        Data: From<Vec<T>>,
    {
        let mut elements = media::zeros(samples.len())?;
        Samples::from(samples).consume(|at, part| {
            elements[at..].iter_mut().zip(part).for_each(|(element, &s)| *element = narrow(s));
            Ok(())
        })?;
        Ok(elements.into())
    }
    let Image { height, width, components, bits, signed, samples } = image;
    let mut shape = vec![height, width];
    if components > 1 || component_axis {
        shape.push(components);
    }
    let data = match (bits > 8, signed) {
        _ if bits > 16 => Ok(samples.into()),
        (false, false) => narrowed(samples, |s| s as u8),
        (false, true) => narrowed(samples, |s| s as i8),
        (true, false) => narrowed(samples, |s| s as u16),
        (true, true) => narrowed(samples, |s| s as i16),
    };
    Ok((shape, data?))
}
