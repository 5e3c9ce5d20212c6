//! Lifting along columns: a thread has one column and a few row pairs of results.

use super::Tile;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, LocalId, Scalar, Space};
use crate::schedule::level::{Column, Held, PHASES, Slab, Source, served_index};
use lifting_dsl::{Direction, Phase};

impl Tile<'_> {
    /// Lifts all columns, from shared to global memory or back.
    pub fn down(&self, b: &mut Builder) {
        let (plan, frame) = (self.plan, self.frame);
        let (pairs, groups) = (plan.shape.pairs as i32, frame.lanes.held.columns());
        let parts = groups * (plan.shape.rows as i32 / 2 / pairs);
        let held = plan.held(frame.params, 1);
        let warps = plan.shape.warps as i32;
        let warp = Expr::from(Builtin::ThreadY);
        match parts {
            _ if parts == warps => self.part(b, &held, warp),
            _ if parts < warps => b.if_(warp.lt(parts), |b| self.part(b, &held, warp)),
            _ => b.for_("part", warp, parts, warps, |b, part| self.part(b, &held, part)),
        }
    }

    /// Lifts a part of the columns: 32 of them, in as many rows as a thread holds at once.
    fn part(&self, b: &mut Builder, held: &Held, part: Expr) {
        let (plan, frame) = (self.plan, self.frame);
        let (pairs, groups) = (plan.shape.pairs as i32, frame.lanes.held.columns());
        let column = Column::of(b, part, groups, pairs);
        let first = self.first + column.above;
        let slab = Slab::declare(b, "column", held, (&plan.axis, &plan.halo), (first, pairs));
        if self.across_first {
            self.cells.take_column(b, &slab, &column);
            slab.lift(b);
            self.store_column(b, &slab, &column);
        } else {
            self.load_column(b, &slab, &column);
            slab.lift(b);
            self.cells.put_column(b, &slab, &column);
        }
    }

    /// Loads the thread's column from global memory.
    fn load_column(&self, b: &mut Builder, slab: &Slab, column: &Column) {
        let frame = self.frame;
        self.cells.kinds(b, column, |b, kind| {
            let local = self.cells.local(column, kind);
            // In an image, the phase differs from lane to lane.
            let index = match kind {
                Some(phase) => {
                    let k = (frame.lanes.base >> 1) + local;
                    let index = b.let_("index", Scalar::I32, frame.lanes.held.in_band(0, phase, k));
                    b.if_(frame.lanes.at_border, |b| {
                        let served = served_index(b, frame, phase, k);
                        b.set(index, served);
                    });
                    index
                }
                None => {
                    let x = frame.lanes.base + local;
                    let index = b.let_("index", Scalar::I32, x - frame.lanes.held.start(0));
                    b.if_(frame.lanes.at_border, |b| {
                        b.set(index, frame.lanes.held.serve_position(0, x));
                    });
                    index
                }
            };
            let sources: Vec<Source> = Source::all(frame).into_iter().filter(|s| s.columns == kind).collect();
            let rows = |b: &mut Builder, served: bool| {
                b.unrolled("row", 0, slab.height(), 1, |b, k| {
                    for source in &sources {
                        let pair = slab.front + k;
                        let start = match served {
                            true => source.served_start(b, frame, pair),
                            false => source.row_start(b, frame, pair),
                        };
                        source.one(b, frame, slab.row(source.row, k).place(0), start, index.into());
                    }
                });
            };
            b.part("load_column", "Loads a thread's column, and the samples that its results depend on.", |b| {
                b.if_else(slab.at_edge, |b| rows(b, true), |b| rows(b, false));
            });
        });
    }

    /// Stores the thread's results.
    fn store_column(&self, b: &mut Builder, slab: &Slab, column: &Column) {
        let (frame, plan) = (self.frame, self.plan);
        self.cells.kinds(b, column, |b, kind| {
            let local = b.let_("local", Scalar::I32, self.cells.local(column, kind));
            // Positions count half the lane's columns, or all of them.
            let lane = match kind {
                Some(_) => i64::from(plan.shape.columns) / 2,
                None => plan.shape.columns.into(),
            };
            let [from, to] = [plan.left, plan.left + plan.useful].map(|lanes| (lanes * lane) as i32);
            let x = match kind {
                Some(_) => (frame.lanes.base >> 1) + local,
                None => frame.lanes.base + local,
            };
            let x = b.let_("column_x", Scalar::I32, x);
            let [start, stop] = match kind {
                Some(phase) => [frame.lanes.held.first_index(0, phase), frame.lanes.held.last_index(0, phase) + 1],
                None => [frame.lanes.held.start(0), frame.lanes.held.end(0)],
            };
            let inside = (local.ge(from)).and(local.lt(to));
            let exists = (x.ge(start)).and(x.lt(stop));
            b.if_(inside.and(exists), |b| {
                for phase in PHASES {
                    self.store_signal_ats(b, slab, (kind, phase), x);
                }
            });
        });
    }

    /// Stores one phase of rows of an existing column.
    fn store_signal_ats(&self, b: &mut Builder, slab: &Slab, (kind, phase): (Option<Phase>, Phase), x: LocalId) {
        let (frame, params, plan) = (self.frame, self.frame.params, self.plan);
        let done = b.let_("done", Scalar::I32, slab.front + slab.first());
        let (pointer, array, row, column, step) = match kind {
            Some(columns) => {
                let band = 2 * phase.parity() as usize + columns.parity() as usize;
                let row = frame.lanes.held.in_band(1, phase, done.into());
                (params.bands[band], 1 + band.min(1), row, frame.lanes.held.in_band(0, columns, x.into()), 1)
            }
            None => {
                let row = (done << 1) + phase.parity() as i32 - frame.lanes.held.start(1);
                (params.signal, 0, row, x - frame.lanes.held.start(0), 2)
            }
        };
        let out = b.let_("out", Scalar::I64, frame.index(array, row, column));
        // The next level reads the low band again; nobody reads the others soon.
        let cache = match (kind, phase) {
            (Some(Phase::Even), Phase::Even) | (None, _) => Cache::Default,
            _ => Cache::Streaming,
        };
        b.unrolled("row", 0, slab.pairs, 1, |b, k| {
            let pair = done + k;
            // The first result is row pair 0. Its even row is missing if the first row is at an odd position.
            let ends = pair.le(frame.lanes.held.last_index(1, phase));
            let starts = phase == Phase::Odd || plan.shape.aligned;
            b.if_(if starts { ends } else { ends.and(pair.ge(frame.lanes.held.first_index(1, phase))) }, |b| {
                let mut value = slab.row(phase, k + slab.first()).at(0);
                if let (Some(gain), Direction::Inverse) = (params.gain, frame.options.direction) {
                    value = frame.lanes.held.arith.shift_down(value, gain.into());
                }
                let below = k.cast(Scalar::I64) * frame.pitches[array].cast(Scalar::I64);
                let at = out + below * Expr::i64(step);
                b.store_wide(Space::Global(pointer), at, vec![frame.lanes.held.arith.narrow(value)], cache);
            });
        });
    }
}
