//! Validation of lattices and filter banks: syntax tree → [`Body`] and steps.

use super::{only, weight_range};
use crate::algebra::construct::{cost, factor_bank, lower, singular_stage};
use crate::core::body::{Body, Factor, Filter, MAX_STAGES, MAX_TAPS};
use crate::core::diag::Diagnostic;
use crate::core::lattice::{Lattice, Stage};
use crate::core::scheme::{Domain, Step};
use crate::core::span::Span;
use crate::core::weight::Weight;
use crate::language::ast::{self, Item};
use crate::language::linear::Reducer;
use crate::language::suggest::did_you_mean;

/// The parts of a wavelet's body that have been read.
#[derive(Default)]
pub(super) struct MadeOf<'a> {
    first_step: Option<Span>,
    lattice: Option<&'a ast::Lattice>,
    bank: Option<&'a ast::Bank>,
    factor: Option<&'a ast::Word>,
}

impl<'a> MadeOf<'a> {
    pub(super) fn is_lattice_or_bank(&self) -> bool {
        self.lattice.is_some() || self.bank.is_some() || self.factor.is_some()
    }

    /// Records a step, a lattice, a bank or its factorisation, and reports conflicts.
    pub(super) fn note(&mut self, item: &'a Item, sink: &mut crate::language::sink::Sink) {
        let (lattice, bank) = (self.lattice.map(|l| l.span), self.bank.map(|b| b.span));
        let (span, other) = match item {
            Item::Step(ast::Step { span, .. }) | Item::Swap(span) => {
                let first = self.first_step.is_none();
                self.first_step.get_or_insert(*span);
                // One report is enough.
                (*span, lattice.or(bank).filter(|_| first))
            }
            Item::Lattice(l) => {
                only(lattice, l.span, "lattice", sink);
                self.lattice.get_or_insert(l);
                (l.span, self.first_step.or(bank))
            }
            Item::Bank(b) => {
                only(bank, b.span, "bank", sink);
                self.bank.get_or_insert(b);
                (b.span, self.first_step.or(lattice))
            }
            Item::Factor(word) => {
                only(self.factor.map(|f| f.span), word.span, "factor", sink);
                self.factor.get_or_insert(word);
                return;
            }
            _ => return,
        };
        if let Some(other) = other {
            let message = "a wavelet consists of steps, a lattice or a bank, not of two of these";
            sink.push(
                Diagnostic::error("L0213", message, span, "another kind")
                    .note(other, "the wavelet's body so far")
                    .help("make two wavelets of it"),
            );
        }
    }

    /// The body and its steps, after all statements have been read. `None`: an error was reported.
    pub(super) fn body(&self, reducer: &mut Reducer) -> Option<(Body, Vec<Step>)> {
        let span = self.lattice.map(|l| l.span).or(self.bank.map(|b| b.span));
        if let (Some(span), Some(Domain::Integer)) = (span, reducer.domain) {
            let what = if self.lattice.is_some() { "a lattice" } else { "a bank" };
            let message = format!("{what} needs the real domain");
            let diagnostic = Diagnostic::error("L0407", message, span, "multiplies by fractions");
            reducer.sink.push(diagnostic.help("declare `domain real;`"));
        }
        if let (Some(word), None) = (self.factor, self.bank) {
            let diagnostic = Diagnostic::error("L0216", "no bank to factor", word.span, "factors nothing");
            reducer.sink.push(diagnostic.help("`factor` goes with `bank { … }`"));
        }
        let lattice = self.lattice.map(|l| lattice(l, reducer));
        let bank = self.bank.map(|b| bank(b, self.factor, reducer));
        lattice.or(bank)?
    }
}

fn lattice(l: &ast::Lattice, reducer: &mut Reducer) -> Option<(Body, Vec<Step>)> {
    if l.stages.len() > MAX_STAGES {
        let span = l.stages[MAX_STAGES].span;
        let message = format!("the lattice has more than {MAX_STAGES} stages");
        reducer.sink.push(Diagnostic::error("L0602", message, span, "one too many"));
        return None;
    }
    if l.stages.is_empty() {
        let diagnostic = Diagnostic::error("L0212", "a lattice without stages", l.span, "does nothing");
        reducer.sink.push(diagnostic.help("add `rotate(a, b);`"));
        return None;
    }
    let stages: Vec<Option<Stage<Weight>>> = l.stages.iter().map(|s| stage(s, reducer)).collect();
    if l.paper && l.stages.len().is_multiple_of(2) {
        let message = "`lattice paper` with an even number of stages leaves the low band at odd positions";
        let help = "append `matrix(0, 1, 1, 0);`, which moves it to even ones and leaves the high band one index later; \
                    or leave `paper` out: the last stage then acts on (2k, 2k+1)";
        reducer.sink.push(Diagnostic::error("L0111", message, l.span, "their number is even").help(help));
        return None;
    }
    let lattice = Lattice { stages: stages.into_iter().collect::<Option<Vec<_>>>()? };
    if let Some(index) = singular_stage(&lattice) {
        let message = "a stage has no inverse: its determinant is zero";
        reducer.sink.push(Diagnostic::error("L0312", message, l.stages[index].span, "singular"));
        return None;
    }
    match lower(&lattice) {
        Ok(steps) => Some((Body::Lattice { lattice, paper: l.paper }, steps)),
        Err(why) => {
            let message = format!("the lattice cannot be expressed in steps: {why}");
            reducer.sink.push(Diagnostic::error("L0314", message, l.span, "out of range"));
            None
        }
    }
}

/// Kinds of stages.
pub(crate) const STAGES: [&str; 3] = ["rotate", "reflect", "matrix"];
/// Filters of a bank.
pub(crate) const FILTERS: [&str; 2] = ["lowpass", "highpass"];

fn stage(s: &ast::Stage, reducer: &mut Reducer) -> Option<Stage<Weight>> {
    let kind = s.kind.text.as_str();
    let arity = match kind {
        "rotate" | "reflect" => 2,
        "matrix" => 4,
        _ => {
            let message = format!("unknown stage `{kind}`");
            let diagnostic = Diagnostic::error("L0214", message, s.kind.span, "not a stage");
            reducer.sink.push(match did_you_mean(kind, STAGES) {
                Some(better) => diagnostic.help(format!("did you mean `{better}`?")),
                None => diagnostic.help("stages are `rotate(a, b)`, `reflect(a, b)` and `matrix(a, b, c, d)`"),
            });
            return None;
        }
    };
    if s.args.len() != arity {
        let message = format!("`{kind}` takes {arity} coefficients, not {}", s.args.len());
        let diagnostic = Diagnostic::error("L0214", message, s.span, "here");
        reducer.sink.push(match kind {
            "rotate" => diagnostic.help("`rotate(a, b)` is [[a, b], [-b, a]]"),
            "reflect" => diagnostic.help("`reflect(a, b)` is [[a, b], [b, -a]]"),
            _ => diagnostic.help("`matrix(a, b, c, d)` is [[a, b], [c, d]]"),
        });
        return None;
    }
    let args: Vec<Option<Weight>> =
        s.args.iter().map(|arg| coefficient(arg, "a coefficient of a stage", reducer)).collect();
    let args: Vec<Weight> = args.into_iter().collect::<Option<_>>()?;
    Some(match (kind, args.as_slice()) {
        ("rotate", [a, b]) => Stage::Rotate { a: a.clone(), b: b.clone() },
        ("reflect", [a, b]) => Stage::Reflect { a: a.clone(), b: b.clone() },
        (_, [a, b, c, d]) => Stage::Matrix { rows: [[a.clone(), b.clone()], [c.clone(), d.clone()]] },
        _ => return None,
    })
}

/// A constant within the range of f64; may be zero.
pub(crate) fn coefficient(e: &ast::Expr, what: &str, reducer: &mut Reducer) -> Option<Weight> {
    let value = reducer.constant(e, what)?;
    (value.is_zero() || weight_range(&value, what, e.span, reducer.sink)).then_some(value)
}

fn bank(b: &ast::Bank, factor: Option<&ast::Word>, reducer: &mut Reducer) -> Option<(Body, Vec<Step>)> {
    let factor = factor.map_or(Some(Factor::Lifting), |word| {
        let found = Factor::ALL.into_iter().find(|f| f.name() == word.text);
        if found.is_none() {
            let message = format!("unknown factorisation `{}`", word.text);
            let diagnostic = Diagnostic::error("L0216", message, word.span, "not a factorisation");
            reducer.sink.push(match did_you_mean(&word.text, Factor::ALL.map(Factor::name)) {
                Some(better) => diagnostic.help(format!("did you mean `{better}`?")),
                None => diagnostic.help("write `factor lifting;` or `factor lattice;`"),
            });
        }
        found
    });
    let mut filters: [Option<(&ast::Filter, Option<Filter>)>; 2] = [None, None];
    for f in &b.filters {
        let Some(which) = FILTERS.iter().position(|name| *name == f.kind.text) else {
            let message = format!("a bank has no `{}`", f.kind.text);
            let diagnostic = Diagnostic::error("L0215", message, f.kind.span, "not a filter of a bank");
            reducer.sink.push(match did_you_mean(&f.kind.text, FILTERS) {
                Some(better) => diagnostic.help(format!("did you mean `{better}`?")),
                None => diagnostic.help("a bank is made of `lowpass at a [..];` and `highpass at a [..];`"),
            });
            continue;
        };
        only(filters[which].as_ref().map(|(first, _)| first.kind.span), f.kind.span, &f.kind.text, reducer.sink);
        let read = filter(f, reducer);
        filters[which].get_or_insert((f, read));
    }
    for (name, filter) in FILTERS.into_iter().zip(&filters) {
        let misspelt = b.filters.iter().any(|f| !FILTERS.contains(&f.kind.text.as_str()));
        if filter.is_none() && !misspelt {
            let message = format!("the bank has no {name} filter");
            let diagnostic = Diagnostic::error("L0215", message, b.span, format!("no `{name}` in here"));
            reducer.sink.push(diagnostic.help(format!("add `{name} at a [..];`, its taps from position 2k + a on")));
        }
    }
    let [Some((_, Some(low))), Some((_, Some(high)))] = filters else { return None };
    let factor = factor?;
    if !reducer.afford_bank(cost(low.taps.len() + high.taps.len(), factor), b.span) {
        return None;
    }
    match factor_bank(&low, &high, factor) {
        Ok(found) => {
            if !found.fit_for_f32 {
                let message = "the steps of this bank lose too much in f32";
                let diagnostic = Diagnostic::warning("L0906", message, b.span, "f64 samples only");
                reducer.sink.push(diagnostic.help("if it is orthogonal, `factor lattice;` may do better"));
            }
            Some((Body::Bank { low, high, factored: found.factored }, found.steps))
        }
        Err(error) => {
            let (fault, help) = error.fault_and_remedy();
            let diagnostic = Diagnostic::error("L0313", fault, b.span, format!("cannot `factor {}`", factor.name()));
            reducer.sink.push(match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            });
            None
        }
    }
}

fn filter(f: &ast::Filter, reducer: &mut Reducer) -> Option<Filter> {
    if f.taps.len() > MAX_TAPS {
        let message = format!("the filter has more than {MAX_TAPS} taps");
        reducer.sink.push(Diagnostic::error("L0602", message, f.taps[MAX_TAPS].span, "one too many"));
        return None;
    }
    if f.taps.is_empty() {
        let message = format!("the {} filter has no taps", f.kind.text);
        reducer.sink.push(Diagnostic::error("L0215", message, f.span, "empty"));
        return None;
    }
    let taps: Vec<Option<Weight>> = f.taps.iter().map(|tap| coefficient(tap, "a tap", reducer)).collect();
    Some(Filter { at: f.at, taps: taps.into_iter().collect::<Option<_>>()? })
}
