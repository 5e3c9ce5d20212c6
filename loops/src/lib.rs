//! Lifting steps on rows of samples in registers: loops compiled for SSE2, AVX2, AVX-512 and NEON.
//!
//! rewrite: "each step of a block of rows is a loop" → four rows at a time, one register of columns after the other.
//! Its samples are split, pass all steps along the row, then all steps along the columns, and are stored. Samples that
//! later steps need are delayed: along rows in registers, along columns in memory that is read and written once per
//! four rows. Beyond the borders, rows are extended. This gives the same bits if the steps and the border are
//! symmetric, or if the line is periodic. Loops are specialised for shapes of steps; weights are arguments.
//!
//! [`find`] returns the [`Loop`] for some steps, if there is one. Its [`Kernel`] takes a [`Level`], made once, and an
//! [`Event`], four rows. Crate `lifting` does this for plans (`runtime/src/cpu/rows`), and its tests compare every loop
//! with the oracle. Do not call loops directly: they check nothing.
//!
//! # Where to start
//!
//! `chain` has the arithmetic of steps and their delay lines; `long` those of
//! any number of steps, `kernels` the loops over registers. `vector` is the
//! interface to an instruction set; `x86`, `wide` and `neon` implement it, and `edges` handles the ends of rows. `sets`
//! is the loop table, and `find` has its interface.
//!
//! It is a separate crate because it compiles slowly and changes seldom.

// Other architectures have no loops yet, so that nothing calls the arithmetic, which all architectures share.
#![cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(dead_code, unused_macros, unused_imports)
)]
// Some arithmetic is for sets with wider registers.
#![cfg_attr(target_arch = "aarch64", allow(dead_code))]

mod chain;
mod edges;
mod find;
mod isa;
mod kernels;
mod level;
mod long;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod sets;
mod steps;
mod vector;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

/// No loops: other architectures have none yet.
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
mod sets {
    use crate::find::{Loop, Wanted};

    pub(crate) fn find(_: crate::Isa, _: std::any::TypeId, _: Wanted<'_>) -> Option<Loop> {
        None
    }
}

pub use edges::Edges;
pub use find::{Along, Loop, Wanted, find};
pub use isa::{Isa, Task};
pub use kernels::{Kernel, fence, fetch};
pub use level::{Event, Level, MAX_STEPS, ROWS, Weights};
pub use steps::{Steps, Sum, Term};
