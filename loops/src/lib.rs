//! Lifting steps on rows of samples in registers: loops that are compiled for SSE2, AVX2 and AVX-512.
//!
//! rewrite: "each step of a block of rows is a loop" → four rows at a time, one register of columns after the other:
//! its samples are split, go through all steps along the row, then through all steps along the columns, and leave. What
//! steps still need is delayed: along rows in registers, along columns in memory that is read and written once for four
//! rows. Beyond borders there are more samples, which gives the same bits where the steps are symmetric and so is the
//! border, or where the line is periodic. Loops are made for shapes of steps; weights are arguments.
//!
//! [`find`] says whether there is a [`Loop`] for some steps; its [`Kernel`] is called with a [`Level`], which is made
//! once, and an [`Event`], four rows. Crate `lifting` does all that for plans (`runtime/src/cpu/rows`), and its tests
//! compare every loop with the oracle. Nothing else is meant to call them: they check nothing.
//!
//! # Where to start
//!
//! `chain` has the arithmetic of steps, and what they delay; `kernels` the loops over registers. `vector` says what
//! these need of an instruction set, `x86` and `wide` have it, and `edges` has the registers at the ends of rows. `find`
//! lists the loops that there are.
//!
//! This is a crate of its own as it takes long to compile, and seldom changes.

mod chain;
mod edges;
mod find;
mod isa;
mod kernels;
mod vector;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use chain::{MAX_STEPS, Weights};
pub use edges::Edges;
pub use find::{Along, Loop, Wanted, find};
pub use isa::Isa;
pub use kernels::{BUFFERS, Event, Kernel, Level, ROWS, fence, fetch};
