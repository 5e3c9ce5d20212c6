//! Ranges of integer coefficients, and the sample type that holds them without wrapping.
//!
//! Two proven bounds are intersected where both hold:
//!
//! - *by steps*: intervals through every step, as if its reads were independent. Holds for every border rule.
//! - *by filters*: every value is a linear function of the input, bounded by Σ |coefficient|, plus an interval for the
//!   rounding errors. It is much tighter over several levels, but the border must act as the interior does. That holds
//!   for `periodic` always, and for `whole-symmetric` if every step reads symmetrically (the extended signal is then
//!   analysed to the extended bands, as in JPEG 2000).
//!
//! The bounds hold along one axis; for d axes apply them axis by axis, as [`Growth::of`] does.

use crate::algebra::coefficient::Coefficient;
use crate::algebra::float::Float;
use crate::algebra::laurent::Laurent;
use crate::algebra::polyphase::stencil;
use crate::core::sample::SampleType;
use crate::core::scheme::{Boundary, IntegerStep, Op, Phase, RoundingMode, Step};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use std::fmt;

/// All integers from `low` to `high`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The smallest.
    pub low: BigInt,
    /// The largest, not below `low`.
    pub high: BigInt,
}

impl Interval {
    /// From `low` to `high`.
    pub fn new(low: impl Into<BigInt>, high: impl Into<BigInt>) -> Interval {
        Interval { low: low.into(), high: high.into() }
    }

    /// The range of `bits` bits: two's complement if `signed`.
    pub fn bits(bits: u32, signed: bool) -> Interval {
        if signed {
            let half = BigInt::one() << bits.saturating_sub(1);
            Interval::new(-&half, half - 1)
        } else {
            Interval::new(0, (BigInt::one() << bits) - 1)
        }
    }

    /// The values of an integer sample type; `None` for the others.
    pub fn of_type(t: SampleType) -> Option<Interval> {
        matches!(t, SampleType::I16 | SampleType::I32 | SampleType::I64)
            .then(|| Interval::bits(8 * t.bytes() as u32, true))
    }

    /// The range of the accumulator of an integer sample type: 32 bits, 64 for `i64`; `None` for the others.
    pub fn of_accumulator(t: SampleType) -> Option<Interval> {
        Interval::of_type(t).map(|_| Interval::bits(if t == SampleType::I64 { 64 } else { 32 }, true))
    }

    /// All values times 2^by.
    pub fn shifted(&self, by: u32) -> Interval {
        Interval { low: &self.low << by, high: &self.high << by }
    }

    /// The smallest interval that contains both.
    pub fn hull(&self, other: &Interval) -> Interval {
        Interval { low: self.low.clone().min(other.low.clone()), high: self.high.clone().max(other.high.clone()) }
    }

    /// Bits of the narrowest two's complement type that holds the interval.
    pub fn signed_bits(&self) -> u32 {
        let bits = |x: &BigInt| if x.is_negative() { (-x - 1u32).bits() } else { x.bits() };
        bits(&self.low).max(bits(&self.high)) as u32 + 1
    }

    /// Whether `other` lies within.
    pub fn contains(&self, other: &Interval) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The intersection of two bounds on the same value; it is not empty.
    fn meet(&self, other: &Interval) -> Interval {
        Interval { low: self.low.clone().max(other.low.clone()), high: self.high.clone().min(other.high.clone()) }
    }

    fn plus(&self, other: &Interval) -> Interval {
        Interval { low: &self.low + &other.low, high: &self.high + &other.high }
    }

    fn minus(&self, other: &Interval) -> Interval {
        Interval { low: &self.low - &other.high, high: &self.high - &other.low }
    }

    fn scaled(&self, w: i32) -> Interval {
        let (a, b) = (&self.low * w, &self.high * w);
        if w < 0 { Interval { low: b, high: a } } else { Interval { low: a, high: b } }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.low, self.high)
    }
}

/// Ranges of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelRange {
    /// 1 for the first level.
    pub level: u32,
    /// Coefficients low along every axis: the next level's input.
    pub low: Interval,
    /// Coefficients high along at least one axis.
    pub high: Interval,
    /// Every value in the sample type at this level: input after the gain shift, results of all steps.
    pub samples: Interval,
    /// Every sum of a step before its shift, in the 32-bit (for `i64`: 64-bit) accumulator.
    pub accumulator: Interval,
}

/// The ranges of all levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// One entry per level, from level 1.
    pub levels: Vec<LevelRange>,
}

/// The transform to bound.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The border rule of the transform.
    pub boundary: Boundary,
    /// Number of levels (at least 1).
    pub levels: u32,
    /// Number of axes that every level transforms (at least 1).
    pub axes: u32,
    /// The gain shift, in bits.
    pub gain_shift: u32,
}

/// A transform that has no integer range: its steps are real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step} is real: ranges are for integer wavelets; for real ones see the gains of the bands")]
pub struct NotInteger {
    /// Number of the step, from 1.
    pub step: usize,
}

impl Growth {
    /// Bounds every value that analysis computes from samples in `input`.
    ///
    /// # Errors
    /// If a step is not an integer step.
    pub fn of(steps: &[Step], input: &Interval, setting: &Setting) -> Result<Growth, NotInteger> {
        let steps = integer_steps(steps)?;
        let filters = has_filters(&steps, setting.boundary);
        let mut levels = Vec::new();
        let mut low = input.clone();
        // Per axis, the linear form of the low band. Levels are composed only for one axis: between axes the rounding
        // errors would mix.
        let mut form = filters.then(|| Form::input(input));
        for level in 1..=setting.levels {
            let shifted = low.shifted(setting.gain_shift);
            if let Some(form) = &mut form {
                form.shift_left(setting.gain_shift);
            }
            let mut samples = shifted.clone();
            let mut accumulator = Interval::new(0, 0);
            let mut bands = vec![shifted];
            let mut new_form = None;
            for _ in 0..setting.axes {
                let mut next: Vec<Interval> = Vec::new();
                for (i, band) in bands.iter().enumerate() {
                    let start = match (&form, setting.axes) {
                        (Some(form), 1) => Some(form.clone()),
                        (Some(_), _) => Some(Form::input(band)),
                        (None, _) => None,
                    };
                    let pass = Pass::run(&steps, band, setting.boundary, start);
                    samples = samples.hull(&pass.samples);
                    accumulator = accumulator.hull(&pass.accumulator);
                    if i == 0 {
                        new_form = pass.form;
                    }
                    next.extend(pass.bands);
                }
                // The first of `next` remains the one that is low along all axes so far.
                bands = next;
            }
            if setting.axes == 1 {
                form = new_form;
            }
            low = bands[0].clone();
            let high = bands[2..].iter().fold(bands[1].clone(), |a, b| a.hull(b));
            levels.push(LevelRange { level, low: low.clone(), high, samples, accumulator });
        }
        Ok(Growth { levels })
    }

    /// Whether no value of any level wraps in a sample type, so that results equal those of exact arithmetic.
    pub fn fits(&self, t: SampleType) -> bool {
        let Some((range, accumulator)) = Interval::of_type(t).zip(Interval::of_accumulator(t)) else { return false };
        self.levels.iter().all(|l| range.contains(&l.samples) && accumulator.contains(&l.accumulator))
    }

    /// The narrowest sample type in which no value wraps.
    pub fn narrowest(&self) -> Option<SampleType> {
        [SampleType::I16, SampleType::I32, SampleType::I64].into_iter().find(|t| self.fits(*t))
    }
}

/// The widest input, in bits, whose coefficients are all exact (nothing wraps) in a sample type; 0 if none is.
///
/// Without a gain shift a transform is lossless for every input, wrapped or not; with one, for inputs of up to this
/// width.
pub fn exact_bits(steps: &[Step], t: SampleType, signed: bool, setting: &Setting) -> Result<u32, NotInteger> {
    // Narrower inputs are part of wider ones: the answer is found by bisection.
    let (mut fits, mut wraps) = (0, 8 * t.bytes() as u32 + 1);
    while fits + 1 < wraps {
        let bits = (fits + wraps) / 2;
        match Growth::of(steps, &Interval::bits(bits, signed), setting)?.fits(t) {
            true => fits = bits,
            false => wraps = bits,
        }
    }
    Ok(fits)
}

/// A step of the integer domain.
enum Whole<'a> {
    Lift(&'a IntegerStep),
    Negation(Phase),
}

fn integer_steps(steps: &[Step]) -> Result<Vec<Whole<'_>>, NotInteger> {
    fn whole((i, step): (usize, &Step)) -> Result<Whole<'_>, NotInteger> {
        match step {
            Step::Integer(s) => Ok(Whole::Lift(s)),
            Step::Scale(s) if step.is_negation() => Ok(Whole::Negation(s.target)),
            Step::Real(_) | Step::Scale(_) => Err(NotInteger { step: i + 1 }),
        }
    }
    steps.iter().enumerate().map(whole).collect()
}

/// Whether the bound by filters holds at the border.
fn has_filters(steps: &[Whole], boundary: Boundary) -> bool {
    boundary.is_kept(steps.iter().all(|step| match step {
        Whole::Lift(step) => symmetric(step),
        Whole::Negation(_) => true,
    }))
}

/// Lowest and highest correction of a step's sum before its shift.
fn corrections(step: &IntegerStep) -> [i64; 2] {
    let half = (1i64 << step.shift) >> 1;
    match step.mode {
        RoundingMode::Floor => [0, 0],
        RoundingMode::Truncate => [0, (1 << step.shift) - 1],
        RoundingMode::HalfEven | RoundingMode::HalfAway => [half - 1, half],
    }
}

/// Whether a step reads symmetrically about the position that it updates.
fn symmetric(step: &IntegerStep) -> bool {
    // even[k + o] and even[k + 1 − o] are equally far from odd[k]; odd[k + o] and odd[k − 1 − o] from even[k].
    let mirror = |o: i32| if step.target == Phase::Odd { 1 - o } else { -1 - o };
    step.taps.iter().all(|t| step.taps.iter().any(|u| u.offset == mirror(t.offset) && u.weight == t.weight))
}

/// Ranges of analysis along one axis.
pub struct Pass {
    /// Low and high.
    pub bands: [Interval; 2],
    /// Every value in the sample type: input and results of all steps.
    pub samples: Interval,
    /// Every sum of a step before its shift.
    pub accumulator: Interval,
    /// The linear form of the low band.
    form: Option<Form>,
}

impl Pass {
    /// Bounds every value that analysis of lines of at least two samples computes from samples in `input`.
    ///
    /// # Errors
    /// If a step is not an integer step.
    pub fn of(steps: &[Step], input: &Interval, boundary: Boundary) -> Result<Pass, NotInteger> {
        let steps = integer_steps(steps)?;
        let form = has_filters(&steps, boundary).then(|| Form::input(input));
        Ok(Pass::run(&steps, input, boundary, form))
    }

    fn run(steps: &[Whole], input: &Interval, boundary: Boundary, form: Option<Form>) -> Pass {
        let mut phases = [input.clone(), input.clone()];
        let (mut samples, mut accumulator) = (input.clone(), Interval::new(0, 0));
        let mut forms = form.map(|f| [f.clone(), f.delayed()]);
        for step in steps {
            let step = match step {
                Whole::Lift(step) => *step,
                Whole::Negation(phase) => {
                    let target = *phase as usize;
                    phases[target] = Interval::new(0, 0).minus(&phases[target]);
                    samples = samples.hull(&phases[target]);
                    if let Some(forms) = &mut forms {
                        forms[target] = forms[target].negated();
                    }
                    continue;
                }
            };
            let (target, other) = (step.target as usize, step.target.other() as usize);
            let zero = Interval::new(0, 0);
            let read = if boundary == Boundary::Zero { phases[other].hull(&zero) } else { phases[other].clone() };
            let constant = Interval::new(step.rounding, step.rounding);
            let mut sum = step.taps.iter().fold(constant, |sum, t| sum.plus(&read.scaled(t.weight)));
            let form = forms.as_ref().map(|f| f[target].stepped(step, &f[other]));
            if let Some(forms) = &forms {
                sum = sum.meet(&forms[other].summed(step));
            }
            accumulator = accumulator.hull(&sum);
            let [low, high] = corrections(step);
            let corrected = Interval { low: &sum.low + low, high: &sum.high + high };
            accumulator = accumulator.hull(&corrected);
            let term = Interval { low: &corrected.low >> step.shift, high: &corrected.high >> step.shift };
            let mut result = match step.op {
                Op::Add => phases[target].plus(&term),
                Op::Sub => phases[target].minus(&term),
            };
            if let (Some(forms), Some(form)) = (&mut forms, form) {
                result = result.meet(&form.range());
                forms[target] = form;
            }
            samples = samples.hull(&result);
            phases[target] = result;
        }
        Pass { bands: phases, samples, accumulator, form: forms.map(|[low, _]| low.decimated()) }
    }
}

/// A value as Σ coefficient·input\[n\] + error, with the rounding error in an interval.
#[derive(Clone)]
struct Form {
    filter: Laurent<Float>,
    error: [Float; 2],
    /// Distance of neighbouring samples of the signal being analysed, in samples of the input.
    stride: i64,
    input: [Float; 2],
}

impl Form {
    fn input(range: &Interval) -> Form {
        let float = |x: &BigInt| Float::from_rational(&x.clone().into());
        let zero = Float::zero();
        Form {
            filter: Laurent::one(),
            error: [zero.clone(), zero],
            stride: 1,
            input: [float(&range.low), float(&range.high)],
        }
    }

    /// The form of the value at the next sample.
    fn delayed(&self) -> Form {
        Form { filter: self.filter.shifted(self.stride), ..self.clone() }
    }

    /// The form as a sample of the low band, whose neighbours are twice as far apart.
    fn decimated(self) -> Form {
        Form { stride: 2 * self.stride, ..self }
    }

    fn shift_left(&mut self, by: u32) {
        self.filter = self.filter.map(|c| c.ldexp(i64::from(by)));
        self.error = self.error.each_ref().map(|e| e.ldexp(i64::from(by)));
    }

    fn negated(&self) -> Form {
        let [low, high] = &self.error;
        let error = [&Float::zero() - high, &Float::zero() - low];
        Form { filter: self.filter.negated(), error, ..self.clone() }
    }

    /// self op (Σ w·other + r) >> s: the shift divides, adds less than one, and subtracts less than one.
    fn stepped(&self, step: &IntegerStep, other: &Form) -> Form {
        let term = other.combined(step);
        let unit = -i64::from(step.shift);
        let dropped = &Float::integer(1) - &Float::integer(1).ldexp(unit);
        // The correction before the shift, divided.
        let [low, high] = corrections(step).map(|c| Float::integer(c).ldexp(unit));
        let (filter, low, high) = (
            term.filter.map(|c| c.ldexp(unit)),
            &(&term.error[0].ldexp(unit) - &dropped) + &low,
            &term.error[1].ldexp(unit) + &high,
        );
        match step.op {
            Op::Add => {
                let error = [&self.error[0] + &low, &self.error[1] + &high];
                Form { filter: self.filter.plus(&filter), error, ..self.clone() }
            }
            Op::Sub => {
                let error = [&self.error[0] - &high, &self.error[1] - &low];
                Form { filter: self.filter.minus(&filter), error, ..self.clone() }
            }
        }
    }

    /// Σ w·self + r as a form.
    fn combined(&self, step: &IntegerStep) -> Form {
        let taps = stencil::<Float>(&Step::Integer(IntegerStep { op: Op::Add, shift: 0, ..step.clone() }));
        let mut filter = Laurent::zero();
        let mut error = [Float::integer(step.rounding.into()), Float::integer(step.rounding.into())];
        for (n, w) in taps.terms() {
            filter = filter.plus(&self.filter.scaled(w).shifted(2 * self.stride * n));
            let (a, b) = if w.signum() < 0 { (1, 0) } else { (0, 1) };
            error = [&error[0] + &w.times(&self.error[a]), &error[1] + &w.times(&self.error[b])];
        }
        Form { filter, error, ..self.clone() }
    }

    /// The range of Σ w·self + r.
    fn summed(&self, step: &IntegerStep) -> Interval {
        self.combined(step).range()
    }

    fn range(&self) -> Interval {
        let [mut low, mut high] = self.error.clone();
        for (_, c) in self.filter.terms() {
            let (a, b) = if c.signum() < 0 { (1, 0) } else { (0, 1) };
            low = &low + &c.times(&self.input[a]);
            high = &high + &c.times(&self.input[b]);
        }
        // Values are integers, so round inwards. All numbers here are dyadic and far within the precision: nothing was
        // lost.
        let (low, high) = (low.to_rational().ceil().to_integer(), high.to_rational().floor().to_integer());
        if low > high { Interval::new(BigInt::zero(), BigInt::zero()) } else { Interval { low, high } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::oracle::analyse_line;
    use crate::core::testing::{cdf97, dd137, integer, legall53};

    fn setting(boundary: Boundary, levels: u32) -> Setting {
        Setting { boundary, levels, axes: 1, gain_shift: 0 }
    }

    /// A one-sided wavelet: no border rule but `periodic` treats it as the interior.
    fn skew() -> Vec<Step> {
        vec![
            integer(Phase::Odd, Op::Sub, &[(0, 3), (1, -1)], 1, 1),
            integer(Phase::Even, Op::Add, &[(0, 1), (1, 2)], 2, 2),
        ]
    }

    #[test]
    fn worst_cases_are_never_exceeded_and_nearly_met() {
        for steps in [legall53(), dd137(), skew()] {
            for boundary in Boundary::ALL {
                let growth = Growth::of(&steps, &Interval::new(-128, 127), &setting(boundary, 1)).unwrap();
                let level = &growth.levels[0];
                let mut met = [0i64; 2];
                let mut state = 7u64;
                for round in 0..4000 {
                    let n = 2 * (round % 9 + 1);
                    let mut line: Vec<i64> = (0..n)
                        .map(|_| {
                            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                            if state >> 63 == 0 { -128 } else { 127 }
                        })
                        .collect();
                    analyse_line(&steps, boundary, 0, &mut line).unwrap();
                    for (i, x) in line.iter().enumerate() {
                        let band = if i % 2 == 0 { &level.low } else { &level.high };
                        assert!(band.contains(&Interval::new(*x, *x)), "{boundary}: {x} outside {band}");
                        met[i % 2] = met[i % 2].max(x.abs());
                    }
                }
                if boundary == Boundary::Periodic {
                    for (met, band) in met.iter().zip([&level.low, &level.high]) {
                        let bound = band.low.magnitude().max(band.high.magnitude()).clone();
                        assert!(BigInt::from(*met) * 100 >= BigInt::from(bound.clone()) * 85, "{met} of {bound}");
                    }
                }
            }
        }
    }

    /// Zeros beyond the border are part of the range: 100 − ⌊(100 + 0)/2⌋ there, 0 inside.
    #[test]
    fn zeros_are_read_as_well() {
        let pass = |boundary| Pass::of(&legall53(), &Interval::new(100, 100), boundary).unwrap();
        assert_eq!(pass(Boundary::Edge).bands[1], Interval::new(0, 0));
        assert_eq!(pass(Boundary::Zero).bands[1], Interval::new(0, 100));
        assert_eq!(pass(Boundary::Zero).accumulator, Interval::new(0, 202));
    }

    #[test]
    fn legall_by_hand() {
        let growth = Growth::of(&legall53(), &Interval::bits(8, false), &setting(Boundary::WholeSymmetric, 1)).unwrap();
        let level = &growth.levels[0];
        // odd − ⌊(a + b)/2⌋ of 0..=255.
        assert_eq!(level.high, Interval::new(-255, 255));
        assert_eq!(level.accumulator, Interval::new(-508, 512));
        // even/4·3 + …: at most (2 + 6 + 2)/8·255 and two roundings.
        assert!(level.low.high <= 321.into() && level.low.high >= 318.into(), "{}", level.low);
        assert_eq!(level.low.low, (-64).into());
        assert_eq!(growth.narrowest(), Some(SampleType::I16));
    }

    #[test]
    fn filters_are_tighter_than_steps_over_levels() {
        let input = Interval::bits(12, true);
        let bits = |b| Growth::of(&dd137(), &input, &setting(b, 5)).unwrap().levels[4].low.signed_bits();
        assert!(bits(Boundary::WholeSymmetric) <= 14);
        assert!(bits(Boundary::Edge) > bits(Boundary::WholeSymmetric));
        assert_eq!(bits(Boundary::Periodic), bits(Boundary::WholeSymmetric));
    }

    #[test]
    fn exact_input_bits() {
        let s = setting(Boundary::WholeSymmetric, 3);
        let bits = exact_bits(&dd137(), SampleType::I16, true, &s).unwrap();
        assert!((12..=14).contains(&bits), "{bits}");
        let gained = exact_bits(&dd137(), SampleType::I16, true, &Setting { gain_shift: 1, ..s }).unwrap();
        assert_eq!(gained, bits - 3, "one bit a level");
        let plane = exact_bits(&dd137(), SampleType::I16, true, &Setting { axes: 2, ..s }).unwrap();
        assert!(plane < bits);
        assert!(exact_bits(&dd137(), SampleType::I64, true, &s).unwrap() > 55);
        assert_eq!(exact_bits(&cdf97(), SampleType::I32, true, &s), Err(NotInteger { step: 1 }));
    }

    #[test]
    fn types_and_their_bits() {
        assert_eq!(Interval::of_type(SampleType::I16), Some(Interval::new(-32768, 32767)));
        assert_eq!(Interval::of_type(SampleType::F32), None);
        for (range, bits) in [((0, 0), 1), ((-1, 0), 1), ((0, 1), 2), ((-128, 127), 8), ((-129, 0), 9), ((0, 255), 9)] {
            assert_eq!(Interval::new(range.0, range.1).signed_bits(), bits);
        }
    }
}
