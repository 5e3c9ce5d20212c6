//! Choices of schedules, and equality of their results: recipes are checked without execution; launches are interpreted
//! and compared with the CPU, bit for bit.

use crate::support::noise;
use lifting::{
    Boundary, Choice, Device, Layout, Plan, PlanBuilder, PlanError, Reason, Recipe, Sample, Schedule, Scheme, Way,
    bf16, catalogue, f16,
};
use lifting_dsl::Direction;

fn recipe<T: Sample>(name: &str, shape: &[usize], set: impl Fn(PlanBuilder<T>) -> PlanBuilder<T>) -> Recipe {
    let wavelet = catalogue::find(name).unwrap();
    let plan = set(Plan::builder(&wavelet).shape(shape).sample::<T>()).build(&Device::Interpreter);
    plan.unwrap_or_else(|e| panic!("{e}")).recipe().clone()
}

/// Schedules of all levels, of analysis and then of synthesis.
fn schedules(recipe: &Recipe) -> Vec<Schedule> {
    recipe.choices.iter().map(|c| c.taken.way.schedule()).collect()
}

#[test]
fn images_take_one_pass_a_level() {
    let taken = recipe::<f32>("cdf97", &[2048, 2048], |p| p.levels(3));
    let both = [Schedule::STREAM, Schedule::WARP, Schedule::TILE];
    assert!(schedules(&taken).iter().all(|s| both.contains(s)), "{taken}");
    assert_eq!(taken.passes.len(), 3, "{taken}");
    for choice in &taken.choices {
        assert_eq!(choice.reason, Reason::Predicted);
        assert_eq!(choice.taken.launches, 1);
        // Faster than two passes, slower than a copy.
        let separate = choice.others.iter().find(|c| c.way == Way::Separate).unwrap();
        assert!(choice.taken.time < separate.time, "{choice}");
        assert!(choice.taken.time > 1.0 && separate.launches == 2, "{choice}");
    }
    // Chunks are shorter if an image would not fill the device.
    let chunk = |recipe: &Recipe| recipe.choices[0].taken.way.get("chunk").unwrap();
    let chunk_of = |side: usize| chunk(&recipe::<f32>("cdf97", &[side, side], |p| p.schedule(Schedule::STREAM)));
    assert!(chunk_of(256) < chunk_of(4096));
}

/// Five strips in blocks of four would leave three of eight warps idle. Small levels take small blocks.
#[test]
fn blocks_suit_the_size_of_a_level() {
    let taken = recipe::<f32>("cdf97", &[32, 512], |p| p.schedule(Schedule::STREAM).levels(2));
    let warps = |recipe: &Recipe| -> Vec<u32> {
        recipe.choices.iter().map(|choice| choice.taken.way.get("warps").unwrap()).collect()
    };
    assert_eq!(warps(&taken), [5, 3, 5, 3], "{taken}");
    let wavelet = catalogue::find("cdf97").unwrap();
    same_as_cpu::<f32>(0, |device| {
        let plan = Plan::builder(&wavelet).shape(&[16, 512]).levels(2).sample();
        let schedule = if matches!(device, Device::Interpreter) { Schedule::STREAM } else { Schedule::Auto };
        plan.schedule(schedule).build(device)
    });
    let samples = |side: usize| -> u32 {
        let taken = recipe::<f32>("cdf97", &[side, side], |p| p.schedule(Schedule::WARP)).choices[0].taken;
        ["columns", "rows"].map(|name| taken.way.get(name).unwrap()).iter().product()
    };
    assert!(samples(512) < samples(2048));
}

/// Images of whole vectors take register blocks at any size; misaligned loads would cost more than tiles. The planner's
/// choice for one alignment holds for others, with a suitable kernel.
#[test]
fn aligned_levels_are_blocks_and_others_tiles() {
    let taken = recipe::<f32>("cdf97", &[8192, 8192], |p| p.levels(5));
    let taken_by = |level: u32| {
        [Direction::Forward, Direction::Inverse].map(|d| taken.choice(d, level).unwrap().taken.way.schedule())
    };
    assert!((1..=2).all(|level| taken_by(level) == [Schedule::CASCADE; 2]), "{taken}");
    assert!((3..=4).all(|level| taken_by(level) == [Schedule::WARP; 2]), "{taken}");
    let odd = recipe::<f32>("cdf97", &[513, 511], |p| p.levels(2));
    assert!(schedules(&odd).contains(&Schedule::TILE), "{odd}");
    let names = |schedule: Schedule, shape: &[usize]| -> Vec<String> {
        let wavelet = catalogue::find("cdf97").unwrap();
        let plan = Plan::builder(&wavelet).shape(shape).schedule(schedule).sample::<f32>();
        let text = plan.cuda_source(132).unwrap();
        let kernels =
            text.lines().filter_map(|line| line.split("cdf97_").nth(1).filter(|_| line.contains("__global__")));
        kernels.map(|name| name.rsplit_once('_').unwrap().0.to_owned()).collect()
    };
    for (schedule, shape, name) in [
        (Schedule::TILE, [64, 64], "tile_aligned_forward_f32"),
        (Schedule::TILE, [64, 63], "tile_forward_f32"),
        (Schedule::WARP, [64, 64], "warp_whole_forward_f32"),
        (Schedule::WARP, [64, 63], "warp_forward_f32"),
    ] {
        let names = names(schedule, &shape);
        assert!(names.contains(&name.to_owned()), "{schedule} {shape:?}: {names:?}");
    }
}

/// Steps within a pair of samples need no border rule if no border splits a pair.
#[test]
fn haar_streams_where_sizes_are_even() {
    for boundary in Boundary::ALL {
        let real = |shape: &[usize]| recipe::<f32>("cdf1_1", shape, |p| p.boundary(boundary));
        let integer = |shape: &[usize]| recipe::<i16>("s_transform", shape, |p| p.boundary(boundary));
        let asked = recipe::<f32>("cdf1_1", &[1080, 1918], |p| p.boundary(boundary).schedule(Schedule::STREAM));
        let pairs = recipe::<i16>("s_transform", &[8192, 8192], |p| p.boundary(boundary).schedule(Schedule::STREAM));
        for taken in [real(&[8192, 8192]), pairs, asked] {
            assert_eq!(schedules(&taken), [Schedule::STREAM; 2], "{boundary}: {taken}");
        }
        // Under the periodic border, no plan has an odd size.
        let odd =
            if boundary == Boundary::Periodic { vec![] } else { vec![real(&[8191, 8192]), integer(&[8192, 8191])] };
        for choice in odd.iter().flat_map(|taken| &taken.choices) {
            let refused = choice.refused.iter().find(|r| r.schedule == Schedule::STREAM).unwrap();
            assert!(refused.reason.contains("must be even"), "{}", refused.reason);
        }
    }
    // The last of four levels has 3 rows: every choice gives the same result.
    fn levels<T: Sample>(name: &str, skew: usize) -> usize {
        let wavelet = catalogue::find(name).unwrap();
        same_as_cpu::<T>(skew, |device| Plan::builder(&wavelet).shape(&[24, 88]).levels(4).sample().build(device))
    }
    for skew in [0, 1] {
        assert!(levels::<f32>("cdf1_1", skew) >= 1);
        assert!(levels::<i16>("s_transform", skew) >= 1);
        assert!(levels::<i32>("haar_vc2_0", skew) >= 1);
    }
}

#[test]
fn levels_without_a_single_pass_take_two_and_explain() {
    // With such wide supports, one pass is hardly faster than two; still there is a choice.
    let taken = recipe::<i16>("fidelity", &[8192, 8192], |p| p);
    for choice in &taken.choices {
        assert!(choice.taken.time > 2.0, "{choice}");
        assert!(choice.others.iter().any(|other| other.time > choice.taken.time), "{choice}");
    }
    let reason = |recipe: Recipe, level: u32| {
        let choice = recipe.choice(Direction::Forward, level).unwrap();
        assert_eq!(choice.taken.way, Way::Separate, "{recipe}");
        choice.refused[0].reason.clone()
    };
    assert!(reason(recipe::<i16>("legall53", &[4096], |p| p), 1).contains("one axis only"));
    assert!(reason(recipe::<i16>("legall53", &[8, 64, 3], |p| p.axes(&[0, 1]).levels(4)), 4).contains("height is 1"));
    let half = recipe::<f16>("cdf97", &[16, 64, 64], |p| p.axis_order(&[0, 1, 2]));
    assert!(reason(half, 1).contains("more than two axes"));
}

/// A large level of three axes is one pass if the innermost axis comes first and the wavelet is short; else the plan
/// says why not.
#[test]
fn volumes_take_one_pass_a_level() {
    let taken = recipe::<f32>("cdf97", &[512, 512, 512], |p| p);
    assert_eq!(schedules(&taken), [Schedule::VOLUME; 2], "{taken}");
    assert!(taken.passes.len() == 1 && taken.passes[0].axes == [2, 1, 0], "{taken}");
    for choice in &taken.choices {
        let pairs = choice.others.iter().find(|other| other.way.schedule() == Schedule::STREAM).unwrap();
        assert!(choice.taken.launches == 1 && pairs.launches == 2 && choice.taken.time < pairs.time, "{choice}");
    }
    let reason = |recipe: &Recipe| -> String {
        let refused = recipe.choices[0].refused.iter().find(|refused| refused.schedule == Schedule::VOLUME);
        refused.unwrap_or_else(|| panic!("{recipe}")).reason.clone()
    };
    assert!(reason(&recipe::<f32>("cdf97", &[64, 64, 64], |p| p.axis_order(&[0, 1, 2]))).contains("innermost axis"));
    assert!(reason(&recipe::<i32>("haar_vc2_0", &[63, 64, 64], |p| p)).contains("must be even"));
    let wavelet = catalogue::find("cdf97").unwrap();
    let image = Plan::builder(&wavelet).shape(&[64, 64]).schedule(Schedule::VOLUME).sample::<f32>();
    let error = image.build(&Device::Interpreter).unwrap_err();
    assert!(matches!(&error, PlanError::Refused { .. }) && error.to_string().contains("needs three"), "{error}");
    // The choice that is measured fastest is taken.
    let volume = Plan::builder(&wavelet).shape(&[16, 24, 64]).sample::<f32>();
    let mut wisdom = lifting::Wisdom::default();
    let measured = volume.tune_with(&Device::Interpreter, &mut wisdom, |trial| {
        Ok(if trial.way.schedule() == Schedule::VOLUME { 1.0 } else { 2.0 })
    });
    assert!(measured.unwrap().iter().any(|m| m.way.schedule() == Schedule::VOLUME));
    let (again, warnings) = lifting::Wisdom::from_json(&wisdom.to_json());
    assert!(warnings.is_empty() && again == wisdom);
    let tuned = volume.wisdom(&wisdom).build(&Device::Interpreter).unwrap();
    for choice in &tuned.recipe().choices {
        assert_eq!((choice.taken.way.schedule(), choice.reason), (Schedule::VOLUME, Reason::Measured), "{choice}");
    }
}

#[test]
fn requested_schedules_are_taken() {
    let asked = recipe::<f32>("cdf97", &[512, 512], |p| p.levels(2).schedule(Schedule::Separate));
    assert_eq!(schedules(&asked), [Schedule::Separate; 4]);
    assert!(asked.choices.iter().all(|c| c.reason == Reason::Asked));
    let asked = recipe::<f32>("cdf97", &[512, 512], |p| p.levels(2).schedule(Schedule::STREAM));
    assert_eq!(schedules(&asked), [Schedule::STREAM; 4]);
    let asked = recipe::<i16>("dd137", &[65, 63], |p| p.levels(2).schedule(Schedule::TILE));
    assert_eq!(schedules(&asked), [Schedule::TILE; 4]);

    let legall = catalogue::find("legall53").unwrap();
    let build = |shape: &[usize], levels, device: &Device| {
        let plan = Plan::builder(&legall).shape(shape).levels(levels).schedule(Schedule::STREAM);
        plan.sample::<i16>().build(device).unwrap_err()
    };
    let text: String = [
        build(&[64], 1, &Device::Interpreter),
        build(&[64, 3], 3, &Device::Interpreter),
        build(&[64, 64], 1, &Device::cpu_with_threads(1)),
        Plan::builder(&legall)
            .shape(&[64, 62])
            .boundary(Boundary::Periodic)
            .schedule(Schedule::STREAM)
            .sample::<i16>()
            .build(&Device::Interpreter)
            .unwrap_err(),
        Plan::builder(&catalogue::find("fidelity").unwrap())
            .shape(&[64, 64])
            .schedule(Schedule::WARP)
            .sample::<i64>()
            .build(&Device::Interpreter)
            .unwrap_err(),
    ]
    .iter()
    .map(|e| format!("{e}\n"))
    .collect();
    let expected = [
        "schedule `stream` does not support level 1 in analysis: the level transforms one axis only; \
         use the `auto` schedule",
        "schedule `stream` does not support level 3 in analysis: \
         schedule `stream` cannot run this launch: the width is 1, it must be 2 to 1073741824;",
        "schedule `stream` needs a GPU, but the plan is for cpu, 1 thread: use the `auto` schedule",
        "schedule `stream` does not support level 1 in analysis: \
         schedule `stream` cannot run this launch: under periodic the width (62) must be",
        "schedule `warp` does not support level 1 in analysis: \
         schedule `warp` cannot hold wavelet `fidelity`: rows of a block",
    ];
    for (line, expected) in text.lines().zip(expected) {
        assert!(line.starts_with(expected), "{line}\n{expected}");
    }
}

#[test]
fn lattices_by_whole_vectors() {
    let text = include_str!("../../lifting-dsl/tests/lattices.lift");
    let pair = lifting_dsl::compile(text).unwrap().schemes.remove(1);
    let build = |wavelet: &Scheme, shape: &[usize], boundary| {
        let plan = Plan::builder(wavelet).shape(shape).levels(2).boundary(boundary).schedule(Schedule::Lattice);
        plan.sample::<f32>().build(&Device::Interpreter)
    };
    let recipe = build(&pair, &[64, 96], Boundary::Periodic).unwrap().recipe().clone();
    assert_eq!(schedules(&recipe), [Schedule::Lattice; 4]);
    let passes: Vec<_> =
        recipe.passes.iter().map(|p| (p.level, p.axes[0], p.lengths[0], p.count, p.schedule)).collect();
    let rows_first = [(1, 1, 96, 64), (1, 0, 64, 96), (2, 1, 48, 32), (2, 0, 32, 48)];
    assert_eq!(passes, rows_first.map(|(level, axis, length, count)| (level, axis, length, count, "lattice")));
    // Without a request, it is among the candidates.
    let auto = Plan::builder(&pair).shape(&[64, 96]).sample::<f32>().build(&Device::Interpreter).unwrap();
    for choice in &auto.recipe().choices {
        let blocks = || choice.others.iter().chain([&choice.taken]).map(|candidate| candidate.way);
        assert!(blocks().any(|b| b == Way::Lattice) && blocks().any(|b| b == Way::Separate), "{choice}");
    }
    let cdf97 = catalogue::find("cdf97").unwrap();
    let refused = |wavelet, shape: &[usize], boundary| build(wavelet, shape, boundary).unwrap_err().to_string();
    let asked = "schedule `lattice` does not support level 1 in analysis: schedule `lattice` ";
    for (text, expected) in [
        (refused(&cdf97, &[64, 96], Boundary::Periodic), "cannot run this launch: `cdf97` is not written as a lattice"),
        (
            refused(&pair, &[64, 96], Boundary::Edge),
            "cannot run this launch: under edge a lattice runs as lifting steps",
        ),
        (
            refused(&pair, &[64, 24580], Boundary::Periodic),
            "cannot hold wavelet `pair`: samples of a vector, for a block's shared memory: 24580 required, 24576 available",
        ),
    ] {
        assert!(text.starts_with(&format!("{asked}{expected}")), "{text}");
    }
    // A schedule that does not fit is no obstacle to an automatic choice.
    let auto = Plan::builder(&pair).shape(&[64, 24580]).levels(2).sample::<f32>().build(&Device::Interpreter).unwrap();
    let reasons = |level| &auto.recipe().choice(Direction::Forward, level).unwrap().refused;
    assert!(
        reasons(1).iter().any(|r| r.schedule == Schedule::Lattice && r.reason.contains("24580")),
        "{}",
        auto.recipe()
    );
    assert!(reasons(2).iter().all(|r| r.schedule != Schedule::Lattice), "{}", auto.recipe());
}

/// Compares out-of-place and in-place transforms with the CPU, both ways, on data that begins `skew` samples after an
/// allocation. Returns the number of passes over two axes.
fn same_as_cpu<T: Sample>(skew: usize, build: impl Fn(&Device) -> Result<Plan<T>, PlanError>) -> usize {
    let (cpu, gpu) = (build(&Device::cpu_with_threads(1)).unwrap(), build(&Device::Interpreter).unwrap());
    let data: Vec<T> = noise(cpu.len() + skew, 1);
    let run = |plan: &Plan<T>| {
        let mut coefficients = vec![T::default(); plan.coefficient_len() + skew];
        plan.forward(&data[skew..], &mut coefficients[skew..]).unwrap_or_else(|e| panic!("{e}\n{}", plan.recipe()));
        let mut back = vec![T::default(); plan.len() + skew];
        plan.inverse(&coefficients[skew..], &mut back[skew..]).unwrap_or_else(|e| panic!("{e}\n{}", plan.recipe()));
        let mut place = coefficients.clone();
        if plan.shape() == plan.coefficient_shape() {
            plan.inverse_in_place(&mut place[skew..]).unwrap_or_else(|e| panic!("{e}\n{}", plan.recipe()));
            plan.forward_in_place(&mut place[skew..]).unwrap_or_else(|e| panic!("{e}\n{}", plan.recipe()));
        }
        (coefficients, back, place)
    };
    assert_eq!(run(&cpu), run(&gpu), "{}", gpu.recipe());
    gpu.recipe().passes.iter().filter(|p| p.axes.len() > 1).count()
}

#[test]
fn batches_volumes_orders_and_addresses() {
    let cdf97 = catalogue::find("cdf97").unwrap();
    let legall = catalogue::find("legall53").unwrap();
    for boundary in Boundary::ALL {
        // Walks refuse half-symmetric. The periodic border needs aligned rows, which depends on the user's arrays.
        let walks = !matches!(boundary, Boundary::Periodic | Boundary::HalfSymmetric);
        let schedule = if walks { Schedule::STREAM } else { Schedule::Auto };
        for skew in [0, 1] {
            // A batch of images, and one with two batch axes, pitched.
            let batch = same_as_cpu::<f32>(skew, |device| {
                let plan =
                    Plan::builder(&cdf97).shape(&[3, 32, 48]).axes(&[1, 2]).levels(2).boundary(boundary).sample();
                if device == &Device::Interpreter { plan.schedule(schedule).build(device) } else { plan.build(device) }
            });
            let pitched = same_as_cpu::<i16>(skew, |device| {
                let plan = Plan::builder(&legall).shape(&[2, 3, 24, 32]).axes(&[2, 3]).levels(2).boundary(boundary);
                let plan = plan.strides(&[4000, 1280, 48, 1]).axis_order(&[2, 3]).sample();
                if device == &Device::Interpreter { plan.schedule(schedule).build(device) } else { plan.build(device) }
            });
            assert!(batch == 2 && pitched == 2 || !walks, "{boundary} {skew}: {batch} {pitched}");
            // Volumes, the two inner axes first or last.
            for order in [[2, 1, 0], [0, 1, 2], [0, 2, 1], [1, 2, 0]] {
                let levels = same_as_cpu::<i32>(skew, |device| {
                    let plan = Plan::builder(&legall).shape(&[8, 16, 32]).levels(2).axis_order(&order);
                    plan.boundary(boundary).sample().build(device)
                });
                assert!(levels == 2 || !walks, "{boundary} {order:?}: {levels}");
            }
            same_as_cpu::<bf16>(skew, |device| {
                let plan = Plan::builder(&cdf97).shape(&[20, 64]).levels(2).boundary(boundary);
                plan.layout(Layout::Interleaved).sample().build(device)
            });
            same_as_cpu::<f16>(skew, |device| {
                let plan = Plan::builder(&cdf97).shape(&[36, 64]).levels(2).boundary(boundary);
                plan.origins(&[0, 2]).sample().build(device)
            });
        }
    }
}

/// Once an image is small, its remaining levels are one launch, whatever came before. So are all levels of a batch of
/// small images, as other schedules leave lanes idle.
#[test]
fn small_levels_are_one_launch() {
    let launches = |choices: &[Choice], direction: Direction| -> Vec<(Schedule, usize)> {
        let of = choices.iter().filter(|choice| choice.direction == direction);
        of.map(|choice| (choice.taken.way.schedule(), choice.taken.launches)).collect()
    };
    let (deep, batch) = (recipe::<f32>("cdf97", &[512, 512], |p| p.levels(9)), {
        recipe::<i16>("legall53", &[4096, 32, 32], |p| p.axes(&[1, 2]).levels(3))
    });
    for direction in [Direction::Forward, Direction::Inverse] {
        let pyramid = |launches| (Schedule::PYRAMID, launches);
        let found = launches(&deep.choices, direction);
        let (large, small) = found.split_at(found.iter().position(|one| *one == pyramid(1)).unwrap());
        assert!(large.iter().all(|one| *one == (Schedule::WARP, 1)) && small.len() >= 6, "{deep}");
        assert!(small[1..].iter().all(|one| *one == pyramid(0)), "{deep}");
        assert_eq!(launches(&batch.choices, direction), [pyramid(1), pyramid(0), pyramid(0)], "{batch}");
    }
    let one = batch.passes.iter().map(|pass| (pass.level, pass.count, pass.schedule));
    assert_eq!(one.collect::<Vec<_>>(), [(1, 4096, "pyramid")]);
    // The cost of a launch of a single level is also known.
    let single = recipe::<f32>("cdf97", &[64, 64], |p| p);
    assert!(single.choices[0].others.iter().any(|other| other.way.schedule() == Schedule::PYRAMID), "{single}");
}

/// A list that needs aligned arrays has an alternative.
#[test]
fn periodic_runs_from_any_address() {
    let cdf97 = catalogue::find("cdf97").unwrap();
    for skew in 0..4 {
        let passes = same_as_cpu::<f32>(skew, |device| {
            let plan = Plan::builder(&cdf97).shape(&[32, 64]).levels(3).boundary(Boundary::Periodic).sample();
            if device == &Device::Interpreter {
                plan.schedule(Schedule::WARP).build(device)
            } else {
                plan.build(device)
            }
        });
        assert_eq!(passes, 3);
    }
}
