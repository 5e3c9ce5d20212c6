//! Benchmark cases: wavelet, sample type, shape and levels.

use super::{TimedOperation, with_sample};
use crate::cli::{BenchArgs, DirectionArg};
use crate::failure::{Outcome, input, usage};
use crate::{warn, wavelet};
use lifting::{
    BlockShape, Boundary, Device, Domain, Plan, PlanBuilder, PlanError, Sample, SampleType, Schedule, Scheme,
};
use lifting_dsl::Direction;
use std::fmt;

/// Row layout of an array: rows of `length` samples, `pitch` samples apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    pub length: usize,
    pub pitch: usize,
}

impl Rows {
    /// An array without gaps, in pieces of 65,536 samples.
    pub const GAPLESS: Rows = Rows { length: 1 << 16, pitch: 1 << 16 };
}

/// One transform to measure.
#[derive(Clone, Debug)]
pub struct Case {
    pub scheme: Scheme,
    pub sample: SampleType,
    /// Shape of the whole array; a batch is its first axis.
    pub shape: Vec<usize>,
    /// Number of images, if the first axis is a batch.
    pub batch: Option<usize>,
    pub levels: u32,
    pub boundary: Option<Boundary>,
    /// Schedule of GPU kernels.
    pub schedule: Schedule,
    /// Row pitch in bytes, if given.
    pub pitch: Option<usize>,
    /// Directions to time.
    pub ways: Vec<TimedOperation>,
    /// Transformed axes; `None` transforms all.
    pub axes: Option<Vec<usize>>,
    /// Lengths of independent tiles.
    pub tile: Option<Vec<usize>>,
    /// Block shape on a GPU, of the first direction; `None` leaves the choice to the schedule.
    pub blocks: Option<BlockShape>,
}

impl Case {
    /// A case with the planner's defaults.
    pub fn new(scheme: Scheme, sample: SampleType, shape: Vec<usize>, levels: u32) -> Case {
        Case {
            scheme,
            sample,
            shape,
            batch: None,
            levels,
            boundary: None,
            schedule: Schedule::Auto,
            pitch: None,
            ways: vec![TimedOperation::Forward, TimedOperation::Inverse],
            axes: None,
            tile: None,
            blocks: None,
        }
    }

    /// Whether the blocks compute a transform. Only transforms are verified.
    pub fn transforms(&self) -> bool {
        self.blocks.is_none_or(|shape| shape.schedule().transforms(&shape))
    }
}

/// The default sample type of a wavelet.
pub fn default_sample(scheme: &Scheme) -> SampleType {
    match scheme.domain() {
        Domain::Integer => SampleType::I16,
        Domain::Real => SampleType::F32,
    }
}

/// Every combination that the command line asks for.
pub fn all(args: &BenchArgs) -> Outcome<Vec<Case>> {
    let mut cases = Vec::new();
    let ways = match args.direction {
        DirectionArg::Forward => vec![TimedOperation::Forward],
        DirectionArg::Inverse => vec![TimedOperation::Inverse],
        DirectionArg::Both => vec![TimedOperation::Forward, TimedOperation::Inverse],
        DirectionArg::Adjoint => vec![TimedOperation::Adjoint, TimedOperation::InverseAdjoint],
    };
    for word in &args.wavelet {
        let named = wavelet::resolve_one(word)?;
        warn(&named.source.name, &named.source.text, &named.warnings);
        let scheme = &named.schemes[0];
        let domain = scheme.domain();
        let default = [default_sample(scheme)];
        let samples = if args.sample.is_empty() { &default[..] } else { &args.sample };
        // With several wavelets and types, each wavelet takes the types of its own domain.
        let samples: Vec<SampleType> = samples.iter().copied().filter(|s| s.domain() == domain).collect();
        if samples.is_empty() {
            let wanted = match domain {
                Domain::Integer => "i16, i32 or i64",
                Domain::Real => "f16, bf16, f32 or f64",
            };
            return Err(usage(format!("--sample: {} does not support these sample types", scheme.name()))
                .help(format!("use --sample {wanted}")));
        }
        for shape in &args.shape {
            let shape: Vec<usize> = args.batch.iter().chain(shape).copied().collect();
            for (&levels, &schedule) in args.levels.iter().flat_map(|l| args.schedule.iter().map(move |s| (l, s))) {
                for &sample in &samples {
                    let (scheme, shape, ways) = (scheme.clone(), shape.clone(), ways.clone());
                    let (batch, boundary, pitch) = (args.batch, args.boundary, args.pitch);
                    let case =
                        Case { batch, boundary, schedule, pitch, ways, ..Case::new(scheme, sample, shape, levels) };
                    // Reports a case that cannot be planned before anything is measured.
                    with_sample!(sample, check(&case))?;
                    cases.push(case);
                }
            }
        }
    }
    Ok(cases)
}

fn check<T: Sample>(case: &Case) -> Outcome {
    case.plan::<T>(&Device::cpu_with_threads(1)).map(drop).map_err(|f| f.at(case))
}

impl Case {
    /// The plan on a device.
    pub fn plan<T: Sample>(&self, device: &Device) -> Outcome<Plan<T>> {
        self.plan_of(&self.shape, device)
    }

    /// The plan for another shape.
    pub fn plan_of<T: Sample>(&self, shape: &[usize], device: &Device) -> Outcome<Plan<T>> {
        // The CPU plan is the reference: it ignores GPU schedules and blocks.
        let schedule = if matches!(device, Device::Cpu { .. }) { Schedule::Auto } else { self.schedule };
        let blocks = self.blocks.filter(|_| !matches!(device, Device::Cpu { .. }));
        self.with_builder(shape, |builder: PlanBuilder<'_, T>| match blocks {
            Some(blocks) => builder.blocks(self.direction(), blocks).build(device),
            None => builder.schedule(schedule).build(device),
        })
    }

    /// Direction of the first timed operation, which the blocks are for.
    fn direction(&self) -> Direction {
        match self.ways.first() {
            Some(TimedOperation::Inverse) => Direction::Inverse,
            _ => Direction::Forward,
        }
    }

    /// The CUDA source of the kernels, for a device with `multiprocessors`.
    pub fn cuda_source<T: Sample>(&self, multiprocessors: u32) -> Outcome<String> {
        let source = |builder: PlanBuilder<'_, T>| builder.schedule(self.schedule).cuda_source(multiprocessors);
        self.with_builder(&self.shape, source)
    }

    fn with_builder<T: Sample, R>(
        &self,
        shape: &[usize],
        finish: impl FnOnce(PlanBuilder<'_, T>) -> Result<R, PlanError>,
    ) -> Outcome<R> {
        let mut levels = vec![self.levels; shape.len()];
        if self.batch.is_some() {
            levels[0] = 0;
        }
        if let Some(axes) = &self.axes {
            levels.iter_mut().enumerate().filter(|(axis, _)| !axes.contains(axis)).for_each(|(_, n)| *n = 0);
        }
        let mut builder = Plan::builder(&self.scheme).shape(shape).levels_per_axis(&levels).sample::<T>();
        if let Some(boundary) = self.boundary {
            builder = builder.boundary(boundary);
        }
        if let Some(tile) = &self.tile {
            builder = builder.tile(tile);
        }
        if let Some(strides) = self.strides(shape)? {
            builder = builder.strides(&strides).coefficient_strides(&strides);
        }
        finish(builder).map_err(|e| match e {
            PlanError::Cuda(e) => input(e),
            e => usage(e),
        })
    }

    /// Row-major strides in samples for the case's pitch; `None` without a pitch.
    fn strides(&self, shape: &[usize]) -> Outcome<Option<Vec<isize>>> {
        self.pitch.map(|pitch| pitched(shape, pitch, self.sample)).transpose()
    }

    /// The row layout of the case's arrays.
    pub fn rows(&self) -> Outcome<Rows> {
        self.rows_of(&self.shape)
    }

    /// The row layout of an array of `shape`.
    pub fn rows_of(&self, shape: &[usize]) -> Outcome<Rows> {
        let length = shape[shape.len() - 1];
        Ok(match self.strides(shape)? {
            Some(strides) if strides.len() > 1 => Rows { length, pitch: strides[strides.len() - 2] as usize },
            _ => Rows::GAPLESS,
        })
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.shape.iter().product()
    }

    /// Bytes of the image, without gaps between rows.
    pub fn bytes(&self) -> usize {
        self.samples() * self.sample.bytes()
    }

    /// The border extension of the plan.
    pub fn boundary(&self) -> Boundary {
        self.boundary.unwrap_or_else(|| self.scheme.boundary())
    }

    /// A shape of at most `most` samples, small enough for a reference transform. Halving keeps each axis odd or even,
    /// so that awkward lengths stay awkward.
    pub fn affordable(&self, most: usize) -> Vec<usize> {
        let mut shape = self.shape.clone();
        while shape.iter().product::<usize>() > most {
            let longest = (0..shape.len()).max_by_key(|&axis| shape[axis]).expect("a case has an axis");
            // Periodic borders need lengths that stay even through the levels.
            let grain = 1usize.checked_shl(self.levels).unwrap_or(1).min(shape[longest] / 2).max(1);
            shape[longest] = shape[longest] / 2 / grain * grain + shape[longest] % grain;
        }
        shape
    }
}

/// Row-major strides in samples, with rows at multiples of `pitch` bytes.
pub fn pitched(shape: &[usize], pitch: usize, sample: SampleType) -> Outcome<Vec<isize>> {
    let bytes = sample.bytes();
    if pitch == 0 || !pitch.is_multiple_of(bytes) {
        return Err(usage(format!("invalid --pitch {pitch}: {sample} needs a multiple of {bytes} bytes")));
    }
    let mut strides = vec![1isize; shape.len()];
    let mut next = shape[shape.len() - 1].checked_next_multiple_of(pitch / bytes);
    for axis in (0..shape.len() - 1).rev() {
        let too_large = || usage("--pitch: the padded array is too large to address");
        strides[axis] = next.and_then(|n| isize::try_from(n).ok()).ok_or_else(too_large)?;
        next = next.and_then(|n| n.checked_mul(shape[axis]));
    }
    Ok(strides)
}

/// A shape in command line notation.
pub fn shape_text(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
}

impl Case {
    /// The shape, with the batch in front.
    pub fn shape_text(&self) -> String {
        match self.batch {
            Some(batch) => format!("{batch} of {}", shape_text(&self.shape[1..])),
            None => shape_text(&self.shape),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.levels == 1 { "" } else { "s" };
        let Case { scheme, sample, levels, .. } = self;
        write!(f, "{} {sample} {}, {levels} level{plural}", scheme.name(), self.shape_text())?;
        if let Some(pitch) = self.pitch {
            write!(f, ", rows at multiples of {pitch} bytes")?;
        }
        match self.schedule {
            Schedule::Auto => Ok(()),
            schedule => write!(f, ", {schedule}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(shape: &[usize], levels: u32) -> Case {
        let scheme = lifting::catalogue::find("legall53").unwrap();
        let shape = shape.to_vec();
        Case::new(scheme, SampleType::I16, shape, levels)
    }

    #[test]
    fn smaller_shapes_keep_their_parity() {
        assert_eq!(case(&[100, 60], 2).affordable(1 << 20), [100, 60]);
        assert_eq!(case(&[8191, 8193], 5).affordable(1 << 22), [2047, 2049]);
        assert_eq!(case(&[1 << 28], 1).affordable(1 << 22), [1 << 22]);
        let small = case(&[1080, 1920], 3).affordable(1 << 16);
        assert!(small.iter().product::<usize>() <= 1 << 16 && small.iter().all(|n| n % 8 == 0), "{small:?}");
        assert_eq!(case(&[3, 5, 7], 4).affordable(1).iter().product::<usize>(), 1);
    }

    #[test]
    fn pitch_sets_the_row_strides() {
        let pitched = Case { pitch: Some(32), ..case(&[4, 5, 21], 1) };
        assert_eq!(pitched.strides(&pitched.shape).ok().flatten(), Some(vec![160, 32, 1]));
        let odd = Case { pitch: Some(3), ..pitched };
        assert_eq!(odd.strides(&odd.shape).unwrap_err().exit_code(), 2);
    }
}
