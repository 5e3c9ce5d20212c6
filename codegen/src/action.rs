//! Actions of a kernel along an axis: lifting steps, or the stages of a lattice.

use crate::describe;
use lifting_dsl::{Boundary, Direction, PairStage, Scheme, Step};

/// A lifting step, or a stage of a lattice. A sequence never mixes the two.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Updates one phase.
    Step(Step),
    /// Updates both samples of each pair of neighbours.
    Stage(PairStage),
}

impl Action {
    /// The actions of a direction under a border rule: stages if the scheme runs as a lattice, otherwise steps.
    pub fn all(scheme: &Scheme, direction: Direction, boundary: Boundary) -> Vec<Action> {
        match direction.stages(scheme, boundary) {
            Some(stages) => stages.into_iter().map(Action::Stage).collect(),
            None => direction.steps(scheme).into_iter().map(Action::Step).collect(),
        }
    }

    /// The step, if it is one.
    pub fn step(&self) -> Option<&Step> {
        match self {
            Action::Step(step) => Some(step),
            Action::Stage(_) => None,
        }
    }

    /// Whether it only scales a phase.
    pub fn is_scaling(&self) -> bool {
        matches!(self, Action::Step(Step::Scale(_)))
    }

    /// The action in words, for a comment.
    pub fn describe(&self) -> String {
        match self {
            Action::Step(step) => describe::step(step),
            Action::Stage(stage) => describe::stage(stage),
        }
    }
}
