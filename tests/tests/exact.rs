//! Rational banks are factored exactly: the product of the factors is the bank's polyphase matrix, as polynomials.

use lifting_dsl::Step;
use lifting_dsl::factor::{Options, lifting};
use lifting_dsl::laurent::{Laurent, Matrix};
use lifting_dsl::polyphase::{Bank, Reconstruction, of_scheme, of_steps};
use lifting_dsl::spectral::{SPLINES, spline};
use lifting_filters::CATALOGUE;
use lifting_tests::wavelet;
use num_rational::BigRational;
use proptest::prelude::*;

/// All factorisations of a bank multiply back to it, both as factors and as executed steps.
fn assert_exact(matrix: &Matrix<BigRational>, beam: usize, what: &str) {
    let bank = Bank::from_matrix(matrix);
    assert_eq!(&bank.matrix(), matrix, "{what}");
    let found = lifting::lifting(&bank, &Options { beam, ..Options::default() });
    // A factorisation that no sample type could carry is refused, so it cannot be checked here.
    let Ok(found) = found else { return };
    for f in &found {
        assert_eq!(&f.matrix(), matrix, "{what}");
        assert_eq!(&of_steps::<BigRational>(&f.steps()), matrix, "{what}");
        assert_eq!(f.residual, 0.0);
    }
}

#[test]
fn rational_wavelets_of_the_catalogue() {
    let mut checked = 0;
    for entry in CATALOGUE {
        let scheme = wavelet(entry.name);
        if !scheme.steps().iter().all(Step::is_rational) {
            continue;
        }
        assert_eq!(Reconstruction::of_scheme(&scheme), Reconstruction::Exact, "{}", entry.name);
        assert_exact(&of_scheme(&scheme), 4, entry.name);
        checked += 1;
    }
    assert!(checked >= 20, "{checked}");
}

#[test]
fn splines_without_their_root_of_two() {
    for (rec, dec) in SPLINES {
        let pair = spline(rec, dec).unwrap();
        for (pair, name) in [(pair.reversed(), "rbio"), (pair, "bior")] {
            let bank = pair.bank();
            let found = lifting::lifting(&bank, &Options::default()).unwrap();
            assert!(!found.is_empty());
            assert_exact(&bank.matrix(), Options::default().beam, &format!("{name}{rec}.{dec}"));
        }
    }
}

/// A nonzero rational of small terms.
fn weight() -> impl Strategy<Value = BigRational> {
    (1i64..9, 1i64..9, any::<bool>())
        .prop_map(|(n, d, minus)| BigRational::new((if minus { -n } else { n }).into(), d.into()))
}

fn stencil() -> impl Strategy<Value = Laurent<BigRational>> {
    (-2i64..3, prop::collection::vec(weight(), 1..4)).prop_map(|(low, taps)| Laurent::new(low, taps))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_rational_banks(steps in prop::collection::vec(stencil(), 1..5), first in 0usize..2, scale in [weight(), weight()]) {
        let [a, b] = scale.map(|c| Laurent::monomial(c, 0));
        let product = steps.into_iter().enumerate().fold(Matrix::identity(), |m, (i, p)| {
            Matrix::lifting((first + i) % 2, p).times(&m)
        });
        let matrix = Matrix::diagonal(a, b).times(&product);
        prop_assert_eq!(matrix.determinant().as_monomial().map(|(_, n)| n), Some(0));
        assert_exact(&matrix, 4, "random");
        // The inverse is exact too.
        prop_assert_eq!(matrix.inverse(0.0).unwrap().times(&matrix), Matrix::<BigRational>::identity());
    }
}
