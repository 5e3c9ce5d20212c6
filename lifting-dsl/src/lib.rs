//! The Lifting language.
pub mod coefficient;
pub mod float;
pub mod laurent;
pub mod polyphase;
pub mod scheme;
#[cfg(test)]
pub(crate) mod testing;
pub mod weight;
pub use scheme::*;
pub use weight::Weight;
