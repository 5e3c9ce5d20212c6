//! The one writer of kernels for C-like targets.
//!
//! Text. Parentheses stand where precedence or the compilers' warnings ask for them, and nowhere else. A local whose
//! declaration is followed at once by the load that fills it becomes one line, and is `const` where nothing sets it
//! again.
//!
//! Arithmetic. In C, signed overflow is undefined, in the IR it wraps. Only sample data may ever overflow
//! ([`Facts::is_data`]): sums and products of samples are computed in the unsigned type and converted back,
//! `(int)((unsigned)a + b)`. In an unsigned sum one operand that is unsigned already makes the other one so: casts
//! stand only at the first. Indices are computed plainly. Values narrower than `int` are promoted to it by the language
//! itself, as a cast in the IR asks, so such a cast is not written.

mod expr;

use super::Unsupported;
use super::comment_line;
use super::dialect::Dialect;
use super::facts::{Facts, assigned_in};
use super::helpers::Helper;
use super::namer::Namer;
use crate::ir::valid::KernelInfo;
use crate::ir::*;
use expr::{Prec, Text};
use std::collections::BTreeSet;

/// Writes one kernel's definition. The kernel's own name and those of the file's other functions come from the caller.
pub fn write_kernel(
    (kernel, info): (&Kernel, &KernelInfo),
    name: &str,
    dialect: Dialect,
    namer: &mut Namer,
    helpers: &mut BTreeSet<Helper>,
) -> Result<String, Unsupported> {
    let mut w = Writer {
        kernel,
        facts: Facts::of(kernel, info),
        dialect,
        namer,
        helpers,
        params: Vec::new(),
        shared: vec![String::new(); kernel.shared.len()],
        locals: vec![String::new(); kernel.locals.len()],
        out: String::new(),
        indent: 0,
    };
    w.check_launch()?;
    w.namer.open();
    let result = w.function(name);
    w.namer.close();
    result.map(|()| w.out)
}

/// Writes an expression over a kernel's scalar parameters, as a launch shape has them, for host code in which the
/// parameters go by their own names.
pub fn write_host_expression((kernel, info): (&Kernel, &KernelInfo), e: &Expr) -> String {
    let mut helpers = BTreeSet::new();
    let mut namer = Dialect::C.namer();
    let mut w = Writer {
        kernel,
        facts: Facts::of(kernel, info),
        dialect: Dialect::Cuda,
        namer: &mut namer,
        helpers: &mut helpers,
        params: kernel.params.iter().map(|p| p.name.clone()).collect(),
        shared: Vec::new(),
        locals: Vec::new(),
        out: String::new(),
        indent: 0,
    };
    w.expr(e).text
}

struct Writer<'a> {
    kernel: &'a Kernel,
    facts: Facts<'a>,
    dialect: Dialect,
    namer: &'a mut Namer,
    helpers: &'a mut BTreeSet<Helper>,
    params: Vec<String>,
    shared: Vec<String>,
    locals: Vec<String>,
    out: String,
    indent: usize,
}

impl Writer<'_> {
    fn unsupported<T>(&self, what: &str) -> Result<T, Unsupported> {
        Err(Unsupported { kernel: self.kernel.name.clone(), target: self.dialect.name(), what: what.into() })
    }

    fn check_launch(&self) -> Result<(), Unsupported> {
        let one = |e: &Expr| matches!(e, Expr::Lit(Literal::Int(1, _)));
        let single = self.kernel.launch.block == [1; 3] && self.kernel.launch.grid.iter().all(one);
        if self.dialect == Dialect::C && !single {
            return self.unsupported("it runs in many threads; use the `rows` schedule, which has one");
        }
        if self.dialect == Dialect::C && !self.kernel.shared.is_empty() {
            return self.unsupported("it has shared arrays; use the `rows` schedule");
        }
        Ok(())
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn function(&mut self, name: &str) -> Result<(), Unsupported> {
        let d = self.dialect;
        for doc in &self.kernel.docs {
            self.out += &format!("// {}\n", comment_line(doc));
        }
        for p in self.kernel.params.iter().filter(|p| !p.doc.is_empty()) {
            self.out += &format!("//   {}: {}\n", comment_line(&p.name), comment_line(&p.doc));
        }
        let mut params = Vec::new();
        for p in &self.kernel.params {
            let name = self.namer.name(&p.name);
            params.push(match p.kind {
                ParamKind::Scalar(s) => format!("{} {name}", d.type_name(s)),
                ParamKind::Pointer(s, access) => {
                    let constness = if access == Access::Read { "const " } else { "" };
                    // Data that others may still be writing is not constant.
                    let changes = self.facts.overlaps() && access != Access::Write;
                    let restrict = if changes { String::new() } else { format!("{} ", d.restrict()) };
                    format!("{constness}{} *{restrict}{name}", d.type_name(s))
                }
            });
            self.params.push(name);
        }
        let head = match d {
            Dialect::Cuda => {
                let threads: u32 = self.kernel.launch.block.iter().product();
                let blocks = match self.kernel.min_blocks {
                    0 => String::new(),
                    n => format!(", {n}"),
                };
                format!("extern \"C\" __global__ void __launch_bounds__({threads}{blocks}) {name}(")
            }
            Dialect::C => format!("static void {name}("),
        };
        self.out += &wrap_list(&head, &params, ")");
        self.out += "\n{\n";
        self.indent = 1;
        for (i, s) in self.kernel.shared.iter().enumerate() {
            let name = self.namer.name(&s.name);
            self.line(&format!("__shared__ __align__(16) {} {name}[{}];", d.type_name(s.scalar), s.len));
            self.shared[i] = name;
        }
        if d == Dialect::C {
            for i in 0..self.params.len() {
                if !self.facts.is_param_used(ParamId(i as u32)) {
                    self.line(&format!("(void){};", self.params[i]));
                }
            }
        }
        let kernel = self.kernel;
        self.statements(&kernel.body)?;
        self.out += "}\n";
        Ok(())
    }

    fn block(&mut self, body: &[Stmt]) -> Result<(), Unsupported> {
        self.namer.open();
        self.indent += 1;
        let result = self.statements(body);
        self.indent -= 1;
        self.namer.close();
        result
    }

    fn statements(&mut self, body: &[Stmt]) -> Result<(), Unsupported> {
        let mut rest = body;
        while let Some((first, tail)) = rest.split_first() {
            // A scalar's declaration and the statement that fills it become one line.
            if let (Stmt::Declare(id), Some(second)) = (first, tail.first())
                && let Some(value) = self.filling(*id, second)?
            {
                let constness = if self.facts.is_set_once(*id) { "const " } else { "" };
                self.declare(*id, constness, Some(&value));
                rest = &tail[1..];
                continue;
            }
            self.statement(first)?;
            rest = tail;
        }
        Ok(())
    }

    /// The value that a statement gives to the scalar `id` as a whole, if that is all it does.
    fn filling(&mut self, id: LocalId, s: &Stmt) -> Result<Option<String>, Unsupported> {
        let is = |p: &Place| *p == Place::Local(id);
        Ok(match s {
            Stmt::Set(p, e) if is(p) && !e.mentions(id) => Some(self.plain(e).text),
            Stmt::Load { dst, space, index, lanes: 1, cache } if is(dst) => Some(self.load_one(*space, index, *cache)),
            Stmt::Shuffle { dst, src, lane } if is(dst) && !src.mentions(id) => Some(self.shuffle(src, lane)?),
            _ => None,
        })
    }

    fn declare(&mut self, id: LocalId, constness: &str, value: Option<&str>) {
        let local = self.facts.local(id);
        let name = self.namer.name(&local.name);
        let t = self.dialect.type_name(local.scalar);
        let len = local.len.map(|n| format!("[{n}]")).unwrap_or_default();
        match value {
            Some(v) => self.line(&format!("{constness}{t} {name} = {v};")),
            None => self.line(&format!("{t} {name}{len};")),
        }
        if self.dialect == Dialect::C && !self.facts.is_read(id) {
            self.line(&format!("(void){name};"));
        }
        self.locals[id.0 as usize] = name;
    }

    fn statement(&mut self, s: &Stmt) -> Result<(), Unsupported> {
        match s {
            Stmt::Comment(text) => self.line(&format!("// {}", comment_line(text))),
            Stmt::Let(id, e) => {
                let value = self.plain(e).text;
                let constness = if self.facts.is_set_once(*id) { "const " } else { "" };
                self.declare(*id, constness, Some(&value));
            }
            Stmt::Declare(id) => self.declare(*id, "", None),
            Stmt::Set(place, e) => self.set(place, e),
            Stmt::Load { dst, space, index, lanes, cache } => self.load(dst, *space, index, *lanes, *cache)?,
            Stmt::Store { space, index, values, cache } => self.store(*space, index, values, *cache)?,
            Stmt::Shuffle { dst, src, lane } => {
                let value = self.shuffle(src, lane)?;
                let place = self.place(dst);
                self.line(&format!("{place} = {value};"));
            }
            Stmt::Barrier if self.dialect == Dialect::Cuda => self.line("__syncthreads();"),
            Stmt::Barrier => return self.unsupported("it has a barrier; use the `rows` schedule"),
            Stmt::CopyAsync { shared, at, global, index, lanes, valid } if self.dialect == Dialect::Cuda => {
                let helper = Helper::CopyAsync(self.facts.element(Space::Shared(*shared)), *lanes);
                self.helpers.insert(helper);
                let to = self.address(self.array(Space::Shared(*shared)).to_string(), at);
                let from = self.address(self.array(Space::Global(*global)).to_string(), index);
                let valid = self.plain(valid).text;
                self.line(&format!("{}({to}, {from}, {valid});", helper.name()));
            }
            Stmt::CommitCopies if self.dialect == Dialect::Cuda => self.nullary(Helper::CommitCopies),
            Stmt::WaitCopies(n) if self.dialect == Dialect::Cuda => self.nullary(Helper::WaitCopies(*n)),
            Stmt::SyncWarp if self.dialect == Dialect::Cuda => self.line("__syncwarp();"),
            Stmt::CopyAsync { .. } | Stmt::CommitCopies | Stmt::WaitCopies(_) => {
                return self.unsupported("it has asynchronous copies to shared memory; use the `rows` schedule");
            }
            Stmt::SyncWarp => return self.unsupported("it synchronises a warp; use the `rows` schedule"),
            Stmt::WaitLaunches if self.dialect == Dialect::Cuda => self.nullary(Helper::WaitLaunches),
            Stmt::AllowLaunch if self.dialect == Dialect::Cuda => self.nullary(Helper::AllowLaunch),
            Stmt::WaitLaunches | Stmt::AllowLaunch => {
                return self.unsupported("it overlaps with other launches; leave pass `overlap` away");
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = self.expr(cond).text;
                self.line(&format!("if ({cond}) {{"));
                self.block(then)?;
                self.otherwise(otherwise)?;
                self.line("}");
            }
            Stmt::For { var, from, to, step, unroll, body } => {
                self.namer.open();
                let result = self.for_loop(*var, [from, to, step], *unroll, body);
                self.namer.close();
                result?;
            }
            Stmt::While { cond, body } => {
                let cond = self.expr(cond).text;
                self.line(&format!("while ({cond}) {{"));
                self.block(body)?;
                self.line("}");
            }
        }
        Ok(())
    }

    fn otherwise(&mut self, body: &[Stmt]) -> Result<(), Unsupported> {
        match body {
            [] => Ok(()),
            [Stmt::If { cond, then, otherwise }] => {
                let cond = self.expr(cond).text;
                self.line(&format!("}} else if ({cond}) {{"));
                self.block(then)?;
                self.otherwise(otherwise)
            }
            body => {
                self.line("} else {");
                self.block(body)
            }
        }
    }

    fn for_loop(
        &mut self,
        var: LocalId,
        [from, to, step]: [&Expr; 3],
        unroll: bool,
        body: &[Stmt],
    ) -> Result<(), Unsupported> {
        // Bounds are evaluated once: what the body changes is kept before the loop.
        let assigned = assigned_in(body);
        let changes = |e: &Expr| assigned.iter().any(|id| e.mentions(*id));
        let t = self.dialect.type_name(self.facts.local(var).scalar);
        let bound = |w: &mut Self, wish: &str, e: &Expr| {
            let text = w.plain(e);
            if !changes(e) {
                return text;
            }
            let name = w.namer.name(wish);
            w.line(&format!("const {t} {name} = {};", text.text));
            Text::new(name, Prec::Primary)
        };
        let to = bound(self, "end", to).at(Prec::Shift);
        let step = match step {
            Expr::Lit(Literal::Int(1, _)) => None,
            step => Some(bound(self, "step", step).text),
        };
        let from = self.plain(from).text;
        let i = self.namer.name(&self.facts.local(var).name);
        let next = step.map_or_else(|| format!("++{i}"), |s| format!("{i} += {s}"));
        self.locals[var.0 as usize] = i.clone();
        if self.dialect == Dialect::Cuda {
            // Left to itself the compiler unrolls strided loops until registers spill.
            self.line(if unroll { "#pragma unroll" } else { "#pragma unroll 1" });
        }
        self.line(&format!("for ({t} {i} = {from}; {i} < {to}; {next}) {{"));
        self.block(body)?;
        self.line("}");
        Ok(())
    }

    /// `x += e` where the IR says `x = x + e` and nothing has to wrap.
    fn set(&mut self, place: &Place, e: &Expr) {
        let target = self.place(place);
        let itself = match place {
            Place::Local(id) => Expr::Local(*id),
            Place::Elem(id, i) => Expr::Elem(*id, Box::new(i.clone())),
        };
        if let Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) = e
            && **a == itself
            && !self.facts.is_data(e)
        {
            let sign = if *op == BinOp::Add { '+' } else { '-' };
            let b = self.plain(b).text;
            self.line(&format!("{target} {sign}= {b};"));
            return;
        }
        let value = self.plain(e).text;
        self.line(&format!("{target} = {value};"));
    }

    fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Local(id) => self.locals[id.0 as usize].clone(),
            Place::Elem(id, index) => {
                let index = self.plain(index).text;
                format!("{}[{index}]", self.locals[id.0 as usize])
            }
        }
    }

    fn array(&self, space: Space) -> &str {
        match space {
            Space::Global(id) => &self.params[id.0 as usize],
            Space::Shared(id) => &self.shared[id.0 as usize],
        }
    }

    /// `name + index`, or `name` where the index is 0.
    fn address(&mut self, name: String, index: &Expr) -> String {
        if matches!(index, Expr::Lit(Literal::Int(0, _))) {
            return name;
        }
        format!("{name} + {}", self.plain(index).at(Prec::Sum))
    }

    fn load_one(&mut self, space: Space, index: &Expr, cache: Cache) -> String {
        let index = self.plain(index).text;
        let cell = format!("{}[{index}]", self.array(space));
        match self.hint(space, cache) {
            Cache::ReadOnly => format!("__ldg(&{cell})"),
            Cache::Streaming => format!("__ldcs(&{cell})"),
            Cache::Default | Cache::Kept => cell,
        }
    }

    fn load(&mut self, dst: &Place, space: Space, index: &Expr, lanes: u32, cache: Cache) -> Result<(), Unsupported> {
        if lanes == 1 {
            let value = self.load_one(space, index, cache);
            let place = self.place(dst);
            self.line(&format!("{place} = {value};"));
            return Ok(());
        }
        let Place::Elem(id, first) = dst else {
            return self.unsupported("a wide load needs a register array");
        };
        let cache = self.hint(space, cache);
        let helper = Helper::Load(self.facts.element(space), lanes, cache.into());
        self.helpers.insert(helper);
        let from = self.address(self.array(space).to_string(), index);
        let to = self.address(self.locals[id.0 as usize].clone(), first);
        self.line(&format!("{}({to}, {from});", helper.name()));
        Ok(())
    }

    fn nullary(&mut self, helper: Helper) {
        self.helpers.insert(helper);
        self.line(&format!("{}();", helper.name()));
    }

    fn hint(&self, space: Space, cache: Cache) -> Cache {
        match (self.dialect, space) {
            (Dialect::Cuda, Space::Global(_)) => cache,
            _ => Cache::Default,
        }
    }

    fn store(&mut self, space: Space, index: &Expr, values: &[Expr], cache: Cache) -> Result<(), Unsupported> {
        let cache = self.hint(space, cache);
        let texts: Vec<String> = values.iter().map(|v| self.plain(v).text).collect();
        if let [value] = &texts[..]
            && cache != Cache::Kept
        {
            let index = self.plain(index).text;
            let cell = format!("{}[{index}]", self.array(space));
            match cache {
                Cache::Streaming => self.line(&format!("__stcs(&{cell}, {value});")),
                _ => self.line(&format!("{cell} = {value};")),
            }
            return Ok(());
        }
        let helper = Helper::Store(self.facts.element(space), values.len() as u32, cache.into());
        self.helpers.insert(helper);
        let to = self.address(self.array(space).to_string(), index);
        self.line(&format!("{}({to}, {});", helper.name(), texts.join(", ")));
        Ok(())
    }

    fn shuffle(&mut self, src: &Expr, lane: &Lane) -> Result<String, Unsupported> {
        if self.dialect == Dialect::C {
            return self.unsupported("it has a warp shuffle; use the `rows` schedule");
        }
        let narrow = self.facts.type_of(src) == Scalar::I16;
        let src = self.expr(src).text;
        let (function, n) = match lane {
            Lane::Up(n) => ("__shfl_up_sync", n.to_string()),
            Lane::Down(n) => ("__shfl_down_sync", n.to_string()),
            Lane::Xor(n) => ("__shfl_xor_sync", n.to_string()),
            Lane::Index(e) => ("__shfl_sync", self.plain(e).text),
        };
        Ok(match narrow {
            true => format!("(short){function}(0xffffffffu, {src}, {n})"),
            false => format!("{function}(0xffffffffu, {src}, {n})"),
        })
    }
}

/// `head` and a comma-separated list and `tail`, broken before column 120 and indented.
pub fn wrap_list(head: &str, items: &[String], tail: &str) -> String {
    let one = format!("{head}{}{tail}", items.join(", "));
    if one.chars().count() <= 120 {
        return one;
    }
    let mut out = head.to_string();
    let mut column = 0;
    for (i, item) in items.iter().enumerate() {
        let text = format!("{item}{}", if i + 1 < items.len() { "," } else { tail });
        if i == 0 || column + 1 + text.chars().count() > 120 {
            out += "\n    ";
            column = 4;
        } else {
            out.push(' ');
            column += 1;
        }
        column += text.chars().count();
        out += &text;
    }
    out
}
