//! Border rules: the sample that serves a step's read beyond the line.

use crate::core::geometry::split;
use crate::core::scheme::{Boundary, Phase};

/// The position of a line on the integers: `n` ≥ 2 samples from position `parity`, which is 0 or 1.
///
/// A line depends only on the parity of its origin. The low band's first index is then `parity`, the high band's 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) n: usize,
    pub(crate) parity: i64,
    pub(crate) boundary: Boundary,
}

impl Line {
    /// First index of a phase, and one past its last.
    pub(crate) fn range(&self, phase: Phase) -> (i64, i64) {
        let s = split(self.n, self.parity);
        match phase {
            Phase::Even => (self.parity, self.parity + s.low as i64),
            Phase::Odd => (0, s.high as i64),
        }
    }

    /// The sample of `phase` that a read of index `k` yields; `None` is zero.
    pub(crate) fn read(&self, phase: Phase, k: i64) -> Option<i64> {
        let index = self.boundary.served(2 * k + phase.parity() - self.parity, self.n)?;
        Some((index + self.parity - phase.parity()) / 2)
    }
}

impl Boundary {
    /// Index of the sample that serves a read of sample `i`, on a line of `n` ≥ 2 samples; `None` reads zero. A
    /// periodic line has an even length.
    #[inline]
    pub fn served(self, i: i64, n: usize) -> Option<i64> {
        let n = n as i64;
        if (0..n).contains(&i) {
            return Some(i);
        }
        // Reflection about two samples, as often as needed.
        let mirrored = |first: i64, last: i64| {
            let folded = (i - first).rem_euclid(2 * (last - first));
            first + folded.min(2 * (last - first) - folded)
        };
        // The first and the last sample of the phase that is read.
        let ends = [i.rem_euclid(2), n - 1 - (n - 1 - i).rem_euclid(2)];
        match self {
            Boundary::WholeSymmetric => Some(mirrored(0, n - 1)),
            Boundary::HalfSymmetric => Some(mirrored(ends[0] - 1, ends[1] + 1)),
            Boundary::Periodic => Some(i.rem_euclid(n)),
            Boundary::Edge => Some(i.clamp(ends[0], ends[1])),
            Boundary::Zero => None,
        }
    }

    /// Distances from its target, in samples before and after, within which a step's reads are served. `reads` are the
    /// nearest and the farthest read, relative to the target. A periodic line is extended before it is lifted.
    pub fn reach(self, (low, high): (i64, i64)) -> (i64, i64) {
        match self {
            // Reflection never takes two samples further apart.
            Boundary::WholeSymmetric | Boundary::HalfSymmetric => {
                let reach = low.abs().max(high.abs());
                (-reach, reach)
            }
            // The end of a phase is at most one sample away on the side opposite to the read.
            Boundary::Edge => (low.min(-1), high.max(1)),
            Boundary::Periodic | Boundary::Zero => (low, high),
        }
    }

    /// Whether steps keep the extension of a line that is extended before they run: beyond the ends they compute the
    /// samples that the rule serves. `symmetric` says whether all steps are symmetric about their targets.
    pub fn is_kept(self, symmetric: bool) -> bool {
        match self {
            Boundary::Periodic => true,
            Boundary::WholeSymmetric => symmetric,
            Boundary::HalfSymmetric | Boundary::Edge | Boundary::Zero => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The border rules as the language reference defines them, found by walking.
    fn walk(n: i64, parity: i64, boundary: Boundary, position: i64) -> Option<i64> {
        let (first, last) = (parity, parity + n - 1);
        let mut q = position;
        match boundary {
            Boundary::WholeSymmetric => {
                while q < first || q > last {
                    q = if q < first { 2 * first - q } else { 2 * last - q };
                }
            }
            Boundary::Periodic => {
                while q < first || q > last {
                    q += if q < first { n } else { -n };
                }
            }
            Boundary::Edge => {
                while q < first || q > last {
                    q += if q < first { 2 } else { -2 };
                }
            }
            Boundary::HalfSymmetric => {
                let first = if (q - first) % 2 == 0 { first } else { first + 1 };
                let last = if (q - last) % 2 == 0 { last } else { last - 1 };
                while q < first || q > last {
                    q = if q < first { 2 * (first - 1) - q } else { 2 * (last + 1) - q };
                }
            }
            Boundary::Zero if q < first || q > last => return None,
            Boundary::Zero => {}
        }
        Some(q)
    }

    #[test]
    fn border_reads_equal_walking() {
        for boundary in Boundary::ALL {
            for n in (2..10).filter(|n| boundary != Boundary::Periodic || n % 2 == 0) {
                for parity in [0, 1] {
                    let line = Line { n: n as usize, parity, boundary };
                    for phase in [Phase::Even, Phase::Odd] {
                        for k in -30..30 {
                            let expected = walk(n, parity, boundary, 2 * k + phase.parity());
                            let found = line.read(phase, k).map(|k| 2 * k + phase.parity());
                            assert_eq!(found, expected, "{boundary} n {n} parity {parity} {phase:?} {k}");
                        }
                    }
                }
            }
        }
    }
}
