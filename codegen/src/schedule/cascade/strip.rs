//! Shared parts of analysis and synthesis: a warp's strip, and its two walks, one of them without border code.

use super::CascadeFit;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, LocalId, ParamId, Scalar, SharedId};
use crate::schedule::level::{Border, DelayLine, Descent, Frame, Held, Lanes, PHASES, Params, Row, RowAlignment};
use lifting_dsl::Boundary;

/// A warp's columns and arrays, before the kernel branches on borders.
pub struct Strips<'a> {
    /// The scheme's walk.
    pub plan: &'a CascadeFit,
    /// Parameters of the kernel.
    pub params: &'a Params,
    /// Whether the warp's columns reach beyond the image.
    pub beyond: LocalId,
    ring: SharedId,
    base: LocalId,
    x: LocalId,
    useful: LocalId,
    low_base: LocalId,
    low_x: LocalId,
}

/// The strip that a warp walks down.
pub struct Strip<'a> {
    /// The scheme's walk.
    pub plan: &'a CascadeFit,
    /// The warp's columns, and the arrays.
    pub frame: Frame<'a>,
    /// The low band, as lanes hold its columns.
    pub low: Lanes,
    /// Rows in flight.
    pub ring: SharedId,
    /// Whether rows or columns may be beyond a border. If not, the code has no border treatment.
    pub at_border: bool,
}

impl<'a> Strips<'a> {
    pub fn declare(b: &mut Builder, plan: &'a CascadeFit, params: &'a Params) -> Strips<'a> {
        let ring = b.shared("ring", plan.options.sample, plan.shape.ring * plan.slot_len() as u32);
        let held = held(plan, params, plan.shape.columns);
        let (lanes, useful) = Lanes::of_tile(b, held, (plan.left, plan.useful), 0);
        let Lanes { base, x, at_border: beyond, .. } = lanes;
        let low_base = b.let_("low_base", Scalar::I32, base >> 1);
        let low_x = b.let_("low_x", Scalar::I32, x >> 1);
        Strips { plan, params, beyond, ring, base, x, useful, low_base, low_x }
    }

    /// The chunk, in row pairs of the second level, of `pairs` in all: the first stored, and one past the last.
    pub fn chunk(&self, b: &mut Builder, pairs: Expr) -> [LocalId; 2] {
        let chunk = self.params.chunk;
        let first = b.let_("first_pair", Scalar::I32, Builtin::BlockY * chunk);
        let stop = b.let_("stop_pair", Scalar::I32, (first + chunk).min(pairs));
        [first, stop]
    }

    /// Two walks: one for blocks near a border, and one for the others.
    pub fn both(&self, b: &mut Builder, near: LocalId, walk: impl Fn(&mut Builder, bool, [[LocalId; 3]; 2])) {
        let arrays = [self.params.offsets(b, Builtin::BlockZ.into()), self.params.narrow_pitches(b)];
        b.if_else(near, |b| walk(b, true, arrays), |b| walk(b, false, arrays));
    }

    /// The strip of one of the two walks, with offsets and pitches of the arrays.
    pub fn strip(&self, b: &mut Builder, at_border: bool, [offsets, pitches]: [[LocalId; 3]; 2]) -> Strip<'a> {
        let Strips { plan, params, beyond, ring, base, x, useful, low_base, low_x } = *self;
        let (options, columns) = (plan.options, plan.shape.columns);
        let half = |n: ParamId| (n + 1) >> 1;
        let length = [half(params.width), half(params.height), 1.into()];
        let held = |columns: u32| {
            let held = held(plan, params, columns);
            if at_border { held } else { held.inside() }
        };
        let low = Held { length, ..held(columns / 2) };
        let lanes = Lanes::new(b, held(columns), [base, x, beyond]);
        let reflects = at_border && options.boundary != Boundary::Periodic;
        let lanes = if reflects { lanes.reflecting(b) } else { lanes };
        let low = Lanes { held: low, base: low_base, x: low_x, ..lanes.clone() };
        let frame = Frame { options, lanes, takes: RowAlignment::Whole, params, useful, offsets, pitches };
        Strip { plan, frame, low, ring, at_border }
    }
}

fn held(plan: &CascadeFit, params: &Params, columns: u32) -> Held {
    params.held(plan.options, plan.arith, Border::Extend, columns, true).at_even_positions()
}

/// Pushes a row pair into a delay line and returns the pair that leaves it.
pub fn descend(
    b: &mut Builder,
    plan: &CascadeFit,
    (line, descent): (&DelayLine, &Descent),
    front: Expr,
    rows: &[Row],
    columns: i32,
) -> [Row; 2] {
    let results = PHASES.map(|_| plan.rows(b, "result", 1, columns));
    b.part("descend", "Pushes a row pair into the window, and takes the finished one.", |b| {
        for (phase, row) in PHASES.into_iter().zip(rows) {
            line.row(phase, 0).copy(b, row, columns);
        }
        line.scale_first(b, front);
        line.lift(b, front);
        for (phase, array) in PHASES.into_iter().zip(results) {
            let done = front - descent.delay as i32;
            line.result(b, (phase, done), descent.delay as i32, array);
        }
        line.shift(b);
    });
    results.map(|array| plan.row(array, 0, columns))
}
