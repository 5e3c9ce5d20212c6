//! `liftc transform`: data to coefficients.

use super::convert::{self, Converted, Stored, dispatch, not_finite, to_samples, undefined};
use super::sidecar::{Settings, Sidecar, SourceFile, hash_of};
use super::{Job, is_in_place, levels_text, named, no_plan, note, picture};
use crate::cli::{OutputFormat, TransformArgs};
use crate::failure::{Outcome, input, usage};
use crate::media::{self, Array, ArrayFormat, Ask, image, shape_text};
use crate::output::{Files, input_name, is_standard, is_stream, output_name, write_file};
use crate::{warn, wavelet};
use lifting::{Boundary, Device, Domain, Format, Layout, Pad, Plan, SampleType, Scheme};
use std::path::PathBuf;

/// Settings shared by all inputs.
pub struct Request {
    /// Wavelets of each transformed axis from the finest level on, or of all axes.
    wavelets: Vec<Vec<Scheme>>,
    levels: Vec<u32>,
    origins: Vec<i64>,
    boundary: Option<Boundary>,
    profile: Option<Format>,
    axes: Option<Vec<i64>>,
    tile: Option<Vec<usize>>,
    pad: Option<Pad>,
    layout: Layout,
    sample: Option<SampleType>,
    array: Option<String>,
    salvage: bool,
    ill_conditioned: bool,
    format: Option<OutputFormat>,
    sidecar: Option<PathBuf>,
    device: Device,
    quiet: bool,
}

impl Request {
    /// Resolves the wavelet and checks the settings.
    pub fn new(args: &TransformArgs) -> Outcome<Request> {
        // clap requires one.
        let word = args.wavelet.as_deref().ok_or_else(|| usage("no wavelet: name one with -w"))?;
        let mut lists = Vec::new();
        for axis in wavelet::resolve_lists(word)? {
            let mut levels = Vec::new();
            for mut named in axis {
                warn(&named.source.name, &named.source.text, &named.warnings);
                levels.push(named.schemes.remove(0));
            }
            lists.push(levels);
        }
        let domains = |domain| lists.iter().flatten().any(|scheme| scheme.domain() == domain);
        if domains(Domain::Integer) && domains(Domain::Real) {
            return Err(usage(format!(
                "-w {word}: integer and real wavelets do not mix, because samples have one type"
            ))
            .help("choose wavelets of one domain: `liftc list` shows it"));
        }
        if let (true, Some(format)) = (lists.len() > 1 || lists[0].len() > 1, args.profile) {
            let format = format.name();
            return Err(usage(format!("--profile {format} describes one wavelet, but -w {word} has several"))
                .help("leave out --profile, or name one wavelet"));
        }
        if args.sample == Some(SampleType::Bf16) {
            return Err(convert::no_bf16());
        }
        Ok(Request {
            wavelets: lists,
            levels: if args.levels.is_empty() { vec![1] } else { args.levels.clone() },
            origins: if args.origin.is_empty() { vec![0] } else { args.origin.clone() },
            boundary: args.boundary,
            profile: args.profile,
            axes: args.axes.clone(),
            tile: args.tile.clone(),
            pad: args.pad.map(|crate::cli::PadArg::Edge| Pad::Edge),
            layout: args.layout.map_or(Layout::Mallat, Layout::from),
            sample: args.sample,
            array: args.array.clone(),
            salvage: args.salvage,
            ill_conditioned: args.ill_conditioned,
            format: args.format,
            sidecar: args.sidecar.clone(),
            device: super::device(args)?,
            quiet: args.quiet,
        })
    }

    fn settings(&self, array: &Array) -> Outcome<Settings> {
        let rank = array.shape.len();
        let axes: Vec<usize> = match &self.axes {
            Some(axes) => resolve_axes(axes, rank)?,
            None => array.origin.picture_axes().map_or_else(|| (0..rank).collect(), Vec::from),
        };
        let levels = per_axis("-l", &self.levels, &axes, rank)?;
        let origins = per_axis("--origin", &self.origins, &axes, rank)?;
        let wavelets = match &self.wavelets[..] {
            [levels] if levels.len() == 1 => Vec::new(),
            lists => per_axis("-w", lists, &axes, rank)?,
        };
        let whole =
            |lengths: Vec<usize>| lengths.iter().zip(&array.shape).map(|(&n, &m)| if n == 0 { m } else { n }).collect();
        let tile = self.tile.as_ref().map(|tile| per_axis("--tile", tile, &axes, rank)).transpose()?.map(whole);
        let scheme = &self.wavelets[0][0];
        let gain_shift = self.profile.and_then(|p| scheme.profile(p)).map_or(0, |p| p.gain_shift);
        let shift = gain_shift.saturating_mul(levels.iter().copied().max().unwrap_or(0));
        let sample = match self.sample {
            Some(sample) => sample,
            None => convert::default_sample(array.data.element(), scheme.domain(), shift)?,
        };
        Ok(Settings {
            scheme: scheme.clone(),
            wavelets,
            sample,
            shape: array.shape.clone(),
            levels,
            origins,
            tile,
            axis_order: None,
            boundary: self.boundary,
            profile: self.profile,
            pad: self.pad,
            layout: self.layout,
        })
    }
}

/// Expands one value, or one per transformed axis in the order of `--axes`, to values for all axes of the data.
fn per_axis<V: Clone + Default>(option: &str, values: &[V], axes: &[usize], rank: usize) -> Outcome<Vec<V>> {
    let mut all = vec![V::default(); rank];
    match values {
        [value] => axes.iter().for_each(|&axis| all[axis] = value.clone()),
        _ if values.len() == axes.len() => {
            axes.iter().zip(values).for_each(|(&axis, value)| all[axis] = value.clone());
        }
        _ => {
            let listed = axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            let (got, expected) = (values.len(), axes.len());
            let plural = if expected == 1 { "axis is" } else { "axes are" };
            let what = if option == "-w" { "wavelets" } else { "numbers" };
            return Err(usage(format!("{option} gives {got} {what}, but {expected} {plural} transformed: {listed}"))
                .help("give one for all, or one for each in this order; --axes chooses them"));
        }
    }
    Ok(all)
}

/// Axes counted from 0, with negative ones from the end.
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

/// Transforms one input, and returns a line of report.
pub fn run(request: &Request, job: &Job) -> Outcome<String> {
    let place = input_name(&job.input);
    let formats = Formats::of(request, job)?;
    let array = media::read(&job.input, Ask { member: request.array.as_deref(), salvage: request.salvage })?;
    let remarks = array.remarks();
    if !remarks.is_empty() {
        note(request.quiet, &format!("{place}: {remarks}"));
    }
    let settings = request.settings(&array).map_err(|f| f.at(&place))?;
    dispatch!(settings.sample, transform(request, &settings, array, job, &formats))
}

/// Output formats by their names, checked before anything is read.
struct Formats {
    output: ArrayFormat,
    picture: Option<image::Format>,
}

impl Formats {
    fn of(request: &Request, job: &Job) -> Outcome<Formats> {
        let output = ArrayFormat::of_coefficients(&named(&job.output, request.format, ".npy")?)?;
        if output == ArrayFormat::Npz && is_stream(&job.output) && request.sidecar.is_none() {
            return Err(usage("a .npz on a pipe cannot hold the sidecar")
                .help("name a file for it: --sidecar FILE; or write .npy, which has it after the data"));
        }
        let picture = job.picture.as_deref().map(|path| image::format_of(&named(path, None, ".png")?)).transpose()?;
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
    let place = input_name(&job.input);
    let say = |text: &str| note(request.quiet, &format!("{place}: {text}"));
    let at = |f: crate::failure::Failure| f.at(&place);
    let plan = settings.plan::<T>(&request.device).map_err(|e| at(no_plan(&e)))?;
    let Array { data, origin, .. } = array;
    if let Some(text) = other_rule(settings) {
        say(&text);
    }
    if let Some(text) = condition(request, settings, &plan).map_err(at)? {
        say(&text);
    }
    let Converted { samples, undefined: counted, notes } = to_samples::<T>(data).map_err(at)?;
    notes.iter().for_each(|text| say(text));
    let (coefficients, fault) = if is_in_place(settings, &plan) && !samples.is_mapped() {
        let counted = counted.unwrap_or_else(|| undefined(&samples));
        let mut samples = samples.into_vec().map_err(at)?;
        plan.forward_in_place(&mut samples).map_err(|e| at(input(e)))?;
        let fault = not_finite(|| counted, &samples);
        (samples, fault)
    } else {
        let mut coefficients = media::zeros::<T>(plan.coefficient_len()).map_err(at)?;
        plan.forward(&samples[..], &mut coefficients).map_err(|e| at(input(e)))?;
        let fault = not_finite(|| counted.unwrap_or_else(|| undefined(&samples)), &coefficients);
        (coefficients, fault)
    };
    if let Some(text) = fault {
        say(&text);
    }
    if let Some(text) = idle_levels(&plan) {
        say(&text);
    }

    let name = if is_standard(&job.input) { None } else { job.input.file_name() };
    let source = SourceFile { name: name.map_or_else(String::new, |n| n.to_string_lossy().into_owned()), origin };
    let sidecar = Sidecar::new(settings, &plan, source, hash_of([&coefficients[..]]));
    let origin = sidecar.source.origin.clone();
    let json = sidecar.into_json();
    let stream = is_stream(&job.output);
    let beside = request.sidecar.clone().or_else(|| (!stream).then(|| Sidecar::path_for(&job.output)));
    let shape = plan.coefficient_shape();
    let data = T::into_data(coefficients);
    let mut files = Files::default();
    let write = |w: &mut dyn std::io::Write| media::write_array(w, formats.output, shape, &data, origin.member());
    if !stream {
        files.add(&job.output, write)?;
    }
    if let Some(path) = &beside {
        files.add(path, |w| w.write_all(json.as_bytes()))?;
    }
    if let Some((path, format)) = job.picture.as_deref().zip(formats.picture) {
        let coefficients: &[T] = bytemuck::cast_slice(data.native_bytes());
        let notes = picture::write(&mut files, path, format, settings, &plan, coefficients, &origin).map_err(at)?;
        notes.iter().for_each(|text| say(text));
    }
    files.commit()?;
    if stream {
        // A reader that has reached the end finds the other files. Readers of .npy stop after its data.
        write_file(&job.output, |w| {
            write(&mut *w)?;
            if beside.is_none() { w.write_all(json.as_bytes()) } else { Ok(()) }
        })?;
    }
    let recipe = plan.recipe();
    Ok(format!(
        "{}: {} {} coefficients, {} × {} ({})\n",
        output_name(&job.output),
        shape_text(shape),
        recipe.sample,
        levels_text(&settings.levels),
        recipe.wavelet,
        recipe.boundary,
    ))
}

/// Condition above which a border rule is noted.
const WARNS: f64 = 100.0;
/// Condition above which a border rule is refused.
const REFUSES: f64 = 1e4;

/// Note on a border rule that amplifies errors.
///
/// # Errors
/// If it leaves no digits, unless the user has accepted that.
fn condition<T: lifting::Sample>(request: &Request, settings: &Settings, plan: &Plan<T>) -> Outcome<Option<String>> {
    if request.ill_conditioned {
        return Ok(None);
    }
    let most = plan.condition();
    if most <= WARNS {
        return Ok(None);
    }
    let recipe = plan.recipe();
    let text = format!(
        "border rule {} does not suit wavelet {}: near the borders of {} coefficients are up to {most:.1e} times too \
         large, and rounding errors with them",
        recipe.boundary,
        recipe.wavelet,
        shape_text(&settings.shape)
    );
    let other = "use --boundary periodic, with --pad edge for odd lengths";
    if most > REFUSES {
        return Err(input(text).help(format!("{other}; or accept it: --ill-conditioned")));
    }
    Ok(Some(format!("{text}; {other}")))
}

/// Note on a requested border rule that is not the format's.
fn other_rule(settings: &Settings) -> Option<String> {
    let (format, asked) = settings.profile.zip(settings.boundary)?;
    let rule = settings.scheme.profile(format)?.boundary.unwrap_or(settings.scheme.boundary());
    let format = format.name();
    (rule != asked)
        .then(|| format!("the border rule of {format} is {rule}: with {asked}, coefficients are not {format}'s"))
}

/// Note on axes with levels that split fewer than two samples.
fn idle_levels<T: lifting::Sample>(plan: &Plan<T>) -> Option<String> {
    let mut idle = Vec::new();
    for (axis, &levels) in plan.recipe().levels.iter().enumerate() {
        let length = |level: u32| plan.level_shape(level).map_or(0, |shape| shape[axis]);
        let useful = (0..levels).find(|&level| length(level) <= 1);
        idle.extend(
            useful.map(|useful| format!("axis {axis} has nothing left to split after {useful} of its {levels}")),
        );
    }
    (!idle.is_empty()).then(|| format!("more levels than there are samples for: {}", idle.join(", ")))
}
