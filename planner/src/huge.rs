//! Tests of launches over arrays of more than 2³¹ samples: every argument fits its parameter, every pointer its array.

use crate::kernels::Tuning;
use crate::list::{Arg, Array, Launch, List};
use crate::problem::Problem;
use crate::program::Program;
use crate::schedule::Schedule;
use lifting_codegen::ir::{Kernel, ParamKind, Scalar};
use lifting_codegen::machine::Machine;
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::sample::SampleType;

fn program(shape: &[usize], levels: &[u32], layout: Layout, schedule: Schedule) -> Option<Program> {
    let order: Vec<usize> = (0..shape.len()).rev().filter(|&a| levels[a] > 0).collect();
    let geometry = Geometry::new(shape, &vec![0; shape.len()], levels, &order).unwrap();
    let problem = Problem { layout, ..Problem::new(crate::tests::scheme("legall53"), geometry) };
    let mut strides = vec![1isize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    Program::new(
        &problem,
        SampleType::I16,
        &strides,
        &strides,
        &Tuning::new(schedule, Machine::default(), String::new()),
    )
    .ok()
}

fn check(launch: &Launch, kernel: &Kernel, extent: impl Fn(Array) -> i64) {
    for (arg, param) in launch.args.iter().zip(&kernel.params) {
        match (*arg, param.kind) {
            (Arg::Int(value), ParamKind::Scalar(Scalar::I32)) => {
                assert!(i32::try_from(value).is_ok(), "{} of {} is {value}", param.name, kernel.name);
            }
            (Arg::Pointer(array, offset), _) => {
                assert!((0..=extent(array)).contains(&offset), "{} of {} is at {offset}", param.name, kernel.name);
            }
            _ => {}
        }
    }
}

#[test]
fn arguments_fit() {
    let shapes: [(&[usize], &[u32]); 6] = [
        (&[46_341, 46_342], &[3, 3]),
        (&[2_000_000_000, 3], &[1, 1]),
        (&[3, 2_000_000_000], &[1, 1]),
        (&[1_300, 1_301, 1_302], &[2, 2, 2]),
        (&[70_000, 200, 200], &[0, 1, 1]),
        (&[5, 70_000, 70_000], &[0, 2, 0]),
    ];
    let mut made = 0;
    for (shape, levels) in shapes {
        for layout in [Layout::Mallat, Layout::Interleaved] {
            for schedule in Schedule::all() {
                let Some(program) = program(shape, levels, layout, schedule) else {
                    assert_ne!(schedule, Schedule::Auto, "{shape:?}");
                    continue;
                };
                made += 1;
                let samples = shape.iter().product::<usize>() as i64;
                let extent = |array| match array {
                    Array::Source | Array::Target => samples,
                    Array::Scratch(region) => program.regions.0[region.index()].unwrap().1 as i64,
                };
                let lists = program.inverse.iter().chain([&program.forward]);
                let lists = lists.chain(&program.forward_in_place).chain(&program.inverse_in_place);
                let both = |list: &List| {
                    [list.launches.clone(), list.otherwise.as_ref().map_or(vec![], |o| o.launches.clone())]
                };
                for launch in lists.flat_map(both).flatten() {
                    check(&launch, &program.kernels[launch.kernel].kernel, extent);
                }
                assert!(program.regions.layout().is_some());
            }
        }
    }
    assert!(made >= 2 * 2 * shapes.len(), "{made}");
}
