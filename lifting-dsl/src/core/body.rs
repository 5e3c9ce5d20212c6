//! The body of a wavelet: steps, a lattice, or a filter bank.

use crate::core::lattice::Lattice;
use crate::core::weight::Weight;

/// Most stages of a lattice.
pub const MAX_STAGES: usize = 256;
/// Most taps of a filter of a bank.
pub const MAX_TAPS: usize = 128;

/// The form in which a wavelet is given. [`Scheme::steps`](crate::Scheme::steps) gives lifting steps for every form.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Its steps.
    Lifting,
    /// 2×2 stages, which act on pairs of neighbouring samples; y = fl(fl(a·u) + fl(b·v)).
    ///
    /// Under the periodic rule the stages themselves are executed ([`Scheme::stages`](crate::Scheme::stages)). Under
    /// the other rules the steps are; away from the borders they agree with the stages up to rounding.
    Lattice {
        /// The stages.
        lattice: Lattice<Weight>,
        /// Whether the text puts its first stage on (2k, 2k+1). The number of stages is then odd, so the meaning is
        /// unchanged.
        paper: bool,
    },
    /// Its analysis filters.
    Bank {
        /// The lowpass filter.
        low: Filter,
        /// The highpass filter.
        high: Filter,
        /// The compiler's factorisation of them.
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

/// The factorisation of a bank.
#[derive(Clone, Debug, PartialEq)]
pub enum Factored {
    /// Into lifting steps.
    Lifting,
    /// Into stages.
    Lattice(Lattice<Weight>),
}

/// The factorisation asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Lifting steps, by Euclid's algorithm.
    Lifting,
    /// Lattice stages; orthogonal banks only.
    Lattice,
}

impl Factor {
    /// Both factorisations, in the order of the language reference.
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
    /// The kind of this factorisation.
    pub fn factor(&self) -> Factor {
        match self {
            Factored::Lifting => Factor::Lifting,
            Factored::Lattice(_) => Factor::Lattice,
        }
    }
}
