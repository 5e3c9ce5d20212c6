//! Schedules of papers, and the tables of these papers measured again.
//!
//! The schedules use only the public parts of `lifting-codegen`, as a schedule of yours would, and plans take them by
//! value: [`lone_tile`] and [`register_blocks`] implement [`LaunchSchedule`], [`barrier_free`], [`baseline`] and
//! [`sliding_window`] [`AxisSchedule`]. [`tables`] measures them, in the program `papers`.

pub mod barrier_free;
pub mod baseline;
pub mod lone_tile;
pub mod register_blocks;
pub mod sliding_window;
pub mod tables;

use lifting_codegen::schedule::{AxisSchedule, LaunchSchedule};

/// Schedules whose launches take several axes.
pub const LAUNCHES: &[&dyn LaunchSchedule] = &[&lone_tile::LoneTileSchedule, &register_blocks::RegisterBlockSchedule];

/// Schedules of passes along one axis, and baselines: a family for each method, in its block shapes.
pub fn passes() -> [(&'static str, Vec<&'static dyn AxisSchedule>); 6] {
    fn all<S: AxisSchedule>(shapes: &'static [S]) -> Vec<&'static dyn AxisSchedule> {
        shapes.iter().map(|shape| shape as &dyn AxisSchedule).collect()
    }
    [
        ("barrier-free", all(&barrier_free::FOUR)),
        ("barrier-free-1", all(&barrier_free::ONE)),
        ("convolution", all(&barrier_free::convolution::SHAPES)),
        ("naive-columns", all(&baseline::NAIVE)),
        ("sliding-window", all(&sliding_window::SHAPES)),
        ("transposed", all(&baseline::TRANSPOSED)),
    ]
}

/// All schedules of this crate, as plans take them.
pub fn schedules() -> impl Iterator<Item = lifting::Schedule> + Clone {
    let launches = LAUNCHES.iter().map(|&schedule| lifting::Schedule::Launch(schedule));
    launches.chain(passes().into_iter().flat_map(|(_, shapes)| shapes).map(lifting::Schedule::Axis))
}

/// Schedules of a method, in its block shapes: a family of [`passes`], or one schedule known to plans.
///
/// # Errors
/// If there is none: the names that plans know.
pub fn family(name: &str) -> Result<Vec<lifting::Schedule>, String> {
    match passes().into_iter().find(|(family, _)| *family == name) {
        Some((_, shapes)) => Ok(shapes.into_iter().map(lifting::Schedule::Axis).collect()),
        None => schedule(name).map(|schedule| vec![schedule]),
    }
}

/// The schedule with this name, of this crate or known to plans.
///
/// # Errors
/// If there is none: the names that plans know.
pub fn schedule(name: &str) -> Result<lifting::Schedule, String> {
    schedules().find(|schedule| schedule.name() == name).map_or_else(|| name.parse(), Ok)
}
