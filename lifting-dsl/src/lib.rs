//! The Lifting language.
pub mod coefficient;
pub mod float;
pub mod geometry;
pub mod laurent;
pub mod oracle;
pub mod polyphase;
pub mod sample;
pub mod scheme;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod weight;
pub use scheme::*;
pub use weight::Weight;
