//! Features that kernels need from a target, beyond loops and arithmetic.

use super::visit::{each_expr, each_stmt};
use super::{Builtin, Expr, Kernel, Literal, Stmt};
use std::collections::BTreeSet;

/// Default lanes of a warp, as on CUDA devices.
pub const WARP: u32 = 32;

/// The most lanes of a warp, as on AMD devices.
pub const MAX_WARP: u32 = 64;

/// A feature that some targets lack. Wide accesses and dot products are not among these: targets without such
/// instructions get portable code.
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
    /// [`Builtin::Lane`] and [`Stmt::SyncWarp`], for the kernel's warp size ([`Kernel::warp`]).
    Warps,
    /// [`Stmt::CopyAsync`], and the statements that commit copies and wait for them.
    AsyncCopies,
    /// [`Stmt::WaitLaunches`] and [`Stmt::AllowLaunch`].
    Overlap,
}

impl Feature {
    /// All features.
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

    /// The reason why a kernel needs it, in the words of errors.
    pub fn reason(self) -> &'static str {
        match self {
            Feature::Threads => "it runs in many threads",
            Feature::Shared => "it has shared arrays",
            Feature::Barriers => "it has a barrier",
            Feature::Shuffles => "it has a warp shuffle",
            Feature::Ballots => "it has a warp ballot",
            Feature::Warps => "it synchronises a warp or uses lane indices",
            Feature::AsyncCopies => "it has asynchronous copies to shared memory",
            Feature::Overlap => "it overlaps with other launches",
        }
    }
}

impl Stmt {
    /// The feature that the statement itself needs.
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
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } | Stmt::Part { .. } => return None,
        })
    }
}

impl Kernel {
    /// Features that the kernel needs.
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
