//! Along rows: a warp has a pair of rows at a time.

use super::Tile;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, LocalId, Place, Scalar, Space, Stmt};
use crate::schedule::Direction;
use crate::schedule::level::{Across, BANDS_ALIGNED, PHASES, Row, SIGNAL_ALIGNED, Source, served_column};
use crate::schedule::stream::{store_band, store_signal};
use lifting_dsl::Phase;

/// Row pairs that a warp has at once, at most: their instructions do not wait for one another.
const AT_ONCE: i32 = 2;

/// A pair of rows in registers.
struct Held {
    /// Counted from the first in shared memory.
    pair: LocalId,
    rows: [Row; 2],
}

impl Tile<'_> {
    /// Lifts all rows, from global to shared memory or the other way.
    pub fn across(&self, b: &mut Builder) {
        let warps = self.plan.shape.warps as i32;
        let (pairs, _) = self.plan.held_pairs(self.across_first);
        let served = self.across_first.then(|| self.columns(b));
        let rounds: Vec<i32> = (0..pairs.div_euclid(warps)).collect();
        let warp = || Expr::from(Builtin::ThreadY);
        for rounds in rounds.chunks(AT_ONCE as usize) {
            self.rows(b, rounds, served.as_ref());
        }
        if pairs % warps != 0 {
            let last = pairs / warps;
            b.if_(warp().lt((pairs % warps).into()), |b| self.rows(b, &[last], served.as_ref()));
        }
    }

    /// Whether rows are loaded as vectors, and if not, where each column's sample is.
    fn columns(&self, b: &mut Builder) -> (LocalId, Vec<LocalId>) {
        let frame = self.frame;
        let aligned = match frame.options.direction {
            Direction::Forward => SIGNAL_ALIGNED,
            Direction::Inverse => BANDS_ALIGNED,
        };
        let inside = !Expr::from(frame.at_border);
        let vectors = if frame.is_aligned() { inside } else { frame.params.has(aligned).and(inside) };
        let vectors = b.let_("vectors", Scalar::Bool, vectors);
        let served: Vec<LocalId> = (0..frame.columns()).map(|_| b.declare("served", Scalar::I32)).collect();
        b.if_else(
            vectors,
            |b| served.iter().for_each(|id| b.set(Place::Local(*id), 0)),
            |b| {
                b.comment("at a border, or where rows are not aligned");
                for (c, id) in served.iter().enumerate() {
                    if frame.options.direction == Direction::Forward {
                        let position = Expr::from(frame.base) + self.beside(c as i32);
                        b.set(Place::Local(*id), frame.serve_position(0, position));
                    } else {
                        let column = served_column(b, frame, c as i32);
                        b.set(Place::Local(*id), column);
                    }
                }
            },
        );
        (vectors, served)
    }

    /// The pairs that the warps of the block have in these rounds.
    fn rows(&self, b: &mut Builder, rounds: &[i32], served: Option<&(LocalId, Vec<LocalId>)>) {
        let frame = self.frame;
        let (warps, columns) = (self.plan.shape.warps as i32, self.plan.shape.columns);
        let (_, before) = self.plan.held_pairs(self.across_first);
        let held: Vec<Held> = rounds
            .iter()
            .map(|round| {
                let pair = b.let_("pair", Scalar::I32, Expr::from(Builtin::ThreadY) + round * warps);
                let rows = PHASES.map(|phase| {
                    let array = b.array(&format!("{}_row", phase.name()), frame.arith.work, columns);
                    Row { array, first: 0.into() }
                });
                let held = Held { pair, rows };
                match served {
                    Some(served) => self.load(b, &held, served),
                    None => PHASES.into_iter().for_each(|phase| self.take(b, &held, phase)),
                }
                held
            })
            .collect();
        let across = Across { lanes: &frame.lanes, axis: &self.plan.axis };
        held.iter().flat_map(|held| &held.rows).for_each(|row| across.lift(b, row));
        for held in &held {
            let pair = b.let_("done", Scalar::I32, Expr::from(self.first) + Expr::from(held.pair) - before);
            for (phase, row) in PHASES.into_iter().zip(&held.rows) {
                if self.across_first {
                    self.put(b, held, phase, row);
                    continue;
                }
                let exists = (Expr::from(pair).ge(frame.first_index(1, phase)))
                    .and(Expr::from(pair).le(frame.last_index(1, phase)));
                let useful = || Expr::from(frame.useful);
                match frame.options.direction {
                    Direction::Forward => b.if_(exists.and(useful()), |b| {
                        for columns in PHASES {
                            store_band(b, frame, row, phase, columns, pair);
                        }
                    }),
                    Direction::Inverse if frame.is_aligned() => {
                        b.if_(exists.and(useful()), |b| store_signal(b, frame, row, phase, pair));
                    }
                    Direction::Inverse => b.if_(exists, |b| self.spread(b, held, (phase, row), pair)),
                }
            }
        }
    }

    /// Loads a pair of rows from global memory.
    fn load(&self, b: &mut Builder, held: &Held, (vectors, served): &(LocalId, Vec<LocalId>)) {
        let frame = self.frame;
        let (_, before) = self.plan.held_pairs(self.across_first);
        let pair = Expr::from(self.first) + Expr::from(held.pair) - before;
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
                            let at = self.row_of(held, source.row) + self.beside(c as i32);
                            b.store(Space::Shared(self.cells), at, self.to_cell(value));
                        }
                    }
                    b.push(Stmt::SyncWarp);
                    PHASES.into_iter().for_each(|phase| self.take_runs(b, held, phase, self.whole_row(held, phase)));
                    b.push(Stmt::SyncWarp);
                }
            },
        );
    }

    /// A column of the tile where lanes beside one another have columns beside one another.
    fn beside(&self, c: i32) -> Expr {
        Expr::from(Builtin::ThreadX) + 32 * c
    }

    /// Stores a row that need not be aligned: it goes through shared memory, so that lanes beside one another store samples beside one another.
    fn spread(&self, b: &mut Builder, held: &Held, (phase, row): (Phase, &Row), pair: LocalId) {
        let (frame, params) = (self.frame, self.frame.params);
        b.push(Stmt::SyncWarp);
        let value = |c: i32| match params.gain {
            Some(gain) => self.to_cell(frame.arith.shift_down(row.at(c), gain.into())),
            None => self.to_cell(row.at(c)),
        };
        for (at, columns) in self.whole_row(held, phase) {
            let values = columns.iter().map(|&c| value(c)).collect();
            b.store_wide(Space::Shared(self.cells), at, values, Cache::Default);
        }
        b.push(Stmt::SyncWarp);
        let y = (Expr::from(pair) << 1) + phase.parity() as i32 - frame.start(1);
        let out = b.let_("out", Scalar::I64, frame.index(0, y, Expr::from(frame.base) - frame.start(0)));
        let lane = i64::from(self.plan.shape.columns);
        let [from, to] = [self.plan.left * lane, (self.plan.left + self.plan.useful) * lane].map(|n| n as i32);
        for c in 0..frame.columns() {
            let column = b.let_("column", Scalar::I32, self.beside(c));
            let x = || Expr::from(frame.base) + Expr::from(column);
            let of_tile = Expr::from(column).ge(from.into()).and(Expr::from(column).lt(to.into()));
            let of_image = x().ge(frame.start(0)).and(x().lt(frame.end(0)));
            b.if_(of_tile.and(of_image), |b| {
                let at = self.row_of(held, phase) + Expr::from(column);
                let cell = b.load_new("cell", self.cell, Space::Shared(self.cells), at);
                let value = frame.arith.narrow(self.of_cell(cell.into()));
                let at = Expr::from(out) + Expr::from(column).cast(Scalar::I64);
                b.store_wide(Space::Global(params.signal), at, vec![value], Cache::Default);
            });
        }
    }

    /// Where in shared memory the lane's samples of a row stand: runs of columns, each from an element on.
    fn runs(&self, held: &Held, phase: Phase) -> Vec<(Expr, Vec<i32>)> {
        if !self.split {
            return self.whole_row(held, phase);
        }
        let (columns, width) = (self.frame.columns(), self.width());
        let half = |of: Phase| {
            let p = of.parity() as i32;
            let at = self.row_of(held, phase) + p * (width / 2) + Expr::from(Builtin::ThreadX) * (columns / 2);
            (at, (p..columns).step_by(2).collect())
        };
        self.in_vectors(PHASES.map(half).into())
    }

    /// First element of a row in shared memory.
    fn row_of(&self, held: &Held, phase: Phase) -> Expr {
        (Expr::from(held.pair) * 2 + phase.parity() as i32) * self.width()
    }

    /// The same as [`Tile::runs`], where columns stand in their order.
    fn whole_row(&self, held: &Held, phase: Phase) -> Vec<(Expr, Vec<i32>)> {
        let columns = self.frame.columns();
        let at = self.row_of(held, phase) + Expr::from(Builtin::ThreadX) * columns;
        self.in_vectors(vec![(at, (0..columns).collect())])
    }

    /// Runs of 16 bytes at most.
    fn in_vectors(&self, runs: Vec<(Expr, Vec<i32>)>) -> Vec<(Expr, Vec<i32>)> {
        let most = 16 / self.cell.bytes();
        let parts = runs.into_iter().flat_map(|(at, columns)| {
            let part = |(i, part): (usize, &[i32])| (at.clone() + (i * most) as i32, part.to_vec());
            columns.chunks(most).enumerate().map(part).collect::<Vec<_>>()
        });
        parts.collect()
    }

    /// Stores a row to shared memory.
    fn put(&self, b: &mut Builder, held: &Held, phase: Phase, row: &Row) {
        for (at, columns) in self.runs(held, phase) {
            let values = columns.iter().map(|&c| self.to_cell(row.at(c))).collect();
            b.store_wide(Space::Shared(self.cells), at, values, Cache::Default);
        }
    }

    /// Takes a row from shared memory.
    fn take(&self, b: &mut Builder, held: &Held, phase: Phase) {
        self.take_runs(b, held, phase, self.runs(held, phase));
    }

    fn take_runs(&self, b: &mut Builder, held: &Held, phase: Phase, runs: Vec<(Expr, Vec<i32>)>) {
        let row = &held.rows[phase.parity() as usize];
        for (at, columns) in runs {
            let raw = b.array("raw", self.cell, columns.len() as u32);
            b.load(Place::Elem(raw, 0.into()), Space::Shared(self.cells), at, columns.len() as u32, Cache::Default);
            for (e, c) in columns.into_iter().enumerate() {
                b.set(row.place(c), self.of_cell(Expr::Elem(raw, Box::new((e as i32).into()))));
            }
        }
    }
}
