//! EBCOT: the block coder of Part 1 (ISO/IEC 15444-1, Annexes C and D).
//!
//! A block is coded by bitplanes, the highest first, in up to three passes each: significance propagation, magnitude
//! refinement and cleanup. The first plane has a cleanup pass only. Passes make codeword segments. A segment is a
//! codeword of the MQ coder or a string of raw bits.
//!
//! `contexts` has the context tables, `flags` the states of coefficients, `passes` the passes for both directions, `mq`
//! and `bits` the two codes. [`encode`] and [`decode`] join them.

mod bits;
mod contexts;
mod decode;
mod encode;
mod flags;
mod mq;
mod passes;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::encode;

use crate::block::{Shape, Style};
use passes::{Kind, kind};

/// First pass that `bypass` may code by raw bits: the significance pass of the fifth plane.
const FIRST_RAW: u32 = 10;

/// Whether a pass ends its codeword segment (ISO/IEC 15444-1, Tables D.8 and D.9).
///
/// Passes count from 0, the block's first cleanup pass. A block's last pass ends its segment whatever this says.
pub fn ends_segment(style: Style, pass: u32) -> bool {
    style.terminate || style.bypass && pass + 1 >= FIRST_RAW && kind(pass) != Kind::Significance
}

/// Whether a pass is coded by raw bits (D.6).
fn is_raw(style: Style, pass: u32) -> bool {
    style.bypass && pass >= FIRST_RAW && kind(pass) != Kind::Cleanup
}

/// Whether a shape is within the limits of codeblocks.
fn valid(shape: Shape) -> bool {
    let sides = 1..=1024;
    sides.contains(&shape.height) && sides.contains(&shape.width) && shape.height * shape.width <= 4096
}
