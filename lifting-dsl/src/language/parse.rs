//! Parser: tokens → [`ast`](crate::language::ast). Recursive descent that continues after an error, so that all errors
//! of a file are reported at once.
//!
//! ```text
//! file     = wavelet*
//! wavelet  = doc* "wavelet" NAME "{" item* "}"
//! item     = "domain" WORD ";" | "boundary" WORD ";" | "const" NAME "=" expr ";"
//!          | "profile" WORD "{" ("boundary" WORD ";" | "gain" "shift" expr ";")* "}"
//!          | ("even" | "odd") ("+=" | "-=" | "*=") expr ";" | "swap" ";"
//!          | "lattice" ["paper"] "{" (("rotate" | "reflect" | "matrix") arguments ";")* "}"
//!          | "bank" "{" (("lowpass" | "highpass") "at" index "[" expr ("," expr)* [","] "]" ";")* "}"
//!          | "factor" WORD ";"
//! expr     = sum [">>" sum]
//! sum      = product (("+" | "-") product)*
//! product  = unary (("*" | "/") unary)*
//! unary    = "-" unary | NUMBER | NAME | NAME arguments | "(" expr ")" | ("even" | "odd") "[" index "]"
//! arguments = "(" [expr ("," expr)* [","]] ")"
//! index    = ["+" | "-"] NUMBER
//! WORD     = NAME ("-" NAME)*
//! ```

mod body;
mod expr;

use crate::core::diag::Diagnostic;
use crate::core::names::name_fault;
use crate::core::scheme::Phase;
use crate::core::span::Span;
use crate::language::ast::*;
use crate::language::lex::{self, Kind, Token};
use crate::language::sink::Sink;
use crate::language::suggest::did_you_mean;

/// Deepest nesting of parentheses, signs and functions.
pub const MAX_DEPTH: usize = 64;

/// Words that start a statement of a wavelet.
pub(crate) const STATEMENTS: [&str; 10] =
    ["domain", "boundary", "profile", "const", "even", "odd", "swap", "lattice", "bank", "factor"];

/// Parses a text. The tree holds every readable part; every other part has an error.
///
/// Diagnostics are ordered by position. Only the grammar is checked here; [`crate::compile`] checks the meaning.
pub fn parse(source: &str) -> (File, Vec<Diagnostic>) {
    let mut sink = Sink::default();
    let file = parse_into(source, &mut sink);
    (file, sink.into_sorted())
}

pub(crate) fn parse_into(source: &str, sink: &mut Sink) -> File {
    let tokens = lex::lex(source, sink);
    let mut parser = Parser { source, tokens, at: 0, depth: 0, sink };
    parser.file()
}

/// Expressions separated by commas, up to the end of the text or the first unreadable one.
pub(crate) fn parse_numbers(source: &str, sink: &mut Sink) -> Vec<Expr> {
    let tokens = lex::lex(source, sink);
    let mut parser = Parser { source, tokens, at: 0, depth: 0, sink };
    let mut list = Vec::new();
    while !parser.is(Kind::End) {
        let Ok(number) = parser.expr() else { break };
        list.push(number);
        if !parser.eat(Kind::Comma) && !parser.is(Kind::End) {
            let _: Parsed<()> = parser.fail(parser.expected("`,` or another number"));
            break;
        }
    }
    list
}

/// An error that was reported; the caller must resynchronise.
struct Failed;
type Parsed<T> = Result<T, Failed>;

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    sink: &'a mut Sink,
}

impl<'a> Parser<'a> {
    // Tokens.

    fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    fn peek_second(&self) -> Token {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    fn text(&self, token: Token) -> &'a str {
        token.span.text(self.source)
    }

    /// The next token's text if it is an identifier, else the empty text.
    fn word(&self) -> &'a str {
        if self.peek().kind == Kind::Ident { self.text(self.peek()) } else { "" }
    }

    fn is(&self, kind: Kind) -> bool {
        self.peek().kind == kind
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        // `End` is never passed.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.is(kind);
        if found {
            self.next();
        }
        found
    }

    /// The span of the token before the next one.
    fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn found(&self) -> String {
        match self.peek().kind {
            Kind::End => "the end of the file".into(),
            Kind::Doc => "a doc comment".into(),
            _ => format!("`{}`", self.text(self.peek())),
        }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let message = format!("expected {what}, found {}", self.found());
        Diagnostic::error("L0101", message, self.peek().span, format!("expected {what}"))
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        if !self.is(Kind::Stray) {
            self.sink.push(diagnostic);
        }
        Err(Failed)
    }

    fn expect(&mut self, kind: Kind, what: &str) -> Parsed<Token> {
        if self.is(kind) { Ok(self.next()) } else { self.fail(self.expected(what)) }
    }

    /// Consumes doc comments that precede nothing to document.
    fn stray_docs(&mut self) {
        while self.is(Kind::Doc) {
            let span = self.next().span;
            let message = "this doc comment documents nothing";
            let help = "`///` goes before `wavelet`; other comments start with `//`";
            self.sink.push(Diagnostic::warning("L0902", message, span, "ignored").help(help));
        }
    }

    // Resynchronisation.

    /// Skips to the end of a broken statement: past its `;` or block, or before a `}` or the next statement.
    fn skip_statement(&mut self) {
        loop {
            match self.peek().kind {
                Kind::Semi => {
                    self.next();
                    return;
                }
                Kind::LBrace => return self.skip_block(),
                Kind::RBrace | Kind::Doc | Kind::End => return,
                Kind::Ident if self.at_statement() => return,
                _ => self.next(),
            };
        }
    }

    /// Skips from a `{` past its `}`, or to the end of the text.
    fn skip_block(&mut self) {
        let mut open = 0usize;
        loop {
            match self.next().kind {
                Kind::LBrace => open += 1,
                Kind::RBrace => open -= 1,
                Kind::End => return,
                _ => {}
            }
            if open == 0 {
                return;
            }
        }
    }

    /// Skips to the next wavelet, its doc comment included, or to the end of the text.
    fn skip_to_wavelet(&mut self) {
        let from = self.at;
        while !(self.is(Kind::End) || self.word() == "wavelet" && self.peek_second().kind == Kind::Ident) {
            self.next();
        }
        while self.at > from && self.tokens[self.at - 1].kind == Kind::Doc {
            self.at -= 1;
        }
    }

    /// Whether a statement of a wavelet, or the next wavelet, certainly starts here.
    fn at_statement(&self) -> bool {
        match self.word() {
            "even" | "odd" => {
                matches!(
                    self.peek_second().kind,
                    Kind::PlusEq | Kind::MinusEq | Kind::StarEq | Kind::SlashEq | Kind::Eq
                )
            }
            "wavelet" | "domain" | "boundary" | "profile" | "const" | "factor" => {
                self.peek_second().kind == Kind::Ident
            }
            "swap" => self.peek_second().kind == Kind::Semi,
            "lattice" | "bank" => matches!(self.peek_second().kind, Kind::Ident | Kind::LBrace),
            _ => false,
        }
    }

    /// The `;` of a statement. A missing one is reported, and the statement still counts if the next one follows.
    fn semicolon(&mut self) -> Parsed<()> {
        if self.eat(Kind::Semi) {
            return Ok(());
        }
        if self.at_statement() || matches!(self.peek().kind, Kind::RBrace | Kind::Doc | Kind::End) {
            let at = Span::at(self.last().end);
            self.sink.push(Diagnostic::error("L0102", "expected `;`", at, "a statement ends with `;`"));
            return Ok(());
        }
        let diagnostic = self.expected("an operator or `;`");
        let operand = matches!(self.peek().kind, Kind::Ident | Kind::Number | Kind::LParen);
        self.fail(if operand { diagnostic.help("products are written with `*`") } else { diagnostic })
    }

    // Files and wavelets.

    fn file(&mut self) -> File {
        let mut wavelets = Vec::new();
        loop {
            let first_doc = self.at;
            while self.is(Kind::Doc) {
                self.next();
            }
            let docs_end = self.at;
            let misspelt = did_you_mean(self.word(), ["wavelet"]).is_some() && self.peek_second().kind == Kind::Ident;
            if self.word() == "wavelet" || misspelt {
                if self.word() != "wavelet" {
                    let message = format!("expected `wavelet`, found {}", self.found());
                    let help = "did you mean `wavelet`?";
                    self.sink.push(Diagnostic::error("L0107", message, self.peek().span, "not a wavelet").help(help));
                }
                let docs = self.tokens[first_doc..docs_end].iter().map(|t| lex::doc_text(self.text(*t))).collect();
                match self.wavelet(docs) {
                    Ok(wavelet) => wavelets.push(wavelet),
                    Err(Failed) => self.skip_to_wavelet(),
                }
                continue;
            }
            if docs_end > first_doc {
                self.at = first_doc;
                self.stray_docs();
            }
            if self.is(Kind::End) {
                return File { wavelets };
            }
            if self.is(Kind::Stray) {
                self.skip_to_wavelet();
                continue;
            }
            let diagnostic = Diagnostic::error(
                "L0107",
                format!("expected `wavelet`, found {}", self.found()),
                self.peek().span,
                "a file holds wavelets only",
            );
            self.sink.push(match self.word() {
                "pub" => diagnostic.help("visibility is for `lifting!`; leave it out of a `.lift` file"),
                word if STATEMENTS.contains(&word) => diagnostic.help("put this between the braces of a wavelet"),
                _ => diagnostic,
            });
            self.next();
            self.skip_to_wavelet();
        }
    }

    fn wavelet(&mut self, docs: Vec<String>) -> Parsed<Wavelet> {
        let start = self.next().span;
        let name = if self.is(Kind::LBrace) {
            self.sink.push(self.expected("the wavelet's name").help("as in `wavelet dd137 { … }`"));
            Word { text: String::new(), span: self.peek().span }
        } else {
            self.name("the wavelet's name")?
        };
        let open = self.expect(Kind::LBrace, "`{`")?;
        let mut items = Vec::new();
        loop {
            self.stray_docs();
            if self.eat(Kind::RBrace) {
                break;
            }
            if self.is(Kind::End) || self.word() == "wavelet" {
                let what = if name.text.is_empty() { "the wavelet".into() } else { format!("wavelet `{}`", name.text) };
                let diagnostic = self.unclosed(&what, open);
                self.sink.push(diagnostic);
                break;
            }
            let from = self.peek().span;
            match self.item() {
                Ok(item) => items.push(item),
                Err(Failed) => {
                    self.skip_statement();
                    items.push(Item::Error(from.to(self.last())));
                }
            }
        }
        Ok(Wavelet { docs, name, items, span: start.to(self.last()) })
    }

    fn unclosed(&self, what: &str, open: Token) -> Diagnostic {
        let message = format!("{what} is not closed");
        Diagnostic::error("L0103", message, self.peek().span, "expected `}` before this").note(open.span, "opened here")
    }

    /// An identifier that may name a wavelet or a constant.
    fn name(&mut self, what: &str) -> Parsed<Word> {
        let token = self.expect(Kind::Ident, what)?;
        let text = self.text(token);
        if let Some((code, fault)) = name_fault(text) {
            let label = if code == "L0112" { "too long" } else { "not free to be a name" };
            self.sink.push(Diagnostic::error(code, fault, token.span, label).help("choose another name"));
        }
        Ok(Word { text: text.to_string(), span: token.span })
    }

    /// `whole-symmetric`, `jpeg2000`, `real`.
    fn hyphenated(&mut self, what: &str) -> Parsed<Word> {
        let first = self.expect(Kind::Ident, what)?;
        let mut word = Word { text: self.text(first).to_string(), span: first.span };
        while self.is(Kind::Minus) && self.peek_second().kind == Kind::Ident {
            self.next();
            let part = self.next();
            word.text = format!("{}-{}", word.text, self.text(part));
            word.span = word.span.to(part.span);
        }
        Ok(word)
    }

    fn item(&mut self) -> Parsed<Item> {
        let first = self.peek();
        match self.word() {
            "domain" => {
                self.next();
                let word = self.hyphenated("`integer` or `real`")?;
                self.semicolon()?;
                Ok(Item::Domain(word))
            }
            "boundary" => Ok(Item::Boundary(self.boundary()?)),
            "profile" => self.profile(),
            "const" => self.constant(),
            "even" | "odd" => self.step(),
            "swap" => {
                self.next();
                self.semicolon()?;
                Ok(Item::Swap(first.span))
            }
            "lattice" => self.lattice(),
            "bank" => self.bank(),
            "factor" => {
                self.next();
                let word = self.hyphenated("`lifting` or `lattice`")?;
                self.semicolon()?;
                Ok(Item::Factor(word))
            }
            "gain" => self.fail(
                Diagnostic::error("L0108", "a gain shift belongs to a profile", first.span, "outside of a profile")
                    .help("write `profile vc2 { gain shift 1; }`"),
            ),
            "" => {
                let diagnostic = self.expected("a statement");
                if self.is(Kind::Semi) {
                    self.fail(diagnostic.help("remove the extra `;`"))
                } else {
                    let failed = self.fail(diagnostic);
                    // Skipping stops at a token that may start a statement, so skip at least one token.
                    self.next();
                    failed
                }
            }
            word => {
                self.next();
                let message = format!("`{word}` does not start a statement");
                let diagnostic = Diagnostic::error("L0108", message, first.span, "unknown statement");
                let help = match did_you_mean(word, STATEMENTS) {
                    Some(better) => format!("did you mean `{better}`?"),
                    None if word == "let" => "constants are declared with `const`".into(),
                    None => format!("a wavelet is made of `{}` statements", STATEMENTS.join("`, `")),
                };
                self.fail(diagnostic.help(help))
            }
        }
    }

    fn boundary(&mut self) -> Parsed<Word> {
        self.next();
        let word = self.hyphenated("a border rule")?;
        self.semicolon()?;
        Ok(word)
    }

    fn profile(&mut self) -> Parsed<Item> {
        let start = self.next().span;
        let name = self.hyphenated("a format")?;
        let open = self.expect(Kind::LBrace, "`{`")?;
        let mut items = Vec::new();
        loop {
            self.stray_docs();
            if self.eat(Kind::RBrace) {
                break;
            }
            let word = self.word();
            if self.is(Kind::End) || self.at_statement() && word != "boundary" {
                let diagnostic = self.unclosed(&format!("profile `{}`", name.text), open);
                self.sink.push(diagnostic);
                break;
            }
            let item = match word {
                "boundary" => self.boundary().map(ProfileItem::Boundary),
                "gain" => self.gain_shift(),
                _ => {
                    let diagnostic = self.expected("`boundary` or `gain shift`");
                    let help = "a profile is made of `boundary` and `gain shift` statements";
                    let failed = self.fail(diagnostic.help(help));
                    if !self.is(Kind::Semi) {
                        self.next();
                    }
                    failed
                }
            };
            match item {
                Ok(item) => items.push(item),
                Err(Failed) => self.skip_statement(),
            }
        }
        Ok(Item::Profile(Profile { name, items, span: start.to(self.last()) }))
    }

    fn gain_shift(&mut self) -> Parsed<ProfileItem> {
        self.next();
        if self.word() != "shift" {
            let diagnostic = self.expected("`shift`");
            return self.fail(diagnostic.help("as in `gain shift 1;`"));
        }
        self.next();
        let amount = self.expr()?;
        self.semicolon()?;
        Ok(ProfileItem::GainShift(amount))
    }

    /// Keeps a constant whose value is broken, so that its uses are not reported as well.
    fn constant(&mut self) -> Parsed<Item> {
        self.next();
        let name = self.name("the constant's name")?;
        let from = self.peek().span;
        let value = self.expect(Kind::Eq, "`=`").and_then(|_| self.expr()).and_then(|value| {
            self.semicolon()?;
            Ok(value)
        });
        let value = value.unwrap_or_else(|Failed| {
            self.skip_statement();
            Expr { kind: ExprKind::Error, span: from }
        });
        Ok(Item::Const(Const { name, value }))
    }

    fn step(&mut self) -> Parsed<Item> {
        let first = self.next();
        let target = self.phase(first);
        let operator = self.peek();
        let op = match operator.kind {
            Kind::PlusEq => StepOp::Add,
            Kind::MinusEq => StepOp::Sub,
            Kind::StarEq => StepOp::Scale,
            Kind::SlashEq | Kind::Eq => {
                let message = format!("a step cannot use `{}`", self.text(operator));
                let diagnostic = Diagnostic::error("L0109", message, operator.span, "not a step's operator");
                let help = if operator.kind == Kind::Eq {
                    "a step adds to its target: use `+=` or `-=`".to_string()
                } else {
                    "multiply by the reciprocal: `*= 1/…`".to_string()
                };
                return self.fail(diagnostic.help(help));
            }
            Kind::LBracket => {
                let diagnostic = self.expected("`+=`, `-=` or `*=`");
                let help = format!("a step updates the whole phase: `{} += …`", target.name());
                return self.fail(diagnostic.help(help));
            }
            _ => return self.fail(self.expected("`+=`, `-=` or `*=`")),
        };
        self.next();
        let expr = self.expr()?;
        let span = first.span.to(expr.span);
        self.semicolon()?;
        Ok(Item::Step(Step { target, op, expr, span }))
    }

    fn phase(&self, token: Token) -> Phase {
        if self.text(token) == "even" { Phase::Even } else { Phase::Odd }
    }
}
