//! `liftc bench`: how long transforms take, in units of a copy of the same data.
//!
//! Device by device: `cuda` times launches replayed as a graph, `opencl` launches on a queue, and `cpu` calls. All go
//! through plans as anybody makes them, so what is measured is what the planner chooses. `case` says what is
//! transformed, `data` fills and compares it, `stats` condenses times, `report` is what comes out, `plot` draws it.
//! `codec` times pictures to bytes.

mod case;
pub(crate) mod codec;
mod copies;
mod cpu;
pub(crate) mod cuda;
mod data;
mod opencl;
mod plot;
pub(crate) mod report;
mod stats;

use crate::cli::{BenchArgs, Cli, Command, DeviceArg};
use crate::failure::{Failure, Outcome, eprint_quietly, input, usage};
use crate::figure;
use crate::mend::mend;
use crate::output::{check_distinct, print, why, write_file};
pub(crate) use case::{Case, default_sample, pitched, shape_text};
use clap::Parser;
use lifting::{Device, Schedule};
pub(crate) use stats::Spread;
use std::ffi::OsString;
use std::path::Path;

/// A direction that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Forward,
    Inverse,
    /// The adjoint of analysis: coefficients to data.
    Adjoint,
    /// The adjoint of synthesis: data to coefficients.
    InverseAdjoint,
}

impl Way {
    fn is_adjoint(self) -> bool {
        matches!(self, Way::Adjoint | Way::InverseAdjoint)
    }

    fn name(self) -> &'static str {
        match self {
            Way::Forward => "forward",
            Way::Inverse => "inverse",
            Way::Adjoint => "adjoint",
            Way::InverseAdjoint => "inverse adjoint",
        }
    }
}

/// Bytes that the arrays of one direction have together, so that none is found in a cache: several times the largest
/// there is.
const ROTATING: usize = 480 << 20;

/// The most sets of arrays; small transforms are then found in the cache, which the report says.
const MOST_SETS: usize = 1024;

/// How many sets of arrays go round, each with `pair` bytes for a source and a target and `all` bytes altogether,
/// within `free` bytes.
fn sets(pair: usize, all: usize, free: usize) -> Option<usize> {
    let most = free / all.max(1);
    (most > 0).then(|| ROTATING.div_ceil(pair.max(1)).clamp(2, MOST_SETS).min(most))
}

/// Measures everything that was asked for.
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
    let device = device(args)?;
    if let Some(case) = cases.iter().find(|case| case.schedule != Schedule::Auto)
        && matches!(device, Device::Cpu { .. })
    {
        let text = format!("--schedule {}: that is made of a GPU's kernels, and this is {device}", case.schedule);
        return Err(usage(text).help("add --device cuda, or leave the schedule out"));
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
        // After every case: what has been measured is there even if the rest takes too long.
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

/// The cases of a file: what the options on each line ask for.
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
            Ok(_) => return Err(at(input("this is another command"))),
            Err(e) => return Err(at(input(e.to_string().trim_start_matches("error: ").trim_end()))),
        };
        if args.suite.is_some() || args.json.is_some() || args.svg.is_some() || args.threads.is_some() {
            return Err(at(input("a line says only what is measured: the rest is for the command line")));
        }
        cases.extend(case::all(&args).map_err(at)?);
    }
    if cases.is_empty() { Err(input(format!("{}: asks for nothing", path.display()))) } else { Ok(cases) }
}

/// Opens a device; a note says why it is the CPU, and what is `done` there, where that was not asked for.
pub fn open(device: DeviceArg, quiet: bool, done: &str) -> Outcome<Device> {
    match device {
        DeviceArg::Best => {
            let (device, why) = Device::best_and_why();
            if let (Some(why), false) = (why, quiet) {
                // What a program could do instead has been done.
                let why = why.to_string().replace(", or use the CPU", "");
                eprint_quietly(&format!("note: {done} on the CPU: {why}\n"));
            }
            Ok(device)
        }
        DeviceArg::Cpu => Ok(Device::cpu()),
        DeviceArg::Cuda(ordinal) => Device::cuda(ordinal),
        DeviceArg::OpenCl(ordinal) => Device::opencl(ordinal),
    }
    .map_err(|e| input(e.to_string().replace("use the CPU", "say --device cpu")))
}

fn device(args: &BenchArgs) -> Outcome<Device> {
    let device = open(args.device, args.quiet, "measured")?;
    if args.threads.is_some() && !matches!(device, Device::Cpu { .. }) {
        return Err(usage(format!("--threads is for the CPU, and this is {device}")).help("add --device cpu"));
    }
    Ok(device)
}

/// Measures cases on one device.
pub(crate) trait Runner {
    /// The device, for the report.
    fn device(&self) -> report::DeviceInfo;

    /// Verifies one case and times it, each direction that is asked for.
    fn measure(&mut self, case: &Case, repeats: usize) -> Outcome<Vec<report::Measurement>>;
}

/// Calls a function with the type of the samples.
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
pub(crate) use with_sample;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_go_round_within_memory() {
        let mib = 1 << 20;
        assert_eq!(sets(2 * mib, 3 * mib, 1 << 40), Some(240));
        assert_eq!(sets(1 << 30, 3 << 29, 1 << 40), Some(2));
        assert_eq!(sets(1 << 30, 3 << 29, 2 << 30), Some(1));
        assert_eq!(sets(1 << 30, 3 << 29, 1 << 30), None);
        assert_eq!(sets(16, 24, 1 << 40), Some(MOST_SETS));
    }
}
