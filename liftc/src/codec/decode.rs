//! `liftc decode`: streams to pictures.

use super::{http, jpeg2000, read};
use crate::cli::DecodeArgs;
use crate::failure::{Failure, Outcome, incomplete, input, usage};
use crate::media::image::{self, Picture};
use crate::media::metadata::{Metadata, ignored};
use crate::media::rows::{RowFormat, colours};
use crate::media::{self, ArrayFormat, Data, Element, Samples, pnm, shape_text};
use crate::output::{input_name, output_name, write_file};
use crate::transform::{named, note};
use bytemuck::Pod;
use lifting::Device;
use lifting_codec::{CodecError, Decoder, Image, Region, SIGNATURE};
use std::fs::File;
use std::io::Read;
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
    if http::is_address(path) {
        let remote = http::Remote::open(path).map_err(|f| f.at(&place))?;
        return Lpc { args, device, place: &place, output }.run(Decoder::open(&remote), format);
    }
    let is_partial = args.region.is_some() || args.level.is_some() || args.memory.is_some();
    if let Some(file) = is_partial.then(|| file_of_picture(path)).flatten() {
        return Lpc { args, device, place: &place, output }.run(Decoder::open(&file), format);
    }
    let stream = read(path)?;
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
    Lpc { args, device, place: &place, output }.run(Decoder::new(&stream), format)
}

/// File with a picture's stream, which can be read in parts.
fn file_of_picture(path: &Path) -> Option<File> {
    let mut file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|m| m.is_file()))?;
    let mut beginning = [0; 10];
    file.read_exact(&mut beginning).ok()?;
    (beginning.starts_with(&SIGNATURE) && !lifting_codec::field::is_field(&beginning)).then_some(file)
}

/// Decoding of a picture's stream of the codec.
struct Lpc<'a> {
    args: &'a DecodeArgs,
    device: &'a Device,
    place: &'a str,
    output: &'a Path,
}

impl Lpc<'_> {
    fn failure(&self, e: &CodecError) -> Failure {
        let failure = match e {
            CodecError::NotAStream => {
                input(e).help("`liftc encode` writes streams; for coefficients, use `transform --inverse`")
            }
            CodecError::NoSuchLevel { .. } | CodecError::NoSuchLayer { .. } | CodecError::Region { .. } => usage(e),
            CodecError::Memory { .. } => input(e).help(
                "decode by rows, as in --memory 512M, if the stream has tiles; a part, as in --region 0,0,512,512; or \
                 a lower resolution, as in --level 2",
            ),
            _ => input(e),
        };
        failure.at(self.place)
    }

    /// Decodes the picture, and returns a line of report.
    fn run(&self, decoder: Result<Decoder<'_>, CodecError>, format: Output) -> Outcome<String> {
        let Lpc { args, place, output, .. } = *self;
        let at = |e: CodecError| self.failure(&e);
        let mut decoder = decoder.map_err(at)?.at_most(MAX_SAMPLES).on(self.device).map_err(at)?;
        if let Some(layers) = args.layers {
            decoder = decoder.layers(layers).map_err(at)?;
        }
        let region = args.picture_region()?;
        if let Some(region) = region {
            decoder = decoder.region(region).map_err(at)?;
        }
        let level = args.level.unwrap_or(0);
        let metadata = match decoder.metadata() {
            Ok(metadata) => metadata,
            Err(_) if args.salvage => Metadata::default(),
            Err(CodecError::Cut { .. }) => return Err(incomplete(ENDS_EARLY).at(place).help(SALVAGE)),
            Err(e) => return Err(at(e)),
        };
        let shape = if self.is_large(&decoder, region)? {
            self.by_rows(&decoder, region, &format, &metadata)?
        } else {
            let picture = decoder.decode(level).map_err(at)?;
            check_whole(args, place, if picture.complete { &[] } else { &[ENDS_EARLY] })?;
            let lifting_codec::Format { bits, signed, .. } = picture.image.format();
            let component_axis = decoder.header().component_axis && matches!(format, Output::Array(_));
            let (shape, data) = array(picture.image, component_axis).map_err(|f| f.at(place))?;
            write(args, output, format, (&shape, data), (bits, signed), metadata).map_err(|f| f.at(place))?;
            shape
        };
        let header = decoder.header();
        let resolution = if level == 0 { String::new() } else { format!(", resolution {level}") };
        let (output, shape) = (output_name(output), shape_text(&shape));
        Ok(format!("{output}: {shape}{resolution}, from {} × {}\n", header.levels, header.scheme.name()))
    }

    /// Whether decoding at once needs more memory than is allowed.
    ///
    /// # Errors
    /// If so does decoding by rows of tiles.
    fn is_large(&self, decoder: &Decoder<'_>, region: Option<Region>) -> Outcome<bool> {
        let Some(memory) = self.args.memory else { return Ok(false) };
        let header = decoder.header();
        let [height, width] = region.map_or([header.height, header.width], |region| [region.height, region.width]);
        // Whole tiles.
        let side = |n: usize, tile: usize| n.div_ceil(tile).saturating_add(1).saturating_mul(tile) as u128;
        let width = side(width, header.tile[1]).min(header.width as u128) * header.components as u128;
        let rows = side(height, header.tile[0]).min(header.height as u128);
        let needs = |rows: u128| BASE + rows * width * EACH;
        let least = needs(header.tile[0] as u128);
        match needs(rows) <= memory.into() {
            true => Ok(false),
            false if least <= memory.into() => Ok(true),
            false => {
                let text = format!("decoding takes {} MiB, and --memory allows {}", (least >> 20) + 1, memory >> 20);
                let help = "decode a part, as in --region 0,0,512,512, or a lower resolution, as in --level 2";
                Err(input(text).at(self.place).help(help))
            }
        }
    }

    /// Decodes and writes the picture by rows of tiles, and returns its shape.
    fn by_rows(
        &self,
        decoder: &Decoder<'_>,
        region: Option<Region>,
        format: &Output,
        metadata: &Metadata,
    ) -> Outcome<Vec<usize>> {
        let Lpc { args, place, output, .. } = *self;
        let rows = match format {
            Output::Array(ArrayFormat::Npy) => RowFormat::Npy,
            Output::Picture(image::Format::Pnm(kind)) if *kind != pnm::Kind::Pbm => RowFormat::Pnm(*kind),
            _ => {
                let text = "the picture needs more than --memory, and this format cannot be written by rows";
                return Err(usage(text).at(place).help("write .pgm, .ppm, .pam or .npy"));
            }
        };
        let header = decoder.header();
        let level = args.level.unwrap_or(0);
        let lifting_codec::Format { height, width, components, bits, signed } = header.format();
        let region = region.unwrap_or(Region { y: 0, x: 0, height, width });
        let sides = [(region.y, region.height), (region.x, region.width)];
        let [height, width] = sides.map(|(from, n)| (from + n).div_ceil(1 << level) - (from >> level));
        let empty = Image { height: 0, width, components, bits, signed, samples: Vec::new() };
        let (mut shape, empty) = array(empty, header.component_axis && matches!(format, Output::Array(_)))?;
        shape[0] = height;
        let maxval = (!signed && bits != 8 && bits < 16).then(|| ((1u32 << bits) - 1) as u16);
        let head = rows.head(&shape, empty, maxval, image::colour_of(&shape)).map_err(|f| f.at(place))?;
        if let Output::Picture(format) = format
            && let Some(text) = ignored(&format.left(metadata))
        {
            note(args.quiet, &format!("{}: {text}", output_name(output)));
        }
        let mut failure = None;
        let written = write_file(output, |w| {
            w.write_all(&head)?;
            let (mut y, end, tile) = (region.y, region.y + region.height, header.tile[0]);
            while y < end {
                let next = ((y / tile + 1) * tile).min(end);
                let part = decoder.clone().region(Region { y, height: next - y, ..region });
                let picture = part.and_then(|part| part.decode(level)).map_err(|e| self.failure(&e));
                let data = picture.and_then(|picture| {
                    // The note comes once, at the first part that is not whole.
                    let faults: &[&str] = if picture.complete { &[] } else { &[ENDS_EARLY] };
                    check_whole(args, place, faults)?;
                    Ok(array(picture.image, false)?.1)
                });
                match data {
                    Ok(data) => w.write_all(&rows.bytes(&data))?,
                    Err(f) => {
                        failure = Some(f);
                        return Err(std::io::Error::other("a part cannot be decoded"));
                    }
                }
                y = next;
            }
            Ok(())
        });
        failure.map_or(written, Err)?;
        Ok(shape)
    }
}

/// Memory of decoding besides samples, in bytes.
const BASE: u128 = 48 << 20;

/// Memory of decoding for each sample in bytes: coefficients, two copies of samples, and their words.
const EACH: u128 = 18;

const SALVAGE: &str = "--salvage decodes what it holds; missing coefficients are 0";

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
        return Err(incomplete(faults).at(place).help(SALVAGE));
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
            let colour = image::colour_of(shape).ok_or_else(|| colours(shape))?;
            let maxval = (!signed && bits < 16 && bits != 8).then(|| ((1u32 << bits) - 1) as u16);
            if let Some(text) = ignored(&format.left(&metadata)) {
                let text = format!("{}: {text}; .png keeps ICC, EXIF and XMP, .tiff all but EXIF", output_name(output));
                note(args.quiet, &text);
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
