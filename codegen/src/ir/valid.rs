//! Validation: kernel → [`KernelInfo`], or all its errors.
//!
//! Checked are the types of all expressions; declarations and visibility of locals; uses of scalars and arrays; widths
//! of wide accesses; access rights of pointers; literals, shift counts and constant indices in range; literal bounds of
//! unrolled loops; sizes of asynchronous copies; barriers in control flow that is uniform over the block; shuffles and
//! warp synchronisation in control flow that is uniform over the warp; waiting for launches before touching memory that
//! they may write; grids over scalar parameters only. The interpreter checks what depends on values: bounds, alignment,
//! races, unset registers.

mod info;
mod launches;
mod uniform;

pub use info::{KernelInfo, LocalInfo};
pub use uniform::Level;

use super::path::{Numbering, StmtId, describe};
use super::print::Names;
use super::*;
use thiserror::Error;

/// The most threads of a block.
pub const MAX_BLOCK: u64 = 1024;
/// The most static shared memory of a block, in bytes.
pub const MAX_SHARED: u64 = 48 * 1024;

/// An error in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`: {place}: {message}")]
pub struct ValidationError {
    /// Name of the kernel.
    pub kernel: String,
    /// The statement in words, or a part of the kernel's head.
    pub place: String,
    /// The error, and what would be right.
    pub message: String,
}

/// Checks a kernel.
///
/// # Errors
/// All errors. Uniformity and waiting for launches are only checked if there are no others.
pub fn validate(kernel: &Kernel) -> Result<KernelInfo, Vec<ValidationError>> {
    let mut checker = Checker {
        kernel,
        names: Names::new(kernel),
        numbering: Numbering::default(),
        here: StmtId(0),
        visible: vec![Visible::No; kernel.locals.len()],
        errors: Vec::new(),
    };
    checker.head();
    checker.body(&kernel.body);
    let mut errors = checker.errors;
    if errors.is_empty() {
        let levels = uniform::levels(kernel, &checker.names);
        errors = uniform::check(kernel, &checker.names, &levels);
        errors.extend(launches::check(kernel));
        if errors.is_empty() {
            return Ok(info::collect(kernel, levels));
        }
    }
    Err(errors
        .into_iter()
        .map(|Finding { at, message }| ValidationError {
            kernel: kernel.name.clone(),
            place: match at {
                At::Head(part) => part,
                At::Stmt(id) => describe(kernel, id),
            },
            message,
        })
        .collect())
}

enum At {
    Head(String),
    Stmt(StmtId),
}

struct Finding {
    at: At,
    message: String,
}

/// Visibility of a local.
#[derive(Clone, Copy, PartialEq)]
enum Visible {
    No,
    Yes,
    /// It is the variable of an enclosing loop: read only.
    LoopVariable,
}

struct Checker<'a> {
    kernel: &'a Kernel,
    names: Names,
    numbering: Numbering,
    here: StmtId,
    visible: Vec<Visible>,
    errors: Vec<Finding>,
}

impl Checker<'_> {
    fn error(&mut self, message: impl Into<String>) {
        self.errors.push(Finding { at: At::Stmt(self.here), message: message.into() });
    }

    fn head_error(&mut self, part: String, message: impl Into<String>) {
        self.errors.push(Finding { at: At::Head(part), message: message.into() });
    }

    fn head(&mut self) {
        let kernel = self.kernel;
        for p in &kernel.params {
            if let ParamKind::Pointer(Scalar::Bool, _) = p.kind {
                self.head_error(format!("parameter `{}`", p.name), "`bool` cannot be in memory");
            }
            if let ParamKind::Scalar(scalar) = p.kind
                && (scalar == Scalar::Bool || scalar.is_storage())
            {
                self.head_error(format!("parameter `{}`", p.name), "a scalar must be of an integer type, f32 or f64");
            }
        }
        if !kernel.warp.is_power_of_two() || kernel.warp > MAX_WARP {
            let message = format!("{} lanes: a warp needs a power of two, at most {MAX_WARP}", kernel.warp);
            self.head_error("warps".into(), message);
        }
        let mut bytes = 0u64;
        for s in &kernel.shared {
            let part = format!("shared array `{}`", s.name);
            if s.scalar == Scalar::Bool {
                self.head_error(part, "`bool` cannot be in memory");
            } else if s.len == 0 {
                self.head_error(part, "it has no elements");
            }
            bytes = info::align16(bytes) + u64::from(s.len) * s.scalar.bytes() as u64;
        }
        if bytes > MAX_SHARED {
            self.head_error("shared memory".into(), format!("{bytes} bytes exceed the limit of a block, {MAX_SHARED}"));
        }
        for id in &kernel.settled {
            match kernel.params.get(id.0 as usize) {
                Some(Param { kind: ParamKind::Pointer(_, Access::Read), .. }) => {}
                Some(p) => {
                    self.head_error(format!("parameter `{}`", p.name), "a settled array must be a read-only pointer")
                }
                None => self.head_error("settled arrays".into(), format!("parameter {} does not exist", id.0)),
            }
        }
        for l in &kernel.locals {
            if l.len == Some(0) {
                self.head_error(format!("local `{}`", l.name), "a register array needs at least one element");
            }
        }
        let block = kernel.launch.block;
        let threads = block.iter().try_fold(1u64, |n, &d| n.checked_mul(d.into())).unwrap_or(u64::MAX);
        if !(1..=MAX_BLOCK).contains(&threads) || block[2] > 64 {
            self.head_error(
                "launch".into(),
                format!("invalid block {block:?}: it needs 1 to {MAX_BLOCK} threads, at most 64 in z"),
            );
        }
        for (axis, e) in ["x", "y", "z"].into_iter().zip(&kernel.launch.grid) {
            if !launch::is_grid_expr(kernel, e) {
                let message =
                    format!("`{}` may only use i32 or i64 parameters, literals and arithmetic", self.names.expr(e));
                self.head_error(format!("grid {axis}"), message);
                continue;
            }
            let before = self.errors.len();
            self.expr(e);
            for error in &mut self.errors[before..] {
                error.at = At::Head(format!("grid {axis}"));
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        let outer = self.visible.clone();
        for stmt in body {
            self.here = self.numbering.next(stmt);
            self.stmt(stmt);
        }
        self.visible = outer;
    }

    fn local(&mut self, id: LocalId) -> Option<(Local, Visible)> {
        let Some(local) = self.kernel.locals.get(id.0 as usize) else {
            self.error(format!("local {} does not exist", id.0));
            return None;
        };
        Some((local.clone(), self.visible[id.0 as usize]))
    }

    /// A local that is used here.
    fn used(&mut self, id: LocalId) -> Option<(Local, Visible)> {
        let (local, visible) = self.local(id)?;
        if visible == Visible::No {
            self.error(format!("`{}` is not declared here", self.names.local(id)));
            return None;
        }
        Some((local, visible))
    }

    fn declare(&mut self, id: LocalId, as_: Visible) -> Option<Local> {
        let (local, visible) = self.local(id)?;
        if visible != Visible::No {
            self.error(format!("`{}` is already declared", self.names.local(id)));
        }
        self.visible[id.0 as usize] = as_;
        Some(local)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Comment(_) | Stmt::Barrier | Stmt::WaitLaunches | Stmt::AllowLaunch => {}
            Stmt::CommitCopies | Stmt::WaitCopies(_) | Stmt::SyncWarp => {}
            Stmt::CopyAsync { shared, at, global, index, lanes, valid } => {
                self.copy_async((*shared, at), (*global, index), *lanes, valid);
            }
            Stmt::Let(id, e) => {
                // The value comes first: it cannot name the local that it defines.
                let found = self.expr(e);
                let Some(local) = self.declare(*id, Visible::Yes) else { return };
                if local.len.is_some() {
                    self.error(format!("`{}` is a register array: declare it and set its elements", local.name));
                } else {
                    self.expect(found, local.scalar, "the value");
                }
            }
            Stmt::Declare(id) => {
                self.declare(*id, Visible::Yes);
            }
            Stmt::Set(place, e) => {
                let found = self.expr(e);
                if let Some(scalar) = self.place(place, 1) {
                    self.expect(found, scalar, "the value");
                }
            }
            Stmt::Load { dst, space, index, lanes, .. } => {
                let element = self.access(*space, index, *lanes, Access::Read);
                if *lanes > 1 && matches!(dst, Place::Local(_)) {
                    self.error("a wide load must go to elements of a register array");
                }
                if let Some(scalar) = self.place(dst, *lanes) {
                    self.expect(element, scalar, "the array's element");
                }
            }
            Stmt::Store { space, index, values, .. } => {
                let element = self.access(*space, index, values.len() as u32, Access::Write);
                for value in values {
                    let found = self.expr(value);
                    if let Some(element) = element {
                        self.expect(found, element, "a value");
                    }
                }
            }
            Stmt::Shuffle { dst, src, lane } => self.shuffle(dst, src, lane),
            Stmt::Ballot { dst, cond } => {
                let found = self.expr(cond);
                self.expect(found, Scalar::Bool, "the condition");
                let bits = if self.kernel.warp > 32 { Scalar::U64 } else { Scalar::U32 };
                if let Some(scalar) = self.place(dst, 1) {
                    self.expect(Some(scalar), bits, "the destination");
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let found = self.expr(cond);
                self.expect(found, Scalar::Bool, "the condition");
                self.body(then);
                self.body(otherwise);
            }
            Stmt::For { var, from, to, step, unroll, body } => self.counted_loop(*var, [from, to, step], *unroll, body),
            Stmt::While { cond, body } => {
                let found = self.expr(cond);
                self.expect(found, Scalar::Bool, "the condition");
                self.body(body);
            }
            Stmt::Part { body, .. } => self.body(body),
        }
    }

    fn copy_async(
        &mut self,
        (shared, at): (SharedId, &Expr),
        (global, index): (ParamId, &Expr),
        lanes: u32,
        valid: &Expr,
    ) {
        let from = self.access(Space::Global(global), index, lanes, Access::Read);
        let to = self.access(Space::Shared(shared), at, lanes, Access::Write);
        let found = self.expr(valid);
        self.expect(found, Scalar::I32, "the number of elements that are read");
        if let Expr::Lit(Literal::Int(n, _)) = valid
            && !(0..=i64::from(lanes)).contains(n)
        {
            self.error(format!("{n} of {lanes} elements are read: 0 to {lanes} are allowed"));
        }
        if let Some(Param { kind: ParamKind::Pointer(_, access), name, .. }) = self.kernel.params.get(global.0 as usize)
            && *access != Access::Read
        {
            self.error(format!("`{name}` is written in this launch, so asynchronous copies must not read it"));
        }
        if let (Some(from), Some(to)) = (from, to) {
            self.expect(Some(to), from, "the shared array's element");
            let bytes = lanes as usize * from.bytes();
            if bytes < 4 {
                self.error(format!("an asynchronous copy of {bytes} bytes: 4, 8 or 16 are allowed"));
            }
        }
    }

    fn shuffle(&mut self, dst: &Place, src: &Expr, lane: &Lane) {
        let found = self.expr(src);
        if let Some(scalar) = found
            && (scalar == Scalar::Bool || scalar.is_storage())
        {
            self.error(format!("a shuffle moves 32- and 64-bit types and i16, not {}", scalar.name()));
        }
        if let Some(scalar) = self.place(dst, 1) {
            self.expect(found, scalar, "the value");
        }
        match lane {
            Lane::Up(n) | Lane::Down(n) | Lane::Xor(n) if *n >= self.kernel.warp => {
                self.error(format!("a distance of {n} lanes: a warp has {}", self.kernel.warp));
            }
            Lane::Index(e) => {
                let found = self.expr(e);
                self.expect(found, Scalar::I32, "the lane");
            }
            _ => {}
        }
    }

    /// Checks a counted loop; `range` is its first value, its bound and its step.
    fn counted_loop(&mut self, var: LocalId, range: [&Expr; 3], unroll: bool, body: &[Stmt]) {
        let found = range.map(|e| self.expr(e));
        if unroll && range.into_iter().any(|e| !e.is_constant()) {
            self.error("the bounds and the step of an unrolled loop must be constants");
        }
        if let Expr::Lit(Literal::Int(..=0, _)) = range[2] {
            self.error("the step of a loop must be greater than 0");
        }
        let outer = self.visible.clone();
        if let Some(local) = self.declare(var, Visible::LoopVariable) {
            if local.len.is_some() || !matches!(local.scalar, Scalar::I32 | Scalar::I64) {
                self.error("a loop variable must be a scalar of type i32 or i64");
            } else {
                for (found, what) in found.into_iter().zip(["the first value", "the bound", "the step"]) {
                    self.expect(found, local.scalar, what);
                }
            }
        }
        self.body(body);
        self.visible = outer;
    }

    fn expect(&mut self, found: Option<Scalar>, wanted: Scalar, what: &str) {
        if let Some(found) = found
            && found != wanted
        {
            self.error(format!("{what} is of type {}, expected {}", found.name(), wanted.name()));
        }
    }

    /// Element type of a place that is written.
    fn place(&mut self, place: &Place, lanes: u32) -> Option<Scalar> {
        match place {
            Place::Local(id) => {
                let (local, visible) = self.used(*id)?;
                if local.len.is_some() {
                    self.error(format!("`{}` is a register array: name an element", self.names.local(*id)));
                    return None;
                }
                if visible == Visible::LoopVariable {
                    self.error(format!("`{}` is a loop variable and cannot be set", self.names.local(*id)));
                }
                Some(local.scalar)
            }
            Place::Elem(id, index) => self.element(*id, index, lanes),
        }
    }

    fn element(&mut self, id: LocalId, index: &Expr, lanes: u32) -> Option<Scalar> {
        let found = self.expr(index);
        self.expect(found, Scalar::I32, "the index");
        let (local, _) = self.used(id)?;
        let Some(len) = local.len else {
            self.error(format!("`{}` is a scalar, not a register array", self.names.local(id)));
            return None;
        };
        self.constant_index(index, lanes, len, &self.names.local(id));
        Some(local.scalar)
    }

    fn constant_index(&mut self, index: &Expr, lanes: u32, len: u32, array: &str) {
        if let Expr::Lit(Literal::Int(i, _)) = index
            && (*i < 0 || i.saturating_add(lanes.into()) > len.into())
        {
            let what = if lanes == 1 { format!("index {i} is") } else { format!("{lanes} elements from {i} are") };
            self.error(format!("{what} outside `{array}`, which has {len} elements"));
        }
    }

    /// Element type of an array in memory that is read or written here.
    fn access(&mut self, space: Space, index: &Expr, lanes: u32, way: Access) -> Option<Scalar> {
        let found = self.expr(index);
        let element = match space {
            Space::Global(p) => {
                if let Some(found) = found
                    && !matches!(found, Scalar::I32 | Scalar::I64)
                {
                    self.error(format!("a global index must be of type i64 or i32, not {}", found.name()));
                }
                let Some(param) = self.kernel.params.get(p.0 as usize) else {
                    self.error(format!("parameter {} does not exist", p.0));
                    return None;
                };
                let ParamKind::Pointer(scalar, access) = param.kind else {
                    self.error(format!("`{}` is a scalar, not a pointer", param.name));
                    return None;
                };
                if access != Access::ReadWrite && access != way {
                    self.error(format!(
                        "`{}` may only be {}",
                        param.name,
                        if access == Access::Read { "read" } else { "written" }
                    ));
                }
                scalar
            }
            Space::Shared(s) => {
                self.expect(found, Scalar::I32, "the index");
                let Some(shared) = self.kernel.shared.get(s.0 as usize) else {
                    self.error(format!("shared array {} does not exist", s.0));
                    return None;
                };
                self.constant_index(index, lanes, shared.len, &self.names.shared(s));
                shared.scalar
            }
        };
        if !matches!(lanes, 1 | 2 | 4 | 8 | 16) {
            self.error(format!("{lanes} elements at once: 1, 2, 4, 8 or 16 are allowed"));
        } else if lanes as usize * element.bytes() > 16 {
            self.error(format!("{lanes} elements of {} exceed 16 bytes", element.name()));
        } else if lanes > 1 && element == Scalar::U8 {
            self.error("elements of u8 must be moved one at a time");
        }
        Some(element)
    }

    /// Type of an expression; `None` after a reported error.
    fn expr(&mut self, e: &Expr) -> Option<Scalar> {
        match e {
            Expr::Lit(literal) => Some(self.literal(*literal)),
            Expr::Local(id) => {
                let (local, _) = self.used(*id)?;
                if local.len.is_some() {
                    self.error(format!("`{}` is a register array: name an element", self.names.local(*id)));
                    return None;
                }
                Some(local.scalar)
            }
            Expr::Elem(id, index) => self.element(*id, index, 1),
            Expr::Param(p) => match self.kernel.params.get(p.0 as usize) {
                Some(Param { kind: ParamKind::Scalar(s), .. }) => Some(*s),
                Some(param) => {
                    self.error(format!("`{}` is a pointer, not a scalar", param.name));
                    None
                }
                None => {
                    self.error(format!("parameter {} does not exist", p.0));
                    None
                }
            },
            Expr::Const(c) => match self.kernel.consts.get(c.0 as usize) {
                Some(c) => Some(c.value.scalar()),
                None => {
                    self.error(format!("constant {} does not exist", c.0));
                    None
                }
            },
            Expr::Builtin(_) => Some(Scalar::I32),
            Expr::Unary(op, a) => {
                let found = self.expr(a)?;
                let right = match op {
                    UnOp::Neg => found.is_integer() || matches!(found, Scalar::F32 | Scalar::F64),
                    UnOp::Not => found == Scalar::Bool,
                    UnOp::CountOnes | UnOp::LeadingZeros => found.is_integer() && found != Scalar::I16,
                };
                if !right {
                    self.error(format!("`{}` does not apply to type {}", self.names.expr(e), found.name()));
                }
                Some(found)
            }
            Expr::Binary(op, a, b) => {
                let (a, b_type) = (self.expr(a), self.expr(b));
                self.binary(e, *op, a?, b_type?, b)
            }
            Expr::Select(c, a, b) => {
                let cond = self.expr(c);
                self.expect(cond, Scalar::Bool, "the condition of a select");
                let (a, b) = (self.expr(a), self.expr(b));
                let a = a?;
                if a.is_storage() {
                    let to = if a == Scalar::U8 { Scalar::I32 } else { Scalar::F32 };
                    self.error(format!("{} is a storage type: cast it to {} first", a.name(), to.name()));
                }
                self.expect(b, a, "the second arm of a select");
                Some(a)
            }
            Expr::Cast(to, a) => {
                let from = self.expr(a)?;
                if !casts(from, *to) {
                    self.error(format!("cannot cast from {} to {}", from.name(), to.name()));
                }
                Some(*to)
            }
            Expr::Dot { pair, sum, .. } => {
                for (e, what) in [(pair, "the pair"), (sum, "the sum")] {
                    let found = self.expr(e);
                    self.expect(found, Scalar::I32, what);
                }
                Some(Scalar::I32)
            }
            Expr::Mirror(i, n) | Expr::MirrorNear(i, n) | Expr::Wrap(i, n) => {
                for (e, what) in [(i, "the index"), (n, "the extent")] {
                    let found = self.expr(e);
                    self.expect(found, Scalar::I32, what);
                }
                if let Expr::Lit(Literal::Int(..=0, _)) = **n {
                    self.error("an extent must be at least 1");
                }
                Some(Scalar::I32)
            }
        }
    }

    fn literal(&mut self, literal: Literal) -> Scalar {
        match literal {
            Literal::Int(v, s) if !s.holds(v) => self.error(format!("the literal {v} does not fit {}", s.name())),
            Literal::F32(v) if !v.is_finite() => self.error(format!("the literal {v} is not finite")),
            Literal::F64(v) if !v.is_finite() => self.error(format!("the literal {v} is not finite")),
            _ => {}
        }
        literal.scalar()
    }

    fn binary(&mut self, e: &Expr, op: BinOp, a: Scalar, b: Scalar, b_expr: &Expr) -> Option<Scalar> {
        use BinOp::*;
        let shift = matches!(op, Shl | Shr);
        let wanted = if shift { Scalar::I32 } else { a };
        if b != wanted {
            let what = if shift { "a shift count" } else { "the right operand" };
            let text = self.names.expr(e);
            self.error(format!("{what} in `{text}` is of type {}, expected {}", b.name(), wanted.name()));
        }
        let arithmetic = a.is_integer() || matches!(a, Scalar::F32 | Scalar::F64);
        let right = match op {
            Add | Sub | Mul | Div | Lt | Le | Gt | Ge => arithmetic,
            Eq | Ne => arithmetic || a == Scalar::Bool,
            And | Or => a.is_integer() || a == Scalar::Bool,
            Min | Max | Rem | Xor | Shl | Shr => a.is_integer(),
            Pack { low, high } => a == Scalar::I32 && low.max(high) <= 2,
        };
        if !right {
            self.error(format!("`{}` does not apply to type {}", self.names.expr(e), a.name()));
        }
        if let Expr::Lit(Literal::Int(n, _)) = b_expr {
            if shift && !(0..a.bytes() as i64 * 8).contains(n) {
                self.error(format!(
                    "a shift by {n} in `{}`: {} has {} bits",
                    self.names.expr(e),
                    a.name(),
                    a.bytes() * 8
                ));
            }
            if matches!(op, Div | Rem) && *n == 0 {
                self.error(format!("a division by 0 in `{}`", self.names.expr(e)));
            }
        }
        Some(if op.is_comparison() { Scalar::Bool } else { a })
    }
}

/// Whether a type casts to another.
fn casts(from: Scalar, to: Scalar) -> bool {
    match (from, to) {
        (from, to) if from == to => true,
        (Scalar::U8, other) | (other, Scalar::U8) => other.is_integer(),
        (from, to) if from.is_storage() => to == Scalar::F32,
        (from, to) if to.is_storage() => from == Scalar::F32,
        (Scalar::Bool, to) => to.is_integer(),
        (_, to) => to != Scalar::Bool,
    }
}
