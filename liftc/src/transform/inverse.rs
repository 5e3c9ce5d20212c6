//! Coefficients to data.

use super::convert::{Restored, Stored, dispatch, from_samples};
use super::sidecar::{Settings, Sidecar};
use super::{Job, note, picture};
use crate::cli::TransformArgs;
use crate::failure::{Failure, Outcome, input, usage};
use crate::media::image::{self, Picture};
use crate::media::{self, Array, ArrayFormat, Origin, shape_text};
use crate::output::write_file;
use lifting::Plan;
use std::path::Path;

/// The extension of the file that coefficients came from, where the sidecar tells.
pub fn extension(coefficients: &Path) -> Option<String> {
    Some(Sidecar::read(coefficients).ok()?.source.origin.extension().into())
}

/// Transforms one file of coefficients back; what it has done, in a line.
pub fn run(args: &TransformArgs, job: &Job) -> Outcome<String> {
    let formats = Formats::of(job)?;
    let array = media::read(&job.input, None)?;
    if !matches!(array.origin, Origin::Array { .. }) {
        return Err(input("is a picture, not coefficients")
            .at(job.input.display())
            .help("the inverse starts from the .npy that `liftc transform` wrote"));
    }
    let sidecar = Sidecar::read(&job.input)?;
    let beside = Sidecar::path_for(&job.input);
    let settings = sidecar.settings().map_err(|f| f.at(beside.display()))?;
    sidecar.check(&array, settings.sample).map_err(|f| f.at(job.input.display()))?;
    dispatch!(settings.sample, transform(args, &settings, &sidecar, array, job, &formats))
}

/// What the names of outputs ask for, found out before anything is read.
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
    fn of(job: &Job) -> Outcome<Formats> {
        let output = match ArrayFormat::of(&job.output) {
            Some(format) => Output::Array(format),
            None => Output::Picture(image::format_of(&job.output)?),
        };
        let picture = job.picture.as_deref().map(image::format_of).transpose()?;
        Ok(Formats { output, picture })
    }
}

fn transform<T: Stored>(
    args: &TransformArgs,
    settings: &Settings,
    sidecar: &Sidecar,
    array: Array,
    job: &Job,
    formats: &Formats,
) -> Outcome<String> {
    let at = |f: Failure| f.at(job.input.display());
    let beside = Sidecar::path_for(&job.input);
    let plan = settings.plan::<T>(args.threads).map_err(|e| input(e).at(beside.display()))?;
    if plan.coefficient_shape() != sidecar.coefficient_shape {
        return Err(input("contradicts itself: its shape, padding and coefficients do not fit").at(beside.display()));
    }
    let level = args.level.unwrap_or(0);
    let coefficients = T::from_data(array.data).map_err(|_| at(input("has elements of another type")))?;
    if let Some((path, format)) = job.picture.as_deref().zip(formats.picture) {
        let origin = &sidecar.source.origin;
        let notes = picture::write(path, format, settings, &plan, &coefficients, origin).map_err(at)?;
        notes.iter().for_each(|text| note(args.quiet, &format!("{}: {text}", path.display())));
    }
    let shape = if level == 0 { plan.shape() } else { plan.level_shape(level).map_err(usage)? }.to_vec();
    let mut samples = vec![T::default(); shape.iter().product()];
    plan.inverse_to(level, &coefficients[..], &mut samples).map_err(|e| at(input(e)))?;
    drop(coefficients);
    let origin = &sidecar.source.origin;
    match formats.output {
        Output::Array(format) => write_array(args, job, format, origin, level, &shape, samples)?,
        Output::Picture(format) => write_picture(args, settings, &plan, job, format, origin, level, &shape, samples)?,
    }
    let resolution = if level == 0 { String::new() } else { format!(", resolution {level}") };
    let (output, shape) = (job.output.display(), shape_text(&shape));
    Ok(format!("{output}: {shape}{resolution}, from {} × {}\n", plan.depth(), sidecar.wavelet))
}

/// At full size, the elements that the data had; at a reduced one, the low band as it is.
fn write_array<T: Stored>(
    args: &TransformArgs,
    job: &Job,
    format: ArrayFormat,
    origin: &Origin,
    level: u32,
    shape: &[usize],
    samples: Vec<T>,
) -> Outcome {
    let data = if level == 0 {
        let Restored { data, notes } = from_samples(samples, origin.element(), 1.0, origin.maxval());
        say(args, job, &notes);
        data
    } else {
        T::into_data(samples)
    };
    media::write_array(&job.output, format, shape, &data, origin.member())
}

#[allow(clippy::too_many_arguments)]
fn write_picture<T: Stored>(
    args: &TransformArgs,
    settings: &Settings,
    plan: &Plan<T>,
    job: &Job,
    format: image::Format,
    origin: &Origin,
    level: u32,
    shape: &[usize],
    samples: Vec<T>,
) -> Outcome {
    let colour = origin.colour().or_else(|| image::colour_of(shape)).ok_or_else(|| {
        input(format!("{} is no shape of a picture", shape_text(shape)))
            .at(job.output.display())
            .help("write an array: -o NAME.npy")
    })?;
    // A low band is the picture times the wavelet's gain.
    let gain: f64 = settings.levels.iter().map(|&l| picture::low_gain(&settings.scheme, 0, l.min(level), 1)).product();
    let gain = gain * f64::from(plan.recipe().gain_shift * level).exp2();
    let maxval = origin.maxval();
    let Restored { data, mut notes } = from_samples(samples, origin.element(), gain, maxval);
    let stack = origin.picture_axes() == Some([1, 2]);
    let picture = Picture { shape: shape.to_vec(), colour, data, maxval, stack };
    if let Some(maxval) = maxval.filter(|_| !picture.keeps_white(format)) {
        notes.push(format!("samples are 0 to {maxval} still, and this format cannot say so: it will look dark"));
    }
    let bytes = picture.encode(format).map_err(|f| f.at(job.output.display()))?;
    say(args, job, &notes);
    write_file(&job.output, |w| w.write_all(&bytes))
}

fn say(args: &TransformArgs, job: &Job, notes: &[String]) {
    notes.iter().for_each(|text| note(args.quiet, &format!("{}: {text}", job.output.display())));
}
