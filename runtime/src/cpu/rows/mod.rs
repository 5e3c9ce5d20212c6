//! Row programs: levels along one or two axes, each in one pass over the rows, pipelined level to level.
//!
//! rewrite: "level after level, axis after axis" → rows that pass through all levels. A level (`level`) takes rows as
//! they come and lifts them along both axes. Each row of its low band goes to the next level while it is in cache,
//! through a small ring buffer. Synthesis runs backwards: a level runs as soon as the coarser one has left it a row.
//! With several threads and a single image, levels run one after another instead. Each is cut into chunks of rows that
//! are lifted independently; a few rows at the seams are lifted twice. The same holds if a periodic image needs its
//! last rows first.
//!
//! `axis` derives lags from the supports and `across` lifts along rows. `ops` has the loops, compiled for every
//! instruction set and specialised by step shape, not by wavelet. If one loop covers all steps along both axes, the
//! level is that loop (`fused`).

mod across;
mod axis;
mod fused;
mod level;
mod ops;
mod stationary;
mod view;
mod volume;

use super::Shared;
use crate::data::{Dims, MAX_RANK, RawView, RawViewMut};
use crate::exec::{Joins, Workspace};
use crate::threads;
use lifting_dsl::Direction;
use lifting_loops::Isa;

use crate::sample::{CompiledStep, Sample};
use axis::Axis;
use fused::Chunk;
use fused::{Fused, Run};
use level::{ARRIVE, Level, Memory};
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_planner::Problem;
pub use stationary::{Lines, Stationary};
use std::mem::MaybeUninit;
use view::{Grid, Rows};
pub(super) use volume::Volume;

/// Upper bound on the number of levels.
const MAX_LEVELS: usize = 64;

/// Threshold in samples below which a second thread does not pay. On a virtual machine, a sleeping thread takes up to
/// 100 µs to wake up; one thread analyses 512 × 512 samples in that time.
const SMALL: usize = if cfg!(test) { 1 << 15 } else { 1 << 19 };

/// Elements of the work type that a worker may always take, however small the image.
const SCRATCH: usize = 1 << 20;

/// Elements of the work type that a worker may take for each sample of a large image.
const PROPORTION: usize = 8;

/// Size in bytes above which samples do not stay in the caches: results then use non-temporal stores.
const LARGE: usize = if cfg!(test) { 1 << 12 } else { 1 << 21 };

/// All levels of a problem as a row program.
#[derive(Debug)]
pub(super) struct Program<T: Sample> {
    /// Finest level first.
    analysis: Vec<Level<T::Lane>>,
    synthesis: Vec<Level<T::Lane>>,
    /// Low and high bands of each level along columns and rows, and the parity of the first sample.
    places: Vec<[AxisBands; 2]>,
    /// Axis along rows, and axis along columns.
    x: usize,
    y: Option<usize>,
    layout: Layout,
    isa: Isa,
    shape: Vec<usize>,
    threads: usize,
    /// Whether images are planes of a volume, and whether it is large: then bands stay in cache, samples do not.
    volume: Option<bool>,
    /// Whether no axis with levels is left out, as those of a single sample are.
    has_all_axes: bool,
    /// Memory per worker, in samples of the work type.
    ring: usize,
    copy: usize,
    staging: usize,
}

/// Bands of a level along one axis.
#[derive(Clone, Copy, Debug)]
struct AxisBands {
    transformed: bool,
    parity: usize,
    low: usize,
    length: usize,
}

impl<T: Sample> Program<T> {
    /// Returns `None` if the problem needs something that row programs lack.
    pub fn new(problem: &Problem, isa: Isa, threads: usize) -> Option<Program<T>> {
        let geometry = &problem.geometry;
        let mut transformed: Vec<usize> = (0..geometry.rank()).filter(|&a| geometry.levels()[a] > 0).collect();
        let is_kept = is_kept(geometry);
        // The rows of a column of single samples would be too short: the column is a line.
        if transformed.len() > 1 {
            transformed.retain(|&a| !is_kept(a));
        }
        Program::along(problem, isa, threads, &transformed)
    }

    /// A program along these axes; each other axis with levels is a single sample that no step changes.
    fn along(problem: &Problem, isa: Isa, threads: usize, transformed: &[usize]) -> Option<Program<T>> {
        let geometry = &problem.geometry;
        let shape = geometry.shape().to_vec();
        let last = shape.len() - 1;
        let (x, y) = match *transformed {
            // Columns alone: rows run along the last axis.
            [y] if y < last && shape[last] > 1 => (last, Some(y)),
            [x] => (x, None),
            [y, x] => (x, Some(y)),
            _ => return None,
        };
        let scheme = &problem.scheme;
        let forward = CompiledStep::all(scheme.stages(problem.boundary), scheme.steps());
        let backward = CompiledStep::all(scheme.inverse_stages(problem.boundary), &scheme.inverse_steps());
        let mut program = Program {
            analysis: Vec::new(),
            synthesis: Vec::new(),
            places: Vec::new(),
            x,
            y,
            layout: problem.layout,
            isa,
            shape,
            threads,
            volume: None,
            has_all_axes: transformed.len() == (0..=last).filter(|&a| geometry.levels()[a] > 0).count(),
            ring: 0,
            copy: 0,
            staging: 0,
        };
        for j in 0..geometry.depth() {
            let (shape, origins, mut axes) = (geometry.level_shape(j), geometry.level_origins(j), geometry.axes_at(j));
            axes.retain(|axis| transformed.contains(axis));
            if axes.is_empty() {
                return None;
            }
            let place = |axis: Option<usize>| {
                let Some(axis) = axis else { return AxisBands { transformed: false, parity: 0, low: 1, length: 1 } };
                let (n, parity) = (shape[axis], origins[axis].rem_euclid(2) as usize);
                let low = (parity + n).div_ceil(2) - parity;
                let transformed = axes.contains(&axis);
                AxisBands { transformed, parity, low: if transformed { low } else { n }, length: n }
            };
            let places = [place(y), place(Some(x))];
            let lone_odd = |p: &AxisBands| p.transformed && p.length == 1 && p.parity == 1;
            if problem.double_lone_odd && places.iter().any(lone_odd) {
                return None;
            }
            let gain = problem.gain_shift;
            for analysis in [true, false] {
                let steps = if analysis { &forward } else { &backward };
                let axis = |place: &AxisBands| match place.transformed {
                    true => Axis::new(steps, problem, place.length, place.parity).map(Some),
                    false => Some(None),
                };
                let mut level = Level {
                    isa,
                    analysis,
                    height: places[0].length,
                    width: places[1].length,
                    across: axis(&places[1])?,
                    down: axis(&places[0])?,
                    across_first: (axes.first() == Some(&x)) == analysis,
                    gain: if analysis { (gain, 0) } else { (0, gain) },
                    fused: None,
                };
                if let Some(across) = &level.across
                    && gain == 0
                {
                    let rows_first = level.across_first == analysis;
                    level.fused = Fused::new::<T, _>(isa, analysis, across, level.down.as_ref(), rows_first);
                }
                let (copy, staging) = level.scratch();
                (program.copy, program.staging) = (program.copy.max(copy), program.staging.max(staging));
                if analysis { program.analysis.push(level) } else { program.synthesis.push(level) }
            }
            program.places.push(places);
        }
        for levels in [&program.analysis, &program.synthesis] {
            let mut rings = levels.iter().map(|level| level.ring()?.checked_next_multiple_of(64));
            program.ring = rings.try_fold(0usize, |sum, ring| sum.checked_add(ring?))?.max(program.ring);
        }
        program.work()?;
        program.low()?;
        program.is_proportionate().then_some(program)
    }

    /// Whether scratch memory is in proportion to the image. Rings grow with the square of the summed reach of the
    /// steps, so that a short text could ask for any amount; such schemes go axis by axis.
    fn is_proportionate(&self) -> bool {
        let image = self.places.first().map_or(0, |[rows, columns]| rows.length.saturating_mul(columns.length));
        self.worker().is_some_and(|worker| worker <= image.saturating_mul(PROPORTION).saturating_add(SCRATCH))
    }

    /// Name of level j in recipes.
    pub fn name(&self, j: usize) -> &'static str {
        let fused = self.analysis[j].fused.is_some() && self.synthesis[j].fused.is_some();
        match (self.isa.to_string().as_str(), fused) {
            ("avx512", false) => "rows, avx512",
            ("avx512", true) => "rows in one loop, avx512",
            ("avx2", false) => "rows, avx2",
            ("avx2", true) => "rows in one loop, avx2",
            ("sse2", false) => "rows, sse2",
            ("sse2", true) => "rows in one loop, sse2",
            ("neon", _) => "rows, neon",
            _ => "rows",
        }
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.analysis.len()
    }

    /// Work-type elements that one worker needs.
    fn worker(&self) -> Option<usize> {
        // Zeros, a copied window, two staging buffers, and room to align to a cache line.
        self.ring.checked_add(self.copy + 3 * self.staging.next_multiple_of(64) + 64)
    }

    /// Work-type elements that an execution needs.
    pub fn work(&self) -> Option<usize> {
        self.worker()?.checked_mul(self.threads)
    }

    /// Samples of low bands between levels that an execution needs.
    pub fn low(&self) -> Option<usize> {
        let whole = self.threads > 1 || (0..self.levels()).any(|j| !self.handed_on(j));
        let one = (1..self.levels()).try_fold(0usize, |sum, j| sum.checked_add(self.low_rows(j, whole)?.2))?;
        if Batch::new(&self.shape, self.x, self.y).count() < self.threads {
            return Some(one);
        }
        // Several images at once use ring buffers, if they can.
        let each = (1..self.levels()).try_fold(0usize, |sum, j| sum.checked_add(self.low_rows(j, false)?.2))?;
        Some(one.max(each.checked_mul(self.threads)?))
    }

    /// Whether rows of level j go on to the next level as they are finished.
    fn handed_on(&self, j: usize) -> bool {
        let wants_last =
            |level: &Level<T::Lane>| level.down.as_ref().is_some_and(|down| down.periodic() && down.spare != (0, 0));
        !wants_last(&self.analysis[j]) && !wants_last(&self.synthesis[j])
    }

    /// Buffer of the low band that level j splits: pitch, rows held at a time, and total samples.
    fn low_rows(&self, j: usize, whole: bool) -> Option<(usize, usize, usize)> {
        let [rows, columns] = self.places[j].map(|place| place.length);
        let line = 64 / size_of::<T>();
        let pitch = match columns < 4 * line {
            // Rows that share lines of the cache cost less than several times the memory.
            true => columns,
            false => columns.checked_next_multiple_of(line)?.checked_add(line)?,
        };
        // Rows that one level leaves at a time, and those that the next has not taken yet.
        let lag = |level: &Level<T::Lane>| level.down.as_ref().map_or(0, |down| down.lag[0].max(down.lag[1]) as usize);
        let turn = 4 * ARRIVE + lag(&self.synthesis[j]);
        // In synthesis, level j - 1 waits for level j, perhaps for its last row.
        let whole = whole || !self.handed_on(j) || !self.handed_on(j - 1);
        let turn = if whole { rows } else { turn.min(rows) };
        Some((pitch, turn, pitch.checked_mul(turn)?))
    }

    /// Executes levels on all images.
    ///
    /// # Safety
    /// The views must be valid, have the problem's shape (for data, the shape of level `top`'s samples), and not
    /// overlap. `work` and `low` must have the sizes that this program asks for.
    pub unsafe fn run(
        &self,
        way: Direction,
        top: usize,
        src: RawView<T>,
        dst: RawViewMut<T>,
        work: &mut [T::Lane],
        low: &mut [T],
    ) {
        let batch = Batch::new(&self.shape, self.x, self.y);
        let (src, dst) = ((src.ptr.cast_mut(), src.strides), (dst.ptr, dst.strides));
        let ends = Shared(if way == Direction::Forward { (src, dst) } else { (dst, src) });
        let image = |index: usize| Image {
            data: self.plane(&batch, index, &ends.get().0),
            coefficients: Coefficients::Array(self.plane(&batch, index, &ends.get().1)),
        };
        // SAFETY: passed on from the caller.
        unsafe { self.images(way, top, batch.count(), &image, work, low) };
    }

    /// Whether bands may be separate arrays: only those of a single level, with all its axes.
    pub fn joins(&self) -> bool {
        self.has_all_axes && self.levels() == 1 && self.layout == Layout::Mallat
    }

    /// # Safety
    /// As for [`Program::run`], with `images` images.
    unsafe fn images(
        &self,
        way: Direction,
        top: usize,
        images: usize,
        image: &(impl Fn(usize) -> Image<T> + Sync),
        work: &mut [T::Lane],
        low: &mut [T],
    ) {
        let samples: usize = self.shape.iter().product();
        let workers = if samples < SMALL { 1 } else { self.threads };
        let worker = work.len() / self.threads;
        let shared = Shared(low.as_mut_ptr());
        // SAFETY: images are distinct, and so are the pieces of memory.
        unsafe {
            if workers == 1 {
                (0..images).for_each(|i| self.image(way, top, &image(i), &mut work[..worker], low));
            } else if images >= workers {
                let each = low.len() / self.threads;
                threads::pieces(work, worker, workers, |w, work| {
                    let low = std::slice::from_raw_parts_mut(shared.get().add(w * each), each);
                    for i in images * w / workers..images * (w + 1) / workers {
                        self.image(way, top, &image(i), work, low);
                    }
                });
            } else {
                (0..images).for_each(|i| self.together(way, top, &image(i), work, low, workers));
            }
        }
    }

    /// View of image number `index` of an array.
    fn plane(&self, batch: &Batch, index: usize, (ptr, strides): &(*mut T, Dims<isize>)) -> Plane<T> {
        let first = ptr.wrapping_offset(batch.offset(index, strides));
        Plane { first, strides: [self.y.map_or(0, |y| strides[y]), strides[self.x]] }
    }

    /// Rows of a level's bands within the coefficients, found by descending the levels.
    fn bands(&self, j: usize, image: &Image<T>) -> Grid<T> {
        let Plane { first: mut ptr, mut strides } = match image.coefficients {
            Coefficients::Array(plane) => plane,
            Coefficients::Bands(bands) => return bands,
        };
        let interleaved = self.layout == Layout::Interleaved;
        for places in &self.places[..j] {
            for (place, stride) in places.iter().zip(&mut strides) {
                if place.transformed && interleaved {
                    ptr = ptr.wrapping_offset(place.parity as isize * *stride);
                    *stride = stride.wrapping_mul(2);
                }
            }
        }
        let places = &self.places[j];
        let at = |axis: usize, high: usize| {
            let AxisBands { transformed, parity, low, .. } = places[axis];
            match (transformed, interleaved) {
                (false, _) => (0, strides[axis]),
                (true, true) => (((parity + high) % 2) as isize * strides[axis], 2 * strides[axis]),
                (true, false) => ((high * low) as isize * strides[axis], strides[axis]),
            }
        };
        [0, 1].map(|high_y| {
            [0, 1].map(|high_x| {
                let ((y, pitch), (x, step)) = (at(0, high_y), at(1, high_x));
                Rows::new(ptr.wrapping_offset(y).wrapping_offset(x), pitch, step)
            })
        })
    }

    /// Samples that level j splits (or makes): the data, or the low band of the level above.
    fn samples(&self, j: usize, top: usize, image: &Image<T>, low: *mut T, whole: bool) -> Grid<T> {
        let rows = if j == top {
            Rows::new(image.data.first, image.data.strides[0], image.data.strides[1])
        } else {
            let size = |j: usize| self.low_rows(j, whole).unwrap_or_default();
            let (pitch, turn, _) = size(j);
            let offset: usize = (top + 1..j).map(|j| size(j).2).sum();
            Rows { first: low.wrapping_add(offset), pitch: pitch as isize, step: 1, turn }
        };
        [[rows; 2]; 2]
    }

    /// Views that level j reads and writes.
    fn ends(
        &self,
        way: Direction,
        j: usize,
        top: usize,
        image: &Image<T>,
        low: *mut T,
        whole: bool,
    ) -> (Grid<T>, Grid<T>) {
        let samples = self.samples(j, top, image, low, whole);
        let mut bands = self.bands(j, image);
        if j + 1 < self.levels() {
            bands[0][0] = self.samples(j + 1, top, image, low, whole)[0][0];
        }
        match way {
            Direction::Forward => (samples, bands),
            Direction::Inverse => (bands, samples),
        }
    }

    /// Options for the fused loop of level j, if it has one that can take these views.
    fn fused(&self, way: Direction, j: usize, top: usize, from: &Grid<T>, to: &Grid<T>) -> Option<Run> {
        let mut run = self.level(way, j).fused.as_ref()?.run(from, to)?;
        let AxisBands { length: rows, .. } = self.places[top][0];
        let large = rows * self.places[top][1].length * size_of::<T>() >= LARGE;
        let (analysis, first, last) = (way == Direction::Forward, j == top, j + 1 == self.levels());
        // Data for another level stays in cache.
        run.stream = [large && last, large && (analysis || first)];
        run.fetch = first || !analysis;
        if let Some(large) = self.volume {
            (run.stream, run.fetch) = ([false, large && !analysis], large);
        }
        Some(run)
    }

    fn order(&self, way: Direction, top: usize) -> impl Iterator<Item = usize> + Clone {
        let last = self.levels();
        (top..last).map(move |i| if way == Direction::Forward { i } else { last - 1 - (i - top) })
    }

    fn level(&self, way: Direction, j: usize) -> &Level<T::Lane> {
        if way == Direction::Forward { &self.analysis[j] } else { &self.synthesis[j] }
    }

    /// Runs one image on one worker: rows pass through the levels.
    unsafe fn image(&self, way: Direction, top: usize, image: &Image<T>, work: &mut [T::Lane], low: &mut [T]) {
        let low = low.as_mut_ptr();
        let mut memory = self.memory(work);
        let mut state = [State::default(); MAX_LEVELS];
        // Made once: these are small arrays. Reading them soon after a write may wait for all earlier stores, and
        // non-temporal ones take long.
        let mut all = [const { MaybeUninit::uninit() }; MAX_LEVELS];
        let rings = memory.ring;
        let mut offset = 0;
        for j in self.order(way, top) {
            let level = self.level(way, j);
            let chunk = level_whole(level);
            let (from, to) = all[j].write(self.ends(way, j, top, image, low, false));
            let run = self.fused(way, j, top, from, to);
            let (front, end) = (level.start(&chunk, run.as_ref()), level.end(&chunk, run.as_ref()));
            state[j] = State { chunk, run, front, end, ring: offset };
            offset += level.ring().unwrap_or(0).next_multiple_of(64);
        }
        // The last level that can advance does. So rows are taken as soon as they are ready, and few are in flight.
        while let Some(j) = self.next(way, top, &state) {
            let level = self.level(way, j);
            let State { chunk, run, front, ring, .. } = &state[j];
            memory.ring = rings.wrapping_add(*ring);
            // SAFETY: by the caller's promise; the entry of level j is initialised above.
            unsafe {
                let (from, to) = all[j].assume_init_ref();
                level.arrive(chunk, *front, from, to, &memory, run.as_ref());
            }
            state[j].front += ARRIVE as isize;
        }
        fused::fence();
    }

    /// The last unfinished level whose next rows are ready.
    fn next(&self, way: Direction, top: usize, state: &[State; MAX_LEVELS]) -> Option<usize> {
        let mut next = None;
        // The previous level that is not empty.
        let mut before: Option<usize> = None;
        for j in self.order(way, top) {
            let level = self.level(way, j);
            if level.height == 0 || level.width == 0 {
                continue;
            }
            let available = before.map(|b| {
                let (even, all) = self.level(way, b).left(state[b].front, state[b].run.as_ref());
                let ready = state[b].front >= state[b].end;
                // Analysis hands on its low band, synthesis all its results.
                (ready, if way == Direction::Forward { even } else { all })
            });
            if state[j].front < state[j].end && can_go_on(level, &state[j], available) {
                next = Some(j);
            }
            before = Some(j);
        }
        next
    }

    /// Runs one image on all workers: level after level, in chunks.
    unsafe fn together(
        &self,
        way: Direction,
        top: usize,
        image: &Image<T>,
        work: &mut [T::Lane],
        low: &mut [T],
        workers: usize,
    ) {
        let low = low.as_mut_ptr();
        let piece = work.len() / self.threads;
        for j in self.order(way, top) {
            let level = self.level(way, j);
            if level.height == 0 || level.width == 0 {
                continue;
            }
            let (from, to) = self.ends(way, j, top, image, low, true);
            let run = self.fused(way, j, top, &from, &to);
            let share = |chunk: &Chunk, work: &mut [T::Lane]| {
                let (from, to, run) = (from, to, run.as_ref());
                let memory = self.memory(work);
                let mut front = level.start(chunk, run);
                while front < level.end(chunk, run) {
                    // SAFETY: by the caller's promise, and chunks are distinct.
                    unsafe { level.arrive(chunk, front, &from, &to, &memory, run) };
                    front += ARRIVE as isize;
                }
                fused::fence();
            };
            if level.height * level.width < SMALL {
                share(&level_whole(level), &mut work[..piece]);
            } else {
                threads::pieces(work, piece, workers, |w, work| {
                    if let Some(chunk) = level_chunk(level, w, workers) {
                        share(&chunk, work);
                    }
                });
            }
        }
    }

    /// Splits a worker's memory into its parts.
    fn memory(&self, work: &mut [T::Lane]) -> Memory<T::Lane> {
        let line = 64 / size_of::<T::Lane>();
        let skip = work.as_ptr().align_offset(64).min(line);
        let staging = self.staging.next_multiple_of(64);
        let work = &mut work[skip..];
        // An earlier run in this workspace may have left other values.
        work[..staging].fill(T::Lane::default());
        let ptr = work.as_mut_ptr();
        Memory {
            zeros: ptr,
            staging: [ptr.wrapping_add(staging), ptr.wrapping_add(2 * staging)],
            staging_len: staging,
            copy: ptr.wrapping_add(3 * staging),
            copy_len: self.copy,
            ring: ptr.wrapping_add(3 * staging + self.copy),
        }
    }
}

/// For a program that [`joins`](Program::joins).
impl<T: Sample> Joins<T> for Program<T> {
    unsafe fn join(&self, bands: &[RawView<T>], dst: RawViewMut<T>, workspace: &mut Workspace<T>) {
        let batch = Batch::new(&self.shape, self.x, self.y);
        let [down, across] = self.places[0].map(|place| place.transformed as usize);
        let ends = Shared((bands, (dst.ptr, dst.strides)));
        let image = |index: usize| {
            let rows = |high_y: usize, high_x: usize| {
                let band = ends.get().0[((high_y * down) << across) + high_x * across];
                let plane = self.plane(&batch, index, &(band.ptr.cast_mut(), band.strides));
                Rows::new(plane.first, plane.strides[0], plane.strides[1])
            };
            let bands = [0, 1].map(|y| [0, 1].map(|x| rows(y, x)));
            Image { data: self.plane(&batch, index, &ends.get().1), coefficients: Coefficients::Bands(bands) }
        };
        let Workspace { lines, low, .. } = workspace;
        // SAFETY: passed on from the caller.
        unsafe { self.images(Direction::Inverse, 0, batch.count(), &image, lines, low) };
    }
}

/// Progress of a level.
#[derive(Clone, Copy)]
struct State {
    chunk: Chunk,
    run: Option<Run>,
    front: isize,
    end: isize,
    ring: usize,
}

impl Default for State {
    fn default() -> State {
        State { chunk: Chunk { rows: (0, 0), blocks: (0, 0) }, run: None, front: 0, end: 0, ring: 0 }
    }
}

/// Whether an axis is a single sample that stays in the low band at all levels, where no step changes it.
fn is_kept(geometry: &Geometry) -> impl Fn(usize) -> bool {
    let is_even = move |axis: usize, j: u32| geometry.level_origins(j)[axis] % 2 == 0;
    move |axis| geometry.shape()[axis] == 1 && (0..geometry.levels()[axis]).all(|j| is_even(axis, j))
}

fn level_whole<W: crate::sample::Arithmetic>(level: &Level<W>) -> Chunk {
    Chunk { rows: (0, level.height as isize), blocks: (0, level.blocks()) }
}

/// Share of a worker: rows if there are enough, else columns.
fn level_chunk<W: crate::sample::Arithmetic>(level: &Level<W>, worker: usize, workers: usize) -> Option<Chunk> {
    let cut = |n: usize, w: usize| n / 2 * w / workers * 2;
    let Chunk { mut rows, mut blocks } = level_whole(level);
    if level.down.is_some() || level.height >= workers {
        let end = if worker + 1 == workers { level.height } else { cut(level.height, worker + 1) };
        rows = (cut(level.height, worker) as isize, end as isize);
    } else {
        blocks = (level.blocks() * worker / workers, level.blocks() * (worker + 1) / workers);
    }
    (rows.0 < rows.1 && blocks.0 < blocks.1).then_some(Chunk { rows, blocks })
}

/// Whether the next rows of a level are ready.
fn can_go_on<W: crate::sample::Arithmetic>(level: &Level<W>, state: &State, available: Option<(bool, usize)>) -> bool {
    let Some((all, rows)) = available else { return true };
    all || level.needs(&state.chunk, state.front, state.run.as_ref()).is_some_and(|needed| needed <= rows)
}

/// An image (or line) and its coefficients.
struct Image<T> {
    data: Plane<T>,
    coefficients: Coefficients<T>,
}

/// A plane of samples.
#[derive(Clone, Copy)]
struct Plane<T> {
    first: *mut T,
    /// Strides along columns and rows.
    strides: [isize; 2],
}

/// Coefficients of an image: one array, or separate bands of a single level.
enum Coefficients<T> {
    Array(Plane<T>),
    Bands(Grid<T>),
}

/// The axes of a batch.
struct Batch {
    lengths: Dims<usize>,
    rank: usize,
}

impl Batch {
    fn new(shape: &[usize], x: usize, y: Option<usize>) -> Batch {
        let mut lengths = [1; MAX_RANK];
        for (axis, length) in shape.iter().enumerate() {
            if axis != x && Some(axis) != y {
                lengths[axis] = *length;
            }
        }
        Batch { lengths, rank: shape.len() }
    }

    fn count(&self) -> usize {
        self.lengths.iter().product()
    }

    fn offset(&self, mut index: usize, strides: &Dims<isize>) -> isize {
        let mut offset = 0;
        for axis in (0..self.rank).rev() {
            offset += (index % self.lengths[axis]) as isize * strides[axis];
            index /= self.lengths[axis];
        }
        offset
    }
}
