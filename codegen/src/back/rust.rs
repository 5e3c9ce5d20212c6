//! Rust: kernels of one thread as safe functions over slices.
//!
//! Only sample data may overflow ([`Facts::is_data`]): sums and products of it are `wrapping_*`, indices are computed
//! plainly. No line is long: where an expression would not fit, its longest operand becomes a variable of its own, so
//! that the text is as rustfmt would lay it out.

use super::facts::{Facts, assigned_in};
use super::namer::Namer;
use super::{Unsupported, comment_line, digits};
use crate::ir::valid::KernelInfo;
use crate::ir::*;
use std::collections::BTreeSet;

/// What rustfmt keeps on one line: arguments, chains and conditionals are broken beyond 60, 60 and 50 columns.
const WIDTH: usize = 48;

/// Words that no variable may be called: Rust's keywords, and what the text around kernels defines.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "bool", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "f32", "f64", "false", "final", "fn", "for", "gen", "i16", "i32", "i64", "if", "impl",
    "in", "let", "loop", "macro", "match", "mirror", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "union", "unsafe", "unsized", "use",
    "usize", "virtual", "where", "while", "wrap", "yield",
];

/// A function that kernels may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Helper {
    /// `mirror(i, n)`.
    Mirror,
    /// `wrap(i, n)`.
    Wrap,
}

impl Helper {
    /// The function's name.
    pub fn name(self) -> &'static str {
        match self {
            Helper::Mirror => "mirror",
            Helper::Wrap => "wrap",
        }
    }

    /// Its definition.
    pub fn definition(self) -> &'static str {
        match self {
            Helper::Mirror => MIRROR,
            Helper::Wrap => WRAP,
        }
    }
}

const MIRROR: &str = "\
/// Index i reflected about 0 and n - 1 until it lies between them.
fn mirror(i: i32, n: i32) -> i32 {
    if n == 1 {
        return 0;
    }
    let period = 2 * (i64::from(n) - 1);
    let j = i64::from(i).rem_euclid(period);
    j.min(period - j) as i32
}
";

const WRAP: &str = "\
/// Index i modulo n, in 0..n.
fn wrap(i: i32, n: i32) -> i32 {
    i.rem_euclid(n)
}
";

/// Writes a kernel's function. Pointers that are written stand in one slice if there are two of them, `low` and `high`:
/// the slice begins with the first, and the second's name becomes its offset.
///
/// # Errors
/// If the kernel is not for one thread.
pub fn write_kernel(
    (kernel, info): (&Kernel, &KernelInfo),
    name: &str,
    helpers: &mut BTreeSet<Helper>,
) -> Result<String, Unsupported> {
    let mut w = Writer {
        kernel,
        helpers,
        facts: Facts::of(kernel, info),
        namer: Namer::new(&[RESERVED]),
        arrays: vec![(String::new(), None); kernel.params.len()],
        params: vec![String::new(); kernel.params.len()],
        locals: vec![String::new(); kernel.locals.len()],
        out: String::new(),
        indent: 1,
    };
    let one = |e: &Expr| matches!(e, Expr::Lit(Literal::Int(1, _)));
    if kernel.launch.block != [1; 3] || !kernel.launch.grid.iter().all(one) || !kernel.shared.is_empty() {
        return w.unsupported("it runs in many threads; use the `rows` schedule, which has one");
    }
    w.function(name)?;
    Ok(w.out)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Prec {
    Or,
    And,
    Relation,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Cast,
    Unary,
    Primary,
}

struct Text {
    text: String,
    prec: Prec,
    scalar: Scalar,
}

impl Text {
    fn at(&self, min: Prec) -> String {
        if self.prec < min { format!("({})", self.text) } else { self.text.clone() }
    }

    /// As what a method is called on: a literal needs its type.
    fn receiver(&self) -> String {
        // A call may begin with one: `9_i32.wrapping_mul(x)`.
        let literal =
            self.text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) && !self.text.ends_with(')');
        if literal && self.prec >= Prec::Unary {
            let text = format!("{}_{}", self.text, self.scalar.name());
            return if self.prec == Prec::Unary { format!("({text})") } else { text };
        }
        self.at(Prec::Primary)
    }
}

struct Writer<'a> {
    kernel: &'a Kernel,
    helpers: &'a mut BTreeSet<Helper>,
    facts: Facts<'a>,
    namer: Namer,
    /// Slice of a pointer parameter, and the name of its offset there.
    arrays: Vec<(String, Option<String>)>,
    params: Vec<String>,
    locals: Vec<String>,
    out: String,
    indent: usize,
}

impl Writer<'_> {
    fn unsupported<T>(&self, what: &str) -> Result<T, Unsupported> {
        Err(Unsupported { kernel: self.kernel.name.clone(), target: "Rust", what: what.into() })
    }

    fn line(&mut self, text: &str) {
        self.out += &"    ".repeat(self.indent);
        self.out += text;
        self.out.push('\n');
    }

    fn function(&mut self, name: &str) -> Result<(), Unsupported> {
        let kernel = self.kernel;
        for doc in &kernel.docs {
            self.out += &format!("/// {}\n", comment_line(doc));
        }
        self.out +=
            &format!("#[allow(clippy::too_many_arguments, clippy::int_plus_one)]\n#[inline(always)]\nfn {name}(\n");
        let is = |i: usize, wish: &str| {
            kernel.params.get(i).is_some_and(|p| {
                p.name == wish && matches!(p.kind, ParamKind::Pointer(_, Access::Write | Access::ReadWrite))
            })
        };
        for (i, p) in kernel.params.iter().enumerate() {
            let wish = if is(i, "low") && is(i + 1, "high") { "bands" } else { &p.name };
            let name = self.namer.name(wish);
            let used = self.facts.is_param_used(ParamId(i as u32));
            let declared = if used { name.clone() } else { format!("_{name}") };
            let t = match p.kind {
                ParamKind::Scalar(s) => s.name().to_string(),
                ParamKind::Pointer(..) if is(i, "high") && is(i - 1, "low") => {
                    self.arrays[i] = (self.arrays[i - 1].0.clone(), Some(name.clone()));
                    "i64".into()
                }
                ParamKind::Pointer(s, access) => {
                    self.arrays[i] = (name.clone(), None);
                    format!("&{}[{}]", if access == Access::Read { "" } else { "mut " }, s.name())
                }
            };
            self.line(&format!("{declared}: {t},"));
            self.params[i] = name;
        }
        self.out += ") {\n";
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
        while let [first, tail @ ..] = rest {
            rest = tail;
            // What is declared and loaded at once is one line.
            if let Stmt::Declare(id) = first
                && let [
                    Stmt::Load { dst: Place::Local(dst), space: Space::Global(array), index, lanes: 1, .. },
                    tail @ ..,
                ] = tail
                && dst == id
                && self.facts.is_set_once(*id)
            {
                let cell = self.cell(*array, index);
                self.declare(*id, Some(Text { text: cell, prec: Prec::Primary, scalar: self.facts.local(*id).scalar }));
                rest = tail;
            } else {
                self.statement(first)?;
            }
        }
        Ok(())
    }

    /// Declares a local, with a value or for later.
    fn declare(&mut self, id: LocalId, value: Option<Text>) {
        let local = self.facts.local(id);
        let name = self.namer.name(&local.name);
        let mutable = if value.is_some() && !self.facts.is_set_once(id) { "mut " } else { "" };
        let t = local.scalar.name();
        match value {
            Some(v) => {
                let line = format!("let {mutable}{name}: {t} = {};", v.text);
                let too_long = 4 * self.indent + line.len() > 100;
                self.line(&if too_long {
                    line.replacen(" = ", &format!(" =\n{}", "    ".repeat(self.indent + 1)), 1)
                } else {
                    line
                });
            }
            None if self.facts.is_set_once(id) => self.line(&format!("let {name}: {t};")),
            None => self.line(&format!("let mut {name}: {t};")),
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
            Stmt::Declare(id) if self.facts.local(*id).len.is_none() => self.declare(*id, None),
            Stmt::Set(Place::Local(id), e) => {
                let value = self.expr(e).text;
                self.line(&format!("{} = {value};", self.locals[id.0 as usize]));
            }
            Stmt::Load { dst: Place::Local(id), space: Space::Global(array), index, lanes: 1, .. } => {
                let cell = self.cell(*array, index);
                self.line(&format!("{} = {cell};", self.locals[id.0 as usize]));
            }
            Stmt::Store { space: Space::Global(array), index, values, .. } if values.len() == 1 => {
                let mut value = self.expr(&values[0]);
                let cell = self.cell(*array, index);
                // An assignment too long for 100 columns takes its value from a variable.
                if 4 * self.indent + cell.len() + value.text.len() + 4 > 100 {
                    self.fit(&mut [&mut value], WIDTH);
                }
                let value = value.text;
                self.line(&format!("{cell} = {value};"));
            }
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
            Stmt::For { var, from, to, step, body, .. } => {
                let (mut from, mut to) = (self.expr(from), self.expr(to));
                self.fit(&mut [&mut from, &mut to], 8);
                let range = format!("{}..{}", from.at(Prec::Or), to.at(Prec::Or));
                let range = match step {
                    Expr::Lit(Literal::Int(1, _)) => range,
                    Expr::Lit(Literal::Int(n, _)) => format!("({range}).step_by({n})"),
                    _ => return self.unsupported("a loop's step is not a constant"),
                };
                let assigned = assigned_in(body);
                if assigned.contains(var) {
                    return self.unsupported("a loop's body sets its variable");
                }
                self.namer.open();
                let name = self.namer.name(&self.facts.local(*var).name);
                self.locals[var.0 as usize] = name.clone();
                self.line(&format!("for {name} in {range} {{"));
                let result = self.block(body);
                self.namer.close();
                result?;
                self.line("}");
            }
            _ => {
                return self
                    .unsupported("it has statements for many threads or wide accesses; use the `rows` schedule");
            }
        }
        Ok(())
    }

    fn cell(&mut self, array: ParamId, index: &Expr) -> String {
        let mut index = self.expr(index);
        let (name, offset) = self.arrays[array.0 as usize].clone();
        if let Some(offset) = offset {
            let mut offset = Text { text: offset, prec: Prec::Primary, scalar: Scalar::I64 };
            index = self.join(BinOp::Add, &mut offset, &mut index, Scalar::I64);
        }
        self.fit(&mut [&mut index], name.len() + 12);
        format!("{name}[{} as usize]", index.at(Prec::Cast))
    }

    /// Makes variables of the longest texts until all fit one line beside `rest` other characters.
    fn fit(&mut self, parts: &mut [&mut Text], rest: usize) {
        while parts.iter().map(|p| p.text.len()).sum::<usize>() + rest > WIDTH {
            let longest = parts.iter_mut().max_by_key(|p| p.text.len()).expect("there are parts");
            if longest.text.len() <= 12 {
                return;
            }
            let name = self.namer.name("part");
            self.line(&format!("let {name}: {} = {};", longest.scalar.name(), longest.text));
            (longest.text, longest.prec) = (name, Prec::Primary);
        }
    }

    fn expr(&mut self, e: &Expr) -> Text {
        let scalar = self.facts.type_of(e);
        let new = |text: String, prec: Prec| Text { text, prec, scalar };
        match e {
            Expr::Lit(l) => {
                let text = match *l {
                    Literal::Bool(b) => b.to_string(),
                    Literal::Int(v, _) => v.to_string(),
                    Literal::F32(x) if x.is_finite() => digits(format!("{x:?}")),
                    Literal::F64(x) if x.is_finite() => digits(format!("{x:?}")),
                    Literal::F32(x) => format!("f32::from_bits({:#x})", x.to_bits()),
                    Literal::F64(x) => format!("f64::from_bits({:#x})", x.to_bits()),
                };
                let prec = if text.starts_with('-') { Prec::Unary } else { Prec::Primary };
                new(text, prec)
            }
            Expr::Local(id) | Expr::Elem(id, _) => new(self.locals[id.0 as usize].clone(), Prec::Primary),
            Expr::Param(id) => new(self.params[id.0 as usize].clone(), Prec::Primary),
            Expr::Builtin(b) => {
                let grid = matches!(b, Builtin::GridX | Builtin::GridY | Builtin::GridZ);
                new(if grid { "1" } else { "0" }.into(), Prec::Primary)
            }
            Expr::Unary(op, a) => {
                let data = self.facts.is_data(a) && scalar.is_integer();
                let mut a = self.expr(a);
                self.fit(&mut [&mut a], 16);
                match op {
                    UnOp::Neg if data => new(format!("{}.wrapping_neg()", a.receiver()), Prec::Primary),
                    UnOp::Neg => new(format!("-{}", a.at(Prec::Primary)), Prec::Unary),
                    UnOp::Not => new(format!("!{}", a.at(Prec::Unary)), Prec::Unary),
                }
            }
            Expr::Binary(op, a, b) => {
                let wraps = self.facts.is_data(e) && self.facts.type_of(a).is_integer();
                let (mut a, mut b) = (self.expr(a), self.expr(b));
                if let BinOp::Pack { low, high } = *op {
                    self.fit(&mut [&mut a, &mut b], 32);
                    let part = |a: &Text, byte: u8| match byte {
                        0 => a.at(Prec::Unary),
                        _ => format!("({} >> {})", a.at(Prec::Shift), 8 * byte),
                    };
                    let (low, high) = (part(&a, low), part(&b, high));
                    return new(format!("({low} & 0xffff) | ({high} << 16)"), Prec::BitOr);
                }
                let method = match op {
                    BinOp::Min => Some("min"),
                    BinOp::Max => Some("max"),
                    BinOp::Add if wraps => Some("wrapping_add"),
                    BinOp::Sub if wraps => Some("wrapping_sub"),
                    BinOp::Mul if wraps => Some("wrapping_mul"),
                    _ => None,
                };
                let Some(method) = method else { return self.join(*op, &mut a, &mut b, scalar) };
                self.fit(&mut [&mut a, &mut b], method.len() + 9);
                new(format!("{}.{method}({})", a.receiver(), b.text), Prec::Primary)
            }
            Expr::Select(c, a, b) => {
                let (mut c, mut a, mut b) = (self.expr(c), self.expr(a), self.expr(b));
                self.fit(&mut [&mut c, &mut a, &mut b], 17);
                let name = self.namer.name("chosen");
                let t = scalar.name();
                self.line(&format!("let {name}: {t} = if {} {{ {} }} else {{ {} }};", c.text, a.text, b.text));
                new(name, Prec::Primary)
            }
            Expr::Cast(to, a) => {
                let mut a = self.expr(a);
                if a.scalar == *to {
                    return a;
                }
                self.fit(&mut [&mut a], 10);
                if *to == Scalar::Bool {
                    return new(format!("{} != 0", a.at(Prec::BitOr)), Prec::Relation);
                }
                if a.text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
                    a.text = a.receiver();
                    a.prec = Prec::Primary;
                }
                new(format!("{} as {}", a.at(Prec::Cast), to.name()), Prec::Cast)
            }
            Expr::Dot { pair, weights: [low, high], sum } => {
                let (mut pair, mut sum) = (self.expr(pair), self.expr(sum));
                self.fit(&mut [&mut pair, &mut sum], 80);
                let term = |half: String, weight: &i8| format!(".wrapping_add({half} as i16 as i32 * {weight})");
                let terms = [term(pair.at(Prec::Cast), low), term(format!("({} >> 16)", pair.at(Prec::Shift)), high)];
                new(format!("{}{}", sum.receiver(), terms.concat()), Prec::Primary)
            }
            Expr::Mirror(i, n) | Expr::MirrorNear(i, n) | Expr::Wrap(i, n) => {
                let (mut i, mut n) = (self.expr(i), self.expr(n));
                self.fit(&mut [&mut i, &mut n], 10);
                let helper = if matches!(e, Expr::Wrap(..)) { Helper::Wrap } else { Helper::Mirror };
                self.helpers.insert(helper);
                new(format!("{}({}, {})", helper.name(), i.text, n.text), Prec::Primary)
            }
        }
    }

    fn join(&mut self, op: BinOp, a: &mut Text, b: &mut Text, scalar: Scalar) -> Text {
        use BinOp::*;
        self.fit(&mut [&mut *a, &mut *b], 8);
        let logical = a.scalar == Scalar::Bool;
        let (symbol, prec) = match op {
            Add => ("+", Prec::Sum),
            Sub => ("-", Prec::Sum),
            Mul => ("*", Prec::Product),
            Div => ("/", Prec::Product),
            Rem => ("%", Prec::Product),
            Shl => ("<<", Prec::Shift),
            Shr => (">>", Prec::Shift),
            Lt => ("<", Prec::Relation),
            Le => ("<=", Prec::Relation),
            Gt => (">", Prec::Relation),
            Ge => (">=", Prec::Relation),
            Eq => ("==", Prec::Relation),
            Ne => ("!=", Prec::Relation),
            And if logical => ("&&", Prec::And),
            Or if logical => ("||", Prec::Or),
            And => ("&", Prec::BitAnd),
            Or => ("|", Prec::BitOr),
            Xor => ("^", Prec::BitXor),
            Min | Max | Pack { .. } => unreachable!("these are written otherwise"),
        };
        // `x as i32 < y` would begin a generic type, and a literal that is shifted needs its type.
        let left = match prec {
            Prec::Shift if a.text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => a.receiver(),
            Prec::Shift => a.at(Prec::Unary),
            Prec::Relation if a.text.contains(" as ") => a.at(Prec::Unary),
            Prec::Relation => a.at(Prec::BitOr),
            Prec::And | Prec::Or if a.prec != prec => a.at(Prec::Relation),
            _ => a.at(prec),
        };
        let right = match prec {
            Prec::Sum => b.at(Prec::Product),
            Prec::Product => b.at(Prec::Cast),
            Prec::Relation => b.at(Prec::BitOr),
            Prec::And | Prec::Or => b.at(Prec::Relation),
            _ => b.at(Prec::Unary),
        };
        Text { text: format!("{left} {symbol} {right}"), prec, scalar }
    }
}
