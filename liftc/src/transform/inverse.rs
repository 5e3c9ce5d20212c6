//! `liftc transform --inverse`: coefficients to data.

use super::convert::{Restored, Stored, dispatch, from_samples, undefined_samples};
use super::sidecar::{self, Settings, Sidecar};
use super::{Job, is_in_place, levels_text, named, no_plan, note, picture};
use crate::cli::TransformArgs;
use crate::failure::{Failure, Outcome, input, usage};
use crate::media::image::{self, Picture};
use crate::media::metadata::Metadata;
use crate::media::{self, Array, ArrayFormat, Ask, Data, Origin, shape_text};
use crate::output::{Files, input_name, is_stream, output_name};
use lifting::{Device, Plan};
use std::path::Path;

/// Extension of the coefficients' original file, if a sidecar tells it before they are read.
pub fn extension(args: &TransformArgs, coefficients: &Path) -> Option<String> {
    if args.sidecar.is_none() && is_stream(coefficients) {
        return None;
    }
    // Notes are shown when the coefficients are read later.
    let args = &TransformArgs { quiet: true, ..args.clone() };
    let sidecar = Sidecar::find(args, coefficients, Vec::new()).or_else(|_| {
        // The sidecar may follow the data.
        let (_, behind) = media::read_with_rest(coefficients, Ask::default(), sidecar::MAX_BYTES)?;
        Sidecar::find(args, coefficients, behind)
    });
    Some(sidecar.ok()?.0.source.origin.extension().into())
}

/// Inverts one file of coefficients, and returns a line of report.
pub fn run(args: &TransformArgs, device: &Device, job: &Job) -> Outcome<String> {
    // Names are checked first; a stream's format is settled once it is known.
    Formats::of(args, job, ".npy")?;
    let (array, behind) = media::read_with_rest(&job.input, Ask::default(), sidecar::MAX_BYTES).map_err(|f| {
        let sidecar = job.input.extension().filter(|e| *e == "json" && job.input.is_file());
        sidecar.map_or(f, |_| {
            let path = job.input.with_extension("");
            let text = format!("it may be a sidecar, which has no coefficients: invert {}", path.display());
            input("is not an array").at(input_name(&job.input)).help(text)
        })
    })?;
    if !matches!(array.origin, Origin::Array { .. }) {
        return Err(input("is a picture, not coefficients")
            .at(input_name(&job.input))
            .help("the inverse starts from the .npy that `liftc transform` wrote"));
    }
    let (sidecar, place) = Sidecar::find(args, &job.input, behind)?;
    let formats = Formats::of(args, job, sidecar.source.origin.extension())?;
    let settings = sidecar.settings().map_err(|f| f.at(&place))?;
    sidecar.check(&array, settings.sample).map_err(|f| f.at(input_name(&job.input)))?;
    dispatch!(settings.sample, transform(args, device, &settings, &sidecar, &place, array, job, &formats))
}

/// Output formats by their names, checked before anything is read.
struct Formats {
    output: Output,
    picture: Option<image::Format>,
}

#[derive(Clone, Copy)]
enum Output {
    Array(ArrayFormat),
    Picture(image::Format),
}

impl Formats {
    fn of(args: &TransformArgs, job: &Job, extension: &str) -> Outcome<Formats> {
        let name = named(&job.output, args.format, extension)?;
        let output = match ArrayFormat::of(&name) {
            Some(format) => Output::Array(format),
            None => Output::Picture(image::format_of(&name)?),
        };
        let picture = job.picture.as_deref().map(|path| image::format_of(&named(path, None, ".png")?)).transpose()?;
        Ok(Formats { output, picture })
    }
}

#[allow(clippy::too_many_arguments)]
fn transform<T: Stored>(
    args: &TransformArgs,
    device: &Device,
    settings: &Settings,
    sidecar: &Sidecar,
    place: &str,
    array: Array,
    job: &Job,
    formats: &Formats,
) -> Outcome<String> {
    let at = |f: Failure| f.at(input_name(&job.input));
    let plan = settings.plan::<T>(device).map_err(|e| no_plan(&e).at(place))?;
    if plan.coefficient_shape() != sidecar.coefficient_shape {
        return Err(input("contradicts itself: its shape, padding and coefficients do not match").at(place));
    }
    let level = args.level.unwrap_or(0);
    let coefficients = T::from_data(array.data).map_err(|_| at(input("has elements of another type")))?;
    sidecar.check_data(&coefficients, place, args).map_err(|f| f.at(place))?;
    let origin = &sidecar.source.origin;
    let mut files = Files::default();
    if let Some((path, format)) = job.picture.as_deref().zip(formats.picture) {
        let notes = picture::write(&mut files, path, format, settings, &plan, &coefficients, origin).map_err(at)?;
        notes.iter().for_each(|text| note(args.quiet, &format!("{}: {text}", output_name(path))));
    }
    let shape = if level == 0 { plan.shape() } else { plan.level_shape(level).map_err(usage)? }.to_vec();
    let samples = if level == 0 && is_in_place(settings, &plan) {
        let mut samples = coefficients.into_vec().map_err(at)?;
        plan.inverse_in_place(&mut samples).map_err(|e| at(input(e)))?;
        samples
    } else {
        let mut samples = media::zeros::<T>(shape.iter().product()).map_err(at)?;
        plan.inverse_to(level, &coefficients[..], &mut samples).map_err(|e| at(input(e)))?;
        drop(coefficients);
        samples
    };
    // Integer elements have their own notes.
    let real = origin.element().is_real() || level > 0 && matches!(formats.output, Output::Array(_));
    if let Some(text) = real.then(|| undefined_samples(&samples)).flatten() {
        say(args, job, &[text]);
    }
    match formats.output {
        Output::Array(format) => {
            let data = elements(args, job, origin, level, samples)?;
            files.add(&job.output, |w| media::write_array(w, format, &shape, &data, origin.member()))?;
        }
        Output::Picture(format) => {
            let bytes = pixels(args, settings, &plan, job, format, origin, level, &shape, samples)?;
            files.add(&job.output, |w| w.write_all(&bytes))?;
        }
    }
    files.commit()?;
    let resolution = if level == 0 { String::new() } else { format!(", resolution {level}") };
    let (output, shape) = (output_name(&job.output), shape_text(&shape));
    Ok(format!("{output}: {shape}{resolution}, from {} × {}\n", levels_text(&settings.levels), sidecar.wavelet))
}

/// Elements of the original type at full size; the low band unchanged at a reduced size.
fn elements<T: Stored>(args: &TransformArgs, job: &Job, origin: &Origin, level: u32, samples: Vec<T>) -> Outcome<Data> {
    if level > 0 {
        return Ok(T::into_data(samples));
    }
    let at = |f: Failure| f.at(input_name(&job.input));
    let Restored { data, notes } = from_samples(samples, origin.element(), 1.0, origin.maxval()).map_err(at)?;
    say(args, job, &notes);
    Ok(data)
}

/// Encodes a picture.
#[allow(clippy::too_many_arguments)]
fn pixels<T: Stored>(
    args: &TransformArgs,
    settings: &Settings,
    plan: &Plan<T>,
    job: &Job,
    format: image::Format,
    origin: &Origin,
    level: u32,
    shape: &[usize],
    samples: Vec<T>,
) -> Outcome<Vec<u8>> {
    let colour = origin.colour().or_else(|| image::colour_of(shape)).ok_or_else(|| {
        input(format!("{} is not a shape of a picture", shape_text(shape)))
            .at(output_name(&job.output))
            .help("write an array: -o NAME.npy")
    })?;
    // The low band is the picture times the wavelet's gain.
    let gain = picture::gain(settings, plan.recipe().gain_shift, level);
    let maxval = origin.maxval();
    let at = |f: Failure| f.at(input_name(&job.input));
    let Restored { data, mut notes } = from_samples(samples, origin.element(), gain, maxval).map_err(at)?;
    let stack = origin.picture_axes() == Some([1, 2]);
    let picture = Picture {
        shape: shape.to_vec(),
        colour,
        data,
        maxval,
        stack,
        premultiplied: origin.is_premultiplied(),
        metadata: Metadata::default(),
    };
    if let Some(maxval) = maxval.filter(|_| !picture.keeps_white(format)) {
        notes.push(format!("samples still range from 0 to {maxval}, which this format cannot record: it looks dark"));
    }
    if picture.premultiplied && format != image::Format::Tiff {
        notes.push("its colours are divided by alpha, which this format needs".into());
    }
    let bytes = picture.encode(format).map_err(|f| f.at(output_name(&job.output)))?;
    say(args, job, &notes);
    Ok(bytes)
}

fn say(args: &TransformArgs, job: &Job, notes: &[String]) {
    notes.iter().for_each(|text| note(args.quiet, &format!("{}: {text}", output_name(&job.output))));
}
