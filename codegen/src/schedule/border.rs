//! Border rules in kernels: the sample that serves a read beyond a signal.

use crate::ir::Expr;
use lifting_dsl::{Boundary, Phase};

/// Index that serves a read of index k under a rule that stays within the phase that is read. The phase has the indices
/// from `first` to `last`. Under `zero` it is the nearest index, whose value is not used.
pub(super) fn within_phase(boundary: Boundary, k: Expr, first: Expr, last: Expr) -> Expr {
    match boundary {
        Boundary::HalfSymmetric => {
            // Reflection about a sample, among odd numbers: index first + i is 2i + 1. C leaves left shifts of
            // negative numbers undefined.
            let odd = (k - first) * 2 + 1;
            let length = (last - first) * 2 + 3;
            (Expr::mirror(odd, length) >> 1) + first
        }
        _ => k.max(first).min(last),
    }
}

/// Positions about which samples of a phase are reflected, before and after the signal. Indices of the phase are from
/// `first` to `last`, positions from `start` to before `end`.
pub(super) fn centres(
    boundary: Boundary,
    phase: Phase,
    [first, last]: [Expr; 2],
    [start, end]: [Expr; 2],
) -> [Expr; 2] {
    let position = |index: Expr| (index << 1) + phase.parity() as i32;
    match boundary {
        Boundary::HalfSymmetric => [position(first) - 1, position(last) + 1],
        _ => [start, end - 1],
    }
}
