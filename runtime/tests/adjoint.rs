//! Adjoints on the CPU and on interpreted kernels, bit for bit against the oracle: every border rule, level, layout,
//! origin, order of axes and stride; inner products confirm that they are adjoints.

use crate::support::noise;
use lifting::{
    Boundary, Device, Layout, Pad, Plan, PlanError, Sample, Schedule, Scheme, bf16, catalogue, compile, f16,
};
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;

/// A wavelet whose steps all read asymmetrically, with scalings between them.
fn skew() -> Scheme {
    let text = "wavelet skew { domain real;
        odd -= 1/3*even[-1] + 3/4*even[0] - 1/5*even[2]; odd *= 5/4;
        even += 1/7*odd[-2] + 2/7*odd[1] - 1/9*odd[3]; odd -= even[-4]; even *= -1/2; }";
    compile(text).unwrap().remove(0)
}

struct Case {
    shape: Vec<usize>,
    levels: Vec<u32>,
    order: Vec<usize>,
    origins: Vec<i64>,
    layout: Layout,
}

fn cases() -> Vec<Case> {
    type ShapeCase<'a> = (&'a [usize], &'a [u32], &'a [usize], &'a [i64]);
    let shapes: [ShapeCase; 12] = [
        (&[1], &[2], &[0], &[1]),
        (&[2], &[1], &[0], &[0]),
        (&[37], &[4], &[0], &[-3]),
        (&[64], &[3], &[0], &[0]),
        (&[1, 19], &[2, 2], &[1, 0], &[1, 0]),
        (&[16, 24], &[2, 3], &[1, 0], &[0, 0]),
        (&[23, 31], &[3, 2], &[0, 1], &[5, -2]),
        (&[3, 18, 20], &[0, 2, 2], &[2, 1], &[0, 0, 0]),
        (&[18, 20, 3], &[2, 1, 0], &[1, 0], &[1, 0, 0]),
        (&[5, 9, 6], &[1, 2, 1], &[1, 2, 0], &[1, 1, 1]),
        (&[4, 3, 5, 2], &[1, 0, 2, 0], &[2, 0], &[0, 0, 1, 0]),
        (&[8, 8], &[0, 0], &[], &[0, 0]),
    ];
    let mut cases = Vec::new();
    for (shape, levels, order, origins) in shapes {
        for layout in [Layout::Mallat, Layout::Interleaved] {
            let (shape, levels) = (shape.to_vec(), levels.to_vec());
            cases.push(Case { shape, levels, order: order.to_vec(), origins: origins.to_vec(), layout });
        }
    }
    cases
}

fn check<T: Sample>(scheme: &Scheme, boundary: Boundary, case: &Case) {
    let Case { shape, levels, order, origins, layout } = case;
    let geometry = Geometry::new(shape, origins, levels, order).unwrap();
    if geometry.check_boundary(boundary).is_err() {
        return;
    }
    let n = shape.iter().product();
    let oracle = Transform { boundary, layout: *layout, ..Transform::new(scheme.clone(), geometry) };
    let y: Vec<T> = noise(n, 7);
    let (mut back, mut forth) = (y.clone(), y.clone());
    oracle.adjoint(&mut back).unwrap();
    oracle.inverse_adjoint(&mut forth).unwrap();
    for device in [Device::cpu_with_threads(1), Device::Interpreter] {
        let plan = Plan::builder(scheme).shape(shape).levels_per_axis(levels).axis_order(order).origins(origins);
        let plan = plan.boundary(boundary).layout(*layout).sample::<T>().build(&device).unwrap();
        let what = format!("{} on {}, {device}: {shape:?} {levels:?} {boundary} {layout:?}", scheme.name(), T::KIND);
        let mut got = vec![T::default(); n];
        plan.adjoint(&y, &mut got).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(got, back, "{what}");
        plan.inverse_adjoint(&y, &mut got).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(got, forth, "inverse, {what}");
    }
}

#[test]
fn adjoints_equal_the_oracle() {
    let schemes = [catalogue::find("cdf97").unwrap(), skew(), catalogue::find("cdf3_5").unwrap()];
    for (i, case) in cases().iter().enumerate() {
        for boundary in Boundary::ALL {
            for (j, scheme) in schemes.iter().enumerate() {
                match (i + j) % 4 {
                    0 => check::<f64>(scheme, boundary, case),
                    1 => check::<f16>(scheme, boundary, case),
                    2 => check::<bf16>(scheme, boundary, case),
                    _ => check::<f32>(scheme, boundary, case),
                }
            }
        }
    }
}

/// Every schedule doubles and halves the ends of lines at every level: blocks inside and at borders, aligned and
/// unaligned rows, images and volumes.
#[test]
fn every_schedule_doubles_ends() {
    let scheme = catalogue::find("cdf97").unwrap();
    let mut taken = 0;
    // Some of these widths end at the last column of a block that does not look beyond the image.
    let wide = [216, 232, 240, 248].map(|columns| [48, columns]);
    let wide = wide.iter().map(|shape| (&shape[..], 2));
    let others = [(&[40, 320][..], 2), (&[37, 211], 3), (&[12, 20, 48], 1), (&[9, 13, 30], 2), (&[700], 3)];
    for (shape, levels) in others.into_iter().chain(wide) {
        let n = shape.iter().product();
        let builder = || Plan::builder(&scheme).shape(shape).levels(levels).sample::<f32>();
        let cpu = builder().build(&Device::cpu_with_threads(1)).unwrap();
        let y: Vec<f32> = noise(n, 7);
        let [mut back, mut forth, mut got] = [(); 3].map(|()| vec![0.0; n]);
        cpu.adjoint(&y, &mut back).unwrap();
        // One workspace serves the transform and its adjoint in turn.
        let mut workspace = cpu.workspace();
        cpu.forward_with(&y, &mut got, &mut workspace).unwrap();
        cpu.inverse_adjoint_with(&y, &mut forth, &mut workspace).unwrap();
        let again = got.clone();
        cpu.forward_with(&y, &mut got, &mut workspace).unwrap();
        assert!(got == again, "{shape:?}");
        for schedule in Schedule::all().filter(|schedule| schedule.has_lifting_bits()) {
            let Ok(plan) = builder().schedule(schedule).build(&Device::Interpreter) else { continue };
            let what = format!("{} of {shape:?}", schedule.name());
            plan.adjoint(&y, &mut got).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(got == back, "{what}");
            plan.inverse_adjoint(&y, &mut got).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(got == forth, "inverse, {what}");
            taken += 1;
        }
    }
    assert!(taken > 30, "{taken}");
}

/// ⟨T x, y⟩ = ⟨x, T* y⟩, with plans only, with strides and threads.
#[test]
fn inner_products_agree() {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for scheme in [catalogue::find("cdf97").unwrap(), skew()] {
        for boundary in Boundary::ALL {
            for device in [Device::cpu(), Device::Interpreter] {
                let plan = Plan::builder(&scheme).shape(&[32, 40]).levels(3).strides(&[1, 32]).boundary(boundary);
                let plan = plan.sample::<f64>().build(&device).unwrap();
                let (x, y): (Vec<f64>, Vec<f64>) = (noise(1280, 1), noise(1280, 2));
                let (mut tx, mut ty) = (vec![0.0; 1280], vec![0.0; 1280]);
                plan.forward(&x, &mut tx).unwrap();
                plan.adjoint(&y, &mut ty).unwrap();
                let size = (dot(&tx, &tx) * dot(&y, &y)).sqrt();
                assert!((dot(&tx, &y) - dot(&x, &ty)).abs() < 1e-12 * size, "{boundary} {device}");
                plan.inverse(&x, &mut tx).unwrap();
                plan.inverse_adjoint(&y, &mut ty).unwrap();
                let size = (dot(&tx, &tx) * dot(&y, &y)).sqrt();
                assert!((dot(&tx, &y) - dot(&x, &ty)).abs() < 1e-12 * size, "inverse {boundary} {device}");
            }
        }
    }
}

#[test]
fn missing_adjoints_are_reported() {
    let legall = catalogue::find("legall53").unwrap();
    let plan = Plan::builder(&legall).shape(&[8]).sample::<i16>().build(&Device::cpu_with_threads(1)).unwrap();
    let error = plan.adjoint(&[0; 8], &mut [0; 8]).unwrap_err();
    assert_eq!(error, PlanError::IntegerAdjoint { wavelet: "legall53".into() });
    let cdf97 = catalogue::find("cdf97").unwrap();
    let plan = Plan::builder(&cdf97).shape(&[7]).pad(Pad::Edge).sample::<f32>().build(&Device::Interpreter).unwrap();
    let error = plan.inverse_adjoint(&[0.0; 7], &mut [0.0; 8]).unwrap_err();
    assert!(matches!(error, PlanError::PaddedAdjoint { .. }), "{error}");
    let plan = Plan::builder(&cdf97).shape(&[8]).sample::<f32>().build(&Device::cpu_with_threads(1)).unwrap();
    assert!(matches!(plan.adjoint(&[0.0; 7], &mut [0.0; 8]).unwrap_err(), PlanError::TooShort { .. }));
}

/// Values beyond the border are zero, whatever an earlier run left in the workspace.
#[test]
fn workspaces_may_hold_anything() {
    let scheme = catalogue::find("cdf97").unwrap();
    let builder = Plan::builder(&scheme).shape(&[8, 12]).levels(2).boundary(Boundary::Zero).sample::<f64>();
    let plan = builder.build(&Device::cpu_with_threads(1)).unwrap();
    let data: Vec<f64> = noise::<f64>(96, 1000);
    let (mut coefficients, mut back, mut other) = (vec![0.0; 96], vec![0.0; 96], vec![0.0; 96]);
    let mut workspace = plan.workspace();
    plan.adjoint_with(&data, &mut other, &mut workspace).unwrap();
    plan.forward_with(&data, &mut coefficients, &mut workspace).unwrap();
    plan.inverse_adjoint_with(&data, &mut other, &mut workspace).unwrap();
    plan.inverse_with(&coefficients, &mut back, &mut workspace).unwrap();
    let mut expected = vec![0.0; 96];
    plan.forward(&data, &mut expected).unwrap();
    assert_eq!(coefficients, expected);
    assert!(back.iter().zip(&data).all(|(a, b)| (a - b).abs() < 1e-9), "{back:?}");
}
