//! The `register-blocks` schedule's [`schedule::Schedule`] implementation.

use super::{Build, RegisterBlockFit, RegisterBlockShape, fit};
use lifting_codegen::ir::Kernel;
use lifting_codegen::machine::Machine;
use lifting_codegen::schedule::demand::Demand;
use lifting_codegen::schedule::level::{Job, Order, RowAlignment};
use lifting_codegen::schedule::{self, Extent, Field, HostLaunch, Options, ScheduleError};
use lifting_dsl::Scheme;
use std::fmt;
use std::sync::Arc;

/// Warps hold blocks in registers or in shared memory, as in the paper.
pub struct RegisterBlockSchedule;

/// The fields of a shape; `build` indexes [`Build::ALL`].
const FIELDS: &[Field] = &[Field::new("rows", 8, 80), Field::WARPS, Field::new("build", 0, 4)];

/// The paper's block.
const PAPER: RegisterBlockShape = RegisterBlockShape { rows: 20, warps: 4, build: Build::Shuffles };

impl From<RegisterBlockShape> for schedule::Shape {
    fn from(shape: RegisterBlockShape) -> schedule::Shape {
        let build = Build::ALL.iter().position(|&build| build == shape.build).expect("all are there");
        schedule::Shape::new(&RegisterBlockSchedule, &[shape.rows, shape.warps, build as u32])
    }
}

impl From<schedule::Shape> for RegisterBlockShape {
    fn from(shape: schedule::Shape) -> RegisterBlockShape {
        let [rows, warps, build] = shape.values();
        RegisterBlockShape { rows, warps, build: Build::ALL[(build as usize).min(Build::ALL.len() - 1)] }
    }
}

/// The paper's block, or a taller one if that would be all halo.
fn usual(scheme: &Scheme, options: Options) -> Result<RegisterBlockShape, ScheduleError> {
    let mut shapes = [20, 32, 40, 52].map(|rows| RegisterBlockShape { rows, ..PAPER }).into_iter();
    let holds = |shape: &RegisterBlockShape| fit(scheme, options, *shape, RowAlignment::Any).is_ok();
    match shapes.find(holds) {
        Some(shape) => Ok(shape),
        None => fit(scheme, options, PAPER, RowAlignment::Any).map(|_| PAPER),
    }
}

impl schedule::LaunchSchedule for RegisterBlockSchedule {
    fn name(&self) -> &'static str {
        "register-blocks"
    }

    fn about(&self) -> &'static str {
        "Both axes in one pass, 64 columns in a warp (Enfedaque 2015)"
    }

    fn extent(&self) -> Extent {
        Extent::Plane
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn describe(&self, shape: &schedule::Shape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RegisterBlockShape { rows, warps, build } = (*shape).into();
        write!(f, "register-blocks, {rows} rows, {warps} warps, {}", build.name())
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
        shape.check_lanes()?;
        Ok(Arc::new(fit(scheme, options, shape.into(), rows)?))
    }

    fn proposed(
        &self,
        scheme: &Scheme,
        options: Options,
        _job: &Job,
        _machine: &Machine,
    ) -> Result<Vec<schedule::Shape>, ScheduleError> {
        Ok(vec![usual(scheme, options)?.into()])
    }

    fn transforms(&self, shape: &schedule::Shape) -> bool {
        RegisterBlockShape::from(*shape).build.transforms()
    }

    /// Two warps, in each variant that is a transform.
    fn miniatures(&self, scheme: &Scheme, options: Options) -> Vec<schedule::Shape> {
        let Ok(usual) = usual(scheme, options) else { return Vec::new() };
        let builds = Build::ALL.into_iter().filter(|build| build.transforms());
        builds.map(|build| RegisterBlockShape { warps: 2, build, ..usual }.into()).collect()
    }

    fn usual(&self, scheme: &Scheme, options: Options) -> Result<schedule::Shape, ScheduleError> {
        usual(scheme, options).map(schedule::Shape::from)
    }
}

/// Delegates to `warp`, whose blocks these are.
impl schedule::Fit for RegisterBlockFit {
    fn alignment(&self) -> RowAlignment {
        self.block.alignment()
    }

    fn block(&self) -> [i64; 2] {
        self.block.block()
    }

    fn kernel(&self, scheme: &Scheme, order: Order) -> Result<Kernel, ScheduleError> {
        self.kernel(scheme, order)
    }

    fn placement(&self, job: &Job) -> Result<[i32; 2], ScheduleError> {
        self.block.placement(job)
    }

    fn chunk(&self, job: &Job, machine: &Machine) -> i32 {
        self.block.chunk(job, machine)
    }

    fn host_launch(&self) -> Option<HostLaunch> {
        self.block.host_launch()
    }

    fn demand(&self, job: &Job, chunk: u32, machine: &Machine) -> Demand {
        schedule::Fit::demand(&self.block, job, chunk, machine)
    }
}
