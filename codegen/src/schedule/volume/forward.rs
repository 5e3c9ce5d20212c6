//! Analysis of a volume: rows, columns, then each thread's samples along z.

use super::Walk;
use super::planes::{Ahead, Round};
use crate::ir::build::Builder;
use crate::ir::{Cache, Expr, LocalId, Place, Scalar, Space, Stmt};
use crate::schedule::level::{Column, DelayLine, PHASES, Row, Slab, beside};
use lifting_dsl::Phase;

impl Walk<'_> {
    /// Writes the whole analysis walk.
    pub fn forward(&self, b: &mut Builder) {
        let (frame, plan) = (&self.frame, self.plan);
        let held = plan.held(frame.params, 1);
        let pairs = plan.shape.pairs as i32;
        let ahead = self.ahead(b);
        let column = self.column(b);
        let first_row = b.let_("done_rows", Scalar::I32, self.first_row + column.above);
        let out = self.out_of_column(b, &column, first_row);
        let line = DelayLine::declare(b, &self.deep, &plan.axis, &plan.descent.window, 2);
        let lift = |b: &mut Builder, z: Phase| {
            let slab = Slab::declare(b, "column", &held, (&plan.axis, &plan.halo), (first_row.into(), pairs));
            self.cells[z.parity() as usize].take_column(b, &slab, &column);
            slab.lift(b);
            b.comment("the thread's samples of the plane join its delay line");
            let front = line.row(z, 0);
            b.unrolled("row", 0, pairs, 1, |b, k| {
                for phase in PHASES {
                    let value = slab.row(phase, k + slab.first()).at(0);
                    let at = front.first + k * 2 + phase.parity() as i32;
                    b.set(Place::Elem(front.array, at), value);
                }
            });
        };
        let take = |b: &mut Builder, z: Phase| {
            b.part("take_column", "Lifts a thread's column of a plane, which enters the window.", |b| lift(b, z));
        };
        self.walk(b, &ahead, |b, pair, next| {
            let rounds: Vec<Vec<Row>> = ahead.rounds.iter().map(|round| self.take_rows(b, &ahead, round)).collect();
            // Requests start once registers are free: lifting takes longer than memory.
            PHASES.into_iter().for_each(|z| next(b, z));
            for (round, rows) in ahead.rounds.iter().zip(&rounds) {
                self.with_pair(b, round.warps, |b| {
                    b.part("put_rows", "Lifts rows of both planes into shared memory.", |b| {
                        self.hand_over(b, round, rows)
                    });
                });
            }
            b.barrier();
            PHASES.into_iter().for_each(|z| take(b, z));
            b.barrier();
            line.scale_first(b, pair);
            line.lift(b, pair);
            let delay = plan.descent.delay as i32;
            let done = b.let_("done", Scalar::I32, pair - delay);
            b.if_(done.ge(self.first), |b| {
                for z in PHASES {
                    b.if_(self.deep.exists(2, z, done), |b| {
                        let result = b.array("result", frame.lanes.held.arith.work, 2 * plan.shape.pairs);
                        line.result(b, (z, done.into()), delay, result);
                        self.store(b, &column, &out, z, result);
                    });
                }
            });
            line.shift(b);
        });
    }

    /// Loads a pair of rows of both planes into registers: even and odd row of the even plane, then of the odd plane.
    fn take_rows(&self, b: &mut Builder, ahead: &Ahead, round: &Round) -> Vec<Row> {
        let (work, columns) = (self.frame.lanes.held.arith.work, self.plan.shape.columns);
        let row = |phase: &Phase| Row::single(b.array(&format!("{}_row", phase.name()), work, columns), 0);
        let rows: Vec<Row> = [PHASES, PHASES].as_flattened().iter().map(row).collect();
        self.with_pair(b, round.warps, |b| {
            for (z, rows) in PHASES.into_iter().zip(rows.chunks(2)) {
                self.see(b, ahead, round, z, rows);
            }
        });
        rows
    }

    /// Lifts a pair of rows and puts it into shared memory.
    fn hand_over(&self, b: &mut Builder, round: &Round, rows: &[Row]) {
        self.lift_rows(b, rows);
        for (cells, rows) in self.cells.iter().zip(rows.chunks(2)) {
            for (phase, row) in PHASES.into_iter().zip(rows) {
                cells.put(b, cells.row(round.pair, phase), row);
            }
        }
    }

    /// Copies a loaded pair of rows of a plane to registers.
    fn see(&self, b: &mut Builder, ahead: &Ahead, round: &Round, z: Phase, rows: &[Row]) {
        let (frame, cells) = (&self.frame, &self.cells[z.parity() as usize]);
        let sources = &round.sources[z.parity() as usize];
        let see = |b: &mut Builder| {
            sources.iter().zip(rows).for_each(|((source, _, raw), row)| self.see_whole(b, source, row, *raw));
        };
        let Some((vectors, _)) = &ahead.by_columns else { return see(b) };
        b.if_else(*vectors, see, |b| {
            b.comment("neighbouring columns were loaded by neighbouring lanes");
            for (source, _, raw) in sources {
                for c in 0..frame.lanes.held.columns() {
                    let at = cells.row(round.pair, source.row) + beside(b, c);
                    let value = cells.to_cell(source.seen(frame, *raw, c));
                    b.store(Space::Shared(cells.shared), at, value);
                }
            }
            b.push(Stmt::SyncWarp);
            for ((source, _, _), row) in sources.iter().zip(rows) {
                cells.take_whole(b, cells.row(round.pair, source.row), row);
            }
            b.push(Stmt::SyncWarp);
        });
    }

    /// Computes the store positions of a thread's samples of each plane.
    fn out_of_column(&self, b: &mut Builder, column: &Column, first_row: LocalId) -> Out {
        let (frame, plan, cells) = (&self.frame, self.plan, &self.cells[0]);
        let is_even = b.let_("is_even", Scalar::Bool, column.group.lt(cells.columns / 2));
        let of_kind = |value: &dyn Fn(Phase) -> Expr| is_even.select(value(Phase::Even), value(Phase::Odd));
        let local = b.let_("local", Scalar::I32, of_kind(&|kind| cells.local(column, Some(kind))));
        let x = b.let_("column_x", Scalar::I32, (frame.lanes.base >> 1) + local);
        let [from, to] = plan.results().map(|column| Expr::from(column / 2));
        let inside = local.ge(from).and(local.lt(to));
        let starts = x.ge(of_kind(&|kind| frame.lanes.held.first_index(0, kind)));
        let exists = starts.and(x.le(of_kind(&|kind| frame.lanes.held.last_index(0, kind))));
        let ends = (first_row + (plan.shape.pairs as i32 - 1)).le(frame.lanes.held.last_index(1, Phase::Odd));
        let starts = first_row.ge(frame.lanes.held.first_index(1, Phase::Even));
        let whole = b.let_("whole", Scalar::Bool, if frame.is_aligned() { ends } else { ends.and(starts) });
        let stores = b.let_("stores", Scalar::Bool, inside.and(exists));
        let in_band = b.let_("column", Scalar::I32, of_kind(&|kind| frame.lanes.held.in_band(0, kind, x.into())));
        let mut cursor = |array: usize, z: Phase| {
            // Position of odd rows; an even row may have one row less before it.
            let start = frame.index(array, first_row.into(), in_band.into());
            let plane = self.deep.in_band(2, z, self.first.max(self.deep.first_index(2, z)));
            (array, z, self.cursor(b, array, stores.into(), start, plane))
        };
        let cursors = [cursor(1, Phase::Even), cursor(2, Phase::Even), cursor(2, Phase::Odd)];
        Out { first_row, whole, cursors }
    }

    /// Stores a thread's results of a plane of bands.
    fn store(&self, b: &mut Builder, column: &Column, out: &Out, z: Phase, result: LocalId) {
        let (frame, pairs) = (&self.frame, self.plan.shape.pairs as i32);
        let cursors: Vec<(usize, LocalId)> =
            out.cursors.iter().filter(|cursor| cursor.1 == z).map(|&(array, _, cursor)| (array, cursor)).collect();
        b.if_(self.stores(cursors[0].1), |b| {
            let store = |b: &mut Builder, kind: Phase| {
                let outs = PHASES.map(|phase| {
                    let [x_band, y_band, z_band] = [kind, phase, z].map(|phase| phase.parity() as usize);
                    let band = 4 * z_band + 2 * y_band + x_band;
                    let array = 1 + band.min(1);
                    let cursor = cursors.iter().find(|cursor| cursor.0 == array).expect("every array has a cursor").1;
                    let at = match phase {
                        Phase::Even if !frame.is_aligned() => {
                            let missing = self.count(frame.lanes.held.start(1));
                            cursor - missing * self.count(frame.pitches[array])
                        }
                        _ => cursor.into(),
                    };
                    (phase, band, array, b.let_("at", self.counts(), at))
                });
                // The next level reads the low band again; nobody reads the others soon.
                let put = |b: &mut Builder, (phase, band, array, at): (Phase, usize, usize, LocalId), k: Expr| {
                    let cache = if band == 0 { Cache::Default } else { Cache::Streaming };
                    let value = result.at(k * 2 + phase.parity() as i32);
                    let below = self.count(k) * self.count(frame.pitches[array]);
                    let pointer = Space::Global(frame.params.bands[band]);
                    b.store_wide(pointer, at + below, vec![frame.lanes.held.arith.narrow(value)], cache);
                };
                b.if_else(
                    out.whole,
                    |b| {
                        for out in outs {
                            b.unrolled("row", 0, pairs, 1, |b, k| put(b, out, k));
                        }
                    },
                    |b| {
                        for to in outs {
                            b.unrolled("row", 0, pairs, 1, |b, k| {
                                let pair = out.first_row + k;
                                b.if_(frame.lanes.held.exists(1, to.0, pair), |b| put(b, to, k));
                            });
                        }
                    },
                );
            };
            self.cells[0].kinds(b, column, |b, kind| {
                let kind = kind.expect("even and odd columns are separate");
                b.part("store_column", "Stores a thread's column of two bands.", |b| store(b, kind));
            });
        });
        cursors.into_iter().for_each(|(array, cursor)| self.advance(b, array, cursor));
    }
}

/// Store positions of a thread's samples of each plane.
struct Out {
    /// The first row pair.
    first_row: LocalId,
    /// Whether all rows of the thread's column exist.
    whole: LocalId,
    /// Array, phase of planes, and the position of the column's first odd row in the next such plane.
    cursors: [(usize, Phase, LocalId); 3],
}
