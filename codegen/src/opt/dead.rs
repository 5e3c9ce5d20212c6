//! rewrite: statements that only set unread locals → nothing
//!
//! Schedules cover all border rules and directions, and each case leaves some locals unused. Expressions are pure, and
//! loads and shuffles have no effect but their result. So an unread local can go with all statements that set it. That
//! may leave more locals unread, and bodies empty.

use crate::ir::visit::each_expr;
use crate::ir::*;

/// Removes locals that are never read, and control flow around nothing.
///
/// The arena keeps its entries, so ids stay valid.
pub fn dead(mut kernel: Kernel) -> Kernel {
    loop {
        let mut read = vec![false; kernel.locals.len()];
        each_expr(&kernel.body, &mut |e| {
            if let Expr::Local(id) | Expr::Elem(id, _) = e {
                read[id.0 as usize] = true;
            }
        });
        if !sweep(&mut kernel.body, &read) {
            return kernel;
        }
    }
}

fn sweep(body: &mut Vec<Stmt>, read: &[bool]) -> bool {
    let mut changed = false;
    for s in body.iter_mut() {
        // A `while` may never end, which is an effect; it stays, without its dead statements.
        s.each_body_mut(&mut |body| changed |= sweep(body, read));
    }
    let before = body.len();
    body.retain(|s| match s {
        Stmt::Let(id, _) | Stmt::Declare(id) => read[id.0 as usize],
        Stmt::If { .. } | Stmt::For { .. } | Stmt::Part { .. } => !s.bodies().into_iter().all(idle),
        s => s.sets().is_none_or(|place| read[place.local().0 as usize]),
    });
    changed | (body.len() != before)
}

fn idle(body: &[Stmt]) -> bool {
    body.iter().all(|s| matches!(s, Stmt::Comment(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::build::Builder;

    #[test]
    fn unread_locals_and_empty_bodies_are_removed() {
        let mut b = Builder::new("k");
        let out = b.pointer("out", Scalar::I32, Access::ReadWrite, "");
        let a = b.let_("a", Scalar::I32, 1);
        let kept = b.let_("kept", Scalar::I32, 2);
        let c = b.let_("c", Scalar::I32, a + 1);
        b.if_(c.gt(0), |b| {
            b.comment("only this");
            b.for_("i", 0, 4, 1, |b, i| {
                b.load_new("x", Scalar::I32, Space::Global(out), i);
            });
        });
        b.store(Space::Global(out), 0, kept);
        let kernel = dead(b.finish(Launch { block: [1, 1, 1], grid: [1.into(), 1.into(), 1.into()] }));
        assert!(
            matches!(kernel.body.as_slice(), [Stmt::Let(id, _), Stmt::Store { .. }] if *id == kept),
            "{:?}",
            kernel.body
        );
        assert_eq!(dead(kernel.clone()), kernel);
    }
}
