//! `liftc bench`: times of transforms, in units of a copy of the same data.
//!
//! Each device has a runner: `cuda` times launches replayed as a graph, `opencl` launches on a queue, `cpu` calls. All
//! use public plans, so they measure the planner's choice. `case` describes a transform, `data` fills and compares
//! arrays, `stats` condenses times, `report` writes tables and JSON, `plot` draws them. `codec` times the codec,
//! `several` transforms and frames on several devices, and `host` those from host memory.

pub mod case;
pub mod codec;
mod copies;
pub mod cpu;
pub mod cuda;
pub mod data;
mod host;
pub mod opencl;
mod plot;
pub mod report;
mod several;
mod stats;

use crate::cli::{BenchArgs, Cli, Command, DeviceArg};
use crate::failure::{Failure, Outcome, eprint_quietly, input, usage};
use crate::figure;
use crate::mend::mend;
use crate::output::{check_distinct, print, why, write_file};
pub use case::Case;
pub(crate) use case::{default_sample, pitched, shape_text};
use clap::Parser;
use lifting::{Device, Schedule};
pub use stats::Spread;
use std::ffi::OsString;
use std::path::Path;

/// A timed direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedOperation {
    Forward,
    Inverse,
    /// The adjoint of analysis: coefficients to data.
    Adjoint,
    /// The adjoint of synthesis: data to coefficients.
    InverseAdjoint,
}

impl TimedOperation {
    fn is_adjoint(self) -> bool {
        matches!(self, TimedOperation::Adjoint | TimedOperation::InverseAdjoint)
    }

    fn name(self) -> &'static str {
        match self {
            TimedOperation::Forward => "forward",
            TimedOperation::Inverse => "inverse",
            TimedOperation::Adjoint => "adjoint",
            TimedOperation::InverseAdjoint => "inverse adjoint",
        }
    }
}

/// Total bytes of the arrays of one direction: several times the largest cache, so that no array stays in a cache.
const ROTATING: usize = 480 << 20;

/// Largest number of array sets. Small transforms then stay in the cache, and the report marks them.
const MOST_SETS: usize = 1024;

/// Number of array sets to rotate through. A set has `pair` bytes of source and target, `all` bytes in total; `free`
/// bytes are available.
fn sets(pair: usize, all: usize, free: usize) -> Option<usize> {
    let most = free / all.max(1);
    (most > 0).then(|| ROTATING.div_ceil(pair.max(1)).clamp(2, MOST_SETS).min(most))
}

/// Runs the command.
pub fn run(args: &BenchArgs) -> Outcome {
    let outputs: Vec<&Path> = args.json.iter().chain(&args.svg).map(|p| p.as_path()).collect();
    check_distinct(&[], &outputs)?;
    if let Some(path) = &args.svg {
        figure::Format::of(path)?;
    }
    if !args.codec.is_empty() {
        return codec::run(args, &device(args)?);
    }
    let cases = match &args.suite {
        Some(path) => suite(path)?,
        None => case::all(args)?,
    };
    if let Some(devices) = args.devices {
        return several::run(args, devices, &cases);
    }
    let device = device(args)?;
    if let Some(case) = cases.iter().find(|case| case.schedule != Schedule::Auto)
        && matches!(device, Device::Cpu { .. })
    {
        let text = format!("--schedule {}: this schedule needs a GPU, and the device is {device}", case.schedule);
        return Err(usage(text).help("add --device cuda, or omit --schedule"));
    }
    let mut runner: Box<dyn Runner> = match &device {
        Device::Cuda(device) => Box::new(cuda::Runner::new(device)?),
        Device::OpenCl(device) => Box::new(opencl::Runner::new(device)?),
        _ => Box::new(cpu::Runner::new(args.threads)?),
    };
    let mut report = report::Report::new(runner.device());
    let mut failures = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let say = |text: &str| {
            if !args.quiet {
                eprint_quietly(&format!("[{}/{}] {case}: {text}\n", i + 1, cases.len()));
            }
        };
        match runner.measure(case, args.repeats.into()) {
            Ok(rows) => {
                let ratios = rows.iter().map(|row| format!("{} {:.2}", row.direction, row.ratio));
                say(&(ratios.collect::<Vec<_>>().join(", ") + " copies"));
                report.results.extend(rows);
            }
            Err(failure) => {
                say("failed");
                failures.push(failure.at(case));
            }
        }
        // Written after every case, so that an interrupted run keeps its results.
        if let Some(path) = &args.json {
            write_file(path, |w| w.write_all(report.to_json().as_bytes()))?;
        }
    }
    print(&report.table())?;
    if let Some(path) = &args.svg {
        figure::write(path, &plot::draw(&report), figure::DPI)?;
    }
    match failures.len() {
        0 => Ok(()),
        1 => Err(failures.remove(0)),
        _ => Err(Failure::Many(failures)),
    }
}

/// Cases of a suite file: each line holds options of `liftc bench`.
fn suite(path: &Path) -> Outcome<Vec<Case>> {
    let text =
        std::fs::read_to_string(path).map_err(|e| input(format!("{}: cannot read: {}", path.display(), why(&e))))?;
    let mut cases = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        let at = |failure: Failure| failure.at(format!("{}, line {}", path.display(), number + 1));
        let words: Vec<OsString> = ["liftc", "bench"].iter().chain(&words).map(OsString::from).collect();
        let said = Cli::try_parse_from(&words).map_err(|e| mend(e, &words));
        let args = match said.map(|cli| cli.command) {
            Ok(Some(Command::Bench(args))) => args,
            Ok(_) => return Err(at(input("a line holds options of `liftc bench`, not another command"))),
            Err(e) => return Err(at(input(e.to_string().trim_start_matches("error: ").trim_end()))),
        };
        if args.suite.is_some() || args.json.is_some() || args.svg.is_some() || args.threads.is_some() {
            return Err(at(input("--suite, --json, --svg and --threads belong on the command line, not in a suite")));
        }
        cases.extend(case::all(&args).map_err(at)?);
    }
    if cases.is_empty() { Err(input(format!("{}: no cases in this suite", path.display()))) } else { Ok(cases) }
}

/// Opens a device. If the best device is the CPU, a note says why; `done` names the work, as in "measured".
pub fn open(device: DeviceArg, quiet: bool, done: &str) -> Outcome<Device> {
    match device {
        DeviceArg::Best => {
            let (device, why) = Device::best_and_why();
            if let (Some(why), false) = (why, quiet) {
                eprint_quietly(&format!("note: {done} on the CPU: {why}\n"));
            }
            Ok(device)
        }
        DeviceArg::Cpu => Ok(Device::cpu()),
        DeviceArg::Cuda(ordinal) => Device::cuda(ordinal),
        DeviceArg::CudaAll => Device::cuda_all(),
        DeviceArg::OpenCl(ordinal) => Device::opencl(ordinal),
    }
    .map_err(|e| input(e).help("add --device cpu to use the CPU"))
}

fn device(args: &BenchArgs) -> Outcome<Device> {
    if args.device == DeviceArg::CudaAll {
        return Err(
            usage("--device cuda:all: one device is measured at a time").help("--devices N compares N with one")
        );
    }
    let device = open(args.device, args.quiet, "measured")?;
    if args.threads.is_some() && !matches!(device, Device::Cpu { .. }) {
        return Err(usage(format!("--threads needs the CPU, and the device is {device}")).help("add --device cpu"));
    }
    Ok(device)
}

/// Measures cases on one device.
pub trait Runner {
    /// The device, for the report.
    fn device(&self) -> report::DeviceInfo;

    /// Verifies one case and times each of its directions.
    fn measure(&mut self, case: &Case, repeats: usize) -> Outcome<Vec<report::Measurement>>;
}

/// Calls a generic function with the sample type.
#[macro_export]
#[doc(hidden)]
macro_rules! with_sample {
    ($sample:expr, $f:ident($($arg:expr),* $(,)?)) => {
        match $sample {
            lifting::SampleType::I16 => $f::<i16>($($arg),*),
            lifting::SampleType::I32 => $f::<i32>($($arg),*),
            lifting::SampleType::I64 => $f::<i64>($($arg),*),
            lifting::SampleType::F16 => $f::<lifting::f16>($($arg),*),
            lifting::SampleType::Bf16 => $f::<lifting::bf16>($($arg),*),
            lifting::SampleType::F32 => $f::<f32>($($arg),*),
            lifting::SampleType::F64 => $f::<f64>($($arg),*),
        }
    };
}
pub use with_sample;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_fit_in_memory() {
        let mib = 1 << 20;
        assert_eq!(sets(2 * mib, 3 * mib, 1 << 40), Some(240));
        assert_eq!(sets(1 << 30, 3 << 29, 1 << 40), Some(2));
        assert_eq!(sets(1 << 30, 3 << 29, 2 << 30), Some(1));
        assert_eq!(sets(1 << 30, 3 << 29, 1 << 30), None);
        assert_eq!(sets(16, 24, 1 << 40), Some(MOST_SETS));
    }
}
