//! Coefficients to data.

use super::convert::{Stored, dispatch, from_samples};
use super::sidecar::{Settings, Sidecar};
use super::{Job, note, picture};
use crate::cli::TransformArgs;
use crate::failure::{Failure, Outcome, input, usage};
use crate::media::{self, Array, Element, Origin, image, npy, shape_text};
use crate::output::write_file;
use lifting::Plan;
use std::path::Path;

/// The extension of the file that coefficients came from, where the sidecar tells.
pub fn extension(coefficients: &Path) -> Option<String> {
    Some(match Sidecar::read(coefficients).ok()?.source.origin {
        Origin::Image { format, colour, .. } => format!(".{}", image::extension_for(&format, colour)),
        Origin::Array { .. } => ".npy".into(),
    })
}

/// Transforms one file of coefficients back; what it has done, in a line.
pub fn run(args: &TransformArgs, job: &Job) -> Outcome<String> {
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
    dispatch!(settings.sample, transform(args, &settings, &sidecar, array, job))
}

fn transform<T: Stored>(
    args: &TransformArgs,
    settings: &Settings,
    sidecar: &Sidecar,
    array: Array,
    job: &Job,
) -> Outcome<String> {
    let at = |f: Failure| f.at(job.input.display());
    let beside = Sidecar::path_for(&job.input);
    let plan = settings.plan::<T>(args.threads).map_err(|e| input(e).at(beside.display()))?;
    if plan.coefficient_shape() != sidecar.coefficient_shape {
        return Err(input("contradicts itself: its shape, padding and coefficients do not fit").at(beside.display()));
    }
    let level = args.level.unwrap_or(0);
    let coefficients = T::from_data(array.data).ok_or_else(|| at(input("has elements of another type")))?;
    if let Some(path) = &job.picture {
        let bytes = picture::draw(settings, &plan, &coefficients, &sidecar.source.origin).map_err(at)?;
        write_file(path, |w| w.write_all(&bytes))?;
    }
    let shape = if level == 0 { plan.shape() } else { plan.level_shape(level).map_err(usage)? }.to_vec();
    let mut samples = vec![T::default(); shape.iter().product()];
    plan.inverse_to(level, &coefficients, &mut samples).map_err(|e| at(input(e)))?;
    drop(coefficients);
    let origin = &sidecar.source.origin;
    if job.output.extension().is_some_and(|e| e == "npy") {
        write_array(args, job, origin.element(), level, &shape, samples)?;
    } else {
        write_picture(args, settings, &plan, job, origin, level, &shape, samples)?;
    }
    let resolution = if level == 0 { String::new() } else { format!(", resolution {level}") };
    let (output, shape) = (job.output.display(), shape_text(&shape));
    Ok(format!("{output}: {shape}{resolution}, from {} × {}\n", plan.depth(), sidecar.wavelet))
}

/// At full size, the elements that the data had; at a reduced one, the low band as it is.
fn write_array<T: Stored>(
    args: &TransformArgs,
    job: &Job,
    element: Element,
    level: u32,
    shape: &[usize],
    samples: Vec<T>,
) -> Outcome {
    let data = if level == 0 {
        let (data, clamped) = from_samples(samples, element, 1.0);
        clamp_note(args, job, element, clamped);
        data
    } else {
        T::into_data(samples)
    };
    write_file(&job.output, |w| npy::write(w, shape, &data))
}

#[allow(clippy::too_many_arguments)]
fn write_picture<T: Stored>(
    args: &TransformArgs,
    settings: &Settings,
    plan: &Plan<T>,
    job: &Job,
    origin: &Origin,
    level: u32,
    shape: &[usize],
    samples: Vec<T>,
) -> Outcome {
    let format = image::format_of(&job.output)?;
    let colour = origin.colour().or_else(|| image::colour_of(shape)).ok_or_else(|| {
        input(format!("{} is no shape of a picture", shape_text(shape)))
            .at(job.output.display())
            .help("write an array: -o NAME.npy")
    })?;
    let element = origin.element();
    // A low band is the picture times the wavelet's gain.
    let gain: f64 = settings.levels.iter().map(|&l| picture::low_gain(&settings.scheme, 0, l.min(level), 1)).product();
    let gain = gain * f64::from(plan.recipe().gain_shift * level).exp2();
    let (data, clamped) = from_samples(samples, element, gain);
    clamp_note(args, job, element, clamped);
    let bytes = image::encode(format, shape, colour, data).map_err(|f| f.at(job.output.display()))?;
    write_file(&job.output, |w| w.write_all(&bytes))
}

fn clamp_note(args: &TransformArgs, job: &Job, element: Element, clamped: usize) {
    if clamped > 0 {
        let name = element.name();
        note(
            args.quiet,
            &format!("{}: {clamped} samples were out of range for {name}, and clamped", job.output.display()),
        );
    }
}
