//! A block's samples: from memory to registers, all at once.

use super::{PHASES, Tile};
use crate::ir::build::Builder;
use crate::ir::{Cache, Expr, LocalId, ParamId, Place, Scalar, Space};
use crate::schedule::Direction;
use crate::schedule::level::{BANDS_ALIGNED, SIGNAL_ALIGNED};
use lifting_dsl::Phase;

/// What a row comes from: a row of the image, or a row of one band.
struct Source {
    pointer: ParamId,
    pitch: ParamId,
    offset: LocalId,
    /// Even or odd rows.
    row: Phase,
    /// Even or odd columns; `None` for both.
    columns: Option<Phase>,
}

impl Tile<'_> {
    fn sources(&self) -> Vec<Source> {
        let (frame, params) = (self.frame, self.frame.params);
        match frame.options.direction {
            Direction::Forward => PHASES
                .map(|row| Source {
                    pointer: params.signal,
                    pitch: params.signal_pitch,
                    offset: frame.offsets[0],
                    row,
                    columns: None,
                })
                .into(),
            Direction::Inverse => (0..4)
                .map(|band: usize| Source {
                    pointer: params.bands[band],
                    pitch: params.band_pitches[band.min(1)],
                    offset: frame.offsets[1 + band.min(1)],
                    row: PHASES[band / 2],
                    columns: Some(PHASES[band % 2]),
                })
                .collect(),
        }
    }

    /// Loads all rows: as vectors where they are aligned and the block is inside; at borders each sample where the border rule finds it.
    pub fn load(&self, b: &mut Builder) {
        let frame = self.frame;
        let aligned = match frame.options.direction {
            Direction::Forward => SIGNAL_ALIGNED,
            Direction::Inverse => BANDS_ALIGNED,
        };
        let vectors = frame.params.has(aligned).and(!Expr::from(frame.at_border));
        let vectors = b.let_("vectors", Scalar::Bool, vectors);
        let rows = |b: &mut Builder, body: &dyn Fn(&mut Builder, Expr, &Source)| {
            b.unrolled("row", 0, self.height(), 1, |b, k| {
                for source in self.sources() {
                    body(b, k.clone(), &source);
                }
            });
        };
        b.if_else(
            Expr::from(vectors).and(!Expr::from(self.at_edge)),
            |b| {
                rows(b, &|b, k, source| {
                    let start = self.row_start(b, source, Expr::from(self.front) + k.clone());
                    self.vector(b, source, k, start);
                });
            },
            |b| {
                b.comment("at a border, or where rows are not aligned");
                let served: Vec<LocalId> = (0..frame.columns()).map(|c| self.served_column(b, c)).collect();
                rows(b, &|b, k, source| {
                    let pair = frame.serve(1, source.row, Expr::from(self.front) + k.clone());
                    let start = self.row_start(b, source, pair);
                    b.if_else(
                        vectors,
                        |b| self.vector(b, source, k.clone(), start),
                        |b| {
                            for c in self.columns(source) {
                                let index = Expr::from(start) + Expr::from(served[c as usize]).cast(Scalar::I64);
                                let sample =
                                    b.load_new("sample", frame.options.sample, Space::Global(source.pointer), index);
                                self.take(b, source, k.clone(), c, sample.into());
                            }
                        },
                    );
                });
            },
        );
    }

    /// Index, in its row, of the sample that serves column c of this lane.
    fn served_column(&self, b: &mut Builder, c: i32) -> LocalId {
        let frame = self.frame;
        let phase = PHASES[c as usize % 2];
        let p = phase.parity() as i32;
        let k = frame.serve(0, phase, (Expr::from(frame.x) + (c - p)) >> 1);
        let index = match (frame.options.direction, phase) {
            (Direction::Forward, _) => (k << 1) + p - frame.start(0),
            (Direction::Inverse, Phase::Even) => k - frame.start(0),
            (Direction::Inverse, Phase::Odd) => k,
        };
        b.let_("column", Scalar::I32, index)
    }

    /// Index of the source's first sample in the row of a pair that is inside the image.
    fn row_start(&self, b: &mut Builder, source: &Source, pair: Expr) -> LocalId {
        let start = || self.frame.start(1);
        let row = match (source.columns, source.row) {
            (None, phase) => (pair << 1) + phase.parity() as i32 - start(),
            (Some(_), Phase::Even) => pair - start(),
            (Some(_), Phase::Odd) => pair,
        };
        let first = Expr::from(source.offset) + row.cast(Scalar::I64) * Expr::from(source.pitch);
        b.let_("row_start", Scalar::I64, first)
    }

    /// The lane's columns that a source has.
    fn columns(&self, source: &Source) -> impl Iterator<Item = i32> + use<> {
        let (from, step) = match source.columns {
            None => (0, 1),
            Some(phase) => (phase.parity() as usize, 2),
        };
        (0..self.frame.columns()).skip(from).step_by(step)
    }

    /// Loads the lane's samples of a row at once.
    fn vector(&self, b: &mut Builder, source: &Source, k: Expr, row_start: LocalId) {
        let frame = self.frame;
        let x = || Expr::from(frame.x);
        let first = match source.columns {
            None => x() - frame.start(0),
            Some(Phase::Even) => (x() >> 1) - frame.start(0),
            Some(Phase::Odd) => x() >> 1,
        };
        let index = Expr::from(row_start) + first.cast(Scalar::I64);
        let columns: Vec<i32> = self.columns(source).collect();
        let raw = b.array("raw", frame.options.sample, columns.len() as u32);
        let to = Place::Elem(raw, 0.into());
        b.load(to, Space::Global(source.pointer), index, columns.len() as u32, Cache::Default);
        for (e, c) in columns.into_iter().enumerate() {
            self.take(b, source, k.clone(), c, Expr::Elem(raw, Box::new((e as i32).into())));
        }
    }

    /// Puts a sample in its place in the block.
    fn take(&self, b: &mut Builder, source: &Source, k: Expr, column: i32, sample: Expr) {
        let frame = self.frame;
        let mut value = frame.arith.widen(sample);
        if let (Some(gain), Direction::Forward) = (frame.params.gain, frame.options.direction) {
            value = frame.arith.shift_up(value, gain.into());
        }
        b.set(self.row(source.row, k).place(column), value);
    }
}
