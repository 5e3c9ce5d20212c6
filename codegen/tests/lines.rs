//! Lines that a pass transforms on the interpreter, compared with the oracle in both directions.

use crate::testing::pattern;
use crate::with_samples;
use lifting_codegen::ir::interp::{Arg, Buffer, Element, Options as Limits, Program};
use lifting_codegen::ir::{Kernel, Scalar, valid::validate};
use lifting_codegen::schedule::{Along, Options, ScheduleError};
use lifting_dsl::geometry::{Geometry, Layout};
use lifting_dsl::oracle::Transform;
use lifting_dsl::sample::{Arithmetic, Sample, SampleType};
use lifting_dsl::{Boundary, Direction, Scheme};

/// A bound on errors: the first fault among results, from the scheme, the line's direction, border rule and parity, the
/// sample type, and the given samples and results. Bands are interleaved.
pub type Bound = fn(&Scheme, (Direction, Boundary, usize), SampleType, [&[f64]; 2]) -> Option<String>;

/// A schedule under test.
pub struct Subject<'a> {
    pub name: String,
    pub along: Along,
    /// Writes the kernel.
    pub write: &'a dyn Fn(&Scheme, Options) -> Result<Kernel, ScheduleError>,
    /// Bound on the errors of results that do not have the bits of lifting.
    pub bound: Option<Bound>,
}

/// One launch: `batch` images of `lines` lines of `length` samples, the first at position `parity`.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub length: usize,
    pub parity: usize,
    pub lines: usize,
    pub batch: usize,
    /// Samples between the end of one row and the start of the next.
    pub gap: usize,
    /// Gain in bits: samples shift left on the way in and right on the way out. `None`: no gain is compiled in.
    pub gain: Option<u32>,
}

impl Case {
    pub fn line(length: usize, parity: usize) -> Case {
        Case { length, parity, lines: 2, batch: 1, gap: 0, gain: None }
    }

    fn low(&self) -> usize {
        (self.parity + self.length).div_ceil(2) - self.parity
    }
}

/// An array of `batch` images whose lines have `n` samples each, with its pitch and stride.
struct Array {
    n: usize,
    pitch: usize,
    stride: usize,
    along_rows: bool,
}

impl Array {
    fn new(case: &Case, n: usize, along: Along) -> Array {
        let along_rows = along == Along::Row;
        let (rows, columns) = if along_rows { (case.lines, n) } else { (n, case.lines) };
        let pitch = columns + case.gap;
        Array { n, pitch, stride: rows * pitch + 3 * case.gap, along_rows }
    }

    fn len(&self, case: &Case) -> usize {
        (self.stride * case.batch).max(1)
    }

    fn index(&self, image: usize, line: usize, i: usize) -> usize {
        let (row, column) = if self.along_rows { (line, i) } else { (i, line) };
        image * self.stride + row * self.pitch + column
    }

    fn line<T: Copy>(&self, data: &[T], image: usize, line: usize) -> Vec<T> {
        (0..self.n).map(|i| data[self.index(image, line, i)]).collect()
    }
}

/// Runs both directions of a case and compares every sample with the oracle, bit for bit.
fn check<T: Sample + Element>(
    scheme: &Scheme,
    subject: &Subject,
    boundary: Boundary,
    case: Case,
    mut sample: impl FnMut() -> T,
) {
    let what = || format!("{} {} {boundary} {} {case:?}", scheme.name(), subject.name, T::KIND);
    let signal = Array::new(&case, case.length, subject.along);
    let low = Array::new(&case, case.low(), subject.along);
    let high = Array::new(&case, case.length - case.low(), subject.along);
    let data: Vec<T> = (0..signal.len(&case)).map(|_| sample()).collect();

    let geometry = Geometry::new(&[case.length], &[case.parity as i64], &[1], &[0]).expect("a geometry");
    let mut oracle = Transform::new(scheme.clone(), geometry);
    (oracle.boundary, oracle.layout) = (boundary, Layout::Interleaved);

    for direction in [Direction::Forward, Direction::Inverse] {
        let options = Options { gain: case.gain.is_some(), ..Options::new(T::SCALAR, boundary, direction) };
        let kernel = (subject.write)(scheme, options).unwrap_or_else(|e| panic!("{}: {e}", what()));
        let info = validate(&kernel).unwrap_or_else(|e| panic!("{}: {e:?}", what()));
        let program = Program::new(&kernel, &info);
        let scalar = |v: usize| Arg::Scalar(v as i64);
        let shape = [scalar(case.length), scalar(case.parity), scalar(case.lines)];
        let arrays = match direction {
            Direction::Forward => [&signal, &low, &high],
            Direction::Inverse => [&low, &high, &signal],
        };
        let mut args: Vec<Arg> = arrays
            .iter()
            .enumerate()
            .map(|(i, a)| {
                Arg::Buffer(match (direction, i) {
                    (Direction::Forward, 0) => Buffer::new(&data),
                    (Direction::Inverse, 0 | 1) => {
                        let values: Vec<T> = (0..a.len(&case)).map(|_| sample()).collect();
                        Buffer::new(&values)
                    }
                    _ => Buffer::undefined(T::SCALAR, a.len(&case)),
                })
            })
            .collect();
        args.extend(shape);
        args.extend(arrays.iter().map(|a| scalar(a.pitch)));
        args.extend(arrays.iter().map(|a| scalar(a.stride)));
        args.push(scalar(case.batch));
        args.extend(case.gain.map(|g| scalar(g as usize)));
        let inputs = args.clone();
        program.run(&mut args, Limits::default()).unwrap_or_else(|e| panic!("{}: {e}", what()));

        let get = |args: &[Arg], i: usize, a: &Array, image: usize, line: usize| -> Vec<T> {
            let all = args[i].buffer().unwrap();
            let all: Vec<T> = all.to_vec().expect("the type that went in");
            a.line(&all, image, line)
        };
        for image in 0..case.batch {
            for line in 0..case.lines {
                let first_odd = 1 - case.parity;
                let weave = |low: Vec<T>, high: Vec<T>| -> Vec<T> {
                    let mut line = vec![T::default(); case.length];
                    line.iter_mut().skip(case.parity).step_by(2).zip(low).for_each(|(x, v)| *x = v);
                    line.iter_mut().skip(first_odd).step_by(2).zip(high).for_each(|(x, v)| *x = v);
                    line
                };
                let (mut expected, found) = match direction {
                    Direction::Forward => (
                        get(&inputs, 0, &signal, image, line),
                        weave(get(&args, 1, &low, image, line), get(&args, 2, &high, image, line)),
                    ),
                    Direction::Inverse => (
                        weave(get(&inputs, 0, &low, image, line), get(&inputs, 1, &high, image, line)),
                        get(&args, 2, &signal, image, line),
                    ),
                };
                let given = expected.clone();
                let narrow = |x: &T, f: &dyn Fn(T::Work) -> T::Work| T::from_work(f(x.to_work()));
                let gain = case.gain.unwrap_or(0);
                if direction == Direction::Forward {
                    expected.iter_mut().for_each(|x| *x = narrow(x, &|w| w.gain(gain)));
                }
                match direction {
                    Direction::Forward => oracle.forward(&mut expected).expect("the oracle runs"),
                    Direction::Inverse => oracle.inverse(&mut expected).expect("the oracle runs"),
                }
                if direction == Direction::Inverse {
                    expected.iter_mut().for_each(|x| *x = narrow(x, &|w| w.ungain(gain)));
                }
                if let Some(bound) = subject.bound {
                    let exact = |samples: &[T]| samples.iter().map(|x| x.to_f64()).collect::<Vec<_>>();
                    // Lifting must keep the same bound, which shows that its steps are those filters.
                    for (whose, result) in [("lifting", &expected), ("found", &found)] {
                        let at = (direction, boundary, case.parity);
                        if let Some(fault) = bound(scheme, at, T::KIND, [&exact(&given), &exact(result)]) {
                            panic!("{} {direction:?} image {image} line {line}, {whose}: {fault}", what());
                        }
                    }
                    continue;
                }
                let bits = |v: &[T]| v.iter().copied().map(pattern).collect::<Vec<_>>();
                if bits(&expected) != bits(&found) {
                    let at = (0..expected.len()).find(|&i| pattern(expected[i]) != pattern(found[i]));
                    panic!(
                        "{} {direction:?} image {image} line {line} sample {at:?}\nexpected {expected:?}\nfound    {found:?}",
                        what()
                    );
                }
            }
        }
    }
}

/// [`check`] with samples of a type, from a seed.
pub fn check_type(scheme: &Scheme, subject: &Subject, boundary: Boundary, case: Case, scalar: Scalar, seed: u64) {
    with_samples!(scalar, seed, check(scheme, subject, boundary, case))
}

/// Odd lengths have no periodic extension.
pub fn is_legal(boundary: Boundary, case: &Case) -> bool {
    boundary != Boundary::Periodic || case.length.is_multiple_of(2)
}

/// 1, 2, 3, odd, prime, around a slice (64), around a window, around two.
pub const LENGTHS: [usize; 16] = [1, 2, 3, 4, 5, 7, 8, 13, 31, 32, 33, 63, 64, 65, 66, 131];
