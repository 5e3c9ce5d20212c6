//! Factorisation of filter banks into lifting steps ([`lifting`]) or lattice stages ([`lattice`]).
//!
//! A two-channel bank reconstructs perfectly if and only if the determinant of its polyphase matrix is a monomial.
//! [`check`] tests this first, and reports the offending number and the nearest alignment that works. The
//! factorisations build on it, and [`mod@candidates`] compares them.

pub mod bank;
pub mod candidates;
mod euclid;
pub mod lattice;
pub mod lifting;
mod options;

pub use crate::core::lattice::{Lattice, Stage};
pub use bank::{Alignment, FactorError, check, check_orthogonal, check_pair};
pub use candidates::{Candidate, How, Known, candidates};
pub use lifting::{Cost, Factorisation};
pub use options::{Options, Precision};
