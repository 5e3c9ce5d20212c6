//! Plans on the IR's interpreter: runs the GPU's launches on host memory and reports every race and stray access.

use crate::data::{RawView, RawViewMut, contiguous, offsets};
use crate::error::PlanError;
use crate::exec::{Executor, Workspace, WorkspaceSize};
use crate::sample::Sample;
use lifting_codegen::ir::interp::{self, Buffer};
use lifting_codegen::ir::{Access, ParamKind};
use lifting_dsl::Direction;
use lifting_planner::{Arg, Array, Choice, List, Made, Pass, Problem, Program, Region, Tuning, VECTOR, scalar_of};
use std::sync::{Arc, OnceLock};

/// Executes a plan's launches with the interpreter.
#[derive(Debug)]
pub(crate) struct Interpreter {
    program: Program,
    /// Strides of data and coefficients in the interpreted device's memory.
    data: Vec<isize>,
    coefficients: Vec<isize>,
    problem: Arc<Problem>,
    tuning: Tuning,
    /// The adjoint program, made on first use.
    adjoint: OnceLock<Result<Program, PlanError>>,
}

impl Interpreter {
    /// Makes an interpreter for data and coefficients with these strides. Views are gathered into buffers with the
    /// strides, and scattered back. With a negative stride the buffer is contiguous: an interpreted pointer cannot
    /// reach before its start.
    pub fn new<T: Sample>(
        problem: Arc<Problem>,
        data: &[isize],
        coefficients: &[isize],
        tuning: &Tuning,
    ) -> Result<Interpreter, PlanError> {
        let suited = |shape: &[usize], strides: &[isize]| {
            if strides.iter().all(|&s| s >= 0) { strides.to_vec() } else { contiguous(shape) }
        };
        let data = suited(&problem.source_shape, data);
        let coefficients = suited(problem.geometry.shape(), coefficients);
        let program = Program::new(&problem, T::KIND, &data, &coefficients, tuning)?;
        let (tuning, adjoint) = (tuning.clone(), OnceLock::new());
        Ok(Interpreter { program, data, coefficients, problem, tuning, adjoint })
    }

    /// Runs a list.
    fn run(&self, program: &Program, list: &List, source: Option<Buffer>, target: Buffer) -> Result<Buffer, PlanError> {
        let start = |buffer: Option<&Buffer>| buffer.map_or(0, Buffer::misalignment);
        let (source_at, target_at) = (start(source.as_ref()), start(Some(&target)));
        let list = list.at(source_at, target_at);
        let address = |array| match array {
            Array::Source => source_at,
            Array::Target => target_at,
            Array::Scratch(_) => 0,
        };
        let scratch = |region: &Option<_>| region.map(|(scalar, len)| Buffer::undefined(scalar, len));
        let mut arrays = Arrays { source, target, scratch: program.regions.0.iter().map(scratch).collect() };
        for launch in &list.launches {
            let Made { kernel, info, fit } = &program.kernels[launch.kernel];
            let failed = |reason: String| PlanError::Kernel { kernel: kernel.name.clone(), reason };
            let mut args = Vec::new();
            let mut written = Vec::new();
            for (arg, param) in launch.args.iter().zip(&kernel.params) {
                args.push(match *arg {
                    Arg::Int(v) => interp::Arg::Scalar(v),
                    Arg::Pointer(array, offset) => {
                        let outside = || failed(format!("`{}` points before {array:?}", param.name));
                        let from = usize::try_from(offset).map_err(|_| outside())?;
                        let whole = arrays.get(array).ok_or_else(outside)?;
                        if from > whole.len() {
                            return Err(outside());
                        }
                        let seen = whole.tail(from);
                        if matches!(param.kind, ParamKind::Pointer(_, Access::Write | Access::ReadWrite)) {
                            written.push((args.len(), array, from, seen.clone()));
                        }
                        interp::Arg::Buffer(seen)
                    }
                });
            }
            if let (Some(placed), Some(fit)) = (&launch.placed, fit) {
                let values = placed.arguments(&**fit, address);
                let values = values.ok_or_else(|| failed("it does not fit the addresses of its arrays".into()))?;
                args[placed.at..].iter_mut().zip(values).for_each(|(arg, v)| *arg = interp::Arg::Scalar(v));
            }
            interp::run(kernel, info, &mut args).map_err(|fault| failed(fault.to_string()))?;
            for (index, array, from, before) in written {
                let after = args[index].buffer().expect("a pointer's argument is a buffer");
                let whole = arrays.get(array).expect("the array exists");
                whole
                    .adopt(from, &before, after)
                    .map_err(|at| failed(format!("two pointers write element {at} of {array:?} in one launch")))?;
            }
        }
        Ok(arrays.target)
    }
}

struct Arrays {
    source: Option<Buffer>,
    target: Buffer,
    scratch: Vec<Option<Buffer>>,
}

impl Arrays {
    fn get(&mut self, array: Array) -> Option<&mut Buffer> {
        match array {
            Array::Source => self.source.as_mut(),
            Array::Target => Some(&mut self.target),
            Array::Scratch(region) => self.scratch[Region::index(region)].as_mut(),
        }
    }
}

/// An undefined buffer for a box with these strides, misaligned like `host`.
fn empty<T: Sample>(shape: &[usize], strides: &[isize], host: *const T) -> Buffer {
    let len = offsets(shape, strides).max().map_or(0, |last| last as usize + 1);
    Buffer::undefined(scalar_of(T::KIND), len).misaligned(host as usize % VECTOR as usize / size_of::<T>())
}

/// A buffer with these strides that holds the samples of a view.
///
/// # Safety
/// The view must be valid.
unsafe fn gather<T: Sample>(view: RawView<T>, strides: &[isize]) -> Buffer {
    let shape = &view.shape[..view.rank];
    let mut buffer = empty(shape, strides, view.ptr);
    let places = offsets(shape, strides).zip(offsets(shape, &view.strides[..view.rank]));
    // SAFETY: an element of a valid view.
    buffer.set(places.map(|(to, from)| (to as usize, unsafe { *view.ptr.offset(from) })));
    buffer
}

/// Copies a buffer with these strides into a view. All samples read must be defined.
///
/// # Safety
/// The view must be valid, and no other view may overlap it.
unsafe fn scatter<T: Sample>(buffer: &Buffer, strides: &[isize], view: RawViewMut<T>) -> Result<(), PlanError> {
    let shape = &view.shape[..view.rank];
    if let Some(at) = offsets(shape, strides).find(|&at| !buffer.is_defined_at(at as usize)) {
        let reason = format!("the launches leave element {at} of the result undefined");
        return Err(PlanError::Kernel { kernel: "all".into(), reason });
    }
    let values = buffer.to_vec::<T>().expect("the target has the plan's type");
    for (to, from) in offsets(shape, &view.strides[..view.rank]).zip(offsets(shape, strides)) {
        // SAFETY: an element of a valid view.
        unsafe { *view.ptr.offset(to) = values[from as usize] };
    }
    Ok(())
}

impl<T: Sample> Executor<T> for Interpreter {
    fn workspace_size(&self) -> WorkspaceSize {
        WorkspaceSize::default()
    }

    fn workspace_bytes(&self) -> usize {
        self.program.regions.layout().map_or(0, |(_, bytes)| bytes)
    }

    fn passes(&self) -> Vec<Pass> {
        self.program.forward.passes.clone()
    }

    fn choices(&self) -> Vec<Choice> {
        self.program.choices()
    }

    unsafe fn forward(&self, src: RawView<T>, dst: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        let to = &self.coefficients;
        // SAFETY: passed on from the caller, here and below.
        unsafe {
            let target = empty(&dst.shape[..dst.rank], to, dst.ptr);
            let result = self.run(&self.program, &self.program.forward, Some(gather(src, &self.data)), target)?;
            scatter(&result, to, dst)
        }
    }

    unsafe fn forward_in_place(&self, data: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        let list = self.program.forward_in_place.as_ref().expect("a plan that pads is not run in place");
        // SAFETY: as above.
        unsafe { self.in_place(list, data) }
    }

    unsafe fn inverse(
        &self,
        level: u32,
        src: RawView<T>,
        dst: RawViewMut<T>,
        _: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let shape = &dst.shape[..dst.rank];
        let to = if level == 0 { self.data.clone() } else { contiguous(shape) };
        let list = &self.program.inverse[level as usize];
        // SAFETY: as above.
        unsafe {
            let result =
                self.run(&self.program, list, Some(gather(src, &self.coefficients)), empty(shape, &to, dst.ptr))?;
            scatter(&result, &to, dst)
        }
    }

    unsafe fn adjoint(
        &self,
        of: Direction,
        src: RawView<T>,
        dst: RawViewMut<T>,
        _: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let make = || Ok(Program::adjoint(&self.problem, T::KIND, &self.data, &self.coefficients, &self.tuning)?);
        let program = self.adjoint.get_or_init(make).as_ref().map_err(PlanError::clone)?;
        let (from, to) = match of {
            Direction::Forward => (&self.coefficients, &self.data),
            Direction::Inverse => (&self.data, &self.coefficients),
        };
        // SAFETY: as above.
        unsafe {
            let target = empty(&dst.shape[..dst.rank], to, dst.ptr);
            let result = self.run(program, program.adjoint_list(of), Some(gather(src, from)), target)?;
            scatter(&result, to, dst)
        }
    }

    unsafe fn inverse_in_place(&self, data: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        let list = self.program.inverse_in_place.as_ref().expect("a plan that pads is not run in place");
        // SAFETY: as above.
        unsafe { self.in_place(list, data) }
    }
}

impl Interpreter {
    /// # Safety
    /// The view must be valid.
    unsafe fn in_place<T: Sample>(&self, list: &List, data: RawViewMut<T>) -> Result<(), PlanError> {
        // SAFETY: passed on from the caller.
        unsafe {
            let result = self.run(&self.program, list, None, gather(data.as_const(), &self.coefficients))?;
            scatter(&result, &self.coefficients, data)
        }
    }
}
