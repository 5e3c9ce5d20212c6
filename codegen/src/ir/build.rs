//! Kernel construction: operators on expressions, and a statement builder.

use super::*;
use std::ops;

impl Expr {
    /// An `i32` literal.
    pub fn i32(v: i64) -> Expr {
        Expr::Lit(Literal::Int(v, Scalar::I32))
    }

    /// An `i64` literal.
    pub fn i64(v: i64) -> Expr {
        Expr::Lit(Literal::Int(v, Scalar::I64))
    }

    /// A literal of an integer type.
    pub fn int(v: i64, scalar: Scalar) -> Expr {
        Expr::Lit(Literal::Int(v, scalar))
    }

    /// A binary operation. It is folded if both operands are integer literals of one type and the result fits, or if
    /// one operand is neutral.
    pub fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
        use BinOp::*;
        if let (Expr::Lit(Literal::Int(x, s)), Expr::Lit(Literal::Int(y, t))) = (&a, &b)
            && s == t
        {
            let folded = match op {
                Add => x.checked_add(*y),
                Sub => x.checked_sub(*y),
                Mul => x.checked_mul(*y),
                Div => x.checked_div(*y),
                Rem => x.checked_rem(*y),
                Min => Some(*x.min(y)),
                Max => Some(*x.max(y)),
                _ => None,
            };
            if let Some(v) = folded.filter(|v| s.holds(*v)) {
                return Expr::int(v, *s);
            }
        }
        let is = |e: &Expr, v: i64| matches!(e, Expr::Lit(Literal::Int(x, _)) if *x == v);
        match op {
            // x + −c becomes x − c.
            Add => {
                if let Expr::Lit(Literal::Int(y, s)) = &b
                    && *y < 0
                    && s.holds(-*y)
                {
                    return Expr::Binary(Sub, a.into(), Expr::int(-*y, *s).into());
                }
                if is(&b, 0) {
                    return a;
                }
                if is(&a, 0) {
                    return b;
                }
            }
            Sub => {
                if let Expr::Lit(Literal::Int(y, s)) = &b
                    && *y < 0
                    && s.holds(-*y)
                {
                    return Expr::Binary(Add, a.into(), Expr::int(-*y, *s).into());
                }
                if is(&b, 0) {
                    return a;
                }
            }
            Shl | Shr if is(&b, 0) => return a,
            Mul | Div if is(&b, 1) => return a,
            Mul if is(&a, 1) => return b,
            _ => {}
        }
        Expr::Binary(op, a.into(), b.into())
    }

    /// [`Expr::Mirror`] of an index in a length.
    pub fn mirror(index: impl Into<Expr>, length: impl Into<Expr>) -> Expr {
        Expr::Mirror(index.into().into(), length.into().into())
    }

    /// [`Expr::Wrap`] of an index in a length.
    pub fn wrap(index: impl Into<Expr>, length: impl Into<Expr>) -> Expr {
        Expr::Wrap(index.into().into(), length.into().into())
    }
}

/// Operators and methods of expressions, for the expressions themselves and for what names one.
macro_rules! operators {
    ($($type:ident)*) => {$(
        impl $type {
            /// `self == other`.
            pub fn eq_(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Eq, self.into(), other.into())
            }

            /// `self != other`.
            pub fn ne_(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Ne, self.into(), other.into())
            }

            /// `self < other`.
            pub fn lt(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Lt, self.into(), other.into())
            }

            /// `self <= other`.
            pub fn le(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Le, self.into(), other.into())
            }

            /// `self > other`.
            pub fn gt(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Gt, self.into(), other.into())
            }

            /// `self >= other`.
            pub fn ge(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Ge, self.into(), other.into())
            }

            /// Smaller of two.
            pub fn min(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Min, self.into(), other.into())
            }

            /// Larger of two.
            pub fn max(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Max, self.into(), other.into())
            }

            /// Two 16-bit samples of type `i32` in a word: see [`BinOp::Pack`].
            pub fn pack(self, high: impl Into<Expr>) -> Expr {
                self.pack_from(0, high, 0)
            }

            /// Two 16-bit samples in a word, taken from these bytes of two words on: see [`BinOp::Pack`].
            pub fn pack_from(self, low: u8, other: impl Into<Expr>, high: u8) -> Expr {
                Expr::binary(BinOp::Pack { low, high }, self.into(), other.into())
            }

            /// `self + weights[0]·low + weights[1]·high` of the halves of a word: see [`Expr::Dot`].
            pub fn dot(self, pair: impl Into<Expr>, weights: [i8; 2]) -> Expr {
                Expr::Dot { pair: pair.into().into(), weights, sum: Expr::from(self).into() }
            }

            /// Logical (on `bool`) or bitwise and.
            pub fn and(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::And, self.into(), other.into())
            }

            /// Logical (on `bool`) or bitwise or.
            pub fn or(self, other: impl Into<Expr>) -> Expr {
                Expr::binary(BinOp::Or, self.into(), other.into())
            }

            /// Conversion; folded for integer literals that fit.
            pub fn cast(self, to: Scalar) -> Expr {
                match Expr::from(self) {
                    Expr::Lit(Literal::Int(v, _)) if to.is_integer() && to.holds(v) => Expr::int(v, to),
                    e => Expr::Cast(to, e.into()),
                }
            }

            /// Number of bits that are 1.
            pub fn count_ones(self) -> Expr {
                Expr::Unary(UnOp::CountOnes, Expr::from(self).into())
            }

            /// Number of 0 bits above the highest 1.
            pub fn leading_zeros(self) -> Expr {
                Expr::Unary(UnOp::LeadingZeros, Expr::from(self).into())
            }

            /// `self ? a : b`.
            pub fn select(self, a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
                Expr::Select(Expr::from(self).into(), a.into().into(), b.into().into())
            }
        }

        impl ops::Neg for $type {
            type Output = Expr;
            fn neg(self) -> Expr {
                Expr::Unary(UnOp::Neg, Expr::from(self).into())
            }
        }

        impl ops::Not for $type {
            type Output = Expr;
            fn not(self) -> Expr {
                Expr::Unary(UnOp::Not, Expr::from(self).into())
            }
        }

        operators! { $type: Add add, Sub sub, Mul mul, Div div, Rem rem, Shl shl, Shr shr }
    )*};
    ($type:ident: $($trait:ident $method:ident),*) => {$(
        impl<T: Into<Expr>> ops::$trait<T> for $type {
            type Output = Expr;
            fn $method(self, rhs: T) -> Expr {
                Expr::binary(BinOp::$trait, self.into(), rhs.into())
            }
        }
    )*};
}

operators! { Expr LocalId ParamId Builtin }

impl LocalId {
    /// Element of the register array.
    pub fn at(self, index: impl Into<Expr>) -> Expr {
        Expr::Elem(self, index.into().into())
    }
}

impl From<LocalId> for Place {
    fn from(id: LocalId) -> Place {
        Place::Local(id)
    }
}

impl From<LocalId> for Expr {
    fn from(id: LocalId) -> Expr {
        Expr::Local(id)
    }
}

impl From<ParamId> for Expr {
    fn from(id: ParamId) -> Expr {
        Expr::Param(id)
    }
}

impl From<Builtin> for Expr {
    fn from(b: Builtin) -> Expr {
        Expr::Builtin(b)
    }
}

/// In index arithmetic, a plain number next to an expression is an `i32` literal.
impl From<i32> for Expr {
    fn from(v: i32) -> Expr {
        Expr::i32(v.into())
    }
}

/// Writes a kernel statement by statement. Bodies of `if` and loops are closures that write to the same builder.
pub struct Builder {
    kernel: Kernel,
    open: Vec<Vec<Stmt>>,
}

impl Builder {
    /// An empty kernel with this name.
    pub fn new(name: impl Into<String>) -> Builder {
        let one = || Expr::i32(1);
        Builder {
            kernel: Kernel {
                name: name.into(),
                docs: Vec::new(),
                consts: Vec::new(),
                params: Vec::new(),
                shared: Vec::new(),
                locals: Vec::new(),
                body: Vec::new(),
                launch: Launch { block: [1, 1, 1], grid: [one(), one(), one()] },
                warp: WARP,
                min_blocks: 0,
                settled: Vec::new(),
            },
            open: vec![Vec::new()],
        }
    }

    /// An empty kernel with this name, for warps of `lanes` lanes.
    pub fn of_warps(name: impl Into<String>, lanes: u32) -> Builder {
        let mut builder = Builder::new(name);
        builder.kernel.warp = lanes;
        builder
    }

    /// Lanes of a warp.
    pub fn warp(&self) -> i32 {
        self.kernel.warp as i32
    }

    /// Adds a line to the kernel's description.
    pub fn doc(&mut self, line: impl Into<String>) {
        self.kernel.docs.push(line.into());
    }

    /// Adds a pointer parameter.
    pub fn pointer(&mut self, name: &str, scalar: Scalar, access: Access, doc: &str) -> ParamId {
        self.param(name, ParamKind::Pointer(scalar, access), doc)
    }

    /// Adds a scalar parameter.
    pub fn scalar(&mut self, name: &str, scalar: Scalar, doc: &str) -> ParamId {
        self.param(name, ParamKind::Scalar(scalar), doc)
    }

    fn param(&mut self, name: &str, kind: ParamKind, doc: &str) -> ParamId {
        self.kernel.params.push(Param { name: name.into(), kind, doc: doc.into() });
        ParamId(self.kernel.params.len() as u32 - 1)
    }

    /// Adds a shared array.
    pub fn shared(&mut self, name: &str, scalar: Scalar, len: u32) -> SharedId {
        self.kernel.shared.push(Shared { name: name.into(), scalar, len });
        SharedId(self.kernel.shared.len() as u32 - 1)
    }

    fn local(&mut self, name: &str, scalar: Scalar, len: Option<u32>) -> LocalId {
        self.kernel.locals.push(Local { name: name.into(), scalar, len });
        LocalId(self.kernel.locals.len() as u32 - 1)
    }

    /// Appends a statement.
    pub fn push(&mut self, stmt: Stmt) {
        self.open.last_mut().expect("a body is open").push(stmt);
    }

    /// A comment line in the emitted text.
    pub fn comment(&mut self, text: impl Into<String>) {
        self.push(Stmt::Comment(text.into()));
    }

    /// Declares a scalar and sets it.
    pub fn let_(&mut self, name: &str, scalar: Scalar, value: impl Into<Expr>) -> LocalId {
        let id = self.local(name, scalar, None);
        self.push(Stmt::Let(id, value.into()));
        id
    }

    /// Declares a scalar without a value.
    pub fn declare(&mut self, name: &str, scalar: Scalar) -> LocalId {
        let id = self.local(name, scalar, None);
        self.push(Stmt::Declare(id));
        id
    }

    /// Declares a register array.
    pub fn array(&mut self, name: &str, scalar: Scalar, len: u32) -> LocalId {
        let id = self.local(name, scalar, Some(len));
        self.push(Stmt::Declare(id));
        id
    }

    /// Sets a local or an element.
    pub fn set(&mut self, place: impl Into<Place>, value: impl Into<Expr>) {
        self.push(Stmt::Set(place.into(), value.into()));
    }

    /// Loads `lanes` elements.
    pub fn load(&mut self, dst: impl Into<Place>, space: Space, index: impl Into<Expr>, lanes: u32, cache: Cache) {
        self.push(Stmt::Load { dst: dst.into(), space, index: index.into(), lanes, cache });
    }

    /// Loads one element into a new scalar.
    pub fn load_new(&mut self, name: &str, scalar: Scalar, space: Space, index: impl Into<Expr>) -> LocalId {
        let id = self.declare(name, scalar);
        self.load(Place::Local(id), space, index, 1, Cache::Default);
        id
    }

    /// Stores one element.
    pub fn store(&mut self, space: Space, index: impl Into<Expr>, value: impl Into<Expr>) {
        self.push(Stmt::Store { space, index: index.into(), values: vec![value.into()], cache: Cache::Default });
    }

    /// Stores several consecutive elements.
    pub fn store_wide(&mut self, space: Space, index: impl Into<Expr>, values: Vec<Expr>, cache: Cache) {
        self.push(Stmt::Store { space, index: index.into(), values, cache });
    }

    /// Copies `src` of another lane into a new scalar.
    pub fn shuffle(&mut self, name: &str, scalar: Scalar, src: impl Into<Expr>, lane: Lane) -> LocalId {
        let id = self.declare(name, scalar);
        self.push(Stmt::Shuffle { dst: Place::Local(id), src: src.into(), lane });
        id
    }

    /// Ballot of a condition over the warp's lanes, in a new scalar.
    pub fn ballot(&mut self, name: &str, cond: impl Into<Expr>) -> LocalId {
        let id = self.declare(name, if self.kernel.warp > 32 { Scalar::U64 } else { Scalar::U32 });
        self.push(Stmt::Ballot { dst: Place::Local(id), cond: cond.into() });
        id
    }

    /// Starts an asynchronous copy of `lanes` elements from `global[index]` to `shared[at]`. Only the first `valid` are
    /// read.
    pub fn copy_async(
        &mut self,
        (shared, at): (SharedId, impl Into<Expr>),
        (global, index): (ParamId, impl Into<Expr>),
        lanes: u32,
        valid: impl Into<Expr>,
    ) {
        self.push(Stmt::CopyAsync { shared, at: at.into(), global, index: index.into(), lanes, valid: valid.into() });
    }

    /// A barrier.
    pub fn barrier(&mut self) {
        self.push(Stmt::Barrier);
    }

    /// Opens a body, which collects the next statements. These parts of loops and branches are compiled once.
    fn open_body(&mut self) {
        self.open.push(Vec::new());
    }

    fn close_body(&mut self) -> Vec<Stmt> {
        self.open.pop().expect("the body just opened")
    }

    fn push_if(&mut self, cond: Expr, then: Vec<Stmt>) {
        let otherwise = self.close_body();
        self.push(Stmt::If { cond, then, otherwise });
    }

    /// A part of the kernel, which is a function where text has such: `doc` says its effect. Locals that `body`
    /// declares end with it.
    pub fn part(&mut self, name: &'static str, doc: &'static str, body: impl FnOnce(&mut Builder)) {
        self.open_body();
        body(self);
        let body = self.close_body();
        self.push(Stmt::Part { name, doc, body });
    }

    fn push_while(&mut self, cond: Expr) {
        let body = self.close_body();
        self.push(Stmt::While { cond, body });
    }

    fn open_loop(&mut self, name: &str, scalar: Scalar) -> LocalId {
        let var = self.local(name, scalar, None);
        self.open_body();
        var
    }

    fn push_loop(&mut self, var: LocalId, (from, to, step): (Expr, Expr, Expr), unroll: bool) {
        let body = self.close_body();
        self.push(Stmt::For { var, from, to, step, unroll, body });
    }

    /// `if cond { then }`.
    pub fn if_(&mut self, cond: impl Into<Expr>, then: impl FnOnce(&mut Builder)) {
        self.if_else(cond, then, |_| {});
    }

    /// `if cond { then } else { otherwise }`.
    pub fn if_else(
        &mut self,
        cond: impl Into<Expr>,
        then: impl FnOnce(&mut Builder),
        otherwise: impl FnOnce(&mut Builder),
    ) {
        self.open_body();
        then(self);
        let then = self.close_body();
        self.open_body();
        otherwise(self);
        self.push_if(cond.into(), then);
    }

    /// `for name in (from..to).step_by(step)`.
    pub fn for_(
        &mut self,
        name: &str,
        from: impl Into<Expr>,
        to: impl Into<Expr>,
        step: impl Into<Expr>,
        body: impl FnOnce(&mut Builder, Expr),
    ) {
        self.loop_(name, Scalar::I32, (from.into(), to.into(), step.into()), false, body);
    }

    /// A counted loop that is unrolled.
    pub fn unrolled(&mut self, name: &str, from: i32, to: i32, step: i32, body: impl FnOnce(&mut Builder, Expr)) {
        self.loop_(name, Scalar::I32, (from.into(), to.into(), step.into()), true, body);
    }

    /// A loop over an `i64` variable; `range` is from, to, step.
    pub fn for_wide(&mut self, name: &str, range: (Expr, Expr, Expr), body: impl FnOnce(&mut Builder, Expr)) {
        self.loop_(name, Scalar::I64, range, false, body);
    }

    fn loop_(
        &mut self,
        name: &str,
        scalar: Scalar,
        range: (Expr, Expr, Expr),
        unroll: bool,
        body: impl FnOnce(&mut Builder, Expr),
    ) {
        let var = self.open_loop(name, scalar);
        body(self, Expr::Local(var));
        self.push_loop(var, range, unroll);
    }

    /// `while cond { body }`.
    pub fn while_(&mut self, cond: impl Into<Expr>, body: impl FnOnce(&mut Builder)) {
        self.open_body();
        body(self);
        self.push_while(cond.into());
    }

    /// Declares that an array may be read before [`Stmt::WaitLaunches`].
    pub fn settled(&mut self, array: ParamId) {
        self.kernel.settled.push(array);
    }

    /// The finished kernel.
    pub fn finish(mut self, launch: Launch) -> Kernel {
        self.kernel.body = self.open.pop().expect("the outermost body");
        assert!(self.open.is_empty(), "every body is closed");
        self.kernel.launch = launch;
        self.kernel
    }
}
