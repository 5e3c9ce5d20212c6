//! The compiler's tests as one program, because every further one costs linking and space: `cargo test -p
//! lifting-codegen --test suite tile`.

mod cost;
mod emitted;
mod interp_conformance;
mod interp_counts;
mod interp_faults;
mod ir_validation;
mod lines;
mod parts;
mod passes;
mod schedules;
mod schedules_of_plans;
#[path = "../src/testing.rs"]
mod testing;

use lifting_codegen::schedule::SCHEDULES;

/// The schedules that accept warps of 16 and 64 lanes.
const ANY_WARP: [&str; 1] = ["tile"];
