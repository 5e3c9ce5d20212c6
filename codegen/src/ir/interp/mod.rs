//! The interpreter: runs kernels as a GPU would, and finds faults that a GPU shows only sometimes.
//!
//! A kernel runs block by block, with all threads of a block in step under an active mask. Every error in the sense of
//! the IR ends the run with a [`Fault`] that names statement, block, thread and element: accesses out of bounds or
//! misaligned, reads of unset values, races in shared and global memory, barriers and shuffles that not all threads
//! reach, arithmetic without a result. The launch's cost is counted at the same time ([`Counts`]).
//!
//! `compile` turns the statement tree into code over registers: one 64-bit cell per thread, or one per block if all
//! threads share the value. `pure` evaluates one operation for all active threads at a time. `memory` holds the arrays
//! with their shadow, which records accesses, and counts traffic. `exec` runs the code.

mod buffer;
mod code;
mod compile;
mod count;
mod exec;
mod fault;
mod memory;
mod pure;

pub use buffer::{Arg, Buffer, Element};
pub use count::{Counts, GlobalTraffic, Operations, PerSample, SharedTraffic};
pub use fault::{Fault, FaultKind, Rival};

use super::valid::KernelInfo;
use super::{Kernel, ParamKind, launch};

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most statements that a launch may execute, counted once per block; it ends endless loops.
    pub max_steps: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_steps: 1 << 30 }
    }
}

/// A kernel prepared for any number of runs.
pub struct Program<'a> {
    kernel: &'a Kernel,
    info: &'a KernelInfo,
    code: code::Code,
}

impl<'a> Program<'a> {
    /// Prepares a kernel; `info` comes from [`validate`](super::valid::validate).
    pub fn new(kernel: &'a Kernel, info: &'a KernelInfo) -> Program<'a> {
        Program { kernel, info, code: compile::compile(kernel, info) }
    }

    /// Runs one launch. Arguments are in the order of the parameters. Buffers keep what the kernel has stored, also
    /// after a fault.
    ///
    /// # Errors
    /// The first fault.
    pub fn run(&self, args: &mut [Arg], options: Options) -> Result<Counts, Fault> {
        let refuse = |kind| Fault {
            kernel: self.kernel.name.clone(),
            statement: "the launch".into(),
            block: [0; 3],
            thread: [0; 3],
            kind: Box::new(kind),
        };
        let scalars = self.check(args).map_err(|text| refuse(FaultKind::Arguments(text)))?;
        let grid = launch::grid(self.kernel, &scalars).map_err(|e| refuse(e.into()))?;
        let threads = grid.iter().try_fold(u64::from(self.info.threads), |n, &d| n.checked_mul(d));
        if threads.is_none_or(|n| n >= u64::from(u32::MAX)) {
            let text = format!("a grid of {grid:?} blocks is too large to interpret: the limit is 2^32 - 2 threads");
            return Err(refuse(FaultKind::Arguments(text)));
        }
        exec::launch(self.kernel, self.info, &self.code, grid, args, options)
    }

    /// Checks arguments against parameters; returns the scalars for the grid.
    fn check(&self, args: &[Arg]) -> Result<Vec<i64>, String> {
        let params = &self.kernel.params;
        if params.len() != args.len() {
            return Err(format!("{} arguments for {} parameters", args.len(), params.len()));
        }
        let mut scalars = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            use super::Scalar::{F32, F64};
            match (param.kind, arg) {
                (ParamKind::Pointer(scalar, _), Arg::Buffer(b)) if b.scalar == scalar => {}
                (ParamKind::Scalar(s), Arg::Scalar(v)) if s.holds(*v) => scalars.push(*v),
                (ParamKind::Scalar(F32), Arg::F32(_)) | (ParamKind::Scalar(F64), Arg::F64(_)) => scalars.push(0),
                (kind, arg) => {
                    let wanted = match kind {
                        ParamKind::Pointer(s, _) => format!("a buffer of {}", s.name()),
                        ParamKind::Scalar(s) => format!("a scalar of type {}", s.name()),
                    };
                    let given = match arg {
                        Arg::Buffer(b) => format!("a buffer of {}", b.scalar.name()),
                        Arg::Scalar(v) => format!("the integer {v}"),
                        Arg::F32(v) => format!("the f32 {v}"),
                        Arg::F64(v) => format!("the f64 {v}"),
                    };
                    return Err(format!("parameter `{}` takes {wanted}, not {given}", param.name));
                }
            }
        }
        Ok(scalars)
    }
}

/// Runs one launch of a kernel with [`Options::default`]; see [`Program::run`].
///
/// # Errors
/// The first fault.
///
/// ```
/// use lifting_codegen::ir::{build::Builder, interp::{self, Arg, Buffer}, valid::validate, *};
/// let mut b = Builder::new("double");
/// let data = b.pointer("data", Scalar::I32, Access::ReadWrite, "values to double");
/// let x = b.load_new("x", Scalar::I32, Space::Global(data), Builtin::ThreadX);
/// b.store(Space::Global(data), Builtin::ThreadX, x * 2);
/// let kernel = b.finish(Launch { block: [32, 1, 1], grid: [1.into(), 1.into(), 1.into()] });
/// let info = validate(&kernel).unwrap();
/// let mut args = [Arg::Buffer(Buffer::new(&[21i32; 32]))];
/// let counts = interp::run(&kernel, &info, &mut args).unwrap();
/// assert_eq!(args[0].buffer().unwrap().to_vec::<i32>().unwrap(), [42; 32]);
/// assert_eq!(counts.global_loads.transactions, 4);
/// ```
pub fn run(kernel: &Kernel, info: &KernelInfo, args: &mut [Arg]) -> Result<Counts, Fault> {
    Program::new(kernel, info).run(args, Options::default())
}
