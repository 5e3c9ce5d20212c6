//! From a problem to lists of launches: level by level, axis by axis.
//!
//! Analysis of a level: its first pass reads the level's low band where it is (the source, or the target where the level
//! before left it), passes hand on through scratch, and the last one writes low and high into the target, whose low band the next level reads. Synthesis is
//! the same backwards, except that the bands stand in the source, which is not written, and the low band where the coarser level left
//! it: the first pass reads the two in launches of their own.
//!
//! No launch may read an array that it writes. Where a level is a single launch (one transformed axis), low bands go from level to level
//! through scratch, from one part to the other; where it has to read the target in place, it is copied to scratch first.

use super::kernels::{Kernels, Tuning};
use super::list::{Array, List, Region, Regions};
use super::pass::{Pass, Sites};
use super::view::View;
use crate::data::MAX_RANK;
use crate::error::PlanError;
use crate::executor::Problem;
use lifting_codegen::ir::valid::KernelInfo;
use lifting_codegen::ir::{Kernel, Scalar};
use lifting_codegen::schedule::Direction;
use lifting_dsl::geometry::{Layout, split};
use lifting_dsl::sample::SampleType;

/// All that a plan launches: kernels, workspace, and a list for each thing that it can do.
#[derive(Debug)]
pub(crate) struct Program {
    pub kernels: Vec<(Kernel, KernelInfo)>,
    pub regions: Regions,
    pub forward: List,
    /// Target only; `None` where the plan pads.
    pub forward_in_place: Option<List>,
    /// To each level: 0 is the whole.
    pub inverse: Vec<List>,
    pub inverse_in_place: Option<List>,
}

impl Program {
    /// For data and coefficients with these strides; low bands of higher levels are contiguous.
    pub fn new(
        problem: &Problem,
        sample: SampleType,
        data: &[isize],
        coefficients: &[isize],
        tuning: &Tuning,
    ) -> Result<Program, PlanError> {
        let scalar = scalar_of(sample);
        let shape = problem.geometry.shape();
        let view = |array, strides: &[isize]| {
            let mut dims = [0; MAX_RANK];
            dims.iter_mut().zip(strides).for_each(|(d, s)| *d = *s as i64);
            View { array, scalar, offset: 0, strides: dims }
        };
        let mut lowering = Lowering {
            problem,
            sample: scalar,
            kernels: Kernels::new(&problem.scheme, problem.boundary, problem.gain_shift > 0, tuning),
            regions: Regions::default(),
            list: List::default(),
            beside: false,
        };
        let outer_first: Vec<usize> = (0..shape.len()).collect();
        let (source, target) = (view(Array::Source, data), view(Array::Target, coefficients));
        let forward = lowering.forward(source, target)?;
        let in_place = !problem.pads();
        let forward_in_place = in_place.then(|| lowering.forward(target, target)).transpose()?;
        let mut inverse = Vec::new();
        for level in 0..=problem.geometry.depth() {
            let target = match level {
                0 => view(Array::Target, data),
                _ => {
                    let shape = problem.geometry.level_shape(level);
                    View::packed(Array::Target, scalar, &shape, &outer_first)
                }
            };
            inverse.push(lowering.inverse(level, view(Array::Source, coefficients), target)?);
        }
        let inverse_in_place = in_place.then(|| lowering.inverse(0, target, target)).transpose()?;
        let Lowering { kernels, regions, .. } = lowering;
        let kernels = kernels.finish();
        Ok(Program { kernels, regions, forward, forward_in_place, inverse, inverse_in_place })
    }
}

/// The IR's name for a sample type.
pub(crate) fn scalar_of(sample: SampleType) -> Scalar {
    match sample {
        SampleType::I16 => Scalar::I16,
        SampleType::I32 => Scalar::I32,
        SampleType::I64 => Scalar::I64,
        SampleType::F32 => Scalar::F32,
        SampleType::F64 => Scalar::F64,
        SampleType::F16 => Scalar::F16,
        SampleType::Bf16 => Scalar::Bf16,
    }
}

/// What a level is computed in.
fn work_of(sample: Scalar) -> Scalar {
    match sample {
        Scalar::F16 | Scalar::Bf16 => Scalar::F32,
        s => s,
    }
}

/// A program being made.
pub(super) struct Lowering<'a> {
    pub problem: &'a Problem,
    pub sample: Scalar,
    pub kernels: Kernels<'a>,
    pub regions: Regions,
    pub list: List,
    /// Whether the next launch may run beside the last one.
    pub beside: bool,
}

/// A batch axis shorter than this is no good to run threads along.
const SHORT: usize = 16;

impl Lowering<'_> {
    /// What follows depends on what was launched so far.
    fn after(&mut self) {
        self.beside = false;
    }

    fn scratch(&mut self, region: Region, scalar: Scalar, shape: &[usize], order: &[usize]) -> View {
        self.regions.request(region, scalar, shape.iter().product());
        View::packed(Array::Scratch(region), scalar, shape, order)
    }

    /// The axis along which threads run: one with consecutive samples. A short batch axis (such as interleaved colours) is none.
    fn threads_axis(&self, view: &View, shape: &[usize]) -> Option<usize> {
        let short = |axis: usize| self.problem.geometry.levels()[axis] == 0 && shape[axis] < SHORT;
        view.unit_axis(shape).filter(|&axis| !short(axis) || shape.iter().product::<usize>() == shape[axis])
    }

    /// Whether passes can take the box as it is.
    fn suits(&self, view: &View, shape: &[usize]) -> bool {
        self.threads_axis(view, shape).is_some() || shape.iter().all(|&n| n <= 1)
    }

    /// The order of axes in scratch: that of a box, its short batch axes outermost.
    fn order(&self, view: &View, shape: &[usize]) -> Vec<usize> {
        let levels = self.problem.geometry.levels();
        let mut order: Vec<usize> = (0..shape.len()).collect();
        let short = |axis: usize| levels[axis] == 0 && shape[axis] < SHORT;
        order.sort_by_key(|&axis| (!short(axis), std::cmp::Reverse(view.strides[axis].unsigned_abs())));
        order
    }

    /// Analysis from one box to another, or in place if both are the same.
    fn forward(&mut self, source: View, target: View) -> Result<List, PlanError> {
        self.list = List::default();
        self.after();
        let problem = self.problem;
        let shape = problem.geometry.shape();
        let depth = problem.geometry.depth();
        let same = source.array == target.array;
        if depth == 0 {
            if !same {
                self.copy(source, target, shape, &problem.source_shape)?;
            }
            return Ok(std::mem::take(&mut self.list));
        }
        let order = self.order(&target, shape);
        let direct = problem.layout == Layout::Mallat && self.suits(&target, shape);
        let whole = if direct { target } else { self.scratch(Region::Whole, self.sample, shape, &order) };
        let mut low = source;
        if problem.pads() {
            self.copy(source, whole, shape, &problem.source_shape)?;
            low = whole;
        } else if !self.suits(&source, shape) || self.threads_axis(&source, shape) != self.threads_axis(&whole, shape) {
            let packed = self.scratch(Region::Packed, self.sample, shape, &order);
            self.copy(source, packed, shape, shape)?;
            low = packed;
        }
        for level in 0..depth {
            low = self.analyse(level, low, whole, &order)?;
        }
        if !direct {
            self.after();
            self.spread(0, whole, target)?;
        }
        Ok(std::mem::take(&mut self.list))
    }

    /// One level of analysis; gives the place of the low band for the next.
    fn analyse(&mut self, level: u32, from: View, whole: View, order: &[usize]) -> Result<View, PlanError> {
        let geometry = &self.problem.geometry;
        let shape = geometry.level_shape(level);
        let next = geometry.level_shape(level + 1);
        let axes = geometry.axes_at(level);
        let origins = geometry.level_origins(level);
        let last_level = level + 1 == geometry.depth();
        let mut from = from;
        if axes.len() == 1 && from.array == whole.array {
            let copy = self.scratch(Region::Between(0), work_of(self.sample), &shape, order);
            self.after();
            self.copy(from, copy, &shape, &shape)?;
            from = copy;
        }
        for (i, &axis) in axes.iter().enumerate() {
            let halves = split(shape[axis], origins[axis]);
            let last = i + 1 == axes.len();
            let to = if last { whole } else { self.between(i, axes.len(), &shape, order) };
            // A level of one launch leaves its low band where the next one can read it without writing there.
            let low = if last && axes.len() == 1 && !last_level {
                self.scratch(Region::Low(level as usize % 2), self.sample, &next, order)
            } else {
                to
            };
            let high = if halves.high > 0 { to.at(axis, halves.low) } else { to };
            self.after();
            let gain = if i == 0 { self.problem.gain_shift } else { 0 };
            let parity = (origins[axis] & 1) as usize;
            let pass = Pass { direction: Direction::Forward, level, axis, extent: &shape, parity, gain };
            self.pass(pass, Sites { signal: from, low, high })?;
            from = if last { low } else { to };
        }
        Ok(from)
    }

    /// Scratch between pass `i` of `passes` and the next.
    fn between(&mut self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> View {
        // The last hand-over is always through the first part, so that two passes need no other.
        let region = Region::Between((passes - 2 - i) % 2);
        self.scratch(region, work_of(self.sample), shape, order)
    }

    /// Synthesis from the coarsest level to `level`.
    fn inverse(&mut self, level: u32, source: View, target: View) -> Result<List, PlanError> {
        self.list = List::default();
        self.after();
        let problem = self.problem;
        let geometry = &problem.geometry;
        let (depth, shape) = (geometry.depth(), geometry.level_shape(level));
        let pads = level == 0 && problem.pads();
        let wanted = if pads { problem.source_shape.clone() } else { shape.clone() };
        let same = source.array == target.array;
        if level == depth {
            if !same {
                // The low band, which in either layout is a box of its own.
                let low = geometry.low_band(level, problem.layout);
                let from = Place { offset: low.offset, step: low.step }.within(source);
                self.copy(from, target, &wanted, &shape)?;
            }
            return Ok(std::mem::take(&mut self.list));
        }
        let full = geometry.shape();
        let order = self.order(&source, full);
        let direct = problem.layout == Layout::Mallat && self.suits(&source, full);
        let whole = if direct { source } else { self.scratch(Region::Whole, self.sample, full, &order) };
        if !direct {
            self.gather(level, source, whole)?;
        }
        // Threads run along the same axis everywhere; the low band's own strides decide where its box is flat.
        let fits = self.suits(&target, &wanted)
            && (wanted.iter().all(|&n| n <= 1)
                || self.threads_axis(&target, &wanted) == self.threads_axis(&whole, full));
        let staged = pads || !fits;
        let result = if staged { self.scratch(Region::Packed, self.sample, &shape, &order) } else { target };
        let in_place = result.array == whole.array;

        let mut low = whole;
        for j in (level..depth).rev() {
            let to = self.place(j, level, result, in_place, &order);
            self.synthesise(j, low, whole, to, &order)?;
            low = to;
        }
        if staged {
            self.after();
            self.copy(result, target, &wanted, &shape)?;
        }
        Ok(std::mem::take(&mut self.list))
    }

    /// Where synthesis leaves the low band of level `j`, on the way to `level`, which belongs into `result`.
    fn place(&mut self, j: u32, level: u32, result: View, in_place: bool, order: &[usize]) -> View {
        let geometry = &self.problem.geometry;
        if in_place {
            return result;
        }
        // Where the level above is a single launch, it must not find its input where it writes.
        let alternations = (level..j).rev().take_while(|&k| geometry.axes_at(k).len() == 1).count();
        if alternations % 2 == 0 {
            return result;
        }
        let shape = geometry.level_shape(j);
        self.scratch(Region::Low(0), self.sample, &shape, order)
    }

    /// One level of synthesis: the low band of level `level + 1` and the level's bands in `whole` become the low band of `level`.
    fn synthesise(&mut self, level: u32, low: View, whole: View, to: View, order: &[usize]) -> Result<(), PlanError> {
        let geometry = &self.problem.geometry;
        let shape = geometry.level_shape(level);
        let next = geometry.level_shape(level + 1);
        let axes = geometry.axes_at(level);
        let origins = geometry.level_origins(level);
        let gain = |last: bool| if last { self.problem.gain_shift } else { 0 };
        let (mut low, mut whole) = (low, whole);
        if axes.len() == 1 && whole.array == to.array {
            let copy = self.scratch(Region::Between(0), work_of(self.sample), &shape, order);
            self.after();
            self.copy(whole, copy, &shape, &shape)?;
            (low, whole) = (copy, copy);
        }
        let mut from = whole;
        for (i, &axis) in axes.iter().rev().enumerate() {
            let halves = split(shape[axis], origins[axis]);
            let last = i + 1 == axes.len();
            let out = if last { to } else { self.between(i, axes.len(), &shape, order) };
            let parity = (origins[axis] & 1) as usize;
            let pass = Pass { direction: Direction::Inverse, level, axis, extent: &shape, parity, gain: gain(last) };
            let high = if halves.high > 0 { from.at(axis, halves.low) } else { from };
            let sites = Sites { signal: out, low: from, high };
            self.after();
            if i == 0 && low.array != whole.array {
                // What is low along all axes comes from the level below, all else from the coefficients.
                let others = &axes[..axes.len() - 1];
                let mut extent = shape.clone();
                for &other in others {
                    let mut rest = extent.clone();
                    rest[other] = shape[other] - next[other];
                    if rest[other] > 0 {
                        self.pass(Pass { extent: &rest, ..pass }, sites.at(other, next[other]))?;
                    }
                    extent[other] = next[other];
                }
                self.pass(Pass { extent: &extent, ..pass }, Sites { low, ..sites })?;
            } else {
                self.pass(pass, sites)?;
            }
            from = out;
        }
        Ok(())
    }

    /// Copies the bands from the Mallat layout to the plan's layout.
    fn spread(&mut self, level: u32, whole: View, target: View) -> Result<(), PlanError> {
        self.bands(level, |lowering, apart, placed, shape| {
            lowering.copy(apart.within(whole), placed.within(target), shape, shape)
        })
    }

    /// Copies what lies below `level` from the plan's layout to the Mallat layout.
    fn gather(&mut self, level: u32, source: View, whole: View) -> Result<(), PlanError> {
        self.bands(level, |lowering, apart, placed, shape| {
            lowering.copy(placed.within(source), apart.within(whole), shape, shape)
        })
    }

    fn bands(
        &mut self,
        level: u32,
        mut each: impl FnMut(&mut Self, Place, Place, &[usize]) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        let geometry = &self.problem.geometry;
        if self.problem.layout == Layout::Mallat {
            let shape = geometry.level_shape(level);
            let whole = Place { offset: vec![0; shape.len()], step: vec![1; shape.len()] };
            return each(self, whole.clone(), whole, &shape);
        }
        let (apart, placed) = (geometry.bands(Layout::Mallat), geometry.bands(self.problem.layout));
        for (apart, placed) in apart.into_iter().zip(placed) {
            if apart.level > level && !apart.shape.contains(&0) {
                let place = |b: &lifting_dsl::geometry::Band| Place { offset: b.offset.clone(), step: b.step.clone() };
                each(self, place(&apart), place(&placed), &apart.shape)?;
            }
        }
        Ok(())
    }
}

/// A band's place in an array.
#[derive(Clone, Debug)]
struct Place {
    offset: Vec<usize>,
    step: Vec<usize>,
}

impl Place {
    fn within(&self, mut view: View) -> View {
        for (axis, (&offset, &step)) in self.offset.iter().zip(&self.step).enumerate() {
            view.offset += offset as i64 * view.strides[axis];
            // A band of one sample has no step; it may be any number.
            view.strides[axis] = view.strides[axis].wrapping_mul(step as i64);
        }
        view
    }
}
