//! What is known of a row, in 16 bits of each lane: four bits of significance, of the column to the left, the lane's
//! two and the one to the right; the same of negative signs; and two bits each, of the lane's two columns, of what was
//! significant before this plane, of what became so in the plane before, and of what propagation has visited.

use super::Scene;
use lifting_codegen::ir::*;

/// Where the bits of negative signs begin; those of significance begin at 0.
pub const NEGATIVE: i32 = 4;
/// Significant before this plane.
pub const REFINED: i32 = 8;
/// Became significant in the plane before.
pub const FRESH: i32 = 10;
/// Visited by propagation.
pub const CODED: i32 = 12;

/// The bit of a lane's own column.
pub fn own(side: i32) -> i32 {
    1 + side
}

/// A bit.
pub fn bit(flags: &Expr, at: i32) -> Expr {
    (flags.clone() >> at).and(1.into())
}

/// Whether a bit is set.
pub fn is(flags: &Expr, at: i32) -> Expr {
    bit(flags, at).ne_(0.into())
}

/// Of the rows above and below, what [`neighbours`] asks for.
pub fn beside(above: &Expr, below: &Expr) -> Expr {
    above.clone().and(0xf.into()).or(below.clone().and(0xf.into()) << 4)
}

/// φ of eq. 3.1: significant neighbours of a column, by the rows above and below ([`beside`]) and the flags of its own.
pub fn neighbours(beside: &Expr, at: &Expr, side: i32) -> Expr {
    let around = beside.clone().and((0x77 << side).into()).or(at.clone().and((5 << side).into()) << 8);
    around.count_ones()
}

/// What is around a column, in 8 bits: significance of the ones to the left, above, to the right and below, and the
/// same of negative signs; by the flags of the rows above, at and below.
pub fn surrounding([above, at, below]: [&Expr; 3], side: i32) -> Expr {
    let of = |flags: &Expr, bits: i32| flags.clone().and((bits << side).into());
    let upper = of(at, 0x55).or(of(above, 0x22));
    match side {
        0 => upper.or(of(below, 0x22) << 2),
        _ => (upper >> 1).or(of(below, 0x22) << 1),
    }
}

/// 1 or −1 for a significant column, else 0 (χ of eq. 3.2).
pub fn sign(flags: &Expr, column: i32) -> Expr {
    bit(flags, column) - bit(flags, NEGATIVE + column) * 2
}

/// Bits to add where a step has found something in columns of a side, by a ballot: the lane's own and those of its
/// neighbours, of significance.
pub fn found(scene: &Scene, ballot: Expr, side: i32) -> Expr {
    let lane = || scene.site.lane.clone();
    let one = |bits: Expr| bits.and(Expr::int(1, Scalar::U32)).cast(Scalar::I32);
    let mine = one(ballot.clone() >> lane()) << own(side);
    // A right column is the one to the left of the next lane, and a left one that to the right of the lane before.
    match side {
        0 => mine.or(one((ballot >> lane()) >> 1) << 3),
        _ => mine.or(one((ballot << 1) >> lane())),
    }
}

/// The flags of a row when the plane is done.
pub fn finished(flags: &Expr) -> Expr {
    let significant = (flags.clone() >> own(0)).and(3.into());
    let refined = (flags.clone() >> REFINED).and(3.into());
    let fresh = significant.clone().and(Expr::binary(BinOp::Xor, refined, 3.into()));
    flags.clone().and(0xff.into()).or(significant << REFINED).or(fresh << FRESH)
}
