//! Whether plans on a CUDA device give what plans on the CPU give, bit for bit: wavelets × border rules × sample types ×
//! directions × layouts over awkward sizes, from host memory, from device memory, and as graphs.
//!
//! `gpu-conformance [SECONDS] [--device cuda|interpreter]`: stops starting new cases after that time (300) and says how many were left out. Prints the first
//! differences and counts; the exit code is 1 if anything failed.

use lifting::cuda::cudarc::driver::{DevicePtr, DevicePtrMut, DeviceRepr, DriverError};
use lifting::cuda::{CudaPlan, Transform};
use lifting::{Boundary, Device, Domain, Layout, Plan, PlanError, Sample, Schedule, Scheme, bf16, f16};
use lifting_tests::random::Random;
use lifting_tests::wavelet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The extent of a case; border rule and layout come beside it.
struct Size {
    shape: Vec<usize>,
    levels: Vec<u32>,
    origins: Vec<i64>,
    order: Vec<usize>,
}

fn size(shape: &[usize], levels: u32) -> Size {
    Size {
        shape: shape.to_vec(),
        levels: vec![levels; shape.len()],
        origins: vec![0; shape.len()],
        order: (0..shape.len()).rev().collect(),
    }
}

/// Sizes that fit one warp, many, and none exactly; the first are quick.
fn small() -> Vec<Size> {
    let mut sizes: Vec<Size> = (1..=70).map(|n| size(&[n, 1 + n * 37 % 70], 3)).collect();
    sizes.extend((1..=70).step_by(3).map(|n| Size {
        origins: vec![1, -3],
        order: vec![0, 1],
        ..size(&[n, 71 - n], 2)
    }));
    sizes.extend([1, 2, 3, 31, 32, 33, 1023, 1024, 1025, 4097].map(|n| size(&[n], 4)));
    sizes.push(size(&[13, 22, 35], 2));
    sizes.push(Size { levels: vec![2, 2, 0], order: vec![1, 0], ..size(&[40, 36, 3], 0) });
    sizes.push(Size { levels: vec![0, 2, 3], order: vec![2, 1], ..size(&[5, 48, 56], 0) });
    sizes
}

fn large() -> Vec<Size> {
    vec![
        size(&[1921, 1081], 5),
        size(&[1, 100_000], 3),
        size(&[100_000, 1], 3),
        size(&[1080, 1920], 3),
        size(&[257, 257, 257], 2),
        // Batches that go in parts, the last of them smaller.
        Size { levels: vec![0, 3, 3], order: vec![2, 1], ..size(&[23, 512, 512], 0) },
        Size { levels: vec![0, 2, 3], order: vec![1, 2], ..size(&[7, 1081, 1920], 0) },
    ]
}

struct Report {
    until: Instant,
    device: Device,
    passed: usize,
    failed: usize,
    left_out: usize,
    /// Cases with passes over both axes.
    both: usize,
}

impl Report {
    fn judge(&mut self, what: impl FnOnce() -> String, result: Result<(), String>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(reason) => {
                self.failed += 1;
                if self.failed <= 20 {
                    println!("FAIL {}: {reason}", what());
                }
            }
        }
    }
}

/// Random samples, all bits of integers.
fn samples<T: Sample>(count: usize) -> Vec<T> {
    let mut random = Random::new(count as u64);
    let integer = T::KIND.domain() == Domain::Integer;
    // Small enough that three levels of the boldest wavelet stay finite in f16.
    let sample = |bits: i64| if integer { bits } else { bits % 64 };
    (0..count).map(|_| <T as lifting_dsl::sample::Sample>::from_i64(sample(random.bits() as i64))).collect()
}

/// Compares bit for bit: −0.0 is not 0.0. One NaN is as good as another.
fn same<T: Sample>(what: &str, got: &[T], expected: &[T]) -> Result<(), String> {
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

fn case<T: Sample + DeviceRepr>(report: &mut Report, scheme: &Scheme, size: &Size, boundary: Boundary, layout: Layout) {
    if Instant::now() > report.until {
        report.left_out += 1;
        return;
    }
    let build = |device: &Device, schedule| -> Result<Plan<T>, PlanError> {
        let plan = Plan::builder(scheme).shape(&size.shape).levels_per_axis(&size.levels).axis_order(&size.order);
        plan.origins(&size.origins).boundary(boundary).layout(layout).schedule(schedule).sample().build(device)
    };
    let cpu = match build(&Device::cpu(), Schedule::Auto) {
        Ok(plan) => plan,
        // The border rule does not take this length.
        Err(PlanError::Geometry(_)) => return,
        Err(e) => return report.judge(|| scheme.name().into(), Err(e.to_string())),
    };
    // What plans choose themselves, and now and then one pass an axis.
    let schedule = if (report.passed + report.failed) % 4 == 3 { Schedule::Separate } else { Schedule::Auto };
    let gpu = build(&report.device, schedule).map_err(|e| e.to_string());
    report.both += usize::from(gpu.as_ref().is_ok_and(|p| p.recipe().passes.iter().any(|p| p.axes.len() == 2)));
    let result = gpu.and_then(|gpu| compare(&cpu, &gpu));
    report.judge(
        || {
            let Size { shape, levels, origins, order } = size;
            let name = scheme.name();
            format!(
                "{name} {} {boundary} {layout:?} {schedule} {shape:?} levels {levels:?} origins {origins:?} order {order:?}",
                T::KIND
            )
        },
        result,
    );
}

fn compare<T: Sample + DeviceRepr>(cpu: &Plan<T>, gpu: &Plan<T>) -> Result<(), String> {
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

/// The same on device slices, and as graphs on their addresses.
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
    // SAFETY: three arrays of the plan's sizes, used by this stream alone and alive until it has been waited for.
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

fn every_type(report: &mut Report, scheme: &Scheme, size: &Size, boundary: Boundary, layout: Layout, types: &[usize]) {
    for kind in types {
        match (scheme.domain(), kind % 4) {
            (Domain::Integer, 0) => case::<i16>(report, scheme, size, boundary, layout),
            (Domain::Integer, 1) => case::<i32>(report, scheme, size, boundary, layout),
            (Domain::Integer, 2) => case::<i64>(report, scheme, size, boundary, layout),
            // There are three integer types.
            (Domain::Integer, _) => {}
            (Domain::Real, 0) => case::<f32>(report, scheme, size, boundary, layout),
            (Domain::Real, 1) => case::<f64>(report, scheme, size, boundary, layout),
            (Domain::Real, 2) => case::<f16>(report, scheme, size, boundary, layout),
            (Domain::Real, _) => case::<bf16>(report, scheme, size, boundary, layout),
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = args.iter().find_map(|a| a.parse().ok()).unwrap_or(300);
    let device = if args.iter().any(|a| a == "interpreter") { Ok(Device::Interpreter) } else { Device::cuda(0) };
    let device = match device {
        Ok(device) => device,
        Err(e) => {
            eprintln!("gpu-conformance: {e}");
            return ExitCode::from(2);
        }
    };
    println!("device: {device}");
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut report = Report { until, device, passed: 0, failed: 0, left_out: 0, both: 0 };

    // The three that stand for all: every border rule over every size; types and layouts in turn.
    let three = ["dd137", "legall53", "cdf97"].map(wavelet);
    for scheme in &three {
        for (b, boundary) in Boundary::ALL.into_iter().enumerate() {
            for (i, size) in small().iter().enumerate() {
                let layout = if (i + b) % 4 == 0 { Layout::Interleaved } else { Layout::Mallat };
                every_type(&mut report, scheme, size, boundary, layout, &[i + b]);
            }
            for size in large().iter() {
                every_type(&mut report, scheme, size, boundary, Layout::Mallat, &[b]);
            }
        }
    }
    // The rest of the catalogue, pairwise.
    for (w, entry) in lifting_filters::CATALOGUE.iter().enumerate() {
        let scheme = wavelet(entry.name);
        for (i, size) in small().iter().enumerate().skip(w % 7).step_by(17) {
            every_type(&mut report, &scheme, size, Boundary::ALL[(w + i) % 4], Layout::Mallat, &[w + i]);
        }
    }
    let Report { passed, failed, left_out, both, .. } = report;
    println!("{both} cases with passes over both axes");
    println!("{passed} passed, {failed} failed, {left_out} left out for want of time");
    println!("{}", if failed == 0 && passed > 0 { "PASS" } else { "FAIL" });
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
