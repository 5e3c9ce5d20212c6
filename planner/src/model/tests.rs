//! Tests of predictions against measurements in `planner/measured/`.

use super::*;
use crate::calibration::{Case, Fitted, Measured, Measurements, TwoLevels, fit};
use lifting_codegen::machine::FILES;
use lifting_codegen::schedule::level::{self, Array};
use lifting_codegen::schedule::{Options, cascade};
use std::collections::BTreeMap;

fn measurements() -> Measurements {
    Measurements::read(include_str!("../../measured/h200.json")).unwrap()
}

fn case(measured: &Measured) -> Case {
    Case::new(measured, &crate::tests::scheme(&measured.wavelet), &Machine::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Groups launches by their operation.
fn groups(launches: impl Iterator<Item = Measured>) -> BTreeMap<String, Vec<Measured>> {
    let mut groups: BTreeMap<String, Vec<Measured>> = BTreeMap::new();
    for one in launches {
        let Measured { wavelet, sample, direction, width, height, pitch, batch, levels, .. } = &one;
        let what = format!(
            "{wavelet} {sample} {direction} {batch} of {width}x{height}, {levels} levels, pitch {}",
            pitch.unwrap_or(*width)
        );
        groups.entry(what).or_default().push(one);
    }
    groups
}

/// Asserts that the ratio of predicted to measured time is within `range`, and that the predicted fastest is at most
/// `slower` times slower than the measured fastest.
fn assert_chosen(launches: impl Iterator<Item = Measured>, range: [f64; 2], slower: f64, groups_at_least: usize) {
    let machine = Machine::default();
    let mut wrong = String::new();
    let groups = groups(launches);
    assert!(groups.len() >= groups_at_least, "only {} groups", groups.len());
    for (what, launches) in groups {
        let best = launches.iter().map(|one| one.microseconds).fold(f64::INFINITY, f64::min);
        let mut taken = (f64::INFINITY, 0.0);
        for one in &launches {
            let case = case(one);
            let (predicted, measured) = (case.predicted(&machine), case.microseconds);
            println!("{}: {predicted:.2} µs, measured {measured}: {:.2}", case.name, predicted / measured);
            if !(range[0]..range[1]).contains(&(predicted / measured)) {
                wrong += &format!("{}: {predicted:.2} µs, measured {measured}\n", case.name);
            }
            if predicted < taken.0 {
                taken = (predicted, measured);
            }
        }
        if taken.1 > slower * best {
            wrong += &format!("{what}: takes {} µs, the best of all {best}\n", taken.1);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// One level. The choice may be slower than the best by a factor of 1.15; the worst case is 1.09 (DD(13,7) inverse at
/// 2048²).
#[test]
fn the_model_chooses_measured_fast_schedules() {
    let one_level = |one: &Measured| one.pitch.is_none() && one.levels == 1 && one.schedule != "pyramid";
    assert_chosen(measurements().launches.into_iter().filter(one_level), [0.7, 1.4], 1.15, 72);
}

/// All levels in one launch.
#[test]
fn all_levels_are_predicted() {
    let all = |one: &Measured| one.schedule == "pyramid";
    assert_chosen(measurements().launches.into_iter().filter(all), [0.6, 1.45], 1.15, 30);
}

/// Unaligned rows: predictions for `warp`, whose shape the model chooses, are near the measurements, and it is chosen.
#[test]
fn odd_images_are_predicted() {
    let machine = Machine::default();
    let mut wrong = String::new();
    let odd = |one: &Measured| one.pitch.is_some() && one.schedule == "warp";
    let odd: Vec<Measured> = measurements().launches.into_iter().filter(odd).collect();
    assert!(odd.len() > 50, "only {} launches", odd.len());
    for measured in odd {
        let chunk = if measured.sample == "f32" { 10 } else { 16 }.min(measured.height as u32 / 128);
        let shape = [("chunk".to_owned(), chunk)].into();
        let streamed = Measured { schedule: "stream".into(), shape, ..measured.clone() };
        let [warp, stream] = [&measured, &streamed].map(case);
        let [predicted, other] = [&warp, &stream].map(|case| case.predicted(&machine));
        let off = predicted / measured.microseconds;
        let line =
            format!("{}: {predicted:.2} µs, measured {}, `stream` {other:.2}\n", warp.name, measured.microseconds);
        print!("{line}");
        if !(0.7..1.4).contains(&off) || predicted > other {
            wrong += &line;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Chunks of two levels have nearly the height that was measured fastest, and their predicted time is near.
#[test]
fn chunk_heights_match_the_measured_optimum() {
    let machine = Machine::default();
    let mut wrong = String::new();
    let two = |one: &Measured| one.schedule == "cascade";
    let groups = groups(measurements().launches.into_iter().filter(two));
    assert_eq!(groups.len(), 32);
    for (what, launches) in groups {
        let mut free = launches[0].clone();
        free.shape.remove("chunk");
        let chosen = case(&free);
        let (chunk, time) = (chosen.chunk(), chosen.predicted(&machine));
        let best = launches.iter().map(|one| one.microseconds).fold(f64::INFINITY, f64::min);
        // For an unmeasured chunk, the worse of its neighbours.
        let below = launches.iter().rfind(|one| one.shape["chunk"] <= chunk);
        let above = launches.iter().find(|one| one.shape["chunk"] >= chunk);
        let found = below.zip(above).map_or(f64::NAN, |(a, b)| a.microseconds.max(b.microseconds));
        let line = format!("{what}: chunk {chunk}, {time:.1} µs, measured {found:.1}, the best {best:.1}\n");
        print!("{line}");
        if found.is_nan() || found > 1.02 * best || !(0.9..1.1).contains(&(time / found)) {
            wrong += &line;
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Predictions of two levels in one launch are near the measurements, and the chosen shape is nearly the fastest.
#[test]
fn two_levels_are_predicted() {
    let machine = Machine::default();
    let mut wrong = String::new();
    for TwoLevels { wavelet: name, sample, direction, width, height, together, apart } in measurements().two_levels {
        let scheme = crate::tests::scheme(&name);
        let boundary = Boundary::WholeSymmetric;
        let sample = crate::scalar_of(sample.parse().unwrap());
        let direction = if direction == "forward" { Direction::Forward } else { Direction::Inverse };
        let model = Model { machine: &machine, scheme: &scheme, boundary, sample };
        let array = Array { address: 0, pitch: width.into(), stride: 0 };
        let job = level::Job { coarse: Some([array; 3]), ..Job::image(array, [array; 4], width, height) };
        let options = Options::new(sample, boundary, direction);
        let predicted = cascade::CascadeShape::proposed(sample, direction).into_iter().map(|shape| {
            let fit = cascade::fit(&scheme, options, shape).unwrap();
            let chunk = Fit::chunk(&fit, &job, &machine) as u32;
            model.launch(&fit, &job, chunk).time
        });
        let predicted: Vec<f64> = predicted.collect();
        let taken = (0..predicted.len()).min_by(|&a, &b| predicted[a].total_cmp(&predicted[b])).unwrap();
        // An unmeasured shape must not be taken.
        let measured: Vec<f64> = together.iter().map(|time| time.unwrap_or(f64::NAN)).collect();
        let (time, found, apart) = (predicted[taken], measured[taken], apart.unwrap_or(f64::NAN));
        let line =
            format!("{name} {} {width}x{height}: {time:.1} µs, measured {measured:?}, apart {apart}", direction.name());
        println!("{line}");
        let best = measured.iter().copied().fold(f64::INFINITY, f64::min);
        // Two launches are predicted within a few percent. If two levels gain or lose more, the decision must be right.
        let decided = (found - apart).abs() < 0.1 * apart || (time < apart) == (found < apart);
        if !(0.8..1.25).contains(&(time / found)) || found > 1.05 * best || !decided {
            wrong += &(line + "\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// From other constants, a fit comes as near as the committed ones, and lists the constants that it kept.
#[test]
fn a_fit_matches_the_committed_constants() {
    let (_, text) = FILES[0];
    let launches = measurements().launches;
    // Every third launch, to save time; all sizes and shapes are included.
    let cases: Vec<Case> = launches.iter().step_by(3).map(case).collect();
    let off = [("operation_latency = 0.008", "operation_latency = 0.011"), ("stall = 0.15", "stall = 0.2")];
    let start = off.iter().fold(text.to_owned(), |text, (old, new)| text.replacen(old, new, 1));
    assert_ne!(start, text);
    let Fitted { text: found, machine, residuals: [before, after], fitted, kept } = fit(&start, &cases).unwrap();
    let committed = crate::calibration::Residuals::of(cases.iter(), &Machine::default());
    println!("{before:?}\n{after:?}\n{committed:?}\n{} fitted, kept {kept:?}", fitted.len());
    assert!(after.deviation < before.deviation && after.deviation <= 1.02 * committed.deviation, "{after:?}");
    assert_eq!(Machine::read(&found).unwrap(), machine);
    assert!(fitted.iter().any(|name| name == "stream.operation_latency"), "{fitted:?}");
    assert!(kept.iter().any(|name| name == "volume.stall") && !fitted.iter().any(|name| name == "volume.stall"));
    let facts = |text: &str| text.lines().take_while(|line| *line != "[launch]").map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(facts(&found), facts(text));
}

#[test]
fn too_few_launches_and_wrong_ones_are_refused() {
    let (_, text) = FILES[0];
    let launches = measurements().launches;
    let few: Vec<Case> = launches.iter().take(20).map(case).collect();
    let error = fit(text, &few).unwrap_err();
    assert!(error.contains("20 launches are too few for the ") && error.contains("measure at least"), "{error}");
    let refused = |change: fn(&mut Measured)| {
        let mut one = launches[0].clone();
        change(&mut one);
        Case::new(&one, &crate::tests::scheme(&one.wavelet), &Machine::default()).map(|case| case.name).unwrap_err()
    };
    assert!(refused(|one| one.sample = "i24".into()).contains("unknown sample type"));
    assert!(refused(|one| one.direction = "up".into()).contains("forward or inverse"));
    assert!(refused(|one| one.schedule = "magic".into()).contains("unknown schedule"));
    assert!(refused(|one| one.microseconds = 0.0).contains("more than 0"));
    assert!(refused(|one| one.shape = [("ring".into(), 63)].into()).contains("no proposed shape"));
    assert!(Measurements::read("{}").unwrap_err().contains("invalid measurements"));
}

/// Reports of `liftc bench --json` are measurements: of single-launch transforms.
#[test]
fn reports_of_bench_are_measurements() {
    let one = |more: &str| {
        format!(
            r#"{{"wavelet": "cdf97", "sample": "f32", "shape": [1080, 1920], "batch": null, "levels": 1,
                "boundary": "whole-symmetric", "direction": "forward", "pitch_bytes": null,
                "time_us": {{"median": 8.87}}, "ratio": 1.5, {more}}}"#
        )
    };
    let report = |kind: &str, results: &[String]| {
        let results = results.join(", ");
        Measurements::read(&format!(
            r#"{{"format": "lifting-bench", "version": 1, "command": ["liftc", "bench"],
                "device": {{"kind": "{kind}", "name": "NVIDIA H200"}}, "results": [{results}]}}"#
        ))
    };
    let launch = |schedule: &str| one(&format!(r#""launch": {{"schedule": "{schedule}", "shape": {{"chunk": 6}}}}"#));
    let none = one(r#""launch": null"#);
    let read = report("cuda", &[launch("stream"), none.clone()]).expect("it has a launch");
    assert_eq!((&read.device[..], &read.about[..], read.launches.len()), ("NVIDIA H200", "liftc bench", 1));
    let Measured { width: 1920, height: 1080, pitch: Some(1920), batch: 1, levels: 1, .. } = read.launches[0] else {
        panic!("{:?}", read.launches[0])
    };
    let case = case(&read.launches[0]);
    assert_eq!((case.chunk(), case.microseconds), (6, 8.87));
    assert!((0.7..1.4).contains(&(case.predicted(&Machine::default()) / case.microseconds)));
    assert!(report("cuda", &[none]).unwrap_err().contains("measure single levels"));
    assert!(report("cpu", &[launch("stream")]).unwrap_err().contains("of CUDA devices"));
}

/// `docs/notebook/passes.md`, one pass an axis: rows and columns in registers, and both through shared memory.
#[test]
fn pass_predictions_are_near_measurements() {
    let machine = Machine::default();
    let scheme = crate::tests::scheme("cdf97");
    let (boundary, sample) = (Boundary::WholeSymmetric, Scalar::F32);
    let model = Model { machine: &machine, scheme: &scheme, boundary, sample };
    let copies = |ways: &[PassWay]| {
        let pass = |way| model.pass(Direction::Forward, 8192 * 8192, 8192, way, Sides::both(sample)).time;
        ways.iter().map(|&way| pass(way)).sum::<f64>() / model.copy(8192 * 8192).time
    };
    let way = |rows, registers| PassWay { rows, registers };
    let cases: [(&[PassWay], f64); 3] =
        [(&[way(true, true)], 1.44), (&[way(false, true)], 1.11), (&[way(true, false), way(false, false)], 6.9)];
    for (ways, measured) in cases {
        let predicted = copies(ways);
        assert!((0.85..1.2).contains(&(predicted / measured)), "{ways:?}: {predicted:.2}, measured {measured}");
    }
}
