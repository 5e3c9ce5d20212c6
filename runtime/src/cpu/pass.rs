//! One pass: one axis of one level, in place.
//!
//! rewrite: "for each line of the box along this axis" → bundles of `L` neighbouring lines. Each bundle is gathered
//! into scratch as `[sample][lane]`, lifted there, and scattered back. On the way it is deinterleaved (analysis) or
//! interleaved (synthesis). The lanes run along the axis that is closest in memory, so a vertical pass reads whole
//! cache lines.

use super::Shared;
use super::adjoint::{self, Fold};
use super::lift::lift;
use crate::data::{Dims, MAX_RANK};
use crate::sample::{Arithmetic, CompiledStep, Stored};
use lifting_dsl::Boundary;
use lifting_dsl::Direction;

/// One side (read or write) of a pass: where its lines are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side<P> {
    /// Sample 0 of the box.
    pub ptr: P,
    /// Samples between neighbours, for each axis.
    pub strides: Dims<isize>,
    /// Whether low and high samples are stored apart along the pass's axis on this side.
    pub split: bool,
}

/// Operation of a pass on its lines.
pub(crate) struct Work<'a, W: Arithmetic> {
    pub steps: &'a [CompiledStep<W>],
    /// Border folds after each step of an adjoint. Empty otherwise.
    pub folds: Vec<Vec<Fold<W>>>,
    pub boundary: Boundary,
    /// Origin modulo 2.
    pub parity: usize,
    pub direction: Direction,
    /// Left shift in bits at the load (analysis), undone at the store (synthesis).
    pub gain: u32,
    /// Whether the first and last sample of a line of several are doubled before the steps, and halved after them.
    pub doubled_ends: bool,
    /// Whether a line of one sample at an odd origin is doubled (halved in synthesis).
    pub double_lone_odd: bool,
    /// Whether synthesis is the adjoint of analysis: it then doubles that line, too.
    pub is_adjoint: bool,
}

/// The lines of a pass: length along the axis, and the other axes merged and ordered by distance in memory.
struct Lines {
    length: usize,
    read_stride: isize,
    write_stride: isize,
    /// Lines that neighbouring lanes take: count, read stride, write stride.
    lanes: (usize, isize, isize),
    /// The remaining axes.
    outer: [(usize, isize, isize); MAX_RANK],
    rank: usize,
    /// Bundles of `L` lines.
    bundles: usize,
}

/// Scratch in samples that one worker needs for lines of `length` samples, `across` of them side by side.
pub(crate) fn scratch(length: usize, across: usize) -> usize {
    length * bundle(across)
}

/// Lines in a bundle.
fn bundle(across: usize) -> usize {
    match across {
        0..=1 => 1,
        2..=4 => 4,
        _ => 16,
    }
}

impl Lines {
    fn new(shape: &[usize], axis: usize, read: &Dims<isize>, write: &Dims<isize>) -> Lines {
        let mut outer = [(1, 0, 0); MAX_RANK];
        let mut rank = 0;
        for (a, &n) in shape.iter().enumerate() {
            if a != axis && n != 1 {
                outer[rank] = (n, read[a], write[a]);
                rank += 1;
            }
        }
        outer[..rank].sort_unstable_by_key(|&(n, r, _)| (r.unsigned_abs(), n));
        // Two axes that continue each other on both sides are merged.
        let mut merged = 0;
        for i in 1..rank {
            let (n, r, w) = outer[merged];
            if outer[i].1 == r * n as isize && outer[i].2 == w * n as isize {
                outer[merged].0 = n * outer[i].0;
            } else {
                merged += 1;
                outer[merged] = outer[i];
            }
        }
        rank = rank.min(merged + 1);
        // The closest axis that fills a bundle, else the longest.
        let best = outer[..rank]
            .iter()
            .position(|&(n, ..)| n >= 16)
            .or_else(|| (0..rank).max_by_key(|&i| (outer[i].0, rank - i)));
        let lanes = match best {
            Some(i) => {
                let lanes = outer[i];
                outer.copy_within(i + 1..rank, i);
                rank -= 1;
                lanes
            }
            None => (1, 0, 0),
        };
        let lines: usize = outer[..rank].iter().map(|o| o.0).product();
        let bundles = lines * lanes.0.div_ceil(bundle(lanes.0));
        Lines { length: shape[axis], read_stride: read[axis], write_stride: write[axis], lanes, outer, rank, bundles }
    }

    /// Offsets of the first sample of bundle `index` on both sides, and its number of lines.
    fn bundle(&self, index: usize) -> (isize, isize, usize) {
        let width = bundle(self.lanes.0);
        let across = self.lanes.0.div_ceil(width);
        let first = index % across * width;
        let mut rest = index / across;
        let (mut read, mut write) = (first as isize * self.lanes.1, first as isize * self.lanes.2);
        for &(n, r, w) in &self.outer[..self.rank] {
            read += (rest % n) as isize * r;
            write += (rest % n) as isize * w;
            rest /= n;
        }
        (read, write, width.min(self.lanes.0 - first))
    }
}

/// Upper bound on the lanes that a pass over `shape` along `axis` takes side by side; sizes the scratch.
pub(crate) fn widest(shape: &[usize], axis: usize) -> usize {
    shape.iter().enumerate().filter(|&(a, _)| a != axis).map(|(_, &n)| n).product()
}

/// Runs one pass over the box of `shape` at `read` and `write`.
///
/// `scratch` has a piece for each of `workers`, or for each line. Several pieces run on the thread pool.
///
/// # Safety
/// Every sample of the box must be valid to read at `read` and to write at `write`, and no two indices of one side
/// may share an address. The two sides are either the same memory with the same strides or do not overlap.
pub(crate) unsafe fn run<S: Stored<W>, D: Stored<W>, W: Arithmetic>(
    shape: &[usize],
    axis: usize,
    read: Side<*const S>,
    write: Side<*mut D>,
    work: &Work<'_, W>,
    scratch: &mut [W],
    workers: usize,
) {
    if shape.contains(&0) {
        return;
    }
    let lines = Lines::new(shape, axis, &read.strides, &write.strides);
    let piece = self::scratch(lines.length, widest(shape, axis));
    // A few bundles are not worth waking a thread for.
    let samples = lines.length * lines.bundles * bundle(lines.lanes.0);
    let workers = if samples < 1 << 15 { 1 } else { workers.min(lines.bundles).min(scratch.len() / piece) };
    let sides = Shared((read, write));
    let share = |worker: usize, scratch: &mut [W]| {
        let (read, write) = sides.get();
        let range = lines.bundles * worker / workers..lines.bundles * (worker + 1) / workers;
        for index in range {
            // SAFETY: the caller's promise, and bundles of one pass are disjoint.
            unsafe {
                match bundle(lines.lanes.0) {
                    1 => one_bundle::<S, D, W, 1>(&lines, index, read, write, work, scratch),
                    4 => one_bundle::<S, D, W, 4>(&lines, index, read, write, work, scratch),
                    _ => one_bundle::<S, D, W, 16>(&lines, index, read, write, work, scratch),
                }
            }
        }
    };
    if workers == 1 {
        share(0, scratch);
    } else {
        crate::threads::pieces(scratch, piece, workers, share);
    }
}

/// Sample offsets along a line in interleaved order, for a side that may hold the bands apart.
fn along(n: usize, parity: usize, stride: isize, split: bool) -> impl Fn(usize) -> isize {
    let low = (parity + n).div_ceil(2) - parity;
    move |i| {
        let at = match (split, (parity + i) % 2) {
            (false, _) => i,
            (true, 0) => (parity + i) / 2 - parity,
            (true, _) => low + (parity + i) / 2,
        };
        at as isize * stride
    }
}

unsafe fn one_bundle<S: Stored<W>, D: Stored<W>, W: Arithmetic, const L: usize>(
    lines: &Lines,
    index: usize,
    read: &Side<*const S>,
    write: &Side<*mut D>,
    work: &Work<'_, W>,
    scratch: &mut [W],
) {
    let n = lines.length;
    let (from, to, width) = lines.bundle(index);
    let (bundle, _) = scratch[..n * L].as_chunks_mut::<L>();
    let analysis = work.direction == Direction::Forward;

    let source = along(n, work.parity, lines.read_stride, read.split);
    for (i, row) in bundle.iter_mut().enumerate() {
        // SAFETY: a sample of the box.
        let ptr = unsafe { read.ptr.offset(from + source(i)) };
        // SAFETY: lanes below the width are of the box.
        let load = |lane: usize| unsafe { (*ptr.offset(lane as isize * lines.lanes.1)).load() };
        if width == L && lines.lanes.1 == 1 {
            // Contiguous lanes: one wide load.
            // SAFETY: all lanes are of the box, and contiguous.
            let samples = unsafe { *ptr.cast::<[S; L]>() };
            row.iter_mut().zip(samples).for_each(|(x, sample)| *x = sample.load());
        } else {
            row.iter_mut().take(width).enumerate().for_each(|(lane, x)| *x = load(lane));
        }
        if analysis && work.gain > 0 {
            row.iter_mut().for_each(|x| *x = x.gain(work.gain));
        }
    }

    if n >= 2 {
        let ends = |bundle: &mut [[W; L]], scale: fn(W) -> W| {
            for end in [0, n - 1] {
                bundle[end] = bundle[end].map(scale);
            }
        };
        if work.doubled_ends {
            ends(bundle, W::doubled);
        }
        if work.folds.is_empty() {
            lift(work.steps, work.boundary, work.parity, bundle);
        } else {
            adjoint::lift(work.steps, &work.folds, work.parity, bundle);
        }
        if work.doubled_ends {
            ends(bundle, W::halved);
        }
    } else if work.double_lone_odd && work.parity == 1 {
        bundle[0] = bundle[0].map(if analysis != work.is_adjoint { W::doubled } else { W::halved });
    }

    let target = along(n, work.parity, lines.write_stride, write.split);
    for (i, row) in bundle.iter_mut().enumerate() {
        if !analysis && work.gain > 0 {
            row.iter_mut().for_each(|x| *x = x.ungain(work.gain));
        }
        // SAFETY: a sample of the box.
        let ptr = unsafe { write.ptr.offset(to + target(i)) };
        if width == L && lines.lanes.2 == 1 {
            let mut samples = [D::store(row[0]); L];
            samples.iter_mut().zip(&*row).for_each(|(sample, x)| *sample = D::store(*x));
            // SAFETY: all lanes are of the box, and contiguous.
            unsafe { *ptr.cast::<[D; L]>() = samples };
        } else {
            for (lane, &x) in row.iter().take(width).enumerate() {
                // SAFETY: lanes below the width are of the box.
                unsafe { *ptr.offset(lane as isize * lines.lanes.2) = D::store(x) };
            }
        }
    }
}
