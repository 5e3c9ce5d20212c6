//! Formatter: text → text with the same tokens and comments, in one layout.
//!
//! It changes white space only, so no comment is lost and the tree stays the same. It works on tokens: one pass assigns
//! each its role, one distributes them over lines, one aligns operators and comments. The layout follows the author in
//! four choices: a block on one line stays there if it fits, expressions keep their line breaks, blank lines stay (one
//! of them), and operators of neighbouring lines stay aligned.

use crate::core::diag::Diagnostic;
use crate::core::span::Span;
use crate::language::lex::{self, Kind};
use crate::language::parse::parse_into;
use crate::language::sink::Sink;

/// Columns of the longest line that a block on one line may fill.
pub const WIDTH: usize = 120;

const INDENT: usize = 4;

/// The text in the language's layout: four columns of indentation, a statement per line, blanks around `+`, `-`, `>>`
/// and assignments, none around `*` and `/`. Line ends are those of the first line.
///
/// # Errors
/// All diagnostics of the grammar, if one of them is an error; the meaning is not checked. `L0004` if the result is
/// longer than the longest text.
///
/// ```
/// let text = "wavelet w{domain real; // as in papers
///     odd-=even [ 0 ];}";
/// let formatted = "wavelet w {
///     domain real; // as in papers
///     odd -= even[0];
/// }
/// ";
/// assert_eq!(lifting_dsl::format(text).unwrap(), formatted);
/// assert_eq!(lifting_dsl::format(formatted).unwrap(), formatted);
/// ```
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    parse_into(source, &mut sink);
    if sink.errors() > 0 {
        return Err(sink.into_sorted());
    }
    let pieces = pieces(source);
    let mut writer = Writer { pieces: &pieces, at: 0, lines: Vec::new(), blocks: 0, brackets: Vec::new() };
    writer.file();
    let mut lines = writer.lines;
    align_operators(&mut lines);
    align_comments(&mut lines);
    let end = if source.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r')) { "\r\n" } else { "\n" };
    let mut out = String::with_capacity(source.len());
    out.extend(source.chars().next().filter(|c| *c == '\u{feff}'));
    for line in &lines {
        if line.blank_before {
            out += end;
        }
        out.extend(std::iter::repeat_n(' ', INDENT * line.indent));
        out += &line.code;
        if let Some(comment) = &line.comment {
            let gap = if line.code.is_empty() { 0 } else { comment.gap };
            out.extend(std::iter::repeat_n(' ', gap));
            out += comment.text;
        }
        out += end;
    }
    if out.len() > lex::MAX_SOURCE {
        let message = format!("formatted, the text has {} bytes; at most {} are read", out.len(), lex::MAX_SOURCE);
        return Err(vec![Diagnostic::error("L0004", message, Span::at(0), "starts here").help("split the file")]);
    }
    Ok(out)
}

/// Role of a token in its statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Other,
    /// `-` of `whole-symmetric`.
    Hyphen,
    /// `+` or `-` before an operand.
    Sign,
    /// `+`, `-`, `*`, `/` or `>>` between operands.
    Infix,
    /// The operator of a step, or `=` of a constant.
    Assignment,
    /// A bracket around an index.
    Index,
}

/// A token or comment, and the white space before it.
#[derive(Clone, Copy)]
struct Piece<'a> {
    kind: Kind,
    role: Role,
    text: &'a str,
    /// Line breaks before it.
    breaks: usize,
    /// Whether more than one blank is before it.
    padded: bool,
}

impl Piece<'_> {
    fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::Comment | Kind::Doc)
    }
}

/// The pieces of a text without errors of grammar.
fn pieces(source: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut end = 0;
    for token in lex::lex_all(source, &mut Sink::default()) {
        let gap = source.get(end..token.span.start).unwrap_or("");
        end = token.span.end;
        if token.kind == Kind::End {
            break;
        }
        let text = token.span.text(source);
        let text = match token.kind {
            Kind::Comment => text.trim_end(),
            // Blanks at the end of a line of documentation are part of it.
            Kind::Doc => text.trim_end_matches('\r'),
            _ => text,
        };
        let breaks = gap.matches('\n').count();
        let padded = breaks == 0 && gap.chars().count() > 1;
        pieces.push(Piece { kind: token.kind, role: Role::Other, text, breaks, padded });
    }
    assign_roles(&mut pieces);
    pieces
}

fn assign_roles(pieces: &mut [Piece]) {
    let mut in_word = false;
    // The code tokens of the statement, and whether the last of them ends an operand.
    let (mut count, mut after_operand) = (0, false);
    let mut is_index = Vec::new();
    for i in 0..pieces.len() {
        let Piece { kind, text, .. } = pieces[i];
        if pieces[i].is_comment() {
            continue;
        }
        let role = match kind {
            Kind::Minus if in_word => Role::Hyphen,
            Kind::Plus | Kind::Minus if !after_operand => Role::Sign,
            Kind::Plus | Kind::Minus | Kind::Star | Kind::Slash | Kind::Shr => Role::Infix,
            Kind::PlusEq | Kind::MinusEq | Kind::StarEq | Kind::Eq => Role::Assignment,
            Kind::LBracket => {
                let after_phase = pieces[..i].iter().rfind(|p| !p.is_comment()).is_some_and(|p| p.kind == Kind::Ident);
                is_index.push(after_phase);
                if after_phase { Role::Index } else { Role::Other }
            }
            Kind::RBracket if is_index.pop() == Some(true) => Role::Index,
            _ => Role::Other,
        };
        pieces[i].role = role;
        after_operand = match kind {
            // `lowpass at -1 […]`, `gain shift -1`
            Kind::Ident => !(count == 1 && matches!(text, "at" | "shift")),
            Kind::Number | Kind::RParen | Kind::RBracket => true,
            _ => false,
        };
        if count == 0 {
            in_word = matches!(text, "domain" | "boundary" | "profile" | "factor");
        }
        count += 1;
        if matches!(kind, Kind::Semi | Kind::LBrace | Kind::RBrace) {
            (count, in_word) = (0, false);
        }
    }
}

/// Whether a blank separates two tokens on one line.
fn is_spaced(left: &Piece, right: &Piece) -> bool {
    if left.kind == Kind::LBrace || right.kind == Kind::RBrace {
        return left.kind != Kind::LBrace || right.kind != Kind::RBrace;
    }
    let tight_left = matches!(left.kind, Kind::LParen | Kind::LBracket | Kind::Star | Kind::Slash)
        || matches!(left.role, Role::Sign | Role::Hyphen);
    let tight_right = match right.kind {
        Kind::Semi | Kind::Comma | Kind::RParen | Kind::RBracket | Kind::Star | Kind::Slash => true,
        Kind::LParen => left.kind == Kind::Ident,
        Kind::LBracket => right.role == Role::Index,
        _ => right.role == Role::Hyphen,
    };
    !(tight_left || tight_right)
}

/// Whether a line break between two tokens of a statement is kept.
fn keeps_break(left: &Piece, right: &Piece) -> bool {
    let opens = |p: &Piece| matches!(p.kind, Kind::LParen | Kind::LBracket) && p.role != Role::Index;
    let closes = |p: &Piece| matches!(p.kind, Kind::RParen | Kind::RBracket) && p.role != Role::Index;
    left.kind == Kind::Comma
        || opens(left)
        || closes(right)
        || matches!(left.role, Role::Infix | Role::Assignment)
        || right.role == Role::Infix
}

/// A line of the result.
#[derive(Default)]
struct Line<'a> {
    indent: usize,
    blank_before: bool,
    code: String,
    /// Whether the line continues a statement.
    continues: bool,
    operator: Option<Operator>,
    comment: Option<Comment<'a>>,
}

/// The first assignment of a line.
struct Operator {
    /// Bytes of code before it.
    at: usize,
    is_constant: bool,
    padded: bool,
}

/// The comment that ends a line, or is alone on it.
struct Comment<'a> {
    text: &'a str,
    padded: bool,
    /// Blanks before it.
    gap: usize,
}

struct Writer<'a> {
    pieces: &'a [Piece<'a>],
    at: usize,
    lines: Vec<Line<'a>>,
    /// Number of blocks around this place.
    blocks: usize,
    /// Indentation of the lines that opened the brackets around this place.
    brackets: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn file(&mut self) {
        // The last code token, unless the next one begins a line.
        let mut last: Option<Piece> = None;
        // Whether the last wavelet is on one line.
        let mut flat = false;
        let mut in_statement = false;
        while let Some(&piece) = self.pieces.get(self.at) {
            if piece.is_comment() {
                let alone = piece.breaks > 0 || self.lines.is_empty() || piece.kind == Kind::Doc && self.blocks == 0;
                self.comment(&piece, alone, in_statement, flat);
                self.at += 1;
                continue;
            }
            let after_comment = self.at > 0 && self.pieces[self.at - 1].is_comment();
            if !in_statement {
                if piece.kind == Kind::RBrace {
                    self.blocks = self.blocks.saturating_sub(1);
                    if after_comment || last.is_none_or(|p| p.kind != Kind::LBrace) {
                        self.start(self.blocks, false);
                    }
                    self.line().code.push('}');
                    flat = false;
                } else {
                    let blank = self.is_blank_before(&piece, flat);
                    self.start(self.blocks, blank);
                    self.line().code += piece.text;
                    in_statement = true;
                }
            } else {
                let left = last.unwrap_or(piece);
                if after_comment || piece.breaks > 0 && keeps_break(&left, &piece) {
                    let indent = self.continued(&piece);
                    self.start(indent, false);
                    self.line().continues = true;
                } else if is_spaced(&left, &piece) {
                    self.line().code.push(' ');
                }
                if piece.kind == Kind::LBrace
                    && let Some((text, close)) = self.flat_block()
                {
                    self.line().code += &text;
                    self.at = close + 1;
                    last = Some(self.pieces[close]);
                    in_statement = false;
                    flat = self.blocks == 0;
                    continue;
                }
                self.append(&piece);
            }
            in_statement &= !matches!(piece.kind, Kind::Semi | Kind::LBrace | Kind::RBrace);
            last = Some(piece);
            self.at += 1;
        }
    }

    fn line(&mut self) -> &mut Line<'a> {
        if self.lines.is_empty() {
            self.start(0, false);
        }
        self.lines.last_mut().expect("there is one")
    }

    fn start(&mut self, indent: usize, blank_before: bool) {
        self.lines.push(Line { indent, blank_before, ..Line::default() });
    }

    /// Adds a token of a statement to the line.
    fn append(&mut self, piece: &Piece<'a>) {
        let indent = self.line().indent;
        match piece.kind {
            Kind::LBrace => self.blocks += 1,
            Kind::LParen | Kind::LBracket => self.brackets.push(indent),
            Kind::RParen | Kind::RBracket => {
                self.brackets.pop();
            }
            _ => {}
        }
        let line = self.line();
        if piece.role == Role::Assignment && !line.continues {
            let is_constant = piece.kind == Kind::Eq;
            line.operator = Some(Operator { at: line.code.len(), is_constant, padded: piece.padded });
        }
        line.code += piece.text;
    }

    /// Indentation of a line that continues a statement with this token.
    fn continued(&self, piece: &Piece) -> usize {
        match self.brackets.last() {
            Some(indent) if matches!(piece.kind, Kind::RParen | Kind::RBracket) => *indent,
            Some(indent) => indent + 1,
            None => self.blocks + 1,
        }
    }

    /// Whether a blank line precedes a statement, or a comment between statements: as in the text, but not at the start
    /// of a block, and always after a wavelet of several lines.
    fn is_blank_before(&self, piece: &Piece, flat: bool) -> bool {
        let after_wavelet = self.blocks == 0 && self.at > 0 && self.pieces[self.at - 1].kind == Kind::RBrace;
        let starts_block = self.lines.last().is_none_or(|line| line.code.ends_with('{'));
        !starts_block && (piece.breaks > 1 || after_wavelet && !flat)
    }

    fn comment(&mut self, piece: &Piece<'a>, alone: bool, in_statement: bool, flat: bool) {
        if alone {
            let blank = !in_statement && self.is_blank_before(piece, flat);
            let indent = if in_statement { self.continued(piece) } else { self.blocks };
            self.start(indent, blank);
            self.line().continues = in_statement;
        }
        self.line().comment = Some(Comment { text: piece.text, padded: piece.padded, gap: 1 });
    }

    /// The block that the current token opens, if the text has it on one line and it fits there; and its last token.
    fn flat_block(&self) -> Option<(String, usize)> {
        let mut room = WIDTH.checked_sub(self.lines.last().map_or(0, Line::width))?;
        let mut depth = 0;
        let mut text = String::new();
        for (i, piece) in self.pieces.iter().enumerate().skip(self.at) {
            if piece.is_comment() || i > self.at && piece.breaks > 0 {
                return None;
            }
            if i > self.at && is_spaced(&self.pieces[i - 1], piece) {
                text.push(' ');
                room = room.checked_sub(1)?;
            }
            text += piece.text;
            room = room.checked_sub(piece.text.chars().count())?;
            match piece.kind {
                Kind::LBrace => depth += 1,
                Kind::RBrace => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some((text, i));
            }
        }
        None
    }
}

impl Line<'_> {
    /// Columns of indentation and code.
    fn width(&self) -> usize {
        INDENT * self.indent + self.code.chars().count()
    }
}

/// Aligns the operators of neighbouring statements, if one of them is set apart in the text.
fn align_operators(lines: &mut [Line]) {
    let mut from = 0;
    while from < lines.len() {
        let Some(first) = &lines[from].operator else {
            from += 1;
            continue;
        };
        let (is_constant, indent) = (first.is_constant, lines[from].indent);
        let belongs = |line: &Line| match &line.operator {
            Some(operator) => operator.is_constant == is_constant && line.indent == indent && !line.blank_before,
            None => line.continues,
        };
        let to = (from + 1..lines.len()).find(|i| !belongs(&lines[*i])).unwrap_or(lines.len());
        let run = &mut lines[from..to];
        if run.iter().filter_map(|line| line.operator.as_ref()).any(|operator| operator.padded) {
            let column = |line: &Line| line.operator.as_ref().map_or(0, |o| line.code[..o.at].chars().count());
            let widest = run.iter().map(column).max().unwrap_or(0);
            for line in run {
                let missing = widest - column(line);
                if let Some(operator) = &line.operator {
                    line.code.insert_str(operator.at, &" ".repeat(missing));
                }
            }
        }
        from = to;
    }
}

/// Aligns the comments after neighbouring lines, if one of them is set apart in the text.
fn align_comments(lines: &mut [Line]) {
    let trails = |line: &Line| line.comment.is_some() && !line.code.is_empty();
    let mut from = 0;
    while from < lines.len() {
        let to = (from..lines.len()).find(|i| !trails(&lines[*i]) || *i > from && lines[*i].blank_before);
        let to = to.unwrap_or(lines.len()).max(from + 1);
        let run = &mut lines[from..to];
        if run.iter().filter_map(|line| line.comment.as_ref()).any(|comment| comment.padded) {
            let widest = run.iter().map(Line::width).max().unwrap_or(0);
            for line in run {
                let missing = widest - line.width();
                if let Some(comment) = &mut line.comment {
                    comment.gap = 1 + missing;
                }
            }
        }
        from = to;
    }
}
