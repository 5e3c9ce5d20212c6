//! rewrite: stores that the next launch reads → stores that the L2 cache evicts last
//!
//! Plans ask for it where the size of an intermediate low band makes it worthwhile.

use crate::ir::visit::each_stmt_mut;
use crate::ir::*;

/// The kernel with [`Cache::Kept`] on stores to global memory that have no hint.
pub fn kept(mut kernel: Kernel) -> Kernel {
    each_stmt_mut(&mut kernel.body, &mut |s| {
        if let Stmt::Store { space: Space::Global(_), cache: cache @ Cache::Default, .. } = s {
            *cache = Cache::Kept;
        }
    });
    kernel
}
