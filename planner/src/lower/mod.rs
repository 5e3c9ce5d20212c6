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

use crate::context::Context;
use crate::error::ProgramError;
use crate::list::{Array, List, Region, Regions};
use crate::view::View;
use lifting_codegen::ir::Scalar;
use lifting_dsl::geometry::{Band, Layout};

/// A list of launches under construction.
pub(crate) struct Lowering<'a> {
    pub cx: Context<'a>,
    /// The workspace of all lists of the program.
    pub regions: &'a mut Regions,
    pub list: List,
    /// Whether the next launch may run in parallel with the last one.
    pub beside: bool,
}

/// Lowers to a list, with an alternative for unaligned arrays if it needs alignment.
pub(crate) fn anywhere<'a>(
    cx: Context<'a>,
    regions: &mut Regions,
    lower: impl Fn(Lowering) -> Result<List, ProgramError>,
) -> Result<List, ProgramError> {
    let mut list = lower(Lowering::new(cx, regions))?;
    let moved = |array| if matches!(array, Array::Scratch(_)) { 0 } else { cx.sample.bytes() as u64 };
    let stands = list.launches.iter().all(|launch| match (&launch.placed, &cx.kernels.made(launch.kernel).fit) {
        (Some(placed), Some(fit)) => placed.arguments(&**fit, moved).is_some(),
        _ => !launch.vectors,
    });
    if !stands {
        let cx = Context { misaligned: true, ..cx.lenient() };
        list.otherwise = Some(Box::new(lower(Lowering::new(cx, regions))?));
    }
    Ok(list)
}

impl<'a> Lowering<'a> {
    pub fn new(cx: Context<'a>, regions: &'a mut Regions) -> Lowering<'a> {
        Lowering { cx, regions, list: List::default(), beside: false }
    }
}

impl Lowering<'_> {
    /// Later launches depend on all earlier ones.
    pub fn after(&mut self) {
        self.beside = false;
    }

    pub fn scratch(&mut self, region: Region, scalar: Scalar, shape: &[usize], order: &[usize], parity: usize) -> View {
        let (view, len) = self.cx.room(region, scalar, shape, order, parity);
        self.regions.request(region, scalar, len);
        view
    }

    pub fn low(&mut self, level: u32, order: &[usize]) -> View {
        let (view, len) = self.cx.low_room(level, order);
        let Array::Scratch(region) = view.array else { unreachable!("low bands are in the workspace") };
        self.regions.request(region, self.cx.sample, len);
        view
    }

    fn copied(&mut self, level: u32, from: View, order: &[usize], parity: usize) -> Result<View, ProgramError> {
        let shape = self.cx.problem.geometry.level_shape(level);
        let copy = self.scratch(Region::Packed, self.cx.sample, &shape, order, parity);
        self.after();
        self.copy(from, copy, &shape, &shape)?;
        self.after();
        Ok(copy)
    }

    fn between(&mut self, i: usize, passes: usize, shape: &[usize], order: &[usize]) -> View {
        let (view, len) = self.cx.between_room(i, passes, shape, order);
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
        mut each: impl FnMut(&mut Self, BandPlace, BandPlace, &[usize]) -> Result<(), ProgramError>,
    ) -> Result<(), ProgramError> {
        let geometry = &self.cx.problem.geometry;
        if self.cx.problem.layout == Layout::Mallat {
            let shape = geometry.level_shape(level);
            let whole = BandPlace { offset: vec![0; shape.len()], step: vec![1; shape.len()] };
            return each(self, whole.clone(), whole, &shape);
        }
        let (apart, placed) = (geometry.bands(Layout::Mallat), geometry.bands(self.cx.problem.layout));
        for (apart, placed) in apart.into_iter().zip(placed) {
            if apart.level > level && !apart.shape.contains(&0) {
                each(self, BandPlace::from(&apart), BandPlace::from(&placed), &apart.shape)?;
            }
        }
        Ok(())
    }
}

/// A band's place in an array.
#[derive(Clone, Debug)]
pub(crate) struct BandPlace {
    offset: Vec<usize>,
    step: Vec<usize>,
}

impl From<&Band> for BandPlace {
    fn from(band: &Band) -> BandPlace {
        BandPlace { offset: band.offset.clone(), step: band.step.clone() }
    }
}

impl BandPlace {
    pub fn within(&self, mut view: View) -> View {
        for (axis, (&offset, &step)) in self.offset.iter().zip(&self.step).enumerate() {
            view.offset += offset as i64 * view.strides[axis];
            // A band of one sample has no step; it may be any number.
            view.strides[axis] = view.strides[axis].wrapping_mul(step as i64);
        }
        view
    }
}
