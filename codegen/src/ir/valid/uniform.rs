//! Uniformity: which threads share a value, and which reach a statement together.
//!
//! The whole block must reach a barrier; the whole warp must reach a shuffle, a ballot or a warp synchronisation. A
//! value is uniform if it is computed from uniform values. A local is uniform if all its assigned values are, and if
//! the assignments are reached uniformly, as seen from its declaration. (A local that only a divergent branch can see
//! may still be uniform within that branch.)

use super::{At, Finding};
use crate::ir::path::{Numbering, StmtId};
use crate::ir::print::Names;
use crate::ir::*;

/// The threads that share a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// All threads of the block that can see it.
    Block,
    /// All threads of a warp that can see it.
    Warp,
    /// The value is W·w + lane, with W lanes per warp and w ≥ 0 uniform over the warp. It differs between lanes, but
    /// divided by W it no longer does.
    Consecutive,
    /// Nothing is known.
    Thread,
}

impl Level {
    fn join(self, other: Level) -> Level {
        use Level::*;
        match (self, other) {
            (a, b) if a == b => a,
            (Block, Warp) | (Warp, Block) => Warp,
            _ => Thread,
        }
    }

    /// The level of control flow that depends on such a value.
    fn control(self) -> Level {
        match self {
            Level::Consecutive => Level::Thread,
            level => level,
        }
    }
}

/// The level of every local.
pub(super) fn levels(kernel: &Kernel, names: &Names) -> Vec<Level> {
    let mut analysis = Analysis::new(kernel, names, vec![None; kernel.locals.len()]);
    // Levels only rise, so this ends. Loops carry late assignments to early reads, hence the repetition.
    loop {
        let before = analysis.levels.clone();
        analysis.body(&kernel.body);
        if analysis.levels == before {
            break;
        }
        let levels = std::mem::take(&mut analysis.levels);
        analysis = Analysis::new(kernel, names, levels);
    }
    analysis.levels.into_iter().map(|l| l.unwrap_or(Level::Block)).collect()
}

/// Barriers and shuffles in control flow that is not uniform.
pub(super) fn check(kernel: &Kernel, names: &Names, levels: &[Level]) -> Vec<Finding> {
    let mut analysis = Analysis::new(kernel, names, levels.iter().map(|l| Some(*l)).collect());
    analysis.body(&kernel.body);
    analysis.findings
}

struct Analysis<'a> {
    kernel: &'a Kernel,
    /// `None` before the first assignment.
    levels: Vec<Option<Level>>,
    /// The control flow around the current statement, outermost first: its level, and the condition in words.
    around: Vec<(Level, String)>,
    /// Depth in `around` at which each local was declared.
    depth: Vec<usize>,
    names: &'a Names,
    numbering: Numbering,
    here: StmtId,
    findings: Vec<Finding>,
}

impl<'a> Analysis<'a> {
    fn new(kernel: &'a Kernel, names: &'a Names, levels: Vec<Option<Level>>) -> Analysis<'a> {
        Analysis {
            kernel,
            levels,
            around: Vec::new(),
            depth: vec![0; kernel.locals.len()],
            names,
            numbering: Numbering::default(),
            here: StmtId(0),
            findings: Vec::new(),
        }
    }

    fn threads(&self) -> u32 {
        self.kernel.launch.block.iter().product()
    }

    fn level(&self, e: &Expr) -> Level {
        if self.threads() == 1 {
            return Level::Block;
        }
        let ([bx, by, bz], warp) = (self.kernel.launch.block, self.kernel.warp.max(1));
        match e {
            Expr::Lit(_) | Expr::Const(_) | Expr::Param(_) => Level::Block,
            Expr::Local(l) => self.levels[l.0 as usize].unwrap_or(Level::Block),
            Expr::Elem(l, i) => {
                self.levels[l.0 as usize].unwrap_or(Level::Block).control().join(self.level(i).control())
            }
            Expr::Builtin(b) => match b {
                Builtin::ThreadX if bx == 1 => Level::Block,
                Builtin::ThreadX if bx % warp == 0 => Level::Consecutive,
                Builtin::ThreadX => Level::Thread,
                Builtin::ThreadY if by == 1 => Level::Block,
                Builtin::ThreadY if bx % warp == 0 => Level::Warp,
                Builtin::ThreadY => Level::Thread,
                Builtin::ThreadZ if bz == 1 => Level::Block,
                Builtin::ThreadZ if (bx * by) % warp == 0 => Level::Warp,
                Builtin::ThreadZ => Level::Thread,
                Builtin::Lane => Level::Consecutive,
                _ => Level::Block,
            },
            Expr::Unary(_, a) => self.level(a).control(),
            Expr::Cast(to, a) => match self.level(a) {
                Level::Consecutive if matches!(to, Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64) => {
                    Level::Consecutive
                }
                level => level.control(),
            },
            Expr::Binary(op, a, b) => {
                let (left, right) = (self.level(a), self.level(b));
                match (op, left, right) {
                    (BinOp::Div, Level::Consecutive, Level::Block | Level::Warp) if is_multiple(b, warp) => Level::Warp,
                    (BinOp::Shr, Level::Consecutive, _) if is_shift(b, warp) => Level::Warp,
                    (BinOp::Add, Level::Consecutive, Level::Block | Level::Warp) if is_multiple(b, warp) => {
                        Level::Consecutive
                    }
                    (BinOp::Add, Level::Block | Level::Warp, Level::Consecutive) if is_multiple(a, warp) => {
                        Level::Consecutive
                    }
                    _ => left.control().join(right.control()),
                }
            }
            Expr::Select(c, a, b) => {
                self.level(c).control().join(self.level(a).control()).join(self.level(b).control())
            }
            Expr::Mirror(a, b) | Expr::MirrorNear(a, b) | Expr::Wrap(a, b) | Expr::Dot { pair: a, sum: b, .. } => {
                self.level(a).control().join(self.level(b).control())
            }
        }
    }

    fn declare(&mut self, id: LocalId) {
        self.depth[id.0 as usize] = self.around.len();
    }

    fn assign(&mut self, place: &Place, value: Level) {
        let (value, id) = match place {
            Place::Local(id) => (value, *id),
            // Elements count as one value: the index must be uniform as well.
            Place::Elem(id, index) => (value.control().join(self.level(index).control()), *id),
        };
        // If only some of the threads that can see it reach this, the others hold another value.
        let around = self.around[self.depth[id.0 as usize]..].iter().map(|(level, _)| *level);
        let value = match around.fold(Level::Block, Level::join) {
            Level::Block => value,
            control => value.control().join(control),
        };
        let level = &mut self.levels[id.0 as usize];
        *level = Some(level.map_or(value, |l| l.join(value)));
    }

    /// The level of a load: loading one place of an array that nothing writes is uniform.
    fn loaded(&self, space: Space, index: &Expr) -> Level {
        let Space::Global(array) = space else { return self.unknown() };
        match self.kernel.params[array.0 as usize].kind {
            ParamKind::Pointer(_, Access::Read) => self.level(index).control(),
            _ => self.unknown(),
        }
    }

    /// The level of values from memory or from another lane.
    fn unknown(&self) -> Level {
        if self.threads() == 1 { Level::Block } else { Level::Thread }
    }

    fn inside(&mut self, level: Level, condition: String, body: &[Stmt]) {
        self.around.push((level.control(), condition));
        self.body(body);
        self.around.pop();
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.here = self.numbering.next(stmt);
            match stmt {
                Stmt::Comment(_) | Stmt::Store { .. } => {}
                Stmt::CopyAsync { .. } | Stmt::CommitCopies | Stmt::WaitCopies(_) => {}
                Stmt::WaitLaunches | Stmt::AllowLaunch => {}
                Stmt::Let(id, e) => {
                    self.declare(*id);
                    self.assign(&Place::Local(*id), self.level(e));
                }
                Stmt::Declare(id) => self.declare(*id),
                Stmt::Set(place, e) => self.assign(place, self.level(e)),
                Stmt::Load { dst, space, index, .. } => self.assign(dst, self.loaded(*space, index)),
                Stmt::Shuffle { dst, .. } => {
                    self.assign(dst, self.unknown());
                    self.reached_by_warps("a shuffle");
                }
                Stmt::Ballot { dst, .. } => {
                    let one_warp = self.threads() <= self.kernel.warp;
                    self.assign(dst, if one_warp { Level::Block } else { Level::Warp });
                    self.reached_by_warps("a ballot");
                }
                Stmt::SyncWarp => self.reached_by_warps("a warp synchronisation"),
                Stmt::Barrier => {
                    self.reached_by(&[Level::Block], "a barrier must be reached by all threads of the block or none")
                }
                Stmt::If { cond, then, otherwise } => {
                    let (level, text) = (self.level(cond), self.names.head(stmt, self.kernel));
                    self.inside(level, text.clone(), then);
                    self.inside(level, text, otherwise);
                }
                Stmt::For { var, from, to, step, body, .. } => {
                    // The number of iterations depends on all three; the variable's value on two.
                    let value = self.level(from).control().join(self.level(step).control());
                    let control = value.join(self.level(to).control());
                    let text = self.names.head(stmt, self.kernel);
                    self.around.push((control, text));
                    self.declare(*var);
                    self.assign(&Place::Local(*var), value);
                    self.body(body);
                    self.around.pop();
                }
                Stmt::While { cond, body } => {
                    let (level, text) = (self.level(cond), self.names.head(stmt, self.kernel));
                    self.inside(level, text, body);
                }
                Stmt::Part { body, .. } => self.body(body),
            }
        }
    }

    fn find(&mut self, message: String) {
        self.findings.push(Finding { at: At::Stmt(self.here), message });
    }

    fn reached_by_warps(&mut self, what: &str) {
        self.reached_by(
            &[Level::Block, Level::Warp],
            &format!("{what} must be reached by all threads of a warp or none"),
        );
        if !self.threads().is_multiple_of(self.kernel.warp) {
            self.find(format!("{what} needs whole warps; the block has {} threads", self.threads()));
        }
    }

    fn reached_by(&mut self, allowed: &[Level], rule: &str) {
        if let Some((level, text)) = self.around.iter().find(|(level, _)| !allowed.contains(level)) {
            let whom = if *level == Level::Warp { "between warps" } else { "between threads" };
            self.find(format!("{rule}, but `{text}` may differ {whom}"));
        }
    }
}

/// Whether the expression's form shows a non-negative multiple of `lanes`.
fn is_multiple(e: &Expr, lanes: u32) -> bool {
    match e {
        Expr::Lit(Literal::Int(v, _)) => *v > 0 && v % i64::from(lanes) == 0,
        Expr::Binary(BinOp::Mul, a, b) => {
            (is_multiple(a, lanes) && is_natural(b)) || (is_natural(a) && is_multiple(b, lanes))
        }
        Expr::Binary(BinOp::Shl, a, b) => is_natural(a) && is_shift(b, lanes),
        Expr::Binary(BinOp::Add, a, b) => is_multiple(a, lanes) && is_multiple(b, lanes),
        Expr::Cast(Scalar::I32 | Scalar::I64, a) => is_multiple(a, lanes),
        _ => false,
    }
}

/// Whether the expression's form shows a non-negative value.
fn is_natural(e: &Expr) -> bool {
    match e {
        Expr::Lit(Literal::Int(v, _)) => *v >= 0,
        Expr::Builtin(_) => true,
        Expr::Binary(BinOp::Mul | BinOp::Add, a, b) => is_natural(a) && is_natural(b),
        _ => false,
    }
}

/// Whether the expression is a literal shift count that multiplies or divides by a multiple of `lanes`.
fn is_shift(e: &Expr, lanes: u32) -> bool {
    matches!(e, Expr::Lit(Literal::Int(bits, _)) if *bits >= i64::from(lanes.ilog2()))
}
