//! What a plan launches on a device: kernels, and lists of launches with all arguments resolved when the plan is made.
//!
//! A list says nothing about who runs it. `crate::cuda` hands it to the driver; [`interpret`] runs the same list with the IR's
//! interpreter on host memory, so that whole plans are checked where there is no GPU.
//!
//! File by file: `list` is the data; `view` are strided boxes in arrays; `kernels` makes each kernel once; `pass` turns one pass over one axis into
//! launches, `pair` one over two axes; `copy` does the same for copies; `choose` chooses each level's schedule, by the times that `model` predicts; `lower` goes through the levels;
//! `adjoint` does so for what is no hurry: gradients.

mod adjoint;
mod choose;
mod copy;
#[cfg(test)]
mod huge;
mod interpret;
mod kernels;
mod list;
mod lower;
mod model;
mod pair;
mod pass;
mod registers;
mod source;
mod view;

pub(crate) use {
    interpret::Interpreter,
    kernels::{Only, Tuning},
    lower::{Program, scalar_of},
    model::Machine,
    source::source,
};
#[cfg(feature = "cuda")]
pub(crate) use {
    kernels::{Made, Walk},
    list::{Arg, Array, Launch, List},
};
