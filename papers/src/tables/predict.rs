//! Predictions without a device: times on an H200 by the planner's model, and operations that the interpreter counts in
//! the launches of a small image.

use super::report::Found;
use super::table::{Counter, What};
use liftc::bench::{Case, TimedOperation};
use liftc::failure::{Outcome, input};
use liftc::with_sample;
use lifting::{Device, Sample};
use lifting_codegen::ir::interp::{self, Buffer, Counts};
use lifting_codegen::machine::Machine;
use lifting_dsl::Direction;
use lifting_planner::{Arg, Array, List, Problem, Program, Region, Schedule, Tuning, contiguous};

/// Largest counted image, in samples.
const SMALL: usize = 1 << 16;

/// Predicted time of a row in copies; `None` for rows that are not transforms.
pub fn predict(what: &What) -> Found {
    let What::Transform(cases) = what else { return Found::Predicted(None) };
    let case = &cases[0];
    Found::Predicted(with_sample!(case.sample, planned(case)).ok().flatten())
}

/// Prediction by the planner's model, which does not cover passes and tiles requested by a paper's name.
fn planned<T: Sample>(case: &Case) -> Outcome<Option<f64>> {
    let is_unknown = match case.schedule {
        Schedule::Axis(_) => true,
        Schedule::Launch(schedule) => schedule.holds_whole(),
        _ => false,
    };
    if is_unknown || !case.transforms() {
        return Ok(None);
    }
    let plan = case.plan::<T>(&Device::Interpreter)?;
    let direction = if case.ways.contains(&TimedOperation::Forward) { Direction::Forward } else { Direction::Inverse };
    let samples = |shape: &[usize]| shape.iter().product::<usize>() as f64;
    let choices = plan.recipe().choices.iter().filter(|choice| choice.direction == direction);
    let first = samples(&case.shape);
    Ok(Some(choices.map(|choice| choice.taken.time * samples(&choice.shape) / first).sum()))
}

/// Launches of a case for an image of this shape.
fn program<T: Sample>(case: &Case, shape: &[usize]) -> Outcome<Program> {
    let plan = case.plan_of::<T>(shape, &Device::Interpreter)?;
    let recipe = plan.recipe();
    let geometry = lifting_dsl::geometry::Geometry::new(shape, &recipe.origins, &recipe.levels, &recipe.axis_order);
    let problem = Problem {
        boundary: recipe.boundary,
        tile: case.tile.clone(),
        ..Problem::new(case.scheme.clone(), geometry.map_err(input)?)
    };
    let mut tuning = Tuning::new(case.schedule, Machine::default(), String::new());
    if let Some(blocks) = case.blocks {
        tuning = Tuning::new(Schedule::Launch(blocks.schedule()), Machine::default(), String::new());
        tuning.only = Some(lifting_planner::Only::Way(Direction::Forward, lifting_planner::Way::Launch(blocks)));
    }
    let strides = contiguous(shape);
    Program::new(&problem, T::KIND, &strides, &strides, &tuning).map_err(input)
}

/// Launches of analysis or synthesis.
fn list<'a>(case: &Case, program: &'a Program) -> &'a List {
    if case.ways.contains(&TimedOperation::Forward) { &program.forward } else { &program.inverse[0] }
}

/// Counted operations and block size of each launch for a smaller image, whose launches differ in size only.
fn launches<T: Sample>(case: &Case, shape: &[usize]) -> Outcome<Vec<(Counts, u32)>> {
    let program = program::<T>(case, shape)?;
    let scalar = lifting_planner::scalar_of(T::KIND);
    let samples: usize = shape.iter().product();
    let arrays = Arrays {
        source: zeros(scalar, samples),
        target: zeros(scalar, samples),
        scratch: program.regions.0.iter().map(|region| region.map(|(scalar, len)| zeros(scalar, len))).collect(),
    };
    let count = |launch: &lifting_planner::Launch| {
        let made = &program.kernels[launch.kernel];
        Ok((count(&arrays, launch, made)?, made.kernel.launch.block.iter().product()))
    };
    list(case, &program).launches.iter().map(count).collect()
}

/// Blocks per axis of a counted image, such that rows of the image and of bands begin at whole sectors.
const BLOCKS: usize = 8;

/// Shape of a smaller image, and whether it consists of whole blocks, as for requested block shapes.
fn smaller<T: Sample>(case: &Case) -> Outcome<(Vec<usize>, bool)> {
    let shape = case.affordable(SMALL);
    let Some(warps) = case.blocks.and_then(|blocks| blocks.get("warps")) else { return Ok((shape, false)) };
    let program = program::<T>(case, &shape)?;
    let block = program.kernels.iter().find_map(|made| made.fit.as_ref()).map(|fit| fit.block());
    let [columns, rows] = block.ok_or_else(|| input("no launch has blocks"))?.map(|n| n as usize * BLOCKS);
    Ok((vec![rows * warps as usize, columns], true))
}

/// Thousands of counted operations, over `levels` levels.
pub fn thousands(case: &Case, levels: u32, of: Counter) -> Outcome<f64> {
    with_sample!(case.sample, thousands_of(case, levels, of))
}

fn thousands_of<T: Sample>(case: &Case, levels: u32, of: Counter) -> Outcome<f64> {
    let (shape, of_blocks) = smaller::<T>(case)?;
    let small = launches::<T>(case, &shape)?;
    let samples = case.samples() as f64 / shape.iter().product::<usize>() as f64;
    let whole = program::<T>(case, &case.shape)?;
    let blocks = |launch: &lifting_planner::Launch| launch.grid.iter().map(|&n| f64::from(n)).product::<f64>();
    // Blocks of passes depend on the image: they have rows and strips of its length.
    let times = |launch, counts: &Counts| if of_blocks { blocks(launch) / counts.blocks as f64 } else { samples };
    let found = list(case, &whole).launches.iter().zip(&small);
    let level: f64 = found.map(|(launch, (counts, _))| of.of(counts) * times(launch, counts)).sum();
    Ok(level * (0..levels).map(|level| 0.25f64.powi(level as i32)).sum::<f64>() * 1e-3)
}

/// Workspace of a direction's plan, in multiples of the image.
pub fn workspace(case: &Case) -> Outcome<f64> {
    with_sample!(case.sample, workspace_of(case))
}

fn workspace_of<T: Sample>(case: &Case) -> Outcome<f64> {
    let program = program::<T>(case, &case.shape)?;
    let bytes: usize = program.regions.0.iter().flatten().map(|(scalar, len)| scalar.bytes() * len).sum();
    Ok(bytes as f64 / (case.samples() * size_of::<T>()) as f64)
}

struct Arrays {
    source: Buffer,
    target: Buffer,
    scratch: Vec<Option<Buffer>>,
}

/// Operations of a launch on these arrays.
fn count(arrays: &Arrays, launch: &lifting_planner::Launch, made: &lifting_planner::Made) -> Outcome<Counts> {
    let mut args = Vec::new();
    for arg in &launch.args {
        args.push(match *arg {
            Arg::Int(value) => interp::Arg::Scalar(value),
            Arg::Pointer(array, offset) => {
                let whole = match array {
                    Array::Source => &arrays.source,
                    Array::Target => &arrays.target,
                    Array::Scratch(region) => {
                        arrays.scratch[Region::index(region)].as_ref().ok_or_else(|| input("no such scratch"))?
                    }
                };
                // Results are discarded: samples do not influence the counts.
                interp::Arg::Buffer(whole.tail(offset.max(0) as usize))
            }
        });
    }
    if let (Some(placed), Some(fit)) = (&launch.placed, &made.fit) {
        let values = placed.arguments(&**fit, |_| 0).ok_or_else(|| input("the launch does not fit its arrays"))?;
        args[placed.at..].iter_mut().zip(values).for_each(|(arg, v)| *arg = interp::Arg::Scalar(v));
    }
    interp::run(&made.kernel, &made.info, &mut args).map_err(input)
}

fn zeros(scalar: lifting_codegen::ir::Scalar, len: usize) -> Buffer {
    let mut buffer = Buffer::undefined(scalar, len);
    match scalar {
        lifting_codegen::ir::Scalar::I16 => buffer.set((0..len).map(|i| (i, 1i16))),
        lifting_codegen::ir::Scalar::I32 => buffer.set((0..len).map(|i| (i, 1i32))),
        lifting_codegen::ir::Scalar::F64 => buffer.set((0..len).map(|i| (i, 1f64))),
        lifting_codegen::ir::Scalar::F32 => buffer.set((0..len).map(|i| (i, 1f32))),
        lifting_codegen::ir::Scalar::F16 => buffer.set((0..len).map(|i| (i, lifting::f16::ONE))),
        _ => {}
    }
    buffer
}
