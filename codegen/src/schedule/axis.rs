//! What a schedule of passes over one axis is to plans, where they are asked for it by name: one trait for all of them.

use super::{Along, Options, ScheduleError, Sides, barrier_free, baseline};
use crate::ir::Kernel;
use lifting_dsl::Scheme;
use std::fmt;
use std::hash::{Hash, Hasher};

/// How passes over one axis go through lines. Their kernels have the parameters of every pass ([`super::Pass`]), and
/// take lines of any length, position and pitch. Plans take them where they are asked for them, and never else.
pub trait AxisSchedule: Send + Sync {
    /// What recipes and commands call it.
    fn name(&self) -> &'static str;

    /// What it does, in a line, for help texts.
    fn about(&self) -> &'static str;

    /// Whether passes along columns are passes along rows of what was transposed.
    fn transposes(&self) -> bool {
        false
    }

    /// Whether results have the bits of lifting, as those of all that lifts. Others are right but for rounding: they
    /// take real samples only, and [`Rounding`](lifting_dsl::rounding::Rounding) bounds what they are off by.
    fn has_lifting_bits(&self) -> bool {
        true
    }

    /// The kernel of passes between arrays of two types.
    ///
    /// # Errors
    /// The limit that stands against it.
    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError>;
}

/// All of them: the schedules of papers that lift one axis at a time, and what these are compared with.
pub const AXIS_SCHEDULES: &[&dyn AxisSchedule] = &[
    &barrier_free::FOUR,
    &barrier_free::ONE,
    &baseline::NaiveColumns,
    &baseline::Transposed,
    &barrier_free::convolution::Convolution,
];

impl fmt::Debug for dyn AxisSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Schedules have different names.
impl PartialEq for dyn AxisSchedule {
    fn eq(&self, other: &dyn AxisSchedule) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn AxisSchedule {}

impl Hash for dyn AxisSchedule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
