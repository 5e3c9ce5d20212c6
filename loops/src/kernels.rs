//! The loops: two pairs of rows at a time, register by register, all steps along rows and columns.
//!
//! Every function called in a loop is always inlined. `array::map`, `as_flattened` and closures may become calls, which
//! save all registers.
//!
//! Beyond the ends of rows, buffers of a few registers hold samples by the border rule. So a row has three segments: a
//! head from a buffer, a middle read in place, and a tail from a buffer.

#![allow(clippy::needless_range_loop, reason = "indexes registers by constants")]

use crate::chain::{Across, Chain, Down};
use crate::edges::Edges;
use crate::level::{Event, Level, MAX_STEPS, ROWS};
use crate::steps::Delays;
use crate::vector::{Storage, Vector};

/// Prefetch distance along columns, in bytes.
const AHEAD: usize = 2048;

/// A compiled loop.
///
/// # Safety
/// Pointers must be valid for the level and the loop, and the machine must have the instructions.
pub type Kernel = unsafe fn(&Level, &Event);

/// Positions of registers along a row.
struct RowRegisters {
    /// The sample in lane 0 of register 0.
    first: isize,
    /// Registers before register 0 that only fill delays.
    warm: usize,
    /// End of the full registers, from 1: all their reads are inside the row, and all their lanes are stored.
    full: usize,
    /// Number of registers.
    vectors: usize,
}

impl RowRegisters {
    #[inline(always)]
    fn new<V: Vector>(shape: Delays, n: usize, skip: usize, late: bool) -> RowRegisters {
        let pair = 2 * V::LANES;
        let back = shape.back + late as usize;
        let first = back as isize - 2 * skip as isize;
        let full = ((n as isize - first) as usize / pair).min((n / 2 + skip) / V::LANES);
        RowRegisters {
            first,
            warm: (back + shape.reach).div_ceil(pair),
            full: full.max(1),
            vectors: (n.div_ceil(2) + skip).div_ceil(V::LANES),
        }
    }
}

impl RowRegisters {
    /// For the head or tail of a range that begins at `begin`: the registers that only fill delays, and the first
    /// register.
    #[inline(always)]
    fn edge(&self, segment: usize, begin: usize) -> (usize, isize) {
        match segment {
            0 => (self.warm, begin as isize - self.warm as isize),
            _ => (0, self.full as isize),
        }
    }

    /// Registers of head, middle and tail in a range. It begins at 0 or after the head, and ends before the tail or
    /// with it.
    #[inline(always)]
    fn lengths(&self, (begin, end): (usize, usize)) -> [usize; 3] {
        let head = self.warm + (begin == 0) as usize;
        [head, self.full.min(end) - begin.max(1), self.vectors.min(end).saturating_sub(self.full)]
    }
}

/// Most registers of columns with state in a level of `n` samples.
pub(crate) fn columns_of<V: Vector>(shape: Delays, n: usize) -> usize {
    let place = RowRegisters::new::<V>(shape, n, V::LANES - 1, true);
    place.vectors + place.warm
}

/// Whether rows of `n` samples are long enough.
pub(crate) fn long_enough<V: Vector, C: Chain<V>>(shape: Delays, n: usize) -> bool {
    const {
        let reach = if V::PICKS { V::LANES - 1 } else { 2 * V::LANES };
        assert!(C::LONG || 2 * C::SIDES <= V::LANES && C::REACH <= reach, "steps reach further than registers");
    }
    n >= 4 * V::LANES + shape.back + shape.reach
}

/// Whether the buffers of rows hold what the steps read beyond the ends.
pub(crate) fn buffers_suffice<V: Vector, C: Chain<V>>(shape: Delays) -> bool {
    let warm = (shape.back + 1 + shape.reach).div_ceil(2 * V::LANES);
    2 * (warm + 1) < C::BUFFER / 2
}

/// Bytes of [`Event::buffers`].
pub(crate) const fn buffers<V: Vector, C: Chain<V>>() -> usize {
    ROWS * (C::BUFFER + C::SLOTS) * 64
}

/// Stores the lanes of `x` that are results `0..count` of a row; lane 0 is result `at`.
#[inline(always)]
unsafe fn partial<V: Vector, S: Storage<V>>(x: V, to: *mut S, at: isize, count: usize) {
    let (from, end) = ((-at).max(0), (count as isize - at).min(V::LANES as isize));
    // SAFETY: in-range lanes and results.
    unsafe {
        if from == 0 && end == V::LANES as isize {
            S::store(x, to.offset(at));
        } else if from < end {
            S::store_some(x, to.wrapping_offset(at), from as usize, end as usize);
        }
    }
}

/// Copies `count` samples, rounded up to whole registers.
#[inline(always)]
unsafe fn copy_on<V: Vector, S>(from: *const S, to: *mut S, count: usize) {
    for i in 0..count.div_ceil(V::LANES) {
        // SAFETY: by the caller's promise.
        unsafe { from.add(i * V::LANES).copy_to_nonoverlapping(to.add(i * V::LANES), V::LANES) };
    }
}

/// Copies the `count` samples before `from` to before `to`, rounded up to whole registers.
#[inline(always)]
unsafe fn copy_back<V: Vector, S>(from: *const S, to: *mut S, count: usize) {
    for i in 1..=count.div_ceil(V::LANES) {
        // SAFETY: by the caller's promise.
        unsafe { from.sub(i * V::LANES).copy_to_nonoverlapping(to.sub(i * V::LANES), V::LANES) };
    }
}

/// A block for each of the first `$count` rows, unrolled by hand if asked for. Compilers do not unroll the loop, and
/// delays along rows then go through memory.
macro_rules! rows {
    ($count:ident, $written_out:expr, $r:ident, $body:block) => {
        if const { $written_out } {
            rows!(@ $count, $r, $body, 0 1 2 3);
        } else {
            for $r in 0..$count $body
        }
    };
    (@ $count:ident, $r:ident, $body:block, $($row:literal)*) => {$(
        if $row < $count {
            let $r = $row;
            $body
        }
    )*};
}

#[inline(always)]
unsafe fn put<V: Vector, S: Storage<V>>(x: V, to: *mut S, stream: bool) {
    // SAFETY: by the caller's promise.
    unsafe { if stream { S::stream(x, to) } else { S::store(x, to) } }
}

#[inline(always)]
fn pointers<S>(bytes: &[[*mut u8; 2]; ROWS]) -> [[*mut S; 2]; ROWS] {
    let mut pointers = [[std::ptr::null_mut(); 2]; ROWS];
    for r in 0..ROWS {
        for band in 0..2 {
            pointers[r][band] = bytes[r][band].cast();
        }
    }
    pointers
}

/// Prefetches a cache line.
#[inline(always)]
pub fn fetch<S>(from: *const S) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, valid for any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(from.cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = from;
}

/// Orders non-temporal stores before later stores that other threads may see.
pub fn fence() {
    // Miri has no such instruction, and no small shape uses non-temporal stores.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every processor of the architecture has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Analysis of `R` rows: of four, or of a single one along rows only. `COLUMNS_FIRST`: columns are lifted before rows.
///
/// # Safety
/// Rows and bands are valid, and the machine has the instructions.
#[inline(always)]
pub(crate) unsafe fn analysis<V: Vector, S: Storage<V>, C: Chain<V>, const R: usize, const COLUMNS_FIRST: bool>(
    level: &Level,
    event: &Event,
) {
    let (n, late, skip, pair) = (level.n, level.late, event.skip, 2 * V::LANES);
    let shape = C::shape(Some(&level.long));
    let place = RowRegisters::new::<V>(shape, n, skip, late);
    let first = place.first;
    // SAFETY: rows and buffers were made for `first`.
    unsafe {
        let mut segments = [[std::ptr::null::<S>(); R]; 3];
        for r in 0..R {
            let row: *const S = event.from[r][0].cast();
            segments[1][r] = row.offset(first + (event.range.0.max(1) * pair) as isize);
            if C::PICKS {
                (segments[0][r], segments[2][r]) = (row, row);
                continue;
            }
            let head = event.buffers.cast::<S>().add(r * C::BUFFER * V::LANES);
            let tail = head.add((C::BUFFER / 2 + 1) * V::LANES);
            let zero = head.offset((place.warm * pair) as isize - first);
            copy_on::<V, S>(row, zero, (pair as isize + first) as usize);
            let rest = (n as isize - first) as usize - place.full * pair;
            copy_back::<V, S>(row.add(n), tail.add(rest), rest);
            for i in 0..shape.reach {
                *zero.sub(i + 1) = *row.add(level.left[i]);
                *tail.add(rest + i) = *row.add(level.right[i]);
            }
            segments[0][r] = head;
            segments[2][r] = tail;
        }
        let lengths = place.lengths(event.range);
        if R == 1 && event.range.0 > 0 && !C::PICKS {
            segments[0][0] = segments[1][0].sub(place.warm * pair);
        }
        let counts = [(n + 1 - late as usize) / 2, (n + late as usize) / 2];
        let part = Part::<V, S, C, COLUMNS_FIRST>::new(level, event, counts, first);
        let mut walk = Walk::new(event, (event.range.0 * V::LANES) as isize - skip as isize);
        for segment in 0..3 {
            let (rows, count) = (&segments[segment], lengths[segment]);
            match (segment, late) {
                (1, true) => part.analysis::<R, true, true>(&mut walk, rows, 0, (0, count), true),
                (1, false) => part.analysis::<R, true, false>(&mut walk, rows, 0, (0, count), false),
                _ => {
                    let (warm, begin) = place.edge(segment, event.range.0);
                    part.analysis::<R, false, false>(
                        &mut walk,
                        rows,
                        first + begin * pair as isize,
                        (warm, count),
                        late,
                    );
                }
            }
        }
    }
}

/// Synthesis of `R` rows: of four, or of a single one along rows only. `COLUMNS_FIRST` is the order of analysis:
/// synthesis then lifts rows before columns.
///
/// # Safety
/// Bands and rows are valid, and the machine has the instructions.
#[inline(always)]
pub(crate) unsafe fn synthesis<V: Vector, S: Storage<V>, C: Chain<V>, const R: usize, const COLUMNS_FIRST: bool>(
    level: &Level,
    event: &Event,
) {
    let (n, late, skip, lanes) = (level.n, level.late, event.skip, V::LANES);
    let shape = C::shape(Some(&level.long));
    let place = RowRegisters::new::<V>(shape, n, skip, late);
    let (first, head) = (place.first, (place.warm + 1) * lanes);
    // First sample of a head (tail) buffer.
    let begin = first - (2 * place.warm * lanes) as isize;
    let end = first + (2 * place.full * lanes) as isize;
    // SAFETY: bands and buffers were made for `first`.
    unsafe {
        let mut segments = [[[std::ptr::null::<S>(); 2]; R]; 3];
        for r in 0..R {
            for band in 0..2 {
                let row: *const S = event.from[r][band].cast();
                let begin = ((first + band as isize) >> 1) + (event.range.0.max(1) * lanes) as isize;
                segments[1][r][band] = row.offset(begin);
                (segments[0][r][band], segments[2][r][band]) = (row, row);
            }
            if C::PICKS {
                continue;
            }
            let buffers = event.buffers.cast::<S>().add(r * C::BUFFER * lanes);
            let heads = [buffers, buffers.add(C::BUFFER / 2 * lanes)];
            let tail = (C::BUFFER / 4 + 1) * lanes;
            let tails = [heads[0].add(tail), heads[1].add(tail)];
            for band in 0..2 {
                let row: *const S = event.from[r][band].cast();
                // The band's first sample.
                let zero = (first + band as isize).rem_euclid(2);
                let length = (n + 1 - zero as usize) / 2;
                let offset = ((zero - begin) / 2) as usize;
                copy_on::<V, S>(row, heads[band].add(offset), head - offset);
                let index = ((end + band as isize - zero) / 2) as usize;
                copy_back::<V, S>(row.add(length), tails[band].add(length - index), length - index);
                segments[0][r][band] = heads[band];
                segments[2][r][band] = tails[band];
            }
            for i in 0..shape.reach {
                let at = -1 - i as isize - begin;
                let band = at as usize % 2;
                *heads[band].add(at as usize / 2) = *event.from[r][band].cast::<S>().add(level.left[i]);
                let at = n as isize + i as isize - end;
                let band = at as usize % 2;
                *tails[band].add(at as usize / 2) = *event.from[r][band].cast::<S>().add(level.right[i]);
            }
        }
        let lengths = place.lengths(event.range);
        if R == 1 && event.range.0 > 0 && !C::PICKS {
            for band in 0..2 {
                segments[0][0][band] = segments[1][0][band].sub(place.warm * lanes);
            }
        }
        let part = Part::<V, S, C, COLUMNS_FIRST>::new(level, event, [n; 2], first);
        let mut walk = Walk::new(event, 2 * ((event.range.0 * lanes) as isize - skip as isize));
        for segment in 0..3 {
            let (rows, count) = (&segments[segment], lengths[segment]);
            match (segment, late) {
                (1, true) => part.synthesis::<R, true, true>(&mut walk, rows, 0, (0, count), true),
                (1, false) => part.synthesis::<R, true, false>(&mut walk, rows, 0, (0, count), false),
                _ => {
                    let (warm, begin) = place.edge(segment, event.range.0);
                    part.synthesis::<R, false, false>(&mut walk, rows, begin * lanes as isize, (warm, count), late);
                }
            }
        }
    }
}

/// Parameters shared by the segments of a row.
struct Part<'a, V: Vector, S, C, const COLUMNS_FIRST: bool> {
    chain: C,
    factors: [V; 2],
    to: [[*mut S; 2]; ROWS],
    stream: [[bool; 2]; 2],
    /// Results per row (per band, in analysis).
    counts: [usize; 2],
    next: Option<&'a [[*const u8; 2]; ROWS]>,
    first: isize,
    edges: &'a [Edges; 2],
    shape: Delays,
    /// Delays of a long chain along rows.
    delays: *mut V::Lane,
}

/// State carried from register to register.
struct Walk<V: Vector, const R: usize> {
    /// Delay lines along rows and along columns.
    slots: [[V; MAX_STEPS + 1]; R],
    state: *mut V::Lane,
    /// Position of the first lane in its row (or band).
    at: isize,
}

impl<V: Vector, const R: usize> Walk<V, R> {
    #[inline(always)]
    unsafe fn new(event: &Event, at: isize) -> Walk<V, R> {
        // SAFETY: by the caller's promise.
        Walk { slots: unsafe { [[V::splat(0.0); _]; R] }, state: event.state.cast(), at }
    }
}

impl<'a, V: Vector, S: Storage<V>, C: Chain<V>, const COLUMNS_FIRST: bool> Part<'a, V, S, C, COLUMNS_FIRST> {
    #[inline(always)]
    unsafe fn new(level: &'a Level, event: &'a Event, counts: [usize; 2], first: isize) -> Self {
        // SAFETY: by the caller's promise.
        unsafe {
            Part {
                chain: C::new(level),
                factors: [V::splat(level.factors[0]), V::splat(level.factors[1])],
                to: pointers::<S>(&event.to),
                stream: event.stream,
                counts,
                next: event.fetch.then_some(&event.next),
                first,
                edges: &level.edges,
                shape: C::shape(Some(&level.long)),
                delays: event.buffers.add(ROWS * C::BUFFER * 64).cast(),
            }
        }
    }

    /// Analyses `count` registers; the first `warm` only fill delays. `WHOLE`: all lanes are inside their
    /// rows, and results; then `LATE` applies instead of `late`, as a constant that the compiler can specialise for.
    /// Otherwise, if lanes are permuted, `rows` point to the beginnings and `begin` is the first sample.
    #[inline(always)]
    unsafe fn analysis<const R: usize, const WHOLE: bool, const LATE: bool>(
        &self,
        walk: &mut Walk<V, R>,
        rows: &[*const S; R],
        begin: isize,
        (warm, count): (usize, usize),
        late: bool,
    ) {
        let Part { chain, factors, to, stream, counts, next, first, edges, shape, delays } = self;
        let late = if WHOLE { LATE } else { late };
        let pair = 2 * V::LANES;
        // A local copy stays in registers if rows are unrolled.
        let mut slots = walk.slots;
        // SAFETY: by the caller's promise.
        unsafe {
            for i in 0..count {
                let mut x = [[V::splat(0.0); 2]; R];
                rows!(R, WHOLE, r, {
                    let (a, b) = if const { C::PICKS && !WHOLE } {
                        let at = begin + (i * pair) as isize;
                        (edges[0].load(rows[r], at), edges[0].load(rows[r], at + V::LANES as isize))
                    } else {
                        let from = rows[r].add(i * pair);
                        (S::load(from), S::load(from.add(V::LANES)))
                    };
                    let (t, u) = V::split(a, b);
                    x[r] = match const { C::LONG || COLUMNS_FIRST } {
                        true => [t, u],
                        false => self.row::<true>([t, u], &mut slots[r], late),
                    };
                });
                if const { COLUMNS_FIRST } {
                    self.columns::<R, true>(&mut x, &mut walk.state);
                    rows!(R, WHOLE, r, {
                        x[r] = self.row::<true>(x[r], &mut slots[r], late);
                    });
                }
                if const { C::LONG } {
                    chain.across(&mut x, *delays, late);
                    for r in 0..R {
                        x[r] = [x[r][0].mul(factors[0]), x[r][1].mul(factors[1])];
                    }
                }
                if i < warm {
                    continue;
                }
                if WHOLE && let Some(next) = next {
                    for row in *next {
                        let from = row[0].cast::<S>().offset(first + ((i + 1) * pair) as isize);
                        fetch(from);
                        fetch(from.add(V::LANES));
                    }
                }
                let at = walk.at;
                walk.at += V::LANES as isize;
                if const { R == 1 || COLUMNS_FIRST } {
                    self.put_bands::<R, WHOLE>(at, &x);
                    continue;
                }
                for band in 0..2 {
                    let mut line = Down::load::<C>(walk.state);
                    let mut pairs = [[x[0][band], x[1][band]], [x[2][band], x[3][band]]];
                    if const { C::LONG } {
                        pairs = chain.down(pairs, walk.state);
                    }
                    for p in 0..2 {
                        line.at = 0;
                        let [mut y, mut z] = pairs[p];
                        if const { !C::LONG } {
                            [y, z, _] = chain.run(y, z, &mut line);
                        }
                        if C::SCALES {
                            (y, z) = (y.mul(factors[0]), z.mul(factors[1]));
                        }
                        for (row, y) in [y, z].into_iter().enumerate() {
                            let to = to[2 * p + row][band];
                            if WHOLE {
                                put(y, to.offset(at), stream[row][band]);
                            } else {
                                partial(y, to, at, counts[band]);
                            }
                        }
                    }
                    line.store::<C>(walk.state);
                    walk.state = walk.state.add(shape.down * V::LANES);
                }
            }
        }
        walk.slots = slots;
    }

    /// Register `i` of a band of a row, as in `synthesis`.
    #[inline(always)]
    unsafe fn load<const WHOLE: bool>(&self, row: *const S, band: usize, begin: isize, i: usize) -> V {
        let at = (i * V::LANES) as isize;
        // SAFETY: by the caller's promise.
        unsafe {
            if const { C::PICKS && !WHOLE } {
                let zero = (self.first + band as isize) >> 1;
                self.edges[band].load(row, zero + begin + at)
            } else {
                S::load(row.offset(at))
            }
        }
    }

    /// Lifts a register of each band along a row.
    #[inline(always)]
    unsafe fn row<const ANALYSIS: bool>(&self, x: [V; 2], slots: &mut [V; MAX_STEPS + 1], late: bool) -> [V; 2] {
        let Part { chain, factors, .. } = self;
        let [mut t, mut u] = x;
        // SAFETY: by the caller's promise.
        unsafe {
            if C::SCALES && !ANALYSIS {
                (t, u) = (t.mul(factors[0]), u.mul(factors[1]));
            }
            let [last, after, before] = chain.run(t, u, &mut Across { slots, at: 0 });
            (t, u) = (last, if late { before } else { after });
            if C::SCALES && ANALYSIS {
                (t, u) = (t.mul(factors[0]), u.mul(factors[1]));
            }
        }
        [t, u]
    }

    /// Lifts a register of each band along the columns, in place, if rows are lifted last in analysis and first in
    /// synthesis. The other order has this in its loops: there, stores and loads between the lifts of two pairs gain
    /// up to 10 %.
    #[inline(always)]
    unsafe fn columns<const R: usize, const ANALYSIS: bool>(&self, x: &mut [[V; 2]; R], state: &mut *mut V::Lane) {
        let Part { chain, factors, shape, .. } = self;
        for band in 0..2 {
            // SAFETY: by the caller's promise.
            unsafe {
                let mut line = Down::load::<C>(*state);
                for p in 0..2 {
                    line.at = 0;
                    let (mut t, mut u) = (x[2 * p][band], x[2 * p + 1][band]);
                    if C::SCALES && !ANALYSIS {
                        (t, u) = (t.mul(factors[0]), u.mul(factors[1]));
                    }
                    [t, u, _] = chain.run(t, u, &mut line);
                    if C::SCALES && ANALYSIS {
                        (t, u) = (t.mul(factors[0]), u.mul(factors[1]));
                    }
                    (x[2 * p][band], x[2 * p + 1][band]) = (t, u);
                }
                line.store::<C>(*state);
                *state = state.add(shape.down * V::LANES);
            }
        }
    }

    /// Stores a register of each band of each row, from `at` on.
    #[inline(always)]
    unsafe fn put_bands<const R: usize, const WHOLE: bool>(&self, at: isize, x: &[[V; 2]; R]) {
        for r in 0..R {
            for band in 0..2 {
                let to = self.to[r][band];
                // SAFETY: by the caller's promise.
                unsafe {
                    if WHOLE {
                        put(x[r][band], to.offset(at), self.stream[r % 2][band]);
                    } else {
                        partial(x[r][band], to, at, self.counts[band]);
                    }
                }
            }
        }
    }

    /// Stores the samples of row `r` from `at` on: results of the last step, and the others.
    #[inline(always)]
    unsafe fn put_row<const WHOLE: bool>(&self, r: usize, at: isize, [t, u]: [V; 2], late: bool) {
        let (to, stream) = (self.to[r][0], self.stream[r % 2][0]);
        // SAFETY: by the caller's promise.
        unsafe {
            let (a, b) = if late { V::merge(u, t) } else { V::merge(t, u) };
            if WHOLE {
                put(a, to.offset(at), stream);
                put(b, to.offset(at + V::LANES as isize), stream);
            } else {
                partial(a, to, at, self.counts[0]);
                partial(b, to, at + V::LANES as isize, self.counts[0]);
            }
        }
    }

    /// Synthesises `count` registers; parameters as in `analysis`.
    #[inline(always)]
    unsafe fn synthesis<const R: usize, const WHOLE: bool, const LATE: bool>(
        &self,
        walk: &mut Walk<V, R>,
        rows: &[[*const S; 2]; R],
        begin: isize,
        (warm, count): (usize, usize),
        late: bool,
    ) {
        let Part { chain, factors, next, first, shape, delays, .. } = self;
        let late = if WHOLE { LATE } else { late };
        let lanes = V::LANES;
        // A local copy stays in registers if rows are unrolled.
        let mut slots = walk.slots;
        // SAFETY: by the caller's promise.
        unsafe {
            for i in 0..count {
                let mut x = [[V::splat(0.0); 2]; R];
                for band in 0..2 {
                    if const { R == 1 || COLUMNS_FIRST } {
                        for r in 0..R {
                            x[r][band] = self.load::<WHOLE>(rows[r][band], band, begin, i);
                        }
                        continue;
                    }
                    let mut line = Down::load::<C>(walk.state);
                    let mut pairs = [[V::splat(0.0); 2]; 2];
                    for p in 0..2 {
                        line.at = 0;
                        let mut t = self.load::<WHOLE>(rows[2 * p][band], band, begin, i);
                        let mut u = self.load::<WHOLE>(rows[2 * p + 1][band], band, begin, i);
                        if C::SCALES {
                            (t, u) = (t.mul(factors[0]), u.mul(factors[1]));
                        }
                        pairs[p] = [t, u];
                        if const { !C::LONG } {
                            [pairs[p][0], pairs[p][1], _] = chain.run(t, u, &mut line);
                        }
                    }
                    if const { C::LONG } {
                        pairs = chain.down(pairs, walk.state);
                    }
                    for p in 0..2 {
                        [x[2 * p][band], x[2 * p + 1][band]] = pairs[p];
                    }
                    line.store::<C>(walk.state);
                    walk.state = walk.state.add(shape.down * lanes);
                }
                if WHOLE && let Some(next) = next {
                    for row in *next {
                        for band in row {
                            fetch(band.cast::<S>().offset(first / 2 + ((i + 1) * lanes) as isize));
                        }
                    }
                }
                let at = walk.at;
                if const { C::LONG } {
                    for r in 0..R {
                        x[r] = [x[r][0].mul(factors[0]), x[r][1].mul(factors[1])];
                    }
                    chain.across(&mut x, *delays, late);
                }
                // Longer steps along columns leave no registers for unrolling the rows.
                rows!(R, WHOLE && C::SIDES == 1, r, {
                    if const { !C::LONG } {
                        x[r] = self.row::<false>(x[r], &mut slots[r], late);
                    }
                    if const { !COLUMNS_FIRST } && (WHOLE || i >= warm) {
                        self.put_row::<WHOLE>(r, at, x[r], late);
                    }
                });
                if const { COLUMNS_FIRST } && (WHOLE || i >= warm) {
                    self.columns::<R, false>(&mut x, &mut walk.state);
                    for r in 0..R {
                        self.put_row::<WHOLE>(r, at, x[r], late);
                    }
                }
                if i >= warm {
                    walk.at += 2 * lanes as isize;
                }
            }
        }
        walk.slots = slots;
    }
}

/// The lanes of samples `0..count` of a row, where lane 0 is sample `at`; other lanes are arbitrary.
#[inline(always)]
unsafe fn some<V: Vector, S: Storage<V>>(from: *const S, at: isize, count: usize) -> V {
    let (first, end) = ((-at).max(0), (count as isize - at).min(V::LANES as isize));
    // SAFETY: in-range lanes and samples.
    unsafe { S::load_some(from.wrapping_offset(at), first as usize, end as usize) }
}

/// Four rows, along columns only: samples `0..event.range.1`, one band.
///
/// # Safety
/// Rows are valid, and the machine has the instructions.
#[inline(always)]
pub(crate) unsafe fn columns<V: Vector, S: Storage<V>, C: Chain<V>, const ANALYSIS: bool>(
    level: &Level,
    event: &Event,
) {
    let count = event.range.1;
    // SAFETY: by the caller's promise.
    unsafe {
        let (mut from, mut to) = ([std::ptr::null::<S>(); ROWS], [std::ptr::null_mut::<S>(); ROWS]);
        for r in 0..ROWS {
            (from[r], to[r]) = (event.from[r][0].cast(), event.to[r][0].cast());
        }
        let chain = C::new(level);
        let shape = C::shape(Some(&level.long));
        let factors = [V::splat(level.factors[0]), V::splat(level.factors[1])];
        let mut state: *mut V::Lane = event.state.cast();
        for i in 0..(count + event.skip).div_ceil(V::LANES) {
            let at = (i * V::LANES) as isize - event.skip as isize;
            let whole = at >= 0 && at as usize + V::LANES <= count;
            let mut line = Down::load::<C>(state);
            let mut pairs = [[V::splat(0.0); 2]; 2];
            for p in 0..2 {
                let (t, u) = (from[2 * p], from[2 * p + 1]);
                if !ANALYSIS {
                    // Bands come from memory.
                    fetch(t.wrapping_offset(at).wrapping_byte_add(AHEAD));
                    fetch(u.wrapping_offset(at).wrapping_byte_add(AHEAD));
                }
                let (mut t, mut u): (V, V) = match whole {
                    true => (S::load(t.offset(at)), S::load(u.offset(at))),
                    false => (some(t, at, count), some(u, at, count)),
                };
                if C::SCALES && !ANALYSIS {
                    (t, u) = (t.mul(factors[0]), u.mul(factors[1]));
                }
                pairs[p] = [t, u];
            }
            if const { C::LONG } {
                pairs = chain.down(pairs, state);
            }
            for p in 0..2 {
                line.at = 0;
                let [mut last, mut other] = pairs[p];
                if const { !C::LONG } {
                    [last, other, _] = chain.run(last, other, &mut line);
                }
                if C::SCALES && ANALYSIS {
                    (last, other) = (last.mul(factors[0]), other.mul(factors[1]));
                }
                if whole {
                    put(last, to[2 * p].offset(at), event.stream[0][0]);
                    put(other, to[2 * p + 1].offset(at), event.stream[1][0]);
                } else {
                    partial(last, to[2 * p], at, count);
                    partial(other, to[2 * p + 1], at, count);
                }
            }
            line.store::<C>(state);
            state = state.add(shape.down * V::LANES);
        }
    }
}

impl<V: Vector> Down<V> {
    #[inline(always)]
    unsafe fn load<C: Chain<V>>(from: *const V::Lane) -> Down<V> {
        // SAFETY: passed on from the caller.
        unsafe {
            let mut line = Down { slots: [V::splat(0.0); _], at: 0 };
            for (i, slot) in line.slots.iter_mut().enumerate().take(if C::LONG { 0 } else { C::DOWN }) {
                *slot = V::load(from.add(i * V::LANES));
            }
            line
        }
    }

    #[inline(always)]
    unsafe fn store<C: Chain<V>>(self, to: *mut V::Lane) {
        for (i, slot) in self.slots.into_iter().enumerate().take(if C::LONG { 0 } else { C::DOWN }) {
            // SAFETY: passed on from the caller.
            unsafe { slot.store(to.add(i * V::LANES)) };
        }
    }
}
