//! Schemes made by a program: the rules of the language, checked on the steps themselves.

use crate::core::diag::Diagnostic;
use crate::core::names::name_fault;
use crate::core::scheme::*;
use crate::core::span::Span;
use crate::core::weight::{Weight, fits, in_range, invertible};

impl Scheme {
    /// A scheme made of steps; without docs and profiles.
    ///
    /// # Errors
    /// All rules that `name` or `steps` break (see the fields of [`IntegerStep`], [`RealStep`] and [`ScaleStep`]); the
    /// labels are empty, as there is no text.
    ///
    /// ```
    /// use lifting_dsl::*;
    /// let predict = RealStep::from_taps(Phase::Odd, Op::Sub, [(0, Weight::integer(1))]);
    /// let haar = Scheme::from_steps("haar", Domain::Real, Boundary::Periodic, vec![Step::Real(predict)]).unwrap();
    /// assert_eq!(compile(&print_scheme(&haar)).unwrap().schemes, [haar]);
    /// ```
    pub fn from_steps(
        name: impl Into<String>,
        domain: Domain,
        boundary: Boundary,
        steps: Vec<Step>,
    ) -> Result<Scheme, Vec<Diagnostic>> {
        let name = name.into();
        let mut errors = Vec::new();
        let mut error = |code, message: String| errors.push(Diagnostic::error(code, message, Span::default(), ""));
        if let Some((code, fault)) = name_fault(&name) {
            error(code, fault);
        }
        if steps.is_empty() {
            error("L0212", format!("wavelet `{name}` has no steps"));
        }
        if steps.len() > MAX_STEPS {
            error("L0602", format!("wavelet `{name}` has more than {MAX_STEPS} steps"));
        }
        for (index, step) in steps.iter().enumerate() {
            if let Err(fault) = check(step, domain) {
                error("L0701", format!("step {}: {fault}", index + 1));
            }
        }
        if errors.is_empty() { Ok(Scheme::of_checked(name, domain, boundary, steps)) } else { Err(errors) }
    }

    /// The scheme with another doc comment; `docs` is its text without `///`.
    pub fn with_docs(mut self, docs: &str) -> Scheme {
        self.docs = docs.lines().map(|line| line.trim_end_matches('\r').to_string()).collect();
        self
    }

    /// The scheme with these profiles instead of its own.
    ///
    /// # Errors
    /// Two profiles for one format, or a gain shift that is out of range or not in the integer domain.
    pub fn with_profiles(mut self, profiles: Vec<Profile>) -> Result<Scheme, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut error = |code, message: String| errors.push(Diagnostic::error(code, message, Span::default(), ""));
        for (index, p) in profiles.iter().enumerate() {
            if profiles[..index].iter().any(|q| q.format == p.format) {
                error("L0204", format!("two profiles for `{}`", p.format.name()));
            }
            if p.gain_shift > MAX_SHIFT {
                error("L0406", format!("a gain shift is a whole number from 0 to {MAX_SHIFT}"));
            } else if p.gain_shift > 0 && self.domain == Domain::Real {
                error("L0503", "a gain shift needs the integer domain".into());
            }
        }
        self.profiles = profiles;
        if errors.is_empty() { Ok(self) } else { Err(errors) }
    }
}

pub(crate) fn check(step: &Step, domain: Domain) -> Result<(), String> {
    match (step, domain) {
        (Step::Integer(s), Domain::Integer) => {
            offsets(s.taps.iter().map(|t| t.offset))?;
            if s.taps.iter().any(|t| t.weight == 0) {
                return Err("a weight is zero".into());
            }
            if s.shift > MAX_SHIFT {
                return Err(format!("shift {} is too large: at most {MAX_SHIFT}", s.shift));
            }
            if s.shift == 0 && s.mode != RoundingMode::Floor {
                return Err(format!("rounding `{}` needs a shift of at least 1", s.mode.name()));
            }
            Ok(())
        }
        (Step::Real(s), Domain::Real) => {
            if s.groups.is_empty() {
                return Err("no taps".into());
            }
            for g in &s.groups {
                offsets(g.offsets.iter().copied())?;
                weight(&g.weight)?;
            }
            let taps = s.groups.iter().flat_map(|g| g.offsets.iter().map(|o| (*o, g.weight.clone())));
            if RealStep::from_taps(s.target, s.op, taps) != *s {
                return Err("groups are not in canonical form; `RealStep::from_taps` makes them".into());
            }
            Ok(())
        }
        (Step::Scale(s), Domain::Real) => {
            weight(&s.factor)?;
            if invertible(&s.factor) { Ok(()) } else { Err("the factor's reciprocal is beyond f64".into()) }
        }
        (Step::Integer(_), Domain::Real) => Err("an integer step in the real domain".into()),
        (Step::Real(_), Domain::Integer) => Err("a real step in the integer domain".into()),
        (Step::Scale(_), Domain::Integer) if step.is_negation() => Ok(()),
        (Step::Scale(_), Domain::Integer) => Err("a scaling in the integer domain by a factor other than −1".into()),
    }
}

fn offsets(offsets: impl Iterator<Item = i32> + Clone) -> Result<(), String> {
    if offsets.clone().next().is_none() {
        return Err("no taps".into());
    }
    if let Some(far) = offsets.clone().find(|o| !(-MAX_OFFSET..=MAX_OFFSET).contains(o)) {
        return Err(format!("index {far} is beyond ±{MAX_OFFSET}"));
    }
    if offsets.clone().zip(offsets.skip(1)).any(|(a, b)| a >= b) {
        return Err("offsets are not ascending".into());
    }
    Ok(())
}

fn weight(w: &Weight) -> Result<(), String> {
    match w {
        Weight::Rational(r) if !fits(r) => Err("a weight is too long to be kept exactly".into()),
        _ if w.is_zero() => Err("a weight is zero".into()),
        _ if !in_range(w) => Err("a weight is beyond the range of f64".into()),
        _ => Ok(()),
    }
}
