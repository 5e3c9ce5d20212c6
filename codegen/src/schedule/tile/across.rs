//! Lifting along rows: a warp has a pair of rows at a time.

use super::Tile;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, LocalId, Scalar, Space, Stmt};
use crate::schedule::level::{Across, PHASES, Row, Source, beside, store_band, store_signal, vectors_or_served};
use lifting_dsl::Direction;

/// Maximum row pairs a warp holds at once: independent instructions hide each other's latency.
const AT_ONCE: i32 = 2;

/// A pair of rows in registers.
struct Held {
    /// Index of the pair from the first in shared memory.
    pair: LocalId,
    rows: [Row; 2],
}

impl Tile<'_> {
    /// Lifts all rows, from global to shared memory or back.
    pub fn across(&self, b: &mut Builder) {
        let warps = self.plan.shape.warps as i32;
        let (pairs, _) = self.plan.held_pairs(self.across_first);
        let served = self.across_first.then(|| {
            let (vectors, served) = vectors_or_served(b, self.frame);
            (vectors, served.into_iter().map(Expr::from).collect())
        });
        let rounds: Vec<i32> = (0..pairs.div_euclid(warps)).collect();
        let warp = Expr::from(Builtin::ThreadY);
        for rounds in rounds.chunks(AT_ONCE as usize) {
            self.rows(b, rounds, served.as_ref());
        }
        if pairs % warps != 0 {
            let last = pairs / warps;
            b.if_(warp.lt(pairs % warps), |b| self.rows(b, &[last], served.as_ref()));
        }
    }

    /// Lifts the pairs that the warps of the block have in these rounds.
    fn rows(&self, b: &mut Builder, rounds: &[i32], served: Option<&(LocalId, Vec<Expr>)>) {
        let frame = self.frame;
        let (warps, columns) = (self.plan.shape.warps as i32, self.plan.shape.columns);
        let (_, before) = self.plan.held_pairs(self.across_first);
        let held: Vec<Held> = rounds
            .iter()
            .map(|round| {
                let pair = b.let_("pair", Scalar::I32, Builtin::ThreadY + round * warps);
                let rows = PHASES.map(|phase| {
                    let array = b.array(&format!("{}_row", phase.name()), frame.lanes.held.arith.work, columns);
                    Row::single(array, 0)
                });
                let held = Held { pair, rows };
                match served {
                    Some(served) => self.load(b, &held, served),
                    None => {
                        for (phase, row) in PHASES.into_iter().zip(&held.rows) {
                            self.cells.take(b, self.cells.row(held.pair, phase), row);
                        }
                    }
                }
                held
            })
            .collect();
        let across = Across { lanes: &frame.lanes, axis: &self.plan.axis };
        held.iter().flat_map(|held| &held.rows).for_each(|row| across.lift(b, row));
        for held in &held {
            let pair = b.let_("done", Scalar::I32, self.first + held.pair - before);
            for (phase, row) in PHASES.into_iter().zip(&held.rows) {
                if self.across_first {
                    self.cells.put(b, self.cells.row(held.pair, phase), row);
                    continue;
                }
                let exists = frame.lanes.held.exists(1, phase, pair);
                let useful = frame.useful;
                match frame.options.direction {
                    Direction::Forward => b.if_(exists.and(useful), |b| {
                        for columns in PHASES {
                            store_band(b, frame, row, phase, columns, pair);
                        }
                    }),
                    Direction::Inverse if frame.is_aligned() => {
                        b.if_(exists.and(useful), |b| store_signal(b, frame, row, phase, pair));
                    }
                    Direction::Inverse => b.if_(exists, |b| {
                        let y = (pair << 1) + phase.parity() as i32 - frame.lanes.held.start(1);
                        let out = frame.index(0, y, frame.lanes.base - frame.lanes.held.start(0));
                        b.part("spread_row", "Stores a row, neighbouring samples by neighbouring lanes.", |b| {
                            let cells = self.cells.row(held.pair, phase);
                            self.cells.spread(b, frame, (cells, row), out, self.plan.results());
                        });
                    }),
                }
            }
        }
    }

    /// Loads a pair of rows from global memory.
    fn load(&self, b: &mut Builder, held: &Held, (vectors, served): &(LocalId, Vec<Expr>)) {
        let (frame, cells) = (self.frame, &self.cells);
        let (_, before) = self.plan.held_pairs(self.across_first);
        let pair = self.first + held.pair - before;
        let pair = b.let_("front", Scalar::I32, pair);
        let sources = Source::all(frame);
        let starts: Vec<LocalId> = sources.iter().map(|source| source.served_start(b, frame, pair.into())).collect();
        let each = |b: &mut Builder, load: &dyn Fn(&mut Builder, &Source, &Row, LocalId)| {
            for (source, start) in sources.iter().zip(&starts) {
                load(b, source, &held.rows[source.row.parity() as usize], *start);
            }
        };
        b.if_else(
            *vectors,
            |b| each(b, &|b, source, row, start| source.vector(b, frame, row, start)),
            |b| match frame.options.direction {
                Direction::Inverse => {
                    each(b, &|b, source, row, start| source.gather(b, frame, row, start, served));
                }
                Direction::Forward => {
                    for (source, start) in sources.iter().zip(&starts) {
                        for (c, column) in served.iter().enumerate() {
                            let value = source.value(b, frame, *start, *column);
                            let at = cells.row(held.pair, source.row) + beside(b, c as i32);
                            b.store(Space::Shared(cells.shared), at, cells.to_cell(value));
                        }
                    }
                    b.push(Stmt::SyncWarp);
                    for (phase, row) in PHASES.into_iter().zip(&held.rows) {
                        cells.take_whole(b, cells.row(held.pair, phase), row);
                    }
                    b.push(Stmt::SyncWarp);
                }
            },
        );
    }
}
