//! The Lifting compiler: from a validated [`lifting_dsl::Scheme`] to kernels and their text.
//!
//! Read on in this order: [`ir`] (what a kernel means), [`window`] (lags and halos, pure arithmetic), [`schedule`] (how
//! a scheme meets the machine: one file each), [`back`] (text).

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

// What tests share names this crate as tests beside it do.
#[cfg(test)]
extern crate self as lifting_codegen;
#[cfg(test)]
mod testing;
