//! Conformance suite: small kernels that together use every construct of the IR, each with arguments and expected
//! results. All executors share it: interpreter, emitted CUDA, C and Rust.
//!
//! An executor takes the [`cases`] that it can launch; a CPU takes those with [`Case::is_serial`]. It runs the kernel
//! on a copy of [`Case::args`] and checks the result against [`Case::expected`] with [`Case::check`]. Expected results
//! are computed in plain Rust, not by the interpreter.

mod arithmetic;
mod copies;
mod memory;
mod structure;

use super::build::Builder;
use super::interp::{Arg, Buffer, Element};
use super::*;
use half::{bf16, f16};

/// A kernel with arguments and their expected values.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique name, usable as an identifier.
    pub name: String,
    /// The kernel, named as the case.
    pub kernel: Kernel,
    /// Arguments, in the order of the parameters.
    pub args: Vec<Arg>,
    /// Arguments after the launch.
    pub expected: Vec<Arg>,
}

impl Case {
    /// Whether blocks are single threads, so that a CPU can run the kernel as it is.
    pub fn is_serial(&self) -> bool {
        self.kernel.launch.block == [1, 1, 1]
    }

    /// Checks arguments after a launch against the expected ones. Any NaN equals any other.
    ///
    /// # Errors
    /// The first difference in words.
    pub fn check(&self, args: &[Arg]) -> Result<(), String> {
        if args.len() != self.expected.len() {
            return Err(format!("{}: {} arguments, {} expected", self.name, args.len(), self.expected.len()));
        }
        for ((param, expected), found) in self.kernel.params.iter().zip(&self.expected).zip(args) {
            let (Arg::Buffer(expected), Arg::Buffer(found)) = (expected, found) else { continue };
            if expected.scalar() != found.scalar() || expected.len() != found.len() {
                return Err(format!("{}: `{}` has another type or length", self.name, param.name));
            }
            let (expected, found) = (values(expected), values(found));
            if let Some(i) = (0..expected.len()).find(|&i| expected[i] != found[i]) {
                return Err(format!(
                    "{}: `{}` element {i} is {}, {} expected",
                    self.name, param.name, found[i], expected[i]
                ));
            }
        }
        Ok(())
    }
}

/// The elements as texts that are equal if and only if the bits are, except for NaN.
fn values(b: &Buffer) -> Vec<String> {
    fn texts<T: Element>(b: &Buffer, text: impl Fn(T) -> String) -> Vec<String> {
        b.to_vec::<T>().unwrap_or_default().into_iter().map(text).collect()
    }
    match b.scalar() {
        Scalar::Bool => Vec::new(),
        Scalar::U8 => texts(b, |v: u8| v.to_string()),
        Scalar::I16 => texts(b, |v: i16| v.to_string()),
        Scalar::I32 => texts(b, |v: i32| v.to_string()),
        Scalar::I64 => texts(b, |v: i64| v.to_string()),
        Scalar::U32 => texts(b, |v: u32| v.to_string()),
        Scalar::U64 => texts(b, |v: u64| v.to_string()),
        Scalar::F16 => texts(b, |v: f16| format!("{:?}", v.to_f32())),
        Scalar::Bf16 => texts(b, |v: bf16| format!("{:?}", v.to_f32())),
        Scalar::F32 => texts(b, |v: f32| format!("{v:?}")),
        Scalar::F64 => texts(b, |v: f64| format!("{v:?}")),
    }
}

/// Cases for another warp size than [`WARP`], for executors that have such warps.
pub fn cases_of_warps(lanes: u32) -> Vec<Case> {
    let mut suite = Suite { cases: Vec::new() };
    structure::warps(&mut suite, lanes);
    suite.cases
}

/// All cases, in a fixed order, with unique names.
pub fn cases() -> Vec<Case> {
    let mut suite = Suite { cases: Vec::new() };
    arithmetic::add(&mut suite);
    memory::add(&mut suite);
    copies::add(&mut suite);
    structure::add(&mut suite);
    suite.cases
}

struct Suite {
    cases: Vec<Case>,
}

/// Threads per block in element-wise cases; not a multiple that would hide a mistake at the end.
const BLOCK: u32 = 48;

impl Suite {
    /// Adds a kernel built by hand.
    fn case(
        &mut self,
        name: &str,
        block: [u32; 3],
        grid: [Expr; 3],
        args: Vec<Arg>,
        expected: Vec<Arg>,
        build: impl FnOnce(&mut Builder),
    ) {
        self.case_of_warps(WARP, name, block, grid, args, expected, build);
    }

    /// Adds a kernel built by hand, for warps of `warp` lanes.
    #[allow(clippy::too_many_arguments)]
    fn case_of_warps(
        &mut self,
        warp: u32,
        name: &str,
        block: [u32; 3],
        grid: [Expr; 3],
        args: Vec<Arg>,
        expected: Vec<Arg>,
        build: impl FnOnce(&mut Builder),
    ) {
        let mut b = Builder::of_warps(name, warp);
        b.doc(format!("Conformance: {}.", name.replace('_', " ")));
        build(&mut b);
        let kernel = b.finish(Launch { block, grid });
        self.cases.push(Case { name: name.into(), kernel, args, expected });
    }

    /// Adds a function of `inputs` element by element, in two versions: one thread per element, and a loop in one
    /// thread.
    fn elementwise<T: Element>(
        &mut self,
        name: &str,
        inputs: &[Buffer],
        expected: &[T],
        f: impl Fn(&mut Builder, &[Expr]) -> Expr,
    ) {
        let before = Buffer::new(&vec![T::from_pattern(0x55); expected.len()]);
        self.elementwise_of(name, inputs, [before, Buffer::new(expected)], &f);
    }

    /// [`Suite::elementwise`], compiled once. The results are given before and after the launch.
    fn elementwise_of(
        &mut self,
        name: &str,
        inputs: &[Buffer],
        [before, after]: [Buffer; 2],
        f: &dyn Fn(&mut Builder, &[Expr]) -> Expr,
    ) {
        let (n, scalar) = (after.len(), after.scalar());
        let args = |out: Buffer| -> Vec<Arg> {
            let inputs = inputs.iter().cloned().map(Arg::Buffer);
            inputs.chain([Arg::Buffer(out), Arg::Scalar(n as i64)]).collect()
        };
        let (before, after) = (args(before), args(after));
        let build = |b: &mut Builder, serial: bool| {
            let sources: Vec<(ParamId, Scalar)> = (inputs.iter().enumerate())
                .map(|(i, input)| {
                    let name = ["a", "b", "c"][i];
                    (b.pointer(name, input.scalar(), Access::Read, "operands"), input.scalar())
                })
                .collect();
            let out = b.pointer("out", scalar, Access::Write, "results");
            let count = b.scalar("count", Scalar::I32, "number of elements");
            let one = |b: &mut Builder, i: Expr| {
                let operands: Vec<Expr> = (sources.iter().zip(["x", "y", "z"]))
                    .map(|((param, scalar), name)| b.load_new(name, *scalar, Space::Global(*param), i).into())
                    .collect();
                let value = f(b, &operands);
                b.store(Space::Global(out), i, value);
            };
            if serial {
                b.for_("i", 0, count, 1, |b, i| one(b, i));
            } else {
                let i = b.let_("i", Scalar::I32, Builtin::BlockX * BLOCK as i32 + Builtin::ThreadX);
                b.if_(i.lt(count), |b| one(b, i.into()));
            }
        };
        let count = ParamId(inputs.len() as u32 + 1);
        let blocks = (count + (BLOCK as i32 - 1)) / BLOCK as i32;
        self.case(
            &format!("{name}_threads"),
            [BLOCK, 1, 1],
            [blocks, 1.into(), 1.into()],
            before.clone(),
            after.clone(),
            |b| build(b, false),
        );
        self.case(&format!("{name}_loop"), [1, 1, 1], [1.into(), 1.into(), 1.into()], before, after, |b| {
            build(b, true)
        });
    }
}

/// All pairs of values that `keep` accepts, as two columns.
fn pairs<T: Copy>(values: &[T], keep: impl Fn(T, T) -> bool) -> (Vec<T>, Vec<T>) {
    let all = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b)));
    all.filter(|&(a, b)| keep(a, b)).unzip()
}
