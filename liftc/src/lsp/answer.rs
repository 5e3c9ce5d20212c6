//! Answers to the client: diagnostics, hover, completion, formatting and symbols.

use super::text::Document;
use crate::show;
use lifting_codegen::describe;
use lifting_dsl::ast::{Item, Wavelet};
use lifting_dsl::words::{Place, WORDS, Word, place_at, words};
use lifting_dsl::{Diagnostic, Severity, Span, codes, compile, parse};
use serde_json::{Value, json};

/// Kinds of completion items and symbols, as the protocol numbers them.
mod kind {
    pub const FUNCTION: u32 = 3;
    pub const CONSTANT: u32 = 21;
    pub const KEYWORD: u32 = 14;
    pub const VALUE: u32 = 12;
    pub const SYMBOL_CLASS: u32 = 5;
    pub const SYMBOL_CONSTANT: u32 = 14;
    pub const SYMBOL_STEP: u32 = 6;
}

/// Errors and warnings of a document.
pub fn all_diagnostics(text: &str) -> Vec<Diagnostic> {
    match compile(text) {
        Ok(compiled) => compiled.warnings,
        Err(diagnostics) => diagnostics,
    }
}

/// Errors and warnings for the client.
pub fn diagnostics(document: &Document, uri: &str) -> Vec<Value> {
    let list = all_diagnostics(&document.text);
    list.iter().map(|diagnostic| self::diagnostic(document, uri, diagnostic)).collect()
}

/// Address of a code in the language reference.
fn link(code: &str) -> String {
    let title = codes::entry(code).map_or("", |entry| entry.title);
    let heading = format!("{code} {title}").to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
    format!("{}/blob/main/docs/language.md#{anchor}", env!("CARGO_PKG_REPOSITORY"))
}

/// A diagnostic for the client.
pub fn diagnostic(document: &Document, uri: &str, diagnostic: &Diagnostic) -> Value {
    let mut message = diagnostic.message.clone();
    if let Some(help) = &diagnostic.help {
        message += &format!("\nhelp: {help}");
    }
    let related = diagnostic
        .labels
        .iter()
        .map(|label| json!({ "location": { "uri": uri, "range": document.range(label.span) }, "message": label.text }));
    let mut value = json!({
        "range": document.range(diagnostic.span()),
        "severity": if diagnostic.severity == Severity::Error { 1 } else { 2 },
        "code": diagnostic.code,
        "codeDescription": { "href": link(diagnostic.code) },
        "source": "liftc",
        "message": message,
        "relatedInformation": related.collect::<Vec<_>>(),
    });
    if diagnostic.code == "L0901" {
        // Editors show such text as unnecessary.
        value["tags"] = json!([1]);
    }
    value
}

/// Formula of a step, properties of a wavelet, value of a constant, or meaning of a word.
pub fn hover(document: &Document, at: usize) -> Value {
    let (file, _) = parse(&document.text);
    let wavelet = file.wavelets.iter().find(|w| w.span.start <= at && at <= w.span.end);
    let (about, span) = wavelet
        .and_then(|wavelet| of_wavelet(document, wavelet, at))
        .or_else(|| of_word(document, at))
        .unwrap_or_default();
    if about.is_empty() {
        return Value::Null;
    }
    json!({ "contents": { "kind": "markdown", "value": about }, "range": document.range(span) })
}

fn of_wavelet(document: &Document, wavelet: &Wavelet, at: usize) -> Option<(String, Span)> {
    let touches = |span: Span| span.start <= at && at <= span.end;
    let scheme = || {
        let text = document.text.get(wavelet.span.start..wavelet.span.end)?;
        compile(text).ok()?.schemes.into_iter().next()
    };
    if touches(wavelet.name.span) {
        return Some((show::summary(&scheme()?, &wavelet.docs).ok()?, wavelet.name.span));
    }
    let word = document.word(at, false);
    let constants = wavelet.items.iter().filter_map(|item| match item {
        Item::Const(constant) => Some(constant),
        _ => None,
    });
    let own = constants.into_iter().find(|constant| constant.name.text == word.text(&document.text));
    if let Some(constant) = own {
        let value = constant.value.span.text(&document.text);
        return Some((format!("```lift\nconst {} = {value};\n```", constant.name.text), word));
    }
    let mut before = 0;
    for item in &wavelet.items {
        let (span, steps) = match item {
            Item::Step(step) => (step.span, 1),
            Item::Swap(span) => (*span, 4),
            _ => continue,
        };
        if touches(span) {
            let scheme = scheme()?;
            let steps = scheme.steps().get(before..before + steps)?;
            let formulas: Vec<String> = steps.iter().map(describe::step).collect();
            let is_function = |word: &Word| matches!(word.place, Place::Constant | Place::Step(_));
            let function = WORDS.iter().find(|w| is_function(w) && w.text == word.text(&document.text));
            let about = function.map_or_else(String::new, |function| format!("\n{}", function.about));
            return Some((format!("```lift\n{}\n```{about}", formulas.join("\n")), span));
        }
        before += steps;
    }
    None
}

/// The meaning of a word of the language.
fn meaning(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|known| known.text == word).map(|known| known.about)
}

fn of_word(document: &Document, at: usize) -> Option<(String, Span)> {
    // Not in a comment.
    place_at(&document.text, document.word(at, false).start)?;
    [true, false].into_iter().find_map(|hyphens| {
        let span = document.word(at, hyphens);
        let word = span.text(&document.text);
        // A word may have several meanings, as `lattice`.
        let place = place_at(&document.text, span.start);
        let here = place.and_then(|place| words(place).find(|known| known.text == word));
        Some((here.map(|known| known.about).or_else(|| meaning(word))?.to_owned(), span))
    })
}

/// Words that fit, constants of the wavelet, and names of the catalogue.
pub fn completion(document: &Document, at: usize, by_character: bool) -> Value {
    let text = &document.text;
    let Some(place) = place_at(text, at) else { return json!([]) };
    let is_word = matches!(place, Place::Domain | Place::Boundary | Place::Format | Place::Factor | Place::Name);
    if by_character && !is_word {
        return json!([]);
    }
    let range = document.range(document.word(at, is_word));
    let item = |label: &str, kind: u32, about: &str| {
        let edit = json!({ "range": range, "newText": label });
        let about = json!({ "kind": "markdown", "value": about });
        json!({ "label": label, "kind": kind, "textEdit": edit, "documentation": about })
    };
    let mut items: Vec<Value> = words(place)
        .map(|word| {
            let kind = match word.place {
                Place::Constant | Place::Step(_) => kind::FUNCTION,
                Place::Domain | Place::Boundary | Place::Format | Place::Factor => kind::VALUE,
                _ => kind::KEYWORD,
            };
            item(word.text, kind, word.about)
        })
        .collect();
    match place {
        Place::Name => {
            let names = lifting_filters::CATALOGUE.iter();
            items.extend(names.map(|entry| item(entry.name, kind::VALUE, entry.family)));
        }
        Place::Step(_) | Place::Constant => {
            let (file, _) = parse(text);
            // An unfinished wavelet may end before the place.
            let wavelet = file.wavelets.iter().rfind(|w| w.span.start <= at);
            for constant in wavelet.into_iter().flat_map(|w| &w.items) {
                if let Item::Const(constant) = constant
                    && constant.name.span.end < at
                {
                    items.push(item(&constant.name.text, kind::CONSTANT, constant.value.span.text(text)));
                }
            }
        }
        _ => {}
    }
    Value::from(items)
}

/// One edit with the formatted text; none if it is formatted, or has errors.
pub fn formatting(document: &Document) -> Value {
    match lifting_dsl::format(&document.text) {
        Ok(text) if text != document.text => {
            json!([{ "range": document.range(Span::new(0, document.text.len())), "newText": text }])
        }
        _ => json!([]),
    }
}

/// Wavelets, with their constants, steps and other bodies.
pub fn symbols(document: &Document) -> Value {
    let (file, _) = parse(&document.text);
    let symbol = |name: &str, kind: u32, span: Span, own: Span| {
        // Clients refuse empty names.
        let name = if name.is_empty() { "?" } else { name };
        let range = document.range(span.to(own));
        json!({ "name": name, "kind": kind, "range": range, "selectionRange": document.range(own) })
    };
    let wavelets = file.wavelets.iter().map(|wavelet| {
        let children = wavelet.items.iter().filter_map(|item| {
            Some(match item {
                Item::Const(c) => symbol(&c.name.text, kind::SYMBOL_CONSTANT, c.value.span, c.name.span),
                Item::Step(s) => symbol(s.span.text(&document.text), kind::SYMBOL_STEP, s.span, s.span),
                Item::Swap(span) => symbol("swap", kind::SYMBOL_STEP, *span, *span),
                Item::Lattice(l) => symbol("lattice", kind::SYMBOL_STEP, l.span, l.span),
                Item::Bank(b) => symbol("bank", kind::SYMBOL_STEP, b.span, b.span),
                Item::Profile(p) => symbol(&format!("profile {}", p.name.text), kind::SYMBOL_STEP, p.span, p.name.span),
                Item::Domain(_) | Item::Boundary(_) | Item::Factor(_) | Item::Error(_) => return None,
            })
        });
        let mut value = symbol(&wavelet.name.text, kind::SYMBOL_CLASS, wavelet.span, wavelet.name.span);
        value["children"] = children.collect();
        value["detail"] = wavelet.docs.first().cloned().unwrap_or_default().into();
        value
    });
    wavelets.collect()
}
