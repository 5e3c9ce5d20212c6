//! The algebra of two-channel filter banks: polynomials over exact rationals or long floats, factorisations, named
//! families, and analysis of wavelets without running them.
//!
//! [`coefficient`] and [`float`] are the numbers; [`laurent`] and [`polyphase`] the polynomials and matrices.
//! [`spectral`] makes filters, [`factor`] factors them, [`analysis`] measures the result, [`rounding`] bounds its
//! error.

pub mod analysis;
pub mod coefficient;
pub(crate) mod construct;
pub mod factor;
pub mod float;
pub mod laurent;
pub mod polyphase;
pub mod rounding;
pub mod spectral;
pub(crate) mod support;
