//! The planner's choices for levels of any size, surveyed size by size for launchers to look up at run time.
//!
//! Images are square, two sizes per factor of two in samples, for each of three [`Rows`]; volumes are cubes. Many
//! blocks could carry some of these sizes; a file has only a few. With these, no size is predicted to take much longer
//! than with all.

use crate::context::Context;
use crate::error::ProgramError;
use crate::kernels::{Family, Kernels, Key, Made, Tuning};
use crate::list::{Array, List, Regions};
use crate::lower::Lowering;
use crate::problem::Problem;
use crate::recipe::Candidate;
use crate::scalar::scalar_of;
use crate::schedule::Way as Taking;
use crate::view::View;
use lifting_codegen::schedule::level::{Job, Order, RowAlignment};
use lifting_codegen::schedule::{Extent, Shape};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Direction, Scheme};

/// Alignment of rows in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum SurveyedRows {
    /// Rows of the image and of its bands are aligned to vectors, and are whole vectors.
    Whole,
    /// Rows of the image are aligned to vectors.
    Image,
    /// No alignment.
    Any,
}

impl SurveyedRows {
    pub const ALL: [SurveyedRows; 3] = [SurveyedRows::Whole, SurveyedRows::Image, SurveyedRows::Any];
}

/// Surveyed sizes, as powers of √2 of samples. Smaller images take the first entry, larger ones the last.
const SIZES: std::ops::RangeInclusive<u32> = 26..=56;
/// Surveyed sizes for two levels in one launch.
const TWO: std::ops::RangeInclusive<u32> = 40..=56;
/// Sides of the surveyed cubes.
const CUBES: [usize; 12] = [16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768];
/// Sides of images that a block may hold.
const SIDES: [usize; 9] = [8, 12, 16, 24, 32, 48, 64, 96, 128];
/// Levels of a transform whose first two may be one launch.
const LEVELS: u32 = 5;

/// A surveyed image.
pub(super) struct Image {
    problem: Problem,
    strides: Vec<isize>,
    pub rows: SurveyedRows,
    /// The most samples for which its result holds.
    pub most: i64,
    pub levels: u32,
    pub side: usize,
}

/// All surveyed images.
pub(super) struct Images {
    pub both: Vec<Image>,
    pub two: Vec<Image>,
    pub rest: Vec<Image>,
    pub volumes: Vec<Image>,
}

impl Images {
    pub fn new(scheme: &Scheme, boundary: Boundary, gain: bool, order: Order) -> Images {
        let axes: [usize; 2] = if order == Order::VerticalFirst { [0, 1] } else { [1, 0] };
        let image = |[height, width]: [usize; 2], pitch: usize, rows: SurveyedRows, most: i64, levels: u32| {
            let geometry = Geometry::new(&[height, width], &[0, 0], &[levels; 2], &axes).expect("images are legal");
            let mut problem = Problem::new(scheme.clone(), geometry);
            (problem.boundary, problem.gain_shift) = (boundary, u32::from(gain));
            Image { problem, strides: vec![pitch as isize, 1], rows, most, levels, side: width }
        };
        let grain = |side: usize| if side >= 512 { 64 } else { 16 };
        // The middle of the range of sizes that the image represents.
        let side = |size: u32| 2f64.powf(f64::from(size) / 4.0).round() as usize;
        let whole = |size: u32| (side(size) + grain(side(size)) / 2) / grain(side(size)) * grain(side(size));
        let most = |size: u32, last: u32| match size {
            _ if size == last => i64::MAX,
            _ => 2f64.powf((f64::from(size) + 0.5) / 2.0) as i64,
        };
        let sized = |rows: SurveyedRows, size: u32| {
            let n = whole(size).max(16);
            // Odd, or as odd as the border rule allows.
            let off = if boundary == Boundary::Periodic { 2 } else { 1 };
            let (width, pitch) = match rows {
                SurveyedRows::Whole => (n, n),
                SurveyedRows::Image => (n + off, n + 64),
                SurveyedRows::Any => (n + off, n + off),
            };
            image([width, width], pitch, rows, most(size, *SIZES.end()), 1)
        };
        let both = SurveyedRows::ALL.into_iter().flat_map(|rows| SIZES.map(move |size| (rows, size)));
        let two =
            TWO.map(|size| image([whole(size); 2], whole(size), SurveyedRows::Whole, most(size, *TWO.end()), LEVELS));
        let levels = |side: usize| (1..=side.ilog2()).filter(move |l| side.is_multiple_of(1 << l));
        let rest = SIDES.into_iter().flat_map(|side| levels(side).map(move |levels| (side, levels)));
        let rest = rest.map(|(side, levels)| image([side; 2], side, SurveyedRows::Whole, (side * side) as i64, levels));
        // The most samples: half-way to the next cube, by factor.
        let nexts = CUBES.iter().skip(1).map(|next| Some(*next)).chain([None]);
        let volumes = CUBES.iter().zip(nexts).map(|(&side, next)| {
            let geometry = Geometry::new(&[side; 3], &[0; 3], &[1; 3], &[2, 1, 0]).expect("cubes are legal");
            let mut problem = Problem::new(scheme.clone(), geometry);
            (problem.boundary, problem.gain_shift) = (boundary, u32::from(gain));
            let most = next.map_or(i64::MAX, |next| ((side * next) as f64).powf(1.5) as i64);
            let strides = vec![(side * side) as isize, side as isize, 1];
            Image { problem, strides, rows: SurveyedRows::Whole, most, levels: 1, side }
        });
        Images {
            both: both.map(|(rows, size)| sized(rows, size)).collect(),
            two: two.collect(),
            rest: rest.collect(),
            volumes: volumes.collect(),
        }
    }
}

/// One launch for both axes of a level.
#[derive(Clone, Debug)]
pub(super) struct PlaneLaunch {
    /// The shape, with chunk 0.
    pub shape: Shape,
    pub takes: RowAlignment,
    pub chunk: u32,
    /// Predicted time, in copies of the level.
    pub time: f64,
}

/// The planner's result for a level of one size.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub rows: SurveyedRows,
    pub most: i64,
    /// Predicted time of one pass per axis, in copies.
    pub apart: f64,
    pub ways: Vec<PlaneLaunch>,
    /// The job of such a level.
    pub job: Option<Job>,
}

/// The survey for one sample type.
pub(super) struct Survey<'a> {
    pub family: Family<'a>,
    kernels: Kernels,
    pub sample: SampleType,
    pub order: Order,
}

impl<'a> Survey<'a> {
    pub fn new(
        scheme: &'a Scheme,
        boundary: Boundary,
        gain: bool,
        (sample, order): (SampleType, Order),
        tuning: &'a Tuning,
    ) -> Survey<'a> {
        let family = Family { scheme, boundary, gain, doubled_ends: false, tuning };
        Survey { family, kernels: Kernels::default(), sample, order }
    }

    /// Index of a kernel, made on first use.
    pub fn get(&self, key: Key) -> Result<usize, ProgramError> {
        self.kernels.get(self.family, key)
    }

    /// A kernel.
    pub fn made(&self, index: usize) -> Made {
        self.kernels.made(index).clone()
    }

    /// The launches of an image.
    fn list(&self, image: &Image, direction: Direction) -> Result<List, ProgramError> {
        let cx = Context::new(&image.problem, self.sample, self.family.tuning, &self.kernels);
        let view = |array| View::strided(array, scalar_of(self.sample), &image.strides);
        let (source, target) = (view(Array::Source), view(Array::Target));
        let mut regions = Regions::default();
        let lowering = Lowering::new(cx, &mut regions);
        match direction {
            Direction::Forward => lowering.forward(source, target),
            Direction::Inverse => lowering.inverse(0, source, target),
        }
    }

    /// The candidates for a level.
    pub fn cell(&self, image: &Image, direction: Direction) -> Result<Cell, ProgramError> {
        let list = self.list(image, direction)?;
        let choice = &list.choices[0];
        let job = list.launches.iter().find_map(|launch| Some(launch.placed.as_ref()?.job));
        let scalar = scalar_of(self.sample);
        let all = || std::iter::once(&choice.taken).chain(&choice.others);
        let apart = all().find(|c| c.way == Taking::Separate).map_or(f64::INFINITY, |c| c.time);
        let way = |candidate: &Candidate| {
            let shape = candidate.way.shape().filter(|shape| shape.schedule().extent() == Extent::Plane)?;
            let (fit, arguments) = self.family.meet(direction, scalar, shape, job.as_ref()?).ok()?;
            let chunk = if shape.chunk() > 0 { shape.chunk() } else { arguments.chunk as u32 };
            fit.host_launch()?;
            Some(PlaneLaunch { shape: shape.with_chunk(0), takes: fit.alignment(), chunk, time: candidate.time })
        };
        let ways = all().filter_map(way).collect();
        Ok(Cell { rows: image.rows, most: image.most, apart, ways, job })
    }

    /// The block, its chunk and its job, if the image's levels, or the first two, are to be one launch.
    pub fn merged(&self, image: &Image, direction: Direction, extent: Extent) -> Option<(Shape, u32, Job)> {
        let list = self.list(image, direction).ok()?;
        let shape = list.choices[0].taken.way.shape().filter(|shape| shape.schedule().extent() == extent)?;
        let jobs = list.launches.iter().filter_map(|launch| Some(launch.placed.as_ref()?.job));
        let job = jobs.max_by_key(|job| i64::from(job.width) * i64::from(job.height))?;
        Some((shape.with_chunk(0), shape.chunk(), job))
    }

    /// The block that takes a level of three axes in one launch, and its time in copies, if one is to.
    pub fn volume(&self, image: &Image, direction: Direction) -> Option<(Shape, f64)> {
        let list = self.list(image, direction).ok()?;
        let taken = &list.choices[0].taken;
        let shape = taken.way.shape().filter(|shape| shape.schedule().extent() == Extent::Volume)?;
        Some((shape.with_chunk(0), taken.time))
    }

    /// The key of a kernel over both axes.
    pub fn key(&self, direction: Direction, shape: Shape, takes: RowAlignment, kept: bool) -> Key {
        Key::Launch(direction, scalar_of(self.sample), self.order, shape, takes, kept)
    }
}

/// A shape, and the rows that its kernel takes.
pub(super) type Taken = (Shape, RowAlignment);

/// A few blocks, chosen greedily by gain, so that no size takes much longer than with all blocks.
pub(super) fn few(cells: &[Cell], most: usize, enough: f64) -> Vec<Taken> {
    let best = |cell: &Cell, among: &dyn Fn(&Taken) -> bool| {
        let times = cell.ways.iter().filter(|way| among(&(way.shape, way.takes))).map(|way| way.time);
        times.fold(cell.apart, f64::min)
    };
    let mut all: Vec<Taken> = Vec::new();
    for way in cells.iter().flat_map(|cell| &cell.ways) {
        if !all.contains(&(way.shape, way.takes)) {
            all.push((way.shape, way.takes));
        }
    }
    let ideal: Vec<f64> = cells.iter().map(|cell| best(cell, &|_| true)).collect();
    let lost = |taken: &[Taken]| -> (f64, f64) {
        let each = cells.iter().zip(&ideal).map(|(cell, ideal)| best(cell, &|t| taken.contains(t)) / ideal - 1.0);
        // Sizes without any way lose nothing.
        let each: Vec<f64> = each.map(|lost| if lost.is_nan() { 0.0 } else { lost.min(100.0) }).collect();
        (each.iter().sum(), each.iter().fold(0.0, |a: f64, b| a.max(*b)))
    };
    let mut taken: Vec<Taken> = Vec::new();
    while taken.len() < most && lost(&taken).1 > enough {
        let with = |other: &Taken| lost(&[&taken[..], &[*other]].concat()).0;
        let others = all.iter().filter(|t| !taken.contains(t));
        let Some(next) = others.min_by(|a, b| with(a).total_cmp(&with(b))) else { break };
        if with(next) >= lost(&taken).0 {
            break;
        }
        taken.push(*next);
    }
    taken
}
