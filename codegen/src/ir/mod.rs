//! The kernel IR: its meaning, then its types.
//!
//! # Kernels
//! A [`Kernel`] is a function that a grid of blocks of threads runs. It has parameters (pointers to arrays in global
//! memory, and scalars), arrays in shared memory (one copy per block), and locals (one copy per thread): scalars and
//! register arrays. A kernel for a CPU is a kernel whose grid and block are one thread.
//!
//! # Expressions are pure
//! An [`Expr`] reads locals, scalar parameters, builtins and literals, and nothing else. It is evaluated when the
//! statement that holds it is executed, by each active thread; evaluation order within it does not matter. Integer
//! `+ - *`, negation and `<<` wrap in the type of their operands; `>>` is arithmetic on signed types and logical on
//! unsigned ones. Shift counts must be in 0..bits. `/` and `%` truncate toward zero; the divisor must not be 0, nor −1
//! for the least value of the type. Floating `+ - * /` round once each, to nearest even; a back end must not fuse or
//! reassociate them. Both operands of a binary operation have one type (shift counts are `i32`); comparisons give
//! `bool`. [`Expr::Select`] evaluates both arms. A [`Expr::Cast`] between integers wraps or extends, by the sign of the
//! source type. To a float it rounds to nearest even; from a float to an integer it truncates, and the value must fit.
//! A `bool` casts to an integer as 0 or 1. `f16`, `bf16` and `u8` are storage types: the only operations on them are
//! casts from and to `f32`, and for `u8` also from and to other integers.
//!
//! # Effects are statements
//! Threads of a block run in step, statement by statement, under an active mask: `If`, `For` and `While` narrow
//! the mask for their bodies. Within one statement all active threads first evaluate, then write.
//! * [`Stmt::Let`] declares a scalar local and sets it. [`Stmt::Declare`] declares a register array, uninitialised:
//!   reading an unset element is an error. A local is visible to the end of the statement block that declares it.
//! * [`Stmt::Load`] and [`Stmt::Store`] move `lanes` consecutive elements between memory and consecutive elements of
//!   a register array (or one scalar). Wide accesses (`lanes` > 1) need an address that is a multiple of their size.
//!   An access out of bounds is an error. Memory indices count elements.
//! * All threads of the block that have not left the kernel must reach a [`Stmt::Barrier`], in uniform control flow.
//!   Between two barriers no thread may touch a shared cell that another thread writes. Within one launch, two threads
//!   of a grid must never write one global address, nor may one read what another writes.
//! * [`Stmt::Shuffle`] reads a local of another lane of the warp ([`Kernel::warp`] consecutive threads). All lanes of
//!   the warp must be active. A lane whose source is outside the warp receives its own value.
//! * [`Stmt::Ballot`] gives every lane of the warp the conditions of all its lanes, one bit each. All lanes must be
//!   active.
//! * [`Stmt::CopyAsync`] starts a copy from global to shared memory; [`Stmt::CommitCopies`] closes the thread's group
//!   of copies started since the last commit; [`Stmt::WaitCopies`]`(n)` waits until at most the n latest groups of the
//!   thread are unfinished. Then the copied cells may be read by the thread that copied them, and by others after a
//!   barrier (or [`Stmt::SyncWarp`], within the warp). Until then no thread may touch them. (PTX `cp.async`,
//!   `cp.async.commit_group`, `cp.async.wait_group`.)
//! * [`Stmt::SyncWarp`] orders shared-memory accesses among the lanes of a warp, as a barrier does for a block. Control
//!   flow must be uniform over the warp.
//! * [`Stmt::WaitLaunches`] waits until all earlier launches have ended and their results can be read.
//!   [`Stmt::AllowLaunch`] lets the next launch begin when all threads of this one have executed it or ended. A kernel
//!   that waits anywhere may be launched while earlier launches still run. So, on every path, a thread that has not
//!   waited may touch only the arrays in [`Kernel::settled`], and only to read them. (PTX `griddepcontrol.wait`,
//!   `griddepcontrol.launch_dependents`.) Neither needs uniform control flow.
//! * [`Stmt::For`] runs `var` = from, from+step, … while var < to; bounds are evaluated once. `unroll` asks the
//!   back end to unroll it; register arrays indexed by its variable then stay in registers.
//!
//! # Launch
//! [`Launch`] gives the shapes of block and grid; the grid is given by expressions over scalar parameters of type `i32`
//! or `i64`. The launcher in emitted text, the runtime and the interpreter all evaluate the same expressions. An empty
//! grid dimension means an empty launch.

pub mod build;
pub mod conformance;
mod feature;
pub mod interp;
pub mod launch;
mod operand;
pub mod path;
pub mod print;
pub mod valid;
pub mod visit;

pub use feature::{Feature, MAX_WARP, WARP};
pub use operand::Operand;

/// Scalar types. `F16`, `Bf16` and `U8` are storage only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    U8,
    I16,
    I32,
    I64,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Scalar {
    /// Size of one element in memory, in bytes. `Bool` is never in memory; it counts as 1.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Bool | Scalar::U8 => 1,
            Scalar::I16 | Scalar::F16 | Scalar::Bf16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Integer types with arithmetic: `i16`, `i32`, `i64`, `u32`, `u64`.
    pub fn is_integer(self) -> bool {
        matches!(self, Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64)
    }

    /// `i16`, `i32` and `i64`.
    pub fn is_signed_integer(self) -> bool {
        matches!(self, Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// Storage types, which only move and cast: `u8`, `f16` and `bf16`.
    pub fn is_storage(self) -> bool {
        matches!(self, Scalar::U8 | Scalar::F16 | Scalar::Bf16)
    }

    /// `f32` and `f64` (arithmetic types) as well as `f16` and `bf16` (storage).
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64)
    }

    /// Whether it is an integer type whose range includes this value.
    pub fn holds(self, v: i64) -> bool {
        match self {
            Scalar::I16 => i16::try_from(v).is_ok(),
            Scalar::I32 => i32::try_from(v).is_ok(),
            Scalar::I64 => true,
            Scalar::U32 => u32::try_from(v).is_ok(),
            Scalar::U64 => v >= 0,
            Scalar::Bool | Scalar::U8 | Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => false,
        }
    }

    /// The name in Rust's spelling, as the IR printer and the command line use it.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::U8 => "u8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
            Scalar::Bf16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }
}

/// A literal of a stated type. Equal literals have equal bits.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// A value of an integer type, which it fits.
    Int(i64, Scalar),
    /// A literal of type `f32`.
    F32(f32),
    /// A literal of type `f64`.
    F64(f64),
    /// A literal of type `bool`.
    Bool(bool),
}

impl Literal {
    /// Its type.
    pub fn scalar(self) -> Scalar {
        match self {
            Literal::Int(_, scalar) => scalar,
            Literal::F32(_) => Scalar::F32,
            Literal::F64(_) => Scalar::F64,
            Literal::Bool(_) => Scalar::Bool,
        }
    }
}

impl Literal {
    /// Its type, and its bits.
    fn bits(self) -> (Scalar, u64) {
        let bits = match self {
            Literal::Int(value, _) => value as u64,
            Literal::F32(value) => value.to_bits().into(),
            Literal::F64(value) => value.to_bits(),
            Literal::Bool(value) => value.into(),
        };
        (self.scalar(), bits)
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Literal) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Literal {}

impl std::hash::Hash for Literal {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
    )*};
}

ids! {
    /// Index into [`Kernel::params`].
    ParamId;
    /// Index into [`Kernel::shared`].
    SharedId;
    /// Index into [`Kernel::locals`].
    LocalId;
    /// Index into [`Kernel::consts`].
    ConstId;
}

/// Builtin indices of a thread, all of type `i32`. `Lane` is the index within its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Builtin {
    ThreadX,
    ThreadY,
    ThreadZ,
    BlockX,
    BlockY,
    BlockZ,
    GridX,
    GridY,
    GridZ,
    Lane,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    /// Arithmetic negation; wraps on integers.
    Neg,
    /// Logical not of a `bool`.
    Not,
    /// Number of bits that are 1, for integers of 32 or 64 bits.
    CountOnes,
    /// Number of 0 bits above the highest 1, for integers of 32 or 64 bits; all bits for 0.
    LeadingZeros,
}

/// Binary operators. `And`, `Or` are logical on `bool` and bitwise on integers; `Xor` is bitwise. `Rem`, `Min`, `Max`
/// and the shifts are for integers only. `Eq` and `Ne` also compare `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    /// Packs an `i32`: 16 bits of the first operand, from byte `low` on, as the low half, and 16 bits of the second,
    /// from byte `high` on, as the high half. Bytes count from the lowest, up to 2. It is one instruction on a device.
    Pack {
        /// First byte in the first operand.
        low: u8,
        /// First byte in the second operand.
        high: u8,
    },
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl BinOp {
    /// Whether the result is `bool` for all operand types.
    pub fn is_comparison(self) -> bool {
        use BinOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

/// A pure expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A literal.
    Lit(Literal),
    /// A scalar local or a loop variable.
    Local(LocalId),
    /// An element of a register array; the index is of type `i32`.
    Elem(LocalId, Operand),
    /// A scalar parameter.
    Param(ParamId),
    /// A constant of the instance.
    Const(ConstId),
    /// A builtin.
    Builtin(Builtin),
    /// An operator with one operand.
    Unary(UnOp, Operand),
    /// An operator with two operands.
    Binary(BinOp, Operand, Operand),
    /// `condition ? then : else`; both arms are evaluated.
    Select(Operand, Operand, Operand),
    /// Conversion to a type.
    Cast(Scalar, Operand),
    /// `Mirror(i, n)`: index i folded into 0..n by reflection about 0 and n−1, repeatedly; both of type `i32`, n ≥ 1.
    /// (With n = 1 it is 0.) Back ends print it as a call to a helper function.
    Mirror(Operand, Operand),
    /// The value of `Mirror`. Its helper tries one reflection, which is nearly always enough, and calls a function for
    /// more.
    MirrorNear(Operand, Operand),
    /// `Wrap(i, n)`: i modulo n, in 0..n; both of type `i32`, n ≥ 1. Back ends print it as a call to a helper function.
    Wrap(Operand, Operand),
    /// `sum + weights[0]·low + weights[1]·high`, for the two 16-bit integers packed in an `i32`. The result is of type
    /// `i32`, like `sum`, and wraps. It is one instruction on a device.
    Dot {
        /// The two packed integers.
        pair: Operand,
        /// Weights of the low half and of the high half.
        weights: [i8; 2],
        /// The addend.
        sum: Operand,
    },
}

/// The memory of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// The array behind a pointer parameter. Indices are of type `i64` or `i32`.
    Global(ParamId),
    /// A shared array. Indices are of type `i32`.
    Shared(SharedId),
}

/// A scalar local, or an element of a register array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// A scalar local.
    Local(LocalId),
    /// An element of a register array; in wide accesses the first of several.
    Elem(LocalId, Expr),
}

/// A cache hint; it changes no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Cache {
    /// No hint.
    #[default]
    Default,
    /// Read (or written) once and not again soon: evict first.
    Streaming,
    /// Read-only for the whole launch.
    ReadOnly,
    /// Written, and read by a later launch: evict last. A read without a hint makes it ordinary again.
    Kept,
    /// [`Cache::Kept`] where a constant of the instance is true.
    KeptIf(ConstId),
    /// [`Cache::ReadOnly`] where a constant of the instance is true.
    ReadOnlyIf(ConstId),
}

/// The lane that a shuffle reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lane {
    /// The lane `n` below (`lane − n`): values move up.
    Up(u32),
    /// The lane `n` above (`lane + n`): values move down.
    Down(u32),
    /// `lane ^ n`.
    Xor(u32),
    /// A lane given by an `i32` expression, taken modulo the lanes of a warp.
    Index(Expr),
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A comment for readers of the emitted text.
    Comment(String),
    /// Declares a scalar local and sets it.
    Let(LocalId, Expr),
    /// Declares a register array, or a scalar that is set later.
    Declare(LocalId),
    /// Sets a local.
    Set(Place, Expr),
    /// `dst[0..lanes] = memory[index..index+lanes]`. The types of array and local agree.
    Load {
        /// Destination of the elements.
        dst: Place,
        /// The array.
        space: Space,
        /// First element.
        index: Expr,
        /// 1, 2, 4, 8 or 16 elements, at most 16 bytes; only 1 of `u8`.
        lanes: u32,
        /// Cache hint.
        cache: Cache,
    },
    /// `memory[index..index+lanes] = src[0..lanes]`. With one lane `src` may be any expression.
    Store {
        /// The array.
        space: Space,
        /// First element.
        index: Expr,
        /// The values, one per lane, of the array's type.
        values: Vec<Expr>,
        /// Cache hint.
        cache: Cache,
    },
    /// `dst = src` of another lane of the warp.
    Shuffle {
        /// Destination of the value.
        dst: Place,
        /// The value that each lane offers: a 32- or 64-bit type, or `i16`.
        src: Expr,
        /// The lane whose value is taken.
        lane: Lane,
    },
    /// Ballot: bit i of `dst` is lane i's condition.
    Ballot {
        /// Destination of the bits, equal in all lanes: of type `u32`, or `u64` if a warp has more than 32 lanes.
        dst: Place,
        /// Condition, of type `bool`.
        cond: Expr,
    },
    /// Starts copying `lanes` elements (4, 8 or 16 bytes, aligned to their size on both sides) to shared memory. Only
    /// the first `valid` are read; the others become zero. With `valid` = 0 nothing is read and `index` may be
    /// anything.
    CopyAsync {
        /// Destination.
        shared: SharedId,
        /// Index of the first element there.
        at: Expr,
        /// Source: a pointer parameter of the same element type.
        global: ParamId,
        /// Index of the first element there.
        index: Expr,
        /// Elements that the copy writes.
        lanes: u32,
        /// Elements that it reads, an `i32` in 0..=lanes.
        valid: Expr,
    },
    /// Closes the group of copies started since the last commit.
    CommitCopies,
    /// Waits until at most this many of the thread's latest groups are unfinished.
    WaitCopies(u32),
    /// The lanes of the warp wait for one another.
    SyncWarp,
    /// All threads of the block wait for one another.
    Barrier,
    /// Waits until all earlier launches have ended and their results can be read.
    WaitLaunches,
    /// Lets the next launch begin.
    AllowLaunch,
    /// Runs one of two bodies.
    If {
        /// Condition, of type `bool`.
        cond: Expr,
        /// Body for `true`.
        then: Vec<Stmt>,
        /// Body for `false`.
        otherwise: Vec<Stmt>,
    },
    /// Counted loop over a variable of type `i32` or `i64`, which it declares.
    For {
        /// Loop variable.
        var: LocalId,
        /// First value.
        from: Expr,
        /// One past the last value.
        to: Expr,
        /// Increment, > 0.
        step: Expr,
        /// Unroll fully; from, to and step must then be literals.
        unroll: bool,
        /// Body.
        body: Vec<Stmt>,
    },
    /// Runs the body while the condition holds.
    While {
        /// Condition, of type `bool`.
        cond: Expr,
        /// Body.
        body: Vec<Stmt>,
    },
    /// Runs the body once. CUDA files make it a function; other text has its statements.
    Part {
        /// Name of the function.
        name: &'static str,
        /// Its effect, for the comment above the function.
        doc: &'static str,
        /// Body.
        body: Vec<Stmt>,
    },
}

/// Allowed uses of a pointer parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Loads only.
    Read,
    /// Stores only.
    Write,
    /// Both. A thread reads only elements that it wrote itself, or that no thread writes in this launch.
    ReadWrite,
}

/// Kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamKind {
    /// Pointer to an array in global memory.
    Pointer(Scalar, Access),
    /// A scalar.
    Scalar(Scalar),
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name in emitted text.
    pub name: String,
    /// Type.
    pub kind: ParamKind,
    /// One line for the header: meaning and unit.
    pub doc: String,
}

/// An array in shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Shared {
    /// Name in emitted text.
    pub name: String,
    /// Element type.
    pub scalar: Scalar,
    /// Number of elements.
    pub len: u32,
}

/// A local: a scalar, or a register array.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Name in emitted text; the namer makes it unique there.
    pub name: String,
    /// Element type.
    pub scalar: Scalar,
    /// Number of elements of a register array; `None` for a scalar.
    pub len: Option<u32>,
}

/// A constant of an instance: kernels that differ only in constants are one kernel in text that has templates.
#[derive(Clone, Debug, PartialEq)]
pub struct Const {
    /// Name in emitted text.
    pub name: String,
    /// Value in this instance.
    pub value: Literal,
}

/// Launch shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Threads per block, in x, y, z.
    pub block: [u32; 3],
    /// Blocks in x, y, z: expressions over scalar parameters, literals and arithmetic.
    pub grid: [Expr; 3],
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Name in emitted text.
    pub name: String,
    /// Description: comment lines above it.
    pub docs: Vec<String>,
    /// Constants of the instance.
    pub consts: Vec<Const>,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// Shared arrays.
    pub shared: Vec<Shared>,
    /// Locals, loop variables included.
    pub locals: Vec<Local>,
    /// Statements.
    pub body: Vec<Stmt>,
    /// Launch shape.
    pub launch: Launch,
    /// Lanes of a warp: consecutive threads that shuffles and ballots reach and [`Stmt::SyncWarp`] waits for. A power
    /// of two, at most [`MAX_WARP`]. Kernels that use no warps run on any device.
    pub warp: u32,
    /// Minimum resident blocks per multiprocessor that the compiler is asked for; 0: left to the compiler.
    pub min_blocks: u32,
    /// Arrays that may be read before [`Stmt::WaitLaunches`], because no launch that may still run writes them.
    pub settled: Vec<ParamId>,
}
