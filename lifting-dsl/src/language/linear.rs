//! Reduction of expressions to weighted sums: offset → weight, and a constant. Reports anything that is not linear.

use crate::core::diag::Diagnostic;
use crate::core::scheme::{Domain, Phase};
use crate::core::span::Span;
use crate::core::weight::MAX_BITS;
use crate::core::weight::Weight;
use crate::language::ast::{AddOp, Expr, ExprKind, MulOp, Word};
use crate::language::constant::{Arithmetic, Fault};
use crate::language::sink::Sink;
use crate::language::suggest::did_you_mean;
use std::collections::BTreeMap;

/// A constant of the wavelet at hand.
pub(crate) struct Declared {
    pub(crate) span: Span,
    /// `None` if an error was reported about it.
    pub(crate) value: Option<Weight>,
    pub(crate) used: bool,
}

/// `constant + Σ weight · other[offset]`
pub(crate) struct Linear {
    pub(crate) constant: Weight,
    /// Weights by offset, with the place of the first read.
    pub(crate) taps: BTreeMap<i32, (Weight, Span)>,
}

impl Linear {
    fn constant(value: Weight) -> Linear {
        Linear { constant: value, taps: BTreeMap::new() }
    }
}

/// Context of an expression.
#[derive(Clone, Copy)]
pub(crate) enum ExpressionContext<'a> {
    /// The value of `const NAME`, or another constant, named for messages; it cannot read samples.
    Constant(&'a str),
    /// The right-hand side of a step that updates this phase.
    Step(Phase),
}

/// State for reducing the expressions of one wavelet.
pub(crate) struct Reducer<'a> {
    pub(crate) sink: &'a mut Sink,
    pub(crate) arithmetic: &'a mut Arithmetic,
    pub(crate) domain: Option<Domain>,
    pub(crate) constants: BTreeMap<String, Declared>,
    /// Constants declared further down.
    pub(crate) later: BTreeMap<String, Span>,
}

/// The functions of the language.
pub(crate) const FUNCTIONS: [&str; 2] = ["sqrt", "f64"];

/// The functions around a step's shift that set its rounding.
pub(crate) const ROUNDINGS: [&str; 6] = ["floor", "ceil", "trunc", "half_up", "half_even", "half_away"];

impl Reducer<'_> {
    /// The value of an expression without samples; `what` names it, as in "a shift". `None`: an error was reported.
    pub(crate) fn constant(&mut self, e: &Expr, what: &str) -> Option<Weight> {
        self.linear(e, ExpressionContext::Constant(what)).map(|l| l.constant)
    }

    /// Reduces an expression. `None`: at least one error was reported.
    pub(crate) fn linear(&mut self, e: &Expr, place: ExpressionContext) -> Option<Linear> {
        if self.sink.is_full() {
            return None;
        }
        match &e.kind {
            ExprKind::Error => None,
            ExprKind::Number(text) => {
                let value = self.arithmetic.number(text);
                self.value(value, e.span).map(Linear::constant)
            }
            ExprKind::Name(name) => self.name(name, e.span).map(Linear::constant),
            ExprKind::Read { phase, offset } => self.read(*phase, *offset, e.span, place),
            ExprKind::Neg(x) => {
                let x = self.linear(x, place)?;
                self.scaled(x, &Weight::integer(-1), e.span)
            }
            ExprKind::Sum { first, rest } => {
                let mut sum = self.linear(first, place);
                for (op, term) in rest {
                    // Reduce all terms, so that the errors of all are found.
                    let term = self.linear(term, place);
                    sum = match (sum, term) {
                        (Some(a), Some(b)) => self.sum(a, *op, b, e.span),
                        _ => None,
                    };
                }
                sum
            }
            ExprKind::Product { first, rest } => {
                let mut product = self.linear(first, place);
                let mut product_span = first.span;
                for (op, factor) in rest {
                    let operand = self.linear(factor, place);
                    let division = *op == MulOp::Div && self.domain == Some(Domain::Integer);
                    if division {
                        self.sink.push(
                            Diagnostic::error(
                                "L0403",
                                "division needs the real domain",
                                product_span.to(factor.span),
                                "divided here",
                            )
                            .help(integer_division(operand.as_ref())),
                        );
                    }
                    product = match (product, operand) {
                        (Some(a), Some(b)) if !division => self.product((a, product_span), *op, (b, factor.span)),
                        _ => None,
                    };
                    product_span = product_span.to(factor.span);
                }
                product
            }
            ExprKind::Shift { value, amount } => {
                self.sink.push(match self.domain {
                    Some(Domain::Real) => real_shift(e.span),
                    _ => Diagnostic::error("L0309", "a shift is a step's last operation", e.span, "shifted inside")
                        .help("bring the step to the form `(weights·samples + rounding) >> shift`"),
                });
                self.linear(value, place);
                self.linear(amount, ExpressionContext::Constant("a shift"));
                None
            }
            ExprKind::Call { name, args } => self.call(name, args, e.span, place),
        }
    }

    /// Charges the factorisation of a bank; false if the budget is exceeded, which is reported once.
    pub(crate) fn afford_bank(&mut self, cost: u64, span: Span) -> bool {
        let fault = self.arithmetic.charge(cost).err();
        if fault == Some(Fault::TooMuchWork) {
            let message = "the banks of this text take too long to factor";
            let help = "split the text, or write long banks out as steps";
            self.sink.push(Diagnostic::error("L0604", message, span, "given up here").help(help));
        }
        fault.is_none()
    }

    fn name(&mut self, name: &str, span: Span) -> Option<Weight> {
        if let Some(declared) = self.constants.get_mut(name) {
            declared.used = true;
            return declared.value.clone();
        }
        if let Some(declaration) = self.later.get(name) {
            let message = format!("constant `{name}` is used before its declaration");
            self.sink.push(
                Diagnostic::error("L0206", message, span, "not known yet")
                    .note(*declaration, "declared here")
                    .help("move the declaration up"),
            );
            return None;
        }
        let diagnostic = Diagnostic::error("L0201", format!("unknown constant `{name}`"), span, "not declared");
        let known = self.constants.keys().map(String::as_str);
        self.sink.push(match did_you_mean(name, known.chain(["even", "odd"])) {
            Some(phase @ ("even" | "odd")) => diagnostic.help(format!("did you mean a sample, `{phase}[0]`?")),
            Some(better) => diagnostic.help(format!("did you mean `{better}`?")),
            None if name == "e" || name == "o" => {
                diagnostic.help(format!("samples are `{}[0]`", if name == "e" { "even" } else { "odd" }))
            }
            None => diagnostic.help(format!("declare it: `const {name} = …;`")),
        });
        None
    }

    fn read(&mut self, phase: Phase, offset: i32, span: Span, place: ExpressionContext) -> Option<Linear> {
        match place {
            ExpressionContext::Constant(what) => {
                let message = format!("{what} cannot depend on samples");
                self.sink.push(Diagnostic::error("L0305", message, span, "a sample"));
                None
            }
            ExpressionContext::Step(target) if target == phase => {
                let (own, other) = (phase.name(), phase.other().name());
                let message = format!("a step that updates `{own}` cannot read `{own}`");
                let diagnostic = Diagnostic::error("L0301", message, span, "reads the phase that is updated");
                self.sink.push(
                    diagnostic.help(format!(
                        "read `{other}` only: that is what makes a step invertible; `{own} *= …` scales"
                    )),
                );
                None
            }
            ExpressionContext::Step(_) => {
                let taps = BTreeMap::from([(offset, (Weight::integer(1), span))]);
                Some(Linear { constant: Weight::integer(0), taps })
            }
        }
    }

    fn sum(&mut self, a: Linear, op: AddOp, b: Linear, span: Span) -> Option<Linear> {
        let b = if op == AddOp::Sub { self.scaled(b, &Weight::integer(-1), span)? } else { b };
        let mut sum = a;
        let constant = self.arithmetic.add(&sum.constant, &b.constant);
        sum.constant = self.value(constant, span)?;
        for (offset, (weight, place)) in b.taps {
            let entry = sum.taps.remove(&offset);
            let entry = match entry {
                None => (weight, place),
                Some((present, first)) => {
                    let weight = self.arithmetic.add(&present, &weight);
                    (self.value(weight, span)?, first)
                }
            };
            sum.taps.insert(offset, entry);
        }
        Some(sum)
    }

    fn product(&mut self, a: (Linear, Span), op: MulOp, b: (Linear, Span)) -> Option<Linear> {
        let ((a, a_span), (b, b_span)) = (a, b);
        let span = a_span.to(b_span);
        if op == MulOp::Div {
            if !b.taps.is_empty() {
                let message = "a step cannot divide by samples";
                self.sink.push(Diagnostic::error("L0303", message, b_span, "depends on samples"));
                return None;
            }
            if b.constant.is_zero() {
                self.sink.push(Diagnostic::error("L0304", "division by zero", b_span, "this is zero"));
                return None;
            }
            // A quotient of two constants is rounded at most once.
            if a.taps.is_empty() {
                let quotient = self.arithmetic.div(&a.constant, &b.constant);
                return self.value(quotient, span).map(Linear::constant);
            }
            let factor = self.arithmetic.div(&Weight::integer(1), &b.constant);
            let factor = self.value(factor, span)?;
            return self.scaled(a, &factor, span);
        }
        if b.taps.is_empty() {
            return self.scaled(a, &b.constant, span);
        }
        if a.taps.is_empty() {
            return self.scaled(b, &a.constant, span);
        }
        self.sink.push(
            Diagnostic::error("L0302", "a step cannot multiply samples by samples", b_span, "depends on samples")
                .note(a_span, "and so does this")
                .help("steps are weighted sums: one factor of a product must be constant"),
        );
        None
    }

    fn scaled(&mut self, x: Linear, factor: &Weight, span: Span) -> Option<Linear> {
        let constant = self.arithmetic.mul(&x.constant, factor);
        let mut scaled = Linear::constant(self.value(constant, span)?);
        for (offset, (weight, place)) in x.taps {
            let weight = self.arithmetic.mul(&weight, factor);
            scaled.taps.insert(offset, (self.value(weight, span)?, place));
        }
        Some(scaled)
    }

    fn call(&mut self, name: &Word, args: &[Expr], span: Span, place: ExpressionContext) -> Option<Linear> {
        if !FUNCTIONS.contains(&name.text.as_str()) {
            let message = format!("unknown function `{}`", name.text);
            let diagnostic = Diagnostic::error("L0210", message, name.span, "not a function");
            self.sink.push(if ROUNDINGS.contains(&name.text.as_str()) {
                misplaced_rounding(name, span, self.domain)
            } else if let Some(declared) = self.constants.get_mut(&name.text) {
                declared.used = true;
                diagnostic.help(format!("to multiply, write `{}*(…)`", name.text))
            } else if let Some(better) = did_you_mean(&name.text, FUNCTIONS.into_iter().chain(ROUNDINGS)) {
                diagnostic.help(format!("did you mean `{better}`?"))
            } else {
                diagnostic
                    .help("a step is a weighted sum of samples; the functions are `sqrt` and `f64`, of constants only")
            });
            for arg in args {
                match &arg.kind {
                    // Its place is reported already.
                    ExprKind::Shift { value, amount } if ROUNDINGS.contains(&name.text.as_str()) => {
                        self.linear(value, place);
                        self.linear(amount, ExpressionContext::Constant("a shift"));
                    }
                    _ => {
                        self.linear(arg, place);
                    }
                }
            }
            return None;
        }
        let [arg] = args else {
            let message = format!("`{}` takes one argument, not {}", name.text, args.len());
            self.sink.push(Diagnostic::error("L0210", message, span, "called here"));
            return None;
        };
        let x = self.constant(arg, &format!("the argument of `{}`", name.text))?;
        let value = if name.text == "sqrt" { self.arithmetic.sqrt(&x) } else { self.arithmetic.f64(&x) };
        self.value(value, span).map(Linear::constant)
    }

    fn value(&mut self, value: Result<Weight, Fault>, span: Span) -> Option<Weight> {
        let fault = match value {
            Ok(value) => return Some(value),
            Err(fault) => fault,
        };
        self.sink.push(match fault {
            Fault::Reported => return None,
            Fault::TooLong => {
                let message = format!("a constant needs more than {MAX_BITS} bits to be exact");
                Diagnostic::error("L0603", message, span, "too long")
                    .help("use fewer digits, or round: `f64(…)` keeps 53 bits")
            }
            Fault::TooMuchWork => {
                let message = "the constants take too much exact arithmetic";
                Diagnostic::error("L0604", message, span, "given up here")
                    .help("round long constants: `f64(…)` keeps 53 bits")
            }
            Fault::NotFinite => {
                Diagnostic::error("L0310", "a constant is beyond the range of f64", span, "not finite in f64")
            }
            Fault::ZeroDivisor => Diagnostic::error("L0304", "division by zero", span, "divided here"),
            Fault::NegativeRoot => {
                Diagnostic::error("L0307", "the square root of a negative number", span, "is not real")
            }
        });
        None
    }
}

/// The report of a rounding function that is not around the whole of an integer step with a shift.
fn misplaced_rounding(name: &Word, span: Span, domain: Option<Domain>) -> Diagnostic {
    let name = &name.text;
    let (message, help) = match domain {
        Some(Domain::Real) => (
            format!("`{name}` needs the integer domain"),
            "real steps round each operation to the nearest value; declare `domain integer;` for whole numbers".into(),
        ),
        _ => (
            format!("`{name}` rounds the shift of a whole integer step"),
            format!("write `odd -= {name}((even[0] + even[1]) >> 1);`: one shift inside, nothing around"),
        ),
    };
    Diagnostic::error("L0408", message, span, "rounded here").help(help)
}

/// The remedy for a division in the integer domain.
fn integer_division(divisor: Option<&Linear>) -> String {
    let constant: Option<i32> =
        divisor.filter(|d| d.taps.is_empty()).and_then(|d| crate::language::constant::as_i32(&d.constant).flatten());
    match constant {
        Some(n @ 2..) if n & (n - 1) == 0 => {
            format!("shift instead: `(… + {}) >> {}` divides by {n}", n / 2, n.trailing_zeros())
        }
        Some(n @ 2..=256) => format!(
            "integer steps divide by powers of two only: `({}*(…) + 128) >> 8` comes close to a division by {n}",
            (256 + n / 2) / n
        ),
        _ => "scale the weights to whole numbers and shift: `(… + 2) >> 2` divides by 4".into(),
    }
}

pub(crate) fn real_shift(span: Span) -> Diagnostic {
    Diagnostic::error("L0501", "a shift needs the integer domain", span, "shifted here")
        .help("multiply: `1/4*(…)` for `(…) >> 2`; or declare `domain integer;`")
}
