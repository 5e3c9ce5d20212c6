//! Unaligned rows: loads and stores of whole vectors at aligned addresses, with shuffles that move samples to and from
//! their lanes.
//!
//! A lane's run of V samples begins `m` samples past an aligned vector, with the same `m` in all lanes. On load, the
//! run is in that vector and in the one that the right neighbour loads. On store, it joins the left neighbour's samples
//! of the vector that begins `m` samples earlier. 16-bit integers move in pairs, as memory has them.

use super::source::scaled;
use super::{Frame, Row, SKEW_BITS, Sink, Source, word};
use crate::ir::build::Builder;
use crate::ir::{Cache, Expr, Lane, LocalId, Place, Scalar, Space};
use crate::schedule::Arithmetic;
use std::collections::BTreeMap;

/// Side of the lane with the rest of a vector's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// The lane loaded the earlier part; the rest is in the right neighbour.
    Right,
    /// The lane holds the later part; the rest is in the left neighbour.
    Left,
}

/// A lane's runs of consecutive rows of an array. Offsets from the first to the last are counted in 32 bits
/// ([`Runs::REACH`]).
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// 0: signal, 1: ll, 2: the other bands.
    array: usize,
    /// Index, of type i64, of the vector in which the first run begins.
    first: LocalId,
    /// Offset of the first run's samples in that vector.
    shift: LocalId,
    /// Samples of a vector.
    samples: i32,
}

impl Runs {
    /// The runs of rows from `row` on.
    pub fn from(b: &mut Builder, frame: &Frame, sink: &Sink, row: Expr) -> Runs {
        let samples = sink.columns(frame).len() as i32;
        let index = b.let_("begins", Scalar::I64, sink.index(frame, row));
        let shift = (index.cast(Scalar::I32) + skew_of(frame, sink)).and(samples - 1);
        let shift = b.let_("shift", Scalar::I32, shift);
        let first = b.let_("first", Scalar::I64, index - shift.cast(Scalar::I64));
        Runs { array: sink.array().min(2), first, shift, samples }
    }

    /// Maximum rows times pitch for which offsets are correct.
    pub const REACH: i64 = i32::MAX as i64 - 64;

    /// Offset of the run `rows` rows below the first from the start of the first vector, in samples.
    fn below(&self, frame: &Frame, rows: Expr) -> Expr {
        self.shift + rows * Expr::from(frame.pitches[self.array])
    }

    /// Index of the vector in which the run `rows` rows below begins.
    pub fn vector(&self, frame: &Frame, rows: Expr) -> Expr {
        self.first + self.below(frame, rows).and(-self.samples).cast(Scalar::I64)
    }

    /// Offset of the lane's samples in that vector, modulo the length of a vector.
    pub fn shift(&self, b: &mut Builder, frame: &Frame, rows: Expr) -> LocalId {
        b.let_("shift", Scalar::I32, self.below(frame, rows))
    }

    /// Whether no row of an array is shifted; the same for all lanes.
    pub fn stand_aligned(frame: &Frame, sink: &Sink) -> Expr {
        let (array, samples) = (sink.array().min(2), sink.columns(frame).len() as i32);
        let column = match sink.columns {
            None => -frame.lanes.held.start(0),
            Some(phase) => frame.lanes.held.in_band(0, phase, 0.into()),
        };
        let first = skew_of(frame, sink) + frame.offsets[array].cast(Scalar::I32) + column;
        first.or(frame.pitches[array]).and(samples - 1).eq_(0)
    }

    /// Offset of the first run in its vector.
    pub fn first_shift(&self) -> LocalId {
        self.shift
    }

    /// Index of the vector in which the first run begins.
    pub fn first_vector(&self) -> LocalId {
        self.first
    }
}

/// Samples from an aligned vector to the start of an array.
fn skew_of(frame: &Frame, sink: &Sink) -> Expr {
    (frame.params.skew >> (SKEW_BITS * sink.array() as i32)).and((1 << SKEW_BITS) - 1)
}

/// A lane's samples moved by `shift` samples, later or earlier, in one stage for each bit of the shift. All lanes of
/// the warp take part. An element has `each` samples.
fn moved(
    b: &mut Builder,
    (scalar, each): (Scalar, usize),
    elements: Vec<Expr>,
    shift: Expr,
    rest: Neighbour,
) -> Vec<Expr> {
    let len = elements.len();
    let mut elements = elements;
    for step in (0..len.ilog2()).map(|bit| 1usize << bit) {
        let (from, lane) = match rest {
            Neighbour::Right => (0, Lane::Down(1)),
            Neighbour::Left => (len - step, Lane::Up(1)),
        };
        let others: Vec<Expr> =
            elements[from..from + step].iter().map(|s| b.shuffle("other", scalar, *s, lane).into()).collect();
        let later: Vec<Expr> = match rest {
            Neighbour::Right => elements[step..].iter().chain(&others).cloned().collect(),
            Neighbour::Left => others.iter().chain(&elements[..len - step]).cloned().collect(),
        };
        elements = chosen(b, scalar, (shift, step * each), later, elements);
    }
    elements
}

/// Selects one of two values for each element, by a bit of the shift.
fn chosen(
    b: &mut Builder,
    scalar: Scalar,
    (shift, bit): (Expr, usize),
    moved: Vec<Expr>,
    stays: Vec<Expr>,
) -> Vec<Expr> {
    let moves = b.let_("moves", Scalar::Bool, shift.and(bit as i32).ne_(0));
    let select = |(moved, stays)| moves.select(moved, stays);
    let chosen: Vec<Expr> = moved.into_iter().zip(stays).map(select).collect();
    chosen.into_iter().map(|value| b.let_("sample", scalar, value).into()).collect()
}

/// [`moved`] for 16-bit integers, two an element, in the order of memory.
fn moved_pairs(b: &mut Builder, samples: &[Expr], shift: Expr, rest: Neighbour) -> Vec<Expr> {
    let pairs: Vec<Expr> = samples.chunks_exact(2).map(|p| word(p[0], p[1])).collect();
    let pairs: Vec<Expr> = pairs.into_iter().map(|pair| b.let_("pair", Scalar::U32, pair).into()).collect();
    let pairs = moved(b, (Scalar::U32, 2), pairs, shift, rest);
    // A move by one sample: the high half of one element and the low half of the next.
    let (lane, end) = match rest {
        Neighbour::Right => (Lane::Down(1), 0),
        Neighbour::Left => (Lane::Up(1), pairs.len() - 1),
    };
    let other: Expr = b.shuffle("other", Scalar::U32, pairs[end], lane).into();
    let all: Vec<Expr> = match rest {
        Neighbour::Right => pairs.iter().cloned().chain([other]).collect(),
        Neighbour::Left => [other].into_iter().chain(pairs.iter().cloned()).collect(),
    };
    let between = all.windows(2).map(|w| (w[0] >> 16).or(w[1] << 16)).collect();
    let pairs = chosen(b, Scalar::U32, (shift, 1), between, pairs);
    pairs.into_iter().flat_map(|pair| [pair.cast(Scalar::I16), (pair >> 16).cast(Scalar::I16)]).collect()
}

/// A lane's samples, of type `work`, moved by a row's shift.
fn shifted(b: &mut Builder, arith: Arithmetic, samples: Vec<Expr>, shift: LocalId, rest: Neighbour) -> Vec<Expr> {
    let shift = shift.into();
    if arith.storage == Scalar::I16 && samples.len() > 1 {
        return moved_pairs(b, &samples, shift, rest).into_iter().map(|sample| arith.widen(sample)).collect();
    }
    moved(b, (arith.work, 1), samples, shift, rest)
}

/// Sets columns of a row: all or none of each register.
fn put(b: &mut Builder, row: &Row, columns: Vec<i32>, samples: Vec<Expr>) {
    let samples: BTreeMap<i32, Expr> = columns.into_iter().zip(samples).collect();
    for unit in row.form.units(samples.keys().copied()) {
        row.put(b, &unit, unit.iter().map(|column| samples[column]).collect());
    }
}

impl Source {
    /// The sink with the same rows and columns.
    pub fn sink(&self) -> Sink {
        Sink { row: self.row, columns: self.columns }
    }

    /// Requests the vector in which the lane's samples of a row begin, into an array from an element on.
    pub fn fetch_vector(&self, b: &mut Builder, frame: &Frame, index: Expr, to: Place) {
        let samples = self.samples(frame) as u32;
        b.load(to, Space::Global(self.pointer()), index, samples, Cache::Default);
    }

    /// Converts such vectors to the lane's samples for the steps; `shift` is `None` for rows without a shift.
    pub fn see_row(
        &self,
        b: &mut Builder,
        frame: &Frame,
        row: &Row,
        (raw, first): (LocalId, Expr),
        shift: Option<LocalId>,
    ) {
        let (name, doc) = match shift {
            Some(_) => ("shift_row", "Moves the samples of the loaded vectors to their lanes."),
            None => ("convert_row", "Converts the loaded samples to the form that the steps read."),
        };
        b.part(name, doc, |b| {
            let columns: Vec<i32> = self.columns(frame).collect();
            let sample = |e| frame.lanes.held.arith.widen(raw.at(first + e as i32));
            let samples: Vec<Expr> = (0..columns.len()).map(sample).collect();
            let samples: Vec<Expr> = match shift {
                Some(shift) => shifted(b, frame.lanes.held.arith, samples, shift, Neighbour::Right),
                None => samples,
            };
            put(b, row, columns, samples.into_iter().map(|sample| scaled(frame, sample)).collect());
        });
    }
}

impl Sink {
    /// Moves the lane's samples of a row to the vector that it stores. Only analysis tests whether rows are shifted:
    /// its stores remove no gain.
    pub fn shift(&self, b: &mut Builder, frame: &Frame, row: &Row, shift: LocalId) {
        let samples = shifted(b, frame.lanes.held.arith, self.values(frame, row), shift, Neighbour::Left);
        put(b, row, self.columns(frame), samples);
    }

    /// Stores such a vector.
    pub fn store_vector(&self, b: &mut Builder, frame: &Frame, row: &Row, runs: &Runs, rows: Expr) {
        let samples = self.columns(frame).into_iter().map(|c| frame.lanes.held.arith.narrow(row.at(c))).collect();
        let (pointer, cache) = self.memory(frame);
        b.store_wide(Space::Global(pointer), runs.vector(frame, rows), samples, cache);
    }
}
