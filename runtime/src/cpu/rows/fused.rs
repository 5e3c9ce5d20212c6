//! Levels whose steps along rows and columns run as one loop, in registers.
//!
//! The crate `lifting-loops` has the loops and explains them. This module decides which loop fits a level, where rows
//! come from and go to (four at a time), and which stores bypass the caches. All other levels go row by row (`ops`).

use super::axis::{Axis, Kind, Lift, Step};
use super::view::{Grid, Rows};
use crate::cpu::isa;
use crate::sample::Arithmetic;
use lifting_dsl::RoundingMode;
pub(super) use lifting_loops::{Along, fence, fetch};
use lifting_loops::{Edges, Event, Isa, Level, Loop, MAX_STEPS, ROWS, Steps, Sum, Term, Wanted, Weights, find};
use std::any::Any;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Part of a level to execute: results y0..y1, and blocks of columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub rows: (isize, isize),
    pub blocks: (usize, usize),
}

/// A level executed by one fused loop.
#[derive(Clone, Debug)]
pub(super) struct Fused {
    loops: Loop,
    level: Level,
    analysis: bool,
    /// Axes that the loop lifts along.
    along: Along,
    /// Phase of the rows that the first step updates.
    phase: usize,
    /// Phase of the rows that the last step updates.
    last: usize,
    /// Bytes of a sample in memory.
    size: usize,
}

/// Run-time options of a level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// Lanes before the first result of a row.
    skip: usize,
    /// Whether results use non-temporal stores: samples low along both axes, and others.
    pub stream: [bool; 2],
    /// Whether rows are prefetched.
    pub fetch: bool,
}

impl Fused {
    /// Returns `None` if no loop fits samples `T`. `rows_first` is the order of analysis.
    pub fn new<T: 'static, W: Arithmetic>(
        isa: Isa,
        analysis: bool,
        across: &Axis<W>,
        down: Option<&Axis<W>>,
        rows_first: bool,
    ) -> Option<Fused> {
        // Both axes have the same steps, unless an axis is too short to be lifted.
        if down.is_some_and(|down| down.steps.len() != across.steps.len()) {
            return None;
        }
        let along = match (down, rows_first) {
            (None, _) => Along::Rows,
            (Some(_), true) => Along::Both,
            (Some(_), false) => Along::ColumnsFirst,
        };
        let in_pairs = in_pairs(across) && down.is_none_or(in_pairs);
        Fused::with::<T, W>(isa, analysis, across, along, in_pairs)
    }

    /// Finds the loop for one axis, along rows or along columns.
    pub fn along<T: 'static, W: Arithmetic>(isa: Isa, analysis: bool, axis: &Axis<W>, along: Along) -> Option<Fused> {
        Fused::with::<T, W>(isa, analysis, axis, along, in_pairs(axis))
    }

    /// `in_pairs`: no sample depends on those beyond a border.
    fn with<T: 'static, W: Arithmetic>(
        isa: Isa,
        analysis: bool,
        across: &Axis<W>,
        along: Along,
        in_pairs: bool,
    ) -> Option<Fused> {
        let (mut steps, mut sums) = (Vec::new(), Vec::new());
        for step in &across.steps {
            let Kind::Lift(lift) = &step.kind else { return None };
            steps.push(weights(lift, &step.taps));
            sums.extend(sum(lift, &step.taps));
        }
        let steps = steps.into_iter().collect::<Option<Vec<_>>>().filter(|steps| steps.len() <= MAX_STEPS);
        let steps = steps.unwrap_or_default();
        let long = Steps::new(&sums).filter(|_| sums.len() == across.steps.len());
        let sides = steps.iter().map(Weights::sides).max().unwrap_or(0);
        let target = across.steps.first()?.target;
        let alternate = across.steps.iter().enumerate().all(|(k, step)| step.target == (target + k) % 2);
        let symmetric = match steps.is_empty() {
            true => sums.iter().all(is_symmetric),
            false => steps.iter().all(Weights::symmetric),
        };
        if !alternate || !(in_pairs || across.boundary.is_kept(symmetric)) || across.doubled_ends {
            return None;
        }
        let count = across.steps.len();
        // Analysis: results of the last step, and the others. Synthesis: targets of the first step, and the others.
        let first = if analysis { (target + count - 1) % 2 } else { target };
        let last = (target + count - 1) % 2;
        let (factors, none) = match analysis {
            true => (across.after, across.before),
            false => (across.before, across.after),
        };
        // Loops of integers have no factors.
        if none != [None; 2] || !W::REAL && factors != [None; 2] {
            return None;
        }
        let wanted = Wanted { steps: &steps, long: long.as_ref(), sides, analysis, n: across.n, along };
        let loops = find::<T>(isa, wanted)?;
        let factor = |phase: usize| factors[phase].map_or(Some(1.0), |factor| number::<W>(&factor));
        let place = |i: isize| {
            let i = if in_pairs { i.rem_euclid(across.n as isize) } else { across.inside(i)? };
            Some(if analysis { i as usize } else { across.index(i) as usize })
        };
        let reach = 1..=loops.reach as isize;
        let left = reach.clone().map(|i| place(-i)).collect::<Option<Vec<_>>>()?;
        let right = reach.map(|i| place(across.n as isize - 1 + i)).collect::<Option<Vec<_>>>()?;
        let (n, late) = (across.n, across.phase(0) != last);
        let mut edges = [Edges::default(), Edges::default()];
        if loops.picks && along != Along::Columns {
            let beyond = |at: isize| match usize::try_from(at) {
                Ok(at) => right.get(at.checked_sub(n)?).copied(),
                Err(_) => left.get((-1 - at) as usize).copied(),
            };
            let around = loops.around();
            let [lanes, bytes] = [loops.lanes, size_of::<W>()];
            for (band, edges) in edges.iter_mut().enumerate() {
                // Sample at which the band begins.
                let zero = (loops.back + late as usize + band) % 2;
                *edges = match analysis {
                    true => Edges::new(lanes, bytes, n, around, beyond)?,
                    false => Edges::new(lanes, bytes, (n + 1 - zero) / 2, around, |t| beyond(2 * t + zero as isize))?,
                };
            }
        }
        let mut all = [Weights::default(); MAX_STEPS];
        all[..steps.len()].copy_from_slice(&steps);
        let (long, factors) = (long.unwrap_or_default(), [factor(first)?, factor(1 - first)?]);
        let level = Level { steps: all, long, factors, n, late, left, right, edges };
        Some(Fused { loops, level, analysis, along, phase: target, last, size: size_of::<T>() })
    }

    /// Whether register stores from `start` on fill cache lines in quick succession. Non-temporal stores of smaller
    /// parts cost more than stores through the caches. Synthesis along rows stores two registers at once. Otherwise
    /// the halves of a line are a register of columns apart, which AMD's processors combine and Intel's do not.
    fn can_stream(&self, start: usize) -> bool {
        let register = self.loops.lanes * self.size;
        let halves = !self.analysis && self.along != Along::Columns || isa::combines_half_lines();
        let least = if halves { LINE / 2 } else { LINE };
        register >= least && start.is_multiple_of(register)
    }

    /// Memory needed, in samples of the work type: buffers for the ends of rows and, if columns are lifted, a scratch
    /// row and the delayed state.
    pub fn memory<W>(&self) -> Option<usize> {
        let ends = self.loops.buffers / size_of::<W>();
        if self.along == Along::Rows {
            return Some(ends);
        }
        let state = self.loops.state.checked_mul(self.loops.lanes)?;
        ends.checked_add(self.level.n + 256)?.checked_add(state)
    }

    /// First arriving rows of a chunk.
    pub fn start<W: Arithmetic>(&self, down: &Axis<W>, chunk: &Chunk) -> isize {
        let first = chunk.rows.0 - self.loops.reach as isize;
        first - (down.phase(first) != self.phase) as isize
    }

    /// Row after which row 0 leaves, by phase.
    pub fn lag(&self) -> [isize; 2] {
        let back = self.loops.back as isize;
        // One more for results of the last step: it updates the row before the others.
        [back + (self.last == 0) as isize, back + (self.last == 1) as isize]
    }

    /// The last row of the next group to arrive.
    pub fn needs<W: Arithmetic>(&self, down: &Axis<W>, front: isize) -> isize {
        (front..front + ROWS as isize).filter_map(|row| down.inside(row)).max().unwrap_or(0)
    }

    /// Options of a run over these rows; `None` if the loop cannot access them.
    pub fn run<S, D>(&self, from: &Grid<S>, to: &Grid<D>) -> Option<Run> {
        let plain = |step: isize| step == 1;
        let bands = if self.analysis { 1 } else { 2 };
        let read = from.iter().take(bands).flat_map(|rows| rows.iter().take(bands)).all(|rows| plain(rows.step));
        let bands = 3 - bands;
        let written = to.iter().take(bands).flat_map(|rows| rows.iter().take(bands)).all(|rows| plain(rows.step));
        if !read || !written {
            return None;
        }
        // High rows are final: align to their memory.
        let at = to[bands - 1][0].first as usize / self.size % (self.loops.lanes * (3 - bands));
        Some(Run { skip: if self.analysis { at } else { at / 2 }, ..Run::default() })
    }

    /// Takes the rows from `front` on.
    ///
    /// # Safety
    /// As for [`Level::arrive`](super::level::Level::arrive). `memory` has the size that this level asks for, and
    /// begins at a cache line.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn arrive<W: Arithmetic, S, D>(
        &self,
        run: &Run,
        down: &Axis<W>,
        chunk: &Chunk,
        front: isize,
        from: &Grid<S>,
        to: &Grid<D>,
        memory: *mut W,
    ) {
        let Fused { loops, analysis, size, last, .. } = self;
        let buffers: *mut u8 = memory.cast();
        // Unwanted results go to a scratch row with the same alignment.
        let lead = run.skip * size * if *analysis { 1 } else { 2 };
        let nowhere = buffers.wrapping_add(loops.buffers + lead);
        let state = buffers.wrapping_add(loops.buffers + (self.level.n + 256) / 64 * 64 * size_of::<W>());
        // Synthesis puts the band that the first step updates first; analysis, the band of the last step.
        let arriving = |front: isize, rows: &mut [[*const u8; 2]; ROWS]| {
            for (row, bands) in (front..).zip(rows) {
                let row = down.inside(row).unwrap_or(0);
                if *analysis {
                    bands[0] = from[0][0].at(row, 0).cast_const().cast();
                    bands[1] = bands[0];
                    continue;
                }
                let (from, index) = (&from[down.phase(row)], down.index(row));
                bands[0] = from[self.phase].at(index, 0).cast_const().cast();
                bands[1] = from[1 - self.phase].at(index, 0).cast_const().cast();
            }
        };
        // Filled in place. A copy would read fresh data wider than it was written; that stalls until all earlier
        // stores, some to memory, have finished.
        let mut event = Event {
            from: [[std::ptr::null(); 2]; ROWS],
            next: [[std::ptr::null(); 2]; ROWS],
            fetch: run.fetch,
            to: [[nowhere; 2]; ROWS],
            stream: [[false; 2]; 2],
            buffers,
            state,
            skip: run.skip,
            range: (0, usize::MAX),
        };
        arriving(front, &mut event.from);
        if run.fetch {
            arriving(front + ROWS as isize, &mut event.next);
        }
        for (row, bands) in (front - loops.back as isize..).zip(&mut event.to) {
            if !(chunk.rows.0..chunk.rows.1).contains(&row) {
                continue;
            }
            if *analysis {
                let (to, index) = (&to[down.phase(row)], down.index(row));
                bands[0] = to[*last].at(index, 0).cast();
                bands[1] = to[1 - last].at(index, 0).cast();
            } else {
                bands[0] = to[0][0].at(row, 0).cast();
                bands[1] = bands[0];
            }
        }
        let aligned = |to: *mut u8| self.can_stream((to as usize).wrapping_sub(lead));
        for row in 0..2 {
            for band in 0..2 {
                let low = *analysis && (last + row) % 2 == 0 && (last + band) % 2 == 0;
                let both = aligned(event.to[row][band]) && aligned(event.to[row + 2][band]);
                event.stream[row][band] = run.stream[!low as usize] && both;
            }
        }
        // SAFETY: passed on from the caller.
        unsafe { (loops.kernel)(&self.level, &event) }
    }
}

impl Fused {
    /// Transforms one row, or the blocks `begin..end` of its `blocks`.
    ///
    /// # Safety
    /// As for [`Fused::arrive`].
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn line<W, S, D>(
        &self,
        run: &Run,
        (begin, end): (usize, usize),
        blocks: usize,
        row: isize,
        from: &[Rows<S>; 2],
        to: &[Rows<D>; 2],
        memory: *mut W,
    ) {
        let Fused { loops, analysis, size, last, phase, level, .. } = self;
        let registers = (level.n.div_ceil(2) + run.skip).div_ceil(loops.lanes);
        let read = |band: usize| from[band].at(row, 0).cast_const().cast();
        let write = |band: usize| -> *mut u8 { to[band].at(row, 0).cast() };
        let (from, to) = match analysis {
            true => ([read(0); 2], [write(*last), write(1 - last)]),
            false => ([read(*phase), read(1 - phase)], [write(0); 2]),
        };
        let lead = run.skip * size * if *analysis { 1 } else { 2 };
        let mut stream = [false; 2];
        for (band, stream) in stream.iter_mut().enumerate() {
            let low = *analysis && (last + band) % 2 == 0;
            let aligned = self.can_stream((to[band] as usize).wrapping_sub(lead));
            *stream = run.stream[!low as usize] && aligned;
        }
        let event = Event {
            from: [from; ROWS],
            next: [[std::ptr::null(); 2]; ROWS],
            fetch: false,
            to: [to; ROWS],
            stream: [stream; 2],
            buffers: memory.cast(),
            state: memory.cast(),
            skip: run.skip,
            range: (registers * begin / blocks, registers * end / blocks),
        };
        // SAFETY: passed on from the caller.
        unsafe { (loops.kernel)(level, &event) }
    }
}

impl Fused {
    /// Work-type samples of row buffers along columns, and of the delayed state.
    pub fn columns_memory(&self, samples: usize) -> Option<(usize, usize)> {
        let nowhere = samples.checked_add(256)? / 64 * 64;
        Some((nowhere, (samples / self.loops.lanes + 4).checked_mul(self.loops.state * self.loops.lanes)?))
    }

    /// Lanes before the first sample of a row at that address.
    pub fn skip<D>(&self, to: *mut D) -> usize {
        to as usize / self.size % self.loops.lanes
    }

    /// Rows on either side that a result depends on.
    pub fn reach(&self) -> isize {
        self.loops.reach as isize
    }

    /// Row `front + r − back` is result `r`.
    pub fn back(&self) -> isize {
        self.loops.back as isize
    }

    /// Lifts four rows along columns: samples `0..count`. Returns the length of the delayed state.
    ///
    /// # Safety
    /// Rows and memory must be valid for `count` samples. `skip` must be the same for all rows that are lifted
    /// together. Results that are `None` are not stored.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn columns<W, S>(
        &self,
        from: [*const S; ROWS],
        to: [Option<*mut S>; ROWS],
        count: usize,
        skip: usize,
        stream: [bool; 2],
        nowhere: *mut W,
        state: *mut W,
    ) -> usize {
        let Fused { loops, level, size, .. } = self;
        let lead = skip * size;
        let mut event = Event {
            from: [[std::ptr::null(); 2]; ROWS],
            next: [[std::ptr::null(); 2]; ROWS],
            fetch: false,
            to: [[nowhere.cast::<u8>().wrapping_add(lead); 2]; ROWS],
            stream: [[stream[0]; 2], [stream[1]; 2]],
            buffers: nowhere.cast(),
            state: state.cast(),
            skip,
            range: (0, count),
        };
        for r in 0..ROWS {
            event.from[r][0] = from[r].cast();
            if let Some(to) = to[r] {
                event.to[r][0] = to.cast();
            }
            let start = (event.to[r][0] as usize).wrapping_sub(lead);
            event.stream[r % 2][0] &= self.can_stream(start);
        }
        // SAFETY: passed on from the caller.
        unsafe { (loops.kernel)(level, &event) };
        (count + skip).div_ceil(loops.lanes) * loops.state * loops.lanes
    }
}

/// Whether each step reads the other sample of its pair only, and no border cuts a pair.
fn in_pairs<W: Arithmetic>(axis: &Axis<W>) -> bool {
    let reads_other = |step: &Step<W>| step.taps[..] == [if step.target == 1 { -1 } else { 1 }];
    axis.parity == 0 && axis.n.is_multiple_of(2) && axis.steps.iter().all(reads_other)
}

/// A real or integer weight as f64.
fn number<W: Arithmetic>(weight: &W::Acc) -> Option<f64> {
    let weight: &dyn Any = weight;
    let real = weight.downcast_ref::<f64>().copied().or_else(|| weight.downcast_ref().map(|&x: &f32| f64::from(x)));
    let whole = || weight.downcast_ref().copied().or_else(|| i32::try_from(*weight.downcast_ref::<i64>()?).ok());
    real.or_else(|| whole().map(|x: i32| f64::from(x)))
}

/// A step of reals as a sum of terms.
fn sum<W: Arithmetic>(lift: &Lift<W>, taps: &[isize]) -> Option<Sum> {
    let mut at = 0;
    let term = |&(weight, count): &(W::Acc, usize)| {
        let weight = number::<W>(&weight)?;
        at += count;
        let offsets = taps[at - count..at].to_vec();
        Some(Term { weight: if lift.subtract { -weight } else { weight }, offsets })
    };
    if W::REAL { lift.groups.iter().map(term).collect() } else { None }
}

/// Whether a step commutes with reflection, its order of additions included.
fn is_symmetric(sum: &Sum) -> bool {
    let mirrored = |term: &Term| matches!(term.offsets[..], [l, r] if l == -r);
    match &sum[..] {
        [Term { weight: v, offsets: a }, Term { weight: w, offsets: b }] if a.len() == 1 && b.len() == 1 => {
            v == w && a[0] == -b[0]
        }
        terms => terms.iter().all(mirrored),
    }
}

/// Weights of a step; `None` if the loops lack its sums.
fn weights<W: Arithmetic>(lift: &Lift<W>, taps: &[isize]) -> Option<Weights> {
    if lift.mode != RoundingMode::Floor {
        return None;
    }
    let mut weights = Weights {
        rounding: number::<W>(&lift.rounding)?,
        shift: lift.shift,
        subtract: lift.subtract && !W::REAL,
        summed: matches!(lift.groups[..], [(_, 2)]),
        ..Weights::default()
    };
    let mut at = 0;
    for (weight, count) in &lift.groups {
        let weight = number::<W>(weight)?;
        let weight = if W::REAL && lift.subtract { -weight } else { weight };
        for tap in &taps[at..at + count] {
            let side = (tap.unsigned_abs() - 1) / 2;
            let to = weights.weights.get_mut(side)?.get_mut((*tap > 0) as usize)?;
            // Taps must be distinct: otherwise several weights apply to one sample.
            if to.replace(weight).is_some() {
                return None;
            }
        }
        at += count;
    }
    let sides = weights.sides();
    let fits = match W::REAL {
        // Sums of reals have an order: loops exist for one pair and for two products.
        true => sides == 1 && (weights.summed || lift.groups.iter().all(|group| group.1 == 1)),
        // 16-bit products are summed in 32 bits; all others in the samples' own width.
        false if size_of::<W>() > 2 => lift.shift < 32,
        false => lift.shift <= 16 && weights.weights.as_flattened().iter().flatten().all(|w| w.abs() < 32768.0),
    };
    (fits && sides > 0).then_some(weights)
}
