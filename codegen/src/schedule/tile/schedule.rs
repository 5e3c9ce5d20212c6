//! The `tile` schedule's [`schedule::Schedule`] implementation.

use super::{TileFit, TileShape, fit, write};
use crate::ir::{Kernel, WARP};
use crate::machine::Machine;
use crate::schedule::demand::Demand;
use crate::schedule::level::{Job, Order, RowAlignment};
use crate::schedule::{self, Extent, Field, Options, ScheduleError, Specimen};
use lifting_dsl::Scheme;
use std::fmt;
use std::sync::Arc;

/// Blocks pass a tile from one axis to the other through shared memory.
pub struct TileSchedule;

/// The fields of a shape.
const FIELDS: &[Field] = &[Field::COLUMNS, Field::new("rows", 2, 512), Field::new("pairs", 1, 256), Field::WARPS];

impl TileShape {
    /// The kernel's shape for rows of an alignment.
    fn of_any(shape: schedule::Shape, rows: RowAlignment) -> TileShape {
        let ([columns, rows_of_tile, pairs, warps], lanes) = (shape.values(), shape.lanes());
        let aligned = rows != RowAlignment::Any;
        TileShape { columns, rows: rows_of_tile, pairs, warps, lanes, min_blocks: 0, aligned }
    }
}

/// The generic shape that plans hold.
impl From<TileShape> for schedule::Shape {
    fn from(shape: TileShape) -> schedule::Shape {
        let TileShape { columns, rows, pairs, warps, lanes, .. } = shape;
        schedule::Shape::new(&TileSchedule, &[columns, rows, pairs, warps]).of_lanes(lanes)
    }
}

impl schedule::LaunchSchedule for TileSchedule {
    fn name(&self) -> &'static str {
        "tile"
    }

    fn about(&self) -> &'static str {
        "Both axes in one pass, tiles in shared memory between them"
    }

    fn extent(&self) -> Extent {
        Extent::Plane
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn describe(&self, shape: &schedule::Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [columns, rows, pairs, warps] = shape.values();
        write!(f, "tile, {columns} columns a lane, {rows} rows, {pairs} row pairs a thread, {warps} warps")
    }

    fn alignments(&self) -> &'static [RowAlignment] {
        &[RowAlignment::Aligned, RowAlignment::Any]
    }

    fn fit(
        &self,
        scheme: &Scheme,
        options: Options,
        shape: schedule::Shape,
        rows: RowAlignment,
    ) -> Result<Arc<dyn schedule::Fit>, ScheduleError> {
        Ok(Arc::new(fit(scheme, options, TileShape::of_any(shape, rows))?))
    }

    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        _job: &Job,
        _machine: &Machine,
    ) -> Result<Vec<schedule::Shape>, ScheduleError> {
        Ok(TileShape::proposed(scheme, options)?.into_iter().map(schedule::Shape::from).collect())
    }

    /// Specimens of each shape, for aligned and for unaligned rows.
    fn specimens(&self, scheme: &Scheme, options: Options) -> Result<Vec<Specimen>, ScheduleError> {
        let of_shape = |shape: TileShape| {
            let suffix = format!("_{}x{}x{}", shape.columns, shape.rows, shape.pairs);
            [RowAlignment::Aligned, RowAlignment::Any].map(|rows| Specimen {
                shape: shape.into(),
                rows,
                suffix: suffix.clone(),
            })
        };
        Ok(TileShape::proposed(scheme, options)?.into_iter().flat_map(of_shape).collect())
    }

    /// Two warps a block with 12 rows, and one shape for every lane width. The latter have an odd number of pairs for
    /// an even number of warps, so some warp lacks a part.
    fn miniatures(&self, _scheme: &Scheme, options: Options) -> Vec<schedule::Shape> {
        let bytes = options.sample.bytes() as u32;
        let columns = if bytes == 2 { 4 } else { 2 };
        let small = TileShape { columns, rows: 12, pairs: 3, warps: 2, lanes: WARP, min_blocks: 0, aligned: false };
        let others = [2, 4, 8].into_iter().filter(|columns| columns * bytes <= 16);
        let others = others.map(|columns| TileShape { columns, rows: 10, pairs: 1, warps: 4, ..small });
        std::iter::once(small).chain(others).map(schedule::Shape::from).collect()
    }

    fn usual(&self, scheme: &Scheme, options: Options) -> Result<schedule::Shape, ScheduleError> {
        Ok(TileShape::proposed(scheme, options)?[0].into())
    }
}

impl schedule::Fit for TileFit {
    fn alignment(&self) -> RowAlignment {
        if self.shape.aligned { RowAlignment::Aligned } else { RowAlignment::Any }
    }

    fn block(&self) -> [i64; 2] {
        [self.columns(), self.rows()]
    }

    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        Ok(write(self, scheme, order))
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        self.accepts(job)?;
        Ok([job.aligned(self.options.sample, self.shape.columns), 0])
    }

    fn chunk(&self, _job: &Job, _machine: &Machine) -> i32 {
        self.shape.rows as i32 / 2
    }

    fn demand(&self, job: &Job, _chunk: u32, machine: &Machine) -> Demand {
        self.demand(job, machine)
    }
}
