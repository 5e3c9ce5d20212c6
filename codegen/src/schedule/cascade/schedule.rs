//! The `cascade` schedule's [`schedule::Schedule`] implementation.

use super::{CascadeFit, CascadeShape, fit, kernel};
use crate::ir::{Kernel, Scalar};
use crate::machine::Machine;
use crate::schedule::demand::Demand;
use crate::schedule::level::{Job, Order, RowAlignment};
use crate::schedule::{self, Extent, Field, Options, ScheduleError, Specimen};
use lifting_dsl::{Boundary, Scheme};
use std::fmt;
use std::sync::Arc;

/// Two levels at once: warps walk down strips of columns, with no low band between the levels in memory.
pub struct CascadeSchedule;

/// Ring depths that tuning measures, and chunk heights for the fastest, as parts of the predicted height.
const RINGS: [u32; 4] = [3, 4, 6, 10];
const PARTS: [f64; 6] = [0.5, 0.7, 0.85, 1.2, 1.5, 2.0];

/// The fields of a shape.
const FIELDS: &[Field] = &[Field::COLUMNS, Field::new("ring", 2, 64), Field::CHUNK];

impl CascadeShape {
    /// The kernel's shape.
    fn of_any(shape: schedule::Shape) -> CascadeShape {
        let [columns, ring] = shape.values();
        CascadeShape { columns, ring }
    }
}

/// The generic shape that plans hold, with chunk heights left to the device.
impl From<CascadeShape> for schedule::Shape {
    fn from(shape: CascadeShape) -> schedule::Shape {
        let CascadeShape { columns, ring } = shape;
        schedule::Shape::new(&CascadeSchedule, &[columns, ring, 0])
    }
}

impl schedule::LaunchSchedule for CascadeSchedule {
    fn name(&self) -> &'static str {
        "cascade"
    }

    fn about(&self) -> &'static str {
        "Two levels of both axes in one pass: warps walk down strips of columns"
    }

    fn extent(&self) -> Extent {
        Extent::TwoLevels
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn describe(&self, shape: &schedule::Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [columns, ring, chunk] = shape.values();
        write!(f, "cascade, {columns} columns a lane, ring of {ring}, chunks of {chunk} row pairs")
    }

    fn alignments(&self) -> &'static [RowAlignment] {
        &[RowAlignment::Whole]
    }

    fn fit(
        &self,
        scheme: &Scheme,
        options: Options,
        shape: schedule::Shape,
        _rows: RowAlignment,
    ) -> Result<Arc<dyn schedule::Fit>, ScheduleError> {
        shape.check_lanes()?;
        Ok(Arc::new(fit(scheme, options, CascadeShape::of_any(shape))?))
    }

    fn proposed(
        &self,
        _scheme: &Scheme,
        options: Options,
        _job: &Job,
        _machine: &Machine,
    ) -> Result<Vec<schedule::Shape>, ScheduleError> {
        Ok(CascadeShape::proposed(options.sample, options.direction).into_iter().map(schedule::Shape::from).collect())
    }

    /// The usual shape, as others differ only in the ring. For 16-bit integers, also one with wider lanes, which tuning
    /// measures.
    fn specimens(&self, _scheme: &Scheme, options: Options) -> Result<Vec<Specimen>, ScheduleError> {
        let usual = CascadeShape::for_sample(options.sample, options.direction);
        let wide = (options.sample == Scalar::I16).then_some(CascadeShape { columns: 2 * usual.columns, ..usual });
        let specimen = |shape: CascadeShape| {
            let suffix = format!("_{}x{}", shape.columns, shape.ring);
            Specimen { shape: shape.into(), rows: RowAlignment::Whole, suffix }
        };
        Ok([usual].into_iter().chain(wide).map(specimen).collect())
    }

    /// 64-bit kernels are the slowest to compile, and have the same text.
    fn is_representative(&self, _scheme: &Scheme, options: Options, full: bool) -> bool {
        options.boundary == Boundary::WholeSymmetric && (full || options.sample.bytes() <= 4)
    }

    /// Rings of several depths; for 16-bit integers also wider lanes.
    fn miniatures(&self, _scheme: &Scheme, options: Options) -> Vec<schedule::Shape> {
        let usual = CascadeShape::for_sample(options.sample, options.direction);
        let wide = (options.sample == Scalar::I16).then_some(CascadeShape { columns: 2 * usual.columns, ring: 3 });
        [3, 2, 5]
            .map(|ring| CascadeShape { ring, ..usual })
            .into_iter()
            .chain(wide)
            .map(schedule::Shape::from)
            .collect()
    }

    fn usual(&self, _scheme: &Scheme, options: Options) -> Result<schedule::Shape, ScheduleError> {
        Ok(CascadeShape::for_sample(options.sample, options.direction).into())
    }

    /// The considered shapes, and lanes of 16 or 32 bytes with other rings.
    fn trials(&self, considered: &[schedule::Shape], _sample: Scalar) -> Vec<schedule::Shape> {
        let wide = considered.iter().map(|shape| CascadeShape::of_any(*shape).columns);
        let mut columns: Vec<u32> = wide.flat_map(|columns| [columns / 2, columns, columns * 2]).collect();
        columns.sort_unstable();
        columns.dedup();
        let others = columns
            .into_iter()
            .flat_map(|columns| RINGS.map(|ring| schedule::Shape::from(CascadeShape { columns, ring })));
        considered.iter().copied().chain(others).collect()
    }

    fn refined(&self, fastest: schedule::Shape) -> Vec<schedule::Shape> {
        let chunk = |part: f64| (f64::from(fastest.chunk()) * part).round().max(1.0) as u32;
        PARTS.map(|part| fastest.with_chunk(chunk(part))).into()
    }
}

impl schedule::Fit for CascadeFit {
    fn alignment(&self) -> RowAlignment {
        RowAlignment::Whole
    }

    /// A walk has no fixed rows; the image must have enough for the halos of both levels.
    fn block(&self) -> [i64; 2] {
        [self.strip_columns(), self.least()[1]]
    }

    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        Ok(kernel::kernel(self, scheme, order))
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        self.accepts(job)?;
        Ok([self.aligned(job), 0])
    }

    fn chunk(&self, job: &Job, machine: &Machine) -> i32 {
        self.row_pairs(job, machine)
    }

    fn least_chunk(&self, job: &Job) -> i32 {
        CascadeFit::least_chunk(job)
    }

    fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        self.demand(job, chunk, machine)
    }
}
