//! Plans on an OpenCL device's memory, and on host memory through it.

use super::device::OpenClDevice;
use super::error::OpenClError;
use crate::data::{RawView, RawViewMut, contiguous};
use crate::error::PlanError;
use crate::exec::packed::{gather, scatter};
use crate::exec::{Executor, Workspace, WorkspaceSize};
use crate::sample::Sample;
use lifting_codegen::back::Dialect;
use lifting_codegen::ir::{ParamKind, Scalar};
use lifting_dsl::Direction;
use lifting_planner::{Arg, Array, Choice, Launch, List, Pass, Problem, Program, Region, Tuning};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program as Compiled;
use opencl3::types::{CL_BLOCKING, cl_mem};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock};

/// Execution of a plan on device memory; from [`Plan::opencl`](crate::Plan::opencl).
///
/// Data and coefficients are contiguous in buffers, whatever the strides of host data. Execution uses the caller's
/// queue, allocates nothing and does not wait.
#[derive(Debug)]
pub struct OpenClPlan<T> {
    device: OpenClDevice,
    problem: Arc<Problem>,
    tuning: Tuning,
    loaded: Loaded,
    /// The adjoint program, made on first use.
    adjoint: OnceLock<Result<Loaded, PlanError>>,
    sample: PhantomData<fn(T) -> T>,
}

/// Scratch memory on the device for one execution at a time; use one for each queue.
#[derive(Debug)]
pub struct OpenClWorkspace {
    regions: Vec<Option<Buffer<u8>>>,
    /// The plan's device, and the size of each region in bytes.
    device: OpenClDevice,
    bytes: Vec<usize>,
}

impl OpenClWorkspace {
    fn new(device: &OpenClDevice, program: &Program) -> Result<OpenClWorkspace, OpenClError> {
        let bytes: Vec<usize> = region_bytes(program).collect();
        let regions = bytes.iter().map(|&bytes| (bytes > 0).then(|| memory(device, bytes)).transpose());
        Ok(OpenClWorkspace { regions: regions.collect::<Result<_, _>>()?, device: device.clone(), bytes })
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.iter().sum()
    }
}

/// Size in bytes of each region of a program; 0 for an unused one.
fn region_bytes(program: &Program) -> impl Iterator<Item = usize> + '_ {
    program.regions.0.iter().map(|region| region.map_or(0, |(scalar, len)| scalar.bytes() * len))
}

/// A program with its kernels compiled.
struct Loaded {
    program: Program,
    /// Kernels hold their arguments, so one caller at a time sets them.
    kernels: Mutex<Vec<Kernel>>,
    /// State for host data, made on first use.
    host: Mutex<Option<Host>>,
}

/// Device state for transforms of host data.
struct Host {
    queue: CommandQueue,
    workspace: OpenClWorkspace,
    /// Source and target buffers with their sizes in bytes.
    arrays: [Option<(usize, Buffer<u8>)>; 2],
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.fmt(f)
    }
}

impl Loaded {
    fn new<T: Sample>(device: &OpenClDevice, program: Program) -> Result<Loaded, PlanError> {
        let kernels: Vec<_> = program.kernels.iter().map(|made| (&made.kernel, &made.info)).collect();
        let dialect: &dyn Dialect = &device.dialect();
        let (text, names) = dialect
            .write_with(&kernels, &mut dialect.namer())
            .map_err(|e| OpenClError::Lacks { device: device.name().to_owned(), reason: e.to_string() })?;
        let text = format!("{}\n{text}", dialect.prelude(&kernels));
        let standard = device.dialect().standard(kernels.iter().map(|(kernel, _)| *kernel));
        let options = format!("{standard}{}", device.options(T::KIND)?);
        let compiled = Compiled::create_and_build_from_source(device.context(), &text, &options)
            .map_err(|log| OpenClError::Build { device: device.name().to_owned(), log })?;
        let kernels = (names.iter())
            .map(|name| Kernel::create(&compiled, name).map_err(|e| device.refused("make a kernel", e)))
            .collect::<Result<_, _>>()?;
        Ok(Loaded { program, kernels: Mutex::new(kernels), host: Mutex::new(None) })
    }

    /// Enqueues a list's launches.
    ///
    /// # Safety
    /// Source and target must have the list's sizes, be on the queue's device, and not overlap.
    unsafe fn launch(
        &self,
        device: &OpenClDevice,
        queue: &CommandQueue,
        list: &List,
        arrays: (Option<cl_mem>, cl_mem),
        workspace: &OpenClWorkspace,
    ) -> Result<(), PlanError> {
        let kernels = self.kernels.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for launch in &list.at(0, 0).launches {
            let kernel = &kernels[launch.kernel];
            self.arguments(device, kernel, launch, arrays, workspace)?;
            let local = self.program.kernels[launch.kernel].kernel.launch.block.map(|n| n as usize);
            let global = [0, 1, 2].map(|axis| launch.grid[axis] as usize * local[axis]);
            // SAFETY: grid, block and arguments are the kernel's, and buffers hold its data.
            unsafe {
                queue
                    .enqueue_nd_range_kernel(kernel.get(), 3, std::ptr::null(), global.as_ptr(), local.as_ptr(), &[])
                    .map_err(|e| device.refused("launch a kernel", e))?;
            }
        }
        Ok(())
    }

    /// Sets the arguments of a launch on its kernel. Buffers are aligned for the widest vectors.
    fn arguments(
        &self,
        device: &OpenClDevice,
        kernel: &Kernel,
        launch: &Launch,
        (source, target): (Option<cl_mem>, cl_mem),
        workspace: &OpenClWorkspace,
    ) -> Result<(), PlanError> {
        let made = &self.program.kernels[launch.kernel];
        let failed = |reason: &str| PlanError::Kernel { kernel: made.kernel.name.clone(), reason: reason.into() };
        let mut args = launch.args.clone();
        if let (Some(placed), Some(fit)) = (&launch.placed, &made.fit) {
            let values = placed.arguments(&**fit, |_| 0);
            let values = values.ok_or_else(|| failed("it does not fit the addresses of its arrays"))?;
            args[placed.at..].iter_mut().zip(values).for_each(|(arg, v)| *arg = Arg::Int(v));
        }
        let mut index = 0;
        for (arg, param) in args.iter().zip(&made.kernel.params) {
            match (*arg, param.kind) {
                (Arg::Int(v), ParamKind::Scalar(Scalar::I64 | Scalar::U64)) => set(device, kernel, &mut index, &v)?,
                (Arg::Int(v), _) => set(device, kernel, &mut index, &(v as i32))?,
                (Arg::Pointer(array, offset), _) => {
                    let buffer = match array {
                        Array::Source => source,
                        Array::Target => Some(target),
                        Array::Scratch(region) => workspace.regions[Region::index(region)].as_ref().map(ClMem::get),
                    };
                    let buffer = buffer.ok_or_else(|| failed("it takes an array that is missing"))?;
                    set(device, kernel, &mut index, &buffer)?;
                    set(device, kernel, &mut index, &offset)?;
                }
            }
        }
        Ok(())
    }

    /// Runs a list on host data, from `source`, or in place on `target` if there is no source.
    fn run<T: Sample>(
        &self,
        device: &OpenClDevice,
        list: &List,
        source: Option<&[T]>,
        target: &mut [T],
    ) -> Result<(), PlanError> {
        let mut held = self.host.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if held.is_none() {
            let workspace = OpenClWorkspace::new(device, &self.program)?;
            *held = Some(Host { queue: device.queue()?, workspace, arrays: [None, None] });
        }
        let Host { queue, workspace, arrays: [from, to] } = held.as_mut().expect("it was made");
        let to = array(device, to, size_of_val(target))?;
        let from = match source {
            Some(values) => {
                let from = array(device, from, size_of_val(values))?;
                write(device, queue, from, values)?;
                Some(from.get())
            }
            None => {
                write(device, queue, to, target)?;
                None
            }
        };
        // SAFETY: both have the list's sizes, and only this call uses them.
        unsafe { self.launch(device, queue, list, (from, to.get()), workspace)? };
        // SAFETY: the buffer has this size, and the call returns after the copy.
        unsafe {
            let bytes = std::slice::from_raw_parts_mut(target.as_mut_ptr().cast::<u8>(), size_of_val(target));
            queue.enqueue_read_buffer(to, CL_BLOCKING, 0, bytes, &[])
        }
        .map_err(|e| device.refused("copy to the host", e))?;
        Ok(())
    }
}

/// Sets a kernel's next argument.
fn set<V>(device: &OpenClDevice, kernel: &Kernel, index: &mut u32, value: &V) -> Result<(), OpenClError> {
    // SAFETY: a number of the parameter's size, or a buffer's handle.
    unsafe { kernel.set_arg(*index, value) }.map_err(|e| device.refused("take an argument", e))?;
    *index += 1;
    Ok(())
}

fn memory(device: &OpenClDevice, bytes: usize) -> Result<Buffer<u8>, OpenClError> {
    // SAFETY: the device allocates this memory.
    unsafe { Buffer::create(device.context(), CL_MEM_READ_WRITE, bytes.max(1), std::ptr::null_mut()) }
        .map_err(|e| device.refused("allocate memory", e))
}

/// An array of at least `bytes` bytes, kept between executions.
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
    // SAFETY: samples are plain numbers; the buffer has this size, and the call returns after the copy.
    unsafe {
        let bytes = std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values));
        queue.enqueue_write_buffer(buffer, CL_BLOCKING, 0, bytes, &[])
    }
    .map_err(|e| device.refused("copy to the device", e))?;
    Ok(())
}

impl<T: Sample> OpenClPlan<T> {
    pub(crate) fn new(
        device: &OpenClDevice,
        problem: Arc<Problem>,
        tuning: Tuning,
    ) -> Result<OpenClPlan<T>, PlanError> {
        let (data, coefficients) = (contiguous(&problem.source_shape), contiguous(problem.geometry.shape()));
        let program = Program::new(&problem, T::KIND, &data, &coefficients, &tuning)?;
        let loaded = Loaded::new::<T>(device, program)?;
        let (device, adjoint, sample) = (device.clone(), OnceLock::new(), PhantomData);
        Ok(OpenClPlan { device, problem, tuning, loaded, adjoint, sample })
    }

    /// The device.
    pub fn device(&self) -> &OpenClDevice {
        &self.device
    }

    /// Size in bytes of an [`OpenClPlan::workspace`].
    pub fn workspace_bytes(&self) -> usize {
        region_bytes(&self.loaded.program).sum()
    }

    /// Allocates a workspace.
    ///
    /// # Errors
    /// If the device lacks the memory; the plan stays usable.
    pub fn workspace(&self) -> Result<OpenClWorkspace, PlanError> {
        Ok(OpenClWorkspace::new(&self.device, &self.loaded.program)?)
    }

    /// Transforms data to coefficients in the device's memory. Buffers and workspace are in use until the queue has
    /// executed the transform.
    ///
    /// ```no_run
    /// use lifting::opencl::{OpenClDevice, opencl3};
    /// use lifting::{Device, Plan, catalogue};
    /// use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
    ///
    /// let device = OpenClDevice::open(0)?;
    /// let wavelet = catalogue::find("cdf97")?;
    /// let builder = Plan::builder(&wavelet).shape(&[1080, 1920]).levels(5).sample::<f32>();
    /// let plan = builder.build(&Device::OpenCl(device.clone()))?;
    /// let (on_device, queue) = (plan.opencl()?, device.queue()?);
    /// let buffer = |len| unsafe { Buffer::create(device.context(), CL_MEM_READ_WRITE, len, std::ptr::null_mut()) };
    /// let (data, mut coefficients) = (buffer(plan.len())?, buffer(plan.coefficient_len())?);
    /// let mut workspace = on_device.workspace()?;
    /// on_device.forward(&queue, &data, &mut coefficients, &mut workspace)?;
    /// queue.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a buffer is too short, an object is not the device's, the queue executes out of order, or the device refuses.
    pub fn forward(
        &self,
        queue: &CommandQueue,
        source: &Buffer<T>,
        target: &mut Buffer<T>,
        workspace: &mut OpenClWorkspace,
    ) -> Result<(), PlanError> {
        let needed = [&self.problem.source_shape[..], self.problem.geometry.shape()];
        self.enqueue(&self.loaded.program.forward, queue, (source, target), needed, workspace)
    }

    /// Transforms coefficients to data in the device's memory.
    ///
    /// # Errors
    /// As for [`OpenClPlan::forward`].
    pub fn inverse(
        &self,
        queue: &CommandQueue,
        source: &Buffer<T>,
        target: &mut Buffer<T>,
        workspace: &mut OpenClWorkspace,
    ) -> Result<(), PlanError> {
        self.inverse_to(0, queue, source, target, workspace)
    }

    /// Transforms coefficients to the low band of a level; level 0 is the data.
    ///
    /// # Errors
    /// As for [`OpenClPlan::forward`], and if the plan lacks this level.
    pub fn inverse_to(
        &self,
        level: u32,
        queue: &CommandQueue,
        source: &Buffer<T>,
        target: &mut Buffer<T>,
        workspace: &mut OpenClWorkspace,
    ) -> Result<(), PlanError> {
        let geometry = &self.problem.geometry;
        let missing = PlanError::NoSuchLevel { level, depth: geometry.depth() };
        let list = self.loaded.program.inverse.get(level as usize).ok_or(missing)?;
        let low = if level == 0 { self.problem.source_shape.clone() } else { geometry.level_shape(level) };
        self.enqueue(list, queue, (source, target), [geometry.shape(), &low], workspace)
    }

    fn enqueue(
        &self,
        list: &List,
        queue: &CommandQueue,
        (source, target): (&Buffer<T>, &mut Buffer<T>),
        needed: [&[usize]; 2],
        workspace: &OpenClWorkspace,
    ) -> Result<(), PlanError> {
        let unknown = |e| self.device.refused("report an object's context", e);
        let own = |context| context == self.device.context().get();
        if !own(queue.context().map_err(unknown)?) {
            return Err(OpenClError::WrongContext { what: "the queue" }.into());
        }
        if queue.properties().map_err(unknown)? & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0 {
            return Err(OpenClError::OutOfOrder.into());
        }
        for (what, buffer, shape) in [("the source", source, needed[0]), ("the target", &*target, needed[1])] {
            if !own(buffer.context().map_err(unknown)?) {
                return Err(OpenClError::WrongContext { what }.into());
            }
            let (needed, got) = (shape.iter().product(), buffer.size().map_err(unknown)? / size_of::<T>());
            if got < needed {
                return Err(PlanError::TooShort { what, shape: shape.to_vec(), needed, got });
            }
        }
        if workspace.device != self.device || !region_bytes(&self.loaded.program).eq(workspace.bytes.iter().copied()) {
            return Err(PlanError::ForeignWorkspace);
        }
        // SAFETY: the objects were checked, and an exclusively borrowed target is not the source.
        unsafe { self.loaded.launch(&self.device, queue, list, (Some(source.get()), target.get()), workspace) }
    }

    /// # Safety
    /// The views must be valid and not overlap.
    unsafe fn execute(
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
    unsafe fn in_place(&self, list: &Option<List>, data: RawViewMut<T>) -> Result<(), PlanError> {
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

impl<T: Sample> Executor<T> for OpenClPlan<T> {
    fn workspace_size(&self) -> WorkspaceSize {
        WorkspaceSize::default()
    }

    fn workspace_bytes(&self) -> usize {
        self.workspace_bytes()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
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
