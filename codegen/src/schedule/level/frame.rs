//! A warp's columns, with the arrays of its loads and stores.

use super::{BANDS_ALIGNED, Held, Lanes, Params, RowAlignment, SIGNAL_ALIGNED};
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Scalar};
use crate::schedule::Options;
use lifting_dsl::Direction;

/// A warp's columns, with the arrays of its loads and stores.
pub(in crate::schedule) struct Frame<'a> {
    pub(in crate::schedule) options: Options,
    pub(in crate::schedule) lanes: Lanes,
    /// Known alignment of rows.
    pub(in crate::schedule) takes: RowAlignment,
    pub(in crate::schedule) params: &'a Params,
    /// Whether this lane stores.
    pub(in crate::schedule) useful: LocalId,
    /// Offset of the current image: signal, ll, the other bands.
    pub(in crate::schedule) offsets: [LocalId; 3],
    /// Row pitches in samples, of type i32: signal, ll, the other bands.
    pub(in crate::schedule) pitches: [LocalId; 3],
}

impl<'a> Frame<'a> {
    /// The columns of a warp in a block's tile. Neighbouring blocks have neighbouring tiles of `useful` lanes, after
    /// `left` halo lanes.
    pub(in crate::schedule) fn of_tile(
        b: &mut Builder,
        (options, params): (Options, &'a Params),
        held: Held,
        takes: RowAlignment,
        (left, useful): (i64, i64),
        image: Expr,
    ) -> Frame<'a> {
        let (lanes, useful) = Lanes::of_tile(b, held, (left, useful), 0);
        let offsets = params.offsets(b, image);
        let pitches = params.narrow_pitches(b);
        Frame { options, lanes, takes, params, useful, offsets, pitches }
    }

    /// Whether rows are known to be aligned, with the first column at an even position.
    pub(in crate::schedule) fn is_aligned(&self) -> bool {
        self.takes.is_aligned()
    }

    /// Whether the warp's rows are loaded as vectors: they are aligned, and it reaches beyond no border.
    pub(in crate::schedule) fn vectors(&self, b: &mut Builder) -> LocalId {
        let aligned = match self.options.direction {
            Direction::Forward => SIGNAL_ALIGNED,
            Direction::Inverse => BANDS_ALIGNED,
        };
        let inside = !self.lanes.at_border;
        let vectors = if self.is_aligned() { inside } else { self.params.has(aligned).and(inside) };
        b.let_("vectors", Scalar::Bool, vectors)
    }

    /// Index of the sample in a row and a column of an array (0: signal, 1: ll, 2: the other bands). Terms that are
    /// constant from row to row come first.
    pub(in crate::schedule) fn index(&self, array: usize, row: Expr, column: Expr) -> Expr {
        let lane = self.offsets[array] + column.cast(Scalar::I64);
        lane + row.cast(Scalar::I64) * self.pitches[array].cast(Scalar::I64)
    }

    /// Index of the sample `rows` rows below the one of index `start`.
    pub(in crate::schedule) fn below(&self, array: usize, start: LocalId, rows: i32) -> Expr {
        if rows == 0 {
            return start.into();
        }
        start + Expr::i64(rows.into()) * self.pitches[array].cast(Scalar::I64)
    }
}
