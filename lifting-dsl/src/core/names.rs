//! Names of wavelets and of constants.

use crate::core::scheme::MAX_NAME;

/// Words that cannot name a wavelet or a constant: reserved by the language or by Rust.
#[rustfmt::skip]
const RESERVED: [&str; 66] = [
    "wavelet", "domain", "boundary", "profile", "gain", "even", "odd", "sqrt", "f32", "f64", "lattice", "bank", "factor",
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut",
    "override", "priv", "pub", "ref", "return", "self", "Self", "static", "struct", "super", "trait", "true", "try", "type",
    "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union",
];

/// Fault of `name` as the name of a wavelet or a constant: the error's code and its text.
pub(crate) fn name_fault(name: &str) -> Option<(&'static str, String)> {
    if identifier(name) != Some(name.len()) {
        Some(("L0106", format!("`{}` is not an identifier", name.escape_debug())))
    } else if RESERVED.contains(&name) {
        Some(("L0106", format!("`{name}` is a reserved word")))
    } else if name.len() > MAX_NAME {
        Some(("L0112", format!("a name of {} bytes: at most {MAX_NAME} are allowed", name.len())))
    } else {
        None
    }
}

/// The nearest identifier that is valid in C, C++ and Rust: ASCII letters, digits and `_`, without a leading digit and
/// without leading, trailing or doubled underscores, which these languages reserve.
pub fn c_identifier(wish: &str) -> String {
    let mut out = String::with_capacity(wish.len());
    for c in wish.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c != '_' || !(out.is_empty() || out.ends_with('_')) {
            out.push(c);
        }
    }
    let out = out.trim_end_matches('_');
    match out.chars().next() {
        None => "x".into(),
        Some(c) if c.is_ascii_digit() => format!("x{out}"),
        Some(_) => out.into(),
    }
}

/// The length of the identifier that `text` begins with: a Rust identifier, keywords included.
pub(crate) fn identifier(text: &str) -> Option<usize> {
    let start = |c: char| c == '_' || unicode_ident::is_xid_start(c);
    text.chars().next().filter(|c| start(*c))?;
    let length = text.find(|c: char| !unicode_ident::is_xid_continue(c)).unwrap_or(text.len());
    (text[..length] != *"_").then_some(length)
}
