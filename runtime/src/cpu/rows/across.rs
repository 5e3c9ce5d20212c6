//! Lifting along rows: a window of a row is split by phase, lifted in cache, and merged or stored.
//!
//! A window is lifted in a copy of all samples that its results depend on. So windows and rows are independent, and a
//! few samples at window edges are lifted twice.

use super::axis::{Axis, Kind, MAX_TAPS, Step};
use super::ops;
use super::view::{Rows, Staging};
use crate::sample::{Arithmetic, Stored};
use lifting_loops::Isa;

/// Window of a row: its results and the samples copied for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Range of the results.
    pub from: isize,
    pub to: isize,
    /// Range of the samples that the results depend on.
    pub first: isize,
    pub end: isize,
    /// First even (odd) sample of the copy.
    pub start: [isize; 2],
    /// Number of even (odd) samples of the copy.
    pub count: [usize; 2],
}

impl Window {
    pub fn new<W: Arithmetic>(axis: &Axis<W>, from: isize, to: isize) -> Window {
        let (first, end) = axis.widen((from, to), axis.spare);
        let start = [0, 1].map(|phase| axis.align(first, phase));
        let count = start.map(|start| ((end - start).max(0) as usize).div_ceil(2));
        Window { from, to, first, end, start, count }
    }

    /// Position of the results of a phase in the copy of that phase: first index and count.
    pub fn results<W: Arithmetic>(&self, axis: &Axis<W>, phase: usize) -> (usize, usize) {
        let first = axis.align(self.from, phase);
        let count = ((self.to - first).max(0) as usize).div_ceil(2);
        (((first - self.start[phase]) / 2) as usize, count)
    }
}

/// Upper bound on the even (or odd) samples of a window of `results` results.
pub(super) fn capacity<W: Arithmetic>(axis: &Axis<W>, results: usize) -> usize {
    let whole = results + (axis.spare.0 + axis.spare.1) as usize;
    // Only a periodic line goes on beyond its ends.
    let whole = if axis.periodic() { whole } else { whole.min(axis.n) };
    (whole / 2 + 2).next_multiple_of(64)
}

/// Copy of a window, split by phase.
pub(super) struct Copied<'a, W> {
    pub phases: [&'a mut [W]; 2],
}

impl<'a, W: Arithmetic> Copied<'a, W> {
    /// Puts even samples into the first half of `memory`, odd ones into the second.
    pub fn new(window: &Window, memory: &'a mut [W]) -> Copied<'a, W> {
        let half = memory.len() / 2;
        let (even, odd) = memory.split_at_mut(half);
        Copied { phases: [&mut even[..window.count[0]], &mut odd[..window.count[1]]] }
    }

    /// Splits the samples of a window by phase.
    ///
    /// # Safety
    /// The row must be valid to read.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn split<S: Stored<W>>(
        &mut self,
        isa: Isa,
        axis: &Axis<W>,
        window: &Window,
        row: (&Rows<S>, isize),
        gain: u32,
        factors: [Option<W::Acc>; 2],
        staging: &mut Staging<W>,
    ) {
        // SAFETY: by the caller's promise.
        let samples = unsafe { row.0.read(row.1, window.first, window.end, axis.n, staging) };
        let [even, odd] = &mut self.phases;
        match axis.phase(window.first) {
            0 => ops::split(isa, samples, even, odd, gain, factors),
            _ => ops::split(isa, samples, odd, even, gain, [factors[1], factors[0]]),
        }
    }

    /// Loads the samples of a window from the two bands.
    ///
    /// # Safety
    /// The rows must be valid to read.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn join<S: Stored<W>>(
        &mut self,
        isa: Isa,
        axis: &Axis<W>,
        window: &Window,
        bands: [&Rows<S>; 2],
        row: isize,
        factors: [Option<W::Acc>; 2],
        staging: &mut Staging<W>,
    ) {
        for phase in 0..2 {
            let first = axis.index(window.start[phase]);
            let end = first + window.count[phase] as isize;
            // SAFETY: by the caller's promise.
            let samples = unsafe { bands[phase].read(row, first, end, axis.bands()[phase], staging) };
            ops::load(isa, samples, self.phases[phase], 0, factors[phase]);
        }
    }

    /// Multiplies the samples of both phases.
    pub fn scale(&mut self, isa: Isa, factors: [Option<W::Acc>; 2]) {
        for (samples, factor) in self.phases.iter_mut().zip(factors) {
            if let Some(factor) = factor {
                ops::scale(isa, factor, samples);
            }
        }
    }

    /// Scales the first and last sample of the line, if they are in the copy.
    fn ends(&mut self, axis: &Axis<W>, window: &Window, scale: fn(W) -> W) {
        for i in [0, axis.n as isize - 1] {
            if axis.doubled_ends && (window.first..window.end).contains(&i) {
                let phase = axis.phase(i);
                let sample = &mut self.phases[phase][((i - window.start[phase]) / 2) as usize];
                *sample = scale(*sample);
            }
        }
    }

    /// Runs all steps.
    pub fn lift(&mut self, isa: Isa, axis: &Axis<W>, window: &Window) {
        self.ends(axis, window, W::doubled);
        self.steps(isa, axis, window);
        self.ends(axis, window, W::halved);
    }

    fn steps(&mut self, isa: Isa, axis: &Axis<W>, window: &Window) {
        for step in &axis.steps {
            let (from, to) = axis.widen((window.from, window.to), step.spare);
            let first = axis.align(from, step.target);
            if first >= to {
                continue;
            }
            match &step.kind {
                Kind::Scale(factor) => {
                    let at = |t: isize| ((t - window.start[step.target]) / 2) as usize;
                    let count = ((to - first) as usize).div_ceil(2);
                    ops::scale(isa, *factor, &mut self.phases[step.target][at(first)..][..count]);
                }
                Kind::Pair(rows) => {
                    let (u, v) = self.phases.split_at_mut(1);
                    let (u, v) = if step.target == 0 { (&mut u[0], &mut v[0]) } else { (&mut v[0], &mut u[0]) };
                    let count = ((to - first) as usize).div_ceil(2);
                    let u_at = (first - window.start[step.target]) / 2;
                    let v_at = (first + 1 - window.start[1 - step.target]) / 2;
                    ops::pair(isa, rows, &mut u[u_at as usize..][..count], &mut v[v_at as usize..][..count]);
                }
                Kind::Lift(lift) => {
                    let (low, high) = (step.taps.iter().min().copied(), step.taps.iter().max().copied());
                    let (low, high) = (low.unwrap_or(0), high.unwrap_or(0));
                    let (mut inner, mut inner_end) = (first, axis.align(to, step.target));
                    if !axis.periodic() {
                        inner = axis.align(first.max(-low), step.target).min(inner_end);
                        let end = axis.align(to.min(axis.n as isize - high).max(inner), step.target);
                        inner_end = end.clamp(inner, inner_end);
                    }
                    for t in (first..inner).step_by(2).chain((inner_end..to).step_by(2)) {
                        self.step(isa, axis, window, step, lift, t, 1);
                    }
                    if inner < inner_end {
                        self.step(isa, axis, window, step, lift, inner, ((inner_end - inner) / 2) as usize);
                    }
                }
            }
        }
    }

    /// Runs a step on `count` samples of its phase, from t on.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn step(
        &mut self,
        isa: Isa,
        axis: &Axis<W>,
        window: &Window,
        step: &Step<W>,
        lift: &super::axis::Lift<W>,
        t: isize,
        count: usize,
    ) {
        let other = 1 - step.target;
        let zero = W::default();
        let mut reads = [&raw const zero; MAX_TAPS];
        for (read, d) in reads.iter_mut().zip(&step.taps) {
            if let Some(i) = axis.resolve(t + d) {
                let at = ((i - window.start[other]) / 2) as usize;
                *read = self.phases[other][at..][..count].as_ptr();
            }
        }
        let at = ((t - window.start[step.target]) / 2) as usize;
        ops::lift(isa, lift, &mut self.phases[step.target][at..][..count], &reads);
    }
}
