//! Generated filters against PyWavelets' tables, and the need for high precision.

use lifting_dsl::factor::{self, Options};
use lifting_dsl::float::Float;
use lifting_dsl::polyphase::Reconstruction;
use lifting_dsl::spectral::{SPLINES, spline, wavelet};

/// Name, dec_lo and rec_lo.
fn tables() -> Vec<(String, Vec<f64>, Vec<f64>)> {
    let mut all: Vec<(String, Vec<f64>, Vec<f64>)> = Vec::new();
    for line in include_str!("data/pywavelets.txt").lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap().to_string();
        let taps: Vec<f64> = words.map(|w| w.parse().unwrap()).collect();
        if name == "+" {
            all.last_mut().unwrap().2 = taps;
        } else {
            let reversed = taps.iter().rev().copied().collect();
            all.push((name, taps, reversed));
        }
    }
    all
}

fn distance(a: &[Float], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x.to_f64() - y).abs()).fold(0.0, f64::max)
}

#[test]
fn generated_filters_are_those_of_pywavelets() {
    let mut checked = 0;
    for (name, dec_lo, rec_lo) in tables() {
        let pair = wavelet(&name).unwrap();
        if name == "dmey" {
            // PyWavelets' filter does not reconstruct: ours is the nearest that does.
            let off = distance(&pair.rec_lo, &rec_lo);
            assert!((8.0e-4..8.1e-4).contains(&off), "{off:e}");
            continue;
        }
        let off = distance(&pair.dec_lo, &dec_lo).max(distance(&pair.rec_lo, &rec_lo));
        // PyWavelets' tables of symlets and biorthogonal wavelets are only good to 12 digits.
        assert!(off < 2e-11, "{name}: {off:e}");
        checked += 1;
    }
    assert_eq!(checked, 38 + 19 + 17 + 15);
}

#[test]
fn orthogonal_filters_become_lattices_that_doubles_carry() {
    for name in ["haar", "db2", "db10", "db20", "db38", "sym8", "sym20", "coif1", "coif5", "coif17", "dmey"] {
        let pair = wavelet(name).unwrap();
        let found = factor::lattice::lattice(&pair.bank(), 1e-100).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(found.lattice.stages.len(), pair.dec_lo.len() / 2);
        assert!(found.residual < 1e-100, "{name}: {:e}", found.residual);
        assert!(found.residual_f64 < 1e-14, "{name}: {:e}", found.residual_f64);
        let inverse = found.lattice.matrix().adjoint();
        let Reconstruction::Bounded(e) = Reconstruction::of(&found.lattice.matrix(), &inverse) else {
            panic!("floats prove nothing")
        };
        assert!(e < 1e-140, "{name}: {e:e}");
    }
}

#[test]
fn published_digits_are_not_enough_for_long_filters() {
    let tables = tables();
    let lattice = |name: &str| {
        let rec_lo = &tables.iter().find(|t| t.0 == name).unwrap().2;
        let taps: Vec<Float> = rec_lo.iter().map(|&x| Float::from_f64(x).unwrap()).collect();
        factor::lattice::lattice(&lifting_dsl::polyphase::Bank::orthogonal(&taps), 1e-9)
    };
    assert!(lattice("db4").unwrap().residual < 1e-11);
    assert!(matches!(lattice("db20"), Err(factor::FactorError::Imprecise { .. })));
}

#[test]
fn biorthogonal_wavelets_become_lifting_steps() {
    for name in ["bior1.5", "bior2.6", "bior3.9", "bior4.4", "bior5.5", "bior6.8", "rbio3.7", "rbio4.4"] {
        let bank = wavelet(name).unwrap().bank();
        let all = factor::lifting::lifting(&bank, &Options { tolerance: 1e-100, ..Options::default() })
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(all[0].residual < 1e-100, "{name}");
        assert!(all[0].cost.error_f32 < 1e-5, "{name}: {:?}", all[0].cost);
    }
}

#[test]
fn splines_are_exact() {
    for (rec, dec) in SPLINES {
        let bank = spline(rec, dec).unwrap().bank();
        let all = factor::lifting::lifting(&bank, &Options::default()).unwrap();
        assert_eq!(all[0].matrix(), bank.matrix(), "{rec}.{dec}");
    }
    assert!(spline(2, 3).is_none() && spline(0, 2).is_none());
}

#[test]
fn names_without_a_generator() {
    for name in ["db0", "db65", "sym1", "sym21", "coif18", "bior2.3", "meyer", "db", ""] {
        assert!(wavelet(name).unwrap_err().to_string().contains("bior"), "{name}");
    }
    assert_eq!(wavelet("DB2"), wavelet("db2"));
    assert_eq!(wavelet("db1"), wavelet("haar"));
}
