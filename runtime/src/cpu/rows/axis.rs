//! One axis of a level: its steps, their lags and their supports.
//!
//! Samples are counted from the first one of the line; sample i is at an even position if i + `parity` is even. The
//! supports serve two uses. In a *delay line*, samples arrive in order, and a step may update sample t once sample t +
//! `lag` has arrived. In a *window*, the results s0..s1 are lifted in a copy of the samples that they depend on; a step
//! updates `spare` more samples on either side. A periodic line has samples before its first and after its last one.
//! All other border rules resolve each read that leaves the line.

use crate::sample::{Arithmetic, CompiledStep, GroupWeight, StepKind};
use lifting_dsl::{Boundary, RoundingMode, Weight};
use lifting_planner::Problem;

/// Upper bound on the samples that a step reads.
pub(super) const MAX_TAPS: usize = 24;

/// `target ∓= (Σ weight·(Σ samples) + rounding) >> shift`, with the samples of all groups in sequence.
#[derive(Clone, Debug)]
pub(crate) struct Lift<W: Arithmetic> {
    pub subtract: bool,
    /// Weight and number of samples.
    pub groups: Vec<(W::Acc, usize)>,
    /// Whether there is a single group, of weight 1.
    pub plain: bool,
    pub rounding: W::Acc,
    pub shift: u32,
    /// Rounding of the shift.
    pub mode: RoundingMode,
    /// The 16-bit form, if 16 bits are enough.
    pub narrow: Option<Narrow>,
}

/// Integer step on 16-bit samples whose arithmetic fits 16 bits.
///
/// A sample is 2^shift·h + l with 0 ≤ l < 2^shift, so (Σ w·x + r) >> shift is Σ w·h + ((Σ w·l + r) >> shift). The first
/// sum is needed modulo 2¹⁶ and may wrap, as long as the 32-bit accumulator would not. The second sum is small.
#[derive(Clone, Debug)]
pub(crate) struct Narrow {
    pub weights: Vec<i16>,
    pub rounding: i16,
}

/// Operation of a step on a sample.
#[derive(Clone, Debug)]
pub(super) enum Kind<W: Arithmetic> {
    Lift(Lift<W>),
    /// `x *= c`
    Scale(W::Acc),
    /// A lattice stage on a sample and the next one.
    Pair([[W::Acc; 2]; 2]),
}

/// A step, and its place in windows and delay lines.
#[derive(Clone, Debug)]
pub(super) struct Step<W: Arithmetic> {
    /// Parity of the updated positions; for a lattice stage, that of the first sample of its pairs.
    pub target: usize,
    pub kind: Kind<W>,
    /// Offsets of the samples read, relative to the updated one, in the order of the groups.
    pub taps: Vec<isize>,
    /// Lowest and highest tap, including 0.
    pub reach: (isize, isize),
    /// Sample t is updated once t + lag has arrived.
    pub lag: isize,
    /// Extra samples updated before and after the results.
    pub spare: (isize, isize),
}

/// One axis of a level, in one direction.
#[derive(Clone, Debug)]
pub(super) struct Axis<W: Arithmetic> {
    pub n: usize,
    /// Parity of the first sample's position.
    pub parity: usize,
    pub boundary: Boundary,
    /// Whether the first and last sample are doubled before the first step, and halved after the last.
    pub doubled_ends: bool,
    pub steps: Vec<Step<W>>,
    /// Factors of even and odd samples before the first step.
    pub before: [Option<W::Acc>; 2],
    /// Factors of even and odd samples after the last step.
    pub after: [Option<W::Acc>; 2],
    /// Samples before and after the results that these depend on.
    pub spare: (isize, isize),
    /// An even (odd) sample t is finished once t + lag has arrived.
    pub lag: [isize; 2],
    /// Samples kept behind the latest one.
    pub kept: usize,
}

impl<W: Arithmetic> Axis<W> {
    /// Returns `None` if a step reads more samples than the loops support.
    pub fn new(steps: &[CompiledStep<W>], problem: &Problem, n: usize, parity: usize) -> Option<Axis<W>> {
        let mut axis = Axis {
            n,
            parity,
            boundary: problem.boundary,
            doubled_ends: problem.doubled_ends && n > 1,
            steps: Vec::new(),
            before: [None; 2],
            after: [None; 2],
            spare: (0, 0),
            lag: [0; 2],
            kept: 0,
        };
        // A single sample is not lifted.
        if n < 2 {
            return Some(axis);
        }
        let mut rest: Vec<&CompiledStep<W>> = steps.iter().collect();
        axis.before = factors(&mut rest);
        rest.reverse();
        axis.after = factors(&mut rest);
        rest.reverse();
        for step in rest {
            axis.push(step)?;
        }
        for step in axis.steps.iter_mut().rev() {
            let (left, right) = axis.spare;
            let pair = matches!(step.kind, Kind::Pair(_)) as isize;
            step.spare = (left + pair, right);
            axis.spare = (step.spare.0 - step.reach.0, right + step.reach.1);
        }
        Some(axis)
    }

    fn push(&mut self, step: &CompiledStep<W>) -> Option<()> {
        let (kind, taps) = kind_of(&step.kind);
        if taps.len() > MAX_TAPS {
            return None;
        }
        let reach = match &kind {
            Kind::Scale(_) => (0, 0),
            Kind::Pair(_) => (0, 1),
            _ => {
                let (low, high) = (taps.iter().min().copied().unwrap_or(0), taps.iter().max().copied().unwrap_or(0));
                let (low, high) = self.boundary.reach((low as i64, high as i64));
                (low as isize, high as isize)
            }
        };
        // Its reads must be done, and so must earlier steps that read what it overwrites.
        let mut lag = reach.1.max(0);
        for before in &self.steps {
            let pair = matches!(before.kind, Kind::Pair(_)) || matches!(kind, Kind::Pair(_));
            lag = lag.max(if pair {
                before.lag + 1
            } else if before.target == step.target {
                before.lag
            } else {
                before.lag + reach.1.max(-before.reach.0).max(0)
            });
        }
        let pair = matches!(kind, Kind::Pair(_));
        for phase in 0..2 {
            if pair || phase == step.target {
                // The second sample of a pair is finished together with the first, one before it.
                self.lag[phase] = self.lag[phase].max(lag - (pair && phase != step.target) as isize);
            }
        }
        self.kept = self.kept.max((lag - reach.0.min(0)) as usize).max(lag as usize);
        self.steps.push(Step {
            target: step.target,
            kind,
            taps,
            reach: (reach.0.min(0), reach.1.max(0)),
            lag,
            spare: (0, 0),
        });
        Some(())
    }

    /// Factor of sample i before the first step.
    pub fn factor_before(&self, i: isize) -> Option<W::Acc> {
        self.with_end(self.before[self.phase(i)], i, &Weight::integer(2))
    }

    /// Factor of sample i after the last step.
    pub fn factor_after(&self, i: isize) -> Option<W::Acc> {
        self.with_end(self.after[self.phase(i)], i, &Weight::integer(2).recip())
    }

    /// Combines a factor with the end factor, at either end of the line.
    fn with_end(&self, factor: Option<W::Acc>, i: isize, end: &Weight) -> Option<W::Acc> {
        if !self.doubled_ends || i != 0 && i != self.n as isize - 1 {
            return factor;
        }
        let end = W::real(end);
        Some(factor.map_or(end, |factor| W::mul(factor, end)))
    }

    /// Parity of sample i's position.
    pub fn phase(&self, i: isize) -> usize {
        (i + self.parity as isize).rem_euclid(2) as usize
    }

    /// The first sample from i on at a position of that parity.
    pub fn align(&self, i: isize, phase: usize) -> isize {
        i + (self.phase(i) != phase) as isize
    }

    /// Index of sample i in its band. On a periodic line it may be negative: take it modulo the band's length.
    pub fn index(&self, i: isize) -> isize {
        match self.phase(i) {
            0 => (i + self.parity as isize).div_euclid(2) - self.parity as isize,
            _ => (i + self.parity as isize).div_euclid(2),
        }
    }

    /// Number of samples at even and at odd positions.
    pub fn bands(&self) -> [usize; 2] {
        let low = (self.parity + self.n).div_ceil(2) - self.parity;
        [low, self.n - low]
    }

    pub fn periodic(&self) -> bool {
        self.boundary == Boundary::Periodic
    }

    /// The range from..to, widened by samples on the left and right, but not beyond borders.
    pub fn widen(&self, (from, to): (isize, isize), (left, right): (isize, isize)) -> (isize, isize) {
        let (from, to) = (from - left, to + right);
        if self.periodic() { (from, to) } else { (from.max(0), to.min(self.n as isize)) }
    }

    /// The sample inside the line that extension reads for sample i.
    pub fn inside(&self, i: isize) -> Option<isize> {
        if self.periodic() { Some(i.rem_euclid(self.n as isize)) } else { self.resolve(i) }
    }

    /// Index that a read of sample i resolves to; `None` reads zero.
    pub fn resolve(&self, i: isize) -> Option<isize> {
        // Rows of a periodic line are held before the first and after the last.
        if self.periodic() {
            return Some(i);
        }
        self.boundary.served(i as i64, self.n).map(|i| i as isize)
    }
}

/// Takes the scalings from the front of a list, at most one a phase. They are applied where samples are loaded (stored,
/// if the list is reversed).
fn factors<W: Arithmetic>(steps: &mut Vec<&CompiledStep<W>>) -> [Option<W::Acc>; 2] {
    let mut factors = [None; 2];
    while let Some(CompiledStep { target, kind: StepKind::Scale { factor }, .. }) = steps.first() {
        if factors[*target].is_some() {
            break;
        }
        factors[*target] = Some(*factor);
        steps.remove(0);
    }
    factors
}

/// Operation of a step, and the offsets of the samples that it reads.
pub(super) fn kind_of<W: Arithmetic>(kind: &StepKind<W>) -> (Kind<W>, Vec<isize>) {
    match kind {
        StepKind::Scale { factor } => (Kind::Scale(*factor), Vec::new()),
        StepKind::Pair { rows } => (Kind::Pair(*rows), Vec::new()),
        StepKind::Integer { subtract, taps, rounding, shift, mode } => {
            let (lift, taps) = integer(*subtract, taps, *rounding, (*shift, *mode));
            (Kind::Lift(lift), taps)
        }
        StepKind::Real { subtract, groups } => {
            let weight = |w: &GroupWeight<W>| match *w {
                // A product with 1 or −1 is exact.
                GroupWeight::One => W::ONE,
                GroupWeight::MinusOne => W::neg(W::ONE),
                GroupWeight::Other(w) => w,
            };
            let lift = Lift {
                subtract: *subtract,
                groups: groups.iter().map(|g| (weight(&g.weight), g.offsets.len())).collect(),
                plain: matches!(&groups[..], [g] if matches!(g.weight, GroupWeight::One)),
                rounding: W::Acc::default(),
                shift: 0,
                mode: RoundingMode::Floor,
                narrow: None,
            };
            (Kind::Lift(lift), groups.iter().flat_map(|g| g.offsets.iter().copied()).collect())
        }
    }
}

/// Builds an integer step. Taps of equal weight are summed first: in integers that wrap, the order does not matter.
fn integer<W: Arithmetic>(
    subtract: bool,
    taps: &[(isize, W::Acc)],
    rounding: W::Acc,
    (shift, mode): (u32, RoundingMode),
) -> (Lift<W>, Vec<isize>) {
    let mut groups: Vec<(W::Acc, Vec<isize>)> = Vec::new();
    for &(d, weight) in taps {
        match groups.iter_mut().find(|(w, _)| *w == weight) {
            Some((_, taps)) => taps.push(d),
            None => groups.push((weight, vec![d])),
        }
    }
    // Small groups come first: loops exist for one sample, then two.
    groups.sort_by_key(|g| g.1.len());
    let lift = Lift {
        subtract,
        groups: groups.iter().map(|(w, taps)| (*w, taps.len())).collect(),
        plain: matches!(&groups[..], [(w, _)] if *w == W::ONE),
        rounding,
        shift,
        mode,
        narrow: narrow::<W>(&groups, rounding, shift).filter(|_| mode == RoundingMode::Floor),
    };
    (lift, groups.into_iter().flat_map(|g| g.1).collect())
}

fn narrow<W: Arithmetic>(groups: &[(W::Acc, Vec<isize>)], rounding: W::Acc, shift: u32) -> Option<Narrow> {
    use std::any::Any;
    if std::any::TypeId::of::<W>() != std::any::TypeId::of::<i16>() {
        return None;
    }
    let whole = |acc: &W::Acc| (acc as &dyn Any).downcast_ref::<i32>().copied();
    let rounding = whole(&rounding)?;
    let weights: Vec<i32> = groups.iter().map(|g| whole(&g.0)).collect::<Option<_>>()?;
    let total: i64 = weights.iter().zip(groups).map(|(w, g)| i64::from(*w).abs() * g.1.len() as i64).sum();
    let rest = i64::from(rounding).abs();
    let fits = shift <= 12 && (total << 15) + rest < 1 << 31 && (total * ((1 << shift) - 1) + rest) < 1 << 15;
    let weights = weights.into_iter().map(|w| i16::try_from(w).ok()).collect::<Option<_>>()?;
    fits.then_some(Narrow { weights, rounding: rounding as i16 })
}
