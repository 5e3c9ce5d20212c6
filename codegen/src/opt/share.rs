//! rewrite: kernels that differ only in integers, cache hints and waiting → one kernel with constants of an instance
//!
//! Schedules build a kernel for each shape, alignment and overlap. In text with templates they are one, with an
//! instance for each. Constants are named after the numbers of a shape where these explain the difference: a literal
//! that is 20, 12 and 20 is `2 * Rows - 4` if the shapes' rows are 12, 8 and 12.

use super::merge::{Merge, Varied, Varying};
use crate::back::facts::Facts;
use crate::ir::valid::{KernelInfo, validate};
use crate::ir::*;

/// A kernel, with the numbers of its shape by name.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The kernel.
    pub kernel: Kernel,
    /// Numbers that tell instances apart, in the order in which constants are named after them.
    pub numbers: Vec<(&'static str, i64)>,
}

/// Kernels as one.
#[derive(Clone, Debug)]
pub struct Template {
    /// The kernel with constants; they have the values of the first instance.
    pub kernel: Kernel,
    /// Facts about its first instance. It overlaps with other launches if any instance does.
    pub info: KernelInfo,
    /// Lengths of register and shared arrays that differ.
    pub lengths: Vec<(LocalId, Expr)>,
    /// Shared arrays whose lengths differ.
    pub shared: Vec<(SharedId, Expr)>,
    /// Resident blocks to ask for, if they differ.
    pub min_blocks: Option<Expr>,
    /// Whether instances differ in waiting: the constant that tells.
    pub waits: Option<ConstId>,
    /// For each instance: its place among the kernels, and its constants.
    pub instances: Vec<(usize, Vec<Literal>)>,
    /// For each instance: [`Kernel::settled`] and [`Kernel::launch`].
    own: Vec<(Vec<ParamId>, Launch)>,
}

impl Template {
    /// The kernel of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn instance(&self, at: usize) -> Kernel {
        let mut kernel = self.kernel.clone();
        for (constant, value) in kernel.consts.iter_mut().zip(&self.instances[at].1) {
            constant.value = *value;
        }
        let length = |e: &Expr| value(&kernel.consts, e).expect("lengths are sums of constants") as u32;
        let locals: Vec<(LocalId, u32)> = self.lengths.iter().map(|(id, e)| (*id, length(e))).collect();
        let shared: Vec<(SharedId, u32)> = self.shared.iter().map(|(id, e)| (*id, length(e))).collect();
        let blocks = self.min_blocks.as_ref().map(length);
        locals.into_iter().for_each(|(id, n)| kernel.locals[id.0 as usize].len = Some(n));
        shared.into_iter().for_each(|(id, n)| kernel.shared[id.0 as usize].len = n);
        kernel.min_blocks = blocks.unwrap_or(kernel.min_blocks);
        (kernel.settled, kernel.launch) = self.own[at].clone();
        settle(&mut kernel.body, &kernel.consts);
        kernel
    }
}

/// The value of a sum or product of constants.
fn value(consts: &[Const], e: &Expr) -> Option<i64> {
    match e {
        Expr::Lit(Literal::Int(v, _)) => Some(*v),
        Expr::Const(id) => match consts[id.0 as usize].value {
            Literal::Int(v, _) => Some(v),
            _ => None,
        },
        Expr::Cast(_, a) => value(consts, a),
        Expr::Binary(op, a, b) => {
            let (a, b) = (value(consts, a)?, value(consts, b)?);
            match op {
                BinOp::Add => Some(a + b),
                BinOp::Sub => Some(a - b),
                BinOp::Mul => Some(a * b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Decides the branches that constants decide.
fn settle(body: &mut Vec<Stmt>, consts: &[Const]) {
    for at in (0..body.len()).rev() {
        body[at].each_body_mut(&mut |inner| settle(inner, consts));
        if let Stmt::If { cond: Expr::Const(id), then, otherwise } = &mut body[at] {
            let taken = if consts[id.0 as usize].value == Literal::Bool(true) { then } else { otherwise };
            let taken = std::mem::take(taken);
            body.splice(at..=at, taken);
        }
    }
}

/// Groups kernels that can be one. Each group begins with its first kernel.
pub fn share(all: &[Instance]) -> Vec<Template> {
    let mut groups: Vec<(Vec<usize>, Template)> = Vec::new();
    'kernels: for index in 0..all.len() {
        for (members, template) in &mut groups {
            if head(&all[members[0]].kernel) != head(&all[index].kernel) {
                continue;
            }
            members.push(index);
            match merged(all, members) {
                Some(found) => {
                    *template = found;
                    continue 'kernels;
                }
                None => {
                    members.pop();
                }
            }
        }
        let template = merged(all, &[index]).expect("a kernel is one with itself");
        groups.push((vec![index], template));
    }
    groups.into_iter().map(|(_, template)| template).collect()
}

/// The parts of kernels that never differ in a template.
fn head(kernel: &Kernel) -> (&str, &[Param], [u32; 3], u32, usize) {
    (&kernel.name, &kernel.params, kernel.launch.block, kernel.warp, kernel.shared.len())
}

/// The constants of a template being made.
struct Constants<'a> {
    members: Vec<&'a Instance>,
    consts: Vec<(String, Vec<Literal>)>,
}

impl Constants<'_> {
    fn known(&mut self, name: &str, values: Vec<Literal>) -> ConstId {
        let at = self.consts.iter().position(|(_, known)| *known == values).unwrap_or_else(|| {
            let taken = |name: &str| self.consts.iter().any(|(known, _)| known == name);
            let numbered = || (2..).map(|n| format!("{name}_{n}")).find(|name| !taken(name));
            let name = if taken(name) { numbered().unwrap_or_default() } else { name.to_owned() };
            self.consts.push((name, values));
            self.consts.len() - 1
        });
        ConstId(at as u32)
    }

    /// The constant for a truth that differs.
    fn flag(&mut self, name: &str, values: &[bool]) -> Expr {
        Expr::Const(self.known(name, values.iter().map(|v| Literal::Bool(*v)).collect()))
    }

    /// An expression of constants for an integer that differs: `factor * Number + rest`, if some number explains it.
    fn int(&mut self, values: &[i64], scalar: Scalar) -> Expr {
        let mut best: Option<(i64, usize, i64, i64)> = None;
        for at in 0..self.members[0].numbers.len() {
            let number = |member: usize| self.members[member].numbers[at].1;
            let Some(other) = (1..values.len()).find(|m| number(*m) != number(0)) else { continue };
            let (rise, run) = (values[other] - values[0], number(other) - number(0));
            if rise % run != 0 {
                continue;
            }
            let factor = rise / run;
            let rest = values[0] - factor * number(0);
            if (0..values.len()).all(|m| factor * number(m) + rest == values[m]) {
                let weight = factor.abs() - 1 + 2 * rest.abs();
                if best.is_none_or(|best| weight < best.0) {
                    best = Some((weight, at, factor, rest));
                }
            }
        }
        let cast = |e: Expr| if scalar == Scalar::I32 { e } else { e.cast(scalar) };
        let int = |m: &i64| Literal::Int(*m, Scalar::I32);
        match best {
            Some((_, at, factor, rest)) => {
                let name = camel(self.members[0].numbers[at].0);
                let numbers: Vec<i64> = self.members.iter().map(|m| m.numbers[at].1).collect();
                let number = cast(Expr::Const(self.known(&name, numbers.iter().map(int).collect())));
                Expr::int(factor, scalar) * number + Expr::int(rest, scalar)
            }
            None => cast(Expr::Const(self.known("N", values.iter().map(int).collect()))),
        }
    }
}

/// `whole_sectors` as `WholeSectors`.
fn camel(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').filter(|word| !word.is_empty()).map(word).collect()
}

/// The template of these kernels, if they can be one.
fn merged(all: &[Instance], members: &[usize]) -> Option<Template> {
    let kernels: Vec<&Kernel> = members.iter().map(|m| &all[*m].kernel).collect();
    let first = kernels[0];
    let mut info = validate(first).ok()?;
    let facts = Facts::of(first, &info);
    let constants =
        std::cell::RefCell::new(Constants { members: members.iter().map(|m| &all[*m]).collect(), consts: Vec::new() });
    let mut waits = None;
    let mut vary = |varying: Varying| {
        let mut constants = constants.borrow_mut();
        Some(match varying {
            Varying::Int(values, scalar) if matches!(scalar, Scalar::I32 | Scalar::I64) => {
                Varied::Expr(constants.int(values, scalar))
            }
            Varying::Int(..) => return None,
            Varying::Present(present, s) => {
                let name = match s {
                    Stmt::WaitLaunches => "Waits",
                    Stmt::WaitCopies(_) => "Flight",
                    _ => "Allows",
                };
                Varied::Expr(constants.flag(name, present))
            }
            // What differs is in the constants.
            Varying::Comments => Varied::Nothing,
            Varying::Cache(all) => {
                let is = |cache: Cache| all.iter().map(|c| *c == cache).collect::<Vec<_>>();
                let (one, flags) = match () {
                    _ if all.contains(&Cache::Kept) => (Cache::Kept, is(Cache::Kept)),
                    _ if all.contains(&Cache::ReadOnly) => (Cache::ReadOnly, is(Cache::ReadOnly)),
                    _ => return None,
                };
                if !all.iter().all(|c| matches!(c, Cache::Default) || *c == one) {
                    return None;
                }
                let name = if one == Cache::Kept { "Keeps" } else { "ReadsOnly" };
                let Expr::Const(id) = constants.flag(name, &flags) else { return None };
                Varied::Cache(if one == Cache::Kept { Cache::KeptIf(id) } else { Cache::ReadOnlyIf(id) })
            }
        })
    };
    let (data, types) = (|e: &Expr| facts.is_data(e), |e: &Expr| facts.type_of(e));
    let locals = kernels.iter().map(|kernel| kernel.locals.as_slice()).collect();
    let mut merge = Merge::new(locals, &data, &types, &mut vary);
    let bodies: Vec<&[Stmt]> = kernels.iter().map(|kernel| kernel.body.as_slice()).collect();
    let body = merge.list(&bodies)?;
    let differ = std::mem::take(&mut merge.lengths);
    let mut constants = constants.borrow_mut();
    let mut lengths = Vec::new();
    for (local, values) in differ {
        let values: Vec<i64> = values.into_iter().map(i64::from).collect();
        lengths.push((local, constants.int(&values, Scalar::I32)));
    }
    let mut shared = Vec::new();
    for (at, array) in first.shared.iter().enumerate() {
        if kernels.iter().any(|k| k.shared[at].scalar != array.scalar || k.shared[at].name != array.name) {
            return None;
        }
        let values: Vec<i64> = kernels.iter().map(|k| k.shared[at].len.into()).collect();
        if values.iter().any(|v| *v != values[0]) {
            shared.push((SharedId(at as u32), constants.int(&values, Scalar::I32)));
        }
    }
    let blocks: Vec<i64> = kernels.iter().map(|k| k.min_blocks.into()).collect();
    let min_blocks = match blocks.iter().all(|b| *b == blocks[0]) {
        true => None,
        false if blocks.contains(&0) => return None,
        false => {
            let values = blocks.iter().map(|b| Literal::Int(*b, Scalar::I32)).collect();
            Some(Expr::Const(constants.known("MinBlocks", values)))
        }
    };
    let overlaps = |kernel: &Kernel| {
        let launches = |s: &Stmt| matches!(s, Stmt::WaitLaunches | Stmt::AllowLaunch);
        crate::ir::visit::any_stmt(&kernel.body, &launches)
    };
    let which: Vec<bool> = kernels.iter().map(|kernel| overlaps(kernel)).collect();
    if which.iter().any(|w| *w != which[0]) {
        let Expr::Const(id) = constants.flag("Overlaps", &which) else { return None };
        waits = Some(id);
    }
    let consts = constants.consts.iter();
    let consts: Vec<Const> = consts.map(|(name, values)| Const { name: name.clone(), value: values[0] }).collect();
    let values = |m: usize| constants.consts.iter().map(|(_, values)| values[m]).collect();
    let instances = members.iter().enumerate().map(|(m, index)| (*index, values(m))).collect();
    let kernel = Kernel { consts, body, ..first.clone() };
    info.overlaps = which.contains(&true);
    let own = kernels.iter().map(|kernel| (kernel.settled.clone(), kernel.launch.clone())).collect();
    Some(Template { kernel, info, lengths, shared, min_blocks, waits, instances, own })
}
