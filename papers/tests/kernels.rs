//! A kernel of each schedule as text, for review: the 9/7 on `f32`, analysis; and words of `i16`.

use lifting_codegen::ir::Scalar::I16;
use lifting_codegen::ir::{Scalar, print};
use lifting_codegen::schedule::level::{Order, RowAlignment};
use lifting_codegen::schedule::{Along, Options, Sides};
use lifting_dsl::{Boundary, Direction};
use papers::{LAUNCHES, passes};

fn sides(scalar: Scalar) -> Sides {
    Sides::both(scalar)
}

#[test]
fn kernels_for_review() {
    let [_, _, cdf97] = crate::testing::wavelets();
    let options = Options::new(Scalar::F32, Boundary::WholeSymmetric, Direction::Forward);
    // Columns are the papers' subject, but for the methods along rows; `transposed` has van der Laan's rows.
    for (method, shapes) in passes().into_iter().filter(|(method, _)| *method != "transposed") {
        let along = if matches!(method, "barrier-free-1" | "convolution") { Along::Row } else { Along::Column };
        let kernel = shapes[0].kernel(&cdf97, options, sides(Scalar::F32), along).expect("it fits");
        insta::assert_snapshot!(method, print::kernel(&kernel));
    }
    let [_, legall53, _] = crate::testing::wavelets();
    let words = passes().into_iter().flat_map(|(_, shapes)| shapes).find(|shape| shape.width(sides(I16)) > 1);
    let words = words.expect("sliding windows have words");
    let integers = Options { sample: I16, ..options };
    for (name, along) in [("words_of_rows", Along::Row), ("words_of_columns", Along::Column)] {
        let kernel = words.whole_kernel(&legall53, integers, sides(I16), along).expect("it fits");
        insta::assert_snapshot!(name, print::kernel(&kernel));
    }
    for schedule in LAUNCHES {
        let shape = schedule.usual(&cdf97, options).expect("it fits");
        let fit = schedule.fit(&cdf97, options, shape, RowAlignment::Any).expect("it fits");
        let kernel = fit.kernel(&cdf97, Order::HorizontalFirst).expect("it fits");
        insta::assert_snapshot!(schedule.name(), print::kernel(&kernel));
    }
}
