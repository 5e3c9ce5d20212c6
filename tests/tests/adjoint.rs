//! ⟨Tx, y⟩ = ⟨x, T*y⟩ for every real wavelet of the catalogue, border rule and direction, over awkward sizes.

use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;
use lifting_dsl::{Boundary, Domain, adjoint};
use lifting_filters::CATALOGUE;
use lifting_tests::{noise, wavelet};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[test]
fn inner_products_agree_for_every_real_wavelet() {
    let shapes: [&[usize]; 9] = [&[1], &[2], &[3], &[7], &[16], &[31], &[8, 12], &[5, 9], &[1, 6]];
    let mut checked = 0;
    for entry in CATALOGUE {
        let scheme = wavelet(entry.name);
        if scheme.domain() == Domain::Integer {
            assert!(adjoint::steps(scheme.steps()).is_none(), "{}", entry.name);
            continue;
        }
        for boundary in Boundary::ALL {
            for shape in shapes {
                for (levels, origin) in [(1, 0), (2, 1)] {
                    let rank = shape.len();
                    let order: Vec<usize> = (0..rank).rev().collect();
                    let origin = if boundary == Boundary::Periodic { 0 } else { origin };
                    let geometry = Geometry::new(shape, &vec![origin; rank], &vec![levels; rank], &order).unwrap();
                    if geometry.check_boundary(boundary).is_err() {
                        continue;
                    }
                    let transform = Transform { boundary, ..Transform::new(scheme.clone(), geometry) };
                    let n = transform.geometry.samples();
                    let all: Vec<f64> = noise(2 * n, 1000).iter().map(|v| *v as f64).collect();
                    let (x, y) = all.split_at(n);
                    let apply = |data: &[f64], map: &dyn Fn(&mut Vec<f64>)| {
                        let mut data = data.to_vec();
                        map(&mut data);
                        data
                    };
                    let pairs = [
                        (apply(x, &|d| transform.forward(d).unwrap()), apply(y, &|d| transform.adjoint(d).unwrap())),
                        (
                            apply(x, &|d| transform.inverse(d).unwrap()),
                            apply(y, &|d| transform.inverse_adjoint(d).unwrap()),
                        ),
                    ];
                    for (tx, ty) in pairs {
                        let size = (dot(&tx, &tx) * dot(y, y)).sqrt() + (dot(x, x) * dot(&ty, &ty)).sqrt();
                        let off = (dot(&tx, y) - dot(x, &ty)).abs();
                        assert!(off <= 1e-9 * size, "{} {boundary} {shape:?}: {off:e} of {size:e}", entry.name);
                    }
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 5000, "{checked}");
}
