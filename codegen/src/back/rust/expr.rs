//! Short expressions: long operands become variables.

use super::helpers::Helper;
use super::{Writer, type_name};
use crate::back::text::{self, Grammar, Prec, Text};
use crate::ir::*;

/// Columns that an expression may take. rustfmt breaks arguments, chains and conditionals beyond 60, 60 and 50 columns.
pub(super) const WIDTH: usize = 48;

/// An expression and its type.
pub(super) type Typed = Text<Scalar>;

impl Typed {
    /// The text as a method's receiver: a literal needs its type.
    fn receiver(&self) -> String {
        // A call may begin with a literal: `9_i32.wrapping_mul(x)`.
        let literal =
            self.text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) && !self.text.ends_with(')');
        if literal && self.prec >= Prec::Unary {
            let text = format!("{}_{}", self.text, self.of.name());
            return if self.prec == Prec::Unary { format!("({text})") } else { text };
        }
        self.at(Prec::Primary)
    }

    fn begins_as_literal(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
    }
}

impl Writer<'_> {
    /// Moves the longest texts into variables until all fit one line with `rest` other characters.
    pub(super) fn fit(&mut self, parts: &mut [&mut Typed], rest: usize) {
        while parts.iter().map(|p| p.text.len()).sum::<usize>() + rest > WIDTH {
            let longest = parts.iter_mut().max_by_key(|p| p.text.len()).expect("there are parts");
            if longest.text.len() <= 12 {
                return;
            }
            let name = self.namer.name("part");
            self.lines.line(&format!("let {name}: {} = {};", type_name(longest.of), longest.text));
            (longest.text, longest.prec) = (name, Prec::Primary);
        }
    }

    pub(super) fn expr(&mut self, e: &Expr) -> Typed {
        let scalar = self.facts.type_of(e);
        let new = |text: String, prec: Prec| Text::about(text, prec, scalar);
        match e {
            Expr::Lit(l) => {
                let special = || match *l {
                    Literal::F32(x) => format!("f32::from_bits({:#x})", x.to_bits()),
                    Literal::F64(x) => format!("f64::from_bits({:#x})", x.to_bits()),
                    Literal::Bool(_) | Literal::Int(..) => String::new(),
                };
                text::literal(*l, "", special, scalar)
            }
            Expr::Local(id) => new(self.locals[id.0 as usize].clone(), Prec::Primary),
            Expr::Elem(id, index) => new(self.element(*id, index), Prec::Primary),
            Expr::Param(id) => new(self.params[id.0 as usize].clone(), Prec::Primary),
            Expr::Const(id) => self.expr(&Expr::Lit(self.kernel.consts[id.0 as usize].value)),
            Expr::Builtin(b) => {
                let grid = matches!(b, Builtin::GridX | Builtin::GridY | Builtin::GridZ);
                new(if grid { "1" } else { "0" }.into(), Prec::Primary)
            }
            Expr::Unary(op, a) => {
                let data = self.facts.is_data(a) && scalar.is_integer();
                let mut a = self.expr(a);
                self.fit(&mut [&mut a], 16);
                match op {
                    UnOp::Neg if data => new(format!("{}.wrapping_neg()", a.receiver()), Prec::Primary),
                    UnOp::Neg => new(format!("-{}", a.at(Prec::Primary)), Prec::Unary),
                    UnOp::Not => new(format!("!{}", a.at(Prec::Unary)), Prec::Unary),
                    UnOp::CountOnes | UnOp::LeadingZeros => {
                        let method = if *op == UnOp::CountOnes { "count_ones" } else { "leading_zeros" };
                        let count = format!("{}.{method}()", a.receiver());
                        match scalar {
                            Scalar::U32 => new(count, Prec::Primary),
                            scalar => new(format!("{count} as {}", type_name(scalar)), Prec::RustCast),
                        }
                    }
                }
            }
            Expr::Binary(op, a, b) => {
                let wraps = self.facts.is_data(e) && self.facts.type_of(a).is_integer();
                let (a, b) = (self.expr(a), self.expr(b));
                self.binary(*op, wraps, a, b, scalar)
            }
            Expr::Select(c, a, b) => {
                let (mut c, mut a, mut b) = (self.expr(c), self.expr(a), self.expr(b));
                self.fit(&mut [&mut c, &mut a, &mut b], 17);
                let name = self.namer.name("chosen");
                let t = type_name(scalar);
                self.lines.line(&format!("let {name}: {t} = if {} {{ {} }} else {{ {} }};", c.text, a.text, b.text));
                new(name, Prec::Primary)
            }
            Expr::Cast(to, a) => {
                let a = self.expr(a);
                self.cast(*to, a)
            }
            Expr::Dot { pair, weights: [low, high], sum } => {
                let (mut pair, mut sum) = (self.expr(pair), self.expr(sum));
                self.fit(&mut [&mut pair, &mut sum], 80);
                let term = |half: String, weight: &i8| format!(".wrapping_add({half} as i16 as i32 * {weight})");
                let terms =
                    [term(pair.at(Prec::RustCast), low), term(format!("({} >> 16)", pair.at(Prec::Shift)), high)];
                new(format!("{}{}", sum.receiver(), terms.concat()), Prec::Primary)
            }
            Expr::Mirror(i, n) | Expr::MirrorNear(i, n) | Expr::Wrap(i, n) => {
                let (mut i, mut n) = (self.expr(i), self.expr(n));
                self.fit(&mut [&mut i, &mut n], 10);
                let helper = if matches!(e, Expr::Wrap(..)) { Helper::Wrap } else { Helper::Mirror };
                self.helpers.insert(helper);
                new(format!("{}({}, {})", helper.name(), i.text, n.text), Prec::Primary)
            }
        }
    }

    fn binary(&mut self, op: BinOp, wraps: bool, mut a: Typed, mut b: Typed, scalar: Scalar) -> Typed {
        if let BinOp::Pack { low, high } = op {
            self.fit(&mut [&mut a, &mut b], 32);
            let part = |a: &Typed, byte: u8| match byte {
                0 => a.at(Prec::Unary),
                _ => format!("({} >> {})", a.at(Prec::Shift), 8 * byte),
            };
            let (low, high) = (part(&a, low), part(&b, high));
            return Text::about(format!("({low} & 0xffff) | ({high} << 16)"), Prec::RustOr, scalar);
        }
        let method = match op {
            BinOp::Min => Some("min"),
            BinOp::Max => Some("max"),
            BinOp::Add if wraps => Some("wrapping_add"),
            BinOp::Sub if wraps => Some("wrapping_sub"),
            BinOp::Mul if wraps => Some("wrapping_mul"),
            _ => None,
        };
        let Some(method) = method else { return self.join(op, a, b, scalar) };
        self.fit(&mut [&mut a, &mut b], method.len() + 9);
        Text::about(format!("{}.{method}({})", a.receiver(), b.text), Prec::Primary, scalar)
    }

    fn cast(&mut self, to: Scalar, mut a: Typed) -> Typed {
        if a.of == to {
            return a;
        }
        self.fit(&mut [&mut a], 10);
        let helper = match (a.of, to) {
            (Scalar::F16 | Scalar::Bf16, _) => Some(Helper::Widen(a.of)),
            (_, Scalar::F16 | Scalar::Bf16) => Some(Helper::Narrow(to)),
            _ => None,
        };
        if let Some(helper) = helper {
            self.helpers.insert(helper);
            return Text::about(format!("{}({})", helper.name(), a.text), Prec::Primary, to);
        }
        if to == Scalar::Bool {
            let zero = if a.of.is_float() { "0.0" } else { "0" };
            return Text::about(format!("{} != {zero}", a.at(Prec::RustOr)), Prec::Equality, to);
        }
        if a.begins_as_literal() {
            a.text = a.receiver();
            a.prec = Prec::Primary;
        }
        Text::about(format!("{} as {}", a.at(Prec::RustCast), type_name(to)), Prec::RustCast, to)
    }

    pub(super) fn join(&mut self, op: BinOp, mut a: Typed, mut b: Typed, scalar: Scalar) -> Typed {
        self.fit(&mut [&mut a, &mut b], 8);
        let logical = a.of == Scalar::Bool;
        let (symbol, prec) = Grammar::Rust.operator(op, logical).expect("methods are written elsewhere");
        let compares = matches!(prec, Prec::Relation | Prec::Equality);
        let chains = matches!(prec, Prec::LogicalAnd | Prec::LogicalOr);
        // `x as i32 < y` would begin a generic type, and a shifted literal needs its type.
        let left = match prec {
            Prec::Shift if a.begins_as_literal() => a.receiver(),
            Prec::Shift => a.at(Prec::Unary),
            _ if compares && a.text.contains(" as ") => a.at(Prec::Unary),
            _ if compares => a.at(Prec::RustOr),
            _ if chains && a.prec != prec => a.at(Prec::Equality),
            _ => a.at(prec),
        };
        let right = match prec {
            Prec::Sum => b.at(Prec::Product),
            Prec::Product => b.at(Prec::RustCast),
            _ if compares => b.at(Prec::RustOr),
            _ if chains => b.at(Prec::Equality),
            _ => b.at(Prec::Unary),
        };
        Text::about(format!("{left} {symbol} {right}"), prec, scalar)
    }
}
