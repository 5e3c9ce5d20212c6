//! Statements in the words of errors: ``statement 7, `store low[k] = a`, in `for r in 0..8`, in the else of `if t < n`
//! ``.
//!
//! Statements are numbered in text order, from 1, without comments. Parts have no number, but their statements do.

use super::print::Names;
use super::*;

/// Number of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StmtId(pub u32);

/// Gives the numbers to a walk that visits every statement before those inside it, once each.
#[derive(Default)]
pub struct Numbering(u32);

impl Numbering {
    /// The number of this statement. A comment or a part has the number of the statement before it.
    pub fn next(&mut self, stmt: &Stmt) -> StmtId {
        if !is_unnumbered(stmt) {
            self.0 += 1;
        }
        StmtId(self.0)
    }
}

fn is_unnumbered(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Comment(_) | Stmt::Part { .. })
}

/// The statement in words; `the kernel` for number 0.
pub fn describe(kernel: &Kernel, id: StmtId) -> String {
    let names = Names::new(kernel);
    let mut numbering = Numbering::default();
    find(kernel, &names, &kernel.body, id, &mut numbering).unwrap_or_else(|| "the kernel".into())
}

fn find(kernel: &Kernel, names: &Names, body: &[Stmt], id: StmtId, numbering: &mut Numbering) -> Option<String> {
    for stmt in body {
        let this = numbering.next(stmt);
        if this == id && !is_unnumbered(stmt) {
            return Some(format!("statement {}, `{}`", id.0, names.head(stmt, kernel)));
        }
        let mut inside = |body: &[Stmt], branch: &str| {
            find(kernel, names, body, id, numbering)
                .map(|text| format!("{text}, in {branch}`{}`", names.head(stmt, kernel)))
        };
        let found = match stmt {
            Stmt::If { then, otherwise, .. } => inside(then, "").or_else(|| inside(otherwise, "the else of ")),
            Stmt::For { body, .. } | Stmt::While { body, .. } => inside(body, ""),
            Stmt::Part { body, .. } => find(kernel, names, body, id, numbering),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}
