//! Lifting steps as functions: in a file of many kernels, each step's arithmetic is written once for each form of the
//! samples.

use super::Writer;
use crate::back::text::comment_line;
use crate::ir::*;
use std::fmt::Write as _;

/// The functions of a file.
#[derive(Default)]
pub struct Steps {
    /// Their definitions.
    pub text: String,
    /// Result, parameters and body of each, and its name.
    known: Vec<(String, String)>,
}

/// The most samples that a step's function reads.
const MOST: usize = 24;

/// The lifting step that a comment of a schedule describes: the text from its target on.
pub fn step_of(comment: &str) -> Option<String> {
    let at = ["odd[k]", "even[k]"].into_iter().filter_map(|target| comment.find(target)).min()?;
    Some(comment[at..].to_owned())
}

/// The name of a function's parameter: the step's own sample, then those of the other phase.
pub fn argument(at: usize) -> String {
    match at {
        0 => "x".into(),
        at => char::from(b'a' + (at - 1) as u8).to_string(),
    }
}

impl Writer<'_> {
    /// The call of a step's function with the value `e`, if `e` reads samples alone and belongs to a step.
    pub(super) fn step_call(&mut self, e: &Expr) -> Option<String> {
        let step = self.step.clone().filter(|_| self.steps.is_some() && self.facts.is_data(e))?;
        let mut operations = 0;
        e.each(&mut |e| {
            let counts = matches!(e, Expr::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) | Expr::Dot { .. });
            operations += usize::from(counts && self.facts.is_data(e));
        });
        // Indices of registers are positions, which stay at the call.
        let mut only = true;
        leaves(e, &mut |leaf| only &= self.facts.is_data(leaf));
        if !only || operations < 2 {
            return None;
        }
        self.read = Some(Vec::new());
        let body = self.plain(e).text;
        let read = self.read.take().unwrap_or_default();
        if read.len() > MOST || read.is_empty() {
            return None;
        }
        let d = self.dialect;
        let of = |e: &Expr| d.type_name(self.facts.type_of(e));
        let parameters: Vec<String> =
            read.iter().enumerate().map(|(at, e)| format!("{} {}", of(e), argument(at))).collect();
        let signature = format!("{}|{}|{body}", of(e), parameters.join(", "));
        let packed = body.contains("dot(");
        let sample = if packed { "pairs".into() } else { self.facts.type_of(e).name().to_owned() };
        let kind = if step.starts_with("odd") { "predict" } else { "update" };
        let known =
            self.steps.as_ref()?.known.iter().find(|(known, _)| *known == signature).map(|(_, name)| name.clone());
        let name = match known {
            Some(name) => name,
            None => {
                let name = self.namer.global(&format!("{kind}_{sample}"));
                let head = format!("{} {} {name}({})", d.function(), of(e), parameters.join(", "));
                let steps = self.steps.as_mut()?;
                let of_pairs = if packed { ", for samples in pairs" } else { "" };
                let _ =
                    write!(steps.text, "// {}{of_pairs}\n{head}\n{{\n    return {body};\n}}\n\n", comment_line(&step));
                steps.known.push((signature, name.clone()));
                name
            }
        };
        let arguments: Vec<String> = read.iter().map(|e| self.plain(e).text).collect();
        Some(format!("{name}({})", arguments.join(", ")))
    }
}

/// The locals and elements that an expression reads as values; indices of elements do not count.
fn leaves(e: &Expr, f: &mut dyn FnMut(&Expr)) {
    match e {
        Expr::Local(_) | Expr::Elem(..) | Expr::Param(_) | Expr::Builtin(_) | Expr::Const(_) => f(e),
        e => e.each_part(&mut |part| leaves(part, f)),
    }
}
