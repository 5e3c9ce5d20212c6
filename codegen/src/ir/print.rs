//! Kernel → readable text, for `--emit ir`, snapshots, and statements in errors.
//!
//! The text depends on the kernel alone. Repeated names get a number.

use super::*;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Unique names for a kernel's parameters, shared arrays and locals.
pub struct Names {
    consts: Vec<String>,
    params: Vec<String>,
    shared: Vec<String>,
    locals: Vec<String>,
}

impl Names {
    /// The kernel's own names. From the second use of a name on, `_1`, `_2`, … is appended.
    pub fn new(kernel: &Kernel) -> Names {
        let mut taken = HashSet::new();
        // Last number appended: all before it are taken.
        let mut last: HashMap<_, u32> = HashMap::new();
        let mut fresh = |name: &str| {
            let mut unique = name.to_string();
            let n = last.entry(unique.clone()).or_default();
            while !taken.insert(unique.clone()) {
                *n += 1;
                unique = format!("{name}_{n}");
            }
            unique
        };
        Names {
            consts: kernel.consts.iter().map(|c| fresh(&c.name)).collect(),
            params: kernel.params.iter().map(|p| fresh(&p.name)).collect(),
            shared: kernel.shared.iter().map(|s| fresh(&s.name)).collect(),
            locals: kernel.locals.iter().map(|l| fresh(&l.name)).collect(),
        }
    }

    /// Name of a parameter; `param#7` if it does not exist (invalid kernels are printed too).
    pub fn param(&self, id: ParamId) -> String {
        self.params.get(id.0 as usize).cloned().unwrap_or_else(|| format!("param#{}", id.0))
    }

    /// Name of a shared array.
    pub fn shared(&self, id: SharedId) -> String {
        self.shared.get(id.0 as usize).cloned().unwrap_or_else(|| format!("shared#{}", id.0))
    }

    /// Name of a local.
    pub fn local(&self, id: LocalId) -> String {
        self.locals.get(id.0 as usize).cloned().unwrap_or_else(|| format!("local#{}", id.0))
    }

    /// Name of an array in memory.
    pub fn space(&self, space: Space) -> String {
        match space {
            Space::Global(p) => self.param(p),
            Space::Shared(s) => self.shared(s),
        }
    }

    fn place(&self, place: &Place, lanes: u32) -> String {
        match place {
            Place::Local(l) => self.local(*l),
            Place::Elem(l, i) => format!("{}[{}]", self.local(*l), self.range(i, lanes)),
        }
    }

    fn range(&self, first: &Expr, lanes: u32) -> String {
        match lanes {
            1 => self.expr(first),
            n => format!("{}; {n}", self.expr(first)),
        }
    }

    /// An expression, with no more parentheses than needed.
    pub fn expr(&self, e: &Expr) -> String {
        let mut out = String::new();
        self.write_expr(&mut out, e, 0);
        out
    }

    /// Writes `e`, in parentheses if it binds more weakly than `above`.
    fn write_expr(&self, out: &mut String, e: &Expr, above: u8) {
        let call = |out: &mut String, name: &str, args: &[&Expr]| {
            out.push_str(name);
            out.push('(');
            for (i, arg) in args.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                self.write_expr(out, arg, 0);
            }
            out.push(')');
        };
        match e {
            Expr::Lit(l) => out.push_str(&literal(l)),
            Expr::Local(l) => out.push_str(&self.local(*l)),
            Expr::Elem(l, i) => {
                out.push_str(&self.local(*l));
                out.push('[');
                self.write_expr(out, i, 0);
                out.push(']');
            }
            Expr::Param(p) => out.push_str(&self.param(*p)),
            Expr::Const(c) => match self.consts.get(c.0 as usize) {
                Some(name) => out.push_str(name),
                None => *out += &format!("const#{}", c.0),
            },
            Expr::Builtin(b) => out.push_str(builtin(*b)),
            Expr::Unary(UnOp::CountOnes, a) => call(out, "count_ones", &[a]),
            Expr::Unary(UnOp::LeadingZeros, a) => call(out, "leading_zeros", &[a]),
            Expr::Unary(op, a) => {
                out.push(if *op == UnOp::Neg { '-' } else { '!' });
                self.write_expr(out, a, 9);
            }
            Expr::Binary(BinOp::Min, a, b) => call(out, "min", &[a, b]),
            Expr::Binary(BinOp::Max, a, b) => call(out, "max", &[a, b]),
            Expr::Binary(BinOp::Pack { low: 0, high: 0 }, a, b) => call(out, "pack", &[a, b]),
            Expr::Binary(BinOp::Pack { low, high }, a, b) => call(out, &format!("pack_{low}{high}"), &[a, b]),
            Expr::Binary(op, a, b) => {
                let (symbol, level) = operator(*op);
                let open = level < above;
                if open {
                    out.push('(');
                }
                // Comparisons do not chain: both operands are parenthesised if they compare.
                self.write_expr(out, a, if op.is_comparison() { level + 1 } else { level });
                let _ = write!(out, " {symbol} ");
                self.write_expr(out, b, level + 1);
                if open {
                    out.push(')');
                }
            }
            Expr::Select(c, a, b) => call(out, "select", &[c, a, b]),
            Expr::Cast(to, a) => call(out, to.name(), &[a]),
            Expr::Mirror(i, n) => call(out, "mirror", &[i, n]),
            Expr::MirrorNear(i, n) => call(out, "mirror_near", &[i, n]),
            Expr::Wrap(i, n) => call(out, "wrap", &[i, n]),
            Expr::Dot { pair, weights, sum } => {
                let [low, high] = weights.map(|w| Expr::from(i32::from(w)));
                call(out, "dot", &[pair, &low, &high, sum]);
            }
        }
    }

    /// The statement on one line; for statements with bodies, their head.
    pub fn head(&self, stmt: &Stmt, kernel: &Kernel) -> String {
        let hint = |cache: &Cache| match cache {
            Cache::Default => "",
            Cache::Streaming => ", streaming",
            Cache::ReadOnly => ", read-only",
            Cache::Kept => ", kept",
            Cache::KeptIf(_) => ", kept-if",
            Cache::ReadOnlyIf(_) => ", read-only-if",
        };
        match stmt {
            Stmt::Comment(text) => format!("// {text}"),
            Stmt::Let(l, e) => format!("let {}: {} = {}", self.local(*l), self.local_type(*l, kernel), self.expr(e)),
            Stmt::Declare(l) => format!("let {}: {}", self.local(*l), self.local_type(*l, kernel)),
            Stmt::Set(place, e) => format!("{} = {}", self.place(place, 1), self.expr(e)),
            Stmt::Load { dst, space, index, lanes, cache } => format!(
                "{} = load {}[{}]{}",
                self.place(dst, *lanes),
                self.space(*space),
                self.range(index, *lanes),
                hint(cache)
            ),
            Stmt::Store { space, index, values, cache } => format!(
                "store {}[{}] = {}{}",
                self.space(*space),
                self.range(index, values.len() as u32),
                values.iter().map(|v| self.expr(v)).collect::<Vec<_>>().join(", "),
                hint(cache)
            ),
            Stmt::Shuffle { dst, src, lane } => format!(
                "{} = shuffle {} of {}",
                self.place(dst, 1),
                match lane {
                    Lane::Up(n) => format!("up {n}"),
                    Lane::Down(n) => format!("down {n}"),
                    Lane::Xor(n) => format!("xor {n}"),
                    Lane::Index(e) => format!("from lane {}", self.expr(e)),
                },
                self.expr(src)
            ),
            Stmt::Ballot { dst, cond } => format!("{} = ballot of {}", self.place(dst, 1), self.expr(cond)),
            Stmt::CopyAsync { shared, at, global, index, lanes, valid } => format!(
                "copy {}[{}] = {}[{}], {} valid, asynchronous",
                self.shared(*shared),
                self.range(at, *lanes),
                self.param(*global),
                self.range(index, *lanes),
                self.expr(valid)
            ),
            Stmt::CommitCopies => "commit copies".into(),
            Stmt::WaitCopies(n) => format!("wait for copies, all but {n} groups"),
            Stmt::SyncWarp => "sync warp".into(),
            Stmt::Barrier => "barrier".into(),
            Stmt::WaitLaunches => "wait for launches".into(),
            Stmt::AllowLaunch => "allow the next launch".into(),
            Stmt::If { cond, .. } => format!("if {}", self.expr(cond)),
            Stmt::For { var, from, to, step, unroll, .. } => format!(
                "for {} in {}..{}{}{}",
                self.local(*var),
                self.expr(from),
                self.expr(to),
                if *step == Expr::i32(1) { String::new() } else { format!(" step {}", self.expr(step)) },
                if *unroll { " unrolled" } else { "" }
            ),
            Stmt::While { cond, .. } => format!("while {}", self.expr(cond)),
            Stmt::Part { name, .. } => format!("part {name}"),
        }
    }

    fn local_type(&self, id: LocalId, kernel: &Kernel) -> String {
        match kernel.locals.get(id.0 as usize) {
            Some(Local { scalar, len: Some(n), .. }) => format!("[{}; {n}]", scalar.name()),
            Some(Local { scalar, len: None, .. }) => scalar.name().into(),
            None => "?".into(),
        }
    }

    fn write_body(&self, out: &mut String, body: &[Stmt], depth: usize, kernel: &Kernel) {
        let pad = "    ".repeat(depth);
        for stmt in body {
            let head = self.head(stmt, kernel);
            match stmt {
                Stmt::If { then, otherwise, .. } => {
                    let _ = writeln!(out, "{pad}{head} {{");
                    self.write_body(out, then, depth + 1, kernel);
                    if !otherwise.is_empty() {
                        let _ = writeln!(out, "{pad}}} else {{");
                        self.write_body(out, otherwise, depth + 1, kernel);
                    }
                    let _ = writeln!(out, "{pad}}}");
                }
                Stmt::For { body, .. } | Stmt::While { body, .. } | Stmt::Part { body, .. } => {
                    let _ = writeln!(out, "{pad}{head} {{");
                    self.write_body(out, body, depth + 1, kernel);
                    let _ = writeln!(out, "{pad}}}");
                }
                Stmt::Comment(text) => {
                    for line in text.lines() {
                        let _ = writeln!(out, "{pad}// {line}");
                    }
                }
                _ => {
                    let _ = writeln!(out, "{pad}{head}");
                }
            }
        }
    }
}

fn literal(l: &Literal) -> String {
    match l {
        Literal::Int(v, Scalar::I32) => v.to_string(),
        Literal::Int(v, s) => format!("{v}{}", s.name()),
        Literal::F32(v) => format!("{v:?}f32"),
        Literal::F64(v) => format!("{v:?}f64"),
        Literal::Bool(v) => v.to_string(),
    }
}

fn builtin(b: Builtin) -> &'static str {
    match b {
        Builtin::ThreadX => "thread.x",
        Builtin::ThreadY => "thread.y",
        Builtin::ThreadZ => "thread.z",
        Builtin::BlockX => "block.x",
        Builtin::BlockY => "block.y",
        Builtin::BlockZ => "block.z",
        Builtin::GridX => "grid.x",
        Builtin::GridY => "grid.y",
        Builtin::GridZ => "grid.z",
        Builtin::Lane => "lane",
    }
}

/// Symbol and precedence, as in Rust.
fn operator(op: BinOp) -> (&'static str, u8) {
    use BinOp::*;
    match op {
        Mul => ("*", 8),
        Div => ("/", 8),
        Rem => ("%", 8),
        Add => ("+", 7),
        Sub => ("-", 7),
        Shl => ("<<", 6),
        Shr => (">>", 6),
        And => ("&", 5),
        Xor => ("^", 4),
        Or => ("|", 3),
        Eq => ("==", 2),
        Ne => ("!=", 2),
        Lt => ("<", 2),
        Le => ("<=", 2),
        Gt => (">", 2),
        Ge => (">=", 2),
        Min | Max | Pack { .. } => ("", 9),
    }
}

/// The kernel as text.
///
/// ```
/// use lifting_codegen::ir::{build::Builder, print, *};
/// let mut b = Builder::new("double");
/// let data = b.pointer("data", Scalar::I32, Access::ReadWrite, "values to double");
/// let x = b.load_new("x", Scalar::I32, Space::Global(data), Builtin::ThreadX);
/// b.store(Space::Global(data), Builtin::ThreadX, x * 2);
/// let kernel = b.finish(Launch { block: [32, 1, 1], grid: [1.into(), 1.into(), 1.into()] });
/// assert!(print::kernel(&kernel).contains("store data[thread.x] = x * 2"));
/// ```
pub fn kernel(kernel: &Kernel) -> String {
    let names = Names::new(kernel);
    let mut out = String::new();
    for line in &kernel.docs {
        let _ = writeln!(out, "/// {line}");
    }
    let _ = writeln!(out, "kernel {}(", kernel.name);
    for (i, p) in kernel.params.iter().enumerate() {
        let kind = match p.kind {
            ParamKind::Pointer(s, Access::Read) => format!("*const {}", s.name()),
            ParamKind::Pointer(s, Access::Write) => format!("*write {}", s.name()),
            ParamKind::Pointer(s, Access::ReadWrite) => format!("*mut {}", s.name()),
            ParamKind::Scalar(s) => s.name().into(),
        };
        let doc = if p.doc.is_empty() { String::new() } else { format!(" // {}", p.doc) };
        let _ = writeln!(out, "    {}: {kind},{doc}", names.params[i]);
    }
    out.push_str(")\n");
    let [bx, by, bz] = kernel.launch.block;
    let grid = kernel.launch.grid.iter().map(|e| names.expr(e)).collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "launch block ({bx}, {by}, {bz}) grid ({grid})");
    if kernel.warp != WARP {
        let _ = writeln!(out, "warps of {} lanes", kernel.warp);
    }
    if kernel.min_blocks > 0 {
        let _ = writeln!(out, "resident blocks at least {}", kernel.min_blocks);
    }
    if !kernel.settled.is_empty() {
        let settled: Vec<String> = kernel.settled.iter().map(|p| names.param(*p)).collect();
        let _ = writeln!(out, "settled {}", settled.join(", "));
    }
    for (i, s) in kernel.shared.iter().enumerate() {
        let _ = writeln!(out, "shared {}: [{}; {}]", names.shared[i], s.scalar.name(), s.len);
    }
    out.push_str("{\n");
    names.write_body(&mut out, &kernel.body, 1, kernel);
    out.push_str("}\n");
    out
}
