//! A kernel of each schedule as text, for review: the 9/7 on `f32`, analysis.

use lifting_codegen::ir::{Scalar, print};
use lifting_codegen::schedule::level::{Order, RowAlignment};
use lifting_codegen::schedule::{Along, Options, Sides};
use lifting_dsl::{Boundary, Direction};
use papers::{LAUNCHES, passes};

#[test]
fn kernels_for_review() {
    let [_, _, cdf97] = crate::testing::wavelets();
    let options = Options::new(Scalar::F32, Boundary::WholeSymmetric, Direction::Forward);
    // Columns are the papers' subject, but for the methods along rows; `transposed` has van der Laan's rows.
    for (method, shapes) in passes().into_iter().filter(|(method, _)| *method != "transposed") {
        let along = if matches!(method, "barrier-free-1" | "convolution") { Along::Row } else { Along::Column };
        let kernel = shapes[0].kernel(&cdf97, options, Sides::both(Scalar::F32), along).expect("it fits");
        insta::assert_snapshot!(method, print::kernel(&kernel));
    }
    for schedule in LAUNCHES {
        let shape = schedule.usual(&cdf97, options).expect("it fits");
        let fit = schedule.fit(&cdf97, options, shape, RowAlignment::Any).expect("it fits");
        let kernel = fit.kernel(&cdf97, Order::HorizontalFirst).expect("it fits");
        insta::assert_snapshot!(schedule.name(), print::kernel(&kernel));
    }
}
