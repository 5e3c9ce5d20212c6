//! Planner: chooses a schedule for each level, and describes kernels and launches as data.
//!
//! A [`Problem`] says what to compute. [`Program::new`] asks every schedule of `lifting-codegen` whether it supports
//! each level and at what cost, and takes the fastest. The resulting program has kernels, the workspace between them,
//! and a [`List`] of launches for each operation of a plan, with every argument resolved.
//!
//! A program is independent of devices. The crate `lifting` executes it on CUDA devices, or with the kernel interpreter
//! on host memory, so whole plans are tested without a GPU. [`source()`] writes its kernels as text.
//!
//! # Where to start
//!
//! `problem` is the input, `program` with the parts in `list` the output. Between them, `choose` plans each level: a
//! function of the `context`, by the predictions of `model` or by earlier measurements (`wisdom`). `lower` turns the
//! plans of levels into lists of launches. `kernels` makes each kernel once.
//!
//! These modules make launches: `pass` for one axis (`registers` says whether the layout allows registers), `pair` for
//! two or three axes, `copy` for copies, `lines` for kernels with a line per thread, `extend` for border extension.
//! They work on the strided boxes of `view`. `overlap` decides which launches begin early, `cluster` which blocks run
//! as clusters. `adjoint` makes programs of gradients, with `lower` if possible. `schedule` and `recipe` describe all
//! this to users, and `range` follows intervals through a problem.

#![warn(missing_docs)]

mod adjoint;
#[cfg(feature = "wisdom")]
pub mod calibration;
mod choose;
mod cluster;
mod context;
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
mod scalar;
mod schedule;
mod source;
mod tiles;
mod view;
mod wisdom;

pub use error::ProgramError;
pub use kernels::{Made, Only, Tuning};
pub use lifting_codegen::machine::Machine;
pub use list::{Arg, Array, Launch, List, MOST_LAUNCHES, Placed, Region, Regions, VECTOR};
pub use overlap::Extent;
pub use problem::{AxisWavelet, Dims, Extended, MAX_RANK, Problem, contiguous};
pub use program::Program;
pub use range::{Exactness, exactness};
pub use recipe::{Candidate, Choice, Pass, Reason, Recipe, Refused, Together};
pub use scalar::{sample_of, scalar_of};
pub use schedule::{Schedule, Way};
pub use source::source;
pub use tiles::{Part, TileError};
#[cfg(feature = "wisdom")]
pub use wisdom::replace_file;
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
