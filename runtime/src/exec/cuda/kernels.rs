//! Kernels that are no plan's, on a device: compiled, remembered and loaded as those of plans.

use super::cache;
use super::device::{CudaDevice, describe};
use super::error::CudaError;
use super::launch::load;
use super::nvrtc::Target;
use crate::error::PlanError;
use cudarc::driver::{CudaFunction, CudaSlice, DevicePtrMut, sys};
use lifting_codegen::back::{Cuda, Dialect};
use lifting_codegen::ir::Kernel;
use lifting_codegen::ir::valid::KernelInfo;

/// Kernels on a device. What they do goes to the device's own stream, one after the other.
#[derive(Debug)]
pub(crate) struct CudaKernels {
    device: CudaDevice,
    functions: Vec<CudaFunction>,
}

/// An argument of a launch.
pub(crate) enum CudaArg<'a> {
    /// An array.
    Array(&'a mut CudaSlice<u8>),
    /// An integer.
    Int(i64),
}

impl CudaKernels {
    /// Writes, compiles and loads kernels.
    pub fn new(device: &CudaDevice, kernels: &[(&Kernel, &KernelInfo)]) -> Result<CudaKernels, PlanError> {
        device.ready()?;
        let (source, names) = Cuda
            .write_with(kernels, &mut Cuda.namer())
            .map_err(|e| PlanError::Kernel { kernel: e.kernel.clone(), reason: e.to_string() })?;
        let compiled = cache::compiled(&source, &Target::of(device.properties().architecture)?)?;
        let module = load(device, &compiled)?;
        let function = |name: &String| {
            let missing = |e| CudaError::Module { reason: format!("it has no kernel `{name}`: {}", describe(e)) };
            module.load_function(name).map_err(missing)
        };
        Ok(CudaKernels { device: device.clone(), functions: names.iter().map(function).collect::<Result<_, _>>()? })
    }

    /// An array of zeros.
    pub fn zeroed(&self, bytes: usize) -> Result<CudaSlice<u8>, CudaError> {
        let failed = |e| self.device.allocation_error("an array of kernels", bytes, e);
        self.device.stream().alloc_zeros(bytes.max(1)).map_err(failed)
    }

    /// An array with these bytes.
    pub fn upload(&self, bytes: &[u8]) -> Result<CudaSlice<u8>, CudaError> {
        let mut array = self.zeroed(bytes.len())?;
        if !bytes.is_empty() {
            let mut part = array.slice_mut(..bytes.len());
            self.device.stream().memcpy_htod(bytes, &mut part).map_err(|e| self.device.error("copy host data", e))?;
        }
        Ok(array)
    }

    /// The first bytes of an array, when all that was launched before is done.
    pub fn download(&self, array: &CudaSlice<u8>, to: &mut [u8]) -> Result<(), CudaError> {
        if !to.is_empty() {
            let part = array.slice(..to.len().min(array.len()));
            self.device.stream().memcpy_dtoh(&part, to).map_err(|e| self.device.error("copy host data", e))?;
        }
        self.wait()
    }

    /// Waits until all that was launched is done.
    pub fn wait(&self) -> Result<(), CudaError> {
        self.device.stream().synchronize().map_err(|e| self.device.error("finish", e))
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// It touches nothing beyond the arrays.
    pub unsafe fn launch(
        &self,
        kernel: usize,
        block: [u32; 3],
        grid: [u32; 3],
        args: &mut [CudaArg<'_>],
    ) -> Result<(), CudaError> {
        self.device.ready()?;
        let stream = self.device.stream();
        // The driver reads as many bytes as a parameter has, from the low end: little-endian, as all its hosts are.
        let mut values: Vec<u64> = Vec::with_capacity(args.len());
        let mut guards = Vec::new();
        for arg in args {
            values.push(match arg {
                CudaArg::Array(array) => {
                    let (address, guard) = array.device_ptr_mut(stream);
                    guards.push(guard);
                    address
                }
                CudaArg::Int(v) => *v as u64,
            });
        }
        let mut pointers: Vec<_> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let function = self.functions[kernel].cu_function();
        // SAFETY: grid, block and arguments are the kernel's; what it touches is the caller's promise.
        unsafe {
            let (stream, pointers) = (stream.cu_stream(), pointers.as_mut_ptr());
            sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, 0, stream, pointers, std::ptr::null_mut()).result()
        }
        .map_err(|e| self.device.error("launch a kernel", e))
    }
}
