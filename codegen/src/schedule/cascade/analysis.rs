//! Analysis walk: a step takes four rows of the image, and leaves a row pair of the bands of each level.

use super::strip::{Strip, Strips, descend};
use super::{VECTOR, swapped};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, LocalId, ParamId, Place, Scalar, Space, Stmt};
use crate::schedule::level::{Across, DelayLine, Order, PHASES, Row, walk_down};
use lifting_dsl::{Boundary, Phase};

/// A walk of analysis.
struct Analysis<'a> {
    strip: Strip<'a>,
    chunk: Chunk,
    /// The vectors that the lane copies: first columns, and indices of the first samples in the rows of a step.
    copied: Vec<(LocalId, LocalId)>,
}

/// Chunk and walk: the range `first..stop` of stored row pairs of the second level, and the range `from..to` of steps.
#[derive(Clone, Copy)]
struct Chunk {
    first: LocalId,
    stop: LocalId,
    from: LocalId,
    to: LocalId,
}

/// Writes the walks of a kernel. Returns the number of row pairs of the second level.
pub fn walks(b: &mut Builder, strips: &Strips, order: Order) -> Expr {
    let Strips { plan, params, .. } = *strips;
    let pairs = (((params.height + 1) >> 1) + 1) >> 1;
    let [first, stop] = strips.chunk(b, pairs);
    let from = b.let_("from_step", Scalar::I32, first - plan.above() as i32);
    // Loaded rows.
    let ahead = 2 * plan.odd() as i32;
    // A doubled row is at an edge.
    let doubled = i32::from(plan.options.doubled_ends);
    let starts = ((from << 2) + ahead).lt(doubled);
    let to = stop + plan.delay(false) as i32;
    let ends = ((to << 2) + (ahead + doubled)).gt(params.height);
    let at_edge = b.let_("at_edge", Scalar::Bool, strips.beyond.or(starts).or(ends));
    strips.both(b, at_edge, |b, at_border, arrays| {
        let to = b.let_("to", Scalar::I32, stop + plan.delay(at_border) as i32);
        let strip = strips.strip(b, at_border, arrays);
        let copied = copied_columns(b, &strip).into_iter().map(|column| {
            let index = strip.frame.index(0, (from << 2) + ahead, column.into());
            (column, b.let_("source", Scalar::I64, index))
        });
        let copied = copied.collect();
        Analysis { strip, chunk: Chunk { first, stop, from, to }, copied }.walk(b, order);
    });
    pairs
}

/// First columns of the vectors that a lane copies of each row, all inside the image: beyond a border, arbitrary ones
/// or the periodic ones.
fn copied_columns(b: &mut Builder, strip: &Strip) -> Vec<LocalId> {
    let (plan, lanes) = (strip.plan, &strip.frame.lanes);
    let vector = (VECTOR / plan.options.sample.bytes() as i64) as i32;
    (0..plan.copies())
        .map(|copy| {
            let lane = Builtin::ThreadX + 32 * copy;
            let x = b.let_("vector_x", Scalar::I32, lanes.base + lane * vector);
            let width = lanes.held.length(0);
            let inner = match lanes.held.boundary {
                _ if !strip.at_border => x.into(),
                Boundary::Periodic => Expr::wrap(x, width),
                _ => x.max(0).min(width - vector),
            };
            b.let_("copied_x", Scalar::I32, inner)
        })
        .collect()
}

impl Analysis<'_> {
    fn walk(&self, b: &mut Builder, order: Order) {
        let (frame, plan) = (&self.strip.frame, self.strip.plan);
        let [upper, lower] = &plan.descents;
        let c = frame.lanes.held.columns();
        let line = DelayLine::declare_as(b, &frame.lanes.held, &plan.axis, (&upper.window, 1), plan.form(c));
        let low_line = DelayLine::declare_as(b, &self.strip.low.held, &plan.axis, (&lower.window, 1), plan.form(c / 2));
        let across = Across { lanes: &frame.lanes, axis: &plan.axis };
        let low_across = Across { lanes: &self.strip.low, axis: &plan.axis };
        let across_first = order.across_first(plan.options.direction);
        let rows = plan.rows(b, "rows", 4, c);
        // The two rows of the low band from the previous step.
        let before = self.strip.at_border.then(|| plan.zeros(b, "before", 2, c / 2));
        let outs = self.outs(b);
        walk_down(
            b,
            (plan.shape.ring, true),
            (self.chunk.from, self.chunk.to),
            |b, step, slot| self.request(b, step, slot),
            |b, _, slot| b.part("take_rows", "Moves copied rows to registers.", |b| self.take(b, slot, rows)),
            |b, step| {
                if across_first {
                    across.lift_all(b, &[0, 1, 2, 3].map(|i| plan.row(rows, i, c)));
                }
                // The first level: two row pairs.
                let results = plan.rows(b, "results", 4, c);
                for pair in 0..2 {
                    let front = b.let_("front", Scalar::I32, (step << 1) + (plan.odd() as i32 + pair));
                    let of = |array: LocalId| [0, 1].map(|phase| plan.row(array, 2 * pair + phase, c));
                    let done = descend(b, plan, (&line, upper), front.into(), &of(rows), c);
                    of(results).iter().zip(&done).for_each(|(to, done)| to.copy(b, done, c));
                }
                if !across_first {
                    across.lift_all(b, &[0, 1, 2, 3].map(|i| plan.row(results, i, c)));
                }
                b.part("store_bands", "Stores the bands of the first level.", |b| {
                    self.store_first(b, step, outs[0], results);
                });
                let low = plan.rows(b, "low", 2, c / 2);
                b.part("enter_low", "Fills the rows of the low band that enter the second level.", |b| {
                    self.enter(b, step, (results, before, low));
                });
                let pair = b.let_("low_pair", Scalar::I32, step - plan.seam(self.strip.at_border) as i32);
                let low_rows: Vec<Row> = (0..2).map(|i| plan.row(low, i, c / 2)).collect();
                if across_first {
                    low_across.lift_all(b, &low_rows);
                }
                for (phase, low_row) in PHASES.into_iter().zip(&low_rows) {
                    low_line.row(phase, 0).copy(b, low_row, c / 2);
                }
                low_line.scale_first(b, pair.into());
                low_line.lift(b, pair.into());
                let results = |b: &mut Builder| {
                    let results = PHASES.map(|phase| {
                        let result = plan.rows(b, "low_result", 1, c / 2);
                        let done = pair - lower.delay as i32;
                        low_line.result(b, (phase, done), lower.delay as i32, result);
                        plan.row(result, 0, c / 2)
                    });
                    if !across_first {
                        low_across.lift_all(b, &results);
                    }
                    results
                };
                b.part("store_low", "Stores the bands of the second level.", |b| {
                    self.store_second(b, step, [outs[1], outs[2]], results);
                });
                low_line.shift(b);
            },
        );
    }

    /// Starts the copies of four rows into a slot of the ring buffer, unless the walk ends before them.
    fn request(&self, b: &mut Builder, step: Expr, slot: Expr) {
        let (frame, plan) = (&self.strip.frame, self.strip.plan);
        let step = b.let_("next", Scalar::I32, step);
        b.if_(step.lt(self.chunk.to), |b| {
            let cell = b.let_("cell", Scalar::I32, slot * plan.slot_len());
            let vector = (VECTOR / plan.options.sample.bytes() as i64) as i32;
            let copy = |b: &mut Builder, i: i32, n: usize, index: Expr| {
                let at = cell + (self.cell(n as i32) * vector + 32 * frame.lanes.held.columns() * i);
                b.copy_async((self.strip.ring, at), (frame.params.signal, index), vector as u32, vector);
            };
            if self.strip.at_border {
                for i in 0..4 {
                    let row = (step << 2) + (2 * plan.odd() as i32 + i);
                    let row = frame.lanes.held.serve_near(b, row);
                    for (n, (column, _)) in self.copied.iter().enumerate() {
                        copy(b, i, n, frame.index(0, row.into(), (*column).into()));
                    }
                }
            } else {
                for (n, (_, next)) in self.copied.iter().enumerate() {
                    (0..4).for_each(|i| copy(b, i, n, frame.below(0, *next, i)));
                    let below = frame.below(0, *next, 4);
                    b.set(Place::Local(*next), below);
                }
            }
        });
    }

    /// Position, in vectors, of a lane's n-th copy in a row of the ring buffer. If lanes have two vectors, every other
    /// eight swap with their neighbours, so that neither copies nor loads conflict.
    fn cell(&self, n: i32) -> Expr {
        let lane = Expr::from(Builtin::ThreadX);
        if self.strip.plan.copies() == 1 {
            return lane;
        }
        swapped(lane + 32 * n)
    }

    /// Loads the lane's columns of four rows from a slot of the ring buffer.
    fn take(&self, b: &mut Builder, slot: LocalId, rows: LocalId) {
        let (frame, plan) = (&self.strip.frame, self.strip.plan);
        let (c, copies) = (frame.lanes.held.columns(), plan.copies());
        if copies > 1 {
            b.push(Stmt::SyncWarp);
        }
        let vector = c / copies;
        for i in 0..4 {
            let raw = b.array("raw", plan.options.sample, c as u32);
            for n in 0..copies {
                let lane = Expr::from(Builtin::ThreadX);
                let own = if copies == 1 { lane } else { swapped(lane * 2 + n) };
                let at = slot * plan.slot_len() + (own * vector + 32 * c * i);
                b.load(
                    Place::Elem(raw, (n * vector).into()),
                    Space::Shared(self.strip.ring),
                    at,
                    vector as u32,
                    Cache::Default,
                );
            }
            let value = |column: i32| self.gained(plan.arith.widen(raw.at(column)));
            let row = plan.row(rows, i, c);
            if plan.packed {
                // Packed samples in memory's order need no unpacking.
                let loaded = plan.in_order(b, "loaded", c);
                loaded.fill(b, 0..c, value);
                row.copy(b, &loaded, c);
            } else {
                row.fill(b, 0..c, value);
            }
        }
    }

    /// A sample with the gain of a level.
    fn gained(&self, value: Expr) -> Expr {
        match self.strip.frame.params.gain {
            Some(gain) => self.strip.plan.arith.shift_up(value, gain.into()),
            None => value,
        }
    }

    /// Fills the rows of the low band that enter the second level: the current results, or, near a border, those of the
    /// previous step. Beyond an even number of rows, these are shifted by one row.
    fn enter(&self, b: &mut Builder, step: Expr, (results, before, low): (LocalId, Option<LocalId>, LocalId)) {
        let (frame, plan) = (&self.strip.frame, self.strip.plan);
        let (c, half) = (frame.lanes.held.columns(), frame.lanes.held.columns() / 2);
        let low = [0, 1].map(|i| plan.row(low, i, half));
        // A result rounded as in memory.
        let left = |b: &mut Builder, i: i32, to: &Row| {
            let from = plan.row(results, 2 * i, c);
            if plan.packed && frame.params.gain.is_none() {
                // Two columns of the even phase are two of the low band.
                return to.copy(b, &from.evens(), half);
            }
            to.fill(b, 0..half, |e| self.gained(plan.arith.widen(plan.arith.narrow(from.at(2 * e)))));
        };
        let Some(before) = before else {
            return (0..).zip(&low).for_each(|(i, low)| left(b, i, low));
        };
        let before = [0, 1].map(|i| plan.row(before, i, half));
        low.iter().zip(&before).for_each(|(low, before)| low.copy(b, before, half));
        if frame.lanes.held.boundary != Boundary::Periodic {
            let row = (step << 1) - 2 * self.strip.plan.seam(true) as i32;
            let row = b.let_("low_row", Scalar::I32, row);
            let is_even = frame.params.height.and(1).eq_(0);
            b.if_(is_even, |b| {
                b.if_(row.ge(self.strip.low.held.length(1)), |b| low[0].copy(b, &before[1], half));
                b.if_((row + 1).ge(self.strip.low.held.length(1)), |b| left(b, 0, &low[1]));
            });
        }
        (0..).zip(&before).for_each(|(i, before)| left(b, i, before));
    }

    /// Indices of the lane's first stores: in the bands of the first level, in ll, and in the other bands of the second
    /// level.
    fn outs(&self, b: &mut Builder) -> [LocalId; 3] {
        let (frame, plan) = (&self.strip.frame, self.strip.plan);
        let done = |delay: i64| self.chunk.from - delay as i32;
        let first = done(plan.seam(false)) << 1;
        let second = done(plan.delay(self.strip.at_border));
        let indices = [
            frame.index(2, first, Expr::from(self.strip.low.x)),
            frame.index(1, second, self.strip.low.x >> 1),
            frame.index(2, second, self.strip.low.x >> 1),
        ];
        indices.map(|index| b.let_("out", Scalar::I64, index))
    }

    /// Stores the bands of the first level, of two row pairs.
    fn store_first(&self, b: &mut Builder, step: Expr, out: LocalId, results: LocalId) {
        let (frame, plan, chunk) = (&self.strip.frame, self.strip.plan, self.chunk);
        let (c, half) = (frame.lanes.held.columns(), frame.lanes.held.columns() / 2);
        let done = b.let_("done", Scalar::I32, step - plan.seam(false) as i32);
        let inside = done.ge(chunk.first).and(done.lt(chunk.stop));
        b.if_(inside.and(frame.useful), |b| {
            let store = |b: &mut Builder, pair: i32, phase: Phase| {
                let bands: &[Phase] = if phase == Phase::Even { &[Phase::Odd] } else { &PHASES };
                for columns in bands {
                    let band = 2 * phase.parity() as usize + columns.parity() as usize;
                    let row = plan.row(results, 2 * pair + phase.parity() as i32, c);
                    let values = (0..half).map(|e| row.at(2 * e + columns.parity() as i32)).collect();
                    self.put(b, frame.params.bands[band], frame.below(2, out, pair), values);
                }
            };
            let exists = |k: i32, phase: Phase| ((done << 1) + k).le(frame.lanes.held.last_index(1, phase));
            for (pair, phase) in (0..2).flat_map(|pair| PHASES.map(|phase| (pair, phase))) {
                if self.strip.at_border {
                    b.if_(exists(pair, phase), |b| store(b, pair, phase));
                } else {
                    store(b, pair, phase);
                }
            }
        });
        let below = frame.below(2, out, 2);
        b.set(out, below);
    }

    /// Stores the bands of the second level, of a row pair. All lanes take part in `results`.
    fn store_second(
        &self,
        b: &mut Builder,
        step: Expr,
        outs: [LocalId; 2],
        results: impl FnOnce(&mut Builder) -> [Row; 2],
    ) {
        let (frame, low, chunk) = (&self.strip.frame, &self.strip.low, self.chunk);
        let done = b.let_("low_done", Scalar::I32, step - self.strip.plan.delay(self.strip.at_border) as i32);
        b.if_(done.ge(chunk.first).and(done.lt(chunk.stop)), |b| {
            let results = results(b);
            let store = |b: &mut Builder, phase: Phase| {
                for columns in PHASES {
                    let band = 2 * phase.parity() as usize + columns.parity() as usize;
                    // ll is the first array; the others follow those of the first level.
                    let pointer = frame.params.bands[if band == 0 { 0 } else { 3 + band }];
                    let row = &results[phase.parity() as usize];
                    let values = (0..low.held.columns() / 2).map(|e| row.at(2 * e + columns.parity() as i32)).collect();
                    self.put(b, pointer, outs[band.min(1)].into(), values);
                }
            };
            b.if_(frame.useful, |b| {
                store(b, Phase::Even);
                if self.strip.at_border {
                    b.if_(done.le(low.held.last_index(1, Phase::Odd)), |b| store(b, Phase::Odd));
                } else {
                    store(b, Phase::Odd);
                }
            });
        });
        for (array, out) in (1..).zip(outs) {
            let below = frame.below(array, out, 1);
            b.set(out, below);
        }
    }

    fn put(&self, b: &mut Builder, pointer: ParamId, index: Expr, values: Vec<Expr>) {
        let values = values.into_iter().map(|value| self.strip.plan.arith.narrow(value)).collect();
        // The next level reads the low band again; nobody reads the others soon.
        let cache = if pointer == self.strip.frame.params.bands[0] { Cache::Default } else { Cache::Streaming };
        b.store_wide(Space::Global(pointer), index, values, cache);
    }
}
