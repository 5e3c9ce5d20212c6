//! Block coders: EBCOT of Part 1 ([`ebcot`]) and the high-throughput coder of Part 15 ([`ht`]).
//!
//! Both code the quantiser indices of one codeblock, row by row. Decoders return twice the magnitude plus the middle of
//! the planes that were not decoded, with the sign: an index of magnitude m, decoded down to plane p, is ±(2m + 2^p).
//! 0 stays 0. Half of it, rounded towards 0, is the index where all planes are decoded.

pub mod ebcot;
pub mod ht;

/// Rows and columns of a codeblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows, 1 to 1024.
    pub height: usize,
    /// Columns, 1 to 1024. Rows × columns are at most 4096.
    pub width: usize,
}

/// Band of a level. The first letter is of the horizontal filter, the second one of the vertical filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Low-pass along both axes.
    Ll,
    /// High-pass along rows only.
    Hl,
    /// High-pass along columns only.
    Lh,
    /// High-pass along both axes.
    Hh,
}

/// Codeblock style of Part 1 (ISO/IEC 15444-1, Table A.19).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Raw bits instead of arithmetic coding in significance and refinement passes, from the fifth plane on.
    pub bypass: bool,
    /// Contexts are reset after each pass.
    pub reset: bool,
    /// Each pass ends a codeword segment.
    pub terminate: bool,
    /// Contexts do not depend on the next stripe of four rows.
    pub causal: bool,
    /// Terminations are predictable (Annex D.4.2).
    pub predictable: bool,
    /// A symbol of four bits ends each cleanup pass (Annex D.5).
    pub segmentation: bool,
}

/// Codeword segment: bytes that code whole passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The bytes; fewer than the stream announced where it is cut.
    pub bytes: &'a [u8],
    /// Number of passes.
    pub passes: u32,
}

/// Coded block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Encoded {
    /// Bitplanes, from the one that the first pass codes down to plane 0; 0 for a block of zeros.
    pub planes: u32,
    /// All segments, one after the other.
    pub bytes: Vec<u8>,
    /// The passes, in their order.
    pub passes: Vec<Pass>,
}

/// Pass of a coded block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Number of the block's bytes that decode up to this pass.
    pub end: usize,
    /// Whether a codeword segment ends here.
    pub terminated: bool,
    /// By how much this pass lowers the squared error of the indices.
    pub gain: f64,
}

/// Block that cannot have been made by an encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BrokenBlock(pub &'static str);

impl Orientation {
    /// Whether the filters along rows and along columns are high-pass.
    pub fn high(self) -> [bool; 2] {
        match self {
            Orientation::Ll => [false, false],
            Orientation::Hl => [true, false],
            Orientation::Lh => [false, true],
            Orientation::Hh => [true, true],
        }
    }

    /// Base-2 logarithm of the band's nominal gain (Table E.1).
    pub fn gain(self) -> u32 {
        self.high().map(u32::from).iter().sum()
    }
}
