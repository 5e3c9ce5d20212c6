//! Several copies of the same statements → one text, and the integers in which the copies differ.
//!
//! [`Merge`] walks through the copies side by side. Where all agree, the merged statement is theirs. Where they differ
//! by integer literals, the caller gives the merged expression: one of a loop variable (`reroll`), or of constants of
//! an instance (`share`). Only positions of samples vary: indices, and integers that no sample flows into. Weights and
//! shifts of steps never do.
//!
//! A sum that folding has shortened, such as `start` for `start + 0 * pitch`, is compared as a linear form.

use crate::ir::visit::each_stmt;
use crate::ir::*;
use std::collections::BTreeMap;

/// The use of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    /// A position or a count, whose literals may vary.
    Index,
    /// A sample, whose literals agree.
    Data,
}

/// The kinds of difference, and the values of all copies.
pub enum Varying<'v> {
    /// Integers of a type.
    Int(&'v [i64], Scalar),
    /// Cache hints.
    Cache(&'v [Cache]),
    /// Whether each copy has this statement.
    Present(&'v [bool], &'v Stmt),
    /// Comments of one statement, which differ.
    Comments,
}

/// The caller's text for a difference.
pub enum Varied {
    Expr(Expr),
    Cache(Cache),
    /// The merged text does without.
    Nothing,
}

/// A walk through copies of statements. Locals that the first copy declares stand for those of the others.
pub struct Merge<'a> {
    /// Locals that carry samples, by id in the first copy.
    data: &'a dyn Fn(&Expr) -> bool,
    type_of: &'a dyn Fn(&Expr) -> Scalar,
    vary: &'a mut dyn FnMut(Varying) -> Option<Varied>,
    /// For each copy: its local for a local of the first.
    maps: Vec<BTreeMap<LocalId, LocalId>>,
    /// Arenas of the copies.
    locals: Vec<&'a [Local]>,
    /// Lengths of register arrays that differ: the local, and the length of each copy.
    pub lengths: Vec<(LocalId, Vec<u32>)>,
}

/// One field of all copies of a statement, if all have its form.
macro_rules! all {
    ($copies:expr, $pattern:pat => $value:expr) => {
        $copies.iter().map(|copy| if let $pattern = copy { Some($value) } else { None }).collect::<Option<Vec<_>>>()?
    };
}

impl<'a> Merge<'a> {
    /// A walk through copies with these arenas, one for each.
    pub fn new(
        locals: Vec<&'a [Local]>,
        data: &'a dyn Fn(&Expr) -> bool,
        type_of: &'a dyn Fn(&Expr) -> Scalar,
        vary: &'a mut dyn FnMut(Varying) -> Option<Varied>,
    ) -> Merge<'a> {
        let maps = vec![BTreeMap::new(); locals.len()];
        Merge { data, type_of, vary, maps, locals, lengths: Vec::new() }
    }

    fn agree<T: PartialEq>(values: &[T]) -> Option<()> {
        values.iter().all(|v| *v == values[0]).then_some(())
    }

    fn int(&mut self, values: &[i64], scalar: Scalar) -> Option<Expr> {
        match (self.vary)(Varying::Int(values, scalar))? {
            Varied::Expr(e) => Some(e),
            Varied::Cache(_) | Varied::Nothing => None,
        }
    }

    /// Notes that these locals are one.
    fn declare(&mut self, ids: &[LocalId]) -> Option<LocalId> {
        let own = |copy: usize| &self.locals[copy][ids[copy].0 as usize];
        let lengths: Vec<Option<u32>> = (0..ids.len()).map(|copy| own(copy).len).collect();
        if (0..ids.len())
            .any(|copy| own(copy).scalar != own(0).scalar || own(copy).len.is_some() != own(0).len.is_some())
        {
            return None;
        }
        if Self::agree(&lengths).is_none() {
            self.lengths.push((ids[0], lengths.into_iter().flatten().collect()));
        }
        for (map, id) in self.maps.iter_mut().zip(ids) {
            map.insert(ids[0], *id);
        }
        Some(ids[0])
    }

    /// The local of all copies, if it is one.
    fn local(&self, ids: &[LocalId]) -> Option<LocalId> {
        let is = |copy: usize| *self.maps[copy].get(&ids[0]).unwrap_or(&ids[0]) == ids[copy];
        (0..ids.len()).all(is).then_some(ids[0])
    }

    fn place(&mut self, places: &[&Place]) -> Option<Place> {
        let id = self.local(&places.iter().map(|p| p.local()).collect::<Vec<_>>())?;
        let indices: Vec<Option<&Expr>> = places.iter().map(|p| p.index()).collect();
        match indices.iter().flatten().count() {
            0 => Some(Place::Local(id)),
            n if n == places.len() => {
                Some(Place::Elem(id, self.expr(&indices.into_iter().flatten().collect::<Vec<_>>(), Spot::Index)?))
            }
            _ => None,
        }
    }

    fn spot(&self, e: &Expr) -> Spot {
        if !(self.data)(e) && (self.type_of)(e).is_signed_integer() { Spot::Index } else { Spot::Data }
    }

    /// The statements of all copies, side by side. Waiting for launches may be missing in some.
    pub fn list(&mut self, copies: &[&[Stmt]]) -> Option<Vec<Stmt>> {
        let mut at = vec![0; copies.len()];
        let mut out = Vec::new();
        loop {
            let firsts: Vec<Option<&Stmt>> = copies.iter().zip(&at).map(|(copy, at)| copy.get(*at)).collect();
            let launches = |s: &Option<&Stmt>| matches!(s, Some(Stmt::WaitLaunches | Stmt::AllowLaunch));
            if let Some(one) = firsts.iter().find(|s| launches(s)).copied().flatten() {
                let present: Vec<bool> = firsts.iter().map(|s| *s == Some(one)).collect();
                if present.iter().all(|p| *p) {
                    out.push(one.clone());
                } else {
                    let Varied::Expr(cond) = (self.vary)(Varying::Present(&present, one))? else { return None };
                    out.push(Stmt::If { cond, then: vec![one.clone()], otherwise: Vec::new() });
                }
                at.iter_mut().zip(present).for_each(|(at, present)| *at += usize::from(present));
                continue;
            }
            match firsts.iter().flatten().count() {
                0 => return Some(out),
                n if n == copies.len() => {
                    let firsts: Vec<&Stmt> = firsts.into_iter().flatten().collect();
                    self.several(&firsts, &mut out)?;
                    at.iter_mut().for_each(|at| *at += 1);
                }
                _ => return None,
            }
        }
    }

    /// Adds the merged statement, or none for comments that differ, or one for each number of groups to wait for.
    fn several(&mut self, ss: &[&Stmt], out: &mut Vec<Stmt>) -> Option<()> {
        let differ = Self::agree(ss).is_none();
        match ss[0] {
            Stmt::Comment(_) if differ && ss.iter().all(|s| matches!(s, Stmt::Comment(_))) => {
                (self.vary)(Varying::Comments)?;
            }
            Stmt::WaitCopies(_) if differ => {
                let mut counts = all!(ss, Stmt::WaitCopies(n) => *n);
                counts.sort_unstable();
                counts.dedup();
                for n in counts {
                    let one = Stmt::WaitCopies(n);
                    let present: Vec<bool> = ss.iter().map(|s| **s == one).collect();
                    let Varied::Expr(cond) = (self.vary)(Varying::Present(&present, &one))? else { return None };
                    out.push(Stmt::If { cond, then: vec![one], otherwise: Vec::new() });
                }
            }
            _ => out.push(self.stmt(ss)?),
        }
        Some(())
    }

    fn bodies<'s>(&mut self, bodies: Vec<&'s Vec<Stmt>>) -> Option<Vec<Stmt>> {
        self.list(&bodies.into_iter().map(Vec::as_slice).collect::<Vec<&'s [Stmt]>>())
    }

    fn stmt(&mut self, ss: &[&Stmt]) -> Option<Stmt> {
        Some(match ss[0] {
            Stmt::Let(..) => {
                let all = all!(ss, Stmt::Let(id, e) => (*id, e));
                let (ids, values): (Vec<_>, Vec<_>) = all.into_iter().unzip();
                let spot = self.spot(values[0]);
                let value = self.expr(&values, spot)?;
                Stmt::Let(self.declare(&ids)?, value)
            }
            Stmt::Declare(_) => Stmt::Declare(self.declare(&all!(ss, Stmt::Declare(id) => *id))?),
            Stmt::Set(first, _) => {
                let (places, values): (Vec<_>, Vec<_>) = all!(ss, Stmt::Set(p, e) => (p, e)).into_iter().unzip();
                let target = Expr::Local(first.local());
                let spot = if (self.data)(&target) { Spot::Data } else { self.spot(values[0]) };
                Stmt::Set(self.place(&places)?, self.expr(&values, spot)?)
            }
            Stmt::Load { space, lanes, .. } => {
                let dst = self.place(&all!(ss, Stmt::Load { dst, .. } => dst))?;
                let index = self.expr(&all!(ss, Stmt::Load { index, .. } => index), Spot::Index)?;
                Self::agree(&all!(ss, Stmt::Load { space, lanes, .. } => (*space, *lanes)))?;
                let cache = self.cache(&all!(ss, Stmt::Load { cache, .. } => *cache))?;
                Stmt::Load { dst, space: *space, index, lanes: *lanes, cache }
            }
            Stmt::Store { space, values, .. } => {
                let index = self.expr(&all!(ss, Stmt::Store { index, .. } => index), Spot::Index)?;
                Self::agree(&all!(ss, Stmt::Store { space, values, .. } => (*space, values.len())))?;
                let cache = self.cache(&all!(ss, Stmt::Store { cache, .. } => *cache))?;
                let value =
                    |m: &mut Self, i: usize| m.expr(&all!(ss, Stmt::Store { values, .. } => &values[i]), Spot::Data);
                let values = (0..values.len()).map(|i| value(self, i)).collect::<Option<Vec<_>>>()?;
                Stmt::Store { space: *space, index, values, cache }
            }
            Stmt::Shuffle { lane, .. } => {
                let dst = self.place(&all!(ss, Stmt::Shuffle { dst, .. } => dst))?;
                let src = self.expr(&all!(ss, Stmt::Shuffle { src, .. } => src), Spot::Data)?;
                let lane = match lane {
                    Lane::Index(_) => {
                        let all = all!(ss, Stmt::Shuffle { lane: Lane::Index(e), .. } => e);
                        Lane::Index(self.expr(&all, Spot::Index)?)
                    }
                    lane => {
                        Self::agree(&all!(ss, Stmt::Shuffle { lane, .. } => lane))?;
                        *lane
                    }
                };
                Stmt::Shuffle { dst, src, lane }
            }
            Stmt::Ballot { .. } => {
                let dst = self.place(&all!(ss, Stmt::Ballot { dst, .. } => dst))?;
                Stmt::Ballot { dst, cond: self.expr(&all!(ss, Stmt::Ballot { cond, .. } => cond), Spot::Index)? }
            }
            Stmt::CopyAsync { shared, global, lanes, .. } => {
                Self::agree(&all!(ss, Stmt::CopyAsync { shared, global, lanes, .. } => (*shared, *global, *lanes)))?;
                let at = self.expr(&all!(ss, Stmt::CopyAsync { at, .. } => at), Spot::Index)?;
                let index = self.expr(&all!(ss, Stmt::CopyAsync { index, .. } => index), Spot::Index)?;
                let valid = self.expr(&all!(ss, Stmt::CopyAsync { valid, .. } => valid), Spot::Index)?;
                Stmt::CopyAsync { shared: *shared, at, global: *global, index, lanes: *lanes, valid }
            }
            Stmt::If { .. } => {
                let cond = self.expr(&all!(ss, Stmt::If { cond, .. } => cond), Spot::Index)?;
                let then = self.bodies(all!(ss, Stmt::If { then, .. } => then))?;
                Stmt::If { cond, then, otherwise: self.bodies(all!(ss, Stmt::If { otherwise, .. } => otherwise))? }
            }
            Stmt::For { unroll, .. } => {
                Self::agree(&all!(ss, Stmt::For { unroll, .. } => *unroll))?;
                let mut bound = |bounds: Vec<&Expr>| self.expr(&bounds, Spot::Index);
                let from = bound(all!(ss, Stmt::For { from, .. } => from))?;
                let to = bound(all!(ss, Stmt::For { to, .. } => to))?;
                let step = bound(all!(ss, Stmt::For { step, .. } => step))?;
                if *unroll && [&from, &to, &step].into_iter().any(|bound| !bound.is_constant()) {
                    return None;
                }
                let var = self.declare(&all!(ss, Stmt::For { var, .. } => *var))?;
                let body = self.bodies(all!(ss, Stmt::For { body, .. } => body))?;
                Stmt::For { var, from, to, step, unroll: *unroll, body }
            }
            Stmt::Part { name, doc, .. } => {
                Self::agree(&all!(ss, Stmt::Part { name, .. } => *name))?;
                Stmt::Part { name, doc, body: self.bodies(all!(ss, Stmt::Part { body, .. } => body))? }
            }
            Stmt::While { .. } => {
                let cond = self.expr(&all!(ss, Stmt::While { cond, .. } => cond), Spot::Index)?;
                Stmt::While { cond, body: self.bodies(all!(ss, Stmt::While { body, .. } => body))? }
            }
            same => {
                Self::agree(ss)?;
                same.clone()
            }
        })
    }

    fn cache(&mut self, all: &[Cache]) -> Option<Cache> {
        if Self::agree(all).is_some() {
            return Some(all[0]);
        }
        match (self.vary)(Varying::Cache(all))? {
            Varied::Cache(cache) => Some(cache),
            Varied::Expr(_) | Varied::Nothing => None,
        }
    }

    /// The merged expression.
    fn expr(&mut self, es: &[&Expr], spot: Spot) -> Option<Expr> {
        let before = self.lengths.len();
        let tree = self.tree(es, spot);
        if tree.is_some() || spot == Spot::Data {
            return tree;
        }
        self.lengths.truncate(before);
        self.linear(es)
    }

    /// The merged expression of copies of one form.
    fn tree(&mut self, es: &[&Expr], spot: Spot) -> Option<Expr> {
        let pair = |m: &mut Self, parts: Vec<(&Expr, &Expr)>, spot: Spot| {
            let (a, b): (Vec<&Expr>, Vec<&Expr>) = parts.into_iter().unzip();
            Some((m.expr(&a, spot)?.into(), m.expr(&b, spot)?.into()))
        };
        Some(match es[0] {
            Expr::Lit(Literal::Int(_, scalar)) => {
                let all = all!(es, Expr::Lit(Literal::Int(v, s)) => (*v, *s));
                let (values, scalars): (Vec<i64>, Vec<Scalar>) = all.into_iter().unzip();
                Self::agree(&scalars)?;
                if Self::agree(&values).is_some() {
                    return Some(*es[0]);
                }
                if spot == Spot::Data {
                    return None;
                }
                self.int(&values, *scalar)?
            }
            Expr::Local(_) => Expr::Local(self.local(&all!(es, Expr::Local(id) => *id))?),
            Expr::Elem(..) => {
                let (ids, indices): (Vec<_>, Vec<_>) =
                    all!(es, Expr::Elem(id, i) => (*id, i.as_ref())).into_iter().unzip();
                Expr::Elem(self.local(&ids)?, self.expr(&indices, Spot::Index)?.into())
            }
            Expr::Unary(op, _) => {
                let all = all!(es, Expr::Unary(o, a) => (*o, a.as_ref()));
                let (ops, parts): (Vec<_>, Vec<_>) = all.into_iter().unzip();
                Self::agree(&ops)?;
                Expr::Unary(*op, self.expr(&parts, spot)?.into())
            }
            Expr::Binary(op, a, b) => {
                Self::agree(&all!(es, Expr::Binary(o, ..) => *o))?;
                // Conditions about positions occur among conditions about samples.
                let spot = match op.is_comparison() && !(self.data)(a) && !(self.data)(b) {
                    true => self.spot(a),
                    false => spot,
                };
                let (a, b) = pair(self, all!(es, Expr::Binary(_, a, b) => (a.as_ref(), b.as_ref())), spot)?;
                Expr::Binary(*op, a, b)
            }
            Expr::Select(c, ..) => {
                let conditions = all!(es, Expr::Select(c, ..) => c.as_ref());
                let of = if (self.data)(c) { Spot::Data } else { Spot::Index };
                let cond = self.expr(&conditions, of)?.into();
                let (a, b) = pair(self, all!(es, Expr::Select(_, a, b) => (a.as_ref(), b.as_ref())), spot)?;
                Expr::Select(cond, a, b)
            }
            Expr::Cast(to, _) => {
                let all = all!(es, Expr::Cast(to, a) => (*to, a.as_ref()));
                let (types, parts): (Vec<_>, Vec<_>) = all.into_iter().unzip();
                Self::agree(&types)?;
                Expr::Cast(*to, self.expr(&parts, spot)?.into())
            }
            Expr::Mirror(..) => {
                let (a, b) = pair(self, all!(es, Expr::Mirror(a, b) => (a.as_ref(), b.as_ref())), Spot::Index)?;
                Expr::Mirror(a, b)
            }
            Expr::MirrorNear(..) => {
                let (a, b) = pair(self, all!(es, Expr::MirrorNear(a, b) => (a.as_ref(), b.as_ref())), Spot::Index)?;
                Expr::MirrorNear(a, b)
            }
            Expr::Wrap(..) => {
                let (a, b) = pair(self, all!(es, Expr::Wrap(a, b) => (a.as_ref(), b.as_ref())), Spot::Index)?;
                Expr::Wrap(a, b)
            }
            Expr::Dot { weights, .. } => {
                Self::agree(&all!(es, Expr::Dot { weights, .. } => *weights))?;
                let parts = all!(es, Expr::Dot { pair, sum, .. } => (pair.as_ref(), sum.as_ref()));
                let (pair, sum) = pair(self, parts, Spot::Data)?;
                Expr::Dot { pair, weights: *weights, sum }
            }
            Expr::Lit(_) | Expr::Param(_) | Expr::Builtin(_) | Expr::Const(_) => {
                Self::agree(es)?;
                *es[0]
            }
        })
    }

    /// For each local of the first copy, those of the others, in order.
    pub fn copies_of(&self, id: LocalId) -> Vec<LocalId> {
        self.maps.iter().map(|map| *map.get(&id).unwrap_or(&id)).collect()
    }

    /// The merged sum of copies with as many terms, which differ in constants.
    fn terms(&mut self, es: &[&Expr], scalar: Scalar) -> Option<Expr> {
        let (mut terms, mut constants) = (Vec::new(), vec![0i64; es.len()]);
        for (copy, e) in es.iter().enumerate() {
            let mut own = Vec::new();
            decompose(e, 1, &mut |part| match part {
                (Some(term), factor) => own.push((term, factor)),
                (None, value) => constants[copy] += value,
            });
            terms.push(own);
        }
        let first = terms[0].clone();
        if first.is_empty() || terms.iter().any(|own| own.len() != first.len()) {
            return None;
        }
        let mut sum: Option<Expr> = None;
        for (at, (_, factor)) in first.iter().enumerate() {
            if terms.iter().any(|own| own[at].1 != *factor) {
                return None;
            }
            let copies: Vec<&Expr> = terms.iter().map(|own| own[at].0).collect();
            let term = Expr::int(*factor, scalar) * self.tree(&copies, Spot::Index)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => sum + term,
            });
        }
        let constant = match Self::agree(&constants) {
            Some(()) => Expr::int(constants[0], scalar),
            None => self.int(&constants, scalar)?,
        };
        sum.map(|sum| sum + constant)
    }

    /// The merged sum of copies that differ by terms with the factor 0 or 1.
    fn linear(&mut self, es: &[&Expr]) -> Option<Expr> {
        let scalar = (self.type_of)(es[0]);
        if !matches!(scalar, Scalar::I32 | Scalar::I64) {
            return None;
        }
        if let Some(sum) = self.terms(es, scalar) {
            return Some(sum);
        }
        let mut terms: Vec<(Expr, Vec<i64>)> = Vec::new();
        let mut constants = vec![0i64; es.len()];
        for (copy, e) in es.iter().enumerate() {
            let mut found = Vec::new();
            let constant = &mut constants[copy];
            decompose(e, 1, &mut |part| match part {
                (Some(term), factor) => found.push((*term, factor)),
                (None, value) => *constant += value,
            });
            for (term, factor) in found {
                let same = |(own, factors): &(Expr, Vec<i64>)| factors[copy] == 0 && self.is_same(own, &term, copy);
                match terms.iter().position(same) {
                    Some(at) => terms[at].1[copy] = factor,
                    // A term that the first copy lacks must not depend on what it declares.
                    None if copy > 0 && self.is_own(&term, copy) => return None,
                    None => {
                        let mut factors = vec![0; es.len()];
                        factors[copy] = factor;
                        terms.push((term, factors));
                    }
                }
            }
        }
        // A second one would be there to cancel the first.
        if terms.iter().filter(|(_, factors)| Self::agree(factors).is_none()).count() > 1 {
            return None;
        }
        let mut sum: Option<Expr> = None;
        let mut add = |e: Expr| {
            sum = Some(match sum.take() {
                None => e,
                Some(sum) => sum + e,
            });
        };
        for (term, factors) in terms {
            match Self::agree(&factors) {
                Some(()) => add(Expr::int(factors[0], scalar) * term),
                None => {
                    let factor = self.int(&factors, scalar)?;
                    add(factor * term);
                }
            }
        }
        match Self::agree(&constants) {
            Some(()) => add(Expr::int(constants[0], scalar)),
            None => {
                let constant = self.int(&constants, scalar)?;
                add(constant);
            }
        }
        sum
    }

    /// Whether a term of the first copy is this one of another.
    fn is_same(&self, first: &Expr, other: &Expr, copy: usize) -> bool {
        let mut mapped = *first;
        mapped.each_mut(&mut |e| {
            if let Expr::Local(id) | Expr::Elem(id, _) = e {
                *id = *self.maps[copy].get(id).unwrap_or(id);
            }
        });
        mapped == *other
    }

    /// Whether a term mentions a local that its copy alone declares.
    fn is_own(&self, term: &Expr, copy: usize) -> bool {
        self.maps[copy].iter().any(|(first, own)| first != own && term.mentions(*own))
    }
}

/// The terms of a sum, each with its factor, and its constants.
pub fn decompose<'e>(e: &'e Expr, factor: i64, found: &mut dyn FnMut((Option<&'e Expr>, i64))) {
    use BinOp::*;
    match e {
        Expr::Lit(Literal::Int(v, _)) => found((None, v * factor)),
        Expr::Binary(Add, a, b) => {
            decompose(a, factor, found);
            decompose(b, factor, found);
        }
        Expr::Binary(Sub, a, b) => {
            decompose(a, factor, found);
            decompose(b, -factor, found);
        }
        Expr::Binary(Mul, a, b) => match (a.as_ref(), b.as_ref()) {
            (Expr::Lit(Literal::Int(v, _)), e) | (e, Expr::Lit(Literal::Int(v, _))) => decompose(e, factor * v, found),
            _ => found((Some(e), factor)),
        },
        Expr::Binary(Shl, a, b) => match (a.as_ref(), b.as_ref()) {
            (a @ Expr::Lit(Literal::Int(..)), Expr::Lit(Literal::Int(by @ 0..=30, _))) => {
                decompose(a, factor << by, found);
            }
            _ => found((Some(e), factor)),
        },
        e => found((Some(e), factor)),
    }
}

/// The locals that statements declare, loop variables included.
pub fn declared_in(body: &[Stmt]) -> Vec<LocalId> {
    let mut ids = Vec::new();
    each_stmt(body, &mut |s| {
        if let Stmt::Let(id, _) | Stmt::Declare(id) | Stmt::For { var: id, .. } = s {
            ids.push(*id);
        }
    });
    ids
}
