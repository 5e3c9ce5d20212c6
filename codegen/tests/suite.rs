//! The compiler's tests as one program, as every further one is linked and kept:
//! `cargo test -p lifting-codegen --test suite tile`.

mod cascade;
mod cost;
mod emitted;
mod interp_conformance;
mod interp_counts;
mod interp_faults;
mod ir_validation;
mod level;
mod pyramid;
mod schedules;
mod stream;
mod support;
mod tile;
mod volume;
mod warp;
