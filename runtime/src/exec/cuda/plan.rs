//! Plans on device memory, and on host memory through a device.

use super::device::CudaDevice;
use super::error::CudaError;
use super::host::{Host, Operation};
use super::launch::{Addresses, CudaGraph, Loaded};
use crate::data::{RawView, RawViewMut, contiguous};
use crate::error::PlanError;
use crate::exec::{Executor, Workspace, WorkspaceSize};
use crate::sample::Sample;
use cudarc::driver::sys::{CUdeviceptr, CUstream};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceSlice};
use lifting_dsl::Direction;
use lifting_planner::{Choice, List, Pass, Problem, Program, Tuning};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// Transforms of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// Data to coefficients.
    Forward,
    /// Data to coefficients, in place.
    ForwardInPlace,
    /// Coefficients to the low band of a level; level 0 is the data.
    Inverse {
        /// The level.
        level: u32,
    },
    /// Coefficients to data, in place.
    InverseInPlace,
    /// Adjoint of `Forward`: coefficients to data. Needs a [`CudaPlan::adjoint_workspace`].
    Adjoint,
    /// Adjoint of `Inverse`: data to coefficients. Needs a [`CudaPlan::adjoint_workspace`].
    InverseAdjoint,
}

/// Execution of a plan on device memory; from [`Plan::cuda`](crate::Plan::cuda).
///
/// Arrays are laid out by the plan's strides. Execution uses the caller's stream, allocates nothing and does not wait.
#[derive(Debug)]
pub struct CudaPlan<T> {
    device: CudaDevice,
    problem: Arc<Problem>,
    /// Program for arrays with the plan's strides.
    strided: Arc<Loaded>,
    /// Program for contiguous arrays, the form of host data on the device.
    packed: Arc<Loaded>,
    data: Span,
    coefficients: Span,
    tuning: Tuning,
    /// Strides of data and of coefficients.
    strides: [Vec<isize>; 2],
    /// Adjoints for the plan's strides and for contiguous arrays, each made on first use.
    adjoints: [OnceLock<Result<Loaded, PlanError>>; 2],
    host: Host,
    sample: PhantomData<fn(T) -> T>,
}

/// Extent of an array that a plan needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Length in samples.
    pub len: usize,
    /// Index of the first sample; not 0 if a stride is negative.
    pub start: usize,
}

/// Scratch memory on the device for one execution at a time; use one for each stream.
#[derive(Debug)]
pub struct CudaWorkspace {
    memory: Option<CudaSlice<u8>>,
    bytes: usize,
    ordinal: usize,
}

impl CudaWorkspace {
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<T: Sample> CudaPlan<T> {
    pub(crate) fn new(
        device: &CudaDevice,
        problem: Arc<Problem>,
        (data, data_strides): (Span, &[isize]),
        (coefficients, coefficient_strides): (Span, &[isize]),
        tuning: &Tuning,
    ) -> Result<CudaPlan<T>, PlanError> {
        let load = |data: &[isize], coefficients: &[isize]| {
            let program = Program::new(&problem, T::KIND, data, coefficients, tuning)?;
            Loaded::new(device, program, device.kernels(), problem.geometry.shape()).map(Arc::new)
        };
        let packed_data = contiguous(&problem.source_shape);
        let packed_coefficients = contiguous(problem.geometry.shape());
        let strided = load(data_strides, coefficient_strides)?;
        let packed = if packed_data == data_strides && packed_coefficients == coefficient_strides {
            strided.clone()
        } else {
            load(&packed_data, &packed_coefficients)?
        };
        let device = device.clone();
        let strides = [data_strides.to_vec(), coefficient_strides.to_vec()];
        let tuning = tuning.clone();
        Ok(CudaPlan {
            device,
            problem,
            strided,
            packed,
            data,
            coefficients,
            tuning,
            strides,
            adjoints: [OnceLock::new(), OnceLock::new()],
            host: Host::default(),
            sample: PhantomData,
        })
    }

    /// The device.
    pub fn device(&self) -> &CudaDevice {
        &self.device
    }

    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    pub(super) fn packed(&self) -> &Loaded {
        &self.packed
    }

    pub(super) fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    pub(super) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Size in bytes of the larger of data and coefficients.
    pub(super) fn bytes(&self) -> usize {
        (self.data.len.max(self.coefficients.len) * size_of::<T>()).max(1)
    }

    /// Whether the plan is usable: false after the device's context has failed.
    pub fn is_usable(&self) -> bool {
        self.device.is_usable()
    }

    /// CUDA C++ source of the plan's kernels.
    pub fn source(&self) -> &str {
        &self.strided.source
    }

    /// Size in bytes of a [`CudaPlan::workspace`].
    pub fn workspace_bytes(&self) -> usize {
        self.strided.workspace_bytes
    }

    /// Allocates a workspace on a stream.
    ///
    /// # Errors
    /// If the device's memory is full; the plan stays usable.
    pub fn workspace(&self, stream: &Arc<CudaStream>) -> Result<CudaWorkspace, PlanError> {
        self.check_stream(stream)?;
        let bytes = self.workspace_bytes();
        Ok(CudaWorkspace { memory: self.scratch(stream, bytes)?, bytes, ordinal: self.device.ordinal() })
    }

    /// Analyses an array on the device.
    ///
    /// # Errors
    /// If an array, the stream or the workspace is unsuitable, or the driver refuses.
    pub fn forward<S, D>(
        &self,
        stream: &Arc<CudaStream>,
        src: &S,
        dst: &mut D,
        workspace: &mut CudaWorkspace,
    ) -> Result<(), PlanError>
    where
        S: DevicePtr<T>,
        D: DevicePtrMut<T>,
    {
        self.check("the data", self.data, src)?;
        self.check("the coefficients", self.coefficients, dst)?;
        let starts = (self.data.start, self.coefficients.start);
        self.execute((&self.strided, &self.strided.program.forward), stream, src, dst, starts, workspace)
    }

    /// Synthesises an array on the device.
    ///
    /// # Errors
    /// As for [`CudaPlan::forward`].
    pub fn inverse<S, D>(
        &self,
        stream: &Arc<CudaStream>,
        src: &S,
        dst: &mut D,
        workspace: &mut CudaWorkspace,
    ) -> Result<(), PlanError>
    where
        S: DevicePtr<T>,
        D: DevicePtrMut<T>,
    {
        self.inverse_to(0, stream, src, dst, workspace)
    }

    /// Synthesises up to a level; its low band is contiguous in `dst`.
    ///
    /// # Errors
    /// As for [`CudaPlan::forward`], and if the plan lacks this level.
    pub fn inverse_to<S, D>(
        &self,
        level: u32,
        stream: &Arc<CudaStream>,
        src: &S,
        dst: &mut D,
        workspace: &mut CudaWorkspace,
    ) -> Result<(), PlanError>
    where
        S: DevicePtr<T>,
        D: DevicePtrMut<T>,
    {
        let (loaded, list) = self.list(Transform::Inverse { level })?;
        let target = match level {
            0 => self.data,
            _ => Span { len: self.problem.geometry.level_shape(level).iter().product(), start: 0 },
        };
        self.check("the coefficients", self.coefficients, src)?;
        self.check("the result", target, dst)?;
        self.execute((loaded, list), stream, src, dst, (self.coefficients.start, target.start), workspace)
    }

    /// Applies the adjoint of analysis on the device: coefficients to data. It needs a real wavelet and no padding. The
    /// first call, or [`CudaPlan::adjoint_workspace`], makes the kernels.
    ///
    /// # Errors
    /// As for [`CudaPlan::forward`], and if the plan has no adjoint.
    pub fn adjoint<S, D>(
        &self,
        stream: &Arc<CudaStream>,
        src: &S,
        dst: &mut D,
        workspace: &mut CudaWorkspace,
    ) -> Result<(), PlanError>
    where
        S: DevicePtr<T>,
        D: DevicePtrMut<T>,
    {
        self.check("the coefficients", self.coefficients, src)?;
        self.check("the data", self.data, dst)?;
        let starts = (self.coefficients.start, self.data.start);
        self.execute(self.list(Transform::Adjoint)?, stream, src, dst, starts, workspace)
    }

    /// Applies the adjoint of synthesis on the device: data to coefficients.
    ///
    /// # Errors
    /// As for [`CudaPlan::adjoint`].
    pub fn inverse_adjoint<S, D>(
        &self,
        stream: &Arc<CudaStream>,
        src: &S,
        dst: &mut D,
        workspace: &mut CudaWorkspace,
    ) -> Result<(), PlanError>
    where
        S: DevicePtr<T>,
        D: DevicePtrMut<T>,
    {
        self.check("the data", self.data, src)?;
        self.check("the coefficients", self.coefficients, dst)?;
        let starts = (self.data.start, self.coefficients.start);
        self.execute(self.list(Transform::InverseAdjoint)?, stream, src, dst, starts, workspace)
    }

    /// Allocates a workspace for adjoints on a stream.
    ///
    /// # Errors
    /// If the plan has no adjoint, or the device's memory is full.
    pub fn adjoint_workspace(&self, stream: &Arc<CudaStream>) -> Result<CudaWorkspace, PlanError> {
        self.check_stream(stream)?;
        let bytes = self.adjoints(false)?.workspace_bytes;
        Ok(CudaWorkspace { memory: self.scratch(stream, bytes)?, bytes, ordinal: self.device.ordinal() })
    }

    /// The adjoint for the plan's strides, or for contiguous arrays.
    fn adjoints(&self, packed: bool) -> Result<&Loaded, PlanError> {
        self.problem.check_adjoint()?;
        let shape = self.problem.geometry.shape();
        let made = self.adjoints[usize::from(packed)].get_or_init(|| {
            let contiguous = contiguous(shape);
            let [data, coefficients] = if packed { [&contiguous; 2] } else { self.strides.each_ref() };
            let program = Program::adjoint(&self.problem, T::KIND, data, coefficients, &self.tuning)?;
            Loaded::new(&self.device, program, self.device.kernels(), shape)
        });
        made.as_ref().map_err(PlanError::clone)
    }

    /// Runs a transform on raw addresses, for memory of other libraries. The addresses are those of the sample with all
    /// indices 0 in source and target, which are laid out by the plan's strides. In place, `source` is not used.
    ///
    /// # Safety
    /// Every sample of the source must be readable and every sample of the target writable on the plan's device. They
    /// must not overlap, except in place. Nothing else may use them or the workspace until the stream has executed the
    /// transform.
    ///
    /// # Errors
    /// If the plan lacks this transform, the stream or the workspace is on another device, or the driver refuses.
    pub unsafe fn execute_raw(
        &self,
        transform: Transform,
        stream: &Arc<CudaStream>,
        source: CUdeviceptr,
        target: CUdeviceptr,
        workspace: &mut CudaWorkspace,
    ) -> Result<(), PlanError> {
        let (loaded, list) = self.list(transform)?;
        self.check_stream(stream)?;
        self.check_workspace(loaded, workspace)?;
        let (scratch, _guard) = match &mut workspace.memory {
            Some(memory) => {
                let (at, guard) = memory.device_ptr_mut(stream);
                (at, Some(guard))
            }
            None => (0, None),
        };
        let at = Addresses { source, target, scratch };
        // SAFETY: passed on from the caller.
        unsafe { loaded.launch::<T>(&self.device, list, stream.cu_stream(), at)? };
        Ok(())
    }

    /// Scratch in bytes that a transform needs, for [`CudaPlan::execute_with_scratch`].
    ///
    /// # Errors
    /// If the plan lacks this transform.
    pub fn scratch_bytes(&self, transform: Transform) -> Result<usize, PlanError> {
        Ok(self.list(transform)?.0.workspace_bytes)
    }

    /// Runs [`CudaPlan::execute_raw`] with a stream handle and scratch memory of another library.
    ///
    /// # Safety
    /// As for [`CudaPlan::execute_raw`]; the stream must be one of the plan's device. `scratch` must be the address of
    /// [`CudaPlan::scratch_bytes`] bytes on it, aligned as allocations are. Nothing else may use them until the stream
    /// has executed the transform.
    ///
    /// # Errors
    /// If the plan lacks this transform, or the driver refuses.
    pub unsafe fn execute_with_scratch(
        &self,
        transform: Transform,
        stream: CUstream,
        source: CUdeviceptr,
        target: CUdeviceptr,
        scratch: CUdeviceptr,
    ) -> Result<(), PlanError> {
        let (loaded, list) = self.list(transform)?;
        // SAFETY: passed on from the caller.
        unsafe { loaded.launch::<T>(&self.device, list, stream, Addresses { source, target, scratch })? };
        Ok(())
    }

    /// Makes a graph of a transform, on raw addresses as for [`CudaPlan::execute_raw`]. The graph keeps the addresses,
    /// including the workspace's.
    ///
    /// # Safety
    /// None here: each launch of the graph has the conditions of [`CudaPlan::execute_raw`].
    ///
    /// # Errors
    /// As for [`CudaPlan::execute_raw`].
    pub unsafe fn graph(
        &self,
        transform: Transform,
        stream: &Arc<CudaStream>,
        source: CUdeviceptr,
        target: CUdeviceptr,
        workspace: &mut CudaWorkspace,
    ) -> Result<CudaGraph, PlanError> {
        let (loaded, list) = self.list(transform)?;
        self.check_stream(stream)?;
        self.check_workspace(loaded, workspace)?;
        let scratch = workspace.memory.as_mut().map_or(0, |memory| memory.device_ptr_mut(stream).0);
        let at = Addresses { source, target, scratch };
        // SAFETY: passed on from the caller.
        Ok(unsafe { loaded.graph::<T>(&self.device, list, at)? })
    }

    fn list(&self, transform: Transform) -> Result<(&Loaded, &List), PlanError> {
        let (strided, program) = (&*self.strided, &self.strided.program);
        let padded = || PlanError::PaddedInPlace {
            shape: self.problem.source_shape.clone(),
            padded: self.problem.geometry.shape().to_vec(),
        };
        let adjoint = |of| self.adjoints(false).map(|loaded| (loaded, loaded.program.adjoint_list(of)));
        let list = match transform {
            Transform::Forward => Ok(&program.forward),
            Transform::ForwardInPlace => program.forward_in_place.as_ref().ok_or_else(padded),
            Transform::Inverse { level } => {
                let depth = self.problem.geometry.depth();
                program.inverse.get(level as usize).ok_or(PlanError::NoSuchLevel { level, depth })
            }
            Transform::InverseInPlace => program.inverse_in_place.as_ref().ok_or_else(padded),
            Transform::Adjoint => return adjoint(Direction::Forward),
            Transform::InverseAdjoint => return adjoint(Direction::Inverse),
        };
        Ok((strided, list?))
    }

    fn execute<S, D>(
        &self,
        (loaded, list): (&Loaded, &List),
        stream: &Arc<CudaStream>,
        src: &S,
        dst: &mut D,
        (source_start, target_start): (usize, usize),
        workspace: &mut CudaWorkspace,
    ) -> Result<(), PlanError>
    where
        S: DevicePtr<T>,
        D: DevicePtrMut<T>,
    {
        self.check_stream(stream)?;
        self.check_workspace(loaded, workspace)?;
        let (source, _source_guard) = src.device_ptr(stream);
        let (target, _target_guard) = dst.device_ptr_mut(stream);
        let (scratch, _scratch_guard) = match &mut workspace.memory {
            Some(memory) => {
                let (at, guard) = memory.device_ptr_mut(stream);
                (at, Some(guard))
            }
            None => (0, None),
        };
        let at = Addresses {
            source: source + (source_start * size_of::<T>()) as u64,
            target: target + (target_start * size_of::<T>()) as u64,
            scratch,
        };
        // SAFETY: the slices hold the data that the plan reads and writes; their guards order this before later uses.
        unsafe { loaded.launch::<T>(&self.device, list, stream.cu_stream(), at)? };
        Ok(())
    }

    fn wrong(&self, what: &'static str, found: usize) -> PlanError {
        CudaError::WrongDevice { what, found, expected: self.device.ordinal() }.into()
    }

    fn check_stream(&self, stream: &CudaStream) -> Result<(), PlanError> {
        if stream.context() != self.device.context() {
            return Err(self.wrong("the stream", stream.context().ordinal()));
        }
        Ok(())
    }

    fn check_workspace(&self, loaded: &Loaded, workspace: &CudaWorkspace) -> Result<(), PlanError> {
        if workspace.ordinal != self.device.ordinal() {
            return Err(self.wrong("the workspace", workspace.ordinal));
        }
        if workspace.bytes < loaded.workspace_bytes {
            return Err(PlanError::ForeignWorkspace);
        }
        Ok(())
    }

    fn check(&self, what: &'static str, span: Span, slice: &impl DeviceSlice<T>) -> Result<(), PlanError> {
        if slice.stream().context() != self.device.context() {
            return Err(self.wrong(what, slice.stream().context().ordinal()));
        }
        if slice.len() < span.len {
            let shape = self.problem.geometry.shape().to_vec();
            return Err(PlanError::TooShort { what, shape, needed: span.len, got: slice.len() });
        }
        Ok(())
    }

    pub(super) fn scratch(&self, stream: &Arc<CudaStream>, bytes: usize) -> Result<Option<CudaSlice<u8>>, CudaError> {
        if bytes == 0 { Ok(None) } else { self.allocate(stream, bytes, "the workspace").map(Some) }
    }

    pub(super) fn allocate(
        &self,
        stream: &Arc<CudaStream>,
        bytes: usize,
        what: &'static str,
    ) -> Result<CudaSlice<u8>, CudaError> {
        self.device.ready()?;
        // SAFETY: any byte value is valid, and every byte is written before it is read.
        unsafe { stream.alloc::<u8>(bytes) }.map_err(|e| self.device.allocation_error(what, bytes, e))
    }
}

impl<T: Sample> Executor<T> for CudaPlan<T> {
    fn workspace_size(&self) -> WorkspaceSize {
        // Host memory only; `CudaPlan::workspace_bytes` is the device's.
        WorkspaceSize::default()
    }

    fn workspace_bytes(&self) -> usize {
        self.strided.workspace_bytes
    }

    fn passes(&self) -> Vec<Pass> {
        self.strided.program.forward.passes.clone()
    }

    fn choices(&self) -> Vec<Choice> {
        self.strided.program.choices()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn microseconds(&self, direction: Direction) -> Option<Result<f64, PlanError>> {
        Some(CudaPlan::microseconds(
            self,
            match direction {
                Direction::Forward => Transform::Forward,
                Direction::Inverse => Transform::Inverse { level: 0 },
            },
        ))
    }

    unsafe fn forward(&self, src: RawView<T>, dst: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        // SAFETY: passed on from the caller, here and below.
        unsafe { self.out_of_place(Operation::Forward, src, dst) }
    }

    unsafe fn forward_in_place(&self, data: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        let list = self.packed.program.forward_in_place.as_ref().expect("a plan that pads is not run in place");
        // SAFETY: as above.
        unsafe { self.through(&self.packed, list, None, data, true) }
    }

    unsafe fn adjoint(
        &self,
        of: Direction,
        src: RawView<T>,
        dst: RawViewMut<T>,
        _: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        let loaded = self.adjoints(true)?;
        let list = loaded.program.adjoint_list(of);
        // SAFETY: as above.
        unsafe { self.through(loaded, list, Some(src), dst, false) }
    }

    unsafe fn inverse(
        &self,
        level: u32,
        src: RawView<T>,
        dst: RawViewMut<T>,
        _: &mut Workspace<T>,
    ) -> Result<(), PlanError> {
        // SAFETY: as above.
        unsafe { self.out_of_place(Operation::Inverse(level), src, dst) }
    }

    unsafe fn inverse_in_place(&self, data: RawViewMut<T>, _: &mut Workspace<T>) -> Result<(), PlanError> {
        let list = self.packed.program.inverse_in_place.as_ref().expect("a plan that pads is not run in place");
        // SAFETY: as above.
        unsafe { self.through(&self.packed, list, None, data, true) }
    }
}
