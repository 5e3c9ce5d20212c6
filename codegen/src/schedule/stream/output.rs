//! The finished pair leaves: four band rows (analysis) or two image rows (synthesis), as wide stores.

use super::Strip;
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Scalar, Space};
use crate::schedule::Direction;
use crate::schedule::level::{Across, BANDS_ALIGNED, DelayLine, Frame, Row, RowAlignment, SIGNAL_ALIGNED, Sink};
use lifting_dsl::Phase;

/// Stores the pair that is `delay` behind the front, if the chunk has it. `across` lifts its rows first where the horizontal axis comes last.
pub fn store(
    b: &mut Builder,
    strip: &Strip,
    line: &DelayLine,
    front: &Expr,
    first: LocalId,
    delay: i32,
    across: Option<&Across>,
) {
    let pair = b.let_("done", Scalar::I32, front.clone() - delay);
    b.if_(Expr::from(pair).ge(first.into()), |b| {
        for phase in [Phase::Even, Phase::Odd] {
            let name = format!("{}_row", phase.name());
            let array = b.array(&name, strip.frame.lanes.held.arith.work, strip.shape.columns);
            line.result(b, phase, delay, array);
            let row = Row::single(array, 0);
            if let Some(across) = across {
                across.lift(b, &row);
            }
            let exists = strip.frame.lanes.held.exists(1, phase, pair);
            b.if_(exists.and(strip.frame.useful.into()), |b| match strip.frame.options.direction {
                Direction::Forward => {
                    for columns in [Phase::Even, Phase::Odd] {
                        store_band(b, &strip.frame, &row, phase, columns, pair);
                    }
                }
                Direction::Inverse => store_signal(b, &strip.frame, &row, phase, pair),
            });
        }
    });
}

pub(in crate::schedule) fn store_band(
    b: &mut Builder,
    strip: &Frame,
    row: &Row,
    phase: Phase,
    columns: Phase,
    pair: LocalId,
) {
    let band = 2 * phase.parity() as usize + columns.parity() as usize;
    let y = strip.lanes.held.in_band(1, phase, pair.into());
    let x = strip.lanes.held.in_band(0, columns, Expr::from(strip.lanes.x) >> 1);
    let index = strip.index(1 + band.min(1), y, x);
    store_band_at(b, strip, row, (phase, columns), index, false);
}

/// Stores a lane's samples of a band's row from an index on; all of them are `inside` the image, or that is found out.
pub(in crate::schedule) fn store_band_at(
    b: &mut Builder,
    strip: &Frame,
    row: &Row,
    (phase, columns): (Phase, Phase),
    index: Expr,
    inside: bool,
) {
    put(b, strip, &Sink { row: phase, columns: Some(columns) }, row, index, inside);
}

pub(in crate::schedule) fn store_signal(b: &mut Builder, strip: &Frame, row: &Row, phase: Phase, pair: LocalId) {
    let y = (Expr::from(pair) << 1) + phase.parity() as i32 - strip.lanes.held.start(1);
    let x = Expr::from(strip.lanes.x) - strip.lanes.held.start(0);
    let index = strip.index(0, y, x);
    store_signal_at(b, strip, row, index, false);
}

/// Stores a lane's samples of a row of the image from an index on; as [`store_band_at`].
pub(in crate::schedule) fn store_signal_at(b: &mut Builder, strip: &Frame, row: &Row, index: Expr, inside: bool) {
    put(b, strip, &Sink { row: Phase::Even, columns: None }, row, index, inside);
}

/// Stores the lane's samples of a row: at once where rows are aligned and all are inside, else one by one.
fn put(b: &mut Builder, strip: &Frame, sink: &Sink, row: &Row, index: Expr, inside: bool) {
    let (pointer, cache) = sink.memory(strip);
    let values: Vec<Expr> =
        sink.values(strip, row).into_iter().map(|value| strip.lanes.held.arith.narrow(value)).collect();
    // Of whole vectors, a lane that stores has all its columns.
    if inside || strip.takes == RowAlignment::Whole {
        return b.store_wide(Space::Global(pointer), index, values, cache);
    }
    let aligned = if sink.columns.is_some() { BANDS_ALIGNED } else { SIGNAL_ALIGNED };
    let index = b.let_("out", Scalar::I64, index);
    let ends_inside = (Expr::from(strip.lanes.x) + strip.lanes.held.columns()).le(strip.lanes.held.end(0));
    let starts_inside = || Expr::from(strip.lanes.x).ge(strip.lanes.held.start(0));
    // A lane that stores begins at position 0 at the earliest.
    let whole =
        if strip.is_aligned() { ends_inside } else { strip.params.has(aligned).and(starts_inside().and(ends_inside)) };
    b.if_else(
        whole,
        |b| b.store_wide(Space::Global(pointer), index, values.clone(), cache),
        |b| {
            for (e, (column, value)) in sink.columns(strip).into_iter().zip(&values).enumerate() {
                let x = || Expr::from(strip.lanes.x) + column;
                b.if_(x().ge(strip.lanes.held.start(0)).and(x().lt(strip.lanes.held.end(0))), |b| {
                    let at = Expr::from(index) + Expr::i64(e as i64);
                    b.store_wide(Space::Global(pointer), at, vec![value.clone()], cache);
                });
            }
        },
    );
}
