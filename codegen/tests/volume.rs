//! The volume schedule on the interpreter against the oracle, one level of all three axes.

use crate::support::{catalogue, pattern, ran_or_names_a_limit, types, wavelets};
use crate::with_samples;
use lifting_codegen::ir::interp::{Arg, Buffer, Element, Options as Limits, Program};
use lifting_codegen::ir::{Scalar, valid::validate};
use lifting_codegen::schedule::level::{Array, Job, Planes};
use lifting_codegen::schedule::volume::{self, Shape};
use lifting_codegen::schedule::{Direction, Fit as _, Options, ScheduleError};
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::oracle::Transform;
use lifting_dsl::sample::Sample;
use lifting_dsl::{Boundary, Domain, Scheme, testing};
use proptest::prelude::*;

/// One launch. Axes are z, y, x.
#[derive(Clone, Copy, Debug)]
struct Case {
    sides: [usize; 3],
    parity: [usize; 3],
    chunk: usize,
    batch: usize,
    gain: Option<u32>,
    /// Rows of all arrays begin where vectors begin.
    aligned: bool,
}

impl Case {
    fn new(sides: [usize; 3]) -> Case {
        Case { sides, parity: [0; 3], chunk: 3, batch: 1, gain: None, aligned: false }
    }

    /// Sides of the signal (0), or of a band (1 to 8: lll, hll, lhl, hhl, llh, ...).
    fn shape(&self, array: usize) -> [usize; 3] {
        let Some(band) = array.checked_sub(1) else { return self.sides };
        std::array::from_fn(|axis| {
            let low = (self.parity[axis] + self.sides[axis]).div_ceil(2) - self.parity[axis];
            if band >> (2 - axis) & 1 == 0 { low } else { self.sides[axis] - low }
        })
    }

    fn place(&self, array: usize) -> Place {
        let shape = self.shape(array);
        // All bands but the low one have the same steps.
        let others = if array < 2 { array..array + 1 } else { 2..9 };
        let largest: [usize; 3] =
            std::array::from_fn(|axis| others.clone().map(|i| self.shape(i)[axis]).max().expect("there are some"));
        let pitch = if self.aligned { (largest[2] + 2).next_multiple_of(16) } else { largest[2] + 3 };
        let plane = pitch * largest[1] + if self.aligned { 16 } else { 5 };
        let even_columns = array == 0 || (array - 1).is_multiple_of(2);
        let lead = match self.aligned {
            true => usize::from(self.parity[2] == 1 && even_columns),
            false => [1, 2, 3, 0, 5, 1, 0, 2, 3][array],
        };
        Place { shape, lead, pitch, plane, stride: plane * largest[0] + if self.aligned { 16 } else { 1 } }
    }
}

/// An array in memory.
struct Place {
    shape: [usize; 3],
    /// Elements before the first sample.
    lead: usize,
    pitch: usize,
    plane: usize,
    stride: usize,
}

impl Place {
    /// Elements from the first sample on.
    fn len(&self, case: &Case) -> usize {
        let [z, y, x] = self.shape;
        self.stride * (case.batch - 1) + self.plane * (z.max(1) - 1) + self.pitch * (y.max(1) - 1) + x
    }

    fn array(&self, bytes: usize) -> Array {
        Array { address: (self.lead * bytes) as u64, pitch: self.pitch as i64, stride: self.stride as i64 }
    }

    fn samples(&self, volume: usize) -> impl Iterator<Item = usize> + use<> {
        let Place { shape: [d, h, w], pitch, plane, stride, .. } = *self;
        (0..d)
            .flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| z * plane + y * pitch + x)))
            .map(move |at| at + volume * stride)
    }
}

fn job(case: &Case, bytes: usize) -> Job {
    let places: Vec<Place> = (0..9).map(|array| case.place(array)).collect();
    let array = |i: usize| places[i].array(bytes);
    let [z, y, x] = case.parity.map(|p| p as i32);
    let [depth, height, width] = case.sides.map(|n| n as i32);
    Job {
        signal: array(0),
        bands: [1, 2, 3, 4].map(array),
        width,
        height,
        parity: [x, y],
        batch: case.batch as i32,
        coarse: None,
        levels: 1,
        planes: Some(Planes {
            high: [5, 6, 7, 8].map(array),
            steps: [0, 1, 2].map(|i: usize| places[i].plane as i64),
            depth,
            parity: z,
        }),
    }
}

/// Runs both directions and compares every sample with the oracle, bit for bit. False if the launch is not legal.
fn check<T: Sample + Element>(
    scheme: &Scheme,
    boundary: Boundary,
    shape: fn(&Scheme, Options) -> Result<Shape, ScheduleError>,
    case: Case,
    mut sample: impl FnMut() -> T,
) -> Result<bool, ScheduleError> {
    let what = || format!("{} {boundary} {} {case:?}", scheme.name(), T::KIND);
    let geometry =
        Geometry::new(&case.sides, &case.parity.map(|p| p as i64), &[1, 1, 1], &[2, 1, 0]).expect("a geometry");
    let mut oracle = Transform::new(scheme.clone(), geometry);
    (oracle.boundary, oracle.layout, oracle.gain_shift) = (boundary, Layout::Mallat, case.gain.unwrap_or(0));
    let places: Vec<Place> = (0..9).map(|array| case.place(array)).collect();
    let low = places[1].shape;
    // Index in the Mallat layout of the samples of an array, in order.
    let mallat = |array: usize| -> Vec<usize> {
        let ([d, h, w], [_, height, width]) = (places[array].shape, case.sides);
        let band = array.saturating_sub(1);
        let [z0, y0, x0] = [0, 1, 2].map(|axis: usize| low[axis] * (band >> (2 - axis) & 1));
        let index = |z: usize, y: usize, x: usize| ((z0 + z) * height + y0 + y) * width + x0 + x;
        (0..d).flat_map(|z| (0..h).flat_map(move |y| (0..w).map(move |x| index(z, y, x)))).collect()
    };
    for direction in [Direction::Forward, Direction::Inverse] {
        let options = Options { sample: T::SCALAR, boundary, direction, gain: case.gain.is_some() };
        let shape = shape(scheme, options)?;
        let whole = case.parity[1..] == [0, 0] && case.aligned;
        for (aligned, whole_sectors) in [(false, false), (true, false), (true, true)] {
            if aligned && !whole || whole_sectors && direction == Direction::Inverse {
                continue;
            }
            let shape = Shape { aligned, whole_sectors, ..shape };
            let kernel = match volume::kernel(scheme, options, shape) {
                // Too few lanes.
                Err(ScheduleError::Reach { .. }) if whole_sectors => continue,
                made => made?,
            };
            let block = volume::fit(scheme, options, shape)?;
            let tuning = match block.arguments(&job(&case, T::SCALAR.bytes()), 132) {
                Ok(tuning) => tuning,
                // Rows that are not whole vectors.
                Err(ScheduleError::Launch { .. }) if aligned => continue,
                Err(ScheduleError::Launch { .. }) => return Ok(false),
                Err(e) => panic!("{e}"),
            };
            assert!(!case.aligned || tuning.aligned == 3, "{case:?}");
            let info = validate(&kernel).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
            let samples = case.sides.iter().product::<usize>();
            let volumes: Vec<Vec<T>> = (0..case.batch).map(|_| (0..samples).map(|_| sample()).collect()).collect();
            let mut expected = volumes.clone();
            for volume in &mut expected {
                match direction {
                    Direction::Forward => oracle.forward(volume).expect("the oracle runs"),
                    Direction::Inverse => oracle.inverse(volume).expect("the oracle runs"),
                }
            }
            let order: Vec<usize> = match direction {
                Direction::Forward => (0..9).collect(),
                Direction::Inverse => (1..9).chain([0]).collect(),
            };
            let reads = |array: usize| (array == 0) == (direction == Direction::Forward);
            let mut args: Vec<Arg> = order
                .iter()
                .map(|&array| {
                    let place = &places[array];
                    let buffer = if reads(array) {
                        // What lies between the rows must not matter.
                        let mut values: Vec<T> = (0..place.len(&case)).map(|_| sample()).collect();
                        for (i, volume) in volumes.iter().enumerate() {
                            place.samples(i).zip(mallat(array)).for_each(|(to, from)| values[to] = volume[from]);
                        }
                        Buffer::new(&values)
                    } else {
                        Buffer::undefined(T::SCALAR, place.len(&case))
                    };
                    Arg::Buffer(buffer.misaligned(place.lead))
                })
                .collect();
            let scalar = |v: usize| Arg::Scalar(v as i64);
            args.extend([2, 1, 0].map(|axis: usize| scalar(case.sides[axis])));
            args.extend([2, 1, 0].map(|axis: usize| scalar(case.parity[axis])));
            args.extend([0, 1, 2].map(|i: usize| scalar(places[i].pitch)));
            args.extend([0, 1, 2].map(|i: usize| scalar(places[i].plane)));
            args.extend([0, 1, 2].map(|i: usize| scalar(places[i].stride)));
            args.extend([scalar(case.batch), scalar(case.chunk)]);
            args.extend([tuning.aligned, tuning.skew].map(|v| Arg::Scalar(v.into())));
            args.extend(case.gain.map(|g| Arg::Scalar(g.into())));
            let program = Program::new(&kernel, &info);
            program.run(&mut args, Limits::default()).unwrap_or_else(|e| panic!("{} {direction:?}: {e}", what()));
            for (arg, &array) in order.iter().enumerate().filter(|(_, array)| !reads(**array)) {
                let found: Vec<T> = args[arg].buffer().and_then(Buffer::to_vec).expect("the type that went in");
                for (i, volume) in expected.iter().enumerate() {
                    for (n, (at, from)) in places[array].samples(i).zip(mallat(array)).enumerate() {
                        let [_, h, w] = places[array].shape;
                        assert_eq!(
                            pattern(found[at]),
                            pattern(volume[from]),
                            "{} {direction:?} {shape:?} array {array} volume {i} plane {} row {} column {}: {:?}, {:?} expected",
                            what(),
                            n / w / h,
                            n / w % h,
                            n % w,
                            found[at],
                            volume[from]
                        );
                    }
                }
            }
        }
    }
    Ok(true)
}

type Shaped = fn(&Scheme, Options) -> Result<Shape, ScheduleError>;

fn check_type(
    scheme: &Scheme,
    boundary: Boundary,
    shape: Shaped,
    case: Case,
    scalar: Scalar,
    seed: u64,
) -> Result<bool, ScheduleError> {
    with_samples!(scalar, seed, check(scheme, boundary, shape, case))
}

/// Tiles so small that small volumes have several of them.
fn small(_: &Scheme, options: Options) -> Result<Shape, ScheduleError> {
    let (columns, warps) = match options.sample.bytes() {
        2 => (4, 8),
        4 => (2, 4),
        _ => (2, 8),
    };
    Ok(Shape { columns, pairs: 1, warps, min_blocks: 0, aligned: false, whole_sectors: false })
}

fn proposed(scheme: &Scheme, options: Options) -> Result<Shape, ScheduleError> {
    Shape::proposed(scheme, options).map(|shapes| shapes[0])
}

/// Whether threads have registers for it, whatever the border rule.
fn fits(scheme: &Scheme, scalar: Scalar) -> bool {
    scheme.name() != "dd137" || scalar != Scalar::I64
}

/// Every border rule, with sample types, parities, chunks and alignments taking turns over the sizes.
fn sizes(scheme: &Scheme, shape: Shaped, sizes: &[[usize; 3]]) {
    let mut turn = 0;
    for boundary in Boundary::ALL {
        let mut ran = 0;
        for &sides in sizes {
            turn += 1;
            let periodic = boundary == Boundary::Periodic;
            let case = Case {
                parity: if periodic { [turn % 2, 0, 0] } else { [turn % 2, turn / 2 % 2, turn / 3 % 2] },
                chunk: [1, 3, 64, 2][turn % 4],
                aligned: periodic || turn % 3 == 0,
                ..Case::new(sides)
            };
            let scalar = types(scheme)[turn % types(scheme).len()];
            let result = match fits(scheme, scalar) {
                true => {
                    check_type(scheme, boundary, shape, case, scalar, turn as u64).unwrap_or_else(|e| panic!("{e}"))
                }
                false => runs_or_names_a_limit(scheme, boundary, shape, case, scalar, turn as u64),
            };
            assert!(result || periodic || !fits(scheme, scalar), "{case:?}");
            ran += usize::from(result);
        }
        assert!(ran > 2, "{} {boundary}: only {ran} cases", scheme.name());
    }
}

const SMALL: [[usize; 3]; 14] = [
    [2, 2, 2],
    [2, 3, 2],
    [3, 2, 3],
    [2, 2, 40],
    [2, 40, 2],
    [40, 2, 2],
    [4, 4, 4],
    [5, 7, 11],
    [8, 8, 8],
    [9, 13, 3],
    [12, 10, 18],
    [31, 5, 61],
    [6, 26, 112],
    [17, 19, 113],
];

#[test]
fn small_volumes() {
    for scheme in wavelets() {
        sizes(&scheme, small, &SMALL);
    }
}

/// Around one tile and two, in every direction.
#[test]
fn around_a_tile() {
    for scheme in wavelets() {
        let all = [[4, 4, 48], [3, 5, 56], [9, 8, 57], [2, 10, 60], [5, 12, 61], [12, 4, 112], [6, 3, 119], [6, 6, 58]];
        sizes(&scheme, small, &all);
    }
}

/// The shape that is proposed, for every sample type, and one with as many columns a lane as there can be.
#[test]
fn shapes() {
    for scheme in wavelets() {
        for (i, &scalar) in types(&scheme).iter().enumerate() {
            let any: Shaped = |_, options| {
                let columns = (16 / options.sample.bytes() as u32).min(8);
                Ok(Shape { columns, pairs: 1, warps: 8, min_blocks: 0, aligned: false, whole_sectors: false })
            };
            for (j, shape) in [proposed, any].into_iter().enumerate() {
                let case = Case { aligned: true, chunk: 2 + j, ..Case::new([6 + i, 34, 136]) };
                let boundary = Boundary::ALL[(i + j) % 4];
                let case = if boundary == Boundary::Periodic { Case { sides: [8, 34, 136], ..case } } else { case };
                let ran = runs_or_names_a_limit(&scheme, boundary, shape, case, scalar, 7);
                assert!(ran || j > 0 || !fits(&scheme, scalar), "{} {scalar:?}", scheme.name());
            }
        }
    }
}

#[test]
fn batches_and_gains() {
    for (i, scheme) in wavelets().iter().enumerate() {
        for boundary in Boundary::ALL {
            let gain = (scheme.domain() == Domain::Integer).then_some(1 + i as u32);
            for aligned in [false, true] {
                let case = Case { batch: 3, gain, aligned, ..Case::new([10, 14, 24]) };
                assert_eq!(check_type(scheme, boundary, small, case, types(scheme)[0], 5), Ok(true));
            }
        }
    }
}

/// A case that runs, or is refused by a limit that it names.
fn runs_or_names_a_limit(
    scheme: &Scheme,
    boundary: Boundary,
    shape: Shaped,
    case: Case,
    scalar: Scalar,
    seed: u64,
) -> bool {
    ran_or_names_a_limit(scheme, check_type(scheme, boundary, shape, case, scalar, seed))
}

/// Steps within a pair ask no border rule along z, where no pair is cut.
#[test]
fn haar() {
    let text = "wavelet haar { domain integer; odd -= even[0]; even += odd[0] >> 1; }";
    let scheme = &lifting_dsl::compile(text).expect("it compiles").schemes[0];
    let case = Case { aligned: true, ..Case::new([8, 10, 30]) };
    for boundary in Boundary::ALL {
        assert_eq!(check_type(scheme, boundary, small, case, Scalar::I32, 3), Ok(true), "{boundary}");
        let cut = Case { sides: [7, 10, 30], ..case };
        let takes = matches!(boundary, Boundary::Edge | Boundary::Zero);
        assert_eq!(check_type(scheme, boundary, small, cut, Scalar::I32, 3), Ok(takes), "{boundary}");
    }
}

/// Lattices, stage by stage under the periodic rule, and as lifting steps under another.
#[test]
fn stage_by_stage() {
    let texts = [
        include_str!("../../lifting-dsl/tests/lattices.lift"),
        include_str!("../../lifting-dsl/tests/orthogonal.lift"),
    ];
    let mut ran = 0;
    for scheme in texts.into_iter().flat_map(|text| lifting_dsl::compile(text).expect("it compiles").schemes) {
        for (i, scalar) in types(&scheme).iter().enumerate() {
            let case = Case { parity: [i % 2, 0, 0], aligned: true, ..Case::new([4 + 2 * i, 10, 56]) };
            for shape in [small as Shaped, proposed] {
                ran += usize::from(runs_or_names_a_limit(&scheme, Boundary::Periodic, shape, case, *scalar, 9));
            }
        }
        runs_or_names_a_limit(&scheme, Boundary::Zero, proposed, Case::new([8, 20, 64]), types(&scheme)[0], 1);
    }
    assert!(ran > 20, "only {ran} cases");
}

/// Every wavelet of the catalogue under its own border rule and another one.
#[test]
fn the_catalogue() {
    catalogue(4, 8, |i, scheme, boundary, scalar| {
        let case = Case { aligned: i % 8 > 3, ..Case::new([6, 26, 70]) };
        usize::from(runs_or_names_a_limit(scheme, boundary, proposed, case, scalar, i as u64))
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn random_schemes(
        scheme in prop_oneof![testing::any_scheme(Domain::Integer), testing::any_scheme(Domain::Real)],
        sides in [2usize..=14, 2usize..=20, 2usize..=70],
        parity in [0usize..=1, 0usize..=1, 0usize..=1],
        chunk in 1usize..=5,
        aligned in any::<bool>(),
        which in 0usize..4,
        seed in any::<u64>(),
    ) {
        let scalar = types(&scheme)[which % types(&scheme).len()];
        let mut case = Case { parity, chunk, aligned, ..Case::new(sides) };
        if scheme.boundary() == Boundary::Periodic {
            case.sides = case.sides.map(|n| n & !1);
        }
        let shape: Shaped = if seed % 2 == 0 { small } else { proposed };
        runs_or_names_a_limit(&scheme, scheme.boundary(), shape, case, scalar, seed);
    }
}

#[test]
fn refusals_name_the_limit() {
    let compiled = lifting_dsl::compile(
        "wavelet short { domain integer; odd -= even[0]; even += odd[0]; }
         wavelet lopsided { domain integer; odd -= even[1]; even += odd[0] >> 1; }
         wavelet far { domain integer; boundary zero; odd -= even[-60] + even[60]; }
         wavelet scaled { domain real; odd += 0.5*(even[0] + even[1]); odd *= 0.5; even += 0.25*(odd[-1] + odd[0]); }",
    );
    let mut text = String::new();
    let schemes = compiled.expect("it compiles").schemes;
    let usual = Shape { columns: 4, pairs: 3, warps: 8, min_blocks: 0, aligned: false, whole_sectors: false };
    let mut refuse = |scheme: &Scheme, sample: Scalar, boundary: Boundary, shape: Shape| {
        let options = Options { sample, boundary, direction: Direction::Forward, gain: false };
        let error = volume::kernel(scheme, options, shape).expect_err("a limit");
        text += &format!("{error}\n");
    };
    let [short, lopsided, far, scaled] = &schemes[..] else { panic!("four wavelets") };
    refuse(short, Scalar::F32, Boundary::Zero, usual);
    for shape in [
        Shape { columns: 8, ..usual },
        Shape { columns: 1, ..usual },
        Shape { pairs: 0, ..usual },
        Shape { warps: 0, ..usual },
        Shape { warps: 6, ..usual },
        Shape { pairs: 20, ..usual },
    ] {
        refuse(short, Scalar::I32, Boundary::Zero, shape);
    }
    refuse(lopsided, Scalar::I32, Boundary::WholeSymmetric, usual);
    refuse(far, Scalar::I32, Boundary::Zero, usual);
    refuse(scaled, Scalar::F32, Boundary::Edge, usual);
    refuse(scaled, Scalar::F32, Boundary::WholeSymmetric, Shape { whole_sectors: true, ..usual });
    refuse(short, Scalar::I64, Boundary::Zero, Shape { columns: 2, pairs: 6, warps: 16, ..usual });
    insta::assert_snapshot!(text);
}

/// What is refused of launches, and how long chunks are.
#[test]
fn launches() {
    let [_, legall53, cdf97] = wavelets();
    let options = |sample, boundary| Options { sample, boundary, direction: Direction::Forward, gain: false };
    let block = |boundary, aligned| {
        let shape = Shape { aligned, ..small(&legall53, options(Scalar::I32, boundary)).expect("a shape") };
        volume::fit(&legall53, options(Scalar::I32, boundary), shape).expect("a tile")
    };
    let case = Case { aligned: true, ..Case::new([64, 64, 64]) };
    let whole = job(&case, 4);
    let symmetric = block(Boundary::WholeSymmetric, false);
    assert_eq!(symmetric.arguments(&whole, 132).map(|t| t.aligned), Ok(3));
    let aligned = block(Boundary::Edge, true);
    assert_eq!(aligned.accepts(&whole), Ok(()));
    let planes = whole.planes.expect("it is a volume");
    let with = |planes: Planes| Job { planes: Some(planes), ..whole };
    // Tiles of 120 and of 112 columns.
    let sectors = volume::fit(
        &legall53,
        options(Scalar::I32, Boundary::Periodic),
        Shape { aligned: true, whole_sectors: true, columns: 4, pairs: 1, warps: 8, min_blocks: 0 },
    )
    .expect("a tile");
    let mut text = String::new();
    let periodic = block(Boundary::Periodic, false);
    for (block, job) in [
        (&symmetric, Job { planes: None, ..whole }),
        (&symmetric, with(Planes { depth: 1, ..planes })),
        (&symmetric, with(Planes { parity: 2, ..planes })),
        (&symmetric, with(Planes { steps: [1 << 31, 4096, 4096], ..planes })),
        (&symmetric, Job { width: 1, ..whole }),
        (&symmetric, Job { batch: 65536, ..whole }),
        (&symmetric, Job { height: 65535 * symmetric.rows() as i32 + 1, ..whole }),
        (&symmetric, with(Planes { high: planes.high.map(|band| Array { pitch: 65, ..band }), ..planes })),
        (&symmetric, with(Planes { high: planes.high.map(|band| Array { address: 1, ..band }), ..planes })),
        (&periodic, with(Planes { depth: 63, ..planes })),
        (&periodic, Job { width: 63, ..whole }),
        (&aligned, with(Planes { steps: [4097, 4096, 4096], ..planes })),
        (&aligned, Job { parity: [0, 1], ..whole }),
        (&aligned, Job { width: 63, ..whole }),
        (&aligned, Job { width: 2, ..whole }),
        (&aligned, Job { batch: 3, signal: Array { stride: 1 << 30, ..whole.signal }, ..whole }),
        (&aligned, with(Planes { depth: 1 << 19, ..planes })),
        (&sectors, job(&Case { aligned: true, ..Case::new([8, 8, 480]) }, 4)),
    ] {
        text += &format!("{}\n", block.accepts(&job).expect_err("a limit"));
    }
    insta::assert_snapshot!(text);
    assert_eq!(symmetric.accepts(&with(Planes { depth: 1 << 19, ..planes })), Ok(()));
    assert_eq!(sectors.accepts(&job(&Case { aligned: true, ..Case::new([8, 8, 512]) }, 4)), Ok(()));
    // Chunks with which the last block ends as early as may be.
    let options = options(Scalar::F32, Boundary::WholeSymmetric);
    let shape = Shape::proposed(&cdf97, options).expect("a tile")[0];
    let block = volume::fit(&cdf97, options, shape).expect("a tile");
    let chunk = |side| block.arguments(&job(&Case { sides: [side; 3], ..case }, 4), 132).expect("a legal job").chunk;
    insta::assert_snapshot!(format!("{:?}", [64, 128, 256, 512].map(chunk)));
}

/// Blocks that are taken up in order, as multiprocessors become free, end when `duration` says, with long and with short chunks.
#[test]
fn durations() {
    let [.., cdf97] = wavelets();
    let options =
        Options { sample: Scalar::F32, boundary: Boundary::WholeSymmetric, direction: Direction::Inverse, gain: false };
    let shape = Shape::proposed(&cdf97, options).expect("a tile")[0];
    let block = volume::fit(&cdf97, options, shape).expect("a tile");
    for (sides, batch, multiprocessors) in
        [([512, 512, 512], 1, 132), ([480, 400, 300], 1, 108), ([64, 64, 64], 7, 132), ([201, 30, 40], 2, 5)]
    {
        let case = Case { batch, ..Case::new(sides) };
        let job = job(&case, 4);
        let [depth, height, width] = sides.map(|n| n as i64);
        let tiles = (width as u64).div_ceil(block.columns() as u64) * (height as u64).div_ceil(block.rows() as u64);
        let simulated = |chunk: i64| {
            let mut ends = vec![0; multiprocessors as usize];
            for part in 0..(depth + 1) / 2 {
                let walked = ((depth + 1) / 2 - part * chunk).min(chunk);
                for _ in 0..if walked > 0 { tiles * batch as u64 } else { 0 } {
                    *ends.iter_mut().min().expect("there are some") += walked + block.halo_pairs();
                }
            }
            ends.into_iter().max().expect("there are some")
        };
        let chunks = 1..=(depth + 1) / 2;
        for chunk in chunks.clone() {
            assert_eq!(block.duration(&job, chunk as i32, multiprocessors), simulated(chunk), "{case:?} {chunk}");
        }
        let chosen = block.arguments(&job, multiprocessors).expect("a legal job").chunk;
        assert_eq!(Some(simulated(chosen.into())), chunks.map(simulated).min());
    }
}
