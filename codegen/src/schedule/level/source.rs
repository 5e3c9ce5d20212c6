//! Row sources: loads straight to registers, as vectors or sample by sample under the border rule.

use super::{Frame, PHASES, Row, beside};
use crate::ir::build::Builder;
use crate::ir::{Cache, Expr, LocalId, ParamId, Place, Scalar, Space};
use lifting_dsl::{Boundary, Direction, Phase};

/// A row of the image, or a row of one band.
pub struct Source {
    pointer: ParamId,
    /// 0: signal, 1: ll, 2: the other bands.
    array: usize,
    /// Even or odd rows.
    pub row: Phase,
    /// Even or odd columns; `None` for both.
    pub columns: Option<Phase>,
}

/// Name and effect of the part that loads a row at once.
const LOAD_ROW: (&str, &str) = ("load_row", "Loads a lane's samples of a row at once.");

impl Source {
    /// The sources of a pair of rows of an image.
    pub fn all(frame: &Frame) -> Vec<Source> {
        Source::of_plane(frame, Phase::Even)
    }

    /// The sources in the order in which their data is ready: first all bands but ll, which exist before the level
    /// starts, then the result of the previous level.
    pub fn by_time(frame: &Frame) -> [Vec<Source>; 2] {
        let (there, left) = Source::all(frame).into_iter().partition(|source| source.array == 2);
        [there, left]
    }

    /// The sources of a pair of rows of a plane; in synthesis, of bands even or odd along z.
    pub fn of_plane(frame: &Frame, z: Phase) -> Vec<Source> {
        let params = frame.params;
        match frame.options.direction {
            Direction::Forward => {
                PHASES.map(|row| Source { pointer: params.signal, array: 0, row, columns: None }).into()
            }
            Direction::Inverse => (0..4)
                .map(|plane: usize| {
                    let band = 4 * z.parity() as usize + plane;
                    Source {
                        pointer: params.bands[band],
                        array: 1 + band.min(1),
                        row: PHASES[plane / 2],
                        columns: Some(PHASES[plane % 2]),
                    }
                })
                .collect(),
        }
    }

    /// The array's pointer.
    pub fn pointer(&self) -> ParamId {
        self.pointer
    }

    /// The array: 0 is the signal, 1 the low band, 2 the other bands.
    pub fn array(&self) -> usize {
        self.array
    }

    /// Index of the source's first sample in the row of a pair inside the image.
    pub fn row_start(&self, b: &mut Builder, frame: &Frame, pair: Expr) -> LocalId {
        let row = self.row_of(frame, pair);
        b.let_("row_start", Scalar::I64, frame.index(self.array, row, 0.into()))
    }

    /// The source's row in a pair inside the image, counted from its first.
    pub fn row_of(&self, frame: &Frame, pair: Expr) -> Expr {
        self.sink().row_of(frame, pair)
    }

    /// Index of the source's first sample in the row that serves a pair.
    pub fn served_start(&self, b: &mut Builder, frame: &Frame, pair: Expr) -> LocalId {
        let row = self.served_row(b, frame, pair);
        b.let_("row_start", Scalar::I64, frame.index(self.array, row, 0.into()))
    }

    /// The source's row that serves a pair, counted from its first.
    pub fn served_row(&self, b: &mut Builder, frame: &Frame, pair: Expr) -> Expr {
        let served = frame.lanes.held.serve_row(b, self.row, pair);
        if self.columns.is_some() { frame.lanes.held.band_row(self.row, served) } else { served }
    }

    /// The columns of a lane in the source.
    pub fn columns(&self, frame: &Frame) -> impl Iterator<Item = i32> + use<> {
        self.sink().columns(frame).into_iter()
    }

    /// Samples of a row in a lane.
    pub fn samples(&self, frame: &Frame) -> i32 {
        self.columns(frame).count() as i32
    }

    /// Offset in a row of the sample at even position `x`, or, for odd columns, of the next one.
    pub fn first(&self, frame: &Frame, x: LocalId) -> Expr {
        match self.columns {
            None => x - frame.lanes.held.start(0),
            Some(phase) => frame.lanes.held.in_band(0, phase, x >> 1),
        }
    }

    /// Loads the lane's samples of a row at once.
    pub fn vector(&self, b: &mut Builder, frame: &Frame, row: &Row, row_start: LocalId) {
        self.vector_from(b, frame, row, row_start, frame.lanes.x);
    }

    /// Loads a lane's count of samples of a row, from position `x` on.
    pub fn vector_from(&self, b: &mut Builder, frame: &Frame, row: &Row, row_start: LocalId, x: LocalId) {
        let index = row_start + self.first(frame, x).cast(Scalar::I64);
        b.part(LOAD_ROW.0, LOAD_ROW.1, |b| {
            let raw = self.raw(b, frame);
            self.fetch(b, frame, raw, index);
            self.see(b, frame, row, raw);
        });
    }

    /// Loads a lane's count of samples, from position `x` on, of consecutive rows inside the image. The first two rows
    /// are those of row pair `front`. Positions begin at 0. Sources with the same layout share their addresses.
    pub fn vectors(
        b: &mut Builder,
        frame: &Frame,
        x: LocalId,
        (front, pairs): (LocalId, i32),
        row: impl Fn(Phase, i32) -> Row,
    ) {
        let mut starts: [Option<LocalId>; 3] = [None; 3];
        let stages = Source::by_time(frame);
        let mut fetched = Vec::new();
        for sources in &stages {
            for (pair, source) in (0..pairs).flat_map(|pair| sources.iter().map(move |source| (pair, source))) {
                let (first, step) = match source.columns {
                    None => (front << 1, 2),
                    Some(_) => (front.into(), 1),
                };
                let index = || frame.index(source.array, first, source.first(frame, x));
                let start = *starts[source.array].get_or_insert_with(|| b.let_("start", Scalar::I64, index()));
                let below = step * pair + if step == 2 { source.row.parity() as i32 } else { 0 };
                let index = frame.below(source.array, start, below);
                if frame.options.direction == Direction::Forward {
                    // Samples that arrive at the same time are converted as they arrive.
                    b.part(LOAD_ROW.0, LOAD_ROW.1, |b| {
                        let raw = source.raw(b, frame);
                        source.fetch(b, frame, raw, index);
                        source.see(b, frame, &row(source.row, pair), raw);
                    });
                    continue;
                }
                let raw = source.raw(b, frame);
                source.fetch(b, frame, raw, index);
                fetched.push((pair, source, raw));
            }
        }
        for (pair, source, raw) in fetched {
            source.see(b, frame, &row(source.row, pair), raw);
        }
    }

    /// Declares registers for the lane's samples of a row in memory's form.
    pub fn raw(&self, b: &mut Builder, frame: &Frame) -> LocalId {
        self.raw_rows(b, frame, 1)
    }

    /// Declares registers for `rows` rows in memory's form.
    pub fn raw_rows(&self, b: &mut Builder, frame: &Frame, rows: i32) -> LocalId {
        b.array("raw", frame.options.sample, (self.samples(frame) * rows) as u32)
    }

    /// Requests the lane's samples of a row at once, from an index on.
    pub fn fetch(&self, b: &mut Builder, frame: &Frame, raw: LocalId, index: Expr) {
        let lanes = self.samples(frame) as u32;
        b.load(Place::Elem(raw, 0.into()), Space::Global(self.pointer), index, lanes, Cache::Default);
    }

    /// Requests samples of a row one by one. `served` has the offset from `index` of the sample that serves each
    /// column.
    pub fn fetch_each(
        &self,
        b: &mut Builder,
        frame: &Frame,
        (raw, first): (LocalId, Expr),
        index: Expr,
        served: &[Expr],
    ) {
        b.part("fetch_row", "Requests the samples that the border rule finds for a row, one by one.", |b| {
            for (e, c) in self.columns(frame).enumerate() {
                let index = index + served[c as usize].cast(Scalar::I64);
                let to = Place::Elem(raw, first + e as i32);
                b.load(to, Space::Global(self.pointer), index, 1, Cache::Default);
            }
        });
    }

    /// Converts loaded samples to the form that the steps read.
    pub fn see(&self, b: &mut Builder, frame: &Frame, row: &Row, raw: LocalId) {
        let first = self.columns.map_or((0, 1), |phase| (phase.parity() as i32, 2));
        row.fill(b, self.columns(frame), |c| self.seen(frame, raw, (c - first.0) / first.1));
    }

    /// Converts a single loaded sample for the steps.
    pub fn seen(&self, frame: &Frame, raw: LocalId, element: i32) -> Expr {
        seen(frame, raw.at(element))
    }

    /// Loads the lane's samples of a row one by one. `served` has the offset in a row of the sample that serves each
    /// column.
    pub fn gather(&self, b: &mut Builder, frame: &Frame, row: &Row, row_start: LocalId, served: &[Expr]) {
        b.part("gather_row", "Loads the samples that the border rule finds for a row, one by one.", |b| {
            for unit in row.form.units(self.columns(frame)) {
                let samples = unit.iter().map(|c| self.value(b, frame, row_start, served[*c as usize])).collect();
                row.put(b, &unit, samples);
            }
        });
    }

    /// Loads one sample of a row.
    pub fn one(&self, b: &mut Builder, frame: &Frame, to: Place, row_start: LocalId, column: Expr) {
        let value = self.value(b, frame, row_start, column);
        b.set(to, value);
    }

    /// One sample of a row, converted for the steps.
    pub fn value(&self, b: &mut Builder, frame: &Frame, row_start: LocalId, column: Expr) -> Expr {
        let index = row_start + column.cast(Scalar::I64);
        let sample = b.load_new("sample", frame.options.sample, Space::Global(self.pointer), index);
        seen(frame, sample.into())
    }
}

/// Whether rows are loaded as vectors, and the position of each column's sample for rows that are not. In analysis,
/// columns interleave with those of other lanes ([`beside`]).
pub fn vectors_or_served(b: &mut Builder, frame: &Frame) -> (LocalId, Vec<LocalId>) {
    let vectors = frame.vectors(b);
    let served: Vec<LocalId> = (0..frame.lanes.held.columns()).map(|_| b.declare("served", Scalar::I32)).collect();
    b.if_else(
        vectors,
        |b| served.iter().for_each(|id| b.set(Place::Local(*id), 0)),
        |b| {
            b.comment("at a border or in unaligned rows");
            for (c, id) in served.iter().enumerate() {
                if frame.options.direction == Direction::Forward {
                    let position = frame.lanes.base + beside(b, c as i32);
                    b.set(Place::Local(*id), frame.lanes.held.serve_position(0, position));
                } else {
                    let column = served_column(b, frame, c as i32);
                    b.set(Place::Local(*id), column);
                }
            }
        },
    );
    (vectors, served)
}

/// Index, in its row, of the sample that serves index k of a phase of columns.
pub fn served_index(b: &mut Builder, frame: &Frame, phase: Phase, k: Expr) -> LocalId {
    let p = phase.parity() as i32;
    // Index in the image.
    let served = match frame.lanes.held.boundary {
        Boundary::WholeSymmetric | Boundary::Periodic => frame.lanes.held.serve_position(0, (k << 1) + p),
        _ => (frame.lanes.held.serve(0, phase, k) << 1) + p - frame.lanes.held.start(0),
    };
    let index = match (frame.options.direction, phase) {
        (Direction::Forward, _) => served,
        (Direction::Inverse, Phase::Even) => (served - frame.lanes.held.start(0)) >> 1,
        (Direction::Inverse, Phase::Odd) => (served + frame.lanes.held.start(0)) >> 1,
    };
    b.let_("column", Scalar::I32, index)
}

/// Index, in its row, of the sample that serves column c of this lane.
pub fn served_column(b: &mut Builder, frame: &Frame, c: i32) -> LocalId {
    let phase = PHASES[c as usize % 2];
    served_index(b, frame, phase, (frame.lanes.x + (c - phase.parity() as i32)) >> 1)
}

/// Converts a sample from memory for the steps.
fn seen(frame: &Frame, sample: Expr) -> Expr {
    scaled(frame, frame.lanes.held.arith.widen(sample))
}

/// A sample of type `work`, with the headroom that this level adds.
pub fn scaled(frame: &Frame, value: Expr) -> Expr {
    match (frame.params.gain, frame.options.direction) {
        (Some(gain), Direction::Forward) => frame.lanes.held.arith.shift_up(value, gain.into()),
        _ => value,
    }
}
