//! Kernels that are no plan's, on the devices of plans: what else is to run there beside transforms.

#[cfg(feature = "cuda")]
use super::cuda::{CudaArg, CudaKernels};
use crate::device::Device;
use crate::error::PlanError;
use crate::sample::Sample;
use lifting_codegen::ir::interp::{self, Buffer};
use lifting_codegen::ir::valid::{KernelInfo, validate};
use lifting_codegen::ir::{Kernel, Scalar};

/// Kernels on a device: CUDA's, or the interpreter.
#[derive(Debug)]
pub struct Kernels {
    kernels: Vec<(Kernel, KernelInfo)>,
    #[cfg(feature = "cuda")]
    cuda: Option<CudaKernels>,
}

/// An array in a device's memory, or what stands for it.
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
    /// Number of its elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// An argument of a launch.
#[derive(Debug)]
pub enum Arg<'a> {
    /// For a pointer.
    Array(&'a mut Array),
    /// For a scalar.
    Int(i64),
}

impl Kernels {
    /// Puts kernels on a device.
    ///
    /// # Safety
    /// Whatever they are launched with, they touch nothing beyond the arrays that they are given. The interpreter finds
    /// what does; a device does not.
    ///
    /// # Errors
    /// If one of them is not valid, the device is neither CUDA's nor the interpreter, or does not take them.
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

    /// An array of zeros.
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

    /// An array with these values.
    ///
    /// # Errors
    /// If the device's memory is full.
    pub fn upload<T: Sample>(&self, values: &[T]) -> Result<Array, PlanError> {
        let (scalar, len) = (T::SCALAR, values.len());
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            let memory = Memory::Cuda(cuda.upload(zerocopy::IntoBytes::as_bytes(values))?);
            return Ok(Array { scalar, len, memory });
        }
        Ok(Array { scalar, len, memory: Memory::Host(Buffer::new(values)) })
    }

    /// The first `len` values of an array, when all that was launched before is done.
    ///
    /// # Errors
    /// If it has fewer or others, or something that was launched has failed.
    pub fn download<T: Sample>(&self, array: &Array, len: usize) -> Result<Vec<T>, PlanError> {
        if array.scalar != T::SCALAR || len > array.len {
            return Err(PlanError::KernelArray {
                found: array.scalar.name(),
                len: array.len,
                wanted: T::SCALAR.name(),
            });
        }
        match &array.memory {
            Memory::Host(buffer) => {
                let mut values = buffer.to_vec().unwrap_or_default();
                values.truncate(len);
                Ok(values)
            }
            #[cfg(feature = "cuda")]
            Memory::Cuda(memory) => {
                let mut values = vec![T::default(); len];
                if let Some(cuda) = &self.cuda {
                    cuda.download(memory, zerocopy::IntoBytes::as_mut_bytes(&mut values[..]))?;
                }
                Ok(values)
            }
        }
    }

    /// Waits until all that was launched is done.
    ///
    /// # Errors
    /// If something has failed.
    pub fn wait(&self) -> Result<(), PlanError> {
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            cuda.wait()?;
        }
        Ok(())
    }

    /// Launches a kernel of those that it was made of, with an argument for each parameter, behind all that was
    /// launched before.
    ///
    /// # Errors
    /// If arguments do not suit, the device refuses, or the interpreter finds a fault.
    pub fn launch(&self, index: usize, args: &mut [Arg<'_>]) -> Result<(), PlanError> {
        let (kernel, info) = &self.kernels[index];
        #[cfg(feature = "cuda")]
        if let Some(cuda) = &self.cuda {
            let suits = kernel.params.len() == args.len() && kernel.params.iter().zip(&*args).all(suits);
            if !suits {
                return Err(failed(kernel, "its arguments are not those of its parameters".into()));
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

/// Whether an argument is of a parameter's type.
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
