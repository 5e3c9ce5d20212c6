//! Row sinks: the destinations of stores, as [`super::Source`] is the origin of loads.

use super::{Frame, PHASES, Row};
use crate::ir::{Cache, Expr, ParamId};
use lifting_dsl::{Direction, Phase};

/// A row of the image, or a row of one band.
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    /// Even or odd rows.
    pub row: Phase,
    /// Even or odd columns; `None` for both.
    pub columns: Option<Phase>,
}

impl Sink {
    /// The sinks of a pair of rows of an image.
    pub fn all(frame: &Frame) -> Vec<Sink> {
        match frame.options.direction {
            Direction::Forward => {
                PHASES.into_iter().flat_map(|row| PHASES.map(|columns| Sink { row, columns: Some(columns) })).collect()
            }
            Direction::Inverse => PHASES.map(|row| Sink { row, columns: None }).into(),
        }
    }

    /// The array: 0 is the signal, 1 to 4 are ll, hl, lh, hh.
    pub fn array(&self) -> usize {
        self.columns.map_or(0, |columns| 1 + 2 * self.row.parity() as usize + columns.parity() as usize)
    }

    /// The sink's row in a pair inside the image, counted from its first.
    pub fn row_of(&self, frame: &Frame, pair: Expr) -> Expr {
        match self.columns {
            None => (pair << 1) + self.row.parity() as i32 - frame.lanes.held.start(1),
            Some(_) => frame.lanes.held.in_band(1, self.row, pair),
        }
    }

    /// Rows between the first pair's first row in the sink's array and the sink's row `pairs` pairs below.
    pub fn below(&self, pairs: Expr) -> Expr {
        match self.columns {
            None => (pairs << 1) + self.row.parity() as i32,
            Some(_) => pairs,
        }
    }

    /// Offset of the lane's first sample in a row.
    pub fn first(&self, frame: &Frame) -> Expr {
        match self.columns {
            None => frame.lanes.x - frame.lanes.held.start(0),
            Some(phase) => frame.lanes.held.in_band(0, phase, frame.lanes.x >> 1),
        }
    }

    /// Index of the lane's first sample in a row.
    pub fn index(&self, frame: &Frame, row: Expr) -> Expr {
        frame.index(self.array().min(2), row, self.first(frame))
    }

    /// The lane's columns that are stored.
    pub fn columns(&self, frame: &Frame) -> Vec<i32> {
        let (from, step) = self.columns.map_or((0, 1), |phase| (phase.parity() as usize, 2));
        (0..frame.lanes.held.columns()).skip(from).step_by(step).collect()
    }

    /// The lane's samples of a row, of type `work`.
    pub fn values(&self, frame: &Frame, row: &Row) -> Vec<Expr> {
        let gain = frame.params.gain.filter(|_| self.columns.is_none());
        let value = |c: i32| match gain {
            Some(gain) => frame.lanes.held.arith.shift_down(row.at(c), gain.into()),
            None => row.at(c),
        };
        self.columns(frame).into_iter().map(value).collect()
    }

    /// The array's pointer, and the cache policy of its stores: the next level reads the low band again; nobody reads
    /// the others soon.
    pub fn memory(&self, frame: &Frame) -> (ParamId, Cache) {
        match self.array() {
            0 => (frame.params.signal, Cache::Default),
            1 => (frame.params.bands[0], Cache::Default),
            array => (frame.params.bands[array - 1], Cache::Streaming),
        }
    }
}
