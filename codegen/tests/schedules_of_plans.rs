//! The schedules of plans on wavelets of the catalogue, and in cases of one schedule.

use crate::SCHEDULES;
use crate::schedules::launch::{self, Case, Kernels, Rows, Try};
use crate::schedules::{Of, any_case, proposed, ran, small};
use crate::testing::{catalogue, full};
use lifting_codegen::ir::Scalar;
use lifting_codegen::schedule::level::Order;
use lifting_codegen::schedule::{Extent, Shape};
use lifting_dsl::Boundary;

/// Wavelets of the catalogue under their own border rule and another one: each schedule runs them, or names its limit.
#[test]
fn the_catalogue() {
    let mut counts = vec![0; SCHEDULES.len()];
    catalogue(3, 80, |i, scheme, boundary, scalar| {
        let mut all = 0;
        for (k, (&schedule, count)) in SCHEDULES.iter().zip(&mut counts).enumerate() {
            // Half of the schedules run under its own rule, the others under another.
            if !full() && (k + i / 3 + usize::from(boundary == scheme.boundary())).is_multiple_of(2) {
                continue;
            }
            let shapes = proposed(schedule, scheme, scalar, boundary);
            let shapes: Vec<Shape> = small(schedule, scheme, scalar, boundary).into_iter().chain(shapes).collect();
            let Some(&shape) = shapes.get(i % shapes.len().max(1)) else { continue };
            let sides = match schedule.extent() {
                Extent::Plane => [1, 26, 70],
                Extent::TwoLevels => [1, 64, 128],
                Extent::AllLevels => [1, 16, 12],
                Extent::Volume => [6, 26, 70],
            };
            let case = any_case(schedule, (scalar, boundary), sides, i);
            let case = Case { levels: 2, rows: if i % 2 == 0 { Rows::Aligned } else { case.rows }, ..case };
            let ran =
                ran(scheme, &[Try { shape, boundary, scalar, case, kernels: Kernels::one(i / 3), seed: i as u64 }]);
            (*count, all) = (*count + ran, all + ran);
        }
        all
    });
    assert!(counts.iter().all(|ran| *ran > 5), "{counts:?}");
}

/// Steps that read on one side only, so that a tile has its halo there, and its last columns have results.
#[test]
fn volumes_with_a_halo_on_one_side() {
    let text = "wavelet left { domain integer; even += odd[-3]; } wavelet right { domain integer; even += odd[2]; }";
    let volume: Of = *SCHEDULES.iter().find(|schedule| schedule.name() == "volume").expect("there is one");
    let (boundary, scalar) = (Boundary::Periodic, Scalar::I64);
    for scheme in lifting_dsl::compile(text).expect("it compiles").schemes {
        let shape = small(volume, &scheme, scalar, boundary).expect("its tiles hold the scheme");
        for sides in [[4, 4, 56], [4, 40, 60], [4, 4, 120]] {
            let case = Case { order: Order::VerticalFirst, rows: Rows::Aligned, ..Case::new(sides) };
            launch::run(&scheme, &[Try { shape, boundary, scalar, case, kernels: Kernels::All, seed: 1 }]);
        }
    }
}
