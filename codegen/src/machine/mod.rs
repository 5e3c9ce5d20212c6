//! Device model of predictions: facts, and constants fitted to measurements.
//!
//! A device is a file in this folder and a line of [`FILES`]. [`Constants`] documents its constants. `cargo xtask fit`
//! makes the file of another device from measurements.

mod constants;
mod file;

pub use constants::{
    Cascade, CascadeSteps, ClusterSteps, Constants, Launch, OverlapSteps, Pass, Pyramid, Stream, StreamSteps, Tile,
    Volume, Warp, WarpSteps,
};
use file::Value;
use std::sync::{Arc, LazyLock};

/// Device files. Unknown devices use the first one.
pub const FILES: &[(&str, &str)] = &[("h200.toml", include_str!("h200.toml"))];

static DEVICES: LazyLock<Vec<Machine>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| Machine::read(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    FILES.iter().map(read).collect()
});

/// Facts that a device's driver reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts<'a> {
    /// Its name.
    pub name: &'a str,
    /// Number of multiprocessors; 0 counts as 1.
    pub multiprocessors: u32,
    /// Lanes of a warp.
    pub warp: u32,
    /// 32-bit registers per multiprocessor.
    pub registers: u32,
    /// The most shared memory of a block, in bytes.
    pub shared: u32,
    /// Size of the L2 cache, in bytes.
    pub l2: u64,
    /// Peak memory bandwidth, in bytes per microsecond; `None` if the driver does not report it.
    pub peak_bandwidth: Option<f64>,
}

/// A device, for predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Number of multiprocessors; at least 1.
    pub multiprocessors: u32,
    /// Lanes of a warp; kernels are derived for it.
    pub warp: u32,
    /// 32-bit registers per multiprocessor.
    pub registers: u32,
    /// Schedulers per multiprocessor: warps that issue in one cycle.
    pub schedulers: u32,
    /// The most shared memory of a block, in bytes.
    pub shared: u32,
    /// Size of the L2 cache, in bytes.
    pub l2: u64,
    /// Memory bandwidth per multiprocessor, in bytes per microsecond.
    pub bandwidth: f64,
    /// Achieved share of the peak bandwidth.
    bandwidth_share: f64,
    /// Thread instructions that a multiprocessor issues per microsecond.
    pub issue: f64,
    name: Arc<str>,
    constants: Arc<Constants>,
}

impl Default for Machine {
    /// The device of [`FILES`]' first file, which the interpreter models.
    fn default() -> Machine {
        DEVICES[0].clone()
    }
}

impl Machine {
    /// The device with this name and number of multiprocessors, if it has a file. Otherwise the first file's device
    /// with the facts that the driver reports. Its share of peak bandwidth and its issue rate per multiprocessor are
    /// those of the file, and so is the bandwidth per multiprocessor if the driver does not report a peak.
    pub fn of(facts: &Facts) -> Machine {
        let Facts { name, multiprocessors, warp, registers, shared, l2, peak_bandwidth } = *facts;
        if let Some(device) = DEVICES.iter().find(|d| &*d.name == name && d.multiprocessors == multiprocessors) {
            return device.clone();
        }
        let usual = Machine::default().with_multiprocessors(multiprocessors);
        let moves = |peak: f64| peak * usual.bandwidth_share / f64::from(usual.multiprocessors);
        let bandwidth = peak_bandwidth.map_or(usual.bandwidth, moves);
        Machine { warp, registers, shared, l2, bandwidth, ..usual }
    }

    /// The device with another number of multiprocessors, at least 1.
    pub fn with_multiprocessors(self, multiprocessors: u32) -> Machine {
        Machine { multiprocessors: multiprocessors.max(1), ..self }
    }

    /// Reads a device's file.
    ///
    /// # Errors
    /// If a line is missing, unknown, repeated, or has an invalid value.
    pub fn read(text: &str) -> Result<Machine, String> {
        let mut sections = file::sections(text)?;
        let known = |name: &&String| name.as_str() != "device" && !Constants::SECTIONS.contains(&name.as_str());
        if let Some(name) = sections.keys().find(known) {
            return Err(format!("unknown section [{name}]"));
        }
        let mut section = |name: &str| sections.remove(name).ok_or_else(|| format!("section [{name}] is missing"));
        let mut device = section("device")?;
        let multiprocessors = u32::of(device.take("multiprocessors")?)?;
        let bandwidth = f64::of(device.take("bandwidth")?)?;
        let peak_bandwidth = f64::of(device.take("peak_bandwidth")?)?;
        let machine = Machine {
            name: String::of(device.take("name")?)?.into(),
            multiprocessors,
            warp: u32::of(device.take("warp")?)?,
            registers: u32::of(device.take("registers")?)?,
            schedulers: u32::of(device.take("schedulers")?)?,
            shared: u32::of(device.take("shared")?)?,
            l2: u64::of(device.take("l2")?)?,
            bandwidth: bandwidth / f64::from(multiprocessors),
            bandwidth_share: bandwidth / peak_bandwidth,
            issue: f64::of(device.take("issue")?)?,
            constants: Arc::new(Constants::read(&mut section)?),
        };
        device.finish()?;
        let counts = [machine.multiprocessors, machine.warp, machine.schedulers];
        let is_possible = bandwidth > 0.0 && bandwidth <= peak_bandwidth && machine.issue > 0.0;
        if counts.contains(&0) || !is_possible {
            let positive = "multiprocessors, warp, schedulers, bandwidth and issue must be more than 0";
            return Err(format!("{positive}, and bandwidth at most its peak"));
        }
        Ok(machine)
    }

    /// The device's name, as its driver reports it. An unknown device has the name of the device whose file it uses.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fitted constants.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Whether results of this many bytes are worth keeping in the L2 cache for the next launch.
    pub fn keeps(&self, bytes: usize) -> bool {
        let [least, most] = self.kept();
        (least..=most).contains(&(bytes as u64))
    }

    /// The least and the most bytes that are worth keeping in the L2 cache for the next launch.
    pub fn kept(&self) -> [u64; 2] {
        let launch = &self.constants.launch;
        [launch.kept_least, (launch.kept_share * self.l2 as f64) as u64]
    }

    /// Microseconds in which the memory moves `bytes`.
    pub fn memory(&self, bytes: f64) -> f64 {
        bytes / (self.bandwidth * f64::from(self.multiprocessors))
    }

    /// Microseconds in which all multiprocessors issue this many thread instructions.
    pub fn issue(&self, instructions: f64) -> f64 {
        instructions / (self.issue * f64::from(self.multiprocessors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_take_precedence() {
        let (warp, registers, shared, l2) = (32, 1 << 16, 100 << 10, 2 << 20);
        let facts = |name, multiprocessors, peak_bandwidth| Facts {
            name,
            multiprocessors,
            warp,
            registers,
            shared,
            l2,
            peak_bandwidth,
        };
        for device in DEVICES.iter() {
            let same = Machine::of(&facts(device.name(), device.multiprocessors, Some(1.0)));
            assert_eq!(&same, device, "the file takes precedence");
        }
        let other = Machine::of(&facts("another", 0, None));
        assert_eq!((other.multiprocessors, other.l2), (1, 2 << 20));
        assert_eq!(other.bandwidth, Machine::default().bandwidth, "the same bandwidth per multiprocessor");
        let told = Machine::of(&facts("another", 64, Some(2e6)));
        assert_eq!(told.bandwidth * 64.0, 2e6 * 4240000.0 / 4916736.0, "the same share of the peak");
        assert_eq!([(1 << 20) - 1, 1 << 20, 2 << 20].map(|bytes| other.keeps(bytes)), [false, true, false]);
        assert_eq!(other.constants(), Machine::default().constants());
    }

    #[test]
    fn broken_files_are_refused() {
        let (_, text) = FILES[0];
        let cases = [
            ("multiprocessors = 132", "", "section [device] has no line `multiprocessors = …`"),
            ("multiprocessors = 132", "multiprocessors = 0", "must be more than 0"),
            ("bandwidth = 4240000", "bandwidth = 5240000", "bandwidth at most its peak"),
            ("multiprocessors = 132", "multiprocessors = many", "many is not a whole number in range"),
            ("[launch]", "[launched]", "unknown section [launched]"),
            ("[launch]", "[stream]", "section [stream] is there twice"),
            ("ramp = 3.0", "ramp = 3.0\nramp = 3.0", "`ramp` is there twice"),
            ("ramp = 3.0", "slope = 3.0\nramp = 3.0", "section [pass] has a line `slope`, which nothing reads"),
            ("ramp = 3.0", "ramp = nan", "nan is not a finite number"),
            ("[0.68, 1.0]", "[0.68]", "[0.68] is not a list of 2 numbers"),
            ("ramp = 3.0", "ramp", "`ramp` is neither [section] nor name = value"),
            ("[device]", "ramp = 1.0\n[device]", "value outside a section"),
            ("\"NVIDIA H200\"", "NVIDIA H200", "NVIDIA H200 is not a text in quotes"),
        ];
        for (old, new, message) in cases {
            let error = Machine::read(&text.replacen(old, new, 1)).unwrap_err();
            assert!(error.contains(message), "{old} → {new}: {error}");
        }
    }
}
