//! rewrite: consecutive statements that differ by positions alone → a loop that the compiler unrolls
//!
//! Schedules write some loops out as they build a kernel. A reader wants the loop, and compilers make the same code of
//! either. Positions must grow by equal steps from copy to copy; weights must agree.

use super::merge::{Merge, Varied, Varying, declared_in};
use crate::back::facts::Facts;
use crate::ir::valid::KernelInfo;
use crate::ir::visit::{each_element_mut, each_stmt, each_stmt_mut};
use crate::ir::*;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The most statements in the body of a new loop.
const LONGEST: usize = 32;
/// Name of new loop variables.
const LOOP_VARIABLE: &str = "i";
/// The most new loops of a kernel.
const MOST_LOOPS: usize = 256;
/// Lines that a loop takes besides its body.
const LOOP: usize = 3;

/// The kernel with loops for repeated statements.
pub fn reroll(kernel: &Kernel, info: &KernelInfo) -> Kernel {
    let mut wide = kernel.clone();
    let var = Local { name: LOOP_VARIABLE.into(), scalar: Scalar::I32, len: None };
    wide.locals.extend(std::iter::repeat_n(var, MOST_LOOPS));
    let locals = wide.locals.clone();
    let mut pass = Pass { facts: &Facts::of(&wide, info), locals, used: kernel.locals.len() };
    let mut body = kernel.body.clone();
    pass.body(&mut body);
    pass.locals.truncate(pass.used);
    let locals = pass.locals;
    Kernel { body, locals, ..wide }
}

struct Pass<'a> {
    facts: &'a Facts<'a>,
    /// The kernel's locals, and variables for new loops.
    locals: Vec<Local>,
    used: usize,
}

/// A run of copies: the statements of each, their number, and the lines saved.
struct Run {
    period: usize,
    copies: usize,
    saved: usize,
}

/// Copies as one loop.
struct Loop {
    statements: Vec<Stmt>,
    /// Register arrays of the copies that are read after the loop: each becomes a part of one array, from an element
    /// on.
    parts: BTreeMap<LocalId, (LocalId, i64)>,
    /// Lengths of these arrays.
    lengths: Vec<(LocalId, u32)>,
}

impl Pass<'_> {
    fn body(&mut self, body: &mut Vec<Stmt>) {
        body.iter_mut().for_each(|s| s.each_body_mut(&mut |inner| self.body(inner)));
        for at in (0..body.len()).rev() {
            if let Some(inner) = once(&body[at]) {
                body.splice(at..=at, inner);
            }
        }
        // Waiting comes before declarations, so that loads stand together.
        for at in (1..body.len()).rev() {
            let waits = matches!(body[at], Stmt::WaitLaunches | Stmt::AllowLaunch);
            if waits && matches!(body[at - 1], Stmt::Declare(_)) {
                body.swap(at - 1, at);
            }
        }
        loop {
            let forms: Vec<u64> = body.iter().map(form).collect();
            let lines: Vec<usize> = body.iter().map(lines).collect();
            let mut best: Option<(usize, Run)> = None;
            for at in 0..body.len() {
                if let Some(run) = self.longest(body, &forms, &lines, at)
                    && best.as_ref().is_none_or(|(_, best)| run.saved > best.saved)
                {
                    best = Some((at, run));
                }
            }
            let Some((at, run)) = best else { return };
            let Some(made) = self.merged(body, at, run.period, run.copies) else { return };
            self.used += 1;
            for (local, length) in made.lengths {
                self.locals[local.0 as usize].len = Some(length);
            }
            let end = at + run.period * run.copies;
            each_element_mut(&mut body[end..], &mut |id, index| {
                if let Some((whole, first)) = made.parts.get(id) {
                    *id = *whole;
                    *index = Expr::i32(*first) + *index;
                }
            });
            body.splice(at..end, made.statements);
        }
    }

    /// The run from a statement on that saves most.
    fn longest(&self, body: &[Stmt], forms: &[u64], lines: &[usize], at: usize) -> Option<Run> {
        let mut best: Option<Run> = None;
        for period in 1..=LONGEST.min((body.len() - at) / 2) {
            let is_copy = |k: usize| (0..period).all(|i| forms.get(at + k * period + i) == Some(&forms[at + i]));
            let most = (1..).take_while(|k| is_copy(*k)).count() + 1;
            let each: usize = lines[at..at + period].iter().sum();
            // A loop of three or more copies is worth as many lines: kernels of other heights have it too.
            let saved = |copies: usize| (each * (copies - 1) + usize::from(copies > 2)).saturating_sub(LOOP);
            let mut copies = most;
            while copies > 1 && saved(copies) > best.as_ref().map_or(0, |best| best.saved) {
                if self.merged(body, at, period, copies).is_some() {
                    best = Some(Run { period, copies, saved: saved(copies) });
                    break;
                }
                copies -= 1;
            }
        }
        best
    }

    /// The loop for these copies, if they differ by positions alone.
    fn merged(&self, body: &[Stmt], at: usize, period: usize, copies: usize) -> Option<Loop> {
        let (run, rest) = body[at..].split_at(period * copies);
        let var = LocalId(self.used as u32);
        if self.locals.get(self.used).is_none_or(|local| local.name != LOOP_VARIABLE) {
            return None;
        }
        let i = || Expr::Local(var);
        let mut vary = |varying: Varying| {
            let Varying::Int(values, scalar) = varying else { return None };
            let (first, step) = (values[0], values[1] - values[0]);
            let grows = values.windows(2).all(|pair| pair[1] - pair[0] == step);
            let i = if scalar == Scalar::I64 { i().cast(Scalar::I64) } else { i() };
            let is_index = matches!(scalar, Scalar::I32 | Scalar::I64);
            (grows && is_index).then(|| {
                Varied::Expr(match (first, step) {
                    (0, _) => i * Expr::int(step, scalar),
                    (_, 1..) => i * Expr::int(step, scalar) + Expr::int(first, scalar),
                    (..) => Expr::int(first, scalar) - i * Expr::int(-step, scalar),
                })
            })
        };
        let groups: Vec<&[Stmt]> = run.chunks(period).collect();
        let (data, types) = (|e: &Expr| self.facts.is_data(e), |e: &Expr| self.facts.type_of(e));
        let mut merge = Merge::new(vec![&self.locals; copies], &data, &types, &mut vary);
        let mut body = merge.list(&groups)?;
        if !merge.lengths.is_empty() {
            return None;
        }
        let mut read_later = Vec::new();
        let declared = declared_in(run);
        each_stmt(rest, &mut |s| {
            s.each_expr(&mut |e| read_later.extend(declared.iter().filter(|id| e.mentions(**id))));
            read_later.extend(s.sets().map(Place::local).filter(|id| declared.contains(id)));
        });
        let (mut parts, mut lengths, mut statements) = (BTreeMap::new(), Vec::new(), Vec::new());
        for id in declared_in(&body) {
            let copies_of = merge.copies_of(id);
            if !copies_of.iter().any(|copy| read_later.contains(copy)) {
                continue;
            }
            // A register array, declared in the body itself.
            let length = self.locals[id.0 as usize].len?;
            let at = body.iter().position(|s| *s == Stmt::Declare(id))?;
            body.remove(at);
            statements.push(Stmt::Declare(id));
            lengths.push((id, length * copies as u32));
            each_element_mut(&mut body, &mut |part, index| {
                if *part == id {
                    *index = i() * length as i32 + *index;
                }
            });
            parts.extend(copies_of.into_iter().enumerate().map(|(k, own)| (own, (id, k as i64 * i64::from(length)))));
        }
        let number = |v: usize| Expr::i32(v as i64);
        // Declarations alone leave nothing to repeat.
        if body.is_empty() {
            return Some(Loop { statements, parts, lengths });
        }
        statements.push(Stmt::For { var, from: number(0), to: number(copies), step: number(1), unroll: true, body });
        Some(Loop { statements, parts, lengths })
    }
}

/// The body of an unrolled loop with one turn.
fn once(s: &Stmt) -> Option<Vec<Stmt>> {
    let Stmt::For { var, from: Expr::Lit(Literal::Int(from, scalar)), to, step, unroll: true, body } = s else {
        return None;
    };
    let (Expr::Lit(Literal::Int(to, _)), Expr::Lit(Literal::Int(step, _))) = (to, step) else { return None };
    if from >= to || from + step < *to {
        return None;
    }
    let mut body = body.clone();
    each_stmt_mut(&mut body, &mut |s| {
        s.each_expr_mut(&mut |e| {
            e.each_mut(&mut |e| {
                match e {
                    Expr::Local(id) if id == var => *e = Expr::int(*from, *scalar),
                    // Folds what the number makes constant.
                    Expr::Binary(op, a, b) => *e = Expr::binary(*op, **a, **b),
                    _ => {}
                }
            });
        });
    });
    Some(body)
}

/// The form of a statement, without its positions: copies agree in it.
fn form(s: &Stmt) -> u64 {
    let mut hasher = DefaultHasher::new();
    each_stmt(std::slice::from_ref(s), &mut |s| {
        std::mem::discriminant(s).hash(&mut hasher);
        match s {
            Stmt::Comment(text) => text.hash(&mut hasher),
            Stmt::Part { name, .. } => name.hash(&mut hasher),
            Stmt::Load { space, lanes, cache, .. } => (space, lanes, cache).hash(&mut hasher),
            Stmt::Store { space, values, cache, .. } => (space, values.len(), cache).hash(&mut hasher),
            _ => {}
        }
    });
    hasher.finish()
}

/// The lines of a statement's text, roughly.
fn lines(s: &Stmt) -> usize {
    let mut count = 0;
    each_stmt(std::slice::from_ref(s), &mut |s| {
        count += match s {
            Stmt::For { unroll: true, .. } => 3,
            Stmt::If { otherwise, .. } if !otherwise.is_empty() => 3,
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } => 2,
            Stmt::Part { .. } => 0,
            _ => 1,
        };
    });
    count
}
