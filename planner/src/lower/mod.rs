//! Lowering of a problem to lists of launches: level by level, axis by axis.
//!
//! In analysis of a level, the first pass reads the level's low band in place: in the source, or in the target where
//! the previous level left it. Further passes go through scratch. The last one writes low and high bands into the
//! target, where the next level reads its low band.
//!
//! Synthesis runs backwards, with one difference: the bands are in the source, which is not written, and the low band
//! is where the coarser level left it. So the first pass reads the two in separate launches.
//!
//! No launch may read an array that it writes. If a level is a single launch (one transformed axis), low bands
//! alternate between two parts of scratch. If it must read the target in place, the target is first copied to scratch.

mod analysis;
mod synthesis;

use crate::error::ProgramError;
use crate::kernels::{Kernels, Tuning};
use crate::list::{Array, List, Region, Regions, VECTOR};
use crate::model::Model;
use crate::problem::Problem;
use crate::program::Program;
use crate::view::View;
use lifting_codegen::ir::Scalar;
use lifting_dsl::geometry::{Band, Layout};
use lifting_dsl::sample::SampleType;

/// IR type of a sample type.
pub fn scalar_of(sample: SampleType) -> Scalar {
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

/// Sample type of an IR type; `None` if it is never a sample.
pub fn sample_of(scalar: Scalar) -> Option<SampleType> {
    let all = [SampleType::I16, SampleType::I32, SampleType::I64];
    let reals = [SampleType::F16, SampleType::Bf16, SampleType::F32, SampleType::F64];
    all.into_iter().chain(reals).find(|&sample| scalar_of(sample) == scalar)
}

/// Type in which a level is computed.
pub(crate) fn work_of(sample: Scalar) -> Scalar {
    match sample {
        Scalar::F16 | Scalar::Bf16 => Scalar::F32,
        s => s,
    }
}

/// A program under construction.
pub(crate) struct Lowering<'a> {
    pub problem: &'a Problem,
    pub kind: SampleType,
    pub sample: Scalar,
    pub kernels: Kernels<'a>,
    pub regions: Regions,
    pub list: List,
    /// Whether the next launch may run in parallel with the last one.
    pub beside: bool,
    /// Whether levels that do not support the requested schedule may take another.
    pub lenient: bool,
    /// Whether source and target are assumed to be unaligned to vectors.
    pub misaligned: bool,
}

/// Minimum length of a batch axis for threads to run along it.
const SHORT: usize = 16;

impl<'a> Lowering<'a> {
    pub fn new(problem: &'a Problem, sample: SampleType, tuning: &'a Tuning) -> Lowering<'a> {
        let mut kernels = Kernels::new(&problem.scheme, problem.boundary, problem.gain_shift > 0, tuning);
        kernels.doubled_ends = problem.doubled_ends;
        Lowering {
            problem,
            kind: sample,
            sample: scalar_of(sample),
            kernels,
            regions: Regions::default(),
            list: List::default(),
            beside: false,
            lenient: false,
            misaligned: false,
        }
    }

    /// Makes the program of these lists, which were all made here.
    pub fn finish(
        self,
        forward: List,
        forward_in_place: Option<List>,
        inverse: Vec<List>,
        inverse_in_place: Option<List>,
    ) -> Program {
        let Lowering { kernels, regions, .. } = self;
        let kernels = kernels.finish();
        let mut program = Program { kernels, regions, forward, forward_in_place, inverse, inverse_in_place };
        program.drop_unused();
        program
    }
}

impl Lowering<'_> {
    /// Sets the wavelet of an axis at a level for the kernels that follow.
    pub fn set_wavelet(&mut self, axis: usize, level: u32) {
        (self.kernels.scheme, self.kernels.boundary) = self.problem.wavelet(axis, level);
    }

    /// Sets the wavelet of a level whose axes all have the same one.
    pub fn set_wavelet_of(&mut self, level: u32) {
        if let Some(&axis) = self.problem.geometry.axes_at(level).first() {
            self.set_wavelet(axis, level);
        }
    }

    /// Later launches depend on all earlier ones.
    pub fn after(&mut self) {
        self.beside = false;
    }

    pub fn model(&self) -> Model<'_> {
        let Kernels { scheme, boundary, tuning, .. } = self.kernels;
        Model { machine: &tuning.machine, scheme, boundary, sample: self.sample }
    }

    /// A list, with an alternative for unaligned arrays if it needs alignment.
    pub fn anywhere(&mut self, make: impl Fn(&mut Self) -> Result<List, ProgramError>) -> Result<List, ProgramError> {
        let mut list = make(self)?;
        let moved = |array| if matches!(array, Array::Scratch(_)) { 0 } else { self.sample.bytes() as u64 };
        let stands = list.launches.iter().all(|launch| match (&launch.placed, &self.kernels.made(launch.kernel).fit) {
            (Some(placed), Some(fit)) => placed.arguments(&**fit, moved).is_some(),
            _ => !launch.vectors,
        });
        if !stands {
            let lenient = std::mem::replace(&mut self.lenient, true);
            self.misaligned = true;
            list.otherwise = Some(Box::new(make(self)?));
            (self.lenient, self.misaligned) = (lenient, false);
        }
        Ok(list)
    }

    /// A part of the workspace as a box with aligned rows, unless that wastes much; the first sample of a row is at
    /// `parity` modulo 2. Also returns the number of elements.
    fn room(&self, region: Region, scalar: Scalar, shape: &[usize], order: &[usize], parity: usize) -> (View, usize) {
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

    pub fn scratch(&mut self, region: Region, scalar: Scalar, shape: &[usize], order: &[usize], parity: usize) -> View {
        let (view, len) = self.room(region, scalar, shape, order, parity);
        self.regions.request(region, scalar, len);
        view
    }

    /// Parity of the first position of level `level` along the innermost axis.
    fn parity(&self, level: u32, order: &[usize]) -> usize {
        order.last().map_or(0, |&axis| (self.problem.geometry.level_origins(level)[axis] & 1) as usize)
    }

    /// Scratch for the low band of level `level`.
    fn low_room(&self, level: u32, order: &[usize]) -> (View, usize) {
        let region = Region::Low((level as usize + 1) % 2);
        let shape = self.problem.geometry.level_shape(level);
        self.room(region, self.sample, &shape, order, self.parity(level, order))
    }

    pub fn low(&mut self, level: u32, order: &[usize]) -> View {
        let (view, len) = self.low_room(level, order);
        let Array::Scratch(region) = view.array else { unreachable!("low bands are in the workspace") };
        self.regions.request(region, self.sample, len);
        view
    }

    /// Scratch for a copy of a level that would be read from its target.
    fn copied_room(&self, level: u32, order: &[usize], parity: usize) -> View {
        self.room(Region::Packed, self.sample, &self.problem.geometry.level_shape(level), order, parity).0
    }

    fn copied(&mut self, level: u32, from: View, order: &[usize], parity: usize) -> Result<View, ProgramError> {
        let shape = self.problem.geometry.level_shape(level);
        let copy = self.scratch(Region::Packed, self.sample, &shape, order, parity);
        self.after();
        self.copy(from, copy, &shape, &shape)?;
        self.after();
        Ok(copy)
    }

    /// The axis along which threads run: one with consecutive samples, but not a short batch axis (such as interleaved
    /// colours).
    fn threads_axis(&self, view: &View, shape: &[usize]) -> Option<usize> {
        let short = |axis: usize| self.problem.geometry.levels()[axis] == 0 && shape[axis] < SHORT;
        view.unit_axis(shape).filter(|&axis| !short(axis) || shape.iter().product::<usize>() == shape[axis])
    }

    /// Whether passes support the box as it is.
    fn suits(&self, view: &View, shape: &[usize]) -> bool {
        self.threads_axis(view, shape).is_some() || shape.iter().all(|&n| n <= 1)
    }

    /// Order of the axes in scratch: that of a box, with its short batch axes outermost.
    fn order(&self, view: &View, shape: &[usize]) -> Vec<usize> {
        let levels = self.problem.geometry.levels();
        let mut order: Vec<usize> = (0..shape.len()).collect();
        let short = |axis: usize| levels[axis] == 0 && shape[axis] < SHORT;
        order.sort_by_key(|&axis| (!short(axis), std::cmp::Reverse(view.strides[axis].unsigned_abs())));
        order
    }

    /// Scratch between pass `i` of `passes` and the next.
    fn between_room(&self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> (View, usize) {
        // The last hand-over always uses the first part, so two passes need only that.
        let region = Region::Between((passes - 2 - i) % 2);
        self.room(region, work_of(self.sample), shape, order, 0)
    }

    fn between(&mut self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> View {
        let (view, len) = self.between_room(i, passes, shape, order);
        let Array::Scratch(region) = view.array else { unreachable!("passes exchange data through the workspace") };
        self.regions.request(region, view.scalar, len);
        view
    }

    /// Copies the bands from the Mallat layout to the plan's layout.
    fn spread(&mut self, level: u32, whole: View, target: View) -> Result<(), ProgramError> {
        self.bands(level, |lowering, apart, placed, shape| {
            lowering.copy(apart.within(whole), placed.within(target), shape, shape)
        })
    }

    /// Copies the bands below `level` from the plan's layout to the Mallat layout.
    fn gather(&mut self, level: u32, source: View, whole: View) -> Result<(), ProgramError> {
        self.bands(level, |lowering, apart, placed, shape| {
            lowering.copy(placed.within(source), apart.within(whole), shape, shape)
        })
    }

    fn bands(
        &mut self,
        level: u32,
        mut each: impl FnMut(&mut Self, Place, Place, &[usize]) -> Result<(), ProgramError>,
    ) -> Result<(), ProgramError> {
        let geometry = &self.problem.geometry;
        if self.problem.layout == Layout::Mallat {
            let shape = geometry.level_shape(level);
            let whole = Place { offset: vec![0; shape.len()], step: vec![1; shape.len()] };
            return each(self, whole.clone(), whole, &shape);
        }
        let (apart, placed) = (geometry.bands(Layout::Mallat), geometry.bands(self.problem.layout));
        for (apart, placed) in apart.into_iter().zip(placed) {
            if apart.level > level && !apart.shape.contains(&0) {
                each(self, Place::from(&apart), Place::from(&placed), &apart.shape)?;
            }
        }
        Ok(())
    }
}

/// A band's place in an array.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    offset: Vec<usize>,
    step: Vec<usize>,
}

impl From<&Band> for Place {
    fn from(band: &Band) -> Place {
        Place { offset: band.offset.clone(), step: band.step.clone() }
    }
}

impl Place {
    pub fn within(&self, mut view: View) -> View {
        for (axis, (&offset, &step)) in self.offset.iter().zip(&self.step).enumerate() {
            view.offset += offset as i64 * view.strides[axis];
            // A band of one sample has no step; it may be any number.
            view.strides[axis] = view.strides[axis].wrapping_mul(step as i64);
        }
        view
    }
}
