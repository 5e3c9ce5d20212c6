//! Cost of a schedule without a launch: the interpreter runs its kernels on a given shape and counts.
//!
//! The figures are those of the papers: samples moved, 32-byte sectors, shared-memory wavefronts, barriers, operations.
//! M is the number of samples of all levels. A transform moves at least 2M samples, reads and writes together; separate
//! row and column passes move 4M.

use crate::ir::interp::{Arg, Buffer, Counts, Fault, Options, PerSample, Program};
use crate::ir::valid::{ValidationError, validate};
use crate::ir::{Kernel, ParamKind};
use crate::machine::Machine;
use crate::schedule::level::{Array, Job};
use crate::schedule::{self, Extent, Fit, ScheduleError};
use lifting_dsl::Direction;
use lifting_dsl::geometry::{Geometry, split};
use std::fmt;

/// The cost of one pass: one axis at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassCost {
    /// Levels done before this one; 0 for the whole array.
    pub level: u32,
    /// The axis, outermost first.
    pub axis: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Samples that the pass transforms.
    pub samples: u64,
    /// Counts of the pass.
    pub counts: Counts,
}

/// The cost of a transform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// M: the samples of every level.
    pub samples: u64,
    /// Its passes in the order of execution.
    pub passes: Vec<PassCost>,
}

impl Cost {
    /// All passes together.
    pub fn total(&self) -> Counts {
        self.passes.iter().map(|p| p.counts).sum()
    }

    /// All passes together, per sample of M.
    pub fn per_sample(&self) -> PerSample {
        self.total().per_sample(self.samples)
    }
}

/// Reasons for which a cost cannot be counted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CostError {
    /// The kernel is invalid.
    #[error("{}", .0.iter().map(|e| e.to_string()).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<ValidationError>),
    /// The kernel faulted.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The kernel's parameters are not those of a pass.
    #[error("kernel `{kernel}` does not have the parameters of a pass kernel")]
    Parameters {
        /// Kernel.
        kernel: String,
    },
    /// The schedule refuses the launch.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A kernel over both axes, and an array that is not an image.
    #[error("kernels over both axes are counted only on 2-D arrays with both axes transformed, from position 0 on")]
    NotAnImage,
    /// The array is too large to interpret.
    #[error(
        "an array of {samples} samples is too large to count; use a smaller one: the cost per sample is nearly the same"
    )]
    TooLarge {
        /// Samples.
        samples: usize,
    },
}

/// The most samples of an array that [`separable`] takes; it keeps about 100 bytes for each.
pub const MAX_SAMPLES: usize = 1 << 26;

/// The cost of a transform axis by axis: `row` runs along the innermost axis, `column` along the others.
///
/// Arrays are contiguous, in Mallat layout, and aligned as device allocations. Every pass goes from one array to
/// another.
///
/// # Errors
/// If a kernel is invalid, is not a pass kernel, or faults; or if the array has more than [`MAX_SAMPLES`] samples.
///
/// ```
/// use lifting_codegen::schedule::{Options, horizontal, vertical};
/// use lifting_codegen::{cost, ir::Scalar};
/// use lifting_dsl::{Boundary, Direction, geometry::Geometry};
///
/// let haar = "wavelet haar { domain real; odd -= even[0]; even += 0.5 * odd[0]; }";
/// let haar = lifting_dsl::compile(haar).unwrap().schemes.remove(0);
/// let (sample, direction) = (Scalar::F32, Direction::Forward);
/// let options = Options::new(sample, Boundary::WholeSymmetric, direction);
/// let row = horizontal::kernel(&haar, options, Default::default()).unwrap();
/// let column = vertical::kernel(&haar, options).unwrap();
/// let cost = cost::separable(&Geometry::uniform(&[64, 64], 2).unwrap(), direction, &row, &column).unwrap();
/// assert_eq!(cost.samples, 64 * 64 + 32 * 32);
/// assert_eq!(cost.per_sample().moved, 4.0);
/// ```
pub fn separable(geometry: &Geometry, direction: Direction, row: &Kernel, column: &Kernel) -> Result<Cost, CostError> {
    if geometry.samples() > MAX_SAMPLES {
        return Err(CostError::TooLarge { samples: geometry.samples() });
    }
    let infos = [validate(row), validate(column)].map(|info| info.map_err(CostError::Invalid));
    let [row_info, column_info] = infos;
    let (row_info, column_info) = (row_info?, column_info?);
    let programs = [Program::new(row, &row_info), Program::new(column, &column_info)];
    let innermost = geometry.rank() - 1;
    let mut cost = Cost { samples: 0, passes: Vec::new() };
    let mut levels: Vec<u32> = (0..geometry.depth()).collect();
    if direction == Direction::Inverse {
        levels.reverse();
    }
    for level in levels {
        let shape = geometry.level_shape(level);
        let samples = shape.iter().product::<usize>() as u64;
        cost.samples += samples;
        let mut axes = geometry.axes_at(level);
        if direction == Direction::Inverse {
            axes.reverse();
        }
        for axis in axes {
            let kernel = if axis == innermost { row } else { column };
            let origin = geometry.level_origins(level)[axis];
            let pass = Pass { full: geometry.shape(), shape: &shape, axis, origin, direction };
            let counts = pass.run(kernel, &programs[usize::from(axis != innermost)])?;
            cost.passes.push(PassCost { level, axis, kernel: kernel.name.clone(), samples, counts });
        }
    }
    Ok(cost)
}

/// The counts of all levels of an image, by a kernel over both axes with parameters `src, ll, hl, lh, hh, …` or `ll,
/// hl, lh, hh, dst, …`.
///
/// Every band is a separate array with aligned rows. The kernel must be the fit's.
///
/// # Errors
/// If the geometry does not have two axes, both transformed at every level from even positions on; if the kernel is
/// invalid, is made for other arrays, faults, or must not be launched on a level's shape; or if the array has more than
/// [`MAX_SAMPLES`] samples.
pub fn both_axes(
    geometry: &Geometry,
    options: schedule::Options,
    kernel: &Kernel,
    fit: &dyn Fit,
) -> Result<Counts, CostError> {
    if geometry.samples() > MAX_SAMPLES {
        return Err(CostError::TooLarge { samples: geometry.samples() });
    }
    let info = validate(kernel).map_err(CostError::Invalid)?;
    let program = Program::new(kernel, &info);
    let mut total = Counts::default();
    for level in 0..geometry.depth() {
        let ([height, width], [0, 0], 2) =
            (&geometry.level_shape(level)[..], &geometry.level_origins(level)[..], geometry.axes_at(level).len())
        else {
            return Err(CostError::NotAnImage);
        };
        let (height, width) = (*height, *width);
        let pitches = [width, split(width, 0).low, split(width, 0).low].map(|n| n.next_multiple_of(256));
        let rows = [height, split(height, 0).low, split(height, 0).low];
        let array = |i: usize| Array { address: 0, pitch: pitches[i] as i64, stride: 0 };
        let job = Job::image(array(0), [array(1), array(2), array(2), array(2)], width as i32, height as i32);
        let arguments = fit.arguments(&job, &Machine::default().with_multiprocessors(1))?;
        let order = match options.direction {
            Direction::Forward => [0, 1, 2, 2, 2],
            Direction::Inverse => [1, 2, 2, 2, 0],
        };
        let buffer = |i: usize| Arg::Buffer(Buffer::zeroed(options.sample, pitches[i] * rows[i]));
        let mut args: Vec<Arg> = order.map(buffer).into();
        args.extend(job.scalars(Extent::Plane, arguments, options.gain.then_some(0)).into_iter().map(Arg::Scalar));
        total += program.run(&mut args, Options { max_steps: u64::MAX })?;
    }
    Ok(total)
}

/// One axis of a box in the corner of an array.
struct Pass<'a> {
    /// Shape of the array.
    full: &'a [usize],
    /// Shape of the box.
    shape: &'a [usize],
    axis: usize,
    /// Position of the first sample along the axis.
    origin: i64,
    direction: Direction,
}

impl Pass<'_> {
    fn run(&self, kernel: &Kernel, program: &Program) -> Result<Counts, CostError> {
        let innermost = self.full.len() - 1;
        let stride = |axis: usize| self.full[axis + 1..].iter().product::<usize>();
        let split = split(self.shape[self.axis], self.origin);
        // Lines of a pass lie along one more axis, images along another; further axes are separate launches.
        let mut others: Vec<usize> = (0..self.full.len()).filter(|axis| *axis != self.axis).collect();
        let lines = others.pop();
        let images = others.pop();
        let pitch = if self.axis == innermost { lines.map_or(0, stride) } else { stride(self.axis) };
        let extent = |axis: Option<usize>| axis.map_or(1, |axis| self.shape[axis]) as i64;
        let mut counts = Counts::default();
        for launch in 0..others.iter().map(|axis| self.shape[*axis]).product::<usize>() {
            let mut rest = launch;
            let mut base = 0;
            for &axis in others.iter().rev() {
                base += rest % self.shape[axis] * stride(axis);
                rest /= self.shape[axis];
            }
            let signal = || self.array(kernel, base);
            let (low, high) =
                (|| self.array(kernel, base), || self.array(kernel, base + split.low * stride(self.axis)));
            let mut args = match self.direction {
                Direction::Forward => vec![signal()?, low()?, high()?],
                Direction::Inverse => vec![low()?, high()?, signal()?],
            };
            let parity = self.origin.rem_euclid(2);
            args.extend([self.shape[self.axis] as i64, parity, extent(lines)].map(Arg::Scalar));
            args.extend([pitch as i64; 3].map(Arg::Scalar));
            args.extend([images.map_or(0, stride) as i64; 3].map(Arg::Scalar));
            args.push(Arg::Scalar(extent(images)));
            if args.len() + 1 == kernel.params.len() {
                args.push(Arg::Scalar(0));
            }
            if args.len() != kernel.params.len() {
                return Err(CostError::Parameters { kernel: kernel.name.clone() });
            }
            counts += program.run(&mut args, Options { max_steps: u64::MAX })?;
        }
        Ok(counts)
    }

    /// The array from an element on, with that element's alignment.
    fn array(&self, kernel: &Kernel, from: usize) -> Result<Arg, CostError> {
        let scalar = match kernel.params.first().map(|p| p.kind) {
            Some(ParamKind::Pointer(scalar, _)) => scalar,
            _ => return Err(CostError::Parameters { kernel: kernel.name.clone() }),
        };
        let len = self.full.iter().product::<usize>().saturating_sub(from);
        Ok(Arg::Buffer(Buffer::zeroed(scalar, len).misaligned(from % (256 / scalar.bytes()))))
    }
}

/// A table: one line per pass, and one for all.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let width = self.passes.iter().map(|p| p.kernel.len()).max().unwrap_or(0).max("all passes".len());
        let line = |f: &mut fmt::Formatter, name: &str, place: [&str; 2], samples: u64, n: PerSample| {
            let [level, axis] = place;
            write!(f, "{name:width$}  {level:>5}  {axis:>4}  {samples:>10}  {:>7.3}  {:>7.3}", n.moved, n.bytes)?;
            write!(f, "  {:>8.4}  {:>10.4}  {:>9.4}", n.transactions, n.wavefronts, n.conflicts)?;
            writeln!(f, "  {:>9.6}  {:>8.4}  {:>7.2}  {:>6.2}", n.barriers, n.shuffles, n.integer, n.float)
        };
        write!(f, "{:width$}  level  axis     samples    moved    bytes", "each sample")?;
        write!(f, "   sectors  wavefronts  conflicts")?;
        writeln!(f, "   barriers  shuffles  integer   float")?;
        for p in &self.passes {
            let place = [&*p.level.to_string(), &*p.axis.to_string()];
            line(f, &p.kernel, place, p.samples, p.counts.per_sample(p.samples))?;
        }
        line(f, "all passes", ["", ""], self.samples, self.per_sample())
    }
}
