//! Predicted time of a launch on a G80 from counts and device facts: the model of van der Laan, Jalba and Roerdink.
//!
//! The time is the sum of instruction, memory and barrier time: only memory latency is hidden behind instructions.
//! Plans do not use this model (they use `schedule::demand`): newer devices issue and cache in other ways.
//!
//! Source: "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS 22(1), 2011, section IV-B, which
//! gives the equation numbers; its examples, section V-C, are the tests.

/// Device parameters of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// Its name.
    pub name: &'static str,
    /// K: cycles per second.
    pub clock: f64,
    /// M: multiprocessors.
    pub multiprocessors: f64,
    /// W: threads per warp.
    pub warp: f64,
    /// Thread instructions that a multiprocessor executes per cycle: 8 on a G80.
    pub lanes: f64,
    /// Threads whose accesses form one memory transaction: half a warp on a G80.
    pub coalesced: f64,
    /// Latency of a load, in cycles.
    pub latency: f64,
    /// The most resident threads of a multiprocessor.
    pub resident: f64,
}

impl Device {
    /// NVIDIA's GeForce 8800 GTX, the paper's device.
    pub const G80: Device = Device {
        name: "GeForce 8800 GTX",
        clock: 1.35e9,
        multiprocessors: 16.0,
        warp: 32.0,
        lanes: 8.0,
        coalesced: 16.0,
        latency: 350.0,
        resident: 768.0,
    };

    /// Cycles that a warp takes for an instruction: 4 on a G80.
    fn cycles(&self) -> f64 {
        self.warp / self.lanes
    }
}

/// Parameters of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch {
    /// n: instructions per thread.
    pub instructions: f64,
    /// T: threads per block.
    pub threads: f64,
    /// B: blocks.
    pub blocks: f64,
    /// k: resident blocks per multiprocessor.
    pub resident: f64,
    /// Bytes moved to and from memory.
    pub bytes: f64,
    /// m: bytes per thread and transfer.
    pub transfer: f64,
    /// r: share of instructions among instructions and transfers.
    pub ratio: f64,
    /// Barriers per block.
    pub barriers: f64,
}

/// Predicted time in seconds, by cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// T_e, equation 3.
    pub instructions: f64,
    /// T_m, equation 4, with the latency that equation 5 leaves.
    pub memory: f64,
    /// T_s of all barriers, equation 6, as a lower bound.
    pub barriers: f64,
}

impl Prediction {
    /// T_t, in seconds.
    pub fn total(&self) -> f64 {
        self.instructions + self.memory + self.barriers
    }
}

impl Launch {
    /// α·k: blocks that a multiprocessor runs, in full rounds.
    fn rounds(&self, device: &Device) -> f64 {
        (self.blocks / (device.multiprocessors * self.resident)).ceil() * self.resident
    }

    /// Equation 5: cycles of latency hidden by other warps.
    pub fn hidden(&self, device: &Device) -> f64 {
        let mut active = (self.resident * self.threads / device.lanes).min(1e6);
        let mut hidden = 0.0;
        while active >= 1.0 {
            hidden += active.floor();
            active *= self.ratio.clamp(0.0, 0.999);
        }
        hidden
    }

    /// The predicted time, equations 3 to 6.
    pub fn predict(&self, device: &Device) -> Prediction {
        let warps = self.threads / device.warp;
        let each = device.cycles() / device.clock * warps * self.rounds(device);
        let latency = (device.latency - self.hidden(device)).max(0.0);
        let transactions = self.bytes / (device.coalesced * self.transfer * device.multiprocessors);
        Prediction {
            instructions: self.instructions * each,
            memory: transactions * latency / device.clock,
            barriers: self.barriers * each,
        }
    }

    /// Equation 9: cycles of one processor for a warp's work, at `sequential` instructions per sample, over the warp's
    /// cycles. A launch is cost efficient if this does not fall as the number of samples grows.
    pub fn efficiency(&self, sequential: f64, samples: f64, device: &Device) -> f64 {
        let each = samples / (self.threads * self.blocks);
        sequential * device.warp * each / (device.cycles() * self.instructions)
    }
}

/// Section V-C.1: the horizontal step of the DD(13,7) on 1920 × 1080 samples of two bytes.
pub const HORIZONTAL: Launch = Launch {
    // 309 instructions; 15 of these take half the time.
    instructions: 309.0 - 7.5,
    threads: 256.0,
    blocks: 1080.0,
    resident: 3.0,
    bytes: 1920.0 * 1080.0 * 2.0,
    transfer: 4.0,
    ratio: 182.0 / (182.0 + 82.0),
    barriers: 5.0,
};

/// Section V-C.2: its vertical step. 39240 cycles per warp are instructions of 4 cycles.
pub const VERTICAL: Launch = Launch {
    instructions: 39240.0 / 4.0,
    threads: 128.0,
    blocks: 60.0,
    resident: 4.0,
    bytes: 1920.0 * 1080.0 * 2.0,
    transfer: 4.0,
    ratio: 0.83,
    barriers: 344.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Both worked examples, within the paper's rounding.
    #[test]
    fn the_papers_examples() {
        let device = Device::G80;
        let near = |found: f64, printed: f64| assert!((found - printed).abs() < 0.06 * printed, "{found} {printed}");
        let found = HORIZONTAL.predict(&device);
        assert_eq!(HORIZONTAL.hidden(&device), 301.0);
        near(found.instructions * 1e3, 0.48);
        near(found.memory * 1e3, 0.15);
        near(found.barriers / HORIZONTAL.barriers * 1e6, 1.65);
        near(found.total() * 1e3, 0.63);
        let found = VERTICAL.predict(&device);
        assert!(VERTICAL.hidden(&device) >= 352.0);
        near(found.instructions * 1e3, 0.46);
        assert_eq!(found.memory, 0.0);
        near(found.barriers * 1e6, 15.6);
    }

    /// Section V-C.3: 22 operations per sample; about 5000 to 1250, and 190000 to 39240 cycles.
    #[test]
    fn the_papers_efficiency() {
        let of = |launch: Launch| launch.efficiency(22.0, 1920.0 * 1080.0, &Device::G80);
        assert!((4.0..4.6).contains(&of(HORIZONTAL)), "{}", of(HORIZONTAL));
        assert!((of(VERTICAL) - 190000.0 / 39240.0).abs() < 0.01, "{}", of(VERTICAL));
    }
}
