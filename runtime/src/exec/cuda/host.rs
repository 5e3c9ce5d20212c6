//! Transforms of host data on a device: upload, launches, download.
//!
//! Contiguous arrays in pinned memory (`cuMemHostAlloc`, `cuMemHostRegister`) are copied directly, without waiting.
//! Others go through a ring of pinned pieces: threads of the host fill or empty one piece while the device copies
//! another. The device keeps the pieces for the next transform. A batch is split into parts that rotate over a few
//! streams: while one part is uploaded, another is transformed, and a third is downloaded. Results reach the caller's
//! memory only after the kernels of their part have succeeded.

use super::device::CudaDevice;
use super::error::CudaError;
use super::launch::{Addresses, Loaded};
use super::pinned::CudaPinned;
use super::plan::CudaPlan;
use crate::data::{RawView, RawViewMut, contiguous};
use crate::error::PlanError;
use crate::exec::packed::{gather, scatter};
use crate::sample::Sample;
use crate::threads;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result, sys};
use lifting_dsl::geometry::Geometry;
use lifting_planner::{List, Problem, Program};
use std::sync::{Arc, OnceLock};
use zerocopy::IntoBytes;

/// Bytes of a piece: large enough for full transfer speed, small enough that the first arrives soon.
const PIECE: usize = 4 << 20;

/// Pieces of a ring: two are copied by the host's threads or wait, while the device copies the others.
const RING: usize = 4;

/// Bytes that one thread copies at a time.
const CHUNK: usize = 512 << 10;

/// Size limit in bytes of a batch item for transfers in parts: more device memory is avoided.
const MOST: usize = 64 << 20;

/// Parts of a batch in flight: one up, one at work, one down.
const SLOTS: usize = 3;

/// Additional state for host data, made on first use.
#[derive(Debug, Default)]
pub(super) struct Host {
    /// Programs for a part of a batch, and for the rest at its end.
    parts: OnceLock<Result<Option<Parts>, PlanError>>,
}

/// A batch in parts along its outermost axis.
#[derive(Debug)]
struct Parts {
    /// Items of every part but the last.
    each: usize,
    whole: Loaded,
    /// Program of the last part, if it is smaller.
    rest: Option<Loaded>,
}

impl Parts {
    /// Largest workspace of any part; a smaller part may take other schedules.
    fn workspace_bytes(&self) -> usize {
        self.rest.iter().map(|rest| rest.workspace_bytes).fold(self.whole.workspace_bytes, usize::max)
    }
}

/// Number of items in a part; `None` if the batch is not split.
fn items_each(items: usize, item_bytes: usize) -> Option<usize> {
    let parts = (items.checked_mul(item_bytes)? / PIECE).min(items);
    (parts >= 2 && item_bytes <= MOST).then(|| items.div_ceil(parts))
}

/// Transform of a plan or of a part of its batch.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Forward,
    Inverse(u32),
}

impl Operation {
    fn list(self, program: &Program) -> &List {
        match self {
            Operation::Forward => &program.forward,
            Operation::Inverse(level) => &program.inverse[level as usize],
        }
    }
}

/// A stream with its device arrays, used by parts in turn.
struct Slot {
    stream: Arc<CudaStream>,
    source: CudaSlice<u8>,
    target: CudaSlice<u8>,
    scratch: Option<CudaSlice<u8>>,
}

/// Pinned pieces in turn, borrowed from the device.
struct Ring<'a> {
    device: &'a CudaDevice,
    pieces: Vec<CudaPinned>,
    next: usize,
}

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        self.device.pieces().append(&mut self.pieces);
    }
}

impl<'a> Ring<'a> {
    /// A ring; without pieces if the system refuses to pin memory, and copies are slower.
    fn new(device: &'a CudaDevice) -> Ring<'a> {
        let mut kept = device.pieces();
        let from = kept.len().saturating_sub(RING);
        let mut ring = Ring { device, pieces: kept.split_off(from), next: 0 };
        drop(kept);
        while ring.pieces.len() < RING {
            match CudaPinned::new(device, PIECE) {
                Ok(piece) => ring.pieces.push(piece),
                Err(_) => device.pieces().append(&mut ring.pieces),
            }
            if ring.pieces.is_empty() {
                break;
            }
        }
        ring
    }

    /// Number of the next piece, if there are any.
    fn next(&mut self) -> Option<usize> {
        self.next = (self.next + 1) % RING;
        (!self.pieces.is_empty()).then_some(self.next)
    }
}

/// Whether the device copies these bytes of the host without the driver's help.
fn is_pinned(bytes: &[u8]) -> bool {
    let pinned = |byte: Option<&u8>| {
        let mut kind = 0u32;
        let (attribute, at) = (sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, byte.map(|b| &raw const *b));
        // SAFETY: the attribute is a number of 32 bits. The driver refuses memory that it does not know.
        let known =
            unsafe { sys::cuPointerGetAttribute((&raw mut kind).cast(), attribute, at.map_or(0, |b| b as u64)) };
        known.result().is_ok() && kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32
    };
    !bytes.is_empty() && pinned(bytes.first()) && pinned(bytes.last())
}

/// Copies bytes by all threads of the host.
fn copy_bytes(from: &[u8], to: &mut [u8]) {
    let count = to.len().div_ceil(CHUNK);
    threads::pieces(to, CHUNK, count, |i, to| to.copy_from_slice(&from[i * CHUNK..][..to.len()]));
}

impl<T: Sample> CudaPlan<T> {
    /// Transforms out of place, from view to view.
    ///
    /// # Safety
    /// The views must be valid, have the shapes of the transform, and not overlap.
    pub(super) unsafe fn out_of_place(
        &self,
        way: Operation,
        src: RawView<T>,
        dst: RawViewMut<T>,
    ) -> Result<(), PlanError> {
        let made = self.host().parts.get_or_init(|| self.parts());
        match made.as_ref().map_err(PlanError::clone)? {
            // SAFETY: passed on from the caller, here and below.
            Some(parts) => unsafe { self.in_parts(parts, way, src, dst) },
            None => {
                let loaded = self.packed();
                // SAFETY: as above.
                unsafe { self.through(loaded, way.list(&loaded.program), Some(src), dst, false) }
            }
        }
    }

    /// Makes the programs for parts of the batch; `None` if there is no batch, or it is small.
    fn parts(&self) -> Result<Option<Parts>, PlanError> {
        let problem = self.problem();
        let geometry = &problem.geometry;
        let (items, shape) = (geometry.shape()[0], geometry.shape());
        let bytes = shape[1..].iter().product::<usize>().saturating_mul(size_of::<T>());
        let Some(each) = items_each(items, bytes).filter(|_| geometry.levels()[0] == 0) else { return Ok(None) };
        let load = |items: usize| -> Result<Loaded, PlanError> {
            let mut shape = shape.to_vec();
            shape[0] = items;
            let part = Geometry::new(&shape, geometry.origins(), geometry.levels(), geometry.order())?;
            let mut source_shape = problem.source_shape.clone();
            source_shape[0] = items;
            let problem = Problem { geometry: part, source_shape, ..(**problem).clone() };
            let (data, coefficients) = (contiguous(&problem.source_shape), contiguous(&shape));
            let program = Program::new(&problem, T::KIND, &data, &coefficients, self.tuning())?;
            Loaded::new(self.device(), program, self.device().kernels(), &shape)
        };
        let rest = items % each;
        let parts = || -> Result<Parts, PlanError> {
            Ok(Parts { each, whole: load(each)?, rest: (rest > 0).then(|| load(rest)).transpose()? })
        };
        match parts() {
            // Precompiled kernels are those of the whole batch; parts may need others.
            Err(PlanError::Cuda(CudaError::Module { .. })) if self.device().kernels().is_some() => Ok(None),
            parts => parts.map(Some),
        }
    }

    /// Transforms a batch in parts that rotate over several streams.
    ///
    /// # Safety
    /// The views must be valid, and not overlap.
    unsafe fn in_parts(
        &self,
        parts: &Parts,
        way: Operation,
        src: RawView<T>,
        dst: RawViewMut<T>,
    ) -> Result<(), PlanError> {
        let items = src.shape[0];
        let samples = |shape: &[usize]| shape[1..].iter().product::<usize>();
        let (taken, given) = (samples(&src.shape[..src.rank]), samples(&dst.shape[..dst.rank]));
        if given == 0 || taken == 0 {
            return Ok(());
        }
        let bytes = |samples: usize| parts.each * samples * size_of::<T>();
        let count = items.div_ceil(parts.each);
        let (mut slots, device) = (Vec::new(), self.device());
        for _ in 0..SLOTS.min(count) {
            let stream = device.new_stream()?;
            let (source, target) = (
                self.allocate(&stream, bytes(taken), "the source")?,
                self.allocate(&stream, bytes(given), "the result")?,
            );
            let scratch = self.scratch(&stream, parts.workspace_bytes())?;
            slots.push(Slot { stream, source, target, scratch });
        }
        let range = |part: usize| part * parts.each..items.min((part + 1) * parts.each);
        for turn in 0..count + slots.len() {
            let in_use = slots.len();
            let slot = &mut slots[turn % in_use];
            // Fetch the slot's previous result once it is done.
            if let Some(part) = turn.checked_sub(in_use) {
                let (mut part_of, range) = (dst, range(part));
                part_of.shape[0] = range.len();
                part_of.ptr = dst.ptr.wrapping_offset(range.start as isize * dst.strides[0]);
                // SAFETY: a part of a valid view.
                unsafe { self.down(&slot.stream, &slot.target, part_of)? };
            }
            if turn >= count {
                continue;
            }
            let range = range(turn);
            let mut part = src;
            part.shape[0] = range.len();
            part.ptr = src.ptr.wrapping_offset(range.start as isize * src.strides[0]);
            // SAFETY: a part of a valid view.
            unsafe { self.up(&slot.stream, part, &mut slot.source)? };
            let loaded =
                if range.len() == parts.each { &parts.whole } else { parts.rest.as_ref().unwrap_or(&parts.whole) };
            let at = Addresses {
                source: slot.source.device_ptr(&slot.stream).0,
                target: slot.target.device_ptr_mut(&slot.stream).0,
                scratch: slot.scratch.as_mut().map_or(0, |scratch| scratch.device_ptr_mut(&slot.stream).0),
            };
            // SAFETY: arrays of a part's sizes, used only by this slot's stream, which frees them after its work.
            unsafe { loaded.launch::<T>(device, way.list(&loaded.program), slot.stream.cu_stream(), at)? };
        }
        for slot in &slots {
            slot.stream.synchronize().map_err(|e| device.error("finish a transform", e))?;
        }
        Ok(())
    }

    /// Runs a list on host data: upload, launches, download.
    ///
    /// # Safety
    /// The views must be valid, have the shapes of the list, and not overlap.
    pub(super) unsafe fn through(
        &self,
        loaded: &Loaded,
        list: &List,
        source: Option<RawView<T>>,
        target: RawViewMut<T>,
        keep_target: bool,
    ) -> Result<(), PlanError> {
        let stream = self.device().stream();
        let bytes = |shape: &[usize]| (shape.iter().product::<usize>() * size_of::<T>()).max(1);
        let mut at = Addresses { source: 0, target: 0, scratch: 0 };
        let (mut held_source, mut held_scratch) = (None, None);
        if let Some(source) = source {
            let mut memory = self.allocate(stream, bytes(&source.shape[..source.rank]), "the source")?;
            // SAFETY: passed on from the caller, here and below.
            unsafe { self.up(stream, source, &mut memory)? };
            at.source = memory.device_ptr(stream).0;
            held_source = Some(memory);
        }
        let mut memory = self.allocate(stream, bytes(&target.shape[..target.rank]), "the result")?;
        if keep_target {
            // SAFETY: as above.
            unsafe { self.up(stream, target.as_const(), &mut memory)? };
        }
        at.target = memory.device_ptr_mut(stream).0;
        if let Some(mut scratch) = self.scratch(stream, loaded.workspace_bytes)? {
            at.scratch = scratch.device_ptr_mut(stream).0;
            held_scratch = Some(scratch);
        }
        // SAFETY: arrays of a packed program's sizes, all on this one stream, alive until it has been waited for.
        unsafe { loaded.launch::<T>(self.device(), list, stream.cu_stream(), at)? };
        // SAFETY: as above.
        unsafe { self.down(stream, &memory, target)? };
        drop((held_source, held_scratch));
        Ok(())
    }

    /// Copies a view to the begin of a device array. The view may change afterwards unless it is pinned.
    ///
    /// # Safety
    /// The view must be valid; pinned memory, until the stream has been waited for.
    unsafe fn up(&self, stream: &Arc<CudaStream>, view: RawView<T>, to: &mut CudaSlice<u8>) -> Result<(), CudaError> {
        let shape = &view.shape[..view.rank];
        if shape.contains(&0) {
            return Ok(());
        }
        let to = to.device_ptr_mut(stream).0;
        if contiguous(shape) == view.strides[..view.rank] {
            // SAFETY: a valid view without gaps is a slice of this length.
            let values = unsafe { std::slice::from_raw_parts(view.ptr, shape.iter().product()) };
            return self.up_bytes(stream, values.as_bytes(), to);
        }
        // SAFETY: passed on from the caller.
        let values = unsafe { gather(view) };
        self.up_bytes(stream, values.as_bytes(), to)
    }

    fn up_bytes(&self, stream: &Arc<CudaStream>, from: &[u8], to: sys::CUdeviceptr) -> Result<(), CudaError> {
        let failed = |e| self.device().error("copy host data", e);
        self.device().ready()?;
        // SAFETY: the device array is as long. The driver copies pageable memory before it returns, and the caller
        // keeps pinned memory.
        let direct =
            |from: &[u8], to| unsafe { result::memcpy_htod_async(to, from, stream.cu_stream()) }.map_err(failed);
        if from.len() < CHUNK || is_pinned(from) {
            return direct(from, to);
        }
        let mut ring = Ring::new(self.device());
        for (i, part) in from.chunks(PIECE).enumerate() {
            let to = to + (i * PIECE) as u64;
            let Some(piece) = ring.next() else {
                direct(part, to)?;
                continue;
            };
            let piece = &mut ring.pieces[piece];
            // Waits until the previous content is on the device.
            copy_bytes(part, &mut piece.bytes_mut()?[..part.len()]);
            // SAFETY: the device array is as long, and the caller keeps it.
            unsafe { piece.send(stream, part.len(), to)? };
        }
        Ok(())
    }

    /// Waits for a stream, and copies the begin of a device array to a view.
    ///
    /// # Safety
    /// The view must be valid, and no other view may overlap it.
    unsafe fn down(
        &self,
        stream: &Arc<CudaStream>,
        from: &CudaSlice<u8>,
        view: RawViewMut<T>,
    ) -> Result<(), CudaError> {
        let shape = &view.shape[..view.rank];
        // Kernels that fail leave the caller's memory as it is.
        stream.synchronize().map_err(|e| self.device().error("finish a transform", e))?;
        let count = shape.iter().product();
        if count == 0 {
            return Ok(());
        }
        let from = from.device_ptr(stream).0;
        if contiguous(shape) == view.strides[..view.rank] {
            // SAFETY: a valid view without gaps is a slice of this length.
            let values = unsafe { std::slice::from_raw_parts_mut(view.ptr, count) };
            return self.down_bytes(stream, from, values.as_mut_bytes());
        }
        let mut values = vec![T::default(); count];
        self.down_bytes(stream, from, values.as_mut_bytes())?;
        // SAFETY: passed on from the caller.
        unsafe { scatter(&values, view) };
        Ok(())
    }

    fn down_bytes(&self, stream: &Arc<CudaStream>, from: sys::CUdeviceptr, to: &mut [u8]) -> Result<(), CudaError> {
        let failed = |e| self.device().error("copy host data", e);
        if to.len() < CHUNK || is_pinned(to) {
            // SAFETY: the device array is as long, and the stream is waited for at once.
            unsafe { result::memcpy_dtoh_async(to, from, stream.cu_stream()) }.map_err(failed)?;
            return stream.synchronize().map_err(failed);
        }
        let mut ring = Ring::new(self.device());
        // Pieces in flight, with the part of the result that each holds.
        let mut in_flight: std::collections::VecDeque<(usize, &mut [u8])> = std::collections::VecDeque::new();
        for (i, part) in to.chunks_mut(PIECE).enumerate() {
            if in_flight.len() == RING
                && let Some((piece, part)) = in_flight.pop_front()
            {
                copy_bytes(&ring.pieces[piece].bytes()?[..part.len()], part);
            }
            let from = from + (i * PIECE) as u64;
            let Some(piece) = ring.next() else {
                // SAFETY: the device array is as long, and the stream is waited for at once.
                unsafe { result::memcpy_dtoh_async(part, from, stream.cu_stream()) }.map_err(failed)?;
                stream.synchronize().map_err(failed)?;
                continue;
            };
            // SAFETY: the device array is as long, and all pieces are waited for below.
            unsafe { ring.pieces[piece].receive(stream, part.len(), from, 0)? };
            in_flight.push_back((piece, part));
        }
        for (piece, part) in in_flight {
            copy_bytes(&ring.pieces[piece].bytes()?[..part.len()], part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_go_in_parts_of_a_few_megabytes() {
        // Too small to split, or a single item.
        assert_eq!(items_each(1000, 100), None);
        assert_eq!(items_each(1, 1 << 30), None);
        assert_eq!(items_each(2, PIECE - 1), None);
        assert_eq!(items_each(2, PIECE), Some(1));
        assert_eq!(items_each(7, 2 << 20), Some(3));
        assert_eq!(items_each(30, 1 << 30), None);
        assert_eq!(items_each(30, 32 << 20), Some(1));
        assert_eq!(items_each(usize::MAX, 2), None);
        for items in 2..50 {
            for bytes in [PIECE / 7, PIECE / 2, PIECE, 3 * PIECE] {
                let Some(each) = items_each(items, bytes) else { continue };
                assert!((1..items).contains(&each) && each * bytes < 2 * PIECE + bytes, "{items} of {bytes}: {each}");
            }
        }
    }
}
