//! Data to coefficients.

use super::convert::{self, Converted, Stored, dispatch, not_finite, to_samples};
use super::sidecar::{Settings, Sidecar, SourceFile};
use super::{Job, note, picture};
use crate::cli::TransformArgs;
use crate::failure::{Outcome, input, usage};
use crate::media::{self, Array, ArrayFormat, image, shape_text};
use crate::output::write_file;
use crate::{warn, wavelet};
use lifting::{Boundary, Format, Layout, Pad, SampleType, Scheme};

/// What is asked of every input.
pub struct Request {
    scheme: Scheme,
    levels: u32,
    boundary: Option<Boundary>,
    profile: Option<Format>,
    axes: Option<Vec<i64>>,
    pad: Option<Pad>,
    layout: Layout,
    sample: Option<SampleType>,
    array: Option<String>,
    threads: Option<u16>,
    quiet: bool,
}

impl Request {
    /// Finds the wavelet.
    pub fn new(args: &TransformArgs) -> Outcome<Request> {
        // clap has seen to it that there is one.
        let word = args.wavelet.as_deref().ok_or_else(|| usage("no wavelet: name one with -w"))?;
        let mut named = wavelet::resolve_one(word)?;
        warn(&named.source.name, &named.source.text, &named.warnings);
        if args.sample == Some(SampleType::Bf16) {
            return Err(convert::no_bf16());
        }
        Ok(Request {
            scheme: named.schemes.remove(0),
            levels: args.levels.unwrap_or(1),
            boundary: args.boundary,
            profile: args.profile,
            axes: args.axes.clone(),
            pad: args.pad.map(|crate::cli::PadArg::Edge| Pad::Edge),
            layout: args.layout.map_or(Layout::Mallat, Layout::from),
            sample: args.sample,
            array: args.array.clone(),
            threads: args.threads,
            quiet: args.quiet,
        })
    }

    fn settings(&self, array: &Array) -> Outcome<Settings> {
        let rank = array.shape.len();
        let axes: Vec<usize> = match &self.axes {
            Some(axes) => resolve_axes(axes, rank)?,
            None => array.origin.picture_axes().map_or_else(|| (0..rank).collect(), Vec::from),
        };
        let mut levels = vec![0; rank];
        axes.iter().for_each(|&axis| levels[axis] = self.levels);
        let gain_shift = self.profile.and_then(|p| self.scheme.profile(p)).map_or(0, |p| p.gain_shift);
        let shift = gain_shift.saturating_mul(self.levels);
        let sample = match self.sample {
            Some(sample) => sample,
            None => convert::default_sample(array.data.element(), self.scheme.domain(), shift)?,
        };
        Ok(Settings {
            scheme: self.scheme.clone(),
            sample,
            shape: array.shape.clone(),
            levels,
            axis_order: None,
            boundary: self.boundary,
            profile: self.profile,
            pad: self.pad,
            layout: self.layout,
        })
    }
}

/// Axes from 0, negative ones from the end.
fn resolve_axes(axes: &[i64], rank: usize) -> Outcome<Vec<usize>> {
    let mut resolved = Vec::new();
    for &axis in axes {
        let index = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
        match index.and_then(|i| usize::try_from(i).ok()).filter(|&i| i < rank) {
            Some(i) if resolved.contains(&i) => return Err(usage(format!("--axes names axis {i} twice"))),
            Some(i) => resolved.push(i),
            None => {
                return Err(usage(format!("--axes {axis}: the data has {rank} axes"))
                    .help(format!("axes are 0 to {}, or -{rank} to -1 from the end", rank - 1)));
            }
        }
    }
    Ok(resolved)
}

/// Transforms one input; what it has done, in a line.
pub fn run(request: &Request, job: &Job) -> Outcome<String> {
    let at = |f: crate::failure::Failure| f.at(job.input.display());
    let formats = Formats::of(job)?;
    let array = media::read(&job.input, request.array.as_deref())?;
    if !array.notes.is_empty() {
        note(request.quiet, &format!("{}: {}", job.input.display(), array.notes.join("; ")));
    }
    let settings = request.settings(&array).map_err(at)?;
    dispatch!(settings.sample, transform(request, &settings, array, job, &formats))
}

/// What the names of outputs ask for, found out before anything is read.
struct Formats {
    output: ArrayFormat,
    picture: Option<image::Format>,
}

impl Formats {
    fn of(job: &Job) -> Outcome<Formats> {
        let output = ArrayFormat::of_coefficients(&job.output)?;
        let picture = job.picture.as_deref().map(image::format_of).transpose()?;
        Ok(Formats { output, picture })
    }
}

fn transform<T: Stored>(
    request: &Request,
    settings: &Settings,
    array: Array,
    job: &Job,
    formats: &Formats,
) -> Outcome<String> {
    let say = |text: &str| note(request.quiet, &format!("{}: {text}", job.input.display()));
    let at = |f: crate::failure::Failure| f.at(job.input.display());
    let plan = settings.plan::<T>(request.threads).map_err(|e| at(input(e)))?;
    let Array { data, origin, .. } = array;
    let Converted { samples, notes } = to_samples::<T>(data).map_err(at)?;
    notes.iter().for_each(|text| say(text));
    let mut coefficients = vec![T::default(); plan.coefficient_len()];
    plan.forward(&samples[..], &mut coefficients).map_err(|e| at(input(e)))?;
    if let Some(text) = not_finite(&samples, &coefficients) {
        say(&text);
    }
    drop(samples);

    let longest = settings.levels.iter().zip(&settings.shape).filter(|(l, _)| **l > 0).map(|(_, &n)| n).max();
    let useful = longest.map_or(0, |n| n.next_power_of_two().ilog2());
    if request.levels > useful && longest.is_some() {
        note(request.quiet, &format!("{}: levels beyond {useful} have nothing left to do", job.input.display()));
    }
    if let Some((path, format)) = job.picture.as_deref().zip(formats.picture) {
        let notes = picture::write(path, format, settings, &plan, &coefficients, &origin).map_err(at)?;
        notes.iter().for_each(|text| say(text));
    }
    let name = job.input.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let sidecar = Sidecar::new(settings, &plan, SourceFile { name, origin });
    let coefficients = T::into_data(coefficients);
    let member = sidecar.source.origin.member();
    media::write_array(&job.output, formats.output, plan.coefficient_shape(), &coefficients, member)?;
    write_file(&Sidecar::path_for(&job.output), |w| w.write_all(sidecar.to_json().as_bytes()))?;
    let recipe = plan.recipe();
    Ok(format!(
        "{}: {} {} coefficients, {} × {} ({})\n",
        job.output.display(),
        shape_text(plan.coefficient_shape()),
        recipe.sample,
        plan.depth(),
        recipe.wavelet,
        recipe.boundary,
    ))
}
