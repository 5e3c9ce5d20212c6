//! Rows in shared memory, between lifting along rows and along columns.

use super::{Frame, PHASES, Row, Slab};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, LocalId, Place, Scalar, SharedId, Space, Stmt};
use crate::schedule::Arithmetic;
use lifting_dsl::Phase;

/// Rows of a warp's columns in shared memory.
#[derive(Clone, Copy)]
pub struct Cells {
    /// The array.
    pub shared: SharedId,
    /// Arithmetic of the samples.
    pub arith: Arithmetic,
    /// Columns a lane.
    pub columns: i32,
    /// Lanes of a warp.
    pub lanes: i32,
    /// Whether even and odd columns are split.
    pub split: bool,
    /// First element in the array, if not 0.
    pub base: Option<LocalId>,
}

/// A thread's column.
pub struct Column {
    /// Index among the warp's columns in shared memory's order.
    pub at: LocalId,
    /// Group of the column: the warp's columns divided by its lanes, even columns first if these are split.
    pub group: LocalId,
    /// Row pairs of results before the thread's.
    pub above: LocalId,
}

/// Type of samples in shared memory between the axes.
pub fn cell_of(arith: Arithmetic) -> Scalar {
    match arith.storage {
        Scalar::F16 | Scalar::Bf16 => arith.work,
        storage => storage,
    }
}

impl Column {
    /// The part of a warp's columns that a thread has: one for each lane, and `pairs` row pairs.
    pub fn of(b: &mut Builder, part: Expr, groups: i32, pairs: i32) -> Column {
        let group = b.let_("group", Scalar::I32, part.and(groups - 1));
        let at = b.let_("at", Scalar::I32, group * b.warp() + Builtin::ThreadX);
        let above = b.let_("above", Scalar::I32, (part >> groups.ilog2() as i32) * pairs);
        Column { at, group, above }
    }
}

impl Cells {
    /// Type of the elements.
    pub fn scalar(&self) -> Scalar {
        cell_of(self.arith)
    }

    /// Columns, halo included: the length of a row.
    pub fn width(&self) -> i32 {
        self.lanes * self.columns
    }

    /// Converts a value for shared memory.
    pub fn to_cell(self, value: Expr) -> Expr {
        if self.scalar() == self.arith.work { value } else { self.arith.narrow(value) }
    }

    /// Converts a value from shared memory.
    pub fn of_cell(self, value: Expr) -> Expr {
        if self.scalar() == self.arith.work { value } else { self.arith.widen(value) }
    }

    /// First element of a row of a pair.
    pub fn row(&self, pair: impl Into<Expr>, phase: Phase) -> Expr {
        let row = (pair.into() * 2 + phase.parity() as i32) * self.width();
        match self.base {
            Some(base) => base + row,
            None => row,
        }
    }

    /// Runs of the lane's samples of a row: first element and columns of each.
    fn runs(&self, row: Expr) -> Vec<(Expr, Vec<i32>)> {
        if !self.split {
            return self.whole(row);
        }
        let (columns, width) = (self.columns, self.width());
        let half = |of: Phase| {
            let p = of.parity() as i32;
            let at = row + p * (width / 2) + Builtin::ThreadX * (columns / 2);
            (at, (p..columns).step_by(2).collect())
        };
        self.in_vectors(PHASES.map(half).into())
    }

    /// Runs of the lane's samples of a row with columns in order.
    pub fn whole(&self, row: Expr) -> Vec<(Expr, Vec<i32>)> {
        let at = row + Builtin::ThreadX * self.columns;
        self.in_vectors(vec![(at, (0..self.columns).collect())])
    }

    /// Splits runs into parts of at most 16 bytes.
    fn in_vectors(&self, runs: Vec<(Expr, Vec<i32>)>) -> Vec<(Expr, Vec<i32>)> {
        let most = 16 / self.scalar().bytes();
        let parts = runs.into_iter().flat_map(|(at, columns)| {
            let part = |(i, part): (usize, &[i32])| (at + (i * most) as i32, part.to_vec());
            columns.chunks(most).enumerate().map(part).collect::<Vec<_>>()
        });
        parts.collect()
    }

    /// Stores a row.
    pub fn put(&self, b: &mut Builder, at: Expr, row: &Row) {
        for (at, columns) in self.runs(at) {
            let values = columns.iter().map(|&c| self.to_cell(row.at(c))).collect();
            b.store_wide(Space::Shared(self.shared), at, values, Cache::Default);
        }
    }

    /// Loads a row.
    pub fn take(&self, b: &mut Builder, at: Expr, row: &Row) {
        self.take_runs(b, row, self.runs(at));
    }

    /// Loads a row whose columns are in order.
    pub fn take_whole(&self, b: &mut Builder, at: Expr, row: &Row) {
        self.take_runs(b, row, self.whole(at));
    }

    fn take_runs(&self, b: &mut Builder, row: &Row, runs: Vec<(Expr, Vec<i32>)>) {
        for (at, columns) in runs {
            let raw = b.array("raw", self.scalar(), columns.len() as u32);
            b.load(Place::Elem(raw, 0.into()), Space::Shared(self.shared), at, columns.len() as u32, Cache::Default);
            for (e, c) in columns.into_iter().enumerate() {
                b.set(row.place(c), self.of_cell(raw.at(e as i32)));
            }
        }
    }

    /// The element of a thread's column in a row, `k` pairs below its first.
    fn cell(&self, column: &Column, phase: Phase, k: Expr) -> Expr {
        self.row(column.above + k, phase) + column.at
    }

    /// Loads a column and all that its results depend on.
    pub fn take_column(&self, b: &mut Builder, slab: &Slab, column: &Column) {
        b.unrolled("row", 0, slab.height(), 1, |b, k| {
            for phase in PHASES {
                let at = self.cell(column, phase, k);
                let cell = b.load_new("cell", self.scalar(), Space::Shared(self.shared), at);
                b.set(slab.row(phase, k).place(0), self.of_cell(cell.into()));
            }
        });
    }

    /// Stores the results of a column.
    pub fn put_column(&self, b: &mut Builder, slab: &Slab, column: &Column) {
        b.unrolled("row", 0, slab.pairs, 1, |b, k| {
            for phase in PHASES {
                let at = self.cell(column, phase, k);
                let value = slab.row(phase, k + slab.first()).at(0);
                b.store(Space::Shared(self.shared), at, self.to_cell(value));
            }
        });
    }

    /// Runs `body` for each kind that a thread's column can have; with `None` if even and odd ones are interleaved.
    pub fn kinds(&self, b: &mut Builder, column: &Column, body: impl Fn(&mut Builder, Option<Phase>)) {
        if !self.split {
            return body(b, None);
        }
        let is_even = column.group.lt(self.columns / 2);
        b.if_else(is_even, |b| body(b, Some(Phase::Even)), |b| body(b, Some(Phase::Odd)));
    }

    /// Index of a thread's column among the warp's of its kind.
    pub fn local(&self, column: &Column, kind: Option<Phase>) -> Expr {
        let half = kind.map_or(0, |phase| phase.parity() as i32 * self.width() / 2);
        column.at - half
    }

    /// Stores a row of the image that may be unaligned. It passes through shared memory, from element `at` on, so that
    /// neighbouring lanes store neighbouring samples. `out` is the index in the image of the warp's first column,
    /// `results` the range of stored columns.
    pub fn spread(&self, b: &mut Builder, frame: &Frame, (at, row): (Expr, &Row), out: Expr, results: [i32; 2]) {
        let params = frame.params;
        b.push(Stmt::SyncWarp);
        let value = |c: i32| match params.gain {
            Some(gain) => self.to_cell(frame.lanes.held.arith.shift_down(row.at(c), gain.into())),
            None => self.to_cell(row.at(c)),
        };
        for (at, columns) in self.whole(at) {
            let values = columns.iter().map(|&c| value(c)).collect();
            b.store_wide(Space::Shared(self.shared), at, values, Cache::Default);
        }
        b.push(Stmt::SyncWarp);
        let out = b.let_("out", Scalar::I64, out);
        let [from, to] = results;
        for c in 0..self.columns {
            let column = {
                let beside = beside(b, c);
                b.let_("column", Scalar::I32, beside)
            };
            let x = frame.lanes.base + column;
            let of_tile = column.ge(from).and(column.lt(to));
            let of_image = x.ge(frame.lanes.held.start(0)).and(x.lt(frame.lanes.held.end(0)));
            b.if_(of_tile.and(of_image), |b| {
                let at = at + column;
                let cell = b.load_new("cell", self.scalar(), Space::Shared(self.shared), at);
                let value = frame.lanes.held.arith.narrow(self.of_cell(cell.into()));
                let at = out + column.cast(Scalar::I64);
                b.store_wide(Space::Global(params.signal), at, vec![value], Cache::Default);
            });
        }
    }
}

/// The lane's c-th column if neighbouring lanes have neighbouring columns.
pub fn beside(b: &Builder, c: i32) -> Expr {
    Builtin::ThreadX + b.warp() * c
}
