//! Lifting steps as expressions: the arithmetic of the language reference, in one place for all schedules.

use super::{Options, ScheduleError};
use crate::ir::build::Builder;
use crate::ir::{BinOp, Expr, Literal, Place, Scalar};
use lifting_dsl::{Domain, Group, IntegerStep, Op, PairStage, RoundingMode, Scheme, Step, Tap, Weight};

/// The types of a scheme's arithmetic on a sample type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// Type in memory.
    pub storage: Scalar,
    /// Type in registers and shared memory: a step's result is rounded or wrapped to it.
    pub work: Scalar,
    /// Type of a step's sum.
    pub sum: Scalar,
}

impl Arithmetic {
    /// Checks that the options fit the scheme's domain.
    pub fn of(scheme: &Scheme, options: Options) -> Result<Arithmetic, ScheduleError> {
        if options.gain && scheme.domain() == Domain::Real {
            return Err(ScheduleError::Gain { wavelet: scheme.name().to_owned() });
        }
        Arithmetic::new(scheme, options.sample)
    }

    /// Checks that the sample type is in the scheme's domain.
    pub fn new(scheme: &Scheme, storage: Scalar) -> Result<Arithmetic, ScheduleError> {
        use Scalar::*;
        let (work, sum) = match (scheme.domain(), storage) {
            (Domain::Integer, I16 | I32) => (storage, I32),
            (Domain::Integer, I64) => (I64, I64),
            (Domain::Real, F32 | F64) => (storage, storage),
            (Domain::Real, F16 | Bf16) => (F32, F32),
            (domain, _) => {
                let (domain, choices) = match domain {
                    Domain::Integer => ("integer", "i16, i32, i64"),
                    Domain::Real => ("real", "f32, f64, f16, bf16"),
                };
                let wavelet = scheme.name().to_owned();
                return Err(ScheduleError::Sample { wavelet, domain, sample: storage.name(), choices });
            }
        };
        Ok(Arithmetic { storage, work, sum })
    }

    /// This with 16-bit integers in 32-bit registers: they are wrapped on write, not extended on every read.
    pub fn in_registers(self) -> Arithmetic {
        Arithmetic { work: if self.work == Scalar::I16 { self.sum } else { self.work }, ..self }
    }

    /// Converts a value from memory for the steps.
    pub fn widen(self, value: Expr) -> Expr {
        if self.work == self.storage { value } else { value.cast(self.work) }
    }

    /// Converts a step's result for memory.
    pub fn narrow(self, value: Expr) -> Expr {
        if self.work == self.storage { value } else { value.cast(self.storage) }
    }

    /// Zero, of type `work`.
    pub fn zero(self) -> Expr {
        match self.work {
            Scalar::F32 | Scalar::F64 => self.number(0.0),
            s => Expr::int(0, s),
        }
    }

    /// A number that is exact in `f32`, of type `work`, for a real scheme.
    pub(super) fn number(self, value: f64) -> Expr {
        match self.work {
            Scalar::F64 => Expr::Lit(Literal::F64(value)),
            _ => Expr::Lit(Literal::F32(value as f32)),
        }
    }

    fn weight(self, w: &Weight) -> Expr {
        match self.work {
            Scalar::F64 => Expr::Lit(Literal::F64(w.to_f64())),
            _ => Expr::Lit(Literal::F32(w.to_f32())),
        }
    }

    fn is_integer(self) -> bool {
        matches!(self.work, Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    fn to_sum(self, e: Expr) -> Expr {
        if self.sum == self.work { e } else { e.cast(self.sum) }
    }

    /// A step's integer sum, wrapped to the sample type.
    fn to_work(self, e: Expr) -> Expr {
        let wrapped = if self.sum == self.storage { e } else { e.cast(self.storage) };
        self.widen(wrapped)
    }

    /// `value << gain`, wrapping, for an integer sample.
    pub fn shift_up(self, value: Expr, gain: Expr) -> Expr {
        self.to_work(self.to_sum(value) << gain)
    }

    /// `(value + (1 << gain >> 1)) >> gain` in the type of sums, for an integer sample.
    pub fn shift_down(self, value: Expr, gain: Expr) -> Expr {
        let half = (Expr::int(1, self.sum) << gain) >> 1;
        self.to_work((self.to_sum(value) + half) >> gain)
    }
}

/// The new value of a step's target, of type `work`. `old` is the target before, `read(o)` the value of the other phase
/// at index offset o; both have type `work`.
pub fn step_value(step: &Step, arith: Arithmetic, old: Expr, read: &mut dyn FnMut(i32) -> Expr) -> Expr {
    let apply = |op: Op, old: Expr, delta: Expr| match op {
        Op::Add => old + delta,
        Op::Sub => old - delta,
    };
    match step {
        Step::Integer(s) => {
            let sum = integer_sum(&s.taps, arith, read);
            let delta = rounded_shift(s, arith, sum + Expr::int(s.rounding.into(), arith.sum));
            arith.to_work(apply(s.op, arith.to_sum(old), delta))
        }
        Step::Real(s) => {
            let group = |g: &Group, read: &mut dyn FnMut(i32) -> Expr| {
                let sum = g.offsets.iter().map(|o| read(*o)).reduce(|a, b| a + b).expect("a group has offsets");
                match () {
                    _ if g.weight.is_one() => (false, sum),
                    _ if g.weight.is_minus_one() => (true, sum),
                    _ => (false, arith.weight(&g.weight) * sum),
                }
            };
            let mut total: Option<Expr> = None;
            for g in &s.groups {
                // a + (−b) and a − b are the same operation.
                let (negative, value) = group(g, read);
                total = Some(match (total, negative) {
                    (None, false) => value,
                    (None, true) => -value,
                    (Some(t), false) => t + value,
                    (Some(t), true) => t - value,
                });
            }
            apply(s.op, old, total.expect("a step has groups"))
        }
        Step::Scale(_) if arith.is_integer() => arith.to_work(-arith.to_sum(old)),
        Step::Scale(s) => old * arith.weight(&s.factor),
    }
}

/// A step's sum, shifted and rounded in the step's direction.
fn rounded_shift(step: &IntegerStep, arith: Arithmetic, sum: Expr) -> Expr {
    let (shift, half) = (step.shift as i32, 1i64 << step.shift >> 1);
    let and = |a: Expr, mask: i64| Expr::binary(BinOp::And, a, Expr::int(mask, arith.sum));
    let sign = |sum: Expr| sum >> (if arith.sum == Scalar::I64 { 63 } else { 31 });
    let corrected = match step.mode {
        RoundingMode::Floor => sum,
        RoundingMode::Truncate => sum + and(sign(sum), (1 << step.shift) - 1),
        RoundingMode::HalfEven => {
            let odd = and(sum >> shift, 1);
            sum + Expr::int(half - 1, arith.sum) + odd
        }
        RoundingMode::HalfAway => sum + Expr::int(half, arith.sum) + sign(sum),
    };
    corrected >> shift
}

/// The new values of a pair (u, v) of type `work` under a lattice stage.
pub fn pair_values(stage: &PairStage, arith: Arithmetic, u: Expr, v: Expr) -> [Expr; 2] {
    let value = |which: usize, own: Expr, other: Expr| {
        let steps = stage.steps(which);
        steps.iter().fold(own, |old, step| step_value(step, arith, old, &mut |_| other))
    };
    [value(0, u, v), value(1, v, u)]
}

/// Sets both samples of a pair at once.
pub fn set_pair(b: &mut Builder, arith: Arithmetic, [u, v]: [Place; 2], values: [Expr; 2]) {
    let [first, second] = values;
    let first = b.let_("u", arith.work, first);
    b.set(v, second);
    b.set(u, first);
}

/// `Σ weight·other[offset]` in type `sum`. Wrapping sums may be reordered, so taps of one magnitude are added first and
/// multiplied once.
pub fn integer_sum(taps: &[Tap], arith: Arithmetic, read: &mut dyn FnMut(i32) -> Expr) -> Expr {
    let mut magnitudes: Vec<(u32, Vec<(bool, i32)>)> = Vec::new();
    for tap in taps {
        let entry = (tap.weight < 0, tap.offset);
        match magnitudes.iter_mut().find(|(m, _)| *m == tap.weight.unsigned_abs()) {
            Some((_, taps)) => taps.push(entry),
            None => magnitudes.push((tap.weight.unsigned_abs(), vec![entry])),
        }
    }
    // Groups that start with a plus come first: one operation less, and it reads better.
    magnitudes.sort_by_key(|(_, taps)| taps[0].0);
    let mut total: Option<Expr> = None;
    for (magnitude, taps) in magnitudes {
        let negative = taps[0].0;
        let mut sum: Option<Expr> = None;
        for (minus, offset) in taps {
            let value = arith.to_sum(read(offset));
            sum = Some(match sum {
                None => value,
                Some(sum) if minus != negative => sum - value,
                Some(sum) => sum + value,
            });
        }
        // 2^31 wraps to −2^31, which is its own negative.
        let weight = if arith.sum == Scalar::I64 { i64::from(magnitude) } else { i64::from(magnitude as i32) };
        let value = Expr::int(weight, arith.sum) * sum.expect("a magnitude has taps");
        total = Some(match (total, negative) {
            (None, false) => value,
            (None, true) => -value,
            (Some(t), false) => t + value,
            (Some(t), true) => t - value,
        });
    }
    total.expect("a step has taps")
}
