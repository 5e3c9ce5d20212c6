//! What predictions know of a device: facts, and constants that were fitted to what was measured on it.
//!
//! A device is a file of this folder and a line of [`FILES`]. What its constants mean, [`Constants`] says; `cargo xtask
//! fit` makes the file of another device from measurements.

mod constants;
mod file;

pub use constants::{
    Cascade, CascadeSteps, ClusterSteps, Constants, Launch, OverlapSteps, Pass, Pyramid, Stream, StreamSteps, Tile,
    Volume, Warp, WarpSteps,
};
use file::Value;
use std::sync::{Arc, LazyLock};

/// The files of devices; the first is what others are taken for.
pub const FILES: &[(&str, &str)] = &[("h200.toml", include_str!("h200.toml"))];

static DEVICES: LazyLock<Vec<Machine>> = LazyLock::new(|| {
    let read = |(name, text): &(&str, &str)| Machine::read(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    FILES.iter().map(read).collect()
});

/// What the driver of a device says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many multiprocessors it has; at least 1 is taken.
    pub multiprocessors: u32,
    /// Lanes of a warp.
    pub warp: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// Bytes of shared memory that a block can have.
    pub shared: u32,
    /// Bytes of the second-level cache.
    pub l2: u64,
    /// Bytes that the memory could move in a microsecond, if every cycle of its bus did; `None` where the driver does
    /// not say it.
    pub peak_bandwidth: Option<f64>,
}

/// A device, as far as predictions know it.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// How many there are; at least 1.
    pub multiprocessors: u32,
    /// Lanes of a warp: kernels are derived for as many.
    pub warp: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
    /// Warps of a multiprocessor that issue in one cycle.
    pub schedulers: u32,
    /// Bytes of shared memory that a block can have.
    pub shared: u32,
    /// Bytes of the second-level cache.
    pub l2: u64,
    /// Bytes that the memory moves in a microsecond, for each multiprocessor.
    pub bandwidth: f64,
    /// The part of what the memory could move that this is.
    bandwidth_share: f64,
    /// Instructions of single threads that a multiprocessor issues in a microsecond.
    pub issue: f64,
    name: Arc<str>,
    constants: Arc<Constants>,
}

impl Default for Machine {
    /// What the interpreter stands for: the first device that there is a file of.
    fn default() -> Machine {
        DEVICES[0].clone()
    }
}

impl Machine {
    /// The device of that name if there is a file of it. Another one is taken for the first that there is, with what
    /// its own driver says; of what its memory could move, it is taken to move as large a part, and instructions to be
    /// as fast for each multiprocessor. Where the driver does not say how fast the memory is, that is as well.
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

    /// The same with another number of multiprocessors, at least 1.
    pub fn with_multiprocessors(self, multiprocessors: u32) -> Machine {
        Machine { multiprocessors: multiprocessors.max(1), ..self }
    }

    /// Reads a device's file.
    ///
    /// # Errors
    /// If a line is missing, unknown, there twice, or no such value.
    pub fn read(text: &str) -> Result<Machine, String> {
        let mut sections = file::sections(text)?;
        let known = |name: &&String| name.as_str() != "device" && !Constants::SECTIONS.contains(&name.as_str());
        if let Some(name) = sections.keys().find(known) {
            return Err(format!("there is no section [{name}]"));
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

    /// The device's name, as its driver has it; of one that there is no file of, the name of the one it is taken for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What was fitted.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Whether so many bytes on their way to the next launch are worth keeping in the second-level cache.
    pub fn keeps(&self, bytes: usize) -> bool {
        let [least, most] = self.kept();
        (least..=most).contains(&(bytes as u64))
    }

    /// The least and the most bytes on their way to the next launch that are worth keeping in the second-level cache.
    pub fn kept(&self) -> [u64; 2] {
        let launch = &self.constants.launch;
        [launch.kept_least, (launch.kept_share * self.l2 as f64) as u64]
    }

    /// Microseconds that the memory takes to move so many bytes.
    pub fn memory(&self, bytes: f64) -> f64 {
        bytes / (self.bandwidth * f64::from(self.multiprocessors))
    }

    /// Microseconds that all multiprocessors take to issue so many instructions of single threads.
    pub fn issue(&self, instructions: f64) -> f64 {
        instructions / (self.issue * f64::from(self.multiprocessors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_goes_first() {
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
            assert_eq!(&same, device, "what its file says goes first");
        }
        let other = Machine::of(&facts("another", 0, None));
        assert_eq!((other.multiprocessors, other.l2), (1, 2 << 20));
        assert_eq!(other.bandwidth, Machine::default().bandwidth, "as fast for each multiprocessor");
        let told = Machine::of(&facts("another", 64, Some(2e6)));
        assert_eq!(told.bandwidth * 64.0, 2e6 * 4240000.0 / 4916736.0, "as large a part of what could be");
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
            ("multiprocessors = 132", "multiprocessors = many", "many is no whole number that fits"),
            ("[launch]", "[launched]", "there is no section [launched]"),
            ("[launch]", "[stream]", "section [stream] is there twice"),
            ("ramp = 3.0", "ramp = 3.0\nramp = 3.0", "`ramp` is there twice"),
            ("ramp = 3.0", "slope = 3.0\nramp = 3.0", "section [pass] has a line `slope`, which nothing reads"),
            ("ramp = 3.0", "ramp = nan", "nan is no number"),
            ("[0.68, 1.0]", "[0.68]", "[0.68] is no list of 2 numbers"),
            ("ramp = 3.0", "ramp", "`ramp` is neither [section] nor name = value"),
            ("[device]", "ramp = 1.0\n[device]", "values stand in sections"),
            ("\"NVIDIA H200\"", "NVIDIA H200", "NVIDIA H200 is no text in quotes"),
        ];
        for (old, new, message) in cases {
            let error = Machine::read(&text.replacen(old, new, 1)).unwrap_err();
            assert!(error.contains(message), "{old} → {new}: {error}");
        }
    }
}
