//! Tuning with a test clock, and wisdom files: measurements are used; foreign or broken entries are skipped with a
//! warning.

use lifting::{
    BlockShape, Boundary, Device, Measured, Plan, PlanBuilder, PlanError, Reason, Recipe, Schedule, Way, Wisdom,
    WisdomWarning, catalogue,
};
use lifting_dsl::Direction;

fn cdf97<R>(run: impl FnOnce(PlanBuilder<'_, f32>) -> R) -> R {
    let wavelet = catalogue::find("cdf97").unwrap();
    run(Plan::builder(&wavelet).shape(&[300, 512]).levels(2).sample())
}

fn recipe(plan: PlanBuilder<'_, f32>, wisdom: &Wisdom) -> Recipe {
    plan.wisdom(wisdom).build(&Device::Interpreter).unwrap().recipe().clone()
}

/// A shape of `stream`.
fn stream(columns: u32, warps: u32, ring: u32, chunk: u32) -> BlockShape {
    let numbers = [("columns", columns), ("warps", warps), ("ring", ring), ("chunk", chunk)];
    BlockShape::named("stream", numbers.into_iter()).unwrap()
}

/// A clock that favours one block: others are slower with more warps, and single levels beat several in one launch.
fn prefer(fastest: BlockShape) -> impl FnMut(&lifting::Trial<f32>) -> Result<f64, PlanError> {
    move |trial| {
        assert_eq!(trial.plan.depth(), trial.levels);
        let choice = trial.plan.recipe().choice(trial.direction, 1).unwrap();
        let apart = trial.levels > 1 && !trial.way.is_of_several();
        let reason = if apart { Reason::Measured } else { Reason::Asked };
        assert_eq!((choice.taken.way, choice.reason), (trial.way, reason));
        Ok(match trial.way {
            _ if trial.levels > 1 => {
                if apart {
                    1.0
                } else {
                    1.5
                }
            }
            Way::Launch(shape) if shape == fastest => 1.0,
            Way::Launch(shape) if shape.with_chunk(fastest.chunk()) == fastest => 2.0,
            Way::Launch(shape) if shape.schedule() == fastest.schedule() => {
                10.0 + f64::from(shape.get("warps").unwrap())
            }
            _ => 9.0,
        })
    }
}

/// A shape that no plan proposes.
fn fastest() -> BlockShape {
    stream(2, 2, 4, 32)
}

#[test]
fn the_measured_fastest_is_taken() {
    let mut wisdom = Wisdom::default();
    let measured = cdf97(|plan| plan.tune_with(&Device::Interpreter, &mut wisdom, prefer(fastest()))).unwrap();
    // Two levels and both in one launch, two directions; every candidate once.
    assert_eq!(wisdom.len(), 6);
    for (i, one) in measured.iter().enumerate() {
        let what = |m: &Measured| (m.direction, m.level, m.levels, m.way);
        let same = |m: &&Measured| what(m) == what(one);
        assert_eq!(measured.iter().filter(same).count(), 1, "{one} ({i})");
    }
    assert!(measured.iter().any(|m| m.way == Way::Separate));
    let tuned = cdf97(|plan| recipe(plan, &wisdom));
    for choice in &tuned.choices {
        assert_eq!((choice.taken.way, choice.reason), (Way::Launch(fastest()), Reason::Measured), "{choice}");
    }
    // A requested schedule is kept, and other cases are not affected.
    let asked = cdf97(|plan| recipe(plan.schedule(Schedule::Separate), &wisdom));
    assert!(asked.choices.iter().all(|c| c.taken.way == Way::Separate && c.reason == Reason::Asked));
    let other = cdf97(|plan| recipe(plan.boundary(Boundary::Zero), &wisdom));
    assert!(other.choices.iter().all(|c| c.reason == Reason::Predicted));
    // Shapes with the same powers of two are one class.
    let near = cdf97(|plan| recipe(plan.shape(&[310, 768]), &wisdom));
    assert!(near.choices.iter().all(|c| c.reason == Reason::Measured));
    let far = cdf97(|plan| recipe(plan.shape(&[300, 4096]), &wisdom));
    assert!(far.choices.iter().all(|c| c.reason == Reason::Predicted));
}

#[test]
fn one_pass_an_axis_can_be_the_fastest() {
    let mut wisdom = Wisdom::default();
    cdf97(|plan| {
        plan.tune_with(&Device::Interpreter, &mut wisdom, |trial| {
            Ok(if trial.way == Way::Separate { 1.0 } else { 3.0 })
        })
    })
    .unwrap();
    let tuned = cdf97(|plan| recipe(plan, &wisdom));
    assert!(tuned.choices.iter().all(|c| c.taken.way == Way::Separate && c.reason == Reason::Measured), "{tuned}");
}

/// Tunes a plan with a clock that times several levels by `several`, and each single level as 1, in blocks that a warp
/// holds.
fn together(
    wavelet: &str,
    shape: &[usize],
    levels: u32,
    several: impl Fn(Way, u32) -> f64,
) -> (Recipe, Vec<Measured>, Recipe) {
    let wavelet = catalogue::find(wavelet).unwrap();
    let plan = || Plan::builder(&wavelet).shape(shape).levels(levels).sample::<i16>();
    let mut wisdom = Wisdom::default();
    let clock = |trial: &lifting::Trial<i16>| {
        Ok(match trial.way {
            way if way.is_of_several() => several(way, trial.levels),
            way if way.schedule() == Schedule::WARP => f64::from(trial.levels),
            _ => 10.0,
        })
    };
    let measured = plan().tune_with(&Device::Interpreter, &mut wisdom, clock).unwrap();
    let (read, warnings) = Wisdom::from_json(&wisdom.to_json());
    assert_eq!((&read, &warnings[..]), (&wisdom, &[][..]));
    let recipe = |wisdom: &Wisdom| plan().wisdom(wisdom).build(&Device::Interpreter).unwrap().recipe().clone();
    (recipe(&Wisdom::default()), measured, recipe(&wisdom))
}

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Inverse];

#[test]
fn measured_faster_merged_levels_are_taken() {
    // One of the blocks that no plan proposes.
    let wide =
        |way: Way| way.schedule() == Schedule::CASCADE && (way.get("columns"), way.get("ring")) == (Some(16), Some(6));
    let (before, measured, after) = together("dd137", &[512, 1024], 3, |block, _| if wide(block) { 1.5 } else { 3.0 });
    for direction in DIRECTIONS {
        assert!(!before.choice(direction, 1).unwrap().taken.way.is_of_several(), "{before}");
        let [first, second, third] = [1, 2, 3].map(|level| after.choice(direction, level).unwrap());
        assert!(wide(first.taken.way) && first.reason == Reason::Measured, "{after}");
        assert_eq!((second.taken.way, second.taken.launches), (first.taken.way, 0), "{after}");
        assert_eq!((third.reason, third.taken.launches), (Reason::Measured, 1), "{after}");
        // Other chunks are also measured, and the two levels one by one.
        let of_two = || measured.iter().filter(|m| m.direction == direction && m.level == 1 && m.levels == 2);
        assert!(of_two().filter(|m| wide(m.way)).count() > 1);
        assert_eq!(of_two().filter(|m| !m.way.is_of_several()).count(), 1);
    }
    assert!(measured.iter().any(|m| m.to_string().contains("levels 1 to 2: 2.00 µs, one by one, the first by warp")));
    assert!(measured.iter().any(|m| m.to_string().contains("levels 1 to 2: 1.50 µs, cascade, 16 columns")));
}

#[test]
fn measured_faster_single_levels_are_taken() {
    let (before, _, after) = together("legall53", &[8192, 8192], 2, |_, _| 2.5);
    for direction in DIRECTIONS {
        assert!(before.choice(direction, 1).unwrap().taken.way.is_of_several(), "{before}");
        for level in [1, 2] {
            let choice = after.choice(direction, level).unwrap();
            assert!(!choice.taken.way.is_of_several() && choice.reason == Reason::Measured, "{after}");
            assert_eq!(choice.others.iter().any(|other| other.way.is_of_several()), level == 1, "{after}");
        }
    }
}

#[test]
fn last_levels_are_merged_from_the_measured_optimum() {
    // From the second level on, levels are faster together; all four are not.
    let (_, _, after) = together("legall53", &[64, 64], 4, |block, levels| match block {
        way if way.schedule() == Schedule::PYRAMID && levels == 3 => 1.0,
        _ => 100.0,
    });
    for direction in DIRECTIONS {
        let [first, second] = [1, 2].map(|level| after.choice(direction, level).unwrap());
        assert!(!first.taken.way.is_of_several() && first.reason == Reason::Measured, "{after}");
        assert!(second.taken.way.schedule() == Schedule::PYRAMID && second.reason == Reason::Measured, "{after}");
    }
}

#[test]
fn one_or_two_remaining_levels_are_merged() {
    // For one level, the launch for several is one more candidate; for two, it competes with the launch for two.
    for levels in [1, 2] {
        for (wanted, schedule) in [(1.0, Schedule::WARP), (0.5, Schedule::PYRAMID)] {
            let clock = |way: Way, _| if way.schedule() == Schedule::PYRAMID { wanted + 0.1 } else { 90.0 };
            let (_, measured, after) = together("legall53", &[64, 64], levels, clock);
            for direction in DIRECTIONS {
                let of = |schedule: Schedule| measured.iter().filter(move |m| m.way.schedule() == schedule);
                assert!(of(Schedule::PYRAMID).any(|m| m.direction == direction && m.levels == levels), "{measured:?}");
                assert_eq!(of(Schedule::CASCADE).any(|m| m.direction == direction), levels == 2, "{measured:?}");
                let choice = after.choice(direction, 1).unwrap();
                let schedule = if levels == 2 { Schedule::PYRAMID } else { schedule };
                assert_eq!((choice.taken.way.schedule(), choice.reason), (schedule, Reason::Measured), "{after}");
            }
        }
    }
}

#[test]
fn tuned_plans_compute_the_same() {
    let mut wisdom = Wisdom::default();
    let wavelet = catalogue::find("legall53").unwrap();
    let plan = || Plan::builder(&wavelet).shape(&[23, 64]).levels(2).sample::<i16>();
    let fastest = stream(4, 2, 4, 8);
    plan()
        .tune_with(&Device::Interpreter, &mut wisdom, |trial| {
            Ok(if trial.way == Way::Launch(fastest) { 1.0 } else { 2.0 })
        })
        .unwrap();
    let data: Vec<i16> = (0..23 * 64).map(|i| (i * i * 31 % 4001 - 2000) as i16).collect();
    let run = |plan: Plan<i16>| {
        let (mut coefficients, mut back) = (vec![0; data.len()], vec![0; data.len()]);
        plan.forward(&data, &mut coefficients).unwrap();
        plan.inverse(&coefficients, &mut back).unwrap();
        assert_eq!(back, data);
        coefficients
    };
    let tuned = plan().wisdom(&wisdom).build(&Device::Interpreter).unwrap();
    let cpu = plan().build(&Device::cpu_with_threads(1)).unwrap();
    assert_eq!(run(tuned), run(cpu));
}

#[test]
fn wisdom_survives_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep").join("wisdom.json");
    let mut wisdom = Wisdom::default();
    cdf97(|plan| plan.tune_with(&Device::Interpreter, &mut wisdom, prefer(fastest()))).unwrap();
    wisdom.save(&path).unwrap();
    assert_eq!(Wisdom::load(&path), (wisdom.clone(), vec![]));
    assert_eq!(Wisdom::load(folder.path().join("absent.json")), (Wisdom::default(), vec![]));
    let mut twice = wisdom.clone();
    twice.merge(Wisdom::load(&path).0);
    assert_eq!(twice, wisdom);
    let (nothing, warnings) = Wisdom::load(folder.path());
    assert!(nothing.is_empty() && matches!(warnings[..], [WisdomWarning::Unreadable { .. }]), "{warnings:?}");
}

/// Failed writes leave nothing, and temporary files are new ones: links of guessed names are not followed.
#[cfg(unix)]
#[test]
fn failed_writes_of_wisdom_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    // A folder cannot be replaced by a file.
    let taken = folder.path().join("wisdom.json");
    std::fs::create_dir(&taken).unwrap();
    assert!(Wisdom::default().save(&taken).is_err());
    assert_eq!(names(), 1, "only the folder");
    std::fs::remove_dir(&taken).unwrap();

    let victim = folder.path().join("victim");
    std::fs::write(&victim, "kept").unwrap();
    let guessed = taken.with_extension(format!("{}.tmp", std::process::id()));
    std::os::unix::fs::symlink(&victim, &guessed).unwrap();
    Wisdom::default().save(&taken).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
    assert_eq!(Wisdom::load(&taken), (Wisdom::default(), vec![]));
    assert_eq!(names(), 3, "the file, the link and its target");
}

#[test]
fn broken_and_foreign_wisdom_is_skipped_with_warnings() {
    let mut wisdom = Wisdom::default();
    cdf97(|plan| plan.tune_with(&Device::Interpreter, &mut wisdom, prefer(fastest()))).unwrap();
    let text = wisdom.to_json();
    for broken in ["", "{", "[]", "{\"lifting_wisdom\": 1, \"entries\": []}", "{\"lifting_wisdom\": 2}", &text[..400]] {
        let (found, warnings) = Wisdom::from_json(broken);
        assert!(
            found.is_empty() && matches!(warnings[..], [WisdomWarning::Malformed { .. }]),
            "{broken}: {warnings:?}"
        );
    }
    // Entries are judged one by one.
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&version));
    let (found, warnings) = Wisdom::from_json(&text.replacen(&version, "\"version\": \"0.0.0\"", 1));
    assert_eq!((found.len(), warnings), (wisdom.len() - 1, vec![WisdomWarning::OtherVersion { count: 1 }]));
    let (_, warnings) = Wisdom::from_json("{\"lifting_wisdom\": 1, \"entries\": []}");
    assert!(warnings[0].to_string().contains("format 2 (it is of format 1)"), "{}", warnings[0]);
    for (from, to) in [
        ("\"chunk\": 32", "\"chunk\": 0"),
        ("\"chunk\": 32", "\"chunk\": -1"),
        ("\"warps\": 2", "\"warps\": 4000000"),
        ("\"ring\": 4", "\"ring\": \"4\""),
        ("\"microseconds\": 1.0", "\"microseconds\": -1.0"),
        ("\"stream\"", "\"torrent\""),
        ("\"gain\"", "\"pain\""),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let (found, warnings) = Wisdom::from_json(&text.replacen(from, to, 1));
        assert_eq!(found.len(), wisdom.len() - 1, "{to}");
        assert!(matches!(warnings[..], [WisdomWarning::Entry { .. }]), "{to}: {warnings:?}");
    }
    // A shape that no kernel supports is refused when a plan is made, and the plan is made without it.
    let (lies, warnings) = Wisdom::from_json(&text.replace("\"columns\": 2", "\"columns\": 3"));
    assert!(warnings.is_empty());
    let plan = cdf97(|plan| recipe(plan, &lies));
    for choice in &plan.choices {
        assert_eq!(choice.reason, Reason::Predicted);
        assert!(choice.refused.iter().any(|r| r.reason.contains("measured before")), "{choice}");
    }
    let (lies, _) =
        Wisdom::from_json(&text.replace("\"ring\": 4", "\"ring\": 60").replace("\"warps\": 2", "\"warps\": 32"));
    let plan = cdf97(|plan| recipe(plan, &lies));
    assert!(plan.choices.iter().all(|c| c.reason == Reason::Predicted && !c.refused.is_empty()), "{plan}");
    assert!(plan.choice(Direction::Inverse, 2).is_some());
}

#[test]
fn failed_measurements_are_errors() {
    let failed =
        cdf97(|plan| plan.tune_with(&Device::Interpreter, &mut Wisdom::default(), |_| Err(PlanError::NoShape)));
    assert_eq!(failed.unwrap_err(), PlanError::NoShape);
    // A processor has one schedule.
    let none = cdf97(|plan| plan.tune(&Device::cpu_with_threads(1), &mut Wisdom::default())).unwrap();
    assert!(none.is_empty());
}
