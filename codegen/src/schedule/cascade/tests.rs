//! Tests of refusals.

use super::*;
use crate::testing::wavelets;

/// Border rules that are no extension, and steps that reach too far, are refused with reasons.
#[test]
fn limits() {
    let [dd137, legall53, _] = wavelets();
    let of = |scheme: &Scheme, boundary, shape| {
        let options = Options::new(Scalar::I32, boundary, Direction::Forward);
        fit(scheme, options, shape).expect_err("a limit").to_string()
    };
    let shape = CascadeShape::for_sample(Scalar::I32, Direction::Forward);
    let text = [
        of(&legall53, Boundary::Edge, shape),
        of(&legall53, Boundary::Periodic, CascadeShape { ring: 1, ..shape }),
        of(&legall53, Boundary::Periodic, CascadeShape { ring: 64, ..shape }),
        of(&legall53, Boundary::Periodic, CascadeShape { columns: 2, ..shape }),
        of(&legall53, Boundary::Periodic, CascadeShape { columns: 16, ..shape }),
        of(&dd137, Boundary::WholeSymmetric, CascadeShape { columns: 4, ..shape }),
    ]
    .join("\n");
    insta::assert_snapshot!(text);
}
