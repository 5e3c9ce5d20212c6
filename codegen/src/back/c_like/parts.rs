//! Parts of kernels as functions: in a file of many kernels, a part that several of them have is written once.
//!
//! A function takes what its part uses from outside: values, register arrays from an element on, and arrays in memory.
//! Parts that differ in these alone are one function; if they differ in numbers too, it is a template. Compilers inline
//! it, so positions stay numbers.
//!
//! A file is written at least twice. The first pass finds the numbers in which parts of one form differ
//! ([`super::families`]). Calls are marks in the text until the names and numbers of functions are known.

use super::Writer;
use crate::back::Unsupported;
use crate::back::facts::assigned_in;
use crate::back::text::{Lines, Prec, Text, wrap_list};
use crate::ir::visit::{each_expr, each_stmt};
use crate::ir::*;
use crate::opt::{declared_in, decompose};
use std::collections::{BTreeMap, BTreeSet};

/// The most arguments of a function.
const MOST: usize = 20;
/// The fewest lines of a function.
const LEAST: usize = 2;

/// A value or place outside a part that its statements use.
#[derive(Clone, PartialEq)]
enum Argument {
    /// A value, computed before the call.
    Value(Expr),
    /// A scalar that the part sets.
    Scalar(LocalId),
    /// A register array.
    Registers(LocalId),
    /// An array in memory.
    Memory(Space),
}

/// The element from which on a part takes a register array.
struct Start {
    /// The terms that all indices have, each with its factor.
    terms: Vec<(Expr, i64)>,
    /// The least constant of an index.
    least: i64,
}

/// The part that is being written.
pub(super) struct Inside {
    own: BTreeSet<LocalId>,
    /// Outer scalars that it sets.
    set: BTreeSet<LocalId>,
    starts: BTreeMap<LocalId, Start>,
    arguments: Vec<Argument>,
    consts: Vec<ConstId>,
    /// Names of the arguments and of the constants; while there are none, neutral ones stand for them.
    names: [Vec<String>; 2],
}

impl Inside {
    fn of(body: &[Stmt]) -> Inside {
        let own: BTreeSet<LocalId> = declared_in(body).into_iter().collect();
        let set = assigned_in(body).into_iter().filter(|id| !own.contains(id)).collect();
        let (starts, arguments, consts) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut inside = Inside { own, set, starts, arguments, consts, names: Default::default() };
        let mut indices: BTreeMap<LocalId, Vec<&Expr>> = BTreeMap::new();
        each_expr(body, &mut |e| {
            if let Expr::Elem(id, index) = e {
                indices.entry(*id).or_default().push(index);
            }
        });
        each_stmt(body, &mut |s| {
            if let Some(Place::Elem(id, index)) = s.sets() {
                indices.entry(*id).or_default().push(index);
            }
        });
        indices.retain(|id, _| !inside.own.contains(id));
        let starts = indices.into_iter().map(|(id, indices)| (id, inside.start(&indices)));
        inside.starts = starts.collect();
        inside
    }

    fn start(&self, indices: &[&Expr]) -> Start {
        let split = |index: &&Expr| {
            let (mut terms, constant) = terms_of(index);
            terms.retain(|(term, _)| self.is_outer(term) || term.is_constant());
            (terms, constant)
        };
        let all: Vec<_> = indices.iter().map(split).collect();
        // Never before the array, even if loops begin later.
        let falls = |index: &&Expr| terms_of(index).0.iter().any(|(term, factor)| *factor < 0 && !self.is_outer(term));
        let least = all.iter().map(|(_, constant)| *constant).min().unwrap_or(0).max(0);
        let least = if indices.iter().any(falls) { 0 } else { least };
        let agree = all.iter().all(|(terms, _)| *terms == all[0].0);
        Start { terms: if agree { all[0].0.clone() } else { Vec::new() }, least }
    }

    /// Whether the part only uses the value: it depends on the outside alone.
    fn is_outer(&self, e: &Expr) -> bool {
        let (mut is, mut reads) = (true, false);
        e.each(&mut |e| match e {
            Expr::Elem(..) | Expr::Binary(BinOp::Div | BinOp::Rem, ..) => is = false,
            Expr::Local(id) if self.own.contains(id) || self.set.contains(id) => is = false,
            Expr::Local(_) | Expr::Param(_) => reads = true,
            _ => {}
        });
        is && reads
    }

    fn named<T: PartialEq>(known: &mut Vec<T>, names: &[String], neutral: &str, item: T) -> String {
        let at = known.iter().position(|known| *known == item).unwrap_or_else(|| {
            known.push(item);
            known.len() - 1
        });
        names.get(at).cloned().unwrap_or_else(|| format!("{neutral}{at}"))
    }

    fn argument(&mut self, argument: Argument) -> String {
        Inside::named(&mut self.arguments, &self.names[0], "v", argument)
    }

    fn constant(&mut self, id: ConstId) -> String {
        Inside::named(&mut self.consts, &self.names[1], "C", id)
    }

    /// An index, counted from the array's start.
    fn relative(&self, id: LocalId, index: &Expr) -> Expr {
        let Some(Start { terms, least }) = self.starts.get(&id) else { return *index };
        let (mut inner, constant) = terms_of(index);
        inner.retain(|(term, _)| !terms.iter().any(|(outer, _)| outer == term));
        sum(&inner, constant - least)
    }
}

/// The terms of a sum, each once with its factor, and its constant.
fn terms_of(e: &Expr) -> (Vec<(Expr, i64)>, i64) {
    let (mut terms, mut constant) = (Vec::<(Expr, i64)>::new(), 0);
    decompose(e, 1, &mut |part| match part {
        (Some(term), factor) => match terms.iter_mut().find(|(known, _)| known == term) {
            Some((_, sum)) => *sum += factor,
            None => terms.push((*term, factor)),
        },
        (None, value) => constant += value,
    });
    terms.retain(|(_, factor)| *factor != 0);
    (terms, constant)
}

/// The sum of terms, each with its factor, and a constant.
fn sum(terms: &[(Expr, i64)], constant: i64) -> Expr {
    let int = |v: i64| Expr::int(v, Scalar::I32);
    let mut all: Option<Expr> = None;
    for (term, factor) in terms {
        all = Some(match all {
            None => int(*factor) * *term,
            Some(all) if *factor < 0 => all - int(-factor) * *term,
            Some(all) => all + int(*factor) * *term,
        });
    }
    match all {
        Some(all) => all + int(constant),
        None => int(constant),
    }
}

impl Writer<'_> {
    /// The argument that stands for a value from outside the part.
    pub(super) fn value_from_outside(&mut self, e: &Expr) -> Option<Text> {
        let inside = self.inside.as_mut().filter(|inside| self.read.is_none() && inside.is_outer(e))?;
        Some(Text::new(inside.argument(Argument::Value(*e)), Prec::Primary))
    }

    /// Whether a local of a part only names a value from outside: then it is the argument itself.
    pub(super) fn names_argument(&mut self, id: LocalId, e: &Expr) -> bool {
        let is = self.inside.is_some() && self.facts.is_set_once(id);
        let Some(argument) = is.then(|| self.value_from_outside(e)).flatten() else { return false };
        self.locals[id.0 as usize] = argument.text;
        true
    }

    /// The name of a scalar local.
    pub(super) fn scalar(&mut self, id: LocalId) -> String {
        match self.inside.as_mut().filter(|inside| inside.set.contains(&id)) {
            Some(inside) => inside.argument(Argument::Scalar(id)),
            None => self.locals[id.0 as usize].clone(),
        }
    }

    /// The name of a register array, and an index into it.
    pub(super) fn element(&mut self, id: LocalId, index: &Expr) -> (String, Expr) {
        match self.inside.as_mut().filter(|inside| !inside.own.contains(&id)) {
            Some(inside) => (inside.argument(Argument::Registers(id)), inside.relative(id, index)),
            None => (self.locals[id.0 as usize].clone(), *index),
        }
    }

    /// The name of an array in memory.
    pub(super) fn array(&mut self, space: Space) -> String {
        match (&mut self.inside, space) {
            (Some(inside), space) => inside.argument(Argument::Memory(space)),
            (None, Space::Global(id)) => self.params[id.0 as usize].clone(),
            (None, Space::Shared(id)) => self.shared[id.0 as usize].clone(),
        }
    }

    /// The name of a constant of the instance.
    pub(super) fn constant(&mut self, id: ConstId) -> String {
        match &mut self.inside {
            Some(inside) => inside.constant(id),
            None => self.consts[id.0 as usize].clone(),
        }
    }

    /// Calls the function of a part; without one, writes its statements.
    pub(super) fn part(&mut self, name: &str, doc: &str, body: &[Stmt]) -> Result<(), Unsupported> {
        if self.parts.is_none() {
            return self.statements(body);
        }
        let around = self.inside.take();
        let (neutral, inside) = self.apart(body, Inside::of(body))?;
        if inside.arguments.len() > MOST || neutral.lines().count() < LEAST {
            self.inside = around;
            return self.statements(body);
        }
        let Inside { arguments, consts, starts, .. } = inside;
        let types: Vec<String> = arguments.iter().map(|argument| self.argument_type(argument, body)).collect();
        let kind = |id: &ConstId| match self.kernel.consts[id.0 as usize].value {
            Literal::Bool(_) => "bool",
            _ => "int",
        };
        let kinds: Vec<&str> = consts.iter().map(kind).collect();
        let head = format!("{name}|{}|{}", kinds.join(", "), types.join(", "));
        let found = self.parts.as_mut().map(|parts| parts.found(&head, &neutral));
        let Some((function, is_new)) = found else { return Ok(()) };
        if is_new {
            let wish = match self.element_type(&arguments) {
                Some(scalar) => format!("{name}_{}", scalar.name()),
                None => name.to_owned(),
            };
            let name = self.namer.global(&wish);
            let (names, text) = self.named(body, &arguments, &consts)?;
            let parameters: Vec<String> = types.iter().zip(&names[0]).map(|(t, name)| format!("{t}{name}")).collect();
            let template: Vec<String> = kinds.iter().zip(&names[1]).map(|(t, name)| format!("{t} {name}")).collect();
            let head = wrap_list(&format!("{} void {name}(", self.dialect.function()), &parameters, ")");
            let taken = |wish: &str| names.iter().flatten().any(|name| name == wish);
            if let Some(parts) = &mut self.parts {
                parts.define(&function, name, (doc, template, &head), &text, &taken);
            }
        }
        self.inside = around;
        let arguments: Vec<String> = arguments.iter().map(|argument| self.passed(argument, &starts)).collect();
        let consts: Vec<String> = consts.iter().map(|id| self.constant(*id)).collect();
        self.line(&format!("{}({});", function.called(&consts), arguments.join(", ")));
        Ok(())
    }

    /// The text of a part's statements, and what they use from outside.
    fn apart(&mut self, body: &[Stmt], inside: Inside) -> Result<(String, Inside), Unsupported> {
        let outer = (
            std::mem::replace(&mut self.lines, Lines { indent: 1, ..Lines::default() }),
            self.locals.clone(),
            self.step.clone(),
        );
        let function = self.namer.function();
        let namer = std::mem::replace(self.namer, function);
        let names: Vec<String> = inside.names.iter().flatten().cloned().collect();
        names.iter().for_each(|name| {
            self.namer.name(name);
        });
        self.inside = Some(inside);
        let result = self.statements(body);
        let inside = self.inside.take().expect("nothing else ends a part");
        let function = std::mem::replace(self.namer, namer);
        self.namer.adopt(function);
        let lines = std::mem::replace(&mut self.lines, outer.0);
        (self.locals, self.step) = (outer.1, outer.2);
        result.map(|()| (lines.out, inside))
    }

    /// The text of a part's statements with the names of its parameters and constants.
    fn named(
        &mut self,
        body: &[Stmt],
        arguments: &[Argument],
        consts: &[ConstId],
    ) -> Result<([Vec<String>; 2], String), Unsupported> {
        let mut namer = self.namer.function();
        let names = arguments.iter().map(|argument| namer.name(&self.wish(argument, body))).collect();
        let of_consts = consts.iter().map(|id| namer.name(&self.kernel.consts[id.0 as usize].name)).collect();
        let (text, inside) = self.apart(body, Inside { names: [names, of_consts], ..Inside::of(body) })?;
        Ok((inside.names, text))
    }

    /// The element type of the arrays in memory, or else of the registers.
    fn element_type(&self, arguments: &[Argument]) -> Option<Scalar> {
        let memory = |argument: &Argument| match argument {
            Argument::Memory(space) => Some(self.facts.element(*space)),
            _ => None,
        };
        let registers = |argument: &Argument| match argument {
            Argument::Registers(id) => Some(self.facts.local(*id).scalar),
            _ => None,
        };
        arguments.iter().find_map(memory).or_else(|| arguments.iter().find_map(registers))
    }

    /// The type before the name of a parameter.
    fn argument_type(&self, argument: &Argument, body: &[Stmt]) -> String {
        let name = |scalar: Scalar| self.dialect.type_name(scalar);
        let of = |is_set: bool, scalar: Scalar| format!("{}{} *", if is_set { "" } else { "const " }, name(scalar));
        match argument {
            Argument::Value(e) => format!("{} ", name(self.facts.type_of(e))),
            Argument::Scalar(id) => format!("{} &", name(self.facts.local(*id).scalar)),
            Argument::Registers(id) => of(assigned_in(body).contains(id), self.facts.local(*id).scalar),
            Argument::Memory(space) => of(is_written(*space, body), self.facts.element(*space)),
        }
    }

    /// A name for a parameter.
    fn wish(&self, argument: &Argument, body: &[Stmt]) -> String {
        match argument {
            Argument::Value(Expr::Local(id)) | Argument::Scalar(id) | Argument::Registers(id) => {
                self.facts.local(*id).name.clone()
            }
            Argument::Value(Expr::Param(id)) => self.kernel.params[id.0 as usize].name.clone(),
            Argument::Value(e) => match (self.named_in(body, e), self.facts.type_of(e)) {
                (Some(name), _) => name,
                (None, Scalar::Bool) => "holds".into(),
                (None, Scalar::I64) => "at".into(),
                (None, _) => "index".into(),
            },
            Argument::Memory(space) if is_written(*space, body) => "to".into(),
            Argument::Memory(_) => "from".into(),
        }
    }

    /// The name that a part gives to a value.
    fn named_in(&self, body: &[Stmt], value: &Expr) -> Option<String> {
        let mut name = None;
        each_stmt(body, &mut |s| {
            if let Stmt::Let(id, e) = s
                && e == value
            {
                name.get_or_insert_with(|| self.facts.local(*id).name.clone());
            }
        });
        name
    }

    /// The argument of a call.
    fn passed(&mut self, argument: &Argument, starts: &BTreeMap<LocalId, Start>) -> String {
        match argument {
            Argument::Value(e) => self.plain(e).text,
            Argument::Scalar(id) => self.scalar(*id),
            Argument::Registers(id) => {
                let start = starts.get(id).map_or(Expr::i32(0), |start| sum(&start.terms, start.least));
                let (name, start) = self.element(*id, &start);
                self.address(name, &start)
            }
            Argument::Memory(space) => self.array(*space),
        }
    }
}

fn is_written(space: Space, body: &[Stmt]) -> bool {
    let mut is = false;
    each_stmt(body, &mut |s| {
        is |= match s {
            Stmt::Store { space: to, .. } => *to == space,
            Stmt::CopyAsync { shared, .. } => space == Space::Shared(*shared),
            _ => false,
        };
    });
    is
}
