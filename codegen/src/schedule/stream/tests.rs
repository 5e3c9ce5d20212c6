//! What the schedule refuses.

use super::*;

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
        let made = fit(scheme, options, shape).and_then(|plan| write(&plan, scheme, Order::HorizontalFirst));
        let error = made.expect_err("a limit");
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
