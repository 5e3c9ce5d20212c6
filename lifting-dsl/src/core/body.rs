//! What a wavelet is made of: steps, a lattice, or a filter bank.

use crate::core::lattice::Lattice;
use crate::core::weight::Weight;

/// A lattice may have so many stages.
pub const MAX_STAGES: usize = 256;
/// A filter of a bank may have so many taps.
pub const MAX_TAPS: usize = 128;

/// How a wavelet is given. Whatever it is, [`Scheme::steps`](crate::Scheme::steps) are lifting steps for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// By its steps.
    Lifting,
    /// By 2×2 stages, which act on pairs of neighbouring samples; y = fl(fl(a·u) + fl(b·v)).
    ///
    /// Under the periodic rule the stages are executed ([`Scheme::stages`](crate::Scheme::stages)), under the others
    /// the steps, which agree with them but for rounding away from the borders.
    Lattice {
        /// The stages.
        lattice: Lattice<Weight>,
        /// Whether it was written with its first stage on (2k, 2k+1). The number of stages is odd then, so that it
        /// makes no difference.
        paper: bool,
    },
    /// By its analysis filters.
    Bank {
        /// The lowpass filter.
        low: Filter,
        /// The highpass filter.
        high: Filter,
        /// What the compiler made of them.
        factored: Factored,
    },
}

/// One filter of an analysis bank: `band[k] = Σ taps[i] · x[2k + at + i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Position of the first tap relative to 2k.
    pub at: i32,
    /// The taps; at least one, not all zero.
    pub taps: Vec<Weight>,
}

/// A bank taken apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Factored {
    /// Into lifting steps.
    Lifting,
    /// Into stages.
    Lattice(Lattice<Weight>),
}

/// Into what a bank is to be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Lifting steps, by Euclid's algorithm.
    Lifting,
    /// Lattice stages; orthogonal banks only.
    Lattice,
}

impl Factor {
    /// Both, in the order of the language reference.
    pub const ALL: [Factor; 2] = [Factor::Lifting, Factor::Lattice];

    /// The spelling in a `.lift` file.
    pub fn name(self) -> &'static str {
        match self {
            Factor::Lifting => "lifting",
            Factor::Lattice => "lattice",
        }
    }
}

impl Factored {
    /// What was asked for.
    pub fn factor(&self) -> Factor {
        match self {
            Factored::Lifting => Factor::Lifting,
            Factored::Lattice(_) => Factor::Lattice,
        }
    }
}
