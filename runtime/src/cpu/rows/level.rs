//! A level: rows arrive, are lifted along both axes while in cache, and leave.
//!
//! rewrite: "the steps along rows, for all rows; then the steps along columns, for all columns" → one pass over the
//! rows. Rows arrive a few at a time. Each is lifted along its length as it arrives (or as it leaves, if the columns
//! come first). It stays in a ring buffer as long as a vertical step may read it or has yet to update it. After the
//! rows, each vertical step updates the rows that are due: those behind the last row by the lag that `Axis` derives
//! from the supports. Finished rows leave. The work goes block by block of columns, so a block of all rows in the ring
//! stays in the L1 cache.

use super::across::{Copied, Window, capacity};
use super::axis::{Axis, Kind, MAX_TAPS};
use super::fused::{Chunk, Fused, Run};
use super::ops;
use super::view::{Grid, Rows, Staging};
use crate::sample::{Arithmetic, Stored};
use lifting_loops::Isa;

/// Bytes of a row in a block.
const BLOCK: usize = 2048;

/// Rows that arrive together.
pub(super) const ARRIVE: usize = 4;

/// A level in one direction.
#[derive(Clone, Debug)]
pub(super) struct Level<W: Arithmetic> {
    pub isa: Isa,
    pub analysis: bool,
    pub height: usize,
    pub width: usize,
    /// Steps along rows.
    pub across: Option<Axis<W>>,
    /// Steps along columns.
    pub down: Option<Axis<W>>,
    /// Whether rows are lifted along their length before the columns.
    pub across_first: bool,
    /// Left shift in bits on arrival, and right shift on leaving.
    pub gain: (u32, u32),
    /// The fused loop, if one fits.
    pub fused: Option<Fused>,
}

/// Memory of a level in execution.
#[derive(Debug)]
pub(super) struct Memory<W> {
    pub ring: *mut W,
    /// Two phases of a window.
    pub copy: *mut W,
    pub copy_len: usize,
    pub zeros: *const W,
    pub staging: [*mut W; 2],
    pub staging_len: usize,
}

/// A run of samples in a block of a row in the ring: offset and length.
type Part = (usize, usize);

impl<W: Arithmetic> Level<W> {
    /// Results of a block along rows.
    fn block(&self) -> usize {
        BLOCK / size_of::<W>()
    }

    pub fn blocks(&self) -> usize {
        self.width.div_ceil(self.block())
    }

    /// Whether rows are split into phases on arrival and stay split.
    fn split_early(&self) -> bool {
        self.analysis && self.across_first && self.across.is_some()
    }

    /// Rows in the ring.
    fn slots(&self) -> usize {
        self.down.as_ref().map_or(0, |down| match down.periodic() {
            true => down.kept + ARRIVE,
            // Rows beyond a border are not copied: no more of them are kept than there are.
            false => down.kept.min(self.height) + ARRIVE,
        })
    }

    /// Upper bound on the even (odd) samples of a window.
    fn capacity(&self) -> usize {
        self.across.as_ref().map_or(0, |across| capacity(across, self.block().min(self.width)))
    }

    /// Row length of a ring that holds whole rows, and the start of its high band.
    fn pitch(&self) -> (usize, usize) {
        let low = match &self.across {
            Some(across) if !self.analysis && !self.across_first => across.bands()[0].next_multiple_of(64),
            _ => 0,
        };
        // Padding puts successive rows into different cache sets.
        let line = 64 / size_of::<W>();
        ((low + self.width).next_multiple_of(line) + 33 * line, low)
    }

    /// The fused loop, if this run takes it.
    fn fused(&self, run: Option<&Run>) -> Option<(&Fused, &Axis<W>)> {
        run.and(self.fused.as_ref()).zip(self.down.as_ref())
    }

    /// Samples of the ring.
    pub fn ring(&self) -> Option<usize> {
        let ring = if self.split_early() {
            self.blocks().checked_mul(self.slots())?.checked_mul(2 * self.capacity())?
        } else {
            self.slots().checked_mul(self.pitch().0)?
        };
        self.fused.as_ref().map_or(Some(0), |fused| fused.memory::<W>()).map(|memory| memory.max(ring))
    }

    /// Samples of a copied window, and of a staging buffer.
    pub fn scratch(&self) -> (usize, usize) {
        (2 * self.capacity(), (2 * self.capacity()).max(self.block()))
    }

    /// Row after which row 0 leaves, by phase.
    fn lag(&self, run: Option<&Run>) -> [isize; 2] {
        match self.fused(run) {
            Some((fused, _)) => fused.lag(),
            None => self.down.as_ref().map_or([0; 2], |down| down.lag),
        }
    }

    /// Rows after which the last result leaves.
    pub fn end(&self, chunk: &Chunk, run: Option<&Run>) -> isize {
        let [even, odd] = self.lag(run);
        chunk.rows.1 + even.max(odd)
    }

    /// The first row that arrives.
    pub fn start(&self, chunk: &Chunk, run: Option<&Run>) -> isize {
        match self.fused(run) {
            Some((fused, down)) => fused.start(down, chunk),
            None => self.arriving(chunk).0,
        }
    }

    /// The rows that the results of a chunk depend on.
    fn arriving(&self, chunk: &Chunk) -> (isize, isize) {
        self.down.as_ref().map_or(chunk.rows, |down| down.widen(chunk.rows, down.spare))
    }

    /// Rows (of the low band, in synthesis) that must be ready before those from `front` on arrive; `None`: all.
    pub fn needs(&self, chunk: &Chunk, front: isize, run: Option<&Run>) -> Option<usize> {
        let next = match self.fused(run) {
            Some((fused, down)) => fused.needs(down, front) + 1,
            None => {
                let (first, end) = self.arriving(chunk);
                if first < 0 || end > self.height as isize {
                    return None;
                }
                (front + ARRIVE as isize).min(end)
            }
        };
        Some(match &self.down {
            Some(down) if !self.analysis => down.index(down.align(next, 0)) as usize,
            _ => next as usize,
        })
    }

    /// Rows that have left once `front` rows have arrived: of phase 0, and of both.
    pub fn left(&self, front: isize, run: Option<&Run>) -> (usize, usize) {
        let Some(down) = &self.down else {
            let rows = front.clamp(0, self.height as isize) as usize;
            return (rows, rows);
        };
        let [even, odd] = self.lag(run);
        let left = |lag: isize| (front - lag).clamp(0, self.height as isize);
        let (even, odd) = (left(even), left(odd));
        (down.index(down.align(even, 0)) as usize, even.min(odd) as usize)
    }

    /// Takes the rows from `front` on; finished rows leave.
    ///
    /// # Safety
    /// The samples that the chunk reads and writes in `from` and `to` must be valid, and no other worker may touch
    /// those it writes. The memory must have the sizes that this level asks for. `front` begins at the chunk's first
    /// arriving row and advances by [`ARRIVE`].
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn arrive<S: Stored<W>, D: Stored<W>>(
        &self,
        chunk: &Chunk,
        front: isize,
        from: &Grid<S>,
        to: &Grid<D>,
        memory: &Memory<W>,
        run: Option<&Run>,
    ) {
        if let (Some(run), Some((fused, down))) = (run, self.fused(run)) {
            // SAFETY: passed on from the caller.
            return unsafe { fused.arrive(run, down, chunk, front, from, to, memory.ring) };
        }
        let work = Work { level: self, chunk, from, to, memory };
        // SAFETY: passed on from the caller.
        unsafe {
            match &self.down {
                Some(down) => work.event(down, front),
                None => {
                    let to = (front + ARRIVE as isize).min(chunk.rows.1);
                    for row in front.max(chunk.rows.0)..to {
                        if let (Some(run), Some(fused)) = (run, &self.fused) {
                            let (from, to, ring) = (&work.from[0], &work.to[0], memory.ring);
                            fused.line(run, chunk.blocks, self.blocks(), row, from, to, ring);
                            continue;
                        }
                        for block in chunk.blocks.0..chunk.blocks.1 {
                            work.alone(row, block);
                        }
                    }
                }
            }
        }
    }
}

struct Work<'a, W: Arithmetic, S, D> {
    level: &'a Level<W>,
    chunk: &'a Chunk,
    from: &'a Grid<S>,
    to: &'a Grid<D>,
    memory: &'a Memory<W>,
}

impl<W: Arithmetic, S: Stored<W>, D: Stored<W>> Work<'_, W, S, D> {
    /// Columns of a block.
    fn columns(&self, block: usize) -> (isize, isize) {
        let size = self.level.block();
        ((block * size) as isize, ((block + 1) * size).min(self.level.width) as isize)
    }

    fn staging(&self, which: usize) -> Staging<W> {
        Staging { ptr: self.memory.staging[which], len: self.memory.staging_len }
    }

    /// Memory for the copy of a window.
    ///
    /// # Safety
    /// Only one borrow may exist at a time.
    #[expect(clippy::mut_from_ref, reason = "the memory is held by pointer, not borrowed")]
    unsafe fn copy(&self) -> &mut [W] {
        // SAFETY: by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.memory.copy, self.memory.copy_len) }
    }

    /// Address of row `row` in the ring, in blocks (if rows are split early) or whole.
    fn slot(&self, row: isize, block: usize) -> *mut W {
        let slots = self.level.slots();
        let slot = row.rem_euclid(slots as isize) as usize;
        let offset = match self.level.split_early() {
            true => (block * slots + slot) * 2 * self.level.capacity(),
            false => slot * self.level.pitch().0,
        };
        self.memory.ring.wrapping_add(offset)
    }

    /// View of whole rows in the ring, from `offset` on.
    fn ring(&self, offset: usize) -> Rows<W> {
        let first = self.memory.ring.wrapping_add(offset);
        Rows { first, pitch: self.level.pitch().0 as isize, step: 1, turn: self.level.slots() }
    }

    /// Runs of samples that vertical steps update in a block of a ring row.
    fn runs(&self, block: usize) -> [Part; 2] {
        let (from, to) = self.columns(block);
        let level = self.level;
        match &level.across {
            Some(across) if level.split_early() => {
                let window = Window::new(across, from, to);
                let (even, odd) = (window.results(across, 0), window.results(across, 1));
                [even, (level.capacity() + odd.0, odd.1)]
            }
            Some(across) if !level.analysis && !level.across_first => {
                let run = |phase: usize| {
                    let first = across.align(from, phase);
                    let count = ((to - first).max(0) as usize).div_ceil(2);
                    (phase * level.pitch().1 + across.index(first) as usize, count)
                };
                [run(0), run(1)]
            }
            _ => [(from as usize, (to - from) as usize), (0, 0)],
        }
    }

    unsafe fn event(&self, down: &Axis<W>, front: isize) {
        let (level, chunk) = (self.level, self.chunk);
        let next = front + ARRIVE as isize;
        let (first, end) = level.arriving(chunk);
        let arriving = front.max(first)..next.min(end);
        // Columns up to the block are lifted vertically; `windows` is the next block to lift along rows.
        let mut windows = chunk.blocks.0;
        for block in chunk.blocks.0..chunk.blocks.1 {
            for row in arriving.clone() {
                // SAFETY: the rows that arrive are of the level, and the block is of the chunk.
                unsafe { self.take(down, row, block) };
            }
            let runs = self.runs(block);
            for step in 0..down.steps.len() {
                let step = &down.steps[step];
                let (from, to) = down.widen(chunk.rows, step.spare);
                let first = down.align(from.max(front - step.lag), step.target);
                for t in (first..to.min(next - step.lag)).step_by(2) {
                    // SAFETY: the axis has aligned `t` to rows that are in the ring.
                    unsafe { self.step(down, step, t, block, runs) };
                }
            }
            // Lifting along rows also needs the neighbouring columns to be finished.
            let across = level.across.as_ref().filter(|_| !level.across_first);
            let last = block + 1 == chunk.blocks.1;
            while windows <= block {
                if let Some(across) = across
                    && !last
                    && (across.periodic() || self.columns(windows).1 + across.spare.1 > self.columns(block).1)
                {
                    break;
                }
                for phase in 0..2 {
                    let lag = down.lag[phase];
                    let first = down.align(chunk.rows.0.max(front - lag), phase);
                    for row in (first..chunk.rows.1.min(next - lag)).step_by(2) {
                        // SAFETY: the row is of the chunk, and its window is finished.
                        unsafe { self.leave(down, row, phase, windows) };
                    }
                }
                windows += 1;
            }
        }
    }

    /// Loads a block of a row into the ring.
    unsafe fn take(&self, down: &Axis<W>, row: isize, block: usize) {
        let level = self.level;
        let (isa, phase) = (level.isa, down.phase(row));
        // A periodic line repeats beyond its ends.
        let source = if down.periodic() { row.rem_euclid(down.n as isize) } else { row };
        let (bands, index) =
            if level.analysis { (&self.from[0], source) } else { (&self.from[phase], down.index(source)) };
        let (from, to) = self.columns(block);
        let mut staging = self.staging(0);
        let factor = down.factor_before(source);
        // SAFETY: rows that the chunk depends on, and slots of the ring.
        unsafe {
            match &level.across {
                Some(across) if level.split_early() => {
                    let window = Window::new(across, from, to);
                    let memory = std::slice::from_raw_parts_mut(self.slot(row, block), 2 * level.capacity());
                    let mut copied = Copied::new(&window, memory);
                    copied.split(isa, across, &window, (&bands[0], index), level.gain.0, across.before, &mut staging);
                    copied.lift(isa, across, &window);
                    copied.scale(isa, across.after);
                    copied.scale(isa, [factor; 2]);
                }
                Some(across) if level.across_first => {
                    let window = Window::new(across, from, to);
                    let mut copied = Copied::new(&window, self.copy());
                    copied.join(isa, across, &window, [&bands[0], &bands[1]], index, across.before, &mut staging);
                    copied.lift(isa, across, &window);
                    let slot = self.slot(row, block).offset(from);
                    let to = std::slice::from_raw_parts_mut(slot, (to - from) as usize);
                    self.merge(across, &window, copied, to, 0);
                    if let Some(factor) = factor {
                        ops::scale(isa, factor, to);
                    }
                }
                Some(across) if !level.analysis => {
                    for (phase, run) in self.runs(block).into_iter().enumerate() {
                        let first = across.index(across.align(from, phase));
                        let (end, n) = (first + run.1 as isize, across.bands()[phase]);
                        let samples = bands[phase].read(index, first, end, n, &mut staging);
                        let slot = self.slot(row, block).add(run.0);
                        ops::load(isa, samples, std::slice::from_raw_parts_mut(slot, run.1), 0, factor);
                    }
                }
                _ => {
                    let samples = bands[0].read(index, from, to, level.width, &mut staging);
                    let slot = self.slot(row, block).offset(from);
                    ops::load(isa, samples, std::slice::from_raw_parts_mut(slot, samples.len()), level.gain.0, factor);
                }
            }
        }
    }

    /// Runs a vertical step on a block of row t.
    unsafe fn step(&self, down: &Axis<W>, step: &super::axis::Step<W>, t: isize, block: usize, runs: [Part; 2]) {
        let isa = self.level.isa;
        for (offset, count) in runs {
            if count == 0 {
                continue;
            }
            // SAFETY: distinct rows of the ring.
            unsafe {
                let row = |t: isize| self.slot(t, block).add(offset);
                let target = std::slice::from_raw_parts_mut(row(t), count);
                match &step.kind {
                    Kind::Scale(factor) => ops::scale(isa, *factor, target),
                    Kind::Pair(rows) => {
                        ops::pair(isa, rows, target, std::slice::from_raw_parts_mut(row(t + 1), count));
                    }
                    Kind::Lift(lift) => {
                        let mut reads = [self.memory.zeros; MAX_TAPS];
                        for (read, d) in reads.iter_mut().zip(&step.taps) {
                            if let Some(t) = down.resolve(t + d) {
                                *read = row(t).cast_const();
                            }
                        }
                        ops::lift(isa, lift, target, &reads);
                    }
                }
            }
        }
    }

    /// Stores a block of a finished row from the ring.
    unsafe fn leave(&self, down: &Axis<W>, row: isize, phase: usize, block: usize) {
        let level = self.level;
        let isa = level.isa;
        let (from, to) = self.columns(block);
        let (bands, index) = if level.analysis { (&self.to[phase], down.index(row)) } else { (&self.to[0], row) };
        let factor = down.factor_after(row);
        let mut staging = self.staging(0);
        // SAFETY: slots of the ring, and rows of the results.
        unsafe {
            match &level.across {
                Some(across) if level.split_early() => {
                    for (phase, run) in self.runs(block).into_iter().enumerate() {
                        let samples = std::slice::from_raw_parts(self.slot(row, block).add(run.0), run.1);
                        let first = across.index(across.align(from, phase));
                        bands[phase].write(index, first, run.1, &mut staging, |to| {
                            ops::store(isa, samples, to, 0, factor);
                        });
                    }
                }
                Some(across) if !level.across_first => {
                    let window = Window::new(across, from, to);
                    let mut copied = Copied::new(&window, self.copy());
                    if level.analysis {
                        copied.split(isa, across, &window, (&self.ring(0), row), 0, [factor; 2], &mut staging);
                    } else {
                        let rows = [&self.ring(0), &self.ring(level.pitch().1)];
                        copied.join(isa, across, &window, rows, row, [factor; 2], &mut staging);
                    }
                    copied.scale(isa, across.before);
                    copied.lift(isa, across, &window);
                    self.put(across, &window, copied, bands, index);
                }
                _ => {
                    let samples = std::slice::from_raw_parts(self.slot(row, block).offset(from), (to - from) as usize);
                    bands[0].write(index, from, samples.len(), &mut staging, |to| {
                        ops::store(isa, samples, to, level.gain.1, factor);
                    });
                }
            }
        }
    }

    /// Transforms a block of a row without steps along columns.
    unsafe fn alone(&self, row: isize, block: usize) {
        let level = self.level;
        let isa = level.isa;
        let Some(across) = &level.across else { return };
        let (from, to) = self.columns(block);
        let window = Window::new(across, from, to);
        let mut staging = self.staging(0);
        // SAFETY: rows of the chunk.
        unsafe {
            let mut copied = Copied::new(&window, self.copy());
            let bands = &self.from[0];
            if level.analysis {
                copied.split(isa, across, &window, (&bands[0], row), level.gain.0, across.before, &mut staging);
            } else {
                copied.join(isa, across, &window, [&bands[0], &bands[1]], row, across.before, &mut staging);
            }
            copied.lift(isa, across, &window);
            self.put(across, &window, copied, &self.to[0], row);
        }
    }

    /// Stores the results of a window whose steps along rows come last.
    ///
    /// # Safety
    /// The results must be valid to write.
    unsafe fn put(&self, across: &Axis<W>, window: &Window, copied: Copied<'_, W>, bands: &[Rows<D>; 2], row: isize) {
        let level = self.level;
        let mut staging = self.staging(1);
        if !level.analysis {
            let count = (window.to - window.from) as usize;
            // SAFETY: the caller's contract.
            unsafe {
                bands[0].write(row, window.from, count, &mut staging, |to| {
                    self.merge(across, window, copied, to, level.gain.1);
                });
            }
            return;
        }
        for (phase, band) in bands.iter().enumerate() {
            let (first, count) = window.results(across, phase);
            let samples = &copied.phases[phase][first..][..count];
            let index = across.index(across.align(window.from, phase));
            // SAFETY: by the caller's promise.
            unsafe {
                band.write(row, index, count, &mut staging, |to| {
                    ops::store(level.isa, samples, to, 0, across.after[phase]);
                });
            }
        }
    }

    /// Interleaves the results of a window.
    fn merge<O: Stored<W>>(&self, across: &Axis<W>, window: &Window, copied: Copied<'_, W>, to: &mut [O], gain: u32) {
        let [even, odd] = copied.phases;
        let ((e, even_count), (o, odd_count)) = (window.results(across, 0), window.results(across, 1));
        let (even, odd) = (&mut even[e..][..even_count], &mut odd[o..][..odd_count]);
        let [low, high] = across.after;
        match across.phase(window.from) {
            0 => ops::merge(self.level.isa, even, odd, to, gain, [low, high]),
            _ => ops::merge(self.level.isa, odd, even, to, gain, [high, low]),
        }
    }
}
