//! Does any step wrap? Interval arithmetic over the steps of an integer wavelet, through axes and levels.

use crate::executor::Problem;
use lifting_dsl::sample::SampleType;
use lifting_dsl::{Boundary, Op, Step};
use std::fmt;

/// Whether the samples' stated range keeps every intermediate value within the sample type.
///
/// Integer transforms are lossless either way: wrapping is undone by the inverse. But coefficients that wrapped are not the
/// ones that exact arithmetic gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Nothing wraps, for any input in the range: coefficients are those of exact arithmetic.
    Exact {
        /// Lowest and highest value that any coefficient or intermediate can have, as far as intervals tell.
        reach: (i128, i128),
    },
    /// Some value of the range may make a step wrap.
    MayWrap {
        /// The level at which the proof fails first; 1 is the finest.
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

type Interval = (i128, i128);

/// Follows samples in `low..=high` through all passes of the problem.
pub(crate) fn exactness(problem: &Problem, sample: SampleType, low: i64, high: i64) -> Exactness {
    let bits = sample.bytes() as u32 * 8;
    let (sample_fits, accumulator_fits) = (fits(bits), fits(bits.max(32)));
    let zero = problem.boundary == Boundary::Zero;
    let mut input = (i128::from(low), i128::from(high));
    let mut reach = input;
    for level in 0..problem.geometry.depth() {
        input = (input.0 << problem.gain_shift, input.1 << problem.gain_shift);
        // Intervals of the bands so far, the one that is low along every axis first.
        let mut bands = vec![input];
        let axes = problem.geometry.axes_at(level);
        for &axis in &axes {
            let mut next = Vec::new();
            for band in bands {
                let mut phases = [band, band];
                let mut check = |value: Interval, fits: &dyn Fn(Interval) -> bool| {
                    reach = (reach.0.min(value.0), reach.1.max(value.1));
                    if fits(value) { Ok(value) } else { Err(value) }
                };
                let result = (|| {
                    check(band, &sample_fits)?;
                    for step in problem.scheme.steps() {
                        let Step::Integer(s) = step else { return Ok(()) };
                        let mut read = phases[s.target.other().parity() as usize];
                        if zero {
                            read = (read.0.min(0), read.1.max(0));
                        }
                        let mut sum = (i128::from(s.rounding), i128::from(s.rounding));
                        for tap in &s.taps {
                            let w = i128::from(tap.weight);
                            let (a, b) = (w * read.0, w * read.1);
                            sum = (sum.0 + a.min(b), sum.1 + a.max(b));
                        }
                        if !accumulator_fits(sum) {
                            return Err(sum);
                        }
                        let delta = (sum.0 >> s.shift, sum.1 >> s.shift);
                        let old = phases[s.target.parity() as usize];
                        let new = match s.op {
                            Op::Add => (old.0 + delta.0, old.1 + delta.1),
                            Op::Sub => (old.0 - delta.1, old.1 - delta.0),
                        };
                        phases[s.target.parity() as usize] = check(new, &sample_fits)?;
                    }
                    Ok(())
                })();
                if let Err(reach) = result {
                    return Exactness::MayWrap { level: level + 1, axis, reach };
                }
                // A line of one sample is not lifted: it stays, or is doubled at an odd origin.
                if problem.geometry.level_shape(level)[axis] == 1 {
                    let odd = if problem.double_lone_odd { (2 * band.0, 2 * band.1) } else { band };
                    phases = [band, odd];
                    if !sample_fits(odd) {
                        return Exactness::MayWrap { level: level + 1, axis, reach: odd };
                    }
                }
                next.extend(phases);
            }
            // Even (low) before odd for each: the first band stays the one that is low along all axes.
            bands = next;
        }
        input = bands[0];
    }
    if sample.domain() == lifting_dsl::Domain::Real { Exactness::Real } else { Exactness::Exact { reach } }
}

fn fits(bits: u32) -> impl Fn(Interval) -> bool {
    let limit = 1i128 << (bits - 1);
    move |(lo, hi)| lo >= -limit && hi < limit
}
