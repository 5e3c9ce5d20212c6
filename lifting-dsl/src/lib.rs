//! The Lifting language, its algebra, and the oracle: text → [`Scheme`] → samples.
//!
//! The crate has three layers, and each uses only those before it:
//!
//! 1. **core** models a wavelet and executes it: [`scheme`] (steps, domains, border rules), [`geometry`] (positions of
//!    the samples of every band), [`sample`] (the arithmetic of a step), [`oracle`] (the reference transform) and
//!    [`adjoint`].
//! 2. **algebra** analyses it: [`laurent`], [`polyphase`], [`factor`], [`spectral`], [`analysis`], [`rounding`].
//! 3. **language** reads and writes text: [`parse`](mod@parse), [`validate`], [`print`](mod@print),
//!    [`format`](mod@format), [`numbers`], [`words`].
//!
//! Read on in `docs/language.md`, the reference of the language. [`scheme`] defines the wavelet, [`parse`](mod@parse)
//! the grammar, [`validate`] the rules; `src/language/linear.rs` turns expressions into taps. `lifting-codegen` turns
//! schemes into kernels.

mod algebra;
mod core;
mod language;

pub use crate::algebra::{analysis, coefficient, factor, float, laurent, polyphase, rounding, spectral};
#[cfg(any(test, feature = "testing"))]
pub use crate::core::testing;
pub use crate::core::{adjoint, body, diag, extension, geometry, lattice, oracle, sample, scheme, span, weight};
pub use crate::language::{ast, codes, format, numbers, parse, print, suggest, validate, words};

pub use crate::core::direction::Direction;
pub use crate::core::names::c_identifier;
pub use crate::core::stage::PairStage;
pub use body::Body;
pub use diag::{Diagnostic, Label, Severity};
pub use format::format;
pub use parse::parse;
pub use print::{print, print_scheme};
pub use scheme::*;
pub use span::Span;
pub use validate::{Compiled, compile};
pub use weight::Weight;
