//! Lexer: text → tokens. A subset of Rust's lexis, so that `lifting!` and `.lift` files read alike.

use crate::core::diag::Diagnostic;
use crate::core::names;
use crate::core::span::Span;
use crate::language::sink::Sink;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, one_of, satisfy};
use nom::combinator::{not, opt, peek, recognize};
use nom::{IResult, Parser};

/// Kind of a token; its text is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident,
    Number,
    Doc,
    /// An ordinary comment; only [`lex_all`] has these.
    Comment,
    LBrace,
    RBrace,
    LParen,
    RParen,
    LBracket,
    RBracket,
    Semi,
    Comma,
    Plus,
    Minus,
    Star,
    Slash,
    Eq,
    PlusEq,
    MinusEq,
    StarEq,
    SlashEq,
    Shr,
    /// A part that was reported; the parser abandons the statement silently.
    Stray,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Longest accepted text, in bytes.
pub(crate) const MAX_SOURCE: usize = 1 << 20;

/// Longest first, where one is the prefix of another.
const SYMBOLS: [(&str, Kind); 18] = [
    (">>", Kind::Shr),
    ("+=", Kind::PlusEq),
    ("-=", Kind::MinusEq),
    ("*=", Kind::StarEq),
    ("/=", Kind::SlashEq),
    ("{", Kind::LBrace),
    ("}", Kind::RBrace),
    ("(", Kind::LParen),
    (")", Kind::RParen),
    ("[", Kind::LBracket),
    ("]", Kind::RBracket),
    (";", Kind::Semi),
    (",", Kind::Comma),
    ("+", Kind::Plus),
    ("-", Kind::Minus),
    ("*", Kind::Star),
    ("/", Kind::Slash),
    ("=", Kind::Eq),
];

/// Characters pasted from papers, and their ASCII meaning.
const LOOKALIKES: [(char, &str, Kind); 6] = [
    ('−', "-", Kind::Minus),
    ('–', "-", Kind::Minus),
    ('×', "*", Kind::Star),
    ('·', "*", Kind::Star),
    ('÷', "/", Kind::Slash),
    ('≫', ">>", Kind::Shr),
];

/// Help for `<<` and what looks like it.
const NO_LEFT_SHIFT: &str = "multiply by a power of two instead of shifting left";

/// The tokens of `source`, ending with `End`; comments are left out.
pub(crate) fn lex(source: &str, sink: &mut Sink) -> Vec<Token> {
    let mut tokens = lex_all(source, sink);
    tokens.retain(|token| token.kind != Kind::Comment);
    tokens
}

/// The tokens of `source`, ending with `End`, with its comments.
pub(crate) fn lex_all(source: &str, sink: &mut Sink) -> Vec<Token> {
    let mut tokens = Vec::new();
    if source.len() > MAX_SOURCE {
        let message = format!("the text has {} bytes; at most {MAX_SOURCE} are read", source.len());
        sink.push(Diagnostic::error("L0004", message, Span::at(0), "starts here").help("split the file"));
        tokens.push(Token { kind: Kind::End, span: Span::at(0) });
        return tokens;
    }
    let mut rest = source.strip_prefix('\u{feff}').unwrap_or(source);
    loop {
        rest = rest.trim_start();
        let start = source.len() - rest.len();
        let Some(first) = rest.chars().next() else { break };
        let span_to = |rest: &str| Span::new(start, source.len() - rest.len());
        let mut push = |kind, rest: &str| tokens.push(Token { kind, span: span_to(rest) });
        if let Ok((after, line)) = comment(rest) {
            push(if is_doc(line) { Kind::Doc } else { Kind::Comment }, after);
            rest = after;
        } else if let Ok((after, _)) = block_comment(rest) {
            let message = "block comments are not part of the language";
            sink.push(
                Diagnostic::error("L0002", message, span_to(after), "this comment").help("start each line with `//`"),
            );
            rest = after;
        } else if let Ok((after, _)) = identifier(rest) {
            push(Kind::Ident, after);
            rest = after;
        } else if let Ok((after, text)) = number(rest) {
            push(Kind::Number, after);
            rest = number_tail(after, text, span_to(after), sink);
            if identifier(rest).is_ok() {
                // Continue as if it were a `*`.
                tokens.push(Token { kind: Kind::Star, span: Span::at(source.len() - rest.len()) });
            }
        } else if let Ok((after, digits)) = dot_number(rest) {
            let help = format!("write `0{digits}`");
            sink.push(
                Diagnostic::error("L0003", "a number cannot begin with a point", span_to(after), "here").help(help),
            );
            push(Kind::Number, after);
            rest = after;
        } else if let Some((text, kind)) = SYMBOLS.iter().find(|(text, _)| rest.starts_with(text)) {
            rest = &rest[text.len()..];
            push(*kind, rest);
        } else if let Some((_, ascii, kind)) = LOOKALIKES.iter().find(|(c, ..)| *c == first) {
            rest = &rest[first.len_utf8()..];
            let message = format!("`{first}` is not an operator");
            sink.push(Diagnostic::error("L0001", message, span_to(rest), "here").help(format!("write `{ascii}`")));
            let assignment = match kind {
                Kind::Minus => Some(Kind::MinusEq),
                Kind::Star => Some(Kind::StarEq),
                Kind::Slash => Some(Kind::SlashEq),
                _ => None,
            };
            match (rest.strip_prefix('='), assignment) {
                (Some(after), Some(assignment)) => {
                    rest = after;
                    push(assignment, rest);
                }
                _ => push(*kind, rest),
            }
        } else {
            rest = stray(rest);
            push(Kind::Stray, rest);
            let span = span_to(rest);
            let what = if span.end - span.start == first.len_utf8() { "character" } else { "characters" };
            let visible = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
            let shown: String = span.text(source).chars().take(20).map(visible).collect();
            let message = format!("unexpected {what} `{shown}`");
            let diagnostic = Diagnostic::error("L0001", message, span, "not part of the language");
            sink.push(match first {
                '«' | '≪' => diagnostic.help(NO_LEFT_SHIFT),
                '<' | '‹' if ["<<", "‹‹"].iter().any(|shift| shown.starts_with(shift)) => {
                    diagnostic.help(NO_LEFT_SHIFT)
                }
                '›' if shown.starts_with("››") => diagnostic.help("write `>>`"),
                '<' | '‹' | '›' | '⟨' | '⟩' => {
                    diagnostic.help("write round brackets, or square ones around an index")
                }
                '»' => diagnostic.help("write `>>`"),
                '^' => diagnostic.help("write powers out as products"),
                '\'' | '"' => diagnostic.help("write words without quotes"),
                '#' => diagnostic.help("comments start with `//`"),
                _ => diagnostic,
            });
        }
    }
    tokens.push(Token { kind: Kind::End, span: Span::at(source.len()) });
    tokens
}

/// The text of a doc comment: without `///` and one leading blank.
pub(crate) fn doc_text(comment: &str) -> String {
    let text = comment.strip_prefix("///").unwrap_or(comment);
    text.strip_prefix(' ').unwrap_or(text).trim_end_matches('\r').to_string()
}

/// `///` starts a doc comment, `////…` does not, as in Rust.
fn is_doc(comment: &str) -> bool {
    comment.starts_with("///") && !comment.starts_with("////")
}

/// `// …` to the end of the line.
fn comment(i: &str) -> IResult<&str, &str> {
    recognize((tag("//"), take_while(|c| c != '\n'))).parse(i)
}

/// `/* … */`, or to the end of the text.
fn block_comment(i: &str) -> IResult<&str, &str> {
    let (after, _) = tag("/*").parse(i)?;
    let end = after.find("*/").map_or(i.len(), |at| at + 4);
    Ok((&i[end..], &i[..end]))
}

/// A Rust identifier or keyword; `_` alone is neither.
fn identifier(i: &str) -> IResult<&str, &str> {
    match names::identifier(i) {
        Some(length) => Ok((&i[length..], &i[..length])),
        None => Err(nom::Err::Error(nom::error::make_error(i, nom::error::ErrorKind::Alpha))),
    }
}

/// A Rust number literal, its suffix excluded.
fn number(i: &str) -> IResult<&str, &str> {
    let digits = |i| recognize((digit1, take_while(|c: char| c.is_ascii_digit() || c == '_'))).parse(i);
    let radix = recognize((char('0'), one_of("xob"), take_while1(|c: char| c.is_ascii_hexdigit() || c == '_')));
    // `1.` is a number, `1.x` and `1..2` are not, as in Rust.
    let trailing_point =
        recognize((char('.'), not(satisfy(|c| c == '.' || c == '_' || unicode_ident::is_xid_start(c)))));
    let fraction = alt((recognize((char('.'), digits)), trailing_point));
    let underscores = |i| take_while(|c| c == '_').parse(i);
    let exponent = recognize((
        one_of("eE"),
        opt(one_of("+-")),
        underscores,
        peek(digit1),
        take_while1(|c: char| c.is_ascii_digit() || c == '_'),
    ));
    alt((radix, recognize((digits, opt(fraction), opt(exponent))))).parse(i)
}

/// `.5`, which Rust does not have.
fn dot_number(i: &str) -> IResult<&str, &str> {
    recognize((char('.'), digit1)).parse(i)
}

/// Reports a number's tail: a type suffix, or a name after a missing `*`. Returns the rest to lex.
fn number_tail<'a>(after: &'a str, text: &str, number: Span, sink: &mut Sink) -> &'a str {
    let radix = text.get(..2).filter(|p| ["0x", "0o", "0b"].contains(p));
    let digit_ok = |c: char| match radix {
        Some("0b") => c == '_' || c.is_digit(2),
        Some("0o") => c == '_' || c.is_digit(8),
        _ => true,
    };
    if radix.is_some() && !text[2..].chars().all(digit_ok) || radix.is_some() && text[2..].chars().all(|c| c == '_') {
        let message = format!("`{text}` is not a number");
        sink.push(Diagnostic::error("L0003", message, number, "digits of another base"));
    }
    let Ok((rest, suffix)) = identifier(after) else { return after };
    let span = Span::new(number.end, number.end + suffix.len());
    const SUFFIXES: [&str; 14] =
        ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32", "f64"];
    if SUFFIXES.contains(&suffix) {
        let message = format!("`{text}{suffix}`: numbers have no type here");
        sink.push(Diagnostic::error("L0003", message, span, "this suffix").help(format!("write `{text}`")));
        rest
    } else if suffix == "e" || suffix == "E" {
        let message = format!("`{text}{suffix}` is not a number");
        sink.push(Diagnostic::error("L0003", message, number.to(span), "the exponent has no digits"));
        rest
    } else {
        // Rust would lex both as one token, so even a `.lift` file must not take this for a product.
        let message = format!("missing operator between `{text}` and `{suffix}`");
        sink.push(
            Diagnostic::error("L0003", message, number.to(span), "here").help(format!("write `{text}*{suffix}`")),
        );
        after
    }
}

/// Skips a run of characters that begin no token; a quoted string is one run.
fn stray(i: &str) -> &str {
    let first = i.chars().next().unwrap_or(' ');
    if (first == '"' || first == '\'')
        && let Some(at) = i[1..].find([first, '\n'])
        && i[1 + at..].starts_with(first)
    {
        return &i[at + 2..];
    }
    let end = i.char_indices().skip(1).find(|(_, c)| {
        c.is_whitespace()
            || c.is_ascii_digit()
            || unicode_ident::is_xid_start(*c)
            || "{}()[];,+-*/=\"'".contains(*c)
            || LOOKALIKES.iter().any(|(l, ..)| l == c)
    });
    &i[end.map_or(i.len(), |(at, _)| at)..]
}
