//! Errors of plans and of the data that they are given.

use crate::cuda::CudaError;
use crate::opencl::OpenClError;
use lifting_codegen::schedule::ScheduleError;
use lifting_dsl::geometry::GeometryError;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Direction, Domain, Format};
use lifting_planner::{ProgramError, Schedule, TileError};

/// Reason why a plan could not be built or executed. Nothing has been written when one is returned, unless a device
/// fails during a copy to the host or between parts of a batch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The wavelet's arithmetic does not match the samples.
    #[error("wavelet `{wavelet}` is {}, but the samples are {sample}: {}", domain_name(*domain), domain_help(*domain, *sample))]
    Domain {
        /// The wavelet.
        wavelet: String,
        /// Its arithmetic.
        domain: Domain,
        /// Sample type of the plan.
        sample: SampleType,
    },
    /// The builder has no shape.
    #[error("a plan needs the shape of the data: call `.shape(&[height, width])` (outermost axis first)")]
    NoShape,
    /// Invalid shape, origins, levels or order of axes.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// Invalid tiles.
    #[error(transparent)]
    Tile(#[from] TileError),
    /// Devices that cannot share a plan, or a plan that they cannot share.
    #[error("several devices: {reason}")]
    SeveralDevices {
        /// The reason, and the remedy.
        reason: String,
    },
    /// The wavelet has no profile for the requested format.
    #[error("wavelet `{wavelet}` has no profile {}: {}", format.name(), profile_help(wavelet, available))]
    NoProfile {
        /// The wavelet.
        wavelet: String,
        /// The requested format.
        format: Format,
        /// Formats with profiles for this wavelet.
        available: Vec<Format>,
    },
    /// A size that is not a multiple of 2^levels, as a format or the periodic border requires.
    #[error(
        "{} requires multiples of 2^levels: axis {axis} has {length} samples, not a multiple of {multiple}; \
         pad the data or choose fewer levels", format.name()
    )]
    NotAMultiple {
        /// The format.
        format: Format,
        /// The axis.
        axis: usize,
        /// Its length.
        length: usize,
        /// 2^levels.
        multiple: usize,
    },
    /// A nonzero origin with a format whose arrays start at 0.
    #[error("{} does not support origins: axis {axis} starts at {origin}, and must start at 0", format.name())]
    Origin {
        /// The format.
        format: Format,
        /// The axis.
        axis: usize,
        /// Its origin.
        origin: i64,
    },
    /// An axis given twice, or out of range.
    #[error("invalid axes {axes:?} for data with {rank} axes: each must be below {rank} and given once")]
    Axes {
        /// The requested axes.
        axes: Vec<usize>,
        /// Number of axes of the data.
        rank: usize,
    },
    /// A setting that describes a single wavelet, in a plan of several.
    #[error("{what} describes one wavelet, but axes or levels have several: leave out either")]
    MixedWith {
        /// The setting.
        what: String,
    },
    /// Several wavelets in an emitted file, which has one.
    #[error("a file has one wavelet, but axes or levels have several: run a plan, or emit a file for each wavelet")]
    MixedFile,
    /// A gain shift that leaves fewer than 2 bits of the samples.
    #[error("profile {} shifts samples by {shift} bits at every level, too many for {sample} samples", format.name())]
    Gain {
        /// The format.
        format: Format,
        /// Its gain shift.
        shift: u32,
        /// The samples.
        sample: SampleType,
    },
    /// An invalid range of sample values.
    #[error("range {low}..={high} is empty or does not fit {sample} samples")]
    Range {
        /// Lowest value.
        low: i64,
        /// Highest value.
        high: i64,
        /// The samples.
        sample: SampleType,
    },
    /// Padding for more levels than an axis allows.
    #[error(
        "padding for {levels} levels makes {padded:?} of shape {shape:?}: axis {axis} has {length} samples, enough for \
         at most {most} level{}", if *most == 1 { "" } else { "s" }
    )]
    Padding {
        /// The data.
        shape: Vec<usize>,
        /// The padded shape.
        padded: Vec<usize>,
        /// The axis with too many levels.
        axis: usize,
        /// Its length.
        length: usize,
        /// Its levels.
        levels: u32,
        /// The largest number of levels that does something: it leaves a single sample.
        most: u32,
    },
    /// An environment variable with an invalid value.
    #[error("invalid environment variable {name}=`{value}`: use {known}")]
    Variable {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: String,
        /// Allowed values.
        known: &'static str,
    },
    /// More samples than the machine can address.
    #[error("shape {shape:?} has more samples than this machine can address")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Memory that the machine does not have.
    #[error("out of memory: {what} needs {bytes} bytes; transform in parts, or allow fewer threads")]
    OutOfMemory {
        /// Use of the memory.
        what: &'static str,
        /// Its size in bytes.
        bytes: usize,
    },
    /// A batch that needs too many launches.
    #[error("{}", ProgramError::TooManyLaunches { shape: shape.clone(), most: *most })]
    TooManyLaunches {
        /// The shape.
        shape: Vec<usize>,
        /// Upper bound on the launches of a plan.
        most: usize,
    },
    /// A number of strides that differs from the number of axes.
    #[error("{what} has {expected} axes, but {got} strides were given")]
    StrideCount {
        /// The buffer.
        what: &'static str,
        /// Number of axes.
        expected: usize,
        /// Number of strides.
        got: usize,
    },
    /// Strides that make samples overlap.
    #[error("strides {strides:?} make samples of shape {shape:?} overlap ({what})")]
    OverlappingStrides {
        /// The buffer.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// Its strides.
        strides: Vec<isize>,
    },
    /// A slice that is too short.
    #[error("{what}: shape {shape:?} needs {needed} samples, but the slice has {got}")]
    TooShort {
        /// The buffer.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// Samples needed.
        needed: usize,
        /// Samples given.
        got: usize,
    },
    /// A slice longer than data without gaps: probably a wrong array.
    #[error(
        "{what}: shape {shape:?} has {needed} samples, but the slice has {got}: pass only that part, \
         `&slice[..{needed}]`"
    )]
    TooLong {
        /// The buffer.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// Samples of that shape.
        needed: usize,
        /// Samples given.
        got: usize,
    },
    /// An array of another shape.
    #[error("{what} must have shape {expected:?}, but the array has {got:?}")]
    ShapeMismatch {
        /// The buffer.
        what: &'static str,
        /// The plan's shape.
        expected: Vec<usize>,
        /// The array's shape.
        got: Vec<usize>,
    },
    /// In-place execution of a plan that pads.
    #[error("a plan that pads {shape:?} to {padded:?} cannot run in place: use `forward` and `inverse`")]
    PaddedInPlace {
        /// The data.
        shape: Vec<usize>,
        /// The coefficients.
        padded: Vec<usize>,
    },
    /// The adjoint of an integer wavelet.
    #[error("{}", ProgramError::IntegerAdjoint { wavelet: wavelet.clone() })]
    IntegerAdjoint {
        /// The wavelet.
        wavelet: String,
    },
    /// The adjoint of a plan that pads.
    #[error("{}", ProgramError::PaddedAdjoint { shape: shape.clone(), padded: padded.clone() })]
    PaddedAdjoint {
        /// The data.
        shape: Vec<usize>,
        /// The coefficients.
        padded: Vec<usize>,
    },
    /// An integer wavelet in an expansive mode.
    #[error(
        "wavelet `{wavelet}` is an integer wavelet and has no expansive modes: it rounds, so coefficients beyond the \
         kept ones would be missing; use a real wavelet, or a plan with a border rule"
    )]
    IntegerExtension {
        /// The wavelet.
        wavelet: String,
    },
    /// An impossible filter length.
    #[error(
        "invalid filter length {length} for `{wavelet}`: it must be even and at least 2; see `Scheme::filter_length`"
    )]
    FilterLength {
        /// The wavelet.
        wavelet: String,
        /// The given length.
        length: usize,
    },
    /// Bands shorter than any data produces.
    #[error("bands have {length} coefficients along axis {axis}, but `{wavelet}` makes at least {needed}")]
    ShortBand {
        /// The wavelet.
        wavelet: String,
        /// The axis.
        axis: usize,
        /// Length of the bands, in coefficients.
        length: usize,
        /// The minimum length.
        needed: usize,
    },
    /// Too few or too many bands.
    #[error("{got} bands given, but the transform has {expected}; pass missing ones as `None`")]
    BandCount {
        /// Number of bands of the transform.
        expected: usize,
        /// Number of bands given.
        got: usize,
    },
    /// A resolution level that the plan does not have.
    #[error("invalid level {level}: the plan has levels 0 (full size) to {depth}")]
    NoSuchLevel {
        /// The requested level.
        level: u32,
        /// Number of levels of the plan.
        depth: u32,
    },
    /// A workspace made by another plan.
    #[error("the workspace was made for another plan: make one with this plan's `workspace()`")]
    ForeignWorkspace,
    /// A schedule that does not support the wavelet.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A requested schedule that does not support a level.
    #[error("{}", ProgramError::Refused { schedule: *schedule, direction: *direction, level: *level, reason: reason.clone() })]
    Refused {
        /// The requested schedule.
        schedule: Schedule,
        /// Analysis or synthesis.
        direction: Direction,
        /// The level; 1 is the finest.
        level: u32,
        /// The reason.
        reason: String,
    },
    /// A GPU schedule for a CPU plan.
    #[error("schedule `{schedule}` needs a GPU, but the plan is for {device}: use the `auto` schedule")]
    NoSchedule {
        /// The requested schedule.
        schedule: Schedule,
        /// The device.
        device: String,
    },
    /// An axis longer than kernels can index.
    #[error("{}", ProgramError::AxisTooLong { axis: *axis, length: *length, most: *most })]
    AxisTooLong {
        /// The axis.
        axis: usize,
        /// Its length.
        length: usize,
        /// The maximum length.
        most: usize,
    },
    /// A generated kernel is wrong: a bug in this crate, please report it.
    #[error("{}", ProgramError::Kernel { kernel: kernel.clone(), reason: reason.clone() })]
    Kernel {
        /// Name of the kernel.
        kernel: String,
        /// The fault.
        reason: String,
    },
    /// A device that runs only the kernels of plans.
    #[error("{device} runs only the kernels of plans: use a CUDA device or the interpreter")]
    NoKernels {
        /// The device.
        device: String,
    },
    /// A kernel array that does not match the request.
    #[error("kernel array has {len} elements of type {found}, but more of them or type {wanted} was requested")]
    KernelArray {
        /// Element type of the array.
        found: &'static str,
        /// Number of elements.
        len: usize,
        /// The requested type.
        wanted: &'static str,
    },
    /// A CUDA device that is missing or failed.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// An OpenCL device that is missing or failed.
    #[error(transparent)]
    OpenCl(#[from] OpenClError),
}

/// Maps each variant to its counterpart, so users see one error type.
impl From<ProgramError> for PlanError {
    fn from(error: ProgramError) -> PlanError {
        match error {
            ProgramError::TooManyLaunches { shape, most } => PlanError::TooManyLaunches { shape, most },
            ProgramError::IntegerAdjoint { wavelet } => PlanError::IntegerAdjoint { wavelet },
            ProgramError::PaddedAdjoint { shape, padded } => PlanError::PaddedAdjoint { shape, padded },
            ProgramError::Schedule(e) => PlanError::Schedule(e),
            ProgramError::Refused { schedule, direction, level, reason } => {
                PlanError::Refused { schedule, direction, level, reason }
            }
            ProgramError::AxisTooLong { axis, length, most } => PlanError::AxisTooLong { axis, length, most },
            ProgramError::Kernel { kernel, reason } => PlanError::Kernel { kernel, reason },
        }
    }
}

fn domain_name(domain: Domain) -> &'static str {
    match domain {
        Domain::Integer => "an integer wavelet",
        Domain::Real => "a real wavelet",
    }
}

fn domain_help(domain: Domain, sample: SampleType) -> String {
    match domain {
        Domain::Integer => format!("use i16, i32 or i64 samples, or a real wavelet (such as cdf97) for {sample}"),
        Domain::Real => {
            format!("use f32, f64, f16 or bf16 samples, or an integer wavelet (such as legall53) for {sample}")
        }
    }
}

fn profile_help(wavelet: &str, available: &[Format]) -> String {
    if available.is_empty() {
        return format!("it has none; run it without one, or add `profile … {{ }}` to `{wavelet}`'s text");
    }
    let names: Vec<_> = available.iter().map(|f| f.name()).collect();
    format!("it has {}", names.join(", "))
}
