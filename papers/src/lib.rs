//! Schedules of papers, and the tables of these papers measured again.
//!
//! The schedules use only the public parts of `lifting-codegen`, as a schedule of yours would, and plans take them by
//! value: [`lone_tile`] and [`register_blocks`] implement [`Schedule`], [`barrier_free`] and [`baseline`]
//! [`AxisSchedule`]. [`tables`] measures them, in the program `papers`.

pub mod barrier_free;
pub mod baseline;
pub mod lone_tile;
pub mod register_blocks;
pub mod tables;

use lifting_codegen::schedule::{AxisSchedule, LaunchSchedule};

/// Schedules whose launches take several axes.
pub const LAUNCHES: &[&dyn LaunchSchedule] = &[&lone_tile::LoneTileSchedule, &register_blocks::RegisterBlockSchedule];

/// Schedules of passes along one axis, and baselines.
pub const PASSES: &[&dyn AxisSchedule] = &[
    &barrier_free::FOUR,
    &barrier_free::ONE,
    &baseline::NaiveColumns,
    &baseline::Transposed,
    &barrier_free::convolution::Convolution,
];

/// All schedules of this crate, as plans take them.
pub fn schedules() -> impl Iterator<Item = lifting::Schedule> + Clone {
    let launches = LAUNCHES.iter().map(|&schedule| lifting::Schedule::Launch(schedule));
    launches.chain(PASSES.iter().map(|&schedule| lifting::Schedule::Axis(schedule)))
}

/// The schedule with this name, of this crate or known to plans.
///
/// # Errors
/// If there is none: the names that plans know.
pub fn schedule(name: &str) -> Result<lifting::Schedule, String> {
    schedules().find(|schedule| schedule.name() == name).map_or_else(|| name.parse(), Ok)
}
