//! What comes out: a table, and JSON that says all that is needed to measure again.

use super::Way;
use super::case::Case;
use super::stats::Spread;
use lifting::{Direction, Domain, Recipe, SampleType};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the JSON's layout.
const VERSION: u32 = 1;

/// Everything that was measured in one run.
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
    /// Threads that it runs at once.
    threads: usize,
}

/// What executes.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DeviceInfo {
    /// This machine's processor, with so many threads.
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
        /// The driver's own version, where the system says it.
        driver_release: Option<String>,
    },
    /// An OpenCL device.
    OpenCl { name: String, compute_units: u32 },
}

/// What was compared before anything was timed.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    /// What the forward transform was held against, bit for bit, unless it says otherwise.
    pub forward_equals: &'static str,
    /// The shape on which that was done: the transform's own, or a smaller one.
    pub forward_shape: Vec<usize>,
    /// How far inverse(forward(x)) is from x, relative to the largest sample; integers came back bit for bit.
    pub inverse_error: f64,
}

/// Of schedules that have not the bits of lifting.
pub const WITHIN_ROUNDING: &str = "the CPU plan within rounding";

/// Times of a transform and of its unit.
pub struct Timed {
    pub time: Spread,
    pub copy: Spread,
    /// Of a copy past the caches, on a CPU that has one.
    pub streaming: Option<Spread>,
    /// How many sets of arrays went round.
    pub sets: usize,
    /// Bytes of all sources and targets of one direction.
    pub rotating: usize,
}

/// A launch of a schedule.
#[derive(Debug, PartialEq, Serialize)]
pub struct Launch {
    schedule: &'static str,
    /// The numbers of its shape.
    shape: BTreeMap<&'static str, u32>,
}

impl Launch {
    /// The only one of a direction.
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
    /// How many images the first axis holds, where it is a batch.
    batch: Option<usize>,
    levels: u32,
    boundary: &'static str,
    pub direction: &'static str,
    /// Rows begin at multiples of so many bytes; contiguous if null.
    pitch_bytes: Option<usize>,
    samples: usize,
    time_us: Spread,
    /// A copy of the same samples, read once and written once, in the same run.
    copy_us: Spread,
    /// What the copy reads and writes, in bytes a nanosecond.
    copy_gb_per_s: f64,
    /// On a CPU, the same copy with stores past the caches; null where the processor has none.
    streaming_us: Option<Spread>,
    /// The transform's median in units of the copy's.
    pub ratio: f64,
    /// Sets of arrays that were used in turn, and the bytes of their sources and targets.
    sets: usize,
    rotating_bytes: usize,
    workspace_bytes: usize,
    /// What the planner was told: auto, or the schedule to take.
    schedule: &'static str,
    /// On a GPU the schedule of every level, finest first, and its blocks; on the CPU the schedules of the passes, each
    /// once; of adjoints none.
    schedules: Vec<String>,
    /// The only launch, where the transform is one of a schedule for several axes: what `cargo xtask fit` reads.
    launch: Option<Launch>,
    recipe: String,
    verified: Verified,
    #[serde(skip)]
    pub label: String,
    #[serde(skip)]
    cached: bool,
}

impl Measurement {
    /// Those of a case's ways on a device, from the copy's times and theirs, in order, over so many sets of arrays, of
    /// which sources and targets of one direction are `pair` bytes.
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
        let measurement = |(&way, time): (&Way, Spread)| {
            let timed = Timed { time, copy: copy.clone(), streaming: None, sets, rotating: sets * pair };
            Measurement::new(case, way, timed, recipe, workspace_bytes, verified)
        };
        case.ways.iter().zip(times).map(measurement).collect()
    }

    pub fn new(
        case: &Case,
        way: Way,
        timed: Timed,
        recipe: &Recipe,
        workspace_bytes: usize,
        verified: &Verified,
    ) -> Measurement {
        // A recipe says nothing of adjoints.
        let direction = match way {
            Way::Forward => Some(Direction::Forward),
            Way::Inverse => Some(Direction::Inverse),
            Way::Adjoint | Way::InverseAdjoint => None,
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

    /// Its times, in microseconds.
    pub fn times(&self) -> &Spread {
        &self.time_us
    }

    /// Those of the copy.
    pub fn copies(&self) -> &Spread {
        &self.copy_us
    }

    /// The schedules that it took.
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

    /// The device in a line.
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

    /// Medians, with half the distance of the quartiles beside them.
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
            text += "* the arrays are less than 480 MiB together: some of it was found in a cache\n";
        }
        text + &self.verified()
    }

    /// What was verified, in all.
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

/// A time with a unit that suits it.
pub fn micros(t: f64) -> String {
    match t {
        t if t < 1e3 => format!("{t:.2} µs"),
        t if t < 1e6 => format!("{:.3} ms", t / 1e3),
        t => format!("{:.3} s", t / 1e6),
    }
}

/// The processor's name, where the system says it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
