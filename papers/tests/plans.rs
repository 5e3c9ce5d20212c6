//! Schedules of papers in plans: they give the bits of all others on request, and are never chosen automatically.

use liftc::bench::Case;
use liftc::bench::case::Rows;
use liftc::bench::data::{agree, random};
use lifting::{BlockShape, Boundary, Device, Plan, PlanBuilder, PlanError, Sample, Schedule, catalogue};
use lifting_dsl::Direction;
use lifting_dsl::rounding::Rounding;
use papers::register_blocks::{Build, RegisterBlockShape};
use papers::{passes, schedule};

/// Independent samples.
fn noise<T>(len: usize, sample: impl Fn(i16) -> T) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as i16 % 1000
    };
    (0..len).map(|_| sample(next())).collect()
}

/// Compares both directions with the CPU, and checks the schedule of every pass.
fn check<T: Sample + PartialEq>(
    builder: &PlanBuilder<'_, T>,
    asked: PlanBuilder<'_, T>,
    names: &[&str],
    sample: impl Fn(i16) -> T,
) {
    let plan = asked.build(&Device::Interpreter).unwrap();
    let recipe = plan.recipe();
    assert!(recipe.passes.iter().all(|pass| names.contains(&pass.schedule)), "{names:?}: {recipe}");
    let data = noise(plan.len(), sample);
    let cpu = builder.build(&Device::cpu_with_threads(1)).unwrap();
    let (mut found, mut wanted) = (vec![T::default(); data.len()], vec![T::default(); data.len()]);
    plan.forward(&data, &mut found).unwrap();
    cpu.forward(&data, &mut wanted).unwrap();
    assert!(found == wanted, "{names:?}: analysis\n{recipe}");
    let (mut back, mut wanted_back) = (wanted.clone(), wanted.clone());
    plan.inverse(&wanted, &mut back).unwrap();
    cpu.inverse(&wanted, &mut wanted_back).unwrap();
    assert!(back == wanted_back, "{names:?}: synthesis\n{recipe}");
}

#[test]
fn passes_of_papers_have_the_same_bits() {
    let [cdf97, legall] = ["cdf97", "legall53"].map(|name| catalogue::find(name).unwrap());
    let all = passes().into_iter().flat_map(|(_, shapes)| shapes);
    for schedule in all.filter(|schedule| schedule.has_lifting_bits()) {
        let asked = Schedule::Axis(schedule);
        // Columns of transposed images are noted as such.
        let names = [schedule.name(), "transposed"];
        let names = if schedule.transposes() { &names[..] } else { &names[..1] };
        assert_eq!(papers::schedule(schedule.name()), Ok(asked));
        let real = Plan::builder(&cdf97).shape(&[70, 45]).levels(2).sample::<f32>();
        check(&real, real.clone().schedule(asked), names, f32::from);
        // A batch of images, odd positions, another order of axes.
        let integer = Plan::builder(&legall).shape(&[3, 21, 38]).levels_per_axis(&[0, 2, 1]);
        let integer = integer.origins(&[0, 3, 1]).axis_order(&[1, 2]).boundary(Boundary::Edge).sample::<i16>();
        check(&integer, integer.clone().schedule(asked), names, |x| x);
        let half = Plan::builder(&cdf97).shape(&[20, 24]).levels(1).sample::<lifting::f16>();
        check(&half, half.clone().schedule(asked), names, |x| lifting::f16::from_f32(f32::from(x)));
        let volume = Plan::builder(&legall).shape(&[9, 10, 11]).levels(1).sample::<i32>();
        check(&volume, volume.clone().schedule(asked), names, i32::from);
    }
}

/// Aligned images of whole words are moved word by word; others sample by sample, with the same bits.
#[test]
fn words_of_samples_have_the_same_bits() {
    let legall = catalogue::find("legall53").unwrap();
    let cdf97 = catalogue::find("cdf97").unwrap();
    for (_, shapes) in passes().into_iter().filter(|(method, _)| *method == "sliding-window") {
        for asked in shapes.into_iter().map(Schedule::Axis) {
            for boundary in Boundary::ALL {
                let words = Plan::builder(&legall).shape(&[2, 36, 72]).levels_per_axis(&[0, 2, 2]).boundary(boundary);
                let words = words.sample::<i16>();
                check(&words, words.clone().schedule(asked), &[asked.name()], |x| x);
            }
            let halves = Plan::builder(&cdf97).shape(&[40, 88]).levels(2).sample::<lifting::f16>();
            check(&halves, halves.clone().schedule(asked), &[asked.name()], |x| lifting::f16::from_f32(f32::from(x)));
        }
    }
}

/// Filtering differs by rounding, far below the samples' magnitude; it does not support integers.
#[test]
fn convolution_equals_lifting_within_rounding() {
    let [cdf97, legall] = ["cdf97", "legall53"].map(|name| catalogue::find(name).unwrap());
    let asked = schedule("convolution").unwrap();
    let builder = Plan::builder(&cdf97).shape(&[70, 45]).levels(2).sample::<f32>();
    let plan = builder.clone().schedule(asked).build(&Device::Interpreter).unwrap();
    assert!(plan.recipe().passes.iter().all(|pass| pass.schedule == "convolution"), "{}", plan.recipe());
    let cpu = builder.build(&Device::cpu_with_threads(1)).unwrap();
    let data: Vec<f32> = noise(plan.len(), f32::from);
    let rounding = Rounding::of_analysis(&cdf97).unwrap();
    let magnitudes = Plan::builder(rounding.magnitudes()).shape(&[70, 45]).levels(2).sample::<f64>();
    let magnitudes = magnitudes.build(&Device::cpu_with_threads(1)).unwrap();
    let sizes: Vec<f64> = data.iter().map(|x| f64::from(x.abs())).collect();
    let (mut found, mut lifted, mut most) = (data.clone(), data.clone(), sizes.clone());
    plan.forward(&data, &mut found).unwrap();
    cpu.forward(&data, &mut lifted).unwrap();
    magnitudes.forward(&sizes, &mut most).unwrap();
    assert!(found != lifted);
    // Two levels of two axes, and both results may be off.
    let share = 2.0 * rounding.share(lifting::SampleType::F32, 4);
    for ((found, lifted), most) in found.iter().zip(&lifted).zip(&most) {
        assert!(f64::from((found - lifted).abs()) <= share * most, "{found} {lifted} {most}");
    }
    let mut back = data.clone();
    plan.inverse(&found, &mut back).unwrap();
    assert!(back.iter().zip(&data).all(|(b, x)| (b - x).abs() < 0.01), "reconstruction");

    let integer = Plan::builder(&legall).shape(&[20, 24]).sample::<i16>().schedule(asked).build(&Device::Interpreter);
    let refused = integer.unwrap_err().to_string();
    assert!(refused.contains("the steps of `legall53` round integers one after another"), "{refused}");
}

#[test]
fn launches_of_papers_have_the_same_bits() {
    let [cdf97, legall] = ["cdf97", "legall53"].map(|name| catalogue::find(name).unwrap());
    let blocks = schedule("register-blocks").unwrap();
    let real = Plan::builder(&cdf97).shape(&[50, 130]).levels(2).sample::<f32>();
    check(&real, real.clone().schedule(blocks), &["register-blocks"], f32::from);
    let tile = schedule("lone-tile").unwrap();
    let tiled = Plan::builder(&legall).shape(&[40, 70]).levels(2).tile(&[16, 32]).sample::<i16>();
    check(&tiled, tiled.clone().schedule(tile), &["lone-tile"], |x| x);
    // A grid of tiles takes one launch: in each direction one for whole tiles, and one for each kind of rest.
    let grid = Plan::builder(&legall).shape(&[96, 128]).levels(1).tile(&[32, 32]).sample::<i16>();
    check(&grid, grid.clone().schedule(tile), &["lone-tile"], |x| x);
    let recipe = grid.schedule(tile).build(&Device::Interpreter).unwrap().recipe().to_string();
    assert!(recipe.contains("level 1 of [3, 4, 32, 32]: lone-tile, up to 32 rows and columns: 1 launch,"), "{recipe}");

    let whole = Plan::builder(&legall).shape(&[40, 70]).sample::<i16>().schedule(tile);
    let refused = whole.build(&Device::Interpreter).unwrap_err();
    assert!(matches!(refused, PlanError::Refused { level: 1, .. }));
    assert!(
        refused.to_string().contains("the image is 40 x 70, a block holds at most 64 x 64: cut it into tiles"),
        "{refused}"
    );
}

/// Blocks of a given shape, in one direction.
#[test]
fn requested_block_shapes() {
    let cdf97 = catalogue::find("cdf97").unwrap();
    for build in Build::ALL.into_iter().filter(|build| build.transforms()) {
        let shape = BlockShape::from(RegisterBlockShape { rows: 32, warps: 1, build });
        let plan = Plan::builder(&cdf97).shape(&[64, 70]).sample::<f32>();
        let asked = plan.clone().blocks(Direction::Forward, shape);
        check(&plan, asked, &["register-blocks"], f32::from);
    }
}

#[test]
fn papers_are_never_chosen_automatically() {
    let cdf97 = catalogue::find("cdf97").unwrap();
    for shape in [[32, 32], [512, 512], [64, 2048]] {
        let plan = Plan::builder(&cdf97).shape(&shape).sample::<f32>().build(&Device::Interpreter).unwrap();
        let text = plan.recipe().to_string();
        for name in papers::schedules().map(Schedule::name) {
            assert!(!text.contains(name), "{name}\n{text}");
        }
    }
}

/// Filters pass within the rounding bound and fail beyond it.
#[test]
fn filters_agree_to_rounding() {
    let scheme = lifting::catalogue::find("cdf97").expect("the catalogue has cdf97");
    let case = Case {
        schedule: schedule("convolution").expect("a schedule's name"),
        ..Case::new(scheme, lifting::SampleType::F32, vec![24, 40], 2)
    };
    let data: Vec<f32> = random(24 * 40, Rows::GAPLESS);
    let run = |device: &Device| {
        let mut result = vec![0.0; data.len()];
        case.plan::<f32>(device).expect("a plan").forward(&data, &mut result).expect("the transform runs");
        result
    };
    let (lifted, mut got) = (run(&Device::cpu_with_threads(1)), run(&Device::Interpreter));
    assert_ne!(lifted, got);
    agree("it", &case, &[24, 40], &data, (&got, &lifted)).expect("within rounding");
    got[77] += 1.0;
    let text = agree("it", &case, &[24, 40], &data, (&got, &lifted)).unwrap_err().render(false, 200);
    assert!(text.contains("it is wrong: at index 77 it is "), "{text}");
}
