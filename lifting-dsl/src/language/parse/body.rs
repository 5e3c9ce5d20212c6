//! Parser of lattices and filter banks.

use super::expr::too_far;
use super::{Failed, Parsed, Parser};
use crate::language::ast::*;
use crate::language::lex::{Kind, Token};

impl Parser<'_> {
    /// `lattice { rotate(a, b); … }`
    pub(super) fn lattice(&mut self) -> Parsed<Item> {
        let start = self.next().span;
        let paper = self.word() == "paper";
        if paper {
            self.next();
        }
        let open = self.expect(Kind::LBrace, if paper { "`{`" } else { "`{` or `paper`" })?;
        let mut stages = Vec::new();
        let broken = self.block("the lattice", open, |parser| {
            stages.push(parser.stage()?);
            Ok(())
        });
        let span = start.to(self.last());
        Ok(if broken { Item::Error(span) } else { Item::Lattice(Lattice { paper, stages, span }) })
    }

    fn stage(&mut self) -> Parsed<Stage> {
        let token = self.expect(Kind::Ident, "a stage")?;
        let kind = Word { text: self.text(token).to_string(), span: token.span };
        if !self.is(Kind::LParen) {
            let help = "as in `rotate(3/5, 4/5);`";
            return self.fail(self.expected("`(`").help(help));
        }
        let (args, close) = self.arguments()?;
        self.semicolon()?;
        Ok(Stage { span: kind.span.to(close), kind, args })
    }

    /// `bank { lowpass at -3 [..]; highpass at -3 [..]; }`
    pub(super) fn bank(&mut self) -> Parsed<Item> {
        let start = self.next().span;
        let open = self.expect(Kind::LBrace, "`{`")?;
        let mut filters = Vec::new();
        let broken = self.block("the bank", open, |parser| {
            filters.push(parser.filter()?);
            Ok(())
        });
        let span = start.to(self.last());
        Ok(if broken { Item::Error(span) } else { Item::Bank(Bank { filters, span }) })
    }

    /// `lowpass at -3 [1, 2, …];`
    fn filter(&mut self) -> Parsed<Filter> {
        let token = self.expect(Kind::Ident, "`lowpass` or `highpass`")?;
        let kind = Word { text: self.text(token).to_string(), span: token.span };
        if self.word() != "at" {
            let help = "`lowpass at a [h, …]` is low[k] = h·x[2k + a] + …";
            return self.fail(self.expected("`at`").help(help));
        }
        self.next();
        let from = self.peek().span;
        let (at, number) = self.index();
        let Some(at) = at else { return self.fail(self.expected("a whole number")) };
        self.next();
        if at.is_none() {
            self.sink.push(too_far(from.to(number.span)));
        }
        let open = self.expect(Kind::LBracket, "`[`")?;
        let mut taps = Vec::new();
        while !self.is(Kind::RBracket) {
            taps.push(self.expr()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if !self.is(Kind::RBracket) {
            return self.fail(self.expected("`,` or `]`").note(open.span, "opened here"));
        }
        let span = kind.span.to(self.next().span);
        self.semicolon()?;
        Ok(Filter { kind, at: at.ok_or(Failed)?, taps, span })
    }

    /// Parses statements up to a `}`. True if one was broken.
    fn block(&mut self, what: &str, open: Token, mut statement: impl FnMut(&mut Self) -> Parsed<()>) -> bool {
        let mut broken = false;
        loop {
            self.stray_docs();
            if self.eat(Kind::RBrace) {
                return broken;
            }
            if self.is(Kind::End) || self.at_statement() {
                let diagnostic = self.unclosed(what, open);
                self.sink.push(diagnostic);
                return true;
            }
            let before = self.at;
            if statement(self).is_err() {
                broken = true;
                // Skip at least one token, even where a statement could start.
                if self.at == before && !self.is(Kind::Semi) {
                    self.next();
                }
                self.skip_statement();
            }
        }
    }
}
