//! Parser of expressions.

use super::{MAX_DEPTH, Parsed, Parser};
use crate::core::diag::Diagnostic;
use crate::core::scheme::MAX_OFFSET;
use crate::core::span::Span;
use crate::language::ast::*;
use crate::language::lex::{Kind, Token};
use crate::language::suggest::did_you_mean;

impl Parser<'_> {
    /// Runs `inside` one level deeper, if the limit allows it.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            let message = format!("the expression is nested more than {MAX_DEPTH} deep");
            let span = self.peek().span;
            return self
                .fail(Diagnostic::error("L0105", message, span, "too deep").help("name parts of it with `const`"));
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        let value = self.sum()?;
        if !self.eat(Kind::Shr) {
            return Ok(value);
        }
        let amount = self.sum()?;
        if self.is(Kind::Shr) {
            let span = self.peek().span;
            return self.fail(
                Diagnostic::error("L0309", "a step has one shift", span, "a second shift").help("add the amounts"),
            );
        }
        let span = value.span.to(amount.span);
        Ok(Expr { kind: ExprKind::Shift { value: Box::new(value), amount: Box::new(amount) }, span })
    }

    fn sum(&mut self) -> Parsed<Expr> {
        let first = self.product()?;
        let mut rest = Vec::new();
        loop {
            let op = match self.peek().kind {
                Kind::Plus => AddOp::Add,
                Kind::Minus => AddOp::Sub,
                _ => break,
            };
            self.next();
            rest.push((op, self.product()?));
        }
        let Some((_, last)) = rest.last() else { return Ok(first) };
        let span = first.span.to(last.span);
        Ok(Expr { kind: ExprKind::Sum { first: Box::new(first), rest }, span })
    }

    fn product(&mut self) -> Parsed<Expr> {
        let first = self.unary()?;
        let mut rest = Vec::new();
        loop {
            let op = match self.peek().kind {
                Kind::Star => MulOp::Mul,
                Kind::Slash => MulOp::Div,
                _ => break,
            };
            self.next();
            rest.push((op, self.unary()?));
        }
        let Some((_, last)) = rest.last() else { return Ok(first) };
        let span = first.span.to(last.span);
        Ok(Expr { kind: ExprKind::Product { first: Box::new(first), rest }, span })
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        match token.kind {
            Kind::Minus => {
                self.next();
                let operand = self.deeper(Self::unary)?;
                let span = token.span.to(operand.span);
                Ok(Expr { kind: ExprKind::Neg(Box::new(operand)), span })
            }
            Kind::Plus => {
                let help = "leave the `+` out";
                self.fail(Diagnostic::error("L0101", "a unary `+` is not allowed", token.span, "here").help(help))
            }
            Kind::LParen => {
                self.next();
                let inner = self.deeper(Self::expr)?;
                let close = self.close_paren(token)?;
                Ok(Expr { span: token.span.to(close), ..inner })
            }
            Kind::Number => {
                self.next();
                Ok(Expr { kind: ExprKind::Number(self.text(token).to_string()), span: token.span })
            }
            Kind::Ident if self.word() == "even" || self.word() == "odd" => self.read(),
            Kind::Ident if self.peek_second().kind == Kind::LBracket => {
                let text = self.text(token);
                let message = format!("`{text}` has no samples");
                let better = match text {
                    "e" => Some("even"),
                    "o" => Some("odd"),
                    _ => did_you_mean(text, ["even", "odd"]),
                };
                let help = match better {
                    Some(better) => format!("did you mean `{better}`?"),
                    None => "samples are `even[…]` and `odd[…]`".to_string(),
                };
                self.fail(Diagnostic::error("L0101", message, token.span, "not a phase").help(help))
            }
            Kind::Ident => {
                self.next();
                let text = self.text(token).to_string();
                if !self.is(Kind::LParen) {
                    return Ok(Expr { kind: ExprKind::Name(text), span: token.span });
                }
                let name = Word { text, span: token.span };
                let (args, close) = self.deeper(Self::arguments)?;
                Ok(Expr { kind: ExprKind::Call { name, args }, span: token.span.to(close) })
            }
            _ => self.fail(self.expected("an expression")),
        }
    }

    fn close_paren(&mut self, open: Token) -> Parsed<Span> {
        if self.is(Kind::RParen) {
            return Ok(self.next().span);
        }
        let diagnostic = self.expected("an operator or `)`").note(open.span, "opened here");
        let operand = matches!(self.peek().kind, Kind::Ident | Kind::Number | Kind::LParen);
        self.fail(if operand { diagnostic.help("products are written with `*`") } else { diagnostic })
    }

    /// `(a, b, …)`, and the span of its last parenthesis.
    pub(super) fn arguments(&mut self) -> Parsed<(Vec<Expr>, Span)> {
        let open = self.next();
        let mut args = Vec::new();
        while !self.is(Kind::RParen) {
            args.push(self.expr()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        Ok((args, self.close_paren(open)?))
    }

    /// `even[-1]`
    fn read(&mut self) -> Parsed<Expr> {
        let first = self.next();
        let phase = self.phase(first);
        if !self.is(Kind::LBracket) {
            let name = phase.name();
            let diagnostic = self.expected("`[`");
            return self.fail(diagnostic.help(format!("`{name}[0]` is the sample at the same index")));
        }
        self.next();
        let from = self.peek().span;
        let (index, number) = self.index();
        if index.is_none() || self.peek_second().kind != Kind::RBracket {
            while !matches!(self.peek().kind, Kind::RBracket | Kind::Semi | Kind::LBrace | Kind::RBrace | Kind::End) {
                self.next();
            }
            let span = if self.last().end > from.start { from.to(self.last()) } else { from };
            let message = "an index is a whole number, relative to the updated sample";
            let help = format!("as in `{}[-1]`", phase.name());
            return self.fail(Diagnostic::error("L0110", message, span, "not a whole number").help(help));
        }
        self.next();
        let close = self.next().span;
        let span = first.span.to(close);
        let Some(Some(offset)) = index else {
            self.sink.push(too_far(from.to(number.span)));
            return Ok(Expr { kind: ExprKind::Error, span });
        };
        Ok(Expr { kind: ExprKind::Read { phase, offset }, span })
    }

    /// The value of a signed whole number, and its last token, not yet consumed: `None` if it is not a whole number,
    /// `Some(None)` if it exceeds [`MAX_OFFSET`].
    pub(super) fn index(&mut self) -> (Option<Option<i32>>, Token) {
        let sign = if self.eat(Kind::Minus) {
            -1
        } else {
            self.eat(Kind::Plus);
            1
        };
        let number = self.peek();
        let text = self.text(number);
        let whole = number.kind == Kind::Number && crate::language::constant::is_whole(text);
        (
            whole.then(|| crate::language::constant::whole_within(text, MAX_OFFSET as u32).map(|n| sign * n as i32)),
            number,
        )
    }
}

pub(super) fn too_far(span: Span) -> Diagnostic {
    Diagnostic::error("L0601", format!("index beyond ±{MAX_OFFSET}"), span, "too far away")
        .help("no step reaches so far")
}
