//! All tests of plans as one program, except `allocation.rs`, which counts the allocations of its process: `cargo test
//! -p lifting --test suite plan`.

mod adjoint;
mod expansive;
mod huge;
mod launches;
mod mixed;
mod plan;
mod schedules;
mod stationary;
mod support;
mod tiles;
#[cfg(feature = "wisdom")]
mod wisdom;
