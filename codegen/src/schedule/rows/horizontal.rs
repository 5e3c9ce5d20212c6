//! CPU rows: split, extend, lift, store.

use super::super::lift::{pair_values, step_value};
use super::super::{Arithmetic, Options, ScheduleError};
use super::{Bases, PHASES, Params, one_thread, read_name};
use crate::ir::build::Builder;
use crate::ir::{Access, Expr, Kernel, LocalId, ParamId, Scalar, Space};
use lifting_dsl::{Boundary, Direction, PairStage, Phase, Scheme, Step};

/// Extension of the phases beyond the signal, in samples of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margins {
    /// Samples before the first.
    pub before: i32,
    /// Samples after the last.
    pub after: i32,
}

impl Margins {
    /// The margins that these steps need.
    pub fn of(steps: &[Step]) -> Margins {
        let supports = || steps.iter().filter_map(Step::index_support);
        Margins {
            before: supports().map(|(lo, _)| 1 - lo).max().unwrap_or(0).max(0),
            after: supports().map(|(_, hi)| hi + 1).max().unwrap_or(0).max(0),
        }
    }

    /// Samples that the scratch array of a phase needs in addition to half the signal, rounded down: `length/2 +
    /// extra`.
    pub fn extra(self) -> i32 {
        // One more sample for an odd length, one for an odd first position.
        self.before + self.after + 2
    }
}

/// The pass along contiguous rows. After the parameters of every pass it takes two scratch arrays, `evens` and `odds`,
/// of `length/2 + Margins::extra()` samples each.
///
/// # Errors
/// If the sample type is not in the scheme's domain.
pub fn horizontal(scheme: &Scheme, options: Options) -> Result<Kernel, ScheduleError> {
    let steps = options.direction.steps(scheme);
    let stages = options.direction.stages(scheme, options.boundary);
    let margins = Margins::of(&steps);
    let mut builder = Builder::new(options.kernel_name(scheme, "rows"));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => {
            "Analysis of rows: each row is split into its phases, which are lifted in scratch memory."
        }
        Direction::Inverse => "Synthesis of rows: the bands of each row are lifted in scratch memory and merged.",
    });
    b.doc(format!("Border rule: {}.", options.boundary));
    let mut params = Params::declare(b, scheme, options, "number of rows", false)?;
    let scratch = scratch(b, params.arith.work, margins);
    params.begin(b);
    let rows = Rows { params: &params, arith: params.arith, margin: margins.before, scratch, in_place: false };

    params.for_each_image(b, |b, image| {
        b.for_("line", 0, params.lines, 1, |b, line| {
            let row = rows.bases(b, image, line);
            rows.load(b, row);
            rows.lift(b, &steps, stages.as_deref());
            rows.store(b, row);
        });
    });
    Ok(builder.finish(one_thread()))
}

/// The pass along lines of any stride, in place: bands replace the signal, the low band first, or the reverse. The
/// first sample is even. Parameters: `data, length, stride, lines, pitch[, gain], evens, odds`; the last two as for
/// [`horizontal`].
///
/// # Errors
/// If the sample type is not in the scheme's domain.
pub fn in_place(scheme: &Scheme, options: Options) -> Result<Kernel, ScheduleError> {
    let steps = options.direction.steps(scheme);
    let stages = options.direction.stages(scheme, options.boundary);
    let margins = Margins::of(&steps);
    let mut builder = Builder::new(options.kernel_name(scheme, "lines"));
    let b = &mut builder;
    b.doc(match options.direction {
        Direction::Forward => "Analysis of lines in place: the low band, then the high band, replaces the signal.",
        Direction::Inverse => "Synthesis of lines in place: the signal replaces the low band and the high band.",
    });
    b.doc(format!("Border rule: {}.", options.boundary));
    let mut params = Params::declare_in_place(b, scheme, options)?;
    let scratch = scratch(b, params.arith.work, margins);
    params.begin(b);
    let rows = Rows { params: &params, arith: params.arith, margin: margins.before, scratch, in_place: true };
    b.for_("line", 0, params.lines, 1, |b, line| {
        let first = b.let_("first", Scalar::I32, line * params.signal.pitch);
        let row = Bases { signal: first, low: first, high: first };
        rows.load(b, row);
        rows.lift(b, &steps, stages.as_deref());
        rows.store(b, row);
    });
    Ok(builder.finish(one_thread()))
}

/// Scratch arrays of the two phases.
fn scratch(b: &mut Builder, work: Scalar, margins: Margins) -> [ParamId; 2] {
    let what = format!("scratch: length/2 + {} samples", margins.extra());
    ["evens", "odds"].map(|name| b.pointer(name, work, Access::ReadWrite, &what))
}

struct Rows<'a> {
    params: &'a Params,
    arith: Arithmetic,
    /// Sample k of a phase is at k + margin of its scratch array.
    margin: i32,
    scratch: [ParamId; 2],
    /// Whether signal and bands are one array, with a stride.
    in_place: bool,
}

impl Rows<'_> {
    fn space(&self, phase: Phase) -> Space {
        Space::Global(self.scratch[phase.parity() as usize])
    }

    /// Index of sample `k + offset` of a phase in its scratch array.
    fn cell(&self, k: Expr, offset: i32) -> Expr {
        k + (self.margin + offset)
    }

    fn bases(&self, b: &mut Builder, image: Bases, line: Expr) -> Bases {
        let p = self.params;
        let forward = p.options.direction == Direction::Forward;
        let mut base = |name: &str, image: LocalId, pitch: ParamId| {
            b.let_(name, Scalar::I64, image + line.cast(Scalar::I64) * pitch)
        };
        Bases {
            signal: base(if forward { "src_row" } else { "dst_row" }, image.signal, p.signal.pitch),
            low: base("low_row", image.low, p.low.pitch),
            high: base("high_row", image.high, p.high.pitch),
        }
    }

    /// Position of sample k of a phase in a row of the outer arrays: in the signal or in the phase's band.
    fn outer(&self, row: Bases, phase: Phase, k: Expr, in_signal: bool) -> (Space, Expr) {
        let p = self.params;
        let wide = |e: Expr| e.cast(Scalar::I64);
        if self.in_place {
            let index = match (in_signal, phase) {
                (true, _) => p.signal_index(phase, k),
                (false, Phase::Even) => p.band_index(phase, k),
                (false, Phase::Odd) => p.ends[0] + p.band_index(phase, k),
            };
            return (p.signal.space(), row.signal + index * p.signal.stride);
        }
        match in_signal {
            true => (p.signal.space(), row.signal + wide(p.signal_index(phase, k))),
            false => (p.band(phase).space(), Expr::from(row.band(phase)) + wide(p.band_index(phase, k))),
        }
    }

    fn load(&self, b: &mut Builder, row: Bases) {
        let from_signal = self.params.options.direction == Direction::Forward;
        b.comment(if from_signal { "split the row into its phases" } else { "fetch the bands of the row" });
        for phase in PHASES {
            let (first, end) = self.params.range(phase);
            b.for_("k", first, end, 1, |b, k| {
                let (space, index) = self.outer(row, phase, k, from_signal);
                let x = b.load_new("x", self.arith.work, space, index);
                let value = self.params.taken(x.into());
                b.store(self.space(phase), self.cell(k, 0), value);
            });
        }
    }

    fn store(&self, b: &mut Builder, row: Bases) {
        let to_signal = self.params.options.direction == Direction::Inverse;
        b.comment(if to_signal { "merge the phases" } else { "store the bands" });
        for phase in PHASES {
            let (first, end) = self.params.range(phase);
            b.for_("k", first, end, 1, |b, k| {
                let x = b.load_new("x", self.arith.work, self.space(phase), self.cell(k, 0));
                let (space, index) = self.outer(row, phase, k, to_signal);
                b.store(space, index, self.params.given(x.into()));
            });
        }
    }

    /// All steps or stages, on lines of several samples.
    fn lift(&self, b: &mut Builder, steps: &[Step], stages: Option<&[PairStage]>) {
        b.if_(self.params.length.gt(1), |b| match stages {
            Some(stages) => stages.iter().for_each(|stage| self.stage(b, stage)),
            None => steps.iter().for_each(|step| self.step(b, step)),
        });
    }

    fn step(&self, b: &mut Builder, step: &Step) {
        let target = step.target();
        let source = target.other();
        b.comment(crate::describe::step(step));
        let (first, end) = self.params.range(target);
        if let Some((lo, hi)) = step.index_support() {
            let (source_first, source_end) = self.params.range(source);
            self.extend(b, source, first + lo, source_first);
            self.extend(b, source, source_end, end + hi);
        }
        b.for_("k", first, end, 1, |b, k| {
            let old = b.load_new(target.name(), self.arith.work, self.space(target), self.cell(k, 0));
            let mut read = |offset: i32| {
                let index = self.cell(k, offset);
                b.load_new(&read_name(source, offset), self.arith.work, self.space(source), index).into()
            };
            let value = step_value(step, self.arith, old.into(), &mut read);
            b.store(self.space(target), self.cell(k, 0), value);
        });
    }

    /// A lattice stage on every pair, cyclically.
    fn stage(&self, b: &mut Builder, stage: &PairStage) {
        let (one, other) = (stage.first, stage.first.other());
        b.comment(crate::describe::stage(stage));
        let (first, end) = self.params.range(one);
        b.for_("k", first, end, 1, |b, k| {
            let (first, end) = self.params.range(other);
            let partner = self.params.serve(other, k + stage.offset(), first, end - 1);
            let partner = b.let_("partner", Scalar::I32, partner);
            let u = b.load_new(one.name(), self.arith.work, self.space(one), self.cell(k, 0));
            let v = b.load_new(other.name(), self.arith.work, self.space(other), self.cell(partner.into(), 0));
            let [new_u, new_v] = pair_values(stage, self.arith, u.into(), v.into());
            b.store(self.space(one), self.cell(k, 0), new_u);
            b.store(self.space(other), self.cell(partner.into(), 0), new_v);
        });
    }

    /// Extends a phase outside the signal: gives the samples `from..to` the values of the border rule.
    fn extend(&self, b: &mut Builder, phase: Phase, from: Expr, to: Expr) {
        b.for_("k", from, to, 1, |b, k| {
            let value = if self.params.options.boundary == Boundary::Zero {
                self.arith.zero()
            } else {
                let (first, end) = self.params.range(phase);
                let served = self.params.serve(phase, k, first, end - 1);
                b.load_new("x", self.arith.work, self.space(phase), self.cell(served, 0)).into()
            };
            b.store(self.space(phase), self.cell(k, 0), value);
        });
    }
}
