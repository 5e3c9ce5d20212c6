//! rewrite: reflections in warps that lift their loads at once → one reflection, with a function call if it is not
//! enough
//!
//! An inlined reflection contains a division. Where all rows of a block are loaded before anything else, it occurs many
//! times and one reflection is nearly always enough; the call keeps the kernel short. Where warps walk through a ring
//! of copies, a call in the loop would cost registers.

use crate::ir::visit::{any_stmt, each_stmt_mut};
use crate::ir::*;

/// The kernel with its best form of reflections.
pub fn reflect(mut kernel: Kernel) -> Kernel {
    let lifts_at_once = any_stmt(&kernel.body, &|s| matches!(s, Stmt::Shuffle { .. }))
        && !any_stmt(&kernel.body, &|s| matches!(s, Stmt::CopyAsync { .. }));
    if lifts_at_once {
        each_stmt_mut(&mut kernel.body, &mut |s| {
            s.each_expr_mut(&mut |e| {
                e.each_mut(&mut |e| {
                    if let Expr::Mirror(i, n) = e {
                        *e = Expr::MirrorNear(*i, *n);
                    }
                });
            });
        });
    }
    kernel
}
