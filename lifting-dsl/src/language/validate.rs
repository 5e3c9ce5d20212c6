//! Validation: [`ast`] → [`Scheme`]s. Resolves names, reduces expressions, and checks every rule of the language.

mod body;

use crate::core::body::Body;
use crate::core::diag::Diagnostic;
use crate::core::names::c_identifier;
use crate::core::scheme::*;
use crate::core::span::Span;
use crate::core::weight::{in_range, invertible};
use crate::language::ast::{self, Item, ProfileItem, StepOp, Word};
use crate::language::constant::{Arithmetic, as_i32};
use crate::language::linear::{Declared, ExpressionContext, Linear, ROUNDINGS, Reducer, real_shift};
use crate::language::parse::parse_into;
use crate::language::sink::Sink;
use crate::language::suggest::did_you_mean;

use crate::core::weight::Weight;
use body::MadeOf;
pub(crate) use body::coefficient;
#[cfg(test)]
pub(crate) use body::{FILTERS, STAGES};
use std::collections::BTreeMap;

/// A compiled text.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The wavelets, in the order of the file; at least one.
    pub schemes: Vec<Scheme>,
    /// Likely mistakes.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a text to schemes.
///
/// # Errors
/// All errors of the text, and the warnings, by increasing position.
///
/// ```
/// let compiled = lifting_dsl::compile("
///     /// Le Gall (5,3), reversible.
///     wavelet legall53 {
///         domain integer;
///         odd  -= (even[0] + even[1]) >> 1;
///         even += (odd[-1] + odd[0] + 2) >> 2;
///     }
/// ").unwrap();
/// assert_eq!(compiled.schemes[0].name(), "legall53");
/// assert_eq!(compiled.schemes[0].steps().len(), 2);
///
/// let errors = lifting_dsl::compile("wavelet w { domain real; odd += odd[0]; }").unwrap_err();
/// assert_eq!(errors[0].message, "a step that updates `odd` cannot read `odd`");
/// ```
pub fn compile(source: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let file = parse_into(source, &mut sink);
    let schemes = file_schemes(&file, source, &mut sink);
    let diagnostics = sink.into_sorted();
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    Ok(Compiled { schemes, warnings: diagnostics })
}

fn file_schemes(file: &ast::File, source: &str, sink: &mut Sink) -> Vec<Scheme> {
    let mut arithmetic = Arithmetic::default();
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    let mut prefixes: BTreeMap<String, &Word> = BTreeMap::new();
    let mut schemes = Vec::new();
    for w in &file.wavelets {
        if !w.name.text.is_empty() {
            alike(&mut prefixes, &w.name, sink);
            once(names.get(w.name.text.as_str()), &w.name, "L0202", "wavelet", sink);
            names.entry(&w.name.text).or_insert(w.name.span);
        }
        schemes.extend(wavelet(w, &mut arithmetic, sink));
    }
    if file.wavelets.is_empty() && sink.errors() == 0 {
        let span = Span::at(source.len());
        let diagnostic = Diagnostic::error("L0104", "this text has no wavelet", span, "nothing up to here");
        sink.push(diagnostic.help("begin with `wavelet NAME { domain real; … }`"));
    }
    schemes
}

/// Reports a second declaration of a name.
fn once(first: Option<&Span>, again: &Word, code: &'static str, what: &str, sink: &mut Sink) {
    if let Some(first) = first {
        let message = format!("{what} `{}` is declared twice", again.text);
        sink.push(Diagnostic::error(code, message, again.span, "declared again").note(*first, "first declared here"));
    }
}

/// Warns of wavelets whose C names or macros are equal. Macros are in capitals.
fn alike<'w>(prefixes: &mut BTreeMap<String, &'w Word>, name: &'w Word, sink: &mut Sink) {
    let prefix = c_identifier(&name.text);
    let first = *prefixes.entry(prefix.to_uppercase()).or_insert(name);
    if first.text == name.text {
        return;
    }
    let message = if c_identifier(&first.text) == prefix {
        format!("wavelets `{}` and `{}` share the C prefix `{prefix}`", first.text, name.text)
    } else {
        format!("wavelets `{}` and `{}` differ by case alone in C", first.text, name.text)
    };
    let diagnostic = Diagnostic::warning("L0907", message, name.span, "alike in C").note(first.span, "the other one");
    sink.push(diagnostic.help("rename one of them, or compile them apart, each with a prefix of its own"));
}

/// Reports a repeated statement that is allowed once.
pub(crate) fn only(first: Option<Span>, again: Span, statement: &str, sink: &mut Sink) {
    if let Some(first) = first {
        let message = format!("`{statement}` is stated twice");
        sink.push(Diagnostic::error("L0205", message, again, "stated again").note(first, "first stated here"));
    }
}

fn wavelet(w: &ast::Wavelet, arithmetic: &mut Arithmetic, sink: &mut Sink) -> Option<Scheme> {
    let errors_before = sink.errors();
    let domain = domain(w, sink);
    let (mut boundary, mut boundary_span) = (Boundary::WholeSymmetric, None);
    let mut profiles: Vec<(Profile, Span)> = Vec::new();
    let mut steps = Vec::new();
    let mut step_count = 0;
    let mut made_of = MadeOf::default();
    let constants = w.items.iter().filter_map(|i| if let Item::Const(c) = i { Some(c) } else { None });
    let later = constants.rev().map(|c| (c.name.text.clone(), c.name.span)).collect();
    let mut reducer = Reducer { sink, arithmetic, domain, constants: BTreeMap::new(), later };
    for item in &w.items {
        if reducer.sink.is_full() {
            break;
        }
        match item {
            Item::Domain(_) | Item::Error(_) => {}
            Item::Boundary(word) => {
                only(boundary_span, word.span, "boundary", reducer.sink);
                boundary_span.get_or_insert(word.span);
                boundary = border_rule(word, reducer.sink).unwrap_or(boundary);
            }
            Item::Profile(p) => {
                if let Some(profile) = profile(p, &mut reducer) {
                    let first = profiles.iter().find(|(q, _)| q.format == profile.format).map(|(_, span)| span);
                    once(first, &p.name, "L0204", "profile", reducer.sink);
                    profiles.push((profile, p.name.span));
                }
            }
            Item::Const(c) => constant(c, &mut reducer),
            Item::Lattice(_) | Item::Bank(_) | Item::Factor(_) => made_of.note(item, reducer.sink),
            Item::Step(ast::Step { span, .. }) | Item::Swap(span) => {
                made_of.note(item, reducer.sink);
                let (before, made) = (step_count, if matches!(item, Item::Swap(_)) { 4 } else { 1 });
                step_count += made;
                if before <= MAX_STEPS && step_count > MAX_STEPS {
                    let message = format!("wavelet `{}` has more than {MAX_STEPS} steps", w.name.text);
                    reducer.sink.push(Diagnostic::error("L0602", message, *span, "one too many"));
                } else if step_count <= MAX_STEPS {
                    match item {
                        Item::Step(s) => steps.extend(step(s, &mut reducer)),
                        _ => steps.extend(swap(*span, &mut reducer)),
                    }
                }
            }
        }
    }
    let broken = w.items.iter().any(|i| matches!(i, Item::Error(_)));
    let mut body = Some(Body::Lifting);
    if made_of.is_lattice_or_bank() {
        let made = made_of.body(&mut reducer);
        (body, steps) = made.map_or((None, Vec::new()), |(body, steps)| (Some(body), steps));
    }
    let Reducer { constants, sink, .. } = reducer;
    let given = body.is_some() && domain.is_some() && sink.errors() == errors_before;
    if step_count == 0 && (!made_of.is_lattice_or_bank() || given && steps.is_empty()) && !broken {
        let message = format!("wavelet `{}` has no steps", w.name.text);
        let diagnostic = Diagnostic::error("L0212", message, w.name.span, "does nothing");
        sink.push(diagnostic.help("add `odd += …;` and `even += …;`"));
    }
    if sink.errors() == errors_before && !broken {
        // Otherwise a broken statement may be the one that uses the constant.
        for (name, declared) in constants.iter().filter(|(name, d)| !d.used && !name.starts_with('_')) {
            let diagnostic =
                Diagnostic::warning("L0901", format!("constant `{name}` is not used"), declared.span, "never read");
            sink.push(diagnostic.help(format!("remove it, or name it `_{name}`")));
        }
    }
    Some(Scheme {
        docs: w.docs.clone(),
        profiles: profiles.into_iter().map(|(p, _)| p).collect(),
        body: body?,
        ..Scheme::of_checked(w.name.text.clone(), domain?, boundary, steps)
    })
}

fn domain(w: &ast::Wavelet, sink: &mut Sink) -> Option<Domain> {
    let (mut domain, mut span) = (None, None);
    for item in &w.items {
        let Item::Domain(word) = item else { continue };
        only(span, word.span, "domain", sink);
        span.get_or_insert(word.span);
        const ALL: [Domain; 2] = [Domain::Integer, Domain::Real];
        let found = ALL.into_iter().find(|d| d.name() == word.text);
        if found.is_none() {
            let message = format!("unknown domain `{}`", word.text);
            let diagnostic = Diagnostic::error("L0207", message, word.span, "not a domain");
            // A plan chooses the sample type; people try to write it here.
            let real = ["float", "f32", "f64", "double", "f16", "bf16"].contains(&word.text.as_str());
            let integer = ["int", "i16", "i32", "i64", "z"].contains(&word.text.to_lowercase().as_str());
            let better = match (real, integer) {
                (true, _) => Some("real"),
                (_, true) => Some("integer"),
                _ => did_you_mean(&word.text, ALL.map(Domain::name)),
            };
            sink.push(match better {
                Some(better) => diagnostic.help(format!("did you mean `{better}`?")),
                None => diagnostic.help("the domains are `integer` and `real`"),
            });
        }
        domain = domain.or(found);
    }
    let broken = w.items.iter().any(|i| matches!(i, Item::Error(_)));
    if span.is_none() && !broken {
        let message = format!("wavelet `{}` does not state its domain", w.name.text);
        let diagnostic = Diagnostic::error("L0211", message, w.name.span, "no `domain` in this wavelet");
        sink.push(diagnostic.help("add `domain integer;` or `domain real;`"));
    }
    domain
}

fn border_rule(word: &Word, sink: &mut Sink) -> Option<Boundary> {
    let found = Boundary::ALL.into_iter().find(|b| b.name() == word.text);
    if found.is_none() {
        let message = format!("unknown border rule `{}`", word.text);
        let diagnostic = Diagnostic::error("L0208", message, word.span, "not a border rule");
        let names = Boundary::ALL.map(Boundary::name);
        sink.push(match word.text.as_str() {
            "reflect" | "mirror" => diagnostic.help("PyWavelets' `reflect` is `whole-symmetric` here"),
            "symmetric" | "half-sample-symmetric" | "half" => diagnostic.help(
                "`whole-symmetric` reflects the signal about its end sample; `half-symmetric` reflects a phase, with its \
                 end sample repeated",
            ),
            "periodization" | "wrap" | "circular" => diagnostic.help("did you mean `periodic`?"),
            "clamp" | "constant" | "replicate" => diagnostic.help("did you mean `edge`?"),
            text => match did_you_mean(text, names) {
                Some(better) => diagnostic.help(format!("did you mean `{better}`?")),
                None => diagnostic.help(format!("choose one of `{}`", names.join("`, `"))),
            },
        });
    }
    found
}

fn profile(p: &ast::Profile, reducer: &mut Reducer) -> Option<Profile> {
    let format = Format::ALL.into_iter().find(|f| f.name() == p.name.text);
    if format.is_none() {
        let message = format!("unknown format `{}`", p.name.text);
        let diagnostic = Diagnostic::error("L0209", message, p.name.span, "not a format");
        let names = Format::ALL.map(Format::name);
        reducer.sink.push(match did_you_mean(&p.name.text, names) {
            Some(better) => diagnostic.help(format!("did you mean `{better}`?")),
            None => diagnostic.help(format!("profiles exist for `{}`", names.join("`, `"))),
        });
    }
    let (mut boundary, mut boundary_span) = (None, None);
    let (mut gain_shift, mut gain_span) = (0, None);
    for item in &p.items {
        match item {
            ProfileItem::Boundary(word) => {
                only(boundary_span, word.span, "boundary", reducer.sink);
                boundary_span.get_or_insert(word.span);
                boundary = boundary.or(border_rule(word, reducer.sink));
            }
            ProfileItem::GainShift(amount) => {
                only(gain_span, amount.span, "gain shift", reducer.sink);
                gain_span.get_or_insert(amount.span);
                let Some(value) = reducer.constant(amount, "a gain shift") else { continue };
                match as_i32(&value).flatten().and_then(|v| u32::try_from(v).ok()).filter(|v| *v <= MAX_SHIFT) {
                    None => {
                        let message = format!("a gain shift is a whole number from 0 to {MAX_SHIFT}");
                        reducer.sink.push(Diagnostic::error("L0406", message, amount.span, "out of range"));
                    }
                    Some(value) if value > 0 && reducer.domain == Some(Domain::Real) => {
                        let message = "a gain shift needs the integer domain";
                        let diagnostic = Diagnostic::error("L0503", message, amount.span, "shifts real samples");
                        reducer.sink.push(diagnostic.help("scale the phases with `*=` instead"));
                    }
                    Some(value) => gain_shift = value,
                }
            }
        }
    }
    Some(Profile { format: format?, boundary, gain_shift })
}

fn constant(c: &ast::Const, reducer: &mut Reducer) {
    let first = reducer.constants.get(&c.name.text).map(|d| d.span);
    once(first.as_ref(), &c.name, "L0203", "constant", reducer.sink);
    let value = reducer.constant(&c.value, &format!("constant `{}`", c.name.text));
    let declared = Declared { span: c.name.span, value, used: first.is_some() };
    reducer.constants.entry(c.name.text.clone()).or_insert(declared);
}

/// Exchanges `even[k]` and `odd[k]`, as three steps and a sign. A sample without a partner takes the border rule's.
fn swap(span: Span, reducer: &mut Reducer) -> Vec<Step> {
    if reducer.domain == Some(Domain::Real) {
        let message = "a swap needs the integer domain";
        let diagnostic = Diagnostic::error("L0409", message, span, "would round");
        reducer.sink.push(diagnostic.help("in the real domain, write a lattice with the stage `reflect(0, 1);`"));
        return Vec::new();
    }
    let step = |target, op| {
        let taps = vec![Tap { offset: 0, weight: 1 }];
        Step::Integer(IntegerStep { target, op, taps, rounding: 0, shift: 0, mode: RoundingMode::Floor })
    };
    let difference = || step(Phase::Odd, Op::Sub);
    vec![difference(), step(Phase::Even, Op::Add), difference(), Step::negation(Phase::Odd)]
}

/// The argument and the name of a rounding function around a whole step of the integer domain.
fn rounding<'s>(e: &'s ast::Expr, reducer: &mut Reducer) -> Option<(&'s ast::Expr, &'s str)> {
    let ast::ExprKind::Call { name, args } = &e.kind else { return None };
    if reducer.domain == Some(Domain::Real) || !ROUNDINGS.contains(&name.text.as_str()) {
        return None;
    }
    match &args[..] {
        [arg @ ast::Expr { kind: ast::ExprKind::Shift { .. }, .. }] => Some((arg, &name.text)),
        _ => None,
    }
}

fn step(s: &ast::Step, reducer: &mut Reducer) -> Option<Step> {
    let op = match s.op {
        StepOp::Scale => return scale(s, reducer),
        StepOp::Add => Op::Add,
        StepOp::Sub => Op::Sub,
    };
    let (whole, round) = match rounding(&s.expr, reducer) {
        Some((argument, name)) => (argument, Some(name)),
        None => (&s.expr, None),
    };
    let (body, amount) = match &whole.kind {
        ast::ExprKind::Shift { value, amount } => (&**value, Some(&**amount)),
        _ => (whole, None),
    };
    let shift = match amount {
        Some(amount) if reducer.domain == Some(Domain::Real) => {
            reducer.sink.push(real_shift(s.expr.span));
            reducer.constant(amount, "a shift");
            None
        }
        Some(amount) => shift(amount, reducer),
        None => Some(0),
    };
    let sum = reducer.linear(body, ExpressionContext::Step(s.target))?;
    if sum.taps.is_empty() {
        let message = format!("this step does not read `{}`", s.target.other().name());
        let diagnostic = Diagnostic::error("L0308", message, body.span, "no samples in here");
        reducer.sink.push(if s.op == StepOp::Add && s.expr.span == body.span {
            diagnostic.help(format!("to scale, write `{} *= …`", s.target.name()))
        } else {
            diagnostic
        });
        return None;
    }
    let zeros: Vec<(i32, Span)> =
        sum.taps.iter().filter(|(_, (w, _))| w.is_zero()).map(|(o, (_, s))| (*o, *s)).collect();
    for (offset, span) in &zeros {
        let message = format!("the weight of `{}[{offset}]` is zero", s.target.other().name());
        reducer.sink.push(Diagnostic::error("L0306", message, *span, "has no effect").help("leave it out"));
    }
    match reducer.domain? {
        Domain::Integer => integer_step(s, op, &sum, (shift, round), body.span, reducer.sink),
        Domain::Real => real_step(s, op, &sum, body.span, reducer.sink),
    }
    .filter(|_| zeros.is_empty() && shift.is_some())
}

fn shift(amount: &ast::Expr, reducer: &mut Reducer) -> Option<u32> {
    let value = reducer.constant(amount, "a shift")?;
    let shift = as_i32(&value).flatten().and_then(|v| u32::try_from(v).ok()).filter(|v| *v <= MAX_SHIFT);
    if shift.is_none() {
        let message = format!("a shift is a whole number from 0 to {MAX_SHIFT}");
        reducer.sink.push(Diagnostic::error("L0405", message, amount.span, "out of range"));
    }
    shift
}

fn integer_step(
    s: &ast::Step,
    op: Op,
    sum: &Linear,
    (shift, round): (Option<u32>, Option<&str>),
    body: Span,
    sink: &mut Sink,
) -> Option<Step> {
    let other = s.target.other().name();
    let mut taps = Vec::new();
    let mut whole = |value: &Weight, what: String, span: Span| {
        let fault = match as_i32(value) {
            Some(Some(value)) => return Some(value),
            Some(None) => Diagnostic::error("L0402", format!("{what} does not fit 32 bits"), span, "too large"),
            None => Diagnostic::error("L0401", format!("{what} is not a whole number"), span, "a fraction")
                .help("scale to whole numbers and shift the sum: `(3*even[0] + 2) >> 2` for 0.75"),
        };
        sink.push(fault);
        None
    };
    for (offset, (weight, span)) in &sum.taps {
        if let Some(weight) = whole(weight, format!("the weight of `{other}[{offset}]`"), *span) {
            taps.push(Tap { offset: *offset, weight });
        }
    }
    let rounding = whole(&sum.constant, "the rounding term".into(), body)?;
    if shift == Some(0) && rounding != 0 {
        let message = format!("the step adds {rounding} to every sample without a shift");
        let diagnostic = Diagnostic::warning("L0903", message, body, "a rounding term without a shift");
        sink.push(diagnostic.help("was a `>> …` forgotten?"));
    }
    let shift = shift?;
    let none = shift == 0;
    // Two of the roundings are rounding terms.
    let (mode, more) = match round {
        None | Some("floor") => (RoundingMode::Floor, 0),
        Some(name) if none => {
            let message = format!("`{name}` needs a shift of at least 1");
            sink.push(Diagnostic::error("L0408", message, s.expr.span, "nothing to round").help("leave it out"));
            return None;
        }
        Some("ceil") => (RoundingMode::Floor, (1 << shift) - 1),
        Some("half_up") => (RoundingMode::Floor, 1 << (shift - 1)),
        Some(name) => (RoundingMode::ALL.into_iter().find(|mode| mode.name() == name)?, 0),
    };
    let Some(rounding) = rounding.checked_add(more) else {
        sink.push(Diagnostic::error("L0402", "the rounding term does not fit 32 bits", body, "too large"));
        return None;
    };
    let step = IntegerStep { target: s.target, op, taps, rounding, shift, mode };
    (step.taps.len() == sum.taps.len()).then_some(Step::Integer(step))
}

fn real_step(s: &ast::Step, op: Op, sum: &Linear, body: Span, sink: &mut Sink) -> Option<Step> {
    let mut fine = true;
    if !sum.constant.is_zero() {
        let message = "a real step cannot add a constant";
        let diagnostic = Diagnostic::error("L0502", message, body, "contains a term without samples");
        sink.push(diagnostic.help("rounding terms belong to `domain integer`"));
        fine = false;
    }
    for (offset, (weight, span)) in sum.taps.iter().filter(|(_, (w, _))| !w.is_zero()) {
        let what = format!("the weight of `{}[{offset}]`", s.target.other().name());
        fine &= weight_range(weight, &what, *span, sink);
    }
    let taps = sum.taps.iter().map(|(offset, (weight, _))| (*offset, weight.clone()));
    fine.then(|| Step::Real(RealStep::from_taps(s.target, op, taps)))
}

/// Reports a weight that floating point cannot hold.
pub(crate) fn weight_range(weight: &Weight, what: &str, span: Span, sink: &mut Sink) -> bool {
    let fine = in_range(weight);
    if !fine {
        let side = if weight.to_f64() == 0.0 { "too small" } else { "too large" };
        sink.push(Diagnostic::error("L0310", format!("{what} is {side} for f64"), span, side));
    } else if weight.to_f32() == 0.0 || weight.to_f32().is_infinite() {
        let result = if weight.to_f32() == 0.0 { "zero" } else { "infinite" };
        sink.push(Diagnostic::warning("L0904", format!("{what} is {result} in f32"), span, "f64 samples only"));
    }
    fine
}

fn scale(s: &ast::Step, reducer: &mut Reducer) -> Option<Step> {
    let factor = reducer.constant(&s.expr, "a scaling factor");
    if reducer.domain == Some(Domain::Integer) {
        if factor.as_ref() == Some(&Weight::integer(-1)) {
            return Some(Step::negation(s.target));
        }
        let message = "scaling needs the real domain";
        let diagnostic = Diagnostic::error("L0404", message, s.span, "cannot be undone exactly");
        reducer
            .sink
            .push(diagnostic.help("declare `domain real;`, or leave the bands unscaled; integers allow `*= -1`"));
        return None;
    }
    let factor = factor?;
    let span = s.expr.span;
    if factor.is_zero() {
        let message = "a scaling by zero cannot be undone";
        reducer.sink.push(Diagnostic::error("L0311", message, span, "is zero"));
        return None;
    }
    if !weight_range(&factor, "the factor", span, reducer.sink) {
        return None;
    }
    if !invertible(&factor) {
        let message = "the reciprocal of this factor is beyond the range of f64";
        reducer.sink.push(Diagnostic::error("L0311", message, span, "cannot be undone"));
        return None;
    }
    if factor.is_one() {
        let diagnostic = Diagnostic::warning("L0905", "a scaling by one does nothing", span, "is one");
        reducer.sink.push(diagnostic.help("leave it out"));
    }
    Some(Step::Scale(ScaleStep { target: s.target, factor }))
}

impl RealStep {
    /// The step with these weights in canonical form: offsets of equal weight in one group, offsets ascending, groups
    /// by ascending lowest offset. Offsets must be distinct.
    pub fn from_taps(target: Phase, op: Op, taps: impl IntoIterator<Item = (i32, Weight)>) -> RealStep {
        let taps: BTreeMap<i32, Weight> = taps.into_iter().collect();
        let mut groups: Vec<Group> = Vec::new();
        for (offset, weight) in taps {
            match groups.iter_mut().find(|g| g.weight == weight) {
                Some(group) => group.offsets.push(offset),
                None => groups.push(Group { weight, offsets: vec![offset] }),
            }
        }
        RealStep { target, op, groups }
    }
}
