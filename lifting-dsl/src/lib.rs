//! The Lifting language, its algebra, and the oracle: text → [`Scheme`] → samples.
//!
//! The crate has three layers, and each uses only those before it:
//!
//! 1. **core** is what a wavelet is and what it does: [`scheme`] (steps, domains, border rules), [`geometry`] (where the
//!    samples of every band stand), [`sample`] (the arithmetic of a step), [`oracle`] (the definition of a transform) and
//!    [`adjoint`].
//! 2. **algebra** is what can be said of it: [`laurent`], [`polyphase`], [`factor`], [`spectral`], [`analysis`],
//!    [`rounding`].
//! 3. **language** is text: [`parse`](mod@parse), [`validate`], [`print`](mod@print), [`numbers`].
//!
//! Where to read on: `docs/language.md` is the language's reference. [`scheme`] says what a wavelet is,
//! [`parse`](mod@parse) has the grammar, [`validate`] the rules; `src/language/linear.rs` says how an expression
//! becomes taps. `lifting-codegen` takes schemes from here to kernels.

mod algebra;
mod core;
mod language;

pub use crate::algebra::{analysis, coefficient, factor, float, laurent, polyphase, rounding, spectral};
#[cfg(any(test, feature = "testing"))]
pub use crate::core::testing;
pub use crate::core::{adjoint, body, diag, extension, geometry, lattice, oracle, sample, scheme, span, weight};
pub use crate::language::{ast, codes, numbers, parse, print, suggest, validate};

pub use crate::core::stage::PairStage;
pub use body::Body;
pub use diag::{Diagnostic, Label, Severity};
pub use parse::parse;
pub use print::{print, print_scheme};
pub use scheme::*;
pub use span::Span;
pub use validate::{Compiled, compile};
pub use weight::Weight;
