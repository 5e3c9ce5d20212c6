//! Interpreter code: instructions over registers.

use super::count::Operations;
use crate::ir::path::StmtId;
use crate::ir::{BinOp, Builtin, LocalId, ParamId, Scalar, SharedId, Space, UnOp};

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// One cell for all threads.
    Uniform(u32),
    /// One cell per thread.
    Varying(u32),
}

impl Slot {
    pub(super) fn is_uniform(self) -> bool {
        matches!(self, Slot::Uniform(_))
    }

    /// The register `n` places on: elements of an array are consecutive.
    pub(super) fn plus(self, n: u32) -> Slot {
        match self {
            Slot::Uniform(s) => Slot::Uniform(s + n),
            Slot::Varying(s) => Slot::Varying(s + n),
        }
    }
}

/// An evaluation, for each active thread.
#[derive(Clone, Debug)]
pub(super) enum Pure {
    Copy {
        dst: Slot,
        a: Slot,
    },
    Unary {
        op: UnOp,
        scalar: Scalar,
        dst: Slot,
        a: Slot,
    },
    Binary {
        op: BinOp,
        scalar: Scalar,
        dst: Slot,
        a: Slot,
        b: Slot,
    },
    Select {
        dst: Slot,
        c: Slot,
        a: Slot,
        b: Slot,
    },
    Cast {
        from: Scalar,
        to: Scalar,
        dst: Slot,
        a: Slot,
    },
    Mirror {
        dst: Slot,
        i: Slot,
        n: Slot,
    },
    Wrap {
        dst: Slot,
        i: Slot,
        n: Slot,
    },
    Dot {
        dst: Slot,
        pair: Slot,
        weights: [i8; 2],
        sum: Slot,
    },
    /// Element of a register array at a non-literal index.
    Elem {
        dst: Slot,
        array: PlaceCode,
        index: Slot,
    },
    /// Checks that the element of the register array (or the scalar) has been set.
    Check {
        array: PlaceCode,
    },
}

/// A scalar local, or elements of a register array from `first` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceCode {
    pub(super) local: LocalId,
    /// Register of element 0.
    pub(super) base: Slot,
    /// Number of elements; 1 for a scalar.
    pub(super) len: u32,
    /// The known part of the index.
    pub(super) first: u32,
    /// Whether it is a register array.
    pub(super) array: bool,
    /// Whether set elements are recorded.
    pub(super) tracked: bool,
}

/// A place that is written: `index` is added to the place's `first`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dest {
    pub(super) place: PlaceCode,
    pub(super) index: Option<Slot>,
}

/// The lane that a shuffle reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    Up(u32),
    Down(u32),
    Xor(u32),
    Index(Slot),
}

/// One step of the code.
#[derive(Clone, Debug)]
pub(super) enum Inst {
    /// A statement begins.
    Begin {
        id: StmtId,
        operations: Operations,
    },
    Pure(Pure),
    /// The local loses its value.
    Forget {
        local: LocalId,
    },
    Set {
        dest: Dest,
        a: Slot,
    },
    Load {
        space: Space,
        index: Slot,
        lanes: u32,
        dest: Dest,
    },
    Store {
        space: Space,
        index: Slot,
        values: Vec<Slot>,
    },
    Shuffle {
        dest: Dest,
        a: Slot,
        from: From,
    },
    Ballot {
        dest: Dest,
        a: Slot,
    },
    Copy {
        shared: SharedId,
        at: Slot,
        global: ParamId,
        index: Slot,
        lanes: u32,
        valid: Slot,
    },
    Commit,
    Wait(u32),
    SyncWarp,
    Barrier,
    WaitLaunches,
    /// No effect on this launch.
    AllowLaunch,
    If {
        cond: Slot,
        then: Vec<Inst>,
        otherwise: Vec<Inst>,
    },
    For {
        id: StmtId,
        var: Slot,
        scalar: Scalar,
        from: Slot,
        to: Slot,
        step: Slot,
        each: Operations,
        body: Vec<Inst>,
    },
    While {
        test: Vec<Inst>,
        cond: Slot,
        body: Vec<Inst>,
    },
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) body: Vec<Inst>,
    /// Number of uniform registers.
    pub(super) uniform: u32,
    /// Number of varying registers.
    pub(super) varying: u32,
    /// Values of uniform registers that never change.
    pub(super) constants: Vec<(u32, u64)>,
    /// Uniform registers of scalar parameters.
    pub(super) params: Vec<(ParamId, u32)>,
    /// Registers of builtins.
    pub(super) builtins: Vec<(Builtin, Slot)>,
    /// By local: whether set elements are recorded.
    pub(super) tracked: Vec<bool>,
    /// By local: its first register.
    pub(super) locals: Vec<Slot>,
}

impl Code {
    /// New registers, `n` in a row.
    pub(super) fn fresh(&mut self, uniform: bool, n: u32) -> Slot {
        let (count, make): (_, fn(u32) -> Slot) =
            if uniform { (&mut self.uniform, Slot::Uniform) } else { (&mut self.varying, Slot::Varying) };
        *count += n;
        make(*count - n)
    }
}
