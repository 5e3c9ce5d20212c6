//! `--shape`: functions for one shape each, with the launches of a plan.

use crate::bench::{pitched, shape_text, with_sample};
use crate::cli::CompileArgs;
use crate::failure::{Outcome, usage};
use lifting::{Boundary, Format, Plan, Sample, Schedule, Scheme};
use lifting_codegen::emit::Request;
use lifting_planner::emit::Fixed;
use lifting_planner::{Machine, Tuning, sample_of};

/// Requested transforms in every sample type; empty without a shape.
pub fn transforms(args: &CompileArgs, request: &Request) -> Outcome<Vec<Fixed>> {
    let (shapes, levels) = (&args.fixed.shape, &args.fixed.levels);
    if levels.len() > 1 && levels.len() != shapes.len() {
        return Err(usage(format!("there are {} shapes but {} numbers of levels", shapes.len(), levels.len()))
            .help("give -l one number for all shapes, or one for each"));
    }
    let mut all: Vec<Fixed> = Vec::new();
    for &scalar in request.samples {
        for (i, shape) in shapes.iter().enumerate() {
            let levels = levels.get(i).or(levels.first()).copied().unwrap_or(1);
            let sample = sample_of(scalar).expect("files are for sample types");
            let (scheme, boundary, profile) = (request.scheme, request.boundary, args.profile);
            let one = One { args, scheme, boundary, profile, shape, levels };
            let fixed = with_sample!(sample, transform(&one))?;
            if !all.iter().any(|other| (&other.name, other.sample) == (&fixed.name, fixed.sample)) {
                all.push(fixed);
            }
        }
    }
    Ok(all)
}

struct One<'a> {
    args: &'a CompileArgs,
    scheme: &'a Scheme,
    boundary: Boundary,
    profile: Option<Format>,
    shape: &'a [usize],
    levels: u32,
}

fn transform<T: Sample>(one: &One) -> Outcome<Fixed> {
    let fixed = &one.args.fixed;
    let levels = one.levels;
    let mut name = String::new();
    if let Some(batch) = fixed.batch {
        name += &format!("{batch}_of_");
    }
    name += &format!("{}_l{levels}", shape_text(one.shape));
    let shape: Vec<usize> = fixed.batch.iter().chain(one.shape).copied().collect();
    let first = usize::from(fixed.batch.is_some());
    let axes: Vec<usize> = if fixed.axes.is_empty() {
        (first..shape.len()).collect()
    } else {
        let numbers: Vec<String> = fixed.axes.iter().map(usize::to_string).collect();
        name += &format!("_axes{}", numbers.join("_"));
        fixed.axes.iter().map(|axis| axis.saturating_add(first)).collect()
    };
    let mut builder = Plan::builder(one.scheme).shape(&shape).axes(&axes).levels(levels).sample::<T>();
    builder = builder.boundary(one.boundary);
    if let Some(profile) = one.profile {
        builder = builder.profile(profile);
    }
    if let Some(pitch) = fixed.pitch {
        let strides = pitched(&shape, pitch, T::KIND)?;
        name += &format!("_pitch{pitch}");
        builder = builder.strides(&strides).coefficient_strides(&strides);
    }
    builder.fixed(&name).map_err(|e| usage(e).at(shape_text(one.shape)))
}

/// Tuning for the requested machine.
pub fn tuning(args: &CompileArgs) -> Tuning {
    let machine = match args.fixed.multiprocessors {
        Some(multiprocessors) => Machine::default().with_multiprocessors(multiprocessors),
        None => Machine::default(),
    };
    Tuning::new(Schedule::Auto, machine, String::new())
}

/// Options of the command that request these functions, in CUDA or in place.
pub fn words(args: &CompileArgs, is_cuda: bool) -> Vec<String> {
    let fixed = &args.fixed;
    if fixed.shape.is_empty() {
        return Vec::new();
    }
    let shapes: Vec<String> = fixed.shape.iter().map(|shape| shape_text(shape)).collect();
    let mut words = vec![format!("--shape {}", shapes.join(","))];
    if !fixed.levels.is_empty() {
        let levels: Vec<String> = fixed.levels.iter().map(u32::to_string).collect();
        words.push(format!("-l {}", levels.join(",")));
    }
    words.extend(fixed.batch.map(|batch| format!("--batch {batch}")));
    if !fixed.axes.is_empty() {
        let axes: Vec<String> = fixed.axes.iter().map(usize::to_string).collect();
        words.push(format!("--axes {}", axes.join(",")));
    }
    words.extend(fixed.pitch.map(|pitch| format!("--pitch {pitch}")));
    if is_cuda {
        words.extend(fixed.multiprocessors.map(|n| format!("--multiprocessors {n}")));
    } else {
        words.push("--in-place".into());
    }
    words
}
