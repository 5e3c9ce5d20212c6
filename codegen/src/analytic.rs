//! Predicted time of a launch from counts and device facts: the model of van der Laan, Jalba and Roerdink.
//!
//! The time is the sum of instruction, memory and barrier time: only memory latency is hidden behind instructions.
//! Plans do not use this model (they use `schedule::demand`); it is for comparison with measurements.
//!
//! Source: "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS 22(1), 2011, section IV-B, which
//! gives the equation numbers; its examples, section V-C, are the tests.

use crate::ir::interp::Counts;

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

    /// NVIDIA's H200: a warp's accesses form one transaction, and 4 warps are issued per cycle.
    pub const H200: Device = Device {
        name: "H200",
        clock: 1.98e9,
        multiprocessors: 132.0,
        warp: 32.0,
        lanes: 128.0,
        coalesced: 32.0,
        latency: 600.0,
        resident: 2048.0,
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
    /// The parameters of a counted launch, in blocks of `threads` threads.
    pub fn counted(counts: &Counts, threads: f64, device: &Device) -> Launch {
        let all = counts.threads.max(1) as f64;
        let requests = |traffic: u64| traffic as f64 * device.warp;
        let transfers = requests(counts.global_loads.requests + counts.global_stores.requests);
        let shared = requests(counts.shared_loads.requests + counts.shared_stores.requests);
        let arithmetic = counts.operations.total() as f64;
        let bytes = (counts.global_loads.bytes + counts.global_stores.bytes) as f64;
        let shuffles = counts.shuffles as f64 * device.warp;
        Launch {
            instructions: (arithmetic + transfers + shared + shuffles) / all,
            threads,
            blocks: counts.blocks as f64,
            resident: (device.resident / threads).floor().max(1.0),
            bytes,
            transfer: bytes / transfers.max(1.0),
            ratio: (arithmetic + shared + shuffles) / (arithmetic + shared + shuffles + transfers).max(1.0),
            barriers: counts.barriers as f64 / counts.blocks.max(1) as f64,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Section V-C.1: the horizontal step of the DD(13,7) on 1920 × 1080 samples of two bytes.
    fn horizontal() -> Launch {
        Launch {
            // 309 instructions; 15 of these take half the time.
            instructions: 309.0 - 7.5,
            threads: 256.0,
            blocks: 1080.0,
            resident: 3.0,
            bytes: 1920.0 * 1080.0 * 2.0,
            transfer: 4.0,
            ratio: 182.0 / (182.0 + 82.0),
            barriers: 5.0,
        }
    }

    #[test]
    fn the_papers_example() {
        let (launch, device) = (horizontal(), Device::G80);
        assert_eq!(launch.hidden(&device), 301.0);
        let found = launch.predict(&device);
        let near = |found: f64, milliseconds: f64| (found * 1e3 - milliseconds).abs() < 0.05 * milliseconds;
        assert!(near(found.instructions, 0.48), "{found:?}");
        assert!(near(found.memory, 0.15), "{found:?}");
        // 1.65 µs per barrier.
        assert!(near(found.barriers, 5.0 * 1.65e-3), "{found:?}");
        assert!(near(found.total(), 0.63), "{found:?}");
    }

    /// Section V-C.3: 22 operations per sample, and 5000 to 1250 cycles.
    #[test]
    fn the_papers_efficiency() {
        let efficiency = horizontal().efficiency(22.0, 1920.0 * 1080.0, &Device::G80);
        assert!((4.0..4.6).contains(&efficiency), "{efficiency}");
    }
}
