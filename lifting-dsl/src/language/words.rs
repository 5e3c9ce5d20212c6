//! Words of the language, with a sentence on each, and the words that fit a place. For editors and their grammars.
//!
//! Tests compare the table with those of the parser, so that a new word is in all of them.

use crate::core::scheme::Phase;
use crate::language::lex::{self, Kind, Token};
use crate::language::sink::Sink;

/// A place of the grammar that takes a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Between wavelets.
    File,
    /// The name of a wavelet.
    Name,
    /// The start of a statement of a wavelet.
    Statement,
    /// After `domain`.
    Domain,
    /// After `boundary`.
    Boundary,
    /// After `profile`.
    Format,
    /// The start of a statement of a profile.
    Profile,
    /// After `gain`.
    Gain,
    /// After `lattice`.
    Lattice,
    /// The start of a stage of a lattice.
    Stage,
    /// The start of a filter of a bank.
    Filter,
    /// After `lowpass` or `highpass`.
    At,
    /// After `factor`.
    Factor,
    /// In the expression of a step of this phase.
    Step(Phase),
    /// In an expression of constants.
    Constant,
}

/// A word of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The spelling.
    pub text: &'static str,
    /// A place that takes it; functions have [`Place::Constant`].
    pub place: Place,
    /// Its meaning, in Markdown.
    pub about: &'static str,
}

const fn word(place: Place, text: &'static str, about: &'static str) -> Word {
    Word { text, place, about }
}

/// All words, in the order of the language reference.
pub const WORDS: &[Word] = &[
    word(Place::File, "wavelet", "`wavelet NAME { … }` splits a signal into two bands of half the length."),
    word(Place::Statement, "domain", "`domain integer;` or `domain real;` chooses the arithmetic of the steps."),
    word(Place::Statement, "boundary", "`boundary RULE;` determines the values that steps read beyond the signal."),
    word(Place::Statement, "profile", "`profile FORMAT { … }` adds the conventions of a named format."),
    word(Place::Statement, "const", "`const NAME = expression;` names a value within its wavelet."),
    word(Place::Statement, "even", "The samples at even positions: even[k] is at 2k. After all steps, the low band."),
    word(Place::Statement, "odd", "The samples at odd positions: odd[k] is at 2k + 1. After all steps, the high band."),
    word(Place::Statement, "swap", "`swap;` exchanges even[k] and odd[k], in the integer domain."),
    word(Place::Statement, "lattice", "`lattice { … }` is a cascade of stages: 2×2 matrices on neighbouring samples."),
    word(Place::Statement, "bank", "`bank { … }` states two analysis filters, and the compiler finds steps for them."),
    word(Place::Statement, "factor", "`factor lifting;` or `factor lattice;` chooses the factorisation of a bank."),
    word(Place::Domain, "integer", "For i16, i32 and i64: arithmetic wraps, and every step is undone bit for bit."),
    word(Place::Domain, "real", "For f32, f64, f16 and bf16: each operation rounds once."),
    word(Place::Boundary, "whole-symmetric", "The mirror image about the first or the last sample. The default."),
    word(Place::Boundary, "half-symmetric", "The mirror image within the phase that is read, its end sample repeated."),
    word(Place::Boundary, "periodic", "The signal repeats; it needs an even length at every level."),
    word(Place::Boundary, "edge", "The nearest sample of the phase that is read."),
    word(Place::Boundary, "zero", "Zeros, for each step."),
    word(Place::Format, "jpeg2000", "Vertical axis first; a lone integer sample at an odd origin is doubled."),
    word(Place::Format, "vc2", "Horizontal axis first; sizes are multiples of 2^levels."),
    word(Place::Format, "ccsds122", "Horizontal axis first; sizes are multiples of 2^levels."),
    word(Place::Profile, "boundary", "`boundary RULE;` determines the values that steps read beyond the signal."),
    word(Place::Profile, "gain", "`gain shift s;` shifts integers left by s bits, once per level."),
    word(Place::Gain, "shift", "`gain shift s;` shifts integers left by s bits, once per level."),
    word(Place::Lattice, "paper", "`lattice paper { … }` puts the first stage on (x[2k], x[2k + 1]), as in papers."),
    word(Place::Stage, "rotate", "`rotate(a, b);` is the matrix [[a, b], [−b, a]]."),
    word(Place::Stage, "reflect", "`reflect(a, b);` is the matrix [[a, b], [b, −a]]."),
    word(Place::Stage, "matrix", "`matrix(a, b, c, d);` is the matrix [[a, b], [c, d]]."),
    word(Place::Filter, "lowpass", "`lowpass at a [h0, …];` is low[k] = Σ h[i]·x[2k + a + i]."),
    word(Place::Filter, "highpass", "`highpass at b [g0, …];` is high[k] = Σ g[i]·x[2k + b + i]."),
    word(Place::At, "at", "`at` is the position of the first tap, relative to the computed sample."),
    word(Place::Factor, "lifting", "Lifting steps, by Euclid's algorithm. The default."),
    word(Place::Factor, "lattice", "Stages of a lattice, for orthogonal banks."),
    word(Place::Constant, "sqrt", "`sqrt(x)` is exact if x is the square of a rational, otherwise the root in f64."),
    word(Place::Constant, "f64", "`f64(x)` is the f64 nearest to x, and counts as irrational."),
    word(Place::Step(Phase::Odd), "floor", "`floor(S >> s)` rounds the shift of a step down, as without a function."),
    word(Place::Step(Phase::Odd), "ceil", "`ceil(S >> s)` rounds the shift of a step up."),
    word(Place::Step(Phase::Odd), "trunc", "`trunc(S >> s)` rounds the shift of a step toward zero, as `/` in C."),
    word(Place::Step(Phase::Odd), "half_up", "`half_up(S >> s)` rounds the shift of a step to nearest, ties up."),
    word(
        Place::Step(Phase::Odd),
        "half_even",
        "`half_even(S >> s)` rounds the shift of a step to nearest, ties to even.",
    ),
    word(Place::Step(Phase::Odd), "half_away", "`half_away(S >> s)` rounds a shift to nearest, ties away from zero."),
];

/// Words that fit a place: in a step, functions and the phase that it may read.
pub fn words(place: Place) -> impl Iterator<Item = &'static Word> {
    WORDS.iter().filter(move |word| match place {
        Place::Step(target) => {
            matches!(word.place, Place::Constant | Place::Step(_)) || word.text == target.other().name()
        }
        place => word.place == place,
    })
}

/// The place of the grammar at a byte of a text, before the word that ends there. `None` in comments, and where no
/// word is expected.
///
/// ```
/// use lifting_dsl::words::{Place, place_at};
/// let text = "wavelet w { boundary whole-sym";
/// assert_eq!(place_at(text, text.len()), Some(Place::Boundary));
/// assert_eq!(place_at(text, 12), Some(Place::Statement));
/// ```
pub fn place_at(source: &str, at: usize) -> Option<Place> {
    let before = source.get(..at)?;
    let mut tokens = lex::lex_all(before, &mut Sink::default());
    tokens.pop();
    let last = tokens.last().filter(|token| token.span.end == at);
    match last.map(|token| token.kind) {
        Some(Kind::Comment | Kind::Doc | Kind::Number | Kind::Stray) => return None,
        Some(Kind::Ident) => {
            tokens.pop();
        }
        _ => {}
    }
    tokens.retain(|token| !matches!(token.kind, Kind::Comment | Kind::Doc));
    let text = |token: &Token| token.span.text(source);
    // The first words of the blocks around the place, and the statement before it.
    let mut blocks: Vec<&str> = Vec::new();
    let mut statement: &[Token] = &[];
    let mut from = 0;
    for (i, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::LBrace => blocks.push(statement.first().map_or("", text)),
            Kind::RBrace => {
                blocks.pop();
            }
            Kind::Semi => {}
            _ => {
                statement = &tokens[from..=i];
                continue;
            }
        }
        from = i + 1;
        statement = &[];
    }
    let (first, count) = (statement.first().map_or("", text), statement.len());
    let ends_operand =
        || statement.last().is_some_and(|t| matches!(t.kind, Kind::Ident | Kind::RParen | Kind::RBracket));
    match (blocks.last().copied(), first) {
        (None, "") => Some(Place::File),
        (None, "wavelet") if count == 1 => Some(Place::Name),
        (Some("wavelet"), "") => Some(Place::Statement),
        (Some("profile"), "") => Some(Place::Profile),
        (Some("lattice"), "") => Some(Place::Stage),
        (Some("bank"), "") => Some(Place::Filter),
        (Some(_), "domain") => Some(Place::Domain),
        (Some(_), "boundary") => Some(Place::Boundary),
        (Some(_), "profile") => Some(Place::Format),
        (Some(_), "factor") => Some(Place::Factor),
        (Some("wavelet"), "lattice") if count == 1 => Some(Place::Lattice),
        (Some("profile"), "gain") if count == 1 => Some(Place::Gain),
        (Some("bank"), _) if count == 1 => Some(Place::At),
        (Some("wavelet"), "const") if count < 3 => None,
        (Some(_), _) if count < 2 || ends_operand() && count > 2 => None,
        (Some("wavelet"), "even") => Some(Place::Step(Phase::Even)),
        (Some("wavelet"), "odd") => Some(Place::Step(Phase::Odd)),
        (Some(_), _) => Some(Place::Constant),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::body::Factor;
    use crate::core::scheme::{Boundary, Domain, Format};
    use crate::language::linear::{FUNCTIONS, ROUNDINGS};
    use crate::language::parse::STATEMENTS;
    use crate::language::validate::{FILTERS, STAGES};

    #[test]
    fn the_words_are_those_of_the_parser() {
        let at = |place| words(place).map(|word| word.text).collect::<Vec<_>>();
        assert_eq!(at(Place::Statement), STATEMENTS);
        assert_eq!(at(Place::Domain), [Domain::Integer, Domain::Real].map(Domain::name));
        assert_eq!(at(Place::Boundary), Boundary::ALL.map(Boundary::name));
        assert_eq!(at(Place::Format), Format::ALL.map(Format::name));
        assert_eq!(at(Place::Factor), Factor::ALL.map(Factor::name));
        assert_eq!(at(Place::Stage), STAGES);
        assert_eq!(at(Place::Filter), FILTERS);
        assert_eq!(at(Place::Constant), FUNCTIONS);
        assert_eq!(at(Place::Step(Phase::Odd)), [&["even"], &FUNCTIONS[..], &ROUNDINGS].concat());
        assert_eq!(at(Place::Step(Phase::Even))[0], "odd");
    }

    #[test]
    fn places() {
        use Place::*;
        for (text, place) in [
            ("", Some(File)),
            ("wave", Some(File)),
            ("wavelet ", Some(Name)),
            ("wavelet dd", Some(Name)),
            ("wavelet w ", None),
            ("// wave", None),
            ("wavelet w { ", Some(Statement)),
            ("wavelet w { // od", None),
            ("wavelet w { // od\n", Some(Statement)),
            ("wavelet w { od", Some(Statement)),
            ("wavelet w { odd ", None),
            ("wavelet w { odd += ", Some(Step(Phase::Odd))),
            ("wavelet w { even -= 3*sq", Some(Step(Phase::Even))),
            ("wavelet w { even -= a ", None),
            ("wavelet w { const a", None),
            ("wavelet w { const a = ", Some(Constant)),
            ("wavelet w { const a = 12", None),
            ("wavelet w { profile ", Some(Format)),
            ("wavelet w { profile vc2 { ", Some(Profile)),
            ("wavelet w { profile vc2 { gain ", Some(Gain)),
            ("wavelet w { profile vc2 { gain shift ", Some(Constant)),
            ("wavelet w { profile vc2 { boundary ed", Some(Boundary)),
            ("wavelet w { lattice ", Some(Lattice)),
            ("wavelet w { lattice { ", Some(Stage)),
            ("wavelet w { lattice { rotate(", Some(Constant)),
            ("wavelet w { bank { ", Some(Filter)),
            ("wavelet w { bank { lowpass ", Some(At)),
            ("wavelet w { bank { lowpass at 0 [s", Some(Constant)),
            ("wavelet w { } wave", Some(File)),
            ("wavelet w { } } } ", Some(File)),
        ] {
            assert_eq!(place_at(text, text.len()), place, "{text}");
        }
        assert_eq!((place_at("é", 1), place_at("", 9)), (None, None));
    }
}
