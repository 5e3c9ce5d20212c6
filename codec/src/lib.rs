//! Pictures to bytes and back.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod block;
pub mod tables;
