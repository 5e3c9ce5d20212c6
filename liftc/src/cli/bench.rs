//! Arguments of `bench`.

use super::values::{Lengths, any_shape, boundary_values, plan_schedules, positive, sample_values};
use clap::{Args, ValueEnum};
use lifting::{Boundary, SampleType};
use std::path::PathBuf;

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
    pub shape: Vec<Lengths>,
    /// Number of arrays transformed at once, as an axis in front of the shape
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
    /// Analysis, synthesis, both, or their adjoints
    #[arg(long, value_enum, default_value = "both")]
    pub direction: DirectionArg,
    /// Border extension [default: the wavelet's own]
    #[arg(long, value_name = "RULE", value_parser = boundary_values())]
    pub boundary: Option<Boundary>,
    /// Schedule of GPU kernels; auto takes the one predicted to be fastest
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "auto", value_parser = plan_schedules())]
    pub schedule: Vec<lifting::Schedule>,
    /// Row pitch: rows begin at multiples of this many bytes [default: contiguous]
    #[arg(long, value_name = "BYTES", value_parser = positive)]
    pub pitch: Option<usize>,
    /// Device: best, cpu, cuda or opencl; cuda:N and opencl:N for device number N
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = device)]
    pub device: DeviceArg,
    /// Measure one CUDA device and the first N of them, which share each array; then frames of the codec. If there are
    /// fewer, some hold several parts
    #[arg(long, value_name = "N", conflicts_with_all = ["device", "threads", "json", "svg", "codec"],
        value_parser = clap::value_parser!(u16).range(1..=64))]
    pub devices: Option<u16>,
    /// Threads to use on the CPU [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Number of timings; the median is reported
    #[arg(long, value_name = "N", default_value = "15", value_parser = clap::value_parser!(u16).range(1..=10000))]
    pub repeats: u16,
    /// Also write the results as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also draw the ratios
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Measure the cases in a file instead: each line has options of this command, such as `-w cdf97 --shape 4096x4096
    /// -l 1,5`; `#` begins a comment
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "wavelet", "sample", "shape", "batch", "levels", "direction", "boundary", "schedule", "pitch"
        ]
    )]
    pub suite: Option<PathBuf>,
    /// Measure the codec on these pictures instead, and OpenJPEG if opj_compress and opj_decompress are installed
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = [
            "wavelet", "sample", "shape", "batch", "levels", "direction", "boundary", "schedule", "pitch", "suite",
            "json", "svg"
        ]
    )]
    pub codec: Vec<PathBuf>,
    /// Print only the table and errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// `--direction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DirectionArg {
    /// Data to coefficients
    Forward,
    /// Coefficients to data
    Inverse,
    /// Both, one after the other
    Both,
    /// Gradients: the adjoint of analysis, coefficients to data, and that of synthesis, data to coefficients
    Adjoint,
}

/// `--device`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceArg {
    /// Fastest available device.
    Best,
    /// The processor.
    Cpu,
    /// CUDA device, by its number.
    Cuda(usize),
    /// All CUDA devices, which share each array.
    CudaAll,
    /// OpenCL device, by its number.
    OpenCl(usize),
}

/// Parser of `--device`.
///
/// # Errors
/// If the text names no kind of device.
pub fn device(text: &str) -> Result<DeviceArg, String> {
    let (kind, number) = text.split_once(':').map_or((text, Ok(0)), |(kind, number)| (kind, number.parse()));
    match (text, kind, number) {
        ("best", ..) => Ok(DeviceArg::Best),
        ("cpu", ..) => Ok(DeviceArg::Cpu),
        ("cuda:all", ..) => Ok(DeviceArg::CudaAll),
        (_, "cuda", Ok(ordinal)) => Ok(DeviceArg::Cuda(ordinal)),
        (_, "opencl", Ok(ordinal)) => Ok(DeviceArg::OpenCl(ordinal)),
        _ => Err("write best, cpu, cuda, cuda:N, cuda:all, opencl or opencl:N".into()),
    }
}

/// Device for coding pictures; OpenCL devices only run plans.
pub(super) fn coding_device(text: &str) -> Result<DeviceArg, String> {
    match device(text) {
        Ok(DeviceArg::OpenCl(_)) => {
            Err("pictures are not coded on OpenCL devices: write best, cpu, cuda or cuda:N".into())
        }
        Ok(DeviceArg::CudaAll) => Err("a picture is coded on one device: write best, cpu, cuda or cuda:N".into()),
        Ok(device) => Ok(device),
        Err(_) => Err("write best, cpu, cuda or cuda:N".into()),
    }
}
