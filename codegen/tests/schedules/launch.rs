//! Launches of any schedule on the interpreter, against the oracle.

use crate::testing::pattern;
use crate::with_samples;
use lifting_codegen::ir::interp::{Arg, Buffer, Element, Options as Limits, Program};
use lifting_codegen::ir::valid::validate;
use lifting_codegen::ir::{Kernel, Scalar};
use lifting_codegen::machine::Machine;
use lifting_codegen::opt::{self, Instance};
use lifting_codegen::schedule::level::{
    Arguments, Array, BANDS_ALIGNED, Job, Order, Planes, RowAlignment, SIGNAL_ALIGNED,
};
use lifting_codegen::schedule::{Extent, Fit, Options, ScheduleError, Shape};
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::oracle::Transform;
use lifting_dsl::sample::Sample;
use lifting_dsl::{Boundary, Direction, Scheme};
use std::sync::Arc;

/// Alignment of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rows {
    Anywhere,
    /// Rows of the image are aligned to vectors, those of bands are not.
    OfImageAligned,
    /// All rows are aligned to vectors.
    Aligned,
}

/// The array of a launch. Axes are z, y, x; an image has one plane.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub sides: [usize; 3],
    pub parity: [usize; 3],
    /// For launches of all levels.
    pub levels: u32,
    pub order: Order,
    /// Pairs of rows, or of planes, walked between halos; 0: the schedule's choice.
    pub chunk: i32,
    pub batch: usize,
    pub gain: Option<u32>,
    pub rows: Rows,
}

impl Case {
    pub fn new(sides: [usize; 3]) -> Case {
        let order = Order::HorizontalFirst;
        Case { sides, parity: [0; 3], levels: 1, order, chunk: 3, batch: 1, gain: None, rows: Rows::Anywhere }
    }

    fn geometry(&self, extent: Extent) -> Geometry {
        let levels = match extent {
            Extent::Plane => [0, 1, 1],
            Extent::TwoLevels => [0, 2, 2],
            Extent::AllLevels => [0, self.levels, self.levels],
            Extent::Volume => [1, 1, 1],
        };
        let order: &[usize] = match (extent, self.order) {
            (Extent::Volume, _) => &[2, 1, 0],
            (_, Order::HorizontalFirst) => &[2, 1],
            (_, Order::VerticalFirst) => &[1, 2],
        };
        Geometry::new(&self.sides, &self.parity.map(|p| p as i64), &levels, order).expect("a geometry")
    }

    /// The signal and the bands, in the order of [`Job`]'s arrays.
    fn places(&self, extent: Extent, geometry: &Geometry) -> Vec<Placement> {
        let three = |v: &[usize]| [v[0], v[1], v[2]];
        let mut boxes: Vec<_> = match extent {
            Extent::AllLevels => vec![([0; 3], self.sides, false)],
            _ => {
                geometry.bands(Layout::Mallat).iter().map(|b| (three(&b.offset), three(&b.shape), b.high[2])).collect()
            }
        };
        if extent == Extent::TwoLevels {
            // The low band, then the bands of the first level.
            boxes[1..].rotate_left(3);
        }
        boxes.insert(0, ([0; 3], self.sides, false));
        // All bands but the low one share strides.
        let kind = |i: usize| i.min(2);
        let largest = |i: usize, axis: usize| {
            let sides = boxes.iter().enumerate().filter(|(j, _)| kind(*j) == kind(i)).map(|(_, b)| b.1[axis]);
            sides.max().expect("it is one of them")
        };
        let place = |(i, &(offset, sides, high)): (usize, &([usize; 3], [usize; 3], bool))| {
            let aligned = self.rows == Rows::Aligned || self.rows == Rows::OfImageAligned && i == 0;
            // Samples are placed by position: in an aligned row, position 0 begins a vector.
            let lead = if aligned { usize::from(self.parity[2] == 1 && !high) } else { [1, 2, 3, 0, 5, 1, 0, 2, 3][i] };
            let pitch = if aligned { (largest(i, 2) + 2).next_multiple_of(16) } else { largest(i, 2) + 3 };
            let plane = pitch * largest(i, 1) + if aligned { 16 } else { 5 };
            let stride = plane * largest(i, 0) + if aligned { 16 } else { 1 };
            Placement { offset, sides, lead, pitch, plane, stride }
        };
        boxes.iter().enumerate().map(place).collect()
    }

    fn job(&self, extent: Extent, places: &[Placement], bytes: usize) -> Job {
        let array = |i: usize| {
            let Placement { lead, pitch, stride, .. } = places[if extent == Extent::AllLevels { i.min(1) } else { i }];
            Array { address: (lead * bytes) as u64, pitch: pitch as i64, stride: stride as i64 }
        };
        let [depth, height, width] = self.sides.map(|n| n as i32);
        let [z, y, x] = self.parity.map(|p| p as i32);
        Job {
            parity: [x, y],
            batch: self.batch as i32,
            planes: (extent == Extent::Volume).then(|| Planes {
                high: [5, 6, 7, 8].map(array),
                steps: [0, 1, 2].map(|i: usize| places[i].plane as i64),
                depth,
                parity: z,
            }),
            coarse: (extent == Extent::TwoLevels).then(|| [5, 6, 7].map(array)),
            levels: if extent == Extent::AllLevels { self.levels as i32 } else { 1 },
            ..Job::image(array(0), [1, 2, 3, 4].map(array), width, height)
        }
    }
}

/// A box of the signal, or of the coefficients in the Mallat layout, as an array in memory.
struct Placement {
    offset: [usize; 3],
    sides: [usize; 3],
    /// Elements before the first sample.
    lead: usize,
    pitch: usize,
    plane: usize,
    stride: usize,
}

impl Placement {
    /// Elements from the first sample to the last.
    fn len(&self, batch: usize) -> usize {
        let [z, y, x] = self.sides;
        self.stride * (batch - 1) + self.plane * (z.max(1) - 1) + self.pitch * (y.max(1) - 1) + x
    }

    /// The offsets of all samples: in memory, and in the whole.
    fn samples(&self, image: usize, [_, height, width]: [usize; 3]) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Placement { offset: [z0, y0, x0], sides: [d, h, w], pitch, plane, stride, .. } = *self;
        let at = move |z: usize, y: usize, x: usize| {
            let whole = ((z0 + z) * height + y0 + y) * width + x0 + x;
            (image * stride + z * plane + y * pitch + x, whole)
        };
        (0..d).flat_map(move |z| (0..h).flat_map(move |y| (0..w).map(move |x| at(z, y, x))))
    }
}

/// The kernels of a shape that run a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernels {
    /// Every kernel that takes it.
    All,
    /// The fastest that takes it.
    Fastest,
    /// The one that takes the most.
    Last,
}

impl Kernels {
    /// One of them, by turns.
    pub fn one(turn: usize) -> Kernels {
        if turn.is_multiple_of(2) { Kernels::Fastest } else { Kernels::Last }
    }
}

/// A case, and the shape that runs it.
#[derive(Clone, Copy, Debug)]
pub struct Try {
    pub shape: Shape,
    pub boundary: Boundary,
    pub scalar: Scalar,
    pub case: Case,
    pub kernels: Kernels,
    pub seed: u64,
}

/// Result of a try.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Launches of analysis and of synthesis, over all kernels that take such rows.
    pub launches: [usize; 2],
    /// Whether the shape cannot hold the scheme.
    pub beyond_limits: bool,
}

impl Outcome {
    pub fn ran(&self) -> bool {
        self.launches.iter().all(|n| *n > 0)
    }
}

/// The key of a kernel.
type Key = (Shape, RowAlignment, Options, Order);

/// Runs tries of a schedule in both directions, on every kernel that takes them, and compares every sample with the
/// oracle, bit for bit. Each kernel is made once.
///
/// # Panics
/// If a sample differs, a kernel is unsound, or an error names a limit that is not exceeded.
pub fn run(scheme: &Scheme, tries: &[Try]) -> Vec<Outcome> {
    let mut outcomes = vec![Outcome::default(); tries.len()];
    let mut kernels: Vec<(Key, Vec<usize>)> = Vec::new();
    for (i, one) in tries.iter().enumerate() {
        let Try { shape, boundary, scalar, case, .. } = *one;
        for direction in [Direction::Forward, Direction::Inverse] {
            let options = Options { gain: case.gain.is_some(), ..Options::new(scalar, boundary, direction) };
            let takes = |&rows: &RowAlignment| {
                let fit = shape.schedule().fit(scheme, options, shape, rows);
                fit.is_ok_and(|fit| Launch::new(&fit, one).is_some())
            };
            let (last, others) = shape.schedule().alignments().split_last().expect("a schedule takes some rows");
            let taken: &[RowAlignment] = match one.kernels {
                Kernels::All => shape.schedule().alignments(),
                Kernels::Fastest => std::slice::from_ref(others.iter().find(|&rows| takes(rows)).unwrap_or(last)),
                Kernels::Last => std::slice::from_ref(last),
            };
            for &rows in taken {
                let key = (shape, rows, options, case.order);
                match kernels.iter_mut().find(|(other, _)| *other == key) {
                    Some((_, users)) => users.push(i),
                    None => kernels.push((key, vec![i])),
                }
            }
        }
    }
    let mut made: Vec<Made> = Vec::new();
    for ((shape, rows, options, order), users) in kernels {
        let what = |one: &Try| format!("{} {} {rows:?} {one:?}", scheme.name(), options.direction.name());
        let fit = match shape.schedule().fit(scheme, options, shape, rows) {
            Ok(fit) => fit,
            Err(error) => {
                let is_limit = is_limit(scheme, &error);
                // What prevents the most general kernel prevents all kernels.
                if Some(&rows) == shape.schedule().alignments().last() {
                    users.iter().for_each(|&i| outcomes[i].beyond_limits |= is_limit);
                }
                continue;
            }
        };
        let launches: Vec<_> = users.iter().filter_map(|&i| Some((i, Launch::new(&fit, &tries[i])?))).collect();
        if launches.is_empty() {
            continue;
        }
        let kernel = match fit.kernel(scheme, order) {
            Ok(kernel) => kernel,
            Err(error) => {
                assert!(is_limit(scheme, &error), "{error}");
                continue;
            }
        };
        validate(&kernel).unwrap_or_else(|e| panic!("{}: {e:?}", what(&tries[users[0]])));
        made.push((kernel, shape, launches, options.direction));
    }
    // As files have them, and for every second launch as plans have them.
    let as_written = shared(&made);
    for ((kernel, _, launches, direction), written) in made.iter().zip(&as_written) {
        for (turn, kernel) in [kernel, written].into_iter().enumerate() {
            let what = |one: &Try| format!("{} {one:?}, kernel {}", scheme.name(), kernel.name);
            let own: Vec<_> = launches.iter().skip((1 - turn) % launches.len()).step_by(2).collect();
            let Some((first, _)) = own.first() else { continue };
            let info = validate(kernel).unwrap_or_else(|e| panic!("{}: {e:?}", what(&tries[*first])));
            let program = Program::new(kernel, &info);
            for (i, launch) in own {
                let (one, what) = (&tries[*i], || what(&tries[*i]));
                with_samples!(one.scalar, one.seed, check(launch, scheme, &program, (one, *direction, &what)));
                // A lone launch runs both.
                let counts = turn == 0 || launches.len() > 1;
                outcomes[*i].launches[usize::from(*direction == Direction::Inverse)] += usize::from(counts);
            }
        }
    }
    outcomes
}

/// A kernel, its shape, the launches of tries by their indices, and its direction.
type Made = (Kernel, Shape, Vec<(usize, Launch)>, Direction);

/// The kernels as a file writes them: with loops, and those that differ only in constants as one.
fn shared(made: &[Made]) -> Vec<Kernel> {
    let instance = |(kernel, shape, ..): &Made| Instance {
        kernel: opt::reroll(kernel, &validate(kernel).expect("it is valid")),
        numbers: shape.numbers().map(|(name, n)| (name, n.into())).collect(),
    };
    let instances: Vec<Instance> = made.iter().map(instance).collect();
    let mut written = vec![None; made.len()];
    for template in opt::share(&instances) {
        for (at, (index, _)) in template.instances.iter().enumerate() {
            written[*index] = Some(template.instance(at));
        }
    }
    written.into_iter().map(|kernel| kernel.expect("each kernel has a template")).collect()
}

/// Whether the error names an exceeded limit; otherwise the kernel does not take such a launch.
fn is_limit(scheme: &Scheme, error: &ScheduleError) -> bool {
    match error {
        ScheduleError::Reach { required, available, what, .. } => {
            assert!(required > available, "{}: {what} is {required} of {available}", scheme.name());
            true
        }
        ScheduleError::Shape { .. } => true,
        ScheduleError::Launch { .. } => false,
        other => panic!("{}: {other}", scheme.name()),
    }
}

/// A launch that a kernel takes.
struct Launch {
    geometry: Geometry,
    places: Vec<Placement>,
    scalars: Vec<i64>,
}

impl Launch {
    /// None if the kernel does not take it.
    fn new(fit: &Arc<dyn Fit>, Try { shape, scalar, case, .. }: &Try) -> Option<Launch> {
        let extent = shape.schedule().extent();
        let geometry = case.geometry(extent);
        let places = case.places(extent, &geometry);
        let job = case.job(extent, &places, scalar.bytes());
        let arguments = match fit.arguments(&job, &Machine::default()) {
            Ok(arguments) => arguments,
            Err(ScheduleError::Launch { .. }) => return None,
            Err(e) => panic!("{e}"),
        };
        let known = match case.rows {
            Rows::Anywhere => 0,
            Rows::OfImageAligned => SIGNAL_ALIGNED,
            Rows::Aligned => SIGNAL_ALIGNED | BANDS_ALIGNED,
        };
        // Kernels that hold a whole image do not need aligned rows.
        assert!(shape.schedule().holds_whole() || arguments.aligned & known == known, "{shape:?} {case:?}");
        let chunk = if case.chunk == 0 || extent == Extent::AllLevels { arguments.chunk } else { case.chunk };
        let scalars = job.scalars(extent, Arguments { chunk, ..arguments }, case.gain);
        Some(Launch { geometry, places, scalars })
    }
}

/// Runs one launch and compares its results with the oracle's.
fn check<T: Sample + Element>(
    launch: &Launch,
    scheme: &Scheme,
    program: &Program,
    (Try { boundary, case, .. }, direction, what): (&Try, Direction, &dyn Fn() -> String),
    mut sample: impl FnMut() -> T,
) {
    let Launch { geometry, places, scalars } = launch;
    let mut oracle = Transform::new(scheme.clone(), geometry.clone());
    (oracle.boundary, oracle.layout, oracle.gain_shift) = (*boundary, Layout::Mallat, case.gain.unwrap_or(0));
    // Signals, or their bands in Mallat layout.
    let samples = case.sides.iter().product::<usize>();
    let inputs: Vec<Vec<T>> = (0..case.batch).map(|_| (0..samples).map(|_| sample()).collect()).collect();
    let mut expected = inputs.clone();
    for image in &mut expected {
        match direction {
            Direction::Forward => oracle.forward(image).expect("the oracle runs"),
            Direction::Inverse => oracle.inverse(image).expect("the oracle runs"),
        }
    }
    let reads = |i: usize| (i == 0) == (direction == Direction::Forward);
    // Arrays that are read come before arrays that are written.
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&i| !reads(i));
    let buffer = |&i: &usize| {
        let place = &places[i];
        let buffer = match reads(i) {
            false => Buffer::undefined(T::SCALAR, place.len(case.batch)),
            true => {
                // Elements between the rows must not matter.
                let mut values: Vec<T> = (0..place.len(case.batch)).map(|_| sample()).collect();
                for (n, input) in inputs.iter().enumerate() {
                    place.samples(n, case.sides).for_each(|(to, from)| values[to] = input[from]);
                }
                Buffer::new(&values)
            }
        };
        Arg::Buffer(buffer.misaligned(place.lead))
    };
    let mut args: Vec<Arg> = order.iter().map(buffer).collect();
    args.extend(scalars.iter().copied().map(Arg::Scalar));
    program.run(&mut args, Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", what()));
    for (arg, &i) in order.iter().enumerate().filter(|(_, i)| !reads(**i)) {
        let found: Vec<T> = args[arg].buffer().and_then(Buffer::to_vec).expect("the type that went in");
        for (n, expected) in expected.iter().enumerate() {
            for (k, (at, from)) in places[i].samples(n, case.sides).enumerate() {
                let [_, h, w] = places[i].sides;
                assert_eq!(
                    pattern(found[at]),
                    pattern(expected[from]),
                    "{} array {i} image {n} plane {} row {} column {}: {:?}, {:?} expected",
                    what(),
                    k / w / h,
                    k / w % h,
                    k % w,
                    found[at],
                    expected[from]
                );
            }
        }
    }
}
