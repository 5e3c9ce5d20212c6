//! The `lone-tile` schedule's [`schedule::Schedule`] implementation.

use super::{LoneTileFit, fit, write};
use lifting_codegen::ir::Kernel;
use lifting_codegen::machine::Machine;
use lifting_codegen::schedule::demand::Demand;
use lifting_codegen::schedule::level::{Job, Order, RowAlignment};
use lifting_codegen::schedule::{self, Extent, Field, Options, ScheduleError, Shape};
use lifting_dsl::Scheme;
use std::fmt;
use std::sync::Arc;

/// Independent tiles, each in the shared memory of a block.
pub struct LoneTileSchedule;

/// The field of a shape: maximum rows and columns of a tile.
const FIELDS: &[Field] = &[Field::new("side", 2, 64)];

/// Default side: a block of 512 threads.
const SIDE: u32 = 32;

impl schedule::LaunchSchedule for LoneTileSchedule {
    fn name(&self) -> &'static str {
        "lone-tile"
    }

    fn about(&self) -> &'static str {
        "Both axes in one pass, a tile in shared memory (Matela 2009)"
    }

    fn extent(&self) -> Extent {
        Extent::Plane
    }

    fn holds_whole(&self) -> bool {
        true
    }

    fn takes_grids(&self) -> bool {
        true
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn describe(&self, shape: &Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [side] = shape.values();
        write!(f, "lone-tile, up to {side} rows and columns")
    }

    fn alignments(&self) -> &'static [RowAlignment] {
        &[RowAlignment::Any]
    }

    fn fit(
        &self,
        scheme: &Scheme,
        options: Options,
        shape: Shape,
        _: RowAlignment,
    ) -> Result<Arc<dyn schedule::Fit>, ScheduleError> {
        shape.check_lanes()?;
        let [side] = shape.values();
        Ok(Arc::new(fit(scheme, options, side)?))
    }

    /// The smallest side that takes the job, which needs the fewest threads.
    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        job: &Job,
        _machine: &Machine,
    ) -> Result<Vec<Shape>, ScheduleError> {
        let longest = job.width.max(job.height).max(2) as u32;
        let mut sides = [16, SIDE, 64].into_iter().filter(|&side| fit(scheme, options, side).is_ok());
        let side = sides.clone().find(|&side| side >= longest).or(sides.next_back()).unwrap_or(SIDE);
        fit(scheme, options, side)?;
        Ok(vec![Shape::new(&LoneTileSchedule, &[side])])
    }

    fn miniatures(&self, _: &Scheme, _: Options) -> Vec<Shape> {
        // One side with a thread for every two samples, and one with fewer threads.
        [16, 48].map(|side| Shape::new(&LoneTileSchedule, &[side])).into()
    }

    fn usual(&self, scheme: &Scheme, options: Options) -> Result<Shape, ScheduleError> {
        fit(scheme, options, SIDE)?;
        Ok(Shape::new(&LoneTileSchedule, &[SIDE]))
    }
}

impl schedule::Fit for LoneTileFit {
    fn alignment(&self) -> RowAlignment {
        RowAlignment::Any
    }

    fn block(&self) -> [i64; 2] {
        [i64::from(self.side); 2]
    }

    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        Ok(write(self, scheme, order))
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        job.check("lone-tile", self.options.sample)?;
        job.check_pairs("lone-tile", self.options.boundary)?;
        let (width, height, side) = (job.width, job.height, self.side);
        if width.max(height) > side as i32 {
            let what =
                format!("the image is {height} x {width}, a block holds at most {side} x {side}: cut it into tiles");
            return Err(ScheduleError::Launch { schedule: "lone-tile", what });
        }
        Ok([0, 0])
    }

    /// Tiles in a row of tiles.
    fn chunk(&self, job: &Job, _: &Machine) -> i32 {
        job.batch / job.grid_rows
    }

    /// Samples pass through shared memory once for each read and write of a step. Not fitted to measurements: plans do
    /// not choose this schedule.
    fn demand(&self, _: &Job, _: u32, _: &Machine) -> Demand {
        let operations = 16.0 * self.actions.len() as f64;
        Demand { moved: 1.0, instructions: operations, latency: 4.0 * operations, power: 1.0, slower: 1.0 }
    }
}
