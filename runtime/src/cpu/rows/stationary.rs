//! Stationary (undecimated) levels: the decimated levels of both shifts at once.
//!
//! rewrite: lifting of the samples at even positions, and of those at odd ones → lifting of all samples, in two arrays.
//!
//! Every sample is taken as one of the even phase in the first array, and as one of the odd phase in the second. A step
//! updates all samples of its phase by those of the other one at its distances, cyclically. Sample i of the even phase
//! then is low coefficient ⌊i/2⌋ of the transform that starts at sample i mod 2, and sample i + 1 of the odd phase is
//! its high coefficient. The bits are those of decimated transforms, as the operations and their order are the same.

use super::Shared;
use super::axis::{Kind, kind_of};
use super::ops;
use crate::cpu::isa;
use crate::error::PlanError;
use crate::sample::{Arithmetic, CompiledStep, Sample, Stored};
use crate::threads;
use lifting_dsl::sample::Arithmetic as _;
use lifting_dsl::{Boundary, Domain, Scheme, Weight};
use lifting_loops::Isa;

/// Lines of a contiguous array along one axis. A level j ≥ 1 of a transform takes every 2^(j−1)-th sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Product of the lengths of outer axes.
    pub outer: usize,
    /// Samples along the axis.
    pub length: usize,
    /// Product of the lengths of inner axes.
    pub inner: usize,
    /// Distance between the samples of a level, in samples along the axis.
    pub step: usize,
}

impl Lines {
    fn len(&self) -> usize {
        self.outer * self.length * self.inner
    }
}

/// Bytes of both arrays of a piece: about half an L2 cache.
const PIECE: usize = 256 << 10;

/// Least columns of a piece.
const COLUMNS: usize = 16;

/// A level of a real wavelet's stationary transform: two bands as long as the data, of any length, by cyclic lifting.
///
/// ```
/// use lifting::{Lines, Stationary, catalogue};
///
/// let level = Stationary::<f64>::new(&catalogue::find("haar")?)?;
/// let (data, lines) = ([3.0, 7.0, 1.0, 3.0], Lines { outer: 1, length: 4, inner: 1, step: 1 });
/// let (mut low, mut high, mut back) = ([0.0; 4], [0.0; 4], [0.0; 4]);
/// level.forward(&data, [&mut low, &mut high], &lines, 1.0, 1);
/// assert!((low[1] - 8.0 * 0.5f64.sqrt()).abs() < 1e-12);
/// level.inverse([&low, &high], &mut back, &lines, 1.0, 1);
/// assert!(back.iter().zip(data).all(|(x, y)| (x - y).abs() < 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stationary<T: Sample> {
    isa: Isa,
    analysis: Vec<Spread<T::Lane>>,
    synthesis: Vec<Spread<T::Lane>>,
}

/// A step on all samples of a phase.
#[derive(Clone, Debug)]
struct Spread<W: Arithmetic> {
    /// Parity of the phase; for a lattice stage, that of the first sample of its pairs.
    target: usize,
    kind: Kind<W>,
    /// Distances of the samples read, where the odd phase begins at sample 1.
    taps: Vec<isize>,
}

impl<W: Arithmetic> Spread<W> {
    fn new(step: &CompiledStep<W>) -> Spread<W> {
        let (kind, taps) = kind_of(&step.kind);
        let taps = if matches!(kind, Kind::Pair(_)) { vec![1] } else { taps };
        let moved = if step.target == 1 { 1 } else { -1 };
        Spread { target: step.target, kind, taps: taps.into_iter().map(|d| d + moved).collect() }
    }

    /// Runs the step on phases of columns side by side.
    fn run(&self, isa: Isa, [even, odd]: [&mut [W]; 2], lines: &Lines, width: usize) {
        let (target, other) = if self.target == 0 { (even, odd) } else { (odd, even) };
        let len = target.len();
        let rotate = |d: &isize| (d * (lines.step * width) as isize).rem_euclid(len as isize) as usize;
        let starts: Vec<usize> = self.taps.iter().map(rotate).collect();
        // No read wraps within a run.
        let mut ends: Vec<usize> = starts.iter().map(|start| len - start).chain([len]).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut from = 0;
        for end in ends {
            let run = &mut target[from..end];
            let at = |start: usize| if from + start < len { from + start } else { from + start - len };
            match &self.kind {
                Kind::Scale(factor) => ops::scale(isa, *factor, run),
                Kind::Pair(rows) => ops::pair(isa, rows, run, &mut other[at(starts[0])..][..end - from]),
                Kind::Lift(lift) => {
                    let reads: Vec<*const W> = starts.iter().map(|s| other[at(*s)..][..end - from].as_ptr()).collect();
                    ops::lift(isa, lift, run, &reads);
                }
            }
            from = end;
        }
    }
}

impl<T: Sample> Stationary<T> {
    /// A level of a wavelet.
    ///
    /// # Errors
    /// If the wavelet is for integers, or `LIFTING_CPU` names no instruction set.
    pub fn new(scheme: &Scheme) -> Result<Stationary<T>, PlanError> {
        if scheme.domain() != Domain::Real || T::KIND.domain() != Domain::Real {
            return Err(PlanError::Domain { wavelet: scheme.name().into(), domain: scheme.domain(), sample: T::KIND });
        }
        let rule = Boundary::Periodic;
        let spread = |steps: Vec<CompiledStep<T::Lane>>| steps.iter().map(Spread::new).collect();
        Ok(Stationary {
            isa: isa::detect()?,
            analysis: spread(CompiledStep::all(scheme.stages(rule), scheme.steps())),
            synthesis: spread(CompiledStep::all(scheme.inverse_stages(rule), &scheme.inverse_steps())),
        })
    }

    /// Analysis of contiguous data into a low and a high band, multiplied by `gain`, on at most `threads` threads.
    ///
    /// # Panics
    /// If an array has another number of samples than `lines`.
    pub fn forward(&self, data: &[T], bands: [&mut [T]; 2], lines: &Lines, gain: f64, threads: usize) {
        assert!([data.len(), bands[0].len(), bands[1].len()] == [lines.len(); 3], "arrays of {} samples", lines.len());
        let targets = bands.map(|band| Shared(band.as_mut_ptr()));
        let gain = (gain != 1.0).then(|| T::Lane::real(&Weight::Irrational(gain)));
        self.pieces(lines, threads, |piece, [even, odd]| {
            piece.load(data, 0, even);
            piece.load(data, lines.step, odd);
            for step in &self.analysis {
                step.run(self.isa, [&mut *even, &mut *odd], lines, piece.width);
            }
            for (target, phase) in targets.iter().zip([even, odd]) {
                if let Some(gain) = gain {
                    ops::scale(self.isa, gain, phase);
                }
                // SAFETY: pieces are disjoint parts of the bands.
                unsafe { piece.store(phase, *target.get()) };
            }
        });
    }

    /// Synthesis from both bands: the mean over both shifts, multiplied by `gain`.
    ///
    /// # Panics
    /// If an array has another number of samples than `lines`.
    pub fn inverse(&self, bands: [&[T]; 2], data: &mut [T], lines: &Lines, gain: f64, threads: usize) {
        assert!([data.len(), bands[0].len(), bands[1].len()] == [lines.len(); 3], "arrays of {} samples", lines.len());
        let target = Shared(data.as_mut_ptr());
        let half = T::Lane::real(&Weight::Irrational(gain / 2.0));
        self.pieces(lines, threads, |piece, [even, odd]| {
            piece.load(bands[0], 0, even);
            piece.load(bands[1], 0, odd);
            for step in &self.synthesis {
                step.run(self.isa, [&mut *even, &mut *odd], lines, piece.width);
            }
            let (len, start) = (even.len(), lines.step % lines.length * piece.width);
            let (first, rest) = even.split_at_mut(start);
            for (phase, odd) in [(first, &odd[len - start..]), (rest, &odd[..len - start])] {
                for (x, y) in phase.iter_mut().zip(odd) {
                    *x = x.updated(false, y.widen());
                }
            }
            ops::scale(self.isa, half, even);
            // SAFETY: pieces are disjoint parts of the data.
            unsafe { piece.store(even, *target.get()) };
        });
    }

    /// Calls `run` with each piece and two arrays of its size.
    fn pieces(&self, lines: &Lines, threads: usize, run: impl Fn(&Piece, [&mut [T::Lane]; 2]) + Send + Sync) {
        if lines.len() == 0 {
            return;
        }
        let most = PIECE / (2 * size_of::<T::Lane>() * lines.length);
        let width = most.next_multiple_of(COLUMNS).max(COLUMNS).min(lines.inner);
        let (blocks, across) = (lines.outer, lines.inner.div_ceil(width));
        // Short lines of consecutive samples come together.
        let together = if across > 1 { 1 } else { (most / lines.inner).clamp(1, blocks) };
        threads::each(blocks.div_ceil(together) * across, threads, |index| {
            let (group, column) = (index / across, index % across * width);
            let width = width.min(lines.inner - column);
            let mut scratch = vec![T::Lane::default(); 2 * lines.length * width];
            let (even, odd) = scratch.split_at_mut(lines.length * width);
            for block in (group * together..blocks).take(together) {
                let first = block * lines.length * lines.inner + column;
                run(&Piece { first, width, length: lines.length, pitch: lines.inner }, [&mut *even, &mut *odd]);
            }
        });
    }
}

/// Neighbouring columns of a block of lines.
struct Piece {
    first: usize,
    width: usize,
    length: usize,
    pitch: usize,
}

impl Piece {
    /// Copies the piece's rows, from row `start` on cyclically.
    fn load<T: Stored<W>, W>(&self, data: &[T], start: usize, to: &mut [W]) {
        let start = start % self.length;
        if self.width == self.pitch {
            let block = &data[self.first..][..self.length * self.width];
            let (head, tail) = to.split_at_mut((self.length - start) * self.width);
            T::load_all(&block[start * self.width..], head);
            T::load_all(&block[..start * self.width], tail);
            return;
        }
        for (row, to) in (start..self.length).chain(0..start).zip(to.chunks_exact_mut(self.width)) {
            T::load_all(&data[self.first + row * self.pitch..][..self.width], to);
        }
    }

    /// Stores the piece's rows.
    ///
    /// # Safety
    /// The array must contain the piece, and nobody else may use that part of it.
    unsafe fn store<T: Stored<W>, W: Copy>(&self, from: &[W], target: *mut T) {
        let (rows, width) = if self.width == self.pitch { (1, from.len()) } else { (self.length, self.width) };
        for (row, from) in (0..rows).zip(from.chunks_exact(width)) {
            // SAFETY: by the caller's promise.
            let to = unsafe { std::slice::from_raw_parts_mut(target.add(self.first + row * self.pitch), width) };
            T::store_all(from, to);
        }
    }
}
