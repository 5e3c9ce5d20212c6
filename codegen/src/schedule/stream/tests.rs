//! Tests of refusals.

use super::*;
use crate::testing::extremes;

#[test]
fn refusals_name_the_limit() {
    let [_, lopsided, long, far] = extremes();
    let mut text = String::new();
    let mut refuse = |scheme: &Scheme, boundary: Boundary, sample: Scalar, shape: StreamShape| {
        let options = Options::new(sample, boundary, Direction::Forward);
        let made = fit(scheme, options, shape).and_then(|plan| write(&plan, scheme, Order::HorizontalFirst));
        let error = made.expect_err("a limit");
        text += &format!("{error}\n");
    };
    let usual = StreamShape::for_sample(Scalar::I32);
    refuse(&lopsided, Boundary::WholeSymmetric, Scalar::I32, usual);
    refuse(&far, Boundary::Zero, Scalar::I32, usual);
    refuse(&long, Boundary::Zero, Scalar::I32, usual);
    refuse(&lopsided, Boundary::Zero, Scalar::F32, usual);
    refuse(&lopsided, Boundary::Zero, Scalar::I32, StreamShape { columns: 8, ..usual });
    refuse(&lopsided, Boundary::Zero, Scalar::I32, StreamShape { ring: 1, ..usual });
    refuse(&lopsided, Boundary::Zero, Scalar::I32, StreamShape { ring: 64, ..usual });
    insta::assert_snapshot!(text);
}
