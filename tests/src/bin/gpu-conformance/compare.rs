//! Comparison of one plan on a device with the CPU: from host memory, in place, from device memory, and as graphs.

use lifting::cuda::cudarc::driver::{DevicePtr, DevicePtrMut, DeviceRepr, DriverError};
use lifting::cuda::{CudaPlan, Transform};
use lifting::{Domain, Plan, PlanError, Sample};
use lifting_tests::random::Random;

/// Random samples; integers use all bits.
pub fn samples<T: Sample>(count: usize) -> Vec<T> {
    let mut random = Random::new(count as u64);
    let integer = T::KIND.domain() == Domain::Integer;
    // Small enough that three levels of the wavelet with the largest gain stay finite in f16.
    let sample = |bits: i64| if integer { bits } else { bits % 64 };
    (0..count).map(|_| <T as lifting_dsl::sample::Sample>::from_i64(sample(random.bits() as i64))).collect()
}

/// Compares bit for bit: −0.0 differs from 0.0, but all NaNs are equal.
pub fn same<T: Sample>(what: &str, got: &[T], expected: &[T]) -> Result<(), String> {
    let bits = |x: &T| lifting_codegen::ir::interp::Element::to_pattern(*x);
    let nan = |x: &T| x.to_f64().is_nan();
    let wrong = |i: &usize| bits(&got[*i]) != bits(&expected[*i]) && !(nan(&got[*i]) && nan(&expected[*i]));
    let Some(first) = (0..expected.len()).find(wrong) else { return Ok(()) };
    let count = (0..expected.len()).filter(wrong).count();
    Err(format!(
        "{what}: {count} of {} differ, first at {first}: {:?}, not {:?}",
        expected.len(),
        got[first],
        expected[first]
    ))
}

/// Every direction and level of one plan on the device against the CPU.
pub fn compare<T: Sample + DeviceRepr>(cpu: &Plan<T>, gpu: &Plan<T>) -> Result<(), String> {
    let fail = |e: PlanError| e.to_string();
    let data: Vec<T> = samples(cpu.len());
    let mut coefficients = vec![T::default(); cpu.coefficient_len()];
    cpu.forward(&data, &mut coefficients).map_err(fail)?;
    let mut got = samples(cpu.coefficient_len());
    gpu.forward(&data, &mut got).map_err(fail)?;
    same("forward", &got, &coefficients)?;
    for level in 0..=cpu.depth() {
        let count = cpu.level_shape(level).map_err(fail)?.iter().product();
        let (mut expected, mut got) = (vec![T::default(); count], samples(count));
        cpu.inverse_to(level, &coefficients, &mut expected).map_err(fail)?;
        gpu.inverse_to(level, &coefficients, &mut got).map_err(fail)?;
        same(&format!("inverse to level {level}"), &got, &expected)?;
        if level == 0 {
            if let Ok(device) = gpu.cuda() {
                on_device(cpu, device, &data, &coefficients, &expected)?;
            }
            let mut place = data.clone();
            gpu.forward_in_place(&mut place).map_err(fail)?;
            same("forward in place", &place, &coefficients)?;
            gpu.inverse_in_place(&mut place).map_err(fail)?;
            same("inverse in place", &place, &expected)?;
            if T::KIND.domain() == Domain::Real {
                let mut wanted = vec![T::default(); count];
                cpu.adjoint(&coefficients, &mut wanted).map_err(fail)?;
                gpu.adjoint(&coefficients, &mut place).map_err(fail)?;
                same("adjoint", &place, &wanted)?;
                cpu.inverse_adjoint(&data, &mut wanted).map_err(fail)?;
                gpu.inverse_adjoint(&data, &mut place).map_err(fail)?;
                same("adjoint of the inverse", &place, &wanted)?;
            }
        }
    }
    Ok(())
}

/// The comparisons on device slices, and as graphs on their addresses.
fn on_device<T: Sample + DeviceRepr>(
    cpu: &Plan<T>,
    plan: &CudaPlan<T>,
    data: &[T],
    coefficients: &[T],
    back: &[T],
) -> Result<(), String> {
    let fail = |e: PlanError| e.to_string();
    let driver = |e: DriverError| e.to_string();
    let stream = plan.device().new_stream().map_err(|e| e.to_string())?;
    let mut workspace = plan.workspace(&stream).map_err(fail)?;
    let source = stream.clone_htod(data).map_err(driver)?;
    let mut middle = stream.clone_htod(&samples::<T>(coefficients.len())).map_err(driver)?;
    let mut target = stream.clone_htod(&samples::<T>(back.len())).map_err(driver)?;
    plan.forward(&stream, &source, &mut middle, &mut workspace).map_err(fail)?;
    plan.inverse(&stream, &middle, &mut target, &mut workspace).map_err(fail)?;
    same("forward on the device", &stream.clone_dtoh(&middle).map_err(driver)?, coefficients)?;
    same("inverse on the device", &stream.clone_dtoh(&target).map_err(driver)?, back)?;

    if T::KIND.domain() == Domain::Real {
        let mut workspace = plan.adjoint_workspace(&stream).map_err(fail)?;
        let (mut wanted, mut gradient) = (vec![T::default(); data.len()], stream.clone_htod(back).map_err(driver)?);
        cpu.adjoint(coefficients, &mut wanted).map_err(fail)?;
        plan.adjoint(&stream, &middle, &mut gradient, &mut workspace).map_err(fail)?;
        same("adjoint on the device", &stream.clone_dtoh(&gradient).map_err(driver)?, &wanted)?;
        cpu.inverse_adjoint(data, &mut wanted).map_err(fail)?;
        plan.inverse_adjoint(&stream, &source, &mut gradient, &mut workspace).map_err(fail)?;
        same("adjoint of the inverse on the device", &stream.clone_dtoh(&gradient).map_err(driver)?, &wanted)?;
    }

    let junk = samples::<T>(coefficients.len());
    stream.memcpy_htod(&junk, &mut middle).map_err(driver)?;
    stream.memcpy_htod(&junk[..back.len().min(junk.len())], &mut target).map_err(driver)?;
    let (from, through, to) =
        (source.device_ptr(&stream).0, middle.device_ptr_mut(&stream).0, target.device_ptr_mut(&stream).0);
    // SAFETY: three arrays of the plan's sizes, used by this stream alone and alive until it is synchronised.
    unsafe {
        let mut forward = plan.graph(Transform::Forward, &stream, from, through, &mut workspace).map_err(fail)?;
        let inverse = Transform::Inverse { level: 0 };
        let mut inverse = plan.graph(inverse, &stream, through, to, &mut workspace).map_err(fail)?;
        forward.launch(&stream).map_err(|e| e.to_string())?;
        inverse.launch(&stream).map_err(|e| e.to_string())?;
        stream.synchronize().map_err(driver)?;
    }
    same("forward as a graph", &stream.clone_dtoh(&middle).map_err(driver)?, coefficients)?;
    same("inverse as a graph", &stream.clone_dtoh(&target).map_err(driver)?, back)
}
