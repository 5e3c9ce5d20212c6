//! Synthesis of a volume: a warp's samples of the bands along z, then columns, then rows.

use super::Walk;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, LocalId, Scalar};
use crate::schedule::level::{Cells, DelayLine, PHASES, Row, Slab, store_signal_at};
use lifting_dsl::Phase;

impl Walk<'_> {
    /// Writes the whole synthesis walk.
    pub fn inverse(&self, b: &mut Builder) {
        let (frame, plan) = (&self.frame, self.plan);
        let held = plan.held(frame.params, 1);
        let ahead = self.ahead(b);
        let column = self.column(b);
        let out: Vec<Out> =
            self.rounds(plan.row_pairs()).map(|(first, warps)| self.out_of_rows(b, first, warps)).collect();
        let line = DelayLine::declare(b, &self.deep, &plan.axis, &plan.descent.window, 2);
        let columns = plan.shape.columns as i32;
        // Position of a row in the samples that a thread holds of a plane.
        let row_of = |round: i32, phase: Phase| (2 * round + phase.parity() as i32) * columns;
        let take = |b: &mut Builder, z: Phase| {
            let front = line.row(z, 0);
            for round in &ahead.rounds {
                self.with_pair(b, round.warps, |b| {
                    for (source, _, raw) in &round.sources[z.parity() as usize] {
                        let first = front.first + row_of(round.index, source.row);
                        self.see_whole(b, source, &Row::single(front.array, first), *raw);
                    }
                });
            }
        };
        self.walk(b, &ahead, |b, pair, next| {
            PHASES.into_iter().for_each(|z| take(b, z));
            line.scale_first(b, pair);
            line.lift(b, pair);
            let delay = plan.descent.delay as i32;
            let done = b.let_("done", Scalar::I32, pair - delay);
            PHASES.into_iter().for_each(|z| next(b, z));
            let put = |b: &mut Builder, z: Phase, cells: &Cells| {
                b.part("put_rows", "Puts the finished rows of a plane into shared memory.", |b| {
                    let result = b.array("result", frame.lanes.held.arith.work, self.deep.columns);
                    line.result(b, (z, done.into()), delay, result);
                    for round in &ahead.rounds {
                        self.with_pair(b, round.warps, |b| {
                            for phase in PHASES {
                                let row = Row::single(result, row_of(round.index, phase));
                                cells.put(b, cells.row(round.pair, phase), &row);
                            }
                        });
                    }
                });
            };
            let lift_columns = |b: &mut Builder, from: &Cells, to: &Cells| {
                let first = self.first_row + column.above;
                let pairs = plan.shape.pairs as i32;
                b.part("lift_column", "Lifts a thread's column of a plane.", |b| {
                    let slab = Slab::declare(b, "column", &held, (&plan.axis, &plan.halo), (first, pairs));
                    from.take_column(b, &slab, &column);
                    slab.lift(b);
                    to.put_column(b, &slab, &column);
                });
            };
            let leave = |b: &mut Builder, z: Phase, cells: &Cells| {
                b.if_(self.deep.exists(2, z, done), |b| {
                    for out in &out {
                        self.with_pair(b, out.warps, |b| {
                            b.part("leave_rows", "Lifts and stores a pair of rows.", |b| {
                                self.leave_rows(b, out, cells)
                            });
                        });
                    }
                });
            };
            b.if_(done.ge(self.first), |b| match &self.cells[..] {
                [one, two, three] => {
                    put(b, Phase::Even, one);
                    put(b, Phase::Odd, two);
                    b.barrier();
                    lift_columns(b, one, three);
                    b.barrier();
                    lift_columns(b, two, one);
                    leave(b, Phase::Even, three);
                    b.barrier();
                    leave(b, Phase::Odd, one);
                    b.comment("rotate the parts: the next pair of planes overwrites consumed ones");
                    let parts = [one, two, three].map(|cells| cells.base.expect("every part has a base"));
                    let first = b.let_("part", Scalar::I32, parts[0]);
                    for (part, next) in parts.into_iter().zip([parts[1], parts[2], first]) {
                        b.set(part, next);
                    }
                }
                cells => {
                    for z in PHASES {
                        put(b, z, &cells[0]);
                        b.barrier();
                        lift_columns(b, &cells[0], &cells[1]);
                        b.barrier();
                        leave(b, z, &cells[1]);
                    }
                }
            });
            line.shift(b);
        });
    }

    /// Computes the store positions of a warp's pair of rows of each plane.
    fn out_of_rows(&self, b: &mut Builder, first: i32, warps: i32) -> Out {
        let frame = &self.frame;
        let pair = b.let_("row_pair", Scalar::I32, Builtin::ThreadY + first);
        let done = b.let_("done_row", Scalar::I32, self.first_row + pair);
        let plane = ((self.first << 1) - self.deep.start(2)).max(0);
        let mut cursor = |phase: Phase, x: LocalId, stores: Expr| {
            let y = (done << 1) + phase.parity() as i32 - frame.lanes.held.start(1);
            let start = frame.index(0, y, x - frame.lanes.held.start(0));
            self.cursor(b, 0, stores, start, plane)
        };
        let exists = |phase: Phase| frame.lanes.held.exists(1, phase, done);
        let cursors = if frame.is_aligned() {
            PHASES.map(|phase| cursor(phase, frame.lanes.x, exists(phase).and(frame.useful))).into()
        } else {
            // A later check decides which samples of the row are stored.
            vec![cursor(Phase::Even, frame.lanes.base, exists(Phase::Odd).or(exists(Phase::Even)))]
        };
        Out { warps, pair, done, cursors }
    }

    /// Stores a pair of rows of a plane.
    fn leave_rows(&self, b: &mut Builder, out: &Out, cells: &Cells) {
        let (frame, plan) = (&self.frame, self.plan);
        let rows = PHASES.map(|phase| {
            let name = format!("{}_row", phase.name());
            let row = Row::single(b.array(&name, frame.lanes.held.arith.work, plan.shape.columns), 0);
            cells.take(b, cells.row(out.pair, phase), &row);
            row
        });
        self.lift_rows(b, &rows);
        if let [even, odd] = out.cursors[..] {
            for (cursor, row) in [even, odd].into_iter().zip(&rows) {
                b.if_(self.stores(cursor), |b| store_signal_at(b, frame, row, cursor.into(), false));
            }
        } else {
            b.if_(self.stores(out.cursors[0]), |b| {
                for (phase, row) in PHASES.into_iter().zip(&rows) {
                    b.if_(self.frame.lanes.held.exists(1, phase, out.done), |b| {
                        let below = self.count(frame.pitches[0]) * self.count(phase.parity() as i32);
                        let at = out.cursors[0] + below;
                        cells.spread(b, frame, (cells.row(out.pair, phase), row), at, plan.results());
                    });
                }
            });
        }
        out.cursors.iter().for_each(|&cursor| self.advance(b, 0, cursor));
    }
}

/// Store positions of a warp's pair of rows of each plane.
struct Out {
    /// Warps that have such a pair.
    warps: i32,
    /// Index of the pair from the first in shared memory.
    pair: LocalId,
    /// Index of the pair in the planes.
    done: LocalId,
    /// Positions in the next plane of the lane's first samples of both rows. For unaligned rows, only the warp's first
    /// of the even row, as registers are short there.
    cursors: Vec<LocalId>,
}
