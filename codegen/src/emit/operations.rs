//! Operation counts of a scheme.

use lifting_dsl::{RoundingMode, Step};
use std::fmt;

/// Operations per pair of samples (one even, one odd), as schedules write them: equal weights share a multiplication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Additions and subtractions.
    pub additions: usize,
    /// Multiplications.
    pub multiplications: usize,
    /// Shifts.
    pub shifts: usize,
}

impl Operations {
    /// Counts the operations of these steps.
    pub fn of(steps: &[Step]) -> Operations {
        let mut total = Operations::default();
        for step in steps {
            match step {
                Step::Integer(s) => {
                    let mut magnitudes: Vec<u32> = s.taps.iter().map(|t| t.weight.unsigned_abs()).collect();
                    magnitudes.sort_unstable();
                    magnitudes.dedup();
                    total.additions += s.taps.len() + usize::from(s.rounding != 0);
                    total.multiplications += magnitudes.iter().filter(|m| **m != 1).count();
                    total.shifts += usize::from(s.shift != 0);
                    // Corrections: the sign or the quotient's last bit, and the half.
                    total.additions += match s.mode {
                        RoundingMode::Floor => 0,
                        RoundingMode::Truncate => 1,
                        RoundingMode::HalfEven | RoundingMode::HalfAway => 2,
                    };
                    total.shifts += usize::from(s.mode != RoundingMode::Floor);
                }
                Step::Real(s) => {
                    total.additions += s.groups.iter().map(|g| g.offsets.len()).sum::<usize>();
                    let unit = |w: &lifting_dsl::Weight| w.is_one() || w.is_minus_one();
                    total.multiplications += s.groups.iter().filter(|g| !unit(&g.weight)).count();
                }
                Step::Scale(_) => total.multiplications += 1,
            }
        }
        total
    }
}

impl fmt::Display for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        write!(f, "{}, {}", count(self.additions, "addition"), count(self.multiplications, "multiplication"))?;
        if self.shifts > 0 { write!(f, ", {}", count(self.shifts, "shift")) } else { Ok(()) }
    }
}
