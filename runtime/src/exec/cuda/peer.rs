//! Arrays and streams of transforms that several devices share.
//!
//! Devices copy to each other directly where the driver allows it ([`connect`]); elsewhere the driver stages the copies
//! through pinned host memory by itself. Memory is allocated by `cuMemAlloc`: other devices cannot reach that of the
//! stream-ordered pools.

use super::device::CudaDevice;
use super::error::CudaError;
use super::launch::CudaGraph;
use super::plan::{CudaPlan, CudaWorkspace, Transform};
use crate::error::PlanError;
use crate::exec::slabs::{Axis, Walk};
use crate::sample::Sample;
use cudarc::driver::{CudaEvent, CudaStream, DriverError, result, sys};
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Lets each device reach the memory of the others, where the driver can.
///
/// # Errors
/// If a device has failed.
pub(crate) fn connect(devices: &[&CudaDevice]) -> Result<(), CudaError> {
    for device in devices {
        for peer in devices.iter().filter(|peer| peer.ordinal() != device.ordinal()) {
            device.ready()?;
            let mut can = 0;
            let (own, other) = (device.context(), peer.context());
            // SAFETY: plain driver calls on open devices.
            unsafe {
                let failed = |e| device.error("reach another device", e);
                sys::cuDeviceCanAccessPeer(&mut can, own.cu_device(), other.cu_device()).result().map_err(failed)?;
                if can == 0 {
                    continue;
                }
                match sys::cuCtxEnablePeerAccess(other.cu_ctx(), 0).result() {
                    Ok(()) | Err(DriverError(sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)) => {}
                    // Copies then go through the host.
                    Err(DriverError(sys::CUresult::CUDA_ERROR_TOO_MANY_PEERS)) => {}
                    Err(e) => return Err(failed(e)),
                }
            }
        }
    }
    Ok(())
}

/// An array of a device that others can read.
#[derive(Debug)]
pub(crate) struct PeerArray {
    device: CudaDevice,
    address: sys::CUdeviceptr,
}

impl PeerArray {
    /// Allocates at least one byte.
    pub fn new(device: &CudaDevice, bytes: usize) -> Result<PeerArray, CudaError> {
        device.ready()?;
        // SAFETY: it is freed only on drop.
        let address = unsafe { result::malloc_sync(bytes.max(1)) };
        let address = address.map_err(|e| device.allocation_error("a slab", bytes, e))?;
        Ok(PeerArray { device: device.clone(), address })
    }

    /// Address of the first byte.
    pub fn address(&self) -> sys::CUdeviceptr {
        self.address
    }
}

impl Drop for PeerArray {
    fn drop(&mut self) {
        if self.device.ready().is_ok() {
            // SAFETY: allocated by `new`; a failure only leaks it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Streams of one device in a shared transform: one computes, one fetches from other devices.
#[derive(Debug)]
pub(crate) struct Lane {
    device: CudaDevice,
    compute: Arc<CudaStream>,
    copies: Arc<CudaStream>,
    /// End of the last computation on these arrays.
    done: CudaEvent,
    /// End of the last copies to this device.
    copied: CudaEvent,
}

impl Lane {
    pub fn new(device: &CudaDevice) -> Result<Lane, CudaError> {
        let event = || device.context().new_event(None).map_err(|e| device.error("make an event", e));
        let (compute, copies) = (device.new_stream()?, device.new_stream()?);
        Ok(Lane { device: device.clone(), compute, copies, done: event()?, copied: event()? })
    }

    fn failed(&self) -> impl Fn(DriverError) -> CudaError + '_ {
        |e| self.device.error("exchange halos", e)
    }

    /// Lets the copies to this device wait for the last computation of another.
    pub fn after(&self, source: &Lane) -> Result<(), CudaError> {
        self.copies.wait(&source.done).map_err(self.failed())
    }

    /// Copies a box from an array of a device to one of this device.
    ///
    /// # Safety
    /// The copy must be in rows, and the box must lie within both arrays. Nothing may write them until the stream has
    /// executed the copy.
    pub unsafe fn copy<T>(&self, from: &PeerArray, to: &PeerArray, walk: &Walk) -> Result<(), CudaError> {
        self.device.ready()?;
        let (starts, axes) = walk.starts(3);
        let bytes = |samples: isize| samples as usize * size_of::<T>();
        let row = axes[axes.len() - 1];
        let far = from.device.ordinal() != to.device.ordinal();
        // An axis of one index does not use its stride.
        let axis = |back: usize| axes.len().checked_sub(back).map(|i| axes[i]);
        let (rows, planes) = (axis(2), axis(3));
        let pitch = |of: fn(Axis) -> isize| bytes(rows.map_or(row.count as isize, of));
        let (count_of_rows, depth) = (rows.map_or(1, |a| a.count), planes.map_or(1, |a| a.count));
        // The driver refuses planes of fewer rows than it copies, even if there is a single plane.
        let height = |of: fn(Axis) -> isize| {
            rows.zip(planes).map_or(count_of_rows, |(rows, planes)| (of(planes) / of(rows)) as usize)
        };
        if row.count * count_of_rows * depth == 0 {
            return Ok(());
        }
        for (source, target) in starts {
            let (source, target) = (from.address + bytes(source) as u64, to.address + bytes(target) as u64);
            let (width, stream) = (bytes(row.count as isize), self.copies.cu_stream());
            // SAFETY: the box lies within both arrays, by the caller's promise.
            let copied = unsafe {
                if axes.len() == 1 && far {
                    let (to, from) = (to.device.context().cu_ctx(), from.device.context().cu_ctx());
                    sys::cuMemcpyPeerAsync(target, to, source, from, width, stream)
                } else if axes.len() == 1 {
                    sys::cuMemcpyDtoDAsync_v2(target, source, width, stream)
                } else if far {
                    let mut copy = MaybeUninit::<sys::CUDA_MEMCPY3D_PEER>::zeroed();
                    // Kinds of memory have no zero.
                    let (source_kind, target_kind) = {
                        let copy = copy.as_mut_ptr();
                        (&raw mut (*copy).srcMemoryType, &raw mut (*copy).dstMemoryType)
                    };
                    source_kind.write(sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
                    target_kind.write(sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
                    let mut copy = copy.assume_init();
                    (copy.srcDevice, copy.dstDevice) = (source, target);
                    (copy.srcContext, copy.dstContext) = (from.device.context().cu_ctx(), to.device.context().cu_ctx());
                    (copy.srcPitch, copy.dstPitch) = (pitch(|a| a.from), pitch(|a| a.to));
                    (copy.srcHeight, copy.dstHeight) = (height(|a| a.from), height(|a| a.to));
                    (copy.WidthInBytes, copy.Height, copy.Depth) = (width, count_of_rows, depth);
                    sys::cuMemcpy3DPeerAsync(&copy, stream)
                } else {
                    let mut copy = MaybeUninit::<sys::CUDA_MEMCPY3D>::zeroed();
                    // Kinds of memory have no zero.
                    let (source_kind, target_kind) = {
                        let copy = copy.as_mut_ptr();
                        (&raw mut (*copy).srcMemoryType, &raw mut (*copy).dstMemoryType)
                    };
                    source_kind.write(sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
                    target_kind.write(sys::CUmemorytype::CU_MEMORYTYPE_DEVICE);
                    let mut copy = copy.assume_init();
                    (copy.srcDevice, copy.dstDevice) = (source, target);
                    (copy.srcPitch, copy.dstPitch) = (pitch(|a| a.from), pitch(|a| a.to));
                    (copy.srcHeight, copy.dstHeight) = (height(|a| a.from), height(|a| a.to));
                    (copy.WidthInBytes, copy.Height, copy.Depth) = (width, count_of_rows, depth);
                    sys::cuMemcpy3DAsync_v2(&copy, stream)
                }
            };
            copied.result().map_err(self.failed())?;
        }
        Ok(())
    }

    /// Marks the end of the copies to this device. The computations of this device and of the sources wait for it.
    pub fn copied<'a>(&self, sources: impl Iterator<Item = &'a Lane>) -> Result<(), CudaError> {
        self.copied.record(&self.copies).map_err(self.failed())?;
        self.compute.wait(&self.copied).map_err(self.failed())?;
        for source in sources {
            source.compute.wait(&self.copied).map_err(self.failed())?;
        }
        Ok(())
    }

    /// Launches a transform, and marks its end.
    ///
    /// # Safety
    /// The graph's arrays must be in use by this lane only.
    pub unsafe fn launch(&self, graph: &mut CudaGraph) -> Result<(), CudaError> {
        // SAFETY: passed on from the caller.
        unsafe { graph.launch(&self.compute)? };
        self.done.record(&self.compute).map_err(self.failed())
    }

    /// Waits for all work on this lane.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.device.ready()?;
        let failed = |e| self.device.error("finish a transform", e);
        self.copies.synchronize().map_err(failed)?;
        self.compute.synchronize().map_err(failed)
    }

    /// Copies host data to an array, after all work on this lane, and waits.
    pub fn write(&self, from: &[u8], to: &PeerArray) -> Result<(), CudaError> {
        self.synchronize()?;
        // SAFETY: the array has the length of the slice, which outlives the copy.
        unsafe { result::memcpy_htod_async(to.address, from, self.compute.cu_stream()) }.map_err(self.failed())?;
        self.synchronize()
    }

    /// Copies an array to the host, after all work on this lane, and waits.
    pub fn read(&self, from: &PeerArray, to: &mut [u8]) -> Result<(), CudaError> {
        self.synchronize()?;
        // SAFETY: the array has the length of the slice, which outlives the copy.
        unsafe { result::memcpy_dtoh_async(to, from.address, self.compute.cu_stream()) }.map_err(self.failed())?;
        self.synchronize()
    }

    /// Graphs of analysis and synthesis between two arrays, and their workspace.
    pub fn graphs<T: Sample>(
        &self,
        plan: &CudaPlan<T>,
        [data, coefficients]: [&PeerArray; 2],
    ) -> Result<([CudaGraph; 2], CudaWorkspace), PlanError> {
        let mut workspace = plan.workspace(&self.compute)?;
        let (data, coefficients) = (data.address, coefficients.address);
        // SAFETY: the caller launches them by `launch` alone.
        let forward = unsafe { plan.graph(Transform::Forward, &self.compute, data, coefficients, &mut workspace)? };
        let back = Transform::Inverse { level: 0 };
        // SAFETY: as above.
        let inverse = unsafe { plan.graph(back, &self.compute, coefficients, data, &mut workspace)? };
        Ok(([forward, inverse], workspace))
    }
}
