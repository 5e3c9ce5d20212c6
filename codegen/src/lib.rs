//! The Lifting compiler: from a validated [`lifting_dsl::Scheme`] to kernels and their text.
//!
//! Read in this order: [`ir`] (meaning of kernels), [`window`] (lags and halos, pure arithmetic), [`schedule`] (mapping
//! of a scheme to the machine, one file each), [`back`] (text).

#![allow(clippy::should_implement_trait)]

pub mod action;
pub mod analytic;
pub mod back;
pub mod cost;
pub mod describe;
pub mod emit;
pub mod ir;
pub mod machine;
pub mod opt;
pub mod schedule;
pub mod window;

// Shared test code names this crate as the integration tests do.
#[cfg(test)]
extern crate self as lifting_codegen;
#[cfg(test)]
mod testing;
