//! How long a level should take: a model of a few terms, so that plans choose before anything has run.
//!
//! The time of a launch is a constant, and the larger of two: what limits large images is throughput, memory and instructions
//! together (the root of the sum of their squares), and half a walk; what limits small ones is the walk of one warp or block from its first row to its last. The
//! constants are fitted to the figures in `docs/performance.md` (one H200), as the test below shows; those of `warp` and of the passes
//! through shared memory are estimates. What is measured on a device (`PlanBuilder::tune`) stands above all this.

use super::kernels::{PassWay, Walk};
use crate::schedule::Block;
use lifting_codegen::action::Action;
use lifting_codegen::ir::Scalar;
use lifting_codegen::schedule::stream::Job;
use lifting_codegen::schedule::{Along, Direction, Sides, lattice};
use lifting_codegen::window::Window;
use lifting_dsl::{Boundary, Scheme, Step};

/// What a plan runs on, as far as the model knows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    pub multiprocessors: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers: u32,
}

impl Default for Machine {
    /// An H100 or H200; what the interpreter stands for.
    fn default() -> Machine {
        Machine { multiprocessors: 132, registers: 65536 }
    }
}

/// Bytes a multiprocessor's share of the memory moves in a microsecond: 4.24 TB/s over 132.
const BANDWIDTH: f64 = 4.24e6 / 132.0;
/// Instructions of single threads that a multiprocessor issues in a microsecond: 4 warps a cycle.
const ISSUE: f64 = 4.0 * 32.0 * 1700.0;
/// Microseconds from one launch of a graph to the next.
const LAUNCH: f64 = 1.4;
/// Microseconds until the first row of a walk is there, and the last one gone.
const RAMP: f64 = 3.0;
/// Microseconds a row pair of a walk takes where nothing else limits it.
const PAIR: f64 = 0.45;
/// Microseconds a window of `vertical` takes to load, lift and store.
const WINDOW: f64 = 1.2;
/// By how much instructions of a pass through shared memory take longer than their issue slots: it waits at barriers, and was measured.
const STALL_PASS: f64 = 7.5;
/// By how much a pass in registers moves more than it should: its halo.
const ALONE: f64 = 1.08;
/// Instructions a sample of a strip of a row in registers besides lifting: a vector a lane has to pay for all addresses and tests.
const AROUND_STRIP: f64 = 42.0;
/// Registers of a thread of `stream` besides its delay line: nvcc finds 38 to 49.
const REGISTERS: i64 = 48;
/// Bytes that memory moves at least.
const SECTOR: f64 = 32.0;
/// What it costs to read a row or column of a halo, of what it costs to read it first: the second-level cache has it.
const AGAIN: f64 = 0.25;
/// Most registers of a thread; beyond, they spill, and all takes so many times as long.
const MOST_REGISTERS: i64 = 255;
const SPILL: f64 = 4.0;

/// The same of `warp` besides its block, and by how much its instructions take longer than their issue slots: all loads of a block are in flight
/// together. Estimates, as is the time of a block: those of the paper's authors' code are 1.3 to 1.4 copies at 8192².
const REGISTERS_WARP: i64 = 60;
const STALL_WARP: f64 = 0.8;
const TILE: f64 = 9.0;

/// By how much instructions take longer than their issue slots: the more registers, the fewer warps to hide latency.
fn stall(registers: i64) -> f64 {
    let few_warps = 1.0 + registers as f64 / 150.0;
    if registers > MOST_REGISTERS { few_warps * SPILL } else { few_warps }
}

/// By how much `stream` takes more instructions with lanes whose vectors are 8 bytes instead of 16.
const NARROW: f64 = 1.6;
/// How much of the instructions of `stream` takes no time, as nearly all rows are on their way.
const OVERLAPPED: f64 = 0.94;

/// By how much rows that are not aligned cost more instructions and sectors.
const UNALIGNED: [f64; 2] = [1.45, 1.05];

/// What is predicted of a level: launches, bytes, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cost {
    pub launches: usize,
    pub bytes: f64,
    pub time: f64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.launches += other.launches;
        self.bytes += other.bytes;
        self.time += other.time;
    }
}

/// Instructions of lifting for a pair of samples along one axis, and how often they read a sample of the other phase or write one.
fn work(actions: &[Action]) -> [f64; 2] {
    let mut counts = [0; 2];
    for action in actions {
        let unit = |w: f64| w.abs() == 1.0;
        let step = match action {
            Action::Step(step) => step,
            // Two products and a sum for each of the pair.
            Action::Stage(_) => {
                counts = [counts[0] + 6, counts[1] + 4];
                continue;
            }
        };
        let [operations, accesses] = match step {
            Step::Integer(s) => {
                let products = s.taps.iter().filter(|t| t.weight.abs() != 1).count();
                let rounds = usize::from(s.rounding != 0) + usize::from(s.shift != 0);
                // The sum's taps, the update, and the wrap to the sample type.
                [s.taps.len() + products + rounds + 2, s.taps.len() + 2]
            }
            Step::Real(s) => {
                let taps: usize = s.groups.iter().map(|g| g.offsets.len()).sum();
                let products = s.groups.iter().filter(|g| !unit(g.weight.to_f64())).count();
                [taps + products, taps + 2]
            }
            Step::Scale(_) => [1, 2],
        };
        counts[0] += operations;
        counts[1] += accesses;
    }
    counts.map(|n| n as f64)
}

/// A scheme on a machine.
pub(super) struct Model<'a> {
    pub machine: &'a Machine,
    pub scheme: &'a Scheme,
    pub boundary: Boundary,
    pub sample: Scalar,
}

impl Model<'_> {
    fn memory(&self, bytes: f64) -> f64 {
        bytes / (BANDWIDTH * f64::from(self.machine.multiprocessors))
    }

    fn issue(&self, instructions: f64) -> f64 {
        instructions / (ISSUE * f64::from(self.machine.multiprocessors))
    }

    fn actions(&self, direction: Direction) -> Vec<Action> {
        Action::all(self.scheme, direction, self.boundary)
    }

    /// Reading and writing so many samples once.
    pub fn copy(&self, samples: usize) -> Cost {
        let bytes = 2.0 * (samples * self.sample.bytes()) as f64;
        Cost { launches: 1, bytes, time: LAUNCH + self.memory(bytes) }
    }

    /// One axis of `length` samples in a level of `samples`, between arrays of two types.
    pub fn pass(&self, direction: Direction, samples: usize, length: usize, way: PassWay, sides: Sides) -> Cost {
        let steps = self.actions(direction);
        let [operations, accesses] = work(&steps);
        let bytes = (samples * (sides.signal.bytes() + sides.bands.bytes())) as f64;
        let window = || Window::derive(&steps, self.boundary);
        let (moved, issue, walk) = match way {
            PassWay { rows, registers: true } => {
                let around = if rows { AROUND_STRIP } else { 6.0 };
                let issue = self.issue(samples as f64 * (around + operations / 2.0));
                let pairs = (length / 2).min(10) + (window().kept() / 2) as usize;
                (bytes * ALONE, issue, RAMP + if rows { 0.0 } else { pairs as f64 * PAIR })
            }
            PassWay { rows, registers: false } => {
                let issue = self.issue(samples as f64 * (8.0 + (operations + accesses) / 2.0)) * STALL_PASS;
                let height = 16.max(window().kept() as usize);
                let windows = if rows { 0 } else { length.min(256).div_ceil(height) };
                (bytes, issue, RAMP + windows as f64 * WINDOW)
            }
        };
        Cost { launches: 1, bytes, time: LAUNCH + self.memory(moved).hypot(issue).max(walk) }
    }

    /// One axis of a level of `samples`, by blocks of whole vectors, of types of so many bytes on the two sides.
    pub fn lattice(
        &self,
        direction: Direction,
        samples: usize,
        along: Along,
        block: lattice::Shape,
        sides: Sides,
    ) -> Cost {
        let [from, to] = [sides.signal.bytes(), sides.bands.bytes()];
        let stages = direction.stages(self.scheme, self.boundary).map_or(0, |stages| stages.len()) as f64;
        let bytes = (samples * (from + to)) as f64;
        // Columns that do not fill a sector share it with other blocks, which find it in the second-level cache.
        let wasted = match along {
            Along::Row => 0.0,
            Along::Column => (SECTOR / (block.vectors as usize * from.min(to)) as f64 - 1.0).max(0.0),
        };
        // A stage has six operations a pair; what it hands over goes through shared memory.
        let issue = self.issue(samples as f64 * (8.0 + 5.0 * stages)) * STALL_PASS;
        let time = self.memory(bytes * (1.0 + AGAIN * wasted)).hypot(issue).max(RAMP);
        Cost { launches: 1, bytes, time: LAUNCH + time }
    }

    /// Both axes in one launch.
    pub fn both(&self, direction: Direction, walk: &Walk, block: Block, job: &Job, chunk: u32) -> Cost {
        let samples = f64::from(job.width) * f64::from(job.height) * f64::from(job.batch);
        let [operations, _] = work(&self.actions(direction));
        let (reads, columns, registers, latency) = match (walk, block) {
            (Walk::Stream(walk), _) => {
                let pairs = f64::from((job.height + job.parity[1] + 1) / 2).min(f64::from(chunk));
                let latency = (pairs + walk.halo_pairs() as f64) * PAIR;
                (walk.reads(chunk as i32), walk.strip_columns(), REGISTERS + walk.registers(), latency)
            }
            (Walk::Warp(shape), Block::Warp(block)) => {
                let words = self.sample.bytes().div_ceil(4) as i64;
                let registers = REGISTERS_WARP + i64::from(block.columns * block.rows) * words;
                (shape.reads(), shape.columns(), registers, TILE * f64::from(chunk) / (shape.rows() as f64 / 2.0))
            }
            (Walk::Warp(_), _) => unreachable!("a walk is its block's"),
        };
        let stall = match walk {
            Walk::Stream(_) => stall(registers) - stall(0) * OVERLAPPED,
            Walk::Warp(_) => STALL_WARP * stall(registers) / stall(0),
        };
        let aligned = match walk {
            Walk::Stream(walk) => walk.is_for_aligned(),
            Walk::Warp(_) => walk.tuning(job, self.machine.multiprocessors).is_ok_and(|t| t.aligned == 3),
        };
        let again = if matches!(walk, Walk::Stream(_)) { AGAIN } else { 1.0 };
        let [more_work, more_sectors] = if aligned { [1.0; 2] } else { UNALIGNED };
        let bytes = samples * self.sample.bytes() as f64 * (1.0 + (reads - 1.0) * again + more_sectors);
        let narrow = match (walk, block) {
            (Walk::Stream(_), Block::Stream(block)) if (block.columns as usize * self.sample.bytes()) < 16 => NARROW,
            _ => 1.0,
        };
        let issue = self.issue(samples * reads * (6.0 + operations)) * stall * more_work * narrow;
        let pairs = f64::from((job.height + job.parity[1] + 1) / 2);
        let strips = (f64::from(job.width + job.parity[0]) / columns as f64).ceil();
        let warps = strips * (pairs / f64::from(chunk)).ceil() * f64::from(job.batch);
        let resident = f64::from(self.machine.registers / 32 * self.machine.multiprocessors) / registers as f64;
        let waves = (warps / resident).max(1.0);
        let walk = RAMP + waves * latency;
        let throughput = self.memory(bytes).hypot(issue) + RAMP / 4.0;
        // While the last walks end, and the first begin, the device is half empty.
        let time = (throughput + (RAMP + latency) / 2.0).max(walk);
        Cost { launches: 1, bytes, time: LAUNCH + time }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::StreamBlock;
    use lifting_codegen::schedule::{Options, stream};

    /// Chunks in pairs, and copies, at 8192², 4096² and 1920×1080.
    type Measured = (&'static str, Scalar, Direction, [i32; 3], [f64; 3]);
    /// `docs/performance.md`, the table of generated kernels, aligned.
    const MEASURED: [Measured; 6] = [
        ("cdf97", Scalar::F32, Direction::Forward, [10, 10, 6], [1.12, 1.28, 1.73]),
        ("cdf97", Scalar::F32, Direction::Inverse, [10, 10, 6], [1.27, 1.44, 1.98]),
        ("legall53", Scalar::I16, Direction::Forward, [10, 10, 4], [1.18, 1.43, 1.90]),
        ("legall53", Scalar::I16, Direction::Inverse, [10, 10, 4], [1.31, 1.58, 1.92]),
        ("dd137", Scalar::I16, Direction::Forward, [24, 24, 6], [1.63, 2.18, 3.22]),
        ("dd137", Scalar::I16, Direction::Inverse, [24, 24, 6], [1.60, 2.12, 2.97]),
    ];

    #[test]
    fn predictions_are_near_what_was_measured() {
        let machine = Machine::default();
        for (name, sample, direction, chunks, measured) in MEASURED {
            let scheme = crate::catalogue::find(name).unwrap();
            let boundary = Boundary::WholeSymmetric;
            let model = Model { machine: &machine, scheme: &scheme, boundary, sample };
            let options = Options { sample, boundary, direction, gain: false };
            let stream::Shape { columns, warps, ring, .. } = stream::Shape::for_sample(sample);
            let sizes = [(8192, 8192), (4096, 4096), (1920, 1080)];
            for (((width, height), chunk), measured) in sizes.into_iter().zip(chunks).zip(measured) {
                let chunk = chunk as u32;
                let block = StreamBlock { columns, warps, ring, chunk };
                let walk = Walk::Stream(stream::walk(&scheme, options, block.shape(stream::Rows::Whole)).unwrap());
                let array = |i: u64, pitch: i32| stream::Array { address: i << 40, pitch: pitch.into(), stride: 0 };
                let bands = [1, 2, 3, 4].map(|i| array(i, width / 2));
                let job = Job { signal: array(0, width), bands, width, height, parity: [0, 0], batch: 1 };
                let cost = model.both(direction, &walk, Block::Stream(block), &job, chunk);
                let predicted = cost.time / model.copy((width * height) as usize).time;
                let off = predicted / measured;
                println!("{name} {} {width}x{height}: {predicted:.2}, measured {measured}: {off:.2}", direction.name());
                assert!((0.7..1.35).contains(&off), "{name} {width}x{height}: {predicted:.2}, measured {measured}");
            }
        }
    }

    /// `docs/performance.md`, one pass an axis: rows and columns in registers, and both through shared memory.
    #[test]
    fn predictions_of_passes_are_near_what_was_measured() {
        let machine = Machine::default();
        let scheme = crate::catalogue::find("cdf97").unwrap();
        let (boundary, sample) = (Boundary::WholeSymmetric, Scalar::F32);
        let model = Model { machine: &machine, scheme: &scheme, boundary, sample };
        let copies = |ways: &[PassWay]| {
            let pass = |way| model.pass(Direction::Forward, 8192 * 8192, 8192, way, Sides::both(sample)).time;
            ways.iter().map(|&way| pass(way)).sum::<f64>() / model.copy(8192 * 8192).time
        };
        let way = |rows, registers| PassWay { rows, registers };
        let cases: [(&[PassWay], f64); 3] =
            [(&[way(true, true)], 1.44), (&[way(false, true)], 1.11), (&[way(true, false), way(false, false)], 6.9)];
        for (ways, measured) in cases {
            let predicted = copies(ways);
            assert!((0.85..1.2).contains(&(predicted / measured)), "{ways:?}: {predicted:.2}, measured {measured}");
        }
    }
}
