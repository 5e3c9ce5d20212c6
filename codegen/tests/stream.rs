//! The streaming schedule on the interpreter against the oracle, one level of both axes.

use crate::level::{Case, Made, SMALL, Schedule, check_type, lattices, must, runs_or_names_a_limit, sizes};
use crate::support::{catalogue, types, wavelets};
use lifting_codegen::ir::Scalar;
use lifting_codegen::schedule::stream::{self, Order, RowAlignment, Shape};
use lifting_codegen::schedule::{Direction, Fit as _, Options, ScheduleError};
use lifting_dsl::{Boundary, Domain, Scheme, testing};
use proptest::prelude::*;

impl Schedule for Shape {
    fn make(&self, scheme: &Scheme, options: Options, order: Order) -> Result<Made, ScheduleError> {
        let kernel = stream::kernel(scheme, options, order, *self)?;
        let walk = stream::fit(scheme, options, *self)?;
        Ok(Made { kernel, tuning: Box::new(move |job| walk.arguments(job, 132)) })
    }

    fn for_aligned(&self, case: &Case) -> Vec<Shape> {
        let whole = case.width.is_multiple_of(2 * self.columns as usize).then(|| self.for_rows(RowAlignment::Whole));
        std::iter::once(self.for_rows(RowAlignment::Aligned)).chain(whole).collect()
    }
}

/// A shape for the sample that holds long schemes, too, with two warps a block.
fn shape(scalar: Scalar) -> Shape {
    Shape {
        warps: 2,
        ring: 3,
        min_blocks: 0,
        rows: RowAlignment::Any,
        columns: if scalar.bytes() == 2 { 4 } else { Shape::for_sample(scalar).columns },
    }
}

#[test]
fn small_images_dd137() {
    sizes(&wavelets()[0], shape, &SMALL);
}

#[test]
fn small_images_legall53() {
    sizes(&wavelets()[1], shape, &SMALL);
}

#[test]
fn small_images_cdf97() {
    sizes(&wavelets()[2], shape, &SMALL);
}

/// Around one strip and two, of 4 columns a lane and of 2.
#[test]
fn around_a_strip() {
    for scheme in wavelets() {
        sizes(
            &scheme,
            shape,
            &[(52, 4), (56, 5), (111, 6), (112, 8), (113, 7), (208, 2), (224, 4), (225, 9), (239, 5), (240, 6)],
        );
    }
}

/// 16-bit samples with 16 bytes a lane.
#[test]
fn eight_columns_a_lane() {
    for scheme in wavelets() {
        let scalar = if scheme.domain() == Domain::Integer { Scalar::I16 } else { Scalar::Bf16 };
        let shape = Shape { columns: 8, warps: 1, ring: 4, min_blocks: 0, rows: RowAlignment::Any };
        for (i, (width, height)) in [(224, 6), (225, 5), (239, 3), (9, 40), (448, 4)].into_iter().enumerate() {
            for boundary in Boundary::ALL {
                let periodic = boundary == Boundary::Periodic;
                let parity = if periodic { [0, 0] } else { [i % 2, i / 2 % 2] };
                let case = Case { parity, aligned: periodic || i % 2 == 0, ..Case::new(width, height) };
                must(&scheme, boundary, shape, case, scalar, i as u64);
            }
        }
    }
}

#[test]
fn batches_and_gains() {
    for (i, scheme) in wavelets().iter().enumerate() {
        for boundary in Boundary::ALL {
            let integer = scheme.domain() == Domain::Integer;
            for aligned in [false, true] {
                let aligned = aligned || boundary == Boundary::Periodic;
                let gain = integer.then_some(1 + i as u32);
                let case = Case { batch: 3, gain, aligned, chunk: 3, ..Case::new(24, 14) };
                must(scheme, boundary, shape(types(scheme)[0]), case, types(scheme)[0], 5);
            }
        }
    }
}

/// No halo: all lanes store, rows that are not aligned take one more vector, and no border rule is asked, so that all give the same kernel; but no
/// border may cut a pair.
#[test]
fn haar() {
    let compiled = lifting_dsl::compile(
        "wavelet haar { domain real; odd -= even[0]; even += 0.5*odd[0]; even *= 1.5; odd *= 0.5; }
         wavelet s { domain integer; odd -= even[0]; even += odd[0] >> 1; }",
    );
    for scheme in compiled.expect("it compiles").schemes {
        for boundary in Boundary::ALL {
            let sizes = [(128, 6), (126, 4), (130, 2), (256, 10), (258, 4), (2, 8), (6, 2), (62, 34)];
            for (i, (width, height)) in sizes.into_iter().enumerate() {
                let order = [Order::HorizontalFirst, Order::VerticalFirst][i / 2 % 2];
                for (aligned, batch) in [(false, 1), (true, 2)] {
                    let case = Case { aligned, batch, order, chunk: 2 + i % 3, ..Case::new(width, height) };
                    for scalar in types(&scheme) {
                        assert!(must(&scheme, boundary, shape(*scalar), case, *scalar, i as u64));
                    }
                }
            }
            for (width, height, parity) in [(127, 6, [0, 0]), (128, 5, [0, 0]), (128, 6, [1, 0]), (128, 6, [0, 1])] {
                let case = Case { parity, ..Case::new(width, height) };
                let scalar = types(&scheme)[0];
                assert_eq!(check_type(&scheme, boundary, shape(scalar), case, scalar, 1), Ok(false), "{case:?}");
            }
        }
    }
}

#[test]
fn stage_by_stage() {
    lattices(shape);
    lattices(|scalar| Shape { ring: 4, ..Shape::for_sample(scalar) });
}

/// Every wavelet of the catalogue under its own border rule and another one.
#[test]
fn the_catalogue() {
    catalogue(3, 20, |i, scheme, boundary, scalar| {
        let order = [Order::HorizontalFirst, Order::VerticalFirst][i % 2];
        let aligned = boundary == Boundary::Periodic;
        let case = Case { order, aligned, chunk: 4, ..Case::new(28, 18) };
        usize::from(runs_or_names_a_limit(scheme, boundary, shape(scalar), case, scalar, i as u64))
    });
}

#[test]
fn refusals_name_the_limit() {
    let compiled = lifting_dsl::compile(
        "wavelet lopsided { domain integer; odd -= even[1]; even += odd[0]; }
         wavelet far { domain integer; boundary zero; odd -= even[-60] + even[60]; }
         wavelet long { domain integer; boundary zero; odd -= even[-20] + even[20]; }",
    );
    let mut text = String::new();
    let mut refuse = |scheme: &Scheme, boundary: Boundary, sample: Scalar, shape: Shape| {
        let options = Options { sample, boundary, direction: Direction::Forward, gain: false };
        let error = stream::kernel(scheme, options, Order::HorizontalFirst, shape).expect_err("a limit");
        text += &format!("{error}\n");
    };
    let schemes = compiled.expect("it compiles").schemes;
    let usual = Shape::for_sample(Scalar::I32);
    refuse(&schemes[0], Boundary::WholeSymmetric, Scalar::I32, usual);
    refuse(&schemes[1], Boundary::Zero, Scalar::I32, usual);
    refuse(&schemes[2], Boundary::Zero, Scalar::I32, usual);
    refuse(&schemes[0], Boundary::Zero, Scalar::F32, usual);
    refuse(&schemes[0], Boundary::Zero, Scalar::I32, Shape { columns: 8, ..usual });
    refuse(&schemes[0], Boundary::Zero, Scalar::I32, Shape { ring: 1, ..usual });
    refuse(&schemes[0], Boundary::Zero, Scalar::I32, Shape { ring: 64, ..usual });
    insta::assert_snapshot!(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_schemes(
        scheme in prop_oneof![testing::any_scheme(Domain::Integer), testing::any_scheme(Domain::Real)],
        (width, height) in (2usize..=60, 2usize..=24),
        parity in [0usize..=1, 0usize..=1],
        chunk in 1usize..=9,
        vertical_first in any::<bool>(),
        aligned in any::<bool>(),
        which in 0usize..4,
        seed in any::<u64>(),
    ) {
        let order = if vertical_first { Order::VerticalFirst } else { Order::HorizontalFirst };
        let scalar = types(&scheme)[which % types(&scheme).len()];
        let mut case = Case { parity, order, chunk, aligned, ..Case::new(width, height) };
        if scheme.boundary() == Boundary::Periodic {
            case = Case { width: width.next_multiple_of(4), height: height & !1, parity: [0, 0], aligned: true, ..case };
        }
        runs_or_names_a_limit(&scheme, scheme.boundary(), shape(scalar), case, scalar, seed);
    }
}
