//! Parameters of the search for a factorisation.

use std::fmt;

/// The sample type that a factorisation must serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `f32`.
    F32,
    /// `f64`.
    F64,
}

impl Precision {
    /// The largest accepted round-trip error, relative to the largest sample: about 500 units in the last place of
    /// `f32`, 10⁵ of `f64`.
    pub fn limit(self) -> f64 {
        match self {
            Precision::F32 => 6e-5,
            Precision::F64 => 2e-11,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        })
    }
}

/// Parameters of the search.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Coefficients below this, relative to the filters' norm, count as zero. 0 for exact banks, 1e-100 for filters
    /// in high precision, 1e-9 for published decimals.
    pub tolerance: f64,
    /// Width of the beam: unfinished factorisations kept after each division.
    pub beam: usize,
    /// Most factorisations returned; eight times this number are measured.
    pub keep: usize,
    /// The sample type that the best one must serve.
    pub precision: Precision,
}

impl Default for Options {
    fn default() -> Self {
        Options { tolerance: 0.0, beam: 32, keep: 16, precision: Precision::F32 }
    }
}
