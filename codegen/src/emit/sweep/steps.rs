//! Arithmetic of steps, once for samples and for registers: both have the operators of C.
//!
//! Sums of integers wrap, so they are computed in an unsigned type `U` and converted back to the samples' type `T`. For
//! 16-bit samples `U` is a 32-bit type, and conversions discard the upper bits. A register of samples is such a pair of
//! types too. Steps that need wider sums than their samples name these types; they have no form in registers.
//!
//! In Rust a sample or a register is a value of a type `V`, whose operators wrap. 16-bit samples have wider sums as
//! `Wrapping<i32>`.

use crate::emit::{EmitError, prepared};
use crate::ir::{BinOp, Expr, Kernel, Literal, LocalId, Place, Scalar, Space, Stmt, UnOp};
use crate::schedule::rows::SweepStep;
use std::collections::BTreeMap;

/// A step's arithmetic on one sample type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arithmetic {
    /// Parameters: the target, then the samples that are read.
    pub params: Vec<String>,
    /// Named parts of the sum: type, name and value.
    pub parts: Vec<[String; 3]>,
    /// The target's new value; `op` is a sign that differs between analysis and synthesis. In Rust, only the sum that
    /// the sign applies to, if there is a sign.
    pub value: String,
    /// The sign, if there is one.
    pub sign: Option<char>,
    /// Whether all values have the sample type, so that the step has a form in registers.
    pub is_narrow: bool,
}

/// Precedence of C's operators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Bits,
    Shift,
    Sum,
    Product,
    Unary,
}

/// An expression's text.
struct Text {
    text: String,
    level: Level,
    of: Scalar,
    /// Whether it is of the unsigned type.
    wraps: bool,
}

struct Speller {
    is_rust: bool,
    sample: Scalar,
    names: BTreeMap<LocalId, String>,
    is_narrow: bool,
}

impl Arithmetic {
    /// The arithmetic of a step's kernel, in C and in Rust.
    ///
    /// # Errors
    /// If the kernel breaks the rules of the IR.
    pub fn new(step: &SweepStep, sample: Scalar) -> Result<[Arithmetic; 2], EmitError> {
        let (kernel, _) = prepared([step.kernel.clone()])?.remove(0);
        Ok([false, true].map(|is_rust| Arithmetic::of(step, &kernel, sample, is_rust)))
    }

    fn of(step: &SweepStep, kernel: &Kernel, sample: Scalar, is_rust: bool) -> Arithmetic {
        let mut speller = Speller { is_rust, sample, names: BTreeMap::new(), is_narrow: true };
        let (mut params, mut parts) = (Vec::new(), Vec::new());
        let mut old = None;
        for statement in loop_of(kernel) {
            match statement {
                Stmt::Load { dst: Place::Local(id), space: Space::Global(param), .. } => {
                    // A scaling has the same form for both phases.
                    let name = match step.offsets.is_empty() {
                        true => "x".to_owned(),
                        false => kernel.params[param.0 as usize].name.clone(),
                    };
                    old = old.or(Some(*id).filter(|_| param.0 == 0));
                    params.push((param.0, name.clone()));
                    speller.names.insert(*id, name);
                }
                Stmt::Let(id, value) => {
                    let text = speller.expression(value).signed(&mut speller, Level::Bits);
                    let local = &kernel.locals[id.0 as usize];
                    let name = format!("{}_{}", local.name, parts.len() + 1);
                    parts.push([speller.type_of(local.scalar, false).to_owned(), name.clone(), text]);
                    speller.names.insert(*id, name);
                }
                Stmt::Store { values, .. } => {
                    let (sign, value) = speller.stored(&values[0], old);
                    params.sort();
                    let params = params.into_iter().map(|(_, name)| name).collect();
                    return Arithmetic { params, parts, value, sign, is_narrow: speller.is_narrow };
                }
                _ => {}
            }
        }
        unreachable!("the loop of a step stores its target")
    }
}

/// The statements of a kernel's loop.
fn loop_of(kernel: &Kernel) -> &[Stmt] {
    let body = kernel.body.iter().find_map(|s| if let Stmt::For { body, .. } = s { Some(&body[..]) } else { None });
    body.expect("a step is a loop")
}

impl Speller {
    /// The stored value: `old op sum`, if it has that form.
    fn stored(&mut self, value: &Expr, old: Option<LocalId>) -> (Option<char>, String) {
        let value = uncast(value);
        if let Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) = value
            && let Expr::Local(id) = uncast(a)
            && Some(*id) == old
            && !b.mentions(*id)
        {
            let name = self.names[id].clone();
            let sign = if *op == BinOp::Add { '+' } else { '-' };
            let sum = self.expression(b);
            let value = match self.sample.is_integer() {
                _ if self.is_rust => self.cut(sum).text,
                true => {
                    let of = sum.of;
                    let (u, sum) = (self.type_of(of, true), sum.wrapped(self, Level::Product));
                    format!("(T)(({u}){name} op {sum})")
                }
                false => format!("{name} op {}", sum.signed(self, Level::Product)),
            };
            return (Some(sign), value);
        }
        let sample = self.sample;
        let value = self.expression(value);
        if self.is_rust {
            return (None, self.cut(value).text);
        }
        // A sum of another type is cut to the samples' type.
        (None, Text { of: sample, wraps: value.wraps || value.of != sample, ..value }.signed(self, Level::Bits))
    }

    /// The name of a type, or of the unsigned type in which its sums wrap.
    fn type_of(&mut self, of: Scalar, wraps: bool) -> &'static str {
        self.is_narrow &= of == self.sample;
        match (of, wraps) {
            _ if of == self.sample => ["T", "U"][usize::from(wraps)],
            (Scalar::I64, false) => "int64_t",
            (Scalar::I64, true) => "uint64_t",
            (_, false) => "int32_t",
            (_, true) => "uint32_t",
        }
    }

    /// A Rust expression, as one of the samples' type.
    fn cut(&self, value: Text) -> Text {
        match value.of == self.sample {
            true => value,
            false => Text { text: format!("V::narrow({})", value.text), level: Level::Unary, of: self.sample, ..value },
        }
    }

    fn expression(&mut self, e: &Expr) -> Text {
        let text = |text: String, level, of, wraps| Text { text, level, of, wraps };
        let all = |of, x: &dyn std::fmt::Debug| match of == self.sample {
            true => format!("V::all({x:?})"),
            false => format!("Wrapping({x:?})"),
        };
        match e {
            Expr::Lit(Literal::Int(v, of)) if self.is_rust => text(all(*of, v), Level::Unary, *of, false),
            Expr::Lit(Literal::F32(x)) if self.is_rust => text(all(Scalar::F32, x), Level::Unary, Scalar::F32, false),
            Expr::Lit(Literal::F64(x)) if self.is_rust => text(all(Scalar::F64, x), Level::Unary, Scalar::F64, false),
            Expr::Local(id) => text(self.names[id].clone(), Level::Unary, self.sample, false),
            Expr::Lit(Literal::Int(v, of)) => text(v.to_string(), Level::Unary, *of, false),
            Expr::Lit(Literal::F32(x)) => text(format!("{x:?}f"), Level::Unary, Scalar::F32, false),
            Expr::Lit(Literal::F64(x)) => text(format!("{x:?}"), Level::Unary, Scalar::F64, false),
            // Values of 16 bits become 32-bit ones by themselves.
            Expr::Cast(to, e) => {
                let value = self.expression(e);
                if value.of == *to {
                    return value;
                }
                self.type_of(*to, false);
                if self.is_rust && *to == self.sample {
                    return self.cut(value);
                }
                if self.is_rust {
                    return text(format!("{}.wide()", value.signed(self, Level::Unary)), Level::Unary, *to, false);
                }
                let is_shorter = to.bytes() < value.of.bytes();
                match is_shorter {
                    true => text(value.text, value.level, *to, true),
                    false => text(value.signed(self, Level::Unary), Level::Unary, *to, false),
                }
            }
            Expr::Unary(UnOp::Neg, a) => {
                let a = self.expression(a);
                let of = a.of;
                match of.is_integer() && !self.is_rust {
                    true => text(format!("0u - {}", a.wrapped(self, Level::Product)), Level::Sum, of, true),
                    false => text(format!("-{}", a.signed(self, Level::Unary)), Level::Unary, of, false),
                }
            }
            Expr::Binary(BinOp::Shl, a, by) => {
                let a = self.expression(a);
                let of = a.of;
                text(format!("{} << {}", a.wrapped(self, Level::Unary), literal(by)), Level::Shift, of, true)
            }
            Expr::Binary(BinOp::Shr, a, by) => {
                let a = self.expression(a);
                let of = a.of;
                text(format!("{} >> {}", a.signed(self, Level::Unary), literal(by)), Level::Shift, of, false)
            }
            Expr::Binary(op, a, b) => {
                let (symbol, level) = match op {
                    BinOp::Add => ("+", Level::Sum),
                    BinOp::Sub => ("-", Level::Sum),
                    BinOp::Mul => ("*", Level::Product),
                    BinOp::And => ("&", Level::Bits),
                    BinOp::Or => ("|", Level::Bits),
                    _ => ("^", Level::Bits),
                };
                let (a, b) = (self.expression(a), self.expression(b));
                let of = a.of;
                if level == Level::Bits {
                    let [a, b] = [a, b].map(|e| e.signed(self, Level::Unary));
                    return text(format!("{a} {symbol} {b}"), level, of, false);
                }
                let next = if level == Level::Sum { Level::Product } else { Level::Unary };
                // A negative number is subtracted.
                let number = b.text.split_once("(-").filter(|(head, number)| match *head {
                    "V::all" => true,
                    _ => *head == "Wrapping" && *number != "2147483648)",
                });
                if let Some((head, number)) = number.filter(|_| level == Level::Sum && b.level == Level::Unary) {
                    let symbol = if symbol == "+" { "-" } else { "+" };
                    return text(format!("{} {symbol} {head}({number}", a.signed(self, level)), level, of, false);
                }
                if !of.is_integer() || self.is_rust {
                    return text(
                        format!("{} {symbol} {}", a.signed(self, level), b.signed(self, next)),
                        level,
                        of,
                        false,
                    );
                }
                // A negative number is subtracted.
                if let Some(positive) = b.text.strip_prefix('-').filter(|_| level == Level::Sum && b.is_number()) {
                    let symbol = if symbol == "+" { "-" } else { "+" };
                    let positive = format!("{positive}u");
                    return text(format!("{} {symbol} {positive}", a.wrapped(self, level)), level, of, true);
                }
                text(format!("{} {symbol} {}", a.wrapped(self, level), b.wrapped(self, next)), level, of, true)
            }
            _ => unreachable!("a step has no such operation"),
        }
    }
}

impl Text {
    fn is_number(&self) -> bool {
        self.text.parse::<i64>().is_ok()
    }

    fn within(text: String, level: Level, least: Level) -> String {
        if level < least { format!("({text})") } else { text }
    }

    /// Operand of the samples' type.
    fn signed(self, speller: &mut Speller, least: Level) -> String {
        let name = speller.type_of(self.of, false);
        match self.wraps {
            _ if speller.is_rust => Text::within(self.text, self.level, least),
            true => format!("({name}){}", Text::within(self.text, self.level, Level::Unary)),
            false if self.text.starts_with('-') && least > Level::Bits => format!("({})", self.text),
            false => Text::within(self.text, self.level, least),
        }
    }

    /// Operand of the unsigned type.
    fn wrapped(self, speller: &mut Speller, least: Level) -> String {
        let name = speller.type_of(self.of, true);
        match self.wraps {
            _ if speller.is_rust => Text::within(self.text, self.level, least),
            true => Text::within(self.text, self.level, least),
            false if self.is_number() => match self.text.strip_prefix('-') {
                Some(positive) => format!("(0u - {positive}u)"),
                None => format!("{}u", self.text),
            },
            false => format!("({name}){}", Text::within(self.text, self.level, Level::Unary)),
        }
    }
}

/// An expression without its conversions.
fn uncast(e: &Expr) -> &Expr {
    match e {
        Expr::Cast(_, e) => uncast(e),
        e => e,
    }
}

/// A number of bits.
fn literal(e: &Expr) -> i64 {
    match e {
        Expr::Lit(Literal::Int(v, _)) => *v,
        _ => unreachable!("steps shift by constants"),
    }
}
