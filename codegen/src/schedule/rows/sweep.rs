//! CPU levels of two axes in one sweep over their rows.
//!
//! rewrite: "rows, then columns" → row pairs arrive in a ring of rows, a few at a time. Each row is lifted along its
//! length as it arrives (or as it leaves, if columns come first). Each step along columns follows at its lag
//! ([`Window`]). Rows that no later step touches leave the ring.
//!
//! This module has what depends on the wavelet. There is one loop over contiguous samples for each step; it serves rows
//! (a step reads the same array, shifted) and columns (it reads other rows) alike. The module also schedules the steps,
//! and finds the rows of a *turn* along columns, for turns that touch no border. The rest is text (`emit/sweep.c.in`,
//! `emit/sweep.rs.in`).

use super::super::lift::{integer_sum, step_value};
use super::super::{Arithmetic, Options, ScheduleError};
use super::vertical::offsets;
use super::{one_thread, read_name};
use crate::ir::build::Builder;
use crate::ir::{Access, BinOp, Expr, Kernel, ParamId, Scalar, Space};
use crate::window::{Window, needed};
use lifting_dsl::{IntegerStep, Op, Phase, RoundingMode, Scheme, Step};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of one phase of a row that are lifted at a time.
pub(crate) const BLOCK_BYTES: usize = 1024;

/// Maximum rows of a loop over a whole turn.
const MAX_ROWS: usize = 32;

/// The sweep of one direction.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Its steps, in order.
    pub steps: Vec<SweepStep>,
    /// Row pairs that arrive in a turn.
    pub pairs: i32,
    /// Lag in row pairs of finished even and odd rows behind the youngest pair.
    pub delay: [i32; 2],
    /// Row pairs of the ring.
    pub ring: i32,
    /// Sample pairs before and after a block that its results depend on.
    pub halo: [i32; 2],
    /// Spare samples of a phase before and after a block, in the arrays where rows are lifted.
    pub margin: i32,
    /// The rows that the steps of a turn take, unless these are too many.
    pub turn: Option<Vec<Row>>,
}

/// A step of a sweep.
#[derive(Clone, Debug)]
pub struct SweepStep {
    /// Description, for a comment.
    pub text: String,
    /// The phase that it updates.
    pub target: Phase,
    /// Lag in row pairs behind the youngest pair.
    pub behind: i32,
    /// Along rows, it updates the pairs from `k0 + reach[0]` to before `k1 + reach[1]` of a block `k0..k1`.
    pub reach: [i32; 2],
    /// Offsets of its reads in the other phase; none for a scaling.
    pub offsets: Vec<i32>,
    /// The loop.
    pub kernel: Kernel,
}

/// A row of the ring. `k` counts from the first arriving pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The pair.
    pub k: i32,
    /// The phase.
    pub phase: u8,
}

impl Sweep {
    /// Derives the sweep of a direction. Periodic borders have none: their first row needs their last one.
    ///
    /// # Errors
    /// If the sample type is not in the scheme's domain.
    pub fn new(scheme: &Scheme, options: Options) -> Result<Sweep, ScheduleError> {
        let arith = Arithmetic::of(scheme, options)?;
        let steps = options.direction.steps(scheme);
        let window = Window::derive(&steps, options.boundary);
        // Around the pair (0, 1): positions 2k + p of each step's updates.
        let (need, reach) = needed(&steps, options.boundary, [(0, 0), (1, 1)]);
        let pairs_of = |(before, after): (i64, i64), p: i64| {
            [(-before - p).div_euclid(2) + (-before - p).rem_euclid(2), (1 + after - p).div_euclid(2)]
        };
        let halo = [
            need.iter().map(|n| -n.0.div_euclid(2)).max().unwrap_or(0).max(0) as i32,
            need.iter().map(|n| n.1.div_euclid(2)).max().unwrap_or(0).max(0) as i32,
        ];
        let writer = Writer { scheme, options, arith };
        let places: Vec<SweepStep> = (steps.iter().zip(window.slots()).zip(reach).enumerate())
            .map(|(i, ((step, behind), reach))| SweepStep {
                text: crate::describe::step(step),
                target: step.target(),
                behind,
                reach: pairs_of(reach, step.target().parity()).map(|k| k as i32),
                offsets: offsets(step).collect(),
                kernel: writer.step(i, step),
            })
            .collect();
        let far = places.iter().flat_map(|p| p.offsets.iter().map(|o| o.abs())).max().unwrap_or(0);
        let pairs = 2;
        let margin = (halo[0].max(halo[1]) + far + 1 + 15) / 16 * 16;
        let rows = accesses(&places, pairs);
        let first = |phase| rows.iter().filter(|row| row.phase == phase).map(|row| row.k).min();
        Ok(Sweep {
            pairs,
            delay: [0, 1].map(|phase| -first(phase).unwrap_or(0).min(0)),
            ring: pairs + (window.kept() as i32 + 1) / 2 + 1,
            halo,
            margin,
            turn: (rows.len() <= MAX_ROWS).then(|| rows.iter().copied().collect()),
            steps: places,
        })
    }
}

/// The rows that a turn takes.
fn accesses(places: &[SweepStep], pairs: i32) -> BTreeSet<Row> {
    let row = |k: i32, phase: Phase| Row { k, phase: phase.parity() as u8 };
    let mut rows = BTreeSet::new();
    for pair in 0..pairs {
        for place in places {
            let k = pair - place.behind;
            for o in &place.offsets {
                rows.insert(row(k + o, place.target.other()));
            }
            rows.insert(row(k, place.target));
        }
    }
    rows
}

struct Writer<'a> {
    scheme: &'a Scheme,
    options: Options,
    arith: Arithmetic,
}

impl Writer<'_> {
    fn builder(&self, what: &str) -> Builder {
        Builder::new(self.options.kernel_name(self.scheme, what))
    }

    fn sample(&self) -> Scalar {
        self.options.sample
    }

    fn count(b: &mut Builder) -> Expr {
        b.scalar("n", Scalar::I32, "iterations of the loop").into()
    }

    /// One step on `n` samples.
    fn step(&self, index: usize, step: &Step) -> Kernel {
        let mut builder = self.builder(&format!("step{}", index + 1));
        let b = &mut builder;
        b.doc(crate::describe::step(step));
        let (target, source) = (step.target(), step.target().other());
        let updated = b.pointer(target.name(), self.sample(), Access::ReadWrite, "is updated");
        let reads: Vec<(i32, ParamId)> = offsets(step)
            .map(|o| (o, b.pointer(&read_name(source, o), self.sample(), Access::Read, "is read")))
            .collect();
        let n = Self::count(b);
        b.for_("x", 0, n, 1, |b, x| {
            let old = b.load_new("old", self.arith.work, Space::Global(updated), x);
            let values: BTreeMap<i32, Expr> = reads
                .iter()
                .map(|(o, array)| (*o, b.load_new("read", self.arith.work, Space::Global(*array), x).into()))
                .collect();
            let value = self.value(b, step, old.into(), &|o| values[&o]);
            b.store(Space::Global(updated), x, value);
        });
        builder.finish(one_thread())
    }

    /// The new value of a step's target: in 16-bit lanes where they suffice.
    fn value(&self, b: &mut Builder, step: &Step, old: Expr, read: &dyn Fn(i32) -> Expr) -> Expr {
        if let Step::Integer(step) = step
            && self.sample() == Scalar::I16
            && let Some(delta) = narrow(b, step, self.arith, read)
        {
            return match step.op {
                Op::Add => old + delta,
                Op::Sub => old - delta,
            };
        }
        step_value(step, self.arith, old, &mut |o| read(o))
    }
}

/// `(Σ weight·sample + rounding) >> shift` of 16-bit samples in 16 bits, where they suffice.
///
/// A sample is 2^shift·h + l with 0 ≤ l < 2^shift, so the result is Σ weight·h + ((Σ weight·l + rounding) >> shift).
/// The first sum is needed modulo 2¹⁶ and may wrap, provided that the 32-bit one does not. The second sum is small. For
/// two samples of weight 1, ⌊(a + b) / 2⌋ = (a & b) + ((a ^ b) >> 1).
fn narrow(b: &mut Builder, step: &IntegerStep, arith: Arithmetic, read: &dyn Fn(i32) -> Expr) -> Option<Expr> {
    let (shift, rounding) = (step.shift as i32, i64::from(step.rounding));
    let total: i64 = step.taps.iter().map(|t| i64::from(t.weight).abs()).sum();
    let (limit, rest) = (1_i64 << shift.min(20), rounding.abs());
    if step.mode != RoundingMode::Floor
        || shift > 12
        || (total << 15) + rest >= 1 << 31
        || total * (limit - 1) + rest >= 1 << 15
    {
        return None;
    }
    let bits = |op: BinOp, a: Expr, b: Expr| Expr::binary(op, a, b);
    let short = |v: i64| Expr::int(v, Scalar::I16);
    if let [one, other] = &step.taps[..]
        && one.weight == 1
        && other.weight == 1
        && shift > 0
        && (rounding == 0 || shift > 1 && 2 * rounding == limit)
    {
        let (one, other) = (read(one.offset), read(other.offset));
        let half = bits(BinOp::And, one, other) + (bits(BinOp::Xor, one, other) >> 1);
        if rounding == 0 {
            return Some(half >> (shift - 1));
        }
        let half = b.let_("half", Scalar::I16, half);
        return Some((half >> (shift - 1)) + bits(BinOp::And, half >> (shift - 2), short(1)));
    }
    let narrow = Arithmetic { sum: Scalar::I16, ..arith };
    let high = integer_sum(&step.taps, narrow, &mut |o| read(o) >> shift);
    if shift == 0 {
        return Some(high + short(rounding));
    }
    let low = integer_sum(&step.taps, narrow, &mut |o| bits(BinOp::And, read(o), short(limit - 1)));
    Some(high + ((low + short(rounding)) >> shift))
}
