//! The Lifting compiler: from a validated [`Scheme`](lifting_dsl::Scheme) to kernels.

pub mod describe;
pub mod ir;
pub mod schedule;
pub mod window;
