//! Stores of a lane's samples: of a row of a band, or of the image.

use super::{BANDS_ALIGNED, Frame, Row, RowAlignment, SIGNAL_ALIGNED, Sink};
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Scalar, Space};
use lifting_dsl::Phase;

/// Stores a lane's samples of the `pair`-th row of a band.
pub fn store_band(b: &mut Builder, frame: &Frame, row: &Row, phase: Phase, columns: Phase, pair: LocalId) {
    let band = 2 * phase.parity() as usize + columns.parity() as usize;
    let y = frame.lanes.held.in_band(1, phase, pair.into());
    let x = frame.lanes.held.in_band(0, columns, frame.lanes.x >> 1);
    let index = frame.index(1 + band.min(1), y, x);
    store_band_at(b, frame, row, (phase, columns), index, false);
}

/// Stores a lane's samples of a band's row from an index on. If not `inside`, it tests which samples are in the image.
pub fn store_band_at(
    b: &mut Builder,
    frame: &Frame,
    row: &Row,
    (phase, columns): (Phase, Phase),
    index: Expr,
    inside: bool,
) {
    put(b, frame, &Sink { row: phase, columns: Some(columns) }, row, index, inside);
}

/// Stores a lane's samples of a row of the image, in the `pair`-th pair.
pub fn store_signal(b: &mut Builder, frame: &Frame, row: &Row, phase: Phase, pair: LocalId) {
    let y = (pair << 1) + phase.parity() as i32 - frame.lanes.held.start(1);
    let x = frame.lanes.x - frame.lanes.held.start(0);
    let index = frame.index(0, y, x);
    store_signal_at(b, frame, row, index, false);
}

/// Stores a lane's samples of a row of the image from an index on, as [`store_band_at`].
pub fn store_signal_at(b: &mut Builder, frame: &Frame, row: &Row, index: Expr, inside: bool) {
    put(b, frame, &Sink { row: Phase::Even, columns: None }, row, index, inside);
}

/// Stores the lane's samples of a row: at once if rows are aligned and all samples are inside, else one by one.
fn put(b: &mut Builder, frame: &Frame, sink: &Sink, row: &Row, index: Expr, inside: bool) {
    let (pointer, cache) = sink.memory(frame);
    let values: Vec<Expr> =
        sink.values(frame, row).into_iter().map(|value| frame.lanes.held.arith.narrow(value)).collect();
    // With whole vectors, a lane that stores has all its columns.
    if inside || frame.takes == RowAlignment::Whole {
        return b.store_wide(Space::Global(pointer), index, values, cache);
    }
    b.part("store_row", "Stores a lane's samples of a row: at once where possible, else those in the image.", |b| {
        let aligned = if sink.columns.is_some() { BANDS_ALIGNED } else { SIGNAL_ALIGNED };
        let index = b.let_("out", Scalar::I64, index);
        let ends_inside = (frame.lanes.x + frame.lanes.held.columns()).le(frame.lanes.held.end(0));
        let starts_inside = frame.lanes.x.ge(frame.lanes.held.start(0));
        // A lane that stores begins at position 0 or later.
        let whole = if frame.is_aligned() {
            ends_inside
        } else {
            frame.params.has(aligned).and(starts_inside.and(ends_inside))
        };
        b.if_else(
            whole,
            |b| b.store_wide(Space::Global(pointer), index, values.clone(), cache),
            |b| {
                for (e, (column, value)) in sink.columns(frame).into_iter().zip(&values).enumerate() {
                    let x = frame.lanes.x + column;
                    b.if_(x.ge(frame.lanes.held.start(0)).and(x.lt(frame.lanes.held.end(0))), |b| {
                        let at = index + Expr::i64(e as i64);
                        b.store_wide(Space::Global(pointer), at, vec![*value], cache);
                    });
                }
            },
        );
    });
}
