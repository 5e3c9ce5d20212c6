//! rewrite: reflections in warps that lift what they load at once → those that try one step and else call a function
//!
//! A reflection that is written out takes a division, wherever it stands. Where all of a block's rows are loaded before
//! anything else, it stands there many times, once is nearly always enough, and calling for the rest leaves a short
//! kernel. Where warps walk, through a ring of copies, a call in the loop costs them registers.

use crate::ir::visit::{any_stmt, each_stmt_mut};
use crate::ir::*;

/// The kernel with the reflections that suit it.
pub fn reflect(mut kernel: Kernel) -> Kernel {
    let lifts_at_once = any_stmt(&kernel.body, &|s| matches!(s, Stmt::Shuffle { .. }))
        && !any_stmt(&kernel.body, &|s| matches!(s, Stmt::CopyAsync { .. }));
    if lifts_at_once {
        each_stmt_mut(&mut kernel.body, &mut |s| {
            s.each_expr_mut(&mut |e| {
                e.each_mut(&mut |e| {
                    if let Expr::Mirror(i, n) = e {
                        let of = |e: &mut Box<Expr>| std::mem::replace(e, Box::new(Expr::from(0)));
                        *e = Expr::MirrorNear(of(i), of(n));
                    }
                });
            });
        });
    }
    kernel
}
