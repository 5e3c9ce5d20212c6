//! CPU columns: row pairs stream in, each step follows at its lag, and the inner loop runs over columns.

use super::super::lift::{pair_values, step_value};
use super::super::{Arithmetic, Options, ScheduleError};
use super::{Bases, PHASES, Params, one_thread, read_name};
use crate::ir::build::Builder;
use crate::ir::{Expr, Kernel, LocalId, Scalar, Space};
use crate::window::Window;
use lifting_dsl::{Boundary, Direction, PairStage, Phase, Scheme, Step};

/// Bytes of a row processed at a time, so that the rows of the window stay in the L1 cache.
const STRIP_BYTES: usize = 2048;

/// The pass along columns: rows are `pitch` samples apart, columns are contiguous.
///
/// # Errors
/// If the sample type is not in the scheme's domain.
pub fn vertical(scheme: &Scheme, options: Options) -> Result<Kernel, ScheduleError> {
    let steps = options.direction.steps(scheme);
    let stages = options.direction.stages(scheme, options.boundary);
    let mut builder = Builder::new(options.kernel_name(scheme, "columns"));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of columns: each step follows the reads at its lag, in place in the bands.",
        Direction::Inverse => "Synthesis of columns: each step follows the reads at its lag, in place in the signal.",
    });
    b.doc(format!("Border rule: {}.", options.boundary));
    let mut params = Params::declare(b, scheme, options, "number of columns", true)?;
    params.begin(b);
    let strip = (STRIP_BYTES / params.arith.work.bytes()) as i32;
    params.for_each_image(b, |b, image| {
        b.for_("first", 0, params.lines, strip, |b, first| {
            let end = b.let_("end", Scalar::I32, params.lines.min(first + strip));
            let columns = Columns { params: &params, arith: params.arith, image, first, end };
            match options.boundary {
                Boundary::Periodic => columns.one_after_another(b, &steps, stages.as_deref()),
                _ => columns.window(b, &steps, &Window::derive(&steps, options.boundary)),
            }
        });
    });
    Ok(builder.finish(one_thread()))
}

/// A strip of columns of one image.
struct Columns<'a> {
    params: &'a Params,
    arith: Arithmetic,
    image: Bases,
    first: Expr,
    end: LocalId,
}

impl Columns<'_> {
    /// Writes the loop over turns. Turn t loads row pair t, then runs every step on the pair at the step's lag.
    fn window(&self, b: &mut Builder, steps: &[Step], window: &Window) {
        let delay = window.delay();
        let done = (delay + (window.top + 1) / 2) as i32;
        let gives = self.params.gain.is_some() && !self.forward();
        let turns = if gives { done } else { delay as i32 };
        let pairs = self.params.ends[0];
        b.for_("t", 0, pairs + turns, 1, |b, t| {
            let during = |b: &mut Builder, phase: Phase, lag: i32, body: &dyn Fn(&mut Builder, Expr)| {
                let (lo, hi) = self.params.range(phase);
                let last = t.lt(hi + lag);
                // Turns start at 0.
                let inside = if phase == Phase::Odd && lag == 0 { last } else { t.ge(lo + lag).and(last) };
                b.if_(inside, |b| {
                    let k = match lag {
                        0 => t,
                        lag => b.let_("k", Scalar::I32, t - lag).into(),
                    };
                    body(b, k);
                });
            };
            b.comment("load the next pair of rows");
            for phase in PHASES {
                during(b, phase, 0, &|b, k| self.take_in(b, phase, k));
            }
            b.if_(self.params.length.gt(1), |b| {
                for (step, slot) in steps.iter().zip(window.slots()) {
                    b.comment(crate::describe::step(step));
                    during(b, step.target(), slot, &|b, k| self.step(b, step, k));
                }
            });
            if gives {
                b.comment("remove the gain from rows that no step reads any more");
                for phase in PHASES {
                    during(b, phase, done, &|b, k| self.give(b, phase, k));
                }
            }
        });
    }

    /// Runs each step on all rows before the next: the first row needs the last one.
    fn one_after_another(&self, b: &mut Builder, steps: &[Step], stages: Option<&[PairStage]>) {
        let all = |b: &mut Builder, phase: Phase, body: &dyn Fn(&mut Builder, Expr)| {
            let (lo, hi) = self.params.range(phase);
            b.for_("k", lo, hi, 1, |b, k| body(b, k));
        };
        b.comment("load all rows");
        for phase in PHASES {
            all(b, phase, &|b, k| self.take_in(b, phase, k));
        }
        b.if_(self.params.length.gt(1), |b| {
            for stage in stages.unwrap_or_default() {
                b.comment(crate::describe::stage(stage));
                all(b, stage.first, &|b, k| self.stage(b, stage, k));
            }
            for step in steps.iter().filter(|_| stages.is_none()) {
                b.comment(crate::describe::step(step));
                all(b, step.target(), &|b, k| self.step(b, step, k));
            }
        });
        if self.params.gain.is_some() && !self.forward() {
            b.comment("remove the gain");
            for phase in PHASES {
                all(b, phase, &|b, k| self.give(b, phase, k));
            }
        }
    }

    fn forward(&self) -> bool {
        self.params.options.direction == Direction::Forward
    }

    /// Offset of a phase's row k in its working place: the phase's band (forward) or the signal (inverse).
    fn worked(&self, phase: Phase, k: Expr) -> (Space, Expr) {
        if self.forward() { self.in_band(phase, k) } else { self.in_signal(phase, k) }
    }

    fn in_band(&self, phase: Phase, k: Expr) -> (Space, Expr) {
        let (p, array) = (self.params, self.params.band(phase));
        let row = p.band_index(phase, k).cast(Scalar::I64) * array.pitch;
        (array.space(), Expr::from(self.image.band(phase)) + row)
    }

    fn in_signal(&self, phase: Phase, k: Expr) -> (Space, Expr) {
        let (p, array) = (self.params, self.params.signal);
        let row = p.signal_index(phase, k).cast(Scalar::I64) * array.pitch;
        (array.space(), self.image.signal + row)
    }

    /// Runs `body` for every column x of the strip.
    fn for_each_column(&self, b: &mut Builder, body: impl FnOnce(&mut Builder, Expr)) {
        b.for_("x", self.first, self.end, 1, |b, x| body(b, x.cast(Scalar::I64)));
    }

    /// Copies row k of a phase to its working place.
    fn take_in(&self, b: &mut Builder, phase: Phase, k: Expr) {
        let (from, from_row) = if self.forward() { self.in_signal(phase, k) } else { self.in_band(phase, k) };
        let (to, to_row) = self.worked(phase, k);
        let from_row = b.let_("from", Scalar::I64, from_row);
        let to_row = b.let_(phase.name(), Scalar::I64, to_row);
        self.for_each_column(b, |b, x| {
            let value = b.load_new("value", self.arith.work, from, from_row + x);
            b.store(to, to_row + x, self.params.taken(value.into()));
        });
    }

    /// One step on row k of its target.
    fn step(&self, b: &mut Builder, step: &Step, k: Expr) {
        let p = self.params;
        let (target, source) = (step.target(), step.target().other());
        let (target_space, target_row) = self.worked(target, k);
        let target_row = b.let_(&format!("{}_row", target.name()), Scalar::I64, target_row);
        // The rows to read, and under `zero` whether they exist.
        let (lo, hi) = p.range(source);
        let mut rows = Vec::new();
        for o in offsets(step) {
            let name = read_name(source, o);
            let read = k + o;
            let exists = (p.options.boundary == Boundary::Zero).then(|| {
                let inside = read.ge(lo).and(read.lt(hi));
                b.let_(&format!("has_{name}"), Scalar::Bool, inside)
            });
            let (space, row) = self.worked(source, p.serve(source, read, lo, hi - 1));
            let row = b.let_(&format!("{name}_row"), Scalar::I64, row);
            rows.push((o, space, row, exists));
        }
        self.for_each_column(b, |b, x| {
            let old = b.load_new(target.name(), self.arith.work, target_space, target_row + x);
            let mut read = |offset: i32| {
                let found = rows.iter().find(|(o, ..)| *o == offset);
                let (_, space, row, exists) = found.expect("every offset of the step has its row");
                let index = *row + x;
                let value = b.load_new(&read_name(source, offset), self.arith.work, *space, index);
                match exists {
                    None => value.into(),
                    Some(exists) => exists.select(value, self.arith.zero()),
                }
            };
            let value = step_value(step, self.arith, old.into(), &mut read);
            b.store(target_space, target_row + x, value);
        });
    }

    /// A lattice stage on row k of its pairs' first phase.
    fn stage(&self, b: &mut Builder, stage: &PairStage, k: Expr) {
        let p = self.params;
        let (one, other) = (stage.first, stage.first.other());
        let (lo, hi) = p.range(other);
        let partner = p.serve(other, k + stage.offset(), lo, hi - 1);
        let (u_space, u_row) = self.worked(one, k);
        let (v_space, v_row) = self.worked(other, partner);
        let u_row = b.let_(&format!("{}_row", one.name()), Scalar::I64, u_row);
        let v_row = b.let_(&format!("{}_row", other.name()), Scalar::I64, v_row);
        self.for_each_column(b, |b, x| {
            let u = b.load_new(one.name(), self.arith.work, u_space, u_row + x);
            let v = b.load_new(other.name(), self.arith.work, v_space, v_row + x);
            let [new_u, new_v] = pair_values(stage, self.arith, u.into(), v.into());
            b.store(u_space, u_row + x, new_u);
            b.store(v_space, v_row + x, new_v);
        });
    }

    /// Removes the gain from row k of a phase.
    fn give(&self, b: &mut Builder, phase: Phase, k: Expr) {
        let (space, row) = self.worked(phase, k);
        let row = b.let_(&format!("{}_row", phase.name()), Scalar::I64, row);
        self.for_each_column(b, |b, x| {
            let value = b.load_new("value", self.arith.work, space, row + x);
            b.store(space, row + x, self.params.given(value.into()));
        });
    }
}

/// The offsets at which a step reads, ascending.
pub(super) fn offsets(step: &Step) -> impl Iterator<Item = i32> {
    let mut offsets: Vec<i32> = match step {
        Step::Integer(s) => s.taps.iter().map(|t| t.offset).collect(),
        Step::Real(s) => s.groups.iter().flat_map(|g| g.offsets.iter().copied()).collect(),
        Step::Scale(_) => Vec::new(),
    };
    offsets.sort_unstable();
    offsets.into_iter()
}
