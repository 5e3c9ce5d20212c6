//! Synthesis walk: a step takes a row pair of the second level's bands and two of the first's, and leaves four rows of
//! the image.

use super::strip::{Strip, Strips, descend};
use super::swapped;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, LocalId, Place, Scalar, Space, Stmt};
use crate::schedule::level::{Across, DelayLine, Order, PHASES, Row, walk_down};
use lifting_dsl::Boundary;

/// A walk of synthesis.
struct Synthesis<'a> {
    strip: Strip<'a>,
    range: Range,
}

/// A warp's range, in steps of four rows.
#[derive(Clone, Copy)]
struct Range {
    /// Steps of the chunk, `first..stop`.
    first: LocalId,
    stop: LocalId,
    /// Steps of the walk, `from..to`; those from `both` on also lift the first level.
    from: LocalId,
    both: LocalId,
    to: LocalId,
}

/// The level of loaded bands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    First,
    Second,
}

/// Indices of the lane's next copies, if all rows are inside the image: in the first level's bands, in the second's ll,
/// and in its other bands.
struct Next {
    indices: [LocalId; 3],
    /// The lane's first column, or its extension.
    x: LocalId,
}

/// Destinations of the lane's next stores, and whether each vector has results.
struct Out {
    /// Index of the first vector of the first row.
    next: LocalId,
    /// For each vector of a row; a warp's 32 vectors are contiguous.
    useful: Vec<LocalId>,
}

/// Writes the walks of a kernel. Returns the number of row pairs of the second level.
pub fn walks(b: &mut Builder, strips: &Strips, order: Order) -> Expr {
    let Strips { plan, params, .. } = *strips;
    let pairs = (params.height + 3) >> 2;
    let [first, stop] = strips.chunk(b, pairs);
    let from = b.let_("from_step", Scalar::I32, first - plan.above() as i32);
    let both = b.let_("both_step", Scalar::I32, from + plan.alone() as i32);
    let to = b.let_("to_step", Scalar::I32, stop + plan.delay(false) as i32);
    let range = Range { first, stop, from, both, to };
    // A doubled row is at an edge.
    let doubled = i32::from(plan.options.doubled_ends);
    let beyond = from.lt(doubled).or(((to << 2) + doubled).gt(params.height));
    let edge = b.let_("edge", Scalar::Bool, strips.beyond.or(beyond));
    strips.both(b, edge, |b, at_border, arrays| {
        Synthesis { strip: strips.strip(b, at_border, arrays), range }.walk(b, order);
    });
    pairs
}

impl Synthesis<'_> {
    fn walk(&self, b: &mut Builder, order: Order) {
        let (frame, plan, Range { from, both, to, .. }) = (&self.strip.frame, self.strip.plan, self.range);
        let [upper, lower] = &plan.descents;
        let c = frame.lanes.held.columns();
        let next = self.next(b);
        let out = self.out(b);
        let line = DelayLine::declare_as(b, &frame.lanes.held, &plan.axis, (&upper.window, 1), plan.form(c));
        let low_line = DelayLine::declare_as(b, &self.strip.low.held, &plan.axis, (&lower.window, 1), plan.form(c / 2));
        let across = Across { lanes: &frame.lanes, axis: &plan.axis };
        let low_across = Across { lanes: &self.strip.low, axis: &plan.axis };
        let across_first = order.across_first(plan.options.direction);
        // The last row of the low band from the previous step.
        let before = self.repeats().then(|| {
            let before = plan.zeros(b, "before", 1, c / 2);
            plan.as_in_order(before)
        });
        let cell = b.let_("taken", Scalar::I32, 0);
        walk_down(
            b,
            (plan.shape.ring, true),
            (from, to),
            |b, step, slot| self.request(b, &next, step, slot),
            |b, _, slot| {
                if plan.copies() > 1 {
                    // Other lanes have taken results out of the slot to be filled.
                    b.push(Stmt::SyncWarp);
                }
                b.set(cell, slot * plan.slot_len());
            },
            |b, step| {
                // The second level: a row pair.
                let rows = plan.rows(b, "low_rows", 2, c / 2);
                let rows = [0, 1].map(|i| plan.row(rows, i, c / 2));
                self.take(b, (Level::Second, 0), cell, &rows);
                if across_first {
                    low_across.lift_all(b, &rows);
                }
                let results = descend(b, plan, (&low_line, lower), step, &rows, c / 2);
                if !across_first {
                    low_across.lift_all(b, &results);
                }
                let low_pair = b.let_("low_pair", Scalar::I32, step - lower.delay as i32);
                let low = self.leave(b, low_pair, &results, before.as_ref());
                // The first level: two row pairs, with these as low rows.
                b.if_(step.ge(both), |b| {
                    let rows = plan.rows(b, "rows", 4, c);
                    let rows = [0, 1, 2, 3].map(|i| plan.row(rows, i, c));
                    for (pair, rows) in rows.chunks_exact(2).enumerate() {
                        // Columns of the even phase.
                        if plan.packed {
                            rows[0].evens().copy(b, &low[pair], c / 2);
                        } else {
                            (0..c / 2).for_each(|e| b.set(rows[0].place(2 * e), low[pair].at(e)));
                        }
                        self.take(b, (Level::First, pair as i32), cell, rows);
                    }
                    if across_first {
                        across.lift_all(b, &rows);
                    }
                    let mut results = Vec::new();
                    for (pair, rows) in rows.chunks_exact(2).enumerate() {
                        let front = (low_pair << 1) + pair as i32;
                        results.extend(descend(b, plan, (&line, upper), front, rows, c));
                    }
                    if !across_first {
                        across.lift_all(b, &results);
                    }
                    b.part("store_rows", "Stores four rows of the image.", |b| {
                        self.store(b, low_pair, &results, cell, &out);
                    });
                });
            },
        );
    }

    /// Whether the low band's last row may have to be repeated.
    fn repeats(&self) -> bool {
        self.strip.at_border && self.strip.frame.lanes.held.boundary != Boundary::Periodic
    }

    fn next(&self, b: &mut Builder) -> Next {
        let (frame, Range { from, both, .. }) = (&self.strip.frame, self.range);
        let x = if self.strip.at_border { frame.lanes.inner_x(b) } else { frame.lanes.x };
        let quarter = x >> 2;
        let pair = (both - self.strip.plan.descents[1].delay as i32) << 1;
        let indices =
            [frame.index(2, pair, x >> 1), frame.index(1, from.into(), quarter), frame.index(2, from.into(), quarter)];
        Next { indices: indices.map(|index| b.let_("source", Scalar::I64, index)), x }
    }

    /// Starts the copies of a step into a slot of the ring buffer, unless the walk ends before it.
    fn request(&self, b: &mut Builder, next: &Next, step: Expr, slot: Expr) {
        let (frame, Range { both, to, .. }) = (&self.strip.frame, self.range);
        let step = b.let_("next", Scalar::I32, step);
        b.if_(step.lt(to), |b| {
            let cell = b.let_("cell", Scalar::I32, slot * self.strip.plan.slot_len());
            self.copy(b, (Level::Second, 0), next, step.into(), cell);
            b.if_(step.ge(both), |b| {
                let pair = b.let_("next_pair", Scalar::I32, (step - self.strip.plan.descents[1].delay as i32) << 1);
                for i in 0..2 {
                    self.copy(b, (Level::First, i), next, pair + i, cell);
                }
                self.advance(b, next.indices[0], frame.below(2, next.indices[0], 2));
            });
            for array in [1, 2] {
                self.advance(b, next.indices[array], frame.below(array, next.indices[array], 1));
            }
        });
    }

    fn advance(&self, b: &mut Builder, index: LocalId, by: Expr) {
        if !self.strip.at_border {
            b.set(index, by);
        }
    }

    /// Starts the copies of the lane's samples of a row pair of a level's bands, the i-th of the step.
    fn copy(&self, b: &mut Builder, (level, i): (Level, i32), next: &Next, pair: Expr, cell: LocalId) {
        let (frame, params) = (&self.strip.frame, self.strip.frame.params);
        let (held, shift) = match level {
            Level::First => (&frame.lanes, 1),
            Level::Second => (&self.strip.low, 2),
        };
        let lanes = (frame.lanes.held.columns() >> shift) as u32;
        for row in PHASES {
            let served = self.strip.at_border.then(|| {
                let position = held.held.serve_near(b, (pair << 1) + row.parity() as i32);
                b.let_("served", Scalar::I32, position >> 1)
            });
            for columns in PHASES {
                let band = 2 * row.parity() as usize + columns.parity() as usize;
                let (pointer, array, index) = match (level, band) {
                    (Level::First, 0) => continue,
                    (Level::First, _) => (params.bands[band], 2, next.indices[0]),
                    // ll is the first array; the others follow those of the first level.
                    (Level::Second, 0) => (params.bands[0], 1, next.indices[1]),
                    (Level::Second, _) => (params.bands[3 + band], 2, next.indices[2]),
                };
                let index = match served {
                    Some(served) => frame.index(array, served.into(), next.x >> shift),
                    None => frame.below(array, index, i),
                };
                let at = cell + self.cell(level, i, band);
                b.copy_async((self.strip.ring, at), (pointer, index), lanes, lanes as i32);
            }
        }
    }

    /// Element in a slot of the lane's samples of a row of a band.
    fn cell(&self, level: Level, i: i32, band: usize) -> Expr {
        let (c, lane) = (self.strip.frame.lanes.held.columns(), Expr::from(Builtin::ThreadX));
        match level {
            Level::First => lane * (c / 2) + (3 * i + band as i32 - 1) * (16 * c),
            Level::Second => lane * (c / 4) + (96 + 8 * band as i32) * c,
        }
    }

    /// Loads the lane's samples of a row pair of a level's bands from a slot of the ring buffer, except ll of the first
    /// level.
    fn take(&self, b: &mut Builder, (level, i): (Level, i32), cell: LocalId, rows: &[Row]) {
        let (c, arith) = (self.strip.frame.lanes.held.columns(), self.strip.plan.arith);
        let (bands, len) = match level {
            Level::First => (1..4, c / 2),
            Level::Second => (0..4, c / 4),
        };
        let load = |b: &mut Builder, band: usize| {
            let raw = b.array("raw", self.strip.plan.options.sample, len as u32);
            let at = cell + self.cell(level, i, band);
            b.load(Place::Elem(raw, 0.into()), Space::Shared(self.strip.ring), at, len as u32, Cache::Default);
            let columns = (band as i32 % 2..2 * len).step_by(2);
            rows[band / 2].fill(b, columns, |column| arith.widen(raw.at(column / 2)));
        };
        b.part("take_bands", "Moves copied rows of bands to registers.", |b| bands.for_each(|band| load(b, band)));
    }

    /// A column of a level's result, converted for memory.
    fn left(&self, row: &Row, column: i32) -> Expr {
        let arith = self.strip.plan.arith;
        let value = match self.strip.frame.params.gain {
            Some(gain) => arith.shift_down(row.at(column), gain.into()),
            None => row.at(column),
        };
        arith.narrow(value)
    }

    /// The rows of the low band that enter the first level.
    fn leave(&self, b: &mut Builder, pair: LocalId, results: &[Row], before: Option<&Row>) -> [Row; 2] {
        let (plan, half) = (self.strip.plan, self.strip.low.held.columns());
        let low = [0, 1].map(|_| plan.in_order(b, "low", half));
        b.part("leave_low", "Fills the rows of the low band that enter the first level.", |b| {
            self.fill_low(b, pair, results, (&low, before));
        });
        low
    }

    fn fill_low(&self, b: &mut Builder, pair: LocalId, results: &[Row], (low, before): (&[Row; 2], Option<&Row>)) {
        let (plan, half) = (self.strip.plan, self.strip.low.held.columns());
        for (result, low) in results.iter().zip(low) {
            if plan.packed && self.strip.frame.params.gain.is_none() {
                low.copy(b, result, half);
                continue;
            }
            low.fill(b, 0..half, |e| plan.arith.widen(self.left(result, e)));
        }
        let Some(before) = before else { return };
        let last = plan.in_order(b, "last", half);
        last.copy(b, &low[1], half);
        let is_even = self.strip.frame.params.height.and(1).eq_(0);
        b.if_(is_even, |b| {
            let beyond = |i: i32| ((pair << 1) + i).ge(self.strip.low.held.length(1));
            b.if_(beyond(1), |b| low[1].copy(b, &low[0], half));
            b.if_(beyond(0), |b| low[0].copy(b, before, half));
        });
        before.copy(b, &last, half);
    }

    /// Destinations of the lane's stores.
    fn out(&self, b: &mut Builder) -> Out {
        let (frame, plan, lane) = (&self.strip.frame, self.strip.plan, || Expr::from(Builtin::ThreadX));
        let [upper, lower] = plan.descents.each_ref().map(|descent| descent.delay as i32);
        let copies = plan.copies();
        let vector = frame.lanes.held.columns() / copies;
        let x = frame.lanes.base + lane() * vector;
        let row = ((self.range.both - lower) << 2) - 2 * upper;
        let next = b.let_("out", Scalar::I64, frame.index(0, row, x));
        let of = |b: &mut Builder, n: i32| {
            let (first, stop) = (plan.left as i32 * copies, (plan.left + plan.useful) as i32 * copies);
            let lane = lane() + 32 * n;
            let useful = lane.ge(first).and(lane.lt(stop));
            let inside = (x + 32 * n * vector).lt(frame.lanes.held.length(0));
            b.let_("useful", Scalar::Bool, if self.strip.at_border { useful.and(inside) } else { useful })
        };
        Out { next, useful: (0..copies).map(|n| of(b, n)).collect() }
    }

    /// Stores the results of a step: two row pairs. The image may end after one pair, or after one row.
    fn store(&self, b: &mut Builder, low_pair: LocalId, results: &[Row], cell: LocalId, out: &Out) {
        let (frame, plan, Range { first, stop, .. }) = (&self.strip.frame, self.strip.plan, self.range);
        let ordered = plan.packed.then(|| results.iter().map(|row| self.ordered(b, row)).collect::<Vec<_>>());
        let results = ordered.as_deref().unwrap_or(results);
        let rows: Vec<Vec<Vec<Expr>>> = match plan.copies() {
            1 => results
                .iter()
                .map(|row| vec![(0..frame.lanes.held.columns()).map(|c| self.left(row, c)).collect()])
                .collect(),
            _ => self.staged(b, results, cell),
        };
        let delay = plan.descents[0].delay as i32;
        let done = b.let_("done", Scalar::I32, (low_pair << 2) - 2 * delay);
        // All four are in one chunk, or in two.
        let together = 4 >> (delay % 2);
        for (n, rows) in rows.chunks_exact(together).enumerate() {
            let n = (n * together) as i32;
            let here = done + n;
            b.if_(here.ge(first << 2).and(here.lt(stop << 2)), |b| {
                for (i, vectors) in (n..).zip(rows) {
                    let put = |b: &mut Builder| {
                        for ((values, useful), k) in vectors.iter().zip(&out.useful).zip(0..) {
                            let index = frame.below(0, out.next, i) + Expr::i64(32 * k * values.len() as i64);
                            let pointer = Space::Global(frame.params.signal);
                            b.if_(*useful, |b| b.store_wide(pointer, index, values.clone(), Cache::Streaming));
                        }
                    };
                    match self.strip.at_border {
                        true => b.if_((done + i).lt(frame.lanes.held.length(1)), put),
                        false => put(b),
                    }
                }
            });
        }
        b.set(out.next, frame.below(0, out.next, 4));
    }

    /// A packed row in memory's order.
    fn ordered(&self, b: &mut Builder, row: &Row) -> Row {
        let c = self.strip.frame.lanes.held.columns();
        let ordered = self.strip.plan.in_order(b, "ordered", c);
        ordered.copy(b, row, c);
        ordered
    }

    /// Passes the results through the slot just read, so that neighbouring lanes store neighbouring vectors. Returns
    /// the lane's vectors of each row.
    fn staged(&self, b: &mut Builder, results: &[Row], cell: LocalId) -> Vec<Vec<Vec<Expr>>> {
        let (c, copies) = (self.strip.frame.lanes.held.columns(), self.strip.plan.copies());
        let (vector, lane) = (c / copies, || Expr::from(Builtin::ThreadX));
        let at = |i: usize, of_row: Expr| cell + (swapped(of_row) * vector + 32 * c * i as i32);
        b.push(Stmt::SyncWarp);
        for (i, row) in results.iter().enumerate() {
            for n in 0..copies {
                let values = (n * vector..(n + 1) * vector).map(|c| self.left(row, c)).collect();
                b.store_wide(Space::Shared(self.strip.ring), at(i, lane() * copies + n), values, Cache::Default);
            }
        }
        b.push(Stmt::SyncWarp);
        let mut take = |i: usize, n: i32| {
            let raw = b.array("raw", self.strip.plan.options.sample, vector as u32);
            let (to, at) = (Place::Elem(raw, 0.into()), at(i, lane() + 32 * n));
            b.load(to, Space::Shared(self.strip.ring), at, vector as u32, Cache::Default);
            (0..vector).map(|e| raw.at(e)).collect()
        };
        (0..results.len()).map(|i| (0..copies).map(|n| take(i, n)).collect()).collect()
    }
}
