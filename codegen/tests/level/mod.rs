//! One level of both axes, by the kernels of a schedule on the interpreter, against the oracle: every border rule, both orders of the axes,
//! awkward sizes, parities, sample types, directions, heights of chunks, alignments, batches, gains.

use crate::support::{pattern, ran_or_names_a_limit, types};
use crate::with_samples;
use lifting_codegen::ir::interp::{Arg, Buffer, Element, Options as Limits, Program};
use lifting_codegen::ir::{Kernel, Scalar, valid::validate};
use lifting_codegen::schedule::level::{Arguments, Array, BANDS_ALIGNED, Job, Order, SIGNAL_ALIGNED};
use lifting_codegen::schedule::{Direction, Options, ScheduleError};
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::oracle::Transform;
use lifting_dsl::sample::Sample;
use lifting_dsl::{Boundary, Scheme};

/// One launch.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub width: usize,
    pub height: usize,
    pub parity: [usize; 2],
    pub order: Order,
    pub chunk: usize,
    pub batch: usize,
    pub gain: Option<u32>,
    /// Rows of all arrays begin where vectors begin.
    pub aligned: bool,
    /// But those of bands begin anywhere.
    pub bands_anywhere: bool,
}

impl Case {
    pub fn new(width: usize, height: usize) -> Case {
        let order = Order::HorizontalFirst;
        let (aligned, bands_anywhere) = (false, false);
        Case { width, height, parity: [0, 0], order, chunk: 8, batch: 1, gain: None, aligned, bands_anywhere }
    }

    /// Columns and rows of the image and of the four bands.
    fn shapes(&self) -> [(usize, usize); 5] {
        let low = |n: usize, parity: usize| (parity + n).div_ceil(2) - parity;
        let (w, h) = (low(self.width, self.parity[0]), low(self.height, self.parity[1]));
        let (v, g) = (self.width - w, self.height - h);
        [(self.width, self.height), (w, h), (v, h), (w, g), (v, g)]
    }
}

/// The image (0) or a band (1 to 4: ll, hl, lh, hh) in memory.
struct Place {
    columns: usize,
    rows: usize,
    /// Elements before the first sample.
    lead: usize,
    pitch: usize,
    stride: usize,
}

/// Samples of every array stand at their positions: an aligned row begins a vector at position 0.
fn places(case: &Case) -> [Place; 5] {
    let shapes = case.shapes();
    let aligned = |i: usize| case.aligned && (i == 0 || !case.bands_anywhere);
    let pitch = |i: usize| {
        let widest = if i < 2 { shapes[i].0 } else { shapes[2].0.max(shapes[3].0) };
        if aligned(i) { (widest + 2).next_multiple_of(16) } else { widest + 3 }
    };
    std::array::from_fn(|i| {
        let (columns, rows) = shapes[i];
        let at_odd = case.parity[0] == 1 && [0, 1, 3].contains(&i);
        let lead = if aligned(i) { usize::from(at_odd) } else { [1, 2, 3, 0, 5][i] };
        let tallest = if i < 2 { rows } else { shapes[2].1.max(shapes[3].1) };
        let stride = pitch(i) * tallest + if aligned(i) { 16 } else { 1 };
        Place { columns, rows, lead, pitch: pitch(i), stride }
    })
}

impl Place {
    /// Elements from the first sample on.
    fn len(&self, case: &Case) -> usize {
        self.stride * (case.batch - 1) + self.pitch * (self.rows.max(1) - 1) + self.columns
    }

    fn array(&self, bytes: usize) -> Array {
        Array { address: (self.lead * bytes) as u64, pitch: self.pitch as i64, stride: self.stride as i64 }
    }

    fn samples(&self, image: usize) -> impl Iterator<Item = usize> {
        let (pitch, columns, start) = (self.pitch, self.columns, self.stride * image);
        (0..self.rows).flat_map(move |y| (0..columns).map(move |x| start + y * pitch + x))
    }
}

/// The tuning of a job, or what stands against it.
type Tune = dyn Fn(&Job) -> Result<Arguments, ScheduleError>;

/// A kernel, and what it is launched with.
pub struct Made {
    pub kernel: Kernel,
    pub tuning: Box<Tune>,
}

/// A schedule with its shape: of a thread's and a block's share.
pub trait Schedule: Copy + std::fmt::Debug {
    fn make(&self, scheme: &Scheme, options: Options, order: Order) -> Result<Made, ScheduleError>;

    /// The kernels for a case of aligned rows that begin at even positions, if there are some of their own.
    fn for_aligned(&self, _case: &Case) -> Vec<Self> {
        Vec::new()
    }

    /// The kernel for images whose rows are aligned and begin at even positions, with bands anywhere, if there is one of its own.
    fn for_image(&self) -> Option<Self> {
        None
    }
}

fn legal(made: &Made, case: &Case, bytes: usize) -> Option<Arguments> {
    let places = places(case);
    let arrays = [0, 1, 2, 3, 4].map(|i: usize| places[i].array(bytes));
    let job = Job {
        signal: arrays[0],
        bands: [arrays[1], arrays[2], arrays[3], arrays[4]],
        width: case.width as i32,
        height: case.height as i32,
        parity: case.parity.map(|p| p as i32),
        batch: case.batch as i32,
        planes: None,
        coarse: None,
        levels: 1,
    };
    match (made.tuning)(&job) {
        Ok(tuning) => {
            let wanted = if case.bands_anywhere { SIGNAL_ALIGNED } else { SIGNAL_ALIGNED | BANDS_ALIGNED };
            assert!(!case.aligned || tuning.aligned & wanted == wanted, "{case:?}");
            Some(tuning)
        }
        Err(ScheduleError::Launch { .. }) => None,
        Err(e) => panic!("{e}"),
    }
}

/// Runs both directions and compares every sample with the oracle, bit for bit. False if the launch is not legal.
pub fn check<T: Sample + Element>(
    scheme: &Scheme,
    boundary: Boundary,
    schedule: impl Schedule,
    case: Case,
    mut sample: impl FnMut() -> T,
) -> Result<bool, ScheduleError> {
    let what = || format!("{} {boundary} {} {schedule:?} {case:?}", scheme.name(), T::KIND);
    let order = match case.order {
        Order::HorizontalFirst => [1, 0],
        Order::VerticalFirst => [0, 1],
    };
    let origins = [case.parity[1] as i64, case.parity[0] as i64];
    let geometry = Geometry::new(&[case.height, case.width], &origins, &[1, 1], &order).expect("a geometry");
    let mut oracle = Transform::new(scheme.clone(), geometry);
    (oracle.boundary, oracle.layout, oracle.gain_shift) = (boundary, Layout::Mallat, case.gain.unwrap_or(0));
    let (places, shapes) = (places(&case), case.shapes());
    // Index in the Mallat layout of the samples of each band, in order.
    let mallat = |band: usize| {
        let (columns, rows) = shapes[band + 1];
        let (left, top) = ((band % 2) * shapes[1].0, (band / 2) * shapes[1].1);
        (0..rows).flat_map(move |y| (0..columns).map(move |x| (top + y) * case.width + left + x))
    };
    for direction in [Direction::Forward, Direction::Inverse] {
        let options = Options { sample: T::SCALAR, boundary, direction, gain: case.gain.is_some() };
        let made = schedule.make(scheme, options, case.order)?;
        let Some(tuning) = legal(&made, &case, T::SCALAR.bytes()) else { return Ok(false) };
        let info = validate(&made.kernel).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
        // What goes in, image by image, and what must come out.
        let images: Vec<Vec<T>> =
            (0..case.batch).map(|_| (0..case.width * case.height).map(|_| sample()).collect()).collect();
        let mut expected = images.clone();
        for image in &mut expected {
            match direction {
                Direction::Forward => oracle.forward(image).expect("the oracle runs"),
                Direction::Inverse => oracle.inverse(image).expect("the oracle runs"),
            }
        }
        let indices = |array: usize| -> Vec<usize> {
            if array == 0 { (0..case.width * case.height).collect() } else { mallat(array - 1).collect() }
        };
        let order: [usize; 5] = match direction {
            Direction::Forward => [0, 1, 2, 3, 4],
            Direction::Inverse => [1, 2, 3, 4, 0],
        };
        let reads = |array: usize| (array == 0) == (direction == Direction::Forward);
        let mut args: Vec<Arg> = order
            .iter()
            .map(|&array| {
                let place = &places[array];
                let buffer = if reads(array) {
                    // What lies between the rows must not matter.
                    let mut values: Vec<T> = (0..place.len(&case)).map(|_| sample()).collect();
                    for (i, image) in images.iter().enumerate() {
                        place.samples(i).zip(indices(array)).for_each(|(to, from)| values[to] = image[from]);
                    }
                    Buffer::new(&values)
                } else {
                    Buffer::undefined(T::SCALAR, place.len(&case))
                };
                Arg::Buffer(buffer.misaligned(place.lead))
            })
            .collect();
        let scalar = |v: usize| Arg::Scalar(v as i64);
        args.extend([case.width, case.height, case.parity[0], case.parity[1]].map(scalar));
        args.extend([0, 1, 2].map(|i: usize| scalar(places[i].pitch)));
        args.extend([0, 1, 2].map(|i: usize| scalar(places[i].stride)));
        args.extend([scalar(case.batch), scalar(case.chunk)]);
        args.extend([tuning.aligned, tuning.skew].map(|v| Arg::Scalar(v.into())));
        args.extend(case.gain.map(|g| Arg::Scalar(g.into())));
        let program = Program::new(&made.kernel, &info);
        program.run(&mut args, Limits::default()).unwrap_or_else(|e| panic!("{} {direction:?}: {e}", what()));
        for (arg, &array) in order.iter().enumerate().filter(|(_, array)| !reads(**array)) {
            let found: Vec<T> = args[arg].buffer().and_then(Buffer::to_vec).expect("the type that went in");
            for (i, image) in expected.iter().enumerate() {
                for (n, (at, from)) in places[array].samples(i).zip(indices(array)).enumerate() {
                    let columns = places[array].columns;
                    assert_eq!(
                        pattern(found[at]),
                        pattern(image[from]),
                        "{} {direction:?} array {array} image {i} row {} column {}: {:?}, {:?} expected",
                        what(),
                        n / columns,
                        n % columns,
                        found[at],
                        image[from]
                    );
                }
            }
        }
    }
    Ok(true)
}

/// [`check`] for a scalar's type, with samples from the seed.
pub fn check_type(
    scheme: &Scheme,
    boundary: Boundary,
    schedule: impl Schedule,
    case: Case,
    scalar: Scalar,
    seed: u64,
) -> Result<bool, ScheduleError> {
    with_samples!(scalar, seed, check(scheme, boundary, schedule, case))
}

/// Runs a case that must be possible, on every kernel that takes it, unless periodic does not suit its sizes. Says whether it ran.
pub fn must(
    scheme: &Scheme,
    boundary: Boundary,
    schedule: impl Schedule,
    case: Case,
    scalar: Scalar,
    seed: u64,
) -> bool {
    let is_even = case.aligned && case.parity[0] == 0;
    let aligned = if is_even { schedule.for_aligned(&case) } else { Vec::new() };
    let anywhere = Case { bands_anywhere: true, ..case };
    let image = schedule.for_image().filter(|_| is_even && case.parity[1] == 0);
    let of_image = image.into_iter().flat_map(|schedule| [(schedule, case), (schedule, anywhere)]);
    let others = aligned.into_iter().map(|schedule| (schedule, case)).chain(of_image);
    std::iter::once((schedule, case)).chain(others).all(|(schedule, case)| {
        match check_type(scheme, boundary, schedule, case, scalar, seed) {
            Ok(ran) => {
                assert!(ran || boundary == Boundary::Periodic, "{} {case:?}", scheme.name());
                ran
            }
            Err(e) => panic!("{e}"),
        }
    })
}

/// Every border rule, with the sample types, orders, parities, chunks and alignments taking turns over the sizes.
pub fn sizes<S: Schedule>(scheme: &Scheme, schedule: fn(Scalar) -> S, sizes: &[(usize, usize)]) {
    let mut turn = 0;
    for boundary in Boundary::ALL {
        let mut ran = 0;
        for &(width, height) in sizes {
            for _ in 0..2 {
                turn += 1;
                let periodic = boundary == Boundary::Periodic;
                let case = Case {
                    parity: [if periodic { 0 } else { turn % 2 }, turn / 2 % 2],
                    order: [Order::HorizontalFirst, Order::VerticalFirst][turn / 3 % 2],
                    chunk: [1, 3, 8, 64][turn / 2 % 4],
                    aligned: periodic || turn % 3 == 0,
                    ..Case::new(width, height)
                };
                let scalar = types(scheme)[turn % types(scheme).len()];
                ran += usize::from(must(scheme, boundary, schedule(scalar), case, scalar, turn as u64));
            }
        }
        assert!(ran > 3, "{} {boundary}: only {ran} cases", scheme.name());
    }
}

/// Lattices, stage by stage under the periodic rule, and as lifting steps under another.
pub fn lattices<S: Schedule>(schedule: fn(Scalar) -> S) {
    let texts = [
        include_str!("../../../lifting-dsl/tests/lattices.lift"),
        include_str!("../../../lifting-dsl/tests/orthogonal.lift"),
    ];
    let mut turn = 0;
    for scheme in texts.into_iter().flat_map(|text| lifting_dsl::compile(text).expect("it compiles").schemes) {
        let sizes = [(8, 2), (8, 4), (16, 6), (24, 36), (40, 2), (56, 10), (64, 64), (128, 20), (240, 14), (264, 8)];
        let mut ran = 0;
        for (width, height) in sizes {
            for scalar in types(&scheme) {
                turn += 1;
                let case = Case {
                    parity: [0, turn % 2],
                    order: [Order::HorizontalFirst, Order::VerticalFirst][turn / 2 % 2],
                    chunk: [1, 3, 8, 64][turn / 3 % 4],
                    batch: 1 + turn % 5 / 4,
                    aligned: true,
                    ..Case::new(width, height)
                };
                ran += usize::from(must(&scheme, Boundary::Periodic, schedule(*scalar), case, *scalar, turn as u64));
            }
        }
        // A single stage asks no border rule, and is refused where a border cuts a pair.
        let single = scheme.stages(Boundary::Periodic).is_some_and(|stages| stages.len() == 1);
        assert_eq!(ran, if single { ran.max(16) } else { 40 }, "{}", scheme.name());
        let (scalar, case) = (types(&scheme)[0], Case::new(64, 20));
        runs_or_names_a_limit(&scheme, Boundary::Zero, schedule(scalar), case, scalar, 1);
    }
}

pub const SMALL: [(usize, usize); 17] = [
    (2, 2),
    (3, 2),
    (2, 3),
    (2, 40),
    (40, 2),
    (4, 4),
    (5, 7),
    (8, 8),
    (9, 13),
    (12, 10),
    (16, 6),
    (17, 16),
    (24, 36),
    (31, 33),
    (32, 34),
    (39, 21),
    (40, 40),
];

/// A case that runs, or is refused by a limit that it names.
pub fn runs_or_names_a_limit(
    scheme: &Scheme,
    boundary: Boundary,
    schedule: impl Schedule,
    case: Case,
    scalar: Scalar,
    seed: u64,
) -> bool {
    ran_or_names_a_limit(scheme, check_type(scheme, boundary, schedule, case, scalar, seed))
}
