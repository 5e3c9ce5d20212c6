//! Passes over two or three axes of a level, as launches.

use crate::context::Context;
use crate::error::ProgramError;
use crate::kernels::Family;
use crate::kernels::Key;
use crate::list::{Arg, Array, Placed, Region, arrays_of};
use crate::lower::Lowering;
use crate::recipe;
use crate::view::{Dim, MOST, View, joined, positions};
use lifting_codegen::schedule::level::{self, Job, Order, Planes};
use lifting_codegen::schedule::{Extent, Fit, ScheduleError, Shape};
use lifting_dsl::Direction;
use lifting_dsl::geometry::split;
use std::sync::Arc;

/// Levels of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// One level.
    One,
    /// A level and the next.
    Two,
    /// All remaining levels, with their number.
    All(u32),
}

impl Span {
    /// Span of a launch of these blocks, whose stage has `levels` levels.
    pub fn of(blocks: Shape, levels: u32) -> Span {
        match blocks.schedule().extent() {
            Extent::Plane | Extent::Volume => Span::One,
            Extent::TwoLevels => Span::Two,
            Extent::AllLevels => Span::All(levels),
        }
    }
}

/// Operation of the pass, without its arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    pub direction: Direction,
    /// The analysed level, or the result level of synthesis.
    pub level: u32,
    /// The axis of consecutive samples, and that of rows.
    pub axes: [usize; 2],
    /// Axis that analysis lifts first.
    pub order: Order,
    /// The third axis of a pass over three axes, which analysis lifts last, and the parity of its first position.
    pub deep: Option<(usize, usize)>,
    /// Number of levels in the pass.
    pub span: Span,
    /// Samples along these axes; along the others, the range that the pass covers.
    pub extent: &'a [usize],
    /// Parities of the two axes' first positions.
    pub parity: [usize; 2],
    pub gain: u32,
}

/// Arrays that the pass reads and writes.
#[derive(Clone, Debug)]
pub(crate) struct Quad {
    pub signal: View,
    /// ll, hl, lh, hh: the first letter is for the axis of consecutive samples. With a third axis, the four high ones
    /// along it follow. With two levels, ll is the second level's, and hl, lh and hh of the second follow. With all
    /// levels, four times the array that holds them.
    pub bands: Vec<View>,
}

impl Quad {
    /// The bands in the Mallat layout of one box; `low` may be elsewhere.
    pub fn new(pair: &Pair, signal: View, low: View, whole: View) -> Quad {
        if let Span::All(_) = pair.span {
            return Quad { signal, bands: vec![whole; 4] };
        }
        let half = |n: usize, parity: usize| split(n, parity as i64).low;
        let bands = |low: &dyn Fn(usize, usize) -> usize| {
            pair.lifted().fold(vec![whole], |bands, (axis, parity)| {
                let high: Vec<View> = bands.iter().map(|band| band.at(axis, low(axis, parity))).collect();
                [bands, high].concat()
            })
        };
        let first = bands(&|axis, parity| half(pair.extent[axis], parity)).into_iter().skip(1);
        let mut all: Vec<View> = std::iter::once(low).chain(first).collect();
        if pair.span == Span::Two {
            // First positions are even at both levels.
            all.extend(bands(&|axis, _| half(half(pair.extent[axis], 0), 0)).into_iter().skip(1));
        }
        Quad { signal, bands: all }
    }

    /// All views, further along an axis that the pass does not transform.
    pub fn at(&self, axis: usize, index: usize) -> Quad {
        let bands = self.bands.iter().map(|band| band.at(axis, index)).collect();
        Quad { signal: self.signal.at(axis, index), bands }
    }

    /// The signal and the bands.
    fn views(&self) -> Vec<View> {
        std::iter::once(self.signal).chain(self.bands.iter().copied()).collect()
    }
}

/// Launches of a pass: one for each position of the axes outside the job.
pub(crate) struct Jobs {
    /// The first job; addresses are bytes from the start of each array.
    pub job: Job,
    pub arrays: Vec<Array>,
    rest: Vec<Dim<3>>,
}

impl Jobs {
    /// Number of launches.
    pub fn launches(&self) -> usize {
        self.rest.iter().fold(1, |count: usize, d| count.saturating_mul(d.len as usize))
    }
}

impl Pair<'_> {
    /// The lifted axes with the parities of their first positions: consecutive samples, rows, and a third one if
    /// present.
    fn lifted(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        self.axes.into_iter().zip(self.parity).chain(self.deep)
    }

    /// The axes in the order in which analysis lifts them.
    fn in_order(&self) -> Vec<usize> {
        let [x, y] = self.axes;
        let plane = match self.order {
            Order::HorizontalFirst => [x, y],
            Order::VerticalFirst => [y, x],
        };
        plane.into_iter().chain(self.deep.map(|(axis, _)| axis)).collect()
    }

    /// Number of samples left for the next level: the low band, or the signal.
    fn left(&self) -> usize {
        let halved = |axis: usize| self.lifted().any(|(lifted, _)| lifted == axis);
        let samples = |(axis, &n): (usize, &usize)| match self.direction {
            Direction::Forward if halved(axis) => n.div_ceil(if self.span == Span::Two { 4 } else { 2 }),
            _ => n,
        };
        self.extent.iter().enumerate().map(samples).product()
    }

    /// Launches of a pass with samples of `bytes` bytes; `None` if a side exceeds the limits of a job. With `grids`,
    /// one launch takes a grid of images.
    pub fn jobs(&self, quad: &Quad, bytes: usize, grids: bool) -> Option<Jobs> {
        let Quad { signal, bands } = quad;
        let (ll, others) = (&bands[0], &bands[1]);
        let [x, y] = self.axes;
        let own: Vec<usize> = self.lifted().map(|(axis, _)| axis).collect();
        let steps = |axis: usize| [signal.strides[axis], ll.strides[axis], others.strides[axis]];
        let dims = (0..self.extent.len()).filter(|axis| !own.contains(axis)).map(|axis| Dim {
            len: self.extent[axis] as i64,
            steps: steps(axis),
            joins: true,
        });
        let mut rest = joined(dims.collect());
        let largest = (0..rest.len()).filter(|&i| rest[i].len <= MOST).max_by_key(|&i| rest[i].len);
        let batch = largest.map_or(Dim { len: 1, steps: [0; 3], joins: false }, |i| rest.remove(i));
        // Images directly below each other, in all arrays: a tile's bands take the tile's place.
        let below = [signal, ll, others].map(|view| self.extent[y] as i64 * view.strides[y]);
        let is_grid = |dim: &Dim<3>| grids && dim.steps == below;
        let fits = |dim: &Dim<3>| i32::try_from(dim.len * batch.len).is_ok();
        let grid = rest.iter().position(|dim| is_grid(dim) && fits(dim)).map_or(1, |i| rest.remove(i).len);
        let array = |view: &View, kind: usize| level::Array {
            address: view.offset.wrapping_mul(bytes as i64) as u64,
            pitch: view.strides[y],
            stride: batch.steps[kind],
        };
        let side = |axis: usize| i32::try_from(self.extent[axis]).ok();
        let job = Job {
            signal: array(signal, 0),
            bands: [array(ll, 1), array(others, 2), array(&bands[2], 2), array(&bands[3], 2)],
            width: side(x)?,
            height: side(y)?,
            parity: self.parity.map(|p| p as i32),
            batch: (grid * batch.len) as i32,
            grid_rows: grid as i32,
            coarse: (self.span == Span::Two).then(|| [4, 5, 6].map(|i: usize| array(&bands[i], 2))),
            levels: if let Span::All(levels) = self.span { levels as i32 } else { 1 },
            planes: match self.deep {
                None => None,
                Some((axis, parity)) => Some(Planes {
                    high: [4, 5, 6, 7].map(|i: usize| array(&bands[i], 2)),
                    steps: steps(axis),
                    depth: side(axis)?,
                    parity: parity as i32,
                }),
            },
        };
        Some(Jobs { job, arrays: quad.views().iter().map(|view| view.array).collect(), rest })
    }
}

impl Context<'_> {
    /// Offsets the user's arrays by one sample, if they are assumed to be unaligned.
    pub(crate) fn misplace(&self, job: &mut Job, owners: &[Array]) {
        if self.misaligned {
            let elsewhere =
                |array: &Array| if matches!(array, Array::Scratch(_)) { 0 } else { self.sample.bytes() as u64 };
            arrays_of(job).zip(owners).for_each(|(a, array)| a.address = a.address.wrapping_add(elsewhere(array)));
        }
    }
}

impl Lowering<'_> {
    /// The shape of a level with its fit and chunk. If the shape does not support the launch's alignment, returns
    /// another proposed shape that does.
    fn for_launch(
        &self,
        family: Family,
        direction: Direction,
        (shape, chunk): (Shape, u32),
        job: &Job,
    ) -> Result<(Shape, Arc<dyn Fit>, u32), ScheduleError> {
        let first = match family.meet(direction, self.cx.sample, shape, job) {
            Ok((fit, _)) => return Ok((shape, fit, chunk)),
            Err(e) => e,
        };
        if self.cx.tuning.measures().is_some() {
            return Err(first);
        }
        let others = family.proposed(shape.schedule(), direction, self.cx.sample, job)?;
        let other = others.into_iter().find_map(|shape| {
            let (fit, arguments) = family.meet(direction, self.cx.sample, shape, job).ok()?;
            let chunk = arguments.chunk as u32;
            Some((shape.with_chunk(chunk), fit, chunk))
        });
        other.ok_or(first)
    }

    /// Appends the launches of a pass over two or three axes. They may all run in parallel.
    pub(crate) fn pair(&mut self, pair: Pair, quad: Quad, (shape, chunk): (Shape, u32)) -> Result<(), ProgramError> {
        if pair.extent.contains(&0) {
            return Ok(());
        }
        let family = self.cx.family(pair.axes[0], pair.level);
        let (reads, writes): (&[View], &[View]) = match pair.direction {
            Direction::Forward => (&[quad.signal], &quad.bands),
            Direction::Inverse => (&quad.bands, &[quad.signal]),
        };
        debug_assert!(
            reads.iter().all(|r| writes.iter().all(|w| r.array != w.array)),
            "a launch never reads the array that it writes"
        );
        let schedule = shape.schedule().name();
        let refused = |what: &str| ScheduleError::Launch { schedule, what: what.into() };
        let bytes = self.cx.sample.bytes();
        let jobs =
            pair.jobs(&quad, bytes, self.cx.grids()).ok_or_else(|| refused("a side has more than 2³¹ samples"))?;
        let lifted = pair.in_order();
        let count =
            (0..pair.extent.len()).filter(|axis| !lifted.contains(axis)).map(|axis| pair.extent[axis]).product();
        self.list.passes.push(recipe::Pass {
            level: pair.level + 1,
            lengths: lifted.iter().map(|&axis| pair.extent[axis]).collect(),
            axes: lifted,
            count,
            schedule,
        });
        let is_on_its_way = matches!(writes[0].array, Array::Scratch(Region::Low(_)));
        let kept = is_on_its_way && self.cx.tuning.machine.keeps(pair.left() * bytes);
        let views = quad.views();
        // Kernels take the signal first in analysis, last in synthesis; kernels for all levels take one array of bands.
        let is_all = matches!(pair.span, Span::All(_));
        let arrays = if is_all { 2 } else { views.len() };
        let order: Vec<usize> = match pair.direction {
            Direction::Forward => (0..arrays).collect(),
            Direction::Inverse => (1..arrays).chain([0]).collect(),
        };
        for at in positions(&jobs.rest) {
            // Steps in `Jobs::rest`: signal, ll, the other bands.
            let offset = |i: usize| views[i].offset + at[i.min(2)];
            let mut job = jobs.job;
            for (i, array) in arrays_of(&mut job).enumerate() {
                array.address = offset(i).wrapping_mul(bytes as i64) as u64;
            }
            let mut somewhere = job;
            self.cx.misplace(&mut somewhere, &jobs.arrays);
            let (shape, fit, chunk) = self.for_launch(family, pair.direction, (shape, chunk), &somewhere)?;
            let key =
                Key::Launch(pair.direction, self.cx.sample, pair.order, shape.with_chunk(0), fit.alignment(), kept);
            let index = self.cx.kernels.get(family, key)?;
            let mut args: Vec<Arg> = order.iter().map(|&i| Arg::Pointer(views[i].array, offset(i))).collect();
            let gain = self.cx.has_gain().then_some(pair.gain);
            // Alignment is known only with the arrays' addresses.
            let arguments = level::Arguments { chunk: chunk as i32, aligned: 0, skew: 0 };
            args.extend(job.scalars(shape.schedule().extent(), arguments, gain).into_iter().map(Arg::Int));
            let at = args.len() - 2 - usize::from(gain.is_some());
            let placed = Placed { at, arrays: jobs.arrays.clone(), job };
            let grid = self.grid(index, &args);
            let before = self.list.launches.len();
            self.push(index, args, grid)?;
            if let Some(launch) = self.list.launches[before..].first_mut() {
                launch.placed = Some(placed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Tuning;
    use crate::problem::Problem;
    use crate::program::Program;
    use crate::schedule::Schedule;
    use lifting_codegen::ir::print;
    use lifting_codegen::machine::Machine;
    use lifting_dsl::geometry::Geometry;
    use lifting_dsl::sample::SampleType;

    fn program(name: &str, sample: SampleType, side: usize, levels: u32) -> Program {
        pitched(name, sample, (side, side), levels)
    }

    /// Program of a square image with a row pitch.
    fn pitched(name: &str, sample: SampleType, (side, pitch): (usize, usize), levels: u32) -> Program {
        let problem = Problem::new(crate::tests::scheme(name), Geometry::uniform(&[side, side], levels).unwrap());
        let tuning = Tuning::new(Schedule::Auto, Machine::default(), "sm_90".into());
        let strides = [pitch as isize, 1];
        Program::new(&problem, sample, &strides, &strides, &tuning).unwrap()
    }

    /// Whether each launch keeps its low band in cache, for analysis and synthesis.
    fn kept(program: &Program) -> [Vec<bool>; 2] {
        [&program.forward, &program.inverse[0]].map(|list| {
            let of = |launch: &crate::list::Launch| {
                let made = &program.kernels[launch.kernel];
                let is_kept = print::kernel(&made.kernel).contains(", kept");
                // Only data that the plan reads again is kept.
                let arrays = &launch.placed.as_ref().unwrap().arrays;
                let forward = made.kernel.name.contains("forward");
                let left = arrays[usize::from(forward)];
                assert!(!is_kept || matches!(left, Array::Scratch(Region::Low(_))), "{}", made.kernel.name);
                is_kept
            };
            list.launches.iter().map(of).collect()
        })
    }

    /// A low band is kept if it is large and fits the L2 cache; the user's results are not.
    #[test]
    fn low_bands_for_the_next_level_are_kept() {
        let of = |name, sample, side, levels| kept(&program(name, sample, side, levels));
        // Low bands of 16 MiB after two levels in one launch, of 4 and 1 MiB after the next two; the last is the
        // user's.
        assert_eq!(of("cdf97", SampleType::F32, 8192, 5)[0], [true, true, true, false]);
        // 32 MiB low band.
        assert_eq!(of("fidelity", SampleType::I16, 8192, 2), [[true, false], [true, false]]);
        assert_eq!(of("cdf97", SampleType::F32, 512, 3), [[false; 3], [false; 3]]);
        assert_eq!(of("cdf97", SampleType::F32, 8192, 1), [[false], [false]]);
        // 64 MiB do not fit.
        assert_eq!(of("fidelity", SampleType::I16, 16384, 2)[0], [false, false]);
    }

    /// With unaligned bands, analysis takes the faster kernel: the one for all rows, if the other would store partial
    /// sectors of 4-byte samples, or have fewer lanes.
    #[test]
    fn unaligned_bands() {
        let rows = |name, sample| {
            let program = pitched(name, sample, (4097, 4112), 1);
            [&program.forward, &program.inverse[0]].map(|list| {
                let kernel = &program.kernels[list.launches[0].kernel].kernel;
                let name = kernel.name.split("_warp_").nth(1).expect("blocks are taken");
                name.split('_').next().expect("a name has parts").to_owned()
            })
        };
        assert_eq!(rows("cdf97", SampleType::F32), ["image", "image"]);
        assert_eq!(rows("legall53", SampleType::I32)[0], "forward");
        assert_eq!(rows("dd137", SampleType::I32), ["image", "image"]);
        assert_eq!(rows("legall53", SampleType::I16), ["image", "image"]);
    }

    /// Kernels made only for a trial are not compiled.
    #[test]
    fn every_kernel_is_launched() {
        for (name, sample) in [("cdf97", SampleType::F32), ("legall53", SampleType::I16)] {
            let program = program(name, sample, 4096, 5);
            let launched = |kernel| program.lists().flat_map(|list| &list.launches).any(|l| l.kernel == kernel);
            assert!((0..program.kernels.len()).all(launched), "{name}");
        }
    }
}
