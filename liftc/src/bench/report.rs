//! Benchmark reports: a table, and JSON with everything needed to repeat a measurement.

use super::TimedOperation;
use super::case::Case;
use super::stats::Spread;
use lifting::{Domain, Recipe, SampleType};
use lifting_dsl::Direction;
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the JSON's layout.
const VERSION: u32 = 1;

/// All measurements of one run.
#[derive(Debug, Serialize)]
pub struct Report {
    format: &'static str,
    version: u32,
    liftc: &'static str,
    /// The command line.
    command: Vec<String>,
    machine: Machine,
    device: DeviceInfo,
    pub results: Vec<Measurement>,
}

/// The machine around the device.
#[derive(Debug, Serialize)]
struct Machine {
    os: &'static str,
    architecture: &'static str,
    processor: Option<String>,
    /// Hardware threads available to the process.
    threads: usize,
}

/// The measured device.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DeviceInfo {
    /// This machine's processor, with the threads of the pool.
    Cpu { threads: usize },
    /// A CUDA device.
    Cuda {
        name: String,
        architecture: String,
        multiprocessors: u32,
        memory_bytes: usize,
        l2_bytes: usize,
        /// The CUDA version that the driver supports.
        driver: String,
        /// The driver's own version, if the system reports it.
        driver_release: Option<String>,
    },
    /// An OpenCL device.
    OpenCl { name: String, compute_units: u32 },
}

/// Results of the verification before timing.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    /// Reference of the forward transform. The comparison is bit for bit, unless the text says otherwise.
    pub forward_equals: &'static str,
    /// Compared shape: the transform's own, or a smaller one.
    pub forward_shape: Vec<usize>,
    /// Largest error of inverse(forward(x)), relative to the largest sample; zero for integers.
    pub inverse_error: f64,
}

/// Reference text for schedules that reorder the arithmetic of lifting.
pub const WITHIN_ROUNDING: &str = "the CPU plan within rounding";

/// Times of a transform and of the reference copies.
pub struct Timed {
    pub time: Spread,
    pub copy: Spread,
    /// Times of the non-temporal copy, on CPUs that have one.
    pub streaming: Option<Spread>,
    /// Number of array sets.
    pub sets: usize,
    /// Total bytes of the sources and targets of one direction.
    pub rotating: usize,
}

/// A launch of a schedule.
#[derive(Debug, PartialEq, Serialize)]
pub struct Launch {
    schedule: &'static str,
    /// Parameters of the launch shape.
    shape: BTreeMap<&'static str, u32>,
}

impl Launch {
    /// The launch of a direction that has exactly one.
    fn of(recipe: &Recipe, direction: Direction) -> Option<Launch> {
        let mut taken = recipe.choices.iter().filter(|choice| choice.direction == direction).map(|choice| choice.taken);
        let first = taken.next().filter(|first| first.launches == 1 && taken.all(|other| other.launches == 0))?;
        let shape = first.way.shape()?;
        Some(Launch { schedule: shape.schedule().name(), shape: shape.numbers().collect() })
    }
}

/// One transform in one direction.
#[derive(Debug, Serialize)]
pub struct Measurement {
    wavelet: String,
    sample: &'static str,
    shape: Vec<usize>,
    /// Number of images, if the first axis is a batch.
    batch: Option<usize>,
    levels: u32,
    boundary: &'static str,
    pub direction: &'static str,
    /// Row pitch in bytes; null for contiguous rows.
    pitch_bytes: Option<usize>,
    samples: usize,
    time_us: Spread,
    /// Times of a copy of the same samples, in the same run.
    copy_us: Spread,
    /// Throughput of the copy in GB/s, reads and writes together.
    copy_gb_per_s: f64,
    /// Times of a copy with non-temporal stores on a CPU; null for processors without them.
    streaming_us: Option<Spread>,
    /// Median time of the transform, in units of the copy's.
    pub ratio: f64,
    /// Number of array sets, and the total bytes of their sources and targets.
    sets: usize,
    rotating_bytes: usize,
    workspace_bytes: usize,
    /// Requested schedule; `auto` leaves the choice to the planner.
    schedule: &'static str,
    /// Schedules taken. On a GPU: one for every level, finest first, with its blocks. On the CPU: the distinct
    /// schedules of the passes. Empty for adjoints.
    schedules: Vec<String>,
    /// The launch of a transform that is a single launch; `cargo xtask fit` reads it.
    launch: Option<Launch>,
    recipe: String,
    verified: Verified,
    #[serde(skip)]
    pub label: String,
    #[serde(skip)]
    cached: bool,
}

impl Measurement {
    /// Measurements of all directions of a case. `times` holds the copy's times, then those of each direction in order.
    /// Source and target of one set have `pair` bytes.
    pub fn all(
        case: &Case,
        times: Vec<Spread>,
        (sets, pair): (usize, usize),
        recipe: &Recipe,
        workspace_bytes: usize,
        verified: &Verified,
    ) -> Vec<Measurement> {
        let mut times = times.into_iter();
        let copy = times.next().expect("the copy is timed first");
        let measurement = |(&way, time): (&TimedOperation, Spread)| {
            let timed = Timed { time, copy: copy.clone(), streaming: None, sets, rotating: sets * pair };
            Measurement::new(case, way, timed, recipe, workspace_bytes, verified)
        };
        case.ways.iter().zip(times).map(measurement).collect()
    }

    pub fn new(
        case: &Case,
        way: TimedOperation,
        timed: Timed,
        recipe: &Recipe,
        workspace_bytes: usize,
        verified: &Verified,
    ) -> Measurement {
        // A recipe does not describe adjoints.
        let direction = match way {
            TimedOperation::Forward => Some(Direction::Forward),
            TimedOperation::Inverse => Some(Direction::Inverse),
            TimedOperation::Adjoint | TimedOperation::InverseAdjoint => None,
        };
        let chosen = recipe.choices.iter().filter(|choice| Some(choice.direction) == direction);
        let mut schedules: Vec<String> = chosen.map(|choice| choice.taken.way.to_string()).collect();
        for pass in recipe.passes.iter().filter(|_| recipe.choices.is_empty() && !way.is_adjoint()) {
            if !schedules.iter().any(|s| s == pass.schedule) {
                schedules.push(pass.schedule.to_owned());
            }
        }
        let Timed { time, copy, streaming, sets, rotating } = timed;
        Measurement {
            wavelet: case.scheme.name().to_owned(),
            sample: case.sample.name(),
            shape: case.shape.clone(),
            batch: case.batch,
            levels: case.levels,
            boundary: case.boundary().name(),
            direction: way.name(),
            pitch_bytes: case.pitch,
            samples: case.samples(),
            copy_gb_per_s: 2e-3 * case.bytes() as f64 / copy.median,
            ratio: time.median / copy.median,
            time_us: time,
            copy_us: copy,
            streaming_us: streaming,
            sets,
            rotating_bytes: rotating,
            workspace_bytes,
            schedule: case.schedule.name(),
            schedules,
            launch: direction.and_then(|direction| Launch::of(recipe, direction)),
            recipe: recipe.to_string(),
            verified: verified.clone(),
            label: case.to_string(),
            cached: rotating < super::ROTATING,
        }
    }
}

impl Measurement {
    /// Median time in microseconds.
    pub fn time(&self) -> f64 {
        self.time_us.median
    }

    /// Times in microseconds.
    pub fn times(&self) -> &Spread {
        &self.time_us
    }

    /// Times of the copy in microseconds.
    pub fn copies(&self) -> &Spread {
        &self.copy_us
    }

    /// Schedules taken.
    pub fn schedules(&self) -> &[String] {
        &self.schedules
    }

    /// Median time of the copy in microseconds.
    pub fn copy(&self) -> f64 {
        self.copy_us.median
    }
}

impl Report {
    pub fn new(device: DeviceInfo) -> Report {
        Report {
            format: "lifting-bench",
            version: VERSION,
            liftc: env!("CARGO_PKG_VERSION"),
            command: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            machine: Machine {
                os: std::env::consts::OS,
                architecture: std::env::consts::ARCH,
                processor: processor(),
                threads: std::thread::available_parallelism().map_or(1, usize::from),
            },
            device,
            results: Vec::new(),
        }
    }

    /// One-line description of the device.
    pub fn device_text(&self) -> String {
        match &self.device {
            DeviceInfo::Cpu { threads } => {
                let processor = self.machine.processor.as_deref().unwrap_or("unknown processor");
                format!("cpu, {threads} thread{} of {processor}", if *threads == 1 { "" } else { "s" })
            }
            DeviceInfo::Cuda { name, architecture, driver, .. } => {
                format!("{name}, {architecture}, driver for {driver}")
            }
            DeviceInfo::OpenCl { name, compute_units } => format!("OpenCL on {name}, {compute_units} compute units"),
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data becomes JSON") + "\n"
    }

    /// A table of medians, with half the interquartile range.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n", self.device_text());
        if self.results.is_empty() {
            return text;
        }
        let width = self.results.iter().map(|m| m.label.chars().count()).max().unwrap_or(0);
        let streams = self.results.iter().any(|m| m.streaming_us.is_some());
        let column = |time: &str| if streams { format!("{time:>11}") } else { String::new() };
        text += &format!(
            "{:<width$}  {:<9}{:>11}{:>8}{:>11}{:>9}{}{:>8}\n",
            "transform",
            "direction",
            "time",
            "±",
            "copy",
            "GB/s",
            column("streaming"),
            "ratio"
        );
        let mut cached = false;
        for m in &self.results {
            cached |= m.cached;
            text += &format!(
                "{:<width$}  {:<9}{:>11}{:>7.1}%{:>11}{:>9.0}{}{:>8.2}{}\n",
                m.label,
                m.direction,
                micros(m.time_us.median),
                m.time_us.percent(),
                micros(m.copy_us.median),
                m.copy_gb_per_s,
                column(&m.streaming_us.as_ref().map_or(String::new(), |s| micros(s.median))),
                m.ratio,
                if m.cached { " *" } else { "" }
            );
        }
        if cached {
            text += "* all arrays together are smaller than 480 MiB, so some of the data stays in a cache\n";
        }
        text + &self.verified()
    }

    /// A line that summarises the verification.
    fn verified(&self) -> String {
        let equals = self.results[0].verified.forward_equals;
        let smaller = self.results.iter().filter(|m| m.verified.forward_shape != m.shape).count();
        let on_smaller = match smaller {
            0 => String::new(),
            n => format!(", on a smaller shape for {n} of these {} lines", self.results.len()),
        };
        let exact = self
            .results
            .iter()
            .any(|m| SampleType::ALL.iter().any(|t| t.name() == m.sample && t.domain() == Domain::Integer));
        let worst = self.results.iter().map(|m| m.verified.inverse_error).fold(0.0, f64::max);
        let inverse = match (exact, worst > 0.0) {
            (true, false) => "bit for bit".to_owned(),
            (false, _) => format!("to {worst:.0e} of the largest sample"),
            (true, true) => format!("bit for bit for integers, to {worst:.0e} of the largest sample for reals"),
        };
        let bits = if equals == WITHIN_ROUNDING { "" } else { " bit for bit" };
        format!("verified: forward equals {equals}{bits}{on_smaller}; inverse(forward(x)) = x {inverse}\n")
    }
}

/// A time, given in microseconds, with a suitable unit.
pub fn micros(t: f64) -> String {
    match t {
        t if t < 1e3 => format!("{t:.2} µs"),
        t if t < 1e6 => format!("{:.3} ms", t / 1e3),
        t => format!("{:.3} s", t / 1e6),
    }
}

/// The processor's name, if the system reports it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
