//! Block stores: all rows at once inside the image, existing rows only at its borders.

use super::block::Tile;
use crate::ir::build::Builder;
use crate::ir::{Expr, Scalar, Space};
use crate::schedule::level::{
    PHASES, RowAlignment, Runs, Sink, store_band, store_band_at, store_signal, store_signal_at,
};
use lifting_dsl::{Direction, Phase};

impl Tile<'_> {
    pub fn store(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let first = slab.front + slab.first();
        let ends = (first + (slab.pairs - 1)).le(frame.lanes.held.last_index(1, Phase::Odd));
        let inside = match self.plan.shape.is_even() {
            true => ends,
            false => first.ge(frame.lanes.held.first_index(1, Phase::Even)).and(ends),
        };
        if self.plan.gives > 0 || frame.takes == RowAlignment::Any {
            let inside = inside.and(!frame.lanes.at_border);
            return b.if_else(inside, |b| self.store_shifted(b), |b| self.store_owned(b));
        }
        let inside = if frame.takes == RowAlignment::Whole { inside } else { inside.and(!frame.lanes.at_border) };
        b.if_(frame.useful, |b| {
            b.if_else(inside, |b| self.store_all(b), |b| self.store_rows(b));
        });
    }

    /// Stores all rows of a block inside the image. All lanes first shift their samples, then store whole vectors as
    /// memory has them.
    fn store_shifted(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let sinks = Sink::all(frame);
        let runs = self.runs(b, &sinks, slab.front + slab.first());
        let row = |sink: &Sink, k: Expr| slab.row(sink.row, k + slab.first());
        for (sink, runs) in sinks.iter().zip(&runs) {
            let all = |b: &mut Builder| {
                b.part("shift_rows", "Moves samples to the vectors that memory has, for all rows of a band.", |b| {
                    b.unrolled("row", 0, slab.pairs, 1, |b, k| {
                        let shift = runs.shift(b, frame, sink.below(k));
                        sink.shift(b, frame, &row(sink, k), shift);
                    });
                });
            };
            match self.is_shifted(sink) {
                Some(is_shifted) => b.if_(is_shifted, all),
                None => all(b),
            }
        }
        b.if_(frame.useful, |b| {
            b.unrolled("row", 0, slab.pairs, 1, |b, k| {
                for (sink, runs) in sinks.iter().zip(&runs) {
                    sink.store_vector(b, frame, &row(sink, k), runs, sink.below(k));
                }
            });
        });
    }

    /// Stores, one by one, the existing samples of existing rows that no neighbouring block stores.
    fn store_owned(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let lanes = |n: i64| n as i32 * frame.lanes.held.columns();
        b.comment("at a border");
        b.unrolled("row", slab.first(), slab.first() + slab.pairs, 1, |b, k| {
            let pair = b.let_("done", Scalar::I32, slab.front + k);
            for sink in Sink::all(frame) {
                let columns = sink.columns(frame);
                let exists = frame.lanes.held.exists(1, sink.row, pair);
                let values = sink.values(frame, &slab.row(sink.row, k));
                let (pointer, cache) = sink.memory(frame);
                let store = |b: &mut Builder| {
                    let row = sink.row_of(frame, pair.into());
                    let runs = Runs::from(b, frame, &sink, row);
                    let shift = Expr::from(runs.first_shift());
                    let index = b.let_("out", Scalar::I64, Expr::from(runs.first_vector()) + shift.cast(Scalar::I64));
                    // In columns: an array has all of them or half.
                    let earlier = shift * (frame.lanes.held.columns() / columns.len() as i32);
                    let first = frame.lanes.base + lanes(self.plan.left) - earlier;
                    let first = b.let_("first", Scalar::I32, first);
                    for (e, (c, value)) in columns.into_iter().zip(values).enumerate() {
                        // A band counts a block's own samples in pairs of columns.
                        let unit = if sink.columns.is_some() { c & !1 } else { c };
                        let own = frame.lanes.x + unit - first;
                        let x = frame.lanes.x + c;
                        let own = own.ge(0).and(own.lt(lanes(self.plan.useful)));
                        b.if_(own.and(x.ge(frame.lanes.held.start(0)).and(x.lt(frame.lanes.held.end(0)))), |b| {
                            let at = index + Expr::i64(e as i64);
                            b.store_wide(Space::Global(pointer), at, vec![frame.lanes.held.arith.narrow(value)], cache);
                        });
                    }
                };
                b.if_(exists, |b| {
                    b.part(
                        "store_own",
                        "Stores the samples of a row that exist and that no other block stores.",
                        store,
                    );
                });
            }
        });
    }

    /// Stores all rows. They all exist and positions begin at 0.
    fn store_all(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        let first = b.let_("done", Scalar::I32, slab.front + slab.first());
        let rows = (0..slab.pairs).map(|k| (k, slab.first() + k));
        match frame.options.direction {
            Direction::Forward => {
                let starts = [1, 2].map(|array| {
                    let index = frame.index(array, first.into(), frame.lanes.x >> 1);
                    b.let_("out", Scalar::I64, index)
                });
                for (below, k) in rows {
                    for (phase, columns) in PHASES.into_iter().flat_map(|phase| PHASES.map(|columns| (phase, columns)))
                    {
                        let array = if (phase, columns) == (Phase::Even, Phase::Even) { 1 } else { 2 };
                        let index = frame.below(array, starts[array - 1], below);
                        store_band_at(b, frame, &slab.row(phase, k.into()), (phase, columns), index, true);
                    }
                }
            }
            Direction::Inverse => {
                let index = frame.index(0, first << 1, frame.lanes.x.into());
                let start = b.let_("out", Scalar::I64, index);
                for (below, k) in rows {
                    for phase in PHASES {
                        let index = frame.below(0, start, 2 * below + phase.parity() as i32);
                        store_signal_at(b, frame, &slab.row(phase, k.into()), index, true);
                    }
                }
            }
        }
    }

    /// Stores the rows that exist.
    fn store_rows(&self, b: &mut Builder) {
        let (frame, slab) = (self.frame, &self.slab);
        b.unrolled("row", slab.first(), slab.first() + slab.pairs, 1, |b, k| {
            let pair = b.let_("done", Scalar::I32, slab.front + k);
            for phase in PHASES {
                let ends = pair.le(frame.lanes.held.last_index(1, phase));
                let starts = pair.ge(frame.lanes.held.first_index(1, phase));
                let inside = if self.plan.shape.is_even() { ends } else { starts.and(ends) };
                let wanted = inside.and(frame.useful);
                let row = slab.row(phase, k);
                b.if_(wanted, |b| match frame.options.direction {
                    Direction::Forward => {
                        for columns in PHASES {
                            store_band(b, frame, &row, phase, columns, pair);
                        }
                    }
                    Direction::Inverse => store_signal(b, frame, &row, phase, pair),
                });
            }
        });
    }
}
