//! User kernels on the devices of plans, for work besides transforms.

#[cfg(feature = "cuda")]
use super::cuda::{CudaArg, CudaKernels, CudaPinned};
use crate::device::Device;
use crate::error::PlanError;
use crate::plan::Plan;
use crate::sample::{Plain, Sample};
use lifting_codegen::ir::interp::{self, Buffer, Element};
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Kernel, Scalar};
use std::ops::Range;
#[cfg(feature = "cuda")]
use std::sync::Arc;

/// Kernels on a CUDA device or the interpreter.
#[derive(Debug)]
pub struct Kernels {
    kernels: Vec<(Kernel, KernelInfo)>,
    #[cfg(feature = "cuda")]
    cuda: Option<CudaKernels>,
}

/// Element of an array: a sample or a byte. The trait is sealed.
pub trait Cell: Element + Plain + Default + Clone {}

impl<T: Sample> Cell for T {}
impl Cell for u8 {}

/// A plan whose transforms run from array to array, among kernel launches.
#[derive(Debug)]
pub struct Transform<T: Sample> {
    plan: Plan<T>,
    #[cfg(feature = "cuda")]
    workspace: Option<crate::cuda::CudaWorkspace>,
}

impl<T: Sample> Transform<T> {
    /// The plan.
    pub fn plan(&self) -> &Plan<T> {
        &self.plan
    }
}

/// An array in a device's memory, or a host buffer of the interpreter.
#[derive(Debug)]
pub struct Array {
    scalar: Scalar,
    len: usize,
    memory: Memory,
}

#[derive(Debug)]
enum Memory {
    Host(Buffer),
    #[cfg(feature = "cuda")]
    Cuda(cudarc::driver::CudaSlice<u8>),
}

impl Array {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes in the memory of a CUDA device, for foreign copies and kernels; `None` elsewhere.
    #[cfg(feature = "cuda")]
    pub fn cuda(&self) -> Option<&cudarc::driver::CudaSlice<u8>> {
        if let Memory::Cuda(memory) = &self.memory { Some(memory) } else { None }
    }

    /// Mutable counterpart of [`Array::cuda`].
    #[cfg(feature = "cuda")]
    pub fn cuda_mut(&mut self) -> Option<&mut cudarc::driver::CudaSlice<u8>> {
        if let Memory::Cuda(memory) = &mut self.memory { Some(memory) } else { None }
    }

    /// Checks that the array has as many bytes.
    fn check_bytes(&self, bytes: usize) -> Result<(), PlanError> {
        if bytes > self.len * self.scalar.bytes() {
            return Err(PlanError::KernelArray { found: self.scalar.name(), len: self.len, wanted: "more bytes" });
        }
        Ok(())
    }

    /// Checks the element type and the range.
    fn check<T: Cell>(&self, range: &Range<usize>) -> Result<(), PlanError> {
        if self.scalar != T::SCALAR || range.start > range.end || range.end > self.len {
            return Err(PlanError::KernelArray { found: self.scalar.name(), len: self.len, wanted: T::SCALAR.name() });
        }
        Ok(())
    }
}

/// Memory of the host that a device copies from and to without waiting; plain memory for the interpreter.
#[derive(Debug)]
pub struct Pinned(PinnedMemory);

#[derive(Debug)]
enum PinnedMemory {
    Host(Vec<u8>),
    #[cfg(feature = "cuda")]
    Cuda(CudaPinned),
}

impl Pinned {
    /// Number of bytes.
    pub fn len(&self) -> usize {
        match &self.0 {
            PinnedMemory::Host(bytes) => bytes.len(),
            #[cfg(feature = "cuda")]
            PinnedMemory::Cuda(memory) => memory.len(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, after all copies from and to them.
    ///
    /// # Errors
    /// If a copy has failed.
    pub fn bytes(&self) -> Result<&[u8], PlanError> {
        match &self.0 {
            PinnedMemory::Host(bytes) => Ok(bytes),
            #[cfg(feature = "cuda")]
            PinnedMemory::Cuda(memory) => Ok(memory.bytes()?),
        }
    }

    /// Mutable counterpart of [`Pinned::bytes`].
    ///
    /// # Errors
    /// If a copy has failed.
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], PlanError> {
        match &mut self.0 {
            PinnedMemory::Host(bytes) => Ok(bytes),
            #[cfg(feature = "cuda")]
            PinnedMemory::Cuda(memory) => Ok(memory.bytes_mut()?),
        }
    }
}

/// An argument of a launch.
#[derive(Debug)]
pub enum Arg<'a> {
    /// Argument for a pointer.
    Array(&'a mut Array),
    /// Argument for a scalar.
    Int(i64),
}

impl Kernels {
    /// Loads kernels onto a device.
    ///
    /// # Safety
    /// With any arguments, the kernels must stay within their arrays. The interpreter checks this; a device does not.
    ///
    /// # Errors
    /// If a kernel is invalid, or the device rejects it, or the device is neither CUDA nor the interpreter.
    pub unsafe fn new(device: &Device, kernels: Vec<Kernel>) -> Result<Kernels, PlanError> {
        let mut valid = Vec::new();
        for kernel in kernels {
            let info = validate(&kernel).map_err(|e| failed(&kernel, e[0].to_string()))?;
            valid.push((kernel, info));
        }
        match device {
            Device::Interpreter => Ok(Kernels {
                kernels: valid,
                #[cfg(feature = "cuda")]
                cuda: None,
            }),
            #[cfg(feature = "cuda")]
            Device::Cuda(device) => {
                let list: Vec<_> = valid.iter().map(|(kernel, info)| (kernel, info)).collect();
                let cuda = Some(CudaKernels::new(device, &list)?);
                Ok(Kernels { kernels: valid, cuda })
            }
            other => Err(PlanError::NoKernels { device: other.to_string() }),
        }
    }

    /// Allocates an array of zeros.
    ///
    /// # Errors
    /// If the device's memory is full.
    pub fn zeroed(&self, scalar: Scalar, len: usize) -> Result<Array, PlanError> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            return Ok(Array { scalar, len, memory: Memory::Cuda(cuda.zeroed(len * scalar.bytes())?) });
        }
        Ok(Array { scalar, len, memory: Memory::Host(Buffer::zeroed(scalar, len)) })
    }

    /// Allocates an array with these values.
    ///
    /// # Errors
    /// If the device's memory is full.
    pub fn upload<T: Cell>(&self, values: &[T]) -> Result<Array, PlanError> {
        let (scalar, len) = (T::SCALAR, values.len());
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            let memory = Memory::Cuda(cuda.upload(zerocopy::IntoBytes::as_bytes(values))?);
            return Ok(Array { scalar, len, memory });
        }
        Ok(Array { scalar, len, memory: Memory::Host(Buffer::new(values)) })
    }

    /// Writes values into an array, from element `at` on, after all earlier launches.
    ///
    /// # Errors
    /// If the values do not fit, or an earlier launch has failed.
    pub fn write<T: Cell>(&self, array: &mut Array, at: usize, values: &[T]) -> Result<(), PlanError> {
        array.check::<T>(&(at..at.saturating_add(values.len())))?;
        match &mut array.memory {
            Memory::Host(buffer) => buffer.set((at..).zip(values.iter().cloned())),
            #[cfg(feature = "cuda")]
            Memory::Cuda(memory) => {
                if let Some(cuda) = &self.cuda {
                    cuda.write(memory, at * size_of::<T>(), zerocopy::IntoBytes::as_bytes(values))?;
                }
            }
        }
        Ok(())
    }

    /// Reads values of an array after all earlier launches.
    ///
    /// # Errors
    /// If the range or the type does not match, or an earlier launch has failed.
    pub fn download<T: Cell>(&self, array: &Array, range: Range<usize>) -> Result<Vec<T>, PlanError> {
        array.check::<T>(&range)?;
        match &array.memory {
            Memory::Host(buffer) => Ok(buffer.to_vec().unwrap_or_default()[range].to_vec()),
            #[cfg(feature = "cuda")]
            Memory::Cuda(memory) => {
                let mut values = vec![T::default(); range.len()];
                if let Some(cuda) = &self.cuda {
                    let at = range.start * size_of::<T>();
                    cuda.download(memory, at, zerocopy::IntoBytes::as_mut_bytes(&mut values[..]))?;
                }
                Ok(values)
            }
        }
    }

    /// Allocates pinned memory of zeros on the host.
    ///
    /// # Errors
    /// If the system refuses to pin this much.
    pub fn pinned(&self, bytes: usize) -> Result<Pinned, PlanError> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            return Ok(Pinned(PinnedMemory::Cuda(cuda.pinned(bytes)?)));
        }
        Ok(Pinned(PinnedMemory::Host(vec![0; bytes])))
    }

    /// Copies bytes to the begin of an array, after all earlier launches, without waiting. Elements are in
    /// little-endian order.
    ///
    /// # Errors
    /// If the bytes do not fit, or the device refuses.
    pub fn write_pinned(&self, array: &mut Array, from: &Pinned) -> Result<(), PlanError> {
        array.check_bytes(from.len())?;
        match (&mut array.memory, &from.0) {
            #[cfg(feature = "cuda")]
            (Memory::Cuda(memory), PinnedMemory::Cuda(from)) => {
                if let Some(cuda) = &self.cuda {
                    cuda.write_pinned(memory, from)?;
                }
                Ok(())
            }
            (Memory::Host(buffer), PinnedMemory::Host(bytes)) => {
                match array.scalar.bytes() {
                    1 => buffer.set(bytes.iter().copied().enumerate()),
                    _ => {
                        let pairs = bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]]));
                        buffer.set(pairs.enumerate());
                    }
                }
                Ok(())
            }
            #[cfg(feature = "cuda")]
            _ => Err(PlanError::NoKernels { device: "another device".into() }),
        }
    }

    /// Copies the first bytes of an array to offset `at` of pinned memory, after all earlier launches, without waiting.
    ///
    /// # Errors
    /// If the bytes do not fit, or the device refuses.
    pub fn read_pinned(&self, array: &Array, bytes: usize, to: &mut Pinned, at: usize) -> Result<(), PlanError> {
        array.check_bytes(bytes)?;
        if at.checked_add(bytes).is_none_or(|end| end > to.len()) {
            return Err(PlanError::KernelArray { found: "bytes", len: to.len(), wanted: "more bytes" });
        }
        match (&array.memory, &mut to.0) {
            #[cfg(feature = "cuda")]
            (Memory::Cuda(memory), PinnedMemory::Cuda(to)) => match &self.cuda {
                Some(cuda) => Ok(cuda.read_pinned(memory, bytes, to, at)?),
                None => Ok(()),
            },
            (Memory::Host(buffer), PinnedMemory::Host(to)) => {
                let to = &mut to[at..at + bytes];
                match array.scalar {
                    Scalar::I32 => {
                        let values = buffer.to_vec::<i32>().unwrap_or_default();
                        to.chunks_exact_mut(4).zip(values).for_each(|(to, v)| to.copy_from_slice(&v.to_le_bytes()));
                    }
                    _ => to.copy_from_slice(&buffer.to_vec::<u8>().unwrap_or_default()[..bytes]),
                }
                Ok(())
            }
            #[cfg(feature = "cuda")]
            _ => Err(PlanError::NoKernels { device: "another device".into() }),
        }
    }

    /// Sends all later work to a new stream, on a CUDA device.
    ///
    /// # Errors
    /// If the driver cannot make one.
    pub fn on_new_stream(&mut self) -> Result<(), PlanError> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &mut self.cuda {
            cuda.on_new_stream()?;
        }
        Ok(())
    }

    /// Prepares a plan of this device for transforms from array to array.
    ///
    /// # Errors
    /// If the plan is for another device, or the device's memory is full.
    pub fn transform<T: Sample>(&self, plan: Plan<T>) -> Result<Transform<T>, PlanError> {
        #[cfg(feature = "cuda")]
        let workspace = match &self.cuda {
            Some(cuda) => Some(plan.cuda()?.workspace(cuda.stream())?),
            None => None,
        };
        Ok(Transform {
            plan,
            #[cfg(feature = "cuda")]
            workspace,
        })
    }

    /// Analyses the data from an element of the source on; its coefficients begin at an element of the target.
    ///
    /// # Errors
    /// If an array is too short or on another device, or the device refuses.
    pub fn forward<T: Sample>(
        &self,
        transform: &mut Transform<T>,
        source: (&Array, usize),
        target: (&mut Array, usize),
    ) -> Result<(), PlanError> {
        self.execute(transform, true, source, target)
    }

    /// Synthesises, with arguments as [`Kernels::forward`].
    ///
    /// # Errors
    /// As for [`Kernels::forward`].
    pub fn inverse<T: Sample>(
        &self,
        transform: &mut Transform<T>,
        source: (&Array, usize),
        target: (&mut Array, usize),
    ) -> Result<(), PlanError> {
        self.execute(transform, false, source, target)
    }

    fn execute<T: Sample>(
        &self,
        transform: &mut Transform<T>,
        is_forward: bool,
        (source, from): (&Array, usize),
        (target, to): (&mut Array, usize),
    ) -> Result<(), PlanError> {
        let plan = &transform.plan;
        let (data, coefficients) = (plan.len(), plan.coefficient_len());
        let (read, written) = if is_forward { (data, coefficients) } else { (coefficients, data) };
        let (from, to) = (from..from.saturating_add(read), to..to.saturating_add(written));
        source.check::<T>(&from)?;
        target.check::<T>(&to)?;
        match (&source.memory, &mut target.memory) {
            (Memory::Host(source), Memory::Host(target)) => {
                let (values, mut result) = (source.to_vec::<T>().unwrap_or_default(), vec![T::default(); written]);
                match is_forward {
                    true => plan.forward(&values[from], &mut result[..])?,
                    false => plan.inverse(&values[from], &mut result[..])?,
                }
                target.set(to.zip(result));
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Memory::Cuda(source), Memory::Cuda(target)) => {
                let (Some(cuda), Some(workspace)) = (&self.cuda, &mut transform.workspace) else {
                    return Err(PlanError::NoKernels { device: "another device".into() });
                };
                let way = match is_forward {
                    true => crate::cuda::Transform::Forward,
                    false => crate::cuda::Transform::Inverse { level: 0 },
                };
                let at = [from.start, to.start].map(|at| at * size_of::<T>());
                // SAFETY: both parts are within their arrays, which are distinct.
                unsafe { cuda.transform(plan.cuda()?, way, source, target, at, workspace) }
            }
            #[cfg(feature = "cuda")]
            _ => Err(PlanError::NoKernels { device: "another device".into() }),
        }
    }

    /// Sends all later work to a stream of the caller, on a CUDA device.
    ///
    /// # Errors
    /// If these kernels are not on the stream's device.
    #[cfg(feature = "cuda")]
    pub fn on_stream(&mut self, stream: &Arc<cudarc::driver::CudaStream>) -> Result<(), PlanError> {
        match &mut self.cuda {
            Some(cuda) => Ok(cuda.on_stream(stream)?),
            None => Err(PlanError::NoKernels { device: "another device".into() }),
        }
    }

    /// Waits for all earlier launches.
    ///
    /// # Errors
    /// If an earlier launch has failed.
    pub fn wait(&self) -> Result<(), PlanError> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            cuda.wait()?;
        }
        Ok(())
    }

    /// Launches kernel number `index`, with an argument for each parameter, after all earlier launches.
    ///
    /// # Errors
    /// If the arguments do not match, the device refuses, or the interpreter finds a fault.
    pub fn launch(&self, index: usize, args: &mut [Arg<'_>]) -> Result<(), PlanError> {
        let (kernel, info) = &self.kernels[index];
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            let suits = kernel.params.len() == args.len() && kernel.params.iter().zip(&*args).all(suits);
            if !suits {
                return Err(failed(kernel, "its arguments do not match its parameters".into()));
            }
            let scalars: Vec<i64> =
                args.iter().filter_map(|a| if let Arg::Int(v) = a { Some(*v) } else { None }).collect();
            let grid =
                lifting_codegen::ir::launch::grid(kernel, &scalars).map_err(|e| failed(kernel, e.to_string()))?;
            if grid.contains(&0) {
                return Ok(());
            }
            let mut on_device = Vec::new();
            for arg in args {
                on_device.push(match arg {
                    Arg::Int(v) => CudaArg::Int(*v),
                    Arg::Array(Array { memory: Memory::Cuda(memory), .. }) => CudaArg::Array(memory),
                    Arg::Array(_) => return Err(failed(kernel, "an argument is an array of another device".into())),
                });
            }
            // SAFETY: the promise of [`Kernels::new`].
            unsafe { cuda.launch(index, kernel.launch.block, grid.map(|n| n as u32), &mut on_device)? };
            return Ok(());
        }
        let none = || Buffer::zeroed(Scalar::I32, 0);
        let mut given = Vec::new();
        for arg in &mut *args {
            given.push(match arg {
                Arg::Int(v) => interp::Arg::Scalar(*v),
                Arg::Array(Array { memory: Memory::Host(buffer), .. }) => {
                    interp::Arg::Buffer(std::mem::replace(buffer, none()))
                }
                #[cfg(feature = "cuda")]
                Arg::Array(_) => return Err(failed(kernel, "an argument is an array of another device".into())),
            });
        }
        let ran = interp::run(kernel, info, &mut given);
        for (arg, after) in args.iter_mut().zip(given) {
            if let (Arg::Array(Array { memory: Memory::Host(buffer), .. }), interp::Arg::Buffer(after)) = (arg, after) {
                *buffer = after;
            }
        }
        ran.map(drop).map_err(|fault| failed(kernel, fault.to_string()))
    }
}

/// Whether an argument matches a parameter's type.
#[cfg(feature = "cuda")]
fn suits((param, arg): (&lifting_codegen::ir::Param, &Arg<'_>)) -> bool {
    use lifting_codegen::ir::ParamKind;
    match (param.kind, arg) {
        (ParamKind::Pointer(scalar, _), Arg::Array(array)) => array.scalar == scalar,
        (ParamKind::Scalar(scalar), Arg::Int(v)) => scalar.holds(*v),
        _ => false,
    }
}

fn failed(kernel: &Kernel, reason: String) -> PlanError {
    PlanError::Kernel { kernel: kernel.name.clone(), reason }
}
