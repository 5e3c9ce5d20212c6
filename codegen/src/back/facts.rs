//! What the writers need to know of a kernel beyond [`KernelInfo`]: which locals carry sample data, which parameters are used.

use crate::ir::valid::KernelInfo;
use crate::ir::*;

/// Facts about one kernel.
pub struct Facts<'a> {
    kernel: &'a Kernel,
    info: &'a KernelInfo,
    data: Vec<bool>,
    used_params: Vec<bool>,
}

impl<'a> Facts<'a> {
    /// Looks through the kernel.
    pub fn of(kernel: &'a Kernel, info: &'a KernelInfo) -> Facts<'a> {
        let mut facts = Facts {
            kernel,
            info,
            data: vec![false; kernel.locals.len()],
            used_params: vec![false; kernel.params.len()],
        };
        // A loop may carry data backwards, so go round until nothing changes.
        while facts.spread(&kernel.body) {}
        facts.survey(&kernel.body);
        facts
    }

    /// Whether far reflections are better called than written out: where warps lift what they load at once. Where they walk, a call in the loop costs them
    /// registers.
    pub fn calls_mirror(&self) -> bool {
        self.info.shuffles > 0 && self.info.copies == 0
    }

    /// The type of an expression of a valid kernel.
    pub fn type_of(&self, e: &Expr) -> Scalar {
        self.info.type_of(self.kernel, e)
    }

    /// The declaration of a local.
    pub fn local(&self, id: LocalId) -> &'a Local {
        &self.kernel.locals[id.0 as usize]
    }

    /// Element type of an array in memory.
    pub fn element(&self, space: Space) -> Scalar {
        match space {
            Space::Shared(id) => self.kernel.shared[id.0 as usize].scalar,
            Space::Global(id) => match self.kernel.params[id.0 as usize].kind {
                ParamKind::Scalar(s) | ParamKind::Pointer(s, _) => s,
            },
        }
    }

    /// Whether the value derives from samples in memory. Arithmetic on such values may wrap, and must; index
    /// arithmetic never does, in kernels that stay within their arrays.
    pub fn is_data(&self, e: &Expr) -> bool {
        match e {
            Expr::Lit(_) | Expr::Param(_) | Expr::Builtin(_) => false,
            Expr::Local(id) | Expr::Elem(id, _) => self.data[id.0 as usize],
            Expr::Unary(_, a) | Expr::Cast(_, a) => self.is_data(a),
            Expr::Binary(_, a, b) | Expr::Select(_, a, b) | Expr::Mirror(a, b) | Expr::Wrap(a, b) => {
                self.is_data(a) || self.is_data(b)
            }
            Expr::Dot { pair, sum, .. } => self.is_data(pair) || self.is_data(sum),
        }
    }

    /// Whether a scalar is set by one statement only.
    pub fn is_set_once(&self, id: LocalId) -> bool {
        self.info.local(id).writes == 1
    }

    /// Whether a local, or an element of it, is read anywhere.
    pub fn is_read(&self, id: LocalId) -> bool {
        self.info.local(id).reads > 0
    }

    /// Whether the body mentions a parameter.
    pub fn is_param_used(&self, id: ParamId) -> bool {
        self.used_params[id.0 as usize]
    }

    fn mark(&mut self, place: &Place) -> bool {
        let (Place::Local(id) | Place::Elem(id, _)) = place;
        !std::mem::replace(&mut self.data[id.0 as usize], true)
    }

    fn spread(&mut self, body: &[Stmt]) -> bool {
        let mut changed = false;
        for s in body {
            changed |= match s {
                Stmt::Let(id, e) => self.is_data(e) && self.mark(&Place::Local(*id)),
                Stmt::Set(place, e) | Stmt::Shuffle { dst: place, src: e, .. } => self.is_data(e) && self.mark(place),
                Stmt::Load { dst, .. } => self.mark(dst),
                Stmt::If { then, otherwise, .. } => self.spread(then) | self.spread(otherwise),
                Stmt::For { body, .. } | Stmt::While { body, .. } => self.spread(body),
                // What a copy brings to shared memory is data once it is loaded from there.
                Stmt::CopyAsync { .. } | Stmt::CommitCopies | Stmt::WaitCopies(_) | Stmt::SyncWarp => false,
                Stmt::Comment(_) | Stmt::Declare(_) | Stmt::Store { .. } | Stmt::Barrier => false,
            };
        }
        changed
    }

    fn survey(&mut self, body: &[Stmt]) {
        let mut exprs: Vec<&Expr> = Vec::new();
        for s in body {
            match s {
                Stmt::Comment(_) | Stmt::Declare(_) | Stmt::Barrier => {}
                Stmt::CommitCopies | Stmt::WaitCopies(_) | Stmt::SyncWarp => {}
                Stmt::CopyAsync { at, global, index, valid, .. } => {
                    self.touched(Space::Global(*global));
                    exprs.extend([at, index, valid]);
                }
                Stmt::Let(_, e) => exprs.push(e),
                Stmt::Set(p, e) => {
                    element_index(p, &mut exprs);
                    exprs.push(e);
                }
                Stmt::Load { dst, space, index, .. } => {
                    element_index(dst, &mut exprs);
                    self.touched(*space);
                    exprs.push(index);
                }
                Stmt::Store { space, index, values, .. } => {
                    self.touched(*space);
                    exprs.push(index);
                    exprs.extend(values);
                }
                Stmt::Shuffle { dst, src, lane } => {
                    element_index(dst, &mut exprs);
                    exprs.push(src);
                    if let Lane::Index(e) = lane {
                        exprs.push(e);
                    }
                }
                Stmt::If { cond, then, otherwise } => {
                    exprs.push(cond);
                    self.survey(then);
                    self.survey(otherwise);
                }
                Stmt::For { from, to, step, body, .. } => {
                    exprs.extend([from, to, step]);
                    self.survey(body);
                }
                Stmt::While { cond, body } => {
                    exprs.push(cond);
                    self.survey(body);
                }
            }
        }
        for e in exprs {
            visit(e, &mut |e| {
                if let Expr::Param(id) = e {
                    self.used_params[id.0 as usize] = true;
                }
            });
        }
    }

    fn touched(&mut self, space: Space) {
        if let Space::Global(id) = space {
            self.used_params[id.0 as usize] = true;
        }
    }
}

fn element_index<'e>(place: &'e Place, exprs: &mut Vec<&'e Expr>) {
    if let Place::Elem(_, index) = place {
        exprs.push(index);
    }
}

/// Calls `f` on an expression and all its parts.
pub fn visit<'e>(e: &'e Expr, f: &mut impl FnMut(&'e Expr)) {
    f(e);
    match e {
        Expr::Lit(_) | Expr::Local(_) | Expr::Param(_) | Expr::Builtin(_) => {}
        Expr::Elem(_, a) | Expr::Unary(_, a) | Expr::Cast(_, a) => visit(a, f),
        Expr::Binary(_, a, b) | Expr::Mirror(a, b) | Expr::Wrap(a, b) | Expr::Dot { pair: a, sum: b, .. } => {
            visit(a, f);
            visit(b, f);
        }
        Expr::Select(a, b, c) => {
            visit(a, f);
            visit(b, f);
            visit(c, f);
        }
    }
}

/// Whether a statement, or one within it, reads or writes memory that launches before it may have written: any array in global memory but those that are `settled`.
pub fn touches_unsettled(s: &Stmt, settled: &[ParamId]) -> bool {
    let reads = |s: &Stmt| reads_of(s).is_some_and(|array| !settled.contains(&array));
    any_within(s, &reads) || writes_global(s)
}

/// Whether a statement, or one within it, reads an array that is settled.
pub fn reads_settled(s: &Stmt, settled: &[ParamId]) -> bool {
    any_within(s, &|s| reads_of(s).is_some_and(|array| settled.contains(&array)))
}

/// The array in global memory that a statement itself reads.
fn reads_of(s: &Stmt) -> Option<ParamId> {
    match s {
        Stmt::Load { space: Space::Global(array), .. } | Stmt::CopyAsync { global: array, .. } => Some(*array),
        _ => None,
    }
}

/// Whether a statement, or one within it, reads from an array in global memory.
pub fn reads_global(s: &Stmt) -> bool {
    any_within(s, &|s| reads_of(s).is_some())
}

/// Whether a statement, or one within it, writes to an array in global memory.
pub fn writes_global(s: &Stmt) -> bool {
    any_within(s, &|s| matches!(s, Stmt::Store { space: Space::Global(_), .. }))
}

/// Whether something holds for a statement or for one within it.
fn any_within(s: &Stmt, holds: &impl Fn(&Stmt) -> bool) -> bool {
    let any = |body: &[Stmt]| body.iter().any(|s| any_within(s, holds));
    holds(s)
        || match s {
            Stmt::If { then, otherwise, .. } => any(then) || any(otherwise),
            Stmt::For { body, .. } | Stmt::While { body, .. } => any(body),
            _ => false,
        }
}

/// The scalars that a body sets (not those that it declares).
pub fn assigned_in(body: &[Stmt], out: &mut Vec<LocalId>) {
    for s in body {
        match s {
            Stmt::Set(p, _) | Stmt::Load { dst: p, .. } | Stmt::Shuffle { dst: p, .. } => {
                let (Place::Local(id) | Place::Elem(id, _)) = p;
                out.push(*id);
            }
            Stmt::If { then, otherwise, .. } => {
                assigned_in(then, out);
                assigned_in(otherwise, out);
            }
            Stmt::For { body, .. } | Stmt::While { body, .. } => assigned_in(body, out),
            _ => {}
        }
    }
}
