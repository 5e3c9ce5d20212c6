//! Columns of an image as threads and warps hold them.

use super::{Border, PHASES};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, LocalId, Scalar};
use crate::schedule::Arithmetic;
use crate::schedule::border::{centres, within_phase};
use lifting_dsl::{Boundary, Phase};

/// The contents of registers: a run of columns a thread, their arithmetic, and their image.
#[derive(Clone)]
pub struct Held {
    /// Types and arithmetic of the samples.
    pub arith: Arithmetic,
    /// Border rule.
    pub boundary: Boundary,
    /// Treatment of the border while steps run.
    pub border: Border,
    /// Columns a thread; a power of two if lanes have neighbouring columns.
    pub columns: u32,
    /// First position along each axis (0: x, 1: y, 2: z).
    pub start: [Expr; 3],
    /// Samples along each axis.
    pub length: [Expr; 3],
    /// [`Options::doubled_ends`](crate::schedule::Options::doubled_ends), along every lifted axis.
    pub doubled_ends: bool,
}

impl Held {
    /// This with the first column and row at even positions.
    pub(in crate::schedule) fn at_even_positions(self) -> Held {
        let [_, _, z] = self.start;
        Held { start: [0.into(), 0.into(), z], ..self }
    }

    /// This for columns inside the image, none of them an end.
    pub(in crate::schedule) fn inside(self) -> Held {
        Held { doubled_ends: false, ..self }
    }

    pub(in crate::schedule) fn columns(&self) -> i32 {
        self.columns as i32
    }

    /// Whether the first or the last sample along an axis is at one of the positions `from..to`.
    pub(in crate::schedule) fn has_ends(&self, axis: usize, from: Expr, to: Expr) -> Expr {
        from.le(self.start(axis)).or(to.ge(self.end(axis)))
    }

    /// Samples from one end along an axis to the next, where reflection extends the axis. The reflections of the first
    /// and last sample are at multiples of this distance from the first.
    pub(in crate::schedule) fn between_ends(&self, b: &mut Builder, axis: usize) -> LocalId {
        b.let_("between_ends", Scalar::I32, (self.length(axis) - 1).max(1))
    }

    /// Samples from the last end before a position to it, 0 at an end.
    pub(in crate::schedule) fn after_end(
        &self,
        b: &mut Builder,
        axis: usize,
        position: Expr,
        between: LocalId,
    ) -> LocalId {
        let from_start = position - self.start(axis);
        b.let_("after_end", Scalar::I32, Expr::wrap(from_start, between))
    }

    /// [`Held::after_end`] of the next position.
    pub(in crate::schedule) fn next_after_end(after: LocalId, between: LocalId) -> Expr {
        let next = after + 1;
        next.lt(between).select(next, 0)
    }

    /// `factor` at an end, else 1.
    pub(in crate::schedule) fn end_factor(&self, is_end: Expr, factor: f64) -> Expr {
        is_end.select(self.arith.number(factor), self.arith.number(1.0))
    }

    /// First position of the signal along an axis (0: x, 1: y, 2: z).
    pub fn start(&self, axis: usize) -> Expr {
        self.start[axis]
    }

    /// Samples along an axis.
    pub fn length(&self, axis: usize) -> Expr {
        self.length[axis]
    }

    /// One past the last position along an axis.
    pub fn end(&self, axis: usize) -> Expr {
        self.start(axis) + self.length(axis)
    }

    /// Smallest index of a phase along an axis.
    pub fn first_index(&self, axis: usize, phase: Phase) -> Expr {
        match phase {
            Phase::Even => self.start(axis),
            Phase::Odd => 0.into(),
        }
    }

    /// Largest index of a phase along an axis.
    pub fn last_index(&self, axis: usize, phase: Phase) -> Expr {
        (self.end(axis) - 1 - phase.parity() as i32) >> 1
    }

    /// Whether the sample of index k of a phase along an axis is inside the signal.
    pub fn exists(&self, axis: usize, phase: Phase, k: impl Into<Expr>) -> Expr {
        let k = k.into();
        k.ge(self.first_index(axis, phase)).and(k.le(self.last_index(axis, phase)))
    }

    /// Index inside the signal of the sample loaded for index k of a phase.
    pub fn serve(&self, axis: usize, phase: Phase, k: Expr) -> Expr {
        let length = self.length(axis);
        let p = phase.parity() as i32;
        let offset = |k: Expr| (k << 1) + p - self.start(axis);
        match self.boundary {
            Boundary::WholeSymmetric => (Expr::mirror(offset(k), length) + self.start(axis)) >> 1,
            Boundary::Periodic => (Expr::wrap(offset(k), length) + self.start(axis)) >> 1,
            rule => within_phase(rule, k, self.first_index(axis, phase), self.last_index(axis, phase)),
        }
    }

    /// The positions about which samples of a phase are reflected along an axis, before and after the signal.
    pub(in crate::schedule) fn centres(&self, axis: usize, phase: Phase) -> [Expr; 2] {
        let indices = [self.first_index(axis, phase), self.last_index(axis, phase)];
        centres(self.boundary, phase, indices, [self.start(axis), self.end(axis)])
    }

    /// Mirror image, inside the signal, of a phase's position along an axis.
    pub(in crate::schedule) fn mirrored(&self, axis: usize, phase: Phase, position: Expr) -> Expr {
        if self.boundary == Boundary::WholeSymmetric {
            let start = self.start(axis);
            return Expr::mirror(position - start, self.length(axis)) + start;
        }
        let p = phase.parity() as i32;
        (self.serve(axis, phase, (position - p) >> 1) << 1) + p
    }

    /// Index, counted from the signal's first sample, of the sample loaded for a position.
    pub fn serve_position(&self, axis: usize, position: Expr) -> Expr {
        let from_start = |position: Expr| position - self.start(axis);
        let length = self.length(axis);
        match self.boundary {
            Boundary::WholeSymmetric => Expr::mirror(from_start(position), length),
            Boundary::Periodic => Expr::wrap(from_start(position), length),
            _ => {
                let [even, odd] = PHASES
                    .map(|phase| from_start((self.serve(axis, phase, position >> 1) << 1) + phase.parity() as i32));
                position.and(1).eq_(0).select(even, odd)
            }
        }
    }

    /// Row loaded for a position under an extension, if one reflection or one period leads to the signal.
    pub(in crate::schedule) fn serve_near(&self, b: &mut Builder, position: Expr) -> LocalId {
        let row = b.let_("row", Scalar::I32, position - self.start(1));
        let (row, height) = (|| row, || self.length(1));
        if self.boundary == Boundary::Periodic {
            let below = row().lt(0).select(row() + height(), row());
            return b.let_("served", Scalar::I32, row().ge(height()).select(row() - height(), below));
        }
        let away = b.let_("away", Scalar::I32, row().max(-row()));
        b.let_("served", Scalar::I32, away.min((height() - 1) * 2 - away))
    }

    /// Index of a phase's sample k in that phase's band along an axis, counted from the first.
    pub(in crate::schedule) fn in_band(&self, axis: usize, phase: Phase, k: Expr) -> Expr {
        match phase {
            Phase::Even => k - self.start(axis),
            Phase::Odd => k,
        }
    }

    /// The row of a phase's band that holds a row of the image, counted from the first.
    pub(in crate::schedule) fn band_row(&self, phase: Phase, row: Expr) -> Expr {
        match phase {
            Phase::Even => (row - self.start(1)) >> 1,
            Phase::Odd => (row + self.start(1)) >> 1,
        }
    }

    /// The row, counted from the first, loaded for row k of a phase. It is computed for every row, so a cheap
    /// reflection is tried first.
    pub(in crate::schedule) fn serve_row(&self, b: &mut Builder, phase: Phase, k: Expr) -> Expr {
        let p = phase.parity() as i32;
        if self.border == Border::Untouched {
            return (k << 1) + p;
        }
        if !matches!(self.boundary, Boundary::WholeSymmetric | Boundary::Periodic) {
            return (self.serve(1, phase, k) << 1) + p - self.start(1);
        }
        let row = b.let_("row", Scalar::I32, (k << 1) + p - self.start(1));
        let (row, height) = (|| row, || self.length(1));
        if self.boundary == Boundary::Periodic {
            return Expr::wrap(row(), height());
        }
        let away = b.let_("away", Scalar::I32, row().max(-row()));
        let folded = b.let_("folded", Scalar::I32, away.min((height() - 1) * 2 - away));
        let again = Expr::mirror(row(), height());
        folded.ge(0).select(folded, again)
    }
}

/// The columns of a warp.
#[derive(Clone)]
pub(in crate::schedule) struct Lanes {
    pub(in crate::schedule) held: Held,
    /// First position of this warp's lanes; even.
    pub(in crate::schedule) base: LocalId,
    /// First position of this lane; even.
    pub(in crate::schedule) x: LocalId,
    /// Whether the warp's columns reach beyond the image (warp-uniform).
    pub(in crate::schedule) at_border: LocalId,
    /// Whether the lane's first column is the image's first, and whether its last is the last. Set if steps read beyond
    /// a border among the lane's own columns.
    pub(in crate::schedule) ends: Option<[LocalId; 2]>,
    /// Whether the warp has the image's first or last column (warp-uniform), and a bit mask of the lane's columns that
    /// are or reflect one. Set if ends are doubled ([`Held::doubled_ends`]).
    pub(in crate::schedule) doubled: Option<[LocalId; 2]>,
}

impl Lanes {
    /// Columns from `x` on, in a warp whose first columns are those from `base` on.
    pub(in crate::schedule) fn new(b: &mut Builder, held: Held, [base, x, at_border]: [LocalId; 3]) -> Lanes {
        let doubled = held.doubled_ends.then(|| {
            let to = base + b.warp() * held.columns();
            let has_ends = b.let_("has_ends", Scalar::Bool, held.has_ends(0, base.into(), to));
            let between = held.between_ends(b, 0);
            let mut after = held.after_end(b, 0, x.into(), between);
            let mut columns: Expr = 0.into();
            for c in 0..held.columns() {
                columns = columns + after.eq_(0).select(Expr::i32(1 << c), 0);
                after = b.let_("after_end", Scalar::I32, Held::next_after_end(after, between));
            }
            [has_ends, b.let_("end_columns", Scalar::I32, columns)]
        });
        Lanes { held, base, x, at_border, ends: None, doubled }
    }

    /// This for columns inside the image, none of them its first or last.
    pub(in crate::schedule) fn inside(&self) -> Lanes {
        Lanes { held: self.held.clone().inside(), doubled: None, ..self.clone() }
    }

    /// The lanes of a tile, and whether a lane has results. Neighbouring blocks have neighbouring tiles of `useful`
    /// lanes with results, after `left` halo lanes. A border is near within `before` columns of the first lane.
    pub(in crate::schedule) fn of_tile(
        b: &mut Builder,
        held: Held,
        (left, useful): (i64, i64),
        before: i32,
    ) -> (Lanes, LocalId) {
        let (c, left, useful) = (held.columns(), left as i32, useful as i32);
        let lane = Expr::from(Builtin::ThreadX);
        let base = b.let_("base", Scalar::I32, Builtin::BlockX * (useful * c) - left * c);
        let x = b.let_("x", Scalar::I32, base + lane * c);
        // A doubled end is at the border.
        let doubled = i32::from(held.doubled_ends);
        let starts = base.lt(held.start(0) + before.max(doubled));
        let ends = (base + (b.warp() * c + doubled)).gt(held.end(0));
        let at_border = b.let_("at_border", Scalar::Bool, starts.or(ends));
        let in_tile = lane.ge(left).and(lane.lt(left + useful));
        let useful = b.let_("useful", Scalar::Bool, in_tile.and(x.lt(held.end(0))));
        (Lanes::new(b, held, [base, x, at_border]), useful)
    }

    /// This for steps that read beyond a border among a lane's own columns. The image begins at position 0, and its
    /// lanes have all or none of their columns.
    pub(in crate::schedule) fn reflecting(&self, b: &mut Builder) -> Lanes {
        let first = self.x.eq_(0);
        let last = (self.x + self.held.columns()).eq_(self.held.length(0));
        let ends = [b.let_("is_first", Scalar::Bool, first), b.let_("is_last", Scalar::Bool, last)];
        Lanes { ends: Some(ends), ..self.clone() }
    }
}
