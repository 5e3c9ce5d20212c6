//! Slabs against one device, bit for bit.

use super::*;
use crate::builder::{Pad, PlanBuilder};
use crate::plan::Plan;
use crate::{Boundary, Layout, Schedule, Scheme, catalogue};
use lifting_dsl::Domain;

/// Shape, levels of each axis, origins.
type Case = (&'static [usize], &'static [u32], &'static [i64]);

const CASES: [Case; 13] = [
    (&[1], &[2], &[1]),
    (&[37], &[4], &[-3]),
    (&[256], &[3], &[0]),
    (&[5, 9], &[2, 2], &[0, 1]),
    (&[9, 31], &[3, 3], &[0, 0]),
    (&[150, 3], &[2, 1], &[5, 0]),
    (&[97, 20], &[4, 2], &[-7, 3]),
    (&[64, 24], &[3, 3], &[1, 0]),
    (&[128, 8], &[2, 3], &[0, 0]),
    (&[8, 6, 10], &[0, 1, 2], &[0, 1, 0]),
    (&[2, 96, 5], &[0, 2, 1], &[0, 4, 0]),
    (&[44, 7, 9], &[2, 1, 3], &[3, 0, 1]),
    (&[32, 8, 4], &[2, 2, 1], &[0, 0, 0]),
];

fn noise<T: Sample>(n: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let bits = (state >> 16) as i64;
        let value = if T::KIND.domain() == Domain::Integer { bits } else { bits % 32 };
        <T as lifting_dsl::sample::Sample>::from_i64(value)
    };
    (0..n).map(|_| next()).collect()
}

fn lattice() -> Scheme {
    let text = "wavelet l { domain real; boundary periodic; lattice { rotate(3/5, 4/5); reflect(0.6, 0.8); \
                rotate(1/3, 0.7); } }";
    lifting_dsl::compile(text).unwrap().schemes.remove(0)
}

/// Compares transforms of both directions on several devices with one.
fn same<T: Sample>(builder: &PlanBuilder<'_, T>, device: &Device, divisions: &[Division], what: &str) {
    let Ok(alone) = builder.build(&Device::cpu_with_threads(1)) else { return };
    let bits = |values: &[T]| -> Vec<u8> { zerocopy::IntoBytes::as_bytes(values).to_vec() };
    let data = noise::<T>(alone.len(), 3);
    let mut coefficients = vec![T::default(); alone.coefficient_len()];
    alone.forward(&data, &mut coefficients).unwrap();
    // Any coefficients, also those that no data has.
    let others = noise::<T>(alone.coefficient_len(), 4);
    let mut back = vec![T::default(); alone.len()];
    alone.inverse(&others, &mut back).unwrap();
    for division in divisions {
        let what = format!("{what}, {division:?}");
        let devices: Arc<[Device]> = vec![device.clone(); division.devices].into();
        let planning = Planning { schedule: Schedule::Auto, wisdom: Arc::default(), only: None };
        let inner = alone.inner();
        let layouts = [&inner.data, &inner.coefficients];
        let slabs = Slabs::<T>::divided(&devices, &inner.problem, layouts, &planning, *division)
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        let mut arrays = slabs.arrays().unwrap();
        let (mut found, mut found_back) = (vec![T::default(); coefficients.len()], vec![T::default(); back.len()]);
        slabs.upload(&data, &mut arrays).unwrap();
        slabs.forward(&mut arrays).unwrap_or_else(|e| panic!("{what}: {e}"));
        slabs.download_coefficients(&mut arrays, &mut found).unwrap();
        assert!(bits(&found) == bits(&coefficients), "{what}: analysis differs");
        slabs.upload_coefficients(&others, &mut arrays).unwrap();
        slabs.inverse(&mut arrays).unwrap_or_else(|e| panic!("{what}: {e}"));
        slabs.download(&mut arrays, &mut found_back).unwrap();
        assert!(bits(&found_back) == bits(&back), "{what}: synthesis differs");
        let rows: usize = (0..division.devices).map(|device| slabs.rows(device).len()).sum();
        assert_eq!(rows, alone.shape()[slabs.axis()], "{what}");
    }
}

/// One stage, a stage for each level, stages of two levels, and coarse levels on the first device.
fn divisions(devices: &[usize]) -> Vec<Division> {
    let settings = [(0, Some(9)), (0, Some(1)), (0, Some(2)), (1 << 20, Some(1)), (100, None)];
    let of = |devices: usize| settings.map(|(gathered, levels)| Division { devices, gathered, levels });
    devices.iter().flat_map(|devices| of(*devices)).collect()
}

fn every_border<T: Sample>(scheme: &Scheme, device: &Device, cases: &[Case], divisions: &[Division]) {
    for (i, (shape, levels, origins)) in cases.iter().enumerate() {
        for (b, boundary) in Boundary::ALL.into_iter().enumerate() {
            let layout = if (i + b) % 2 == 0 { Layout::Mallat } else { Layout::Interleaved };
            let builder = Plan::builder(scheme).shape(shape).levels_per_axis(levels).origins(origins);
            let builder = builder.boundary(boundary).layout(layout).sample::<T>();
            let what = format!("{} {} {shape:?} {levels:?} {origins:?} {boundary}", scheme.name(), T::KIND);
            same(&builder, device, divisions, &what);
        }
    }
}

#[test]
fn processors_give_the_bits_of_one() {
    let (divisions, cpu) = (divisions(&[1, 2, 3, 8]), Device::cpu_with_threads(1));
    let find = |name: &str| catalogue::find(name).unwrap();
    every_border::<i16>(&find("legall53"), &cpu, &CASES, &divisions);
    every_border::<i32>(&find("dd137"), &cpu, &CASES, &divisions);
    every_border::<f32>(&find("cdf97"), &cpu, &CASES, &divisions);
    every_border::<f64>(&find("db4"), &cpu, &CASES, &divisions);
    every_border::<crate::f16>(&find("cdf97"), &cpu, &CASES, &divisions);
    every_border::<f32>(&lattice(), &cpu, &CASES, &divisions);
}

#[test]
fn interpreted_devices_give_the_bits_of_one() {
    let divisions: Vec<Division> = [(1, 0, None), (2, 0, Some(1)), (3, 1 << 20, Some(1)), (8, 0, Some(9))]
        .map(|(devices, gathered, levels)| Division { devices, gathered, levels })
        .into();
    let find = |name: &str| catalogue::find(name).unwrap();
    every_border::<i16>(&find("legall53"), &Device::Interpreter, &CASES[7..8], &divisions);
    every_border::<f32>(&find("cdf97"), &Device::Interpreter, &CASES[11..13], &divisions[1..]);
    every_border::<f64>(&find("db4"), &Device::Interpreter, &CASES[8..9], &divisions[1..3]);
}

/// Padding, formats, strides and the order of axes are those of one device.
#[test]
fn settings_of_plans_hold() {
    let find = |name: &str| catalogue::find(name).unwrap();
    let (divisions, cpu) = (divisions(&[1, 2, 5]), Device::cpu_with_threads(1));
    let scheme = find("legall53");
    for shape in [&[50usize, 13][..], &[9, 30], &[3, 5, 70]] {
        let builder = Plan::builder(&scheme).shape(shape).levels(3).sample::<i32>();
        for boundary in Boundary::ALL {
            same(&builder.clone().boundary(boundary).pad(Pad::Edge), &cpu, &divisions, &format!("padded {shape:?}"));
        }
        same(&builder.clone().profile(lifting_dsl::Format::Jpeg2000), &cpu, &divisions, "jpeg2000");
        let order: Vec<usize> = (0..shape.len()).collect();
        same(&builder.axis_order(&order), &cpu, &divisions, "outermost first");
    }
    let strided = Plan::builder(&scheme).shape(&[60, 7]).levels(2).strides(&[-20, 2]).coefficient_strides(&[1, 60]);
    same(&strided.sample::<i16>(), &cpu, &divisions, "strides");
    let shifted = Plan::builder(&scheme).shape(&[64, 32]).levels(3).profile(lifting_dsl::Format::Vc2).sample::<i32>();
    same(&shifted, &cpu, &divisions, "vc2");
}

/// Host arrays of a plan: all transforms, in place too.
#[test]
fn plans_of_several_devices_are_plans() {
    let scheme = catalogue::find("cdf97").unwrap();
    let builder = Plan::builder(&scheme).shape(&[70, 22]).levels(3).sample::<f32>();
    let alone = builder.build(&Device::cpu_with_threads(1)).unwrap();
    let shared = builder.build(&Device::several(&[Device::Interpreter, Device::Interpreter]).unwrap()).unwrap();
    assert!(alone.slabs().unwrap_err().to_string().contains("Device::several"));
    let data = noise::<f32>(1540, 1);
    let both = |run: &dyn Fn(&Plan<f32>, &mut Vec<f32>)| {
        let [mut one, mut other] = [vec![0.0; 1540], vec![0.0; 1540]];
        run(&alone, &mut one);
        run(&shared, &mut other);
        assert_eq!(one, other);
    };
    both(&|plan, result| plan.forward(&data, result).unwrap());
    both(&|plan, result| plan.inverse(&data, result).unwrap());
    both(&|plan, result| plan.adjoint(&data, result).unwrap());
    both(&|plan, result| plan.inverse_to(1, &data, &mut result[..35 * 11]).unwrap());
    both(&|plan, result| {
        result.copy_from_slice(&data);
        plan.forward_in_place(result).unwrap();
        plan.inverse_in_place(result).unwrap();
    });
    let slabs = shared.slabs().unwrap();
    assert_eq!([slabs.rows(0), slabs.rows(1)], [0..32, 32..70]);
    let arrays = slabs.arrays().unwrap();
    let parts = [0, 1].map(|device| slabs.data(&arrays, device).unwrap());
    assert_eq!(parts.each_ref().map(|part| (part.shape[0], part.offset[0])), [(32, 0), (38, 32)]);
    let samples = |device| -> usize {
        slabs.coefficients(&arrays, device).iter().map(|p| p.shape.iter().product::<usize>()).sum()
    };
    assert_eq!(samples(0) + samples(1), 1540usize);
    // Arrays belong to their plan.
    let mut foreign = alone_slabs(&builder).arrays().unwrap();
    assert_eq!(slabs.forward(&mut foreign), Err(PlanError::ForeignWorkspace));
}

fn alone_slabs(builder: &PlanBuilder<'_, f32>) -> Slabs<f32> {
    let plan = builder.build(&Device::cpu_with_threads(1)).unwrap();
    let planning = Planning { schedule: Schedule::Auto, wisdom: Arc::default(), only: None };
    let (inner, devices) = (plan.inner(), Arc::from([Device::cpu()]));
    Slabs::new(&devices, &inner.problem, [&inner.data, &inner.coefficients], &planning).unwrap()
}

#[test]
fn what_devices_cannot_share_is_an_error() {
    assert!(Device::several(&[]).unwrap_err().to_string().contains("at least one"));
    let two = Device::several(&[Device::cpu(), Device::cpu()]).unwrap();
    assert!(Device::several(std::slice::from_ref(&two)).unwrap_err().to_string().contains("only CUDA devices"));
    let scheme = catalogue::find("legall53").unwrap();
    let tiled = Plan::builder(&scheme).shape(&[64, 64]).tile(&[32, 32]).sample::<i16>().build(&two);
    assert!(tiled.unwrap_err().to_string().contains("a plan with tiles runs on one device"));
}

/// A picture of 16384² on two devices: one device fetches at most 1 % of its rows.
#[test]
fn large_pictures_exchange_few_rows() {
    let scheme = catalogue::find("cdf97").unwrap();
    let geometry = lifting_dsl::geometry::Geometry::uniform(&[16384, 16384], 5).unwrap();
    let problem = Arc::new(Problem::new(scheme, geometry));
    let cut = Cut::new(&problem, Division::of(2)).unwrap();
    let rows: usize = cut.before_analysis(0).iter().map(|copy| copy.shape[0]).sum();
    assert!((8..160).contains(&rows), "{rows}");
    // Coarse levels are few samples: they need no second device.
    assert!(cut.stages.last().unwrap().slabs.iter().flatten().count() >= 1);
}
