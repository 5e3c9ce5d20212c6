//! Private names of emitted C-like files, so that files of several wavelets, types or languages fit in one translation
//! unit: most CUDA files have a namespace for them; in others each carries the file's prefix.
//!
//! Writers spell the prefix as [`PREFIX`] and [`CAPITALS`], so that no name of a wavelet can look like a private one.
//! [`privatised`] finds all names that a complete file defines at file scope, prefixes the private ones, and spells the
//! prefix out.

use super::Request;
use crate::back::namer::identifier;
use std::collections::BTreeSet;

/// Stand-in for a file's prefix. Comments hold no control characters.
pub(super) const PREFIX: char = '\u{1}';
/// Stand-in for the prefix in capitals.
pub(super) const CAPITALS: char = '\u{2}';

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Word,
    Comment,
    Literal,
    Other,
}

/// Tokens of C text. White space is made of single characters.
fn tokens(text: &str) -> Vec<(Kind, &str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | PREFIX | CAPITALS);
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let until = |end: &str| rest[2..].find(end).map_or(rest.len(), |at| at + 2 + end.len());
        let (kind, length) = if rest.starts_with("/*") {
            (Kind::Comment, until("*/"))
        } else if rest.starts_with("//") {
            (Kind::Comment, until("\n") - 1)
        } else if matches!(first, '"' | '\'') {
            (Kind::Literal, literal(rest, first))
        } else if is_word(first) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            (if first.is_ascii_digit() { Kind::Other } else { Kind::Word }, length)
        } else {
            (Kind::Other, first.len_utf8())
        };
        let (token, after) = rest.split_at(length);
        out.push((kind, token));
        rest = after;
    }
    out
}

/// Bytes of a string or character literal.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            '\n' => return at,
            _ => {}
        }
    }
    text.len()
}

/// Tokens without comments, white space and directives.
fn plain<'t>(tokens: &[(Kind, &'t str)]) -> Vec<(Kind, &'t str)> {
    let mut out = Vec::new();
    let (mut starts_line, mut in_directive, mut last) = (true, false, "");
    for &(kind, token) in tokens {
        match token {
            "\n" => {
                in_directive &= last == "\\";
                starts_line = true;
            }
            " " => {}
            "#" if starts_line => in_directive = true,
            _ => {
                starts_line = false;
                if !in_directive && kind != Kind::Comment {
                    out.push((kind, token));
                }
            }
        }
        last = token;
    }
    out
}

/// Name of a static function or variable, or of a type.
fn declared<'t>(statement: &[(Kind, &'t str)]) -> Option<&'t str> {
    let is_typedef = statement.first()?.1 == "typedef";
    if statement.first()?.1 == "template"
        && let Some(at) = statement.iter().position(|(_, t)| *t == "struct")
    {
        return Some(statement.get(at + 1)?.1);
    }
    // Some functions are static by a macro.
    let is_static = |t: &str| matches!(t, "static" | "__global__") || t.starts_with(CAPITALS) && t.ends_with("_INLINE");
    if !is_typedef && !statement.iter().any(|(_, t)| is_static(t)) {
        return None;
    }
    let (mut name, mut at) = (None, 0);
    while let Some((kind, token)) = statement.get(at).copied() {
        let calls = statement.get(at + 1).is_some_and(|(_, next)| *next == "(");
        if kind == Kind::Word && token.starts_with("__") && calls {
            // An attribute with arguments.
            let mut open = 0;
            loop {
                at += 1;
                match statement.get(at)?.1 {
                    "(" => open += 1,
                    ")" => open -= 1,
                    _ => {}
                }
                if open == 0 {
                    break;
                }
            }
        } else if kind == Kind::Word {
            name = Some(token);
        } else if matches!(token, "(" | "[" | "=") {
            break;
        }
        at += 1;
    }
    name
}

/// Private names that a file defines at file scope: functions, variables, types and enumerators.
fn definitions<'t>(tokens: &[(Kind, &'t str)]) -> BTreeSet<&'t str> {
    let tokens = plain(tokens);
    let mut names = BTreeSet::new();
    let mut statement: Vec<(Kind, &str)> = Vec::new();
    let (mut depth, mut in_enum, mut is_function) = (0, false, false);
    for (at, &(kind, token)) in tokens.iter().enumerate() {
        let mut ends = false;
        match (depth, token) {
            (0, "{") if matches!(statement[..], [.., (_, "extern"), (Kind::Literal, _)]) => statement.clear(),
            // The end of `extern "C"`.
            (0, "}") => statement.clear(),
            (0, "{") => {
                depth = 1;
                let has = |text: &str| statement.iter().any(|(_, t)| *t == text);
                in_enum = has("enum");
                is_function = has("(") && !has("=") && !has("typedef");
            }
            (0, ";") => ends = true,
            (0, _) => statement.push((kind, token)),
            (_, "{") => depth += 1,
            (_, "}") => {
                depth -= 1;
                ends = depth == 0 && is_function;
            }
            (1, _) if in_enum && kind == Kind::Word && matches!(tokens[at - 1].1, "{" | ",") => {
                names.insert(token);
            }
            _ => {}
        }
        if ends {
            names.extend(declared(&statement));
            statement.clear();
        }
    }
    names.retain(|name| !name.contains([PREFIX, CAPITALS]));
    names
}

/// Begins or continues the namespace of a CUDA file's private names.
pub fn namespace() -> String {
    format!("namespace {PREFIX}_cu {{\n")
}

/// Ends it.
pub fn namespace_end() -> String {
    format!("}} // namespace {PREFIX}_cu\n")
}

/// The complete file, whose private names are in a namespace. `kernels` have the wavelet's name, and get the file's.
pub fn in_namespace(request: &Request, kernels: &[String], text: &str) -> String {
    let is_kernel = |word: &str| kernels.iter().any(|kernel| kernel == word);
    let renamed = |word: &str| if is_kernel(word) { kernel_name(request, word) } else { word.to_owned() };
    rewritten(request, &tokens(text), renamed)
}

/// The complete file, with prefixed names. `infix` tells files of one wavelet apart; `kernels` are as above.
pub fn privatised(request: &Request, infix: &str, kernels: &[String], text: &str) -> String {
    let all = tokens(text);
    let names = definitions(&all);
    let renamed = |word: &str| {
        if kernels.iter().any(|kernel| kernel == word) {
            kernel_name(request, word)
        } else if names.contains(word) {
            format!("{PREFIX}_{infix}_{word}")
        } else {
            word.to_owned()
        }
    };
    rewritten(request, &all, renamed)
}

/// Text whose names are renamed, and whose prefix is spelled out.
fn rewritten(request: &Request, all: &[(Kind, &str)], renamed: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for &(kind, token) in all {
        match kind {
            Kind::Word => out += &renamed(token),
            // Words of a comment that can only be names.
            Kind::Comment => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                for part in token.split_inclusive(|c| !is_word(c)) {
                    let (word, rest) = part.split_at(part.find(|c| !is_word(c)).unwrap_or(part.len()));
                    out += &if word.contains('_') { renamed(word) } else { word.to_owned() };
                    out += rest;
                }
            }
            Kind::Literal | Kind::Other => out += token,
        }
    }
    spelled(request, &out)
}

/// The text with the prefix spelled out.
pub(super) fn spelled(request: &Request, text: &str) -> String {
    let prefix = request.prefix();
    text.replace(CAPITALS, &prefix.to_uppercase()).replace(PREFIX, &prefix)
}

/// A kernel's name in a file of this request: it begins with the file's prefix instead of the wavelet's name.
pub fn kernel_name(request: &Request, name: &str) -> String {
    let own = identifier(request.scheme.name()) + "_";
    format!("{}_{}", request.prefix(), name.strip_prefix(&own).unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_at_file_scope_are_found() {
        let text = "\
/* not_this(int) */
#define NOT_THIS static int not_this;
#ifdef __cplusplus
extern \"C\" {
#endif
enum { FIRST = 1, SECOND };
typedef struct \u{1}_shape { int field; } \u{1}_shape;
typedef struct { int field, other; } pair;
typedef char check_width[sizeof(int) == 4 ? 1 : -1];
static const int table[2][2] = {{1, 2}, {3, 4}};
static const char *const words[] = {\"static int not_this;\", \"}\"};
__attribute__((target(\"avx512f\"))) static inline pair make(int not_this) { enum { LOCAL }; return (pair){LOCAL, 0}; }
extern \"C\" __global__ void __launch_bounds__(256) kernel(int not_this) { }
int \u{1}_forward(void) { return FIRST; }
#ifdef __cplusplus
}
#endif
static int last(void);
";
        let found = definitions(&tokens(text));
        let expected = ["FIRST", "SECOND", "check_width", "kernel", "last", "make", "pair", "table", "words"]
            .into_iter()
            .collect();
        assert_eq!(found, expected);
        assert_eq!(tokens(text).iter().map(|(_, token)| *token).collect::<String>(), text);
    }
}
