//! How long a launch takes, from counts and a few facts of a device: the model of van der Laan, Jalba and Roerdink.
//!
//! The time is that of instructions, of memory, and of barriers, added up: as if nothing but the latency of memory were
//! hidden behind instructions. It is no part of what plans choose by (`schedule::demand` is), but stands beside what is
//! measured.
//!
//! Source: "Accelerating Wavelet Lifting on Graphics Hardware Using CUDA", IEEE TPDS 22(1), 2011, section IV-B, from
//! which numbers of equations are taken; its examples, section V-C, are the tests.

use crate::ir::interp::Counts;

/// What the model knows of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// Its name.
    pub name: &'static str,
    /// K: cycles a second.
    pub clock: f64,
    /// M: multiprocessors.
    pub multiprocessors: f64,
    /// W: threads of a warp.
    pub warp: f64,
    /// Instructions of threads that a multiprocessor carries out in a cycle: 8 of a G80.
    pub lanes: f64,
    /// Threads whose memory transactions are one: half a warp of a G80.
    pub coalesced: f64,
    /// Cycles until a load from memory is there.
    pub latency: f64,
    /// Threads that a multiprocessor has at once, at most.
    pub resident: f64,
}

impl Device {
    /// NVIDIA's GeForce 8800 GTX, the paper's.
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

    /// NVIDIA's H200: a warp loads at once, 4 of them are issued in a cycle.
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

    /// Cycles that a warp takes for an instruction: 4 of a G80.
    fn cycles(&self) -> f64 {
        self.warp / self.lanes
    }
}

/// A launch, as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Launch {
    /// n: instructions of a thread.
    pub instructions: f64,
    /// T: threads of a block.
    pub threads: f64,
    /// B: blocks.
    pub blocks: f64,
    /// k: blocks that a multiprocessor has at once.
    pub resident: f64,
    /// Bytes that go to and from memory.
    pub bytes: f64,
    /// m: bytes of a thread's transfer.
    pub transfer: f64,
    /// r: of instructions and transfers, how many are instructions.
    pub ratio: f64,
    /// Barriers of a block.
    pub barriers: f64,
}

/// Seconds, and what they are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// T_e, equation 3.
    pub instructions: f64,
    /// T_m, equation 4, with the latency that equation 5 leaves.
    pub memory: f64,
    /// All barriers' T_s, equation 6, at its least.
    pub barriers: f64,
}

impl Prediction {
    /// T_t.
    pub fn total(&self) -> f64 {
        self.instructions + self.memory + self.barriers
    }
}

impl Launch {
    /// A launch that was counted, in blocks of so many threads.
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

    /// α·k: blocks that a multiprocessor has, one after the other, as many at once as it can.
    fn rounds(&self, device: &Device) -> f64 {
        (self.blocks / (device.multiprocessors * self.resident)).ceil() * self.resident
    }

    /// Equation 5: cycles of latency that instructions of other warps hide.
    pub fn hidden(&self, device: &Device) -> f64 {
        let mut active = (self.resident * self.threads / device.lanes).min(1e6);
        let mut hidden = 0.0;
        while active >= 1.0 {
            hidden += active.floor();
            active *= self.ratio.clamp(0.0, 0.999);
        }
        hidden
    }

    /// The time, equations 3 to 6.
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

    /// Equation 9: the cycles that one processor would take for what a warp has, of so many instructions a sample, for
    /// each cycle that the warp takes. A launch whose number does not fall as samples become more is cost efficient.
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
            // 309, of which 15 take half the time.
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
        // 1.65 µs each.
        assert!(near(found.barriers, 5.0 * 1.65e-3), "{found:?}");
        assert!(near(found.total(), 0.63), "{found:?}");
    }

    /// Section V-C.3: 22 operations a sample, so 5000 to 1250 cycles.
    #[test]
    fn the_papers_efficiency() {
        let efficiency = horizontal().efficiency(22.0, 1920.0 * 1080.0, &Device::G80);
        assert!((4.0..4.6).contains(&efficiency), "{efficiency}");
    }
}
