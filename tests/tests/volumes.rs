//! A real volume over three axes: lossless, and equal to the oracle, on the CPU and on the interpreter.

use liftc::media::{Data, read};
use lifting::{Device, Plan, Scheme};
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::oracle::Transform;
use lifting_tests::wavelet;
use std::path::Path;

/// A piece of a magnetic resonance image of a head: every length odd or twice odd.
fn brain() -> ([usize; 3], Vec<i16>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/brain.npz");
    let array = read(&path, Some("volume")).unwrap_or_else(|e| panic!("{}", e.render(false, 100)));
    let Data::I16(samples) = array.data else { panic!("it holds {:?}", array.data.element()) };
    (array.shape.try_into().expect("three axes"), samples.into_vec().expect("they are in memory"))
}

/// The part of a volume that begins at `from`.
fn part(whole: [usize; 3], volume: &[i16], from: [usize; 3], shape: [usize; 3]) -> Vec<i16> {
    let [nz, ny, nx] = shape;
    let at = |z: usize, y: usize| ((from[0] + z) * whole[1] + from[1] + y) * whole[2] + from[2];
    (0..nz).flat_map(|z| (0..ny).flat_map(move |y| volume[at(z, y)..][..nx].to_vec())).collect()
}

/// Compares forward, every reduced resolution, and inverse with the oracle; the last must restore the input.
fn there_and_back(scheme: &Scheme, shape: [usize; 3], levels: [u32; 3], volume: &[i16], device: &Device) {
    let what = format!("{} {shape:?} {levels:?} on {device}", scheme.name());
    let plan = Plan::builder(scheme).shape(&shape).levels_per_axis(&levels).sample::<i16>().build(device);
    let plan = plan.unwrap_or_else(|e| panic!("{what}: {e}"));
    let geometry = Geometry::new(&shape, &[0; 3], &levels, &[2, 1, 0]).expect("it is valid");
    let oracle = Transform::new(scheme.clone(), geometry.clone());
    let mut expected = volume.to_vec();
    oracle.forward(&mut expected).expect("it is legal");

    let mut coefficients = vec![0; volume.len()];
    plan.forward(volume, &mut coefficients).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(coefficients == expected, "coefficients, {what}");
    assert!(coefficients != volume);
    for level in 0..=plan.depth() {
        let mut whole = expected.clone();
        oracle.inverse_to(level, &mut whole).expect("it is legal");
        let low = geometry.low_band(level, Layout::Mallat).shape;
        let low: [usize; 3] = low.try_into().expect("three axes");
        let mut found = vec![0; low.iter().product()];
        plan.inverse_to(level, &coefficients, &mut found).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert!(found == part(shape, &whole, [0; 3], low), "resolution {level}, {what}");
    }
    let mut back = vec![0; volume.len()];
    plan.inverse(&coefficients, &mut back).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(back == volume, "lossless, {what}");
    plan.inverse_in_place(&mut coefficients).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(coefficients == volume, "lossless in place, {what}");
}

#[test]
fn on_the_cpu() {
    let (shape, volume) = brain();
    assert_eq!(shape, [47, 58, 49]);
    for levels in [[3; 3], [2, 0, 4], [6; 3]] {
        there_and_back(&wavelet("dd137"), shape, levels, &volume, &Device::cpu());
    }
    there_and_back(&wavelet("legall53"), shape, [3; 3], &volume, &Device::cpu());
}

#[test]
fn on_the_interpreter() {
    let (whole, volume) = brain();
    for (shape, levels) in [([11, 14, 13], [2; 3]), ([6, 17, 9], [1, 2, 3])] {
        let crop = part(whole, &volume, [20, 22, 17], shape);
        there_and_back(&wavelet("dd137"), shape, levels, &crop, &Device::Interpreter);
    }
}
