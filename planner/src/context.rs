//! Everything that choices for a program depend on, and where its levels are in the workspace.

use crate::kernels::{Family, Kernels, Tuning};
use crate::list::{Array, Region, VECTOR};
use crate::model::Cost;
use crate::problem::Problem;
use crate::scalar::{scalar_of, work_of};
use crate::schedule::Schedule;
use crate::view::View;
use lifting_codegen::ir::Scalar;
use lifting_dsl::sample::SampleType;

/// Everything that choices depend on. Choices are functions of it, and change nothing but the cache of kernels.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub problem: &'a Problem,
    pub kind: SampleType,
    pub sample: Scalar,
    pub tuning: &'a Tuning,
    pub kernels: &'a Kernels,
    /// Whether levels that do not support the requested schedule may take another.
    pub lenient: bool,
    /// Whether source and target are assumed to be unaligned to vectors.
    pub misaligned: bool,
}

/// Minimum length of a batch axis for threads to run along it.
const SHORT: usize = 16;

impl<'a> Context<'a> {
    /// A context with aligned arrays, whose levels must support the requested schedule.
    pub fn new(problem: &'a Problem, sample: SampleType, tuning: &'a Tuning, kernels: &'a Kernels) -> Context<'a> {
        let (lenient, misaligned) = (false, false);
        Context { problem, kind: sample, sample: scalar_of(sample), tuning, kernels, lenient, misaligned }
    }

    /// The context in which levels may take other schedules than the requested one.
    pub fn lenient(self) -> Context<'a> {
        Context { lenient: true, ..self }
    }

    /// Kernels of the wavelet of an axis at a level.
    pub fn family(&self, axis: usize, level: u32) -> Family<'a> {
        let (scheme, boundary) = self.problem.wavelet(axis, level);
        let (gain, doubled_ends) = (self.has_gain(), self.problem.doubled_ends);
        Family { scheme, boundary, gain, doubled_ends, tuning: self.tuning }
    }

    /// Kernels of the wavelet of a level whose axes all have the same one.
    pub fn family_of(&self, level: u32) -> Family<'a> {
        self.family(self.problem.geometry.axes_at(level).first().copied().unwrap_or(0), level)
    }

    /// Whether pass kernels take a gain.
    pub fn has_gain(&self) -> bool {
        self.problem.gain_shift > 0
    }

    /// Whether launches take grids of images: those of the requested schedule.
    pub fn grids(&self) -> bool {
        !self.lenient && matches!(self.tuning.schedule, Schedule::Launch(schedule) if schedule.takes_grids())
    }

    /// Predicted cost of copying samples.
    pub fn copy_cost(&self, samples: usize) -> Cost {
        self.family_of(0).model(self.sample).copy(samples)
    }

    /// A part of the workspace as a box with aligned rows, unless that wastes much; the first sample of a row is at
    /// `parity` modulo 2. Also returns the number of elements.
    pub fn room(
        &self,
        region: Region,
        scalar: Scalar,
        shape: &[usize],
        order: &[usize],
        parity: usize,
    ) -> (View, usize) {
        let mut padded = shape.to_vec();
        let vector = VECTOR as usize / scalar.bytes();
        let mut lead = 0;
        if let Some(&axis) = order.last()
            && shape[axis] + parity >= 4 * vector
        {
            lead = parity;
            padded[axis] = (shape[axis] + parity).next_multiple_of(vector);
        }
        let view = View::packed(Array::Scratch(region), scalar, &padded, order);
        (View { offset: lead as i64, ..view }, padded.iter().product())
    }

    /// Parity of the first position of level `level` along the innermost axis.
    pub fn parity(&self, level: u32, order: &[usize]) -> usize {
        order.last().map_or(0, |&axis| (self.problem.geometry.level_origins(level)[axis] & 1) as usize)
    }

    /// Scratch for the low band of level `level`.
    pub fn low_room(&self, level: u32, order: &[usize]) -> (View, usize) {
        let region = Region::Low((level as usize + 1) % 2);
        let shape = self.problem.geometry.level_shape(level);
        self.room(region, self.sample, &shape, order, self.parity(level, order))
    }

    /// Scratch for a copy of a level that would be read from its target.
    pub fn copied_room(&self, level: u32, order: &[usize], parity: usize) -> View {
        self.room(Region::Packed, self.sample, &self.problem.geometry.level_shape(level), order, parity).0
    }

    /// Scratch between pass `i` of `passes` and the next.
    pub fn between_room(&self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> (View, usize) {
        // The last hand-over always uses the first part, so two passes need only that.
        let region = Region::Between((passes - 2 - i) % 2);
        self.room(region, work_of(self.sample), shape, order, 0)
    }

    /// The axis along which threads run: one with consecutive samples, but not a short batch axis (such as interleaved
    /// colours).
    pub fn threads_axis(&self, view: &View, shape: &[usize]) -> Option<usize> {
        let short = |axis: usize| self.problem.geometry.levels()[axis] == 0 && shape[axis] < SHORT;
        view.unit_axis(shape).filter(|&axis| !short(axis) || shape.iter().product::<usize>() == shape[axis])
    }

    /// Whether passes support the box as it is.
    pub fn suits(&self, view: &View, shape: &[usize]) -> bool {
        self.threads_axis(view, shape).is_some() || shape.iter().all(|&n| n <= 1)
    }

    /// Order of the axes in scratch: that of a box, with its short batch axes outermost.
    pub fn order(&self, view: &View, shape: &[usize]) -> Vec<usize> {
        let levels = self.problem.geometry.levels();
        let mut order: Vec<usize> = (0..shape.len()).collect();
        let short = |axis: usize| levels[axis] == 0 && shape[axis] < SHORT;
        order.sort_by_key(|&axis| (!short(axis), std::cmp::Reverse(view.strides[axis].unsigned_abs())));
        order
    }

    /// Whether data must first be copied into the axis order of the coefficients.
    pub fn packs(&self, source: &View, whole: &View, shape: &[usize]) -> bool {
        !self.suits(source, shape) || self.threads_axis(source, shape) != self.threads_axis(whole, shape)
    }
}
