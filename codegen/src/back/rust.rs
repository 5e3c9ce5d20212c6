//! Rust: single-threaded kernels as safe functions over slices.
//!
//! Only sample data may overflow ([`Facts::is_data`]): its sums and products are `wrapping_*`; indices use plain
//! arithmetic. Lines stay short: where an expression would not fit, its longest operand becomes a variable. So the text
//! has rustfmt's layout.

mod expr;
mod helpers;

use super::Unsupported;
use super::dialect::Dialect;
use super::facts::{Facts, assigned_in};
use super::namer::{Namer, RUST_RESERVED};
use super::text::{Lines, Prec, Text, comment_line};
use crate::ir::valid::KernelInfo;
use crate::ir::*;
use expr::{Typed, WIDTH};
use std::collections::BTreeSet;

pub(crate) use helpers::Helper;

/// Rust.
#[derive(Clone, Copy, Debug)]
pub struct Rust;

impl Dialect for Rust {
    fn name(&self) -> &'static str {
        "Rust"
    }

    fn word(&self) -> &'static str {
        "rust"
    }

    fn extension(&self) -> &'static str {
        "rs"
    }

    /// A single thread has no such features.
    fn has(&self, _: Feature) -> bool {
        false
    }

    fn namer(&self) -> Namer {
        Namer::new(&[RUST_RESERVED])
    }

    fn prelude(&self, _: &[(&Kernel, &KernelInfo)]) -> String {
        String::new()
    }

    fn write_with(
        &self,
        kernels: &[(&Kernel, &KernelInfo)],
        namer: &mut Namer,
    ) -> Result<(String, Vec<String>), Unsupported> {
        let names: Vec<String> = kernels.iter().map(|(k, _)| namer.name(&k.name)).collect();
        let mut used = BTreeSet::new();
        let mut functions = Vec::new();
        for (kernel, name) in kernels.iter().zip(&names) {
            functions.push(write_kernel(*kernel, name, &mut used)?);
        }
        let text: Vec<&str> = used.iter().map(|h| h.definition()).chain(functions.iter().map(String::as_str)).collect();
        Ok((text.join("\n"), names))
    }
}

/// The type's spelling. `f16` and `bf16` are held as bits.
pub(crate) fn type_name(s: Scalar) -> &'static str {
    match s {
        Scalar::F16 | Scalar::Bf16 => "u16",
        s => s.name(),
    }
}

/// Writes a kernel's function. Two written pointers, `low` and `high`, share one slice: it begins with the first, and
/// the second's name is its offset.
///
/// # Errors
/// If the kernel is not single-threaded.
pub(crate) fn write_kernel(
    (kernel, info): (&Kernel, &KernelInfo),
    name: &str,
    helpers: &mut BTreeSet<Helper>,
) -> Result<String, Unsupported> {
    Rust.check(kernel)?;
    let mut w = Writer {
        kernel,
        helpers,
        facts: Facts::of(kernel, info),
        namer: Rust.namer(),
        arrays: vec![(String::new(), None); kernel.params.len()],
        params: vec![String::new(); kernel.params.len()],
        locals: vec![String::new(); kernel.locals.len()],
        lines: Lines { indent: 1, ..Lines::default() },
    };
    w.function(name)?;
    Ok(w.lines.out)
}

struct Writer<'a> {
    kernel: &'a Kernel,
    helpers: &'a mut BTreeSet<Helper>,
    facts: Facts<'a>,
    namer: Namer,
    /// Slice of a pointer parameter, and the name of its offset in it.
    arrays: Vec<(String, Option<String>)>,
    params: Vec<String>,
    locals: Vec<String>,
    lines: Lines,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.lines.line(text);
    }

    /// A name without capital letters, which Rust keeps for types.
    fn name(&mut self, wish: &str) -> String {
        self.namer.name(&wish.to_ascii_lowercase())
    }

    fn unsupported<T>(&self, what: &str) -> Result<T, Unsupported> {
        Err(Rust.unsupported(self.kernel, what.into()))
    }

    fn function(&mut self, name: &str) -> Result<(), Unsupported> {
        let kernel = self.kernel;
        for doc in &kernel.docs {
            self.lines.out += &format!("/// {}\n", comment_line(doc));
        }
        // Weights may resemble the standard library's constants; they are exact as they are.
        let is_real = kernel.locals.iter().any(|local| local.scalar.is_float());
        if is_real {
            self.lines.out += "#[allow(clippy::approx_constant)]\n";
        }
        self.lines.out += "#[allow(clippy::too_many_arguments, clippy::int_plus_one)]\n#[inline(always)]\n";
        let mut params = Vec::new();
        let is = |i: usize, wish: &str| {
            kernel.params.get(i).is_some_and(|p| {
                p.name == wish && matches!(p.kind, ParamKind::Pointer(_, Access::Write | Access::ReadWrite))
            })
        };
        for (i, p) in kernel.params.iter().enumerate() {
            let wish = if is(i, "low") && is(i + 1, "high") { "bands" } else { &p.name };
            let name = self.name(wish);
            let used = self.facts.is_param_used(ParamId(i as u32));
            let declared = if used { name.clone() } else { format!("_{name}") };
            let t = match p.kind {
                ParamKind::Scalar(s) => type_name(s).to_string(),
                ParamKind::Pointer(..) if i > 0 && is(i, "high") && is(i - 1, "low") => {
                    self.arrays[i] = (self.arrays[i - 1].0.clone(), Some(name.clone()));
                    "i64".into()
                }
                ParamKind::Pointer(s, access) => {
                    self.arrays[i] = (name.clone(), None);
                    format!("&{}[{}]", if access == Access::Read { "" } else { "mut " }, type_name(s))
                }
            };
            params.push(format!("{declared}: {t}"));
            self.params[i] = name;
        }
        let one = format!("fn {name}({}) {{\n", params.join(", "));
        let many = || format!("fn {name}(\n    {},\n) {{\n", params.join(",\n    "));
        self.lines.out += &if one.len() <= 101 { one } else { many() };
        self.statements(&kernel.body)?;
        self.lines.out += "}\n";
        Ok(())
    }

    fn block(&mut self, body: &[Stmt]) -> Result<(), Unsupported> {
        self.namer.open();
        self.lines.indent += 1;
        let result = self.statements(body);
        self.lines.indent -= 1;
        self.namer.close();
        result
    }

    fn statements(&mut self, body: &[Stmt]) -> Result<(), Unsupported> {
        let mut rest = body;
        while let [first, tail @ ..] = rest {
            rest = tail;
            // A declaration and the load that follows it become one line.
            if let Stmt::Declare(id) = first
                && let [
                    Stmt::Load { dst: Place::Local(dst), space: Space::Global(array), index, lanes: 1, .. },
                    tail @ ..,
                ] = tail
                && dst == id
                && self.facts.is_set_once(*id)
            {
                let cell = self.cell(*array, index);
                self.declare(*id, Some(Text::about(cell, Prec::Primary, self.facts.local(*id).scalar)));
                rest = tail;
            } else {
                self.statement(first)?;
            }
        }
        Ok(())
    }

    /// Declares a local, with a value or without one.
    fn declare(&mut self, id: LocalId, value: Option<Typed>) {
        let local = self.facts.local(id);
        let mut name = self.name(&local.name);
        if !self.facts.is_read(id) {
            name.insert(0, '_');
        }
        let mutable = if value.is_some() && !self.facts.is_set_once(id) { "mut " } else { "" };
        let t = type_name(local.scalar);
        match (value, local.len) {
            (Some(v), _) => {
                let line = format!("let {mutable}{name}: {t} = {};", v.text);
                let too_long = 4 * self.lines.indent + line.len() > 100;
                self.line(&if too_long {
                    line.replacen(" = ", &format!(" =\n{}", "    ".repeat(self.lines.indent + 1)), 1)
                } else {
                    line
                });
            }
            (None, Some(len)) => {
                let zero = if matches!(local.scalar, Scalar::F32 | Scalar::F64) { "0.0" } else { "0" };
                self.line(&format!("let mut {name}: [{t}; {len}] = [{zero}; {len}];"));
            }
            (None, None) if self.facts.is_set_once(id) => self.line(&format!("let {name}: {t};")),
            (None, None) => self.line(&format!("let mut {name}: {t};")),
        }
        self.locals[id.0 as usize] = name;
    }

    fn statement(&mut self, s: &Stmt) -> Result<(), Unsupported> {
        match s {
            Stmt::Comment(text) => self.line(&format!("// {}", comment_line(text))),
            Stmt::Let(id, e) => {
                let value = self.expr(e);
                self.declare(*id, Some(value));
            }
            Stmt::Declare(id) => self.declare(*id, None),
            Stmt::Set(place, e) => {
                let value = self.expr(e).text;
                let place = self.place(place);
                self.line(&format!("{place} = {value};"));
            }
            Stmt::Load { dst, space: Space::Global(array), index, lanes: 1, .. } => {
                let cell = self.cell(*array, index);
                let place = self.place(dst);
                self.line(&format!("{place} = {cell};"));
            }
            Stmt::Load { dst: Place::Elem(id, first), space: Space::Global(array), index, lanes, .. } => {
                let from = self.cells(*array, index, *lanes);
                let first = self.expr(first);
                let to = self.range(&self.locals[id.0 as usize].clone(), first, *lanes);
                self.line(&format!("{to}.copy_from_slice(&{from});"));
            }
            Stmt::Store { space: Space::Global(array), index, values, .. } => match values.as_slice() {
                [value] => {
                    let mut value = self.expr(value);
                    let cell = self.cell(*array, index);
                    // An assignment beyond 100 columns takes its value from a variable.
                    if 4 * self.lines.indent + cell.len() + value.text.len() + 4 > 100 {
                        self.fit(&mut [&mut value], WIDTH);
                    }
                    let value = value.text;
                    self.line(&format!("{cell} = {value};"));
                }
                values => {
                    let mut texts: Vec<Typed> = values.iter().map(|v| self.expr(v)).collect();
                    self.fit(&mut texts.iter_mut().collect::<Vec<_>>(), 2 * values.len());
                    let to = self.cells(*array, index, values.len() as u32);
                    let list: Vec<&str> = texts.iter().map(|t| t.text.as_str()).collect();
                    self.line(&format!("{to}.copy_from_slice(&[{}]);", list.join(", ")));
                }
            },
            Stmt::If { cond, then, otherwise } => {
                let cond = self.expr(cond).text;
                self.line(&format!("if {cond} {{"));
                self.block(then)?;
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.block(otherwise)?;
                }
                self.line("}");
            }
            Stmt::For { var, from, to, step, body, .. } => self.for_loop(*var, [from, to, step], body)?,
            Stmt::While { cond, body } => self.while_loop(cond, body)?,
            Stmt::Part { body, .. } => self.statements(body)?,
            Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::CopyAsync { .. }
            | Stmt::CommitCopies
            | Stmt::WaitCopies(_) => {
                return self.unsupported(Feature::Shared.reason());
            }
            Stmt::Shuffle { .. }
            | Stmt::Ballot { .. }
            | Stmt::SyncWarp
            | Stmt::Barrier
            | Stmt::WaitLaunches
            | Stmt::AllowLaunch => {
                return self.unsupported(Feature::Threads.reason());
            }
        }
        Ok(())
    }

    fn for_loop(&mut self, var: LocalId, [from, to, step]: [&Expr; 3], body: &[Stmt]) -> Result<(), Unsupported> {
        let (mut from, mut to) = (self.expr(from), self.expr(to));
        self.fit(&mut [&mut from, &mut to], 8);
        let range = format!("{}..{}", from.at(Prec::LogicalOr), to.at(Prec::LogicalOr));
        let range = match step {
            Expr::Lit(Literal::Int(1, _)) => range,
            Expr::Lit(Literal::Int(n, _)) => format!("({range}).step_by({n})"),
            step => {
                let mut step = self.expr(step);
                self.fit(&mut [&mut step], WIDTH - 12);
                format!("({range}).step_by({} as usize)", step.at(Prec::RustCast))
            }
        };
        if assigned_in(body).contains(&var) {
            return self.unsupported("a loop's body sets its variable");
        }
        self.namer.open();
        let mut name = self.name(&self.facts.local(var).name);
        if !self.facts.is_read(var) {
            name.insert(0, '_');
        }
        self.locals[var.0 as usize] = name.clone();
        self.line(&format!("for {name} in {range} {{"));
        let result = self.block(body);
        self.namer.close();
        result?;
        self.line("}");
        Ok(())
    }

    /// A condition that needs variables is evaluated within the loop.
    fn while_loop(&mut self, cond: &Expr, body: &[Stmt]) -> Result<(), Unsupported> {
        let before = self.lines.out.len();
        self.lines.indent += 1;
        self.namer.open();
        let cond = self.expr(cond);
        self.lines.indent -= 1;
        let within = self.lines.out.split_off(before);
        if within.is_empty() {
            self.namer.close();
            self.line(&format!("while {} {{", cond.text));
            self.block(body)?;
        } else {
            self.line("loop {");
            self.lines.out += &within;
            self.lines.indent += 1;
            self.line(&format!("if !{} {{", cond.at(Prec::Unary)));
            self.line("    break;");
            self.line("}");
            let result = self.statements(body);
            self.lines.indent -= 1;
            self.namer.close();
            result?;
        }
        self.line("}");
        Ok(())
    }

    fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Local(id) => self.locals[id.0 as usize].clone(),
            Place::Elem(id, index) => self.element(*id, index),
        }
    }

    /// An element of a register array.
    fn element(&mut self, id: LocalId, index: &Expr) -> String {
        let name = self.locals[id.0 as usize].clone();
        if let Expr::Lit(Literal::Int(i, _)) = index {
            return format!("{name}[{i}]");
        }
        let mut index = self.expr(index);
        self.fit(&mut [&mut index], name.len() + 12);
        format!("{name}[{} as usize]", index.at(Prec::RustCast))
    }

    /// The slice of an array in memory, and an element's index in it.
    fn position(&mut self, array: ParamId, index: &Expr) -> (String, Typed) {
        let index = self.expr(index);
        match self.arrays[array.0 as usize].clone() {
            (name, None) => (name, index),
            (name, Some(offset)) => {
                let offset = Text::about(offset, Prec::Primary, Scalar::I64);
                (name, self.join(BinOp::Add, offset, index, Scalar::I64))
            }
        }
    }

    fn cell(&mut self, array: ParamId, index: &Expr) -> String {
        let (name, mut index) = self.position(array, index);
        self.fit(&mut [&mut index], name.len() + 12);
        format!("{name}[{} as usize]", index.at(Prec::RustCast))
    }

    fn cells(&mut self, array: ParamId, index: &Expr, lanes: u32) -> String {
        let (name, first) = self.position(array, index);
        self.range(&name, first, lanes)
    }

    /// `lanes` elements of a slice.
    fn range(&mut self, name: &str, first: Typed, lanes: u32) -> String {
        let at = self.namer.name("at");
        self.line(&format!("let {at} = {} as usize;", first.at(Prec::RustCast)));
        format!("{name}[{at}..{at} + {lanes}]")
    }
}
