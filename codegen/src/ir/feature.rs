//! What kernels ask of a target beyond loops and arithmetic.

use super::visit::{each_expr, each_stmt};
use super::{Builtin, Expr, Kernel, Literal, Stmt};
use std::collections::BTreeSet;

/// Lanes of a warp, where nothing else is said: of CUDA devices.
pub const WARP: u32 = 32;

/// Lanes of a warp at most: of AMD's devices.
pub const MAX_WARP: u32 = 64;

/// Something that not every target has. Wide accesses and dot products are not among these: where a target has no
/// instruction for them, they are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Blocks of many threads, and grids of many blocks.
    Threads,
    /// Arrays that a block's threads share.
    Shared,
    /// [`Stmt::Barrier`].
    Barriers,
    /// [`Stmt::Shuffle`], among the lanes of a warp ([`Kernel::warp`]).
    Shuffles,
    /// [`Stmt::Ballot`], among the lanes of a warp.
    Ballots,
    /// [`Builtin::Lane`] and [`Stmt::SyncWarp`], of warps of so many lanes ([`Kernel::warp`]).
    Warps,
    /// [`Stmt::CopyAsync`] and what commits copies and waits for them.
    AsyncCopies,
    /// [`Stmt::WaitLaunches`] and [`Stmt::AllowLaunch`].
    Overlap,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 8] = [
        Feature::Threads,
        Feature::Shared,
        Feature::Barriers,
        Feature::Shuffles,
        Feature::Ballots,
        Feature::Warps,
        Feature::AsyncCopies,
        Feature::Overlap,
    ];

    /// What a kernel has that asks for it, as errors say it.
    pub fn reason(self) -> &'static str {
        match self {
            Feature::Threads => "it runs in many threads",
            Feature::Shared => "it has shared arrays",
            Feature::Barriers => "it has a barrier",
            Feature::Shuffles => "it has a warp shuffle",
            Feature::Ballots => "it has a ballot of a warp",
            Feature::Warps => "it synchronises a warp, or asks for a thread's lane",
            Feature::AsyncCopies => "it has asynchronous copies to shared memory",
            Feature::Overlap => "it overlaps with other launches",
        }
    }
}

impl Stmt {
    /// What the statement itself asks for.
    pub fn feature(&self) -> Option<Feature> {
        Some(match self {
            Stmt::Barrier => Feature::Barriers,
            Stmt::Shuffle { .. } => Feature::Shuffles,
            Stmt::Ballot { .. } => Feature::Ballots,
            Stmt::SyncWarp => Feature::Warps,
            Stmt::CopyAsync { .. } | Stmt::CommitCopies | Stmt::WaitCopies(_) => Feature::AsyncCopies,
            Stmt::WaitLaunches | Stmt::AllowLaunch => Feature::Overlap,
            Stmt::Comment(_) | Stmt::Let(..) | Stmt::Declare(_) | Stmt::Set(..) => return None,
            Stmt::Load { .. } | Stmt::Store { .. } => return None,
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } => return None,
        })
    }
}

impl Kernel {
    /// What the kernel asks of a target.
    pub fn features(&self) -> BTreeSet<Feature> {
        let one = |e: &Expr| matches!(e, Expr::Lit(Literal::Int(1, _)));
        let mut found = BTreeSet::new();
        if self.launch.block != [1; 3] || !self.launch.grid.iter().all(one) {
            found.insert(Feature::Threads);
        }
        if !self.shared.is_empty() {
            found.insert(Feature::Shared);
        }
        each_stmt(&self.body, &mut |s| found.extend(s.feature()));
        each_expr(&self.body, &mut |e| {
            if *e == Expr::Builtin(Builtin::Lane) {
                found.insert(Feature::Warps);
            }
        });
        found
    }
}
