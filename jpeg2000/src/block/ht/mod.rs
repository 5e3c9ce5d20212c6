//! High-throughput block coder of Part 15 (ISO/IEC 15444-15, ITU-T T.814): one HT set of a codeblock.
//!
//! A set is a cleanup pass at bitplane `p`, then optionally a significance propagation and a magnitude refinement pass
//! at `p − 1`. The cleanup segment holds three streams (clause 7.1): MagSgn forwards from the start, MEL forwards
//! behind it, VLC backwards from the end. Samples are coded in quads of 2 × 2, numbered column by column. The
//! refinement segment holds SigProp forwards from its start and MagRef backwards from its end.
//!
//! Read `tables` for the codes, `bits` and `mel` for the streams, then `encode` and `decode` for the cleanup pass, and
//! `refine` for the other two.

mod bits;
mod decode;
mod encode;
mod mel;
mod refine;
mod tables;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::encode;
