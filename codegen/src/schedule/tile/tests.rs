//! Tests of proposals, refusals and launches.

use super::*;
use crate::ir::WARP;
use crate::machine::Machine;
use crate::schedule::Fit as _;
use crate::schedule::level::{Array, Job};
use crate::testing::{extremes, types, wavelets};
use lifting_dsl::Boundary;

/// A small tile shape: small images then have several tiles.
fn small(scalar: Scalar) -> TileShape {
    let columns = if scalar.bytes() == 2 { 4 } else { 2 };
    TileShape { columns, rows: 12, pairs: 3, warps: 2, lanes: WARP, min_blocks: 0, aligned: false }
}

#[test]
fn refusals_name_the_limit() {
    let [short, _, long, far] = extremes();
    let mut text = String::new();
    let options = |sample| Options::new(sample, Boundary::Zero, Direction::Forward);
    let usual = small(Scalar::I32);
    let mut refuse = |scheme: &Scheme, sample: Scalar, shape: TileShape| {
        let error = fit(scheme, options(sample), shape).expect_err("a limit");
        text += &format!("{error}\n");
    };
    refuse(&short, Scalar::F32, usual);
    refuse(&short, Scalar::I32, TileShape { columns: 8, ..usual });
    refuse(&short, Scalar::I32, TileShape { columns: 1, ..usual });
    refuse(&short, Scalar::I32, TileShape { rows: 0, ..usual });
    refuse(&short, Scalar::I32, TileShape { rows: 7, ..usual });
    refuse(&short, Scalar::I32, TileShape { pairs: 0, ..usual });
    refuse(&short, Scalar::I32, TileShape { rows: 1000, pairs: 2, ..usual });
    refuse(&short, Scalar::I32, TileShape { rows: 200, pairs: 100, ..usual });
    refuse(&short, Scalar::I32, TileShape { warps: 0, ..usual });
    for scheme in [&far, &long] {
        refuse(scheme, Scalar::I32, usual);
    }
    insta::assert_snapshot!(text);
}

/// Proposed shapes, those for large images first.
#[test]
fn proposals() {
    let mut text = String::new();
    for scheme in wavelets() {
        for &sample in types(&scheme) {
            for direction in [Direction::Forward, Direction::Inverse] {
                let options = Options::new(sample, Boundary::WholeSymmetric, direction);
                for shape in TileShape::proposed(&scheme, options).expect("a tile") {
                    let block = fit(&scheme, options, shape).expect("it was proposed");
                    let TileShape { columns, rows, pairs, warps, .. } = shape;
                    text += &format!(
                        "{} {} {}: {columns} columns a lane, {rows} rows, {pairs} pairs a thread, {warps} warps: \
                         {} x {}, {:.2} read\n",
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

/// Refused launches: too many rows of blocks, odd sizes under `periodic`, unaligned rows.
#[test]
fn launches() {
    let [_, legall53, _] = wavelets();
    let options = |boundary| Options::new(Scalar::I32, boundary, Direction::Forward);
    let block = |boundary| fit(&legall53, options(boundary), small(Scalar::I32)).expect("a tile");
    let job = |width: i32, height: i32| {
        let array = |pitch: i32| Array { address: 0, pitch: pitch.into(), stride: 0 };
        let bands = [array(width / 2); 4];
        Job::image(array(width), bands, width, height)
    };
    let symmetric = block(Boundary::WholeSymmetric);
    assert_eq!((symmetric.columns(), symmetric.rows()), (60, 12));
    let tuning = |width, height| symmetric.arguments(&job(width, height), &Machine::default()).expect("a legal job");
    assert_eq!(tuning(64, 64).aligned, 3);
    assert_eq!(tuning(63, 64).aligned, 2, "rows of 63 samples are not aligned");
    assert_eq!(symmetric.accepts(&job(64, 12 * 65535)), Ok(()));
    let shape = TileShape { aligned: true, ..small(Scalar::I32) };
    let aligned = fit(&legall53, options(Boundary::Edge), shape).expect("a tile");
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
