//! Filter passes: a scheme's equivalent filters along one axis, applied by a thread to its pair.
//!
//! rewrite: a scheme along one axis → its equivalent filters, which a thread applies to its pair's dependencies
//!
//! Taps are the product of the steps' matrices ([`of_steps`]), computed with 512 bits, rounded to `f64`, and from there
//! to the type of the arithmetic. For the 9/7, a thread loads 9 samples from shared memory. It computes a low and a
//! high sample, each a sum over ascending positions. Results equal those of lifting up to rounding: within the bound
//! that [`Rounding`](lifting_dsl::rounding::Rounding) gives on the exact ones, as lifting's own are. They are the same
//! bits on every device.
//!
//! Samples beyond the border are an extension of the line, so the border rule must be one: `periodic`, or
//! `whole-symmetric` with symmetric steps. Integer steps round in turn, which no filter does.
//!
//! Source: Galiano et al. 2011, as given by Kučis, Barina, Kula & Zemčík, "2-D Discrete Wavelet Transform Using GPU",
//! 2014, section III: Horiz-Galiano2011. Columns slide a window as theirs do. Van der Laan, Jalba & Roerdink 2011,
//! section V-B.6, compare their own schedule with one like this.

use super::{Blocks, Part, Work};
use lifting_codegen::ir::build::Builder;
use lifting_codegen::ir::{Expr, Kernel, Literal, LocalId, Scalar, SharedId, Space};
use lifting_codegen::schedule::level::{Border, PHASES};
use lifting_codegen::schedule::{Along, Arithmetic, AxisSchedule, Options, Pass, ScheduleError, Sides};
use lifting_codegen::window::Halo;
use lifting_dsl::float::Float;
use lifting_dsl::polyphase::of_steps;
use lifting_dsl::{Domain, Phase, Scheme};

/// The schedule in a block shape.
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    name: &'static str,
    blocks: Blocks,
}

/// The paper's blocks first.
pub const SHAPES: [Convolution; 3] = [
    Convolution { name: "convolution", blocks: super::PAPER },
    Convolution { name: "convolution-128", blocks: Blocks { threads: 128, chunk: 128 } },
    Convolution { name: "convolution-64", blocks: Blocks { threads: 64, chunk: 64 } },
];

impl AxisSchedule for Convolution {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Baseline: a pass an axis by filters, for real samples (Galiano 2011)"
    }

    fn has_lifting_bits(&self) -> bool {
        false
    }

    fn kernel(&self, scheme: &Scheme, options: Options, sides: Sides, along: Along) -> Result<Kernel, ScheduleError> {
        let arith = Arithmetic::of(scheme, options)?;
        let refuse = |what| Err(ScheduleError::Launch { schedule: self.name(), what });
        let (name, boundary) = (scheme.name(), options.boundary);
        if scheme.domain() == Domain::Integer {
            return refuse(format!("the steps of `{name}` round integers one after another, which no filter does"));
        }
        let steps = options.direction.steps(scheme);
        let border = Border::of(boundary, &steps);
        if border != Border::Extend {
            return refuse(format!(
                "under {boundary} the steps of `{name}` do not read an extension of the line, as filters do"
            ));
        }
        let filters = Filters(
            of_steps::<Float>(&steps)
                .rows
                .map(|row| row.map(|taps| taps.terms().map(|(n, weight)| (n as i32, weight.to_f64())).collect())),
        );
        let (halo, work) = (filters.halo(), Work::Filter(filters));
        let part = Part { schedule: self.name(), pairs: 1, blocks: self.blocks, arith, border, halo, work };
        part.checked(scheme)?.kernel(scheme, options, sides, along)
    }
}

/// Offsets of samples from a result's pair, in pairs, and their weights.
type Taps = Vec<(i32, f64)>;

/// Taps of each result phase on each sample phase.
pub(super) struct Filters([[Taps; 2]; 2]);

impl Filters {
    /// Taps of a result, by ascending position relative to its pair.
    fn of(&self, result: Phase) -> Vec<(Phase, i32, f64)> {
        let of_phase = |phase: Phase| self.0[result as usize][phase as usize].iter().map(move |&(n, w)| (phase, n, w));
        let mut taps: Vec<_> = PHASES.into_iter().flat_map(of_phase).collect();
        taps.sort_by_key(|&(phase, n, _)| position(phase, n));
        taps
    }

    /// Halo of the reads of a pair's results.
    fn halo(&self) -> Halo {
        let reads: Vec<i64> = PHASES.into_iter().flat_map(|p| self.of(p)).map(|(p, n, _)| position(p, n)).collect();
        let before = reads.iter().map(|at| -at).max().unwrap_or(0).max(0);
        let after = reads.iter().map(|at| at - 1).max().unwrap_or(0).max(0);
        Halo { before, after, steps: Vec::new() }
    }
}

fn position(phase: Phase, n: i32) -> i64 {
    2 * i64::from(n) + phase.parity()
}

impl Part {
    /// The results of a thread's pairs, by filters.
    pub(super) fn filter(
        &self,
        b: &mut Builder,
        filters: &Filters,
        pass: &Pass,
        (cells, at): (SharedId, &dyn Fn(Phase, i32) -> Expr),
    ) -> Vec<[Expr; 2]> {
        let before = self.halo.pairs_before() as i32;
        let samples: Vec<[Option<LocalId>; 2]> = (0..self.held(self.pairs))
            .map(|k| {
                PHASES.map(|phase| {
                    let load =
                        |b: &mut Builder| b.load_new("sample", self.arith.work, Space::Shared(cells), at(phase, k));
                    self.needs(phase, k).then(|| load(b))
                })
            })
            .collect();
        let sample = |phase: Phase, k: i32| samples[k as usize][phase as usize].expect("what results need is loaded");
        let lone = pass.length.eq_(1);
        let result = |b: &mut Builder, phase: Phase, k: i32| {
            let mut sum = None;
            for (of, n, weight) in filters.of(phase) {
                let product = self.weight(weight) * Expr::from(sample(of, k + n));
                match sum {
                    None => sum = Some(b.let_("sum", self.arith.work, product)),
                    Some(sum) => b.set(sum, sum + product),
                }
            }
            let sum = sum.map_or(self.arith.zero(), Expr::from);
            lone.select(sample(phase, k), sum)
        };
        (before..before + self.pairs).map(|k| PHASES.map(|phase| result(b, phase, k))).collect()
    }

    fn weight(&self, weight: f64) -> Expr {
        Expr::Lit(if self.arith.work == Scalar::F64 { Literal::F64(weight) } else { Literal::F32(weight as f32) })
    }
}
