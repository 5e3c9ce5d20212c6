//! The `stream` schedule's [`schedule::Schedule`] implementation.

use super::{StreamFit, StreamShape, fit, write};
use crate::ir::{Kernel, Scalar};
use crate::machine::Machine;
use crate::schedule::demand::Demand;
use crate::schedule::level::{Job, Order, RowAlignment};
use crate::schedule::{self, Extent, Field, HostLaunch, Options, ScheduleError};
use lifting_dsl::{Boundary, Scheme};
use std::fmt;
use std::sync::Arc;

/// Warps walk down strips of columns, with rows in flight in shared memory.
pub struct StreamSchedule;

/// Warps a block and ring depths that tuning measures.
const TRIED: [(u32, u32); 6] = [(1, 4), (1, 8), (2, 4), (4, 4), (4, 8), (8, 4)];

/// The fields of a shape.
const FIELDS: &[Field] = &[Field::COLUMNS, Field::WARPS, Field::new("ring", 2, 64), Field::CHUNK];

impl StreamShape {
    /// The kernel's shape for rows of an alignment.
    fn of_any(shape: schedule::Shape, rows: RowAlignment) -> StreamShape {
        let [columns, warps, ring] = shape.values();
        StreamShape { columns, warps, ring, min_blocks: 0, rows }
    }

    /// The usual shape, and one with half as many columns a lane, which needs fewer registers.
    fn proposed(sample: Scalar) -> impl Iterator<Item = StreamShape> {
        let usual = StreamShape::for_sample(sample);
        // A lane's vector is 8 or 16 bytes of at least 2 samples.
        let is_legal = move |columns: &u32| *columns >= 2 && *columns as usize * sample.bytes() >= 8;
        let columns = [usual.columns, usual.columns / 2].into_iter().filter(is_legal);
        columns.map(move |columns| StreamShape { columns, ..usual })
    }
}

/// The generic shape that plans hold, with chunk heights left to the device.
impl From<StreamShape> for schedule::Shape {
    fn from(shape: StreamShape) -> schedule::Shape {
        let StreamShape { columns, warps, ring, .. } = shape;
        schedule::Shape::new(&StreamSchedule, &[columns, warps, ring, 0])
    }
}

impl schedule::LaunchSchedule for StreamSchedule {
    fn name(&self) -> &'static str {
        "stream"
    }

    fn about(&self) -> &'static str {
        "Both axes in one pass: warps walk down strips of columns"
    }

    fn extent(&self) -> Extent {
        Extent::Plane
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn describe(&self, shape: &schedule::Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [columns, warps, ring, chunk] = shape.values();
        write!(f, "stream, {columns} columns a lane, {warps} warps, ring of {ring}, chunks of {chunk} row pairs")
    }

    fn alignments(&self) -> &'static [RowAlignment] {
        &[RowAlignment::Whole, RowAlignment::Aligned, RowAlignment::Any]
    }

    fn fit(
        &self,
        scheme: &Scheme,
        options: Options,
        shape: schedule::Shape,
        rows: RowAlignment,
    ) -> Result<Arc<dyn schedule::Fit>, ScheduleError> {
        shape.check_lanes()?;
        Ok(Arc::new(fit(scheme, options, StreamShape::of_any(shape, rows))?))
    }

    /// The usual shapes, with the warps a block that the strips fill.
    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        job: &Job,
        _machine: &Machine,
    ) -> Result<Vec<schedule::Shape>, ScheduleError> {
        let suited = |shape: StreamShape| {
            let alignments = schedule::LaunchSchedule::alignments(self).iter();
            let mut fits = alignments.filter_map(|&rows| fit(scheme, options, shape.for_rows(rows)).ok());
            let warps = fits.find(|fit| fit.accepts(job).is_ok()).map_or(shape.warps, |fit| fit.warps(job));
            StreamShape { warps, ..shape }.into()
        };
        Ok(StreamShape::proposed(options.sample).map(suited).collect())
    }

    fn is_representative(&self, scheme: &Scheme, options: Options, _full: bool) -> bool {
        options.boundary == Boundary::WholeSymmetric || scheme.stages(options.boundary).is_some()
    }

    /// Two warps a block and shallow rings; for 16-bit samples also lanes of 8 and 16 bytes.
    fn miniatures(&self, _scheme: &Scheme, options: Options) -> Vec<schedule::Shape> {
        let usual = StreamShape::for_sample(options.sample);
        let columns = if options.sample.bytes() == 2 { 4 } else { usual.columns };
        let one_warp = StreamShape { warps: 1, ring: 4, ..usual };
        [StreamShape { columns, warps: 2, ring: 3, ..usual }, one_warp].map(schedule::Shape::from).into()
    }

    fn usual(&self, _scheme: &Scheme, options: Options) -> Result<schedule::Shape, ScheduleError> {
        Ok(StreamShape::for_sample(options.sample).into())
    }

    fn trials(&self, considered: &[schedule::Shape], sample: Scalar) -> Vec<schedule::Shape> {
        let others = StreamShape::proposed(sample)
            .flat_map(|shape| TRIED.map(|(warps, ring)| StreamShape { warps, ring, ..shape }));
        others.map(schedule::Shape::from).chain(considered.iter().copied()).collect()
    }

    fn refined(&self, fastest: schedule::Shape) -> Vec<schedule::Shape> {
        fastest.with_usual_chunks()
    }
}

impl schedule::Fit for StreamFit {
    fn alignment(&self) -> RowAlignment {
        self.shape.rows
    }

    fn block(&self) -> [i64; 2] {
        [self.strip_columns(), 2]
    }

    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        write(self, scheme, order)
    }

    /// Hosts cannot make launches over unaligned rows.
    fn host_launch(&self) -> Option<HostLaunch> {
        (self.alignment() == RowAlignment::Whole).then_some(HostLaunch::Strict)
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        self.accepts(job)?;
        Ok([self.aligned(job), job.skew(self.options.sample, self.shape.columns)])
    }

    fn chunk(&self, job: &Job, machine: &Machine) -> i32 {
        self.row_pairs(job, machine)
    }

    fn least_chunk(&self, job: &Job) -> i32 {
        StreamFit::least_chunk(job)
    }

    fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        self.demand(job, chunk, machine)
    }
}
