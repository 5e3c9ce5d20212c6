//! Facts about a valid kernel, for back ends.

use super::uniform::Level;
use crate::ir::visit::{each_expr, each_stmt};
use crate::ir::*;

/// Facts about one local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalInfo {
    /// Number of reads of the local or its elements.
    pub reads: u32,
    /// Number of writes of the local or its elements: by `Let`, as a loop variable, `Set`, `Load` and `Shuffle`.
    pub writes: u32,
    /// Whether a `Let` is its only write: a constant in the emitted text.
    pub constant: bool,
    /// The threads that share its value.
    pub level: Level,
}

/// Facts about a valid kernel, found once for all back ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// By [`LocalId`].
    pub locals: Vec<LocalInfo>,
    /// Offset of each shared array, in bytes; in order, each a multiple of 16.
    pub shared_offsets: Vec<u32>,
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Whether [`Expr::Mirror`] or [`Expr::MirrorNear`] occurs.
    pub uses_mirror: bool,
    /// Whether [`Expr::Wrap`] occurs.
    pub uses_wrap: bool,
    /// Number of barriers in the text.
    pub barriers: u32,
    /// Number of shuffles in the text.
    pub shuffles: u32,
    /// Number of asynchronous copies in the text.
    pub copies: u32,
    /// Whether it waits for earlier launches or lets the next one begin.
    pub overlaps: bool,
    /// Builtins that occur, each once, in the order of their declaration.
    pub builtins: Vec<Builtin>,
    /// Number of threads in a block.
    pub threads: u32,
}

impl KernelInfo {
    /// Facts about a local.
    pub fn local(&self, id: LocalId) -> &LocalInfo {
        &self.locals[id.0 as usize]
    }

    /// Type of an expression of this kernel.
    pub fn type_of(&self, kernel: &Kernel, e: &Expr) -> Scalar {
        type_of(kernel, e)
    }
}

/// Type of an expression of a valid kernel.
pub(crate) fn type_of(kernel: &Kernel, e: &Expr) -> Scalar {
    match e {
        Expr::Cast(s, _) => *s,
        Expr::Lit(l) => l.scalar(),
        Expr::Const(c) => kernel.consts[c.0 as usize].value.scalar(),
        Expr::Local(l) | Expr::Elem(l, _) => kernel.locals[l.0 as usize].scalar,
        Expr::Param(p) => match kernel.params[p.0 as usize].kind {
            ParamKind::Scalar(s) | ParamKind::Pointer(s, _) => s,
        },
        Expr::Builtin(_) | Expr::Mirror(..) | Expr::MirrorNear(..) => Scalar::I32,
        Expr::Wrap(..) | Expr::Dot { .. } => Scalar::I32,
        Expr::Binary(op, ..) if op.is_comparison() => Scalar::Bool,
        Expr::Unary(_, a) | Expr::Binary(_, a, _) | Expr::Select(_, a, _) => type_of(kernel, a),
    }
}

pub(super) fn align16(bytes: u64) -> u64 {
    bytes.div_ceil(16) * 16
}

/// Collects the facts about a kernel whose checks have passed.
pub(super) fn collect(kernel: &Kernel, levels: Vec<Level>) -> KernelInfo {
    let mut end = 0u64;
    let shared_offsets = (kernel.shared.iter())
        .map(|s| {
            let start = align16(end);
            end = start + u64::from(s.len) * s.scalar.bytes() as u64;
            start as u32
        })
        .collect();
    let mut info = KernelInfo {
        locals: (levels.into_iter()).map(|level| LocalInfo { reads: 0, writes: 0, constant: false, level }).collect(),
        shared_offsets,
        shared_bytes: end as u32,
        uses_mirror: false,
        uses_wrap: false,
        barriers: 0,
        shuffles: 0,
        copies: 0,
        overlaps: false,
        builtins: Vec::new(),
        threads: kernel.launch.block.iter().product(),
    };
    // Number of `Let` declarations of each local.
    let mut lets = vec![0; kernel.locals.len()];
    each_stmt(&kernel.body, &mut |s| {
        match s {
            Stmt::Let(l, _) => {
                info.locals[l.0 as usize].writes += 1;
                lets[l.0 as usize] += 1;
            }
            Stmt::For { var, .. } => info.locals[var.0 as usize].writes += 1,
            Stmt::Shuffle { .. } => info.shuffles += 1,
            Stmt::CopyAsync { .. } => info.copies += 1,
            Stmt::Barrier => info.barriers += 1,
            Stmt::WaitLaunches | Stmt::AllowLaunch => info.overlaps = true,
            _ => {}
        }
        if let Some(place) = s.sets() {
            info.locals[place.local().0 as usize].writes += 1;
        }
    });
    each_expr(&kernel.body, &mut |e| match e {
        Expr::Local(l) | Expr::Elem(l, _) => info.locals[l.0 as usize].reads += 1,
        Expr::Builtin(b) if !info.builtins.contains(b) => info.builtins.push(*b),
        Expr::Mirror(..) | Expr::MirrorNear(..) => info.uses_mirror = true,
        Expr::Wrap(..) => info.uses_wrap = true,
        _ => {}
    });
    for (local, lets) in info.locals.iter_mut().zip(lets) {
        local.constant = lets > 0 && local.writes == lets;
    }
    info.builtins.sort_by_key(|b| *b as u8);
    info
}
