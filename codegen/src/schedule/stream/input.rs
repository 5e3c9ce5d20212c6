//! Row loads: asynchronous copies into the ring buffer, then from it into registers.

use super::{RowAlignment, Strip};
use crate::ir::build::Builder;
use crate::ir::{Builtin, Cache, Expr, LocalId, ParamId, Place, Scalar, SharedId, Space, Stmt};
use crate::schedule::level::{BANDS_ALIGNED, DelayLine, PHASES, SIGNAL_ALIGNED, SKEW_BITS};
use lifting_dsl::{Boundary, Direction, Phase};

/// The input side of a strip.
pub struct Input<'a> {
    /// The strip.
    strip: &'a Strip<'a>,
    /// The vector a lane copies of each stream, if all rows are alike; else empty.
    vectors: Vec<Vector>,
}

/// The vector that a lane copies of every row of a stream.
struct Vector {
    /// Index of its first sample in the array's first row.
    index: LocalId,
    /// Row pitch in samples.
    pitch: LocalId,
    /// Number of its samples that exist.
    valid: LocalId,
}

/// A vector in flight with only some existing samples.
struct Part {
    pointer: ParamId,
    /// Cell of its first sample in the ring buffer.
    at: Expr,
    /// Index of its first sample in the array; it may lie outside.
    index: Expr,
}

/// One stream of a pair of rows: a row of the image, or a row of one band.
struct Stream {
    /// The array: its place in `skew` (0: signal, 1 to 4: ll, hl, lh, hh). `kind` is 0 for the signal, 1 for ll, 2 for
    /// the other bands.
    array: i32,
    kind: usize,
    pointer: ParamId,
    /// Even or odd row of the pair.
    row: Phase,
    /// Even or odd columns; `None` for both.
    columns: Option<Phase>,
    /// First element among the lane's samples of a pair. Times the vectors of a row, its first element in a slot of the
    /// ring buffer.
    at: i32,
}

impl<'a> Input<'a> {
    /// Declares all that does not change from row to row.
    pub fn new(b: &mut Builder, strip: &'a Strip<'a>) -> Input<'a> {
        let mut input = Input { strip, vectors: Vec::new() };
        if strip.shares_copies {
            input.vectors = PHASES.iter().map(|row| input.shared_vector(b, *row)).collect();
        } else if strip.frame.is_aligned() || strip.table.is_none() {
            input.vectors = input.streams().iter().map(|stream| input.vector(b, stream)).collect();
        }
        input
    }

    fn vector(&self, b: &mut Builder, stream: &Stream) -> Vector {
        let (strip, lanes) = (self.strip, self.lanes(stream));
        let (start, length) = (self.lane_start(stream, strip.frame.lanes.x.into()), self.row_length(stream));
        let begin = match strip.frame.options.boundary {
            // Whole vectors repeat: lengths are multiples of a vector.
            Boundary::Periodic => {
                let wrapped = Expr::wrap(start, length);
                strip.frame.lanes.at_border.select(wrapped, start)
            }
            _ => start,
        };
        let begin = b.let_("begin", Scalar::I32, begin);
        let valid = self.valid(b, begin, length, lanes);
        let index = b.let_("vector", Scalar::I64, strip.frame.index(stream.kind, 0.into(), begin.into()));
        Vector { index, pitch: strip.frame.pitches[stream.kind], valid }
    }

    fn valid(&self, b: &mut Builder, begin: LocalId, length: Expr, lanes: i32) -> LocalId {
        let rest = (length - begin).max(0).min(lanes);
        b.let_("valid", Scalar::I32, begin.lt(0).select(0, rest))
    }

    /// The vector that a lane copies of the two bands of a row: the first half of the lanes copy the horizontally low
    /// band, the others the high one.
    fn shared_vector(&self, b: &mut Builder, row: Phase) -> Vector {
        let (strip, streams) = (self.strip, self.streams());
        let pair = &streams[2 * row.parity() as usize..][..2];
        let first = Builtin::ThreadX.lt(16);
        let lane = Builtin::ThreadX.and(15);
        let begin = (strip.frame.lanes.base >> 1) + lane * strip.frame.lanes.held.columns();
        let begin = b.let_("begin", Scalar::I32, begin);
        let length = first.select(self.row_length(&pair[0]), self.row_length(&pair[1]));
        let valid = self.valid(b, begin, length, strip.frame.lanes.held.columns());
        let index = |stream: &Stream| Expr::from(strip.frame.offsets[stream.kind]);
        let index = first.select(index(&pair[0]), index(&pair[1])) + begin.cast(Scalar::I64);
        let index = b.let_("vector", Scalar::I64, index);
        let pitch = first.select(strip.frame.pitches[pair[0].kind], strip.frame.pitches[pair[1].kind]);
        Vector { index, pitch: b.let_("vector_row", Scalar::I32, pitch), valid }
    }

    fn streams(&self) -> Vec<Stream> {
        let (strip, params) = (self.strip, self.strip.frame.params);
        let columns = strip.frame.lanes.held.columns();
        match strip.frame.options.direction {
            Direction::Forward => PHASES
                .map(|row| Stream {
                    array: 0,
                    kind: 0,
                    pointer: params.signal,
                    row,
                    columns: None,
                    at: row.parity() as i32 * columns,
                })
                .into(),
            Direction::Inverse => (0..4)
                .map(|band: usize| Stream {
                    array: 1 + band as i32,
                    kind: 1 + band.min(1),
                    pointer: params.bands[band],
                    row: PHASES[band / 2],
                    columns: Some(PHASES[band % 2]),
                    at: band as i32 * columns / 2,
                })
                .collect(),
        }
    }

    /// Elements that a lane copies of a stream.
    fn lanes(&self, stream: &Stream) -> i32 {
        if stream.columns.is_some() {
            self.strip.frame.lanes.held.columns() / 2
        } else {
            self.strip.frame.lanes.held.columns()
        }
    }

    /// Whether the loaded rows are aligned at run time; `None` if the kernel requires it.
    fn is_aligned(&self) -> Option<Expr> {
        let bit = match self.strip.frame.options.direction {
            Direction::Forward => SIGNAL_ALIGNED,
            Direction::Inverse => BANDS_ALIGNED,
        };
        (!self.strip.shape.is_aligned()).then(|| self.strip.frame.params.has(bit))
    }

    /// The row of the stream that serves `pair`.
    fn row(&self, b: &mut Builder, stream: &Stream, pair: Expr) -> Expr {
        let strip = self.strip;
        let served = strip.frame.lanes.held.serve_row(b, stream.row, pair);
        match stream.columns {
            None => served,
            Some(_) => strip.frame.lanes.held.band_row(stream.row, served),
        }
    }

    /// Index of the stream's first sample in the row that serves `pair`.
    fn row_start(&self, b: &mut Builder, stream: &Stream, pair: Expr) -> LocalId {
        let row = self.row(b, stream, pair);
        let start = self.strip.frame.index(stream.kind, row, 0.into());
        b.let_("row_start", Scalar::I64, start)
    }

    /// Offset of the lane's first sample from the row's first, in samples. It may lie outside the row.
    fn lane_start(&self, stream: &Stream, x: Expr) -> Expr {
        let strip = self.strip;
        match stream.columns {
            None => x - strip.frame.lanes.held.start(0),
            Some(phase) => strip.frame.lanes.held.in_band(0, phase, x >> 1),
        }
    }

    /// Samples of a row.
    fn row_length(&self, stream: &Stream) -> Expr {
        match stream.columns {
            None => self.strip.frame.params.width.into(),
            Some(phase) => {
                self.strip.frame.lanes.held.last_index(0, phase) - self.strip.frame.lanes.held.first_index(0, phase) + 1
            }
        }
    }

    /// Elements between the start of the aligned vector and the lane's first sample in it.
    fn misalignment(&self, stream: &Stream, row_start: LocalId) -> Expr {
        let mask = self.lanes(stream) - 1;
        // The lane's x is a multiple of the vector, so only the row matters.
        let Some(is_aligned) = self.is_aligned() else { return 0.into() };
        let skew = (self.strip.frame.params.skew >> (SKEW_BITS * stream.array)).and((1 << SKEW_BITS) - 1);
        let row = row_start.cast(Scalar::I32) + self.lane_start(stream, 0.into());
        is_aligned.select(0, (skew + row).and(mask))
    }

    fn cell(&self, stream: &Stream, slot: Expr) -> Expr {
        let vectors = 32 + i32::from(self.strip.tail);
        self.strip.ring_base + slot * (2 * vectors * self.strip.frame.lanes.held.columns()) + vectors * stream.at
    }

    /// Starts the copies of a pair of rows into a slot of the ring buffer, unless the walk ends before it.
    pub fn request(&self, b: &mut Builder, pair: Expr, to: LocalId, slot: Expr) {
        let pair = b.let_("next", Scalar::I32, pair);
        b.if_(pair.lt(to), |b| {
            let (streams, pair) = (self.streams(), pair.into());
            if self.strip.shares_copies {
                for (row, vector) in self.vectors.iter().enumerate() {
                    self.copy_shared(b, &streams[2 * row..][..2], vector, pair, slot);
                }
                return;
            }
            for (i, stream) in streams.iter().enumerate() {
                match self.vectors.get(i) {
                    Some(vector) => self.copy_aligned(b, stream, vector, pair, slot),
                    None => self.copy(b, stream, pair, slot),
                }
            }
        });
    }

    /// Starts the copy of one row of two bands.
    fn copy_shared(&self, b: &mut Builder, bands: &[Stream], vector: &Vector, pair: Expr, slot: Expr) {
        let (strip, lanes) = (self.strip, self.strip.frame.lanes.held.columns());
        let row = self.row(b, &bands[0], pair);
        let index = self.from(b, vector, row);
        let lane = Expr::from(Builtin::ThreadX);
        let at = self.cell(&bands[0], slot) + lane * lanes;
        let at = b.let_("at", Scalar::I32, at);
        let first = lane.lt(16);
        let of = |band: &Stream, valid: Expr| Stmt::CopyAsync {
            shared: strip.ring,
            at: at.into(),
            global: band.pointer,
            index: index.into(),
            lanes: lanes as u32,
            valid,
        };
        let some = |b: &mut Builder, band: &Stream| {
            let part = Part { pointer: band.pointer, at: at.into(), index: index.into() };
            let valid = vector.valid;
            self.copy_end(b, part, valid.into(), lanes, |b| b.push(of(band, valid.into())));
        };
        b.if_else(
            strip.frame.lanes.at_border,
            |b| b.if_else(first, |b| some(b, &bands[0]), |b| some(b, &bands[1])),
            |b| b.if_else(first, |b| b.push(of(&bands[0], lanes.into())), |b| b.push(of(&bands[1], lanes.into()))),
        );
    }

    /// Index of a vector in a row.
    fn from(&self, b: &mut Builder, vector: &Vector, row: Expr) -> LocalId {
        let offset = row.cast(Scalar::I64) * vector.pitch.cast(Scalar::I64);
        b.let_("from", Scalar::I64, vector.index + offset)
    }

    /// Starts the copy of the lane's vector of an aligned row.
    fn copy_aligned(&self, b: &mut Builder, stream: &Stream, vector: &Vector, pair: Expr, slot: Expr) {
        let (strip, lanes) = (self.strip, self.lanes(stream));
        let row = self.row(b, stream, pair);
        let index = self.from(b, vector, row);
        let at = self.cell(stream, slot) + Builtin::ThreadX * lanes;
        let copy = |valid: Expr| Stmt::CopyAsync {
            shared: strip.ring,
            at,
            global: stream.pointer,
            index: index.into(),
            lanes: lanes as u32,
            valid,
        };
        if strip.frame.options.boundary == Boundary::Periodic {
            b.push(copy(lanes.into()));
        } else {
            let some = |b: &mut Builder| {
                let part = Part { pointer: stream.pointer, at, index: index.into() };
                self.copy_end(b, part, vector.valid.into(), lanes, |b| b.push(copy(vector.valid.into())));
            };
            b.if_else(strip.frame.lanes.at_border, some, |b| b.push(copy(lanes.into())));
        }
    }

    /// Starts the copy of a vector with `valid` existing samples: by `copy` if all or none exist, else one by one.
    fn copy_end(&self, b: &mut Builder, part: Part, valid: Expr, lanes: i32, copy: impl Fn(&mut Builder)) {
        if self.strip.shape.rows == RowAlignment::Whole {
            return copy(b);
        }
        let is_cut = valid.gt(0).and(valid.lt(lanes));
        b.if_else(is_cut, |b| self.copy_part(b, part, (0.into(), valid), lanes), copy);
    }

    /// Starts copies of samples `from..to` of a vector; the others become zero. A shortened vector copy would do, but
    /// memory checkers take it for a read of the whole vector.
    fn copy_part(&self, b: &mut Builder, part: Part, (from, to): (Expr, Expr), lanes: i32) {
        let sample_type = self.strip.frame.options.sample;
        let Part { pointer, at, index } = part;
        let at = b.let_("first", Scalar::I32, at);
        let exists = |e: Expr| e.ge(from).and(e.lt(to));
        if sample_type.bytes() >= 4 {
            return b.for_("e", 0, lanes, 1, |b, e| {
                let valid = exists(e).select(1, 0);
                let source = index + e.cast(Scalar::I64);
                b.copy_async((self.strip.ring, at + e), (pointer, source), 1, valid);
            });
        }
        // Below the minimum size of a copy: independent loads instead.
        b.unrolled("e", 0, lanes, 1, |b, e| {
            let sample = b.declare("sample", sample_type);
            b.set(sample, storage_zero(sample_type));
            b.if_(exists(e), |b| {
                let source = index + e.cast(Scalar::I64);
                b.load(sample, Space::Global(pointer), source, 1, Cache::Default);
            });
            b.store(Space::Shared(self.strip.ring), at + e, sample);
        });
    }

    /// Starts the copies of a row that may be unaligned.
    fn copy(&self, b: &mut Builder, stream: &Stream, pair: Expr, slot: Expr) {
        let row_start = self.row_start(b, stream, pair);
        let lane = Expr::from(Builtin::ThreadX);
        self.copy_vector(b, stream, row_start, slot, self.strip.frame.lanes.x.into(), lane);
        if let (true, Some(is_aligned)) = (self.strip.tail, self.is_aligned()) {
            b.if_((!is_aligned).and(lane.eq_(31)), |b| {
                let x = self.strip.frame.lanes.x + self.strip.frame.lanes.held.columns();
                self.copy_vector(b, stream, row_start, slot, x, 32.into());
            });
        }
    }

    /// Starts the copy of the aligned vector that holds the sample at column `x`.
    fn copy_vector(&self, b: &mut Builder, stream: &Stream, row_start: LocalId, slot: Expr, x: Expr, vector: Expr) {
        let strip = self.strip;
        let lanes = self.lanes(stream);
        let begin = self.lane_start(stream, x) - self.misalignment(stream, row_start);
        let begin = b.let_("begin", Scalar::I32, begin);
        let length = self.row_length(stream);
        let rest = (length - begin).max(0).min(lanes);
        let valid = begin.lt(0).select(0, rest);
        let at = self.cell(stream, slot) + vector * lanes;
        let index = row_start + begin.cast(Scalar::I64);
        let valid = b.let_("valid", Scalar::I32, valid);
        let copy = Stmt::CopyAsync {
            shared: strip.ring,
            at,
            global: stream.pointer,
            index,
            lanes: lanes as u32,
            valid: valid.into(),
        };
        // In unaligned rows a vector may straddle the start or the end of the row.
        let begins_before = begin.lt(0).and((begin + lanes).gt(0));
        let ends_behind = valid.gt(0).and(valid.lt(lanes));
        let part = Part { pointer: stream.pointer, at, index };
        let range = ((-begin).max(0), length - begin);
        b.if_else(begins_before.or(ends_behind), |b| self.copy_part(b, part, range, lanes), |b| b.push(copy));
    }

    /// Moves the pair of rows in a slot of the ring buffer to the front of the delay line.
    pub fn take(&self, b: &mut Builder, pair: Expr, slot: LocalId, line: &DelayLine) {
        let strip = self.strip;
        let whole = |b: &mut Builder| {
            self.take_with(b, line, |b, stream, raw| {
                let lanes = self.lanes(stream);
                let at = self.cell(stream, slot.into()) + Builtin::ThreadX * lanes;
                let to = Place::Elem(raw, stream.at.into());
                b.load(to, Space::Shared(strip.ring), at, lanes as u32, Cache::Default);
            });
        };
        if strip.shares_copies {
            b.push(Stmt::SyncWarp);
        }
        let Some(table) = strip.table else { return whole(b) };
        let inside = !strip.frame.lanes.at_border;
        let simple = self.is_aligned().map_or(inside, |aligned| inside.and(aligned));
        b.if_else(simple, whole, |b| {
            b.comment("at a border or in unaligned rows, lanes take samples that others fetched");
            if !strip.shares_copies {
                b.push(Stmt::SyncWarp);
            }
            self.take_with(b, line, |b, stream, raw| self.gather(b, stream, pair, slot.into(), (table, raw)));
        });
    }

    /// Moves samples to the delay line, stream by stream. `load` fills an array with the lane's samples of a stream.
    fn take_with(&self, b: &mut Builder, line: &DelayLine, load: impl Fn(&mut Builder, &Stream, LocalId)) {
        let strip = self.strip;
        let raw = b.array("raw", strip.frame.options.sample, 2 * strip.shape.columns);
        for stream in self.streams() {
            load(b, &stream, raw);
            for e in 0..self.lanes(&stream) {
                let (phase, column) = self.column(&stream, e);
                let mut value = strip.frame.lanes.held.arith.widen(raw.at(stream.at + e));
                if let (Some(gain), Direction::Forward) = (strip.frame.params.gain, strip.frame.options.direction) {
                    value = strip.frame.lanes.held.arith.shift_up(value, gain.into());
                }
                debug_assert_eq!(phase.parity() as i32, column % 2);
                b.set(line.row(stream.row, 0).place(column), value);
            }
        }
    }

    /// Phase of a stream's element, and its column within the lane.
    fn column(&self, stream: &Stream, e: i32) -> (Phase, i32) {
        match stream.columns {
            None => (PHASES[e as usize % 2], e),
            Some(phase) => (phase, 2 * e + phase.parity() as i32),
        }
    }

    /// Entry of the table for a column of this lane.
    fn entry(&self, column: i32) -> Expr {
        let warp = Builtin::ThreadY * (32 * self.strip.frame.lanes.held.columns());
        warp + 32 * column + Builtin::ThreadX
    }

    /// Fills the table, in strips that need it.
    pub fn make_table(&self, b: &mut Builder) {
        let strip = self.strip;
        let Some(table) = strip.table else { return };
        let fill = |b: &mut Builder| {
            b.comment("positions in a row of the ring of the samples that serve this lane's columns");
            // Rows of the image, or the two bands of one row.
            let streams = self.streams();
            let streams = if streams[0].columns.is_some() { &streams[..2] } else { &streams[..1] };
            for stream in streams {
                // The start in an aligned row; other rows begin up to a vector later.
                let begin = self.lane_start(stream, strip.frame.lanes.base.into());
                let lanes = self.lanes(stream);
                let last = (31 + i32::from(strip.tail)) * lanes;
                for e in 0..lanes {
                    let (phase, column) = self.column(stream, e);
                    let k = strip.frame.lanes.held.serve(
                        0,
                        phase,
                        (strip.frame.lanes.x + (column - phase.parity() as i32)) >> 1,
                    );
                    let i = match stream.columns {
                        None => (k << 1) + phase.parity() as i32 - strip.frame.lanes.held.start(0),
                        Some(Phase::Even) => k - strip.frame.lanes.held.start(0),
                        Some(Phase::Odd) => k,
                    };
                    // Lanes whose results nobody needs may index past the ring buffer.
                    let last = if strip.shape.is_aligned() { last + lanes - 1 } else { last };
                    b.store(Space::Shared(table), self.entry(column), (i - begin).max(0).min(last));
                }
            }
        };
        if strip.shape.is_aligned() { b.if_(strip.frame.lanes.at_border, fill) } else { fill(b) }
    }

    fn gather(&self, b: &mut Builder, stream: &Stream, pair: Expr, slot: Expr, (table, raw): (SharedId, LocalId)) {
        let mut cell = self.cell(stream, slot);
        if !self.strip.shape.is_aligned() {
            let row_start = self.row_start(b, stream, pair);
            cell = cell + self.misalignment(stream, row_start);
        }
        let cell = b.let_("cell", Scalar::I32, cell);
        for e in 0..self.lanes(stream) {
            let (_, column) = self.column(stream, e);
            let at = b.declare("at", Scalar::I32);
            b.load(at, Space::Shared(table), self.entry(column), 1, Cache::Default);
            let to = Place::Elem(raw, (stream.at + e).into());
            b.load(to, Space::Shared(self.strip.ring), cell + at, 1, Cache::Default);
        }
    }
}

/// Zero of a storage type.
fn storage_zero(s: Scalar) -> Expr {
    use crate::ir::Literal;
    match s {
        Scalar::F32 => Expr::Lit(Literal::F32(0.0)),
        Scalar::F64 => Expr::Lit(Literal::F64(0.0)),
        Scalar::F16 | Scalar::Bf16 => Expr::Lit(Literal::F32(0.0)).cast(s),
        s => Expr::int(0, s),
    }
}
