//! Text tools of all writers: precedence, operator symbols, and indented lines.

use crate::ir::{BinOp, Literal};

/// Precedence, weakest first, in C and in Rust. Bitwise operators bind more weakly than comparisons in C, and more
/// strongly in Rust. In Rust all comparisons have one precedence and cannot be chained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Prec {
    Select,
    LogicalOr,
    LogicalAnd,
    COr,
    CXor,
    CAnd,
    Equality,
    Relation,
    RustOr,
    RustXor,
    RustAnd,
    Shift,
    Sum,
    Product,
    RustCast,
    Unary,
    Primary,
}

/// The language whose operators apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    C,
    Rust,
}

impl Grammar {
    /// The symbol and precedence of an operator; `None` for operators without a symbol.
    pub(crate) fn operator(self, op: BinOp, logical: bool) -> Option<(&'static str, Prec)> {
        use BinOp::*;
        let c = self == Grammar::C;
        Some(match op {
            Add => ("+", Prec::Sum),
            Sub => ("-", Prec::Sum),
            Mul => ("*", Prec::Product),
            Div => ("/", Prec::Product),
            Rem => ("%", Prec::Product),
            Shl => ("<<", Prec::Shift),
            Shr => (">>", Prec::Shift),
            Lt => ("<", Prec::Relation),
            Le => ("<=", Prec::Relation),
            Gt => (">", Prec::Relation),
            Ge => (">=", Prec::Relation),
            Eq => ("==", Prec::Equality),
            Ne => ("!=", Prec::Equality),
            And if logical => ("&&", Prec::LogicalAnd),
            Or if logical => ("||", Prec::LogicalOr),
            // On bool, exclusive or is inequality.
            Xor if logical => ("!=", Prec::Equality),
            And => ("&", if c { Prec::CAnd } else { Prec::RustAnd }),
            Or => ("|", if c { Prec::COr } else { Prec::RustOr }),
            Xor => ("^", if c { Prec::CXor } else { Prec::RustXor }),
            Min | Max | Pack { .. } => return None,
        })
    }
}

/// A written expression, with facts that its writer keeps in `of`.
#[derive(Clone, Debug)]
pub(crate) struct Text<T = ()> {
    pub(crate) text: String,
    pub(crate) prec: Prec,
    pub(crate) of: T,
}

impl Text {
    pub(crate) fn new(text: impl Into<String>, prec: Prec) -> Text {
        Text::about(text, prec, ())
    }
}

impl<T: Copy> Text<T> {
    pub(crate) fn about(text: impl Into<String>, prec: Prec, of: T) -> Text<T> {
        Text { text: text.into(), prec, of }
    }

    /// The text, in parentheses if it binds more weakly than `min`.
    pub(crate) fn at(&self, min: Prec) -> String {
        if self.prec < min { format!("({})", self.text) } else { self.text.clone() }
    }

    /// `-a`, and `-(-a)` rather than `--a`.
    pub(crate) fn negated(&self) -> Text<T> {
        let a = if self.text.starts_with('-') { format!("({})", self.text) } else { self.at(Prec::Unary) };
        Text::about(format!("-{a}"), Prec::Unary, self.of)
    }
}

/// A literal's text. Digits are the same in all languages; `suffix` follows them, and `special` gives floats without
/// digits.
pub(crate) fn literal<T: Copy>(l: Literal, suffix: &str, special: impl FnOnce() -> String, of: T) -> Text<T> {
    let text = match l {
        Literal::Bool(b) => b.to_string(),
        Literal::Int(v, _) => format!("{v}{suffix}"),
        Literal::F32(x) if x.is_finite() => format!("{}{suffix}", digits(format!("{x:?}"))),
        Literal::F64(x) if x.is_finite() => format!("{}{suffix}", digits(format!("{x:?}"))),
        Literal::F32(_) | Literal::F64(_) => special(),
    };
    let prec = if text.starts_with('-') { Prec::Unary } else { Prec::Primary };
    Text::about(text, prec, of)
}

/// Shortest digits of a finite float that read back as the same value, with a point or an exponent.
fn digits(shortest: String) -> String {
    if shortest.contains(['.', 'e']) { shortest } else { format!("{shortest}.0") }
}

/// Lines of text, indented.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) out: String,
    pub(crate) indent: usize,
}

impl Lines {
    pub(crate) fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }
}

/// Makes a line of text safe for a comment: no control or text-direction characters, no end of a comment, and no final
/// backslash (or its trigraph), which would join the next line.
pub fn comment_line(text: &str) -> String {
    let visible = |c: char| {
        !(c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    let mut line: String = text.chars().map(|c| if visible(c) { c } else { ' ' }).collect();
    line = line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").trim_end().to_string();
    if line.ends_with('\\') {
        line.push('.');
    }
    line
}

/// `head`, a comma-separated list and `tail`, broken before column 120 and indented.
pub(crate) fn wrap_list(head: &str, items: &[String], tail: &str) -> String {
    let one = format!("{head}{}{tail}", items.join(", "));
    if one.chars().count() <= 120 {
        return one;
    }
    let mut out = head.to_string();
    let mut column = 0;
    for (i, item) in items.iter().enumerate() {
        let text = format!("{item}{}", if i + 1 < items.len() { "," } else { tail });
        if i == 0 || column + 1 + text.chars().count() > 120 {
            out += "\n    ";
            column = 4;
        } else {
            out.push(' ');
            column += 1;
        }
        column += text.chars().count();
        out += &text;
    }
    out
}
