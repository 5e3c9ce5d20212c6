//! Tests of refusals, and the text of a kernel.

use super::*;
use crate::back::{Cuda, Dialect};
use crate::ir::valid::validate;
use crate::opt::prepare;
use crate::schedule::level::{Array, Job};
use crate::testing::wavelets;
use lifting_dsl::Boundary;

/// The emitted CUDA text.
#[test]
fn the_text() {
    let [_, legall53, _] = wavelets();
    let (boundary, direction) = (Boundary::WholeSymmetric, Direction::Forward);
    let options = Options::new(Scalar::I32, boundary, direction);
    let block = fit(&legall53, options, PyramidShape { side: 16, pairs: [2, 2] }).expect("it fits");
    let kernel = prepare(write(&block, &legall53, Order::HorizontalFirst));
    let info = validate(&kernel).expect("it is valid");
    insta::assert_snapshot!(Cuda.write(&[(&kernel, &info)]).expect("it can be written"));
}

/// Shapes and launches that do not fit are refused with reasons.
#[test]
fn limits() {
    let [_, legall53, _] = wavelets();
    let options = |sample, boundary| Options::new(sample, boundary, Direction::Forward);
    let of = |sample, shape| {
        let block = fit(&legall53, options(sample, Boundary::Edge), shape);
        block.expect_err("a limit").to_string()
    };
    let array = Array { address: 0, pitch: 64, stride: 4096 };
    let whole = Job::image(array, [array; 4], 48, 40);
    let launch = |boundary, job: Job| {
        let shape = PyramidShape { side: 64, pairs: [4, 2] };
        let block = fit(&legall53, options(Scalar::I32, boundary), shape).expect("it fits");
        block.accepts(&job).expect_err("a limit").to_string()
    };
    let text = [
        of(Scalar::I64, PyramidShape { side: 64, pairs: [4, 2] }),
        of(Scalar::I32, PyramidShape { side: 40, pairs: [3, 1] }),
        of(Scalar::I32, PyramidShape { side: 64, pairs: [1, 1] }),
        of(Scalar::I32, PyramidShape { side: 64, pairs: [4, 0] }),
        of(Scalar::I32, PyramidShape { side: 160, pairs: [40, 20] }),
        launch(Boundary::Edge, Job { width: 65, ..whole }),
        launch(Boundary::Edge, Job { parity: [1, 0], ..whole }),
        launch(Boundary::Edge, Job { levels: 0, ..whole }),
        launch(Boundary::Edge, Job { levels: 7, ..whole }),
        launch(Boundary::Periodic, Job { levels: 4, ..whole }),
    ]
    .join("\n");
    insta::assert_snapshot!(text);
}
