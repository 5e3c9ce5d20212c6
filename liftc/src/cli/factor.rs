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
    /// Filter bank: a wavelet of PyWavelets or of the catalogue, FILE.lift or FILE.lift#NAME, or a file of numbers
    /// (.txt, .json, .npy)
    #[arg(value_name = "WAVELET|FILE", required_unless_present = "lowpass", conflicts_with = "lowpass")]
    pub bank: Option<String>,
    /// Taps of the low-pass filter, as in "1/8 1/4 3/4": low[k] = Σ taps[i]·x[2k + AT + i]. Without --highpass, the
    /// bank is the orthogonal one with its quadrature mirror
    #[arg(long, value_name = "TAPS", allow_hyphen_values = true)]
    pub lowpass: Option<String>,
    /// Taps of the high-pass filter
    #[arg(long, value_name = "TAPS", allow_hyphen_values = true, requires = "lowpass")]
    pub highpass: Option<String>,
    /// Position of the first low-pass tap, relative to 2k [default: one with perfect reconstruction]
    #[arg(long, value_name = "AT", allow_negative_numbers = true, value_parser = place())]
    pub lowpass_at: Option<i64>,
    /// Position of the first high-pass tap, relative to 2k [default: one with perfect reconstruction]
    #[arg(long, value_name = "AT", allow_negative_numbers = true, value_parser = place())]
    pub highpass_at: Option<i64>,
    /// Form of the factorisation
    #[arg(long = "as", value_enum, value_name = "WHAT", default_value = "lifting")]
    pub into: Into,
    /// Print all factorisations found, best first, with their costs
    #[arg(long, visible_alias = "all", conflicts_with_all = ["pick", "output"])]
    pub list: bool,
    /// Write the N-th factorisation of the list instead of the first
    #[arg(long, value_name = "N")]
    pub pick: Option<usize>,
    /// Refuse factorisations that are too inaccurate for samples of this type
    #[arg(long, value_enum, value_name = "TYPE", default_value = "f32")]
    pub sample: Carrier,
    /// Border rule of the wavelet, also used to measure round trips [default: whole-symmetric for such filters, else
    /// periodic]
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

/// Allowed positions of a filter.
fn place() -> clap::builder::RangedI64ValueParser<i64> {
    clap::value_parser!(i64).range(-1000..=1000)
}

impl Into {
    /// Equivalent of the library.
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
    /// Equivalent of the library.
    pub fn precision(self) -> Precision {
        match self {
            Carrier::F32 => Precision::F32,
            Carrier::F64 => Precision::F64,
        }
    }
}
