//! The `warp` schedule's [`schedule::Schedule`] implementation.

use super::{WarpFit, WarpShape, fit, write};
use crate::ir::{Kernel, Scalar};
use crate::machine::Machine;
use crate::schedule::demand::Demand;
use crate::schedule::level::{Job, Order, RowAlignment};
use crate::schedule::{self, Extent, Field, HostLaunch, Options, ScheduleError, Specimen};
use lifting_dsl::Scheme;
use std::fmt;
use std::sync::Arc;

/// Warps hold whole blocks in registers, halo included.
pub struct WarpSchedule;

/// Warps a block that tuning measures.
const TRIED: [u32; 4] = [1, 2, 4, 8];

/// The fields of a shape.
const FIELDS: &[Field] =
    &[Field::COLUMNS, Field::new("rows", 2, 512), Field::WARPS, Field::flag("whole_sectors"), Field::flag("packed")];

impl WarpShape {
    /// The kernel's shape for rows of an alignment.
    fn of_any(shape: schedule::Shape, takes: RowAlignment) -> WarpShape {
        let [columns, rows, warps, whole_sectors, packed] = shape.values();
        let [whole_sectors, packed] = [whole_sectors, packed].map(|flag| flag != 0);
        WarpShape { columns, rows, warps, min_blocks: 0, whole_sectors, packed, takes }
    }
}

/// The generic shape that plans hold.
impl From<WarpShape> for schedule::Shape {
    fn from(shape: WarpShape) -> schedule::Shape {
        let WarpShape { columns, rows, warps, whole_sectors, packed, .. } = shape;
        schedule::Shape::new(&WarpSchedule, &[columns, rows, warps, whole_sectors.into(), packed.into()])
    }
}

impl schedule::LaunchSchedule for WarpSchedule {
    fn name(&self) -> &'static str {
        "warp"
    }

    fn about(&self) -> &'static str {
        "Both axes in one pass, blocks in a warp's registers"
    }

    fn extent(&self) -> Extent {
        Extent::Plane
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn describe(&self, shape: &schedule::Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WarpShape { columns, rows, warps, whole_sectors, packed, .. } =
            WarpShape::of_any(*shape, RowAlignment::Any);
        let stores = if whole_sectors { ", whole sectors" } else { "" };
        let pairs = if packed { ", in pairs" } else { "" };
        write!(f, "warp, {columns} columns a lane{pairs}, {rows} rows, {warps} warps{stores}")
    }

    fn alignments(&self) -> &'static [RowAlignment] {
        &RowAlignment::ALL
    }

    fn fit(
        &self,
        scheme: &Scheme,
        options: Options,
        shape: schedule::Shape,
        rows: RowAlignment,
    ) -> Result<Arc<dyn schedule::Fit>, ScheduleError> {
        shape.check_lanes()?;
        Ok(Arc::new(fit(scheme, options, WarpShape::of_any(shape, rows))?))
    }

    /// Packed shapes where possible. Unaligned rows add the taller shapes.
    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        job: &Job,
        machine: &Machine,
    ) -> Result<Vec<schedule::Shape>, ScheduleError> {
        let shapes = WarpShape::proposed(scheme, options)?;
        let (pairs, singles): (Vec<_>, Vec<_>) = shapes.into_iter().partition(|shape| shape.packed);
        let rows_of = |shape: &WarpShape| {
            let met = schedule::Shape::from(*shape).meet(scheme, options, job, machine);
            met.ok().map(|(fit, _)| fit.alignment())
        };
        let is_paired = singles.is_empty() || pairs.iter().any(|shape| rows_of(shape).is_some());
        let mut taken = if is_paired { pairs } else { singles };
        let samples = [job.width, job.height, job.batch].map(i64::from).iter().product();
        let taller = |shape: &WarpShape| shape.for_rows_anywhere(scheme, options, (rows_of(shape)?, samples), machine);
        taken.extend(taken.iter().filter_map(taller).collect::<Vec<_>>());
        Ok(taken.into_iter().map(schedule::Shape::from).collect())
    }

    /// One specimen of each shape for whole rows. Other alignments get the first shape that takes them and its taller
    /// form.
    fn specimens(&self, scheme: &Scheme, options: Options) -> Result<Vec<Specimen>, ScheduleError> {
        let shapes = WarpShape::proposed(scheme, options)?;
        let of_rows = |takes: RowAlignment| {
            let mut all = shapes.iter().map(|&shape| WarpShape { takes, ..shape });
            all.find(|&shape| fit(scheme, options, shape).is_ok())
        };
        let others = [RowAlignment::Aligned, RowAlignment::Image, RowAlignment::Any].into_iter().filter_map(of_rows);
        let anywhere = [RowAlignment::Image, RowAlignment::Any].into_iter().filter_map(of_rows);
        let machine = Machine::default();
        let tall =
            anywhere.filter_map(|shape| shape.for_rows_anywhere(scheme, options, (shape.takes, i64::MAX), &machine));
        // Samples are packed where they can be.
        let whole = shapes.iter().filter(|shape| shape.packed == shapes[0].packed);
        let whole = whole.map(|&shape| WarpShape { takes: RowAlignment::Whole, ..shape });
        let specimen = |shape: WarpShape| {
            let pairs = if shape.packed { "p" } else { "" };
            let suffix = format!("_{}x{}{pairs}", shape.columns, shape.rows);
            Specimen { shape: shape.into(), rows: shape.takes, suffix }
        };
        Ok(whole.chain(others).chain(tall).map(specimen).collect())
    }

    /// Two warps a block with 16 rows each, and one shape for every lane width.
    fn miniatures(&self, _scheme: &Scheme, options: Options) -> Vec<schedule::Shape> {
        let bytes = options.sample.bytes() as u32;
        let columns = if bytes == 2 { 4 } else { 2 };
        let small = WarpShape { columns, rows: 16, warps: 2, whole_sectors: bytes == 8, ..WarpShape::paper() };
        // Registers hold 12 rows of 8 columns.
        let rows = |columns: u32| if columns == 8 { 12 } else { 20 };
        let others = [2, 4, 8].into_iter().filter(|columns| columns * bytes <= 16);
        let others = others.map(|columns| WarpShape { columns, rows: rows(columns), warps: 1, ..WarpShape::paper() });
        std::iter::once(small).chain(others).map(schedule::Shape::from).collect()
    }

    fn usual(&self, scheme: &Scheme, options: Options) -> Result<schedule::Shape, ScheduleError> {
        WarpShape::of(scheme, options).map(schedule::Shape::from)
    }

    /// The considered shapes and the paper's.
    fn trials(&self, considered: &[schedule::Shape], _sample: Scalar) -> Vec<schedule::Shape> {
        let shapes = considered.iter().copied().chain([WarpShape::paper().into()]);
        shapes.flat_map(|shape| TRIED.map(|warps| shape.with(Field::WARPS.name, warps))).collect()
    }
}

impl schedule::Fit for WarpFit {
    fn alignment(&self) -> RowAlignment {
        self.shape.takes
    }

    fn block(&self) -> [i64; 2] {
        [self.columns(), self.rows()]
    }

    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        Ok(write(self, scheme, order))
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        self.accepts(job)?;
        let (sample, columns) = (self.options.sample, self.shape.columns);
        Ok([job.aligned(sample, columns), job.skew(sample, columns)])
    }

    /// A warp takes one block.
    fn chunk(&self, _job: &Job, _machine: &Machine) -> i32 {
        self.pairs as i32
    }

    fn host_launch(&self) -> Option<HostLaunch> {
        Some(HostLaunch::Skewed)
    }

    /// Yields where partial-sector stores cost more than the kernel for all rows.
    fn yields(&self) -> bool {
        self.breaks_sectors()
    }

    /// Blocks at a border that gather single samples wait for them and do not load by time.
    fn loads_by_time(&self) -> bool {
        self.shape.takes == RowAlignment::Whole
    }

    fn gains_by_clusters(&self) -> bool {
        self.shape.takes == RowAlignment::Whole && self.is_limited_by_memory()
    }

    fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        self.demand(job, chunk, machine)
    }
}
