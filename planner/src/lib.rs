//! From a transform to a program: which schedule each level takes, and its kernels and launches as data.
//!
//! A [`Problem`] says what is to be computed. [`Program::new`] asks every schedule of `lifting-codegen` whether it can
//! carry each level and what that should cost, takes the fastest, and writes down what is then launched: kernels, the
//! workspace between them, and a [`List`] of launches for each thing that a plan does, every argument resolved.
//!
//! A program names no device. Crate `lifting` executes it on CUDA devices, or with the interpreter of kernels on host
//! memory, so that whole plans are checked where there is no GPU; [`source()`] writes its kernels as text.
//!
//! # Where to start
//!
//! `problem` and `program`, whose parts are those of `list`, are the two ends: what comes in and what goes out. Between
//! them `lower` goes through the levels; `choose` settles the schedule of each, by the times that `model` predicts or
//! by what was measured before (`wisdom`). `kernels` makes each kernel once. `pass` turns a pass over one axis into
//! launches (`registers` says whether the layout lets it stay in registers), `pair` one over two axes or three, `copy`
//! a copy, `lines` what has a line a thread; `view` are the strided boxes that they go through. `overlap` settles which launches begin before others have
//! ended, and `cluster` which blocks run side by side. `extend` brings data into longer arrays. `adjoint` makes
//! programs of gradients, where it can by `lower`.
//! `schedule` and `recipe` are what people read of all this, and `range` follows intervals through a problem.

#![warn(missing_docs)]

mod adjoint;
#[cfg(feature = "wisdom")]
pub mod calibration;
mod choose;
mod cluster;
mod copy;
pub mod emit;
mod error;
mod extend;
#[cfg(test)]
mod huge;
mod kernels;
mod lines;
mod list;
mod lower;
mod model;
mod overlap;
mod pair;
mod pass;
mod problem;
mod program;
mod range;
mod recipe;
mod registers;
mod schedule;
mod source;
mod tiles;
mod view;
mod wisdom;

pub use error::ProgramError;
pub use kernels::{Made, Only, Tuning};
pub use lifting_codegen::machine::Machine;
pub use list::{Arg, Array, Launch, List, MOST_LAUNCHES, Placed, Region, Regions, VECTOR};
pub use lower::{sample_of, scalar_of};
pub use overlap::Extent;
pub use problem::{Dims, Extended, MAX_RANK, Problem, contiguous};
pub use program::Program;
pub use range::{Exactness, exactness};
pub use recipe::{Candidate, Choice, Pass, Reason, Recipe, Refused, Together};
pub use schedule::{Schedule, Way};
pub use source::source;
pub use tiles::{Part, TileError};
pub use wisdom::{Key, Wisdom, WisdomWarning};

#[cfg(test)]
mod tests {
    use lifting_dsl::Scheme;

    /// A wavelet of the catalogue.
    pub fn scheme(name: &str) -> Scheme {
        let entry = lifting_filters::find(name).expect("the catalogue has it");
        let compiled = lifting_dsl::compile(entry.source).expect("the catalogue compiles");
        compiled.schemes.into_iter().find(|scheme| scheme.name() == entry.name).expect("the file has it")
    }
}
