//! What can be wrong with a plan, or with the data that it is given.

use crate::cuda::CudaError;
use crate::opencl::OpenClError;
use lifting_codegen::schedule::{Direction, ScheduleError};
use lifting_dsl::geometry::GeometryError;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Domain, Format};
use lifting_planner::{ProgramError, Schedule, TileError};

/// Why a plan could not be built or executed. Nothing has been written where one is returned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The wavelet's arithmetic is not that of the samples.
    #[error("wavelet `{wavelet}` is {}, but the samples are {sample}: {}", domain_name(*domain), domain_help(*domain, *sample))]
    Domain {
        /// The wavelet.
        wavelet: String,
        /// What it is.
        domain: Domain,
        /// What the plan was to hold.
        sample: SampleType,
    },
    /// The builder was not told the shape.
    #[error("a plan needs the shape of the data: call `.shape(&[height, width])` (outermost axis first)")]
    NoShape,
    /// Shape, origins, levels or order of axes cannot be.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// Tiles that cannot be.
    #[error(transparent)]
    Tile(#[from] TileError),
    /// The wavelet says nothing about the format that was asked for.
    #[error("wavelet `{wavelet}` has no profile {}: {}", format.name(), profile_help(wavelet, available))]
    NoProfile {
        /// The wavelet.
        wavelet: String,
        /// The format that was asked for.
        format: Format,
        /// The formats that the wavelet has profiles for.
        available: Vec<Format>,
    },
    /// A format, or the periodic border, that takes multiples of 2^levels only.
    #[error(
        "{} takes sizes that are multiples of 2^levels: axis {axis} has {length} samples, which is no multiple of \
         {multiple}; pad it with `.pad(Pad::Edge)` (on the command line: --pad edge) or choose fewer levels", format.name()
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
    /// A format whose arrays start at the origin.
    #[error("{} has no origins: axis {axis} starts at {origin}, and must start at 0", format.name())]
    Origin {
        /// The format.
        format: Format,
        /// The axis.
        axis: usize,
        /// Its origin.
        origin: i64,
    },
    /// An axis named twice, or that the data does not have.
    #[error("axes {axes:?} of data with {rank} axes: each must be below {rank} and named once")]
    Axes {
        /// What was asked for.
        axes: Vec<usize>,
        /// Number of axes of the data.
        rank: usize,
    },
    /// A gain shift as wide as the samples.
    #[error("profile {} shifts samples by {shift} bits at every level, which leaves nothing of {sample}", format.name())]
    Gain {
        /// The format.
        format: Format,
        /// Its gain shift.
        shift: u32,
        /// The samples.
        sample: SampleType,
    },
    /// A stated range that the samples cannot hold.
    #[error("range {low}..={high} does not fit {sample} samples, or is empty")]
    Range {
        /// Lowest value.
        low: i64,
        /// Highest value.
        high: i64,
        /// The samples.
        sample: SampleType,
    },
    /// Padding to more levels than an axis has anything to do for.
    #[error(
        "padding for {levels} levels makes {padded:?} of shape {shape:?}: axis {axis} has {length} samples, which is enough for {most} \
         level{}", if *most == 1 { "" } else { "s" }
    )]
    Padding {
        /// The data.
        shape: Vec<usize>,
        /// What it would be padded to.
        padded: Vec<usize>,
        /// The axis that has too many levels.
        axis: usize,
        /// Its length.
        length: usize,
        /// Its levels.
        levels: u32,
        /// The levels after which a single sample is left.
        most: u32,
    },
    /// An environment variable says what is not understood.
    #[error("the environment variable {name} is `{value}`; it can be {known}")]
    Variable {
        /// Its name.
        name: &'static str,
        /// What it is.
        value: String,
        /// What it can be.
        known: &'static str,
    },
    /// More samples than the machine can address.
    #[error("shape {shape:?} has more samples than this machine can address")]
    TooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
    /// A batch in so many pieces that nobody would wait for them.
    #[error("{}", ProgramError::TooManyLaunches { shape: shape.clone(), most: *most })]
    TooManyLaunches {
        /// The shape.
        shape: Vec<usize>,
        /// The most launches that a plan makes.
        most: usize,
    },
    /// Strides for another number of axes.
    #[error("{what} has {expected} axes, but {got} strides were given")]
    StrideCount {
        /// Which buffer.
        what: &'static str,
        /// Axes.
        expected: usize,
        /// Strides.
        got: usize,
    },
    /// Strides that put two samples in one place.
    #[error("strides {strides:?} make samples of shape {shape:?} overlap ({what})")]
    OverlappingStrides {
        /// Which buffer.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// Its strides.
        strides: Vec<isize>,
    },
    /// A slice that is too short.
    #[error("{what} needs {needed} samples for shape {shape:?}, but the slice has {got}")]
    TooShort {
        /// Which buffer.
        what: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// Samples needed.
        needed: usize,
        /// Samples given.
        got: usize,
    },
    /// A slice that is longer than the data, which has no gaps: probably another array's.
    #[error(
        "{what} has {needed} samples for shape {shape:?}, but the slice has {got}: pass the part that is meant, `&slice[..{needed}]`"
    )]
    TooLong {
        /// Which buffer.
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
        /// Which buffer.
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
    /// An integer wavelet on data that goes on beyond its ends.
    #[error(
        "wavelet `{wavelet}` is an integer wavelet, which rounds: what is beyond the kept coefficients would be missing, so it \
         has no expansive modes; take a real wavelet, or a plan with a border rule"
    )]
    IntegerExtension {
        /// The wavelet.
        wavelet: String,
    },
    /// A filter length of no wavelet.
    #[error(
        "invalid filter length {length} for `{wavelet}`: it must be even and at least 2; see `Scheme::filter_length`"
    )]
    FilterLength {
        /// The wavelet.
        wavelet: String,
        /// The length given.
        length: usize,
    },
    /// Bands that no data has.
    #[error("bands of {length} coefficients along axis {axis}: whatever the data, `{wavelet}` makes at least {needed}")]
    ShortBand {
        /// The wavelet.
        wavelet: String,
        /// The axis.
        axis: usize,
        /// Coefficients of the bands.
        length: usize,
        /// The fewest that can be.
        needed: usize,
    },
    /// Too few or too many bands.
    #[error("{got} bands, and there are {expected} (missing ones as `None`)")]
    BandCount {
        /// Bands of the transform.
        expected: usize,
        /// What was given.
        got: usize,
    },
    /// A resolution level that the plan does not have.
    #[error("there is no level {level}: the plan has levels 0 (full size) to {depth}")]
    NoSuchLevel {
        /// What was asked for.
        level: u32,
        /// The plan's levels.
        depth: u32,
    },
    /// A workspace made by another plan.
    #[error("the workspace was made for another plan: make one with this plan's `workspace()`")]
    ForeignWorkspace,
    /// A schedule that cannot carry the wavelet.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A schedule that was asked for and cannot carry a level.
    #[error("{}", ProgramError::Refused { schedule: *schedule, direction: *direction, level: *level, reason: reason.clone() })]
    Refused {
        /// What was asked for.
        schedule: Schedule,
        /// Analysis or synthesis.
        direction: Direction,
        /// The level; 1 is the finest.
        level: u32,
        /// What stands against it.
        reason: String,
    },
    /// A GPU's schedule, asked of a processor.
    #[error("schedule `{schedule}` is made of a GPU's kernels, and the plan is for {device}: ask for `Schedule::Auto`")]
    NoSchedule {
        /// What was asked for.
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
        /// The most that can be.
        most: usize,
    },
    /// A generated kernel is wrong: an error in this crate, worth a report.
    #[error("{}", ProgramError::Kernel { kernel: kernel.clone(), reason: reason.clone() })]
    Kernel {
        /// Name of the kernel.
        kernel: String,
        /// What was found.
        reason: String,
    },
    /// A device that runs no kernels but those of plans.
    #[error("{device} runs no kernels but those of plans: take a CUDA device, or the interpreter")]
    NoKernels {
        /// The device.
        device: String,
    },
    /// An array of kernels that is not what was asked for.
    #[error("an array of {len} {found} was to give more, or {wanted}")]
    KernelArray {
        /// The type of its elements.
        found: &'static str,
        /// How many it has.
        len: usize,
        /// The type that was asked for.
        wanted: &'static str,
    },
    /// A CUDA device that is missing, or did not do what it was told.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// An OpenCL device that is missing, or did not do what it was told.
    #[error(transparent)]
    OpenCl(#[from] OpenClError),
}

/// Each for what it is: users see one kind of error.
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
