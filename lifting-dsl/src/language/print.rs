//! Printer: [`ast`] → text and [`Scheme`] → text, in one canonical layout.
//!
//! `parse(print(file))` is `file` up to spans, and `compile(print_scheme(s))` is `s`.

use crate::core::body::{Body, Filter};
use crate::core::scheme::{self, Domain, Scheme, Tap};
use crate::core::weight::Weight;
use crate::language::ast::{self, *};
use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, Zero};

/// The text of a file. Leaves out statements that could not be parsed ([`Item::Error`]).
pub fn print(file: &File) -> String {
    let wavelets: Vec<String> = file.wavelets.iter().map(wavelet).collect();
    wavelets.join("\n")
}

/// The text of a file that holds this scheme alone.
pub fn print_scheme(s: &Scheme) -> String {
    let mut lines = Vec::new();
    lines.push(format!("domain {};", s.domain.name()));
    lines.push(format!("boundary {};", s.boundary));
    for p in &s.profiles {
        let boundary = p.boundary.map(|b| format!("boundary {b};"));
        let gain = (p.gain_shift != 0).then(|| format!("gain shift {};", p.gain_shift));
        lines.push(profile(p.format.name(), boundary.into_iter().chain(gain).collect()));
    }
    lines.push(String::new());
    match &s.body {
        Body::Lifting => lines.extend(s.steps.iter().map(scheme_step)),
        Body::Lattice { lattice, paper } => lines.extend(nested(
            if *paper { "lattice paper" } else { "lattice" },
            lattice.stages.iter().map(|stage| {
                let args: Vec<String> = stage.coefficients().into_iter().map(signed).collect();
                format!("{}({});", stage.name(), args.join(", "))
            }),
        )),
        Body::Bank { low, high, factored } => {
            let filter = |name: &str, f: &Filter| {
                let taps: Vec<String> = f.taps.iter().map(signed).collect();
                format!("{name} at {} [{}];", f.at, taps.join(", "))
            };
            lines.extend(nested("bank", [filter("lowpass", low), filter("highpass", high)].into_iter()));
            lines.push(format!("factor {};", factored.factor().name()));
        }
    }
    block(&s.docs, &s.name, &lines)
}

fn block(docs: &[String], name: &str, lines: &[String]) -> String {
    let mut out = String::new();
    for line in docs {
        out += if line.is_empty() { "///" } else { "/// " };
        out += line;
        out.push('\n');
    }
    out += &format!("wavelet {name} {{\n");
    for line in lines {
        if !line.is_empty() {
            out += "    ";
        }
        out += line;
        out.push('\n');
    }
    out + "}\n"
}

/// `head { … }`, one statement per line.
fn nested(head: &str, statements: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines = vec![format!("{head} {{")];
    lines.extend(statements.map(|s| format!("    {s}")));
    lines.push("}".into());
    lines
}

fn profile(format: &str, statements: Vec<String>) -> String {
    if statements.is_empty() {
        format!("profile {format} {{}}")
    } else {
        format!("profile {format} {{ {} }}", statements.join(" "))
    }
}

fn wavelet(w: &Wavelet) -> String {
    let mut lines = Vec::new();
    let mut steps_before = true;
    for item in &w.items {
        // A blank line separates the steps from the statements before them.
        let is_step =
            matches!(item, Item::Step(_) | Item::Swap(_) | Item::Lattice(_) | Item::Bank(_) | Item::Factor(_));
        if is_step && !steps_before {
            lines.push(String::new());
        }
        steps_before = is_step;
        lines.push(match item {
            Item::Domain(word) => format!("domain {};", word.text),
            Item::Boundary(word) => format!("boundary {};", word.text),
            Item::Profile(p) => {
                let statement = |item: &ProfileItem| match item {
                    ProfileItem::Boundary(word) => format!("boundary {};", word.text),
                    ProfileItem::GainShift(amount) => format!("gain shift {};", expr(amount, Level::Shift)),
                };
                profile(&p.name.text, p.items.iter().map(statement).collect())
            }
            Item::Const(c) => format!("const {} = {};", c.name.text, expr(&c.value, Level::Shift)),
            Item::Step(s) => format!("{} {} {};", s.target.name(), s.op.symbol(), expr(&s.expr, Level::Shift)),
            Item::Swap(_) => "swap;".into(),
            Item::Lattice(l) => {
                let stage = |s: &Stage| format!("{}({});", s.kind.text, list(&s.args));
                let head = if l.paper { "lattice paper" } else { "lattice" };
                lines.extend(nested(head, l.stages.iter().map(stage)));
                continue;
            }
            Item::Bank(b) => {
                let filter = |f: &ast::Filter| format!("{} at {} [{}];", f.kind.text, f.at, list(&f.taps));
                lines.extend(nested("bank", b.filters.iter().map(filter)));
                continue;
            }
            Item::Factor(word) => format!("factor {};", word.text),
            Item::Error(_) => continue,
        });
    }
    block(&w.docs, &w.name.text, &lines)
}

/// Binding strength of an operator, loosest first.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Shift,
    Sum,
    Product,
    Unary,
}

/// An expression, in parentheses if it binds less tightly than `level`.
fn expr(e: &Expr, level: Level) -> String {
    let (own, text) = match &e.kind {
        ExprKind::Number(text) | ExprKind::Name(text) => (Level::Unary, text.clone()),
        ExprKind::Read { phase, offset } => (Level::Unary, read(*phase, *offset)),
        ExprKind::Neg(x) => (Level::Unary, format!("-{}", expr(x, Level::Unary))),
        ExprKind::Sum { first, rest } => {
            let mut text = expr(first, Level::Product);
            for (op, term) in rest {
                text += if *op == AddOp::Add { " + " } else { " - " };
                text += &expr(term, Level::Product);
            }
            (Level::Sum, text)
        }
        ExprKind::Product { first, rest } => {
            let mut text = expr(first, Level::Unary);
            for (op, factor) in rest {
                text += if *op == MulOp::Mul { "*" } else { "/" };
                text += &expr(factor, Level::Unary);
            }
            (Level::Product, text)
        }
        ExprKind::Shift { value, amount } => {
            (Level::Shift, format!("{} >> {}", operand(value), expr(amount, Level::Sum)))
        }
        ExprKind::Call { name, args } => (Level::Unary, format!("{}({})", name.text, list(args))),
        ExprKind::Error => (Level::Unary, String::new()),
    };
    if own < level { format!("({text})") } else { text }
}

fn list(expressions: &[Expr]) -> String {
    let list: Vec<String> = expressions.iter().map(|e| expr(e, Level::Shift)).collect();
    list.join(", ")
}

/// The operand of a shift: in parentheses if it is a sum, since readers may not know whether `+` or `>>` binds tighter.
fn operand(e: &Expr) -> String {
    expr(e, Level::Product)
}

fn read(phase: scheme::Phase, offset: i32) -> String {
    format!("{}[{offset}]", phase.name())
}

fn scheme_step(step: &scheme::Step) -> String {
    match step {
        scheme::Step::Integer(s) => {
            let mut sum = Sum::default();
            for Tap { offset, weight } in &s.taps {
                let read = read(s.target.other(), *offset);
                let size = weight.unsigned_abs();
                sum.term(*weight < 0, if size == 1 { read } else { format!("{size}*{read}") });
            }
            if s.rounding != 0 {
                sum.term(s.rounding < 0, s.rounding.unsigned_abs().to_string());
            }
            let text = match (s.shift, sum.terms) {
                (0, _) => sum.text,
                (shift, 1) => format!("{} >> {shift}", sum.text),
                (shift, _) => format!("({}) >> {shift}", sum.text),
            };
            let text = match s.mode {
                scheme::RoundingMode::Floor => text,
                mode => format!("{}({text})", mode.name()),
            };
            format!("{} {} {text};", s.target.name(), assignment(s.op))
        }
        scheme::Step::Real(s) => {
            let mut sum = Sum::default();
            for group in &s.groups {
                let reads: Vec<String> = group.offsets.iter().map(|o| read(s.target.other(), *o)).collect();
                let (negative, size) = magnitude(&group.weight);
                // An irrational 1 must be marked as such.
                let unit = matches!(&size, Weight::Rational(r) if r.is_one());
                let text = match (reads.as_slice(), unit) {
                    ([read], true) => read.clone(),
                    ([read], false) => format!("{}*{read}", factor(&size)),
                    (_, true) if !negative => reads.join(" + "),
                    (_, true) => format!("({})", reads.join(" + ")),
                    (_, false) => format!("{}*({})", factor(&size), reads.join(" + ")),
                };
                sum.term(negative, text);
            }
            format!("{} {} {};", s.target.name(), assignment(s.op), sum.text)
        }
        scheme::Step::Scale(s) => {
            format!("{} *= {};", s.target.name(), signed(&s.factor))
        }
    }
}

fn assignment(op: scheme::Op) -> &'static str {
    match op {
        scheme::Op::Add => "+=",
        scheme::Op::Sub => "-=",
    }
}

/// A sum built term by term.
#[derive(Default)]
struct Sum {
    text: String,
    terms: usize,
}

impl Sum {
    fn term(&mut self, negative: bool, text: String) {
        self.text += match (self.terms, negative) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        self.text += &text;
        self.terms += 1;
    }
}

/// Sign and absolute value.
fn magnitude(w: &Weight) -> (bool, Weight) {
    let negative = match w {
        Weight::Rational(r) => r.is_negative(),
        Weight::Irrational(x) => *x < 0.0,
    };
    (negative, if negative { w.neg() } else { w.clone() })
}

/// Any weight as the text of a constant expression.
fn signed(w: &Weight) -> String {
    let (negative, size) = magnitude(w);
    format!("{}{}", if negative { "-" } else { "" }, factor(&size))
}

/// A weight that is not negative as the text of a factor.
fn factor(w: &Weight) -> String {
    match w {
        Weight::Rational(r) => rational(r),
        // Marked, since a bare decimal would parse as a rational. `{:e}` prints the shortest digits that round-trip.
        Weight::Irrational(x) if (1e-5..1e17).contains(x) => format!("f64({x})"),
        Weight::Irrational(x) => format!("f64({x:e})"),
    }
}

/// A positive rational, exact: a whole number, a decimal no longer than the fraction, or the fraction.
fn rational(r: &BigRational) -> String {
    let fraction = if r.denom().is_one() { r.numer().to_string() } else { format!("{}/{}", r.numer(), r.denom()) };
    match decimal(r) {
        Some(decimal) if decimal.len() <= fraction.len() => decimal,
        _ => fraction,
    }
}

/// The finite decimal expansion of a positive rational, if there is one of reasonable length.
fn decimal(r: &BigRational) -> Option<String> {
    const MAX_PLACES: u64 = 40;
    let (mut rest, mut twos, mut fives) = (r.denom().magnitude().clone(), 0u64, 0u64);
    if rest.bits() > 4 * MAX_PLACES {
        return None;
    }
    for (prime, count) in [(2u32, &mut twos), (5u32, &mut fives)] {
        while (&rest % prime).is_zero() {
            rest /= prime;
            *count += 1;
        }
    }
    let places = twos.max(fives);
    if !rest.is_one() || places == 0 || places > MAX_PLACES {
        return None;
    }
    let scaled = (r * BigRational::from_integer(BigInt::from(BigUint::from(10u32).pow(places)))).to_integer();
    let digits = format!("{:0>width$}", scaled.to_string(), width = places as usize + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    Some(format!("{whole}.{fraction}"))
}

impl Domain {
    /// The spelling in a `.lift` file.
    pub fn name(self) -> &'static str {
        match self {
            Domain::Integer => "integer",
            Domain::Real => "real",
        }
    }
}
