//! Filter banks taken apart: into lifting steps ([`lifting`]) or into lattice stages ([`lattice`]).
//!
//! A two-channel bank reconstructs perfectly if and only if the determinant of its polyphase matrix is a monomial.
//! [`check`] says so first, with the number that fails and the alignment that would not; the factorisations build
//! on it, and [`mod@candidates`] compares them.

pub mod bank;
pub mod candidates;
mod euclid;
pub mod lattice;
pub mod lifting;

pub use crate::core::lattice::{Lattice, Stage};
pub use bank::{Alignment, FactorError, check, check_orthogonal, check_pair};
pub use candidates::{Candidate, How, Known, candidates};
pub use lifting::{Cost, Factorisation, Options, Precision};
