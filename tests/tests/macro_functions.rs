//! Functions made by `lifting!` equal the oracle bit for bit: both domains, every border rule, awkward sizes.

// Users may forbid unsafe code in their crate; the macro's output must allow that.
#![forbid(unsafe_code)]

use lifting_codegen::ir::Scalar;
use lifting_tests::equals_oracle::check;

/// A wavelet of either domain under a border rule, and a module per sample type that answers like the drivers of
/// emitted transforms.
macro_rules! wavelets {
    ($module:ident, $($boundary:tt)-+) => {
        mod $module {
            lifting::lifting! {
                /// Deslauriers–Dubuc (13,7).
                pub wavelet dd137 {
                    domain integer;
                    boundary $($boundary)-+;
                    profile vc2 { gain shift 1; }
                    odd  -= (9*(even[0] + even[1]) - (even[-1] + even[2]) + 8) >> 4;
                    even += (9*(odd[-1] + odd[0]) - (odd[-2] + odd[1]) + 16) >> 5;
                }

                /// Asymmetric, and longer on one side.
                pub wavelet lopsided {
                    domain real;
                    boundary $($boundary)-+;
                    odd  -= 0.25*even[-3] + 0.7*even[1];
                    even += 0.5*(odd[0] - odd[2]) - 0.125*odd[5];
                    odd  *= 1.5;
                    even *= sqrt(2)/2;
                }
            }
            wavelets!(@type i16 dd137 i16 forward_i16 inverse_i16 forward_to_i16 inverse_to_i16 scratch_samples_i16);
            wavelets!(@type i32 dd137 i32 forward_i32 inverse_i32 forward_to_i32 inverse_to_i32 scratch_samples_i32);
            wavelets!(@type f32 lopsided f32 forward_f32 inverse_f32 forward_to_f32 inverse_to_f32 scratch_samples_f32);
            wavelets!(@type f64 lopsided f64 forward_f64 inverse_f64 forward_to_f64 inverse_to_f64 scratch_samples_f64);

            #[test]
            fn equals_the_oracle() {
                use super::{Scalar, check};
                check(&dd137, dd137.boundary(), Scalar::I16, "lifting!", i16::answer);
                check(&dd137, dd137.boundary(), Scalar::I32, "lifting!", i32::answer);
                check(&lopsided, lopsided.boundary(), Scalar::F32, "lifting!", f32::answer);
                check(&lopsided, lopsided.boundary(), Scalar::F64, "lifting!", f64::answer);
            }
        }
    };
    (@type $module:ident $wavelet:ident $sample:ident $forward:ident $inverse:ident $forward_to:ident
        $inverse_to:ident $scratch:ident) => {
        mod $module {
            use super::$wavelet as emitted;
            use super::$wavelet::{$forward as forward, $inverse as inverse, $scratch as scratch_samples};
            use super::$wavelet::{$forward_to as forward_to, $inverse_to as inverse_to};
            type Sample = $sample;
            include!("emitted/driver.rs");
        }
    };
}

wavelets!(whole_symmetric, whole - symmetric);
wavelets!(periodic, periodic);
wavelets!(edge, edge);
wavelets!(zero, zero);

/// The CUDA text is the compiler's, including the gain of a profile.
#[test]
fn cuda_is_the_compilers_text() {
    use lifting_codegen::emit::{Request, natural_samples};
    use lifting_dsl::Boundary;
    use lifting_planner::emit::{Count, General, general};
    use lifting_planner::{Machine, Schedule, Tuning};
    let command = "lifting! { wavelet dd137 … }";
    let samples = natural_samples(edge::dd137.domain());
    let request = Request {
        scheme: &edge::dd137,
        boundary: Boundary::Edge,
        samples,
        gain: true,
        profile: None,
        prefix: None,
        command,
    };
    let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
    let how = General { count: Count::Usual, columns_first: false, tuning: &tuning };
    assert_eq!(*edge::dd137::CUDA, general(&request, &how).unwrap().text);
    let takes_gain = |text: &str| text.contains("check(shape, sizeof(int16_t), 14)");
    assert!(takes_gain(&edge::dd137::CUDA));
    assert!(zero::lopsided::CUDA.contains("lopsided_cuda_forward_f64"));
    assert!(zero::lopsided::CUDA.contains("check(shape, sizeof(double), 0)"));
}
