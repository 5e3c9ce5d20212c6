//! Range analysis: follows [`lifting_dsl::analysis::range`] through the axes and levels of a plan to see if any step
//! wraps.

use crate::problem::Problem;
use lifting_dsl::analysis::range::{Interval, Pass};
use lifting_dsl::sample::SampleType;
use std::fmt;

/// Whether the samples' stated range keeps every intermediate value within the sample type.
///
/// Integer transforms are lossless either way: the inverse undoes wrapping. But wrapped coefficients differ from those
/// of exact arithmetic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Nothing wraps, for any input in the range: coefficients are those of exact arithmetic.
    Exact {
        /// Bounds on all coefficients and intermediates, as tight as intervals allow.
        reach: (i128, i128),
    },
    /// Some value of the range may make a step wrap.
    MayWrap {
        /// First level at which the proof fails; 1 is the finest.
        level: u32,
        /// The axis.
        axis: usize,
        /// The interval that does not fit.
        reach: (i128, i128),
    },
    /// Real wavelets round; they do not wrap.
    Real,
}

impl fmt::Display for Exactness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exactness::Exact { reach: (lo, hi) } => write!(f, "exact: values stay in {lo}..={hi}"),
            Exactness::MayWrap { level, axis, reach: (lo, hi) } => {
                write!(f, "may wrap at level {level}, axis {axis}: values up to {lo}..={hi}")
            }
            Exactness::Real => f.write_str("real arithmetic: rounds, never wraps"),
        }
    }
}

/// Follows samples in `low..=high` through all passes of the problem.
pub fn exactness(problem: &Problem, sample: SampleType, low: i64, high: i64) -> Exactness {
    let Some((held, summed)) = Interval::of_type(sample).zip(Interval::of_accumulator(sample)) else {
        return Exactness::Real;
    };
    let mut input = Interval::new(low, high);
    let mut reach = input.clone();
    for level in 0..problem.geometry.depth() {
        // Intervals of the bands so far, first the band that is low along every axis.
        let mut bands = vec![input.shifted(problem.gain_shift)];
        for axis in problem.geometry.axes_at(level) {
            // A line of one sample is not lifted: it stays, or is doubled at an odd origin.
            let lone = problem.geometry.level_shape(level)[axis] == 1;
            let mut next = Vec::new();
            for band in bands {
                let may_wrap = |reach: &Interval| Exactness::MayWrap { level: level + 1, axis, reach: ends(reach) };
                let (halves, samples) = if lone {
                    let odd = band.shifted(u32::from(problem.double_lone_odd));
                    let samples = band.hull(&odd);
                    ([band, odd], samples)
                } else {
                    let Ok(pass) = Pass::of(problem.scheme.steps(), &band, problem.boundary) else {
                        return Exactness::Real;
                    };
                    if !summed.contains(&pass.accumulator) {
                        return may_wrap(&pass.accumulator);
                    }
                    (pass.bands, pass.samples)
                };
                if !held.contains(&samples) {
                    return may_wrap(&samples);
                }
                reach = reach.hull(&samples);
                next.extend(halves);
            }
            // Even (low) before odd for each: the first band stays low along all axes.
            bands = next;
        }
        input = bands.swap_remove(0);
    }
    Exactness::Exact { reach: ends(&reach) }
}

/// The ends of an interval, saturated to 128 bits.
fn ends(interval: &Interval) -> (i128, i128) {
    let low = i128::try_from(&interval.low).unwrap_or(i128::MIN);
    (low, i128::try_from(&interval.high).unwrap_or(i128::MAX))
}
