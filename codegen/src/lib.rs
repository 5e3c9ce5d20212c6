//! The Lifting compiler.
pub mod ir;
