//! The command line: what can be said, and what `--help` teaches.

// Help is shown as it stands: what looks like a link is an index.
#![allow(rustdoc::broken_intra_doc_links)]

use clap::{Args, Parser, Subcommand, ValueEnum};
use lifting::{Boundary, Format, Layout, SampleType};
use lifting_codegen::schedule::{self, SCHEDULES};
use lifting_dsl::body::Factor;
use lifting_dsl::factor::Precision;
use std::path::PathBuf;
use std::sync::LazyLock;

const EXAMPLES: &str = "\
Examples:
  liftc filters/dd137.lift -o kernels/            CUDA, C and a C header
  liftc cdf97 --emit cuda --sample f32 -o -       to the standard output
  liftc filters/dd137.lift -o kernels/ --check    is kernels/ up to date?
  liftc check my.lift                             all errors of a file
  liftc list                                      the catalogue
  liftc explain dd137 --svg window.svg            its window, costs and range
  liftc plot cdf97 -o cdf97.svg                  its functions and diagram
  liftc factor bior4.4 -o mine.lift               a filter bank as lifting steps
  liftc transform photo.png -w dd137 -l 3 -o coeffs.npy --picture pyramid.png
  liftc transform coeffs.npy --inverse -o back.png
  liftc encode photo.png -o photo.lpc             a picture as few bytes
  liftc decode photo.lpc -o back.png
  liftc bench -w cdf97 --shape 4096x4096 -l 5     how fast it is

A wavelet is named by the catalogue (`dd137`, `bior4.4`), by a file (`my.lift`), or by a file and a name in it \
(`my.lift#db2`).

Exit codes: 0 done, 1 the input is at fault, 2 the command line is at fault.";

const FACTOR_EXAMPLES: &str = "\
Examples:
  liftc factor bior4.4                        the four steps of (9,7), and K
  liftc factor db8 --list                     what there is to choose from
  liftc factor db20 --as lattice -o db20.lift
  liftc factor --lowpass \"-1/8 1/4 3/4 1/4 -1/8\" --highpass \"-1/2 1 -1/2\"
  liftc factor --lowpass \"1/sqrt(2) 1/sqrt(2)\" --name haar
  liftc factor filters.json

Numbers are fractions, decimals and expressions with sqrt(), separated by blanks or commas. Rational banks are \
factored exactly. Files of numbers:
  .txt    lines `lowpass at -2: -1/8 1/4 3/4 1/4 -1/8` and `highpass at 0: …`;
          `at -2` and the words may be left away
  .json   {\"lowpass\": […], \"highpass\": […], \"lowpass_at\": -2,
          \"highpass_at\": 0}, or PyWavelets' dec_lo, dec_hi, rec_lo, rec_hi
  .npy    one row of taps (a low-pass) or two rows
Synthesis filters (`synthesis-lowpass`, `synthesis_lowpass`, rec_lo, …) are checked against the analysis ones.";

const SHOW_NOTES: &str = "\
What is printed is a .lift file: all but the wavelet itself is comments.

Filters are those that one level amounts to away from borders: low[k] = Σ h[n]·x[2k + n], and sample x[2k + n] takes \
h[n] of synthesis from low[k]. The L2 norm of a synthesis vector is what an error of 1 in a coefficient does to the \
signal: codecs quantise bands with steps in inverse proportion to it. The L1 norm of analysis bounds the coefficients \
of samples up to 1.";

const TRANSFORM_EXAMPLES: &str = "\
Examples:
  A picture, lossless: coefficients as a numpy array, and the pyramid to look at
    liftc transform photo.png -w dd137 -l 3 -o coeffs.npy --picture pyramid.png
  Back again: everything that the inverse needs is in coeffs.npy.json
    liftc transform coeffs.npy --inverse -o back.png
  A quarter of the width and height
    liftc transform coeffs.npy --inverse --level 2 -o small.png
  JPEG 2000's own integers
    liftc transform photo.png -w legall53 -l 5 --profile jpeg2000 -o coeffs.npy
  VC-2 takes multiples of 2^levels only
    liftc transform photo.png -w dd137 -l 3 --profile vc2 --pad edge -o c.npy
  A stack of pictures, axis 0 left alone; a volume in a .npz
    liftc transform frames.npy -w cdf97 -l 4 --axes 1,2 -o coeffs.npy
    liftc transform brain.npz --array volume -w dd137 -l 3 -o coeffs.npy
  Several at once, into a directory
    liftc transform *.png -w legall53 -l 3 -o coeffs/
  Levels for each axis; a tile that begins at row 0, column 5
    liftc transform film.npy -w legall53 -l 2,4,4 -o coeffs.npy
    liftc transform tile.png -w legall53 -l 3 --origin 0,5 -o coeffs.npy
  From one program to the next
    convert a.raw pgm:- | liftc transform - -w dd137 -l 3 -o - > coeffs.npy
    liftc transform coeffs.npy --inverse -o - --format ppm | display
  Coefficients that were changed in numpy: nothing can vouch for them any more
    liftc transform coeffs.npy --inverse --force -o denoised.png

The sidecar, coeffs.npy.json, says which coefficients it belongs to. The inverse refuses others, and edited sidecars. \
What is written to a pipe has it behind the data, where numpy does not look; --sidecar puts it into a file.

Reads PNG, JPEG, TIFF, PGM, PPM, PBM and PAM, grey or colour, with or without alpha (each channel is transformed by \
itself; channels are the last axis of the array), and numpy's .npy and .npz of 1 to 8 axes. Pages of a TIFF are a \
stack, with an axis in front. What of a file is not in the samples is said. A .npy of 16 MiB or more is mapped into \
memory, and must not change meanwhile.

Coefficients are .npy or .npz; the inverse and --picture write PNG, TIFF, PGM, PPM, PBM and PAM, by the name's ending.

Sample types, unless --sample says otherwise:
  element           integer wavelet   real wavelet
  uint8, int8       i16               f32
  int16             i16               f32
  uint16            i32               f32
  int32             i32               f64
  uint32, int64     i64               f64
  float16, 32, 64   none              f16, f32, f64
A profile with a gain shift takes the next wider integer where values would not fit.";

const ENCODE_EXAMPLES: &str = "\
Examples:
  liftc encode photo.png -o photo.lpc                 lossless
  liftc encode photo.png --psnr 40 -o photo.lpc       as good as that
  liftc encode photo.png --bpp 1.5 -o photo.lpc       as small as that
  liftc encode photo.png --quality 75 -o photo.lpc
  liftc encode photo.png -w dd137 -l 4 -o photo.lpc   with another wavelet
  liftc encode *.png --psnr 45 -o streams/            into a directory
  liftc decode photo.lpc -o back.png
  head -c 20000 photo.lpc | liftc decode - -o preview.png

Any wavelet will do; one of your own travels with the stream. Lossless coding takes wavelets of integers.

Pictures are PNG, JPEG, TIFF, PGM, PPM, PBM and PAM of 8 and 16 bits, arrays .npy and .npz of height × width or \
height × width × components. RGB is coded as brightness and colour, and other components each by itself. The format is \
described in docs/format.md.";

const DECODE_EXAMPLES: &str = "\
Examples:
  liftc decode photo.lpc -o back.png
  liftc decode photo.lpc --level 2 -o quarter.png     a quarter of each side
  liftc decode photo.lpc -o back.npy
  liftc decode *.lpc -o pictures/
  curl … | liftc decode - -o - --format ppm | display

A stream that ends early decodes to what it has, which is said: coarse resolutions come first. A stream that was \
changed is an error.";

const KERNELS_EXAMPLES: &str = "\
Examples:
  liftc kernels -w cdf97 --shape 1080x1920 -l 3 -o video.cu
  nvcc -cubin -arch=sm_90 -o video.cubin video.cu

On the machine with the device, which then needs no compiler, for a plan of the same wavelet, shape, levels, sample \
type and border rule:
  let device = device.with_kernels(Compiled::load(\"video.cubin\")?);

The same plan, asked on another kind of device, may take other kernels: --multiprocessors says which device it will \
be.";

const BENCH_EXAMPLES: &str = "\
Examples:
  liftc bench -w cdf97,legall53 --shape 4096x4096,1080x1920 -l 1,5 --svg a.svg
  liftc bench --device cuda -w cdf97 --shape 512x512x512 -l 1       a volume
  liftc bench --device cuda -w legall53 --shape 1080x1920 --batch 64 -l 3
  liftc bench --device cpu --threads 4 -w dd137 --sample i16,i32

Every combination of wavelet, sample type, shape and number of levels is measured. On a CUDA device times are of \
launches replayed as a graph, by events; the copy is a kernel that reads and writes 16-byte vectors, one a thread. On \
the CPU it is a memcpy by as many threads. Arrays of 480 MiB together are used in turn, so that nothing is found in a \
cache. Times are medians, and ± is half the distance of the quartiles. Results are verified before anything is timed.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  liftc completions bash > ~/.local/share/bash-completion/completions/liftc
  liftc completions zsh > ~/.zfunc/_liftc      with ~/.zfunc in fpath
  liftc completions fish > ~/.config/fish/completions/liftc.fish
  liftc man ~/.local/share/man/man1            the manual's pages";

/// A compiler for wavelets: from `.lift` text to CUDA and C, and a tool to try them on pictures and arrays.
#[derive(Debug, Parser)]
#[command(name = "liftc", version, after_help = EXAMPLES, max_term_width = 120)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do; compile if nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to compile.
    #[command(flatten)]
    pub compile: CompileArgs,
}

/// Arguments of compiling.
#[derive(Debug, Args)]
pub struct CompileArgs {
    /// Wavelets to compile: FILE.lift (all in it), FILE.lift#NAME, or a NAME of the catalogue
    #[arg(required = true, value_name = "WAVELET")]
    pub wavelets: Vec<String>,
    /// Directory to write to; `-` is the standard output
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub output: PathBuf,
    /// What to write for each wavelet
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', default_values = ["cuda", "c"])]
    pub emit: Vec<Emit>,
    /// Sample types, each with functions of its own [default: i16,i32 for integer wavelets, f32,f64 for real ones]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = sample_values())]
    pub sample: Vec<SampleType>,
    /// What steps read beyond the border [default: the profile's or the wavelet's own]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Follow a format: its border rule, and functions that take its gain shift
    #[arg(long, value_name = "FORMAT", value_parser = format_values())]
    pub profile: Option<Format>,
    /// With --emit ir: only kernels of these schedules (default: those of CUDA and C files); with CUDA files `shared`,
    /// those through shared memory alone
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    pub schedule: Vec<Schedule>,
    /// With --emit ir: kernels as this pass leaves them, after those before it that run on every kernel [default: as
    /// schedules make them, before any pass]
    #[arg(long, value_name = "PASS", value_parser = pass_names())]
    pub after: Option<String>,
    /// With --emit ir: kernels as text of this language, in WAVELET.kernels.EXTENSION; of schedules that it can take
    #[arg(long, value_name = "LANGUAGE", value_parser = dialect_words())]
    pub dialect: Option<String>,
    /// How many kernels a CUDA file for any shape has
    #[arg(long, value_enum, value_name = "COUNT", default_value = "few")]
    pub kernels: KernelCount,
    /// Write nothing; fail if a file is not what would be written
    #[arg(long)]
    pub check: bool,
    /// Functions for one shape each.
    #[command(flatten)]
    pub fixed: FixedArgs,
}

/// `--kernels`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KernelCount {
    /// So few that nvcc is done soon, and no size is predicted to lose much
    Few,
    /// All that are predicted to be the fastest for some size
    All,
}

/// Of functions for one shape each.
#[derive(Debug, Args)]
#[command(next_help_heading = "CUDA functions for one shape each")]
pub struct FixedArgs {
    /// In the CUDA file only functions for this shape, which launch what a plan launches; several by commas or repeated
    #[arg(long, value_name = "HxW", value_delimiter = ',', value_parser = any_shape)]
    pub shape: Vec<Shape>,
    /// Numbers of levels: one for all shapes, or one for each [default: 1]
    #[arg(short, long, value_name = "N", requires = "shape", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=32))]
    pub levels: Vec<u32>,
    /// Transform so many arrays at once: an axis in front of the shape
    #[arg(long, value_name = "N", requires = "shape", value_parser = positive)]
    pub batch: Option<usize>,
    /// Axes to transform, by number from 0, the batch not counted [default: all]
    #[arg(long, value_name = "AXES", requires = "shape", value_delimiter = ',')]
    pub axes: Vec<usize>,
    /// Let rows begin at multiples of so many bytes [default: contiguous]
    #[arg(long, value_name = "BYTES", requires = "shape", value_parser = positive)]
    pub pitch: Option<usize>,
    /// Multiprocessors of the device: 132 on an H100 (SXM), 108 on an A100 [default: 132]
    #[arg(long, value_name = "N", requires = "shape", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub multiprocessors: Option<u32>,
}

/// `--emit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// WAVELET.cu: kernels and host functions; with WAVELET.h
    Cuda,
    /// WAVELET.c: a complete transform in C99; with WAVELET.h
    C,
    /// WAVELET.opencl.c: kernels and functions in C that compile and launch them; with WAVELET.h
    #[value(name = "opencl")]
    Opencl,
    /// WAVELET.rs: a complete transform in Rust, a module of its own
    Rust,
    /// WAVELET.lift: the wavelet as the compiler understands it
    Scheme,
    /// WAVELET.ir: the kernels, before they become text of a language
    Ir,
}

/// `--schedule` of compiling: kernels of one axis, or a schedule of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Rows and columns through shared memory, a pass an axis.
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
    Launch(&'static dyn schedule::Schedule),
}

impl Schedule {
    fn name(self) -> &'static str {
        match self {
            Schedule::Shared => "shared",
            Schedule::Horizontal => "horizontal",
            Schedule::Vertical => "vertical",
            Schedule::Rows => "rows",
            Schedule::Lattice => "lattice",
            Schedule::Launch(schedule) => schedule.name(),
        }
    }

    fn about(self) -> &'static str {
        match self {
            Schedule::Shared => "Rows and columns through shared memory, a pass an axis (CUDA)",
            Schedule::Horizontal => "Rows in shared memory (CUDA)",
            Schedule::Vertical => "Columns in a sliding window (CUDA)",
            Schedule::Rows => "Rows and columns on a CPU (C)",
            Schedule::Lattice => {
                "Lattices under periodic: blocks hold whole rows or columns, of up to 1024 samples here"
            }
            Schedule::Launch(schedule) => schedule.about(),
        }
    }
}

impl ValueEnum for Schedule {
    fn value_variants<'a>() -> &'a [Schedule] {
        static ALL: LazyLock<Vec<Schedule>> = LazyLock::new(|| {
            let passes = [Schedule::Shared, Schedule::Horizontal, Schedule::Vertical, Schedule::Rows];
            let launches = SCHEDULES.iter().map(|&schedule| Schedule::Launch(schedule));
            passes.into_iter().chain(launches).chain([Schedule::Lattice]).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()).help(self.about()))
    }
}

/// What `liftc` does besides compiling.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report all errors and warnings of `.lift` files
    Check(CheckArgs),
    /// Print the catalogue
    List(ListArgs),
    /// Print a wavelet as the compiler understands it, and what it is good for: filters, moments, norms, ranges, costs
    #[command(after_help = SHOW_NOTES)]
    Show(ShowArgs),
    /// Say what is derived from a wavelet: window, row diagram, operations, input range, and what schedules move
    Explain(ExplainArgs),
    /// Take a filter bank apart into lifting steps or a lattice, and write it as a `.lift` file
    #[command(after_help = FACTOR_EXAMPLES)]
    Factor(Box<FactorArgs>),
    /// Draw a wavelet: scaling functions, wavelets, frequency responses and the lifting diagram, as SVG or PNG
    Plot(PlotArgs),
    /// Transform pictures and arrays, and back
    #[command(after_help = TRANSFORM_EXAMPLES)]
    Transform(Box<TransformArgs>),
    /// Code pictures as streams of few bytes: lossless, or as good or as small as asked for
    #[command(after_help = ENCODE_EXAMPLES)]
    Encode(EncodeArgs),
    /// Decode streams of `encode` to pictures and arrays
    #[command(after_help = DECODE_EXAMPLES)]
    Decode(DecodeArgs),
    /// Say what streams of `encode` hold
    Info(InfoArgs),
    /// Measure how long transforms take, as multiples of a copy of the same data
    #[command(after_help = BENCH_EXAMPLES)]
    Bench(Box<BenchArgs>),
    /// Write the CUDA kernels that plans take, to be compiled where there is a compiler and no device
    #[command(after_help = KERNELS_EXAMPLES)]
    Kernels(KernelsArgs),
    /// Print the completions of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Directory to write liftc.1, liftc-transform.1 and so on to [default: liftc.1 to the standard output]
    pub dir: Option<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files to check
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Arguments of `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only wavelets whose name, alias or family contains this
    pub pattern: Option<String>,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Wavelets: NAME, FILE.lift or FILE.lift#NAME
    #[arg(required = true, value_name = "WAVELET")]
    pub wavelets: Vec<String>,
    /// Levels for which bands are described
    #[arg(short, long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub levels: u32,
    /// Only the wavelet's text
    #[arg(long, conflicts_with = "json")]
    pub text: bool,
    /// All of it as JSON: a list with an object for each wavelet
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The wavelet: NAME, FILE.lift or FILE.lift#NAME; or the code of an error or a warning, as in L0301
    pub wavelet: String,
    /// What steps read beyond the border [default: the wavelet's own]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Rows by which the window advances, in the table and the diagram: even, 2 to 64
    #[arg(long, value_name = "ROWS", default_value = "8", value_parser = even_height)]
    pub height: u32,
    /// Also draw the row diagram
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Size of the image that schedules are counted on
    #[arg(long, value_name = "HxW", default_value = "64x64", value_parser = image_shape)]
    pub shape: [usize; 2],
    /// Levels to count, and to bound the input for
    #[arg(short, long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub levels: u32,
    /// Sample type that schedules are counted with [default: i16 for integer wavelets, f32 for real ones]
    #[arg(long, value_name = "TYPE", value_parser = sample_values())]
    pub sample: Option<SampleType>,
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
    pub shape: Shape,
    /// Transform so many arrays at once: an axis in front of the shape
    #[arg(long, value_name = "N", value_parser = positive)]
    pub batch: Option<usize>,
    /// Number of levels
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=32))]
    pub levels: u32,
    /// What steps read beyond the border [default: the wavelet's own]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// How kernels go through a level: what the planner predicts to be the fastest, or this one
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = plan_schedules())]
    pub schedule: lifting::Schedule,
    /// Let rows begin at multiples of so many bytes [default: contiguous]
    #[arg(long, value_name = "BYTES", value_parser = positive)]
    pub pitch: Option<usize>,
    /// Multiprocessors of the device: 132 on an H100 (SXM), 108 on an A100
    #[arg(long, value_name = "N", default_value = "132", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub multiprocessors: u32,
    /// File to write; `-` is the standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Wavelets: NAME, FILE.lift or FILE.lift#NAME
    #[arg(short, long, value_name = "WAVELET", value_delimiter = ',', default_value = "cdf97")]
    pub wavelet: Vec<String>,
    /// Sample types [default: i16 for integer wavelets, f32 for real ones]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = sample_values())]
    pub sample: Vec<SampleType>,
    /// Shapes: 1080x1920, 512x512x512, 1048576
    #[arg(long, value_name = "HxW", value_delimiter = ',', default_value = "2048x2048", value_parser = any_shape)]
    pub shape: Vec<Shape>,
    /// Transform so many arrays at once: an axis in front of the shape
    #[arg(long, value_name = "N", value_parser = positive)]
    pub batch: Option<usize>,
    /// Numbers of levels
    #[arg(
        short,
        long,
        value_name = "N",
        value_delimiter = ',',
        default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=32)
    )]
    pub levels: Vec<u32>,
    /// Analysis, synthesis, or both
    #[arg(long, value_enum, default_value = "both")]
    pub direction: DirectionArg,
    /// What steps read beyond the border [default: the wavelet's own]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// How kernels on a GPU go through a level: what the planner predicts to be the fastest, or this one
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "auto", value_parser = plan_schedules())]
    pub schedule: Vec<lifting::Schedule>,
    /// Let rows begin at multiples of so many bytes [default: contiguous]
    #[arg(long, value_name = "BYTES", value_parser = positive)]
    pub pitch: Option<usize>,
    /// Where to execute: best, cpu, cuda, or cuda:N for device number N
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = device)]
    pub device: DeviceArg,
    /// Threads to use on the CPU [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Times to take; the median counts
    #[arg(long, value_name = "N", default_value = "15", value_parser = clap::value_parser!(u16).range(1..=10000))]
    pub repeats: u16,
    /// Also write everything as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also draw the ratios
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Measure what the lines of a file ask for instead: each has options of this command that say what is measured, as
    /// `-w cdf97
    /// --shape 4096x4096 -l 1,5`; `#` begins a comment
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "wavelet", "sample", "shape", "batch", "levels", "direction", "boundary", "schedule", "pitch"
        ]
    )]
    pub suite: Option<PathBuf>,
    /// Say nothing but the table and errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `--shape`.
type Shape = Vec<usize>;

/// `--direction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DirectionArg {
    /// Data to coefficients
    Forward,
    /// Coefficients to data
    Inverse,
    /// One after the other
    Both,
}

/// `--device`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceArg {
    /// The fastest there is.
    Best,
    /// The processor.
    Cpu,
    /// A CUDA device, by its number.
    Cuda(usize),
}

fn device(text: &str) -> Result<DeviceArg, String> {
    match text {
        "best" => Ok(DeviceArg::Best),
        "cpu" => Ok(DeviceArg::Cpu),
        "cuda" => Ok(DeviceArg::Cuda(0)),
        _ => text
            .strip_prefix("cuda:")
            .and_then(|n| n.parse().ok().map(DeviceArg::Cuda))
            .ok_or_else(|| "write best, cpu, cuda or cuda:N".into()),
    }
}

fn any_shape(text: &str) -> Result<Shape, String> {
    let side = |text: &str| text.parse().ok().filter(|n| *n > 0);
    let sides: Option<Shape> = text.split('x').map(side).collect();
    sides.ok_or_else(|| "write the lengths of the axes as 1080x1920, each at least 1".into())
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "it must be a whole number from 1".into())
}

/// Arguments of `plot`.
#[derive(Debug, Args)]
pub struct PlotArgs {
    /// The wavelet: NAME, FILE.lift or FILE.lift#NAME
    pub wavelet: String,
    /// Files to write, .svg or .png by their extension
    #[arg(short, long, required = true, value_name = "FILE", value_delimiter = ',')]
    pub output: Vec<PathBuf>,
    /// What to draw, from top to bottom [default: all]
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub what: Vec<Panel>,
    /// Width of the figure in millimetres: 88 is a column of a paper
    #[arg(long, value_name = "MM", default_value = "88", value_parser = clap::value_parser!(u16).range(60..=400))]
    pub width: u16,
    /// Pixels an inch of a PNG
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u16).range(36..=1200))]
    pub dpi: u16,
}

/// `--what` of `plot`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Panel {
    /// Scaling functions of analysis and synthesis
    Scaling,
    /// Wavelets of analysis and synthesis
    Wavelet,
    /// Frequency responses of both banks
    Response,
    /// The lifting steps of analysis
    Diagram,
}

/// Largest side of an image that is counted: interpreting is slow.
const MAX_SIDE: usize = 2048;

fn even_height(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n @ 2..=64) if n % 2 == 0 => Ok(n),
        _ => Err("it must be an even number from 2 to 64".into()),
    }
}

fn image_shape(text: &str) -> Result<[usize; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|n| (2..=MAX_SIDE).contains(n));
    let sides = text.split_once('x').and_then(|(h, w)| Some([side(h)?, side(w)?]));
    sides.ok_or_else(|| format!("write height and width as 480x640, each from 2 to {MAX_SIDE}"))
}

/// Arguments of `factor`.
#[derive(Debug, Args)]
pub struct FactorArgs {
    /// The bank: a wavelet of PyWavelets or of the catalogue, FILE.lift or FILE.lift#NAME, or a file of numbers (.txt,
    /// .json, .npy)
    #[arg(value_name = "WAVELET|FILE", required_unless_present = "lowpass", conflicts_with = "lowpass")]
    pub bank: Option<String>,
    /// Taps of the low-pass filter, as in "1/8 1/4 3/4": low[k] = Σ taps[i]·x[2k + AT + i]. Alone it stands for the
    /// orthogonal bank with its quadrature mirror
    #[arg(long, value_name = "TAPS", allow_hyphen_values = true)]
    pub lowpass: Option<String>,
    /// Taps of the high-pass filter
    #[arg(long, value_name = "TAPS", allow_hyphen_values = true, requires = "lowpass")]
    pub highpass: Option<String>,
    /// Where the low-pass filter begins, relative to 2k [default: where the bank reconstructs]
    #[arg(long, value_name = "AT", allow_negative_numbers = true, value_parser = place())]
    pub lowpass_at: Option<i64>,
    /// Where the high-pass filter begins, relative to 2k [default: where the bank reconstructs]
    #[arg(long, value_name = "AT", allow_negative_numbers = true, value_parser = place())]
    pub highpass_at: Option<i64>,
    /// What to make of it
    #[arg(long = "as", value_enum, value_name = "WHAT", default_value = "lifting")]
    pub into: Into,
    /// Print all factorisations found, best first, with what they cost
    #[arg(long, visible_alias = "all", conflicts_with_all = ["pick", "output"])]
    pub list: bool,
    /// Write the N-th of the list instead of the first
    #[arg(long, value_name = "N")]
    pub pick: Option<usize>,
    /// Refuse what samples of this type cannot carry
    #[arg(long, value_enum, value_name = "TYPE", default_value = "f32")]
    pub sample: Carrier,
    /// Border rule of the wavelet, under which round trips are measured [default: whole-symmetric if the filters are,
    /// else periodic]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Name of the wavelet [default: the bank's]
    #[arg(long)]
    pub name: Option<String>,
    /// File to write [default: the standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `--as`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Into {
    /// Lifting steps
    Lifting,
    /// A lattice of rotations; orthogonal banks only
    Lattice,
}

/// Where a filter may begin.
fn place() -> clap::builder::RangedI64ValueParser<i64> {
    clap::value_parser!(i64).range(-1000..=1000)
}

impl Into {
    /// As the library has it.
    pub fn factor(self) -> Factor {
        match self {
            Into::Lifting => Factor::Lifting,
            Into::Lattice => Factor::Lattice,
        }
    }
}

/// `--sample` of `factor`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Carrier {
    /// 24 bits
    F32,
    /// 53 bits
    F64,
}

impl Carrier {
    /// As the library has it.
    pub fn precision(self) -> Precision {
        match self {
            Carrier::F32 => Precision::F32,
            Carrier::F64 => Precision::F64,
        }
    }
}

/// Arguments of `transform`.
#[derive(Clone, Debug, Args)]
pub struct TransformArgs {
    /// Pictures or arrays; with --inverse, coefficients; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Where to write; a directory if there are several inputs; `-` is the standard output
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: PathBuf,
    /// The wavelet: NAME, FILE.lift or FILE.lift#NAME
    #[arg(short, long, required_unless_present = "inverse", conflicts_with = "inverse")]
    pub wavelet: Option<String>,
    /// Number of levels, one for all transformed axes or one for each, as in 3,3,1 [default: 1]
    #[arg(
        short,
        long,
        value_name = "N",
        value_delimiter = ',',
        allow_negative_numbers = true,
        conflicts_with = "inverse",
        value_parser = clap::value_parser!(u32).range(0..=32)
    )]
    pub levels: Vec<u32>,
    /// Undo a transform: coefficients back to the picture or array that they came from
    #[arg(long)]
    pub inverse: bool,
    /// Stop the inverse at this level: 0 is full size, 1 half, 2 a quarter
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=32))]
    pub level: Option<u32>,
    /// What steps read beyond the border [default: the profile's or the wavelet's own]
    #[arg(long, value_name = "RULE", conflicts_with = "inverse", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Follow a format to the integer: border rule, order of axes, gain shift, sizes
    #[arg(long, value_name = "FORMAT", conflicts_with = "inverse", value_parser = format_values())]
    pub profile: Option<Format>,
    /// Axes to transform, from 0 (outermost); negative ones count from the end [default: a picture's height and width,
    /// all axes of an array]
    #[arg(long, value_name = "AXES", value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "inverse")]
    pub axes: Option<Vec<i64>>,
    /// Position of the first sample, one for all transformed axes or one for each: at an odd one the high band comes
    /// first [default: 0]
    #[arg(long, value_name = "POS", value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "inverse")]
    pub origin: Vec<i64>,
    /// Grow the data to multiples of 2^levels; the inverse crops
    #[arg(long, value_enum, value_name = "HOW", conflicts_with = "inverse")]
    pub pad: Option<PadArg>,
    /// Where coefficients are put [default: mallat]
    #[arg(long, value_enum, conflicts_with = "inverse")]
    pub layout: Option<LayoutArg>,
    /// Type of samples and coefficients: i16, i32, i64, f16, f32, f64 [default: by the input]
    #[arg(long, value_name = "TYPE", conflicts_with = "inverse", value_parser = sample_values())]
    pub sample: Option<SampleType>,
    /// Also draw the coefficients: low band as it is, details stretched around grey, bands outlined
    #[arg(long, value_name = "PNG|DIR")]
    pub picture: Option<PathBuf>,
    /// What is written, where the name does not say it [default: .npy; for the inverse, what the coefficients came
    /// from]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<OutputFormat>,
    /// What the inverse needs besides the coefficients: written here, or read from here with --inverse [default: the
    /// name of the coefficients and .json]
    #[arg(long, value_name = "FILE")]
    pub sidecar: Option<PathBuf>,
    /// With --inverse: go on with coefficients or a sidecar that were changed
    #[arg(long)]
    pub force: bool,
    /// Which array of a .npz
    #[arg(long, value_name = "NAME", conflicts_with = "inverse")]
    pub array: Option<String>,
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `encode`.
#[derive(Debug, Args)]
pub struct EncodeArgs {
    /// Pictures or arrays; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Where to write; a directory if there are several inputs; `-` is the standard output
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: PathBuf,
    /// Every sample comes back as it was; so it is if nothing else is said
    #[arg(long, conflicts_with_all = ["psnr", "bpp", "quality"])]
    pub lossless: bool,
    /// So good at least: peak signal-to-noise ratio in decibels, 40 is good and 50 is hardly to be seen
    #[arg(long, value_name = "DB", allow_negative_numbers = true, conflicts_with_all = ["bpp", "quality"])]
    pub psnr: Option<f64>,
    /// So small at most: bits for each pixel, all of its components together
    #[arg(long, value_name = "BITS", allow_negative_numbers = true, conflicts_with = "quality")]
    pub bpp: Option<f64>,
    /// From 1 to 100: 8 less doubles the error
    #[arg(long, value_name = "Q", allow_negative_numbers = true)]
    pub quality: Option<f64>,
    /// The wavelet: NAME, FILE.lift or FILE.lift#NAME [default: legall53 for lossless coding, else cdf97]
    #[arg(short, long)]
    pub wavelet: Option<String>,
    /// Number of levels
    #[arg(short, long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(0..=16))]
    pub levels: u32,
    /// How often each bitplane is gone through: 3 takes a little less room and more time
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(2..=3))]
    pub passes: u8,
    /// Fit the coder's tables to the picture, and send them along where that saves room; takes more time
    #[arg(long)]
    pub fit: bool,
    /// Size of codeblocks, each side 4, 8, 16, 32 or 64
    #[arg(long, value_name = "HxW", default_value = "64x64", value_parser = codeblock)]
    pub block: [usize; 2],
    /// Which array of a .npz
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

fn codeblock(text: &str) -> Result<[usize; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|n| [4, 8, 16, 32, 64].contains(n));
    let sides = text.split_once('x').and_then(|(h, w)| Some([side(h)?, side(w)?]));
    sides.ok_or_else(|| "write height and width as 64x64, each 4, 8, 16, 32 or 64".into())
}

/// Arguments of `decode`.
#[derive(Debug, Args)]
pub struct DecodeArgs {
    /// Streams; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Where to write; a directory if there are several inputs; `-` is the standard output
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: PathBuf,
    /// Resolution: 0 is full size, 1 half, 2 a quarter
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=16))]
    pub level: Option<u32>,
    /// What is written, where the name does not say it [default: .png]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<OutputFormat>,
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Say nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Streams; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum OutputFormat {
    Npy,
    Npz,
    Png,
    Tiff,
    Pgm,
    Ppm,
    Pbm,
    Pam,
}

impl OutputFormat {
    /// As it is named, and as files of it end.
    pub fn name(self) -> &'static str {
        match self {
            OutputFormat::Npy => "npy",
            OutputFormat::Npz => "npz",
            OutputFormat::Png => "png",
            OutputFormat::Tiff => "tiff",
            OutputFormat::Pgm => "pgm",
            OutputFormat::Ppm => "ppm",
            OutputFormat::Pbm => "pbm",
            OutputFormat::Pam => "pam",
        }
    }
}

/// `--pad`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PadArg {
    /// Repeat the last sample
    Edge,
}

/// `--layout`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LayoutArg {
    /// Bands apart, the low one first
    Mallat,
    /// Every coefficient where lifting in place leaves it
    Interleaved,
}

impl From<LayoutArg> for Layout {
    fn from(arg: LayoutArg) -> Layout {
        match arg {
            LayoutArg::Mallat => Layout::Mallat,
            LayoutArg::Interleaved => Layout::Interleaved,
        }
    }
}

fn boundary_values() -> impl clap::builder::TypedValueParser<Value = Boundary> {
    named(Boundary::ALL.map(|b| (b.name(), b)))
}

fn format_values() -> impl clap::builder::TypedValueParser<Value = Format> {
    named(Format::ALL.map(|f| (f.name(), f)))
}

fn pass_names() -> impl clap::builder::TypedValueParser<Value = String> {
    let passes = lifting_codegen::opt::PASSES;
    clap::builder::PossibleValuesParser::new(passes.map(|p| clap::builder::PossibleValue::new(p.name).help(p.about)))
}

fn dialect_words() -> impl clap::builder::TypedValueParser<Value = String> {
    let value = |d: &dyn lifting_codegen::back::Dialect| clap::builder::PossibleValue::new(d.word()).help(d.name());
    clap::builder::PossibleValuesParser::new(lifting_codegen::back::DIALECTS.map(value))
}

fn plan_schedules() -> impl clap::builder::TypedValueParser<Value = lifting::Schedule> {
    named(lifting::Schedule::all().map(|s| (s.name(), s)))
}

fn sample_values() -> impl clap::builder::TypedValueParser<Value = SampleType> {
    named(SampleType::ALL.map(|s| (s.name(), s)))
}

/// A parser of names; clap lists them in the help and proposes the nearest.
fn named<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, T)>,
) -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    let values: Vec<_> = values.into_iter().collect();
    let names: Vec<&'static str> = values.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).try_map(move |name: String| {
        values.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone()).ok_or("no such name")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
