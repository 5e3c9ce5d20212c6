//! The `pyramid` schedule's [`schedule::Schedule`] implementation.

use super::{PyramidFit, PyramidShape, fit, write};
use crate::ir::Kernel;
use crate::machine::Machine;
use crate::schedule::demand::Demand;
use crate::schedule::level::{Job, Order, RowAlignment};
use crate::schedule::{self, Extent, Field, Options, ScheduleError, Specimen};
use lifting_dsl::Scheme;
use std::fmt;
use std::sync::Arc;

/// All levels at once: blocks hold an image in shared memory.
pub struct PyramidSchedule;

/// The fields of a shape.
const FIELDS: &[Field] =
    &[Field::new("side", 2, 1024), Field::new("pairs", 1, 1024), Field::new("pairs_of_others", 1, 1024)];

impl PyramidShape {
    /// The kernel's shape.
    fn of_any(shape: schedule::Shape) -> PyramidShape {
        let [side, first, others] = shape.values();
        PyramidShape { side, pairs: [first, others] }
    }
}

/// The generic shape that plans hold.
impl From<PyramidShape> for schedule::Shape {
    fn from(shape: PyramidShape) -> schedule::Shape {
        let PyramidShape { side, pairs: [first, others] } = shape;
        schedule::Shape::new(&PyramidSchedule, &[side, first, others])
    }
}

impl schedule::LaunchSchedule for PyramidSchedule {
    fn name(&self) -> &'static str {
        "pyramid"
    }

    fn about(&self) -> &'static str {
        "All levels of a small image in one pass, in shared memory"
    }

    fn extent(&self) -> Extent {
        Extent::AllLevels
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn describe(&self, shape: &schedule::Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [side, first, others] = shape.values();
        write!(f, "pyramid, images of up to {side} samples a side, {first} pairs a thread, then {others}")
    }

    fn alignments(&self) -> &'static [RowAlignment] {
        &[RowAlignment::Any]
    }

    fn fit(
        &self,
        scheme: &Scheme,
        options: Options,
        shape: schedule::Shape,
        _rows: RowAlignment,
    ) -> Result<Arc<dyn schedule::Fit>, ScheduleError> {
        shape.check_lanes()?;
        Ok(Arc::new(fit(scheme, options, PyramidShape::of_any(shape))?))
    }

    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        _job: &Job,
        _machine: &Machine,
    ) -> Result<Vec<schedule::Shape>, ScheduleError> {
        Ok(PyramidShape::proposed(scheme, options)?.into_iter().map(schedule::Shape::from).collect())
    }

    /// Specimens for the largest images: for few of them, and for many.
    fn specimens(&self, scheme: &Scheme, options: Options) -> Result<Vec<Specimen>, ScheduleError> {
        let shapes = PyramidShape::proposed(scheme, options)?;
        let largest = shapes.iter().map(|shape| shape.side).max();
        let specimen = |shape: PyramidShape| {
            let suffix = format!("_{}x{}", shape.pairs[0], shape.pairs[1]);
            Specimen { shape: shape.into(), rows: RowAlignment::Any, suffix }
        };
        Ok(shapes.into_iter().filter(|shape| Some(shape.side) == largest).map(specimen).collect())
    }

    /// Images of up to 32 samples a side, in parts of several lengths.
    fn miniatures(&self, _scheme: &Scheme, _options: Options) -> Vec<schedule::Shape> {
        [[4, 2], [2, 2], [4, 1], [8, 4]].map(|pairs| PyramidShape { side: 32, pairs }.into()).into()
    }

    /// The shape for the largest images.
    fn usual(&self, scheme: &Scheme, options: Options) -> Result<schedule::Shape, ScheduleError> {
        let mut shapes = PyramidShape::proposed(scheme, options)?;
        Ok(shapes.pop().expect("a shape is proposed").into())
    }
}

impl schedule::Fit for PyramidFit {
    fn alignment(&self) -> RowAlignment {
        RowAlignment::Any
    }

    /// Block size: an image.
    fn block(&self) -> [i64; 2] {
        [self.side(); 2]
    }

    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        Ok(write(self, scheme, order))
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        self.accepts(job)?;
        Ok([0, 0])
    }

    fn chunk(&self, job: &Job, _machine: &Machine) -> i32 {
        job.levels
    }

    fn demand(&self, job: &Job, _chunk: u32, machine: &Machine) -> Demand {
        self.demand(job, machine)
    }
}
