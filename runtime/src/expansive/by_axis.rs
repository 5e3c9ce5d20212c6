//! Levels axis by axis, for axes that are short compared with the wavelet.
//!
//! The extension of a short axis is many times the axis. With several such axes the extended array is the product: a
//! shape of 5×8×5×1 under a wavelet of 62 taps grows from 200 samples to 10⁹. Here each axis is extended, transformed
//! and cropped before the next one, in bundles of lines, and the bands are all that is ever stored.
//!
//! Extensions that copy samples commute with transforms along other axes, so that the bits are the same. Those that
//! compute (`smooth`, `antisymmetric`, `antireflect`), and sample types that are storage only, may differ in the last
//! bit from the array extended at once. So may adjoints, which add up the samples of a border axis by axis.

use super::{Expansive, place};
use crate::data::{Expected, RawView, Source, contiguous};
use crate::device::Device;
use crate::error::PlanError;
use crate::exec::{Workspace, WorkspaceSize, resized};
use crate::sample::Sample;
use lifting_dsl::Scheme;
use lifting_dsl::extension::{Extension, Window};

/// Lines in a bundle.
const BUNDLE: usize = 64;

/// Extended arrays up to this many samples are made at once.
const SMALL: usize = 1 << 20;

/// Extended arrays up to this many times the size of the bands are made at once.
const OVERHEAD: usize = 4;

/// Levels of one axis each.
#[derive(Debug)]
pub(super) struct ByAxis<T: Sample> {
    /// Levels of arrays with `BUNDLE` columns; `None` for axes that are not transformed.
    levels: Vec<Option<Expansive<T>>>,
}

/// Operation of a stage.
#[derive(Clone, Copy)]
enum Stage {
    Forward,
    Inverse,
    Adjoint,
    InverseAdjoint,
}

/// Whether levels of these windows go axis by axis.
pub(super) fn takes(windows: &[Option<Window>], given: &[usize]) -> bool {
    let product = |of: fn(&Window) -> usize| {
        let lengths = windows.iter().zip(given).map(|(window, &n)| window.as_ref().map_or(n, of));
        lengths.fold(1, usize::saturating_mul)
    };
    let (extended, bands) = (product(Window::length), product(|window| 2 * window.coefficients));
    windows.iter().flatten().count() > 1 && extended > SMALL && extended / OVERHEAD > bands
}

/// The window without margins: bands and nothing else.
pub(super) fn cropped(window: &Window) -> Window {
    Window { origin: 0, left: 0, right: 0, ..*window }
}

impl<T: Sample> ByAxis<T> {
    /// Levels for windows along the axes.
    pub fn new(
        scheme: &Scheme,
        windows: &[Option<Window>],
        extensions: &[Option<Extension>],
        device: &Device,
    ) -> Result<ByAxis<T>, PlanError> {
        let level = |(window, rule): (&Option<Window>, &Option<Extension>)| {
            window
                .zip(*rule)
                .map(|(window, rule)| {
                    let rules = [Some(rule), None];
                    Expansive::with(scheme, &[window.samples, BUNDLE], &rules, device, |_, _| Some(window))
                })
                .transpose()
        };
        Ok(ByAxis { levels: windows.iter().zip(extensions).map(level).collect::<Result<_, _>>()? })
    }

    /// The level of the first axis.
    pub fn first(&self) -> Option<&Expansive<T>> {
        self.levels.iter().flatten().next()
    }

    /// Size of a workspace for all axes.
    pub fn size(&self) -> WorkspaceSize {
        self.levels.iter().flatten().fold(WorkspaceSize::default(), |size, level| size.max(level.size))
    }

    /// All axes, those of analysis and of its kin innermost first, the others outermost first.
    fn run(
        &self,
        stage: Stage,
        mut shape: Vec<usize>,
        mut from: Vec<T>,
        to: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let size = workspace.size;
        let splits = matches!(stage, Stage::Forward | Stage::InverseAdjoint);
        let mut axes: Vec<usize> = (0..self.levels.len()).filter(|&axis| self.levels[axis].is_some()).collect();
        if splits {
            axes.reverse();
        }
        let last = axes.len() - 1;
        for (number, axis) in axes.into_iter().enumerate() {
            let Some(level) = &self.levels[axis] else { continue };
            workspace.resize(level.size)?;
            let (outer, inner) = (&shape[..axis], shape[axis + 1..].iter().product::<usize>());
            let lines = Lines { count: outer.iter().product::<usize>() * inner, inner };
            let n = match stage {
                Stage::Forward | Stage::InverseAdjoint => 2 * level.band_shape[0],
                Stage::Inverse => level.restored[0],
                Stage::Adjoint => level.shape[0],
            };
            if number == last {
                level.stage(stage, &lines, &from, to, workspace)?;
            } else {
                let mut next = allocated(lines.count * n)?;
                level.stage(stage, &lines, &from, &mut next, workspace)?;
                from = next;
            }
            shape[axis] = n;
        }
        workspace.resize(size)
    }
}

/// The lines along an axis: `inner` of them are neighbours, and so far apart are samples of one.
struct Lines {
    count: usize,
    inner: usize,
}

impl Lines {
    /// Index of sample 0 of a line, in an array of `n` samples along the axis.
    fn at(&self, line: usize, n: usize) -> usize {
        line / self.inner * n * self.inner + line % self.inner
    }

    /// Copies rows of a bundle from samples `first` on of its lines; columns without a line are zero.
    fn gather<T: Sample>(&self, from: &[T], n: usize, first: usize, start: usize, bundle: &mut [T]) {
        for (k, row) in bundle.chunks_exact_mut(BUNDLE).enumerate() {
            for (j, x) in row.iter_mut().enumerate() {
                let line = start + j;
                *x = if line < self.count { from[self.at(line, n) + (first + k) * self.inner] } else { T::default() };
            }
        }
    }

    /// Copies rows of a bundle to samples `first` on of its lines.
    fn scatter<T: Sample>(&self, bundle: &[T], to: &mut [T], n: usize, first: usize, start: usize) {
        for (k, row) in bundle.chunks_exact(BUNDLE).enumerate() {
            for (j, &x) in row.iter().enumerate().take(self.count - start) {
                to[self.at(start + j, n) + (first + k) * self.inner] = x;
            }
        }
    }
}

/// A vector of zeros.
fn allocated<T: Sample>(length: usize) -> Result<Vec<T>, PlanError> {
    let mut vector = Vec::new();
    let bytes = length.saturating_mul(size_of::<T>());
    if !resized(&mut vector, length) {
        return Err(PlanError::OutOfMemory { what: "the level", bytes });
    }
    Ok(vector)
}

impl<T: Sample> Expansive<T> {
    /// All lines along the axis of a level of bundles.
    fn stage(
        &self,
        stage: Stage,
        lines: &Lines,
        from: &[T],
        to: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let [bands, data, restored] = [self.band_shape[0], self.shape[0], self.restored[0]];
        let (low, high) = (self.offsets(0)[0] * BUNDLE, self.offsets(1)[0] * BUNDLE);
        let first = self.first()[0] * BUNDLE;
        let mut scratch = allocated(2 * self.extended_len())?;
        let mut whole = allocated(self.extended_len().max(data * BUNDLE))?;
        let mut given = allocated((2 * bands).max(data).max(restored) * BUNDLE)?;
        for start in (0..lines.count).step_by(BUNDLE) {
            match stage {
                Stage::Forward | Stage::InverseAdjoint => {
                    let n = if matches!(stage, Stage::Forward) { data } else { restored };
                    let (given, whole) = (&mut given[..n * BUNDLE], &mut whole[..self.extended_len()]);
                    lines.gather(from, n, 0, start, given);
                    match stage {
                        Stage::Forward => self.forward_with(given, whole, &mut scratch, workspace)?,
                        _ => self.inverse_adjoint_with(given, whole, &mut scratch, workspace)?,
                    }
                    lines.scatter(&whole[low..][..bands * BUNDLE], to, 2 * bands, 0, start);
                    lines.scatter(&whole[high..][..bands * BUNDLE], to, 2 * bands, bands, start);
                }
                Stage::Inverse | Stage::Adjoint => {
                    let given = &mut given[..2 * bands * BUNDLE];
                    lines.gather(from, 2 * bands, 0, start, given);
                    let (low, high) = given.split_at(bands * BUNDLE);
                    let halves = [Some(low), Some(high)];
                    if matches!(stage, Stage::Inverse) {
                        self.inverse_with(&halves, &mut whole[..self.extended_len()], &mut scratch, workspace)?;
                        lines.scatter(&whole[first..][..restored * BUNDLE], to, restored, 0, start);
                    } else {
                        self.adjoint_with(&halves, &mut whole[..data * BUNDLE], &mut scratch, workspace)?;
                        lines.scatter(&whole[..data * BUNDLE], to, data, 0, start);
                    }
                }
            }
        }
        Ok(())
    }

    /// A copy of an array of that shape without gaps.
    fn packed<S: Source<T> + ?Sized>(array: &S, what: &'static str, shape: &[usize]) -> Result<Vec<T>, PlanError> {
        let view = array.source(&Expected::contiguous(what, shape)?)?;
        let mut packed = allocated(shape.iter().product())?;
        // SAFETY: a checked view of a shared borrow, of that shape.
        unsafe { place(0, &view, view.ptr, 0, &contiguous(shape), &mut packed) };
        Ok(packed)
    }

    /// Analysis, or the adjoint of synthesis, axis by axis.
    pub(super) fn split_by_axis<S: Source<T> + ?Sized>(
        &self,
        by_axis: &ByAxis<T>,
        adjoint: bool,
        data: &S,
        coefficients: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        self.scratch(&mut [], 0, &self.extended, workspace)?;
        let whole = Expected::contiguous("the coefficients", &self.extended)?;
        crate::data::Target::target(coefficients, &whole)?;
        let (stage, shape) = match adjoint {
            false => (Stage::Forward, &self.shape),
            true => (Stage::InverseAdjoint, &self.restored),
        };
        let packed = Self::packed(data, "the data", shape)?;
        by_axis.run(stage, shape.clone(), packed, coefficients, workspace)
    }

    /// Synthesis, or the adjoint of analysis, axis by axis.
    pub(super) fn join_by_axis(
        &self,
        by_axis: &ByAxis<T>,
        adjoint: bool,
        views: &[Option<RawView<T>>],
        data: &mut [T],
        workspace: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        self.scratch(&mut [], 0, &self.extended, workspace)?;
        let expected = if adjoint { &self.shape } else { &self.extended };
        crate::data::Target::target(data, &Expected::contiguous("the data", expected)?)?;
        let mut coefficients = allocated(self.extended_len())?;
        self.gather(views, &self.windows, &self.extended, &mut coefficients);
        if adjoint {
            return by_axis.run(Stage::Adjoint, self.extended.clone(), coefficients, data, workspace);
        }
        let mut restored = allocated(self.restored.iter().product())?;
        by_axis.run(Stage::Inverse, self.extended.clone(), coefficients, &mut restored, workspace)?;
        let from = RawView::new(restored.as_ptr(), &self.restored, &contiguous(&self.restored));
        // SAFETY: a view of all of the vector, which fits into the extended shape.
        unsafe { place(0, &from, from.ptr, 0, &self.strides, data) };
        Ok(())
    }
}
