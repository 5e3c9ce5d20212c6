//! `lifting!` gives the same schemes as the same text in a file.

use lifting::{Boundary, Device, Domain, Format, Plan};

lifting::lifting! {
    //! Inner comments are about the file.

    /// Deslauriers–Dubuc (13,7).
    ///
    ///  With `/` and "quotes" \ and a second paragraph.
    wavelet dd137 {
        domain integer;
        boundary whole-symmetric; // a comment
        profile vc2 { boundary edge; gain shift 1; }

        odd  -= (9*(even[0] + even[1]) - (even[-1] + even[2]) + 8) >> 4;
        even += (9*(odd[-1] + odd[0]) - (odd[-2] + odd[1]) + 16)>>5;
    }

    #[doc = "An attribute."]
    pub(crate) wavelet cdf97 {
        domain real;
        const alpha = -1.586134342059924;
        const K = 1.230_174_104_914_001;
        odd += alpha*(even[0] + even[1]);
        even *= 1/K;
        odd *= -K;
        odd+=-even[0]- -even[-1]*0x1F;
    }
}

// The library under another name, and foreign items with names that an expansion might use.
extern crate lifting as other;

#[allow(non_camel_case_types, dead_code)]
mod hostile {
    struct str;
    struct Scheme;
    mod std {}
    mod core {}
    mod lifting {}

    super::other::lifting! {
        #[cfg(all())]
        #[deny(missing_docs)]
        pub wavelet haar {
            domain real;
            odd -= even[0];
            even += 1/2*odd[0];
        }

        #[cfg(any())]
        pub wavelet left_out {
            domain real;
            odd -= even[0];
        }
    }
}

/// A text assembled by another macro.
macro_rules! scaled {
    ($name:ident, $factor:expr, $weight:literal) => {
        lifting::lifting! {
            wavelet $name {
                domain real;
                odd -= $weight * even[0];
                even *= $factor;
            }
        }
    };
}

scaled!(twice, 1 + 1, -0.5);

mod files {
    lifting::lifting!(pub "../filters/vc2.lift");
}

#[test]
fn the_same_as_text() {
    let text = "
        /// Deslauriers–Dubuc (13,7).
        ///
        ///  With `/` and \"quotes\" \\ and a second paragraph.
        wavelet dd137 {
            domain integer;
            boundary whole-symmetric;
            profile vc2 { boundary edge; gain shift 1; }
            odd  -= (9*(even[0] + even[1]) - (even[-1] + even[2]) + 8) >> 4;
            even += (9*(odd[-1] + odd[0]) - (odd[-2] + odd[1]) + 16)>>5;
        }
        /// An attribute.
        wavelet cdf97 {
            domain real;
            const alpha = -1.586134342059924;
            const K = 1.230_174_104_914_001;
            odd += alpha*(even[0] + even[1]);
            even *= 1/K;
            odd *= -K;
            odd+=-even[0]- -even[-1]*0x1F;
        }";
    let compiled = lifting_dsl::compile(text).unwrap().schemes;
    assert_eq!(compiled, [dd137.clone(), cdf97.clone()]);
    assert_eq!(cdf97.docs(), ["An attribute."]);
    assert_eq!(dd137::SOURCE, lifting_dsl::print_scheme(&dd137));
}

#[test]
fn the_same_as_the_file() {
    let source = include_str!("../../filters/vc2.lift");
    let compiled = lifting_dsl::compile(source).unwrap().schemes;
    let of = |name: &str| compiled.iter().find(|s| s.name() == name).unwrap().clone();
    assert_eq!(*files::dd97, of("dd97"));
    assert_eq!(*files::fidelity, of("fidelity"));
    assert_eq!(files::dd97.profile(Format::Vc2).unwrap().gain_shift, 1);
}

#[test]
fn plans_take_it() {
    assert_eq!((dd137.domain(), dd137.boundary()), (Domain::Integer, Boundary::WholeSymmetric));
    let plan = Plan::builder(&dd137).shape(&[17, 31]).levels(2).sample::<i16>().build(&Device::cpu()).unwrap();
    let image: Vec<i16> = (0..17 * 31).map(|i: i32| (i * 7919 % 4001 - 2000) as i16).collect();
    let mut coefficients = image.clone();
    plan.forward_in_place(&mut coefficients).unwrap();
    assert_ne!(coefficients, image);
    plan.inverse_in_place(&mut coefficients).unwrap();
    assert_eq!(coefficients, image);
}

#[test]
fn names_do_not_collide() {
    assert_eq!(hostile::haar.steps().len(), 2);
}

#[test]
fn macros_may_write_it() {
    assert!(twice::SOURCE.contains("odd -= -0.5*even[0];"));
    assert!(twice::SOURCE.contains("even *= 2;"));
}
