//! The `volume` schedule's [`schedule::Schedule`] implementation.

use super::{VolumeFit, VolumeShape, fit, write};
use crate::ir::Kernel;
use crate::machine::Machine;
use crate::schedule::demand::Demand;
use crate::schedule::level::{Job, Order, RowAlignment};
use crate::schedule::{self, Extent, Field, Options, ScheduleError, Specimen, Tiles};
use lifting_dsl::{Direction, Scheme};
use std::fmt;
use std::sync::Arc;

/// All three axes at once: tiles of planes walk along the third.
pub struct VolumeSchedule;

/// The fields of a shape.
const FIELDS: &[Field] = &[Field::COLUMNS, Field::new("pairs", 1, 64), Field::WARPS, Field::CHUNK];

impl VolumeShape {
    /// The kernel's shape for rows of an alignment. Whole rows select whole-sector stores.
    fn of_any(shape: schedule::Shape, rows: RowAlignment) -> VolumeShape {
        let [columns, pairs, warps] = shape.values();
        let (aligned, whole_sectors) = (rows.is_aligned(), rows == RowAlignment::Whole);
        VolumeShape { columns, pairs, warps, min_blocks: 0, aligned, whole_sectors }
    }
}

/// The generic shape that plans hold, with chunk lengths left to the device.
impl From<VolumeShape> for schedule::Shape {
    fn from(shape: VolumeShape) -> schedule::Shape {
        let VolumeShape { columns, pairs, warps, .. } = shape;
        schedule::Shape::new(&VolumeSchedule, &[columns, pairs, warps, 0])
    }
}

impl schedule::LaunchSchedule for VolumeSchedule {
    fn name(&self) -> &'static str {
        "volume"
    }

    fn about(&self) -> &'static str {
        "All three axes of a volume in one pass, tiles walk along the last"
    }

    fn extent(&self) -> Extent {
        Extent::Volume
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn describe(&self, shape: &schedule::Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [columns, pairs, warps, chunk] = shape.values();
        write!(f, "volume, {columns} columns a lane, {pairs} row pairs a thread, {warps} warps, ")?;
        write!(f, "chunks of {chunk} plane pairs")
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
        Ok(Arc::new(fit(scheme, options, VolumeShape::of_any(shape, rows))?))
    }

    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        _job: &Job,
        _machine: &Machine,
    ) -> Result<Vec<schedule::Shape>, ScheduleError> {
        Ok(VolumeShape::proposed(scheme, options)?.into_iter().map(schedule::Shape::from).collect())
    }

    /// Specimens of each shape: aligned rows with and without whole sectors, and unaligned rows.
    fn specimens(&self, scheme: &Scheme, options: Options) -> Result<Vec<Specimen>, ScheduleError> {
        let forward = options.direction == Direction::Forward;
        let of_shape = |shape: VolumeShape| {
            let suffix = format!("_{}x{}x{}", shape.columns, shape.pairs, shape.warps);
            let rows = schedule::LaunchSchedule::alignments(self).iter().copied();
            let rows = rows.filter(move |&rows| forward || rows != RowAlignment::Whole);
            rows.map(move |rows| Specimen { shape: shape.into(), rows, suffix: suffix.clone() })
        };
        Ok(VolumeShape::proposed(scheme, options)?.into_iter().flat_map(of_shape).collect())
    }

    /// Tiles of few rows, with the smallest and the largest lane width.
    fn miniatures(&self, _scheme: &Scheme, options: Options) -> Vec<schedule::Shape> {
        let bytes = options.sample.bytes() as u32;
        let (columns, warps) = match bytes {
            2 => (4, 8),
            4 => (2, 4),
            _ => (2, 8),
        };
        let small = VolumeShape { columns, pairs: 1, warps, min_blocks: 0, aligned: false, whole_sectors: false };
        [small, VolumeShape { columns: 16 / bytes, warps: 8, ..small }].map(schedule::Shape::from).into()
    }

    fn usual(&self, scheme: &Scheme, options: Options) -> Result<schedule::Shape, ScheduleError> {
        Ok(VolumeShape::proposed(scheme, options)?[0].into())
    }

    fn refined(&self, fastest: schedule::Shape) -> Vec<schedule::Shape> {
        fastest.with_usual_chunks()
    }
}

impl schedule::Fit for VolumeFit {
    /// [`RowAlignment::Whole`] selects whole-sector stores of bands.
    fn alignment(&self) -> RowAlignment {
        self.shape.takes()
    }

    fn block(&self) -> [i64; 2] {
        [self.columns(), self.rows()]
    }

    fn kernel(&self, scheme: &Scheme, _order: Order) -> Result<Kernel, ScheduleError> {
        Ok(write(self, scheme))
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        Ok([self.aligned(job, &self.planes(job)?), 0])
    }

    fn chunk(&self, job: &Job, machine: &Machine) -> i32 {
        job.planes.map_or(1, |planes| self.plane_pairs(job, &planes, machine.multiprocessors))
    }

    fn least_chunk(&self, job: &Job) -> i32 {
        VolumeFit::least_chunk(job)
    }

    fn tiles(&self) -> Option<Tiles> {
        Some(self.tiled())
    }

    fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        self.demand(job, chunk, machine)
    }
}
