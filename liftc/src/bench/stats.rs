//! Statistics of repeated times.

use crate::failure::Outcome;
use serde::Serialize;

/// The distribution of repeated times, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Second quartile.
    pub median: f64,
    /// First quartile.
    pub q1: f64,
    /// Third quartile.
    pub q3: f64,
    /// Shortest time.
    pub min: f64,
    /// Longest time.
    pub max: f64,
    /// Number of times.
    pub runs: usize,
}

/// Times several functions in turns, so that drift affects all alike. `calls` are the calls per time.
pub fn in_turns<C: Copy>(
    repeats: usize,
    calls: &[C],
    mut time: impl FnMut(usize, C) -> Outcome<f64>,
) -> Outcome<Vec<Spread>> {
    let mut times = vec![Vec::new(); calls.len()];
    for _ in 0..repeats {
        for (which, (&calls, times)) in calls.iter().zip(&mut times).enumerate() {
            times.push(time(which, calls)?);
        }
    }
    Ok(times.into_iter().map(Spread::of).collect())
}

impl Spread {
    /// Condenses times in microseconds.
    ///
    /// # Panics
    /// Without a time.
    pub fn of(mut times: Vec<f64>) -> Spread {
        times.sort_by(f64::total_cmp);
        let last = times.len() - 1;
        let quantile = |q: f64| {
            let at = q * last as f64;
            let (low, high) = (times[at.floor() as usize], times[at.ceil() as usize]);
            low + (high - low) * at.fract()
        };
        Spread {
            median: quantile(0.5),
            q1: quantile(0.25),
            q3: quantile(0.75),
            min: times[0],
            max: times[last],
            runs: times.len(),
        }
    }

    /// Half the interquartile range, in per cent of the median.
    pub fn percent(&self) -> f64 {
        if self.median > 0.0 { 50.0 * (self.q3 - self.q1) / self.median } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_times() {
        let s = Spread::of(vec![5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!((s.min, s.q1, s.median, s.q3, s.max, s.runs), (1.0, 2.0, 3.0, 4.0, 5.0, 5));
        assert!((s.percent() - 100.0 / 3.0).abs() < 1e-9);
        let s = Spread::of(vec![2.0, 4.0]);
        assert_eq!((s.median, s.q1), (3.0, 2.5));
        assert_eq!(Spread::of(vec![7.0]).percent(), 0.0);
    }
}
