//! Border rules: the sample that a step reads in place of one beyond the line.

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
        let (first, end) = self.range(phase);
        if (first..end).contains(&k) {
            return Some(k);
        }
        match self.boundary {
            Boundary::Zero => None,
            Boundary::Edge => Some(k.clamp(first, end - 1)),
            Boundary::HalfSymmetric => {
                let (n, there) = (end - first, (k - first).rem_euclid(2 * (end - first)));
                Some(there.min(2 * n - 1 - there) + first)
            }
            // An even length has equally many evens and odds.
            Boundary::Periodic => Some((k - first).rem_euclid(end - first) + first),
            Boundary::WholeSymmetric => {
                // Positions parity … parity + n − 1, there and back again, have a period of 2(n − 1).
                let last = self.n as i64 - 1;
                let there = (2 * k + phase.parity() - self.parity).rem_euclid(2 * last);
                let back = there.min(2 * last - there);
                Some((back + self.parity - phase.parity()) / 2)
            }
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
