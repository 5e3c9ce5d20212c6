//! Pinned memory of the host, copied from and to without waiting.

use super::device::{CudaDevice, describe};
use super::error::CudaError;
use cudarc::driver::{CudaEvent, CudaStream, DriverError, PinnedHostSlice, result, sys};

/// Pinned memory of the host.
#[derive(Debug)]
pub(crate) struct CudaPinned {
    memory: PinnedHostSlice<u8>,
    /// End of the last copy.
    done: CudaEvent,
}

impl CudaPinned {
    /// Allocates at least one byte, all zeros.
    pub fn new(device: &CudaDevice, bytes: usize) -> Result<CudaPinned, CudaError> {
        device.ready()?;
        let failed = |e| device.error("pin host memory", e);
        let done = device.context().new_event(None).map_err(failed)?;
        // Not write-combined: the host also reads it.
        // SAFETY: it is filled before anything reads it.
        let mut memory = unsafe { device.context().alloc_pinned_with_flags::<u8>(bytes.max(1), 0) }.map_err(failed)?;
        memory.as_mut_slice().map_err(failed)?.fill(0);
        Ok(CudaPinned { memory, done })
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    fn failed(&self) -> impl Fn(DriverError) -> CudaError + use<> {
        let ordinal = self.memory.context().ordinal();
        move |e| CudaError::Refused { ordinal, what: "copy host data", cause: describe(e) }
    }

    fn wait(&self) -> Result<(), CudaError> {
        self.memory.context().bind_to_thread().map_err(self.failed())?;
        self.done.synchronize().map_err(self.failed())
    }

    /// The bytes, after all copies.
    pub fn bytes(&self) -> Result<&[u8], CudaError> {
        self.wait()?;
        self.memory.as_slice().map_err(self.failed())
    }

    /// The bytes, after all copies.
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], CudaError> {
        self.wait()?;
        let failed = self.failed();
        self.memory.as_mut_slice().map_err(failed)
    }

    /// Copies the first bytes to the device, without waiting.
    ///
    /// # Safety
    /// There must be room for as many bytes at the address until the stream has executed the copy.
    pub unsafe fn send(&self, stream: &CudaStream, bytes: usize, to: sys::CUdeviceptr) -> Result<(), CudaError> {
        let from = &self.memory.as_slice().map_err(self.failed())?[..bytes];
        // SAFETY: passed on from the caller; the memory lives until the copy is done, by `drop`.
        unsafe { result::memcpy_htod_async(to, from, stream.cu_stream()) }.map_err(self.failed())?;
        self.done.record(stream).map_err(self.failed())
    }

    /// Copies bytes from the device to offset `at`, without waiting.
    ///
    /// # Safety
    /// As many bytes must be readable at the address until the stream has executed the copy.
    pub unsafe fn receive(
        &mut self,
        stream: &CudaStream,
        bytes: usize,
        from: sys::CUdeviceptr,
        at: usize,
    ) -> Result<(), CudaError> {
        let failed = self.failed();
        let to = &mut self.memory.as_mut_slice().map_err(&failed)?[at..at + bytes];
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_async(to, from, stream.cu_stream()) }.map_err(&failed)?;
        self.done.record(stream).map_err(failed)
    }
}

impl Drop for CudaPinned {
    fn drop(&mut self) {
        // The memory is freed next: no copy may still use it.
        let _ = self.wait();
    }
}
