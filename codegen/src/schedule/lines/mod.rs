//! Lifting along one axis in registers, across lanes and down columns.
//!
//! Across the columns that the lanes of a warp hold, lanes exchange their edge values by shuffles ([`Across`]). Down
//! the columns, steps follow one another in a delay line ([`DelayLine`]).

mod across;
mod descent;
mod dots;
mod down;
mod each;
mod extend;
mod lanes;
mod row;

pub(super) use across::{Across, reflects};
pub(super) use descent::{Descent, MAX_CHUNKS, MAX_REGISTERS, WALKS, walk_down};
pub(super) use dots::{Dots, Wanted};
pub(super) use down::DelayLine;
pub(super) use each::EachLine;
pub use lanes::Held;
pub(super) use lanes::Lanes;
pub use row::{Form, Row};
pub(super) use row::{word, zeros};

use super::demand::work;
use super::limits::{check_choice, check_range};
use super::{Options, ScheduleError};
use crate::action::Action;
use crate::ir::Scalar;
use crate::window::Halo;
use lifting_dsl::{Boundary, Phase, Scheme, Step};
use std::ops::RangeInclusive;

/// Checks a lane's columns: a power of two, at least `least`, of `bytes` bytes.
///
/// # Errors
/// Their number, and the allowed ones.
pub(super) fn check_columns(
    schedule: &'static str,
    columns: u32,
    sample: Scalar,
    least: u32,
    bytes: RangeInclusive<u32>,
) -> Result<(), ScheduleError> {
    let fits = |c: &u32| *c >= least && bytes.contains(&(c * sample.bytes() as u32));
    check_choice(schedule, "columns a lane", columns, (0..6).map(|i| 1 << i).filter(fits))
}

/// Checks the warps of a block.
///
/// # Errors
/// Their number, and the allowed range.
pub(super) fn check_warps(schedule: &'static str, warps: u32) -> Result<(), ScheduleError> {
    check_range(schedule, "warps a block", warps, 1..=32)
}

/// Checks the slots of a ring buffer, of a row pair each.
///
/// # Errors
/// Their number, and the minimum.
pub(super) fn check_ring(schedule: &'static str, ring: u32) -> Result<(), ScheduleError> {
    check_range(schedule, "row pairs in the ring buffer", ring, 2..=u32::MAX)
}

/// Both phases, in order.
pub const PHASES: [Phase; 2] = [Phase::Even, Phase::Odd];

/// Treatment of the border while steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Samples loaded beyond the border are an extension that the steps keep consistent.
    Extend,
    /// After each step, samples beyond the border become the nearest sample of their phase.
    Edge,
    /// Samples beyond the border are zero after each step.
    Zero,
    /// After each step, samples beyond the border become the mirror images of samples inside.
    Mirror,
    /// No step reads beyond the border: steps stay within their own pair ([`is_local`]), and the border cuts no pair.
    Untouched,
}

impl Border {
    /// The treatment for a border rule ([`Boundary::is_kept`]).
    pub fn of(boundary: Boundary, steps: &[Step]) -> Border {
        match boundary {
            _ if boundary.is_kept(steps.iter().all(is_symmetric)) => Border::Extend,
            Boundary::Edge => Border::Edge,
            Boundary::Zero => Border::Zero,
            _ => Border::Mirror,
        }
    }
}

/// One axis of the kernel: its steps, split into scalings at the ends and lifting in between; or the stages of a
/// lattice.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Scaling of the samples on arrival, by phase.
    pub first: Vec<Step>,
    /// Lifting steps, or stages.
    pub actions: Vec<Action>,
    /// Scaling of the results, by phase.
    pub last: Vec<Step>,
}

impl Axis {
    /// The axis of a scheme, in the direction of the options.
    pub fn new(scheme: &Scheme, options: Options) -> Axis {
        let actions = Action::all(scheme, options.direction, options.boundary);
        let head = actions.iter().take_while(|a| a.is_scaling()).count();
        let tail = actions[head..].iter().rev().take_while(|a| a.is_scaling()).count();
        let (first, rest) = actions.split_at(head);
        let (actions, last) = rest.split_at(rest.len() - tail);
        let steps = |actions: &[Action]| actions.iter().filter_map(Action::step).cloned().collect();
        Axis { first: steps(first), actions: actions.to_vec(), last: steps(last) }
    }

    /// Whether packed 16-bit integers can be lifted: all steps are dot products.
    pub(super) fn is_dots(&self) -> bool {
        self.first.is_empty()
            && self.last.is_empty()
            && self.actions.iter().all(|action| action.step().and_then(Dots::of).is_some())
    }

    /// Default of resident blocks to ask the compiler for. Without a request, nvcc spills registers of lattices for
    /// more resident blocks.
    pub(super) fn min_blocks(&self) -> u32 {
        u32::from(matches!(self.actions.first(), Some(Action::Stage(_))))
    }

    /// Checks that steps keep the border rule while a walk passes the border ([`DelayLine`]).
    ///
    /// # Errors
    /// The result of `refuse` for the steps that break it.
    pub(super) fn check_walk(
        &self,
        border: Border,
        steps: &[Step],
        refuse: &impl Fn(&'static str, i64, i64) -> ScheduleError,
    ) -> Result<(), ScheduleError> {
        if border == Border::Mirror {
            return Err(match steps.iter().filter(|s| !is_symmetric(s)).count() as i64 {
                0 => refuse("steps under half-symmetric", steps.len() as i64, 0),
                asymmetric => refuse("asymmetric steps under whole-symmetric", asymmetric, 0),
            });
        }
        let between = self.scalings_between();
        if border == Border::Edge && between > 0 {
            return Err(refuse("scalings between lifting steps under edge", between, 0));
        }
        Ok(())
    }

    /// Whether steps beyond a border read only a lane's own columns under a border rule, so that no extension is
    /// stored.
    pub(super) fn reflects(&self, boundary: Boundary, border: Border, columns: u32) -> bool {
        let near = |action: &Action| action.step().is_some_and(|step| reflects(step, columns as i32));
        (boundary, border) == (Boundary::WholeSymmetric, Border::Extend) && self.actions.iter().all(near)
    }

    /// Instructions to lift a pair of samples.
    pub(super) fn operations(&self) -> f64 {
        let [operations, _] = work(&self.actions);
        operations + (self.first.len() + self.last.len()) as f64
    }

    /// Number of scalings between lifting steps.
    pub(super) fn scalings_between(&self) -> i64 {
        self.actions.iter().filter(|a| a.is_scaling()).count() as i64
    }
}

/// Whether a step's reads are mirror images of one another, with the same arithmetic in either direction.
pub(super) fn is_symmetric(step: &Step) -> bool {
    // Offset o mirrors to −1 − o about an even target's position, to 1 − o about an odd target's.
    let mirror = |o: i32| if step.target() == Phase::Even { -1 - o } else { 1 - o };
    match step {
        Step::Integer(s) => {
            s.taps.iter().all(|t| s.taps.iter().any(|u| u.offset == mirror(t.offset) && u.weight == t.weight))
        }
        // A sum of two is the same backwards; a longer one is rounded differently.
        Step::Real(s) => s.groups.iter().all(|g| g.offsets.len() == 2 && g.offsets[0] == mirror(g.offsets[1])),
        Step::Scale(_) => true,
    }
}

/// Whether a step or a stage reads nothing beyond its own pair of samples.
pub(super) fn is_local(action: &Action) -> bool {
    match action {
        Action::Step(step) => step.index_support().is_none_or(|support| support == (0, 0)),
        Action::Stage(stage) => stage.offset() == 0,
    }
}

/// Halo lanes on the left of a warp, and lanes that store, for vectors of `columns` samples of `bytes` bytes. Loaded
/// vectors may begin up to `skew` columns before a lane's.
///
/// # Errors
/// The required and the maximum halo lanes, if too few lanes are left.
pub(super) fn useful_lanes(halo: &Halo, columns: i64, bytes: i64, skew: i64) -> Result<(i64, i64), (i64, i64)> {
    let left = (halo.before + columns - 1) / columns;
    let right = (halo.after + skew + columns - 1) / columns;
    // Whole 32-byte sectors on every store: a lane stores half its columns to a band.
    let sector = (32 / (bytes * columns / 2)).clamp(1, 32);
    let useful = if halo.before + halo.after == 0 { 32 } else { (32 - left - right) / sector * sector };
    if useful < sector.max(4) {
        return Err((left + right, 32 - sector.max(4)));
    }
    // Whole sectors on every load too, where they cost no lane.
    let sector = (32 / (bytes * columns)).max(1);
    let rounded = (left + sector - 1) / sector * sector;
    Ok((if rounded + useful + right <= 32 { rounded } else { left }, useful))
}
