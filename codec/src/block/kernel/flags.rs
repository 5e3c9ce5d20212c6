//! Flags of a row: 16 bits per lane.
//!
//! | bits | meaning |
//! |---|---|
//! | 0–3 | significance of the column to the left, the lane's two, and the one to the right |
//! | 4–7 | negative signs of the same columns |
//! | 8–9 | the lane's columns significant before this plane |
//! | 10–11 | those that became significant in the plane before |
//! | 12–13 | those visited by propagation |

use super::Scene;
use lifting_codegen::ir::*;

/// First bit of negative signs; significance begins at 0.
pub const NEGATIVE: i32 = 4;
/// Significant before this plane.
pub const REFINED: i32 = 8;
/// Became significant in the plane before.
pub const FRESH: i32 = 10;
/// Visited by propagation.
pub const CODED: i32 = 12;

/// Bit of a lane's own column.
pub fn own(side: i32) -> i32 {
    1 + side
}

/// Bit `at` of the flags.
pub fn bit(flags: Expr, at: i32) -> Expr {
    (flags >> at).and(1)
}

/// Whether a bit is set.
pub fn is(flags: Expr, at: i32) -> Expr {
    bit(flags, at).ne_(0)
}

/// Bits of the rows above and below, packed for [`neighbours`].
pub fn beside(above: Expr, below: Expr) -> Expr {
    above.and(0xf).or(below.and(0xf) << 4)
}

/// φ of eq. 3.1: number of significant neighbours of a column, by the packed rows above and below ([`beside`]) and the
/// flags of its own row.
pub fn neighbours(beside: Expr, at: Expr, side: i32) -> Expr {
    let around = beside.and(0x77 << side).or(at.and(5 << side) << 8);
    around.count_ones()
}

/// Neighbourhood of a column in 8 bits: significance of the neighbours to the left, above, to the right and below, then
/// their negative signs. The arguments are the flags of the rows above, at and below.
pub fn surrounding([above, at, below]: [Expr; 3], side: i32) -> Expr {
    let of = |flags: Expr, bits: i32| flags.and(bits << side);
    let upper = of(at, 0x55).or(of(above, 0x22));
    match side {
        0 => upper.or(of(below, 0x22) << 2),
        _ => (upper >> 1).or(of(below, 0x22) << 1),
    }
}

/// 1 or −1 for a significant column, else 0 (χ of eq. 3.2).
pub fn sign(flags: Expr, column: i32) -> Expr {
    bit(flags, column) - bit(flags, NEGATIVE + column) * 2
}

/// Significance bits to add after a step, from a ballot of its findings on one side: the lane's own column and its
/// neighbours'.
pub fn found(scene: &Scene, ballot: Expr, side: i32) -> Expr {
    let one = |bits: Expr| bits.and(Expr::int(1, Scalar::U32)).cast(Scalar::I32);
    let mine = one(ballot >> scene.site.lane) << own(side);
    // A right column is the next lane's left neighbour; a left column is the previous lane's right neighbour.
    match side {
        0 => mine.or(one((ballot >> scene.site.lane) >> 1) << 3),
        _ => mine.or(one((ballot << 1) >> scene.site.lane)),
    }
}

/// Flags of a row at the end of the plane.
pub fn finished(flags: Expr) -> Expr {
    let significant = (flags >> own(0)).and(3);
    let refined = (flags >> REFINED).and(3);
    let fresh = significant.and(Expr::binary(BinOp::Xor, refined, 3.into()));
    flags.and(0xff).or(significant << REFINED).or(fresh << FRESH)
}
