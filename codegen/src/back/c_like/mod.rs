//! The kernel writer of all C-like targets.
//!
//! Text. Parentheses appear only where precedence or compiler warnings ask for them. A declaration followed at once by
//! the load that fills it becomes one line; it is `const` if nothing sets the local again.
//!
//! Arithmetic. Signed overflow is undefined in C, but wraps in the IR. Only sample data may ever overflow
//! ([`Facts::is_data`]). So sums and products of samples are computed in the unsigned type and converted back,
//! `(int)((unsigned)a + b)`. One unsigned operand makes the other one unsigned, so only the first is cast. Indices use
//! plain arithmetic. The language itself promotes values narrower than `int`, so the IR's casts for this are not
//! written.

mod expr;
mod families;
mod helpers;
mod parts;
mod steps;

use super::Unsupported;
use super::cuda::bounds;
use super::dialect::{CLike, Dialect, Memory};
use super::facts::{Facts, assigned_in};
use super::namer::{C_RESERVED, HELPERS, Namer};
use super::text::{Lines, Prec, Text, comment_line, wrap_list};
use crate::ir::valid::KernelInfo;
use crate::ir::*;
use crate::opt::Template;
use std::collections::BTreeSet;

use families::Families;
pub use helpers::{Helper, Hint};
use parts::Inside;
use steps::Steps;

impl<L: CLike> Dialect for L {
    fn name(&self) -> &'static str {
        CLike::name(self)
    }

    fn word(&self) -> &'static str {
        CLike::word(self)
    }

    fn extension(&self) -> &'static str {
        CLike::extension(self)
    }

    fn has(&self, feature: Feature) -> bool {
        CLike::has(self, feature)
    }

    fn warp(&self) -> u32 {
        CLike::warp(self)
    }

    fn warps_are_in_rows(&self) -> bool {
        CLike::warps_are_in_rows(self)
    }

    fn namer(&self) -> Namer {
        Namer::new(&[C_RESERVED, self.reserved(), HELPERS])
    }

    fn prelude(&self, kernels: &[(&Kernel, &KernelInfo)]) -> String {
        CLike::prelude(self, kernels)
    }

    fn write_with(
        &self,
        kernels: &[(&Kernel, &KernelInfo)],
        namer: &mut Namer,
    ) -> Result<(String, Vec<String>), Unsupported> {
        let names: Vec<String> = kernels.iter().map(|(k, _)| namer.name(&k.name)).collect();
        let mut used = BTreeSet::new();
        let mut text = String::new();
        for ((kernel, info), name) in kernels.iter().zip(&names) {
            self.check(kernel)?;
            text.push('\n');
            text += &write_kernel((kernel, info), name, self, namer, &mut used)?;
        }
        let helpers = helpers::write(&used, self);
        Ok((format!("{helpers}{}", text.strip_prefix('\n').unwrap_or(&text)), names))
    }
}

/// Writes one kernel's definition. The caller chooses its name and those of the file's other functions.
fn write_kernel(
    pair: (&Kernel, &KernelInfo),
    name: &str,
    dialect: &dyn CLike,
    namer: &mut Namer,
    helpers: &mut BTreeSet<Helper>,
) -> Result<String, Unsupported> {
    let mut w = Writer::new(pair, dialect, namer, helpers);
    w.namer.open();
    let result = w.function(name);
    w.namer.close();
    result.map(|()| w.lines.out)
}

/// Writes an expression over a kernel's scalar parameters, such as a grid size, for host code. Parameters keep their
/// names.
pub fn write_host_expression(pair: (&Kernel, &KernelInfo), dialect: &dyn CLike, e: &Expr) -> String {
    let (mut helpers, mut namer) = (BTreeSet::new(), Namer::new(&[]));
    let mut w = Writer::new(pair, dialect, &mut namer, &mut helpers);
    w.params = pair.0.params.iter().map(|p| p.name.clone()).collect();
    w.expr(e).text
}

/// Writes kernels that are one in several instances: the text of each template, and its name.
pub fn write_templates(
    templates: &[Template],
    namer: &mut Namer,
) -> Result<(String, Vec<(String, String)>), Unsupported> {
    let dialect = &super::Cuda;
    let names: Vec<String> = templates.iter().map(|t| namer.name(&t.kernel.name)).collect();
    let (mut used, mut texts) = (BTreeSet::new(), Vec::new());
    let (mut steps, mut parts) = (Steps::default(), Families::default());
    // Until the forms of all parts are known, text is only looked at.
    while !parts.are_known() {
        texts.clear();
        let mut described = Vec::<(&[Param], String)>::new();
        for (template, name) in templates.iter().zip(&names) {
            let kernel = &template.kernel;
            dialect.check(kernel)?;
            let mut w = Writer::new((kernel, &template.info), dialect, namer, &mut used);
            w.template = Some(template);
            w.steps = Some(&mut steps);
            w.parts = Some(&mut parts);
            w.described = described.iter().find(|(params, _)| *params == kernel.params).map(|(_, name)| name.clone());
            if w.described.is_none() {
                described.push((&kernel.params, name.clone()));
            }
            w.namer.open();
            let result = w.function(name);
            w.namer.close();
            result?;
            let text = w.lines.out;
            texts.push((parts.resolved(&text), name.clone()));
        }
        parts.end_pass();
    }
    let mut helpers = helpers::write(&used, dialect);
    if templates.iter().any(|t| t.waits.is_some()) {
        helpers += POINTER;
    }
    for (title, functions) in [(STEPS, &steps.text), (PARTS, &parts.text)] {
        if !functions.is_empty() {
            helpers += &format!("/* {title}. */\n\n{functions}");
        }
    }
    Ok((helpers, texts))
}

/// Title of the functions of lifting steps in files of templates.
pub const STEPS: &str = "Lifting steps";
/// Title of the functions of parts in files of templates.
pub const PARTS: &str = "Parts of kernels";

/// The type of pointers to samples that other launches may still write.
const POINTER: &str = "// A pointer to samples; if other launches may still change them, it is not restricted.
template <typename T, bool CHANGES> struct pointer_to { typedef T *__restrict__ type; };
template <typename T> struct pointer_to<T, true> { typedef T *type; };

";

struct Writer<'a> {
    kernel: &'a Kernel,
    /// The template, where the kernel is one.
    template: Option<&'a Template>,
    /// The kernel that describes the same parameters.
    described: Option<String>,
    /// Functions of lifting steps, in files that have them.
    steps: Option<&'a mut Steps>,
    /// Functions of parts, in files that have them.
    parts: Option<&'a mut Families>,
    /// The part that is being written as a function.
    inside: Option<Inside>,
    /// The lifting step that the statements belong to, from the comment before them.
    step: Option<String>,
    /// The samples that a step's function reads, while it is written.
    read: Option<Vec<Expr>>,
    facts: Facts<'a>,
    dialect: &'a dyn CLike,
    namer: &'a mut Namer,
    helpers: &'a mut BTreeSet<Helper>,
    consts: Vec<String>,
    params: Vec<String>,
    shared: Vec<String>,
    locals: Vec<String>,
    lines: Lines,
}

impl<'a> Writer<'a> {
    fn new(
        (kernel, info): (&'a Kernel, &'a KernelInfo),
        dialect: &'a dyn CLike,
        namer: &'a mut Namer,
        helpers: &'a mut BTreeSet<Helper>,
    ) -> Writer<'a> {
        Writer {
            kernel,
            template: None,
            described: None,
            steps: None,
            parts: None,
            inside: None,
            step: None,
            read: None,
            facts: Facts::of(kernel, info),
            dialect,
            namer,
            helpers,
            consts: Vec::new(),
            params: Vec::new(),
            shared: vec![String::new(); kernel.shared.len()],
            locals: vec![String::new(); kernel.locals.len()],
            lines: Lines::default(),
        }
    }

    fn unsupported<T>(&self, what: &str) -> Result<T, Unsupported> {
        Err(Unsupported { kernel: self.kernel.name.clone(), target: self.dialect.name(), what: what.into() })
    }

    /// The dialect's spelling of a feature that it claims to have.
    fn spelled<T>(&self, text: Option<T>, feature: Feature) -> Result<T, Unsupported> {
        text.map_or_else(|| self.unsupported(feature.reason()), Ok)
    }

    fn line(&mut self, text: &str) {
        self.lines.line(text);
    }

    fn function(&mut self, name: &str) -> Result<(), Unsupported> {
        let d = self.dialect;
        for doc in &self.kernel.docs {
            self.lines.out += &format!("// {}\n", comment_line(doc));
        }
        if let Some(name) = &self.described {
            self.lines.out += &format!("// Parameters are those of {name}.\n");
        }
        let is_new = self.described.is_none();
        for p in self.kernel.params.iter().filter(|p| is_new && !p.doc.is_empty()) {
            self.lines.out += &format!("//   {}: {}\n", comment_line(&p.name), comment_line(&p.doc));
        }
        self.consts = self.kernel.consts.iter().map(|c| self.namer.name(&c.name)).collect();
        let (mut params, mut starts) = (Vec::new(), Vec::new());
        for p in &self.kernel.params {
            let name = self.namer.name(&p.name);
            match p.kind {
                ParamKind::Scalar(s) => params.push(format!("{} {name}", d.type_name(s))),
                ParamKind::Pointer(s, access) => {
                    let constness = if access == Access::Read { "const " } else { "" };
                    // Data that other launches may still write is not constant.
                    let changes = self.facts.overlaps() && access != Access::Write;
                    if let Some(Template { waits: Some(id), .. }) = self.template
                        && changes
                    {
                        let (t, waits) = (d.type_name(s), &self.consts[id.0 as usize]);
                        params.push(format!("typename pointer_to<{constness}{t}, {waits}>::type {name}"));
                        self.params.push(name);
                        continue;
                    }
                    let restrict = if changes { String::new() } else { format!("{} ", d.restrict()) };
                    let pointer = format!("{}{constness}{} *{restrict}", d.memory(Memory::Global), d.type_name(s));
                    if d.arrays_have_offsets() {
                        let (buffer, at) =
                            (self.namer.name(&format!("{name}_buffer")), self.namer.name(&format!("{name}_at")));
                        starts.push(format!("{pointer}{name} = {buffer} + {at};"));
                        params.push(format!("{pointer}{buffer}"));
                        params.push(format!("{} {at}", d.type_name(Scalar::I64)));
                    } else {
                        params.push(format!("{pointer}{name}"));
                    }
                }
            }
            self.params.push(name);
        }
        self.helpers.extend(d.head_helper());
        let head = match self.template {
            Some(template) => self.template_head(template, name),
            None => d.kernel_head(self.kernel, name),
        };
        self.lines.out += &wrap_list(&head, &params, ")");
        self.lines.out += "\n{\n";
        self.lines.indent = 1;
        for (i, s) in self.kernel.shared.iter().enumerate() {
            let name = self.namer.name(&s.name);
            let differs = self.template.and_then(|t| t.shared.iter().find(|(id, _)| id.0 as usize == i));
            let len = differs.map_or_else(|| s.len.to_string(), |(_, len)| self.plain(len).text);
            let declared = self.spelled(d.shared_array(s.scalar, &name, &len), Feature::Shared)?;
            self.line(&declared);
            self.shared[i] = name;
        }
        starts.iter().for_each(|start| self.line(start));
        if d.warns_of_unused() {
            for i in 0..self.params.len() {
                if !self.facts.is_param_used(ParamId(i as u32)) {
                    self.line(&format!("(void){};", self.params[i]));
                }
            }
        }
        let kernel = self.kernel;
        self.statements(&kernel.body)?;
        self.lines.out += "}\n";
        Ok(())
    }

    /// The head of a kernel with constants of an instance.
    fn template_head(&mut self, template: &Template, name: &str) -> String {
        let kind = |value: Literal| if value.scalar() == Scalar::Bool { "bool" } else { "int" };
        let consts = self.kernel.consts.iter().zip(&self.consts);
        let consts: Vec<String> = consts.map(|(c, name)| format!("{} {name}", kind(c.value))).collect();
        if consts.is_empty() {
            return self.dialect.kernel_head(self.kernel, name);
        }
        let fixed = || self.kernel.min_blocks.to_string();
        let blocks = template.min_blocks.as_ref().map_or_else(fixed, |blocks| self.plain(blocks).text);
        format!("template <{}>\n__global__ void {} {name}(", consts.join(", "), bounds(self.kernel, &blocks))
    }

    fn block(&mut self, body: &[Stmt]) -> Result<(), Unsupported> {
        self.namer.open();
        self.lines.indent += 1;
        let step = self.step.clone();
        let result = self.statements(body);
        self.step = step;
        self.lines.indent -= 1;
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

    /// The value that a statement gives to the whole scalar `id`, if it does nothing else.
    fn filling(&mut self, id: LocalId, s: &Stmt) -> Result<Option<String>, Unsupported> {
        let is = |p: &Place| *p == Place::Local(id);
        Ok(match s {
            Stmt::Set(p, e) if is(p) && !e.mentions(id) => Some(self.plain(e).text),
            Stmt::Load { dst, space, index, lanes: 1, cache } if is(dst) => Some(self.load_one(*space, index, *cache)),
            Stmt::Shuffle { dst, src, lane } if is(dst) && !src.mentions(id) => Some(self.shuffle(src, lane)?),
            Stmt::Ballot { dst, cond } if is(dst) && !cond.mentions(id) => Some(self.ballot(cond)?),
            _ => None,
        })
    }

    fn declare(&mut self, id: LocalId, constness: &str, value: Option<&str>) {
        let local = self.facts.local(id);
        let name = self.namer.name(&local.name);
        let t = self.dialect.type_name(local.scalar);
        let differs = self.template.and_then(|t| t.lengths.iter().find(|(local, _)| *local == id));
        let len = match differs {
            Some((_, len)) => format!("[{}]", self.plain(len).text),
            None => local.len.map(|n| format!("[{n}]")).unwrap_or_default(),
        };
        match value {
            Some(v) => self.line(&format!("{constness}{t} {name} = {v};")),
            None => self.line(&format!("{t} {name}{len};")),
        }
        if self.dialect.warns_of_unused() && !self.facts.is_read(id) {
            self.line(&format!("(void){name};"));
        }
        self.locals[id.0 as usize] = name;
    }

    fn statement(&mut self, s: &Stmt) -> Result<(), Unsupported> {
        match s {
            Stmt::Comment(text) => {
                self.step = steps::step_of(text);
                self.line(&format!("// {}", comment_line(text)));
            }
            Stmt::Let(id, e) if self.names_argument(*id, e) => {}
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
            Stmt::Ballot { dst, cond } => {
                let value = self.ballot(cond)?;
                let place = self.place(dst);
                self.line(&format!("{place} = {value};"));
            }
            Stmt::Barrier => {
                let text = self.spelled(self.dialect.barrier(), Feature::Barriers)?;
                self.line(text);
            }
            Stmt::SyncWarp => {
                let text = self.spelled(self.dialect.sync_warp(), Feature::Warps)?;
                self.line(text);
            }
            Stmt::CopyAsync { shared, at, global, index, lanes, valid } => {
                let helper = Helper::CopyAsync(self.facts.element(Space::Shared(*shared)), *lanes);
                self.helpers.insert(helper);
                let (to, from) = (self.array(Space::Shared(*shared)), self.array(Space::Global(*global)));
                let (to, from) = (self.address(to, at), self.address(from, index));
                let valid = self.plain(valid).text;
                self.line(&format!("{}({to}, {from}, {valid});", helper.name()));
            }
            Stmt::CommitCopies => self.nullary(Helper::CommitCopies),
            Stmt::WaitCopies(n) => self.nullary(Helper::WaitCopies(*n)),
            Stmt::WaitLaunches => self.nullary(Helper::WaitLaunches),
            Stmt::AllowLaunch => self.nullary(Helper::AllowLaunch),
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
            Stmt::Part { name, doc, body } => self.part(name, doc, body)?,
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
        // Bounds are evaluated once: those that the body changes are saved before the loop.
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
        if let Some(text) = self.dialect.unrolling(unroll) {
            self.line(text);
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
            Place::Elem(id, i) => id.at(*i),
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
        let value = self.step_call(e).unwrap_or_else(|| self.plain(e).text);
        self.line(&format!("{target} = {value};"));
    }

    fn place(&mut self, place: &Place) -> String {
        match place {
            Place::Local(id) => self.scalar(*id),
            Place::Elem(id, index) => {
                let (name, index) = self.element(*id, index);
                format!("{name}[{}]", self.plain(&index).text)
            }
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
            Cache::ReadOnlyIf(id) => {
                let [hinted, plain] = [Cache::ReadOnly, Cache::Default].map(|hint| self.dialect.load(&cell, hint));
                format!("{} ? {hinted} : {plain}", self.constant(id))
            }
            hint => self.dialect.load(&cell, hint),
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
        let (element, hint, memory) = (self.facts.element(space), self.hint(space, cache).into(), self.memory(space));
        let helper = Helper::Load { element, lanes, hint, memory };
        self.helpers.insert(helper);
        let from = self.array(space);
        let from = self.address(from, index);
        let (to, first) = self.element(*id, first);
        let to = self.address(to, &first);
        let name = self.hinted(helper, cache);
        self.line(&format!("{name}({to}, {from});"));
        Ok(())
    }

    /// A helper's name, with the constant that tells whether its hint holds.
    fn hinted(&mut self, helper: Helper, cache: Cache) -> String {
        match cache {
            Cache::KeptIf(id) | Cache::ReadOnlyIf(id) => format!("{}<{}>", helper.name(), self.constant(id)),
            _ => helper.name(),
        }
    }

    fn nullary(&mut self, helper: Helper) {
        self.helpers.insert(helper);
        self.line(&format!("{}();", helper.name()));
    }

    fn hint(&self, space: Space, cache: Cache) -> Cache {
        match space {
            Space::Global(_) if self.dialect.has_hints() => cache,
            _ => Cache::Default,
        }
    }

    /// The memory of an array, if pointer types name it.
    fn memory(&self, space: Space) -> Option<Memory> {
        let differ = self.dialect.memory(Memory::Global) != self.dialect.memory(Memory::Shared);
        differ.then_some(match space {
            Space::Global(_) => Memory::Global,
            Space::Shared(_) => Memory::Shared,
        })
    }

    fn store(&mut self, space: Space, index: &Expr, values: &[Expr], cache: Cache) -> Result<(), Unsupported> {
        let cache = self.hint(space, cache);
        let texts: Vec<String> = values.iter().map(|v| self.plain(v).text).collect();
        if let [value] = &texts[..]
            && !matches!(cache, Cache::Kept | Cache::KeptIf(_))
        {
            let index = self.plain(index).text;
            let cell = format!("{}[{index}]", self.array(space));
            let statement = self.dialect.store(&cell, value, cache);
            self.line(&statement);
            return Ok(());
        }
        let (element, lanes, memory) = (self.facts.element(space), values.len() as u32, self.memory(space));
        let helper = Helper::Store { element, lanes, hint: cache.into(), memory };
        self.helpers.insert(helper);
        let to = self.array(space);
        let to = self.address(to, index);
        let name = self.hinted(helper, cache);
        self.line(&format!("{name}({to}, {});", texts.join(", ")));
        Ok(())
    }

    fn ballot(&mut self, cond: &Expr) -> Result<String, Unsupported> {
        let cond = self.expr(cond).text;
        self.spelled(self.dialect.ballot(&cond), Feature::Ballots)
    }

    fn shuffle(&mut self, src: &Expr, lane: &Lane) -> Result<String, Unsupported> {
        let scalar = self.facts.type_of(src);
        let src = self.expr(src).text;
        let at = match lane {
            Lane::Up(n) | Lane::Down(n) | Lane::Xor(n) => n.to_string(),
            Lane::Index(e) => self.plain(e).text,
        };
        self.spelled(self.dialect.shuffle(scalar, &src, lane, &at), Feature::Shuffles)
    }
}
