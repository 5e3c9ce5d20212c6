//! Transforms of host data on a device: upload, launches, download.
//!
//! Large arrays go through pinned staging memory, piece by piece: the host fills one piece while the device fetches
//! another. A batch is split into parts that rotate over a few streams. While one part is uploaded, another is
//! transformed, and a third is downloaded. Results reach the caller's memory only after complete success.

use super::error::CudaError;
use super::launch::{Addresses, Loaded};
use super::plan::CudaPlan;
use crate::data::{RawView, RawViewMut, contiguous};
use crate::error::PlanError;
use crate::exec::packed::{gather, gather_into, scatter};
use crate::sample::Sample;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, PinnedHostSlice};
use lifting_dsl::geometry::Geometry;
use lifting_planner::{List, Problem, Program};
use std::sync::{Arc, OnceLock};
use zerocopy::{FromBytes, IntoBytes};

/// Bytes of a piece: large enough for full transfer speed, small enough that the first arrives soon.
const PIECE: usize = 4 << 20;

/// Size limit in bytes of a batch item for transfers in parts: larger pinned memory is avoided.
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

/// A stream with its buffers, used by parts in turn.
struct Slot {
    stream: Arc<CudaStream>,
    up: PinnedHostSlice<u8>,
    down: PinnedHostSlice<u8>,
    source: CudaSlice<u8>,
    target: CudaSlice<u8>,
    scratch: Option<CudaSlice<u8>>,
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
        let result = match made.as_ref().map_err(PlanError::clone)? {
            // SAFETY: passed on from the caller, here and below.
            Some(parts) => unsafe { self.in_parts(parts, way, src, &dst.shape[..dst.rank])? },
            None => {
                let empty = vec![T::default(); dst.shape[..dst.rank].iter().product()];
                // SAFETY: the caller's contract.
                let (loaded, source) = (self.packed(), unsafe { gather(src) });
                self.through(loaded, way.list(&loaded.program), Some(source), empty, false)?
            }
        };
        // SAFETY: the caller's contract.
        unsafe { scatter(&result, dst) };
        Ok(())
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
    /// The view must be valid.
    unsafe fn in_parts(
        &self,
        parts: &Parts,
        way: Operation,
        src: RawView<T>,
        result_shape: &[usize],
    ) -> Result<Vec<T>, PlanError> {
        let items = src.shape[0];
        let samples = |shape: &[usize]| shape[1..].iter().product::<usize>();
        let (taken, given) = (samples(&src.shape[..src.rank]), samples(result_shape));
        let mut result = vec![T::default(); items * given];
        if given == 0 || taken == 0 {
            return Ok(result);
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
            let (up, down) = (self.pinned(bytes(taken))?, self.pinned(bytes(given))?);
            slots.push(Slot { stream, up, down, source, target, scratch });
        }
        let failed = |e| device.error("copy host data", e);
        let range = |part: usize| part * parts.each..items.min((part + 1) * parts.each);
        for turn in 0..count + slots.len() {
            let in_use = slots.len();
            let slot = &mut slots[turn % in_use];
            // Fetch the slot's previous result once it is done.
            if let Some(part) = turn.checked_sub(in_use) {
                let range = range(part);
                let to = &mut result[range.start * given..range.end * given];
                let done = slot.down.as_slice().map_err(|e| device.error("finish a transform", e))?;
                let to = to.as_mut_bytes();
                to.copy_from_slice(&done[..to.len()]);
            }
            if turn >= count {
                continue;
            }
            let range = range(turn);
            let mut part = src;
            part.shape[0] = range.len();
            part.ptr = src.ptr.wrapping_offset(range.start as isize * src.strides[0]);
            let room =
                <[T]>::mut_from_bytes(slot.up.as_mut_slice().map_err(failed)?).expect("pinned memory is aligned");
            // SAFETY: a part of a valid view.
            unsafe { gather_into(part, &mut room[..range.len() * taken]) };
            slot.stream.memcpy_htod(&slot.up, &mut slot.source).map_err(failed)?;
            let loaded =
                if range.len() == parts.each { &parts.whole } else { parts.rest.as_ref().unwrap_or(&parts.whole) };
            let at = Addresses {
                source: slot.source.device_ptr(&slot.stream).0,
                target: slot.target.device_ptr_mut(&slot.stream).0,
                scratch: slot.scratch.as_mut().map_or(0, |scratch| scratch.device_ptr_mut(&slot.stream).0),
            };
            // SAFETY: arrays of a part's sizes, used only by this slot's stream, which frees them after its work.
            unsafe { loaded.launch::<T>(device, way.list(&loaded.program), slot.stream.cu_stream(), at)? };
            slot.stream.memcpy_dtoh(&slot.target, &mut slot.down).map_err(failed)?;
        }
        for slot in &slots {
            slot.stream.synchronize().map_err(|e| device.error("finish a transform", e))?;
        }
        Ok(result)
    }

    /// Runs a list on host data: upload, launches, download.
    pub(super) fn through(
        &self,
        loaded: &Loaded,
        list: &List,
        source: Option<Vec<T>>,
        target: Vec<T>,
        keep_target: bool,
    ) -> Result<Vec<T>, PlanError> {
        let stream = self.device().stream();
        let bytes = |len: usize| (len * size_of::<T>()).max(1);
        let mut at = Addresses { source: 0, target: 0, scratch: 0 };
        let mut target = target;
        let (mut held_source, mut held_scratch) = (None, None);
        if let Some(source) = &source {
            let mut memory = self.allocate(stream, bytes(source.len()), "the source")?;
            self.up(stream, source.as_bytes(), &mut memory)?;
            at.source = memory.device_ptr(stream).0;
            held_source = Some(memory);
        }
        let mut memory = self.allocate(stream, bytes(target.len()), "the result")?;
        if keep_target {
            self.up(stream, target.as_bytes(), &mut memory)?;
        }
        at.target = memory.device_ptr_mut(stream).0;
        if let Some(mut scratch) = self.scratch(stream, loaded.workspace_bytes)? {
            at.scratch = scratch.device_ptr_mut(stream).0;
            held_scratch = Some(scratch);
        }
        // SAFETY: arrays of a packed program's sizes, all on this one stream, alive until it has been waited for.
        unsafe { loaded.launch::<T>(self.device(), list, stream.cu_stream(), at)? };
        // A level's low band may be empty, but an allocation may not.
        if !target.is_empty() {
            self.down(stream, &memory, target.as_mut_bytes())?;
        }
        stream.synchronize().map_err(|e| self.device().error("finish a transform", e))?;
        drop((held_source, held_scratch));
        Ok(target)
    }

    /// Copies to the device, large arrays through pinned memory.
    fn up(&self, stream: &Arc<CudaStream>, from: &[u8], to: &mut CudaSlice<u8>) -> Result<(), CudaError> {
        let failed = |e| self.device().error("copy host data", e);
        let Some(mut staging) = self.staging(from.len() / PIECE) else {
            return stream.memcpy_htod(from, &mut to.slice_mut(..from.len())).map_err(failed);
        };
        let pieces = from.chunks_exact(PIECE);
        let (count, last) = (pieces.len(), pieces.remainder());
        for (i, piece) in pieces.enumerate() {
            let room = &mut staging[i % 2];
            // Waits until the previous content is on the device.
            room.as_mut_slice().map_err(failed)?.copy_from_slice(piece);
            stream.memcpy_htod(room, &mut to.slice_mut(i * PIECE..(i + 1) * PIECE)).map_err(failed)?;
        }
        if last.is_empty() {
            return Ok(());
        }
        stream.memcpy_htod(last, &mut to.slice_mut(count * PIECE..count * PIECE + last.len())).map_err(failed)
    }

    /// Copies from the device, large arrays through pinned memory. A small array is complete only after the stream has
    /// been waited for.
    fn down(&self, stream: &Arc<CudaStream>, from: &CudaSlice<u8>, to: &mut [u8]) -> Result<(), CudaError> {
        let failed = |e| self.device().error("copy host data", e);
        let count = to.len() / PIECE;
        let Some(mut staging) = self.staging(count) else {
            return stream.memcpy_dtoh(&from.slice(..to.len()), to).map_err(failed);
        };
        for i in 0..=count {
            if i < count {
                let piece = from.slice(i * PIECE..(i + 1) * PIECE);
                stream.memcpy_dtoh(&piece, &mut staging[i % 2]).map_err(failed)?;
            }
            if let Some(done) = i.checked_sub(1) {
                let piece = staging[done % 2].as_slice().map_err(failed)?;
                to[done * PIECE..(done + 1) * PIECE].copy_from_slice(piece);
            }
        }
        let rest = count * PIECE..to.len();
        if rest.is_empty() {
            return Ok(());
        }
        stream.memcpy_dtoh(&from.slice(rest.clone()), &mut to[rest]).map_err(failed)
    }

    /// Two pieces of pinned memory, if there are pieces at all; `None` if the system refuses to pin memory, and copies
    /// are slower.
    fn staging(&self, pieces: usize) -> Option<Vec<PinnedHostSlice<u8>>> {
        (0..pieces.min(2)).map(|_| self.pinned(PIECE).ok()).collect()
    }

    fn pinned(&self, bytes: usize) -> Result<PinnedHostSlice<u8>, CudaError> {
        self.device().ready()?;
        let failed = |e| self.device().error("pin host memory", e);
        // Not write-combined: the host also reads it.
        // SAFETY: it is filled before anything reads it.
        let mut memory = unsafe { self.device().context().alloc_pinned_with_flags::<u8>(bytes, 0) }.map_err(failed)?;
        memory.as_mut_slice().map_err(failed)?.fill(0);
        Ok(memory)
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
