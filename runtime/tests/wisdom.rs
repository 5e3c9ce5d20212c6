//! Tuning with a clock of the test's own, and wisdom files: what is measured is taken, what is foreign or broken is passed over and said.

use lifting::{
    Block, Boundary, Device, Direction, Measured, Plan, PlanBuilder, PlanError, Reason, Recipe, Schedule, StreamBlock,
    Wisdom, WisdomWarning, catalogue,
};

fn cdf97<R>(run: impl FnOnce(PlanBuilder<'_, f32>) -> R) -> R {
    let wavelet = catalogue::find("cdf97").unwrap();
    run(Plan::builder(&wavelet).shape(&[300, 512]).levels(2).sample())
}

fn recipe(plan: PlanBuilder<'_, f32>, wisdom: &Wisdom) -> Recipe {
    plan.wisdom(wisdom).build(&Device::Interpreter).unwrap().recipe().clone()
}

/// A clock for which one block is the fastest, and the others the slower the more their warps.
fn prefer(fastest: StreamBlock) -> impl FnMut(&lifting::Trial<f32>) -> Result<f64, PlanError> {
    move |trial| {
        assert_eq!(trial.plan.depth(), 1);
        let choice = trial.plan.recipe().choice(trial.direction, 1).unwrap();
        assert_eq!((choice.taken.block, choice.reason), (trial.block, Reason::Asked));
        Ok(match trial.block {
            Block::Stream(block) if block == fastest => 1.0,
            Block::Stream(block) if StreamBlock { chunk: fastest.chunk, ..block } == fastest => 2.0,
            Block::Stream(block) => 10.0 + f64::from(block.warps),
            _ => 9.0,
        })
    }
}

const FASTEST: StreamBlock = StreamBlock { columns: 2, warps: 2, ring: 4, chunk: 32 };

#[test]
fn the_fastest_is_taken_once_it_was_measured() {
    let mut wisdom = Wisdom::default();
    let measured = cdf97(|plan| plan.tune_with(&Device::Interpreter, &mut wisdom, prefer(FASTEST))).unwrap();
    // Two levels, two directions; every candidate once.
    assert_eq!(wisdom.len(), 4);
    for (i, one) in measured.iter().enumerate() {
        let same = |m: &&Measured| (m.direction, m.level, m.block) == (one.direction, one.level, one.block);
        assert_eq!(measured.iter().filter(same).count(), 1, "{one} ({i})");
    }
    assert!(measured.iter().any(|m| m.block == Block::Separate));
    let tuned = cdf97(|plan| recipe(plan, &wisdom));
    for choice in &tuned.choices {
        assert_eq!((choice.taken.block, choice.reason), (Block::Stream(FASTEST), Reason::Measured), "{choice}");
    }
    // A schedule that is asked for is not overruled, and other cases are not touched.
    let asked = cdf97(|plan| recipe(plan.schedule(Schedule::Separate), &wisdom));
    assert!(asked.choices.iter().all(|c| c.taken.block == Block::Separate && c.reason == Reason::Asked));
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
            Ok(if trial.block == Block::Separate { 1.0 } else { 3.0 })
        })
    })
    .unwrap();
    let tuned = cdf97(|plan| recipe(plan, &wisdom));
    assert!(tuned.choices.iter().all(|c| c.taken.block == Block::Separate && c.reason == Reason::Measured), "{tuned}");
}

#[test]
fn tuned_plans_compute_the_same() {
    let mut wisdom = Wisdom::default();
    let wavelet = catalogue::find("legall53").unwrap();
    let plan = || Plan::builder(&wavelet).shape(&[23, 64]).levels(2).sample::<i16>();
    let fastest = StreamBlock { columns: 4, warps: 2, ring: 4, chunk: 8 };
    plan()
        .tune_with(&Device::Interpreter, &mut wisdom, |trial| {
            Ok(if trial.block == Block::Stream(fastest) { 1.0 } else { 2.0 })
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
    cdf97(|plan| plan.tune_with(&Device::Interpreter, &mut wisdom, prefer(FASTEST))).unwrap();
    wisdom.save(&path).unwrap();
    assert_eq!(Wisdom::load(&path), (wisdom.clone(), vec![]));
    assert_eq!(Wisdom::load(folder.path().join("absent.json")), (Wisdom::default(), vec![]));
    let mut twice = wisdom.clone();
    twice.merge(Wisdom::load(&path).0);
    assert_eq!(twice, wisdom);
    let (nothing, warnings) = Wisdom::load(folder.path());
    assert!(nothing.is_empty() && matches!(warnings[..], [WisdomWarning::Unreadable { .. }]), "{warnings:?}");
}

#[test]
fn broken_and_foreign_wisdom_is_passed_over_and_said() {
    let mut wisdom = Wisdom::default();
    cdf97(|plan| plan.tune_with(&Device::Interpreter, &mut wisdom, prefer(FASTEST))).unwrap();
    let text = wisdom.to_json();
    for broken in ["", "{", "[]", "{\"lifting_wisdom\": 2, \"entries\": []}", "{\"lifting_wisdom\": 1}", &text[..400]] {
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
    assert_eq!((found.len(), warnings), (3, vec![WisdomWarning::OtherVersion { count: 1 }]));
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
        assert_eq!(found.len(), 3, "{to}");
        assert!(matches!(warnings[..], [WisdomWarning::Entry { .. }]), "{to}: {warnings:?}");
    }
    // What no kernel can be is refused where a plan is made, and the plan is made without it.
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
fn a_measurement_that_fails_is_an_error() {
    let failed =
        cdf97(|plan| plan.tune_with(&Device::Interpreter, &mut Wisdom::default(), |_| Err(PlanError::NoShape)));
    assert_eq!(failed.unwrap_err(), PlanError::NoShape);
    // A processor has one schedule.
    let none = cdf97(|plan| plan.tune(&Device::cpu_with_threads(1), &mut Wisdom::default())).unwrap();
    assert!(none.is_empty());
}
