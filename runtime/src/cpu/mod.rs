//! The CPU executor.
//!
//! Out-of-place transforms along one or two axes are row programs (`rows`): one pass over the data that lifts both axes
//! while rows are in cache. Transforms along three axes also take planes (`rows::volume`). Everything else goes axis by
//! axis, in place: lines in bundles (`pass`), steps on bundles (`lift`). All give the oracle's bits; the recipe names
//! the executor.

mod adjoint;
mod copy;
mod isa;
mod lift;
mod pass;
mod rows;
#[cfg(test)]
mod tests;
mod tiles;

use crate::data::{Dims, MAX_RANK, RawView, RawViewMut};
use crate::error::PlanError;
use crate::exec::{Executor, Joins, Workspace, WorkspaceSize};
use crate::sample::{CompiledStep, Sample, Stored};
use adjoint::Adjoint;
use lifting_dsl::geometry::Layout;
use lifting_dsl::{Boundary, Direction, Scheme};
use lifting_loops::Isa;
use lifting_planner::{Pass, Problem};
use pass::{Side, Work};
pub use rows::{Lines, Stationary};
use std::sync::{Arc, OnceLock};
pub(crate) use tiles::Tiled;

/// Pointers shared between workers.
struct Shared<P>(P);
// SAFETY: workers write distinct samples.
unsafe impl<P> Sync for Shared<P> {}

impl<P> Shared<P> {
    fn get(&self) -> &P {
        &self.0
    }
}

/// Samples in bundles of lines that all workers of a pass may take, if the data is small.
const LINES: usize = 1 << 20;

/// Executor of a problem with up to `threads` threads.
#[derive(Debug)]
pub(crate) struct Cpu<T: Sample> {
    problem: Arc<Problem>,
    /// Wavelets of the levels' axes.
    wavelets: Vec<Wavelet<T>>,
    /// Adjoints of analysis and synthesis for real schemes, made on first use.
    adjoints: OnceLock<Option<Adjoints<T>>>,
    levels: Vec<Level>,
    /// The row program, a faster path if the problem has one.
    rows: Option<rows::Program<T>>,
    /// The volume program, if the problem has three axes that allow one.
    volume: Option<rows::Volume<T>>,
    threads: usize,
    isa: Isa,
    /// Workspace of the transforms; adjoints grow it if they need more.
    size: WorkspaceSize,
    /// Workspace of transforms in place, which need no low bands.
    in_place: WorkspaceSize,
}

/// A wavelet's steps, and their border rule.
#[derive(Debug)]
struct Wavelet<T: Sample> {
    scheme: Scheme,
    boundary: Boundary,
    analysis: Vec<CompiledStep<T::Lane>>,
    synthesis: Vec<CompiledStep<T::Lane>>,
}

/// Execution of adjoints.
#[derive(Debug)]
enum Adjoints<T: Sample> {
    /// A transform of another scheme: the adjoint of analysis is its synthesis.
    Transform(Box<Cpu<T>>),
    /// Step by step: the adjoints of each wavelet's analysis and synthesis.
    Steps(Vec<[Adjoint<T::Lane>; 2]>),
}

/// Operation to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The steps of the scheme, or their inverse.
    Transform,
    /// The adjoint of the opposite direction.
    Adjoint,
}

/// One level: its low band and the axes to lift.
#[derive(Debug)]
struct Level {
    /// Shape of the analysed low band.
    shape: Vec<usize>,
    /// Its origins modulo 2.
    parity: Vec<usize>,
    /// Axes in the order of analysis.
    axes: Vec<usize>,
    /// Index of each of these axes' wavelet.
    wavelets: Vec<usize>,
}

/// A level's low band in memory.
#[derive(Clone, Copy)]
struct Window<T> {
    ptr: *mut T,
    strides: Dims<isize>,
}

impl<T: Sample> Cpu<T> {
    /// Prepares the problem.
    ///
    /// # Errors
    /// If the scratch cannot be addressed, or `LIFTING_CPU` does not name an instruction set.
    pub fn new(problem: Arc<Problem>, threads: usize) -> Result<Cpu<T>, PlanError> {
        let shape = problem.geometry.shape().to_vec();
        Cpu::with(problem, threads, isa::detect()?).ok_or(PlanError::TooLarge { shape })
    }

    /// Makes the executor with a given instruction set of the machine.
    fn with(problem: Arc<Problem>, threads: usize, isa: Isa) -> Option<Cpu<T>> {
        let geometry = &problem.geometry;
        let mut wavelets: Vec<Wavelet<T>> = Vec::new();
        let mut index = |scheme: &Scheme, boundary: Boundary| {
            let known = wavelets.iter().position(|own| own.boundary == boundary && own.scheme == *scheme);
            known.unwrap_or_else(|| {
                wavelets.push(Wavelet {
                    scheme: scheme.clone(),
                    boundary,
                    analysis: CompiledStep::all(scheme.stages(boundary), scheme.steps()),
                    synthesis: CompiledStep::all(scheme.inverse_stages(boundary), &scheme.inverse_steps()),
                });
                wavelets.len() - 1
            })
        };
        let levels: Vec<Level> = (0..geometry.depth())
            .map(|j| {
                let axes = geometry.axes_at(j);
                let wavelet = |&axis: &usize| {
                    let (scheme, boundary) = problem.wavelet(axis, j);
                    index(scheme, boundary)
                };
                Level {
                    shape: geometry.level_shape(j),
                    parity: geometry.level_origins(j).iter().map(|u| u.rem_euclid(2) as usize).collect(),
                    wavelets: axes.iter().map(wavelet).collect(),
                    axes,
                }
            })
            .collect();
        let mut size = WorkspaceSize::default();
        // Workers beyond this would take more memory than their speed justifies.
        let most = LINES.max(geometry.samples() / 32);
        for level in &levels {
            for &axis in &level.axes {
                let across = pass::widest(&level.shape, axis);
                let piece = pass::scratch(level.shape[axis], across);
                let workers = threads.min(across.max(1)).min((most / piece.max(1)).max(1));
                size.lines = size.lines.max(piece.checked_mul(workers)?);
            }
            if !T::DIRECT && level.axes.len() > 1 {
                size.level = size.level.max(level.shape.iter().product());
            }
        }
        let in_place = size;
        if problem.pads() {
            size.padded = geometry.samples();
        }
        // Several wavelets go axis by axis.
        let is_one = !problem.is_mixed();
        let rows = is_one.then(|| rows::Program::new(&problem, isa, threads)).flatten();
        if let Some(rows) = &rows {
            size.lines = size.lines.max(rows.work()?);
            size.low = rows.low()?;
        }
        let volume = (is_one && rows.is_none()).then(|| rows::Volume::new(&problem, isa, threads)).flatten();
        if let Some(volume) = &volume {
            size.lines = size.lines.max(volume.work());
            size.low = size.low.max(volume.low());
        }
        Some(Cpu { adjoints: OnceLock::new(), wavelets, levels, rows, volume, threads, isa, size, in_place, problem })
    }

    /// The adjoints; `None` if their scratch cannot be addressed, or the scheme is not real.
    fn adjoints(&self) -> Option<&Adjoints<T>> {
        let make = || match self.problem.adjoint() {
            Some(adjoint) => {
                Cpu::with(Arc::new(adjoint), self.threads, self.isa).map(|cpu| Adjoints::Transform(Box::new(cpu)))
            }
            None => {
                self.wavelets.iter().map(|own| Adjoint::pair(&own.scheme)).collect::<Option<_>>().map(Adjoints::Steps)
            }
        };
        self.adjoints.get_or_init(make).as_ref()
    }

    /// The low band of level `j + 1` within that of level `j`.
    fn descend<P: Copy>(&self, j: usize, window: Window<P>) -> Window<P> {
        let mut next = window;
        if self.problem.layout == Layout::Interleaved {
            let level = &self.levels[j];
            for &axis in &level.axes {
                // Low samples are at even positions. An axis without any has no next sample to point at.
                if level.shape[axis] > level.parity[axis] {
                    next.ptr = next.ptr.wrapping_offset(level.parity[axis] as isize * window.strides[axis]);
                }
                if level.shape[axis] > 1 {
                    next.strides[axis] = window.strides[axis].wrapping_mul(2);
                }
            }
        }
        next
    }

    /// The low band of level `level` in an array of the geometry's shape.
    fn window<P: Copy>(&self, level: usize, ptr: *mut P, strides: Dims<isize>) -> Window<P> {
        (0..level).fold(Window { ptr, strides }, |window, j| self.descend(j, window))
    }

    /// All passes of level `j` over its low band at `window`.
    unsafe fn level(
        &self,
        j: usize,
        (direction, kind): (Direction, Kind),
        window: Window<T>,
        workspace: &mut Workspace<T>,
    ) {
        let Level { shape, parity, axes, wavelets } = &self.levels[j];
        let Workspace { lines, level: buffer, .. } = workspace;
        let buffer = Window { ptr: buffer.as_mut_ptr(), strides: dense(shape) };
        let (analysis, last) = (direction == Direction::Forward, axes.len() - 1);
        for step in 0..axes.len() {
            let place = if analysis { step } else { last - step };
            let (axis, wavelet) = (axes[place], &self.wavelets[wavelets[place]]);
            let adjoint = match kind {
                Kind::Transform => None,
                // The adjoint of synthesis runs in the direction of analysis.
                Kind::Adjoint => match self.adjoints() {
                    Some(Adjoints::Steps(all)) => {
                        let [ofs, ofi] = &all[wavelets[place]];
                        Some(if analysis { ofi } else { ofs })
                    }
                    _ => None,
                },
            };
            let boundary = wavelet.boundary;
            let work = Work {
                steps: match adjoint {
                    Some(adjoint) => &adjoint.steps,
                    None if analysis => &wavelet.analysis,
                    None => &wavelet.synthesis,
                },
                folds: adjoint.map_or(Vec::new(), |a| a.folds(boundary, shape[axis], parity[axis])),
                boundary,
                parity: parity[axis],
                direction,
                gain: if step == if analysis { 0 } else { last } { self.problem.gain_shift } else { 0 },
                doubled_ends: self.problem.doubled_ends,
                double_lone_odd: self.problem.double_lone_odd,
                is_adjoint: self.problem.is_adjoint != (kind == Kind::Adjoint),
            };
            // Storage types are rounded once a level: inner passes stay in the buffer of work-type samples.
            let from_memory = T::DIRECT || step == 0;
            let to_memory = T::DIRECT || step == last;
            // SAFETY: the window's samples are valid by the caller's promise; the buffer has the level's size.
            unsafe {
                match (from_memory, to_memory) {
                    (true, true) => self.pass(shape, axis, window, window, &work, lines),
                    (true, false) => self.pass(shape, axis, window, buffer, &work, lines),
                    (false, false) => self.pass(shape, axis, buffer, buffer, &work, lines),
                    (false, true) => self.pass(shape, axis, buffer, window, &work, lines),
                }
            }
        }
    }

    unsafe fn pass<S: Stored<T::Lane>, D: Stored<T::Lane>>(
        &self,
        shape: &[usize],
        axis: usize,
        from: Window<S>,
        to: Window<D>,
        work: &Work<'_, T::Lane>,
        lines: &mut [T::Lane],
    ) {
        let apart = self.problem.layout == Layout::Mallat;
        let analysis = work.direction == Direction::Forward;
        let read = Side { ptr: from.ptr.cast_const(), strides: from.strides, split: apart && !analysis };
        let write = Side { ptr: to.ptr, strides: to.strides, split: apart && analysis };
        // SAFETY: passed on from the caller.
        unsafe { pass::run(shape, axis, read, write, work, lines, self.threads) }
    }

    /// Synthesises the levels from the coarsest up to `level`, whose low band is all of `data`.
    unsafe fn synthesise(&self, level: usize, kind: Kind, data: RawViewMut<T>, workspace: &mut Workspace<T>) {
        let top = Window { ptr: data.ptr, strides: data.strides };
        for j in (level..self.levels.len()).rev() {
            let window = (level..j).fold(top, |window, k| self.descend(k, window));
            // SAFETY: a window of `data`.
            unsafe { self.level(j, (Direction::Inverse, kind), window, workspace) };
        }
    }

    /// Analyses all levels.
    unsafe fn analyse(&self, kind: Kind, data: RawViewMut<T>, workspace: &mut Workspace<T>) {
        let mut window = Window { ptr: data.ptr, strides: data.strides };
        for j in 0..self.levels.len() {
            // SAFETY: a window of `data`.
            unsafe { self.level(j, (Direction::Forward, kind), window, workspace) };
            window = self.descend(j, window);
        }
    }
}

/// Row-major strides of an array without gaps, like `lifting_planner::contiguous` but without an allocation.
fn dense(shape: &[usize]) -> Dims<isize> {
    let mut strides = [1isize; MAX_RANK];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

/// View of an array without gaps.
fn packed<T>(ptr: *mut T, (rank, shape): (usize, Dims<usize>)) -> RawViewMut<T> {
    RawViewMut { ptr, rank, shape, strides: dense(&shape[..rank]) }
}

impl<T: Sample> Executor<T> for Cpu<T> {
    fn workspace_size(&self) -> WorkspaceSize {
        self.size
    }

    fn in_place_size(&self) -> WorkspaceSize {
        self.in_place
    }

    fn passes(&self) -> Vec<Pass> {
        let pass = |j: usize, axes: &[usize], schedule| Pass {
            level: j as u32 + 1,
            axes: axes.to_vec(),
            lengths: axes.iter().map(|&axis| self.levels[j].shape[axis]).collect(),
            count: self.levels[j].shape.iter().enumerate().filter(|(a, _)| !axes.contains(a)).map(|(_, n)| n).product(),
            schedule,
        };
        let levels = self.levels.iter().enumerate();
        match (&self.rows, &self.volume) {
            (_, Some(volume)) => levels.map(|(j, level)| pass(j, &level.axes, volume.name())).collect(),
            (Some(rows), _) => levels.map(|(j, level)| pass(j, &level.axes, rows.name(j))).collect(),
            (None, None) => {
                levels.flat_map(|(j, level)| level.axes.iter().map(move |&a| pass(j, &[a], "lines"))).collect()
            }
        }
    }

    unsafe fn forward(
        &self,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        // SAFETY: passed on from the caller.
        unsafe {
            let volume = self.volume.as_ref().filter(|volume| volume.takes(&src.strides, &dst.strides));
            if self.rows.is_some() || volume.is_some() {
                let Workspace { lines, low, padded, .. } = workspace;
                let mut src = src;
                if self.problem.pads() {
                    let whole = packed(padded.as_mut_ptr(), (dst.rank, dst.shape));
                    copy::copy(src, whole, self.threads);
                    src = whole.as_const();
                }
                match (&self.rows, volume) {
                    (Some(rows), _) => rows.run(Direction::Forward, 0, src, dst, lines, low),
                    (None, Some(volume)) => volume.run(Direction::Forward, 0, src, dst, lines, low),
                    (None, None) => {}
                }
                return Ok(());
            }
            copy::copy(src, dst, self.threads);
            self.forward_in_place(dst, workspace)
        }
    }

    unsafe fn forward_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError> {
        // SAFETY: passed on from the caller.
        unsafe { self.analyse(Kind::Transform, data, workspace) };
        Ok(())
    }

    unsafe fn adjoint(
        &self,
        of: Direction,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let shape = || self.problem.geometry.shape().to_vec();
        let adjoints = self.adjoints().ok_or_else(|| PlanError::TooLarge { shape: shape() })?;
        // SAFETY: passed on from the caller; the workspace is as large as the adjoint needs.
        unsafe {
            if let Adjoints::Transform(adjoint) = adjoints {
                workspace.grow(adjoint.size)?;
                return match of {
                    Direction::Forward => adjoint.inverse(0, src, dst, workspace),
                    Direction::Inverse => adjoint.forward(src, dst, workspace),
                };
            }
            copy::copy(src, dst, self.threads);
            match of {
                Direction::Forward => self.synthesise(0, Kind::Adjoint, dst, workspace),
                Direction::Inverse => self.analyse(Kind::Adjoint, dst, workspace),
            }
        }
        Ok(())
    }

    unsafe fn inverse(
        &self,
        level: u32,
        src: RawView<T>,
        dst: RawViewMut<T>,
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let level = level as usize;
        if level == 0 && self.problem.pads() {
            let mut padded = std::mem::take(&mut workspace.padded);
            let whole = packed(padded.as_mut_ptr(), (src.rank, src.shape));
            // SAFETY: `padded` has the geometry's size; the rest is passed on from the caller.
            unsafe {
                let Workspace { lines, low, .. } = workspace;
                let volume = self.volume.as_ref().filter(|volume| volume.takes(&src.strides, &whole.strides));
                match (&self.rows, volume) {
                    (Some(rows), _) => rows.run(Direction::Inverse, 0, src, whole, lines, low),
                    (None, Some(volume)) => volume.run(Direction::Inverse, 0, src, whole, lines, low),
                    (None, None) => {
                        copy::copy(src, whole, self.threads);
                        self.synthesise(0, Kind::Transform, whole, workspace);
                    }
                }
                copy::copy(whole.as_const(), dst, self.threads);
            }
            workspace.padded = padded;
            return Ok(());
        }
        if let Some(rows) = self.rows.as_ref().filter(|rows| rows.levels() > level) {
            // SAFETY: passed on from the caller.
            unsafe { rows.run(Direction::Inverse, level, src, dst, &mut workspace.lines, &mut workspace.low) };
            return Ok(());
        }
        let volume = self.volume.as_ref().filter(|volume| volume.levels() > level);
        if let Some(volume) = volume.filter(|volume| volume.takes(&src.strides, &dst.strides)) {
            // SAFETY: passed on from the caller.
            unsafe { volume.run(Direction::Inverse, level, src, dst, &mut workspace.lines, &mut workspace.low) };
            return Ok(());
        }
        let low = self.window(level, src.ptr.cast_mut(), src.strides);
        let low = RawView { ptr: low.ptr.cast_const(), strides: low.strides, shape: dst.shape, rank: dst.rank };
        // SAFETY: the window holds the low band of `level` and its sub-bands; it is never written through.
        unsafe {
            copy::copy(low, dst, self.threads);
            self.synthesise(level, Kind::Transform, dst, workspace);
        }
        Ok(())
    }

    fn joins(&self) -> Option<&dyn Joins<T>> {
        let rows = self.rows.as_ref().filter(|rows| rows.joins() && !self.problem.pads())?;
        Some(rows)
    }

    unsafe fn inverse_in_place(&self, data: RawViewMut<T>, workspace: &mut Workspace<T>) -> Result<(), PlanError> {
        // SAFETY: passed on from the caller.
        unsafe { self.synthesise(0, Kind::Transform, data, workspace) };
        Ok(())
    }
}
