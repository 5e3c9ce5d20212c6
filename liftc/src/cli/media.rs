//! Arguments of commands for pictures and arrays: `transform`, `encode`, `decode` and `info`.

use super::bench::{DeviceArg, coding_device, device};
use super::values::{Lengths, any_shape, boundary_values, format_values, sample_values, sides};
use crate::failure::{Outcome, usage};
use crate::media::Loss;
use clap::{Args, ValueEnum};
use lifting::{Boundary, Format, Layout, SampleType};
use lifting_codec::Region;
use std::path::{Path, PathBuf};

/// Arguments of `transform`.
#[derive(Clone, Debug, Args)]
pub struct TransformArgs {
    /// Pictures or arrays; with --inverse, coefficients; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Output file, or directory for several inputs; `-` is the standard output
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: PathBuf,
    /// The wavelet: NAME, FILE.lift or FILE.lift#NAME; one for each transformed axis as in A,B, or for levels from the
    /// finest on as in A+B, the last for all further ones
    #[arg(short, long, required_unless_present = "inverse", conflicts_with = "inverse")]
    pub wavelet: Option<String>,
    /// Number of levels, for all transformed axes or for each, as in 3,3,1 [default: 1]
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
    /// Invert a transform: coefficients back to the original picture or array
    #[arg(long)]
    pub inverse: bool,
    /// Stop the inverse at this level: 0 is full size, 1 half, 2 a quarter
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=32))]
    pub level: Option<u32>,
    /// Border extension [default: the profile's or the wavelet's own]
    #[arg(long, value_name = "RULE", conflicts_with = "inverse", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Follow a format exactly: border rule, order of axes, gain shift, sizes
    #[arg(long, value_name = "FORMAT", conflicts_with = "inverse", value_parser = format_values())]
    pub profile: Option<Format>,
    /// Axes to transform, from 0 (outermost); negative ones count from the end [default: a picture's height and width,
    /// all axes of an array]
    #[arg(long, value_name = "AXES", value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "inverse")]
    pub axes: Option<Vec<i64>>,
    /// Position of the first sample, for all transformed axes or for each; at an odd position the high band comes first
    /// [default: 0]
    #[arg(long, value_name = "POS", value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "inverse")]
    pub origin: Vec<i64>,
    /// Divide the data into independent tiles, with one length for all transformed axes or one for each, as in 64x64: a
    /// multiple of 2^levels, or the axis's length
    #[arg(long, value_name = "N|HxW", conflicts_with = "inverse", value_parser = any_shape)]
    pub tile: Option<Lengths>,
    /// Pad the data to multiples of 2^levels; the inverse crops
    #[arg(long, value_enum, value_name = "HOW", conflicts_with = "inverse")]
    pub pad: Option<PadArg>,
    /// Layout of the coefficients [default: mallat]
    #[arg(long, value_enum, conflicts_with = "inverse")]
    pub layout: Option<LayoutArg>,
    /// Type of samples and coefficients: i16, i32, i64, f16, f32, f64 [default: by the input]
    #[arg(long, value_name = "TYPE", conflicts_with = "inverse", value_parser = sample_values())]
    pub sample: Option<SampleType>,
    /// Also draw the coefficients: the low band unchanged, details stretched around grey, bands outlined
    #[arg(long, value_name = "PNG|DIR")]
    pub picture: Option<PathBuf>,
    /// Output format, if the name does not determine it [default: npy; for the inverse, that of the original]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<OutputFormat>,
    /// Sidecar file with the data that the inverse needs: written, or read with --inverse [default: the coefficients'
    /// name and .json]
    #[arg(long, value_name = "FILE")]
    pub sidecar: Option<PathBuf>,
    /// With --inverse: accept coefficients or a sidecar that were changed
    #[arg(long)]
    pub force: bool,
    /// Name of the array in a .npz
    #[arg(long, value_name = "NAME", conflicts_with = "inverse")]
    pub array: Option<String>,
    /// Accept damaged JPEGs: missing parts become grey
    #[arg(long, conflicts_with = "inverse")]
    pub salvage: bool,
    /// Accept border rules that make coefficients and rounding errors more than 10,000 times too large
    #[arg(long, conflicts_with = "inverse")]
    pub ill_conditioned: bool,
    /// Device: best, cpu, cuda or opencl; cuda:N and opencl:N for device number N, cuda:all for all CUDA devices
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = device)]
    pub device: DeviceArg,
    /// Threads to use on the CPU [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `encode`.
#[derive(Debug, Args)]
pub struct EncodeArgs {
    /// Pictures or arrays; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Output file, or directory for several inputs; `-` is the standard output
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: PathBuf,
    /// Lossless (default): every sample is restored exactly
    #[arg(long, conflicts_with_all = ["psnr", "bpp", "quality"])]
    pub lossless: bool,
    /// Accept that lossless coding leaves these behind; with --lossless, metadata too must be kept or named here
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub drop: Vec<Loss>,
    /// Minimum peak signal-to-noise ratio in decibels: 40 is good, and at 50 errors are hardly visible
    #[arg(long, value_name = "DB", allow_negative_numbers = true, conflicts_with_all = ["bpp", "quality"])]
    pub psnr: Option<f64>,
    /// Maximum bits per pixel, for all components together
    #[arg(long, value_name = "BITS", allow_negative_numbers = true, conflicts_with = "quality")]
    pub bpp: Option<f64>,
    /// Quality from 1 to 100: 8 less doubles the error
    #[arg(long, value_name = "Q", allow_negative_numbers = true)]
    pub quality: Option<f64>,
    /// Maximum error of every sample of an array of floats or integers with up to three axes: a number, or a share of
    /// the array's range, as in 0.1%
    #[arg(
        long,
        value_name = "E|P%",
        allow_negative_numbers = true,
        value_parser = max_error,
        conflicts_with_all = [
            "lossless", "psnr", "bpp", "quality", "wavelet", "levels", "layers", "tile", "passes", "fast", "fit",
            "block", "colour", "device"
        ]
    )]
    pub max_error: Option<MaxError>,
    /// The wavelet: NAME, FILE.lift or FILE.lift#NAME [default: legall53 for lossless coding, else cdf97]
    #[arg(short, long)]
    pub wavelet: Option<String>,
    /// Format of the streams, if the name does not determine it [default: lpc]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<StreamFormat>,
    /// Number of levels
    #[arg(short, long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(0..=16))]
    pub levels: u32,
    /// Number of quality layers: each ends at about half the size of the next; any prefix is a picture
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub layers: u32,
    /// Divide the picture into independent tiles, each side at least 64 and a multiple of 2^LEVELS
    #[arg(long, value_name = "HxW", value_parser = tile)]
    pub tile: Option<[usize; 2]>,
    /// Passes per bitplane: 3 takes slightly less space and more time
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(2..=3))]
    pub passes: u8,
    /// Number of fast bitplanes: the lowest ones have a single pass, which takes less time and slightly more space
    #[arg(long, value_name = "K", default_value = "0", value_parser = clap::value_parser!(u32).range(0..=32))]
    pub fast: u32,
    /// Fit the coder's tables to the picture, and store them if that saves space; takes more time
    #[arg(long)]
    pub fit: bool,
    /// Codeblock size, each side 4, 8, 16, 32 or 64
    #[arg(long, value_name = "HxW", default_value = "64x64", value_parser = codeblock)]
    pub block: [usize; 2],
    /// Most memory to use, as in 512M: pictures that need more are read and coded by rows of tiles; of netpbm, .npy and
    /// TIFF files
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Name of the array in a .npz
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Accept damaged JPEGs: missing parts become grey
    #[arg(long)]
    pub salvage: bool,
    /// Colour transform: of the first three components of 3 or 4, or none
    #[arg(long, value_enum, value_name = "HOW", default_value = "auto")]
    pub colour: ColourArg,
    /// Device: best, cpu, cuda, or cuda:N for device number N
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = coding_device)]
    pub device: DeviceArg,
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

fn codeblock(text: &str) -> Result<[usize; 2], String> {
    let sides = sides(text, |n| [4, 8, 16, 32, 64].contains(n));
    sides.ok_or_else(|| "write height and width as 64x64, each 4, 8, 16, 32 or 64".into())
}

/// Bytes, with K, M or G for powers of 1024.
fn memory(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..].to_ascii_uppercase()[..] {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => 64,
    };
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1u64.checked_shl(unit)?)).filter(|&n| n > 0);
    bytes.ok_or_else(|| "write bytes as 512M or 2G".into())
}

fn tile(text: &str) -> Result<[usize; 2], String> {
    sides(text, |_| true).ok_or_else(|| "write height and width as 1024x1024".into())
}

/// `--max-error`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MaxError {
    /// In units of the samples.
    Absolute(f64),
    /// Share of the range.
    Percent(f64),
}

fn max_error(text: &str) -> Result<MaxError, String> {
    let (number, kind): (&str, fn(f64) -> MaxError) = match text.strip_suffix('%') {
        Some(number) => (number, MaxError::Percent),
        None => (text, MaxError::Absolute),
    };
    let good = number.trim().parse().ok().filter(|&value: &f64| value >= 0.0 && value.is_finite());
    good.map(kind).ok_or_else(|| "write a number of at least 0, as 0.001, or a share of the range, as 0.1%".into())
}

/// `--region`: the first sample along each axis, then the number of samples along each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionArg(pub Vec<usize>);

const REGION: &str = "write first row, first column, rows and columns as 100,200,512,512";

fn region(text: &str) -> Result<RegionArg, String> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(str::parse).collect();
    match numbers {
        Ok(numbers) if [2, 4, 6].contains(&numbers.len()) => Ok(RegionArg(numbers)),
        _ => Err(format!("{REGION}; of a volume 10,20,30,64,64,64")),
    }
}

impl DecodeArgs {
    /// Region of a picture.
    pub fn picture_region(&self) -> Outcome<Option<Region>> {
        match self.region.as_ref().map(|region| &region.0[..]) {
            None => Ok(None),
            Some(&[y, x, height, width]) => Ok(Some(Region { y, x, height, width })),
            Some(_) => Err(usage("invalid --region of a picture").help(REGION)),
        }
    }
}

/// Arguments of `decode`.
#[derive(Debug, Args)]
pub struct DecodeArgs {
    /// Streams; `-` is the standard input, and http://… a file on a server, read in the parts needed
    #[arg(required = true, value_name = "FILE|URL")]
    pub inputs: Vec<PathBuf>,
    /// Output file, or directory for several inputs; `-` is the standard output
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: PathBuf,
    /// Resolution level: 0 is full size, 1 half, 2 a quarter
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(0..=16))]
    pub level: Option<u32>,
    /// Number of quality layers to decode [default: all]
    #[arg(long, value_name = "N")]
    pub layers: Option<u32>,
    /// Decode only this part, in pixels at full size: first row, first column, rows, columns; at resolution N, rows
    /// Y/2^N rounded down to (Y + H)/2^N rounded up, and columns likewise; of arrays, the first sample and the number
    /// of samples along each axis
    #[arg(long, value_name = "Y,X,H,W", value_parser = region)]
    pub region: Option<RegionArg>,
    /// Output format, if the name does not determine it [default: png]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<OutputFormat>,
    /// Most memory to use, as in 512M: pictures that need more are decoded and written by rows of tiles; to netpbm and
    /// .npy files
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Decode what a stream holds that ends early, such as a preview; else it is an error, with exit code 3
    #[arg(long)]
    pub salvage: bool,
    /// Device: best, cpu, cuda, or cuda:N for device number N
    #[arg(long, value_name = "DEVICE", default_value = "cpu", value_parser = coding_device)]
    pub device: DeviceArg,
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Print only errors
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

/// Arguments of `transcode`.
#[derive(Debug, Args)]
pub struct TranscodeArgs {
    /// JPEG 2000 and HTJ2K streams and files; `-` is the standard input
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Output file, or directory for several inputs; `-` is the standard output
    #[arg(short, long, value_name = "FILE|DIR")]
    pub output: PathBuf,
    /// Format of the output, if the name does not determine it [default: jph]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<StreamFormat>,
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Print only errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `--format` of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StreamFormat {
    /// Lifting's own format, of any wavelet
    Lpc,
    /// HTJ2K file
    Jph,
    /// HTJ2K codestream
    J2c,
    /// JPEG 2000 Part 1 file
    Jp2,
    /// JPEG 2000 Part 1 codestream
    J2k,
}

impl StreamFormat {
    /// Name of the format, and extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            StreamFormat::Lpc => "lpc",
            StreamFormat::Jph => "jph",
            StreamFormat::J2c => "j2c",
            StreamFormat::Jp2 => "jp2",
            StreamFormat::J2k => "j2k",
        }
    }

    /// Format of a file name; `None` if its extension is another.
    pub fn of(path: &Path) -> Option<StreamFormat> {
        let extension = path.extension()?.to_string_lossy().to_lowercase();
        match extension.as_str() {
            "lpc" => Some(StreamFormat::Lpc),
            "jph" => Some(StreamFormat::Jph),
            "j2c" | "jhc" => Some(StreamFormat::J2c),
            "jp2" => Some(StreamFormat::Jp2),
            "j2k" | "jpc" => Some(StreamFormat::J2k),
            _ => None,
        }
    }
}

/// `--colour`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColourArg {
    /// Red, green and blue become brightness and two colours, in pictures and in arrays of 3 or 4 components
    Auto,
    /// Each component by itself
    None,
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
    Pnm,
}

impl OutputFormat {
    /// Name of the format, and extension of its files.
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
            OutputFormat::Pnm => "pnm",
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
    /// Separate bands, the low band first
    Mallat,
    /// Coefficients as in-place lifting leaves them
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
