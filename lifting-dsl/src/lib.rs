//! The Lifting language: text → [`Scheme`].
//!
//! Where to read on: [`scheme`] says what a wavelet is, [`parse`](mod@parse) has the grammar, [`validate`] the rules,
//! `linear.rs` how an expression becomes taps.

pub mod adjoint;
pub mod analysis;
pub mod ast;
pub mod body;
pub mod coefficient;
mod constant;
mod construct;
pub mod diag;
pub mod factor;
pub mod float;
pub mod geometry;
pub mod laurent;
mod lex;
mod linear;
pub mod numbers;
pub mod oracle;
pub mod parse;
pub mod polyphase;
pub mod print;
pub mod sample;
pub mod scheme;
pub mod span;
pub mod spectral;
mod stage;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod validate;
pub mod weight;

pub use body::Body;
pub use diag::{Diagnostic, Label, Severity};
pub use parse::parse;
pub use print::{print, print_scheme};
pub use scheme::*;
pub use span::Span;
pub use stage::PairStage;
pub use validate::{Compiled, compile};
pub use weight::Weight;
