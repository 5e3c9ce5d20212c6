//! Tests of the schedules and of the tables of papers as one program. The compiler's own suites test the schedules.

mod command;
#[path = "../../liftc/tests/common/mod.rs"]
mod common;
mod filter_bank;
mod kernels;
#[path = "../../codegen/tests/lines.rs"]
mod lines;
mod pages;
mod passes;
mod plans;
#[path = "../../codegen/tests/schedules/mod.rs"]
mod schedules;
#[path = "../../codegen/src/testing.rs"]
mod testing;

use papers::LAUNCHES as SCHEDULES;

/// The schedules that accept warps of 16 and 64 lanes.
const ANY_WARP: [&str; 0] = [];
