//! Two levels in one launch, on the interpreter against the oracle.

use crate::support::{catalogue, compiled, pattern, ran_or_names_a_limit, types, wavelets};
use crate::with_samples;
use lifting_codegen::ir::Scalar;
use lifting_codegen::ir::interp::{Arg, Buffer, Element, Options as Limits, Program};
use lifting_codegen::ir::valid::validate;
use lifting_codegen::schedule::cascade::{self, Shape};
use lifting_codegen::schedule::level::{Array, Job, Order};
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
    order: Order,
    chunk: usize,
    batch: usize,
    gain: Option<u32>,
}

impl Case {
    fn new(width: usize, height: usize) -> Case {
        Case { width, height, order: Order::HorizontalFirst, chunk: 3, batch: 1, gain: None }
    }

    /// Columns and rows of the image, and of ll, hl, lh, hh of the first level and of the second.
    fn shapes(&self) -> [(usize, usize); 9] {
        let bands = |(w, h): (usize, usize)| {
            let (u, v) = (w.div_ceil(2), h.div_ceil(2));
            [(u, v), (w - u, v), (u, h - v), (w - u, h - v)]
        };
        let image = (self.width, self.height);
        let [a, b, c, d] = bands(image);
        let [e, f, g, h] = bands(a);
        [image, a, b, c, d, e, f, g, h]
    }
}

/// Of [`Case::shapes`]: the bands between which and the image the kernel stands, in the order of its parameters.
const BANDS: [usize; 7] = [5, 2, 3, 4, 6, 7, 8];

fn check<T: Sample + Element>(
    scheme: &Scheme,
    (boundary, direction): (Boundary, Direction),
    shape: Shape,
    case: Case,
    mut sample: impl FnMut() -> T,
) -> Result<bool, ScheduleError> {
    let what = || format!("{} {boundary} {} {} {shape:?} {case:?}", scheme.name(), direction.name(), T::KIND);
    let options = Options { sample: T::SCALAR, boundary, direction, gain: case.gain.is_some() };
    let kernel = cascade::kernel(scheme, options, case.order, shape)?;
    let walk = cascade::fit(scheme, options, shape)?;
    let info = validate(&kernel).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
    let shapes = case.shapes();
    // The image, ll, and all others.
    let pitches = [case.width + 16, shapes[5].0.next_multiple_of(8), shapes[2].0.next_multiple_of(8) + 8];
    let kind = |i: usize| [0, 9, 2, 2, 2, 1, 2, 2, 2][i];
    let rows = [case.height, shapes[5].1, shapes[2].1];
    let strides: [usize; 3] = std::array::from_fn(|k| pitches[k] * rows[k] + 16);
    let array = |i: usize| Array { address: 0, pitch: pitches[kind(i)] as i64, stride: strides[kind(i)] as i64 };
    let job = Job {
        signal: array(0),
        bands: [array(5), array(2), array(3), array(4)],
        width: case.width as i32,
        height: case.height as i32,
        parity: [0, 0],
        batch: case.batch as i32,
        planes: None,
        coarse: Some([array(6), array(7), array(8)]),
        levels: 1,
    };
    let tuning = match walk.arguments(&job, 4) {
        Ok(tuning) => tuning,
        Err(ScheduleError::Launch { .. }) => return Ok(false),
        Err(e) => panic!("{e}"),
    };
    assert!(tuning.chunk >= 1);
    let order = match case.order {
        Order::HorizontalFirst => [1, 0],
        Order::VerticalFirst => [0, 1],
    };
    let geometry = Geometry::new(&[case.height, case.width], &[0, 0], &[2, 2], &order).expect("a geometry");
    let mut oracle = Transform::new(scheme.clone(), geometry);
    (oracle.boundary, oracle.layout, oracle.gain_shift) = (boundary, Layout::Mallat, case.gain.unwrap_or(0));
    // Images, or their bands in the Mallat layout.
    let inputs: Vec<Vec<T>> =
        (0..case.batch).map(|_| (0..case.width * case.height).map(|_| sample()).collect()).collect();
    let mut expected = inputs.clone();
    for image in &mut expected {
        match direction {
            Direction::Forward => oracle.forward(image).expect("the oracle runs"),
            Direction::Inverse => oracle.inverse(image).expect("the oracle runs"),
        }
    }
    // Of the samples of an array of an image: index in memory, and in the image or the Mallat layout.
    let places = |i: usize, image: usize| {
        let ((columns, rows), pitch, stride) = (shapes[i], pitches[kind(i)], strides[kind(i)]);
        let (band, low) = if i < 5 { (i.max(1) - 1, shapes[1]) } else { (i - 5, shapes[5]) };
        let (left, top) = ((band % 2) * low.0, (band / 2) * low.1);
        let at = move |y: usize, x: usize| (image * stride + y * pitch + x, (top + y) * case.width + left + x);
        (0..rows).flat_map(move |y| (0..columns).map(move |x| at(y, x)))
    };
    let len = |i: usize| strides[kind(i)] * case.batch;
    let mut read = |i: usize| {
        // What lies between the rows must not matter.
        let mut values: Vec<T> = (0..len(i)).map(|_| sample()).collect();
        for (n, input) in inputs.iter().enumerate() {
            places(i, n).for_each(|(to, from)| values[to] = input[from]);
        }
        Arg::Buffer(Buffer::new(&values))
    };
    let written = |i: usize| Arg::Buffer(Buffer::undefined(T::SCALAR, len(i)));
    let (mut args, results): (Vec<Arg>, Vec<(usize, usize)>) = match direction {
        Direction::Forward => (
            [read(0)].into_iter().chain(BANDS.map(written)).collect(),
            BANDS.into_iter().enumerate().map(|(n, i)| (1 + n, i)).collect(),
        ),
        Direction::Inverse => (BANDS.map(&mut read).into_iter().chain([written(0)]).collect(), vec![(7, 0)]),
    };
    let scalar = |v: usize| Arg::Scalar(v as i64);
    args.extend([case.width, case.height, 0, 0].map(scalar));
    args.extend(pitches.map(scalar));
    args.extend(strides.map(scalar));
    args.extend([case.batch, case.chunk].map(scalar));
    args.extend([tuning.aligned, tuning.skew].map(|v| Arg::Scalar(v.into())));
    args.extend(case.gain.map(|g| Arg::Scalar(g.into())));
    let program = Program::new(&kernel, &info);
    program.run(&mut args, Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", what()));
    for (arg, i) in results {
        let found: Vec<T> = args[arg].buffer().and_then(Buffer::to_vec).expect("the type that went in");
        for (image, expected) in expected.iter().enumerate() {
            for (n, (at, to)) in places(i, image).enumerate() {
                let (x, y) = (n % shapes[i].0, n / shapes[i].0);
                assert_eq!(
                    pattern(found[at]),
                    pattern(expected[to]),
                    "{} array {i} image {image} row {y} column {x}: {:?}, {:?} expected",
                    what(),
                    found[at],
                    expected[to]
                );
            }
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

/// Border rules that are extensions, and directions.
const RULES: [(Boundary, Direction); 4] = [
    (Boundary::WholeSymmetric, Direction::Forward),
    (Boundary::WholeSymmetric, Direction::Inverse),
    (Boundary::Periodic, Direction::Forward),
    (Boundary::Periodic, Direction::Inverse),
];

/// A ring that leaves interpreted blocks small.
fn small(scalar: Scalar) -> Shape {
    Shape { ring: 3, ..Shape::for_sample(scalar, Direction::Forward) }
}

/// Sizes around a strip and two, around a chunk and two, with every remainder of rows modulo 4; those of few rows only where halos are short.
#[test]
fn sizes() {
    let mut ran = 0;
    for scheme in wavelets() {
        for (i, &scalar) in types(&scheme).iter().enumerate() {
            for rule in RULES {
                let sizes = [(48, 24), (64, 25), (96, 26), (104, 27), (224, 40), (232, 44), (256, 48), (456, 41)];
                for (n, (width, height)) in sizes.into_iter().enumerate() {
                    let order = [Order::HorizontalFirst, Order::VerticalFirst][(i + n) % 2];
                    let case = Case { order, chunk: [1, 2, 3, 64][n % 4], ..Case::new(width, height) };
                    let seed = (8 * i + n) as u64;
                    ran += usize::from(ran_or_names_a_limit(
                        &scheme,
                        check_type(&scheme, rule, small(scalar), case, scalar, seed),
                    ));
                }
            }
        }
    }
    assert!(ran > 200, "only {ran} cases");
}

/// 16-bit integers in pairs: lanes of either width, every remainder of rows modulo 4 and one more, strips and chunks that are far from all borders, with gains and without.
#[test]
fn pairs() {
    for (i, name) in ["dd137", "dd97", "ccsds97m", "cdsy222"].into_iter().enumerate() {
        let entry = lifting_filters::CATALOGUE.iter().find(|entry| entry.name == name).expect("it is in the catalogue");
        let scheme = compiled(entry);
        for (columns, narrow, wide) in [(8, 104, 712), (16, 224, 1456)] {
            let shape = Shape { columns, ..small(Scalar::I16) };
            for (n, rule) in RULES.into_iter().enumerate() {
                let sizes = [(narrow, 40), (narrow, 41), (narrow, 42), (narrow, 43), (wide, 76)];
                for (k, (width, height)) in sizes.into_iter().enumerate() {
                    let height = if rule.0 == Boundary::Periodic { height & !3 } else { height };
                    for gain in [None, Some(1 + (i + k) as u32 % 3)] {
                        let order = [Order::HorizontalFirst, Order::VerticalFirst][(i + n + k) % 2];
                        let case = Case { order, gain, ..Case::new(width, height) };
                        let ran = check_type(&scheme, rule, shape, case, Scalar::I16, (10 * n + k) as u64);
                        assert!(ran.unwrap_or_else(|e| panic!("{name} {case:?}: {e}")), "{name} {rule:?} {case:?}");
                    }
                }
            }
        }
    }
}

/// Steps of one sample, of three and of five, with a gap, and two of one phase after another, in pairs.
#[test]
fn pairs_of_any_steps() {
    let source = "
        wavelet steps {
            domain integer;
            boundary periodic;
            odd  -= (3*even[-1] + 5*even[0] - 2*even[1] + 4) >> 3;
            odd  += (even[0] - even[2] + 1) >> 1;
            even += (odd[-2] + 2*odd[-1] - 3*odd[0] + odd[1] + 7*odd[2] + 8) >> 4;
            odd  -= even[1] >> 1;
        }";
    let scheme = lifting_dsl::compile(source).expect("it is a wavelet").schemes.remove(0);
    for (k, direction) in [Direction::Forward, Direction::Inverse].into_iter().enumerate() {
        for (n, height) in [80, 96].into_iter().enumerate() {
            for order in [Order::HorizontalFirst, Order::VerticalFirst] {
                let case = Case { order, ..Case::new(352, height) };
                let shape = small(Scalar::I16);
                let ran =
                    check_type(&scheme, (Boundary::Periodic, direction), shape, case, Scalar::I16, (2 * k + n) as u64);
                assert!(ran.unwrap_or_else(|e| panic!("{case:?}: {e}")), "{case:?}");
            }
        }
    }
}

/// Strips and chunks that are far from all borders.
#[test]
fn far_from_borders() {
    let mut ran = 0;
    for scheme in wavelets() {
        for (i, &scalar) in types(&scheme).iter().enumerate() {
            for (n, rule) in RULES.into_iter().enumerate() {
                for order in [Order::HorizontalFirst, Order::VerticalFirst] {
                    let case = Case { order, ..Case::new(712, 72 + 4 * (n % 2)) };
                    ran += usize::from(ran_or_names_a_limit(
                        &scheme,
                        check_type(&scheme, rule, small(scalar), case, scalar, i as u64),
                    ));
                }
            }
        }
    }
    assert!(ran > 60, "only {ran} cases");
}

/// Batches, gains that each level adds, and rings of other depths.
#[test]
fn batches_and_gains() {
    for (i, scheme) in wavelets().iter().enumerate() {
        for rule in RULES {
            let gain = (scheme.domain() == Domain::Integer).then_some(1 + i as u32);
            let (scalar, case) = (types(scheme)[0], Case { batch: 3, gain, ..Case::new(96, 36) });
            for ring in [2, 5] {
                let shape = Shape { ring, ..small(scalar) };
                assert!(check_type(scheme, rule, shape, case, scalar, 5).unwrap(), "{} {case:?}", scheme.name());
            }
        }
    }
}

/// Every wavelet of the catalogue under its own border rule, or refused by a limit that is named.
#[test]
fn the_catalogue() {
    catalogue(3, 20, |i, scheme, boundary, scalar| {
        let ran = |direction| {
            let rule = (boundary, direction);
            let ran = check_type(scheme, rule, small(scalar), Case::new(128, 64), scalar, i as u64);
            usize::from(ran_or_names_a_limit(scheme, ran))
        };
        ran(Direction::Forward) + ran(Direction::Inverse)
    });
}

/// What is no extension, and what reaches too far, are refused in words.
#[test]
fn limits() {
    let [dd137, legall53, _] = wavelets();
    let of = |scheme: &Scheme, boundary, shape| {
        let options = Options { sample: Scalar::I32, boundary, direction: Direction::Forward, gain: false };
        cascade::fit(scheme, options, shape).expect_err("a limit").to_string()
    };
    let shape = Shape::for_sample(Scalar::I32, Direction::Forward);
    let text = [
        of(&legall53, Boundary::Edge, shape),
        of(&legall53, Boundary::Periodic, Shape { ring: 1, ..shape }),
        of(&legall53, Boundary::Periodic, Shape { ring: 64, ..shape }),
        of(&legall53, Boundary::Periodic, Shape { columns: 2, ..shape }),
        of(&legall53, Boundary::Periodic, Shape { columns: 16, ..shape }),
        of(&dd137, Boundary::WholeSymmetric, Shape { columns: 4, ..shape }),
    ]
    .join("\n");
    insta::assert_snapshot!(text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn random_schemes(
        scheme in prop_oneof![testing::any_scheme(Domain::Integer), testing::any_scheme(Domain::Real)],
        (lanes, height) in (2usize..=90, 2usize..=110),
        chunk in 1usize..=9,
        vertical_first in any::<bool>(),
        periodic in any::<bool>(),
        inverse in any::<bool>(),
        which in 0usize..4,
        seed in any::<u64>(),
    ) {
        let order = if vertical_first { Order::VerticalFirst } else { Order::HorizontalFirst };
        let scalar = types(&scheme)[which % types(&scheme).len()];
        let shape = small(scalar);
        let height = if periodic { height & !3 } else { height };
        let case = Case { order, chunk, ..Case::new(lanes * shape.columns as usize, height.max(4)) };
        let boundary = if periodic { Boundary::Periodic } else { Boundary::WholeSymmetric };
        let rule = (boundary, if inverse { Direction::Inverse } else { Direction::Forward });
        ran_or_names_a_limit(&scheme, check_type(&scheme, rule, shape, case, scalar, seed));
    }
}
