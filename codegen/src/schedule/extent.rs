//! The part of a transform that a launch takes.

/// The axes and levels of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Two axes of a level.
    Plane,
    /// Two axes of a level and of the next one.
    TwoLevels,
    /// Two axes of all remaining levels.
    AllLevels,
    /// Three axes of a level.
    Volume,
}

impl Extent {
    /// Whether a launch takes several levels.
    pub fn is_of_several(self) -> bool {
        matches!(self, Extent::TwoLevels | Extent::AllLevels)
    }
}
