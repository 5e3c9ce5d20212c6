//! rewrite: stores whose results a launch that follows reads → stores that the second-level cache gives up last
//!
//! A plan asks for it where a low band on its way is of a size for which that pays.

use crate::ir::visit::each_stmt_mut;
use crate::ir::*;

/// The same kernel: what it stores in global memory without a hint is [`Cache::Kept`].
pub fn kept(mut kernel: Kernel) -> Kernel {
    each_stmt_mut(&mut kernel.body, &mut |s| {
        if let Stmt::Store { space: Space::Global(_), cache: cache @ Cache::Default, .. } = s {
            *cache = Cache::Kept;
        }
    });
    kernel
}
