//! Block coder: quantised coefficients to 16-bit words and back, by BPC-PaCo.
//!
//! This sequential coder is the reference for every other implementation, byte for byte. It follows P. Enfedaque, *GPU
//! Architectures for Wavelet-based Image Coding Acceleration* (thesis, 2017), chapter 3:
//!
//! - **Scanning order** (§3.2.1): a lane takes two columns. Rows go from top to bottom; within a row, all left columns
//!   of the lanes are coded, then their signs, then all right columns and their signs ([`scan`]).
//! - **Passes**: from the highest bitplane down, with two passes significance and refinement (§4.3.2, algorithm 4),
//!   with three significance propagation, refinement and cleanup (§3.2.4, algorithm 2).
//! - **Contexts** (§3.2.2): the number of significant neighbours (eq. 3.1); for signs, which of the vertical and
//!   horizontal neighbours agree (eq. 3.2).
//! - **Probabilities** are fixed, by plane and context, of 7 bits (eq. 3.5): [`Tables`](crate::tables::Tables).
//! - **Arithmetic coder** (§3.2.3, algorithms 2 and 3): code words of 16 bits, one open for each coder. A word gets its
//!   place in the stream when its first symbol is coded; of several at once, the left one comes first.
//!
//! Nine differences from the thesis:
//!
//! 1. **The tail.** In the last plane, every significant coefficient has one bit that is about as likely 0 as 1: its
//!    sign, or its last refinement. These bits are not coded. They fill the rest of the open code words, lane by lane,
//!    then further words. Without this, half of the open code words is wasted: 32 bytes a block.
//! 2. **Shared coders.** In blocks with few symbols, where code words would stay open, 2^g neighbouring lanes share a
//!    coder and take turns at each step.
//! 3. **Classes.** A block chooses its table from a set, and planes count from the block's highest. So tables depend on
//!    neither band nor quantiser step.
//! 4. **Signs** have contexts relative to the band's direction. Neighbours that disagree in both directions have a
//!    different context from missing neighbours.
//! 5. **Fast planes** ([`Order::fast`]): the lowest planes have one pass each, over significance, and their signs and
//!    refinements join the tail. This scales complexity, as de Cea-Domínguez, Moure, Bartrina-Rapesta and Aulí-Llinàs
//!    do (IEEE Signal Processing Letters, 2020), who code all lower bits of a coefficient together.
//! 6. **Refinement** has two contexts: a coefficient's first refinement and all later ones. The thesis has one (φ_ref).
//! 7. **Sign symbols** are the exclusive or of the sign and its prediction by the neighbours. The thesis codes the sign
//!    itself (algorithms 2 and 4).
//! 8. **Probabilities** are rounded to the nearest 128th and clamped to 1 to 127. The thesis rounds down (eq. 3.5).
//! 9. **Raw blocks.** A block that coding does not shorten is stored uncoded.
//!
//! `lanes` codes 32 lanes at once, and is used by [`encode`] and [`decode`] where possible. [`kernel`] runs on a warp
//! of a device.

mod arithmetic;
mod counts;
mod decode;
mod encode;
pub mod kernel;
mod lanes;
mod raw;
mod scan;

pub use counts::Counts;
pub use decode::{decode, decode_sequentially};
pub use encode::{Choice, Prefix, encode, encode_sequentially, encode_with, encode_with_prefixes};
pub use raw::words as raw_words;

/// Most rows and columns of a block: two columns for each of the 32 lanes of a warp.
pub const MAX_SIDE: usize = 64;

/// Planes, from the highest, with their own probabilities; lower ones use those of the last.
pub const DEPTHS: usize = 10;

/// Contexts of a plane, over all passes: see [`Context`].
pub const CONTEXTS: usize = 34;

/// Most planes of a magnitude.
pub const MAX_PLANES: u32 = 32;

/// Passes per bitplane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passes {
    /// Significance, refinement: faster.
    Two,
    /// Significance propagation, refinement, cleanup.
    Three,
}

/// Coding order of a block's planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// Passes of each plane.
    pub passes: Passes,
    /// Number of fast planes, 0 to [`MAX_PLANES`]: the lowest planes, with one pass over significance. Their signs and
    /// refinements go to the tail.
    pub fast: u32,
}

impl Order {
    /// Number of lowest planes whose signs and refinements go to the tail.
    pub(crate) fn tail(self) -> u32 {
        self.fast.max(1)
    }
}

impl From<Passes> for Order {
    fn from(passes: Passes) -> Order {
        Order { passes, fast: 0 }
    }
}

/// Direction along which neighbouring coefficients of a band tend to agree in sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignAxis {
    /// Along columns: the band is high along rows (HL) and has upright edges. Also used for HH and LL.
    Vertical,
    /// Along rows: LH.
    Horizontal,
}

/// Coefficients of a block, row by row, as far as its words determine them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Magnitudes, with unknown bits 0.
    pub magnitudes: Vec<u32>,
    /// Signs; meaningless for coefficients that are 0.
    pub negative: Vec<bool>,
    /// Number of unknown lowest bits of each magnitude; all 0 in a complete block.
    pub unknown: Vec<u8>,
}

impl Decoded {
    /// Coefficients of a complete block.
    pub fn coefficients(&self) -> impl Iterator<Item = i32> + '_ {
        // The magnitude 2^31 belongs to a negative coefficient only.
        self.magnitudes.iter().zip(&self.negative).map(|(&m, &n)| if n { (m as i32).wrapping_neg() } else { m as i32 })
    }
}

/// Properties of a block known without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// Rows, 1 to [`MAX_SIDE`].
    pub height: usize,
    /// Columns, 1 to [`MAX_SIDE`].
    pub width: usize,
    /// Direction of sign prediction.
    pub direction: SignAxis,
    /// Coding order of the planes.
    pub order: Order,
}

impl BlockShape {
    /// Number of coefficients.
    pub fn samples(&self) -> usize {
        self.height * self.width
    }

    /// Number of lanes, two columns each.
    pub fn lanes(&self) -> usize {
        self.width.div_ceil(2)
    }
}

/// Coding mode of a block's words; three bytes in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Uncoded magnitudes and signs.
    Raw,
    /// Coded, with a table of the set and 2^`sharing` lanes to a coder.
    Coded {
        /// Index of the table.
        class: u8,
        /// Sharing exponent, 0 to 5.
        sharing: u8,
    },
}

/// Encoded block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Bitplanes of the largest magnitude. 0 means that all coefficients are 0 and there are no words.
    pub planes: u32,
    /// Coding mode of the words.
    pub mode: Mode,
    /// The words.
    pub words: Vec<u16>,
}

/// Context of a symbol, an index below [`CONTEXTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context(u8);

impl Context {
    /// Significance with two passes: 0 to 8 significant neighbours.
    fn significance(neighbours: u8) -> Context {
        Context(neighbours)
    }

    /// Significance propagation.
    fn propagation(neighbours: u8) -> Context {
        Context(9 + neighbours)
    }

    /// Cleanup.
    fn cleanup(neighbours: u8) -> Context {
        Context(18 + neighbours)
    }

    /// Context of a sign, and whether the sign is predicted negative, by the signs of the two neighbours along
    /// (`along`) and across the band's direction, each sum −2 to 2. Contexts 0 to 3 of eq. 3.2: both agree, across
    /// only, along only, both disagree. Context 4 has no neighbours.
    fn sign(along: i8, across: i8) -> (Context, bool) {
        let kind = match (along.signum(), across.signum()) {
            (0, 0) => 4,
            (0, _) => 1,
            (_, 0) => 2,
            (a, b) if a == b => 0,
            _ => 3,
        };
        (Context(27 + kind), along < 0 || along == 0 && across < 0)
    }

    /// Refinement: whether the coefficient became significant in the plane above.
    fn refinement(first: bool) -> Context {
        Context(33 - u8::from(first))
    }

    /// Index into tables.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// Error in the words of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// More than 32 planes.
    #[error("a block has {planes} planes: at most 32 are allowed")]
    Planes {
        /// Planes of the block.
        planes: u32,
    },
    /// Unknown table or sharing.
    #[error("a block has an invalid mode: table {class}, sharing {sharing}")]
    Mode {
        /// Index of the table.
        class: u8,
        /// Sharing exponent.
        sharing: u8,
    },
    /// Excess words, missing words, or padding bits that are set.
    #[error("the words of a block do not match their length")]
    Length,
    /// Magnitude that does not fit 32 bits.
    #[error("a coefficient exceeds 32 bits")]
    Range,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_numbered_without_gaps() {
        let mut seen = [false; CONTEXTS];
        for n in 0..=8 {
            for context in [Context::significance(n), Context::propagation(n), Context::cleanup(n)] {
                seen[context.index()] = true;
            }
        }
        for along in -2..=2 {
            for across in -2..=2 {
                let (context, negative) = Context::sign(along, across);
                seen[context.index()] = true;
                // Opposite neighbours flip the prediction.
                let (turned, other) = Context::sign(-along, -across);
                assert_eq!(context, turned);
                assert_eq!(negative != other, (along, across) != (0, 0));
            }
        }
        for first in [false, true] {
            seen[Context::refinement(first).index()] = true;
        }
        assert_eq!(seen, [true; CONTEXTS]);
    }
}
