//! A plan's launches on an OpenCL device, for host data.

use super::device::OpenClDevice;
use super::error::OpenClError;
use crate::data::{RawView, RawViewMut, contiguous};
use crate::error::PlanError;
use crate::exec::packed::{gather, scatter};
use crate::exec::{Executor, Workspace, WorkspaceSize};
use crate::sample::Sample;
use lifting_codegen::back::{Dialect, OpenCl};
use lifting_codegen::ir::{ParamKind, Scalar};
use lifting_codegen::schedule::Direction;
use lifting_planner::{Arg, Array, Choice, List, Pass, Problem, Program, Region, Tuning};
use opencl3::command_queue::CommandQueue;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program as Compiled;
use opencl3::types::CL_BLOCKING;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// Executes a plan's launches on an OpenCL device. Data lies there without gaps.
#[derive(Debug)]
pub(crate) struct OpenClPlan {
    device: OpenClDevice,
    problem: Arc<Problem>,
    tuning: Tuning,
    loaded: Loaded,
    /// Made when it is asked for.
    adjoint: OnceLock<Result<Loaded, PlanError>>,
}

/// A program with its kernels compiled.
struct Loaded {
    program: Program,
    /// Arguments belong to kernels, so one execution has them at a time.
    live: Mutex<Live>,
}

struct Live {
    queue: CommandQueue,
    kernels: Vec<Kernel>,
    /// Source and target, of so many bytes, then the regions.
    arrays: [Option<(usize, Buffer<u8>)>; 2],
    scratch: Vec<Option<Buffer<u8>>>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.fmt(f)
    }
}

impl Loaded {
    fn new<T: Sample>(device: &OpenClDevice, program: Program) -> Result<Loaded, PlanError> {
        let kernels: Vec<_> = program.kernels.iter().map(|made| (&made.kernel, &made.info)).collect();
        let (text, names) = OpenCl
            .write_with(&kernels, &mut Dialect::namer(&OpenCl))
            .map_err(|e| PlanError::Kernel { kernel: e.kernel.clone(), reason: e.to_string() })?;
        let text = format!("{}\n{text}", Dialect::prelude(&OpenCl, &kernels));
        let options = device.options(T::KIND)?;
        let compiled = Compiled::create_and_build_from_source(device.context(), &text, &options)
            .map_err(|log| OpenClError::Build { device: device.name().to_owned(), log })?;
        let kernels = (names.iter())
            .map(|name| Kernel::create(&compiled, name).map_err(|e| device.refused("make a kernel", e)))
            .collect::<Result<_, _>>()?;
        let scratch = (program.regions.0.iter())
            .map(|region| region.map(|(scalar, len)| memory(device, scalar.bytes() * len)).transpose())
            .collect::<Result<_, _>>()?;
        let live = Live { queue: device.queue()?, kernels, arrays: [None, None], scratch };
        Ok(Loaded { program, live: Mutex::new(live) })
    }

    /// Runs a list, from `source`, or where the target is; the target is filled from its values only then.
    fn run<T: Sample>(
        &self,
        device: &OpenClDevice,
        list: &List,
        source: Option<&[T]>,
        target: &mut [T],
    ) -> Result<(), PlanError> {
        let live = &mut *self.live.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let [from, to] = &mut live.arrays;
        let to = array(device, to, size_of_val(target))?;
        let from = match source {
            Some(values) => {
                let from = array(device, from, size_of_val(values))?;
                write(device, &live.queue, from, values)?;
                Some(&*from)
            }
            None => {
                write(device, &live.queue, to, target)?;
                None
            }
        };
        // Buffers begin where the largest of vectors may.
        for launch in &list.at(0, 0).launches {
            let made = &self.program.kernels[launch.kernel];
            let (kernel, block) = (&live.kernels[launch.kernel], made.kernel.launch.block);
            let failed = |reason: &str| PlanError::Kernel { kernel: made.kernel.name.clone(), reason: reason.into() };
            let mut args = launch.args.clone();
            if let (Some(placed), Some(fit)) = (&launch.placed, &made.fit) {
                let values = placed.arguments(&**fit, |_| 0);
                let values = values.ok_or_else(|| failed("it does not suit the addresses of its arrays"))?;
                args[placed.at..].iter_mut().zip(values).for_each(|(arg, v)| *arg = Arg::Int(v));
            }
            let mut index = 0;
            for (arg, param) in args.iter().zip(&made.kernel.params) {
                match (*arg, param.kind) {
                    (Arg::Int(v), ParamKind::Scalar(Scalar::I64 | Scalar::U64)) => {
                        set(device, kernel, &mut index, &v)?;
                    }
                    (Arg::Int(v), _) => set(device, kernel, &mut index, &(v as i32))?,
                    (Arg::Pointer(array, offset), _) => {
                        let buffer = match array {
                            Array::Source => from,
                            Array::Target => Some(&*to),
                            Array::Scratch(region) => live.scratch[Region::index(region)].as_ref(),
                        };
                        let buffer = buffer.ok_or_else(|| failed("it takes an array that is not there"))?;
                        set(device, kernel, &mut index, &buffer.get())?;
                        set(device, kernel, &mut index, &offset)?;
                    }
                }
            }
            let local = block.map(|n| n as usize);
            let global = [0, 1, 2].map(|axis| launch.grid[axis] as usize * local[axis]);
            // SAFETY: grid, block and arguments are the kernel's, and buffers hold what it reads and writes.
            unsafe {
                (live.queue)
                    .enqueue_nd_range_kernel(kernel.get(), 3, std::ptr::null(), global.as_ptr(), local.as_ptr(), &[])
                    .map_err(|e| device.refused("launch a kernel", e))?;
            }
        }
        // SAFETY: the buffer has as many bytes, and the call returns when they are here.
        unsafe {
            let bytes = std::slice::from_raw_parts_mut(target.as_mut_ptr().cast::<u8>(), size_of_val(target));
            live.queue.enqueue_read_buffer(to, CL_BLOCKING, 0, bytes, &[])
        }
        .map_err(|e| device.refused("copy to the host", e))?;
        Ok(())
    }
}

/// Gives a kernel its next argument.
fn set<V>(device: &OpenClDevice, kernel: &Kernel, index: &mut u32, value: &V) -> Result<(), OpenClError> {
    // SAFETY: a number of the parameter's size, or a buffer's handle.
    unsafe { kernel.set_arg(*index, value) }.map_err(|e| device.refused("take an argument", e))?;
    *index += 1;
    Ok(())
}

fn memory(device: &OpenClDevice, bytes: usize) -> Result<Buffer<u8>, OpenClError> {
    // SAFETY: memory of the device's own.
    unsafe { Buffer::create(device.context(), CL_MEM_READ_WRITE, bytes.max(1), std::ptr::null_mut()) }
        .map_err(|e| device.refused("allocate memory", e))
}

/// An array of at least so many bytes, kept from one execution to the next.
fn array<'a>(
    device: &OpenClDevice,
    held: &'a mut Option<(usize, Buffer<u8>)>,
    bytes: usize,
) -> Result<&'a mut Buffer<u8>, OpenClError> {
    if held.as_ref().is_none_or(|(size, _)| *size < bytes) {
        *held = Some((bytes, memory(device, bytes)?));
    }
    Ok(&mut held.as_mut().expect("it was made").1)
}

fn write<T: Sample>(
    device: &OpenClDevice,
    queue: &CommandQueue,
    buffer: &mut Buffer<u8>,
    values: &[T],
) -> Result<(), OpenClError> {
    // SAFETY: samples are plain numbers; the buffer has as many bytes, and the call returns when they are read.
    unsafe {
        let bytes = std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values));
        queue.enqueue_write_buffer(buffer, CL_BLOCKING, 0, bytes, &[])
    }
    .map_err(|e| device.refused("copy to the device", e))?;
    Ok(())
}

impl OpenClPlan {
    pub fn new<T: Sample>(
        device: &OpenClDevice,
        problem: Arc<Problem>,
        tuning: Tuning,
    ) -> Result<OpenClPlan, PlanError> {
        let (data, coefficients) = (contiguous(&problem.source_shape), contiguous(problem.geometry.shape()));
        let program = Program::new(&problem, T::KIND, &data, &coefficients, &tuning)?;
        let loaded = Loaded::new::<T>(device, program)?;
        Ok(OpenClPlan { device: device.clone(), problem, tuning, loaded, adjoint: OnceLock::new() })
    }

    /// # Safety
    /// The views must be valid and not overlap.
    unsafe fn execute<T: Sample>(
        &self,
        loaded: &Loaded,
        list: &List,
        src: RawView<T>,
        dst: RawViewMut<T>,
    ) -> Result<(), PlanError> {
        // SAFETY: passed on from the caller.
        unsafe {
            let source = gather(src);
            let mut target = vec![T::default(); dst.shape[..dst.rank].iter().product()];
            loaded.run(&self.device, list, Some(&source), &mut target)?;
            scatter(&target, dst);
        }
        Ok(())
    }

    /// # Safety
    /// The view must be valid.
    unsafe fn in_place<T: Sample>(&self, list: &Option<List>, data: RawViewMut<T>) -> Result<(), PlanError> {
        let list = list.as_ref().expect("a plan that pads is not run in place");
        // SAFETY: passed on from the caller.
        unsafe {
            let mut target = gather(data.as_const());
            self.loaded.run(&self.device, list, None, &mut target)?;
            scatter(&target, data);
        }
        Ok(())
    }
}

impl<T: Sample> Executor<T> for OpenClPlan {
    fn workspace_size(&self) -> WorkspaceSize {
        WorkspaceSize::default()
    }

    fn workspace_bytes(&self) -> usize {
        self.loaded.program.regions.layout().map_or(0, |(_, bytes)| bytes)
    }

    fn passes(&self) -> Vec<Pass> {
        self.loaded.program.forward.passes.clone()
    }

    fn choices(&self) -> Vec<Choice> {
        self.loaded.program.choices()
    }

    unsafe fn forward(&self, src: RawView<T>, dst: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        // SAFETY: passed on from the caller, here and below.
        unsafe { self.execute(&self.loaded, &self.loaded.program.forward, src, dst) }
    }

    unsafe fn forward_in_place(&self, data: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        // SAFETY: as above.
        unsafe { self.in_place(&self.loaded.program.forward_in_place, data) }
    }

    unsafe fn inverse(
        &self,
        level: u32,
        src: RawView<T>,
        dst: RawViewMut<T>,
        _: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        // SAFETY: as above.
        unsafe { self.execute(&self.loaded, &self.loaded.program.inverse[level as usize], src, dst) }
    }

    unsafe fn adjoint(
        &self,
        of: Direction,
        src: RawView<T>,
        dst: RawViewMut<T>,
        _: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let make = || {
            let packed = contiguous(self.problem.geometry.shape());
            let program = Program::adjoint(&self.problem, T::KIND, &packed, &packed, &self.tuning)?;
            Loaded::new::<T>(&self.device, program)
        };
        let loaded = self.adjoint.get_or_init(make).as_ref().map_err(PlanError::clone)?;
        let list = loaded.program.adjoint_list(of);
        // SAFETY: as above.
        unsafe { self.execute(loaded, list, src, dst) }
    }

    unsafe fn inverse_in_place(&self, data: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        // SAFETY: as above.
        unsafe { self.in_place(&self.loaded.program.inverse_in_place, data) }
    }
}
