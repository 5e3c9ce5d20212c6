//! GPU conformance: plans on a CUDA device equal plans on the CPU, bit for bit.
//!
//! Cases are wavelets × border rules × sample types × directions × layouts × schedules over awkward sizes, from host
//! memory, from device memory, and as graphs; arrays beyond 2³¹ bytes and samples; and faults.
//!
//! `gpu-conformance [SECONDS] [--device cuda|interpreter]` stops starting new cases after that time (default 300) and
//! counts those left out. It prints the first differences and counts; the exit code is 1 if any case failed.
//! `gpu-conformance faults` provokes device faults instead; `gpu-conformance ir` runs the IR's own suite, compiled by
//! nvcc.
//!
//! The order of cases gives broad coverage early: one of everything, the rest of the catalogue, large sizes, then the
//! full product.

mod compare;
mod faults;
mod huge;

use lifting::cuda::cudarc::driver::DeviceRepr;
use lifting::{Boundary, Device, Domain, Layout, Plan, PlanError, Sample, SampleType, Schedule, Scheme, bf16, f16};
use lifting_tests::wavelet;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The extent of a case.
#[derive(Clone)]
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

/// Representative sizes.
fn few() -> Vec<Size> {
    vec![
        size(&[53, 67], 3),
        Size { origins: vec![1, -3], order: vec![0, 1], ..size(&[38, 130], 2) },
        size(&[1025], 4),
        size(&[22, 26, 132], 2),
        Size { levels: vec![2, 2, 0], order: vec![1, 0], ..size(&[40, 36, 3], 0) },
    ]
}

/// Sizes that are even at each level, as the periodic rule requires; the last is too long for one block to hold.
fn even() -> Vec<Size> {
    vec![
        size(&[96, 64], 3),
        size(&[1024, 768], 3),
        size(&[4096], 4),
        Size { levels: vec![0, 2, 1], origins: vec![0, -2, 1], order: vec![2, 1], ..size(&[3, 40, 34], 0) },
        size(&[40, 24, 56], 2),
        size(&[65_536, 8], 2),
    ]
}

/// Sizes that fit one warp, many warps, and none exactly.
fn small() -> Vec<Size> {
    let mut sizes: Vec<Size> = (1..=70).map(|n| size(&[n, 1 + n * 37 % 70], 3)).collect();
    sizes.extend((1..=70).step_by(3).map(|n| Size {
        origins: vec![1, -3],
        order: vec![0, 1],
        ..size(&[n, 71 - n], 2)
    }));
    sizes.extend([1, 2, 3, 31, 32, 33, 1023, 1024, 1025, 4097].map(|n| size(&[n], 4)));
    sizes.push(size(&[13, 22, 35], 2));
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
        size(&[96, 200, 264], 2),
        // Batches split into parts, the last of them smaller.
        Size { levels: vec![0, 3, 3], order: vec![2, 1], ..size(&[23, 512, 512], 0) },
        Size { levels: vec![0, 2, 3], order: vec![1, 2], ..size(&[7, 1081, 1920], 0) },
    ]
}

/// One comparison.
struct Case {
    scheme: Scheme,
    sample: SampleType,
    boundary: Boundary,
    layout: Layout,
    schedule: Schedule,
    size: Size,
    /// Wavelet of the innermost axis, unless it is that of the others.
    rows: Option<Scheme>,
}

impl Case {
    fn name(&self) -> String {
        let Size { shape, levels, origins, order } = &self.size;
        let Case { scheme, sample, boundary, layout, schedule, rows, .. } = self;
        format!(
            "{} {sample} {boundary} {layout:?} {schedule} {shape:?} levels {levels:?} origins {origins:?} order {order:?}",
            [Some(scheme), rows.as_ref()].into_iter().flatten().map(Scheme::name).collect::<Vec<_>>().join(",")
        )
    }

    fn plan<T: Sample>(&self, device: &Device, schedule: Schedule) -> Result<Plan<T>, PlanError> {
        let size = &self.size;
        let plan = Plan::builder(&self.scheme).shape(&size.shape).levels_per_axis(&size.levels);
        let plan = match &self.rows {
            Some(rows) => plan.axis_wavelets(size.shape.len() - 1, &[rows]),
            None => plan,
        };
        let plan = plan.axis_order(&size.order).origins(&size.origins).boundary(self.boundary).layout(self.layout);
        plan.schedule(schedule).sample().build(device)
    }

    /// `None` if the transform is not supported; `true` marks a pass over both axes.
    fn run(&self, device: &Device) -> Option<Result<bool, String>> {
        match self.sample {
            SampleType::I16 => self.run_on::<i16>(device),
            SampleType::I32 => self.run_on::<i32>(device),
            SampleType::I64 => self.run_on::<i64>(device),
            SampleType::F16 => self.run_on::<f16>(device),
            SampleType::Bf16 => self.run_on::<bf16>(device),
            SampleType::F32 => self.run_on::<f32>(device),
            SampleType::F64 => self.run_on::<f64>(device),
        }
    }

    fn run_on<T: Sample + DeviceRepr>(&self, device: &Device) -> Option<Result<bool, String>> {
        let cpu = match self.plan::<T>(&Device::cpu_with_threads(1), Schedule::Auto) {
            Ok(plan) => plan,
            // The border rule does not allow this length.
            Err(PlanError::Geometry(_)) => return None,
            Err(e) => return Some(Err(e.to_string())),
        };
        match self.plan::<T>(device, self.schedule) {
            Ok(plan) => {
                let both = plan.recipe().passes.iter().any(|pass| pass.axes.len() == 2);
                Some(compare::compare(&cpu, &plan).map(|()| both))
            }
            // A schedule may refuse; `Auto` never does.
            Err(PlanError::Refused { .. }) if self.schedule != Schedule::Auto => None,
            Err(e) => Some(Err(e.to_string())),
        }
    }
}

fn types(domain: Domain) -> impl Iterator<Item = SampleType> + Clone {
    SampleType::ALL.into_iter().filter(move |t| t.domain() == domain)
}

/// All cases, broadest first: one of everything, and the rest.
fn cases() -> (Vec<Case>, Vec<Case>) {
    let (mut first, mut cases) = (Vec::new(), Vec::new());
    let all = Schedule::all().chain(papers::schedules());
    let schedules: Vec<Schedule> = all.filter(|schedule| schedule.has_lifting_bits()).collect();
    let three = ["dd137", "legall53", "cdf97"].map(wavelet);
    // One of everything: every border rule, type and schedule of three representative wavelets.
    for size in few() {
        for scheme in &three {
            for boundary in Boundary::ALL {
                for sample in types(scheme.domain()) {
                    for &schedule in &schedules {
                        let (scheme, size, layout) = (scheme.clone(), size.clone(), Layout::Mallat);
                        first.push(Case { scheme, sample, boundary, layout, schedule, size, rows: None });
                    }
                }
            }
        }
    }
    // Another wavelet along rows.
    for size in few() {
        for names in [["dd137", "legall53"], ["cdf97", "haar"]] {
            let [scheme, rows] = names.map(wavelet);
            for (b, boundary) in Boundary::ALL.into_iter().enumerate() {
                for (t, sample) in types(scheme.domain()).enumerate() {
                    let layout = if (b + t) % 4 == 0 { Layout::Interleaved } else { Layout::Mallat };
                    let (scheme, rows, size, schedule) =
                        (scheme.clone(), Some(rows.clone()), size.clone(), Schedule::Auto);
                    first.push(Case { scheme, sample, boundary, layout, schedule, size, rows });
                }
            }
        }
    }
    // Lattices, which run stage by stage under the periodic rule.
    let lattices = lifting_dsl::compile(include_str!("orthogonal.lift"));
    for (w, scheme) in lattices.expect("the tests' lattices compile").schemes.into_iter().enumerate() {
        for (i, size) in even().into_iter().enumerate() {
            for &schedule in &schedules {
                let sample = types(scheme.domain()).cycle().nth(w + i).expect("every domain has types");
                let (scheme, size, layout) = (scheme.clone(), size.clone(), Layout::Mallat);
                first.push(Case { scheme, sample, boundary: Boundary::Periodic, layout, schedule, size, rows: None });
            }
        }
    }
    // Larger sizes, cycling through types and schedules.
    for (s, size) in large().into_iter().enumerate() {
        for (w, scheme) in three.iter().enumerate() {
            for (b, boundary) in Boundary::ALL.into_iter().enumerate() {
                let sample = types(scheme.domain()).cycle().nth(s + b).expect("every domain has types");
                let schedule = schedules[(w + b) % schedules.len()];
                let (scheme, size, layout) = (scheme.clone(), size.clone(), Layout::Mallat);
                cases.push(Case { scheme, sample, boundary, layout, schedule, size, rows: None });
            }
        }
    }
    // The rest of the catalogue, pairwise.
    for (w, entry) in lifting_filters::CATALOGUE.iter().enumerate() {
        let scheme = wavelet(entry.name);
        for (i, size) in small().into_iter().enumerate().skip(w % 7).step_by(17) {
            let sample = types(scheme.domain()).cycle().nth(w + i).expect("every domain has types");
            let (scheme, boundary, layout) =
                (scheme.clone(), Boundary::ALL[(w + i) % Boundary::ALL.len()], Layout::Mallat);
            cases.push(Case { scheme, sample, boundary, layout, schedule: Schedule::Auto, size, rows: None });
        }
    }
    // The full product of border rules and types over all sizes, cycling through layouts and schedules.
    for (i, size) in small().into_iter().enumerate() {
        for scheme in &three {
            for (b, boundary) in Boundary::ALL.into_iter().enumerate() {
                for (t, sample) in types(scheme.domain()).enumerate() {
                    let layout = if (i + b + t) % 4 == 0 { Layout::Interleaved } else { Layout::Mallat };
                    let schedule = schedules[(i + b + t) % schedules.len()];
                    let (scheme, size) = (scheme.clone(), size.clone());
                    cases.push(Case { scheme, sample, boundary, layout, schedule, size, rows: None });
                }
            }
        }
    }
    (first, cases)
}

/// Images so large that blocks run in clusters, if the device has them, with unaligned rows, so that blocks are taller.
/// The interpreter would take minutes for each.
fn many_blocks() -> impl Iterator<Item = Case> {
    let (i16, f32) = (("legall53", SampleType::I16), ("cdf97", SampleType::F32));
    let cases = [(i16, [4800, 8192]), (f32, [4800, 8192]), (i16, [5801, 5803]), (f32, [4095, 4097])];
    cases.into_iter().map(|((name, sample), shape)| Case {
        scheme: wavelet(name),
        sample,
        boundary: Boundary::WholeSymmetric,
        layout: Layout::Mallat,
        schedule: Schedule::Auto,
        size: size(&shape, 1),
        rows: None,
    })
}

#[derive(Default)]
struct Report {
    passed: usize,
    failed: usize,
    impossible: usize,
    left_out: usize,
    /// Cases with passes over both axes.
    both: usize,
}

impl Report {
    fn judge(&mut self, what: &str, result: Option<Result<bool, String>>) {
        match result {
            Some(Ok(both)) => {
                self.passed += 1;
                self.both += usize::from(both);
            }
            None => self.impossible += 1,
            Some(Err(reason)) => {
                self.failed += 1;
                if self.failed <= 20 {
                    println!("FAIL {what}: {reason}");
                }
            }
        }
    }
}

/// Runs the cases on several threads: compiling and checking take longer than the device.
fn run(cases: &[Case], device: &Device, until: Instant) -> Report {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(12);
    let (next, report) = (AtomicUsize::new(0), Mutex::new(Report::default()));
    let report_now = || report.lock().unwrap_or_else(|e| e.into_inner());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if Instant::now() > until {
                        report_now().left_out += 1;
                        continue;
                    }
                    let result = case.run(device);
                    report_now().judge(&case.name(), result);
                }
            });
        }
    });
    report.into_inner().unwrap_or_else(|e| e.into_inner())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|a| a == "faults") {
        return faults::main(&args[1..]);
    }
    if args.first().is_some_and(|a| a == "ir") {
        return match lifting_tests::conformance::cuda() {
            Some(cases) => {
                println!("{cases} cases\nPASS");
                ExitCode::SUCCESS
            }
            None => ExitCode::from(2),
        };
    }
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
    let begin = Instant::now();
    let (mut first, rest) = cases();
    if let Device::Cuda(_) = device {
        first.extend(many_blocks());
    }
    let until = begin + Duration::from_secs(seconds);
    let mut report = run(&first, &device, until);
    // Huge cases get a third of the time.
    if let Device::Cuda(device) = &device {
        let third = Instant::now() + Duration::from_secs(seconds / 3);
        for (what, result) in huge::run(device, third.min(until)) {
            match result {
                huge::Outcome::Done(result) => report.judge(&what, Some(result.map(|()| false))),
                huge::Outcome::LeftOut => report.left_out += 1,
            }
        }
    }
    let others = run(&rest, &device, until);
    let passed = report.passed + others.passed;
    let failed = report.failed + others.failed;
    println!("{} cases with passes over both axes", report.both + others.both);
    let (left_out, impossible) = (report.left_out + others.left_out, report.impossible + others.impossible);
    println!(
        "{passed} passed, {failed} failed, {impossible} unsupported by plans, {left_out} out of time; {:.0} s",
        begin.elapsed().as_secs_f64()
    );
    println!("{}", if failed == 0 && passed > 0 { "PASS" } else { "FAIL" });
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
