//! Plane loads: ahead of the walk, to registers, in the form that memory has.

use super::Walk;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, LocalId, Place, Scalar};
use crate::schedule::level::{Border, Form, PHASES, Row, Source, scaled, vectors_or_served, word};
use lifting_dsl::{Direction, Phase};

/// A round of loads: row pairs that the warps of a block load at once, one each.
pub struct Round {
    /// Index of the round in each warp.
    pub index: i32,
    /// The warp's pair, counted from the first in shared memory.
    pub pair: LocalId,
    /// Warps that have a pair in this round.
    pub warps: i32,
    /// Loads for both phases of planes: source, first sample in a plane, destination registers.
    pub sources: [Vec<(Source, LocalId, LocalId)>; 2],
}

/// Loads of planes ahead of the walk.
pub struct Ahead {
    /// [`Walk::by_columns`], for unaligned rows.
    pub by_columns: Option<(LocalId, Vec<LocalId>)>,
    /// For both phases of planes: the arrays to load from, and the index of the first sample of the last loaded plane.
    pub planes: [Vec<(usize, LocalId)>; 2],
    pub rounds: Vec<Round>,
}

impl Walk<'_> {
    /// For unaligned rows: whether this lane can load vectors, and the position of each column's sample from the lane's
    /// first.
    fn by_columns(&self, b: &mut Builder) -> (LocalId, Vec<LocalId>) {
        let frame = &self.frame;
        let (vectors, served) = vectors_or_served(b, frame);
        b.comment("counted from the lane's first sample");
        for source in Source::of_plane(frame, Phase::Even).iter().filter(|source| source.row == Phase::Even) {
            for c in source.columns(frame) {
                let from_first = Expr::from(served[c as usize]) - source.first(frame, frame.lanes.x);
                b.set(Place::Local(served[c as usize]), from_first);
            }
        }
        (vectors, served)
    }

    /// Declares the registers and sources of plane loads.
    pub fn ahead(&self, b: &mut Builder) -> Ahead {
        let (frame, plan) = (&self.frame, self.plan);
        let (by_columns, x) = match frame.is_aligned() {
            true => (None, frame.lanes.inner_x(b)),
            false => (Some(self.by_columns(b)), frame.lanes.x),
        };
        let before = plan.halo.pairs_before() as i32;
        let rounds = self.rounds(plan.held_pairs()).enumerate().map(|(index, (first, warps))| {
            let pair = b.let_("pair", Scalar::I32, Builtin::ThreadY + first);
            let row = b.let_("front", Scalar::I32, self.first_row + pair - before);
            let sources = PHASES.map(|z| {
                let of_plane = Source::of_plane(frame, z).into_iter();
                of_plane
                    .map(|source| {
                        let row = source.served_row(b, frame, row.into());
                        let start = row * Expr::from(frame.pitches[source.array()]) + source.first(frame, x);
                        let start = b.let_("start", Scalar::I32, start);
                        let raw = match self.in_words() {
                            true => b.array("raw", Scalar::I32, source.columns(frame).count() as u32 / 2),
                            false => source.raw(b, frame),
                        };
                        (source, start, raw)
                    })
                    .collect()
            });
            Round { index: index as i32, pair, warps, sources }
        });
        let rounds = rounds.collect();
        let planes = PHASES.map(|z| {
            let arrays = match (frame.options.direction, z) {
                (Direction::Forward, _) => 0..1,
                (Direction::Inverse, Phase::Even) => 1..3,
                (Direction::Inverse, Phase::Odd) => 2..3,
            };
            arrays.map(|array| (array, b.declare("plane_start", self.counts()))).collect()
        });
        Ahead { by_columns, planes, rounds }
    }

    /// Requests the planes of a phase: the first one, or the next.
    pub fn request(&self, b: &mut Builder, ahead: &Ahead, z: Phase, pair: Expr, is_first: bool) {
        let frame = &self.frame;
        let planes = &ahead.planes[z.parity() as usize];
        if is_first {
            self.find(b, planes, z, pair);
        } else {
            let follows = (pair.gt(self.deep.first_index(2, z))).and(pair.le(self.deep.last_index(2, z)));
            let apart = if frame.options.direction == Direction::Forward { 2 } else { 1 };
            b.if_else(
                follows,
                |b| {
                    for &(array, at) in planes {
                        let step = self.count(self.planes[array]) * self.count(apart);
                        b.set(at, at + step);
                    }
                },
                |b| self.find(b, planes, z, pair),
            );
        }
        for round in &ahead.rounds {
            self.with_pair(b, round.warps, |b| {
                let at = |(source, start, raw): &(Source, LocalId, LocalId)| {
                    let (_, plane) = planes.iter().find(|plane| plane.0 == source.array()).expect("it is read");
                    (*plane + self.count(*start), *raw)
                };
                let sources = &round.sources[z.parity() as usize];
                let each = |b: &mut Builder, load: &dyn Fn(&mut Builder, &Source, LocalId, Expr)| {
                    for loaded in sources {
                        let (at, raw) = at(loaded);
                        // One number: added to a pointer separately, two would be widened to 64 bits.
                        let at = b.let_("first", self.counts(), at);
                        load(b, &loaded.0, raw, at.into());
                    }
                };
                let at_once = |b: &mut Builder| each(b, &|b, source, raw, at| self.fetch(b, source, raw, at));
                match &ahead.by_columns {
                    None => at_once(b),
                    Some((vectors, served)) => b.if_else(*vectors, at_once, |b| {
                        let columns: Vec<Expr> = served.iter().map(|&id| id.into()).collect();
                        each(b, &|b, source, raw, at| source.fetch_each(b, frame, (raw, 0.into()), at, &columns));
                    }),
                }
            });
        }
    }

    /// Whether 16-bit integers stay packed in words as loaded. Otherwise nvcc unpacks words at the load and so waits
    /// for them there.
    fn in_words(&self) -> bool {
        self.plan.shape.aligned
            && self.frame.options.sample == Scalar::I16
            && self.samples_of_a_lane().is_multiple_of(2)
    }

    /// Samples of a row of an array that a lane loads.
    fn samples_of_a_lane(&self) -> u32 {
        match self.frame.options.direction {
            Direction::Forward => self.plan.shape.columns,
            Direction::Inverse => self.plan.shape.columns / 2,
        }
    }

    /// Requests the lane's samples of a row at once, from an index on.
    fn fetch(&self, b: &mut Builder, source: &Source, raw: LocalId, at: Expr) {
        if !self.in_words() {
            return source.fetch(b, &self.frame, raw, at);
        }
        let samples = source.raw(b, &self.frame);
        source.fetch(b, &self.frame, samples, at);
        for i in 0..self.samples_of_a_lane() as i32 / 2 {
            let [low, high] = [2 * i, 2 * i + 1].map(|e| samples.at(e));
            b.set(Place::Elem(raw, i.into()), word(low, high).cast(Scalar::I32));
        }
    }

    /// Copies samples that were loaded at once to the form that the steps read.
    pub fn see_whole(&self, b: &mut Builder, source: &Source, row: &Row, raw: LocalId) {
        if !self.in_words() {
            return source.see(b, &self.frame, row, raw);
        }
        let words = Row { array: raw, first: 0.into(), form: Form::Beside };
        for (e, c) in source.columns(&self.frame).enumerate() {
            b.set(row.place(c), scaled(&self.frame, words.at(e as i32)));
        }
    }

    /// Finds the plane that serves a pair under the border rule.
    fn find(&self, b: &mut Builder, planes: &[(usize, LocalId)], z: Phase, pair: Expr) {
        let deep = &self.deep;
        let k = b.let_("plane", Scalar::I32, pair);
        if deep.border != Border::Untouched {
            let outside = k.lt(deep.first_index(2, z)).or(k.gt(deep.last_index(2, z)));
            b.if_(outside, |b| {
                let served = deep.serve(2, z, k.into());
                b.set(k, served);
            });
        }
        let plane = match self.frame.options.direction {
            Direction::Forward => (k << 1) + z.parity() as i32 - deep.start(2),
            Direction::Inverse => deep.in_band(2, z, k.into()),
        };
        b.set(k, plane);
        for &(array, at) in planes {
            let start = self.count(self.frame.offsets[array]) + self.plane_start(array, k.into());
            b.set(at, start);
        }
    }
}
