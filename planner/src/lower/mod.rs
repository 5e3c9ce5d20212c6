//! From a problem to lists of launches: level by level, axis by axis.
//!
//! Analysis of a level: its first pass reads the level's low band where it is (the source, or the target where the
//! level before left it), passes hand on through scratch, and the last one writes low and high into the target, whose
//! low band the next level reads. Synthesis is the same backwards, except that the bands stand in the source, which is
//! not written, and the low band where the coarser level left it: the first pass reads the two in launches of their
//! own.
//!
//! No launch may read an array that it writes. Where a level is a single launch (one transformed axis), low bands go
//! from level to level through scratch, from one part to the other; where it has to read the target in place, it is
//! copied to scratch first.

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

/// The IR's name for a sample type.
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

/// The sample type of that name; none of what is never a sample.
pub fn sample_of(scalar: Scalar) -> Option<SampleType> {
    let all = [SampleType::I16, SampleType::I32, SampleType::I64];
    let reals = [SampleType::F16, SampleType::Bf16, SampleType::F32, SampleType::F64];
    all.into_iter().chain(reals).find(|&sample| scalar_of(sample) == scalar)
}

/// What a level is computed in.
pub(crate) fn work_of(sample: Scalar) -> Scalar {
    match sample {
        Scalar::F16 | Scalar::Bf16 => Scalar::F32,
        s => s,
    }
}

/// A program being made.
pub(crate) struct Lowering<'a> {
    pub problem: &'a Problem,
    pub kind: SampleType,
    pub sample: Scalar,
    pub kernels: Kernels<'a>,
    pub regions: Regions,
    pub list: List,
    /// Whether the next launch may run beside the last one.
    pub beside: bool,
    /// Whether levels that cannot take the schedule that was asked for may take another.
    pub lenient: bool,
    /// Whether source and target are taken to begin at no multiple of a vector.
    pub misaligned: bool,
}

/// A batch axis shorter than this is no good to run threads along.
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

    /// The program of these lists, which were all made here.
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
    /// What follows depends on what was launched so far.
    pub fn after(&mut self) {
        self.beside = false;
    }

    pub fn model(&self) -> Model<'_> {
        let Kernels { scheme, boundary, tuning, .. } = self.kernels;
        Model { machine: &tuning.machine, scheme, boundary, sample: self.sample }
    }

    /// A list, and another one for arrays that begin anywhere if it needs aligned ones.
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

    /// A part of the workspace as a box whose rows begin at multiples of a vector, as far as that does not waste much;
    /// the first sample of a row stands at `parity` modulo 2. Also the number of elements.
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

    /// The low band of level `level` on its way.
    fn low_room(&self, level: u32, order: &[usize]) -> (View, usize) {
        let region = Region::Low((level as usize + 1) % 2);
        let shape = self.problem.geometry.level_shape(level);
        self.room(region, self.sample, &shape, order, self.parity(level, order))
    }

    pub fn low(&mut self, level: u32, order: &[usize]) -> View {
        let (view, len) = self.low_room(level, order);
        let Array::Scratch(region) = view.array else { unreachable!("low bands on their way are in the workspace") };
        self.regions.request(region, self.sample, len);
        view
    }

    /// Where a level is copied that would be read where it is written.
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

    /// The axis along which threads run: one with consecutive samples. A short batch axis (such as interleaved colours)
    /// is none.
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

    /// Scratch between pass `i` of `passes` and the next.
    fn between_room(&self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> (View, usize) {
        // The last hand-over is always through the first part, so that two passes need no other.
        let region = Region::Between((passes - 2 - i) % 2);
        self.room(region, work_of(self.sample), shape, order, 0)
    }

    fn between(&mut self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> View {
        let (view, len) = self.between_room(i, passes, shape, order);
        let Array::Scratch(region) = view.array else { unreachable!("passes hand on through the workspace") };
        self.regions.request(region, view.scalar, len);
        view
    }

    /// Copies the bands from the Mallat layout to the plan's layout.
    fn spread(&mut self, level: u32, whole: View, target: View) -> Result<(), ProgramError> {
        self.bands(level, |lowering, apart, placed, shape| {
            lowering.copy(apart.within(whole), placed.within(target), shape, shape)
        })
    }

    /// Copies what lies below `level` from the plan's layout to the Mallat layout.
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
