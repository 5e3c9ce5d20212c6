//! Expressions, with as few parentheses as precedence and compiler warnings allow.

use super::{Helper, Writer};
use crate::back::text::{self, Grammar, Prec, Text};
use crate::ir::*;

impl Writer<'_> {
    /// Whether an operation must be computed in unsigned arithmetic, so that it wraps.
    fn wraps(&self, e: &Expr) -> bool {
        use BinOp::*;
        let arithmetic = matches!(e, Expr::Binary(Add | Sub | Mul | Shl, ..) | Expr::Unary(UnOp::Neg, _));
        arithmetic && self.facts.is_data(e) && self.facts.type_of(e).is_signed_integer()
    }

    /// An expression whose type follows from its context: literals need no suffix.
    pub(super) fn plain(&mut self, e: &Expr) -> Text {
        match e {
            Expr::Lit(Literal::Int(v, _)) if i32::try_from(*v).is_ok() => self.literal(&Literal::Int(*v, Scalar::I32)),
            Expr::Cast(Scalar::I64, a) if self.facts.type_of(a) == Scalar::I32 && !self.facts.is_data(a) => {
                self.plain(a)
            }
            _ => self.expr(e),
        }
    }

    pub(super) fn expr(&mut self, e: &Expr) -> Text {
        if let Some(text) = self.value_from_outside(e) {
            return text;
        }
        if self.wraps(e) {
            let t = self.facts.type_of(e);
            let u = match (e, t) {
                // Sums and products of two 16-bit values fit an int.
                (Expr::Binary(op, a, b), Scalar::I16) if *op != BinOp::Shl => {
                    let (a, b) = (self.expr(a), self.expr(b));
                    join(*op, a, b)
                }
                (Expr::Binary(_, a, b), Scalar::I16) => {
                    let (a, b) = (self.unsigned_leaf(a, t), self.plain(b));
                    join(BinOp::Shl, a, b)
                }
                (Expr::Unary(_, a), Scalar::I16) => self.expr(a).negated(),
                _ => self.unsigned(e),
            };
            return Text::new(format!("({}){}", self.dialect.type_name(t), u.at(Prec::Unary)), Prec::Unary);
        }
        if let (Expr::Local(_) | Expr::Elem(..), Some(read)) = (e, &mut self.read) {
            let at = read.iter().position(|known| known == e).unwrap_or_else(|| {
                read.push(*e);
                read.len() - 1
            });
            return Text::new(super::steps::argument(at), Prec::Primary);
        }
        match e {
            Expr::Lit(l) => self.literal(l),
            Expr::Local(id) => Text::new(self.scalar(*id), Prec::Primary),
            Expr::Elem(id, index) => {
                let (name, index) = self.element(*id, index);
                Text::new(format!("{name}[{}]", self.plain(&index).text), Prec::Primary)
            }
            Expr::Param(id) => Text::new(self.params[id.0 as usize].as_str(), Prec::Primary),
            Expr::Const(id) => Text::new(self.constant(*id), Prec::Primary),
            Expr::Builtin(b) => {
                let text = self.dialect.builtin(*b, self.kernel.launch.block);
                Text::new(text, if text.starts_with('(') { Prec::Unary } else { Prec::Primary })
            }
            Expr::Unary(UnOp::Not, a) => Text::new(format!("!{}", self.expr(a).at(Prec::Unary)), Prec::Unary),
            Expr::Unary(UnOp::Neg, a) => self.expr(a).negated(),
            Expr::Unary(op @ (UnOp::CountOnes | UnOp::LeadingZeros), a) => self.count_bits(*op, a),
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Select(c, a, b) => {
                let c = self.expr(c).at(Prec::LogicalOr);
                let (a, b) = (self.expr(a).at(Prec::LogicalOr), self.expr(b).at(Prec::LogicalOr));
                Text::new(format!("{c} ? {a} : {b}"), Prec::Select)
            }
            Expr::Cast(to, a) => self.cast(*to, a),
            Expr::MirrorNear(i, n) => self.call(Helper::MirrorNear, &[i, n]),
            Expr::Mirror(i, n) => self.call(Helper::Mirror, &[i, n]),
            Expr::Wrap(i, n) => self.call(Helper::Wrap, &[i, n]),
            Expr::Dot { pair, weights: [low, high], sum } => {
                self.helpers.insert(Helper::Dot);
                let (pair, sum) = (self.plain(pair).text, self.plain(sum).text);
                Text::new(format!("{}({pair}, {low}, {high}, {sum})", Helper::Dot.name()), Prec::Primary)
            }
        }
    }

    /// A bit count. Languages return it as an `int` or in the operand's type.
    fn count_bits(&mut self, op: UnOp, a: &Expr) -> Text {
        let t = self.facts.type_of(a);
        let Some(function) = self.dialect.count_bits(op, t) else {
            return self.call(if op == UnOp::CountOnes { Helper::CountOnes(t) } else { Helper::LeadingZeros(t) }, &[a]);
        };
        let call = format!("{function}({})", self.operand(a, t).text);
        match t {
            Scalar::I32 => Text::new(call, Prec::Primary),
            t => Text::new(format!("({}){call}", self.dialect.type_name(t)), Prec::Unary),
        }
    }

    fn call(&mut self, helper: Helper, args: &[&Expr]) -> Text {
        self.helpers.insert(helper);
        let args: Vec<String> = args.iter().map(|a| self.plain(a).text).collect();
        Text::new(format!("{}({})", helper.name(), args.join(", ")), Prec::Primary)
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Text {
        use BinOp::*;
        let t = self.facts.type_of(a);
        if let Some(function) = self.dialect.float_op(op, t) {
            let (a, b) = (self.expr(a).text, self.expr(b).text);
            return Text::new(format!("{function}({a}, {b})"), Prec::Primary);
        }
        if matches!(op, Min | Max) {
            if let Some(function) = self.dialect.min_max(op, t) {
                let (a, b) = (self.operand(a, t).text, self.operand(b, t).text);
                return Text::new(format!("{function}({a}, {b})"), Prec::Primary);
            }
            return self.call(if op == Min { Helper::Min(t) } else { Helper::Max(t) }, &[a, b]);
        }
        if let Pack { low, high } = op {
            return self.call(Helper::Pack(low, high), &[a, b]);
        }
        if matches!(op, Shl | Shr) {
            let (a, b) = (self.expr(a), self.plain(b));
            return join(op, a, b);
        }
        // One visibly 64-bit operand widens the other.
        let (a, b) = match (self.is_visibly_wide(a), self.is_visibly_wide(b)) {
            (true, _) => (self.expr(a), self.narrowed(b)),
            (_, true) => (self.narrowed(a), self.expr(b)),
            _ => (self.expr(a), self.expr(b)),
        };
        if t == Scalar::Bool { join_logical(op, a, b) } else { join(op, a, b) }
    }

    /// An argument of an overloaded function, which must have the exact type.
    fn operand(&mut self, e: &Expr, t: Scalar) -> Text {
        match e {
            Expr::Lit(_) | Expr::Cast(..) if t != Scalar::I32 => {
                let text = self.plain(e).at(Prec::Unary);
                Text::new(format!("({}){text}", self.dialect.type_name(t)), Prec::Unary)
            }
            e => self.expr(e),
        }
    }

    /// Whether the text has a 64-bit type without a cast or suffix at its head.
    fn is_visibly_wide(&self, e: &Expr) -> bool {
        let wide = self.facts.type_of(e).is_integer() && self.facts.type_of(e).bytes() == 8;
        wide && match e {
            Expr::Lit(_) | Expr::Cast(..) => false,
            Expr::Binary(BinOp::Shl | BinOp::Shr, a, _) => self.is_visibly_wide(a),
            Expr::Binary(_, a, b) => self.wraps(e) || self.is_visibly_wide(a) || self.is_visibly_wide(b),
            _ => true,
        }
    }

    /// An operand next to a 64-bit one: without the suffix or cast that would widen it.
    fn narrowed(&mut self, e: &Expr) -> Text {
        match e {
            Expr::Cast(Scalar::I64, a) if self.facts.type_of(a).is_signed_integer() => self.expr(a),
            Expr::Lit(Literal::Int(..)) => self.plain(e),
            _ => self.expr(e),
        }
    }

    fn cast(&mut self, to: Scalar, a: &Expr) -> Text {
        let from = self.facts.type_of(a);
        if from == to || (from == Scalar::I16 && to == Scalar::I32) {
            return self.expr(a);
        }
        if matches!(from, Scalar::F16 | Scalar::Bf16) {
            return self.call(Helper::Widen(from), &[a]);
        }
        if matches!(to, Scalar::F16 | Scalar::Bf16) {
            return self.call(Helper::Narrow(to), &[a]);
        }
        if to == Scalar::Bool {
            return Text::new(format!("{} != 0", self.expr(a).at(Prec::Relation)), Prec::Equality);
        }
        // Bits of a wrapped value are narrowed or reinterpreted directly, not by way of the signed type.
        let inner = if self.wraps(a) && from != Scalar::I16 && to.is_integer() && to.bytes() <= from.bytes() {
            self.unsigned(a)
        } else {
            self.expr(a)
        };
        Text::new(format!("({}){}", self.dialect.type_name(to), inner.at(Prec::Unary)), Prec::Unary)
    }

    /// An `i32` or `i64` expression as an unsigned value with the same bits.
    fn unsigned(&mut self, e: &Expr) -> Text {
        let t = self.facts.type_of(e);
        if let (true, Scalar::I16) = (self.wraps(e), t) {
            // Sign-extended, as conversion to a wider unsigned type does.
            let text = self.expr(e).at(Prec::Unary);
            return Text::new(format!("({}){text}", self.unsigned_of(t)), Prec::Unary);
        }
        match e {
            Expr::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) if self.wraps(e) => {
                let (a, b) = if self.is_unsigned_anyway(b) {
                    (self.beside_unsigned(a), self.unsigned(b))
                } else {
                    (self.unsigned(a), self.beside_unsigned(b))
                };
                join(*op, a, b)
            }
            Expr::Binary(BinOp::Shl, a, b) if self.wraps(e) => {
                let (a, b) = (self.unsigned(a), self.plain(b));
                join(BinOp::Shl, a, b)
            }
            Expr::Unary(UnOp::Neg, a) if self.wraps(e) => self.unsigned(a).negated(),
            Expr::Cast(Scalar::I32, a) if self.facts.type_of(a) == Scalar::I16 => self.unsigned_leaf(a, t),
            Expr::Lit(Literal::Int(v, s)) if *v >= 0 => {
                let unsigned = if *s == Scalar::I64 { Scalar::U64 } else { Scalar::U32 };
                self.literal(&Literal::Int(*v, unsigned))
            }
            _ => self.unsigned_leaf(e, t),
        }
    }

    /// The unsigned type in which arithmetic on a signed one wraps.
    fn unsigned_of(&self, s: Scalar) -> &'static str {
        self.dialect.type_name(if s == Scalar::I64 { Scalar::U64 } else { Scalar::U32 })
    }

    fn unsigned_leaf(&mut self, e: &Expr, t: Scalar) -> Text {
        let text = self.expr(e).at(Prec::Unary);
        Text::new(format!("({}){text}", self.unsigned_of(t)), Prec::Unary)
    }

    /// Whether `unsigned(e)` is unsigned without a cast on `e` as a whole.
    fn is_unsigned_anyway(&self, e: &Expr) -> bool {
        self.wraps(e) && self.facts.type_of(e) != Scalar::I16
    }

    /// The other operand of an unsigned one. Where the target allows it and the operand itself need not wrap, the
    /// language converts it.
    fn beside_unsigned(&mut self, e: &Expr) -> Text {
        if self.dialect.converts_each() || self.is_unsigned_anyway(e) { self.unsigned(e) } else { self.narrowed(e) }
    }

    fn literal(&mut self, l: &Literal) -> Text {
        let d = self.dialect;
        match *l {
            // The type's one value without a literal.
            Literal::Int(v, Scalar::I32) if v == i64::from(i32::MIN) => Text::new("(-2147483647 - 1)", Prec::Primary),
            Literal::Int(i64::MIN, s @ Scalar::I64) => {
                Text::new(format!("(-9223372036854775807{} - 1)", d.suffix(s)), Prec::Primary)
            }
            Literal::Int(_, s) => text::literal(*l, d.suffix(s), String::new, ()),
            Literal::F32(x) => text::literal(*l, "f", || d.special_float(x.into(), Scalar::F32), ()),
            Literal::F64(x) => text::literal(*l, "", || d.special_float(x, Scalar::F64), ()),
            Literal::Bool(_) => text::literal(*l, "", String::new, ()),
        }
    }
}

/// Joins two operands. Operands of shifts and bitwise operators get parentheses where compilers warn about another
/// operator.
fn join(op: BinOp, a: Text, b: Text) -> Text {
    let (symbol, prec) = Grammar::C.operator(op, false).expect("calls are written elsewhere");
    let chained = a.prec == prec;
    let (left, right) = match prec {
        Prec::Sum => (Prec::Sum, Prec::Product),
        Prec::Product => (Prec::Product, Prec::Unary),
        Prec::Relation | Prec::Equality => (Prec::Shift, Prec::Shift),
        _ if chained => (prec, Prec::Unary),
        _ => (Prec::Unary, Prec::Unary),
    };
    Text::new(format!("{} {symbol} {}", a.at(left), b.at(right)), prec)
}

/// Joins two conditions.
fn join_logical(op: BinOp, a: Text, b: Text) -> Text {
    let (symbol, prec) = match Grammar::C.operator(op, true) {
        Some((symbol, prec @ (Prec::LogicalAnd | Prec::LogicalOr))) => (symbol, prec),
        // On bool, exclusive or is inequality.
        _ => return join(if op == BinOp::Xor { BinOp::Ne } else { op }, a, b),
    };
    let left = if a.prec == prec { prec } else { Prec::COr };
    Text::new(format!("{} {symbol} {}", a.at(left), b.at(Prec::COr)), prec)
}
