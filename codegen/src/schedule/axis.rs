//! The `AxisSchedule` trait: schedules of passes over one axis, which plans use on request.

use super::{Along, Options, ScheduleError, Sides};
use crate::ir::Kernel;
use lifting_dsl::Scheme;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A schedule of passes over one axis. Its kernels have the parameters of every pass ([`super::Pass`]), and take lines
/// of any length, position and pitch. Plans use it only on request.
pub trait AxisSchedule: Send + Sync {
    /// Its name in recipes and commands.
    fn name(&self) -> &'static str;

    /// One-line description, for help texts.
    fn about(&self) -> &'static str;

    /// Whether passes along columns run along rows of transposed images.
    fn transposes(&self) -> bool {
        false
    }

    /// Whether results have the bits of lifting. Other schedules are correct up to rounding: they take only real
    /// samples, and [`Rounding`](lifting_dsl::rounding::Rounding) bounds their error.
    fn has_lifting_bits(&self) -> bool {
        true
    }

    /// Neighbouring samples per access of a second kernel, which takes only [`whole`](AxisSchedule::whole_kernel)
    /// lines; 1 without one.
    fn width(&self, _: Sides) -> u32 {
        1
    }

    /// The kernel of passes over lines that begin at multiples of [`width`](AxisSchedule::width) samples in all arrays.
    /// Along rows, both bands have a multiple of as many samples; along columns, the number of lines is a multiple.
    ///
    /// # Errors
    /// The limit that it exceeds.
    fn whole_kernel(
        &self,
        scheme: &Scheme,
        options: Options,
        sides: Sides,
        along: Along,
    ) -> Result<Kernel, ScheduleError> {
        self.kernel(scheme, options, sides, along)
    }

    /// The kernel of passes between arrays of two types.
    ///
    /// # Errors
    /// The limit that it exceeds.
    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError>;
}

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
