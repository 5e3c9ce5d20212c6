//! Windows: lags of steps, and halos of tiles.
//!
//! Pure arithmetic on supports; no coefficients, no threads. Positions are interleaved (even phase 2k, odd phase 2k+1);
//! a *pair* is positions 2k and 2k+1.
//!
//! A [`Window`] slides along the axis; every sample is read once and written once, in place. It answers where step s
//! may work when the front is at F (van der Laan, Jalba & Roerdink 2011, section IV-F, Algorithm 1). A [`Halo`] is for
//! tiles that are computed independently: how many samples around the tile each step needs (Enfedaque, Aulí-Llinàs &
//! Moure 2015, section 3; Kučis et al. 2014).

use crate::action::Action;
use lifting_dsl::{Boundary, PairStage, Phase, Step};

/// Support that a schedule must provide for a step under a border rule, in positions relative to the target; `None` for
/// a scaling.
///
/// A read beyond the border is served from inside the signal ([`Boundary::reach`]).
pub fn effective_support(step: &Step, boundary: Boundary) -> Option<(i64, i64)> {
    step.support().map(|support| boundary.reach(support))
}

/// The samples of one phase that a step or a lattice stage updates. A stage updates both phases from their old values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The phase.
    pub target: Phase,
    /// Effective support; `None` for a scaling.
    pub support: Option<(i64, i64)>,
    /// Lag behind that of the step or stage. Even.
    pub delay: i64,
}

/// Sequences from which windows and halos are derived.
pub trait Updates {
    /// All simultaneous updates under a border rule: one, or one per phase.
    fn updates(&self, boundary: Boundary) -> Vec<Update>;
}

impl Updates for Step {
    fn updates(&self, boundary: Boundary) -> Vec<Update> {
        vec![Update { target: self.target(), support: effective_support(self, boundary), delay: 0 }]
    }
}

/// The pairs (even\[k\], odd\[k\]) are updated together, or the pairs (odd\[k−1\], even\[k\]).
impl Updates for PairStage {
    fn updates(&self, _: Boundary) -> Vec<Update> {
        let (even, odd, delay) = match self.first {
            Phase::Even => (1, -1, 0),
            Phase::Odd => (-1, 1, 2),
        };
        vec![
            Update { target: Phase::Even, support: Some((even, even)), delay: 0 },
            Update { target: Phase::Odd, support: Some((odd, odd)), delay },
        ]
    }
}

impl Updates for Action {
    fn updates(&self, boundary: Boundary) -> Vec<Update> {
        match self {
            Action::Step(step) => step.updates(boundary),
            Action::Stage(stage) => stage.updates(boundary),
        }
    }
}

/// One step's place in a sliding window. For a lattice stage, it is the place of its even samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepWindow {
    /// The phase that the step updates.
    pub target: Phase,
    /// Effective support; `None` for a scaling.
    pub support: Option<(i64, i64)>,
    /// With the working area at positions F..F+height, the step updates its targets in F−lag..F+height−lag. Even.
    pub lag: i64,
}

/// A sliding window: `top + overlap + height + bottom` positions; `height` of them are new each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The steps, in order of execution.
    pub steps: Vec<StepWindow>,
    /// Positions above the overlap that are still read, but finished.
    pub top: i64,
    /// Positions above the working area that are not yet finished: the largest lag.
    pub overlap: i64,
    /// Positions below the working area that are read before they are worked on.
    pub bottom: i64,
}

impl Window {
    /// Derives lags, top, overlap and bottom.
    ///
    /// Let step s follow step t of the opposite phase, with p the parity of a step's target. lag_s ≥ lag_t + hi_s +
    /// p_s − p_t ensures that the reads of s are finished. lag_s ≥ lag_t − lo_t + p_s − p_t − 1 ensures that s does not
    /// overwrite samples that t still reads in a later window. After a step of its own phase, s needs lag_s ≥ lag_t.
    /// Lags are even, as positions come in pairs. A stage of a lattice is two such updates; one may have to lag more.
    pub fn derive<S: Updates>(steps: &[S], boundary: Boundary) -> Window {
        let mut places = Vec::with_capacity(steps.len());
        let mut done: Vec<StepWindow> = Vec::with_capacity(steps.len());
        for step in steps {
            let updates = step.updates(boundary);
            let mut lag = 0;
            for Update { target, support, delay } in &updates {
                let p = target.parity();
                for t in &done {
                    if t.target == *target {
                        lag = lag.max(t.lag - delay);
                        continue;
                    }
                    let q = t.target.parity();
                    if let Some((_, hi)) = support {
                        lag = lag.max(t.lag + hi + p - q - delay);
                    }
                    if let Some((lo, _)) = t.support {
                        lag = lag.max(t.lag - lo + p - q - 1 - delay);
                    }
                }
            }
            let lag = lag + lag.rem_euclid(2);
            let of = |u: &Update| StepWindow { target: u.target, support: u.support, lag: lag + u.delay };
            places.push(of(&updates[0]));
            done.extend(updates.iter().map(of));
        }
        let overlap = done.iter().map(|s| s.lag).max().unwrap_or(0);
        let reads = || done.iter().filter_map(|s| Some((s.lag, s.target.parity(), s.support?)));
        let bottom = reads().map(|(lag, p, (_, hi))| hi + p - 1 - lag).max().unwrap_or(0).max(0);
        let top = (reads().map(|(lag, p, (lo, _))| lag - p - lo).max().unwrap_or(0) - overlap).max(0);
        Window { steps: places, top, overlap, bottom }
    }

    /// Positions that stay when the window advances.
    pub fn kept(&self) -> i64 {
        self.top + self.overlap + self.bottom
    }

    /// Lag of each step's results (for a stage, of its even row) behind the youngest pair, in row pairs.
    pub fn slots(&self) -> Vec<i32> {
        self.steps.iter().map(|step| ((self.bottom + 1) / 2 + step.lag / 2) as i32).collect()
    }

    /// Lag of the results behind the youngest pair, in row pairs.
    pub fn delay(&self) -> i64 {
        (self.bottom + 1) / 2 + self.overlap / 2
    }

    /// All positions of a window that advances by `height`.
    pub fn rows(&self, height: i64) -> i64 {
        self.kept() + height
    }

    /// Positions that the first window of a signal loads; later ones load `height`.
    pub fn first_load(&self, height: i64) -> i64 {
        height + self.bottom
    }
}

/// First and last position, per phase.
pub type Positions = [(i64, i64); 2];

/// Positions that must be read for correct results; and, for each step, the number of positions before and after the
/// pair (0, 1) that it must update.
pub fn needed<S: Updates>(steps: &[S], boundary: Boundary, results: Positions) -> (Positions, Vec<(i64, i64)>) {
    let mut need = results;
    let mut reach = vec![(0, 0); steps.len()];
    for (step, reach) in steps.iter().zip(&mut reach).rev() {
        let wanted = need;
        let updates = step.updates(boundary);
        for Update { target, support, .. } in &updates {
            let p = target.parity() as usize;
            let (a, b) = wanted[p];
            *reach = (reach.0.max(-a), reach.1.max(b - 1));
            if let Some((lo, hi)) = support {
                let other = &mut need[1 - p];
                *other = (other.0.min(a + lo), other.1.max(b + hi));
            }
        }
        if updates.len() > 1 {
            // Pairs are updated whole.
            *reach = need.iter().fold(*reach, |r, (a, b)| (r.0.max(-a), r.1.max(b - 1)));
        }
    }
    (need, reach)
}

/// Halo of a tile of whole pairs: the surroundings on which its results depend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halo {
    /// Positions before the tile that are read.
    pub before: i64,
    /// Positions after the tile that are read.
    pub after: i64,
    /// For each step, the positions before and after the tile that it must update (≥ 0).
    pub steps: Vec<(i64, i64)>,
}

impl Halo {
    /// Sums the supports backwards, from the results to the reads.
    pub fn of<S: Updates>(steps: &[S], boundary: Boundary) -> Halo {
        // Around the pair (0, 1).
        let (need, reach) = needed(steps, boundary, [(0, 0), (1, 1)]);
        let before = need.iter().map(|n| -n.0).max().unwrap_or(0).max(0);
        let after = need.iter().map(|n| n.1 - 1).max().unwrap_or(0).max(0);
        Halo { before, after, steps: reach }
    }

    /// Pairs before the tile that are read.
    pub fn pairs_before(&self) -> i64 {
        (self.before + 1) / 2
    }

    /// Pairs after the tile that are read.
    pub fn pairs_after(&self) -> i64 {
        (self.after + 1) / 2
    }

    /// Pairs around the tile that are read.
    pub fn pairs(&self) -> i64 {
        self.pairs_before() + self.pairs_after()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lifting_dsl::{IntegerStep, Op, RoundingMode, Tap};

    /// A step with these taps; weights do not matter here.
    fn step(target: Phase, offsets: std::ops::RangeInclusive<i32>) -> Step {
        let taps = offsets.map(|offset| Tap { offset, weight: 1 }).collect();
        Step::Integer(IntegerStep { target, op: Op::Add, taps, rounding: 0, shift: 1, mode: RoundingMode::Floor })
    }

    fn predict_update(n: usize) -> Vec<Step> {
        (0..n).flat_map(|_| [step(Phase::Odd, 0..=1), step(Phase::Even, -1..=0)]).collect()
    }

    fn derive(steps: &[Step]) -> (i64, i64, i64) {
        let w = Window::derive(steps, Boundary::WholeSymmetric);
        (w.top, w.overlap, w.bottom)
    }

    /// van der Laan et al. 2011, section IV-F: Deslauriers–Dubuc (13,7).
    #[test]
    fn deslauriers_dubuc_13_7() {
        let steps = [step(Phase::Odd, -1..=2), step(Phase::Even, -2..=1)];
        assert_eq!(derive(&steps), (3, 2, 3));
        let w = Window::derive(&steps, Boundary::WholeSymmetric);
        assert_eq!(w.steps[1].lag, 2, "the second step starts two rows above the working area");
    }

    /// Kučis et al. 2014, section III-B, on van der Laan's method: CDF (9,7) with height 16 is a window of 20 rows; 17
    /// are loaded first, 4 stay.
    #[test]
    fn cdf_9_7() {
        let w = Window::derive(&predict_update(2), Boundary::WholeSymmetric);
        assert_eq!((w.top, w.overlap, w.bottom), (1, 2, 1));
        assert_eq!((w.rows(16), w.first_load(16), w.kept()), (20, 17, 4));
    }

    /// Kučis et al. 2014: CDF (9,7) without barriers, 64 rows: 71 in the window, 67 loaded first.
    #[test]
    fn barrier_free_window() {
        let halo = Halo::of(&predict_update(2), Boundary::WholeSymmetric);
        assert_eq!((halo.before + 64 + halo.after, 64 + halo.after), (71, 67));
    }

    /// Enfedaque et al. 2015: J lifting pairs need 2J samples a side.
    #[test]
    fn register_block_halo() {
        for j in 1..6 {
            let halo = Halo::of(&predict_update(j), Boundary::WholeSymmetric);
            assert_eq!(2 * halo.pairs_before().max(halo.pairs_after()), 2 * j as i64);
        }
    }

    #[test]
    fn asymmetric_supports_are_mirrored_only_where_the_border_rule_mirrors() {
        let steps = [step(Phase::Odd, 0..=3)];
        assert_eq!(effective_support(&steps[0], Boundary::Zero), Some((-1, 5)));
        assert_eq!(effective_support(&steps[0], Boundary::WholeSymmetric), Some((-5, 5)));
        let steps = [step(Phase::Odd, 2..=3)];
        assert_eq!(effective_support(&steps[0], Boundary::Edge), Some((-1, 5)));
    }

    /// Two stages on pairs shifted by one sample: each reaches one sample further, so every two lag one more pair.
    #[test]
    fn lattices() {
        let stages = |n: usize, last: Phase| -> Vec<PairStage> {
            let one = || lifting_dsl::Weight::Rational(num_traits::One::one());
            let rows = || [[one(), one()], [one(), one()]];
            let first = |i: usize| if (n - 1 - i).is_multiple_of(2) { last } else { last.other() };
            (0..n).map(|i| PairStage { first: first(i), rows: rows() }).collect()
        };
        let of = |stages: &[PairStage]| {
            let (w, h) = (Window::derive(stages, Boundary::Periodic), Halo::of(stages, Boundary::Periodic));
            let lags: Vec<i64> = w.steps.iter().map(|s| s.lag).collect();
            (lags, [w.top, w.overlap, w.bottom], [h.before, h.after])
        };
        assert_eq!(of(&stages(1, Phase::Even)), (vec![0], [0, 0, 0], [0, 0]));
        assert_eq!(of(&stages(2, Phase::Even)), (vec![0, 2], [0, 2, 0], [1, 1]));
        assert_eq!(of(&stages(5, Phase::Even)), (vec![0, 0, 2, 2, 4], [0, 4, 0], [4, 4]));
        assert_eq!(of(&stages(2, Phase::Odd)), (vec![0, 0], [0, 2, 0], [2, 2]));
        assert_eq!(of(&stages(3, Phase::Odd)), (vec![0, 2, 2], [0, 4, 0], [3, 3]));
    }

    #[test]
    fn no_steps_need_nothing() {
        assert_eq!(derive(&[]), (0, 0, 0));
        assert_eq!(Halo::of::<Step>(&[], Boundary::Edge), Halo { before: 0, after: 0, steps: vec![] });
    }
}
