//! The register-block schedule on the interpreter against the oracle, one level of both axes.

use crate::level::{Case, Made, SMALL, Schedule, lattices, must, runs_or_names_a_limit, sizes};
use crate::support::{self, catalogue, compiled, types, wavelets};
use lifting_codegen::cost;
use lifting_codegen::ir::{Kernel, Scalar};
use lifting_codegen::schedule::level::{Array, Job, Order};
use lifting_codegen::schedule::warp::{self, RowAlignment, Shape};
use lifting_codegen::schedule::{Direction, Fit as _, Options, ScheduleError};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::{Boundary, Domain, Scheme, testing};
use proptest::prelude::*;

impl Schedule for Shape {
    fn make(&self, scheme: &Scheme, options: Options, order: Order) -> Result<Made, ScheduleError> {
        let kernel = warp::kernel(scheme, options, order, *self)?;
        let block = warp::fit(scheme, options, *self)?;
        Ok(Made { kernel, tuning: Box::new(move |job| block.arguments(job, 132)) })
    }

    fn for_aligned(&self, case: &Case) -> Vec<Shape> {
        let is_whole = case.width.is_multiple_of(self.columns as usize);
        let takes = [Some(RowAlignment::Aligned), is_whole.then_some(RowAlignment::Whole)];
        let takes = takes.into_iter().flatten().filter(|_| case.parity == [0, 0]);
        takes.map(|takes| Shape { takes, ..*self }).collect()
    }

    fn for_image(&self) -> Option<Shape> {
        Some(Shape { takes: RowAlignment::Image, ..*self })
    }
}

/// One of the shapes that are proposed for such rows, or the last of them; and the rows that its kernel takes.
#[derive(Clone, Copy, Debug)]
struct Proposed(usize, RowAlignment);

const LARGE: Proposed = Proposed(0, RowAlignment::Any);
const LESS_TALL: Proposed = Proposed(1, RowAlignment::Any);
const SMALL_ONE: Proposed = Proposed(3, RowAlignment::Any);

impl Schedule for Proposed {
    fn make(&self, scheme: &Scheme, options: Options, order: Order) -> Result<Made, ScheduleError> {
        let shapes = Shape::proposed(scheme, options)?;
        let tall = shapes.iter().filter_map(|shape| shape.for_rows_anywhere(scheme, options, self.1, i64::MAX));
        let shapes = tall.chain(shapes.iter().copied()).map(|shape| Shape { warps: 2, takes: self.1, ..shape });
        // Those in pairs are for aligned rows, and for others where the halo is short.
        let shapes: Vec<Shape> = shapes.filter(|&shape| warp::fit(scheme, options, shape).is_ok()).collect();
        let shape = shapes.get(self.0.min(shapes.len().saturating_sub(1)));
        shape.copied().unwrap_or(Shape { takes: self.1, ..Shape::paper() }).make(scheme, options, order)
    }

    fn for_aligned(&self, case: &Case) -> Vec<Proposed> {
        // A multiple of every number of columns that a lane may have.
        let takes = [Some(RowAlignment::Aligned), case.width.is_multiple_of(8).then_some(RowAlignment::Whole)];
        let takes = takes.into_iter().flatten().filter(|_| case.parity == [0, 0]);
        takes.map(|takes| Proposed(self.0, takes)).collect()
    }

    fn for_image(&self) -> Option<Proposed> {
        Some(Proposed(self.0, RowAlignment::Image))
    }
}

/// Blocks so small that small images have several of them.
fn small(scalar: Scalar) -> Shape {
    let columns = if scalar.bytes() == 2 { 4 } else { 2 };
    let whole_sectors = scalar.bytes() == 8;
    Shape { columns, rows: 16, warps: 2, min_blocks: 0, whole_sectors, packed: false, takes: RowAlignment::Any }
}

#[test]
fn small_images() {
    for scheme in wavelets() {
        sizes(&scheme, small, &SMALL);
    }
}

/// Around one block and two, in both directions.
#[test]
fn around_a_block() {
    for scheme in wavelets() {
        sizes(
            &scheme,
            small,
            &[(48, 4), (56, 8), (57, 9), (60, 10), (61, 12), (112, 5), (113, 2), (119, 3), (120, 16)],
        );
    }
}

/// The shapes that are chosen, and every number of columns that a lane may have.
#[test]
fn shapes() {
    for scheme in wavelets() {
        let around = [(49, 70), (112, 48), (6, 3), (64, 40)];
        sizes(&scheme, |_| LARGE, &around);
        sizes(&scheme, |_| LESS_TALL, &around);
        sizes(&scheme, |_| SMALL_ONE, &around);
        for boundary in Boundary::ALL {
            for &scalar in types(&scheme) {
                for columns in [2, 4, 8].into_iter().filter(|c| c * scalar.bytes() <= 16) {
                    // The registers of 8 columns a lane are 12 rows high, less than the halo of the longest.
                    let rows = if columns == 8 { 12 } else { 20 };
                    if columns == 8 && scheme.name() == "dd137" {
                        continue;
                    }
                    let shape = Shape { columns: columns as u32, rows, warps: 1, ..Shape::paper() };
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
            for aligned in [false, true] {
                let case = Case { batch: 3, gain, aligned, chunk: 3, ..Case::new(24, 14) };
                must(scheme, boundary, small(types(scheme)[0]), case, types(scheme)[0], 5);
            }
        }
    }
}

/// Steps that are not symmetric, under `whole-symmetric`, too: what they read beyond a border is the mirror image at every step.
#[test]
fn lopsided() {
    for scheme in support::lopsided() {
        sizes(&scheme, |scalar| Shape { rows: 24, ..small(scalar) }, &SMALL);
        sizes(&scheme, |_| LARGE, &[(33, 70), (130, 9), (3, 3), (64, 16), (34, 70)]);
    }
}

#[test]
fn stage_by_stage() {
    lattices(|_| LARGE);
    lattices(|_| SMALL_ONE);
}

/// Every wavelet of the catalogue under its own border rule and another one.
#[test]
fn the_catalogue() {
    catalogue(3, 20, |i, scheme, boundary, scalar| {
        let order = [Order::HorizontalFirst, Order::VerticalFirst][i % 2];
        let case = Case { order, aligned: i % 4 > 1, chunk: 40, ..Case::new(70, 26) };
        let proposed = Proposed(i / 4 % 4, RowAlignment::Any);
        usize::from(runs_or_names_a_limit(scheme, boundary, proposed, case, scalar, i as u64))
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
    let usual = Shape::paper();
    let mut refuse = |scheme: &Scheme, sample: Scalar, shape: Shape| {
        let error = warp::kernel(scheme, options(sample), Order::HorizontalFirst, shape).expect_err("a limit");
        text += &format!("{error}\n");
    };
    refuse(&schemes[0], Scalar::F32, usual);
    refuse(&schemes[0], Scalar::I32, Shape { columns: 8, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { columns: 1, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { rows: 0, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { rows: 7, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { rows: 1000, ..usual });
    refuse(&schemes[0], Scalar::I32, Shape { warps: 0, ..usual });
    refuse(&schemes[2], Scalar::I32, usual);
    for scheme in &schemes[1..] {
        text += &format!("{}\n", Shape::of(scheme, options(Scalar::I32)).expect_err("a limit"));
    }
    insta::assert_snapshot!(text);
}

fn fused(scheme: &Scheme, options: Options, shape: Shape, geometry: &Geometry) -> f64 {
    let kernel: Kernel = warp::kernel(scheme, options, Order::HorizontalFirst, shape).expect("a kernel");
    let block = warp::fit(scheme, options, shape).expect("a block");
    let cost = cost::both_axes(geometry, options, &kernel, &block).expect("the kernel is sound");
    let samples: usize = (0..geometry.depth()).map(|j| geometry.level_shape(j).iter().product::<usize>()).sum();
    cost.per_sample(samples as u64).moved
}

/// Enfedaque et al. 2015: blocks of 64×20 move 2.33 (5/3) and 2.90 (9/7) of each of the M samples of all levels, reads plus writes, where separate passes
/// move 4.
#[test]
fn the_papers_figures() {
    let [_, legall53, cdf97] = wavelets();
    for (scheme, sample, [columns, rows], figure) in
        [(legall53, Scalar::I32, [60, 16], "2.33"), (cdf97, Scalar::F32, [56, 12], "2.90")]
    {
        let shape = Shape { takes: RowAlignment::Whole, ..Shape::paper() };
        for direction in [Direction::Forward, Direction::Inverse] {
            let options = Options { sample, boundary: Boundary::WholeSymmetric, direction, gain: false };
            let whole = Geometry::uniform(&[rows * 4, columns * 3], 1).expect("a geometry");
            let moved = fused(&scheme, options, shape, &whole);
            assert!((moved - 1.0 - (64 * 20) as f64 / (columns * rows) as f64).abs() < 1e-9, "{moved}");
            assert_eq!(format!("{moved:.2}"), figure);
            // Blocks that are not whole at the ends of later levels cost a little.
            let levels = Geometry::uniform(&[rows * 32, columns * 16], 4).expect("a geometry");
            let more = fused(&scheme, options, shape, &levels);
            assert!(more >= moved && more < 1.02 * moved, "{more} of {moved}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_schemes(
        scheme in prop_oneof![testing::any_scheme(Domain::Integer), testing::any_scheme(Domain::Real)],
        (width, height) in (2usize..=70, 2usize..=40),
        parity in [0usize..=1, 0usize..=1],
        chunk in 1usize..=9,
        vertical_first in any::<bool>(),
        (aligned, bands_anywhere) in any::<(bool, bool)>(),
        rows in prop::sample::select(&[RowAlignment::Any, RowAlignment::Image]),
        chosen in prop::option::of(0usize..4),
        which in 0usize..4,
        seed in any::<u64>(),
    ) {
        let order = if vertical_first { Order::VerticalFirst } else { Order::HorizontalFirst };
        let scalar = types(&scheme)[which % types(&scheme).len()];
        let mut case = Case { parity, order, chunk, aligned, bands_anywhere, ..Case::new(width, height) };
        if rows == RowAlignment::Image {
            case = Case { parity: [0, 0], aligned: true, ..case };
        }
        if scheme.boundary() == Boundary::Periodic {
            case = Case { width: width & !1, height: height & !1, ..case };
        }
        if let Some(chosen) = chosen {
            runs_or_names_a_limit(&scheme, scheme.boundary(), Proposed(chosen, rows), case, scalar, seed);
        } else {
            let shape = Shape { takes: rows, ..small(scalar) };
            runs_or_names_a_limit(&scheme, scheme.boundary(), shape, case, scalar, seed);
        }
    }
}

/// A block a warp; what a grid has not enough rows of blocks for is refused, and so are rows that are too long to count in 32 bits; sizes that are not even are refused under `periodic`.
#[test]
fn launches() {
    let [_, legall53, _] = wavelets();
    let options = |boundary| Options { sample: Scalar::I32, boundary, direction: Direction::Forward, gain: false };
    let block = |boundary| warp::fit(&legall53, options(boundary), Shape::paper()).expect("a block");
    let job = |width: i32, height: i32| {
        let array = |pitch: i32| Array { address: 0, pitch: pitch.into(), stride: 0 };
        let bands = [array(width / 2); 4];
        Job::image(array(width), bands, width, height)
    };
    let symmetric = block(Boundary::WholeSymmetric);
    assert_eq!((symmetric.columns(), symmetric.rows()), (60, 16));
    let tuning = |width, height| symmetric.arguments(&job(width, height), 132).expect("a legal job");
    assert_eq!((tuning(64, 64).chunk, tuning(64, 64).aligned), (8, 3));
    assert_eq!(tuning(63, 64).aligned, 2, "rows of 63 samples are not aligned");
    assert_eq!(tuning(64, 16 * 4 * 65535).chunk, 8);
    let periodic = block(Boundary::Periodic);
    assert_eq!(periodic.accepts(&job(2, 4)), Ok(()));
    assert_eq!(
        periodic.accepts(&job(62, 63)).expect_err("an odd height").to_string(),
        "schedule `warp` cannot run this launch: under periodic the width (62) and the height (63) must be even; use another schedule"
    );
    let of_rows = |takes| {
        let shape = Shape { takes, ..Shape::paper() };
        warp::fit(&legall53, options(Boundary::Edge), shape).expect("a block")
    };
    let [whole, aligned] = [RowAlignment::Whole, RowAlignment::Aligned].map(of_rows);
    let odd = Job { width: 63, ..job(64, 64) };
    assert_eq!((whole.accepts(&job(64, 64)), aligned.accepts(&odd)), (Ok(()), Ok(())));
    let refused = [
        (&whole, odd),
        (&aligned, job(63, 64)),
        (&aligned, Job { parity: [0, 1], ..job(64, 64) }),
        (&symmetric, Job { batch: 65536, ..job(64, 64) }),
        (&symmetric, job(64, 16 * 4 * 65535 + 1)),
        (&symmetric, job(1 << 27, 64)),
    ];
    let text: String = refused.map(|(block, job)| format!("{}\n", block.accepts(&job).unwrap_err())).concat();
    insta::assert_snapshot!("aligned_blocks_refuse_in_words", text);
    let shift = warp::kernel(
        &support::wavelets()[2],
        Options { gain: true, ..options(Boundary::Edge) },
        Order::VerticalFirst,
        Shape::paper(),
    );
    assert!(matches!(shift, Err(ScheduleError::Gain { .. })));
}

/// Blocks for large images load two rows for each that they store where registers allow; small ones are mostly latency.
#[test]
fn proposed_shapes() {
    let mut text = String::new();
    for name in ["legall53", "cdf97", "dd137", "haar_vc2_0", "sym8"] {
        let scheme = &compiled(lifting_filters::find(name).expect("it is in the catalogue"));
        for &sample in types(scheme) {
            let options = Options { sample, boundary: scheme.boundary(), direction: Direction::Forward, gain: false };
            for shape in Shape::proposed(scheme, options).expect("a shape") {
                let block = warp::fit(scheme, options, Shape { takes: RowAlignment::Whole, ..shape }).expect("a block");
                text += &format!(
                    "{name} {}: {} columns a lane, {} rows; stores {} x {}, loads {:.2} a sample\n",
                    sample.name(),
                    shape.columns,
                    shape.rows,
                    block.columns(),
                    block.rows(),
                    block.reads()
                );
            }
        }
    }
    insta::assert_snapshot!(text);
}
