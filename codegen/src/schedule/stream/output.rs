//! Wide stores of a finished pair: four band rows (analysis) or two image rows (synthesis).

use super::Strip;
use crate::ir::build::Builder;
use crate::ir::{Expr, LocalId, Scalar};
use crate::schedule::level::{Across, DelayLine, Row, store_band, store_signal};
use lifting_dsl::{Direction, Phase};

/// Stores the pair `delay` behind the front, if it belongs to the chunk. `across` first lifts its rows if the
/// horizontal axis comes last.
pub fn store(
    b: &mut Builder,
    strip: &Strip,
    line: &DelayLine,
    front: Expr,
    first: LocalId,
    delay: i32,
    across: Option<&Across>,
) {
    let pair = b.let_("done", Scalar::I32, front - delay);
    b.if_(pair.ge(first), |b| {
        for phase in [Phase::Even, Phase::Odd] {
            let name = format!("{}_row", phase.name());
            let array = b.array(&name, strip.frame.lanes.held.arith.work, strip.shape.columns);
            line.result(b, (phase, pair.into()), delay, array);
            let row = Row::single(array, 0);
            if let Some(across) = across {
                across.lift(b, &row);
            }
            let exists = strip.frame.lanes.held.exists(1, phase, pair);
            b.if_(exists.and(strip.frame.useful), |b| match strip.frame.options.direction {
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
