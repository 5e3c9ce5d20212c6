//! Waiting for launches: a kernel that waits anywhere must, on every path, do so before it touches memory that earlier
//! launches may still write.

use super::{At, Finding};
use crate::ir::path::{Numbering, StmtId};
use crate::ir::visit::any_stmt;
use crate::ir::*;

/// Statements that touch such memory and may be reached without waiting.
pub(super) fn check(kernel: &Kernel) -> Vec<Finding> {
    let mut walk = Walk { kernel, numbering: Numbering::default(), findings: Vec::new() };
    if any_stmt(&kernel.body, &|s| *s == Stmt::WaitLaunches) {
        walk.body(&kernel.body, false);
    }
    walk.findings
}

struct Walk<'a> {
    kernel: &'a Kernel,
    numbering: Numbering,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    /// Whether all threads have waited when they leave a body, given whether all have when they enter it.
    fn body(&mut self, body: &[Stmt], mut waited: bool) -> bool {
        for stmt in body {
            let here = self.numbering.next(stmt);
            let unsettled = stmt.reads_global().filter(|array| !self.kernel.settled.contains(array));
            if !waited {
                self.touched(here, stmt.writes_global(), "writes");
                self.touched(here, unsettled, "reads");
            }
            waited = match stmt {
                Stmt::WaitLaunches => true,
                Stmt::If { then, otherwise, .. } => {
                    let [then, otherwise] = [then, otherwise].map(|body| self.body(body, waited));
                    then && otherwise
                }
                Stmt::Part { body, .. } => self.body(body, waited),
                Stmt::For { body, .. } | Stmt::While { body, .. } => {
                    // It may run zero times.
                    self.body(body, waited);
                    waited
                }
                _ => waited,
            };
        }
        waited
    }

    fn touched(&mut self, here: StmtId, array: Option<ParamId>, verb: &str) {
        if let Some(array) = array {
            let name = &self.kernel.params[array.0 as usize].name;
            let message =
                format!("it {verb} `{name}`, which earlier launches may still write, without having waited for them");
            self.findings.push(Finding { at: At::Stmt(here), message });
        }
    }
}
