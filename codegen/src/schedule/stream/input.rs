//! Rows on their way: asynchronous copies into the ring, and out of it into registers.

use super::Strip;
use crate::ir::build::Builder;
use crate::ir::{Cache, Expr, LocalId, ParamId, Place, Scalar, Space, Stmt};
use crate::schedule::Direction;
use crate::schedule::level::{BANDS_ALIGNED, SIGNAL_ALIGNED};
use crate::schedule::stream::down::DelayLine;
use lifting_dsl::{Boundary, Phase};

/// The input side of a strip.
pub struct Input<'a> {
    /// The strip.
    pub strip: &'a Strip<'a>,
}

/// One stream of a pair of rows: a row of the image, or a row of one band.
struct Stream {
    /// Which array: its place in `skew`.
    array: i32,
    pointer: ParamId,
    pitch: ParamId,
    offset: LocalId,
    /// Even or odd row of the pair.
    row: Phase,
    /// Even or odd columns; `None` for both.
    columns: Option<Phase>,
    /// First element among the lane's samples of a pair; as many times the vectors of a row it is the first in a slot of the ring.
    at: i32,
}

const PHASES: [Phase; 2] = [Phase::Even, Phase::Odd];

impl Input<'_> {
    fn streams(&self) -> Vec<Stream> {
        let (strip, params) = (self.strip, self.strip.params);
        let columns = strip.columns();
        match strip.options.direction {
            Direction::Forward => PHASES
                .map(|row| Stream {
                    array: 0,
                    pointer: params.signal,
                    pitch: params.signal_pitch,
                    offset: strip.offsets[0],
                    row,
                    columns: None,
                    at: row.parity() as i32 * columns,
                })
                .into(),
            Direction::Inverse => (0..4)
                .map(|band: usize| Stream {
                    array: band as i32,
                    pointer: params.bands[band],
                    pitch: params.band_pitches[band.min(1)],
                    offset: strip.offsets[1 + band.min(1)],
                    row: PHASES[band / 2],
                    columns: Some(PHASES[band % 2]),
                    at: band as i32 * columns / 2,
                })
                .collect(),
        }
    }

    /// Elements that a lane copies of a stream.
    fn lanes(&self, stream: &Stream) -> i32 {
        if stream.columns.is_some() { self.strip.columns() / 2 } else { self.strip.columns() }
    }

    /// Whether the rows that are read are aligned.
    fn is_aligned(&self) -> Expr {
        self.strip.params.has(match self.strip.options.direction {
            Direction::Forward => SIGNAL_ALIGNED,
            Direction::Inverse => BANDS_ALIGNED,
        })
    }

    /// Index of the stream's first sample in the row that serves `pair`.
    fn row_start(&self, b: &mut Builder, stream: &Stream, pair: &Expr) -> LocalId {
        let strip = self.strip;
        let k = strip.serve(1, stream.row, pair.clone());
        let row = match (stream.columns, stream.row) {
            (None, phase) => (k << 1) + phase.parity() as i32 - strip.start(1),
            (Some(_), Phase::Even) => k - strip.start(1),
            (Some(_), Phase::Odd) => k,
        };
        let start = Expr::from(stream.offset) + row.cast(Scalar::I64) * Expr::from(stream.pitch);
        b.let_("row_start", Scalar::I64, start)
    }

    /// Where the lane's first sample stands in a row: samples from the row's first. May lie outside.
    fn lane_start(&self, stream: &Stream, x: Expr) -> Expr {
        let strip = self.strip;
        match stream.columns {
            None => x - strip.start(0),
            Some(Phase::Even) => (x >> 1) - strip.start(0),
            Some(Phase::Odd) => x >> 1,
        }
    }

    /// Samples of a row.
    fn row_length(&self, stream: &Stream) -> Expr {
        match stream.columns {
            None => self.strip.params.width.into(),
            Some(phase) => self.strip.last_index(0, phase) - self.strip.first_index(0, phase) + 1,
        }
    }

    /// How many elements before the lane's first sample the aligned vector begins that holds it.
    fn misalignment(&self, stream: &Stream, row_start: LocalId) -> Expr {
        let mask = self.lanes(stream) - 1;
        // The lane's x is a multiple of the vector, so only the row matters.
        let skew = (Expr::from(self.strip.params.skew) >> (8 * stream.array)).and(0xff.into());
        let row = Expr::from(row_start).cast(Scalar::I32) + self.lane_start(stream, 0.into());
        self.is_aligned().select(0.into(), (skew + row).and(mask.into()))
    }

    fn cell(&self, stream: &Stream, slot: &Expr) -> Expr {
        let vectors = 32 + i32::from(self.strip.tail);
        Expr::from(self.strip.ring_base) + slot.clone() * (2 * vectors * self.strip.columns()) + vectors * stream.at
    }

    /// Starts the copies of a pair of rows into a slot of the ring, unless the walk ends before it.
    pub fn request(&self, b: &mut Builder, pair: Expr, to: LocalId, slot: Expr) {
        let pair = b.let_("next", Scalar::I32, pair);
        b.if_(Expr::from(pair).lt(to.into()), |b| {
            for stream in self.streams() {
                self.copy(b, &stream, &pair.into(), &slot);
            }
        });
    }

    fn copy(&self, b: &mut Builder, stream: &Stream, pair: &Expr, slot: &Expr) {
        let row_start = self.row_start(b, stream, pair);
        let lane = Expr::from(crate::ir::Builtin::ThreadX);
        self.copy_vector(b, stream, row_start, slot, self.strip.x.into(), lane.clone());
        if self.strip.tail && self.strip.options.boundary != Boundary::Periodic {
            b.if_((!self.is_aligned()).and(lane.eq_(31.into())), |b| {
                let x = Expr::from(self.strip.x) + self.strip.columns();
                self.copy_vector(b, stream, row_start, slot, x, 32.into());
            });
        }
    }

    /// Starts the copy of the vector at column `x`.
    fn copy_vector(&self, b: &mut Builder, stream: &Stream, row_start: LocalId, slot: &Expr, x: Expr, vector: Expr) {
        let strip = self.strip;
        let lanes = self.lanes(stream);
        let begin = match strip.options.boundary {
            // Whole vectors repeat: lengths are multiples of a vector.
            Boundary::Periodic => {
                let begin = self.lane_start(stream, x);
                let length = self.row_length(stream);
                let wrapped = Expr::Wrap(Box::new(begin.clone()), Box::new(length));
                Expr::from(strip.at_border).select(wrapped, begin)
            }
            _ => self.lane_start(stream, x) - self.misalignment(stream, row_start),
        };
        let begin = b.let_("begin", Scalar::I32, begin);
        let length = self.row_length(stream);
        let rest = (length.clone() - Expr::from(begin)).max(0.into()).min(lanes.into());
        let valid = Expr::from(begin).lt(0.into()).select(0.into(), rest);
        let at = self.cell(stream, slot) + vector * lanes;
        let index = Expr::from(row_start) + Expr::from(begin).cast(Scalar::I64);
        let copy = Stmt::CopyAsync {
            shared: strip.ring,
            at: at.clone(),
            global: stream.pointer,
            index: index.clone(),
            lanes: lanes as u32,
            valid,
        };
        if strip.options.boundary == Boundary::Periodic {
            b.push(copy);
            return;
        }
        // Only where rows are not aligned can a vector begin before the row and end within it.
        let straddles = Expr::from(begin).lt(0.into()).and((Expr::from(begin) + lanes).gt(0.into()));
        b.if_else(
            straddles,
            |b| {
                b.unrolled("e", 0, lanes, 1, |b, e| {
                    let sample = b.declare("sample", strip.options.sample);
                    b.set(Place::Local(sample), storage_zero(strip.options.sample));
                    let i = || Expr::from(begin) + e.clone();
                    b.if_(i().ge(0.into()).and(i().lt(length.clone())), |b| {
                        let at = index.clone() + e.clone().cast(Scalar::I64);
                        b.load(Place::Local(sample), Space::Global(stream.pointer), at, 1, Cache::Default);
                    });
                    b.store(Space::Shared(strip.ring), at.clone() + e.clone(), sample);
                });
            },
            |b| b.push(copy),
        );
    }

    /// Takes the pair of rows in a slot of the ring to the front of the delay line.
    pub fn take(&self, b: &mut Builder, pair: Expr, slot: LocalId, line: &DelayLine) {
        let strip = self.strip;
        let slot = Expr::from(slot);
        let raw = b.array("raw", strip.options.sample, 2 * strip.shape.columns);
        let plain = |b: &mut Builder| {
            for stream in self.streams() {
                let (lanes, to) = (self.lanes(&stream), stream.at);
                let at = self.cell(&stream, &slot) + Expr::from(crate::ir::Builtin::ThreadX) * lanes;
                b.load(Place::Elem(raw, to.into()), Space::Shared(strip.ring), at, lanes as u32, Cache::Default);
            }
        };
        if strip.options.boundary == Boundary::Periodic {
            plain(b);
        } else {
            let simple = (!Expr::from(strip.at_border)).and(self.is_aligned());
            b.if_else(simple, plain, |b| {
                b.comment("at a border, or where rows are not aligned, lanes take what others fetched");
                b.push(Stmt::SyncWarp);
                for stream in self.streams() {
                    self.gather(b, &stream, &pair, &slot, raw);
                }
            });
        }
        for stream in self.streams() {
            for e in 0..self.lanes(&stream) {
                let (phase, column) = self.column(&stream, e);
                let mut value = strip.arith.widen(Expr::Elem(raw, Box::new((stream.at + e).into())));
                if let (Some(gain), Direction::Forward) = (strip.params.gain, strip.options.direction) {
                    value = strip.arith.shift_up(value, gain.into());
                }
                debug_assert_eq!(phase.parity() as i32, column % 2);
                b.set(line.row(stream.row, 0).place(column), value);
            }
        }
    }

    /// Phase and column, within the lane, of a stream's element.
    fn column(&self, stream: &Stream, e: i32) -> (Phase, i32) {
        match stream.columns {
            None => (PHASES[e as usize % 2], e),
            Some(phase) => (phase, 2 * e + phase.parity() as i32),
        }
    }

    fn gather(&self, b: &mut Builder, stream: &Stream, pair: &Expr, slot: &Expr, raw: LocalId) {
        let strip = self.strip;
        let lanes = self.lanes(stream);
        let row_start = self.row_start(b, stream, pair);
        // The ring holds the row from here on.
        let begin = self.lane_start(stream, strip.base.into()) - self.misalignment(stream, row_start);
        let begin = b.let_("begin", Scalar::I32, begin);
        for e in 0..lanes {
            let (phase, column) = self.column(stream, e);
            let k = strip.serve(0, phase, (Expr::from(strip.x) + (column - phase.parity() as i32)) >> 1);
            let i = match stream.columns {
                None => (k << 1) + phase.parity() as i32 - strip.start(0),
                Some(Phase::Even) => k - strip.start(0),
                Some(Phase::Odd) => k,
            };
            // Lanes whose results nobody needs may look beyond the ring.
            let offset = (i - Expr::from(begin)).max(0.into()).min(((32 + i32::from(strip.tail)) * lanes - 1).into());
            let at = self.cell(stream, slot) + offset;
            let to = Place::Elem(raw, (stream.at + e).into());
            b.load(to, Space::Shared(strip.ring), at, 1, Cache::Default);
        }
    }
}

/// Zero, of a storage type.
fn storage_zero(s: Scalar) -> Expr {
    use crate::ir::Literal;
    match s {
        Scalar::F32 => Expr::Lit(Literal::F32(0.0)),
        Scalar::F64 => Expr::Lit(Literal::F64(0.0)),
        Scalar::F16 | Scalar::Bf16 => Expr::Lit(Literal::F32(0.0)).cast(s),
        s => Expr::int(0, s),
    }
}
