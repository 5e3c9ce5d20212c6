//! Shared code of the tests of plans.

use lifting::{Boundary, Domain, Layout, Sample, Scheme, catalogue};

/// Noise that uses all bits of integers and a modest range of reals, so three levels stay finite in `f16`.
pub fn noise<T: Sample>(n: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let bits = (state >> 16) as i64;
            let value = if T::KIND.domain() == Domain::Integer { bits } else { bits % 32 };
            <T as lifting_dsl::sample::Sample>::from_i64(value)
        })
        .collect()
}

/// A wavelet of the catalogue.
pub fn scheme(name: &str) -> Scheme {
    catalogue::find(name).unwrap()
}

/// Wavelets that run stage by stage.
pub fn lattices() -> Vec<Scheme> {
    lifting_dsl::compile(include_str!("../../../lifting-dsl/tests/lattices.lift")).unwrap().schemes
}

/// Shape, levels of each axis, order of the axes, origins.
type Geometry = (&'static [usize], &'static [u32], &'static [usize], &'static [i64]);

/// Shapes, levels, orders and origins that together take every path.
const GEOMETRIES: [Geometry; 16] = [
    (&[1], &[2], &[0], &[1]),
    (&[2], &[1], &[0], &[0]),
    (&[37], &[4], &[0], &[-3]),
    (&[64], &[3], &[0], &[0]),
    (&[1, 1], &[1, 1], &[0, 1], &[1, 1]),
    (&[1, 19], &[2, 2], &[1, 0], &[1, 0]),
    (&[19, 1], &[2, 2], &[1, 0], &[0, 3]),
    (&[16, 24], &[2, 3], &[1, 0], &[0, 0]),
    (&[23, 31], &[3, 2], &[0, 1], &[5, -2]),
    (&[3, 18, 20], &[0, 2, 2], &[2, 1], &[0, 0, 0]),
    (&[18, 20, 3], &[2, 1, 0], &[1, 0], &[1, 0, 0]),
    (&[9, 20, 17], &[2, 0, 0], &[0], &[1, 0, 0]),
    (&[5, 9, 6], &[1, 2, 1], &[1, 2, 0], &[1, 1, 1]),
    (&[16, 8, 24], &[3, 3, 3], &[2, 1, 0], &[0, 0, 0]),
    (&[4, 3, 5, 2], &[1, 0, 2, 0], &[2, 0], &[0, 0, 1, 0]),
    (&[8, 8], &[0, 0], &[], &[0, 0]),
];

/// A geometry under a border rule, with a layout of the coefficients.
pub type Case = (Geometry, Boundary, Layout);

/// All geometries under every border rule, with alternating layouts.
pub fn cases() -> impl Iterator<Item = Case> {
    GEOMETRIES.into_iter().enumerate().flat_map(|(i, geometry)| {
        Boundary::ALL.into_iter().enumerate().map(move |(b, boundary)| {
            (geometry, boundary, if (i + b) % 2 == 0 { Layout::Mallat } else { Layout::Interleaved })
        })
    })
}
