//! Sample types, and the arithmetic of lifting steps on them.
//!
//! A plan computes in the *work* type: the sample type itself, or `f32` for the 16-bit floats.

use crate::data::Expected;
use crate::device::{Device, Planning};
use crate::error::PlanError;
use crate::exec::Executor;
use half::{bf16, f16};
use lifting_codegen::ir::interp::Element;
use lifting_dsl::{PairStage, RoundingMode, Step, Weight};
use lifting_planner::Problem;
use std::sync::Arc;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Type of samples and coefficients: `i16`, `i32`, `i64` for integer wavelets; `f32`, `f64`, `f16` and `bf16` for real
/// ones. The 16-bit floats are storage types: every level is computed in `f32` and rounded once.
///
/// The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sample type",
    label = "samples are `i16`, `i32`, `i64`, `f16`, `bf16`, `f32` or `f64`",
    note = "set it before `.build(&device)`: `.sample::<i16>()` for integer wavelets, `.sample::<f32>()` for real ones"
)]
pub trait Sample: lifting_dsl::sample::Sample + Element + Plain + Stored<Self::Lane> {
    /// Work type of lifting steps on these samples.
    #[doc(hidden)]
    type Lane: Arithmetic + Stored<Self::Lane>;
    /// Whether the work type is the sample type itself.
    #[doc(hidden)]
    const DIRECT: bool;
    /// Makes the executor of a problem on these samples. It is in this trait so that its large code is compiled once
    /// for each type, with this crate.
    #[doc(hidden)]
    fn executor(
        device: &Device,
        problem: &Arc<Problem>,
        layouts: [&Expected; 2],
        planning: &Planning,
    ) -> Result<Box<dyn Executor<Self>>, PlanError>;
}

macro_rules! executor {
    () => {
        fn executor(
            device: &Device,
            problem: &Arc<Problem>,
            layouts: [&Expected; 2],
            planning: &Planning,
        ) -> Result<Box<dyn Executor<Self>>, PlanError> {
            device.executor(problem, layouts, planning)
        }
    };
}

/// Conversion between samples in memory and values of the work type, with one rounding at most.
#[doc(hidden)]
pub trait Stored<W>: Copy + Default + Send + Sync + std::fmt::Debug + 'static {
    fn load(self) -> W;
    fn store(value: W) -> Self;

    /// [`Stored::load`] on slices.
    #[inline(always)]
    fn load_all(from: &[Self], to: &mut [W]) {
        for (y, x) in to.iter_mut().zip(from) {
            *y = x.load();
        }
    }

    /// [`Stored::store`] on slices.
    #[inline(always)]
    fn store_all(from: &[W], to: &mut [Self])
    where
        W: Copy,
    {
        for (y, x) in to.iter_mut().zip(from) {
            *y = Self::store(*x);
        }
    }
}

/// Plain bits: any bytes are a value, and a value is its bytes.
#[doc(hidden)]
pub trait Plain: FromBytes + IntoBytes + Immutable + KnownLayout {}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> Plain for T {}

/// Arithmetic of lifting steps, on types that are plain bits.
#[doc(hidden)]
pub trait Arithmetic: lifting_dsl::sample::Arithmetic + Plain + Stored<Self> {}

impl<W: lifting_dsl::sample::Arithmetic + Plain + Stored<W>> Arithmetic for W {}

macro_rules! own_lane {
    ($($t:ty),*) => {$(
        impl Sample for $t {
            type Lane = $t;
            const DIRECT: bool = true;
            executor!();
        }
        impl Stored<$t> for $t {
            #[inline(always)]
            fn load(self) -> $t {
                self
            }
            #[inline(always)]
            fn store(value: $t) -> $t {
                value
            }
        }
    )*};
}

own_lane!(i16, i32, i64, f32, f64);

macro_rules! half_float {
    ($($t:ty),*) => {$(
        impl Sample for $t {
            type Lane = f32;
            const DIRECT: bool = false;
            executor!();
        }
        impl Stored<f32> for $t {
            #[inline(always)]
            fn load(self) -> f32 {
                self.to_f32()
            }
            #[inline(always)]
            fn store(value: f32) -> $t {
                <$t>::from_f32(value)
            }
        }
    )*};
}

half_float!(f16, bf16);

/// A lifting step with its weights rounded to the work type, offsets in positions.
#[derive(Clone, Debug)]
pub(crate) struct CompiledStep<W: Arithmetic> {
    /// Parity of the updated positions.
    pub target: usize,
    /// Operation on them.
    pub kind: StepKind<W>,
    /// Lowest and highest offset read, in positions; 0, 0 for a scaling.
    pub support: (isize, isize),
}

/// Operation of a [`CompiledStep`].
#[derive(Clone, Debug)]
pub(crate) enum StepKind<W: Arithmetic> {
    /// `x ∓= (Σ w·x[i+d] + r) >> s`
    Integer { subtract: bool, taps: Vec<(isize, W::Acc)>, rounding: W::Acc, shift: u32, mode: RoundingMode },
    /// `x ∓= Σ w·(Σ x[i+d])`
    Real { subtract: bool, groups: Vec<CompiledGroup<W>> },
    /// `x *= c`
    Scale { factor: W::Acc },
    /// A lattice stage on every pair (u, v) of neighbours, u at the target, cyclically: [[a, b], [c, d]].
    Pair { rows: [[W::Acc; 2]; 2] },
}

/// Offsets that share a weight.
#[derive(Clone, Debug)]
pub(crate) struct CompiledGroup<W: Arithmetic> {
    pub weight: GroupWeight<W>,
    pub offsets: Vec<isize>,
}

/// A weight; 1 and −1 need no multiplication.
#[derive(Clone, Debug)]
pub(crate) enum GroupWeight<W: Arithmetic> {
    One,
    MinusOne,
    Other(W::Acc),
}

impl<W: Arithmetic> GroupWeight<W> {
    /// Rounds a weight to the work type.
    pub fn new(weight: &Weight) -> GroupWeight<W> {
        match weight {
            w if w.is_one() => GroupWeight::One,
            w if w.is_minus_one() => GroupWeight::MinusOne,
            w => GroupWeight::Other(W::real(w)),
        }
    }
}

impl<W: Arithmetic> CompiledStep<W> {
    /// Compiled steps of one direction: the stages of a lattice if there are any, else the steps.
    pub fn all(stages: Option<Vec<PairStage>>, steps: &[Step]) -> Vec<CompiledStep<W>> {
        match stages {
            Some(stages) => stages.iter().map(CompiledStep::pair).collect(),
            None => steps.iter().map(CompiledStep::new).collect(),
        }
    }

    fn pair(stage: &PairStage) -> CompiledStep<W> {
        let rows = stage.rows.each_ref().map(|row| row.each_ref().map(W::real));
        CompiledStep { target: stage.first.parity() as usize, kind: StepKind::Pair { rows }, support: (0, 1) }
    }

    /// Rounds the weights of `step` to the work type.
    pub fn new(step: &Step) -> CompiledStep<W> {
        let target = step.target().parity() as usize;
        let (lo, hi) = step.support().unwrap_or((0, 0));
        // even[k+o] read by an odd target is 2o−1 positions away; odd[k+o] read by an even one 2o+1.
        let position = |offset: i32| 2 * offset as isize + 1 - 2 * target as isize;
        let kind = match step {
            Step::Integer(s) => StepKind::Integer {
                subtract: s.op == lifting_dsl::Op::Sub,
                taps: s.taps.iter().map(|t| (position(t.offset), W::integer(t.weight))).collect(),
                rounding: W::integer(s.rounding),
                shift: s.shift,
                mode: s.mode,
            },
            Step::Real(s) => StepKind::Real {
                subtract: s.op == lifting_dsl::Op::Sub,
                groups: s
                    .groups
                    .iter()
                    .map(|g| CompiledGroup {
                        weight: GroupWeight::new(&g.weight),
                        offsets: g.offsets.iter().map(|&o| position(o)).collect(),
                    })
                    .collect(),
            },
            Step::Scale(s) => StepKind::Scale { factor: W::real(&s.factor) },
        };
        CompiledStep { target, kind, support: (lo as isize, hi as isize) }
    }
}
