//! Rows that begin anywhere: whole vectors are loaded and stored at their own addresses nevertheless, and shuffles move samples between these and the lanes that hold them.
//!
//! A lane's run of V samples begins `m` samples past an address at which a vector may stand, the same `m` in all lanes. It is found in the vector there and the one that the lane on
//! its right loads; and it is stored together with what the lane on its left has of the vector that begins `m` samples earlier.

use super::{Frame, Row, SKEW_BITS, Sink, Source};
use crate::ir::build::Builder;
use crate::ir::{Cache, Expr, Lane, LocalId, Place, Scalar, Space};

/// Where the other samples of a vector are that a lane wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// What it loaded is the earlier part: the rest is in the lane on the right.
    Right,
    /// What it holds is the later part: the rest is in the lane on the left.
    Left,
}

/// By how much the rows of arrays are shifted.
pub struct Shifts {
    /// Of signal, ll, hl, lh, hh: samples from where a vector may stand to the sample at position 0, in the first row of the image at hand; modulo its length.
    skews: [LocalId; 5],
}

impl Shifts {
    /// Those of an image.
    pub fn declare(b: &mut Builder, frame: &Frame) -> Shifts {
        let skews = std::array::from_fn(|array| {
            let skew = (Expr::from(frame.params.skew) >> (SKEW_BITS * array as i32)).and(((1 << SKEW_BITS) - 1).into());
            let base = Expr::from(frame.offsets[array.min(2)]).cast(Scalar::I32);
            // Where the first sample is at position 1, it is the first of the odd columns.
            let lead = if [0, 1, 3].contains(&array) { frame.start(0) } else { 0.into() };
            let name = ["signal_skew", "ll_skew", "hl_skew", "lh_skew", "hh_skew"][array];
            b.let_(name, Scalar::I32, skew + base - lead)
        });
        Shifts { skews }
    }

    /// Samples by which lanes' runs of a row of an array (0: signal, 1 to 4: ll, hl, lh, hh) begin past where vectors stand, for vectors of so many.
    pub fn of_row(&self, b: &mut Builder, frame: &Frame, array: usize, row: Expr, samples: i32) -> LocalId {
        let shift = Expr::from(self.skews[array]) + row * Expr::from(frame.pitches[array.min(2)]);
        b.let_("shift", Scalar::I32, shift.and((samples - 1).into()))
    }
}

/// A lane's samples, `shift` samples later than it has them, or earlier: in stages, each for a bit of the shift. All lanes of the warp take part.
pub fn shifted(
    b: &mut Builder,
    work: Scalar,
    samples: Vec<Expr>,
    shift: impl Into<Expr>,
    rest: Neighbour,
) -> Vec<Expr> {
    let (len, shift) = (samples.len(), shift.into());
    let mut samples = samples;
    for step in (0..len.ilog2()).map(|bit| 1usize << bit) {
        let (from, lane) = match rest {
            Neighbour::Right => (0, Lane::Down(1)),
            Neighbour::Left => (len - step, Lane::Up(1)),
        };
        let others: Vec<Expr> = samples[from..from + step]
            .iter()
            .map(|s| b.shuffle("other", work, s.clone(), lane.clone()).into())
            .collect();
        let moved: Vec<Expr> = match rest {
            Neighbour::Right => samples[step..].iter().chain(&others).cloned().collect(),
            Neighbour::Left => others.iter().chain(&samples[..len - step]).cloned().collect(),
        };
        let moves = b.let_("moves", Scalar::Bool, shift.clone().and((step as i32).into()).ne_(0.into()));
        let select = |(moved, stays)| Expr::from(moves).select(moved, stays);
        let chosen: Vec<Expr> = moved.into_iter().zip(samples).map(select).collect();
        samples = chosen.into_iter().map(|value| b.let_("sample", work, value).into()).collect();
    }
    samples
}

impl Source {
    /// Starts loading the vectors that hold the lane's samples of a row inside the image, into an array from an element on; says by how much these are shifted.
    pub fn fetch_shifted(&self, b: &mut Builder, frame: &Frame, shifts: &Shifts, to: Place, row: Expr) -> LocalId {
        let array = Sink { row: self.row, columns: self.columns }.array();
        let row = b.let_("row", Scalar::I32, row);
        let samples = self.columns(frame).count() as u32;
        let shift = shifts.of_row(b, frame, array, row.into(), samples as i32);
        let index = frame.index(self.array(), row.into(), self.first(frame, frame.x) - Expr::from(shift));
        b.load(to, Space::Global(self.pointer()), index, samples, Cache::Default);
        shift
    }

    /// What such vectors hold of the lane's samples, as the steps see it.
    pub fn see_shifted(&self, b: &mut Builder, frame: &Frame, row: &Row, (raw, first): (LocalId, Expr), shift: Expr) {
        let columns: Vec<i32> = self.columns(frame).collect();
        let samples = (0..columns.len()).map(|e| self.seen(frame, raw, first.clone() + e as i32)).collect();
        let samples = shifted(b, frame.arith.work, samples, shift, Neighbour::Right);
        for (column, sample) in columns.into_iter().zip(samples) {
            b.set(row.place(column), sample);
        }
    }
}
