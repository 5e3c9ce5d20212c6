//! How long a level should take: a model of a few terms, so that plans choose before anything has run.
//!
//! The time of a launch is a constant, and of two terms more than the larger and less than the sum ([`together`]). What
//! limits large images is throughput, of memory and of instructions. What limits small ones is the time of one walk or
//! block from its first row to its last; it grows with how many share a multiprocessor. Constants are the [`Machine`]'s,
//! fitted to what was measured on it, as the tests show; of passes through shared memory they are estimates. What is
//! measured on a device (`PlanBuilder::tune`) stands above all this.

use crate::kernels::PassWay;
use lifting_codegen::action::Action;
use lifting_codegen::ir::Scalar;
use lifting_codegen::machine::Machine;
use lifting_codegen::schedule::level::{Job, RowAlignment};
use lifting_codegen::schedule::{
    Along, Direction, Fit, Shape, Sides, cascade, lattice, pyramid, stream, tile, volume, warp,
};
use lifting_codegen::window::Window;
use lifting_dsl::{Boundary, Domain, Scheme, Step};
use std::any::Any;

/// More than the larger of two and less than their sum: the higher the power, the less the smaller counts.
fn together(power: f64, a: f64, b: f64) -> f64 {
    (a.powf(power) + b.powf(power)).powf(1.0 / power)
}

/// What is predicted of a level: launches, bytes, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
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

/// Instructions of lifting for a pair of samples along one axis, and how often they read a sample of the other phase or
/// write one.
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
pub(crate) struct Model<'a> {
    pub machine: &'a Machine,
    pub scheme: &'a Scheme,
    pub boundary: Boundary,
    pub sample: Scalar,
}

impl Model<'_> {
    fn memory(&self, bytes: f64) -> f64 {
        self.machine.memory(bytes)
    }

    fn issue(&self, instructions: f64) -> f64 {
        self.machine.issue(instructions)
    }

    fn actions(&self, direction: Direction) -> Vec<Action> {
        Action::all(self.scheme, direction, self.boundary)
    }

    /// Reading and writing so many samples once.
    pub fn copy(&self, samples: usize) -> Cost {
        let c = self.machine.constants();
        let bytes = 2.0 * (samples * self.sample.bytes()) as f64;
        Cost { launches: 1, bytes, time: c.launch.latency + self.memory(bytes) }
    }

    /// One axis of `length` samples in a level of `samples`, between arrays of two types.
    pub fn pass(&self, direction: Direction, samples: usize, length: usize, way: PassWay, sides: Sides) -> Cost {
        let c = self.machine.constants();
        let steps = self.actions(direction);
        let [operations, accesses] = work(&steps);
        let bytes = (samples * (sides.signal.bytes() + sides.bands.bytes())) as f64;
        let window = || Window::derive(&steps, self.boundary);
        let (moved, issue, walk) = match way {
            PassWay { rows, registers: true } => {
                let around = if rows { c.pass.overhead_instructions } else { 6.0 };
                let issue = self.issue(samples as f64 * (around + operations / 2.0));
                let pairs = (length / 2).min(10) + (window().kept() / 2) as usize;
                (
                    bytes * c.pass.traffic,
                    issue,
                    c.pass.ramp + if rows { 0.0 } else { pairs as f64 * c.pass.row_pair_latency },
                )
            }
            PassWay { rows, registers: false } => {
                let issue = self.issue(samples as f64 * (8.0 + (operations + accesses) / 2.0)) * c.pass.stall;
                let height = 16.max(window().kept() as usize);
                let windows = if rows { 0 } else { length.min(256).div_ceil(height) };
                (bytes, issue, c.pass.ramp + windows as f64 * c.pass.window_latency)
            }
        };
        let lines = samples as f64 / length as f64 * c.pass.line_time / f64::from(self.machine.multiprocessors);
        Cost { launches: 1, bytes, time: c.launch.latency + self.memory(moved).hypot(issue).max(walk).max(lines) }
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
        let c = self.machine.constants();
        let [from, to] = [sides.signal.bytes(), sides.bands.bytes()];
        let stages = direction.stages(self.scheme, self.boundary).map_or(0, |stages| stages.len()) as f64;
        let bytes = (samples * (from + to)) as f64;
        // Columns that do not fill a sector share it with other blocks, which find it in the second-level cache.
        let wasted = match along {
            Along::Row => 0.0,
            Along::Column => (c.launch.sector / (block.vectors as usize * from.min(to)) as f64 - 1.0).max(0.0),
        };
        // A stage has six operations a pair; what it hands over goes through shared memory.
        let issue = self.issue(samples as f64 * (8.0 + 5.0 * stages)) * c.pass.stall;
        let time = self.memory(bytes * (1.0 + c.launch.sector_reread_cost * wasted)).hypot(issue).max(c.pass.ramp);
        Cost { launches: 1, bytes, time: c.launch.latency + time }
    }

    /// Several axes in one launch.
    pub fn launch(&self, direction: Direction, fit: &dyn Fit, blocks: Shape, job: &Job, chunk: u32) -> Cost {
        let c = self.machine.constants();
        let depth = job.planes.map_or(1, |planes| planes.depth);
        let samples = f64::from(job.width) * f64::from(job.height) * f64::from(depth) * f64::from(job.batch);
        let aligned = fit.alignment().is_aligned();
        let any: &dyn Any = fit;
        let inverse = usize::from(direction == Direction::Inverse);
        let (demand, power, (more_work, longer, slower)) = if let Some(walk) = any.downcast_ref() {
            let slower = if aligned { 1.0 } else { c.stream.unaligned[inverse] };
            (self.walking(direction, walk, blocks, job, chunk), c.stream.power, (1.0, 1.0, slower))
        } else if let Some(shape) = any.downcast_ref() {
            let rows = match fit.alignment() {
                RowAlignment::Whole => (1.0, 1.0, 1.0),
                RowAlignment::Aligned => (c.warp.aligned_instructions[inverse], 1.0, 1.0),
                RowAlignment::Image if number(blocks, "packed") == 1 => {
                    (c.warp.image_instructions[inverse], c.warp.unaligned_pairs_latency, 1.0)
                }
                RowAlignment::Image => (c.warp.image_instructions[inverse], c.warp.unaligned_latency[0], 1.0),
                RowAlignment::Any => (c.warp.unaligned_instructions[inverse], c.warp.unaligned_latency[1], 1.0),
            };
            (self.in_blocks(direction, shape, blocks, job, chunk), c.warp.power, rows)
        } else if let Some(tile) = any.downcast_ref() {
            let slower = if aligned { 1.0 } else { c.tile.unaligned[inverse] };
            (self.in_tiles(direction, tile, blocks, job), c.tile.power, (1.0, 1.0, slower))
        } else if let Some(volume) = any.downcast_ref() {
            let slower = if aligned { 1.0 } else { c.tile.unaligned[inverse] };
            let demand = self.in_volumes(direction, volume, blocks, (job, samples), chunk);
            (demand, c.volume.power, (1.0, 1.0, slower))
        } else if let Some(walk) = any.downcast_ref() {
            (self.in_cascades(direction, walk, blocks, (job, chunk)), c.cascade.power, (1.0, 1.0, 1.0))
        } else if let Some(shape) = any.downcast_ref() {
            (self.in_pyramids(direction, shape, blocks, job), c.pyramid.power, (1.0, 1.0, 1.0))
        } else {
            let demand = Demand { moved: 1.0, instructions: 0.0, latency: 0.0 };
            (demand, 1.0, (1.0, 1.0, 1.0))
        };
        let bytes = samples * self.sample.bytes() as f64 * (demand.moved + 1.0);
        let issue = self.issue(samples * demand.instructions * more_work);
        let throughput = together(c.launch.throughput_power, self.memory(bytes), issue);
        Cost {
            launches: 1,
            bytes,
            time: c.launch.latency + slower * together(power, throughput, longer * demand.latency),
        }
    }

    /// By `stream`.
    fn walking(&self, direction: Direction, walk: &stream::Fit, blocks: Shape, job: &Job, chunk: u32) -> Demand {
        let c = self.machine.constants();
        let [operations, _] = work(&self.actions(direction));
        let registers = c.launch.other_registers + walk.registers();
        let (bytes, reads) = (self.sample.bytes(), walk.reads(chunk as i32));
        let narrow = if (number(blocks, "columns") as usize * bytes) < 16 { c.stream.narrow_instructions } else { 1.0 };
        let stall = registers as f64 / c.stream.registers_at_full_issue
            * if registers > c.launch.most_registers { c.launch.spill_factor } else { 1.0 };
        let again = c.stream.reread_cost[usize::from(direction == Direction::Inverse)];
        let pair = c.stream.row_pair_latency
            + c.stream.operation_latency * operations
            + c.stream.column_latency * 16.0 / bytes as f64;
        let pairs = row_pairs(job).min(f64::from(chunk)) + walk.halo_pairs() as f64;
        let shared = self.warps(job, walk.strip_columns(), chunk).min(self.resident(registers));
        Demand {
            moved: 1.0 + (reads - 1.0) * again,
            instructions: reads
                * lifted(job, walk.strip_columns())
                * idle(job, walk.strip_columns(), 2 * i64::from(chunk), c.stream.idle_power)
                * (c.stream.overhead_instructions + operations)
                * stall
                * narrow,
            latency: (c.stream.latency + pairs * pair) * (1.0 + c.stream.occupancy_latency * shared),
        }
    }

    /// By `warp`.
    fn in_blocks(&self, direction: Direction, shape: &warp::Fit, blocks: Shape, job: &Job, chunk: u32) -> Demand {
        let c = self.machine.constants();
        let [operations, _] = work(&self.actions(direction));
        let [columns, rows, packed] = ["columns", "rows", "packed"].map(|name| number(blocks, name));
        let lane = columns as usize / 2 * self.sample.bytes();
        let (reads, columns) = (shape.reads(), f64::from(columns));
        // Of a lane, in each row: of two bands, or of the image.
        let (stores, tiny) = match (direction, lane) {
            (Direction::Inverse, _) => (1.0, 0.0),
            (Direction::Forward, ..8) => (2.0, c.warp.partial_sector_cost),
            (Direction::Forward, _) => (2.0, 0.0),
        };
        let packed = packed as usize;
        let samples = f64::from(rows) * columns;
        let latency =
            samples * c.warp.sample_latency[packed] + shape.rows() as f64 * stores * c.warp.store_latency[packed];
        let each = (2.0 * f64::from(chunk) / shape.rows() as f64).max(1.0);
        let shared = self.warps(job, shape.columns(), chunk);
        let work = c.warp.operation_instructions[packed] * operations + c.warp.overhead_instructions[packed] / columns;
        let is_gathered = matches!(shape.alignment(), RowAlignment::Image | RowAlignment::Any);
        let gathered = if is_gathered { (columns / c.warp.gather_columns[packed]).max(1.0) } else { 1.0 };
        let lifted = lifted(job, shape.columns()) * idle(job, shape.columns(), shape.rows(), c.warp.idle_power);
        let unsure = if i64::from(rows) - shape.rows() > c.warp.fitted_halo_rows { c.warp.long_halo } else { 1.0 };
        Demand {
            moved: 1.0 + tiny,
            instructions: reads * lifted * work * c.warp.stall * unsure,
            latency: latency * each * (gathered + c.warp.occupancy_latency[packed] * shared) * unsure,
        }
    }

    /// By `tile`.
    fn in_tiles(&self, direction: Direction, tile: &tile::Fit, blocks: Shape, job: &Job) -> Demand {
        let c = self.machine.constants();
        let [operations, _] = work(&self.actions(direction));
        let [across, down] = tile.rounds().map(|n| n as f64);
        let stores = if direction == Direction::Forward { c.tile.scalar_store_instructions } else { 1.0 };
        let lonely = if across < 2.0 { c.tile.single_round_stall } else { 1.0 };
        let slower = if direction == Direction::Forward { c.tile.scalar_store_latency } else { 1.0 };
        let latency = (c.tile.vertical_latency * down
            + c.tile.horizontal_latency * across * f64::from(number(blocks, "columns")))
            * slower;
        // Each tile is a warp's strip and chunk, but of so many warps.
        let tiles = self.warps(job, tile.columns(), (tile.rows() / 2) as u32);
        let shared = (tiles * f64::from(number(blocks, "warps"))).min(c.tile.resident_warps);
        Demand {
            moved: 1.0,
            instructions: tile.reads()
                * idle(job, tile.columns(), tile.rows(), c.tile.idle_power)
                * (c.tile.overhead_instructions + operations)
                * c.tile.stall
                * stores
                * lonely,
            latency: latency * (1.0 + c.tile.occupancy_latency * shared),
        }
    }

    /// By `volume`: as long as the threads of blocks that follow one another have instructions.
    fn in_volumes(
        &self,
        direction: Direction,
        volume: &volume::Fit,
        blocks: Shape,
        (job, samples): (&Job, f64),
        chunk: u32,
    ) -> Demand {
        let c = self.machine.constants();
        let [operations, _] = work(&self.actions(direction));
        let multiprocessors = self.machine.multiprocessors;
        let steps = volume.duration(job, chunk as i32, multiprocessors) as f64;
        let threads = f64::from(32 * number(blocks, "warps"));
        let around = c.volume.overhead_instructions[usize::from(direction == Direction::Inverse)];
        let each = (volume.pairs_a_step() * operations + around).max(c.volume.step_instructions) * c.volume.stall;
        let resident = f64::from(multiprocessors) * volume.resident() as f64;
        Demand { moved: 1.0, instructions: resident * threads * steps * each / samples, latency: 0.0 }
    }

    /// By `cascade`: as many steps as the walk says.
    fn in_cascades(
        &self,
        direction: Direction,
        walk: &cascade::Fit,
        blocks: Shape,
        (job, chunk): (&Job, u32),
    ) -> Demand {
        let c = self.machine.constants();
        let [operations, _] = work(&self.actions(direction));
        let bytes = (number(blocks, "columns") as usize * self.sample.bytes()) as f64;
        let inverse = usize::from(direction == Direction::Inverse);
        let real = if inverse == 1 && self.scheme.domain() == Domain::Real { c.cascade.real_part } else { 1.0 };
        let step = match walk.is_packed() {
            true if walk.is_busy() => {
                c.cascade.pairs_latency[inverse] * bytes * (operations / c.cascade.pairs_operations).max(1.0)
            }
            true => c.cascade.short_pairs_latency[inverse] * bytes,
            false => c.cascade.operation_latency[inverse] * operations * real + c.cascade.byte_latency[inverse] * bytes,
        };
        Demand {
            moved: 1.0 + (walk.reads(chunk as i32) - 1.0) * c.cascade.reread_cost,
            instructions: 0.0,
            latency: walk.duration(job, chunk as i32, self.machine.multiprocessors) * step,
        }
    }

    /// By `pyramid`: a block is as long as its level after level, however small the image is.
    fn in_pyramids(&self, direction: Direction, shape: &pyramid::Fit, blocks: Shape, job: &Job) -> Demand {
        let c = self.machine.constants();
        let [operations, _] = work(&self.actions(direction));
        let [side, first, others] = ["side", "pairs", "pairs_of_others"].map(|name| number(blocks, name));
        let pairs = [first, others];
        let threads = f64::from(32 * pyramid::Shape { side, pairs }.warps());
        let each = f64::from(side * side) / threads;
        let [first, others] = [0, 1].map(|i| (f64::from(pairs[i]), shape.lifted()[i] as f64 * operations));
        let levels = f64::from(job.levels);
        let latency = |(_, lifting): (f64, f64)| 2.0 * (c.pyramid.pass_latency + c.pyramid.operation_latency * lifting);
        let issued = |(pairs, lifting): (f64, f64)| {
            2.0 * (c.pyramid.pass_instructions
                + c.pyramid.pair_instructions * pairs
                + c.pyramid.operation_instructions * lifting)
        };
        let of_thread = c.pyramid.sample_instructions * each
            + issued(first)
            + (levels - 1.0) * c.pyramid.active_threads * issued(others);
        Demand {
            moved: 1.0,
            instructions: threads * of_thread / (f64::from(job.width) * f64::from(job.height)),
            latency: c.pyramid.latency
                + c.pyramid.sample_latency * each
                + latency(first)
                + (levels - 1.0) * latency(others),
        }
    }

    /// Warps of a launch a multiprocessor, each for so many columns.
    fn warps(&self, job: &Job, columns: i64, chunk: u32) -> f64 {
        let strips = (f64::from(job.width + job.parity[0]) / columns as f64).ceil();
        let all = strips * (row_pairs(job) / f64::from(chunk)).ceil() * f64::from(job.batch);
        all / f64::from(self.machine.multiprocessors)
    }

    /// Warps that are resident on a multiprocessor.
    fn resident(&self, registers: i64) -> f64 {
        f64::from(self.machine.registers / 32) / registers as f64
    }
}

/// What a pass over both axes asks of a machine.
struct Demand {
    /// Of the samples, how many are read, or cost as much.
    moved: f64,
    /// A sample.
    instructions: f64,
    /// Microseconds of a walk, or of a block.
    latency: f64,
}

/// A number of a shape.
fn number(blocks: Shape, name: &str) -> u32 {
    blocks.get(name).unwrap_or(0)
}

fn row_pairs(job: &Job) -> f64 {
    f64::from((job.height + job.parity[1] + 1) / 2)
}

/// Samples that are lifted for each that there is: strips of so many columns, of which the last has fewer.
fn lifted(job: &Job, columns: i64) -> f64 {
    beyond(job.width, columns)
}

/// By how much images of a batch that do not fill their blocks take longer: to a power of what is left idle. What one
/// image takes was measured without.
fn idle(job: &Job, columns: i64, rows: i64, power: f64) -> f64 {
    if job.batch == 1 { 1.0 } else { (beyond(job.width, columns) * beyond(job.height, rows)).powf(power) }
}

/// Of a length in blocks, the last of which has fewer samples: all that blocks have, of each that there is.
fn beyond(length: i32, block: i64) -> f64 {
    let (length, block) = (f64::from(length), block as f64);
    (length / block).ceil() * block / length
}

#[cfg(test)]
mod tests;
