//! Tests of proposals and refusals, and of the paper's figures.

use super::*;
use crate::cost;
use crate::machine::Machine;
use crate::schedule::Fit as _;
use crate::schedule::level::{Array, Job, Order};
use crate::testing::{compiled, extremes, types, wavelets};
use lifting_dsl::geometry::Geometry;

#[test]
fn refusals_name_the_limit() {
    let [short, _, long, far] = extremes();
    let mut text = String::new();
    let options = |sample| Options::new(sample, Boundary::Zero, Direction::Forward);
    let usual = WarpShape::paper();
    let mut refuse = |scheme: &Scheme, sample: Scalar, shape: WarpShape| {
        let error = fit(scheme, options(sample), shape).expect_err("a limit");
        text += &format!("{error}\n");
    };
    refuse(&short, Scalar::F32, usual);
    refuse(&short, Scalar::I32, WarpShape { columns: 8, ..usual });
    refuse(&short, Scalar::I32, WarpShape { columns: 1, ..usual });
    refuse(&short, Scalar::I32, WarpShape { rows: 0, ..usual });
    refuse(&short, Scalar::I32, WarpShape { rows: 7, ..usual });
    refuse(&short, Scalar::I32, WarpShape { rows: 1000, ..usual });
    refuse(&short, Scalar::I32, WarpShape { warps: 0, ..usual });
    refuse(&long, Scalar::I32, usual);
    for scheme in [&far, &long] {
        text += &format!("{}\n", WarpShape::of(scheme, options(Scalar::I32)).expect_err("a limit"));
    }
    insta::assert_snapshot!(text);
}

fn fused(scheme: &Scheme, options: Options, shape: WarpShape, geometry: &Geometry) -> f64 {
    let block = fit(scheme, options, shape).expect("a block");
    let kernel = write(&block, scheme, Order::HorizontalFirst);
    let cost = cost::both_axes(geometry, options, &kernel, &block).expect("the kernel is sound");
    let samples: usize = (0..geometry.depth()).map(|j| geometry.level_shape(j).iter().product::<usize>()).sum();
    cost.per_sample(samples as u64).moved
}

/// Enfedaque et al. 2015: blocks of 64×20 move 2.33 (5/3) and 2.90 (9/7) samples for each of the M samples of all
/// levels. Reads and writes are both counted; separate passes move 4.
#[test]
fn the_papers_figures() {
    let [_, legall53, cdf97] = wavelets();
    for (scheme, sample, [columns, rows], figure) in
        [(legall53, Scalar::I32, [60, 16], "2.33"), (cdf97, Scalar::F32, [56, 12], "2.90")]
    {
        let shape = WarpShape { takes: RowAlignment::Whole, ..WarpShape::paper() };
        for direction in [Direction::Forward, Direction::Inverse] {
            let options = Options::new(sample, Boundary::WholeSymmetric, direction);
            let whole = Geometry::uniform(&[rows * 4, columns * 3], 1).expect("a geometry");
            let moved = fused(&scheme, options, shape, &whole);
            assert!((moved - 1.0 - (64 * 20) as f64 / (columns * rows) as f64).abs() < 1e-9, "{moved}");
            assert_eq!(format!("{moved:.2}"), figure);
            // Partial blocks at the ends of later levels cost a little.
            let levels = Geometry::uniform(&[rows * 32, columns * 16], 4).expect("a geometry");
            let more = fused(&scheme, options, shape, &levels);
            assert!(more >= moved && more < 1.02 * moved, "{more} of {moved}");
        }
    }
}

/// A warp takes one block. Launches are refused if the grid has too few rows of blocks, if a row is too long for 32-bit
/// counts, or if sizes are odd under `periodic`.
#[test]
fn launches() {
    let [_, legall53, _] = wavelets();
    let options = |boundary| Options::new(Scalar::I32, boundary, Direction::Forward);
    let block = |boundary| fit(&legall53, options(boundary), WarpShape::paper()).expect("a block");
    let job = |width: i32, height: i32| {
        let array = |pitch: i32| Array { address: 0, pitch: pitch.into(), stride: 0 };
        let bands = [array(width / 2); 4];
        Job::image(array(width), bands, width, height)
    };
    let symmetric = block(Boundary::WholeSymmetric);
    assert_eq!((symmetric.columns(), symmetric.rows()), (60, 16));
    let tuning = |width, height| symmetric.arguments(&job(width, height), &Machine::default()).expect("a legal job");
    assert_eq!((tuning(64, 64).chunk, tuning(64, 64).aligned), (8, 3));
    assert_eq!(tuning(63, 64).aligned, 2, "rows of 63 samples are not aligned");
    assert_eq!(tuning(64, 16 * 4 * 65535).chunk, 8);
    let periodic = block(Boundary::Periodic);
    assert_eq!(periodic.accepts(&job(2, 4)), Ok(()));
    assert_eq!(
        periodic.accepts(&job(62, 63)).expect_err("an odd height").to_string(),
        "schedule `warp` cannot run this launch: under periodic the width (62) and the height (63) must be even; \
         use another schedule"
    );
    let of_rows = |takes| {
        let shape = WarpShape { takes, ..WarpShape::paper() };
        fit(&legall53, options(Boundary::Edge), shape).expect("a block")
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
    let shift = fit(&wavelets()[2], Options { gain: true, ..options(Boundary::Edge) }, WarpShape::paper());
    assert!(matches!(shift, Err(ScheduleError::Gain { .. })));
}

/// Blocks for large images load two rows for each row they store where registers allow. Small blocks are mostly
/// latency.
#[test]
fn proposed_shapes() {
    let mut text = String::new();
    for name in ["legall53", "cdf97", "dd137", "haar_vc2_0", "sym8"] {
        let scheme = &compiled(lifting_filters::find(name).expect("it is in the catalogue"));
        for &sample in types(scheme) {
            let options = Options::new(sample, scheme.boundary(), Direction::Forward);
            for shape in WarpShape::proposed(scheme, options).expect("a shape") {
                let block = fit(scheme, options, WarpShape { takes: RowAlignment::Whole, ..shape }).expect("a block");
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
