//! Walks over statements and expressions, and the one list of their parts.
//!
//! A search uses [`each_stmt`], [`each_expr`] or [`any_stmt`] with a closure. A walk that treats statements by kind
//! gets their contents from [`Stmt::each_expr`] and [`Stmt::bodies`]. A new statement or expression is added here, and
//! where its meaning matters.

use super::*;

/// Calls a closure on the operands of an expression, shared or mutable as it is borrowed.
macro_rules! each_operand {
    ($expr:expr, $f:expr) => {
        match $expr {
            Expr::Lit(_) | Expr::Local(_) | Expr::Param(_) | Expr::Const(_) | Expr::Builtin(_) => {}
            Expr::Elem(_, a) | Expr::Unary(_, a) | Expr::Cast(_, a) => [a].into_iter().for_each($f),
            Expr::Binary(_, a, b)
            | Expr::Mirror(a, b)
            | Expr::MirrorNear(a, b)
            | Expr::Wrap(a, b)
            | Expr::Dot { pair: a, sum: b, .. } => [a, b].into_iter().for_each($f),
            Expr::Select(a, b, c) => [a, b, c].into_iter().for_each($f),
        }
    };
}

/// The expressions directly in a statement, shared or mutable as it is borrowed.
macro_rules! each_expr {
    ($stmt:expr, $f:ident, $index:ident, $iter:ident) => {
        match $stmt {
            Stmt::Comment(_) | Stmt::Declare(_) | Stmt::Barrier | Stmt::SyncWarp | Stmt::Part { .. } => {}
            Stmt::CommitCopies | Stmt::WaitCopies(_) | Stmt::WaitLaunches | Stmt::AllowLaunch => {}
            Stmt::Let(_, e) => $f(e),
            Stmt::Set(place, e) | Stmt::Load { dst: place, index: e, .. } => {
                place.$index().into_iter().for_each(&mut *$f);
                $f(e);
            }
            Stmt::Store { index, values, .. } => {
                $f(index);
                values.$iter().for_each($f);
            }
            Stmt::Shuffle { dst, src, lane } => {
                dst.$index().into_iter().for_each(&mut *$f);
                $f(src);
                if let Lane::Index(e) = lane {
                    $f(e);
                }
            }
            Stmt::Ballot { dst, cond } => {
                dst.$index().into_iter().for_each(&mut *$f);
                $f(cond);
            }
            Stmt::CopyAsync { at, index, valid, .. } => [at, index, valid].into_iter().for_each($f),
            Stmt::If { cond, .. } | Stmt::While { cond, .. } => $f(cond),
            Stmt::For { from, to, step, .. } => [from, to, step].into_iter().for_each($f),
        }
    };
}

/// The place that a statement sets, shared or mutable as it is borrowed.
macro_rules! sets {
    ($stmt:expr) => {
        match $stmt {
            Stmt::Set(place, _)
            | Stmt::Load { dst: place, .. }
            | Stmt::Shuffle { dst: place, .. }
            | Stmt::Ballot { dst: place, .. } => Some(place),
            _ => None,
        }
    };
}

impl Expr {
    /// Calls `f` on the direct parts of this expression, in order.
    pub fn each_part<'e>(&'e self, f: &mut impl FnMut(&'e Expr)) {
        each_operand!(self, |operand| f(operand))
    }

    /// [`Expr::each_part`] with mutable parts.
    pub fn each_part_mut(&mut self, f: &mut impl FnMut(&mut Expr)) {
        each_operand!(self, |operand| operand.edit(&mut *f))
    }

    /// Calls `f` on the expression and on all within it.
    pub fn each<'e>(&'e self, f: &mut impl FnMut(&'e Expr)) {
        // A `dyn` closure, because generic closures would nest without end.
        fn walk<'e>(e: &'e Expr, f: &mut dyn FnMut(&'e Expr)) {
            f(e);
            e.each_part(&mut |part| walk(part, f));
        }
        walk(self, f);
    }

    /// Calls `f` on the expression and on all within it, from the inside out.
    pub fn each_mut(&mut self, f: &mut impl FnMut(&mut Expr)) {
        fn walk(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
            e.each_part_mut(&mut |part| walk(part, f));
            f(e);
        }
        walk(self, f);
    }

    /// Whether it reads literals and constants of the instance alone.
    pub fn is_constant(&self) -> bool {
        let mut is = true;
        self.each(&mut |e| {
            is &= !matches!(e, Expr::Local(_) | Expr::Elem(..) | Expr::Param(_) | Expr::Builtin(_));
        });
        is
    }

    /// Whether it reads a local, or an element of it.
    pub fn mentions(&self, id: LocalId) -> bool {
        let mut found = false;
        self.each(&mut |e| found |= matches!(e, Expr::Local(l) | Expr::Elem(l, _) if *l == id));
        found
    }
}

impl Place {
    /// The local, or the local whose element it is.
    pub fn local(&self) -> LocalId {
        let (Place::Local(id) | Place::Elem(id, _)) = self;
        *id
    }

    /// The index, if it is an element.
    pub fn index(&self) -> Option<&Expr> {
        match self {
            Place::Local(_) => None,
            Place::Elem(_, index) => Some(index),
        }
    }

    fn index_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Place::Local(_) => None,
            Place::Elem(_, index) => Some(index),
        }
    }
}

impl Stmt {
    /// Calls `f` on the expressions directly in the statement; statements within it are not visited.
    pub fn each_expr<'s>(&'s self, f: &mut impl FnMut(&'s Expr)) {
        each_expr!(self, f, index, iter)
    }

    /// [`Stmt::each_expr`] with mutable expressions.
    pub fn each_expr_mut(&mut self, f: &mut impl FnMut(&mut Expr)) {
        each_expr!(self, f, index_mut, iter_mut)
    }

    /// The statement's bodies; a missing branch is empty.
    pub fn bodies(&self) -> [&[Stmt]; 2] {
        match self {
            Stmt::If { then, otherwise, .. } => [then, otherwise],
            Stmt::For { body, .. } | Stmt::While { body, .. } | Stmt::Part { body, .. } => [body, &[]],
            _ => [&[], &[]],
        }
    }

    /// Calls `f` on the statement's bodies.
    pub fn each_body_mut(&mut self, f: &mut impl FnMut(&mut Vec<Stmt>)) {
        match self {
            Stmt::If { then, otherwise, .. } => {
                f(then);
                f(otherwise);
            }
            Stmt::For { body, .. } | Stmt::While { body, .. } | Stmt::Part { body, .. } => f(body),
            _ => {}
        }
    }

    /// The local, or the element of one, that it sets after its declaration.
    pub fn sets(&self) -> Option<&Place> {
        sets!(self)
    }

    /// [`Stmt::sets`], mutable.
    pub fn sets_mut(&mut self) -> Option<&mut Place> {
        sets!(self)
    }

    /// The array in global memory that the statement itself reads.
    pub fn reads_global(&self) -> Option<ParamId> {
        match self {
            Stmt::Load { space: Space::Global(array), .. } | Stmt::CopyAsync { global: array, .. } => Some(*array),
            _ => None,
        }
    }

    /// The array in global memory that the statement itself writes.
    pub fn writes_global(&self) -> Option<ParamId> {
        match self {
            Stmt::Store { space: Space::Global(array), .. } => Some(*array),
            _ => None,
        }
    }

    /// Whether `holds` is true for the statement or one within it.
    pub fn any(&self, holds: &impl Fn(&Stmt) -> bool) -> bool {
        holds(self) || self.bodies().into_iter().any(|body| any_stmt(body, holds))
    }
}

/// Whether `holds` is true for a statement of a body or one within these.
pub fn any_stmt(body: &[Stmt], holds: &impl Fn(&Stmt) -> bool) -> bool {
    body.iter().any(|s| s.any(holds))
}

/// Calls `f` on all statements in text order, each before those within it.
pub fn each_stmt<'s>(body: &'s [Stmt], f: &mut impl FnMut(&'s Stmt)) {
    for s in body {
        f(s);
        s.bodies().into_iter().for_each(|body| each_stmt(body, f));
    }
}

/// [`each_stmt`] with mutable statements.
pub fn each_stmt_mut(body: &mut [Stmt], f: &mut impl FnMut(&mut Stmt)) {
    fn walk(body: &mut [Stmt], f: &mut dyn FnMut(&mut Stmt)) {
        for s in body {
            f(s);
            s.each_body_mut(&mut |body| walk(body, f));
        }
    }
    walk(body, f);
}

/// Calls `f` on the local and the index of every element that is read or set.
pub fn each_element_mut(body: &mut [Stmt], f: &mut impl FnMut(&mut LocalId, &mut Expr)) {
    each_stmt_mut(body, &mut |s| {
        s.each_expr_mut(&mut |e| {
            e.each_mut(&mut |e| {
                if let Expr::Elem(id, index) = e {
                    index.edit(|index| f(id, index));
                }
            });
        });
        if let Some(Place::Elem(id, index)) = s.sets_mut() {
            f(id, index);
        }
    });
}

/// Calls `f` on all expressions, and on those within them.
pub fn each_expr<'s>(body: &'s [Stmt], f: &mut impl FnMut(&'s Expr)) {
    each_stmt(body, &mut |s| s.each_expr(&mut |e| e.each(f)));
}
