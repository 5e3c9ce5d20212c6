//! Arguments of `factor`.

use super::values::boundary_values;
use clap::{Args, ValueEnum};
use lifting::Boundary;
use lifting_dsl::body::Factor;
use lifting_dsl::factor::Precision;
use std::path::PathBuf;

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
