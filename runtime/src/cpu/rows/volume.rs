//! Transforms along three axes: planes arrive, are lifted along rows and columns, then along the slowest axis.
//!
//! rewrite: "both axes of all planes; then the slowest axis" → four planes at a time, into a buffer that stays in
//! cache. From there, all steps along the slowest axis run in one loop. Their delay lines are read and written once for
//! four planes. Synthesis runs backwards. The low band of a level goes to the next one in a separate array.

use super::axis::Axis;
use super::fused::Chunk;
use super::fused::{self, Along, Fused};
use super::{Batch, Coefficients, Image, LARGE, Plane, Program};
use crate::cpu::Shared;
use crate::data::{Dims, RawView, RawViewMut};
use crate::sample::{CompiledStep, Sample};
use crate::threads;
use lifting_dsl::Direction;
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_loops::Isa;
use lifting_planner::Problem;

/// Planes that arrive together.
const PLANES: usize = 4;

/// All levels of a problem along three axes.
#[derive(Debug)]
pub(in crate::cpu) struct Volume<T: Sample> {
    /// Finest level first.
    levels: Vec<Level<T>>,
    /// Slowest axis first.
    axes: [usize; 3],
    shape: Vec<usize>,
    isa: Isa,
    threads: usize,
    /// Memory per worker, in samples of the work type.
    work: usize,
    low: usize,
}

#[derive(Debug)]
struct Level<T: Sample> {
    plane: Program<T>,
    /// The slowest axis in analysis and in synthesis, and its loops.
    axis: [Axis<T::Lane>; 2],
    loops: [Fused; 2],
    shape: [usize; 3],
    low: [usize; 3],
    /// Layout of a worker's memory: planes, discarded results, delay lines, memory of plane programs.
    memory: Memory,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    plane: usize,
    nowhere: usize,
    /// Delay line of each row of a plane.
    delayed: usize,
    work: usize,
}

/// An array that holds a level's samples or bands.
#[derive(Clone, Copy)]
struct Array<T> {
    first: *mut T,
    /// Samples from a plane to the next, and from a row to the next.
    strides: [isize; 2],
}

impl<T> Array<T> {
    fn at(&self, z: isize, y: usize, x: usize) -> *mut T {
        self.first.wrapping_offset(z * self.strides[0] + y as isize * self.strides[1]).wrapping_add(x)
    }
}

/// Bands of a level; the lowest band is separate if it goes on to another level.
#[derive(Clone, Copy)]
struct Bands<T> {
    all: Array<T>,
    low: Option<Array<T>>,
}

impl<T: Sample> Volume<T> {
    /// Returns `None` if the problem is outside the scope of volume programs.
    pub fn new(problem: &Problem, isa: Isa, threads: usize) -> Option<Volume<T>> {
        let geometry = &problem.geometry;
        let transformed: Vec<usize> = (0..geometry.shape().len()).filter(|&a| geometry.levels()[a] > 0).collect();
        let axes: [usize; 3] = transformed.try_into().ok()?;
        let [z, y, x] = axes;
        if !T::DIRECT || problem.layout != Layout::Mallat || problem.gain_shift > 0 {
            return None;
        }
        let scheme = &problem.scheme;
        let forward = CompiledStep::all(scheme.stages(problem.boundary), scheme.steps());
        let backward = CompiledStep::all(scheme.inverse_stages(problem.boundary), &scheme.inverse_steps());
        let mut volume =
            Volume { levels: Vec::new(), axes, shape: geometry.shape().to_vec(), isa, threads, work: 0, low: 0 };
        for j in 0..geometry.depth() {
            let (shape, origins) = (geometry.level_shape(j), geometry.level_origins(j));
            if geometry.axes_at(j) != [x, y, z] {
                return None;
            }
            let parity = axes.map(|axis| origins[axis].rem_euclid(2));
            let shape = axes.map(|axis| shape[axis]);
            let low = [0, 1, 2].map(|a| (parity[a] as usize + shape[a]).div_ceil(2) - parity[a] as usize);
            let plane = Geometry::new(&shape[1..], &parity[1..], &[1, 1], &[1, 0]).ok()?;
            let plane = Problem {
                source_shape: shape[1..].to_vec(),
                geometry: plane,
                scheme: scheme.clone(),
                tile: None,
                extended: Vec::new(),
                wavelets: Vec::new(),
                ..*problem
            };
            let axis = |steps| Axis::new(steps, problem, shape[0], parity[0] as usize);
            let axis = [axis(&forward)?, axis(&backward)?];
            let along = |analysis: bool| Fused::along::<T, _>(isa, analysis, &axis[!analysis as usize], Along::Columns);
            let loops = [along(true)?, along(false)?];
            // Bands and strides of planes have two axes, even if one is a single sample.
            let mut plane = Program::along(&plane, isa, 1, &[0, 1])?;
            plane.volume = Some(j == 0 && shape.iter().product::<usize>() * size_of::<T>() >= LARGE);
            let [a, b] = [0, 1].map(|way| loops[way].columns_memory(shape[2]));
            let [c, d] = [0, 1].map(|way| loops[way].columns_memory(shape[1].saturating_mul(shape[2])));
            let memory = Memory {
                // Padding puts planes into different cache sets.
                plane: (shape[1].checked_mul(shape[2])?.checked_add(64)? / 64 + 1).checked_mul(64)? + 64 * 17,
                nowhere: c?.0.max(d?.0),
                delayed: a?.1.max(b?.1),
                work: plane.work()?,
            };
            let all = memory.plane.checked_mul(PLANES)?.checked_add(memory.nowhere)?;
            let all = all.checked_add(memory.delayed.checked_mul(shape[1])?)?.checked_add(memory.work)?;
            volume.work = volume.work.max(all.checked_add(256)?);
            if j > 0 {
                volume.low =
                    volume.low.checked_add(shape.iter().try_fold(64usize, |n, m| n.checked_mul(*m))? / 64 + 64)?;
            }
            volume.levels.push(Level { plane, axis, loops, shape, low, memory });
        }
        volume.work.checked_mul(threads)?;
        Some(volume)
    }

    /// Name in recipes.
    pub fn name(&self) -> &'static str {
        match self.isa.to_string().as_str() {
            "avx512" => "planes, avx512",
            "avx2" => "planes, avx2",
            "sse2" => "planes, sse2",
            _ => "planes",
        }
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Work-type elements that an execution needs.
    pub fn work(&self) -> usize {
        self.work * self.threads
    }

    /// Samples of low bands that an execution needs.
    pub fn low(&self) -> usize {
        self.low
    }

    /// Whether samples of rows are contiguous.
    pub fn takes(&self, src: &Dims<isize>, dst: &Dims<isize>) -> bool {
        src[self.axes[2]] == 1 && dst[self.axes[2]] == 1
    }

    /// Executes levels from `top` on, on all volumes.
    ///
    /// # Safety
    /// As for [`Program::run`].
    pub unsafe fn run(
        &self,
        way: Direction,
        top: usize,
        src: RawView<T>,
        dst: RawViewMut<T>,
        work: &mut [T::Lane],
        low: &mut [T],
    ) {
        let [z, y, x] = self.axes;
        let mut batch = Batch::new(&self.shape, x, Some(y));
        batch.lengths[z] = 1;
        let src = (src.ptr.cast_mut(), src.strides);
        let dst = (dst.ptr, dst.strides);
        let (data, coefficients) = if way == Direction::Forward { (src, dst) } else { (dst, src) };
        for image in 0..batch.count() {
            let array = |(ptr, strides): (*mut T, Dims<isize>)| Array {
                first: ptr.wrapping_offset(batch.offset(image, &strides)),
                strides: [strides[z], strides[y]],
            };
            // SAFETY: passed on from the caller.
            unsafe { self.volume(way, top, array(data), array(coefficients), work, low) };
        }
    }

    unsafe fn volume(
        &self,
        way: Direction,
        top: usize,
        data: Array<T>,
        coefficients: Array<T>,
        work: &mut [T::Lane],
        low: &mut [T],
    ) {
        // Samples of a level below the first.
        let low = low.as_mut_ptr();
        let samples = |j: usize| {
            if j == top {
                return data;
            }
            let size = |j: usize| self.levels[j].shape.iter().product::<usize>() + 64;
            let first = low.wrapping_add((top + 1..j).map(size).sum());
            let [_, y, x] = self.levels[j].shape;
            Array { first, strides: [(y * x) as isize, x as isize] }
        };
        let last = self.levels.len();
        let large = self.levels[top].shape.iter().product::<usize>() * size_of::<T>() >= LARGE;
        for i in top..last {
            let j = if way == Direction::Forward { i } else { last - 1 - (i - top) };
            let level = &self.levels[j];
            let bands = Bands { all: coefficients, low: (j + 1 < last).then(|| samples(j + 1)) };
            // A sample of a volume takes about twice as long as one of an image.
            let workers = if level.shape.iter().product::<usize>() < super::SMALL / 2 { 1 } else { self.threads };
            let shared = Shared((samples(j), bands));
            let share = |worker: usize, work: &mut [T::Lane]| {
                let cut = |w: usize| (level.shape[0] / 2 * w / workers * 2) as isize;
                let end = if worker + 1 == workers { level.shape[0] as isize } else { cut(worker + 1) };
                let (samples, bands) = *shared.get();
                if cut(worker) < end {
                    // SAFETY: by the caller's promise; workers write distinct planes.
                    unsafe { level.run(way, (cut(worker), end), samples, bands, large, work) };
                }
            };
            if workers == 1 {
                share(0, &mut work[..self.work]);
            } else {
                threads::pieces(work, self.work, workers, share);
            }
        }
    }
}

impl<T: Sample> Level<T> {
    /// Runs the planes of a chunk.
    unsafe fn run(
        &self,
        way: Direction,
        rows: (isize, isize),
        samples: Array<T>,
        bands: Bands<T>,
        large: bool,
        work: &mut [T::Lane],
    ) {
        let analysis = way == Direction::Forward;
        let (axis, loops) = (&self.axis[!analysis as usize], &self.loops[!analysis as usize]);
        let chunk = Chunk { rows, blocks: (0, 1) };
        let [_, height, width] = self.shape;
        let Memory { plane, nowhere, delayed, .. } = self.memory;
        // Align to a cache line.
        let skip = work.as_ptr().align_offset(64).min(64);
        let work = &mut work[skip..];
        let (planes, rest) = work.split_at_mut(plane * PLANES);
        let (nowhere, rest) = rest.split_at_mut(nowhere);
        let (delayed, work) = rest.split_at_mut(delayed * height);
        // One pointer each: another borrow of a slice would end the validity of earlier pointers.
        let [planes, nowhere, delayed] = [planes, nowhere, delayed].map(<[_]>::as_mut_ptr);
        // Parts of rows that go to different arrays, and lanes before the first sample of each.
        let together = bands.all.strides[1] == width as isize;
        let parts = |y: usize| match bands.low {
            Some(_) if y < self.low[1] => [(0, self.low[2]), (self.low[2], width - self.low[2])],
            // Without gaps, the rest of a plane is one row.
            _ if together => [(0, width * (height - y)), (0, 0)],
            _ => [(0, width), (0, 0)],
        };
        let rows_of_parts = match (together, bands.low) {
            (false, _) => height,
            (true, None) => 1,
            (true, Some(_)) => (self.low[1] + 1).min(height),
        };
        let lead = |x: usize| if analysis { loops.skip(bands.all.at(0, 0, x)) } else { 0 };
        let lead = [lead(0), lead(self.low[2])];
        let buffers: [*mut T; PLANES] =
            std::array::from_fn(|r| planes.wrapping_add(r * plane).cast::<T>().wrapping_add(lead[0]));
        let band = |z: isize, y: usize, x: usize| {
            let (phase, index) = (axis.phase(z), axis.index(z));
            match bands.low {
                Some(low) if phase == 0 && y < self.low[1] && x < self.low[2] => low.at(index, y, x),
                _ => bands.all.at((phase * self.low[0]) as isize + index, y, x),
            }
        };
        let wanted = rows.0 - loops.reach()..rows.1 + loops.reach();
        let mut front = loops.start(axis, &chunk);
        while front < rows.1 + loops.back() {
            let arriving = |r: usize| axis.inside(front + r as isize).unwrap_or(0);
            let leaving = |r: usize| front + r as isize - loops.back();
            if analysis {
                for (r, buffer) in buffers.iter().enumerate().filter(|(r, _)| wanted.contains(&(front + *r as isize))) {
                    let image = self.image(samples.at(arriving(r), 0, 0), samples.strides[1], *buffer);
                    // SAFETY: by the caller's promise.
                    unsafe { self.plane.image(way, 0, &image, work, &mut []) };
                }
            }
            let mut state = delayed;
            for y in 0..rows_of_parts {
                if analysis && large && bands.low.is_some() && y + 2 < self.low[1] {
                    // Cache lines shared by two parts of a row are not streamed: prefetch those of a later row.
                    let [(first, _), (second, _)] = parts(y + 2);
                    for r in 0..PLANES {
                        let z = leaving(r).clamp(rows.0, rows.1 - 1);
                        fused::fetch(band(z, y + 2, first));
                        fused::fetch(band(z, y + 2, second));
                    }
                }
                for (part, (x, count)) in parts(y).into_iter().enumerate().filter(|(_, part)| part.1 > 0) {
                    let buffer = |r: usize| buffers[r].wrapping_add(y * width + x);
                    let (mut from, mut to) = ([std::ptr::null::<T>(); PLANES], [None; PLANES]);
                    for r in 0..PLANES {
                        let z = leaving(r);
                        from[r] = if analysis { buffer(r) } else { band(arriving(r), y, x) };
                        if (rows.0..rows.1).contains(&z) {
                            to[r] = Some(if analysis { band(z, y, x) } else { buffer(r) });
                        }
                    }
                    // Rows that stay in cache for the next level, or for the steps along rows.
                    let low = bands.low.is_some() && y < self.low[1] && x == 0;
                    let stays = |r: usize| !analysis || low && axis.phase(leaving(r)) == 0;
                    let stream = [large && !stays(0), large && !stays(1)];
                    // SAFETY: rows of the volume, and memory of the worker.
                    unsafe {
                        let used = loops.columns(from, to, count, lead[part], stream, nowhere, state);
                        state = state.wrapping_add(used);
                    }
                }
            }
            if !analysis {
                for (r, buffer) in buffers.iter().enumerate() {
                    if (rows.0..rows.1).contains(&leaving(r)) {
                        let image = self.image(samples.at(leaving(r), 0, 0), samples.strides[1], *buffer);
                        // SAFETY: by the caller's promise.
                        unsafe { self.plane.image(way, 0, &image, work, &mut []) };
                    }
                }
            }
            front += PLANES as isize;
        }
        fused::fence();
    }

    /// A plane, and the buffer of its bands.
    fn image(&self, data: *mut T, pitch: isize, buffer: *mut T) -> Image<T> {
        let coefficients = Plane { first: buffer, strides: [self.shape[2] as isize, 1] };
        Image { data: Plane { first: data, strides: [pitch, 1] }, coefficients: Coefficients::Array(coefficients) }
    }
}
