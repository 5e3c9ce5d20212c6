//! Parts of one form: texts that differ in whole numbers alone are one function, whose template parameters are the
//! numbers that differ.

use crate::back::text::comment_line;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Begins the mark of a call: the family, the count of constants, the constants, and the numbers.
const CALL: char = '\u{3}';
/// Separates these.
const FIELD: char = '\u{4}';
/// Ends the mark.
const END: char = '\u{5}';
/// Stands for a number in the form of a text.
const NUMBER: char = '\u{6}';

/// The most numbers that a function takes.
const MOST: usize = 6;

/// The functions of a file.
#[derive(Default)]
pub(super) struct Families {
    /// Their definitions.
    pub text: String,
    all: Vec<Family>,
    /// Forms whose texts differ in too many numbers: each text is a function.
    separate: BTreeSet<String>,
    state: State,
}

#[derive(Default, PartialEq)]
enum State {
    /// Collects texts.
    #[default]
    Looking,
    /// Writes functions.
    Writing,
    Written,
}

/// Texts of one form.
struct Family {
    form: String,
    /// The numbers of each text.
    texts: Vec<Vec<i64>>,
    numbers: Vec<Number>,
    /// The function's name, once it is written.
    name: Option<String>,
}

/// A number of a form.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    /// It is the same in all texts.
    Fixed,
    /// The template parameter, and its factor.
    Parameter(usize, i64),
}

/// The function of a part.
pub(super) struct Function {
    family: usize,
    /// The numbers of the part's text, if they may differ.
    numbers: Vec<i64>,
}

impl Function {
    /// The mark for a call with these constants.
    pub fn called(&self, consts: &[String]) -> String {
        let mut mark = format!("{CALL}f{}{FIELD}c{}", self.family, consts.len());
        for field in consts.iter().cloned().chain(self.numbers.iter().map(i64::to_string)) {
            let _ = write!(mark, "{FIELD}{field}");
        }
        mark.push(END);
        mark
    }
}

impl Families {
    pub fn are_known(&self) -> bool {
        self.state == State::Written
    }

    /// Ends a pass over all kernels.
    pub fn end_pass(&mut self) {
        if self.state == State::Writing {
            self.state = State::Written;
            return;
        }
        let before = self.separate.len();
        for family in &mut self.all {
            family.numbers = family.differing();
            if family.parameters() > MOST {
                self.separate.insert(family.form.clone());
            }
        }
        if self.separate.len() == before {
            self.state = State::Writing;
        } else {
            self.all.clear();
        }
    }

    /// The function of a part with this text, and whether it is to be defined now.
    pub fn found(&mut self, head: &str, text: &str) -> (Function, bool) {
        let (mut form, numbers) = form_of(text);
        form = format!("{head}\n{form}");
        let is_separate = self.separate.contains(&form);
        if is_separate {
            form = format!("{head}\n{text}");
        }
        let at = self.all.iter().position(|family| family.form == form).unwrap_or_else(|| {
            self.all.push(Family { form, texts: Vec::new(), numbers: Vec::new(), name: None });
            self.all.len() - 1
        });
        let numbers = if is_separate { Vec::new() } else { numbers };
        let family = &mut self.all[at];
        if !family.texts.contains(&numbers) {
            family.texts.push(numbers.clone());
        }
        (Function { family: at, numbers }, self.state == State::Writing && family.name.is_none())
    }

    /// Writes a function. `template` has its constants; `text` is that of one of its parts.
    pub fn define(
        &mut self,
        function: &Function,
        name: String,
        (doc, mut template, head): (&str, Vec<String>, &str),
        text: &str,
        taken: &dyn Fn(&str) -> bool,
    ) {
        let family = &mut self.all[function.family];
        let free = ["N", "M", "K", "L", "P", "Q"].into_iter().map(String::from).chain((0..).map(|i| format!("N{i}")));
        let parameters: Vec<String> = free.filter(|name| !taken(name)).take(family.parameters()).collect();
        template.extend(parameters.iter().map(|name| format!("int {name}")));
        let numbers = std::mem::take(&mut family.numbers);
        let text = replaced(text, |at, number, is_alone| match numbers.get(at) {
            Some(Number::Parameter(which, 1)) => parameters[*which].clone(),
            Some(Number::Parameter(which, factor)) if is_alone => format!("{factor} * {}", parameters[*which]),
            Some(Number::Parameter(which, factor)) => format!("({factor} * {})", parameters[*which]),
            _ => number.to_owned(),
        });
        family.numbers = numbers;
        family.name = Some(name);
        let template =
            if template.is_empty() { String::new() } else { format!("template <{}>\n", template.join(", ")) };
        let text = self.resolved(&text);
        let _ = write!(self.text, "// {}\n{template}{head}\n{{\n{text}}}\n\n", comment_line(doc));
    }

    /// The text with its calls written out.
    pub fn resolved(&self, text: &str) -> String {
        let mut pieces = text.split(CALL);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (call, rest) = piece.split_once(END).unwrap_or((piece, ""));
            let mut fields = call.split(FIELD);
            let word = fields.next().unwrap_or_default();
            let at = word.strip_prefix('f').and_then(|at| at.parse::<usize>().ok());
            let Some(family) = at.and_then(|at| self.all.get(at)) else { continue };
            let count = fields.next().and_then(|count| count.strip_prefix('c')?.parse().ok()).unwrap_or(0);
            let fields: Vec<&str> = fields.collect();
            let (consts, numbers) = fields.split_at(count);
            let mut arguments: Vec<&str> = consts.to_vec();
            for which in 0..family.parameters() {
                let first = family.numbers.iter().position(|n| *n == Number::Parameter(which, 1));
                arguments.extend(first.and_then(|at| numbers.get(at)));
            }
            out += family.name.as_deref().unwrap_or_default();
            if !arguments.is_empty() {
                let _ = write!(out, "<{}>", arguments.join(", "));
            }
            out += rest;
        }
        out
    }
}

impl Family {
    /// The count of template parameters.
    fn parameters(&self) -> usize {
        let parameter = |number: &Number| match number {
            Number::Parameter(which, _) => Some(which + 1),
            Number::Fixed => None,
        };
        self.numbers.iter().filter_map(parameter).max().unwrap_or(0)
    }

    /// The template parameter of each number.
    fn differing(&self) -> Vec<Number> {
        let mut parameters: Vec<usize> = Vec::new();
        let column = |at: usize| self.texts.iter().map(move |text| text[at]);
        let first = self.texts.first().map_or(0, Vec::len);
        (0..first)
            .map(|at| {
                if column(at).all(|v| v == self.texts[0][at]) {
                    return Number::Fixed;
                }
                // A small multiple of a parameter.
                let factor = |which: &usize| {
                    (1..=8).find(|factor| column(at).zip(column(*which)).all(|(v, of)| v == factor * of))
                };
                let known = parameters.iter().position(|which| factor(which).is_some());
                if let Some(which) = known {
                    return Number::Parameter(which, factor(&parameters[which]).unwrap_or(1));
                }
                parameters.push(at);
                Number::Parameter(parameters.len() - 1, 1)
            })
            .collect()
    }
}

/// The form of a text, and its numbers.
fn form_of(text: &str) -> (String, Vec<i64>) {
    let mut numbers = Vec::new();
    let form = replaced(text, |_, number, _| {
        numbers.push(number.parse().unwrap_or_default());
        NUMBER.to_string()
    });
    (form, numbers)
}

/// Replaces the whole numbers of a text, but not those in comments, directives and literals with a suffix. `f` gets
/// each one's place and text, and whether it stands between brackets alone.
fn replaced(text: &str, mut f: impl FnMut(usize, &str, bool) -> String) -> String {
    let mut out = String::new();
    let mut count = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(['#', '/']) {
            out += line;
            continue;
        }
        let mut rest = line;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            if !is_word(first) {
                out.push(first);
                before = first;
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            // Long numbers are masks or the ends of a type.
            if word.len() < 9 && word.bytes().all(|c| c.is_ascii_digit()) {
                let is_alone = matches!(before, '[' | '<' | FIELD) && after.starts_with([']', '>', FIELD, END]);
                out += &f(count, word, is_alone);
                count += 1;
            } else {
                out += word;
            }
            rest = after;
        }
    }
    out
}
