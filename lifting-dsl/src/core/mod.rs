//! The core: steps, schemes, geometry, the arithmetic of a step, and the oracle.
//!
//! [`scheme`] is the model, [`sample`] the arithmetic, [`border`] the reads beyond a line, [`geometry`] the positions
//! of samples, and [`oracle`] combines these. [`extension`] continues a line whose bands keep every coefficient.

pub mod adjoint;
pub mod body;
pub(crate) mod border;
mod condition;
pub(crate) mod construct;
pub mod diag;
pub(crate) mod direction;
pub mod extension;
pub mod geometry;
pub mod lattice;
pub(crate) mod names;
pub mod oracle;
pub mod sample;
pub mod scheme;
pub mod span;
pub(crate) mod stage;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod weight;
