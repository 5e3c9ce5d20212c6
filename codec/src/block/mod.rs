//! A block of quantised coefficients to 16-bit words and back: BPC-PaCo, coded one coefficient after the other.
//!
//! This is the definition that every other implementation is held against, byte for byte. It follows P. Enfedaque,
//! *GPU Architectures for Wavelet-based Image Coding Acceleration* (thesis, 2017), chapter 3:
//!
//! - **Scanning order** (§3.2.1): a lane takes two columns. Rows go from top to bottom; within a row, all left columns
//!   of the lanes are coded, then their signs, then all right columns and their signs ([`scan`]).
//! - **Passes**: from the highest bitplane down, with two passes significance and refinement (§4.3.2, algorithm 4),
//!   with three significance propagation, refinement and cleanup (§3.2.4, algorithm 2).
//! - **Contexts** (§3.2.2): the number of significant neighbours (eq. 3.1); for signs, which of the vertical and
//!   horizontal neighbours agree (eq. 3.2); for refinement, whether it is a coefficient's first one.
//! - **Probabilities** are fixed, by plane and context, of 7 bits (eq. 3.5): [`Tables`](crate::tables::Tables).
//! - **Arithmetic coder** (§3.2.3, algorithms 2 and 3): codewords of 16 bits, one open for each coder. A word has its
//!   place in the stream from the moment that its first symbol is coded; of several at once, the left one comes first.
//!
//! In five things it goes beyond the thesis, each for what it saves:
//!
//! 1. **The tail.** In the last plane, every significant coefficient has one bit that is about as likely 0 as 1: its
//!    sign, or its last refinement. These are not coded but fill what is left of the open codewords, lane by lane,
//!    and then words of their own. Open codewords otherwise waste half of their bits: 32 bytes a block.
//! 2. **Shared coders.** Where so little is to be coded that codewords would stay open all the same, 2^g neighbouring
//!    lanes share a coder, and take turns at each step.
//! 3. **Classes.** A block chooses its table among those of a set; planes count from the block's highest. So tables
//!    need to know neither band nor quantiser step.
//! 4. **Signs** have their contexts relative to the band's direction, and those of both directions opposed are told
//!    from those without neighbours.
//! 5. **Fast planes** ([`Order::fast`]): so many of the lowest planes have one pass each, over significance, and their
//!    signs and refinements are the tail's as well. It scales complexity, as de Cea-Domínguez, Moure, Bartrina-Rapesta
//!    and Aulí-Llinàs do it (IEEE Signal Processing Letters, 2020), who code all lower bits of a coefficient together.
//!
//! `lanes` is the same for 32 lanes at once, and what [`encode`] and [`decode`] take where they can; [`kernel`] is the
//! same for a warp of a device.

mod arithmetic;
mod decode;
mod encode;
pub mod kernel;
mod lanes;
mod raw;
mod scan;

pub use decode::{Decoded, decode, decode_sequentially};
pub use encode::{Choice, Counts, Prefix, encode, encode_sequentially, encode_with, encode_with_prefixes};
pub use raw::words as raw_words;

/// Most rows and columns of a block: two columns for each of the 32 lanes of a warp.
pub const MAX_SIDE: usize = 64;

/// Planes counted from the highest that have probabilities of their own; those below have the last one's.
pub const DEPTHS: usize = 10;

/// Contexts of a plane, over all passes: see [`Context`].
pub const CONTEXTS: usize = 34;

/// Most planes that a magnitude can have.
pub const MAX_PLANES: u32 = 32;

/// How often a plane is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passes {
    /// Significance, refinement: faster.
    Two,
    /// Significance propagation, refinement, cleanup.
    Three,
}

/// How the planes of a block are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    /// How often each plane is.
    pub passes: Passes,
    /// So many of the lowest planes are gone through once, and only what becomes significant in them is coded: signs
    /// and refinements are the tail's. 0 to [`MAX_PLANES`]; complexity is scaled by it.
    pub fast: u32,
}

impl Order {
    /// Planes, from the lowest one up, whose signs and refinements are the tail's.
    pub(crate) fn tail(self) -> u32 {
        self.fast.max(1)
    }
}

impl From<Passes> for Order {
    fn from(passes: Passes) -> Order {
        Order { passes, fast: 0 }
    }
}

/// In which direction neighbouring coefficients of a band tend to have the same sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Along columns: the band is high along rows (HL), and has upright edges. Also of HH and LL.
    Vertical,
    /// Along rows: LH.
    Horizontal,
}

/// What of a block is known without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows, 1 to [`MAX_SIDE`].
    pub height: usize,
    /// Columns, 1 to [`MAX_SIDE`].
    pub width: usize,
    /// How signs are predicted.
    pub direction: Direction,
    /// How planes are gone through.
    pub order: Order,
}

impl Shape {
    /// Number of coefficients.
    pub fn samples(&self) -> usize {
        self.height * self.width
    }

    /// Number of lanes, two columns each.
    pub fn lanes(&self) -> usize {
        self.width.div_ceil(2)
    }
}

/// How a block's words are to be read; of three bytes in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Magnitudes and signs as they are.
    Raw,
    /// Coded, with a table of the set and 2^`sharing` lanes to a coder.
    Coded {
        /// Which table.
        class: u8,
        /// 0 to 5.
        sharing: u8,
    },
}

/// A block as words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// Bitplanes of the largest magnitude; 0: all coefficients are 0, and there are no words.
    pub planes: u32,
    /// How to read the words.
    pub mode: Mode,
    /// The words.
    pub words: Vec<u16>,
}

/// The context of a symbol, an index below [`CONTEXTS`].
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

    /// A sign, by the signs of the two neighbours along (`along`) and across the band's direction, each −2 to 2; and
    /// whether the sign is predicted to be negative. Eq. 3.2: contexts 0 to 3 are both agree, across only, along only,
    /// both disagree; 4 has nothing to go by.
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

    /// As an index into tables.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What is wrong with the words of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// More planes than 32, or lanes that share in a way that there is not.
    #[error("a block of {planes} planes, of which there are 32 at most")]
    Planes {
        /// What was said.
        planes: u32,
    },
    /// There is no such table, or no such sharing.
    #[error("a block with table {class} and sharing {sharing}, which there are not")]
    Mode {
        /// The table.
        class: u8,
        /// Of coders.
        sharing: u8,
    },
    /// It has words left, too few, or bits set where there are none.
    #[error("the words of a block do not end where they say")]
    Length,
    /// A magnitude that no 32-bit number has.
    #[error("a coefficient beyond 32 bits")]
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
                // Turned around, the prediction turns with it.
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
