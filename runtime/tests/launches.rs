//! Launches of plans, run by the kernel interpreter and compared with the oracle, bit for bit: every border rule,
//! layout, origin, order of axes, number of levels and sample type, both directions, in place and out of place.

use crate::support::{self, lattices, noise, scheme};
use lifting::{Boundary, Device, Domain, Format, Layout, Pad, Plan, PlanError, Sample, Schedule, Scheme, bf16, f16};
use lifting_codegen::schedule::Extent;
use lifting_dsl::geometry::Geometry;
use lifting_dsl::oracle::Transform;

#[derive(Clone, Debug)]
struct Case {
    shape: Vec<usize>,
    levels: Vec<u32>,
    order: Vec<usize>,
    origins: Vec<i64>,
    boundary: Boundary,
    layout: Layout,
}

impl Case {
    fn new(shape: &[usize], levels: &[u32], order: &[usize], origins: &[i64]) -> Case {
        Case {
            shape: shape.to_vec(),
            levels: levels.to_vec(),
            order: order.to_vec(),
            origins: origins.to_vec(),
            boundary: Boundary::WholeSymmetric,
            layout: Layout::Mallat,
        }
    }
}

/// Elements of a box within an array, row-major.
fn within<T: Sample>(data: &[T], whole: &[usize], offset: &[usize], shape: &[usize], step: &[usize]) -> Vec<T> {
    (0..shape.iter().product())
        .map(|mut index| {
            let (mut at, mut stride) = (0, 1);
            for axis in (0..shape.len()).rev() {
                at += (offset[axis] + index % shape[axis] * step[axis]) * stride;
                index /= shape[axis];
                stride *= whole[axis];
            }
            data[at]
        })
        .collect()
}

/// Checks one pass an axis, and the planner's choice: at these sizes both axes at once, if possible. It also checks the
/// schedules for two axes in rotation, and all others that fit the case.
fn check<T: Sample>(scheme: &Scheme, case: &Case) {
    check_with::<T>(scheme, case, Schedule::Separate);
    check_with::<T>(scheme, case, Schedule::Auto);
    let turn = case.shape.iter().sum::<usize>() + case.boundary as usize;
    let of = |extent| Schedule::all().filter(move |schedule| schedule.extent() == Some(extent));
    let turns: Vec<Schedule> = of(Extent::Plane).chain([Schedule::Shared]).collect();
    check_with::<T>(scheme, case, turns[turn % turns.len()]);
    let others: &[Extent] =
        if case.order.len() > 2 { &[Extent::Volume] } else { &[Extent::TwoLevels, Extent::AllLevels] };
    for schedule in others.iter().flat_map(|extent| of(*extent)) {
        check_with::<T>(scheme, case, schedule);
    }
}

/// Returns the number of passes over two or three axes.
fn check_with<T: Sample>(scheme: &Scheme, case: &Case, schedule: Schedule) -> usize {
    let Case { shape, levels, order, origins, boundary, layout } = case;
    let geometry = Geometry::new(shape, origins, levels, order).unwrap();
    if geometry.check_boundary(*boundary).is_err() {
        return 0;
    }
    let what = format!("{} on {}: {case:?} {schedule}", scheme.name(), T::KIND);
    let plan = Plan::builder(scheme)
        .shape(shape)
        .levels_per_axis(levels)
        .axis_order(order)
        .origins(origins)
        .boundary(*boundary)
        .layout(*layout)
        .schedule(schedule)
        .sample::<T>()
        .build(&Device::Interpreter);
    let plan = match plan {
        Err(PlanError::Refused { schedule: Schedule::Launch(_) | Schedule::Lattice, .. }) => return 0,
        plan => plan.unwrap_or_else(|e| panic!("{what}: {e}")),
    };
    let n = shape.iter().product();
    let data: Vec<T> = noise(n, n as u64);
    let oracle = Transform { boundary: *boundary, layout: *layout, ..Transform::new(scheme.clone(), geometry.clone()) };
    let mut expected = data.clone();
    oracle.forward(&mut expected).unwrap();

    let mut coefficients = vec![T::default(); n];
    plan.forward(&data, &mut coefficients).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(coefficients, expected, "forward, {what}");
    let mut in_place = data.clone();
    plan.forward_in_place(&mut in_place).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(in_place, expected, "in place, {what}");

    for level in 0..=plan.depth() {
        let mut whole = expected.clone();
        oracle.inverse_to(level, &mut whole).unwrap();
        let low = geometry.low_band(level, *layout);
        let mut out = vec![T::default(); low.shape.iter().product()];
        plan.inverse_to(level, &coefficients, &mut out).unwrap_or_else(|e| panic!("{what}: {e}"));
        let wanted = within(&whole, shape, &low.offset, &low.shape, &low.step);
        assert_eq!(out, wanted, "inverse to {level}, {what}");
    }
    let mut whole = expected;
    oracle.inverse(&mut whole).unwrap();
    plan.inverse_in_place(&mut in_place).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(in_place, whole, "inverse in place, {what}");
    if scheme.domain() == Domain::Integer {
        assert_eq!(in_place, data, "lossless, {what}");
    }
    plan.recipe().passes.iter().filter(|p| p.axes.len() > 1).count()
}

/// Whether `LIFTING_FULL=1`: run every case instead of a selection.
fn full() -> bool {
    std::env::var_os("LIFTING_FULL").is_some_and(|v| v == "1")
}

/// Cases common to all tests of plans, each with a turn that differs between the border rules of a geometry and between
/// geometries.
fn cases() -> impl Iterator<Item = (usize, Case)> {
    let case = |((shape, levels, order, origins), boundary, layout): support::Case| Case {
        boundary,
        layout,
        ..Case::new(shape, levels, order, origins)
    };
    let rules = Boundary::ALL.len();
    support::cases().map(case).enumerate().map(move |(i, case)| (i % rules + i / rules, case))
}

/// One of two halves of the cases, or all with `LIFTING_FULL=1`. Each has every geometry under every second border
/// rule, every border rule in half the geometries, and both layouts. Two wavelets of a kind take a half each.
fn half(which: usize) -> impl Iterator<Item = (usize, Case)> {
    let (all, rules) = (full(), Boundary::ALL.len());
    let cases = cases().enumerate().filter(move |(i, _)| all || (i / rules / 2 + i % rules) % 2 == which);
    cases.map(|(_, case)| case)
}

#[test]
fn integers() {
    for (which, name) in ["dd137", "legall53"].into_iter().enumerate() {
        let scheme = scheme(name);
        for (_, case) in half(which) {
            check::<i16>(&scheme, &case);
        }
    }
    for (turn, case) in half(0) {
        match turn % 4 {
            0 => check::<i32>(&scheme("fidelity"), &case),
            1 => check::<i64>(&scheme("dd137"), &case),
            2 => check::<i32>(&scheme("haar_vc2_0"), &case),
            _ => check::<i64>(&scheme("daubechies97"), &case),
        }
    }
}

#[test]
fn reals() {
    for (_, case) in half(0) {
        check::<f32>(&scheme("cdf97"), &case);
    }
    for (turn, case) in half(1) {
        match turn % 3 {
            0 => check::<f64>(&scheme("cdf97"), &case),
            1 => check::<f64>(&scheme("cdf3_5"), &case),
            _ => check::<f32>(&scheme("cdf2_4"), &case),
        }
    }
}

/// Rows long enough for warps to take several strips at once, but not a multiple of them.
#[test]
fn long_rows() {
    for (i, boundary) in Boundary::ALL.into_iter().enumerate() {
        let line = Case { boundary, ..Case::new(&[5000], &[2], &[0], &[0]) };
        let rows = Case { boundary, ..Case::new(&[3, 4496], &[0, 1], &[1], &[0, 0]) };
        for case in [line, rows] {
            check_with::<f32>(&scheme("cdf97"), &case, Schedule::Separate);
            check_with::<i16>(&scheme(["dd137", "legall53"][i % 2]), &case, Schedule::Separate);
            check_with::<f64>(&scheme("cdf2_4"), &case, Schedule::Separate);
        }
    }
}

/// A schedule takes one type a case; with `LIFTING_FULL=1`, all.
#[test]
fn lattices_equal_the_oracle() {
    for scheme in lattices() {
        for (turn, case) in cases().filter(|(_, case)| case.boundary == Boundary::Periodic) {
            for (i, schedule) in Schedule::all().filter(|schedule| schedule.has_lifting_bits()).enumerate() {
                for (_, check) in [check_with::<f32>, check_with::<f64>, check_with::<bf16>]
                    .into_iter()
                    .enumerate()
                    .filter(|(t, _)| full() || (turn + i) % 3 == *t)
                {
                    check(&scheme, &case, schedule);
                }
            }
            // Vectors are short enough here for blocks that hold them whole.
            assert!(runs_as_lattice::<f32>(&scheme, &case), "{case:?}");
            assert!(runs_as_lattice::<f64>(&scheme, &case), "{case:?}");
            assert!(runs_as_lattice::<bf16>(&scheme, &case), "{case:?}");
        }
    }
}

/// Banks of 4 to 16 taps, on images with room for their halo.
#[test]
fn orthogonal_banks() {
    let text = include_str!("../../lifting-dsl/tests/orthogonal.lift");
    for (i, scheme) in lifting_dsl::compile(text).unwrap().schemes.into_iter().enumerate() {
        for (shape, levels, order) in [(&[48, 128], [2, 2], [1, 0]), (&[80, 96], [3, 3], [0, 1])] {
            let boundary = Boundary::Periodic;
            let case = Case { boundary, ..Case::new(shape, &levels, &order, &[0, 0]) };
            // A schedule takes one image; with `LIFTING_FULL=1`, both.
            let schedules = Schedule::all().filter(|schedule| schedule.has_lifting_bits()).enumerate();
            for (_, schedule) in schedules.filter(|(s, _)| full() || (s + i) % 2 == order[0]) {
                match i % 3 {
                    0 => check_with::<f32>(&scheme, &case, schedule),
                    1 => check_with::<f64>(&scheme, &case, schedule),
                    _ => check_with::<f16>(&scheme, &case, schedule),
                };
            }
            let both = check_with::<f32>(&scheme, &case, Schedule::STREAM);
            assert_eq!(both, *levels.iter().min().unwrap() as usize, "{} {case:?}", scheme.name());
        }
    }
}

/// About half of the border rules, by turns; all with `LIFTING_FULL=1`.
fn some_rules(turn: usize) -> impl Iterator<Item = Boundary> {
    let all = full();
    Boundary::ALL.into_iter().filter(move |boundary| all || (turn + *boundary as usize / 2).is_multiple_of(2))
}

/// Checks three wavelets in five types, one in two forms; returns the number of passes over two or three axes of each.
fn check_types(case: &Case, schedule: Schedule) -> [usize; 6] {
    [
        check_with::<f32>(&scheme("cdf97"), case, schedule),
        check_with::<f64>(&scheme("cdf97"), case, schedule),
        check_with::<i16>(&scheme("legall53"), case, schedule),
        check_with::<i16>(&scheme("dd137"), case, schedule),
        check_with::<i32>(&scheme("dd137"), case, schedule),
        check_with::<bf16>(&scheme("cdf97"), case, schedule),
    ]
}

/// Checks a padded image against the CPU.
fn check_padded(schedule: Schedule) {
    let cdf97 = scheme("cdf97");
    same_as_cpu::<f32>(|device| {
        let schedule = if matches!(device, Device::Interpreter) { schedule } else { Schedule::Auto };
        let plan = Plan::builder(&cdf97).shape(&[41, 101]).levels(3).pad(Pad::Edge).schedule(schedule);
        plan.sample().build(device)
    });
}

/// Two levels in one launch: with further levels below, batch axes, both orders of the axes, both layouts, all types,
/// padded.
#[test]
fn two_levels() {
    let cases = [
        Case::new(&[40, 96], &[2, 2], &[1, 0], &[0, 0]),
        Case::new(&[42, 160], &[3, 3], &[0, 1], &[0, 4]),
        Case::new(&[3, 36, 104], &[0, 4, 4], &[2, 1], &[0, 0, -4]),
        Case { layout: Layout::Interleaved, ..Case::new(&[24, 2, 64], &[2, 0, 2], &[2, 0], &[0, 0, 0]) },
    ];
    for case in &cases {
        for boundary in [Boundary::WholeSymmetric, Boundary::Periodic] {
            let case = &Case { boundary, ..case.clone() };
            let passes = check_types(case, Schedule::CASCADE);
            let levels = *case.levels.iter().max().unwrap() as usize;
            assert!(passes.contains(&(levels - 1)) || boundary == Boundary::Periodic, "{passes:?} passes, {case:?}");
        }
    }
    check_padded(Schedule::CASCADE);
}

/// Reasons that exclude two levels in one launch.
#[test]
fn two_levels_are_refused_with_reasons() {
    let cdf97 = scheme("cdf97");
    let plan = |shape: &[usize], levels: u32| Plan::builder(&cdf97).shape(shape).levels(levels).sample::<f32>();
    for (plan, reason) in [
        (plan(&[64, 64], 1), "the schedule needs two levels, but the plan has one"),
        (plan(&[16, 64, 64], 2), "the first level transforms 3 axes, but the schedule needs two"),
        (plan(&[64, 65], 2), "the width is 65, it must be a multiple of 8"),
        (plan(&[64, 64], 2).origins(&[1, 0]), "the first position along an axis is odd"),
        (plan(&[64, 64], 2).boundary(Boundary::Zero), "steps after which a border is restored: "),
    ] {
        let error = plan.schedule(Schedule::CASCADE).build(&Device::Interpreter).expect_err("it is refused");
        assert!(
            matches!(error, PlanError::Refused { schedule, level: 1, .. } if schedule == Schedule::CASCADE),
            "{error}"
        );
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// All remaining levels in one launch, from the first that is small enough: with larger levels before, batch axes, both
/// orders of the axes, both layouts, any border rule, all types, padded.
#[test]
fn all_remaining_levels() {
    let cases = [
        Case::new(&[40, 64], &[3, 3], &[1, 0], &[0, 0]),
        Case::new(&[84, 160], &[4, 4], &[0, 1], &[0, 16]),
        Case::new(&[5, 24, 32], &[0, 2, 2], &[2, 1], &[0, 8, -4]),
        Case { layout: Layout::Interleaved, ..Case::new(&[24, 2, 16], &[2, 0, 2], &[2, 0], &[0, 0, 0]) },
    ];
    for (i, case) in cases.iter().enumerate() {
        for boundary in some_rules(i) {
            let case = &Case { boundary, ..case.clone() };
            let passes = check_types(case, Schedule::PYRAMID);
            let large = case.shape.iter().filter(|&&n| n > 96).count();
            assert!(passes[2] == 1 + large || boundary == Boundary::Periodic, "{passes:?} passes, {case:?}");
        }
    }
    check_padded(Schedule::PYRAMID);
}

/// Reasons that exclude a level and all later ones from one launch.
#[test]
fn remaining_levels_are_refused_with_reasons() {
    let cdf97 = scheme("cdf97");
    let plan = |shape: &[usize], levels: u32| Plan::builder(&cdf97).shape(shape).levels(levels).sample::<f32>();
    for (plan, reason) in [
        (plan(&[640, 640], 2), "the image is 640×640, a block holds at most 64×64"),
        (plan(&[16, 64, 64], 2), "the first level transforms 3 axes, but the schedule needs two"),
        (plan(&[64, 64], 2).origins(&[1, 0]), "the first position along an axis is odd"),
        (plan(&[64, 2], 3), "the number of levels is 3, 2×64 samples allow 1 to 1"),
    ] {
        let error = plan.schedule(Schedule::PYRAMID).build(&Device::Interpreter).expect_err("it is refused");
        assert!(matches!(error, PlanError::Refused { schedule, .. } if schedule == Schedule::PYRAMID), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// Three axes in one pass at every level: batch axes before and between, both layouts, odd origins, all types, padded,
/// strided.
#[test]
fn volumes() {
    let cases = [
        Case::new(&[18, 20, 36], &[2, 2, 2], &[2, 1, 0], &[0, 0, 0]),
        Case { layout: Layout::Interleaved, ..Case::new(&[13, 21, 70], &[2, 2, 2], &[2, 1, 0], &[1, -1, 3]) },
        Case::new(&[16, 24, 64], &[1, 1, 1], &[2, 0, 1], &[0, 1, 0]),
        Case::new(&[2, 12, 14, 40], &[0, 2, 2, 2], &[3, 2, 1], &[0, 1, 0, 1]),
        Case { layout: Layout::Interleaved, ..Case::new(&[8, 2, 9, 131], &[1, 0, 1, 1], &[3, 2, 0], &[0, 0, 0, 0]) },
    ];
    for (i, case) in cases.iter().enumerate() {
        for boundary in some_rules(i) {
            let case = &Case { boundary, ..case.clone() };
            let scheme = [scheme("cdf97"), scheme("legall53"), scheme("dd137")];
            let passes = match (i + boundary as usize) % 4 {
                0 => check_with::<f32>(&scheme[0], case, Schedule::VOLUME),
                1 => check_with::<i16>(&scheme[1], case, Schedule::VOLUME),
                2 => check_with::<f16>(&scheme[0], case, Schedule::VOLUME),
                _ => check_with::<i32>(&scheme[2], case, Schedule::VOLUME),
            };
            // Walks refuse half-symmetric; periodic needs even lengths.
            let refused = matches!(boundary, Boundary::Periodic | Boundary::HalfSymmetric);
            assert!(passes == *case.levels.iter().max().unwrap() as usize || refused, "{passes} passes, {case:?}");
        }
    }
    let cdf97 = scheme("cdf97");
    same_as_cpu::<f32>(|device| {
        let schedule = if matches!(device, Device::Interpreter) { Schedule::VOLUME } else { Schedule::Auto };
        let plan = Plan::builder(&cdf97).shape(&[9, 11, 37]).levels(2).pad(Pad::Edge).schedule(schedule);
        plan.sample().build(device)
    });
    same_as_cpu::<bf16>(|device| {
        let schedule = if matches!(device, Device::Interpreter) { Schedule::VOLUME } else { Schedule::Auto };
        let plan = Plan::builder(&cdf97).shape(&[8, 12, 40]).levels(2).schedule(schedule);
        plan.strides(&[41, 400, 1]).coefficient_strides(&[-600, 45, 1]).sample().build(device)
    });
}

/// Whether a plan takes blocks of whole vectors on request, or the case is invalid.
fn runs_as_lattice<T: Sample>(scheme: &Scheme, case: &Case) -> bool {
    check_with::<T>(scheme, case, Schedule::Lattice);
    let plan = Plan::builder(scheme).shape(&case.shape).levels_per_axis(&case.levels).axis_order(&case.order);
    let plan = plan.origins(&case.origins).boundary(case.boundary).schedule(Schedule::Lattice).sample::<T>();
    match plan.build(&Device::Interpreter) {
        Ok(plan) => plan.recipe().passes.iter().all(|pass| pass.schedule == "lattice"),
        Err(e) => matches!(e, PlanError::Geometry(_)),
    }
}

/// Levels stay in single precision between passes and are rounded once.
#[test]
fn storage_types() {
    for (turn, case) in half(0) {
        match turn % 2 {
            0 => check::<f16>(&scheme("cdf97"), &case),
            _ => check::<bf16>(&scheme("cdf97"), &case),
        }
    }
}

/// Every height and width from 1 on, with all possible levels.
#[test]
fn small_sizes() {
    for n in (1..14).chain([33, 70]) {
        let m = 1 + (n * 7) % 19;
        let boundary = Boundary::ALL[n % Boundary::ALL.len()];
        let case = Case { boundary, ..Case::new(&[n, m], &[3, 3], &[1, 0], &[0, (n % 2) as i64]) };
        check::<i16>(&scheme("legall53"), &case);
        check::<f32>(&scheme("cdf97"), &Case { boundary: Boundary::WholeSymmetric, ..case });
    }
}

fn same_as_cpu<T: Sample>(build: impl Fn(&Device) -> Result<Plan<T>, PlanError>) {
    let (cpu, gpu) = (build(&Device::cpu_with_threads(1)).unwrap(), build(&Device::Interpreter).unwrap());
    let data: Vec<T> = noise(cpu.len(), 1);
    let run = |plan: &Plan<T>| {
        let mut coefficients = vec![T::default(); plan.coefficient_len()];
        plan.forward(&data, &mut coefficients).unwrap();
        let mut back = vec![T::default(); plan.len()];
        plan.inverse(&coefficients, &mut back).unwrap();
        let lows: Vec<Vec<T>> = (0..=plan.depth())
            .map(|level| {
                let count = plan.level_shape(level).unwrap().iter().product();
                let mut low = vec![T::default(); if level == 0 { plan.len() } else { count }];
                plan.inverse_to(level, &coefficients, &mut low).unwrap();
                low
            })
            .collect();
        (coefficients, back, lows)
    };
    assert_eq!(run(&cpu), run(&gpu), "{}", cpu.recipe());
}

/// Features of plans only: formats, padding, strides.
#[test]
fn profiles_padding_and_strides() {
    let legall = scheme("legall53");
    for shape in [[17, 23], [1, 9], [9, 1], [1, 1]] {
        for origins in [[0, 0], [1, 0], [3, 5]] {
            same_as_cpu::<i16>(|device| {
                let plan = Plan::builder(&legall).shape(&shape).levels(3).origins(&origins);
                plan.profile(Format::Jpeg2000).sample().build(device)
            });
        }
    }
    let dd137 = scheme("dd137");
    for shape in [[13, 21], [16, 8], [1, 3]] {
        same_as_cpu::<i32>(|device| {
            Plan::builder(&dd137).shape(&shape).levels(2).profile(Format::Vc2).pad(Pad::Edge).sample().build(device)
        });
        same_as_cpu::<i16>(|device| {
            let plan = Plan::builder(&dd137).shape(&shape).levels(2).pad(Pad::Edge).layout(Layout::Interleaved);
            plan.sample().build(device)
        });
    }
    // One padded axis; each of its levels is a launch.
    same_as_cpu::<f32>(|device| {
        let cdf97 = scheme("cdf97");
        Plan::builder(&cdf97).shape(&[5, 37]).levels(3).axes(&[1]).pad(Pad::Edge).sample().build(device)
    });
    // Column-major, pitched, and upside down.
    for (strides, coefficient_strides) in [([1, 20], [30, 1]), ([40, 1], [1, 17]), ([-23, 1], [46, 2])] {
        same_as_cpu::<i16>(|device| {
            let plan = Plan::builder(&legall).shape(&[17, 23]).levels(2).strides(&strides);
            plan.coefficient_strides(&coefficient_strides).sample().build(device)
        });
    }
    // Interleaved colours, as in image files.
    same_as_cpu::<i16>(|device| {
        Plan::builder(&legall).shape(&[12, 20, 3]).levels(2).axes(&[0, 1]).sample().build(device)
    });
}

#[test]
fn recipes_name_the_schedules() {
    let dd137 = scheme("dd137");
    let plan = Plan::builder(&dd137).shape(&[48, 64]).levels(2).schedule(Schedule::Separate);
    let plan = plan.sample::<i16>().build(&Device::Interpreter).unwrap();
    let passes: Vec<_> =
        plan.recipe().passes.iter().map(|p| (p.level, p.axes[0], p.lengths[0], p.count, p.schedule)).collect();
    assert_eq!(
        passes,
        [
            (1, 1, 64, 48, "horizontal_registers"),
            (1, 0, 48, 64, "vertical_registers"),
            (2, 1, 32, 24, "horizontal_registers"),
            (2, 0, 24, 32, "vertical_registers")
        ]
    );
}
