//! The algebra of two-channel filter banks: polynomials over exact rationals or long floats, factorisations, the named
//! families, and what can be computed of a wavelet without running it.
//!
//! [`coefficient`] and [`float`] are the numbers, [`laurent`] and [`polyphase`] the polynomials and matrices of them;
//! [`spectral`] makes filters, [`factor`] takes them apart, [`analysis`] measures the result, [`rounding`]
//! bounds what it is off by.

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
