//! The finished pair leaves: four band rows (analysis) or two image rows (synthesis), as wide stores.

use super::Strip;
use crate::ir::build::Builder;
use crate::ir::{Cache, Expr, LocalId, ParamId, Scalar, Space};
use crate::schedule::Direction;
use crate::schedule::level::{Across, BANDS_ALIGNED, DelayLine, Frame, Row, Rows, SIGNAL_ALIGNED};
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
            let array = b.array(&name, strip.arith.work, strip.shape.columns);
            line.result(b, phase, delay, array);
            let row = Row { array, first: 0.into() };
            if let Some(across) = across {
                across.lift(b, &row);
            }
            let exists = strip.exists(1, phase, pair);
            b.if_(exists.and(strip.useful.into()), |b| match strip.options.direction {
                Direction::Forward => {
                    for columns in [Phase::Even, Phase::Odd] {
                        store_band(b, strip, &row, phase, columns, pair);
                    }
                }
                Direction::Inverse => store_signal(b, strip, &row, phase, pair),
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
    let y = strip.in_band(1, phase, pair.into());
    let x = strip.in_band(0, columns, Expr::from(strip.x) >> 1);
    let index = strip.index(1 + band.min(1), y, x);
    store_band_at(b, strip, row, (phase, columns), index);
}

/// Stores a lane's samples of a band's row from an index on.
pub(in crate::schedule) fn store_band_at(
    b: &mut Builder,
    strip: &Frame,
    row: &Row,
    (phase, columns): (Phase, Phase),
    index: Expr,
) {
    let params = strip.params;
    let band = 2 * phase.parity() as usize + columns.parity() as usize;
    let q = columns.parity() as i32;
    let samples = (0..strip.columns() / 2).map(|e| (2 * e + q, strip.arith.narrow(row.at(2 * e + q)))).collect();
    // The low band is read again by the next level; nobody reads the others soon.
    let cache = if band == 0 { Cache::Default } else { Cache::Streaming };
    put(b, strip, (params.bands[band], index), BANDS_ALIGNED, samples, cache);
}

pub(in crate::schedule) fn store_signal(b: &mut Builder, strip: &Frame, row: &Row, phase: Phase, pair: LocalId) {
    let y = (Expr::from(pair) << 1) + phase.parity() as i32 - strip.start(1);
    let x = Expr::from(strip.x) - strip.start(0);
    let index = strip.index(0, y, x);
    store_signal_at(b, strip, row, index);
}

/// Stores a lane's samples of a row of the image from an index on.
pub(in crate::schedule) fn store_signal_at(b: &mut Builder, strip: &Frame, row: &Row, index: Expr) {
    let params = strip.params;
    let samples = (0..strip.columns())
        .map(|c| {
            let mut value = row.at(c);
            if let Some(gain) = params.gain {
                value = strip.arith.shift_down(value, gain.into());
            }
            (c, strip.arith.narrow(value))
        })
        .collect();
    put(b, strip, (params.signal, index), SIGNAL_ALIGNED, samples, Cache::Default);
}

/// Stores the lane's samples, each with its column: at once where rows are aligned and all are inside, else one by one.
fn put(
    b: &mut Builder,
    strip: &Frame,
    (pointer, index): (ParamId, Expr),
    aligned: i32,
    samples: Vec<(i32, Expr)>,
    cache: Cache,
) {
    if strip.takes == Rows::Whole {
        // A lane that stores has all its columns.
        let values = samples.into_iter().map(|(_, value)| value).collect();
        return b.store_wide(Space::Global(pointer), index, values, cache);
    }
    let index = b.let_("out", Scalar::I64, index);
    let ends_inside = (Expr::from(strip.x) + strip.columns()).le(strip.end(0));
    let starts_inside = || Expr::from(strip.x).ge(strip.start(0));
    // A lane that stores begins at position 0 at the earliest.
    let whole =
        if strip.is_aligned() { ends_inside } else { strip.params.has(aligned).and(starts_inside().and(ends_inside)) };
    let values = samples.iter().map(|(_, v)| v.clone()).collect();
    b.if_else(
        whole,
        |b| b.store_wide(Space::Global(pointer), index, values, cache),
        |b| {
            for (e, (column, value)) in samples.iter().enumerate() {
                let x = || Expr::from(strip.x) + *column;
                b.if_(x().ge(strip.start(0)).and(x().lt(strip.end(0))), |b| {
                    let at = Expr::from(index) + Expr::i64(e as i64);
                    b.store_wide(Space::Global(pointer), at, vec![value.clone()], cache);
                });
            }
        },
    );
}
