//! Emitted CUDA files launch the same kernels as plans: their host functions, compiled by g++ against a mock runtime
//! that logs launches, are compared with the program.

mod support;

use lifting_codegen::emit::{Request, sample_type};
use lifting_codegen::ir::ParamKind;
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Scheme};
use lifting_planner::emit::{File, Fixed, declarations, fixed};
use lifting_planner::{Arg, Array, Extent, Launch, List, Machine, Problem, Program, Region, Regions, Schedule, Tuning};
use lifting_planner::{contiguous, scalar_of};
use std::fmt::Write as _;
use support::{BANDS, DEVICES, Device, SCRATCH, SIGNAL, launched, logged, wavelet};

/// Name, sample type, shape, levels along each axis, extra samples of the row pitch, order of axes.
struct Case {
    wavelet: &'static str,
    sample: SampleType,
    shape: &'static [usize],
    levels: &'static [u32],
    apart: usize,
    rows_last: bool,
}

const fn case(wavelet: &'static str, sample: SampleType, shape: &'static [usize], levels: &'static [u32]) -> Case {
    Case { wavelet, sample, shape, levels, apart: 0, rows_last: false }
}

impl Case {
    fn fixed(&self, name: &str) -> Fixed {
        let rank = self.shape.len();
        let axes = (0..rank).filter(|&axis| self.levels[axis] > 0);
        let order: Vec<usize> = if self.rows_last { axes.collect() } else { axes.rev().collect() };
        let geometry = Geometry::new(self.shape, &vec![0; rank], self.levels, &order).expect("it is legal");
        let problem = Problem::new(wavelet(self.wavelet), geometry);
        let mut wide = self.shape.to_vec();
        wide[rank - 1] += self.apart;
        let strides = contiguous(&wide);
        Fixed { name: name.into(), sample: self.sample, problem, data: strides.clone(), coefficients: strides }
    }
}

/// Offsets of the workspace parts that the two lists use, and the total size.
fn scratch(program: &Program) -> ([usize; Region::COUNT], usize) {
    let mut used = Regions::default();
    for arg in program.forward.launches.iter().chain(&program.inverse[0].launches).flat_map(|launch| &launch.args) {
        if let Arg::Pointer(Array::Scratch(region), _) = arg {
            used.0[region.index()] = program.regions.0[region.index()];
        }
    }
    used.layout().expect("it can be addressed")
}

/// A launch in the format of the mock's log.
fn line(program: &Program, launch: &Launch, forward: bool, able: u32) -> String {
    let made = &program.kernels[launch.kernel];
    let (starts, _) = scratch(program);
    let address = |array: Array| match (array, forward) {
        (Array::Source, true) | (Array::Target, false) => SIGNAL,
        (Array::Source, false) | (Array::Target, true) => BANDS,
        (Array::Scratch(region), _) => SCRATCH + starts[region.index()] as u64,
    };
    let mut values: Vec<(u64, usize)> = (launch.args.iter().zip(&made.kernel.params))
        .map(|(arg, param)| match (*arg, param.kind) {
            (Arg::Int(v), ParamKind::Scalar(s)) => (v as u64, s.bytes()),
            (Arg::Pointer(array, offset), ParamKind::Pointer(s, _)) => {
                (address(array).wrapping_add_signed(offset * s.bytes() as i64), 8)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    if let (Some(placed), Some(fit)) = (&launch.placed, &made.fit) {
        let settled = placed.arguments(&**fit, address).expect("the arrays are aligned");
        values[placed.at].0 = settled[0] as u64;
        values[placed.at + 1].0 = settled[1] as u64;
    }
    let mask = |(value, bytes): &(u64, usize)| if *bytes == 8 { *value } else { value & ((1 << (8 * bytes)) - 1) };
    let values: Vec<String> = values.iter().map(|value| format!("{:x}", mask(value))).collect();
    let three = |n: [u32; 3]| format!("{} {} {}", n[0], n[1], n[2]);
    let overlaps = able >= 1 && launch.overlaps;
    // No launch both overlaps and has a cluster.
    let cluster = if able >= 2 { launch.cluster } else { 1 };
    format!(
        "{} [{}] [{}] {} {cluster}: {}\n",
        made.kernel.name,
        three(launch.grid),
        three(made.kernel.launch.block),
        u8::from(overlaps),
        values.join(" ")
    )
}

/// Functions for one shape launch the program's launches, in order, argument by argument.
#[test]
fn fixed_shapes_launch_like_programs() {
    use SampleType::{F32, F64, I16, I32};
    let cases = [
        case("legall53", I16, &[1080, 1920], &[3, 3]),
        case("legall53", I16, &[8192, 8192], &[1, 1]),
        case("legall53", I16, &[4096, 4096], &[5, 5]),
        case("legall53", I16, &[1081, 1921], &[3, 3]),
        Case { apart: 15, ..case("legall53", I16, &[2047, 2049], &[4, 4]) },
        Case { rows_last: true, ..case("legall53", I16, &[512, 768], &[5, 5]) },
        case("legall53", I16, &[64, 270, 480], &[0, 2, 2]),
        case("legall53", I16, &[480, 640, 3], &[3, 3, 0]),
        case("legall53", I32, &[1, 7], &[2, 2]),
    ];
    held(&cases, "legall53");
    let cases = [
        case("cdf97", F32, &[8192, 8192], &[5, 5]),
        case("cdf97", F32, &[8192, 8192], &[1, 1]),
        case("cdf97", F32, &[2048, 2048], &[5, 5]),
        case("cdf97", F32, &[64, 64], &[4, 4]),
        case("cdf97", F32, &[128, 128, 128], &[2, 2, 2]),
        case("cdf97", F32, &[1 << 20], &[3]),
        case("cdf97", F64, &[300, 300], &[2, 2]),
    ];
    held(&cases, "cdf97");
    held(&[case("db4", F32, &[512, 512], &[3, 3]), case("db4", F32, &[12, 1000, 4], &[0, 2, 0])], "db4");
}

/// A file with functions for cases, its prototypes, and the transforms with their programs.
struct Written {
    file: File,
    prototypes: String,
    transforms: Vec<(Fixed, Program)>,
}

fn written(cases: &[Case], scheme: &Scheme) -> Written {
    let tuning = Tuning::new(Schedule::Auto, Machine::default(), String::new());
    let transforms: Vec<Fixed> = cases.iter().enumerate().map(|(i, case)| case.fixed(&format!("c{i}"))).collect();
    let mut samples: Vec<_> = cases.iter().map(|case| scalar_of(case.sample)).collect();
    samples.dedup();
    let request = Request {
        scheme,
        boundary: scheme.boundary(),
        samples: &samples,
        gain: false,
        profile: None,
        prefix: None,
        command: "test",
    };
    let file = fixed(&request, &transforms, &tuning).expect("there are programs");
    let prototypes = declarations(&request, &transforms, &tuning).expect("there are programs");
    let prototypes = lifting_codegen::emit::header_with(&request, &[], &prototypes);
    let with_program = |fixed: Fixed| {
        let Fixed { sample, problem, data, coefficients, .. } = &fixed;
        assert_eq!((problem.layout, problem.boundary), (Layout::Mallat, scheme.boundary()));
        let mut program = Program::new(problem, *sample, data, coefficients, &tuning).expect("there is a program");
        let samples = problem.geometry.shape().iter().product();
        program.arrange(Extent::of(samples, None, &tuning.machine), &tuning.machine).expect("kernels are valid");
        (fixed, program)
    };
    Written { file, prototypes, transforms: transforms.into_iter().map(with_program).collect() }
}

/// A line of the mock with the kernel's name in its program: in the file, kernels with several overlaps have a numeric
/// suffix.
fn plain(file: &File, line: &str) -> String {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let kernel = file.kernels.iter().find(|(n, ..)| logged(n) == name).map_or(name, |(_, kernel, _)| &kernel.name);
    format!("{kernel} {rest}").trim_end().to_owned()
}

/// Compares the logs of calls with the expected ones on each device.
fn compare(file: &File, found: &[String], expected: &[String]) {
    for ((found, expected), device) in found.iter().zip(expected).zip(DEVICES) {
        for (i, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(plain(file, found), expected, "line {i} on {device:?}");
        }
        assert_eq!(found.lines().count(), expected.lines().count(), "{device:?}");
    }
}

fn held(cases: &[Case], wavelet_name: &str) {
    let scheme = wavelet(wavelet_name);
    let Written { file, prototypes, transforms } = written(cases, &scheme);
    let (mut calls, mut expected) = (String::new(), vec![String::new(); DEVICES.len()]);
    for (Fixed { name, sample, .. }, program) in &transforms {
        let (_, bytes) = scratch(program);
        let (s, t) = (sample.name(), sample_type(scalar_of(*sample)));
        let function = |what: &str| format!("{wavelet_name}_cuda_{what}_{name}_{s}");
        let _ = writeln!(calls, "    printf(\"%zu\\n\", {}());", function("scratch_bytes"));
        expected.iter_mut().for_each(|text| *text += &format!("{bytes}\n"));
        for (forward, way, list) in [(true, "forward", &program.forward), (false, "inverse", &program.inverse[0])] {
            let arrays = if forward { [SIGNAL, BANDS] } else { [BANDS, SIGNAL] };
            let call = |arrays: [u64; 2], scratch: u64| {
                let [from, to] = arrays;
                format!("{}((const {t} *){from}ull, ({t} *){to}ull, (void *){scratch}ull, NULL)", function(way))
            };
            let upper = wavelet_name.to_uppercase();
            let _ = writeln!(calls, "    failed |= {} != {upper}_OK;", call(arrays, SCRATCH));
            let _ =
                writeln!(calls, "    failed |= {} != {upper}_MISALIGNED;", call([arrays[0] + 8, arrays[1]], SCRATCH));
            let _ =
                writeln!(calls, "    failed |= {} != {upper}_MISALIGNED;", call([arrays[0], arrays[1] + 4], SCRATCH));
            let _ = writeln!(calls, "    failed |= {} != {upper}_NULL;", call([0, arrays[1]], SCRATCH));
            if bytes > 0 {
                let _ = writeln!(calls, "    failed |= {} != {upper}_NULL;", call(arrays, 0));
            }
            for (text, Device { able, .. }) in expected.iter_mut().zip(DEVICES) {
                text.extend(list.launches.iter().map(|launch| line(program, launch, forward, able)));
            }
            for part in [way, "scratch_bytes"].map(function) {
                assert!(prototypes.contains(&format!("{part}(")), "{part}: {prototypes}");
            }
        }
    }
    let found = launched(&format!("fixed-{wavelet_name}"), &file, &DEVICES, &calls);
    compare(&file, &found, &expected);
    let some = |list: &List, is: fn(&Launch) -> bool| list.launches.iter().any(is);
    let all = || transforms.iter().flat_map(|(_, p)| [&p.forward, &p.inverse[0]]);
    assert!(all().any(|list| some(list, |launch| launch.overlaps)), "some launch overlaps");
    assert!(
        scheme.boundary() == Boundary::Periodic || all().any(|list| some(list, |launch| launch.cluster > 1)),
        "some cluster"
    );
}

/// Expected log of a list that is recorded after `caller` nodes of the caller.
fn graph(program: &Program, list: &List, forward: bool, device: Device, caller: usize) -> String {
    let mut text = String::new();
    // Nodes and their ports.
    let mut before: Vec<(usize, usize)> = (1..=caller).map(|n| (n, usize::from(n == 1))).collect();
    let after = |nodes: &[(usize, usize)]| -> String { nodes.iter().map(|(n, port)| format!(" {n}:{port}")).collect() };
    let (mut next, mut was_parallel) = (caller + 1, false);
    for group in list.launches.chunk_by(|_, next| next.beside_previous) {
        let parallel = device.version >= 13000 && group.len() > 1 && before.len() <= 8;
        let mut nodes = Vec::new();
        for launch in group {
            let launch = Launch { overlaps: launch.overlaps && !parallel && !was_parallel, ..launch.clone() };
            let line = line(program, &launch, forward, device.able);
            text += &format!("{} after{}\n", line.trim_end(), after(&before));
            nodes.push((next, 0));
            if !parallel {
                before = vec![(next, 0)];
            }
            next += 1;
        }
        if parallel {
            before = nodes;
        }
        was_parallel = parallel;
    }
    text + &format!("end after{}\n", after(&before))
}

/// In a recorded graph, independent launches are parallel as in a plan's graph, between the caller's earlier and later
/// nodes. Before CUDA 13 all launches form a chain, and so do those after too many nodes.
#[test]
fn graphs_have_the_edges_of_plans() {
    use SampleType::I16;
    let cases = [
        case("dd137", I16, &[512, 512, 512], &[3, 3, 3]),
        case("dd137", I16, &[1080, 1920], &[3, 3]),
        case("dd137", I16, &[480, 640, 3], &[3, 3, 0]),
    ];
    let scheme = wavelet("dd137");
    let Written { file, transforms, .. } = written(&cases, &scheme);
    let (mut calls, mut expected) = (String::new(), vec![String::new(); DEVICES.len()]);
    for (Fixed { name, .. }, program) in &transforms {
        for (forward, way, list) in [(true, "forward", &program.forward), (false, "inverse", &program.inverse[0])] {
            let [from, to] = if forward { [SIGNAL, BANDS] } else { [BANDS, SIGNAL] };
            for caller in [0, 1, 3, 9] {
                let _ = writeln!(
                    calls,
                    "    mock_record({caller});\n    failed |= dd137_cuda_{way}_{name}_i16((const int16_t *){from}ull, \
                     (int16_t *){to}ull, (void *){SCRATCH}ull, NULL) != DD137_OK;\n    mock_end();"
                );
                for (text, device) in expected.iter_mut().zip(DEVICES) {
                    *text += &graph(program, list, forward, device, caller);
                }
            }
        }
    }
    compare(&file, &launched("graphs", &file, &DEVICES, &calls), &expected);
    let beside = |list: &List| list.launches.iter().skip(1).any(|launch| launch.beside_previous);
    let lists = || transforms.iter().flat_map(|(_, program)| [&program.forward, &program.inverse[0]]);
    assert!(lists().any(beside), "some launches run in parallel");
    assert!(!lists().all(beside), "some lists are chains");
}
