//! The Lifting language.
pub mod scheme;
pub mod weight;
pub use scheme::*;
pub use weight::Weight;
