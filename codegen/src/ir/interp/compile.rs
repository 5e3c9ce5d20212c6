//! Compilation: statement tree → code over registers.
//!
//! A register is a column: one 64-bit cell per thread of the block, or a single cell if all threads that can see it
//! share its value (`Slot`). Each local has its own registers; intermediate results share some. Compilation settles
//! types, constants, and which reads must check that a local is set.

use super::code::{Code, Dest, From, Inst, PlaceCode, Pure, Slot};
use super::count::Operations;
use crate::ir::Place as Target;
use crate::ir::path::{Numbering, StmtId};
use crate::ir::valid::{KernelInfo, Level};
use crate::ir::{Builtin, Expr, Kernel, Lane, Literal, LocalId, ParamKind, Scalar, Stmt};
use std::collections::BTreeMap;

pub(super) fn compile(kernel: &Kernel, info: &KernelInfo) -> Code {
    let mut tracked = vec![false; kernel.locals.len()];
    loop {
        let mut compiler = Compiler::new(kernel, info, tracked.clone());
        let body = compiler.body(&kernel.body);
        // A read that may precede the write requires recording every write.
        if compiler.code.tracked == tracked {
            compiler.code.body = body;
            return compiler.code;
        }
        tracked = compiler.code.tracked;
    }
}

struct Compiler<'a> {
    kernel: &'a Kernel,
    info: &'a KernelInfo,
    code: Code,
    /// By local and element: certainly set here.
    certain: Vec<Vec<bool>>,
    constants: BTreeMap<u64, u32>,
    /// Registers of intermediate results: in use, and free.
    live: Vec<Slot>,
    free: [Vec<Slot>; 2],
    numbering: Numbering,
    out: Vec<Inst>,
}

impl<'a> Compiler<'a> {
    fn new(kernel: &'a Kernel, info: &'a KernelInfo, tracked: Vec<bool>) -> Compiler<'a> {
        let mut code = Code {
            body: Vec::new(),
            uniform: 0,
            varying: 0,
            constants: Vec::new(),
            params: Vec::new(),
            builtins: Vec::new(),
            tracked,
            locals: Vec::new(),
        };
        for (local, facts) in kernel.locals.iter().zip(&info.locals) {
            let slot = code.fresh(facts.level == Level::Block, local.len.unwrap_or(1));
            code.locals.push(slot);
        }
        Compiler {
            kernel,
            info,
            code,
            certain: kernel.locals.iter().map(|l| vec![false; l.len.unwrap_or(1) as usize]).collect(),
            constants: BTreeMap::new(),
            live: Vec::new(),
            free: [Vec::new(), Vec::new()],
            numbering: Numbering::default(),
            out: Vec::new(),
        }
    }

    fn temp(&mut self, uniform: bool) -> Slot {
        let slot = self.free[usize::from(uniform)].pop().unwrap_or_else(|| self.code.fresh(uniform, 1));
        self.live.push(slot);
        slot
    }

    fn release(&mut self, mark: usize) {
        for slot in self.live.drain(mark..) {
            self.free[usize::from(slot.is_uniform())].push(slot);
        }
    }

    /// Code of a list of statements.
    fn body(&mut self, body: &[Stmt]) -> Vec<Inst> {
        let outer = std::mem::take(&mut self.out);
        self.list(body);
        std::mem::replace(&mut self.out, outer)
    }

    fn list(&mut self, body: &[Stmt]) {
        for stmt in body {
            let id = self.numbering.next(stmt);
            let mark = self.live.len();
            self.stmt(id, stmt);
            self.release(mark);
        }
    }

    fn begin(&mut self, id: StmtId, exprs: &[&Expr]) {
        let operations = exprs.iter().map(|e| count(self.kernel, self.info, e)).sum();
        self.out.push(Inst::Begin { id, operations });
    }

    fn stmt(&mut self, id: StmtId, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(_) => {}
            Stmt::Let(local, e) => {
                self.begin(id, &[e]);
                self.forget(*local);
                self.set(&Target::Local(*local), e);
            }
            Stmt::Declare(local) => self.forget(*local),
            Stmt::Set(place, e) => {
                self.begin(id, &[e, place_index(place)]);
                self.set(place, e);
            }
            Stmt::Load { dst, space, index, lanes, .. } => {
                self.begin(id, &[index, place_index(dst)]);
                let index = self.expr(index, None).0;
                let dest = self.dest(dst);
                self.out.push(Inst::Load { space: *space, index, lanes: *lanes, dest });
                self.assigned(dest, *lanes);
            }
            Stmt::Store { space, index, values, .. } => {
                let mut exprs: Vec<&Expr> = values.iter().collect();
                exprs.push(index);
                self.begin(id, &exprs);
                let index = self.expr(index, None).0;
                let values = values.iter().map(|v| self.expr(v, None).0).collect();
                self.out.push(Inst::Store { space: *space, index, values });
            }
            Stmt::Shuffle { dst, src, lane } => {
                self.begin(id, &[src, place_index(dst)]);
                let a = self.expr(src, None).0;
                let from = match lane {
                    Lane::Up(n) => From::Up(*n),
                    Lane::Down(n) => From::Down(*n),
                    Lane::Xor(n) => From::Xor(*n),
                    Lane::Index(e) => From::Index(self.expr(e, None).0),
                };
                let dest = self.dest(dst);
                self.out.push(Inst::Shuffle { dest, a, from });
                self.assigned(dest, 1);
            }
            Stmt::Ballot { dst, cond } => {
                self.begin(id, &[cond, place_index(dst)]);
                let a = self.expr(cond, None).0;
                let dest = self.dest(dst);
                self.out.push(Inst::Ballot { dest, a });
                self.assigned(dest, 1);
            }
            Stmt::CopyAsync { shared, at, global, index, lanes, valid } => {
                self.begin(id, &[at, index, valid]);
                let [at, index, valid] = [at, index, valid].map(|e| self.expr(e, None).0);
                self.out.push(Inst::Copy { shared: *shared, at, global: *global, index, lanes: *lanes, valid });
            }
            Stmt::CommitCopies => self.bare(id, Inst::Commit),
            Stmt::WaitCopies(n) => self.bare(id, Inst::Wait(*n)),
            Stmt::SyncWarp => self.bare(id, Inst::SyncWarp),
            Stmt::Barrier => self.bare(id, Inst::Barrier),
            Stmt::WaitLaunches => self.bare(id, Inst::WaitLaunches),
            Stmt::AllowLaunch => self.bare(id, Inst::AllowLaunch),
            Stmt::If { cond, then, otherwise } => {
                self.begin(id, &[cond]);
                let cond = self.expr(cond, None).0;
                let before = self.certain.clone();
                let then = self.body(then);
                let after_then = std::mem::replace(&mut self.certain, before);
                let otherwise = self.body(otherwise);
                for (a, b) in self.certain.iter_mut().flatten().zip(after_then.into_iter().flatten()) {
                    *a &= b;
                }
                self.out.push(Inst::If { cond, then, otherwise });
            }
            Stmt::For { var, from, to, step, unroll, body } => {
                self.begin(id, &[from, to, step]);
                let runs = matches!((from, to),
                    (Expr::Lit(Literal::Int(a, _)), Expr::Lit(Literal::Int(b, _))) if a < b);
                // The bounds keep their registers while the body runs.
                let (from, to, step) = (self.owned(from), self.owned(to), self.owned(step));
                let before = self.certain.clone();
                self.certain[var.0 as usize][0] = true;
                let body = self.body(body);
                if !runs {
                    self.certain = before;
                }
                let (var, scalar) = (self.code.locals[var.0 as usize], self.kernel.locals[var.0 as usize].scalar);
                let each = match unroll {
                    true => Operations::default(),
                    false => Operations { integer: 1, logic: 1, ..Operations::default() },
                };
                self.out.push(Inst::For { id, var, scalar, from, to, step, each, body });
            }
            Stmt::While { cond, body } => {
                let outer = std::mem::take(&mut self.out);
                self.begin(id, &[cond]);
                let cond = self.owned(cond);
                let test = std::mem::replace(&mut self.out, outer);
                let before = self.certain.clone();
                let body = self.body(body);
                self.certain = before;
                self.out.push(Inst::While { test, cond, body });
            }
            Stmt::Part { body, .. } => self.list(body),
        }
    }

    /// A statement without expressions.
    fn bare(&mut self, id: StmtId, inst: Inst) {
        self.begin(id, &[]);
        self.out.push(inst);
    }

    /// An expression in a register that the statements of a body do not change.
    fn owned(&mut self, e: &Expr) -> Slot {
        let (slot, _) = self.expr(e, None);
        if matches!(e, Expr::Lit(_) | Expr::Param(_)) || self.live.last() == Some(&slot) {
            return slot;
        }
        let dst = self.temp(slot.is_uniform());
        self.out.push(Inst::Pure(Pure::Copy { dst, a: slot }));
        dst
    }

    fn forget(&mut self, local: LocalId) {
        self.certain[local.0 as usize].fill(false);
        if self.code.tracked[local.0 as usize] {
            self.out.push(Inst::Forget { local });
        }
    }

    fn set(&mut self, place: &Target, e: &Expr) {
        let dest = self.dest(place);
        match dest.index {
            None if !dest.place.tracked => {
                let target = dest.place.base.plus(dest.place.first);
                let (slot, _) = self.expr(e, Some(target));
                if slot != target {
                    self.out.push(Inst::Pure(Pure::Copy { dst: target, a: slot }));
                }
            }
            _ => {
                let a = self.expr(e, None).0;
                self.out.push(Inst::Set { dest, a });
            }
        }
        self.assigned(dest, 1);
    }

    fn assigned(&mut self, dest: Dest, lanes: u32) {
        if dest.index.is_none() {
            let first = dest.place.first as usize;
            self.certain[dest.place.local.0 as usize][first..first + lanes as usize].fill(true);
        }
    }

    fn place(&self, local: LocalId, first: u32) -> PlaceCode {
        let len = self.kernel.locals[local.0 as usize].len;
        PlaceCode {
            local,
            base: self.code.locals[local.0 as usize],
            len: len.unwrap_or(1),
            array: len.is_some(),
            first,
            tracked: self.code.tracked[local.0 as usize],
        }
    }

    fn dest(&mut self, place: &Target) -> Dest {
        match place {
            Target::Local(l) => Dest { place: self.place(*l, 0), index: None },
            Target::Elem(l, Expr::Lit(Literal::Int(i, _))) => Dest { place: self.place(*l, *i as u32), index: None },
            Target::Elem(l, index) => {
                let index = self.expr(index, None).0;
                Dest { place: self.place(*l, 0), index: Some(index) }
            }
        }
    }

    /// Reads a scalar, or an element at a known index.
    fn read(&mut self, local: LocalId, element: u32) -> (Slot, Scalar) {
        if !self.certain[local.0 as usize][element as usize] {
            self.code.tracked[local.0 as usize] = true;
            let array = self.place(local, element);
            self.out.push(Inst::Pure(Pure::Check { array }));
        }
        (self.code.locals[local.0 as usize].plus(element), self.kernel.locals[local.0 as usize].scalar)
    }

    /// Code for an expression. The result's register is returned; it is `want` where a computed result can go there.
    fn expr(&mut self, e: &Expr, want: Option<Slot>) -> (Slot, Scalar) {
        match e {
            Expr::Lit(l) => {
                let (bits, scalar) = match l {
                    Literal::Int(v, s) => (*v as u64, *s),
                    Literal::F32(v) => (v.to_bits().into(), Scalar::F32),
                    Literal::F64(v) => (v.to_bits(), Scalar::F64),
                    Literal::Bool(v) => ((*v).into(), Scalar::Bool),
                };
                (self.constant(bits), scalar)
            }
            Expr::Const(c) => self.expr(&Expr::Lit(self.kernel.consts[c.0 as usize].value), want),
            Expr::Local(l) => self.read(*l, 0),
            Expr::Elem(l, index) => {
                if let Expr::Lit(Literal::Int(i, _)) = **index {
                    return self.read(*l, i as u32);
                }
                let (index, _) = self.expr(index, None);
                self.code.tracked[l.0 as usize] |= !self.certain[l.0 as usize].iter().all(|c| *c);
                let array = self.place(*l, 0);
                let dst = self.target(want, array.base.is_uniform() && index.is_uniform());
                self.out.push(Inst::Pure(Pure::Elem { dst, array, index }));
                (dst, self.kernel.locals[l.0 as usize].scalar)
            }
            Expr::Param(p) => {
                let scalar = match self.kernel.params[p.0 as usize].kind {
                    ParamKind::Scalar(s) | ParamKind::Pointer(s, _) => s,
                };
                let known = self.code.params.iter().find(|(id, _)| id == p).map(|(_, slot)| Slot::Uniform(*slot));
                let slot = known.unwrap_or_else(|| {
                    let slot = self.code.uniform;
                    self.code.uniform += 1;
                    self.code.params.push((*p, slot));
                    Slot::Uniform(slot)
                });
                (slot, scalar)
            }
            Expr::Builtin(b) => {
                let known = self.code.builtins.iter().find(|(known, _)| known == b).map(|(_, slot)| *slot);
                let slot = known.unwrap_or_else(|| {
                    let each = matches!(b, Builtin::ThreadX | Builtin::ThreadY | Builtin::ThreadZ | Builtin::Lane);
                    let slot = self.code.fresh(!each || self.info.threads == 1, 1);
                    self.code.builtins.push((*b, slot));
                    slot
                });
                (slot, Scalar::I32)
            }
            Expr::Unary(op, a) => {
                let (a, scalar) = self.expr(a, None);
                let dst = self.target(want, a.is_uniform());
                self.out.push(Inst::Pure(Pure::Unary { op: *op, scalar, dst, a }));
                (dst, scalar)
            }
            Expr::Binary(op, a, b) => {
                let ((a, scalar), (b, _)) = (self.expr(a, None), self.expr(b, None));
                let dst = self.target(want, a.is_uniform() && b.is_uniform());
                self.out.push(Inst::Pure(Pure::Binary { op: *op, scalar, dst, a, b }));
                (dst, if op.is_comparison() { Scalar::Bool } else { scalar })
            }
            Expr::Select(c, a, b) => {
                let ((c, _), (a, scalar), (b, _)) = (self.expr(c, None), self.expr(a, None), self.expr(b, None));
                let dst = self.target(want, c.is_uniform() && a.is_uniform() && b.is_uniform());
                self.out.push(Inst::Pure(Pure::Select { dst, c, a, b }));
                (dst, scalar)
            }
            Expr::Cast(to, a) => {
                let (a, from) = self.expr(a, None);
                if from == *to {
                    return (a, from);
                }
                let dst = self.target(want, a.is_uniform());
                self.out.push(Inst::Pure(Pure::Cast { from, to: *to, dst, a }));
                (dst, *to)
            }
            Expr::Dot { pair, weights, sum } => {
                let ((pair, _), (sum, _)) = (self.expr(pair, None), self.expr(sum, None));
                let dst = self.target(want, pair.is_uniform() && sum.is_uniform());
                self.out.push(Inst::Pure(Pure::Dot { dst, pair, weights: *weights, sum }));
                (dst, Scalar::I32)
            }
            Expr::Mirror(i, n) | Expr::MirrorNear(i, n) | Expr::Wrap(i, n) => {
                let ((i, _), (n, _)) = (self.expr(i, None), self.expr(n, None));
                let dst = self.target(want, i.is_uniform() && n.is_uniform());
                self.out.push(Inst::Pure(match e {
                    Expr::Mirror(..) | Expr::MirrorNear(..) => Pure::Mirror { dst, i, n },
                    _ => Pure::Wrap { dst, i, n },
                }));
                (dst, Scalar::I32)
            }
        }
    }

    fn target(&mut self, want: Option<Slot>, uniform: bool) -> Slot {
        want.filter(|w| w.is_uniform() == uniform).unwrap_or_else(|| self.temp(uniform))
    }

    fn constant(&mut self, bits: u64) -> Slot {
        let code = &mut self.code;
        Slot::Uniform(*self.constants.entry(bits).or_insert_with(|| {
            code.constants.push((code.uniform, bits));
            code.uniform += 1;
            code.uniform - 1
        }))
    }
}

/// The index of a place, for counting.
fn place_index(place: &Target) -> &Expr {
    static NONE: Expr = Expr::Lit(Literal::Bool(false));
    match place {
        Target::Elem(_, index) => index,
        Target::Local(_) => &NONE,
    }
}

/// Operations that a thread executes to evaluate an expression.
fn count(kernel: &Kernel, info: &KernelInfo, e: &Expr) -> Operations {
    let mut n = Operations::default();
    e.each(&mut |e| {
        let of = |part: &Expr| info.type_of(kernel, part);
        match e {
            Expr::Lit(_) | Expr::Const(_) | Expr::Local(_) | Expr::Elem(..) | Expr::Param(_) | Expr::Builtin(_) => {}
            Expr::Binary(op, ..) if op.is_comparison() => n.logic += 1,
            Expr::Unary(_, a) | Expr::Binary(_, a, _) => match of(a) {
                Scalar::Bool => n.logic += 1,
                s if s.is_integer() => n.integer += 1,
                _ => n.float += 1,
            },
            Expr::Select(..) => n.logic += 1,
            Expr::Cast(to, a) => n.cast += u64::from(of(a) != *to),
            Expr::Dot { .. } => n.integer += 1,
            Expr::Mirror(..) | Expr::MirrorNear(..) | Expr::Wrap(..) => n.integer += Operations::FOLD,
        }
    });
    n
}
