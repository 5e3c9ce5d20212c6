//! `liftc transform`: pictures and arrays to coefficients, and back.

mod convert;
mod forward;
mod inverse;
mod picture;
mod sidecar;

use crate::cli::{DeviceArg, OutputFormat, TransformArgs};
use crate::failure::{Failure, Outcome, eprint_quietly, input, usage};
use crate::output::{Folder, check_distinct, create_folder, input_name, is_standard, is_stream, print};
use indicatif::{ProgressBar, ProgressStyle};
use lifting::{Device, GeometryError, PlanError};
use sidecar::Sidecar;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Input, and its outputs.
#[derive(Clone, Debug)]
struct Job {
    input: PathBuf,
    output: PathBuf,
    picture: Option<PathBuf>,
}

/// Transforms all inputs; a failure does not stop the others.
pub fn run(args: &TransformArgs) -> Outcome {
    check(args)?;
    let (jobs, _folders) = jobs(args)?;
    let task = match args.inverse {
        true => Task::Inverse(device(args)?),
        false => Task::Forward(Box::new(forward::Request::new(args)?)),
    };
    // The report must not mix with results on a stream.
    let taken = jobs.iter().any(|job| is_stream(&job.output) || job.picture.as_deref().is_some_and(is_stream));
    let progress = Progress::new(jobs.len(), args.quiet);
    let mut failures = Vec::new();
    for job in &jobs {
        progress.start(&job.input);
        let result = match &task {
            Task::Forward(request) => forward::run(request, job),
            Task::Inverse(device) => inverse::run(args, device, job),
        };
        match result {
            Ok(said) if taken => note_quietly(args.quiet, &said),
            Ok(said) if !args.quiet => progress.say(&said)?,
            Ok(_) => {}
            Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
            Err(failure) => failures.push(failure),
        }
        progress.done();
    }
    match failures.len() {
        0 => Ok(()),
        1 => Err(failures.remove(0)),
        _ => Err(Failure::Many(failures)),
    }
}

enum Task {
    Forward(Box<forward::Request>),
    Inverse(Device),
}

/// Device that executes plans.
fn device(args: &TransformArgs) -> Outcome<Device> {
    match (args.device, args.threads) {
        (DeviceArg::Cpu, Some(threads)) => Ok(Device::cpu_with_threads(threads.into())),
        (device, None) => crate::bench::open(device, args.quiet, "transformed"),
        _ => Err(usage("--threads is for the CPU").help("leave out --device")),
    }
}

/// Checks combinations of options; clap's `requires` ignores flags that are merely off.
fn check(args: &TransformArgs) -> Outcome {
    if !args.inverse {
        if args.level.is_some() {
            return Err(usage("--level is for --inverse: a transform always writes all of its levels"));
        }
        if args.force {
            return Err(usage("--force is for --inverse: a forward transform has nothing to override"));
        }
        if let Some(format) = args.format.filter(|f| ![OutputFormat::Npy, OutputFormat::Npz].contains(f)) {
            let text = format!("--format {}: coefficients are arrays, and are written as .npy or .npz", format.name());
            return Err(usage(text).help("--picture draws them"));
        }
    }
    let several = args.inputs.len() > 1;
    if several && args.inputs.iter().filter(|p| is_standard(p)).count() > 1 {
        return Err(usage("`-` is given twice, but the standard input can be read only once"));
    }
    if let Some(path) = &args.sidecar {
        if several {
            return Err(usage("--sidecar names one file, but there are several inputs")
                .help("process them one by one, or leave out --sidecar: each file of coefficients has its own"));
        }
        if is_standard(path) {
            return Err(usage("--sidecar needs the name of a file: `-` is for coefficients and data"));
        }
    }
    let to_standard = is_standard(&args.output) || args.picture.as_deref().is_some_and(is_standard);
    if to_standard && std::io::stdout().is_terminal() {
        return Err(usage("the standard output is a terminal, which cannot show this")
            .help("write to a file: -o NAME, or pipe it: … -o - | …"));
    }
    Ok(())
}

pub(crate) fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR])
}

/// Inputs with their outputs, checked before anything is read.
fn jobs(args: &TransformArgs) -> Outcome<(Vec<Job>, Vec<Folder>)> {
    let mut folders = Vec::new();
    let several = args.inputs.len() > 1;
    for path in std::iter::once(&args.output).chain(&args.picture) {
        if several && is_standard(path) {
            return Err(usage("several inputs need a directory, but `-` is the standard output").help("-o DIR"));
        }
        if several && !is_folder(path) && path.exists() {
            return Err(usage(format!("{}: is a file, but several inputs need a directory", path.display())));
        }
        if several || is_folder(path) {
            folders.push(create_folder(path)?);
        }
    }
    let mut jobs = Vec::new();
    for input in &args.inputs {
        let place = |path: &Path, extension: &dyn Fn() -> String| {
            if !several && !is_folder(path) {
                return path.to_owned();
            }
            let stem = input.file_stem().unwrap_or(input.as_os_str());
            let stem = if is_standard(input) { std::ffi::OsStr::new("stdin") } else { stem };
            let mut name = stem.to_owned();
            name.push(extension());
            path.join(name)
        };
        // The default output of an inverse depends on the origin of its coefficients.
        let extension = || match args.format {
            Some(format) => format!(".{}", format.name()),
            None if args.inverse => inverse::extension(args, input).unwrap_or_else(|| ".npy".into()),
            None => ".npy".into(),
        };
        let output = place(&args.output, &extension);
        let picture = args.picture.as_deref().map(|p| place(p, &|| ".png".into()));
        jobs.push(Job { input: input.clone(), output, picture });
    }
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for job in &jobs {
        inputs.push(job.input.clone());
        outputs.extend(std::iter::once(job.output.clone()).chain(job.picture.clone()));
        // The sidecar is read or written along with its coefficients.
        let (coefficients, files) = if args.inverse { (&job.input, &mut inputs) } else { (&job.output, &mut outputs) };
        match &args.sidecar {
            Some(path) => files.push(path.clone()),
            None if is_stream(coefficients) => {}
            None => files.push(Sidecar::path_for(coefficients)),
        }
    }
    check_distinct(
        &inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
        &outputs.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
    )?;
    Ok((jobs, folders))
}

/// File name that determines the format: the output's own, or one made from `--format` or, for a stream, `otherwise`.
pub(crate) fn named(output: &Path, format: Option<OutputFormat>, otherwise: &str) -> Outcome<PathBuf> {
    let said = output.extension().map(|e| e.to_string_lossy().to_lowercase());
    match (format.map(OutputFormat::name), said.as_deref()) {
        (Some(name), Some(said)) if name != said && (name, said) != ("tiff", "tif") => {
            let text = format!("{}: the extension contradicts --format {name}", output.display());
            Err(usage(text).help("change either, or leave out --format"))
        }
        (Some(name), None) => Ok(format!("data.{name}").into()),
        (None, None) if is_stream(output) => Ok(format!("data{otherwise}").into()),
        _ => Ok(output.to_owned()),
    }
}

/// Whether a plan transforms in place, which halves its memory and takes longer: only where it matters.
fn is_in_place<T: lifting::Sample>(settings: &sidecar::Settings, plan: &lifting::Plan<T>) -> bool {
    /// Least size in bytes.
    const LARGE: usize = 64 << 20;
    // Levels of `f16` have a buffer of `f32`.
    let is_large = T::KIND != lifting::SampleType::F16 && plan.coefficient_len() * T::KIND.bytes() >= LARGE;
    is_large && settings.pad.is_none()
}

/// Levels of the transformed axes; a single number if they are equal.
fn levels_text(levels: &[u32]) -> String {
    let mut levels: Vec<u32> = levels.iter().copied().filter(|&l| l > 0).collect();
    if levels.iter().all(|l| Some(l) == levels.first()) {
        levels.truncate(1);
    }
    if levels.is_empty() { "0".into() } else { levels.iter().map(u32::to_string).collect::<Vec<_>>().join(",") }
}

/// Error of a plan, in the terms of the command line.
fn no_plan(error: &PlanError) -> Failure {
    let pad = "add --pad edge, which repeats the last sample (the inverse removes it)";
    match error {
        PlanError::Geometry(GeometryError::OddPeriodic { axis, length, level, .. }) => {
            let at = if *level == 0 { String::new() } else { format!(" after {level} levels") };
            input(format!("axis {axis} has {length} samples{at}, and the border rule `periodic` needs an even number"))
                .help(pad)
        }
        PlanError::NotAMultiple { format, axis, length, multiple } => {
            let format = format.name();
            input(format!(
                "{format} needs multiples of 2^levels: axis {axis} has {length} samples, not a multiple of \
                 {multiple}"
            ))
            .help(format!("{pad}, or use fewer levels"))
        }
        PlanError::Padding { most, .. } => {
            input(error).help(format!("take -l {most}, or levels for each axis, as in -l 3,3,1"))
        }
        _ => input(error),
    }
}

/// Progress bar over several files, or a spinner for a slow single one; on terminals only.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub fn new(jobs: usize, quiet: bool) -> Progress {
        if quiet {
            return Progress { bar: ProgressBar::hidden() };
        }
        // Draws to standard error, and only if that is a terminal.
        let bar = if jobs > 1 { ProgressBar::new(jobs as u64) } else { ProgressBar::new_spinner() };
        let template = if jobs > 1 { "{bar:30} {pos}/{len} {wide_msg}" } else { "{spinner} {wide_msg} {elapsed}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        // Fast jobs need no progress display.
        bar.enable_steady_tick(Duration::from_millis(250));
        Progress { bar }
    }

    pub fn start(&self, input: &Path) {
        self.bar.set_message(input_name(input));
    }

    pub fn say(&self, text: &str) -> Outcome {
        self.bar.suspend(|| print(text))
    }

    pub fn done(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Prints a note.
pub(crate) fn note(quiet: bool, text: &str) {
    note_quietly(quiet, &format!("note: {text}\n"));
}

/// Prints to standard error, unless quiet.
pub(crate) fn note_quietly(quiet: bool, text: &str) {
    if !quiet {
        eprint_quietly(text);
    }
}
