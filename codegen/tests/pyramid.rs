//! All levels of a small image in one launch, on the interpreter against the oracle.

use crate::support::{catalogue, lopsided, pattern, ran_or_names_a_limit, types, wavelets};
use crate::with_samples;
use lifting_codegen::back::{Cuda, Dialect};
use lifting_codegen::ir::Scalar;
use lifting_codegen::ir::interp::{Arg, Buffer, Element, Options as Limits, Program};
use lifting_codegen::ir::valid::validate;
use lifting_codegen::opt::prepare;
use lifting_codegen::schedule::level::{Array, Job, Order};
use lifting_codegen::schedule::pyramid::{self, Shape};
use lifting_codegen::schedule::{Direction, Fit as _, Options, ScheduleError};
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::oracle::Transform;
use lifting_dsl::sample::Sample;
use lifting_dsl::{Boundary, Domain, Scheme, testing};
use proptest::prelude::*;

/// One launch.
#[derive(Clone, Copy, Debug)]
struct Case {
    width: usize,
    height: usize,
    levels: u32,
    order: Order,
    batch: usize,
    gain: Option<u32>,
}

impl Case {
    fn new(width: usize, height: usize, levels: u32) -> Case {
        Case { width, height, levels, order: Order::HorizontalFirst, batch: 1, gain: None }
    }
}

/// Whether the case could be launched; then it was right.
fn check<T: Sample + Element>(
    scheme: &Scheme,
    (boundary, direction): (Boundary, Direction),
    shape: Shape,
    case: Case,
    mut sample: impl FnMut() -> T,
) -> Result<bool, ScheduleError> {
    let what = || format!("{} {boundary} {} {} {shape:?} {case:?}", scheme.name(), direction.name(), T::KIND);
    let options = Options { sample: T::SCALAR, boundary, direction, gain: case.gain.is_some() };
    let kernel = pyramid::kernel(scheme, options, case.order, shape)?;
    let block = pyramid::fit(scheme, options, shape)?;
    let info = validate(&kernel).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
    // Of the image, and of the bands.
    let pitches = [case.width + 3, case.width + 8];
    let strides = pitches.map(|pitch| pitch * case.height + 5);
    let array = |i: usize| Array { address: 0, pitch: pitches[i] as i64, stride: strides[i] as i64 };
    let image = Job::image(array(0), [array(1); 4], case.width as i32, case.height as i32);
    let job = Job { batch: case.batch as i32, levels: case.levels as i32, ..image };
    let tuning = match block.arguments(&job, 132) {
        Ok(tuning) => tuning,
        Err(ScheduleError::Launch { .. }) => return Ok(false),
        Err(e) => panic!("{e}"),
    };
    let order = match case.order {
        Order::HorizontalFirst => [1, 0],
        Order::VerticalFirst => [0, 1],
    };
    let geometry = Geometry::new(&[case.height, case.width], &[0, 0], &[case.levels; 2], &order).expect("a geometry");
    let mut oracle = Transform::new(scheme.clone(), geometry);
    (oracle.boundary, oracle.layout, oracle.gain_shift) = (boundary, Layout::Mallat, case.gain.unwrap_or(0));
    let inputs: Vec<Vec<T>> =
        (0..case.batch).map(|_| (0..case.width * case.height).map(|_| sample()).collect()).collect();
    let mut expected = inputs.clone();
    for image in &mut expected {
        match direction {
            Direction::Forward => oracle.forward(image).expect("the oracle runs"),
            Direction::Inverse => oracle.inverse(image).expect("the oracle runs"),
        }
    }
    // Index in memory, and in an image.
    let places = |i: usize, image: usize| {
        let (pitch, stride) = (pitches[i], strides[i]);
        let at = move |y: usize, x: usize| (image * stride + y * pitch + x, y * case.width + x);
        (0..case.height).flat_map(move |y| (0..case.width).map(move |x| at(y, x)))
    };
    let (from, to) = match direction {
        Direction::Forward => (0, 1),
        Direction::Inverse => (1, 0),
    };
    // What lies between the rows must not matter.
    let mut values: Vec<T> = (0..strides[from] * case.batch).map(|_| sample()).collect();
    for (n, input) in inputs.iter().enumerate() {
        places(from, n).for_each(|(to, from)| values[to] = input[from]);
    }
    let written = Buffer::undefined(T::SCALAR, strides[to] * case.batch);
    let mut args = vec![Arg::Buffer(Buffer::new(&values)), Arg::Buffer(written)];
    let scalar = |v: usize| Arg::Scalar(v as i64);
    args.extend([case.width, case.height, 0, 0].map(scalar));
    args.extend(pitches.map(scalar));
    args.extend(strides.map(scalar));
    args.push(scalar(case.batch));
    args.extend([tuning.chunk, tuning.aligned, tuning.skew].map(|v| Arg::Scalar(v.into())));
    args.extend(case.gain.map(|g| Arg::Scalar(g.into())));
    let program = Program::new(&kernel, &info);
    program.run(&mut args, Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", what()));
    let found: Vec<T> = args[1].buffer().and_then(Buffer::to_vec).expect("the type that went in");
    for (image, expected) in expected.iter().enumerate() {
        for (at, place) in places(to, image) {
            let (x, y) = (place % case.width, place / case.width);
            assert_eq!(
                pattern(found[at]),
                pattern(expected[place]),
                "{} image {image} row {y} column {x}: {:?}, {:?} expected",
                what(),
                found[at],
                expected[place]
            );
        }
    }
    Ok(true)
}

fn check_type(
    scheme: &Scheme,
    rule: (Boundary, Direction),
    shape: Shape,
    case: Case,
    scalar: Scalar,
    seed: u64,
) -> Result<bool, ScheduleError> {
    with_samples!(scalar, seed, check(scheme, rule, shape, case))
}

const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Inverse];

fn proposed(scheme: &Scheme, sample: Scalar, boundary: Boundary) -> Vec<Shape> {
    let options = Options { sample, boundary, direction: Direction::Forward, gain: false };
    Shape::proposed(scheme, options).expect("a shape holds it")
}

/// All sample types under all border rules, in the shapes that are proposed, by turns: sizes from two samples to the largest, odd and prime ones, one and many levels.
#[test]
fn sizes() {
    let mut ran = 0;
    for scheme in wavelets() {
        for (i, &scalar) in types(&scheme).iter().enumerate() {
            for (j, boundary) in Boundary::ALL.into_iter().enumerate() {
                for shape in proposed(&scheme, scalar, boundary).into_iter().skip((i + j) % 3).step_by(3) {
                    let side = shape.side as usize;
                    let sizes =
                        [(2, 2, 1), (5, 3, 2), (side, side, 4), (side - 1, 7, 2), (13, side - 3, 3), (8, 16, 3)];
                    for (n, (width, height, levels)) in sizes.into_iter().enumerate() {
                        let order = [Order::HorizontalFirst, Order::VerticalFirst][(i + j + n) % 2];
                        let case = Case { order, ..Case::new(width, height, levels) };
                        let rule = (boundary, DIRECTIONS[(i + n + shape.side as usize / 16) % 2]);
                        let checked = check_type(&scheme, rule, shape, case, scalar, (8 * i + n) as u64);
                        ran += usize::from(ran_or_names_a_limit(&scheme, checked));
                    }
                }
            }
        }
    }
    assert!(ran > 250, "only {ran} cases");
}

/// As many levels as leave two samples, of every side up to 33.
#[test]
fn all_levels() {
    let scheme = testing::wavelet("cdf97", testing::cdf97());
    let shape = Shape { side: 64, pairs: [4, 2] };
    for side in (2..=17).chain([31, 32, 33]) {
        let levels = (side.min(64 - side) - 1usize).ilog2() + 1;
        for direction in DIRECTIONS {
            let case = Case::new(side, 64 - side, levels);
            let rule = (Boundary::WholeSymmetric, direction);
            assert!(check_type(&scheme, rule, shape, case, Scalar::F32, side as u64).unwrap(), "{case:?}");
        }
    }
}

/// Batches, and gains that each level adds.
#[test]
fn batches_and_gains() {
    for (i, scheme) in wavelets().iter().enumerate() {
        for direction in DIRECTIONS {
            let gain = (scheme.domain() == Domain::Integer).then_some(1 + i as u32);
            let case = Case { batch: 3, gain, ..Case::new(24, 31, 3) };
            let (rule, scalar) = ((Boundary::WholeSymmetric, direction), types(scheme)[0]);
            for pairs in [[2, 2], [4, 1], [8, 4]] {
                let shape = Shape { side: 32, pairs };
                assert!(check_type(scheme, rule, shape, case, scalar, 5).unwrap(), "{} {case:?}", scheme.name());
            }
        }
    }
}

/// Steps that are not symmetric, and every wavelet of the catalogue, or refused by a limit that is named.
#[test]
fn the_catalogue() {
    let ran = |i: usize, scheme: &Scheme, boundary, scalar| {
        let ran = |direction| {
            let shape = Shape { side: 32, pairs: [4, 2] };
            let ran = check_type(scheme, (boundary, direction), shape, Case::new(20, 32, 2), scalar, i as u64);
            usize::from(ran_or_names_a_limit(scheme, ran))
        };
        DIRECTIONS.into_iter().map(ran).sum()
    };
    for (i, scheme) in lopsided().iter().enumerate() {
        for boundary in Boundary::ALL {
            ran(i, scheme, boundary, types(scheme)[0]);
        }
    }
    catalogue(3, 30, ran);
}

/// The kernel as people read it.
#[test]
fn the_text() {
    let [_, legall53, _] = wavelets();
    let (boundary, direction) = (Boundary::WholeSymmetric, Direction::Forward);
    let options = Options { sample: Scalar::I32, boundary, direction, gain: false };
    let kernel = pyramid::kernel(&legall53, options, Order::HorizontalFirst, Shape { side: 16, pairs: [2, 2] });
    let kernel = prepare(kernel.expect("it fits"));
    let info = validate(&kernel).expect("it is valid");
    insta::assert_snapshot!(Cuda.write(&[(&kernel, &info)]).expect("it can be written"));
}

/// What does not fit is refused in words.
#[test]
fn limits() {
    let [_, legall53, _] = wavelets();
    let options = |sample, boundary| Options { sample, boundary, direction: Direction::Forward, gain: false };
    let of = |sample, shape| {
        let block = pyramid::fit(&legall53, options(sample, Boundary::Edge), shape);
        block.expect_err("a limit").to_string()
    };
    let array = Array { address: 0, pitch: 64, stride: 4096 };
    let whole = Job::image(array, [array; 4], 48, 40);
    let launch = |boundary, job: Job| {
        let shape = Shape { side: 64, pairs: [4, 2] };
        let block = pyramid::fit(&legall53, options(Scalar::I32, boundary), shape).expect("it fits");
        block.accepts(&job).expect_err("a limit").to_string()
    };
    let text = [
        of(Scalar::I64, Shape { side: 64, pairs: [4, 2] }),
        of(Scalar::I32, Shape { side: 40, pairs: [3, 1] }),
        of(Scalar::I32, Shape { side: 64, pairs: [1, 1] }),
        of(Scalar::I32, Shape { side: 160, pairs: [40, 20] }),
        launch(Boundary::Edge, Job { width: 65, ..whole }),
        launch(Boundary::Edge, Job { parity: [1, 0], ..whole }),
        launch(Boundary::Edge, Job { levels: 0, ..whole }),
        launch(Boundary::Edge, Job { levels: 7, ..whole }),
        launch(Boundary::Periodic, Job { levels: 4, ..whole }),
    ]
    .join("\n");
    insta::assert_snapshot!(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn random_schemes(
        scheme in prop_oneof![testing::any_scheme(Domain::Integer), testing::any_scheme(Domain::Real)],
        (width, height) in (2usize..=32, 2usize..=32),
        levels in 1u32..=4,
        vertical_first in any::<bool>(),
        boundary in (0usize..4).prop_map(|i| Boundary::ALL[i]),
        inverse in any::<bool>(),
        which in 0usize..4,
        seed in any::<u64>(),
    ) {
        let order = if vertical_first { Order::VerticalFirst } else { Order::HorizontalFirst };
        let scalar = types(&scheme)[which % types(&scheme).len()];
        let case = Case { order, ..Case::new(width, height, levels) };
        let rule = (boundary, if inverse { Direction::Inverse } else { Direction::Forward });
        ran_or_names_a_limit(&scheme, check_type(&scheme, rule, Shape { side: 32, pairs: [4, 2] }, case, scalar, seed));
    }
}
