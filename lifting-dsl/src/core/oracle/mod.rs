//! The oracle: plain execution of a scheme on slices, step by step, without a schedule. It is the definition against
//! which every other executor is tested.
//!
//! A lattice runs stage by stage under the periodic rule, else as equivalent lifting steps ([`Scheme::stages`]).
//!
//! A level is computed in the sample's work type. It is loaded (shifted left by the gain), each axis is lifted in the
//! order of the geometry, and its bands are stored; there `f16` and `bf16` round. Synthesis undoes that in reverse.
//!
//! ```
//! use lifting_dsl::geometry::Geometry;
//! use lifting_dsl::oracle::Transform;
//!
//! let haar = lifting_dsl::compile(
//!     "wavelet haar { domain integer; odd -= even[0]; even += (odd[0] + 1) >> 1; }",
//! ).unwrap().schemes.remove(0);
//! let transform = Transform::new(haar, Geometry::uniform(&[6], 2).unwrap());
//!
//! let mut line = [10i16, 12, 20, 28, 7, 7];
//! transform.forward(&mut line).unwrap();
//! assert_eq!(line, [18, 14, 13, 2, 8, 0]); // L2 | H2 | H1
//!
//! transform.inverse(&mut line).unwrap();
//! assert_eq!(line, [10, 12, 20, 28, 7, 7]);
//! ```

mod expansive;
mod line;
mod step;
#[cfg(test)]
mod tests;

use crate::core::adjoint;
use crate::core::direction::Direction;
use crate::core::geometry::{Geometry, GeometryError, Layout, split};
use crate::core::sample::{Arithmetic, Sample, SampleType};
use crate::core::scheme::{Boundary, Domain, Scheme, Step};
pub use expansive::Expansive;
use line::{Prepared, Program};

/// Reason why a transform cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OracleError {
    /// The geometry does not suit the border rule.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// An integer wavelet on floating samples, or the reverse.
    #[error("the wavelet is {}, but the samples are {sample}: choose {}", name(*domain), match domain {
        Domain::Integer => "i16, i32 or i64",
        Domain::Real => "f32, f64, f16 or bf16",
    })]
    Domain {
        /// The wavelet's domain.
        domain: Domain,
        /// The type of the samples.
        sample: SampleType,
    },
    /// The slice does not have the shape's number of samples.
    #[error("shape {shape:?} has {expected} samples, but the data has {got}")]
    DataLength {
        /// The geometry's shape.
        shape: Vec<usize>,
        /// Its product.
        expected: usize,
        /// Length of the slice.
        got: usize,
    },
    /// A gain shift for a wavelet of the real domain.
    #[error("a gain shift of {shift} bits is for integer wavelets: scale real samples instead")]
    RealGain {
        /// The gain shift.
        shift: u32,
    },
    /// A gain shift that leaves no bits.
    #[error("a gain shift of {shift} bits leaves nothing of {sample} samples: at most {} bits", sample.bytes() * 8 - 2)]
    Gain {
        /// The gain shift.
        shift: u32,
        /// The type of the samples.
        sample: SampleType,
    },
    /// A reconstruction level that the transform does not have.
    #[error("invalid level {level}: the transform has {depth} levels, and 0 is full size")]
    Level {
        /// The level asked for.
        level: u32,
        /// Levels of the transform.
        depth: u32,
    },
    /// The adjoint of an integer wavelet.
    #[error(
        "an integer wavelet rounds, so it is not linear and has no adjoint: take the real wavelet with the same weights"
    )]
    IntegerAdjoint,
    /// An expansive mode for an integer wavelet.
    #[error(
        "expansive modes need a real wavelet: an integer wavelet rounds, so the kept coefficients do not suffice; \
         take a real wavelet, or a border rule"
    )]
    IntegerExtension,
    /// A line of odd length under the periodic border rule.
    #[error("the line has {length} samples, but the periodic border rule needs an even number")]
    OddPeriodic {
        /// Samples of the line.
        length: usize,
    },
}

fn name(domain: Domain) -> &'static str {
    match domain {
        Domain::Integer => "integer",
        Domain::Real => "real",
    }
}

/// A multi-level transform of an array: all parameters that determine its coefficients.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// The wavelet.
    pub scheme: Scheme,
    /// The border rule, at every level.
    pub boundary: Boundary,
    /// Shape, origins, levels and order of axes.
    pub geometry: Geometry,
    /// Arrangement of the coefficients.
    pub layout: Layout,
    /// Left shift of integer samples once per level, in bits; synthesis shifts back with rounding.
    pub gain_shift: u32,
    /// Whether a lone sample at an odd origin is doubled (and halved on synthesis), as JPEG 2000 does, instead of left
    /// unchanged.
    pub double_lone_odd: bool,
}

impl Transform {
    /// The wavelet with its own border rule, in Mallat layout, without gain shift.
    pub fn new(scheme: Scheme, geometry: Geometry) -> Transform {
        let boundary = scheme.boundary();
        Transform { scheme, boundary, geometry, layout: Layout::Mallat, gain_shift: 0, double_lone_odd: false }
    }

    /// Analyses `data`, contiguous in row-major order, in place.
    pub fn forward<T: Sample>(&self, data: &mut [T]) -> Result<(), OracleError> {
        Executor::new(self)?.forward(data)
    }

    /// Undoes [`Transform::forward`].
    pub fn inverse<T: Sample>(&self, data: &mut [T]) -> Result<(), OracleError> {
        self.inverse_to(0, data)
    }

    /// Synthesis down to `level` (0: full size). Leaves that level's low band in its place, [`Geometry::low_band`], and
    /// the finer bands unchanged.
    pub fn inverse_to<T: Sample>(&self, level: u32, data: &mut [T]) -> Result<(), OracleError> {
        Executor::new(self)?.inverse_to(level, data)
    }

    /// The adjoint of [`Transform::forward`]: takes coefficients, in the layout, to a signal y* with ⟨T x, y⟩ = ⟨x, y*⟩
    /// up to rounding, for every border rule and size. It takes the gradient of a function of the coefficients back to
    /// the signal. Real wavelets only.
    pub fn adjoint<T: Sample>(&self, data: &mut [T]) -> Result<(), OracleError> {
        Executor::adjoint(self)?.inverse_to(0, data)
    }

    /// The adjoint of [`Transform::inverse`]: takes a signal to coefficients. Real wavelets only.
    pub fn inverse_adjoint<T: Sample>(&self, data: &mut [T]) -> Result<(), OracleError> {
        Executor::adjoint(self)?.forward(data)
    }
}

/// An arithmetic progression of indices along an axis of the data.
#[derive(Clone, Copy, Debug)]
struct Run {
    offset: usize,
    step: usize,
    count: usize,
}

/// One axis at one level.
#[derive(Clone, Debug)]
struct AxisLevel {
    /// Length of the low band that is analysed.
    length: usize,
    /// Its origin modulo 2.
    parity: i64,
    /// Positions of its samples in the data.
    whole: Run,
    /// Destinations of its two bands. An axis that is not analysed at this level is all low.
    bands: [Run; 2],
}

/// One level.
#[derive(Clone, Debug)]
struct Level {
    axes: Vec<AxisLevel>,
    /// The axes to analyse, in order.
    order: Vec<usize>,
    samples: usize,
}

impl Level {
    /// Samples from one index of an axis to the next.
    fn inner(&self, axis: usize) -> usize {
        self.axes[axis + 1..].iter().map(|a| a.length).product()
    }
}

/// A [`Transform`] prepared for one sample type: checked, weights rounded, positions known.
struct Executor<T: Sample> {
    levels: Vec<Level>,
    shape: Vec<usize>,
    strides: Vec<usize>,
    samples: usize,
    analysis: Program<T::Work>,
    synthesis: Program<T::Work>,
    boundary: Boundary,
    gain: u32,
    double_lone_odd: bool,
    /// Whether the first and the last sample of a line of two or more are doubled before its steps and halved after.
    doubled_ends: bool,
    /// Whether the steps are an adjoint's: a lone sample that was doubled is then also doubled on the way back.
    adjoint: bool,
}

/// Memory that an [`Executor`] works in.
struct Workspace<T: Sample> {
    /// A level's samples, low half first along each axis already analysed.
    level: Vec<T::Work>,
    /// The two phases of a block of lines.
    even: Vec<T::Work>,
    odd: Vec<T::Work>,
    zeros: Vec<T::Work>,
}

/// Samples of a block of neighbouring lines: sized for the L1 cache.
const BLOCK: usize = 1 << 13;

/// Number of lines to lift at once, of `inner` neighbouring lines of `n` samples.
fn block_width(n: usize, inner: usize) -> usize {
    inner.min((BLOCK / n).max(16))
}

impl<T: Sample> Executor<T> {
    /// Checks the transform and prepares it.
    fn new(transform: &Transform) -> Result<Executor<T>, OracleError> {
        let Transform { scheme, boundary, geometry, layout, gain_shift, double_lone_odd } = transform;
        let domain = scheme.domain();
        let wrong_domain = OracleError::Domain { domain, sample: T::KIND };
        if domain != T::KIND.domain() {
            return Err(wrong_domain);
        }
        if *gain_shift > 0 && domain == Domain::Real {
            return Err(OracleError::RealGain { shift: *gain_shift });
        }
        if *gain_shift as usize + 2 > T::KIND.bytes() * 8 {
            return Err(OracleError::Gain { shift: *gain_shift, sample: T::KIND });
        }
        geometry.check_boundary(*boundary)?;

        let level = |j: u32| {
            let (whole, next) = (geometry.low_band(j, *layout), geometry.low_band(j + 1, *layout));
            let order = geometry.axes_at(j);
            let axes = (0..geometry.rank()).map(|axis| {
                let run = |offset, step, count| Run { offset, step, count };
                let (length, origin) = (whole.shape[axis], whole.origin[axis]);
                let low = run(next.offset[axis], next.step[axis], next.shape[axis]);
                let high =
                    if order.contains(&axis) { geometry.place(axis, j + 1, true, *layout) } else { (0, 0, 1, 0) };
                AxisLevel {
                    length,
                    parity: origin & 1,
                    whole: run(whole.offset[axis], whole.step[axis], length),
                    bands: [low, run(high.0, high.2, high.1)],
                }
            });
            Level { axes: axes.collect(), order, samples: whole.shape.iter().product() }
        };
        let shape = geometry.shape().to_vec();
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis];
        }
        Ok(Executor {
            levels: (0..geometry.depth()).map(level).collect(),
            samples: geometry.samples(),
            shape,
            strides,
            analysis: Program::of(scheme.stages(*boundary), scheme.steps()).ok_or(wrong_domain.clone())?,
            synthesis: Program::of(scheme.inverse_stages(*boundary), &scheme.inverse_steps()).ok_or(wrong_domain)?,
            boundary: *boundary,
            gain: *gain_shift,
            double_lone_odd: *double_lone_odd,
            doubled_ends: false,
            adjoint: false,
        })
    }

    /// The executor of adjoints: its synthesis is the adjoint of analysis, its analysis the adjoint of synthesis.
    fn adjoint(transform: &Transform) -> Result<Executor<T>, OracleError> {
        let Transform { scheme, boundary, .. } = transform;
        let Some(adjoint) = scheme.adjoint() else {
            return Executor::<T>::new(transform).and(Err(OracleError::IntegerAdjoint));
        };
        let mut executor = Executor::new(&Transform { scheme: adjoint, ..transform.clone() })?;
        let border = adjoint::border(scheme.steps(), *boundary);
        executor.doubled_ends = border == adjoint::Border::DoubledEnds;
        if border == adjoint::Border::Folded {
            let prepare = |steps: &[Step]| line::prepare_adjoint(steps).map(Program::Steps);
            executor.synthesis = prepare(scheme.steps()).ok_or(OracleError::IntegerAdjoint)?;
            executor.analysis = prepare(&scheme.inverse_steps()).ok_or(OracleError::IntegerAdjoint)?;
        }
        executor.adjoint = true;
        Ok(executor)
    }

    /// Workspace large enough for the first level, and so for all.
    fn workspace(&self) -> Workspace<T> {
        let (mut half, mut width) = (0, 0);
        for level in self.levels.iter().filter(|level| level.samples > 0) {
            for axis in &level.order {
                let n = level.axes[*axis].length;
                let block = block_width(n, level.inner(*axis));
                half = half.max(n.div_ceil(2) * block);
                width = width.max(block);
            }
        }
        let zeros = |n| vec![T::Work::default(); n];
        let level = zeros(self.levels.first().map_or(0, |level| level.samples));
        Workspace { level, even: zeros(half), odd: zeros(half), zeros: zeros(width) }
    }

    fn check_length(&self, data: &[T]) -> Result<(), OracleError> {
        if data.len() != self.samples {
            let shape = self.shape.clone();
            return Err(OracleError::DataLength { shape, expected: self.samples, got: data.len() });
        }
        Ok(())
    }

    /// See [`Transform::forward`].
    fn forward(&self, data: &mut [T]) -> Result<(), OracleError> {
        self.check_length(data)?;
        let workspace = &mut self.workspace();
        for level in self.levels.iter().filter(|level| level.samples > 0) {
            let scratch = &mut workspace.level[..level.samples];
            self.load(level, data, scratch, |a| [a.whole, Run { count: 0, ..a.whole }]);
            if self.gain > 0 {
                scratch.iter_mut().for_each(|x| *x = x.gain(self.gain));
            }
            for axis in &level.order {
                self.lift_axis(level, *axis, Direction::Forward, workspace);
            }
            self.store(level, data, &workspace.level, |a| a.bands);
        }
        Ok(())
    }

    /// See [`Transform::inverse_to`].
    fn inverse_to(&self, to: u32, data: &mut [T]) -> Result<(), OracleError> {
        self.check_length(data)?;
        let finer = self.levels.get(to as usize..);
        let finer = finer.ok_or(OracleError::Level { level: to, depth: self.levels.len() as u32 })?;
        let workspace = &mut self.workspace();
        for level in finer.iter().rev().filter(|level| level.samples > 0) {
            self.load(level, data, &mut workspace.level, |a| a.bands);
            for axis in level.order.iter().rev() {
                self.lift_axis(level, *axis, Direction::Inverse, workspace);
            }
            let scratch = &mut workspace.level[..level.samples];
            if self.gain > 0 {
                scratch.iter_mut().for_each(|x| *x = x.ungain(self.gain));
            }
            self.store(level, data, scratch, |a| [a.whole, Run { count: 0, ..a.whole }]);
        }
        Ok(())
    }

    /// Copies data to the level scratch; `place` gives the positions along each axis, in the scratch's order.
    fn load(&self, level: &Level, data: &[T], scratch: &mut [T::Work], place: impl Fn(&AxisLevel) -> [Run; 2]) {
        self.rows(level, &place, &mut |scratch_at, data_at, run| {
            let cells = scratch[scratch_at..].iter_mut().take(run.count);
            if run.step == 1 {
                cells.zip(&data[data_at..]).for_each(|(w, x)| *w = x.to_work());
            } else {
                cells.zip(data[data_at..].iter().step_by(run.step)).for_each(|(w, x)| *w = x.to_work());
            }
        });
    }

    /// Copies the level scratch to data: the inverse of [`Executor::load`].
    fn store(&self, level: &Level, data: &mut [T], scratch: &[T::Work], place: impl Fn(&AxisLevel) -> [Run; 2]) {
        self.rows(level, &place, &mut |scratch_at, data_at, run| {
            let cells = scratch[scratch_at..].iter().take(run.count);
            if run.step == 1 {
                cells.zip(&mut data[data_at..]).for_each(|(w, x)| *x = T::from_work(*w));
            } else {
                cells.zip(data[data_at..].iter_mut().step_by(run.step)).for_each(|(w, x)| *x = T::from_work(*w));
            }
        });
    }

    /// Calls `row(index in the scratch, index in the data, run)` for every run of samples along the innermost axis.
    fn rows(&self, level: &Level, place: &impl Fn(&AxisLevel) -> [Run; 2], row: &mut impl FnMut(usize, usize, Run)) {
        self.rows_from(0, 0, 0, level, place, row);
    }

    fn rows_from(
        &self,
        axis: usize,
        scratch_at: usize,
        data_at: usize,
        level: &Level,
        place: &impl Fn(&AxisLevel) -> [Run; 2],
        row: &mut impl FnMut(usize, usize, Run),
    ) {
        // Axes from the outside in; scratch indices grow in mixed radix, data indices by the strides.
        let mut i = 0;
        for run in place(&level.axes[axis]) {
            if axis + 1 == level.axes.len() {
                if run.count > 0 {
                    row(scratch_at + i, data_at + run.offset, run);
                }
                i += run.count;
                continue;
            }
            for k in 0..run.count {
                let scratch_at = (scratch_at + i) * level.axes[axis + 1].length;
                let data_at = data_at + (run.offset + k * run.step) * self.strides[axis];
                self.rows_from(axis + 1, scratch_at, data_at, level, place, row);
                i += 1;
            }
        }
    }

    /// Lifts all lines along one axis of the level scratch. Analysis reads them whole and leaves low then high;
    /// synthesis does the reverse.
    fn lift_axis(&self, level: &Level, axis: usize, direction: Direction, workspace: &mut Workspace<T>) {
        let AxisLevel { length: n, parity, .. } = level.axes[axis];
        let Workspace { level: scratch, even, odd, zeros } = workspace;
        let scratch = &mut scratch[..level.samples];
        if n == 1 {
            if self.double_lone_odd && parity == 1 {
                if (direction == Direction::Forward) != self.adjoint {
                    scratch.iter_mut().for_each(|x| *x = x.doubled());
                } else {
                    scratch.iter_mut().for_each(|x| *x = x.halved());
                }
            }
            return;
        }
        let program = match direction {
            Direction::Forward => &self.analysis,
            Direction::Inverse => &self.synthesis,
        };
        let inner = level.inner(axis);
        let low = split(n, parity).low;
        let block = block_width(n, inner);
        for lines in scratch.chunks_exact_mut(n * inner) {
            for column in (0..inner).step_by(block) {
                let width = block.min(inner - column);
                let (even, odd) = (&mut even[..low * width], &mut odd[..(n - low) * width]);
                // First even row, first odd row, and the stride: of the interleaved line, of its two bands.
                let parity_rows = parity as usize * inner;
                let line = (column + parity_rows, column + inner - parity_rows, 2 * inner);
                let bands = (column, column + low * inner, inner);
                let (from, to) = match direction {
                    Direction::Forward => (line, bands),
                    Direction::Inverse => (bands, line),
                };
                gather(lines, from.0, from.2, width, even);
                gather(lines, from.1, from.2, width, odd);
                line::between_ends(self.doubled_ends, parity, [even, odd], width, |even, odd| {
                    program.run(self.boundary, parity, even, odd, width, zeros);
                });
                scatter(even, width, lines, to.0, to.2);
                scatter(odd, width, lines, to.1, to.2);
            }
        }
    }
}

/// Collects rows of `width` samples, `pitch` apart from `first`, until `block` is full.
fn gather<W: Copy>(lines: &[W], first: usize, pitch: usize, width: usize, block: &mut [W]) {
    if width == 1 {
        block.iter_mut().zip(lines[first..].iter().step_by(pitch)).for_each(|(b, x)| *b = *x);
        return;
    }
    for (i, row) in block.chunks_exact_mut(width).enumerate() {
        row.copy_from_slice(&lines[first + i * pitch..][..width]);
    }
}

/// Undoes [`gather`].
fn scatter<W: Copy>(block: &[W], width: usize, lines: &mut [W], first: usize, pitch: usize) {
    if width == 1 {
        block.iter().zip(lines[first..].iter_mut().step_by(pitch)).for_each(|(b, x)| *x = *b);
        return;
    }
    for (i, row) in block.chunks_exact(width).enumerate() {
        lines[first + i * pitch..][..width].copy_from_slice(row);
    }
}

/// Analyses one line in place: even positions then hold the low band, odd positions the high band. `parity` is the
/// position of the first sample modulo 2. A line of one sample is left unchanged.
///
/// # Errors
/// Steps of a domain other than the samples'; an odd length with [`Boundary::Periodic`].
pub fn analyse_line<T: Sample>(
    steps: &[Step],
    boundary: Boundary,
    parity: i64,
    line: &mut [T],
) -> Result<(), OracleError> {
    let Some(prepared) = line::prepare::<T::Work>(steps) else {
        let domain = if T::KIND.domain() == Domain::Integer { Domain::Real } else { Domain::Integer };
        return Err(OracleError::Domain { domain, sample: T::KIND });
    };
    run_line(&prepared, boundary, false, parity, line)
}

/// The adjoint of [`analyse_line`] with the same steps and border rule, in place. With the synthesis steps it is the
/// adjoint of [`synthesise_line`]. Only real steps have one.
pub fn adjoint_line<T: Sample>(
    steps: &[Step],
    boundary: Boundary,
    parity: i64,
    line: &mut [T],
) -> Result<(), OracleError> {
    let border = adjoint::border(steps, boundary);
    let prepared = match border {
        _ if !T::Work::REAL => None,
        adjoint::Border::Folded => line::prepare_adjoint(steps),
        _ => adjoint::steps(steps).and_then(|steps| line::prepare::<T::Work>(&steps)),
    };
    let prepared = prepared.ok_or(OracleError::IntegerAdjoint)?;
    run_line(&prepared, boundary, border == adjoint::Border::DoubledEnds, parity, line)
}

fn run_line<T: Sample>(
    prepared: &[Prepared<T::Work>],
    boundary: Boundary,
    doubled_ends: bool,
    parity: i64,
    line: &mut [T],
) -> Result<(), OracleError> {
    let n = line.len();
    if boundary == Boundary::Periodic && !n.is_multiple_of(2) {
        return Err(OracleError::OddPeriodic { length: n });
    }
    if n < 2 {
        return Ok(());
    }
    let parity = parity & 1;
    let samples = |first: usize| line[first..].iter().step_by(2).map(|x| x.to_work());
    let mut even: Vec<T::Work> = samples(parity as usize).collect();
    let mut odd: Vec<T::Work> = samples(1 - parity as usize).collect();
    line::between_ends(doubled_ends, parity, [&mut even, &mut odd], 1, |even, odd| {
        line::lift(prepared, boundary, parity, even, odd, 1, &[T::Work::default()]);
    });
    for (phase, first) in [(even, parity as usize), (odd, 1 - parity as usize)] {
        line[first..].iter_mut().step_by(2).zip(phase).for_each(|(x, w)| *x = T::from_work(w));
    }
    Ok(())
}

/// Undoes [`analyse_line`]; `steps` are the analysis steps.
pub fn synthesise_line<T: Sample>(
    steps: &[Step],
    boundary: Boundary,
    parity: i64,
    line: &mut [T],
) -> Result<(), OracleError> {
    analyse_line(&crate::core::scheme::inverse(steps), boundary, parity, line)
}
