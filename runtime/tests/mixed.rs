//! A wavelet for each axis and level: the same as plans of one level along one axis, applied by hand.

use crate::support::noise;
use lifting::{Boundary, Device, Layout, Pad, Plan, PlanBuilder, PlanError, Sample, Schedule, Scheme, catalogue};

fn wavelets<const N: usize>(names: [&str; N]) -> [Scheme; N] {
    names.map(|name| catalogue::find(name).unwrap())
}

/// A plan of one level along one axis, in place on the region of `shape` at the start of an array of these columns.
fn along<T: Sample>(scheme: &Scheme, axis: usize, shape: [usize; 2], columns: usize) -> Plan<T> {
    let strides = [columns as isize, 1];
    let builder = Plan::builder(scheme).shape(&shape).axes(&[axis]).strides(&strides).coefficient_strides(&strides);
    builder.sample().build(&Device::cpu_with_threads(1)).unwrap()
}

/// Transforms with `columns` along axis 0 and `rows` along axis 1, by a plan and by hand.
fn check<T: Sample + PartialEq>(shape: [usize; 2], levels: [u32; 2], columns: &[&Scheme], rows: &[&Scheme]) {
    let count = shape[0] * shape[1];
    let data: Vec<T> = noise(count, 7);
    let builder = Plan::builder(columns[0]).axis_wavelets(0, columns).axis_wavelets(1, rows);
    let plan = builder.shape(&shape).levels_per_axis(&levels).sample::<T>().build(&Device::cpu()).unwrap();

    let mut passes = Vec::new();
    let mut region = shape;
    for level in 0..levels[0].max(levels[1]) {
        let mut low = region;
        // The innermost axis comes first.
        for (axis, own) in [(1, rows), (0, columns)] {
            if levels[axis] > level {
                passes.push((level, along::<T>(own[(level as usize).min(own.len() - 1)], axis, region, shape[1])));
                low[axis] = region[axis].div_ceil(2);
            }
        }
        region = low;
    }
    let mut by_hand = data.clone();
    passes.iter().for_each(|(_, pass)| pass.forward_in_place(&mut by_hand[..pass.coefficient_len()]).unwrap());
    let mut coefficients = vec![T::default(); count];
    plan.forward(&data, &mut coefficients).unwrap();
    assert!(coefficients == by_hand, "analysis of {shape:?}, {levels:?}");
    let mut in_place = data.clone();
    plan.forward_in_place(&mut in_place).unwrap();
    assert!(in_place == by_hand, "analysis in place");

    for (_, pass) in passes.iter().rev().filter(|(level, _)| *level > 0) {
        pass.inverse_in_place(&mut by_hand[..pass.coefficient_len()]).unwrap();
    }
    let half = plan.level_shape(1).unwrap().to_vec();
    let mut low = vec![T::default(); half.iter().product()];
    plan.inverse_to(1, &coefficients, &mut low).unwrap();
    for (y, row) in low.chunks(half[1]).enumerate() {
        assert!(row == &by_hand[y * shape[1]..][..half[1]], "row {y} at half size");
    }
    for (_, pass) in passes.iter().rev().filter(|(level, _)| *level == 0) {
        pass.inverse_in_place(&mut by_hand[..pass.coefficient_len()]).unwrap();
    }
    let mut back = vec![T::default(); count];
    plan.inverse(&coefficients, &mut back).unwrap();
    assert!(back == by_hand, "synthesis of {shape:?}, {levels:?}");
    if T::KIND.domain() == lifting::Domain::Integer {
        assert!(back == data);
    }
}

#[test]
fn several_wavelets_are_single_plans_in_order() {
    let [a, b, c] = wavelets(["legall53", "dd137", "s_transform"]);
    for shape in [[12, 22], [37, 19], [1, 9], [64, 130]] {
        check::<i16>(shape, [1, 3], &[&a], &[&b, &c]);
        check::<i32>(shape, [3, 3], &[&a, &c], &[&b]);
        check::<i64>(shape, [3, 1], &[&a, &b, &c], &[&c]);
    }
    let [a, b, c] = wavelets(["cdf97", "haar", "cdf2_2"]);
    check::<f32>([30, 41], [2, 3], &[&a, &b], &[&c, &a]);
    check::<f64>([33, 16], [2, 2], &[&b], &[&a]);
}

/// With one wavelet everywhere the bits are those of a plan of it, in every layout, tile and padding.
#[test]
fn one_wavelet_everywhere_is_its_plan() {
    let [wavelet] = wavelets(["dd137"]);
    let shape = [37, 45];
    let data: Vec<i32> = noise(shape[0] * shape[1], 3);
    let plain = Plan::builder(&wavelet).shape(&shape).levels(2).origins(&[1, -2]);
    let cases = [
        plain.clone(),
        plain.clone().layout(Layout::Interleaved).boundary(Boundary::Zero),
        plain.clone().pad(Pad::Edge).boundary(Boundary::Edge),
        plain.clone().tile(&[16, 20]),
        plain.axis_order(&[0, 1]),
    ];
    for (case, builder) in cases.into_iter().enumerate() {
        let mixed = builder.clone().axis_wavelets(0, &[&wavelet, &wavelet]).axis_wavelets(1, &[&wavelet]);
        let [one, mixed] = [builder, mixed].map(|builder| builder.sample::<i32>().build(&Device::cpu()).unwrap());
        assert!(one.subbands().eq(mixed.subbands()));
        let transformed = |plan: &Plan<i32>| {
            let mut coefficients = vec![0; plan.coefficient_len()];
            plan.forward(&data, &mut coefficients).unwrap();
            let mut back = vec![0; plan.len()];
            plan.inverse(&coefficients, &mut back).unwrap();
            assert_eq!(back, data, "case {case}");
            coefficients
        };
        assert_eq!(transformed(&one), transformed(&mixed), "case {case}");
    }
}

#[test]
fn adjoints_of_several_wavelets() {
    let [a, b] = wavelets(["cdf97", "haar"]);
    let builder = Plan::builder(&a).axis_wavelets(1, &[&b, &a]).shape(&[10, 13]).levels(2);
    let plan = builder.sample::<f64>().build(&Device::cpu()).unwrap();
    let (x, y): (Vec<f64>, Vec<f64>) = (noise(130, 1), noise(130, 2));
    let (mut tx, mut ty) = (vec![0.0; 130], vec![0.0; 130]);
    plan.forward(&x, &mut tx).unwrap();
    plan.adjoint(&y, &mut ty).unwrap();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (left, right) = (dot(&tx, &y), dot(&x, &ty));
    assert!((left - right).abs() <= 1e-9 * left.abs().max(1.0), "{left} {right}");
}

/// Coefficients, data, and the adjoints of real wavelets.
fn results<T: Sample>(plan: &Plan<T>) -> [Vec<T>; 5] {
    let data: Vec<T> = noise(plan.len(), 11);
    let (mut coefficients, mut back) = (vec![T::default(); plan.coefficient_len()], vec![T::default(); plan.len()]);
    plan.forward(&data, &mut coefficients).unwrap();
    plan.inverse(&coefficients, &mut back).unwrap();
    let mut low = vec![T::default(); plan.level_shape(1).unwrap().iter().product()];
    plan.inverse_to(1, &coefficients, &mut low).unwrap();
    let [mut of_forward, mut of_inverse] = [vec![T::default(); plan.len()], vec![T::default(); plan.coefficient_len()]];
    if T::KIND.domain() == lifting::Domain::Real {
        plan.adjoint(&coefficients, &mut of_forward).unwrap();
        plan.inverse_adjoint(&data, &mut of_inverse).unwrap();
    }
    [coefficients, back, low, of_forward, of_inverse]
}

/// Bits of a plan on the interpreter and on the CPU are equal. Returns the schedules of analysis.
fn check_device<T: Sample + PartialEq>(builder: PlanBuilder<'_, T>) -> Vec<&'static str> {
    let [device, cpu] = [Device::Interpreter, Device::cpu()].map(|device| builder.build(&device).unwrap());
    assert!(results(&device) == results(&cpu), "{}", device.recipe());
    device.recipe().passes.iter().map(|pass| pass.schedule).collect()
}

#[test]
fn devices_have_several_wavelets() {
    let [a, b, c] = wavelets(["legall53", "dd137", "s_transform"]);
    for shape in [[12, 22], [37, 19], [1, 9], [64, 130]] {
        let builder = Plan::builder(&a).axis_wavelets(1, &[&b, &c]).shape(&shape).levels_per_axis(&[1, 3]);
        check_device(builder.clone().sample::<i16>());
        check_device(builder.clone().layout(Layout::Interleaved).sample::<i32>());
        check_device(builder.origins(&[1, -3]).axis_order(&[0, 1]).boundary(Boundary::Zero).sample::<i64>());
    }
    let volume = Plan::builder(&a).axis_wavelets(1, &[&b]).axis_wavelets(2, &[&c, &a]).shape(&[6, 9, 14]).levels(2);
    check_device(volume.clone().sample::<i16>());
    check_device(volume.pad(Pad::Edge).sample::<i32>());
    let tiled = Plan::builder(&b).axis_wavelets(0, &[&a]).shape(&[24, 40]).levels(2).tile(&[16, 20]);
    check_device(tiled.sample::<i32>());
    let [a, b] = wavelets(["cdf97", "haar"]);
    let real = Plan::builder(&a).axis_wavelets(1, &[&b, &a]).shape(&[30, 41]).levels(2);
    check_device(real.clone().sample::<f32>());
    check_device(real.clone().boundary(Boundary::Zero).sample::<f64>());
    check_device(real.sample::<lifting::f16>());
}

/// Levels whose axes have one wavelet take the schedules of a plan of it.
#[test]
fn levels_of_one_wavelet_are_launched_whole() {
    let [a, b] = wavelets(["legall53", "dd137"]);
    let builder = Plan::builder(&a).axis_wavelets(0, &[&b, &a]).axis_wavelets(1, &[&b, &a]);
    let schedules = check_device(builder.shape(&[64, 512]).levels(3).sample::<i16>());
    assert!(schedules.contains(&"warp"), "{schedules:?}");
    let first = Plan::builder(&a).axis_wavelets(0, &[&b, &a]).shape(&[64, 512]).levels(2).sample::<i16>();
    let schedules = check_device(first);
    assert!(schedules[0] != "warp" && schedules.contains(&"warp"), "{schedules:?}");
}

#[test]
fn settings_of_one_wavelet_are_refused() {
    let [a, b, real] = wavelets(["legall53", "dd137", "haar"]);
    let builder = Plan::builder(&a).axis_wavelets(1, &[&b]).shape(&[8, 8]).sample::<i16>();
    let fails = |builder: PlanBuilder<'_, i16>, device: &Device, expected: &str| {
        let error = builder.build(device).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    fails(builder.clone().profile(lifting::Format::Jpeg2000), &Device::cpu(), "profile jpeg2000 describes one wavelet");
    fails(builder.clone().range(0..=255), &Device::cpu(), "a range of samples describes one wavelet");
    fails(builder.clone().axis_wavelets(0, &[&a, &real]), &Device::cpu(), "`cdf1_1` is a real wavelet");
    fails(builder.clone().axis_wavelets(2, &[&a]), &Device::cpu(), "2");
    assert!(matches!(builder.fixed("mixed"), Err(PlanError::MixedFile)));
    let asked = builder.clone().schedule(Schedule::WARP);
    fails(asked, &Device::Interpreter, "the level's axes have several wavelets");
    // Each wavelet has its own border rule, which counts at each level.
    let periodic = lifting::compile("wavelet p { domain integer; boundary periodic; odd -= even[0]; }").unwrap();
    let levels = builder.axis_wavelets(1, &[&b, &periodic[0]]).levels(2);
    fails(levels.clone().shape(&[8, 10]), &Device::cpu(), "periodic");
    assert!(levels.shape(&[7, 12]).build(&Device::cpu()).is_ok());
}
