//! Arguments of compiling and of `kernels`.

use super::values::{Lengths, any_shape, boundary_values, dialect_words, format_values, pass_names, plan_schedules};
use super::values::{positive, sample_values};
use clap::{Args, ValueEnum};
use lifting::{Boundary, Format, SampleType};
use lifting_codegen::emit::{TARGETS, Target};
use lifting_codegen::schedule::{self, SCHEDULES};
use std::path::PathBuf;
use std::sync::LazyLock;

/// Arguments of compiling.
#[derive(Debug, Args)]
pub struct CompileArgs {
    /// Wavelets to compile: FILE.lift (all in it), FILE.lift#NAME, or a NAME of the catalogue
    #[arg(required = true, value_name = "WAVELET")]
    pub wavelets: Vec<String>,
    /// Directory to write to; `-` is the standard output
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub output: PathBuf,
    /// Files to write for each wavelet
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', default_values = ["cuda", "c"])]
    pub emit: Vec<Emit>,
    /// Sample types, each with separate functions [default: i16,i32 for integer wavelets, f32,f64 for real ones]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = sample_values())]
    pub sample: Vec<SampleType>,
    /// Border extension [default: the profile's or the wavelet's own]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Follow a format: its border rule, and functions with its gain shift
    #[arg(long, value_name = "FORMAT", value_parser = format_values())]
    pub profile: Option<Format>,
    /// With --emit ir: only kernels of these schedules (default: those of CUDA and C files); with CUDA files: `shared`,
    /// for kernels through shared memory only
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    pub schedule: Vec<ScheduleArg>,
    /// With --emit ir: kernels after this pass, and after the earlier passes that run on every kernel [default: before
    /// any pass]
    #[arg(long, value_name = "PASS", value_parser = pass_names())]
    pub after: Option<String>,
    /// With --emit ir: kernels as text in this language, in WAVELET.kernels.EXTENSION; languages may not support every
    /// schedule
    #[arg(long, value_name = "LANGUAGE", value_parser = dialect_words())]
    pub dialect: Option<String>,
    /// Number of kernels in a CUDA file for any shape
    #[arg(long, value_enum, value_name = "COUNT", default_value = "usual")]
    pub kernels: KernelCount,
    /// Start of all C names, and name of the files, for one wavelet [default: the wavelet's name]
    #[arg(long, value_name = "NAME", value_parser = c_prefix)]
    pub prefix: Option<String>,
    /// Also write a rule for make or ninja: the files, and the `.lift` files from which they are made
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub depfile: Option<PathBuf>,
    /// Write nothing; fail if a file is out of date
    #[arg(long)]
    pub check: bool,
    /// Functions for one shape each.
    #[command(flatten)]
    pub fixed: FixedArgs,
}

/// Longest prefix, as for names of wavelets.
const LONGEST_PREFIX: usize = 64;

fn c_prefix(text: &str) -> Result<String, String> {
    if text.len() > LONGEST_PREFIX || lifting_dsl::c_identifier(text) != text {
        return Err(format!(
            "write at most {LONGEST_PREFIX} letters, digits and single inner underscores, and begin with a letter"
        ));
    }
    Ok(text.to_owned())
}

/// `--kernels`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KernelCount {
    /// One for both axes of a level, and one for each axis, per type and direction: to read, and to change
    Few,
    /// Enough that no size is predicted to lose more than 3 %
    Usual,
    /// Every kernel predicted fastest for some size
    All,
}

/// Arguments of functions for one shape each.
#[derive(Debug, Args)]
#[command(next_help_heading = "Functions for one shape each")]
pub struct FixedArgs {
    /// Write CUDA functions for this shape only, with the launches of a plan; separate several shapes by commas. C and
    /// Rust files are for any shape without --in-place
    #[arg(long, value_name = "HxW", value_delimiter = ',', value_parser = any_shape)]
    pub shape: Vec<Lengths>,
    /// Write C and Rust functions for the shape only, for small machines: in place, without scratch memory, and Rust
    /// without std or unsafe
    #[arg(long, requires = "shape")]
    pub in_place: bool,
    /// Number of levels, for all shapes or for each [default: 1]
    #[arg(short, long, value_name = "N", requires = "shape", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=32))]
    pub levels: Vec<u32>,
    /// Number of arrays transformed at once, as an axis in front of the shape
    #[arg(long, value_name = "N", requires = "shape", value_parser = positive)]
    pub batch: Option<usize>,
    /// Axes to transform, from 0, not counting the batch [default: all]
    #[arg(long, value_name = "AXES", requires = "shape", value_delimiter = ',')]
    pub axes: Vec<usize>,
    /// Row pitch: rows begin at multiples of this many bytes [default: contiguous]
    #[arg(long, value_name = "BYTES", requires = "shape", value_parser = positive)]
    pub pitch: Option<usize>,
    /// Multiprocessors of the device: 132 on an H100 (SXM), 108 on an A100 [default: 132]
    #[arg(long, value_name = "N", requires = "shape", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub multiprocessors: Option<u32>,
}

/// `--emit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// WAVELET.EXTENSION: a complete file in a language.
    File(&'static Target),
    /// WAVELET.lift: the wavelet as the compiler understands it.
    Scheme,
    /// WAVELET.ir: kernels in the intermediate representation.
    Ir,
}

impl ValueEnum for Emit {
    fn value_variants<'a>() -> &'a [Emit] {
        static ALL: LazyLock<Vec<Emit>> = LazyLock::new(|| {
            let files = TARGETS.iter().map(|&target| Emit::File(target));
            files.chain([Emit::Scheme, Emit::Ir]).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let (name, about) = match self {
            Emit::File(target) => {
                let header = if target.has_header() { "; with WAVELET.h" } else { "" };
                (target.name, format!("WAVELET.{}: {}{header}", target.extension, target.about))
            }
            Emit::Scheme => ("scheme", "WAVELET.lift: the wavelet as the compiler understands it".into()),
            Emit::Ir => ("ir", "WAVELET.ir: kernels in the intermediate representation".into()),
        };
        Some(clap::builder::PossibleValue::new(name).help(about))
    }
}

/// `--schedule` of compiling: kernels of one axis, or a schedule of several axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleArg {
    /// Rows and columns through shared memory, one pass per axis.
    Shared,
    /// Rows in shared memory.
    Horizontal,
    /// Columns in a sliding window.
    Vertical,
    /// Rows and columns on a CPU.
    Rows,
    /// Whole rows or columns of lattices.
    Lattice,
    /// Several axes in one launch.
    Launch(&'static dyn schedule::LaunchSchedule),
}

impl ScheduleArg {
    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ScheduleArg::Shared => "shared",
            ScheduleArg::Horizontal => "horizontal",
            ScheduleArg::Vertical => "vertical",
            ScheduleArg::Rows => "rows",
            ScheduleArg::Lattice => "lattice",
            ScheduleArg::Launch(schedule) => schedule.name(),
        }
    }

    fn about(self) -> &'static str {
        match self {
            ScheduleArg::Shared => "Rows and columns through shared memory, a pass an axis (CUDA)",
            ScheduleArg::Horizontal => "Rows in shared memory (CUDA)",
            ScheduleArg::Vertical => "Columns in a sliding window (CUDA)",
            ScheduleArg::Rows => "Rows and columns on a CPU (C)",
            ScheduleArg::Lattice => {
                "Lattices with periodic borders: blocks hold whole rows or columns of up to 1024 samples"
            }
            ScheduleArg::Launch(schedule) => schedule.about(),
        }
    }
}

impl ValueEnum for ScheduleArg {
    fn value_variants<'a>() -> &'a [ScheduleArg] {
        static ALL: LazyLock<Vec<ScheduleArg>> = LazyLock::new(|| {
            let passes = [ScheduleArg::Shared, ScheduleArg::Horizontal, ScheduleArg::Vertical, ScheduleArg::Rows];
            let launches = SCHEDULES.iter().map(|&schedule| ScheduleArg::Launch(schedule));
            passes.into_iter().chain(launches).chain([ScheduleArg::Lattice]).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()).help(self.about()))
    }
}

/// Arguments of `kernels`.
#[derive(Debug, Args)]
pub struct KernelsArgs {
    /// Wavelet: NAME, FILE.lift or FILE.lift#NAME
    #[arg(short, long, value_name = "WAVELET")]
    pub wavelet: String,
    /// Sample type [default: i16 for integer wavelets, f32 for real ones]
    #[arg(long, value_name = "TYPE", value_parser = sample_values())]
    pub sample: Option<SampleType>,
    /// Shape: 1080x1920, 512x512x512, 1048576
    #[arg(long, value_name = "HxW", value_parser = any_shape)]
    pub shape: Lengths,
    /// Number of arrays transformed at once, as an axis in front of the shape
    #[arg(long, value_name = "N", value_parser = positive)]
    pub batch: Option<usize>,
    /// Number of levels
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub levels: u32,
    /// Border extension [default: the wavelet's own]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Schedule of kernels; auto takes the one predicted to be fastest
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = plan_schedules())]
    pub schedule: lifting::Schedule,
    /// Row pitch: rows begin at multiples of this many bytes [default: contiguous]
    #[arg(long, value_name = "BYTES", value_parser = positive)]
    pub pitch: Option<usize>,
    /// Multiprocessors of the device: 132 on an H100 (SXM), 108 on an A100
    #[arg(long, value_name = "N", default_value = "132", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub multiprocessors: u32,
    /// File to write; `-` is the standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}
