//! One level of two axes in one pass, as launches.

use super::kernels::Key;
use super::list::{Arg, Array, Placed};
use super::lower::Lowering;
use super::view::{Dim, MOST, View, joined, positions};
use crate::error::PlanError;
use crate::recipe;
use crate::schedule::Block;
use lifting_codegen::schedule::stream::{self, Job, Order};
use lifting_codegen::schedule::{Direction, ScheduleError};
use lifting_dsl::geometry::split;

/// What the pass does, apart from where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub direction: Direction,
    /// The level that is analysed, or that synthesis leads to.
    pub level: u32,
    /// The axis of consecutive samples, and the one of rows.
    pub axes: [usize; 2],
    /// Which of them analysis lifts first.
    pub order: Order,
    /// Samples along these axes; along the others what the pass covers of them.
    pub extent: &'a [usize],
    /// Of the two axes' first positions.
    pub parity: [usize; 2],
    pub gain: u32,
}

/// Where the pass reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quad {
    pub signal: View,
    /// ll, hl, lh, hh: the first letter says what is along the axis of consecutive samples.
    pub bands: [View; 4],
}

impl Quad {
    /// The bands in the Mallat layout of one box; `low` may stand elsewhere.
    pub fn new(pair: &Pair, signal: View, low: View, whole: View) -> Quad {
        let [x, y] = pair.axes;
        let [width, height] = [0, 1].map(|i| split(pair.extent[pair.axes[i]], pair.parity[i] as i64).low);
        Quad { signal, bands: [low, whole.at(x, width), whole.at(y, height), whole.at(x, width).at(y, height)] }
    }

    /// All of them, further along an axis that the pass does not transform.
    pub fn at(self, axis: usize, index: usize) -> Quad {
        Quad { signal: self.signal.at(axis, index), bands: self.bands.map(|band| band.at(axis, index)) }
    }
}

/// The launches of a pass: one for each position of the axes that are not in the job.
pub(super) struct Jobs {
    /// The first; addresses are bytes from the beginning of each array.
    pub job: Job,
    pub arrays: [Array; 5],
    rest: Vec<Dim<3>>,
}

impl Jobs {
    /// How many launches they are.
    pub fn launches(&self) -> usize {
        self.rest.iter().fold(1, |count: usize, d| count.saturating_mul(d.len as usize))
    }
}

impl Pair<'_> {
    /// The launches of a pass whose samples are `bytes` large; `None` if a side is beyond what a job can say.
    pub fn jobs(&self, quad: &Quad, bytes: usize) -> Option<Jobs> {
        let Quad { signal, bands: [ll, hl, lh, hh] } = quad;
        let [x, y] = self.axes;
        let dims = (0..self.extent.len()).filter(|a| !self.axes.contains(a)).map(|a| Dim {
            len: self.extent[a] as i64,
            steps: [signal.strides[a], ll.strides[a], hl.strides[a]],
            joins: true,
        });
        let mut rest = joined(dims.collect());
        let largest = (0..rest.len()).filter(|&i| rest[i].len <= MOST).max_by_key(|&i| rest[i].len);
        let batch = largest.map_or(Dim { len: 1, steps: [0; 3], joins: false }, |i| rest.remove(i));
        let array = |view: &View, kind: usize| stream::Array {
            address: view.offset.wrapping_mul(bytes as i64) as u64,
            pitch: view.strides[y],
            stride: batch.steps[kind],
        };
        let side = |axis: usize| i32::try_from(self.extent[axis]).ok();
        let job = Job {
            signal: array(signal, 0),
            bands: [array(ll, 1), array(hl, 2), array(lh, 2), array(hh, 2)],
            width: side(x)?,
            height: side(y)?,
            parity: self.parity.map(|p| p as i32),
            batch: batch.len as i32,
        };
        Some(Jobs { job, arrays: [signal, ll, hl, lh, hh].map(|v| v.array), rest })
    }
}

impl Lowering<'_> {
    /// Arrays of the user's may begin anywhere, where that is taken into account.
    pub(super) fn misplace(&self, job: &mut Job, owners: &[Array; 5]) {
        if self.misaligned {
            let elsewhere =
                |array: &Array| if matches!(array, Array::Scratch(_)) { 0 } else { self.sample.bytes() as u64 };
            let arrays = std::iter::once(&mut job.signal).chain(&mut job.bands);
            arrays.zip(owners).for_each(|(a, array)| a.address = a.address.wrapping_add(elsewhere(array)));
        }
    }

    /// Appends the launches of a pass over both axes. They may all run side by side.
    pub(super) fn pair(&mut self, pair: Pair, quad: Quad, (block, chunk): (Block, u32)) -> Result<(), PlanError> {
        if pair.extent.contains(&0) {
            return Ok(());
        }
        let Quad { signal, bands } = quad;
        let (reads, writes): (&[View], &[View]) = match pair.direction {
            Direction::Forward => (&[signal], &bands),
            Direction::Inverse => (&bands, &[signal]),
        };
        debug_assert!(
            reads.iter().all(|r| writes.iter().all(|w| r.array != w.array)),
            "a launch never reads the array that it writes"
        );
        let schedule = block.schedule().name();
        let refused = |what: &str| ScheduleError::Launch { schedule, what: what.into() };
        let bytes = self.sample.bytes();
        let jobs = pair.jobs(&quad, bytes).ok_or_else(|| refused("a side has more than 2³¹ samples"))?;
        let [x, y] = pair.axes;
        let lifted = match pair.order {
            Order::HorizontalFirst => [x, y],
            Order::VerticalFirst => [y, x],
        };
        let count = (0..pair.extent.len()).filter(|a| !pair.axes.contains(a)).map(|a| pair.extent[a]).product();
        self.list.passes.push(recipe::Pass {
            level: pair.level + 1,
            axes: lifted.to_vec(),
            lengths: lifted.map(|a| pair.extent[a]).to_vec(),
            count,
            schedule,
        });
        // Kernels take the signal first in analysis, last in synthesis.
        let order = match pair.direction {
            Direction::Forward => [0, 1, 2, 3, 4],
            Direction::Inverse => [1, 2, 3, 4, 0],
        };
        let views = [signal, bands[0], bands[1], bands[2], bands[3]];
        // Of the steps in `Jobs::rest`: signal, ll, the other bands.
        let kind = [0, 1, 2, 2, 2];
        for at in positions(&jobs.rest) {
            let offset = |i: usize| views[i].offset + at[kind[i]];
            let mut job = jobs.job;
            let arrays = std::iter::once(&mut job.signal).chain(&mut job.bands);
            for (i, array) in arrays.enumerate() {
                array.address = offset(i).wrapping_mul(bytes as i64) as u64;
            }
            let mut somewhere = job;
            self.misplace(&mut somewhere, &jobs.arrays);
            let (walk, _) = self.kernels.walk_of(pair.direction, self.sample, block, &somewhere)?;
            let key = Key::Both(pair.direction, self.sample, pair.order, block.with_chunk(0), walk.rows());
            let index = self.kernels.get(key)?;
            let mut args = order.map(|i| Arg::Pointer(views[i].array, offset(i))).to_vec();
            args.extend([job.width, job.height, job.parity[0], job.parity[1]].map(|v| Arg::Int(v.into())));
            args.extend([job.signal, job.bands[0], job.bands[1]].map(|a| Arg::Int(a.pitch)));
            args.extend([job.signal, job.bands[0], job.bands[1]].map(|a| Arg::Int(a.stride)));
            args.extend([i64::from(job.batch), i64::from(chunk)].map(Arg::Int));
            let placed = Placed { at: args.len(), arrays: jobs.arrays, job };
            args.extend([Arg::Int(0), Arg::Int(0)]);
            if self.kernels.gain {
                args.push(Arg::Int(pair.gain.into()));
            }
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
