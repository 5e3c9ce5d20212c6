//! User kernels on a device: compiled, cached and loaded like those of plans.

use super::device::CudaDevice;
use super::error::CudaError;
use super::launch;
use super::nvrtc::Target;
use super::pinned::CudaPinned;
use super::plan::{CudaPlan, CudaWorkspace, Transform};
use crate::error::PlanError;
use crate::sample::Sample;
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, sys};
use lifting_codegen::ir::Kernel;
use lifting_codegen::ir::valid::KernelInfo;
use std::sync::Arc;

/// Kernels on a device. Work goes to one stream in order, by default the device's own.
#[derive(Debug)]
pub(crate) struct CudaKernels {
    device: CudaDevice,
    stream: Arc<CudaStream>,
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
        let (device, stream) = (device.clone(), device.stream().clone());
        let target = Target::of(device.properties().architecture)?;
        let functions = launch::compile(&device, kernels, &target)?;
        Ok(CudaKernels { device, stream, functions })
    }

    /// The stream.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Switches to another stream of the same device.
    pub fn on_stream(&mut self, stream: &Arc<CudaStream>) -> Result<(), CudaError> {
        if stream.context() != self.device.context() {
            let (expected, found) = (self.device.ordinal(), stream.context().ordinal());
            return Err(CudaError::WrongDevice { what: "the stream", expected, found });
        }
        self.stream = stream.clone();
        Ok(())
    }

    /// Switches to a new stream.
    pub fn on_new_stream(&mut self) -> Result<(), CudaError> {
        // Arrays were filled on the previous stream.
        self.wait()?;
        self.stream = self.device.new_stream()?;
        Ok(())
    }

    /// Pinned memory of zeros.
    pub fn pinned(&self, bytes: usize) -> Result<CudaPinned, CudaError> {
        CudaPinned::new(&self.device, bytes)
    }

    /// Copies pinned memory to the begin of an array of at least its length, without waiting.
    pub fn write_pinned(&self, array: &mut CudaSlice<u8>, from: &CudaPinned) -> Result<(), CudaError> {
        self.device.ready()?;
        let (address, _guard) = array.device_ptr_mut(&self.stream);
        // SAFETY: the array is as long, and this stream orders its later uses.
        unsafe { from.send(&self.stream, from.len(), address) }
    }

    /// Copies the first bytes of an array to offset `at` of pinned memory, without waiting. Both are long enough.
    pub fn read_pinned(
        &self,
        array: &CudaSlice<u8>,
        bytes: usize,
        to: &mut CudaPinned,
        at: usize,
    ) -> Result<(), CudaError> {
        self.device.ready()?;
        let (address, _guard) = array.device_ptr(&self.stream);
        // SAFETY: as above.
        unsafe { to.receive(&self.stream, bytes, address, at) }
    }

    /// An array of zeros.
    pub fn zeroed(&self, bytes: usize) -> Result<CudaSlice<u8>, CudaError> {
        let failed = |e| self.device.allocation_error("an array of kernels", bytes, e);
        self.stream.alloc_zeros(bytes.max(1)).map_err(failed)
    }

    /// An array with these bytes.
    pub fn upload(&self, bytes: &[u8]) -> Result<CudaSlice<u8>, CudaError> {
        let mut array = self.zeroed(bytes.len())?;
        self.write(&mut array, 0, bytes)?;
        Ok(array)
    }

    /// Writes bytes into an array, from offset `at` on.
    pub fn write(&self, array: &mut CudaSlice<u8>, at: usize, bytes: &[u8]) -> Result<(), CudaError> {
        if !bytes.is_empty() {
            let mut part = array.slice_mut(at..at + bytes.len());
            self.stream.memcpy_htod(bytes, &mut part).map_err(|e| self.device.error("copy host data", e))?;
        }
        Ok(())
    }

    /// Reads bytes of an array from offset `at` on, after all earlier launches.
    pub fn download(&self, array: &CudaSlice<u8>, at: usize, to: &mut [u8]) -> Result<(), CudaError> {
        if !to.is_empty() {
            let part = array.slice(at..at + to.len());
            self.stream.memcpy_dtoh(&part, to).map_err(|e| self.device.error("copy host data", e))?;
        }
        self.wait()
    }

    /// Waits for all earlier launches.
    pub fn wait(&self) -> Result<(), CudaError> {
        self.stream.synchronize().map_err(|e| self.device.error("finish", e))
    }

    /// Runs a transform from an offset of one array to an offset of another, in bytes.
    ///
    /// # Safety
    /// The transform must stay within the arrays, which must not overlap.
    pub unsafe fn transform<T: Sample>(
        &self,
        plan: &CudaPlan<T>,
        transform: Transform,
        source: &CudaSlice<u8>,
        target: &mut CudaSlice<u8>,
        [from, to]: [usize; 2],
        workspace: &mut CudaWorkspace,
    ) -> Result<(), PlanError> {
        let (source, _source_guard) = source.device_ptr(&self.stream);
        let (target, _target_guard) = target.device_ptr_mut(&self.stream);
        let (source, target) = (source + from as u64, target + to as u64);
        // SAFETY: passed on from the caller.
        unsafe { plan.execute_raw(transform, &self.stream, source, target, workspace) }
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// The kernel must stay within the arrays.
    pub unsafe fn launch(
        &self,
        kernel: usize,
        block: [u32; 3],
        grid: [u32; 3],
        args: &mut [CudaArg<'_>],
    ) -> Result<(), CudaError> {
        self.device.ready()?;
        let stream = &self.stream;
        // The driver reads the parameter's size in bytes from the low end: all its hosts are little-endian.
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
        // SAFETY: grid, block and arguments are the kernel's; its accesses are the caller's promise.
        unsafe {
            let (stream, pointers) = (stream.cu_stream(), pointers.as_mut_ptr());
            sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, 0, stream, pointers, std::ptr::null_mut()).result()
        }
        .map_err(|e| self.device.error("launch a kernel", e))
    }
}
