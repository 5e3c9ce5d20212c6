//! `liftc transform`: pictures and arrays to coefficients, and back.

mod convert;
mod forward;
mod inverse;
mod picture;
mod sidecar;

use crate::cli::TransformArgs;
use crate::failure::{Failure, Outcome, eprint_quietly, usage};
use crate::output::{check_distinct, create_folder, print};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One input and where its results go.
#[derive(Clone, Debug)]
struct Job {
    input: PathBuf,
    output: PathBuf,
    picture: Option<PathBuf>,
}

/// Transforms all inputs; those that fail do not keep the others from being done.
pub fn run(args: &TransformArgs) -> Outcome {
    // clap's `requires` does not look at flags that are merely off.
    if args.level.is_some() && !args.inverse {
        return Err(usage("--level is for --inverse: a transform always writes all of its levels"));
    }
    let jobs = jobs(args)?;
    let task = if args.inverse { Task::Inverse } else { Task::Forward(Box::new(forward::Request::new(args)?)) };
    let progress = Progress::new(jobs.len(), args.quiet);
    let mut failures = Vec::new();
    for job in &jobs {
        progress.start(&job.input);
        let result = match &task {
            Task::Forward(request) => forward::run(request, job),
            Task::Inverse => inverse::run(args, job),
        };
        match result {
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
    Inverse,
}

/// Where everything goes, checked before anything is read.
fn jobs(args: &TransformArgs) -> Outcome<Vec<Job>> {
    let is_folder =
        |path: &Path| path.is_dir() || path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]);
    let several = args.inputs.len() > 1;
    for path in std::iter::once(&args.output).chain(&args.picture) {
        if several && !is_folder(path) && path.exists() {
            return Err(usage(format!("{}: is a file, and several inputs need a directory", path.display())));
        }
        if several || is_folder(path) {
            create_folder(path)?;
        }
    }
    let mut jobs = Vec::new();
    for input in &args.inputs {
        let place = |path: &Path, extension: &str| {
            if !several && !is_folder(path) {
                return path.to_owned();
            }
            let mut name = input.file_stem().unwrap_or(input.as_os_str()).to_owned();
            name.push(extension);
            path.join(name)
        };
        // What an inverse writes by itself depends on what its coefficients are from.
        let extension =
            if args.inverse { inverse::extension(input).unwrap_or_else(|| ".npy".into()) } else { ".npy".into() };
        let output = place(&args.output, &extension);
        let picture = args.picture.as_deref().map(|p| place(p, ".png"));
        jobs.push(Job { input: input.clone(), output, picture });
    }
    let inputs: Vec<PathBuf> = jobs
        .iter()
        .flat_map(|job| {
            // The sidecar of coefficients is read too.
            let sidecar = args.inverse.then(|| sidecar::Sidecar::path_for(&job.input));
            std::iter::once(job.input.clone()).chain(sidecar)
        })
        .collect();
    let outputs: Vec<PathBuf> = jobs
        .iter()
        .flat_map(|job| {
            let sidecar = (!args.inverse).then(|| sidecar::Sidecar::path_for(&job.output));
            std::iter::once(job.output.clone()).chain(sidecar).chain(job.picture.clone())
        })
        .collect();
    let paths = |list: &[PathBuf]| list.iter().map(|p| p.as_path().to_owned()).collect::<Vec<_>>();
    let (inputs, outputs) = (paths(&inputs), paths(&outputs));
    check_distinct(
        &inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
        &outputs.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
    )?;
    Ok(jobs)
}

/// A bar over the files, or a spinner on a single one that takes its time; on terminals only.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(jobs: usize, quiet: bool) -> Progress {
        if quiet {
            return Progress { bar: ProgressBar::hidden() };
        }
        // Draws to the standard error stream, and nothing unless that is a terminal.
        let bar = if jobs > 1 { ProgressBar::new(jobs as u64) } else { ProgressBar::new_spinner() };
        let template = if jobs > 1 { "{bar:30} {pos}/{len} {wide_msg}" } else { "{spinner} {wide_msg} {elapsed}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        // What is done at once needs no sign of life.
        bar.enable_steady_tick(Duration::from_millis(250));
        Progress { bar }
    }

    fn start(&self, input: &Path) {
        self.bar.set_message(input.display().to_string());
    }

    fn say(&self, text: &str) -> Outcome {
        self.bar.suspend(|| print(text))
    }

    fn done(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A remark that is no error.
fn note(quiet: bool, text: &str) {
    if !quiet {
        eprint_quietly(&format!("note: {text}\n"));
    }
}
