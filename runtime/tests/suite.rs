//! The tests of plans as one program, `allocation.rs` apart, which counts what its process allocates:
//! `cargo test -p lifting --test suite plan`.

mod adjoint;
mod expansive;
mod huge;
mod launches;
mod papers;
mod plan;
mod schedules;
mod support;
mod tiles;
#[cfg(feature = "wisdom")]
mod wisdom;
