//! Directions of a transform.

use crate::core::scheme::{Boundary, Scheme, Step};
use crate::core::stage::PairStage;

/// Analysis or synthesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Signal to bands.
    Forward,
    /// Bands to signal.
    Inverse,
}

impl Direction {
    /// The steps that this direction executes, in order.
    pub fn steps(self, scheme: &Scheme) -> Vec<Step> {
        match self {
            Direction::Forward => scheme.steps().to_vec(),
            Direction::Inverse => scheme.inverse_steps(),
        }
    }

    /// The stages that this direction executes, in order, if the scheme runs as a lattice under this border rule.
    pub fn stages(self, scheme: &Scheme, boundary: Boundary) -> Option<Vec<PairStage>> {
        match self {
            Direction::Forward => scheme.stages(boundary),
            Direction::Inverse => scheme.inverse_stages(boundary),
        }
    }

    /// `forward` or `inverse`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Inverse => "inverse",
        }
    }
}
