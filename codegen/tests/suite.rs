//! The compiler's tests as one program, because every further one costs linking and space: `cargo test -p
//! lifting-codegen --test suite tile`.

mod cost;
mod emitted;
mod filter_bank;
mod interp_conformance;
mod interp_counts;
mod interp_faults;
mod ir_validation;
mod passes;
mod schedules;
#[path = "../src/testing.rs"]
mod testing;
