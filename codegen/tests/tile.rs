//! The tile schedule on the interpreter against the oracle, one level of both axes.

use crate::level::{Case, Made, SMALL, Schedule, lattices, must, runs_or_names_a_limit, sizes};
use crate::support::{self, catalogue, types, wavelets};
use lifting_codegen::ir::Scalar;
use lifting_codegen::schedule::level::{Array, Job, Order};
use lifting_codegen::schedule::tile::{self, Shape};
use lifting_codegen::schedule::{Direction, Fit as _, Options, ScheduleError};
use lifting_dsl::{Boundary, Domain, Scheme, testing};
use proptest::prelude::*;

impl Schedule for Shape {
    fn make(&self, scheme: &Scheme, options: Options, order: Order) -> Result<Made, ScheduleError> {
        let kernel = tile::kernel(scheme, options, order, *self)?;
        let block = tile::fit(scheme, options, *self)?;
        Ok(Made { kernel, tuning: Box::new(move |job| block.arguments(job, 132)) })
    }

    fn for_aligned(&self, case: &Case) -> Vec<Shape> {
        (case.parity == [0, 0]).then_some(Shape { aligned: true, ..*self }).into_iter().collect()
    }
}

/// One of the shapes that are proposed.
#[derive(Clone, Copy, Debug)]
struct Proposed(usize, bool);

impl Schedule for Proposed {
    fn make(&self, scheme: &Scheme, options: Options, order: Order) -> Result<Made, ScheduleError> {
        let shapes = Shape::proposed(scheme, options)?;
        Shape { aligned: self.1, ..shapes[self.0 % shapes.len()] }.make(scheme, options, order)
    }

    fn for_aligned(&self, case: &Case) -> Vec<Proposed> {
        (case.parity == [0, 0]).then_some(Proposed(self.0, true)).into_iter().collect()
    }
}

/// Tiles so small that small images have several of them.
fn small(scalar: Scalar) -> Shape {
    let columns = if scalar.bytes() == 2 { 4 } else { 2 };
    Shape { columns, rows: 12, pairs: 3, warps: 2, min_blocks: 0, aligned: false }
}

#[test]
fn small_images() {
    for scheme in wavelets() {
        sizes(&scheme, small, &SMALL);
    }
}

/// Around one tile and two, in both directions.
#[test]
fn around_a_tile() {
    for scheme in wavelets() {
        sizes(
            &scheme,
            small,
            &[(48, 4), (56, 11), (57, 12), (60, 13), (61, 24), (112, 25), (113, 2), (119, 3), (58, 26)],
        );
    }
}

/// The shapes that are proposed, and every number of columns that a lane may have.
#[test]
fn shapes() {
    for scheme in wavelets() {
        for shape in [|_| Proposed(0, false), |_| Proposed(1, false)] {
            sizes(&scheme, shape, &[(49, 70), (112, 48), (6, 3), (64, 40)]);
        }
        for boundary in Boundary::ALL {
            for &scalar in types(&scheme) {
                for columns in [2, 4, 8].into_iter().filter(|c| c * scalar.bytes() <= 16) {
                    // An odd number of pairs for an even number of warps, and a part a warp does not have.
                    let shape =
                        Shape { columns: columns as u32, rows: 10, pairs: 1, warps: 4, min_blocks: 0, aligned: false };
                    let case = Case { aligned: columns != 4, ..Case::new(26 * columns, 22) };
                    must(&scheme, boundary, shape, case, scalar, 3);
                }
            }
        }
    }
}

#[test]
fn batches_and_gains() {
    for (i, scheme) in wavelets().iter().enumerate() {
        for boundary in Boundary::ALL {
            let gain = (scheme.domain() == Domain::Integer).then_some(1 + i as u32);
            for (aligned, order) in [(false, Order::HorizontalFirst), (true, Order::VerticalFirst)] {
                let case = Case { batch: 3, gain, aligned, order, ..Case::new(24, 14) };
                must(scheme, boundary, small(types(scheme)[0]), case, types(scheme)[0], 5);
            }
        }
    }
}

/// Steps that are not symmetric, under `whole-symmetric`, too: what they read beyond a border is the mirror image at every step.
#[test]
fn lopsided() {
    for scheme in support::lopsided() {
        sizes(&scheme, small, &SMALL);
        sizes(&scheme, |_| Proposed(0, false), &[(33, 70), (130, 9), (3, 3), (64, 16), (34, 70)]);
    }
}

#[test]
fn stage_by_stage() {
    lattices(|_| Proposed(1, false));
}

/// Every wavelet of the catalogue under its own border rule and another one.
#[test]
fn the_catalogue() {
    catalogue(3, 20, |i, scheme, boundary, scalar| {
        let order = [Order::HorizontalFirst, Order::VerticalFirst][i % 2];
        let case = Case { order, aligned: i % 4 > 1, ..Case::new(70, 26) };
        usize::from(runs_or_names_a_limit(scheme, boundary, Proposed(i, false), case, scalar, i as u64))
    });
}

#[test]
fn refusals_name_the_limit() {
    let compiled = lifting_dsl::compile(
        "wavelet short { domain integer; odd -= even[0]; even += odd[0]; }
         wavelet far { domain integer; boundary zero; odd -= even[-60] + even[60]; }
         wavelet long { domain integer; boundary zero; odd -= even[-20] + even[20]; }",
    );
    let mut text = String::new();
    let schemes = compiled.expect("it compiles").schemes;
    let options = |sample| Options { sample, boundary: Boundary::Zero, direction: Direction::Forward, gain: false };
    let usual = small(Scalar::I32);
    let mut refuse = |scheme: &Scheme, sample: Scalar, shape: Shape| {
        let error = tile::kernel(scheme, options(sample), Order::HorizontalFirst, shape).expect_err("a limit");
        text += &format!("{error}\n");
    };
    refuse(&schemes[0], Scalar::F32, usual);
    refuse(&schemes[0], Scalar::I32, Shape { columns: 8, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { columns: 1, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { rows: 0, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { rows: 7, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { pairs: 0, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { rows: 1000, pairs: 2, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { rows: 200, pairs: 100, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { warps: 0, ..usual });
    for scheme in &schemes[1..] {
        refuse(scheme, Scalar::I32, usual);
    }
    insta::assert_snapshot!(text);
}

/// What is proposed, large images first.
#[test]
fn proposals() {
    let mut text = String::new();
    for scheme in wavelets() {
        for &sample in types(&scheme) {
            for direction in [Direction::Forward, Direction::Inverse] {
                let options = Options { sample, boundary: Boundary::WholeSymmetric, direction, gain: false };
                for shape in Shape::proposed(&scheme, options).expect("a tile") {
                    let block = tile::fit(&scheme, options, shape).expect("it was proposed");
                    let Shape { columns, rows, pairs, warps, .. } = shape;
                    text += &format!(
                        "{} {} {}: {columns} columns a lane, {rows} rows, {pairs} pairs a thread, {warps} warps: {} x {}, {:.2} read\n",
                        scheme.name(),
                        sample.name(),
                        direction.name(),
                        block.columns(),
                        block.rows(),
                        block.reads()
                    );
                }
            }
        }
    }
    insta::assert_snapshot!(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_schemes(
        scheme in prop_oneof![testing::any_scheme(Domain::Integer), testing::any_scheme(Domain::Real)],
        (width, height) in (2usize..=70, 2usize..=40),
        parity in [0usize..=1, 0usize..=1],
        vertical_first in any::<bool>(),
        aligned in any::<bool>(),
        chosen in any::<bool>(),
        which in 0usize..4,
        seed in any::<u64>(),
    ) {
        let order = if vertical_first { Order::VerticalFirst } else { Order::HorizontalFirst };
        let scalar = types(&scheme)[which % types(&scheme).len()];
        let mut case = Case { parity, order, aligned, ..Case::new(width, height) };
        if scheme.boundary() == Boundary::Periodic {
            case = Case { width: width & !1, height: height & !1, ..case };
        }
        if chosen {
            runs_or_names_a_limit(&scheme, scheme.boundary(), Proposed(which, false), case, scalar, seed);
        } else {
            runs_or_names_a_limit(&scheme, scheme.boundary(), small(scalar), case, scalar, seed);
        }
    }
}

/// A grid has only so many rows of blocks; sizes that are not even are refused under `periodic`.
#[test]
fn launches() {
    let [_, legall53, _] = wavelets();
    let options = |boundary| Options { sample: Scalar::I32, boundary, direction: Direction::Forward, gain: false };
    let block = |boundary| tile::fit(&legall53, options(boundary), small(Scalar::I32)).expect("a tile");
    let job = |width: i32, height: i32| {
        let array = |pitch: i32| Array { address: 0, pitch: pitch.into(), stride: 0 };
        let bands = [array(width / 2); 4];
        Job::image(array(width), bands, width, height)
    };
    let symmetric = block(Boundary::WholeSymmetric);
    assert_eq!((symmetric.columns(), symmetric.rows()), (60, 12));
    let tuning = |width, height| symmetric.arguments(&job(width, height), 132).expect("a legal job");
    assert_eq!(tuning(64, 64).aligned, 3);
    assert_eq!(tuning(63, 64).aligned, 2, "rows of 63 samples are not aligned");
    assert_eq!(symmetric.accepts(&job(64, 12 * 65535)), Ok(()));
    let shape = Shape { aligned: true, ..small(Scalar::I32) };
    let aligned = tile::fit(&legall53, options(Boundary::Edge), shape).expect("a tile");
    assert_eq!(aligned.accepts(&job(64, 64)), Ok(()));
    let mut text = String::new();
    for (block, job) in [
        (&symmetric, job(64, 12 * 65535 + 1)),
        (&symmetric, Job { batch: 65536, ..job(64, 64) }),
        (&symmetric, job(1, 64)),
        (&block(Boundary::Periodic), job(62, 63)),
        (&aligned, job(65, 64)),
        (&aligned, Job { parity: [0, 1], ..job(64, 64) }),
    ] {
        text += &format!("{}\n", block.accepts(&job).expect_err("a limit"));
    }
    insta::assert_snapshot!(text);
}
