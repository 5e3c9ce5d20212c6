//! Warp kernel: loads a warp's block (`load`), lifts it along both axes and stores it (`store`).

use super::WarpFit;
use crate::ir::build::Builder;
use crate::ir::{Builtin, Expr, Kernel, Launch, Scalar};
use crate::schedule::level::{Across, Form, Frame, Lanes, Order, PHASES, Params, Row, RowAlignment, Runs, Sink, Slab};
use lifting_dsl::{Direction, Scheme};

/// Writes the kernel of a fit.
pub fn write(plan: &WarpFit, scheme: &Scheme, order: Order) -> Kernel {
    let (options, shape) = (plan.options, plan.shape);
    let mut builder = Builder::new(options.kernel_name(scheme, &shape.takes.kernel("warp")));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of both axes in one pass: a warp holds a block of the image in registers.",
        Direction::Inverse => "Synthesis of both axes in one pass: a warp holds a block of the image in registers.",
    });
    let (columns, rows) = (32 * shape.columns, shape.rows);
    b.doc(format!(
        "Loads {columns} x {rows} samples, stores {} x {}; {} columns a lane; border rule {}.",
        plan.columns(),
        plan.rows(),
        shape.columns,
        options.boundary
    ));
    let params = Params::declare(b, options);
    let held = plan.held(&params);
    let (end_x, end_y) = (held.end(0), held.end(1));
    let shifts = shape.takes == RowAlignment::Any || plan.gives + plan.has > 0;
    let before = if shifts { shape.columns as i32 } else { 0 };
    let (lanes, useful) = Lanes::of_tile(b, held, (plan.left, plan.useful), before);
    let pairs_y = (end_y + 1) >> 1;
    // The warps of a block lie below one another, so rows that two of them read are in their multiprocessor's cache.
    let warp = Builtin::BlockY * shape.warps as i32 + Builtin::ThreadY;
    let pitches = params.narrow_pitches(b);
    let (warps, pairs) = (shape.warps as i32, plan.pairs as i32);
    let steps = (&plan.axis, &plan.halo);
    let first = b.let_("first_pair", Scalar::I32, warp * pairs);
    b.if_(first.lt(pairs_y), |b| {
        let offsets = params.offsets(b, Builtin::BlockZ.into());
        let frame = Frame { options, lanes, takes: shape.takes, params: &params, useful, offsets, pitches };
        let [loaded, stored] = shape.forms(options.direction);
        let slab = Slab::declare_as(b, "block", &frame.lanes.held, steps, (first.into(), pairs), loaded);
        Tile { frame: &frame, slab, plan }.lift(b, order, stored);
    });
    let strip = plan.columns() as i32;
    // The last vector of a row may begin in the columns past the last one.
    let blocks = (pairs_y + (pairs - 1)) / pairs;
    let grid = [(end_x + (strip - 1 + plan.gives as i32)) / strip, (blocks + (warps - 1)) / warps, params.batch.into()];
    let mut kernel = builder.finish(Launch { block: [32, shape.warps, 1], grid });
    kernel.min_blocks = if shape.min_blocks > 0 { shape.min_blocks } else { plan.resident_blocks() };
    kernel
}

/// One warp's block of samples.
pub struct Tile<'a> {
    pub frame: &'a Frame<'a>,
    pub slab: Slab<'a>,
    pub plan: &'a WarpFit,
}

impl Tile<'_> {
    /// Loads the block, lifts it and stores its results, in registers arranged as `stored`.
    fn lift(&self, b: &mut Builder, order: Order, stored: Form) {
        let slab = &self.slab;
        let columns = self.frame.lanes.held.columns();
        let done = Tile { slab: Slab { form: stored, ..*slab }, ..*self };
        let lift = |b: &mut Builder, (from, to): (i32, i32), lanes: &Lanes| {
            let across = Across { lanes, axis: slab.axis };
            b.unrolled("row", from, to, 1, |b, k| {
                for phase in PHASES {
                    let row = slab.row(phase, k);
                    if row.form == Form::Single {
                        across.lift(b, &row);
                        continue;
                    }
                    b.part("lift_packed_row", "Lifts a row of packed samples along its length.", |b| {
                        let array = b.array("pairs", Scalar::I32, columns as u32 / 2);
                        let pairs = Row { array, first: 0.into(), form: Form::ByPhase(columns) };
                        pairs.copy(b, &row, columns);
                        across.lift(b, &pairs);
                        done.slab.row(phase, k).copy(b, &pairs, columns);
                    });
                }
            });
        };
        let rows = |b: &mut Builder, from: i32, to: i32| {
            let lanes = &self.frame.lanes;
            if !self.plan.reflects() {
                return lift(b, (from, to), lanes);
            }
            b.if_else(
                self.frame.lanes.at_border,
                |b| {
                    let lanes = lanes.reflecting(b);
                    lift(b, (from, to), &lanes);
                },
                |b| lift(b, (from, to), &lanes.inside()),
            );
        };
        let across_first = order.across_first(self.frame.options.direction);
        b.part("load_block", "Loads a block, halo included.", |b| self.load(b));
        if across_first {
            rows(b, 0, slab.height());
            done.slab.lift(b);
        } else {
            slab.lift(b);
            rows(b, slab.first(), slab.first() + slab.pairs);
        }
        b.part("store_block", "Stores the results of a block.", |b| done.store(b));
    }

    /// Whether rows of an array are shifted, where the test pays off. In an aligned image the low band is not shifted,
    /// nor is every second row of the other bands.
    pub fn is_shifted(&self, sink: &Sink) -> Option<Expr> {
        (self.frame.takes == RowAlignment::Image).then(|| !Runs::stand_aligned(self.frame, sink))
    }

    /// The lane's runs of rows from a pair on. Even and odd rows of an image share one array, hence one run.
    pub fn runs(&self, b: &mut Builder, sinks: &[Sink], pair: Expr) -> Vec<Runs> {
        let mut runs: Vec<Runs> = Vec::new();
        for sink in sinks {
            let shared = runs.first().filter(|_| sink.columns.is_none()).copied();
            let these = || Runs::from(b, self.frame, sink, sink.row_of(self.frame, pair));
            runs.push(shared.unwrap_or_else(these));
        }
        runs
    }
}
