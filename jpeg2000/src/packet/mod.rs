//! Packets: the bytes that a layer adds to the codeblocks of a precinct (B.9, B.10).

mod bits;
mod order;
mod read;
mod tag_tree;
mod write;

pub use order::groups;
pub use read::{CodedBlock, Outcome, PacketReader, Precinct};
pub use write::{CodedBand, packet};

use crate::block::{Style, ebcot};
use crate::codestream::Coder;

/// Number of passes from pass `pass` to the end of its codeword segment, the next pass included (Table D.9; 15444-15,
/// B.3).
fn passes_of_segment(coder: Coder, style: Style, pass: u32) -> u32 {
    let ends = |pass: u32| match coder {
        // Cleanup; significance propagation and magnitude refinement together.
        Coder::Ht => pass % 3 != 1,
        Coder::Ebcot => ebcot::ends_segment(style, pass),
    };
    // A block has at most 164 new passes a layer.
    (1..164).find(|count| ends(pass + count - 1)).unwrap_or(u32::MAX)
}
